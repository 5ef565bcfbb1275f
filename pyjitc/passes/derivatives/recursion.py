"""Calls of recursive functions are not inlined, and their derivatives are recursive functions.

Such a function gets rules (`Ruled` of ops/derivative.py), like a function with a custom derivative: reverse mode keeps
the arguments of a call, and its pullback runs the call again.
Before:  y = invoke f (x, n)
After:   y = invoke f (x, n) ... x_ = invoke f.backward (x, n, y, y_), which invokes f.pull (x, n, y_)
"""
from __future__ import annotations

from typing import Callable

from ...ir.core import Block, Function, Inst, Value
from ...ops import structure as s
from ...ops.control import CONST, INVOKE, RETURN
from ...ops.derivative import Request, Ruled, requested
from ...types import kinds as k
from ...types.tangents import gradient_type, tangent_type, varies, without_duals
from .. import inline
from ..rewrite import copy_of, substitute
from .builder import Builder
from .ruled import has_one_value
from .targets import among_parameters, targets

__all__ = ["give_rules", "pack_closures", "with_closures", "without_closures"]


def with_closures(fn: Function) -> bool:
    """Whether a parameter is a function that captures values."""
    return any(_is_opened(p.type) for p in fn.params)


def without_closures(fn: Function, calls_itself: Callable) -> Function:
    """A copy of a function that calls itself, and of such functions that it calls. In place of a function, the copies
    take a tuple of the values that it captures: rules are for numbers, arrays and tuples.
    Before:  f(closure: function[float64[::1]]): ... f(closure)
    After:   f(captured: (float64[::1],)): closure = function_make captured[0] ; ... f((capture_get closure))"""
    found = fn.memo.get("without closures")
    if found is not None:
        return found
    copies = {one: copy_of(one) for one in _reached(fn) if calls_itself(one)}
    for one, new in copies.items():
        one.memo["without closures"] = new
        for block in new.blocks:
            for inst in [inst for inst in block.insts if inst.op is INVOKE and inst.attrs["callee"] in copies]:
                inst.attrs = {**inst.attrs, "callee": copies[inst.attrs["callee"]]}
                pack_closures(inst, block)
        b, replace = Builder([], new.entry.insts[0]), {}
        for n, p in enumerate(new.params):
            if _is_opened(p.type):
                new.entry.params[n] = Value(_packed_type(p.type), p.name)
                replace[p] = _unpacked(b, new.entry.params[n], p.type)
        substitute(new.blocks, replace)
        new.entry.insts[0:0] = b.insts
    return copies[fn]


def pack_closures(inst: Inst, block: Block) -> None:
    """Let a call pass tuples in the place of functions that capture values."""
    b = Builder([], inst)
    inst.args = [_packed(b, x) for x in inst.args]
    at = block.insts.index(inst)
    block.insts[at:at] = b.insts


def _is_opened(t) -> bool:
    return type(t) is k.Function and not has_one_value(t)


def _packed_type(t):
    if type(t) is k.Tuple:
        return k.Tuple(map(_packed_type, t.elements), t.cls)
    return k.Tuple(map(_packed_type, t.parts)) if _is_opened(t) else t


def _packed(b: Builder, x: Value) -> Value:
    if not _is_opened(x.type) and not (type(x.type) is k.Tuple and _packed_type(x.type) is not x.type):
        return x
    parts = [_packed(b, b.op(op, x, **attrs)) for op, attrs, _ in s.takers(x.type)]
    return b.op(s.TUPLE_MAKE, *parts, cls=x.type.cls if type(x.type) is k.Tuple else None)


def _unpacked(b: Builder, x: Value, t) -> Value:
    """The value of type t that x is packed from."""
    if x.type is t:
        return x
    op, attrs = s.maker(t)
    return b.op(op, *[_unpacked(b, b.op(s.TUPLE_GET, x, index=n), part) for n, part in enumerate(t.parts)], **attrs)


def give_rules(fn: Function) -> None:
    """Let a function that calls itself have derivatives as a call, unless it writes into its arguments."""
    given = [p.type for p in fn.params]
    if ("rules" in fn.memo or fn.result is None or not varies(fn.result)
            or without_duals(fn.result) is not fn.result
            or any(not _has_no_dual(t) for t in (*given, fn.result)) or _write(_reached(fn))):
        return
    wrt = tuple([n for n, t in enumerate(given) if varies(t)])
    if not wrt:
        return
    result = gradient_type(fn.result)
    changes = [tangent_type(t) for t in given]
    pull = requested(Request(fn, "pull", wrt, False), [*given, result],
                     k.Tuple((fn.result, k.Tuple([gradient_type(given[n]) for n in wrt]))))
    push = requested(Request(fn, "push", wrt, False), [*given, *(changes[n] for n in wrt)],
                     k.Tuple((fn.result, tangent_type(fn.result))))

    def tangent(b, params):
        args, of_args = params[:len(given)], params[len(given):]
        return b.op(s.TUPLE_GET, b.call(push, *args, *(of_args[n] for n in wrt)), index=1)

    def backward(b, params):
        *args, _, g = params
        found = b.op(s.TUPLE_GET, b.call(pull, *args, g), index=1)
        none = b.op(CONST, type=k.NoneType, value=None)
        return b.op(s.TUPLE_MAKE, *(b.op(s.TUPLE_GET, found, index=wrt.index(n)) if n in wrt else none
                                    for n, t in enumerate(given) if not has_one_value(t)), cls=None)

    fn.memo["rules"] = Ruled(_made(fn, "tangent", [*given, *changes], tangent), None,
                             _made(fn, "backward", [*given, fn.result, result], backward), repeats=True)


def _reached(fn: Function) -> list[Function]:
    """A function and those of the program that it calls."""
    found = [fn]
    for one in found:  # appended to during the iteration
        found += [callee for callee in inline.callees(one) if not callee.library and callee not in found]
    return found


def _write(functions: list[Function]) -> bool:
    """Whether one of these functions writes into an argument itself, not through calls of functions of the program."""
    returned = {fn: [x for block in fn.blocks if block.terminator.op is RETURN for x in block.terminator.args]
                for fn in functions}
    through_calls = any([among_parameters(fn, values, False) for fn, values in returned.items()])
    return any([among_parameters(fn, [
        x for block in fn.blocks for inst in block.insts if inst.op is not INVOKE or inst.attrs["callee"].library
        for x in targets(inst)], through_calls) for fn in functions])


def _made(fn: Function, name: str, types, body) -> Function:
    made = Function(f"{fn.name}.{name}", fn.qualname, fn.filename, fn.firstlineno)
    made.blocks = [Block("entry", [Value(t) for t in types])]
    b = Builder(made.entry.insts)
    found = body(b, made.params)
    made.result = found.type
    made.entry.insts.append(Inst(RETURN, [found]))
    return made


def _has_no_dual(t) -> bool:
    return type(t) is not k.Dual and (type(t) is not k.Tuple or all(map(_has_no_dual, t.elements)))
