"""Suite `c`: loops against C, compiled by `cc -O3 -march=native -ffp-contract=off -fno-strict-aliasing`, and against
Numba with its checks off. pyjitc is judged with all its checks on.

A figure is the ratio of pyjitc's time to C's; both run in turns in one process. Each program gets SETS sets of data in
turn: where it gets the same few thousand numbers again and again, a processor learns the branches that depend on them,
in one contender's code and not in another's, and the figures say nothing about other data. The results of every
contender are compared with the interpreter's before it is timed. Without a `cc` the suite says so, and the figures are
ratios to Numba's time.
"""
from __future__ import annotations

import ctypes
import math
import os
import re
import shutil
import subprocess
import tempfile

import numpy as np

from .loops import outcome, same
from .measure import Sample, progress, ratio, runs, sample
from .peers import load
from .table import Row

__all__ = ["PROGRAMS", "Program", "compiled", "measure"]

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "c_programs.py")
SOURCE = os.path.join(HERE, "c_programs.c")
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fno-strict-aliasing")

SETS = 8
# the largest allowed ratios of pyjitc's time to the peer's: (geometric mean of all programs, one program)
BUDGETS = {"C": (1.0, 1.25), "Numba": (0.9, 1.1)}
RESULTS = {"void": None, "f64": ctypes.c_double, "i64": ctypes.c_int64, "u64": ctypes.c_uint64}


class Program:
    """A C function of the library, called with the arguments of the Python program. The converted arguments are kept
    for further calls with the same objects, so that a call costs less than one microsecond more than one from C."""

    def __init__(self, function, result):
        self.function, self.known = function, {}
        function.restype = RESULTS[result]
        self.wrap = np.uint64 if result == "u64" else None

    def __call__(self, *args):
        key = tuple(map(id, args))
        if key not in self.known:  # the arguments are kept, too, so that no others get their addresses
            self.known[key] = args, tuple(one for a in args for one in _converted(a))
        result = self.function(*self.known[key][1])
        return result if self.wrap is None else self.wrap(result)


def _converted(value):
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return *map(ctypes.c_int64, value.shape), ctypes.c_void_p(value.ctypes.data)
    return (ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value),)


def compiled(folder: str) -> dict[str, Program] | str:
    """The functions of the C file by name, or a text that says why there are none. The library lies in `folder`."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return "there is no C compiler (cc)"
    path = os.path.join(folder, "c_programs.so")
    done = subprocess.run([compiler, *FLAGS, "-fPIC", "-shared", "-o", path, SOURCE, "-lm"], capture_output=True,
                          text=True)
    if done.returncode:
        return f"{compiler} does not compile {os.path.basename(SOURCE)}: {(done.stderr.splitlines() or ['?'])[0]}"
    library = ctypes.CDLL(path)
    with open(SOURCE) as file:
        functions = re.findall(r"^(void|f64|i64|u64) (\w+)\(", file.read(), re.MULTILINE)
    return {name: Program(getattr(library, name), result) for result, name in functions}


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    plain = load(PROGRAMS, "cpython")
    contenders = {"pyjitc": load(PROGRAMS, "pyjitc")["CASES"]}
    if "numba" in peers:
        contenders["Numba"] = load(PROGRAMS, "numba")["CASES"]
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
        if not isinstance(library, str):
            contenders["C"] = {name: (library[function.__name__], None)
                               for name, (function, _) in plain["CASES"].items()}
        rows = []
        for name, (function, prepare) in plain["CASES"].items():
            if only in name:
                progress(f"c: {name}")
                rows.append(_row(name, function, prepare, contenders, quick))
    progress("")
    if rows:
        for peer in BUDGETS:
            if peer in contenders:
                rows += _summary(peer, [row for row in rows if row.name in plain["CASES"]])
    if isinstance(library, str):
        rows.append(Row("c", "C", "x", None, note=f"not compared with C: {library}"))
    return rows


def _row(name, function, prepare, contenders, quick) -> Row:
    def arguments(seed=0):
        return prepare(np.random.default_rng(seed))

    judge = next((peer for peer in BUDGETS if peer in contenders), None)
    budget = BUDGETS[judge][1] if judge else None
    with np.errstate(over="ignore"):
        expected = outcome(function, arguments())
    for label, cases in contenders.items():
        try:
            problem = same(expected, outcome(cases[name][0], arguments()), exact=label == "pyjitc")
        except Exception as error:
            problem = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        if problem:
            return Row("c", name, "x", None, note=f"{label}: {problem}", budget=budget)
    times = runs({label: cases[name][0] for label, cases in contenders.items()}, arguments, 5 if quick else 15,
                 others=[arguments(seed) for seed in range(1, SETS)])
    ratios = {label: ratio(times["pyjitc"], times[label]) for label in contenders}
    cells = {"time": f"{sample(times['pyjitc']).median * 1e6:,.1f} us"}
    for peer in BUDGETS:
        if peer in contenders:
            cells[f"over {peer}"] = ratios[peer]
    return Row("c", name, "x", ratios[judge or "pyjitc"], cells, budget=budget,
               ratios={label: ratio(times[label], times["pyjitc"]) for label in contenders if label != "pyjitc"})


def _summary(peer: str, rows) -> list[Row]:
    """A row with the geometric mean of the ratios to one peer, and the program with the largest ratio."""
    over = {row.name: row.cells[f"over {peer}"].median for row in rows if row.figure}
    if not over:
        return []
    mean = math.exp(sum(map(math.log, over.values())) / len(over))
    worst = max(over, key=over.get)
    slow = sum(ratio > BUDGETS[peer][1] for ratio in over.values())
    failed = len(rows) - len(over)
    return [Row("c", f"geometric mean over {peer}", "x", Sample(mean, mean, mean, len(over)), budget=BUDGETS[peer][0],
                note=f"{failed} programs failed" if failed else ""),
            Row("c", f"worst over {peer}", "x", Sample(over[worst], over[worst], over[worst], 1),
                budget=BUDGETS[peer][1], note=f"{worst}; {slow} of {len(over)} programs are over it")]
