"""Sorting of numbers and dates by the digits of their keys, as a stable sort: no comparison that a processor could guess wrong.

An element's rank is the integer that is ordered as the elements are; its key, how far the rank is above the lowest. The
leading digits of keys nearly always tell them apart: three passes over those (LSD radix sort), then insertion, which gives
up where it has much to do; then all digits are sorted by.
Source of the passes: D. E. Knuth, The Art of Computer Programming, volume 3, section 5.2.5, algorithm R.
"""
from __future__ import annotations

import numpy as np

from ...ops.arith import CAST, IADD, IAND, IMUL, ISHL, ISHR, ISUB, IXOR
from ...ops.memory import ARRAY_LOAD, ARRAY_STORE
from ...types.kinds import Int
from ..build import outlined

__all__ = ["radix_sort", "with_bits"]

WIDEST = 11  # bits of a digit: the counts of three digits fit in the nearest cache
DIGITS = 3
LOWEST = -9223372036854775808


def with_bits(a):
    """The same memory as integers; their ranks are those of `order`."""
    kind = a.dtype.kind
    if kind in "fmM":
        return a.view(np.int64 if a.itemsize == 8 else np.int32 if a.itemsize == 4 else np.int16)
    return a.view(np.uint8) if kind == "b" else a


def rank(x, floating):
    """Negative floats have their magnitude below the sign: minus it; so -0.0 is as 0.0 is."""
    n = CAST(x, type=Int)
    if floating:
        sign = ISHR(n, 63)
        return ISUB(IXOR(IAND(n, 9223372036854775807 if x.dtype.itemsize == 8 else 2147483647 if x.dtype.itemsize == 4 else 32767), sign), sign)
    return IXOR(n, LOWEST) if x.dtype == np.uint64 else n


def digit(a, i, floating, low, shift, mask):
    return IAND(ISHR(ISUB(rank(ARRAY_LOAD(a, i), floating), low), shift), mask)


@outlined
def pass_by(a, spare, places, spare_places, n, floating, low, shift, width, counts):
    """Order by one digit into spare; False where all have the same."""
    mask = ISUB(ISHL(1, width), 1)
    for k in range(IADD(mask, 1)):
        ARRAY_STORE(counts, k, np.int64(0))
    for i in range(n):
        k = digit(a, i, floating, low, shift, mask)
        ARRAY_STORE(counts, k, ARRAY_LOAD(counts, k) + np.int64(1))
    if CAST(ARRAY_LOAD(counts, digit(a, 0, floating, low, shift, mask)), type=Int) == n:
        return False
    at = np.int64(0)
    for k in range(IADD(mask, 1)):
        count = ARRAY_LOAD(counts, k)
        ARRAY_STORE(counts, k, at)
        at = at + count
    for i in range(n):
        k = digit(a, i, floating, low, shift, mask)
        to = CAST(ARRAY_LOAD(counts, k), type=Int)
        ARRAY_STORE(counts, k, np.int64(IADD(to, 1)))
        ARRAY_STORE(spare, to, ARRAY_LOAD(a, i))
        if places is not None:
            ARRAY_STORE(spare_places, to, ARRAY_LOAD(places, i))
    return True


def copied(target, source, n):
    for i in range(n):
        ARRAY_STORE(target, i, ARRAY_LOAD(source, i))


def by_digits(a, spare, places, spare_places, n, floating, low, shift, width, digits, counts):
    """Order by `digits` digits from bit `shift`."""
    swapped = False
    for d in range(digits):
        if shift >= 64:
            break
        if swapped:
            swapped = not pass_by(spare, a, spare_places, places, n, floating, low, shift, width, counts)
        else:
            swapped = pass_by(a, spare, places, spare_places, n, floating, low, shift, width, counts)
        shift = IADD(shift, width)
    if swapped:
        copied(a, spare, n)
        if places is not None:
            copied(places, spare_places, n)


def inserted(a, places, n, floating):
    """Insertion, of elements that are nearly in order; False where they are not."""
    left = IMUL(n, 4)
    for i in range(1, n):
        x = ARRAY_LOAD(a, i)
        r = rank(x, floating)
        j = ISUB(i, 1)
        if r < rank(ARRAY_LOAD(a, j), floating):
            p = None if places is None else ARRAY_LOAD(places, i)
            while j >= 0 and r < rank(ARRAY_LOAD(a, j), floating):
                ARRAY_STORE(a, IADD(j, 1), ARRAY_LOAD(a, j))
                if places is not None:
                    ARRAY_STORE(places, IADD(j, 1), ARRAY_LOAD(places, j))
                j = ISUB(j, 1)
            ARRAY_STORE(a, IADD(j, 1), x)
            if places is not None:
                ARRAY_STORE(places, IADD(j, 1), p)
            left = ISUB(left, ISUB(i, j))
            if left < 0:
                return False
    return True


def length(n):
    """Bits of n, as an unsigned number."""
    bits = 0
    while n != 0 and bits < 64:
        n = ISHR(n, 1)
        bits = IADD(bits, 1)
    return bits


def radix_sort(a, spare, places, spare_places, n, floating):
    """Sort the first n elements of the array `a` of bits, without nan; places, if any, move along."""
    low = high = rank(ARRAY_LOAD(a, 0), floating)
    for i in range(n):
        r = rank(ARRAY_LOAD(a, i), floating)
        low = min(low, r)
        high = max(high, r)
    bits = length(ISUB(high, low))
    width = min(WIDEST, length(n))
    leading = IMUL(width, DIGITS)
    counts = np.empty(ISHL(1, width), np.int64)
    if bits > leading:
        by_digits(a, spare, places, spare_places, n, floating, low, ISUB(bits, leading), width, DIGITS, counts)
        if inserted(a, places, n, floating):
            return
    by_digits(a, spare, places, spare_places, n, floating, low, 0, width, (bits + width - 1) // width, counts)
