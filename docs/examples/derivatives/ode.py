"""The parameters of a system of differential equations, fitted to what was measured: hares and lynxes.

Gauss's and Newton's method, with the Jacobian of the solver by forward mode. `python ode.py`
"""
import numpy as np

import pyjitc

TRUE = np.array([1.1, 0.4, 0.1, 0.4])


def solve(p, days):
    """The numbers of hares and lynxes, day by day: Runge's and Kutta's method in steps of a tenth."""
    found = np.empty((days, 2))
    x, y, h = 10.0, 5.0, 0.1
    for day in range(days):
        for _ in range(10):
            ax, ay = p[0] * x - p[1] * x * y, p[2] * x * y - p[3] * y
            u, v = x + 0.5 * h * ax, y + 0.5 * h * ay
            bx, by = p[0] * u - p[1] * u * v, p[2] * u * v - p[3] * v
            u, v = x + 0.5 * h * bx, y + 0.5 * h * by
            cx, cy = p[0] * u - p[1] * u * v, p[2] * u * v - p[3] * v
            u, v = x + h * cx, y + h * cy
            dx, dy = p[0] * u - p[1] * u * v, p[2] * u * v - p[3] * v
            x += h / 6.0 * (ax + 2.0 * bx + 2.0 * cx + dx)
            y += h / 6.0 * (ay + 2.0 * by + 2.0 * cy + dy)
        found[day, 0], found[day, 1] = x, y
    return found


def fit(measured, p, rounds=12):
    jacobian, values = pyjitc.jacfwd(solve), pyjitc.njit(solve)
    days = len(measured)
    for _ in range(rounds):
        j = jacobian(p, days).reshape(-1, 4)
        p = p - np.linalg.lstsq(j, (values(p, days) - measured).ravel(), rcond=None)[0]
    return p


if __name__ == "__main__":
    measured = solve(TRUE, 20) + np.random.default_rng(0).normal(size=(20, 2)) * 0.01
    print("true", TRUE, "fitted", fit(measured, np.array([1.0, 0.35, 0.09, 0.45])).round(4))
