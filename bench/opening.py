"""Suite `opening`: the first example of the README, unchanged: the time of a call, and the time of the whole program up
to its first result.

The contenders run the same text with their own import line. A first call is the CPU time of a new process from the
import of the compiler to the result, with NumPy imported before.
"""
from __future__ import annotations

import os
import re
import time

import numpy as np

from .budgets import settled
from .measure import progress, quotient, runs, sample
from .peers import PEERS as CONTENDERS
from .table import Row

__all__ = ["PEERS", "example", "measure"]

README = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "README.md")
PEERS = ("numba", "cpython")

FIRST = """\
import time
import numpy as np
start = time.process_time()
{source}
answer((time.process_time() - start) * 1e3)
"""


def example() -> tuple[str, str]:
    """(the text of the example without its last line, the last line, which is the call)."""
    with open(README, encoding="utf-8") as file:
        block = re.search(r"^```python\n(.*?)^```", file.read(), re.S | re.M)[1]
    text, _, call = block.rstrip().rpartition("\n")
    return text, call


def _written(peer: str) -> str:
    text, _ = example()
    package = CONTENDERS[peer][0]
    line = "njit = lambda f: f" if package is None else f"from {package} import njit"
    return text.replace("from pyjitc import njit", line)


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    _, call = example()
    contenders = ["pyjitc", *(peer for peer in PEERS if peer in peers)]
    name, _, given = call.partition("(")
    spaces = {peer: {} for peer in contenders}
    for peer, space in spaces.items():
        exec(_written(peer), space)
    arguments = eval(f"({given}", {"np": np})
    expected = [space[name](*arguments) for space in spaces.values()]
    if len(set(map(repr, map(float, expected)))) > 1:
        return [Row("opening", "a call", "us", None, note=f"results differ: {expected}")]
    progress("opening: a call")
    rounds = 5 if quick else 25
    times = runs({peer: space[name] for peer, space in spaces.items() if peer != "cpython"}, lambda: arguments, rounds)
    if "cpython" in spaces:  # CPU time, because other programs run during such a long measurement
        times["cpython"] = [_cpu(spaces["cpython"][name], arguments) for _ in range(rounds // 3)]
    rows = [_row("a call", "us", {peer: [1e6 * one for one in found] for peer, found in times.items()})]
    progress("opening: first call")
    compilers = [peer for peer in contenders if CONTENDERS[peer][0] is not None]
    first = {peer: [] for peer in compilers}
    for turn in range(-1, 2 if quick else 9):
        for peer in compilers:
            found = settled(FIRST.format(source=f"{_written(peer)}\n{call}"))
            if turn >= 0:  # turn -1 compiles the compiler's own modules
                first[peer].append(found)
    rows.append(_row("import, compile and first call in a new process", "ms", first))
    progress("")
    return [row for row in rows if only in row.name]


def _cpu(function, arguments) -> float:
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def _row(name, unit, times) -> Row:
    own = times.pop("pyjitc")
    return Row("opening", name, unit, sample(own), {peer: sample(found) for peer, found in times.items()},
               ratios={peer: quotient(sample(found), sample(own)) for peer, found in times.items()})
