"""Errors for names that exist in other compilers but not in a module here; the messages say what to write instead."""
from __future__ import annotations

import sys
from typing import Callable, Collection, Mapping

from .lazy import load

__all__ = ["absent"]


def absent(module: str, names: Mapping[str, str], later: Mapping[str, object] = {},
           submodules: Collection[str] = ()) -> Callable[[str], object]:
    """Make the `__getattr__` of a module, which raises AttributeError with the text for a name. later: names that do
    exist -> an object that has them as attributes; getting an attribute may load a module. submodules: names of modules
    in a package, which are loaded on first use."""

    def get(name: str) -> object:
        if name in submodules:
            return load(f"{module}.{name}")
        if name in later:
            found = getattr(later[name], name)
            setattr(sys.modules[module], name, found)
            return found
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules[module])
        # `from module import name` hides the message of an AttributeError
        importing = sys._getframe(1).f_code.co_name == "_handle_fromlist"
        raise (ImportError if importing else AttributeError)(f"{module} has no {name!r}: {names[name]}")

    return get
