"""Attributes of arrays against NumPy: parts of complex numbers, flags, flat; assignment to them."""
import numpy as np
import pytest
from tests.oracle import agree_on, difference, outcome

from pyjitc import TypingError, njit

A = np.arange(6.0).reshape(2, 3)
C = A + 1j * A[::-1]
READ_ONLY = A.copy()
READ_ONLY.flags.writeable = False
ARRAYS = [(A,), (np.asfortranarray(A),), (A[:, ::-1],), (A[0],), (A[::2, 1],), (A[:0],), (np.array(2.5),),
          (A.astype(np.int8),), (READ_ONLY,), (A > 2,), (np.arange(24).reshape(2, 3, 4)[:, ::2],)]


def flags(a):
    f = a.flags
    return (f.c_contiguous, f.f_contiguous, f.writeable, f.aligned, f.forc, f.fnc, f.contiguous, f.fortran, f.behaved,
            f["C"], f["F_CONTIGUOUS"], f["W"], a.flags["WRITEABLE"])


def parts(a):
    return a.real, a.imag, a.real[..., :1] if a.ndim else a.imag


def set_parts(a, x, y):
    a.real = x
    a.imag = y
    a.real += 1
    return a


def set_real(a, x):
    a.real = x
    return a


def sizes(a):
    return (a.itemsize, a.nbytes, a.size, a.ndim, a.shape, a.dtype.kind, a.dtype.name, a.dtype.itemsize, a.dtype.char,
            a.shape == (2, 3), a.T.shape)


def flat(a):
    total = 0.0
    for x in a.flat:
        total = total / 2 + x
    for i, x in enumerate(a.flat):
        total += i * x
    return total, len(a.flat)


def flat_items(a, i):
    return a.flat[i], a.flat[-1], a.flat[np.int8(0)]


def flat_parts(a):
    part = a.flat[1:4]
    part[...] = 0
    return part, a.flat[::-1], a.flat[[0, 1]], a.flat[...], a.flat[np.arange(a.size) % 2 == 0]


def set_flat(a, i, x):
    a.flat[i] = x
    return a


def set_flat_parts(a, x):
    a.flat[1:4] = x
    a.flat[[0, -1]] = x
    a.flat[::-2] = a.size
    return a


def set_all(a, x):
    a.flat = x
    return a


CASES = {
    flags: ARRAYS, sizes: ARRAYS, flat: [x for x in ARRAYS if x[0].size],
    parts: [*ARRAYS, (C,), (C.astype(np.complex64)[:, ::-1],), (np.array(1 + 2j),), (np.asfortranarray(C),)],
    set_parts: [(C, A, 1.5), (C[:, ::-1], A[0], A), (C.astype(np.complex64), 1, A), (C, A[0, :2], 1),
                (C[0], [1.0, 2.0, 3.0], 2)][:4], set_real: [(A, 2), (A, A[::-1]), (READ_ONLY, 1)],
    flat_items: [(a, i) for a in (A, A.T, A[:, ::-1], A[0]) for i in (1, -2, 99, -99)],
    flat_parts: [(A,), (A.T,), (A[:, ::2],)], set_flat: [(A, 1, 2), (A.T, -2, 2.5), (A[:, ::-1], 2, 7), (A, 9, 1),
                                                         (A.astype(np.int8), 2, 1.5), (READ_ONLY, 0, 1)],
    set_flat_parts: [(A, A[0]), (A.T, A[0, :2]), (A[:, ::-1], 5.0), (A.astype(np.int16), A)],
    set_all: [(A, 5), (A, A[0]), (A.T, A[0, :2]), (A[:, ::-1], A[1]), (A, A[:0]), (READ_ONLY, 1), (np.array(1.0), 3)],
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_same_as_numpy(function):
    agree_on(function, *CASES[function])


def test_transposes_of_matrices():
    for a in (A, A[None], np.arange(24).reshape(2, 3, 4)[:, ::-1], A[0]):
        f = njit(lambda a: a.mT)
        assert difference(outcome(f.py_func, (a,)), outcome(f, (a,))) == ""


def set_imag(a):
    a.imag = 1


def set_shape(a):
    a.shape = (3, 2)


def set_flag(a):
    a.flags.writeable = False


@pytest.mark.parametrize("function, text", [
    (set_imag, "imaginary part"), (set_shape, "reshape"), (set_flag, "part of its type"),
    (lambda a: a.base, "may_share_memory"), (lambda a: a.flags.owndata, "owns its memory"),
    (lambda a: a.flat.coords, "flat iterator"), (lambda a: a.flags.nosuch, "no attribute"),
    (lambda a: a.flat[0.5], "unsupported iterator index"),
], ids=lambda x: getattr(x, "__name__", None))
def test_what_is_refused(function, text):
    with pytest.raises(TypingError, match=text):
        njit(function)(A)
