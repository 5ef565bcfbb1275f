import math
import numpy as np


@njit
def f(a, x, y):
    try:
        z = a[x]
        w = x * y
    except IndexError:
        w = 1
    v = x * y
    return w - v


CALLS = [(np.zeros(2), 1, 5), (np.zeros(2), 7, 5)]
