"""Random small programs about Python's own containers, text and objects: a module of which `f` is called.

CALLS are functions that make arguments, with one container in several places now and then. Every variable has a kind,
from which operations follow that CPython can do with it, most of which may still raise; at joins of branches and in
containers there may be values of several kinds. Loops are bounded, and so is what grows. The same seed gives the same
text.

A kind is "int", "float", "bool", "str", "bytes", "none", "Point", "Base" or "Node"; ("list", kind), ("deque", kind),
("set", kind), ("frozenset", kind), ("dict", key, kind), ("defaultdict", key, kind), ("Counter", key),
("tuple", kinds...), ("many", kind), which is a tuple of any length, and ("any", kinds...), a value of one of them.

Some programs have functions inside `f` that share its variables, generators, and functions beside it that may call
themselves; some make containers that they keep for themselves and fill them in longer loops."""
import random

from .blocks import Blocks
import re

__all__ = ["program"]

_HEAD = '''import bisect
import functools
import heapq
import itertools
from collections import Counter, defaultdict, deque
from dataclasses import dataclass


@dataclass
class Point:
    x: int
    y: float
    tags: list

    def grow(self, by):
        self.x += by
        if self.x > 1000:
            raise ValueError(f"x is {self.x}")
        self.tags.append(self.x)
        return self.x

    def moved(self, by):
        return Point(self.x + by, self.y, self.tags)


class Base:
    def __init__(self, items, name="b"):
        self.items = items
        self.name = name

    def first(self):
        return self.items[0]

    def __len__(self):
        return len(self.items)

    def add(self, x):
        self.items.append(x)
        return self


class Derived(Base):
    def first(self):
        return self.items[-1]


class Deep(Derived):
    made = 0
    limit = 6

    def __init__(self, items, name="d"):
        super().__init__(items, name + "!")
        self.seen = [len(items)]

    @property
    def total(self):
        return sum(self.items) + self.seen[0]

    def first(self):
        self.seen.append(super().first())
        return self.seen[-1]

    def add(self, x):
        if len(self.items) > self.limit:
            raise ValueError(f"{self.name} is full")
        return super().add(x)

    def __getitem__(self, k):
        return self.items[k] * 2

    def __eq__(self, other):
        return isinstance(other, Base) and self.items == other.items


class Undo:
    def __init__(self, items, swallowed=None):
        self.items, self.kept, self.swallowed = items, list(items), swallowed

    def __enter__(self):
        return self.kept

    def __exit__(self, kind, error, trace):
        if kind is None:
            return False
        self.items[:] = self.kept
        return self.swallowed is not None and issubclass(kind, self.swallowed)


class Node:
    __slots__ = ("value", "next")

    def __init__(self, value, next=None):
        self.value = value
        self.next = next


def pairs(items):
    for k, x in enumerate(items):
        yield k, x


def small(x, most=20):
    if x > most:
        raise ValueError(f"{x} is too large")
    return x


def guarded(items, log):
    try:
        for x in items:
            log.append(x)
            yield x
    finally:
        log.append(None)


def nested(rows):
    n = 0
    for row in rows:
        yield from row
        n += 1
    return n


def upto(n):
    k = 0
    while k < n:
        yield k * k
        k += 1


'''
_SMALL = ("0", "1", "2", "3", "-1", "-2", "4", "7")
_TEXTS = ("''", "'a'", "'b'", "'ab'", "'a b'", "'x,y'", "'Zz'", "'\\u00e9'", "'12'", "' a '")
_BYTES = ("b''", "b'a'", "b'ab'", "b'\\x00\\xff'")
_ERRORS = ("IndexError", "KeyError", "ValueError", "ZeroDivisionError", "Exception", "LookupError", "TypeError",
           "AttributeError", "RuntimeError", "StopIteration", "(KeyError, IndexError)")
_HASHABLE = ("int", "str", "int", "str", "bool", "float", "bytes", ("tuple", "int", "str"), ("tuple", "int", "int"),
             ("any", "int", "float", "bool"), ("any", "int", "str", "none"), ("any", "str", "bytes"))
_SAME_HASH = ("-1", "-2", "0", "2305843009213693951", "2305843009213693952", "1", "8", "16")
_ORDERED = ("int", "float", "str", "bool", "bytes")


def program(seed) -> str:
    """The text of one program."""
    r = random.Random(seed)
    writer = _Writer(r)
    text = "\n\n\n".join([writer.function(), *writer.beside][::-1])
    calls = ["    lambda: " + _arguments(r, writer) + "," for _ in range(3)]
    return _used(text, "\n".join(calls)) + text + "\n\n\nCALLS = [\n" + "\n".join(calls) + "\n]\n"


def _used(*texts) -> str:
    """The definitions to which the texts refer, directly or through other definitions."""
    head, *parts, _ = _HEAD.split("\n\n\n")
    names = {part: part.partition("class " if "class " in part else "def ")[2].partition("(")[0].partition(":")[0]
             for part in parts}
    found: dict = {}
    work = list(texts)
    while work:
        text = work.pop()
        for part in parts:
            if part not in found and re.search(rf"\b{names[part]}\b", text):
                found[part] = None
                work.append(part)
    return "\n\n\n".join([head, *(part for part in parts if part in found)]) + "\n\n\n"


def _arguments(r, writer) -> str:
    kinds = [kind for _, kind in writer.params]
    same = [k for k in range(1, len(kinds)) if kinds[k] in kinds[:k] and isinstance(kinds[k], tuple)]
    if same and r.random() < .3:
        names = [f"a{k}" for k in range(len(kinds))]
        others = [k for k in range(len(kinds)) if k != same[0]]
        names[same[0]] = f"a{kinds.index(kinds[same[0]])}"
        return (f"(lambda {', '.join(f'a{k}' for k in others)}: ({', '.join(names)},))("
                + ", ".join(_literal(r, kinds[k], 2) for k in others) + ")")
    return "(" + "".join(_literal(r, kind, 2) + ", " for kind in kinds) + ")"


def _literal(r, kind, depth=1) -> str:
    """A value without variables."""
    if kind == "int":
        x = r.random()
        return r.choice(_SMALL if x < .9 else _SAME_HASH if x < .93 else ("100", "255", "-128", "1000"))
    if kind == "float":
        return r.choice(("0.0", "-0.0", "1.0", "0.5", "-1.5", "2.25", "1e3"))
    if kind == "bool":
        return r.choice(("True", "False"))
    if kind == "str":
        return r.choice(_TEXTS)
    if kind == "bytes":
        return r.choice(_BYTES)
    if kind == "none":
        return "None"
    if kind == "Point":
        return f"Point({_literal(r, 'int')}, {_literal(r, 'float')}, {_literal(r, ('list', 'int'))})"
    if kind == "Base":
        return f"{r.choice(('Base', 'Base', 'Derived', 'Deep'))}({_literal(r, ('list', 'int'))})"
    if kind == "Node":
        inner = _literal(r, "Node", depth - 1) if depth > 0 and r.random() < .6 else "None"
        return f"Node({_literal(r, 'int')}, {inner})"
    what, *of = kind
    if what == "any":
        return _literal(r, r.choice(of), depth)
    if what == "tuple":
        return "(" + "".join(_literal(r, part, depth) + ", " for part in of) + ")"
    count = r.choice((0, 1, 2, 2, 3, 3, 4))
    items = [_literal(r, of[0], depth - 1) for _ in range(count)]
    if what == "many":
        return f"({''.join(item + ', ' for item in items)})"
    if what == "list":
        if items and isinstance(of[0], tuple) and r.random() < .15:
            return f"([{items[0]}] * {r.choice((2, 3))})"
        return f"[{', '.join(items)}]"
    if what == "frozenset":
        return f"frozenset([{', '.join(items)}])"
    if what == "deque":
        return f"deque([{', '.join(items)}])"
    if what == "set":
        return f"{{{', '.join(items)}}}" if items else "set()"
    if what == "Counter":
        return f"Counter([{', '.join(items)}])"
    entries = ", ".join(f"{item}: {_literal(r, of[1], depth - 1)}" for item in items)
    if what == "defaultdict":
        return f"defaultdict({_factory(of[1])}, {{{entries}}})"
    return f"{{{entries}}}"


def _factory(kind) -> str:
    return kind if isinstance(kind, str) else kind[0]


def _hashable(kind) -> bool:
    return kind in _HASHABLE


class _Writer(Blocks):
    """The function `f`."""

    def __init__(self, r):
        super().__init__(r)
        self.budget = r.choice((3, 4, 6, 8))
        kinds = [self.kind(2) for _ in range(r.choice((1, 2, 2, 3)))]
        if r.random() < .5:
            kinds.append(r.choice(kinds))
        if r.random() < .6:
            kinds.append("int")
        self.params = [(f"p{k}", kind) for k, kind in enumerate(kinds)]
        self.names |= self.params
        self.functions: dict = {}  # name -> (kinds of its parameters, kind of its result)
        self.generators: dict = {}  # the same of generators and their items
        self.beside: list = []  # texts of functions beside `f`
        self.inner = 0

    def kind(self, depth=1, item=False):
        r = self.r
        x = r.random()
        if depth <= 0 or x < (.55 if item else .12):
            if item and r.random() < .12:
                return ("any", *r.sample(("int", "float", "str", "none", "bool", ("list", "int")), r.choice((2, 2, 3))))
            return r.choice(("int", "int", "float", "str", "str", "bool", "bytes", "int"))
        x = r.random()
        if x < .42:
            return ("list", self.kind(depth - 1, True))
        if x < .62:
            return ("dict", r.choice(_HASHABLE), self.kind(depth - 1, True))
        if x < .7:
            return ("set" if x < .69 else "frozenset", r.choice(_HASHABLE))
        if x < .76:
            return ("tuple", *(self.kind(depth - 1, True) for _ in range(r.choice((1, 2, 2, 3)))))
        if x < .8:
            return ("many", self.kind(depth - 1, True))
        if x < .85:
            return ("deque", self.kind(depth - 1, True))
        if x < .89:
            held = r.choice(("int", ("list", "int"), "float", ("set", "int")))
            return ("defaultdict", r.choice(("int", "str")), held)
        if x < .92:
            return ("Counter", r.choice(("int", "str")))
        return r.choice(("Point", "Base", "Node"))

    # -- text

    def function(self) -> str:
        if self.r.random() < .25:
            self.helper()
        if self.r.random() < .4:
            self.private()
        self.block(top=True)
        names = [name for name in self.names if not name.startswith("_")]
        self.r.shuffle(names)
        self.line(f"return {', '.join(names[:4])}{',' if len(names) == 1 else ''}")
        return f"@njit\ndef f({', '.join(name for name, _ in self.params)}):\n" + "\n".join(self.lines)

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def of(self, *whats) -> list:
        """Variables of these kinds."""
        return [n for n, k in self.names.items() if (k if isinstance(k, str) else k[0]) in whats]

    def some(self, *whats):
        found = self.of(*whats)
        return self.r.choice(found) if found else None

    # -- statements

    def block(self, top=False):
        before = len(self.lines)
        for _ in range(self.r.randint(3, 7) if top else self.r.randint(1, 3)):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement()
        if len(self.lines) == before:
            self.assign()

    def statement(self):
        choices = [(5, self.assign), (8, self.change), (2, self.augment), (1.5, self.unpack), (1, self.alias),
                   (.4, self.raise_), (.4, self.assert_), (.7, self.call_key), (.5, self.delete), (.4, self.walrus),
                   (.5, self.starred)]
        if self.depth < 4:
            choices += [(3, self.for_), (2.5, self.if_), (2, self.try_), (1, self.joined), (.6, self.while_),
                        (1, self.match), (.8, self.with_), (.6, self.half_way)]
        if self.depth < 3 and self.inner < 2:
            choices += [(.8, self.closure), (.6, self.generator)]
        if self.loops:
            choices += [(.8, self.leave)]
        self.r.choices([c for _, c in choices], [w for w, _ in choices])[0]()

    def bind(self, kind, text):
        name = self.fresh()
        self.line(f"{name} = {text}")
        self.names[name] = kind

    def assign(self):
        if self.r.random() < .3:
            found = [n for n in self.names if not n.startswith("_")]
            name = self.r.choice(found)
            self.line(f"{name} = {self.expr(self.names[name], 2)}")
            return
        kind = self.kind(2)
        self.bind(kind, self.expr(kind, 2))

    def alias(self):
        found = [n for n, k in self.names.items() if isinstance(k, tuple)]
        if not found:
            return self.assign()
        name = self.r.choice(found)
        kind = self.names[name]
        if kind[0] == "list" and self.r.random() < .5:
            return self.bind(("list", kind), f"[{name}, {name}]" if self.r.random() < .5 else f"[{name}] * 3")
        self.bind(kind, name)

    def augment(self):
        name = self.some("int", "float", "str", "list", "set", "dict", "bytes", "many")
        if name is None:
            return self.assign()
        kind = self.names[name]
        if kind in ("int", "float"):
            symbol = self.r.choice(("+=", "-=", "+=", "//=", "%=") if kind == "int" else ("+=", "-=", "*=", "/="))
            self.line(f"{name} {symbol} {self.expr(kind, 1)}")
        elif kind in ("str", "bytes"):
            self.line(f"{name} += {self.expr(kind, 1)}[:3]")
        elif kind[0] == "set":
            self.line(f"{name} {self.r.choice(('|=', '&=', '-=', '^='))} {self.expr(kind, 1)}")
        elif kind[0] == "dict":
            self.line(f"{name} |= {self.expr(kind, 1)}")
        else:
            self.line(f"{name} += ({self.expr(kind, 1)})[:3]")

    def change(self):
        """A method or a store that changes a container or an object."""
        name = self.some("list", "dict", "set", "deque", "defaultdict", "Counter", "Point", "Base", "Node")
        if name is None:
            return self.assign()
        kind = self.names[name]
        self.line(getattr(self, "change_" + (kind if isinstance(kind, str) else kind[0]))(name, kind))

    def change_list(self, name, kind):
        r, item = self.r, kind[1]
        value = self.expr(item, 1)
        made = [f"{name}.append({value})", f"{name}.append({value})", f"{name}[{self.index(name)}] = {value}",
                f"{name}[{self.index(name)}] = {value}", f"{name}.insert({self.index(name)}, {value})",
                f"{name}.extend(({self.expr(kind, 1)})[:3])", f"{name}.pop()", f"{name}.pop({self.index(name)})",
                f"{name}.remove({value})", f"{name}.reverse()", f"{name}.clear()", f"del {name}[{self.index(name)}]",
                f"del {name}[{self.slice_()}]", f"{name}[{self.slice_()}] = ({self.expr(kind, 1)})[:3]",
                f"{name}[0], {name}[-1] = {name}[-1], {name}[0]"]
        if item in _ORDERED:
            made += [f"{name}.sort({r.choice(('', 'reverse=True'))})", f"heapq.heappush({name}, {value})",
                     f"heapq.heapify({name})", f"heapq.heappop({name})", f"heapq.heapreplace({name}, {value})"]
        if item in ("int", "float"):
            made += [f"{name}[{self.index(name)}] += {value}"] * 2
        if item != "none":
            made += [f"{name}.sort(key={self.key(item)})"]
        if isinstance(item, tuple) and item[0] == "list":
            inner = self.expr(item[1], 1)
            made += [f"{name}[{self.index(name)}].append({inner})"] * 3
            made += [f"{name}[{self.index(name)}][{self.index(name)}] = {inner}"] * 2
        if isinstance(item, tuple) and item[0] in ("dict", "defaultdict"):
            made += [f"{name}[{self.index(name)}][{self.expr(item[1], 1)}] = {self.expr(item[2], 1)}"] * 3
        return r.choice(made)

    def change_deque(self, name, kind):
        value = self.expr(kind[1], 1)
        return self.r.choice((f"{name}.append({value})", f"{name}.appendleft({value})", f"{name}.pop()",
                              f"{name}.popleft()", f"{name}.rotate({self.expr('int', 1)})", f"{name}.clear()",
                              f"{name}[{self.index(name)}] = {value}", f"{name}.reverse()",
                              f"{name}.extend([{value}])", f"{name}.remove({value})"))

    def change_dict(self, name, kind):
        key, value = self.expr(kind[1], 1), self.expr(kind[2], 1)
        made = [f"{name}[{key}] = {value}", f"{name}[{key}] = {value}", f"del {name}[{key}]", f"{name}.pop({key})",
                f"{name}.setdefault({key}, {value})", f"{name}.update({self.expr(kind, 1)})", f"{name}.popitem()",
                f"{name}.clear()", f"{name}.pop({key}, None)"]
        if kind[2] in ("int", "float"):
            made += [f"{name}[{key}] += {value}", f"{name}[{key}] = {name}.get({key}, 0) + 1"]
        if isinstance(kind[2], tuple) and kind[2][0] == "list":
            made += [f"{name}[{key}].append({self.expr(kind[2][1], 1)})",
                     f"{name}.setdefault({key}, []).append({self.expr(kind[2][1], 1)})"]
        return self.r.choice(made)

    def change_defaultdict(self, name, kind):
        key, value = self.expr(kind[1], 1), self.expr(kind[2], 1)
        made = [f"{name}[{key}] = {value}", f"del {name}[{key}]", f"{name}[{key}]", f"{name}.pop({key}, None)"]
        if kind[2] in ("int", "float"):
            made += [f"{name}[{key}] += {value}"] * 3
        else:
            method = "append" if kind[2][0] == "list" else "add"
            made += [f"{name}[{key}].{method}({self.expr(kind[2][1], 1)})"] * 3
        return self.r.choice(made)

    def change_Counter(self, name, kind):
        key = self.expr(kind[1], 1)
        return self.r.choice((f"{name}[{key}] += 1", f"{name}[{key}] -= 2", f"del {name}[{key}]",
                              f"{name}.update({self.expr(('list', kind[1]), 1)})", f"{name}[{key}] = 3"))

    def change_set(self, name, kind):
        value = self.expr(kind[1], 1)
        return self.r.choice((f"{name}.add({value})", f"{name}.add({value})", f"{name}.discard({value})",
                              f"{name}.remove({value})", f"{name}.update({self.expr(('list', kind[1]), 1)})",
                              f"{name}.clear()", f"{name}.pop()"))

    def change_Point(self, name, kind):
        return self.r.choice((f"{name}.x = {self.expr('int', 1)}", f"{name}.y += {self.expr('float', 1)}",
                              f"{name}.grow({self.expr('int', 1)})", f"{name}.tags.append({self.expr('int', 1)})",
                              f"{name}.tags = {self.expr(('list', 'int'), 1)}", f"{name}.x += 1"))

    def change_Node(self, name, kind):
        return self.r.choice((f"{name}.value += {self.expr('int', 1)}", f"{name}.value = {self.expr('int', 0)}",
                              f"{name}.next = Node({self.expr('int', 0)}, {name}.next)", f"{name}.next = None",
                              f"{name}.next.value = {self.expr('int', 0)}"))

    def change_Base(self, name, kind):
        return self.r.choice((f"{name}.add({self.expr('int', 1)})", f"{name}.items.pop()",
                              f"{name}.name = {self.expr('str', 1)}", f"{name}.items = {self.expr(('list', 'int'), 1)}",
                              f"{name}.name += 'c'", f"{name}.add({name}.first())"))

    def unpack(self):
        name = self.some("list", "tuple", "many", "str", "deque")
        if name is None:
            return self.assign()
        kind = self.names[name]
        if kind == "str":
            a, b = self.fresh(), self.fresh()
            self.line(f"{a}, *{b} = {name}")
            self.names |= {a: "str", b: ("list", "str")}
        elif kind[0] == "tuple":
            made = [self.fresh() for _ in kind[1:]]
            self.line(f"{', '.join(made)}{',' if len(made) == 1 else ''} = {name}")
            self.names |= dict(zip(made, kind[1:]))
        else:
            a, b = self.fresh(), self.fresh()
            rest = ("list", kind[1])
            form = self.r.randrange(4)
            if form == 3:
                c = self.fresh()
                self.line(f"{a}, *{b}, {c} = {name}")
                self.names[c] = kind[1]
            else:
                self.line((f"{a}, *{b} = {name}", f"*{b}, {a} = {name}", f"{a}, {b} = {name}")[form])
            self.names |= {a: kind[1], b: kind[1] if form == 2 else rest}

    def if_(self):
        self.line(f"if {self.expr('bool', 2)}:")
        ends = [self.inside()]
        if self.r.random() < .5:
            self.line("else:")
            ends.append(self.inside())

    def joined(self):
        """A variable that has one of two kinds."""
        a, b = self.kind(1, True), self.kind(1, True)
        name = self.fresh()
        self.line(f"if {self.expr('bool', 1)}:")
        self.line(f"    {name} = {self.expr(a, 1)}")
        self.line("else:")
        self.line(f"    {name} = {self.expr(b, 1)}")
        self.names[name] = a if a == b else ("any", a, b)

    def for_(self):
        name = self.some("list", "dict", "set", "many", "str", "deque", "Counter", "defaultdict")
        item = self.fresh()
        extra = {}
        x = self.r.random()
        if name is None or x < .15:
            name, what = None, self.r.choice(("range(3)", "range(4, 0, -1)", "upto(4)"))
            extra[item] = "int"
            head = f"for {item} in {what}:"
        else:
            kind = self.names[name]
            of = "str" if kind == "str" else kind[1]
            second = self.fresh()
            if kind[0] in ("dict", "defaultdict") and x < .5:
                extra = {item: of, second: kind[2]}
                head = f"for {item}, {second} in {name}.items():"
            elif kind[0] == "dict" and x < .6:
                extra = {item: kind[2]}
                head = f"for {item} in {name}.values():"
            elif x < .3:
                extra = {item: "int", second: of}
                head = f"for {item}, {second} in {self.r.choice(('enumerate', 'pairs'))}({name}):"
            elif x < .4 and kind[0] in ("list", "many", "deque"):
                extra = {item: of}
                head = f"for {item} in reversed({name}):"
            elif x < .5:
                extra = {item: of, second: "int"}
                head = f"for {item}, {second} in zip({name}, range(5)):"
            else:
                extra = {item: of}
                head = f"for {item} in {name}:"
        self.line(head)
        saved, self.names = self.names, {**self.names, **extra}
        start = len(self.lines)
        self.inside(loop=True)
        self.names = saved
        grows = "append" in "".join(self.lines[start:]) or any(
            word in "".join(self.lines[start:])
            for word in ("extend", "insert", "+=", "heappush", "] = ", "add(", "grow"))
        if name is not None and grows:
            self.lines.insert(start, "    " * (self.depth + 1) + f"if len({name}) > 12:\n" + "    " * (self.depth + 2)
                              + "break")
        if self.r.random() < .15:
            self.line("else:")
            self.inside()

    def while_(self):
        name = self.some("list", "deque", "set", "dict")
        if name is None:
            return self.for_()
        take = {"list": "pop()", "deque": "popleft()", "set": "pop()", "dict": "popitem()"}[self.names[name][0]]
        counter = self.fresh()
        self.line(f"{counter} = 0")
        self.names[counter] = "int"
        self.line(f"while {name} and {counter} < 6:")
        self.line(f"    {counter} += 1")
        saved = dict(self.names)
        self.names.pop(counter)
        item = self.fresh()
        self.line(f"    {item} = {name}.{take}")
        kind = self.names[name]
        self.names[item] = ("tuple", *kind[1:]) if kind[0] == "dict" else kind[1]
        self.inside(loop=True)
        self.names = saved

    def leave(self):
        self.line(f"if {self.expr('bool', 1)}:")
        self.line(f"    {self.r.choice(('break', 'continue'))}")

    def try_(self):
        self.line("try:")
        self.inside()
        if self.r.random() < .15:
            self.line("finally:")
            self.inside()
            return
        message = self.r.random() < .5
        self.line(f"except {self.r.choice(_ERRORS)}" + (" as error:" if message else ":"))
        if message:
            name = self.fresh()
            self.line(f"    {name} = str(error)")
        self.inside()
        if self.r.random() < .2:
            self.line("else:")
            self.inside()
        if self.r.random() < .2:
            self.line("finally:")
            self.inside()

    def with_(self):
        """A `with` block that restores a list if the block raises."""
        name = self.some("list")
        if name is None:
            return self.assign()
        kind, swallowed = self.names[name], self.r.choice(("", "", ", KeyError", ", (ValueError, LookupError)"))
        kept = self.fresh()
        self.line(f"with Undo({name}{swallowed}) as {kept}:")
        saved, self.names = self.names, {**self.names, kept: kind}
        self.inside()
        self.names = saved

    def half_way(self):
        """A nested container whose construction ends early if an item is too large; generators that are abandoned."""
        r, name, x, y = self.r, self.fresh(), self.fresh_item(), self.fresh_item()
        rows, least = self.expr(("list", "int"), 1), r.randint(2, 30)
        built, kind = r.choice((
            (f"[[small({x} + {y}, {least}) for {x} in range(3)] for {y} in {rows}]", ("list", ("list", "int"))),
            (f"{{str({y}): [{y}, small({y} * 2, {least})] for {y} in {rows}}}", ("dict", "str", ("list", "int"))),
            (f"[({y}, str(small({y}, {least})), [{y}]) for {y} in {rows}]",
             ("list", ("tuple", "int", "str", ("list", "int")))),
            (f"[Deep([{y}, small({y}, {least})]) for {y} in {rows}]", ("list", "Base")),
            (f"list(nested([{rows}, {self.expr(('list', 'int'), 1)}]))", ("list", "int")),
            (f"[small({y}, {least}) for {y} in guarded({rows}, {self.some_ints()})]", ("list", "int")),
            (f"{{small({y}, {least}) for {y} in {rows}}}", ("set", "int"))))
        empty = {"list": "[]", "dict": "{}", "set": "set()"}[kind[0]]
        if r.random() < .3:
            return self.bind(kind, built)
        self.line("try:")
        self.line(f"    {name} = {built}")
        self.line(f"except {r.choice(('ValueError', 'ValueError', 'Exception', 'ArithmeticError'))}:")
        self.line(f"    {name} = {empty}")
        self.names[name] = kind

    def some_ints(self):
        """A list to which ints and None are added."""
        found = [n for n, k in self.names.items() if k == ("list", ("any", "int", "none"))]
        if found and self.r.random() < .7:
            return self.r.choice(found)
        name = self.fresh()
        self.line(f"{name} = []")
        self.names[name] = ("list", ("any", "int", "none"))
        return name

    def raise_(self):
        self.line(f"if {self.expr('bool', 1)}:")
        self.line(f"    raise {self.r.choice(('ValueError', 'KeyError', 'IndexError'))}({self.expr('str', 1)})")

    def assert_(self):
        self.line(f"assert {self.expr('bool', 1)}, {self.expr(self.r.choice(('str', 'int')), 1)}")

    def call_key(self):
        name = self.some("list")
        if name is None:
            return self.assign()
        kind = self.names[name]
        self.bind(kind, f"sorted({name}, key={self.key(kind[1])})")

    def delete(self):
        """A name that is deleted and bound again."""
        name = self.r.choice(list(self.names))
        kept = self.fresh()
        self.line(f"{kept} = {name}")
        self.line(f"del {name}")
        self.line(f"{name} = {kept}")
        self.names[kept] = self.names[name]

    def walrus(self):
        kind = self.kind(1)
        name = self.fresh()
        self.line(f"if ({name} := {self.expr(kind, 1)}) == {self.expr(kind, 0)}:")
        self.names[name] = kind
        self.inside()

    def starred(self):
        """A function inside that takes any arguments, and its call."""
        name, out, kind = self.fresh(), self.fresh(), self.r.choice(("int", "str", "float"))
        self.line(f"def {name}(*xs, k=0, **named):")
        self.line(self.r.choice(("    return [*xs, k], named", "    return list(xs), named",
                                 "    return sorted(xs), named", "    return [x for x in xs if x != k], named")))
        first, rest = self.expr(kind, 0), self.expr(("many", kind), 1)
        self.line(f"{out}, _ = {name}({first}, *{rest}, a={self.expr(kind, 0)}, k={self.expr(kind, 0)})")
        self.names[out] = ("list", kind)

    def match(self):
        name = self.r.choice(list(self.names))
        kind = self.names[name]
        what = kind if isinstance(kind, str) else kind[0]
        a, b = self.fresh(), self.fresh()
        cases = []
        if what in ("list", "many", "deque"):
            cases = [("[]", {}), (f"[{a}]", {a: kind[1]}), (f"[{a}, *{b}]", {a: kind[1], b: ("list", kind[1])}),
                     (f"[{a}, {b}] if {a} == {b}", {a: kind[1], b: kind[1]}), (f"[*{a}, _]", {a: ("list", kind[1])})]
        elif what in ("dict", "defaultdict", "Counter"):
            value = kind[2] if what != "Counter" else "int"
            cases = [(f"{{{_literal(self.r, 'str')}: {a}}}", {a: value}), ("{0: _, **rest}", {}),
                     (f"{{1: {a}}}", {a: value}), ("{}", {})]
        elif what == "tuple":
            cases = [(f"({a}, {b})", dict(zip((a, b), kind[1:])) if len(kind) == 3 else {}),
                     (f"({a}, *_)", {a: kind[1]}), ("(0, *_)", {}), ("()", {})]
        elif what == "Point":
            cases = [("Point(x=0)", {}), (f"Point(x={a}, y={b}) if {a} > 1", {a: "int", b: "float"}),
                     (f"Point(tags=[{a}, *_])", {a: "int"}), ("Point(0, 1.0)", {})]
        elif what == "Node":
            cases = [("Node(value=0)", {}), (f"Node(next=Node(value={a}))", {a: "int"}), ("Node(next=None)", {}),
                     (f"Node(value=1 | 2 as {a})", {a: "int"})]
        else:
            cases = [("0 | 1", {}), (f"int({a})", {a: "int"}), (f"str({a})", {a: "str"}), ("None", {}), ("'a'", {}),
                     ("True", {}), (f"float() as {a}", {a: "float"}), ("-1", {}), ("bool()", {})]
        self.line(f"match {name}:")
        self.depth += 1
        for pattern, bound in self.r.sample(cases, min(len(cases), self.r.choice((1, 2, 3)))):
            self.line(f"case {pattern}:")
            saved, self.names = self.names, {**self.names, **bound}
            self.inside()
            self.names = saved
        if self.r.random() < .6:
            self.line("case _:")
            self.inside()
        self.depth -= 1

    def written(self, lines, names):
        """The names among these that the lines bind."""
        text = "\n".join(lines)
        return [n for n in names if re.search(
            rf"\b{n}\b(, \*?\w+)* ([-+*/%|&^]|//)?= |\b(for|as|del|case) (\w+, )?{n}\b|, \*?{n}\b[^\n]* = |\({n} :=",
            text)]

    def body(self, params, result, made):
        """The block of a function inside this one, which sees and may bind the variables around it."""
        around = dict(self.names)
        at = len(self.lines)
        loops, self.loops = self.loops, 0
        saved, self.names = self.names, {**self.names, **params}
        self.depth += 1
        self.inner += 1
        self.budget += 1
        made(result)
        self.inner -= 1
        self.depth -= 1
        self.names, self.loops = saved, loops
        bound = self.written(self.lines[at:], around)
        if bound:
            self.lines.insert(at, "    " * (self.depth + 1) + f"nonlocal {', '.join(bound)}")

    def closure(self):
        name, param, kind, result = self.fresh(), self.fresh(), self.kind(1), self.kind(1)
        default = f"={_literal(self.r, kind)}" if isinstance(kind, str) and self.r.random() < .3 else ""
        self.line(f"def {name}({param}{default}):")

        def made(result):
            if self.r.random() < .7:
                self.block()
            self.line(f"return {self.expr(result, 1)}")

        self.body({param: kind}, result, made)
        self.functions[name] = ((kind,), result)
        self.bind(result, f"{name}({self.expr(kind, 1)})")
        if default and self.r.random() < .5:
            self.bind(result, f"{name}()")

    def generator(self):
        name, param, item = self.fresh(), self.fresh(), self.kind(1)
        kind = self.r.choice(("int", item, ("list", item)))
        self.line(f"def {name}({param}):")

        def made(item):
            inner = "    " * (self.depth + 1)
            if self.r.random() < .3:
                self.line(f"yield {self.expr(item, 1)}")
            head = f"for {self.fresh_item()} in "
            bound = self.last
            head += "range(3)" if self.r.random() < .5 else self.source(item, 1)
            self.line(head + ":")
            saved, self.names = self.names, {**self.names, bound: "int" if "range" in head else item}
            if self.r.random() < .4:
                self.inside(loop=True)
            self.lines.append(inner + f"yield {self.expr(item, 1)}")
            self.names = saved

        self.body({param: kind}, item, made)
        self.generators[name] = ((kind,), item)
        call = f"{name}({self.expr(kind, 1)})"
        x = self.r.random()
        if x < .3:
            self.bind(("list", item), f"list(itertools.islice({call}, 5))")
        elif x < .5:
            it = self.fresh()
            self.line(f"{it} = {call}")
            self.bind(item, f"next({it})")
            if self.r.random() < .5:
                self.line(f"{it}.close()" if self.r.random() < .5 else f"del {it}")
        else:
            kept = self.fresh()
            self.line(f"{kept} = []")
            self.names[kept] = ("list", item)
            self.line(f"for {self.fresh_item()} in {call}:")
            bound = self.last
            self.line(f"    if len({kept}) > 4:")
            self.line("        break")
            self.line(f"    {kept}.append({bound})")
            saved, self.names = self.names, {**self.names, bound: item}
            if self.r.random() < .5:
                self.inside(loop=True)
            self.names = saved

    def helper(self):
        """A function beside `f`, which may call itself."""
        r = self.r
        kinds = [self.kind(2) for _ in range(r.choice((1, 2)))]
        result = r.choice((kinds[0], self.kind(1)))
        kept = self.lines, self.names, self.params, self.budget
        name = f"h{self.fresh()}"
        params = {f"{name}{k}": kind for k, kind in enumerate(kinds)}
        recursive = r.random() < .5
        self.lines, self.names, self.budget = [], dict(params), 3
        if recursive:
            self.line("if n <= 0:")
            self.line(f"    return {self.expr(result, 1)}")
        self.block()
        if recursive:
            self.line(f"return {name}({', '.join(self.expr(k, 0) for k in kinds)}, {r.choice(('n - 1', 'n - 2'))})")
        else:
            self.line(f"return {self.expr(result, 1)}")
        head = ("@njit\n" if r.random() < .6 else "")
        head += f"def {name}({', '.join(params)}{', n=2' if recursive else ''}):\n"
        self.beside.append(head + "\n".join(self.lines))
        self.lines, self.names, self.params, self.budget = kept
        self.functions[name] = (tuple(kinds), result)

    def private(self):
        """Containers that the function makes, fills in a longer loop, and queries."""
        r = self.r
        made = []
        for _ in range(r.choice((1, 1, 2, 3))):
            key = r.choice(("int", "int", "str", ("tuple", "int", "int"), "float", ("any", "int", "float", "bool")))
            item = r.choice(("int", "int", "float", "bool", "str", ("tuple", "int", "int"), ("list", "int"),
                             ("any", "int", "none"), ("tuple", "float", "str"), ("any", "int", "float")))
            kind = r.choice((("list", item),) * 6 + (("dict", key, item),) * 3 + (
                ("set", key), ("Counter", r.choice(("int", "str"))), ("deque", item),
                ("defaultdict", "int", r.choice(("int", ("list", "int"))))))
            name = self.fresh()
            empty = {"list": r.choice(("[]", "[]", "list()", None)), "dict": r.choice(("{}", "dict()", None)),
                     "set": "set()", "Counter": "Counter()", "deque": "deque()"}.get(kind[0]) or _literal(r, kind)
            self.line(f"{name} = {empty}")
            self.names[name] = kind
            made.append(name)
        item = self.fresh()
        self.line(f"for {item} in range({r.choice((5, 20, 70, 200))}):")
        saved, self.names = self.names, {**self.names, item: "int"}
        self.depth += 1
        self.loops += 1
        for _ in range(r.choice((1, 2, 3, 4))):
            name = r.choice(made)
            kind = self.names[name]
            whole = self.names
            self.names = {n: k for n, k in whole.items() if n in made or not isinstance(k, tuple)}
            x = r.random()
            if x < .2:
                self.line(f"if {item} % {r.choice((2, 3, 7))} == {r.choice((0, 1))}:")
                self.depth += 1
            numbers = {"int": f"{item} * {r.choice((1, 3, 7, -1))} % {r.choice((5, 11, 64))}", "float": f"{item} * 0.5",
                       "str": f"str({item} % {r.choice((3, 10))})", "bool": f"{item} % 2 == 0"}

            def value(kind):
                if isinstance(kind, str):
                    return numbers.get(kind, "None") if r.random() < .7 else self.expr(kind, 1)
                if kind[0] == "tuple":
                    return f"({', '.join(map(value, kind[1:]))},)"
                if kind[0] == "any":
                    return value(r.choice(kind[1:]))
                return f"[{item}]" if r.random() < .7 else self.expr(kind, 1)

            if r.random() < .45:
                self.with_one_key(name, kind, value)
            elif r.random() < .65:
                what = kind[0]
                if what == "Counter":
                    self.line(f"{name}[{value(kind[1])}] += 1")
                elif what in ("dict", "defaultdict"):
                    symbol = "+=" if what == "defaultdict" and kind[2] == "int" else "="
                    self.line(f"{name}[{value(kind[1])}] {symbol} {value(kind[2])}")
                else:
                    self.line(f"{name}.{'add' if what == 'set' else 'append'}({value(kind[1])})")
            else:
                self.line(getattr(self, "change_" + kind[0])(name, kind))
            if x < .2:
                self.depth -= 1
            self.names = whole
        if r.random() < .3:
            self.line(f"if {self.expr('bool', 1)}:")
            self.line(f"    {r.choice(('break', 'continue', f'return {r.choice(made)}', f'return {item}'))}")
        if r.random() < .3:
            self.block()
        self.loops -= 1
        self.depth -= 1
        self.names = saved
        if r.random() < .4:  # only numbers are returned
            for name in made:
                kind = self.names.pop(name)
                x = r.random()
                self.bind("int", f"len({name})")
                if kind in (("list", "int"), ("list", "bool")):
                    self.bind("int", f"sum({name})")
                elif kind[0] == "list" and x < .5:
                    self.bind(kind[1], f"{name}[{self.index(name)}]")
                elif kind[0] == "dict" and x < .5:
                    self.bind(kind[2], f"{name}[{self.expr(kind[1], 1)}]")
                else:
                    self.bind("str", f"str({name})" if x < .8 else f"repr(list({name})[-3:])")

    def with_one_key(self, name, kind, value):
        """Several statements about one key of a container, or one item; calls of a function beside `f` among them.
        value: kind -> the text of a value."""
        r, k, new = self.r, self.fresh(), value(kind[2] if len(kind) > 2 else kind[1])
        self.line(f"{k} = {value(kind[1])}")
        if kind[0] in ("list", "deque"):
            made = [f"if {k} in {name}:\n    {name}.remove({k})\nelse:\n    {name}.append({k})",
                    f"if {name}.count({k}) < 2:\n    {name}.append({k})", f"{name}.append({k})",
                    f"if {name} and {name}[-1] == {k}:\n    {name}.pop()", f"{name}[-1:] = [{k}]",
                    f"for {k}i in range(len({name})):\n    if {name}[{k}i] == {k}:\n        {name}[{k}i] = {new}"]
            made = made[:3] if kind[0] == "deque" else made
        elif kind[0] == "set":
            made = [f"if {k} in {name}:\n    {name}.discard({k})\nelse:\n    {name}.add({k})", f"{name}.add({k})",
                    f"if {k} not in {name}:\n    {name}.add({k})\n    {name}.add({new})", f"{name} -= {{{k}}}",
                    f"{name} |= {{{k}, {new}}}"]
        else:
            made = self.of_one_key(name, kind, k, new)
        for text in r.choices(made, k=r.choice((1, 2, 2, 3))):
            if r.random() < .25:
                self.line(f"{self.fills(kind)}({name}, {k}, {new}, {r.choice((0, 1, 3))})")
            for line in text.split("\n"):
                self.line(line)

    def of_one_key(self, name, kind, k, new) -> list:
        """Texts of statements about a key of a dict."""
        made = [f"if {k} not in {name}:\n    {name}[{k}] = {new}", f"{name}[{k}] = {new}", f"{name}.pop({k}, None)",
                f"if {k} in {name}:\n    del {name}[{k}]\nelse:\n    {name}[{k}] = {new}",
                f"{name}.setdefault({k}, {new})",
                f"try:\n    {k}x = {name}[{k}]\nexcept KeyError:\n    {name}[{k}] = {new}",
                f"{k}x = {name}.get({k})\nif {k}x is None:\n    {name}[{k}] = {new}"]
        what = "int" if kind[0] == "Counter" else kind[2]
        if what in ("int", "float"):
            made += [f"{name}[{k}] = {name}.get({k}, 0) + 1",
                     f"if {k} in {name}:\n    {name}[{k}] += 1\nelse:\n    {name}[{k}] = 1"] * 2
            if kind[0] != "dict":
                made = [f"{name}[{k}] += 1", f"{name}[{k}] -= 2", f"if {name}[{k}] > 1:\n    del {name}[{k}]",
                        f"if {name}[{k}] < 3:\n    {name}[{k}] += 1", *made[-2:], *made[:2]]
        elif what[0] == "list":
            x = self.expr(what[1], 0)
            made += [f"{name}.setdefault({k}, []).append({x})",
                     f"if {k} in {name}:\n    {name}[{k}].append({x})\nelse:\n    {name}[{k}] = [{x}]"] * 2
            if kind[0] == "defaultdict":
                made = [f"if {x} not in {name}[{k}]:\n    {name}[{k}].append({x})", f"{name}[{k}].append({x})",
                        f"if len({name}[{k}]) < 3:\n    {name}[{k}].append({x})", f"{name}[{k}] += [{x}]", *made[:3]]
        return made

    def fills(self, kind) -> str:
        """The name of a function beside `f` that stores in a container, and calls itself."""
        called = f"g{self.fresh()}"
        store = {"list": "x.append(v)", "deque": "x.append(v)", "set": "x.add(k)"}.get(kind[0], "x[k] = v")
        asks = "" if kind[0] in ("list", "deque") else "    if k in x:\n        return 1\n"
        again = f"    if n > 0:\n        {called}(x, {'k + n' if kind[1] == 'int' else 'k'}, v, n - 1)\n"
        self.beside.append(f"def {called}(x, k, v, n):\n" + "".join(
            self.r.choice(((asks, again), (again,), (again, asks)))) + f"    {store}\n    return n")
        return called

    # -- expressions

    def index(self, name) -> str:
        x = self.r.random()
        if x < .6:
            return self.r.choice(("0", "-1", "1", "2", "-2"))
        if x < .75:
            return f"len({name}) - 1"
        return self.expr("int", 1)

    def slice_(self) -> str:
        return self.r.choice((":", "1:", ":-1", ":2", "1:3", "::2", "::-1", "-2:", f"{self.expr('int', 0)}:", "5:1",
                              f":{self.expr('int', 0)}"))

    def key(self, kind) -> str:
        """The text of a key function, which maps an item of a kind to a value that can be ordered."""
        name = self.fresh()
        made = {"int": (f"-{name}", f"{name} % 3", f"({name} % 2, {name})", f"str({name})"),
                "float": (f"-{name}", f"abs({name})"), "bool": (f"not {name}",),
                "str": (f"len({name})", f"{name}.lower()", f"{name}[-1:]", f"{name}[0]"),
                "bytes": (f"len({name})",), "Point": (f"{name}.x", f"{name}.y"),
                "Base": (f"len({name})", f"{name}.name")}
        if isinstance(kind, str):
            return f"lambda {name}: {self.r.choice(made.get(kind, ('0',)))}"
        if kind[0] == "any":
            return f"lambda {name}: {self.r.choice((f'str({name})', f'{name} is None', f'isinstance({name}, int)'))}"
        if kind[0] == "tuple" and kind[1] in _ORDERED:
            return f"lambda {name}: {name}[0]"
        return f"lambda {name}: len({name})"

    def expr(self, kind, depth) -> str:
        r = self.r
        found = [n for n, k in self.names.items() if k == kind]
        if found and r.random() < (.75 if depth <= 0 else .3):
            return r.choice(found)
        if depth <= 0 or r.random() < .12:
            return _literal(r, kind)
        if r.random() < .05:
            return f"({self.expr(kind, depth - 1)} if {self.expr('bool', depth - 1)} else {self.expr(kind, depth - 1)})"
        if r.random() < .3:  # an item of an existing container
            made = self.item_of(kind, depth)
            if made:
                return r.choice(made)
        if r.random() < .25:
            called = [n for n, (_, result) in self.functions.items() if result == kind]
            if called and not self.inner and self.depth == 1:
                name = r.choice(called)
                return f"{name}({', '.join(self.expr(k, 0) for k in self.functions[name][0])})"
        what = kind if isinstance(kind, str) else kind[0]
        return getattr(self, f"make_{what}")(kind, depth - 1)

    def item_of(self, kind, depth) -> list:
        made = []
        for name, k in self.names.items():
            if k[0] in ("list", "many", "deque") and k[1] == kind:
                made.append(f"{name}[{self.index(name)}]")
            elif k[0] in ("dict", "defaultdict") and k[2] == kind:
                made.append(f"{name}[{self.expr(k[1], 0)}]")
            elif k[0] == "tuple" and kind in k[1:]:
                made.append(f"{name}[{k[1:].index(kind)}]")
            elif k[0] in ("list", "deque") and isinstance(k[1], tuple) and k[1][0] == "list" and k[1][1] == kind:
                made.append(f"{name}[{self.index(name)}][{self.index(name)}]")
        return made

    def make_int(self, kind, depth):
        r = self.r
        a, b = self.expr("int", depth), self.expr("int", depth)
        made = [f"({a} + {b})", f"({a} - {b})", f"({a} * {b}) % 97", f"({a} // ({b}))", f"({a} % ({b}))", f"abs({a})",
                f"divmod({a}, {b})[{r.choice('01')}]", f"max({a}, {b})", f"min({a}, {b})", f"({a} & {b})",
                f"(-{a})", f"int({self.expr('float', depth)})"]
        for name, k in self.names.items():
            what = k if isinstance(k, str) else k[0]
            if what in ("list", "many", "deque"):
                made += [f"len({name})", f"{name}.count({self.expr(k[1], 0)})"]
                if k[1] == "int" and what != "deque":
                    made += [f"sum({name})", f"max({name})", f"min({name}, default=-1)", f"next(iter({name}))",
                             f"sum({self.fresh_item()} * 2 for {self.last} in {name})"]
                if what != "deque":
                    made += [f"{name}.index({self.expr(k[1], 0)})"]
            elif what in ("dict", "defaultdict", "set", "Counter", "Base"):
                made += [f"len({name})"]
                if what == "Base":
                    made += [f"{name}.first()"]
                if what == "dict" and k[2] == "int":
                    made += [f"{name}.get({self.expr(k[1], 0)}, 7)", f"sum({name}.values())"]
                if what == "Counter":
                    made += [f"{name}[{self.expr(k[1], 0)}]", f"len({name})"]
            elif what == "str":
                made += [f"len({name})", f"{name}.find({self.expr('str', 0)})", f"ord({name}[0])", f"int({name})",
                         f"{name}.count('a')", f"{name}.index('b')"]
            elif what == "bytes":
                made += [f"{name}[0]", f"len({name})", f"{name}.find(b'a')"]
            elif what == "Node":
                made += [f"{name}.value", f"{name}.next.value"]
            elif what == "Point":
                made += [f"{name}.x", f"{name}.grow(1)", f"len({name}.tags)"]
        return r.choice(made)

    def fresh_item(self):
        self.last = self.fresh()
        return self.last

    def make_float(self, kind, depth):
        a, b = self.expr("float", depth), self.expr("float", depth)
        made = [f"({a} + {b})", f"({a} * 0.5)", f"({a} / {b})", f"float({self.expr('int', depth)})",
                f"({self.expr('int', depth)} / {self.expr('int', depth)})", f"abs({a})", f"round({a}, 1)",
                f"max({a}, {b})", f"(-{a})"]
        for name, k in self.names.items():
            if k[0] in ("list", "many") and k[1] == "float":
                made += [f"sum({name})", f"max({name})"]
            elif k == "Point":
                made += [f"{name}.y"]
        return self.r.choice(made)

    def make_bool(self, kind, depth):
        r = self.r
        of = r.choice(_ORDERED)
        a, b = self.expr(of, depth), self.expr(of, depth)
        made = [f"({a} {r.choice(('<', '<=', '==', '!=', '>', '>='))} {b})"] * 3
        made += [f"(not {self.expr('bool', depth)})", f"({self.expr('bool', depth)} and {self.expr('bool', depth)})",
                 f"({self.expr('bool', depth)} or {self.expr('bool', depth)})"]
        for name, k in self.names.items():
            what = k if isinstance(k, str) else k[0]
            if what in ("list", "many", "deque", "set", "dict", "defaultdict"):
                made += [f"({self.expr(k[1], 0)} in {name})", f"bool({name})", f"({self.expr(k, 0)} == {name})"]
                if what in ("list", "many"):
                    test = self.fresh_item()
                    made += [f"{r.choice(('any', 'all'))}({test} == {self.expr(k[1], 0)} for {test} in {name})"]
                    if k[1] in _ORDERED:
                        made += [f"({name} < {self.expr(k, 0)})"]
                if what == "set":
                    made += [f"({name} <= {self.expr(k, 0)})", f"{name}.isdisjoint({self.expr(k, 0)})"]
                others = [n for n, other in self.names.items() if other == k and n != name]
                if others and what not in ("many", "tuple"):  # these objects have no identity to compare
                    made += [f"({name} is {r.choice(others)})", f"({name} is not {r.choice(others)})"]
            elif what == "str":
                made += [f"{name}.startswith({self.expr('str', 0)})", f"{name}.isdigit()",
                         f"({self.expr('str', 0)} in {name})", f"{name}.isupper()"]
            elif what == "any":
                made += [f"({name} is None)", f"isinstance({name}, int)", f"isinstance({name}, (str, float))",
                         f"({name} == {self.expr('int', 0)})", f"bool({name})"]
        return r.choice(made)

    def make_str(self, kind, depth):
        r = self.r
        a, b = self.expr("str", depth), self.expr("str", depth)
        any_of = self.r.choice(list(self.names))
        made = [f"({a} + {b})", f"({a} * 2)", f"{a}[{self.slice_()}]", f"{a}[{self.index(repr('ab'))}]", f"{a}.upper()",
                f"{a}.replace('a', {b})", f"{a}.strip()", f"{a}.lower()", f"str({self.expr('int', depth)})",
                f"repr({a})", f"f'{{{self.plain('int')}}}:{{{self.plain('float')}:.2f}}'",
                f"','.join({self.expr(('list', 'str'), depth)})",
                f"chr({self.expr('int', depth)} % 128)", f"{a}.split(',')[0]", f"{a}.rjust(4, '*')",
                f"{a}.partition('b')[0]", f"{a}.title()", f"{a}.swapcase()",
                f"{a}.center(5, '-')", f"{a}.rpartition({b})[2]", f"{a}.removeprefix('a').removesuffix({b})",
                f"{a}.expandtabs(3)", f"{a}.casefold()", f"{a}.lstrip('a ')",
                f"{a}.translate({{97: 'bb', 98: None}})", f"{a}.replace({b}, 'x', 1)", f"' '.join({a}.split())",
                f"'|'.join({a}.rsplit('a', 1))", f"'%s-%5.1f' % ({a}, {self.plain('float')})", f"{a}.ljust(3, '.')",
                f"'{{:>5}}|{{!r}}'.format({self.plain('int')}, {a})", f"''.join(sorted({a}))", f"{a}[::-1]",
                f"''.join(c for c in {a} if c not in {b})", f"{a}.encode().decode('latin-1')",
                f"'/'.join({a}.splitlines())", f"f'{{{self.plain('int')}:>4}}'", f"{a}.zfill(3)"]
        if self.names[any_of] not in ("Base",):
            made += [f"str({any_of})", f"repr({any_of})", f"f'{{{any_of}}}'", f"f'{{{any_of}!r:>6}}'"]
        if self.of("bytes"):
            made += [f"{self.some('bytes')}.hex()"]
        return r.choice(made)

    def plain(self, kind):
        """A variable or a number: for fields of f-strings."""
        found = [n for n, k in self.names.items() if k == kind]
        return self.r.choice(found) if found else _literal(self.r, kind)

    def make_bytes(self, kind, depth):
        a, b = self.expr("bytes", depth), self.expr("bytes", depth)
        return self.r.choice((f"({a} + {b})", f"{a}[{self.slice_()}]", f"({a} * 2)",
                              f"bytes({self.expr(('list', 'int'), depth)})",
                              f"{self.expr('str', depth)}.encode()", f"{a}.upper()", f"{a}.replace(b'a', {b})",
                              f"b','.join([{a}, {b}])"))

    def make_none(self, kind, depth):
        return "None"

    def make_Point(self, kind, depth):
        found = self.of("Point")
        if found and self.r.random() < .4:
            return f"{self.r.choice(found)}.moved({self.expr('int', depth)})"
        return (f"Point({self.expr('int', depth)}, {self.expr('float', depth)}, {self.expr(('list', 'int'), depth)})")

    def make_Base(self, kind, depth):
        made = self.r.choice(("Base", "Base", "Derived", "Deep"))
        return f"{made}({self.expr(('list', 'int'), depth)}, name={self.expr('str', depth)})"

    def make_Node(self, kind, depth):
        found = self.of("Node")
        return f"Node({self.expr('int', depth)}, {self.r.choice([*found, 'None'])})"

    def make_frozenset(self, kind, depth):
        return f"frozenset({self.expr(('set', kind[1]), depth)})"

    def make_any(self, kind, depth):
        return self.expr(self.r.choice(kind[1:]), depth)

    def make_tuple(self, kind, depth):
        return "(" + "".join(self.expr(part, depth) + ", " for part in kind[1:]) + ")"

    def source(self, item, depth):
        """An iterable with items of a kind, and whether its items may differ from each other."""
        made = [n for n, k in self.names.items() if k[0] in ("list", "many", "deque", "set", "dict") and k[1] == item]
        made += [f"{n}.values()" for n, k in self.names.items() if k[0] == "dict" and k[2] == item]
        made += [f"{n}({', '.join(self.expr(k, 0) for k in kinds)})" for n, (kinds, of) in self.generators.items()
                 if of == item and not self.inner]
        if item == "int":
            made += ["range(4)", "upto(3)"]
        if item == "str":
            made += self.of("str")
        return self.r.choice(made) if made else self.expr(("list", item), depth)

    def comprehension(self, text_of, depth) -> str:
        """`text_of` writes the element."""
        r = self.r
        held = [k[1] for k in self.names.values() if k[0] in ("list", "set", "dict", "many", "deque")]
        of = r.choice(held or ["int"])
        source = self.source(of, depth)
        name = self.fresh()
        saved, self.names = self.names, {**self.names, name: of}
        second = ""
        if r.random() < .15:
            inner = self.fresh()
            second = f" for {inner} in range(2)"
            self.names[inner] = "int"
        text = text_of()
        condition = f" if {self.expr('bool', min(depth, 1))}" if r.random() < .4 else ""
        self.names = saved
        return f"{text} for {name} in {source}{second}{condition}"

    def make_list(self, kind, depth):
        r, item = self.r, kind[1]
        a = self.expr(kind, depth)
        made = [f"[{', '.join(self.expr(item, depth) for _ in range(r.choice((0, 1, 2, 3))))}]"] * 3
        made += [f"[{self.comprehension(lambda: self.expr(item, min(depth, 1)), min(depth, 1))}]"] * 3
        made += [f"{a}[{self.slice_()}]", f"({a} + {self.expr(kind, depth)})[:6]", f"list({self.source(item, depth)})",
                 f"({a} * 2)[:5]", f"[*{a}, {self.expr(item, depth)}]", f"list(reversed({a}))", f"{a}.copy()",
                 f"([{self.expr(item, depth)}] * {r.choice(('2', '3', '0', '-1'))})"]
        if depth > 0:
            test, source = self.fresh(), self.source(item, depth - 1)
            made += [f"list(itertools.chain({a}, {source}))", f"list(itertools.islice({source}, {r.choice('0123')}))",
                     f"[{test} for {test} in {a} if {test} not in {self.expr(kind, 0)}]",
                     f"[{test} for {test}, _ in itertools.groupby({a})]", f"[*{a}, *{self.expr(kind, 0)}][:6]",
                     f"list(itertools.takewhile(lambda {test}: {test} != {self.expr(item, 0)}, {source}))",
                     f"[{test} for _, {test} in sorted(enumerate({a}), key=lambda {test}x: -{test}x[0])]",
                     f"[{test} for {test}x in [{a}, {a}] for {test} in {test}x][:6]"]
            if _hashable(item):
                made += [f"list(dict.fromkeys({a}))", f"list({{{test}: 1 for {test} in {a}}})"]
            if item in ("int", "float"):
                made += [f"list(itertools.accumulate({a}))", f"[max({a}), min({a})]",
                         f"[bisect.{r.choice(('bisect', 'bisect_left'))}(sorted({a}), {self.expr(item, 0)})]"
                         if item == "int" else f"[sum({a}, 0.0)]",
                         f"[functools.reduce(lambda x, y: x - y, {a})]"]
        if item in _ORDERED:
            made += [f"sorted({self.source(item, depth)}, reverse={r.choice(('True', 'False'))})",
                     f"heapq.{r.choice(('nsmallest', 'nlargest'))}(2, {self.source(item, depth)})"]
        if item == "str":
            made += [f"{self.expr('str', depth)}.split()", f"list({self.expr('str', depth)})",
                     f"list(map(str, {self.source('int', depth)}))", f"{self.expr('str', depth)}.split('a')"]
        if item == "int":
            name = self.fresh()
            made += [f"list(map(lambda {name}: {name} + 1, {self.source('int', depth)}))",
                     f"list(range({self.expr('int', depth)}))",
                     f"list({self.expr('bytes', depth)})",
                     f"list(filter(lambda {name}: {name} % 2, {self.source('int', depth)}))"]
        if isinstance(item, tuple) and item[0] == "tuple" and len(item) == 3:
            made += [f"list(zip({self.source(item[1], depth)}, {self.source(item[2], depth)}))"] * 2
            dicts = [n for n, k in self.names.items() if k[0] == "dict" and k[1:] == item[1:]]
            made += [f"list({n}.items())" for n in dicts]
            if item[1] == "int":
                made += [f"list(enumerate({self.source(item[2], depth)}))"]
        return r.choice(made)

    def make_many(self, kind, depth):
        item = kind[1]
        return self.r.choice((f"tuple({self.source(item, depth)})",
                              f"tuple({self.comprehension(lambda: self.expr(item, min(depth, 1)), min(depth, 1))})",
                              f"(({self.expr(item, depth)},) * {self.r.choice('123')})",
                              f"{self.expr(kind, depth)}[{self.slice_()}]",
                              f"({self.expr(kind, depth)} + {self.expr(kind, depth)})[:5]"))

    def make_deque(self, kind, depth):
        return self.r.choice((f"deque({self.source(kind[1], depth)})", f"deque({self.expr(('list', kind[1]), depth)})",
                              f"deque({self.expr(('list', kind[1]), depth)}, maxlen=2)" if self.r.random() < .3
                              else f"deque([{self.expr(kind[1], depth)}])"))

    def make_set(self, kind, depth):
        item = kind[1]
        a, b = self.expr(kind, depth), self.expr(kind, depth)
        return self.r.choice((f"set({self.source(item, depth)})", f"({a} {self.r.choice('|&-^')} {b})",
                              f"{{{self.expr(item, depth)}, {self.expr(item, depth)}}}",
                              f"{{{self.comprehension(lambda: self.expr(item, min(depth, 1)), min(depth, 1))}}}",
                              f"{a}.union({self.source(item, depth)})", f"{a}.intersection({b})", f"{a}.copy()"))

    def make_dict(self, kind, depth):
        _, key, value = kind
        small = min(depth, 1)

        def entry():
            return f"{self.expr(key, small)}: {self.expr(value, small)}"

        made = [f"{{{self.expr(key, depth)}: {self.expr(value, depth)}}}",
                f"{{{self.comprehension(entry, small)}}}", f"{{{self.comprehension(entry, small)}}}",
                f"dict(zip({self.source(key, depth)}, {self.source(value, depth)}))",
                f"{{**{self.expr(kind, depth)}, **{self.expr(kind, depth)}}}",
                f"({self.expr(kind, depth)} | {self.expr(kind, depth)})", f"{self.expr(kind, depth)}.copy()",
                f"dict.fromkeys({self.source(key, depth)}, {self.expr(value, depth)})"]
        return self.r.choice(made)

    def make_defaultdict(self, kind, depth):
        return _literal(self.r, kind)

    def make_Counter(self, kind, depth):
        return f"Counter({self.source(kind[1], depth)})"
