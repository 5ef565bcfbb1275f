"""The tracing front end: its recordings, agreement with the interpreter, and failures where tracing must fail."""
import copy
import math
import re

import numpy as np
import pytest

from pyjitc import TracingError, njit, trace
from tests.oracle import difference, outcome, same


def operations(program):
    """Names of the recorded operations, without constants."""
    return [inst.op.name for inst in program.ir.entry.insts if inst.op.name not in ("const", "return")]


def selu(x, alpha=1.6732632423543772, scale=1.0507009873554805):
    return scale * np.where(x > 0, x, alpha * np.exp(x) - alpha)


def mixture(x, w):
    y = x @ w
    return y.sum(axis=0), -y[1:, None], y.T.copy(), abs(y).max(), np.add.reduce(y), x.shape


def scalars(a, b):
    q, r = divmod(a, b)
    return q, r, divmod(9, b), a ** 2 / b, a // b, -a, +b, a == b, a < b, 3 - a, 2 * b, round(a / b, 2), abs(-a)


def joined(x, y):
    return np.concatenate((x, y)) * 2, np.linalg.solve(np.eye(2) * 2.0, x[:2]), np.maximum(x[0], y)


def unrolled(x, n):
    for row in x:
        n = n + row
    return n, len(x)


def nested(pair, *rest):
    x, (y, z) = pair
    return x + y * z, rest[0] - rest[1]


@pytest.mark.parametrize("function, args", [
    (selu, (np.linspace(-2.0, 2.0, 7),)),
    (selu, (np.linspace(-2.0, 2.0, 7).astype(np.float32), 1.5)),
    (selu, (np.arange(-3, 3),)),
    (mixture, (np.arange(6.0).reshape(2, 3), np.ones((3, 2)))),
    (scalars, (7, 3)),
    (scalars, (7.5, -2.0)),
    (scalars, (np.int32(7), np.int32(-2))),
    (joined, (np.arange(3.0), np.ones(3))),
    (unrolled, (np.arange(6.0).reshape(3, 2), 1)),
    (nested, ((1.5, (2, np.arange(3.0))), 5, 2.5)),
    (lambda x, y: x + y, (2 ** 62, 2 ** 62 - 1)),
    (lambda x: x + 1, (np.ones((2, 0)),)),
    (lambda x, i: x[i] + x[-1], (np.arange(4.0), 2)),
    (lambda x, i: x[i], (np.arange(4.0), np.array([3, 0, 3]))),
    (lambda x: (x, None, "text", 5), (1.5,)),
    (lambda x: 1 // (x - 1), (5,)),
    (lambda x: pow(x, 5, 7), (3,)),
    (lambda x: (copy.copy(x) + 1, copy.deepcopy((x, 2))), (3,)),
    (lambda x: (copy.copy(x), copy.deepcopy(x)), (np.arange(3.0),)),
])
def test_runs_as_the_interpreter(function, args):
    traced = trace(function)
    for _ in range(2):
        expected, actual = outcome(function, args), outcome(traced, args)
        if function in (mixture, joined, selu):  # exp and sums are not NumPy's own: see the tests of NumPy's functions
            assert close(expected[1], actual[1])
        else:
            assert not difference(expected, actual)
    program, = traced.programs
    assert len(program.ir.blocks) == 1  # a straight line


def close(x, y):
    if isinstance(x, tuple):
        return type(x) is type(y) and all(map(close, x, y))
    return type(x) is type(y) and np.result_type(x) == np.result_type(y) and np.allclose(x, y, rtol=1e-6)


def test_run_time_errors_are_those_of_the_operations():
    division = trace(lambda x, y: x // y)
    assert division(7, 2) == 3
    with pytest.raises(ZeroDivisionError):
        division(7, 0)
    item = trace(lambda x, i: x[i])
    assert item(np.arange(3), 1) == 1
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3"):
        item(np.arange(3), 5)


# The recording contains only the operations of the run.

def powers(x, n):
    for _ in range(n):
        x = x * x
    return x


def test_loops_are_unrolled():
    def square(x):
        return powers(x, 5)

    assert operations(trace(square).record(1.5)) == ["binary"] * 5
    assert str(trace(square).record(1.5)).count("\n    ") == 6


def test_types_and_shapes_are_traced_anew():
    runs = []

    def noted(x):
        runs.append(x)
        return x * 2

    traced = trace(noted)
    for x in (1.5, 2.5, 1, np.ones(3), np.zeros(3), np.ones(4), np.ones(3, np.float32), True):
        assert same(traced(x), x * 2)
    assert len(traced.programs) == len(runs) == 6


def test_what_is_not_a_number_is_in_the_program():
    def chosen(x, name, flag=None):
        return x + 1 if name == "plus" else x - 1

    traced = trace(chosen)
    assert traced(1, "plus") == 2 and traced(1, "minus") == 0 and traced(5, "plus") == 6
    assert len(traced.programs) == 2


@njit
def compiled_half(x):
    return x / 2


@njit
def compiled_branch(x):
    return x if x > 0 else -x


def test_compiled_functions_are_traced_through():
    assert trace(lambda x: compiled_half(x) + 1)(np.ones(2)).tolist() == [1.5, 1.5]
    assert operations(trace(lambda x: compiled_half(x) + 1).record(3.0)) == ["binary", "binary"]
    with pytest.raises(TracingError, match="branch on the value"):
        trace(lambda x: compiled_branch(x))(2.0)
    assert compiled_half(3.0) == 1.5 and compiled_branch(-2.0) == 2.0


FACTOR = 2.0
TABLE = np.array([1.0, 2.0])
SEEN = []


def surroundings(x):
    print("Received:", x)
    SEEN.append(x)
    return x * FACTOR + TABLE


def test_effects_happen_while_recording(capsys, monkeypatch):
    monkeypatch.setitem(globals(), "TABLE", np.array([1.0, 2.0]))
    monkeypatch.setitem(globals(), "SEEN", [])
    traced = trace(surroundings)
    assert traced(1.0).tolist() == [3.0, 4.0]
    assert capsys.readouterr().out == "Received: Tracer<float>\n"
    monkeypatch.setitem(globals(), "FACTOR", 100.0)
    TABLE[0] = 100.0
    assert traced(1.0).tolist() == [3.0, 4.0]  # stale
    assert capsys.readouterr().out == ""
    leaked, = SEEN
    with pytest.raises(TracingError, match="left the function"):
        leaked + 1


# Where tracing must fail, njit does not.

def branch(x):
    if x > 10:
        return x
    return x * 2


def loop(n):
    i = 0
    while i < n:
        i += 1
    return i


def count(x, n):
    for _ in range(n):
        x = x + 1.5
    return x


def item(k):
    return (5, 6, 7)[k]


def sine(x):
    return math.sin(x)


def full(n):
    return np.full((n,), 2.5)


def zeros(n):
    return np.zeros(n)  # NumPy replaces the tracer's error by its own TypeError


def formatted(a, x):
    return f"{x:.2f}", a


def positives(a):
    return a[a > 0]


def places(a):
    return np.nonzero(a)


def distinct(a):
    return np.unique(a)


def part(a, n):
    return a[:n]


def written(a):
    a[0] = 5
    return a


def added(a):
    a += 1
    return a


def filled(a):
    np.add(a, 1, out=a)
    return a


def both(a, b):
    return a > 0 and b > 0


def smallest(a, b):
    return min(a, b)


def member(a, x):
    return x in a


a, n = np.array([3.0, -1.0, 0.5, 3.0]), 3


@pytest.mark.parametrize("function, args, what, instead", [
    (branch, (20,), "branch on the value of Tracer<bool>", "compiles both ways"),
    (loop, (5,), "branch on the value", "compiles both ways"),
    (both, (1, 2), "branch on the value", "compiles both ways"),
    (smallest, (1.5, 0.5), "branch on the value", "compiles both ways"),
    (count, (1.0, 3), "as a count or an index", "one compile for all of them"),
    (item, (1,), "as a count or an index", "one compile for all of them"),
    (full, (n,), "as a count or an index", "one compile for all of them"),
    (zeros, (n,), "as a count or an index", "one compile for all of them"),
    (formatted, (a, 0.5), "as text", "the value"),
    (sine, (0.5,), "as a number of Python's", "converts"),
    (positives, (a,), "shape of this result depends on the data", "at run time"),
    (places, (a,), "shape of this result depends on the data", "at run time"),
    (distinct, (a,), "shape of this result depends on the data", "at run time"),
    (part, (a, n), "shape of this result depends on the data", "at run time"),
    (written, (a,), "written in place", "the caller sees it"),
    (added, (a,), "in place", "the caller sees it"),
    (filled, (a,), "in place", "the caller sees it"),
])
def test_fails_where_tracing_must(function, args, what, instead):
    with pytest.raises(TracingError) as caught:
        trace(function)(*args)
    text = str(caught.value)
    assert what in text and "njit" in text and instead in text
    line = int(re.search(rf"at {re.escape(__file__)}:(\d+) in {function.__name__}", text)[1])
    first = function.__code__.co_firstlineno
    assert first < line <= first + 4
    assert not difference(outcome(function, args), outcome(njit(function), args))  # as it is


def test_membership():
    with pytest.raises(TracingError, match="depends on its values"):
        trace(member)(a, 3.0)


def test_errors_of_shapes_come_while_recording():
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(3,\) \(4,\)"):
        trace(lambda x, y: x + y)(np.ones(3), np.ones(4))
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        trace(lambda x: x.nosuch)(a)
    with pytest.raises(TypeError, match="returned a dict"):
        trace(lambda x: {x: 1}.copy() if False else {"x": x})(1.5)


def test_what_trace_takes():
    with pytest.raises(TypeError, match="trace compiles Python functions, not <built-in function len>"):
        trace(len)
    with pytest.raises(TypeError, match="keyword-only"):
        trace(lambda *, x: x)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        trace(branch)()
    with pytest.raises(TypeError, match="unknown option 'nosuch'"):
        trace(nosuch=1)(branch)
    with pytest.raises(OverflowError, match=r"\(\) argument 'x' cannot be passed: the int"):
        trace(lambda x: x)(2 ** 70)
    assert not np.shares_memory(a, trace(lambda x: copy.copy(x))(a))
    assert trace(njit(selu))(0.0) == 0.0
    assert trace(fastmath=True)(branch).options.fastmath is True


def test_disabled_runs_in_the_interpreter(monkeypatch):
    monkeypatch.setenv("PYJITC_DISABLE", "1")
    assert trace(branch)(20) == 20 and trace(branch) is branch


def test_tracing_jit_fails_at_the_same_places():
    """A program that this front end refuses is refused by the tracing JIT, too: the limits are those of tracing, not of
    this front end."""
    jax = pytest.importorskip("jax")
    for function, args in [(branch, (20,)), (loop, (5,)), (count, (1.0, 3)), (item, (1,)), (sine, (0.5,)),
                           (positives, (a,)), (part, (a, n)), (written, (a,))]:
        with pytest.raises((TypeError, IndexError)):
            jax.jit(function)(*(jax.numpy.asarray(x) for x in args))
