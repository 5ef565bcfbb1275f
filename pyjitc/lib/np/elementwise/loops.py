"""Templates of loop nests, which visit the elements of an index space. passes/nests.py expands them; CPython never runs
them.

`shape`: the lengths of the space; `t`: dtype of an element; the holes (ops/nest.py) stand for the elements.
"""
from __future__ import annotations

import functools

import numpy as np

from ....infer.meaning import Apply
from ....ops.arith import IMUL
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE, ROW_COPY
from ....ops.nest import (ELEMENT, ELEMENT_STRETCHED, ELEMENT_UNIT, FLAT, OVERLAPS, PUT, PUT_UNIT, SAVE, STRETCHED,
                          UNIT)
from ....ops.structure import UNDEF
from ....types.kinds import Array
from ...build import flagged, unoptimised
from ...intrinsics import as_type, chosen, identity, warn
from ...rule import intrinsic

__all__ = ["mapped", "stored", "save", "apply1", "apply2", "apply3", "apply1_item", "apply2_item", "cast0", "cast1",
           "cast2", "cast3", "masked1", "masked2", "wide", "kept1", "kept2", "sequence1", "sequence2", "in_order",
           "different", "never_equal", "put_pair", "after", "discarding", "store_real", "as_row", "truth", "pick",
           "select"]


# -- kernels

def apply1(f, x):
    return f(x)


def apply2(f, x, y):
    return f(x, y)


def apply3(f, x, y, z):
    return f(x, y, z)


def apply1_item(f, item, x):
    return f(x)[item]


def apply2_item(f, item, x, y):
    return f(x, y)[item]


def masked1(f, t, where, x):
    return f(x) if where else identity("sum", t)


def masked2(f, t, where, x, y):
    return f(x, y) if where else identity("sum", t)


def kept1(f, t, where, old, x):
    return as_type(f(x), t) if where else old


def kept2(f, t, where, old, x, y):
    return as_type(f(x, y), t) if where else old


_WIDE = {"apply": "f, {}: f({})", "cast": "f, t, {}: as_type(f({}), t)",
         "masked": "f, t, where, {}: f({}) if where else identity('sum', t)",
         "kept": "f, t, where, old, {}: as_type(f({}), t) if where else old"}


@functools.cache
def wide(kind: str, count: int):
    """The kernel apply<count>, cast<count>, masked<count> or kept<count>, for more operands than NumPy's ufuncs
    have."""
    names = ", ".join(f"x{k}" for k in range(count))
    return eval(f"lambda {_WIDE[kind].format(names, names)}", globals())


def different(x, y):
    return np.bool_(True)


def never_equal(x, y):
    return np.bool_(False)


def cast0(t, x):
    return as_type(x, t)


def cast1(f, t, x):
    return as_type(f(x), t)


def cast2(f, t, x, y):
    return as_type(f(x, y), t)


def cast3(f, t, x, y, z):
    return as_type(f(x, y, z), t)


def truth(x):
    return np.bool_(x)


def pick(how, t, x, where):
    """x where the mask is true, else the neutral element of the reduction."""
    if how == "any" or how == "all":
        return np.bool_(x) if where else identity(how, t)
    return as_type(x, t) if where else identity(how, t)


def select(condition, x, y):
    return chosen(condition, x, y)


# -- results

def sequence1(f, x, out):
    return f(np.asarray(x), out=out)


def sequence2(f, x, y, out):
    return f(as_operand(x), as_operand(y), out=out)


def as_operand(x):
    return x if isinstance(x, (np.ndarray, int, float, complex, np.generic)) else np.asarray(x)


def in_order(a, order):
    """A result whose elements are in the requested order."""
    if isinstance(a, np.ndarray) and a.ndim > 1 and order in ("C", "F"):
        out = np.empty(a.shape, a.dtype, order)
        out[...] = a
        return out
    return a


def put_pair(both, outs, where):
    return put_result(outs[0], both[0], where), put_result(outs[1], both[1], where)


def put_result(out, result, where):
    if out is None:
        return result
    if where is None:
        out[...] = result
    else:
        out[...] = np.where(where, result, out)
    return out


ComplexWarning = np.exceptions.ComplexWarning


DISCARDS = "Casting complex values to real discards the imaginary part"


def discarding(done):
    """The array of real numbers into which complex numbers were converted, after NumPy's ComplexWarning."""
    warn(DISCARDS, ComplexWarning)
    return done


def store_real(a, i, z):
    warn(DISCARDS, ComplexWarning)
    a[i] = z.real


def after(out, done):
    """`out`, once the nest has written it."""
    return out


# -- element by element

def as_row(shape, total=1, k=0):
    """The shape (1, ..., 1, n) with as many elements."""
    if k == len(shape) - 1:
        return (IMUL(total, shape[k]),)
    return (1,) + as_row(shape, IMUL(total, shape[k]), k + 1)


@flagged(template="map")
def mapped(shape, t):
    out = np.empty(shape, t)
    if UNIT(*shape):
        put_rows((out, out, False), shape, t, len(shape) > 1 and FLAT(*shape))
    else:
        put_each((out, out, False), shape, (), t)
    return out


def put_rows(place, shape, t, flat):
    if len(shape) > 1 and STRETCHED(*shape):
        put_units(place, shape, (), t, True)
    else:
        put_units(place, as_row(shape) if flat else shape, (), t, False)


def put_units(place, shape, index, t, stretched):
    k = len(index)
    if k == len(shape) - 1:
        for j in range(shape[k]):
            PUT_UNIT(*place, *index, j, ELEMENT_STRETCHED(*index, j, type=t) if stretched
                     else ELEMENT_UNIT(*index, j, type=t))
    else:
        for i in range(shape[k]):
            put_units(place, shape, index + (i,), t, stretched)


def put_each(place, shape, index, t):
    k = len(index)
    if k == len(shape) - 1:
        for j in range(shape[k]):
            PUT(*place, *index, j, ELEMENT(*index, j, type=t))
    else:
        for i in range(shape[k]):
            put_each(place, shape, index + (i,), t)


@flagged(template="store")
def stored(shape, target, t):
    """Write the elements into `target`. Where a store would change elements that are still to be read, the elements are
    computed into a temporary array first."""
    if len(shape) == 0:
        PUT(target, target, False, ELEMENT(type=t))
    else:
        save(target)
        overlapping = OVERLAPS(target)
        fresh = room(shape, t) if overlapping else no_array(shape, t)
        if UNIT(*shape):
            put_rows((target, fresh, overlapping), shape, t, False)
        else:
            put_each((target, fresh, overlapping), shape, (), t)
        if overlapping:
            put_back(target, fresh)


@intrinsic
def no_array(shape, t):
    """An array that is never accessed, of the type that np.empty(shape, t) has."""
    return Apply(UNDEF, type=Array(t.type.scalar, len(shape.type.elements)))


def save(target):
    SAVE(target)


@unoptimised
def room(shape, t):
    return np.empty(shape, t)


@unoptimised
def put_back(target, fresh):
    copy_all(target, fresh, ())


def copy_all(target, source, index):
    """Copy `source`, which is in C order, into `target`."""
    k = len(index)
    if k < target.ndim - 1:
        for i in range(target.shape[k]):
            copy_all(target, source, index + (i,))
    elif target.strides[k] == target.itemsize:
        ROW_COPY(target, source, *index, target.shape[k])
    else:
        for j in range(target.shape[k]):
            ARRAY_STORE(target, *index, j, ARRAY_LOAD(source, *index, j))
