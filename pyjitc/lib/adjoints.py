"""Operations on whole arrays for derivatives: functions in the compiled subset to which passes/derivatives adds calls
by name.

Loaded by programs that ask for derivatives. Arrays of adjoints are added to in place.
"""
from __future__ import annotations

import os

import numpy as np

from ..ops.memory import ARRAY_LOAD, ARRAY_STORE, ROW_COPY
from .build import flagged, outlined, unoptimised
from .intrinsics import strided
from .np.elementwise.loops import mapped

__all__ = ["accumulate", "accumulate_if", "as_type",
           "add_to_first", "by_column", "by_rows", "check_disjoint", "check_room", "check_shape",
           "clear", "column", "conjugate", "copied", "copied_by_columns", "copied_flat", "copied_like",
           "copied_like_by_columns",
           "for_all", "full", "grown", "mapped", "move_row", "outer", "plus", "pushed", "pushed_complex",
           "pushed_ints", "put_row",
           "reduced", "reduced_apart", "reduced_copy", "roomy", "shaped", "total", "zeros_by_columns", "zeros_like"]


@flagged(returns="copy")
def copied(x):
    """A copy in C order."""
    return x.copy()


@flagged(returns="copy")
def copied_flat(x):
    """A copy of an array whose type says that it is in C order."""
    found = np.empty(x.shape, x.dtype)
    ROW_COPY(found.reshape(-1), x.reshape(-1), x.size)
    return found


@flagged(returns="new")
def copied_by_columns(x):
    """A copy in Fortran order."""
    return x.T.copy().T


def check_shape(x, given):
    if given.shape != x.shape:
        raise ValueError(f"a tangent or cotangent of shape {given.shape} for an array of shape {x.shape}")


@flagged(returns="new")
def copied_like(x, given):
    """A copy of a tangent in C order; raises ValueError if its shape is not that of x."""
    check_shape(x, given)
    return given.copy()


@flagged(returns="new")
def copied_like_by_columns(x, given):
    check_shape(x, given)
    return given.T.copy().T


@flagged(only_checks=True)
def check_disjoint(x, y):
    if np.may_share_memory(x, y):
        raise ValueError("two arguments share memory, and one of them is written into: a derivative is of functions of "
                         "separate arrays; pass a copy of one")


@flagged(returns="new")
def zeros_like(x):
    """Zeros in C order."""
    return np.zeros(x.shape, x.dtype)


@flagged(returns="new")
def zeros_by_columns(x):
    return np.zeros(x.T.shape, x.dtype).T


@flagged(returns="new")
def full(shape, value):
    return np.full(shape, value)


def shaped(shape, given):
    """A copy of a cotangent; raises ValueError if it does not have this shape."""
    if given.shape != shape:
        raise ValueError(f"a cotangent of shape {given.shape} for a result of shape {shape}")
    return given.copy()


# -- sums of adjoints


@flagged(returns="new")
def plus(x, y):
    return x + y


def total(x):
    return np.sum(x)


def accumulate(total, given):
    """Add the adjoints of a value that an array was broadcast to, summed over the broadcast axes, to those of the
    array."""
    if not isinstance(given, np.ndarray):
        total += given
    elif given.ndim > total.ndim:
        accumulate(total, np.sum(given, axis=0))
    elif given.shape == total.shape:
        total += given
    else:
        add_part(total, strided(given))


def add_broadcast(total, given):
    """Add `given` to `total`, which has the same number of axes. Along an axis in which `total` has length 1 the
    elements of `given` are summed; along an axis in which `given` has length 1 they are repeated."""
    if given.ndim > 1:
        for i in range(max(len(total), len(given))):
            add_part(total[0 if len(total) == 1 else i], given[0 if len(given) == 1 else i])
    elif len(total) == 1:
        total[0] += row_total(given)
    elif len(given) == 1:
        for i in range(len(total)):
            ARRAY_STORE(total, i, ARRAY_LOAD(total, i) + ARRAY_LOAD(given, 0))
    else:
        for i in range(len(given)):
            ARRAY_STORE(total, i, ARRAY_LOAD(total, i) + ARRAY_LOAD(given, i))


@outlined
def add_part(total, given):
    add_broadcast(total, given)


@outlined
def total_of_rows(x):
    return np.sum(x, axis=0)


@outlined
def row_total(x):
    return np.sum(x)


def for_all(shape, x, g):
    """The total contribution of the adjoint g to x, where x was broadcast to `shape` and summed along the axes in which
    g has length 1: g times `repeats`."""
    return g * repeats(shape, x, g, 0)


def repeats(shape, x, g, axis):
    """The product of the lengths in `shape`, from `axis` on, of the axes in which neither x nor g has more than one
    element."""
    if axis == len(shape):
        return 1
    n = repeats(shape, x, g, axis + 1)
    if isinstance(g, np.ndarray) and g.shape[axis] != 1:
        return n
    if isinstance(x, np.ndarray) and axis >= len(shape) - x.ndim and x.shape[axis - (len(shape) - x.ndim)] != 1:
        return n
    return n * shape[axis]


def accumulate_if(wanted, total, given):
    if wanted:
        total += given


@flagged(returns="last")
def reduced(shape, given):
    """The adjoints of an array of this shape from those of an array to which it was broadcast, or to which it was
    summed: the given array itself, where the shapes are equal."""
    if given.ndim > len(shape):
        return reduced(shape, np.sum(given, axis=0))
    if given.shape == shape:
        return given
    return of_shape(shape, given)


@flagged(returns="last")
def reduced_apart(shape, given):
    """As `reduced`, of an array that has other uses, so that it is not computed as part of a sum: the sum is a function
    of its own, which is compiled once."""
    if given.ndim > len(shape):
        return reduced(shape, total_of_rows(given))
    return reduced(shape, given)


@flagged(returns="new")
def reduced_copy(shape, given):
    """As `reduced`, but always a new array."""
    if given.ndim > len(shape):
        return reduced(shape, np.sum(given, axis=0))
    if given.shape == shape:
        return given.copy()
    return of_shape(shape, given)


@outlined
def of_shape(shape, given):
    if given.ndim == 1:
        return np.full(shape, row_total(given) if shape[0] == 1 else given[0])
    found = np.zeros(shape, given.dtype)
    add_broadcast(found, strided(given))
    return found


def clear(x):
    x[...] = 0


def add_to_first(x, n, g):
    for i in range(n):
        ARRAY_STORE(x, i, ARRAY_LOAD(x, i) + g)


def move_row(shadow, source, place, n):
    """The adjoint of copying the first n elements of a row."""
    for i in range(n):
        at = place + (i,)
        if source is not None:
            ARRAY_STORE(source, *at, ARRAY_LOAD(source, *at) + ARRAY_LOAD(shadow, *at))
        ARRAY_STORE(shadow, *at, shadow.dtype.type(0))


def conjugate(x):
    return np.conj(x)


# -- products


@flagged(returns="new")
def outer(g, x):
    return g.reshape(-1, 1) * x


@flagged(returns="new")
def by_rows(g, matrix):
    return g @ matrix


@flagged(returns="new")
def by_column(column, g):
    return column * g


@flagged(returns="new")
def column(matrix, g):
    return (matrix @ g).reshape(-1, 1)


# -- tapes


def _memory() -> int:
    """The bytes of memory that this process may have."""
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 2 ** 62
    try:
        with open("/sys/fs/cgroup/memory.max") as file:
            text = file.read().strip()
    except OSError:
        return found
    return min(found, int(text)) if text.isdigit() else found


MEMORY = _memory()


def check_room(trips, each, line):
    """Raise MemoryError, before the machine has no memory left, if it is too small for a tape of `each` numbers for
    each of the trips of the loop at this line."""
    if trips > MEMORY // 8 // each:
        has_no_room(trips, each, line)


@unoptimised
def has_no_room(trips, each, line):
    raise MemoryError(f"the gradient keeps {8 * each} bytes for each trip of the loop at line {line}, and this machine "
                      f"has no memory for {trips} trips: pass memory=bytes to grad, which runs trips again, or put the "
                      "step into a function under pyjitc.checkpoint")


@unoptimised
def grown(tape, need, each, line):
    check_room(need // each, each, line)
    new = np.empty(max(2 * len(tape), need, 64))
    ROW_COPY(new, tape, len(tape))
    return new


def roomy(tape, need, each, line):
    """The tape, grown if it has no room for `need` numbers; see `check_room`."""
    if need <= len(tape):
        return tape
    return grown(tape, need, each, line)


def as_type(x, t):
    return x.astype(t)


def put_row(row, x):
    """Copy an array in C order into the elements of `row`, which are as many."""
    ROW_COPY(row, x.reshape(-1), len(row))


def pushed(tape, at, x, line):
    """The tape with the elements of an array stored from position `at` on."""
    tape = roomy(tape, at + x.size, max(1, x.size), line)
    tape[at:at + x.size] = x.reshape(-1)
    return tape


def pushed_ints(tape, at, x, line):
    """As `pushed`, for an array of ints, whose bits are stored."""
    tape = roomy(tape, at + x.size, max(1, x.size), line)
    tape[at:at + x.size].view(np.int64)[...] = x.reshape(-1)
    return tape


def pushed_complex(tape, at, x, line):
    """As `pushed`, for an array of complex elements. Each takes two numbers of the tape: real part, imaginary part."""
    tape = roomy(tape, at + 2 * x.size, max(1, 2 * x.size), line)
    tape[at:at + 2 * x.size:2] = x.real.reshape(-1)
    tape[at + 1:at + 2 * x.size:2] = x.imag.reshape(-1)
    return tape
