"""Random kernels with barriers, branches, loops and early exits: the CPU grid against threads of the interpreter."""
import linecache
import random

import numpy as np
import pytest

from pyjitc import cuda

from .simulate import simulate

THREADS = 8


class Program:
    """Text of a kernel. Variables a, b, c differ between threads, u and v do not; threads may wait, and u and v may
    change, only where control flow is the same for all threads."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.counter = 0
        body = self.block(0, True)
        self.text = "\n".join([
            "def kernel(out, n):", "    t = cuda.threadIdx.x", f"    s = cuda.shared.array({THREADS}, np.int64)",
            "    s[t] = t", "    a, b, c, u, v = t, 1, n, n, 2", *body,
            "    out[cuda.grid(1)] = a * 1000000 + b * 10000 + c * 100 + u + v", ""])

    def value(self, names="abctuvn"):
        r = self.random
        return f"{r.choice(names)} {r.choice('+-*')} {r.choice([*names, str(r.randrange(1, 9))])}"

    def block(self, depth, common):
        lines = []
        for _ in range(self.random.randrange(1, 5 if depth < 2 else 3)):
            lines += self.statement(depth, common)
        return lines

    def statement(self, depth, common):
        r, pad = self.random, "    " * (depth + 1)
        kind = r.randrange(14 if common else 9)
        if kind < 3 or depth > 3:
            return [f"{pad}{r.choice('abc')} = ({self.value()}) % 97"]
        if kind < 5:
            other = [f"{pad}else:", *self.block(depth + 1, False)] if r.random() < 0.5 else []
            return [f"{pad}if ({self.value()}) % {r.randrange(2, 4)} == 0:", *self.block(depth + 1, False), *other]
        if kind < 6:
            self.counter += 1
            k = f"k{self.counter}"
            return [f"{pad}for {k} in range(({self.value()}) % 4):", f"{pad}    a = (a + {k}) % 97",
                    *self.block(depth + 1, False)]
        if kind < 7:
            self.counter += 1
            w = f"w{self.counter}"
            return [f"{pad}{w} = b % 5", f"{pad}while {w} > 0:", *self.block(depth + 1, False), f"{pad}    {w} -= 1"]
        if kind < 9:
            return [f"{pad}{r.choice('abc')} = s[t] + {r.randrange(9)}" if common else f"{pad}c = (c + 1) % 97"]
        if kind < 10:
            return [f"{pad}{r.choice('uv')} = ({self.value('uvn')}) % 97"]
        if kind < 11:
            wait = f"{pad}cuda.syncthreads()"
            return [wait, f"{pad}s[t] = {r.choice('abc')}", wait,
                    f"{pad}{r.choice('abc')} = s[(t + {r.randrange(1, THREADS)}) % {THREADS}]", wait]
        if kind < 12:
            pick = r.randrange(3)
            return [f"{pad}b = cuda.syncthreads_count(a % 2)" if pick == 0
                    else f"{pad}c = cuda.shfl_xor_sync(-1, a, {r.choice([1, 2, 4])})" if pick == 1
                    else f"{pad}a = cuda.ballot_sync(-1, c % 2) % 97"]
        if kind < 13:
            other = [f"{pad}else:", *self.block(depth + 1, True)] if r.random() < 0.5 else []
            return [f"{pad}if ({self.value('uvn')}) % 2 == 0:", *self.block(depth + 1, True), *other]
        if r.random() < 0.3:
            return [f"{pad}if ({self.value()}) % 5 == 0:", f"{pad}    return"]
        self.counter += 1
        return [f"{pad}for k{self.counter} in range(u % 3 + 1):", *self.block(depth + 1, True)]

    def function(self):
        name = f"<generated {id(self)}>"
        linecache.cache[name] = (len(self.text), None, self.text.splitlines(True), name)
        space = {"cuda": cuda, "np": np}
        exec(compile(self.text, name, "exec"), space)
        return space["kernel"]


@pytest.mark.parametrize("seeds", [range(k, k + 8) for k in range(0, 40, 8)], ids=str)
def test_generated_kernels(seeds):
    for seed in seeds:
        program = Program(seed)
        function = program.function()
        kernel = cuda.jit(function)
        for n in (3, 10):
            wanted, got = np.full(2 * THREADS, -1), np.full(2 * THREADS, -1)
            simulate(function, 2, THREADS, (wanted, n))
            kernel[2, THREADS](got, n)
            assert got.tolist() == wanted.tolist(), f"seed {seed}, n = {n}\n{program.text}"
