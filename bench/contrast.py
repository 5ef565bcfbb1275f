"""Suite `contrast`: the figures that tutorials of a tracing JIT quote, for the same programs.

Each contender has a process and one thread of its own and takes turns with the others; `trace` is tracing on pyjitc's
own back end. A first call is the CPU time of a function's first call in a process whose compiler has compiled other
functions before; the other figures are for calls after it. JAX gets its own arrays, and its time ends when the result
is complete.
"""
from __future__ import annotations

import importlib
import os
import time
from typing import Callable, NamedTuple

import numpy as np

from .machine import slowness
from .measure import Sample, calls, progress, ratio, sample
from .peers import load
from .table import Row
from .worker import Failed, Workers

__all__ = ["PEERS", "measure"]

PEERS = ("jax", "trace", "numba", "numpy", "cpython")
TRACING = ("jax", "trace")
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "contrast_programs.py")
UNITS = {"ns": 1e9, "us": 1e6, "ms": 1e3}


class Case(NamedTuple):
    """Fields: name of the row, in which {0} is the shape of the first argument; the function in the file of programs;
    its arguments; the unit of a call's time, and the budget in it; the least speedup over the peer `than`; the budget
    of a first call in ms; the name of the function that a user of JAX writes instead; further contenders."""

    name: str
    function: str
    arguments: Callable
    unit: str
    most: float | None = None
    than: str = ""
    faster: float | None = None
    first: float | None = None
    in_parts: str = ""
    beside: tuple = (*TRACING, "numba", "numpy")
    trips: int = 0


def _normal(dtype, *shapes):
    def make(quick):
        rng = np.random.default_rng(0)
        return tuple(rng.standard_normal(shape).astype(dtype) for shape in (shapes[0] if not quick else shapes[-1]))

    return make


CASES = [
    Case("selu, float32, 1e6", "selu", _normal(np.float32, [10 ** 6]), "us", than="jax", faster=1.0),
    Case("selu, float64, 1e6", "selu", _normal(np.float64, [10 ** 6]), "us", than="jax", faster=1.0),
    Case("small-dense, (4,) x (4, 2)", "dense", _normal(np.float32, [4, (4, 2), 2]), "ns", most=1000),
    Case("dense-relu, {0} x {1}", "dense_relu",
         _normal(np.float32, [(2000, 10000), (10000, 2000)], [(500, 2500), (2500, 500)]), "ms", than="numpy",
         faster=0.95, beside=(*TRACING, "numpy")),
    Case("repeat-mul, n = 5", "repeat_multiply", lambda quick: (1.5, 5), "ns", most=200, in_parts="repeat_in_parts",
         beside=(*TRACING, "numba", "cpython")),
    Case("long-loop, 1,000 trips", "long_loop", _normal(np.float32, [10]), "ns", most=500, first=40, trips=1000),
]


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    speed = slowness(quick)
    rows = []
    with Workers(["pyjitc", *peers]) as workers:
        for case in CASES:
            if only in case.name:
                rows += _case(case, workers, quick, speed)
        for name, part in PARTS.items():
            if only in name:
                progress(f"contrast: {name}")
                try:
                    rows += part(workers, quick, speed)
                except Failed as error:
                    rows.append(Row("contrast", name, "", None, budget=0.0, note=str(error)[:300]))
    progress("")
    return rows


# Functions of the parent process.

def _case(case, workers, quick, speed) -> list[Row]:
    args = case.arguments(quick)
    title = case.name.format(*map(np.shape, args))
    progress(f"contrast: {title}")
    contenders = [name for name in workers if name == "pyjitc" or name in case.beside]
    expected = _run(case, args)
    failed, firsts = {}, {}
    for name in list(contenders):
        try:
            _, result = workers[name].ask(first_call, name, case.function, case.in_parts, case.trips, CASES.index(case),
                                          quick)
            problem = _differs(expected, result)
        except Failed as error:
            problem = str(error)
        if problem:
            contenders.remove(name)
            failed[name] = problem
    if "pyjitc" in failed:
        return [Row("contrast", title, "", None, budget=0.0, note=failed["pyjitc"][:300])]
    compiled = [name for name in contenders if name not in ("numpy", "cpython")]
    for _ in range(2 if quick else 7):
        for name in compiled:
            spent, _ = workers[name].ask(first_call, name, case.function, case.in_parts, case.trips, CASES.index(case),
                                         quick)
            firsts.setdefault(name, []).append(spent * 1e3)
    times = {name: [] for name in contenders}
    slow = case.unit == "ms"
    for _ in range((2 if quick else 5) if slow else 5 if quick else 25):
        contenders.reverse()
        for name in contenders:
            times[name].append(workers[name].ask(turn) * UNITS[case.unit])
    note = "; ".join(f"{name}: {problem}" for name, problem in failed.items())[:300]
    rows = [_time(title, case.unit, times, case.most, speed, note)]
    if compiled:
        rows.append(_time(f"{title}: first call", "ms", firsts, case.first, speed))
    if case.than in times:
        rows.append(Row("contrast", f"{title}: {case.than}'s time over pyjitc's", "x",
                        ratio(times[case.than], times["pyjitc"]), budget=case.faster, at_least=True))
    return rows


def _time(name, unit, times, budget, speed, note="") -> Row:
    """A row of times: those of pyjitc judged, those of its peers beside them."""
    others = {peer: values for peer, values in times.items() if peer != "pyjitc"}
    return Row("contrast", name, unit, sample(times["pyjitc"]), {peer: sample(v) for peer, v in others.items()}, budget,
               here=None if budget is None else budget * speed, note=note,
               ratios={peer: ratio(v, times["pyjitc"]) for peer, v in others.items()})


def _run(case, args):
    space = load(PROGRAMS, "numpy", dict(np=np, TRIPS=case.trips))
    with np.errstate(all="ignore"):  # for the squares of long_loop
        return space[case.function](*args)


def _differs(expected, actual) -> str:
    expected, actual = np.asarray(expected), np.asarray(actual)
    if expected.shape != actual.shape:
        return f"wrong shape: {actual.shape} for {expected.shape}"
    single = expected.dtype == np.float32 or actual.dtype == np.float32
    tolerance = 1e-4 if single else 1e-12
    # sums are in another order, so errors are relative to the largest terms
    scale = max(1.0, float(np.max(np.abs(expected))))
    if not np.allclose(actual, expected, rtol=tolerance, atol=tolerance * scale):
        return f"wrong: differs by {np.max(np.abs(actual - expected)):.2g}"
    return ""


def _random_lengths(workers, quick, speed):
    """One function called with arrays of many lengths: the time of the calls after the first."""
    count = 50 if quick else 1000
    times, compiles = {}, {}
    for name in _those(workers, *TRACING, "numba", "numpy"):
        progress(f"contrast: random-length: {name}")
        times[name], compiles[name] = workers[name].ask(random_lengths, name, count)
    name = f"random-length, {count:,} lengths"
    return [_time(name, "us", {k: [t * 1e6 for t in v] for k, v in times.items()}, 1.0, speed),
            _count(f"{name}: compiles", compiles, 1)]


def _anew(workers, quick, speed):
    count = 10 if quick else 50
    times, compiles = {}, {}
    for name in _those(workers, *TRACING, "numba"):
        times[name], compiles[name] = workers[name].ask(made_anew, name, count)
    name = f"jit-in-loop, {count} functions made anew"
    return [_time(f"{name}: a call", "us", {k: [t * 1e6 for t in v] for k, v in times.items()}, None, speed),
            _count(f"{name}: compiles", compiles, 1)]


def _loop_size(workers, quick, speed):
    """First calls of a loop by its number of trips. Tracing contenders are left out at 100,000 trips, which would take
    them minutes."""
    firsts = {}
    for _ in range(2 if quick else 5):
        for name in _those(workers, *TRACING, "numba"):
            for trips in (10, 1_000, *(() if name in TRACING else (100_000,))):
                spent, _ = workers[name].ask(first_call, name, "compounded", "", trips, None, quick)
                firsts.setdefault(trips, {}).setdefault(name, []).append(spent * 1e3)
    rows = [_time(f"loop-size, {trips:,} trips: first call", "ms", times, None, speed)
            for trips, times in firsts.items()]
    growth = {name: ratio(values, firsts[10][name]) for name, values in firsts[1_000].items()}
    rows.append(Row("contrast", "loop-size: first call at 1,000 trips over 10", "x", growth.pop("pyjitc"), growth,
                    budget=1.5))
    return rows


def _those(workers, *names):
    return [name for name in workers if name == "pyjitc" or name in names]


def _count(name, counts, budget) -> Row:
    flags = {peer: Sample(n, n, n, 1) for peer, n in counts.items() if n is not None}
    return Row("contrast", name, "", flags.pop("pyjitc"), flags, budget=budget)


PARTS = {"random-length": _random_lengths, "jit-in-loop": _anew, "loop-size": _loop_size}


# Functions of the worker processes.

_now: dict = {}
_fresh = [0]


def _space(peer, trips=0) -> dict:
    """The programs as new functions, of which nothing is compiled yet."""
    _fresh[0] += 1
    return load(PROGRAMS, peer, dict(np=_numpy(peer), TRIPS=trips), known_as=f"{PROGRAMS}#{_fresh[0]}")


def _numpy(peer):
    if peer != "jax":
        return np
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.numpy


def _own(peer, args) -> list:
    xp = _numpy(peer)
    return [xp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]


def _wait(result):
    """Wait until a result is complete: JAX returns before its computation has ended."""
    return result.block_until_ready() if hasattr(result, "block_until_ready") else result


def first_call(peer, function, in_parts, trips, case, quick):
    """(CPU seconds of the first call, its result); the function and its arguments are kept for `turn`."""
    f = _space(peer, trips)[in_parts if peer in TRACING and in_parts else function]
    if case is None or _now.get("case") != case:
        _now.update(case=case, args=(1.5,) if case is None else _own(peer, CASES[case].arguments(quick)))
    args = _now["args"]
    start = time.process_time()
    result = _wait(f(*args))
    spent = time.process_time() - start
    _now.update(f=f)
    return spent, np.asarray(result)


def turn() -> float:
    """Seconds of a call, the best of a few windows; a long call is a window of its own."""
    f, args = _now["f"], _now["args"]
    np.seterr(all="ignore")
    if _now.get("of") is not f:
        _now.update(of=f, spent=min(_one(f, args) for _ in range(3)))
    spent = _now["spent"]
    if spent > 2e-5:
        return min(_one(f, args) for _ in range(max(1, min(20, int(0.01 / spent)))))
    names = {f"a{k}": a for k, a in enumerate(args)}
    promise = hasattr(f(*args), "block_until_ready")
    expression = f"f({', '.join(names)})" + ".block_until_ready()" * promise
    return calls({"f": (expression, {"f": f, **names})}, 1, int(min(2000, max(8, 1e-3 / spent))))["f"][0] * 1e-9


def _one(f, args) -> float:
    start = time.perf_counter()
    _wait(f(*args))
    return time.perf_counter() - start


def _compiles(peer, f):
    """How often a function has been compiled, where the contender reports that."""
    if peer == "jax":
        return f._cache_size()
    if isinstance(getattr(f, "stats", None), dict):  # pyjitc: equal functions share a compile
        return f.stats["compiled"]
    made = getattr(f, "signatures", None) or getattr(f, "programs", None)
    return None if made is None else len(made)


def random_lengths(peer, count):
    f = _space(peer)["cube"]
    rng = np.random.default_rng(0)
    arrays = _own(peer, [np.ones(n, np.float32) for n in rng.choice(np.arange(1, 2001), count + 1, replace=False)])
    done = f if peer != "jax" else lambda x: f(x).block_until_ready()
    times = []
    for x in arrays:
        start = time.perf_counter()
        done(x)
        times.append(time.perf_counter() - start)
    return times[1:], _compiles(peer, f)


def made_anew(peer, count):
    space = _space(peer)
    times, kept = [], []
    _wait(space["anew"]()(1.0))
    for _ in range(count):
        start = time.perf_counter()
        f = space["anew"]()
        _wait(f(1.0))
        times.append(time.perf_counter() - start)
        kept.append(f)
    return times, 1 + sum(_compiles(peer, f) for f in kept)
