"""Tuples of any length: the values of `tuple(x)`, `(*x,)` and `*args` where the number of items is known only at run
time.

Such a tuple is the Python object; its items have one type. It is read like a list (lists.py).
"""
from __future__ import annotations

import functools
import itertools
import operator

import numpy as np

from ...base.lazy import lazy
from ...infer.constants import constant
from ...infer.meaning import Apply, Call, Const, Expr, Fresh, Mismatch, NeedsList, NotConstant, NotNative
from ...infer.names import describe
from ...ops.containers import LIST_GET, LIST_LEN, TUPLE_FROM
from ...ops.pyobject import PY_CALL
from ...ops.structure import DISCARD, METHOD_MAKE, METHOD_SELF, RETYPE, TUPLE_MAKE
from ...runtime import interpreted
from ...types import kinds as k
from ...types.kinds import Bool, Int, Object, Singleton, Slice, Tuple, TupleOf, Type, Undefined, is_integer
from ..build import SYMBOLS, number, whole_number
from ..intrinsics import advance, iterate
from ..protocol import Protocol, boxed, by_python, protocol_of, text_by_python
from ..rule import intrinsic, rule
from . import lists, ranges

itertoolsmod = lazy("pyjitc.lib.py.itertoolsmod")

__all__ = ["PROTOCOLS", "after", "bound", "bound_by_name", "call_with", "called", "other_keywords", "tuple_of"]


def made_by_python(function, *operands: Expr, item: Type) -> Expr:
    """A call of `function` in Python, which returns a tuple of items of this type."""
    return Fresh(TupleOf, (item,), lambda t: by_python(function, *operands, type=t))


def tuple_of(items: Expr) -> Expr:
    """The tuple of the items of an iterable."""
    if isinstance(items.type, TupleOf):
        return items
    if not protocol_of(items.type).is_iterable(items):
        raise Mismatch(f"{describe(items.type)} object is not iterable")
    item = lists.item_of(items.type)
    return Call(from_list, lists.listed(items)) if item is None else made_by_python(tuple, items, item=item)


def items_from(items: Expr, first: Expr) -> Expr:
    """tuple(items[first:]) of a list or a tuple."""
    return Fresh(TupleOf, (_item(items.type),), lambda t: Apply(TUPLE_FROM, items, first, type=t))


def joined(x: Expr, y: Expr) -> Expr:
    """x + y of two tuples of which one at least has any length."""
    return made_by_python(operator.add, x, y, item=k.wider(_item(x.type), _item(y.type)))


def repeated(x: Expr, n: Expr) -> Expr:
    """x * n of a tuple display."""
    return made_by_python(operator.mul, x, ranges.index(n), item=_item(x.type))


def part(x: Expr, i: Expr) -> Expr:
    """x[i] of a tuple display for a slice that is not constant."""
    if isinstance(x.type, k.ListDisplay):
        raise NeedsList
    return made_by_python(operator.getitem, x, i, item=_item(x.type))


def from_list(items):
    return tuple(items)


def _item(t: Type) -> Type:
    """The type of the items of a tuple."""
    found = lists.item_of(t)
    if found is None:
        raise NotNative("a tuple that holds functions or generators meets one whose length is not known",
                        "keep them in a tuple whose items are written out")
    return found


class _TupleOf(Protocol):
    has_identity = True
    text = text_by_python

    def binary(self, op, x, y, inplace):
        if op == "+" and isinstance(y.type, (Tuple, TupleOf)):
            return joined(x, y)
        if op == "*" and (is_integer(y.type) or y.type is Bool):
            return made_by_python(operator.mul, x, ranges.index(y), item=x.type.item)
        return None

    def reflected(self, op, x, y, inplace):
        if op == "+" and isinstance(x.type, Tuple):
            return joined(x, y)
        return self.binary(op, y, x, False) if op == "*" and (is_integer(x.type) or x.type is Bool) else None

    def unsupported(self, op, x, y, inplace):
        if op == "+":
            return Mismatch(f'can only concatenate tuple (not "{y.type.class_name}") to tuple')
        return super().unsupported(op, x, y, inplace)

    def compare(self, op, x, y):
        if not isinstance(y.type, (Tuple, TupleOf)):
            return None
        return by_python(SYMBOLS[op], x, y, type=lists.answer_type(op, x, y))

    def compared(self, op, x, y):
        return by_python(SYMBOLS[op], x, y, type=lists.answer_type(op, x, y)) if isinstance(x.type, Tuple) else None

    def identical(self, x, y):
        return by_python(operator.is_, x, y, type=Bool) if isinstance(y.type, TupleOf) else None

    def truth(self, x):
        return Call(lists.is_filled, x)

    def length(self, x):
        return Apply(LIST_LEN, x)

    def contains(self, x, item):
        return by_python(operator.contains, x, lists.real(item), type=Bool)

    def getitem(self, x, i):
        if isinstance(i.type, Slice):
            return made_by_python(operator.getitem, x, i, item=x.type.item)
        if not is_integer(i.type) and i.type is not Bool:
            raise Mismatch(f"tuple indices must be integers or slices, not {describe(i.type)[1:-1]}",
                           whole_number(i.type))
        return Apply(LIST_GET, x, ranges.index(i))

    def iterate(self, x):
        return Call(lists.list_iterate, x)

    def reversed(self, x):
        return Call(lists.list_reversed, x)

    def attribute(self, x, name):
        return Apply(METHOD_MAKE, x, name=name) if name in METHODS else None

    def method(self, x, name, args, kwargs):
        return METHODS[name]([x, *args], kwargs)


@rule("tuple.index")
def _index(x, value, start=0, stop=9223372036854775807, /):
    return by_python(tuple.index, x, lists.real(value), ranges.index(start), ranges.index(stop), type=Int)


@rule("tuple.count")
def _count(x, value, /):
    return by_python(tuple.count, x, lists.real(value), type=Int)


METHODS = {"index": _index, "count": _count}


def zipped(iterables: Expr, strict: Expr) -> Expr:
    """`zip(*iterables, strict=strict)` of a number of iterables that is known only at run time: a list of tuples, or,
    where the item types of the iterables are not known to the interpreter, or an error may follow, an iterator."""
    if type(strict.value) is not bool:
        raise NotConstant("`strict` must be known at compile time", "write strict=True or strict=False")
    each = lists.item_of(iterables.type)
    item = None if each is None else Undefined if each is Undefined else lists.item_of(each)
    if item is not None:
        found = lists.made_by_python(columns, iterables, item=TupleOf(item))
        return Call(strict_rows, found, iterables) if strict.value else found
    if strict.value:
        raise NotNative("zip(*x, strict=True) of a container of functions or generators is not compiled",
                        "leave out `strict`")
    return Call(rows, iterables)


def columns(iterables):
    return list(zip(*iterables))


def rows(iterables):
    return zipped_rows([iter(x) for x in iterables])


def zipped_rows(iterators):
    while iterators:
        row = []
        for one in iterators:
            found = advance(iterate(one))
            if not found[0]:
                return
            row.append(found[1])
        yield tuple(row)


def strict_rows(found, iterables):
    yield from found
    compare_lengths(iterables)


@intrinsic
def compare_lengths(iterables):
    return Apply(DISCARD, by_python(lengths_compared, iterables))


def lengths_compared(iterables):
    for _ in zip(*iterables, strict=True):  # raises what the loop over it raises
        pass


def mapped(function, iterables):
    if len(iterables) == 0:
        refuse(map, iterables)
    return mapped_rows(function, iterables)


def mapped_rows(function, sequences):
    n = 0
    while True:
        row = []
        for one in sequences:
            if n >= len(one):
                return
            row.append(one[n])
        n += 1
        yield function(*row)


def bound(binder, items: Expr | None, keywords: Expr | None, more, defaults) -> Expr:
    """The tuple of arguments that `binder(*items, **keywords)` returns: items, values of the dict, and defaults of the
    types `more` for those left out. defaults: the tuple and the dict of defaults that the binder gets, each of which
    may be None; None if it has its own."""
    held = [*more]
    if items is not None:
        held.append(lists.item_of(items.type))
    if keywords is not None:
        held.append(keywords.type.values)
    if any([t is None for t in held]):
        raise NotNative(f"{describe(items.type)} of functions or generators is not compiled as the arguments of a call",
                       "pass them one by one, or as one tuple")
    item = functools.reduce(k.wider, held)
    if defaults is not None:
        given = [Const(Object, None) if x is None else x for x in defaults]
        return made_by_python(interpreted.bound_with, Const(Object, binder), *given, items or Const(Object, ()),
                              keywords or Const(Object, {}), item=item)
    if keywords is None:
        return made_by_python(starred, Const(Object, binder), items, item=item)
    return made_by_python(interpreted.call_star, Const(Object, binder), items or Const(Object, ()), keywords,
                          item=item)


def bound_by_name(binder, items: Expr | None, keywords: Expr | None, names, places: int,
                  left_out: dict[str, Expr]) -> Expr:
    """The tuple of the arguments for the parameters `names`, of which the first `places` may be items: items, values of
    the dict, and the defaults `left_out`. Where they do not fit, the binder raises the error."""
    none = Const(k.NoneType, None)
    return Call(by_name, Const(Object, binder), items or none, keywords or none, constant(names), number(places),
                constant(tuple(name not in left_out for name in names)),
                Apply(TUPLE_MAKE, *[left_out.get(name, none) for name in names], cls=None))


def by_name(binder, items, keywords, names, places, needed, defaults):
    given = 0 if items is None else len(items)
    found = 0
    fits = given <= places
    for n in range(given, len(names)):
        if keywords is not None and names[n] in keywords:
            found += 1
        elif needed[n]:
            fits = False
    if not fits or keywords is not None and found != len(keywords):
        refuse_arguments(binder, () if items is None else items, {} if keywords is None else keywords)
    return values_by_name(items, keywords, names, needed, defaults, 0, ())


def values_by_name(items, keywords, names, needed, defaults, n, values):
    if n == len(names):
        return values
    if items is not None and n < len(items):
        x = items[n]
    elif keywords is None:
        x = items[n] if needed[n] else defaults[n]
    elif needed[n]:
        x = keywords[names[n]]
    else:
        x = keywords.get(names[n], defaults[n])
    return values_by_name(items, keywords, names, needed, defaults, n + 1, values + (x,))


@intrinsic
def refuse_arguments(function, items, keywords):
    return Apply(DISCARD, by_python(interpreted.call_star, function, items, keywords))


def other_keywords(keywords: Expr, names) -> Expr:
    """The dict of the keywords that are not names of parameters."""
    return Fresh(k.Dict, (k.Str, keywords.type.values), lambda t: by_python(
        interpreted.others, keywords, Const(Object, names), type=t))


def after(first, second):
    return second


# One function for each number of arguments. A function with *args would contain a call of the kind for which inference
# calls `called`, which would then not terminate.
def called_1(function, a):
    return function(a)


def called_2(function, a, b):
    return function(a, b)


def called_3(function, a, b, c):
    return function(a, b, c)


def called_4(function, a, b, c, d):
    return function(a, b, c, d)


_CALLED = {1: called_1, 2: called_2, 3: called_3, 4: called_4}


def called(callee: Expr, args, kwargs) -> Expr:
    """`callee(*args, **kwargs)` where an argument with a union type is an item of an unpacked value, and not an operand
    of the instruction (inference splits only operands into their members)."""
    if kwargs or len(args) not in _CALLED:
        raise NotNative("values of several types that are unpacked with * are not compiled as arguments of this call",
                       "pass them one by one")
    return Call(_CALLED[len(args)], callee, *args)


def keywords(named: dict[str, Expr], more: Expr) -> Expr:
    """The dict of `f(name=x, **more)`."""
    values = more.type.values
    for x in named.values():
        values = k.wider(values, x.type)
    first = Apply(PY_CALL, Const(Object, dict), *map(boxed, named.values()), kwnames=tuple(named))
    return Fresh(k.Dict, (k.Str, values), lambda t: by_python(
        interpreted.merged, first, more, Const(Object, True), type=t))


def starred(function, items):
    return function(*items)


@intrinsic
def refuse(function, items):
    """Let the interpreter raise its error for a call without arguments, or with one that is no iterable."""
    return Apply(DISCARD, by_python(starred, function, items))


def of_two_at_most(function, items):
    if len(items) == 0:
        return function()
    if len(items) == 1:
        return function(items[0])
    if len(items) != 2:
        refuse(function, items)
    return function(items[0], items[1])


def of_two(function, items):
    if len(items) != 2:
        refuse(function, items)
    return function(items[0], items[1])


def of_two_or_three(function, items):
    if len(items) == 2:
        return function(items[0], items[1])
    if len(items) != 3:
        refuse(function, items)
    return function(items[0], items[1], items[2])


def of_one_to_three(function, items):
    if len(items) == 1:
        return function(items[0])
    return of_two_or_three(function, items)


_BY_COUNT = (range, of_one_to_three), (divmod, of_two), (pow, of_two_or_three), (complex, of_two_at_most)


def extreme(function, items, key=None):
    """max(*items) or min(*items)"""
    if len(items) < 2:
        refuse(function, items)
    return function(items, key=key)


def updated(update, x, others):
    """A copy of a set, updated by each of the others in turn."""
    made = set(x)
    for other in others:
        update(made, other)
    return made


def union_with(x, others):
    return updated(set.update, x, others)


def intersection_with(x, others):
    return updated(set.intersection_update, x, others)


def difference_with(x, others):
    return updated(set.difference_update, x, others)


_OF_SETS = {"union": union_with, "intersection": intersection_with, "difference": difference_with}


def of_the_first(method, function, items):
    """set.union(*items) and similar calls. method: the method of the class, as in `set.union`; function: the library
    function of the first set and a list of the others that does the same."""
    if len(items) == 0:
        refuse(method, items)
    return function(items[0], items[1:])


def call_of_method(callee: Expr, items: Expr) -> Expr | None:
    """`x.method(*items)` where the type of the result follows from the method; None for other methods."""
    t = callee.type
    if isinstance(t, k.Method):
        x, name = Apply(METHOD_SELF, callee), t.name
        if isinstance(t.receiver, k.Set) and name in _OF_SETS:
            return Call(_OF_SETS[name], x, items)
        if t.receiver is k.Str and name == "format":
            return by_python(starred, by_python(getattr, x, Const(k.Str, name)), items, type=k.Str)
        return None
    target = t.value if isinstance(t, Singleton) else None
    name = next((name for name in _OF_SETS if target is getattr(set, name)), None)
    item = lists.item_of(items.type)
    if name is None or not (item is Undefined or isinstance(item, k.Set)):
        return None
    return refuse(callee, items) if item is Undefined else Call(of_the_first, callee, constant(_OF_SETS[name]), items)


def call_with(callee: Expr, function, items: Expr, kwargs) -> Expr:
    """`callee(*function, *items, **kwargs)` where the callee is no Python function of the program. function: the first
    argument of map(), or nothing."""
    target = callee.type.value if isinstance(callee.type, Singleton) else None
    each = lists.item_of(items.type)
    if function and not kwargs and each is not None and all(
            [t is Undefined or isinstance(t, (k.List, TupleOf)) for t in k.members_of(each)]):
        return Call(mapped, *function, items)
    if target is zip and set(kwargs) <= {"strict"}:
        return zipped(items, kwargs.get("strict", constant(False)))
    if target is itertools.product and set(kwargs) <= {"repeat"}:
        return itertoolsmod.product_of(items, *kwargs.values())
    if target is print:
        keywords = by_python(dict) if not kwargs else Apply(PY_CALL, Const(Object, dict), *map(boxed, kwargs.values()),
                                                            kwnames=tuple(kwargs))
        return Apply(DISCARD, by_python(interpreted.call_star, Const(Object, print), items, keywords))
    found = None if kwargs else call_of_method(callee, items)
    if found is not None:
        return found
    if isinstance(target, type) and issubclass(target, BaseException) and not kwargs:
        return Apply(RETYPE, by_python(starred, callee, items), type=k.Exception_(target))
    by_count = next((function for one, function in _BY_COUNT if one is target), None)
    if by_count is not None and not kwargs:
        return Call(by_count, callee, items)
    if isinstance(target, np.ufunc) and (target.nin, target.nout) == (2, 1) and not kwargs:  # a third array is `out`
        return Call(of_two_or_three if isinstance(each, k.Array) else of_two, callee, items)
    if target in (max, min) and set(kwargs) <= {"key"}:
        item = lists.item_of(items.type)
        if item is not None and not any([isinstance(t, k.Container) or lists.item_of(t) is not None
                                         for t in k.members_of(item)]):
            return Call(extreme, callee, items, *kwargs.values())
    if target in (max, min, sum):
        hint = f"write {target.__name__}(x)"
    else:
        hint = "pass them one by one, or as one tuple"
    raise NotConstant(f"the length of this {describe(items.type)} must be known at compile time to be unpacked with *",
                      hint)


PROTOCOLS = {TupleOf: _TupleOf()}
