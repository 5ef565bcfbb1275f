"""Operators of dates and durations, and conversions to elements of arrays of them."""
from __future__ import annotations

import numpy as np

from ....base.errors import with_article
from ....infer.meaning import Const, Expr, Mismatch, NotNative, Throw
from ....types import kinds as k
from ....types.kinds import NpTime, is_time
from ....types.lattice import dtype_of, type_of_dtype
from ...build import cast, convert, type_name
from ...protocol import by_python
from ..elementwise import ufuncs
from .units import AS_NUMBER

__all__ = ["AS_NUMBER", "assigned", "constant_of", "element", "find_binary", "find_compare", "find_unary", "float_of",
           "int_of", "is_counted", "no_cast", "parsed", "unit_of_texts", "unlike"]



def _found(function, *types):
    loop = ufuncs.loop(function, types)
    return lambda *xs: loop.rule(*map(convert, xs, loop.inputs))


def find_binary(op: str, s: k.Type, t: k.Type):
    """The rule of an operator where an operand is a date or a duration."""
    return _found(ufuncs.OPERATORS[op], s, t) if op in ufuncs.OPERATORS else None


def find_compare(op: str, s: k.Type, t: k.Type):
    answer = unlike(op, s, t)
    if answer is None:
        return find_binary(op, s, t)
    # NumPy before 2.3 returns Python's bool
    return lambda x, y: Const(k.Bool if type(answer) is bool else k.bool_, answer)


_SAMPLES = {k.Bool: True, k.Int: 1, k.Float: 1.0, k.Complex: 1j}


def unlike(op: str, s: k.Type, t: k.Type):
    """The result of == or != for types whose values are never equal, such as dates and numbers; None where values
    decide."""
    if op not in ("==", "!="):
        return None
    function = ufuncs.OPERATORS[op]
    try:
        ufuncs.loop(function, (s, t))
    except Mismatch:
        x, y = (_SAMPLES[u] if u in _SAMPLES else np.zeros((), dtype_of(u))[()] for u in (s, t))
        try:
            return x == y if op == "==" else x != y
        except TypeError:  # units that cannot be converted
            return None
    return None


def find_unary(op: str, t: k.Type):
    return _found(ufuncs.UNARY[op], t)


# ---------------------------------------------------------------- conversions to and from elements


def nat(t: NpTime) -> Const:
    return Const(t, dtype_of(t).type("NaT", np.datetime_data(dtype_of(t))))


def element(x: Expr, t: k.Type) -> Expr:
    """x as an element of an array of t, where either is a date or duration, with the conversions of
    casting='unsafe'."""
    source = x.type
    if source is k.NoneType:
        return nat(t)
    if (source is k.Float or source is k.Complex) and is_time(t):
        return Throw(ValueError, f"Could not convert object to NumPy {'datetime' if t.kind == 'M' else 'timedelta'}")
    if source is k.Str and is_time(t):
        return parsed(x, t)
    if not k.is_scalar(source):
        raise Mismatch(f"a value of type {type_name(source)} is no element of an array of {t}")
    return cast(x, t)


def assigned(x: Expr, t: k.Type) -> Expr:
    """x converted for assignment to one element, which NumPy checks more strictly than conversions of arrays."""
    source = x.type
    if is_time(source) and is_time(t):
        if source.kind == t.kind and not np.can_cast(dtype_of(source), dtype_of(t), "same_kind"):
            raise Mismatch(no_cast(source, t), "convert it with x.astype(...)")
    elif is_time(source) and t is not k.bool_:
        raise NotNative(f"{with_article(str(source))} as an element of an array of {t} is not compiled", AS_NUMBER)
    return element(x, t)


def no_cast(s: NpTime, t: NpTime) -> str:
    units = [str(dtype_of(u)).partition("64")[2] for u in (s, t)]
    return (f"Cannot cast NumPy {dtype_of(s).type.__name__} scalar from metadata {units[0]} to {units[1]} according "
            f"to the rule 'same_kind'")


def parsed(x: Expr, t: NpTime) -> Expr:
    """The date or duration that a text is."""
    if x.known:
        return constant_of(dtype_of(t).type, x.value, np.datetime_data(dtype_of(t)))
    return by_python(dtype_of(t).type, x, Const(k.Str, unit_of_texts(t)), type=t)


def unit_of_texts(t: NpTime) -> str:
    """The unit of dates that are read from texts."""
    if t.unit == "generic":
        raise NotNative("the unit of dates that are texts is not known when the function is compiled",
                        "write the unit, as in np.datetime64(text, 's') or dtype='datetime64[s]'")
    return f"{t.count}{t.unit}"


def constant_of(cls, *args) -> Expr:
    """The constant that a call of the class with constants makes."""
    try:
        value = cls(*args)
    except (ValueError, TypeError, OverflowError) as error:
        return Throw(type(error), str(error))
    return Const(type_of_dtype(value.dtype), value)


# ---------------------------------------------------------------- int() and float()


def is_counted(t: k.Type) -> bool:
    """Whether int() and float() of a value of type t are its number of units. For other units, `item()` makes an object
    of the module datetime."""
    if not is_time(t):
        return False
    return t.unit in ("ns", "ps", "fs", "as") or t.kind == "m" and t.unit in ("Y", "M", "generic")


def int_of(x):
    if np.isnat(x):
        raise TypeError("int() argument must be a string, a bytes-like object or a real number, not 'NoneType'")
    return int(x.astype(np.int64))


def float_of(x):
    if np.isnat(x):
        raise TypeError("float() argument must be a string or a real number, not 'NoneType'")
    return float(x.astype(np.int64))
