"""Prepare a function for differentiation: inline all that it calls, and simplify it."""
from __future__ import annotations

from typing import Callable

from ...ir.core import RANDOM, Block, Function, Inst, Value
from ...ops import structure as s
from ...ops.control import BRANCH, INVOKE, JUMP, SWITCH
from ...ops.derivative import Ruled
from ...ops.nest import NESTS
from ...ops.objects import FIELD_SET
from ...ops.pyobject import PY_API, PY_CALL
from ...types import kinds as k
from ...types.tangents import holds_display
from .. import dce, gvn, independent, inline, latches, messages, nests, ranges, simplify, unroll
from ..rewrite import copy_of, substitute
from .activity import Activity, has_rule
from .builder import Builder, refused
from .recursion import give_rules, pack_closures, with_closures, without_closures
from .ruled import has_one_value
from .opened import name_arrays_once, open_cells, open_unions, put_in_order, take_parts_again
from .owned import open_owned
from .targets import store_into_parameter, writer

# the most operations to which a loop over a tuple with items of several types may be unrolled
_MOST_UNROLLED = 5_000

__all__ = ["calls_itself", "put_in_calls", "canonicalise", "to_be_put_in", "whole"]


def whole(fn: Function, options, before: Callable, keeps_nests: bool, staying: set[Function],
          helpers: Callable, again: bool = False) -> Function:
    """A copy of a function in which all calls are inlined that can be. before: called first with each function that it
    reaches; keeps_nests: whether the nests that reverse mode knows remain; staying: the functions that are not inlined,
    since they have derivatives of their own, are added to it; again: the derivative is differentiated itself."""
    reached = [fn]
    for one in reached:  # appended to during the iteration
        before(one)
        reached += [callee for callee in inline.callees(one) if callee not in reached]
        if type(one.memo.get("rules")) is Ruled:
            if one.memo["rules"].repeats:
                _check_repeatable(one)
            if not one.flags.noinline:
                one.flags = one.flags._replace(noinline=True)
                staying.add(one)
    for one in reached:
        if type(one.memo.get("rules")) is Ruled:
            _check_keeps_arguments(one, options)
    new = copy_of(fn)
    module = _put_in_all(new, options)
    if new.flags.parallel:
        for early in (messages, simplify, latches):  # gives counted loops their normal form
            early.run(new, options)
    independent.run(new)
    for block in new.blocks:
        if block.terminator.attrs.get("independent") == "prange":
            block.terminator.attrs = {**block.terminator.attrs, "independent": "kept"}
    for one in module:
        for inst in (inst for block in one.blocks for inst in block.insts if inst.op in NESTS):
            # this attribute would fuse two products into one call, which has no derivative rule
            inst.attrs = {name: x for name, x in inst.attrs.items() if name != "beside"}
    if not keeps_nests and any(inst.op in NESTS for one in module for block in one.blocks for inst in block.insts):
        nests.run(module, options, again)
    _open_trees(new, options)
    while any([open_cells(new), open_owned(new, helpers), open_unions(new)]):
        inline.run([new], options)
        _open_trees(new, options)
        if name_arrays_once(new):
            canonicalise(new, options)
    if keeps_nests and put_in_order(new, helpers):
        inline.run([new], options)
        canonicalise(new, options)
    if keeps_nests and take_parts_again(new):
        canonicalise(new, options)
    return new


def _open_trees(new: Function, options) -> None:
    """Let trees be tuples of numbers and arrays, and write loops over items of several types out."""
    if _holds_displays(new):
        canonicalise(new, options)  # iterators over them are opened
        if _displays_as_tuples(new):
            canonicalise(new, options)
    _open_items(new)
    canonicalise(new, options)
    if any(map(_has_items_of_several_types, new.blocks)):
        unroll.unroll(new, lambda loop: any(map(_has_items_of_several_types, loop.blocks)), _MOST_UNROLLED)
        canonicalise(new, options)


def _put_in_all(new: Function, options) -> list[Function]:
    """Inline all calls that can be. Returns the functions that remain."""
    copies: dict[Function, Function] = {}
    while True:
        module = inline.run([new], options)
        found = False
        for one in module:
            for inst, block in [(inst, block) for block in one.blocks for inst in block.insts if inst.op is INVOKE]:
                callee = inst.attrs["callee"]
                if callee.library or callee in copies.values():
                    continue
                if calls_itself(callee):
                    if with_closures(callee):
                        callee = inst.attrs["callee"] = without_closures(callee, calls_itself)
                        pack_closures(inst, block)
                        found = True
                    give_rules(callee)
                    if type(callee.memo.get("rules")) is Ruled:
                        _check_repeatable(callee)
                else:
                    if callee not in copies:
                        copies[callee] = to_be_put_in(callee)
                    inst.attrs["callee"] = copies[callee]
                    found = True
        if not found:
            break
    return module


def _check_keeps_arguments(fn: Function, options) -> None:
    """Refuse a function with derivatives of its own that writes into its arguments: its rules do not say what the
    derivative of that is."""
    new = copy_of(fn)
    _put_in_all(new, options)
    put_in_calls(new, new.params, options, lambda nest: False)
    inst = store_into_parameter(new)
    if inst is not None:
        raise refused(new, inst, "a function with a derivative of its own, or under pyjitc.checkpoint, writes into an "
                      "array that it is given, or that it captures",
                      "write into a copy, and return that: a = a.copy()")


def _check_repeatable(fn: Function) -> None:
    """Refuse a function that its derivative runs again if it draws random numbers: it would draw others; and if it
    assigns attributes, which it would assign again."""
    found = writer(fn, RANDOM)
    if found is not None:
        inst = found[1]
        called = _reached(inst.attrs["callee"]) if inst.op is INVOKE else []
        if any(i.op is FIELD_SET for i in (inst, *(i for one in called for block in one.blocks for i in block.insts))):
            raise refused(*found, "the derivative runs this function again, since it is under pyjitc.checkpoint or "
                          "calls itself, and it assigns an attribute of an object here, which is not differentiated "
                          "yet", "use numbers, arrays and tuples in this function")
        if any(i.op in (PY_CALL, PY_API) for i in (inst, *(
                i for one in called for block in one.blocks for i in block.insts))):
            raise refused(*found, "the derivative runs this function again, since it is under pyjitc.checkpoint or "
                          "calls itself, and it lets the interpreter do this, which might draw random numbers or have "
                          "another effect a second time",
                          "do it before the call, and pass its result as an argument")
        raise refused(*found, "the derivative runs this function again, since it is under pyjitc.checkpoint or calls "
                      "itself, and it draws random numbers here, which would be others",
                      "draw them before the call, and pass them as arguments")


def to_be_put_in(fn: Function) -> Function:
    """A copy of a function that is to be inlined; instructions in it that may fail keep their source location."""
    new = copy_of(fn)
    new.flags = new.flags._replace(inline=True)
    inline.note_origin(new)
    return new


def _reached(fn: Function) -> list[Function]:
    """The function, and then all that it calls."""
    found = [fn]
    for one in found:  # appended to during the iteration
        found += [callee for callee in inline.callees(one) if callee not in found]
    return found


def calls_itself(fn: Function) -> bool:
    return any(fn in inline.callees(one) for one in _reached(fn))


def put_in_calls(fn: Function, varied: list[Value], options, written_out: Callable, again: bool = False) -> None:
    """Inline the library functions that were left as calls, where an active value goes through them and they have no
    rule of their own. written_out: whether a nest becomes loops; again: see `whole`."""
    for _ in range(20):
        if any(inst.op in NESTS and written_out(inst) for block in fn.blocks for inst in block.insts):
            nests.write_out(fn, written_out, again)
            canonicalise(fn, options)
        active = Activity(fn, varied, check=False)
        wanted = {inst.attrs["callee"] for block in fn.blocks for inst in block.insts
                  if inst.op is INVOKE and not has_rule(inst) and inst.attrs["callee"].library
                  and any(x in active for x in inst.args)}
        wanted = {callee for callee in wanted if not calls_itself(callee)}
        if not wanted:
            return
        for callee in wanted:
            callee.flags = callee.flags._replace(noinline=False)
        inline.run([fn], options)
        canonicalise(fn, options)


def _holds_displays(fn: Function) -> bool:
    return any(inst.op is s.STRUCT_MAKE and holds_display(inst.result.type) for block in fn.blocks
               for inst in block.insts)


def _displays_as_tuples(fn: Function) -> bool:
    """Let list and dict displays, which trees of arguments are rebuilt as, be tuples. Returns whether there are any.
    Before:  d = struct_make w, b {type: {'w': .., 'b': ..}} ; x = struct_get d {field: 'b'}
    After:   d = tuple_make w, b                             ; x = tuple_get d {index: 1}"""
    insts = [inst for block in fn.blocks for inst in block.insts]
    values = [*(p for block in fn.blocks for p in block.params), *(i.result for i in insts if i.result is not None)]
    held = {v for v in values if holds_display(v.type)}
    trees = all(type(v.type) in (k.ListDisplay, k.DictDisplay, k.Tuple) for v in held)
    if not held or not trees or any(inst.op not in _OF_DISPLAYS and inst.op not in (JUMP, BRANCH, SWITCH)
                       and (inst.result in held or any(x in held for x in inst.args)) for inst in insts):
        return False
    for inst in insts:
        if inst.op is s.STRUCT_GET and inst.args[0] in held:
            inst.op, inst.attrs = s.TUPLE_GET, {"index": inst.args[0].type.place(inst.attrs["field"])}
    for inst in insts:
        if inst.result in held:
            if inst.op is s.STRUCT_MAKE:
                inst.op, inst.attrs = s.TUPLE_MAKE, {"cls": None}
            elif "type" in inst.attrs:
                inst.attrs = {**inst.attrs, "type": _as_tuple(inst.attrs["type"])}
    for v in held:
        v.type = _as_tuple(v.type)
    return True


_OF_DISPLAYS = frozenset((s.STRUCT_MAKE, s.STRUCT_GET, s.TUPLE_MAKE, s.TUPLE_GET, s.TUPLE_AT, s.UNDEF))


def _as_tuple(t):
    if type(t) in (k.ListDisplay, k.DictDisplay):
        return k.Tuple(map(_as_tuple, t.parts))
    return k.Tuple(map(_as_tuple, t.elements), t.cls) if type(t) is k.Tuple else t


def _open_items(fn: Function) -> None:
    """Where an indexed item is a tuple itself, or a function with what it captures, index its parts one by one; where
    the items are arrays of several types, let them have the type of the result.
    Before:  p = tuple_at ((a, b), (c, d)), i        After:  p = (tuple_at (a, c), i), (tuple_at (b, d), i)"""
    for block in fn.blocks:
        if not any(i.op is s.TUPLE_AT and _is_opened(i) for i in block.insts):
            continue
        insts, block.insts = block.insts, []
        b = Builder(block.insts)
        replace: dict[Value, Value] = {}
        for inst in insts:
            if inst.op is s.TUPLE_AT and _is_opened(inst):
                b.at(inst)
                replace[inst.result] = _item_at(b, [_part(b, inst.args[0], n) for n in range(
                    len(inst.args[0].type.elements))], inst, inst.result.type)
            else:
                block.insts.append(inst)
        substitute(fn.blocks, replace)


def _is_opened(inst: Inst) -> bool:
    t = inst.result.type
    return _is_made_of_parts(t) or type(t) is k.Array and any(x is not t for x in inst.args[0].type.elements)


def _is_made_of_parts(t) -> bool:
    return type(t) is k.Tuple or type(t) is k.Function and not has_one_value(t)


def _part(b, x, n):
    made, (op, _) = x.inst, s.maker(x.type)
    if made is not None and made.op is op:
        return made.args[n]
    op, attrs, _ = s.takers(x.type)[n]
    return b.op(op, x, **attrs)


def _has_items_of_several_types(block: Block) -> bool:
    """Whether a block indexes a tuple whose items are objects, or differ in more than the order of their elements in
    memory."""
    for inst in block.insts:
        if inst.op is s.TUPLE_AT and isinstance(inst.result.type, k.ObjectOf):
            return True
        if inst.op is s.TUPLE_AT and type(inst.result.type) is k.Union:
            if len({(t.dtype, t.ndim) if type(t) is k.Array else t for t in inst.result.type.members}) > 1:
                return True
    return False


def _item_at(b, items, inst, t):
    """One of `items` for the index of a tuple_at whose result has type t."""
    if not _is_made_of_parts(t):
        if type(t) is k.Array:
            items = [x if x.type is t else b.op(s.RETYPE, x, type=t) for x in items]
        return b.op(s.TUPLE_AT, b.op(s.TUPLE_MAKE, *items, cls=None), inst.args[1])
    parts = [_item_at(b, [_part(b, x, n) for x in items], inst, part) for n, part in enumerate(t.parts)]
    op, attrs = s.maker(t)
    return b.op(op, *parts, **attrs)


def canonicalise(fn: Function, options) -> None:
    for one in (messages, simplify, latches, gvn, ranges, gvn, dce, simplify, simplify, latches, dce):
        one.run(fn, options)
