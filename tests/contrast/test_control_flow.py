"""Control flow that depends on values: these rows of the contrast with tracing, each as an ordinary function."""
import re

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree, plain, same

from .rows import row, traced


def branch(x):
    if x > 10:
        return x
    else:
        return x * 2


@row("branch")
def test_branch():
    compiled = njit(branch)
    for x in (3, 10, 11, -5):
        agree(branch, x, compiled=compiled)
    assert len(compiled.signatures) == 1  # one native function serves every value
    for x in (3.5, 10.0, np.float32(11), np.int8(100), True):
        agree(branch, x, compiled=compiled)


def absolute(x):
    if x > 0:
        return x
    return -x


@row("abs")
@pytest.mark.parametrize("x", [5, -5, 0, 2.5, -2.5, -0.0, float("-inf"), float("nan"), np.float32(-1.5), np.int16(-7),
                               -2 ** 63 + 1])
def test_abs(x):
    agree(absolute, x)


@row("abs")
def test_abs_of_the_smallest_int():
    with pytest.raises(OverflowError):  # the interpreter's int has no limit; a row of docs/semantics.md
        njit(absolute)(-2 ** 63)


def parity(x):
    if x % 2 == 0:
        return x ** 2
    return x * x * x


@row("parity")
@pytest.mark.parametrize("x", [4, 5, 0, -3, -8])
def test_parity(x):
    agree(parity, x)


def while_n(n):
    i = 0
    while i < n:
        i += 1
    return i


@row("while-n")
@pytest.mark.parametrize("n", [0, 1, 10, 1000, -3, 2.5])
def test_while_n(n):
    agree(while_n, n)


def for_n(x, n):
    y = 0.0
    for i in range(n):
        y = y + x
    return y


@row("for-n")
def test_for_n():
    compiled = njit(for_n)
    for n in (0, 1, 5, 1000, -1):
        agree(for_n, 1.25, n, compiled=compiled)
    assert len(compiled.signatures) == 1  # one compile for every n


@row("for-n")
def test_tracing_counts_to_no_traced_value(jax):
    with pytest.raises(jax.errors.TracerIntegerConversionError):
        traced(jax, for_n)(1.25, 3)
    static = traced(jax, for_n, static_argnums=1)
    for n in (1, 5, 1, 7):
        assert static(1.25, n) == 1.25 * n
    assert static._cache_size() == 3  # a compile for every n


def sum_up_to(x):
    s = 0
    n = 0
    while n < x:
        s += n
        n += 1
    return s


@row("sum-up-to")
@pytest.mark.parametrize("x", [0, 10, 101])
def test_sum_up_to(x):
    agree(sum_up_to, x)


def repeat_multiply(x, n):
    product = 1.0
    count = 0
    while count < n:
        product *= x
        count += 1
    return product


@row("repeat-mul")
@pytest.mark.parametrize("n", [0, 1, 5, 70])
def test_repeat_mul(n):
    agree(repeat_multiply, 1.0625, n)


@row("branch", "abs", "parity", "while-n", "sum-up-to", "repeat-mul")
@pytest.mark.parametrize("function, args", [
    (branch, (3,)), (absolute, (-2.5,)), (parity, (4,)), (while_n, (10,)), (sum_up_to, (10,)),
    (repeat_multiply, (1.5, 5)),
])
def test_tracing_asks_for_the_truth_of_a_value(jax, function, args):
    with pytest.raises(jax.errors.TracerBoolConversionError):
        traced(jax, function)(*args)


def switch_match(k, x):
    match k:
        case 0:
            return x
        case 1:
            return x + 1.0
        case 2:
            return x * 2.0
        case 3:
            return x - 3.0
        case 4:
            return x / 4.0
        case 5 | 6:
            return x ** 2
        case 7:
            return -x
        case 8 if x > 0.0:
            return x * 8.0
        case 9:
            return 9.0
        case _:
            return 0.0


def switch_if(k, x):
    if k == 0:
        return x
    elif k == 1:
        return x + 1.0
    elif k == 2:
        return x * 2.0
    elif k == 3:
        return x - 3.0
    elif k == 4:
        return x / 4.0
    elif k == 5:
        return x ** 2
    elif k == 6:
        return -x
    elif k == 7:
        return x * 8.0
    elif k == 8:
        return 9.0
    else:
        return 0.0


def switch_functions(k, x):
    functions = (lambda v: v, lambda v: v + 1.0, lambda v: v * 2.0, lambda v: v - 3.0, lambda v: v / 4.0,
                 lambda v: v ** 2, lambda v: -v, lambda v: v * 8.0, lambda v: 9.0, lambda v: 0.0)
    return functions[k](x)


@row("switch")
@pytest.mark.parametrize("function", [switch_match, switch_if, switch_functions])
def test_switch_over_ten(function):
    compiled = njit(function)
    for k in range(-1, 10):
        agree(function, k, 1.5, compiled=compiled)
        agree(function, k, -1.5, compiled=compiled)


@row("switch")
def test_switch_functions_out_of_range():
    agree(switch_functions, 10, 1.5)


@row("switch")
def test_tracing_takes_no_case(jax):
    for function in (switch_match, switch_if):
        with pytest.raises(jax.errors.TracerBoolConversionError):
            traced(jax, function)(3, 1.5)
    with pytest.raises(jax.errors.TracerIntegerConversionError):
        traced(jax, switch_functions)(3, 1.5)
    cases = [lambda v: v, lambda v: -v]
    assert jax.jit(lambda k, x: jax.lax.switch(k, cases, x))(1, 2.0) == -2.0  # its own spelling
    assert jax.jit(lambda k, x: jax.lax.switch(k, cases, x))(10, 2.0) == -2.0  # an index out of range is clamped


def many_cases(kind, count):
    """A function that selects one of `count` cases."""
    if kind == "match":
        cases = (f"        case {i}:\n            return x + {i * 7 % 1000}\n" for i in range(count))
        body = "    match k:\n" + "".join(cases)
    elif kind == "functions":
        body = (f"    if 0 <= k < {count}:\n        return "
                f"({', '.join(f'lambda v: v + {i * 7 % 1000}' for i in range(count))})[k](x)\n")
    else:
        cases = (f"    {'el' if i else ''}if k == {i}:\n        return x + {i * 7 % 1000}\n" for i in range(count))
        body = "".join(cases)
    scope = {}
    exec(f"def f(k, x):\n{body}    return -1\n", scope)
    return scope["f"]


@row("switch")
@pytest.mark.parametrize("kind", ["match", "if", "functions"])
def test_switch_over_hundreds(kind, monkeypatch):
    monkeypatch.delenv("PYJITC_VERIFY")  # it would take most of the time
    function = many_cases(kind, 600)
    compiled = njit(function)
    for k in (0, 1, 299, 598, 599, 600, -1):
        agree(function, k, 5, compiled=compiled)
    # not hundreds of comparisons in a row: LLVM makes a switch of about 64 each
    assert 1 <= next(iter(compiled.inspect_llvm().values())).count(" switch i") <= 12


# Higher-order control flow in plain Python, written by the user.

def fori_loop(low, high, body, initial):
    value = initial
    for i in range(low, high):
        value = body(i, value)
    return value


def while_loop(condition, body, initial):
    value = initial
    while condition(value):
        value = body(value)
    return value


def cond(predicate, yes, no, operand):
    if predicate:
        return yes(operand)
    return no(operand)


def scan(f, carry, xs, ys):
    for i in range(len(xs)):
        carry, ys[i] = f(carry, xs[i])
    return carry


def use_fori_loop(n, x):
    return fori_loop(0, n, lambda i, v: v + i * x, 0.0)


def use_while_loop(limit):
    return while_loop(lambda v: v[0] < limit, lambda v: (v[0] + v[1], v[1] + 1), (0, 1))


def use_cond(x):
    return cond(x > 0.0, lambda v: v * 2.0, lambda v: -v, x)


def use_scan(xs, ys):
    return scan(lambda total, x: (total + x, total * 0.5), 0.0, xs, ys)


@row("higher-order")
@pytest.mark.parametrize("function, args", [
    (use_fori_loop, (10, 0.5)),
    (use_while_loop, (100,)),
    (use_cond, (1.5,)),
    (use_cond, (-1.5,)),
    (use_scan, (np.linspace(0.0, 1.0, 7), np.zeros(7))),
])
def test_higher_order(function, args):
    compiled = agree(function, *args)
    llvm = next(iter(compiled.inspect_llvm().values()))
    inside = re.findall(r"\bcall [^@\n]*@([\w.$]+)", llvm)
    entry = f"f0.{function.__name__}"  # the stub calls it
    user = [name for name in inside if re.search(r"fori_loop|while_loop|cond$|lambda", name) and name != entry]
    assert not user, user  # what is passed is inlined; `scan` is large, and called once, so that it may stay a call


@row("higher-order")
def test_tracing_has_primitives_instead(jax):
    for function, args in [(use_fori_loop, (10, 0.5)), (use_while_loop, (100,)), (use_cond, (1.5,))]:
        with pytest.raises((jax.errors.TracerBoolConversionError, jax.errors.TracerIntegerConversionError)):
            traced(jax, function)(*args)
    loop = jax.jit(lambda n, x: jax.lax.fori_loop(0, n, lambda i, v: v + i * x, 0.0))
    assert loop(10, 0.5) == use_fori_loop(10, 0.5)


# Both branches: early return, nested break and continue, for-else, try/except inside the loop.

def early_return(a, wanted):
    for i in range(len(a)):
        if a[i] == wanted:
            return i
    return -1


def nested(n, m):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        for j in range(m):
            if j > i:
                break
            if (i + j) % 2:
                continue
            total += i * j
        else:
            total += 1000
        if total > 5000:
            break
    else:
        total = -total
    return total


def first_prime_from(n):
    while True:
        for d in range(2, n):
            if n % d == 0:
                break
            if d * d > n:
                return n
        else:
            if n > 1:
                return n
        n += 1


def catching(a, limit):
    caught = 0
    total = 0.0
    for i in range(limit):
        try:
            if i % 4 == 3:
                raise ValueError(i)
            total += a[i]
        except IndexError:
            caught += 1
            continue
        except ValueError as error:
            caught += 100
            if error.args[0] > 10:
                break
        else:
            total += 1.0
        finally:
            total += 0.25
    return caught, total


@row("both-branches")
def test_early_return():
    a = np.array([4, 8, 15, 16, 23, 42])
    compiled = njit(early_return)
    for wanted in (4, 42, 7):
        agree(early_return, a, wanted, compiled=compiled)


@row("both-branches")
@pytest.mark.parametrize("n, m", [(0, 0), (4, 4), (10, 3), (30, 30)])
def test_nested_break_continue_else(n, m):
    agree(nested, n, m)


@row("both-branches")
@pytest.mark.parametrize("n", [1, 2, 14, 90, 1000])
def test_for_else(n):
    agree(first_prime_from, n)


@row("both-branches")
@pytest.mark.parametrize("length, limit", [(20, 6), (2, 10), (1, 3), (50, 50)])
def test_exceptions_inside_the_loop(length, limit):
    agree(catching, np.arange(length) * 1.5, limit)


def one_of_two(x, flag):
    if flag:
        return x + 1.0
    return x.nosuch


@row("both-branches")
def test_all_branches_are_compiled():
    assert one_of_two(1.5, True) == 2.5
    with pytest.raises(TypeError, match="nosuch"):  # although this call would not take that branch
        njit(one_of_two)(1.5, True)


@row("both-branches")
def test_tracing_sees_the_branch_it_takes(jax):
    assert traced(jax, one_of_two, static_argnums=1)(1.5, True) == 2.5  # the mistake in the other stays unseen
    program = jax.make_jaxpr(one_of_two, static_argnums=1)(1.5, True)
    assert [equation.primitive.name for equation in program.eqns] == ["add"]
    with pytest.raises(jax.errors.TracerBoolConversionError):
        traced(jax, early_return)(np.array([4, 8]), 8)
    with pytest.raises(jax.errors.TracerIntegerConversionError):
        traced(jax, nested)(4, 4)
    with pytest.raises(jax.errors.TracerIntegerConversionError):
        traced(jax, first_prime_from)(10)
    # an index out of range raises nothing, so the handler of IndexError never runs
    assert traced(jax, catching, static_argnums=1)(np.array([1.5, 2.5]), 3)[0] == 0


def test_results_have_the_interpreters_types():
    compiled = njit(branch)
    for x in (1, 1.0, np.float32(1), np.int8(1), np.uint64(1), np.float64(1)):
        assert same(plain(branch)(x), compiled(x))
