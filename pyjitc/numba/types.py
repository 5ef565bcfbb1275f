"""Numba's types as values, for signatures, `typeof`, `isinstance` in overloads and typed containers.

A type represents one of this compiler's (`.type`), where there is one; `of(t)` is the inverse. `int64`, `float64`,
`complex128` and `boolean` are both Python's and NumPy's numbers, as in signatures.
"""
from __future__ import annotations

import copy
import ctypes
import sys
import types as pytypes
import typing
import weakref

import numpy as np

from ..api.signature import Signature as _OwnSignature
from ..api.signature import TypeName, signature_of
from ..base.lazy import lazy
from ..types import kinds
from ..types.lattice import dtype_of, type_of_dtype
from . import errors
from .absent import Absent
from .signatures import Signature

_foreign = lazy("pyjitc.lib.py.foreign")

__all__ = ["Signature", "Type", "of", "unliteral", "literal", "maybe_literal"]  # and the names below


class _Interned(type):
    """The metaclass: types of one class with equal keys are one object."""

    def __call__(cls, *args, **kwargs):
        return _interned(super().__call__(*args, **kwargs))


_KNOWN: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def _interned(made):
    try:
        return _KNOWN.setdefault((type(made), made.key), made) if made.interned else made
    except (TypeError, AttributeError):  # the key cannot be hashed, or is not complete yet
        return made


class Type(TypeName, metaclass=_Interned):
    """A Numba type. Types with equal `key` are equal."""

    __slots__ = ("__dict__", "__weakref__")
    interned = True
    __pyjitc_constant__ = True  # compiled code knows the type as a constant
    mutable = reflected = False

    def __init__(self, name: str):
        self.name = name

    @property
    def key(self):
        return self.name

    @property
    def type(self) -> kinds.Type:
        raise TypeError(f"numba.types.{self.name} has no values in compiled code")

    def __call__(self, *args):
        if args and all(isinstance(t, Type) for t in args):  # also of types without values, as those of functions
            return Signature(self, *map(_of_part, args))
        found = super().__call__(*args)
        if isinstance(found, _OwnSignature):
            return Signature(self, *map(_of_part, args))
        return found

    def __getitem__(self, axes) -> Array:
        given = axes if isinstance(axes, tuple) else (axes,)
        if not given or not all(isinstance(x, slice) and x.start is x.stop is None and x.step in (None, 1)
                                for x in given):
            return super().__getitem__(axes)  # raises the error
        return Array(self, len(given), "C" if given[-1].step else "F" if given[0].step else "A")

    def __eq__(self, other):
        return type(self) is type(other) and self.key == other.key

    def __hash__(self):
        return hash((type(self).__name__, self.key))

    def __repr__(self):
        return self.name

    __str__ = __repr__

    def __reduce__(self):
        return _restored, (type(self), dict(self.__dict__), getattr(self, "name", None))

    def _signature(self, args) -> _OwnSignature:
        return signature_of(TypeName.__call__(self, *args))

    @property
    def is_precise(self):
        return lambda: True

    def cast_python_value(self, value):
        return self(value)

    def unify(self, context, other):
        return self if self == other else None


def signature(given):
    """The signature in users' notation. Text may use all names of this module, as in "void(CPointer(double), intp)"."""
    if isinstance(given, str):
        try:
            given = eval(given, {"__builtins__": {}}, globals())
        except (NameError, AttributeError):
            raise errors.TypingError(f"{given!r} is not a signature: one of its parts is not a type") from None
    return given


def _of_part(given):
    """The Numba type for a part of a signature that is not a type: a tuple of types, or None."""
    if isinstance(given, Type):
        return given
    if isinstance(given, tuple):
        return Tuple([_of_part(t) for t in given])
    return of(given if isinstance(given, kinds.Type) else given.type if isinstance(given, TypeName)
              else kinds.NoneType)


def _restored(cls, state, name):
    made = object.__new__(cls)
    made.__dict__.update(state)
    if name is not None:
        made.name = name
    return _interned(made)


class Dummy(Type):
    """A type without values."""


class Hashable(Type):
    pass


class Number(Hashable):
    def __init__(self, name, t=None):
        super().__init__(name)
        self._type = t

    @property
    def type(self):
        return self._type

    def __lt__(self, other):
        return self.bitwidth < other.bitwidth

    def __ge__(self, other):
        return not self < other


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


class Opaque(Dummy):
    pass


class Omitted(Opaque):
    def __init__(self, default):
        self.value = default
        super().__init__(f"omitted(default={default!r})")


class Literal(Dummy):
    """A constant as a type. `literal_value`: the constant; `literal_type`: the type of such values."""

    def __init__(self, value):
        self.literal_value = value
        super().__init__(f"Literal[{type(value).__name__}]({value})")

    @property
    def key(self):
        return self.literal_value, type(self.literal_value).__name__

    @property
    def literal_type(self):
        from_value = {bool: boolean, int: int64, str: unicode_type, bytes: Bytes()}
        return from_value.get(type(self.literal_value)) or of(kinds.Float)

    @property
    def type(self):
        return self.literal_type.type


class IntegerLiteral(Literal, Integer):
    def __init__(self, value):
        Literal.__init__(self, value)
        self._type = kinds.int64
        self.bitwidth, self.signed = 64, True


class BooleanLiteral(Literal, Boolean):
    def __init__(self, value):
        Literal.__init__(self, value)


class StringLiteral(Literal, UnicodeType):
    def __init__(self, value):
        Literal.__init__(self, value)


def literal(value):
    """The type of a constant."""
    classes = {bool: BooleanLiteral, int: IntegerLiteral, str: StringLiteral}
    if type(value) not in classes:
        raise TypeError(f"{type(value).__name__} cannot be used as a literal")
    return classes[type(value)](value)


def maybe_literal(value):
    return literal(value) if type(value) in (bool, int, str) else None


def unliteral(t):
    """The type of the values, without the constant."""
    if isinstance(t, Literal):
        return t.literal_type
    if isinstance(t, BaseTuple) and any(isinstance(x, Literal) for x in t.types):
        return Tuple([unliteral(x) for x in t.types])
    return t


class Buffer(Type):
    """Memory with elements of one type."""

    mutable, role = True, "buffer"

    def __init__(self, dtype=None, ndim=1, layout="C", readonly=False, name=None):
        self.dtype, self.ndim, self.layout = dtype or uint8, ndim, layout
        self.mutable = type(self).mutable and not readonly
        super().__init__(name or f"{self.role}({self.dtype}, {ndim}d, {layout})")

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
        self.aligned = aligned
        super().__init__(dtype, ndim, layout, readonly,
                         name or f"{'readonly ' * readonly}array({dtype}, {ndim}d, {layout})")

    @property
    def key(self):
        return self.dtype, self.ndim, self.layout, self.mutable, self.aligned

    @property
    def type(self):
        return kinds.Array(self.dtype.type, self.ndim, self.layout, self.mutable, self.aligned)

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        return Array(dtype or self.dtype, self.ndim if ndim is None else ndim, layout or self.layout,
                     (not self.mutable) if readonly is None else readonly, aligned=self.aligned)

    @property
    def as_array(self):
        return self


class NestedArray(Array):
    def __init__(self, dtype, shape):
        self.shape = tuple(shape)
        super().__init__(dtype, len(self.shape), "C")


class Sequence(Type):
    pass


class BaseTuple(Sequence, Hashable):
    @property
    def type(self):
        return kinds.Tuple([value_type(t) for t in self.types], getattr(self, "instance_class", None))

    def __len__(self):
        return len(self.types)

    def __iter__(self):
        return iter(self.types)

    def __getitem__(self, i):
        if isinstance(i, slice) and i.start is i.stop is None:
            return super().__getitem__(i)
        return self.types[i]

    @property
    def key(self):
        return self.types

    @property
    def count(self):
        return len(self.types)


def value_type(t) -> kinds.Type:
    """The type of a part of a value, in which numbers are Python numbers."""
    found = t.type
    return {kinds.int64: kinds.Int, kinds.float64: kinds.Float, kinds.complex128: kinds.Complex,
            kinds.NpBool: kinds.Bool}.get(found, found)


class Tuple(BaseTuple):
    """Tuple((int64, float64)); where all members are equal it is a UniTuple."""

    def __new__(cls, types=()):
        types = tuple(types)
        if cls is Tuple and types and all(t == types[0] for t in types):
            return UniTuple(types[0], len(types))
        return object.__new__(cls)

    def __init__(self, types=()):
        self.types = tuple(types)
        super().__init__(f"Tuple({', '.join(map(str, self.types))})")

    @classmethod
    def from_types(cls, types, pyclass=None):
        return (NamedTuple(types, pyclass) if pyclass is not None and pyclass is not tuple else Tuple(types))


class UniTuple(BaseTuple):
    def __init__(self, dtype, count):
        self.dtype, self.types = dtype, (dtype,) * count
        BaseTuple.__init__(self, f"UniTuple({dtype} x {count})")


class BaseNamedTuple(BaseTuple):
    @property
    def key(self):
        return self.instance_class, self.types


class NamedTuple(BaseNamedTuple):
    def __init__(self, types, cls):
        self.types, self.instance_class, self.fields = tuple(types), cls, tuple(cls._fields)
        BaseTuple.__init__(self, f"{cls.__name__}({', '.join(map(str, self.types))})")


class NamedUniTuple(BaseNamedTuple):
    def __init__(self, dtype, count, cls):
        self.dtype, self.types, self.instance_class = dtype, (dtype,) * count, cls
        self.fields = tuple(cls._fields)
        BaseTuple.__init__(self, f"{cls.__name__}({dtype} x {count})")


class Optional(Type):
    def __init__(self, typ):
        while isinstance(typ, Optional):
            typ = typ.base
        self.base = typ
        super().__init__(f"OptionalType({typ})")

    @property
    def key(self):
        return self.base

    @property
    def type(self):
        return kinds.union_of((value_type(self.base), kinds.NoneType))


class MutableSequence(Sequence):
    mutable = True


class ListType(MutableSequence):
    """typed.List"""

    def __init__(self, itemty, name=None):
        self.dtype = self.item_type = itemty
        super().__init__(name or f"ListType[{itemty}]")

    @property
    def type(self):
        return _container(kinds.List, self.dtype)


class List(ListType):
    """The type of a Python list with items of one type; typed lists are such lists."""

    reflected = True

    def __init__(self, dtype, reflected=False, initial_value=None):
        self.initial_value = initial_value
        super().__init__(dtype, f"reflected list({dtype})<iv={initial_value}>")


class Set(Type):
    reflected = mutable = True

    def __init__(self, dtype, reflected=False):
        self.dtype = dtype
        super().__init__(f"reflected set({dtype})")

    @property
    def type(self):
        return _container(kinds.Set, self.dtype)


class DictType(Type):
    """typed.Dict"""

    mutable = True

    def __init__(self, keyty, valty, initial_value=None):
        self.key_type, self.value_type, self.initial_value = keyty, valty, initial_value
        self.keyvalue_type = Tuple((keyty, valty))
        super().__init__(f"DictType[{keyty},{valty}]<iv={initial_value}>")

    @property
    def type(self):
        return _container(kinds.Dict, self.key_type, self.value_type)


def _container(kind: type[kinds.Type], *parts) -> kinds.Type:
    return kind(*map(value_type, parts))


class Record(Type):
    """The type of an element of a structured array."""

    interned = False  # the dtype is set after the type was made

    def __init__(self, name, fields, size, aligned):
        self.fields, self.size, self.aligned = dict(fields), size, aligned
        super().__init__(name)

    @property
    def key(self):
        return self.name, self.size, self.aligned, self.__dict__.get("_dtype")

    @property
    def dtype(self):
        return self._dtype

    @property
    def type(self):
        return kinds.Record(self._dtype)

    @property
    def members(self):
        return [(name, self.typeof(name)) for name in self.fields]

    def typeof(self, name):
        return self.fields[name]

    def offset(self, name):
        return self._dtype.fields[name][1]

    def alignof(self, name):
        return self._dtype.fields[name][0].alignment

    def has_titles(self):
        return any(len(field) > 2 for field in self._dtype.fields.values())

    def is_title(self, name):
        field = self._dtype.fields[name]
        return len(field) > 2 and field[2] == name

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


class NPDatetime(Number):
    def __init__(self, unit=""):
        self.unit = unit
        t = kinds.NpTime("M", unit or "generic", 1)
        super().__init__(f"datetime64[{unit}]" if unit else "datetime64", t)


class NPTimedelta(Number):
    def __init__(self, unit=""):
        self.unit = unit
        t = kinds.NpTime("m", unit or "generic", 1)
        super().__init__(f"timedelta64[{unit}]" if unit else "timedelta64", t)


class DType(Opaque):
    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"dtype({dtype})")

    @property
    def type(self):
        return kinds.DType(self.dtype.type)


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


class Module(Dummy):
    def __init__(self, pymod):
        self.pymod = pymod
        super().__init__(f"Module({pymod})")


class Callable(Type):
    pass


class Function(Callable, Opaque):
    """The type of a function that the compiler knows, such as np.sum."""

    def __init__(self, template):
        self.typing_key = template
        super().__init__(f"Function({template})")


class Dispatcher(Callable, Dummy):
    """The type of a compiled function."""

    def __init__(self, dispatcher):
        self.dispatcher = dispatcher
        super().__init__(f"type({dispatcher})")

    @property
    def key(self):
        return self.dispatcher

    @property
    def type(self):
        return kinds.Singleton(self.dispatcher)


class FunctionType(Type):
    """The type of a function with one signature: FunctionType(int64(int64))."""

    def __init__(self, signature):
        self.signature = signature
        super().__init__(f"FunctionType[{signature}]")


Signature.function_type = FunctionType


class NumberClass(Callable, Opaque):
    """The type of a class of numbers, such as np.float64."""

    def __init__(self, instance_type):
        self.instance_type = self.dtype = instance_type
        super().__init__(f"class({instance_type})")


class EnumMember(Type):
    def __init__(self, cls, dtype):
        self.instance_class, self.dtype = cls, dtype
        super().__init__(f"{type(self).__name__}<{dtype}>({cls.__name__})")


class IntEnumMember(EnumMember):
    pass


class ExceptionClass(Callable, Opaque):
    def __init__(self, exc_class):
        self.exc_class = exc_class
        super().__init__(exc_class.__name__)


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


class RawPointer(Opaque):
    type = kinds.uint64


class DeferredType(Type):
    def __init__(self):
        self._defined = None
        super().__init__(f"DeferredType#{id(self)}")

    def define(self, typ):
        self._defined = typ

    def get(self):
        if self._defined is None:
            raise RuntimeError("deferred type not defined")
        return self._defined

    @property
    def type(self):
        return self.get().type


class ClassType(Callable, Opaque):
    """The type of a class that jitclass makes."""

    def __init__(self, cls, struct):
        self.class_name, self.struct, self.cls = cls.__name__, dict(struct), cls
        found = vars(cls)
        self.methods = {name: value for name, value in found.items() if hasattr(value, "py_func")}
        self.jit_props = {name: value for name, value in found.items() if isinstance(value, property)}
        self.static_methods = {name: value for name, value in found.items() if isinstance(value, staticmethod)}
        self.instance_type = ClassInstanceType(self)
        super().__init__(f"jitclass.{self.class_name}#{id(self):x}<{','.join(f'{n}:{t}' for n, t in struct.items())}>")
        _CLASSES[self.name] = self

    @property
    def instance_type_class(self):
        return ClassInstanceType

    @property
    def type(self):
        return kinds.Singleton(self.cls)

    def __reduce__(self):
        return _class_type, (self.name,)


_CLASSES: dict[str, ClassType] = {}


def _class_type(name: str) -> ClassType:
    return _CLASSES[name]


class ClassInstanceType(Type):
    """The type of an object of a class that jitclass makes."""

    mutable = True

    def __init__(self, class_type):
        self.class_type = class_type

    @property
    def name(self):
        return f"instance.{self.class_type.name}"

    @property
    def classname(self):
        return self.class_type.class_name

    @property
    def struct(self):
        return self.class_type.struct

    @property
    def methods(self):
        return self.class_type.methods

    @property
    def type(self):
        return kinds.ObjectOf(self.class_type.cls)

    def __reduce__(self):
        return _instance_type, (self.class_type,)


def _instance_type(class_type):
    return class_type.instance_type


class WrapperAddressProtocol:
    """A function given by its address: subclasses define __wrapper_address__() and signature(). It becomes a ctypes
    function, which compiled code and the interpreter call."""

    def __new__(cls, *args, **kwargs):
        described = object.__new__(cls)
        described.__init__(*args, **kwargs)
        declared = described.signature()
        kinds_of_c = [None if isinstance(t, NoneType) else ctypes.c_void_p if isinstance(t, (CPointer, RawPointer))
                      else np.ctypeslib.as_ctypes_type(as_dtype(t)) for t in (declared.return_type, *declared.args)]
        made = ctypes.PYFUNCTYPE(*kinds_of_c)(described.__wrapper_address__())
        vars(made).update(vars(described), signature=described.signature,
                          __wrapper_address__=described.__wrapper_address__)
        return made


class FieldsWanted(Exception):
    """Raised where the fields of a structure's type are asked for, and not known yet."""


class StructRef(Type):
    """The type of structures, objects of the class `proxy`; see numba.experimental.structref.

    declared: the names of the fields, where the program has declared them. fields_known: False for the type of the
    structures of a class in compiled code, whose fields may have any types."""

    proxy: type | None = None
    declared: tuple[str, ...] = ()
    fields_known = True

    def __init__(self, fields):
        fields = tuple(map(_field, fields))
        self._fields = tuple(map(_field, self.preprocess_fields(fields)))
        super().__init__(f"numba.{type(self).__qualname__}{self._fields}")

    def preprocess_fields(self, fields):
        """The fields of the type; classes of programs override it to change them."""
        return fields

    @property
    def field_dict(self):
        if not self.fields_known:
            raise FieldsWanted
        return pytypes.MappingProxyType(dict(self._fields))

    @property
    def type(self):
        return super().type if self.proxy is None else kinds.ObjectOf(self.proxy)


def _field(pair):
    name, t = pair
    if not isinstance(name, str):
        raise ValueError("expecting a str for field name")
    if not isinstance(t, Type):
        raise ValueError("expecting a Numba Type for field type")
    return name, t


class TypeRef(Dummy):
    """The type of a type that is a value in compiled code."""

    def __init__(self, instance_type):
        self.instance_type = instance_type
        super().__init__(f"typeref[{instance_type}]")


class VarArg(Type):
    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"*{dtype}")


class StarArgTuple(BaseTuple):
    def __init__(self, types):
        self.types = tuple(types)
        BaseTuple.__init__(self, f"*Tuple({', '.join(map(str, self.types))})")


StarArgUniTuple = StarArgTuple


class Undefined(Type):
    pass


class UnicodeCharSeq(Type):
    def __init__(self, count):
        self.count = count
        super().__init__(f"[unichr x {count}]")

    @property
    def type(self):
        return kinds.Record(np.dtype(f"U{self.count}"))


class CharSeq(Type):
    def __init__(self, count):
        self.count = count
        super().__init__(f"[char x {count}]")

    @property
    def type(self):
        return kinds.Record(np.dtype(f"S{self.count}"))


# Classes for `isinstance` tests and subclasses of programs, made at their first use; compiled code has no values with
# these types.
_VALUELESS = frozenset((
    "ArrayCTypes ArrayFlags ArrayIterator BaseFunction BoundFunction ClassDataType Container ContextManager DTypeSpec "
    "DictItemsIterableType DictIteratorType DictKeysIterableType DictValuesIterableType EnumClass EnumerateType "
    "ExternalFunction ExternalFunctionPointer FunctionPrototype Generator InitialValue IntEnumClass IterableType "
    "IteratorType ListTypeIterableType ListTypeIteratorType LiteralList LiteralStrKeyDict MemInfoPointer "
    "NamedTupleClass NumPyRandomBitGeneratorType NumPyRandomGeneratorType NumpyFlatType NumpyNdEnumerateType "
    "NumpyNdIndexType NumpyNdIterType PolynomialType RangeIteratorType SetType SimpleIterableType SimpleIteratorType "
    "Sized SliceLiteral StructRefPayload UndefinedFunctionType UniTupleIter UnionType WeakType ZipType").split())


def _valueless(name: str) -> type:
    return type(name, (Dummy,), {"__module__": __name__, "__init__": lambda self, *args, **kwargs: (
        Dummy.__init__(self, f"{type(self).__name__}({', '.join(map(str, args))})"))})


# ---------------------------------------------------------------- names

int8, int16, int32, int64 = (Integer(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (Integer(f"uint{bits}") for bits in (8, 16, 32, 64))
float16, float32, float64 = (Float(f"float{bits}") for bits in (16, 32, 64))
complex64, complex128 = (Complex(f"complex{bits}") for bits in (64, 128))
boolean = bool_ = b1 = Boolean("bool")
void = none = NoneType("none")
ellipsis = EllipsisType("...")
unicode_type = string = UnicodeType("unicode_type")
pyobject = ffi_forced_object = PyObject("pyobject")
ffi = Opaque("ffi")
voidptr = RawPointer("void*")
undefined = Undefined("undefined")
unknown, Any = Dummy("unknown"), Dummy("any")
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
optional, deferred_type = Optional, DeferredType


def array(dtype, ndim, layout="A"):
    return Array(dtype, ndim, layout)


def is_homogeneous(*types):
    return not types or all(t == types[0] for t in types)


# ---------------------------------------------------------------- from this compiler's types

_SCALARS = {kinds.Int: int64, kinds.Float: float64, kinds.Complex: complex128, kinds.Bool: boolean,
            kinds.NpBool: boolean, kinds.NoneType: none, kinds.Str: unicode_type, kinds.Bytes: Bytes(),
            kinds.ByteArray: ByteArray(), kinds.MemoryView: MemoryView(),
            kinds.Ellipsis_: ellipsis, kinds.Object: pyobject, kinds.Range: RangeType(int64),
            **{t.type: t for t in number_domain}, kinds.float16: float16}


REGISTERED: dict[type, typing.Callable] = {}  # class of a program -> function that returns the type of its objects
EXTENDED: weakref.WeakSet = weakref.WeakSet()  # those that typeof_impl has registered


def is_of_extension(cls: type) -> bool:
    """Whether an extension of Numba, outside of this package, has declared a type for objects of a class."""
    return "class_type" not in vars(cls) and any(
        base in EXTENDED or "_numba_type_" in vars(base) and not base.__module__.startswith(__package__)
        for base in cls.__mro__)


def registered(cls: type) -> typing.Callable | None:
    """The function that returns the type of objects of a class, where a program has registered one."""
    return next((REGISTERED[base] for base in cls.__mro__ if base in REGISTERED), None)


def of(t: kinds.Type) -> Type:
    """The Numba type for one of this compiler's."""
    found = _SCALARS.get(t)
    if found is not None:
        return found
    if isinstance(t, kinds.Dual):
        return of(t.wide)
    if isinstance(t, kinds.NpTime):
        return (NPDatetime if t.kind == "M" else NPTimedelta)("" if t.unit == "generic" else t.unit)
    if isinstance(t, kinds.Array):
        return Array(of(t.dtype), t.ndim, t.layout, not t.writable, aligned=t.aligned)
    if isinstance(t, kinds.Record):
        return from_dtype(t.dtype)
    if isinstance(t, kinds.Tuple):
        parts = [of(x) for x in t.elements]
        if not hasattr(t.cls, "_fields"):  # None, or a subclass of tuple that is no named tuple
            return Tuple(parts)
        if parts and is_homogeneous(*parts):
            return NamedUniTuple(parts[0], len(parts), t.cls)
        return NamedTuple(parts, t.cls)
    if isinstance(t, kinds.Union):
        members = [m for m in t.members if m is not kinds.NoneType]
        return Optional(of(members[0])) if len(members) == 1 else Dummy(str(t))
    if isinstance(t, kinds.DType):
        return DType(of(t.scalar))
    if isinstance(t, kinds.Slice):
        return slice3_type if t.step is not kinds.NoneType else slice2_type
    if isinstance(t, kinds.Singleton):
        value = t.value
        if isinstance(value, type) and "class_type" in vars(value):
            return value.class_type
        if hasattr(value, "py_func"):
            return Dispatcher(value)
        return Module(value) if type(value) is type(np) else Function(value)
    if isinstance(t, kinds.List):
        return List(of(t.item))
    if isinstance(t, kinds.Set):
        return Set(of(t.item))
    if isinstance(t, kinds.Dict):
        return DictType(of(t.keys), of(t.values))
    if isinstance(t, kinds.Attributes) and isinstance(t, _foreign.PointerType):
        return CPointer(of(t.key[2].scalar))
    if isinstance(t, kinds.ObjectOf):
        if "class_type" in vars(t.cls):
            return t.cls.class_type.instance_type
        found = registered(t.cls)
        if found is not None:
            try:
                made = found(object.__new__(t.cls), None)
            except (AttributeError, TypeError):  # its type depends on what the object holds
                return Dummy(str(t))
            if isinstance(made, StructRef) and made.declared and not made._fields:
                made = copy.copy(made)
                made.fields_known = False
            return made
    return Dummy(str(t))


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
    found = type_of_dtype(dtype)
    if found is None:
        from_text = f"the dtype {dtype} has no native form"
        raise NotImplementedError(from_text)
    return of(found)


def from_struct_dtype(dtype) -> Record:
    fields = {name: from_dtype(dtype.fields[name][0]) for name in dtype.names}
    made = Record(f"Record({', '.join(f'{n}[type={t}]' for n, t in fields.items())})", fields, dtype.itemsize,
                  dtype.isalignedstruct)
    made._dtype = dtype
    return made


def as_dtype(t) -> np.dtype:
    """The dtype of elements of a type."""
    t = unliteral(t)
    if isinstance(t, NestedArray):
        return np.dtype((as_dtype(t.dtype), t.shape))
    if isinstance(t, Record):
        return t.dtype
    if isinstance(t, UnicodeCharSeq):
        return np.dtype(f"U{t.count}")
    if isinstance(t, CharSeq):
        return np.dtype(f"S{t.count}")
    if isinstance(t, DType):
        return as_dtype(t.dtype)
    try:
        return dtype_of(t.type)
    except (TypeError, AttributeError):
        raise NotImplementedError(f"{t!r} cannot be represented as a NumPy dtype") from None


def from_ctypes(t) -> Type:
    """The Numba type for a ctypes type."""
    if t is None:
        return void
    if t in (ctypes.c_void_p, ctypes.c_char_p):
        return voidptr
    if isinstance(t, type) and issubclass(t, ctypes._Pointer):
        return CPointer(from_ctypes(t._type_))
    return from_dtype(np.dtype(t))


__all__ += [name for name, value in list(globals().items())
            if (isinstance(value, (Type, frozenset)) or isinstance(value, type) and issubclass(value, Type))
            and not name.startswith("_") and name not in __all__]

_ABSENT = frozenset("""
BaseAnonymousTuple BaseContainerIterator BaseContainerPayload CompileResultWAP ConstSized Conversion EphemeralArray
EphemeralPointer ExceptionInstance ListIter ListPayload MakeFunctionLiteral ObjModeDispatcher Object Pair Phantom
Poison RecursiveCall SetEntry SetIter SetIterableType SetIteratorType SetPayload UndefVar UndefinedType
UnicodeIteratorType all_str argsnkwargs_to_str code_type get_hashable_key npy_bitgen npy_rng
parse_integer_bitwidth parse_integer_signed py2_string_type pyfunc_type range_iter32_type range_iter64_type
range_state32_type range_state64_type sizeof_unicode_char unsigned_range_iter64_type unsigned_range_state64_type
""".split())


# The modules of numba.core.types: here, their names are all in this one.
_SUBMODULES = frozenset("abstract common containers functions function_type iterators misc npytypes scalars".split())


def __getattr__(name: str):
    """Other names for types, such as c_int64, and names that cannot be used here."""
    for start in ("c_", "np_", "py_"):
        found = globals().get(name[len(start):])
        if name.startswith(start) and (isinstance(found, Type) or name.endswith("_domain") and found is not None):
            return found
    if name == "bool":
        return boolean
    if name in ("TypingError", "LiteralTypingError"):
        return getattr(errors, name)
    if name in _SUBMODULES:
        return sys.modules[__name__]
    if name in _VALUELESS:
        return globals().setdefault(name, _valueless(name))
    if name in _ABSENT:
        return Absent(f"types.{name}")
    raise AttributeError(f"module 'numba.types' has no attribute {name!r}")
