"""Forward loads and stores across iterations: from the test of a loop to its body, and from the body to the next test.

Runs after the second gvn, which shares loads where one dominates the other; needless index checks have been removed.
The test of a `while` loop stands before the loop and at its end, so that each load of the test has two copies:
Before:  b: x = array_load a, j ; branch c -> head(j)
         head(k): y = array_load a, k ; ... z = array_load a, m ; branch d -> head(m), out
After:   b: x = array_load a, j ; branch c -> head(j, x)
         head(k, y): ... z = array_load a, m ; branch d -> head(m, z), out
Only in loops that are not counted: LLVM can vectorise those, which loop-carried values would prevent.
Needs: SSA.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges
from ..ops.memory import ARRAY_LOAD, ARRAY_STORE
from ..types.kinds import is_scalar
from .alias import Aliases
from .counted import Affine, Definitions, affine, find
from .rewrite import resolve, substitute

__all__ = ["run"]

_FAR = 4  # the most blocks that are searched backwards


def run(fn: ir.Function, options=None) -> None:
    nest = LoopNest(fn)
    if any(not loop.inner for loop in nest.loops):
        _Reload(fn, nest).run()


class _Reload:
    def __init__(self, fn, nest):
        self.defs = Definitions(fn)
        self.aliases = Aliases(fn)
        self.edges = in_edges(fn.blocks)
        self.nest = nest
        self.everywhere = set(fn.blocks)
        self.forms: dict = {}
        self.mapping: dict[ir.Value, ir.Value] = {}

    def run(self):
        for loop in self.nest.loops:
            if loop.inner or not any(i.op is ARRAY_LOAD for b in loop.blocks for i in b.insts):
                continue
            if find(loop, self.defs, self.edges) is not None:
                continue
            for block in self.nest.dom.order:
                if block in loop.blocks:
                    self.forward(block)
            self.carry(loop.header)
        substitute(self.nest.dom.order, self.mapping)

    def form(self, v) -> Affine:
        return affine(v, self.defs, self.everywhere, self.forms)

    def forward(self, block):
        """Replace loads of elements that were loaded or stored before on the only path to the load."""
        kept = []
        for n, inst in enumerate(block.insts):
            if inst.op is ARRAY_LOAD and is_scalar(inst.result.type):
                found = self.earlier(inst, [self.form(v) for v in inst.args[1:]], block, n)
                if found is not None:
                    self.mapping[inst.result] = found
                    continue
            kept.append(inst)
        block.insts = kept

    def carry(self, header):
        """Replace loads at the start of a loop by parameters, where each edge into it knows the element."""
        arriving = self.edges[header]
        if any(edge is inst.unwind for _, inst, edge in arriving):
            return
        written: list[ir.Inst] = []
        for inst in list(header.insts):
            if inst.op.effects & ir.WRITES:
                written.append(inst)
            if inst.op is not ARRAY_LOAD or not is_scalar(inst.result.type) or any(
                    self.aliases.may_change(w, inst) for w in written):
                continue
            memo: dict = {}
            own = [affine(v, self.defs, {header}, memo) for v in inst.args[1:]]
            found = [self.earlier(inst, [self.handed(form, header, edge) for form in own], source, len(source.insts))
                     for source, _, edge in arriving]
            if None not in found:
                carried = ir.Value(inst.result.type, inst.result.name)
                header.params.append(carried)
                for (_, _, edge), v in zip(arriving, found):
                    assert v is not None
                    edge.args.append(v)
                header.insts.remove(inst)
                self.defs.block_of[carried] = header
                self.mapping[inst.result] = carried

    def handed(self, form, header, edge) -> Affine:
        """The affine form of an index in the header, with the arguments of `edge` in place of the header's
        parameters."""
        found = Affine(form.constant, {})
        for v, c in form.terms.items():
            if v in header.params:
                v = edge.args[header.params.index(v)]
            found = found.plus(self.form(v).times(c), 1)
        return found

    def earlier(self, load, wanted, block, end) -> ir.Value | None:
        """The value that the element is known to have before instruction `end` of a block, or None."""
        array = load.args[0]
        for _ in range(_FAR):
            for inst in reversed(block.insts[:end]):
                if inst.op is ARRAY_LOAD and inst.args[0] is array or inst.op is ARRAY_STORE and inst.args[0] is array:
                    indices = inst.args[1:] if inst.op is ARRAY_LOAD else inst.args[1:-1]
                    differences = [x.plus(self.form(v), -1) for x, v in zip(wanted, indices)]
                    value = inst.result if inst.op is ARRAY_LOAD else inst.args[-1]
                    if not any(d.terms or d.constant for d in differences):
                        return resolve(self.mapping, value) if value.type is load.result.type else None
                    differ = array.type.layout != "A" and any(d.constant and not d.terms for d in differences)
                    if inst.op is ARRAY_STORE and not differ:
                        return None
                elif inst.op.effects & ir.WRITES and self.aliases.may_change(inst, load):
                    return None
            arriving = self.edges.get(block, ())
            if len(arriving) != 1 or arriving[0][2] is arriving[0][1].unwind:
                return None
            block = arriving[0][0]
            end = len(block.insts)
        return None
