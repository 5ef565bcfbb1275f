"""Loading, checking and timing one kernel."""
from __future__ import annotations

import importlib
import inspect
import statistics
import subprocess
import sys
import time
import types
from typing import Callable

import numpy as np

from ..measure import WINDOWS
from ..peers import decorator
from .kernels.kernel import Kernel

__all__ = ["NAMES", "kernel", "compiled", "outcome", "difference", "prepared", "timed", "serve"]

FILES = ("products", "solvers", "stencils", "weather", "fluids", "learning", "data", "physics")


def _modules():
    return [importlib.import_module(f"bench.npbench.kernels.{file}") for file in FILES]


_PLACES: dict[str, tuple[types.ModuleType, Kernel]] = {k.name: (module, k) for module in _modules()
                                                       for k in module.KERNELS}
NAMES = tuple(sorted(_PLACES))


def kernel(name: str) -> Kernel:
    return _PLACES[name][1]


def compiled(name: str, peer: str, **options) -> Callable:
    """The kernel for a peer, in a fresh copy of its module in which every function is decorated."""
    module = _PLACES[name][0]
    # The module has its own name, for peers that look up the module of a function.
    spec = importlib.util.find_spec(module.__name__)
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    decorate = decorator(peer, **options)
    for key, value in list(vars(copy).items()):
        if isinstance(value, types.FunctionType) and value.__module__ == copy.__name__ and not key.startswith("make_"):
            setattr(copy, key, decorate(value))
    return getattr(copy, name)


def outcome(case: Kernel, function: Callable, args) -> tuple:
    """The result of a call and the contents of the arguments that the kernel writes."""
    result = function(*args)
    return (*(result if isinstance(result, tuple) else (result,)), *_written(case, args))


def _written(case, args) -> list:
    names = list(inspect.signature(case.function).parameters)
    return [args[names.index(name)] for name in case.writes]


def difference(case: Kernel, expected: tuple, actual: tuple, exact_types: bool = True) -> str:
    """'' if two outcomes agree, otherwise a text about the difference. Peers may return scalars of other types."""
    if len(expected) != len(actual):
        return f"{len(actual)} results for {len(expected)}"
    for place, (x, y) in enumerate(zip(expected, actual)):
        if x is None or y is None:
            if x is not y:
                return f"result {place} is {y!r} for {x!r}"
            continue
        if exact_types and type(x) is not type(y):
            return f"result {place} is a {type(y).__name__} for a {type(x).__name__}"
        x, y = np.asarray(x), np.asarray(y)
        if exact_types and x.dtype != y.dtype or x.shape != y.shape:
            return f"result {place} is {y.dtype}{y.shape} for {x.dtype}{x.shape}"
        finite = x[np.isfinite(x)]
        scale = float(np.max(np.abs(finite), initial=0))
        if not np.allclose(x, y, rtol=case.rtol, atol=case.rtol * scale, equal_nan=True):
            with np.errstate(all="ignore"):
                worst = np.nanmax(np.abs(np.asarray(x, complex) - y)) / (scale or 1)
            return f"result {place} differs by {worst:.2g} of its largest magnitude"
    return ""


def timed(name: str, peer: str, seconds: float) -> dict:
    """{first, time, numpy: in seconds; ratios: NumPy's time over the peer's, round by round}, or an {error}."""
    case = kernel(name)
    args, restore, clock = prepared(case)
    tiny = case.arguments(**case.tiny)
    begin = time.process_time()
    try:
        function = compiled(name, peer)
        function(*tiny)
        first = time.process_time() - begin
        actual = outcome(case, function, args)
    except Exception as error:
        return {"error": _line(error), "numpy": _steady(clock, case.function, seconds / 2)}
    actual = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in actual)
    restore()
    with np.errstate(all="ignore"):
        wrong = difference(case, outcome(case, case.function, args), actual, exact_types=peer == "pyjitc")
    if wrong:
        return {"error": f"wrong: {wrong}", "numpy": _steady(clock, case.function, seconds / 2)}
    own, plain, begin = [], [], time.perf_counter()
    tries = WINDOWS if clock(function) < 0.02 else 1
    with _Apart(name) as apart:
        while len(own) < 5 or time.perf_counter() - begin < seconds and len(own) < 101:
            own.append(min(clock(function) for _ in range(tries)))
            plain.append(apart.turn())
    steady = statistics.median(own)
    return {"first": first, "time": steady, "numpy": statistics.median(plain),
            "ratios": [b / a for a, b in zip(own, plain)]}


def prepared(case) -> tuple:
    """(the arguments, a function that restores those that are written, a function that times a call with them). Times
    are CPU time on one thread, because on a busy machine a longer call is interrupted more often."""
    args = case.arguments(**case.small)
    kept = _written(case, args)
    contents = [a.copy() for a in kept]

    def restore():
        for array, content in zip(kept, contents):
            array[...] = content

    def clock(function):
        restore()
        start = time.process_time()
        function(*args)
        return time.process_time() - start

    return args, restore, clock


class _Apart:
    """NumPy's times, measured in a process without a peer: a peer's memory decides whether the allocator returns
    NumPy's temporaries to the system each time, which can be half of NumPy's time."""

    def __init__(self, name: str):
        self.child = subprocess.Popen([sys.executable, "-c", f"from {__name__} import serve; serve({name!r})"],
                                      text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.tries = 1
        self.tries = WINDOWS if self.turn() < 0.02 else 1

    def turn(self) -> float:
        """The time of the best of a few calls. The caller waits for it."""
        print(self.tries, file=self.child.stdin, flush=True)
        return float(self.child.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.child.stdin.close()
        self.child.wait()


def serve(name: str) -> None:
    """The loop of the process with NumPy: it reads a line with a number of calls, and prints a line with the time of
    the best one."""
    case = kernel(name)
    _, _, clock = prepared(case)
    with np.errstate(all="ignore"):
        clock(case.function)
        for line in sys.stdin:
            print(min(clock(case.function) for _ in range(int(line))), flush=True)


def _steady(clock, function, seconds) -> float:
    times, begin = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < seconds and len(times) < 31:
        times.append(clock(function))
    return statistics.median(times)


def _line(error) -> str:
    """The first line of an error, with the location of a compile error."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' | '.join(line.strip() for line in lines[:6])}"[:400]
