"""Functions that raise, in many kinds of expressions; CALLS has the arguments with which test_tracebacks.py calls them.

That test runs this file twice, once with decorators that leave functions to the interpreter, and compares the
tracebacks.
"""
import math

import numpy as np

from pyjitc import njit

ZEROS = np.zeros(3)
CALLS = {}


def call(*args, **kwargs):
    """The function is called with these arguments."""
    def keep(function):
        CALLS[function.__name__] = function, args, kwargs
        return function
    return keep


@call(ZEROS, 7)
@njit
def index(a, i):
    return 1.0 + a[i] * 2.0


@call(ZEROS, 7)
@njit
def index_of_expression(a, i):
    return a[0] + a[i + (1 * i)] - a[1]


@call(ZEROS, 7)
@njit
def several_on_a_line(a, i):
    return a[i % 3] + a[i - 7] + a[i] + a[i + 1]


@call(ZEROS, 7)
@njit
def two_dimensions(a, i):
    b = a.reshape(1, 3)
    return b[0, 1] + b[0, i]


@call(ZEROS, 7)
@njit
def row(a, i):
    return a.reshape(1, 3)[i][1]


@call(ZEROS, 7)
@njit
def store(a, i):
    a[0] = 1.0
    a[i] = a[0] + 1.0
    return a


@call(ZEROS, 7)
@njit
def augmented_store(a, i):
    a[i] += a[0] + 1.0


@call((1, 2, 3), 7)
@njit
def tuple_item(t, i):
    return t[0] + t[i]


@call(1, 0)
@njit
def division(x, y):
    return (x + 1) / (y * 2) + 1


@call(1.5, 0.0)
@njit
def float_division(x, y):
    return 1.0 + x / y


@call(1, 0)
@njit
def floor_division(x, y):
    z = x // y; return z + 1  # noqa: E702


@call(1, 0)
@njit
def remainder(x, y):
    return 3 * (x % y)


@call(1, 0)
@njit
def both(x, y):
    return divmod(x, y)[0] + 1


@call(1, 0)
@njit
def augmented_division(x, y):
    x //= y
    return x


@call(-1.0)
@njit
def function_of_math(x):
    return 1.0 + math.sqrt(x) * 2.0


@call(1000.0)
@njit
def overflow_of_math(x):
    return math.exp(
        x * 2.0) + 1.0


@call(3)
@njit
def raise_statement(n):
    if n > 2:
        raise ValueError("too large")
    return n


@call(3)
@njit
def raise_formatted(n):
    if n > 2:
        raise ValueError(f"{n} is too large for " + "anybody")
    return n


@call(3)
@njit
def raise_over_lines(n):
    if n > 2:
        raise ValueError(
            "too large",
            n,
        )
    return n


@call(0)
@njit
def raise_from(n):
    try:
        return 1 // n
    except ZeroDivisionError as error:
        raise ValueError("no") from error


@call(0)
@njit
def raise_while_handling(n):
    try:
        return 1 // n
    except ZeroDivisionError:
        raise KeyError(n)


@call(0)
@njit
def raise_again(n):
    try:
        return 1 + 1 // n
    except ZeroDivisionError:
        raise


@call(0)
@njit
def raise_again_by_name(n):
    try:
        return 1 + 1 // n
    except ZeroDivisionError as error:
        raise error


@call(3)
@njit
def assertion(n):
    assert n < 3, "small numbers only"
    return n


@call(3)
@njit
def assertion_without_text(n):
    assert n + 1 < 3
    return n


@njit
def small(a, i):
    return a[i]


@njit
def middle(a, i):
    return small(a, i + 1) * 2.0


@call(ZEROS, 7)
@njit
def chain(a, i):
    return 1.0 + middle(a, i) + middle(a, 0)


@call(ZEROS, 7)
@njit
def chain_of_calls(a, i):
    return small(a, int(small(a, int(small(a, 1)) + i)))


def undecorated(x, y):
    """A plain function that compiled functions call."""
    return x // y


@call(0)
@njit
def helper(n):
    return 1 + undecorated(n + 1, n)


@njit(inline="always")
def always(a, i):
    return a[i] + 1.0


@call(ZEROS, 7)
@njit
def inlined(a, i):
    return 2.0 * always(a, i)


@njit(inline="always")
def always_twice(a, i):
    total = 1.0
    total += always(a, i) * always(a, 0)
    return total


@njit(inline="always")
def always_again(a, i):
    try:
        return always(a, i)
    except IndexError:
        raise


@njit(inline="always")
def always_another(a, i):
    try:
        return always(a, i)
    except IndexError:
        raise ValueError("no")


@njit(inline="always")
def always_counted(a, i):
    try:
        return always_twice(a, i)
    finally:
        a[0] += 0.0


@njit(inline="always")
def always_caught(a, i):
    try:
        return always(a, i)
    except IndexError:
        return -1.0


@call(ZEROS, 7)
@njit
def inlined_twice(a, i):
    return 2.0 * always_twice(a, i)


@call(ZEROS, 7)
@njit
def inlined_in_a_loop(a, n):
    total = 0.0
    for i in range(n):
        total += always_twice(a, i)
    return total


@call(ZEROS, 7)
@njit
def inlined_and_raised_again(a, i):
    return always_again(a, i)


@call(ZEROS, 7)
@njit
def inlined_and_another(a, i):
    return always_another(a, i)


@call(ZEROS, 7)
@njit
def inlined_and_finally(a, i):
    try:
        return always_counted(a, i)
    finally:
        a[1] = 0.0


@call(ZEROS, 7)
@njit
def inlined_after_a_caught_one(a, i):
    try:
        return always_again(a, i)
    except IndexError:
        return always_caught(a, i) + always_twice(a, i)


@call(ZEROS, 7)
@njit
def keywords(a, i):
    return 2.0 * small(i=i,
                       a=a)


@call(ZEROS, 7)
@njit
def expression_over_lines(a, i):
    return (a[0]
            + a[1] * (
                a[2] + a[i]
            ))


@call(ZEROS, 7)
@njit
def subscript_over_lines(a, i):
    return (1.0 + a[
        i
    ])


@call(ZEROS, 7)
@njit
def call_over_lines(a, i):
    return small(
        a,
        i
    ) + 1.0


@call(ZEROS, 7)
@njit
def in_a_generator_expression(a, i):
    return sum(a[k] + 1.0 for k in range(i))


@call(ZEROS, 7)
@njit
def in_what_a_loop_goes_over(a, i):
    s = 0.0
    for k in range(i // (i - 7),
                   3):
        s += a[k]
    return s


@call(ZEROS, 7)
@njit
def in_a_loop(a, i):
    s = 0.0
    for k in range(i):
        s += a[k] * 2.0
    return s


@call(ZEROS, 7)
@njit
def in_nested_loops(a, i):
    s = 0.0
    for k in range(i):
        for j in range(k):
            s += a[j] * a[k]
    return s


@call(ZEROS, 2)
@njit
def in_a_while_loop(a, i):
    while a[i] < 5.0: i += 1  # noqa: E701
    return i


@call(ZEROS, 7)
@njit
def in_a_condition(a, i):
    if a[0] > 1.0 or a[i] > 2.0:
        return 1
    return 2


@call(ZEROS, 7)
@njit
def in_a_conditional_expression(a, i):
    return a[0] if a[1] > 0.0 else a[i]


@call(ZEROS, 7)
@njit
def in_a_comparison(a, i):
    return a[0] <= a[1] <= a[i]


@call(ZEROS, 7)
@njit
def in_a_slice(a, i):
    return a[1:3][i]


@call(ZEROS, 7)
@njit
def try_finally(a, i):
    try:
        return a[i] + 1.0
    finally:
        a[0] = 3.0


@call(ZEROS, 7)
@njit
def in_finally(a, i):
    try:
        a[1] = 1.0
    finally:
        a[i] = 3.0


@call(ZEROS, 7)
@njit
def in_else(a, i):
    try:
        a[1] = 1.0
    except IndexError:
        return 1.0
    else:
        return 1.0 + a[i]


@call(ZEROS, 7)
@njit
def other_handler(a, i):
    try:
        return a[i] + 1.0
    except ZeroDivisionError:
        return 2.0


@call(ZEROS, 7)
@njit
def in_with(a, i):
    with np.errstate(all="ignore"):
        b = a[0] + 1.0
        return b + a[i]


@call(ZEROS, 7)
@njit
def unpacking(a, i):
    x, y = a
    return x + y


@call((1, 2), 7)
@njit
def swapping(t, i):
    t, i = i // (i - 7), t
    return i


@call(ZEROS, 7)
@njit
def broadcast(a, i):
    return 1.0 + (a + np.zeros(i)) * 2.0


@call(ZEROS, 7)
@njit
def broadcast_in_place(a, i):
    a += np.zeros(i)
    return a


@call(ZEROS, 7)
@njit
def method(a, i):
    return a.sum() + a.reshape(i).sum()


@call(ZEROS, 7)
@njit
def function_of_numpy(a, i):
    return np.dot(a, np.ones(i)) + 1.0


@call(ZEROS, 7)
@njit
def reduction(a, i):
    return np.max(a[i:]) + 1.0


@call(float("nan"))
@njit
def integer_of_nan(x):
    return 1 + int(x * 2.0)


@call(0)
@njit
def nested_function(n):
    def divided(by):
        return 1 // by

    return 2 + divided(n)


@call(0)
@njit
def in_a_lambda(n):
    return (lambda by: 1 // by)(n) + 1


@call(0)
@njit
def name_without_value(n):
    if n:
        x = 1
    return n + x


@call(5)
@njit
def recursion(n):
    return 1 + recursion(n - 1) if n else 1 // n


@call(ZEROS, i=7)
@njit
def keyword_only(a, *, i):
    return 1.0 + a[i]


@call(ZEROS, 7)
@njit
def defaults(a, i, j=2):
    return a[j] + a[i]


@call(ZEROS, 7)
@njit
def after_wide_characters(a, i):
    ärger = "ünü" * 0; return a[i] if not ärger else 0.0  # noqa: E702


@call(ZEROS, 7)
@njit
def assignment_expression(a, i):
    return (x := a[0]) + (y := a[i]) + x + y


@call(-3)
@njit
def shift(n):
    return 1 << n


@call(2, -1.5)
@njit
def power(x, y):
    return 1.0 + (x - 2) ** y


@call(3)
@njit
def matching(n):
    match n:
        case 1:
            return 2
        case _:
            return n // (n - 3)


@call(3)
@njit
def range_step(n):
    return sum(range(0, 10, n - 3))


@call(7)
@njit
def stop(n):
    return next(iter(range(n, 0)))
