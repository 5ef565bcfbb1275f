"""Ctrl-C leaves every compiled loop within 100 ms, as KeyboardInterrupt."""
import os
import signal
import subprocess
import sys
import time

import pytest

from pyjitc import njit
from pyjitc.codegen import llvm

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

LOOPS = {
    "while": """
        def loop(n, a):
            while n > 0:
                n = n + 1 if n < 1000 else 1
            return n
    """,
    "for": """
        def loop(n, a):
            s = 0.0
            for i in range(n):
                s += 1.0 / (i + 1.0)
            return s
    """,
    "nested": """
        def loop(n, a):
            s = 0
            for i in range(n):
                for j in range(10):
                    s ^= i + j
            return s
    """,
    "arrays": """
        def loop(n, a):
            for k in range(n):
                for i in range(1, len(a)):
                    a[i] = a[i - 1] + 0.5 * a[i]
            return a[0]
    """,
    "vectorised": """
        def loop(n, a):
            for k in range(n):
                for i in range(len(a)):
                    a[i] = a[i] * 1.0000001 + 0.5
            return a[0]
    """,
    "rows": """
        def loop(n, a):
            m = a.repeat(1000).reshape(10, -1)
            for k in range(n):
                for i in range(m.shape[0]):
                    for j in range(m.shape[1]):
                        m[i, j] = m[i, j] * 1.0000001 + 0.5
            return m[0, 0]
    """,
    "a few long rows": """
        def loop(n, a):
            m = a.repeat(10_000).reshape(2, -1)
            while n > 0:
                for i in range(2):
                    for j in range(m.shape[1]):
                        m[i, j] = m[i, j] * 1.0000001 + 0.5
            return m[0, 0]
    """,
    "a loop that falls": """
        def loop(n, a):
            m = a.repeat(1000)
            for k in range(n):
                for i in range(1, len(m)):
                    j = i
                    while j > 0 and m[j - 1] >= 1.0:
                        m[j] = m[j - 1]
                        j -= 1
            return m[0]
    """,
    "empty": """
        def loop(n, a):
            while True:
                pass
    """,
    "try": """
        def loop(n, a):
            s = 0
            for i in range(n):
                try:
                    if i % 3 == 0:
                        raise ValueError
                    s ^= i
                except ValueError:
                    s ^= 1
            return s
    """,
    "calls": """
        def step(x):
            return step(x - 1) + 1 if x > 0 else 0
        def loop(n, a):
            s = 0
            for i in range(n):
                s ^= step(20)
            return s
    """,
    "calls of loops": """
        def inner(n, d):
            s = 0.0
            if d > 0:
                s = inner(n, d - 1) * inner(n, d - 2)
            for i in range(n):
                s += 1.0 / (i + 1)
            return s
        def loop(n, a):
            s = 0.0
            for i in range(n):
                s += inner(100_000 + (i & 1), 0)
            return s
    """,
    "calls of calls": """
        def first(n, d):
            s = first(n, d - 1) if d > 0 else 0.0
            while n > 1:
                n = n // 2 if n & 1 == 0 else 3 * n + 1
                s += 1.0
            return s
        def second(n, d):
            s = second(n, d - 1) if d > 0 else 0.0
            for i in range(n):
                s += first(27 + (i & 3), 0)
            return s
        def loop(n, a):
            s = 0.0
            for i in range(n):
                s += second(100 + (i & 1), 0)
            return s
    """,
    "recursion": """
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)
        def loop(n, a):
            return fib(n & 7 if n < 80 else 80)
    """,
    "mutual recursion": """
        def even(n, k):
            return k if n < 2 else odd(n - 1, k) ^ odd(n - 2, k)
        def odd(n, k):
            return -k if n < 2 else even(n - 1, k) ^ even(n - 2, k)
        def loop(n, a):
            return even(n & 7 if n < 80 else 80, 3)
    """,
    "raising": """
        def loop(n, a):
            s = 0
            for i in range(n):
                s += int(a[i % 7])
            return s
    """,
    "products": """
        def loop(n, a):
            m = a.repeat(250).reshape(500, 500)
            s = 0.0
            for i in range(n):
                s += (m @ m)[0, 0]
            return s
    """,
    "products with vectors": """
        def loop(n, a):
            m = a.repeat(1000).reshape(1000, 1000)
            s = 0.0
            for i in range(n):
                s += (m @ m[i % 7])[0] + np.dot(m.ravel(), m.ravel())
            return s
    """,
    "random numbers": """
        def loop(n, a):
            generator, s = np.random.default_rng(1), 0.0
            for i in range(n):
                s += np.random.random(200_000)[0] + generator.random(200_000)[0]
                s += generator.integers(9, size=200_000)[0] + np.random.choice(a, 200_000)[0]
            return s
    """,
    "copies of a list": """
        def loop(n, a):
            numbers, s = list(range(5_000)), 0
            for i in range(n):
                s += len(numbers[:]) + numbers.count(-1)
            return s, numbers
    """,
    "new arrays": """
        def loop(n, a):
            s = 0.0
            for i in range(n):
                b = np.zeros(200_000 + i % 2)
                b[i % 7] = 1.0
                s += b[3]
            return s
    """,
    "a few long searches": """
        def loop(n, a):
            m = a.repeat(1000)
            for i in range(n):
                for j in range(len(m) - 3, len(m)):
                    k = j
                    while k > 0 and m[k - 1] > 0.0:
                        m[k] = m[k - 1]
                        k -= 1
            return m[0]
    """,
    "texts": """
        def loop(n, a):
            text, s = "ab" * 10_000, 0
            for i in range(n):
                s += len(text.replace("b", "cd"))
            return s
    """,
    "finally": """
        def loop(n, a):
            try:
                for i in range(n):
                    a[0] += i
            finally:
                a[1] = 7.0
            return a[0]
    """,
}

CHILD = """
import sys, time
import numpy as np
from pyjitc import njit
{source}
compiled = njit({options})(loop) if {options!r} else njit(loop)
a = np.ones(1000)
try:
    if "while True" not in {source!r}:
        compiled(0, a)
    print("ready", flush=True)
    compiled(2 ** 62, a)
    print("returned")
except KeyboardInterrupt:
    print(time.monotonic())
except BaseException as error:
    print(repr(error))
"""


def wait_for_interrupt(source, options=""):
    """The seconds from the signal to the handler."""
    lines = [line[8:] for line in source.strip("\n").splitlines()]
    program = CHILD.format(source="\n".join(lines), options=options)
    child = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n", child.stderr.read()
        time.sleep(2.0 if "while True" in source else 0.3)  # there the first call, which compiles, is the endless one
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        answer, errors = child.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        pytest.fail("the loop goes on")
    finally:
        child.kill()
        child.wait()
    try:
        return float(answer) - sent
    except ValueError:
        pytest.fail(f"no KeyboardInterrupt: {answer} {errors}")


@pytest.mark.parametrize("name", LOOPS)
def test_loop_is_left_within_100_ms(name):
    # The best of three: on a loaded machine a process may have to wait for its turn.
    assert any(wait_for_interrupt(LOOPS[name]) < 0.1 for _ in range(3))


@pytest.mark.parametrize("options", ["nogil=True", "boundscheck=False", "overflow='wrap'", "fastmath=True"])
def test_with_options(options):
    assert any(wait_for_interrupt(LOOPS["arrays"], options) < 0.1 for _ in range(3))


def test_an_interrupt_while_a_compile_ends_is_not_lost(monkeypatch):
    def interrupted(module):
        raise KeyboardInterrupt

    @njit
    def unseen(x):
        return x * 3 + 17

    monkeypatch.setattr(llvm.Module, "dispose", interrupted)
    with pytest.raises(KeyboardInterrupt):
        unseen(2)
    monkeypatch.undo()
    assert unseen(2) == 23
