"""Structured arrays: fields as strided views, records, assignment field by field.

A record, `a[i]`, is a struct around a 0-d view, so that `a[i]['x'] = 1` writes into the array, as in NumPy.
"""
from __future__ import annotations

import operator

import numpy as np

from ....base.errors import did_you_mean, suggest
from ....base.lazy import lazy
from ....infer.constants import constant
from ....infer.meaning import Apply, Call, CallValue, Const, Expr, FieldNotConstant, Mismatch, NotNative, Throw
from ....ops.memory import ARRAY_DIM, ARRAY_LOAD, ARRAY_STRIDE, ARRAY_VIEW
from ....ops.structure import DISCARD, METHOD_MAKE, PACK, STRUCT_GET, TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Array, DType, Int, Record, Str, Tuple
from ....types.lattice import dtype_of
from ....types.typeof import element_type, record_type
from ... import extended
from ...build import a_type, is_list, provoked
from ...intrinsics import as_element
from ...protocol import Protocol, protocol_of
from ...py.interpreted import call_python
from ..indexing import subscripts
from ..shapes import views

__all__ = ["PROTOCOLS", "is_records", "getitem", "setitem"]

text_elements = lazy("pyjitc.lib.np.indexing.text_elements")
_NO_LIST = provoked(int, [])
_WHOLE = Const(k.Ellipsis_, ...)


def is_records(t) -> bool:
    return isinstance(t, Array) and isinstance(t.dtype, Record)


def field(a: Expr, name) -> Expr:
    """The view a[name]."""
    t, dtype = a.type, a.type.dtype.dtype
    if name not in (dtype.fields or ()):  # names and titles
        return Throw(ValueError, f"no field of name {name}", did_you_mean(name, dtype.names))
    part, offset = dtype.fields[name][:2]
    base, n = part.base, t.ndim
    steps, step = [], base.itemsize
    for length in reversed(part.shape):
        steps.insert(0, step)
        step *= length
    aligned = t.aligned and dtype.alignment % base.alignment == 0
    made = Array(element_type(base) or record_type(base), n + len(part.shape), "A" if n else "C", t.writable, aligned)
    return Apply(ARRAY_VIEW, a, Const(Int, offset), *(Apply(ARRAY_DIM, a, axis=j) for j in range(n)),
                 *(Const(Int, m) for m in part.shape), *(Apply(ARRAY_STRIDE, a, axis=j) for j in range(n)),
                 *(Const(Int, m) for m in steps), type=made)


def _name_of(i: Expr, names):
    """The field of a record that an index names or numbers."""
    if not i.known:
        raise FieldNotConstant("the name of a field must be known at compile time", "write it as a constant")
    if i.type is Str:
        return i.value
    if k.is_integer(i.type) and -len(names) <= i.value < len(names):
        return names[i.value]
    raise Mismatch(f"invalid index ({i.value})", exception=IndexError)


def _is_one_of_many(i: Expr, rec: Record) -> bool:
    """Whether an index is the name of a field that is known only at run time, and all fields have the same type. (If
    the fields have several types, a function is compiled separately for each name that is an argument.)"""
    if i.type is not Str or i.known:
        return False
    semantics = extended.semantics()
    return len({rec.dtype[name] for name in rec.dtype.names}) == 1 or (
        semantics is not None and semantics.option == "names")


def item_of_name(a, name, names, j):
    if j == len(names):
        raise ValueError(f"no field of name {name}")
    return a[names[j]] if name == names[j] else item_of_name(a, name, names, j + 1)


def put_by_name(a, name, value, names, j):
    if j == len(names):
        raise ValueError(f"no field of name {name}")
    if name == names[j]:
        a[names[j]] = value
    else:
        put_by_name(a, name, value, names, j + 1)


# ---------------------------------------------------------------- arrays


def getitem(a: Expr, i: Expr) -> Expr:
    """The expression of a[i] where `i` is a field name or contains field names; None for all other indices."""
    if i.type is Str:
        _with_fields(a)
        return Call(item_of_name, a, i, _names(a.type.dtype.dtype), Const(Int, 0)) if _is_one_of_many(
            i, a.type.dtype) else field(a, _name_of(i, ()))
    if _is_list_of_names(i.type):
        raise NotNative("several fields at once are not compiled", "take them one by one")
    if not _is_basic(i.type):
        return _chosen(a, i)
    return subscripts.getitem(a, i)


def _is_list_of_names(t) -> bool:
    return any(x is Str for _, x in t.members) if is_list(t) else isinstance(t, k.List) and t.item is Str


def _is_basic(t) -> bool:
    return all(k.is_integer(p) or isinstance(p, k.Slice) or p in (k.NoneType, k.Ellipsis_) for p in _items(t))


def _items(t) -> tuple:
    return t.elements if isinstance(t, Tuple) else (t,)


def _chosen(a: Expr, i: Expr) -> Expr:
    """a[i] for an index with arrays, masks or lists. The interpreter copies the records, or texts, in one call."""
    axes, chosen = a.type.ndim, []
    for part in _items(i.type):
        t, depth = part, 0
        while is_list(t) or isinstance(t, k.List):
            item = t.members[0][1] if is_list(t) and t.members else Int if is_list(t) else t.item
            # for any other item of a list object the interpreter raises what it raises
            known = is_list(t) or isinstance(item, k.List) or item is k.Bool or k.is_integer(item)
            t, depth = item if known else Int, depth + 1
        if isinstance(t, Array):
            t, depth = t.dtype, depth + t.ndim
        is_mask = t is k.NpBool or t is k.Bool
        if depth and (is_mask or k.is_integer(t)):
            axes -= depth if is_mask else 1
            chosen.append(1 if is_mask else depth)
        elif k.is_integer(part):
            axes -= 1
            chosen.append(0)
        elif part is k.NoneType:
            axes += 1
        elif depth and not isinstance(t, Record) and k.is_number(t):
            raise Mismatch("arrays used as indices must be of integer (or boolean) type", exception=IndexError)
        elif not isinstance(part, k.Slice) and part is not k.Ellipsis_:
            raise NotNative(f"an index of type {part} of an array of records or strings is not compiled",
                            "index with integers, slices, arrays of integers or masks")
    if axes < 0:
        raise Mismatch("too many indices for array", exception=IndexError)
    axes += max(chosen)
    return call_python(operator.getitem if axes == 1 else _contiguous_items, a, i, type=Array(a.type.dtype, axes, "C"))


def _contiguous_items(a, i):
    """a[i] in C order: NumPy chooses another order for some indices."""
    return np.ascontiguousarray(a[i])


def setitem(a: Expr, i: Expr, v: Expr, asks: bool) -> Expr:
    if not a.type.writable:
        return Throw(ValueError, "assignment destination is read-only")
    if i.type is Str:
        _with_fields(a)
        return Call(put_by_name, a, i, v, _names(a.type.dtype.dtype), Const(Int, 0)) if _is_one_of_many(
            i, a.type.dtype) else _assign(field(a, _name_of(i, ())), v, asks)
    if not _is_basic(i.type):
        return Apply(DISCARD, call_python(operator.setitem, a, i, v, type=k.NoneType))
    target = views.view(a, *subscripts.index_items(a.type, i))
    return Call(put_whole, target, v) if target.type is None else _assign(target, v, asks)


def put_whole(target, value):
    target[...] = value


def _with_fields(a: Expr) -> None:
    if a.type.dtype.is_text:
        raise subscripts.no_index(k.Str)


def _names(dtype) -> Const:
    return Const(Tuple((Str,) * len(dtype.names)), dtype.names)


def _assign(target: Expr, v: Expr, asks: bool) -> Expr:
    """target[...] = v. asks: see `Protocol.setitem`."""
    if isinstance(target, Throw):
        return target
    if is_records(target.type) and target.type.dtype.is_text:
        return text_elements.store(target, _WHOLE, v)
    if not is_records(target.type):
        if isinstance(v.type, Array) and v.type.ndim > target.type.ndim == 0:
            raise Mismatch("setting an array element with a sequence.", exception=ValueError)
        return protocol_of(target.type).setitem(target, _WHOLE, v, asks)
    names = _names(target.type.dtype.dtype)
    if isinstance(v.type, Tuple):
        if len(v.type.elements) != len(names.value):
            return Throw(ValueError, f"could not assign tuple of length {len(v.type.elements)} to structure with "
                                     f"{len(names.value)} fields.")
        return Call(put_tuple, target, v, names, Const(Int, 0))
    if is_record(v.type):
        v = Apply(STRUCT_GET, v, field="0")
    if is_records(v.type):
        others = _names(v.type.dtype.dtype)
        if len(others.value) != len(names.value):
            raise Mismatch("structures must have the same size to be assigned")
        return Call(put_records, target, v, names, others, Const(Int, 0))
    if k.is_number(v.type):
        return Call(put_number, target, v, names, Const(Int, 0))
    if isinstance(v.type, (k.List, k.ListDisplay)):
        if not target.type.ndim:
            raise Mismatch(_NO_LIST)
        return Call(put_list, target, v, Const(DType(target.type.dtype), target.type.dtype.dtype))
    raise NotNative(f"assigning {a_type(v.type)} to records is not compiled",
                    "assign a tuple, or to the fields one by one")


def put_tuple(target, values, names, j):
    if j < len(names):
        target[names[j]] = as_element(values[j], target[names[j]].dtype)
        put_tuple(target, values, names, j + 1)


def put_records(target, source, names, others, j):
    if j < len(names):
        target[names[j]] = source[others[j]]
        put_records(target, source, names, others, j + 1)


def put_list(target, values, dtype):
    target[...] = np.asarray(values, dtype)


def put_number(target, x, names, j):
    if j < len(names):
        target[names[j]] = x
        put_number(target, x, names, j + 1)


# ---------------------------------------------------------------- one record


def is_record(t) -> bool:
    return isinstance(t, k.RecordView)


def _value(x: Expr) -> Expr:
    if isinstance(x, Throw) or x.type.ndim:
        return x
    if not isinstance(x.type.dtype, Record):
        return Apply(ARRAY_LOAD, x)
    return text_elements.load(x) if x.type.dtype.is_text else Apply(PACK, x, name=k.RecordView.role)


class _RecordOfArray(Protocol):
    """a[i] of a structured array."""

    def binary(self, op, x, y, inplace):
        raise NotNative(f"{op} of structured arrays is not compiled", "use their fields: a['x']")

    reflected = binary

    def unary(self, op, x):
        self.binary(op, x, x, False)

    def compare(self, op, x, y):
        self.binary(op, x, y, False)

    compared = compare

    def contains(self, x, item):
        self.binary("in", x, item, False)

    def length(self, x):
        return Const(Int, len(_names_of(x)))

    def getitem(self, x, i):
        if _is_one_of_many(i, _record_of(x)):
            return Call(item_of_name, x, i, _names(_record_of(x).dtype), Const(Int, 0))
        return _value(_place(x, i))

    def setitem(self, x, i, value, asks):
        if _is_one_of_many(i, _record_of(x)):
            return Call(put_by_name, x, i, value, _names(_record_of(x).dtype), Const(Int, 0))
        a = Apply(STRUCT_GET, x, field="0")
        if not a.type.writable:
            return Throw(ValueError, "assignment destination is read-only")
        return _assign(_place(x, i), value, True)

    def elements(self, x):
        return [self.getitem(x, Const(Str, name)) for name in _names_of(x)]

    def iterate(self, x):
        items = Apply(TUPLE_MAKE, *self.elements(x), cls=None)
        return protocol_of(items.type).iterate(items)

    def attribute(self, x, name):
        rec = _record_of(x)
        if name in rec.dtype.fields and _has_attributes(rec):
            return self.getitem(x, Const(Str, name))
        if name == "dtype":
            return Const(DType(rec), dtype_of(rec))
        if name in _METHODS:
            return Apply(METHOD_MAKE, x, name=name)
        near = name if name in rec.dtype.names else suggest(name, rec.dtype.names)
        hint = ("" if near is None else f"did you mean '{near}'?" if issubclass(rec.cls, np.record)
                else f"write r['{near}']")
        raise Mismatch(f"'numpy.{rec.cls.__name__}' object has no attribute '{name}'", hint, AttributeError)

    def method(self, x, name, args, kwargs):
        return CallValue(constant(_METHODS[name]), Apply(STRUCT_GET, x, field="0"), *args, keywords=kwargs)

    def set_attribute(self, x, name, value):
        rec = _record_of(x)
        if name in rec.dtype.fields and _has_attributes(rec):
            return self.setitem(x, Const(Str, name), value, True)
        near = name if name in rec.dtype.names else suggest(name, rec.dtype.names) or name
        raise Mismatch(f"'numpy.{rec.cls.__name__}' object has no attribute '{name}'",
                       f"write r['{near}'] = ...", AttributeError)


def copied(a):
    """A copy of the record in a 0-d array."""
    out = np.empty((), a.dtype)
    out[()] = a
    return out[()]


def items(a):
    return tuple([item_of(x) for x in a[()]])


def item_of(x):
    return x if isinstance(x, (str, bytes)) else x.copy() if isinstance(x, np.ndarray) else x.item()


_METHODS = {"copy": copied, "item": items, "tolist": items}


def _has_attributes(rec) -> bool:
    """Whether fields are attributes: for np.record, and for all records in programs that are compiled with Numba's
    semantics."""
    return issubclass(rec.cls, np.record) or extended.is_as_in_numba()


def _record_of(x: Expr):
    return dict(x.type.members)["0"].dtype


def _names_of(x: Expr):
    return _record_of(x).dtype.names


def _place(x: Expr, i: Expr) -> Expr:
    """The field of a record that an index names or numbers, as a view."""
    return field(Apply(STRUCT_GET, x, field="0"), _name_of(i, _names_of(x)))


PROTOCOLS = {k.RecordView: _RecordOfArray()}
