"""Reductions against NumPy: dtypes, axes, keepdims, shapes, layouts; the order of summation."""
import warnings

import numpy as np
import pytest
from tests.oracle import agree, difference, outcome

from pyjitc import njit


def array(dtype, shape):
    x = np.random.default_rng(len(shape) + 7).uniform(-1, 9, shape)
    return x > 4 if dtype == "bool" else x.astype(dtype)


def check(function, *args, rtol=0.0):
    """rtol: relative tolerance, for cases in which NumPy's order of summation depends on strides (several rows,
    transposed)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, actual = outcome(function, args), outcome(compiled(function), args)
    if rtol and expected[0] == actual[0] == "returns":
        for x, y in zip(*(v[1] if isinstance(v[1], tuple) else (v[1],) for v in (expected, actual))):
            assert type(x) is type(y) and np.asarray(x).dtype == np.asarray(y).dtype and np.shape(x) == np.shape(y)
            np.testing.assert_allclose(y, x, rtol=rtol)
        return
    found = difference(expected, actual)
    assert not found, found


_compiled = {}


def compiled(function):
    if function not in _compiled:
        _compiled[function] = njit(function)
    return _compiled[function]


def whole(a):
    return np.sum(a), a.max(), np.min(a), a.any(), np.all(a)


def first(a):
    return np.sum(a, axis=0), a.max(axis=0), np.min(a, 0), a.any(axis=0)


def last(a):
    return a.sum(-1), a.max(axis=-1), np.min(a, axis=-1, keepdims=True), np.all(a, axis=-1)


def pair(a):
    return np.sum(a, axis=(0, -1)), np.max(a, axis=(0, 1), keepdims=True)


def averages(a):
    return np.mean(a), a.mean(axis=0), np.var(a), np.std(a, axis=-1, ddof=1), np.mean(a, axis=-1, keepdims=True)


def fused(a):
    return np.sum(a * a + 1.0), np.max(np.abs(a), axis=0), np.sum(a > 3), np.count_nonzero(a > 3)


def products(a):
    return np.prod(a), a.prod(axis=0)


DTYPES = ["float64", "float32", "int32", "bool", "uint8", "float16"]
SHAPES = [(1,), (7,), (8,), (130,), (1000,), (3, 4), (4, 300), (30, 40), (4, 5, 6), (2, 3, 200)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [whole, first, last], ids=lambda f: f.__name__)
def test_contiguous(function, dtype):
    for shape in SHAPES:
        # sums of half floats are single floats until the end here, and only between rows in NumPy
        check(function, array(dtype, shape), rtol=1e-2 if dtype == "float16" else 0.0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
@pytest.mark.parametrize("function", [averages, fused], ids=lambda f: f.__name__)
def test_derived(function, dtype):
    for shape in SHAPES[1:]:
        check(function, array(dtype, shape), rtol=4e-7 if dtype == "float32" else 4e-15)


def test_several_axes():
    for shape in ((3, 4), (4, 5, 6), (2, 3, 200)):
        check(pair, array("float64", shape), rtol=1e-15)


def test_views():
    base = array("float64", (40, 50))
    for view in (base[::2], base[:, ::2], base.T, base[::-1, ::-1], base[3:9, 5:20]):
        for function in (whole, first, last, averages):
            check(function, view, rtol=1e-14)


def test_product():
    for dtype in ("int32", "float64", "bool"):
        check(products, (array(dtype, (3, 4)) * 0 + 2).astype(dtype), rtol=1e-15)


def test_empty():
    check(lambda a: (np.sum(a), np.prod(a), a.any(), np.all(a)), np.zeros(0))
    check(lambda a: np.max(a), np.zeros(0))
    check(lambda a: np.min(a, axis=0), np.zeros((0, 3)))
    check(lambda a: np.max(a, axis=1), np.zeros((0, 3)))
    check(lambda a: (np.sum(a, axis=0), np.sum(a, axis=1)), np.zeros((0, 3)))
    check(lambda a: np.mean(a), np.zeros(0))


def test_wrong_axis():
    check(lambda a: np.sum(a, axis=2), np.zeros((2, 3)))
    check(lambda a: np.sum(a, axis=-3), np.zeros((2, 3)))
    check(lambda a: np.sum(a, axis=(0, 0)), np.zeros((2, 3)))


def test_nan():
    a = np.array([1.0, np.nan, 3.0, -2.0])
    check(lambda a: (np.max(a), np.min(a), np.sum(a), np.nansum(a), np.nanmax(a), np.nanmin(a), np.nanmean(a),
                     np.nanvar(a)), a, rtol=1e-15)
    b = np.arange(12.0).reshape(3, 4)
    b[1, 2] = np.nan
    check(lambda a: (np.max(a, axis=0), np.nansum(a, axis=1), np.nanmax(a, axis=0)), b)


def test_options():
    a = array("float64", (5, 6))
    check(lambda a, m: (np.sum(a, where=m), np.sum(a, axis=0, where=m), np.max(a, initial=-5.0, where=m),
                        np.mean(a, where=m)), a, a > 4, rtol=1e-15)
    check(lambda a: (np.sum(a, initial=10.0), np.max(a, initial=100.0), np.sum(a, dtype=np.float32), np.ptp(a),
                     np.ptp(a, axis=0)), a, rtol=1e-6)
    check(lambda a, out: np.sum(a, axis=0, out=out), a, np.zeros(6))
    check(lambda a, w: (np.average(a, axis=1, weights=w), np.average(a), np.average(a, axis=0)), a, np.arange(6.0),
          rtol=1e-15)
    check(lambda a: (np.sum(a, keepdims=True), np.max(a, axis=0, keepdims=True)), a)


def test_softmax():
    def softmax(x):
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)

    check(softmax, array("float64", (4, 5, 60)), rtol=1e-14)
    check(softmax, array("float32", (4, 60)), rtol=1e-6)


def test_sequences_numbers_and_complex_extremes():
    def f(x, z):
        return (np.sum([1, 2, 3]), np.mean((1.0, 2.0)), np.max(((1, 5), (3, 4)), 1), np.any(x[0] == 0), np.std(x[1]),
                np.min(z), np.max(z, axis=0), np.ptp(z), np.average(x, weights=x), np.where(x[0] > 1, x[0], 2),
                np.average(np.arange(3), weights=np.arange(3), returned=True))

    agree(f, np.arange(3.0), np.array([[1 + 2j, 1 + 1j], [0, complex(np.nan, 1)]]))


def test_out_may_have_any_dtype():
    def f(x, out):
        return np.sum(x, out=out)

    agree(f, np.arange(3), np.zeros((), np.float32))
    agree(f, np.arange(3), np.zeros(3))
    agree(f, np.full(3, 1.5), np.zeros((), np.int64))


def test_dtypes_of_means():
    def f(a, m):
        return (np.mean(a, where=m), np.mean(a, 0, dtype=np.float32), np.var(a, where=m),
                np.var(a, 1, dtype=np.float32), np.nanmean(a, where=m), np.std(a, 0, where=m),
                np.mean(a, dtype=np.int64), np.nanvar(a, 0), np.nanmean(a, 1, np.float32))

    a = np.array([[1.5, 2.25, 3], [4, 5, 7]])
    for dtype in ("float32", "float64", "int32"):
        args = a.astype(dtype), a > 2
        for expected, actual in zip(f(*args), njit(f)(*args)):
            assert expected.dtype == actual.dtype
            np.testing.assert_allclose(actual, expected, rtol=1e-6)  # sums in another order
    agree(lambda a: np.var(a, 5), a)


# rows of a few elements, which are folded without the loops of long ones

def rows_folded(p):
    total = np.zeros(8)
    for i in range(len(p)):
        row = p[i]
        total[0] = total[0] * 2 + row.sum()
        total[1] = total[1] * 2 + row.mean()
        total[2] = total[2] * 2 + row.std()
        total[3] = total[3] * 2 + row.prod()
        total[4] = total[4] * 2 + (row * row).sum()
        total[5] = total[5] * 2 + np.any(row > 0.5) + np.all(row > 0.2)
        total[6] = total[6] * 2 + row.max() - row.min()
        total[7] = total[7] * 2 + np.argmax(row) - np.argmin(row) / 2
    return total


def whole_rows_folded(p):
    total = np.zeros(3, np.int64)
    for i in range(len(p)):
        total[0] = total[0] * 3 + p[i].sum()
        total[1] = total[1] * 2 + p[i].any() - p[i].all()
        total[2] += p[i].max() - p[i].min()
    return total


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 127, 128, 129, 300, 1100])
def test_short_and_long_rows(n):
    rng = np.random.default_rng(n)
    for dtype in (np.float64, np.float32):
        p = (rng.random((3, n)) * 2 - 0.5).astype(dtype)
        compiled = _ROWS.get(dtype) or _ROWS.setdefault(dtype, njit(rows_folded))
        agree(rows_folded, p, compiled=compiled)
        agree(rows_folded, np.repeat(p, 2, axis=1)[:, ::2], compiled=compiled)
        p[1, n // 2] = np.nan
        p[2, -1] = -0.0
        agree(rows_folded, p, compiled=compiled)
    for dtype in (np.int64, np.uint8, np.bool_):
        p = rng.integers(0, 2, (4, n)).astype(dtype)
        if dtype is not np.bool_:
            agree(whole_rows_folded, p, compiled=_ROWS.get(dtype) or _ROWS.setdefault(dtype, njit(whole_rows_folded)))
        agree(truths, p, compiled=_ROWS.get((dtype, 1)) or _ROWS.setdefault((dtype, 1), njit(truths)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_rows_without_elements(dtype):
    def folded(p):
        total = p.sum() * 2
        for i in range(len(p)):
            total += p[i].sum() + p[i].prod() + np.mean(p[i, :1])
        return total, np.sum(p[:, :0]), p[0].sum()

    agree(lambda p: (p[0].sum(), p[0].prod(), p.sum(), p.prod()), np.zeros((3, 0), dtype))
    agree(folded, np.full((3, 1), -0.0, dtype))


_ROWS: dict = {}


def truths(p):
    found = np.zeros((len(p), 4), np.bool_)
    for i in range(len(p)):
        found[i] = p[i].any(), p[i].all(), np.any(p[i][::-1]), np.all(p[:, i % p.shape[1]])
    return found, p[0].min(), p[0].max(), p[1].sum(), p[2].prod()


@pytest.mark.parametrize("values", [[-0.0], [-0.0, -0.0], [np.nan, 1.0], [np.inf, -np.inf], [1e308, 1e308, -1e308],
                                    [5e-324] * 7, [0.1] * 8])
def test_sums_of_few(values):
    def f(a):
        return a.sum(), a[:2].mean(), a.std(), a.prod(), a.argmax(), a.argmin()

    def in_a_loop(p):
        found = np.zeros((len(p), 2))
        for i in range(len(p)):
            found[i, 0] = p[i].sum()
            found[i, 1] = np.argmin(p[i])
        return found

    a = np.array(values)
    agree(f, a)
    agree(in_a_loop, np.array([a, a[::-1]]))


@pytest.mark.parametrize("function", [
    lambda a, axis: a.sum(axis), lambda a, axis: np.sum(a, axis=axis, dtype=np.float32),
    lambda a, axis: np.prod(a, axis, initial=2), lambda a, axis: a.max(axis=axis), lambda a, axis: np.min(a, axis),
    lambda a, axis: (a > 2).any(axis), lambda a, axis: np.all(a, axis), lambda a, axis: a.argmax(axis),
    lambda a, axis: np.argmin(a, axis=axis), lambda a, axis: [a.sum(axis=k) for k in range(axis)],
], ids=lambda function: "_".join(function.__code__.co_names))
def test_an_axis_that_is_known_at_run_time(function):
    compiled = njit(function)
    a = np.array([[[5, 1, -2], [3, 0, 7]]] * 3) * np.arange(1, 4)[:, None, None]
    for x in (a, a[::2, :, ::-1], np.asfortranarray(a[0]).astype(float), a[0, 0]):
        for axis in (*range(-x.ndim, x.ndim), np.int8(0), x.ndim, -x.ndim - 1):
            agree(function, x, axis, compiled=compiled)


def test_sums_along_other_axes_than_the_last_need_no_buffers():
    @njit
    def first(a):
        return np.sum(a, axis=0)

    @njit
    def both(a):
        return np.sum(a, axis=(0, 2))

    for function, count in (first, 1), (both, 4):
        a = np.arange(120.0).reshape(4, 5, 6)
        assert np.array_equal(function(a), function.py_func(a))
        text = str(function._inspect("opt", function.signatures[0]))
        assert text.count("array_new") + text.count("frame_array") == count


def total(a):
    return a.sum()


def columns_folded(a, out):
    for j in range(a.shape[1]):
        out[j] = a[:, j].sum() - a[::-2, j].mean()


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_sums_of_elements_that_are_not_neighbours(dtype):
    """They are pairwise, too, and are read where they are, without a buffer."""
    values = np.random.default_rng(5).normal(size=6000)
    base = (values[::2] + 1j * values[1::2] if dtype.startswith("c") else values).astype(dtype)
    whole, columns = njit(total), njit(columns_folded)
    for n in (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 127, 128, 129, 136, 255, 256, 257, 300, 999):
        for a in base[:2 * n:2], base[3 * n:0:-3], base[:n][::-1]:
            agree(total, a, compiled=whole)
    for n in (2, 5, 8, 20, 130, 300):
        a = base[:n * 9].reshape(n, 9)
        for view in a, a[:, ::2], a[::-1, ::-1]:
            agree(columns_folded, view, np.zeros(view.shape[1], dtype), compiled=columns)
    text = str(columns._inspect("opt", None))
    assert dtype == "float16" or "array_new" not in text and "frame_array" not in text  # halves are added as floats


def integers_folded(a, found):
    most = 0
    for i in range(a.shape[0]):
        found[i, 0] = np.sum(a[i])
        found[i, 1] = a[i].sum(dtype=np.int32)
        found[i, 2] = np.max(a[i]) if a.shape[1] > 0 else 0
        most = max(most, int(np.sum(a[i])))
    return most


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_rows_of_few_integers(dtype):
    """In a loop, with a conversion of each element to the type of the sum, and without one."""
    compiled = njit(integers_folded)
    a = np.random.default_rng(6).integers(0, 120, (11, 40)).astype(dtype)
    for n in (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 33, 40):
        for view in a[:, :n], a[:, :n].copy(), np.asfortranarray(a[:, :n]), a[::-1, ::-1][:, :n]:
            agree(integers_folded, view, np.zeros((11, 3), np.int64), compiled=compiled)


@pytest.mark.parametrize("function", [
    lambda a: (a.sum(), a.sum(0), a.sum(-1), a[None].sum(1), a.sum((0, 1)), np.add.reduce(a), np.nansum(a, 0)),
    lambda a: (a.prod(), a.prod(0), a.prod(1), np.multiply.reduce(a)), lambda a: (a.mean(), a.mean(0), a.mean(1)),
    lambda a: (a.var(), a.var(0), a.var(1, ddof=1), a.std(), a.std(0, keepdims=True), np.nanstd(a, 1)),
], ids=("sum", "prod", "mean", "var"))
def test_half_floats_are_rounded_where_numpy_rounds_them(function):
    """In single precision along the last axis that is longer than 1, after each step along others; squares of
    deviations may overflow."""
    rng = np.random.default_rng(3)
    compiled = njit(function)
    for shape in (1, 1), (2, 9), (9, 2), (9, 1), (30, 1), (0, 1), (40, 30):
        for scale in 2, 300:
            agree(function, (rng.uniform(0, scale, shape)).astype(np.float16), compiled=compiled)


@pytest.mark.parametrize("shape", [(9, 1), (4, 5, 1), (5, 1, 3), (6, 1, 1), (1, 7, 1)])
def test_axes_of_length_1_are_no_inner_loop_of_half_floats(shape):
    a = np.random.default_rng(4).uniform(0.5, 2, shape).astype(np.float16)
    compiled = njit(lambda a: (a.sum(0), a.prod(0), a.prod(0, keepdims=True), np.sum(a, axis=(0,)), a.prod(-a.ndim)))
    for x in a, a[::-1], np.repeat(a, 2, -1)[..., ::2]:
        agree(compiled.py_func, x, compiled=compiled)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_first_values_of_products_and_sums_come_last(dtype):
    a = np.random.default_rng(6).uniform(0.5, 2, (11, 5)).astype(dtype)
    products = njit(lambda a: (np.prod(a, 0, initial=3.1), np.prod(a, initial=3.1), np.sum(a, 0, initial=0.3)))
    for found, numpys, last in zip(products(a), products.py_func(a), (
            a.prod(0) * a.dtype.type(3.1), a.prod() * a.dtype.type(3.1), a.sum(0) + a.dtype.type(0.3))):
        assert found.dtype == numpys.dtype
        np.testing.assert_allclose(found, numpys, rtol=64 * np.finfo(dtype).eps)
        np.testing.assert_allclose(found, last, rtol=4 * np.finfo(dtype).eps)
    agree(lambda a: (np.sum(a, initial=0.3), np.sum(a, 1, initial=0.3)), a)
