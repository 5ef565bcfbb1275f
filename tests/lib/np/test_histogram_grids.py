"""Histograms of several variables, edges of bins and their estimators, against NumPy."""
import numpy as np
import pytest
from tests.lib.np.closely import check

from pyjitc import njit

R = np.random.default_rng(1)
A, B, W = R.normal(size=40), R.normal(size=40), R.normal(size=40) ** 2
N, F, EDGES = R.integers(-5, 9, 40), A.astype(np.float32), np.array([-1.0, 0, 0.5, 2])
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

CASES = {
    "2d": (lambda x, y: (np.histogram2d(x, y), np.histogram2d(x, y, 4), np.histogram2d(x, y, (3, 5)),
                         np.histogram2d(x, y, [3, 4], density=True)), (A, B), (A[:0], B[:0]), (A * 0, B)),
    "2d of types": (lambda x, y: np.histogram2d(x, y, 4), (A, N), (F, F), (A, B[:3])),
    "2d range": (lambda x, y: (np.histogram2d(x, y, 4, ((-1, 1), (0, 2.5))),
                               np.histogram2d(x, y, 4, range=[[-1, 1], [0, 2]])), (A, B)),
    "2d weights": (lambda x, y, w: (np.histogram2d(x, y, 4, weights=w), np.histogram2d(x, y, 4, None, True, w)),
                   (A, B, W), (A, B, N), (A, B, W[:4])),
    "2d edges": (lambda x, y, e: (np.histogram2d(x, y, e), np.histogram2d(x, y, (e, 5)),
                                  np.histogram2d(x, y, (e, e), density=True)), (A, B, EDGES), (A, B, EDGES[::-1])),
    "2d edges of types": (lambda x, y, e: np.histogram2d(x, y, (e, 5)), (N, A, EDGES), (A, B, np.arange(-2, 3))),
    "2d bad": (lambda x, y, n: np.histogram2d(x, y, n), (A, B, 0), (A + np.nan, B, 4)),
    "2d bad2": (lambda x, y: np.histogram2d(x, y, 4, ((1, -1), (0, 2.5))), (A, B)),
    "2d nan2": (lambda x, y: np.histogram2d(x, y, 4, ((0, 1), (0, 1))), (np.where(A>0, np.nan, A), B),),
    "dd": (lambda x, y, z: (np.histogramdd((x, y, z), 3), np.histogramdd((x, y, z), (2, 3, 4), density=True),
                            np.histogramdd([x, y], (2, 3))), (A, B, N),),
    "dd1": (lambda x: (np.histogramdd((x,), 3),), (A,)),
    "columns": (lambda a: (np.histogramdd(a, (3, 4)), np.histogramdd(a, range=((0, 1), (-1, 2))),
                           np.histogramdd(a[:, 0], 3)), (np.stack((A, B), 1),), (np.stack((A, B, W), 1),)),
    "edges": (lambda x: (np.histogram_bin_edges(x), np.histogram_bin_edges(x, 4), np.histogram_bin_edges(x, 4, (0, 1)),
                         np.histogram_bin_edges(x, [0, 1, 3])), (A,), (A[:0],)),
    "edges of types": (lambda x: np.histogram_bin_edges(x, 4), (N,), (F,)),
    "estimators": (lambda x: (np.histogram_bin_edges(x, "auto"), np.histogram_bin_edges(x, "sturges", (0, 2)),
                              np.histogram(x, "rice"), np.histogram(x, "scott"), np.histogram(x, "doane"),
                              np.histogram(x, bins="sqrt", density=True)), (A,), (A[:0],), (A*0,), (A[:2],)),
    "estimators of "
    "types": (lambda x: (np.histogram_bin_edges(x, "auto"), np.histogram(x, "rice")), (N,), (A.reshape(5, 8),)),
    "edges bad": (lambda x: np.histogram_bin_edges(x, "foo"), (A,)),
    "edges w": (lambda x, w: np.histogram_bin_edges(x, 4, weights=w), (A, W), (A, W[:3])),
    "too many": (lambda x: (np.histogram(x, 10)), (np.array([1e16, 1e16+2]),)),
}


# Densities are divided in another order; counts are exact.
TOLERANCES = {"f": 1e-6, "d": 1e-14}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    function, *calls = CASES[name]
    for args in calls:
        check(function, *args, tolerances=TOLERANCES, absolute=0)


def test_what_is_not_compiled():
    for function, text in ((lambda a: np.histogram(a, "stone"), "estimator"),
                           (lambda a: np.histogramdd(a[:, None]), "as a tuple of arrays"),
                           (lambda a: np.histogram2d(a, a, 2.5), "bins of type")):
        with pytest.raises(TypeError, match=text):
            njit(function)(A)
