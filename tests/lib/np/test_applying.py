"""Functions of functions against NumPy: apply_along_axis, fromfunction, piecewise, vectorize and others."""
import numpy as np
import pytest
from tests.oracle import agree_on

from pyjitc import TypingError, njit

V, A, A3 = np.arange(4.0), np.arange(12).reshape(3, 4), np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def span(v, low=0):
    return v.max() - v.min() - low


def bend(x, y):
    if x > y:
        return x / y
    return x * 2.0


def both(x):
    return x, x > 1


bends, boths, floats = np.vectorize(bend), np.vectorize(both), np.vectorize(lambda x: x > 1, otypes=[float])
adds = np.vectorize(lambda *x: sum(x))


def repeated(n):
    for i in range(n):
        yield i * i


def vectorized_inside(a, b):
    def f(x):
        return x * b + 1

    return np.vectorize(f)(a)


CASES = {
    "along": (lambda a: (np.apply_along_axis(span, 0, a), np.apply_along_axis(np.sum, -1, a),
                         np.apply_along_axis(len, 0, a), np.apply_along_axis(span, 0, a, 2)), (A,), (A3,), (V,),
              (A[:, ::-1],)),
    "along to arrays": (lambda a: (np.apply_along_axis(lambda v: v * 2, 0, a),
                                   np.apply_along_axis(lambda v: v[:2].astype(np.float32), -1, a),
                                   np.apply_along_axis(np.diag, 0, a)), (A,), (A3,), (V,)),
    "along nothing": (lambda a: np.apply_along_axis(np.sum, 0, a), (A[:, :0],), (A[:0].astype(float),)),
    "along no axis": (lambda a: np.apply_along_axis(np.sum, 2, a), (A,)),
    "over axes": (lambda a: (np.apply_over_axes(np.sum, a, (0, -1)), np.apply_over_axes(np.max, a, 1),
                             np.apply_over_axes(np.cumsum, a, 0)), (A,), (A3,)),
    "fromfunction": (lambda n: (np.fromfunction(lambda i, j: i * n + j, (3, n)),
                                np.fromfunction(lambda i: i < 2, (n,), dtype=np.int64),
                                np.fromfunction(np.multiply, (2, n), dtype=np.int8)), (4,), (0,)),
    "piecewise": (lambda x: (np.piecewise(x, [x < 2, x >= 2], [-1, 1]),
                             np.piecewise(x, [x < 2, x > 2], [lambda v: -v, lambda v: v * v, 7]),
                             np.piecewise(x, [x > 1], [5.9, 3])), (V,), (A,), (A[::-1, ::2],), (V[:0],)),
    "piecewise "
    "scalars": (lambda x: (np.piecewise(x, [x < 2, x >= 2], [-1, lambda v: v * 2]), np.piecewise(x, [x < 2], [10, 20])),
                (1.0,), (3,), (np.array(2.5),), (np.float32(1),)),
    "piecewise alone": (lambda x: np.piecewise(x, x > 1, [5.9, 3]), (V,)),
    "piecewise arguments": (lambda x, y: np.piecewise(x, [x > 1], [lambda v, k: v + k, 0], y), (V, 10)),
    "piecewise wrong": (lambda x: np.piecewise(x, [x > 1], [1, 2, 3]), (V,)),
    "vectorize": (lambda a, b: bends(a, b), (V, 1.5), (V, V[:, None] + 0.5), (2.0, 3.0), (A * 1.0, 2.0), (V[:0], 1.0),
                  (V[::-1], 0.0), (V, np.ones(3))),
    "vectorize pairs": (lambda a: boths(a), (V,), (A,), (A.astype(np.int8),)),
    "vectorize types": (lambda a: floats(a), (V,), (A,), (V[:0],)),
    "vectorize any number": (lambda a: (adds(a, a), adds(a, 1, a)), (V,), (A,)),
    "vectorize inside": (vectorized_inside, (V, 2.0), (A, 3)),
    "fromiter": (lambda n: (np.fromiter(range(n), np.float32), np.fromiter(repeated(n), np.int64),
                            np.fromiter((x * 0.5 for x in range(n)), float, count=n),
                            np.fromiter(np.arange(n), np.int8)), (40,), (1,), (0,)),
    "fromiter counts": (lambda n, c: np.fromiter(range(n), np.int16, c), (9, 4), (9, -1), (3, 5), (3, 0)),
    "fromiter beyond": (lambda n: np.fromiter((n, 300), np.int8), (3,)),
    "fromiter rows": (lambda a: np.fromiter(a, float), (A,)),
}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])


def test_what_is_refused():
    marked = np.vectorize(bend, excluded=["y"])
    for call, text in ((lambda a: marked(a, 2.0), "excluded="),
                       (lambda a: np.apply_over_axes(np.sum, a, [0, 1]), "known at compile time"),
                       (lambda a: np.fromiter(3, float), "not iterable"),
                       (lambda a: np.array(2 * x for x in a), r"np\.fromiter\(generator, dtype\) makes an array"),
                       (lambda a: np.piecewise(a, np.ones((2, 4)) > 0, [1, 2]), "in one array")):
        with pytest.raises(TypingError, match=text):
            njit(call)(V)
