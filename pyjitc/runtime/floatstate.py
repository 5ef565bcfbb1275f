"""The state of np.errstate, which is read when a floating-point error is reported."""
from __future__ import annotations

import sys
import warnings

import numpy as np

__all__ = ["DIVIDE", "OVER", "INVALID", "report"]

DIVIDE, OVER, INVALID = 1, 2, 8  # NumPy's flags, which functions of np.seterrcall get
_KINDS = ((DIVIDE, "divide", "divide by zero"), (OVER, "over", "overflow"), (INVALID, "invalid", "invalid value"))


def report(name: str, flags: int) -> None:
    """Warn, raise, print or call, as np.errstate says, for each error of the operation `name`.

    Raises FloatingPointError where np.errstate or np.seterr asks for it, NameError where they need a function or a log
    that is not set."""
    modes = np.geterr()
    for flag, kind, text in _KINDS:
        mode = modes[kind]
        if not flags & flag or mode == "ignore":
            continue
        message = f"{text} encountered in {name}"
        if mode == "warn":
            warnings.warn(message, RuntimeWarning, stacklevel=2)
        elif mode == "raise":
            raise FloatingPointError(message)
        elif mode == "print":
            print(f"Warning: {message}", file=sys.stderr)
        else:
            _tell(mode, text, flags, message, name)


def _tell(mode, text, flags, message, name):
    receiver = np.geterrcall()
    if receiver is None:
        raise NameError(f"log specified for {text} (in {name}) but no object with write method found." if mode == "log"
                        else
                        f"python callback specified for {text} (in  {name}) but no function found.")
    if mode == "call":
        receiver(text, flags)
    else:
        receiver.write(f"Warning: {message}\n")
