"""median, percentile and quantile against NumPy."""
import numpy as np
import pytest
from tests.lib.np.test_sorting import agrees, values

from pyjitc import njit


def medians(a):
    return np.median(a)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64, np.float16, np.float32, np.float64, np.complex128],
                         ids=lambda t: np.dtype(t).name)
def test_median(dtype):
    compiled = njit(medians)
    for n in (0, 1, 2, 3, 8, 26, 27, 501):
        a = values(dtype, n, n, many=False)
        agrees(medians, compiled, a)
        agrees(medians, compiled, np.nan_to_num(a, posinf=5, neginf=-9))
        agrees(medians, compiled, a[::-2])


def along(a):
    return (np.median(a, 0), np.median(a, axis=1), np.median(a, axis=-1, keepdims=True), np.median(a, keepdims=True),
            np.median(a, axis=0, keepdims=True))


def beyond(a):
    return np.median(a, axis=3)


def test_median_along_axes():
    a = values(np.float32, 60, many=False).reshape(3, 5, 4)
    for x in (a, a.transpose(2, 1, 0), a[0], np.nan_to_num(a), a[:, :, :0]):
        agrees(along, njit(along), x)
    agrees(beyond, njit(beyond), a)
    agrees(medians, njit(medians), np.array(3))


def one(a, q):
    return np.percentile(a, q), np.percentile(a, 30.5), np.percentile(a, 50)


def fraction(a, q):
    return np.quantile(a, q), np.quantile(a, 0.25), np.quantile(a, 1)


OLD = pytest.mark.xfail(np.lib.NumpyVersion(np.__version__) < "2.3.0", strict=True, raises=AssertionError,
                        reason="NumPy 2.2 computes places and weights in the dtype of the array: a row of "
                               "docs/semantics.md")


@pytest.mark.parametrize("dtype", [np.int8, np.uint32,
                                   *(pytest.param(t, marks=OLD) for t in (np.float16, np.float32, np.float64))],
                         ids=lambda t: np.dtype(t).name)
def test_percentile_of_types(dtype):
    first, second = njit(one), njit(fraction)
    for n in (1, 2, 9, 100):
        a = values(dtype, n, n, many=False)
        if a.dtype.kind == "f":
            a[np.isnan(a)] = 3
        for q in (0.0, 1.0, 33.0, 100.0):
            agrees(one, first, a, q)
            agrees(fraction, second, a, q / 100)
        agrees(one, first, a, np.float64(12.5))
        for q in (np.linspace(0, 100, 5), np.linspace(0, 100, 23)):
            agrees(one, first, a, q)
            agrees(fraction, second, a, q / 100)
    agrees(one, first, a, np.array([1, 50, 7]))
    agrees(one, first, a, 101.0)
    agrees(fraction, second, a, -0.1)


def by_method(method):
    namespace = {"np": np}
    exec(f"def f(a, q):\n    return np.quantile(a, q, method={method!r})", namespace)
    return namespace["f"]


@pytest.mark.parametrize("method", ["inverted_cdf", "averaged_inverted_cdf", "closest_observation",
                                    "interpolated_inverted_cdf", "hazen", "weibull", "linear", "median_unbiased",
                                    "normal_unbiased", "lower", "higher", "midpoint", "nearest", "unheard"])
def test_methods(method):
    f = by_method(method)
    compiled = njit(f)
    for n in (1, 2, 5, 20):
        a = np.random.default_rng(n).normal(size=n)
        for q in (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0):
            agrees(f, compiled, a, q)
    agrees(f, compiled, np.arange(12), 0.3)


def lists(a):
    return (np.percentile(a, [25, 50, 75]), np.quantile(a, (0.1, 0.9), axis=0),
            np.percentile(a, (5, 10.0), axis=-1, keepdims=True))


def keeping(a, q):
    return (np.quantile(a, q, 0, keepdims=True), np.quantile(a, q, axis=1), np.quantile(a, q, keepdims=True),
            np.percentile(a, 20, axis=-1, keepdims=True))


def test_axes_and_lists():
    a = values(np.float64, 60, many=False).reshape(3, 4, 5)
    agrees(lists, njit(lists), a)
    agrees(lists, njit(lists), a[0].T)
    agrees(keeping, njit(keeping), a, 0.3)
    agrees(keeping, njit(keeping), a, np.array([0.5, 0.1]))
    agrees(medians, njit(medians), np.zeros((0, 3)))
