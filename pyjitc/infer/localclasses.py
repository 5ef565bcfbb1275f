"""Classes that a program defines inside a function.

The body of such a class runs once, in the interpreter, when the function is compiled; for compiled code the class is a
constant from then on, like one that stands outside of the function. Its methods read variables of the function as
constants: other classes, functions without captured values, modules, numbers and texts. A class
is refused, since each call of the function makes another one, if its methods read variables that change, if its body
calls functions of the program, if an attribute of it is assigned, or if it has attributes that can change in place.
"""
from __future__ import annotations

import dis
import types as pytypes
from dataclasses import Field
from enum import Enum
from typing import Any

from ..types.classes import FIXED_MODULES
from ..types.kinds import Cell, Function, Singleton, Unbound, members_of
from .constants import constant
from .meaning import UNKNOWN, Const, Expr, NotNative

__all__ = ["build", "is_maker", "called_once"]

_UNSET = object()
_SIMPLE = (int, float, complex, str, bytes, bool, type(None), range, type, Enum, Field)
_READING = frozenset({"LOAD_NAME", "LOAD_GLOBAL", "LOAD_CLASSDEREF", "LOAD_DEREF", "LOAD_FROM_DICT_OR_GLOBALS",
                      "LOAD_FROM_DICT_OR_DEREF"})


class _Made:
    """A class that a function defines. cells: the name of each variable of the function that its methods read -> its
    cell; parts: the objects that the key in the table of classes names by number; they must stay alive."""

    __slots__ = ("cls", "cells", "parts")

    def __init__(self, cls, cells, parts):
        self.cls, self.cells, self.parts = cls, cells, parts


def build(evaluator, args: list[Expr], kwargs: dict[str, Expr]) -> Expr:
    """The class of a class statement, `__build_class__(body, name, *bases, **kwargs)`."""
    body, name, *bases = args
    if not isinstance(body.type, Function):
        raise NotNative("a class whose methods read variables that change is made by the interpreter")
    values = [_fixed(x) for x in (name, *bases, *kwargs.values())]
    proto = body.type.proto
    names = proto.code.co_freevars
    captured = _captured(evaluator, body) if names else ()
    key = evaluator.inst, *map(id, values), *(None if isinstance(x, Cell) else id(x) for x in captured)
    classes = evaluator.session.findings.classes
    made = classes.get(key)
    if made is None:
        cells = {name: pytypes.CellType() if isinstance(x, Cell) else pytypes.CellType(x)
                 for name, x in zip(names, captured)}
        _look(evaluator.session, proto, cells)
        cls = _run(proto, tuple(cells.values()), values[0], values[1:len(bases) + 1],
                   dict(zip(kwargs, values[len(bases) + 1:])))
        made = classes[key] = _Made(cls, cells, (values, captured))
    for name, x in zip(names, captured):
        if isinstance(x, Cell):
            _fill(evaluator, made.cells[name], x, name)
    return Const(Singleton(made.cls), made.cls)


def _run(proto, closure, name, bases, keywords):
    run = pytypes.FunctionType(proto.code, proto.globals, name, None, closure)
    cls = __build_class__(run, name, *bases, **keywords)
    stored = {x.argval for x in dis.get_instructions(proto.code) if x.opname == "STORE_NAME"}
    for attribute, value in vars(cls).items():
        if attribute in stored and attribute[:2] != "__" and not _is_unchanging(value):
            raise NotNative(f"the class {name} has the attribute '{attribute}', which can be changed in place: each "
                            "call of the function makes another one", "define the class outside the function")
    return cls


def _is_unchanging(value) -> bool:
    if isinstance(value, (tuple, frozenset)):
        return all(map(_is_unchanging, value))
    return isinstance(value, _SIMPLE) or hasattr(type(value), "__get__")


def _look(session, proto, cells) -> None:
    """Record the global variables that the body of a class reads; refuse one that calls functions of the program."""
    own = set()
    for x in dis.get_instructions(proto.code):
        if x.opname == "STORE_NAME":
            own.add(x.argval)
        if x.opname not in _READING or x.argval in own or x.argval == "__name__":
            continue
        value = proto.globals.get(x.argval, UNKNOWN)
        if x.argval in cells:
            value = _contents(cells[x.argval])
        else:
            session.depend(proto.globals, x.argval, value)
        if isinstance(value, (pytypes.FunctionType, pytypes.BuiltinFunctionType)) and str(
                value.__module__).partition(".")[0] not in FIXED_MODULES:
            raise NotNative(f"the body of the class {proto.code.co_name} calls {value.__name__}()",
                            "define the class outside the function")


def _contents(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return _UNSET


def _captured(evaluator, body) -> list[Any]:
    """For each variable of the function that a class reads, in the order of `co_freevars`: its value where that is
    constant, or the Cell with its value."""
    t = body.type
    expressions: list = [None] * len(t.proto.code.co_freevars)
    types = t.captures[t.roles.index("closure")].elements
    made = evaluator.analysis.shape.definitions.get(evaluator.inst.args[1])
    if made is not None and made.args:
        display = evaluator.analysis.shape.definitions.get(made.args[-1])
        if display is not None and len(display.args) == len(expressions):
            expressions = [evaluator.analysis.lookup(arg, evaluator.block) for arg in display.args]
    functions = evaluator.session.findings.captured
    return [x if isinstance(x, Cell) else _value(x, av, name, functions)
            for x, av, name in zip(types, expressions, t.proto.code.co_freevars)]


def _value(t, av, name, functions):
    """The constant value of a variable of type t that a class reads. functions: see `_function`."""
    if isinstance(t, Singleton):
        return t.value
    if isinstance(t, Function) and not t.captures:
        return _function(t.proto, functions)
    if av is not None and av[0] is t and av[1] is not UNKNOWN and _is_unchanging(av[1]):
        return av[1]
    raise _varying(name)


def _varying(name) -> NotNative:
    return NotNative(f"a class that is defined in a function reads the function's variable '{name}', which is not "
                     "constant", "pass it to the methods of the class, or keep it in an attribute")


def _function(proto, functions):
    """The Python function of a local function without captured values. functions: those that were made before."""
    found = functions.get(proto)
    if found is None:
        found = functions[proto] = pytypes.FunctionType(proto.code, proto.globals, proto.code.co_name)
        found.__qualname__ = proto.qualname
    return found


def _fill(evaluator, cell, captured, name) -> None:
    """Give a Python cell the value that a cell of compiled code has, as soon as there is one."""
    content = captured.content
    known = [t for t in members_of(content) if t is not Unbound] if content is not None else []
    if not known:
        return
    if len(known) > 1:
        raise _varying(name)
    value = _value(known[0], None, name, evaluator.session.findings.captured)
    present = _contents(cell)
    if present is _UNSET:
        cell.cell_contents = value
        evaluator.session.dependencies.pop((id(cell), None), None)
        for analysis, block in evaluator.session.readers.get((id(cell), None), ()):
            analysis.touch(block)
    elif present is not value:
        raise _varying(name)


def _fixed(x):
    """The value of an operand of a class statement."""
    if isinstance(x.type, Singleton):
        return x.type.value
    if x.known:
        return x.value
    raise NotNative("a class that is defined in a function has a base class that is not constant",
                    "define the class outside the function")


def is_maker(session, function, args, kwargs) -> bool:
    """Whether a call is one of a function of Python's library that makes or changes a class, with constants as
    arguments: `namedtuple`, `dataclass`, `total_ordering`, `unique`."""
    if function.__name__ == "namedtuple":
        return all([x.known for x in (*args, *kwargs.values())])
    if args:
        classes = [made.cls for made in session.findings.classes.values()]
        return len(args) == 1 and isinstance(args[0].type, Singleton) and args[0].type.value in classes
    return function.__name__ == "dataclass"


def called_once(evaluator, function, args, kwargs) -> Expr:
    """The result of a call that `is_maker` finds, which is made once."""
    if function.__name__ == "namedtuple" and "module" not in kwargs:
        kwargs = {**kwargs, "module": constant(evaluator.analysis.spec.proto.globals.get("__name__", "__main__"))}
    values = [_fixed(x) for x in (*args, *kwargs.values())]
    key = evaluator.inst, id(function), *map(repr, values)
    classes = evaluator.session.findings.decorated
    if key not in classes:
        result = function(*values[:len(args)], **dict(zip(kwargs, values[len(args):])))
        classes[key] = result, function, values
    return constant(classes[key][0])
