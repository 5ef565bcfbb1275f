"""Compiles many functions and prints a digest of each stage of each: `python -m tests.api.compile_many [DIRECTORY]`.

The output has to be the same in every process, for any hash seed and any addresses of objects. So that a dependence on
addresses is not hidden by chance, the hashes of the compiler's objects and the order of their addresses are mixed with
the hash seed first. The stages themselves are written to the directory, one file each. Without a directory only every
third function is compiled to object code, which depends on LLVM's text alone: for all functions this would take a third
of the test's time.
"""
import hashlib
import math
import pathlib
import random
import sys
from functools import partial

from pyjitc.ir import core


def mix():
    """Make hashes and the order of addresses depend on PYTHONHASHSEED as much as they can."""
    seed = hash("seed") | 1

    def scrambled(self):
        return (id(self) >> 4) * seed % ((1 << 61) - 1)

    for cls in (core.Op, core.Value, core.Edge, core.Inst, core.Block, core.Function):
        cls.__hash__ = scrambled
    holes = [(core.Value(), core.Inst(None), core.Block(), core.Edge(None)) for _ in range(20_000)]
    random.Random(seed).shuffle(holes)
    del holes[::2]
    return holes


HOLES = mix() if __name__ == "__main__" else []

import numpy as np  # noqa: E402
from tests.cuda.kernels import CASES  # noqa: E402
from tests.ir.functions import FUNCTIONS  # noqa: E402

from pyjitc import njit  # noqa: E402
from pyjitc.base.options import Options  # noqa: E402
from pyjitc.codegen import compile as compiling  # noqa: E402
from pyjitc.codegen import link  # noqa: E402
from pyjitc.codegen.compile import compile_module  # noqa: E402
from pyjitc.codegen.grid import compile_grid  # noqa: E402
from pyjitc.cuda import blockcode, ptx  # noqa: E402
from pyjitc.ir.show import show_module  # noqa: E402
from pyjitc.pipeline import stages as pipeline  # noqa: E402
from pyjitc.types.typeof import typeof  # noqa: E402

A, B, M = np.arange(8.0), np.arange(8.0)[::-1].copy(), np.arange(12.0).reshape(3, 4)


def stencil(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j] - 4 * a[i, j]


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def fused(a, b):
    return np.sum(np.exp(a) * b + np.where(a > b, a, -b)) / a.size


def masked(a, b):
    c = a * 2 + b
    c[c > 3] = 0
    return c[a < b].mean(), c.max(), np.cumsum(c)


def axes(m):
    return m.sum(axis=0), m.mean(axis=1), m.T @ m, m[:, ::-1] + m[0]


def collatz(n):
    steps = 0
    while n != 1:
        if n & 1:
            n = 3 * n + 1
        else:
            n = n // 2
        steps += 1
    return steps


def sieve(n):
    prime = np.ones(n, np.bool_)
    prime[:2] = False
    for i in range(2, n):
        if prime[i]:
            for j in range(i * i, n, i):
                prime[j] = False
    return prime.sum()


@njit
def even(n):
    return True if n == 0 else odd(n - 1)


@njit
def odd(n):
    return False if n == 0 else even(n - 1)


def mutual(n):
    return even(n), odd(n)


@njit
def ackermann(m, n):
    return n + 1 if m == 0 else ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


def recursion(n):
    return ackermann(2, n)


def closures(a, k):
    total = 0.0

    def add(x):
        nonlocal total
        total += x * k
        return total

    def twice(f, x):
        return f(f(x))

    return add(a[0]) + add(a[1]), twice(lambda y: y + k, total)


def walked(n):
    def pairs(m):
        for i in range(m):
            yield i, i * 2
            if i > 5:
                return

    return sum(x * y for x, y in pairs(n))


def tried(a, i, j):
    try:
        x = a[i]
        try:
            y = 1 // j
        except ZeroDivisionError:
            y = -1
            raise ValueError(f"no {i} of {j}")
        else:
            x += y
        finally:
            a[0] = x
    except (ValueError, IndexError) as error:
        return str(error)
    return x


def unions(x, flag):
    value = None
    if flag:
        value = x * 2.5
    elif x > 3:
        value = "large"
    if value is None:
        return 0
    return value


def many(a, b, c, d, n):
    s = t = u = v = 0.0
    for i in range(n):
        if a[i] > b[i]:
            s, t = t + float(a[i]), s
        elif c[i] > d[i]:
            u, v = v + float(c[i]), u
        else:
            s, t, u, v = v, u, t, s
    return s, t, u, v


def sorting(a):
    b = np.sort(a)
    return b, np.argsort(a), np.unique(a), np.searchsorted(b, 2.0)


def insertion(a):
    for i in range(1, len(a)):
        x, j = a[i], i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x
    return a


def text(n, x):
    return f"{n:>4}|{x:.3f}|{n!r}", "a" if n else "b"


def made(n):
    return np.zeros(n), np.linspace(0, 1, n), np.arange(n) ** 2, np.full((n, 2), 7.5), np.eye(n)


def drawn(n):
    np.random.seed(3)
    return np.random.random(n).sum(), np.random.normal(size=n).max(), np.random.randint(0, 9)


def complexes(z, n):
    w = 0j
    for _ in range(n):
        w = w * w + z
        if abs(w) > 2:
            break
    return w, w.real, w.conjugate()


def dates(a):
    return a + np.timedelta64(2, "D"), (a - a[0]).max()


def records(a):
    s = 0.0
    for r in a:
        s += r["x"] * r["n"]
    return s


def ended(a):
    n = 0
    for k, x in enumerate(a):
        for y in a[k:]:
            if y < x:
                continue
            if x > 100:
                break
            n += 1
        else:
            n -= 1
    else:
        n += 100
    return n


def special(x):
    return math.sin(x), math.hypot(x, 2), math.gamma(x), math.floor(x), math.isqrt(9), math.gcd(12, 18)


def matching(t):
    match t:
        case (int(a), 0):
            return a
        case (a, b) if b > 3:
            return a + b
        case _:
            return -1


def wide(a):
    x0 = x1 = x2 = x3 = 0.0
    for i in range(0, len(a) - 3, 4):
        x0, x1, x2, x3 = x0 + a[i], x1 + a[i + 1], x2 + a[i + 2], x3 + a[i + 3]
    return x0, x1, x2, x3


RECORDS = np.zeros(3, [("x", "f8"), ("n", "i4")])
OWN = [
    (stencil, (M, M)), (matmul, (M, M.T, np.zeros((3, 3)))), (fused, (A, B)), (masked, (A, B)), (axes, (M,)),
    (collatz, (27,)), (sieve, (50,)), (mutual, (5,)), (recursion, (2,)), (closures, (A, 2.0)), (walked, (9,)),
    (tried, (A, 1, 0)), (unions, (2, True)), (many, (A, B, A, B, 8)), (sorting, (A,)), (insertion, (A,)),
    (text, (3, 1.5)), (made, (4,)), (drawn, (4,)), (complexes, (1j, 9)), (dates, (np.arange(3).astype("M8[D]"),)),
    (records, (RECORDS,)), (ended, (A,)), (special, (2.5,)), (matching, ((1, 5),)), (wide, (A,)),
]


def of_function(function, args):
    """Stages of a function: text or bytes by name."""
    types, options = tuple(map(typeof, args)), Options()
    typed = pipeline.infer(function, types, options)
    module = pipeline.optimise(typed.functions, options)
    made = compile_module(module, pipeline.calling(function, typed), None, options)
    return {"ir": show_module(module), "llvm": made.text, "object": b"".join(made.object)}


def of_grid(kernel, args):
    types = tuple(map(typeof, args))
    module, plan, _ = blockcode.optimised(kernel.py_func, types, kernel.options)
    text = show_module(module)
    made = compile_grid(module, plan, kernel.options)
    return {"ir": text, "llvm": made.text, "object": made.object}


def of_device(kernel, args):
    return {"ptx": ptx.compile_ptx(kernel.py_func, tuple(map(typeof, args)), kernel.options, kernel.bounds,
                                   "sm_80").kernel.ptx}


def all_stages():
    """(name, function that makes its stages) for all functions."""
    for function, calls in FUNCTIONS:
        yield function.__name__, partial(of_function, function, calls[0])
    for function, args in OWN:
        yield function.__name__, partial(of_function, function, args)
    for name, case in CASES.items():
        args, _ = case.make(np.random.default_rng(7))
        yield f"grid {name}", partial(of_grid, case.kernel, args)
        yield f"device {name}", partial(of_device, case.kernel, args)


def main(order, directory=None):
    sys.dont_write_bytecode = True  # other processes must not find the empty objects that stand for code below
    to_object = link.to_object
    for k, (name, stages) in list(enumerate(all_stages()))[::-1 if order == "backwards" else 1]:
        compiles = directory is not None or k % 3 == 0
        link.to_object = to_object if compiles else lambda *given: b""
        compiling._stub.cache_clear()
        found = {stage: made.encode() if isinstance(made, str) else made for stage, made in stages().items()
                 if compiles or stage != "object"}
        if directory is not None:
            for stage, made in found.items():
                pathlib.Path(directory, f"{name}.{stage}").write_bytes(made)
        print(name, *(f"{stage}:{hashlib.sha256(made).hexdigest()[:16]}" for stage, made in found.items()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
