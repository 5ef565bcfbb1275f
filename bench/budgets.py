"""Suite `budgets`: the promises about import, calls, first calls, checks and memory, each with its budget.

Budgets that are times hold for a machine on which a call of a plain Python function of two floats takes 60 ns. For a
slower machine the budget is scaled by its speed, which is measured in the same run, and is shown in brackets.
"""
from __future__ import annotations

import os
import pathlib
import tempfile

import numpy as np

from pyjitc.api import ahead

from .loops import PROGRAMS, outcome, same
from .machine import slowness
from .measure import Sample, calls, child, one_core, progress, quotient, ratio, runs, sample
from .peers import PEERS, load
from .table import Row

__all__ = ["measure"]

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "kernels.py")
CALLEES = os.path.join(HERE, "callees.py")


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    rows = []
    speed = slowness(quick)
    for name, part in PARTS.items():
        if only in name:
            progress(f"budgets: {name}")
            try:
                rows += part(peers, quick, speed)
            except Exception as error:
                rows.append(Row("budgets", name, "", None, budget=0.0, note=f"{type(error).__name__}: {error}"[-400:]))
    progress("")
    return rows


def _time(name, unit, figure, budget, speed, cells, **more) -> Row:
    ratios = {"cpython" if peer == "plain Python" else peer: quotient(of, figure) for peer, of in cells.items()
              if figure is not None}
    return Row("budgets", name, unit, figure, cells, budget, here=None if budget is None else budget * speed,
               ratios=ratios, **more)


# Import and first calls. Each figure comes from processes of its own. In each round a contender runs twice in a row on
# one core, and only the second process counts: the peer before it has filled the caches with hundreds of megabytes of
# its own, and a core that has been idle runs at half speed for a while.


def settled(source, *more):
    with one_core():
        child(source, *more)
        return child(source, *more)


IMPORT = """\
import sys, time, numpy
start = time.process_time()
import {package}
answer(((time.process_time() - start) * 1e3, "llvmlite" in sys.modules))
"""

BUILT = """\
import compileall, pathlib, sys, time, numpy
sys.path.insert(0, {folder!r})
compileall.compile_dir({folder!r}, quiet=2)
start = time.process_time()
import waves
answer(((time.process_time() - start) * 1e3, "pyjitc" in sys.modules))
"""

FIRST = """\
import sys, time
import numpy as np
a = np.linspace(0.0, 1.0, 1000)
import {package}
@{decorator}
def scalar(x, y):
    if x > y:
        return x * x - y
    return 3.0 * y - x
@{decorator}
def loop(a, limit):
    total = 0.0
    for i in range(len(a)):
        if a[i] > limit:
            total += a[i]
    return total
def clock(f, *args):
    start = time.process_time()
    f(*args)
    return (time.process_time() - start) * 1e3
order = [(scalar, 1.5, 2.5), (loop, a, 0.5)]
if {loop_first}:
    order.reverse()
times = [clock(*one) for one in order]
answer((*times, "llvmlite" in sys.modules))
"""


ARRAYS = """\
import sys, time
import numpy as np
a = np.linspace(0.0, 1.0, 1000)
m = np.eye(30) + 1.0
import {package}
@{decorator}
def fused(a, b):
    return np.exp(a) * 2.0 + b
@{decorator}
def ordered(a):
    return np.median(np.sort(a))
@{decorator}
def solved(m, b):
    return np.linalg.solve(m, b)
start = time.process_time()
{call}
answer((time.process_time() - start) * 1e3)
"""
ARRAY_CALLS = {"array expression": ("fused(a, a)", 60), "np.sort and np.median": ("ordered(a)", 150),
               "np.linalg.solve": ("solved(m, a[:30])", 60)}


def _import(peers, quick, speed):
    rounds = 3 if quick else 9
    contenders = ["pyjitc", *(p for p in peers if PEERS[p][1])]
    times = {peer: [] for peer in contenders}
    loaded = False
    for peer in contenders:
        child(IMPORT.format(package=PEERS[peer][0]))  # after this its modules are compiled and in the page cache
    for _ in range(rounds):
        for peer in contenders:
            ms, llvmlite = settled(IMPORT.format(package=PEERS[peer][0]))
            times[peer].append(ms)
            loaded |= llvmlite and peer == "pyjitc"
    return [_time("import beyond NumPy, CPU", "ms", sample(times["pyjitc"]), 15, speed, _cells(times)),
            Row("budgets", "llvmlite imported by import pyjitc", "", _flag(loaded), budget=0), *_built(rounds, speed)]


def _built(rounds, speed):
    """The import time of a package that was built ahead of time."""
    with tempfile.TemporaryDirectory() as folder:
        example = pathlib.Path(__file__).resolve().parents[1] / "docs" / "examples" / "ahead_of_time" / "waves"
        ahead.make(example, ["x86-64-v2"], [], [], pathlib.Path(folder), False, "1.0", "any")
        child(BUILT.format(folder=folder))
        found = [settled(BUILT.format(folder=folder)) for _ in range(rounds)]
    return [_time("import of a package built ahead, beyond NumPy, CPU", "ms", sample([ms for ms, _ in found]), 5, speed,
                  {}), Row("budgets", "pyjitc imported by it", "", _flag(any(other for _, other in found)), budget=0)]


def _first(peers, quick, speed):
    rounds = 2 if quick else 7
    contenders = ["pyjitc", *(p for p in peers if PEERS[p][2])]
    times = {}
    for turn in range(-1, rounds):
        for peer in contenders:
            for loop_first in False, True:
                source = FIRST.format(package=PEERS[peer][0], decorator=PEERS[peer][1], loop_first=loop_first)
                first, second, _ = settled(source)
                if turn < 0:  # the first import compiles the modules
                    continue
                names = ("loop", "scalar") if loop_first else ("scalar", "loop")
                times.setdefault(f"first call, {names[0]} function, CPU", {}).setdefault(peer, []).append(first)
                times.setdefault(f"second function, {names[1]}, CPU", {}).setdefault(peer, []).append(second)
    return [_time(name, "ms", sample(one["pyjitc"]), 60 if name.startswith("first") else 20, speed, _cells(one))
            for name, one in times.items()]


def _first_arrays(peers, quick, speed):
    rows = []
    contenders = ["pyjitc", *(p for p in peers if PEERS[p][2])]
    for name, (call, budget) in ARRAY_CALLS.items():
        times = {}
        for turn in range(2 if quick else 5):
            for peer in contenders if turn == 0 else contenders[:1]:  # a peer takes seconds for each
                times.setdefault(peer, []).append(settled(ARRAYS.format(package=PEERS[peer][0],
                                                                        decorator=PEERS[peer][1], call=call)))
        rows.append(_time(f"first call, {name}, CPU", "ms", sample(times["pyjitc"]), budget, speed, _cells(times)))
    return rows


def _cached(peers, quick, speed):
    rounds = 3 if quick else 9
    contenders = ["pyjitc", *(p for p in peers if PEERS[p][2])]
    times = {"scalar": {}, "loop": {}}
    loaded = False
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PYJITC_CACHE_DIR": os.path.join(folder, "cache"), "PYJITC_CACHE": "1"}
        for turn in range(-1, rounds):
            for peer in contenders:
                for loop_first in False, True:
                    source = FIRST.format(package=PEERS[peer][0], decorator=PEERS[peer][2], loop_first=loop_first)
                    first, _, llvmlite = settled(source, f"{peer}_{loop_first}", environment, folder)
                    if turn >= 0:  # the first turn fills the cache
                        times["loop" if loop_first else "scalar"].setdefault(peer, []).append(first)
                        loaded |= llvmlite and peer == "pyjitc"
    rows = [_time(f"first call from the disk cache, {name} function, CPU", "ms", sample(one["pyjitc"]), 5, speed,
                  _cells(one)) for name, one in times.items()]
    return rows + [Row("budgets", "llvmlite imported by a call from the disk cache", "", _flag(loaded), budget=0)]


# Calls.

def _dispatch(peers, quick, speed):
    a, b, c, d = (np.linspace(k, k + 1, 10) for k in range(4))
    names = dict(x=1.5, y=2.5, i=3, j=4, a=a, b=b, c=c, d=d, t=(1, 2.5, True))
    cases = [  # name, expression, budget in ns
        ("(float, float)", "add(x, y)", 45),
        ("(int, int)", "add(i, j)", 55),
        ("1-d array", "first(a)", 45),
        ("four arrays", "four(a, b, c, d)", 100),
        ("omitted defaults", "defaults(a)", 100),
        ("keywords", "defaults(a, scale=x, offset=y)", 200),
        ("mixed tuple", "mixed(t)", 200),
        ("returns a fresh small array", "fresh(a)", 250),
        ("while count < 5 (repeat-mul)", "repeat_multiply(x, 5)", 200),
    ]
    contenders = {"pyjitc": load(CALLEES, "pyjitc"), "plain Python": load(CALLEES, "cpython")}
    if "numba" in peers:
        contenders["numba"] = load(CALLEES, "numba")
    rows = []
    for name, expression, budget in cases:
        given = {label: {**scope, **names} for label, scope in contenders.items()}
        expected = eval(expression, dict(given["plain Python"]))
        used = {}
        problem = ""
        for label, scope in given.items():
            try:
                wrong = same((expected, []), (eval(expression, dict(scope)), []), exact=label == "pyjitc")
            except Exception as error:
                wrong = f"{type(error).__name__}: {error}"[:200]
            if wrong:
                problem = problem or f"{label}: {wrong}"
            else:
                callee = expression.partition("(")[0]
                needed = {k: v for k, v in scope.items() if k == callee or k in names}
                used[label] = (expression, needed)
        slow = "numba" in used and name in ("omitted defaults", "keywords", "mixed tuple")
        times = calls(used, 30 if quick else 200, 200 if slow else 2000)
        figure = sample(times["pyjitc"]) if "pyjitc" in times else None
        rows.append(_time(f"call: {name}", "ns", figure, budget, speed, _cells(times), note=problem))
    return rows


# The costs of checks.

def _checks(peers, quick, speed):
    rows = []
    kinds = ("BOUNDS", dict(boundscheck=False), "bounds"), ("OVERFLOW", dict(overflow="wrap"), "overflow")
    for table, off, what in kinds:
        checked, unchecked = load(KERNELS, "pyjitc")[table], load(KERNELS, "pyjitc", **off)[table]
        plain = load(KERNELS, "cpython")[table]
        for name, (function, prepare, budget) in plain.items():
            progress(f"budgets: {what}: {name}")
            contenders = {"on": checked[name][0], "off": unchecked[name][0]}

            def arguments():
                return prepare(np.random.default_rng(0))

            try:
                expected = outcome(function, arguments())
                problem = "".join(same(expected, outcome(f, arguments()), exact=True) for f in contenders.values())
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            if problem:
                note = problem.splitlines()[0][:200]
                rows.append(Row("budgets", f"{what}: {name}", "x", None, budget=budget, note=note))
                continue
            times = runs(contenders, arguments, 10 if quick else 60)
            cells = {"unchecked": f"{sample(times['off']).median * 1e6:.1f} us"}
            rows.append(Row("budgets", f"{what}: {name}", "x", ratio(times["on"], times["off"]), cells, budget))
    return rows


# Memory and compile time.

DROPPED = """\
import gc, pyjitc
def one(k):
    scope = {{}}
    exec(f"def f(x, n):\\n    s = x\\n    for i in range(n):\\n        s += {{k}}.5 * i\\n    return s\\n", scope)
    assert pyjitc.njit(scope["f"])(1.0, 3) == 1.0 + 3 * (k + 0.5)
sizes = []
for k in range({count}):
    one(k)
    if k % 10 == 9:
        gc.collect()
        sizes.append(rss())
answer(sizes)
"""

RAISES = """\
import gc, pyjitc, numpy as np
@pyjitc.njit
def fails(n, x):
    a = np.empty(n)
    a[0] = x
    if a[0] > 0.0:
        raise ValueError("wrong", x)
    return a
def many(count):
    for k in range(count):
        try:
            fails(100, 1.0)
        except ValueError:
            pass
many(20_000)
gc.collect()
before = rss()
many({count})
gc.collect()
answer((rss() - before) / 1e6)
"""

TEMPORARIES = """\
import time
import numpy as np
import pyjitc
@pyjitc.njit
def fresh(x):
    return x + 1.0
@pyjitc.njit
def leaving(x, n):
    for i in range(n):
        x = x * 0.5 + 1.0
    return x
@pyjitc.njit
def returned(x, n):
    s = 0.0
    for i in range(n):
        s += fresh(x)[1]
    return s
@pyjitc.njit
def zeros(x, n):
    s = 0.0
    for i in range(n):
        a = np.zeros(8)
        a[i & 7] = 1.0
        s += a.sum()
    return s
def best(f, n=200_000):
    f(np.ones(3), 3)
    times = []
    for _ in range(7):
        start = time.perf_counter()
        f(np.ones(3), n)
        times.append(time.perf_counter() - start)
    return min(times) / n * 1e9
answer({f.__name__: best(f) for f in (leaving, returned, zeros)})
"""

PEAK = """\
import numpy as np
def sizes():
    with open("/proc/self/status") as file:
        found = dict(line.split(":", 1) for line in file)
    return [int(found[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM", "RssAnon")]
before = sizes()
import pyjitc
@pyjitc.njit
def f(x, y):
    return x + y
f(1, 2)
after = sizes()
answer((after[1] - before[0], after[2] - before[2]))
"""

LINES = """\
import time, pyjitc
def source(lines, k):
    body = ["    s = x"]
    while len(body) < lines - 2:
        n = len(body)
        body += [f"    if s > {n}.0:", f"        s -= {n}.25 * y", "    else:", f"        s += y / {n}.5",
                 f"    for i in range(n + {n % 7}):", f"        s += i * {n % 13}.125"]
    return f"def f{k}(x, y, n):\\n" + "\\n".join(body[:1 + (lines - 3) // 6 * 6]) + "\\n    return s\\n"
def clock(text, name):
    scope = {}
    exec(text, scope)
    expected = scope[name](1.5, 2.5, 3)
    f = pyjitc.njit(scope[name])
    start = time.process_time()
    actual = f(1.5, 2.5, 3)
    spent = time.process_time() - start
    assert actual == expected, (actual, expected)
    return spent * 1e3
clock(source(10, 0), "f0")
short = [clock(source(10, k), f"f{k}") for k in range(1, 4)]
long = clock(source(1000, 9), "f9")
answer((sorted(short)[1], long))
"""


SHARES = """\
import numpy as np
from pyjitc.base.trace import times
from bench.peers import load
cases = load({path!r}, "pyjitc")["CASES"]
for name, (function, prepare) in cases.items():
    if name == "collatz":
        times.clear()  # what the first one cost is the import of the compiler too
    function(*prepare(np.random.default_rng(0)))
answer({{stage: entry[0] * 1e3 for stage, entry in times.items()}})
"""


def _memory(peers, quick, speed):
    count = 200 if quick else 1000
    progress(f"budgets: {count} compiles kept and dropped")
    sizes = child(DROPPED.format(count=count))
    grown = (sizes[-1] - sizes[len(sizes) // 5]) / 1e6
    raises = 100_000 if quick else 1_000_000
    progress(f"budgets: {raises} raises")
    leaked = child(RAISES.format(count=raises))
    return [Row("budgets", f"RSS grown over {count} dropped compiles", "MB", _flag(grown), budget=4,
                note=f"{sizes[-1] / 1e6:.0f} MB in all"),
            Row("budgets", f"RSS grown over {raises:,} raises", "MB", _flag(leaked), budget=2), *_little(speed)]


def _little(speed):
    """The memory that small arrays and the first compile of a process take."""
    progress("budgets: temporaries, memory of a first compile")
    names = {"leaving": "a new array in each trip of a loop, which goes round",
             "returned": "one that a function returns", "zeros": "one of zeros, its sum taken by a function"}
    rows = [_time(names[name], "ns", _flag(spent), 40, speed, {}) for name, spent in child(TEMPORARIES).items()]
    peak, own = child(PEAK)
    return [*rows, Row("budgets", "peak of a first compile beyond NumPy", "MB", _flag(peak), budget=60,
                       note=f"{own:.0f} MB of its own; the rest are pages of LLVM's library, which processes share and "
                            "the kernel maps in large pieces")]


def _lines(peers, quick, speed):
    short, long = child(LINES)
    stages = child(SHARES.format(path=PROGRAMS))
    llvm = stages.pop("llvm")
    note = ", ".join(f"{stage} {ms:.0f} ms" for stage, ms in sorted(stages.items(), key=lambda item: -item[1]))
    return [Row("budgets", "compiling: time outside LLVM over time inside", "x", _flag(sum(stages.values()) / llvm),
                budget=1, note=f"{note}, llvm {llvm:.0f} ms"),
            Row("budgets", "compile time, 1,000 lines over 10 lines", "x", _flag(long / short), budget=100,
                note=f"{long:.0f} ms over {short:.1f} ms")]


def _flag(value) -> Sample:
    return Sample(float(value), float(value), float(value), 1)


def _cells(times) -> dict:
    return {label: sample(values) for label, values in times.items() if label != "pyjitc"}


PARTS = {"import": _import, "dispatch": _dispatch, "first call": _first, "first call of arrays": _first_arrays,
         "cached first call": _cached, "checks": _checks, "compile time": _lines, "memory": _memory}
