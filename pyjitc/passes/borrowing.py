"""Find values that need no reference of their own to native objects, since another reference keeps the objects alive.

Part of `refcount`. The value of an attribute or item that is a native object, or of a block parameter to which such
values are passed, is *borrowed* if, as long as it is used, no instruction can remove an object from the attribute or
list that holds it: then the owner from which it was loaded keeps it alive. A loop that walks down a tree or along a
linked list then counts no references.
"""
from __future__ import annotations

from collections import defaultdict

from ..ir import core as ir
from ..ir.cfg import Dominators
from ..ops.control import INVOKE
from ..ops.instances import INSTANCE_AT, INSTANCE_PUT
from ..ops.natives import (
    NATIVE_AT, NATIVE_CUT, NATIVE_LIFT, NATIVE_PUT, NATIVE_SHIFT, NATIVE_SPREAD, NATIVE_TAKE,
)
from ..types.kinds import NativeList, NativeObject, Type, Union, is_refcounted

__all__ = ["find"]

_LOADS = frozenset((INSTANCE_AT, NATIVE_AT))
_TAKES = frozenset((INSTANCE_PUT, NATIVE_PUT, NATIVE_TAKE, NATIVE_SHIFT, NATIVE_LIFT, NATIVE_CUT, NATIVE_SPREAD))


def _may_be_borrowed(t: Type) -> bool:
    """Whether every reference in a value of type t is to a native object."""
    return type(t) is NativeObject or isinstance(t, Union) and is_refcounted(t) and all(
        [type(m) is NativeObject or not is_refcounted(m) for m in t.members])


def _takes(inst: ir.Inst) -> bool:
    """Whether an instruction may remove native objects from an attribute, or from a list."""
    if inst.op not in _TAKES:
        return False
    t = inst.args[1].type if inst.op is INSTANCE_PUT else inst.args[0].type.item
    return _holds(t)


def _holds(t: Type) -> bool:
    return isinstance(t, (NativeObject, NativeList)) or t.parts is not None and any(map(_holds, t.parts))


def find(fn: ir.Function, blocks: list[ir.Block]) -> dict[ir.Value, frozenset[ir.Value]]:
    """Find the borrowed values: {value: its owners}. The owners are the values whose references keep it alive; a value
    that the callers keep alive has none."""
    return _Lending(fn, blocks).find()


class _Lending:
    def __init__(self, fn: ir.Function, blocks: list[ir.Block]):
        self.fn = fn
        self.blocks = blocks
        self.home: dict[ir.Value, ir.Block] = {}
        self.sources: dict[ir.Value, list[ir.Value]] = defaultdict(list)
        self.views: dict[ir.Value, ir.Inst] = {}
        self.borrowed: dict[ir.Value, None] = {}
        self.calls: dict[ir.Function, bool] = {}
        for block in blocks:
            for p in block.params:
                if is_refcounted(p.type):
                    self.home[p] = block
                    if block is not fn.entry and _may_be_borrowed(p.type):
                        self.borrowed[p] = None
            for inst in block.insts:
                r = inst.result
                if r is not None and is_refcounted(r.type):
                    self.home[r] = block
                    if inst.op in _LOADS and _may_be_borrowed(r.type):
                        self.borrowed[r] = None
                        self.sources[r].append(inst.args[0])
                    elif not inst.op.effects & ir.ALLOCATES and inst.op is not INVOKE:
                        self.views[r] = inst
                for edge in inst.edges():
                    for v, p in zip(edge.args, edge.block.params):
                        if _may_be_borrowed(p.type):
                            self.sources[p].append(v)
        self.dangers = [(block, inst) for block in blocks for inst in block.insts if self.is_danger(inst)]

    def is_danger(self, inst: ir.Inst) -> bool:
        if inst.op is not INVOKE:
            return _takes(inst)
        callee = inst.attrs["callee"]
        if callee not in self.calls:
            found = [callee]
            for one in found:  # appended to during the iteration
                found += dict.fromkeys([i.attrs["callee"] for block in one.blocks for i in block.insts
                                        if i.op is INVOKE and i.attrs["callee"] not in found])
            self.calls[callee] = any([_takes(i) for one in found for block in one.blocks for i in block.insts])
        return self.calls[callee]

    def find(self) -> dict[ir.Value, frozenset[ir.Value]]:
        if not self.borrowed:
            return {}
        dominators = Dominators(self.fn, split=True)

        def is_there(owner, param) -> bool:
            """Whether an owner is defined in a block that dominates the block of the parameter, and not in the same
            block."""
            home, block = self.home[owner], self.home[param]
            if home is block:
                return False
            return dominators.dominates(home if owner.inst is None else dominators.tails.get(home, home), block)

        while True:
            owners = self.owners()
            lost = [v for v in self.borrowed if v.inst is None and not all([is_there(o, v) for o in owners[v]])]
            lost = lost or self.used_after_dangers()
            if not lost:
                return {v: owners[v] for v in self.borrowed}
            for v in lost:
                del self.borrowed[v]
            if not self.borrowed:
                return {}

    def owners(self) -> dict[ir.Value, frozenset[ir.Value]]:
        """The owners of all borrowed values and of views."""
        none: frozenset = frozenset()
        found: dict[ir.Value, frozenset] = dict.fromkeys((*self.borrowed, *self.views), none)
        given = frozenset(self.fn.entry.params)

        def of(v):
            return found[v] if v in found else none if v in given or v not in self.home else frozenset((v,))

        changed = True
        while changed:
            changed = False
            for v in found:
                sources = self.sources[v] if v in self.borrowed else self.views[v].args
                new = none.union(*map(of, sources))
                if new != found[v]:
                    found[v] = new
                    changed = True
        return found

    def used_after_dangers(self) -> list[ir.Value]:
        """The borrowed values that are used after an instruction that may remove objects from what holds them."""
        if not self.dangers:
            return []
        none: frozenset = frozenset()
        bases: dict[ir.Value, frozenset] = {v: frozenset((v,)) for v in self.borrowed}

        def of(values):
            return none.union(*[bases[v] for v in values if v in bases])

        for block in self.blocks:  # in this order a view comes after its operands
            for inst in block.insts:
                if inst.result in self.views:
                    bases[inst.result] = of(inst.args)
        live: dict[ir.Block, frozenset] = {block: none for block in self.blocks}
        lost: dict[ir.Value, None] = {}

        def before(block: ir.Block, note: bool) -> frozenset:
            now: set = set()
            for inst in reversed(block.insts):
                for edge in inst.edges():
                    now |= live[edge.block] | of(edge.args)
                if note and self.is_danger(inst):
                    lost.update(dict.fromkeys(now - {inst.result}))
                    if inst.op is INVOKE:
                        lost.update(dict.fromkeys(of(inst.args)))
                now.discard(inst.result)
                now |= of(inst.args)
            return frozenset(now.difference(block.params))

        changed = True
        while changed:
            changed = False
            for block in reversed(self.blocks):
                new = before(block, False)
                if new != live[block]:
                    live[block] = new
                    changed = True
        for block in self.blocks:
            before(block, True)
        return list(lost)
