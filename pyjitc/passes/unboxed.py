"""Copy the numbers of Python lists to an array before a nest of loops that reads them several times.

Runs after lists that do not escape have become native and ranges have removed the checks of lengths, and before
versioning, which removes the checks of the array's indices. A load from a list of lists takes three loads in a row and
two checks of classes, and a loop over objects is never vectorised. A guard before the nest decides whether the lists
are copied: the nest reads at least twice as many items as there are, and runs so briefly that it need not poll for
signals. Nothing but the nest itself can then change a list in it: it calls nothing, and runs no code of the
interpreter. Where an item is of another class, too large or missing, the nest runs as it was.
Before:  header(i, left): ... row = list_get a, i ; x = list_get row, j
After:   guard: w = list_width a ; branch ... -> copy, other          other: jump header(i, left)
         copy: s = array_new n, w ; ok = list_copied a, s ; branch ok -> copied, other
         copied(i, left): ... i.1 = check_index i, n ; j.1 = check_index j, w ; x = array_load s, i.1, j.1
A nest may also store numbers in lists. Each store changes the list, as before, and the array, if there is one: so no
exception and no exit has to write anything back. The guard tests that such a list is not also one of the other lists
that are copied, and that no list occurs twice in a list of lists.
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order; grows the code, up to a limit.
"""
from __future__ import annotations

from functools import partial, reduce

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ir.uses import readers
from ..ops import control
from ..ops.arith import IADD, IGT, ILE, IMUL
from ..ops.containers import LIST_APART, LIST_COPIED, LIST_GET, LIST_LEN, LIST_SET, LIST_WIDTH
from ..ops.memory import ARRAY_LOAD, ARRAY_NEW, ARRAY_STORE, CHECK_INDEX
from ..types.kinds import Array, Float, Int, List, NativeList, float64, int64
from .counted import Definitions, find
from .repair import repair
from .rewrite import Builder, clone_blocks, substitute

__all__ = ["run"]

NUMBERS = {Float: float64, Int: int64}  # the items that are copied -> the elements of the array
MAX_INSTS = 250  # the most instructions of a nest that is copied
MAX_LISTS = 4  # the most lists that are copied for a nest
MAX_DEPTH = 3  # the most loops inside one another, so that the products of their lengths fit in 64 bits
_LONGEST = 1 << 20  # the most trips of each loop
MAX_WORK = 1 << 29  # the most operations of a nest, which does not poll: less than 100 ms
_STORE = 16  # operations that take as long as a store to a list
_LEAST_USES = 2  # how often, at least, each item is read
_OUTSIDE = "list index out of range"


def run(fn: ir.Function, options=None) -> None:
    if fn.library or fn.flags.parallel or any([i.unwind is not None for block in fn.blocks for i in block.insts]):
        return
    seen: set[ir.Block] = set()  # headers of loops that were looked at, or are copies
    again = True
    while again:
        again = False
        nest, defs = LoopNest(fn), Definitions(fn)
        edges = in_edges(nest.dom.order)
        for loop in nest.loops:  # outer loops first
            if loop.header not in seen:
                seen.add(loop.header)
                plan = _plan(loop, defs, edges) if loop.inner else None
                if plan is not None:
                    fn.blocks = nest.dom.order
                    seen.update(_headers(loop))
                    seen.update(_copy(fn, loop, plan, defs))
                    again = True
                    break


class _Plan:
    """counted: the loop, as a counted loop; loads, stores: instruction -> the list from before the nest, and the load
    of the list in it, or None; lengths: instructions that take a length -> the list, and the axis; uses: list that is
    copied -> the lengths of the loops around a load from it; work: the lengths of each innermost loop and of those
    around it; trips: the most trips of all innermost loops together for signals to wait."""

    def __init__(self, counted, insts):
        self.counted = counted
        self.trips = MAX_WORK // sum([
            _STORE if inst.op is LIST_SET else 1 if inst.op is LIST_GET else max(inst.op.cost, 1) for inst in insts])
        self.loads: dict[ir.Inst, tuple[ir.Value, ir.Inst | None]] = {}
        self.stores: dict[ir.Inst, tuple[ir.Value, ir.Inst | None]] = {}
        self.lengths: dict[ir.Inst, tuple[ir.Value, int]] = {}
        self.uses: dict[ir.Value, tuple[ir.Value, ...]] = {}
        self.work: list[tuple[ir.Value, ...]] = []

    def different(self) -> list[tuple[ir.Value, ir.Value]]:
        """The pairs (list with stores, list that is copied) that must not share a list of numbers."""
        stored = dict.fromkeys(root for root, _ in self.stores.values())
        return [(x, y) for x in stored for y in self.uses if x is not y or x.type.item not in NUMBERS]


def _plan(loop, defs, edges):
    """The plan by which a nest is copied; None where it is not copied."""
    insts = [inst for block in loop.blocks for inst in block.insts]
    if len(insts) > MAX_INSTS or not all(map(_runs_no_code, insts)):
        return None
    lengths = _lengths(loop, loop, defs, edges, ())
    if lengths is None:
        return None
    plan = _Plan(find(loop, defs, edges), insts)
    plan.work = [around for one, around in lengths.items() if not one.inner]
    innermost = {block: one for one in lengths for block in one.blocks}  # outer loops come first
    for block in loop.blocks:
        for inst in block.insts:
            if inst.op is LIST_GET and inst.result.type in NUMBERS:
                root, row = _root(inst.args[0], loop, defs)
                if root is not None:
                    plan.loads[inst] = root, row
                    plan.uses[root] = max(plan.uses.get(root, ()), lengths[innermost[block]], key=len)
            elif inst.op is LIST_SET:
                root, row = _root(inst.args[0], loop, defs)
                if root is None or inst.args[2].type is not inst.args[0].type.item:
                    return None
                plan.stores[inst] = root, row
    # a list that is read in the outermost loop only is not read several times
    plan.uses = {root: around for root, around in plan.uses.items() if len(around) > 1}
    plan.loads = {inst: found for inst, found in plan.loads.items() if found[0] in plan.uses}
    if not 0 < len(plan.uses) <= MAX_LISTS:
        return None
    for inst in insts:
        if inst.op is LIST_LEN:
            root, row = _root(inst.args[0], loop, defs)
            if row is not None and root not in plan.uses and defs.constant(row.args[1]) != 0:
                return None  # a loop may depend on the length of each row
            if root in plan.uses:
                plan.lengths[inst] = root, int(row is not None)
            elif inst.args[0] in plan.uses:
                plan.lengths[inst] = inst.args[0], 0
    return plan


def _runs_no_code(inst: ir.Inst) -> bool:
    """Whether an instruction neither runs code of the interpreter nor changes its objects, except for a number in a
    list."""
    op = inst.op
    if op.effects & ir.HOST or op is control.INVOKE or ir.regions_written(op.effects) & ir.OBJECTS:
        if op is not LIST_GET and op is not LIST_LEN and not (op is LIST_SET and inst.args[2].type in NUMBERS):
            return False
        if type(inst.args[0].type) is not List:
            return False
    values = (*inst.args, inst.result) if inst.result is not None else inst.args
    return all([isinstance(v.type, List) or _is_quiet(v.type) for v in values])


def _is_quiet(t) -> bool:
    """Whether the last release of a value runs no code of the interpreter. (A list that the nest reads lives on.)"""
    return not t.counted or isinstance(t, Array) or isinstance(t, NativeList) and _is_quiet(t.item)


def _lengths(loop, top, defs, edges, around):
    """Each loop of a nest, outer ones first -> the lengths of the loops around it and its own; None where a loop is not
    counted, a length is not known before the nest, or the nest is too deep."""
    counted = find(loop, defs, edges)
    if counted is None or len(around) == MAX_DEPTH:
        return None
    length = counted.start[counted.left]
    if not _is_known(length, top, defs):
        return None
    found = {loop: (*around, length)}
    for one in loop.inner:
        inside = _lengths(one, top, defs, edges, found[loop])
        if inside is None:
            return None
        found.update(inside)
    return found


def _is_known(v: ir.Value, loop, defs) -> bool:
    """Whether `_before` can compute a value before the nest: it is made of lengths of lists."""
    inst = v.inst
    if defs.block_of[v] not in loop.blocks:
        return True
    if inst is None:
        return False
    if inst.op is LIST_LEN:
        root, row = _root(inst.args[0], loop, defs)
        return root is not None or row is None and defs.block_of[inst.args[0]] not in loop.blocks
    return inst.op.effects == ir.PURE and all([_is_known(x, loop, defs) for x in inst.args])


def _before(b, v: ir.Value, loop, defs, made: dict) -> ir.Value:
    """Compute a value before the nest. made: the values that have been computed so far."""
    inst = v.inst
    if inst is None or defs.block_of[v] not in loop.blocks:
        return v
    if v not in made:
        if inst.op is LIST_LEN:
            root, row = _root(inst.args[0], loop, defs)
            made[v] = b.int(LIST_LEN, inst.args[0]) if row is None else b.int(LIST_WIDTH, root)
        else:
            made[v] = b.make(inst.op, v.type, *[_before(b, x, loop, defs, made) for x in inst.args], **inst.attrs)
    return made[v]


def _root(x: ir.Value, loop, defs) -> tuple[ir.Value | None, ir.Inst | None]:
    """(the list from before the loop that `x` is, or of which `x` is an item; the load of that item, or None)"""
    if type(x.type) is not List or x.type.item not in NUMBERS:
        return None, None
    if defs.block_of[x] not in loop.blocks:
        return x, None
    row = x.inst
    if (row is not None and row.op is LIST_GET and type(row.args[0].type) is List
            and defs.block_of[row.args[0]] not in loop.blocks):
        return row.args[0], row
    return None, None


def _copy(fn, loop, plan, defs) -> list[ir.Block]:
    """Copy the nest, with the array in place of the lists. Returns the headers of the copied loops."""
    order = [block for block in fn.blocks if block in loop.blocks]
    found = readers(fn)
    defined = [v for block in order for v in block.values()]
    used_outside = {v for v in defined if any(b not in loop.blocks for b in found.get(v, ()))}
    values: dict[ir.Value, ir.Value] = {}
    copies = clone_blocks(order, values)
    headers = _headers(loop)
    for header in headers:
        last = copies[header].insts[-1]
        last.attrs = {**last.attrs, "unpolled": True}
    if not any([inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE for block in order for inst in block.insts]):
        for block in order:  # without copies the nest is not made faster by copying it once more
            last = block.insts[-1]
            if any([edge.block in headers for edge in last.targets]):
                last.attrs = {**last.attrs, "novectorize": True}
    entry, loc = plan.counted.entry, plan.counted.entry_inst.loc
    guard, making, other = ir.Block("guard"), ir.Block("copy"), ir.Block("other")
    Builder(other.insts, loc).jump(ir.Edge(loop.header, entry.args))
    b = Builder(guard.insts, loc, None)
    shapes = {root: _shape(b, root) for root in plan.uses}
    before: dict[ir.Value, ir.Value] = {}  # what is computed in the nest and the guard -> the value in the guard
    yes = _guard(b, plan, shapes, partial(_before, loop=loop, defs=defs, made=before))
    arrays = {}
    b = Builder(making.insts, loc, None)
    tests = [b.test(LIST_APART, x, y, itself=x is y) for x, y in plan.different()]
    for root, shape in shapes.items():
        item = root.type.item if len(shape) == 1 else root.type.item.item
        t = Array(NUMBERS[item], len(shape), "C")
        arrays[root] = b.make(ARRAY_NEW, t, *shape, type=t, zero=False)
        tests.append(b.test(LIST_COPIED, root, arrays[root], item=item))
    held = b.all(tests)
    for block, test, to, likely in ((guard, yes, ir.Edge(making), {}),
                                    (making, held, ir.Edge(copies[loop.header], [*entry.args]),
                                     {"likely": True, "alike": True})):
        Builder(block.insts, loc).branch(test, to, ir.Edge(other), **likely)
    plan.counted.entry.block, plan.counted.entry.args = guard, []
    _rewrite(fn, plan, order, copies, values, arrays, shapes, before)
    fn.blocks += [guard, making, other, *copies.values()]
    fn.blocks = reverse_postorder(fn)
    repair(fn, {v: {defs.block_of[v]: v, copies[defs.block_of[v]]: values[v]} for v in defined if v in used_outside})
    return [copies[header] for header in headers]


def _product(b, lengths):
    return reduce(lambda x, y: b.int(IMUL, x, y), lengths)


def _headers(loop):
    return [loop.header, *[header for one in loop.inner for header in _headers(one)]]


def _shape(b, root) -> list[ir.Value]:
    shape = [b.int(LIST_LEN, root)]
    return shape if root.type.item in NUMBERS else [*shape, b.int(LIST_WIDTH, root)]


def _guard(b, plan, shapes, before) -> ir.Value:
    """Whether the nest reads the items often enough and runs briefly enough. Where a length is not in range, the
    products of lengths mean nothing, and the answer is no."""
    tests, zero, most = [], b.const(Int, 0), b.const(Int, _LONGEST)
    counts = {z: shapes[z][0] if z in shapes else b.int(LIST_LEN, z) for pair in plan.different()
              for z in pair if z.type.item not in NUMBERS}
    work_of = [[before(b, n) for n in around] for around in plan.work]
    lengths = [n for around in (*work_of, *shapes.values()) for n in around] + [*counts.values()]
    for length in dict.fromkeys(lengths):
        tests += [b.test(IGT, length, zero), b.test(ILE, length, most)]
    work = reduce(lambda x, y: b.int(IADD, x, y), [_product(b, around) for around in work_of])
    tests.append(b.test(ILE, work, b.const(Int, plan.trips)))
    for root, shape in shapes.items():
        read = _product(b, [before(b, n) for n in plan.uses[root]])
        tests.append(b.test(ILE, _product(b, [*shape, b.const(Int, _LEAST_USES)]), read))
    tests += [b.test(ILE, _product(b, [counts[z] for z in pair if z in counts]), work)
              for pair in plan.different() if not counts.keys().isdisjoint(pair)]
    return b.all(tests)


def _rewrite(fn, plan, order, copies, values, arrays, shapes, before) -> None:
    """Let the copied blocks load from the arrays, and store to them, too."""
    rows = {row: root for root, row in (*plan.loads.values(), *plan.stores.values())
            if row is not None and root in arrays}
    used = {v for block in fn.blocks for inst in block.insts if inst not in plan.loads and inst not in plan.lengths
            for v in inst.uses()}
    replaced = {values[v]: new for v, new in before.items()}
    place: dict[ir.Inst, ir.Value] = {}  # the load of a list in a list -> its index, counted from the front

    def index(b, root, row, i, message):
        return [*([] if row is None else [place[row]]), b.int(
            CHECK_INDEX, i, shapes[root][row is not None], axis=0, message=message)]

    for block in order:
        kept, copies[block].insts = copies[block].insts, []
        for inst, copy in zip(block.insts, kept):
            b = Builder(copies[block].insts, inst.loc, None)
            if inst in rows:
                (place[inst],) = index(b, rows[inst], None, copy.args[1], _OUTSIDE)
            if inst in plan.loads:
                root, row = plan.loads[inst]
                element = b.op(ARRAY_LOAD, arrays[root], *index(b, root, row, copy.args[1], _OUTSIDE),
                               type=arrays[root].type.dtype)
                replaced[copy.result] = b.cast(element, inst.result.type)
            elif inst in plan.lengths:
                root, axis = plan.lengths[inst]
                replaced[copy.result] = shapes[root][axis]
            elif inst not in rows or inst.result in used:
                b.insts.append(copy)
            root, row = plan.stores.get(inst, (None, None))
            if root in arrays:
                element = b.cast(copy.args[2], arrays[root].type.dtype)
                at = index(b, root, row, copy.args[1], f"list assignment {_OUTSIDE.removeprefix('list ')}")
                b.op(ARRAY_STORE, arrays[root], *at, element)
    substitute(copies.values(), replaced)
    for old, new in values.items():
        values[old] = replaced.get(new, new)
