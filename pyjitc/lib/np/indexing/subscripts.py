"""Basic indexing that loads or stores single elements: operations. All other basic indices make a view (views.py)."""
from __future__ import annotations

import numpy as np

from ....base.lazy import lazy
from ....infer.meaning import Apply, Call, Const, Expr, Mismatch, NotNative, Throw
from ....ops.memory import ARRAY_DIM, ARRAY_LOAD, ARRAY_STORE, CHECK_INDEX
from ....ops.structure import PACK, TUPLE_GET
from ....types.kinds import (Array, Bool, Ellipsis_, Float, Int, NoneType, NpBool, NpInt, Record, RecordView, Slice,
                             Str, Tuple, Union, is_integer)
from ...build import whole_number
from ...py.operators import as_int

text_elements, views = lazy("pyjitc.lib.np.indexing.text_elements"), lazy("pyjitc.lib.np.shapes.views")

__all__ = ["getitem", "has_power", "index_items", "integral", "is_power", "length", "no_index", "set_item_of",
           "setitem"]


def is_power(t) -> bool:
    """Whether t is the type of n ** m of ints, an int or, where m is negative, a float; or one of several integer
    types."""
    return isinstance(t, Union) and (set(t.members) == {Int, Float} or all(map(is_integer, t.members)))


def has_power(t) -> bool:
    """Whether a tuple type has an item of such a type."""
    return isinstance(t, Tuple) and any(map(is_power, t.elements))


def integral(x, bound):
    """An item of an index, or a bound of a slice, as an int."""
    if isinstance(x, float):
        if bound:
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        raise IndexError("only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
                         "arrays are valid indices")
    return int(x) if isinstance(x, (int, np.integer)) else x


def integers(i, k=0):
    return () if k == len(i) else (integral(i[k], False),) + integers(i, k + 1)


def item_of(a, i):
    return a[integers(i)]


def set_item_of(a, i, v):
    a[integers(i)] = v


def no_index(t) -> Mismatch:
    """The error of a value of type t that is an item of an index of an array, and cannot be one."""
    fields = "a text names a field of a structured array, such as np.zeros(3, [('x', float)])"
    hint = fields if t is Str else whole_number(t)
    return Mismatch("only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
                    "arrays are valid indices", hint, IndexError)


def index_items(a: Array, i: Expr):
    """The index as one expression per axis; `...` is expanded, and missing items are full slices."""
    if isinstance(i.type, Tuple):
        items = [Const(t, i.value[k]) if i.known else Apply(TUPLE_GET, i, index=k)
                 for k, t in enumerate(i.type.elements)]
    else:
        items = [i]
    used = 0
    for x in items:
        t = x.type
        if t is Int or isinstance(t, (NpInt, Slice)):
            used += 1
        elif t is not NoneType and t is not Ellipsis_:
            if t is Bool or t is NpBool or isinstance(t, Array):
                raise NotNative("indexing with arrays or masks is not compiled yet", "write the loop over the elements")
            raise no_index(t)
    dots = [k for k, x in enumerate(items) if x.type is Ellipsis_]
    if len(dots) > 1:
        raise Mismatch("an index can only have a single ellipsis ('...')", exception=IndexError)
    if used > a.ndim:
        raise Mismatch(f"too many indices for array: array is {a.ndim}-dimensional, but {used} were indexed",
                       exception=IndexError)
    whole = Const(Slice(NoneType, NoneType, NoneType), slice(None))
    fill = [whole] * (a.ndim - used)
    if dots:
        k = dots[0]
        return items[:k] + fill + items[k + 1:], True
    return items + fill, False


def _element(a: Expr, items: list[Expr]) -> list[Expr]:
    return [Apply(CHECK_INDEX, as_int(x), Apply(ARRAY_DIM, a, axis=k), axis=k) for k, x in enumerate(items)]


def getitem(a: Expr, i: Expr) -> Expr:
    if has_power(i.type):
        return Call(item_of, a, i)
    items, dots = index_items(a.type, i)
    if len(items) == a.type.ndim and not dots and all(is_integer(x.type) for x in items):
        if isinstance(a.type.dtype, Record):
            if a.type.dtype.is_text:
                return text_elements.load(views.view(a, items, dots))
            return Apply(PACK, views.view(a, items, dots), name=RecordView.role)
        return Apply(ARRAY_LOAD, a, *_element(a, items))
    return views.view(a, items, dots)


def setitem(a: Expr, i: Expr, v: Expr, convert) -> Expr:
    """a[i] = v. convert: (value, dtype) -> expression of that NumPy type, as assignment to an element converts."""
    if not a.type.writable:
        return Throw(ValueError, "assignment destination is read-only")
    if has_power(i.type):
        return Call(set_item_of, a, i, v)
    items, dots = index_items(a.type, i)
    if len(items) == a.type.ndim and all(is_integer(x.type) for x in items):
        if isinstance(v.type, Array):
            if v.type.ndim:
                raise Mismatch("setting an array element with a sequence.", exception=ValueError)
            v = Apply(ARRAY_LOAD, v)
        return Apply(ARRAY_STORE, a, *_element(a, items), convert(v, a.type.dtype))
    target = views.view(a, items, dots)
    if not isinstance(v.type, Array):
        v = convert(v, a.type.dtype)
    return Call(views.put_whole, target, v)


def length(a: Expr) -> Expr:
    if a.type.ndim == 0:
        return Throw(TypeError, "len() of unsized object")
    return Apply(ARRAY_DIM, a, axis=0)
