"""Make functions of loops: the class that `checked_copies` and `parts` use.

A failure in such a function is reported in the frame of the function from which it was taken. A loop stays where it is
if an exception in it has a handler, or if it is left in several ways that lead to different places; ways that only
raise are copied into the function.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import Loop, LoopNest, in_edges, reverse_postorder
from ..ir.uses import readers, used_from_outside
from ..ops import control
from ..ops.memory import ARRAY_VIEW
from ..ops.structure import TUPLE_GET, TUPLE_MAKE
from ..types.kinds import Array, NoneType, Tuple, is_scalar
from .rewrite import Builder, clone_blocks, clone_inst, substitute

__all__ = ["Outliner"]

_WAYS = 12  # the most blocks of a way out of a loop that only raises


class Outliner:
    """Makes functions of loops of one function. None of these loops may be inside another one of them, and no edge
    may lead from one directly to another."""

    def __init__(self, fn: ir.Function, nest: LoopNest):
        self.fn, self.at = fn, nest.dom.number
        self.edges, self.found = in_edges(nest.dom.order), readers(fn)
        self.replaced: dict[ir.Value, ir.Value] = {}  # value that other blocks read -> the result of the call
        self.made = 0

    def finish(self) -> None:
        if self.made:
            self.fn.blocks = reverse_postorder(self.fn)
            substitute(self.fn.blocks, self.replaced)

    def outline(self, loop: Loop, name: str, **flags) -> bool:
        """Make a function of a loop; returns whether that was done. name: the last part of its name; flags: the flags
        in which it differs from the original function."""
        fn, entries = self.fn, loop.entries(self.edges)
        if len(entries) != 1:
            return False
        inside, leaving = _region(loop)
        if not self.at.keys() >= inside:
            return False
        order = sorted(inside, key=self.at.__getitem__)
        insts = [inst for block in order for inst in block.insts]
        if any(inst.unwind is not None or "redo" in inst.attrs or "restart" in inst.op.attrs for inst in insts):
            return False
        if len({edge.block for edge in leaving}) != 1:
            return False
        results = [v for block in order for v in block.values()]
        defined = set(results)
        exit, entry = leaving[0].block, entries[0][2]
        # what the function returns: the arguments for the exit's parameters that the caller does not know, then values
        # of the loop that other blocks read
        returned = [k for k in range(len(exit.params))
                    if len({edge.args[k] for edge in leaving}) > 1 or leaving[0].args[k] in defined]
        read = [v for v in results if any([block not in inside for block in self.found.get(v, ())])]
        away = set(map(id, leaving))
        given = dict.fromkeys([*used_from_outside(order, lambda edge: id(edge) in away), *entry.args])
        given.update(dict.fromkeys(edge.args[k] for edge in leaving for k in returned if edge.args[k] not in defined))
        given = _with_sources(given)
        types = [*[exit.params[k].type for k in returned], *[v.type for v in read]]
        args = [v for v in given if not _is_made_again(v)]
        if not all(is_scalar(t) or isinstance(t, Array) for t in [*types, *[v.type for v in args]]):
            return False
        loc = entries[0][1].loc
        part = ir.Function(f"{fn.name}.{name}{self.made or ''}", fn.qualname, fn.filename, fn.firstlineno)
        part.flags = fn.flags._replace(part=True, noinline=True, **flags)
        part.result = NoneType if not types else types[0] if len(types) == 1 else Tuple(types)
        # the function
        start, done = ir.Block("entry"), ir.Block("done", [ir.Value(t) for t in types])
        values: dict[ir.Value, ir.Value] = {}
        for v in args:
            values[v] = ir.Value(v.type, v.name)
            start.params.append(values[v])
        start.insts += [clone_inst(v.inst, values, {}) for v in given if v.inst is not None and v not in values]
        copies = clone_blocks(order, values)
        Builder(start.insts, loc).jump(ir.Edge(copies[loop.header], [values[v] for v in entry.args]))
        for block in copies.values():
            for edge in block.terminator.targets:
                if edge.block is exit:
                    edge.block = done
                    edge.args = [*[edge.args[k] for k in returned], *[values[v] for v in read]]
        b = Builder(done.insts, loc)
        b.op(control.RETURN, b.const(NoneType, None) if not types else done.params[0] if len(types) == 1 else
             b.op(TUPLE_MAKE, *done.params, type=part.result, cls=None))
        part.blocks = [start, *copies.values(), done]
        # the call
        call = ir.Block(name)
        b = Builder(call.insts, loc)
        called = b.op(control.INVOKE, *args, type=part.result, callee=part)
        got = [called] if len(types) == 1 else [b.op(TUPLE_GET, called, type=t, index=n) for n, t in enumerate(types)]
        passed = list(leaving[0].args)
        for k, v in zip(returned, got):
            passed[k] = v
        self.replaced.update(zip(read, got[len(returned):]))
        b.jump(ir.Edge(exit, passed))
        entry.block, entry.args = call, []
        fn.blocks.append(call)
        self.made += 1
        return True


def _is_made_again(v: ir.Value) -> bool:
    """Whether the function computes a value of the caller itself: a constant, or a view, so that the function knows its
    strides."""
    return v.inst is not None and (v.inst.op is control.CONST or v.inst.op is ARRAY_VIEW)


def _with_sources(given) -> dict[ir.Value, None]:
    """Values, with those from which they are computed where the function does that, each behind its own sources."""
    found: dict[ir.Value, None] = {}
    work = [(v, False) for v in reversed(given)]
    while work:
        v, ready = work.pop()
        if ready or not _is_made_again(v):
            found[v] = None
        elif v not in found:
            work.append((v, True))
            work += [(x, False) for x in reversed(v.inst.args)]
    return found


def _region(loop: Loop) -> tuple[set[ir.Block], list[ir.Edge]]:
    """The blocks of a loop with those of its ways out that only raise, and the edges that lead out of these blocks."""
    inside, leaving = set(loop.blocks), []
    for edge in [edge for block in loop.blocks for edge in block.edges()]:
        if edge.block not in inside:
            way = _raising(edge.block, inside)
            if way:
                inside |= way
            else:
                leaving.append(edge)
    return inside, leaving


def _raising(block: ir.Block, inside) -> set[ir.Block]:
    """The blocks that control reaches from `block`, if all its paths end in exceptions that leave the function;
    otherwise none."""
    found, work = {block}, [block]
    while work:
        one = work.pop()
        if one.terminator.op is control.RETURN or one in inside or len(found) > _WAYS:
            return set()
        new = {edge.block for edge in one.edges()} - found
        found |= new
        work += new
    return found
