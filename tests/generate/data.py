"""Random programs that keep their data in many kinds of containers at once: lists, dicts, sets, deques, heaps, texts,
dataclasses, enumerations and generators, as simulations, parsers and inventories do.

A program is a loop that runs one of its statements in each trip, as a random number decides at run time. The data are
locals of `f`, variables that functions inside `f` share, attributes of an object, or arguments; the statements stand in
the loop, in functions beside it, in methods, or in a generator. Of what is not returned itself a summary is returned.
The same seed gives the same text."""
import ast
import random
import re
import textwrap

from .definitions import HEAD
from .vocabulary import CONDITIONS, DATA, INTS, LISTS, STATEMENTS, TEXTS

__all__ = ["program"]

_NAMES = re.compile(r"\b(" + "|".join(DATA) + r")\b")


_SUMMARISED = ("stack", "trie", "place", "pool", "spots", "mode", "shapes", "actions", "tree", "account", "accounts")


def program(seed) -> str:
    """The text of one program."""
    return _Writer(random.Random(seed)).text()


class _Writer:
    """place: where the data are; called: how many of the statements are in functions or methods."""

    def __init__(self, r):
        self.r = r
        self.place = r.choice(("locals", "locals", "arguments", "object", "closures", "generator"))
        self.statements = [self.filled(text) for text in r.sample(STATEMENTS, r.choice((2, 3, 4, 6, 8, 11, 16)))]
        used = set(_NAMES.findall("\n".join(self.statements)))
        self.used = [name for name in DATA if name in used or name == "log"]

    def filled(self, text, deep=0) -> str:
        """A statement or an expression in which random expressions stand for the names of their kinds."""
        r = self.r

        def one(found):
            what = found[1]
            if what == "cond0":
                return r.choice(("True", "False", "i % 2 == 0"))
            known = {"int": INTS, "str": TEXTS, "list": LISTS, "cond": CONDITIONS}[what]
            if deep or r.random() < .4:
                known = known[:5]
            text = self.filled(r.choice(known), deep + 1)
            return f"({text})" if _is_joined(text) or what == "cond" and deep else text

        text = re.sub(r"(?<!\{)\{(int|str|list|cond|cond0)\}", one, text)
        text = re.sub(r"\{\{\{(int|str|list)\}", lambda m: "{{" + one(m), text)
        return text if deep else text.replace("{{", "{").replace("}}", "}")

    def text(self) -> str:
        r, used = self.r, self.used
        ops = [self.guarded(text) for text in self.statements]
        small = [line for name in used for line in DATA[name][2].split("\n") if line]
        ends = ["total"] + [name if self.returned(name) else r.choice(DATA[name][1]) for name in used]
        write = {"object": self.object, "closures": self.closures, "generator": self.generator}.get(
            self.place, self.plain)
        body, params = write(ops, small, ends)
        made = r.choice((3, 8, 20, 40))
        calls = "\n".join(f"    lambda: ({r.choice((1, made, made))}, {r.randrange(100000)}"
                          + "".join(f", {DATA[name][0]}" for name in params) + ")," for _ in range(3))
        text = f"{body}\n\n\nCALLS = [\n{calls}\n]\n"
        return _head(text) + text

    def returned(self, name) -> bool:
        return self.r.random() < .35 and name not in _SUMMARISED

    def guarded(self, text) -> str:
        r, way = self.r, self.r.random()
        if way < .2:
            return text
        kept = textwrap.indent(text, "    ")
        if way < .5:
            return f"try:\n{kept}\nexcept (LookupError, ValueError, ArithmeticError):\n    total -= 1"
        if way < .8:
            return f"try:\n{kept}\nexcept Exception as e:\n    log.append(type(e).__name__)"
        return f"try:\n{kept}\nexcept {r.choice(('IndexError', 'KeyError', 'ValueError', 'TypeError'))} as e:\n" \
               f"    log.append(str(e))"

    def trip(self, ops) -> list:
        """The lines of one trip of the loop."""
        start = ["s = (s * 1103515245 + 12345) % 2147483648", "k = s // 65536 % 5",
                 f"word = {self.r.choice((('a', 'b', 'ab', 'c', ''), ['ab', 'b', 'a1', 'z', 'é']))}[s // 4096 % 5]",
                 f"op = s // 1024 % {len(ops)}"]
        for n, text in enumerate(ops):
            start += [f"{'elif' if n else 'if'} op == {n}:", *("    " + line for line in text.split("\n"))]
        return start

    def plain(self, ops, small, ends):
        """Everything in `f`, and some statements in functions beside it."""
        r, texts = self.r, []
        params = [name for name in self.used if self.place == "arguments" and r.random() < .6]
        for n, text in enumerate(ops):
            if r.random() < .3:
                taken = [name for name in self.used if re.search(rf"\b{name}\b", text)]
                taken += ["total", "i", "k", "s", "word"]
                given = [name for name in _assigned(text) if name in self.used or name in ("total", "word")]
                end = f"    return {', '.join(given)}\n" if given else ""
                texts.append(f"def h{n}({', '.join(taken)}):\n{textwrap.indent(text, '    ')}\n{end}")
                ops[n] = (f"{', '.join(given)} = " if given else "") + f"h{n}({', '.join(taken)})"
        lines = ["total = 0", *(f"{name} = {DATA[name][0]}" for name in self.used if name not in params),
                 "for i in range(n):", *("    " + line for line in self.trip(ops) + small), f"return {', '.join(ends)}"]
        texts.append(f"@njit\ndef f({', '.join(['n', 's', *params])}):\n" + textwrap.indent("\n".join(lines), "    "))
        return "\n\n".join(texts), params

    def object(self, ops, small, ends):
        """The data are attributes of an object, and most statements are its methods."""
        names = [*self.used, "total"]
        methods = ["def __init__(self):\n    self.total = 0\n"
                   + "\n".join(f"    self.{name} = {DATA[name][0]}" for name in self.used)]
        trip = []
        for n, text in enumerate(ops):
            if self.r.random() < .7:
                methods.append(f"def do{n}(self, i, k, s, word):\n{textwrap.indent(text, '    ')}")
                trip.append(f"self.do{n}(i, k, s, word)")
            else:
                trip.append(text)
        step = "\n".join(self.trip(trip) + small)
        methods.append(f"def step(self, i, s):\n{textwrap.indent(step, '    ')}\n    return s")
        methods = [_in_object(text, names) for text in methods]
        world = "class World:\n" + textwrap.indent("\n\n".join(methods), "    ")
        end = _in_object(f"({', '.join(ends)},)", names).replace("self.", "w.")
        return (f"{world}\n\n\n@njit\ndef f(n, s):\n    w = World()\n    for i in range(n):\n        s = w.step(i, s)\n"
                f"    return {end}"), []

    def closures(self, ops, small, ends):
        """The data are variables of `f` that functions inside it share."""
        lines = ["total = 0", *(f"{name} = {DATA[name][0]}" for name in self.used)]
        for n, text in enumerate(ops):
            if self.r.random() < .5:
                outer = [name for name in _assigned(text) if name in self.used or name == "total"]
                lines += [f"def do{n}(i, k, s, word):", *([f"    nonlocal {', '.join(outer)}"] if outer else []),
                          *("    " + line for line in text.split("\n"))]
                ops[n] = f"do{n}(i, k, s, word)"
        lines += ["for i in range(n):", *("    " + line for line in self.trip(ops) + small),
                  f"return {', '.join(ends)}"]
        return "@njit\ndef f(n, s):\n" + textwrap.indent("\n".join(lines), "    "), []

    def generator(self, ops, small, ends):
        """The loop is a generator's, which yields a part of the data in each trip."""
        shown = self.r.choice(DATA[self.r.choice(self.used)][1])
        lines = ["total = 0", *(f"{name} = {DATA[name][0]}" for name in self.used), "for i in range(n):",
                 *("    " + line for line in self.trip(ops) + small), f"    yield i, {shown}",
                 f"yield {', '.join(ends)}"]
        made = "def steps(n, s):\n" + textwrap.indent("\n".join(lines), "    ")
        use = self.r.choice(("return list(steps(n, s))[-3:]", "last = None\nfor last in steps(n, s):\n    pass\n"
                             "return last",
                             "found = []\nfor x in steps(n, s):\n    found.append(len(x))\nreturn found, x"))
        return f"{made}\n\n\n@njit\ndef f(n, s):\n{textwrap.indent(use, '    ')}", []


def _is_joined(text) -> bool:
    """Whether an expression needs parentheses before a subscript or an attribute."""
    try:
        node = ast.parse(text.replace("{{", "{").replace("}}", "}"), mode="eval").body
    except SyntaxError:
        return True
    return isinstance(node, (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Lambda))


def _assigned(text) -> list:
    """The names that the text binds."""
    found: dict = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
    return list(found)


def _in_object(text, names) -> str:
    """The text with attributes of `self` in place of the names."""

    class Attributes(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.Attribute(ast.Name("self", ast.Load()), node.id, node.ctx) if node.id in names else node

    return ast.unparse(Attributes().visit(ast.parse(text)))


def _head(text) -> str:
    """The definitions to which the text refers, directly or through other definitions."""
    first, *parts = HEAD.split("\n\n\n")
    names = {re.search(r"(?:class|def) (\w+)", part)[1]: part for part in parts}
    found: set = set()
    work = [text]
    while work:
        for name in set(re.findall(r"\w+", work.pop())) & set(names) - found:
            found.add(name)
            work.append(names[name])
    return "\n\n\n".join([first, *(part for name, part in names.items() if name in found)]).rstrip() + "\n\n\n"
