"""Suite `math`: functions of whole arrays, small and large, against NumPy, Numba and JAX.

Each call makes its result. JAX runs on one thread, on arrays that are its own already, with float64 enabled; the time
is that until the result is there. The column `ulp` is the worst error of pyjitc and of NumPy, in units in the last
place of the result, against 80-bit arithmetic (for float32: float64).
"""
from __future__ import annotations

import importlib
import os

import numpy as np

from .measure import progress, ratio, runs, sample
from .peers import decorator
from .table import Row

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
    jax = _jax() if "jax" in peers else None
    rows = []
    for label, function in FUNCTIONS.items():
        compiled = {"pyjitc": decorator("pyjitc")(function)}
        if "numba" in peers:
            compiled["numba"] = decorator("numba")(function)
        for dtype in (np.float32, np.float64):
            for n in SIZES:
                name = f"{label}, {np.dtype(dtype).name}, {n:,}"
                if only in name:
                    progress(f"math: {name}")
                    rows += _rows(name, label, function, compiled, jax, _arguments(dtype, n), quick)
    progress("")
    return rows


def _arguments(dtype, n):
    """x on both sides of zero, y positive."""
    rng = np.random.default_rng(0)
    return (rng.random(n) * 16 - 8).astype(dtype), (rng.random(n) * 10 + 1e-3).astype(dtype)


def _rows(name, label, function, compiled, jax, args, quick) -> list[Row]:
    def failed(note):
        return [Row("math", name, "x", None, budget=1.0, at_least=True, note=note)]

    expected = function(*args)
    tolerance = 1e-13 if expected.dtype == np.float64 else 5e-6
    contenders = {"numpy": function}
    for peer, f in compiled.items():
        try:
            actual = f(*args)
        except Exception as error:
            if peer == "pyjitc":
                return failed(f"{type(error).__name__}: {str(error).splitlines()[0]}"[:200])
            continue
        if peer == "pyjitc" and actual.dtype != expected.dtype:
            return failed(f"wrong: {actual.dtype} for {expected.dtype}")
        if not np.allclose(actual, expected, rtol=tolerance, atol=tolerance):
            return failed(f"{peer}: wrong: differs by {np.max(np.abs(actual - expected)):.2g}")
        contenders[peer] = f
    if jax:
        contenders["jax"] = jax(function, args)
    times = runs(contenders, lambda: args, 5 if quick else 25)
    cells = {f"{peer} time": _short(times[peer]) for peer in contenders}
    cells |= {f"over {peer}": f"{ratio(times[peer], times['pyjitc']).median:.2f}x" for peer in contenders
              if peer not in ("numpy", "pyjitc")}
    if label in ONE_OPERATION and len(args[0]) == max(SIZES):
        cells["ulp"] = " / ".join(f"{_ulps(function, args, f(*args)):.2f}" for f in (compiled["pyjitc"], function))
    rows = [Row("math", name, "x", ratio(times["numpy"], times["pyjitc"]), cells, budget=1.0, at_least=True,
                ratios={peer: ratio(times[peer], times["pyjitc"]) for peer in contenders if peer != "pyjitc"})]
    if len(args[0]) == max(SIZES):
        against = [("jax", 1.0)] + [("numba", 5.0)] * (args[0].dtype == np.float64)
        rows += [Row("math", f"{name}: over {peer}", "x", ratio(times[peer], times["pyjitc"]), budget=budget,
                     at_least=True) for peer, budget in against if peer in times]
        if "ulp" in cells:
            worst = sample([_ulps(function, args, compiled["pyjitc"](*args))])
            rows.append(Row("math", f"{name}: worst error", "ulp", worst, budget=ULPS))
    return rows


def _ulps(function, args, result) -> float:
    wide = np.longdouble if result.dtype == np.float64 else np.float64
    exact = function(*(a.astype(wide) for a in args))
    return float(np.max(np.abs(result.astype(wide) - exact) / np.spacing(np.abs(exact).astype(result.dtype))))


def _short(times) -> str:
    seconds = sample(times).median
    return f"{seconds * 1e6:,.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:,.3f} ms"


def _jax():
    """(function, arguments) -> a callable that runs it in JAX."""
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)

    def prepare(function, args):
        scope = {**function.__globals__, "np": jax.numpy}
        run = jax.jit(type(function)(function.__code__, scope, function.__name__))
        own = [jax.numpy.asarray(a) for a in args]
        return lambda *_: run(*own).block_until_ready()

    return prepare
