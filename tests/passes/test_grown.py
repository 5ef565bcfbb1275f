"""Tests that a carried number is small enough are made once for all copies of a loop's body (passes/grown.py)."""
import linecache
import random
import signal

import pytest

from pyjitc import njit
from pyjitc.ops.arith import INT_MAX, INT_MIN


def lengths(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def test_the_copies_have_no_tests():
    f = njit(lengths)
    assert f(27) == 111
    text = str(f._inspect("opt", f.signatures[0]))
    assert text.count("imul_ck") == 1 and text.count("{likely: True}") == 2 and text.count("= imul ") == 5


def test_numbers_beyond_the_interval_go_one_by_one():
    f = njit(lengths)
    for n in (1, 2**61 + 1, 2**62, (INT_MAX - 1) // 3 - 2, 3**38, 837_799, 63_728_127):
        x, steps = n, 0
        while x != 1 and x <= INT_MAX:
            x, steps = x // 2 if x % 2 == 0 else 3 * x + 1, steps + 1
        if x == 1:
            assert f(n) == steps
        else:
            with pytest.raises(OverflowError, match="does not fit in 64 bits"):
                f(n)


def stays(n):
    while n != 1:
        n = n if n % 2 == 0 else 3 * n + 1
    return n


class Alarm(Exception):
    """Raised by the handler of a signal."""


def raise_alarm(number, frame):
    raise Alarm


def test_a_signal_is_handled_on_both_ways():
    f = njit(stays)
    assert f(1) == 1
    assert str(f._inspect("opt", f.signatures[0])).count("{likely: True}") == 2
    before = signal.signal(signal.SIGALRM, raise_alarm)
    try:
        for n in (4, 2**61):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(Alarm):
                f(n)
    finally:
        signal.signal(signal.SIGALRM, before)


def program(r, name):
    """(a function, the same function that raises OverflowError where an int leaves 64 bits): a loop with a choice
    between two steps."""
    low, high = r.choice([("n > 0", "n >= 0"), ("n != 1", "True"), ("-5 < n", "n > -7"), ("True", "True")])
    factor, add = r.choice([2, 3, 5, 10, -2, -3, 31]), r.choice([0, 1, -1, 7, -48, 1000])
    other = r.choice(["n // 2", "n // 4", "n - 3", "n + 5", "n", "m"])
    second = r.choice(["", "", "m = m + n % 5", "m = n"])
    grows = f"n * {factor} {'+' if add >= 0 else '-'} {abs(add)}" if add else f"n * {factor}"
    checked = f"fit(fit(n * {factor}) + {add})"

    def source(step, fit):
        lines = ["m = 3", "count = 0", f"while {low} and count < limit:", f"    if {high} and n % {r_mod} == {r_rest}:",
                 f"        n = {step}", "    else:", f"        n = {fit(other)}",
                 *([f"    {second}"] if second else []), "    count += 1", "return n, m, count"]
        return f"def {name}(n, limit):\n" + "".join(f"    {line}\n" for line in lines)

    r_mod = r.choice([2, 2, 3, 4])
    r_rest = r.randrange(r_mod)
    return made(name, source(grows, str)), made(name, source(checked, lambda text: f"fit({text})"))


def fit(n):
    if not INT_MIN <= n <= INT_MAX:
        raise OverflowError
    return n


def made(name, source):
    namespace = {"fit": fit}
    exec(compile(source, name, "exec"), namespace)
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    return namespace[name]


@pytest.mark.parametrize("seed", range(24))
def test_generated_loops(seed):
    r = random.Random(seed)
    plain, checked = program(r, f"grown_{seed}")
    f = njit(plain)
    starts = [0, 1, -1, 2, 27, 97, 10**6, INT_MAX, INT_MIN]
    starts += [INT_MAX // d + k for d in (2, 3, 5, 10, 31, 64, 192, 10**4) for k in (-1, 0, 1)]
    starts += [s * (1 << r.randrange(62)) + r.randrange(-9, 9) for s in (1, -1) for _ in range(12)]
    for n in starts:
        for limit in (0, 1, 3, 4, 5, 9, 60):
            try:
                expected = checked(n, limit)
            except OverflowError:
                with pytest.raises(OverflowError):
                    f(n, limit)
            else:
                assert f(n, limit) == expected, (n, limit)
