"""Derivatives of `try`, of variables that inner functions change, of variables of several types and of functions that
call themselves, and second derivatives of loops that end early."""
import math
from collections import deque

import numpy as np
import pytest

import pyjitc
from pyjitc import UnsupportedError, grad, hessian, jvp, njit

from .differences import agree, central


def division(x, d):
    """The derivative, too, skips the trips that raise."""
    s = 0.0
    for i in range(len(d)):
        try:
            y = x * x / d[i]
            s += y * x
        except ZeroDivisionError:
            s = s * x + math.sin(x)
    return s


def handlers(x):
    s = 0.5
    for i in range(5):
        try:
            s += math.sqrt(x[i])
        except ValueError:
            s *= x[i] * 2.0
            if s < -5.0:
                break
        except IndexError:
            s += x[0] * s
            continue
        finally:
            s += x[1] * 0.3 * s
    return s * x[2]


def left_by_an_exception(x):
    s = 1.0
    while True:
        try:
            if s > 10.0:
                raise ValueError("stop")
            s = s * x + 1.0
        except ValueError:
            break
    return s * s


def left_by_break(x):
    y = x * x
    for i in range(10):
        y = y * x
        if y > 20.0:
            y = y + math.exp(x)
            break
    return y


def cells(x):
    y = 0.0

    def add(z):
        nonlocal y
        y += z * y + z

    for i in range(3):
        add(x)
        add(x * x)
    return y


def none_at_first(x):
    y = None
    for i in range(4):
        if y is None:
            y = x * x
        else:
            y = y * x + i
    return x if y is None else y


def test_handlers():
    agree(handlers, np.array([0.5, -2.0, 1.2]))


def test_what_raised_is_not_differentiated():
    def first(a, b):
        try:
            return np.linalg.solve(a, b)[0]
        except np.linalg.LinAlgError:
            return a[0, 1] * b[1]

    of_a, of_b = grad(first, (0, 1))(np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([1.0, 3.0]))
    np.testing.assert_array_equal(of_a, [[0.0, 3.0], [0.0, 0.0]])
    np.testing.assert_array_equal(of_b, [0.0, 2.0])
    np.testing.assert_allclose(grad(first, 1)(np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([1.0, 3.0])), [0.5, 0.0])


def halves(x):
    if len(x) == 1:
        return x[0] * x[0]
    h = len(x) // 2
    return halves(x[:h]) * 0.5 + math.sin(halves(x[h:])) * x[0]


def power(x, n):
    return 1.0 * x if n == 0 else power(x * x * 0.9, n - 1) + x


def in_a_loop(x):
    s = 0.0
    for i in range(4):
        s += power(0.8 * x, i) * x
    return s


def pairs(p, n):
    if n == 0:
        return p
    a, b = pairs((p[0] * p[1], p[0] + 1.0), n - 1)
    return b, a * 2.0


def of_pairs(x):
    a, b = pairs((x, x * x), 3)
    return a * b


def even(x, n=3):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return 2.0 * x if n == 0 else even(math.sin(x), n - 1)


def product_of_cubes(x):
    if len(x) < 2:
        return x[0] ** 3
    return product_of_cubes(x[:len(x) // 2]) * product_of_cubes(x[len(x) // 2:])


def in_new_arrays(x):
    if len(x) < 2:
        return x * 1.0
    y = in_new_arrays(x[1:])
    y[0] = y[0] * y[0] * x[0]
    return y


def in_its_argument(x):
    if len(x) < 2:
        return x
    y = in_its_argument(x[1:])
    y[0] = y[0] * x[0]
    return y


def ended_by_a_float(x, i):
    return 0.0 if i == len(x) else x[i] ** 3 + x[i] * ended_by_a_float(x, i + 1)


def test_recursion_over_an_array():
    agree(halves, np.array([0.5, 0.2, 0.9, 0.1, 0.4]))
    agree(lambda x: np.sum(in_new_arrays(x)), np.array([1.0, 0.2, 0.9]))


@pytest.mark.parametrize("function", (product_of_cubes, lambda x: np.sum(in_new_arrays(x))))
def test_second_derivatives_of_recursion_over_an_array(function):
    x, first = np.array([1.0, 0.2, 0.9]), grad(function)
    expected = [(first(x + h) - first(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(hessian(function)(x), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function, message", (
    (lambda x: np.sum(in_its_argument(x)), "writes into its arguments"),
    (lambda x: ended_by_a_float(x, 0), "a float of Python on some paths and one of NumPy on others")))
def test_recursion_without_a_derivative(function, message):
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(UnsupportedError, match=message):
        grad(function)(x)
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("function", [division, left_by_an_exception, left_by_break, cells, none_at_first, in_a_loop,
                                      of_pairs, even],
                         ids=lambda x: x.__name__)
def test_first_and_second_derivatives(function):
    rest = ([1.0, 0.0, 3.0],) if function is division else ()
    x, h = 1.4, 1e-6
    first = grad(function)(x, *rest)
    np.testing.assert_allclose(first, (function(x + h, *rest) - function(x - h, *rest)) / (2 * h), 1e-6)
    second = grad(grad(function))(x, *rest)
    np.testing.assert_allclose(second, (grad(function)(x + h, *rest) - grad(function)(x - h, *rest)) / (2 * h), 1e-6)
    if not rest:
        assert jvp(function, (x,), (1.0,))[1] == pytest.approx(first, rel=1e-14)


class Model:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def at(self, x):
        return np.sum(np.tanh(self.w * x)) * self.b[0]


class Particle:
    def __init__(self, place, speed):
        self.place, self.speed, self.steps = place, speed, 0

    def advance(self, h):
        self.place += h * self.speed
        self.speed -= h * math.sin(self.place)
        self.steps += 1


def lists(x):
    """Lists to which no other code has a reference."""
    squares, changed = [v * v for v in x] + [x[0]], [0.0] * 3
    for i in range(3):
        changed[i] = squares[i] * x[0]
    s = np.array(squares)[1] * x[2]
    while len(squares) > 1:
        s += squares.pop() * changed[-1]
    try:
        return s * squares[1:][1]
    except IndexError:
        return s + squares[0] + sum(changed[::2])


def rows(x):
    found = [x]
    for i in range(3):
        found.append(np.tanh(found[-1] * x))
    return np.sum(np.stack(found)[2] * x)


def objects(x):
    one = Particle(x[0], x[1])
    for _ in range(4):
        one.advance(0.1 * x[2])
    model = Model(x * 0.5, x[1:])
    model.w[1] *= x[0]
    return one.place * one.speed * one.steps + model.at(x)


def products(x):
    y = 1.0
    for v in x:
        y *= v
        yield y * x[0]


def generators(x):
    return sum(v * v for v in products(x)) + max(v * x[1] for v in x if v > 0.6)


def sums_of_arrays(x):
    """`sum` of no arrays is an int."""
    return np.sum(sum(x * v for v in x) ** 2)


@pytest.mark.parametrize("function", [lists, rows, objects, generators, sums_of_arrays], ids=lambda x: x.__name__)
def test_lists_objects_and_generators(function):
    x = np.array([0.5, 1.2, 0.9])
    np.testing.assert_allclose(grad(function)(x), central(function, (x,), 0), 1e-6)


def test_forward_mode_of_lists():
    x = np.array([0.5, 1.2, 0.9])
    value, change = jvp(rows, (x,), (x,))
    assert (value, change) == (pytest.approx(rows(x)), pytest.approx(central(rows, (x,), 0) @ x, rel=1e-6))


def sorted_lists(x):
    y = [v * v for v in x]
    y.sort(reverse=True)
    z = sorted(x)
    w = sorted([x[0] * x[1], x[2], 0.5 * x[0]])
    return y[0] * z[1] + y[2] ** 2 + w[0] * w[2] + sum(z[1:3])


def methods_of_lists(x):
    y = [x[0], x[1]]
    y.insert(0, x[2] * x[0])
    y.insert(-1, x[1] * 2.0)
    y.insert(9, x[2])
    y.extend([x[1], x[0] * x[2]])
    y.reverse()
    z = y.pop(1) * y.pop(-2)
    del y[2]
    w = y.copy()
    w[0] = z * w[-1]
    y.clear()
    y.append(w[0])
    return y[0] * w[1] + w[2] * len(w)


def list_of_an_array(x):
    y = list(x)
    y[0] = y[-1] * y[1]
    return sum(y) * y[0]


def lists_with_floats_of_python(x):
    y = [v * v for v in x if v > 0.0] + [1.0]
    y += [0.5]
    z = list(x)
    z.append(2.0)
    z = [3.0] + z
    return sum(y) * sum(z) + y[0] * z[1] * z[0]


def changed_by_an_inner_function(x):
    t = 0.0  # Python's float, then NumPy's

    def add(v):
        nonlocal t
        t = t * 0.5 + v * v

    for v in x:
        add(v)
    return np.float64(t)


@pytest.mark.parametrize("function", [sorted_lists, methods_of_lists, list_of_an_array, lists_with_floats_of_python,
                                      changed_by_an_inner_function])
def test_lists_and_cells(function):
    x = np.array([0.7, -1.2, 0.4])
    agree(function, x)
    t = np.array([0.3, 0.1, -0.2])
    step = 1e-6
    expected = (grad(function)(x + step * t) - grad(function)(x - step * t)) / (2 * step)
    np.testing.assert_allclose(jvp(grad(function), (x,), (t,))[1], expected, 1e-6, 1e-6)


@pytest.mark.parametrize("function, message", [
    (lambda x, i: [x[0], x[1]].pop(i) * x[0], "pop index out of range"),
    (lambda x, i: deleted([x[0], x[1]], i), "list assignment index out of range")])
def test_what_lists_raise(function, message):
    x = np.array([0.7, -1.2, 0.4])
    assert grad(function)(x, 1)[1] != 0.0 or grad(function)(x, 0)[1] != 0.0
    for i in (2, -3):
        with pytest.raises(IndexError, match=message):
            grad(function)(x, i)


def deleted(y, i):
    del y[i]
    return y[0] * y[0]


def dict_of_ints(x):
    d = {}
    for i in range(len(x)):
        k = i % 2 - 7 * i * (i % 3)
        d[k] = d.get(k, 0.0) + x[i] ** 2
    if 3 in d:
        d[3] *= 2
    s = x[0]
    for k in d:
        s += d[k] * k
    for k, v in d.items():
        s += v * v + k
    for v in d.values():
        s += v
    d[7] = s
    return d[0] * d[7] + sum(d.values()) * len(d)


def dict_of_texts(x):
    d = {"a": x[0], "b": x[1] * x[2]}
    for i in range(3):
        d["a"] = d["a"] * d["b"] + x[i]
        if i == 1:
            d["c"] = d["a"]
    s = d.get("c", 1.0) * d.get("d", 2.0)
    for v in d.values():
        s += v * v
    return s * len(d)


def many_keys(x):
    d = {}
    for i in range(40):
        d[i * i * 31] = x[i % 3] * i
    for i in range(0, 40, 3):
        d[i * i * 31] = d[i * i * 31] * d[775]
    return sum(d.values()) + d[31 * 36 * 36]


@pytest.mark.parametrize("function", [dict_of_ints, dict_of_texts, many_keys])
def test_dicts_that_are_changed(function):
    agree(function, np.array([0.7, -1.2, 0.4]))


def test_what_dicts_raise():
    def missing(x, k):
        d = {1: x * x, 2: x}
        d[3] = d[1] * d[2]
        return d[k]

    assert grad(missing)(2.0, 3) == 12.0
    with pytest.raises(KeyError, match="4"):
        grad(missing)(2.0, 4)

    def text(x, n):
        d = {"a": x}
        if n > 0:
            d["b"] = x * x
        return d["b"]

    assert grad(text)(2.0, 1) == 4.0
    with pytest.raises(KeyError, match="'b'"):
        grad(text)(2.0, 0)

    def grows(x):
        d = {0: x}
        for k in d:
            d[k + 1] = x
        return d[0]

    with pytest.raises(RuntimeError, match="dictionary changed size during iteration"):
        grad(grows)(2.0)


def arrays_and_lengths_on_a_tape(x):
    a, b = 1.0, x
    for i in range(3):
        a, b = a * b[i] + 1.0, b * a
    return a + np.sum(b)


def test_a_tape_with_ints_has_second_derivatives():
    x, t, step = np.array([0.7, -1.2, 0.4]), np.array([0.3, 0.1, -0.2]), 1e-6
    f = arrays_and_lengths_on_a_tape
    agree(f, x)
    expected = (grad(f)(x + step * t) - grad(f)(x - step * t)) / (2 * step)
    np.testing.assert_allclose(jvp(grad(f), (x,), (t,))[1], expected, 1e-6, 1e-6)


def rows_of_numbers(x):
    rows = [[x[0], x[1]], [x[2] * x[0]]]
    first = rows[0]
    rows[1].append(first[0] * 2.0)
    first[1] *= rows[-1][0]  # another name of a row
    rows.append(first)
    rows[2].append(x[1])
    rows[0], rows[1] = rows[1], rows[0]
    s = rows.pop()[-1] * rows[1].pop()
    for r in rows:
        for v in r:
            s += v * v * len(r)
    return s


def triangle(x):
    rows = []
    for i in range(7):
        r = []
        for j in range(i + 1):
            r.append(x[i % 3] * x[j % 3])
        rows.append(r)
    s = 0.0
    for r in rows:
        s += sum(r) * r[-1]
    return s


def table_of_floats(x):
    t = [[0.0] * 4 for _ in range(4)]
    for i in range(4):
        for j in range(4):
            t[i][j] = x[i % 3] * x[j % 3] + (t[i - 1][j - 1] if i and j else 0.5)
    return t[3][3] + t[2][3] * t[-1][-4]


@pytest.mark.parametrize("function", [rows_of_numbers, triangle, table_of_floats])
def test_lists_of_lists(function):
    x, t, step = np.array([0.7, -1.2, 0.4]), np.array([0.3, 0.1, -0.2]), 1e-6
    agree(function, x)
    expected = (grad(function)(x + step * t) - grad(function)(x - step * t)) / (2 * step)
    np.testing.assert_allclose(jvp(grad(function), (x,), (t,))[1], expected, 1e-5, 1e-5)


def replaced_list(x):
    """As in dynamic programming, a new list of scores takes the place of the last one."""
    scores = [x[i] * 2.0 for i in range(len(x))]
    for t in range(2):
        new = []
        for i in range(len(x)):
            ways = [scores[k] * x[i] for k in range(len(x))]
            best = max(ways)
            new.append(best + math.log(sum(math.exp(v - best) for v in ways)))
        scores = new
    return max(scores) * scores[0]


def lists_under_several_names(x):
    s = [x[0], x[1]]
    t = s
    for i in range(3):
        t.append(s[i] * x[2])
        if i == 1:
            s = [x[2], x[1], t[0], t[1], t[2]]
    a, b = [x[0]], [x[1]]
    for i in range(3):
        a, b = b, a
        a.append(b[0] * x[i])
    return sum(s) * t[-1] + sum(a) - b[-1] ** 2


def made_of_the_last(x):
    s = [(v, 1) for v in x]
    for t in range(2):
        s = s[1:] + [(s[0][0] * x[t], s[0][1] + 1)]
    return sum(v * n for v, n in s)


@pytest.mark.parametrize("function", [replaced_list, lists_under_several_names, made_of_the_last])
def test_lists_that_a_loop_replaces(function):
    agree(function, np.array([0.7, -1.2, 0.4]))


def heads(x):
    parts = [np.outer(x[:k + 1], x) for k in range(len(x))]
    return np.sum(np.concatenate([p.T for p in parts], axis=1)[1] ** 3)


def columns_of_a_list(x):
    rows = []
    for k in range(len(x)):
        rows.append(x[1:])
    for k in range(len(x)):
        rows[k] = rows[k] * x[k]
    tables = [np.outer(row, x).T for row in rows]
    return np.sum(np.column_stack(rows)[0] ** 3) + np.sum(np.dstack(tables)[1] ** 2) + np.sum(np.hstack(tables)[0])


@pytest.mark.parametrize("function", [heads, columns_of_a_list])
def test_lists_of_arrays_are_joined_along_any_axis(function):
    agree(function, np.array([0.7, -1.2, 0.4]))


def test_what_lists_of_lists_raise():
    def item(x, i, j):
        rows = [[x, x * x], [x * 3.0]]
        rows[0][j - 1] = x
        return rows[i][j] * x

    assert grad(item)(2.0, 0, 1) == 12.0
    for i, j in ((1, 1), (2, 0), (0, -4)):
        with pytest.raises(IndexError):
            grad(item)(2.0, i, j)

    def empty(x):
        rows = [[x]]
        rows[0].pop()
        return rows[0].pop()

    with pytest.raises(IndexError, match="pop from empty list"):
        grad(empty)(2.0)


def matrices_of_several_layouts(w, v):
    s = 0.0
    for m in (w, w.T, w[::2, ::2], w * v):
        s += np.sum(m * m * m)
    for i in range(3):
        m = (w, w.T, w[::-1])[i]
        s += np.sum(np.tanh(m) * m)
    return s


def test_items_of_a_tuple_that_are_arrays_of_several_types():
    agree(matrices_of_several_layouts, np.array([[0.7, -1.2], [0.3, 0.5]]), np.array([0.4, 0.9]), tolerance=1e-5)


def through_a_queue(x):
    queue = deque()
    queue.append(x[0])
    return queue.popleft() * 3


def through_a_queue_of_two(x):
    queue = deque(maxlen=2)
    for v in x:
        queue.append(v)
    return sum(queue)


def through_an_updated_dict(x):
    found = {}
    found.update(a=x[0])
    return found["a"] * 2


def through_a_dict_of_the_interpreter(x):
    found = {}
    found.update(a=x[0])
    found.setdefault("b", x[1])
    return found["a"] * 2 + found["b"]


def kept_by_the_interpreter(target, x):
    exec("target[:] = x * 2", {"target": target, "x": x})


def of_the_interpreter(x):
    return eval("x * 2", {"x": x})


def through_an_array(x):
    found = np.zeros(len(x))
    kept_by_the_interpreter(found, x)
    return np.sum(found)


@pytest.mark.parametrize("function, options, message", (
    (through_a_queue, njit, "what varies is put into this deque: there is no derivative of that"),
    (through_a_queue_of_two, njit, "what varies is put into this deque"),
    (through_a_dict_of_the_interpreter, njit, "there is no derivative of"),
    (through_an_array, pyjitc.jit, "may write into an array that varies"),
    (lambda x: np.sum(of_the_interpreter(x)), pyjitc.jit, "a gradient is only for functions that return a float"),
    (lambda x: float(str(x[0])) * 2, pyjitc.jit, "there is no derivative of")))
def test_what_the_interpreter_keeps_is_no_zero(function, options, message):
    with pytest.raises(pyjitc.CompileError, match=message):
        grad(options(function))(np.array([0.7, 1.1, 0.3]))


def test_dicts_that_are_updated():
    assert np.array_equal(grad(njit(through_an_updated_dict))(np.array([0.7, 1.1, 0.3])), [2.0, 0.0, 0.0])


def beside_a_queue(x):
    queue = deque([1, 2, 3])
    queue.append(4)
    print(queue, x[0])
    return queue.popleft() * x[0]


def test_containers_of_what_does_not_vary(capsys):
    assert np.array_equal(grad(beside_a_queue)(np.array([0.5, 2.0])), [1.0, 0.0])
    assert capsys.readouterr().out == "deque([1, 2, 3, 4]) 0.5\n"


def of_two_types(x, y):
    """A number of Python, or one of NumPy."""
    if x[0] > 1.0:
        return y * y
    for i in range(len(x)):
        if x[i] > 0.7:
            return np.std(x) * y
    return y + x[0] if y > 0.0 else 0


@pytest.mark.parametrize("x", ((2.0, 0.5), (0.2, 0.8), (0.2, 0.3)))
def test_results_of_several_types_of_numbers(x):
    x, dx = np.array(x), np.array([0.3, -0.2])
    value, (by_x, by_y) = pyjitc.value_and_grad(of_two_types, (0, 1))(x, 1.5)
    again, change = jvp(of_two_types, (x, 1.5), (dx, 0.4))
    assert value == again == of_two_types(x, 1.5)
    assert change == pytest.approx(by_x @ dx + by_y * 0.4, rel=1e-14)
    difference = (of_two_types(x + 1e-6 * dx, 1.5 + 4e-7) - of_two_types(x - 1e-6 * dx, 1.5 - 4e-7)) / 2e-6
    assert change == pytest.approx(difference, rel=1e-6)
    assert pyjitc.linearize(of_two_types, x, 1.5)[1](dx, 0.4) == change


# -- dicts of texts as the state of a loop

def moved(state):
    return {"at": state["at"] + 0.1 * state["speed"], "speed": state["speed"] - 0.1 * np.sin(state["at"])}


def replaced_by_a_call(x):
    state = {"at": x, "speed": np.zeros(len(x))}
    for _ in range(4):
        state = moved(state)
    return np.sum(state["at"] * state["speed"])


def replaced_numbers(x):
    state = {"a": x[0], "b": 1.0}
    for i in range(len(x)):
        state = {"a": state["a"] * x[i] + state["b"], "b": state["a"]}
    return state["a"] + state["b"] ** 2


def moments(x):
    state = {"mean": np.zeros(len(x)), "square": np.zeros(len(x))}
    w = np.ones(len(x))
    for _ in range(4):
        g = 2.0 * (w - x)
        state["mean"] = 0.9 * state["mean"] + 0.1 * g
        state["square"] += 0.1 * g ** 2
        w = w - 0.1 * state["mean"] / np.sqrt(state["square"] + 0.1)
    return np.sum(w ** 2) * len(state)


def written_in_place(x):
    state = {"at": x.copy(), "speed": np.zeros(len(x))}
    first = state["at"]
    for i in range(len(x)):
        state["at"][i] *= 2.0
        state["speed"] += state["at"] * first
    return np.sum(state["at"] * state["speed"])


@pytest.mark.parametrize("function", (replaced_by_a_call, replaced_numbers, moments, written_in_place))
def test_dicts_of_texts_as_the_state_of_a_loop(function):
    agree(function, np.array([0.7, -1.2, 0.4]))
