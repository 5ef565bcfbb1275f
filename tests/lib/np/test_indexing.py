"""Indexing with arrays and masks against NumPy: reads, writes, errors, overlap, and functions that use it."""
import numpy as np
import pytest
from tests.oracle import agree, agree_on, difference, outcome

from pyjitc import njit

A1, A2, A3 = np.arange(7.0), np.arange(12.0).reshape(3, 4), np.arange(24.0).reshape(2, 3, 4)
I1, I2 = np.array([2, 0, -1]), np.array([[0, 1], [2, -3]])
M2 = A2 % 3 > 0

READS = {
    "one array": (lambda a, i: a[i], (A1, I1), (A2, I1), (A1, I2), (A1, I1[:0]), (A1, I1.astype(np.uint8) % 3),
                  (A1[::2], I1)),
    "out of bounds": (lambda a, i: a[i], (A1, np.array([1, 7])), (A2, np.array([0, -4]))),
    "list": (lambda a: (a[[0, 2]], a[[1, 0, -1]]), (A1,), (A2,)),
    "mask": (lambda a, m: a[m], (A1, A1 > 3), (A2, M2), (A1, A1 > 100), (A2, M2.T.copy().T), (A2[::2], M2[::2])),
    "mask of rows": (lambda a, m: a[m], (A2, np.array([True, False, True])), (A3, np.array([False, True])),
                     (A3, A3[:, :, 0] > 5)),
    "wrong mask": (lambda a, m: a[m], (A1, A1[:5] > 3), (A2, np.array([True, False]))),
    "own mask": (lambda a: (a[a > 3], a[a < 2] * 2.0), (A1,), (A2,)),
    "two arrays": (lambda a, i, j: a[i, j], (A2, I1, np.array([0, 3, 1])), (A2, I1, np.array([2])),
                   (A2, I1[:, None], np.array([0, 1]))),
    "mismatch": (lambda a, i, j: a[i, j], (A2, np.array([0, 1]), np.array([0, 1, 2]))),
    "array and int": (lambda a, i: (a[i, 1], a[1, i]), (A2, I1 % 3), (A3, np.array([0, 1]))),
    "array and slice": (lambda a, i: (a[i, 1:3], a[:, i], a[1:, i]), (A2, I1 % 3)),
    "three axes": (lambda a, i: (a[:, i], a[:, :, i], a[i, :, i], a[:, i, i], a[0, :, i], a[..., i], a[i, ..., 1]),
                   (A3, np.array([0, 1]))),
    "newaxis": (lambda a, i: (a[i, None], a[None, i], a[:, None, i]), (A2, np.array([0, 2, 1]))),
    "mask and int": (lambda a, m: (a[m, 1], a[1, m[:2]] if False else a[m][0]), (A2, np.array([True, False, True]))),
    "take": (lambda a, i: (np.take(a, i), a.take(i), np.take(a, i, mode="wrap"), np.take(a, i, mode="clip")), (A1, I1),
             (A2, I1)),
    "take axis": (lambda a, i: (np.take(a, i, axis=0), np.take(a, i, 1), np.take(a, i, axis=-1)), (A2, I1 % 3)),
    "take wrong": (lambda a, i: np.take(a, i), (A1, np.array([8]))),
    "along": (lambda a: np.take_along_axis(a, np.argsort(a, axis=1), axis=1), (np.sin(A2),)),
    "in": (lambda a, x: (x in a, x not in a), (A1, 3.0), (A1, 3.5), (A2, 11)),
    "truth": (lambda a: 1 if a else 2, (A1[:1],), (A1[1:2],), (A1,), (A1[:0],)),
    "too many": (lambda a, i: a[i], (A1, I1)),
}


@pytest.mark.parametrize("name", READS)
def test_read(name):
    agree_on(*READS[name])


def scalar(a, i):
    a[i] = 5.0
    return a


def values(a, i, v):
    a[i] = v
    return a


def add(a, i, v):
    a[i] += v
    return a


def both(a, i, j, v):
    a[i, j] = v
    return a


def column(a, i, v):
    a[:, i] = v
    return a


WRITES = [
    (scalar, (A1, I1)), (scalar, (A2, I1)), (scalar, (A1, A1 > 2)), (scalar, (A2, M2)),
    (scalar, (A2, np.array([True, False, True]))), (values, (A1, I1, np.array([10.0, 20.0, 30.0]))),
    (values, (A1, I1, np.array([1.0]))), (values, (A1, I1, np.array([1.0, 2.0]))), (values, (A2, I1, np.arange(4.0))),
    (values, (A2, I1, np.arange(12.0).reshape(3, 4))), (values, (A1, A1 > 3, np.arange(3.0))),
    (values, (A1, A1 > 3, np.arange(2.0))), (values, (A2, M2, np.arange(8.0))),
    (values, (A1, np.array([9]), np.array([1.0]))), (add, (A1, I1, 1.5)), (add, (A1, A1 > 2, 10)),
    (add, (A2, M2, -1.0)), (add, (A1, np.array([1, 1, 1]), 1.0)), (both, (A2, I1, np.array([0, 1, 2]), 9.0)),
    (both, (A2, I1, 0, np.arange(3.0))), (column, (A2, np.array([0, 2]), np.arange(2.0))),
    (column, (A2, np.array([0, 2]), np.arange(3.0)[:, None])), (column, (A2, np.array([0, 2]), 1.0)),
]


@pytest.mark.parametrize("number", range(len(WRITES)))
def test_write(number):
    function, args = WRITES[number]
    agree(function, *args)


def row(a, x, y):
    a[0] = x, y
    return a


def whole(a, x, y):
    a[...] = [x, y]
    return a


def rows(a, x, y):
    a[[0, 1]] = x, y
    return a


def flat(a, x, y):
    a.flat[1:3] = x, y
    return a


@pytest.mark.parametrize("function", [row, whole, rows, flat])
def test_items_of_a_sequence_are_converted_each_by_its_own_type(function):
    compiled = njit(function)
    for dtype in (np.float64, np.uint8, np.bool_, np.complex64):
        for x, y in ((2.5, 1), (300, 2), (-1, 2.5), (True, 2), (2 ** 53 + 1, 0.5), (np.float32(3), np.int8(-3))):
            args = np.zeros((2, 2), dtype), x, y
            agree(function, *args, compiled=compiled)
    for f in (function, compiled):
        with pytest.raises(TypeError, match="must be a string or a real number, not 'complex'"):
            f(np.zeros((2, 2)), 1j, 2j)
    with pytest.warns(np.exceptions.ComplexWarning) as warned:
        compiled(np.zeros((2, 2)), np.complex64(1j), np.complex64(1))
    assert len(warned) == 2


def test_overlap():
    def f(a):
        a[np.array([1, 2, 3])] = a[:3]
        a[a > 3] = a[::-1][a > 3]
        return a

    agree(f, A1)


def test_functions_that_write():
    def f(a, i, v):
        np.put(a, i, v)
        np.place(a, a > 4, v)
        np.putmask(a, a < 1, v * 2)
        np.put_along_axis(a, np.array([0, 1]), 3.0, 0)
        return a, np.compress(a > 2, a)

    found = difference(outcome(f, (A1, I1, np.array([8.0, 9.0]))), outcome(njit(f), (A1, I1, np.array([8.0, 9.0]))))
    assert not found, found


def test_masks_with_few_true_elements():
    """Their positions are found before the elements are copied."""
    def f(a, mask):
        return a[mask], a[mask] + a[mask]

    random = np.random.default_rng(5)
    for dtype in (np.float64, np.int64, np.float32, np.complex128):
        compiled = njit(f)
        for n in (0, 1, 63, 64, 65, 200, 1000, 5000):
            for share in (0, 0.001, 0.01, 0.1, 1):
                mask = random.random(n) < share
                a = random.integers(0, 1000, n).astype(dtype)
                agree(f, a, mask, compiled=compiled)
        mask[:] = False
        mask[[0, 63, 64, -1]] = True
        agree(f, a, mask, compiled=compiled)
    agree(f, np.arange(10000.0)[::2], mask)


def test_masks_without_elements():
    """NumPy does not compare the lengths of axes of length 0."""
    take = njit(lambda a, m: a[m])
    a, m = np.arange(3.0), np.zeros(0, bool)
    assert a[m].size == 0 and take(a[:0], m).size == 0
    with pytest.raises(IndexError, match="boolean index did not match indexed array along axis 0; size of axis is 3 "
                                         "but size of corresponding boolean axis is 0"):
        take(a, m)


@pytest.mark.parametrize("i", [np.int64(1), np.int16(5), 3])
def test_indices_that_are_ints_of_python_or_of_numpy(i):
    def f(a, i):
        start = max(0, i - 2)
        b = a.copy()
        b[..., start:start + 2] = 7
        return a[start], a[start:start + 1], b, a.reshape((start + 1, -1)), a.reshape((2, 6))[1, start]

    agree(f, np.arange(12.0), i)
