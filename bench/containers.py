"""Suite `containers`: programs of lists, dicts, sets, text and small classes against CPython, with Numba beside it
where it compiles them.

Every call gets new arguments, made outside the measured time, because the programs change them; all contenders get
equal arguments. Before anything is timed, the results and the changed arguments are compared with the interpreter's as
text, so types, the order of dicts and sets, and the fields of objects have to agree. A first call is CPU time in a
process of its own.

Most of these programs spend their time on Python objects, which no compiler can avoid. They are therefore also written
in C with the interpreter's C API (container_programs.c); the column `over C` is the ratio of the C version's time to
pyjitc's. Where there is no `cc` or no headers of Python, the column is missing.
"""
from __future__ import annotations

import importlib.util
import math
import os
import shutil
import subprocess
import sysconfig
import tempfile
import time
from typing import Callable

import numpy as np

from .loops import FIRST
from .measure import WINDOWS, Sample, child, progress, ratio, sample
from .peers import load
from .table import Row

__all__ = ["measure", "runs"]

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "container_programs.py")
SOURCE = f"{PROGRAMS.removesuffix('.py')}.c"
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fno-strict-aliasing", "-fPIC", "-shared")
LEAST = 30.0  # times as fast as CPython, as the geometric mean


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    """A row for each program and one for the geometric mean. peers: names of contenders; only: a part of the names."""
    contenders = {peer: load(PROGRAMS, peer)["CASES"] for peer in ("cpython", "pyjitc", "numba")
                  if peer in peers or peer != "numba"}
    by_hand = written_in_c()
    rows = []
    for name, (function, prepare) in contenders["cpython"].items():
        if only in name:
            progress(f"containers: {name}")
            of_name = {peer: cases[name] for peer, cases in contenders.items()}
            if hasattr(by_hand, function.__name__):
                of_name["c"] = getattr(by_hand, function.__name__), prepare
            rows.append(_row(name, of_name, quick))
    progress("")
    figures = [row.figure.median for row in rows if row.figure]
    if figures:
        mean = math.exp(sum(map(math.log, figures)) / len(figures))
        failed = len(rows) - len(figures)
        over_c = [math.log(row.ratios["c"].median) for row in rows if "c" in (row.ratios or {})]
        cells = {"over C": f"{math.exp(sum(over_c) / len(over_c)):.2f}x"} if over_c else {}
        rows.append(Row("containers", "geometric mean", "x", Sample(mean, mean, mean, len(figures)), cells,
                        budget=LEAST, at_least=True, note=f"{failed} programs failed" if failed else ""))
    return rows


def written_in_c():
    """The extension module with the programs that are also written in C; None where it cannot be compiled."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "container_programs.so")
        done = subprocess.run([compiler, *FLAGS, f"-I{sysconfig.get_paths()['include']}", "-o", path, SOURCE, "-lm"],
                              capture_output=True)
        if done.returncode:
            return None
        spec = importlib.util.spec_from_file_location("container_programs", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def _row(name: str, contenders: dict, quick: bool) -> Row:
    expected = _outcome(*contenders["cpython"])
    refused = ""
    for peer, (function, prepare) in list(contenders.items())[1:]:
        try:
            same = expected == _outcome(function, prepare)
            problem = "" if same or peer == "numba" else "the result differs"
        except Exception as error:
            problem = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        if problem and peer == "numba":
            refused = "refused"
            contenders = {label: case for label, case in contenders.items() if label != peer}
        elif problem:
            return Row("containers", name, "x", None, budget=1.0, at_least=True, note=f"{peer}: {problem}"[:200])
    times = runs(contenders, 3 if quick else 11)
    ratios = {peer: ratio(times[peer], times["pyjitc"]) for peer in contenders if peer != "pyjitc"}
    cells = {"time": f"{sample(times['pyjitc']).median * 1e3:.3f} ms"}
    if refused or "numba" in times:
        cells["over Numba"] = refused or f"{ratios['numba'].median:,.1f}x"
    if "c" in times:
        cells["over C"] = f"{ratios['c'].median:.2f}x"
    if not quick:
        for peer in contenders:
            if peer not in ("cpython", "c"):
                cells[f"first, {peer}"] = f"{child(FIRST.format(path=PROGRAMS, peer=peer, name=name)):,.0f} ms"
    return Row("containers", name, "x", ratios["cpython"], cells, ratios=ratios, budget=1.0, at_least=True)


def _outcome(function: Callable, prepare: Callable) -> str:
    """The result and the arguments after the call, as text."""
    arguments = prepare(np.random.default_rng(0))
    return _text(function(*arguments), ()) + _text(arguments, ())


def _text(value, within: tuple) -> str:
    """The repr of a value, except that an instance of one of the programs' classes is written as the class name and its
    fields, because each contender has its own class object. within: the ids of the objects that contain this one."""
    if id(value) in within:
        return f"<{len(within) - within.index(id(value))} levels up>"
    within = (*within, id(value))
    cls = type(value)
    if cls in (list, tuple, set, frozenset):
        return f"{cls.__name__}({', '.join(_text(item, within) for item in value)})"
    if cls is dict:
        return "{" + ", ".join(f"{_text(key, within)}: {_text(item, within)}" for key, item in value.items()) + "}"
    if not cls.__module__.startswith("bench_"):
        return repr(value)
    names = list(getattr(value, "__dict__", ())) + [
        name for base in cls.__mro__ for name in base.__dict__.get("__slots__", ()) if hasattr(value, name)]
    return f"{cls.__name__}({', '.join(f'{name}={_text(getattr(value, name), within)}' for name in names)})"


def runs(contenders: dict, rounds: int) -> dict[str, list[float]]:
    """Seconds of one call, the contenders in turns: {label: the best window of each round}."""
    times: dict[str, list[float]] = {label: [] for label in contenders}
    order = list(contenders.items())
    for _ in range(rounds):
        order.reverse()
        for label, (function, prepare) in order:
            best = float("inf")
            for _ in range(WINDOWS):
                arguments = prepare(np.random.default_rng(0))
                start = time.perf_counter()
                function(*arguments)
                best = min(best, time.perf_counter() - start)
            times[label].append(best)
    return times
