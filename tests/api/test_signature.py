"""Signatures as users write them, and arguments converted to declared types."""
import pickle
import warnings

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.api.signature import NAMES, Signature, convert, signature_of
from pyjitc.types import kinds
from pyjitc.types.kinds import Array, Bool, Complex, Float, Int, NoneType, Tuple, union_of
from pyjitc.types.typeof import typeof
from tests.oracle import same

float64, int64, int32, boolean, void, float32 = (NAMES[n] for n in "float64 int64 int32 boolean void float32".split())


def test_type_objects():
    assert float64[:].type is Array(kinds.float64, 1, "A") and float64[:, ::1].type is Array(kinds.float64, 2, "C")
    assert int32[::1, :].type is Array(kinds.int32, 2, "F") and repr(float64[:]) == "float64[:]"
    assert float64(float64[:], int64) == Signature((Array(kinds.float64, 1, "A"), Int), Float)
    assert void(boolean, int32) == Signature((Bool, kinds.int32), NoneType)
    assert float64() == Signature((), Float)
    assert int32(7.9) == 7 and type(int32(7.9)) is np.int32 and type(boolean(3)) is np.bool_
    assert NAMES["UniTuple"](int64, 2).type is Tuple((Int, Int))
    assert NAMES["optional"](int64).type is union_of((Int, NoneType))
    assert pickle.loads(pickle.dumps(float64)) == float64
    with pytest.raises(TypeError, match="every axis"):
        float64[3]


@pytest.mark.parametrize("given", ["float64(float64[:], int64)", "f8(double[:], intp)", float64(float64[:], int64)])
def test_same_signature(given):
    assert signature_of(given) == Signature((Array(kinds.float64, 1, "A"), Int), Float)


def test_without_result():
    assert (signature_of("(int64, f4)") == Signature((Int, kinds.float32)) == signature_of((int64, float32))
            == signature_of((int, "f4")))
    assert signature_of("(Tuple((int64, float64)),)") == signature_of(((int64, float64),))
    for wrong in (3, len, ("x y",), (3,)):
        with pytest.raises((TypeError, ValueError)):
            signature_of(wrong)


@pytest.mark.parametrize("value, wanted, result", [
    (3, Float, 3.0), (True, Int, 1), (np.float64(2.5), Float, 2.5), (np.int64(3), Int, 3), (np.int8(3), Float, 3.0),
    (2, Complex, 2 + 0j), (3, kinds.int8, np.int8(3)), (1.5, kinds.float32, np.float32(1.5)),
    (np.int16(3), kinds.int32, np.int32(3)), ((1, 2), Tuple((Float, Int)), (1.0, 2)),
    (None, union_of((Int, NoneType)), None), (np.bool_(True), Bool, True),
])
def test_conversions(value, wanted, result):
    found = convert(value, typeof(value), wanted)
    assert found == result and type(found) is type(result)


@pytest.mark.parametrize("value, wanted", [
    (1.5, Int), (1j, Float), (300, kinds.int8), (-1, kinds.uint8), (np.int64(3), kinds.int8), ("x", Int),
    ((1,), Tuple((Int, Int))), (np.zeros(3, "f4"), Array(kinds.float64, 1, "A")),
    (np.zeros(4)[::2], Array(kinds.float64, 1, "C")), (np.uint64(2**63), Int),
    (np.broadcast_to(1.0, 3), Array(kinds.float64, 1, "A")), (1, NoneType),
])
def test_refused_conversions(value, wanted):
    with pytest.raises(TypeError):
        convert(value, typeof(value), wanted)


def test_arrays_pass_as_they_are():
    a = np.zeros((3, 3))
    assert convert(a, typeof(a), Array(kinds.float64, 2, "A")) is a
    one = np.zeros((3, 1)).T
    assert convert(one, typeof(one), Array(kinds.float64, 2, "F")) is one


# ---------------------------------------------------------------- compiled and called


def total(a):
    s = 0.0
    for x in a.flat:
        s += x
    return s


@pytest.mark.parametrize("declared, count",
                         [("float64(float64[:])", 1), ("(float64[:],)", 1), ("float64(float64[:, :])", 2)])
def test_arrays_of_every_order_go_to_the_code_that_was_declared(declared, count):
    compiled = njit(declared)(total)
    base = np.arange(24.0).reshape(4, 6)
    given = ([base[0], base[:, 1], base[0, ::-2]] if count == 1
             else [base, base.T, np.asfortranarray(base), base[::2, ::-1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # one says that the interpreter runs the call
        for a in given:
            assert same(compiled(a), total(a))
    assert len(compiled.signatures) == 1
    with pytest.raises(TypeError, match="has no signature for"):
        compiled(np.broadcast_to(base[0], base.shape) if count == 2 else base)  # read-only; of two axes


def test_signatures_of_undeclared_functions_stay_exact():
    compiled = njit(total)
    a = np.arange(6.0)
    assert compiled(a[::2]) == 6.0 and compiled(a) == 15.0 and len(compiled.signatures) == 2


def test_results_as_declared():
    for declared, f in (("float64(float64)", lambda x: x), ("float64(float64[:])", lambda a: a[0]),
                        ("boolean(float64[:])", lambda a: a[0] > 0), ("float64[:](float64[:])", lambda a: a * 2),
                        ("float64[:, :](float64[:, :])", lambda a: a.T), ("float64[::1](int64)", lambda n: np.ones(n)),
                        ("optional(float64)(float64)", lambda x: None if x > 3 else x),
                        ("optional(float64)(float64)", lambda x: x)):

        assert len(njit(declared)(f).signatures) == 1
    for declared in ("float64[:, :](float64[:])", "float32[:](float64[:])", "optional(int64)(float64[:])"):
        with pytest.raises(TypeError, match="leave the result out"):
            njit(declared)(lambda a: a * 2)
    with pytest.raises(TypeError, match=r"declares the result int, but .* returns float; leave the result out"):
        njit("int64(float64)")(lambda x: x)


@pytest.mark.parametrize("declared, given", [
    ("(optional(float64),)", [None, 2.5, 3]), ("(int64 | None,)", [None, 3, True]),
    ("(float64[:] | None,)", [None, np.arange(3.0), np.arange(6.0)[::2]]), ("(int64 | str,)", [3, "x"]),
    ("((int64 | None, float64),)", [(None, 1.5), (2, 2.5)]), ("(optional(float64[:, :]),)", [None, np.ones((2, 3)).T]),
])
def test_arguments_of_several_types(declared, given):
    def f(x):
        return -1 if x is None else x

    compiled = njit(declared)(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in given:
            wanted = float(x) if type(x) is int and "float64" in declared else int(x) if type(x) is bool else x
            assert same(compiled(x), f(wanted))
    assert len(compiled.signatures) == 1
    with pytest.raises(TypeError):
        compiled(1j)


def test_without_new_compiles_arrays_of_another_order_are_refused():
    compiled = njit(total)
    a = np.arange(6.0)
    assert compiled(a[::2]) == 6.0
    compiled.disable_compile()
    assert compiled(a[1::2]) == 9.0
    with pytest.raises(TypeError, match=r"no signature for \(float64\[::1\]\)"):
        compiled(a)


@pytest.mark.parametrize("given, text", [
    (np.ones(3), "a value of <class 'numpy.ndarray'> is not a type"), ({}, "a value of <class 'dict'> is not a type"),
    ([], "a value of <class 'list'> is not a type"), (1.5, "1.5 is not a type")],
    ids=["array", "dict", "list", "one"])
def test_values_are_no_types(given, text):
    function = njit(lambda x: x)
    for method in (function.compile, function.report):
        with pytest.raises(TypeError, match=f"^{text}; write for instance float64"):
            method((given,))


@pytest.mark.parametrize("order", [("float32", "float64"), ("float64", "float32")], ids=" ".join)
@pytest.mark.parametrize("given, wanted", [
    ((1, 3), "float64"), ((1.0, 3), "float64"), ((np.float32(1), 3.0), "float64"),
    ((np.float32(1), np.float32(3)), "float32"), ((np.int32(1), 3), "float64"),
    ((np.float64(1), np.float32(3)), "float64")],
    ids=["ints", "floats", "one float32", "float32s", "int32", "float64"])
def test_the_signature_that_keeps_all_digits_is_taken(order, given, wanted):
    function = njit([f"{t}({t}, {t})" for t in order])(lambda x, y: x / y)
    assert function(*given) == float(np.dtype(wanted).type(1) / np.dtype(wanted).type(3))


def test_a_number_loses_digits_where_no_other_signature_takes_it():
    function = njit(["float32(float32)", "int8(int8)"])(lambda x: x)
    assert function(0.1) == np.float32(0.1) and function(3) == 3
