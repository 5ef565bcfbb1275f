"""IR, typed or generic, from the text that `ir.show` writes: `show(parse(show(fn), ops))` is the same text again.

    fn twice(x: float) -> float:
      entry(x: float):
        y = fadd x, x : float      # a comment
        return y

`ops`: the table of operations by name. `objects`: values that a text can refer to but not contain (`<range>`,
`@callee`, the types of structs and functions with Python objects inside), as `show.references` collects it.
"""
from __future__ import annotations

import ast
import builtins
import re
from typing import Any, NoReturn

import numpy as np

from ..types import text as types_text
from ..types.kinds import Exception_, Iterator, Method, Singleton, Struct, Tuple, Type, Undefined, union_of
from .core import NOWHERE, Block, Edge, Function, Inst, Loc, Value
from .tree import Leaf, Node

__all__ = ["parse", "parse_module"]

_HEAD = re.compile(r"(library )?fn ([^\s(]+)\(")
_BLOCK = re.compile(r"(\w[\w.]*)\(")
_INST = re.compile(r"(?:(\w[\w.]*) = )?(\w+)")
_NAME = re.compile(r"\w[\w.]*")
_LOC = re.compile(r"@(\d+):(-?\d+)")
_NUMBER = re.compile(r"[-+]?(?:inf|nan|[\d.]+(?:e[-+]?\d+)?)(?![\w.])")
_STRING = re.compile(r"b?(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_UNIT = re.compile(r"\[\w+\]")
_SUFFIX = re.compile(r"\.\d+$")
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def parse(text: str, ops: dict, objects: dict | None = None) -> Function:
    """The only function in `text`; raises SyntaxError with the line for an invalid text."""
    functions = parse_module(text, ops, objects)
    if len(functions) != 1:
        raise SyntaxError(f"one function expected, {len(functions)} found")
    return functions[0]


def parse_module(text: str, ops: dict, objects: dict | None = None) -> list[Function]:
    """All functions in `text`, in order. Callees are searched among them, then in `objects`."""
    sections: list[list[tuple[int, str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = _uncommented(line)
        if not line.strip():
            continue
        if not line[0].isspace():
            sections.append([])
        elif not sections:
            raise SyntaxError(f"line {number}: `fn` expected")
        sections[-1].append((number, line))
    readers = [_Reader(lines, ops, objects or {}) for lines in sections]
    known = {}
    for reader in readers:
        reader.head()
        known[reader.fn.name] = reader.fn
    for reader in readers:
        reader.known = known
        reader.body()
    return [reader.fn for reader in readers]


def _uncommented(line: str) -> str:
    if "#" not in line:
        return line
    at = 0
    while at < len(line):
        quoted = _STRING.match(line, at)
        if quoted:
            at = quoted.end()
        elif line[at] == "#":
            return line[:at]
        else:
            at += 1
    return line


class _Reader:
    """One function. A cursor (`line`, `at`) moves through the lines."""

    def __init__(self, lines, ops, objects):
        self.lines = lines
        self.ops = ops
        self.objects = objects
        self.known: dict[str, Function] = {}
        self.types: dict[str, Type] = {}
        self.nodes: dict = {}
        self.values: dict[str, Value] = {}
        self.blocks: dict[str, Block] = {}
        self.number, self.line = lines[0]
        self.at = 0

    # -- structure

    def head(self):
        found = _HEAD.match(self.line)
        if not found:
            self.fail("`fn name(` expected")
        self.fn = Function(found[2], library=bool(found[1]))
        self.at = found.end()
        self.params({})
        if self.take("{"):
            self.flags()
        if self.take("->"):
            self.fn.result = self.type()
        self.expect(":")
        self.end()

    def flags(self):
        while not self.take("}"):
            name = self.word(_NAME)
            if name not in self.fn.flags._fields:
                self.fail(f"functions have no flag {name!r}")
            value: Any = self.attribute() if self.take(":") else True
            self.fn.flags = self.fn.flags._replace(**{name: value})
            if not self.take(","):
                self.expect("}")
                break

    def body(self):
        headers: list[tuple[int, int]] = []
        body: list[tuple[int, str, Block]] = []
        for number, line in self.lines[1:]:
            indent = len(line) - len(line.lstrip())
            if not headers or indent <= headers[0][1]:
                headers.append((number, indent))
                self.start(number, line)
                found = self.match(_BLOCK)
                if not found or found[1] in self.blocks:
                    self.fail("a new `block(` expected")
                block = self.blocks[found[1]] = Block(_SUFFIX.sub("", found[1]))
                block.params = self.params(self.values)
                self.expect(":")
                self.end()
                self.fn.blocks.append(block)
            else:
                found = _INST.match(line.strip())
                if found and found[1]:
                    self.number = number
                    self.define(found[1], None)
                body.append((number, line, self.fn.blocks[-1]))
        for number, line, block in body:
            self.start(number, line)
            block.insts.append(self.inst())

    def params(self, names) -> list[Value]:
        """`x: T, y: T)`, after the opening parenthesis; in generic IR `x, y)`."""
        result = []
        while not self.take(")"):
            name = self.word(_NAME)
            result.append(self.define(name, self.type() if self.take(":") else None, names))
            if not self.take(","):
                self.expect(")")
                break
        return result

    def define(self, name: str, type: Type | None, names=None) -> Value:
        names = self.values if names is None else names
        if name in names:
            self.fail(f"{name} is defined twice")
        hint = _SUFFIX.sub("", name)
        names[name] = Value(type, "" if hint == "v" else hint)
        return names[name]

    def inst(self) -> Inst:
        found = self.match(_INST)
        if not found:
            self.fail("an instruction expected")
        op = self.ops.get(found[2])
        if op is None:
            self.fail(f"unknown operation {found[2]!r}")
        inst = Inst(op, result=self.values[found[1]] if found[1] else None)
        if found[2] == "const":
            inst.attrs["value"] = self.attribute()
        elif self.take("@"):
            inst.attrs["callee"] = self.callee()
            self.expect("(")
            inst.args = self.operands()
            self.expect(")")
        elif op.name == "jump":
            self.attributes(inst)
            inst.targets = [self.edge()]
        elif self.peek() not in ("", "{", "-", ":", "!", "~", "@"):
            inst.args = self.operands()
        self.attributes(inst)
        if self.take("->"):
            inst.targets.append(self.edge())
            while self.take(","):
                inst.targets.append(self.edge())
        if self.take(":"):
            inst.result.type = self.type()
        if self.take("!"):
            inst.unwind = self.edge()
        if self.take("~"):
            inst.cleanup = tuple(self.operands())
        loc = self.match(_LOC)
        inst.loc = Loc(int(loc[1]), int(loc[1]), int(loc[2]), -1) if loc else NOWHERE
        self.end()
        return inst

    def attributes(self, inst: Inst) -> None:
        if self.take("{"):
            while not self.take("}"):
                key = self.word(_NAME)
                self.expect(":")
                inst.attrs[key] = self.type() if key == "type" and not self.take("type ") else self.attribute()
                self.take(",")

    def operands(self) -> list[Value]:
        result = []
        while self.peek() and self.peek() not in "){":
            name = self.word(_NAME)
            if name not in self.values:
                self.fail(f"{name} is not defined")
            result.append(self.values[name])
            if not self.take(","):
                break
        return result

    def edge(self) -> Edge:
        name = self.word(_NAME)
        if name not in self.blocks:
            self.fail(f"no block {name}")
        self.expect("(")
        args = self.operands()
        self.expect(")")
        return Edge(self.blocks[name], args)

    # -- attributes and types

    def attribute(self):
        token = self.peek()
        if token == "@":
            self.at += 1
            kernel = self.callee()
            return self.node(kernel) if self.line.startswith("(", self.at) else kernel
        if token == "$":
            self.at += 1
            index = self.number_()
            return self.nodes.setdefault(index, Leaf(index))
        if token == "<":
            return self.object(self.balanced())
        if token in ("(", "{"):
            self.at += 1
            close, items, comma = _PAIRS[token], [], False
            while not self.take(close):
                items.append(self.attribute())
                comma = self.take(",")
            if token == "{":
                return frozenset(items)
            if len(items) == 1 and not comma and isinstance(items[0], complex):
                return items[0]
            return tuple(items)
        string = self.match(_STRING)
        if string:
            return ast.literal_eval(string[0])
        number = self.number_()
        if number is not None:
            return number
        if self.take("type "):
            return self.type()
        word = self.word(_NAME)
        if word in ("None", "True", "False"):
            return getattr(builtins, word, None) if word == "None" else word == "True"
        if word == "Ellipsis":
            return Ellipsis
        if word in ("datetime64", "timedelta64"):
            unit = self.match(_UNIT)
            self.expect("(")
            value = np.int64(self.attribute()).view(word + (unit[0] if unit else ""))
            self.expect(")")
            return value
        if self.take("("):
            scalar = getattr(np, word if word != "bool" else "bool_")
            value = scalar(self.attribute())
            self.expect(")")
            return value
        return self.object(word)

    def node(self, kernel: Function) -> Node:
        """Parse a tree; equal parts of it become one node, which is computed once."""
        parts = self.attribute()
        return self.nodes.setdefault((kernel, parts), Node(kernel, parts))

    def number_(self):
        """A literal, or the `a+bj` inside of a complex number's parentheses."""
        start = self.at
        first = self.match(_NUMBER_J) or self.match(_NUMBER)
        if first is None:
            return None
        text = first[0]
        if text.endswith("j"):
            return complex(text.replace("+-", "-")) if _complex(text) else self.fail("a number expected", start)
        try:
            return int(text)
        except ValueError:
            return float(text)

    def object(self, text: str):
        if text in self.objects:
            return self.objects[text]
        if text.startswith("<op "):
            return self.ops[text[4:-1]]
        found = getattr(builtins, text[1:-1], None)
        if found is None:
            self.fail(f"{text} is not among the objects")
        return found

    def callee(self) -> Function:
        name = self.word(re.compile(r"[^\s(,)}]+"))
        found = self.known.get(name) or self.objects.get("@" + name)
        if found is None:
            self.fail(f"no function @{name}")
        return found

    def type(self) -> Type:
        """The type up to the end of the line, or to a character that can follow a type."""
        self.space()
        start, depth = self.at, 0
        while self.at < len(self.line):
            c = self.line[self.at]
            if c in "([{<":
                depth += 1
            elif c in ")]}>":
                if not depth:
                    break
                depth -= 1
            elif (not depth
                  and (c in ",!~@" or c == ":" and (self.at == len(self.line) - 1 or self.line[self.at - 1] == " "))):
                break
            self.at += 1
        return self.named(self.line[start:self.at].strip())

    def named(self, text: str) -> Type:
        found = self.types.get(text)
        if found is None:
            found = self.types[text] = self.objects.get(f"type {text}") or self.read(text)
        return found

    def read(self, text: str) -> Type:
        parts = _split(text, "|")
        if len(parts) > 1:
            return union_of([self.named(p) for p in parts])
        if text.startswith("exception "):
            return Exception_(self.object(f"<{text[10:]}>"))
        if text.startswith("iterator[") and text.endswith("]"):
            return Iterator(self.named(text[9:-1]))
        if text.startswith("method ") and "." in text:
            receiver, _, name = text[7:].rpartition(".")
            return Method(self.named(receiver), name)
        if text.startswith("(") and text.endswith(")"):
            return Tuple([self.named(p) for p in _split(text[1:-1], ",")])
        if text.startswith("<"):
            return Singleton(self.object(text))
        name, brace, members = text.partition("{")
        if brace and text.endswith("}") and name.isidentifier():
            pairs = (p.partition(":") for p in _split(members[:-1], ","))
            return Struct(name, tuple((field.strip(), self.named(t.strip())) for field, _, t in pairs))
        try:
            return Undefined if text == "undefined" else types_text.parse(text)
        except ValueError as error:
            self.fail(str(error))

    # -- characters

    def start(self, number: int, line: str):
        self.number, self.line, self.at = number, line.strip(), 0

    def fail(self, why: str, at: int | None = None) -> NoReturn:
        raise SyntaxError(f"line {self.number}: {why} at column {self.at if at is None else at} of {self.line!r}")

    def space(self):
        while self.at < len(self.line) and self.line[self.at] == " ":
            self.at += 1

    def peek(self) -> str:
        self.space()
        return self.line[self.at:self.at + 1]

    def take(self, token: str) -> bool:
        self.space()
        if self.line.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def expect(self, token: str):
        if not self.take(token):
            self.fail(f"expected {token!r}")

    def match(self, pattern):
        self.space()
        found = pattern.match(self.line, self.at)
        if found:
            self.at = found.end()
        return found

    def word(self, pattern) -> str:
        found = self.match(pattern)
        if not found:
            self.fail("a name expected")
        return found[0]

    def balanced(self) -> str:
        """`<...>` with all nested brackets."""
        start, depth = self.at, 0
        while self.at < len(self.line):
            depth += {"<": 1, ">": -1}.get(self.line[self.at], 0)
            self.at += 1
            if not depth:
                return self.line[start:self.at]
        self.fail("unclosed '<'", start)

    def end(self):
        if self.peek():
            self.fail("unexpected text")


_NUMBER_J = re.compile(r"[-+]?(?:(?:inf|nan|[\d.]+(?:e[-+]?\d+)?)[-+])?(?:inf|nan|[\d.]+(?:e[-+]?\d+)?)j")


def _complex(text: str) -> bool:
    try:
        complex(text)
        return True
    except ValueError:
        return False


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators outside of brackets; a trailing separator ends the last part."""
    parts, depth, start = [], 0, 0
    for at, c in enumerate(text):
        if c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        elif c == separator and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    if text[start:].strip():
        parts.append(text[start:].strip())
    return parts
