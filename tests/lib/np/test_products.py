"""Products against NumPy: dtypes, layouts, shapes, out=, errors."""
import ctypes
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from tests.oracle import difference, outcome

from pyjitc import njit
from pyjitc.runtime import blas

# BLAS kernels, the package's own loops and NumPy's loops add in different orders, so results agree up to some last
# places.
TOLERANCE = {"e": 4e-3, "f": 2e-5, "F": 2e-5, "d": 1e-12, "D": 1e-12}
_compiled = {}


def compiled(function):
    if function not in _compiled:
        _compiled[function] = njit(function)
    return _compiled[function]


def parts(value):
    return value if isinstance(value, tuple) else (value,)


def check(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, actual = outcome(function, args), outcome(compiled(function), args)
    if expected[0] == actual[0] == "returns":
        for x, y in zip(parts(expected[1]) + tuple(expected[2]), parts(actual[1]) + tuple(actual[2]), strict=True):
            close(x, y)
        return
    found = difference(expected, actual)
    assert not found, found


def close(x, y):
    assert type(x) is type(y), (type(x), type(y))
    if not isinstance(x, (np.ndarray, np.generic)):
        assert x == y
        return
    assert (x.dtype, x.shape) == (y.dtype, y.shape)
    if x.dtype.char in TOLERANCE:
        np.testing.assert_allclose(y, x, rtol=TOLERANCE[x.dtype.char], atol=TOLERANCE[x.dtype.char] * 10)
    else:
        np.testing.assert_array_equal(y, x)


def array(dtype, shape, seed=1):
    random = np.random.default_rng(seed + len(shape))
    x = random.uniform(-4, 4, shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * random.uniform(-4, 4, shape)
    return x > 1 if dtype == "bool" else np.abs(x).astype(dtype) if dtype[0] == "u" else x.astype(dtype)


DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def at(a, b):
    return a @ b


def dot(a, b):
    return np.dot(a, b)


def dot_method(a, b):
    return a.dot(b)


def matmul_out(a, b, out):
    return np.matmul(a, b, out=out) is out


def dot_out(a, b, out):
    np.dot(a, b, out)


def inplace(a, b):
    a @= b
    return a


SHAPES = [((3, 4), (4, 5)), ((30, 20), (20, 40)), ((1, 20), (20, 30)), ((150, 140), (140, 131)), ((20,), (20,)),
          ((3,), (3,)), ((30, 20), (20,)), ((2, 3), (3,)), ((20,), (20, 30)), ((0, 3), (3, 2)), ((3, 0), (0, 2)),
          ((0,), (0,)), ((2, 0), (0,)), ((2, 3), (2, 3)), ((3,), (2,)), ((3,), (2, 3)), ((20, 30), (20,))]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    for x, y in SHAPES:
        if len(x) == 2 or dtype in ("float64", "bool"):
            check(at, array(dtype, x), array(dtype, y, 2))


def test_dot():
    for x, y in SHAPES:
        check(dot, array("float32", x), array("float32", y, 2))


LAYOUTS = [lambda a: a, np.asfortranarray, lambda a: np.repeat(a, 2, -1)[..., ::2], lambda a: np.repeat(a, 2, 0)[::2],
           lambda a: np.ascontiguousarray(a[..., ::-1])[..., ::-1], lambda a: np.ascontiguousarray(a[::-1])[::-1],
           lambda a: np.broadcast_to(a[:1], a.shape)]


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("n", [24, 3])
def test_layouts(dtype, n):
    a, v = array(dtype, (n, n)), array(dtype, (n,))
    for f in LAYOUTS:
        for g in LAYOUTS:
            check(at, f(a), g(a))
        check(at, f(a), v[::-1])
        check(at, v, f(a))
        check(at, np.repeat(v, 2)[::2], f(v))


@pytest.mark.parametrize("x, y", [((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)),
                                  ((2, 1, 3, 4), (5, 4, 6)), ((2, 3, 4), (3, 4, 5)), ((2, 3, 4), (5,)),
                                  ((2, 2, 3), (3, 3, 2))])
def test_stacks(x, y):
    check(at, array("float64", x), array("float64", y))
    check(dot, array("int64", x), array("int64", y))


def item_by_item(c, a, b):
    for i in range(len(c)):
        c[i] = a[i if len(a) > 1 else 0] @ b[i if len(b) > 1 else 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m, inner, n", [(2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 6, 7), (1, 5, 4), (6, 3, 1), (2, 0, 3),
                                         (9, 2, 11), (2, 25, 5), (8, 8, 8)])
def test_stacks_of_small_matrices(dtype, m, inner, n):
    """Each product is, to the last bit, that of its two matrices, and nothing else is read or written."""
    f, each = compiled(at), compiled(item_by_item)
    for count in (1, 2, 31, 32, 33, 70):
        wide = array(dtype, (count, m, 2 * inner)), array(dtype, (count, inner, 2 * n))
        for a in (wide[0][:, :, :inner].copy(), wide[0][:, :, ::2], wide[0][:1, ::-1, :inner], wide[0][::-1, :, inner:],
                  wide[0][:, :, :inner].transpose(0, 2, 1).copy().transpose(0, 2, 1)):
            for b in (wide[1][:, :, :n].copy(), wide[1][:, :, n:], wide[1][:, :, ::2], wide[1][:1, :, :n],
                      wide[1][:, :, :n].transpose(0, 2, 1).copy().transpose(0, 2, 1)):
                found, expected = f(a, b), np.zeros((max(len(a), len(b)), m, n), dtype)
                close(a @ b, found)
                each(expected, a, b)
                if min(m, n) > 1:  # a stack of rows or columns is one of vectors
                    np.testing.assert_array_equal(found, expected, strict=True)
    check(at, a, b[0])
    check(at, a[0], b)
    check(at, np.stack([a, -a]), b)
    check(at, np.stack([a, -a])[:, :1], b[0].T.copy().T)


def test_small_products_of_what_is_not_a_number():
    a = np.array([[[np.nan, 0.0], [1.0, 2.0]], [[-0.0, 0.0], [np.inf, 1.0]]])
    b = np.array([[[1.0, np.inf], [0.0, -0.0]], [[0.0, -1.0], [0.0, 2.0]]])
    with np.errstate(all="ignore"):
        expected = a @ b
    found = compiled(at)(a, b)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_mixed():
    for s in ("bool", "complex64"):
        check(at, array(s, (6, 5)), array("float32", (5, 4)))
        check(dot_method, array(s, (6, 5)), array("int16", (5,)))
    check(dot, array("float32", (3,)), 2.5)
    check(dot, 3, array("int8", (3,)))
    check(dot, 3, 2.5)
    check(dot, np.array(2.0), array("float64", (2, 2)))
    for a, b in ((np.array(2.0), np.ones(3)), (np.ones(3), np.array(2.0))):
        check(at, a, b)


def test_out():
    a, b = array("float64", (6, 5)), array("float64", (5, 4))
    for out in (np.zeros((6, 4)), np.zeros((6, 4), order="F"), np.zeros((12, 8))[::2, ::2],
                np.zeros((6, 4), np.complex128), np.zeros((5, 4)), np.zeros((6, 3)), np.zeros((6, 4), np.float32)):
        check(matmul_out, a, b, out)
    for out in (np.zeros((6, 4)), np.zeros((6, 5)), np.zeros((6, 4), np.float32), np.zeros((6, 4), order="F"),
                np.zeros(6)):
        check(dot_out, a, b, out)
    read_only = np.zeros((6, 4))
    read_only.flags.writeable = False
    check(matmul_out, a, b, read_only)
    same = array("float64", (5, 5))
    expected = same @ same
    compiled(matmul_out)(same, same, same)
    close(expected, same)


def test_inplace():
    for dtype in ("float64", "int32"):
        check(inplace, array(dtype, (4, 3)), array(dtype, (3, 3)))
        check(inplace, array(dtype, (3,)), array(dtype, (3, 3)))
        check(inplace, array(dtype, (4, 3)), array(dtype, (3, 2)))
        check(inplace, array(dtype, (3, 3)), array(dtype, (3,)))


def test_a_dtype_that_out_cannot_hold_is_an_error():
    with pytest.raises(TypeError, match="Cannot cast ufunc 'matmul' output"):
        compiled(matmul_out)(np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2), np.int64))


@pytest.mark.skipif(os.environ.get("PYJITC_BLAS") == "none", reason="it runs this file")
def test_without_blas():
    """The same tests with the package's own loops in place of BLAS."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", "layouts or dot",
                           __file__],
                          env={**os.environ, "PYJITC_BLAS": "none"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def gram(a):
    return a @ a.T, a.T @ a


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_a_matrix_times_its_transpose_is_symmetric(dtype):
    for a in (array(dtype, (33, 20)), np.asfortranarray(array(dtype, (17, 64))), array(dtype, (60, 60))[::2, ::3]):
        check(gram, a)
        first, second = compiled(gram)(a)
        assert (first == first.T).all() and (second == second.T).all()


def test_long_complex_vectors():
    a, b = array("complex128", (300,)), array("complex64", (300,))
    check(at, a, a)
    check(at, b, b[::-1])
    check(at, b, b)


@pytest.mark.skipif(not hasattr(np, "vecmat"), reason="NumPy 2.2")
def test_vector_products_and_keywords():
    def f(a, b, v):
        return (np.vecdot(a, b), np.vecdot(a, b, axis=0), np.matvec(a, v), np.vecmat(v, b), np.vecmat(b, b.T),
                np.vecdot(v, v), np.matmul(a, b.T, dtype=np.complex128), np.matmul(a, b.T, order="F").strides,
                np.matmul([[1, 2]], [[1], [2]]))

    a = np.arange(9.0).reshape(3, 3)
    for dtype in ("float64", "complex128", "int8"):
        x = a.astype(dtype) * (1j if dtype[0] == "c" else 1)
        found = outcome(f, (x, x[::-1], x[1]))
        assert not difference(found, outcome(njit(f), (x, x[::-1], x[1])))


def dotted(a, b):
    return np.dot(a, b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dots_of_all_lengths_and_steps_read_their_elements_alone(dtype):
    """Sums of small whole numbers are exact in any order. The elements between and after those of the operands are
    nan."""
    for n in [*range(40), 63, 64, 65, 127, 131, 10007]:
        for step in (1, -1, 2, -3, 0):
            for other in (1, -1, 3):
                vectors = []
                for k, s in enumerate((step, other)):
                    place = np.full((max(n, 1), max(abs(s), 1)), np.nan, dtype)
                    place[:, 0] = np.arange(len(place)) % 7 - 2 * k
                    whole = np.concatenate([np.full(3, np.nan, dtype), place.ravel(), np.full(3, np.nan, dtype)])[3:-3]
                    vectors.append(np.broadcast_to(whole[:1], (n,)) if s == 0
                                   else whole[::abs(s)][:n][::1 if s > 0 else -1])
                got = compiled(dotted)(*vectors)
                expected = vectors[0].astype("float64") @ vectors[1].astype("float64")
                assert type(got) is np.dtype(dtype).type and got == expected, (n, step, other)


def test_dots_of_what_is_not_a_number():
    check(dotted, np.array([1.0, np.inf, 2.0]), np.array([0.0, 0.0, 1.0]))
    check(dotted, np.array([-0.0]), np.array([1.0]))
    check(dotted, np.array([np.inf] * 20), np.array([1.0] * 20))
    check(dotted, np.zeros(3), np.zeros(4))


def test_dots_of_columns_are_calls_without_blas():
    """The code of rows and columns of matrices, also reversed, is a call of one small function in the object."""
    def f(a, n):
        return a[0, :n] @ a[:n, 1] + a[::-1, 0] @ a[:, 1]

    g = njit(f)
    a = array("float64", (30, 30))
    close(f(a, 25), g(a, 25))
    text = g.inspect_llvm()
    text = text if isinstance(text, str) else "\n".join(text.values())
    lines = [line for line in text.splitlines() if "double @pyj_dot_double(" in line]
    assert sum(line.startswith("define ") for line in lines) == 1 and len(lines) > 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_last_bits_of_short_products(dtype):
    """Where loops replace calls of BLAS, results are within the error bound of sums in any order."""
    rng = np.random.default_rng(5)
    eps = np.finfo(dtype).eps
    products = [(njit(f), f)
                for f in (lambda a, b: a @ b, lambda a, b: np.dot(a, b), lambda a, b: np.einsum("ij,jk->ik", a, b),
                                       lambda a, b: a @ b[:, 0],
                                       lambda a, b: np.dot(a[0], b[:, 0]), lambda a, b: np.inner(a, b[:, 0]), lambda a,
                          b: a[:1] @ b)]
    squares = [(njit(f), f) for f in (lambda a: np.linalg.norm(a), lambda a: np.linalg.det(a),
                                      lambda a: np.linalg.cholesky(a))]
    for n in (1, 2, 3, 4, 5, 6, 8, 13, 30):
        for _ in range(5):
            a, b = rng.normal(size=(n, n)).astype(dtype), rng.normal(size=(n, n)).astype(dtype)
            most = np.max(np.abs(a) @ np.abs(b))
            for compiled, f in products:
                assert np.max(np.abs(compiled(a, b) - f(a, b))) <= 2 * n * eps * most
            positive = a @ a.T + n * np.eye(n, dtype=dtype)
            for compiled, f in squares:
                assert np.allclose(compiled(positive), f(positive), rtol=8 * n * eps, atol=8 * n * eps)


@pytest.fixture
def one_thread_of_blas():
    """BLAS with one thread: with more than two it multiplies few rows with a large matrix itself."""
    if not blas.found(blas.THREADS):
        pytest.skip("the BLAS does not tell the number of its threads")
    places = [blas.address(f"openblas_{of}_num_threads") for of in ("get", "set")]
    get = ctypes.CFUNCTYPE(ctypes.c_int)(places[0])
    put = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int))(places[1])
    before = get()
    put(ctypes.byref(ctypes.c_int(1)))
    yield
    put(ctypes.byref(ctypes.c_int(before)))


WIDE = [(256, 1024), (263, 1003), (521, 515), (2000, 131)]  # an even number of blocks, and what is left over


@pytest.mark.parametrize("dtype, scale", [("float32", 1), ("float64", 1000)])
@pytest.mark.parametrize("inner, n", [(k, 2 * n) for k, n in WIDE])
def test_few_rows_times_a_large_matrix(dtype, scale, inner, n, one_thread_of_blas):
    """A loop of our own (products_core.few_rows). Ints as floats, whose sums are exact in any order."""
    f = compiled(at)
    random = np.random.default_rng(7)
    b = random.integers(-4 * scale, 4 * scale, (inner, n)).astype(dtype)
    for m in (1, 2, 3, 5, 7, 8, 9):
        a = random.integers(-4, 4, (m, inner)).astype(dtype)
        for x in (a, np.asfortranarray(a), np.repeat(a, 2, 1)[:, ::2], a[:, ::-1], a[::-1]):
            np.testing.assert_array_equal(f(x, b), x @ b, strict=True)
        for y in (np.repeat(b, 2, 0)[::2], np.hstack([b, b])[:, 3:n + 3], np.asfortranarray(b), b[::-1]):
            np.testing.assert_array_equal(f(a, y), a @ y, strict=True)


def test_few_rows_with_nan_and_inf(one_thread_of_blas):
    random = np.random.default_rng(8)
    a, b = random.normal(size=(5, 300)), random.normal(size=(300, 1001))
    a[1, 7], a[2, 299], b[250, 1000], b[3, 5], b[4, 5] = np.nan, np.inf, np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        expected = a @ b
    np.testing.assert_allclose(compiled(at)(a, b), expected, rtol=1e-12, atol=1e-12)


def test_error_of_few_rows(one_thread_of_blas):
    """Within the error of a sum of blocks of 256 terms."""
    random = np.random.default_rng(9)
    a, b = random.random((3, 20_000), np.float32), random.random((20_000, 61), np.float32)
    exact = a.astype(float) @ b.astype(float)
    assert np.max(np.abs(compiled(at)(a, b) - exact) / exact) < 1e-6
