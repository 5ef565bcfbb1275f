import math
import numpy as np


@njit
def f(n):
    for v in range(n):
        raise ValueError()

    def h():
        return v

    return h()


CALLS = [(0,), (1,)]
