"""Fully unroll loops whose number of iterations is a small constant.

Runs before polling and after the passes that copy loops. The loop around becomes an innermost one, and may be
vectorised; numbers that iterations store next to each other may become a vector, and arrays in the frame registers.
LLVM has a hint for full unrolling, but may move the hint of a loop to the loop around it. A loop of 4, 8 or 16
independent iterations over arrays in memory is left to LLVM, which makes one or two vectors of it.
Before:  header(i, left): branch left > 0 -> body, exit         body: ... jump header(i + 1, left - 1)
After:   body(i) ; body(i + 1) ; ... ; jump exit
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from typing import Callable

from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import Loop, LoopNest, in_edges, reverse_postorder
from ..ir.uses import readers as readers_of
from ..ops import control
from ..ops.memory import ARRAY_LOAD, ARRAY_NEW, ARRAY_STORE, ARRAY_VIEW, POLL
from ..ops.structure import TUPLE_AT, TUPLE_GET, TUPLE_MAKE
from .counted import FEW, MOST_UNROLLED, Definitions, find
from .hints import is_independent_nest, is_strided
from .repair import repair
from .rewrite import clone_blocks

__all__ = ["run", "unroll"]

_ROOM = 160  # the most operations of such a loop after unrolling
_FREE = frozenset((control.CONST, TUPLE_MAKE, TUPLE_AT, TUPLE_GET))  # operations that cost nothing there
_MOST = 1_000  # the most operations that a loop of FEW iterations may become: nests of such loops double at each level


def run(fn: ir.Function, options=Options()) -> None:
    if not fn.flags.novectorize and not fn.flags.optnone:
        _unroll(fn, lambda loop: not loop.inner, _trips)


def unroll(fn: ir.Function, wanted: Callable[[Loop], bool], most: int) -> None:
    """Unroll the loops of a function that are `wanted`, the innermost of these first, to at most `most` operations
    each; other loops may be inside."""
    def is_wanted(loop):
        return wanted(loop) and not any(map(is_wanted, loop.inner))

    def trips(loop, defs, edges):
        found = _count(loop, defs, edges)
        return found if found is not None and _size(loop) * found <= most else None

    _unroll(fn, is_wanted, trips)


def _unroll(fn, wanted, trips_of) -> None:
    while True:  # a loop around an unrolled one may be next
        nest = LoopNest(fn)
        inner = [loop for loop in nest.loops if wanted(loop) and _may(loop)]
        if not inner:
            return
        defs, edges = Definitions(fn), in_edges(fn.blocks)
        chosen = [(loop, trips) for loop, trips in ((loop, trips_of(loop, defs, edges)) for loop in inner)
                  if trips is not None]
        if not chosen:
            return
        readers = readers_of(fn)
        number = {block: n for n, block in enumerate(fn.blocks)}
        definitions: dict[ir.Value, dict[ir.Block, ir.Value]] = {}
        for loop, trips in chosen:
            _write_out(loop, trips, number, readers, definitions)
        fn.blocks = reverse_postorder(fn)
        repair(fn, definitions)


def _may(loop) -> bool:
    """Whether a loop has one back edge, is no copy that keeps its checks, and has no poll inside `try`."""
    if len(loop.latches) != 1:
        return False
    latch = loop.latches[0]
    last = latch.insts[-1]
    return ("novectorize" not in last.attrs and sum(edge.block is loop.header for edge in last.edges()) == 1
            and all(i.op is not POLL for i in latch.insts))


def _trips(loop, defs, edges) -> int | None:
    """The number of iterations of an innermost loop that is to be unrolled, or None."""
    trips = _count(loop, defs, edges)
    if trips is None or trips > FEW and loop.parent is None:
        return None
    if (trips > FEW and trips & trips - 1 == 0 and is_independent_nest(loop) and not is_strided(loop)
            and _is_in_memory(loop, defs)):
        return None
    if trips <= FEW:
        return trips if _size(loop) * trips <= _MOST else None
    return trips if (_size(loop) - _folded(find(loop, defs, edges))) * trips <= _ROOM else None


def _count(loop, defs, edges) -> int | None:
    """The number of iterations of a loop where it is a small constant, or None."""
    counted = find(loop, defs, edges)
    trips = None if counted is None else defs.constant(counted.start[counted.left])
    return trips if trips is not None and 0 < trips <= MOST_UNROLLED else None


def _size(loop) -> int:
    return sum(i.op not in _FREE for block in loop.blocks for i in block.insts)


def _folded(counted) -> int:
    """The number of operations that have constant results in each copy of a loop, jumps and tests of its length
    included."""
    known = {counted.left, *counted.steps}
    found = 0
    for block in counted.loop.blocks:
        for inst in block.insts:
            if inst.op not in _FREE and (not inst.op.effects or inst.targets) and all([
                    v in known or v.inst is not None and v.inst.op is control.CONST for v in inst.args]):
                found += 1
                known.add(inst.result)
    return found


def _is_in_memory(loop, defs) -> bool:
    """Whether no array in a loop has constant lengths, by which it could become registers."""
    for block in loop.blocks:
        for inst in block.insts:
            if inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE:
                made = inst.args[0].inst
                while made is not None and made.op is ARRAY_VIEW:
                    made = made.args[0].inst
                if (made is not None and made.op is ARRAY_NEW
                    and all(defs.constant(length) is not None for length in made.args)):
                    return False
    return True


def _write_out(loop, trips, number, readers, definitions) -> None:
    """Unroll a loop; adds the values of each copy to `definitions`. number: block -> its place in the order."""
    header, latch = loop.header, loop.latches[0]
    blocks = sorted(loop.blocks, key=number.__getitem__)
    read = [(block, v) for block in blocks for v in block.values()
            if v is not None and any(reader not in loop.blocks for reader in readers.get(v, ()))]
    copies: list[dict[ir.Block, ir.Block]] = [dict(zip(blocks, blocks))]
    for step in range(trips):
        values: dict[ir.Value, ir.Value] = {}
        copies.append(clone_blocks(blocks if step < trips - 1 else [header], values))
        for block, v in read:
            if block in copies[-1]:
                definitions.setdefault(v, {block: v})[copies[-1][block]] = values[v]
    for step, copy in enumerate(copies):
        branch = copy[header].terminator
        body, exit = branch.targets
        goes = body if step < trips else exit
        copy[header].insts[-1] = ir.Inst(control.JUMP, (), {}, None, branch.loc, [goes])
        if step < trips:
            for edge in copy[latch].terminator.edges():
                if edge.block is copy[header]:
                    edge.block = copies[step + 1][header]
