"""Random loop nests over arrays: the text of a module with functions under @njit, of which `f` is called with CALLS,
functions that make arguments.

The loops have the forms that passes over loops look for: inner loops that do arithmetic on floats, sums over rows,
extremes, conversions, searches that test again, constant columns, rows that are assigned as a whole. Arguments are
arrays of few elements, of lengths around the numbers of lanes and of unrolled trips, which may be one array or share
memory; some hold nan, infinities and zeros of both signs. Some trip may raise or leave the loops. The same seed gives
the same text."""
import random

LENGTHS = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 25, 33)
FLOATS = ("float64", "float64", "float64", "float32")
INTS = ("int64", "int64", "int32", "uint8", "int16")
NUMBERS = ("0.0", "-0.0", "1.0", "0.5", "-1.5", "2.0", "3.25", "-7.0", "0.1", "100.0", "1e30", "math.inf", "-math.inf",
           "math.nan")
HEADER = '''import math

import numpy as np


def shared(way, n, rows, columns, dtype, seed, special):
    """Two arrays of one axis, and two of two, that share memory as `way` says."""
    r = np.random.default_rng(seed)

    def some(count):
        values = r.integers(-6, 40, count) * (0.25 if dtype[0] == "f" else 1)
        if special and count and dtype[0] == "f":
            at = r.integers(0, count, max(1, count // 8))
            values[at] = r.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e300], len(at))
        with np.errstate(all="ignore"):
            return values.astype(dtype)

    size = 4 * n + 8
    one, two = some(size), some(4 * rows * columns + 16)
    a, b = one[4:4 + n], one[4 + 2 * n:4 + 3 * n]
    c = two[4:4 + rows * columns].reshape(rows, columns)
    d = two[8 + 2 * rows * columns:8 + 3 * rows * columns].reshape(rows, columns)
    if way == "same":
        b, d = a, c
    elif way == "after":
        b, d = one[5:5 + n], two[5:5 + rows * columns].reshape(rows, columns)
    elif way == "before":
        b, d = one[2:2 + n], two[4 - min(columns, 4):][:rows * columns].reshape(rows, columns)
    elif way == "reversed":
        b, d = a[::-1], c[::-1]
    elif way == "steps":
        a, b = one[4:4 + 2 * n:2], one[5:5 + 2 * n:2]
        c, d = two[4:4 + 2 * rows * columns].reshape(rows, 2 * columns)[:, ::2], c
    elif way == "transposed":
        d = c.T if rows == columns else np.asfortranarray(d)
        b = a[::-1]
    elif way == "rows":
        a = c[rows // 2] if rows else a
        b = c[:, 0] if columns else b
    elif way == "columns":
        a, b = (c[:, 0], c[:, -1]) if columns else (a, b)
    elif way == "flat":
        a, d = c.ravel(), two[4:4 + rows * columns].reshape(columns, rows)
    return a, b, c, d
'''
WAYS = ("reversed", "steps", "transposed", "rows", "columns")  # have types of their own
CONTIGUOUS = ("apart", "apart", "same", "after", "before", "flat", "apart")


def program(seed) -> str:
    """The text of one program."""
    r = random.Random(seed)
    writer = _Writer(r)
    body = writer.function()
    helper = writer.helper()
    other = r.choice(WAYS) if r.random() < .3 else None
    calls = []
    for k in range(6):
        n, rows, columns = (r.choice(LENGTHS) for _ in range(3))
        if r.random() < .7:
            rows = n
        if r.random() < .6:
            columns = rows
        if writer.plain:
            rows = columns = n
        if r.random() < .25:
            columns = r.choice((2, 3, 4))
        if rows * columns > 300 and not writer.plain:
            columns = r.choice((1, 2, 3, 8))
        way = other if other and k >= 4 else r.choice(CONTIGUOUS[:3] if writer.plain else CONTIGUOUS)
        count = r.choice((n, n, n, n, n, n, max(n - 1, 0), n + 1, rows, columns, 0, 7, -1))
        length = r.choice((columns, columns, columns, columns, rows, n, max(n - 1, 0), 3, 1, 0, columns + 1))
        x, y = (r.choice(NUMBERS if r.random() < .3 else NUMBERS[:10]) for _ in range(2))
        made = f"shared({way!r}, {n}, {rows}, {columns}, {writer.dtype!r}, {r.randint(0, 999)}, {r.random() < .4})"
        p = (f"np.random.default_rng({r.randint(0, 999)}).integers({r.choice((0, 0, 0, 0, 0, -1, -n))}, "
             f"{max(r.choice((n, n, n, n, n + 1, 3)), 1)}, {max(n, 1)})")
        calls.append(f"    lambda: (*{made}, {p}, {count}, {length}, {x}, {y}),")
    return f"{HEADER}\n\n{helper}\n\n\n{body}\n\n\nCALLS = [\n" + "\n".join(calls) + "\n]\n"


class _Writer:
    """plain: whether indices are nearly always the counters of loops, and lengths fit; ints, floats: names of ints and
    floats that are bound; counters: those of the loops around the line."""

    def __init__(self, r):
        self.r = r
        self.plain = r.random() < .6
        self.dtype = r.choice(FLOATS if r.random() < .75 or self.plain else INTS)
        self.lines: list = []
        self.depth = 1
        self.count = 0
        self.ints = ["n", "m"]
        self.floats = ["x", "y"]
        self.sums = ["s", "t"]
        self.counters: list = []
        self.budget = r.choice((4, 7, 10, 14))
        self.calls = r.random() < .15
        self.raises = r.random() < .5

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def fresh(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def helper(self) -> str:
        return "@njit\ndef g(v, k):\n    " + self.r.choice((
            "return v * 0.5 + k",
            "if v > 30:\n        raise ValueError(k)\n    return v - k",
            "while v > 1.0:\n        v = v * 0.5 - 0.1\n    return v",
            "w = 0.0\n    for h in range(k % 20):\n        w = w * 0.5 + v\n        if w > 9.0:\n            break\n"
            "    return w"))

    def function(self) -> str:
        r = self.r
        self.line(f"s, t, q = {r.choice(('0.0', 'x', 'math.inf', '-math.inf', 'np.float64(0.0)', '1e9'))}, "
                  f"{r.choice(('0.0', 'y', '-0.0', '1.0'))}, {r.choice(('0', '0', '5', '2**63 - 40'))}")
        handled = r.random() < .15
        if handled:
            self.line("try:")
            self.depth += 1
        for _ in range(r.choice((1, 1, 1, 2))):
            r.choice((self.lanes, self.lanes, self.lanes, self.sums_of_rows, self.sums_of_rows, self.sums_of_rows,
                      self.extremes, self.extremes, self.converted, self.searching, self.searching, self.columns,
                      self.nest, self.nest, self.nest, self.whole, self.whole, self.falling, self.products))()
        if handled:
            self.depth -= 1
            self.line(f"except {r.choice(('IndexError', 'ValueError', 'ZeroDivisionError', 'LookupError'))} as error:")
            self.line("    return str(error), s, t, q")
        self.line("return s, t, q")
        return "@njit\ndef f(a, b, c, d, p, n, m, x, y):\n" + "\n".join(self.lines)

    # -- parts

    def head(self, kind="any") -> str:
        """The line that begins a counted loop; returns its counter."""
        r, name = self.r, "ijkl"[len(self.counters)] if len(self.counters) < 4 else self.fresh("i")
        outer = self.counters[-1:] or ["0"]
        ends = ["len(a)", "len(a)", "n", "n", "len(b)", "c.shape[0]"]
        if self.plain:
            ends = ["n", "len(a)"] if not self.counters else ["c.shape[1]", "m", "n"]
        elif self.counters or kind == "row":
            ends = ["c.shape[1]", "c.shape[1]", "m", "m", "d.shape[1]", "n", "len(a)"]
        end = r.choice(ends)
        ranges = [f"range({end})"] * 6 + [
            f"range(1, {end})", f"range({end} - 1)", f"range({end} - 1, -1, -1)", f"range(0, {end}, 2)",
            f"range({end}, 0, -1)", f"range({end} - 1, 0, -3)", f"range(1, {end}, 3)"]
        if self.plain and r.random() < .9:
            ranges = ranges[:9]
        elif self.counters:
            ranges += [f"range({outer[0]})", f"range({outer[0]}, {end})", f"range({outer[0]} + 1, {end})", "range(17)",
                       "range(8)", "range(4)"]
        self.line(f"for {name} in {r.choice(ranges)}:")
        return name

    def inside(self, counter, write):
        self.depth += 1
        ints, floats = self.ints[:], self.floats[:]
        if counter:
            self.counters.append(counter)
        write()
        if counter:
            self.counters.pop()
        self.ints, self.floats = ints, floats
        self.depth -= 1

    def index(self) -> str:
        r = self.r
        near = self.counters[-1] if self.counters and r.random() < .75 else r.choice(self.counters or ["0"])
        if self.plain and r.random() < .9:
            return near
        choices = [near] * 8 + [f"{near} - 1", f"{near} + 1", f"n - 1 - {near}", f"2 * {near}", "0", "-1", f"-{near}",
                                f"{near} // 2"]
        if len(self.counters) > 1:
            choices += [f"{self.counters[0]} - {self.counters[1]}", f"{self.counters[0]} + {self.counters[1]}"]
        if len(self.counters) < 2 or r.random() < .3:
            choices += [f"p[{near}]"]
        return r.choice(choices)

    def element(self, names="abcd") -> str:
        r, name = self.r, self.r.choice(names)
        if name in "ab":
            return f"{name}[{self.index()}]"
        outer = r.choice(self.counters or ["0"])
        first = r.choice([self.counters[0] if self.counters else "0"] * 4 + [outer, "0", "-1"])
        if self.plain and self.counters and r.random() < .9:
            return f"{name}[{r.choice(self.counters)}, {r.choice(self.counters)}]"
        last = r.choice([self.counters[-1] if self.counters else "0"] * 4 + [self.index(), outer, "0", "1", "-1"])
        return f"{name}[{first}, {last}]"

    def value(self, depth=2) -> str:
        r = self.r
        if depth == 0 or r.random() < .25:
            if r.random() < .5:
                return self.element()
            return r.choice([*self.floats * 2, "x", r.choice(("0.5", "1.0", "2", "0.25", "3.7", "-0.0"))])
        way = r.random()
        if way < .7:
            return f"({self.value(depth - 1)} {r.choice('++--***/')} {self.value(depth - 1)})"
        if way < .78:
            return f"{r.choice(('min', 'max'))}({self.value(depth - 1)}, {self.value(depth - 1)})"
        if way < .86:
            return f"{r.choice(('abs', '-', 'abs'))}({self.value(depth - 1)})"
        if way < .9:
            return f"{r.choice(('np.sqrt', 'math.sqrt'))}({r.choice(('abs', ''))}({self.value(depth - 1)}))"
        if way < .93 and self.calls:
            return f"g({self.value(0)}, {r.choice(self.counters or ['n'])})"
        if way < .96 and self.counters:
            return r.choice((f"({r.choice(self.counters)} * 0.25)", f"float({r.choice(self.counters)})",
                             r.choice(self.counters)))
        return f"({self.value(0)} if {self.test()} else {self.value(0)})"

    def test(self) -> str:
        r = self.r
        way = r.random()
        if way < .6:
            return f"{self.value(1)} {r.choice(('<', '<=', '>', '>=', '==', '!='))} {self.value(0)}"
        if way < .75 and self.counters:
            return f"{r.choice(self.counters)} {r.choice(('<', '>', '==', '!='))} {r.choice(('3', '7', 'n', '8', '0'))}"
        if way < .85 and self.counters:
            return f"{r.choice(self.counters)} % {r.choice((2, 3, 7))} == {r.randint(0, 2)}"
        return r.choice((f"not {self.value(0)} < 2.0", f"0.0 < {self.value(0)} < 5.0",
                         f"{self.value(0)} > 1 and {self.value(0)} < 9", f"{self.value(0)} < 0 or {self.value(0)} > 9"))

    def store(self, names="abcd"):
        r = self.r
        value = self.value(2)
        if self.dtype[0] != "f":
            value = r.choice((f"int({value})", value, self.r.choice(self.counters or ["n"])))
        self.line(f"{self.element(names)} {r.choice(('=', '=', '=', '+=', '-=', '*='))} {value}")

    def collect(self):
        r = self.r
        name = r.choice("st")
        way = r.random()
        if way < .4:
            self.line(f"{name} {r.choice(('+=', '+=', '-=', '*='))} {self.value(2)}")
        elif way < .55:
            self.line(f"{name} = {r.choice(('min', 'max'))}({name}, {self.value(1)})")
        elif way < .7:
            word = r.choice("<>")
            value = self.fresh()
            self.line(f"{value} = {self.value(1)}")
            self.line(f"if {value} {word} {name}:")
            self.line(f"    {name} = {value}")
            if r.random() < .3:
                self.line(f"    q = {r.choice(self.counters or ['n'])}")
        elif way < .8:
            self.line(f"{name} = {self.value(2)}")
        else:
            self.line(f"q {r.choice(('+=', '+=', '-='))} {r.choice(['1', '2', *self.counters])}")

    def leave(self):
        r = self.r
        words = ["break", "continue", "break"]
        if self.raises:
            words += [f"raise ValueError({r.choice(self.counters)}, q)", "raise IndexError", "return s, t, -1"]
        self.line(f"if {self.test()}:")
        self.line(f"    {r.choice(words)}")

    def statement(self):
        r = self.r
        self.budget -= 1
        way = r.random()
        if way < .03 and self.counters:
            self.rebind()
        elif way < .2:
            value = self.value(2)
            name = r.choice(self.floats[2:]) if len(self.floats) > 2 and r.random() < .4 else self.fresh()
            self.line(f"{name} = {value}")
            self.floats = [*dict.fromkeys([*self.floats, name])]
        elif way < .45:
            self.store()
        elif way < .65:
            self.collect()
        elif way < .75 and self.counters:
            self.leave()
        elif way < .85:
            self.line(f"if {self.test()}:")
            self.inside(None, self.block)
            if r.random() < .5:
                self.line("else:")
                self.inside(None, self.block)
        elif way < .93 and self.depth < 5:
            self.until()
        else:
            self.collect()

    def rebind(self):
        """Another array for one of the names, which may change from trip to trip, with its lengths and strides."""
        r, counter = self.r, self.r.choice(self.counters)
        self.line(r.choice((
            f"{r.choice('ab')} = (a, b)[{counter} % 2]",
            f"{r.choice('ab')} = (a, b[::-1], c[0] if len(c) else a)[{counter} % 3]",
            f"{r.choice('cd')} = (c, d)[{counter} % 2]", f"{r.choice('cd')} = (d, c.T, c)[{counter} % 3]",
            f"d = np.ones((max(n, 1), max(m, 0) + {counter} % 5), c.dtype)", f"b = a[{counter} % 3:].copy()",
            f"c = d if {self.test()} else c", f"a = b if {self.test()} else a")))

    def block(self):
        for _ in range(self.r.choice((1, 1, 2))):
            self.statement()

    def until(self):
        """A loop that does arithmetic until a float is small, or large."""
        r = self.r
        z, w = self.fresh("z"), self.fresh("w")
        self.line(f"{z} = {self.value(1)}")
        cap = r.choice((10, 20, 33))
        counts = r.random() < .7
        step = r.choice((f"{z} = {z} * 0.5 - 0.1", f"{z} = {z} * 0.75 + 0.1 * x", f"{z} = 0.5 * ({z} + y / {z})",
                         f"{z} = {z} * {z} - 0.3", f"{z} = min({z} * 1.5, 9.0) - 0.2", f"{z} -= 0.75"))
        test = r.choice((f"{z} > 1.0", f"abs({z}) > 0.3", f"{z} * {z} > 2.0", f"not {z} < 1.0", f"{z} != x",
                         f"abs({z} * {z} - y) > 0.01"))
        if r.random() < .4:
            self.line(f"{w} = 0")
            self.line(f"while {test} and {w} < {cap}:")
            self.depth += 1
            self.line(f"{w} += 1")
        else:
            if counts:
                self.line(f"{w} = -1")
            self.line(f"for {w} in range({r.choice((cap, cap, 'm', 'n'))}):")
            self.depth += 1
            self.line(f"if not ({test}):")
            self.line(f"    {r.choice(('break', 'break', 'continue'))}")
        self.line(step)
        floats, self.floats = self.floats, [*self.floats, z]
        if r.random() < .3:
            self.line(r.choice(("q += 1", f"s += {z}", f"t = max(t, {z})", f"if {z} < -5.0: break",
                                f"if {z} > 1e6: raise OverflowError(q)", f"{z} = {z} / y", f"{z} += {self.element()}")))
        self.floats = floats
        self.depth -= 1
        self.floats = [*self.floats, z]
        if counts:
            self.line(r.choice((f"q += {w}", f"q = q + {w}", f"s += {w}", f"{z} = {z} + {w} * 0.25", "q += 1")))

    # -- nests

    def nest(self):
        """Any statements in one to three loops."""
        counter = self.head()

        def write():
            self.block()
            if len(self.counters) < 3 and self.budget > 0 and self.r.random() < .8:
                inner = self.head()
                self.inside(inner, write)
            if self.r.random() < .5:
                self.block()

        self.inside(counter, write)

    def lanes(self):
        """An outer loop whose inner loops do arithmetic."""
        r = self.r

        def write():
            if r.random() < .3:
                self.collect()
            if r.random() < .3:
                self.line(f"if {self.test()}:")
                self.inside(None, self.until)
            else:
                self.until()
            if r.random() < .3:
                self.until()
            if r.random() < .25:
                self.leave()
            target = r.choice((self.counters[-1], self.counters[-1], self.index()))
            if r.random() < .3:
                self.line(f"if {self.test()}:")
                self.line("    " + r.choice((f"b[{target}] = {self.number(1)}", "q += 1", f"s += {self.value(0)}")))
            else:
                self.line(r.choice((f"b[{target}] = {self.number(1)}", f"b[{target}] = {self.number(0)}", "q += 3",
                                    f"s += {self.value(1)}", f"a[{target}] = {self.number(1)}",
                                    f"c[{target}, 0] = {self.number(1)}")))
            if r.random() < .3:
                self.collect()

        self.inside(self.head(), write)

    def number(self, depth) -> str:
        """A value for an element."""
        value = self.value(depth)
        return value if self.dtype[0] == "f" else f"int({value})"

    def sums_of_rows(self):
        """Sums over the outer loop into elements that the inner one passes over."""
        r = self.r
        if r.random() < .4:
            first = self.head()
            self.counters.append(first)
            self.depth += 1
        second = self.head()
        self.counters.append(second)
        self.depth += 1
        if r.random() < .3:
            self.line(f"w = {self.element()}")
            self.floats.append("w")
        third = self.head("row")
        self.counters.append(third)
        self.depth += 1
        i, k, j = self.counters[0], self.counters[-2], self.counters[-1]
        targets = (f"b[{j}]", f"c[{i}, {j}]", f"c[0, {j}]", f"b[{j} + 1]", f"a[{j}]", f"c[{k}, {j}]",
                   f"b[m - 1 - {j}]", f"c[{j}, {i}]")
        target = r.choice(targets[:2] if self.plain and r.random() < .7 else targets)
        terms = (f"d[{i}, {k}] * d[{k}, {j}]", f"d[{k}, {j}]", f"x * d[{k}, {j}]", f"a[{k}] * d[{k}, {j}]",
                 f"d[{k}, {j}] * a[{j}]", f"c[{k}, {j}]", f"b[{k}] * d[{j}, {k}]", f"b[{j} - 1]",
                 self.value(1))
        self.line(f"{target} {r.choice(('+=', '+=', '-=', '*='))} {r.choice(terms)}")
        if r.random() < .25:
            self.line(f"{target} = {target} {r.choice('+-')} {r.choice(terms)}")
        if r.random() < .15:
            self.collect()
        self.depth -= len(self.counters)
        self.counters = []
        if "w" in self.floats:
            self.floats.remove("w")

    def extremes(self):
        """The least and the greatest of some values."""
        r = self.r

        def write():
            value = self.fresh()
            self.line(f"{value} = {self.value(1)}")
            for _ in range(r.choice((1, 1, 2))):
                name, word = r.choice("st"), r.choice(("<", ">", "<=", ">="))
                self.line(r.choice((f"if {value} {word} {name}: {name} = {value}",
                                    f"{name} = {r.choice(('min', 'max'))}({name}, {value})",
                                    f"{name} = {r.choice(('min', 'max'))}({value}, {name})",
                                    f"{name} = {value} if {value} {word} {name} else {name}",
                                    f"{name} = {name} if {name} {word} {value} else {value}")))
            if r.random() < .2:
                self.line(r.choice(("q += 1", f"q += {self.counters[-1]}", f"b[{self.counters[-1]}] = s")))

        if r.random() < .5:
            outer = self.head()

            def rows():
                if r.random() < .5:
                    self.line(f"s = {self.value(0)}")
                self.inside(self.head("row"), write)
                if r.random() < .6:
                    self.line(f"{self.element()} = {r.choice(('s', 't', 's - t') if self.dtype[0] == 'f' else ('q',))}")

            self.inside(outer, rows)
        else:
            self.inside(self.head(), write)

    def converted(self):
        """Conversions that may not fit, and their stores."""
        r = self.r

        def write():
            i = self.counters[-1]
            self.line(f"v = {self.value(2)}")
            for _ in range(r.randint(0, 2)):
                self.line(r.choice(("if v > 255.0: v = 255.0", "if v < 0.0: v = 0.0", "v = min(max(v, 0.0), 255.0)",
                                    "v = v * x", "if not v > -100: v = -100.0")))
            if r.random() < .2:
                self.line(f"if {self.test()}:")
                self.depth += 1
                self.line(f"p[{i}] = {r.choice(('int(v)', 'int(v) + 1', 'int(v * y)'))}")
                self.depth -= 1
            else:
                self.line(r.choice((f"p[{i}] = int(v)", f"b[{i}] = int(v)", f"p[{i}] = p[{i}] + int(v)",
                                    f"p[p[{i}]] += 1", f"a[{i}] = int(v) * {i}", "p[int(v)] += 1", "q += int(v)",
                                    f"p[{i}] = round(float(v))", f"b[{i}] = math.floor(v)")))

        self.inside(self.head(), write)

    def searching(self):
        """A loop that goes on with what it finds, and tests again after it."""
        r = self.r

        def write():
            i = self.counters[-1]
            fall = r.choice(("k = k - 1", "k = p[k - 1]", "k = min(k - 1, p[k - 1])", "k //= 2"))
            other = r.choice(("a[k]", "b[k]", "a[k - 1]", "p[k]"))
            word, again = r.choice((("!=", "=="), ("==", "!="), (">", "<="), ("<", ">"), (">=", ">=")))
            self.line("g_ = 0")
            self.line(f"while k > 0 and {other} {word} {self.element('ab')} and g_ < 9:")
            self.line("    g_ += 1")
            self.line(f"    {fall}")
            if r.random() < .3:
                self.line(f"    {other} = {self.counters[-1]}" if other[0] != "p" else "    q += k")
            self.line(f"if {other} {r.choice((word, again))} {self.element('ab')}:")
            self.line(f"    k += {r.choice((1, 1, 2))}")
            self.line(f"{r.choice(('p', 'b'))}[{i}] = k")

        self.line(f"k = {r.choice(('0', '0', 'n', '1', 'm'))}")
        self.inside(self.head(), write)

    def columns(self):
        """Rows with constant columns."""
        r = self.r

        def write():
            i = self.counters[-1]
            terms = [f"c[{i}, {k}]" for k in r.sample(range(4), r.randint(2, 3))]
            self.line("v = " + f" {r.choice('+-*')} ".join(terms))
            for _ in range(r.randint(1, 3)):
                self.line(r.choice((f"d[{i}, 0] = {r.choice(('v', 'v', i)) if self.dtype[0] == 'f' else i}",
                                    f"c[{i}, {r.randint(0, 2)}] += 1",
                                    f"c[{i}, 1] = c[{i}, 0]", "s += v", f"d[{i}, {r.randint(0, 3)}] = c[{i}, 1]",
                                    "s = min(s, v)", f"if v > 3: c[{i}, 0] = a[{i}]", f"a[{i}] = c[{i}, 1]",
                                    f"c[0, 1] = {i}", f"d[{i} - 1, 1] += c[{i}, 0]")))

        self.inside(self.head(), write)

    def falling(self):
        """Insertion into a part that is sorted."""
        r = self.r

        def write():
            i = self.counters[-1]
            self.line(f"v = {r.choice((f'a[{i}]', f'b[{i}]', f'c[{i}, 0]'))}")
            self.line(f"k = {r.choice((i, i, f'{i} + 1', 'n'))}")
            before = f"{r.choice('ab')}[k - 1]"
            self.line(f"while k > {r.choice(('0', '0', '1'))} and {before} {r.choice(('>', '>=', '<'))} v:")
            self.line(f"    {r.choice(('a[k] = a[k - 1]', 'b[k] = a[k - 1]', 'a[k] = b[k - 1]; q += k'))}")
            self.line(f"    k -= {r.choice((1, 1, 2))}")
            self.line(f"{r.choice('ab')}[{r.choice(('k', 'k', 'k - 1'))}] = v")

        self.inside(self.head(), write)

    def whole(self):
        """Statements on whole rows, in a loop or not."""
        r = self.r
        vectors = ("a", "b", "a[1:]", "b[:-1]", "a[:-1]", "b[::-1]", "a[::2]", "c[0]", "c[:, 0]", "a[:n]", "b[1:n]",
                   "d[-1]", "d[:, -1]", "a[::-1]", "b[n:]", "p", "p[1:]")
        tables = ("c", "d", "c.T", "d.T", "c[1:]", "c[:-1]", "d[:, 1:]", "c[:, ::-1]", "d[::-1]", "c[:, :-1]",
                  "a[:, None]", "b[None]", "c[:m]", "d[:, :m]")

        def write():
            rows = tuple(f"{name}[{self.index()}{cut}]" for name in "cd" for cut in ("", ", :", ", 1:", ", ::-1")) + (
                f"c[:, {self.index()}]", f"d[1:, {self.index()}]")
            for _ in range(r.choice((1, 1, 2, 3))):
                self.budget -= 1
                group = r.choice((vectors, vectors, tables, (*rows, *vectors) if self.counters else vectors))
                target, one, two = (r.choice(group) for _ in range(3))
                if r.random() < .2:
                    two = r.choice(("x", "2", "n", "a[0]", "c[0, 0]", "a.sum()", "np.float32(2)", "y"))
                value = r.choice(("{0}", "{0} + {1}", "{0} - {1}", "{0} * {1}", "np.where({0} > 1, {0}, {1})",
                                  "{0} + {1} * 2", "-{0}", "abs({0})", "np.sqrt(abs({0}))", "{0}[::-1]",
                                  "{0} > {1}", "np.minimum(abs({0}) + 1, 9)", "({0} + {1})[::-1]", "{0}.copy()",
                                  "np.cumsum({0})", "np.sort(abs({0}))", "{0} / 2", "{0} // 3")).format(one, two)
                way = r.random()
                if way < .5:
                    target += "[:]" if target in ("a", "b", "c", "d", "p") or target.endswith(".T") else ""
                    self.line(f"{target} {r.choice(('=', '=', '+=', '-=', '*='))} {value}")
                elif way < .6:
                    self.line(f"np.{r.choice(('add', 'subtract', 'multiply'))}({one}, {two}, out={target})")
                elif way < .66:
                    self.line(f"np.{r.choice(('add', 'multiply'))}({one}, {two}, out={target}, where={target} > 2)")
                elif way < .75:
                    name, other = r.choice(("aa", "ab", "ba", "cc", "cd", "dc"))
                    self.line(f"{name}[{other} "
                              f"{r.choice(('>', '<', '!='))} {r.choice(('1', '2', 'x'))}] = "
                              f"{r.choice(('0', '1', 'n', 'a[0]'))}")
                elif way < .82:
                    self.line(f"{r.choice('ab')}[p] {r.choice(('=', '+=', '-='))} {r.choice((one, '1', 'a[p]', 'b'))}")
                elif way < .88:
                    self.line(f"{r.choice('ab')}[:len(p)] = {r.choice('ab')}[p]")
                elif way < .94:
                    self.line(f"s += {r.choice(('np.sum(abs({0}) > 1)', 'len({0})', '({0} > 2).sum()'))}".format(one))
                else:
                    names = r.sample(("c[0]", "c[1]", "c[-1]", "d[0]", "d[1]"), 2)
                    values = [one + r.choice(("", ".copy()")) for one in names[::-1]]
                    self.line(f"{', '.join(names)} = {', '.join(values)}")

        if r.random() < .6:
            self.inside(self.head(), write)
        else:
            write()

    def products(self):
        """Products of small matrices of whole numbers, written out or by `@`."""
        r = self.r
        self.line("e = np.floor(c * 1.0)")
        self.line("e[~(abs(e) < 100)] = 1.0")
        self.line(r.choice((
            "h = e @ e.T", "h = e.T @ e", "h = e[:2] @ e.T", "h = e @ e.T[:, :3]", "h = np.dot(e, e.T)",
            "h = e @ e[0]", "h = e.T[:, :2] @ e[:2]", "h = e[:, :1] @ e[:1]", "h = e[::-1] @ e.T",
            "h = np.outer(e[0], e[-1])")))
        self.line("t += h.sum()")
        if r.random() < .5:
            i = self.head()
            self.line(f"    s += (e[{i}] @ e[{r.choice((i, '0', '-1'))}]) * {r.choice(('1', i))}")
