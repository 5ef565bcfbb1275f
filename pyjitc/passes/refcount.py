"""Insert retains and releases: decide which value owns each reference, and where it is released, on exceptional paths
too.

Runs last before code generation, when no pass moves uses any more.
Owners are the results of operations that allocate, of calls, and block parameters; function parameters are borrowed
from the caller for the whole call. Every other value (an element, a view, a tuple, the address of an array) borrows
from its owners, so a use of it counts as a use of them. An owner is released after its last use, on edges where it is
not needed, and, where an instruction may raise, in its `cleanup` or in a block on the way to the handler. On a way that
only leads to an exception arrays are kept until that leaves the function: the exits share their releases. Native
objects that something else keeps are borrowed, too (passes/borrowing.py), block parameters among them. Returning a
value or a tuple of values, passing a value to a block and appending it to a text transfer the reference of the owner,
or a new one.
Before:  a = array_new n ; x = array_load a, i ; return x     After:  ... ; x = array_load a, i ; release a ; return x
Needs: SSA.  Keeps: SSA, control flow but for blocks on edges.
"""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir import core as ir
from ..ir.cfg import in_edges, predecessors, reverse_postorder
from ..ops import control
from ..ops.memory import ARRAY_DATA, RELEASE, RETAIN, effects_of, holds_object
from ..ops.structure import TUPLE_MAKE
from ..types.kinds import Array, Bytes, Container, NativeObject, Str, Type, is_integer, is_refcounted
from .alias import Aliases, may_free, may_free_by

__all__ = ["run"]

borrowing = lazy(f"{__package__}.borrowing")  # programs with native objects load it


def run(fn: ir.Function, options=None) -> None:
    blocks = reverse_postorder(fn)
    counted: dict = {}

    def refcounted(value):
        t = value.type
        found = counted.get(t)
        if found is None:
            found = counted[t] = is_refcounted(t)
        return found

    borrowed = _borrowed(fn, blocks, refcounted)
    borrowed_objects: dict[ir.Value, frozenset] = {}
    if any([inst.args and type(inst.args[0].type) is NativeObject for block in blocks for inst in block.insts]):
        borrowed_objects = borrowing.find(fn, blocks)
        _mark(borrowed_objects)
        fn.memo["borrowed"] = frozenset(borrowed_objects)
    owners: dict[ir.Value, frozenset] = {}
    none: frozenset = frozenset()
    addresses: set = set()
    any_owner = False
    for block in blocks:
        for p in block.params:
            if refcounted(p):
                if block is fn.entry or p in borrowed_objects:
                    owners[p] = borrowed_objects.get(p, none)
                else:
                    owners[p] = frozenset((p,))
                    any_owner = True
        for inst in block.insts:
            r = inst.result
            if r is not None and refcounted(r):
                if r in borrowed_objects:
                    owners[r] = borrowed_objects[r]
                elif r not in borrowed and (inst.op.effects & ir.ALLOCATES or inst.op is control.INVOKE):
                    owners[r] = frozenset((r,))
                    any_owner = True
                else:
                    owners[r] = none.union(*(owners.get(a, none) for a in inst.args))
            elif inst.op is ARRAY_DATA or r is not None and not addresses.isdisjoint(inst.args) and _may_hold(r.type):
                owners[r] = none.union(*(owners.get(a, none) for a in inst.args))
                addresses.add(r)
    if not any_owner and not is_refcounted(fn.result):
        return
    _Counting(fn, blocks, owners, refcounted, borrowed_objects).run()


def _may_hold(t: Type) -> bool:
    """Whether a result of type t of an operation on an address may contain the address: an integer, or a type with
    parts, such as a pointer."""
    return is_integer(t) or bool(t.parts)


def _borrowed(fn, blocks, refcounted) -> set[ir.Value]:
    """Items of lists whose last use is in their block, before anything may change the list: they are borrowed, and need
    no reference of their own."""
    found = set()
    aliases = Aliases(fn)
    for block in blocks:
        for n, inst in enumerate(block.insts):
            if "borrowed" in inst.op.attrs and refcounted(inst.result) and _used_up(block, n, refcounted, aliases):
                found.add(inst.result)
    if found:  # remove those that have uses elsewhere
        for block in blocks:
            for inst in block.insts:
                for edge in inst.edges():
                    found.difference_update(edge.args)
                found.difference_update([a for a in inst.args if a in found and a.inst not in block.insts])
        _mark(found)
    return found


def _mark(values) -> None:
    """Mark the loads of these values, so that they do not acquire a reference."""
    for value in values:
        made = value.inst
        if made is not None:
            made.attrs = {**made.attrs, "borrowed": True}


def _used_up(block, n, refcounted, aliases) -> bool:
    value = block.insts[n].result
    uses = [k for k in range(n + 1, len(block.insts)) if value in block.insts[k].args]
    if not uses:
        return False
    for inst in block.insts[n + 1:uses[-1]]:
        if may_free(inst) and "borrowed" not in inst.op.attrs or any(
                [refcounted(a) and not _is_harmless(a.type) for a in inst.args]):
            return False
    if any([block.insts[k].result is not None and refcounted(block.insts[k].result)
            and not block.insts[k].op.effects & ir.ALLOCATES for k in uses]):
        return False  # the item becomes part of another value
    last = block.insts[uses[-1]]
    return last.op.effects & ir.TERMINATOR == 0 and not last.targets and not _may_change_first(last, aliases)


def _may_change_first(inst: ir.Inst, aliases: Aliases) -> bool:
    """Whether an instruction may change a list, by a function that it calls, before it has read all its operands."""
    if inst.op is control.INVOKE:
        return may_free_by(aliases.effects(inst))
    return effects_of(inst) & ir.WRITES == ir.WRITES


def _is_harmless(t: Type) -> bool:
    """Whether releasing a value of type t never runs code of the program, such as a finaliser."""
    if isinstance(t, Container):
        return all(map(_is_harmless, t.parameters))
    if t.parts is not None:
        return all(map(_is_harmless, t.parts))
    return not is_refcounted(t) or t in (Str, Bytes) or isinstance(t, Array)


class _Counting:
    def __init__(self, fn, blocks, owners, refcounted, borrowed_objects):
        self.fn = fn
        self.blocks = blocks
        self.owners = owners
        self.refcounted = refcounted
        self.borrowed_objects = borrowed_objects
        self.order = {value: n for n, value in enumerate(owners)}
        self.live_in: dict[ir.Block, set] = {}
        # block from which an exception leaves the function in any case -> the owners that are kept until it does
        self.kept: dict[ir.Block, set] = {}
        self.fresh: list[ir.Block] = []

    def owners_of(self, values) -> set:
        found = set()
        for v in values:
            o = self.owners.get(v)
            if o:
                found |= o
        return found

    def edge_needs(self, edge: ir.Edge) -> set:
        return self.live_in.get(edge.block, set()) | self.owners_of(edge.args)

    def run(self) -> None:
        self.liveness()
        self.keep()
        for block in self.blocks:
            self.block(block)
        self.fn.blocks = [*self.blocks, *self.fresh]

    def liveness(self) -> None:
        # block -> for each of its instructions that matter, last first: (blocks to which edges lead, the owners that
        # its edges pass, its result, the owners of its operands)
        steps: dict[ir.Block, list[tuple]] = {}
        for block in self.blocks:
            self.live_in[block] = set()
            found = steps[block] = []
            for inst in reversed(block.insts):
                uses, edges = self.owners_of(inst.args), inst.edges()
                if uses or edges or inst.result in self.owners:
                    found.append(([edge.block for edge in edges],
                                  self.owners_of([v for edge in edges for v in edge.args]), inst.result, uses))
        preds, changed = predecessors(self.blocks), set(self.blocks)
        while changed:
            for block in reversed(self.blocks):
                if block not in changed:
                    continue
                changed.discard(block)
                live: set = set()
                for targets, passed, result, uses in steps[block]:
                    for target in targets:
                        live |= self.live_in[target]
                    live |= passed
                    live.discard(result)
                    live |= uses
                live.difference_update(block.params)
                if live != self.live_in[block]:
                    self.live_in[block] = live
                    changed.update(preds[block])

    def keep(self) -> None:
        """Find the owners that are kept in blocks from which an exception leaves the function in any case. Those that
        lead to Python objects are not: finalizers can observe when they are released."""
        doomed: set[ir.Block] = set()
        for block in reversed(self.blocks):
            last = block.insts[-1]
            if (all([edge.block in doomed for edge in last.targets]) if last.targets else last.op.effects & ir.RAISES) \
                    and all([inst.unwind is None for inst in block.insts]):
                doomed.add(block)
        if not doomed:
            return
        arriving = in_edges(self.blocks)
        for block in self.blocks:
            if block not in doomed or block is self.fn.entry:
                continue
            found: set | None = None
            for source, inst, edge in arriving[block]:
                if edge is inst.unwind or source in doomed and source not in self.kept:
                    found = set()
                    break
                held = self.owners_of(inst.args).union(self.kept.get(source, ()), *map(self.edge_needs, inst.targets))
                held -= self.owners_of(edge.args)
                found = held if found is None else found & held
            self.kept[block] = {v for v in found or () if not holds_object(v.type)} - self.live_in[block]
            self.live_in[block] |= self.kept[block]

    def block(self, block: ir.Block) -> None:
        out: list[ir.Inst] = []  # in reverse order
        live: set = set(self.kept.get(block, ()))
        for inst in reversed(block.insts):
            uses = self.owners_of(inst.args)
            if inst.targets:
                live = uses | live
                for edge in inst.targets:
                    live |= self.edge_needs(edge)
                prefix = self.leave(inst, live)
                out.append(inst)
                out.extend(reversed(prefix))
                continue
            if inst.op is control.RETURN:
                (value,) = inst.args
                prefix = []
                moved = self.all_owned(value) or set()
                if self.refcounted(value) and not moved:
                    prefix.append(self.count(RETAIN, value, inst.loc))
                prefix += [self.count(RELEASE, o, inst.loc) for o in self.sorted(uses - moved)]
                live = set(uses)
                out.append(inst)
                out.extend(reversed(prefix))
                continue
            result = inst.result
            if (not uses and inst.unwind is None and result not in self.owners
                    and not inst.op.effects & (ir.CONSUMES | ir.RAISES)):
                out.append(inst)
                continue
            owned = result is not None and self.owners.get(result) == {result}
            after = [self.count(RELEASE, result, inst.loc)] if owned and result not in live else []
            live.discard(result)
            before = live | uses
            if inst.unwind is not None:
                before |= self.edge_needs(inst.unwind)
            kept, own = before, []
            if inst.op.effects & ir.CONSUMES:
                if self.is_last_use(inst, live):
                    kept = before - {inst.args[0]}
                else:
                    own = [self.count(RETAIN, inst.args[0], inst.loc)]
            after += [self.count(RELEASE, o, inst.loc) for o in self.sorted(kept - live)] if not (
                inst.op.effects & ir.TERMINATOR) else []
            if inst.op.effects & ir.RAISES:
                self.unwinding(inst, kept)
            out.extend(reversed(after))
            out.append(inst)
            out.extend(own)
            live = before
        out.reverse()
        dead = [p for p in block.params if self.owners.get(p) == {p} and p not in live]
        if block is self.fn.entry:
            dead = []
        block.insts = [self.count(RELEASE, p, out[0].loc) for p in dead] + out

    def all_owned(self, value) -> set | None:
        """The owners of all references in a value, if each owns one of them, as those of the items of a tuple may."""
        if self.owners.get(value) == {value}:
            return {value}
        if value.inst is None or value.inst.op is not TUPLE_MAKE:
            return None
        found: set = set()
        for item in value.inst.args:
            if self.refcounted(item):
                own = self.all_owned(item)
                if own is None or own & found:
                    return None
                found |= own
        return found

    def is_last_use(self, inst: ir.Inst, live: set) -> bool:
        """Whether an instruction that consumes a reference to its first operand can take the owner's."""
        value = inst.args[0]
        return self.owners.get(value) == {value} and value not in live | self.owners_of(inst.args[1:]) and (
            inst.unwind is None or value not in self.edge_needs(inst.unwind))

    def sorted(self, values):
        """Values in the order of their definitions."""
        return sorted(values, key=self.order.__getitem__)

    @staticmethod
    def count(op, value, loc) -> ir.Inst:
        return ir.Inst(op, (value,), {}, None, loc)

    def transfer(self, edge: ir.Edge, live: set, loc) -> list[ir.Inst]:
        """The instructions that are needed along `edge` when the owners in `live` hold references before it."""
        needed = self.live_in[edge.block]
        moved: set = set()
        steps = []
        for arg, param in zip(edge.args, edge.block.params):
            if not self.refcounted(param) or param in self.borrowed_objects:
                continue
            if self.owners.get(arg) == {arg} and arg not in needed and arg not in moved:
                moved.add(arg)
            else:
                steps.append(self.count(RETAIN, arg, loc))
        steps += [self.count(RELEASE, o, loc) for o in self.sorted(live - needed - moved)]
        return steps

    def leave(self, inst: ir.Inst, live: set) -> list[ir.Inst]:
        """Place instructions before a terminator with one target; if it has several targets, in new blocks on the
        edges."""
        if len(inst.targets) == 1:
            return self.transfer(inst.targets[0], live, inst.loc)
        for i, edge in enumerate(inst.targets):
            steps = self.transfer(edge, live, inst.loc)
            if steps:
                inst.targets[i] = self.step("edge", steps, edge, inst.loc)
        return []

    def step(self, name, steps, edge, loc) -> ir.Edge:
        block = ir.Block(name)
        block.insts = [*steps, ir.Inst(control.JUMP, (), {}, None, loc, [ir.Edge(edge.block, edge.args)])]
        self.fresh.append(block)
        return ir.Edge(block)

    def unwinding(self, inst: ir.Inst, live: set) -> None:
        if inst.unwind is None:
            inst.cleanup = tuple(self.sorted(live))
            return
        steps = self.transfer(inst.unwind, live, inst.loc)
        if steps:
            inst.unwind = self.step("unwind", steps, inst.unwind, inst.loc)
