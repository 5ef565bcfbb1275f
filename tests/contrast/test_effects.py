"""Effects: printing, globals read at each call, writing into arrays, indices out of range."""
import re
import traceback

import numpy as np
import pytest

from pyjitc import jit, njit
from tests.oracle import agree, outcome, plain

from .rows import row, traced

# print


def printing(x):
    print("Received:", x)
    print(x, x * 2, sep=", ", end="!\n")
    return x


@row("print")
@pytest.mark.parametrize("x", [1, -1.5, True, np.float32(0.1), np.int8(-3), 1e300, 1 + 2j, float("nan")])
def test_print_on_every_call(x):
    compiled = agree(printing, x)
    assert outcome(compiled, (x,))[3] == outcome(plain(printing), (x,))[3] != ""


@row("print")
def test_print_goes_through_sys_stdout(capsys):
    compiled = njit(printing)
    compiled(7)
    assert capsys.readouterr().out == "Received: 7\n7, 14!\n"
    compiled(8)
    assert capsys.readouterr().out == "Received: 8\n8, 16!\n"


@row("print")
def test_tracing_prints_a_tracer_once(jax, capsys):
    compiled = traced(jax, printing)
    compiled(7.0)
    # the second in JAX 0.6, the newest for Python 3.10
    assert re.match(r"Received: (JitTracer|Traced<)", capsys.readouterr().out)
    compiled(8.0)
    assert capsys.readouterr().out == ""


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


@row("global-read")
def test_global_float_is_seen_when_changed(monkeypatch):
    compiled = njit(reads_float)
    assert compiled(5.0) == 10.0
    for value in (3.0, 4, np.float32(0.5), -0.0):
        monkeypatch.setitem(globals(), "FACTOR", value)
        agree(reads_float, 5.0, compiled=compiled)
    monkeypatch.undo()
    assert compiled(5.0) == 10.0


@row("global-read")
def test_global_dict_as_config_is_seen_when_changed(monkeypatch):
    compiled = njit(reads_config)
    assert compiled(2.0) == 7.0
    monkeypatch.setitem(CONFIG, "scale", 10.0)
    assert compiled(2.0) == 21.0
    monkeypatch.setitem(CONFIG, "shift", 2.5)
    assert compiled(2.0) == 22.5
    monkeypatch.setitem(globals(), "CONFIG", {"scale": 1.0, "shift": 0})
    agree(reads_config, 2.0, compiled=compiled)


@row("global-array")
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


@row("global-read")
def test_global_function_is_seen_when_changed(monkeypatch):
    compiled = njit(calls_helper)
    assert compiled(1) == 2
    monkeypatch.setitem(globals(), "helper", lambda x: x * 100)
    assert compiled(1) == 100


@row("global-read")
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


@row("global-read", "global-array")
def test_tracing_reads_globals_once(jax, monkeypatch):
    stale = jax.jit(reads_float)
    assert stale(5.0) == 10.0
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert stale(5.0) == 10.0
    stale = jax.jit(reads_config)
    assert stale(2.0) == 7.0
    monkeypatch.setitem(CONFIG, "scale", 10.0)
    assert stale(2.0) == 7.0
    monkeypatch.setitem(globals(), "TABLE", np.array([1.0, 2.0, 3.0]))
    stale = jax.jit(lambda i: jax.numpy.asarray(TABLE)[i])
    assert stale(1) == 2.0
    TABLE[1] = 20.0
    assert stale(1) == 2.0  # mutated in place
    globals()["TABLE"] = np.array([5.0, 6.0, 7.0])
    assert stale(1) == 2.0  # rebound


SEEN = []


def remembers(x):
    SEEN.append(x)
    return x


@row("global-append")
@pytest.mark.parametrize("decorator", [njit, jit])
def test_a_global_list_grows_by_the_real_values(monkeypatch, decorator):
    monkeypatch.setitem(globals(), "SEEN", [])
    compiled = decorator(remembers)
    compiled(1.5)
    compiled(2.5)
    assert SEEN == [1.5, 2.5]


@row("global-append")
def test_tracing_leaks_a_tracer(jax, monkeypatch):
    monkeypatch.setitem(globals(), "SEEN", [])
    compiled = jax.jit(remembers)
    compiled(1.5)
    compiled(2.5)
    leaked, = SEEN  # once, and not the value
    with pytest.raises(jax.errors.UnexpectedTracerError):
        leaked + 1


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


@row("in-place")
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32, np.uint8, np.bool_])
def test_set_item(dtype):
    agree(set_item, np.zeros(4, dtype))


@row("in-place")
def test_result_is_the_argument_itself():
    x = np.zeros(3)
    assert njit(set_item)(x) is x


def test_add_to_items():
    agree(add_to_items, np.arange(5.0), np.ones(5))


@row("in-place")
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


@row("in-place")
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


@row("in-place")
def test_slice_assignment():
    agree(slices, np.arange(5.0))


def test_rows_and_columns():
    agree(rows, np.arange(12).reshape(3, 4))
    agree(rows, np.asfortranarray(np.arange(12).reshape(3, 4)))
    agree(rows, np.arange(48).reshape(6, 8)[::2, ::2])


def replace(x):
    x[0] = 5
    x += 1
    return x


@row("in-place")
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.uint8])
def test_whole_array_changed_in_place(dtype):
    x = np.arange(4).astype(dtype)
    assert agree(replace, x)(x) is x and x.tolist() == [6, 2, 3, 4]


def add_one(x):
    x += 1
    return x


@row("in-place")
def test_tracing_changes_nothing_in_place(jax):
    for function in (replace, slices, through_view):
        with pytest.raises(TypeError, match="immutable and do not support in-place"):
            traced(jax, function)(np.arange(6.0))
    x = np.arange(4.0)
    assert traced(jax, add_one)(x).tolist() == [1, 2, 3, 4]
    assert x.tolist() == [0, 1, 2, 3]  # the caller's array keeps its values


# out of bounds

def read(x, i):
    return x[i]


def write(x, i):
    x[i] = 1
    return x[0]


def read_2d(x, i, j):
    return x[i, j]


@row("out-of-bounds")
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


@row("out-of-bounds")
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



@row("out-of-bounds")
def test_tracing_clamps_indices(jax):
    x = np.arange(10.0)
    assert traced(jax, read)(x, 10000) == 9.0 and traced(jax, read)(x, -10000) == 0.0
    assert jax.jit(lambda x, i: x.at[i].set(1.0))(x, 10000).tolist() == x.tolist()  # the write is dropped


# random numbers

def seeded(seed, n):
    np.random.seed(seed)
    return np.random.normal(), np.random.normal(2.0, 0.5, n), np.random.random()


def drawn(generator, n):
    return generator.normal(), generator.random(n), generator.integers(0, 10)


@row("stateful-rng")
def test_random_numbers_are_the_interpreters_stream():
    compiled = njit(seeded)
    for seed in (0, 1, 12345):
        agree(seeded, seed, 5, compiled=compiled)
    first, second, compiled = np.random.default_rng(7), np.random.default_rng(7), njit(drawn)
    for n in (3, 4):  # the state is the caller's and moves on
        assert repr(drawn(first, n)) == repr(compiled(second, n))


@row("stateful-rng")
def test_tracing_draws_once(jax):
    @jax.jit
    def draw():
        return np.random.normal()

    assert draw() == draw()  # the first trace's number is in the program
    with pytest.raises(TypeError, match="abstract array"):
        traced(jax, drawn, static_argnums=1)(np.random.default_rng(7), 3)
    key = jax.random.key(0)  # its own way: keys passed by hand
    assert jax.random.normal(key) == jax.random.normal(key)


# the origin of the first NaN

def first_nan(x, y):
    root = np.sqrt(x) + 1.0
    ratio = np.log(y) * root
    return ratio + 1.0


@row("nan-hunt")
def test_debug_names_the_line_of_the_first_nan():
    assert np.isnan(njit(first_nan)(4.0, -1.0))  # as the interpreter
    compiled = njit(debug=True)(first_nan)
    agree(first_nan, 4.0, 2.0, compiled=compiled)
    with pytest.raises(FloatingPointError, match="invalid value encountered in log") as caught:
        compiled(4.0, -1.0)
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (frame.filename, frame.lineno) == (__file__, first_nan.__code__.co_firstlineno + 2)


@row("nan-hunt")
def test_tracing_runs_again_without_compiling(jax):
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="nan.* encountered in log"):
        traced(jax, first_nan)(4.0, -1.0)
