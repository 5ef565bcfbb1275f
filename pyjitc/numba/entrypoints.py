"""Extensions that installed packages register as entry points `init` of the group `numba_extensions`: functions that
define overloads. They are looked for where a function would be refused otherwise."""
from __future__ import annotations

import importlib.metadata
import sys
import warnings

__all__ = ["initialised"]

_asked: list = []


def initialised() -> bool:
    """Call these functions once, at the first use; returns whether there were any. They import `numba`, so that name
    has to be this package's."""
    if _asked or sys.modules.get("numba") is not sys.modules[__package__]:
        return False
    _asked.append(True)
    found = importlib.metadata.entry_points(group="numba_extensions", name="init")
    for one in found:
        try:
            one.load()()
        except Exception as error:
            warnings.warn(f"Numba extension module '{one.module}' failed to load due to '{error!r}'.", stacklevel=2)
    return bool(found)
