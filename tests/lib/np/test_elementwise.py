"""Whole-array expressions against NumPy: every ufunc, broadcasting, layouts, overlap, errors, and fusion."""
import itertools
import re
import warnings

import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import TypingError, njit
from pyjitc.lib.np.elementwise.functions import RULES

DTYPES = ["float64", "float32", "int32", "uint8", "int64", "bool", "complex128", "float16", "uint64", "int8"]


def array(dtype, shape, seed=0):
    r = np.random.default_rng(seed)
    x = r.uniform(0.1, 6.0, shape) if dtype[0] != "c" else r.uniform(0.1, 3.0, shape) + 1j * r.uniform(-2, 2, shape)
    return x > 3 if dtype == "bool" else x.astype(dtype)


def close(expected, actual):
    """Assert equality, except for the last places of transcendental functions, which NumPy computes with its own
    code."""
    if isinstance(expected, tuple):
        return all(map(close, expected, actual))
    assert type(expected) is type(actual) and expected.dtype == actual.dtype and expected.shape == actual.shape
    if expected.dtype.kind in "fc":
        np.testing.assert_allclose(actual, expected, rtol=8 * np.finfo(expected.dtype).eps, atol=0)
    else:
        np.testing.assert_array_equal(actual, expected)
    return True


def supported(ufunc, dtype):
    try:
        ufunc.resolve_dtypes((*[np.dtype(dtype)] * ufunc.nin, *[None] * ufunc.nout))
    except TypeError:
        return False
    kind = {"u": "i"}.get(np.dtype(dtype).kind, np.dtype(dtype).kind)
    return kind in RULES[ufunc]


CASES = []
for number, ufunc in enumerate(RULES):
    found = [d for d in DTYPES if supported(ufunc, d)]
    for k, dtype in enumerate(dict.fromkeys([found[0], found[number % len(found)]]) if found else ()):
        CASES.append(pytest.param(ufunc, dtype, k, id=f"{ufunc.__name__}-{dtype}"))


@pytest.mark.parametrize("ufunc, dtype, layout", CASES)
def test_ufunc(ufunc, dtype, layout):
    if ufunc.nin == 1:
        compiled = njit(lambda x: ufunc(x))
    else:
        compiled = njit(lambda x, y: ufunc(x, y))
    for shape in ((5,), (0,), (1,)) if layout == 0 else ((3, 4), (1, 3)):
        args = [array(dtype, shape, seed) for seed in range(ufunc.nin)]
        if ufunc is np.power and dtype[0] == "i":
            args[1] = abs(args[1]) % 5
        if layout:
            args = [x[::2, ::-1] for x in args]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            close(ufunc(*args), compiled(*args))


def same(function, *args):
    compiled = njit(function)
    agree(function, *args, compiled=compiled)


SHAPES = [((3,), (3,)), ((3,), (1,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((2, 3), (2, 1)), ((4, 1, 3), (2, 1)),
          ((0,), (1,)), ((2, 0), (2, 1)), ((3,), (4,)), ((2, 3), (2,)), ((), (3,)), ((2, 2), ())]


@pytest.mark.parametrize("one, other", SHAPES, ids=str)
def test_broadcasting(one, other):
    def add(x, y):
        return x + y

    def again(x, y):
        return (y * 2 - x) * x

    for function in (add, again):
        same(function, array("float64", one), array("float64", other, 1))


def test_layouts():
    def f(x, y):
        t = x * 2.0 + y
        return t - y / 3.0

    compiled = njit(f)
    base = array("float64", (6, 8))
    views = [base[:3, :4], base[::2, ::2], base[3:, 4:], base[::-2, ::-2], base.T[4:7, :3].T[:3, :3][:, :3],
             base[:3, :1], base[:1, :4]]
    for x in views:
        for y in views:
            agree(f, x, y, compiled=compiled)


def test_dtypes_of_mixtures():
    def f(x, y):
        return x + y, x * 2, x / 2, y - 1.5, x > y

    for one in ("int8", "uint8", "int64", "float32", "float64", "bool"):
        for other in ("float32", "float64", "int32"):
            same(f, array(one, 4), array(other, 4, 1))


def test_overlap():
    def shift(a):
        a[1:] = a[:-1]
        a[:-2] += a[2:]
        a[::-1] = a * 2
        a[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        return a

    def turn(a):
        a[:] = a.T
        a += a.T
        a[0] = a[:, 0]
        a[:, 1] += a[2]
        return a

    same(shift, array("float64", 9))
    same(turn, array("float64", (4, 4)))
    a = array("float64", 20)
    b = a.copy()

    def two(x, y):
        x[:] = y * 2.0
        return x

    two(a[3:13], a[:10])
    njit(two)(b[3:13], b[:10])
    np.testing.assert_array_equal(a, b)


def test_in_place():
    def f(a, b):
        a += b
        a *= 2
        a -= b[0]
        a **= 2
        b /= a
        return a, b

    same(f, array("float64", 5), array("float64", 5, 1))

    def wrong(a, b):
        a += b

    with pytest.raises(TypeError, match="same_kind"):
        njit(wrong)(np.arange(3), np.ones(3))
    same(wrong, np.ones(3), np.ones((2, 3))[0])
    frozen = np.ones(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="output array is read-only"):
        njit(wrong)(frozen, np.ones(3))


def test_in_place_shape():
    def f(a, b):
        a += b

    same(f, np.ones(3), np.ones(4))
    same(f, np.ones((1, 3)), np.ones((2, 3)))
    same(f, np.ones((2, 6))[::-1, ::2], np.ones((3, 3)))
    with pytest.raises(TypingError, match="more dimensions than the place"):
        njit(f)(np.ones(3), np.ones((2, 3)))


def test_assignment_shape():
    def f(a, b):
        a[1:] = b

    same(f, np.ones(4), np.ones(2))
    same(f, np.ones((3, 2)), np.ones((2, 1)))
    same(f, np.ones((3, 2)), np.ones((1, 2, 2)))
    same(f, np.ones((3, 2)), np.ones((2, 3)))


def test_statements_fuse():
    @njit
    def f(a, b, c):
        t = a + b
        u = t * c
        return np.sum(u * u)

    f(*[np.ones(10)] * 3)
    text = f.inspect_llvm(f.signatures[0])
    # the three buffers of the pairwise sum and no temporary of the expression
    assert len(re.findall(r"call [^(]*@pyj_new\(", text)) + len(re.findall(r"call [^(]*@malloc\(", text)) <= 9


def test_a_temporary_with_two_readers_is_made_once():
    def f(a):
        t = np.sqrt(a)
        return t + 1.0, t * 2.0

    same(f, array("float64", 6))


def test_a_write_between_is_seen():
    def f(a, b):
        t = a + b
        a[0] = 100.0
        return t * 2.0

    same(f, array("float64", 4), array("float64", 4, 1))


def test_where_clip_round():
    def f(a, b):
        return (np.where(a > b, a, -b), np.clip(a, 1.0, 4.0), np.round(a, 1), np.where(a > 2, 1, 0), np.real(a),
                np.nan_to_num(a))

    for dtype in ("float64", "float32"):
        same(f, array(dtype, 7), array(dtype, 7, 1))
    same(f, array("float64", (2, 3)), array("float64", 3, 1))


def test_python_int_that_does_not_fit():
    def f(a, n):
        return a + n

    same(f, np.ones(3, np.uint8), 300)
    same(f, np.ones(3, np.uint8), 3)


def beside_tuples(a):
    t = (1, 2)
    t += a
    return a + (1, 2), [1.5, 2] * a, a == (0, 1), (1, 2) != a, a < [[1, 2], [-1, 2]], a - (3,), t


def test_tuples_and_lists_beside_arrays_are_arrays():
    compiled = njit(beside_tuples)
    for a in np.arange(2.0), np.arange(2, dtype=np.int8), np.zeros(3):
        agree(beside_tuples, a, compiled=compiled)


def test_order_of_results():
    compiled = njit(lambda a, b: a + b)
    c, f = np.ones((3, 4)), np.ones((4, 3)).T
    assert compiled(c, f).flags.c_contiguous
    assert compiled(f, f).flags.f_contiguous
    assert compiled(np.ones((4, 3)).T[:, ::2], np.ones((4, 3)).T[:, ::2]).flags.c_contiguous  # NumPy: Fortran order


@pytest.mark.parametrize("function, strides", [
    (lambda n: np.empty(n), (8,)), (lambda n: np.zeros((3, n), order="F"), (8, 24)),
    (lambda n: np.ones((2, 3))[:, :n].copy(), (8, 8)), (lambda n: np.ones((n, 3)) + 1.0, (24, 8))])
def test_strides_of_new_arrays_without_elements(function, strides):
    expected, actual = function(0), njit(function)(0)
    assert actual.strides == strides and set(expected.strides) == {0}
    assert set(njit(lambda n: function(n).strides)(0)) != {0}
    assert expected.shape == actual.shape and actual.flags.c_contiguous and actual.flags.f_contiguous
    assert expected.tolist() == actual.tolist() and (actual + 1.0).shape == expected.shape


@pytest.mark.parametrize("function, strides", [
    (lambda a: a.reshape(3, 0), (0, 8)), (lambda a: a.reshape(2, 0, 5), (0, 40, 8))])
def test_strides_of_reshapes_without_elements(function, strides):
    a = np.ones(3)[:0]
    expected, actual = function(a), njit(function)(a)
    assert expected.strides != strides == njit(lambda a: function(a).strides)(a)
    assert actual.shape == expected.shape and actual.flags.c_contiguous and actual.flags.f_contiguous


def test_strides_of_views_without_elements():
    function = njit(lambda a, n: (a[:n], a[:n].strides))
    part, strides = function(np.ones((2, 3)), 0)
    assert part.strides == strides == np.ones((2, 3))[:0].strides


def test_exponents_of_one_half():
    compiled = njit(lambda a, x: a ** x)
    np.testing.assert_array_equal(compiled(np.array([-np.inf, 4.0]), 0.5), [np.inf, 2.0])
    np.testing.assert_array_equal(njit(lambda a: a ** 0.5)(np.array([-np.inf, 4.0])), [np.nan, 2.0])


def in_place(a, x):
    a **= x
    return a


def constant_powers(a):
    return a ** -1, a ** -1.0, a ** 0.5, a ** 2.0


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_decimal_logarithms_of_complex_arrays(dtype):
    a = array("complex128", 1000).astype(dtype) * np.logspace(-5, 5, 1000).astype(dtype)
    assert np.array_equal(njit(lambda a: np.log10(a))(a), np.log10(a))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_powers_of_complex_arrays(dtype):
    """NumPy's operator takes a fast path for the Python numbers 2, -1 and 0.5, also where they are variables."""
    a = np.array([complex(np.inf, 0), -4, 0, 1 + 2j, 3 - 1e-3j, complex(0, np.inf), complex(np.nan, 1)], dtype)
    with np.errstate(all="ignore"):
        agree(constant_powers, a)
        for x in (0.5, -1, -1.0, 2, 2.0, 0, 1, 3, -0.5, True):
            compiled = agree(lambda a, x: a ** x, a, x)
            for other in (a.reshape(-1, 1)[::2], a[:0], a[3], np.array(a[1])):
                agree(lambda a, x: a ** x, other, x, compiled=compiled)
            agree(in_place, a, x)
            agree(in_place, a[::2], x)


def test_powers_of_numpy_numbers_have_the_dtype_of_both():
    """A row of docs/semantics.md: before 2.3, NumPy's operator has fast paths for its own numbers, too."""
    compiled = njit(lambda a, x: a ** x)
    assert compiled(np.ones(2, np.float32), np.float64(2)).dtype == np.float64


def test_products_of_complex_arrays():
    """NumPy may use fused multiply-add: the last bits differ."""
    rng = np.random.default_rng(5)
    a, b = (rng.normal(size=1000) + 1j * rng.normal(size=1000) for _ in range(2))
    for dtype, eps in ((np.complex128, 1e-15), (np.complex64, 5e-7)):
        x, y = a.astype(dtype), b.astype(dtype)
        assert (np.abs(njit(lambda x, y: x * y)(x, y) - x * y) <= eps * np.abs(x * y)).all()


def test_elements_that_share_memory():
    """A row of docs/semantics.md."""
    def f(a):
        a += 1
        return a

    def rows():
        return np.lib.stride_tricks.as_strided(np.arange(5.0), (3, 3), (8, 8))

    assert f(rows())[0].tolist() == [1.0, 2.0, 3.0]
    assert njit(f)(rows())[0].tolist() == [1.0, 3.0, 5.0]


def in_place_of_sequences(a, x, y):
    a += x, y
    a[0] -= [y, x]
    a[:, 1:] *= (x,)
    np.maximum((x, y), a, out=a, where=a > 1)
    return a, np.clip(a, x, [y, 3]), np.add((x, y), 1, dtype=np.float32)


def sequences_of_one_of_several_types(a, k):
    v = 1 if k else 2.5
    a += v, 1
    a -= (a[0], a[1])
    return a, np.negative([v, k]), (v, 2) * a, np.power([v, 2], a)


def too_long(a):
    a += 1, 2, 3
    return a


def test_sequences_as_operands_in_place():
    whole, several, long = njit(in_place_of_sequences), njit(sequences_of_one_of_several_types), njit(too_long)
    for dtype in (np.float64, np.float32, np.complex64):
        for a in (np.arange(4).reshape(2, 2).astype(dtype), np.arange(16).reshape(4, 4).astype(dtype)[::-2, ::2]):
            for x, y in ((1, 2), (2.5, 1), (np.float32(1), 3), (True, -1)):
                agree(in_place_of_sequences, a, x, y, compiled=whole)
            for k in (0, 1):
                agree(sequences_of_one_of_several_types, a, k, compiled=several)
            agree(too_long, a, compiled=long)
    agree(in_place_of_sequences, np.arange(4).reshape(2, 2), 1, 2, compiled=whole)


def test_shapes_that_do_not_fit_are_named_with_those_of_numbers():
    for function in (lambda a, b, x: np.where(a > 0, b, x), lambda a, b, x: np.where(a > 0, x, b) * 2, lambda a, b,
                     x: np.where(a > x, b, 1).sum()):
        compiled = njit(function)
        for a, b in ((np.arange(3.0), np.arange(2.0)), (np.ones((2, 3)), np.arange(2.0)), (np.zeros(0), np.arange(2.0)),
                     (np.ones((2, 1)), np.ones(3))):
            agree(function, a, b, 2.0, compiled=compiled)
            agree(function, a, b, np.array(2.0), compiled=compiled)


def test_shapes_of_transposed_operands_are_named_as_written():
    def new(a, b):
        return a.T + b.T

    def placed(a, b):
        a[1] = np.minimum(a.T, b.T)

    def in_place(a, b):
        a.T[:] = a.T > b.T

    def summed(a, b):
        return (a.T * b.T).sum()

    for function in (new, placed, in_place, summed):
        agree(function, np.ones((2, 7)), np.ones((7, 2)))
        agree(function, np.ones((3, 4, 5)), np.ones((4, 3, 5)))


def test_messages_name_the_shapes_as_numpy_does():
    def added(a, b):
        a += b

    def backwards(a, b):
        a[::-1] %= b

    def every_other(a, b):
        a[::2] += b

    def product(a, b):
        np.multiply(a, b, out=a)

    def three(a, b):
        a *= b * a[:1]

    shapes = list(itertools.product((1, 2, 3, 0), repeat=2))
    for f in (added, backwards, every_other, product, three):
        compiled = njit(f)
        for mine, other in itertools.product(shapes, [*shapes, (1,), (2,), (3,)]):
            agree(f, np.ones(mine), np.ones(other), compiled=compiled)


NUMBERS_AND_SEQUENCES = [
    lambda x: (1, 2) + x, lambda x: x - (1, 2.5), lambda x: [1, 2] / x, lambda x: x // [3, 4], lambda x: (1, 2) < x,
    lambda x: x >= [1, 3], lambda x: (1, 3) == x, lambda x: x != (1, 3), lambda x: x ** (1, 2), lambda x: ((1, 2),) + x,
]


@pytest.mark.parametrize("function", NUMBERS_AND_SEQUENCES)
def test_numbers_of_numpy_make_arrays_of_sequences(function):
    compiled = njit(function)
    for x in (np.int32(3), np.float64(2.5), np.uint8(3), np.float16(2)):
        agree(function, x, compiled=compiled)


@pytest.mark.parametrize("function", [
    lambda n: (1, 2) * n, lambda n: n * (1, 2), lambda n: n * [1, 2.5], lambda n: [1] * n, lambda n: "ab" * n,
    lambda n: (3 if n else 2.5) and n * (n, n), lambda n: (n,) * np.int64(2)])
def test_integers_of_numpy_repeat_sequences(function):
    compiled = njit(function)
    for n in (np.int8(3), np.uint64(0), np.int64(-1), 2):
        agree(function, n, compiled=compiled)


@pytest.mark.parametrize("whole", [True, False])
def test_a_ufunc_type_error_that_some_calls_meet_is_caught(whole):
    def added(a, whole):
        try:
            b = a.astype(np.int64) if whole else a
            b += 0.5
            return "added", ""
        except TypeError as error:
            return type(error).__name__, str(error)

    assert njit(added)(np.zeros(2), whole) == added(np.zeros(2), whole)
