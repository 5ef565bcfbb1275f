"""Expressions that only inference makes, besides those of meaning.py: cells, closures, raised exceptions, calls of
specialisations."""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir import core as ir
from ..ops import exceptions, pyobject, structure
from ..types.kinds import (
    DictDisplay, List, ListDisplay, NoneType, Object, Unbound, Undefined, Union, numbered, union_of, wider,
)
from .join import join
from .meaning import UNKNOWN, Apply, Call, Const, Derived, Expr, FieldGet, FieldSet, Fresh, Nest, NotConstant, Throw

containers = lazy("pyjitc.ops.containers")

__all__ = ["Captured", "CellGet", "CellSet", "MakeCell", "OwnFunction", "Raise", "Split", "UserCall",
           "captured_defaults", "defaults_of", "dict_of", "is_one_case", "key_error", "list_of", "may_raise",
           "meaning_av", "members_of", "new_list", "opened"]


class Split:
    """One meaning per member of a union operand: cases = [(member type, meaning, AV or None)]."""

    __slots__ = ("index", "cases")

    def __init__(self, index: int, cases: list):
        self.index = index
        self.cases = cases


class UserCall(Expr):
    """A call of a specialisation. operands: one per parameter; closure: the function value when it carries captures."""

    __slots__ = ("spec", "operands", "closure")

    def __init__(self, spec, operands, closure=None):
        self.spec = spec
        self.operands = operands
        self.closure = closure
        self.type, self.value = spec.result or (None, UNKNOWN)


def key_error(key):
    """The expression of KeyError(key)."""
    return Raise([Apply(exceptions.EXC_NEW, key, cls=KeyError)])


def list_of(items) -> Apply:
    """A list display: the number of items is part of its type."""
    return Apply(structure.STRUCT_MAKE, *items, type=ListDisplay.of(numbered([x.type for x in items])))


def new_list(items) -> Fresh:
    """A list of these items, a Python object."""
    items = tuple(items)
    held = Undefined
    for x in items:
        held = wider(held, x.type)
    return Fresh(List, (held,), lambda t: Apply(containers.LIST_NEW, *items, type=t))


def dict_of(items) -> Apply:
    """A dict display of (key, value) pairs: the keys are part of its type."""
    t = DictDisplay.of([(key, x.type) for key, x in items])
    return Apply(structure.STRUCT_MAKE, *[x for _, x in items], type=t)


def members_of(x) -> dict:
    """The items of a dict display."""
    if isinstance(x.type, DictDisplay):
        return {name: Apply(structure.STRUCT_GET, x, field=name) for name, _ in x.type.members}
    raise NotConstant("keyword arguments in ** must be known at compile time", "name the keywords in the call")


def defaults_of(function, constant):
    """(defaults of positional parameters, defaults of keyword-only parameters by name) of a function, as expressions
    that `constant` makes."""
    return ([constant(v) for v in function.__defaults__ or ()],
            {k: constant(v) for k, v in (function.__kwdefaults__ or {}).items()})


def captured_defaults(on, x):
    """The values that a function made in compiled code captures, by their roles; and the defaults of its parameters, in
    the form of `defaults_of`. on: the evaluator."""
    parts = {role: Apply(structure.CAPTURE_GET, x, index=i) for i, role in enumerate(x.type.roles)}
    return parts, (on.elements(parts["defaults"]) if "defaults" in parts else [],
                   members_of(parts["kwdefaults"]) if "kwdefaults" in parts else {})


def opened(x):
    """A function object as the function with its captured values."""
    return Apply(pyobject.PY_UNBOX, Apply(structure.RETYPE, x, type=Object), type=x.type.function)


class Raise(Expr):
    """raise: operands are the exception value and, where given, the cause (an exception or None)."""

    __slots__ = ("operands", "again")

    def __init__(self, operands, again=False):
        self.operands, self.again = operands, again
        self.type, self.value = None, UNKNOWN


class Captured(Expr):
    """Item `index` of the closure tuple in capture `role` of the running function's own value."""

    __slots__ = ("role", "index")

    def __init__(self, type, role, index):
        self.type, self.role, self.index, self.value = type, role, index, UNKNOWN


class OwnFunction(Expr):
    """The function value of the running function."""

    __slots__ = ()

    def __init__(self, type):
        self.type, self.value = type, UNKNOWN


class MakeCell(Expr):
    __slots__ = ("content",)

    def __init__(self, content, type):
        self.content, self.type, self.value = content, type, UNKNOWN


class CellGet(Expr):
    """The content of a cell; raises if it is Unbound."""

    __slots__ = ("cell", "name", "free")

    def __init__(self, cell, content, name, free):
        self.cell, self.name, self.free, self.value = cell, name, free, UNKNOWN
        if type(content) is Union and Unbound in content.members:
            content = union_of(m for m in content.members if m is not Unbound)
        self.type = content


class CellSet(Expr):
    __slots__ = ("cell", "content")

    def __init__(self, cell, content):
        self.cell, self.content = cell, content
        self.type, self.value = NoneType, None


def meaning_av(meaning):
    if type(meaning) is Split:
        total = None
        for _, _, av in meaning.cases:
            if av is not None:
                total = av if total is None else join(total, av)
        return total
    return None if meaning.type is None else (meaning.type, meaning.value)


def may_raise(meaning) -> bool:
    kind = type(meaning)
    if kind is Split:
        return any(may_raise(m) for _, m, _ in meaning.cases)
    if kind is Apply:
        if meaning.op is pyobject.PY_UNBOX and type(meaning.operands[0]) is Const:
            return False
        return bool(meaning.op.effects & ir.RAISES) or any(map(may_raise, meaning.operands))
    if kind is Call:
        return may_raise(meaning.resolved)
    if kind is UserCall:
        return meaning.spec.raises or meaning.spec.result is None or any(map(may_raise, meaning.operands))
    if kind is CellGet:
        content = meaning.cell.type.content
        return content is Unbound or type(content) is Union and Unbound in content.members
    return kind in (Throw, Raise, Nest, FieldGet, FieldSet, Derived)


def is_one_case(spec) -> bool:
    """Whether a specialisation was requested for one of several types that an argument may have, by the program itself
    or through functions of the library."""
    at, seen = spec.caller, set()
    while at is not None and at[0] not in seen:
        found = at[0].meaning.get(at[1])
        if type(found) is Split or not at[0].spec.proto.library:
            return type(found) is Split and len(found.cases) > 1
        seen.add(at[0])
        at = at[0].spec.caller
    return False
