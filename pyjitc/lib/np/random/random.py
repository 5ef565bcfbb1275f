"""np.random: methods of Generator and RandomState objects, and NumPy's functions on its global RandomState.

An object is a reference to the Python object (kinds.Instance); draws go through the bit generator inside it, so that
the stream, and the object afterwards, are NumPy's. See ops/random.py about threads.
"""
from __future__ import annotations


import numpy as np

from ....base.errors import did_you_mean
from ....infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, NotConstant, NotNative, Throw
from ....ops import pyobject
from ....ops.arith import IADD_CK
from ....ops.memory import ARRAY_LOAD, ARRAY_VIEW
from ....ops.random import RANDOM_GLOBAL
from ....ops.structure import DISCARD, METHOD_MAKE, TUPLE_MAKE
from ....runtime import random as runtime
from ....types import kinds as k
from ....types.kinds import Array, DType, Float, Instance, Int, NoneType, Singleton, is_number
from ....types.lattice import dtype_of
from ...build import apply, cast, is_list, type_name
from ...protocol import ByReference, protocol_of
from ...rule import NONE, NumberOrArray, rule
from ...py import conversions
from . import random_bits as bits
from . import random_distributions as distributions
from . import random_legacy as legacy_draws
from ..arrays.creation import scalar_of
from ..axes import as_axis, integer

__all__ = ["CALLS", "PROTOCOLS"]

def _path(legacy, name):
    return f"np.random.{'RandomState' if legacy else 'Generator'}.{name}"


def _function(value) -> Const:
    return Const(Singleton(value), value)


def _plain(value) -> Const:
    """A text, or a tuple of texts, as a constant."""
    if isinstance(value, tuple):
        parts = [_plain(x) for x in value]
        return Const(k.Tuple([p.type for p in parts]), value)
    return Const(k.Str, value) if isinstance(value, str) else Const(k.Bool if isinstance(value, bool) else Int, value)


def _type(t) -> Const:
    """A type as an argument of library functions that pass it to operations."""
    return Const(Singleton(t), t)


def _dtype(t) -> Const:
    return Const(DType(t), dtype_of(t))


def _size(name, size: Expr) -> Expr:
    t = size.type
    if is_list(t):
        size = Apply(TUPLE_MAKE, *protocol_of(t).elements(size), cls=None)
        t = size.type
    parts = t.elements if isinstance(t, k.Tuple) else (t,)
    if t is not NoneType and not all(x is Int or isinstance(x, k.NpInt) for x in parts):
        raise NotNative(f"{name}() with a size of type {type_name(t)} is not compiled",
                        "pass an int, a tuple of ints, or None")
    if any(isinstance(x, k.NpInt) for x in parts):
        if not isinstance(t, k.Tuple):
            return conversions.to_int(size)
        return Apply(TUPLE_MAKE, *map(conversions.to_int, protocol_of(t).elements(size)), cls=None)
    return size


def _real(name, x: Expr) -> Expr:
    """A parameter of a distribution converted to double; an array is unchanged."""
    if isinstance(x.type, Array):
        if isinstance(x.type.dtype, k.NpComplex):
            raise Mismatch(f"Cannot cast array data from dtype('{x.type.dtype}') to dtype('float64') according to the "
                           f"rule 'safe'")
        return x if x.type.ndim else cast(Apply(ARRAY_LOAD, x), Float)
    if not is_number(x.type) or x.type is k.Complex or isinstance(x.type, k.NpComplex):
        raise NotNative(f"{name}() with a parameter of type {type_name(x.type)} is not compiled",
                        "pass a number or an array of numbers")
    return x if x.type is Float else cast(x, Float)


_NO_CAST = "Cannot cast array data from dtype('{}') to dtype('int64') according to the rule 'safe'"


def _whole(name, x: Expr) -> Expr:
    """A parameter converted to int; an array of int64 is unchanged."""
    t = x.type.dtype if isinstance(x.type, Array) else x.type
    if not (t is Int or t is k.Bool or t is k.NpBool or isinstance(t, k.NpInt)) or t is k.uint64:
        if not is_number(t):
            raise NotNative(f"{name}() with a parameter of type {type_name(x.type)} is not compiled",
                            "pass an int or an array of ints")
        shown = {Float: "float64", k.Complex: "complex128"}.get(t, t)
        raise Mismatch(_NO_CAST.format(shown))
    if isinstance(x.type, Array):
        if x.type.ndim == 0:
            return cast(Apply(ARRAY_LOAD, x), Int)
        if t is not k.int64:
            raise NotNative(f"{name}() with an array of {t} for a whole number is not compiled",
                            "convert it with .astype(np.int64)")
        return x
    return cast(x, Int)


# -- distributions

def _distribution(legacy, name, draw, text):
    parts = [part.partition("=") for part in text.split()]
    names = [p[0].partition(":")[0] for p in parts]
    whole = [p[0].endswith("!") for p in parts]
    rules = [p[0].rstrip("!").partition(":")[2] for p in parts]
    signature = ", ".join(["gen", *(f"{n}: NumberOrArray{'=' if p[2] else ''}{p[2]}" for n, p in zip(names, parts)),
                           "size=None"])
    counts = name in distributions.COUNTS
    dtype = k.int64 if counts else k.float64

    @rule(_path(legacy, name), signature)
    def found(gen, *values):
        *values, size = values
        if any(w and x.type is k.uint64 for x, w in zip(values, whole)):  # NumPy raises for it at the call
            return Throw(TypeError, _NO_CAST.format("uint64"))
        values = [(_whole if w else _real)(name, x) for w, x in zip(whole, values)]
        arrays = any(isinstance(x.type, Array) for x in values)
        shown = ["" if name in ("normal",) and n == "loc" else n for n in names]
        table = distributions.ARRAY_TESTS if arrays else distributions.TESTS
        tests = [tuple((test, message.format(n)) for test, message in table[r]) for r, n in zip(rules, shown)]
        ints = whole
        if name == "binomial":  # NumPy checks p first
            values, tests, ints = values[::-1], tests[::-1], whole[::-1]
        args = Apply(TUPLE_MAKE, *values, cls=None)
        checked = (_function(draw), args, _plain(tuple(tests)), _size(name, size or NONE), _dtype(dtype))
        extra = _EXTRA.get(name) if draw is distributions.DRAWS[name][0] or name != "negative_binomial" else None
        if draw is legacy_draws.hypergeometric:
            extra = distributions.check_samples
        if extra is not None:
            whole_args = _plain(tuple(ints))
            if arrays:
                return Call(after_checks, _function(extra), _plain(name == "negative_binomial"), gen, *checked,
                            whole_args)
            return Call(after_check, _function(extra), _plain(name == "negative_binomial"), gen, *checked,
                        _type(distributions.FLAT[dtype]))
        if arrays:
            return Call(distributions.broadcast_sample, gen, *checked, _plain(tuple(ints)))
        return Call(distributions.sample, gen, *checked, _type(distributions.FLAT[dtype]))

    return found


_EXTRA = {"triangular": distributions.check_triangle, "hypergeometric": distributions.check_hypergeometric,
          "negative_binomial": distributions.check_negative_binomial}


def after_check(check, late, gen, draw, args, tests, size, dtype, flat):
    """Draw after a check of several parameters together. late: this check comes after those of single parameters."""
    if late:
        distributions.check_all(args, tests)
    distributions.check_together(check, args, 0)
    return distributions.sample(gen, draw, args, tests, size, dtype, flat)


def after_checks(check, late, gen, draw, args, tests, size, dtype, whole):
    if late:
        distributions.check_all(args, tests)
    distributions.check_everywhere(check, args, distributions.common_shape(args), whole, 0)
    return distributions.broadcast_sample(gen, draw, args, tests, size, dtype, whole)


@rule("np.random.Generator.standard_gamma")
def _standard_gamma(gen, shape: NumberOrArray, size=None, dtype=np.float64, out=None):
    t = scalar_of(dtype) if dtype.type is not NoneType else k.float64
    if t is not k.float64 and t is not k.float32:
        return Throw(TypeError, f"Unsupported dtype dtype('{dtype_of(t)}') for standard_gamma")
    if t is k.float64 and out is None:
        return _distribution(False, "standard_gamma", *distributions.DRAWS["standard_gamma"]).function(gen, shape, size)
    shape = _real("standard_gamma", shape)
    if isinstance(shape.type, Array):
        raise NotNative("standard_gamma() of float32, or into an array, with shapes that are an array is not compiled",
                        "pass a number")
    draw = distributions.c_function("standard_gamma", t, "" if t is k.float64 else "_f")
    size = _size("standard_gamma", size or NONE)
    if out:
        wrong = _wrong_output(out, t)
        if wrong is not None:
            return wrong
        return Call(gamma_out, gen, _function(draw), shape, out, size, _type(Array(t, 1)))
    if size.type is NoneType:
        return Call(gamma_one, gen, _function(draw), shape, _dtype(t))
    return Call(gamma_new, gen, _function(draw), shape, size, _dtype(t), _type(Array(t, 1)))


def check_shape(shape):
    if shape == shape and np.signbit(shape):
        raise ValueError("shape < 0")


def gamma_one(gen, draw, shape, dtype):
    check_shape(shape)
    return float(draw(gen, dtype.type(shape)))


def gamma_row(gen, draw, shape, out, row):
    line = ARRAY_VIEW(out, 0, out.size, out.itemsize, type=row)
    for i in range(len(line)):
        line[i] = draw(gen, out.dtype.type(shape))
    return out


def gamma_new(gen, draw, shape, size, dtype, row):
    check_shape(shape)
    return gamma_row(gen, draw, shape, np.empty(size, dtype), row)


def gamma_out(gen, draw, shape, out, size, row):
    check_shape(shape)
    if size is not None:
        if (size if isinstance(size, tuple) else (size,)) != out.shape:
            raise ValueError("size must match out.shape when used together")
    return gamma_row(gen, draw, shape, out, row)


def _uniform(legacy):
    @rule(_path(legacy, "uniform"))
    def found(gen, low: NumberOrArray = 0.0, high: NumberOrArray = 1.0, size=None):
        low, high = _real("uniform", low), _real("uniform", high)
        function = uniform_array if isinstance(low.type, Array) or isinstance(high.type, Array) else uniform
        return Call(function, gen, low, high, _size("uniform", size or NONE), Const(k.Bool, legacy))

    return found


def uniform(gen, low, high, size, legacy):
    if legacy:
        span = distributions.uniform_range(low, high, "Range exceeds valid bounds")
        return distributions.sample(gen, UNIFORM, (low, span), ((), ()), size, np.float64, ROW)
    span = distributions.uniform_range(low, high, "high - low range exceeds valid bounds")
    return distributions.sample(gen, UNIFORM, (low, span), ((), (("negative", "high - low < 0"),)), size, np.float64,
                                ROW)


def uniform_array(gen, low, high, size, legacy):
    distributions.check_ranges((low, high), distributions.common_shape((low, high)), False)
    if not legacy:
        distributions.check_ranges((low, high), distributions.common_shape((low, high)), True)
    return distributions.broadcast_sample(gen, bits.bounded_range, (low, high), ((), ()), size, np.float64,
                                          (False, False))


UNIFORM = distributions.c_function("uniform")
ROW = distributions.FLAT[k.float64]


# -- numbers of the unit interval and standard ones, of either precision

def _filled(name, symbol):
    method = ", method: Constant = 'zig'" if name == "standard_exponential" else ""

    @rule(f"np.random.Generator.{name}", f"gen, size=None, dtype=np.float64{method}, out=None")
    def found(gen, size, dtype, *rest):
        *method, out = rest
        t = scalar_of(dtype) if dtype.type is not NoneType else k.float64
        if t is not k.float64 and t is not k.float32:
            return Throw(TypeError, f"Unsupported dtype dtype('{dtype_of(t)}') for {name}")
        suffix = "" if t is k.float64 else "_f"
        full = symbol if method in ([], ["zig"]) else f"{symbol}_inv"
        draw = distributions.c_function(full.removeprefix("random_"), t, suffix)
        if name == "standard_normal" and t is k.float64:
            draw = distributions.DRAWS[name][0]
        one = f"{full}_fill{suffix}"
        size = _size(name, size or NONE)
        if out:
            wrong = _wrong_output(out, t)
            if wrong is not None:
                return wrong
            return Call(fill_out, gen, out, size, _plain(one))
        if size.type is NoneType:
            if full.endswith("_inv"):
                return Call(one_filled, gen, _dtype(t), _plain(one))
            return (cast(CallValue(_function(draw), gen), Float) if t is k.float64
                    else Call(as_double, _function(draw), gen))
        return Call(fill_new, gen, size, _dtype(t), _plain(one))

    return found


def _wrong_output(out, t):
    if not isinstance(out.type, Array):
        raise NotNative(f"out of type {type_name(out.type)} is not compiled", "pass an array")
    if out.type.layout == "A" or not out.type.writable or not out.type.aligned:
        return Throw(ValueError,
                     "Supplied output array must be contiguous, writable, aligned, and in machine byte-order.")
    if out.type.dtype is not t:
        return Throw(TypeError, f"Supplied output array has the wrong type. Expected {dtype_of(t)}, got "
                                f"{dtype_of(out.type.dtype)}")
    return None


def as_double(draw, gen):
    return float(draw(gen))


def one_filled(gen, dtype, symbol):
    out = np.empty(1, dtype)
    distributions.fill(gen, out, symbol)
    return float(out[0])


def fill_new(gen, size, dtype, symbol):
    out = np.empty(size, dtype)
    distributions.fill(gen, out, symbol)
    return out


def fill_out(gen, out, size, symbol):
    if size is not None:
        if (size if isinstance(size, tuple) else (size,)) != out.shape:
            raise ValueError("size must match out.shape when used together")
    distributions.fill(gen, out, symbol)
    return out


def _random_sample(name):
    @rule(_path(True, name))
    def found(gen, size=None):
        return _unit_interval(gen, size)

    return found


def _unit_interval(gen, size):
    return GENERATOR["random"].function(gen, size, _dtype(k.float64), None)


@rule("np.random.RandomState.rand")
def _rand(gen, *args):
    return _unit_interval(gen, _dimensions(args))


@rule("np.random.RandomState.randn")
def _randn(gen, *args):
    return LEGACY["standard_normal"].function(gen, _dimensions(args))


def _dimensions(args):
    return Apply(TUPLE_MAKE, *args, cls=None) if args else None


# -- integers

def _integers(name, legacy):
    @rule(_path(legacy, name), "gen, low: NumberOrArray, high: NumberOrArray = None, size=None, dtype="
          + ("int" if legacy else "np.int64, endpoint: Constant = False"))
    def found(gen, low, high, size, dtype, closed=False):
        closed, size = Const(k.Bool, bool(closed)), size or NONE
        if high is None:
            low, high = Const(Int, 0), low
        t = scalar_of(dtype) if dtype.type is not NoneType else k.float64
        if not isinstance(t, k.NpInt) and t is not k.NpBool:
            return Throw(TypeError, f"Unsupported dtype dtype('{dtype_of(t)}') for {name}")
        made = _drawn_integers(name, gen, low, high, _size(name, size), closed, Const(k.Bool, legacy), t)
        cls = dtype.type.value if isinstance(dtype.type, Singleton) else None
        if (size.type is NoneType and cls in (int, bool) and not isinstance(low.type, Array)
            and not isinstance(high.type, Array)):
            return Call(as_python, made, _function(cls))
        return made

    return found


def as_python(x, cls):
    return cls(x)


def _drawn_integers(name, gen, low, high, size, closed, masked, t):
    low, high = (Apply(ARRAY_LOAD, x) if isinstance(x.type, Array) and x.type.ndim == 0 else x for x in (low, high))
    arrays = isinstance(low.type, Array) or isinstance(high.type, Array)
    unsigned = k.NpBool if t is k.NpBool else k.NpInt(t.bits, False)
    for x in (low, high):
        s = x.type.dtype if isinstance(x.type, Array) else x.type
        if (not is_number(s) or k.is_complex(s) or arrays
            and not (s is Int or s is k.Bool or isinstance(s, k.NpInt) and s is not k.uint64)):
            raise NotNative(f"{name}() with a bound of type {type_name(x.type)} is not compiled",
                            "pass ints or arrays of them")
    if arrays and t is k.uint64:
        raise NotNative(f"{name}() of dtype uint64 with bounds that are arrays is not compiled")
    if t is k.uint64:
        low, high = (x if x.type is k.uint64 else conversions.to_int(x) for x in (low, high))
        return Call(bits.integers_u64, gen, low, high, size, closed, masked)
    drawn = bits.integers
    if high.type is k.uint64 and t is k.int64:
        drawn = bits.integers_below_u64
    else:
        low, high = (x if isinstance(x.type, Array) else Call(bits.clamped, x) if x.type is k.uint64
                     else conversions.to_int(x) for x in (low, high))
    least, most = (0, 1) if t is k.NpBool else (int(np.iinfo(dtype_of(t)).min), int(np.iinfo(dtype_of(t)).max))
    word = "bool" if t is k.NpBool else str(t)
    c = "bool" if t is k.NpBool else str(unsigned)
    facts = (Const(Int, least), Const(Int, most), _plain(word))
    if arrays:
        symbol = "random_bounded_uint64" if c == "uint64" else f"random_buffered_bounded_{c}"
        return Call(bits.integers_array, gen, low, high, size, closed, masked, *facts, _plain(symbol), _dtype(t),
                    _type(t), _type(unsigned), _plain(c != "uint64"))
    return Call(drawn, gen, low, high, size, closed, masked, *facts, _plain(f"random_bounded_{c}_fill"),
                _dtype(t), _type(t), _type(unsigned))


# -- shuffles

def _axis(name, x: Expr, ndim: int):
    x = as_axis(x)
    if not x.known or x.type is not Int:
        raise NotConstant(f"the axis of {name}() must be known at compile time", "write a constant")
    if not -ndim <= x.value < ndim:
        return Call(bad_axis, x, Const(Int, ndim))
    return Const(Int, x.value % ndim)


AxisError = np.exceptions.AxisError


def bad_axis(axis, ndim):
    raise AxisError(axis, ndim, None)


def _shuffle(legacy):
    @rule(_path(legacy, "shuffle"), "gen, x" if legacy else "gen, x, axis=0")
    def found(gen, x, *axis):
        if not isinstance(x.type, Array):
            raise NotNative(f"shuffle() of a value of type {type_name(x.type)} is not compiled", "pass an array")
        if x.type.ndim == 0:
            return Throw(TypeError, "len() of unsized object")
        if not x.type.writable:
            return Throw(ValueError, "array is read-only")
        axis = _axis("shuffle", axis[0], x.type.ndim) if axis else Const(Int, 0)
        return axis if isinstance(axis, Call) else Call(bits.shuffle, gen, x, axis)

    return found


def _permutation(legacy):
    @rule(_path(legacy, "permutation"), "gen, x: NumberOrArray" if legacy else "gen, x: NumberOrArray, axis=0")
    def found(gen, x, *axis):
        if isinstance(x.type, Array):
            if x.type.ndim == 0 and legacy:
                return Throw(IndexError, "x must be an integer or at least 1-dimensional")
            axis = _axis("permutation", axis[0], x.type.ndim) if axis else Const(Int, 0)
            return axis if isinstance(axis, Call) else Call(bits.permutation, gen, x, axis)
        if x.type is k.Bool or x.type is not Int and not isinstance(x.type, k.NpInt) or x.type is k.uint64:
            raise NotNative(f"permutation() of a value of type {type_name(x.type)} is not compiled",
                            "pass an int or an array")
        return Call(bits.permutation, gen, conversions.to_int(x), Const(Int, 0))

    return found


_TEXTS = {
    False: ("a must be a positive integer unless no samples are taken", "a and p must have same size",
            "Probabilities contain NaN", "Probabilities are not non-negative",
            "Probabilities do not sum to 1. See Notes section of docstring for more information.",
            "Cannot take a larger sample than population when replace is False", "negative dimensions are not allowed"),
    True: ("a must be greater than 0 unless no samples are taken", "'a' and 'p' must have same size",
           "probabilities contain NaN", "probabilities are not non-negative", "probabilities do not sum to 1",
           "Cannot take a larger sample than population when 'replace=False'", "Negative dimensions are not allowed"),
}
_EMPTY = {False: "a cannot be empty unless no samples are taken",
          True: "'a' cannot be empty unless no samples are taken"}


def _choice(legacy):
    @rule(_path(legacy, "choice"), "gen, a: NumberOrArray, size=None, replace=True, p: NumberOrArray = None"
          + ("" if legacy else ", axis=0, shuffle=True"))
    def found(gen, a, size, replace, p, axis=Const(Int, 0), shuffled=Const(k.Bool, True)):
        if isinstance(a.type, Array) and a.type.ndim == 0:
            a = Apply(ARRAY_LOAD, a)
        texts = _TEXTS[legacy]
        if isinstance(a.type, Array):
            if legacy and a.type.ndim != 1:
                return Throw(ValueError, "a must be 1-dimensional")
            axis = as_axis(axis, integer)
            if not axis.known or axis.type is not Int:
                raise NotConstant("the axis of choice() must be known at compile time", "write a constant")
            if not -a.type.ndim <= axis.value < a.type.ndim:
                return Throw(IndexError, "tuple index out of range")
            axis = Const(Int, axis.value % a.type.ndim)
            texts = (_EMPTY[legacy], *texts[1:])
        elif a.type is Int or isinstance(a.type, k.NpInt):
            a = conversions.to_int(a)
        elif k.is_number(a.type) and a.type is not k.Bool and a.type is not k.NpBool:
            return Throw(ValueError, "a must be 1-dimensional or an integer" if legacy else
                         f"a must be a sequence or an integer, not <class '{type_name(a.type)}'>")
        else:
            raise NotNative(f"choice() from a value of type {type_name(a.type)} is not compiled",
                            "pass an int or an array")
        tolerance = float(np.sqrt(np.finfo(np.float64).eps))
        if p:
            wrong = _row("choice", "p", p)
            if wrong is not None:
                return Throw(ValueError, "'p' must be 1-dimensional" if legacy else "p must be 1-dimensional")
            if isinstance(p.type.dtype, k.NpFloat):
                tolerance = max(tolerance, float(np.sqrt(np.finfo(dtype_of(p.type.dtype)).eps)))
        for x, word in ((replace, "replace"), (shuffled, "shuffle")):
            if x.type not in (k.Bool, k.NpBool, Int):
                raise NotNative(f"choice() with {word} of type {type_name(x.type)} is not compiled",
                                "write True or False")
        return Call(bits.choice, gen, a, _size("choice", size or NONE), replace, p or NONE, axis, shuffled,
                    Const(k.Bool, legacy), Const(Float, tolerance), _plain(texts))

    return found


def _row(name, word, x: Expr):
    """An argument of library functions: None if `x` has one axis, else True."""
    if not isinstance(x.type, Array) or isinstance(x.type.dtype, k.NpComplex):
        raise NotNative(f"{name}() with {word} of type {type_name(x.type)} is not compiled", "pass an array of floats")
    return None if x.type.ndim == 1 else True


@rule("np.random.Generator.permuted")
def _permuted(gen, x: NumberOrArray, *, axis=None, out=None):
    if out:
        if not isinstance(out.type, Array):
            raise Mismatch("out must be a numpy array")
        if isinstance(x.type, Array) and (out.type.ndim != x.type.ndim):
            return Throw(ValueError, "out must have the same shape as x")
        if not out.type.writable:
            return Throw(ValueError, "array is read-only")
        return Call(put_permuted, gen, x, out, axis or NONE)
    if not isinstance(x.type, Array) or x.type.ndim == 0:
        raise NotNative(f"permuted() of a value of type {type_name(x.type)} is not compiled", "pass an array")
    if axis is None:
        if x.type.layout == "A" and x.type.ndim > 1:
            raise NotNative("permuted() of an array that is not contiguous is not compiled without axis", "pass a copy")
        t = Array(x.type.dtype, 1)
        return Call(bits.permuted_all, gen, x, _type(t))
    axis = _axis("permuted", axis, x.type.ndim)
    return axis if isinstance(axis, Call) else Call(bits.permuted, gen, x, axis)


def put_permuted(gen, x, out, axis):
    if out.shape != x.shape:
        raise ValueError("out must have the same shape as x")
    np.copyto(out, gen.permuted(x, axis=axis), casting="safe")
    return out


def _bytes(legacy):
    @rule(_path(legacy, "bytes"))
    def found(gen, length):
        return Apply(pyobject.PY_UNBOX, _python(gen, "bytes", [length], {}), type=k.Bytes)

    return found


@rule("np.random.RandomState.random_integers")
def _random_integers(gen, low, high=None, size=None):
    if high is None:
        low, high = Const(Int, 1), low
    if high.type is not Int and not isinstance(high.type, k.NpInt):
        raise NotNative(f"random_integers() with a bound of type {type_name(high.type)} is not compiled",
                        "pass ints, or use randint")
    return LEGACY["randint"].function(gen, low, apply(IADD_CK, conversions.to_int(high), Const(Int, 1)), size,
                                      _dtype(k.int64))


def _multinomial(legacy):
    @rule(_path(legacy, "multinomial"))
    def found(gen, n: NumberOrArray, pvals: NumberOrArray, size=None):
        n = _whole("multinomial", n)
        if isinstance(n.type, Array) or _row("multinomial", "pvals", pvals):
            raise NotNative("multinomial() of several n or rows of pvals is not compiled", "loop over them")
        if k.is_float(pvals.type.dtype) and pvals.type.dtype is not k.float64:  # NumPy says another thing of their sum
            raise NotNative(f"multinomial() with pvals of dtype {pvals.type.dtype} is not compiled",
                            "convert them with .astype(np.float64)")
        return Call(bits.multinomial, gen, n, pvals, _size("multinomial", size or NONE), Const(k.Bool, legacy))

    return found


def _dirichlet(legacy):
    @rule(_path(legacy, "dirichlet"))
    def found(gen, alpha: NumberOrArray, size=None):
        if _row("dirichlet", "alpha", alpha):
            raise NotNative("dirichlet() with alpha of several dimensions is not compiled", "pass a row of numbers")
        draw = (legacy_draws.LEGACY if legacy else distributions.DRAWS)["standard_gamma"][0]
        size = _size("dirichlet", size or NONE)
        return Call(bits.dirichlet, gen, alpha, size, _function(draw), Const(k.Bool, legacy))

    return found


@rule("np.random.RandomState.tomaxint")
def _tomaxint(gen, size=None):
    return Call(distributions.sample, gen, _function(distributions.c_function("positive_int", Int)),
                Const(k.Tuple(()), ()), _plain(()), _size("tomaxint", size or NONE), _dtype(k.int64),
                _type(distributions.FLAT[k.int64]))


# -- tables of rules

def _in_python(legacy, name, signature, dtype):
    """The rule of a method that spends its time in linear algebra or works on the state: it is called in Python.
    `dtype`: the dtype of the array that the method returns, which has one axis more than `size`."""
    @rule(_path(legacy, name), signature)
    def found(gen, first, second, size, *more):
        t = _size(name, size or NONE).type
        ndim = 1 if t is NoneType else 1 + (len(t.elements) if isinstance(t, k.Tuple) else 1)
        last = {"method": more[-1]} if "*" in signature else {}
        made = _python(gen, name, [first, second, size or NONE, *(more[:-1] if last else more)], last)
        return Call(taken_over, made, _type(Array(dtype, ndim)))

    return found


def taken_over(made, t):
    """A copy of an array that Python made."""
    found = pyobject.PY_UNBOX(made, type=t)
    out = np.empty(found.shape, found.dtype)
    out[...] = found
    pyobject.KEEP(made)
    return out


def _state(name):
    """The rule of get_state or set_state, which pass the state as a Python object."""
    @rule(_path(True, name))
    def found(gen, *args, **kwargs):
        done = _python(gen, name, args, kwargs)
        return done if name == "get_state" else Apply(DISCARD, done)

    return found


@rule("np.random.RandomState.seed")
def _seed(gen, *args, **kwargs):
    return Apply(DISCARD, _python(gen, "seed", args, kwargs))


@rule("np.random.seed")
def _seed_of_global(*args, **kwargs):
    return Apply(DISCARD, _python(None, "seed", args, kwargs))


def _python(gen, name, args, kwargs):
    """A call in Python of a method, or of the function np.random.<name>, which machine code in the cache can find by
    its name."""
    owner = (Apply(pyobject.PY_GETATTR, Const(k.Object, np), name="random") if gen is None
             else Apply(pyobject.PY_BOX, gen))
    callee = Apply(pyobject.PY_GETATTR, owner, name=name)
    return Apply(pyobject.PY_CALL, callee,
                 *(x if x.type is k.Object else Apply(pyobject.PY_BOX, x) for x in [*args, *kwargs.values()]),
                 kwnames=tuple(kwargs))


def _object(cls, name):
    """The rule of a function that makes an object, which is called in Python; cls: the class of the object, None where
    compiled code only passes it on."""
    @rule(f"np.random.{name}")
    def found(*args, **kwargs):
        made = _python(None, name, args, kwargs)
        return made if cls is None else Apply(pyobject.PY_UNBOX, made, type=Instance(cls))

    return found


GENERATOR = {name: _distribution(False, name, *pair) for name, pair in distributions.DRAWS.items()}
GENERATOR |= {
    "random": _filled("random", "random_standard_uniform"),
    "standard_normal": _filled("standard_normal", "random_standard_normal"),
    "standard_exponential": _filled("standard_exponential", "random_standard_exponential"), "uniform": _uniform(False),
    "integers": _integers("integers", False), "shuffle": _shuffle(False), "permutation": _permutation(False),
    "standard_gamma": _standard_gamma, "choice": _choice(False), "permuted": _permuted,
    "multinomial": _multinomial(False), "dirichlet": _dirichlet(False), "bytes": _bytes(False),
    "multivariate_normal": _in_python(
        False, "multivariate_normal", "gen, mean, cov, size=None, check_valid='warn', tol=1e-08, *, method='svd'",
        k.float64),
    "multivariate_hypergeometric": _in_python(
        False, "multivariate_hypergeometric", "gen, colors, nsample, size=None, method='marginals'", k.int64),
}
LEGACY = {name: _distribution(True, name, *pair) for name, pair in legacy_draws.LEGACY.items()}
LEGACY |= {
    "random_sample": _random_sample("random_sample"), "random": _random_sample("random"), "rand": _rand,
    "randn": _randn, "uniform": _uniform(True), "randint": _integers("randint", True), "shuffle": _shuffle(True),
    "permutation": _permutation(True), "choice": _choice(True), "multinomial": _multinomial(True),
    "dirichlet": _dirichlet(True), "tomaxint": _tomaxint, "seed": _seed, "bytes": _bytes(True),
    "random_integers": _random_integers, "get_state": _state("get_state"), "set_state": _state("set_state"),
    "multivariate_normal": _in_python(
        True, "multivariate_normal", "gen, mean, cov, size=None, check_valid='warn', tol=1e-08", k.float64),
}


def _methods(cls) -> dict:
    return GENERATOR if cls is np.random.Generator else LEGACY


class _Drawing(ByReference):
    """Generator and RandomState objects."""

    def attribute(self, x, name):
        cls = x.type.cls
        known = _methods(cls)
        if name in known:
            if runtime.bitgen_offset(cls) is None or cls is np.random.RandomState and runtime.gauss_offset() is None:
                raise NotNative("this version of NumPy keeps its generators where compiled code does not find them",
                                "draw outside the function")
            return Apply(METHOD_MAKE, x, name=name)
        if name == "bit_generator" and cls is np.random.Generator:
            return Apply(pyobject.PY_GETATTR, Apply(pyobject.PY_BOX, x), name=name)
        if hasattr(cls, name):
            raise NotNative(f"{cls.__name__}.{name} is not compiled yet", "call it outside the compiled function",
                            AttributeError)
        raise Mismatch(f"'{cls.__module__}.{cls.__name__}' object has no attribute '{name}'",
                       did_you_mean(name, known), AttributeError)

    def method(self, x, name, args, kwargs):
        return _methods(x.type.cls)[name]([x, *args], kwargs)


PROTOCOLS = {Instance: _Drawing()}


def _on_global(name):
    """The rule of a function of np.random: the method of NumPy's global RandomState."""
    def of_global(args, kwargs):
        gen = Apply(RANDOM_GLOBAL, cls=np.random.RandomState)
        PROTOCOLS[Instance].attribute(gen, name)
        return LEGACY[name]([gen, *args], kwargs)

    return of_global


CALLS = {getattr(np.random, name): _on_global(name) for name in LEGACY if name not in ("seed", "tomaxint")}
CALLS |= {
    np.random.ranf: _on_global("random_sample"), np.random.sample: _on_global("random_sample"),
    np.random.seed: _seed_of_global,
    np.random.default_rng: _object(np.random.Generator, "default_rng"),
    np.random.RandomState: _object(np.random.RandomState, "RandomState"),
    np.random.Generator: _object(np.random.Generator, "Generator"),
    **{getattr(np.random, name): _object(None, name)
       for name in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64", "SeedSequence")},
}
