"""Too deep recursion is a RecursionError on every thread; several threads may call and compile at the same time."""
import os
import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest

from pyjitc import njit

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@njit
def deep(n):
    if n == 0:
        return 0
    return 1 + deep(n - 1)


@njit
def even(n):
    return True if n == 0 else odd(n - 1)


@njit
def odd(n):
    return False if n == 0 else even(n - 1)


@njit
def catches(n):
    try:
        return deep(n)
    except RecursionError:
        return -1


@njit
def endless(x):
    return endless(x + 1) * 2


def test_recursion_ends_in_an_exception():
    for _ in range(3):
        with pytest.raises(RecursionError):
            deep(10 ** 12)
        assert deep(100) == 100  # and everything works afterwards


def test_recursion_without_end():
    with pytest.raises(RecursionError):
        endless(0)


def test_mutual_recursion():
    assert even(100) is True and odd(100) is False
    with pytest.raises(RecursionError):
        even(10 ** 12)


@njit
def raises_at_the_end(n, deep):
    if n == 0:
        if deep:
            raise RecursionError("mine")
        raise ValueError("mine")
    return 1 + raises_at_the_end(n - 1, deep)


@pytest.mark.parametrize("function, args, error, entries", [
    (deep, (10 ** 12,), RecursionError, 1000), (even, (10 ** 12,), RecursionError, 1000),
    (raises_at_the_end, (5000, True), RecursionError, 1000), (raises_at_the_end, (30, True), RecursionError, 31),
    (raises_at_the_end, (5000, False), ValueError, 5001)])
def test_a_recursion_error_has_about_as_many_traceback_entries_as_in_the_interpreter(function, args, error, entries):
    for _ in range(2):
        with pytest.raises(error) as raised:
            function(*args)
        places = [frame.f_code.co_name for frame, _ in traceback.walk_tb(raised.value.__traceback__)]
        assert len(places) == 1 + entries and set(places[1:]) <= {function.__name__, "odd"}


def test_recursion_error_caught_in_compiled_code():
    assert catches(10) == 10
    assert catches(10 ** 12) == -1


SMALL_STACK = """
import threading
from pyjitc import njit
@njit
def deep(n):
    if n == 0:
        return 0
    return 1 + deep(n - 1)
assert deep(50) == 50
seen = []
def work():
    try:
        deep(10 ** 12)
    except RecursionError:
        seen.append(deep(20))
for size in (32, 64, 128, 256, 400):
    threading.stack_size(size * 1024)
    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
assert seen == [20] * 20, seen
"""


def test_threads_with_small_stacks():
    done = subprocess.run([sys.executable, "-c", SMALL_STACK], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (done.returncode, done.stderr)


NO_LIMIT = """
from pyjitc import njit
@njit
def endless(n, t):
    if n == 10 ** 12:
        return 0.0
    return endless(n + 1, t[1:] + (t[0] + n,)) + sum(t) + t[n % 50]
try:
    endless(0, tuple(map(float, range(50))))
except RecursionError:
    print("raised")
"""


SMALL = """
import sys, threading
sys.path.insert(0, {root!r})
import numpy as np
from pyjitc import cuda, njit

@njit
def numbers(a):
    return np.median(a) + np.sort(a)[0] + np.linalg.solve(np.eye(30), np.ones(30))[0] + np.fft.fft(a).real[0]

@cuda.jit
def kernel(x):
    s = cuda.shared.array(6000, np.float64)  # most of 64 KiB
    t = cuda.threadIdx.x
    a, b, c, d = x[t], x[t] * 2, x[t] * 3, x[t] * 4
    s[t] = a
    cuda.syncthreads()
    v = s[(t + 1) % cuda.blockDim.x]
    cuda.syncthreads()
    x[t] = v + b + c + d

def run():
    a = np.arange(1024.0)
    first.append(numbers(a))
    kernel[1, 1024](a)
    rest.append(a)

first, rest, size = [], [], threading.stack_size({stack} << 10)
for _ in range(2):
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
assert threading.stack_size() == {stack} << 10
a = np.arange(1024.0)
assert first == [numbers.py_func(a)] * 2, first
assert all((x == np.roll(a, -1) + 9 * a).all() for x in rest) and len(rest) == 2
"""


@pytest.mark.parametrize("stack", [64, 300])
def test_first_calls_in_threads_with_small_stacks(stack):
    """The compiler, and the memory of a kernel's block, need more stack than these threads have."""
    subprocess.run([sys.executable, "-c", SMALL.format(root=ROOT, stack=stack)], check=True, timeout=120)


MANY = """
import sys, threading
sys.path.insert(0, {root!r})
from pyjitc import njit

def program(k):
    space = {{"njit": njit}}
    exec(f"@njit\\ndef f(x): return x * {{k}} + 1", space)
    return space["f"]

usual = 256 << 10
threading.stack_size(usual)
found = []
for turn in range(5):
    threads = [threading.Thread(target=lambda k=k: found.append(program(k)(2.0) == 2 * k + 1)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    now = threading.stack_size(usual)  # without an argument it is set to 0
    assert now == usual, now
assert found == [True] * 40
"""


def test_the_size_of_stacks_stays_what_it_is():
    subprocess.run([sys.executable, "-c", MANY.format(root=ROOT)], check=True, timeout=120)


def test_stack_without_limit():
    resource = pytest.importorskip("resource")
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        pytest.skip("the stack is limited for good")
    done = subprocess.run(["sh", "-c", 'ulimit -s unlimited && exec "$0" -c "$1"', sys.executable, NO_LIMIT], cwd=ROOT,
                          capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "raised\n"), done.stderr


def in_threads(work, count=8):
    """The results of work(k) for k in range(count), run in parallel threads."""
    results = [None] * count
    barrier = threading.Barrier(count)

    def run(k):
        barrier.wait()
        try:
            results[k] = work(k)
        except BaseException as error:
            results[k] = error

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    return results


@pytest.mark.parametrize("nogil", [False, True])
def test_threads_compile_one_function_at_once(nogil):
    @njit(nogil=nogil)
    def total(a):
        s = a[0] * 0
        for i in range(len(a)):
            s += a[i]
        return s

    dtypes = ("f8", "f4", "i8", "i4", "u1", "c16", "f8", "i8")

    def work(k):
        return [total(np.arange(10).astype(dtypes[k])) for _ in range(200)]

    for k, found in enumerate(in_threads(work)):
        expected = total.py_func(np.arange(10).astype(dtypes[k]))
        assert not isinstance(found, BaseException), found
        assert all(type(x) is type(expected) and x == expected for x in found)


def test_threads_raise_at_once():
    @njit
    def fails(x):
        a = np.empty(100)
        a[0] = x
        if x % 2 == 0:
            raise ValueError("even", x)
        return a[0]

    def work(k):
        caught = 0
        for i in range(500):
            try:
                assert fails(i) == float(i)
            except ValueError as error:
                assert error.args == ("even", i)
                caught += 1
        return caught

    assert in_threads(work) == [250] * 8


def test_threads_while_a_global_changes():
    scope = {"njit": njit, "factor": 1}
    exec("@njit\ndef scaled(x):\n    return x * factor\n", scope)
    scaled = scope["scaled"]
    done = threading.Event()

    def change():
        for k in range(20):
            scope["factor"] = k % 4 + 1
        done.set()

    def work(k):
        if k == 0:
            change()
            return True
        good = True
        while not done.is_set():
            good &= scaled(10) in (10, 20, 30, 40)
        return good

    assert in_threads(work, 4) == [True] * 4


def test_references_after_exceptions():
    @njit
    def fails(a, t, x):
        view = a[1:]
        copy = np.empty(5)
        copy[0] = view[0] + t[1][0]
        if copy[0] > x:
            raise ValueError(x)
        return view

    a, b = np.arange(5.0), np.arange(3.0)
    fails(a, (1, b), 100.0)
    before = sys.getrefcount(a), sys.getrefcount(b)
    for _ in range(1000):
        with pytest.raises(ValueError):
            fails(a, (1, b), -100.0)
    assert (sys.getrefcount(a), sys.getrefcount(b)) == before


FORKS = """
import os, signal, threading, time
from pyjitc import njit
exec("def made(k):\\n    return njit(eval(f'lambda x: x + {k}'))")
stop = []
def work():
    while not stop:
        made(int(time.perf_counter() * 1e9))(1)
made(1)(1)
thread = threading.Thread(target=work)
thread.start()
for k in range(5):
    time.sleep(0.03)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if made(k)(1.5) == 1.5 + k else 1)
    assert os.waitpid(child, 0)[1] == 0
stop.append(True)
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork_while_another_thread_compiles():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], cwd=ROOT, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, (done.returncode, done.stderr)


FORKS_FROM_THE_START = """
import os, signal, sys, threading, time
import numpy as np
from pyjitc import njit
SOURCES = ["np.sort(a).sum()", "np.linalg.det(np.outer(a, a))", "np.fft.fft(a)[0].real", "np.where(a > 1, a, 0).max()",
           "np.random.rand(3)[0] * 0 + a.std()", "np.median(a)", "np.unique(a).size", "np.interp(2.5, a, a)",
           "np.histogram(a)[0].sum()", "np.polyfit(a, a, 1)[0]"]
def made(k, n):
    space = {"np": np}
    whole = SOURCES[n % len(SOURCES)]
    exec(f"def f(a):\\n    s = 0.0\\n    for i in range({k}):\\n        s += i\\n    return s + {whole}", space)
    return space["f"]
stop = []
def work(first):
    k = first
    while not stop:
        njit(made(k, k))(np.arange(9.0))
        k += 2
threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
for thread in threads:
    thread.start()
children = []
for k in range(6):
    time.sleep(float(sys.argv[1]))
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        f, a = made(1000 + k, 3 * k + int(sys.argv[2])), np.arange(9.0)
        np.random.seed(1)
        os._exit(0 if abs(njit(f)(a) - f(a)) < 1e-6 else 1)
    children.append(child)
    while len(children) > 3:
        assert os.waitpid(children.pop(0), 0)[1] == 0
for child in children:
    assert os.waitpid(child, 0)[1] == 0
stop.append(True)
for thread in threads:
    thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("wait", [0.0, 0.03])
def test_forks_while_threads_compile_and_import(wait):
    """From the first compile on, when the compiler is being imported: the child gets no half-imported module, no lock
    that nobody will release, and none of the compiler's tables half changed."""
    place = {**os.environ, "PYJITC_CACHE": "0"}
    command = [sys.executable, "-W", "ignore", "-c", FORKS_FROM_THE_START, str(wait), str(round(wait * 1000))]
    done = subprocess.run(command, cwd=ROOT, env=place, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, (done.returncode, done.stderr)
