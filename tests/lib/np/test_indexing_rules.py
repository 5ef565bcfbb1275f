"""Advanced indexing and choosing by the rules of NumPy: placement of axes, overlap, broadcasting, errors."""
import numpy as np
import pytest
from tests.oracle import agree, difference, outcome

from pyjitc import TypingError, njit

LINE, CUBE = np.arange(5.0), np.arange(24).reshape(2, 3, 4)
PAIR, ROWS = np.array([0, 1]), np.array([[True, False, True], [False, True, False]])
MIDDLE = np.array([True, False, True])
ALONG = np.array([[[0, 1, 2, 0]], [[2, 1, 0, 0]]])
FAR = np.array([-7, 9, 3])
WHICH = np.array([0, 1, 0, 1, 1])

READS = {
    "a[m]": [(LINE, LINE > 2), (LINE, MIDDLE), (CUBE, ROWS), (CUBE, PAIR > 0), (CUBE, CUBE % 2 == 0),
             (CUBE, np.ones((2, 2), bool)), (LINE, np.array([-1, 7])), (LINE, np.array([-9], np.int8)),
             (LINE, np.array([[1, 2], [3, 0]], np.uint8)), (CUBE, PAIR), (CUBE, np.array([], int)), (LINE[::-2], PAIR),
             (LINE, np.array(3)), (CUBE, np.array(1)), (np.array(3.0), np.array(True)),
             (LINE.astype(np.complex64), PAIR), (np.arange(20, dtype=np.uint64)[::3], PAIR.astype(np.uint64)),
             (np.asfortranarray(CUBE), ROWS), (np.zeros((0, 3)), PAIR), (np.zeros((3, 0)), np.array([], int))],
    "a[True]": [(LINE, 0)], "a[False]": [(LINE, 0)], "a[..., m]": [(CUBE, PAIR)], "a[m, :, m]": [(CUBE, PAIR)],
    "a[m, ..., m]": [(np.arange(4).reshape(2, 2), PAIR)], "a[:, m, m]": [(CUBE, PAIR)], "a[0, :, m]": [(CUBE, PAIR)],
    "a[:, 1, m]": [(CUBE, PAIR)], "a[m, :, 1]": [(CUBE, PAIR)], "a[m, None, m]": [(CUBE, PAIR)],
    "a[:, None, m]": [(CUBE, PAIR)], "a[m, m[:, None], 0]": [(CUBE, PAIR)], "a[:, m, [1]]": [(CUBE, MIDDLE)],
    "a[m, :2]": [(CUBE, ROWS)], "a[m, [0, 1, 2]]": [(CUBE, ROWS)], "a[m, [0, 1]]": [(CUBE, ROWS)],
    "a[[0, 1], [0, 1, 2]]": [(CUBE, 0)], "a[[]]": [(LINE, 0)], "a[[[0, 1], [2, 3]]]": [(LINE, 0)],
    "a[5, m]": [(CUBE, PAIR)], "a[m, 7]": [(CUBE, PAIR)], "a[m, ::-1]": [(CUBE, PAIR)],
    "m in a": [(LINE, 3.0), (LINE, 9), (CUBE, 7), (LINE, np.nan), (LINE, LINE[::-1].copy())],
    "bool(a)": [(LINE, 0), (LINE[:1], 0), (LINE[:0], 0), (np.array([[2]]), 0)], "1 if a else 2": [(np.array(0.0), 0)],
    "np.take(a, m)": [(CUBE, PAIR), (LINE, FAR), (np.zeros(0), PAIR)], "np.take(a, m, axis=-1)": [(CUBE, PAIR)],
    "np.take(a, m, mode='wrap')": [(LINE, FAR)], "np.take(a, m, mode='clip')": [(LINE, FAR)],
    "np.compress([True, False], a)": [(LINE, 0)], "np.compress(m, a)": [(LINE, np.ones(9, bool)), (CUBE, PAIR > 0)],
    "np.take(a, m > 0)": [(LINE, PAIR), (LINE, LINE)], "np.take(a, m, mode='other')": [(LINE, PAIR)],
    "np.take(a, m, out=np.empty(2))": [(LINE, PAIR), (LINE, np.array([0, 1, 2]))],
    "np.compress(m, a, 1)": [(CUBE, np.array([1, 0, 1])), (CUBE, np.ones((2, 2)))],
    "a.compress(m, 0)": [(CUBE, PAIR > 0)], "np.take_along_axis(a, m, 0)": [(LINE, PAIR), (CUBE, PAIR), (LINE, LINE)],
    "np.take_along_axis(a, m, None)": [(CUBE, PAIR)],
    "np.take_along_axis(a, m, 1)": [(CUBE, ALONG), (CUBE, ALONG + 9), (CUBE, ALONG[:, :, :3])],
    "np.take_along_axis(a, m, -1)": [(CUBE, np.array([[[0, -1]], [[2, 1]]]))],
    "np.choose(m, (a, a * "
    "10))": [(LINE, WHICH), (LINE, WHICH * 2), (CUBE[0], np.array([0, 1, 1, 0])), (LINE, np.array(1))],
    "np.choose(m, [a, 7], mode='wrap')": [(LINE, WHICH - 3)], "m.choose((a, -a), mode='clip')": [(LINE, WHICH * 9)],
    "np.select([m > 3, m < 1], [a, a * 2])": [(LINE, LINE), (CUBE, np.arange(4))],
    "np.select((m > 3, m < 1), (a, 5), np.nan)": [(np.arange(5), LINE)],
    "np.select([m > 3], [a], -1)": [(LINE.astype(np.float32), LINE), (CUBE, np.array(5))],
    "np.ix_(m, [0, 2])": [(CUBE, PAIR)], "a[np.ix_(m, [0, 2])]": [(CUBE, PAIR)], "np.ix_(a > 2, m)": [(LINE, PAIR)],
    "np.ix_(a)": [(CUBE, 0)],
    "np.unravel_index(m, (2, "
    "3))": [(LINE, np.array([5, 0])), (LINE, np.array([6])), (LINE, 4), (LINE, -1), (LINE, np.array([[5], [1]]))],
    "np.unravel_index(m, (2, 3), 'F')": [(LINE, np.array([5, 1]))], "np.unravel_index(m, 7)": [(LINE, PAIR)],
    "np.ravel_multi_index((m, 1), (2, 3))": [(LINE, PAIR), (LINE, PAIR * 2), (LINE, 1)],
    "np.ravel_multi_index((m, m), (2, 1), mode='wrap')": [(LINE, PAIR * 5)],
    "np.ravel_multi_index((m, m), (2, 3), order='F')": [(LINE, PAIR)],
    "np.ravel_multi_index((m, m), (2, 1), mode=('raise', 'clip'))": [(LINE, PAIR)],
    "np.ravel_multi_index(m, (2, 3))": [(LINE, np.array([[1, 0], [2, 1]])), (LINE, np.array([1, 2])), (LINE, PAIR * 9),
                                        (LINE, np.array([[1, 0], [2, 1]]).T)],
    "np.ravel_multi_index(m, tuple([2, 1]), mode='clip', order='F')": [(LINE, np.array([[1, 0, 7], [2, 1, 0]]))],
    "np.where(a)": [(LINE, 0), (CUBE, 0), (np.array(3), 0)],
}
WRITES = {
    "a[m] = 7": [(LINE, LINE > 2, 0), (LINE, MIDDLE, 0)],
    "a[m] = w": [(LINE, LINE > 2, np.array([8.0, 9])), (LINE, LINE > 2, np.array([8.0, 9, 1])),
                 (LINE, LINE > 2, np.array([[8.0, 9]])), (CUBE, ROWS, np.arange(4)), (CUBE, ROWS, np.arange(2)),
                 (CUBE, CUBE > 5, np.arange(17)), (LINE, PAIR, np.array([3, 4, 5])), (LINE, np.array([0, 9]), 5),
                 (LINE, PAIR, np.array([[3, 4]])), (LINE, PAIR, np.array([[3], [4]])),
                 (LINE[::2].astype(np.float32), PAIR, np.array([1.5, 2.5])), (LINE, PAIR, np.array(3))],
    "a[m] += 1": [(LINE, np.array([1, 1, 1, 0]), 0), (CUBE, ROWS, 0)],
    "a[:, m] = w": [(CUBE, PAIR, np.arange(4)), (CUBE, MIDDLE, np.arange(4))],
    "a[m, :, m] = w": [(CUBE, PAIR, np.arange(3))], "a[:, m, m] = w": [(CUBE, PAIR, np.array([[5], [6]]))],
    "a[m] = a[::-1]": [(LINE, np.arange(5), 0)], "a[m] = a[:-1]": [(LINE, np.array([1, 2, 3, 4]), 0)],
    "m[m] = w": [(LINE, np.array([1, 2, 0]), 2)], "m[m] = m[::-1]": [(LINE, np.array([1, 2, 0]), 0)],
    "a[m] = [1, 2]": [(LINE, PAIR, 0)], "a[True] = 3": [(LINE, 0, 0)], "a[False] = 3": [(LINE, 0, 0)],
    "a[np.array(1)] = 4": [(LINE, 0, 0)],
    "np.put(a, m, "
    "w)": [(LINE, PAIR > 1, PAIR), (LINE, 1.0, 2), (LINE, PAIR, np.array([7, 8, 9])),
           (CUBE, np.array([-1, 50]), np.array([7, 8])), (LINE, PAIR, np.array([]))],
    "np.put(a, [0, 2], [4, 5])": [(LINE, 0, 0)],
    "np.place(a, m, w)": [(LINE, LINE > 1, np.array([7, 8])), (LINE, LINE > 1, np.array([])),
                                                                     (LINE, LINE > 9, np.array([]))],
    "np.putmask(a, m, "
    "w)": [(LINE, LINE > 1, np.array([7, 8])), (LINE, PAIR > 0, np.array([7])), (LINE, LINE > 1, np.array([]))],
    "np.put(a, m, a[::-1])": [(LINE, np.arange(5), 0)], "np.put(m, m, w)": [(LINE, np.array([1, 2, 0]), 2)],
    "a[m, 0] = w": [(np.zeros((0, 3)), PAIR, np.arange(5)), (CUBE[0], PAIR, np.arange(3))],
    "np.putmask(a, a > 1, a[::-1])": [(LINE, 0, 0)],
    "np.put_along_axis(a, m, w, 1)": [(CUBE, ALONG, 9), (CUBE, ALONG + 9, 9)],
    "np.put_along_axis(a, m, w, None)": [(CUBE, PAIR, 7)],
    "np.put_along_axis(a, m, w, "
    "-1)": [(CUBE, np.array([[[0, -1]], [[2, 1]]]), np.array([-1, -2])), (CUBE, CUBE % 4, np.arange(5))],
}


def holds(source, parameters, body, operands):
    names = {"np": np}
    exec(f"def f({parameters}):\n    {body}", names)
    function, compiled = names["f"], njit(names["f"])
    for args in operands:
        agree(function, *args, compiled=compiled)


@pytest.mark.parametrize("source", READS)
def test_read(source):
    holds(source, "a, m", f"return {source}", READS[source])


@pytest.mark.parametrize("source", WRITES)
def test_write(source):
    if source.startswith("m[m]") and np.lib.NumpyVersion(np.__version__) < "2.3.0":
        pytest.skip("this NumPy reads the index while it writes it")
    holds(source, "a, m, w", f"{source}\n    return a", WRITES[source])


def test_an_item_of_one_integer_type_or_another():
    def place(a, i, j, more):
        k = i
        if more:
            k += j  # an int32 now
        a[0, k] = 5
        a[k, 0] += 1
        return a[k, k], a[0, k], a[1:, k]

    compiled = njit(place)
    for args in ((1, np.int32(1), True), (1, np.int32(1), False), (-1, np.int32(0), True), (1, np.int32(5), True)):
        assert not difference(*(outcome(f, (np.zeros((4, 4)), *args)) for f in (place, compiled)))


@pytest.mark.parametrize("i", [np.array(1), np.array(2, np.uint8), np.array(-2), np.array(9)])
def test_integer_arrays_without_axes_are_positions_and_lengths(i):
    def change(numbers, octets):
        numbers[i] = 7
        octets[i] = 7
        return numbers, octets

    def remove(numbers):
        del numbers[i]
        return numbers

    for function, *given in ((lambda x, i: x[i], x, i) for x in (
            [1, 2, 3], (1, 2, 3), (1, "a", 2.5), "abc", b"abc", range(3))):
        agree(function, *given)
    for x in [1, 2, 3], (1, 2, 3), "abc", LINE:
        def slices(x, i):
            return x[i:], x[:i], x[::i]

        agree(slices, x, i)
    for function, *given in ((change, [1, 2, 3], bytearray(b"abc")), (remove, [1, 2, 3]),
                             (lambda i: (np.zeros(i), np.ones((i, 2)), np.empty(i).shape, np.full(i, 3)), i),
                             (lambda i: (LINE[:2].reshape(i, -1), np.reshape(LINE[:4], (2, i))), i)):
        agree(function, *given)


@pytest.mark.parametrize("x", [np.float64(2), np.int8(3), np.complex64(1j), np.bool_(True),
                               np.datetime64("2020-01-01")],
                         ids=str)
def test_indices_of_scalars(x):
    def new_axes(x):
        return x[()], x[...], x[None], x[None, ...], x[None, None], x[True], x[...,]

    agree(new_axes, x)
    for function in (lambda x: x[0], lambda x: x[:], lambda x: x["a"], lambda x: x[0, None]):
        with pytest.raises(TypingError, match="invalid index to scalar variable."):
            njit(function)(x)
