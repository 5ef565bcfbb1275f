"""Measuring: contenders take turns in short windows, so that other load on the machine affects all of them. A turn is
the best of a few windows, because a window in which the scheduler ran another process tells nothing."""
from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import Callable, Mapping, NamedTuple, Sequence

import numpy as np

__all__ = ["WINDOWS", "Sample", "sample", "calls", "runs", "child", "one_core", "progress", "ratio", "quotient"]


WINDOWS = 3


class Sample(NamedTuple):
    """Median and quartiles of `n` rounds."""

    median: float
    low: float
    high: float
    n: int


def sample(values) -> Sample:
    values = sorted(values)
    if len(values) < 3:
        return Sample(statistics.median(values), values[0], values[-1], len(values))
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Sample(median, low, high, len(values))


def ratio(above, below) -> Sample:
    """The ratio, round by round, of two lists of times that were measured in turns."""
    return sample(a / b for a, b in zip(above, below))


def quotient(above: Sample, below: Sample) -> Sample:
    """The ratio of two figures that were not measured in turns."""
    return Sample(above.median / below.median, above.low / below.high, above.high / below.low, min(above.n, below.n))


def calls(cases: Mapping[str, tuple[str, dict]], rounds: int, window: int = 2000) -> dict[str, list[float]]:
    """The time in ns of one evaluation of an expression, without the loop around it: {label: one figure per round}.

    cases: {label: (expression, its names)}. window: the number of evaluations in a round of a case."""
    unroll = 8
    functions = {}
    for label, (expression, names) in cases.items():
        given = ", ".join(f"{name}={name}" for name in names)
        body = f"        {expression}\n" * unroll
        functions[label] = _define(f"def f(n, {given}):\n    for _ in range(n):\n{body}", names)
    empty = _define("def f(n):\n    for _ in range(n):\n        pass\n", {})
    times = {label: [] for label in functions}
    count = max(1, window // unroll)
    for f in functions.values():
        f(10)
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            base = min(_clock(empty, count) for _ in range(WINDOWS))
            for label, f in functions.items():
                times[label].append((min(_clock(f, count) for _ in range(WINDOWS)) - base) / (count * unroll) * 1e9)
    finally:
        if enabled:
            gc.enable()
    return times


def _define(source: str, names: dict) -> Callable:
    scope = dict(names)
    exec(source, scope)
    return scope["f"]


def _clock(f, *args) -> float:
    start = time.perf_counter()
    f(*args)
    return time.perf_counter() - start


def runs(contenders: Mapping[str, Callable], prepare: Callable, rounds: int, enough: float = 1e-3,
         others: Sequence[tuple] = ()) -> dict[str, list[float]]:
    """The seconds of one call `f(*prepare())`: {label: one figure per round}. All contenders work in the same arrays,
    which are restored, untimed, before each window: the address of an array can matter more than a check. Short calls
    are repeated within a window until they take `enough` seconds together, unless they change their arguments.

    others: more arguments. A window calls with all of them, in turns, and the figure is the mean."""
    sets = [prepare(), *others]
    contents = [(a, a.copy()) for args in sets for a in args if isinstance(a, np.ndarray)]

    def restore():
        for array, content in contents:
            array[...] = content

    spent, changes = {}, False
    for label, f in contenders.items():
        f(*sets[0])
        restore()
        spent[label] = _clock(f, *sets[0])
        changes = changes or any(not np.array_equal(array, content) for array, content in contents)
    # the same for all contenders, since repeated calls find their data in the caches
    once = changes and min(spent.values()) > 2e-5
    repeat = {label: 1 if once else max(1, int(enough / max(one, 1e-9) / len(sets))) for label, one in spent.items()}
    windows = {label: WINDOWS if one < 0.02 else 1 for label, one in spent.items()}
    times = {label: [] for label in contenders}
    order = list(contenders.items())
    for _ in range(rounds):
        order.reverse()  # the first one pays for the state in which the last one left caches and allocators
        for label, f in order:
            n, best = repeat[label], float("inf")
            for _ in range(windows[label]):
                restore()
                start = time.perf_counter()
                for _ in range(n):
                    for args in sets:
                        f(*args)
                best = min(best, time.perf_counter() - start)
            times[label].append(best / (n * len(sets)))
    return times


def child(source: str, name: str = "child", environment: Mapping[str, str] = {}, folder: str | None = None,
          timeout: float = 600):
    """Runs `source` as a file in a new process and returns the value that it passes to `answer(...)`.

    With `folder` the file is there, so that a cache keyed by file name finds it again."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(folder or scratch, f"{name}.py")
        with open(path, "w") as file:
            file.write(_ANSWER + source)
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        paths = os.pathsep.join(p for p in (here, os.environ.get("PYTHONPATH")) if p)
        given = {"PYJITC_CACHE": "0", **os.environ, "PYTHONPATH": paths, **environment}
        given.pop("PYTHONDONTWRITEBYTECODE", None)  # users' imports find compiled modules
        done = subprocess.run([sys.executable, path], env=given, capture_output=True, text=True, timeout=timeout)
        if done.returncode:
            raise RuntimeError(f"{name}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        return json.loads(done.stdout.rpartition("\nANSWER ")[2])


@contextmanager
def one_core():
    """A context in which new processes stay on one core, if the system supports that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


_ANSWER = '''\
import json as _json
def answer(value):
    print("\\nANSWER " + _json.dumps(value))
def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
'''


def progress(message: str) -> None:
    """Shows a line on stderr that the next one replaces; plain lines if stderr is no terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{message}", end="", file=sys.stderr, flush=True)
    elif message:
        print(message, file=sys.stderr, flush=True)
