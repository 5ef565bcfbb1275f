"""NumPy's dates and durations (datetime64, timedelta64): what ufuncs do with them, their units, how they are made.

A value is a 64-bit number of units, the least of which is NaT. A rule takes the numbers out (a cast that costs
nothing), computes with integers, and puts NaT where an operand is NaT. The operands come in the units of NumPy's loop:
NumPy itself says which those are (ufuncs.py), and `converted` changes units.
"""
from __future__ import annotations

import functools
import math
from typing import Callable

import numpy as np

from ....infer.meaning import Apply, Const, Expr, Mismatch, Throw
from ....ops.arith import (BAND, BOR, FDIV, FMUL, IABS, IADD, IADD_CK, IEQ, IFLOORDIV, IGE, IGT, ILE, ILT, IMOD, IMUL,
                           IMUL_CK, INE, INEG, ISUB, ISUB_CK, ITRUNCDIV)
from ....ops.structure import SELECT, TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import NpTime, float64, int64, is_time
from ....types.lattice import dtype_of, type_of_dtype
from ...build import apply, cast, convert, type_name
from ..elementwise import ufuncs
from ..arrays.creation import scalar_of

__all__ = ["RULES", "CALLS", "METHODS", "converted", "element", "assigned", "find_binary", "find_unary", "find_compare",
           "unlike", "nat", "target", "attribute", "method", "SCALAR_METHODS"]

NAT = Const(int64, np.int64(-(1 << 63)))
ZERO, ONE = Const(int64, np.int64(0)), Const(int64, np.int64(1))
NAN = Const(float64, np.float64("nan"))
AS_NUMBER = "x.astype(np.int64) is the number of units"


def nat(t: NpTime) -> Const:
    return Const(t, dtype_of(t).type("NaT", np.datetime_data(dtype_of(t))))


_CHECKED = {IADD: (IADD_CK, np.add, 1), ISUB: (ISUB_CK, np.subtract, -1), IMUL: (IMUL_CK, np.multiply, 2)}


@functools.cache
def overflow_text(op, kinds: str) -> str | None:
    """What NumPy says where the operation leaves 64 bits; None where it wraps, as before NumPy 2.5. kinds: of the
    operands, "" of a change of units."""
    top = np.int64((1 << 63) - 1)
    try:
        if kinds:
            x, y = (n.view(f"{kind}8[s]") if kind in "mM" else n
                    for n, kind in zip((top, np.int64(_CHECKED[op][2])), kinds))
            _CHECKED[op][1](x, y)
        else:
            top.view("m8[D]").astype("m8[s]")
    except OverflowError as error:
        return str(error)
    return None


def _computed(op, kinds: str, a: Expr, b: Expr) -> Expr:
    """op of numbers that are not NaT, checked where NumPy checks."""
    text = overflow_text(op, kinds)
    if text is None:
        return apply(op, a, b)
    return cast(apply(_CHECKED[op][0], cast(a, k.Int), cast(b, k.Int), message=text), int64)


def _sound(a: Expr, wrong: Expr, checks: str | None) -> Expr:
    """The number where all are dates; 0 where one is not and the operation is checked."""
    return a if checks is None else apply(SELECT, wrong, ZERO, a)


def _number(x: Expr) -> Expr:
    return cast(x, int64)


def _is_nat(a: Expr) -> Expr:
    return apply(IEQ, a, NAT)


def _any_nat(*numbers: Expr) -> Expr:
    found = _is_nat(numbers[0])
    for a in numbers[1:]:
        found = apply(BOR, found, _is_nat(a))
    return found


def duration(t: NpTime) -> NpTime:
    """The type of a difference of dates."""
    return NpTime("m", t.unit, t.count)


# ---------------------------------------------------------------- units

_PER = {"W": 7 * 86400, "D": 86400, "h": 3600, "m": 60, "s": 1}  # seconds
_PARTS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}  # of a second
_MONTHS = {"Y": 12, "M": 1}
_CYCLE_DAYS, _CYCLE_MONTHS = 146097, 4800  # the calendar repeats after 400 years


def _ratio(s: str, t: str) -> tuple[int, int]:
    """One unit s in units t, as a fraction; months of durations have the mean length of those of the calendar."""
    if s in _MONTHS and t in _MONTHS:
        return _MONTHS[s], _MONTHS[t]
    if s in _MONTHS:
        up, down = _ratio("D", t)
        return _MONTHS[s] * _CYCLE_DAYS * up, _CYCLE_MONTHS * down
    if t in _MONTHS:
        return _ratio(t, s)[::-1]
    up, down = _PER.get(s, 1) * _PARTS.get(t, 1), _PER.get(t, 1) * _PARTS.get(s, 1)
    return up // math.gcd(up, down), down // math.gcd(up, down)


def _scaled(a: Expr, up: int, down: int) -> Expr:
    """a * up / down, rounding down, as NumPy's casts compute it: the product may wrap, the sign of a decides what
    rounds it down."""
    negative = apply(ILT, a, ZERO)
    common = math.gcd(up, down)
    if up != common:
        a = _computed(IMUL, "", a, _of(up // common))
    if down == common:
        return a
    lower = apply(SELECT, negative, apply(ISUB, a, _of(down // common - 1)), a)
    return apply(ITRUNCDIV, lower, _of(down // common))


def converted(x: Expr, t: NpTime) -> Expr:
    """A date or duration in another unit, as astype converts it: rounding down. Between dates and durations, and from
    or to the generic unit, the number stays."""
    s = x.type
    if (s.unit, s.count) == (t.unit, t.count) or s.kind != t.kind or "generic" in (s.unit, t.unit):
        return cast(_number(x), t)
    try:
        np.empty(0, dtype_of(s)).astype(dtype_of(t))
    except OverflowError as error:
        raise Mismatch(str(error), exception=OverflowError) from None
    number = _number(x)
    a = _sound(number, _is_nat(number), overflow_text(IMUL, ""))
    if s.kind == "M" and (s.unit in _MONTHS) != (t.unit in _MONTHS):
        if s.unit in _MONTHS:
            days = _days(_by(a, _MONTHS[s.unit] * s.count))
            up, down = _ratio("D", t.unit)
            found = _over(_over(_by(days, up), down), t.count)  # which NumPy does not check
        else:
            up, down = _ratio(s.unit, "D")
            found = _over(_months(_over(_by(a, up * s.count), down)), _MONTHS[t.unit] * t.count)
    else:
        up, down = _ratio(s.unit, t.unit)
        found = _scaled(a, up * s.count, down * t.count)
    return cast(apply(SELECT, _is_nat(number), NAT, found), t)


# The civil calendar by cycles of 400 years that begin on the first of March (H. Hinnant, chrono-compatible date
# algorithms).
# Written as expressions: a call has no type before inference has looked at it, and rules ask for the types of dates.

def _days(months: Expr) -> Expr:
    """From 1970-01-01 to the first of the month, counted from January 1970."""
    m = _plus(months, 23638)  # from March of the year 0
    year = _over(m, 12)
    cycle = _over(year, 400)
    of_cycle = _plus(year, _by(cycle, -400))
    leaps = _plus(_over(of_cycle, 4), _by(_over(of_cycle, 100), -1))
    of_year = _over(_plus(_by(_plus(m, _by(year, -12)), 153), 2), 5)
    return _plus(_plus(_plus(_by(cycle, 146097), _by(of_cycle, 365)), _plus(leaps, of_year)), -719468)


def _months(days: Expr) -> Expr:
    """From January 1970 to the month of the day, counted from 1970-01-01."""
    d = _plus(days, 719468)
    cycle = _over(d, 146097)
    day = _plus(d, _by(cycle, -146097))
    leaps = _plus(_plus(_over(day, 36524), _by(_over(day, 1460), -1)), _by(_over(day, 146096), -1))
    year = _over(_plus(day, leaps), 365)
    of_year = _plus(_plus(day, _by(year, -365)), _plus(_over(year, 100), _by(_over(year, 4), -1)))
    month = _over(_plus(_by(of_year, 5), 2), 153)
    return _plus(_plus(_by(cycle, 4800), _by(year, 12)), _plus(month, -23638))


def _of(x) -> Expr:
    return x if isinstance(x, Expr) else Const(int64, np.int64(x))


def _plus(x, y):
    return apply(IADD, x, _of(y))


def _by(x, y):
    return x if y == 1 else apply(IMUL, x, _of(y))


def _over(x, y):
    return x if y == 1 else apply(IFLOORDIV, x, _of(y))


# ---------------------------------------------------------------- ufuncs


def _with_nat(op, result):
    """An integer operation; NaT where an operand is NaT. result: the type of the result, from those of the operands."""

    def rule(*xs):
        numbers, kinds = [_number(x) for x in xs], "".join([x.type.kind for x in xs])
        wrong, checks = _any_nat(*numbers), overflow_text(op, kinds)
        found = apply(SELECT, wrong, NAT, _computed(op, kinds, *[_sound(a, wrong, checks) for a in numbers]))
        return cast(found, result(*[x.type for x in xs]))

    return rule


def _plain(op):
    """An integer operation that keeps NaT by itself."""
    return lambda *xs: cast(apply(op, *map(_number, xs)), xs[0].type)


def _relation(op):
    """False where an operand is NaT, which is below all other numbers."""
    lower_first = op in (ILT, ILE, IEQ)

    def rule(x, y):
        a, b = _number(x), _number(y)
        return cast(apply(BAND, apply(op, a, b), apply(INE, a if lower_first else b, NAT)), k.bool_)

    return rule


def _differs(x, y):
    a, b = _number(x), _number(y)
    return cast(apply(BOR, apply(INE, a, b), _is_nat(a)), k.bool_)


def _extreme(op, nat_is_greatest):
    """nat_is_greatest: NaT is above all numbers, not below: those less one are compared, and kept, which LLVM knows as
    a maximum."""

    def rule(x, y):
        a, b = _number(x), _number(y)
        if not nat_is_greatest:
            return cast(apply(SELECT, apply(op, a, b), a, b), x.type)
        p, q = apply(ISUB, a, ONE), apply(ISUB, b, ONE)
        return cast(apply(IADD, apply(SELECT, apply(op, p, q), p, q), ONE), x.type)

    return rule


def _times_int(x, n):
    a = _number(x)
    found = _computed(IMUL, "mi", _sound(a, _is_nat(a), overflow_text(IMUL, "mi")), n)
    return cast(apply(SELECT, _is_nat(a), NAT, found), x.type)


def _by_int(x, n):
    """Rounded towards zero; NaT where n is 0."""
    a = _number(x)
    return cast(apply(SELECT, apply(BOR, _is_nat(a), apply(IEQ, n, ZERO)), NAT, apply(ITRUNCDIV, a, n)), x.type)


def _with_float(op):
    """NaT where the result is not finite, or too big: that is what the cast gives."""

    def rule(x, y):
        a = _number(x)
        return cast(apply(SELECT, _is_nat(a), NAT, cast(apply(op, cast(a, float64), y), int64)), x.type)

    return rule


def _ratio_of(x, y):
    a, b = _number(x), _number(y)
    return apply(SELECT, _any_nat(a, b), NAN, apply(FDIV, cast(a, float64), cast(b, float64)))


def _quotient(x, y):
    a, b = _number(x), _number(y)
    return apply(SELECT, _any_nat(a, b), ZERO, apply(IFLOORDIV, a, b))


def _remainder(x, y):
    a, b = _number(x), _number(y)
    return cast(apply(SELECT, apply(BOR, _any_nat(a, b), apply(IEQ, b, ZERO)), NAT, apply(IMOD, a, b)), x.type)


_SIGN_IS_FLOAT = np.sign(np.timedelta64(1, "D")).dtype.kind == "f"  # from NumPy 2.5 on


def _sign(x):
    a = _number(x)
    if _SIGN_IS_FLOAT:
        above, below = (apply(relation, a, ZERO) for relation in (IGT, ILT))
        found = apply(SELECT, above, Const(float64, np.float64(1)),
                      apply(SELECT, below, Const(float64, np.float64(-1)), Const(float64, np.float64(0))))
        return apply(SELECT, _is_nat(a), NAN, found)
    below = apply(SELECT, apply(ILT, a, ZERO), Const(int64, np.int64(-1)), ZERO)
    return cast(apply(SELECT, apply(IGT, a, ZERO), ONE, below), x.type)


def _mirrored(rule):
    return lambda x, y: rule(y, x)


def _first(x, y):
    return x


def _second(x, y):
    return y


def _alike(rule) -> dict[str, Callable]:
    """Two dates, or two durations."""
    return {"MM": rule, "mm": rule}


def _either(rule):
    return {"M": rule, "m": rule}


# ufunc -> kinds of the operands of its loop -> rule
RULES: dict[np.ufunc, dict[str, Callable]] = {
    np.add: {"Mm": _with_nat(IADD, _first), "mM": _with_nat(IADD, _second), "mm": _with_nat(IADD, _first)},
    np.subtract: {"Mm": _with_nat(ISUB, _first), "mm": _with_nat(ISUB, _first),
                  "MM": _with_nat(ISUB, lambda s, t: duration(s))},
    np.multiply: {"mi": _times_int, "im": _mirrored(_times_int), "mf": _with_float(FMUL),
                  "fm": _mirrored(_with_float(FMUL))},
    np.divide: {"mi": _by_int, "mf": _with_float(FDIV), "mm": _ratio_of},
    np.floor_divide: {"mi": _by_int, "mf": _with_float(FDIV), "mm": _quotient},
    np.remainder: {"mm": _remainder},
    np.divmod: {"mm": lambda x, y: Apply(TUPLE_MAKE, _quotient(x, y), _remainder(x, y), cls=None)},
    np.negative: {"m": _plain(INEG)}, np.positive: {"m": lambda x: x}, np.absolute: {"m": _plain(IABS)},
    np.sign: {"m": _sign}, np.isnat: _either(lambda x: cast(_is_nat(_number(x)), k.bool_)),
    np.isnan: _either(lambda x: cast(_is_nat(_number(x)), k.bool_)),
    np.isfinite: _either(lambda x: cast(apply(INE, _number(x), NAT), k.bool_)),
    np.isinf: _either(lambda x: Const(k.bool_, np.bool_(False))), np.less: _alike(_relation(ILT)),
    np.less_equal: _alike(_relation(ILE)), np.greater: _alike(_relation(IGT)), np.greater_equal: _alike(_relation(IGE)),
    np.equal: _alike(_relation(IEQ)), np.not_equal: _alike(_differs), np.maximum: _alike(_extreme(IGE, True)),
    np.minimum: _alike(_extreme(ILE, False)), np.fmax: _alike(_extreme(IGE, False)),
    np.fmin: _alike(_extreme(ILE, True)),
}

_UFUNCS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide, "%": np.remainder,
    "**": np.power, "<<": np.left_shift, ">>": np.right_shift, "&": np.bitwise_and, "|": np.bitwise_or,
    "^": np.bitwise_xor, "<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal, ">": np.greater,
    ">=": np.greater_equal,
}
_UNARY = {"-": np.negative, "+": np.positive, "~": np.invert}


def _found(function, *types):
    loop = ufuncs.loop(function, types)
    return lambda *xs: loop.rule(*map(convert, xs, loop.inputs))


def find_binary(op: str, s: k.Type, t: k.Type):
    """The rule of an operator where an operand is a date or a duration."""
    return _found(_UFUNCS[op], s, t) if op in _UFUNCS else None


def find_compare(op: str, s: k.Type, t: k.Type):
    answer = unlike(op, s, t)
    if answer is None:
        return find_binary(op, s, t)
    return lambda x, y: Const(k.Bool if type(answer) is bool else k.bool_, answer)  # NumPy before 2.3: Python's bool


_SAMPLES = {k.Bool: True, k.Int: 1, k.Float: 1.0, k.Complex: 1j}


def unlike(op: str, s: k.Type, t: k.Type):
    """What == or != says of values of two types that are never equal, as dates and numbers are; None where values
    decide."""
    if op not in ("==", "!="):
        return None
    function = _UFUNCS[op]
    try:
        ufuncs.loop(function, (s, t))
    except Mismatch:
        x, y = (_SAMPLES[u] if u in _SAMPLES else np.zeros((), dtype_of(u))[()] for u in (s, t))
        try:
            return x == y if op == "==" else x != y
        except TypeError:  # units that have nothing in common
            return None
    return None



def find_unary(op: str, t: k.Type):
    return _found(_UNARY[op], t)


# ---------------------------------------------------------------- as elements, and from other values


def element(x: Expr, t: k.Type) -> Expr:
    """x as an element of an array of t, one of the two a date or duration: what casting='unsafe' allows."""
    source = x.type
    if source is k.NoneType:
        return nat(t)
    if (source is k.Float or source is k.Complex) and is_time(t):
        return Throw(ValueError, f"Could not convert object to NumPy {'datetime' if t.kind == 'M' else 'timedelta'}")
    if source is k.Str and is_time(t):
        return _parsed(x, t)
    if not k.is_scalar(source):
        raise Mismatch(f"a value of type {type_name(source)} is no element of an array of {t}")
    return cast(x, t)


def assigned(x: Expr, t: k.Type) -> Expr:
    """x as the value of one element, which NumPy converts with more care than arrays."""
    source = x.type
    if is_time(source) and is_time(t):
        if source.kind == t.kind and not np.can_cast(dtype_of(source), dtype_of(t), "same_kind"):
            raise Mismatch(_no_cast(source, t), "convert it with x.astype(...)")
    elif is_time(source) and t is not k.bool_:
        raise Mismatch(f"a {source} as an element of an array of {t} is not compiled", AS_NUMBER)
    return element(x, t)


def _no_cast(s: NpTime, t: NpTime) -> str:
    units = [str(dtype_of(u)).partition("64")[2] for u in (s, t)]
    return (f"Cannot cast NumPy {dtype_of(s).type.__name__} scalar from metadata {units[0]} to {units[1]} according "
            f"to the rule 'same_kind'")


def _parsed(x: Expr, t: NpTime) -> Expr:
    if not x.known:
        raise Mismatch("text as a date is compiled where it is constant",
                       "make the date outside, or write the text into the call")
    return _made(dtype_of(t).type, x.value, np.datetime_data(dtype_of(t)))


def _made(cls, *args) -> Expr:
    """The constant that NumPy makes of constants."""
    try:
        value = cls(*args)
    except (ValueError, TypeError, OverflowError) as error:
        return Throw(type(error), str(error))
    return Const(type_of_dtype(value.dtype), value)


def _unit(args, kwargs, kind):
    """The type with the unit of a call, None where it has none."""
    given = args[1] if len(args) > 1 else None
    if given is None or given.type is k.NoneType:
        return None
    if not given.known or not isinstance(given.value, (str, tuple)):
        raise Mismatch("the unit of a date must be known at compile time", "write it as a text: 'D', 's', 'ns', ...")
    try:
        return NpTime(kind, *np.datetime_data(np.dtype((f"{kind}8[{given.value}]") if type(given.value) is str
                                                       else _pair(kind, given.value))))
    except TypeError as error:
        raise Mismatch(str(error)) from None


def _pair(kind, pair):
    return f"{kind}8[{pair[1]}{pair[0]}]"


def _constructor(cls, kind):
    name = "datetime" if kind == "M" else "timedelta"

    def rule(args, kwargs):
        if kwargs or len(args) > 2:
            raise Mismatch(f"{cls.__name__}() takes a value and a unit")
        if not args:
            return _made(cls)
        x, unit = args[0], _unit(args, kwargs, kind)
        if x.known and (type(x.value) in (int, bool, str) or x.value is None or isinstance(x.value, np.generic)):
            if kind == "M" and x.value in ("now", "today"):
                raise Mismatch(f"np.datetime64({x.value!r}) is not compiled", "pass it as an argument")
            return _made(cls, x.value, *() if unit is None else (np.datetime_data(dtype_of(unit)),))
        s = x.type
        if isinstance(s, NpTime) and s.kind == kind:
            if unit is None:
                return x
            if not np.can_cast(dtype_of(s), dtype_of(unit), "same_kind"):
                raise Mismatch(_no_cast(s, unit), "convert it with x.astype(...)")
            return cast(x, unit)
        if s is k.Int or s is k.Bool or isinstance(s, k.NpInt) and kind == "m":
            if unit is None and kind == "M":
                return Throw(ValueError, "Converting an integer to a NumPy datetime requires a specified unit")
            return cast(x, unit or NpTime(kind))
        if s is k.Str:
            raise Mismatch(f"np.{cls.__name__} of a text is compiled where it is constant",
                           "pass the date as an argument")
        if k.is_scalar(s):
            return Throw(ValueError, f"Could not convert object to NumPy {name}")
        raise Mismatch(f"np.{cls.__name__} of a {type_name(s)} is not compiled", "use a.astype(...) for arrays")

    return rule


def _datetime_data(args, kwargs):
    (x,) = [*args, *kwargs.values()]
    t = x.type.scalar if isinstance(x.type, k.DType) else None
    if x.known and type(x.value) is str:
        t = type_of_dtype(np.dtype(x.value))
    if not isinstance(t, NpTime):
        raise Mismatch("cannot get datetime metadata from non-datetime type")
    return Const(k.Tuple((k.Str, k.Int)), (t.unit, t.count))


def _outside(name):
    def rule(args, kwargs):
        raise Mismatch(f"np.{name} is not compiled", "call it outside the compiled function")

    return rule


CALLS = {
    np.datetime64: _constructor(np.datetime64, "M"), np.timedelta64: _constructor(np.timedelta64, "m"),
    np.datetime_data: _datetime_data, np.datetime_as_string: _outside("datetime_as_string"),
}
METHODS: dict = {}


# ---------------------------------------------------------------- methods of one date or duration


def target(source: k.Type, t: k.Type) -> k.Type:
    """What astype(t) gives: a dtype without a unit takes that of dates and durations."""
    if isinstance(t, NpTime) and t.unit == "generic" and isinstance(source, NpTime):
        return NpTime(t.kind, source.unit, source.count)
    return t


def _dtype_argument(name, args, kwargs):
    given = [*args, *kwargs.values()]
    if len(given) != 1 or not set(kwargs) <= {"dtype"}:
        raise Mismatch(f"{name}() of a date is compiled with a dtype only")
    return scalar_of(given[0])


def _astype(x, args, kwargs):
    return cast(x, target(x.type, _dtype_argument("astype", args, kwargs)))


def _view(x, args, kwargs):
    t = _dtype_argument("view", args, kwargs)
    if t is not int64 and not is_time(t):
        raise Mismatch(f"a view of a date as {t} is not compiled", "view it as np.int64")
    return cast(_number(x), t)


def _itself(x, args, kwargs):
    if args or kwargs:
        raise Mismatch("this method of a date is compiled without arguments only")
    return x


SCALAR_METHODS = {"astype": _astype, "view": _view, "copy": _itself, "min": _itself, "max": _itself, "squeeze": _itself}


def attribute(x: Expr, name: str) -> None:
    """x.name where it is a method, which has no expression."""
    if name not in SCALAR_METHODS:
        cls = dtype_of(x.type).type
        if not hasattr(cls, name):
            raise Mismatch(f"'numpy.{cls.__name__}' object has no attribute '{name}'", "", AttributeError)
        raise Mismatch(f"'numpy.{cls.__name__}.{name}' is not compiled", AS_NUMBER)


def method(x: Expr, name: str, args, kwargs) -> Expr:
    return SCALAR_METHODS[name](x, args, kwargs)
