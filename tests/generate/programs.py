"""Random small typed programs: the text of a module with functions under @njit, of which `f` is called with CALLS.

A variable keeps one kind in a whole function, except those that are to have several (`mix`, `grow`). Loops are bounded.
The same seed gives the same text."""
import random

from .blocks import Blocks
from .kinds import CLASSES, COMPARISONS, DTYPES, IN_PLACE, MAKES, NUMPY, SCALARS, is_python

INTS = ("0", "1", "2", "3", "(-1)", "5", "7", "(-4)", "10", "63", "100", "-128", "255", "1000003", "2**31", "(-2**31)",
        "(2**53 + 1)", "2**62", "(2**63 - 1)", "(-2**63)")
SMALL = ("0", "1", "2", "3", "-1", "-2", "4", "5")
FLOATS = ("0.0", "-0.0", "1.0", "0.5", "-1.5", "2.0", "3.25", "1e10", "-7.0", "0.1", "1e308", "5e-324", "math.inf",
          "math.nan")
EXCEPTIONS = ("ValueError", "IndexError", "ZeroDivisionError", "KeyError", "TypeError", "RuntimeError")


def program(seed) -> str:
    """The text of one program."""
    r = random.Random(seed)
    helpers = []
    texts = []
    for k in range(r.choice((0, 0, 1, 1, 2))):
        writer = _Writer(r, f"g{k}", helpers, result=r.choice(("int", "float", "bool", "int64", "float64")))
        texts.append(writer.function())
        helpers.append(writer)
    main = _Writer(r, "f", helpers, result=None, budget=r.choice((4, 8, 14)))
    texts.append(main.function())
    calls = [f"    ({''.join(_argument(r, kind) + ', ' for _, kind in main.params)})," for _ in range(4)]
    return ("import math\n\nimport numpy as np\n\n\n" + "\n\n\n".join(texts) + "\n\n\nCALLS = [\n" + "\n".join(calls)
            + "\n]\n")


def _argument(r, kind) -> str:
    if kind[0] == "tuple":
        return f"({''.join(_argument(r, part) + ', ' for part in kind[1:])})"
    if kind[0] == "array":
        _, dtype, ndim = kind
        shape = [r.choice((0, 1, 2, 3, 3, 4, 5)) for _ in range(ndim)]
        rows = _elements(r, dtype, shape)
        text = f"np.array({rows}, dtype=np.{dtype})"
        if r.random() < .15:
            text = f"np.asfortranarray({text})" if ndim > 1 and 0 not in shape else f"{text}[::-1]"
        return text + f".reshape({', '.join(map(str, shape))})" if 0 in shape and ndim > 1 else text
    return _scalar(r, kind)


def _elements(r, dtype, shape) -> str:
    if shape:
        return "[" + ", ".join(_elements(r, dtype, shape[1:]) for _ in range(shape[0])) + "]"
    if dtype == "bool_":
        return r.choice(("True", "False"))
    if dtype.startswith("float"):
        return (r.choice(FLOATS) if dtype == "float64"
                else r.choice(("0.0", "-0.0", "1.5", "-2.0", "0.1", "math.nan", "1e30")))
    if dtype.startswith("u"):
        return r.choice(("0", "1", "2", "200", "255"))
    return r.choice(("0", "1", "-1", "2", "3", "100", "-128", "127"))


def _scalar(r, kind) -> str:
    if kind == "int":
        return r.choice(INTS) if r.random() < .4 else r.choice(SMALL)
    if kind == "float":
        return r.choice(FLOATS)
    if kind == "bool":
        return r.choice(("True", "False"))
    return f"np.{kind}({_elements(r, kind, ())})"


class _Writer(Blocks):
    """One function. maybe: variables that are bound on some paths only -> kind."""

    def __init__(self, r, name, helpers, result, budget=6):
        super().__init__(r)
        self.name = name
        self.helpers = list(helpers)
        self.result = result
        self.budget = budget
        self.maybe: dict = {}
        self.frozen: set = set()  # loop counters
        self.mixed: list = []  # variables of two types
        self.kinds: dict = {}  # every variable of the function has one kind
        self.nested = 0
        self.numpy_result = r.choice((None, None, "float64", "int64", "float32", "uint8"))
        kinds = ["int", "float", "bool", "int", "float"]
        if name == "f":
            kinds += [("array", r.choice(DTYPES), 1), ("array", r.choice(DTYPES), 1), ("array", r.choice(DTYPES), 2)]
            kinds += [r.choice(SCALARS), ("tuple", r.choice(("int", "float")), r.choice(("int", "float", "bool")))]
        self.params = [(f"p{k}", r.choice(kinds)) for k in range(r.randint(2, 5) if name == "f" else r.randint(1, 3))]
        for name, kind in self.params:
            self.names[name] = self.kinds[name] = kind

    # -- text

    def function(self) -> str:
        self.line_at = 0
        params = [name for name, _ in self.params]
        self.defaults = 0
        if self.name != "f" and self.params[-1][1] in ("int", "float", "bool") and self.r.random() < .3:
            params[-1] += f"={_scalar(self.r, self.params[-1][1])}"
            self.defaults = 1
        self.block(top=True)
        if (not self.lines[-1].strip().startswith(("return", "raise"))
            or not self.lines[-1].startswith("    " + self.lines[-1].strip())):
            self.return_()
        return f"@njit\ndef {self.name}({', '.join(params)}):\n" + "\n".join(self.lines)

    def fresh(self, kind) -> str:
        self.count += 1
        name = f"v{self.count}"
        self.kinds[name] = kind
        return name

    # -- statements

    def block(self, top=False):
        """A few statements; at least one line."""
        before = len(self.lines)
        for _ in range(self.r.randint(2, 5) if top else self.r.randint(1, 3)):
            if self.budget <= 0:
                break
            self.budget -= 1
            if self.statement():
                break
        if len(self.lines) == before:
            self.assign()

    def statement(self) -> bool:
        """Writes one statement; returns whether the code after it is unreachable."""
        r = self.r
        choices = [(6, self.assign), (5, self.augmented), (4, self.store), (2, self.unpack)]
        if self.depth < 5:
            choices += [(5, self.if_), (4, self.for_range), (2, self.for_array), (2, self.while_), (3, self.try_),
                        (1, self.for_tuple), (1, self.optional), (1, self.with_else)]
        if self.depth < 5:
            choices += [(1.5, self.mix), (1.5, self.grow), (1, self.match), (.7, self.walrus), (1.5, self.blend)]
        if self.nested < 2 and self.depth < 4:
            choices += [(1, self.closure), (1, self.generator), (1, self.recursion)]
        choices += [(1, self.assert_), (.5, self.delete), (.5, self.raise_)]
        if self.depth > 1:
            choices += [(1, self.return_)]
        if self.loops:
            choices += [(2, self.leave_loop)]
        action = r.choices([c for _, c in choices], [w for w, _ in choices])[0]
        return bool(action())

    def assign(self):
        if self.r.random() < .4:
            found = [n for n in self.names if n not in self.frozen and not n.startswith("_")]
            if found:
                name = self.r.choice(found)
                value = self.expression(self.kinds[name], 2)
                self.line(f"{name} = {value}")
                return
        found = [n for n in self.maybe if n not in self.names and n not in self.frozen]
        if found and self.r.random() < .4:
            name = self.r.choice(found)
            kind = self.kinds[name]
            value = self.expression(kind, 2)
        else:
            kind = self.some_kind()
            value = self.expression(kind, 3)
            name = self.fresh(kind)
        self.line(f"{name} = {value}")
        self.names[name] = self.maybe[name] = kind

    def some_kind(self):
        x = self.r.random()
        if x < .6:
            return self.r.choice(("int", "float", "int", "float", "bool"))
        if x < .75:
            return self.r.choice(SCALARS)
        if x < .85:
            return ("tuple", *(self.r.choice(("int", "float", "bool")) for _ in range(self.r.randint(1, 3))))
        arrays = [k for k in self.names.values() if k[0] == "array"]
        return self.r.choice(arrays) if arrays else ("array", "float64", 1)

    def augmented(self):
        found = [n for n, k in self.names.items() if n not in self.frozen and k in IN_PLACE]
        if not found:
            return self.assign()
        name = self.r.choice(found)
        symbol, right = self.r.choice(IN_PLACE[self.names[name]])
        self.line(f"{name} {symbol}= {self.expression(right, 2)}")

    def store(self):
        found = [n for n, k in self.names.items() if k[0] == "array"]
        if not found:
            return self.assign()
        name = self.r.choice(found)
        _, dtype, ndim = self.names[name]
        target = f"{name}[{self.index(name, ndim)}]"
        if self.r.random() < .4 and dtype != "bool_":
            symbol = self.r.choice(("+", "-", "*"))
            self.line(f"{target} {symbol}= {self.expression(self.r.choice((dtype, dtype, 'int')), 2)}")
        else:
            python = "float" if dtype.startswith("float") else "bool" if dtype == "bool_" else "int"
            self.line(f"{target} = {self.expression(self.r.choice((dtype, python)), 2)}")

    def unpack(self):
        found = [n for n, k in self.names.items() if k[0] == "tuple"]
        if found and self.r.random() < .6:
            name = self.r.choice(found)
            made = [self.fresh(kind) for kind in self.names[name][1:]]
            self.line(f"{', '.join(made)}{',' if len(made) == 1 else ''} = {name}")
        else:
            kinds = [self.r.choice(("int", "float", "bool")) for _ in range(2)]
            values = [self.expression(kind, 2) for kind in kinds]
            scalars = [n for n, k in self.names.items() if k in SCALARS and n not in self.frozen]
            if len(scalars) > 1 and self.r.random() < .5:
                a, b = self.r.sample(scalars, 2)
                if self.names[a] == self.names[b]:
                    return self.line(f"{a}, {b} = {b}, {a}")
            made = [self.fresh(kind) for kind in kinds]
            self.line(f"{', '.join(made)} = {', '.join(values)}")
        for name in made:
            self.names[name] = self.maybe[name] = self.kinds[name]

    def if_(self):
        self.line(f"if {self.condition()}:")
        ends = [self.inside()]
        if self.r.random() < .3:
            self.line(f"elif {self.condition()}:")
            ends.append(self.inside())
        if self.r.random() < .5:
            self.line("else:")
            ends.append(self.inside())
            for name in set.intersection(*map(set, ends)):
                self.names[name] = self.kinds[name]

    def counter(self):
        name = self.fresh("int")
        self.frozen.add(name)
        return name

    def for_range(self):
        r = self.r
        bounds = r.choice((lambda: (self.small(),), lambda: (self.small(), self.small()),
                           lambda: (self.small(), self.small(), r.choice(("1", "2", "-1", "-2", "3")))))()
        text = f"range({', '.join(bounds)})"
        if r.random() < .1:
            text = f"reversed({text})"
        self.loop(lambda name: f"for {name} in {text}:", "int")

    def loop(self, head, kind):
        name = self.counter()
        self.kinds[name] = kind
        self.line(head(name))
        saved, self.names = self.names, dict(self.names)
        self.names[name] = kind
        self.inside(loop=True)
        self.names = saved
        self.maybe[name] = kind
        if self.r.random() < .2:
            self.line("else:")
            self.inside()

    def for_array(self):
        found = [n for n, k in self.names.items() if k[0] == "array"]
        if not found:
            return self.for_range()
        name = self.r.choice(found)
        _, dtype, ndim = self.names[name]
        element = dtype if ndim == 1 else ("array", dtype, ndim - 1)
        x = self.r.random()
        if x < .6:
            self.loop(lambda item: f"for {item} in {name}:", element)
        else:
            index, item = self.counter(), self.counter()
            text = f"enumerate({name})" if x < .8 else f"zip(range({self.small()}), {name})"
            self.kinds[item] = element
            self.line(f"for {index}, {item} in {text}:")
            saved, self.names = self.names, dict(self.names)
            self.names |= {index: "int", item: element}
            self.inside(loop=True)
            self.names = saved

    def for_tuple(self):
        kind = self.r.choice(("int", "float"))
        items = ", ".join(self.expression(kind, 1) for _ in range(self.r.randint(2, 3)))
        self.loop(lambda name: f"for {name} in ({items}):", kind)

    def while_(self):
        name = self.counter()
        start, step = self.r.choice((("0", "+= 1"), ("5", "-= 1"), ("0", "+= 2")))
        test = f"{name} < {self.r.randint(2, 6)}" if step[0] == "+" else f"{name} > {self.r.randint(0, 3)}"
        self.line(f"{name} = {start}")
        self.names[name] = "int"
        if self.r.random() < .2:
            self.line("while True:")
            self.line(f"    {name} {step}")
            self.line(f"    if not ({test}):")
            self.line("        break")
        else:
            self.line(f"while {test}" + (f" and {self.condition()}:" if self.r.random() < .3 else ":"))
            self.line(f"    {name} {step}")
        self.inside(loop=True)
        if self.r.random() < .2:
            self.line("else:")
            self.inside()

    def with_else(self):
        """A search loop with `else`, and the use of its result."""
        name, found = self.counter(), self.fresh("int")
        self.line(f"for {name} in range({self.small()}):")
        self.line(f"    if {self.condition()}:")
        self.line(f"        {found} = {name}")
        self.line("        break")
        self.line("else:")
        self.line(f"    {found} = -1")
        self.names[found] = self.maybe[found] = "int"

    def leave_loop(self):
        word = self.r.choice(("break", "continue"))
        if self.r.random() < .7:
            self.line(f"if {self.condition()}:")
            self.line(f"    {word}")
            return False
        self.line(word)
        return True

    def try_(self):
        r = self.r
        self.line("try:")
        self.inside()
        shape = r.random()
        if shape < .8:
            for cls in r.sample(("IndexError", "ZeroDivisionError", "ValueError", "UnboundLocalError",
                                 "(IndexError, KeyError)", "ArithmeticError", "LookupError", "Exception"),
                                r.choice((1, 1, 2))):
                self.line(f"except {cls}" + (" as error:" if r.random() < .3 else ":"))
                self.inside(write=self.handler)
            if r.random() < .2:
                self.line("else:")
                self.inside()
        if shape >= .8 or r.random() < .2:
            self.line("finally:")
            self.inside()

    def handler(self):
        if self.r.random() < .15:
            self.line("raise")
        elif self.r.random() < .15:
            self.line(f"raise {self.r.choice(EXCEPTIONS)}('again')")
        else:
            self.block()

    def optional(self):
        kind = self.r.choice(("int", "float", "bool"))
        name = self.fresh(kind)
        self.frozen.add(name)
        self.line(f"{name} = None")
        self.line(f"if {self.condition()}:")
        self.line(f"    {name} = {self.expression(kind, 2)}")
        self.line(f"if {name} is not None:")
        saved, self.names = self.names, dict(self.names)
        self.names[name] = kind
        self.inside()
        self.names = saved

    def closure(self):
        """An inner function that reads, and may write, variables of the enclosing function."""
        self.nested += 1
        name = f"h{self.count}"
        kind = self.r.choice(("int", "float"))
        argument = self.fresh(kind)
        written = [n for n, k in self.names.items() if k in ("int", "float") and n not in self.frozen]
        self.line(f"def {name}({argument}):")
        saved, frozen, maybe, loops = self.names, set(self.frozen), self.maybe, self.loops
        self.names = dict(saved)
        self.names[argument] = kind
        self.depth += 1
        target = None
        if written and self.r.random() < .5:
            target = self.r.choice(written)
            self.line(f"nonlocal {target}")
            symbol = self.r.choice(("+", "-"))
            self.line(f"{target} {symbol}= {self.expression('int', 1)}")
        self.line(f"return {self.expression(kind, 2)}")
        self.depth -= 1
        self.names, self.frozen, self.maybe, self.loops = saved, frozen, maybe, loops
        result = self.fresh(kind)
        self.line(f"{result} = {name}({self.expression(kind, 1)})")
        self.names[result] = self.maybe[result] = kind

    def assert_(self):
        self.line(f"assert {self.condition()}" + (", 'wrong'" if self.r.random() < .5 else ""))

    def delete(self):
        found = [n for n in self.names if n not in self.frozen]
        if not found or self.depth == 1 and self.r.random() < .5:
            return self.assign()
        name = self.r.choice(found)
        self.line(f"del {name}")
        self.maybe[name] = self.names.pop(name)

    def raise_(self):
        cls = self.r.choice(EXCEPTIONS)
        argument = self.r.choice(("", "'text'", self.expression("int", 1)))
        if self.depth > 1 and self.r.random() < .5:
            self.line(f"raise {cls}({argument})")
            return True
        self.line(f"if {self.condition()}:")
        self.line(f"    raise {cls}({argument})")

    def return_(self):
        if self.result is not None:
            self.line(f"return {self.expression(self.result, 2)}")
        elif self.numpy_result and self.r.random() < .8:
            self.line(f"return {self.expression(self.numpy_result, 2)}")
        else:
            found = list(self.names)
            shown = self.r.sample(found, min(len(found), self.r.randint(0, 4)))
            shown += self.mixed[:1]
            if self.r.random() < .6 and shown:
                self.line(f"return {', '.join(shown)}")
            elif self.r.random() < .2:
                self.line(f"return {self.text()}")
            else:
                kind = self.some_kind()
                self.line(f"return {self.expression(kind, 2)}")
        return True

    def text(self) -> str:
        def part():
            number = self.expression(self.r.choice(("int", "float", "bool")), 1)
            return f"{{{number}{self.r.choice(('', '', '!r', '!s'))}}}"

        parts = [part() for _ in range(self.r.randint(1, 3))]
        return "f" + repr(" ".join(parts).replace("'", '"'))

    def mix(self):
        """A variable that has different types of numbers on different paths, or None."""
        name = self.fresh("mixed")
        self.frozen.add(name)
        kinds = self.r.sample(("int", "float", "bool", "None", "tuple", *self.r.sample(NUMPY, 3)), 2)
        values = ["None" if k == "None" else f"({self.expression('int', 1)}, {self.expression('float', 1)})"
                  if k == "tuple"
                  else self.expression(k, 2) for k in kinds]
        if self.r.random() < .4:
            self.line(f"{name} = {values[0]} if {self.condition()} else {values[1]}")
        else:
            self.line(f"{name} = {values[0]}")
            self.line(f"if {self.condition()}:")
            self.line(f"    {name} = {values[1]}")
        if self.depth == 1:
            self.mixed.append(name)
        if not {"None", "tuple"} & set(kinds):
            result = self.fresh("mixed")
            self.frozen.add(result)
            symbol = self.r.choice(("+", "-", "*", "/", "//", "%"))
            self.line(f"{result} = {name} {symbol} {self.expression(self.r.choice(('int', 'float', 'bool')), 1)}")
            if self.depth == 1:
                self.mixed.append(result)
            test = self.r.choice((f"{name} > {self.expression('int', 1)}",
                                  f"isinstance({name}, "
                                  f"{kinds[0] if kinds[0] in ('int', 'float', 'bool') else 'np.generic'})", f"{name}"))
            self.line(f"if {test}:")
            self.inside()
        else:
            self.line(f"if {name} is {self.r.choice(('', 'not '))}None:")
            self.inside()

    def blend(self):
        """A variable that has arrays of different layouts, dtypes or numbers of axes on different paths."""
        r, name = self.r, self.fresh("blend")
        self.frozen.add(name)
        dtype, ndim = r.choice(DTYPES), r.choice((1, 1, 2))

        def some() -> str:
            kind = "array", dtype if r.random() < .7 else r.choice(DTYPES), ndim if r.random() < .8 else 3 - ndim
            text = self.array(kind, 1)
            return r.choice((text, text, f"{text}[::-1]", f"{text}[::2]", f"{text}.T", f"{text}.copy()",
                             f"np.asfortranarray({text})", f"{text}.ravel()", f"{text}.astype(np.{r.choice(DTYPES)})"))

        values = [some() for _ in range(r.randint(2, 3))]
        way = r.random()
        if way < .3:
            self.line(f"{name} = {values[0]} if {self.condition()} else {values[1]}")
        elif way < .6:
            opening, closing = r.choice(("()", "()", "[]"))
            self.line(f"{name} = {opening}{', '.join(values)}{closing}[{self.leaf('int')} % {len(values)}]")
        else:
            self.line(f"{name} = {values[0]}")
            self.line(f"if {self.condition()}:")
            self.line(f"    {name} = {values[1]}")
        for _ in range(r.randint(1, 3)):
            number = self.expression(r.choice(("int", "float", "bool")), 1)
            read = r.choice((f"{name}.sum()", f"{name}.size", f"{name}.ndim", f"{name}.shape", f"len({name})",
                             f"{name}.max() if {name}.size else 0", f"({name} * 2).sum()", f"{name}[0]", f"{name} + 1",
                             f"{name}.ravel()[-1]", f"{name}[:1]", f"{name}.T", f"{name}.strides",
                             f"{name}.dtype.itemsize", f"{name}.argmax()", f"{name} > {number}"))
            way = r.random()
            if way < .6:
                result = self.fresh("mixed")
                self.frozen.add(result)
                self.line(f"{result} = {read}")
                if self.depth == 1:
                    self.mixed.append(result)
            elif way < .8:
                self.line(r.choice((f"{name}[0] = {number}", f"{name}[...] = {number}", f"{name}[-1:] = {number}",
                                    f"{name}[{self.leaf('int')}] = {number}")))
            else:
                item = self.counter()
                self.line(f"for {item} in {name}:")
                self.line("    " + r.choice((f"{item} += {number}", f"if {item} is None: break",
                                             f"{name}[0] = {number}")))

    def grow(self):
        """A variable that starts as a constant of Python and meets a NumPy number in a loop."""
        kind = self.r.choice(NUMPY)
        name, counter = self.fresh("mixed"), self.counter()
        self.frozen.add(name)
        self.line(f"{name} = {self.r.choice(('0', '1', '-1', '100', '300', '0.0', '-0.0', '0.5', 'True'))}")
        self.line(f"for {counter} in range({self.small()}):")
        self.depth += 1
        if self.r.random() < .5:
            self.line(f"if {self.condition()}:")
            self.depth += 1
            self.line(f"{name} = {self.expression(kind, 1)}")
            self.depth -= 1
        elif self.r.random() < .5:
            self.line(f"{name} {self.r.choice('+-*')}= {self.expression(kind, 1)}")
        else:
            self.line(f"{name} = {name} {self.r.choice('+-*')} "
                      f"{self.expression(self.r.choice(('int', 'float', kind)), 1)}")
            self.line(f"if {name} {self.r.choice(('<', '>=', '=='))} "
                      f"{self.expression(self.r.choice(('int', 'float', kind)), 1)}:")
            self.line(f"    {name} = {self.r.choice((name, self.expression(kind, 1), '3'))}")
        self.depth -= 1
        if self.depth == 1:
            self.mixed.append(name)

    def generator(self):
        """An inner generator function and a loop over it."""
        self.nested += 1
        name, item = f"h{self.count}", self.counter()
        kind = self.kinds[item] = self.r.choice(("int", "float"))
        saved, frozen, maybe, loops = self.names, set(self.frozen), self.maybe, self.loops
        self.names = dict(saved)  # names that this function binds are local to it
        self.line(f"def {name}(n):")
        self.names["n"] = "int"
        self.frozen.add("n")
        self.depth += 1
        k = self.counter()
        self.line(f"for {k} in range(n):")
        self.names[k] = "int"
        self.depth += 1
        if self.r.random() < .4:
            self.line(f"if {self.expression('bool', 1)}:")
            self.line(f"    {self.r.choice(('continue', 'return', 'break'))}")
        self.line(f"yield {self.expression(kind, 1)}")
        self.depth -= 1
        if self.r.random() < .4:
            self.line(f"yield {self.expression(kind, 1)}")
        self.depth -= 1
        self.names, self.frozen, self.maybe, self.loops = saved, frozen, maybe, loops
        if self.r.random() < .4:
            result = self.fresh(kind)
            self.line(f"{result} = {self.r.choice(('sum', 'max', 'min'))}({name}({self.small()}))")
            self.kinds[result] = "mixed"
            return
        self.line(f"for {item} in {name}({self.small()}):")
        self.names[item] = kind
        self.inside(loop=True)
        self.names = saved

    def recursion(self):
        """An inner function that calls itself."""
        if self.loops:  # bound in a loop: the compiler refuses it
            return self.assign()
        self.nested += 1
        name, kind = f"h{self.count}", self.r.choice(("int", "float"))
        argument, result = self.fresh(kind), self.fresh(kind)
        saved, self.names = self.names, dict(self.names)
        self.names = {"n": "int", argument: kind}
        self.line(f"def {name}(n, {argument}):")
        self.line(f"    if n <= 0{self.r.choice(('', ' or ' + self.expression('bool', 1)))}:")
        self.line(f"        return {self.expression(kind, 1)}")
        self.line(f"    return {name}(n - {self.r.randint(1, 2)}, {self.expression(kind, 1)}) {self.r.choice('+-*')} "
                  f"{self.expression(kind, 1)}")
        self.names = saved
        self.line(f"{result} = {name}({self.small()}, {self.expression(kind, 1)})")
        self.names[result] = self.maybe[result] = kind

    def match(self):
        self.line(f"match {self.expression(self.r.choice(('int', 'int', 'float', 'bool')), 1)}:")
        self.depth += 1
        for _ in range(self.r.randint(1, 3)):
            pattern = self.r.choice(SMALL[:5] + ("1 | 2", "0.5", "True", "None")).strip("()")
            self.line(f"case {pattern}" + (f" if {self.condition()}:" if self.r.random() < .2 else ":"))
            self.inside()
        if self.r.random() < .6:
            self.line("case _:")
            self.inside()
        self.depth -= 1

    def walrus(self):
        name = self.fresh("int")
        self.line(f"if ({name} := {self.expression('int', 2)}) {self.r.choice(COMPARISONS)} {self.leaf('int')}:")
        self.names[name] = self.maybe[name] = "int"
        self.inside()

    # -- expressions

    def small(self) -> str:
        """An int that is good as a bound of a loop."""
        x = self.r.random()
        found = [n for n, k in self.names.items() if k[0] == "array"]
        if found and x < .3:
            return f"len({self.r.choice(found)})"
        ints = [n for n, k in self.names.items() if k == "int"]
        if ints and x < .5:
            return f"{self.r.choice(ints)} % {self.r.randint(2, 6)}"
        return str(self.r.randint(-2, 6))

    def index(self, name, ndim) -> str:
        def one(axis):
            ints = [n for n, k in self.names.items() if k in ("int", "int64") and not n.startswith("p")]
            if ints and self.r.random() < .5:
                return self.r.choice(ints)
            if self.r.random() < .25:
                return f"{self.expression('int', 1)} % {name}.shape[{axis}]"
            return self.r.choice(("0", "1", "-1", "2", "-2", "0", self.r.choice(SMALL)))

        return ", ".join(one(axis) for axis in range(ndim))

    def condition(self) -> str:
        return self.expression("bool", 2) if self.r.random() < .7 else self.expression(self.r.choice(SCALARS), 2)

    def expression(self, kind, depth) -> str:
        """Text of an expression of this kind."""
        r = self.r
        if kind[0] == "array":
            return self.array(kind, depth)
        if kind[0] == "tuple":
            found = self.of(kind)
            if found and r.random() < .3:
                return r.choice(found)
            items = ", ".join(self.expression(part, depth - 1) for part in kind[1:])
            return f"({items},)" if len(kind) == 2 else f"({items})"
        if depth <= 0 or r.random() < .2:
            return self.leaf(kind)
        x = r.random()
        if x < .08:
            return (f"({self.expression(kind, depth - 1)} if {self.expression('bool', depth - 1)} else "
                    f"{self.expression(kind, depth - 1)})")
        if x < .14:
            word = r.choice(("and", "or"))
            return f"({self.expression(kind, depth - 1)} {word} {self.expression(kind, depth - 1)})"
        if x < .2 and kind in ("int", "float", "int64", "float64", "int8", "float32"):
            function = r.choice(("min", "max"))
            return f"{function}({self.expression(kind, depth - 1)}, {self.expression(kind, depth - 1)})"
        if x < .26 and kind not in ("bool", "bool_"):
            return f"{r.choice(('-', '+', 'abs'))}({self.expression(kind, depth - 1)})"
        if x < .34:
            found = [h for h in self.helpers if h.result == kind]
            if found:
                return self.call(r.choice(found), depth)
        if kind == "int" and x < .5:
            return self.integer(depth)
        if kind == "float" and x < .42:
            return self.floating(depth)
        if kind in ("bool", "bool_") and x < .85:
            return self.truth(kind, depth)
        symbol, left, right = r.choice([m for m in MAKES[kind] if is_python(*m[1:]) or r.random() < .5] or MAKES[kind])
        return f"({self.expression(left, depth - 1)} {symbol} {self.expression(right, depth - 1)})"

    def of(self, kind):
        return [n for n, k in self.names.items() if k == kind]

    def leaf(self, kind) -> str:
        r = self.r
        if r.random() < .03:
            found = [n for n, k in self.maybe.items() if k == kind and n not in self.names]
            if found:
                return r.choice(found)
        found = self.of(kind)
        if found and r.random() < .65:
            return r.choice(found)
        arrays = [(n, k) for n, k in self.names.items() if k[0] == "array" and k[1] == kind]
        if arrays and r.random() < .8:
            name, (_, _, ndim) = r.choice(arrays)
            return f"{name}[{self.index(name, ndim)}]"
        others = [n for n, k in self.names.items() if k in SCALARS and k != kind]
        if others and not found and r.random() < .5:
            name = r.choice(others)
            return f"{kind}({name})" if kind in ("int", "float", "bool") else f"np.{kind}({name})"
        tuples = [(n, i) for n, k in self.names.items() if k[0] == "tuple" for i, part in enumerate(k[1:])
                  if part == kind]
        if tuples and r.random() < .4:
            name, i = r.choice(tuples)
            return f"{name}[{i}]"
        return _scalar(r, kind)

    def call(self, helper, depth) -> str:
        given = [self.expression(kind, depth - 1) for _, kind in helper.params]
        if helper.defaults and self.r.random() < .5:
            given.pop()
        elif self.r.random() < .2:
            given[-1] = f"{helper.params[-1][0]}={given[-1]}"
        return f"{helper.name}({', '.join(given)})"

    def integer(self, depth) -> str:
        r = self.r
        arrays = [n for n, k in self.names.items() if k[0] == "array"]
        choices = [lambda: f"int({self.expression(r.choice(SCALARS), depth - 1)})",
                   lambda: f"({self.expression('int', depth - 1)} >> {r.randint(0, 3)})",
                   lambda: f"({self.expression('int', depth - 1)} << {r.randint(0, 3)})",
                   lambda: f"({self.leaf('int')} ** {r.randint(0, 3)})",
                   lambda: f"~{self.leaf('int')}",
                   lambda: f"divmod({self.expression('int', depth - 1)}, "
                           f"{self.expression('int', depth - 1)})[{r.randint(0, 1)}]",
                   lambda: f"round({self.expression('float', depth - 1)})",
                   lambda: f"math.floor({self.expression('float', depth - 1)})",
                   lambda: f"sum({self.small()} * {r.randint(1, 3)} for _ in range({self.small()}))",
                   lambda: f"(lambda x: x {r.choice('+-*')} {self.leaf('int')})({self.leaf('int')})"]
        if arrays:
            name = r.choice(arrays)
            choices += [lambda: f"len({name})", lambda: f"{name}.shape[{self.names[name][2] - 1}]",
                        lambda: f"{name}.size", lambda: f"{name}.ndim"]
        return r.choice(choices)()

    def floating(self, depth) -> str:
        r = self.r
        return r.choice((lambda: f"float({self.expression(r.choice(SCALARS), depth - 1)})",
                         lambda: f"math.sqrt({self.expression('float', depth - 1)})",
                         lambda: f"math.fabs({self.expression('float', depth - 1)})",
                         lambda: f"({self.leaf('float')} ** 2)",
                         lambda: f"math.copysign({self.leaf('float')}, {self.leaf('float')})"))()

    def truth(self, kind, depth) -> str:
        r = self.r
        if kind == "bool_":
            left = r.choice([k for k in CLASSES if not is_python(k)])
            right = r.choice(SCALARS)
            return f"({self.expression(left, depth - 1)} {r.choice(COMPARISONS)} {self.expression(right, depth - 1)})"
        x = r.random()
        if x < .5:
            left, right = (r.choice(("int", "float", "bool", "int")) for _ in range(2))
            return f"({self.expression(left, depth - 1)} {r.choice(COMPARISONS)} {self.expression(right, depth - 1)})"
        if x < .7:
            parts = [self.expression(r.choice(("int", "float")), depth - 1) for _ in range(3)]
            return f"({parts[0]} {r.choice(COMPARISONS)} {parts[1]} {r.choice(COMPARISONS)} {parts[2]})"
        if x < .9:
            return f"(not {self.expression(r.choice(SCALARS), depth - 1)})"
        if x < .95:
            return f"({self.leaf('int')} in ({self.leaf('int')}, {self.leaf('int')}))"
        return f"bool({self.expression(r.choice(SCALARS), depth - 1)})"

    def array(self, kind, depth) -> str:
        r = self.r
        _, dtype, ndim = kind
        found = self.of(kind)
        x = r.random()
        if found and depth > 0 and x < .05:
            return (f"({self.array(kind, depth - 1)} if {self.expression('bool', depth - 1)} else "
                    f"{self.array(kind, depth - 1)})")
        if found and depth > 0 and x < .1:
            items = [self.array(kind, depth - 1) for _ in range(r.randint(2, 3))]
            return f"({', '.join(items)})[{self.leaf('int')} % {len(items)}]"
        if found and x < .3:
            return r.choice(found)
        if found and x < .6:
            name = r.choice(found)
            cut = r.choice((":", "::-1", "1:", f":{self.small()}", f"{self.small()}:{self.small()}", "::2"))
            if ndim == 2:
                return r.choice((f"{name}[{cut}]", f"{name}[:, {cut}]", f"{name}.T"))
            return f"{name}[{cut}]"
        larger = [n for n, k in self.names.items() if k == ("array", dtype, ndim + 1)]
        if larger and x < .8:
            name = r.choice(larger)
            return r.choice((f"{name}[{self.index(name, 1)}]", f"{name}[:, {self.index(name, 1)}]"))
        shape = ", ".join(str(r.randint(0, 4)) for _ in range(ndim))
        return f"np.{r.choice(('zeros', 'ones'))}(({shape},), dtype=np.{dtype})"
