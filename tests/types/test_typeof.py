"""The type of a value, and the refusals."""
import collections
import re

import numpy as np
import pytest

from pyjitc.types import kinds
from pyjitc.types.kinds import (
    Array, Bool, Complex, CounterDict, DefaultDict, Deque, Dict, DType, Float, FrozenSet, Int, List, NoneType,
    OrderedDict_, Set, Singleton, Slice, Str, Tuple, Undefined, union_of,
)
from pyjitc.types.typeof import element_type, typeof

Point = collections.namedtuple("Point", "x y")


class MyArray(np.ndarray):
    pass


class MyDict(dict):
    pass


class MyFloat(float):
    pass


def shown(value):
    """Names of tests must be the same in every process."""
    return re.sub(r" (at 0x|from )[^>]+", "", repr(value))[:60]


@pytest.mark.parametrize("value, t", [
    (1, Int), (-2**63, Int), (2**63 - 1, Int), (True, Bool), (1.5, Float), (1j, Complex), (None, NoneType), ("x", Str),
    (np.float32(1), kinds.float32), (np.longlong(1), kinds.int64), (np.intc(1), kinds.int32),
    (np.bool_(1), kinds.bool_), (np.float64(1), kinds.float64), (np.complex64(1), kinds.complex64),
    (np.zeros(3), Array(kinds.float64, 1)), (np.zeros(3)[::2], Array(kinds.float64, 1, "A")),
    (np.zeros((2, 3), "f4").T, Array(kinds.float32, 2, "F")), (np.zeros((2, 3), np.longlong), Array(kinds.int64, 2)),
    (np.broadcast_to(1, (2, 3)), Array(kinds.int64, 2, "A", False)), (np.zeros(()), Array(kinds.float64, 0)),
    (np.frombuffer(b"123456789", "u1")[1:].view("f8"), Array(kinds.float64, 1, "C", False, False)),
    ((), Tuple(())), ((1, (2.0, "x")), Tuple((Int, Tuple((Float, Str))))), (Point(1, 2.0), Tuple((Int, Float), Point)),
    (slice(1, None), Slice(Int, NoneType, NoneType)), (range(3), kinds.Range), (..., kinds.Ellipsis_),
    (np.dtype("f4"), DType(kinds.float32)), (np.float64, Singleton(np.float64)), (len, Singleton(len)),
    (np.sin, Singleton(np.sin)), (np, Singleton(np)), (np.sum, Singleton(np.sum)),
    (np.zeros(2, "M8[D]"), Array(kinds.NpTime("M", "D", 1), 1)), (np.timedelta64(3, "25s"), kinds.NpTime("m", "s", 25)),
    (np.datetime64("NaT"), kinds.NpTime("M")), (np.dtype("m8"), DType(kinds.NpTime("m"))),
    ({1: 2.5}, Dict(Int, Float)), ({}, Dict(Undefined, Undefined)), ({1, 2.5}, Set(union_of((Int, Float)))),
    (frozenset({1}), FrozenSet(Int)), (collections.deque([None]), Deque(NoneType)),
    (collections.OrderedDict(a=1), OrderedDict_(Str, Int)), (collections.Counter("a"), CounterDict(Str, Int)),
    (collections.defaultdict(int), DefaultDict(Undefined, Int)),
    (collections.defaultdict(list, {1: [2]}), DefaultDict(Int, List(Int))),
    ({(1, 2): {"a": [1.5]}}, Dict(Tuple((Int, Int)), Dict(Str, List(Float)))),
], ids=shown)
def test_types(value, t):
    assert typeof(value) is t


@pytest.mark.parametrize("value, text", [
    (np.zeros(2, ">f8"), "bytes are swapped"), (np.zeros(2, object), "Python objects"),
    (np.zeros(2, ">U3"), "bytes are swapped"),
    (np.zeros(2, ">M8[s]"), "bytes are swapped"), (np.zeros(2, [("a", "O")]), "records"),
    (np.zeros(2, np.longdouble), "no native form"),
    (np.zeros(2).view(MyArray), r"MyArray, a subclass of ndarray; pass np.asarray\(x\)"), (np.ma.array([1]), "masked"),
    (np.longdouble(1), r"^is a longdouble, .* pass float\(x\)$"), (np.str_("a"), r"pass str\(x\)$"),
    ({1: object()}, "is a dict whose item 0 is an object"), (object(), "an object"),
    (MyFloat(1), r"subclass of float; pass float\(x\)"), (MyDict(), r"subclass of dict; pass dict\(x\)"),
    ((1, {object()}), "^is a tuple whose item 1 is a set whose item"),
    (Point((), (1, MyDict())), "^is a Point whose item 1 is a tuple whose item 1 is a MyDict"),
    (np.dtype("O"), "dtype object"),
], ids=shown)
def test_refusals(value, text):
    with pytest.raises(TypeError, match=text):
        typeof(value)


def test_big_int():
    for value in (2**63, -2**63 - 1, 10**200, range(2**63), slice(2**63), (1, range(0, 1, 2**70))):
        with pytest.raises(OverflowError, match="does not fit in 64 bits"):
            typeof(value)


def test_other_classes_are_asked_for():
    assert typeof((test_big_int, 1), lambda v: Singleton(v) if callable(v)
                  else None) is Tuple((Singleton(test_big_int), Int))


def test_element_type():
    assert element_type(np.dtype("f8")) is kinds.float64 and element_type(np.dtype("f8").newbyteorder()) is None
