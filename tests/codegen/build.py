"""Typed functions that tests write by hand, compiled and made callable from Python; all tests in this folder use
them."""
import ctypes
from types import SimpleNamespace

import pytest

pytest.importorskip("llvmlite")

from pyjitc.base.options import Options
from pyjitc.codegen.compile import Spec, compile_module
from pyjitc.infer.session import only_value
from pyjitc.infer.meaning import UNKNOWN
from pyjitc.ir.core import RAISES, Block, Edge, Function, Inst, Loc, Value
from pyjitc.ops import control
from pyjitc.runtime import dispatcher
from pyjitc.runtime.loader import load, provide
from pyjitc.types.kinds import Int

_count = iter(range(1_000_000))


class NotTaken(Exception):
    """Raised where the stub passed the call to the next one."""


class Base(dispatcher.Callable_):
    __slots__ = ("image", "__dict__")


def _prepare(self, /, *args, **kwargs):
    raise NotTaken(args, kwargs)


_Leaf = dispatcher.leaf(Base, _prepare, "tests.Leaf")


class Builder:
    """One typed function: `b.op(OP, x, y, attr=...)` appends to the current block."""

    def __init__(self, types, result, name="f", library=False):
        self.fn = Function(name, name, "made_by_hand.py", 10, library)
        self.fn.result = result
        self.types = tuple(types)
        self.params = [Value(t, f"a{i}") for i, t in enumerate(self.types) if only_value(t) is UNKNOWN]
        self.block = Block("entry", self.params)
        self.fn.blocks.append(self.block)
        self.unwind = None
        self.line = 11

    def op(self, op, *args, result=None, **attrs):
        """The result, typed by the record's rule (or `result`, for records without one)."""
        found = result if result is not None else op.rule(tuple(a.type for a in args), attrs) if op.rule else None
        result = Value(found) if found is not None else None
        inst = Inst(op, args, attrs, result, Loc(self.line, self.line, 0, 1))
        if op.effects & RAISES and self.unwind is not None:
            inst.unwind = Edge(*self.unwind)
        self.block.insts.append(inst)
        self.last = inst
        return result

    def const(self, type, value):
        return self.op(control.CONST, result=type, value=value)

    def int(self, value):
        return self.const(Int, value)

    def new(self, name="", types=()):
        block = Block(name, [Value(t) for t in types])
        self.fn.blocks.append(block)
        return block

    def at(self, block):
        self.block = block
        return block.params

    def end(self, op, *args, targets=(), **attrs):
        inst = Inst(op, args, attrs, None, Loc(self.line, self.line, 0, 1), [Edge(*t) for t in targets])
        if op.effects & RAISES and self.unwind is not None:
            inst.unwind = Edge(*self.unwind)
        self.block.insts.append(inst)

    def jump(self, block, *args):
        self.end(control.JUMP, targets=[(block, args)])

    def branch(self, condition, yes, no):
        self.end(control.BRANCH, condition,
                 targets=[yes if isinstance(yes, tuple) else (yes,), no if isinstance(no, tuple) else (no,)])

    def ret(self, value=None):
        self.end(control.RETURN, *([value] if value is not None else []))

    def invoke(self, callee, *args):
        return self.op(control.INVOKE, *args, result=callee.fn.result if isinstance(callee, Builder) else callee.result,
                       callee=callee.fn if isinstance(callee, Builder) else callee)


def spec_of(types, names=None, guards=(), positional_only=0, simple=True):
    return Spec(names or tuple(f"a{i}" for i in range(len(types))), tuple(types),
                tuple(only_value(t) is UNKNOWN for t in types), positional_only, simple, tuple(guards))


def compiled(*builders, names=None, guards=(), defaults=(), closure=(), positional_only=0, options=Options(),
             simple=True):
    """A callable for the first builder's function; the other builders' functions are those that it calls."""
    spec = spec_of(builders[0].types, names, guards, positional_only, simple)
    artifact = compile_module([b.fn for b in builders], spec, options=options)
    provide(artifact.runtime)
    image = load(artifact.object, artifact.objects)
    self = _Leaf()
    dispatcher.describe(self, SimpleNamespace(__defaults__=tuple(defaults), __closure__=tuple(closure)))
    self.image, self.artifact = image, artifact
    ctypes.c_void_p.from_address(image.address(artifact.next)).value = dispatcher.slow_path(_Leaf)
    for symbol, (_, _, value) in zip(artifact.guards, guards):
        if symbol is not None:
            ctypes.c_void_p.from_address(image.address(symbol)).value = 0 if value is ABSENT else id(value)
    dispatcher.set_entry(self, image.address(artifact.entry))
    return self


def set_defaults(call, *values):
    dispatcher.update(call, SimpleNamespace(__defaults__=values))


def expect(call, symbol, value):
    """Set the expected value of a guard in the code to `value`."""
    ctypes.c_void_p.from_address(call.image.address(symbol)).value = 0 if value is ABSENT else id(value)


def inside(call):
    """The number of calls that are running in the code."""
    return ctypes.c_int64.from_address(call.image.address("pyjitc_active")).value


ABSENT = object()


def through(op, types, **attrs):
    """A compiled function that applies one operation to its parameters."""
    b = Builder(types, None)
    made = b.op(op, *b.params, **attrs)
    b.fn.result = made.type
    b.ret(made)
    return compiled(b)


def identity(t):
    """A compiled function that returns its argument (retained, because results are owned)."""
    from pyjitc.ops.memory import RETAIN
    from pyjitc.types.kinds import is_refcounted

    b = Builder([t], t)
    x = b.params[0] if b.params else b.const(t, only_value(t))
    if is_refcounted(t):
        b.op(RETAIN, x)
    b.ret(x)
    return compiled(b)
