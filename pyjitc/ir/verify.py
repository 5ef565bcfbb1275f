"""The invariants of the IR, checked: one terminator at the end of a block; edges fit the parameters of their targets;
definitions dominate uses (exceptional edges leave from the middle of a block); nothing jumps to the entry; in typed
IR every value has the type that the rule of its operation gives, and calls fit the callee.

Run after inference and after every pass when PYJITC_VERIFY is set. Linear but for the dominator tree.
"""
from __future__ import annotations

from ..base.errors import VerifyError
from ..types.kinds import Bool, NoneType, Type, is_integer
from .cfg import Dominators
from .core import GENERIC, NOTES, RAISES, TERMINATOR, Block, Edge, Function, Inst, Value
from .show import show

__all__ = ["verify", "verify_module"]

_TARGETS = {"jump": 1, "branch": 2, "return": 0, "unreachable": 0, "raise": 0, "reraise": 0, "throw": 0, "exc_throw": 0}


def verify_module(functions, stage: str = "") -> None:
    """Every typed function; `stage` is said in the error."""
    for fn in functions:
        verify(fn, stage=stage)


def verify(fn: Function, generic: bool = False, stage: str = "") -> None:
    """Raises VerifyError that names the instruction and quotes the function."""
    _Check(fn, generic, stage).run()


class _Check:
    def __init__(self, fn: Function, generic: bool, stage: str):
        self.fn = fn
        self.generic = generic
        self.stage = stage
        self.known = set(fn.blocks)

    def fail(self, why: str, block: Block | None = None, inst: Inst | None = None):
        where = f" in block {block.name or 'b'}" if block is not None else ""
        if inst is not None:
            where += f" at {inst.op.name}" + (f" (line {inst.loc.line})" if inst.loc.line else "")
        after = f" after {self.stage}" if self.stage else ""
        try:
            text = show(self.fn)
        except Exception as error:  # the IR is broken: what is wrong matters more than its text
            text = f"(no text: {error!r})"
        raise VerifyError(f"{self.fn.name}{after}: {why}{where}\n{text}")

    def run(self):
        fn = self.fn
        if not fn.blocks:
            self.fail("no blocks")
        if len(self.known) != len(fn.blocks):
            self.fail("a block stands in the list twice")
        if not self.generic and not isinstance(fn.result, Type):
            self.fail("the function has no result type")
        for block in fn.blocks:
            self.block(block)
        self.dominance()

    # -- one block at a time

    def block(self, block: Block):
        if not block.insts:
            self.fail("empty block", block)
        for value in block.params:
            self.typed(value, block)
        last = len(block.insts) - 1
        for at, inst in enumerate(block.insts):
            terminates = bool(inst.op.effects & TERMINATOR)
            if terminates is not (at == last):
                self.fail("a terminator in the middle" if terminates else "no terminator at the end", block, inst)
            self.effects(block, inst)
            for edge in inst.edges():
                self.edge(block, inst, edge)
            if inst.result is not None:
                self.typed(inst.result, block, inst)
            if not self.generic:
                self.types(block, inst)

    def typed(self, value: Value, block: Block, inst: Inst | None = None):
        if self.generic:
            if value.type is not None:
                self.fail(f"value {value!r} of generic IR has a type", block, inst)
        elif not isinstance(value.type, Type):
            self.fail(f"value {value.name or 'v'} has no type", block, inst)

    def effects(self, block: Block, inst: Inst):
        op = inst.op
        if op.effects & GENERIC and not self.generic:
            self.fail("a generic operation in typed IR", block, inst)
        if inst.unwind is not None and not op.effects & RAISES:
            self.fail("an unwind edge at an operation that cannot raise", block, inst)
        if not inst.attrs.keys() <= op.attrs | NOTES:
            unknown = sorted(inst.attrs.keys() - op.attrs - NOTES)
            self.fail(f"{op.name} takes no {', '.join(unknown)}: the doc of an operation declares what it takes", block, inst)
        if inst.cleanup and not op.effects & RAISES:
            self.fail("values to release at an operation that cannot raise", block, inst)
        expected = 1 + len(inst.attrs.get("cases", ())) if op.name == "switch" else _TARGETS.get(op.name, 0)
        if len(inst.targets) != expected:
            self.fail(f"{len(inst.targets)} targets instead of {expected}", block, inst)

    def edge(self, block: Block, inst: Inst, edge: Edge):
        target = edge.block
        if target not in self.known:
            self.fail(f"an edge to a block {target.name} that is not in the function", block, inst)
        if target is self.fn.blocks[0]:
            self.fail("an edge to the entry", block, inst)
        if len(edge.args) != len(target.params):
            self.fail(f"{len(edge.args)} arguments for the {len(target.params)} parameters of {target.name}", block, inst)
        for value, param in zip(edge.args, target.params):
            if value.type is not param.type:
                self.fail(f"{value.name or 'v'}: {value.type} for parameter {param.name or 'v'}: {param.type} of {target.name}",
                          block, inst)

    def types(self, block: Block, inst: Inst):
        op, name = inst.op, inst.op.name
        types = tuple(value.type for value in inst.args)
        given = None if inst.result is None else inst.result.type
        if name == "const":
            if given is None or types:
                self.fail("a constant is a result without operands", block, inst)
            return
        if name == "invoke":
            callee = inst.attrs["callee"]
            expected = tuple(p.type for p in callee.params)
            result = callee.result
        elif name in ("branch", "switch", "return", "reraise", "jump", "unreachable"):
            fits = {"branch": types == (Bool,), "switch": len(types) == 1 and is_integer(types[0]),
                    "return": types == (self.fn.result,) or not types and self.fn.result is NoneType}
            if not fits.get(name, True):
                self.fail(f"{name} of {_list(types)}" + (f" where {self.fn.result} is returned" if name == "return" else ""),
                          block, inst)
            expected, result = types, None
        else:
            expected = types
            try:
                result = op.rule(types, inst.attrs) if op.rule is not None else given
            except Exception as error:
                self.fail(f"{name} of {_list(types)}: {type(error).__name__}: {error}", block, inst)
        if types != expected:
            self.fail(f"{name} of {_list(types)} instead of {_list(expected)}", block, inst)
        if result is not given:
            self.fail(f"the result of {name} of {_list(types)} is {given} instead of {result}", block, inst)

    # -- definitions before uses

    def dominance(self):
        """On a shadow graph whose nodes are stretches of blocks between the places that exceptions leave from."""
        heads = {block: Block(block.name) for block in self.fn.blocks}
        home: dict[Value, Block] = {}
        uses: list[tuple[Block, Value, Block, Inst]] = []
        for block in self.fn.blocks:
            node, defined = heads[block], set(block.params)
            for value in block.params:
                self.define(home, value, node, block)
            for inst in block.insts:
                raised = [] if inst.unwind is None else inst.unwind.args
                for value in (*inst.args, *raised, *inst.cleanup, *(v for edge in inst.targets for v in edge.args)):
                    if value not in defined:
                        uses.append((node, value, block, inst))
                edges = [Edge(heads[edge.block]) for edge in inst.edges()]
                if inst.unwind is not None and inst is not block.insts[-1]:
                    rest = Block(block.name)
                    node.insts.append(Inst(inst.op, targets=[*edges, Edge(rest)]))
                    node = rest
                elif inst is block.insts[-1]:
                    node.insts.append(Inst(inst.op, targets=edges))
                if inst.result is not None:
                    defined.add(inst.result)
                    self.define(home, inst.result, node, block, inst)
        shadow = Function(self.fn.name)
        shadow.blocks = [heads[self.fn.blocks[0]]]
        dom = Dominators(shadow)
        for node, value, block, inst in uses:
            where = home.get(value)
            if where is None:
                self.fail(f"{value!r} is read but defined nowhere", block, inst)
            if node in dom.number and (where is node or where not in dom.number or not dom.dominates(where, node)):
                self.fail(f"{value!r} is read where its definition need not have run", block, inst)

    def define(self, home, value, node, block, inst=None):
        if value in home:
            self.fail(f"{value!r} is defined twice", block, inst)
        home[value] = node


def _list(types) -> str:
    return f"({', '.join(map(str, types))})"
