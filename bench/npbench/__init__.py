"""Suite `npbench`: kernels in NumPy style, compiled as they are, against NumPy itself.

Each pair of a kernel and a peer has a process of its own, in which NumPy runs the kernel too and the outcomes are
compared; then the peer takes turns with NumPy in another process. A kernel counts as slower than NumPy if it is slower
in three of four rounds, because a ratio of two calls of the same BLAS function has a median below 1 half of the time. A
first call is CPU time (pyjitc: with the import of llvmlite) at the tiny sizes, so that it is the compile and not the
kernel's run. An earlier process has made the same call, and has left the bytecode of modules and the typed library
functions (pipeline/images.py) as the programs of a user do. Everything runs on one thread and is CPU time.
"""
from __future__ import annotations

import json
import math
import statistics
import subprocess

from ..machine import slowness
from ..measure import Sample, child, progress, quotient, sample
from ..table import Row
from .cases import NAMES

__all__ = ["measure"]

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA", "BLIS")}

RUN = """\
from bench.npbench.cases import timed
answer(timed({name!r}, {peer!r}, {seconds}))
"""


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    speed, seconds = slowness(quick), 0.2 if quick else 2.0
    rows, firsts, ratios = [], [], {}
    for name in NAMES:
        if only not in name:
            continue
        progress(f"npbench: {name}")
        _run(name, "pyjitc", seconds=0.0)
        found = {peer: _run(name, peer, seconds) for peer in ("pyjitc", *(p for p in peers if p != "cpython"))}
        rows.append(_row(name, found))
        for peer, result in found.items():
            if "error" not in result:
                ratios.setdefault(peer, []).append(sample(result["ratios"]))
        if "error" not in found["pyjitc"]:
            firsts.append(found["pyjitc"]["first"] * 1e3)
    progress("")
    return rows and rows + _summary(len(rows), ratios, firsts, speed)


def _run(name, peer, seconds) -> dict:
    """The result of `cases.timed` in a new process, or {"error": a line}."""
    try:
        return child(RUN.format(name=name, peer=peer, seconds=seconds), environment=ONE_THREAD,
                     timeout=300)
    except subprocess.TimeoutExpired:
        return {"error": "no result after 300 s"}
    except (RuntimeError, json.JSONDecodeError) as error:  # the process died
        lines = str(error).strip().splitlines() or [""]
        return {"error": f"{lines[0]} {lines[-1]}"[:300]}


def _row(name, found) -> Row:
    own = found["pyjitc"]
    cells = {}
    for result in found.values():
        if "numpy" in result:
            cells["NumPy"] = f"{result['numpy'] * 1e3:,.3f} ms"
            break
    if "error" not in own:
        cells["time"] = f"{own['time'] * 1e3:,.3f} ms"
        cells["first call"] = f"{own['first'] * 1e3:,.0f} ms"
    for peer, result in found.items():
        if peer != "pyjitc":
            failed = "error" in result
            cells[peer] = "failed" if failed else f"{statistics.median(result['ratios']):.2f}x"
            cells[f"first, {peer}"] = "" if failed else f"{result['first'] * 1e3:,.0f} ms"
    figure, ratios = None, {}
    if "error" not in own:
        figure = ratios["numpy"] = sample(own["ratios"])
        # each peer was timed beside NumPy in its own process, so the two ratios to NumPy are divided
        for peer, result in found.items():
            if peer != "pyjitc" and "error" not in result:
                ratios[peer] = quotient(figure, sample(result["ratios"]))
    return Row("npbench", name, "x", figure, cells, budget=1.0, at_least=True, note=own.get("error", ""), ratios=ratios,
               clearly=True)


def _summary(count, ratios, firsts, speed) -> list[Row]:
    def one(name, unit, value, budget, **more):
        figure = None if value is None else Sample(value, value, value, 1)
        return Row("npbench", name, unit, figure, budget=budget, **more)

    own = ratios.get("pyjitc", [])
    rows = [one("kernels that run and agree", "", float(len(own)), count, at_least=True)]
    means = {peer: _geomean([value.median for value in values]) for peer, values in ratios.items()}
    rows.append(one("geometric mean over NumPy", "x", means.get("pyjitc"), 10.0, at_least=True,
                    cells={peer: f"{mean:.2f}x" for peer, mean in means.items() if peer != "pyjitc"}))
    rows.append(one("slower than NumPy", "", float(sum(r.high < 1 for r in own)), 0.0,
                    cells={p: f"{sum(r.high < 1 for r in v)} of {len(v)}" for p, v in ratios.items() if p != "pyjitc"}))
    for name, figure, budget in (("first call, median", statistics.median, 150), ("first call, worst", max, 800)):
        rows.append(one(name, "ms", figure(firsts) if firsts else None, budget, here=budget * speed))
    return rows


def _geomean(values) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))
