"""Mutable variables for use while a function is built, and their conversion to SSA at the end."""
from __future__ import annotations

from typing import Any

from .cfg import in_edges, reverse_postorder
from .core import PURE, WRITES, Block, Edge, Function, Inst, Op, Value
from .uses import substitute

__all__ = ["Variable", "build", "read", "write"]


class Variable:
    __slots__ = ("name", "type")

    def __init__(self, name: str, type):
        self.name, self.type = name, type


_READ = Op("read_variable", lambda types, attrs: attrs["variable"].type, PURE)
_WRITE = Op("write_variable", lambda types, attrs: None, WRITES)


def read(b, variable: Variable) -> Value:
    found = Value(variable.type, variable.name)
    b.insts.append(Inst(_READ, (), {"variable": variable}, found))
    return found


def write(b, variable: Variable, x: Value) -> None:
    b.insts.append(Inst(_WRITE, [x], {"variable": variable}))


def build(fn: Function) -> None:
    """Replace reads by the values that reach them. Every path to a read passes a write."""
    order = reverse_postorder(fn)
    edges = in_edges(order)
    mapping: dict[Value, Value] = {}
    ends: dict[tuple[Block, Variable], Value] = {}
    raised: dict[Edge, dict[Variable, Value]] = {}  # the values that a block has written when an exception leaves it
    wants: dict[Variable, dict[Block, Value]] = {}
    for block in order:
        kept = []
        for inst in block.insts:
            if inst.unwind is not None:
                raised[inst.unwind] = {variable: x for (b, variable), x in ends.items() if b is block}
            variable: Any = inst.attrs.get("variable")
            if inst.op is _READ:
                found = ends.get((block, variable))
                if found is None:
                    start = wants.setdefault(variable, {})
                    if block not in start:
                        start[block] = Value(variable.type, variable.name)
                    found = start[block]
                mapping[inst.result] = found
            elif inst.op is _WRITE:
                ends[block, variable] = inst.args[0]
            else:
                kept.append(inst)
        block.insts = kept
    for variable, start in wants.items():
        work = list(start)
        while work:
            for source, _, edge in edges[work.pop()]:
                if variable not in raised[edge] if edge in raised else (source, variable) not in ends:
                    if source in start:
                        continue
                    start[source] = Value(variable.type, variable.name)
                    work.append(source)
        for block in order:
            if block not in start:
                continue
            assert block is not fn.entry, variable.name

            def at_end(source, edge, variable=variable, start=start):
                found = raised[edge].get(variable) if edge in raised else ends.get((source, variable))
                return found if found is not None else start[source]

            arriving = edges[block]
            if len(arriving) == 1:
                mapping[start[block]] = at_end(arriving[0][0], arriving[0][2])
            else:
                block.params.append(start[block])
                for source, _, edge in arriving:
                    edge.args.append(at_end(source, edge))
    fn.blocks = order
    substitute(fn.blocks, mapping)
