"""arange, linspace, logspace, geomspace and the _like functions against NumPy: lengths, last bits, dtypes, errors."""
import numpy as np
import pytest
from tests.oracle import agree_on

from pyjitc import TypingError, njit

V, W, A = np.arange(3.0), np.array([4.0, 8.0, 3.0]), np.arange(6).reshape(2, 3)

CASES = {
    "arange": (lambda a, b, c: (np.arange(a, b, c), np.arange(a, b), np.arange(b)), (0, 10, 3), (5, -5, -2), (0, 0, 1),
               (0.1, 1.0, 0.1), (0.0, 1.0, 1 / 3), (1, 2.5, 0.25), (np.float32(0), np.float32(3), np.float32(0.3)),
               (np.int8(1), np.int8(9), np.int8(2)), (0.0, 5.0, 1e300), (True, 3, 1)),
    "arange short": (lambda n: (np.arange(n, dtype=np.int8), np.arange(0, n, 0.75, np.float32),
                                np.arange(0, n, 0.3, dtype=np.float16), np.arange(0, n, 0.5, dtype=np.int32),
                                np.arange(n, dtype=np.complex64), np.arange(0, n, 100, dtype=np.uint8)), (5,), (101,),
                     (0,)),
    "arange keywords": (lambda n: (np.arange(stop=n), np.arange(1, stop=n), np.arange(n, step=2),
                                   np.arange(start=1, stop=n, step=2, dtype=np.float64),
                                   np.arange(n, device="cpu", like=None)), (6,)),
    "arange bool": (lambda n: np.arange(n, dtype=np.bool_), (0,), (2,), (3,)),
    "arange wrong": (lambda a, b, c: np.arange(a, b, c), (0, 1, 0), (0.0, 1.0, 0.0), (0.0, np.nan, 1.0),
                     (0.0, np.inf, 1.0), (0.0, 1e19, 1.0)),
    "arange beyond": (lambda a, b: np.arange(a, b, dtype=np.uint8), (300, 301), (-1, 3)),
    "linspace": (lambda a, b, n: (np.linspace(a, b, n), np.linspace(a, b, n, endpoint=False),
                                  np.linspace(a, b, num=n, dtype=np.int64), np.linspace(a, b, n, dtype=np.float32)),
                 (0, 1, 5), (0.1, 0.9, 7), (3, 3, 4), (np.float32(0.1), 1.0, 6), (np.float16(0), np.float16(1), 5),
                 (1, 2, 1), (1, 2, 0), (-1.5, 7.5, 4)),
    "linspace complex": (lambda a, b: np.linspace(a, b, 5), (0j, 1 + 2j), (1, 2j)),
    "linspace step": (lambda a, b, n: np.linspace(a, b, n, retstep=True), (0, 1, 5), (V, W, 4),
                      (np.float32(0), np.float32(1), 3)),
    "linspace arrays": (lambda a, b: (np.linspace(a, b, 4), np.linspace(a, b, 3, axis=-1),
                                      np.linspace(a, b, 3, endpoint=False), np.linspace(a, b, 5, dtype=np.int32),
                                      np.linspace(a, b, 1), np.linspace(a, b, 0)), (V, W), (0, W), (V, 1.5), (A, V),
                        (V.astype(np.float32), W.astype(np.float32)), (V, V)),
    "linspace lists": (lambda x: (np.linspace([0, x], [1, 2], 3), np.linspace(0, (x, 1.0, 2), 3)), (5,)),
    "linspace wrong": (lambda n: np.linspace(0, 1, n), (-1,), (2.0,)),
    "geomspace zero": (lambda a: np.geomspace(a, 8), (0,), (V,)),
    "like": (lambda a: (np.zeros_like(a), np.ones_like(a, dtype=np.float32, order="C"), np.full_like(a, 2, order="F"),
                        np.full_like(a, a), np.zeros_like(a, shape=(2, 1)),
                        np.full_like(a, 1.5, np.float64, shape=4, subok=False), np.ones_like(a, device="cpu"),
                        np.empty_like(a, shape=(2, 5), order="F").strides, np.empty_like(a, order="K").strides,
                        np.empty_like(a, np.int8, "F").strides), (A,), (np.asfortranarray(A),), (V,), (np.array(2.5),)),
    "like numbers": (lambda x: (np.zeros_like(x), np.ones_like([x, 1]), np.full_like((x, 2), 1.5),
                                np.full_like(x, 3, dtype=np.int16), np.empty_like([x]).shape), (1,), (2.5,)),
    "full": (lambda a, x: (np.full((2, 3), a), np.full(3, x, order="F"), np.full((2, 2), [x, 1]),
                           np.full(2, x, np.float32), np.full((2, 3), a, dtype=np.int8)), (V, 1), (A, 2.5)),
    "full wrong": (lambda a: np.full((2, 4), a), (V,)),
    "sizes": (lambda a: (np.size(a), np.shape(a), np.ndim(a)), (A,), (3,), (2.5,), (np.float32(1),)),
    "sizes along": (lambda a: (np.size(a, 1), np.size(a, (0, -1)), np.size([1, 2]), np.shape(((1, 2), (3, 4))),
                               np.ndim([1.0]), np.size(a, ())), (A,)),
    "sizes wrong": (lambda a: np.size(a, 5), (A,)),
    "sizes twice": (lambda a: np.size(a, (0, 0)), (A,)),
}

if np.lib.NumpyVersion(np.__version__) < "2.4.0":  # tuples of axes
    del CASES["sizes along"], CASES["sizes wrong"], CASES["sizes twice"]
POWERS = {
    "logspace": (lambda a, b: (np.logspace(a, b, 4), np.logspace(a, b, 3, base=2.0),
                               np.logspace(a, b, 3, False, dtype=np.float32)), (0, 3), (V, W / 2)),
    "logspace bases": (lambda a: np.logspace(0, 2, 3, base=a), (W,), (A + 1,)),
    "geomspace": (lambda a, b: (np.geomspace(a, b, 4), np.geomspace(a, b, 1), np.geomspace(a, b, 3, endpoint=False),
                                np.geomspace(a, b, num=4, dtype=np.float32)),
                  (1, 1000), (-1.0, -8.0), (np.float32(1), 8)),
    "geomspace arrays": (lambda a: (np.geomspace(a, 64.0, 3), np.geomspace(1, a, 4, axis=-1)), (W,), (A + 1,)),
}


@pytest.mark.parametrize("name", POWERS)
def test_powers(name):
    function, *calls = POWERS[name]
    compiled = njit(function)
    for args in calls:
        for expected, found in zip(function(*args), compiled(*args), strict=True):
            assert expected.dtype == found.dtype and expected.shape == found.shape
            # the last bits of np.power may differ from NumPy's (docs/semantics.md), which also differ between machines
            np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(expected.dtype).eps)


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])


def test_what_is_refused():
    for call, text in ((lambda n: np.arange(n, like=np.zeros(1)), "like="),
                       (lambda n: np.zeros(n, device="gpu"), "Device not understood"),
                       (lambda n: np.full(n, None), "fill value")):
        with pytest.raises(TypingError, match=text):
            njit(call)(3)
