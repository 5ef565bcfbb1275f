"""The result types of mixed operands: NumPy's promotion (NEP 50) and Python's numeric tower.

Python ints, floats and complexes are weak next to NumPy scalars: they take the NumPy operand's type unless they are of
a higher kind. For pairs of dtypes NumPy itself is called, once per pair.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .kinds import (
    NUMPY_SCALARS, Bool, Complex, Float, Int, NpComplex, NpFloat, NpInt, NpTime, Record, Type,
    bool_, complex64, complex128, float32, float64, int64, is_complex, is_float, is_numpy_scalar, is_python_number,
)

__all__ = ["COUNTERPART", "promote", "python_promote", "kind_of", "numpy_counterpart", "inexact", "dtype_of",
           "type_of_dtype", "named_dtype", "fits", "part_of", "element_types"]

_RANK = {Bool: 0, Int: 1, Float: 2, Complex: 3}
COUNTERPART = {Bool: bool_, Int: int64, Float: float64, Complex: complex128}  # same values
_memo: dict[tuple[Type, Type], Type] = {}
_dtypes: dict[Type, np.dtype] = {}
_types: dict[np.dtype, Type] = {}


def kind_of(t: Type) -> str:
    """'b', 'i', 'u', 'f', 'c', 'M' or 'm' as NumPy's dtype.kind; '' for other types."""
    if isinstance(t, NpInt):
        return "i" if t.signed else "u"
    if isinstance(t, NpFloat):
        return "f"
    if isinstance(t, NpComplex):
        return "c"
    if isinstance(t, NpTime):
        return t.kind
    return _KINDS.get(t, "")


_KINDS = {Bool: "b", bool_: "b", Int: "i", Float: "f", Complex: "c"}


def numpy_counterpart(t: Type) -> Type:
    """The NumPy scalar type that a Python number becomes on its own (np.asarray)."""
    return COUNTERPART.get(t, t)


def dtype_of(t: Type) -> np.dtype:
    """NumPy's dtype of a number type, or of dates and durations."""
    found = _dtypes.get(t)
    if found is None and isinstance(t, Record):
        return t.dtype
    if found is None:
        found = _dtypes[t] = np.dtype(COUNTERPART.get(t, t).text.rstrip("_"))
    return found


def type_of_dtype(dtype: np.dtype) -> Type | None:
    """The scalar type of a native-endian dtype; None where there is no such type."""
    found = _types.get(dtype)
    if found is None and dtype.isnative and dtype.names is None and dtype.subdtype is None:
        found = NpTime(dtype.kind, *np.datetime_data(dtype)) if dtype.kind in "mM" else NUMPY_SCALARS.get(
            "bool_" if dtype.kind == "b" else dtype.name)
        if found is not None:
            _types[dtype] = found
    return found


def named_dtype(given) -> np.dtype:
    """The dtype that a constant names: what np.dtype() takes, or a type in users' notation, as in
    `np.zeros(3, numba.uint32)`. Raises TypeError."""
    t = getattr(given, "type", None)
    return dtype_of(t) if isinstance(t, Record) or isinstance(t, Type) and is_numpy_scalar(t) else np.dtype(given)


def python_promote(x: Type, y: Type) -> Type:
    """The wider of two Python number types; for two Bools Bool."""
    return x if _RANK[x] >= _RANK[y] else y


def promote(x: Type, y: Type) -> Type:
    """The common type of two number types in NumPy's binary ufuncs; for two Python types that of Python's operators."""
    found = _memo.get((x, y))
    if found is None:
        found = _memo[x, y] = _promote(x, y)
    return found


def _promote(x: Type, y: Type) -> Type:
    if is_python_number(x) and is_python_number(y):
        return python_promote(x, y)
    if is_python_number(x):
        x, y = y, x
    if isinstance(x, Record) or isinstance(y, Record):
        raise AttributeError("a record is no number", name="number", obj=x)  # inference adds the name of the call
    if not is_numpy_scalar(x):
        raise AttributeError(f"{x} is no number", name="number", obj=x)
    weak: Any = {Int: 0, Float: 0.0, Complex: 0j, Bool: np.dtype(bool)}.get(y)
    common = type_of_dtype(np.result_type(dtype_of(x), dtype_of(y) if weak is None else weak))
    assert common is not None
    return common


def element_types(types) -> tuple[Type, ...]:
    """The element types of operands of these types: a Python number has the type of NumPy operands of its kind, by NEP
    50; with other operands the type that it has on its own."""
    numpy_dtypes = [dtype_of(t) for t in types if is_numpy_scalar(t)]
    found = []
    for t in types:
        weak: Any = {Int: 0, Float: 0.0, Complex: 0j}.get(t)
        if weak is not None:
            beside = [np.empty(0, d).real.dtype if t is Float else d for d in numpy_dtypes
                      if d.kind in ("iu" if t is Int else "fc")]
            if beside:
                t = type_of_dtype(np.result_type(weak, *beside))
        found.append(numpy_counterpart(t))
    return tuple(found)


def inexact(t: Type) -> Type:
    """The type in which np.sqrt and its like compute an operand of type t (float64 for 64-bit integers and so on)."""
    t = numpy_counterpart(t)
    if is_float(t) or is_complex(t):
        return t
    bits = t.bits if isinstance(t, NpInt) else 8  # a bool
    return NpFloat(16 if bits == 8 else 32 if bits == 16 else 64)


def part_of(t: Type) -> Type:
    """The float type of the parts of a complex type; other types are returned unchanged."""
    return Float if t is Complex else float32 if t is complex64 else float64 if t is complex128 else t


def fits(value, t: Type) -> bool:
    """Whether a Python constant is exactly representable in t: at a join it may take the type of the other value."""
    if type(value) is bool:
        return t is Bool or t is bool_
    if type(value) is int:
        if t is Int:
            return -(1 << 63) <= value < 1 << 63
        if isinstance(t, NpInt):
            low = -(1 << t.bits - 1) if t.signed else 0
            return low <= value < low + (1 << t.bits)
        return (is_float(t) or is_complex(t)) and abs(value) <= 1 << _DIGITS[part_of(t).text]
    if type(value) is float:
        if is_float(t) or is_complex(t):
            with np.errstate(all="ignore"):
                return value != value or float(dtype_of(part_of(t)).type(value)) == value
        return False
    return type(value) is complex and is_complex(t) and fits(value.real, t) and fits(value.imag, t)


_DIGITS = {"float": 53, "float64": 53, "float32": 24, "float16": 11}
