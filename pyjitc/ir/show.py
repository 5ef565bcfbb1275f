"""Functions as text, one form for generic and typed IR; `ir.parse` reads the typed one back.

    fn scale(a: float64[::1], n: int) -> float64:
      entry(a: float64[::1], n: int):
        c = const 2.0 : float64
        i = check_index n, n {axis: 0} : int ! handler(c)  @3:8
        branch t -> body(c), done(c)

A value is named after the local variable it came from, with a numeric suffix where that is not unique. After an
instruction follow: `: type`, `! edge` taken on an exception, `~ values` released when the exception leaves the
function.
"""
from __future__ import annotations

import itertools
import re
from types import CodeType

import numpy as np

from ..types.kinds import Type
from .core import Edge, Function, Inst, Op
from .tree import Leaf, Node

__all__ = ["show", "show_module", "attribute", "references"]

_NOT_A_NAME = re.compile(r"\W")


def show(fn: Function, locs: bool = False) -> str:
    """The text of `fn`; `locs`: with line and column of every instruction."""
    return _Text(fn, locs, {}).text()


def show_module(functions, locs: bool = False) -> str:
    """The texts of `functions` one after the other. Functions of the same name, specialisations of one Python function
    for several types as a rule, are `name`, `name.1`, ... wherever the module names them."""
    named = _function_names(functions)
    return "\n".join(_Text(fn, locs, named).text() for fn in functions)


def _function_names(functions) -> dict[Function, str]:
    """A unique name for each of `functions` and for every function that their attributes hold."""
    found: dict[Function, str] = {}
    taken: set[str] = set()

    def add(value):
        if isinstance(value, Function):
            if value not in found:
                numbered = (f"{value.name}.{n}" for n in itertools.count(1))
                name = value.name if value.name not in taken else next(x for x in numbered if x not in taken)
                found[value] = name
                taken.add(name)
        elif type(value) in (tuple, set, frozenset):
            for item in value:
                add(item)
        elif type(value) is Node:
            add((value.kernel, *value.parts))

    for fn in functions:
        add(fn)
    for fn in functions:
        for block in fn.blocks:
            for inst in block.insts:
                for value in inst.attrs.values():
                    add(value)
    return found


class _Names:
    """Unique names: the hint itself, then hint.1, hint.2, ... (no local variable has a dot in its name)."""

    def __init__(self):
        self.count: dict[str, int] = {}

    def of(self, hint: str) -> str:
        n = self.count.get(hint, 0)
        self.count[hint] = n + 1
        return f"{hint}.{n}" if n else hint


class _Text:
    def __init__(self, fn: Function, locs: bool, named: dict[Function, str]):
        self.fn = fn
        self.locs = locs
        self.named = named
        self.blocks: dict = {}
        self.values: dict = {}
        blocks, values = _Names(), _Names()
        for block in fn.blocks:
            self.blocks[block] = blocks.of(_NOT_A_NAME.sub("_", block.name) or "b")
            for value in block.params:
                self.define(values, value)
            for inst in block.insts:
                if inst.result is not None:
                    self.define(values, inst.result)

    def define(self, names: _Names, value) -> None:
        if value not in self.values:  # invalid IR may define a value twice
            self.values[value] = names.of(_NOT_A_NAME.sub("_", value.name) or "v")

    def name(self, value) -> str:
        return self.values.get(value) or f"?{value.name or 'v'}"

    def params(self, values) -> str:
        return ", ".join(self.name(v) if v.type is None else f"{self.name(v)}: {v.type}" for v in values)

    def edge(self, edge: Edge) -> str:
        block = self.blocks.get(edge.block) or "?" + (edge.block.name or "b")
        return f"{block}({', '.join(map(self.name, edge.args))})"

    def text(self) -> str:
        fn = self.fn
        result = "" if fn.result is None else f" -> {fn.result}"
        params = self.params(fn.params) if fn.blocks else ""
        flags = f" {{{fn.flags}}}" if str(fn.flags) else ""
        lines = [f"{'library ' if fn.library else ''}fn {self.named.get(fn, fn.name)}({params}){flags}{result}:"]
        for block in fn.blocks:
            lines.append(f"  {self.blocks[block]}({self.params(block.params)}):")
            lines += [f"    {self.inst(inst)}" for inst in block.insts]
        return "\n".join(lines) + "\n"

    def inst(self, inst: Inst) -> str:
        attrs = inst.attrs
        text = inst.op.name
        if inst.result is not None:
            text = f"{self.name(inst.result)} = {text}"
        if text.endswith("const") and len(attrs) == 1 and "value" in attrs:
            text += " " + attribute(attrs["value"], self.named)
            attrs = {}
        if isinstance(attrs.get("callee"), Function):
            text += " " + attribute(attrs["callee"], self.named)
            attrs = {k: v for k, v in attrs.items() if k != "callee"}
            text += f"({', '.join(map(self.name, inst.args))})"
        elif inst.args:
            text += " " + ", ".join(map(self.name, inst.args))
        if attrs:
            text += " {" + ", ".join(f"{k}: {_keyed(k, v, self.named)}" for k, v in attrs.items()) + "}"
        if inst.targets:
            text += " -> " + ", ".join(map(self.edge, inst.targets)) if inst.args else " " + self.edge(inst.targets[0])
        if inst.result is not None and inst.result.type is not None:
            text += f" : {inst.result.type}"
        if inst.unwind is not None:
            text += f" ! {self.edge(inst.unwind)}"
        if inst.cleanup:
            text += " ~ " + ", ".join(map(self.name, inst.cleanup))
        if self.locs and inst.loc.line:
            text += f"  @{inst.loc.line}:{inst.loc.col}"
        return text


def _keyed(key: str, value, named) -> str:
    return str(value) if key == "type" and isinstance(value, Type) else attribute(value, named)


def attribute(value, named: dict[Function, str] = {}) -> str:
    """Text of an attribute: literals as in Python, `type T`, `@function`, `<object>`, NumPy scalars as `float64(2.0)`,
    trees of element functions as `@kernel($0, $1)`. `named`: function -> its name in the text, where that is
    another."""
    if (value is None or isinstance(value, (bool, int, float, complex, str, bytes))
        and not isinstance(value, np.generic)):
        return repr(value) if type(value).__module__ == "builtins" else f"<{value!r}>"
    if (isinstance(value, np.generic) and type(value).__module__ == "numpy"
        and not isinstance(value, (np.str_, np.bytes_))):
        number = value.view(np.int64) if value.dtype.kind in "mM" else value
        return f"{value.dtype}({number.item()!r})"
    if isinstance(value, Type):
        return f"type {value}"
    if isinstance(value, Function):
        return f"@{named.get(value, value.name)}"
    if type(value) is tuple:
        return f"({', '.join(attribute(x, named) for x in value)}{',' if len(value) == 1 else ''})"
    if type(value) in (set, frozenset):
        return "{" + ", ".join(sorted(attribute(x, named) for x in value)) + "}"
    if type(value) is Leaf:
        return f"${value.index}"
    if type(value) is Node:
        return f"{attribute(value.kernel, named)}({', '.join(attribute(x, named) for x in value.parts)})"
    if isinstance(value, Op):
        return f"<op {value.name}>"
    if isinstance(value, CodeType):
        return f"<code {value.co_qualname if hasattr(value, 'co_qualname') else value.co_name}>"
    if repr(value) in ("UNBOUND", "Ellipsis"):
        return repr(value)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return f"<{name if isinstance(name, str) else re.sub(r' at 0x[0-9a-f]+', '', repr(value))}>"


def references(functions) -> dict[str, object]:
    """The values to which `show_module(functions)` refers without containing them: text -> type, object or function,
    for `ir.parse`."""
    found: dict[str, object] = {}
    named = _function_names(functions)

    def add(value):
        if isinstance(value, Type):
            found[f"type {value}"] = value
        elif isinstance(value, (tuple, set, frozenset)) and type(value) in (tuple, set, frozenset):
            for item in value:
                add(item)
        elif type(value) is Node:
            add((value.kernel, *value.parts))
        else:
            text = attribute(value, named)
            if text[0] in "<@U":
                found[text] = value

    for fn in functions:
        add(fn.result)
        for block in fn.blocks:
            for value in block.params:
                add(value.type)
            for inst in block.insts:
                if inst.result is not None:
                    add(inst.result.type)
                for value in inst.attrs.values():
                    add(value)
    return found
