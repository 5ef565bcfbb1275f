"""The warnings that NumPy's functions give independently of np.errstate; test_errstate.py tests those of
np.errstate."""
import threading
import warnings

import numpy as np
import pytest

from pyjitc import TypingError, cuda, njit

NAN = np.nan


def warned(f, *args):
    """(classes and texts of the warnings, the files that they name)."""
    with warnings.catch_warnings(record=True) as found, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        f(*args)
    return [(w.category, str(w.message)) for w in found], {w.filename for w in found}


def stored(a):
    out = np.zeros(4)
    out[:] = a * 1j
    out[0] = a[1] * 1j
    out[np.array([0, 1])] = a[:2] * 1j
    out.fill(a[0] * 1j)
    return out


@pytest.mark.parametrize("f, count", [
    (lambda a: np.mean(a), 0), (lambda a: np.mean(a[:0]), 1), (lambda a: a.reshape(2, 2)[:0].mean(axis=0), 1),
    (lambda a: np.mean(a.reshape(2, 2)[:0], axis=1), 0), (lambda a: np.mean(a.reshape(1, 4), axis=0, where=a > 2), 1),
    (lambda a: np.average(a[:0]), 1), (lambda a: a[:0].astype(np.float16).mean(), 1), (lambda a: np.var(a[:0]), 1),
    (lambda a: a.std(ddof=3), 0), (lambda a: a.std(ddof=4), 1), (lambda a: np.std(a.reshape(1, 4), axis=0, ddof=1), 1),
    (lambda a: np.cov(a[:1]), 1), (lambda a: np.cov(a), 0), (lambda a: np.corrcoef(a[:1]), 1),
    (lambda a: np.cov(a[:0]), 2), (lambda a: np.median(a[:0]), 1), (lambda a: np.median(a), 0),
    (lambda a: np.median(np.zeros((3, 0)), axis=1), 1), (lambda a: np.median(np.zeros((3, 0)), axis=0), 0),
    (lambda a: np.nanmean(a * NAN), 1), (lambda a: np.nanmean(a[:0]), 1), (lambda a: np.nanvar(a * NAN), 1),
    (lambda a: np.nanstd(a, ddof=4), 1), (lambda a: np.nanmin(a * NAN), 1),
    (lambda a: np.nanmax(np.array([[1, NAN], [NAN, NAN]]), axis=1), 1), (lambda a: np.nanmax(a * NAN, initial=1.0), 0),
    (lambda a: np.nanmedian(a * NAN), 1), (lambda a: np.nanmedian(np.full((3, 2), NAN), axis=0), 2),
    (lambda a: np.nanmedian(np.full((700, 2), NAN), axis=0), 2), (lambda a: np.nanmedian(a[:0]), 1),
    (lambda a: np.nanmedian(np.zeros((0, 2)), axis=0), 1), (lambda a: np.nanmedian(np.zeros((0, 2)), axis=1), 0),
    (lambda a: np.nanquantile(np.full((3, 2), NAN), 0.5, axis=1), 3),
    (lambda a: np.nanpercentile(a * NAN, np.array([2.0, 50.0])), 1), (lambda a: np.polyfit(np.ones(4), a, 2), 1),
    (lambda a: np.polyfit(a, a, 1), 0), (lambda a: (a * 1j).astype(np.float32), 1),
    (lambda a: (a * 1j).astype(np.complex64), 0), (lambda a: (a * 1j).astype(np.bool_), 0), (stored, 4),
    (lambda a: float(a[0] * 1j), 1), (lambda a: int(a[0] * 1j), 1), (lambda a: np.int32(a[0] * 1j), 1),
    (lambda a: np.complex64(a[0] * 1j), 0), (lambda a: np.fromiter(a * 1j, np.float64), 4),
])
def test_same_warnings(f, count):
    a = np.arange(4.0)
    wanted, _ = warned(f, a)
    found, files = warned(njit(f), a)
    assert found == wanted and len(found) == count
    assert files == ({__file__} if count else set())  # the place at which the compiled function is called


def test_a_warning_may_be_an_exception():
    @njit
    def f(a):
        try:
            return np.mean(a)
        except RuntimeWarning:
            return -1.0

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(np.zeros(0)) == -1.0 and f(np.ones(2)) == 1.0
        with pytest.raises(RuntimeWarning, match="^Degrees of freedom <= 0 for slice$"):
            njit(lambda a: a.var(ddof=5))(np.ones(3))
    with pytest.warns(RuntimeWarning):
        assert np.isnan(f(np.zeros(0)))


def test_functions_without_the_lock_warn():
    found = []

    @njit(nogil=True)
    def f(a):
        return np.mean(a)

    def work():
        found.append(f(np.zeros(0)))

    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        for thread in [threading.Thread(target=work) for _ in range(4)]:
            thread.start()
            thread.join()
    assert len(found) == 4


def test_kernels_are_silent():
    @cuda.jit
    def kernel(a, out):
        out[0] = np.mean(a)

    out = np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel[1, 1](np.zeros(0), out)
    assert np.isnan(out[0])

    @cuda.jit
    def ignoring(out):
        with np.errstate(all="ignore"):
            out[0] = 1.0

    with pytest.raises(TypingError, match="np.errstate has no meaning in a kernel"):
        ignoring[1, 1](out)


def test_looking_for_nothing_costs_nothing():
    @njit
    def f(a):
        return np.mean(a * 2.0) + (a * 3.0).std() + np.nanmax(a * 4.0)

    f(np.ones(3))
    text = f.inspect_llvm(f.signatures[0])
    # neither truth values nor products are stored in an array: both are fused
    assert "call noalias" not in text and "@pyj_new(" not in text


def test_deprecations_are_not_repeated():
    def f(a):
        return np.fft.fftn(a, (2, 2))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = njit(f)(np.ones((2, 2)))
    with pytest.warns(DeprecationWarning):
        np.testing.assert_allclose(found, f(np.ones((2, 2))))
