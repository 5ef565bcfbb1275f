"""sliding_window_view: values, types, errors and shared memory are the same as NumPy's."""
import numpy as np
import pytest

from pyjitc import njit
from tests.lib.np.test_corner_cases import function_of
from tests.oracle import difference, outcome, plain

LINE, PLANE = np.arange(10.0), np.arange(24, dtype=np.int32).reshape(4, 6)
LAID = (PLANE, PLANE.T, PLANE[::2, ::-1], PLANE.T[::-2])
S = "np.lib.stride_tricks.as_strided"
V = "np.lib.stride_tricks.sliding_window_view"

CALLS = {
    f"{V}(x, y)": [(LINE, 3), (LINE, (3,)), (LINE, 10), (LINE, 0), (LINE, 11), (LINE, -1), (LINE[::-3], 2),
                   (LINE[:0], 1), (LINE, np.int8(4)), (LINE > 3, 2), *((a, (2, 3)) for a in LAID), (PLANE, 2),
                   (PLANE, (2, 3, 4)), (PLANE, (np.int64(4), 1)), (np.array(3), ()), (LINE * 1j, 2)],
    f"{V}(x, y, axis=0)": [(a, 2) for a in LAID] + [(PLANE, (2, 2)), (PLANE, 5), (LINE, 2)],
    f"{V}(x, y, axis=-1)": [(a, 2) for a in LAID], f"{V}(x, y, 2)": [(PLANE, 2)], f"{V}(x, [2, y])": [(PLANE, 3)],
    f"{V}(x, y, (0, 0))": [(PLANE, (2, 2)), (PLANE, (3, 3))], f"{V}(x, y, (1, 0))": [(a, (1, 3)) for a in LAID],
    f"{V}([x, 2, 3.5], y)": [(1, 2)], f"{V}(x, y).flags.writeable": [(LINE, 3)],
    f"w = {V}(x, y); w.mean(axis=-1), w.max(axis=1), np.median(w, axis=1), w[::2, 1], w.T, "
    f"w.copy()": [(LINE, 4), (LINE[::2], 2)],
    f"w = {V}(x, y); x[4] = 99; w.sum(axis=1), w + w[::-1]": [(LINE, 3)],
    f"{V}(x, y).sum(axis=(2, 3))": [(a, (2, 2)) for a in LAID],
    f"w = {V}(x, y, writeable=True); w[1, 2] = 7; w, x": [(LINE, 3)], f"w = {V}(x, y); w[0, 0] = 1; w": [(LINE, 3)],
    f"w = {V}(x, y, writeable=True); w.flags.writeable": [(LINE, 3)],
    f"{S}(x, (3, y), (8, 8)), {S}(x, (y,)), {S}(x, strides=(16,), shape=(y,))": [(LINE, 4), (LINE, -1)],
    f"{S}(x, (y, 2), x.strides), {S}(x, (2, y), writeable=False)": [(a, 2) for a in (*LAID, LINE)],
    f"w = {S}(x[3:], (y, 3), (8, -8)); w[0, 1] = 7; w.sum(axis=1), w.T, x": [(LINE, 2)],
}


@pytest.mark.parametrize("text", CALLS)
def test_same_as_numpy(text):
    compiled = njit(function_of(text))
    for args in CALLS[text]:
        expected, actual = outcome(plain(compiled), args), outcome(compiled, args)
        assert not difference(expected, actual), (text, args, expected, actual)
        if expected[0] == "returns" and isinstance(expected[1], np.ndarray):
            shared = np.shares_memory(expected[1], expected[2][0])
            assert shared == np.shares_memory(actual[1], actual[2][0])
            assert not shared or expected[1].strides == actual[1].strides or expected[1].size < 2


@pytest.mark.parametrize("text, window, says",
                         [(f"{V}(x, y)", 2.5, "'float' object cannot be interpreted as an integer"),
                                                (f"{V}(x, y)", np.array([2]), "pass a tuple"),
                          (f"{V}(x, 2, y)", 0.0, "'float' object"),
                                                (f"{V}(x, 2, 0.0)", 0, "'float' object"),
                          (f"{V}(x, 2, y)", 0, "must be known at compile time")])
def test_what_is_no_window(text, window, says):
    with pytest.raises(TypeError) as error:
        njit(function_of(text))(LINE, window)
    assert says in str(error.value)


def test_a_view_outlives_what_it_is_of():
    @njit
    def windows(n):
        return np.lib.stride_tricks.sliding_window_view(np.arange(n) * 2, 3)

    found = windows(6)
    del windows
    assert found.tolist() == [[0, 2, 4], [2, 4, 6], [4, 6, 8], [6, 8, 10]]
