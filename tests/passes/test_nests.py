"""Fusion of loop nests where other things stand between them."""
import numpy as np
from tests.oracle import agree


def test_a_producer_in_an_earlier_block_is_kept_when_its_reader_fuses():
    def f(p, x):
        p[1:-1] = (p[1:-1] + p[:-2]) * x ** 2  # the power raises where it overflows: a block of its own

    def g(p, x):
        for _ in range(2):
            q = p.copy()
            p[1:-1] = (q[1:-1] + q[:-2]) * x ** 2 / (2 * (x ** 2 + x ** 2))
            p[-1, :] = 0

    a = np.arange(25.0).reshape(5, 5)
    for function in (f, g):
        compiled = agree(function, a, 2.0)
        agree(function, a, 1e200, compiled=compiled)
