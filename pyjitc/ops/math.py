"""Elementary functions of floats: one record per function of the C library or LLVM intrinsic.

They are IEEE functions without exceptions (nan and inf are results); the checks of Python's `math` are records of their
own, `check_domain` and `check_range`. `eval` calls the C library's function for a Python float, and
NumPy's for a NumPy scalar, or computes what compiled code does for the functions in ops/elementary.py.
"""
from __future__ import annotations

import ctypes
import math

import numpy as np

from ..ir.core import (CALL, CHEAP, CHECKS_FIRST, ELEMENTARY, EXPENSIVE, FREE, HOST, MODERATE, NEVER_NEGATIVE, PURE,
                       RAISES, ROUNDS, SINGULAR, Op)
from ..types.kinds import complex64
from .effects import NO_RULE, NONDIFF, ROUNDING, UNVARIED
from .elementary import computed_by
from .lowering import bitcast, intrinsic, lanewise, libcall, suffix
from .signature import signature

# ---------------------------------------------------------------- meaning

_functions: dict = {}


def _libm(name):
    """The C library's double function `name`, bound at its first use."""
    function = _functions.get(name)
    if function is None:
        function = getattr(ctypes.CDLL(None), name)
        function.restype = ctypes.c_double
        _functions[name] = function
    return function


def _of_c(name, ufunc=None):
    def meaning(*args):
        if type(args[0]) is float:
            return _libm(name)(*map(ctypes.c_double, args))
        with np.errstate(all="ignore"):
            if ufunc is not None:
                return ufunc(*args)
            return type(args[0])(_libm(name)(*(ctypes.c_double(float(x)) for x in args)))

    return meaning


def _meaning(name, given, traits):
    """The Python meaning that compiled code has for NumPy numbers where lib/elementary has an implementation, else
    `given`."""
    if not traits & ELEMENTARY:
        return given

    def meaning(*args):
        ours = computed_by(name, type(args[0])) if isinstance(args[0], np.generic) else None
        return (ours or given)(*args)

    return meaning


def _circular_meaning(name, ufunc):
    """The Python meaning of a circular function. One of float32 with the mark `rare` is the C library's: it is for the
    arguments that our implementation leaves to it. (That of doubles asks for it with a Python float.)"""
    usual = _meaning(name, _of_c(name, ufunc), ELEMENTARY)

    def meaning(x, *, rare=False, **attrs):
        if not rare or type(x) is not np.float32:
            return usual(x)
        function = _libm(f"{name}f")
        function.restype = ctypes.c_float
        return np.float32(function(ctypes.c_float(float(x))))

    return meaning


def _fma(x, y, z):
    function = _libm("fma" if type(x) in (float, np.float64) else "fmaf")
    c = ctypes.c_double if type(x) in (float, np.float64) else ctypes.c_float
    function.restype = c
    return type(x)(function(c(x), c(y), c(z)))


def _estrin(terms, x, multiply, fused):
    """c[0] + c[1] * x + ... by Estrin's scheme: pairs, pairs of pairs, and so on. It needs two or three operations more
    than Horner's rule, but its chain of dependent steps is a third as long."""
    while len(terms) > 1:
        pairs = [fused(high, x, low) for low, high in zip(terms[::2], terms[1::2])]
        terms = pairs + terms[len(pairs) * 2:]
        if len(terms) > 1:
            x = multiply(x, x)
    return terms[0]


def _polynomial(x, *, coefficients):
    with np.errstate(all="ignore"):
        return _estrin(list(map(type(x), coefficients)), x, lambda x, y: x * y, _fma)


def _ldexp(x, n):
    n = max(-5000, min(5000, int(n)))
    if type(x) is float:
        return _libm("ldexp")(ctypes.c_double(x), ctypes.c_int(n))
    with np.errstate(all="ignore"):
        return np.ldexp(x, n)


def _bits(x):
    return int(np.float64(x).view(np.int64))


def _from_bits(n):
    return float(np.int64(n).view(np.float64))


def _bits32(x):
    return np.float32(x).view(np.int32)


def _from_bits32(n):
    return np.int32(n).view(np.float32)


def _looked_up(n, *, table):
    found = table[int(n) & len(table) - 1]
    return found if type(n) is int else np.float32(found)


def _check_domain(r, x, *, message):
    if r != r and x == x:
        raise ValueError(message)
    return r


def _check_range(r, x, *, cls, message):
    if math.isinf(r) and math.isfinite(x):
        raise cls(message)
    return r


# ---------------------------------------------------------------- lowering

_INFINITY = "0x7FF0000000000000"


@lanewise
def _polynomial_lower(e, inst, x):
    """The lowering of a polynomial without fast-math flags: rounding is part of a function's accuracy."""
    t = e.scalar(inst.args[0].type)
    name = f"llvm.fma.{suffix(t)}"
    terms = [e.constant(inst.args[0].type, c)[0] for c in inst.attrs["coefficients"]]
    return [_estrin(terms, x[0], lambda x, y: e.assign(f"fmul {t} {x}, {y}"),
                    lambda x, y, z: e.assign(f"call {t} @{name}({t} {x}, {t} {y}, {t} {z})"))]


def _fabs(e, x):
    return e.assign(f"call double @llvm.fabs.f64(double {x})")


def _ldexp_lower(e, inst, x, n):
    t = e.scalar(inst.args[0].type)
    value = x[0] if t == "double" else e.assign(f"fpext {t} {x[0]} to double")
    low = e.assign(f"call i64 @llvm.smax.i64(i64 {n[0]}, i64 -5000)")
    both = e.assign(f"call i64 @llvm.smin.i64(i64 {low}, i64 5000)")
    count = e.assign(f"trunc i64 {both} to i32")
    result = e.assign(f"call double @ldexp(double {value}, i32 {count})")
    return [result if t == "double" else e.assign(f"fptrunc double {result} to {t}")]


def _nextafter_lower(e, inst, x, y):
    """libm has no function for half precision, so there the neighbour is computed as the number whose bits, as an
    integer, differ by one."""
    if e.scalar(inst.args[0].type) != "half":
        return libcall("nextafter")(e, inst, x, y)
    x, y = x[0], y[0]
    bits = e.assign(f"bitcast half {x} to i16")
    up, negative = e.assign(f"fcmp olt half {x}, {y}"), e.assign(f"icmp slt i16 {bits}, 0")
    grows = e.assign(f"xor i1 {up}, {negative}")
    more, less = e.assign(f"add i16 {bits}, 1"), e.assign(f"sub i16 {bits}, 1")
    near = e.assign(f"select i1 {grows}, i16 {more}, i16 {less}")
    sign = e.assign(f"and i16 {e.assign(f'bitcast half {y} to i16')}, -32768")
    tiny, zero = e.assign(f"or i16 {sign}, 1"), e.assign(f"fcmp oeq half {x}, 0.0")
    near = e.assign(f"bitcast i16 {e.assign(f'select i1 {zero}, i16 {tiny}, i16 {near}')} to half")
    near = e.assign(f"select i1 {e.assign(f'fcmp oeq half {x}, {y}')}, half {y}, half {near}")
    nan = e.assign(f"fcmp uno half {x}, {y}")
    return [e.assign(f"select i1 {nan}, half {e.assign(f'fadd half {x}, {y}')}, half {near}")]


def _lookup_lower(e, inst, n):
    return [e.lookup(inst.attrs["table"], e.scalar(inst.result.type), e.scalar(inst.args[0].type), n[0])]


def _pow_rest_lower(e, inst, *operands):
    t = e.scalar(inst.args[0].type)
    return [e.assign("call " + e.rare("pow" if t == "double" else "powf", [x[0] for x in operands], t))]


def _complex_libcall(name):
    """A C99 complex function: a `double _Complex` is passed as two doubles, a `float _Complex` as a vector of two."""

    def lower(e, inst, *operands):
        if inst.args[0].type is complex64:
            return _short_complex_call(e, f"{name}f", operands)
        parts = [c for x in operands for c in x]
        kinds = ", ".join(["double"] * len(parts))
        e.declare(f"declare {{double, double}} @{name}({kinds}) nounwind willreturn memory(none)")
        pair = e.assign(f"call {{double, double}} @{name}({', '.join(f'double {c}' for c in parts)})")
        return [e.assign(f"extractvalue {{double, double}} {pair}, {i}") for i in (0, 1)]

    return lower


def _short_complex_call(e, name, operands):
    pairs = []
    for re, im in operands:
        first = e.assign(f"insertelement <2 x float> undef, float {re}, i32 0")
        pairs.append(e.assign(f"insertelement <2 x float> {first}, float {im}, i32 1"))
    kinds = ", ".join(["<2 x float>"] * len(pairs))
    e.declare(f"declare <2 x float> @{name}({kinds}) nounwind willreturn memory(none)")
    result = e.assign(f"call <2 x float> @{name}({', '.join(f'<2 x float> {pair}' for pair in pairs)})")
    return [e.assign(f"extractelement <2 x float> {result}, i32 {i}") for i in (0, 1)]


def _signbit_lower(e, inst, x):
    t = e.scalar(inst.args[0].type)
    width = {"half": "i16", "float": "i32", "double": "i64"}[t]
    bits = e.assign(f"bitcast {t} {x[0]} to {width}")
    return [e.assign(f"icmp slt {width} {bits}, 0")]


def _round_digits_lower(e, inst, x, n):
    """A call of the interpreter's own float.__round__: only for numbers near ties and at the ends of the range."""
    boxed = e.assign(f"call ptr @PyFloat_FromDouble(double {x[0]})")
    e.check_null(boxed, inst)
    rounded = e.assign(f"call ptr (ptr, ptr, ptr, ...) @PyObject_CallMethod(ptr {boxed}, ptr {e.string('__round__')}, "
                       f"ptr {e.string('L')}, i64 {n[0]})")
    e.line(f"call void @Py_DecRef(ptr {boxed})")
    e.check_null(rounded, inst)
    result = e.assign(f"call double @PyFloat_AsDouble(ptr {rounded})")
    e.line(f"call void @Py_DecRef(ptr {rounded})")
    return [result]


def _check_domain_lower(e, inst, r, x):
    ordered = e.assign(f"fcmp ord double {r[0]}, {r[0]}")
    given = e.assign(f"fcmp uno double {x[0]}, {x[0]}")
    good = e.assign(f"or i1 {ordered}, {given}")
    e.raise_unless(good, inst, "ValueError", inst.attrs["message"].replace("%", "%%"))
    return r


def _check_range_lower(e, inst, r, x):
    small = e.assign(f"fcmp une double {_fabs(e, r[0])}, {_INFINITY}")
    given = e.assign(f"fcmp ueq double {_fabs(e, x[0])}, {_INFINITY}")
    good = e.assign(f"or i1 {small}, {given}")
    e.raise_unless(good, inst, inst.attrs["cls"].__name__, inst.attrs["message"].replace("%", "%%"))
    return r


# ---------------------------------------------------------------- records


def _as_first(b, x, y, out):
    """The partial derivatives of a function of x and y: 1 with respect to x; 0 with respect to y, on which it depends
    only in steps, if at all."""
    return b.const(1.0), b.const(0.0)


def _op(name, rule, eval, lower, partials, doc, effects=PURE, attrs=False, cost=CALL, traits=0):
    return Op(name, signature(rule), effects, eval=eval, lower=lower, partials=partials, doc=doc, eval_attrs=attrs,
              cost=cost, traits=traits)


def _unary(name, partials, doc, *, c=None, ufunc=None, lower=None, cost=CALL, traits=0):
    c = c or name
    return _op(name, "x: F -> F", _meaning(name, _of_c(c, ufunc), traits), lower or libcall(c), partials, doc,
               cost=cost, traits=traits)


def _binary(name, partials, doc, *, c=None, ufunc=None, lower=None, cost=CALL, traits=0):
    c = c or name
    return _op(name, "x: F, y: F -> F", _meaning(name, _of_c(c, ufunc), traits), lower or libcall(c), partials, doc,
               cost=cost, traits=traits)


def _circular(name, partials, doc, ufunc):
    return _op(name, "x: F -> F", _circular_meaning(name, ufunc), libcall(name), partials, doc, attrs=True,
               traits=ELEMENTARY)


SQRT = _unary("sqrt", lambda b, x, out: (b.fdiv(b.const(0.5), out),), "Square root; nan below 0; {exact}: as of fadd.",
              ufunc=np.sqrt, lower=intrinsic("llvm.sqrt"), cost=EXPENSIVE, traits=SINGULAR | NEVER_NEGATIVE)
FABS = _unary("fabs", lambda b, x, out: (b.copysign(b.const(1.0), x),), "Absolute value.",
              ufunc=np.fabs, lower=intrinsic("llvm.fabs"), cost=MODERATE, traits=NEVER_NEGATIVE)
FLOOR = _unary("floor", ROUNDING, "Greatest whole number not above x, a float.", ufunc=np.floor,
               lower=intrinsic("llvm.floor"), cost=MODERATE, traits=ROUNDS)
CEIL = _unary("ceil", ROUNDING, "Least whole number not below x, a float.", ufunc=np.ceil, lower=intrinsic("llvm.ceil"),
              cost=MODERATE, traits=ROUNDS)
TRUNC = _unary("trunc", ROUNDING, "x without its fraction, a float.", ufunc=np.trunc, lower=intrinsic("llvm.trunc"),
               cost=MODERATE, traits=ROUNDS)
RINT = _unary("rint", ROUNDING, "Nearest whole number, ties to even.", ufunc=np.rint, lower=intrinsic("llvm.roundeven"),
              cost=MODERATE, traits=ROUNDS)
ROUND = _unary("round_away", ROUNDING, "Nearest whole number, ties away from 0.", c="round",
               lower=intrinsic("llvm.round"), cost=MODERATE, traits=ROUNDS)
FMAX_NUMBER = _binary("fmax_number", lambda b, x, y, out: _either(b, b.fge(x, y)),
                      "The larger of two numbers, neither of them nan; either of two zeros.",
                      c="fmax", ufunc=np.fmax, lower=intrinsic("llvm.maxnum", "nnan nsz "), cost=MODERATE)
FMIN_NUMBER = _binary("fmin_number", lambda b, x, y, out: _either(b, b.fle(x, y)),
                      "The smaller of two numbers, neither of them nan; either of two zeros.",
                      c="fmin", ufunc=np.fmin, lower=intrinsic("llvm.minnum", "nnan nsz "), cost=MODERATE)
COPYSIGN = _binary("copysign", lambda b, x, y, out: (b.copysign(b.const(1.0), b.fmul(x, y)), b.const(0.0)),
                   "|x| with the sign of y.", ufunc=np.copysign, lower=intrinsic("llvm.copysign"), cost=MODERATE)
FMA = _op("fma", "x: F, y: F, z: F -> F", _fma, intrinsic("llvm.fma"), lambda b, x, y, z, out: (y, x, b.const(1.0)),
          "x * y + z, rounded once; {exact}: as of fadd.", cost=MODERATE)
MULADD = _op("muladd", "x: F, y: F, z: F -> F", _fma, intrinsic("llvm.fmuladd"),
             lambda b, x, y, z, out: (y, x, b.const(1.0)),
             "x * y + z, rounded once where the machine does that in one step, as the kernels of a BLAS do.",
             cost=MODERATE)
POLYNOMIAL = _op("polynomial", "x: F -> F", _polynomial, _polynomial_lower, NO_RULE,
                 "polynomial {coefficients}: c[0] + c[1] * x + c[2] * x**2 + ..., by Estrin's scheme", attrs=True,
                 cost=MODERATE)

SIN = _circular("sin", lambda b, x, out: (b.cos(x),), "Sine of x radians; {rare}: in a branch that few elements take.",
                np.sin)
COS = _circular("cos", lambda b, x, out: (b.fneg(b.sin(x)),), "Cosine of x radians; {rare}: as of sin.", np.cos)
TAN = _circular("tan", lambda b, x, out: (b.fma(out, out, b.const(1.0)),), "Tangent of x radians; {rare}: as of sin.",
                np.tan)
ASIN = _unary("asin", lambda b, x, out: (b.fdiv(b.const(1.0), b.sqrt(b.fma(b.fneg(x), x, b.const(1.0)))),),
              "Arc sine, in radians.", ufunc=np.arcsin, traits=SINGULAR | ELEMENTARY)
ACOS = _unary("acos", lambda b, x, out: (b.fdiv(b.const(-1.0), b.sqrt(b.fma(b.fneg(x), x, b.const(1.0)))),),
              "Arc cosine, in radians.", ufunc=np.arccos, traits=SINGULAR | ELEMENTARY)
ATAN = _unary("atan", lambda b, x, out: (b.fdiv(b.const(1.0), b.fma(x, x, b.const(1.0))),),
              "Arc tangent, in radians.", ufunc=np.arctan, traits=ELEMENTARY)
ATAN2 = _binary("atan2", lambda b, y, x, out: _atan2_partials(b, y, x), "Angle of the vector (x, y); y comes first.",
                ufunc=np.arctan2, traits=SINGULAR | ELEMENTARY)
SINH = _unary("sinh", lambda b, x, out: (b.cosh(x),), "Hyperbolic sine.", ufunc=np.sinh, traits=ELEMENTARY)
COSH = _unary("cosh", lambda b, x, out: (b.sinh(x),), "Hyperbolic cosine.", ufunc=np.cosh,
              traits=ELEMENTARY | NEVER_NEGATIVE)
TANH = _unary("tanh", lambda b, x, out: (b.fma(b.fneg(out), out, b.const(1.0)),), "Hyperbolic tangent.", ufunc=np.tanh,
              traits=ELEMENTARY)
ASINH = _unary("asinh", lambda b, x, out: (b.fdiv(b.const(1.0), b.sqrt(b.fma(x, x, b.const(1.0)))),),
               "Inverse hyperbolic sine.", ufunc=np.arcsinh, traits=ELEMENTARY)
ACOSH = _unary("acosh", lambda b, x, out: (b.fdiv(b.const(1.0), b.sqrt(b.fma(x, x, b.const(-1.0)))),),
               "Inverse hyperbolic cosine.", ufunc=np.arccosh, traits=SINGULAR | ELEMENTARY)
ATANH = _unary("atanh", lambda b, x, out: (b.fdiv(b.const(1.0), b.fma(b.fneg(x), x, b.const(1.0))),),
               "Inverse hyperbolic tangent.", ufunc=np.arctanh, traits=SINGULAR | ELEMENTARY)
EXP = _unary("exp", lambda b, x, out: (out,), "e ** x.", ufunc=np.exp, traits=ELEMENTARY | NEVER_NEGATIVE)
EXP2 = _unary("exp2", lambda b, x, out: (b.fmul(out, b.const(math.log(2.0))),), "2 ** x.", ufunc=np.exp2,
              traits=ELEMENTARY | NEVER_NEGATIVE)
EXPM1 = _unary("expm1", lambda b, x, out: (b.fadd(out, b.const(1.0)),), "e ** x - 1, exact near 0.", ufunc=np.expm1,
               traits=ELEMENTARY)
LOG = _unary("log", lambda b, x, out: (b.fdiv(b.const(1.0), x),), "Natural logarithm.", ufunc=np.log,
             traits=SINGULAR | ELEMENTARY)
LOG2 = _unary("log2", lambda b, x, out: (b.fdiv(b.const(1.0 / math.log(2.0)), x),), "Logarithm to base 2.",
              ufunc=np.log2, traits=SINGULAR | ELEMENTARY)
LOG10 = _unary("log10", lambda b, x, out: (b.fdiv(b.const(1.0 / math.log(10.0)), x),), "Logarithm to base 10.",
               ufunc=np.log10, traits=SINGULAR | ELEMENTARY)
LOG1P = _unary("log1p", lambda b, x, out: (b.fdiv(b.const(1.0), b.fadd(x, b.const(1.0))),), "log(1 + x), exact near 0.",
               ufunc=np.log1p, traits=SINGULAR | ELEMENTARY)
CBRT = _unary("cbrt", lambda b, x, out: (b.fdiv(b.const(1.0 / 3.0), b.fmul(out, out)),), "Cube root.", ufunc=np.cbrt,
              traits=SINGULAR | ELEMENTARY)
ERF = _unary("erf", lambda b, x, out: (_gauss(b, x),), "Error function.")
ERFC = _unary("erfc", lambda b, x, out: (b.fneg(_gauss(b, x)),), "1 - erf(x), exact for large x.")
POW = _binary("pow", lambda b, x, y, out: _pow_partials(b, x, y, out), "C's pow: x ** y.", ufunc=np.power,
              traits=SINGULAR | ELEMENTARY)
POW_IN_DOUBLE = _binary("pow_in_double", POW.partials, "x ** y of float32 or float16, computed in double and rounded.",
                        c="pow", ufunc=np.power, traits=SINGULAR | ELEMENTARY)
POW_REST = _op("pow_rest", "x: F, y: F, log: F, found: F -> F", lambda x, y, log, found: _of_c("pow")(x, y),
               _pow_rest_lower, NO_RULE, "x ** y where few elements of a loop ask for it; log: y * log(|x|), found: e "
                                         "** log, |x| ** y where neither is extreme.")
HYPOT = _binary("hypot", lambda b, x, y, out: (_unless_zero(b, out, b.fdiv(x, out)),
                                               _unless_zero(b, out, b.fdiv(y, out))),
                "Length of the vector (x, y), without overflow in between.", ufunc=np.hypot,
                traits=SINGULAR | ELEMENTARY | NEVER_NEGATIVE)
NEXTAFTER = _binary("nextafter", _as_first, "The next float after x towards y.", ufunc=np.nextafter,
                    lower=_nextafter_lower)
REMAINDER = _binary("remainder", lambda b, x, y, out: (b.const(1.0), b.fneg(b.rint(b.fdiv(x, y)))),
                    "IEEE remainder: x less the nearest multiple of y.")
LDEXP = _op("ldexp", "x: F, n: int -> F", _ldexp, _ldexp_lower,
            lambda b, x, n, out: (b.ldexp(b.const(1.0), n), b.const(0.0)), "x * 2 ** n.")
STOPPED = _op("stopped", "x: F -> F", lambda x: x, lambda e, inst, x: x, UNVARIED,
              "The same number, which counts as constant for derivatives.", cost=FREE)
SIGNBIT = _op("signbit", "x: F -> bool", lambda x: bool(np.signbit(x)), _signbit_lower, NONDIFF,
              "Whether the sign bit is set, for -0.0 and nan too.", cost=CHEAP)
BITS = _op("bits", "x: float -> int", _bits, bitcast, NO_RULE,
           "The 64 bits of a double as an int.", cost=MODERATE)
FROM_BITS = _op("from_bits", "n: int -> float", _from_bits, bitcast, NO_RULE,
                "The double with these 64 bits.", cost=MODERATE)
BITS32 = _op("bits32", "x: float32 -> int32", _bits32, bitcast, NO_RULE,
             "The 32 bits of a float32.", cost=MODERATE)
FROM_BITS32 = _op("from_bits32", "n: int32 -> float32", _from_bits32, bitcast, NO_RULE,
                  "The float32 with these 32 bits.", cost=MODERATE)
LOOKUP = _op("lookup", "n: int -> float", _looked_up, _lookup_lower, UNVARIED,
             "lookup {table} (n): the float at the index in the lowest bits of n, in a table with a power of two of "
             "entries", attrs=True,
             cost=MODERATE)
LOOKUP_INT = _op("lookup_int", "n: int -> int", _looked_up, _lookup_lower, NONDIFF,
                 "lookup_int {table} (n): as lookup, for integers", attrs=True, cost=MODERATE)
LOOKUP_SINGLE = _op("lookup_single", "n: int32 -> float32", _looked_up, _lookup_lower, UNVARIED,
                    "lookup_single {table} (n): as lookup, for float32", attrs=True, cost=MODERATE)
ROUND_DIGITS = _op("round_digits", "x: float, n: int -> float", round, _round_digits_lower, ROUNDING,
                   "round(x, n) by exact decimal conversion; OverflowError as CPython.", RAISES | HOST)
CHECK_DOMAIN = _op("check_domain", "r: float, x: float -> float", _check_domain, _check_domain_lower, _as_first,
                   "check_domain {message} (r, x): r; ValueError where r is nan and x is not", RAISES, attrs=True,
                   traits=CHECKS_FIRST)
CHECK_RANGE = _op("check_range", "r: float, x: float -> float", _check_range, _check_range_lower, _as_first,
                  "check_range {cls, message} (r, x): r; raises cls where r is infinite and x is finite", RAISES,
                  attrs=True, traits=CHECKS_FIRST)



def _complex(name, ufunc, partials, operands="x: C", traits=0):
    def meaning(*args):
        with np.errstate(all="ignore"):
            result = ufunc(*args)
        return complex(result) if type(args[0]) is complex else result

    return _op(name, f"{operands} -> C", _meaning(name, meaning, traits), _complex_libcall(name), partials,
               f"C's {name} of complex numbers.", traits=traits)


def _over_root(b, x, sign):
    """1 / sqrt(1 + sign * x * x)."""
    one, square = b.const(1.0), b.fmul(x, x)
    return b.fdiv(one, b.csqrt(b.fadd(one, square) if sign > 0 else b.fsub(one, square)))


def _over_two_roots(b, x):
    """1 / sqrt(x * x - 1) on the branch of acosh, as 1 / (sqrt(x - 1) * sqrt(x + 1))."""
    one = b.const(1.0)
    return b.fdiv(one, b.fmul(b.csqrt(b.fsub(x, one)), b.csqrt(b.fadd(x, one))))


def _cpow_partials(b, x, y, out):
    one, zero = b.const(1.0), b.const(0.0)
    by_x = b.guarded_product(b.cpow(x, b.fsub(y, one)), y)
    return by_x, b.select(b.is_zero(x), zero, b.fmul(out, b.clog(x)))


CSQRT = _complex("csqrt", np.sqrt, lambda b, x, out: (b.fdiv(b.const(0.5), out),), traits=SINGULAR)
CEXP = _complex("cexp", np.exp, lambda b, x, out: (out,), traits=ELEMENTARY)
CLOG = _complex("clog", np.log, lambda b, x, out: (b.fdiv(b.const(1.0), x),), traits=SINGULAR)
CSIN = _complex("csin", np.sin, lambda b, x, out: (b.ccos(x),))
CCOS = _complex("ccos", np.cos, lambda b, x, out: (b.fneg(b.csin(x)),))
CTAN = _complex("ctan", np.tan, lambda b, x, out: (b.fadd(b.const(1.0), b.fmul(out, out)),))
CSINH = _complex("csinh", np.sinh, lambda b, x, out: (b.ccosh(x),))
CCOSH = _complex("ccosh", np.cosh, lambda b, x, out: (b.csinh(x),))
CTANH = _complex("ctanh", np.tanh, lambda b, x, out: (b.fsub(b.const(1.0), b.fmul(out, out)),))
CASIN = _complex("casin", np.arcsin, lambda b, x, out: (_over_root(b, x, -1),), traits=SINGULAR)
CACOS = _complex("cacos", np.arccos, lambda b, x, out: (b.fneg(_over_root(b, x, -1)),), traits=SINGULAR)
CATAN = _complex("catan", np.arctan, lambda b, x, out: (
    b.fdiv(b.const(1.0), b.fadd(b.const(1.0), b.fmul(x, x))),), traits=SINGULAR)
CASINH = _complex("casinh", np.arcsinh, lambda b, x, out: (_over_root(b, x, 1),), traits=SINGULAR)
CACOSH = _complex("cacosh", np.arccosh, lambda b, x, out: (_over_two_roots(b, x),), traits=SINGULAR)
CATANH = _complex("catanh", np.arctanh, lambda b, x, out: (
    b.fdiv(b.const(1.0), b.fsub(b.const(1.0), b.fmul(x, x))),), traits=SINGULAR)
CPOW = _complex("cpow", np.power, _cpow_partials, "x: C, y: C", traits=SINGULAR)


def _either(b, first):
    one, zero = b.const(1.0), b.const(0.0)
    return b.select(first, one, zero), b.select(first, zero, one)


def _unless_zero(b, test, value):
    """0 where `test` is 0."""
    zero = b.const(0.0)
    return b.select(b.feq(test, zero), zero, value)


def _pow_partials(b, x, y, out):
    by_x = b.guarded_product(b.pow(x, b.fsub(y, b.const(1.0))), y)  # x ** 0 is 1 for every x
    return by_x, _unless_zero(b, x, b.fmul(out, b.log(x)))


def _atan2_partials(b, y, x):
    size = b.fma(x, x, b.fmul(y, y))
    return _unless_zero(b, size, b.fdiv(x, size)), _unless_zero(b, size, b.fneg(b.fdiv(y, size)))


def _gauss(b, x):
    return b.fmul(b.const(2.0 / math.sqrt(math.pi)), b.exp(b.fneg(b.fmul(x, x))))


MATH_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
