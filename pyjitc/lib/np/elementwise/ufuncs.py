"""NumPy's ufuncs as expressions of one element: the loop that NumPy selects for given types, and its meaning.

NumPy itself is asked for the loop (`ufunc.resolve_dtypes`), once per ufunc and types; a rule per ufunc and kind says
what the loop does with operands of its types. Scalars and array expressions both use `loop`.
"""
from __future__ import annotations

import math
from typing import Callable

import numpy as np

from ....base.errors import CompileError
from ....base.lazy import lazy
from ....base.named import Named
from ....infer.meaning import Call, Const, Expr, Mismatch, NotNative
from ....ops import math as m
from ....ops.arith import (BAND, BNOT, BOR, BXOR, COMPLEX_MAKE, FADD, FDIV, FEQ, FGE, FGT, FLE, FLT, FMUL, FNE, FNEG,
                           FREM, FSUB, IABS, IGE, IGT, ILE, ILT, IMAG, IMOD, IMUL, INE, INEG, INOT, IEQ, ISUB, REAL)
from ....ops.structure import SELECT
from ....runtime.ufuncs import record_of
from ....types import kinds as k
from ....types.lattice import dtype_of, element_types, kind_of, numpy_counterpart, type_of_dtype
from ...build import apply, cast, convert
from ...intrinsics import as_type
from ...rule import intrinsic
from . import operators as scalar_operators

dates, numbers = lazy("pyjitc.lib.np.dates.rules"), lazy("pyjitc.lib.np.elementwise.numbers")

__all__ = ["OPERATORS", "UNARY", "Loop", "loop", "fold_loop", "typed", "RELATIONS", "RULES", "constant"]

OPERATORS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide, "%": np.remainder,
    "**": np.power, "<<": np.left_shift, ">>": np.right_shift, "&": np.bitwise_and, "|": np.bitwise_or,
    "^": np.bitwise_xor, "<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal, ">": np.greater,
    ">=": np.greater_equal,
}
UNARY = {"-": np.negative, "+": np.positive, "~": np.invert}

RELATIONS = {np.equal: "==", np.not_equal: "!=", np.less: "<", np.less_equal: "<=", np.greater: ">",
             np.greater_equal: ">="}


class Loop(Named, fields="inputs outputs rule"):
    """inputs, outputs: tuples of NumPy scalar types; rule: expressions of the input types -> expression (a tuple where
    there are two outputs)."""

    __slots__ = ()


_loops: dict[tuple, Loop] = {}
_WEAK = {k.Int: int, k.Float: float, k.Complex: complex}


def loop(ufunc: np.ufunc, types: tuple[k.Type, ...], dtype: k.Type | None = None, casting: str = "same_kind",
         outs=()) -> Loop:
    """The loop for operands of these scalar types, which are Python's (weak next to NumPy's) or NumPy's. Raises
    Mismatch where NumPy has none. dtype: the output dtype of the loop; outs: the types of the arrays for the results,
    None where one is not given."""
    key = (ufunc, types, dtype, casting, outs)
    found = _loops.get(key)
    if found is None:
        found = _loops[key] = _find(*key)
    return found


def _find(ufunc, types, dtype, casting, outs):
    record = record_of(ufunc)
    if len(types) != ufunc.nin:
        raise Mismatch(f"{ufunc.__name__}() takes from {ufunc.nin} to {ufunc.nargs} positional arguments "
                       f"but {len(types)} were given")
    named = types
    if all(map(k.is_python_number, types)):
        types = tuple(map(numpy_counterpart, types))
    if record is not None and record.dynamic and dtype is None:
        inputs = element_types(types)
        try:
            results = record.result_types(inputs, ufunc.nout)
        except CompileError:
            raise
        except TypeError as error:
            raise Mismatch(str(error)) from None
        return _made_loop(record, inputs, results)
    asked = [_WEAK.get(t) or dtype_of(t) for t in types] + [t and dtype_of(t) for t in outs or [None] * ufunc.nout]
    by_no = casting == "equiv" and any(t in _WEAK for t in types)  # for "equiv", NumPy 2.4 dereferences a null pointer
    asks = {"casting": "no" if by_no else casting}
    if dtype is not None:
        asks["signature"] = (*[None] * ufunc.nin, *[dtype_of(dtype)] * ufunc.nout)
    try:
        resolved = ufunc.resolve_dtypes(tuple(asked), **asks)
    except (TypeError, ValueError) as error:
        hint = "a duration is np.timedelta64(n, 'D'), with its unit" if any(map(k.is_time, types)) else (
            "write x = x + y for x += y, or use an array of the type of the result" if any(outs)
            and "output" in str(error) else "")
        message = str(error).replace("rule 'no'", "rule 'equiv'") if by_no else str(error)
        given = None
        if type(error) not in (TypeError, ValueError):  # a UFuncTypeError, whose arguments are the ufunc and dtypes
            given = tuple("equiv" if by_no and x == "no" else x for x in error.args)
            if named is not types:
                given = _given_of_python(ufunc, named, asked, given)
        raise Mismatch(message, hint, exception=type(error), given=given) from None
    return _loop_of(ufunc, resolved, types)


def _given_of_python(ufunc, types, asked, given):
    """The arguments of the error that a ufunc raises where it has no loop for Python numbers: its message shows special
    dtype classes for them."""
    try:
        ufunc.resolve_dtypes((*(_WEAK.get(t) or dtype_of(t) for t in types), *asked[len(types):]))
    except TypeError as error:
        if len(error.args) == len(given) == 2:
            return error.args
    return given


def fold_loop(ufunc: np.ufunc, t: k.Type, dtype: k.Type | None = None, out: k.Type | None = None) -> Loop:
    """The loop that reduces elements of type t. Raises Mismatch where NumPy has none."""
    asks = {"reduction": True, "casting": "unsafe"}
    if dtype is not None:
        asks["signature"] = (dtype_of(dtype), None, None)
    try:
        resolved = ufunc.resolve_dtypes((out and dtype_of(out), dtype_of(t), None), **asks)
    except (TypeError, ValueError) as error:
        raise Mismatch(str(error)) from None
    return _loop_of(ufunc, resolved, (t,))


def _loop_of(ufunc, resolved, types):
    resolved = [type_of_dtype(d) for d in resolved]
    if None in resolved:
        raise NotNative(f"np.{ufunc.__name__} of {', '.join(map(str, types))} is not compiled")
    inputs, outputs = tuple(resolved[:ufunc.nin]), tuple(resolved[ufunc.nin:])
    record = record_of(ufunc)
    if record is not None:
        return _made_loop(record, inputs, outputs)
    kinds = "".join(map(kind_of, inputs))
    rules, kind = (dates.RULES if "m" in kinds or "M" in kinds else RULES).get(ufunc), kinds[0]
    rule = rules and (rules.get(kinds) or rules.get(kind) or kind == "u" and rules.get("i"))
    if not rule:
        raise NotNative(f"np.{ufunc.__name__} of {', '.join(map(str, types))} is not compiled yet")
    return Loop(inputs, outputs, rule)


def _made_loop(record, inputs, outputs) -> Loop:
    """The loop of a ufunc that a program made: it calls the program's function."""
    function = record.function
    callee = Const(k.Singleton(function), function)
    t = outputs[0]  # the rule is for elements: for generalised ufuncs made_calls.py adds the calls
    return Loop(inputs, outputs, lambda *xs: Call(as_result, callee, Const(k.DType(t), dtype_of(t)), *xs))


def as_result(f, t, *xs):
    return as_type(f(*xs), t)


_typed: dict[tuple, Callable] = {}


def typed(ufunc: np.ufunc, found: Loop) -> Callable:
    """A function that computes this loop of the ufunc for numbers of any type, which it converts to the loop's
    types."""
    key = (ufunc, found.inputs, found.outputs)
    if key not in _typed:
        @intrinsic
        def function(*numbers):
            return found.rule(*map(_converted, numbers, found.inputs))

        _typed[key] = function
    return _typed[key]


def _converted(x: Expr, t: k.Type) -> Expr:
    return convert(x, t) if k.is_python_number(x.type) else cast(x, t)


def constant(t: k.Type, value) -> Const:
    with np.errstate(all="ignore"):
        return Const(t, dtype_of(t).type(value))


# ---------------------------------------------------------------- rules


def _of(op):
    return lambda *xs: apply(op, *xs)


def _called(name):
    """The rule that calls a function of numbers.py, which is loaded when one of them is used."""
    return lambda *xs: Call(getattr(numbers, name), *xs)


def _same(x):
    return x


def _operator(symbol):
    return {kind: rules[symbol] for kind, rules in scalar_operators.BINARY.items() if symbol in rules}


def _power(x, y):
    """The rule of np.power for elements of arrays. NumPy computes float32 in float32; a power of two scalars is rounded
    from double precision (operators.py)."""
    if x.type is k.float32 and not y.known:
        return apply(m.POW, x, y)
    return scalar_operators.BINARY["f"]["**"](x, y)


def _relation(symbol, integer, floating):
    def as_bool(rule):
        return lambda x, y: cast(rule(x, y), k.bool_)

    def mixed(x, y):
        return scalar_operators.find_compare(symbol, x.type, y.type)(x, y)

    return {"b": lambda x, y: mixed(x, y), "i": mixed, "f": as_bool(_of(floating)),
            "c": as_bool(scalar_operators.complex_relation(symbol, as_loop=True))}


def _floats(op, complex_op=None):
    rules = {"f": _of(op)}
    if complex_op is not None:
        rules["c"] = _of(complex_op)
    return rules


def _answer(value):
    """The rule of a test whose result does not depend on the operand's value."""
    return lambda x: Const(k.bool_, np.bool_(value))


def _test(floating, other, both):
    """The rule of a predicate of floats; `both` combines the results for the parts of a complex number: all or any."""

    def of_complex(x):
        return cast(apply(both, floating(apply(REAL, x)), floating(apply(IMAG, x))), k.bool_)

    return {"f": lambda x: cast(floating(x), k.bool_), "c": of_complex, **{kind: _answer(other) for kind in "biu"}}


def _isnan(x):
    return apply(FNE, x, x)


def _isinf(x):
    return apply(FEQ, apply(m.FABS, x), constant(x.type, np.inf))


def _isfinite(x):
    return apply(FLT, apply(m.FABS, x), constant(x.type, np.inf))


def _choice(relation):
    """x where relation(x, y), else y."""
    return lambda x, y: apply(SELECT, apply(relation, x, y), x, y)


def _bounded(relation, nan_of_first):
    """The rule of maximum, fmax and similar functions: x where relation(x, y), else y, apart from nan. nan_of_first: x
    is also the result where x is nan (as for maximum); else it is the result where y is nan (as for fmax)."""

    def rule(x, y):
        nan = x if nan_of_first else y
        return apply(SELECT, apply(BOR, apply(relation, x, y), apply(FNE, nan, nan)), x, y)

    return rule


def _complex_bounded(symbol, nan_of_first):
    first = scalar_operators.complex_relation(symbol, as_loop=True)

    def rule(x, y):
        z = x if nan_of_first else y
        nan = apply(BOR, _isnan(apply(REAL, z)), _isnan(apply(IMAG, z)))
        return apply(SELECT, apply(BOR, first(x, y), nan), x, y)

    return rule


def _extreme(symbol, integer, floating, logical, nan_of_first):
    return {"b": _of(logical), "i": _choice(integer), "f": _bounded(floating, nan_of_first),
            "c": _complex_bounded(symbol, nan_of_first)}


def _sign(x):
    zero, one = constant(x.type, 0), constant(x.type, 1)
    if k.is_float(x.type):
        below = apply(SELECT, apply(FLT, x, zero), constant(x.type, -1), apply(SELECT, apply(FEQ, x, zero), zero, x))
        return apply(SELECT, apply(FGT, x, zero), one, below)
    negative = zero if not x.type.signed else apply(SELECT, apply(ILT, x, zero), constant(x.type, -1), zero)
    return apply(SELECT, apply(IGT, x, zero), one, negative)


def _reciprocal(x):
    if k.is_float(x.type):
        return apply(FDIV, constant(x.type, 1), x)
    return cast(apply(FDIV, constant(k.float64, 1), cast(x, k.float64)), x.type)


def _fmod(x, y):
    """C's %: the sign is that of x; 0 where y is 0."""
    if not x.type.signed:
        return apply(IMOD, x, y)
    rest = apply(IMOD, apply(IABS, x), apply(IABS, y))
    least = constant(x.type, np.iinfo(dtype_of(x.type)).min)
    plain = apply(SELECT, apply(ILT, x, constant(x.type, 0)), apply(INEG, rest), rest)
    return apply(SELECT, apply(BOR, apply(IEQ, x, least), apply(IEQ, y, least)), _fmod_by_floor(x, y), plain)


def _fmod_by_floor(x, y):
    rest = apply(IMOD, x, y)
    zero = constant(x.type, 0)
    flip = apply(BAND, apply(INE, rest, zero), apply(BXOR, apply(ILT, x, zero), apply(ILT, y, zero)))
    return apply(SELECT, flip, apply(ISUB, rest, y), rest)


def _scaled(factor):
    """The rule of a multiplication by a constant, which is rounded to the operand's type first."""

    def rule(x):
        if x.type is k.float16:
            return cast(rule(cast(x, k.float32)), k.float16)
        return apply(FMUL, x, constant(x.type, factor(dtype_of(x.type).type)))

    return rule


def _by_type(**names):
    return lambda x: Call(getattr(numbers, names[x.type.text]), x)


def _divmod(x, y):
    if isinstance(x.type, k.NpInt):
        return Call(numbers.int_divmod, x, y)
    return Call(numbers.half_divmod if x.type is k.float16 else numbers.float_divmod, x, y)


def _unsigned(name):
    """The rule of gcd or lcm, computed on absolute values."""

    def rule(x, y):
        t, function = x.type, getattr(numbers, name)
        if not t.signed:
            return Call(function, x, y)
        wide = k.NpInt(t.bits, False)
        return cast(Call(function, *(cast(apply(IABS, z), wide) for z in (x, y))), t)

    return rule


def _logical(op):
    rule = _of(op)
    return {kind: lambda *xs: rule(*[cast(x, k.bool_) for x in xs]) for kind in "biufc"}


def _each_part(rule):
    return lambda x: apply(COMPLEX_MAKE, rule(apply(REAL, x)), rule(apply(IMAG, x)))


def _times(factor):
    return _each_part(lambda part: apply(FMUL, part, constant(part.type, factor)))


def _complex_log1p(x):
    re, im = apply(FADD, apply(REAL, x), constant(apply(REAL, x).type, 1)), apply(IMAG, x)
    return apply(COMPLEX_MAKE, apply(m.LOG, apply(m.HYPOT, re, im)), apply(m.ATAN2, im, re))


def _complex_expm1(x):
    re, im = apply(REAL, x), apply(IMAG, x)
    a = apply(m.SIN, apply(FMUL, im, constant(im.type, 0.5)))
    twice = apply(FMUL, constant(a.type, 2), apply(FMUL, a, a))
    return apply(COMPLEX_MAKE, apply(FSUB, apply(FMUL, apply(m.EXPM1, re), apply(m.COS, im)), twice),
                 apply(FMUL, apply(m.EXP, re), apply(m.SIN, im)))


def _conjugate(x):
    return apply(COMPLEX_MAKE, apply(REAL, x), apply(FNEG, apply(IMAG, x)))


def _heaviside(x, middle):
    zero = constant(x.type, 0)
    above = apply(SELECT, apply(FGT, x, zero), constant(x.type, 1), apply(SELECT, apply(FEQ, x, zero), middle, x))
    return apply(SELECT, apply(FLT, x, zero), zero, above)


def _in_single(name):
    """The rule for half-precision operands, computed in single precision as in NumPy's loops."""

    def rule(x, y):
        function = getattr(numbers, name)
        if x.type is k.float16:
            return cast(Call(function, cast(x, k.float32), cast(y, k.float32)), k.float16)
        return Call(function, x, y)

    return rule


RULES: dict[np.ufunc, dict[str, Callable]] = {
    np.add: _operator("+"), np.subtract: _operator("-"), np.multiply: _operator("*"), np.floor_divide: _operator("//"),
    np.divide: {"f": _of(FDIV), "c": _called("complex_div")}, np.remainder: _operator("%"),
    np.power: {**_operator("**"), "f": _power},
    np.float_power: {**_floats(m.POW), "c": _called("complex_pow")},
    np.fmod: {"i": _fmod, "f": _of(FREM)}, np.divmod: {"i": _divmod, "f": _divmod}, np.bitwise_and: _operator("&"),
    np.bitwise_or: _operator("|"), np.bitwise_xor: _operator("^"), np.left_shift: _operator("<<"),
    np.right_shift: _operator(">>"), np.invert: {"b": _of(BNOT), "i": _of(INOT)},
    np.negative: {"i": _of(INEG), "f": _of(FNEG), "c": scalar_operators.UNARY["c"]["-"]},
    np.positive: {"i": _same, "f": _same, "c": _same},
    np.absolute: {"b": _same, "i": _of(IABS), "f": _of(m.FABS),
                  "c": lambda x: RULES[np.hypot]["f"](apply(REAL, x), apply(IMAG, x))},
    np.fabs: _floats(m.FABS), np.sign: {"i": _sign, "f": _sign, "c": _called("complex_sign")},
    np.square: {"i": lambda x: apply(IMUL, x, x), "f": lambda x: apply(FMUL, x, x),
                "c": lambda x: Call(numbers.complex_mul, x, x)},
    np.reciprocal: {"i": _reciprocal, "f": _reciprocal, "c": _called("complex_reciprocal")},
    np.conjugate: {"b": _same, "i": _same, "f": _same, "c": _conjugate},
    np.sqrt: _floats(m.SQRT, m.CSQRT), np.cbrt: _floats(m.CBRT),
    np.exp: _floats(m.EXP, m.CEXP),
    np.exp2: {**_floats(m.EXP2), "c": lambda x: apply(m.CEXP, _times(math.log(2.0))(x))},
    np.expm1: {**_floats(m.EXPM1), "c": _complex_expm1}, np.log: _floats(m.LOG, m.CLOG),
    np.log2: {**_floats(m.LOG2), "c": lambda x: _times(1.0 / math.log(2.0))(apply(m.CLOG, x))},
    np.log10: {**_floats(m.LOG10), "c": lambda x: _times(math.log10(math.e))(apply(m.CLOG, x))},
    np.log1p: {**_floats(m.LOG1P), "c": _complex_log1p}, np.sin: _floats(m.SIN, m.CSIN),
    np.cos: _floats(m.COS, m.CCOS), np.tan: _floats(m.TAN, m.CTAN),
    np.arcsin: _floats(m.ASIN, m.CASIN), np.arccos: _floats(m.ACOS, m.CACOS),
    np.arctan: _floats(m.ATAN, m.CATAN), np.sinh: _floats(m.SINH, m.CSINH),
    np.cosh: _floats(m.COSH, m.CCOSH), np.tanh: _floats(m.TANH, m.CTANH),
    np.arcsinh: _floats(m.ASINH, m.CASINH), np.arccosh: _floats(m.ACOSH, m.CACOSH),
    np.arctanh: _floats(m.ATANH, m.CATANH), np.arctan2: _floats(m.ATAN2),
    np.hypot: _floats(m.HYPOT), np.copysign: _floats(m.COPYSIGN), np.nextafter: _floats(m.NEXTAFTER),
    np.logaddexp: {"f": _in_single("logaddexp")}, np.logaddexp2: {"f": _in_single("logaddexp2")},
    np.degrees: {"f": _scaled(lambda t: t(180.0) / t(np.pi))},
    np.radians: {"f": _scaled(lambda t: t(np.pi) / t(180.0))},
    np.rad2deg: {"f": _scaled(lambda t: t(180.0) / t(np.pi))},
    np.deg2rad: {"f": _scaled(lambda t: t(np.pi) / t(180.0))},
    np.floor: {"f": _of(m.FLOOR), "i": _same, "b": _same}, np.ceil: {"f": _of(m.CEIL), "i": _same, "b": _same},
    np.trunc: {"f": _of(m.TRUNC), "i": _same, "b": _same}, np.rint: {"f": _of(m.RINT), "c": _each_part(_of(m.RINT))},
    np.isnan: _test(_isnan, False, BOR), np.isinf: _test(_isinf, False, BOR), np.isfinite: _test(_isfinite, True, BAND),
    np.signbit: {"f": lambda x: cast(apply(m.SIGNBIT, x), k.bool_)},
    np.spacing: {"f": _called("spacing")}, np.heaviside: {"f": _heaviside},
    np.modf: {"f": _called("modf")},
    np.frexp: {"f": _by_type(float64="frexp", float32="frexp32", float16="frexp16")},
    np.ldexp: {"f": lambda x, n: apply(m.LDEXP, x, cast(n, k.Int))},
    np.maximum: _extreme(">=", IGE, FGT, BOR, True), np.minimum: _extreme("<=", ILE, FLT, BAND, True),
    np.fmax: _extreme(">=", IGE, FGE, BOR, False), np.fmin: _extreme("<=", ILE, FLE, BAND, False),
    np.logical_and: _logical(BAND), np.logical_or: _logical(BOR), np.logical_xor: _logical(BXOR),
    np.logical_not: _logical(BNOT),
    np.equal: _relation("==", IEQ, FEQ), np.not_equal: _relation("!=", INE, FNE), np.less: _relation("<", ILT, FLT),
    np.less_equal: _relation("<=", ILE, FLE), np.greater: _relation(">", IGT, FGT),
    np.greater_equal: _relation(">=", IGE, FGE),
    np.gcd: {"i": _unsigned("gcd")}, np.lcm: {"i": _unsigned("lcm")},
}
RULES[np.isnat] = {}  # only dates and durations have rules: dates/rules.py
if hasattr(np, "bitwise_count"):  # NumPy 2.0
    RULES[np.bitwise_count] = {"i": _called("bit_count")}
