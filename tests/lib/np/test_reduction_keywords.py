"""mean= and correction= of variances, where= with initial= of nanmin, axes and out= of medians and quantiles, against
NumPy."""
import numpy as np
import pytest
from tests.oracle import agree, agree_on

A, A3, NAN = np.arange(6.0).reshape(2, 3), np.arange(24.0).reshape(2, 3, 4), np.nan
HOLES = np.array([[1.0, NAN, 3.0], [NAN, NAN, 0.5]])
Z, ZNAN = np.array([[1 + 2j, 3], [2, 1 - 1j]]), np.array([[1 + 1j, NAN], [2j, complex(0, NAN)]])
NONE, ZNONE = np.zeros((0, 4)), np.zeros((0, 4), np.complex64)

CASES = {
    "variance": (lambda a: (np.var(a, mean=0.5), np.std(a, axis=1, mean=[[1.0], [2.0]]), np.var(a, correction=1),
                            np.std(a, 0, correction=1), a.var(mean=0.5), np.nanvar(a, correction=1, axis=0),
                            np.nanstd(a, mean=0.5, axis=0)), (A,), (A.astype(np.float32),), (A.astype(np.int8),)),
    "complex variance": (lambda a: (np.var(a, correction=1), np.nanvar(a, 0, correction=1)), (Z,)),
    "variance in integers": (lambda a: (np.var(a, dtype=np.int64), np.var(a, 0, np.int64), np.std(a, dtype=np.int64)),
                             (A,), (A.astype(np.int32),)),
    "both corrections": (lambda a: np.var(a, ddof=1, correction=1), (A,)),
    "nan in integers": (lambda a: np.nanvar(a, dtype=np.int64), (A,)),
    "nanmin": (lambda a, x: (np.nanmin(a, where=a > 1, initial=x), np.nanmax(a, 0, where=a > 1, initial=x),
                             np.nanmin(a, axis=1, initial=x), np.nanmax(a, initial=1)),
               (HOLES, 2.0), (HOLES, NAN), (NONE, 1.5), (HOLES * NAN, NAN), (HOLES * NAN, 3.0)),
    "nanmax of nothing": (lambda a: (np.nanmax(a, axis=1), np.nanmax(a, axis=0)), (NONE,), (NONE.astype(np.int8),)),
    "nanmin of nothing": (lambda a: np.nanmin(a), (NONE,), (HOLES,)),
    "nanmin of no rows": (lambda a: np.nanmin(a, (0, 1), keepdims=True), (NONE,), (HOLES,)),
    "places": (lambda a, o: (np.mean(a, 0, out=o), np.nanmax(a, 0, o), np.ptp(a, 0, o), np.std(a, 0, out=o)),
               (A, np.zeros(3))),
    "a place of another rank": (lambda a, o: np.nanmax(a, 0, o), (A, np.zeros((1, 3)))),
    "median": (lambda a: (np.median(a, (0, 2)), np.median(a, (-1, 0), keepdims=True), np.median(a, ()),
                          np.nanmedian(a, (0, 2)), np.nanmedian(a, (0, 1, 2), keepdims=True),
                          np.quantile(a, 0.25, (1, 2)), np.percentile(a, [25, 60], (0, 2), keepdims=True),
                          np.percentile(a, [25, 60], keepdims=True), np.nanquantile(a, [0.1, 0.9], (0, 1))), (A3,)),
    "median out": (lambda a, o,
                   x: (np.median(a, (0, 2), o), np.quantile(a, 0.3, (0, 2), o), np.nanmedian(a, (0, 2), out=o),
                       np.median(a, out=x), np.nanpercentile(a, 60, out=x)), (A3, np.zeros(3), np.zeros(())),
                   (A3, np.zeros(3, np.float32), np.zeros(()))),
    "repeated axis": (lambda a: np.median(a, (0, 0)), (A3,)),
    "wrong axis": (lambda a: np.quantile(a, 0.5, (0, 3)), (A3,)),
    "complex medians": (lambda a: (np.median(a), np.nanmedian(a), np.median(a, 0), np.nanmedian(a, 0),
                                   np.nanmedian(a, 1)), (Z,), (ZNAN,), (ZNAN * NAN,)),
    "medians of nothing": (lambda a: (np.median(a), np.nanmedian(a), np.median(a, 0), np.nanmedian(a, 0),
                                      np.nanmedian(a, 1)), (ZNONE,), (NONE,)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])


SHAPES = [((1,), (4,)), ((4,), (1,)), ((1, 3), (2, 3)), ((2, 3), (2, 1)), ((2, 3), (1, 3)), ((3,), (2, 3)), ((3,), ()),
          ((0,), (1,)), ((1,), (0,)), ((2, 3), (4,)), ((2, 3), (1, 1, 3)), ((), (3,)), ((2, 1), (2, 3)),
          ((2, 0), (2, 1))]


@pytest.mark.parametrize("function", [
    lambda a, m: np.sum(a, where=m), lambda a, m: np.sum(a, axis=-1, where=m), lambda a, m: np.mean(a, where=m),
    lambda a, m: np.var(a, where=m, axis=0), lambda a, m: np.max(a, where=m, initial=-1.0),
    lambda a, m: np.any(a, 0, where=m, keepdims=True), lambda a, m: np.multiply.reduce(a, where=m),
])
def test_a_mask_is_broadcast_to_the_operand_and_never_the_operand_to_it(function):
    for shape, mask in SHAPES:
        agree(function, np.full(shape, 2.0), np.ones(mask, np.bool_))


@pytest.mark.parametrize("function", [
    lambda a: a.min(axis=1), lambda a: a.max(axis=0), lambda a: np.minimum.reduce(a, axis=1), lambda a: a.max((0, 1)),
    lambda a: np.fmax.reduce(a, axis=0), lambda a: np.nanmin(a, axis=1), lambda a: np.ptp(a, axis=0),
])
def test_extremes_along_an_empty_axis(function):
    for shape in ((0, 0), (0, 3), (3, 0)):
        for dtype in (np.float64, np.int8, "m8[s]"):
            agree(function, np.zeros(shape, dtype))
