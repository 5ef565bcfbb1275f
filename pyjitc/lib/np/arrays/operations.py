"""The protocol of arrays: which module has the rules of each operation."""
from __future__ import annotations

import operator

import numpy as np

from ....base.lazy import lazy
from ....infer.meaning import Apply, Call, Const, Mismatch, NotNative, Throw
from ....ops.memory import ARRAY_SAME
from ....ops.structure import DISCARD, METHOD_MAKE
from ....types.kinds import (
    Array, Bool, List, NoneType, NpBool, Record, Str, Tuple, any_part, is_number, is_scalar,
)
from ...build import SYMBOLS, is_list, is_sequence, no_records
from ...protocol import Protocol, by_python, text_by_python, uncallable
from ... import extended

__all__ = ["PROTOCOLS"]

elementwise, views = lazy("pyjitc.lib.np.elementwise.elementwise"), lazy("pyjitc.lib.np.shapes.views")
indexing, subscripts = lazy("pyjitc.lib.np.indexing.indexing"), lazy("pyjitc.lib.np.indexing.subscripts")
attributes, records = lazy("pyjitc.lib.np.arrays.attributes"), lazy("pyjitc.lib.np.arrays.records")
index, making = lazy("pyjitc.lib.np.index"), lazy("pyjitc.lib.np.arrays.making")
text_elements = lazy("pyjitc.lib.np.indexing.text_elements")
conversions, iteration = lazy("pyjitc.lib.py.conversions"), lazy("pyjitc.lib.py.iteration")


def _is_advanced(i) -> bool:
    """Whether an index contains arrays, masks or lists."""
    return any(isinstance(t, Array) or t is Bool or t is NpBool or is_list(t)
               for t in (i.type.elements if isinstance(i.type, Tuple) else (i.type,)))


def _is_operand(t) -> bool:
    """Whether NumPy converts a value of type t to an array, or it is one."""
    return isinstance(t, Array) or is_scalar(t) or is_sequence(t)


def _no_list(x):
    """`x`, or the array that NumPy makes of it where it is a list or contains lists."""
    return making.of_lists(x) if any_part(x.type, _is_list) else x


def _is_list(t) -> bool:
    return type(t) is List


class _Array(Protocol):
    has_identity = True
    text = text_by_python

    def binary(self, op, x, y, inplace):
        no_records(op, x.type, y.type)
        x, y = _no_list(x), _no_list(y)
        if op == "@":
            product = index.module_of(np.matmul).operator
            return index.taken("matmul", lambda args, kwargs: product(args, inplace))([x, y], {})
        return elementwise.binary(op, x, y, inplace) if _is_operand(x.type) and _is_operand(y.type) else None

    def reflected(self, op, x, y, inplace):
        return self.binary(op, x, y, False)  # a list or number on the left is not changed in place

    def unary(self, op, x):
        no_records(op, x.type)
        return elementwise.unary(op, x)

    def compare(self, op, x, y):
        if any(isinstance(v.type, Array) and isinstance(v.type.dtype, Record) and v.type.dtype.is_text
               for v in (x, y)):
            found = text_elements.compared(SYMBOLS[op], x, y)
            if found is not None:
                return found
        no_records(op, x.type, y.type)
        x, y = _no_list(x), _no_list(y)
        if op in ("==", "!=") and NoneType in (x.type, y.type):
            raise NotNative(f"an array {op} None is not compiled", "write `is None`")
        return elementwise.compare(op, x, y)

    compared = compare

    def identical(self, x, y):
        return Apply(ARRAY_SAME, x, y) if isinstance(x.type, Array) and isinstance(y.type, Array) else None

    def truth(self, x):
        return Call(indexing.truth, x)

    def contains(self, x, item):
        no_records("in", x.type)
        return Call(indexing.contains, x, item)

    def length(self, x):
        return subscripts.length(x)

    def getitem(self, x, i):
        if isinstance(x.type.dtype, Record):
            return records.getitem(x, i)
        i = _no_list(i)
        return (indexing if _is_advanced(i) else subscripts).getitem(x, i)

    def setitem(self, x, i, value, asks):
        if isinstance(x.type.dtype, Record):
            return records.setitem(x, i, value, asks)
        if _is_list(value.type):  # NumPy converts its items one by one
            return Apply(DISCARD, by_python(operator.setitem, x, i, value))
        i, value = _no_list(i), _no_list(value)
        dtype, t = x.type.dtype, value.type
        if t is dtype and is_number(t) and not _is_advanced(i):  # the conversions need not be loaded
            return subscripts.setitem(x, i, value, lambda value, dtype: value)
        written_out = is_sequence(t)
        asks = asks and not written_out and not isinstance(t, Array) and not _is_advanced(i)
        discards = conversions.discards(t.dtype if isinstance(t, Array) else t, dtype)
        if discards and not asks:
            return Call(elementwise.loops.store_real, x, i, value)
        if asks:
            given, value = value, conversions.element(value, dtype)
        if discards:
            value = conversions.discarding(given, dtype, conversions.assign(value, dtype))
            return subscripts.setitem(x, i, value, lambda value, dtype: value)
        return (indexing.setitem(x, i, value) if written_out or _is_advanced(i)
                else subscripts.setitem(x, i, value, conversions.assign))

    def delitem(self, x, i):
        raise Mismatch("cannot delete array elements", "write np.delete(a, i), which makes a new array", ValueError)

    def iterate(self, x):
        if x.type.ndim == 0:
            return Throw(TypeError, "iteration over a 0-d array")
        of_numbers = x.type.ndim == 1 and not isinstance(x.type.dtype, Record)
        return Call(iteration.elements_iterate if of_numbers else iteration.array_iterate, x)

    def reversed(self, x):
        return Call(iteration.array_reversed, x)

    def attribute(self, x, name):
        found = views.getattr_(x, name)
        if found is None and _is_field(x, name):
            return self.getitem(x, Const(Str, name))
        if found is None and name in _OF_MEMORYVIEWS and extended.is_as_in_numba():
            return Call(_OF_MEMORYVIEWS[name], x)
        if found is None and (name in views.METHODS or index.method_module(name) is not None):
            return Apply(METHOD_MAKE, x, name=name)
        return attributes.of_array(x, name) if found is None else found

    def set_attribute(self, x, name, value):
        if _is_field(x, name) and not hasattr(np.ndarray, name):
            return self.setitem(x, Const(Str, name), value, True)
        return attributes.set_of_array(x, name, value)

    def method(self, x, name, args, kwargs):
        rule = views.METHODS.get(name) or index.method_rule(name)
        return rule([x, *args], kwargs)

    def call(self, x, args, kwargs):
        raise uncallable(x, args)


# attributes of memoryviews, which are arrays in programs for Numba
_OF_MEMORYVIEWS = {"readonly": lambda a: not a.flags.writeable, "c_contiguous": lambda a: a.flags.c_contiguous,
                   "f_contiguous": lambda a: a.flags.f_contiguous,
                   "contiguous": lambda a: a.flags.c_contiguous or a.flags.f_contiguous}


def _is_field(a, name: str) -> bool:
    """Whether `name` is an attribute of a recarray, or in a program for Numba of an array of records: a field."""
    return isinstance(a.type.dtype, Record) and name in (a.type.dtype.dtype.names or ()) and (
        issubclass(a.type.dtype.cls, np.record) or extended.is_as_in_numba())


PROTOCOLS = {Array: _Array()}
