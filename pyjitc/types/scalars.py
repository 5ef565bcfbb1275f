"""The kinds of NumPy's scalars, and the families of numbers: NumPy's, Python's, integers, floats."""
from __future__ import annotations

import numpy as np

from .kind import Bool, Complex, Float, Int, Type

__all__ = ["NUMPY_SCALARS", "NpBool", "NpComplex", "NpFloat", "NpInt", "NpTime", "TIME_UNITS", "bool_", "complex64",
           "complex128", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "is_complex", "is_float",
           "is_integer", "is_number", "is_numpy_scalar", "is_python_number", "is_scalar", "is_time", "uint8", "uint16",
           "uint32", "uint64"]


class _NumPyScalar(Type):
    """Base class of NumPy's scalar types."""

    __slots__ = ()

    @property
    def python_class(self):
        return getattr(np, self.text.partition("[")[0])

    @property
    def class_name(self):
        return f"numpy.{self.python_class.__name__}"


class NpInt(_NumPyScalar):
    """NumPy integer scalar; arithmetic wraps."""

    __slots__ = fields = ("bits", "signed")
    bits: int
    signed: bool

    def _text(self):
        return f"{'' if self.signed else 'u'}int{self.bits}"


class NpFloat(_NumPyScalar):
    """NumPy floating scalar of 16, 32 or 64 bits."""

    __slots__ = fields = ("bits",)
    bits: int

    def _text(self):
        return f"float{self.bits}"


class NpComplex(_NumPyScalar):
    """NumPy complex scalar of 64 or 128 bits (both parts together)."""

    __slots__ = fields = ("bits",)
    bits: int

    def _text(self):
        return f"complex{self.bits}"


class NpBoolType(_NumPyScalar):
    """NumPy bool scalar."""

    __slots__ = ()

    def _text(self):
        return "bool_"


NpBool = NpBoolType()
bool_ = NpBool
int8, int16, int32, int64 = (NpInt(b, True) for b in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (NpInt(b, False) for b in (8, 16, 32, 64))
float16, float32, float64 = (NpFloat(b) for b in (16, 32, 64))
complex64, complex128 = (NpComplex(b) for b in (64, 128))
NUMPY_SCALARS = {
    t.text: t
    for t in (NpBool, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
              float16, float32, float64, complex64, complex128)
}


# In NumPy's own order, which numbers them (NPY_DATETIMEUNIT; 3 is not in use).
TIME_UNITS = ("Y", "M", "W", "", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic")


class NpTime(_NumPyScalar):
    """NumPy datetime64 (kind 'M') or timedelta64 ('m'): a 64-bit number of `count` units, whose minimum is NaT.

    It is no number: its operations are those in lib/np/dates."""

    __slots__ = fields = ("kind", "unit", "count")
    kind: str
    unit: str
    count: int
    bits, signed = 64, True

    def __new__(cls, kind, unit="generic", count=1):
        return super().__new__(cls, kind, unit, count)

    def _text(self):
        unit = "" if self.unit == "generic" else f"[{'' if self.count == 1 else self.count}{self.unit}]"
        return f"{'datetime64' if self.kind == 'M' else 'timedelta64'}{unit}"


def is_numpy_scalar(t: Type) -> bool:
    """Whether t is a NumPy number, date or duration, the element types of arrays except records."""
    return t is NpBool or isinstance(t, (NpInt, NpFloat, NpComplex, NpTime))


def is_python_number(t: Type) -> bool:
    return t is Int or t is Float or t is Bool or t is Complex


def is_number(t: Type) -> bool:
    return is_python_number(t) or t is NpBool or isinstance(t, (NpInt, NpFloat, NpComplex))


def is_time(t: Type) -> bool:
    """Whether t is a NumPy date or duration."""
    return isinstance(t, NpTime)


def is_scalar(t: Type) -> bool:
    """Whether t is a number, date or duration, which whole-array expressions combine with arrays."""
    return is_python_number(t) or is_numpy_scalar(t)


def is_integer(t: Type) -> bool:
    """Whether t is Python's int or a NumPy integer (bools excluded)."""
    return t is Int or isinstance(t, NpInt)


def is_float(t: Type) -> bool:
    return t is Float or isinstance(t, NpFloat)


def is_complex(t: Type) -> bool:
    return t is Complex or isinstance(t, NpComplex)
