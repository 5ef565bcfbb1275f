"""Common parts of the protocols of dicts, sets and deques: item types of iterables, steps over containers, and calls of
the containers' own methods."""
from __future__ import annotations


from ...infer.meaning import Apply, Call, Const, Expr, NotNative, NeedsList
from ...infer.names import with_object
from ...ops.containers import HOLDS
from ...ops.pyobject import PY_CALL, PY_UNBOX
from ...ops.structure import DISCARD, METHOD_MAKE, PACK, STRUCT_GET
from ...ops.tables import ITER_NEW, ITER_NEXT
from ...types import kinds as k
from ...types.kinds import ListDisplay, NoneType, Object, Tuple, Undefined, wider
from ..intrinsics import NOTHING
from ..protocol import ByReference, State, boxed, by_python, text_by_python
from ..rule import Rule
from .lists import empty, extended, item_of

__all__ = ["PROTOCOLS", "Held", "as_object", "by_method", "done", "holding", "is_handed", "item_of", "kept", "pair_of",
           "stepped"]

def pair_of(t) -> tuple | None:
    """The types of key and value where an iterable has items of type t that are pairs; None where that is not known."""
    if isinstance(t, Tuple):
        return t.parts if len(t.parts) == 2 else None
    if isinstance(t, k.Union):
        pairs = [pair_of(m) for m in t.members]
        if None in pairs:
            return None
        keys = values = Undefined
        for key, value in pairs:
            keys, values = wider(keys, key), wider(values, value)
        return keys, values
    if t is Undefined:
        return Undefined, Undefined
    found = item_of(t)
    return None if found is None or isinstance(t, k.Array) else (found, found)


def is_handed(x: Expr) -> bool:
    """Whether an iterable can be passed to the interpreter and the type of its items is known."""
    return item_of(x.type) is not None


def kept(x: Expr) -> Expr:
    """`x` as an item of a container: list displays in it must become lists."""
    if k.any_part(x.type, lambda part: isinstance(part, ListDisplay)):
        raise NeedsList
    return x if x.type is None else with_object(x)


def holding(x: Expr, *items) -> Expr:
    """The container, which from here on may also hold values of these types, in the order of its type parameters."""
    for n, item in enumerate(items):
        if item is not None and item is not Undefined:
            x = Apply(HOLDS, x, item=item, parameter=n)
    return x


def done(x: Expr) -> Expr:
    return Apply(DISCARD, x)


def as_object(x: Expr) -> Expr:
    """An iterable that can be passed to the interpreter: an iterable of compiled code becomes a list."""
    return x if is_handed(x) else extended(empty(), x)


def by_method(function, *operands: Expr, type=NoneType, kwargs: dict | None = None) -> Expr:
    """A call of a method in the interpreter, with keywords; the result as a value of `type`."""
    kwargs = kwargs or {}
    found = Apply(PY_CALL, Const(Object, function), *map(boxed, (*operands, *kwargs.values())), kwnames=tuple(kwargs))
    if type is NoneType:
        return done(found)
    return found if type is Object else Apply(PY_UNBOX, found, type=type)


# ---------------------------------------------------------------- the interpreter's iterators


def stepped(x: Expr, iterator: Expr | None = None) -> Expr:
    """The state of a loop over an object by the interpreter's iterator. iterator: an expression of it, where it is not
    that of the object."""
    it = Apply(ITER_NEW, x) if iterator is None else iterator
    return Call(with_iterator, x, it)


def with_iterator(x, it):
    return PACK(x, it, name="container_iterator")


class _Steps(State):
    def step(self, state):
        item = item_of(state.type.parts[0])
        if item is Undefined:
            return Call(step_of_none, Apply(ITER_NEXT, Apply(STRUCT_GET, state, field="1"), type=NoneType))
        return Call(after, state, Apply(ITER_NEXT, Apply(STRUCT_GET, state, field="1"), type=item))


def step_of_none(one):
    """A step over a container in which nothing has been stored as far as is known at compile time: it raises if there
    is an item."""
    if one[0]:
        raise TypeError("a container has an item, but was empty when this code was compiled")
    return False, NOTHING, NOTHING


def after(s, one):
    if one[0]:
        return True, one[1], s
    return False, NOTHING, s


# ---------------------------------------------------------------- protocols


class Held(ByReference):
    """The protocol of a Python container. path: that of its class, for messages; rules: method -> (signature, function
    of the arguments as expressions)."""

    text = text_by_python
    path = ""
    rules: dict = {}

    def attribute(self, x, name):
        there = name[0] != "_" and hasattr(x.type.python_class, name)
        return Apply(METHOD_MAKE, x, name=name) if there else None

    def method(self, x, name, args, kwargs):
        found = self.rules.get(name)
        if found is None:
            raise NotNative(f"{self.path}.{name} is not compiled yet")
        signature, function = found
        return Rule(function, f"{self.path}.{name}", signature)([x, *args], kwargs)

    def iterate(self, x):
        return stepped(x)

    def reversed(self, x):
        if not hasattr(x.type.python_class, "__reversed__"):
            return super().reversed(x)
        return stepped(x, by_python(reversed, x))


PROTOCOLS = {"container_iterator": _Steps()}
