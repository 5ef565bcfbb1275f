"""Stable radix sort of numbers and dates: without comparisons, there are no branches to mispredict.

The rank of an element is an integer with the same order; its key is the difference to the lowest rank. The leading
digits nearly always distinguish keys: there are three passes over these (LSD radix sort), then an insertion sort, which
gives up where there is much left to do; then all digits are sorted.
Source of the passes: D. E. Knuth, The Art of Computer Programming, volume 3, section 5.2.5, algorithm R.
"""
from __future__ import annotations

import numpy as np

from ....ops.arith import CAST, IADD, IAND, IMUL, ISHL, ISHR, ISUB, IXOR
from ....ops.math import BITS
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE, ROW_COPY
from ....ops.structure import CHOOSE
from ....types.kinds import Int
from ...build import outlined, unvectorised

__all__ = ["radix_sort", "with_bits"]

WIDEST = 11  # bits of a digit: the counts of three digits fit in the L1 cache
DIGITS = 3
FEW = 24
LOWEST = -9223372036854775808
LARGEST = 0x7FFF, 0x7FFFFFFF, 0x7FFFFFFFFFFFFFFF  # the largest integers of 16, 32 and 64 bits
INFINITY = 0x7C00, 0x7F800000, 0x7FF0000000000000


def with_bits(a):
    """The memory of `a` seen as integers, from which `rank` computes integers in the order of the elements."""
    kind = a.dtype.kind
    if kind in "fmM":
        return a.view(np.int64 if a.itemsize == 8 else np.int32 if a.itemsize == 4 else np.int16)
    return a.view(np.uint8) if kind == "b" else a


def rank(x, kind):
    """The rank of an element. Of negative floats the magnitude is below the sign bit: the rank is its negative, so that
    -0.0 equals 0.0. NaNs and NaT have the highest ranks."""
    n = CAST(x, type=Int)
    if kind == "f":
        most = LARGEST[x.dtype.itemsize >> 2]
        sign, magnitude = ISHR(n, 63), IAND(n, most)
        return CHOOSE(magnitude > INFINITY[x.dtype.itemsize >> 2], most, ISUB(IXOR(magnitude, sign), sign))
    if kind == "m":
        return ISUB(n, 1)
    return IXOR(n, LOWEST) if x.dtype == np.uint64 else n


def digit(x, kind, low, shift, mask):
    return IAND(ISHR(ISUB(rank(x, kind), low), shift), mask)


def pass_by(a, spare, places, spare_places, n, kind, low, shift, width):
    """Sort by one digit from `a` into `spare`."""
    shift, width = IAND(shift, 63), IAND(width, 63)
    mask = ISUB(ISHL(1, width), 1)
    counts = np.zeros(IADD(mask, 1), np.int64)
    for i in range(n):
        k = digit(ARRAY_LOAD(a, i), kind, low, shift, mask)
        ARRAY_STORE(counts, k, ARRAY_LOAD(counts, k) + np.int64(1))
    at = np.int64(0)
    for k in range(IADD(mask, 1)):
        count = ARRAY_LOAD(counts, k)
        ARRAY_STORE(counts, k, at)
        at = at + count
    for i in range(n):
        x = ARRAY_LOAD(a, i)
        k = digit(x, kind, low, shift, mask)
        to = CAST(ARRAY_LOAD(counts, k), type=Int)
        ARRAY_STORE(counts, k, np.int64(IADD(to, 1)))
        # loaded here: before the counts are loaded, the processor would wait for the store of the last step
        move(places, i, spare_places, to)
        ARRAY_STORE(spare, to, x)


def put(places, i, p):
    if places is not None:
        ARRAY_STORE(places, i, p)


def move(a, i, b, j):
    if a is not None:
        ARRAY_STORE(b, j, ARRAY_LOAD(a, i))


def copied(target, source, n):
    if source is not None:
        ROW_COPY(target, source, n)


@unvectorised
def inserted(a, places, n, kind):
    """Insertion sort of at least two elements, if they are few or nearly in order; otherwise it stops and returns
    False. Each step places x, or moves one element up."""
    i = 1
    x = ARRAY_LOAD(a, 1)
    p = None if places is None else ARRAY_LOAD(places, 1)
    j = 0
    for _ in range(IADD(IMUL(n, 5), IMUL(FEW, FEW))):
        if j >= 0 and rank(x, kind) < rank(ARRAY_LOAD(a, j), kind):
            move(a, j, a, IADD(j, 1))
            move(places, j, places, IADD(j, 1))
            j = ISUB(j, 1)
        else:
            ARRAY_STORE(a, IADD(j, 1), x)
            put(places, IADD(j, 1), p)
            j = i
            i = IADD(i, 1)
            if i >= n:
                return True
            x = ARRAY_LOAD(a, i)
            if places is not None:
                p = ARRAY_LOAD(places, i)
    ARRAY_STORE(a, IADD(j, 1), x)
    put(places, IADD(j, 1), p)
    return False


def length(n):
    """The number of bits of n, as an unsigned number, or one more."""
    return 64 if n < 0 else max(ISUB(ISHR(BITS(float(n)), 52), 1022), 0)


@outlined
def extent(a, n, kind):
    """(whether the elements are in order, least rank, greatest rank)"""
    low = high = previous = rank(ARRAY_LOAD(a, 0), kind)
    ordered = True
    for i in range(n):
        r = rank(ARRAY_LOAD(a, i), kind)
        ordered &= previous <= r
        previous = r
        low = min(low, r)
        high = max(high, r)
    return ordered, low, high


@unvectorised
def radix_sort(a, spare, places, spare_places, n, kind):
    """Sort the first n elements of the array `a` of integers with no nan; places, if any, are permuted alike."""
    if n <= FEW:
        inserted(a, places, n, kind)
        return
    ordered, low, high = extent(a, n, kind)
    if ordered:
        return
    bits = length(ISUB(high, low))
    width = min(WIDEST, max(ISUB(length(n), 2), 4))
    shift = max(ISUB(bits, IMUL(width, DIGITS)), 0)
    while True:
        whole = shift == 0
        source, target, source_places, target_places = a, spare, places, spare_places
        swapped = False
        while shift < bits:
            pass_by(source, target, source_places, target_places, n, kind, low, shift, width)
            source, target, source_places, target_places = target, source, target_places, source_places
            swapped = not swapped
            shift = IADD(shift, width)
        if swapped:
            copied(a, spare, n)
            copied(places, spare_places, n)
        if whole or inserted(a, places, n, kind):
            return
        shift = 0
