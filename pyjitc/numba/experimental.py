"""numba.experimental"""
from __future__ import annotations

from .absent import module_attribute

__all__ = ["jitclass"]


def jitclass(cls_or_spec=None, spec=None):
    """The class itself, whose objects compiled functions take where classes are compiled; its spec is not looked at.
    """
    if isinstance(cls_or_spec, type):
        return _class(cls_or_spec)
    return _class


def _class(cls):
    if not isinstance(cls, type):
        raise TypeError("jitclass takes a class")
    return cls


__getattr__ = module_attribute("experimental", frozenset(("structref", "function_type")))
