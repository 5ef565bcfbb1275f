"""Leaf arithmetic: one record per operation, with its type rule, effects, Python meaning, lowering and derivative.

Values of Python types are Python numbers and those of NumPy types are NumPy scalars, in `eval` too. The plain integer
operations wrap and are total (division by zero gives 0, shifts by too much give 0 or the sign), so that they may be
folded, shared and hoisted; the `_ck` ones raise OverflowError where a Python int leaves 64 bits. The result types and
checks of Python's and NumPy's operators are in lib/. Conversions are in conversions.py, whose names this module offers
too.
"""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..ir.core import CALL, CHEAP, CHECKS_FIRST, EXPENSIVE, FREE, INEXACT, MODERATE, PURE, RAISES, SINGULAR, Op
from ..types import kinds as k
from .conversions import (
    CAST as CAST, CONVERSIONS, FIT as FIT, FITS as FITS, FITTED as FITTED, INT_MAX, INT_MIN, NARROW as NARROW,
    PYTHON_CLASS as PYTHON_CLASS, TRUNCATE as TRUNCATE, WHOLE as WHOLE, numpy_class as numpy_class)
from .effects import NONDIFF, STRUCTURAL, UNVARIED
from .lowering import compare, escaped, is_signed, llvm, negated
from .signature import signature

# ---------------------------------------------------------------- meaning


def wrap(n: int) -> int:
    """The 64-bit two's complement value of n."""
    return ((n - INT_MIN) & 0xFFFFFFFFFFFFFFFF) + INT_MIN


def _integer(function):
    """The Python meaning of a wrapping operation: NumPy's own for its scalars, `function` modulo 2**64 for Python
    ints."""

    def meaning(*args):
        if type(args[0]) is int:
            return wrap(function(*args))
        with np.errstate(all="ignore"):
            return function(*args)

    return meaning


def _checked(function, symbol):
    def meaning(*args, message=None, by=None, nonnegative=None):
        result = function(*args)
        if type(args[0]) is int and not INT_MIN <= result <= INT_MAX:
            raise OverflowError(message or overflow_text(symbol) % args)
        return result

    return meaning


def overflow_text(symbol: str) -> str:
    """The message of an OverflowError that CPython would not raise, as a format for the operands."""
    shown = "-(%d)" if symbol == "-()" else f"%d {symbol} %d"
    return (f"integer overflow: {shown} does not fit in 64 bits; "
            "use floats, or let it wrap: np.uint64, or njit(overflow=\"wrap\")")


_ABS_TEXT = "integer overflow: abs(-9223372036854775808) does not fit in 64 bits"


def _abs_checked(x):
    if x == INT_MIN:
        raise OverflowError(_ABS_TEXT)
    return abs(x)


def _floating(ufunc):
    """The Python meaning of an IEEE operation, which never raises."""

    def meaning(*args):
        with np.errstate(all="ignore"):
            result = ufunc(*args)
        return float(result) if type(args[0]) is float else result

    return meaning


def _relation(function):
    return lambda x, y: bool(function(x, y))


def _floordiv(x, y):
    return x // y if type(x) is not int else 0 if y == 0 else x // y


def _truncdiv(x, y):
    floor = _floordiv(x, y)
    return floor + type(x)(1) if y and (x < 0) != (y < 0) and floor * y != x else floor


def _mod(x, y):
    return x % y if type(x) is not int else 0 if y == 0 else x % y


def _shl(x, y):
    if type(x) is not int:
        return x << y
    return x << y if 0 <= y < 64 else 0


def _shr(x, y):
    if type(x) is not int:
        return x >> y
    return x >> y if 0 <= y < 64 else -(x < 0)


def _shl_checked(x, y):
    result = x << y if 0 <= y < 64 or x == 0 and y >= 0 else INT_MAX + 1
    if not INT_MIN <= result <= INT_MAX:
        raise OverflowError(overflow_text("<<") % (x, y))
    return result


def _truediv(x, y):
    return x / y if y else FDIV(float(x), 0.0)


def _neg_bool(x):
    return not x if type(x) is bool else ~x


def _complex_make(re, im):
    if type(re) is float:
        return complex(re, im)
    value: Any = np.empty((), np.complex64 if type(re) is np.float32 else np.complex128)
    value.real, value.imag = re, im
    return value[()]


def _popcount(x):
    return (int(x) & (1 << _bits(x)) - 1).bit_count()


def _leading_zeros(x):
    return _bits(x) - (int(x) & (1 << _bits(x)) - 1).bit_length()


def _bits(x) -> int:
    return 64 if type(x) is int else x.dtype.itemsize * 8


def _check_nonzero(x, *, message):
    if x == 0:
        raise ZeroDivisionError(message)
    return x


def _check_nonneg(x, *, message):
    if x < 0:
        raise ValueError(message)
    return x


# ---------------------------------------------------------------- lowering


def _width(inst, e):
    return e.scalar(inst.args[0].type)


def _checked_lower(name, symbol):
    """The lowering of a checked operation. `name`: LLVM's `<name>.with.overflow` family; only Python ints are ever
    checked."""
    usual = overflow_text(symbol).replace("%d", "%lld")

    def lower(e, inst, x, y):
        text = escaped(inst.attrs["message"]) if "message" in inst.attrs else usual
        return _overflowing(e, inst, name, x, y, text, x, y)

    return lower


def _overflowing(e, inst, name, x, y, text, *shown):
    pair = e.assign(f"call {{i64, i1}} @llvm.s{name}.with.overflow.i64(i64 {x[0]}, i64 {y[0]})")
    result = e.assign(f"extractvalue {{i64, i1}} {pair}, 0")
    bad = e.assign(f"extractvalue {{i64, i1}} {pair}, 1")
    good = e.assign(f"xor i1 {bad}, true")
    e.raise_unless(good, inst, "OverflowError", text, *(f"i64 {v[0]}" for v in shown))
    return [result]


def _neg_checked_lower(e, inst, x):
    good = e.assign(f"icmp ne i64 {x[0]}, {INT_MIN}")
    e.raise_unless(good, inst, "OverflowError", overflow_text("-()").replace("%d", "%lld"), f"i64 {x[0]}")
    return [e.assign(f"sub i64 0, {x[0]}")]


def _neg_lower(e, inst, x):
    return [e.assign(f"sub {_width(inst, e)} 0, {x[0]}")]


def _not_lower(e, inst, x):
    return [e.assign(f"xor {_width(inst, e)} {x[0]}, -1")]


def _abs_lower(e, inst, x):
    width = _width(inst, e)
    if not is_signed(inst.args[0].type):
        return x
    return [e.assign(f"call {width} @llvm.abs.{width}({width} {x[0]}, i1 false)")]


def _abs_checked_lower(e, inst, x):
    good = e.assign(f"icmp ne i64 {x[0]}, {INT_MIN}")
    e.raise_unless(good, inst, "OverflowError", _ABS_TEXT)
    return _abs_lower(e, inst, x)


def _safe_divisor(e, t, width, x, y):
    """(divisor for which the instruction cannot trap, i1 whether the divisor is zero): MIN / -1 becomes MIN / 1, which
    is the wrapped result."""
    zero = e.assign(f"icmp eq {width} {y}, 0")
    bad = zero
    if is_signed(t):
        minus = e.assign(f"icmp eq {width} {y}, -1")
        least = e.assign(f"icmp eq {width} {x}, {-(1 << int(width[1:]) - 1)}")
        both = e.assign(f"and i1 {minus}, {least}")
        bad = e.assign(f"or i1 {zero}, {both}")
    return e.assign(f"select i1 {bad}, {width} 1, {width} {y}"), zero


def _is_literal(component: str) -> bool:
    return component.lstrip("-").isdigit()


def _divide(e, inst, x, y):
    """(type, width, kind of the truncating division, divisor for which it cannot trap, i1 whether the divisor is 0, or
    None) for integers."""
    t, width = inst.args[0].type, _width(inst, e)
    if "flags" in inst.attrs:
        return t, width, "u" if inst.attrs["flags"] == "nonnegative" else "s", y, None
    literal = _is_literal(y) and y not in ("0", "-1")
    divisor, zero = (y, None) if literal else _safe_divisor(e, t, width, x, y)
    kind = "s" if is_signed(t) else "u"
    return t, width, kind, divisor, zero


def _is_positive(kind, divisor):
    return kind == "s" and divisor.isdecimal() and divisor != "0"


def _floor_by_positive(e, width, x, divisor):
    """Floor division by a positive divisor: where x is negative the result is -1 - (-x - 1) / divisor, which needs no
    remainder."""
    sign = e.assign(f"ashr {width} {x}, {int(width[1:]) - 1}")
    quotient = e.assign(f"udiv {width} {e.assign(f'xor {width} {x}, {sign}')}, {divisor}")
    return e.assign(f"xor {width} {quotient}, {sign}")


def _divided(e, inst, x, y):
    """(quotient, remainder) of 64-bit ints whose signs are not known. Where x is not negative and y is positive, these
    are the results of the processor's unsigned division; processors predict the branches to it, so the tests add no
    latency. A quotient and a remainder of the same operands share one division."""
    found = e.computed.get((x, y))
    if found is None:
        above, plain, signed, done = (e.label(name) for name in ("above", "plain", "signed", "done"))
        e.branch(e.assign(f"icmp sge i64 {e.assign(f'or i64 {x}, {y}')}, 0"), above, signed, likely=True)
        e.start(above)  # a separate branch: LLVM would combine two comparisons before one branch
        e.branch(e.assign(f"icmp ne i64 {y}, 0"), plain, signed, likely=True)
        e.start(plain)
        ours = [e.assign(f"{op} i64 {x}, {y}") for op in ("udiv", "urem")]
        e.jump(done)
        e.start(signed)
        others = [_floordiv_of(e, inst, x, y), _mod_of(e, inst, x, y)]
        e.jump(done)
        e.start(done)
        found = e.computed[x, y] = [e.phi("i64", [(a, plain), (b, signed)]) for a, b in zip(ours, others)]
    return found


def _signs_are_unknown(e, inst, y):
    return (e.scalar(inst.args[0].type) == "i64" and is_signed(inst.args[0].type) and "flags" not in inst.attrs
            and not _is_literal(y))


def _floordiv_lower(e, inst, x, y):
    x, y = x[0], y[0]
    return [_divided(e, inst, x, y)[0] if _signs_are_unknown(e, inst, y) else _floordiv_of(e, inst, x, y)]


def _floordiv_of(e, inst, x, y):
    t, width, kind, divisor, zero = _divide(e, inst, x, y)
    if _is_positive(kind, divisor):
        return _floor_by_positive(e, width, x, divisor)
    quotient = e.assign(f"{kind}div {width} {x}, {divisor}")
    if kind == "s":
        remainder = e.assign(f"srem {width} {x}, {divisor}")
        down = _rounds_down(e, width, remainder, divisor)
        less = e.assign(f"sext i1 {down} to {width}")
        quotient = e.assign(f"add {width} {quotient}, {less}")
    if zero is not None:
        quotient = e.assign(f"select i1 {zero}, {width} 0, {width} {quotient}")
    return quotient


def _truncdiv_lower(e, inst, x, y):
    t, width, kind, divisor, zero = _divide(e, inst, x[0], y[0])
    quotient = e.assign(f"{kind}div {width} {x[0]}, {divisor}")
    return [quotient if zero is None else e.assign(f"select i1 {zero}, {width} 0, {width} {quotient}")]


def _ring_lower(e, width, x, y, flags):
    """x % y for an x that is at most y below or above the range from 0 to y - 1, by comparisons and additions. With the
    flag "near" x may also be further away, which is rare: then the result is computed by a division."""
    def plus(value, condition, opcode):
        return e.assign(f"{opcode} {width} {value}, {e.assign(f'select i1 {condition}, {width} {y}, {width} 0')}")

    if y.isdecimal() and "near" not in flags:  # the number in the range is the smaller one without sign
        for flag, opcode in (("nonnegative", "add"), ("less", "sub")):
            if flag not in flags:
                moved = e.assign(f"{opcode} {width} {x}, {y}")
                x = e.assign(f"call {width} @llvm.umin.{width}({width} {x}, {width} {moved})")
        return x
    rest = x if "nonnegative" in flags else plus(x, e.assign(f"icmp slt {width} {x}, 0"), "add")
    if "less" not in flags:
        rest = plus(rest, e.assign(f"icmp sge {width} {rest}, {y}"), "sub")
    if "near" not in flags:
        return rest
    fast, slow, done = e.label("near"), e.label("far"), e.label("done")
    e.branch(e.assign(f"icmp ult {width} {rest}, {y}"), fast, slow, likely=True)
    e.start(fast)
    e.jump(done)
    e.start(slow)
    remainder = e.assign(f"srem {width} {x}, {y}")
    divided = plus(remainder, _rounds_down(e, width, remainder, y), "add")
    e.jump(done)
    e.start(done)
    return e.phi(width, [(rest, fast), (divided, slow)])


def _mod_lower(e, inst, x, y):
    x, y = x[0], y[0]
    flags = inst.attrs.get("flags", "").split()
    if "ring" in flags or "near" in flags:
        return [_ring_lower(e, _width(inst, e), x, y, flags)]
    return [_divided(e, inst, x, y)[1] if _signs_are_unknown(e, inst, y) else _mod_of(e, inst, x, y)]


def _mod_of(e, inst, x, y):
    t, width, kind, divisor, zero = _divide(e, inst, x, y)
    if _is_positive(kind, divisor) or _is_positive("s", divisor) and "flags" in inst.attrs:
        # LLVM combines the subtraction with sums, which it does not do for its own remainder
        quotient = (_floor_by_positive(e, width, x, divisor) if kind == "s"
                    else e.assign(f"udiv {width} {x}, {divisor}"))
        return e.assign(f"sub {width} {x}, {e.assign(f'mul {width} {quotient}, {divisor}')}")
    remainder = e.assign(f"{kind}rem {width} {x}, {divisor}")
    if kind == "s":
        down = _rounds_down(e, width, remainder, divisor)
        more = e.assign(f"select i1 {down}, {width} {divisor}, {width} 0")
        remainder = e.assign(f"add {width} {remainder}, {more}")
    return remainder


def _rounds_down(e, width, remainder, divisor):
    """i1: whether the truncated quotient must be rounded down: the remainder is not zero and its sign differs from the
    divisor's."""
    nonzero = e.assign(f"icmp ne {width} {remainder}, 0")
    mixed = e.assign(f"xor {width} {remainder}, {divisor}")
    opposite = e.assign(f"icmp slt {width} {mixed}, 0")
    return e.assign(f"and i1 {nonzero}, {opposite}")


def _floordiv_checked_lower(e, inst, x, y):
    if not (_is_literal(y[0]) and y[0] != "-1"):
        minus = e.assign(f"icmp ne i64 {y[0]}, -1")
        least = e.assign(f"icmp ne i64 {x[0]}, {INT_MIN}")
        good = e.assign(f"or i1 {minus}, {least}")
        e.raise_unless(good, inst, "OverflowError", overflow_text("//").replace("%d", "%lld"),
                       f"i64 {x[0]}", f"i64 {y[0]}")
    return _floordiv_lower(e, inst, x, y)


def _small(e, x):
    shifted = e.assign(f"add i64 {x}, {1 << 53}")
    return e.assign(f"icmp ule i64 {shifted}, {1 << 54}")


def _truediv_lower(e, inst, x, y):
    """A double division where both operands are exact as doubles; else a correctly rounded long division."""
    good = e.assign(f"and i1 {_small(e, x[0])}, {_small(e, y[0])}")
    fast, slow, done = e.label("fast"), e.label("slow"), e.label("done")
    e.branch(good, fast, slow, likely=True)
    e.start(fast)
    left = e.assign(f"sitofp i64 {x[0]} to double")
    right = e.assign(f"sitofp i64 {y[0]} to double")
    quick = e.assign(f"fdiv double {left}, {right}")
    e.jump(done)
    e.start(slow)
    exact = e.assign(f"call double {e.helper('pyj_int_truediv')}(i64 {x[0]}, i64 {y[0]})")
    e.jump(done)
    e.start(done)
    return [e.phi("double", [(quick, fast), (exact, slow)])]


def _shift_lower(name):
    def lower(e, inst, x, y):
        t, width = inst.args[0].type, _width(inst, e)
        bits = int(width[1:])
        instruction = "shl" if name == "shl" else "ashr" if is_signed(t) else "lshr"
        if inst.attrs.get("flags") == "bounded" or _is_literal(y[0]) and 0 <= int(y[0]) < bits:
            return [e.assign(f"{instruction} {width} {x[0]}, {y[0]}")]
        good = e.assign(f"icmp ult {width} {y[0]}, {bits}")
        if instruction == "ashr":  # a shift by bits - 1 leaves copies of the sign
            count = e.assign(f"select i1 {good}, {width} {y[0]}, {width} {bits - 1}")
            return [e.assign(f"ashr {width} {x[0]}, {count}")]
        count = e.assign(f"select i1 {good}, {width} {y[0]}, {width} 0")
        shifted = e.assign(f"{instruction} {width} {x[0]}, {count}")
        return [e.assign(f"select i1 {good}, {width} {shifted}, {width} 0")]

    return lower


def _shl_checked_lower(e, inst, x, y):
    if y[0] == "1":  # x + x, whose overflow is a flag of the processor
        return _overflowing(e, inst, "add", x, x, overflow_text("<<").replace("%d", "%lld"), x, y)
    result = _shift_lower("shl")(e, inst, x, y)
    back = _shift_lower("shr")(e, inst, result, y)
    good = e.assign(f"icmp eq i64 {back[0]}, {x[0]}")
    e.raise_unless(good, inst, "OverflowError", overflow_text("<<").replace("%d", "%lld"), f"i64 {x[0]}", f"i64 {y[0]}")
    return result


def _count_lower(name: str, *flags: str):
    def lower(e, inst, x):
        width = _width(inst, e)
        count = e.assign(f"call {width} @llvm.{name}.{width}({', '.join([f'{width} {x[0]}', *flags])})")
        return [count if width == "i64" else e.assign(f"zext {width} {count} to i64")]

    return lower


def _check_nonzero_lower(e, inst, x):
    t = inst.args[0].type
    width = e.scalar(t)
    good = e.assign(f"fcmp une {width} {x[0]}, 0.0" if k.is_float(t) else f"icmp ne {width} {x[0]}, 0")
    e.raise_unless(good, inst, "ZeroDivisionError", escaped(inst.attrs["message"]))
    return x


def _check_nonneg_lower(e, inst, x):
    good = e.assign(f"icmp sge i64 {x[0]}, 0")
    e.raise_unless(good, inst, "ValueError", escaped(inst.attrs["message"]))
    return x


def _complex_make_lower(e, inst, re, im):
    return [re[0], im[0]]


# ---------------------------------------------------------------- records


def _op(name, rule, eval, lower, partials=NONDIFF, doc="", effects=PURE, attrs=False, cost=CHEAP, **more):
    return Op(name, signature(rule) if isinstance(rule, str) else rule, effects, eval=eval, lower=lower,
              partials=partials, doc=doc, eval_attrs=attrs, cost=cost, **more)


_CHECKED = "x: int, y: int -> int"
II, FF, BB = "x: I, y: I -> I", "x: F, y: F -> F", "x: B, y: B -> B"

# {flags}: assumptions that a lowering may make at this place (passes/ranges.py). For sums these are LLVM's "nsw" or
# "nuw nsw": where the operation on signed (and unsigned) ints wraps, the result is not used. LLVM would spend a quarter
# of its time on proving that in a function with many loops.
IADD = _op("iadd", II, _integer(operator.add), llvm("add"), doc="iadd {flags} (x, y): x + y, wrapping")
ISUB = _op("isub", II, _integer(operator.sub), llvm("sub"), doc="isub {flags} (x, y): x - y, wrapping")
IMUL = _op("imul", II, _integer(operator.mul), llvm("mul"), doc="imul {flags} (x, y): x * y, wrapping")
INEG = _op("ineg", "x: I -> I", _integer(operator.neg), _neg_lower, doc="-x, wrapping")
IADD_CK = _op("iadd_ck", _CHECKED, _checked(operator.add, "+"), _checked_lower("add", "+"), effects=RAISES,
              attrs=True,
              doc="iadd_ck {message, by} (x, y): x + y; OverflowError beyond 64 bits, with {message} in place of the "
                  "usual text; by: a bound of |y|", wrapping=IADD)
ISUB_CK = _op("isub_ck", _CHECKED, _checked(operator.sub, "-"), _checked_lower("sub", "-"), effects=RAISES,
              attrs=True,
              doc="isub_ck {message, by} (x, y): x - y; OverflowError beyond 64 bits, with {message} in place of the "
                  "usual text; by: a bound of |y|", wrapping=ISUB)
IMUL_CK = _op("imul_ck", _CHECKED, _checked(operator.mul, "*"), _checked_lower("mul", "*"), effects=RAISES,
              attrs=True,
              doc="imul_ck {message, nonnegative} (x, y): x * y; OverflowError beyond 64 bits, with {message} in "
                  "place of the usual text; nonnegative: neither x nor y is negative",
              wrapping=IMUL)
INEG_CK = _op("ineg_ck", "x: int -> int", _checked(operator.neg, "-()"), _neg_checked_lower, effects=RAISES,
              doc="-x; OverflowError for the minimum int", wrapping=INEG)
IABS = _op("iabs", "x: I -> I", _integer(abs), _abs_lower, doc="|x|, wrapping")
IABS_CK = _op("iabs_ck", "x: int -> int", _abs_checked, _abs_checked_lower, effects=RAISES,
              doc="|x|; OverflowError for the minimum int", wrapping=IABS)
IFLOORDIV = _op("ifloordiv", II, _integer(_floordiv), _floordiv_lower,
                doc="ifloordiv {flags} (x, y): x // y, rounding down, wrapping; 0 where y is 0; "
                "positive, nonnegative: see imod", cost=EXPENSIVE)
IFLOORDIV_CK = _op("ifloordiv_ck", "x: int, y: int -> int", _checked(_floordiv, "//"), _floordiv_checked_lower,
                   effects=RAISES, doc="x // y; OverflowError beyond 64 bits; y is not 0",
                   cost=EXPENSIVE, wrapping=IFLOORDIV)
ITRUNCDIV = _op("itruncdiv", II, _integer(_truncdiv), _truncdiv_lower,
                doc="x / y, rounding towards zero, wrapping; 0 where y is 0", cost=EXPENSIVE)
IMOD = _op("imod", II, _integer(_mod), _mod_lower, doc="imod {flags} (x, y): x % y with the sign of y; 0 where y is "
                                                       "0; positive: y > 0; nonnegative: also x >= 0; ring: y > 0 and "
                                                       "-y <= x < 2 * y; less: also x < y; near: as ring, with rare "
                                                       "exceptions", cost=EXPENSIVE)
ITRUEDIV = _op("itruediv", "x: int, y: int -> float", _truediv, _truediv_lower, UNVARIED,
               doc="x / y correctly rounded; inf or nan where y is 0", cost=EXPENSIVE)
IAND = _op("iand", II, _integer(operator.and_), llvm("and"), doc="x & y")
IOR = _op("ior", II, _integer(operator.or_), llvm("or"), doc="x | y")
IXOR = _op("ixor", II, _integer(operator.xor), llvm("xor"), doc="x ^ y")
INOT = _op("inot", "x: I -> I", _integer(operator.invert), _not_lower, doc="~x")
ISHL = _op("ishl", II, _integer(_shl), _shift_lower("shl"),
           doc="ishl {flags} (x, y): x << y, wrapping; 0 where y is outside 0..bits-1; bounded: y is inside")
ISHR = _op("ishr", II, _integer(_shr), _shift_lower("shr"),
           doc="ishr {flags} (x, y): x >> y; only the sign where y is outside 0..bits-1; bounded: y is inside")
ISHL_CK = _op("ishl_ck", "x: int, y: int -> int", _shl_checked, _shl_checked_lower, effects=RAISES,
              doc="ishl_ck {flags} (x, y): x << y for y >= 0; OverflowError beyond 64 bits; bounded: also y <= 63",
              wrapping=ISHL)

POPC = _op("popc", "x: I -> int", _popcount, _count_lower("ctpop"), doc="number of bits that are set", bounds=(0, 64))
CLZ = _op("clz", "x: I -> int", _leading_zeros, _count_lower("ctlz", "i1 false"), bounds=(0, 64),
          doc="number of zero bits above the highest one that is set")

_RELATION = "x: I|B, y: I|B -> bool"
IEQ = _op("ieq", _RELATION, _relation(operator.eq), compare("eq", "eq", "oeq"), doc="x == y of integers or bools")
INE = _op("ine", _RELATION, _relation(operator.ne), compare("ne", "ne", "une"), doc="x != y")
ILT = _op("ilt", _RELATION, _relation(operator.lt), compare("slt", "ult", "olt"),
          doc="x < y, signed or unsigned by their type")
ILE = _op("ile", _RELATION, _relation(operator.le), compare("sle", "ule", "ole"), doc="x <= y")
IGT = _op("igt", _RELATION, _relation(operator.gt), compare("sgt", "ugt", "ogt"), doc="x > y")
IGE = _op("ige", _RELATION, _relation(operator.ge), compare("sge", "uge", "oge"), doc="x >= y")

FADD = _op("fadd", FF, _floating(np.add), llvm("fadd"), lambda b, x, y, out: (b.const(1.0), b.const(1.0)),
           "x + y; {exact}: whatever fastmath says; {loose}: a term of a sum that may be reassociated", cost=MODERATE,
           traits=INEXACT)
FSUB = _op("fsub", FF, _floating(np.subtract), llvm("fsub"), lambda b, x, y, out: (b.const(1.0), b.const(-1.0)),
           "x - y; {exact}, {loose}: as of fadd", cost=MODERATE, traits=INEXACT)
FMUL = _op("fmul", FF, _floating(np.multiply), llvm("fmul"), lambda b, x, y, out: (y, x),
           "x * y; {exact}, {loose}: as of fadd", cost=MODERATE, traits=INEXACT)
FDIV = _op("fdiv", FF, _floating(np.true_divide), llvm("fdiv"),
           lambda b, x, y, out: (inverse := b.fdiv(b.const(1.0), y), b.fneg(b.fmul(out, inverse))),
           "x / y; inf or nan where y is 0; {exact}: as of fadd; {normal}: y and 1 / y are normal numbers where "
           "the result is used, so that a GPU may compute it from an approximate reciprocal", cost=EXPENSIVE,
           traits=SINGULAR | INEXACT)
FREM = _op("frem", FF, _floating(np.fmod), llvm("frem"),
           lambda b, x, y, out: (b.const(1.0), b.fneg(b.trunc(b.fdiv(x, y)))), "C's fmod(x, y): the sign is that of x",
           cost=CALL)
FNEG = _op("fneg", "x: F -> F", _floating(np.negative), llvm("fneg"), lambda b, x, out: (b.const(-1.0),),
           "-x; {exact}: as of fadd", cost=MODERATE)

_FRELATION = "x: F, y: F -> bool"
FEQ = _op("feq", _FRELATION, _relation(operator.eq), compare("eq", "eq", "oeq"), doc="x == y of floats")
FNE = _op("fne", _FRELATION, _relation(operator.ne), compare("ne", "ne", "une"), doc="x != y; True for nan")
FLT = _op("flt", _FRELATION, _relation(operator.lt), compare("slt", "ult", "olt"), doc="x < y")
FLE = _op("fle", _FRELATION, _relation(operator.le), compare("sle", "ule", "ole"), doc="x <= y")
FGT = _op("fgt", _FRELATION, _relation(operator.gt), compare("sgt", "ugt", "ogt"), doc="x > y")
FGE = _op("fge", _FRELATION, _relation(operator.ge), compare("sge", "uge", "oge"), doc="x >= y")

SUMS = frozenset((IADD, ISUB, IADD_CK, ISUB_CK))
SHIFTS = frozenset((ISHL, ISHR, ISHL_CK))
INTEGER_COMPARISONS = (IEQ, INE, ILT, ILE, IGT, IGE)
FLOAT_COMPARISONS = (FEQ, FNE, FLT, FLE, FGT, FGE)
# comparison -> whether the first operand is the smaller one where it holds; none of them holds for nan
FLOAT_ORDERS = {FLT: True, FLE: True, FGT: False, FGE: False}
for _group in (INTEGER_COMPARISONS, FLOAT_COMPARISONS):
    _eq, _ne, _lt, _le, _gt, _ge = _group
    _total = _group is INTEGER_COMPARISONS  # a relation and its negation: with a NaN neither x < y nor x >= y holds
    _eq.relate(_eq, _ne)
    _ne.relate(_ne, _eq)
    _lt.relate(_gt, _ge if _total else None)
    _le.relate(_ge, _gt if _total else None)
    _gt.relate(_lt, _le if _total else None)
    _ge.relate(_le, _lt if _total else None)

BAND = _op("band", BB, operator.and_, llvm("and"), doc="x & y of bools")
BOR = _op("bor", BB, operator.or_, llvm("or"), doc="x | y of bools")
BXOR = _op("bxor", BB, operator.xor, llvm("xor"), doc="x ^ y of bools")
BNOT = _op("bnot", "x: B -> B", _neg_bool, negated, doc="not x")
LIKELY = _op("likely", "x: B -> B", lambda x: x, lambda e, inst, x: x,
             doc="x; a branch on it gets the hint that it is mostly true (passes/simplify.py)")

CHECK_NONZERO = _op("check_nonzero", "x: I|F -> I|F", _check_nonzero, _check_nonzero_lower, STRUCTURAL, effects=RAISES,
                    attrs=True, doc="check_nonzero {message} (x): x; ZeroDivisionError where x is 0",
                    traits=CHECKS_FIRST)
CHECK_NONNEG = _op("check_nonneg", "x: int -> int", _check_nonneg, _check_nonneg_lower, effects=RAISES, attrs=True,
                   doc="check_nonneg {message} (x): x; ValueError where x is negative", traits=CHECKS_FIRST)
# Operations that cost less where the intervals of their operands are known.
RANGED = CONVERSIONS | {CHECK_NONZERO, CHECK_NONNEG, IADD_CK, ISUB_CK, IMUL_CK, INEG_CK, IABS_CK, IFLOORDIV_CK,
                        IFLOORDIV, IMOD, ISHL_CK, ISHL, ISHR}


def _complex_rule(types, attrs):
    if len(types) != 2 or types[0] is not types[1] or types[0] not in _COMPLEX_OF:
        raise TypeError(f"complex_make of {types}: expected two floats of one type")
    return _COMPLEX_OF[types[0]]


def _part_rule(types, attrs):
    if len(types) != 1 or types[0] not in _PART_OF:
        raise TypeError(f"part of {types}: expected a complex")
    return _PART_OF[types[0]]


_COMPLEX_OF = {k.Float: k.Complex, k.float32: k.complex64, k.float64: k.complex128}
_PART_OF = {c: f for f, c in _COMPLEX_OF.items()}
COMPLEX_MAKE = _op("complex_make", _complex_rule, _complex_make, _complex_make_lower, STRUCTURAL,
                   "the complex number of two floats", cost=FREE)
REAL = _op("real", _part_rule, lambda x: x.real, lambda e, inst, x: [x[0]], STRUCTURAL, "real part of a complex",
           cost=FREE)
IMAG = _op("imag", _part_rule, lambda x: x.imag, lambda e, inst, x: [x[1]], STRUCTURAL, "imaginary part of a complex",
           cost=FREE)

ARITH_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
