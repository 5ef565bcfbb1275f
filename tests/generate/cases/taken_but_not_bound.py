# A closure takes a variable that no path has bound yet: the next read of it still checks.
@njit
def f(p, n):
    if p:
        v = 1
    else:
        g = lambda: v
        for i in range(n):
            if i > 2:
                return i <= v
    return n
CALLS = [(1, 5), (0, 2), (0, 5)]
