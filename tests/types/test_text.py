"""Types from text and back."""
import pytest

from pyjitc.types import kinds
from pyjitc.types.kinds import Array, Bool, Complex, DType, Float, Int, NoneType, Slice, Str, Tuple, union_of
from pyjitc.types.text import NAMES, parse, parse_list, python_scalars

SAMPLES = [
    Int, Float, Bool, Complex, NoneType, Str, kinds.Object, kinds.Range, kinds.Ellipsis_, kinds.uint16, kinds.bool_,
    Array(kinds.float64, 1), Array(kinds.float32, 3, "F"), Array(kinds.bool_, 2, "A", False),
    Array(kinds.int8, 2, "C", True, False), Array(kinds.complex64, 1, "A", False, False), Array(kinds.float64, 0),
    Tuple(()), Tuple((Int,)), Tuple((Int, Tuple((Float, Str)))), Slice(Int, NoneType, NoneType), DType(kinds.float32),
    union_of((Int, NoneType)), Tuple((union_of((Float, Str)), Int)), kinds.NpTime("M", "D"), kinds.NpTime("m", "s", 25),
    kinds.NpTime("m"), DType(kinds.NpTime("M", "as")), Array(kinds.NpTime("m"), 2),
    Array(kinds.NpTime("M", "ns"), 1, "A", False), Array(kinds.NpTime("m"), 0), kinds.Dual(Int, kinds.float64),
    kinds.Dual(Int, kinds.float32, -3, 12), Tuple((kinds.Dual(Float, kinds.complex64), Int)),
]


@pytest.mark.parametrize("t", SAMPLES, ids=str)
def test_round_trip(t):
    assert parse(str(t)) is t


def test_names():
    assert parse("f8") is kinds.float64 and parse("boolean") is kinds.bool_ and parse("void") is NoneType
    assert parse(" int_ [ :, ::1 ] ") is Array(kinds.int64, 2, "C")
    assert parse("timedelta64[ D ][:]") is Array(kinds.NpTime("m", "D"), 1, "A")
    assert parse("int[:]") is Array(kinds.int64, 1, "A")
    assert parse("UniTuple(int64, 3)") is Tuple((kinds.int64,) * 3)
    assert parse("Tuple((f4, i8))") is Tuple((kinds.float32, kinds.int64))
    assert parse("Array(float64, 2, C)") is Array(kinds.float64, 2, "C")
    assert parse("optional(float64[:])") is union_of((Array(kinds.float64, 1, "A"), NoneType))
    assert all(parse(name) is t for name, t in NAMES.items())


def test_signatures():
    assert parse_list("float64(float64[:], (int64, f4))") == (
        kinds.float64, [Array(kinds.float64, 1, "A"), Tuple((kinds.int64, kinds.float32))])
    assert parse_list("()") == (None, [])
    assert parse_list("(i4,)") == (None, [kinds.int32])
    assert parse_list("f8[:](f8[:])")[0] is Array(kinds.float64, 1, "A")


@pytest.mark.parametrize("text", ["", "flaot64", "float64[", "float64[:", "float64[1]", "float64[::1, :, :, ::1]",
                                  "float64[:, ::1, :]", "str[:]", "(int", "int)", "int |", "slice(int)", "dual(int)",
                                  "UniTuple(int, x)", "int $", "Tuple(int)", "datetime64[x]", "datetime64[0s]",
                                  "datetime64[D"])
def test_errors(text):
    with pytest.raises(ValueError, match="column"):
        parse(text)


def test_python_scalars():
    assert python_scalars(Tuple((kinds.int64, Tuple((kinds.float64,)), kinds.float32, Array(kinds.int64, 1)))) is Tuple(
        (Int, Tuple((Float,)), kinds.float32, Array(kinds.int64, 1)))
