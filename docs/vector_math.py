"""Measures the largest error of every function of pyjitc/lib/np/vector.py and writes the table docs/vector_math.md.

python docs/vector_math.py
The reference is NumPy's long double (64 bits of mantissa), so an error is known to about 0.001 ulp.
"""
from pathlib import Path

import numpy as np

from pyjitc import njit

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 2.2e-308, 1e-310, 709.78, 709.79, -745.1, -745.2, 88.72, -103.9, 1e300])


def samples(r):
    normal, tiny = r.normal(0, 1, 400_000), 10.0 ** r.uniform(-300, 2, 200_000)
    return {
        np.exp: [r.uniform(-750, 715, 600_000), normal, tiny],
        np.exp2: [r.uniform(-1080, 1030, 600_000), normal, np.arange(-1074.0, 1024.0)],
        np.log: [10.0 ** r.uniform(-308, 308, 400_000), r.uniform(0.5, 2, 600_000), 1 + r.normal(0, 1e-6, 100_000)],
        np.tanh: [normal, r.uniform(-25, 25, 400_000), tiny],
    }


def error(function, x):
    """(largest error in ulp, where)"""
    exact = function(x.astype(np.longdouble))
    rounded = exact.astype(x.dtype)
    usual = np.isfinite(rounded) & (rounded != 0)
    found = np.abs(njit(lambda a: function(a))(x)[usual].astype(np.longdouble) - exact[usual]) / np.abs(np.spacing(rounded[usual]))
    return float(found.max()), x[usual][found.argmax()]


def main():
    lines = ["# Errors of the vector functions", "", "Largest error seen, in units in the last place of the result, by `python docs/vector_math.py`.",
             "", "| function | float64 | at | float32 | at |", "|---|---|---|---|---|"]
    with np.errstate(all="ignore"):
        for function, parts in samples(np.random.default_rng(5)).items():
            cells = []
            for dtype in (np.float64, np.float32):
                worst, where = error(function, np.concatenate([*parts, SPECIAL]).astype(dtype))
                cells += [f"{worst:.2f}", f"{where:.9g}"]
            lines.append(f"| {function.__name__} | {' | '.join(cells)} |")
    (Path(__file__).parent / "vector_math.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
