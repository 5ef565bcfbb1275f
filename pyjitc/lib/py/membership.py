"""`x in (1, 2, 3, ...)`: one search in a sorted table instead of many comparisons with constants."""
from __future__ import annotations

import math
import operator

import numpy as np

from ...infer.constants import constant
from ...infer.meaning import UNKNOWN, Apply, Call, Const, Expr, NotNative
from ...ops import pyobject
from ...ops.arith import IADD, IAND, ISHR, ISUB, wrap
from ...ops.math import LOOKUP, LOOKUP_INT
from ...ops.structure import TUPLE_AT
from ...types.kinds import (
    Array, Bool, Complex, Float, Int, NpBool, NpFloat, NpInt, Object, Set, Singleton, Str, Tuple, is_complex, is_float,
    is_integer, is_numpy_scalar, is_scalar, is_time,
)
from ...types.lattice import dtype_of
from ..build import cast, check_hashable, number
from ..intrinsics import same
from . import tuples

__all__ = ["contains"]

_FEW = 8  # the most items that are compared one after the other
_SOME = 32  # the same for numbers that are far apart: LLVM combines the comparisons
_MANY = 200  # the most comparisons of values that have no order, each of which is compiled
_EXACT, _BOUND = 1 << 53, 1 << 63
_PLAIN = (bool, int, float, str, bytes, type(None), type(...), tuple)  # classes whose numbers are equal to numbers only


def contains(values: Expr, x: Expr) -> Expr:
    """`x in values`, for a tuple, or a frozenset that is a constant."""
    if isinstance(values.type, Singleton):
        values, x = _of_a_set(values.type.value, x)
    count = len(values.type.elements)
    if count <= _FEW:
        return Call(tuples.contains, values, x)
    if values.value is not UNKNOWN and all(type(v) in _PLAIN for v in values.value):
        found = _among_constants(values.value, x)
        if found is not None:
            return found
    if x.type is Object:
        asked = Apply(pyobject.PY_CALL, Const(Object, operator.contains), Apply(pyobject.PY_BOX, values), x)
        return Apply(pyobject.PY_UNBOX, asked, type=Bool)
    if len(set(values.type.elements)) == 1:
        return Call(among_alike, values, x)
    if count > _MANY:
        raise NotNative(f"`in` of a tuple of {count} items of several types is compiled for at most {_MANY}",
                        "use an array: np.isin(x, a)")
    return Call(tuples.contains, values, x)


def _of_a_set(values: frozenset, x: Expr) -> tuple[Expr, Expr]:
    """(tuple of constants, number or text): operands for which `in` has the same result as a search in the set by hash.

    Equal numbers have equal hashes, whatever their types; np.float32(0.1) does not equal 0.1 in a set."""
    items = tuple(values)
    t = x.type
    if not isinstance(t, Set):  # CPython searches for a frozenset of its items
        check_hashable(t)
    if is_scalar(t) and not is_time(t):
        items = tuple(v for v in items if type(v) in (bool, int, float, complex))
        if isinstance(t, NpInt) and not t.signed:
            items = tuple(v for v in items if type(v) is not complex and v >= 0)
        x = cast(x, Complex if is_complex(t) else Float if is_float(t) else Int)
    known = constant(items)
    if not isinstance(known.type, Tuple) or isinstance(t, Array):
        raise NotNative("`in` of such a set is not compiled", "use a tuple of its items")
    return known, x


def _among_constants(values: tuple, x: Expr) -> Expr | None:
    """`x in values` for a tuple of constants, by a search. None if x has a type whose numbers cannot be ordered
    together with these constants."""
    t = x.type
    if x.known and type(x.value) in (str, int, bool):
        return Const(Bool, x.value in values)
    if t is Str:
        texts = frozenset(v for v in values if type(v) is str)
        operands = Const(Object, texts), Apply(pyobject.PY_BOX, x)
        asked = Apply(pyobject.PY_CALL, Const(Object, operator.contains), *operands)
        return Apply(pyobject.PY_UNBOX, asked, type=Bool)
    if is_numpy_scalar(t) and any(type(v) is tuple for v in values):
        return None  # NumPy converts the tuple to an array
    numbers = [v for v in values if type(v) in (bool, int, float) and v == v]
    if is_integer(t) or t is Bool or t is NpBool:
        if isinstance(t, NpInt) and any(type(v) is float and _EXACT <= abs(v) < math.inf for v in numbers):
            return None  # NumPy compares them as floats
        whole = {int(v) for v in numbers if -_BOUND <= v < _BOUND and v == int(v)}
        if isinstance(t, NpInt) and not t.signed:
            whole = {v for v in whole if v >= 0}
        return _searched(whole, cast(x, Int), among_ints) if not _is_dense(whole) else _dense(whole, cast(x, Int))
    if t is Float:
        return _searched({float(v) for v in numbers if float(v) == v}, x, among_floats)
    if isinstance(t, NpFloat):
        scalar = dtype_of(t).type
        largest = float(np.finfo(scalar).max)
        if any(largest < abs(v) < math.inf for v in numbers):
            return None  # NumPy converts the constants to the type of x, in which these overflow
        return _searched({float(scalar(v)) for v in numbers}, cast(x, Float), among_floats)
    return None


def _is_dense(values: set) -> bool:
    return bool(values) and max(values) - min(values) < 64 * len(values)


def _dense(values: set, x: Expr) -> Expr:
    """`in` of ints that are close to each other: a bit table."""
    first = min(values)
    words = [0] * _power_of_two((max(values) - first) // 64 + 1)
    for v in values:
        words[(v - first) >> 6] |= 1 << ((v - first) & 63)
    table = constant(tuple(map(wrap, words)))
    return Call(among_bits, x, number(first), number(max(values) - first), table)


def _power_of_two(n: int) -> int:
    return 1 << (n - 1).bit_length()


def _searched(values: set, x: Expr, search) -> Expr | None:
    if not values:
        return Const(Bool, False)
    if len(values) <= _SOME:
        return Call(tuples.contains, constant(tuple(sorted(values))), x)
    table = sorted(values)
    table += table[-1:] * (_power_of_two(len(table)) - len(table))
    return Call(search, x, constant(tuple(table)))


def among_bits(x, first, last, table):
    k = ISUB(x, first)
    if 0 <= k <= last:
        return IAND(ISHR(LOOKUP_INT(ISHR(k, 6), table=table), IAND(k, 63)), 1) == 1
    return False


def among_ints(x, table):
    """A binary search. table: sorted constants, whose number is a power of two."""
    low, step = 0, len(table) // 2
    while step:
        if LOOKUP_INT(IADD(low, IADD(step, -1)), table=table) < x:
            low = IADD(low, step)
        step >>= 1
    return LOOKUP_INT(low, table=table) == x


def among_floats(x, table):
    low, step = 0, len(table) // 2
    while step:
        if LOOKUP(IADD(low, IADD(step, -1)), table=table) < x:
            low = IADD(low, step)
        step >>= 1
    return LOOKUP(low, table=table) == x


def among_alike(t, x):
    """`in` of items that are all of one type."""
    for k in range(len(t)):
        if same(TUPLE_AT(t, k), x):
            return True
    return False
