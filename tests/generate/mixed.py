"""Random loops over several arrays of different dtypes: the text of a module with a function `f` under @njit, and
CALLS, functions that make arguments.

Every trip converts elements from one array to another, reads what it or an earlier trip has written, at offsets, with
steps, forwards and backwards. The arrays are apart, or views of one buffer, also of different dtypes. The same seed
gives the same text."""
import random

DTYPES = ("float64", "float64", "float32", "float32", "int64", "int64", "int32", "int32", "int16", "int8", "uint8",
          "uint16", "uint32", "uint64", "bool", "complex64", "complex128")
LENGTHS = (0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67)
HEADER = '''import math

import numpy as np


def arrays(way, n, dtypes, seed, step, special):
    """Three arrays of n elements: with memory of their own, in one buffer one after the other, or overlapping."""
    r = np.random.default_rng(seed)
    size = n * abs(step)
    with np.errstate(all="ignore"):
        made = []
        for dtype in dtypes:
            values = r.integers(0 if dtype[0] in "ub" else -9, 60, size)
            if dtype[0] in "fc":
                values = values * 0.25
                if special and size:
                    values[r.integers(0, size)] = special
            made.append(values.astype(dtype))
    if way != "apart":
        buffer = np.zeros(16 * size + 64, np.uint8)
        at = 0
        for k, values in enumerate(made):
            place = buffer[at:at + values.nbytes].view(values.dtype)
            if values.dtype != bool or way == "after":
                place[:] = values
                made[k] = place
            at += values.nbytes + 16 - values.nbytes % 16 if way == "after" else 0 if way == "same" else 8 * (k + 1)
            if at + 16 * size > len(buffer):
                buffer, at = np.zeros(16 * size + 64, np.uint8), 0
    return [values[::step] for values in made]
'''


def program(seed) -> str:
    """The text of one program."""
    r = random.Random(seed)
    writer = _Writer(r)
    body = writer.function()
    step = r.choice((1, 1, 1, 1, 2, -1, 3))
    calls = []
    for _ in range(6):
        n = r.choice(LENGTHS)
        way = r.choice(("apart", "apart", "apart", "after", "same", "near"))
        special = r.choice((0.0, 0.0, 0.0, 1e10, 300.5, "float('nan')", "float('inf')", -1.5))
        calls.append(f"    lambda: (*arrays({way!r}, {n}, {writer.dtypes!r}, {r.randint(0, 999)}, {step}, {special}), "
                     f"{r.choice((n, n, n, n, max(n - 1, 0), n // 2, n + 1))}, {r.choice((0, 1, 2, 3, -2))}, "
                     f"{r.choice((0.5, 1.0, 2.0, -3.75, 100.0))}),")
    return f"{HEADER}\n\n{body}\n\n\nCALLS = [\n" + "\n".join(calls) + "\n]\n"


class _Writer:
    """locals: names of numbers that are bound at this line; counter: the loop's."""

    def __init__(self, r):
        self.r = r
        self.dtypes = tuple(r.choice(DTYPES[:8] if r.random() < .5 else DTYPES) for _ in "abc")
        self.offsets = r.choice(((0,), (0,), (0, 0, 0, 1), (0, 0, -1, 1), (0, 2, -3, 4)))
        self.lines: list = []
        self.locals = ["k", "x"]
        self.count = 0

    def function(self) -> str:
        r = self.r
        self.line(1, f"s = {r.choice(('0', '0.0', 'k', 'x'))}")
        for _ in range(r.choice((1, 1, 2, 3))):
            if r.random() < .15:
                self.slices(1)
            elif r.random() < .15:
                self.line(1, f"for r in range({r.choice((1, 2, 3))}):")
                self.loop(2)
            else:
                self.loop(1)
        self.line(1, "return s, k, x")
        return "@njit\ndef f(a, b, c, n, k, x):\n" + "\n".join(self.lines)

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def loop(self, depth):
        r = self.r
        margin = max(map(abs, self.offsets)) if r.random() < .9 else 0
        low, end = (str(margin), f"n - {margin}") if margin else ("0", r.choice(("n", "n", "n", "len(a)")))
        self.line(depth, "for i in " + r.choice((
            f"range({low}, {end})", f"range({low}, {end})", f"range({low}, {end})", f"range({low}, {end}, 2)",
            f"range({end} - 1, {low} - 1, -1)", f"range({low}, {end}, 3)")) + ":")
        bound = self.locals[:]
        for _ in range(r.choice((1, 2, 2, 3, 3, 4))):
            self.statement(depth + 1)
        self.locals = bound

    def statement(self, depth):
        r, way = self.r, self.r.random()
        if way < .55:
            self.line(depth, f"{self.element()} = {self.value()}")
        elif way < .67:
            self.line(depth, f"{self.element()} {r.choice(('+', '-', '*'))}= {self.value(1)}")
        elif way < .75:
            one, other = self.element(), self.element()
            self.line(depth, f"{one}, {other} = {other}, {one}")
        elif way < .85:
            self.count += 1
            self.line(depth, f"v{self.count} = {self.value()}")
            self.locals.append(f"v{self.count}")
        elif way < .93:
            compared = r.choice(("<", ">", "==", "!=", ">="))
            self.line(depth, f"if {self.value(1)} {compared} {r.choice(('k', 'x', '3'))}:")
            bound = self.locals[:]
            self.statement(depth + 1)
            self.locals = bound
        else:
            self.line(depth, f"s {r.choice(('+=', '=', '-='))} {self.value(1)}")

    def slices(self, depth):
        """An assignment between slices of one dtype: where those of different dtypes overlap, NumPy overwrites
        what it has not read yet."""
        r = self.r
        one = r.choice("abc")
        other = r.choice([name for name, dtype in zip("abc", self.dtypes) if dtype == self.dtypes["abc".index(one)]])
        left, right = r.choice((("1:", ":-1"), (":-1", "1:"), (":", "::-1"), (":", ":"), ("::2", "::2")))
        self.line(depth, f"{one}[{left}] = {other}[{right}]" + r.choice(("", " * 2", " + k")))

    def element(self) -> str:
        offset = self.r.choice(self.offsets)
        return f"{self.r.choice('abc')}[i{f' {chr(43) if offset > 0 else chr(45)} {abs(offset)}' if offset else ''}]"

    def value(self, depth=2) -> str:
        r, way = self.r, self.r.random()
        if depth == 0 or way < .35:
            return self.element() if r.random() < .75 else r.choice([*self.locals, "i", "2", "0.5", "1"])
        if way < .7:
            return f"({self.value(depth - 1)} {r.choice('++-**/')} {self.value(depth - 1)})"
        if way < .78:
            return f"{r.choice(('min', 'max'))}({self.value(depth - 1)}, {self.value(depth - 1)})"
        if way < .95:
            return f"{r.choice(('int', 'float', 'abs', 'np.float32', 'np.int32', 'np.uint8', 'np.float64', 'bool'))}(" \
                   f"{self.value(depth - 1)})"
        return f"({self.element()} if {self.element()} > {r.choice(('k', '3', 'x'))} else {self.value(0)})"
