"""Explicit signatures: `njit("float64(float64[:], int64)")`, or with type objects, `njit(float64(float64[:], int64))`.

`int64`, `float64`, `complex128` and `boolean` mean Python's own int, float, complex and bool there, and take NumPy
scalars of that type as well; other scalar types are NumPy's. `float64[:]` takes arrays of any strides, `[::1]` only
contiguous ones.
"""
from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Callable

import numpy as np

from ..base.errors import shortened, suggest
from ..types import NAMES_OF_TYPES, kinds, text
from ..types.kinds import Array, Type, is_numpy_scalar, union_of

__all__ = ["plan", "Signature", "TypeName", "signature_of", "convert", "gives", "NAMES"]


class Signature:
    """Argument types, and the result type or None where it is left to inference."""

    __slots__ = ("args", "result")

    def __init__(self, args, result: Type | None = None):
        self.args = tuple(args)
        self.result = result

    def __eq__(self, other):
        return isinstance(other, Signature) and (self.args, self.result) == (other.args, other.result)

    def __hash__(self):
        return hash((self.args, self.result))

    def __repr__(self):
        result = "" if self.result is None else "void" if self.result is kinds.NoneType else self.result
        return f"{result}({', '.join(map(str, self.args))})"


class TypeName:
    """A type in users' notation: `float64[:, ::1]` is an array, `float64(int64)` a signature, `float64(2)` a value."""

    __slots__ = ("name", "type")
    __pyjitc_type__ = True  # compiled code knows the type as a constant, and makes array types of it

    def __init__(self, name: str, type: Type):
        self.name = name
        self.type = type

    def __getitem__(self, axes) -> TypeName:
        axes = axes if isinstance(axes, tuple) else (axes,)
        shown = []
        for axis in axes:
            if (not isinstance(axis, slice) or axis.start is not None or axis.stop is not None
                or axis.step not in (None, 1)):
                raise TypeError(f"{self.name}[...]: write ':' for every axis, '::1' for the contiguous one")
            shown.append("::1" if axis.step == 1 else ":")
        name = f"{self.name}[{', '.join(shown)}]"
        return TypeName(name, text.parse(name))

    def __call__(self, *args):
        if all(isinstance(a, (TypeName, Type)) for a in args) or not is_numpy_scalar(self.type):
            return Signature([_argument(a) for a in args], _argument(self))
        if len(args) != 1:
            raise TypeError(f"{self.name}() converts one value")
        return np.dtype(self.type.text.rstrip("_")).type(args[0])

    def __eq__(self, other):
        return isinstance(other, TypeName) and self.type is other.type

    def __hash__(self):
        return hash(self.type)

    def __repr__(self):
        return self.name

    def __reduce__(self):
        return TypeName, (self.name, self.type)


def _argument(given) -> Type:
    if isinstance(given, TypeName):
        given = given.type
    elif isinstance(given, str):
        given = text.parse(given)
    elif isinstance(given, tuple):
        given = kinds.Tuple([_argument(x) for x in given])
    elif given is None:
        given = kinds.NoneType
    elif isinstance(given, type) and given in _CLASSES:
        given = _CLASSES[given]
    if not isinstance(given, Type):
        shown = repr(given) if isinstance(given, (type, int, float, complex)) else f"a value of {type(given)}"
        raise TypeError(f"{shown} is not a type; write for instance float64, int64[:] or (int64, float64)")
    return text.python_scalars(given)


_CLASSES = {int: kinds.Int, float: kinds.Float, bool: kinds.Bool, complex: kinds.Complex, str: kinds.Str,
            bytes: kinds.Bytes, bytearray: kinds.ByteArray, memoryview: kinds.MemoryView}


def signature_of(given: str | tuple | Signature | TypeName) -> Signature:
    """A Signature from users' notation: a Signature, text, or a tuple of argument types. Raises ValueError for an
    unknown type, TypeError for other objects."""
    if isinstance(given, Signature):
        return given
    if hasattr(given, "as_signature"):  # a signature of pyjitc.numba
        return given.as_signature()
    if isinstance(given, str):
        try:
            try:
                result, args = text.parse_list(given)
            except ValueError:
                if "(" in given or "," not in given:
                    raise
                result, args = text.parse_list(f"({given})")  # a tuple of types, as Numba accepts it
        except ValueError as error:
            unknown = str(error).split("'")[1:2] if str(error).startswith("unknown type") else []
            near = suggest(unknown[0], text.NAMES) if unknown else None
            raise ValueError(f"{error}; did you mean {near}?" if near else str(error)) from None
        return Signature(map(text.python_scalars, args), None if result is None else text.python_scalars(result))
    if isinstance(given, (tuple, list)):
        return Signature([_argument(a) for a in given])
    shown = f"the function {given.__name__}" if isinstance(given, FunctionType) else shortened(repr(given))
    raise TypeError(f"{shown} is not a signature; write for instance 'float64(float64[:], int64)' or (float64[:], "
                    f"int64)")


def gives(signature: Signature, result: str) -> bool:
    """Whether the declared result type allows a result of this type, which is given as text. A declared float64 allows
    Python's float and NumPy's float64."""
    if signature.result is None or str(signature.result) == result:
        return True
    try:
        return _fits(text.python_scalars(text.parse(result)), signature.result)
    except ValueError:  # no type that can be declared
        return False


def _fits(found: Type, declared: Type) -> bool:
    """Whether a found type fits a declared one: an array without an order may have any, and an optional value may be
    None."""
    if isinstance(declared, Array) and isinstance(found, Array):
        return (found.dtype, found.ndim) == (declared.dtype, declared.ndim) and declared.layout in ("A", found.layout)
    if isinstance(declared, kinds.Composite) and declared.is_like(found):
        return all(map(_fits, found.parts, declared.parts))
    if isinstance(declared, kinds.Union):
        return all(any(_fits(part, member) for member in declared.members) for part in (
            found.members if isinstance(found, kinds.Union) else (found,)))
    if isinstance(found, kinds.Dual):  # Python's 0 where a sum of float64 has no terms
        return _fits(text.python_scalars(found.wide), declared)
    return found is declared


_RANK = {kinds.Bool: 0, kinds.Int: 1, kinds.Float: 2, kinds.Complex: 3}
_NATIVE = {kinds.Bool: bool, kinds.Int: int, kinds.Float: float, kinds.Complex: complex}


def convert(value, given: Type, wanted: Type, digits: bool = False):
    """`value` (of type `given`) as an argument of the declared type, without loss; TypeError if that is not possible. A
    Python number may lose digits as a float32, as in NumPy's operations with one, unless `digits`."""
    if given is wanted or isinstance(wanted, kinds.ObjectOf) and type(value) is wanted.cls:
        return value
    if wanted in _NATIVE:
        as_python = text.python_scalars(given)
        if as_python not in _NATIVE and kinds.is_number(given):
            as_python = (kinds.Complex if kinds.is_complex(given) else kinds.Float if kinds.is_float(given)
                         else kinds.Int)
            if given is kinds.uint64 and wanted is kinds.Int and value > 0x7FFFFFFFFFFFFFFF:
                raise TypeError
        if as_python in _RANK and _RANK[as_python] <= _RANK[wanted]:
            return _NATIVE[wanted](value)
    elif is_numpy_scalar(wanted):
        dtype = np.dtype(wanted.text.rstrip("_"))
        if kinds.is_python_number(given):
            if dtype.kind == "b" and given is kinds.Bool:
                return dtype.type(value)
            if dtype.kind in "iu" and given in (kinds.Bool, kinds.Int):
                limits = np.iinfo(dtype)
                if limits.min <= value <= limits.max:
                    return dtype.type(value)
            short = digits and given is not kinds.Bool and dtype.itemsize < (8 if dtype.kind == "f" else 16)
            if (dtype.kind == "f" and given is not kinds.Complex or dtype.kind == "c") and not short:
                return dtype.type(value)
        elif is_numpy_scalar(given) and np.can_cast(value.dtype, dtype, "safe"):
            return np.asarray(value).astype(dtype)[()]
    elif isinstance(wanted, Array) and isinstance(given, Array):
        same = given.dtype == wanted.dtype or isinstance(given.dtype, kinds.Record) and isinstance(
            wanted.dtype, kinds.Record) and given.dtype.dtype == wanted.dtype.dtype  # np.record or np.void
        if same and given.ndim == wanted.ndim and (given.writable or not wanted.writable) \
                and (given.aligned or not wanted.aligned):
            if (wanted.layout == "A" or wanted.layout == given.layout
                or getattr(value.flags, f"{wanted.layout.lower()}_contiguous")):
                return value
    elif isinstance(wanted, kinds.Composite) and wanted.is_like(given):
        return wanted.build([convert(*one, digits)
                             for one in zip(wanted.open(value), given.parts, wanted.parts, strict=True)])
    elif isinstance(wanted, kinds.Union):
        for member in wanted.members:
            try:
                return convert(value, given, member, digits)
            except TypeError:
                pass
    raise TypeError(f"has type {given}, the signature declares {wanted}")


_REAL = (bool, int, float, np.bool_, np.integer, np.floating)
_WHOLE = (bool, int)
_INTS = range(-1 << 63, 1 << 63)


def plan(given: tuple, converted: tuple, declared) -> tuple | None:
    """For each argument the function that converts it, or None where it is passed as it is, where the classes of the
    arguments alone determine this; else None."""
    if len(declared) > 1 and any([type(x) is int for x in given]) and any([
            isinstance(t, kinds.NpInt) for signature in declared for t in signature.args]):
        return None  # which signature takes an int depends on its value
    found = tuple([None if x is y else _conversion(type(x), type(y)) or False for x, y in zip(given, converted)])
    return None if False in found else found


def _conversion(given: type, wanted: type) -> Callable | None:
    """The function that converts each x of a class to another as `convert` does, or raises OverflowError or ValueError;
    None where there is none."""
    if wanted is complex or issubclass(wanted, np.complexfloating):
        found = issubclass(given, (*_REAL, complex, np.complexfloating))
    elif wanted in (bool, np.bool_, int, float) or issubclass(wanted, np.floating):
        found = issubclass(given, _REAL)
    else:
        found = issubclass(wanted, np.integer) and given in _WHOLE
    return None if not found else partial(_of_int, wanted) if given is int else wanted


def _of_int(wanted: type, x: int):
    """An int as a number of another class. One of more than 64 bits has no native form."""
    if x not in _INTS:
        raise OverflowError
    return wanted(x)


def _tuple(types: tuple | list) -> TypeName:
    """The type of a tuple of values of these types, for a signature: `Tuple((int64, float64[:]))`. Raises TypeError for
    an item that is no type."""
    types = [_argument(t) for t in types]
    return TypeName(str(kinds.Tuple(types)), kinds.Tuple(types))


def _uniform(element: Type | TypeName, count: int) -> TypeName:
    """The type of a tuple of `count` values of one type, for a signature: `UniTuple(int64, 3)`. Raises TypeError if
    `element` is no type."""
    return _tuple([element] * count)


def _optional(element: Type | TypeName) -> TypeName:
    """The type of a value of this type or None, for a signature: `optional(float64)`. Raises TypeError if `element` is
    no type."""
    t = union_of((_argument(element), kinds.NoneType))
    return TypeName(str(t), t)


_MADE_BY = {"Tuple": _tuple, "UniTuple": _uniform, "optional": _optional}
NAMES = {name: _MADE_BY.get(name) or TypeName(name, text.NAMES[name]) for name in NAMES_OF_TYPES}
globals().update(NAMES)  # `pyjitc.float64` is an attribute of this module, which is loaded for it
