"""Suite `loops`: scalar and index programs against Numba with its checks off and against CPython.

pyjitc is judged with all its checks on; its time with checks off is shown beside it. A first call is CPU time in a
process of its own.
"""
from __future__ import annotations

import math
import os

import numpy as np

from .measure import Sample, child, progress, ratio, runs, sample
from .peers import load
from .table import Row

__all__ = ["measure", "beside_numba", "same"]

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs.py")

FIRST = """\
import time, numpy
from bench.peers import load
start = time.process_time()
function, prepare = load({path!r}, {peer!r})["CASES"][{name!r}]
arguments = prepare(numpy.random.default_rng(0))
here = time.process_time()
function(*arguments)
answer((time.process_time() - here) * 1e3)
"""


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    return beside_numba("loops", PROGRAMS, 1.0, peers, quick=quick, only=only)


def beside_numba(suite: str, programs: str, least: float, peers, *, quick: bool, only: str) -> list[Row]:
    """A row for each program of the file `programs`, and one for the geometric mean, whose budget is at least
    `least`."""
    contenders = {"pyjitc": load(programs, "pyjitc")["CASES"],
                  "checks off": load(programs, "pyjitc", boundscheck=False, overflow="wrap")["CASES"]}
    if "numba" in peers:
        contenders["numba"] = load(programs, "numba")["CASES"]
    plain = load(programs, "cpython")
    rows = []
    for name, (function, prepare) in plain["CASES"].items():
        if only in name:
            progress(f"{suite}: {name}")
            exact = name not in plain.get("LAST_BITS", ())
            rows.append(_row(suite, programs, name, function, prepare, contenders, peers, quick, exact))
    progress("")
    against = [row.figure.median for row in rows if row.figure and "numba" in peers]
    if against:
        mean = math.exp(sum(map(math.log, against)) / len(against))
        failed = sum(row.figure is None for row in rows)
        rows.append(Row(suite, "geometric mean", "x", Sample(mean, mean, mean, len(against)), budget=least,
                        at_least=True, note=f"{failed} programs failed" if failed else ""))
    return rows


def _row(suite, programs, name, function, prepare, contenders, peers, quick, exact) -> Row:
    def arguments():
        return prepare(np.random.default_rng(0))

    judged = "numba" in peers
    budget = dict(budget=0.9 if judged else None, at_least=True)
    expected = outcome(function, arguments())
    for label, cases in contenders.items():
        try:
            problem = same(expected, outcome(cases[name][0], arguments()), exact=exact and label != "numba")
        except Exception as error:
            problem = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        if problem:
            return Row(suite, name, "x", None, note=f"{label}: {problem}", **budget)
    times = runs({label: cases[name][0] for label, cases in contenders.items()}, arguments, 5 if quick else 25)
    cells = {"time": _ms(times["pyjitc"])}
    ratios = {}
    if "cpython" in peers:
        slow = runs({"cpython": function}, arguments, 1 if quick else 3)["cpython"]
        own = sample(times["pyjitc"]).median
        ratios["cpython"] = sample(one / own for one in slow)
        cells["over CPython"] = f"{ratios['cpython'].median:,.0f}x"
    cells["checks cost"] = f"{ratio(times['pyjitc'], times['checks off']).median:.2f}x"
    figure = ratio(times["pyjitc"], times["pyjitc"])
    if judged:
        cells["Numba"] = _ms(times["numba"])
        figure = ratios["numba"] = ratio(times["numba"], times["pyjitc"])
    for peer in () if quick else ("pyjitc", *(p for p in peers if p != "cpython")):
        cells[f"first, {peer}"] = f"{child(FIRST.format(path=programs, peer=peer, name=name)):,.0f} ms"
    return Row(suite, name, "x", figure, cells, ratios=ratios, **budget)


def _ms(times) -> str:
    return f"{sample(times).median * 1e3:.3f} ms"


def outcome(function, args):
    """The result of a call and the contents of its array arguments afterwards."""
    return function(*args), [a for a in args if isinstance(a, np.ndarray)]


def same(expected, actual, exact: bool) -> str:
    """'' if two outcomes agree, otherwise a text about the difference. Without `exact` they may differ in the last bits
    and in scalar types, as those of peers do."""
    for x, y in zip((expected[0], *expected[1]), (actual[0], *actual[1])):
        if exact and (type(x) is not type(y) or np.asarray(x).tobytes() != np.asarray(y).tobytes()):
            return f"result differs: {x!r} and {y!r}"[:200]
        if x is not None and not np.allclose(x, y, rtol=1e-9, atol=0):
            return f"result differs: {x!r} and {y!r}"[:200]
    return ""
