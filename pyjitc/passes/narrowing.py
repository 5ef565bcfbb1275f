"""Compute in 8, 16 or 32 bits what a loop over arrays of narrow ints computes, where all intermediate results fit.

Runs after the passes that copy and unroll loops, before polling. The elements of such an array become ints of 64 bits
when they are loaded; LLVM narrows sums of them again where the result is stored, but not absolute values, minima,
shifts, divisions and comparisons, so that a vector holds a quarter or an eighth of the elements that it could. Only the
intervals of `ranges.py` decide: operations that exchange values are one group, and a group gets the narrowest type that
holds every operand and result. Where elements are compared with what is unknown but the same in all iterations, such as
a threshold, the loop compares with the possible element that is next to it.
Before:  x = cast (array_load a, i) : int ; y = isub x, c ; z = iabs y ; array_store out, i, cast z : uint8
After:   x = cast (array_load a, i) : int16 ; y = isub {nsw} x, c' ; z = iabs y ; array_store out, i, cast z : uint8
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges
from ..ir.uses import users as users_of
from ..ops import arith as a
from ..ops import control
from ..ops.memory import ACCESSES, ARRAY_STORE
from ..ops.structure import CHOOSE, RETYPE, SELECT
from ..types import kinds
from ..types.kinds import Bool, Float, Int, NpBool, NpFloat, NpInt
from . import dce, ranges
from .counted import MOST_NARROW, Counted, Definitions, find, is_wide, widens
from .rewrite import Builder

__all__ = ["run"]

_SUMS = frozenset((a.IADD, a.ISUB, a.IMUL))
_BY_CONSTANT = frozenset((a.ISHL, a.ISHR, a.IFLOORDIV, a.IMOD))  # narrow only where the second operand is a constant
_WIDER = _BY_CONSTANT | {a.IMUL}  # operations that processors do not have for vectors of 8 bits
_COMPUTES = _SUMS | _BY_CONSTANT | {a.INEG, a.IABS, a.IAND, a.IOR, a.IXOR, a.INOT}
_SELECTS = frozenset((SELECT, CHOOSE))
_COMPARES = frozenset(a.INTEGER_COMPARISONS)
_TYPES = (kinds.int8, kinds.uint8, kinds.int16, kinds.uint16, kinds.int32, kinds.uint32)


def run(fn: ir.Function, options=Options()) -> None:
    if fn.flags.novectorize or fn.flags.optnone:
        return
    loops = [loop for loop in LoopNest(fn).loops if not loop.inner and _may(loop)]
    if not loops:
        return
    defs, edges = Definitions(fn), in_edges(fn.blocks)
    found = [counted for loop in loops if (counted := find(loop, defs, edges)) is not None]
    if not found:
        return
    interval, users = ranges.intervals(fn, options), users_of(fn.blocks)
    if any([_Loop(counted, defs, edges, interval, users).run() for counted in found]):
        dce.run(fn)  # conversions of elements that nothing needs any more


def _may(loop) -> bool:
    """Whether LLVM may vectorise an innermost loop, which computes with elements of narrow ints."""
    insts = [inst for block in loop.blocks for inst in block.insts]
    return (any(map(widens, insts)) and not loop.has_hint("novectorize")
            and all([source is loop.header for source, _ in loop.exits()])
            and not any([i.unwind is not None or i.op not in ACCESSES and i.op.effects & ~ir.TERMINATOR
                         for i in insts]))


def _inside(x, t) -> bool:
    low, high = ranges.type_interval(t)
    return low <= x[0] and x[1] <= high


def _fits(x) -> bool:
    """Whether an interval is inside that of a type of 32 bits."""
    return _inside(x, kinds.int32) or _inside(x, kinds.uint32)


def _is_whole(t) -> bool:
    return t is Int or t is Bool or t is NpBool or isinstance(t, NpInt)


def _is_element(v) -> bool:
    """Whether a value has a narrow type."""
    return _is_whole(v.type) and not is_wide(v.type)


def _is_constant(v) -> bool:
    return v.inst is not None and v.inst.op is control.CONST


class _Loop:
    """A loop in which values are narrowed. nodes: value that may be narrow -> its operands, the values on whose edges
    it arrives where it is a parameter; a comparison is a node, too."""

    def __init__(self, counted: Counted, defs: Definitions, edges, interval, users):
        self.counted, self.loop, self.defs, self.edges = counted, counted.loop, defs, edges
        self.interval, self.users = interval, users
        self.insts = {inst: inst.result for block in self.loop.blocks for inst in block.insts}
        self.made = {v: inst for inst, v in self.insts.items() if v is not None}  # as it was before the pass
        self.nodes: dict[ir.Value, list[ir.Value]] = {}
        self.narrow: dict[tuple[ir.Value, NpInt], ir.Value] = {}
        self.after: dict[ir.Inst | ir.Block, list[ir.Inst]] = {}  # the instructions to be added there
        self.replaced: dict[ir.Inst, list[ir.Inst]] = {}

    def run(self) -> bool:
        """Whether values were narrowed."""
        self.collect()
        groups = [group for nodes in self.connected() if (group := self.group(nodes)) is not None]
        for nodes, t in groups:
            for v in nodes:
                if v.type is not Bool:
                    self.narrow[v, t] = ir.Value(t, v.name)
        for step in (self.rewrite, self.widen):
            for nodes, t in groups:
                for v in nodes:
                    step(v, t)
        if groups:
            self.place()
        return bool(groups)

    # ------------------------------------------------------------ what may be narrow

    def collect(self) -> None:
        counters = {*self.counted.steps, *self.counted.strides, self.counted.left}
        for block in self.loop.blocks:
            for k, p in enumerate(block.params):
                if is_wide(p.type) and p not in counters and _fits(self.interval(p)):
                    self.nodes[p] = [self.origin(edge.args[k]) for _, _, edge in self.edges[block]]
            for inst in block.insts:
                self.consider(inst)
        self.drop()
        if self.has_wide():  # the results of comparisons, and elements that are carried, would be widened to its lanes
            for v in [*self.nodes]:
                if v in self.loop.header.params and any(map(_is_element, self.arriving(v))) or v.type is Bool and any([
                        one.op not in _SELECTS or one.result not in self.nodes for one in self.users.get(v, ())]):
                    del self.nodes[v]
            self.drop()

    def drop(self) -> None:
        """Remove the nodes that cannot be narrow, as those are not of which they are computed or for which."""
        changed = True
        while changed:
            changed = False
            for v, operands in [*self.nodes.items()]:
                if not self.stays(v, operands):
                    del self.nodes[v]
                    changed = True

    def consider(self, inst: ir.Inst) -> None:
        """Make the result of an instruction a node, where its operation has a narrow form."""
        op, operands = inst.op, [self.origin(v) for v in inst.args[inst.op in _SELECTS:]]
        if op in _COMPARES:
            if is_wide(inst.args[0].type) and not all([self.is_fixed(x) for x in operands]):
                self.nodes[inst.result] = operands
        elif (op in _COMPUTES or op in _SELECTS) and is_wide(inst.result.type) and _fits(self.interval(inst.result)):
            if op in _BY_CONSTANT:
                by = operands[1].inst
                if by is None or by.op is not control.CONST or not (
                        0 <= by.attrs["value"] < MOST_NARROW if op in a.SHIFTS else by.attrs["value"] > 0):
                    return
            self.nodes[inst.result] = operands

    def stays(self, v, operands) -> bool:
        """Whether a node has narrow operands, and a use that may be narrow."""
        unknown = [x for x in operands if not _fits(self.interval(x))]
        if unknown and not (v.type is Bool and len(unknown) == 1 and self.is_fixed(unknown[0])):
            return False
        header = self.loop.header
        if any([x not in self.nodes and x in header.params for x in operands]):
            return False  # a wide number would be carried, and narrow in vectors of few lanes
        if v.inst is None and v in header.params and not all(map(self.is_carried, self.arriving(v))):
            return False
        return all([p in self.nodes for block in self.loop.latches for edge in block.edges() if edge.block is header
                    for p, x in zip(header.params, edge.args) if x is v])

    def arriving(self, p) -> list[ir.Value]:
        """What the jumps back pass on to a parameter of the header."""
        k = self.loop.header.params.index(p)
        return [self.origin(edge.args[k]) for source, _, edge in self.edges[self.loop.header]
                if source in self.loop.blocks]

    def is_carried(self, v) -> bool:
        """Whether LLVM vectorises a loop that carries `v` to the next iteration: a minimum or a maximum, or an
        element."""
        return v in self.nodes and (v.inst is None or v.inst.op in _SELECTS) or _is_element(v)

    def origin(self, v: ir.Value) -> ir.Value:
        """The value from which `v` is converted without a change of the number."""
        while v.inst is not None and (v.inst.op is a.CAST or v.inst.op is RETYPE) and is_wide(v.type):
            x = v.inst.args[0]
            if not _is_whole(x.type) or not _inside(self.interval(x), v.type):
                break
            v = x
        return v

    def is_fixed(self, v) -> bool:
        """Whether a value is the same in all iterations."""
        return _is_constant(v) or self.defs.block_of.get(v) not in self.loop.blocks

    # ------------------------------------------------------------ groups

    def connected(self) -> list[list[ir.Value]]:
        """The nodes, those together that are operands of each other."""
        of = {v: [v] for v in self.nodes}
        for v, operands in self.nodes.items():
            for x in operands:
                if x in of and x.type is not Bool and of[x] is not of[v]:
                    small, large = sorted((of[x], of[v]), key=len)
                    large += small
                    for one in small:
                        of[one] = large
        return [*{id(nodes): nodes for nodes in of.values()}.values()]

    def group(self, nodes) -> tuple[list[ir.Value], NpInt] | None:
        """The nodes with the narrowest type in which all can be computed; None where nothing would be gained."""
        insts = [v.inst for v in nodes if v.inst is not None]
        bits = [x.type.bits for v in nodes for x in self.nodes[v] if isinstance(x.type, NpInt) and _is_element(x)]
        if not bits or min(bits) > MOST_NARROW or self.count_widened(nodes) > len(insts):
            return None
        least = max(16 if any([inst.op in _WIDER for inst in insts]) else 8, *bits)
        types = [x.type for v in nodes for x in (v.inst.args if v.type is Bool else [v])]
        most = min([t.bits if isinstance(t, NpInt) else 64 for t in types])
        span = self.span(nodes)
        return next(((nodes, t) for t in _TYPES if least <= t.bits < most and _inside(span, t)), None)

    def has_wide(self) -> bool:
        """Whether the loop carries or stores numbers of 64 bits, so that its vectors have few lanes."""
        counters = {*self.counted.steps, *self.counted.strides, self.counted.left}
        kept = [p.type for p in self.loop.header.params if p not in counters and p not in self.nodes]
        kept += [inst.args[-1].type for inst in self.insts if inst.op is ARRAY_STORE]
        return any([t is Int or t is Float or isinstance(t, (NpInt, NpFloat)) and t.bits > 32 for t in kept])

    def span(self, nodes) -> tuple[int, int]:
        """The interval of all operands and results."""
        found = [self.interval(v) for v in nodes if v.type is not Bool]
        found += [self.interval(x) for v in nodes for x in self.nodes[v] if not self.is_limit(v, x)]
        return min([x[0] for x in found]), max([x[1] for x in found])

    def is_limit(self, v, x) -> bool:
        """Whether the operand `x` of a comparison is the same in all iterations, and not a known number."""
        return v.type is Bool and not _is_constant(x) and not _is_element(x) and self.is_fixed(x)

    def count_widened(self, nodes) -> int:
        """The number of values of a group that the loop needs wide, too; more than there are where one is an index."""
        inside, count = {*nodes}, 0
        for v in nodes:
            if v.type is not Bool:
                uses = [inst for inst in self.users.get(v, ()) if inst in self.insts]
                if any([inst.op in ACCESSES and v in inst.args[1:1 + inst.args[0].type.ndim] for inst in uses]):
                    return len(nodes) + 1
                count += any([self.is_wide_use(v, inst, inside) for inst in uses])
        return count

    def is_wide_use(self, v, inst, inside) -> bool:
        if inst.op is a.CAST:
            return is_wide(inst.result.type) and not all([
                one.result in inside for one in self.users.get(inst.result, ())])
        if inst.result in inside:
            return False
        return v in inst.args or any([x is v and p not in inside and edge.block in self.loop.blocks
                                      for edge in inst.targets for p, x in zip(edge.block.params, edge.args)])

    # ------------------------------------------------------------ rewriting

    def rewrite(self, v, t) -> None:
        """Let the definition of a node compute in type t."""
        inst = v.inst
        if inst is None:
            block = self.defs.block_of[v]
            k = block.params.index(v)
            for (_, _, edge), x in zip(self.edges[block], self.nodes[v]):
                edge.args = [*edge.args[:k], self.narrowed(x, t), *edge.args[k + 1:]]
            block.params[k] = self.narrow[v, t]
            return
        limit = next((x for x in self.nodes[v] if self.is_limit(v, x)), None)
        if limit is not None:
            self.compare(inst, next(x for x in self.nodes[v] if x is not limit), limit, t)
            return
        args = [self.narrowed(x, t) for x in self.nodes[v]]
        if v.type is Bool:
            inst.args = args
        else:
            made = ir.Inst(inst.op, [*inst.args[:inst.op in _SELECTS], *args], self.attrs(inst, t), self.narrow[v, t],
                           inst.loc)
            self.replaced[inst] = [made]

    def attrs(self, inst, t) -> dict:
        """The attributes of an instruction that computes in type t."""
        known = {name: value for name, value in inst.attrs.items() if name != "flags"}
        if inst.op in _SUMS:
            positive = min([self.interval(x)[0] for x in (inst.result, *inst.args)]) >= 0
            return {**known, "flags": "nuw" if not t.signed else "nuw nsw" if positive else "nsw"}
        if inst.op is a.IMOD or inst.op is a.IFLOORDIV:
            words = [word for word in inst.attrs.get("flags", "").split() if word in ("ring", "less")]
            words += ["nonnegative"] * (self.interval(inst.args[0])[0] >= 0)
            return {**known, "flags": " ".join(words)} if words else known
        return known

    def narrowed(self, v, t) -> ir.Value:
        """The number `v`, which is no conversion, in type t."""
        if v.type is t:
            return v
        found = self.narrow.get((v, t))
        if found is None:
            b = Builder([], self.counted.entry_inst.loc)
            found = self.number(b, t, v.inst.attrs["value"]) if _is_constant(v) else b.cast(v, t)
            self.narrow[v, t] = found
            place = self.counted.entry_inst if self.is_fixed(v) else self.made.get(v) or self.defs.block_of[v]
            self.after.setdefault(place, []).extend(b.insts)
        return found

    def compare(self, inst, x, limit, t) -> None:
        """Compare `x` with a limit that is the same in all iterations, and that may be any number: with that of the
        numbers that `x` may be which is next to it. Where the limit is none of these, the result is the same in all
        iterations. (With one number more at either end it would be so by itself, but then LLVM compares wide numbers
        again.)"""
        before, b = Builder([], inst.loc), Builder([], inst.loc)
        (low, high), (least, most) = self.interval(x), self.interval(limit)
        near, above, below = limit, None, None
        if least < low:
            end = self.number(before, limit.type, low)
            below = before.test(a.ILT, limit, end)
            near = before.op(SELECT, below, end, near, type=limit.type)
        if most > high:
            end = self.number(before, limit.type, high)
            above = before.test(a.IGT, limit, end)
            near = before.op(SELECT, above, end, near, type=limit.type)
        near = before.cast(near, t)
        op = inst.op if self.nodes[inst.result][0] is x else inst.op.swapped
        found = b.test(op, self.narrowed(x, t), near)
        holds = {a.IGT: (below,), a.ILT: (above,), a.INE: (below, above)}  # the result where the limit is outside
        fails = {a.IGE: (above,), a.ILE: (below,), a.IEQ: (below, above)}
        for outside in holds.get(op, ()):
            if outside is not None:
                found = b.test(a.BOR, found, outside)
        for outside in fails.get(op, ()):
            if outside is not None:
                found = b.test(a.BAND, found, before.test(a.BNOT, outside))
        last = b.insts[-1]
        last.result = inst.result
        inst.result.inst = last
        self.after.setdefault(self.counted.entry_inst, []).extend(before.insts)
        self.replaced[inst] = b.insts

    @staticmethod
    def number(b: Builder, t, n) -> ir.Value:
        return b.const(t, n if t is Int else a.numpy_class(t)(n))

    def widen(self, v, t) -> None:
        """Convert a narrow value for the instructions that are not narrow."""
        if v.type is Bool:
            return
        inst, narrow = v.inst, self.narrow[v, t]
        others = [one for one in self.users.get(v, ()) if one not in self.replaced]
        for one in others:
            if one.op is a.CAST:
                one.args = [narrow]
        if any([v in one.uses() for one in others]):
            made = ir.Inst(a.CAST, [narrow], {"type": v.type}, v, (inst or self.counted.entry_inst).loc)
            if inst is None:
                self.after.setdefault(self.defs.block_of[v], []).append(made)
            else:
                self.replaced[inst].append(made)

    def place(self) -> None:
        """Write the new instructions into the blocks."""
        for block in (*self.loop.blocks, self.counted.entry_block):
            insts = [*self.after.get(block, ())]
            for inst in block.insts:
                added = self.after.get(inst, [])
                if inst is self.counted.entry_inst:
                    insts += [*added, inst]
                else:
                    insts += [*self.replaced.get(inst, (inst,)), *added]
            block.insts = insts
