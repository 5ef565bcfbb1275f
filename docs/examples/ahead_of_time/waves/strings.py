"""The wave equation on a string that is held at both ends."""
import numpy as np
from pyjitc import njit

COURANT = 0.9  # how far a wave goes in a step, in distances between points


@njit("float64[::1](int64, float64)")
def pluck(points, place=0.5):
    """The string, pulled to height 1 at a place between 0 and 1."""
    if not 0.0 < place < 1.0:
        raise ValueError(f"a place must be between 0 and 1, not {place}")
    x = np.linspace(0.0, 1.0, points)
    return np.where(x < place, x / place, (1.0 - x) / (1.0 - place))


@njit
def curvature(now, i):
    return now[i - 1] - 2.0 * now[i] + now[i + 1]


@njit("void(float64[::1], float64[::1], int64)")
def step(before, now, steps=1):
    """Let time pass: the state of the string is what it was before and what it is now."""
    for _ in range(steps):
        for i in range(1, len(now) - 1):
            before[i] = 2.0 * now[i] - before[i] + COURANT**2 * curvature(now, i)
        for i in range(1, len(now) - 1):
            before[i], now[i] = now[i], before[i]


@njit("float64(float64[::1], float64[::1])")
def energy(before, now):
    """Energy of motion and of tension."""
    motion = now - before
    tension = np.diff(now)
    return (motion * motion).sum() + COURANT**2 * (tension * tension).sum()
