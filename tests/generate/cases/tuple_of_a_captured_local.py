import math

@njit
def f(p0, p1, p2):
    v1 = None
    v1 = 0 in (int(p2),)
    for v4 in (v1,):
        p2 = sum((v1 for _ in range(v4)))
    return p2
CALLS = [(1, 1, math.nan), (1, 1, 0.5), (1, 1, 1.5)]
