"""Numba's types as values, for signatures, `typeof`, `isinstance` in overloads and typed containers.

A type represents one of this compiler's (`.type`), where there is one; `of(t)` is the inverse. `int64`, `float64`,
`complex128` and `boolean` are both Python's and NumPy's numbers, as in signatures.
"""
from __future__ import annotations

import copy
import enum
import sys
import typing
import weakref

import numpy as np

from ..api.signature import TypeName
from ..base.lazy import lazy
from ..types import kinds
from ..types.typeof import typeof
from . import errors
from .absent import Absent
from .signatures import Signature
from .typeclasses.abstract import Dummy, Module, Type
from .typeclasses.arrays import (
    Array, ByteArray, Bytes, CPointer, DType, MemoryView, as_dtype, from_ctypes, from_dtype, from_struct_dtype,
)
from .typeclasses.classes import DeferredType, FieldsWanted, StructRef
from .typeclasses.containers import (
    DictType, List, NamedTuple, NamedUniTuple, Optional, Set, Tuple, is_homogeneous, value_type,
)
from .typeclasses.functions import Dispatcher, Function, WrapperAddressProtocol
from .typeclasses.iterators import NumpyNdIterType
from .typeclasses.literals import literal, maybe_literal, unliteral
from .typeclasses.scalars import (
    EnumClass, EnumMember, IntEnumClass, IntEnumMember, RangeType, boolean, ellipsis, int64, none, npy_rng, of_scalar,
    pyobject, slice2_type, slice3_type, unicode_type,
)

_foreign = lazy("pyjitc.lib.py.foreign")

__all__ = [  # and the types and their classes, below
    "Signature", "of", "unliteral", "literal", "maybe_literal", "as_dtype", "from_ctypes", "from_dtype",
    "from_struct_dtype", "FieldsWanted", "NumpyNdIterType", "WrapperAddressProtocol", "is_homogeneous", "value_type",
]


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


Type.of_part = staticmethod(_of_part)


# Classes for `isinstance` tests and subclasses of programs, made at their first use; compiled code has no values with
# these types.
_VALUELESS = frozenset((
    "ArrayCTypes ArrayFlags ArrayIterator BaseFunction BoundFunction ClassDataType Container ContextManager DTypeSpec "
    "DictItemsIterableType DictIteratorType DictKeysIterableType DictValuesIterableType EnumerateType "
    "ExternalFunction ExternalFunctionPointer FunctionPrototype Generator InitialValue IterableType "
    "IteratorType ListTypeIterableType ListTypeIteratorType LiteralList MemInfoPointer "
    "NamedTupleClass NumPyRandomBitGeneratorType NumpyFlatType NumpyNdEnumerateType "
    "NumpyNdIndexType PolynomialType RangeIteratorType SetType SimpleIterableType SimpleIteratorType "
    "Sized SliceLiteral StructRefPayload UndefinedFunctionType UniTupleIter UnionType WeakType ZipType").split())


def _valueless(name: str) -> type:
    return type(name, (Dummy,), {"__module__": __name__, "__init__": lambda self, *args, **kwargs: (
        Dummy.__init__(self, f"{type(self).__name__}({', '.join(map(str, args))})"))})


optional, deferred_type = Optional, DeferredType


def array(dtype, ndim, layout="A"):
    return Array(dtype, ndim, layout)


# ---------------------------------------------------------------- from this compiler's types

_WITHOUT_PARTS = {
    kinds.NoneType: none, kinds.Str: unicode_type, kinds.Bytes: Bytes(), kinds.ByteArray: ByteArray(),
    kinds.MemoryView: MemoryView(), kinds.Ellipsis_: ellipsis, kinds.Object: pyobject, kinds.Range: RangeType(int64)}


REGISTERED: dict[type, typing.Callable] = {}  # class of a program -> function that returns the type of its objects
EXTENDED: weakref.WeakSet = weakref.WeakSet()  # the functions that typeof_impl has registered


def is_of_extension(cls: type) -> bool:
    """Whether an extension of Numba, outside of this package, has declared a type for objects of a class."""
    return "class_type" not in vars(cls) and any(
        base in EXTENDED or "_numba_type_" in vars(base) and not base.__module__.startswith(__package__)
        for base in cls.__mro__)


def registered(cls: type) -> typing.Callable | None:
    """The function that returns the type of objects of a class, where a program has registered one."""
    return next((REGISTERED[base] for base in cls.__mro__ if base in REGISTERED), None)


def enum_type(value) -> Type | None:
    """The type of a member of an enum, or of an enum; None where the values of its members have several types."""
    cls = value if isinstance(value, type) else type(value)
    if value is not cls and isinstance(value, int) and not isinstance(value, enum.IntEnum):
        return int64  # a member of an IntFlag is an int to Numba
    try:
        held = {of(typeof(member.value)) for member in cls}
    except TypeError:
        return None
    if len(held) != 1:
        return None
    whole = issubclass(cls, enum.IntEnum)
    made = (IntEnumClass if whole else EnumClass) if value is cls else IntEnumMember if whole else EnumMember
    return made(cls, held.pop())


def of(t: kinds.Type) -> Type:
    """The Numba type for one of this compiler's."""
    found = of_scalar(t) or _WITHOUT_PARTS.get(t)
    if found is not None:
        return found
    made = next((_OF_KINDS[kind] for kind in type(t).__mro__ if kind in _OF_KINDS), _without_meaning)
    return made(t)


def _without_meaning(t: kinds.Type) -> Type:
    """The type for one to which no type of Numba corresponds."""
    return Dummy(str(t))


def _of_array(t: kinds.Array) -> Type:
    return Array(of(t.dtype), t.ndim, t.layout, not t.writable, aligned=t.aligned)


def _of_tuple(t: kinds.Tuple) -> Type:
    parts = [of(x) for x in t.elements]
    if not hasattr(t.cls, "_fields"):  # None, or a subclass of tuple that is no named tuple
        return Tuple(parts)
    if parts and is_homogeneous(*parts):
        return NamedUniTuple(parts[0], len(parts), t.cls)
    return NamedTuple(parts, t.cls)


def _of_union(t: kinds.Union) -> Type:
    members = [m for m in t.members if m is not kinds.NoneType]
    return Optional(of(members[0])) if len(members) == 1 else _without_meaning(t)


def _of_singleton(t: kinds.Singleton) -> Type:
    value = t.value
    if isinstance(value, type) and "class_type" in vars(value):
        return value.class_type
    if isinstance(value, (enum.Enum, enum.EnumMeta)) and (found := enum_type(value)) is not None:
        return found
    if hasattr(value, "py_func"):
        return Dispatcher(value)
    return Module(value) if type(value) is type(np) else Function(value)


def _of_object(t: kinds.ObjectOf) -> Type:
    if "class_type" in vars(t.cls):
        return t.cls.class_type.instance_type
    found = registered(t.cls)
    if found is None:
        return _without_meaning(t)
    try:
        made = found(object.__new__(t.cls), None)
    except (AttributeError, TypeError):  # its type depends on what the object holds
        return _without_meaning(t)
    if isinstance(made, StructRef) and made.declared and not made._fields:
        made = copy.copy(made)
        made.fields_known = False
    return made


# kind of types -> function that returns the Numba type for a type of this kind, or of a kind derived from it
_OF_KINDS: dict[type, typing.Callable[[typing.Any], Type]] = {
    kinds.Dual: lambda t: of(t.wide), kinds.Array: _of_array, kinds.Record: lambda t: from_dtype(t.dtype),
    kinds.RecordView: lambda t: of(t.parts[0].dtype), kinds.Tuple: _of_tuple, kinds.Union: _of_union,
    kinds.DType: lambda t: DType(of(t.scalar)),
    kinds.Slice: lambda t: slice3_type if t.step is not kinds.NoneType else slice2_type,
    kinds.Singleton: _of_singleton,
    kinds.Instance: lambda t: npy_rng if t.cls is npy_rng.type.cls else _without_meaning(t),
    kinds.List: lambda t: List(of(t.item), True), kinds.Set: lambda t: Set(of(t.item), True),
    kinds.Dict: lambda t: DictType(of(t.keys), of(t.values)),
    kinds.Attributes: lambda t: CPointer(of(t.key[2].scalar)) if isinstance(t, _foreign.PointerType)
    else _without_meaning(t),
    kinds.ObjectOf: _of_object,
}


_NAMES = {name: value for part in "abstract scalars arrays containers literals functions classes iterators".split()
          for name, value in vars(sys.modules[f"{__package__}.typeclasses.{part}"]).items() if not name.startswith("_")
          and (isinstance(value, (Type, frozenset)) or isinstance(value, type) and issubclass(value, Type))}
globals().update(_NAMES)
__all__ += [*_NAMES, "array", "optional", "deferred_type"]

_ABSENT = frozenset("""
BaseAnonymousTuple BaseContainerIterator BaseContainerPayload CompileResultWAP ConstSized Conversion EphemeralArray
EphemeralPointer ExceptionInstance ListIter ListPayload MakeFunctionLiteral ObjModeDispatcher Object Pair Phantom
Poison RecursiveCall SetEntry SetIter SetIterableType SetIteratorType SetPayload UndefVar UndefinedType
UnicodeIteratorType all_str argsnkwargs_to_str code_type get_hashable_key npy_bitgen
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
