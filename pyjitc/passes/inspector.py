"""Split a loop whose operations may fail into one that computes and checks, and one that stores, so that LLVM can
vectorise both.

Runs after versioning, on innermost counted loops without index checks and without loop-carried values. Where their
writes do not overlap their reads, they run in blocks of trips: first a loop that computes, checks and keeps its results
in the frame, then a loop that copies these to their places. From the first block in which a check would fail the
original loop continues, and fails at the same trip and after the same writes as before.
Before:  header(i, left): ... y = truncate x ; z = narrow y ; array_store b, i, z
After:   block(i, left): take = min(left, 256) ; branch left > 0 -> scan(i, take, False, 0), header(i, left)
         scan(i, take, bad, k): ... y = whole x ; z = cast y ; array_store kept, k, z ; bad |= y does not fit ...
             then: branch bad -> header(i, left), fast(i, take, 0)
         fast(i, take, k): z = array_load kept, k ; array_store b, i, z
             then: block(i, left - take)
         header: as before
An element that a trip reads after it has stored it is the value that it has stored, where no other array was stored in
between; a loop with other such reads stays as it is.
Where only some trips store, or several times, or the results need too much room, the first loop only checks, and the
second one computes again.
Where floats are made of short integers and of numbers that are the same on all trips, as in `int(image[y, x] * gain)`,
their ends are computed before the loop, and if these fit the loop runs without checks and without blocks.
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order; up to three copies of a small loop.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ir.uses import users
from ..ops import arith as a
from ..ops import control
from ..ops.memory import ACCESSES, ARRAY_LOAD, ARRAY_STORE, FRAME_ARRAY, item_bytes
from ..ops.structure import SELECT
from ..types.kinds import Array, Bool, Float, Int, NpInt, is_float
from .alias import Aliases
from .counted import Definitions, find
from .guarding import no_overlap
from .repair import repair
from .rewrite import Builder, clone_blocks, clone_inst, resolve, substitute
from .versioning import MAX_ARRAYS, note_distinct

__all__ = ["run"]

BLOCK = 256  # trips in a block: what they read stays in the L1 cache
ROOM = 4096  # the most bytes of a function's frame for results that are computed ahead
LEAST = 16  # the fewest trips for which a loop is split
MAX_INSTS = 60
_CHECKS = {*a.CONVERSIONS, a.IADD_CK, a.ISUB_CK, a.INEG_CK}
# conversions with a check -> those for values that are known to fit
_UNCHECKED = {a.NARROW: a.CAST, a.TRUNCATE: a.WHOLE, a.FIT: a.FITTED}


def run(fn: ir.Function, options=None) -> None:
    nest = LoopNest(fn)
    defs, edges = Definitions(fn), in_edges(fn.blocks)
    changed, room = False, ROOM
    for loop in nest.loops:
        plan = _plan(fn, loop, nest, defs, edges)
        if plan is not None:
            if not (options and options.fastmath):
                _bound(fn, nest, defs, edges, plan[0], plan[1])
            room -= _split(fn, room, *plan)
            changed = True
    if changed:
        fn.blocks = reverse_postorder(fn)


def _plan(fn, loop, nest, defs, edges):
    """(counted, checks, arrays that must not overlap, blocks that every trip passes) of a loop that can be split, or
    None."""
    order = [b for b in fn.blocks if b in loop.blocks]
    insts = [i for b in order for i in b.insts]
    checks = [i for i in insts if i.op in _CHECKS]
    if loop.inner or len(insts) > MAX_INSTS or not any(i.op in a.CONVERSIONS for i in checks):
        return None
    if len(loop.latches) != 1 or loop.latches[0].insts[-1].attrs.get("novectorize"):
        return None
    known = ACCESSES | _CHECKS
    if not any(i.op is ARRAY_STORE for i in insts) or any(
            i.unwind is not None or i.op.effects & ~ir.TERMINATOR and i.op not in known for i in insts):
        return None
    if any(i.op is a.TRUNCATE and i.args[0].type is not Float and i.args[0].type.bits < 32 for i in checks):
        return None
    counted = find(loop, defs, edges)
    if counted is None or set(loop.header.params) - set(counted.steps) or any(
            edge.block not in loop.blocks and edge is not counted.exit for b in loop.blocks for edge in b.edges()):
        return None
    if _forward(fn, order):
        insts = [i for b in order for i in b.insts]
    distinct = _required_distinct(insts, loop, defs)
    always = {b for b in loop.blocks if nest.dom.dominates(b, loop.latches[0])}
    return None if distinct is None else (counted, set(checks), distinct, always)


class _Ends:
    """The instructions that compute the least and the largest value of floats in a loop, and test that no operation on
    the way gives an infinity or a NaN. Rounding keeps the order of numbers, so that the ends of a result are the
    results for ends of its operands."""

    def __init__(self, nest, loop, defs, edges, loc):
        self.nest, self.loop, self.defs, self.edges = nest, loop, defs, edges
        self.b = Builder([], loc)
        self.tests: list[ir.Value] = []
        self.found: dict[ir.Value, tuple | None] = {}

    def number(self, value, type):
        return self.b.const(type, float(value) if type is Float else a.numpy_class(type)(value))

    def between(self, low, ends, high) -> None:
        """Add the tests that both ends are in low..high, which no NaN is."""
        for v in dict.fromkeys(ends):
            for op, end in (a.FGE, low), (a.FLE, high):
                self.tests.append(self.b.test(op, v, self.number(end, v.type)))

    def finite(self, *ends) -> tuple:
        limit = 1e300 if ends[0].type is Float or ends[0].type.bits == 64 else 1e38
        self.between(-limit, ends, limit)
        return ends

    def less(self, x, y):
        return self.b.op(SELECT, self.b.test(a.FLT, x, y), x, y, type=x.type)

    def more(self, x, y):
        return self.b.op(SELECT, self.b.test(a.FGT, x, y), x, y, type=x.type)

    def of(self, v) -> tuple | None:
        if v not in self.found:
            self.found[v] = None  # in case a value depends on itself
            self.found[v] = self.computed(v) if is_float(v.type) and (v.type is Float or v.type.bits >= 32) else None
        return self.found[v]

    def computed(self, v) -> tuple | None:
        home, inst = self.defs.block_of.get(v), v.inst
        if inst is not None and inst.op is control.CONST:
            value = inst.attrs["value"]
            return (self.number(value, v.type),) * 2 if abs(value) < 1e38 else None
        if home not in self.loop.blocks:
            return self.finite(v, v)
        if inst is None:
            return self.joined(v, home)
        if inst.op is a.CAST and isinstance(inst.args[0].type, NpInt) and inst.args[0].type.bits <= 32:
            low, high = _ends(inst.args[0].type)
            return self.number(low, v.type), self.number(high, v.type)
        if inst.op not in (a.FADD, a.FSUB, a.FMUL):
            return None
        x, y = map(self.of, inst.args)
        if x is None or y is None:
            return None
        if inst.op is a.FMUL:
            pairs = [(one, other) for one in dict.fromkeys(x) for other in dict.fromkeys(y)]
            products = self.finite(*(self.b.op(a.FMUL, *pair, type=v.type) for pair in pairs))
            low = high = products[0]
            for one in products[1:]:
                low, high = self.less(low, one), self.more(high, one)
            return low, high
        if inst.op is a.FSUB:
            y = y[::-1]
        return self.finite(*(self.b.op(inst.op, one, other, type=v.type) for one, other in zip(x, y)))

    def joined(self, p, block) -> tuple | None:
        """The ends of a parameter where several values meet, such as those of `if v > 255: v = 255`."""
        if block is self.nest.of[block].header:
            return None
        low = high = None
        for source, inst, edge in self.edges[block]:
            v = edge.args[block.params.index(p)]
            ends = self.of(v)
            if ends is None:
                return None
            ends = self.narrowed(v, ends, source, inst, edge)
            low = ends[0] if low is None else self.less(low, ends[0])
            high = ends[1] if high is None else self.more(high, ends[1])
        return None if low is None else (low, high)

    def narrowed(self, v, ends, source, inst, edge) -> tuple:
        """The ends of v where control takes an edge, by the conditions of this branch and of those right before."""
        low, high = ends
        for _ in range(4):
            test = inst.args[0].inst if inst.op is control.BRANCH else None
            if test is not None and test.op in a.FLOAT_ORDERS and test.args[0] is v:
                bound = test.args[1]
                if self.defs.block_of.get(bound) not in self.loop.blocks and self.of(bound) is not None:
                    if (test.op is a.FGT or test.op is a.FGE) == (edge is inst.targets[0]):
                        low = self.more(low, bound)
                    else:
                        high = self.less(high, bound)
            if source is self.loop.header or len(self.edges[source]) != 1:
                break
            source, inst, edge = self.edges[source][0]
        return low, high


def _bound(fn, nest, defs, edges, counted, checks) -> None:
    """Let a loop run without checks where the ends of all floats that it converts fit; the loop itself remains for the
    other cases."""
    loop, entry, loc = counted.loop, counted.entry, counted.entry_inst.loc
    order = [b for b in fn.blocks if b in loop.blocks]
    ends = _Ends(nest, loop, defs, edges, loc)
    types: dict[ir.Value, NpInt] = {}  # result of `truncate` -> the type to which it is narrowed
    for check in (i for b in order for i in b.insts if i in checks):
        made = check.args[0].inst if check.op is a.NARROW else check
        x = made.args[0] if made is not None and made.op in (a.TRUNCATE, a.FIT) else None
        found = None if x is None else ends.of(x)
        if x is None or found is None:
            return
        if check.op is a.TRUNCATE:
            ends.between(-2.0**62, found, 2.0**62)
            continue
        t = check.result.type
        if t.bits > (32 if x.type is Float or x.type.bits == 64 else 16):
            return  # no floats of this type equal its ends
        low, high = _ends(t)
        ends.between(low, found, high)
        types[made.result] = t
    condition = ends.b.all(ends.tests)
    copies = clone_blocks(order, {})
    for block, copy in copies.items():
        for check, inst in zip(block.insts, copy.insts):
            if check in checks:
                _uncheck(inst, types.get(check.result))
    head = copies[loop.header]
    head.insts[-1].targets[1] = ir.Edge(loop.header, list(head.params))  # the original loop, which then leaves at once
    guard = ir.Block("bounded")
    counted.entry, counted.entry_block = ir.Edge(loop.header, entry.args), guard
    counted.entry_inst = ir.Inst(control.BRANCH, (condition,), {"likely": True}, None, loc,
                                 [ir.Edge(head, entry.args), counted.entry])
    guard.insts = [*ends.b.insts, counted.entry_inst]
    entry.block, entry.args = guard, []
    fn.blocks += [guard, *copies.values()]


def _forward(fn, order) -> bool:
    """Replace loads of an element to which the same block of a loop has just stored by the value that it stored.
    Returns whether there was one."""
    mapping: dict[ir.Value, ir.Value] = {}
    for block in order:
        stored, kept = None, []
        for inst in block.insts:
            if inst.op is ARRAY_STORE:
                stored = inst
            elif (inst.op is ARRAY_LOAD and stored is not None and inst.args == stored.args[:-1]
                  and inst.result.type is stored.args[-1].type):
                mapping[inst.result] = resolve(mapping, stored.args[-1])
                continue
            kept.append(inst)
        block.insts = kept
    substitute(fn.blocks, mapping)
    return bool(mapping)


def _required_distinct(insts, loop, defs):
    """Array -> the others with which it must share no memory; None where a read that is done earlier may see another
    value. insts: in an order in which they may run."""
    reads: dict[ir.Value, list] = {}
    writes: dict[ir.Value, list] = {}
    for inst in insts:
        if inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE:
            array = inst.args[0]
            if defs.block_of.get(array) in loop.blocks:
                return None
            reads.setdefault(array, [])
            if inst.op is ARRAY_LOAD:
                if array in writes:
                    return None  # the read would move before this store
                reads[array].append(inst.args[1:])
            else:
                writes.setdefault(array, []).append(inst.args[1:-1])
    if len(reads) > MAX_ARRAYS:
        return None
    if any(indices != writes[x][0] for x in writes for indices in (*reads[x], *writes[x])) or any(
            x.type.layout == "A" for x in writes if reads[x]):
        return None  # a trip writes an element before it reads it
    return {x: others for x in reads if (others := [y for y in reads if y is not x and (x in writes or y in writes)])}


def _stores(loop, order, always, room) -> tuple[list[ir.Inst], set[ir.Value]] | None:
    """The stores of a loop, and the values that the loop which only stores the kept results must still compute. None
    where not every trip does each store once, where the results need more than `room` bytes, or where indices depend on
    elements or branches."""
    stores: list[ir.Inst] = []
    made: dict[ir.Value, ir.Inst] = {}
    for block in order:
        for inst in block.insts:
            if inst.op is ARRAY_STORE:
                if block not in always or any(inst.args[0] is other.args[0] for other in stores):
                    return None
                stores.append(inst)
            elif inst.result is not None:
                made[inst.result] = inst
    if sum(BLOCK * item_bytes(s.args[0].type.dtype) for s in stores) > room:
        return None
    chosen = {p for block in order if block is not loop.header for p in block.params}
    needed: set[ir.Value] = set()
    work = [*loop.header.terminator.args, *(v for s in stores for v in s.args[1:-1]),
            *(v for edge in loop.latches[0].edges() if edge.block is loop.header for v in edge.args)]
    while work:
        v = work.pop()
        if v in chosen or v in made and made[v].op.effects:
            return None
        if v in made and v not in needed:
            needed.add(v)
            work += made[v].args
    return stores, needed


def _copies(loop, order, stores, needed, kept) -> dict[ir.Block, ir.Block]:
    """Make the loop that stores results which another loop has kept: block of the loop -> block of the copy. kept:
    array -> the array in which its elements were kept."""
    header = loop.header
    values = {p: ir.Value(p.type, p.name) for p in header.params}
    head, body = ir.Block(header.name, list(values.values())), ir.Block(order[-1].name)
    made = {header: head, order[-1]: body}
    k = ir.Value(Int, "k")
    for block in order:
        to = head if block is header else body
        to.insts += (clone_inst(i, values, made) for i in block.insts if i.result in needed)
    for store in stores:
        array, *index, value = store.args
        z = ir.Value(value.type)
        body.insts += (ir.Inst(ARRAY_LOAD, (kept[array], k), {}, z, store.loc),
                       clone_inst(store, {**values, value: z}, made))
    branch, jump = header.terminator, loop.latches[0].terminator
    back = next(edge for edge in jump.edges() if edge.block is header)
    head.insts.append(clone_inst(branch, values, made))
    head.insts[-1].targets[0] = ir.Edge(body)
    Builder(body.insts, jump.loc).jump(ir.Edge(head, [values.get(v, v) for v in back.args]), **jump.attrs)
    _count(head, body, k)
    return made


def _count(head, latch, k) -> None:
    """Let `k` count the trips of a loop from 0; the code that makes the edges into it from outside passes the 0."""
    head.params.append(k)
    jump = latch.insts.pop()
    one, more = ir.Value(Int), ir.Value(Int)
    latch.insts += (ir.Inst(control.CONST, (), {"value": 1}, one, jump.loc),
                    ir.Inst(a.IADD, (k, one), {"flags": "nuw nsw"}, more, jump.loc), jump)
    for edge in jump.edges():
        if edge.block is head:
            edge.args.append(more)


def _split(fn, room, counted, checks, distinct, always) -> int:
    """room: bytes that are left in the frame. Returns the number of bytes that it uses."""
    loop, header = counted.loop, counted.loop.header
    order = [b for b in fn.blocks if b in loop.blocks]
    at = header.params.index(counted.left)
    loc = counted.entry_inst.loc

    # before the loops
    guard, outer = ir.Block("guard"), ir.Block("block", [ir.Value(p.type, p.name) for p in header.params])
    entry, b = counted.entry, Builder(guard.insts, loc)
    enough = b.test(a.IGE, entry.args[at], b.const(Int, LEAST))
    known = _known_distinct(order)
    if distinct and not known:
        enough = no_overlap(b, distinct, enough, Aliases(fn))
    b.branch(enough, ir.Edge(outer, entry.args), ir.Edge(header, entry.args), likely=True)
    entry.block, entry.args = guard, []
    plan = _stores(loop, order, always, room)
    kept: dict[ir.Value, ir.Value] = {}
    b = Builder(outer.insts, loc)
    for store in plan[0] if plan else ():
        array = Array(store.args[0].type.dtype, 1, "C")
        kept[store.args[0]] = b.make(FRAME_ARRAY, array, b.const(Int, BLOCK), type=array, zero=False)
    # one block of trips
    left = outer.params[at]
    limit, zero = b.const(Int, BLOCK), b.const(Int, 0)
    take = b.int(SELECT, b.test(a.ILT, left, limit), left, limit)
    starts = [take if k == at else p for k, p in enumerate(outer.params)]
    more, fine = b.test(a.IGT, left, zero), b.const(Bool, False)
    # the loop that computes and checks
    place, verdict, narrowed = ir.Value(Int, "k"), ir.Block("verdict"), _narrowed(order)
    scan, bad, wrongs = _scan(loop, order, checks, narrowed, kept, place, loc)
    scan[header].insts[-1].targets[1] = ir.Edge(verdict)
    first = [*starts, fine]
    if kept:
        _count(scan[header], scan[loop.latches[0]], place)
        first.append(zero)
    b.branch(more, ir.Edge(scan[header], first), ir.Edge(header, outer.params))
    # the loop that stores
    fast = _copies(loop, order, *plan, kept) if plan else clone_blocks(order, {})
    rest = ir.Block("rest")
    for block in fast:
        for n, inst in enumerate(fast[block].insts):
            if inst.op in _CHECKS:
                _uncheck(inst, narrowed.get(block.insts[n].result))
    if distinct and not known:
        note_distinct(fn, fast.values(), distinct)
    fast[header].insts[-1].targets[1] = ir.Edge(rest)
    r = Builder(rest.insts, loc)
    after = r.int(a.ISUB, left, take, flags="nuw nsw")
    onward = ir.Edge(outer, [after if k == at else p for k, p in zip(range(len(starts)), fast[header].params)])
    r.jump(onward)
    Builder(verdict.insts, loc).branch(bad, ir.Edge(header, outer.params),
                                       ir.Edge(fast[header], [*starts, zero] if kept else starts), likely=False)
    fn.blocks += [guard, outer, *scan.values(), verdict, *fast.values(), rest]
    none = ir.Value(Bool)  # the operand for trips that do not reach the check
    scan[header].insts.insert(0, ir.Inst(control.CONST, (), {"value": False}, none, loc))
    repair(fn, {wrong: {scan[block]: wrong, scan[header]: none}
                for wrong, block in wrongs.items() if block not in always})
    return sum(BLOCK * item_bytes(array.type.dtype) for array in kept)


def _scan(loop, order, checks, narrowed, kept, place, loc) -> tuple:
    """A copy of a loop that computes and checks. Returns (block -> its copy; a parameter of the header, whether a check
    of an earlier trip has failed; the result of each check -> its block). kept: array -> the one that keeps what is
    stored in it; place: the position there."""
    scan = clone_blocks(order, {})
    bad = ir.Value(Bool, "bad")  # of the type of the tests: as an int it would make shorter vectors
    scan[loop.header].params.append(bad)
    wrongs: dict[ir.Value, ir.Block] = {}
    for block in order:
        insts: list[ir.Inst] = []
        for original, inst in zip(block.insts, scan[block].insts):
            if inst.op is ARRAY_STORE:
                if not kept:
                    continue
                inst.args, inst.attrs = [kept[inst.args[0]], place, inst.args[-1]], {}
            elif original.result in narrowed and original.op is a.NARROW:
                if not kept:
                    continue
                _uncheck(inst)
            elif original in checks:
                wrongs[_ask(insts, inst, loc, narrowed.get(original.result))] = block
            insts.append(inst)
        scan[block].insts = insts
    latch = scan[loop.latches[0]]
    jump, last = latch.insts.pop(), bad
    for wrong in wrongs:
        either = ir.Value(Bool)
        latch.insts.append(ir.Inst(a.BOR, (last, wrong), {}, either, loc))
        last = either
    latch.insts.append(jump)
    jump.targets[0].args.append(last)
    return scan, bad, wrongs


def _known_distinct(blocks) -> bool:
    """Whether the guard of the nest has compared these arrays already."""
    return all("noalias" in i.attrs for b in blocks for i in b.insts if i.op is ARRAY_LOAD or i.op is ARRAY_STORE)


def _ends(t) -> tuple[int, int]:
    return (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, min((1 << t.bits) - 1, a.INT_MAX))


def _narrowed(blocks) -> dict:
    """Results of `truncate` that only a `narrow` reads -> the type of that; only types shorter than the float's
    precision."""
    readers = users(blocks)
    found = {}
    for block in blocks:
        for inst in block.insts:
            if inst.op is a.TRUNCATE and [i.op for i in readers.get(inst.result, ())] == [a.NARROW]:
                narrow = readers[inst.result][0]
                if narrow.result.type.bits < (64 if inst.args[0].type is Float else inst.args[0].type.bits):
                    if all(i.op is ARRAY_STORE and i.args[-1] is narrow.result for i in readers.get(narrow.result, ())):
                        found[inst.result] = found[narrow.result] = narrow.result.type
    return found


def _uncheck(inst, narrowed=None) -> None:
    if inst.op is a.TRUNCATE:
        short = "short" in inst.attrs.get("flags", "") or narrowed is not None and _ends(narrowed)[1] < 1 << 31
        inst.attrs = {"flags": "short"} if short else {}
    else:
        inst.attrs = {"type": inst.attrs["type"]} if "type" in inst.attrs else {}
    inst.op = inst.op.wrapping or _UNCHECKED[inst.op]


def _ask(insts, check, loc, narrowed) -> ir.Value:
    """Add the test whether a check would raise, and replace the check by an unchecked operation, whose result is not
    used in trips where the check would raise. narrowed: the integer type to which a truncated float is converted, if no
    other instruction reads it."""
    b = Builder(insts, loc)

    def number(value, type=Int):
        plain = type is Int or type is Float
        return b.const(type, value if plain else a.numpy_class(type)(value))

    def both(x, one, low, other, high):
        ends = b.test(one, x, number(low, x.type)), b.test(other, x, number(high, x.type))
        return b.test(a.BAND, *ends)

    op, args = check.op, check.args
    x = args[0]
    if op is a.TRUNCATE:
        if narrowed is not None:
            low, high = _ends(narrowed)
            good = both(x, a.FGT, low - 1.0, a.FLT, high + 1.0)
        elif "bounded" in check.attrs.get("flags", ""):
            good = b.test(a.FEQ, x, x)
        else:
            good = both(x, a.FGE, -2.0**63, a.FLT, 2.0**63)
        if narrowed is None:  # the result has no other use
            check.args = [b.op(SELECT, good, x, number(0.0, x.type), type=x.type)]
        wrong = b.test(a.BNOT, good)
    elif op is a.FIT:
        good = b.make(a.FITS, Bool, x, type=check.result.type)
        if is_float(x.type):  # converting a number that does not fit would be undefined behaviour
            check.args = [b.op(SELECT, good, x, number(0.0, x.type), type=x.type)]
        wrong = b.test(a.BNOT, good)
    elif op is a.NARROW:
        low, high = _ends(check.result.type)
        good = both(x, a.IGE, low, a.ILE, high)
        wrong = b.test(a.BNOT, good)
    else:
        result = b.int(op.wrapping, *args)
        if op is a.INEG_CK:
            signs = b.int(a.IAND, x, result)
        else:
            y = args[1]
            pairs = ((x, y), (x, result)) if op is a.ISUB_CK else ((x, result), (y, result))
            signs = b.int(a.IAND, *(b.int(a.IXOR, *pair) for pair in pairs))
        wrong = b.test(a.ILT, signs, number(0))
    _uncheck(check)
    return wrong
