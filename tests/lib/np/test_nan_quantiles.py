"""Medians and quantiles that skip nan, against NumPy."""
import numpy as np
import pytest
from tests.lib.np.closely import check

R = np.random.default_rng(4)
A1, A2, A3 = R.normal(size=9), R.normal(size=(3, 5)), R.normal(size=(2, 3, 4))
S, B, F = np.array([3, 1, 2, -3, 1], np.int8), A1 > 0, A1.astype(np.float32)
NAN = np.array([[1.0, np.nan, 3, 4], [np.nan, 2, 0.5, np.nan], [np.nan] * 4])
N3 = np.where(A3 > 0.8, np.nan, A3)
Q, Q9 = np.array([0.1, 0.5, 0.9]), np.linspace(0, 1, 9)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

CASES = {
    "nanmedian": (lambda a: (np.nanmedian(a), np.nanmedian(a, axis=0), np.nanmedian(a, -1),
                             np.nanmedian(a, keepdims=True), np.nanmedian(a, axis=0, keepdims=True)), (NAN,), (A1,),
                  (N3,), (S,), (B,), (NAN.astype(np.float16),), (NAN.astype(np.float32)[::-1],), (A1[:0],), (NAN[2],),
                  (NAN*1j,)),
    "nanmedian l": (lambda: np.nanmedian([1, np.nan, 2.0, 7]), ()),
    "nanmedian e": (lambda a: np.nanmedian(a, axis=4), (A2,)),
    "nanpercentile": (lambda a,
                      q: (np.nanpercentile(a, q), np.nanpercentile(a, q, axis=0),
                          np.nanpercentile(a, q, -1, keepdims=True)), (NAN, 50), (A1, 30.5), (N3, Q*100), (N3, Q9*100),
                      (S, 20), (F, 50), (NAN, 120), (A1[:0], 50), (NAN[2], 3.0)),
    "nanquantile": (lambda a,
                    q: (np.nanquantile(a, q), np.nanquantile(a, q, axis=0), np.nanquantile(a, q, -1, keepdims=True)),
                    (NAN, 0.5), (A1, .305), (N3, Q), (N3, Q9), (S, 0.2), (F, 0.5), (NAN, 1.2), (A1[:0], 0.5)),
    "methods": (lambda a: (np.nanquantile(a, 0.3, method="lower"), np.nanquantile(a, 0.3, method="hazen", axis=1),
                           np.nanpercentile(a, 30, method="nearest"), np.nanquantile(a, 0.3, method="midpoint")),
                (NAN[:2],), (A2,)),
    "bad": (lambda a: np.nanquantile(a, 0.3, method="x"), (NAN,)),
}


TOLERANCES: dict = {}  # all is exact


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    function, *calls = CASES[name]
    for args in calls:
        check(function, *args, tolerances=TOLERANCES)
