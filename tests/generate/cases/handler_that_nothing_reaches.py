# The way into a handler is gone before loads are shared (KeyError of a block without a number).
import numpy as np


@njit
def f(p0, p1, p2):
    for v1 in range(2):
        try:
            p2 = v1 % max(p1, 4)
        except IndexError:
            pass
    return np.float64(p0)


CALLS = [(2, 1, 2)]
