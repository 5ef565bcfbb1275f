"""The derivative of the gamma function at whole numbers, where its value is computed as a product of whole numbers:
`whole_gamma_tangent` and `whole_gamma_backward`, see `Ruled` in ops/derivative.py.
"""
from __future__ import annotations

import math

from ...ops.arith import FDIV
from .mathfn import whole_gamma

__all__: list[str] = []


def digamma(x):
    """The derivative of lgamma(x) for x > 0: its asymptotic series, from a number on where it is exact to a double."""
    total = 0.0
    while x < 10.0:
        total = total - FDIV(1.0, x)
        x = x + 1.0
    y = FDIV(1.0, x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y / 12))))))
    return total + math.log(x) - FDIV(0.5, x) - series


def whole_gamma_tangent(x, x_t):
    return x_t * (whole_gamma(x) * digamma(x))


def whole_gamma_backward(x, result, g):
    return (g * (whole_gamma(x) * digamma(x)),)
