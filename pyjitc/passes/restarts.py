"""Mark the loads from containers at which the call has written nothing yet that outlives it, so that it can restart.

Runs last, over the functions of a module together. A load guards the class of the item against the types that the code
was compiled for (ops/containers.py). Where the guard fails and the call has had no visible effect yet, the call is
deoptimised: it starts again (`restart`), in code that is compiled for what the arguments hold. After a write that is
too late; then the stub checks the items of the arguments before the call: all of them where the load is in a loop, else
the first thousand (`FunctionFlags.looks`).
Under `jit` the same is done where an int leaves 64 bits before anything was written: the interpreter repeats the call,
with ints of any length (the attribute `redo`).
Before:  x = list_get l, i ; list_set l, j, x      After:  x = list_get {restart: True} l, i ; list_set l, j, x
Needs: nothing.  Keeps: everything but that attribute of loads and the flags of the first function.
"""
from __future__ import annotations

import operator
from collections import Counter, deque
from typing import Callable, NamedTuple

from ..ir import core as ir
from ..ir.cfg import blocks_after, closure, predecessors, reverse_postorder, successors
from ..ops import containers, control, exceptions, memory, pyobject, structure, tables
from ..ops.structure import RETYPE
from ..types.classes import is_fixed
from ..types.kinds import Bytes, Container, DictView, Object, ObjectOf, Str, Tuple, TupleOf, Type, any_part, is_number
from .alias import Aliases, is_fresh, root_of

__all__ = ["run"]

_SOME = 1024  # items of a list that the stub checks where each load runs once
# Functions without effects, unless classes of the program have methods that they call.
_READ = frozenset((operator.getitem, operator.add, operator.mul, operator.contains, operator.eq, operator.ne,
                   operator.lt, operator.le, operator.gt, operator.ge, operator.is_, len, list, list.copy, list.index,
                   list.count, iter, dict, set, frozenset, dict.copy, set.copy, set.union, set.intersection,
                   set.difference, set.issubset, set.issuperset, set.isdisjoint, operator.or_, operator.and_,
                   operator.sub, operator.xor, deque.copy, deque.count, deque.index, tuple.count, tuple.index, reversed,
                   Counter.total))
# Functions without effects if their arguments are containers of numbers, texts and the like, or such values themselves;
# `set.update` where its first argument was made during the call.
_SILENT = frozenset((tuple, hash, set.update))
# Functions without effects if all their arguments are numbers, texts and the like.
_COMPUTED = frozenset((int, float, complex, str, repr, bool, abs, divmod, pow, round, int.from_bytes))
_LEAVES = frozenset((control.INVOKE,))  # a failure in a callee belongs to an instruction of the callee
# what a handler does before it compares classes, and on its way out
_PASSING = frozenset((exceptions.EXC_FETCH, exceptions.EXC_PUSH, exceptions.EXC_POP, memory.RELEASE, control.CONST))
_UNSEEN = ir.COUNTS | ir.ERRORS | ir.TABLES | ir.LISTS | ir.ITEMS


def run(functions: list[ir.Function], redo: bool = False) -> None:
    """functions: a module, the entry first. redo: whether the interpreter can repeat the calls of the entry."""
    own = _own_parameters(functions)
    read = _read_results(functions)
    silent = frozenset() if read else _SILENT
    aliases = {fn: Aliases(fn) for fn in functions}
    always = _largest(functions, lambda fn, found: any([
        _seen(inst, aliases[fn], _Quiet(found, found), own, silent) for block in fn.blocks for inst in block.insts]))
    quiet = _Quiet(always, always if len(always) == len(functions) else _largest(functions, lambda fn, found: any([
        _seen(inst, aliases[fn], _Quiet(always, found), own, silent) for block in _returning(fn)
        for inst in block.insts])))
    early = {fn: _unwritten(fn, aliases[fn], quiet, own, silent) for fn in functions}
    late = set()  # functions that may be called after a write
    changed = True
    while changed:
        changed = False
        for fn in functions:
            for block in fn.blocks:
                for inst in block.insts:
                    if inst.op is control.INVOKE and inst.attrs["callee"] not in late and (
                            fn in late or not _leaves(inst) or inst not in early[fn]):
                        late.add(inst.attrs["callee"])
                        changed = True
    looks = 0
    restart = False
    for n, fn in enumerate(functions):
        for block in fn.blocks:
            for inst in block.insts:
                if redo and inst.op.effects & ir.RAISES and fn not in late and inst in early[fn] and (
                        inst.op not in _LEAVES and _leaves(inst)):
                    inst.attrs = {**inst.attrs, "redo": True}
                    restart = True
                if not _loads(inst) or _is_own(inst):
                    continue
                if fn not in late and inst in early[fn] and _leaves(inst):
                    inst.attrs = {**inst.attrs, "restart": True}
                    restart = True
                elif looks >= 0 and not _reads_no_item(inst, read):
                    looks = -1 if n or block in blocks_after(block) else _SOME
    if restart or looks:
        functions[0].flags = functions[0].flags._replace(restart=restart, looks=looks)


class _Quiet(NamedTuple):
    """The functions that write nothing that outlives the call, and those that write nothing unless they raise."""

    always: set[ir.Function]
    returning: set[ir.Function]


def _largest(functions: list[ir.Function], is_loud: Callable) -> set[ir.Function]:
    """The functions of a module, even if they are recursive, that are not loud if those in the result are not."""
    quiet = set(functions)
    while loud := {fn for fn in quiet if is_loud(fn, quiet)}:
        quiet -= loud
    return quiet


def _returning(fn: ir.Function) -> dict[ir.Block, None]:
    """The blocks of a function from which it may return without an exception."""
    return closure([block for block in fn.blocks if block.insts[-1].op is control.RETURN],
                   predecessors(fn.blocks).__getitem__)


def _leaves(inst: ir.Inst) -> bool:
    """Whether a request to restart, raised by the instruction, leaves the function. The request is a BaseException and
    no Exception: each handler around the instruction must catch other classes only, and do nothing else on its path to
    raising again."""
    edge, matches = inst.unwind, set()
    seen: set[ir.Block] = set()
    while edge is not None:
        if edge.block in seen:
            return False
        seen.add(edge.block)
        for inst in edge.block.insts:
            if inst.op is exceptions.EXC_MATCH and BaseException not in inst.attrs["classes"]:
                matches.add(inst.result)
            elif inst.op is control.JUMP:
                edge = inst.targets[0]
            elif inst.op is control.BRANCH and inst.args[0] in matches:
                edge = inst.targets[1]
            elif inst.op is control.RERAISE:
                edge = inst.unwind
            elif inst.op not in _PASSING:
                return False
    return True


def _loads(inst: ir.Inst) -> bool:
    return "restart" in inst.op.attrs


def _reads_no_item(load: ir.Inst, read: bool) -> bool:
    """Whether a load is of an attribute, which a stub does not check, or of a container that the interpreter returns
    and from which nothing is read. read: whether the module reads from such containers. (A tuple is opened with its
    items.)"""
    if type(load.args[0].type) is ObjectOf:
        return True
    opened = load.attrs["type"] if load.op is pyobject.PY_UNBOX else None
    return not read and isinstance(opened, Container) and not isinstance(opened, TupleOf)


def _own_parameters(functions: list[ir.Function]) -> set[ir.Value]:
    """The parameters, of functions of the module, whose arguments at all calls are objects that are made during the
    call of the entry, together with all objects that these hold."""
    sites: list[ir.Inst] = []
    named = set(functions[:1])  # functions that are referred to other than by calls
    for fn in functions:
        for block in fn.blocks:
            for inst in block.insts:
                if inst.op is control.INVOKE:
                    sites.append(inst)
                else:
                    named.update([x for x in inst.attrs.values() if isinstance(x, ir.Function)])
    own = {p for fn in functions if fn not in named for p in fn.entry.params}
    while True:
        given = [p for inst in sites for p, x in zip(inst.attrs["callee"].entry.params, inst.args)
                 if p in own and not _is_fresh(x, own)]
        if not given:
            return own
        own -= set(given)


def _read_results(functions: list[ir.Function]) -> bool:
    """Whether a load may be from a container that a call of the interpreter has returned. Its items may be those of an
    argument, but the load does not restart the call, since they may come from elsewhere, too."""
    arguments = {*functions[0].entry.params}
    for fn in functions:
        for block in fn.blocks:
            for inst in block.insts:
                if _loads(inst) and inst.op is not pyobject.PY_UNBOX:
                    v = inst.args[0]
                    while v.inst is not None and v.inst.op is RETYPE:
                        v = v.inst.args[0]
                    if v not in arguments and (v.inst is None or _is_returned(v.inst)):
                        return True
    return False


def _unwritten(fn: ir.Function, aliases: Aliases, quiet: _Quiet, own: set[ir.Value],
               silent: frozenset) -> set[ir.Inst]:
    """The instructions of a function before which it has certainly written nothing that outlives the call."""
    blocks = reverse_postorder(fn)
    writes = {block: any([_seen(inst, aliases, quiet, own, silent) for inst in block.insts]) for block in blocks}
    dirty = closure([succ for block in blocks if writes[block] for succ in successors(block)], successors)
    found = set()
    for block in blocks:
        if block not in dirty:
            for inst in block.insts:
                found.add(inst)
                if _seen(inst, aliases, quiet, own, silent):
                    break
    return found


def _seen(inst: ir.Inst, aliases: Aliases, quiet: _Quiet, own: set[ir.Value], silent: frozenset) -> bool:
    """Whether an instruction writes something that can be observed after the call."""
    if inst.op is control.INVOKE and inst.attrs["callee"] in (
            quiet.returning if inst.unwind is None else quiet.always):
        return False
    if not ir.regions_written(aliases.effects(inst)) & ~_UNSEEN:
        return False
    if inst.op is exceptions.EXC_NEW and inst.attrs["cls"].__module__ == "builtins" and is_fixed(inst.attrs["cls"]):
        return False
    if inst.op is containers.HEAP_PUSH:  # comparisons may run methods of the program's classes
        return True
    if inst.op is containers.LIST_SORT and not all(map(_is_plain, inst.args[0].type.parameters)):
        return True  # sorting may run the same methods
    if inst.op is tables.ITER_NEW or inst.op is tables.ITER_NEXT:
        return not _is_over_container(inst)
    if inst.op.stores is not None or inst.op.traits & ir.WRITES_FIRST:
        return not _is_fresh(inst.args[0], own)
    if inst.op is pyobject.PY_CALL:
        callee = inst.args[0].inst
        value = callee.attrs["value"] if callee is not None and callee.op is control.CONST else None
        if type(value).__hash__ is None:
            return True
        if value in silent and (value is not set.update or _is_fresh(_boxed(inst.args[1]), own)):
            return not all([_is_plain(_boxed(x).type) and _holds_items(_boxed(x).type) for x in inst.args[1:]])
        return value not in _READ and not (value in _COMPUTED and all(map(_is_known, inst.args[1:])))
    if inst.op is pyobject.PY_API or inst.op is pyobject.PY_TEST:
        return pyobject.MEANINGS[inst.attrs["function"]] not in _READ or not all(map(_is_known, inst.args))
    written = aliases.written(inst)
    elements = ir.regions_written(aliases.effects(inst)) & ~_UNSEEN == ir.ELEMENTS
    return not (elements and written is not None and all([is_fresh(root_of(v)) or root_of(v) in own for v in written]))


def _is_over_container(inst: ir.Inst) -> bool:
    """Whether an instruction makes an iterator over a container, or advances one that was made during the call."""
    made = inst.args[0].inst if inst.op is tables.ITER_NEXT else inst
    return made is not None and made.op is tables.ITER_NEW and isinstance(made.args[0].type, (Container, DictView))


def _is_plain(t: Type) -> bool:
    """Whether values of a type are compared without methods of the program's classes."""
    return not any_part(t, lambda part: part is Object or isinstance(part, ObjectOf))


def _boxed(v: ir.Value) -> ir.Value:
    """The value that was boxed for `v`, an operand of a call of the interpreter."""
    while v.inst is not None and v.inst.op in (pyobject.PY_BOX, containers.HOLDS):
        v = v.inst.args[0]
    return v


def _holds_items(t: Type) -> bool:
    """Whether values of a type are no iterators, which a call would change."""
    return isinstance(t, (Container, Tuple)) or is_number(t) or t is Str or t is Bytes


def _is_known(v: ir.Value) -> bool:
    """Whether an operand of a call of the interpreter is known not to be an object of a class of the program."""
    return v.inst is not None and (v.inst.op is control.CONST or v.inst.op is pyobject.PY_BOX
                                   and not isinstance(v.inst.args[0].type, ObjectOf))


def _is_fresh(v: ir.Value, own: set[ir.Value] | frozenset = frozenset()) -> bool:
    """Whether a value is made during the call, together with all objects that can be changed through it."""
    while v.inst is not None and (v.inst.op is RETYPE or v.inst.op.traits & ir.UNPACKS):
        v = v.inst.args[0]
    if v.inst is None:
        return v in own
    if v.inst.op.traits & ir.PACKS:
        return all([not x.type.refcounted or _is_fresh(x, own) for x in v.inst.args])
    return v.inst.op is memory.CELL_NEW or v.inst.op is memory.ITERATOR_NEW or bool(
        (v.type.holder or type(v.type) is ObjectOf)
        and v.inst.op.effects & ir.ALLOCATES and not v.inst.op.effects & ir.READS)


def _is_own(load: ir.Inst) -> bool:
    """Whether a load is from a list that is made here, so that the types of its items are known."""
    v = load.args[0]
    if "what" in load.attrs:  # it unboxes the result of another load
        while v.inst is not None and v.inst.op is structure.TUPLE_GET:
            v = v.inst.args[0]
        return v.inst is not None and _loads(v.inst) and _is_own(v.inst)
    if load.op is pyobject.PY_UNBOX:
        return v.inst is not None and v.inst.op is control.CONST
    while v.inst is not None and v.inst.op is RETYPE:
        v = v.inst.args[0]
    return _is_fresh(v) or v.inst is not None and _is_returned(v.inst) and not _is_own(v.inst)


def _is_returned(inst: ir.Inst) -> bool:
    """Whether an instruction unboxes the result of a call of the interpreter."""
    return inst.op is pyobject.PY_UNBOX and "what" not in inst.attrs
