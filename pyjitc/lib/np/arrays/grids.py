"""np.mgrid and np.ogrid: open and dense grids written as slices."""
from __future__ import annotations

import math

import numpy as np

from ....infer.meaning import Apply, Call, Const, Expr, NotNative
from ....ops.structure import SLICE_GET, TUPLE_GET, TUPLE_MAKE
from ....types import kinds as k
from ...build import a_type, type_name

__all__ = ["getitem", "parts_of"]


def getitem(grid: Expr, key: Expr) -> Expr:
    """np.mgrid[...] or np.ogrid[...]"""
    dense = grid.type.value is np.mgrid
    name = "np.mgrid" if dense else "np.ogrid"
    alone = isinstance(key.type, k.Slice)
    if alone:
        return Call(line, *parts_of(key, name), Const(k.Bool, True))
    if not isinstance(key.type, k.Tuple) or not key.type.elements:
        raise NotNative(f"{name}[{type_name(key.type)}] is not compiled", f"write slices: {name}[0:n, 0:m]")
    slices = []
    for j, t in enumerate(key.type.elements):
        x = Const(t, key.value[j]) if key.known else Apply(TUPLE_GET, key, index=j)
        slices.append(Apply(TUPLE_MAKE, *parts_of(x, name), cls=None))
    floating = any(part is not k.Int for x in slices for part in x.type.elements)
    return Call(mgrid if dense else ogrid, Apply(TUPLE_MAKE, *slices, cls=None), Const(k.Bool, floating))


def parts_of(x: Expr, grid: str) -> list[Expr]:
    """The start, the stop and the step of a slice in the brackets of `grid`."""
    if not isinstance(x.type, k.Slice):
        raise NotNative(f"{grid} with {a_type(x.type)} is not compiled", f"write slices: {grid}[0:n, 0:m]")
    found = []
    for name, default in (("start", 0), ("stop", None), ("step", 1)):
        part = _known(getattr(x.value, name), grid) if x.known else Apply(SLICE_GET, x, field=name)
        if part.type is k.NoneType and default is not None:
            part = Const(k.Int, default)
        if part.type not in (k.Int, k.Float) and not (name == "step" and part.type is k.Complex):
            raise NotNative(f"{grid} with a {name} of type {type_name(part.type)} is not compiled",
                            "use int or float")
        found.append(part)
    return found


def _known(value, grid: str) -> Const:
    t = {type(None): k.NoneType, int: k.Int, float: k.Float, complex: k.Complex}.get(type(value))
    if t is None:
        raise NotNative(f"{grid} with {value!r} is not compiled", "use int or float")
    return Const(t, value)


def length(start, stop, step):
    if isinstance(step, complex):
        return int(abs(step))
    return max(math.ceil((stop - start) / step), 0)


def increment(start, stop, step, n):
    if isinstance(step, complex):
        return (stop - start) / float(n - 1) if n != 1 else 1.0
    return step


def line(start, stop, step, alone):
    """One axis of a grid. A single slice is np.arange, whose step is computed from its first two elements."""
    n = length(start, stop, step)
    delta = increment(start, stop, step, n)
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        out = np.empty(n, np.int64)
        for i in range(n):
            out[i] = i * delta + start
        return out
    else:
        out = np.empty(n, np.float64)
        if alone and not isinstance(step, complex):
            delta = (start + step) - start
        for i in range(n):
            out[i] = i * delta + start
        return out


def mgrid(key, floating):
    out = np.empty((len(key), *lengths(key)), np.float64 if floating else np.int64)
    put(out, key, 0)
    return out


def lengths(key, j=0):
    return () if j == len(key) else (length(*key[j]),) + lengths(key, j + 1)


def put(out, key, j):
    if j < len(key):
        out[j] = across(line(*key[j], False), len(key) - 1 - j)
        put(out, key, j + 1)


def across(x, n):
    """The array with n more axes of length 1 at the end."""
    return x if n == 0 else across(x[..., None], n - 1)


def ogrid(key, floating, j=0):
    if j == len(key):
        return ()
    return (before(across(typed(line(*key[j], False), floating), len(key) - 1 - j), j),) + ogrid(key, floating, j + 1)


def typed(x, floating):
    return x.astype(np.float64) if floating else x


def before(x, n):
    return x if n == 0 else before(x[None], n - 1)
