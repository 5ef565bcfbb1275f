"""Which arrays an instruction may write into."""
from __future__ import annotations

from ...ir.core import ELEMENTS, HOST, Function, Inst, Value, regions_written
from ...ir.uses import passed
from ...ops import memory as mem
from ...ops.control import INVOKE
from ...ops.exceptions import EXC_THROW, THROW
from ...ops.nest import NEST_INTO, NESTS, kernels
from ...ops.structure import CHOOSE, SELECT, TUPLE_AT, TUPLE_GET, TUPLE_MAKE
from ...ops.pyobject import PY_CALL
from ...types.kinds import Array, Tuple, any_part
from .activity import SAME_MEMORY, Classes, arrays_behind, holds_memory, written

__all__ = ["paths_of_arrays", "store_into_parameter", "targets", "writer", "writes_only", "written_parameters",
           "written_places"]

_MOVING = (TUPLE_GET, TUPLE_MAKE, TUPLE_AT)  # beside SAME_MEMORY, what gives arrays that its operands hold


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
    if regions_written(op.effects) & ELEMENTS:
        return arrays_behind(inst)
    return []


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
    """The first instruction that writes into a region, and the function of the program that it is in. What only makes
    an exception that leaves the function, such as formatting its message, does not count. raising: the function is
    called for that alone."""
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
                return fn, inst
    return None


def written_parameters(fn: Function) -> set[Value]:
    """The parameters that are arrays which may be written into, and the tuples that hold such arrays."""
    classes = Classes(fn)
    stored = [x for block in fn.blocks for inst in block.insts for x in targets(inst)]
    found = {classes.of(x) for x in stored}
    arrays = {p for p in fn.params if type(p.type) is Array and classes.of(p) in found}
    tuples = [p for p in fn.params if _holds_array(p.type)]
    if not stored or not tuples:
        return arrays
    _join_items(fn, classes)
    found = {classes.of(x) for x in stored}
    return arrays.union([p for p in tuples if classes.of(p) in found])


def store_into_parameter(fn: Function) -> Inst | None:
    """An instruction that writes into an array which may be a parameter, or an item of one. Other than for
    `written_parameters`, an array that is either a parameter or a copy of it does not make the copy a parameter."""
    written = written_parameters(fn)
    if not written:
        return None
    incoming = passed(fn.blocks)
    for block in fn.blocks:
        for inst in block.insts:
            behind = dict.fromkeys(targets(inst))
            work = list(behind)
            for x in work:  # appended to during the iteration
                if x in written:
                    return inst
                before = incoming.get(x, []) if x.inst is None else x.inst.args
                if any(holds_memory(y.type) for y in before):
                    return inst  # what a container holds is not known here
                if x.inst is None or x.inst.op in SAME_MEMORY or x.inst.op in _MOVING:
                    new = [y for y in before if y not in behind and (type(y.type) is Array or _holds_array(y.type))]
                    behind.update(dict.fromkeys(new))
                    work += new
    return None


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
    return places


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
