"""A short way to write typed IR in tests, and a machine that runs it with Python values and counts references."""
from __future__ import annotations

from pyjitc.ir.core import RAISES, Block, Edge, Function, Inst, Loc, Value
from pyjitc.ops.control import BRANCH, CONST, INVOKE, JUMP, RETURN, SWITCH, UNREACHABLE
from pyjitc.types.kinds import Bool, Float, Int


class Build:
    """The blocks and instructions of one function: `b = Build("f", Int)`, `b.params`, `b.block(Int)`, `b.at(block)`."""

    def __init__(self, name, *types, library=False):
        self.fn = Function(name, library=library)
        self.fn.blocks.append(Block("entry", [Value(t, f"p{k}") for k, t in enumerate(types)]))
        self.here = self.fn.entry
        self.line = 1

    @property
    def params(self):
        return self.fn.params

    def block(self, *types, name=""):
        block = Block(name or f"b{len(self.fn.blocks)}", [Value(t) for t in types])
        self.fn.blocks.append(block)
        return block

    def at(self, block):
        self.here = block
        return block.params

    def op(self, op, *args, type=None, unwind=None, result=True, **attrs):
        if result and type is None:
            if "type" in attrs:
                type = attrs["type"]
            elif op.rule is not None:
                type = op.rule(tuple(a.type for a in args), attrs)
        inst = Inst(op, args, attrs, Value(type) if result and type is not None else None,
                    Loc(self.line, self.line, 0, 1))
        if unwind is not None:
            inst.unwind = Edge(unwind[0], unwind[1:])
        self.line += 1
        self.here.insts.append(inst)
        return inst.result

    def const(self, value, type=None):
        kinds = {bool: Bool, int: Int, float: Float}
        return self.op(CONST, type=type or kinds[value.__class__], value=value)

    def invoke(self, callee, *args, unwind=None):
        return self.op(INVOKE, *args, type=callee.result, unwind=unwind, callee=callee)

    def end(self, op, *args, targets=(), unwind=None, **attrs):
        inst = Inst(op, args, attrs, None, Loc(self.line, self.line, 0, 1), [Edge(t[0], t[1:]) for t in targets])
        if unwind is not None:
            inst.unwind = Edge(unwind[0], unwind[1:])
        self.line += 1
        self.here.insts.append(inst)

    def jump(self, block, *args):
        self.end(JUMP, targets=[(block, *args)])

    def branch(self, cond, yes, no):
        yes, no = (t if isinstance(t, tuple) else (t,) for t in (yes, no))
        self.end(BRANCH, cond, targets=[yes, no])

    def ret(self, *values):
        self.end(RETURN, *values)
        if values:
            self.fn.result = values[0].type


def insts(fn, op=None):
    return [i for b in fn.blocks for i in b.insts if op is None or i.op is op]


def check(fn):
    """A verifier for tests: definitions dominate uses, edges match parameters, and there is one terminator at the
    end."""
    from pyjitc.ir.cfg import Dominators
    from pyjitc.ir.core import TERMINATOR

    dom = Dominators(fn)
    where = {}
    for block in fn.blocks:
        for v in block.params:
            assert v not in where
            where[v] = (block, -1)
        for k, inst in enumerate(block.insts):
            assert bool(inst.op.effects & TERMINATOR) == (k == len(block.insts) - 1), inst.op
            if inst.result is not None:
                assert inst.result not in where
                where[inst.result] = (block, k)

    def visible(v, block, k):
        assert v in where, f"{v} undefined in {fn.name} {block.name}"
        home, at = where[v]
        assert (at < k) if home is block else dom.dominates(home, block), (v, block)

    for block in dom.order:
        assert block in fn.blocks
        for k, inst in enumerate(block.insts):
            for v in [*inst.args, *inst.cleanup]:
                visible(v, block, k)
            for edge in inst.edges():
                assert len(edge.args) == len(edge.block.params)
                for v, p in zip(edge.args, edge.block.params):
                    visible(v, block, k)
                    assert v.type is p.type, (v, p)


def run(fn, args, ops=None, fuel=10000):
    """The result of `fn`; its exceptions propagate. ops: op -> function(inst, *operands) overriding eval."""
    ops = ops or {}
    block, edge_args, pending = fn.entry, list(args), [None]
    env = {}
    while True:
        env.update(zip(block.params, edge_args))
        for inst in block.insts:
            fuel -= 1
            if fuel < 0:
                raise TimeoutError
            xs = [env[v] for v in inst.args]
            op = inst.op
            try:
                if op in ops:
                    out = ops[op](inst, *xs)
                elif op is CONST:
                    out = inst.attrs["value"]
                elif op is INVOKE:
                    out = run(inst.attrs["callee"], xs, ops, fuel)
                elif op in (JUMP, BRANCH, SWITCH):
                    k = 0
                    if op is BRANCH:
                        k = 0 if xs[0] else 1
                    elif op is SWITCH and xs[0] in inst.attrs["cases"]:
                        k = 1 + inst.attrs["cases"].index(xs[0])
                    edge = inst.targets[k]
                    break
                elif op is RETURN:
                    return xs[0] if xs else None
                elif op is UNREACHABLE:
                    raise AssertionError("reached the unreachable")
                elif op.name == "exc_fetch":
                    out = pending.pop()
                else:
                    out = op(*xs, **inst.attrs) if op.eval_attrs else op(*xs)
            except (AssertionError, TimeoutError, KeyError):
                raise
            except Exception as error:
                assert op.effects & RAISES, f"{op} raised {error!r}"
                if inst.unwind is None:
                    raise
                pending.append(error)
                edge = inst.unwind
                break
            if inst.result is not None:
                env[inst.result] = out
        edge_args = [env[v] for v in edge.args]
        block = edge.block
