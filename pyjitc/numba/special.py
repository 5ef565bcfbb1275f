"""Names of Numba with a meaning in compiled functions, and functions about threads."""
from __future__ import annotations

import enum
import os
import sys

import numpy as np

from ..runtime.objects import declare_object_class
from ..types.typeof import typeof as _typeof
from . import types
from .absent import module_attribute

__all__ = ["gdb", "gdb_breakpoint", "gdb_init", "get_num_threads", "get_parallel_chunksize", "get_thread_id",
           "literal_unroll", "literally", "objmode", "parallel_chunksize", "pndindex", "prange", "set_num_threads",
           "set_parallel_chunksize", "threading_layer", "typeof"]

_package = sys.modules[__package__.rpartition(".")[0]]
_ALONE = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

_NUMBERS = frozenset(np.dtype(code).type for code in "?bhilqBHILQefdFD")
pndindex = np.ndindex


def literally(x):
    """x, as a constant of compiled code: if it is an argument, the function is compiled for each value."""
    return x


def literal_unroll(container):
    """The tuple itself: a loop over a tuple is unrolled wherever its items have several types."""
    return container


def gdb(*commands):
    """Does nothing: there is no debugger to start here."""


gdb_init = gdb


def gdb_breakpoint():
    """Does nothing."""


class _ObjectMode:
    """`with objmode(...)`: has no effect in the interpreter."""

    def __call__(self, *args, **kwargs):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


objmode = _ObjectMode()


def _telling(items):
    """The first item that is not an empty container, since items of an empty one have no type; if all are, the first
    item."""
    return next((x for x in items if not isinstance(x, (list, set, dict)) or x), next(iter(items)))


def typeof(value, purpose=None):
    """The type of `value` in compiled functions."""
    if isinstance(value, list):
        if not value:
            raise ValueError("Cannot type empty list")
        return types.List(typeof(_telling(value)), reflected=True)
    if isinstance(value, (set, frozenset)):
        if not value:
            raise ValueError("Cannot type empty set")
        return types.Set(typeof(next(iter(value))), reflected=True)
    if isinstance(value, dict) and value:
        return types.DictType(typeof(next(iter(value))), typeof(_telling(value.values())))
    if type(value).__module__ == "numpy.polynomial.polynomial":
        return types.PolynomialType(typeof(value.coef), typeof(value.domain), typeof(value.window))
    if type(value) is int and 1 << 63 <= value < 1 << 64:
        return types.uint64
    if isinstance(value, np.void):
        return types.from_dtype(value.dtype)
    if isinstance(value, np.ndarray):
        value = value.view(np.ndarray)  # arrays of subclasses are taken as arrays
    if isinstance(value, types.Type):
        return (types.NumberClass if isinstance(value, (types.Number, types.Boolean)) else types.TypeRef)(value)
    if isinstance(value, type) and value in _NUMBERS:
        return types.NumberClass(types.from_dtype(value))
    if "class_type" in (known := vars(value if isinstance(value, type) else type(value))):
        return known["class_type"] if isinstance(value, type) else known["class_type"].instance_type
    if isinstance(value, (enum.Enum, enum.EnumMeta)):
        found = types.enum_type(value)
        if found is None:
            raise ValueError(f"Cannot type the enum {value!r}: the values of its members have several types")
        return found
    registered = types.registered(type(value))
    if registered is not None:
        return registered(value, None)
    if hasattr(value, "py_func"):
        return types.Dispatcher(value)
    if isinstance(value, type) and issubclass(value, BaseException):
        return types.ExceptionClass(value)
    try:
        return types.of(_typeof(value))
    except TypeError as error:
        if type(value) is type(typeof):
            return types.Function(value)
        raise ValueError(f"Cannot determine Numba type of {type(value)}: it {error}") from None


class _TypeOf:
    """The registration of the Numba type of a class of the program: a function of a value and a context."""

    def __call__(self, value, context=None):
        return typeof(value)

    @staticmethod
    def register(cls):
        def decorate(function):
            types.REGISTERED[cls] = function
            types.EXTENDED.add(cls)
            declare_object_class(cls)
            return function

        return decorate


typeof_impl = _TypeOf()

# ---------------------------------------------------------------- threads


def _of_package(name: str, alone):
    """The attribute of the package with this name, if it has one; else `alone`."""
    return getattr(_package, name, None) or alone


_threads = [_ALONE]


def _set_num_threads(n):
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool):
        raise TypeError("The number of threads specified must be an integer")
    if not 1 <= n <= _ALONE:
        raise ValueError(f"The number of threads must be between 1 and {_ALONE}")
    _threads[0] = int(n)


def _get_num_threads():
    return _threads[0]


def _get_thread_id():
    return 0


set_num_threads = _of_package("set_num_threads", _set_num_threads)
get_num_threads = _of_package("get_num_threads", _get_num_threads)
get_thread_id = _of_package("get_thread_id", _get_thread_id)
prange = _of_package("prange", range)


def threading_layer():
    """The name of the threading implementation for parallel loops."""
    return "workqueue"


def _get_parallel_chunksize():
    return 0


def _set_parallel_chunksize(n):
    if not isinstance(n, (int, np.integer)):
        raise TypeError("The parallel chunksize must be an integer")
    if n < 0:
        raise ValueError("chunksize must be greater than or equal to zero")
    return 0


class _Chunksize:
    """`with parallel_chunksize(n)` where nothing is compiled."""

    def __init__(self, n):
        _set_parallel_chunksize(n)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


get_parallel_chunksize = _of_package("get_parallel_chunksize", _get_parallel_chunksize)
set_parallel_chunksize = _of_package("set_parallel_chunksize", _set_parallel_chunksize)
parallel_chunksize = _of_package("parallel_chunksize", _Chunksize)


__getattr__ = module_attribute("special", frozenset())
