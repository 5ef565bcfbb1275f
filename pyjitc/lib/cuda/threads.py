"""NumPy's functions of whole arrays for one thread of a kernel: they neither allocate memory nor call BLAS.

Sums of floats are NumPy's up to 128 elements in a row; longer rows are added block by block, where NumPy adds them
pairwise.
"""
from __future__ import annotations

from functools import partial

import numpy as np

from ...base.errors import with_article
from ...infer.meaning import Apply, Call, Expr, Mismatch, Throw
from ...ops.arith import IADD, ISUB
from ...ops.gpu import PRINT
from ...ops.nest import UNIT
from ...types.kinds import Bool, Str, Tuple, bool_, is_float, is_integer, is_numpy_scalar
from ..rule import rule
from ..intrinsics import identity
from ..np.elementwise import loops
from ..np.linalg import products_core
from ..np.reductions import folds
from ..np.shapes import views
from ..np.reductions.folds import BLOCK, combine, element, simple_row
from ..np.linalg.products_core import accumulate
from ..np.shapes.views import elements, overlap

__all__ = ["THREADS"]

NO_ROOM = "the target of the assignment overlaps what is read, and a kernel has no memory for a copy; write a loop"


def room_of(shape, how, t):
    """The buffers that `row` needs in a kernel: none."""
    return ()


def row(total, index, n, how, unit, t, room):
    if how == "sum" and t.kind in "fc":
        return total + (simple_row(t.type(0), index, n, how, unit, t) if n < 8 else blocks(index, n, unit, t))
    return simple_row(total, index, n, how, unit, t)


def pairwise(shape, how, t):
    """The sum of one row, without recursive calls."""
    if UNIT(*shape):
        return row(identity(how, t), (), shape[0], how, True, t, ())
    return row(identity(how, t), (), shape[0], how, False, t, ())


def blocks(index, n, unit, t):
    total = eight(index, 0, BLOCK if n > BLOCK else n, unit, t)
    for low in range(BLOCK, n, BLOCK):
        count = ISUB(n, low)
        total += eight(index, low, BLOCK if count > BLOCK else count, unit, t)
    return total


def eight(index, low, n, unit, t):
    """Sum of n elements from `low`, by eight running sums."""
    zero = t.type(0)
    r0, r1, r2, r3, r4, r5, r6, r7 = zero, zero, zero, zero, zero, zero, zero, zero
    rest = ISUB(n, n & 7)
    for j in range(0, rest, 8):
        at = IADD(low, j)
        r0 += element(index, at, unit, t)
        r1 += element(index, IADD(at, 1), unit, t)
        r2 += element(index, IADD(at, 2), unit, t)
        r3 += element(index, IADD(at, 3), unit, t)
        r4 += element(index, IADD(at, 4), unit, t)
        r5 += element(index, IADD(at, 5), unit, t)
        r6 += element(index, IADD(at, 6), unit, t)
        r7 += element(index, IADD(at, 7), unit, t)
    total = combine("sum", combine("sum", combine("sum", r0, r1), combine("sum", r2, r3)),
                    combine("sum", combine("sum", r4, r5), combine("sum", r6, r7)))
    for j in range(rest, n):
        total += element(index, IADD(low, j), unit, t)
    return total


def unaliased(x, target):
    if overlap(target, x):
        raise RuntimeError(NO_ROOM)
    return x


def save(target):
    """No copies are made: there is no memory for them."""


def vector_dot(a, b):
    total = a.dtype.type(0)
    for i in range(len(a)):
        total = accumulate(total, a[i], b[i])
    return total


def matvec(y, a, x):
    for i in range(len(y)):
        y[i] = vector_dot(a[i], x)


# ---------------------------------------------------------------- print


@rule("print")
def printed(*args, **kwargs):
    """The rule of print(...) of numbers, bools, None, tuples, constant texts, and f-strings of these."""
    for name, x in kwargs.items():
        if name not in ("sep", "end") or not x.known or x.value is not None and not isinstance(x.value, str):
            raise Mismatch(f"print() in a kernel has no {name}="
                           + (" that is not a constant" if name in ("sep", "end") else ""),
                           "leave it out: a kernel prints to standard output")
    sep, end = (usual if name not in kwargs or kwargs[name].value is None else kwargs[name].value
                for name, usual in (("sep", " "), ("end", "\n")))
    texts, values = [""], []
    for k, x in enumerate(args):
        texts[-1] += sep if k else ""
        _add(x, texts, values, str)
    texts[-1] += end
    return Apply(PRINT, *values, texts=tuple(texts))


def _add(x: Expr, texts: list[str], values: list[Expr], form) -> None:
    """Append the format of x to `texts` and its values to `values`. form: str or repr, for constants."""
    if x.known and (x.value is None or isinstance(x.value, (str, bool, int, np.bool_))):
        texts[-1] += form(x.value)
    elif isinstance(x.type, Tuple) and x.type.cls is None:
        parts = elements(x)
        texts[-1] += "("
        for k, part in enumerate(parts):
            texts[-1] += ", " if k else ""
            _add(part, texts, values, repr)
        texts[-1] += ",)" if len(parts) == 1 else ")"
    elif is_integer(x.type) or is_float(x.type) or x.type in (Bool, bool_):
        # since NumPy 2 the repr of a scalar names its type
        named = form is repr and is_numpy_scalar(x.type) and repr(np.int8(0)) != "0"
        before, after = ("", "") if not named else ("np.", "_") if x.type is bool_ else (f"np.{x.type}(", ")")
        texts[-1] += before
        values.append(x)
        texts.append(after)
    elif x.type is Str and form is str:  # an f-string, which passes/device.py replaces by its parts
        values.append(x)
        texts.append("")
    else:
        raise Mismatch(f"a kernel does not print {with_article(str(x.type))}", "print its numbers, one by one")


@rule("room", loops.room)
def _no_room(*operands):
    return Throw(RuntimeError, NO_ROOM)


# The implementations of library functions in kernels.
THREADS = {print: printed, loops.room: _no_room,
           **{usual: rule(own.__name__, own)(partial(Call, own)) for usual, own in (
    (folds.row, row), (folds.room_of, room_of), (folds.pairwise, pairwise), (views.unaliased, unaliased),
    (loops.save, save), (products_core.vector_dot, vector_dot), (products_core.matvec, matvec))}}
