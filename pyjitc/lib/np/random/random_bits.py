"""Integers from random bits: integers, shuffles, permutations and choices, with the same streams as NumPy's.

Source: numpy/random/_bounded_integers.pyx.in, _generator.pyx and mtrand.pyx; sampling without replacement is Floyd's
algorithm with an open hash table, or the tail of a shuffle.
"""
from __future__ import annotations

import numpy as np

from ....ops.arith import CAST, FDIV, IADD, ISUB
from ....ops.memory import ARRAY_DATA, ARRAY_VIEW, POLL
from ....ops.random import RANDOM_BOUNDED, RANDOM_CALL, RANDOM_NEXT
from ....types.kinds import Float, Int, float64, int64, uint32, uint64
from ...build import outlined
from ..shapes import views
from .random_distributions import FLAT, common_shape, double, elements, fits_output, real, rows
from .random_legacy import binomial

__all__ = ["integers", "integers_u64", "integers_array", "shuffle", "permutation", "permuted", "choice",
           "bounded_range"]

ROW, FRACTIONS = FLAT[int64], FLAT[float64]


# -- integers

def bad_bounds(low, closed):
    if low == 0:
        raise ValueError("high < 0" if closed else "high <= 0")
    raise ValueError("low > high" if closed else "low >= high")


def clamped(x):
    """A bound that is a uint64, as an int that is out of the same bounds."""
    return int(x) if x <= 9223372036854775807 else 9223372036854775807


def bounds(low, high, closed, least, most, name):
    """(offset, span): the numbers are offset ... offset + span."""
    if low < least:
        raise ValueError(f"low is out of bounds for {name}")
    if high > most and (closed or ISUB(high, 1) > most):
        raise ValueError(f"high is out of bounds for {name}")
    if low > high or not closed and low == high:
        bad_bounds(low, closed)
    return low, ISUB(high if closed else ISUB(high, 1), low)


def one_integer(gen, low, span, masked):
    """An unsigned number in [low, low + span]. For 32 and 64 bits RandomState draws as many bits as `span` has, until
    the number is not greater than `span`."""
    if masked and isinstance(low, (np.uint32, np.uint64)):
        if span == 0:
            return low
        mask = span | span >> 1
        mask |= mask >> 2
        mask |= mask >> 4
        mask |= mask >> 8
        mask |= mask >> 16
        if span <= 4294967295:
            short = CAST(span, type=uint32)
            cover = CAST(mask, type=uint32)
            drawn = RANDOM_NEXT(gen, kind="uint32") & cover
            while drawn > short:
                drawn = RANDOM_NEXT(gen, kind="uint32") & cover
            return low + drawn
        mask |= mask >> 32
        long = RANDOM_NEXT(gen, kind="uint64") & mask
        while long > span:
            long = RANDOM_NEXT(gen, kind="uint64") & mask
        return low + long
    return RANDOM_BOUNDED(gen, low, span, masked)


def integers(gen, low, high, size, closed, masked, least, most, name, symbol, dtype, t, unsigned):
    """Numbers of NumPy type t (unsigned: the type of the same width that C draws), with bounds that are ints."""
    if size is None:
        low, span = bounds(low, high, closed, least, most, name)
        return CAST(one_integer(gen, CAST(low, type=unsigned), CAST(span, type=unsigned), masked), type=t)
    out = np.empty(size, dtype)
    if out.size > 0:
        low, span = bounds(low, high, closed, least, most, name)
        POLL(out.size)  # NumPy's loop handles no signals
        RANDOM_CALL(gen, CAST(low, type=unsigned), CAST(span, type=unsigned), out.size, masked, ARRAY_DATA(out),
                    symbol=symbol, result=None)
    return out


def integers_below_u64(gen, low, high, size, closed, masked, least, most, name, symbol, dtype, t, unsigned):
    """int64 numbers; the upper bound is a uint64."""
    top = CAST(9223372036854775807, type=uint64)
    if high > top and (closed or high - CAST(1, type=uint64) > top):
        raise ValueError("high is out of bounds for int64")
    if isinstance(low, np.uint64):
        if low > top:
            bad_bounds(1, closed)
        low = int(low)
    if high > top:
        return integers(gen, low, most, size, True, masked, least, most, name, symbol, dtype, t, unsigned)
    return integers(gen, low, int(high), size, closed, masked, least, most, name, symbol, dtype, t, unsigned)


def bounds_u64(low, high, closed):
    if isinstance(low, int):
        if low < 0:
            raise ValueError("low is out of bounds for uint64")
    if isinstance(high, int):
        if high < 0:
            bad_bounds(CAST(low, type=uint64), closed)
    a = CAST(low, type=uint64)
    b = CAST(high, type=uint64)
    if a > b or not closed and a == b:
        bad_bounds(a, closed)
    return a, ISUB(ISUB(b, a), CAST(0 if closed else 1, type=uint64))


def integers_u64(gen, low, high, size, closed, masked):
    """uint64 numbers; a bound is an int or a uint64."""
    if size is None:
        low, span = bounds_u64(low, high, closed)
        return one_integer(gen, low, span, masked)
    out = np.empty(size, np.uint64)
    if out.size > 0:
        low, span = bounds_u64(low, high, closed)
        POLL(out.size)
        RANDOM_CALL(gen, low, span, out.size, masked, ARRAY_DATA(out), symbol="random_bounded_uint64_fill", result=None)
    return out


def mask_of(span):
    """The smallest number of the form 2**k - 1 that is not below `span`."""
    m = span
    m |= m >> 1
    m |= m >> 2
    m |= m >> 4
    m |= m >> 8
    m |= m >> 16
    m |= m >> 32
    return m


def check_low(a, least, name):
    if isinstance(a, np.ndarray):
        if a.ndim > 0:
            for i in range(len(a)):
                check_low(a[i], least, name)
        elif CAST(a[()], type=Int) < least:
            raise ValueError(f"low is out of bounds for {name}")
    elif CAST(a, type=Int) < least:
        raise ValueError(f"low is out of bounds for {name}")


def check_high(a, most, closed, name):
    if isinstance(a, np.ndarray):
        if a.ndim > 0:
            for i in range(len(a)):
                check_high(a[i], most, closed, name)
        elif beyond(CAST(a[()], type=Int), most, closed):
            raise ValueError(f"high is out of bounds for {name}")
    elif beyond(CAST(a, type=Int), most, closed):
        raise ValueError(f"high is out of bounds for {name}")


def beyond(high, most, closed):
    return high > most and (closed or ISUB(high, 1) > most)


def any_nonzero(a):
    if isinstance(a, np.ndarray):
        if a.ndim == 0:
            return CAST(a[()], type=Int) != 0
        for i in range(len(a)):
            if any_nonzero(a[i]):
                return True
        return False
    return a != 0


def check_order(n, pair, lengths, closed, low):
    """Raise where the lower bound of a pair of the broadcast bounds is above the upper one."""
    if len(lengths) == 0:
        a, b = elements(pair, (True, True))
        if a > b or not closed and a == b:
            bad_bounds(1 if any_nonzero(low) else 0, closed)
    else:
        for i in range(lengths[0]):
            check_order(n, rows(pair, i, len(lengths)), lengths[1:], closed, low)


@outlined
def integers_array(gen, low, high, size, closed, masked, least, most, name, symbol, dtype, t, unsigned, buffered):
    """Numbers with bounds that are arrays. buffered: short numbers share the 32 bits of a draw."""
    if size is None:
        shape = common_shape((low, high))
    else:
        shape = size
    out = np.empty(shape, dtype)
    if size is not None and out.size == 0:
        return out
    check_low(low, least, name)
    check_high(high, most, closed, name)
    check_order(0, (low, high), common_shape((low, high)), closed, low)
    if size is not None:
        fits_output((low, high, out), out)
    rest = np.zeros(2, np.uint32)
    fill_integers(gen, out, (low, high), rest, closed, masked, symbol, t, unsigned, buffered)
    return out


def fill_integers(gen, out, pair, rest, closed, masked, symbol, t, unsigned, buffered):
    if out.ndim == 0:
        low, high = elements(pair, (True, True))
        span = ISUB(high if closed else ISUB(high, 1), low)
        mask = CAST(mask_of(CAST(CAST(span, type=unsigned), type=uint64)), type=unsigned)
        if buffered:
            drawn = RANDOM_CALL(gen, CAST(low, type=unsigned), CAST(span, type=unsigned), mask, masked,
                                ARRAY_DATA(rest), IADD(ARRAY_DATA(rest), 4), symbol=symbol, result=unsigned)
        else:
            drawn = RANDOM_CALL(gen, CAST(low, type=unsigned), CAST(span, type=unsigned), mask, masked, symbol=symbol,
                                result=unsigned)
        out[()] = CAST(drawn, type=t)
    else:
        for i in range(len(out)):
            fill_integers(gen, out[i, ...], rows(pair, i, out.ndim), rest, closed, masked, symbol, t, unsigned,
                          buffered)


def interval(gen, last):
    """A number in [0, last], by rejection with a mask."""
    return CAST(RANDOM_CALL(gen, last, symbol="random_interval", result=uint64), type=Int)


def bounded(gen, last):
    """A number in [0, last], by Lemire's method."""
    return CAST(RANDOM_CALL(gen, 0, last, 0, False, symbol="random_bounded_uint64", result=uint64), type=Int)


# -- shuffles

def swap(x, y):
    if x.ndim == 0:
        kept = x[()].copy()
        x[()] = y[()]
        y[()] = kept
    else:
        for i in range(len(x)):
            swap(x[i, ...], y[i, ...])


def shuffle(gen, x, axis):
    """x: writable; axis: known, not negative."""
    if x.ndim == 1:
        for i in range(len(x) - 1, 0, -1):
            j = interval(gen, i)
            kept = x[j].copy()  # a record is a view
            x[j] = x[i]
            x[i] = kept
    elif x.size > 0:
        for i in range(x.shape[axis] - 1, 0, -1):
            j = interval(gen, i)
            if i != j:
                swap(x[(slice(None),) * axis + (i, ...)], x[(slice(None),) * axis + (j, ...)])


def counting(n):
    out = np.empty(n if n > 0 else 0, np.int64)
    for i in range(len(out)):
        out[i] = i
    return out


def copied(x):
    out = np.empty(x.shape, x.dtype)
    out[...] = x
    return out


def permutation(gen, x, axis):
    """x: an int, or an array with the axis known."""
    if isinstance(x, np.ndarray):
        if x.ndim == 1:
            out = copied(x)
            shuffle(gen, out, 0)
            return out
        return taken(x, permutation(gen, x.shape[axis], 0), axis)
    out = counting(x)
    shuffle(gen, out, 0)
    return out


def taken(x, index, axis):
    """The slices `index` (an array of any shape) of x along `axis`, as x.take(index, axis)."""
    out = np.empty(x.shape[:axis] + index.shape + x.shape[axis + 1:], x.dtype)
    take_into(out, x, index, axis)
    return out


def take_into(out, x, index, axis):
    if axis > 0:
        for i in range(len(out)):
            take_into(out[i, ...], x[i, ...], index, axis - 1)
    elif index.ndim == 0:
        out[...] = x[index[()], ...]
    else:
        for i in range(len(out)):
            take_into(out[i, ...], x, index[i, ...], 0)


# -- choice

def sum_compensated(p):
    """Kahan's summation."""
    if len(p) == 0:
        return 0.0
    total = CAST(p[0], type=Float)
    rest = 0.0
    for i in range(1, len(p)):
        y = CAST(p[i], type=Float) - rest
        t = total + y
        rest = (t - total) - y
        total = t
    return total


@outlined
def check_probabilities(p, n, tolerance, texts):
    if len(p) != n:
        raise ValueError(texts[1])
    total = sum_compensated(p)
    if total != total:
        raise ValueError(texts[2])
    for i in range(len(p)):
        if p[i] < 0:
            raise ValueError(texts[3])
    if abs(total - 1.0) > tolerance:
        raise ValueError(texts[4])


@outlined
def cumulated(p):
    cdf = np.empty(len(p), np.float64)
    total = 0.0
    for i in range(len(p)):
        total = total + p[i] if i > 0 else p[0]
        cdf[i] = total
    for i in range(len(p)):
        cdf[i] = cdf[i] / total
    return cdf


def place(cdf, x):
    """cdf.searchsorted(x, side='right')."""
    low = 0
    high = len(cdf)
    while low < high:
        middle = IADD(low, ISUB(high, low) >> 1)
        if x < cdf[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@outlined
def weighted(gen, p, count, out):
    """Distinct indices with probabilities p; an index that was drawn has probability 0 from then on."""
    positive = 0
    for i in range(len(p)):
        if p[i] > 0.0:
            positive = positive + 1
    if positive < count:
        raise ValueError("Fewer non-zero entries in p than size")
    found = 0
    seen = np.zeros(len(p), np.bool_)
    while found < count:
        for i in range(found):
            p[out[i]] = 0.0
        cdf = cumulated(p)
        wanted = count - found
        drawn = np.empty(wanted, np.float64)
        for i in range(wanted):
            drawn[i] = double(gen)
        for i in range(len(p)):
            seen[i] = False
        for i in range(wanted):
            at = place(cdf, drawn[i])
            if not seen[at]:
                seen[at] = True
                out[found] = at
                found = found + 1


def tail_shuffle(gen, data, first):
    for i in range(len(data) - 1, first - 1, -1):
        j = bounded(gen, i)
        kept = data[j]
        data[j] = data[i]
        data[i] = kept


@outlined
def distinct(gen, n, count, out, shuffled):
    """`count` distinct numbers below n into out."""
    if n > 10000 and count > n // (50 if shuffled else 20):
        all_ = counting(n)
        tail_shuffle(gen, all_, max(n - count, 1))
        for i in range(count):
            out[i] = all_[n - count + i]
        return
    mask = CAST(mask_of(CAST(CAST(1.2 * CAST(count, type=Float), type=Int), type=uint64)), type=Int)
    table = np.full(IADD(mask, 1), -1, np.int64)
    for j in range(n - count, n):
        value = bounded(gen, j)
        at = value & mask
        while table[at] != -1 and table[at] != value:
            at = IADD(at, 1) & mask
        if table[at] == -1:
            table[at] = value
            out[j - n + count] = value
        else:
            at = j & mask
            while table[at] != -1:
                at = IADD(at, 1) & mask
            table[at] = j
            out[j - n + count] = j
    if shuffled:
        tail_shuffle(gen, out, 1)


@outlined
def indices(gen, n, shape, replace, p, shuffled, legacy, tolerance, texts):
    """Indices below n, an array."""
    count = views.product(shape, 0, 1)
    if n <= 0 and count != 0:
        raise ValueError(texts[0])
    if p is not None:
        check_probabilities(p, n, tolerance, texts)
    if not replace:
        if count > n:
            raise ValueError(texts[5])
        if count < 0:
            raise ValueError(texts[6])
    out = np.empty(shape, np.int64)
    row = row_of(out)
    if p is not None:
        if replace:
            cdf = cumulated(as_doubles(p))
            for i in range(len(row)):
                row[i] = place(cdf, double(gen))
        else:
            weighted(gen, as_doubles(p), count, row)
    elif replace:
        if count > 0:
            POLL(count)
            RANDOM_CALL(gen, 0, ISUB(n, 1), count, legacy, ARRAY_DATA(out), symbol="random_bounded_uint64_fill",
                        result=None)
    elif legacy:
        all_ = permutation(gen, n, 0)
        for i in range(count):
            row[i] = all_[i]
    else:
        distinct(gen, n, count, row, shuffled)
    return out


def row_of(out):
    return ARRAY_VIEW(out, 0, out.size, 8, type=ROW)


def as_doubles(p):
    out = np.empty(len(p), np.float64)
    for i in range(len(p)):
        out[i] = p[i]
    return out


def choice(gen, a, size, replace, p, axis, shuffled, legacy, tolerance, texts):
    """a: an int, or an array with the axis known."""
    if size is None:
        shape = ()
    elif isinstance(size, tuple):
        shape = size
    else:
        shape = (size,)
    if isinstance(a, np.ndarray):
        found = indices(gen, a.shape[axis], shape, replace, p, shuffled, legacy, tolerance, texts)
        if size is None and a.ndim == 1:
            return a[found[()]]
        return taken(a, found, axis)
    found = indices(gen, a, shape, replace, p, shuffled, legacy, tolerance, texts)
    if size is None:
        return CAST(found[()], type=Int)
    return found


# -- functions for integers and for floats

def bounded_range(gen, low, high):
    return RANDOM_CALL(gen, low, high - low, symbol="random_uniform", result=Float)


def permuted(gen, x, axis):
    """A copy in which the elements of each line along the axis are shuffled separately."""
    out = np.empty_like(x)
    out[...] = x
    permute_lines(gen, out, axis)
    return out


def permuted_all(gen, x, row):
    """A copy of x (in C or Fortran order) with all elements shuffled, in the order of memory; row: their type as a
    row."""
    out = np.empty_like(x)
    out[...] = x
    shuffle(gen, ARRAY_VIEW(out, 0, out.size, out.itemsize, type=row), 0)
    return out


def permute_lines(gen, x, axis):
    if x.ndim == 1:
        shuffle(gen, x, 0)
    elif axis == 0:
        for i in range(x.shape[1]):
            permute_lines(gen, x[:, i, ...], 0)
    else:
        for i in range(len(x)):
            permute_lines(gen, x[i, ...], axis - 1)


def with_last(size, d):
    if size is None:
        return (d,)
    if isinstance(size, tuple):
        return size + (d,)
    return (size, d)


@outlined
def check_chances(p):
    for i in range(len(p)):
        if not (p[i] >= 0.0 and p[i] <= 1.0):
            raise ValueError("pvals < 0, pvals > 1 or pvals contains NaNs")
    if len(p) > 0:
        if sum_compensated(p[:len(p) - 1]) > 1.0 + 1e-12:
            raise ValueError("sum(pvals[:-1]) > 1.0")


def multinomial(gen, n, pvals, size, legacy):
    p = as_doubles(pvals)
    check_chances(p)
    d = len(p)
    out = np.zeros(with_last(size, d), np.int64)
    if n < 0:
        raise ValueError("n < 0")
    row = row_of(out)
    if d > 0:
        for start in range(0, len(row), d):
            if legacy:
                multinomial_into(gen, n, p, row, start)
            else:
                RANDOM_CALL(gen, n, IADD(ARRAY_DATA(row), start * 8), ARRAY_DATA(p), d, symbol="random_multinomial",
                            result=None, binomial=True)
    return out


@outlined
def multinomial_into(gen, n, p, row, start):
    d = len(p)
    left = 1.0
    for j in range(d - 1):
        chance = FDIV(real(p[j]), left)
        drawn = 0 if chance == 0.0 else binomial(gen, chance, n)  # a chance of zero takes no random number here
        row[start + j] = drawn
        n = ISUB(n, drawn)
        if n <= 0:
            break
        left -= real(p[j])
    if n > 0:
        row[start + d - 1] = n


def dirichlet(gen, alpha, size, draw, legacy):
    a = as_doubles(alpha)
    most = 0.0
    for i in range(len(a)):
        if a[i] < 0.0 or legacy and a[i] == 0.0:
            raise ValueError("alpha <= 0" if legacy else "alpha < 0")
        if not a[i] <= most:
            most = a[i]
    d = len(a)
    out = np.zeros(with_last(size, d), np.float64)
    row = ARRAY_VIEW(out, 0, out.size, 8, type=FRACTIONS)
    if not legacy and d > 0 and most < 0.1:
        by_breaking(gen, a, row)
    elif d > 0:
        for start in range(0, len(row), d):
            total = 0.0
            for j in range(d):
                x = draw(gen, real(a[j]))
                row[start + j] = x
                total = total + x
            scale = FDIV(1.0, total)
            for j in range(d):
                row[start + j] = row[start + j] * scale
    return out


@outlined
def by_breaking(gen, a, row):
    """The Dirichlet distribution for small parameters, by stick breaking: each number is a fraction, drawn from a beta
    distribution, of the rest that the previous numbers leave of 1."""
    d = len(a)
    sums = np.empty(d, np.float64)
    total = 0.0
    for j in range(d - 1, -1, -1):
        total = total + a[j]
        sums[j] = total
    if total > 0.0:
        for start in range(0, len(row), d):
            left = 1.0
            for j in range(d - 1):
                v = RANDOM_CALL(gen, real(a[j]), real(sums[j + 1]), symbol="random_beta", result=Float)
                row[start + j] = left * v
                left *= 1.0 - v
                if sums[j + 1] == 0.0:
                    break
            row[start + d - 1] = left
