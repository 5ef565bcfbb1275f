"""Text options of NumPy's functions that are chosen at run time, compared with the interpreter."""
import numpy as np
import pytest

from pyjitc import njit
from pyjitc.lib import options
from tests.oracle import agree

A, SORTED = np.array([3.0, 1.0, 2.0, 1.0]), np.array([0.0, 1.0, 1.0, 4.0])
SQUARE = np.array([[2.0, 1.0], [1.0, 3.0]])
PLACES = np.array([0, 2, 1])
BITS = np.array([1, 0, 1, 1, 0], np.uint8)
CALLS = {
    "searchsorted": (lambda a, t: np.searchsorted(a, [1.0, 1.5], side=t), SORTED),
    "sort": (lambda a, t: np.sort(a, kind=t), A),
    "argsort": (lambda a, t: np.argsort(a, -1, t), np.array([3.0, 1.0, 2.0])),
    "reshape": (lambda a, t: np.reshape(a, (4, 1), order=t), SQUARE),
    "pad": (lambda a, t: np.pad(a, (1, 2), t), A),
    "quantile": (lambda a, t: np.quantile(a, 0.4, method=t), A),
    "percentile": (lambda a, t: np.percentile(a, 40, method=t), A),
    "nanquantile": (lambda a, t: np.nanquantile(a, 0.4, method=t), A),
    "nanpercentile": (lambda a, t: np.nanpercentile(a, 40, method=t), A),
    "take": (lambda a, t: np.take(A, a, mode=t), PLACES),
    "choose": (lambda a, t: np.choose(a, (A[:3], A[1:], SORTED[:3]), mode=t), PLACES),
    "ravel_multi_index": (lambda a, t: np.ravel_multi_index((a, a), (3, 3), mode=t), PLACES),
    "convolve": (lambda a, t: np.convolve(a, [1.0, 2.0], t), A),
    "correlate": (lambda a, t: np.correlate(a, [1.0, 2.0], mode=t), A),
    "meshgrid": (lambda a, t: np.meshgrid(a, a[:2], indexing=t), A),
    "trim_zeros": (lambda a, t: np.trim_zeros(a, t), np.array([0.0, 1.0, 0.0])),
    "packbits": (lambda a, t: np.packbits(a, bitorder=t), BITS),
    "unpackbits": (lambda a, t: np.unpackbits(a, bitorder=t), BITS),
    "linalg.eigh": (lambda a, t: np.linalg.eigh(a, UPLO=t)[0], SQUARE),
    "linalg.eigvalsh": (lambda a, t: np.linalg.eigvalsh(a, t), SQUARE),
}


def test_each_function_is_called_here():
    assert set(CALLS) == set(options._OPTIONS)


@pytest.mark.parametrize("name", CALLS)
def test_a_text_that_is_chosen_at_run_time(name):
    function, a = CALLS[name]
    (texts,) = options._OPTIONS[name].values()
    for text in (*texts, "no such option", ""):
        agree(function, a, text)


def in_methods(a, side, kind):
    b = a.copy()
    b.sort(kind=kind)
    return b, b.searchsorted(1.0, side), a.take(0, mode="clip")


def test_methods():
    for side, kind in (("left", "stable"), ("right", "quicksort"), ("top", "stable"), ("left", "?")):
        agree(in_methods, A, side, kind)


def test_one_function_for_all_texts():
    @njit
    def total(modes):
        return [np.pad(np.arange(3.0), 1, mode=mode).sum() for mode in modes]

    assert total(["edge", "reflect", "wrap"]) == [5.0, 5.0, 5.0]
    assert len(total.signatures) == 1
