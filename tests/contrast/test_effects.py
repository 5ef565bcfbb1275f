"""Effects: printing, globals read at each call, writing into arrays, indices out of range."""
import traceback

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree, outcome, plain

# print


def printing(x):
    print("Received:", x)
    print(x, x * 2, sep=", ", end="!\n")
    return x


@pytest.mark.parametrize("x", [1, -1.5, True, np.float32(0.1), np.int8(-3), 1e300, 1 + 2j, float("nan")])
def test_print_on_every_call(x):
    compiled = agree(printing, x)
    assert outcome(compiled, (x,))[3] == outcome(plain(printing), (x,))[3] != ""


def test_print_goes_through_sys_stdout(capsys):
    compiled = njit(printing)
    compiled(7)
    assert capsys.readouterr().out == "Received: 7\n7, 14!\n"
    compiled(8)
    assert capsys.readouterr().out == "Received: 8\n8, 16!\n"


# globals

FACTOR = 2.0
CONFIG = {"scale": 3.0, "shift": 1}
TABLE = np.array([1.0, 2.0, 3.0])


def reads_float(x):
    return x * FACTOR


def reads_config(x):
    return x * CONFIG["scale"] + CONFIG["shift"]


def reads_array(i):
    return TABLE[i]


def helper(x):
    return x + 1


def calls_helper(x):
    return helper(x)


def test_global_float_is_seen_when_changed(monkeypatch):
    compiled = njit(reads_float)
    assert compiled(5.0) == 10.0
    for value in (3.0, 4, np.float32(0.5), -0.0):
        monkeypatch.setitem(globals(), "FACTOR", value)
        agree(reads_float, 5.0, compiled=compiled)
    monkeypatch.undo()
    assert compiled(5.0) == 10.0


def test_global_dict_as_config_is_seen_when_changed(monkeypatch):
    compiled = njit(reads_config)
    assert compiled(2.0) == 7.0
    monkeypatch.setitem(CONFIG, "scale", 10.0)
    assert compiled(2.0) == 21.0
    monkeypatch.setitem(CONFIG, "shift", 2.5)
    assert compiled(2.0) == 22.5
    monkeypatch.setitem(globals(), "CONFIG", {"scale": 1.0, "shift": 0})
    agree(reads_config, 2.0, compiled=compiled)


def test_global_array_changed_in_place_and_rebound(monkeypatch):
    monkeypatch.setitem(globals(), "TABLE", np.array([1.0, 2.0, 3.0]))
    compiled = njit(reads_array)
    assert compiled(1) == 2.0
    TABLE[1] = 20.0
    assert compiled(1) == 20.0  # mutated in place
    globals()["TABLE"] = np.array([5.0, 6.0])
    assert compiled(1) == 6.0  # rebound
    agree(reads_array, 2, compiled=compiled)  # out of the new array's range
    globals()["TABLE"] = np.array([7, 8], np.int32)
    agree(reads_array, 1, compiled=compiled)  # of another type


def test_global_function_is_seen_when_changed(monkeypatch):
    compiled = njit(calls_helper)
    assert compiled(1) == 2
    monkeypatch.setitem(globals(), "helper", lambda x: x * 100)
    assert compiled(1) == 100


def test_closure_cell_is_seen_when_changed():
    factor = 2

    def scaled(x):
        return x * factor

    compiled = njit(scaled)
    assert compiled(10) == 20
    factor = 3
    assert compiled(10) == 30
    factor = 0.5
    agree(scaled, 10, compiled=compiled)


# writing in place

def set_item(x):
    x[0] = 5
    return x


def add_to_items(x, y):
    for i in range(len(x)):
        x[i] += y[i]
    y[0] = 100


def through_view(x):
    middle = x[1:-1]
    middle[0] = -1
    every = x[::2]
    every[1] = -2
    backwards = x[::-1]
    backwards[0] = -3
    return middle, every, backwards


def shift(x, y):
    for i in range(len(x) - 1):
        y[i + 1] = x[i]


def slices(x):
    x[1:3] = 7
    x[0] = x[-1]


def rows(m):
    row = m[1]
    row[2] = 50
    column = m[:, 0]
    column[1] = 60
    transposed = m.T
    transposed[0, 2] = 70
    return row[2] + m[1, 0]


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32, np.uint8, np.bool_])
def test_set_item(dtype):
    agree(set_item, np.zeros(4, dtype))


def test_result_is_the_argument_itself():
    x = np.zeros(3)
    assert njit(set_item)(x) is x


def test_add_to_items():
    agree(add_to_items, np.arange(5.0), np.ones(5))


def test_aliased_arguments():
    for function in plain(add_to_items), njit(add_to_items):
        x = np.arange(5.0)
        function(x, x)
        assert x.tolist() == [100, 2, 4, 6, 8]


def test_overlapping_arguments():
    compiled = njit(shift)
    for make in (lambda x: (x, x)), (lambda x: (x[:-1], x[1:])), (lambda x: (x[::-1], x)):
        x, y = np.arange(6.0), np.arange(6.0)
        shift(*make(x))
        compiled(*make(y))
        assert x.tolist() == y.tolist()


def test_views_alias():
    compiled = njit(through_view)
    x, y = np.arange(6), np.arange(6)
    expected, actual = through_view(x), compiled(y)
    assert x.tolist() == y.tolist()
    for one, other in zip(expected, actual):
        assert one.tolist() == other.tolist() and one.strides == other.strides
        other[0] = 99  # a returned view is a view of the argument
        one[0] = 99
        assert np.shares_memory(other, y)
    assert x.tolist() == y.tolist()


def test_slice_assignment():
    agree(slices, np.arange(5.0))


def test_rows_and_columns():
    agree(rows, np.arange(12).reshape(3, 4))
    agree(rows, np.asfortranarray(np.arange(12).reshape(3, 4)))
    agree(rows, np.arange(48).reshape(6, 8)[::2, ::2])


# out of bounds

def read(x, i):
    return x[i]


def write(x, i):
    x[i] = 1
    return x[0]


def read_2d(x, i, j):
    return x[i, j]


@pytest.mark.parametrize("i", [10000, 10, -11, -10000, 2 ** 62, -2 ** 62])
@pytest.mark.parametrize("function", [read, write])
def test_out_of_bounds(function, i):
    x = np.arange(10)
    compiled = agree(function, x, i)
    with pytest.raises(IndexError) as caught:
        compiled(x, i)
    assert str(i) in str(caught.value) and "size 10" in str(caught.value)
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    first = function.__code__.co_firstlineno
    assert (frame.filename, frame.name, frame.lineno) == (__file__, function.__name__, first + 1)
    assert x.tolist() == list(range(10))


@pytest.mark.parametrize("i, j", [(3, 0), (0, 4), (-4, 0), (0, -5)])
def test_out_of_bounds_names_the_axis(i, j):
    x = np.zeros((3, 4))
    agree(read_2d, x, i, j)
    with pytest.raises(IndexError, match="axis " + ("0 with size 3" if j == 0 else "1 with size 4")):
        njit(read_2d)(x, i, j)


def stencil(out, a):
    for i in range(1, len(a) - 1):
        out[i] = a[i - 1] + a[i] + a[i + 1]


def test_partial_writes_before_the_error_are_those_of_the_interpreter():
    agree(stencil, np.zeros(10), np.ones(20))


def test_zero_size():
    agree(read, np.zeros(0), 0)
    agree(read_2d, np.zeros((0, 3)), 0, 0)
