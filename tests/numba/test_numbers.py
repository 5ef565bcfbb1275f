"""What functions of Numba's names do with ints of 64 bits without a sign, with memory as bytes, with members of enums,
and with objects that say what number they are; and the classes of the errors of their compiler."""
import enum

import numpy as np
import pytest

from pyjitc import numba as nb
from pyjitc.numba import errors, njit, typeof, types, vectorize
from tests.oracle import same

MASK = 0xFFFFFFFFFFFFFFFF


def hashed(n):
    h = 0xcbf29ce484222325
    for i in range(n):
        h = (h ^ i) * 0x100000001b3 & 0xFFFFFFFFFFFFFFFF
    return h


def test_ints_that_only_uint64_can_represent():
    assert njit(hashed)(9) == hashed(9)
    assert njit(lambda x: (x & MASK, x * 3 % 18446744073709551557))(7) == (7, 21)
    assert njit(lambda: 0x8000000000000000)() == 2 ** 63
    assert njit(lambda x: x)(2 ** 64 - 1) == 2 ** 64 - 1 and typeof(2 ** 63) is types.uint64
    f = njit(lambda a: a * 0x8000000000000000)  # NumPy's rules hold where there is a NumPy number
    same(f(np.array([1.5], np.float32)), f.py_func(np.array([1.5], np.float32)))
    with pytest.raises(OverflowError):
        njit(lambda x: x & 0xFFFFFFFFFFFFFFFF)(-1)


def test_identity_of_integers_is_their_value():
    f = njit(lambda a, b: (a is b, a is not b))
    assert f(1000, 1000) == (True, False) and f(1, 2) == (False, True)


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 7


def test_members_of_enums_are_elements_of_ufuncs():
    @vectorize
    def f(x):
        return 10 if x == Colour.RED else Colour.BLUE

    same(f(np.array([1, 2])), np.array([10, 7]))
    same(vectorize(lambda x: Colour.BLUE)(np.array([1, 2])), np.array([7, 7]))


@pytest.mark.parametrize("memory", [b"abcdefgh", bytearray(b"abcdefgh"), memoryview(b"abcdefgh"),
                                    memoryview(bytearray(b"abcdefgh"))])
def test_memory_as_array(memory):
    def f(b):
        return np.frombuffer(b, np.int16), np.frombuffer(b, dtype="complex64", count=1)

    same(njit(f)(memory), f(memory))
    t = typeof(memory)
    assert isinstance(t, types.Buffer) and (t.dtype, t.ndim, t.layout) == (types.uint8, 1, "C")


def test_types_of_memory():
    t = types.MemoryView(types.int32, 2, "C", readonly=True)
    assert (t.readonly, t.is_c_contig, t.is_f_contig) == (True, True, False)
    assert t != types.MemoryView(types.int32, 2, "C") != types.PyArray(types.int32, 2, "C")
    assert not types.Bytes(types.uint8, 1, "C").mutable and types.ByteArray(types.uint8, 1, "C").mutable


class Weight:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value


class Place:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def test_objects_that_say_what_number_they_are():
    f = njit(lambda x: (complex(x), float(x)))
    same(f(Weight(1.5)), (1.5 + 0j, 1.5))
    same(f(Place(3)), (3 + 0j, 3.0))
    same(njit(lambda x: int(x))(Place(3)), 3)
    g = njit(lambda x: (x.__hash__(), x.__neg__(), x.__bool__()))
    for x in (5, 0, 2.5, True, 1j):
        same(g(x), g.py_func(x))


@pytest.mark.parametrize("cls", [errors.TypingError, errors.LoweringError, errors.UnsupportedError,
                                 errors.ConstantInferenceError, errors.NumbaValueError, TypeError])
def test_errors_of_the_compiler_are_of_all_classes(cls):
    @njit
    def f(x):
        raise x  # no exception

    with pytest.raises(cls, match="must derive from BaseException"):
        f(1)
    with pytest.raises(cls, match="has no attribute"):
        njit("int64(float64)")(lambda x: x.missing)


def test_errors_of_the_program_keep_their_class():
    with pytest.raises(ZeroDivisionError) as raised:
        njit(lambda x: 1 // x)(0)
    assert type(raised.value) is ZeroDivisionError


def test_what_the_page_about_migration_says():
    assert nb.njit("int64(uint32)")(lambda x: x)(-1) == -1
    signed, unsigned = np.int8(-3), np.uint64(2)
    with pytest.raises(OverflowError, match="Python integer -3 out of bounds for uint64"):
        nb.njit("(int8, uint64)")(lambda x, y: x + y)(signed, unsigned)
    assert nb.njit("(int8, uint64)")(lambda x, y: x + y)(np.int8(3), unsigned) == 5
    found = nb.njit(lambda x, y: x + y)(signed, unsigned)
    assert (found, type(found)) == (-1.0, np.float64)
    assert not nb.njit(lambda a: np.lib.stride_tricks.sliding_window_view(a, 2))(np.arange(4.0)).flags.writeable
    assert nb.njit(lambda n: np.zeros(n))(3).base is None
    made = nb.njit(lambda: nb.typed.List.empty_list(nb.float64))()
    made.append(1)
    assert type(made[0]) is int

    @nb.njit
    def endless(n):
        return endless(n + 1)

    with pytest.raises(RecursionError):
        endless(0)

    @nb.vectorize(["float64(float64)"])
    def inverse(x):
        if x == 0:
            raise ValueError("zero")
        return 1 / x

    out = np.zeros(3)
    with pytest.raises(ValueError, match="zero"):
        inverse(np.array([2.0, 0.0, 4.0]), out)
    assert out.tolist() == [0.5, 0.0, 0.0]


def test_a_divisor_of_numpy_that_is_zero():
    """As in NumPy, and not as in Numba: a row of docs/migration.md."""
    divided = nb.njit(lambda x, y: (x / np.sqrt(y), -x / np.sqrt(y)))
    assert divided(2.0, 0.0) == (np.inf, -np.inf) and np.isnan(divided(0.0, 0.0)[0])
    with pytest.raises(ZeroDivisionError):
        nb.njit(lambda x, y: x / y)(2.0, 0.0)
