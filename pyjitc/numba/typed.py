"""numba.typed: its lists and dicts are Python's, whose items have one type each in compiled code."""
from __future__ import annotations

import sys

from ..infer.constants import constant
from ..infer.meaning import CallValue, Mismatch
from ..lib import extended
from ..types.kinds import Array, is_number, is_numpy_scalar
from .absent import module_attribute

__all__ = ["Dict", "List"]


class _OfPython(type):
    """The metaclass: isinstance(x, List) tests for a list."""

    def __instancecheck__(cls, value):
        return isinstance(value, cls.python_class)


class List(metaclass=_OfPython):
    """typed.List(items) is a list."""

    python_class = list

    def __new__(cls, *items, lsttype=None, meminfo=None, allocated=0, **kwargs):
        if kwargs:
            raise TypeError("List() takes no keyword arguments")
        if len(items) > 1:
            raise TypeError(f"List() expected at most 1 argument, got {len(items)}")
        if items and not hasattr(items[0], "__iter__") and not hasattr(items[0], "__getitem__"):
            raise TypeError("List() argument must be iterable")
        return _of_one(*items) if items and getattr(items[0], "ndim", 1) == 0 else list(*items)

    @classmethod
    def empty_list(cls, item_type, allocated=0):
        return []

    def __class_getitem__(cls, item):
        return cls


def _of_one(a):
    """The list of the element of an array without axes, or of a NumPy number."""
    return [a.item()]


class Dict(metaclass=_OfPython):
    """typed.Dict(items) is a dict."""

    python_class = dict

    def __new__(cls, *items, dcttype=None, meminfo=None, n_keys=0, **kwargs):
        if kwargs:
            raise TypeError("Dict() takes no keyword arguments")
        return dict(*items)

    @classmethod
    def empty(cls, key_type, value_type, n_keys=0):
        return {}

    def __class_getitem__(cls, item):
        return cls


_OPTIONS = frozenset(("lsttype", "dcttype", "meminfo", "allocated", "n_keys"))  # they are no items


def _of_python(cls: type):
    """The rule of a call of the class in compiled code."""
    def rule(args, kwargs):
        name = cls.__name__.capitalize()
        if not _OPTIONS.issuperset(kwargs):
            raise Mismatch(f"{name}() takes no keyword arguments", f"pass the items: {name}(items)")
        if cls is list and len(args) == 1 and is_number(args[0].type) and not is_numpy_scalar(args[0].type):
            raise Mismatch("List() argument must be iterable", "pass a list or a tuple")
        one = cls is list and len(args) == 1 and isinstance(args[0].type, Array) and args[0].type.ndim == 0
        return CallValue(constant(_of_one if one else cls), *args)

    return rule


for _class in (List, Dict):
    extended.FUNCTIONS[id(_class)] = _of_python(_class.python_class)
del _class
typedlist = typeddict = sys.modules[__name__]  # submodules of Numba with the same classes
__getattr__ = module_attribute("typed", frozenset(("dictobject", "listobject")))
