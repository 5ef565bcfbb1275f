import math
import numpy as np


@njit
def f(a, t):
    a[0] = np.float32(math.nan)
    a[1] = np.float64(math.nan)
    return np.float32(math.nan) if t else np.float32(-0.0)


CALLS = [(np.zeros(2), True), (np.zeros(2), False)]
