"""Ask of a strip of a loop, before it runs, whether every number that it stores fits.

Runs after versioning. A loop in which storing a number of NumPy's in an array of shorter integers (`fit`) is all that may
raise has an exit in the middle, so that LLVM does not vectorise it. What it asks about is computed from arrays that it does
not write, so it can be computed first: a loop without stores goes over a strip and collects whether all fit; then the loop
runs over the strip without asking, or, where one does not fit, on as it was, which raises at the same element, after the
same stores.
Before:  header(i, left): ... y = fit x ; array_store b, i, y
After:   strip(i, left): take = min(left, STRIP)
         asking(i, take, good): ... good' = good and fits x          then branch good -> storing, header(i, left)
         storing(i, take): ... y = fitted x ; array_store b, i, y      then strip(i, left - take) until nothing is left
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order; grows the code, up to a limit.
"""

from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import control
from ..ops.arith import BAND, FIT, FITS, FITTED, IGE, IGT, ILT, ISUB
from ..ops.memory import ARRAY_LOAD, ARRAY_STORE
from ..ops.structure import SELECT
from ..types.kinds import Bool, Int
from .counted import Counted, Definitions, find
from .repair import repair
from .rewrite import clone_blocks, read_outside
from .versioning import apart_in_memory, is_quick

__all__ = ["run"]

STRIP = 256  # iterations: what they read is still in the nearest cache when they run
LEAST = 16  # iterations that are worth the questions
MOST = 60  # instructions of a loop that is written three times
ARRAYS = 4  # that are read and compared with those that are written


def run(fn: ir.Function, options=None) -> None:
    if not any(inst.op is FIT for block in fn.blocks for inst in block.insts):
        return
    fn.blocks = reverse_postorder(fn)
    nest = LoopNest(fn)
    for loop in nest.loops:
        if not loop.inner and any(inst.op is FIT for block in loop.blocks for inst in block.insts):
            defs = Definitions(fn)
            counted = find(loop, defs, in_edges(fn.blocks))
            if counted is not None and (pairs := _read_and_written(loop, counted, nest, defs)) is not None:
                _split(fn, loop, counted, pairs, defs)
                fn.blocks = reverse_postorder(fn)


def _read_and_written(loop, counted: Counted, nest, defs) -> dict | None:
    """Arrays that the questions read -> those that the loop writes, and the other way round. None where the loop must stay
    as it is."""
    insts = [inst for block in loop.blocks for inst in block.insts]
    if len(insts) > MOST or any(
        inst.op is not FIT and not is_quick(inst) or inst.op.effects & ir.RAISES and inst.op is not FIT
        for inst in insts
    ):
        return None
    if any(
        edge.block not in loop.blocks and edge is not counted.exit
        for block in loop.blocks
        for edge in block.insts[-1].targets
    ):
        return None
    latches = [block for block in loop.blocks if any(edge.block is loop.header for edge in block.insts[-1].targets)]
    asked = [inst for inst in insts if inst.op is FIT]
    stored = {inst.result for inst in asked}
    if any(
        inst.op is not ARRAY_STORE
        and not stored.isdisjoint((*inst.args, *(v for edge in inst.targets for v in edge.args)))
        for inst in insts
    ):
        return None
    if len(latches) != 1 or not all(nest.dom.dominates(defs.block_of[inst.result], latches[0]) for inst in asked):
        return None
    needed, work = set(), [inst.args[0] for inst in asked]
    work += [block.insts[-1].args[0] for block in loop.blocks if block.insts[-1].op is control.BRANCH]
    while work:
        value = work.pop()
        home = defs.block_of.get(value)
        if home not in loop.blocks or value in needed:
            continue
        needed.add(value)
        inst = defs.inst_of.get(value)
        if inst is not None:
            if inst.op is FIT:
                return None  # one question depends on another
            work += inst.args
        elif home is loop.header:
            if value not in counted.steps:
                return None  # what goes from one iteration to the next is computed in order
        else:
            k = home.params.index(value)
            for block in loop.blocks:
                work += [edge.args[k] for edge in block.insts[-1].targets if edge.block is home]
    read = {inst.args[0]: None for inst in insts if inst.op is ARRAY_LOAD and inst.result in needed}
    written = {inst.args[0]: None for inst in insts if inst.op is ARRAY_STORE}
    if (
        len(read) > ARRAYS
        or len(written) > ARRAYS
        or any(defs.block_of.get(x) in loop.blocks for x in (*read, *written))
    ):
        return None
    for x in read:
        if (
            x in written
            and len(
                {
                    tuple(inst.args[1 : 1 + x.type.ndim])
                    for inst in insts
                    if inst.op in (ARRAY_LOAD, ARRAY_STORE) and inst.args[0] is x
                }
            )
            > 1
        ):
            return None  # it reads other elements than the one that it writes
    return {
        **{y: [x for x in read if x is not y] for y in written},
        **{x: [y for y in written if y is not x] for x in read},
    }


def _split(fn, loop, counted: Counted, pairs, defs) -> None:
    header, entry, loc = loop.header, counted.entry, counted.entry_inst.loc
    order = [block for block in fn.blocks if block in loop.blocks]
    defined = [
        v
        for block in order
        for v in (*block.params, *(inst.result for inst in block.insts if inst.result is not None))
    ]
    outside = read_outside(fn, loop.blocks)
    at = header.params.index(counted.left)

    def make(block, op, *args, type=Int, **attrs):
        result = ir.Value(type)
        block.insts.append(ir.Inst(op, args, attrs, result, loc))
        return result

    def branch(block, condition, yes, no, **attrs):
        block.insts.append(ir.Inst(control.BRANCH, (condition,), attrs, None, loc, [yes, no]))

    guard, strip, decide, after = (ir.Block(name) for name in ("guard", "strip", "decide", "after"))
    long = make(guard, IGE, entry.args[at], make(guard, control.CONST, value=LEAST), type=Bool)
    clear = apart_in_memory(guard, pairs, long, loc)
    branch(guard, clear, ir.Edge(strip, list(entry.args)), ir.Edge(header, list(entry.args)))
    # the strip
    strip.params = [ir.Value(p.type, p.name) for p in header.params]
    left = strip.params[at]
    size = make(strip, control.CONST, value=STRIP)
    take = make(strip, SELECT, make(strip, ILT, left, size, type=Bool), left, size)
    begin = [take if p is left else p for p in strip.params]
    good = make(strip, control.CONST, value=True, type=Bool)
    asking, storing = {}, {}
    questions, stores = clone_blocks(order, asking), clone_blocks(order, storing)
    strip.insts.append(ir.Inst(control.JUMP, (), {}, None, loc, [ir.Edge(questions[header], [*begin, good])]))
    # the questions
    collected = ir.Value(Bool)
    questions[header].params.append(collected)
    _ask(order, questions, collected, header)
    for inst in questions[header].insts[-1:]:
        inst.targets = [ir.Edge(decide, []) if edge.block is counted.exit.block else edge for edge in inst.targets]
    branch(decide, collected, ir.Edge(stores[header], list(begin)), ir.Edge(header, list(strip.params)), likely=True)
    # the stores
    for block in stores.values():
        for inst in block.insts:
            if inst.op is FIT:
                inst.op, inst.unwind, inst.attrs = FITTED, None, {"type": inst.result.type}
    for inst in stores[header].insts[-1:]:
        leave = next(edge for edge in inst.targets if edge.block is counted.exit.block)
        inst.targets = [ir.Edge(after, []) if edge is leave else edge for edge in inst.targets]
    rest = make(after, ISUB, left, take, flags="nsw")
    more = make(after, IGT, rest, make(after, control.CONST, value=0), type=Bool)
    state = [rest if p is counted.left else storing[p] for p in header.params]
    branch(after, more, ir.Edge(strip, state), leave)
    for block in (*questions.values(), *stores.values()):
        block.insts[-1].attrs = {key: x for key, x in block.insts[-1].attrs.items() if key != "row"}
    entry.block, entry.args = guard, []
    for block in order:
        last = block.insts[-1]
        if any(edge.block is header for edge in last.targets):
            last.attrs = {**last.attrs, "slow_loop": True}
    fn.blocks = reverse_postorder(fn) + [
        block
        for block in (guard, strip, *questions.values(), decide, *stores.values(), after)
        if block not in fn.blocks
    ]
    fn.blocks = reverse_postorder(fn)
    definitions = {v: {defs.block_of[v]: v, stores[defs.block_of[v]]: storing[v]} for v in defined if v in outside}
    if definitions:
        repair(fn, definitions)


def _ask(order, questions, collected, header) -> None:
    """Make questions of the copy of a loop: no stores, and what fits is collected from block to block."""
    good = collected
    for block in order:  # in which blocks that dominate the latch come one after the other
        kept = []
        copy = questions[block]
        for inst in copy.insts:
            if inst.op is FIT:
                fits, both = ir.Value(Bool), ir.Value(Bool)
                kept += [
                    ir.Inst(FITS, inst.args, {"type": inst.attrs["type"]}, fits, inst.loc),
                    ir.Inst(BAND, (good, fits), {}, both, inst.loc),
                ]
                good = both
            elif inst.op is not ARRAY_STORE:
                kept.append(inst)
        copy.insts = kept
    for block in questions.values():
        for edge in block.insts[-1].targets:
            if edge.block is questions[header]:
                edge.args.append(good)
