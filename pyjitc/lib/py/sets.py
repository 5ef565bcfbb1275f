"""The protocols of sets, frozensets and deques: they are the Python objects, read and changed by operations of
ops/tables.py and by their own methods."""
from __future__ import annotations

import operator
from collections import deque

from ...infer.constants import constant
from ...infer.meaning import Apply, Call, CallValue, Const, Expr, Fresh, Mismatch
from ...ops.arith import IGT
from ...ops.containers import LIST_LEN
from ...ops.pyobject import PY_UNBOX
from ...ops.structure import METHOD_MAKE, PACK, STRUCT_GET
from ...ops.tables import SET_ADD, SET_DISCARD, SET_HAS, SET_LEN, SET_NEW, SET_NEXT
from ...types.kinds import (
    Bool, Deque, DictValues, DictView, Ellipsis_, FrozenSet, Int, is_integer, NoneType, Object, Set, Singleton,
    Slice, Undefined, union_of, wider,
)
from ...types.typeof import typeof
from ..build import SYMBOLS, number
from ..intrinsics import NOTHING
from ..protocol import State, by_python
from ..rule import Rule, expression
from . import lists, ranges
from .tables import Held, as_object, by_method, done, holding, is_handed, item_of, kept

__all__ = ["CALLS", "PROTOCOLS", "made_of"]

_ZERO = number(0)
_OPS = {"|": (operator.or_, operator.ior), "&": (operator.and_, operator.iand), "-": (operator.sub, operator.isub),
        "^": (operator.xor, operator.ixor)}
_SETS = (Set, FrozenSet)


class _Set(Held):
    path = "set"

    def binary(self, op, x, y, inplace):
        if op not in _OPS or not isinstance(y.type, (*_SETS, DictView)) or isinstance(
                y.type, DictValues):
            return None
        other = item_of(y.type)
        if inplace and isinstance(x.type, Set):
            if op != "-":
                x = holding(x, other)
            return by_python(_OPS[op][1], x, y, type=x.type)
        item = x.type.item if op == "-" else wider(x.type.item, other)
        kind = Set if isinstance(y.type, DictView) else type(x.type)
        return Fresh(kind, (item,), lambda t: by_python(_OPS[op][0], x, y, type=t))

    def compare(self, op, x, y):
        if isinstance(y.type, _SETS) or isinstance(y.type, DictView) and not isinstance(
                y.type, DictValues):
            return by_python(SYMBOLS[op], x, y, type=Bool)
        return None

    def truth(self, x):
        return Apply(IGT, self.length(x), _ZERO)

    def contains(self, x, item):
        if isinstance(item.type, Set):  # a set is looked up as a frozenset
            return by_python(operator.contains, x, item, type=Bool)
        return Apply(SET_HAS, x, item)

    def length(self, x):
        return Apply(SET_LEN, x)

    def iterate(self, x):
        return Call(set_iterate, x)


def set_iterate(s):
    return PACK(s, 0, SET_LEN(s), name="set_iterator")


def set_step(s):
    one = SET_NEXT(STRUCT_GET(s, field="0"), STRUCT_GET(s, field="1"), STRUCT_GET(s, field="2"))
    if one[0]:
        return True, one[1], PACK(STRUCT_GET(s, field="0"), one[2], STRUCT_GET(s, field="2"), name="set_iterator")
    return False, NOTHING, s


def step_of_none(s):
    """A step over a set in which nothing has been stored as far as is known at compile time: it raises if there is an
    item."""
    if SET_LEN(STRUCT_GET(s, field="0")) > 0:
        raise TypeError("a set has an item, but was empty when this code was compiled")
    return False, NOTHING, NOTHING


class _Steps(State):
    def step(self, state):
        return Call(step_of_none if state.type.parts[0].item is Undefined else set_step, state)


# ---------------------------------------------------------------- methods of sets


def _add(x, item):
    return Apply(SET_ADD, x, kept(item))


def _discard(must):
    def rule(x, item):
        if isinstance(item.type, Set):
            return by_method(set.remove if must else set.discard, x, item)
        return Apply(SET_DISCARD, x, item, must=must)

    return rule


def _pop(x):
    return by_python(set.pop, x, type=x.type.item)


def _clear(x):
    return by_method(set.clear, x)


def _copy(x):
    return Fresh(type(x.type), (x.type.item,), lambda t: by_python(t.python_class.copy, x, type=t))


def _again(x, name, others):
    """The call of a method with lists in place of arguments that cannot be passed to the interpreter; None where there
    are none."""
    if all(map(is_handed, others)):
        return None
    return CallValue(Apply(METHOD_MAKE, x, name=name), *map(as_object, others))


def _made(name, keeps):
    """The rule of union and its like, which accept any number of iterables."""
    def rule(x, *others):
        def made(t):
            return by_python(getattr(t.python_class, name), x, *others, type=t)

        found = _again(x, name, others)
        if found is not None:
            return found
        item = x.type.item
        for other in others if not keeps else ():
            item = wider(item, item_of(other.type))
        return Fresh(type(x.type), (item,), made)

    return rule


def _changed(name, keeps):
    def rule(x, *others):
        found = _again(x, name, others)
        if found is not None:
            return found
        if not keeps:
            for other in others:
                x = holding(x, item_of(other.type))
        return by_method(getattr(set, name), x, *others)

    return rule


def _update(x, *others):
    if len(others) == 1 and not is_handed(others[0]):
        return Call(add_all, x, others[0])
    return _changed("update", False)(x, *others)


def extended(x: Expr, more: Expr) -> Expr:
    """The set after all items of an iterable were added: `{*more}`."""
    more = object_of(more)
    return Call(given_back, _update(x, more), x)


def object_of(x: Expr) -> Expr:
    """A frozenset that is known when a function is compiled, as a Python object."""
    if not isinstance(x.type, Singleton) or type(x.type.value) is not frozenset:
        return x
    return Apply(PY_UNBOX, Const(Object, x.type.value), type=typeof(x.type.value))


def given_back(none, x):
    return x


def add_all(s, items):
    for item in items:
        s.add(item)


def _asked(name):
    def rule(x, other):
        return _again(x, name, (other,)) or by_python(getattr(x.type.python_class, name), x, other, type=Bool)

    return rule


_OF_BOTH = {
    "copy": ("self, /", _copy),
    **{name: ("self, /, *others", _made(name, keeps)) for name, keeps in (
        ("union", False), ("intersection", False), ("difference", True))},
    "symmetric_difference": ("self, other, /", _made("symmetric_difference", False)),
    **{name: ("self, other, /", _asked(name)) for name in ("isdisjoint", "issubset", "issuperset")},
}
_Set.rules = {
    **_OF_BOTH, "add": ("self, item, /", _add), "discard": ("self, item, /", _discard(False)),
    "remove": ("self, item, /", _discard(True)), "pop": ("self, /", _pop), "clear": ("self, /", _clear),
    "update": ("self, /, *others", _update),
    **{f"{name}_update": ("self, /, *others", _changed(f"{name}_update", keeps)) for name, keeps in (
        ("intersection", False), ("difference", True))},
    "symmetric_difference_update": ("self, other, /", _changed("symmetric_difference_update", False)),
}


class _FrozenSet(_Set):
    path = "frozenset"
    rules = _OF_BOTH
    functions = {hash: lambda args, kwargs: by_python(hash, *args, type=Int)}


# ---------------------------------------------------------------- making sets


def made_of(items) -> Fresh:
    items = tuple(items)
    held = Undefined
    for x in items:
        held = wider(held, kept(x).type)
    return Fresh(Set, (held,), lambda t: Apply(SET_NEW, *items, type=t))


def _set(iterable=...):
    if iterable.type is Ellipsis_:
        return made_of(())
    if is_handed(iterable):
        return Fresh(Set, (item_of(iterable.type),), lambda t: by_python(set, iterable, type=t))
    return Call(filled, made_of(()), iterable)


def _frozen(iterable=...):
    if iterable.type is Ellipsis_:
        return Fresh(FrozenSet, (Undefined,), lambda t: by_python(frozenset, type=t))
    if is_handed(iterable):
        return Fresh(FrozenSet, (item_of(iterable.type),), lambda t: by_python(frozenset, iterable, type=t))
    return CallValue(constant(frozenset), as_object(iterable))


def filled(s, items):
    for item in items:
        s.add(item)
    return s


# ---------------------------------------------------------------- deques


class _Deque(Held):
    path = "collections.deque"

    def binary(self, op, x, y, inplace):
        if op == "+" and inplace:
            if not is_handed(y):
                return CallValue(constant(operator.iadd), x, as_object(y))
            return by_python(operator.iadd, holding(x, item_of(y.type)), y, type=x.type)
        if op == "+" and isinstance(y.type, Deque):
            return Fresh(Deque, (wider(x.type.item, y.type.item),), lambda t: by_python(operator.add, x, y, type=t))
        if op == "*" and (y.type is Int or y.type is Bool):
            if inplace:
                return by_python(operator.imul, x, y, type=x.type)
            return Fresh(Deque, (x.type.item,), lambda t: by_python(operator.mul, x, y, type=t))
        return None

    def reflected(self, op, x, y, inplace):
        return self.binary(op, y, x, False) if op == "*" else None

    def compare(self, op, x, y):
        return by_python(SYMBOLS[op], x, y, type=lists.answer_type(op, x, y)) if isinstance(y.type, Deque) else None

    def truth(self, x):
        return Apply(IGT, self.length(x), _ZERO)

    def contains(self, x, item):
        return by_python(operator.contains, x, item, type=Bool)

    def length(self, x):
        return Apply(LIST_LEN, x)  # both have their number of items in the same field of the object's head

    def getitem(self, x, i):
        return by_python(operator.getitem, x, _index(i), type=x.type.item)

    def setitem(self, x, i, value, asks):
        return done(by_python(operator.setitem, holding(x, kept(value).type), _index(i), value))

    def delitem(self, x, i):
        return done(by_python(operator.delitem, x, _index(i)))

    def attribute(self, x, name):
        if name == "maxlen":
            return by_python(deque.maxlen.__get__, x, type=union_of((Int, NoneType)))
        return super().attribute(x, name)


def _index(i: Expr) -> Expr:
    if not is_integer(i.type) and i.type is not Bool or isinstance(i.type, Slice):
        raise Mismatch(f"sequence index must be integer, not '{i.type.class_name}'")
    return ranges.index(i)


def _put(name):
    return lambda x, item: by_method(getattr(deque, name), holding(x, kept(item).type), item)


def _take(name):
    return lambda x: by_python(getattr(deque, name), x, type=x.type.item)


def _more(name):
    def rule(x, iterable):
        if not is_handed(iterable):
            return CallValue(Apply(METHOD_MAKE, x, name=name), as_object(iterable))
        return by_method(getattr(deque, name), holding(x, item_of(iterable.type)), iterable)

    return rule


def _rotate(x, n=1):
    return by_method(deque.rotate, x, n)


def _find(x, item, start=..., stop=...):
    more = [one for one in (start, stop) if one.type is not Ellipsis_]
    return by_python(deque.index, x, item, *more, type=Int)


def _copy_deque(x):
    return Fresh(Deque, (x.type.item,), lambda t: by_python(deque.copy, x, type=t))


_ITEM = "self, item, /"
_Deque.rules = {
    **{name: (_ITEM, _put(name)) for name in ("append", "appendleft")},
    **{name: ("self, /", _take(name)) for name in ("pop", "popleft")},
    **{name: ("self, iterable, /", _more(name)) for name in ("extend", "extendleft")},
    "rotate": ("self, n=1, /", _rotate), "index": ("self, item, start=..., stop=..., /", _find),
    "clear": ("self, /", lambda x: by_method(deque.clear, x)), "copy": ("self, /", _copy_deque),
    "count": (_ITEM, lambda x, item: by_python(deque.count, x, item, type=Int)),
    "remove": (_ITEM, lambda x, item: by_method(deque.remove, x, item)),
    "reverse": ("self, /", lambda x: by_method(deque.reverse, x)),
    "insert": ("self, index, item, /", lambda x, index, item: by_method(
        deque.insert, holding(x, kept(item).type), index, item)),
}


def _new_deque(iterable=(), maxlen=None):
    if not is_handed(iterable):
        return CallValue(constant(deque), as_object(iterable), expression(maxlen))
    return Fresh(Deque, (item_of(iterable.type),), lambda t: by_python(deque, iterable, expression(maxlen), type=t))


CALLS = {
    set: Rule(_set, "set", "iterable=..., /"), frozenset: Rule(_frozen, "frozenset", "iterable=..., /"),
    deque: Rule(_new_deque, "collections.deque", "iterable=(), maxlen=None"),
}
PROTOCOLS = {Set: _Set(), FrozenSet: _FrozenSet(), Deque: _Deque(), "set_iterator": _Steps()}
