"""Functions of C in compiled code, by ctypes, cffi and `cfunc`; and pointers, of which `carray` and `farray` make
arrays.

A pointer is a kind of value: an address, and the dtype of the elements there.
"""
from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np

from ...infer.boxed import by_python
from ...infer.constants import constant
from ...infer.meaning import Apply, Call, CallValue, Expr, Mismatch, NotNative
from ...ops.foreign import ARRAY_AT, C_CALL
from ...ops.memory import ARRAY_DATA, ARRAY_LOAD, ARRAY_STORE
from ...ops.structure import STRUCT_GET, STRUCT_MAKE, TUPLE_GET, TUPLE_MAKE
from ...types import kinds as k
from ...types.lattice import dtype_of, named_dtype, type_of_dtype
from ..build import a_type, cast, convert, type_name
from ..protocol import declare
from ..rule import intrinsic, rule
from .instances import OfClass

__all__ = ["CPointer", "PointerType", "address_of", "call", "carray", "c_type", "farray", "memory_of", "pointer_at",
           "pointer_to"]


class CPointer:
    """A pointer: an address, and the dtype of the elements there."""

    def __init__(self, address, dtype):
        self.address, self.dtype = address, dtype


class CMemory(CPointer):
    """A pointer with the array that it points into."""

    def __init__(self, address, dtype, memory):
        super().__init__(address, dtype)
        self.memory = memory


class PointerType(k.Attributes):
    __slots__ = fields = ("address", "dtype")
    python_class = CPointer
    joins = False


class MemoryType(PointerType):
    """A pointer to memory that compiled code has allocated: an array of one dimension, which keeps it."""

    __slots__ = fields = ("address", "dtype", "memory")
    python_class = CMemory


class _Memories(OfClass):
    def getitem(self, x, i):
        return Apply(ARRAY_LOAD, Apply(STRUCT_GET, x, field="memory"), cast(i, k.Int))

    def setitem(self, x, i, value, asks):
        return Call(store, Apply(STRUCT_GET, x, field="memory"), i, value)


declare(MemoryType, _Memories())


def memory_of(length: Expr, t: PointerType) -> Expr:
    """A pointer of type t to new memory for that many items."""
    return Call(new_memory, length, constant(dtype_of(t.key[2].scalar)))


def new_memory(length, dtype):
    return kept(np.empty(length, dtype))


@intrinsic
def kept(memory):
    t = MemoryType(k.uint64, k.DType(memory.type.dtype), memory.type)
    return Apply(STRUCT_MAKE, cast(Apply(ARRAY_DATA, memory), k.uint64), constant(dtype_of(memory.type.dtype)), memory,
                 type=t)


def shaped(memory, shape, lengths, order):
    """The beginning of the memory as an array."""
    count = 1
    for n in lengths:
        count *= n
    return memory[:count].reshape(shape, order=order)


class _Pointers(OfClass):
    def getitem(self, x, i):
        return Apply(ARRAY_LOAD, _row(x, i), cast(i, k.Int))

    def setitem(self, x, i, value, asks):
        return Call(store, _row(x, i), i, value)

    def attribute(self, x, name):
        if name == "data":
            return cast(Apply(STRUCT_GET, x, field="address"), k.Int)
        return super().attribute(x, name)


declare(PointerType, _Pointers())


def _row(x: Expr, i: Expr) -> Expr:
    t = k.Array(_pointed(x), 1, "C")
    return Apply(ARRAY_AT, cast(Apply(STRUCT_GET, x, field="address"), k.Int), constant(1 << 40), type=t)


def store(row, i, value):
    ARRAY_STORE(row, int(i), row.dtype.type(value))


def _pointed(x: Expr) -> k.Type:
    return x.type.key[2].scalar


def pointer_to(a: Expr) -> Expr:
    """a.ctypes: the address of the first element."""
    address = cast(Apply(ARRAY_DATA, a), k.uint64)
    return pointer_at(address, PointerType(k.uint64, k.DType(a.type.dtype)))


def pointer_at(address: Expr, t: PointerType) -> Expr:
    """The pointer of type t to an address."""
    return Apply(STRUCT_MAKE, address, constant(dtype_of(t.key[2].scalar)), type=t)


def address_of(x: Expr) -> Expr:
    """The address in a pointer; any other value unchanged."""
    if isinstance(x.type, MemoryType):
        raise NotNative("a pointer to memory that an intrinsic allocates is passed to carray(), and to nothing else")
    return Apply(STRUCT_GET, x, field="address") if isinstance(x.type, PointerType) else x


# ---------------------------------------------------------------- arrays in foreign memory


def carray(ptr: Any, shape: int | tuple[int, ...], dtype: Any = None) -> np.ndarray:
    """An array in C order over memory that it does not own, without a copy.

    ptr: the address of the first element: a ctypes pointer, a c_void_p, an int, or a pointer that a `cfunc` gets as an
    argument. shape: a length or a tuple of lengths, in elements. dtype: the type of the elements; it may be left out if
    the pointer has one. The program must keep the memory allocated as long as it uses the array; its size is not
    checked.

    Raises TypeError if `ptr` is no pointer, if it has no type and `dtype` is left out, or if its type is not `dtype`.
    """
    return _outside(ptr, shape, dtype, "C")


def farray(ptr: Any, shape: int | tuple[int, ...], dtype: Any = None) -> np.ndarray:
    """An array in Fortran order over memory that it does not own. Parameters and errors are those of `carray`."""
    return _outside(ptr, shape, dtype, "F")


def _outside(ptr, shape, dtype, order):
    shape = shape if isinstance(shape, tuple) else (shape,)
    address, own = _address_of(ptr)
    if own is not None and dtype is not None and np.dtype(dtype) != own:
        raise TypeError(f"mismatching dtype '{np.dtype(dtype)}' for pointer {ptr!r}")
    if own is None and dtype is None:
        raise TypeError(f"explicit dtype required for void pointer argument: {ptr!r}")
    dtype = np.dtype(own if dtype is None else dtype)
    memory = (ctypes.c_uint8 * (int(np.prod(shape)) * dtype.itemsize)).from_address(address)
    return np.frombuffer(memory, dtype).reshape(shape, order=order)


def _address_of(ptr):
    if isinstance(ptr, CPointer):
        return int(ptr.address), ptr.dtype
    if isinstance(ptr, ctypes._Pointer):
        return ctypes.cast(ptr, ctypes.c_void_p).value, np.dtype(ptr._type_)
    if isinstance(ptr, ctypes.c_void_p):
        return ptr.value, None
    if type(ptr) is int:
        return ptr, None
    raise TypeError(f"expected a ctypes pointer, got {ptr!r}")


def _on_memory(name, order):
    @rule(f"pyjitc.lib.py.foreign.{name}")
    def made(ptr, shape, dtype=None):
        given = dtype.type.scalar if dtype is not None and isinstance(dtype.type, k.DType) else None
        if dtype is not None and given is None:
            found = dtype.type.value if isinstance(dtype.type, k.Singleton) else None
            given = type_of_dtype(named_dtype(found))
        if isinstance(ptr.type, PointerType):
            own, address = _pointed(ptr), Apply(STRUCT_GET, ptr, field="address")
            if given is not None and given is not own:
                raise Mismatch(f"mismatching dtype '{given}' for pointer to {own}")
        elif k.is_integer(ptr.type):
            own, address = given, ptr
            if given is None:
                raise Mismatch("explicit dtype required for void pointer argument")
        else:
            raise NotNative(f"{name}() of {a_type(ptr.type)} is not compiled", "pass a pointer")
        lengths = ([Apply(TUPLE_GET, shape, index=i) for i in range(len(shape.type.elements))]
                   if isinstance(shape.type, k.Tuple) else [shape])
        if not lengths or not all(k.is_integer(n.type) for n in lengths):
            raise Mismatch(f"the shape of {name}() is an int or a tuple of ints")
        if isinstance(ptr.type, MemoryType):
            return Call(shaped, Apply(STRUCT_GET, ptr, field="memory"), shape, Apply(TUPLE_MAKE, *lengths, cls=None),
                        constant(order))
        return Apply(ARRAY_AT, cast(address, k.Int), *(cast(n, k.Int) for n in lengths),
                     type=k.Array(own, len(lengths), order))

    return made


carray.rule, farray.rule = _on_memory("carray", "C"), _on_memory("farray", "F")


# ---------------------------------------------------------------- calls


def call(target, args, kwargs) -> Expr | None:
    """The expression of a call of a C function, or None where the target is none."""
    if hasattr(type(target), "__pyjitc_callback__"):
        return CallValue(constant(target.py_func), *args, keywords=kwargs)
    if isinstance(target, ctypes._CFuncPtr) and ctypes.py_object in (target.restype, *(target.argtypes or ())):
        return _with_objects(target, args, kwargs)
    found = _signature(target)
    if found is None:
        return None
    address, types, result, frees = found
    if not address:
        raise NotNative(f"{getattr(target, '__name__', target)} is a function of C without an address",
                        "make it of the address of a function")
    if kwargs or len(args) != len(types):
        raise Mismatch(f"a function of C that takes {len(types)} argument{'s' * (len(types) != 1)} is called with "
                       f"{len(args) + len(kwargs)}")
    given = [_argument(x, t, n) for n, (x, t) in enumerate(zip(args, types))]
    return Apply(C_CALL, *given, address=address, result=result, frees=frees)


def _with_objects(target, args, kwargs) -> Expr:
    """The call of a function of ctypes that takes or returns Python objects, done by the interpreter."""
    if kwargs:
        raise Mismatch("a function of C that takes Python objects is called with keywords")
    t = k.Object if target.restype is ctypes.py_object else c_type(target.restype)
    result = (k.Bool if t is k.NpBool else k.Int if k.is_integer(t) else k.Float if k.is_float(t) else t
              ) if isinstance(t, k.Type) else None
    if result is None or isinstance(result, PointerType):
        raise NotNative(f"{target!r} has a result that compiled code cannot take", "let it return a number")
    return by_python(target.__call__, *args, type=result)  # the function itself has no hash


def _argument(x: Expr, t, n: int) -> Expr:
    if t is POINTER or isinstance(t, PointerType):
        if isinstance(x.type, PointerType):
            return cast(address_of(x), k.Int)
        if isinstance(x.type, k.Array):
            if t is not POINTER and t.key[2].scalar is not x.type.dtype:
                raise Mismatch(f"argument {n} of a function of C is a pointer to {t.key[2].scalar}, not to "
                               f"{x.type.dtype}")
            return Apply(ARRAY_DATA, x)
        if k.is_integer(x.type):
            return cast(x, k.Int)
        if x.type is k.NoneType:
            return constant(0)
        raise Mismatch(f"argument {n} of a function of C is a pointer, not {a_type(x.type)}",
                       "pass an array, its .ctypes, or an address")
    if not k.is_number(x.type) or k.is_complex(x.type) or k.is_float(x.type) and not k.is_float(t):
        raise Mismatch(f"argument {n} of a function of C is {t}, not {type_name(x.type)}")
    return convert(x, t) if k.is_python_number(x.type) else cast(x, t)


POINTER = object()  # a pointer to anything


def c_type(t):
    """The type that a ctypes type stands for: a number, None for void, POINTER, or a PointerType."""
    if t is None:
        return k.NoneType
    if t in (ctypes.c_void_p, ctypes.c_char_p, ctypes.py_object):
        return POINTER if t is not ctypes.py_object else None
    if issubclass(t, ctypes._Pointer):
        inner = None if issubclass(t._type_, ctypes._Pointer) else c_type(t._type_)
        return PointerType(k.uint64, k.DType(inner)) if isinstance(inner, k.Type) else POINTER
    if issubclass(t, ctypes._CFuncPtr):
        return POINTER
    try:
        return type_of_dtype(np.dtype(t))
    except TypeError:
        return None


def _signature(target):
    """(address, types of the parameters, type of the result, whether it runs without the interpreter lock) or None."""
    if isinstance(target, ctypes._CFuncPtr):
        if target.argtypes is None:
            raise Mismatch(f"{target!r} has no argtypes", "set its argtypes and restype")
        types, result = [c_type(t) for t in target.argtypes], c_type(target.restype)
        if None in types or result is None:
            raise NotNative(f"{target!r} has a parameter or a result that compiled code cannot pass",
                            "numbers and pointers can be passed")
        address = ctypes.cast(target, ctypes.c_void_p).value
        keeps = bool(type(target)._flags_ & 0x4)  # FUNCFLAG_PYTHONAPI
        return address, types, k.Int if result is POINTER else result, not keeps
    if type(target).__module__ == "_cffi_backend":
        return _of_cffi(target)
    return None


_CFFI = re.compile(r"<cdata '([^(]*)\(\*\)\((.*)\)' (0x[0-9a-f]+)")
_NAMES = {"double": k.float64, "float": k.float32, "int": k.int32, "unsigned int": k.uint32, "long": k.int64,
          "unsigned long": k.uint64, "long long": k.int64, "unsigned long long": k.uint64, "short": k.int16,
          "unsigned short": k.uint16, "char": k.int8, "signed char": k.int8, "unsigned char": k.uint8,
          "_Bool": k.NpBool, "void": k.NoneType, "size_t": k.uint64, "ssize_t": k.int64, "intptr_t": k.int64,
          **{f"{u}int{b}_t": k.NpInt(b, not u) for u in ("", "u") for b in (8, 16, 32, 64)}}


def _of_cffi(target):
    found = _CFFI.match(repr(target))
    if found is None:
        return None
    names = [found[1].strip(), *(part.strip() for part in found[2].split(",") if part.strip() not in ("", "void"))]
    types = [POINTER if "*" in name else _NAMES.get(name) for name in names]
    if None in types:
        raise NotNative(f"{target!r} has a parameter or a result that compiled code cannot pass",
                        "numbers and pointers can be passed")
    result, *parameters = types
    return int(found[3], 16), parameters, k.Int if result is POINTER else result, True
