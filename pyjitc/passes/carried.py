"""The values that are carried across the iterations of a parallel loop, and how those of its chunks are combined.

`parallel.py` asks `Carried.classify`, which sorts the parameters of a loop's header into counters, invariant values,
and parts: a sum, a flag, the last value, an `and` or `or` of tests, or a minimum or maximum with the values that are
assigned together with it. Each part says which value a chunk starts with, and how its result is combined with those of
the chunks before it. This module adds instructions to the builders that it is given, and changes nothing else.
"""
from __future__ import annotations

import re
from typing import Any

from ..base.errors import with_article
from ..ir import core as ir
from ..ir.cfg import LoopNest
from ..ops import arith as a
from ..ops import control
from ..ops.math import FMAX_NUMBER, FMIN_NUMBER
from ..ops.structure import DUAL_MAKE, SELECT, UNION_GET, UNION_IS, UNION_MAKE
from ..types import kinds as k
from ..types.lattice import dtype_of, part_of, type_of_dtype
from .counted import Counted, Definitions
from .operands import constant_of
from .rewrite import Builder, clone_inst, growing

__all__ = ["Carried", "Computed", "Part", "Serial", "LEFT_ONLY", "SUMS", "element_type",
           "typed"]

# operation of a reduction -> (operation that combines two partial results, neutral element)
SUMS = {a.FADD: (a.FADD, 0), a.FSUB: (a.FADD, 0), a.FMUL: (a.FMUL, 1), a.FDIV: (a.FMUL, 1),
         a.IADD: (a.IADD, 0), a.ISUB: (a.IADD, 0), a.IMUL: (a.IMUL, 1),
         a.IADD_CK: (a.IADD_CK, 0), a.ISUB_CK: (a.IADD_CK, 0), a.IMUL_CK: (a.IMUL_CK, 1),
         a.IAND: (a.IAND, -1), a.IOR: (a.IOR, 0), a.IXOR: (a.IXOR, 0),
         a.BAND: (a.BAND, True), a.BOR: (a.BOR, False), a.BXOR: (a.BXOR, False),
         FMAX_NUMBER: (FMAX_NUMBER, float("-inf")), FMIN_NUMBER: (FMIN_NUMBER, float("inf"))}
# operations whose accumulator is the left operand: x - s is no sum
LEFT_ONLY = frozenset((a.FSUB, a.FDIV, a.ISUB, a.ISUB_CK))
# operations whose result is one of their operands, perhaps converted to another type
_PASS = {SELECT, a.CAST, UNION_GET, UNION_MAKE}
_STRICT = {a.ILT, a.IGT, a.FLT, a.FGT}
# operations of the conditions that choose an extreme
_TESTS = {*_STRICT, a.ILE, a.IGE, a.FLE, a.FGE, a.FEQ, a.FNE, a.BOR, a.BAND, a.BNOT, a.CAST}
_SCALARS = (k.Int, k.Float, k.Bool, k.Complex)
_MEMBER = re.compile(r"[._][0-9]+$")  # suffix in the name of a component of a variable
_DOUBLES = (k.Float, k.float64)


class Serial(Exception):
    """Raised where a loop must run on one thread: at which instruction, why, and what to write instead."""


class Carried:
    """The part of a region (parallel.py) that analyses the values carried across iterations."""

    fn: ir.Function
    loop: Any
    header: ir.Block
    branch: ir.Inst
    back: ir.Edge  # the back edge to the header
    count: Counted
    defs: Definitions
    edges: dict  # block -> its incoming edges, as from in_edges
    users: dict[ir.Value, list]  # value -> [(block, instruction, edge or None, position)] of its uses
    defined: set[ir.Value]  # values that are defined in the blocks of a chunk
    unwinds: set[int]  # edges on which exceptions leave the chunk, by id
    dom: Any = None
    refuses: bool  # whether a loop over prange with iterations that are not independent is an error

    def error(self, inst: ir.Inst, message: str, hint: str) -> Exception:
        raise NotImplementedError

    def classify(self) -> None:
        count, header = self.count, self.header
        self.counters: dict[ir.Value, Any] = {}  # parameter -> step: a number or an invariant value
        self.fixed: list[ir.Value] = []  # parameters that do not change
        self.parts: list[Part] = []
        rest = []
        for n, p in enumerate(header.params):
            new = self.back.args[n]
            if p is count.left:
                continue
            if p in count.steps:
                self.counters[p] = count.steps[p]
            elif (made := new.inst) is not None and made.op is a.IADD and made.args[0] is p and p.type is k.Int \
                    and made.args[1] not in self.defined:
                self.counters[p] = made.args[1]
            elif new is p:
                self.fixed.append(p)
            else:
                rest.append(p)
        for p in list(rest):
            part = self.chain(p) or self.flag(p) or self.short(p) or self.last(p)
            if part is not None:
                self.parts.append(part)
                rest.remove(p)
        while rest:
            group = self.extreme(rest)
            if group is None:
                break
            self.parts.append(group)
            rest = [p for p in rest if p not in group.params]
        if rest:
            raise self.carried(rest[0])
        for part in self.parts:
            for p in part.stored:
                if None in map(element_type, part.types(p)):
                    name = f"{p.name!r}, {with_article(str(p.type))}," if p.name else with_article(str(p.type))
                    raise Serial(self.branch, f"{name} goes from one iteration to the next or out of the loop",
                                 "only numbers do; keep others in an array with an element for each iteration")

    def carried(self, p: ir.Value) -> Exception:
        """The error for a value that is carried from one iteration to the next. It says how the program uses the value,
        and what to write instead."""
        name = _MEMBER.sub("", p.name)
        what = repr(name) if name else "a value"
        x = name or "s"
        general = (f"{what} goes from one iteration of a parallel loop to the next, and is no sum, product, minimum or "
                   "other reduction")
        new = self.back.args[self.position(p)]
        updates, reads = self.updates(p, new)
        used = [inst for block, inst, edge, _ in self.users.get(p, ()) if edge is None and block is not self.header]
        at = new.inst if new.inst is not None and new.inst.loc.line else next(
            (inst for inst in (*updates, *reads, *used) if inst.loc.line), self.branch)
        kinds = list(dict.fromkeys(SUMS[inst.op][0] for inst in updates))
        types = sorted({with_article(str(inst.result.type)) for inst in updates})
        sums = len({SUMS[inst.op][1] for inst in updates}) == 1 and not reads
        if sums and len(types) > 1:
            return self.error(at, f"{what} goes from one iteration of a parallel loop to the next, as "
                              f"{' on some paths and as '.join(types)} on others",
                              f"a sum or product has one type: start {x} with a value of the type of its terms, such "
                              f"as np.int64(0), or convert them, as in {x} += float(y)")
        members = self.several(p)
        if members and len(kinds) < 2 and all([inst.op.effects == ir.PURE for inst in reads]):
            example = next((f", such as np.{t}(0)" for t in members if t not in _SCALARS), "")
            return self.error(at, f"{what} goes from one iteration of a parallel loop to the next, as "
                              f"{' on some paths and as '.join([with_article(str(t)) for t in members])} on others",
                              f"a sum, product, minimum or maximum has one type: start {x} with a value of the type of "
                              f"its terms{example}, or convert them, as in float(y)")
        if len(kinds) == 1 and reads:
            reader = next((inst for inst in reads if inst.loc.line), None)
            line = f" (line {reader.loc.line})" if reader is not None and reader.loc.line != at.loc.line else ""
            return self.error(at, f"{general}: an iteration also reads it{line}",
                              f"a loop that needs the value of {x} up to each iteration is one for range, such as "
                              f"np.cumsum; in a parallel loop {x} is only updated, and read after the loop")
        if len(kinds) > 1:
            return self.error(at, f"{general}: it is updated in two ways",
                              f"update it in one form alone, as in {x} += y, and read it after the loop; or write "
                              "range for prange")
        return self.error(at, f"{general}: an iteration needs what the one before has left in it",
                          "compute it from the variable of the loop, as in a[i - 1] for the element of the iteration "
                          f"before; if it is a sum, update it in one form alone, as in {x} += y; or write range for "
                          "prange")

    def several(self, p: ir.Value) -> list[k.Type]:
        """The possible types of a parameter, or of a dual that it is a part of; empty where the number has a single
        type."""
        made = [inst.result.type for _, inst, edge, _ in self.users.get(p, ()) if edge is None and inst.op is DUAL_MAKE]
        for t in (p.type, *made):
            if type(t) is k.Dual:
                return [t.narrow, t.wide]
            if type(t) is k.Union and all([x in _SCALARS or k.is_numpy_scalar(x) for x in t.members]):
                return sorted(t.members, key=str)
        return []

    def updates(self, p: ir.Value, new: ir.Value) -> tuple[list[ir.Inst], list[ir.Inst]]:
        """(the sums and products that make the new value of a parameter from the old one, other instructions that read
        these values)"""
        sources = {new: None}
        for v in growing(sources):
            inst = v.inst
            if inst is not None and (inst.op in SUMS or inst.op in _PASS):
                sources.update(dict.fromkeys(inst.args))
            elif inst is None and v in self.defined and self.defs.block_of[v] is not self.header:
                block = self.defs.block_of[v]
                n = block.params.index(v)
                sources.update({edge.args[n]: None for _, _, edge in self.edges[block]})
        values = {p: None}
        updates, reads = [], []
        for v in growing(values):
            for block, inst, edge, n in self.users.get(v, ()):
                if edge is not None:
                    if edge.block in self.loop.blocks and edge.block.params[n] in sources:
                        values[edge.block.params[n]] = None
                elif inst.result in sources:
                    if inst.op in SUMS:
                        updates.append(inst)
                    values[inst.result] = None
                elif block is not self.header and inst.op is not UNION_IS:
                    reads.append(inst)
        return updates, reads

    def position(self, p: ir.Value) -> int:
        return self.header.params.index(p)

    def leaves(self, p: ir.Value, constants: bool = False):
        """([(where, value)], joins): the values that the parameter may have after an iteration, each with the (block,
        edge) or (select, operand) that passes it on; and the block parameters and selects through which they get
        there. constants: also through block parameters to which only constants are passed."""
        start = self.back.args[self.position(p)]
        joins: dict[ir.Value, None] = {}
        found = []
        work: list[tuple[ir.Value, Any]] = [(start, None)]
        while work:
            v, where = work.pop()
            if v is p or v not in self.defined:
                found.append((where, v))
                continue
            if v in joins:
                continue
            inst = v.inst
            if inst is None and (self.goes(v, p) or constants and self.joins_constants(v)):
                joins[v] = None
                block = self.defs.block_of[v]
                n = block.params.index(v)
                work += [(edge.args[n], (source, edge)) for source, _, edge in self.edges[block]]
            elif inst is not None and inst.op is SELECT and any(self.goes(x, p) for x in inst.args[1:]):
                joins[v] = None
                work += [(x, (inst, n)) for n, x in enumerate(inst.args[1:], 1)]
            else:
                found.append((where, v))
        return found, joins

    def joins_constants(self, v: ir.Value) -> bool:
        """Whether only constants are passed to a block parameter."""
        block = self.defs.block_of[v]
        n = block.params.index(v)
        made = [edge.args[n].inst for _, _, edge in self.edges[block]]
        return all([inst is not None and inst.op is control.CONST for inst in made])

    def goes(self, v: ir.Value, p: ir.Value) -> bool:
        """Whether the value of `p` may reach `v` through selects and block parameters."""
        seen = set()
        work = [v]
        while work:
            x = work.pop()
            if x is p:
                return True
            if x in seen or x not in self.defined:
                continue
            seen.add(x)
            if x.inst is not None and x.inst.op is SELECT:
                work += x.inst.args[1:]
            elif x.inst is None and self.defs.block_of[x] is not self.header:
                block = self.defs.block_of[x]
                n = block.params.index(x)
                work += [edge.args[n] for _, _, edge in self.edges[block]]
        return False

    def chain(self, p: ir.Value):
        """The part of a reduction: an iteration uses the parameter only as an operand of a sum, product or the like
        that becomes its new value. None where it is not."""
        # value -> which component of a complex accumulator it is, or None for all of it
        values: dict[ir.Value, ir.Op | None] = {p: None}
        op = None
        for v in growing(values):
            part = values[v]
            for block, inst, edge, n in self.users.get(v, ()):
                if edge is not None:
                    if edge is self.count.exit or id(edge) in self.unwinds:
                        continue
                    if edge.block is self.header:
                        if n != self.position(p):
                            return None
                        continue
                    if edge.block not in self.loop.blocks or edge is inst.unwind:
                        return None
                    values.setdefault(edge.block.params[n], part)
                elif block is self.header:
                    if not self.stays_in_header(inst, v):
                        return None
                elif inst.op in SUMS and (op is None or SUMS[inst.op] == op):
                    x, y = inst.args
                    if x is y or v is y and inst.op in LEFT_ONLY or part is not None and SUMS[inst.op][0] is not a.FADD:
                        return None
                    op = SUMS[inst.op]
                    values.setdefault(inst.result, part)
                elif inst.op is SELECT and v is not inst.args[0]:
                    values.setdefault(inst.result, part)
                elif inst.op is a.CAST and inst.result.type in _DOUBLES and v.type in _DOUBLES:
                    values.setdefault(inst.result, part)  # the conversion keeps the number
                elif inst.op in (a.REAL, a.IMAG) and part is None:
                    values.setdefault(inst.result, inst.op)
                elif inst.op is a.COMPLEX_MAKE and part is not None:
                    values.setdefault(inst.result, None)
                else:
                    return None
        if op is None or self.back.args[self.position(p)] not in values:
            return None
        for v, part in values.items():  # every way into a join or select must bring a value of the reduction
            if v is p or v.inst is not None and v.inst.op in (a.REAL, a.IMAG):
                continue
            if v.inst is None:
                block = self.defs.block_of[v]
                n = block.params.index(v)
                if any(values.get(edge.args[n], 0) is not part for _, _, edge in self.edges[block]):
                    return None
            elif v.inst.op is SELECT:
                if any(values.get(x, 0) is not part for x in v.inst.args[1:]):
                    return None
            elif v.inst.op is a.COMPLEX_MAKE:
                if [values.get(x) for x in v.inst.args] != [a.REAL, a.IMAG]:
                    return None
            elif sum(x in values for x in v.inst.args) != 1:
                return None
        combine, neutral = op
        sums = [v.inst for v in values if v.inst is not None and v.inst.op in SUMS]
        return _Sum([p], combine, neutral, sums[0].loc, [inst for inst in sums if "loose" in inst.op.attrs])

    def stays_in_header(self, inst: ir.Inst, v: ir.Value) -> bool:
        """Whether the results of an instruction of the header are only read after the loop."""
        if inst.op is control.BRANCH and v in inst.args or inst.result is None:
            return False
        values = {inst.result: None}
        for x in growing(values):
            for block, one, edge, _ in self.users.get(x, ()):
                if edge is self.count.exit or edge is not None and id(edge) in self.unwinds:
                    continue
                if block is not self.header or edge is not None or one.result is None:
                    return False
                values[one.result] = None
        return True

    def flag(self, p: ir.Value):
        """The part of a flag: each iteration leaves it as it is or sets it to the same value as all others do. None for
        others."""
        if not self.only_passed(p):
            return None
        found, _ = self.leaves(p)
        others = dict.fromkeys(v for _, v in found if v is not p)
        values = {self.constant(v) for v in others}
        if len(values) != 1 or None in values or not (p.type is k.Bool or p.type is k.bool_
                                                      or k.is_integer(p.type)):
            return None
        return _Flag([p], next(iter(others)))

    def constant(self, v: ir.Value):
        """A key that is equal for values which are the same constant; None where a value is not constant in the
        loop."""
        if v.inst is not None and v.inst.op is control.CONST:
            return v.inst.attrs["value"].__repr__(), str(v.type)
        return None if v in self.defined else id(v)

    def only_passed(self, p: ir.Value) -> bool:
        """Whether an iteration only passes a value on: to the next iteration, or out of the loop."""
        _, joins = self.leaves(p)
        passed = {p, *joins}
        for v in passed:
            for block, inst, edge, n in self.users.get(v, ()):
                if edge is not None:
                    if edge is self.count.exit or id(edge) in self.unwinds:
                        continue
                    if edge.block is self.header:
                        if n != self.position(p):
                            return False
                    elif edge.block not in self.loop.blocks or edge.block.params[n] not in passed:
                        return False
                elif inst.op is SELECT and v is not inst.args[0] and inst.result in passed:
                    continue
                elif block is not self.header or not self.stays_in_header(inst, v):
                    return False
        return True

    def short(self, p: ir.Value):
        """The part of the accumulator of `ok = ok and test` or `ok = ok or test`: an iteration branches on it, and
        changes it on one of the two outcomes only. None for others."""
        if p.type is not k.Bool and p.type is not k.bool_:
            return None
        for block in self.loop.blocks:
            branch = block.terminator
            if branch.op is control.BRANCH and block is not self.header and _uncast(branch.args[0]) is p:
                made = self.changes(p, p)
                if made is not None:
                    return _Short([p], made[0])
        return None

    def last(self, p: ir.Value):
        """The part of a value that no iteration reads, so that the value of the last iteration remains. None for
        others."""
        found, _ = self.leaves(p)
        if any(v is p for _, v in found):
            return None
        for block, inst, edge, n in self.users.get(p, ()):
            if edge is not None and (edge is self.count.exit or id(edge) in self.unwinds):
                continue
            if edge is not None or block is not self.header or not self.stays_in_header(inst, p):
                return None
        new = self.back.args[self.position(p)]
        cone = self.of_counters(new)
        return Computed([p], new, cone) if cone is not None else _Last([p])

    def of_counters(self, v: ir.Value):
        """The instructions that compute a value from counters and invariant values; None where it depends on others."""
        cone: dict[ir.Inst, None] = {}

        def add(x) -> bool:
            if x not in self.defined or x in self.counters:
                return True
            inst = x.inst
            if inst is None or inst.op.effects or len(cone) > 20:
                return False
            if inst in cone:
                return True
            if all(map(add, inst.args)):
                cone[inst] = None
                return True
            return False

        return list(cone) if add(v) else None

    def extreme(self, rest):
        """The part of a minimum or maximum `key` among the parameters `rest`, with those that change together with it;
        or None."""
        for key in rest:
            reached = {key: None}
            for v in growing(reached):
                for block, inst, edge, _ in self.users.get(v, ()):
                    if edge is None and block is not self.header and inst.op in _TESTS and len(reached) < 12:
                        reached[inst.result] = None
            for test in list(reached)[:0:-1]:  # a compound condition before its operands
                made = self.extreme_by(key, test, rest) if test.type is k.Bool else None
                if made is not None:
                    return made
        return None

    def extreme_by(self, key, test, rest):
        cone: dict[ir.Inst, None] = {}
        others: dict[ir.Value, None] = {}
        assigned = {v for _, v in self.leaves(key, test is key)[0] if _source(v) is not key}  # converted ones, too

        def add(v):
            if v is key:
                return
            if v.inst is None or v.inst.op not in _TESTS or v not in self.defined or v in assigned:
                others[v] = None
                return
            for x in v.inst.args:
                add(x)
            cone[v.inst] = None

        add(test)
        if len(others) != 1:
            return None
        (other,) = others
        changes = self.changes(key, test, cone)
        if changes is None or any(v is not other for _, v in changes[1]):
            return None
        yes, keyed = changes
        params, members = [key], []
        for p in rest:
            if p is key:
                continue
            with_it = self.changes(p, test)
            if with_it is not None and with_it[0] is yes and {w for w, _ in with_it[1]} <= {w for w, _ in keyed}:
                params.append(p)
                constants = {self.constant(v) for _, v in with_it[1]}
                members.append(len(constants) == 1 and None not in constants and p.type is k.Bool)
        # Other values change with the extreme. Which of two equal elements they belong to must be as in the serial
        # loop.
        one = _uncast(test).inst
        strict = yes and one is not None and one.op in _STRICT
        if not strict and not all(members):
            return None
        return _Extreme(params, members, key, other, test, list(cone), yes)

    def changes(self, p, test, cone=()):
        """(outcome, [(where, new value)]) where a parameter changes only where `test` has this outcome, and otherwise
        keeps its value; else None. cone: instructions of the condition, which may read the parameter too."""
        found, joins = self.leaves(p, test is p)
        ways = []
        outcomes = set()
        for where, v in found:
            if v is p:
                continue
            outcome = self.outcome(where, test)
            if outcome is None:
                return None
            if test is p and v.inst is not None and v.inst.op is control.CONST and v.inst.attrs["value"] is outcome[0]:
                continue  # this assignment keeps the value of the parameter
            outcomes.add(outcome[0])
            ways.append((outcome[1], v))
        if len(outcomes) != 1:
            return None
        tested = {inst.result for inst in cone}
        for v in (p, *joins):
            for block, inst, edge, n in self.users.get(v, ()):
                if edge is not None:
                    if edge is self.count.exit or id(edge) in self.unwinds:
                        continue
                    if edge.block is self.header and n == self.position(p):
                        continue
                    if edge.block is self.header or edge.block not in self.loop.blocks \
                            or edge.block.params[n] not in joins:
                        return None
                elif inst.op is SELECT and v in inst.args[1:] and inst.result in joins:
                    continue
                elif block is self.header and self.stays_in_header(inst, v):
                    continue
                elif v is p and (inst.result in tested or test is p and (
                        inst.op is control.BRANCH or inst.op is a.CAST and self.only_asked(inst.result))):
                    continue
                else:
                    return None
        return outcomes.pop(), ways

    def only_asked(self, v) -> bool:
        """Whether a value is used only as the condition of branches."""
        return all(edge is None and (inst.op is control.BRANCH or inst.op is a.CAST and self.only_asked(inst.result))
                   for _, inst, edge, _ in self.users.get(v, ()))

    def outcome(self, where, test):
        """(the outcome of the test, a key that identifies the place) with which control reaches the place `where` that
        passes a value on; None where no outcome is certain there."""
        if where is None:
            return None
        source, how = where
        test = _uncast(test)
        if isinstance(source, ir.Inst):  # an operand of a select: 1 where the test holds, 2 where it does not
            return (how == 1, "select") if _uncast(source.args[0]) is test else None
        if self.dom is None:
            self.dom = LoopNest(self.fn).dom
        for block in self.loop.blocks:
            branch = block.terminator
            if branch.op is control.BRANCH and _uncast(branch.args[0]) is test:
                for n, edge in enumerate(branch.targets):
                    target = edge.block
                    if how is edge or len(self.edges[target]) == 1 and self.dom.dominates(target, source):
                        return n == 0, block
        return None

# ---------------------------------------------------------------- kinds of parts


class Part:
    """Parameters whose values at the ends of the chunks are combined. starts_anew: a chunk does not start with the
    value from before the loop; stored: the parameters of which each chunk stores its value."""

    starts_anew = False
    what = ""
    shown_last = False

    def __init__(self, params: list[ir.Value]):
        self.params = self.stored = params

    def types(self, p) -> list[k.Type]:
        """The types of the scalars that a chunk stores for a parameter."""
        return [p.type]

    def scalars(self, b, p, value) -> list[ir.Value]:
        """The scalars that are stored for a value of a parameter."""
        return [value]

    def from_scalars(self, b, p, scalars) -> ir.Value:
        """The value of a parameter from the scalars that were stored."""
        return scalars[0]

    def names(self) -> list[str]:
        return list(dict.fromkeys(_MEMBER.sub("", p.name) or "a value" for p in self.params))

    def __str__(self):
        return f"{self.what} {' with '.join(self.names())}"

    def begin(self, e, begin) -> None:
        """Define what the parameters are at the start of a chunk."""

    def loosen(self, values) -> None:
        """Allow the sum within a chunk to be reassociated."""

    def combine(self, b, now, parts, new, final) -> None:
        """Define the parameters in `new`: the combination of `now`, the result of the chunks before, and `parts`, the
        result of one more chunk. final: the values from before the loop."""
        raise NotImplementedError


class _Sum(Part):
    what, starts_anew = "reduction of", True

    def __init__(self, params, op, neutral, loc, loose):
        super().__init__(params)
        self.op, self.neutral, self.loc, self.loose = op, neutral, loc, loose

    def begin(self, e, begin):
        p = self.params[0]
        begin[p] = e.const(p.type, constant_of(p.type, self.neutral))

    def loosen(self, values):
        for inst in self.loose:
            copy = values[inst.result].inst
            copy.attrs = {**copy.attrs, "loose": True}

    def combine(self, b, now, parts, new, final):
        p = self.params[0]
        if k.is_complex(p.type):
            t = part_of(p.type)
            sums = [b.op(self.op, *(b.op(part, x, type=t) for x in (now[p], parts[p])), type=t)
                    for part in (a.REAL, a.IMAG)]
            new[p] = b.op(a.COMPLEX_MAKE, *sums, type=p.type)
        else:
            new[p] = b.op(self.op, now[p], parts[p], type=p.type)
            new[p].inst.loc = self.loc


class _Flag(Part):
    what, shown_last = "flag", True
    def __init__(self, params, value):
        super().__init__(params)
        self.value = value

    def combine(self, b, now, parts, new, final):
        p = self.params[0]
        changed = b.test(a.INE, parts[p], final[p])
        new[p] = b.op(SELECT, changed, parts[p], now[p], type=p.type)


class _Last(Part):
    """The value of the last iteration. Of a variable that may be unbound, whether it is bound is stored, too."""

    what = "last value of"

    def types(self, p):
        t = _when_bound(p.type)
        return [p.type] if t is None else [k.Bool, t]

    def scalars(self, b, p, value):
        t = _when_bound(p.type)
        if t is None:
            return [value]
        is_bound = b.test(UNION_IS, value)
        is_bound.inst.attrs["type"] = t
        return [is_bound, typed(b, UNION_GET, value, t)]

    def from_scalars(self, b, p, scalars):
        if len(scalars) == 1:
            return scalars[0]
        unbound = typed(b, UNION_MAKE, b.const(k.Unbound, control.UNBOUND), p.type)
        return b.op(SELECT, scalars[0], typed(b, UNION_MAKE, scalars[1], p.type), unbound, type=p.type)

    def combine(self, b, now, parts, new, final):
        p = self.params[0]
        new[p] = parts[p]


class Computed(Part):
    """A last value that is computed from the counters of the last iteration."""

    what = "last value of"

    def __init__(self, params, value, cone):
        super().__init__(params)
        self.value, self.cone, self.stored = value, cone, []

    def finish(self, b, last, some, final):
        """Set `final` to the value after the loop. last: the counters in the last iteration; some: whether there is
        one."""
        p = self.params[0]
        values = dict(last)
        for inst in self.cone:
            b.insts.append(clone_inst(inst, values, {}))
        final[p] = b.op(SELECT, some, values.get(self.value, self.value), final[p], type=p.type)


class _Short(Part):
    what, shown_last = "test", True

    def __init__(self, params, both):
        super().__init__(params)
        self.both = both

    def combine(self, b, now, parts, new, final):
        p = self.params[0]
        arms = (parts[p], now[p]) if self.both else (now[p], parts[p])
        new[p] = b.op(SELECT, _truth(b, now[p]), *arms, type=p.type)


class _Extreme(Part):
    what = "extreme"
    def __init__(self, params, members, key, other, test, cone, outcome):
        super().__init__(params)
        self.members, self.key, self.other, self.test, self.cone = members, key, other, test, cone
        self.outcome = outcome

    def combine(self, b, now, parts, new, final):
        key, *others = self.params
        values = {self.key: now[key], self.other: parts[key]}
        for inst in self.cone:
            b.insts.append(clone_inst(inst, values, {}))

        def choose(p):
            arms = (parts[p], now[p]) if self.outcome else (now[p], parts[p])
            return b.op(SELECT, values[self.test], *arms, type=p.type)

        new[key] = choose(key)
        for p, constant in zip(others, self.members):
            if constant:
                changed = b.test(a.INE, parts[p], final[p])
                new[p] = b.op(SELECT, changed, parts[p], now[p], type=p.type)
            else:
                new[p] = choose(p)


# ---------------------------------------------------------------- helpers


def _source(v: ir.Value) -> ir.Value:
    """The value from which casts made `v`."""
    while v.inst is not None and v.inst.op is a.CAST:
        v = v.inst.args[0]
    return v


def _uncast(v: ir.Value) -> ir.Value:
    """The truth value from which casts between Bool and bool_ made `v`."""
    while v.inst is not None and v.inst.op is a.CAST and (v.inst.args[0].type is k.Bool
                                                          or v.inst.args[0].type is k.bool_):
        v = v.inst.args[0]
    return v


def _truth(b: Builder, v: ir.Value) -> ir.Value:
    return v if v.type is k.Bool else typed(b, a.CAST, v, k.Bool)


def _when_bound(t) -> k.Type | None:
    """The type that a variable of type `t` has where it is bound, if it may be unbound."""
    if isinstance(t, k.Union) and len(t.members) == 2 and k.Unbound in t.members:
        return next(one for one in t.members if one is not k.Unbound)
    return None


def element_type(t):
    """The element type of an array that can store values of a type, or None."""
    return type_of_dtype(dtype_of(t)) if t in _SCALARS or k.is_numpy_scalar(t) else None


def typed(b: Builder, op: ir.Op, x: ir.Value, t, *rest):
    """Emit an operation whose attribute `type` is the type of its result."""
    result = b.op(op, x, *rest, type=t)
    result.inst.attrs["type"] = t
    return result


