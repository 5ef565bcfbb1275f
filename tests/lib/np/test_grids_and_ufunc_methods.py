"""np.mgrid, np.ogrid, np.r_, np.c_, the methods of ufuncs, np.ndarray as a constructor."""
import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import njit
from pyjitc.base.errors import TypingError


def test_dense_grids():
    def f(n, m):
        a, b = np.mgrid[0:n, 0:m]
        return (a, b, np.mgrid[0:n, 1:2 * m:2, 3:0:-1], np.mgrid[0:n], np.mgrid[0:1:0.1], np.mgrid[:n, 0:1:5j],
                np.mgrid[0:1:4j])

    compiled = agree(f, 3, 4)
    agree(f, 0, 1, compiled=compiled)


def test_open_grids():
    def f(n, m):
        return np.ogrid[0:n, 1:2 * m:2, 3:0:-1], np.ogrid[0:n], np.ogrid[0:1:0.1], np.ogrid[:n, 0:1:5j]

    compiled = agree(f, 3, 4)
    agree(f, 0, 1, compiled=compiled)


JOINED = """
np.r_[a, 1.0]
np.r_[1, 2, 3]
np.r_[small, 3]
np.r_[small, 3.5, True]
np.r_[np.int16(3), small]
np.r_[1j, small]
np.r_[single, single]
np.r_[0:5]
np.r_[:n]
np.r_[2:0:-1]
np.r_[0:5:2, a]
np.r_[0:1:0.25]
np.r_[-1:1:6j, [0] * 3, 5, 6]
np.r_[table, table]
np.r_[a, table[0], 2:n]
np.r_[a[::-1], a[a > 1], a[0]]
np.r_[a[:0], small[:0]]
np.c_[a, a]
np.c_[a]
np.c_[table, table]
np.c_[table, small[:2]]
np.c_[table.T, table.T, [1, 2, 3]]
np.c_[1, 2.5]
np.c_[0:3, a[:3]]
np.c_[1:2:3j, a[:3]]
np.c_[np.ones((2, 1, 3)), np.zeros((2, 1, 2))]
np.r_[table, a]
np.c_[a, table]
np.r_[small, 300]
np.r_[()]
""".split("\n")[1:-1]


@pytest.mark.parametrize("source", JOINED)
def test_joined_in_brackets(source):
    space: dict = {"np": np}
    exec(f"def f(a, small, single, table, n):\n    return {source}", space)
    a, table = np.arange(4.0), np.arange(6).reshape(2, 3)
    agree(space["f"], a, np.arange(3, dtype=np.int8), np.ones((2, 2), np.float32), table, 5)


def test_outer():
    def f(a, b):
        return (np.add.outer(a, b), np.minimum.outer(a[0], b), np.multiply.outer(a, 2), np.less.outer(b, a.T),
                np.add.outer(1, 2.5))

    compiled = agree(f, np.arange(6.0).reshape(2, 3), np.arange(4))
    agree(f, np.empty((0, 3)), np.arange(4)[::-2], compiled=compiled)


def test_reduce():
    def f(a):
        return (np.add.reduce(a), np.multiply.reduce(a, 1), np.maximum.reduce(a, axis=None),
                np.minimum.reduce(a, keepdims=True), np.logical_or.reduce(a), np.logical_and.reduce(a, axis=-1))

    for dtype in ("float64", "float32", "int8"):
        agree(f, np.arange(6, dtype=dtype).reshape(2, 3))


def test_what_is_not_compiled_is_named():
    with pytest.raises(TypingError, match="outer product only supported for binary functions"):
        njit(lambda a: np.sqrt.outer(a, a))(np.ones(2))
    with pytest.raises(TypingError, match="reduce only supported for functions returning a single value"):
        njit(lambda a: np.divmod.reduce(a))(np.ones(2))
    with pytest.raises(TypingError, match="No loop matching the specified signature"):
        njit(lambda a: np.less.accumulate(a))(np.ones(2))
    with pytest.raises(TypingError, match="the resolved dtypes are not compatible with ldexp.accumulate"):
        njit(lambda a: np.ldexp.accumulate(a))(np.ones(2, np.int64))


def test_reduce_of_any_ufunc():
    def f(a, mask):
        return (np.subtract.reduce(a), np.subtract.reduce(a, 1, keepdims=True), np.fmax.reduce(a, axis=None),
                np.subtract.reduce(a, -1, initial=3), np.logical_xor.reduce(a, (0, 1)), np.hypot.reduce(a, 1),
                np.subtract.reduce(a, where=mask, initial=1.0), np.fmin.reduce(a, axis=(1, 0), where=mask, initial=9.0),
                np.add.reduce(a, dtype=np.float32), np.maximum.reduce(a, dtype=np.complex128), np.subtract.reduce(a[0]),
                np.multiply.reduce([1, 2, 3]))

    compiled = agree(f, np.arange(6.0).reshape(2, 3), np.array([[True, False, True], [True, True, False]]))
    agree(f, np.arange(12.0).reshape(2, 6)[:, ::-2], np.ones((2, 3), bool), compiled=compiled)

    def g(a, out):
        return (np.bitwise_xor.reduce(a), np.gcd.reduce(a, axis=None), np.left_shift.reduce(a),
                np.bitwise_and.reduce(a[:0]), np.add.reduce(a, 0, None, out) is out)

    for dtype in ("int8", "uint16", "int64"):
        agree(g, np.array([[3, 1, 2], [1, 2, 3]], dtype), np.zeros(3, np.float32))


def test_methods_take_lists():
    def f(x, y):
        return (np.add.reduce([[x, 2], [3, 4]], axis=1, keepdims=True), np.subtract.reduce(y, axis=0, dtype=np.float32),
                np.maximum.accumulate((1, x, 2), 0), np.add.reduceat([1, 2, x, 4], indices=(0, 2), axis=0),
                np.add.reduceat(y, [0, 2]), np.maximum.reduce(array=y))

    agree(f, 5, [1, 2, 3])
    agree(lambda y: (np.add.reduce(y), np.add.accumulate(y)), [1, 2.5])


@pytest.mark.parametrize("function", [
    lambda a: np.subtract.reduce(a, (0, 1)), lambda a: np.subtract.reduce(a[:0]),
    lambda a: np.fmax.reduce(a, where=a > 1), lambda a: np.add.reduceat(a[0], [0, 5]),
    lambda a: np.add.accumulate(a, 3), lambda a: np.add.at(a, ([0, 5], 0), 1),
    lambda a: np.add.at(a[0], [0, 1], np.ones(3)), lambda a: np.subtract.reduce(a, 0, None, np.zeros((2, 3))),
])
def test_errors_of_methods(function):
    agree(function, np.ones((2, 3)))


def test_accumulate_and_reduceat():
    def f(a, i):
        return (np.multiply.accumulate(a), np.subtract.accumulate(a, 1), np.maximum.accumulate(a, axis=-1),
                np.add.accumulate(a, dtype=np.float32), np.add.reduceat(a, i), np.subtract.reduceat(a, i, axis=1),
                np.add.reduceat(a[0], [2, 0, 1, 1]), np.multiply.reduceat(a[0], (0, 2)),
                np.add.accumulate(a, 0, None, np.zeros_like(a)))

    compiled = agree(f, np.arange(1.0, 10.0).reshape(3, 3), np.array([0, 2, 1]))
    agree(f, np.arange(18.0).reshape(3, 6)[::-1, ::2], np.array([1]), compiled=compiled)
    agree(f, np.arange(9, dtype=np.int8).reshape(3, 3), np.array([0, 2, 1]))


def test_at_counts_what_comes_twice():
    def f(v, a, i, w, mask):
        np.add.at(v, i, 1)
        np.subtract.at(v, i, w)
        np.negative.at(v, [0, 0, 1])
        np.add.at(a, (i, i), w)
        np.multiply.at(a, i, 2)
        np.maximum.at(a, (slice(None), 1), 3)
        np.add.at(a, mask, 10)
        np.add.at(v, 2, 5)
        np.add.at(v, [0, 1], [3, 4])

    i = np.array([0, 3, 0, -1])
    agree(f, np.arange(8, dtype=np.int32)[::2], np.arange(16, dtype=np.int32).reshape(4, 4).T, i[::-1],
          np.arange(4, dtype=np.int32)[::-1], np.eye(4) > 0)

    def g(v, i, w):
        np.add.at(v, i, w)

    compiled = agree(g, np.arange(4.0), i, np.arange(4.0))
    agree(g, np.arange(4), i, np.arange(4.0) + 0.5)
    agree(g, np.arange(4.0), i * 2, np.arange(4.0), compiled=compiled)  # nothing is written where an index is wrong


def test_outer_with_keywords():
    def f(a, b, out):
        return (np.add.outer(a, b, dtype=np.float32), np.multiply.outer(a, b, out=out) is out,
                np.add.outer([1, 2], (3.0, 4.0)), out)

    agree(f, np.arange(3), np.arange(4), np.zeros((3, 4)))


def test_ndarray_and_shapes_in_lists():
    def f(n):
        a = np.ndarray((n, 2), dtype=np.float32)
        a[:] = 3
        b = np.empty([n, n + 1], dtype=np.int32)
        b[:] = n
        return a, b, np.zeros([n]), np.ndarray(n).shape, isinstance(a, np.ndarray)

    agree(f, 3)


def test_powers_of_integers_as_sizes_bounds_and_items():
    """n ** m is an int, or a float where m is negative, and the sign is known only at run time."""
    def f(a, n):
        a[:, :2 ** n] += 1
        a[2 ** n, 1] = 5
        a[2 ** n, :2 ** n] += 4
        return a[:2 ** n], a[..., 2 ** n], np.zeros((2 ** n, 3, 2 ** (n - 1))), np.mgrid[0:2, 0:2 ** n]

    def size(n):
        return np.zeros((2 ** n, 3))

    def item(a, n):
        return a[2 ** n, 0]

    def bound(a, n):
        return a[0, :2 ** n]

    a = np.arange(81.0).reshape(9, 9)
    agree(f, a, 2)
    agree(f, a, 1)
    agree(size, -2)
    agree(item, a, -2)
    agree(bound, a, -2)


def test_assigning_to_shape_is_an_error_that_says_what_to_write():
    def f(a):
        a.shape = 6

    with pytest.raises(TypingError, match="reshape"):
        njit(f)(np.ones((2, 3)))
