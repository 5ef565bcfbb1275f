"""The type of a Python value, for which calls are specialised.

Exact classes only: a subclass of ndarray, of int or of float may change what an operation means, so it is refused with
a message that says what to pass instead.
"""
from __future__ import annotations

import enum
import sys
import types as pytypes
from typing import Any, Callable

import numpy as np

from . import kinds
from .classes import refused_method
from .kinds import (
    Array, Bool, Bytes, Complex, DType, Ellipsis_, Float, Instance, Int, NoneType, NpBool, Singleton, Str, Tuple, Type,
)

__all__ = ["typeof", "plain_array", "attributes_type", "behind_name", "element_type", "is_of_numpy", "is_readable",
           "record_type", "instance_type", "variable_type"]

_EXACT: dict[type, Type] = {
    float: Float, bool: Bool, complex: Complex, type(None): NoneType, str: Str, bytes: Bytes, type(...): Ellipsis_,
    bytearray: kinds.ByteArray,
    np.bool_: NpBool, np.int8: kinds.int8, np.int16: kinds.int16, np.int32: kinds.int32, np.int64: kinds.int64,
    np.uint8: kinds.uint8, np.uint16: kinds.uint16, np.uint32: kinds.uint32, np.uint64: kinds.uint64,
    np.float16: kinds.float16, np.float32: kinds.float32, np.float64: kinds.float64,
    np.complex64: kinds.complex64, np.complex128: kinds.complex128,
}
# C type names, some of which have classes of their own in ctypes
for _name in ("intc", "uintc", "long", "ulong", "longlong", "ulonglong"):
    _class = getattr(np, _name, None)
    if _class is not None and _class not in _EXACT:
        _EXACT[_class] = kinds.NpInt(8 * _class().itemsize, issubclass(_class, np.signedinteger))
del _name, _class

# dtypes of native byte order by NumPy's type numbers
_BY_NUMBER = {np.dtype(cls).num: t for cls, t in _EXACT.items() if issubclass(cls, np.generic)}
# the maximum number of items of a tuple argument, with those of tuples in it: loops over more compile for seconds
_MAX_TUPLE = 100
_KNOWN_CLASSES = (enum.Enum, type, pytypes.ModuleType, pytypes.BuiltinFunctionType, np.ufunc, type(np.sum))


def element_type(dtype: np.dtype) -> Type | None:
    """The NumPy scalar type of a dtype; None for object, string, structured, byte-swapped and other ones."""
    return _BY_NUMBER.get(dtype.num) or _time_type(dtype) if dtype.isnative else None


def _time_type(dtype: np.dtype) -> Any:  # NpTime, or None for another dtype
    return kinds.NpTime(dtype.kind, *np.datetime_data(dtype)) if dtype.kind in "mM" else None


def record_type(dtype: np.dtype) -> kinds.Record | None:
    """The type of elements of a structured dtype whose fields have native forms, or of a dtype of text; else None."""
    if dtype.kind in "SU":
        return kinds.Record(dtype) if dtype.isnative and dtype.itemsize else None
    if dtype.names is None or not dtype.names or dtype.hasobject:
        return None
    for name in dtype.names:
        base = dtype[name].base
        if element_type(base) is None and record_type(base) is None:
            return None
    return kinds.Record(dtype)


def instance_type(value) -> Type | None:
    """The type of an object whose methods have rules, a random number generator; else None."""
    random = sys.modules.get("numpy.random")
    cls = type(value)
    if cls.__module__ == "random" and cls is getattr(sys.modules.get("random"), "Random", None):
        return kinds.PythonRandom
    return Instance(cls) if random is not None and (cls is random.Generator or cls is random.RandomState) else None


def attributes_type(value) -> Type | None:
    """The type of an object whose class has a kind of its own (see kinds.Attributes), if its attributes have types;
    else None."""
    try:
        return typeof(value) if kinds.kind_of_class(type(value)) is not None else None
    except (TypeError, OverflowError):
        return None


def plain_array(value: np.ndarray) -> np.ndarray:
    """An array of class ndarray with the same memory, for a memmap or a recarray; an array of any other class is
    returned unchanged."""
    return value.view(np.ndarray) if type(value) is np.memmap or type(value) is np.recarray else value


_READABLE = (*map(type, _EXACT.values()), type(Int), kinds.NpTime, Array, DType, Instance)


def is_of_numpy(ufunc: np.ufunc) -> bool:
    """Whether a ufunc is an attribute of module numpy, so that no program has made it."""
    return getattr(np, ufunc.__name__, None) is ufunc


def is_readable(t: Type) -> bool:
    """Whether a value of the type can be unboxed from its Python object."""
    if t.parts is not None:
        return type(t) in (Tuple, kinds.Union, kinds.Slice, kinds.RangeType) and all(
            [part is kinds.Tag or is_readable(part) for part in t.parts])
    return type(t) in _READABLE


def variable_type(container, key) -> Type | None:
    """The type of the value that a dict of globals has under `key`, or that a closure cell (key None) contains: Object
    where it has no native type, None where there is no value."""
    try:
        value = container.cell_contents if type(container) is pytypes.CellType else container[key]
    except (KeyError, ValueError):
        return None
    try:
        found = typeof(value)
    except (TypeError, OverflowError):
        return kinds.Object
    return found if is_readable(found) else kinds.Object


def typeof(value, other: Callable | None = None) -> Type:
    """The type of `value`. other: a function that is called with a value of a class not known here (a function, for
    example) and returns its type or None. Raises TypeError, whose message continues a sentence that begins with
    a name ("is a tuple of 9 items ..."), or OverflowError for an int beyond 64 bits."""
    cls = type(value)
    found = _EXACT.get(cls)
    if found is not None:
        return found
    if cls is np.ndarray:
        return _array(value)
    if cls is int:
        if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
            return Int
        raise OverflowError(f"the int {value if value.bit_length() < 100 else hex(value)[:20] + '...'} does not fit in "
                            f"64 bits; pass a float, or np.uint64(x) below 2**64")
    if issubclass(cls, tuple):
        count = _count(value)
        if count > _MAX_TUPLE and cls is tuple:
            return kinds.TupleOf(_held(value, cls, other))
        if count > _MAX_TUPLE:
            raise TypeError(f"is a tuple of {count} items; compiled code has a variable for each, and takes at most "
                            f"{_MAX_TUPLE}; pass an array: np.array(x)")
    if cls is tuple:
        return Tuple(_items(value, other))
    if issubclass(cls, tuple):
        if hasattr(cls, "_fields") and hasattr(cls, "_make"):
            method = refused_method(cls)
            if method:
                raise TypeError(f"is {_named(cls)} with its own {method}, which compiled code does not call; pass "
                                f"tuple(x)")
            return Tuple(_items(value, other), cls)
        raise TypeError(f"is {_named(cls)}, a subclass of tuple; pass tuple(x)")
    container = kinds.CONTAINERS.get(cls)
    if container is not None and issubclass(container, kinds.Dict):
        return _dict(value, container, other)
    if container is not None:
        return container(_held(value, cls, other))
    kind = kinds.kind_of_class(cls)
    if kind is not None:
        return kind.of(lambda name: _attribute(value, name, other))
    if cls is np.datetime64 or cls is np.timedelta64:
        return _time_type(value.dtype)
    if isinstance(value, np.dtype):
        scalar = element_type(value) or record_type(value)
        if scalar is None:
            raise TypeError(f"is the dtype {value}, which has no native form")
        return DType(scalar)
    if cls is memoryview:
        return _memory(value)
    if other is not None:
        found = other(value)
        if found is not None:
            return found
    if isinstance(value, _KNOWN_CLASSES) or type(cls).__name__ == "PyCFuncPtrType":  # a function of ctypes
        return Singleton(value)
    found = instance_type(value)
    if found is not None:
        return found
    raise TypeError(_refusal(value, cls))


def _count(value: tuple) -> int:
    """The number of items of a tuple and of the tuples in it."""
    return sum([_count(x) if isinstance(x, tuple) else 1 for x in value])


def _items(value: tuple, other) -> list[Type]:
    found = []
    for n, x in enumerate(value):
        try:
            found.append(typeof(x, other))
        except (TypeError, OverflowError) as error:
            raise type(error)(f"is {_named(type(value))} whose item {n} {behind_name(str(error))}") from None
    return found


_nested: list[int] = []  # ids of the containers whose items are being inspected


def _held(values, cls: type, other, owner=None) -> Type:
    """The type that includes all items of a container. owner: the dict whose values these are."""
    result = kinds.Undefined
    owner = id(values if owner is None else owner)
    if owner in _nested:
        raise TypeError(f"is {_named(cls)} that holds itself, which has no native form")
    _nested.append(owner)
    last = None
    try:
        for n, x in enumerate(values):
            if type(x) is not last or type(x) not in _EXACT and not (last is int and -1 << 63 <= x < 1 << 63):
                last = type(x)
                result = kinds.wider(result, typeof(x, other))
    except (TypeError, OverflowError) as error:
        raise type(error)(f"is {_named(cls)} whose item {n} {behind_name(str(error))}") from None
    finally:
        _nested.pop()
    return result


# The types of the values that classes make as factories of defaultdicts.
_FACTORIES = frozenset((int, float, bool, str, complex, bytes, list, dict, set, frozenset, tuple))


def _dict(value, kind: type[kinds.Dict], other) -> Type:
    cls = type(value)
    values = _held(value, cls, other), _held(value.values(), cls, other, value)
    if kind is kinds.DefaultDict and value.default_factory in _FACTORIES:
        values = values[0], kinds.wider(values[1], typeof(value.default_factory(), other))
    if kind is kinds.CounterDict:  # a missing key has the value 0
        values = values[0], kinds.wider(values[1], Int)
    return kind(*values)


def _attribute(value, name: str, other) -> Type:
    try:
        return typeof(getattr(value, name), other)
    except AttributeError:
        raise TypeError(f"is {_named(type(value))} without the attribute {name}") from None
    except (TypeError, OverflowError) as error:
        raise type(error)(f"is {_named(type(value))} whose {name} {behind_name(str(error))}") from None


def behind_name(text: str) -> str:
    """The message of `typeof` for a value, to follow its name."""
    return text if text.startswith("is ") else f"cannot be passed: {text}"


def _named(cls: type) -> str:
    name = cls.__qualname__
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


def _array(value: np.ndarray) -> Array:
    dtype, flags = value.dtype, value.flags
    element = element_type(dtype)
    if element is None:
        element = record_type(dtype)
    if element is None:
        raise TypeError(_refused_dtype(dtype))
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return Array(element, value.ndim, layout, flags.writeable, flags.aligned)


def _memory(value: memoryview) -> Type:
    if value.format != "B" or value.ndim != 1 or not value.c_contiguous:
        raise TypeError(f"is a memoryview of items {value.format!r}, with {value.ndim} axes; pass x.cast('B'), or "
                        f"np.asarray(x), which shares its memory")
    return kinds.MemoryView


def _refused_dtype(dtype: np.dtype) -> str:
    if not dtype.isnative and dtype.kind in "iufcmMU":
        return f"is an array of dtype {dtype}, whose bytes are swapped; pass x.astype(x.dtype.newbyteorder('='))"
    if dtype.kind == "O":
        return "is an array of Python objects; convert it to numbers, as in x.astype(np.float64)"
    if dtype.kind in "SUT":
        return f"is an array of strings (dtype {dtype}), which has no native form; pass x.tolist()"
    if dtype.kind == "V":
        return (f"is an array of records (dtype {dtype}) of which a field has no native form; pass the others, as in "
                f"x['field']")
    return f"is an array of dtype {dtype}, which has no native form; convert it, as in x.astype(np.float64)"


def _refusal(value, cls: type) -> str:
    name = _named(cls)
    if isinstance(value, np.ma.MaskedArray):
        return "is a masked array; pass x.filled(...) and the mask apart"
    if isinstance(value, np.ndarray):
        return f"is {name}, a subclass of ndarray; pass np.asarray(x)"
    if isinstance(value, np.void) and value.dtype.names is None:
        return f"is {name}, bytes without fields; pass bytes(x)"
    if isinstance(value, np.void):  # an item of a tuple or list: api/records.py passes records that are arguments
        return f"is {name}, one record of a structured array; pass the array and the index, or its fields as numbers"
    if isinstance(value, np.generic):
        plain = {"U": "str", "S": "bytes", "f": "float", "c": "complex"}.get(value.dtype.kind)
        return f"is {name}, a scalar of NumPy's that has no native form" + (f"; pass {plain}(x)" if plain else "")
    for base in (bool, int, float, complex, str, bytes, dict, set, frozenset, list):
        if isinstance(value, base):
            return f"is {name}, a subclass of {base.__name__}; pass {base.__name__}(x)"
    instead = next((advice for attribute, advice in _CONVERSIONS.items() if hasattr(cls, attribute)),
                   "pass its parts as numbers, arrays or tuples")
    return f"is {name}, which has no native form; {instead}"


_CONVERSIONS = {"to_numpy": "pass x.to_numpy()", "__array__": "pass np.asarray(x)", "__float__": "pass float(x)",
                "toordinal": "pass np.datetime64(x)",
                "tobytes": "pass np.frombuffer(x, dtype), which shares its memory",
                "fromhex": "pass np.frombuffer(x, np.uint8), which shares its memory"}
