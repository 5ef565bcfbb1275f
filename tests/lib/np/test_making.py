"""np.array, asarray and similar functions against NumPy: values, dtypes, order in memory, and whether the result is a
copy."""
import math

import numpy as np
import pytest
from tests.oracle import agree, agree_on, difference, outcome

from pyjitc import TypingError, njit

A, V = np.arange(12.0).reshape(3, 4), np.arange(4.0)
F = np.asfortranarray(A)
LAID = [(A,), (F,), (A[:, ::-1],), (A[::2],), (V,), (V[::2],), (A[:0],), (A[:1, ::2],), (A.astype(np.int8),),
        (np.array(2.5),)]



CASES = {
    "array": (lambda a: (np.array(a), np.array(a, copy=None), np.array(a, order="F"),
                         np.array(a, np.float32, order="C"), np.array(a, ndmin=3)), *LAID),
    "strides": (lambda a: (np.array(a, order="F").strides, np.array(a, order="C").strides,
                           np.array(a, np.int16, order="F").strides, a.copy().strides, a.copy("F").strides,
                           np.copy(a, "C").strides), *(x for x in LAID if x[0].size)),
    "asarray": (lambda a: (np.asarray(a), np.asarray(a, order="C"), np.asarray(a, order="F"),
                           np.asarray(a, np.complex64), np.asanyarray(a)), *LAID),
    "contiguous": (lambda a: (np.ascontiguousarray(a), np.asfortranarray(a), np.ascontiguousarray(a, np.int32),
                              np.require(a, None, "F"), np.require(a)), *LAID),
    "no copy": (lambda a: np.array(a, copy=False), *LAID),
    "no copy of another dtype": (lambda a: np.asarray(a, np.float32, copy=False), (A,)),
    "no copy in order": (lambda a: np.asarray(a, order="C", copy=False), *LAID),
    "numbers": (lambda x: (np.array(x), np.asarray(x, np.complex128), np.array(x, ndmin=2), np.asanyarray([x, 2]),
                           np.array((x, 1.5)), np.array([[x], [2]], np.float32), np.array([True, x]),
                           np.array([x], ndmin=3), np.array([[1, 2], [x, 4]], order="F").strides), (1,), (2.5,),
                (np.int8(3),), (True,)),
    "no copy of a number": (lambda x: np.array(x, copy=False), (1,)),
    "range": (lambda n: (np.array(range(n)), np.asarray(range(2, n, 3), np.float32), np.array(range(n), ndmin=2)), (9,),
              (1,)),
    "empty": (lambda: (np.array([]), np.array([[], []]), np.array((), np.int8), np.asarray([])),  ()),
    "stacked": (lambda a, b: (np.array([a, b]), np.array(((a, b), (b, a)), np.float32), np.array([a, b], order="F"),
                              np.asarray([a, b])), (V, V[::-1]), (A, F), (V[:0], V[:0]),
                (V, V[:2]), (A, A[:2]), (A, A[:, :2]), (V.astype(np.int8), V)),
    "stacked of "
    "0-d": (lambda a, x: (np.array([a, a]), np.array([a, x])), (np.array(2.0), 3), (np.array(2, np.int8), 1.5)),
    "uneven": (lambda a, b: np.array([a, b]), (V, A), (A, V), (V, 1.0), (V[:3], A)),
    "uneven lists": (lambda x: np.array([[x, 1], [2]]), (1,)),
    "finite": (lambda a: (np.asarray_chkfinite(a), np.asarray_chkfinite(a, np.float32)), *LAID, (A * np.inf,),
               (V * np.nan,), (V * np.inf * 1j,)),
    "require": (lambda a: (np.require(a, np.int64, ("C", "W")), np.require(a, requirements="CW")), *LAID),
    "require both": (lambda a: np.require(a, requirements=("C", "F")), (A,)),
    "copyto": (lambda a, b: into(a, b), (A, V), (A, A * 2), (F, A), (A, 7), (A[:, ::-1], 2.5),
               (A, A[0].astype(np.int8)), (A, A[:2])),
    "copyto a list": (lambda a: into(a, [1.0, 2.0, 3.0, 4.0]), (A,)),
    "copyto where": (lambda a, b, m: where(a, b, m), (A, V, A > 3), (A, 7, V > 1), (A, A * 2, True),
                     (A.astype(np.int8), 3, A > 3)),
}


def into(a, b):
    np.copyto(a, b)
    return a


def where(a, b, m):
    np.copyto(a, b, where=m)
    return a


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])


@pytest.mark.parametrize("make", [np.array, np.asarray, np.ascontiguousarray, np.asfortranarray, np.copy])
def test_copies_are_copies(make):
    def f(a):
        make(a)[...] = 7
        return a

    compiled = njit(f)
    for (a,) in LAID:
        agree(f, a, compiled=compiled)


@pytest.mark.parametrize("a", [A, F, A[:, ::-1], A.astype(np.int8)])
def test_new_array_in_fortran_order_is_written_whole(a):
    @njit
    def f(a):
        out = np.empty(a.shape, order="F")
        out[...] = a
        return out

    assert difference(outcome(f.py_func, (a,)), outcome(f, (a,))) == ""


def by_itself(y, n):
    for _ in range(n):
        y = np.array([y[1], -y[0] / 2])
    return y


def of_unions(x, k, a):
    y = x if k == 1 else a[0] if k == 2 else 7j + k
    rows = a if k else a * 1j
    return (np.array((y, 2, y)), np.array([[y, 1], [2, 3]]), np.array([y, 1], np.complex64), np.array([rows, a]),
            np.array([rows, rows], np.complex64), np.asarray([y, x], order="F"), np.array([y], ndmin=2))


def test_items_that_have_one_of_several_types():
    first, second = njit(by_itself), njit(of_unions)
    for k in range(4):
        for a in (np.array([1, 2]), np.array([1, 2], np.float32), np.array([1, 2], np.uint8)):
            for compiled, args in ((first, (a, k)), (second, (k, k, a)), (second, (k + 0.5, k, a))):
                found = difference(outcome(compiled.py_func, args), outcome(compiled, args))
                assert not found, (found, args)


def test_empty_range_is_of_ints():
    f = njit(lambda n: np.array(range(n)))
    assert f(0).dtype == np.int64
    assert f.py_func(0).dtype == np.float64


def test_copy_of_a_read_only_array_is_made_by_its_type():
    a = A[:0]
    a.flags.writeable = False
    for f in (njit(lambda a: np.asfortranarray(a)), njit(lambda a: np.tile(a, 2))):
        assert f(a).flags.writeable
        assert not f.py_func(a).flags.writeable


def test_what_is_refused():
    for call, text in ((lambda a: np.array([a, None]), "NoneType"),
                       (lambda a: np.require(a, requirements="O"), "OWNDATA"),
                       (lambda a: np.array(a, order=a.shape[0]), "must be a constant"),
                       (lambda a: np.copyto(a, 1j), "Cannot cast scalar from")):
        with pytest.raises(TypingError, match=text):
            njit(call)(A)


def copied(a, x):
    np.copyto(a, x)
    return a


def copied_unsafely(a, x):
    np.copyto(a, x, casting="unsafe")
    return a


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "bool", "m8[s]"])
@pytest.mark.parametrize("function", [copied, copied_unsafely], ids=lambda f: f.__name__)
def test_numbers_are_copied_where_the_rule_of_casting_allows_it(function, dtype):
    """A number of Python's has the dtype of the array where its kind allows it: 1.5 is not stored as an integer."""
    compiled = njit(function)
    for x in (1, -1, 2.5, math.inf, 1j, np.int16(5), np.array([1.5, 2.0])):
        args = np.zeros(2, dtype), x
        expected, found = outcome(function, args), outcome(compiled, args)
        if isinstance(expected[1], TypeError):
            assert isinstance(found[1], TypingError) and str(found[1]).startswith(str(expected[1])), (x, found)
        elif type(x) is not complex:  # which is refused where the array holds real numbers
            assert not difference(expected, found), (x, expected, found)


def test_a_number_of_numpy_as_a_dtype():
    for function in (lambda x: np.eye(2, dtype=x), lambda x: np.zeros(2, x), lambda x: np.arange(2, dtype=x),
                     lambda x: np.ones(2).astype(x), lambda x: np.array([1, 2], x)):
        agree_on(function, *((x,) for x in (np.float32(3), np.complex64(1), np.int8(2), np.bool_(1))))
