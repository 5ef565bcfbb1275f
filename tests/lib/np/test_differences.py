"""Differences, gradients, unwrapping, running sums and interpolation, against NumPy."""
import numpy as np
import pytest
from tests.lib.np.closely import check

from pyjitc import njit

R = np.random.default_rng(4)
A1, A2, A3 = R.normal(size=9), R.normal(size=(3, 5)), R.normal(size=(2, 3, 4))
W, S, B, H, F = A1[:4] + 1j, np.array([3, 1, 2, -3, 1], np.int8), A1 > 0, A1.astype(np.float16), A1.astype(np.float32)
NAN = np.array([[1.0, np.nan, 3], [np.nan, 2, 0.5]])
P = np.cumsum(R.normal(size=12) * 2)

CASES = {
    "diff": (lambda a: (np.diff(a), np.diff(a, 2), np.diff(a, axis=0), np.trapezoid(a),
                        np.trapezoid(a, dx=0.5, axis=0)), (A1,), (A2,), (S,)),
    "trap": (lambda y, x: (np.trapezoid(y, x), np.trapezoid(y, x, axis=-1)), (A1, np.arange(9)**2), (A2, A2**2),
             (A2, np.arange(5))),
    "diff beside": (lambda a, x, y: (np.diff(a, prepend=x), np.diff(a, 2, -1, x, y), np.diff(a, append=y)), (A1, 0, A1),
                    (S, S, 2), (B, True, B), (F, 1.5, A1)),
    "diff beside "
    "axis": (lambda a: (np.diff(a, axis=0, prepend=a, append=0), np.diff(a, axis=1, prepend=a[:, :2])), (A2,)),
    "diff wrong": (lambda a: np.diff(a, -1), (A1,)),
    "diff of a number": (lambda a: np.diff(a), (np.array(1.0),), (2.5,)),
    "trap axis": (lambda y: np.trapezoid(y, axis=2), (A2,), (np.array(1.0),)),
    "trap0": (lambda y, x: np.trapezoid(y, x, axis=0), (A1, np.arange(9)**2), (A2, A2**2),),
    "trap00": (lambda y, x: np.trapezoid(y, x, axis=0), (A2, np.arange(3))),
    "grad": (lambda f: (np.gradient(f), np.gradient(f, 2.0), np.gradient(f, edge_order=2),
                        np.gradient(f, 2, edge_order=2)), (A1,), (F,), (W,), (S,), (A3+0.0,), (A1[:1],)),
    "grad2": (lambda f: (np.gradient(f, axis=0), np.gradient(f, axis=(1, 0)), np.gradient(f, 0.5, 2.0),
                         np.gradient(f, 3, axis=-1), np.gradient(f, np.float32(2))), (A2,), (A2.astype(np.float32),)),
    "gradx": (lambda f, x: (np.gradient(f, x), np.gradient(f, x, edge_order=2)), (A1, np.arange(9)**2),
              (A1, np.arange(9)), (A1, np.sort(A1)), (F, np.sort(F)), (W, np.array([0, 1, 3.0, 4])), (A1, A1[:3]),
              (A1, A2)),
    "gradxy": (lambda f, x, y: (np.gradient(f, x, y), np.gradient(f, x, 2.0), np.gradient(f, y, axis=1)),
               (A2, np.arange(3)**2, np.arange(5)**2)),
    "grad list": (lambda: (np.gradient([1, 2, 4.0, 7]), np.gradient([1, 2, 4], 2), np.gradient((1, 2, 4), (0, 1, 3)),
                           np.gradient([[1, 2], [3, 5.0]])), ()),
    "grad e1": (lambda f: np.gradient(f, 1, 2, 3), (A2,)), "grad e2": (lambda f: np.gradient(f, axis=(0, 0)), (A2,)),
    "grad e3": (lambda f: np.gradient(f, axis=5), (A2,)), "grad e4": (lambda f: np.gradient(f, edge_order=3), (A2,)),
    "unwrap": (lambda p: (np.unwrap(p), np.unwrap(p, 4.0), np.unwrap(p, axis=0), np.unwrap(p, period=4)), (P,),
               (P.reshape(3, 4),), (P.astype(np.float32),), (np.arange(6)*3%7,), (P[:0],)),
    "unwrap2": (lambda p: (np.unwrap(p, period=3), np.unwrap(p, 2, period=5)), ((np.arange(9)*5%8),), (P,)),
    "unwrap e": (lambda p: np.unwrap(p, axis=2), (P,)), "unwrap l": (lambda: np.unwrap([1, 8, 3.0]), ()),
    "nanarg": (lambda a: (np.nanargmax(a), np.nanargmin(a), np.nanargmax(a, axis=0),
                          np.nanargmin(a, -1, keepdims=True)), (NAN,), (A3,), (NAN*np.nan,)),
    "nanarg of "
    "types": (lambda a: (np.nanargmax(a), np.nanargmin(a)), (A1,), (S,), (B,), (NAN.astype(np.float16),), (A1[:0],)),
    "nanarg e": (lambda a: np.nanargmin(a, axis=5), (A2,)),
    "cumulative": (lambda a: (np.cumulative_sum(a, axis=0), np.cumulative_prod(a, axis=-1),
                              np.cumulative_sum(a, axis=0, include_initial=True),
                              np.cumulative_prod(a, axis=-1, include_initial=True, dtype=np.float32)), (A1,), (A3,),
                   (A1[:0],)),
    "cumulative of types": (lambda a: (np.cumulative_sum(a, axis=0),
                                       np.cumulative_prod(a, axis=-1, include_initial=True)), (A2,), (S,), (B,), (W,)),
    "cumulative1": (lambda a: (np.cumulative_sum(a), np.cumulative_prod(a, include_initial=True)), (A1,), (A2,), (3,),
                    (2.5,)),
    "cumulative o": (lambda a, o: np.cumulative_sum(a, out=o, include_initial=True), (A1, np.zeros(10)),),
    "interp": (lambda x, p, f: (np.interp(x, p, f), np.interp(x, p, f, left=-9), np.interp(x, p, f, right=2.5),
                                np.interp(x, p, f, period=1.5), np.interp(x, p, f, -1, -2, period=-4)),
               (A1, np.array([-1.0, 0, 2]), np.array([1.0, 5, -3])), (A1, np.arange(3.0), A1[:3]), (A1, A1[:0], A1[:0]),
               (A1, A1, A1[:3]), (NAN, A1[:1], A1[1:2]), (np.nan, A1[:1], A1[1:2])),
    "interp of types": (lambda x, p, f: (np.interp(x, p, f, left=-9), np.interp(x, p, f, period=1.5)),
                        (0.5, np.arange(3), S[:3]), (A2, np.arange(3.0), A1[:3]), (A1, np.array([-1.0, 0, 2]), W[:3]),
                        (np.array(0.3), np.arange(3.0), A1[:3]), (S, np.arange(3.0), A1[:3]),
                        (np.float32(1.5), np.arange(3.0), A1[:3]), (NAN, np.arange(3.0), A1[:3]),
                        (0.5, A1[:0], A1[:0])),
    "interp l": (lambda x: (np.interp(x, [1, 2, 3], [4, 6, 5.5]), np.interp([1, 2.5], [1, 2, 3], (4, 6, 5.5))), (1.5,),
                 (A1,)),
    "interp p0": (lambda x: np.interp(x, [1, 2, 3], [4, 6, 5.5], period=0), (1.5,)),
}


# Sums are added in another order, and a gradient's products and sums may be contracted to fma.
TOLERANCES = {"e": 5e-3, "f": 1e-5, "F": 1e-5, "d": 1e-13, "D": 1e-13}


@pytest.mark.parametrize("name", [name for name in CASES if hasattr(np, "cumulative_sum") or "cumulative" not in name])
def test_same_as_numpy(name):
    function, *calls = CASES[name]
    for args in calls:
        check(function, *args, tolerances=TOLERANCES)


@pytest.mark.parametrize("function", [lambda a: np.diff(a, 1.0), lambda a: np.vander(a, 2.0),
                                      lambda a: np.swapaxes(a, 0, (0,))])
def test_what_counts_is_an_integer(function):
    for one in (function, njit(function)):
        with pytest.raises(TypeError, match="object cannot be interpreted as an integer"):
            one(A1)


def interpolated(x, p, v):
    return np.interp(x, p, v)


@pytest.mark.parametrize("points", [1, 2, 3, 4, 30])
def test_interpolation_at_values_in_any_order(points):
    """Each search begins where the one before has ended."""
    rng = np.random.default_rng(points)
    p, v = np.sort(rng.integers(0, 20, points)).astype(float), rng.random(points)  # some points are equal
    values = np.concatenate((rng.random(60) * 24 - 2, rng.integers(-1, 21, 40), [np.nan, np.inf, -np.inf]))
    for x in (np.sort(values), np.sort(values)[::-1], values, np.repeat(p, 2), values[:0]):
        check(interpolated, x, p, v, tolerances={"d": 1e-15})


def test_the_parts_of_complex_values_are_interpolated_by_themselves():
    x, p = np.linspace(-1.0, 4.0, 23), np.arange(4.0)
    for z in (complex(np.inf, 1.0), complex(2.0, np.nan), complex(-np.inf, np.nan)):
        for at in range(4):
            v = np.array([1 + 2j, 0.3 - 1j, -2.5j, 4.1])
            v[at] = z
            check(interpolated, x, p, v, tolerances={"D": 1e-15})
