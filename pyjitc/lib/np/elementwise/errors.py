"""Floating-point errors: np.errstate, and the detection of errors in NumPy's operations.

Errors are found by comparing operands and result: a nan from operands that are not nan is an invalid value, an infinity
from finite operands a division by zero or an overflow. (The processor has flags too, but these do not say which
operation of a fused loop set them, and the package's own elementary functions and comparisons set them as well.)
Detection takes a second loop, so only programs that use np.errstate get it (lib/watched.py): others are silent, and for
them an `np.errstate(...)` that only ignores errors changes nothing.
"""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Again, Apply, Call, Const, Expr, Mismatch, NotNative, Nest, Throw
from ....ops.structure import DISCARD, TUPLE_MAKE
from ....runtime import floatstate
from ....types import kinds as k
from ....types.lattice import dtype_of, kind_of
from ...rule import intrinsic, rule
from ...intrinsics import as_type, chosen
from . import elementwise, loops
from ..arrays.bits import python_call
from .elementwise import constant_of, element_type, is_array, whole
from ..reductions.reductions import any_element
from .ufuncs import loop, typed

__all__ = ["CALLS", "METHODS", "State", "watched_state", "watched_ufunc", "watched_scalars", "watched_fold",
           "watched_product", "watched_cast"]

DIVIDE, OVER, INVALID = map(np.uint8, (floatstate.DIVIDE, floatstate.OVER, floatstate.INVALID))

# ---------------------------------------------------------------- np.errstate

_KINDS = ("all", "divide", "over", "under", "invalid")
_MODES = ("ignore", "warn", "raise", "call", "print", "log")


def entered():
    return None


def left(kind, error, trace):
    return None


class State:
    """The context manager that changes nothing."""

    __enter__ = staticmethod(entered)
    __exit__ = staticmethod(left)


_STATE = State()


def _check(given):
    for key, x in given.items():
        if x.type not in (k.Str, k.NoneType):
            raise Mismatch(f"np.errstate({key}=) must be a text")
        if isinstance(x.value, str) and x.value not in _MODES:
            raise Mismatch(f"invalid error mode '{x.value}'", exception=ValueError)
        if key == "under" and x.value not in (None, "ignore"):
            raise NotNative("np.errstate(under=) is compiled with 'ignore' only: compiled code does not look for "
                            "underflow",
                            "test the result, as in np.abs(x) < np.finfo(x.dtype).tiny")


def _given(**options):
    """The options of a call of np.errstate that are not None; Mismatch where one of them cannot be compiled."""
    given = {key: x for key, x in options.items() if x}
    _check(given)
    return given


@rule("np.errstate")
def _errstate(*, call=None, all=None, divide=None, over=None, under=None, invalid=None):
    given = _given(all=all, divide=divide, over=over, under=under, invalid=invalid)
    if call or any(x.value != "ignore" for x in given.values()):
        raise Again(errstate=True)
    return Const(k.Singleton(_STATE), _STATE)


@rule("np.errstate")
def watched_state(*, call=None, all=None, divide=None, over=None, under=None, invalid=None) -> Expr:
    """A call that makes NumPy's own context manager."""
    given = _given(all=all, divide=divide, over=over, under=under, invalid=invalid)
    if all:
        given.setdefault("under", Const(k.Str, "ignore"))
    if call:
        given["call"] = Const(k.Object, call.type.value) if isinstance(call.type, k.Singleton) else call
    return python_call(np.errstate, **given)


# ---------------------------------------------------------------- kernels: the errors of one element


def result_flags(divides, r, finite, unknown):
    """The error flags of a result r. divides: whether an infinity means a division by zero; finite: all operands are
    finite; unknown: one of them is nan."""
    return (np.isnan(r) & ~unknown) * INVALID | (np.isinf(r) & finite) * chosen(divides, DIVIDE, OVER)


def told1(how, least, r, x):
    if how == "integer":
        return (x == 0) * (DIVIDE | INVALID)
    if how == "negative" or how == "absolute":
        return (x != 0 if least is None else x == least) * OVER
    if how == "product":
        return told_product(r, x, x)
    return result_flags(how == "pole", r, np.isfinite(x), np.isnan(x))


def told2(how, least, r, x, y):
    if how == "pair":
        return told2("divisor", None, r[0], x, y) | told2("", None, r[1], x, y)
    if how == "integers":  # a division; `least` is given where the quotient may overflow
        met = (y == 0) * DIVIDE
        return met if least is None else met | ((x == least) & (y == -1)) * OVER
    if how == "parts":
        return told2("", None, r.real, x.real, y.real) | told2("", None, r.imag, x.imag, y.imag)
    if how == "product":
        return told_product(r, x, y)
    finite, unknown = np.isfinite(x) & np.isfinite(y), np.isnan(x) | np.isnan(y)
    if how == "divisor":
        return result_flags(y == 0, r, finite, unknown)
    if how == "base":
        return result_flags(x == 0, r, finite, unknown)
    return result_flags(False, r, finite, unknown)


def told_product(r, x, y):
    a, b, c, d = np.float64(x.real), np.float64(x.imag), np.float64(y.real), np.float64(y.imag)
    if r.dtype == np.complex64:
        return told_parts(np.float32(a), np.float32(b), np.float32(c), np.float32(d))
    return told_parts(a, b, c, d)


def told_parts(a, b, c, d):
    p, q, s, t = a * c, b * d, a * d, b * c
    return (told2("", None, p, a, c) | told2("", None, q, b, d) | told2("", None, s, a, d) | told2("", None, t, b, c)
            | told2("", None, p - q, p, q) | told2("", None, s + t, s, t))


def wrap_flags(how, least, r, x, y):
    """The error flags of an operation on integers of one type: OVER where the result has wrapped."""
    if how == "add":
        return (r < x if least is None else (x ^ r) & (y ^ r) < 0) * OVER
    if how == "subtract":
        return (x < y if least is None else (x ^ y) & (x ^ r) < 0) * OVER
    wrong = (x != 0) & (r // x != y)
    return (wrong if least is None else wrong | (x == -1) & (y == least)) * OVER


def again1(how, least, f, x):
    return told1(how, least, f(x), x)


def again2(how, least, f, x, y):
    return told2(how, least, f(x, y), x, y)


def masked1(how, least, f, where, x):
    return again1(how, least, f, x) if where else np.uint8(0)


def masked2(how, least, f, where, x, y):
    return again2(how, least, f, x, y) if where else np.uint8(0)


_AGAIN = {1: again1, 2: again2}
_MASKED = {1: masked1, 2: masked2}


# ---------------------------------------------------------------- library functions: the errors of a call


@intrinsic
def report(name, flags):
    """Let the interpreter warn or raise for these error flags."""
    return Apply(DISCARD, python_call(floatstate.report, name, flags))


@intrinsic
def each1(how, least, r, x):
    return whole(told1, (how, least), (r, x))


@intrinsic
def each2(how, least, r, x, y):
    return whole(told2, (how, least), (r, x, y))


def united(met):
    return int(np.bitwise_or.reduce(met, axis=None)) if isinstance(met, np.ndarray) else int(met)


def after(name, met, result):
    """The result of a call, after the errors of its elements were reported."""
    flags = united(met)
    if flags:
        report(name, flags)
    return result


def made1(name, how, least, r, x):
    return after(name, each1(how, least, r, x), r)


def made2(name, how, least, r, x, y):
    return after(name, each2(how, least, r, x, y), r)


def wrapped(name, how, least, r, x, y):
    return after(name, wrap_flags(how, least, r, as_type(x, r.dtype), as_type(y, r.dtype)), r)


def folded(name, r, a):
    """Report the errors of a reduction, found from its operand as a whole and its result."""
    if any_element(~np.isfinite(r)):
        report_fold(name, any_element(np.isnan(r)), any_element(np.isinf(r)), any_element(np.isnan(a)),
                    any_element(np.isinf(a)))
    return r


def multiplied(name, r, x, y):
    if any_element(~np.isfinite(r)):
        report_fold(name, any_element(np.isnan(r)), any_element(np.isinf(r)), any_element(np.isnan(x))
                    or any_element(np.isnan(y)),
                    any_element(np.isinf(x)) or any_element(np.isinf(y)))
    return r


def report_fold(name, nan, infinite, unknown, given):
    """Report the errors of a reduction or product. nan, infinite: whether the result contains nan or an infinity;
    unknown, given: whether the operands contain nan or an infinity."""
    flags = 0
    if nan and not unknown:
        flags = int(INVALID)
    if not given and (infinite or flags):
        flags |= int(OVER)
    if flags:
        report(name, flags)


def narrowing_flags(t, x):
    """The error flags of converting a number to a shorter float."""
    return result_flags(False, as_type(x, t), np.isfinite(x), np.isnan(x))


def integer_flags(low, high, x):
    """The error flags of converting a number to an integer; truncating a fraction is no error."""
    x = np.float64(x)
    return (~(((x > low - 1.0) | (x == low)) & (x < high))) * INVALID


_SPAN = {8: 32, 16: 32, 32: 32, 64: 64}  # bits of the integers to which the machine converts floats


# ---------------------------------------------------------------- errors of each operation

_POLES = (np.log, np.log2, np.log10, np.log1p, np.arctanh, np.reciprocal)
_SILENT = {np.maximum, np.minimum, np.fmax, np.fmin, np.copysign, np.sign, np.heaviside, np.rint, np.floor, np.ceil,
           np.trunc, np.spacing, np.negative, np.positive, np.fabs, np.conjugate, np.frexp, np.modf}
_DIVISIONS = (np.floor_divide, np.remainder, np.fmod, np.divmod)


def _how(function, found) -> tuple[str, int | None] | None:
    """(the test that an element of the result needs, the least integer of its type); None where no error can happen."""
    kind, t = kind_of(found.outputs[0]), found.inputs[0]
    if k.is_time(t):
        return None
    if kind in "iu":
        least = _least(t)
        if function in _DIVISIONS:
            return "integers", least if function in (np.floor_divide, np.divmod) else None
        return ("integer", None) if function is np.reciprocal else None
    if kind not in "fc" or function in _SILENT or function is np.absolute and kind_of(t) != "c":
        return None
    if function is np.divmod:
        return "pair", None
    if kind == "c" and function in (np.add, np.subtract):
        return "parts", None
    if kind == "c" and function in (np.multiply, np.square):
        return "product", None
    if function in (np.divide, np.floor_divide):
        return "divisor", None
    if function in (np.power, np.float_power):
        return "base", None
    return "pole" if function in _POLES else "", None


def _least(t) -> int | None:
    return int(np.iinfo(dtype_of(t)).min) if isinstance(t, k.NpInt) and t.signed else None


def _fixed(how, least) -> list[Expr]:
    return [Const(k.Str, how), Const(k.NoneType, None) if least is None else Const(k.Int, least)]


def watched_ufunc(function: np.ufunc, args, kwargs, result: Expr) -> Expr:
    """The `result` of a call of a ufunc, with a report of the floating-point errors of its elements."""
    operands = args[:function.nin]
    if type(result) is Throw or function.nin > 2 or any(not is_array(x) and not k.is_scalar(x.type) for x in operands):
        return result
    given = elementwise.bound(function, args, kwargs)
    types = tuple(map(element_type, operands))
    try:
        found = loop(function, types, given.dtype, given.casting, tuple(x and x.type.dtype for x in given.outs))
    except Mismatch:  # comparisons of integers of different signs
        return result
    how = _how(function, found)
    if how is None:
        return result
    text = Const(k.Str, function.__name__)
    if not given.outs and given.where is None and given.dtype is None and function.nout == 1:
        return Call(made1 if function.nin == 1 else made2, text, *_fixed(*how), result, *operands)
    kernel, fixed = _AGAIN[function.nin], [*_fixed(*how),
                                           constant_of(function if given.dtype is None else typed(function, found))]
    read = listed = list(operands)
    if given.where is not None:
        kernel, read = _MASKED[function.nin], [given.where, *operands]
    out = given.outs[0] if given.outs and function.nout == 1 else None
    if out is None or not out.type.ndim:
        return Call(after, text, whole(kernel, fixed, read), result)
    if given.where is not None:
        listed, shaped = [*operands, out, given.where], [given.where, out, *operands]
    else:
        listed, shaped = [*operands, out], operands
    met = Nest(loops.mapped, [Apply(TUPLE_MAKE, *elementwise.shape_into(out, shaped, listed), cls=None)], kernel, fixed,
               [elementwise.item(x) for x in read], shape=0, ndim=out.type.ndim)
    return Call(after, text, met, result)


def watched_scalars(function: np.ufunc, operands, result: Expr) -> Expr:
    """The result of an operator on NumPy numbers, with a report of its errors."""
    if type(result) is Throw:
        return result
    found = loop(function, tuple(x.type for x in operands))
    name, t = Const(k.Str, f"scalar {function.__name__}"), found.outputs[0]
    if isinstance(t, k.NpInt) and function in (np.add, np.subtract, np.multiply):
        return Call(wrapped, name, *_fixed(function.__name__, _least(t)), result, *operands)
    if isinstance(t, k.NpInt) and function in (np.negative, np.absolute):
        return (result if function is np.absolute and not t.signed
                else Call(made1, name, *_fixed(function.__name__, _least(t)), result, *operands))
    how = _how(function, found)
    return (result if how is None
            else Call(made1 if len(operands) == 1 else made2, name, *_fixed(*how), result, *operands))


def watched_fold(name: str, a: Expr, result: Expr) -> Expr:
    """The result of a sum or product of an array, whole or along axes, with a report of its errors."""
    return (Call(folded, Const(k.Str, name), result, a) if is_array(a) and kind_of(a.type.dtype) in "fc"
            and type(result) is not Throw else result)


def watched_product(name: str, x: Expr, y: Expr, result: Expr) -> Expr:
    """The result of a product of matrices and vectors, with a report of its errors."""
    if (type(result) is Throw or not (is_array(x) and is_array(y))
        or {kind_of(x.type.dtype), kind_of(y.type.dtype)}.isdisjoint("fc")):
        return result
    return Call(multiplied, Const(k.Str, name), result, x, y)


def watched_cast(x: Expr, t: k.Type, result: Expr) -> Expr:
    """The result of converting NumPy numbers to type t, with a report of its errors."""
    source = element_type(x)
    if type(result) is Throw or not isinstance(source, k.NpFloat):
        return result
    if isinstance(t, k.NpFloat) and t.bits < source.bits:
        met = whole(narrowing_flags, [Const(k.DType(t), dtype_of(t))], [x])
    elif isinstance(t, k.NpInt):
        bits = min(_SPAN[t.bits] * (1 if t.signed or t.bits < 32 else 2), 64)
        met = whole(integer_flags, [Const(k.Float, -2.0 ** (bits - 1)),
                                 Const(k.Float, 2.0 ** (64 if t is k.uint64 else bits - 1))], [x])
    else:
        return result
    return Call(after, Const(k.Str, "cast"), met, result)


CALLS = {np.errstate: _errstate}
METHODS: dict = {}
