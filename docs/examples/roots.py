"""Root finding with functions as arguments: closures, tuples, and an exception with run-time arguments."""
import math

import numpy as np

from pyjitc import njit


@njit
def newton(f, x, tolerance):
    """`f(x)` returns (value, slope). Returns (root, iterations)."""
    for n in range(50):
        value, slope = f(x)
        if slope == 0.0:
            raise ValueError("the slope vanishes at", x)
        step = value / slope
        x -= step
        if abs(step) < tolerance:
            return x, n + 1
    raise ValueError("no root in 50 iterations, last at", x)


@njit
def eccentric_anomaly(mean, eccentricity):
    """Kepler's equation E - e sin E = M."""
    def kepler(e):
        return e - eccentricity * math.sin(e) - mean, 1.0 - eccentricity * math.cos(e)

    root, _ = newton(kepler, mean, 1e-13)
    return root


@njit
def orbit(eccentricity, n):
    path = np.empty((n, 2))
    failed = 0
    for i in range(n):
        try:
            e = eccentric_anomaly(2.0 * math.pi * i / n, eccentricity)
        except ValueError:
            failed += 1
            continue
        path[i, 0] = math.cos(e) - eccentricity
        path[i, 1] = math.sqrt(1.0 - eccentricity * eccentricity) * math.sin(e)
    return path, failed


def load():
    return 0.6, 100_000


def run(eccentricity, n):
    return orbit(eccentricity, n)


def report(result, folder):
    path, failed = result
    far = math.sqrt((path ** 2).sum(axis=1).max())
    return f"{len(path):,} points of an orbit, {failed} failed, farthest {far:.6f}"
