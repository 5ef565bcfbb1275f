"""Types and constants of the Python objects that the compiler meets: code constants, globals, captured values."""
from __future__ import annotations

import enum
from types import FunctionType
from typing import Callable

import numpy as np

from ..base.lazy import lazy
from ..ir.core import RAISES, Op
from ..ops import pyobject, structure
from ..ops.control import UNBOUND
from ..runtime.dispatcher import Callable_
from ..runtime.objects import is_object_class, type_of_object
from ..types import kinds
from ..types.classes import (
    COMPARISONS, MIRRORED, OPERATORS, UNARY, defines, are_plain, refused_method,
)
from ..types.kinds import (
    Array, Bool, Bytes, Complex, DType, Ellipsis_, Float, Int, NoneType, Object, ObjectOf, Singleton, Slice, Str,
    Tuple, Unbound, is_number, uint64,
)
from ..types.lattice import dtype_of, type_of_dtype
from ..types.typeof import attributes_type, instance_type, plain_array, record_type, typeof
from .meaning import UNKNOWN, Apply, Const, Expr, Mismatch, NotNative

records = lazy("pyjitc.runtime.records")
text = lazy("pyjitc.ops.text")

__all__ = ["FLAG_OPERATORS", "apply", "constant", "held_by", "held_member", "is_plain", "is_wide", "too_wide",
           "unsigned", "plain_value", "plain_values", "scalar_type", "array_type"]

_SIMPLE = {float: Float, bool: Bool, complex: Complex, str: Str, bytes: Bytes, type(None): NoneType,
           type(...): Ellipsis_}


def apply(op: Op, *operands: Expr, **attrs) -> Expr:
    """An application of an operation, or a constant where all operands are known and it does not raise."""
    if any([x.value is not UNKNOWN for x in operands]):
        operands = tuple([x if x.value is UNKNOWN else _exact(x) for x in operands])
    node = Apply(op, *operands, **attrs)
    value = node.value
    if value is UNKNOWN and op.effects == RAISES and all(x.value is not UNKNOWN for x in operands):
        try:
            value = op(*(x.value for x in operands), **attrs)
        except Exception:
            return node
    return node if value is UNKNOWN else Const(node.type, value)


def _exact(x: Expr) -> Expr:
    """A constant of a NumPy type as a NumPy scalar. Where constants meet NumPy values they may be Python numbers."""
    if not kinds.is_numpy_scalar(x.type) or isinstance(x.value, np.generic):
        return x
    return Const(x.type, dtype_of(x.type).type(x.value))


def scalar_type(dtype: np.dtype):
    """The NumPy scalar type of `dtype`, or None when it has none here (object, string, structured, swapped)."""
    return type_of_dtype(dtype)


def array_type(value: np.ndarray) -> Array | None:
    """The Array type of an ndarray, or None for a dtype that has no native form."""
    element = scalar_type(value.dtype) or record_type(value.dtype)
    if element is None:
        return None
    flags = value.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return Array(element, value.ndim, layout, flags.writeable, flags.aligned)


def is_plain(t: kinds.Type) -> bool:
    """Whether constants of a type are immutable objects of exactly the class that the type says."""
    return t is Int or t in _SIMPLE.values()


def is_wide(x: Expr) -> bool:
    """Whether `x` is an int constant from 2**63 to 2**64, which has no type of its own."""
    return isinstance(x.type, Singleton) and type(x.type.value) is int


def unsigned(x: Expr) -> Expr:
    """An int constant from 2**63 to 2**64 as a np.uint64; any other value unchanged."""
    return Const(uint64, np.uint64(x.type.value)) if is_wide(x) else x


def too_wide(value: int) -> Mismatch:
    """The error for an int that does not fit in 64 bits."""
    shown = value if abs(value) < 10**30 else f"{hex(value)[:20]}..."
    if value == (1 << 64) - 1:
        hint = ("make the other operand np.uint64(...), which stays below 2**64 by itself; "
                "or leave the mask out, with njit(overflow=\"wrap\")")
    elif 0 < value < 1 << 64:
        hint = f"write np.uint64({value}), whose arithmetic wraps at 2**64, or use a float"
    else:
        hint = "use a float, or np.uint64(...) for what is below 2**64"
    return NotNative(f"the int {shown} does not fit in 64 bits", hint, OverflowError)


def constant(value) -> Expr:
    """`value` as a compile-time constant; for an array, a reference to that array."""
    kind = type(value)
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return Const(simple, value)
    if kind is int:
        if -(1 << 63) <= value < 1 << 63:
            return Const(Int, value)
        raise too_wide(value)
    if value is UNBOUND:
        return Const(Unbound, UNBOUND)
    if kind is range:
        return Apply(structure.RANGE_MAKE, *map(constant, (value.start, value.stop, value.step)))
    if kind is slice:
        parts = [constant(x) for x in (value.start, value.stop, value.step)]
        return Const(Slice(*(p.type for p in parts)), value)
    if isinstance(value, tuple) and not (kind is not tuple and refused_method(kind)):
        parts = [constant(x) for x in value]
        if all(p.known for p in parts):
            return Const(Tuple(tuple(p.type for p in parts), None if kind is tuple else kind), value)
        return Apply(structure.TUPLE_MAKE, *parts, cls=None if kind is tuple else kind)
    if isinstance(value, np.generic):
        scalar = scalar_type(value.dtype)
        if scalar is not None:
            return Const(scalar, value)
        memory = array_type(records.array_of(value)) if value.dtype.names else None
        if memory is not None:  # its fields are read at run time, like elements of an array
            made = Apply(text.OBJECT_CALL, Const(Object, records.array_of), Const(Object, value), type=memory,
                         kwnames=(), api=None)
            return Apply(structure.PACK, made, name=kinds.RecordView.role)
    elif isinstance(value, np.ndarray) and type(plain_array(value)) is np.ndarray:
        array = array_type(value)
        if array is not None:
            return Apply(pyobject.PY_UNBOX, Const(Object, value), type=array)
        raise NotNative(f"an array of dtype {value.dtype} has no native form",
                        "convert it with .astype to a numeric dtype")
    elif isinstance(value, np.dtype):
        scalar = scalar_type(value)
        if scalar is not None:
            return Const(DType(scalar), value)
    elif kind in kinds.CONTAINERS and kind is not frozenset or kind is bytearray or kind is memoryview:
        try:
            held = typeof(value, _held)
        except (TypeError, OverflowError):
            return Const(Singleton(value), value)
        return Apply(pyobject.PY_UNBOX, Const(Object, value), type=held)
    elif isinstance(value, kinds.Type):
        if value is kinds.Undefined:
            return Const(value, value)
        return Const(Singleton(value), value)
    else:
        instance: kinds.Type | None = instance_type(value)
        if instance is None:
            instance = attributes_type(value)
            if instance is not None and instance.refcounted:
                instance = None  # the program may assign another object to the attribute while the code runs
        if instance is None and is_object_class(kind):
            instance = ObjectOf(kind)
        if instance is not None:
            return Apply(pyobject.PY_UNBOX, Const(Object, value), type=instance)
        if hasattr(kind, "__cuda_array_interface__"):
            raise NotNative(f"a {kind.__name__} is no constant: its elements may be on a device",
                            "pass it to the kernel as an argument")
    return Const(Singleton(value), value)


def _held(value):
    """The type of a function, or an object of a class of the program, in a container."""
    is_function = type(value) is FunctionType or isinstance(value, Callable_)
    return Singleton(value) if is_function else type_of_object(value)


FLAG_OPERATORS = ("|", "&", "^", "~", "in", "not in")  # those that enum.Flag defines


def plain_value(x: Expr) -> Expr:
    """A member of an IntEnum, IntFlag or enum class of floats, texts or bytes as the value that a function processes;
    any other value unchanged."""
    member = held_member(x)
    return x if member is None or not are_plain(type(member)) else held_by(member)


def plain_values(operands, op: str, inplace: bool = False):
    """The operands of an operator, with members of enum classes as the numbers, texts or bytes that it processes: all
    of them unless it calls a method that the program has written."""
    members = list(map(held_member, operands))
    if all([member is None for member in members]) or _calls_method(operands, members, op, inplace):
        return operands
    found = [x if member is None or isinstance(member, enum.Flag) and op in FLAG_OPERATORS else held_by(member)
             for x, member in zip(operands, members)]
    formats = op == "%" and found[0].type in (Str, Bytes)  # a member that is formatted may have its own __str__
    return [found[0], operands[1]] if formats else found


# class from which an enum class is derived -> (type of what a member holds, the function that returns it)
_HELD: dict[type, tuple[kinds.Type, Callable]] = {
    int: (Int, int), float: (Float, float.__float__), str: (Str, str.__str__),
    bytes: (Bytes, lambda member: bytes.__getitem__(member, slice(None)))}
_HOLDING = tuple(_HELD)


def held_member(x: Expr):
    """The member of an enum class of numbers, texts or bytes that a value is; None for any other value."""
    value = x.type.value if type(x.type) is Singleton else None
    return value if isinstance(value, _HOLDING) and isinstance(value, enum.Enum) else None


def held_by(member) -> Const:
    """The number, text or bytes that a member of such an enum class is."""
    t, held = next(found for cls, found in _HELD.items() if isinstance(member, cls))
    return Const(t, held(member))


def _calls_method(operands, members, op: str, inplace: bool) -> bool:
    """Whether an operator calls a method of the class of one of the members."""
    first, last = members[0], members[-1]
    if len(operands) == 1:
        return defines(type(first), UNARY[op])
    if op in ("in", "not in"):
        return (first is not None and defines(type(first), "__eq__")
                or last is not None and defines(type(last), "__contains__", "__iter__"))
    names: tuple[str, ...]
    if op in COMPARISONS:
        names, reflected = (COMPARISONS[op],), COMPARISONS[MIRRORED[op]]
    else:
        names, reflected = (f"__{OPERATORS[op]}__", *[f"__i{OPERATORS[op]}__"] * inplace), f"__r{OPERATORS[op]}__"
    if first is not None and defines(type(first), *names):
        return True
    # A number or array on the left comes first, unless the class on the right is derived from its class, such as int.
    t = operands[0].type
    asks = t is Int or isinstance(last, float) and t in (Bool, Float)
    answers = first is not None or isinstance(t, Array) or is_number(t) and not asks
    return last is not None and not answers and defines(type(last), reflected)
