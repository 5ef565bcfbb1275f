"""Built-in functions of numbers and types, functions of `operator`, attributes and methods of Python numbers."""
from __future__ import annotations

import operator
import types as pytypes

import numpy as np

from ...base.lazy import lazy
from ...infer.constants import constant, held_by, held_member
from ...infer.meaning import Apply, Call, CallValue, ClassAttribute, Const, Expr, Mismatch, NotNative
from ...ops.arith import COMPLEX_MAKE, FNEG, IABS, IABS_CK, IMAG, REAL, TRUNCATE
from ...ops.exceptions import EXC_MATCH
from ...ops.math import FABS, HYPOT, RINT
from ...ops.pyobject import PY_BOX, PY_GETATTR
from ...ops.structure import SELECT, TUPLE_GET, TUPLE_MAKE
from ...types import kinds as k
from ...types.classes import MIRRORED, defines, stands_for
from ...types.kinds import Bool, Complex, Float, Int, NpInt, Singleton, is_complex, is_float, is_number, is_numpy_scalar
from ...types.lattice import kind_of, promote, python_promote
from .. import operations
from ..build import SYMBOLS, apply, cast, check_hashable, convert, fitted, number, provoked, type_name
from ..np.elementwise import numbers as np_numbers
from ..protocol import by_python, protocol_of
from ..rule import Rule, rule
from . import numbers, operators
from .conversions import to_float, to_index

elementwise = lazy("pyjitc.lib.np.elementwise.elementwise")
formatting, tuples = lazy("pyjitc.lib.py.formatting"), lazy("pyjitc.lib.py.tuples")

__all__ = ["CALLS", "EXTREMES", "attribute", "method", "class_of", "absolute"]


def absolute(x: Expr) -> Expr:
    t = x.type
    if t is Bool:
        return cast(x, Int)
    if t is Int:
        return apply(IABS_CK, x)
    if isinstance(t, NpInt):
        return apply(IABS, x)
    if is_float(t):
        return apply(FABS, x)
    if t is Complex:
        return Call(numbers.complex_abs, x)
    if is_complex(t):
        return apply(HYPOT, apply(REAL, x), apply(IMAG, x))
    if t is k.bool_:
        return x
    raise Mismatch(f"bad operand type for abs(): '{type_name(t)}'")


def _is_of_ufuncs(*operands) -> bool:
    """Whether a builtin of these operands is computed by a ufunc: for arrays and durations."""
    return any(isinstance(x.type, k.Array) or k.is_time(x.type) for x in operands)


@rule("abs")
def _abs(x, /):
    member = held_member(x)
    if isinstance(member, (int, float)):  # whatever other operators its class defines
        own = defines(type(member), "__abs__")
        return CallValue(ClassAttribute(type(member), "__abs__"), x) if own else absolute(held_by(member))
    return elementwise.ufunc(np.absolute, [x]) if _is_of_ufuncs(x) else absolute(x)


# ---------------------------------------------------------------- divmod, pow, round


@rule("divmod")
def _divmod(x, y, /):
    if _is_of_ufuncs(x, y):
        return elementwise.ufunc(np.divmod, [x, y])
    x, y = fitted(x, y)
    if not (is_number(x.type) and is_number(y.type)):
        raise Mismatch(f"unsupported operand type(s) for divmod(): '{type_name(x.type)}' and '{type_name(y.type)}'")
    if is_numpy_scalar(x.type) or is_numpy_scalar(y.type):
        t = promote(x.type, y.type)
        if kind_of(t) == "b":
            t = k.int8
        if not is_complex(t):
            function = np_numbers.int_divmod if isinstance(t, NpInt) else (
                np_numbers.half_divmod if t is k.float16 else np_numbers.float_divmod)
            return Call(function, convert(x, t), convert(y, t))
        raise Mismatch(provoked(divmod, np.complex128(1), 1))
    t = python_promote(x.type, y.type)
    if t is Complex:
        raise Mismatch(f"unsupported operand type(s) for divmod(): '{type_name(x.type)}' and '{type_name(y.type)}'")
    if t is Float:
        return Call(numbers.float_divmod, cast(x, t), operators.nonzero(cast(y, t), numbers.FLOAT_DIVMOD))
    return Call(numbers.int_divmod, cast(x, Int), operators.nonzero(cast(y, Int), numbers.INT_DIVMOD))


@rule("pow")
def _pow(base, exp, mod=None):
    x, y, m = base, exp, mod
    if m is None:
        return operations.binary("**", x, y)
    if all(t.type is Int or t.type is Bool for t in (x, y, m)):
        return Call(numbers.int_pow_mod, cast(x, Int), cast(y, Int), cast(m, Int))
    if is_complex(x.type) or is_complex(y.type):
        raise Mismatch("complex modulo", "", ValueError)
    if any(t.type is Float for t in (x, y, m)):
        raise Mismatch(provoked(pow, 2.0, 1, 1))
    names = ", ".join(f"'{type_name(t.type)}'" for t in (x, y, m))
    raise Mismatch(f"unsupported operand type(s) for ** or pow(): {names}")


@rule("round", "number, ndigits=None")
def _round(x, digits):
    t = x.type
    if is_complex(t) or t is k.bool_ or not is_number(t):
        raise Mismatch(f"type {type_name(t)} doesn't define __round__ method")
    if digits is None:
        return apply(TRUNCATE, apply(RINT, x)) if is_float(t) else to_index(x)
    digits = to_index(digits)
    if t is Float:
        return Call(numbers.float_round_digits, x, digits)
    if is_numpy_scalar(t):
        return np_round(x, digits)
    x = cast(x, Int)
    return x if digits.known and digits.value >= 0 else Call(numbers.int_round_digits, x, digits)


def np_round(x: Expr, digits: Expr) -> Expr:
    """np.round of a NumPy scalar."""
    t = x.type
    if is_float(t):
        if digits.known and digits.value == 0:
            return apply(RINT, x)
        return Call(np_numbers.float_round, x, digits)
    if isinstance(t, NpInt):
        if not digits.known:
            return cast(Call(np_numbers.int_round_any, x, digits), t)
        return x if digits.value >= 0 else cast(Call(np_numbers.int_round, x, digits), t)
    raise NotNative(f"np.round of {type_name(t)} is not compiled")


# ---------------------------------------------------------------- min, max


def _extreme(name, symbol):
    def pick(x, y):
        """y where y < x (min) or y > x (max), else x: the first one wins a tie."""
        better = operators.compare(symbol, y, x)
        if x.type is not y.type:
            return Call(_LESS if symbol == "<" else _MORE, x, y)
        if better.type is not Bool:
            better = operators.truth(better)
        return apply(SELECT, better, y, x)

    def of_several(args):
        if all(is_number(x.type) for x in args) and len({x.type for x in args}) == 1:
            result = args[0]
            for x in args[1:]:
                result = pick(result, x)
            return result
        function = _LESS if symbol == "<" else _MORE
        result = Call(function, args[0], args[1])
        for x in args[2:]:
            result = Call(function, result, x)
        return result

    return of_several


KEEPS_CONSTANTS = True  # the result of max(x, 0) is x or the constant 0


def less(x, y):
    if y < x:
        return y
    return x


def more(x, y):
    if y > x:
        return y
    return x


_LESS, _MORE = less, more
EXTREMES = {"min": _extreme("min", "<"), "max": _extreme("max", ">")}  # of separate arguments

# ---------------------------------------------------------------- hash


def hash_of(x: Expr) -> Expr:
    t = x.type
    if t is Int or t is Bool or t is k.bool_ or isinstance(t, NpInt):
        return Call(numbers.uint64_hash, x) if t is k.uint64 else Call(numbers.int_hash, cast(x, Int))
    if is_float(t):
        return Call(numbers.float_hash, cast(x, Float))
    if is_complex(t):
        return Call(numbers.complex_hash, cast(x, Complex))
    if t is k.Str or t is k.Bytes:
        return formatting.hashed(x)
    if not isinstance(t, k.Tuple):  # one with such an item raises at run time
        check_hashable(t)
    if isinstance(t, k.Tuple) and t.cls is not None and t.cls.__hash__ is tuple.__hash__:
        x = apply(TUPLE_MAKE, *[apply(TUPLE_GET, x, index=n) for n in range(len(t.elements))], cls=None)
    if isinstance(x.type, k.Tuple) and _has_native_hash(x.type):
        result = constant(tuples.HASH_OF_NO_ITEMS)
        for item in protocol_of(x.type).elements(x):
            result = Call(tuples.hash_with, result, hash_of(item))
        return Call(tuples.hash_of_all, result, constant(len(x.type.elements)))
    if isinstance(x.type, (k.Container, k.NpTime)) or isinstance(x.type, k.Tuple) and x.type.cls is None:
        return by_python(hash, x, type=Int)
    raise NotNative(f"hash() of {type_name(t)} is not compiled")


def _has_native_hash(t) -> bool:
    if isinstance(t, k.Tuple):
        return t.cls is None and all(map(_has_native_hash, t.elements))
    return is_number(t) or t is k.Str or t is k.Bytes


_hash = rule("hash", "x, /")(hash_of)

# ---------------------------------------------------------------- classes


def class_of(t: k.Type) -> type | None:
    """The Python class of values of type t; None where that is known only at run time."""
    return t.python_class


def _classes(x: Expr, name: str) -> tuple:
    """The classes named by the second argument of isinstance."""
    if isinstance(x.type, Singleton):
        value = x.type.value
    elif x.known:
        value = x.value
    elif isinstance(x.type, k.Tuple) and all(isinstance(t, (Singleton, k.Tuple)) for t in x.type.elements):
        value = _flat(x.type)
    else:
        raise NotNative(f"{name}() needs classes that are known at compile time")
    if not isinstance(value, (type, tuple, pytypes.UnionType)):
        raise Mismatch(provoked(isinstance, 1, 1) if name == "isinstance" else provoked(issubclass, int, 1))
    return value


def _flat(t):
    return tuple(_flat(e) if isinstance(e, k.Tuple) else e.value for e in t.elements)


@rule("isinstance")
def _isinstance(x, wanted, /):
    classes = _classes(wanted, "isinstance")
    if isinstance(x.type, Singleton):
        return number(isinstance(x.type.value, classes))
    if isinstance(x.type, k.Exception_):
        if issubclass(x.type.cls, classes):
            return number(True)
        return Apply(EXC_MATCH, x, classes=classes if isinstance(classes, tuple) else (classes,))
    found = class_of(x.type)
    if found is None:
        raise NotNative(f"the class of a value of type {x.type} is not known at compile time")
    return number(issubclass(stands_for(found), classes))


@rule("issubclass")
def _issubclass(x, wanted, /):
    if not (isinstance(x.type, Singleton) and isinstance(x.type.value, type)):
        raise Mismatch("issubclass() arg 1 must be a class")
    return number(issubclass(x.type.value, _classes(wanted, "issubclass")))


@rule("type", "x, /")
def _type(x):
    if isinstance(x.type, k.Exception_):
        return Apply(PY_GETATTR, Apply(PY_BOX, x), name="__class__")
    found = class_of(x.type)
    if found is None:
        raise NotNative(f"the class of a value of type {x.type} is not known at compile time")
    return Const(Singleton(found), found)


@rule("callable", "x, /")
def _callable(x):
    if isinstance(x.type, Singleton):
        return number(callable(x.type.value))
    if isinstance(x.type, (k.Function, k.FunctionObject, k.Method)):
        return number(True)
    return number(any("__call__" in vars(cls) for cls in getattr(x.type.python_class, "__mro__", ())))


@rule("id")
def _id(obj, /):
    raise NotNative("id() has no meaning in compiled code: values are not objects there", "compare with ==")


def _binary(symbol):
    name = SYMBOLS[symbol].__name__

    @rule(f"operator.{name}")
    def found(a, b, /):
        return (operations.compare if symbol in MIRRORED else operations.binary)(symbol, a, b)

    return found


def _unary(name, symbol):
    return rule(f"operator.{name}", "a, /")(lambda a: operations.unary(symbol, a))


CALLS = {
    abs: _abs, divmod: _divmod, pow: _pow, round: _round, hash: _hash,
    isinstance: _isinstance, issubclass: _issubclass, type: _type, callable: _callable, id: _id,
    operator.abs: _abs.named("operator.abs"),
    **{function: _binary(symbol) for symbol, function in SYMBOLS.items()},
    operator.neg: _unary("neg", "-"), operator.pos: _unary("pos", "+"), operator.invert: _unary("invert", "~"),
    operator.not_: _unary("not_", "not"),
}

# ---------------------------------------------------------------- attributes and methods of Python numbers


def attribute(x: Expr, name: str) -> Expr | None:
    """The expression of x.name for a Python number; None where it is a method, or there is no such attribute."""
    t = x.type
    if name == "real":
        return apply(REAL, x) if t is Complex else cast(x, Int) if t is Bool else x
    if name == "imag":
        return apply(IMAG, x) if t is Complex else number(0.0 if t is Float else 0)
    if t is Int or t is Bool:
        if name == "numerator":
            return cast(x, Int)
        if name == "denominator":
            return number(1)
        if name == "to_bytes":
            return None
    if name not in METHODS or t not in METHODS[name]:
        cls = class_of(t)
        if hasattr(cls, name):
            raise NotNative(f"'{cls.__name__}.{name}' is not compiled yet", "", AttributeError)
        raise Mismatch(f"'{cls.__name__}' object has no attribute '{name}'", "", AttributeError)
    return None


def method(receiver: Expr, name: str, args, kwargs) -> Expr | None:
    """A call receiver.name(*args) of a Python number; None where there is no such method."""
    if name == "to_bytes":
        return formatting.number_method(int.to_bytes, receiver, *args, **kwargs)
    function = METHODS.get(name, {}).get(receiver.type)
    if function is None:
        return None
    return Rule(function, f"{type_name(receiver.type)}.{name}", "self, /")([receiver, *args], kwargs)


def conjugate(x: Expr) -> Expr:
    if is_complex(x.type):
        return apply(COMPLEX_MAKE, apply(REAL, x), apply(FNEG, apply(IMAG, x)))
    return cast(x, Int) if x.type is Bool else x


def _int_method(function):
    return lambda x: Call(function, cast(x, Int))


def _is_whole(x):
    """Whether a float is finite and integral."""
    return Call(numbers.float_is_whole, x)


def _pair_with_one(x):
    return apply(TUPLE_MAKE, cast(x, Int), number(1), cls=None)


METHODS: dict[str, dict[k.Type, object]] = {
    "conjugate": {t: conjugate for t in (Bool, Int, Float, Complex)},
    "bit_length": {t: _int_method(numbers.int_bit_length) for t in (Bool, Int)},
    "bit_count": {t: _int_method(numbers.int_bit_count) for t in (Bool, Int)},
    "is_integer": {Float: _is_whole},
    "as_integer_ratio": {Float: lambda x: Call(numbers.float_ratio, x), Int: _pair_with_one, Bool: _pair_with_one},
    "__abs__": {t: absolute for t in (Bool, Int, Float, Complex)},
    "__index__": {t: to_index for t in (Bool, Int)},
    "hex": {Float: lambda x: formatting.number_method(float.hex, x)},
    "__float__": {t: to_float for t in (Bool, Int, Float)},
    "__hash__": dict.fromkeys((Bool, Int, Float, Complex), hash_of),
    "__neg__": dict.fromkeys((Bool, Int, Float, Complex), lambda x: operations.unary("-", x)),
    "__bool__": dict.fromkeys((Bool, Int, Float, Complex), operations.truth),
}
if hasattr(int, "is_integer"):  # 3.12
    METHODS["is_integer"].update({t: lambda x: number(True) for t in (Bool, Int)})
