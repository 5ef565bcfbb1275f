"""List displays: which of them must be Python lists.

Most displays in numeric programs are only read: `np.array([1, 2])`, a shape, axes. Their type (`ListDisplay`) has the
types of all items; they are no objects, and cost nothing. A display must be a Python list if it is changed, stored in a
container, has a method called on it or is joined with another list. Most such uses are in the function with the display
(`changed`); where inference finds one elsewhere, it restarts (`mark`).
"""
from __future__ import annotations

from ..front.functions import REBUILDING
from ..ir import core as ir
from ..ir.uses import users as users_of
from ..ops import control, generic
from ..types.kinds import Composite, Dict, Function, ListDisplay, Union, all_parts, is_display
from .expressions import UserCall
from .meaning import UNKNOWN, NotNative, Restart

__all__ = ["VIEWS", "changed", "hands_on_keywords", "mark", "may_repeat", "only_hands_on", "read_only",
           "reads_constants", "replaced"]

VIEWS = ("get", "keys", "values", "items")  # the methods that read a dict
_MADE = (generic.LIST, generic.LIST_EXTEND, generic.UNPACK_EX)
# operation that needs a list -> which of its operands
_NEEDS = {generic.SETITEM: (0,), generic.DELITEM: (0,), generic.GETATTR: (0,), generic.INPLACE: (0,),
          generic.LIST_APPEND: (0, 1), generic.DICT_SET: (1, 2), generic.SETATTR: (1,), generic.MAKE_CELL: (0,),
          generic.CELL_SET: (1,)}


# instructions whose result may be a constant of the program
_FINDS = (generic.GLOBAL, generic.FREEVAR, generic.GETATTR, generic.GETITEM)


def changed(fn: ir.Function, shape) -> set[ir.Inst]:
    """The list displays of a function on which it does an operation that needs a list."""
    found = fn.memo.get("lists")
    if found is None:
        found = fn.memo["lists"] = _changed(fn, shape)
    return found


def read_only(fn: ir.Function, returned: bool) -> set[ir.Inst]:
    """The dict displays with constant texts as keys whose items are only read, as keywords of a call or by constant
    keys. The type of such a display has the types of all items; all other displays are dicts.

    returned: whether the result also has the displays that are only returned or passed to calls, alone or inside
    another such display."""
    name = "returned dicts" if returned else "dicts"
    found = fn.memo.get(name)
    if found is None:
        found = fn.memo[name] = _read_only(fn, returned)
    return found


def reads_constants(fn: ir.Function, inst) -> bool:
    """Whether the result of an instruction is only read by constant keys."""
    if inst.op not in _FINDS:
        return False
    texts = {one.result for block in fn.blocks for one in block.insts if one.op is control.CONST}
    for block in fn.blocks:
        for one in block.insts:
            if inst.result in one.args and not (
                    one.op is generic.GETITEM and one.args[0] is inst.result and one.args[1] in texts
                    and one.args[1] is not inst.result):
                return False
        if any(inst.result in edge.args for edge in block.edges()):
            return False
    return True


def hands_on_keywords(fn: ir.Function) -> bool:
    """Whether a function with a parameter `**rest` only passes it on as keywords, or reads items by constant keys."""
    return not _others(fn, {fn.entry.params[-1]}, _texts(fn))


def _texts(fn) -> set[ir.Value]:
    return {inst.result for block in fn.blocks for inst in block.insts
            if inst.op is control.CONST and type(inst.attrs["value"]) is str}


def _others(fn, values, texts) -> set[ir.Value]:
    """The values among `values`, which are dicts, that have other uses than as the keywords of a call or for reads of
    items by constant keys."""
    found: set[ir.Value] = set()
    for block in fn.blocks:
        for inst in block.insts:
            for n, x in enumerate(inst.args):
                if x in values and not (
                        inst.op is generic.DICT_MERGE and inst.attrs["unique"]
                        or inst.op is generic.CALL_STAR and n == 2 and inst.attrs["kwargs"]
                        or inst.op is generic.MAKE_FUNCTION  # the defaults of keyword-only parameters
                        or inst.op is generic.GETITEM and n == 0 and inst.args[1] in texts):
                    found.add(x)
        for edge in block.edges():
            found.update(x for x in edge.args if x in values)
    return found


def _handed_on(fn, texts) -> set[ir.Value]:
    """The values of the dict displays that a function only returns or passes to calls, alone or inside other displays,
    puts into new dicts, and reads by constant keys, through all of its variables."""
    users = users_of(fn.blocks)
    several = fn.memo.get("dicts of several types", ())
    return {x for x, inst in _displays(fn, True).items() if not (
        inst.op is generic.DICT_MERGE and inst.attrs["unique"]) and _is_handed_on(x, users, texts, set(), several)}


def _is_handed_on(x, users, texts, seen, several=()) -> bool:
    """several: the dicts that are also read in other ways: their values have several types, so that they have no
    derivative as objects (changed_dicts.py)."""
    if x in seen:
        return True
    seen.add(x)
    for inst in users.get(x, ()):
        inner = [p for e in inst.edges() for p, y in zip(e.block.params, e.args) if y is x]
        if x in several:
            several = {*several, *inner}
        if inst.op in (generic.TUPLE, generic.LIST, generic.DICT, generic.DICT_WITHOUT) or _makes_union(inst):
            inner.append(inst.result)
        elif x in inst.args and not (
                inst.op is control.RETURN or inst.op is generic.CALL and inst.args[0] is not x
                or inst.op is generic.GETITEM and inst.args[0] is x and inst.args[1] in texts
                or x in several and (inst.op in (generic.ITER, generic.COMPARE, generic.GETITEM)
                                     or inst.op is generic.GETATTR and inst.attrs["name"] in VIEWS)):
            return False
        if not all([_is_handed_on(y, users, texts, seen, several) for y in inner]):
            return False
    return True


def _makes_union(inst) -> bool:
    """Whether an instruction makes a new dict of the items of two, as `{**p, **q}` and `p | q`."""
    return inst.op is generic.DICT_MERGE and not inst.attrs["unique"] or (
        inst.op is generic.BINARY and inst.attrs["op"] == "|")


def only_hands_on(analysis, changed) -> bool:
    """Whether a function only hands on the dicts that it gets, as arguments and as results of calls, and reads them by
    constant keys. changed: its dicts for which new ones take their place."""
    fn = analysis.fn
    texts, users = _texts(fn), users_of(fn.blocks)
    given = [*fn.entry.params, *[inst.result for block in fn.blocks for inst in block.insts if inst.op is generic.CALL]]
    return all([_is_handed_on(x, users, texts, set()) for x in given
                if x in analysis.av and isinstance(analysis.av[x][0], Dict) and x not in changed])


def replaced(fn, returned: bool) -> bool:
    """Whether a function makes dict displays that it only hands on and reads by constant keys, where a variable may be
    one of several of them, as in a loop that replaces them, or one is made of another. returned: whether displays
    that it returns count, too."""
    made = {inst.result for inst in read_only(fn, True) - read_only(fn, False)}
    return bool(made) and any(
        _makes_union(inst) and not made.isdisjoint((*inst.args, inst.result))
        or inst.op is generic.CALL and inst.result in made and len(inst.args) > len(inst.attrs.get("kwnames") or ()) + 1
        or returned and inst.op in (control.RETURN, generic.TUPLE, generic.DICT) and not made.isdisjoint(inst.args)
        or any(not made.isdisjoint(e.args) for e in inst.edges()) for block in fn.blocks for inst in block.insts)


def _displays(fn, returned) -> dict[ir.Value, ir.Inst]:
    """The results of the instructions that make dicts whose keys may be constant texts. returned: whether `dict(a=x)`
    and `dict(p, a=x)` are such."""
    called = {inst.result for block in fn.blocks for inst in block.insts
              if returned and inst.op is generic.GLOBAL and inst.attrs["name"] == "dict"}
    return {inst.result: inst for block in fn.blocks for inst in block.insts
            if inst.op in (generic.DICT, generic.DICT_MERGE, generic.DICT_WITHOUT) or inst.op is generic.CALL
            and inst.args[0] in called and 1 < len(inst.args) <= len(inst.attrs.get("kwnames") or ()) + 2}


def _read_only(fn, returned) -> set[ir.Inst]:
    made = _displays(fn, returned)
    if not made:
        return set()
    texts = _texts(fn)
    others = _others(fn, made, texts) - (_handed_on(fn, texts) if returned else set())
    return {inst for x, inst in made.items() if x not in others and not (
        inst.op is generic.DICT and not texts.issuperset(inst.args[::2]))}


def _changed(fn, shape) -> set[ir.Inst]:
    wanted: list = []
    into: dict[ir.Value, list[ir.Value]] = {}  # parameter of a block -> the values that it may have
    for block in fn.blocks:
        for inst in block.insts:
            wanted += [inst.args[k] for k in _NEEDS.get(inst.op, ()) if k < len(inst.args)]
        for edge in block.edges():
            for param, arg in zip(edge.block.params, edge.args):
                into.setdefault(param, []).append(arg)
    found: set[ir.Inst] = set()
    seen: set = set()
    while wanted:
        value = wanted.pop()
        if value in seen:
            continue
        seen.add(value)
        wanted += into.get(value, ())
        inst = shape.definitions.get(value)
        if inst is None:
            continue
        if inst.op in _MADE:
            found.add(inst)
        if inst.op is generic.ELEMENT:  # unpacking in an assignment to several names
            wanted.append(inst.args[0])
        elif inst.op in (generic.LIST, generic.LIST_EXTEND, generic.TUPLE):
            wanted += inst.args
    return found


def mark(analysis, block, inst):
    """Find the displays from which the operands of an instruction come that needs lists, and restart inference."""
    findings = analysis.session.findings
    before = len(findings.lists)
    seen: set = set()
    values = inst.uses()
    known = all([_follow(analysis, value, seen) for value in values])
    if len(findings.lists) == before:
        if findings.every:
            # no display is left, so the list is part of an argument (lib/trees.py)
            raise NotNative("a list among the arguments of a function that is differentiated or batched is not changed "
                            "there, nor used as an object", "return a new list, or write into an array")
        findings.every = True
    elif not known:
        findings.every = True
    raise Restart


def may_repeat(analysis, value) -> bool:
    """Whether one list display may occur at several places in a value. Then it must become one Python list, since the
    places share it."""
    t = analysis.av[value][0] if value in analysis.av else None
    if t is None or len([part for part in all_parts(t) if isinstance(part, ListDisplay)]) < 2:
        return False
    found = _sources(analysis, value, set())
    return found is None or _overlap(found)


def _overlap(places) -> bool:
    """Whether one of the places, see `_sources`, is another of them, or inside another."""
    return any([one[:len(other)] == other for n, one in enumerate(places) for m, other in enumerate(places) if n != m])


def _returns_new_lists(analysis, inst) -> bool:
    """Whether `inst` calls a NumPy function, a transform, or a derivative or batch that a transform has returned, whose
    result contains new lists without other references."""
    if inst.op is not generic.CALL or inst.args[0] not in analysis.av:
        return False
    t, value = analysis.av[inst.args[0]]
    if (t.proto.code if type(t) is Function else getattr(value, "__code__", None)) in REBUILDING:
        return True
    module = str(getattr(value, "__module__", ""))
    return module.partition(".")[0] == "numpy" or module in (
        "pyjitc.lib.derivatives", "pyjitc.lib.transforms", "pyjitc.lib.trees", "pyjitc.api.derivatives")


def _sources(analysis, value, seen) -> list | None:
    """The origins of the lists in a value, an entry for each place in the value where a list may be: the instruction
    that makes the list, followed by the keys that lead to it in the result of a call. None if one is not known."""
    av = analysis.av.get(value)
    if av is None or not is_display(av[0]):
        return []
    inst = analysis.shape.definitions.get(value)
    if inst is None:  # a parameter of a block has another value on each incoming edge
        ways = [edge.args[block.params.index(value)] for block in analysis.fn.blocks if value in block.params
                for edge in analysis.incoming.get(block, ())]
        if not ways or value in seen:
            return None
        given: set = set()
        for way in ways:
            one = _sources(analysis, way, {*seen, value})
            if one is None or _overlap(one):
                return None
            given.update(one)
        return list(given)
    item = _item(analysis, inst)
    if item is not None:
        value, key = item
        whole = _sources(analysis, value, seen)
        if whole is None or len(whole) != 1 or not _returns_new_lists(analysis, whole[0][0]):
            return None
        return [(*whole[0], key)]
    if inst.op is not generic.LIST and inst.op is not generic.TUPLE:
        return [(inst,)] if _returns_new_lists(analysis, inst) or inst.op in _MADE and not any(
            is_display(analysis.av[x][0]) for x in inst.args) else None
    found: list = [(inst,)] if inst.op is generic.LIST else []
    for arg in inst.args:
        one = _sources(analysis, arg, seen)
        if one is None:
            return None
        found += one
    return found


def _item(analysis, inst) -> tuple | None:
    """(the value of which an instruction takes an item, the key of the item), where the key is known."""
    if inst.op is generic.GETITEM and analysis.av[inst.args[1]][1] is not UNKNOWN:
        return inst.args[0], analysis.av[inst.args[1]][1]
    made = analysis.shape.definitions.get(inst.args[0]) if inst.op is generic.ELEMENT else None
    return (made.args[0], inst.attrs["index"]) if made is not None and made.op is generic.UNPACK else None


def _follow(analysis, value, seen) -> bool:
    """Mark the displays from which the lists in `value` may come. Returns False if not all of them are found."""
    av = analysis.av.get(value)
    if av is None or not is_display(av[0]) or (analysis, value) in seen:
        return True
    seen.add((analysis, value))
    inst = analysis.shape.definitions.get(value)
    if inst is None:
        return _into(analysis, value, seen)
    if inst.op in _MADE:
        if not analysis.spec.proto.library:
            analysis.session.findings.lists.add(inst)
    elif inst.op is generic.CALL:
        callee = analysis.meaning.get(inst)
        if type(callee) is not UserCall or callee.spec.analysis is None or callee.spec.proto.library:
            return False
        made = callee.spec.analysis
        if not all([_follow(made, one.args[0], seen) for one in made.returns]):
            return False
    elif not isinstance(av[0], (Composite, Union)) or inst.op not in (generic.TUPLE, generic.ELEMENT):
        return False
    return all([_follow(analysis, arg, seen) for arg in inst.args])


def _into(analysis, param, seen) -> bool:
    """As `_follow`, for the values of a parameter of a block."""
    for block in analysis.fn.blocks:
        if param not in block.params:
            continue
        k = block.params.index(param)
        if block is not analysis.fn.entry:
            return all([_follow(analysis, edge.args[k], seen) for edge in analysis.incoming.get(block, ())])
        found = bool(analysis.spec.dependents)
        for caller, where in analysis.spec.dependents or ():
            for inst in where.insts:
                if inst.op not in _MADE and inst.op is not generic.TUPLE:
                    found = all([_follow(caller, arg, seen) for arg in inst.args]) and found
        return found
    return False
