"""The invariants of the IR, checked: one terminator at the end of a block; edges fit the parameters of their targets;
definitions dominate uses (exceptional edges leave from the middle of a block); nothing jumps to the entry; in typed IR
every value has the type that the rule of its operation gives, and calls fit the callee.

After the refcount pass, every owned reference is released once on every path.

It runs after inference and after every pass when PYJITC_VERIFY is 1, and after inference and the last passes when it is
`last`, in linear time except for the dominator tree.
The tests run it some hundred thousand times; so the properties of an operation that the loops need are looked up once,
and the types that a rule gives are cached.
"""
from __future__ import annotations

from ..base.errors import VerifyError
from ..types.kinds import Array, Bool, NoneType, Type, is_integer, is_refcounted
from .cfg import Dominators
from .core import ALLOCATES, CONSUMES, GENERIC, NOTES, RAISES, TERMINATOR, Block, Edge, Function, Inst, Op, Value
from .show import show
from .tree import Node

__all__ = ["verify", "verify_module"]

_TARGETS = {"jump": 1, "branch": 2, "return": 0, "unreachable": 0, "raise": 0, "reraise": 0, "throw": 0, "exc_throw": 0}


def verify_module(functions, stage: str = "") -> None:
    """Check every typed function; `stage` is named in the error. After inference they are all that a compile has made:
    beside each other they may call only functions of the library, also through those."""
    for fn in functions:
        verify(fn, stage=stage)
    found = dict.fromkeys(functions if stage == "inference" else ())
    work = list(found)
    for fn in work:  # appended to during the iteration
        for callee in dict.fromkeys(_callees(fn)):
            if callee not in found:
                if not callee.library:
                    _Check(fn, False, stage).fail(f"{callee.name}, which it calls, belongs to another compile")
                found[callee] = None
                work.append(callee)


def _callees(fn: Function):
    """Iterate over the functions that a function calls, itself or in its nests."""
    for block in fn.blocks:
        for inst in block.insts:
            parts = [x for x in inst.attrs.values() if type(x) is Function or type(x) is Node]
            for x in parts:  # appended to during the iteration
                if type(x) is Node:
                    parts += [part for part in (x.kernel, *x.parts) if part not in parts]
                elif type(x) is Function:
                    yield x


def verify(fn: Function, generic: bool = False, stage: str = "") -> None:
    """Check a function. Raises VerifyError, which names the instruction and quotes the function."""
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
        except Exception as error:  # printing invalid IR may fail: the violation matters more than the text
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
        if self.stage == "refcount":
            self.balance()

    # -- one block at a time

    def block(self, block: Block):
        if not block.insts:
            self.fail("empty block", block)
        generic = self.generic
        for value in block.params:
            self.typed(value, block)
        last = len(block.insts) - 1
        for at, inst in enumerate(block.insts):
            op = inst.op
            known = _known.get(op)
            if known is None:
                known = _known[op] = _Known(op)
            if known.terminates is not (at == last):
                self.fail("a terminator in the middle" if known.terminates else "no terminator at the end", block,
                          inst)
            if known.generic and not generic:
                self.fail("a generic operation in typed IR", block, inst)
            if not known.raises and (inst.unwind is not None or inst.cleanup):
                self.fail(f"{'values to release' if inst.unwind is None else 'an unwind edge'} at an operation that "
                          "cannot raise", block, inst)
            if inst.attrs and not inst.attrs.keys() <= known.attrs:
                self.fail(f"{op.name} takes no {', '.join(sorted(inst.attrs.keys() - known.attrs))}: the doc of an "
                          "operation declares what it takes", block, inst)
            expected = 1 + len(inst.attrs.get("cases", ())) if op.name == "switch" else known.targets
            if len(inst.targets) != expected:
                self.fail(f"{len(inst.targets)} targets instead of {expected}", block, inst)
            for edge in inst.targets:
                self.edge(block, inst, edge)
            if inst.unwind is not None:
                self.edge(block, inst, inst.unwind)
            if inst.result is not None:
                self.typed(inst.result, block, inst)
            if not generic:
                self.types(block, inst, known)

    def typed(self, value: Value, block: Block, inst: Inst | None = None):
        if self.generic:
            if value.type is not None:
                self.fail(f"value {value!r} of generic IR has a type", block, inst)
        elif not isinstance(value.type, Type):
            self.fail(f"value {value.name or 'v'} has no type", block, inst)

    def edge(self, block: Block, inst: Inst, edge: Edge):
        target = edge.block
        if target not in self.known:
            self.fail(f"an edge to a block {target.name} that is not in the function", block, inst)
        if target is self.fn.blocks[0]:
            self.fail("an edge to the entry", block, inst)
        if len(edge.args) != len(target.params):
            self.fail(f"{len(edge.args)} arguments for the {len(target.params)} parameters of {target.name}", block,
                      inst)
        for value, param in zip(edge.args, target.params):
            if value.type is not param.type:
                self.fail(f"{value.name or 'v'}: {value.type} for parameter {param.name or 'v'}: {param.type} of "
                          f"{target.name}",
                          block, inst)

    def types(self, block: Block, inst: Inst, known: _Known):
        types = tuple([value.type for value in inst.args])
        given = None if inst.result is None else inst.result.type
        attrs = inst.attrs
        if not attrs and known.results.get(types, _Known) is given:
            return
        op, name = inst.op, inst.op.name
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
                self.fail(f"{name} of {_list(types)}"
                          + (f" where {self.fn.result} is returned" if name == "return" else ""),
                          block, inst)
            expected, result = types, None
        else:
            expected = types
            try:
                result = op.rule(types, attrs) if op.rule is not None else given
            except Exception as error:
                self.fail(f"{name} of {_list(types)}: {type(error).__name__}: {error}", block, inst)
            if not attrs and op.rule is not None:
                known.results[types] = result
        if "tree" in attrs:
            self.nest(block, inst)
        if types != expected:
            self.fail(f"{name} of {_list(types)} instead of {_list(expected)}", block, inst)
        if result is not given:
            self.fail(f"the result of {name} of {_list(types)} is {given} instead of {result}", block, inst)

    def nest(self, block: Block, inst: Inst):
        """Check that the template accepts the first arguments, and that each kernel of the tree accepts its
        operands."""
        count, template = inst.attrs["count"], inst.attrs["template"]
        operands = inst.args[count:]
        given = [value.type for value in inst.args[:count]]
        if given != [p.type for p in template.params]:
            self.fail(f"a template of {_list(p.type for p in template.params)} is given {_list(given)}", block, inst)
        known: dict = {}  # node -> the type of its element, None while it is checked

        def element(node):
            if not hasattr(node, "parts"):
                if not 0 <= node.index < len(operands):
                    self.fail(f"operand {node.index} of {len(operands)} in a tree", block, inst)
                t = operands[node.index].type
                return t.dtype if isinstance(t, Array) else t
            if node in known and known[node] is None:
                self.fail("a tree that goes round", block, inst)
            if node not in known:
                known[node] = None
                parts, params = [element(part) for part in node.parts], [p.type for p in node.kernel.params]
                if parts != params:
                    self.fail(f"kernel {node.kernel.name} of {_list(params)} is given {_list(parts)}", block, inst)
                known[node] = node.kernel.result
            return known[node]

        element(inst.attrs["tree"])

    # -- references

    def balance(self):
        """A forward data-flow analysis: the number of references that each value owns, which must be the same on all
        paths to a point."""
        entry = self.fn.blocks[0]
        arrived: dict[Block, dict[Value, int]] = {entry: {}}
        work = [entry]
        while work:
            block = work.pop()
            owned = dict(arrived[block])
            if block is not entry:
                owned.update((p, 1) for p in block.params if self.owns(p))
            for inst in block.insts:
                for edge, count in self.counted(block, inst, owned):
                    if edge.block not in arrived:
                        arrived[edge.block] = count
                        work.append(edge.block)
                    elif arrived[edge.block] != count:
                        differs = ", ".join(sorted({v.name or "v" for v in {*count, *arrived[edge.block]}
                                                    if count.get(v) != arrived[edge.block].get(v)}))
                        self.fail(f"on the ways to {edge.block.name} references of {differs} are counted differently",
                                  block, inst)

    def owns(self, param: Value) -> bool:
        return is_refcounted(param.type) and param not in self.fn.memo.get("borrowed", ())

    def counted(self, block: Block, inst: Inst, owned: dict[Value, int]):
        """Update `owned` for an instruction; yields (edge, the owned references after it)."""
        name = inst.op.name

        def give_up(value, counts, how):
            if value not in counts:
                self.fail(f"a reference of {value.name or 'v'} that is not held is {how}", block, inst)
            counts[value] -= 1
            if not counts[value]:
                del counts[value]

        def passed(edge):
            counts = dict(owned)
            for value, param in zip(edge.args, edge.block.params):
                if self.owns(param):
                    give_up(value, counts, "handed over")
            return edge, counts

        found = []
        if name == "retain" and is_refcounted(inst.args[0].type):
            owned[inst.args[0]] = owned.get(inst.args[0], 0) + 1
        elif name == "release":
            give_up(inst.args[0], owned, "released")
        elif inst.op.effects & CONSUMES:
            give_up(inst.args[0], owned, "used up")
        if inst.unwind is not None:
            found.append(passed(inst.unwind))
        elif inst.op.effects & RAISES:
            left = dict(owned)
            for value in inst.cleanup:
                give_up(value, left, "released when an exception leaves")
            if left:
                self.fail(f"references of {', '.join(v.name or 'v' for v in left)} stay when an exception leaves",
                          block, inst)
        found += map(passed, inst.targets)
        if name == "return":
            if inst.args and is_refcounted(inst.args[0].type):
                items = [inst.args[0]]
                for x in items:  # appended to during the iteration; a tuple may be returned with its items' references
                    made = x.inst
                    if x not in owned and made is not None and made.op.name == "tuple_make":
                        items += [y for y in made.args if is_refcounted(y.type)]
                    else:
                        give_up(x, owned, "returned")
            if owned:
                self.fail(f"references of {', '.join(v.name or 'v' for v in owned)} stay behind", block, inst)
        if inst.result is not None and is_refcounted(inst.result.type) and "borrowed" not in inst.attrs and (
                inst.op.effects & ALLOCATES or name == "invoke"):
            owned[inst.result] = 1
        return found

    # -- definitions before uses

    def dominance(self):
        """Check dominance in a graph whose nodes are the parts of blocks between the points that exceptions leave."""
        blocks = self.fn.blocks
        heads = {block: k for k, block in enumerate(blocks)}
        successors: list[list[int]] = [[] for _ in blocks]
        home: dict[Value, int] = {}
        uses: list[tuple[int, Value, Block, Inst]] = []
        for node, block in enumerate(blocks):
            for value in block.params:
                self.define(home, value, node, block)
            defined = set(block.params)
            for inst in block.insts:
                unwind = inst.unwind
                for value in inst.args:
                    if value not in defined:
                        uses.append((node, value, block, inst))
                if unwind is not None or inst.targets or inst.cleanup:
                    edges = inst.edges()
                    uses += [(node, value, block, inst) for read in (inst.cleanup, *[edge.args for edge in edges])
                             for value in read if value not in defined]
                    successors[node] += [heads[edge.block] for edge in edges]
                    if unwind is not None and inst is not block.insts[-1]:
                        successors[node].append(len(successors))
                        node = len(successors)
                        successors.append([])
                if inst.result is not None:
                    defined.add(inst.result)
                    self.define(home, inst.result, node, block, inst)
        dom = Dominators.of_graph(successors)
        for node, value, block, inst in uses:
            where = home.get(value)
            if where is None:
                self.fail(f"{value!r} is read but defined nowhere", block, inst)
            if node in dom.number and (where == node or where not in dom.number or not dom.dominates(where, node)):
                self.fail(f"{value!r} is read where its definition need not have run", block, inst)

    def define(self, home, value, node, block, inst=None):
        if value in home:
            self.fail(f"{value!r} is defined twice", block, inst)
        if value.inst is not inst:
            self.fail(f"{value!r} names {'another' if value.inst else 'no'} instruction as its definition", block, inst)
        home[value] = node


class _Known:
    """The properties of an operation that the verifier needs; results: operand types -> the type that the rule gives
    without attributes."""

    __slots__ = ("terminates", "raises", "generic", "attrs", "targets", "results")

    def __init__(self, op: Op):
        self.terminates = bool(op.effects & TERMINATOR)
        self.raises = bool(op.effects & RAISES)
        self.generic = bool(op.effects & GENERIC)
        self.attrs = op.attrs | NOTES
        self.targets = _TARGETS.get(op.name, 0)
        self.results: dict[tuple[Type, ...], Type | None] = {}


_known: dict[Op, _Known] = {}


def _list(types) -> str:
    return f"({', '.join(map(str, types))})"
