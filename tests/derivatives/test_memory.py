"""Gradients in bounded memory: grad(f, memory=bytes), checkpoint, and what may not be run again."""
import numpy as np
import pytest

import pyjitc
from pyjitc import UnsupportedError, checkpoint, grad, jacfwd, jvp, njit, value_and_grad
from pyjitc.lib import adjoints, divided

from .differences import agree

X = np.array([0.3, 0.5, 0.1, 0.7])


def whole(x, n):
    for i in range(n):
        x = x + 0.1 * np.sin(x) * (i + 1) / n
    return np.sum(x)


def in_place(x, n):
    u, s = x.copy(), 0.0
    last = u[-2:]
    for t in range(n):
        for i in range(1, len(u) - 1):
            u[i] += 0.1 * np.sin(u[i - 1]) * x[t % 4]
        last[1] *= last[0]
        s += u[2] ** 2
    return s + np.sum(u * u)


def until(x, n):
    k = 0
    while True:
        x = 0.9 * x + 0.1 * np.sin(x)
        k += 1
        if x[1] < 0.2 or k > n:
            break
    return np.sum(x) * k


def exchanged(x, n):
    u, v = x.copy(), np.zeros(4)
    for _ in range(n):
        for i in range(1, 3):
            v[i] = u[i] + 0.1 * np.sin(u[i - 1] + u[i + 1])
        u, v = v, u
    return np.sum(u * u)


def left_in_a_trip(x, n):
    u = x.copy()
    for t in range(n):
        u[t % 4] = np.sin(u[(t + 1) % 4]) + 1.001
        if u[0] > 1.7 and t > 17:
            break
        u[(t + 2) % 4] *= 0.99
    return np.sum(u)


def remembered(x, n):
    seen = []
    for _ in range(n):
        x = np.sin(x)
        seen.append(x[0] * x[1])
    return seen[0] + seen[-1] + x[2]


def two_loops(x, n):
    s = 0.0  # Python's float, then NumPy's
    for i in range(len(x)):
        s += x[i] ** 2
    for _ in range(3):
        for t in range(n):
            s = np.sin(s + x[t % 4])
    return s


def written_elsewhere(x, n):
    u, factors = x, np.ones(4)
    factors[1] = x[0]
    for _ in range(n):
        u = u * factors
    factors[0] = u[2]
    u[1] = 3.0
    return np.sum(u * factors)


@pytest.mark.parametrize("memory", [1, 400, 10 ** 6])
@pytest.mark.parametrize("function", [
    written_elsewhere, whole, in_place, until, exchanged, left_in_a_trip, remembered, two_loops])
def test_loops_are_divided(function, memory):
    value, expected = value_and_grad(function)(X, 40)
    again, found = value_and_grad(function, memory=memory)(X, 40)
    assert again == value
    np.testing.assert_allclose(found, expected, 1e-12)


def test_no_trip_and_exceptions():
    assert np.array_equal(grad(whole, memory=100)(X, 0), np.ones(4))
    with pytest.raises(ZeroDivisionError):
        grad(failing, memory=100)(0.5, 9)


def power(x, n):
    for t in range(n):
        x = x * x * 0.3 + 0.5 * x
    return x


def test_second_derivatives():
    """They are those of the gradient without a limit, which the derivative of a gradient does not have."""
    bounded, free = grad(whole, memory=200), grad(whole)
    np.testing.assert_array_equal(jacfwd(bounded)(X, 30), jacfwd(free)(X, 30))
    np.testing.assert_allclose(jvp(bounded, (X, 30), (X, None))[1], jacfwd(free)(X, 30) @ X, 1e-12)
    assert grad(grad(power, memory=100))(0.7, 9) == grad(grad(power))(0.7, 9)
    both = njit(lambda x: (bounded(x, 30), jvp(lambda x: bounded(x, 30), (x,), (x,))[1]))(X)
    np.testing.assert_allclose(both[0], free(X, 30), 1e-12)
    np.testing.assert_allclose(both[1], jacfwd(free)(X, 30) @ X, 1e-12)

    @njit
    def along(x):
        return jvp(lambda x: bounded(x, 30), (x,), (x,))[1]

    first, change = njit(lambda x: (bounded(x, 30), along(x)))(X)  # the gradient itself is called first
    np.testing.assert_array_equal(first, both[0])
    np.testing.assert_array_equal(change, both[1])


def failing(x, n):
    for t in range(n):
        x = x / (4 - t)
    return x


def test_memory_is_bounded(monkeypatch):
    """The schedule in the interpreter, of a loop with 800 bytes of state and 300 bytes of tape for each trip."""
    most = run = 0

    def again(varied, others, count):
        nonlocal run
        run += count
        return (varied[0] + count, np.zeros(0)), (others[0], others[1] + 1)

    def pull(varied, others, count, g):
        nonlocal most
        assert g == varied[0] + count  # the parts follow one another, from the last to the first
        most = max(most, 800 * others[1] + 300 * count)
        return varied[0], 300 * count

    monkeypatch.setattr(divided, "again", again)
    monkeypatch.setattr(divided, "pull", pull)
    monkeypatch.setattr(divided, "kept_by_one", lambda varied, others: 300)
    monkeypatch.setattr(divided, "bytes_of", lambda x: 400)
    for memory, repeats in ((10_000, 4), (40_000, 2), (700_000, 0)):
        most = run = 0
        assert divided.backward((0, ()), (0, 0), 1000, 1000, memory) == 0
        assert most <= memory and run <= repeats * 1000


@pytest.mark.parametrize("states", [0, 1, 2, 5, 100])
def test_the_schedule(states):
    """Parts are reversed in the least number of forward steps that dynamic programming finds."""
    least = {}

    def cost(parts, left):
        if parts <= 1:
            return 0
        if left == 0:
            return parts * (parts - 1) // 2
        if (parts, left) not in least:
            least[parts, left] = min(n + cost(parts - n, left - 1) + cost(n, left) for n in range(1, parts))
        return least[parts, left]

    def taken(parts, left):
        if parts <= 1:
            return 0
        n = divided.split(parts, left)
        assert 1 <= n < parts
        return n + taken(parts - n, max(0, left - 1)) + taken(n, left)

    for parts in (1, 2, 3, 4, 7, 10, 21, 36, 40):
        assert taken(parts, states) == cost(parts, states)


def drawing(x, n):
    for _ in range(n):
        x = x * np.random.normal()
    return x


def caught(x, n):
    try:
        for t in range(n):
            x = 1.0 / (x - t)
    except ZeroDivisionError:
        return 2.0 * x
    return x


def two_names(x, n):
    u, v = np.full(4, x), np.zeros(4)
    w = v
    for _ in range(n):
        v[0] = np.sin(u[1])
        u, v = v, u
    return np.sum(w)


@pytest.mark.parametrize("function, message", [
    (drawing, "must not be done twice"), (caught, "an exception that leaves it is caught"),
    (two_names, "another name before or after it")])
def test_loops_that_cannot_be_run_again(function, message):
    with pytest.raises(UnsupportedError, match=message) as found:
        grad(function, memory=100)(0.3, 5)
    assert found.value.diagnostic.line > function.__code__.co_firstlineno


def test_arrays_that_share_memory():
    def shared(x, n):
        u = x.copy()
        v = u
        for _ in range(n):
            v[0] = np.sin(u[1])
            u, v = v, u
        return np.sum(u)

    with pytest.raises(ValueError, match="share memory"):
        grad(shared, memory=100)(X, 5)


def test_in_compiled_code_and_wrong_values():
    assert np.array_equal(njit(lambda x: grad(whole, memory=300)(x, 20))(X), grad(whole, memory=300)(X, 20))
    for wrong in (0, -1, 1.5, True, "1"):
        with pytest.raises(TypeError, match="memory is a positive number of bytes"):
            grad(whole, memory=wrong)


def test_random_numbers_are_not_drawn_again():
    @checkpoint
    def noisy(x):
        return x * np.random.normal()

    def repeated(x, n):
        return x if n == 0 else repeated(x * np.random.normal(), n - 1)

    for function in (lambda x: noisy(x) + x, lambda x: repeated(x, 3)):
        for make in (lambda f: grad(f)(2.0), lambda f: jvp(f, (2.0,), (1.0,))):
            with pytest.raises(UnsupportedError, match="draws random numbers here"):
                make(function)


def test_functions_that_always_raise():
    def popped(x):
        x[0] = 5.0
        taken = [x[1]]
        taken.pop()
        return taken.pop() * x[1]

    x = np.ones(2)
    for make in (grad, pyjitc.hessian, lambda f: lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(IndexError, match="pop from empty list"):
            make(popped)(x)
    assert np.array_equal(x, np.ones(2))


def test_the_message_before_memory_runs_out(monkeypatch):
    def once(x, n):
        for i in range(n):
            x = np.sin(x) + 1.0 / (i + 1)
        return x

    def nested(x, n):
        for _ in range(n):
            for i in range(1000):
                x = np.sin(x) + 1.0 / (i + 1)
        return x

    for function, line in ((once, 2), (nested, 3)):
        for n in (10 ** 12, 2 ** 62 - 5):  # for the second, the size of the tape exceeds 64 bits
            with pytest.raises(MemoryError, match="keeps 8[0-9]* bytes for each trip of the loop at line "
                                                  f"{function.__code__.co_firstlineno + line - 1}, .* pass memory="):
                grad(function)(1.0, n)
    monkeypatch.setattr(adjoints, "MEMORY", 10_000)
    with pytest.raises(MemoryError, match="16 bytes for each trip of the loop at line 7"):
        adjoints.roomy(np.zeros(64), 1300, 2, 7)


def test_a_checkpoint_may_raise():
    """Making the text of an exception, here that of `@`, counts as no draw of random numbers."""
    @checkpoint
    def block(h, w):
        for _ in range(3):
            h = np.tanh(w @ h)
        return h

    def f(h, ws):
        for w in ws:
            h = block(h, w)
        return np.sum(h * h)

    random = np.random.default_rng(0)
    agree(f, random.normal(size=4), random.normal(size=(3, 4, 4)))
    with pytest.raises(ValueError, match="matmul: Input operand 1 has a mismatch in its core dimension 0"):
        grad(f)(np.ones(5), np.ones((3, 4, 4)))
