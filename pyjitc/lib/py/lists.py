"""The protocol of lists. A list is the Python object, which operations of ops/containers.py read and change directly;
operations that are rare, or whose call does not count, use its own methods, so that messages and orders are
CPython's."""
from __future__ import annotations

import functools
import operator
import sys
from types import BuiltinFunctionType, FunctionType

from ...base.lazy import lazy
from ...infer.constants import plain_value
from ...infer.expressions import list_of
from ...infer.meaning import Apply, Call, CallValue, Const, Expr, Fresh, Mismatch, NeedsList, Operand
from ...infer.names import describe
from ...ops.containers import HOLDS, LIST_APPEND, LIST_GET, LIST_LEN, LIST_NEW, LIST_POP, LIST_SET, LIST_SORT
from ...ops import sorting
from ...ops.memory import CELL_LOAD, CELL_STORE
from ...ops.pyobject import PY_CALL
from ...ops.sorting import SORT_BY, SORT_KEYS, SORT_PUT
from ...ops.structure import DISCARD, METHOD_MAKE, METHOD_SELF, PACK, STRUCT_GET
from ...types import kinds as k
from ...types.kinds import Bool, Ellipsis_, Int, List, ListDisplay, NoneType, Object, Slice, Type, Undefined, is_integer
from ..build import SYMBOLS, whole_number
from ..intrinsics import NOTHING
from ..protocol import Protocol, State, boxed, by_python, protocol_of, text_by_python
from ..rule import expression, intrinsic, rule
from . import conversions, ranges

textfn = lazy("pyjitc.lib.py.textfn")
__all__ = ["CALLS", "PROTOCOLS", "item_of", "position", "real", "whole"]



def _done(x: Expr) -> Expr:
    return Apply(DISCARD, x)


def _holding(x: Expr, item: Type) -> Expr:
    """The list `x`, which from here on may also hold items of another type."""
    return Apply(HOLDS, x, item=item)


def item_of(t: Type) -> Type | None:
    """The type of the items that iterating over the object of a value of type t yields, where that is known; else
    None."""
    if isinstance(t, (k.Container, k.DictView)):
        return t.item
    if type(t) is k.Union:
        found = [item_of(member) for member in t.members]
        return None if None in found else functools.reduce(k.wider, found)
    if isinstance(t, k.Tuple):
        item = Undefined
        for part in t.elements:
            if k.any_part(part, lambda one: one.inner):
                return None
            item = k.wider(item, part)
        return item
    if t in (k.Range, k.Bytes, k.ByteArray, k.MemoryView):
        return Int
    if t is k.Str:
        return k.Str
    if isinstance(t, k.Array) and t.ndim == 1 and not isinstance(t.dtype, k.Record):
        return t.dtype
    return None


def made_by_python(function, *operands: Expr, item: Type) -> Expr:
    """A call of `function` in Python, which returns a new list of items of this type."""
    return Fresh(List, (item,), lambda t: by_python(function, *operands, type=t))


def empty() -> Expr:
    return Fresh(List, (Undefined,), lambda t: Apply(LIST_NEW, type=t))


def real(x: Expr) -> Expr:
    """An operand from which a list is made, or with which it is compared or joined: list displays in it must become
    lists."""
    if k.any_part(x.type, lambda part: isinstance(part, ListDisplay)):
        raise NeedsList
    return x


def answer_type(op: str, x: Expr, y: Expr) -> Type:
    """The type of a comparison of two sequences: the order of two is what the comparison of the first items that differ
    answers, which is a bool of NumPy where one of these is a number of NumPy."""
    if op not in ("==", "!=") and (_holds_numpy(x.type) or _holds_numpy(y.type)):
        return k.union_of((Bool, k.bool_))
    return Bool


def _holds_numpy(t: Type, depth: int = 6) -> bool:
    """Whether a sequence of this type may hold numbers of NumPy, directly or in sequences that it holds; `depth` is how
    many of these in each other are looked into, since a list may hold itself."""
    parts = t.parameters if isinstance(t, k.Container) else t.parts or k.members_of(t)
    return k.is_numpy_scalar(t) or depth > 0 and any(
        [part is not t and _holds_numpy(part, depth - 1) for part in parts])


class _List(Protocol):
    has_identity = True
    text = text_by_python

    def binary(self, op, x, y, inplace):
        real(y)
        if isinstance(y.type, k.Array):
            return None
        if op == "+" and inplace:
            return extended(x, y)
        if op == "+" and isinstance(y.type, List):
            return made_by_python(operator.add, x, y, item=k.wider(x.type.item, y.type.item))
        if op == "*" and (is_integer(y.type) or y.type is Bool):
            if inplace:
                return by_python(operator.imul, x, ranges.index(y), type=x.type)
            return made_by_python(operator.mul, x, ranges.index(y), item=x.type.item)
        return None

    def reflected(self, op, x, y, inplace):
        return self.binary(op, y, x, False) if op == "*" and (is_integer(x.type) or x.type is Bool) else None

    def unsupported(self, op, x, y, inplace):
        if op == "+":
            return Mismatch(f'can only concatenate list (not "{y.type.class_name}") to list')
        return super().unsupported(op, x, y, inplace)

    def compare(self, op, x, y):
        real(y)
        return by_python(SYMBOLS[op], x, y, type=answer_type(op, x, y)) if isinstance(y.type, List) else None

    def identical(self, x, y):
        real(x), real(y)
        return by_python(operator.is_, x, y, type=Bool) if type(x.type) is type(y.type) else None

    def truth(self, x):
        return Call(is_filled, x)

    def length(self, x):
        return Apply(LIST_LEN, x)

    def contains(self, x, item):
        return by_python(operator.contains, x, real(item), type=Bool)

    def getitem(self, x, i):
        if isinstance(i.type, Slice):
            return made_by_python(operator.getitem, x, i, item=x.type.item)
        return Apply(LIST_GET, x, position(i))

    def setitem(self, x, i, value, asks):
        if isinstance(i.type, Slice):
            item = item_of(real(value).type)
            if item is None:
                return Call(set_slice, x, i, listed(value))
            return _done(by_python(operator.setitem, _holding(x, item), i, value))
        return Apply(LIST_SET, x, position(i), real(value))

    def delitem(self, x, i):
        return _done(by_python(operator.delitem, x, i if isinstance(i.type, Slice) else position(i)))

    def iterate(self, x):
        return Call(list_iterate, x)

    def reversed(self, x):
        return Call(list_reversed, x)

    def attribute(self, x, name):
        return Apply(METHOD_MAKE, x, name=name) if name in METHODS else None

    def method(self, x, name, args, kwargs):
        return METHODS[name]([x, *args], kwargs)


def position(i: Expr) -> Expr:
    if not is_integer(i.type) and i.type is not Bool:
        raise Mismatch(f"list indices must be integers or slices, not {describe(i.type)[1:-1]}", whole_number(i.type))
    return ranges.index(i)


def extended(x: Expr, items: Expr) -> Expr:
    """The list after all items of an iterable were appended."""
    item = item_of(real(items).type)
    members = items.type.members if type(items.type) is k.Union else (items.type,)
    if item is None or any([isinstance(t, k.Array) for t in members]):  # += of an array would be that of NumPy
        if not all([protocol_of(t).is_iterable(Operand(-1, t)) for t in members]):
            raise Mismatch(f"{describe(items.type)} object is not iterable")
        return Call(extend, x, items)
    return by_python(operator.iadd, _holding(x, item), items, type=x.type)


def listed(items: Expr) -> Expr:
    """A new list of the items of an iterable."""
    if isinstance(items.type, ListDisplay):
        raise NeedsList
    item = item_of(items.type)
    if item is not None and not isinstance(items.type, k.Array):  # the items of an array have no objects yet
        return made_by_python(list, items, item=item)
    state = items.type.state if isinstance(items.type, k.Iterator) else items.type
    rest = _LISTED.get((type(items.type), state.name)) if isinstance(state, k.Struct) else None
    return extended(empty(), items) if rest is None else rest(items)


def _is_view_of_display(t: Type) -> bool:
    """Whether values of type t are the keys, values or items of a dict whose keys are part of its type."""
    return isinstance(t, k.DictView) and isinstance(t.viewed, k.DictDisplay)


def unpack_rest(x: Expr, before: int, after: int) -> Expr:
    """The values to which `a, *b, c = x` unpacks."""
    if not protocol_of(x.type).is_iterable(x):
        raise Mismatch(f"cannot unpack non-iterable {describe(x.type)[1:-1]} object")
    return Call(unpacked, listed(x), Const(Int, before), Const(Int, after))


# ---------------------------------------------------------------- methods and functions


@rule("list.append")
def _append(x, object, /):
    return Apply(LIST_APPEND, x, real(object))


@rule("list.extend")
def _extend(x, iterable, /):
    return _done(extended(x, iterable))


@rule("list.insert")
def _insert(x, index, object, /):
    return _done(by_python(list.insert, _holding(x, real(object).type), whole(index), object))


@rule("list.pop")
def _pop(x, index=-1, /):
    if index.known and type(index.value) is int and index.value == -1:
        return Apply(LIST_POP, x)
    return by_python(list.pop, x, whole(index), type=x.type.item)


@rule("list.remove")
def _remove(x, value, /):
    return _done(by_python(list.remove, x, real(value)))


@rule("list.clear")
def _clear(x, /):
    return _done(by_python(list.clear, x))


@rule("list.copy")
def _copy(x, /):
    return made_by_python(list.copy, x, item=x.type.item)


@rule("list.index")
def _index_of(x, value, start=0, stop=sys.maxsize, /):
    return by_python(list.index, x, real(value), conversions.to_bound(start), conversions.to_bound(stop), type=Int)


@rule("list.count")
def _count(x, value, /):
    return by_python(list.count, x, real(value), type=Int)


@rule("list.reverse")
def _reverse(x, /):
    return _done(by_python(list.reverse, x))


@rule("list.sort")
def _sort(x, /, *, key=None, reverse=False):
    if key is None or key.type is k.NoneType:
        return Call(in_order, x, expression(None), reverse)
    return Call(sort_by if _reaches_lists(key.type) else sort_by_copy, x, key, reverse)


@intrinsic
def sorts_by(first, reverse):
    """Whether a key, the item of the tuple `first`, is sorted without boxing."""
    return Const(Bool, reverse.type is Bool and sorting.are_numbers(first.type.elements[0]))


def _reaches_lists(t: Type) -> bool:
    """Whether a function of type t may have access to a list other than its arguments, as far as its own code shows."""
    if isinstance(t, k.FunctionObject):
        t = t.function
    if isinstance(t, k.Function):
        return bool(t.captures) or _names_lists(t.proto.code, t.proto.globals)
    function = t.value if isinstance(t, k.Singleton) else None
    function = getattr(function, "py_func", function)
    if type(function) is FunctionType:
        return function.__closure__ is not None or _names_lists(function.__code__, function.__globals__)
    return not isinstance(function, (type, BuiltinFunctionType))


def _names_lists(code, space) -> bool:
    return any(isinstance(space.get(name), list) for name in code.co_names)


def whole(i: Expr) -> Expr:
    return ranges.index(plain_value(i))


def in_order(x, keys, reverse):
    """list.sort(x), by the keys of its items where `keys` is not None."""
    raise NotImplementedError


@rule("list.sort")
def _in_order(x, keys, reverse):
    if keys.type is k.NoneType and reverse.type is Bool:
        return Apply(LIST_SORT, x, reverse)
    reverse = boxed(reverse)
    if keys.type is k.NoneType:
        return _done(Apply(PY_CALL, Const(Object, list.sort), boxed(x), reverse, kwnames=("reverse",)))
    following = by_python(functools.partial, Const(Object, next), by_python(iter, keys))  # next(keys, item)
    return _done(Apply(PY_CALL, Const(Object, list.sort), boxed(x), following, reverse, kwnames=("key", "reverse")))


in_order.rule = _in_order  # type: ignore[attr-defined]  # where table.py looks


@rule("sorted")
def _sorted(iterable, /, *, key=None, reverse=False):
    if iterable.type is k.Str and (key is None or key.type is NoneType):
        return Call(textfn.sorted_characters, iterable, expression(reverse))
    if _is_view_of_display(iterable.type) and not isinstance(iterable.type, k.DictValues) and key is None and (
            expression(reverse).value is False):
        names = iterable.type.viewed.names
        items = protocol_of(iterable.type).elements(iterable)
        return list_of([items[names.index(name)] for name in sorted(names)])
    made = listed(iterable)
    if key is not None and _is_get(key.type) and item_of(iterable.type) is key.type.receiver.keys:
        return Call(sort_by_get, made, Apply(METHOD_SELF, key), reverse)
    return CallValue(expression(sort_into), made, key or expression(None), reverse)


def _is_get(t: Type) -> bool:
    """Whether a callable of type t is `d.get` of a dict."""
    return isinstance(t, k.Method) and t.name == "get" and isinstance(t.receiver, k.Dict)


@rule("list", "iterable=..., /")
def _list(x):
    if _is_view_of_display(x.type):
        return list_of(protocol_of(x.type).elements(x))
    return empty() if x.type is Ellipsis_ else listed(x)


METHODS = {"append": _append, "extend": _extend, "insert": _insert, "pop": _pop, "remove": _remove, "clear": _clear,
           "copy": _copy, "index": _index_of, "count": _count, "reverse": _reverse, "sort": _sort}
CALLS = {list: _list, sorted: _sorted}

# ---------------------------------------------------------------- in the compiled subset


def is_filled(x):
    return LIST_LEN(x) > 0


def sort_into(x, key, reverse):
    """Sort the new list that sorted() returns: nothing else has a reference to it."""
    if key is None:
        in_order(x, None, reverse)
    else:
        sort_keyed(x, x, key, reverse)
    return x


def sort_by_get(x, d, reverse):
    """Sort a new list by d.get. Where all items are keys of d, the key is never None and has one type."""
    for item in x:
        if item not in d:
            return sort_into(x, d.get, reverse)
    return sort_into(x, lambda item: d[item], reverse)


def sort_by_copy(x, key, reverse):
    """list.sort with a key function that can reach the list only through the objects in it."""
    sort_keyed(x, x.copy(), key, reverse)


def sort_keyed(x, items, key, reverse):
    """list.sort(x) by the keys of `items`, a copy of x."""
    n = LIST_LEN(items)
    numbers = SORT_KEYS(n)
    keys = []
    for i in range(n):
        one = (key(LIST_GET(items, i, keyed=True)),)  # in a tuple: rules are called for each member of a union
        if sorts_by(one, reverse):
            SORT_PUT(numbers, i, one)
        else:
            keys.append(one[0])
    if n > 0:
        if sorts_by(one, reverse):
            SORT_BY(x, numbers, n, one, reverse)
        else:
            in_order(x, keys, reverse)


def sort_by(x, key, reverse):
    """list.sort. As in CPython the list is empty while the key function runs, and must not be changed."""
    items = x.copy()
    x.clear()
    try:
        keys = keys_of(items, key)
        changed = LIST_LEN(x) > 0
    except BaseException:
        x[:] = items
        raise
    x[:] = items
    in_order(x, keys, reverse)
    if changed:
        raise ValueError("list modified during sort")


def keys_of(x, key):
    keys = []
    for item in x:
        keys.append(key(item))
    return keys


def extend(x, items):
    for item in items:
        LIST_APPEND(x, item)
    return x


def set_slice(x, i, items):
    x[i] = items


def unpacked(x, before, after):
    n = LIST_LEN(x)
    if n < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {n})")
    return items_at(x, 0, before, ()) + (x[before:n - after],) + items_at(x, n - after, after, ())


def items_at(x, first, count, done):
    """`count` items of a list from `first` on, as a tuple."""
    if count == 0:
        return done
    return items_at(x, first + 1, count - 1, done + (LIST_GET(x, first),))


def list_iterate(x):
    return PACK(x, 0, name="list_iterator")


def list_step(s):
    x = STRUCT_GET(s, field="0")
    i = STRUCT_GET(s, field="1")
    if i < LIST_LEN(x):
        return True, LIST_GET(x, i), PACK(x, i + 1, name="list_iterator")
    return False, NOTHING, s


def list_reversed(x):
    return PACK(x, LIST_LEN(x) - 1, name="list_reverseiterator")


def list_rest_back(s):
    """list() of an iterator of reversed()."""
    x = STRUCT_GET(s, field="0")
    i = STRUCT_GET(s, field="1")
    return x[i::-1] if 0 <= i and i < LIST_LEN(x) else x[:0]


def list_rest(it):
    """list() of an iterator over a list, which is exhausted then."""
    state = CELL_LOAD(it)
    x = STRUCT_GET(state, field="0")
    CELL_STORE(it, PACK(x, sys.maxsize, name="list_iterator"))
    return x[STRUCT_GET(state, field="1"):]


def list_of_repeated(s):
    """list() of itertools.repeat()."""
    one = list(())
    one.append(STRUCT_GET(s, field="0"))
    return one * STRUCT_GET(s, field="1")


def list_rest_of_repeated(it):
    state = CELL_LOAD(it)
    CELL_STORE(it, PACK(STRUCT_GET(state, field="0"), 0, name="repeat"))
    return list_of_repeated(state)


def list_rest_of_tee(it):
    """list() of an iterator of tee(): what is left of the items that are saved, after all others were added to them."""
    state = CELL_LOAD(it)
    saved = STRUCT_GET(state, field="1")
    saved.extend(STRUCT_GET(state, field="0"))
    CELL_STORE(it, PACK(STRUCT_GET(state, field="0"), saved, LIST_LEN(saved), name="tee"))
    return saved[STRUCT_GET(state, field="2"):]


def list_step_back(s):
    x = STRUCT_GET(s, field="0")
    i = STRUCT_GET(s, field="1")
    if 0 <= i and i < LIST_LEN(x):
        return True, LIST_GET(x, i), PACK(x, i - 1, name="list_reverseiterator")
    return False, NOTHING, s


def step_of_none(s):
    """A step over a list in which nothing has been stored as far as is known at compile time: it raises if there is an
    item."""
    if LIST_LEN(STRUCT_GET(s, field="0")) > 0:
        raise TypeError("a list has an item, but was empty when this code was compiled")
    return False, NOTHING, NOTHING


class _Steps(State):
    def step(self, state):
        return Call(step_of_none if state.type.parts[0].item is Undefined else self.function, state)


def _rest_of_container(items: Expr) -> Expr:
    """list() of an iterator of the interpreter."""
    return made_by_python(list, Apply(STRUCT_GET, items, field="1"), item=item_of(items.type.parts[0]))


# Kinds of iterators and names of their states -> a new list of the items that are left.
_LISTED = {(k.Struct, "list_reverseiterator"): lambda items: Call(list_rest_back, items),
           (k.Struct, "container_iterator"): _rest_of_container,
           (k.Struct, "repeat"): lambda items: Call(list_of_repeated, items),
           (k.Iterator, "repeat"): lambda items: Call(list_rest_of_repeated, items),
           (k.Iterator, "tee"): lambda items: Call(list_rest_of_tee, items),
           (k.Iterator, "list_iterator"): lambda items: Call(list_rest, items)}
PROTOCOLS = {List: _List(), "list_iterator": _Steps(list_step), "list_reverseiterator": _Steps(list_step_back)}
