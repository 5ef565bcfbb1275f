"""The number of bins of a histogram for which the name of an estimator is given. Sources of the estimators: the
documentation of np.histogram_bin_edges."""
from __future__ import annotations

import numpy as np

__all__ = ["ESTIMATORS", "bins_for"]

ESTIMATORS = ("auto", "doane", "fd", "rice", "scott", "sqrt", "sturges")


def spread(x):
    return np.max(x) - np.min(x)


def by_quartiles(x):
    """Freedman and Diaconis's estimator."""
    q = np.empty(2, np.float64)
    q[0], q[1] = 75.0, 25.0
    high = np.percentile(x, q)
    return 2.0 * (high[0] - high[1]) * len(x) ** (-1.0 / 3.0)


def by_skewness(x):
    """Doane's estimator."""
    n = len(x)
    found = np.float64(0.0)
    if n > 2:
        deviation = np.std(x)
        if deviation > 0.0:
            error = np.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
            skewness = np.mean(((x - np.mean(x)) / deviation) ** 3)
            found = np.float64(spread(x) / (1.0 + np.log2(n) + np.log2(1.0 + np.abs(skewness) / error)))
    return found


def width(x, method):
    n = len(x)
    if method == "sqrt":
        return spread(x) / np.sqrt(n)
    if method == "sturges":
        return spread(x) / (np.log2(n) + 1.0)
    if method == "rice":
        return spread(x) / (2.0 * n ** (1.0 / 3))
    if method == "scott":
        return (24.0 * np.pi ** 0.5 / n) ** (1.0 / 3.0) * np.std(x)
    if method == "doane":
        return by_skewness(x)
    if method == "fd":
        return by_quartiles(x)
    return min(max(by_quartiles(x), width(x, "sqrt") / 2), width(x, "sturges"))


def within(a, first, last):
    count = 0
    for i in range(len(a)):
        if a[i] >= first and a[i] <= last:
            count += 1
    kept = np.empty(count, a.dtype)
    count = 0
    for i in range(len(a)):
        if a[i] >= first and a[i] <= last:
            kept[count] = a[i]
            count += 1
    return kept


def bins_for(a, method, limits, first, last):
    kept = a if limits is None else within(a, first, last)
    if len(kept) == 0:
        return 1
    size = width(kept, method)
    if size == 0:
        return 1
    if a.dtype.kind in "iu" and size < 1:
        return int(np.ceil(last - first))
    return int(np.ceil((last - first) / size))
