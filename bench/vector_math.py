"""Suite `math`: functions of whole arrays, small and large, against NumPy, Numba and JAX.

Each contender has a process of its own, on one thread, and makes its result in each call. JAX gets arrays that are
already its own, with float64 enabled, and its time ends when the result is complete. The column `ulp` is the worst
error of pyjitc and of NumPy, in units in the last place of the result, against 80-bit arithmetic (for float32:
float64).
"""
from __future__ import annotations

import importlib
import time

import numpy as np

from .measure import progress, ratio, sample
from .peers import decorator
from .table import Row
from .worker import Failed, Workers

__all__ = ["PEERS", "measure"]

PEERS = ("numba", "jax")  # beside NumPy
SIZES = (10, 1_000, 1_000_000)
ULPS = 2.5


def exp(x, y):
    return np.exp(x)


def sin(x, y):
    return np.sin(x)


def log(x, y):
    return np.log(y)


def tanh(x, y):
    return np.tanh(x)


def power(x, y):
    return np.power(y, x)


def selu(x, y):
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.exp(x) - 1.6732632423543772)


def sin2_cos2(x, y):
    return np.sin(x) ** 2 + np.cos(x) ** 2


FUNCTIONS = {"exp": exp, "sin": sin, "log": log, "tanh": tanh, "pow": power, "selu": selu,
             "sin^2 + cos^2": sin2_cos2}
ONE_OPERATION = ("exp", "sin", "log", "tanh", "pow")


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    rows = []
    with Workers(["numpy", "pyjitc", *peers]) as workers:
        for label in FUNCTIONS:
            for dtype in ("float32", "float64"):
                for n in SIZES:
                    name = f"{label}, {dtype}, {n:,}"
                    if only in name:
                        progress(f"math: {name}")
                        rows += _rows(name, label, workers, dtype, n, 5 if quick else 25)
    progress("")
    return rows


def _arguments(dtype, n):
    """x on both sides of zero, y positive."""
    rng = np.random.default_rng(0)
    return (rng.random(n) * 16 - 8).astype(dtype), (rng.random(n) * 10 + 1e-3).astype(dtype)


def _rows(name, label, workers, dtype, n, rounds) -> list[Row]:
    def failed(note):
        return [Row("math", name, "x", None, budget=1.0, at_least=True, note=note)]

    function, args = FUNCTIONS[label], _arguments(dtype, n)
    expected = function(*args)
    tolerance = 1e-13 if expected.dtype == np.float64 else 5e-6
    results = {}
    for peer, worker in workers.items():
        try:
            results[peer] = actual = worker.ask(prepare, peer, label, dtype, n)
        except Failed as error:
            if peer == "pyjitc":
                return failed(str(error)[:200])
            continue
        if peer == "pyjitc" and actual.dtype != expected.dtype:
            return failed(f"wrong: {actual.dtype} for {expected.dtype}")
        if not np.allclose(actual, expected, rtol=tolerance, atol=tolerance):
            return failed(f"{peer}: wrong: differs by {np.max(np.abs(actual - expected)):.2g}")
    times = {peer: [] for peer in results}
    contenders = list(results)
    for _ in range(rounds):
        contenders.reverse()
        for peer in contenders:
            times[peer].append(workers[peer].ask(turn))
    cells = {f"{peer} time": _short(times[peer]) for peer in contenders}
    cells |= {f"over {peer}": f"{ratio(times[peer], times['pyjitc']).median:.2f}x" for peer in contenders
              if peer not in ("numpy", "pyjitc")}
    if label in ONE_OPERATION and len(args[0]) == max(SIZES):
        cells["ulp"] = " / ".join(f"{_ulps(function, args, results[peer]):.2f}" for peer in ("pyjitc", "numpy"))
    rows = [Row("math", name, "x", ratio(times["numpy"], times["pyjitc"]), cells, budget=1.0, at_least=True,
                ratios={peer: ratio(times[peer], times["pyjitc"]) for peer in contenders if peer != "pyjitc"})]
    if len(args[0]) == max(SIZES):
        against = [("jax", 1.0)] + [("numba", 5.0)] * (args[0].dtype == np.float64)
        rows += [Row("math", f"{name}: over {peer}", "x", ratio(times[peer], times["pyjitc"]), budget=budget,
                     at_least=True) for peer, budget in against if peer in times]
        if "ulp" in cells:
            worst = sample([_ulps(function, args, results["pyjitc"])])
            rows.append(Row("math", f"{name}: worst error", "ulp", worst, budget=ULPS))
    return rows


def _ulps(function, args, result) -> float:
    wide = np.longdouble if result.dtype == np.float64 else np.float64
    exact = function(*(a.astype(wide) for a in args))
    return float(np.max(np.abs(result.astype(wide) - exact) / np.spacing(np.abs(exact).astype(result.dtype))))


def _short(times) -> str:
    seconds = sample(times).median
    return f"{seconds * 1e6:,.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:,.3f} ms"


# Functions of the worker processes.

_running: list = []  # the call that is timed in turns, and the number of calls in a turn


def prepare(peer, label, dtype, n):
    """Prepare the call that takes turns from now on, and return its result."""
    function, args = FUNCTIONS[label], _arguments(dtype, n)
    if peer == "jax":
        call, result = _jax_call(function, args)
    else:
        compiled = decorator(peer)(function)
        result = compiled(*args)

        def call():
            compiled(*args)

    call()
    start = time.perf_counter()
    call()
    _running[:] = call, max(1, int(1e-3 / max(time.perf_counter() - start, 1e-9)))
    return np.asarray(result)


def _jax_call(function, args):
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    scope = {**function.__globals__, "np": jax.numpy}
    run = jax.jit(type(function)(function.__code__, scope, function.__name__))
    own = [jax.numpy.asarray(a) for a in args]
    return lambda: run(*own).block_until_ready(), run(*own)


def turn() -> float:
    """The seconds of one call."""
    call, repeat = _running
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat
