"""Facts about integers and floats that follow from the branches which lead to a block.

A fact is (value, relation, other): an integer compared with another value or a number, or a float that is not NaN
compared with a number. It holds in all blocks that the target of the branch dominates: `branch (ilt i, n) -> body, out`
says i < n in `body` and i >= n in `out`, and in what they dominate. `check_index i, n` says i < n in the blocks that
its block dominates. Used by ranges and inequalities; an analysis, which
changes nothing.
"""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir.cfg import Dominators
from ..ir.core import Block, Edge, Inst, Op, Value
from ..ops import control, structure
from ..ops.arith import (
    BAND, BNOT, BOR, CAST, FEQ, FGE, FGT, FLE, FLT, IADD_CK, IAND, IEQ, IGE, IGT, ILE, ILT, INE, INTEGER_COMPARISONS,
)
from ..ops.memory import ARRAY_DIM, CHECK_INDEX
from ..types.kinds import Bool, Int, NpBool, NpInt, is_float, is_integer
from .counted import Counted, Definitions

__all__ = ["Conditions"]

bisect = lazy("bisect")  # imported lazily: needed only for values with many facts

# A comparison of floats -> the relation that it implies for floats that are not NaN; for integers the relation is the
# comparison itself.
_OF_FLOATS = {FEQ: IEQ, FLT: ILT, FLE: ILE, FGT: IGT, FGE: IGE}
_DEEPEST = 4  # the depth to which conditions are taken apart
_FEW = 8  # facts about a value that are looked at one by one


def _widened(value: Value) -> Value | None:
    """The NumPy integer that was converted to this int without a possible change of the number, or None."""
    inst = value.inst
    if inst is None or inst.op is not CAST or value.type is not Int:
        return None
    t = inst.args[0].type
    return inst.args[0] if isinstance(t, NpInt) and (t.signed or t.bits < 64) else None


class Conditions:
    """at: value -> [(block, relation, other)]: facts that hold in all blocks that `block` dominates; relation: one of
    INTEGER_COMPARISONS, for floats too; other: a value or a number."""

    def __init__(self, dom: Dominators, defs: Definitions, edges, counters: list[Counted]):
        self.dom, self.defs = dom, defs
        self.at: dict[Value, list[tuple[Block, Op, object]]] = {}
        self.nests: dict[Value, tuple[list, list]] = {}
        for block in dom.order:
            inst = block.insts[-1]
            if inst.op is control.BRANCH:
                for edge in inst.targets:
                    if self._is_way_in(edge, edges):
                        for fact in self.on(inst, edge):
                            self._note(edge.block, *fact)
        for block in dom.order[1:]:
            for i, length in self._passed(dom.idom[block]):
                self._note(block, i, ILT, length)
                self._note(block, length, IGT, i)
        for counted in counters:
            body = counted.body.block
            if self._is_way_in(counted.body, edges):  # the body runs, so that the number of trips was positive
                trips = counted.start[counted.left]
                self._note(body, trips, IGT, 0)
                made = trips.inst
                if made is not None and made.op is structure.SELECT and defs.constant(made.args[2]) == 0:
                    self._note(body, made.args[1], IGT, 0)
                    for fact in self.of(made.args[0], True):
                        self._note(body, *fact)

    @staticmethod
    def _passed(block) -> list[tuple]:
        """[(index, length)] of the checks that have passed where control leaves a block, unless an exception may leave
        it before."""
        if any(inst.unwind is not None for inst in block.insts):
            return []
        return [inst.args for inst in block.insts if inst.op is CHECK_INDEX and "unchecked" not in inst.attrs]

    def _is_way_in(self, edge, edges) -> bool:
        """Whether an edge is the only one into its block, apart from back edges of loops whose header the block is."""
        arriving = edges[edge.block]
        if len(arriving) == 1:
            return True
        return [e for source, _, e in arriving if not self.dom.dominates(edge.block, source)] == [edge]

    def _note(self, block, value, relation, other):
        self.at.setdefault(value, []).append((block, relation, other))

    def on(self, inst: Inst, edge: Edge) -> list[tuple]:
        """The facts that hold where `inst`, a branch, takes `edge`."""
        if inst.op is not control.BRANCH:
            return []
        return self.of(inst.args[0], edge is inst.targets[0])

    def of(self, condition: Value, holds: bool, depth: int = 0) -> list[tuple]:
        """[(value, relation, other)] that hold where a condition is true (holds) or false."""
        inst = condition.inst
        while inst is not None and (inst.op is BNOT or inst.op is CAST and inst.args[0].type in (Bool, NpBool)):
            holds = holds if inst.op is CAST else not holds
            inst = inst.args[0].inst
        if inst is None or depth > _DEEPEST:
            return []
        op = inst.op
        if op is CAST:
            return [(inst.args[0], INE if holds else IEQ, 0)] if is_integer(inst.args[0].type) else []
        if op is BAND and holds or op is BOR and not holds:
            return [fact for x in inst.args for fact in self.of(x, holds, depth + 1)]
        if op in _OF_FLOATS:
            relation = _OF_FLOATS[op]
            left, right = map(self.number, inst.args)
            known = [(inst.args[0], relation, right), (inst.args[1], relation.swapped, left)]
            # If a float is not NaN, a comparison with a number that is false implies the negated relation.
            return [(v, r if holds else r.negated, n) for v, r, n in known if n is not None]
        if op not in INTEGER_COMPARISONS:
            return []
        x, y = inst.args
        if not is_integer(x.type) or x.type is not y.type:
            return []
        relation = op if holds else op.negated
        assert relation is not None
        compared = [(x, relation, y), (y, relation.swapped, x)]
        facts: list[tuple] = [*compared, *((narrow, of, self.defs.constant(limit)) for v, of, limit in compared
                                           if self.defs.constant(limit) is not None
                                           and (narrow := _widened(v)) is not None)]
        if relation is INE and x.inst is not None and x.inst.op is IAND and self.defs.constant(y) == 0:
            facts += [(v, INE, 0) for v in x.inst.args if self.defs.constant(v) is None]  # no bit of 0 is in another
        # if p + q is below a limit and q is not negative, p is below the limit, too
        return facts + [(p, of, limit) for v, of, limit in facts if of is ILT or of is ILE for p in self._in_sum(v)]

    def _in_sum(self, value: Value) -> list[Value]:
        """The operands p of a checked sum p + q in which q is never negative."""
        inst = value.inst
        if inst is None or inst.op is not IADD_CK:
            return []
        return [p for p, q in (inst.args, inst.args[::-1]) if self.defs.constant(p) is None and self._is_natural(q)]

    def _is_natural(self, value: Value) -> bool:
        inst, constant = value.inst, self.defs.constant(value)
        if inst is None or constant is not None:
            return constant is not None and constant >= 0
        t = inst.args[0].type if inst.op is CAST else None
        return (inst.op is ARRAY_DIM or inst.op is IAND and any(map(self._is_natural, inst.args))
                or isinstance(t, NpInt) and not t.signed)

    def number(self, value: Value) -> float | None:
        """The value of a float that is a constant; None if it is not, or if it is NaN."""
        inst = value.inst
        if inst is None or inst.op is not control.CONST or not is_float(value.type):
            return None
        number = float(inst.attrs["value"])
        return number if number == number else None

    def facts(self, value: Value, block: Block) -> list[tuple]:
        """[(relation, other)]: the facts that hold for a value in a block."""
        noted = self.at.get(value, ())
        if len(noted) <= _FEW:
            return [(relation, other) for home, relation, other in noted if self.dom.dominates(home, block)]
        if value not in self.nests:
            self.nests[value] = self._nest(noted)
        places, facts = self.nests[value]
        found: list[tuple] = []
        at = bisect.bisect_right(places, self.dom.entered[block]) - 1
        while at >= 0:
            (home, relation, other), at = facts[at]
            if self.dom.dominates(home, block):
                found.append((relation, other))
        return found

    def _nest(self, noted):
        """An index for finding the facts that hold in a block without testing each: (the preorder numbers of the facts'
        blocks in the dominator tree, ascending; for each fact in this order (fact, index of the nearest earlier fact
        whose block dominates this fact's block, or -1)). All facts that hold in a block are on the chain of these
        indices that starts at the last fact numbered before the block. This matters for values such as the length of an
        array, which may have a fact at every statement, of which few hold in any one block."""
        entered = self.dom.entered
        ordered = sorted(noted, key=lambda fact: entered[fact[0]])
        facts: list[tuple] = []
        for fact in ordered:
            above = len(facts) - 1
            while above >= 0 and not self.dom.dominates(facts[above][0][0], fact[0]):
                above = facts[above][1]
            facts.append((fact, above))
        return [entered[home] for home, _, _ in ordered], facts
