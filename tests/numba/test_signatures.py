"""Declared signatures in pyjitc.numba: conversion of arguments, and the type of the result."""
import array
import copy
import enum
import math
import os
import pathlib
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import pyjitc
from pyjitc import numba as nb
from pyjitc.numba import types
from pyjitc.numba.errors import TypingError

ROOT = pathlib.Path(pyjitc.__file__).parents[1]


def exact(found, wanted):
    assert type(found) is type(wanted) and found == wanted, (found, wanted)


@pytest.mark.parametrize("name", "int8 int16 int32 int64 uint8 uint16 uint32".split())
def test_declared_integers_compute_as_those_of_python(name):
    f = nb.njit(f"({name}, {name})")(lambda x, y: (x - y, x * y, x < y, x + 1.5))
    for found, wanted in zip(f(3, 100), (-97, 300, True, 4.5)):
        exact(found, wanted)
    exact(f(getattr(np, name)(3), 100)[1], 300)
    for operation in (lambda x, y: x / y, lambda x, y: x // y, lambda x, y: x % y):
        with pytest.raises(ZeroDivisionError):
            nb.njit(f"({name}, {name})")(operation)(1, 0)


def test_the_complement_of_a_declared_integer_without_sign_is_negative():
    for name, bits in (("uint8", 8), ("uint16", 16), ("uint32", 32)):
        assert nb.njit(f"({name},)")(lambda x: ~x)(getattr(np, name)(3)) == -4
        assert nb.njit(f"{name}({name})")(lambda x: ~x)(3) == (1 << bits) - 4


def test_declared_as_uint64():
    f = nb.njit((nb.uint64, nb.uint64))(lambda x, y: x & y)
    exact(f(2 ** 64 - 1, 2 ** 63 + 1), 2 ** 63 + 1)
    exact(f(3, np.uint64(2)), 2)
    with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
        f(-1, 2)
    exact(f(np.int64(6), 3), 2)
    with pytest.raises(TypeError, match="No matching definition for argument type"):
        f("6", 3)


@pytest.mark.parametrize("declared, given", [
    ("uint64", 5), ("uint64", 0), ("uint64", 2 ** 30), ("uint64", 2 ** 63 - 1), ("uint64", 2 ** 63),
    ("uint64", 2 ** 64 - 1), ("float64", 5), ("float64", -2 ** 62 - 1), ("float64", -2 ** 63), ("float32", 3),
    ("float32", 2 ** 53 + 1), ("float32", 0.1), ("float32", math.inf), ("float32", -0.0), ("float32", 1e-46)])
def test_code_of_the_only_signature_converts_numbers_of_python(monkeypatch, declared, given):
    f = nb.njit(f"{declared}({declared})")(lambda x: x)
    wanted = getattr(np, declared)(given).item()
    exact(f(given), wanted)

    def slow(*args):
        raise AssertionError("the slow path was used")

    for name in ("_answer", "_as_before"):
        monkeypatch.setattr(type(f), name, slow)
    exact(f(given), wanted)


def _shown(x):
    """The name of a parameter of a test."""
    return x.__module__ if callable(x) else repr(x)


NUMBERS = [cls(x) for cls in map(np.dtype, "?bBhHiIlLqQefd") for cls in [cls.type] for x in (
    (0, 1) if cls is np.bool_ else (0, 2.5, -0.0, -3e4, math.inf, math.nan) if issubclass(cls, np.floating) else
    (1, np.iinfo(cls).min, np.iinfo(cls).max, np.iinfo(cls).max // 3 + 1))] + [
    np.float64(1e300), np.float64(-1e-46), np.float64(0.1), np.int64(2 ** 53 + 1), np.int64(2 ** 25 + 1),
    np.uint64(2 ** 63), np.int64(0x7fffff4000000001), np.complex64(1), np.complex64(complex(-0.0, math.inf)),
    np.complex128(complex(math.nan, -0.0)), np.timedelta64(3, "s"), np.float16(2.5), np.longdouble(2.5),
    True, False, 0, 7, -7, 2 ** 53 + 1, 2 ** 63 - 1, -2 ** 63, 2 ** 64 - 1, 2 ** 64, 2.75, -2.75, -0.0, 0.5, -0.5, -1.0,
    2.0 ** 63, -2.0 ** 63, float(2 ** 63 - 1024), -2.0 ** 63 - 2048, 2.0 ** 64, 1e300, 5e-324, math.inf, -math.inf,
    math.nan, 1j, -0.0 - 2.5j, complex(math.nan, math.inf)]


@pytest.mark.parametrize("decorator", [nb.njit, pyjitc.njit], ids=["numba", "own"])
@pytest.mark.parametrize("declared", ["float64", "float32", "int64", "uint64", "boolean", "int32", "complex128"])
def test_native_code_converts_numbers_as_the_slow_path_does(decorator, declared):
    f = decorator(f"({declared},)")(lambda x: x)
    for x in NUMBERS:
        if decorator is pyjitc.njit and declared == "uint64" and type(x) is int and x >= 2 ** 63:
            continue  # native code alone takes such an int
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            found = _outcome(f, x)
        with warnings.catch_warnings(record=True) as wanted:
            warnings.simplefilter("always")
            assert found == _outcome(lambda x: f._answer((x,), {}), x), (declared, type(x), x)
        assert [str(one.message) for one in seen] == [str(one.message) for one in wanted]


@pytest.mark.parametrize("decorator, declared, given", [
    *[(nb.njit, declared, given) for declared in ("float64", "float32", "int64", "uint64")
      for given in (np.int8(3), np.uint8(200), np.int16(3), np.uint16(3), np.int32(7), np.uint32(7), np.int64(9),
                    np.uint64(9), np.longlong(5), np.ulonglong(5), np.bool_(True))],
    (nb.njit, "float64", np.float32(0.1)), (nb.njit, "float32", np.float64(0.1)), (nb.njit, "boolean", np.bool_(0)),
    (nb.njit, "int32", np.int32(-4)), (pyjitc.njit, "float64", np.int32(-4)), (pyjitc.njit, "int64", np.uint8(4)),
    *[(decorator, "complex128", given) for decorator in (nb.njit, pyjitc.njit)
      for given in (True, 3, 2.5, np.float64(2.5), np.float32(0.1), np.uint64(9), np.complex64(1 + 2j),
                    np.complex128(1 + 2j))],
    *[(nb.njit, declared, given) for declared in ("int64", "uint64", "int32", "boolean")
      for given in (2.5, np.float64(2.5), np.float32(2.5))],
    *[(nb.njit, declared, True) for declared in ("int64", "uint64", "float64", "float32")],
    (nb.njit, "boolean", 3), (nb.njit, "int64", -2.5), (nb.njit, "uint64", -0.5), (pyjitc.njit, "int64", True),
    (pyjitc.njit, "float64", False)], ids=_shown)
def test_converted_numbers_do_not_take_the_slow_path(monkeypatch, decorator, declared, given):
    f = decorator(f"({declared},)")(lambda x: x)

    def slow(*args):
        raise AssertionError("the slow path was used")

    for name in ("_answer", "_as_before"):
        monkeypatch.setattr(type(f), name, slow)
    exact(f(given), getattr(np, declared.replace("boolean", "bool_"))(given).item())


@pytest.mark.parametrize("signature", [(types.float64, types.none), "float64(float64, none)",
                                       ["float64(float64, none)", "int64(int64, none)"]], ids=str)
def test_a_parameter_that_is_declared_as_none(signature):
    f = nb.njit(signature)(lambda x, nothing: x if nothing is None else x + 1)
    exact(f(2.5, None), 2.5)
    exact(f(np.float64(3), None), 3.0)
    with pytest.raises(TypeError, match="No matching definition"):
        f(2.5, 1)


def test_what_the_only_signature_cannot_convert():
    f = nb.njit("uint64(uint64)")(lambda x: x)
    for given in (-1, -2 ** 40, -2 ** 63):
        with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
            f(given)
    for given in (2 ** 64, -2 ** 64):
        with pytest.raises(OverflowError):
            f(given)
    exact(f(True), 1)
    g = nb.njit("float32(float32)")(lambda x: x)
    with pytest.warns(RuntimeWarning, match="overflow"):
        exact(g(1e300), math.inf)
    assert math.isnan(g(math.nan))


def test_later_signatures_come_before_the_only_declared_one():
    f = pyjitc.njit("float64(float64)")(lambda x: x + 1)
    exact(f(2), 3.0)
    f.compile("(int64,)")
    exact(f(2), 3)
    f.recompile()
    exact(f(2), 3)
    exact(f(2.0), 3.0)


def test_declared_as_float32():
    f = nb.njit((nb.float32, nb.float32))(lambda x, y: (x < y, x * y))
    exact(nb.njit("(float32, float32)")(lambda x, y: x < y)(1.0, 2.0), True)
    exact(nb.njit("(float32, float32)")(lambda x, y: x * y)(0.1, 3), float(np.float32(0.1) * np.float32(3)))
    assert f.nopython_signatures[0].args == (types.float32, types.float32)


@pytest.mark.parametrize("signature, argument, result", [
    ("float32(float32)", np.float64(0.1), float(np.float32(0.1))),
    ("int64(int64)", 2.7, 2),
    ("int64(int64)", np.float32(-2.7), -2),
    ("float64(int32)", np.float64(3.9), 3.0),
    ("boolean(boolean)", 3, True),
    ("complex64(complex64)", 1 + 2j, 1 + 2j),
    ("float64(float64)", np.uint64(7), 7.0),
    (["int32(int32)", "float32(float32)"], 2.5, 2.5),
    ("float64(float64)", -10 ** 30, -1e30),
    ("complex128(complex128)", 2 ** 70, 2.0 ** 70 + 0j),
    (["int64(int64)", "complex128(complex128)"], 2.5, 2.5 + 0j),
])
def test_arguments_are_converted_as_declared(signature, argument, result):
    exact(nb.njit(signature)(lambda x: x)(argument), result)


@nb.njit("uint32(uint32)")
def mixed(x):
    x ^= x << 13
    return x ^ (x >> 17)


@nb.njit(["int32(int32)", "float64(float64)"])
def one_more(x):
    return x + 1


@nb.njit("float32(float32)")
def tenth(x):
    return x * 0.1


@nb.njit("float32(float64, boolean)")
def doubled(x, small):
    return x * 0.1 if small else 2.5


@nb.njit("int32(int64[:])")
def folded(state):
    state[0] = (state[0] << 13 & 0xFFFFFFFF) ^ state[0]
    return state[0]


@pytest.mark.parametrize("caller", [
    lambda x: mixed(2463534242 + x), lambda x: (one_more(x), one_more(x + 0.5), one_more(x=2)),
    lambda x: (tenth(x), tenth(2.5), tenth(np.float64(0.1)), tenth(True)),
    lambda x: [mixed(n) % 7 for n in range(x, x + 3)],
    lambda x: folded(np.array([2 ** 31 + x, 2])),
    lambda x: (tenth(min(np.float64(1.0), x / 2.0)), one_more(min(np.float64(1.0), 0.5))),
    lambda x: doubled(np.float64(x), x > 9),
])
def test_calls_in_compiled_code_convert_as_declared(caller):
    for x in (3, np.int64(4)):
        found, wanted = nb.njit(caller)(x), caller(x)
        assert repr(found) == repr(wanted)
        assert repr(pyjitc.njit(caller)(x)) == repr(wanted)


def test_other_signatures_of_a_called_function_make_other_code(tmp_path):
    program = tmp_path / "program.py"
    results = []
    for signature in ("uint8(int64)", "uint16(int64)"):
        program.write_text("from pyjitc import numba as nb\n"
                           f"@nb.njit('{signature}')\ndef cut(x):\n    return x\n"
                           "@nb.njit\ndef caller(x):\n    return cut(x) + 0\n"
                           "print(caller(0x12345))\n")
        results.append(int(subprocess.run([sys.executable, program], check=True, capture_output=True, text=True, env={
            **os.environ, "PYJITC_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}).stdout))
    assert results == [0x45, 0x2345]


@pytest.mark.parametrize("argument, error", [
    (1e30, OverflowError), (np.nan, ValueError), (np.uint64(2 ** 63), OverflowError), (1j, TypeError), ("1", TypeError),
    (None, TypeError),
])
def test_arguments_that_no_declared_integer_holds(argument, error):
    with pytest.raises(error):
        nb.njit("int64(int64)")(lambda x: x)(argument)


@pytest.mark.parametrize("signature, function, arguments, result", [
    ("float64(int64)", lambda x: x, (2,), 2.0),
    ("int64(float64)", lambda x: x * 2.6, (3.0,), 7),
    ("float32(float64)", lambda x: x / 3, (1.0,), float(np.float32(1 / 3))),
    ("complex128(float64)", lambda x: x, (1.5,), 1.5 + 0j),
    ("int32(int32)", lambda x: x + 1, (4,), 5),
    ("uint8(int64)", lambda x: x, (300,), 44),
    ("int32(int64[:])", lambda a: len(a), (np.arange(3),), 3),
    ("int32(int64[:])", lambda a: a[2], (np.arange(3),), np.int32(2)),
    ("boolean(int64)", lambda x: x, (4,), True),
    ("float64(int64[:])", lambda a: len(a), (np.arange(3),), 3.0),
    ("float32(float64[:])", lambda a: a[0], (np.array([0.1]),), np.float32(0.1)),
    ("UniTuple(float64, 2)(int64, int64)", lambda x, y: (x, y), (1, 2), (1.0, 2.0)),
    ("unicode_type(int64)", lambda x: "ab" * x, (2,), "abab"),
])
def test_results_are_as_declared(signature, function, arguments, result):
    f = nb.njit(signature)(function)
    exact(f(*arguments), result)
    for other in (copy.deepcopy(f), pickle.loads(pickle.dumps(f))) if function.__closure__ is None else ():
        exact(other(*arguments), result)
    f.recompile()
    exact(f(*arguments), result)


def test_parameters_of_all_kinds_with_a_converted_result():
    @nb.njit("float64(int64, int64, int64)")
    def f(a, /, b=3, *, c):
        return a + 10 * b + 100 * c

    exact(f(1, c=2), 231.0)
    exact(f(1, 2, c=3), 321.0)


def test_what_a_signature_leaves_to_the_interpreter():
    exact(nb.jit("int8(int8)", forceobj=True)(lambda x: x + 1000)(1), 1001)
    exact(nb.jit((), forceobj=True)(lambda x, y: x + y)("a", "b"), "ab")
    with pytest.raises(TypingError, match="declares no result"):
        nb.njit("void(int64)")(lambda x: x)
    with pytest.raises(TypingError, match="one of its parts is not a type"):
        nb.njit("nothing(int64)")(lambda x: x)


def test_attributes_of_dispatchers():
    f = nb.njit(lambda x, y: x + y)
    f(1, 2.0)
    f(np.ones(2), 1)
    assert f.signatures == [(types.int64, types.float64), (types.float64[::1], types.int64)]
    assert f.nopython_signatures == [types.float64(types.int64, types.float64),
                                     types.float64[::1](types.float64[::1], types.int64)]
    assert list(f.overloads) == f.signatures
    assert f.overloads[f.signatures[0]].signature.return_type == types.float64
    assert f.get_compile_result((types.int64, types.float64)).signature == f.nopython_signatures[0]
    assert f.targetoptions["nopython"] and not nb.jit(forceobj=True)(lambda x: x).targetoptions["nopython"]


def test_a_function_with_a_signature_that_calls_itself():
    @nb.njit("int64(int64)")
    def below(n):
        return 0 if n == 0 else n + below(n - 1)

    exact(below(5), 15)


def test_a_readonly_parameter_takes_arrays_that_may_be_written():
    readonly = types.Array(types.float64, 1, "A", readonly=True)

    @nb.njit([types.float64(readonly, types.float64)])
    def f(a, x):
        return a.sum() + type(x)(1)

    a = np.arange(6.0)
    fixed = a.view()
    fixed.flags.writeable = False
    assert f(a, 1) == f(a, 2.0) == f(fixed, 3) == 16.0 and f(a[::2], 0) == 7.0
    assert len(f.signatures) == 1


def test_comparisons_of_declared_tuples_are_bools():
    @nb.njit([(types.Tuple((types.int64, types.float32)), types.UniTuple(types.int32, 2))])
    def f(a, b):
        return a >= b

    for args in (((4, 5), (4, 6)), ((4, 6), (4, 5)), ((5, 4), (4, 5))):
        assert f(*args) is (args[0] >= args[1])


@pytest.mark.parametrize("n, x", [(np.int64(3), np.float64(0.5)), (np.longlong(3), 0.5), (3, np.float64(0.5))])
def test_numbers_of_numpy_are_taken_by_native_code(n, x, monkeypatch):
    f = nb.njit("float64(int64, float64)")(lambda n, x: n + x)
    monkeypatch.setattr(type(f), "_answer", None)  # called where no native code accepts a call
    exact(f(n, x), 3.5)
    exact(f(x=x, n=n), 3.5)
    exact(f(np.int32(3), x), 3.5)
    exact(f(np.float32(3), x), 3.5)
    with pytest.raises(TypeError):
        f(np.float16(3), x)


@pytest.mark.parametrize("memory", [memoryview(np.arange(3)), memoryview(np.ones((2, 3)).T), memoryview(b"abc"),
                                    memoryview(np.ones((4, 3))[::2])], ids=["C", "F", "bytes", "steps"])
def test_attributes_of_memoryviews(memory):
    def seen(m):
        return m.readonly, m.contiguous, m.c_contiguous, m.f_contiguous

    assert nb.njit(seen)(memory) == seen(memory)


def test_memoryviews_are_their_arrays():
    a = np.arange(6.0).reshape(2, 3).T

    @nb.njit
    def shown(m):
        m[1, 0] += 5
        return m[1, 0], m.shape, m.strides, m.itemsize, m.nbytes

    assert shown(memoryview(a)) == (a[1, 0], (3, 2), (8, 24), 8, 48) and a[1, 0] == 6


@pytest.mark.parametrize("wrapped", [False, True], ids=["array", "memoryview"])
def test_arrays_of_python_are_arrays_in_their_memory(wrapped):
    def changed(a, i):
        a[i] += 1
        return a[i], len(a)

    f = nb.njit(changed)
    for letter, first in ("b", -3), ("B", 0), ("q", -2**60), ("Q", 2**63 + 1), ("f", 1.5), ("d", -1.5):
        a = array.array(letter, [first + i for i in range(5)])
        expected = changed(a[:], 1)
        exact(f(memoryview(a) if wrapped else a, 1), expected)
        assert a[1] == expected[0], letter
    assert not any("object" in str(s) for s in f.signatures)


def test_functions_in_tuples_and_lists_of_a_signature():
    function = types.FunctionType(types.int64(types.int64))
    first, second = nb.njit(lambda x: x + 1), nb.njit(lambda x: x + 2)

    @nb.njit(types.int64(types.UniTuple(function, 2)))
    def summed(functions):
        total = 0
        for f in functions:
            total += f(3)
        return total

    @nb.njit(types.int64(types.ListType(function), types.int64))
    def chained(functions, x):
        for f in functions:
            x += f(x)
        return x

    assert summed((first, second)) == 9
    assert chained([first, first], 2) == 11
    assert types.int64(types.int64).as_type() == function


def test_the_function_behind_a_callback():
    assert nb.cfunc("int64(int64)")(lambda x: x + 1)._pyfunc(3) == 4


def test_code_for_declared_results_is_kept_on_disk(tmp_path):
    """Each declared result has code of its own, which the next process finds."""
    (tmp_path / "program.py").write_text("""
import pyjitc.numba as nb
def total(x, y):
    return x + y
for signature in ("float32(float32, float32)", "int8(float32, float32)", "(float32, float32)"):
    function = nb.njit(signature)(total)
    print(function(3.5, 400.25), sum(function.stats.cache_hits.values()))
""")
    environment = {**os.environ, "PYJITC_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    texts = [subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, check=True,
                            env=environment).stdout for _ in range(2)]
    assert texts == [f"403.75 {found}\n-109 {found}\n403.75 {found}\n" for found in (0, 1)]


def test_compile_returns_what_can_be_called():
    assert nb.njit(lambda: 2.5).compile(())() == 2.5 and nb.njit(lambda x: x + 1).compile((nb.int64,))(2) == 3


def test_callbacks_with_arguments_that_c_cannot_pass():
    @nb.cfunc("intp(intp[:], float64[:])")
    def total(x, y):
        return x[0] + int(y[0])

    @nb.cfunc(types.int64(types.none))
    def nothing(x):
        return 1

    @nb.cfunc("int64(float64)")
    def inner(x):
        return int(x * 3)

    @nb.cfunc(types.int64(types.FunctionType(inner._sig)))
    def outer(f):
        return f(2.5)

    a, b = np.array([10]), np.array([2.5])
    assert nb.njit(lambda f, x, y: f(x, y))(total, a, b) == total(a, b) == 12
    assert nb.njit(lambda f: f(None))(nothing) == 1 and nb.njit(lambda f, g: f(g))(outer, inner) == 7
    with pytest.raises(TypeError, match="has no address"):
        total.address


@pytest.mark.parametrize("signatures, given, result", [
    (["int32(int32)", "int64(int64)"], 2**40, 2**40), (["int64(int64)", "int32(int32)"], 2**40, 2**40),
    (["uint8(uint8)", "int64(int64)"], 300, 300), (["uint32(uint32)", "int32(int32)"], -1, -1),
    (["int32(int32)", "int64(int64)", "uint64(uint64)"], np.uint32(2**32 - 1), 2**32 - 1),
    (["float64(float64)", "int64(int64)"], np.int32(3), 3), (["int64(int64)", "float64(float64)"], np.int8(3), 3),
    (["float32(float32)", "float64(float64)"], 3, 3.0), (["float64(float64)", "int64(int64)"], np.float32(2.5), 2.5),
    (["float32(float32)", "float64(float64)"], np.int32(2**24 + 1), 2.0**24 + 1),
])
def test_the_signature_with_the_cheapest_conversion_is_chosen(signatures, given, result):
    f = nb.njit(signatures)(lambda x: x)
    exact(f(given), result)
    exact(nb.njit(lambda x: f(x))(given), np.uint64(result) if "uint64(uint64)" in signatures else result)


def test_integers_of_several_sizes_that_are_compiled_later_share_the_wider_result():
    f = nb.njit(lambda x: x)
    f.compile("int32(int32)")
    f.compile("int64(int64)")
    f.compile("int16(int16)")
    exact(f(2**40), 2**40)
    assert f.signatures == [(types.int64,)]


def test_tuples_are_converted_in_calls_from_compiled_code():
    f = nb.njit("UniTuple(float64, 2)(UniTuple(float64, 2))")(lambda t: t)
    exact(nb.njit(lambda a, b: f((a, b)))(1, 2), (1.0, 2.0))


@nb.njit("uint32(uint32, uint32)")
def shifted(x, by):
    return x << by


@nb.njit("Tuple((uint16, float64))(uint16, float64)")
def increased(x, y):
    if y > 1:
        x = np.uint16(x) + np.uint16(1)
    return x * 3, y


def test_numbers_of_several_types_are_converted_in_calls_from_compiled_code():
    def as_either(x, n):
        y = x if n > 1 else np.uint32(x)
        return shifted(y, 13), increased(y & 7, 1.0), increased(y & 7, 2.0)

    def in_a_loop(x, n):
        for _ in range(n):
            x = shifted(x, 13) * np.uint32(3)
        return int(x)

    for n in (0, 5):
        found = nb.njit(as_either)(2 ** 31 + 7, n)
        assert found == (7 << 13, (21, 1.0), (24, 2.0))
        assert list(map(type, found)) == [int, tuple, tuple]
    for n, wanted in ((0, 2 ** 31 + 7), (1, (7 << 13) * 3), (2, ((7 << 13) * 3 << 13) % 2 ** 32 * 3 % 2 ** 32)):
        assert nb.njit(in_a_loop)(2 ** 31 + 7, n) == wanted


def test_results_of_several_types_are_as_declared():
    either = nb.njit("uint16(uint16)")(lambda x: (x if x > 5 else np.uint16(x)) << 12)
    exact(either(31), 0xf000)
    exact(either(3), 0x3000)
    pair = nb.njit("Tuple((uint8, float64))(int64)")(lambda x: (x if x > 5 else np.int16(x), x))
    for x in (3, 300):
        assert pair(x) == (x % 256, float(x))
        assert list(map(type, pair(x))) == [int, float]


def test_uint64_stays_a_number_between_compiled_functions():
    """A number of Python is made of it only where the interpreter gets it."""
    mix = nb.njit("uint64(uint64)")(lambda h: (h ^ (h >> nb.uint64(23))) * nb.uint64(0x2127599BF4325C37))

    @nb.njit
    def hashed(a, seed):
        h = nb.uint64(seed)
        for x in a:
            h ^= mix(x)
            h *= nb.uint64(0x880355F21E6D1965)
        return h

    def mixed(h):
        return (h ^ h >> 23) * 0x2127599BF4325C37 % 2 ** 64

    wanted = 7
    for x in (2 ** 63 + 5, 3):
        wanted = (wanted ^ mixed(x)) * 0x880355F21E6D1965 % 2 ** 64
    exact(hashed(np.array([2 ** 63 + 5, 3], np.uint64), 7), np.uint64(wanted))
    exact(mix(2 ** 63 + 5), mixed(2 ** 63 + 5))
    assert "py_call" not in "".join(hashed._inspect("typed", None).values())


@pytest.mark.parametrize("signature, given", [
    ("float64(float64)", 1j), ("int64(int64[:])", np.ones(3, np.int32)), ("int64(int64[:])", np.ones((2, 2), np.int64)),
    ("int64(int64[:])", 1), ("float64(float64)", "text"), ("float64(float64)", None),
])
def test_calls_from_compiled_code_that_fit_no_signature_are_refused(signature, given):
    f = nb.njit(signature)(lambda x: 1)
    with pytest.raises(TypeError, match="No matching definition for argument type"):
        f(given)
    with pytest.raises(TypingError, match="No matching definition for argument type"):
        nb.njit(lambda x: f(x))(given)


def test_members_of_enums_are_arguments_of_functions_with_signatures():
    f, three = nb.njit("float64(int32)")(lambda x: x / 2), enum.IntEnum("E", {"A": 3}).A
    exact(nb.njit(lambda: f(three))(), 1.5)


VALUES = [0, 3, -2, True, 2.75, -0.5, 1e300, float("nan"), float("inf"), 1 << 40, 1 << 63, 1 << 70, -(1 << 63), 1 + 2j,
          None, np.int8(-3), np.uint64(1 << 63), np.int64(7), np.float32(0.1), np.float64(2.5),
          np.bool_(True), np.complex64(1j)]
DECLARED = [["float64(float64)"], ["float32(float32)"], ["int64(int64)"], ["uint64(uint64)"], ["int16(int16)"],
            ["complex128(complex128)"], ["boolean(boolean)"], ["float64(optional(uint64))"],
            ["int64(int64)", "float64(float64)"], ["float32(float32)", "complex128(complex128)"],
            ["uint64(uint64)", "float64(float64)"]]


def _outcome(call, x):
    try:
        found = call(x)
    except (TypeError, OverflowError, ValueError) as error:
        return type(error), str(error)
    return type(found), repr(found)


@pytest.mark.parametrize("decorator, declared", [
    *[(nb.njit, declared) for declared in DECLARED],
    *[(pyjitc.njit, declared) for declared in DECLARED if "optional" not in declared[0]]], ids=_shown)
def test_a_conversion_does_not_depend_on_the_calls_before(decorator, declared):
    """How the arguments of one call were converted is kept for others with arguments of the same classes."""
    def same(x):
        return 1.0 if x is None else x

    first = [_outcome(decorator(declared)(same), x) for x in VALUES]
    for order in (1, -1):
        f = decorator(declared)(same)
        for x in VALUES[::order]:
            _outcome(f, x)
        assert [_outcome(f, x) for x in VALUES] == first


def test_converted_arguments_that_are_named_or_left_out_are_converted_as_before(monkeypatch):
    f, x = nb.njit(["float64(float64, float64)", "int64(int64, int64)"])(lambda x, y=2: x - y), np.float32(7.5)
    calls = [lambda f: f(x), lambda f: f(x, y=True), lambda f: f(y=x, x=3.5), lambda f: f(False, y=2.5)]
    wanted = [float(call(f.py_func)) for call in calls]
    for call, one in zip(calls, wanted):
        exact(call(f), one)
    with monkeypatch.context() as patched:
        patched.setattr(type(f), "_answer", None)
        for call, one in zip(calls, wanted):
            exact(call(f), one)
    f.__defaults__ = (np.float32(0.5),)
    exact(f(x), 7.0)
    for wrong in (lambda f: f(), lambda f: f(x, 1, 2), lambda f: f(x, z=1), lambda f: f(x, x=1)):
        assert _outcome(wrong, f) == _outcome(wrong, f.py_func)


def test_an_error_of_the_function_is_not_taken_for_one_of_the_conversion():

    @nb.njit("float64(float64, float64[:])")
    def f(x, seen):
        seen[0] += 1
        if x > 2:
            raise OverflowError("too much")
        return x

    seen = np.zeros(1)
    assert f(1, seen) == 1.0 and f(2, seen) == 2.0
    with pytest.raises(OverflowError, match="too much") as caught:
        f(3, seen)
    assert seen[0] == 3 and [entry.name for entry in caught.traceback][1:] == ["f"]


def test_the_annotations_of_one_signature_are_among_those_of_all():
    f = nb.njit(lambda x: x + 1)
    f(1), f(1.5)
    found = f.get_annotation_info()
    assert found == {**f.get_annotation_info(f.signatures[0]), **f.get_annotation_info((types.float64,))}
    assert [key[1] for key in found] == ["(int64,) -> int64", "(float64,) -> float64"]
    assert all("x" in "".join(one["ir_lines"]) for one in found.values())


def test_compiled_calls_of_an_inlined_function_do_not_ask_for_its_signatures():
    @nb.njit(["void(float32[:], int32[:])", "void(float64[:], int64[:])"], inline="always")
    def copy(to, of):
        to[0] = of[1]

    @nb.njit
    def caller(to, of):
        copy(to, of)
        return to

    assert caller(np.zeros(2, np.float32), np.arange(3)).tolist() == [1, 0]
    with pytest.raises(TypeError, match="No matching definition"):
        copy(np.zeros(2, np.float32), np.arange(3))
