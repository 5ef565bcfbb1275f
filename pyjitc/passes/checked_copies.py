"""Make functions of the copies of loops in which the checks remain.

Runs directly after versioning, which leaves each nest twice: the copy without checks, and behind the guard the loop as
it was, which almost never runs. As a function of its own the second one is compiled by the short pipeline of LLVM's
passes: the default pipeline took half of its time for it. The function is a part of the other, whose frame its failures
are in; the passes before this one have run over its code.
Before:  guard: branch {likely} g -> fast header(i, left), header(i, left)     header(i, left): ... exit(x)
After:   guard: branch {likely} g -> fast header(i, left), checked()
         checked(): x = invoke {callee: f.checked} a, i, left ; jump exit(x)
         fn f.checked(a, i, left): the loop; done(x): return x
A loop stays where it is if it is small, if an exception in it has a handler, or if it is left in several ways that lead
to different places; ways that only raise are copied into the function.
Needs: SSA, the marks of versioning.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import Loop, LoopNest, in_edges, reverse_postorder
from ..ir.uses import readers, used_from_outside
from ..ops import control
from ..ops.structure import TUPLE_GET, TUPLE_MAKE
from ..types.kinds import Array, NoneType, Tuple, is_scalar
from . import versioning
from .rewrite import clone_blocks, clone_inst

__all__ = ["run"]

_WAYS = 12  # the most blocks of a way out of a loop that only raises


def run(fn: ir.Function, options=None) -> None:
    if fn.library or fn.flags.parallel:
        return
    nest = LoopNest(fn)
    large: list[Loop] = []
    covered: set[ir.Block] = set()
    for loop in nest.loops:  # outer loops first
        if loop.header not in covered and all(["novectorize" in b.insts[-1].attrs for b in loop.latches]):
            covered.update(loop.blocks)
            if sum([len(b.insts) for b in loop.blocks]) >= versioning.LEAST:
                large.append(loop)
    if not large:
        return
    edges, found, made = in_edges(nest.dom.order), readers(fn), 0
    for loop in large:
        made += _outline(fn, loop, loop.entries(edges), found, nest.dom.number, made)
    if made:
        fn.blocks = reverse_postorder(fn)


def _outline(fn: ir.Function, loop: Loop, entries, found, at: dict[ir.Block, int], number: int) -> bool:
    """Make a function of a loop; returns whether that was done. found: the blocks that read each value; at: the places
    of blocks in the order; number: that of the function."""
    if len(entries) != 1:
        return False
    inside, leaving = _region(loop)
    order = sorted(inside, key=at.__getitem__)
    insts = [inst for block in order for inst in block.insts]
    if any(inst.unwind is not None or "redo" in inst.attrs or "restart" in inst.op.attrs for inst in insts):
        return False
    if len({edge.block for edge in leaving}) != 1:
        return False
    defined = {v for block in order for v in [*block.params, *[i.result for i in block.insts if i.result is not None]]}
    if any([block not in inside for v in defined for block in found.get(v, ())]):
        return False
    exit, entry = leaving[0].block, entries[0][2]
    # the values that the function returns; others of the exit's parameters are known where it is called
    returned = [k for k in range(len(exit.params))
                if len({edge.args[k] for edge in leaving}) > 1 or leaving[0].args[k] in defined]
    away = set(map(id, leaving))
    given = dict.fromkeys([*used_from_outside(order, lambda edge: id(edge) in away), *entry.args])
    given.update(dict.fromkeys(edge.args[k] for edge in leaving for k in returned if edge.args[k] not in defined))
    types = [exit.params[k].type for k in returned]
    args = [v for v in given if v.inst is None or v.inst.op is not control.CONST]
    if not all(is_scalar(t) or isinstance(t, Array) for t in [*types, *[v.type for v in args]]):
        return False
    loc = entries[0][1].loc
    part = ir.Function(f"{fn.name}.checked{number or ''}", fn.qualname, fn.filename, fn.firstlineno)
    part.flags = fn.flags._replace(part=True, noinline=True, novectorize=True)
    part.result = NoneType if not types else types[0] if len(types) == 1 else Tuple(types)
    # the function
    start, done = ir.Block("entry"), ir.Block("done", [ir.Value(t) for t in types])
    values: dict[ir.Value, ir.Value] = {}
    for v in args:
        values[v] = ir.Value(v.type, v.name)
        start.params.append(values[v])
    start.insts += [clone_inst(v.inst, values, {}) for v in given if v not in values]
    copies = clone_blocks(order, values)
    start.insts.append(ir.Inst(control.JUMP, (), {}, None, loc,
                               [ir.Edge(copies[loop.header], [values[v] for v in entry.args])]))
    for block in copies.values():
        for edge in block.terminator.targets:
            if edge.block is exit:
                edge.block, edge.args = done, [edge.args[k] for k in returned]
    result = done.params[0] if len(types) == 1 else ir.Value(part.result)
    if not types:
        done.insts.append(ir.Inst(control.CONST, (), {"value": None}, result, loc))
    elif len(types) > 1:
        done.insts.append(ir.Inst(TUPLE_MAKE, done.params, {"cls": None}, result, loc))
    done.insts.append(ir.Inst(control.RETURN, (result,), {}, None, loc))
    part.blocks = [start, *copies.values(), done]
    # the call
    call, called = ir.Block("checked"), ir.Value(part.result)
    call.insts.append(ir.Inst(control.INVOKE, args, {"callee": part}, called, loc))
    passed = list(leaving[0].args)
    for n, k in enumerate(returned):
        passed[k] = called if len(types) == 1 else ir.Value(types[n])
        if len(types) > 1:
            call.insts.append(ir.Inst(TUPLE_GET, (called,), {"index": n}, passed[k], loc))
    call.insts.append(ir.Inst(control.JUMP, (), {}, None, loc, [ir.Edge(exit, passed)]))
    entry.block, entry.args = call, []
    fn.blocks.append(call)
    return True


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
    """The blocks on the way from `block`, if it ends in exceptions that leave the function; otherwise none."""
    found, work = {block}, [block]
    while work:
        one = work.pop()
        if one.terminator.op is control.RETURN or one in inside or len(found) > _WAYS:
            return set()
        new = {edge.block for edge in one.edges()} - found
        found |= new
        work += new
    return found
