"""Suite `parallel`: loops over `prange`, whole-array statements, and kernels of the suite `npbench`, against Numba with
`parallel=True`, and against themselves on one thread. Both use all cores that this process may use."""
from __future__ import annotations

import importlib
import math
import os
from typing import Callable

import numpy as np

import pyjitc

from .loops import outcome, same
from .measure import Sample, progress, ratio, runs, sample
from .npbench.cases import compiled, kernel
from .peers import load
from .table import Row

__all__ = ["measure"]

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parallel_programs.py")
# Kernels in NumPy style whose statements are worth several threads, and which Numba compiles.
KERNELS = ("arc_distance", "go_fast", "hdiff", "heat_3d", "jacobi_2d")


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    names = {"prange": pyjitc.prange}
    contenders = {"pyjitc": load(PROGRAMS, "pyjitc", names, parallel=True)["CASES"],
                  "range": load(PROGRAMS, "pyjitc", names)["CASES"]}
    if "numba" in peers:
        numba = {"prange": importlib.import_module("numba").prange}
        contenders["numba"] = load(PROGRAMS, "numba", numba, parallel=True)["CASES"]
    plain = load(PROGRAMS, "cpython", {"prange": range})["CASES"]
    rows = []
    for name, (_, prepare) in plain.items():
        if only in name:
            progress(f"parallel: {name}")
            functions = {label: cases[name][0] for label, cases in contenders.items()}
            rows.append(_row(name, lambda: prepare(np.random.default_rng(0)), functions, quick))
    for name in KERNELS:
        if only in name:
            progress(f"parallel: {name}")
            case = kernel(name)
            functions = {label: compiled(name, "numba" if label == "numba" else "pyjitc", parallel=label != "range")
                         for label in contenders}
            rows.append(_row(name, lambda: case.arguments(**case.small), functions, quick))
    progress("")
    against = [row.figure.median for row in rows if row.figure and "numba" in peers]
    if against:
        mean = math.exp(sum(map(math.log, against)) / len(against))
        rows.append(Row("parallel", "geometric mean", "x", Sample(mean, mean, mean, len(against)), budget=1.0,
                        at_least=True))
    return rows


def _row(name: str, arguments: Callable, functions: dict[str, Callable], quick: bool) -> Row:
    judged = "numba" in functions
    budget = dict(budget=1.0 if judged else None, at_least=True)
    expected = outcome(functions["range"], arguments())
    for label, function in functions.items():
        problem = same(expected, outcome(function, arguments()), exact=False)
        if problem:
            return Row("parallel", name, "x", None, note=f"{label}: {problem}", **budget)
    times = runs(functions, arguments, 5 if quick else 15)
    cells = {"time": f"{sample(times['pyjitc']).median * 1e3:.3f} ms",
             "over range": f"{ratio(times['range'], times['pyjitc']).median:.2f}x"}
    figure, ratios = ratio(times["pyjitc"], times["pyjitc"]), {}
    if judged:
        cells["Numba"] = f"{sample(times['numba']).median * 1e3:.3f} ms"
        figure = ratios["numba"] = ratio(times["numba"], times["pyjitc"])
    return Row("parallel", name, "x", figure, cells, ratios=ratios, **budget)
