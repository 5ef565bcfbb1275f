"""np.mgrid, np.ogrid, the methods of ufuncs, np.ndarray as a constructor."""
import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import njit
from pyjitc.base.errors import TypingError


def test_dense_grids():
    def f(n, m):
        a, b = np.mgrid[0:n, 0:m]
        return a, b, np.mgrid[0:n, 1:2 * m:2, 3:0:-1], np.mgrid[0:n], np.mgrid[0:1:0.1], np.mgrid[:n, 0:1:5j], np.mgrid[0:1:4j]

    compiled = agree(f, 3, 4)
    agree(f, 0, 1, compiled=compiled)


def test_open_grids():
    def f(n, m):
        return np.ogrid[0:n, 1:2 * m:2, 3:0:-1], np.ogrid[0:n], np.ogrid[0:1:0.1], np.ogrid[:n, 0:1:5j]

    compiled = agree(f, 3, 4)
    agree(f, 0, 1, compiled=compiled)


def test_outer():
    def f(a, b):
        return np.add.outer(a, b), np.minimum.outer(a[0], b), np.multiply.outer(a, 2), np.less.outer(b, a.T), np.add.outer(1, 2.5)

    compiled = agree(f, np.arange(6.0).reshape(2, 3), np.arange(4))
    agree(f, np.empty((0, 3)), np.arange(4)[::-2], compiled=compiled)


def test_reduce():
    def f(a):
        return (np.add.reduce(a), np.multiply.reduce(a, 1), np.maximum.reduce(a, axis=None), np.minimum.reduce(a, keepdims=True),
                np.logical_or.reduce(a), np.logical_and.reduce(a, axis=-1))

    for dtype in ("float64", "float32", "int8"):
        agree(f, np.arange(6, dtype=dtype).reshape(2, 3))


def test_what_is_not_compiled_is_named():
    with pytest.raises(TypingError, match="outer product only supported for binary functions"):
        njit(lambda a: np.sqrt.outer(a, a))(np.ones(2))
    with pytest.raises(TypingError, match="np.add.reduceat is not compiled yet"):
        njit(lambda a: np.add.reduceat(a, [0, 1]))(np.ones(2))


def test_ndarray_and_shapes_in_lists():
    def f(n):
        a = np.ndarray((n, 2), dtype=np.float32)
        a[:] = 3
        b = np.empty([n, n + 1], dtype=np.int32)
        b[:] = n
        return a, b, np.zeros([n]), np.ndarray(n).shape, isinstance(a, np.ndarray)

    agree(f, 3)


def test_powers_of_integers_as_sizes_bounds_and_items():
    """n ** m is an int, or a float where m is negative, which is only known at run time."""
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
