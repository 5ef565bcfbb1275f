"""Which arrays an instruction may write into."""
from __future__ import annotations

from ...ir.cfg import blocks_after
from ...ir.core import ELEMENTS, HOST, SAME_MEMORY, VIEW, Block, Edge, Function, Inst, Value, regions_written
from ...ir.uses import live_in, passed
from ...ops import memory as mem
from ...ops.containers import LIST_SORT
from ...ops.control import CONST, INVOKE
from ...ops.exceptions import EXC_THROW, THROW
from ...ops.nest import NEST, NEST_INTO, NESTS, kernels
from ...ops.objects import FIELD_SET
from ...ops.structure import CHOOSE, SELECT, TUPLE_AT, TUPLE_GET, TUPLE_MAKE
from ...ops.pyobject import PY_API, PY_BOX, PY_CALL
from ...runtime.repeatable import is_on_operands
from ...types.kinds import Array, Container, NoneType, Slice, Str, Tuple, Union, all_parts, any_part, is_number
from .activity import Classes, arrays_behind, holds_memory, written

__all__ = ["among_parameters", "paths_of_arrays", "read_under_others", "store_into_parameter", "targets", "writer",
           "writes_only", "written_again", "written_later", "written_parameters", "written_places"]

_MOVING = (TUPLE_GET, TUPLE_MAKE, TUPLE_AT)  # besides SAME_MEMORY: the result may be an array that an operand holds


def targets(inst: Inst) -> list[Value]:
    op = inst.op
    if op is mem.ARRAY_STORE or op is mem.ROW_COPY:
        return inst.args[:1]
    if op is NEST_INTO:
        return inst.args[1:2]
    if op is INVOKE and "rules" in inst.attrs["callee"].memo:
        return [inst.args[n] for n in inst.attrs["callee"].memo["rules"].writes]
    if op is INVOKE and (inst.attrs["callee"].flags.returns or inst.attrs["callee"].flags.only_checks):
        return []
    if op is PY_CALL:
        return [x for x in written(inst)[0] if type(x.type) is Array]
    if regions_written(op.effects) & ELEMENTS and op is not FIELD_SET:  # it stores the reference
        return arrays_behind(inst)
    return []


def written_again(fn: Function, classes: Classes) -> set[Value]:
    """The classes of arrays that are written into where several names may stand for one array: not those whose arrays
    are all filled where they are made, before they are passed on, chosen or packed."""
    home = {x: block for block in fn.blocks for x in block.values()}
    parts: dict[Value, list[Inst]] = {}  # array -> the instructions that it is an operand of
    for block in fn.blocks:
        for inst in block.insts:
            for x in dict.fromkeys(inst.uses()):
                if type(x.type) is Array:
                    parts.setdefault(x, []).append(inst)
    where = {inst: (block, n) for block in fn.blocks for n, inst in enumerate(block.insts)}

    def namings(x):
        """The instructions whose result or block parameter may be the same array, or a part of it."""
        for inst in parts.get(x, ()):
            if inst.op.traits & VIEW:
                yield from namings(inst.result)
            elif inst.targets or inst.unwind or inst.result is not None and (
                    inst.op in _MOVING or inst.op.traits & SAME_MEMORY or holds_memory(inst.result.type)):
                yield inst

    def is_filled_first(x, write):
        while x.inst is not None and x.inst.op.traits & VIEW:
            x = x.inst.args[0]
        if x.inst is None or x.inst.op is not mem.ARRAY_NEW:
            return False
        at, n = where[write]
        for block, m in map(where.__getitem__, namings(x)):
            if block is at and m < n:
                return False
            if at in blocks_after(block, (home[x],)):
                return False
        return True

    found: set[Value] = set()
    for inst in where:
        for x in targets(inst):
            if classes.of(x) not in found and not is_filled_first(x, inst):
                found.add(classes.of(x))
    return found


def names_behind(edge: Edge, names: set[Value]) -> set[Value]:
    """The names that an array has at the start of the block that an edge leads to."""
    found = {p for p, x in zip(edge.block.params, edge.args) if x in names}
    return found | names.difference(edge.block.params)


def written_later(block: Block, first: int, names: set[Value], classes: Classes) -> bool:
    """Whether an array may be written into from an instruction of a block on, under one of the names that it has there
    or under one that it gets later. (A name stands for another array as soon as it is defined again, in the next trip
    of a loop.)"""
    own = {classes.of(x) for x in names}
    known: dict[Block, set[Value]] = {}  # block -> the names at its start
    work = [(block, first, names)]
    while work:
        block, first, given = work.pop()
        names = set(given)
        for inst in block.insts[first:]:
            r = inst.result
            into = {x for x in targets(inst) if classes.of(x) in own}
            uses = names.intersection(inst.uses())
            if into & names or into and uses and inst.op in (INVOKE, PY_CALL):
                return True
            names.discard(r)
            if r is not None and uses and classes.of(r) in own and not _is_new(inst):
                names.add(r)
        for e in block.edges():
            found = names_behind(e, names)
            if e.block not in known or not found <= known[e.block]:
                known[e.block] = found | known.get(e.block, set())
                work.append((e.block, 0, known[e.block]))
    return False


def read_under_others(fn: Function, edge: Edge, names: set[Value], classes: Classes) -> bool:
    """Whether an array that an edge passes on may be written into under one of the names that it has there, or gets
    later, and used after that under another one. names: those that it has before the edge, views among them. Names that
    come from the same parameter of the edge's block, or from none, count as one."""
    own = {classes.of(x) for x in names}
    live = live_in(fn, lambda x: classes.of(x) in own)

    def is_used_after(y, block, n):
        return any([y in inst.uses() for inst in block.insts[n + 1:]]) or any(
            [y in live[e.block] for e in block.edges()])

    known: dict[Block, dict[Value, frozenset]] = {}  # block -> name at its start -> the names at the edge behind it
    start: dict[Value, frozenset] = {x: frozenset((None,)) for x in names if x not in edge.block.params}
    start.update({p: frozenset((p,)) for p, x in zip(edge.block.params, edge.args) if x in names})
    work = [(edge.block, start)]
    while work:
        block, given = work.pop()
        at = dict(given)
        for n, inst in enumerate(block.insts):
            into = {x for x in targets(inst) if classes.of(x) in own}
            uses = at.keys() & set(inst.uses())
            written = into & at.keys() or (uses if into and inst.op in (INVOKE, PY_CALL) else set())
            behind = frozenset().union(*[at[x] for x in written])
            if len(behind) > 1 or behind and any(
                    [not old <= behind and is_used_after(y, block, n) for y, old in at.items()]):
                return True
            r = inst.result
            at.pop(r, None)
            if r is not None and uses and classes.of(r) in own and not _is_new(inst):
                at[r] = frozenset().union(*[at[x] for x in uses])
        for e in block.edges():
            found = {x: old for x, old in at.items() if x not in e.block.params}
            found.update({p: at[x] for p, x in zip(e.block.params, e.args) if x in at})
            before = known.get(e.block, {})
            merged = {x: before.get(x, frozenset()) | found.get(x, frozenset()) for x in (*before, *found)}
            if merged != before:
                known[e.block] = merged
                work.append((e.block, merged))
    return False


def _is_new(inst: Inst) -> bool:
    """Whether the result of an instruction is an array that it makes."""
    return inst.op in (mem.ARRAY_NEW, mem.ARRAY_COPY, NEST) or (
        inst.op is INVOKE and inst.attrs["callee"].flags.returns in ("new", "copy"))


def writes_only(inst: Inst, regions: int, seen: set[Function] | None = None) -> bool:
    """Whether an instruction, and all that it calls, writes into no other regions of memory than these."""
    seen = set() if seen is None else seen
    if inst.op is INVOKE:
        inner = [inst.attrs["callee"]]
    elif inst.op in NESTS:
        inner = list(kernels(inst.attrs["tree"]))
    else:
        return not regions_written(inst.op.effects) & ~regions
    for fn in inner:
        if fn not in seen:
            seen.add(fn)
            if not all([writes_only(one, regions, seen) for block in fn.blocks for one in block.insts]):
                return False
    return True


def writer(fn: Function, region: int, seen: set[tuple[Function, bool]] | None = None,
           raising: bool = False) -> tuple[Function, Inst] | None:
    """The first instruction that writes into a region, and the function of the program that it is in. Instructions that
    only make an exception which leaves the function, such as those that format its message, do not count. raising: the
    function is called only for that."""
    seen = set() if seen is None else seen
    seen.add((fn, raising))
    for block in fn.blocks:
        raises = raising or block.terminator.op in (THROW, EXC_THROW) and not block.terminator.edges()
        for inst in block.insts:
            if inst.op is INVOKE:
                callee = inst.attrs["callee"]
                found = None if (callee, raises) in seen else writer(callee, region, seen, raises)
                if found is not None:
                    return (fn, inst) if callee.library else found
            elif not writes_only(inst, ~region) and not (raises and inst.op.effects & HOST and inst.op is not PY_CALL):
                if not _works_on_data(inst):
                    return fn, inst
    return None


def _works_on_data(inst: Inst) -> bool:
    """Whether an operation of the interpreter has numbers, arrays and built-in containers of these as operands, and
    runs no code of the program: functions that say so (runtime/repeatable.py), and operators."""
    if inst.op is LIST_SORT:
        return _is_data(inst.args[0].type)
    if inst.op is PY_CALL:
        return all([_is_boxed_data(x) or x.inst is not None and x.inst.op is CONST and is_on_operands(
            x.inst.attrs["value"]) for x in inst.args])
    return inst.op is PY_API and all(map(_is_boxed_data, inst.args))


def _is_boxed_data(x: Value) -> bool:
    made = x.inst
    return made is not None and (made.op is CONST and isinstance(made.attrs["value"], (int, float, complex, str)) or
                                 made.op is PY_BOX and _is_data(made.args[0].type))


def _is_data(t) -> bool:
    return all([isinstance(part, (Array, Container, Tuple, Slice, Union)) or is_number(part) or part in (Str, NoneType)
                for part in all_parts(t)])


def written_parameters(fn: Function) -> set[Value]:
    """The parameters that are arrays which may be written into, and the tuples that hold such arrays."""
    return {p for p, _ in written_places(fn)}


def store_into_parameter(fn: Function) -> Inst | None:
    """An instruction that writes into an array which may be a parameter, or an item of one."""
    written = written_places(fn)
    if written:
        incoming = passed(fn.blocks)
        for block in fn.blocks:
            for inst in block.insts:
                arrays = targets(inst)
                if arrays and _among(written, arrays, incoming, set(fn.params)):
                    return inst
    return None


def among_parameters(fn: Function, values, through_calls: bool) -> bool:
    """Whether one of these arrays and tuples may be a parameter, or a part of one, or hold one. through_calls: calls of
    functions of the program may return their arguments."""
    places = {(p, path) for p in fn.params for path in paths_of_arrays(p.type)}
    return bool(_among(places, values, passed(fn.blocks), set(fn.params), through_calls))


def _among(places, arrays, incoming, params, through_calls=False) -> set[tuple[Value, tuple[int, ...]]]:
    """The elements (parameter, indices) of `places` at which one of these arrays may be. If an array may come from a
    container, whose content is not known here, all of them are returned. An array that is either a parameter or a copy
    of it does not make the copy a parameter. through_calls: see `among_parameters`."""
    behind = dict.fromkeys(arrays)
    work, reached = list(behind), set()
    for x in work:  # appended to during the iteration
        place = _place(x, params)
        if place is not None:
            reached.add(place)
            continue
        before = incoming.get(x, []) if x.inst is None else x.inst.args
        if any(holds_memory(y.type) for y in before):
            return set(places)
        if x.inst is None or x.inst.op.traits & SAME_MEMORY or x.inst.op in _MOVING or (
                through_calls and x.inst.op is INVOKE and not x.inst.attrs["callee"].library):
            new = [y for y in before if y not in behind and (type(y.type) is Array or _holds_array(y.type))]
            behind.update(dict.fromkeys(new))
            work += new
    return {(p, path) for p, path in places if any((p, path[:n]) in reached for n in range(len(path) + 1))}


def written_places(fn: Function) -> set[tuple[Value, tuple[int, ...]]]:
    """(parameter, indices) for arrays that may be written into: parameters, with no indices, and items of tuples."""
    classes = Classes(fn)
    stored = [x for block in fn.blocks for inst in block.insts for x in targets(inst)]
    found = {classes.of(x) for x in stored}
    places: set = set()
    if not stored:
        return places
    params = set(fn.params)
    whole = []  # tuples that are used as such
    for block in fn.blocks:
        for inst in block.insts:
            for x in (inst.result, *inst.uses()):
                place = None if x is None else _place(x, params)
                if place is not None and type(x.type) is Array and classes.of(x) in found:
                    places.add(place)
                elif place is not None and _holds_array(x.type) and inst.op is not TUPLE_GET:
                    whole.append((x, place))
    if whole:
        _join_items(fn, classes)
        found = {classes.of(x) for x in stored}
        places.update([(p, path + rest) for x, (p, path) in whole if classes.of(x) in found
                       for rest in paths_of_arrays(x.type)])
    return _among(places, stored, passed(fn.blocks), params) if places else places


def _place(x: Value, params: set[Value]):
    """(parameter, indices) for a parameter, or an item of one that is a tuple; None for other values."""
    if x in params:
        return x, ()
    if x.inst is None or x.inst.op is not TUPLE_GET:
        return None
    found = _place(x.inst.args[0], params)
    return found and (found[0], found[1] + (x.inst.attrs["index"],))


def paths_of_arrays(t) -> list[tuple[int, ...]]:
    """The indices of all arrays in a value of type t, an array or a tuple."""
    if type(t) is Array:
        return [()]
    return [(n, *path) for n, part in enumerate(t.elements) for path in paths_of_arrays(part)] if (
        type(t) is Tuple) else []


def _holds_array(t) -> bool:
    return type(t) is Tuple and any_part(t, lambda part: type(part) is Array)


def _join_items(fn: Function, classes: Classes) -> None:
    """Put tuples into one class with the arrays and tuples that are their items."""
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op in (TUPLE_MAKE, TUPLE_GET, TUPLE_AT, SELECT, CHOOSE):
                same = [x for x in (inst.result, *inst.args) if type(x.type) is Array or _holds_array(x.type)]
                for x in same[1:]:
                    classes.join(same[0], x)
            for e in inst.edges():
                for p, x in zip(e.block.params, e.args):
                    if _holds_array(p.type):
                        classes.join(x, p)
