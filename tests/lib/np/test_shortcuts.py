"""unique_all and similar functions, sort_complex, rollaxis, row_stack, isfortran, iterable, frombuffer, against
NumPy."""
import numpy as np
import pytest
from tests.oracle import agree, agree_on, difference, outcome

from pyjitc import njit

V, A, A3 = np.array([3.0, 1.0, np.nan, 3.0, np.nan]), np.arange(12).reshape(3, 4) % 5, np.arange(24).reshape(2, 3, 4)
WRITABLE = np.arange(6, dtype=np.int32)


def written(a):
    b = np.frombuffer(a, np.int16, 4, 2)
    b[...] = 7
    return a, b


CASES = {
    "unique": (lambda a: (np.unique_all(a), np.unique_counts(a), np.unique_inverse(a), np.unique_all(a).counts.sum()),
               (V,), (A,), (A > 2,), (V[:0],), (A.astype(np.int8)[:, ::2],)),
    "unique of a list": (lambda x: np.unique_counts([x, 1, x]), (3,), (2.5,)),
    "sort_complex": (lambda a: (np.sort_complex(a), np.sort_complex([2, 1])), (V,), (A,), (A.astype(np.int8),),
                     (A.astype(np.uint16),), (V.astype(np.float32),), (A - 1j * A[::-1],)),
    "rollaxis": (lambda a: (np.rollaxis(a, 2), np.rollaxis(a, 0, 3), np.rollaxis(a, -1, -2), np.rollaxis(a, 1, start=1),
                            np.rollaxis(a, 0, 2)), (A3,), (A3[:, ::-1],)),
    "rollaxis wrong": (lambda a: np.rollaxis(a, 3), (A3,)),
    "rollaxis start wrong": (lambda a: np.rollaxis(a, 0, 5), (A3,)),
    "questions": (lambda a: (np.isfortran(a), np.iterable(a), np.iterable(3), np.iterable((1, 2)), np.iterable(a.size)),
                  (A,), (A.T,), (A[:1].T,), (A3.T[::2],), (np.array(1),)),
    "frombuffer": (lambda a: (np.frombuffer(a, np.uint8), np.frombuffer(a, np.int16, 3),
                              np.frombuffer(a, dtype=np.int32, offset=4), np.frombuffer(a)), (WRITABLE,), (A,), (A3,)),
    "frombuffer beyond": (lambda a, n: np.frombuffer(a, np.int32, n), (WRITABLE, 7), (WRITABLE, 2)),
    "frombuffer "
    "uneven": (lambda a, n: np.frombuffer(a, np.int32, -1, n), (WRITABLE, 3), (WRITABLE, 99), (WRITABLE, -1)),
    "frombuffer strided": (lambda a: np.frombuffer(a, np.int32), (WRITABLE[::2],)),
    "frombuffer written": (written, (WRITABLE,)),
}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])


@pytest.mark.skipif(not hasattr(np, "row_stack"), reason="gone from NumPy")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_row_stack():
    def f(a, b):
        return np.row_stack((a, b))

    assert difference(outcome(f, (A, A[0])), outcome(njit(f), (A, A[0]))) == ""


def test_unique_values_are_sorted():
    f = njit(lambda a: np.unique_values(a))
    assert difference(("returns", np.sort(f.py_func(A)), (), ""), ("returns", f(A), (), "")) == ""


def test_frombuffer_of_bytes():
    def f(b, n):
        return (np.frombuffer(b, np.uint8), np.frombuffer(b, dtype="<i4", count=n), np.frombuffer(b, np.int16, -1, 2),
                np.frombuffer(b"abcd", np.uint8).sum())

    agree_on(f, (b"abcdefgh", 1), (b"abcdefgh", 3), (b"abcdefghi", 1), (b"", 0))


def test_frombuffer_of_a_bytearray_is_its_memory():
    def doubled(b):
        a = np.frombuffer(b, dtype=np.uint16)
        a[0] = 0x4142
        return a, a.flags.writeable, np.frombuffer(b).shape

    found, expected = bytearray(range(16)), bytearray(range(16))
    kept, *rest = njit(doubled)(found)
    wanted, *more = doubled(expected)
    assert rest == more and found == expected and kept.tobytes() == wanted.tobytes()
    with pytest.raises(BufferError):
        found.append(1)
    del kept
    found.append(1)
    assert not difference(outcome(doubled, (bytearray(3),)), outcome(njit(doubled), (bytearray(3),)))


def test_rounding_integers_to_digits_of_run_time():
    def rounded(x, n):
        return round(x, n), np.round(x, n)

    f = njit(rounded)
    for cls in (np.int64, np.int16, np.uint8):
        for x in map(cls, (5, 15, 25, 120)):
            for n in (-3, -2, -1, 0, 2):
                agree(rounded, x, n, compiled=f)
