# LLVM 22.1.0 mixed signed and unsigned comparisons of a counter that goes below 0 in its first of two steps.
import numpy as np

@njit
def f(kind, x):
    a = np.ones(3, dtype=np.float64)
    total = 0
    if kind == 0:
        for i in reversed(range(-1, 1)):
            a[i] = x
    elif kind == 1:
        for i in range(0, -2, -1):
            total += 10
            if i < 0:
                total += 1
                if i > -4:
                    total += 100
                else:
                    return total + 1000, a
    elif kind == 2:
        i = 0
        while i > -2:
            a[i] += x
            i -= 1
    else:
        for i in range(1, -4, -3):
            a[i] += x
    return total, a
CALLS = [(0, 2.0), (1, 2.0), (2, 2.0), (3, 2.0)]
