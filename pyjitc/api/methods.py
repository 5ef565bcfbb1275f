"""Classes whose methods are compiled."""
from __future__ import annotations

from types import FunctionType
from typing import Callable

from ..types.classes import is_property
from .dispatch import ASYNCHRONOUS

__all__ = ["with_methods"]

_GENERATOR = 0x20
# Methods that are not compiled: those that only the interpreter calls, and those that make text.
_LEFT = frozenset(f"__{name}__" for name in (
    "new del getattr getattribute setattr delattr init_subclass class_getitem set_name reduce reduce_ex getstate "
    "setstate getnewargs getnewargs_ex copy deepcopy repr str format dir sizeof subclasshook").split())


def with_methods(cls: type, decorate: Callable) -> type:
    """The class with its methods compiled by `decorate`. Generators, and methods that dataclasses generate, are not
    changed."""
    module = cls.__module__

    def compiled(function):
        if type(function) is not FunctionType:
            return function
        code = function.__code__
        if code.co_flags & (ASYNCHRONOUS | _GENERATOR) or code.co_filename == "<string>" or (
                function.__globals__.get("__name__") != module):
            return function
        return decorate(function)

    for name, value in list(vars(cls).items()):
        if name in _LEFT:
            continue
        if isinstance(value, (staticmethod, classmethod)):
            new = type(value)(compiled(value.__func__))
        elif is_property(value) and type(value).__init__ is property.__init__:
            new = type(value)(compiled(value.fget), compiled(value.fset), compiled(value.fdel), value.__doc__)
        else:
            new = compiled(value)
        if new is not value:
            setattr(cls, name, new)
    return cls
