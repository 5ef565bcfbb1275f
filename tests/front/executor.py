"""Runs generic IR on Python objects, by the meanings of the front end's operations, without inference or native code.

Each operation does what ops/generic.py specifies, by means of the interpreter. Functions made inside, and functions of
the modules in `spaces`, run here too.
"""
from __future__ import annotations

import builtins
import collections.abc
import inspect
import operator
import types

from pyjitc.front import recursion
from pyjitc.front.build import build
from pyjitc.front.functions import nested, prototype_of
from pyjitc.front.generators import StepPrototype, build_step, step_of
from pyjitc.infer.session import Session
from pyjitc.ops import control, generic
from pyjitc.ops.control import UNBOUND

__all__ = ["run", "Made"]

BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
          "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
          "&": operator.and_, "|": operator.or_, "^": operator.xor}
INPLACE = {"+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
           "%": operator.imod, "**": operator.ipow, "@": operator.imatmul, "<<": operator.ilshift,
           ">>": operator.irshift, "&": operator.iand, "|": operator.ior, "^": operator.ixor}
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_}
COMPARE = {"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt,
           ">=": operator.ge, "is": operator.is_, "is not": operator.is_not, "in": lambda x, y: x in y,
           "not in": lambda x, y: x not in y}
SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


class Cell:
    def __init__(self, content):
        self.content = content


class Made:
    """A function value. closure: the cells of the captured variables."""

    def __init__(self, proto, defaults=None, kwdefaults=None, closure=()):
        self.proto = proto
        self.closure = closure
        shape = types.FunctionType(proto.code, proto.globals, proto.code.co_name, tuple(defaults)
                                   if defaults is not None else None,
                                   tuple(types.CellType() for _ in proto.code.co_freevars))
        shape.__kwdefaults__ = dict(kwdefaults) if kwdefaults is not None else None
        self.signature = inspect.signature(shape)

    @classmethod
    def of(cls, function):
        closure = []
        for cell in function.__closure__ or ():
            try:
                closure.append(Cell(cell.cell_contents))
            except ValueError:
                closure.append(Cell(UNBOUND))
        return cls(prototype_of(function), function.__defaults__, function.__kwdefaults__, tuple(closure))

    def __call__(self, *args, **kwargs):
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        code = self.proto.code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        given = [values["implicit0" if name == ".0" else name] for name in code.co_varnames[:count]]
        if code.co_flags & 0x20:
            return self.generate(given)
        return execute(build(self.proto), self, given)

    def generate(self, given):
        step, values = step_of(self.proto, 0), [self, *given]
        while True:
            has, item, state = execute(build_step(step, build), self, values)
            if not has:
                return
            yield item
            step, values = state


def run(function):
    """`function` with its body run from generic IR."""
    made = Made.of(function)
    result = lambda *args: made(*args)  # noqa: E731
    result.__name__ = function.__name__
    return result


_handled = [None]  # the exception that is being handled


def execute(fn, function, args):
    block, values, pending = fn.entry, list(args), None
    env = {}
    while True:
        assert len(block.params) == len(values)
        env.update(zip(block.params, values))
        for inst in block.insts:
            op = inst.op
            operands = [env[x] for x in inst.args]
            if op is control.JUMP:
                edge = inst.targets[0]
            elif op is control.BRANCH:
                assert type(operands[0]) is bool, f"a condition of type {type(operands[0])}"
                edge = inst.targets[0 if operands[0] else 1]
            elif op is control.RETURN:
                return operands[0]
            elif op is generic.CATCH:
                env[inst.result], pending = pending, None
                continue
            else:
                try:
                    assert op is not control.UNREACHABLE
                    result = HANDLERS[op](inst, function, *operands)
                except Exception as error:
                    if inst.unwind is None:
                        raise
                    pending, edge = error, inst.unwind
                else:
                    if inst.result is not None:
                        env[inst.result] = result
                    continue
            break
        block, values = edge.block, [env[x] for x in edge.args]


def load_global(inst, function):
    name, space = inst.attrs["name"], function.proto.globals
    if name in space:
        value = space[name]
        if type(value) is types.FunctionType and value.__module__ == space.get("__name__"):
            return Made.of(value)
        return value
    if not hasattr(builtins, name):
        raise NameError(f"name '{name}' is not defined")
    return getattr(builtins, name)


def freevar(inst, function):
    return resolve(function, function.closure[function.proto.code.co_freevars.index(inst.attrs["name"])])


def resolve(function, part):
    if type(part) is not recursion.Recursive:
        return part
    if part.own:
        return function
    closure = [function if p is recursion.SELF else function.closure[p] if type(p) is int else p for p in part.parts]
    closure = [resolve(function, p) if p in function.closure else p for p in closure]
    return Made(nested(function.proto, part.code, part.qualname), closure=tuple(closure))


def make_function(inst, function, *parts):
    roles = dict(zip(inst.attrs["has"], parts))
    proto = nested(function.proto, inst.attrs["code"], inst.attrs["qualname"])
    return Made(proto, roles.get("defaults"), roles.get("kwdefaults"), roles.get("closure", ()))


def cell_get(inst, function, cell):
    content = cell.content if type(cell) is Cell else cell
    if content is UNBOUND:
        raise _unbound(inst.attrs["name"], inst.attrs["free"])
    return content


def _unbound(name, free):
    kind, message = Session.unbound_error(name, free)
    return kind(message)


def cell_set(inst, function, cell, value):
    cell.content = value


def check_bound(inst, function, value):
    if value is UNBOUND:
        raise _unbound(inst.attrs["name"], False)
    return value


def call(inst, function, callee, *args):
    names = inst.attrs["kwnames"]
    count = len(args) - len(names)
    return callee(*args[:count], **dict(zip(names, args[count:])))


def call_star(inst, function, callee, args, *first):
    kwargs, *first = first if inst.attrs["kwargs"] else ({}, *first)
    return callee(*first, *args, **kwargs)


def set_update(inst, function, items, more):
    items.update(more)
    return items


def list_extend(inst, function, items, more):
    return [*items, *more]


def dict_merge(inst, function, items, more):
    return {**items, **more}


def format_(inst, function, value, spec):
    convert = {"": lambda x: x, "s": str, "r": repr, "a": ascii}[inst.attrs["conversion"]]
    return format(convert(value), "" if spec is None else spec)


_unpackers: dict = {}


def unpack(inst, function, value):
    return _unpacker(inst.attrs["count"], None)(value)


def unpack_ex(inst, function, value):
    return _unpacker(inst.attrs["before"], inst.attrs["after"])(value)


def _unpacker(before, after):
    """A Python function that unpacks its argument as the statement does, with the same errors."""
    if (before, after) not in _unpackers:
        names = [f"a{i}" for i in range(before)]
        if after is not None:
            names += ["*rest", *(f"b{i}" for i in range(after))]
        space = {}
        plain = ", ".join(n.lstrip("*") for n in names)
        exec(f"def f(x):\n    [{', '.join(names)}] = x\n    return ({plain}{',' if plain else ''})", space)
        _unpackers[before, after] = space["f"]
    return _unpackers[before, after]


def next_(inst, function, state):
    for item in state:
        return True, item, state
    return False, None, state


def setattr_(inst, function, holder, value):
    setattr(holder, inst.attrs["name"], value)


def import_(inst, function):
    return __import__(inst.attrs["name"], function.proto.globals, None, inst.attrs["fromlist"] or (),
                      inst.attrs["level"])


def exc_match(inst, function, error, classes):
    return isinstance(error, classes)


def exc_enter(inst, function, error):
    previous, _handled[0] = _handled[0], error
    return previous


def exc_leave(inst, function, previous):
    _handled[0] = previous


def raise_(inst, function, error, *cause):
    if cause:
        raise error from cause[0]
    raise error


def reraise(inst, function, error=None):
    error = _handled[0] if error is None else error
    if error is None:
        raise RuntimeError("No active exception to reraise")
    raise error


def match_sequence(inst, function, subject):
    return isinstance(subject, collections.abc.Sequence) and not isinstance(subject, (str, bytes, bytearray))


def match_keys(inst, function, subject, keys):
    return tuple(subject[k] for k in keys) if all(k in subject for k in keys) else None


def match_class(inst, function, subject, cls):
    count, names = inst.attrs["count"], inst.attrs["kwnames"]
    if not isinstance(subject, cls):
        return None
    if count and cls in SELF_MATCHING:
        return (subject,)
    names = (*getattr(cls, "__match_args__", ())[:count], *names)
    return tuple(getattr(subject, n) for n in names) if all(hasattr(subject, n) for n in names) else None


def unsupported(inst, function, *operands):
    raise NotImplementedError(inst.attrs["construct"])


def generator_state(inst, function, callee, *kept):
    assert isinstance(inst.attrs["step"], StepPrototype)
    return inst.attrs["step"], [callee, *kept]


def _plain(f):
    return lambda inst, function, *operands: f(*operands)


HANDLERS = {
    control.CONST: lambda inst, function: inst.attrs["value"],
    generic.GLOBAL: load_global, generic.FREEVAR: freevar,
    generic.BINARY: lambda inst, function, x, y: BINARY[inst.attrs["op"]](x, y),
    generic.INPLACE: lambda inst, function, x, y: INPLACE[inst.attrs["op"]](x, y),
    generic.UNARY: lambda inst, function, x: UNARY[inst.attrs["op"]](x),
    generic.COMPARE: lambda inst, function, x, y: COMPARE[inst.attrs["op"]](x, y),
    generic.TRUTH: _plain(bool), generic.GETATTR: lambda inst, function, x: getattr(x, inst.attrs["name"]),
    generic.SETATTR: setattr_, generic.DELATTR: lambda inst, function, x: delattr(x, inst.attrs["name"]),
    generic.GETITEM: _plain(operator.getitem), generic.SETITEM: _plain(operator.setitem),
    generic.DELITEM: _plain(operator.delitem), generic.SLICE: _plain(slice), generic.CALL: call,
    generic.CALL_STAR: call_star, generic.TUPLE: _plain(lambda *items: items),
    generic.LIST: _plain(lambda *items: list(items)), generic.SET: _plain(lambda *items: set(items)),
    generic.DICT: _plain(lambda *items: dict(zip(items[::2], items[1::2]))),
    generic.STRING: _plain(lambda *parts: "".join(parts)), generic.LIST_EXTEND: list_extend,
    generic.SET_UPDATE: set_update,
    generic.LIST_TO_TUPLE: _plain(tuple), generic.LIST_APPEND: _plain(list.append), generic.SET_ADD: _plain(set.add),
    generic.DICT_SET: _plain(operator.setitem), generic.DICT_MERGE: dict_merge, generic.FORMAT: format_,
    generic.UNPACK: unpack, generic.UNPACK_EX: unpack_ex, generic.ITER: _plain(iter), generic.NEXT: next_,
    generic.ELEMENT: lambda inst, function, t: t[inst.attrs["index"]], generic.MAKE_FUNCTION: make_function,
    generic.MAKE_CELL: _plain(Cell), generic.CELL_GET: cell_get, generic.CELL_SET: cell_set,
    generic.CHECK_BOUND: check_bound, generic.IMPORT: import_, generic.IMPORT_FROM: lambda inst, function,
    module: getattr(module, inst.attrs["name"]), generic.EXC_MATCH: exc_match, generic.EXC_ENTER: exc_enter,
    generic.EXC_LEAVE: exc_leave, generic.WITH_LEAVE: _plain(
        lambda leave, error: leave(type(error), error, error.__traceback__)), generic.MATCH_SEQUENCE: match_sequence,
    generic.MATCH_MAPPING: _plain(lambda x: isinstance(x, collections.abc.Mapping)), generic.MATCH_KEYS: match_keys,
    generic.MATCH_CLASS: match_class, generic.LENGTH: _plain(len), generic.GENERATOR_STATE: generator_state,
    generic.BUILTIN: lambda inst, function: getattr(builtins, inst.attrs["name"]), generic.POLL: lambda inst,
    function: None, generic.UNSUPPORTED: unsupported, control.RAISE: raise_, control.RERAISE: reraise,
}
