"""The types of numbers, texts, dates, members of enums and other values without parts, and their names."""
from __future__ import annotations

from functools import total_ordering

import numpy as np

from ...types import kinds
from .abstract import Dummy, Hashable, Opaque, Type


@total_ordering
class Number(Hashable):
    def __init__(self, name, t=None):
        super().__init__(name)
        self._type = t

    @property
    def type(self):
        return self._type

    def __lt__(self, other):
        """Whether all values of this type are values of the other one: an order of types of one kind."""
        if type(self) is not type(other) or getattr(self, "signed", None) != getattr(other, "signed", None):
            return NotImplemented
        return self.bitwidth < other.bitwidth

    __hash__ = Hashable.__hash__


class Integer(Number):
    def __init__(self, name, bitwidth=None, signed=None):
        digits = "".join(c for c in name if c.isdigit())
        self.bitwidth = int(digits) if bitwidth is None else bitwidth
        self.signed = not name.startswith("uint") if signed is None else signed
        super().__init__(name, kinds.NpInt(self.bitwidth, self.signed))

    @property
    def minval(self):
        return -(1 << self.bitwidth - 1) if self.signed else 0

    @property
    def maxval(self):
        return (1 << self.bitwidth - self.signed) - 1

    @classmethod
    def from_bitwidth(cls, bitwidth, signed=True):
        return cls(f"{'int' if signed else 'uint'}{bitwidth}")


class Float(Number):
    def __init__(self, name):
        self.bitwidth = int(name[5:])
        super().__init__(name, kinds.NpFloat(self.bitwidth))


class Complex(Number):
    def __init__(self, name, underlying_float=None):
        self.bitwidth = int(name[7:])
        self.underlying_float = underlying_float or Float(f"float{self.bitwidth // 2}")
        super().__init__(name, kinds.NpComplex(self.bitwidth))


class Boolean(Hashable):
    type = kinds.NpBool
    bitwidth = 1


class NoneType(Dummy):
    type = kinds.NoneType


class EllipsisType(Dummy):
    type = kinds.Ellipsis_


class UnicodeType(Hashable):
    type = kinds.Str


class PyObject(Dummy):
    type = kinds.Object


class Omitted(Opaque):
    def __init__(self, default):
        self.value = default
        super().__init__(f"omitted(default={default!r})")


class UnicodeCharSeq(Type):
    def __init__(self, count):
        self.count = count
        super().__init__(f"[unichr x {count}]")

    def __repr__(self):
        return f"UnicodeCharSeq({self.count})"

    @property
    def type(self):
        return kinds.Record(np.dtype(f"U{self.count}"))


class CharSeq(Type):
    def __init__(self, count):
        self.count = count
        super().__init__(f"[char x {count}]")

    def __repr__(self):
        return f"CharSeq({self.count})"

    @property
    def type(self):
        return kinds.Record(np.dtype(f"S{self.count}"))


# Numba's numbers of NumPy's units of time
_UNITS = {"Y": 0, "M": 1, "W": 2, "D": 4, "h": 5, "m": 6, "s": 7, "ms": 8, "us": 9, "ns": 10, "ps": 11, "fs": 12,
          "as": 13, "": 14}


class _NPTime(Number):
    """The type of a date or a duration: "datetime64" or "timedelta64" and the unit."""

    kind: str

    def __init__(self, unit=""):
        self.unit, self.unit_code = unit, _UNITS[unit]
        shown = {"M": "datetime64", "m": "timedelta64"}[self.kind]
        super().__init__(f"{shown}[{unit}]" if unit else shown, kinds.NpTime(self.kind, unit or "generic", 1))


class NPDatetime(_NPTime):
    kind = "M"


class NPTimedelta(_NPTime):
    kind = "m"


class EnumMember(Type):
    """The type of a member of an enum whose values have the type `dtype`."""

    basename = "Enum"

    def __init__(self, cls, dtype):
        self.instance_class, self.dtype = cls, dtype
        super().__init__(f"{self.basename}<{dtype}>({cls.__name__})")


class IntEnumMember(EnumMember):
    basename = "IntEnum"


class EnumClass(EnumMember):
    """The type of an enum itself."""

    basename = "Enum class"

    @property
    def member_type(self):
        return EnumMember(self.instance_class, self.dtype)


class IntEnumClass(EnumClass):
    basename = "IntEnum class"

    @property
    def member_type(self):
        return IntEnumMember(self.instance_class, self.dtype)


class RangeType(Type):
    type = kinds.Range

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"range_state_{dtype}")


class SliceType(Type):
    def __init__(self, name, members=2):
        self.members, self.has_step = members, members >= 3
        super().__init__(name)

    @property
    def type(self):
        return kinds.Slice(kinds.Int, kinds.Int, kinds.Int if self.has_step else kinds.NoneType)


class RawPointer(Opaque):
    type = kinds.uint64


class NumPyRandomGeneratorType(Type):
    """The type of a generator of random numbers, `np.random.Generator`."""

    @property
    def type(self):
        return kinds.Instance(np.random.Generator)


int8, int16, int32, int64 = (Integer(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (Integer(f"uint{bits}") for bits in (8, 16, 32, 64))
float16, float32, float64 = (Float(f"float{bits}") for bits in (16, 32, 64))
complex64, complex128 = (Complex(f"complex{bits}") for bits in (64, 128))
boolean = bool_ = b1 = Boolean("bool")
void = none = NoneType("none")
ellipsis = EllipsisType("...")
unicode_type = string = UnicodeType("unicode_type")
pyobject = ffi_forced_object = PyObject("pyobject")
voidptr = RawPointer("void*")
npy_rng = NumPyRandomGeneratorType("NumPyRandomGeneratorType")
slice2_type, slice3_type = SliceType("slice<a:b>", 2), SliceType("slice<a:b:c>", 3)
intp = int_ = long_ = longlong = ssize_t = i8 = int64
uintp = uint = ulong = ulonglong = size_t = u8 = uint64
intc, uintc, short, ushort = int32, uint32, int16, uint16
byte = uchar = u1 = uint8
char = i1 = int8
i2, i4, u2, u4 = int16, int32, uint16, uint32
f2, f4, f8, c8, c16 = float16, float32, float64, complex64, complex128
half, float_, double = float16, float64, float64
signed_domain = frozenset((int8, int16, int32, int64))
unsigned_domain = frozenset((uint8, uint16, uint32, uint64))
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset((float32, float64))
complex_domain = frozenset((complex64, complex128))
number_domain = real_domain | integer_domain | complex_domain
np_double, np_float32, np_float64, np_intp = float64, float32, float64, int64
py_int, py_float, py_bool, py_complex = int64, float64, boolean, complex128


_KNOWN = {kinds.Int: int64, kinds.Float: float64, kinds.Complex: complex128, kinds.Bool: boolean, kinds.NpBool: boolean,
          **{t.type: t for t in number_domain}, kinds.float16: float16}


def of_scalar(t: kinds.Type) -> Type | None:
    """The Numba type for a number or a date."""
    if isinstance(t, kinds.NpTime):
        return (NPDatetime if t.kind == "M" else NPTimedelta)("" if t.unit == "generic" else t.unit)
    return _KNOWN.get(t)
