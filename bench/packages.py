"""Suite `numba`: functions of published packages that import Numba, and of the programs in docs/examples/numba, under
Numba and under pyjitc in its place. No source is changed.

Each contender has a process of its own. A first call is the CPU time of the first call in it, with the modules
imported; the sum over a package is at most 0.3 of Numba's. A call after that takes at most 1.1 times what Numba takes.
Packages that are not installed are left out.
"""
from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import tempfile
import time
import warnings

import numpy as np

from .measure import progress, ratio, sample
from .table import Row
from .worker import Failed, Workers

__all__ = ["measure", "CASES"]

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "examples", "numba")
MOST_FIRST, MOST_AGAIN = 0.3, 1.1
STEPS = 20  # consecutive windows of a contender, of which the shortest counts


def _signal(n):
    t = np.arange(n) / 8000.0
    return np.sin(2 * np.pi * 440 * t) + 0.2 * np.cos(2 * np.pi * 1234 * t)


def _walk(n, seed=0):
    return np.random.RandomState(seed).randn(n).cumsum()


def _plus(field, n):
    import galois
    gf = galois.GF(field)
    a, b = (gf(np.random.RandomState(k).randint(1, gf.order, n)) for k in (1, 2))
    return lambda: np.array(a * b + a / b)


def _resample(x, **options):
    import resampy
    return lambda: resampy.resample(x, 8000, 11025, **options)


def _of(module, name, *args, **options):
    function = getattr(importlib.import_module(module), name)
    return lambda: function(*args, **options)


def _kmeans_of_series():
    from tslearn.metrics import cdist_dtw
    series = np.random.RandomState(0).rand(8, 40, 1)
    return lambda: cdist_dtw(series)


def _markov():
    import quantecon
    chain = quantecon.MarkovChain(np.array([[0.9, 0.1, 0], [0.3, 0.5, 0.2], [0, 0.4, 0.6]]))
    return lambda: chain.simulate(50_000, random_state=0)


def _example(module, name, *args):
    if EXAMPLES not in sys.path:
        sys.path.insert(0, EXAMPLES)
    return _of(module, name, *args)


# group -> {name: a function that makes the call}; a group is a package, or the examples of the manual
CASES = {
    "resampy": {
        "resample": lambda: _resample(_signal(8000)), "complex": lambda: _resample(_signal(4000) + 1j * _signal(4000)),
        "two rows of float32": lambda: _resample(np.stack([_signal(4000)] * 2).astype(np.float32)),
    },
    "galois": {
        "GF(31): arithmetic": lambda: _plus(31, 2000), "GF(2**8): arithmetic": lambda: _plus(2 ** 8, 2000),
        "GF(2**20): arithmetic": lambda: _plus(2 ** 20, 2000),
    },
    "tslearn": {
        "dtw": lambda: _of("tslearn.metrics", "dtw", _walk(300), _walk(300, 1)),
        "lcss": lambda: _of("tslearn.metrics", "lcss", _walk(300), _walk(300, 1), eps=1.0),
        "cdist_dtw": _kmeans_of_series,
        "soft_dtw": lambda: _of("tslearn.metrics", "soft_dtw", _walk(300), _walk(300, 1), gamma=0.1),
    },
    "stumpy": {
        "stump": lambda: _of("stumpy", "stump", _walk(1500), 50),
        "mass": lambda: _of("stumpy", "mass", _walk(50), _walk(20_000, 1)),
    },
    "numbagg": {
        "move_mean": lambda: _of("numbagg", "move_mean", np.random.RandomState(0).rand(50, 2000), window=20),
        "nanmean": lambda: _of("numbagg", "nanmean", np.random.RandomState(0).rand(50, 2000), axis=1),
        "bfill": lambda: _of("numbagg", "bfill", np.where(_walk(100_000) > 0, 1.0, np.nan)),
    },
    "quantecon": {
        "simulate a Markov chain": _markov,
        "gini_coefficient": lambda: _of("quantecon", "gini_coefficient", np.random.RandomState(0).rand(800)),
    },
    "manual": {
        "fractal": lambda: _example("classics", "fractal", -2.0, 1.0, -1.0, 1.0, np.zeros((200, 300), np.uint8), 20),
        "call_price": lambda: _example("classics", "call_price", np.linspace(50, 150, 20_000), 100.0, 1.0, 0.05, 0.2),
        "kmeans": lambda: _example("classics", "kmeans", np.random.RandomState(0).rand(2000, 2), 8, 5),
        "queens": lambda: _example("classics", "queens", 7, 0, 0, 0, 0),
        "heat": lambda: _example("classics", "heat", np.random.RandomState(0).rand(100, 100), 50),
        "stencil": lambda: _example("stencils", "crosses", np.random.RandomState(0).rand(400, 400)),
        "mean of 30": lambda: _example("stencils", "mean_of_30", np.random.RandomState(0).rand(20_000)),
        "moving mean": lambda: _example("generalised_ufuncs", "moving_mean", np.random.RandomState(0).rand(99, 500), 9),
        "trace of tanh": lambda: _example("first_steps", "trace_of_tanh", np.random.RandomState(0).rand(100, 100)),
    },
}


# ---------------------------------------------------------------- in a contender's process

_calls: dict = {}


def _begin(contender: str, caches: str) -> None:
    os.environ["NUMBA_CACHE_DIR"] = caches
    warnings.simplefilter("ignore")
    if contender == "pyjitc":
        from pyjitc import numba
        numba.install()
    importlib.import_module("numba")


def _first(group: str, name: str) -> tuple[float, str]:
    """The seconds of the first call, and its result, rounded, as text."""
    call = _calls[group, name] = CASES[group][name]()
    start = time.process_time()
    result = call()
    seconds = time.process_time() - start
    return seconds, repr(_rounded(result))


def _rounded(result):
    if isinstance(result, (tuple, list)):
        return [_rounded(x) for x in result]
    found = np.asarray(result)
    if found.dtype == object:
        found = found.astype(float)
    return found.shape, f"{np.nansum(np.abs(found)):.6g}"


def _again(group: str, name: str) -> float:
    """The seconds of a call in the shortest of a few windows."""
    call, best = _calls[group, name], float("inf")
    start = time.perf_counter()
    call()
    spent = time.perf_counter() - start
    repeat = max(1, int(1e-3 / max(spent, 1e-9)))
    for _ in range(STEPS if spent < 0.02 else 2):
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        best = min(best, (time.perf_counter() - start) / repeat)
    return best


# ---------------------------------------------------------------- in the parent process

def measure(peers, *, quick: bool, only: str) -> list[Row]:
    contenders = ["pyjitc"] + ["numba"] * ("numba" in peers)
    rows = []
    for group, cases in CASES.items():
        names = [name for name in cases if only in f"{group}: {name}"]
        if names and (group == "manual" or importlib.util.find_spec(group) is not None):
            with tempfile.TemporaryDirectory() as caches, Workers(contenders) as workers:
                rows += _rows(group, names, workers, caches, 2 if quick else 7)
    progress("")
    return rows


def _rows(group: str, names: list[str], workers, caches: str, rounds: int) -> list[Row]:
    for label, worker in workers.items():
        worker.ask(_begin, label, os.path.join(caches, label))
    rows, first = [], {label: 0.0 for label in workers}
    for name in names:
        progress(f"numba: {group}: {name}")
        title = f"{group}: {name}"
        try:
            found = {label: worker.ask(_first, group, name) for label, worker in workers.items()}
            if len({text for _, text in found.values()}) > 1:
                rows.append(Row("numba", title, "x", None, budget=MOST_AGAIN, note=f"results differ: {found}"[:300]))
                continue
            times: dict[str, list[float]] = {label: [] for label in workers}
            for _ in range(rounds):
                for label, worker in workers.items():
                    times[label].append(worker.ask(_again, group, name))
        except Failed as error:
            rows.append(Row("numba", title, "x", None, budget=MOST_AGAIN, note=str(error)))
            continue
        for label, (seconds, _) in found.items():
            first[label] += seconds
        cells = {}
        for label in workers:
            shown = "time" if label == "pyjitc" else "Numba"
            cells[shown] = f"{sample(times[label]).median * 1e3:.3f} ms"
            cells[f"first, {label}"] = f"{found[label][0] * 1e3:,.0f} ms"
        if "numba" in workers:
            rows.append(Row("numba", title, "x", ratio(times["pyjitc"], times["numba"]), cells, budget=MOST_AGAIN,
                            ratios={"numba": ratio(times["numba"], times["pyjitc"])}, clearly=True))
        else:
            rows.append(Row("numba", title, "ms", sample(1e3 * t for t in times["pyjitc"]), cells))
    if first.get("numba"):
        share = sample([first["pyjitc"] / first["numba"]])
        rows.append(Row("numba", f"{group}: first calls", "x", share, budget=MOST_FIRST,
                        cells={f"first, {label}": f"{seconds * 1e3:,.0f} ms" for label, seconds in first.items()}))
    return rows
