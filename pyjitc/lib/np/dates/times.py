"""NumPy's dates and durations (datetime64, timedelta64): construction and methods.

Their units are in units.py, what ufuncs do with them in rules.py, operators and assignment in operators.py.
"""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import Call, Const, Expr, Mismatch, NotConstant, NotNative, Throw
from ....types import kinds as k
from ....types.kinds import NpTime, int64, is_time
from ....types.lattice import dtype_of, type_of_dtype
from ...build import cast, a_type
from ...rule import rule
from ..arrays.creation import scalar_of
from .operators import AS_NUMBER, constant_of, no_cast, parsed

__all__ = ["CALLS", "METHODS", "SCALAR_METHODS", "attribute", "method", "target"]


def _unit(given, kind):
    """The type with the unit given in a call; None where none is given."""
    if given is None:
        return None
    if not given.known or not isinstance(given.value, (str, tuple)):
        raise NotConstant("the unit of a date must be known at compile time", "write it as a text: 'D', 's', 'ns', ...")
    try:
        return NpTime(kind, *np.datetime_data(np.dtype((f"{kind}8[{given.value}]") if type(given.value) is str
                                                       else _pair(kind, given.value))))
    except TypeError as error:
        raise Mismatch(str(error)) from None


def _pair(kind, pair):
    return f"{kind}8[{pair[1]}{pair[0]}]"


def _constructor(cls, kind):
    name = "datetime" if kind == "M" else "timedelta"

    @rule(f"np.{cls.__name__}")
    def found(value=..., unit=None, /):
        if value.type is k.Ellipsis_:
            return constant_of(cls)
        x, unit = value, _unit(unit, kind)
        if x.known and (type(x.value) in (int, bool, str) or x.value is None or isinstance(x.value, np.generic)):
            if kind == "M" and x.value in ("now", "today"):
                raise NotNative(f"np.datetime64({x.value!r}) is not compiled", "pass it as an argument")
            return constant_of(cls, x.value, *() if unit is None else (np.datetime_data(dtype_of(unit)),))
        s = x.type
        if isinstance(s, NpTime) and s.kind == kind:
            if unit is None:
                return x
            if not np.can_cast(dtype_of(s), dtype_of(unit), "same_kind"):
                raise Mismatch(no_cast(s, unit), "convert it with x.astype(...)")
            return cast(x, unit)
        if s is k.Int or s is k.Bool or isinstance(s, k.NpInt) and kind == "m":
            if unit is None and kind == "M":
                return Throw(ValueError, "Converting an integer to a NumPy datetime requires a specified unit")
            return cast(x, unit or NpTime(kind))
        if isinstance(s, k.Array) and s.ndim == 0 and unit is None:
            return Call(of_element, constant(cls), x)
        if s is k.Str:
            return parsed(x, unit or NpTime(kind))
        if k.is_scalar(s):
            return Throw(ValueError, f"Could not convert object to NumPy {name}")
        raise NotNative(f"np.{cls.__name__} of {a_type(s)} is not compiled", "use a.astype(...) for arrays")

    return found


def of_element(cls, a):
    return cls(a[()])


@rule("np.datetime_data")
def _datetime_data(dtype, /):
    x = dtype
    t = x.type.scalar if isinstance(x.type, k.DType) else None
    if x.known and type(x.value) is str:
        t = type_of_dtype(np.dtype(x.value))
    if not isinstance(t, NpTime):
        raise Mismatch("cannot get datetime metadata from non-datetime type")
    return Const(k.Tuple((k.Str, k.Int)), (t.unit, t.count))


def _outside(name):
    @rule(f"np.{name}")
    def found(*args, **kwargs):
        raise NotNative(f"np.{name} is not compiled", "call it outside the compiled function")

    return found


CALLS = {
    np.datetime64: _constructor(np.datetime64, "M"), np.timedelta64: _constructor(np.timedelta64, "m"),
    np.datetime_data: _datetime_data, np.datetime_as_string: _outside("datetime_as_string"),
}
METHODS: dict = {}


# ---------------------------------------------------------------- methods of one date or duration


def target(source: k.Type, t: k.Type) -> k.Type:
    """The type that astype(t) gives: a dtype without a unit takes the unit of the date or duration."""
    if isinstance(t, NpTime) and t.unit == "generic" and isinstance(source, NpTime):
        return NpTime(t.kind, source.unit, source.count)
    return t


@rule("np.generic.astype")
def _astype(x, dtype):
    return cast(x, target(x.type, scalar_of(dtype)))


@rule("np.generic.view")
def _view(x, dtype):
    t = scalar_of(dtype)
    if t is not int64 and not is_time(t):
        raise NotNative(f"a view of a date as {t} is not compiled", "view it as np.int64")
    return cast(cast(x, int64), t)


@rule("np.generic.copy")
def _itself(x):
    return x


SCALAR_METHODS = {"astype": _astype, "view": _view, "copy": _itself, "min": _itself, "max": _itself, "squeeze": _itself}


def attribute(x: Expr, name: str) -> None:
    """The expression of x.name; None where it is a method."""
    if name not in SCALAR_METHODS:
        cls = dtype_of(x.type).type
        if not hasattr(cls, name):
            raise Mismatch(f"'numpy.{cls.__name__}' object has no attribute '{name}'", "", AttributeError)
        raise NotNative(f"'numpy.{cls.__name__}.{name}' is not compiled", AS_NUMBER)


def method(x: Expr, name: str, args, kwargs) -> Expr:
    return SCALAR_METHODS[name]([x, *args], kwargs)
