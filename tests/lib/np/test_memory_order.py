"""The memory order of results is NumPy's."""
import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import same

ROWS = np.array([[5.0, 1.0, 3.0], [2.0, 9.0, 0.0]])
DEEP = np.arange(24.0)[::-1].reshape(2, 3, 4) % 7
ARRAYS = {"C": ROWS, "F": np.asfortranarray(ROWS), "F, 3 axes": np.asfortranarray(DEEP), "C, 3 axes": DEEP,
          "bool": np.asfortranarray(ROWS > 2)}
FUNCTIONS = {
    "sort": lambda a: np.sort(a), "sort along 0": lambda a: np.sort(a, axis=0),
    "roll": lambda a: np.roll(a, 1, axis=0), "roll along 1": lambda a: np.roll(a, -1, axis=1),
    "roll along both": lambda a: np.roll(a, (1, 2), axis=(0, 1)), "partition": lambda a: np.partition(a, 1),
    "partition along 0": lambda a: np.partition(a, 1, axis=0), "argwhere": lambda a: np.argwhere(a),
    "cumsum": lambda a: a.cumsum(axis=0), "cumprod": lambda a: np.cumprod(a, axis=1),
    "cumsum of another dtype": lambda a: np.cumsum(a, axis=0, dtype=np.float32),
    "concatenate": lambda a: np.concatenate((a, a), axis=1), "vstack": lambda a: np.vstack((a, a)),
    "take": lambda a: np.take(a, np.array([1, 0, 1]), axis=0),
    "take along 1": lambda a: a.take(np.array([2, 0]), axis=1),
    "take of two axes": lambda a: np.take(a, np.array([[1, 0], [-1, 1]]), axis=-1),
    "diff": lambda a: np.diff(a), "diff along 0": lambda a: np.diff(a, axis=0),
    "second diff": lambda a: np.diff(a, n=2),
    "delete": lambda a: np.delete(a, 1, axis=1),
    "insert": lambda a: np.insert(a, 1, 1, axis=1), "insert several": lambda a: np.insert(a, [1, 2], 0, axis=1),
    "pad": lambda a: np.pad(a, 1), "pad as the edge": lambda a: np.pad(a, 2, "edge"),
    "an expression": lambda a: a * 2 + a, "zeros_like": lambda a: np.zeros_like(a), "copy": lambda a: np.copy(a),
}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_order(name, kind):
    function, a = FUNCTIONS[name], ARRAYS[kind]
    found, expected = njit(function)(a), function(a)
    same(found, expected)
    assert (found.flags.c_contiguous, found.flags.f_contiguous) == (
        expected.flags.c_contiguous, expected.flags.f_contiguous)
