"""The types of arrays and other buffers, of their elements and dtypes, and of pointers."""
from __future__ import annotations

import ctypes
import functools
from typing import NamedTuple

import numpy as np

from ...base.lazy import lazy
from ...types import kinds
from ...types.lattice import dtype_of, type_of_dtype
from ..errors import NumbaNotImplementedError
from .abstract import Hashable, Opaque, Type
from .scalars import CharSeq, EnumMember, NoneType, UnicodeCharSeq, of_scalar, pyobject, uint8, void, voidptr

_foreign = lazy("pyjitc.lib.py.foreign")


class Buffer(Type):
    """Memory with elements of one type."""

    mutable, role = True, "buffer"

    def __init__(self, dtype=None, ndim=1, layout="C", readonly=False, name=None):
        self.dtype, self.ndim, self.layout = dtype or uint8, ndim, layout
        self.mutable = type(self).mutable and not readonly
        shown = self.role if self.mutable else f"readonly {self.role}"
        super().__init__(name or f"{shown}({self.dtype}, {ndim}d, {layout})")

    @property
    def readonly(self):
        return not self.mutable

    @property
    def key(self):
        return self.dtype, self.ndim, self.layout, self.mutable

    @property
    def is_contig(self):
        return self.layout in "CF"

    is_c_contig = property(lambda self: self.layout == "C" or self.ndim <= 1 and self.is_contig)
    is_f_contig = property(lambda self: self.layout == "F" or self.ndim <= 1 and self.is_contig)


class Bytes(Buffer, Hashable):
    type, mutable, role = kinds.Bytes, False, "bytes"


class ByteArray(Buffer):
    type, role = kinds.ByteArray, "bytearray"


class MemoryView(Buffer):
    type, role = kinds.MemoryView, "memoryview"


class PyArray(Buffer):
    role = "array"


class ArrayCompatible(Type):
    pass


class Array(Buffer, ArrayCompatible):
    """The type of an array. layout: 'C', 'F' or 'A'."""

    def __init__(self, dtype, ndim, layout, readonly=False, name=None, aligned=True):
        if isinstance(dtype, NestedArray):  # its axes are the last ones
            dtype, ndim = dtype.dtype, ndim + dtype.ndim
        self._aligned = aligned  # as NumPy's flag, which is true of an array of packed records, too
        self.aligned = aligned and (not isinstance(dtype, Record) or dtype.aligned)
        super().__init__(dtype, ndim, layout, readonly,
                         name or f"{'readonly ' * readonly}array({dtype}, {ndim}d, {layout})")

    def __repr__(self):
        return f"Array({self.dtype!r}, {self.ndim}, {self.layout!r}, {not self.mutable}, aligned={self.aligned})"

    @property
    def key(self):
        return self.dtype, self.ndim, self.layout, self.mutable, self.aligned

    @property
    def type(self):
        return kinds.Array(self.dtype.type, self.ndim, self.layout, self.mutable, self._aligned)

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        return Array(dtype or self.dtype, self.ndim if ndim is None else ndim, layout or self.layout,
                     (not self.mutable) if readonly is None else readonly, aligned=self._aligned)

    @property
    def as_array(self):
        return self


Type.array_type = Array


class NestedArray(Array):
    def __init__(self, dtype, shape):
        if isinstance(dtype, NestedArray):
            dtype, shape = dtype.dtype, (*shape, *dtype.shape)
        self.shape = tuple(shape)
        super().__init__(dtype, len(self.shape), "C", name=f"nestedarray({dtype}, {self.shape})")

    def __repr__(self):
        return f"NestedArray({self.dtype!r}, {self.shape})"


class RecordField(NamedTuple):
    """A field of a record."""

    type: Type
    offset: int
    alignment: int | None = None
    title: object = None


class Record(Type):
    """The type of an element of a structured array. fields: pairs of a name and a dict with type, offset and so on.
    A field with a title is there under both names."""

    def __init__(self, fields, size, aligned):
        self.fields = {name: one if isinstance(one, RecordField) else RecordField(**one) for name, one in fields}
        self.size, self.aligned = size, aligned
        shown = ",".join(f"{name}[type={one.type};offset={one.offset}"
                         + "".join(f";{what}={x}" for what, x in (("alignment", one.alignment), ("title", one.title))
                                   if x is not None) + "]" for name, one in self.fields.items())
        super().__init__(f"Record({shown};{size};{aligned})")

    @functools.cached_property
    def dtype(self):
        names = [name for name in self.fields if not self.is_title(name)]
        own = [self.fields[name] for name in names]
        return np.dtype({"names": names, "formats": [as_dtype(one.type) for one in own],
                         "offsets": [one.offset for one in own], "itemsize": self.size,
                         "titles": [one.title for one in own]}, align=self.aligned)

    @property
    def type(self):
        return kinds.Record(self.dtype)

    @property
    def members(self):
        return [(name, self.typeof(name)) for name in self.fields if not self.is_title(name)]

    def typeof(self, name):
        return self.fields[name].type

    def offset(self, name):
        return self.fields[name].offset

    def alignof(self, name):
        return self.dtype.fields[name][0].alignment

    def has_titles(self):
        return any(one.title is not None for one in self.fields.values())

    def is_title(self, name):
        return name in self.fields and self.fields[name].title == name

    @property
    def bitwidth(self):
        return 8 * self.size

    @classmethod
    def make_c_struct(cls, name_types):
        """The type of a record with these (name, type) pairs, aligned as a struct of C."""
        return from_struct_dtype(np.dtype([(name, as_dtype(t)) for name, t in name_types], align=True))

    def __len__(self):
        return len(self.fields)

    def __contains__(self, name):
        return name in self.fields


class DType(Opaque):
    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"dtype({dtype})")

    def __getitem__(self, axes):
        return self.dtype[axes]

    @property
    def type(self):
        return kinds.DType(self.dtype.type)


class CPointer(Type):
    """The type of a C pointer: cfunc passes it to carray."""

    mutable = True

    def __init__(self, dtype, addrspace=None):
        self.dtype = dtype
        super().__init__(f"{dtype}*")

    @property
    def type(self):
        if isinstance(self.dtype, NoneType):
            return kinds.uint64
        return _foreign.PointerType(kinds.uint64, kinds.DType(self.dtype.type))


def from_dtype(dtype) -> Type:
    """The type of the elements of a dtype."""
    dtype = np.dtype(dtype)
    if dtype.names is not None:
        return from_struct_dtype(dtype)
    if dtype.subdtype is not None:
        return NestedArray(from_dtype(dtype.subdtype[0]), dtype.subdtype[1])
    if dtype.kind == "U":
        return UnicodeCharSeq(dtype.itemsize // 4)
    if dtype.kind == "S":
        return CharSeq(dtype.itemsize)
    if dtype.kind == "O":
        return pyobject
    found = type_of_dtype(dtype)
    if found is None:
        raise NumbaNotImplementedError(f"the dtype {dtype} has no native form")
    return of_scalar(found)


def from_struct_dtype(dtype) -> Record:
    fields = [(name, RecordField(from_dtype(of), offset, None, *title))
              for name, (of, offset, *title) in dtype.fields.items()]
    return Record(fields, dtype.itemsize, dtype.isalignedstruct)


def as_dtype(t) -> np.dtype:
    """The dtype of elements of a type."""
    if isinstance(t, NestedArray):
        return np.dtype((as_dtype(t.dtype), t.shape))
    if isinstance(t, Record):
        return t.dtype
    if isinstance(t, UnicodeCharSeq):
        return np.dtype(f"U{t.count}")
    if isinstance(t, CharSeq):
        return np.dtype(f"S{t.count}")
    if isinstance(t, (DType, EnumMember)):
        return as_dtype(t.dtype)
    if t is pyobject:
        return np.dtype(object)
    try:
        return dtype_of(t.type)
    except (TypeError, AttributeError):
        raise NumbaNotImplementedError(f"{t!r} cannot be represented as a NumPy dtype") from None


def from_ctypes(t) -> Type:
    """The Numba type for a ctypes type."""
    if t is None:
        return void
    if t in (ctypes.c_void_p, ctypes.c_char_p):
        return voidptr
    if isinstance(t, type) and issubclass(t, ctypes._Pointer):
        return CPointer(from_ctypes(t._type_))
    return from_dtype(np.dtype(t))
