"""Replaces stages.py in the part of pyjitc in a package that was built ahead of time, which has no compiler: its
functions raise where code would have to be compiled."""
from __future__ import annotations

from ..base.errors import CompileError, Diagnostic
from . import portable, shipped

__all__ = ["compile_signature", "inspect", "report"]


def compile_signature(function, types, options, form=None):
    """Raises, since this is called where code exists, but a value on which it depends has changed, or it cannot be
    loaded."""
    changed = []
    for _, _, _, _, _, _, guards in shipped.read(shipped.key_of(function, types, options) or ""):
        for _, path, key, expected, _ in guards:
            try:
                now = portable.fingerprint(portable.lookup(portable.follow(path, (function,)), key))
            except (LookupError, AttributeError, TypeError, ValueError):
                continue
            if now != expected and type(key) is str:
                changed.append(key)
    names = ", ".join(dict.fromkeys(changed))
    raise _refused(function, f"{names} {'has' if len(set(changed)) == 1 else 'have'} another value than when the "
                   "package was built" if changed else "its compiled code cannot be used with this Python and NumPy",
                   "leave the value as it is, pass it as an argument, or build the package again")


def inspect(function, types, options, stage):
    raise _refused(function, "a package that was built ahead of time has no compiler", "inspect it where pyjitc is "
                   "installed, from its source")


def report(function, types, options):
    return inspect(function, types, options, "report")


def _refused(function, message: str, hint: str) -> CompileError:
    code = function.__code__
    return CompileError(Diagnostic(f"{function.__qualname__}() was compiled ahead of time: {message}", code.co_filename,
                                   code.co_firstlineno, 0, -1, -1, function=function.__qualname__, hint=hint))
