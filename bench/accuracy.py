"""Suite `accuracy`: the largest error of every elementary function of arrays (lib/elementary), beside
that of NumPy.

Each function gets more than a million arguments: random bit patterns, the ranges in which it varies, and arguments for
which it is hard to compute. The results with the largest differences from NumPy's in long double are measured against
mpmath, which is exact at this precision. Subnormal results count in units of the least subnormal number.
"""
from __future__ import annotations

import importlib

import numpy as np

from pyjitc import njit

from .measure import progress, sample
from .table import Row

__all__ = ["PEERS", "measure"]

PEERS = ()
N = 200_000
CANDIDATES = 200  # arguments of each function that are measured exactly
ULPS = 2.5
R = np.random.default_rng(5)
EXACT = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
         "arctanh": "atanh", "arctan2": "atan2", "power": "power"}


def bits():
    return R.integers(0, 2**64, N, dtype=np.uint64).view(np.float64)


def spread(low, high):
    """Numbers of both signs, from 10 ** low to 10 ** high."""
    return 10.0 ** R.uniform(low, high, N) * R.choice([-1.0, 1.0], N)


def samples():
    exponential = [R.uniform(-750, 715, N), R.normal(0, 1, N), R.uniform(-1.1, 1.1, N), R.uniform(-0.25, 0.25, 8 * N),
                   spread(-320, 2)]
    logarithmic = [abs(spread(-323, 308)), R.uniform(0.5, 2, N), 1 + R.normal(0, 1e-6, N),
                   2.0 ** np.arange(-1074, 1024)]
    # arguments that cancel almost completely in range reduction
    turns = np.round(np.concatenate([R.uniform(-1e6, 1e6, N), spread(0, 13)])) * (np.pi / 2)
    circular = [R.uniform(-8, 8, N), R.normal(0, 1, N), spread(-300, 14), turns, [6381956970095103 * 2.0**797]]
    unit = [R.uniform(-1, 1, N), spread(-320, 0), 1 - abs(spread(-16, 0)), abs(spread(-16, 0)) - 1]
    all_over = [R.normal(0, 2, N), spread(-320, 308), spread(-9, 9)]
    yield from ((f, [*exponential, bits()]) for f in (np.exp, np.expm1, np.sinh, np.cosh, np.tanh))
    yield np.exp2, [R.uniform(-1080, 1030, N), R.normal(0, 1, N), spread(-20, 3), bits()]
    yield from ((f, [*logarithmic, bits()]) for f in (np.log, np.log2, np.log10))
    yield np.log1p, [*unit, *logarithmic]
    yield from ((f, [*circular, bits()]) for f in (np.sin, np.cos, np.tan))
    yield from ((f, unit) for f in (np.arcsin, np.arccos, np.arctanh))
    yield from ((f, [*all_over, bits()]) for f in (np.arctan, np.arcsinh, np.cbrt))
    yield np.arccosh, [1 + abs(spread(-16, 1)), abs(spread(0, 308)), R.uniform(1, 3, N)]
    yield from ((f, [R.normal(0, 1, (2, N)), [spread(-300, 300), spread(-300, 300)], [spread(-3, 3), spread(-3, 3)],
                     [bits(), bits()]])
                for f in (np.arctan2, np.hypot))
    yield np.power, [[R.uniform(0, 10, N), R.uniform(-8, 8, N)], [abs(spread(-300, 300)), R.uniform(-1.1, 1.1, N)],
                     [1 + R.normal(0, 1e-4, N), spread(0, 6)], [abs(spread(-3, 3)), R.uniform(-100, 100, N)],
                     [abs(spread(-323, -300)), R.uniform(0, 2, N)], [R.uniform(0.7, 1.6, N), R.uniform(-1900, 1900, N)],
                     [R.uniform(0.7, 1.6, N), R.uniform(-230, 230, N)], [bits(), bits()]]


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    try:
        mp = importlib.import_module("mpmath").mp
    except ImportError:
        print("accuracy     is left out: it needs mpmath")
        return []
    rows = []
    with np.errstate(all="ignore"):
        # all samples are made, so that the arguments of a function do not depend on `only`
        for function, parts in samples():
            for dtype in (np.float64, np.float32):
                name = f"{function.__name__}, {dtype.__name__}"
                if only in name:
                    progress(f"accuracy: {name}")
                    rows.append(_row(mp, name, function, parts, dtype, CANDIDATES // 10 if quick else CANDIDATES))
    progress("")
    return rows


def _row(mp, name, function, parts, dtype, candidates) -> Row:
    args = [np.concatenate(p).astype(dtype) for p in zip(*([p] if function.nin == 1 else p for p in parts))]
    compiled = njit(lambda a: function(a)) if function.nin == 1 else njit(lambda a, b: function(a, b))
    near = function(*(x.astype(np.longdouble) for x in args))
    error, where = _worst(mp, function, args, compiled(*args), near, candidates)
    theirs, _ = _worst(mp, function, args, function(*args), near, candidates)
    place = ", ".join(f"{x:.9g}" if dtype is np.float32 else repr(float(x)) for x in where)
    return Row("accuracy", name, "ulp", sample([error]), {"at": place, "numpy": sample([theirs])}, budget=ULPS)


def _worst(mp, function, args, found, near, candidates):
    """(the largest error, the arguments that give it)"""
    usual = np.isfinite(found) & np.isfinite(near.astype(found.dtype)) & (found != 0)
    guess = np.where(usual, abs(found - near) / np.spacing(abs(found)), -1)
    return max((_ulps(mp, function, [x[i] for x in args], found[i]), [x[i] for x in args])
               for i in np.argsort(guess)[-candidates:])


def _ulps(mp, function, args, found) -> float:
    """The error of one result, in units in the last place of the exact result."""
    mp.prec = 1400 if function in (np.sin, np.cos, np.tan) and abs(args[0]) > 1e9 else 250
    right = _exact(mp, function.__name__, [mp.mpf(float(x)) for x in args])
    unit = np.spacing(abs(found.dtype.type(float(right))))
    return float(abs(mp.mpf(float(found)) - right) / mp.mpf(float(unit)))


def _exact(mp, name, args):
    if name == "exp2":
        return mp.power(2, *args)
    if name == "log2":
        return mp.log(*args, 2)
    if name == "cbrt":
        return mp.sign(*args) * mp.cbrt(abs(*args))
    return getattr(mp, EXACT.get(name, name))(*args)
