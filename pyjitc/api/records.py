"""Calls with records of NumPy, the elements `a[i]` of structured arrays.

Compiled code knows a record as a view of an array. So a call passes an array without axes, in the memory of the record,
to a function that takes the record out of it and calls the function of the program.
"""
from __future__ import annotations

import inspect

import numpy as np

from ..front.functions import passing
from ..runtime.records import array_of

__all__ = ["among", "call"]


def _is_record(value) -> bool:
    return isinstance(value, np.void) and value.dtype.names is not None


def among(values) -> bool:
    """Whether one of the values is a record."""
    return any(map(_is_record, values))


def call(dispatcher, args: tuple, kwargs: dict):
    """The result of dispatcher(*args, **kwargs), where some arguments are records."""
    function = dispatcher.py_func
    code = function.__code__
    names = code.co_varnames[:code.co_argcount]
    given = {**dict(zip(names, args)), **kwargs}
    records = frozenset(name for name, value in given.items() if _is_record(value))
    known = dispatcher.__dict__.setdefault("__taking__", {})
    if records not in known:
        if dispatcher.__dict__.get("__disabled__") and (known or dispatcher._declared):
            raise TypeError(f"no signature of {function.__qualname__}() takes a record; disable_compile() was called")
        forms = {k: "{}[()]" for k, name in enumerate(inspect.signature(function).parameters) if name in records}
        known[records] = type(dispatcher)(passing(function, forms), dispatcher.options, ())
    return known[records](*[array_of(x) if name in records else x for name, x in zip(names, args)], *args[len(names):],
                          **{name: array_of(x) if name in records else x for name, x in kwargs.items()})
