"""Find the loads from containers before which nothing was written that outlives the call.

Runs last, over the functions of a module together. A load checks the class of what it finds against the types that the
code was compiled for (ops/containers.py). Where one meets another class and the call has done nothing yet that anybody
could see, the call is made anew: it goes to code for what the arguments hold (`anew`). After writes that is too late,
so the stub looks at what the arguments hold before it calls: at all of it where a load is in a loop, else at the first
thousand (`FunctionFlags.looks`).
Before:  x = list_get l, i ; list_set l, j, x      After:  x = list_get {anew: True} l, i ; list_set l, j, x
Needs: nothing.  Keeps: everything but that attribute of loads and the flags of the first function.
"""
from __future__ import annotations

import operator

from ..ir import core as ir
from ..ir.cfg import reverse_postorder
from ..ops import containers, control, memory, pyobject
from ..ops.structure import RETYPE
from ..types.kinds import ObjectOf
from .alias import Aliases, is_fresh, root_of

__all__ = ["run"]

_SOME = 1024  # items of a list that a call looks at where each load runs once
# Functions that change nothing, where the program's classes do not.
_READ = frozenset((operator.getitem, operator.add, operator.mul, operator.contains, operator.eq, operator.ne,
                   operator.lt, operator.le, operator.gt, operator.ge, operator.is_, len, list, list.copy, list.index,
                   list.count, iter, dict, set, frozenset, dict.copy, set.copy, set.union, set.intersection,
                   set.difference, set.issubset, set.issuperset, set.isdisjoint, operator.or_, operator.and_,
                   operator.sub, operator.xor))
_UNSEEN = ir.COUNTS | ir.ERRORS | ir.TABLES


def run(functions: list[ir.Function]) -> None:
    """functions: a module, the entry first."""
    early = {fn: _unwritten(fn) for fn in functions}
    late = set()  # functions that may be called after something was written
    changed = True
    while changed:
        changed = False
        for fn in functions:
            for block in fn.blocks:
                for inst in block.insts:
                    if inst.op is control.INVOKE and inst.attrs["callee"] not in late and (
                            fn in late or inst.unwind is not None or inst not in early[fn]):
                        late.add(inst.attrs["callee"])
                        changed = True
    looks = 0
    anew = False
    for n, fn in enumerate(functions):
        cyclic = None
        for block in fn.blocks:
            for inst in block.insts:
                if not _loads(inst) or _is_own(inst):
                    continue
                if fn not in late and inst in early[fn] and inst.unwind is None:
                    inst.attrs = {**inst.attrs, "anew": True}
                    anew = True
                elif looks >= 0 and inst.op.name != "field_get":  # a stub does not look behind attributes
                    cyclic = _cyclic(fn) if cyclic is None else cyclic
                    looks = -1 if n or block in cyclic else _SOME
    if anew or looks:
        functions[0].flags = functions[0].flags._replace(anew=anew, looks=looks)


def _loads(inst: ir.Inst) -> bool:
    return "anew" in inst.op.attrs


def _unwritten(fn: ir.Function) -> set[ir.Inst]:
    """The instructions before which a function has written nothing that outlives it."""
    aliases = Aliases(fn)
    blocks = reverse_postorder(fn)
    writes = {block: any([_seen(inst, aliases) for inst in block.insts]) for block in blocks}
    dirty: set[ir.Block] = set()
    work = [block for block in blocks if writes[block]]
    while work:
        for edge in work.pop().edges():
            if edge.block not in dirty:
                dirty.add(edge.block)
                work.append(edge.block)
    found = set()
    for block in blocks:
        if block not in dirty:
            for inst in block.insts:
                found.add(inst)
                if _seen(inst, aliases):
                    break
    return found


def _seen(inst: ir.Inst, aliases: Aliases) -> bool:
    """Whether an instruction writes something that may be looked at after the call."""
    if not ir.regions_written(aliases.effects(inst)) & ~_UNSEEN:
        return False
    if inst.op is containers.HEAP_PUSH:  # it compares, which runs methods of the program's classes
        return True
    if inst.op.stores is not None or inst.op is containers.LIST_POP or inst.op is memory.CELL_STORE or (
            inst.op.name == "field_set"):
        return not _is_fresh(inst.args[0])
    if inst.op is pyobject.PY_CALL:
        callee = inst.args[0].inst
        value = callee.attrs["value"] if callee is not None and callee.op is control.CONST else None
        return getattr(value, "__hash__", None) is None or value not in _READ
    if inst.op is pyobject.PY_API or inst.op is pyobject.PY_TEST:
        return pyobject.MEANINGS[inst.attrs["function"]] not in _READ or not all(map(_is_known, inst.args))
    written = aliases.written(inst)
    elements = ir.regions_written(aliases.effects(inst)) & ~_UNSEEN == ir.ELEMENTS
    return not (elements and written is not None and all([is_fresh(root_of(v)) for v in written]))


def _is_known(v: ir.Value) -> bool:
    """Whether an operand of the interpreter's is no object of a class of the program's."""
    return v.inst is not None and (v.inst.op is control.CONST or v.inst.op is pyobject.PY_BOX
                                   and not isinstance(v.inst.args[0].type, ObjectOf))


def _is_fresh(v: ir.Value) -> bool:
    while v.inst is not None and v.inst.op is RETYPE:
        v = v.inst.args[0]
    return v.inst is not None and (v.inst.op is memory.CELL_NEW or v.inst.op is memory.ITERATOR_NEW or (
        v.inst.op.name == "object_new") or bool(
        v.type.holder and v.inst.op.effects & ir.ALLOCATES and not v.inst.op.effects & ir.READS))


def _is_own(load: ir.Inst) -> bool:
    """Whether a load is from a list that is made here, of which all is known."""
    v = load.args[0]
    if load.op is pyobject.PY_UNBOX:
        return v.inst is not None and v.inst.op is control.CONST
    while v.inst is not None and v.inst.op is RETYPE:
        v = v.inst.args[0]
    return _is_fresh(v) or v.inst is not None and v.inst.op is pyobject.PY_UNBOX and not _is_own(v.inst)


def _cyclic(fn: ir.Function) -> set[ir.Block]:
    """The blocks that may run more than once in a call: those that lead to themselves."""
    found = set()
    for block in fn.blocks:
        seen, work = set(), [block]
        while work:
            for edge in work.pop().edges():
                if edge.block not in seen:
                    seen.add(edge.block)
                    work.append(edge.block)
        if block in seen:
            found.add(block)
    return found
