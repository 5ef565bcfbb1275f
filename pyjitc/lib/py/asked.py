"""Functions of Python's library that are called in the interpreter: clocks, `struct`, `statistics`, copies, merges,
objects of random.Random, dataclasses with other values.

Values, exceptions and messages are the interpreter's, at the cost of a call of a Python function. Where the types of
the arguments do not determine that of the result, it is a Python object.
"""
from __future__ import annotations

import copy
import dataclasses
import heapq
import random
import statistics
import struct
import time

from ...infer.constants import constant
from ...infer.meaning import Apply, CallValue, Const, FieldGet, Mismatch, NotNative
from ...infer.names import describe
from ...ops.pyobject import PY_CALL, PY_UNBOX
from ...ops.structure import METHOD_MAKE
from ...types.classes import stands_for
from ...types.kinds import (
    Array, Bool, Bytes, Float, Generator, Int, Iterator, List, NoneType, Object, ObjectOf, PythonRandom, Str, Struct,
    Tuple, any_part, is_number,
)
from ..protocol import boxed
from ..rule import Constant, Rule
from . import classes

__all__ = ["CALLS"]


def _is_iterator(t) -> bool:
    return isinstance(t, (Iterator, Generator)) or isinstance(t, Struct) and t.is_state


def _asked(function, args, kwargs, t):
    if any(_is_iterator(x.type) for x in [*args, *kwargs.values()]):
        raise NotNative(f"{function.__module__}.{function.__name__}() of an iterator is not compiled", "pass a list")
    found = Apply(PY_CALL, Const(Object, function), *map(boxed, [*args, *kwargs.values()]), kwnames=tuple(kwargs))
    return found if t is Object else Apply(PY_UNBOX, found, type=t)


def _gives(function, t):
    return lambda args, kwargs: _asked(function, args, kwargs, t)


_CLOCKS = "time monotonic perf_counter process_time thread_time"
_RESULTS = {
    **{getattr(time, name): Float for name in _CLOCKS.split()},
    **{getattr(time, f"{name}_ns"): Int for name in _CLOCKS.split()},
    time.sleep: NoneType, time.ctime: Str, time.asctime: Str, time.strftime: Str,
    struct.pack: Bytes, struct.calcsize: Int, struct.pack_into: NoneType, struct.iter_unpack: Object,
    heapq.merge: Object, random.Random: PythonRandom,
}


# ---------------------------------------------------------------- statistics

_FLOATS = "fmean stdev pstdev geometric_mean correlation covariance"
_OF_FLOATS = "mean median median_low median_high median_grouped harmonic_mean variance pvariance"
_OTHERS = "mode multimode quantiles linear_regression"


def _average(function):
    """The rule of a function of statistics. The result of some is a float where all items are floats, and any number
    otherwise. Each reads an iterator to its end before it computes, so that compiled code may make a list of it."""
    always, name = function.__name__ in _FLOATS.split(), function.__name__

    def rule(args, kwargs):
        if args and _is_iterator(args[0].type):
            return CallValue(constant(of_list), constant(function), *args, keywords=kwargs)
        t = args[0].type if args else NoneType
        floats = isinstance(t, List) and t.parameters[0] is Float and len(args) == 1 and not kwargs
        return _asked(function, args, kwargs, Float if always or floats and name in _OF_FLOATS.split() else Object)

    return rule


def of_list(function, data, /, *args, **kwargs):
    return function(list(data), *args, **kwargs)


# ---------------------------------------------------------------- dataclasses


def _replace(args, kwargs):
    if len(args) == 1 and isinstance(args[0].type, ObjectOf):
        cls = args[0].type.cls
        fields = getattr(cls, "__dataclass_fields__", {})
        if fields and all([field.init for field in dataclasses.fields(cls)]) and len(fields) == len(
                dataclasses.fields(cls)):
            return CallValue(constant(cls), keywords={**{name: FieldGet(args[0], name) for name in fields}, **kwargs})
        return _asked(dataclasses.replace, args, kwargs, args[0].type)
    if len(args) == 1 and isinstance(args[0].type, Tuple) and stands_for(args[0].type.cls) is not args[0].type.cls:
        made = classes.method(args[0], "_replace", (), kwargs)
        assert made is not None
        return made
    raise NotNative(f"dataclasses.replace() of {', '.join(describe(x.type) for x in args)} is not compiled",
                    "pass an object of one dataclass, and the new values by their names")


# ---------------------------------------------------------------- struct

_CODES = {**dict.fromkeys("bBhHiIlLqQnN", Int), **dict.fromkeys("efd", Float), "?": Bool, "c": Bytes}


def items(format) -> Tuple:
    """The types of the items that struct.unpack returns for a format, a text or bytes; Mismatch for an invalid
    format."""
    if isinstance(format, bytes):
        format = format.decode("latin-1")
    try:
        struct.calcsize(format)
    except struct.error as error:
        raise Mismatch(str(error), "", struct.error) from None
    found: list = []
    count = ""
    for c in format:
        if c.isdigit():
            count += c
        elif c in "sp":
            found.append(Bytes)
            count = ""
        elif c in _CODES:
            found += [_CODES[c]] * int(count or 1)
            count = ""
        elif c == "P":
            found += [Int] * int(count or 1)
            count = ""
        else:  # a byte order, a space, or padding
            count = ""
    return Tuple(found)


def _unpacks(function, signature):
    def unpack(format: Constant, *others):
        return _asked(function, [constant(format), *others], {}, items(format))

    return Rule(unpack, f"struct.{function.__name__}", signature)


# ---------------------------------------------------------------- copy


def _is_immutable(t) -> bool:
    return not any_part(t, lambda part: part.parts is None and not (
        is_number(part) or part in (Str, Bytes, NoneType)))


def _copy(function):
    def rule(args, kwargs):
        if len(args) == 1 and not kwargs:
            (x,) = args
            if isinstance(x.type, Array):
                return CallValue(Apply(METHOD_MAKE, x, name="copy"), keywords={"order": constant("K")})
            if _is_immutable(x.type):
                return x
            if x.type.counted and x.type.parts is None:
                return _asked(function, args, kwargs, x.type)
        raise NotNative(f"{function.__module__}.{function.__name__}() of {', '.join(describe(x.type) for x in args)} "
                        "is not compiled", "copy its parts")

    return rule


CALLS = {
    **{function: _gives(function, t) for function, t in _RESULTS.items()},
    **{getattr(statistics, name): _average(getattr(statistics, name))
       for name in f"{_FLOATS} {_OF_FLOATS} {_OTHERS}".split() if hasattr(statistics, name)},
    dataclasses.replace: _replace,
    struct.unpack: _unpacks(struct.unpack, "format: Constant, buffer, /"),
    struct.unpack_from: _unpacks(struct.unpack_from, "format: Constant, /, buffer, offset=0"),
    copy.copy: _copy(copy.copy), copy.deepcopy: _copy(copy.deepcopy),
}
