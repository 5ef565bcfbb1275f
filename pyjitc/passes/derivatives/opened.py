"""Remove constructs that the transforms do not know: cells and unions are replaced by plain values, and an instruction
with an unwind edge becomes the last one of its block.

Each is a step of prepare.py, which changes only functions that have them: most have none.
"""
from __future__ import annotations

from typing import Any

from ...ir.cfg import Dominators, cycles, in_edges, reverse_postorder, successors
from ...ir.core import Block, Edge, Function, Inst, Value
from ...ops import arith as a
from ...ops import control as c
from ...ops import memory as mem
from ...ops import structure as s
from ...ops.nest import NEST
from ...types import kinds as k
from ...types.tangents import is_varying
from ..rewrite import split_edge, substitute
from ..unions import Unions
from ...ir import variables
from .activity import Classes, is_known, items_of
from .builder import Builder
from .targets import written_again

__all__ = ["end_blocks_at_raises", "enter_loops_once", "name_arrays_once", "open_cells", "open_unions",
           "put_in_order", "take_parts_again"]


def end_blocks_at_raises(fn: Function) -> None:
    """Put each instruction with an unwind edge alone in a block, which then jumps to what follows it, and let the edge
    lead to a block of its own.
    Before:  b: x ; y = f x ! handler(x) ; z       After:  b: x ; jump b1    b1: y = f x ! b2() ; jump b3    b3: z
                                                           b2: jump handler(x)"""
    blocks = []
    for block in fn.blocks:
        blocks.append(block)
        if all(inst.unwind is None for inst in block.insts):
            continue
        insts, block.insts = block.insts, []
        for n, inst in enumerate(insts):
            if inst.unwind is None:
                blocks[-1].insts.append(inst)
                continue
            alone, rest = Block("raises"), Block("after")
            blocks[-1].insts.append(Inst(c.JUMP, loc=inst.loc, targets=[Edge(alone)]))
            alone.insts = [inst]
            blocks += [alone, split_edge(inst.unwind, "unwind")]
            if n < len(insts) - 1:
                alone.insts.append(Inst(c.JUMP, loc=inst.loc, targets=[Edge(rest)]))
                blocks.append(rest)
    fn.blocks = blocks


def enter_loops_once(fn: Function) -> Block | None:
    """Let loops that are entered in several blocks be entered in one, which goes on to these: the derivative of a loop
    that `break` leaves is such a loop. Returns a block where that cannot be done.
    Before:  jump b(x) ... jump d(y)
    After:   jump e(0, x, 0) ... jump e(1, 0, y)        e(n, x, y): switch n -> b(x), d(y)
    """
    work = [reverse_postorder(fn)]
    while work:
        blocks = work.pop()
        for group in map(set, cycles(blocks, successors)):
            loop = [block for block in blocks if block in group]
            edges = in_edges(reverse_postorder(fn))
            entries = [block for block in loop if any(p not in group for p, _, _ in edges[block])]
            header = entries[0]
            if len(entries) > 1:
                made = None
                if all(_has_nothing(p.type) for block in entries for p in block.params):
                    made = _entered_at_one(fn, entries, edges)
                if made is None:
                    return header
                header = made
            work.append([block for block in loop if block is not header])
    return None


def _entered_at_one(fn: Function, entries: list[Block], edges) -> Block | None:
    """Add a block that goes on to the entries by number. Its parameters serve several entries where types are equal.
    Returns None where an entry needs an array that another edge cannot pass."""
    number, places = Value(k.Int, "way"), []
    made = Block("ways", [number])
    for block in entries:
        rest, own = list(made.params[1:]), []
        for p in block.params:
            same = [q for q in rest if q.type is p.type]
            q = next((q for q in same if q.name == p.name), same[0] if same else None)
            if q is None:
                q = Value(p.type, p.name)
                made.params.append(q)
            else:
                rest.remove(q)
            own.append(q)
        places.append(own)
    b = Builder([])
    changed = []
    for n, (block, own) in enumerate(zip(entries, places)):
        which = b.const(n, k.Int)
        for _, _, e in edges[block]:
            given = dict(zip(own, e.args))
            args = [which]
            for q in made.params[1:]:
                x = given.get(q)
                if x is None and type(q.type) is k.Array:
                    x = next((x for x in e.args if x.type is q.type), None)
                    if x is None:
                        return None
                args.append(_nothing(b, q.type) if x is None else x)
            changed.append((e, args))
    for e, args in changed:
        e.block, e.args = made, args
    fn.entry.insts[0:0] = b.insts
    Builder(made.insts).jump_by_number(number, [Edge(block, own) for block, own in zip(entries, places)])
    fn.blocks.append(made)
    return made


def open_cells(fn: Function) -> bool:
    """Replace cells that only loads and stores of this function use by values.
    Before:  c = cell_new x ; cell_store c, y ; z = cell_load c        After:  z is y"""
    cells = {inst.result for block in fn.blocks for inst in block.insts if inst.op is mem.CELL_NEW}
    if not cells:
        return False
    for block in fn.blocks:
        for inst in block.insts:
            seen = inst.args[1:] if inst.op is mem.CELL_LOAD or inst.op is mem.CELL_STORE else inst.args
            cells.difference_update(seen, *(e.args for e in inst.edges()))
    if not cells:
        return False
    end_blocks_at_raises(fn)
    of: dict[Value, variables.Variable] = {}
    replace: dict[Value, Value] = {}
    for block in reverse_postorder(fn):
        insts, block.insts = block.insts, []
        b = Builder(block.insts)
        for inst in insts:
            b.at(inst)
            if inst.op is mem.CELL_NEW and inst.result in cells:
                of[inst.result] = variables.Variable(inst.result.name, inst.args[0].type)
                variables.write(b, of[inst.result], inst.args[0])
            elif inst.op is mem.CELL_STORE and inst.args[0] in cells:
                variables.write(b, of[inst.args[0]], inst.args[1])
            elif inst.op is mem.CELL_LOAD and inst.args[0] in cells:
                replace[inst.result] = variables.read(b, of[inst.args[0]])
            else:
                block.insts.append(inst)
    substitute(fn.blocks, replace)
    variables.build(fn)
    return True


def take_parts_again(fn: Function) -> bool:
    """Let a block that gets a part of an array on some paths, and nothing on others, take the part itself, so that the
    array has no second name there. The backward pass of a branch reads such parts.
    Before:  p: x = array_view a, n, m, s ; jump b(x)      b(y: float64[::1]): ...
             q: z = undef ; jump b(z)
    After:   p: jump b(n, m, s)                            b(i, j, k): y = array_view a, i, j, k ; ...
             q: jump b(0, 0, 0)"""
    found = False
    known = None
    for block in fn.blocks[1:]:
        for p in [p for p in block.params if type(p.type) is k.Array and is_varying(p.type)]:
            if known is None:
                known = in_edges(fn.blocks), Dominators(fn), {x: one for one in fn.blocks for x in one.values()}
            edges, dom, home = known
            at = block.params.index(p)
            arriving = [x for x in edges[block] if x[0] in dom.idom or x[0] is fn.entry]
            parts = [_part_of(e.args[at]) for _, _, e in arriving]
            roots = {part[0] for part in parts if part is not None}
            if None not in parts or len(roots) != 1 or not all(x in home and dom.dominates(
                    home[x], block) and home[x] is not block for x in roots):
                continue
            (root,) = roots
            if any(part is not None and not part[1] for part in parts):
                continue
            places = [Value(k.Int) for _ in range(1 + 2 * p.type.ndim)]
            for (source, inst, e), part in zip(arriving, parts):
                b = Builder([], inst)
                if part is None:
                    given = [b.const(0, k.Int) for _ in places]
                else:
                    first, *offsets = [view.args[1] for view in part[1]]
                    for offset in offsets:
                        first = b.op(a.IADD, first, offset)
                    given = [first, *part[1][-1].args[2:]]
                before = source.insts.index(inst)
                source.insts[before:before] = b.insts
                e.args[at:at + 1] = given
            block.params[at:at + 1] = places
            b = Builder([], block.insts[0])
            y = b.op(mem.ARRAY_VIEW, root, *places, type=p.type)
            block.insts[0:0] = b.insts
            substitute(fn.blocks, {p: y})
            found, known = True, None
    return found


def _part_of(x: Value) -> tuple[Value, list[Inst]] | None:
    """(the array that x is a part of, the views that lead from it to x); None for an array that is never read."""
    views: list[Inst] = []
    if x.inst is not None and x.inst.op is s.UNDEF:
        return None
    while x.inst is not None and x.inst.op is mem.ARRAY_VIEW:
        views.insert(0, x.inst)
        x = x.inst.args[0]
    return x, views


def put_in_order(fn: Function, helpers) -> bool:
    """Let the arrays that blocks pass on be in C order where parts of them are used, so that a part of an array of
    adjoints is where the part of the array is. An array that is written into under several names stays as it is.
    Before:  b(x: float64[:, :]): ... ; jump b(y)        After:  b(x: float64[:, ::1]): ... ; jump b(copied y)"""
    params = {p: block for block in fn.blocks[1:] for p in block.params
              if type(p.type) is k.Array and p.type.layout == "A" and is_varying(p.type)}
    if not params:
        return False
    classes, used = Classes(fn), set()
    for block in fn.blocks:
        for inst in block.insts:
            # a nest that is to be written out reads its operands through views
            viewed = (inst.args[:1] if inst.op is mem.ARRAY_VIEW else
                      inst.args if inst.op is NEST and not is_known(inst) else ())
            for x in viewed:
                while x.inst is not None and x.inst.op is s.RETYPE:
                    x = x.inst.args[0]
                if x in params:
                    used.add(classes.of(x))
    used -= written_again(fn, classes)
    new = {p: Value(k.Array(p.type.dtype, p.type.ndim), p.name) for p in params if classes.of(p) in used}
    for block in fn.blocks:
        insts, block.insts = block.insts, []
        b = Builder(block.insts)
        for inst in insts:
            b.at(inst)
            for e in inst.edges():
                for n, p in enumerate(e.block.params):
                    if p in new and e.args[n].type is not new[p].type:
                        x = e.args[n]
                        e.args[n] = new[x] if x in new else b.call(helpers("copied", (x.type,)), x)
            block.insts.append(inst)
    replace = {}
    for p, x in new.items():
        b = Builder([], params[p].insts[0])
        replace[p] = b.op(s.RETYPE, x, type=p.type)
        params[p].insts[0:0] = b.insts
        params[p].params[params[p].params.index(p)] = x
    substitute(fn.blocks, replace)
    return bool(new)


# -- unions

_MADE = (s.UNION_MAKE, s.UNION_CAST, s.SELECT, s.CHOOSE, s.UNDEF, s.TUPLE_AT)
_READ = (s.UNION_GET, s.UNION_IS, s.UNION_CAST, s.SELECT, s.CHOOSE)


def _parts_of(t) -> Any:
    """The types of the numbers and arrays of which a member of a union, such as the state of a generator, consists;
    None where it has other parts. Python floats count as float64, so that both can be stored in the same value."""
    if t is k.Float:
        return [k.float64]
    if t is k.NoneType or t is k.Unbound or isinstance(t, k.Singleton):
        return []
    if _is_part(t):
        return [t]
    if not isinstance(t, k.Composite) or type(t) in (k.Union, k.Dual):
        return None
    parts = [_parts_of(part) for part in t.parts]
    return None if any(part is None for part in parts) else [x for part in parts for x in part]


def _places(member) -> list:
    """Where the parts of a member of a union are: [(type, the number of equal types before it, member or None)]. The
    members share the places of numbers. Arrays have their own, so that one which a generator keeps in each of its
    states does not change places in a loop: the places of other members are undefined there."""
    types = _parts_of(member)
    return [(t, types[:n].count(t), member if type(t) is k.Array else None) for n, t in enumerate(types)]


def _parts(b: Builder, x: Value) -> list[Value]:
    """The numbers and arrays of a value."""
    if _is_part(x.type):
        return [b.cast(x, k.float64) if x.type is k.Float else x]
    if not isinstance(x.type, k.Composite):
        return []
    found = []
    for op, attrs, t in s.takers(x.type):
        found += _parts(b, _made_by(b, op, [x], attrs, t))
    return found


def _put_together(b: Builder, t, parts) -> Value:
    """The value of type t that consists of these numbers and arrays. parts: an iterator over them."""
    if _is_part(t):
        return b.cast(next(parts), t)
    if not isinstance(t, k.Composite):
        return b.op(s.UNDEF, type=t)
    given = [_put_together(b, part, parts) for part in t.parts]
    op, attrs = s.maker(t)
    return _made_by(b, op, given, attrs, t)


def _made_by(b: Builder, op, args, attrs, t) -> Value:
    found = Value(t)
    b.insts.append(Inst(op, args, {**attrs, **b.notes}, found, b.loc))
    return found


def _can_be_opened(t) -> bool:
    return type(t) is k.Union and all(_parts_of(m) is not None for m in t.members)


class _Components(Unions):
    """Sets of values that joins and selects connect. closed: values that an instruction not known here uses; packed:
    those that are packed in tuples; read: those whose members are read."""

    def __init__(self):
        super().__init__()
        self.closed: set[Value] = set()
        self.packed: set[Value] = set()
        self.read: set[Value] = set()


def open_unions(fn: Function) -> bool:
    """Replace values of a union type by a number that says which member it is, and a value for each member.
    Before:  u = select c, (union_make x), (union_make y) ; union_is u ; union_get u
    After:   n = select c, 0, 1 ; ieq n, 0 ; select c, x, y"""
    order = reverse_postorder(fn)
    if not any(type(x.type) is k.Union for block in order
               for x in block.values()):
        return False
    _make_indexed(order)
    found = _found(fn, order)
    if not found:
        return False
    parts: dict[Value, list[Value]] = {}
    replace: dict[Value, Value] = {}
    for block in order:
        if any(p in found for p in block.params):
            params = []
            for p in block.params:
                if p in found:
                    parts[p] = [Value(k.Int, p.name), *(Value(t, p.name) for t, *_ in _slots(p.type))]
                    params += parts[p]
                else:
                    params.append(p)
            block.params = params
    for block in order:
        insts, block.insts = block.insts, []
        b = Builder(block.insts)
        for inst in insts:
            b.at(inst)
            for e in inst.edges():
                e.args = [y for x in e.args for y in (parts[x] if x in found else (x,))]
            if inst.result in found:
                parts[inst.result] = _made(b, inst, parts)
            elif inst.op is s.UNION_IS and inst.args[0] in found:
                of, t = parts[inst.args[0]], inst.args[0].type
                replace[inst.result] = b.op(a.IEQ, of[0], b.const(t.members.index(inst.attrs["type"]), k.Int))
            elif inst.op is s.UNION_GET and inst.args[0] in found:
                wanted, t = inst.result.type, inst.args[0].type
                replace[inst.result] = _member(b, t, parts[inst.args[0]], wanted)
            else:
                inst.args = [_union_of(b, x.type, parts[x]) if x in found else x for x in inst.args]
                block.insts.append(inst)
    fn.blocks = order
    substitute(fn.blocks, replace)
    return True


def name_arrays_once(fn: Function) -> bool:
    """Use the array itself in the place of parameters that are always that array or undefined, as those are that were
    parts of a union. Returns whether there were any.
    Before:  jump b(x, undef)    b(p, q): ... jump b(undef, p)  or  jump b(undef, q)
    After:   x in the place of p and of q"""
    dom = Dominators(fn)
    edges, home = in_edges(dom.order), {x: block for block in dom.order for x in block.values()}
    params = [(p, [e.args[n] for _, _, e in edges[block]]) for block in dom.order[1:]
              for n, p in enumerate(block.params) if type(p.type) is k.Array]
    several: set[Value] = set()  # parameters that have several values, each of which counts as a value of its own
    while True:
        only: dict[Value, Value | None] = {p: None for p, _ in params if p not in several}
        found, changed = len(several), True
        while changed and len(several) == found:
            changed = False
            for p, args in params:
                if p in several:
                    continue
                given = {only[x] if x in only else x for x in args if x.inst is None or x.inst.op is not s.UNDEF}
                given.discard(None)
                if len(given) > 1 or any(not dom.dominates(home[x], home[p]) for x in given if x in home):
                    several.add(p)
                elif given != {only[p]} and given:
                    only[p] = given.pop()
                    changed = True
        if len(several) == found:
            break
    replace = {p: x for p, x in only.items() if x is not None}
    substitute(fn.blocks, replace)
    return bool(replace)


def _make_indexed(order) -> None:
    """Where a tuple with items of several types is indexed, make it again of its items directly before.
    Before:  u = tuple_at p, i        After:  x = tuple_get p ; y = tuple_get p ; u = tuple_at (x, y), i"""
    for block in order:
        for inst in [inst for inst in block.insts if inst.op is s.TUPLE_AT and type(inst.result.type) is k.Union]:
            given = inst.args[0]
            if given.inst is None or given.inst.op is not s.TUPLE_MAKE:
                b = Builder([], inst)
                items = [b.op(s.TUPLE_GET, given, index=n) for n in range(len(given.type.elements))]
                inst.args[0] = b.op(s.TUPLE_MAKE, *items, cls=None)
                at = block.insts.index(inst)
                block.insts[at:at] = b.insts


def _slots(t: k.Union) -> list:
    """The places of the values that are needed to represent any member of a union."""
    return list(dict.fromkeys(x for m in t.members for x in _places(m)))


def _found(fn: Function, order) -> set[Value]:
    """The values that can be opened: only operations that are known here make them, pass them on or read them."""
    same = _Components()
    values: dict[Value, None] = {}
    for block in order:
        for p in block.params:
            if type(p.type) is k.Union:
                values[p] = None
                if block is fn.entry:
                    same.closed.add(p)
        for inst in block.insts:
            r, op = inst.result, inst.op
            if r is not None and type(r.type) is k.Union:
                values[r] = None
                if op not in _MADE or op is s.UNION_MAKE and inst.args[0].type not in r.type.members or (
                        op is s.TUPLE_AT and not all(x.type in r.type.members for x in items_of(inst) or (r,))):
                    same.closed.add(r)
            for x in inst.args:
                if type(x.type) is not k.Union:
                    continue
                if r is not None and type(r.type) is k.Union:
                    same.join(x, r)
                if op is s.TUPLE_MAKE:
                    same.packed.add(x)
                elif op not in _READ or (
                        op in (s.UNION_GET, s.UNION_IS) and inst.attrs["type"] not in x.type.members):
                    same.closed.add(x)
                elif op in (s.UNION_GET, s.UNION_IS):
                    same.read.add(x)
            for e in inst.edges():
                for p, x in zip(e.block.params, e.args):
                    if type(x.type) is k.Union:
                        same.join(x, p)
                        if p.type is not x.type:
                            same.closed.add(p)
    read = {same.of(v) for v in same.read}
    closed = {same.of(v) for v in values if v in same.closed or not _can_be_opened(v.type) or v in same.packed and not (
        same.of(v) in read and _holds_numbers(v.type))}
    return {v for v in values if same.of(v) not in closed}


def _holds_numbers(t: k.Union) -> bool:
    """Whether all parts of the members of a union are numbers, so that a value can be made of those that it does not
    hold, too."""
    return all(_has_nothing(x) and type(x) is not k.Array for x, *_ in _slots(t))


def _member(b: Builder, t: k.Union, parts, wanted) -> Value:
    """The member of type `wanted` of a union of type t."""
    held = dict(zip(_slots(t), parts[1:]))
    return _put_together(b, wanted, iter([held[x] for x in _places(wanted)]))


def _union_of(b: Builder, t: k.Union, parts) -> Value:
    """The union of type t that consists of these parts, for a tuple. What reads it there has no derivative; a result
    that is not differentiated needs none."""
    made = [b.op(s.UNION_MAKE, _member(b, t, parts, m), type=t) for m in t.members]
    found = made.pop()
    for n, x in enumerate(made):
        found = b.op(s.SELECT, b.op(a.IEQ, parts[0], b.const(n, k.Int)), x, found)
    return found


def _made(b: Builder, inst: Inst, parts) -> list[Value]:
    """(number of the member, values of all members) for the result of an instruction."""
    op, t = inst.op, inst.result.type
    slots = _slots(t)
    if op is s.SELECT or op is s.CHOOSE:
        return [b.op(op, inst.args[0], x, y) for x, y in zip(parts[inst.args[1]], parts[inst.args[2]])]
    if op is s.TUPLE_AT:
        items = [(t.members.index(x.type), dict(zip(_places(x.type), _parts(b, x))))
                 for x in items_of(inst)]
        rows = [[b.const(number, k.Int) for number, _ in items]]
        rows += [[held[x] if x in held else _nothing(b, x[0]) for _, held in items] for x in slots]
        return [b.op(op, b.op(s.TUPLE_MAKE, *row, cls=None), inst.args[1]) for row in rows]
    if op is s.UNION_MAKE:
        x = inst.args[0]
        number = b.const(t.members.index(x.type), k.Int)
        held = dict(zip(_places(x.type), _parts(b, x)))
    elif op is s.UNION_CAST:
        given = inst.args[0].type
        of = parts[inst.args[0]]
        # a member that the new type does not have is one that a test before has excluded
        ours = [(n, t.members.index(m)) for n, m in enumerate(given.members) if m in t.members]
        number, held = b.const(ours[0][1] if ours else -1, k.Int), dict(zip(_slots(given), of[1:]))
        for n, own in ours[1:]:
            number = b.op(s.SELECT, b.op(a.IEQ, of[0], b.const(n, k.Int)), b.const(own, k.Int), number)
    else:
        number, held = b.const(-1, k.Int), {}
    return [number, *(held[x] if x in held else _nothing(b, x[0]) for x in slots)]


def _is_part(t) -> bool:
    return _has_nothing(t) or t is k.Str or type(t) is k.List or isinstance(t, k.ObjectOf)


def _has_nothing(t) -> bool:
    return type(t) is k.Array or k.is_number(t) or t is k.Bool or t is k.NpBool


def _nothing(b: Builder, t) -> Value:
    """Add an arbitrary value of a type: it fills the places of members that the union does not hold."""
    if type(t) is k.Array or not _has_nothing(t):
        return b.op(s.UNDEF, type=t)
    if k.is_float(t) or k.is_complex(t):
        return b.zero(t)
    return b.op(c.CONST, type=t, value=False) if t is k.Bool or t is k.NpBool else b.const(0, t)
