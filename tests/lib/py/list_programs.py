"""Random functions of lists, for the comparison with the interpreter: `source(seed)` returns the text of one, and
arguments."""
import random

NUMBERS = ("x", "y", "n", "3", "-1", "2.5", "0", "len(a)", "x + 1", "x * y", "n % 3")


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.depth = 1

    def one(self, *choices):
        return self.random.choice(choices)

    def add(self, text):
        self.lines.append("    " * self.depth + text)

    def number(self):
        return self.one(*NUMBERS, f"{self.list()}[{self.index()}]", f"len({self.list()})", f"sum({self.list()})")

    def index(self):
        return self.one("0", "-1", "1", "n", "n - 1", "i" if "i" in self.names else "0", "2")

    def list(self):
        return self.one("a", "b", "c")

    def new(self):
        x = self.list()
        return self.one(
            "[]", f"[{self.number()}]", f"[{self.number()}, {self.number()}]", f"{x}[:]", f"{x}[1:]", f"{x}[::-1]",
            f"list({x})", f"sorted({x})", f"sorted({x}, key=lambda v: -v)", f"{x} + {self.list()}", f"{x} * 2",
            f"[v for v in {x} if v > {self.one('0', '1', 'n')}]", f"[v * 2 for v in {x}]", "[0] * n",
            f"[*{x}, {self.number()}]", "list(range(n))", f"{x}.copy()", f"list(reversed({x}))",
            f"list(map(lambda v: v + 1, {x}))", f"[p + q for p, q in zip({x}, {self.list()})]",
            f"[k for k, v in enumerate({x})]", x)

    def statement(self):
        x, kind = self.list(), self.random.randrange(17)
        if kind < 2:
            self.add(f"{x} = {self.new()}")
        elif kind < 4:
            self.add(f"{x}.append({self.number()})")
        elif kind == 4:
            self.add(f"{x}[{self.index()}] = {self.number()}")
        elif kind == 5:
            self.add(f"{x}[{self.index()}] {self.one('+', '-', '*')}= {self.number()}")
        elif kind == 6:
            self.add(f"y = {x}.pop({self.one('', '0', '-1')})")
        elif kind == 7:
            self.add(f"{x}.{self.one('reverse()', 'sort()', 'clear()', 'sort(reverse=True)')}")
        elif kind == 8:
            self.add(f"{x}.extend({self.new()})")
        elif kind == 9:
            self.add(f"{x}.insert({self.index()}, {self.number()})")
        elif kind == 10:
            self.add(f"y = {self.number()}")
        elif kind == 11:
            self.add(f"del {x}[{self.one('0', '-1', '1:', '::2', 'n:')}]")
        elif kind == 12:
            self.add(f"{x}[{self.one(':1', '1:', 'n:', '1:2')}] = {self.new()}")
        elif kind == 13:
            self.add(f"{x} {self.one('+=', '+=')} {self.new()}")
        elif kind == 14:
            self.add(f"rows.append({self.one(x, x, '[' + self.number() + ']')})")
        elif self.depth < 3:
            self.block()
        else:
            self.add(f"y = {x}.{self.one('count', 'index')}({self.number()})")

    def block(self):
        x = self.list()
        head = self.one(f"if {self.number()} > {self.number()}:", f"if {x}:", f"for y in {x}[:4]:",
                        "for i in range(n):", f"for i, y in enumerate({x}[:3]):", "for row in rows[:3]:",
                        f"if {x} == {self.list()}:", f"if {self.number()} in {x}:", "try:")
        names = set(self.names)
        if " i" in head:
            self.names.add("i")
        self.add(head)
        self.depth += 1
        if "row in" in head:
            self.add(f"row.append({self.one('1', 'x', 'n', '0.5')})")
        for _ in range(self.random.randrange(1, 4)):
            self.statement()
        self.depth -= 1
        if head == "try:":
            self.add("except (IndexError, ValueError):")
            self.add("    y = -7")
        self.names = names

    def text(self):
        self.names = set()
        for line in ("c = []", "rows = [a]", "y = n"):
            self.add(line)
        for _ in range(self.random.randrange(4, 11)):
            self.statement()
        self.add("return a, b, c, rows, y")
        return "def f(a, b, x, n):\n" + "\n".join(self.lines) + "\n"


def source(seed):
    return Program(seed).text()


ARGUMENTS = (([1, 2, 3], [4, 5], 2, 3), ([1.5, 2.5], [0.5], 1.5, 2), ([], [1], 1, 1), ([3, 1.5, 2], [2], 2, 2),
             ([7] * 12 + [2.5], [1] * 10, 3, 2))
