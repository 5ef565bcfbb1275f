"""Conversions by name: int(), float(), bool(), complex(), NumPy's scalar classes, and assignment to array elements."""
from __future__ import annotations

import operator

import numpy as np

from ...base.errors import with_article
from ...base.lazy import lazy
from ...infer.constants import is_wide
from ...infer.meaning import Apply, Call, Const, Expr, Mismatch, NotConverted, NotNative
from ...ops.arith import COMPLEX_MAKE, FADD, FIT, FSUB, IMAG, NARROW, REAL, TRUNCATE
from ...ops.memory import ARRAY_LOAD
from ...types import kinds as k
from ...types.kinds import (
    Bool, Complex, Float, Int, NpComplex, NpFloat, NpInt, is_complex, is_float, is_number, is_numpy_scalar, is_time,
)
from ...types.lattice import COUNTERPART, dtype_of
from ..build import apply, cast, convert, is_sequence, number, provoked, type_name, whole_number, wide_as
from ..operations import truth
from ..rule import rule

numbers = lazy("pyjitc.lib.py.numbers")
times = lazy("pyjitc.lib.np.dates.operators")
loops = lazy("pyjitc.lib.np.elementwise.loops")
dtypes = lazy("pyjitc.lib.np.arrays.dtypes")
interpreted = lazy("pyjitc.lib.py.interpreted")

__all__ = ["CALLS", "to_int", "to_float", "to_complex", "to_scalar", "assign", "element",
           "of_numpy", "to_bound", "holds_one", "to_index", "discarding", "discards"]

_INT_ARGUMENT = provoked(int, 1j).replace("'complex'", "'%s'")
_FLOAT_ARGUMENT = provoked(float, 1j).replace("'complex'", "'%s'")
_COMPLEX_ARGUMENT = provoked(complex, ()).replace("'tuple'", "'%s'")
_BOOL_INDEX = hasattr(np.bool_, "__index__")  # before NumPy 2.3
_ARRAY_INDEX = provoked(operator.index, np.array(1.0))
_LONG = provoked(np.int64, 1e300)
_ABOVE = provoked(np.uint32, 2.0**63).replace(str(2**63), "%d")  # for what an unsigned long can hold
_TEXTS = (k.Str, k.Bytes, k.ByteArray)


def _item(x: Expr) -> Expr:
    """The number in a 0-d array, a Python number where it is complex; other values unchanged."""
    if not holds_one(x.type):
        return x
    return cast(Apply(ARRAY_LOAD, x), Complex) if is_complex(x.type.dtype) else Apply(ARRAY_LOAD, x)


def holds_one(t: k.Type) -> bool:
    """Whether t is the type of a 0-d array, which converts to a number as the number in it does."""
    return isinstance(t, k.Array) and t.ndim == 0


def to_int(x: Expr) -> Expr:
    """int(x)."""
    x = _item(x)
    t = x.type
    if t is Int:
        return x
    if t is Bool or t is k.bool_ or isinstance(t, NpInt):
        return Call(numbers.uint64_to_int, x) if t is k.uint64 and not _small(x) else cast(x, Int)
    if is_float(t):
        return apply(TRUNCATE, x)
    if isinstance(t, NpComplex):
        return Call(loops.discarding, apply(TRUNCATE, apply(REAL, x)))
    if t in _TEXTS:
        return interpreted.parsed(int, Int, x)
    if times.is_counted(t):
        return Call(times.int_of, x)
    raise Mismatch(_INT_ARGUMENT % type_name(t), times.AS_NUMBER if is_time(t) else "")


def _small(x: Expr) -> bool:
    return x.known and int(x.value) < 1 << 63


def to_float(x: Expr) -> Expr:
    """float(x)."""
    x = _item(x)
    t = x.type
    if is_wide(x):
        return wide_as(x, Float)
    if isinstance(t, NpComplex):
        return Call(loops.discarding, cast(apply(REAL, x), Float))
    if is_number(t) and t is not Complex:
        return cast(x, Float)
    if t in _TEXTS:
        return interpreted.parsed(float, Float, x)
    if times.is_counted(t):
        return Call(times.float_of, x)
    raise Mismatch(_FLOAT_ARGUMENT % type_name(t), times.AS_NUMBER if is_time(t) else "")


def to_complex(x: Expr) -> Expr:
    """complex(x)."""
    x = _item(x)
    t = x.type
    if is_number(t):
        return cast(x, Complex)
    if t is k.Str:
        return interpreted.parsed(complex, Complex, x)
    raise Mismatch(_COMPLEX_ARGUMENT % type_name(t))


def to_index(x: Expr) -> Expr:
    """operator.index(x)."""
    t = x.type
    if t is Int:
        return x
    if t is Bool or isinstance(t, NpInt) or t is k.bool_ and _BOOL_INDEX or holds_one(t) and isinstance(t.dtype, NpInt):
        return to_int(x)
    if holds_one(t):
        raise Mismatch(_ARRAY_INDEX)
    raise NotConverted(f"'{type_name(t)}' object cannot be interpreted as an integer", whole_number(t), x,
                       operator.index)


def to_bound(x: Expr) -> Expr:
    """A position in a sequence as an int; None is unchanged."""
    if not k.is_integer(x.type) and x.type is not Bool:
        raise NotConverted("slice indices must be integers or have an __index__ method", whole_number(x.type), x,
                           operator.index)
    return to_index(x)


def to_scalar(x: Expr, t: k.Type) -> Expr:
    """x as a NumPy scalar of type t, by its class or by assignment to an element of an array of that dtype."""
    source = x.type
    if source is t:
        return x
    if is_wide(x):
        return wide_as(x, t)
    if is_time(t) or is_time(source):
        return times.element(x, t)
    if t is k.bool_:
        return cast(truth(x), t)
    if is_numpy_scalar(source):
        return cast(x, t)
    if source is Int or source is Bool:
        return convert(x, t)
    if source is Float and isinstance(t, NpInt):
        if t is k.uint64:
            return Call(numbers.float_to_uint64, x)
        if t is k.uint32:  # which NumPy makes of an unsigned long of C
            return apply(NARROW, apply(TRUNCATE, x, message=_LONG, above=_ABOVE), type=t)
        whole = apply(TRUNCATE, x, message=_LONG)
        return cast(whole, t) if t is k.int64 else apply(NARROW, whole, type=t)
    if source is Complex and not is_complex(t):
        text = _FLOAT_ARGUMENT if is_float(t) else _INT_ARGUMENT
        raise Mismatch(text % "complex")
    if is_number(source):
        return cast(x, t)
    if source is k.NoneType and is_float(t):
        return Const(t, dtype_of(t).type(np.nan))
    if source is k.Str or source is k.Bytes:
        raise NotNative(f"{with_article(str(source))} is not converted to {t} in compiled code",
                        "convert it outside the function")
    raise Mismatch((_FLOAT_ARGUMENT if isinstance(t, (NpFloat, NpComplex)) else _INT_ARGUMENT) % type_name(source))


def assign(value: Expr, dtype: k.Type) -> Expr:
    """`value` as an element of an array of `dtype`."""
    if is_time(dtype) or is_time(value.type):
        return times.assigned(value, dtype)
    return to_scalar(value, dtype)


def of_numpy(x: Expr) -> Expr:
    """A number as `np.asarray` converts it; later casts of the result do not check its value."""
    return cast(x, COUNTERPART[x.type]) if x.type in COUNTERPART else x




def element(value: Expr, dtype: k.Type) -> Expr:
    """A NumPy number in the form in which assignment to an element of `dtype` casts it. For signed integers it becomes
    a Python int, which must fit; any other value is unchanged."""
    source = value.type
    if not isinstance(dtype, NpInt) or not dtype.signed or not isinstance(source, (NpInt, NpFloat, NpComplex)):
        return value
    if isinstance(source, NpInt) and source.bits + (not source.signed) <= dtype.bits:
        return value
    return apply(FIT, apply(REAL, value) if is_complex(source) else value, type=dtype, message=_LONG)


# ---------------------------------------------------------------- calls


def _one(name, function, empty):
    @rule(name, "x=..., /")
    def found(x):
        return number(empty) if x.type is k.Ellipsis_ else function(x)

    return found


@rule("int")
def _int(x=..., /, base=...):
    if base.type is k.Ellipsis_:
        return number(0) if x.type is k.Ellipsis_ else to_int(x)
    if x.type is k.Ellipsis_:
        raise Mismatch("int() missing string argument")
    if x.type not in _TEXTS:
        raise Mismatch("int() can't convert non-string with explicit base")
    return interpreted.parsed(int, Int, x, base)


@rule("complex")
def _complex(real=..., imag=...):
    if imag.type is k.Ellipsis_:
        return number(0j) if real.type is k.Ellipsis_ else to_complex(real)
    x, y = number(0.0) if real.type is k.Ellipsis_ else real, imag
    for place, part in (("first", x), ("second", y)):
        if not is_number(part.type):
            wrong: str | tuple = "" if part.type is k.Str else ()
            text = provoked(complex, wrong, 1) if place == "first" else provoked(complex, 1, wrong)
            raise Mismatch(text.replace("'tuple'", f"'{type_name(part.type)}'"))
    real, imag = to_float(_real(x)), to_float(_real(y))
    if y.type is Complex or y.type is k.complex128:  # the subclasses of complex
        real = apply(FSUB, real, to_float(apply(IMAG, y)))
    if is_complex(x.type):
        imag = apply(FADD, imag, to_float(apply(IMAG, x)))
    return apply(COMPLEX_MAKE, real, imag)


def _real(x):
    return apply(REAL, x) if is_complex(x.type) else x


def _constructor(t):
    cls = dtype_of(t).type

    @rule(f"np.{cls.__name__}", "x=..., /")
    def found(x):
        if x.type is k.Ellipsis_:
            return Const(t, cls())
        if isinstance(x.type, (k.Array, k.List)) or is_sequence(x.type) or x.type is k.Range:
            return Call(dtypes.array_of, x, Const(k.DType(t), dtype_of(t)))
        return discarding(x, t, to_scalar(x, t))

    return found


def discarding(x: Expr, t: k.Type, made: Expr) -> Expr:
    """`made`, the number of type t to which x was converted, after NumPy's ComplexWarning where an imaginary part is
    lost."""
    return Call(loops.discarding, made) if discards(x.type, t) else made


def discards(source: k.Type, t: k.Type) -> bool:
    """Whether NumPy complex numbers of type `source` lose their imaginary part in a conversion to type t."""
    return isinstance(source, NpComplex) and (isinstance(t, NpInt) or is_float(t))


CALLS = {
    int: _int, float: _one("float", to_float, 0.0), bool: _one("bool", truth, False),
    complex: _complex,
    operator.index: rule("operator.index", "a, /")(to_index), operator.truth: rule("operator.truth", "a, /")(truth),
    **{dtype_of(t).type: _constructor(t) for t in k.NUMPY_SCALARS.values()},
}
