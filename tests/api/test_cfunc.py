"""Compiled functions that C calls, and C functions that compiled code calls."""
import ctypes
import gc
import sys
import threading

import numpy as np
import pytest

from pyjitc import TypingError, carray, cfunc, farray, float64, njit
from pyjitc import numba as nb
from pyjitc.numba import types
from tests.oracle import agree, same

LIBM = ctypes.CDLL("libm.so.6")
LIBC = ctypes.CDLL(None)
cos, pow_ = LIBM.cos, LIBM.pow
cos.argtypes, cos.restype = [ctypes.c_double], ctypes.c_double
pow_.argtypes, pow_.restype = [ctypes.c_double, ctypes.c_double], ctypes.c_double
labs, qsort, memset = LIBC.labs, LIBC.qsort, LIBC.memset
labs.argtypes, labs.restype = [ctypes.c_long], ctypes.c_long
qsort.argtypes, qsort.restype = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p], None
memset.argtypes, memset.restype = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t], ctypes.c_void_p


@cfunc("float64(float64, float64)")
def area(x, y):
    """The area."""
    return x * y


def test_a_callback():
    assert area.ctypes(3.0, 4.0) == 12.0 == area(3.0, 4.0)
    assert area.__name__ == "area" and area.__doc__ == "The area." and area.address == ctypes.cast(
        area.ctypes, ctypes.c_void_p).value
    assert "fmul" in area.inspect_llvm()
    assert cfunc(float64(float64))(lambda x: x + 1).ctypes(1.0) == 2.0


@pytest.mark.parametrize("code", "bBhHiIlLfd?")
def test_numbers(code):
    name = np.dtype(code).name.replace("bool", "boolean")
    made = cfunc(f"{name}({name}, {name})")(lambda x, y: x if x > y else y)
    for x, y in ((1, 0), (0, 1), (100, 7)) if code != "?" else ((True, False), (False, False)):
        assert made.ctypes(x, y) == max(x, y)
    if code in "bhil":
        assert made.ctypes(-3, -100) == -3


def test_results_are_converted():
    assert cfunc("int32(float64)")(lambda x: x * 2).ctypes(1.5) == 3
    assert cfunc("float32(int64)")(lambda x: x).ctypes(7) == 7.0
    assert cfunc((float64,))(lambda x: x / 2).ctypes(3.0) == 1.5


def test_pointers():
    @nb.cfunc("void(CPointer(double), CPointer(double), intc)")
    def scaled(p, q, n):
        a, b = nb.carray(p, (n,)), nb.carray(q, (n,), np.float64)
        b[:] = a * 2
        q[0] = p[n - 1]

    a, b = np.arange(4.0), np.zeros(4)
    to = ctypes.POINTER(ctypes.c_double)
    scaled.ctypes(a.ctypes.data_as(to), b.ctypes.data_as(to), 4)
    assert same(b, np.array([3.0, 2.0, 4.0, 6.0]))

    @nb.cfunc(types.float64(types.voidptr, types.intp, types.intp))
    def corner(p, m, n):
        return nb.farray(p, (m, n), types.float64)[m - 1, 0] + nb.carray(p, (m, n), np.float64)[m - 1, 0]

    assert corner.ctypes(a.ctypes.data, 2, 2) == a[1] + a[2]


def test_arrays_on_memory_in_the_interpreter():
    a = np.arange(6, dtype=np.int32)
    p = a.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))
    assert same(carray(p, (2, 3)), a.reshape(2, 3)) and same(farray(p, (2, 3)), a.reshape(2, 3, order="F"))
    carray(p, 6)[0] = 9
    assert a[0] == 9
    assert same(carray(ctypes.c_void_p(a.ctypes.data), 6, np.int32), a)
    with pytest.raises(TypeError, match="explicit dtype required"):
        carray(ctypes.c_void_p(a.ctypes.data), 6)
    with pytest.raises(TypeError, match="mismatching dtype"):
        carray(p, 6, np.float64)
    with pytest.raises(TypeError, match="expected a ctypes pointer"):
        carray(a, 6)


def test_an_exception_is_printed(capfd):
    seen = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda given: seen.append((given.exc_value, given.object))
    try:
        @cfunc("int64(int64)")
        def checked(x):
            if x < 0:
                raise ValueError("negative", 3)
            return x + 1

        assert (checked.ctypes(1), checked.ctypes(-1), checked.ctypes(2)) == (2, 0, 3)
        sys.unraisablehook = sys.__unraisablehook__
        checked.ctypes(-1)
    finally:
        sys.unraisablehook = hook
    assert [(error.args, name) for error, name in seen] == [(("negative", 3), "checked")]
    text = capfd.readouterr().err
    assert text.startswith("Exception ignored in: 'checked'\nTraceback") and "('negative', 3)" in text


def test_callbacks_that_work_on_objects_take_the_interpreter_lock(capsys):
    @cfunc("void(int64)")
    def shown(x):
        print("got", x)

    thread = threading.Thread(target=shown.ctypes, args=(5,))
    thread.start()
    thread.join()
    assert capsys.readouterr().out == "got 5\n"


def test_scipy_integrates_it():
    integrate = pytest.importorskip("scipy.integrate")
    from_scipy = pytest.importorskip("scipy").LowLevelCallable

    @cfunc("float64(float64)")
    def square(x):
        return x * x

    @nb.cfunc("float64(intc, CPointer(double))")
    def product(n, xx):
        return nb.carray(xx, (n,)).prod()

    assert abs(integrate.quad(from_scipy(square.ctypes), 0, 1)[0] - 1 / 3) < 1e-12
    assert abs(integrate.nquad(from_scipy(product.ctypes), [(0, 1), (0, 2)])[0] - 1.0) < 1e-12


def test_code_lives_with_what_may_call_it():
    pointer = cfunc("float64(float64)")(lambda x: x * 5).ctypes
    gc.collect()
    assert pointer(2.0) == 10.0


@pytest.mark.parametrize("made, error, text", [
    (lambda: cfunc("float64(float64)")(lambda x, y: x), TypeError, "has 1 arguments, "),
    (lambda: cfunc("float64(float64[:])")(lambda x: 1.0), TypeError, "use numbers and pointers"),
    (lambda: cfunc("complex128(float64)")(lambda x: 1j), TypeError, "use numbers and pointers"),
    (lambda: cfunc("float64(float64)")(3), TypeError, "compiles Python functions"),
    (lambda: cfunc(3), TypeError, "is not a signature")])
def test_mistakes(made, error, text):
    with pytest.raises(error) as raised:
        made()
    assert text in str(raised.value)


# -- functions of C


def calls(a):
    total = 0.0
    for x in a:
        total += cos(x) + pow_(x, 2)
    return total, labs(-7), cos(1)


def test_functions_of_c_are_called():
    a = np.arange(5.0)
    total, seven, one = njit(calls)(a)
    assert np.allclose((total, seven, one), calls(a))


@nb.cfunc(types.int32(types.CPointer(types.float64), types.CPointer(types.float64)))
def ordered(p, q):
    return -1 if p[0] < q[0] else 1 if p[0] > q[0] else 0


def test_a_library_that_calls_back():
    address = ordered.address

    @njit
    def sort(a):
        qsort(a, len(a), a.itemsize, address)
        qsort(a[1:].ctypes, 0, 8, address)
        return a

    a = np.random.default_rng(1).random(100)
    assert same(sort(a.copy()), np.sort(a))


def test_arrays_their_ctypes_and_addresses_are_pointers():
    @njit
    def cleared(a, b, c):
        memset(a, 0, a.nbytes)
        memset(b.ctypes, 0, b.nbytes)
        memset(c.ctypes.data, 0, c.nbytes)

    arrays = [np.ones(3) for _ in range(3)]
    cleared(*arrays)
    assert not np.any(arrays)


def test_a_cfunc_in_compiled_code_is_its_function():
    assert njit(lambda x: area(x, 2.0))(3.0) == 6.0


def test_mistakes_in_calls():
    unknown = ctypes.CDLL("libm.so.6").sin
    with pytest.raises(TypeError, match="has no argtypes"):
        njit(lambda x: unknown(x))(1.0)
    with pytest.raises(TypeError, match="a function of C that takes 1 argument is called with 2"):
        njit(lambda x: cos(x, x))(1.0)
    with pytest.raises(TypeError, match="argument 0 of a function of C is float64, not "):
        njit(lambda x: cos(x))(np.ones(2))


def test_an_array_lives_as_long_as_its_address_is_used():
    @ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
    def callback(given, size, result):
        numbers = (ctypes.c_double * size).from_address(given)
        (ctypes.c_double * 1).from_address(result)[0] = sum(numbers)
        return True

    @njit
    def f(size):
        a, out = np.ones(size), np.empty(1)
        given, result = a.ctypes, out.ctypes
        done = callback(given.data, size, result.data)
        return done, out[0]

    for size in (1, 3, 400):
        assert f(size) == (True, size)


def test_pointers_to_records_and_to_anything_are_addresses_for_ctypes():
    from pyjitc import numba as nb
    from pyjitc.numba import types

    record = types.Record.make_c_struct([("n", types.int32), ("x", types.float64)])

    @nb.cfunc(types.float64(types.CPointer(record), types.size_t))
    def last(p, n):
        return carray(p, n)[n - 1].x

    @nb.cfunc(types.voidptr(types.voidptr))
    def same_place(p):
        return p

    @nb.cfunc(types.float64(types.voidptr, types.intc))
    def total(p, n):
        return carray(p, (n,), dtype=np.float64).sum()

    records = np.zeros(3, nb.as_dtype(record))
    records["x"] = 1.5, 2.5, 3.5
    values = np.arange(4.0)
    assert last.ctypes(records.ctypes.data, 3) == 3.5 and same_place.ctypes(16) == 16
    for kind in (ctypes.c_void_p, ctypes.POINTER(ctypes.c_double)):
        assert total.ctypes(values.ctypes.data_as(kind), 4) == 6.0
    assert last.ctypes.argtypes[0] is same_place.ctypes.restype is ctypes.c_void_p


def test_a_function_without_an_address():
    nothing = ctypes.CFUNCTYPE(ctypes.c_int64)(0)
    with pytest.raises(TypingError, match="without an address"):
        njit(lambda: nothing())()


def test_functions_of_ctypes_that_take_and_return_objects():
    names = {"what": 1232121}
    found = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object)(lambda a: names[a[0].decode("ascii")])
    scaled = ctypes.PYFUNCTYPE(ctypes.c_double, ctypes.py_object, ctypes.c_int)(lambda x, n: len(x) * n / 2)
    pair = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)(lambda x, n: (x, n))
    truth, append = ctypes.PYFUNCTYPE(ctypes.c_bool, ctypes.py_object)(bool), ctypes.PYFUNCTYPE(
        None, ctypes.py_object)(lambda x: x.append(1))

    def several(x, n):
        total = 0.0
        for k in range(n):
            total += scaled(x, k)
        return total, truth(x), pair(x, n)

    def appended(x):
        return append(x), x

    for function, *given in ((several, "abc", 4), (several, [1, 2], 3), (several, (), 2), (appended, [3]),
                             (lambda a: found(a) + 1, np.array(["what"], "S10")), (lambda x: scaled(x), "a"),
                             (lambda x: scaled(x, "b"), "a")):
        for options in ({}, {"nogil": True}):
            agree(function, *given, **options)
    made = [njit((lambda function: lambda x: function(x))(pair_with(n))) for n in (1, 2)]
    assert [f("a") for f in made] == [("a", 1), ("a", 2)]
    text = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(lambda x: b"a")
    with pytest.raises(TypingError, match="has a result that compiled code cannot take"):
        njit(lambda x: text(x))("a")


def pair_with(n):
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(lambda x: (x, n))
