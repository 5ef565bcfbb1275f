"""Helpers of several passes: append instructions, substitute values, copy blocks, split edges, remove unreachable
blocks."""
from __future__ import annotations

from typing import Any

from ..ir.cfg import reachable_blocks, reverse_postorder
from ..ir.core import RAISES, Block, Edge, Function, Inst, Loc, Op, Value
from ..ir.uses import resolve, substitute
from ..ops.arith import BAND, BOR, CAST
from ..ops.control import BRANCH, CONST, JUMP
from ..types.kinds import Bool, Int

__all__ = ["Appender", "Builder", "resolve", "substitute", "clone_inst", "clone_blocks", "copy_of", "growing",
           "split_edge", "join_edges", "remove_unreachable", "remove_params", "drop_check", "drop_flags"]


class Appender:
    """Appends instructions to a list, or adds them before the last one of it, the terminator of a block."""

    def __init__(self, insts: list[Inst], loc: Loc, *, before_last: bool = False):
        self.insts, self.loc, self.behind = insts, loc, int(before_last)

    def add(self, inst: Inst) -> Any:
        """Add an instruction; returns its result."""
        self.insts.insert(len(self.insts) - self.behind, inst)
        return inst.result

    def jump(self, edge: Edge, **attrs) -> None:
        self.add(Inst(JUMP, (), attrs, None, self.loc, [edge]))

    def branch(self, condition: Value, yes: Edge, no: Edge, **attrs) -> None:
        self.add(Inst(BRANCH, (condition,), attrs, None, self.loc, [yes, no]))


class Builder(Appender):
    """An appender that makes the instructions. unwind: the edge along which those that may raise leave."""

    def __init__(self, insts: list[Inst], loc: Loc, unwind: Edge | None = None, *, before_last: bool = False):
        super().__init__(insts, loc, before_last=before_last)
        self.unwind = unwind

    def op(self, op: Op, *args: Value, type=None, **attrs) -> Any:
        """The result of an operation; without a type it has none."""
        inst = Inst(op, args, attrs, Value(type) if type is not None else None, self.loc)
        if self.unwind is not None and op.effects & RAISES:
            inst.unwind = Edge(self.unwind.block, self.unwind.args)
        return self.add(inst)

    def int(self, op: Op, *args: Any, **attrs) -> Value:
        return self.op(op, *args, type=Int, **attrs)

    def test(self, op: Op, *args: Any, **attrs) -> Value:
        return self.op(op, *args, type=Bool, **attrs)

    def const(self, t, value) -> Value:
        return self.op(CONST, type=t, value=value)

    def make(self, op: Op, t, *args: Value, **attrs) -> Any:
        """As `op`, for a result of type t; one of the attributes may be called `type`."""
        result = self.op(op, *args, type=t)
        result.inst.attrs.update(attrs)
        return result

    def cast(self, value: Value, t) -> Value:
        return self.make(CAST, t, value, type=t)

    def both(self, one: Value | None, other: Value | None) -> Any:
        """The conjunction of two tests, each of which may be None."""
        return other if one is None else one if other is None else self.test(BAND, one, other)

    def all(self, tests) -> Value:
        return self._joined(BAND, tests, True)

    def any(self, tests) -> Value:
        return self._joined(BOR, tests, False)

    def _joined(self, op: Op, tests, without: bool) -> Value:
        found = None
        for test in tests:
            found = test if found is None else self.test(op, found, test)
        return found if found is not None else self.const(Bool, without)


def clone_inst(inst: Inst, values: dict[Value, Value], blocks: dict[Block, Block], loc: Loc | None = None,
               unwind: Edge | None = None) -> Inst:
    """A copy whose operands and targets are mapped and whose result is a new value, entered into `values`.

    Targets outside `blocks` stay. loc: replaces the position; unwind: for instructions that may raise and have none.
    """
    get = values.get
    copy = Inst(inst.op, [get(v, v) for v in inst.args], dict(inst.attrs) if inst.attrs else None, None, loc
                or inst.loc)
    if inst.targets:
        copy.targets = [Edge(blocks.get(e.block, e.block), [get(v, v) for v in e.args]) for e in inst.targets]
    if inst.unwind is not None:
        e = inst.unwind
        copy.unwind = Edge(blocks.get(e.block, e.block), [get(v, v) for v in e.args])
    elif unwind is not None and inst.op.effects & RAISES:
        copy.unwind = Edge(unwind.block, unwind.args)
    if inst.result is not None:
        copy.result = values[inst.result] = Value(inst.result.type, inst.result.name)
        copy.result.inst = copy
    return copy


def clone_blocks(blocks, values: dict[Value, Value], loc: Loc | None = None, unwind: Edge | None = None,
                 into: list[Inst] | None = None) -> dict[Block, Block]:
    """Copy `blocks` (definitions before uses, as in reverse post-order); returns old -> new and fills `values`.

    Edges among them lead to the copies, others where they led before. With `into`, the instructions of the first
    block are appended there: `values` already maps its parameters and no edge leads to it.
    """
    copies: dict[Block, Block] = {}
    for block in blocks:
        copy = copies[block] = Block(block.name)
        if into is not None and len(copies) == 1:
            copy.insts = into
            continue
        for param in block.params:
            new = values[param] = Value(param.type, param.name)
            copy.params.append(new)
    for block in blocks:
        insts = copies[block].insts
        for inst in block.insts:
            insts.append(clone_inst(inst, values, copies, loc, unwind))
    return copies


def drop_check(inst: Inst, **attrs) -> None:
    """Make checked integer arithmetic wrap instead of raise. attrs: those of the operation that wraps."""
    assert inst.op.wrapping is not None
    inst.op, inst.unwind, inst.attrs = inst.op.wrapping, None, attrs


def drop_flags(inst: Inst) -> None:
    """Remove the attributes that may hold only at the old place of an instruction: flags such as nsw, and the arrays
    that share no memory."""
    if "flags" in inst.attrs or "noalias" in inst.attrs:
        inst.attrs = {name: value for name, value in inst.attrs.items() if name not in ("flags", "noalias")}


def copy_of(fn: Function) -> Function:
    new = Function(fn.name, fn.qualname, fn.filename, fn.firstlineno, fn.library)
    new.result, new.flags = fn.result, fn.flags
    new.memo.update((key, fn.memo[key]) for key in ("rules", "schedule", "batched") if key in fn.memo)
    new.blocks = list(clone_blocks(reverse_postorder(fn), {}).values())
    return new


def growing(found: dict):
    """Iterate over the keys of a dict, including keys that are added during the iteration."""
    done = 0
    while done < len(found):
        rest = list(found)[done:]
        done = len(found)
        yield from rest


def split_edge(edge: Edge, name: str = "edge") -> Block:
    """Put a new empty block on `edge`; it takes over the arguments. The caller adds it to the function."""
    middle = Block(name)
    middle.insts.append(Inst(JUMP, targets=[Edge(edge.block, edge.args)]))
    edge.block = middle
    edge.args = []
    return middle


def join_edges(edges, name: str) -> Block:
    """Let edges that lead to one block lead to a new block, which jumps there. The caller adds it to the function."""
    target = edges[0].block
    joined = Block(name, [Value(p.type, p.name) for p in target.params])
    joined.insts.append(Inst(JUMP, targets=[Edge(target, joined.params)]))
    for edge in edges:
        edge.block = joined
    return joined


def remove_unreachable(fn: Function) -> bool:
    """Drop blocks that control cannot reach; the others keep their order."""
    found = reachable_blocks(fn)
    if len(found) == len(fn.blocks):
        return False
    fn.blocks = [block for block in fn.blocks if block in found]
    return True


def remove_params(block: Block, positions, arriving) -> None:
    """Drop the parameters at `positions` and the arguments for them; `arriving`: the edges as in_edges gives them."""
    gone = set(positions)
    block.params = [p for k, p in enumerate(block.params) if k not in gone]
    for _, _, edge in arriving:
        edge.args = [v for k, v in enumerate(edge.args) if k not in gone]
