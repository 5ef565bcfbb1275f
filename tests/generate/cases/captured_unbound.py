import math
import numpy as np


@njit
def f(a, n):
    if n > 5:
        v = n
    try:
        if n == 2:
            (lambda: w)()
            w = 1
    except NameError:
        return 0.0
    return (lambda x: x - v)(a)


CALLS = [(1.5, 0), (1.5, 10), (1.5, 2)]
