"""Splitting arrays, and broadcasting them to a common shape, against NumPy."""
import numpy as np
import pytest
from tests.oracle import agree_on

from pyjitc import TypingError, njit

A1, A2, A3 = np.arange(6.0), np.arange(12).reshape(3, 4), np.arange(24, dtype=np.float32).reshape(2, 3, 4)

CASES = {
    "split": (lambda a: (np.split(a, 3), np.split(a, [1, 4]), np.split(a, (2, -1)), np.split(a, [])), (A1,),
              (A1[::-1],), (A1 > 2,)),
    "split axis": (lambda a: (np.split(a, 2, axis=1), np.split(a, [1], -1), np.split(a, 1)), (A2,), (A2.T[:2],),
                   (A2[:, ::-1],)),
    "split unequal": (lambda a: np.split(a, 4), (A1,), (A2[:2],)),
    "split none": (lambda a: np.split(a, 0), (A1,)),
    "array_split": (lambda a: (np.array_split(a, 4), np.array_split(a, 7), np.array_split(a, [2, 3])), (A1,), (A1[:0],),
                    (A2,)),
    "array_split none": (lambda a: np.array_split(a, 0), (A1,)),
    "hsplit": (lambda a: (np.hsplit(a, 2), np.hsplit(a, [1, 2])), (A1,), (A2,), (A3,)),
    "vsplit": (lambda a: (np.vsplit(a, 1), np.vsplit(a, [1, 2])), (A2,), (A3,), (A1,)),
    "dsplit": (lambda a: (np.dsplit(a, 2), np.dsplit(a, [1, 3])), (A3,), (A2,)),
    "places": (lambda a, i, j: np.split(a, [i, j]), (A1, 1, 3), (A1, 4, 2), (A1, -2, 99)),
    "places in an array": (lambda a, i: (np.split(a, i), np.array_split(a, i)), (A1, np.array([1, 4])),
                           (A1[:0], np.array([3, 1, -2])), (A2, np.array([2, 99], np.uint8)), (A1, np.array([], int)),
                           (A1, [3, 4])),
    "strided places": (lambda a, i: sum([p.sum() * len(p) for p in np.split(a[::2], i)]), (A1, np.array([1, 2])),
                       (A2, np.array([1]))),
    "sections at run time": (lambda a, n: (np.array_split(a, n), np.split(a, n)), *[(A1, n) for n in (1, 3, 6, 4)],
                             *[(A1, n) for n in (0, -1, np.int8(2))], (A2.T, 2)),
    "columns at run time": (lambda a, n: (np.hsplit(a, n), np.array_split(a, n, axis=1)), (A2, 2), (A2, 3), (A3, 1)),
    "parts": (lambda a: (np.split(a, 3)[1], len(np.split(a, 3))), (A1,)),
    "unpacked": (lambda a: divide(a), (A1,)),
    "broadcast_arrays": (lambda a, b: np.broadcast_arrays(a, b), (A2, A2[0]), (A2, A2), (A2[:, :1], A3), (A1[:1], A1),
                         (A1[:0], A1[:1])),
    "broadcast_arrays wrong": (lambda a, b: np.broadcast_arrays(a, b), (A1, A1[:2])),
    "broadcast_arrays of "
    "numbers": (lambda a, x: (np.broadcast_arrays(a, x), np.broadcast_arrays(x), np.broadcast_arrays()), (A1, 2)),
    "broadcast_shapes": (lambda n: (np.broadcast_shapes((3, 1), (n,)), np.broadcast_shapes(n, 1), np.broadcast_shapes(),
                                    np.broadcast_shapes((n, 0))), (4,), (1,)),
    "broadcast_shapes wrong": (lambda n: np.broadcast_shapes((3, 1), (2, n), (5, 4)), (4,), (7,), (-1,)),
}


def divide(a):
    first, second = np.split(a, 2)
    total = 0.0
    for part in np.split(a, 3):
        total += part.sum()
    first[0] = total
    return first - second


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])


@pytest.mark.skipif(not hasattr(np, "unstack"), reason="NumPy 2.1")
def test_unstack_names_what_to_write():
    with pytest.raises(TypingError, match="moveaxis"):
        njit(lambda a: np.unstack(a))(A1)
