"""Distributions: drawing one number, arrays of numbers, and numbers with parameters that are broadcast; and checks of
parameters. A Generator's distributions are NumPy's own C functions; random_legacy.py has those of RandomState that
differ.

Source of the constraints and their messages: numpy/random/_common.pyx.
"""
from __future__ import annotations

from functools import cache, partial

import numpy as np

from ....ops.arith import CAST, FDIV, IADD, ISUB
from ....ops.math import COPYSIGN, EXP, LOG1P, SQRT
from ....ops.memory import ARRAY_DATA, ARRAY_VIEW, POLL
from ....ops.random import NORMAL_TABLE, RANDOM_CALL, RANDOM_DRAW, RANDOM_NEXT, REPARAMETRISED
from ....runtime import random
from ....types.kinds import Array, Float, Int, float64, int64
from ...build import outlined

__all__ = [
    "DRAWS", "COUNTS", "FLAT", "TESTS", "ARRAY_TESTS", "c_function", "fill", "double", "real", "sample",
    "broadcast_sample", "common_shape", "elements", "fits_output", "rows", "check_all", "check_together",
    "check_everywhere", "check_ranges", "check_triangle", "check_hypergeometric", "check_samples",
    "check_negative_binomial", "uniform_range",
]

POISSON_MAX = float(np.iinfo(np.int64).max - np.sqrt(np.iinfo(np.int64).max) * 10)

# Forbidden values of parameters: (test, end of NumPy's message) in the order in which NumPy tests; for a number, and
# for an array.
TESTS = {
    "": (),
    "non_negative": (("negative", "{} < 0"),),
    "positive": (("not_positive", "{} <= 0"),),
    "positive_not_nan": (("nan", "{} must not be NaN"), ("not_positive", "{} <= 0")),
    "bounded_0_1": (("outside_0_1", "{0} < 0, {0} > 1 or {0} is NaN"),),
    "bounded_gt_0_1": (("outside_gt_0_1", "{0} <= 0, {0} > 1 or {0} contains NaNs"),),
    "bounded_lt_0_1": (("outside_lt_0_1", "{0} < 0, {0} >= 1 or {0} is NaN"),),
    "gt_1": (("not_gt_1", "{0} <= 1 or {0} is NaN"),),
    "gte_1": (("not_gte_1", "{0} < 1 or {0} is NaN"),),
    "poisson": (("not_gte_0", "{0} < 0 or {0} is NaN"), ("beyond_poisson", "{} value too large")),
}
ARRAY_TESTS = {
    **TESTS,
    "bounded_0_1": (("outside_0_1", "{0} < 0, {0} > 1 or {0} contains NaNs"),),
    "bounded_lt_0_1": (("outside_lt_0_1", "{0} < 0, {0} >= 1 or {0} contains NaNs"),),
    "gt_1": (("not_gt_1", "{0} <= 1 or {0} contains NaNs"),),
    "gte_1": (("not_gte_1", "{0} < 1 or {0} contains NaNs"),),
    "poisson": (("beyond_poisson", "{} value too large"), ("not_gte_0", "{0} < 0 or {0} contains NaNs")),
}


def fails(test, x):
    if test == "negative":
        return x == x and COPYSIGN(1.0, x) < 0.0
    if test == "not_positive":
        return x <= 0.0
    if test == "nan":
        return x != x
    if test == "outside_0_1":
        return not (x >= 0.0 and x <= 1.0)
    if test == "outside_gt_0_1":
        return not (x > 0.0 and x <= 1.0)
    if test == "outside_lt_0_1":
        return not (x >= 0.0 and x < 1.0)
    if test == "not_gt_1":
        return not x > 1.0
    if test == "not_gte_1":
        return not x >= 1.0
    if test == "not_gte_0":
        return not x >= 0.0
    return not x <= POISSON_MAX


def real(x):
    """A parameter as a double."""
    return CAST(x, type=Float)


def fails_somewhere(test, x):
    if isinstance(x, np.ndarray):
        if x.ndim == 0:
            return fails(test, real(x[()]))
        for i in range(len(x)):
            if fails_somewhere(test, x[i]):
                return True
        return False
    return fails(test, real(x))


def check(x, tests, j=0):
    if j < len(tests):
        if fails_somewhere(tests[j][0], x):
            raise ValueError(tests[j][1])
        check(x, tests, j + 1)


def check_all(args, tests, k=0):
    if k < len(args):
        check(args[k], tests[k])
        check_all(args, tests, k + 1)


FLAT = {float64: Array(float64, 1), int64: Array(int64, 1)}


def sample(gen, draw, args, tests, size, dtype, flat):
    """One number, or an array of numbers. draw(gen, *args): the next number; flat: the type of the array seen as one
    row."""
    check_all(args, tests)
    if size is None:
        return draw(gen, *args)
    out = np.empty(size, dtype)
    row = ARRAY_VIEW(out, 0, out.size, 8, type=flat)
    for i in range(len(row)):
        row[i] = draw(gen, *args)
    return out


@outlined
def broadcast_sample(gen, draw, args, tests, size, dtype, whole):
    """An array of numbers whose parameters are arrays; whole: which parameters are ints."""
    check_all(args, tests)
    if size is None:
        out = np.empty(common_shape(args), dtype)
        fill_broadcast(gen, draw, out, args, whole)
        return out
    out = np.empty(size, dtype)
    fits_output((out,) + args, out)
    fill_broadcast(gen, draw, out, args, whole)
    return out


def common_ndim(args, k=0, n=0):
    if k == len(args):
        return n
    if isinstance(args[k], np.ndarray):
        return common_ndim(args, k + 1, max(n, args[k].ndim))
    return common_ndim(args, k + 1, n)


def common_shape(args):
    n = common_ndim(args)
    return common_lengths(args, n, n)


def common_lengths(args, n, at):
    """The lengths of the last `at` axes of the broadcast shape."""
    if at == 0:
        return ()
    return (common_length(args, at, 0, 1, 0),) + common_lengths(args, n, at - 1)


def common_length(args, at, k, n, first):
    """The length of the broadcast axis `at` positions from the end."""
    if k == len(args):
        return n
    x = args[k]
    if isinstance(x, np.ndarray):
        if x.ndim >= at:
            m = x.shape[x.ndim - at]
            if n != 1 and m != 1 and m != n:
                no_common_shape(args, first, k)
            return common_length(args, at, k + 1, m if n == 1 else n, k if n == 1 and m != 1 else first)
    return common_length(args, at, k + 1, n, first)


@outlined
def no_common_shape(args, i, j):
    raise ValueError("shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg "
                     f"{i} with shape {shape_of(args[i])} and arg {j} with shape {shape_of(args[j])}.")


def shape_of(x):
    if isinstance(x, np.ndarray):
        return x.shape
    return ()


def fits_output(args, out):
    """Check that the parameters, together with the output, can be broadcast to the shape of the output."""
    shape = common_shape(args)
    if shape != out.shape:
        wrong_output(shape, out.shape)


@outlined
def wrong_output(shape, output):
    raise ValueError(f"Output size {output} is not compatible with broadcast dimensions of inputs {shape}.")


def fill_broadcast(gen, draw, out, args, whole):
    if out.ndim == 0:
        out[()] = draw(gen, *elements(args, whole))
    else:
        for i in range(len(out)):
            fill_broadcast(gen, draw, out[i, ...], rows(args, i, out.ndim), whole)


def elements(args, whole, k=0):
    """The parameters as numbers; whole: which are ints."""
    if k == len(args):
        return ()
    x = args[k]
    if isinstance(x, np.ndarray):
        if whole[k]:
            return (CAST(x[()], type=Int),) + elements(args, whole, k + 1)
        return (real(x[()]),) + elements(args, whole, k + 1)
    return (x,) + elements(args, whole, k + 1)


def rows(args, i, ndim, k=0):
    """The parameters for row i of the output."""
    if k == len(args):
        return ()
    x = args[k]
    if isinstance(x, np.ndarray):
        if x.ndim == ndim:
            return (x[0, ...] if len(x) == 1 else x[i, ...],) + rows(args, i, ndim, k + 1)
    return (x,) + rows(args, i, ndim, k + 1)


# -- checks of several parameters together

def is_finite(x):
    return x - x == 0.0


def uniform_range(low, high, message):
    span = high - low
    if not is_finite(span):
        raise OverflowError(message)
    return span


def check_ranges(pair, lengths, ordered):
    """Raise where a difference high - low is not finite; ordered: where it is negative."""
    if len(lengths) == 0:
        low, high = elements(pair, (False, False))
        if ordered:
            if fails("negative", high - low):
                raise ValueError("high - low < 0")
        elif not is_finite(high - low):
            raise OverflowError("Range exceeds valid bounds")
    else:
        for i in range(lengths[0]):
            check_ranges(rows(pair, i, len(lengths)), lengths[1:], ordered)


def check_together(check, args, step):
    """Run all steps of a check of several parameters."""
    if step < 3:
        check(step, *args)
        check_together(check, args, step + 1)


def check_everywhere(check, args, lengths, whole, step):
    """Check parameters that are broadcast: each step checks all elements before the next step begins."""
    if step < 3:
        check_elements(check, args, lengths, whole, step)
        check_everywhere(check, args, lengths, whole, step + 1)


def check_elements(check, args, lengths, whole, step):
    if len(lengths) == 0:
        check(step, *elements(args, whole))
    else:
        for i in range(lengths[0]):
            check_elements(check, rows(args, i, len(lengths)), lengths[1:], whole, step)


def check_triangle(step, left, mode, right):
    if step == 0 and left > mode:
        raise ValueError("left > mode")
    if step == 1 and mode > right:
        raise ValueError("mode > right")
    if step == 2 and left == right:
        raise ValueError("left == right")


def check_hypergeometric(step, good, bad, count):
    if step == 0 and (good >= 1000000000 or bad >= 1000000000):
        raise ValueError("both ngood and nbad must be less than 1000000000")
    check_samples(step, good, bad, count)


def check_samples(step, good, bad, count):
    if step == 1 and IADD(good, bad) < count:
        raise ValueError("ngood + nbad < nsample")


def check_negative_binomial(step, n, p):
    if step == 0 and FDIV(1.0 - p, p) * (n + 10.0 * SQRT(n)) > POISSON_MAX:
        raise ValueError("n too large or p too small, see Generator.negative_binomial Notes")


def double(gen):
    return RANDOM_NEXT(gen, kind="double")


def standard_normal(gen):
    """Marsaglia and Tsang's ziggurat, with NumPy's tables; most numbers need one draw."""
    r = RANDOM_NEXT(gen, kind="uint64")
    i = CAST(r & 0xFF, type=Int)
    m = CAST((r >> 9) & 0xFFFFFFFFFFFFF, type=Int)
    x = CAST(m, type=Float) * NORMAL_TABLE(i, row="w")
    if (r >> 8) & 1 != 0:
        x = -x
    if m < NORMAL_TABLE(i, row="k"):
        return x
    return beside_the_layers(gen, m, i, x)


@outlined
def beside_the_layers(gen, m, i, x):
    if i == 0:
        while True:
            a = -0.27366123732975828 * LOG1P(-double(gen))
            b = -LOG1P(-double(gen))
            if b + b > a * a:
                a += 3.6541528853610088
                return -a if (m >> 8) & 1 else a
    f = NORMAL_TABLE(i, row="f")
    if (NORMAL_TABLE(ISUB(i, 1), row="f") - f) * double(gen) + f < EXP(-0.5 * x * x):
        return x
    return RANDOM_CALL(gen, symbol="random_standard_normal", result=Float)


def normal(gen, loc, scale):
    return loc + scale * standard_normal(gen)


# -- parameters of the distributions

@cache
def c_function(name, result=Float, suffix=""):
    """NumPy's function random_<name><suffix>, called on a generator and the parameters."""
    symbol = f"random_{name}{suffix}"
    return partial(RANDOM_DRAW if symbol in REPARAMETRISED else RANDOM_CALL, symbol=symbol, result=result)


def exponential(gen, scale):
    return scale * RANDOM_CALL(gen, symbol="random_standard_exponential", result=Float)


def gamma(gen, shape, scale):
    return scale * RANDOM_CALL(gen, shape, symbol="random_standard_gamma", result=Float)


def fill(gen, out, symbol):
    """NumPy's own filling of a whole array, which handles no signals."""
    POLL(out.size)
    RANDOM_CALL(gen, out.size, ARRAY_DATA(out), symbol=symbol, result=None, fills=True)


def binomial_c(gen, p, n):
    return RANDOM_CALL(gen, p, n, symbol="random_binomial", result=Int, binomial=True)


# name: parameters as "name:constraint" with "=default"; those that are ints end with "!"
_PARAMETERS = {
    "beta": "a:positive b:positive", "exponential": "scale:non_negative=1.0", "standard_exponential": "",
    "standard_normal": "", "normal": "loc=0.0 scale:non_negative=1.0", "standard_gamma": "shape:non_negative",
    "gamma": "shape:non_negative scale:non_negative=1.0", "f": "dfnum:positive dfden:positive",
    "noncentral_f": "dfnum:positive dfden:positive nonc:non_negative", "chisquare": "df:positive",
    "noncentral_chisquare": "df:positive nonc:non_negative", "standard_cauchy": "", "standard_t": "df:positive",
    "vonmises": "mu kappa:non_negative", "pareto": "a:positive", "weibull": "a:non_negative", "power": "a:positive",
    "laplace": "loc=0.0 scale:non_negative=1.0", "gumbel": "loc=0.0 scale:non_negative=1.0",
    "logistic": "loc=0.0 scale:non_negative=1.0", "lognormal": "mean=0.0 sigma:non_negative=1.0",
    "rayleigh": "scale:non_negative=1.0", "wald": "mean:positive scale:positive", "triangular": "left mode right",
    "poisson": "lam:poisson=1.0", "zipf": "a:gt_1", "geometric": "p:bounded_gt_0_1", "logseries": "p:bounded_lt_0_1",
    "negative_binomial": "n:positive_not_nan p:bounded_gt_0_1", "binomial": "n:non_negative! p:bounded_0_1",
    "hypergeometric": "ngood:non_negative! nbad:non_negative! nsample:non_negative!",
}
COUNTS = ("poisson", "zipf", "geometric", "logseries", "negative_binomial", "hypergeometric", "binomial")
DRAWS = {name: (c_function(name, Int if name in COUNTS else Float), text) for name, text in _PARAMETERS.items()}
if random.normal_tables() is not None:
    DRAWS["normal"] = (normal, _PARAMETERS["normal"])
    DRAWS["standard_normal"] = (standard_normal, "")
DRAWS["exponential"] = (exponential, _PARAMETERS["exponential"])
DRAWS["gamma"] = (gamma, _PARAMETERS["gamma"])
DRAWS["binomial"] = (binomial_c, _PARAMETERS["binomial"])
