"""Conversions between numbers of different types: the operations, what they mean and their code.

`cast` converts any number as NumPy's astype does, and never fails; the others make ints and elements of arrays of ints
as Python does, with its errors, or (`whole`, `fitted`) without a check where the number is known to fit.
"""
from __future__ import annotations

import numpy as np

from ..ir.core import CHEAP, PURE, RAISES, Op
from ..types import kinds as k
from ..types.lattice import COUNTERPART
from .effects import NONDIFF, STRUCTURAL
from .lowering import escaped, is_signed
from .signature import signature

INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
_TOO_BIG = "integer overflow: int() of this float does not fit in 64 bits"

# ---------------------------------------------------------------- meaning

PYTHON_CLASS = {k.Int: int, k.Float: float, k.Bool: bool, k.Complex: complex}
_numpy_class: dict = {}


def numpy_class(t: k.Type) -> type:
    """NumPy's scalar class for a number type (of the same representation for Python's)."""
    found = _numpy_class.get(t)
    if found is None:
        found = _numpy_class[t] = np.dtype(COUNTERPART.get(t, t).text.rstrip("_")).type
    return found


def _cast(x, *, type):
    """The value that the lowering below computes; NumPy's astype is the reference."""
    with np.errstate(all="ignore"):
        value = np.asarray(x)
        if value.dtype.kind == "c" and type is not k.Bool and type is not k.bool_ and not k.is_complex(type):
            value = value.real
        if value.dtype.kind in "mM":
            value = value.astype(np.int64)  # conversions to another unit are in lib/np/dates/units.py
        result = value.astype(COUNTERPART.get(type, type).text.rstrip("_"))[()]
    return result.item() if type in PYTHON_CLASS else result


def _truncate(x, *, message=_TOO_BIG, above="", flags=""):
    result = int(x)
    if above and INT_MAX < result < 2**64:
        raise OverflowError(above % result)
    if not INT_MIN <= result <= INT_MAX:
        raise OverflowError(message)
    return result


def _narrow(x, *, type):
    low, high = _bounds(type)
    if not low <= x <= high:
        raise OverflowError(f"Python integer {x} out of bounds for {type}")
    return numpy_class(type)(x)


def _fit(x, *, type, message):
    if x.dtype.kind == "f":
        if x != x:
            raise ValueError("cannot convert float NaN to integer")
        if np.isinf(x):
            raise OverflowError("cannot convert float infinity to integer")
    whole = int(x)
    if not INT_MIN <= whole <= INT_MAX:
        raise OverflowError(message)
    return _narrow(whole, type=type)


def _fits(x, *, type):
    try:
        _fit(x, type=type, message="")
    except (OverflowError, ValueError):
        return False
    return True


def _bounds(t):
    return (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, (1 << t.bits) - 1)


# ---------------------------------------------------------------- lowering


def _narrow_lower(e, inst, x):
    t = inst.attrs["type"]
    low, high = _bounds(t)
    if t.bits == 64:
        if t.signed:
            return x
        good = e.assign(f"icmp sge i64 {x[0]}, 0")
    else:
        offset = e.assign(f"sub i64 {x[0]}, {low}") if low else x[0]
        good = e.assign(f"icmp ule i64 {offset}, {high - low}")
    e.raise_unless(good, inst, "OverflowError", f"Python integer %lld out of bounds for {t}", f"i64 {x[0]}")
    return x if t.bits == 64 else [e.assign(f"trunc i64 {x[0]} to {e.scalar(t)}")]


def _fits_lower(e, inst, x):
    source, target = inst.args[0].type, inst.attrs["type"]
    if k.is_float(source):
        kind, value = _no_half(e, source, x[0])
        return [_float_fits(e, kind, value, target)]
    old = e.scalar(source)
    low, high = _bounds(target)
    if target.bits >= source.bits:  # where the source is unsigned
        return [e.assign(f"icmp sge {old} {x[0]}, 0") if target.bits == source.bits else "true"]
    if source.signed:
        return [e.assign(f"icmp ult {old} {e.assign(f'sub {old} {x[0]}, {low}')}, {high - low + 1}")]
    return [e.assign(f"icmp ule {old} {x[0]}, {high}")]


def _fit_lower(e, inst, x):
    source, target = inst.args[0].type, inst.attrs["type"]
    if k.is_float(source):
        return _fit_float(e, inst, x[0], source, target)
    old, new = e.scalar(source), e.scalar(target)
    (good,) = _fits_lower(e, inst, x)

    def fail():
        wide = x[0] if old == "i64" else e.assign(f"{'sext' if source.signed else 'zext'} {old} {x[0]} to i64")
        if not source.signed and source.bits == 64:
            above, below = e.label("above"), e.label("below")
            e.branch(e.assign(f"icmp slt i64 {wide}, 0"), above, below)
            e.start(above)
            e.error(inst, "OverflowError", escaped(inst.attrs["message"]))
            e.start(below)
        e.error(inst, "OverflowError", f"Python integer %lld out of bounds for {target}", f"i64 {wide}")

    e.fail_unless(good, fail)
    return [_resize_int(e, source, old, new, x[0])]


def _resize_int(e, source, old, new, x):
    if old == new:
        return x
    if int(old[1:]) > int(new[1:]):
        return e.assign(f"trunc {old} {x} to {new}")
    return e.assign(f"{'sext' if is_signed(source) else 'zext'} {old} {x} to {new}")


def _no_half(e, source, x):
    kind = e.scalar(source)
    return ("float", e.assign(f"fpext half {x} to float")) if kind == "half" else (kind, x)


def _float_fits(e, kind, x, target):
    low, high = _bounds(target)
    # whether the integer just below the minimum is exact in this float type
    exclusive = target.bits < (24 if kind == "float" else 53)
    above = e.assign(f"fcmp {'ogt' if exclusive else 'oge'} {kind} {x}, {float(low - exclusive)!r}")
    below = e.assign(f"fcmp olt {kind} {x}, {float(high + 1)!r}")
    return e.assign(f"and i1 {above}, {below}")


def _fit_float(e, inst, x, source, target):
    kind, x = _no_half(e, source, x)

    def fail():
        value = x if kind == "double" else e.assign(f"fpext float {x} to double")
        beyond, within = e.label("beyond"), e.label("within")
        inside = e.assign(f"and i1 {e.assign(f'fcmp oge double {value}, {float(INT_MIN)!r}')}, "
                          f"{e.assign(f'fcmp olt double {value}, {-float(INT_MIN)!r}')}")
        e.branch(inside, within, beyond)
        e.start(beyond)
        _truncation_error(e, inst, value)
        e.start(within)
        whole = e.assign(f"fptosi double {value} to i64")
        e.error(inst, "OverflowError", f"Python integer %lld out of bounds for {target}", f"i64 {whole}")

    e.fail_unless(_float_fits(e, kind, x, target), fail)
    return [e.assign(f"fptosi {kind} {x} to {e.scalar(target)}")]


def _fitted_lower(e, inst, x):
    source, target = inst.args[0].type, inst.attrs["type"]
    if not k.is_float(source):
        return [_resize_int(e, source, e.scalar(source), e.scalar(target), x[0])]
    kind, x = _no_half(e, source, x[0])
    return [e.assign(f"fptosi {kind} {x} to {e.scalar(target)}")]


def _truncate_lower(e, inst, x):
    t = inst.args[0].type
    value = x[0] if t is k.Float or t.bits == 64 else e.assign(f"fpext {e.scalar(t)} {x[0]} to double")
    fine, bad = e.label("fits"), e.label("unfit")
    if e.indefinite:
        pair = e.assign(f"insertelement <2 x double> poison, double {value}, i32 0")
        whole = e.assign(f"call i64 @llvm.x86.sse2.cvttsd2si64(<2 x double> {pair})")
        doubtful = e.label("doubtful")
        e.branch(e.assign(f"icmp ne i64 {whole}, {INT_MIN}"), fine, doubtful, likely=True)
        e.start(doubtful)
        e.branch(e.assign(f"fcmp oeq double {value}, {float(INT_MIN)!r}"), fine, bad)
    else:
        if "bounded" in inst.attrs.get("flags", ""):
            good = e.assign(f"fcmp ord double {value}, 0.0")
        else:
            above = e.assign(f"fcmp oge double {value}, {float(INT_MIN)!r}")
            below = e.assign(f"fcmp olt double {value}, {-float(INT_MIN)!r}")
            good = e.assign(f"and i1 {above}, {below}")
        e.branch(good, fine, bad, likely=True)
    e.start(bad)
    _truncation_error(e, inst, value)
    e.start(fine)
    return [whole] if e.indefinite else _whole(e, inst, "double", value)


def _whole_lower(e, inst, x):
    return _whole(e, inst, e.scalar(inst.args[0].type), x[0])


def _whole(e, inst, scalar, x):
    """Convert a float with an integral value to an int; with the flag "short" by way of a 32-bit int, since few
    processors convert vectors of floats to 64-bit ints, and all convert them to 32-bit ints."""
    width = "i32" if "short" in inst.attrs.get("flags", "") else "i64"
    whole = e.assign(f"fptosi {scalar} {x} to {width}")
    return [whole if width == "i64" else e.assign(f"sext i32 {whole} to i64")]


def _truncation_error(e, inst, value):
    nan, number, infinite, big = (e.label(h) for h in ("nan", "number", "infinite", "big"))
    e.branch(e.assign(f"fcmp uno double {value}, 0.0"), nan, number)
    e.start(nan)
    e.error(inst, "ValueError", "cannot convert float NaN to integer")
    e.start(number)
    size = e.assign(f"call double @llvm.fabs.f64(double {value})")
    e.branch(e.assign(f"fcmp oeq double {size}, 0x7FF0000000000000"), infinite, big)
    e.start(infinite)
    e.error(inst, "OverflowError", "cannot convert float infinity to integer")
    e.start(big)
    if above := inst.attrs.get("above"):
        unsigned, big = e.label("unsigned"), e.label("big")
        inside = e.assign(f"and i1 {e.assign(f'fcmp oge double {value}, {2.0**63!r}')}, "
                          f"{e.assign(f'fcmp olt double {value}, {2.0**64!r}')}")
        e.branch(inside, unsigned, big)
        e.start(unsigned)
        whole = e.assign(f"fptoui double {value} to i64")
        e.error(inst, "OverflowError", above.replace("%d", "%llu"), f"i64 {whole}")
        e.start(big)
    e.error(inst, "OverflowError", escaped(inst.attrs.get("message", _TOO_BIG)))


def _cast_lower(e, inst, x):
    source, target = inst.args[0].type, inst.attrs["type"]
    if target is k.Bool or target is k.bool_:
        return [_to_bool(e, source, x)]
    if k.is_complex(target):
        part = _part(target)
        if k.is_complex(source):
            return [_to_number(e, _part(source), part, c) for c in x]
        return [_to_number(e, source, part, x[0]), "0.0"]
    if k.is_complex(source):
        source = _part(source)
    return [_to_number(e, source, target, x[0])]


def _part(t):
    return k.float32 if t is k.complex64 else k.float64


def _to_bool(e, source, x):
    if source is k.Bool or source is k.bool_:
        return x[0]
    if k.is_integer(source) or k.is_time(source):
        return e.assign(f"icmp ne {e.scalar(source)} {x[0]}, 0")
    scalar = e.scalar(_part(source) if k.is_complex(source) else source)
    tests = [e.assign(f"fcmp une {scalar} {c}, 0.0") for c in x]
    return tests[0] if len(tests) == 1 else e.assign(f"or i1 {tests[0]}, {tests[1]}")


def _to_number(e, source, target, x):
    """One component converted; neither side is complex and `target` is not a bool."""
    old, new = e.scalar(source), e.scalar(target)
    if k.is_float(target):
        if k.is_float(source):
            return _resize_float(e, old, new, x)
        step = "float" if new == "half" else new  # NumPy converts to half precision through float
        convert = "uitofp" if old == "i1" or not is_signed(source) else "sitofp"
        return _resize_float(e, step, new, e.assign(f"{convert} {old} {x} to {step}"))
    if k.is_float(source):
        return _float_to_int(e, target, _resize_float(e, old, "float" if old == "half" else old, x),
                             "float" if old == "half" else old)
    if old == "i1":
        return e.assign(f"zext i1 {x} to {new}")
    return _resize_int(e, source, old, new, x)


def _resize_float(e, old, new, x):
    order = ("half", "float", "double")
    if old == new:
        return x
    if order.index(old) < order.index(new):
        return e.assign(f"fpext {old} {x} to {new}")
    return e.assign(f"fptrunc {old} {x} to {new}")


def _float_to_int(e, target, x, old):
    """A float converted to an integer as C code for x86 does, and therefore NumPy's astype: out of range it is the
    least value of the integer type of the conversion."""
    bits = 64 if target is k.Int else target.bits
    signed = is_signed(target)
    step = 32 if bits < 32 or bits == 32 and signed else 64
    result = _indefinite(e, x, old, step)
    if bits == 64 and not signed:
        high = e.assign(f"fcmp oge {old} {x}, {float(1 << 63)!r}")
        rest = e.assign(f"fsub {old} {x}, {float(1 << 63)!r}")
        upper = e.assign(f"xor i64 {_indefinite(e, rest, old, 64)}, {INT_MIN}")
        result = e.assign(f"select i1 {high}, i64 {upper}, i64 {result}")
    return result if step == bits else e.assign(f"trunc i{step} {result} to i{bits}")


def _indefinite(e, x, old, bits):
    """fptosi with INT_MIN for values that do not fit: the result of the machine's instruction, but well defined in
    LLVM."""
    low, high = -float(1 << bits - 1), float(1 << bits - 1)
    exclusive = old == "double" and bits == 32  # doubles between -2**31 - 1 and -2**31 truncate into range
    above = e.assign(f"fcmp {'ogt' if exclusive else 'oge'} {old} {x}, {low - exclusive!r}")
    below = e.assign(f"fcmp olt {old} {x}, {high!r}")
    good = e.assign(f"and i1 {above}, {below}")
    safe = e.assign(f"select i1 {good}, {old} {x}, {old} 0.0")
    whole = e.assign(f"fptosi {old} {safe} to i{bits}")
    return e.assign(f"select i1 {good}, i{bits} {whole}, i{bits} {-(1 << bits - 1)}")


# ---------------------------------------------------------------- records


def _fit_rule(types, attrs):
    target = attrs["type"]
    if len(types) != 1 or not isinstance(types[0], (k.NpInt, k.NpFloat)) or not (
            isinstance(target, k.NpInt) and target.signed):
        raise TypeError(f"fit of {types} as {target}: expected an integer or a float of NumPy's, and signed integers")
    return target


def _fits_rule(types, attrs):
    _fit_rule(types, attrs)
    return k.Bool


def _op(name, rule, eval, lower, partials=NONDIFF, doc="", effects=PURE):
    return Op(name, signature(rule) if isinstance(rule, str) else rule, effects, eval=eval, lower=lower,
              partials=partials, doc=doc, eval_attrs=True, cost=CHEAP)


CAST = _op("cast", "x: S -> {type}", _cast, _cast_lower, STRUCTURAL,
           doc="cast {type} (x): x converted as astype does: integers wrap, floats truncate, a complex number gives "
               "its real part, a date its number")
NARROW = _op("narrow", "x: int -> {type}", _narrow, _narrow_lower, effects=RAISES,
             doc="narrow {type} (x): the Python int x as a NumPy integer; OverflowError where it does not fit")
FIT = _op("fit", _fit_rule, _fit, _fit_lower, effects=RAISES,
          doc="fit {type, message} (x): a NumPy number as an element of an array of signed integers, converted by way "
              "of a Python int; ValueError for nan, OverflowError where it does not fit, with the message where a "
              "Python int would not fit in C's long")
FITS = _op("fits", _fits_rule, _fits, _fits_lower, doc="fits {type} (x): whether `fit` would not raise")
FITTED = _op("fitted", _fit_rule, _cast, _fitted_lower,
             doc="fitted {type} (x): x as an element of that type, in which it is known to fit")
TRUNCATE = _op("truncate", "x: F -> int", _truncate, _truncate_lower, effects=RAISES,
               doc="truncate {message, above, flags} (x): int(x); ValueError for nan, OverflowError beyond 64 bits, "
                   "with the text `above` where 64 unsigned bits hold it; bounded: x is nan or fits; short: 32 bits "
                   "are enough")
WHOLE = _op("whole", "x: F -> int", _truncate, _whole_lower,
            doc="whole {flags} (x): int(x) of an x that is known to fit in 64 bits; short: in 32 bits")
CONVERSIONS = frozenset((TRUNCATE, NARROW, FIT))  # conversions that raise where a number does not fit
