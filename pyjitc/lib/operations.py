"""The meaning of Python's operations: each is found in the protocols of its operands, in the order in which CPython
asks their classes."""
from __future__ import annotations

import operator

from ..base.lazy import lazy
from ..infer.constants import is_wide
from ..infer.meaning import UNKNOWN, Apply, Call, Const, Expr, Mismatch, NotConverted, NotNative, Throw
from ..infer.names import describe
from ..infer.session import only_value
from ..ops.arith import BNOT
from ..ops.structure import TUPLE_MAKE
from ..types.classes import stands_for
from ..types.kinds import (
    Array, Bool, Exception_, Float, Int, NoneType, Object, Singleton, Tuple, is_integer, is_scalar,
)
from . import extended, intrinsics
from .build import fitted, number
from .protocol import REPEATED, protocol_of, unsupported

interpreted = lazy("pyjitc.runtime.interpreted")
boxed = lazy("pyjitc.infer.boxed")  # only programs that need the interpreter load it

__all__ = ["binary", "compare", "fixed", "inverted", "no_identity", "same_item", "truth", "unary", "unpack"]


def binary(op: str, x: Expr, y: Expr, inplace: bool = False) -> Expr:
    if is_wide(x) or is_wide(y):
        x, y = fitted(x, y)
    left = protocol_of(y.type if y.type is Object else x.type)  # the interpreter handles both operands
    found = left.binary(op, x, y, inplace)
    repeats, repeated = (op == "*" and one.type.python_class in REPEATED for one in (x, y))
    if found is None and not (repeats and repeated):
        found = protocol_of(y.type).reflected(op, x, y, inplace)
    if found is None:
        error = unsupported(op, x, y, inplace) if left is protocol_of(x.type) else left.unsupported(op, x, y, inplace)
        raise _no_count(error, y if repeats else x) if repeats or repeated else error
    return found


def _no_count(error: Mismatch, x: Expr) -> Mismatch:
    """The error of the repetition of a sequence x times."""
    return NotConverted(error.message, error.hint, x, operator.index)


def unary(op: str, x: Expr) -> Expr:
    if op == "not":
        return inverted(truth(x))
    return protocol_of(x.type).unary(op, x)


def inverted(x: Expr) -> Expr:
    return Const(Bool, not x.value) if x.type is not None and x.known else Apply(BNOT, x)


def truth(x: Expr) -> Expr:
    """The truth of `x` as `if x` tests it, a Bool."""
    if x.known and x.type is not Object:
        try:
            return Const(Bool, bool(x.value))
        except Exception:
            pass
    return protocol_of(x.type).truth(x)


# ---------------------------------------------------------------- comparison


def compare(op: str, x: Expr, y: Expr) -> Expr:
    if op == "is" or op == "is not":
        return identity(op, x, y)
    if is_wide(x) or is_wide(y):
        x, y = fitted(x, y)
    if op == "in" or op == "not in":
        found = protocol_of(y.type).contains(y, x)
        return found if op == "in" else Apply(BNOT, found)
    left = protocol_of(y.type if y.type is Object else x.type)
    found = left.compare(op, x, y)
    if found is None:
        found = protocol_of(y.type).compared(op, x, y)
    if found is not None:
        return found
    if op in ("==", "!=") and not (is_scalar(x.type) and is_scalar(y.type)):
        return _equality(op, x, y)
    raise left.unsupported(op, x, y, False)


def same_item(x: Expr, y: Expr) -> Expr:
    """`x is y or x == y`, by which containers compare items."""
    if not (protocol_of(x.type).has_identity and protocol_of(y.type).has_identity):
        return compare("==", x, y)
    same = identity("is", x, y)
    if same.known and same.value:
        return same
    return compare("==", x, y) if same.known else Call(same_or_equal, x, y)


def same_or_equal(x, y):
    return x is y or x == y  # an object that contains itself is compared with itself without an end otherwise


def fixed(x: Expr):
    """The value of an operand known for certain (constant, or of a type with one value), else UNKNOWN."""
    return x.value if x.known else only_value(x.type)


def _equality(op: str, x: Expr, y: Expr) -> Expr:
    """== or != of values for which their kinds define none."""
    a, b = fixed(x), fixed(y)
    if a is not UNKNOWN and b is not UNKNOWN:
        try:
            same = bool(a == b)
        except Exception:
            raise NotNative(f"{describe(x.type)} and {describe(y.type)} cannot be compared at compile time") from None
        return Const(Bool, same if op == "==" else not same)
    if x.type is NoneType or y.type is NoneType or type(x.type) is not type(y.type) and not (
            isinstance(x.type, (Singleton, Exception_)) or isinstance(y.type, (Singleton, Exception_))):
        return Const(Bool, op == "!=")  # values of unlike types are never equal
    raise NotNative(f"{op} between {describe(x.type)} and {describe(y.type)} is not compiled")


def identity(op: str, x: Expr, y: Expr) -> Expr:
    """`x is y` or `x is not y`."""
    same = _identity(op, x, y)
    return same if op == "is" else inverted(same)


def _identity(op: str, x: Expr, y: Expr) -> Expr:
    a, b = fixed(x), fixed(y)
    if a is not UNKNOWN and b is not UNKNOWN and Object not in (x.type, y.type):
        return number(a is b)
    found = protocol_of(x.type).identical(x, y)
    if found is None:
        found = protocol_of(y.type).identical(x, y)
    if found is not None:
        return found
    if a is not UNKNOWN or b is not UNKNOWN:
        one, other = (a, y.type) if a is not UNKNOWN else (b, x.type)
        # the interpreter has one object for each of these values
        if type(one) is int and -5 <= one <= 256 and other is Int:
            return compare("==", x, y)
        if type(one) is tuple and not one and isinstance(other, Tuple):
            return number(not other.elements and not other.cls)
        if type(one) is {Int: int, Float: float}.get(other, tuple if isinstance(other, Tuple) else None):
            raise no_identity(op, x)
        if one is None or one is ... or isinstance(one, bool) or other in (Int, Float, Bool) or isinstance(
                other, (Array, Tuple)):
            return number(False)
    if type(x.type) is not type(y.type):
        return number(False)
    if x.type == y.type and is_integer(x.type) and extended.is_as_in_numba():
        return compare("==", x, y)  # in Numba integers have no identity but their value
    raise no_identity(op, x)


def no_identity(op: str, x: Expr) -> Mismatch:
    return NotNative(f"`{op}` between two {describe(x.type)} values has no meaning in compiled code",
                     "compare with == instead")


# ---------------------------------------------------------------- items


def unpack(x: Expr, count: int) -> Expr:
    """The tuple of the items of x, of which there must be exactly `count`."""
    if isinstance(x.type, Tuple) and len(x.type.elements) == count and stands_for(x.type.cls) is x.type.cls:
        return x
    if x.type is Object:
        x = boxed.by_python(interpreted.to_unpack, x)
    protocol = protocol_of(x.type)
    items = protocol.elements(x)
    if items is None:
        if not protocol.is_iterable(x):
            raise Mismatch(f"cannot unpack non-iterable {describe(x.type).strip(chr(39))} object")
        return Call(unpack_state, protocol.iterate(x), Const(Int, count), Const(Int, 0), Const(Tuple(()), ()))
    if len(items) < count:
        return Throw(ValueError, f"not enough values to unpack (expected {count}, got {len(items)})")
    if len(items) > count:
        return Throw(ValueError, f"too many values to unpack (expected {count})")
    return Apply(TUPLE_MAKE, *items, cls=None)


def unpack_state(state, count, k, done):
    """Exactly `count` items of an iteration state, as a tuple."""
    one = intrinsics.advance(state)
    if k == count:
        if one[0]:
            raise ValueError(f"too many values to unpack (expected {count})")
        return done
    if not one[0]:
        raise ValueError(f"not enough values to unpack (expected {count}, got {k})")
    return unpack_state(one[2], count, k + 1, done + (one[1],))
