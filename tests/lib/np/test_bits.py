"""Bits, bytes and memory of arrays against NumPy: packbits, views under another dtype, byteswap, shared memory,
item."""
import numpy as np
import pytest
from tests.oracle import agree, agree_on, same

from pyjitc import TypingError, njit

R = np.random.default_rng(3)
B, A, V = R.random((3, 11)) > 0.5, R.normal(size=(2, 6)), R.normal(size=4)
U = R.integers(0, 256, (3, 5)).astype(np.uint8)
C = A + 1j
READ_ONLY = A.copy()
READ_ONLY.flags.writeable = False


def same_size(a):
    b = a.view(np.int64)
    return b, a.view("f8"), a.view(), a.view(np.ndarray), a.T.view(np.uint64)


def written(a):
    a.view(np.int64)[...] = 1 << 62
    return a


def put(a, i, x):
    a.view(np.uint8)[..., i] = x
    return a


def swapped(a):
    return a.byteswap(), a.T.byteswap(False)


def swapped_in_place(a):
    a.byteswap(inplace=True)
    return a


def filled(a, x):
    a.fill(x)
    return a


CASES = {
    "packbits": (lambda a: (np.packbits(a), np.packbits(a, axis=0), np.packbits(a, -1, "little"),
                            np.packbits(a, bitorder="little")), (B,), (B.T,), (B[:, ::-2],), (U.astype(np.int32),),
                 (B[0],), (B[:, :0],)),
    "packbits wrong": (lambda a: np.packbits(a, axis=3), (B,)),
    "packbits of floats": (lambda a: np.packbits(a), (A,)),
    "packbits in order": (lambda a: np.packbits(a, bitorder="x"), (B,)),
    "packbits of a list": (lambda x: (np.packbits([1, x, 1]), np.packbits(x)), (0,), (True,)),
    "unpackbits": (lambda a: (np.unpackbits(a), np.unpackbits(a, axis=0), np.unpackbits(a, 1, 9),
                              np.unpackbits(a, count=-3, bitorder="little"), np.unpackbits(a, -1, count=50)), (U,),
                   (U[:, ::-2],)),
    "unpackbits beyond": (lambda a: np.unpackbits(a, count=-300), (U,)),
    "unpackbits of floats": (lambda a: np.unpackbits(a), (A,)),
    "view": (same_size, (A,), (A[:, ::2],), (np.array(2.5),), (A.T,)),
    "view of parts": (lambda a: (a.view(np.int32), a.view(np.uint8), a.view("i2")), (A,), (A[:, 1:3],), (A[::-1],),
                      (A[:, ::2],), (A[:, ::6],), (A[:0],)),
    "view of wholes": (lambda a: a.view(np.complex128), (A,), (V,), (A[:, :3],), (A[:, :0],), (V[::2],), (A[:, 1:3],)),
    "view of a complex": (lambda a: (a.view(np.float64), a.view(np.float64).sum(-1)), (C,), (C[:, 2:4],)),
    "view of 0-d": (lambda a: a.view(np.int32), (np.array(2.5),)),
    "view in Fortran order": (lambda a: a.view(np.int32), (A.T,)),
    "view of bools": (lambda a: a.view(np.int8), (B,)),
    "view written": (written, (A,), (A[:, ::2],), (READ_ONLY,)),
    "view of bytes written": (put, (A, 0, 7), (U, 1, 2)),
    "byteswap": (swapped, (A,), (U,), (C,), (np.array([1, 256], np.int16),), (np.array(3),), (READ_ONLY,)),
    "byteswap in place": (swapped_in_place, (A[:, ::2],), (np.array([1, 256], np.int32),), (READ_ONLY,)),
    "shared": (lambda a: (np.shares_memory(a, a[0]), np.shares_memory(a[:, ::2], a[:, 1::2]),
                          np.may_share_memory(a[:, ::2], a[:, 1::2]), np.shares_memory(a[:1], a[1:]),
                          np.shares_memory(a, a.copy()), np.shares_memory(a[:, :0], a),
                          np.may_share_memory(a[:1], a[1:]), np.shares_memory(a.T, a[::-1, 3:]),
                          np.shares_memory(a[0, ::3], a[0, 1::2])), (A,), (A.T,), (U,)),
    "item": (lambda a, i: (a.item(i), a.item(0, -1), a.item((1, i))), (A, 1), (U, -1), (B, 2), (C, 0), (A.T, 1),
             (A, 99), (A, -13)),
    "item of one": (lambda a: a.item(), (np.array(2.5),), (V[:1],), (A,), (U[:1, :1],)),
    "item wrong": (lambda a: a.item(0, 1, 2), (A,)),
    "item of a row": (lambda a, i: a.item(i), (V, 2), (V, 4), (V[::-1], np.int8(1))),
    "bytes": (lambda a: (a.tobytes(), a.tobytes("F"), a.T.tobytes(order="A")), (A,), (U[:, ::-1],), (np.array(1.5),)),
    "lists": (lambda a: a.tolist(), (A,), (U,), (np.array(2),), (B[0],), (C,)),
    "fill": (filled, (A, 2), (U, 7.9), (B, 3), (A[:, ::2], np.float32(1.5)), (READ_ONLY, 1), (READ_ONLY[:0], 1),
             (C, 1j)),
}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])


RECORD = np.dtype("i4,f8")


@pytest.mark.parametrize("call, text", [
    (lambda a: a.setflags(write=False), "part of the type"), (lambda a: a.resize(3), "np.resize"),
    (lambda a: a.tofile("x"), "outside"), (lambda a: np.shares_memory(a, 3), "pass arrays"),
    (lambda a: np.zeros(len(a), RECORD).byteswap(), "byteswap"),
    (lambda a: a.item(0.5), "cannot be interpreted as an integer"),
], ids=lambda x: getattr(x, "__name__", None))
def test_what_is_refused(call, text):
    with pytest.raises(TypingError, match=text):
        njit(call)(A)


def test_fields():
    def f(a, x):
        parts = a.getfield(np.int16, 2), a.T.getfield(np.int8), a.getfield("u4", offset=4), a[::-1].getfield(a.dtype)
        a.setfield(x, np.int8, 1)
        return parts, a

    compiled = njit(f)
    for a in (np.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3)[:, ::2]):
        agree(f, a, 7, compiled=compiled)
        agree(f, a, np.arange(a.shape[1], dtype=np.int8), compiled=compiled)
    for wrong in (lambda a: a.getfield(np.int32, 5), lambda a: a.getfield(np.complex128),
                  lambda a: a.getfield(np.int8, -1), lambda a: a.to_device("gpu")):
        agree(wrong, np.arange(6.0))
    assert np.shares_memory(njit(lambda a: a.to_device("cpu"))(a), a)


def test_texts_are_numpy_s():
    def f(a, x, n):
        return (np.array_str(a), np.array_repr(a[::-1], precision=2), np.array2string(a, separator=";"),
                np.base_repr(n, 3), np.binary_repr(n, width=8), np.format_float_positional(x, trim="-"),
                np.format_float_scientific(x, precision=3), np.getbufsize(), np.get_include(), a.dumps())

    compiled = njit(f)
    for a in (np.arange(6.0).reshape(2, 3) / 7, np.arange(3)):
        agree(f, a, 1 / 3, 11, compiled=compiled)
    agree(lambda n: np.base_repr(n, 40), 3)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64, np.int32, np.uint32, np.float32])
def test_views_of_numbers(dtype):
    def seen(x):
        return x.view(dtype)

    compiled = njit(seen)
    for x in (np.float64(1.5), np.float64("nan"), np.int64(-1), np.uint64(2**64 - 5), np.float32(-0.0), np.int32(-1),
              np.float32("inf"), np.uint32(2**32 - 5)):
        if x.itemsize == np.dtype(dtype).itemsize:
            same(compiled(x), seen(x))
    with pytest.raises(ValueError) as wanted:
        seen(np.zeros(1, "f4" if np.dtype(dtype).itemsize == 8 else "f8")[0])
    with pytest.raises(ValueError) as found:
        compiled(np.zeros(1, "f4" if np.dtype(dtype).itemsize == 8 else "f8")[0])
    assert str(found.value) == str(wanted.value)
