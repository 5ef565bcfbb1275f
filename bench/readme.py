"""Tables of figures in pages, written from a file of figures, so that every number in them was measured.

A page has pairs of marks, and this module writes the text between the two marks of a pair. A mark without a suite
stands for the table of peers:
    <!-- bench: docs/bench/FILE.json -->                <!-- bench: docs/bench/FILE.json loops -->
    <!-- /bench -->                                     <!-- /bench -->
"""
from __future__ import annotations

import math
import os
import re
from dataclasses import replace

from .results import Results, WrongFile, load
from .table import Row, cells_of, number

__all__ = ["table", "suite_table", "update", "written"]

MARKS = re.compile(r"<!-- bench: (?P<path>\S*) ?(?P<suite>\w*) -->\n(?P<between>.*?)<!-- /bench -->", re.S)
NAMES = {"numba": "Numba", "jax": "JAX", "numpy": "NumPy", "cpython": "CPython"}

# Rows whose times the table of peers shows: (suite, beginning of the row's name, the name on the page).
TOLD = (
    ("contrast", "loop-size, 1,000 trips: first call", "first call of one more function, a loop of 1,000 trips"),
    ("contrast", "selu, float32, 1e6", "selu, 1e6 elements, float32"),
    ("contrast", "selu, float64, 1e6", "selu, 1e6 elements, float64"),
    ("contrast", "repeat-mul, n = 5", "call of a function with a 5-trip `while`"),
    ("contrast", "small-dense, (4,) x (4, 2)", "`x @ W + b`, (4,) x (4, 2), float32"),
    ("contrast", "random-length, 1,000 lengths", "`x * x * x`, an array of a new length at each call"),
    ("contrast", "jit-in-loop, 50 functions made anew: a call", "a closure compiled in a loop, with its call"),
)
# Suites whose geometric mean the table shows.
MEANS = (("math", "`sin` and the like, arrays of 10 to 1e6 elements"), ("loops", "scalar and index loops"),
         ("npbench", "npbench kernels"))


def table(results: Results, source: str) -> str:
    """Markdown. source: the file that the figures come from, as a link."""
    rows = [(said, _find(results, suite, name)) for suite, name, said in TOLD]
    peers, lines = _told(results.rows, [(said, row) for said,
                                        row in rows if row is not None and row.figure is not None])
    summaries = []
    for suite, said in MEANS:
        rows = [row for row in results.rows if row.suite == suite and row.ratios and row.figure is not None]
        if rows:
            means = [_mean([row.ratios[peer].median for row in rows if peer in row.ratios]) for peer in peers]
            summaries.append(f"| {said}: geometric mean of {len(rows)} | 1x | {' | '.join(means)} |")
    return "\n".join([*lines[:2], *summaries, *lines[2:], "", _measured(results, source)]) + "\n"


def opening_table(results: Results, source: str) -> str:
    """Markdown of the suite of the first example."""
    rows = [row for row in results.rows if row.suite == "opening" and row.figure is not None]
    return "\n".join([*_told(rows, [(row.name, row) for row in rows])[1], "", _measured(results, source)]) + "\n"


def _told(rows, told) -> tuple[list[str], list[str]]:
    """(the peers of any row, the lines of the table: its head and the rows that it shows)."""
    peers = [peer for peer in NAMES if any(peer in row.ratios for row in rows)]
    lines = [f"| | pyjitc | {' | '.join(NAMES[peer] for peer in peers)} |", "|---|" + "---:|" * (1 + len(peers))]
    for said, row in told:
        cells = [_time(row.figure.median, row.unit), *(_beside(row, peer) for peer in peers)]
        lines.append(f"| {said} | {' | '.join(cells)} |")
    return peers, lines


def _measured(results: Results, source: str) -> str:
    machine = results.machine
    versions = ", ".join(f"{NAMES.get(key, key)} {machine[key]}" for key in ("numba", "jax", "numpy") if key in machine)
    return ("Medians of times; in brackets, how many times as long as pyjitc took in the same run, in turns; "
            "one thread; "
            f"{machine['processor']}, {machine['cores']} cores, Python {machine['Python']}, {versions}; "
            f"{machine['date'].split()[0]}, all figures: [{os.path.basename(source)}]({source})."
            + (" From a quick run: rough." if results.quick else ""))


def _find(results, suite, name) -> Row | None:
    return next((row for row in results.rows if row.suite == suite and row.name == name), None)


def _beside(row: Row, peer: str) -> str:
    if peer not in row.ratios:
        return ""
    time, times = row.cells.get(peer), row.ratios[peer].median
    return f"{_time(time.median, row.unit)} ({_times(times)})" if hasattr(time, "median") else _times(times)


def _time(value: float, unit: str) -> str:
    """A time as text, in the unit that makes the number short."""
    units = ["ns", "us", "ms", "s"]
    while value >= 1000 and unit in units[:-1]:
        value, unit = value / 1000, units[units.index(unit) + 1]
    return number(value, unit)


def _times(value: float) -> str:
    if value >= 100:  # only two digits are significant
        value = round(value, 1 - math.floor(math.log10(value)))
    return f"{value:,.0f}x" if value >= 10 else f"{value:.1f}x" if value >= 1.95 else f"{value:.2f}x"


def _mean(values) -> str:
    return _times(math.exp(sum(map(math.log, values)) / len(values))) if values else ""


def suite_table(results: Results, suite: str) -> str:
    """Markdown of all rows of a suite, without the messages of errors on the machine."""
    rows = results.suites().get(suite)
    if not rows:
        return f"Not in this file: `python -m bench {suite}` measures it.\n"
    rows = [replace(row, note="") if row.figure is None else row for row in rows]
    head, *lines = cells_of(suite, rows)
    machine = results.machine
    when = "\n" + ", ".join(str(machine[key]) for key in ("date", "processor", "pyjitc") if key in machine) + ".\n"
    return "\n".join([_line(head), "|---|" + "---:|" * (len(head) - 1), *map(_line, lines)]) + "\n" + when


def _line(cells) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |"


def machine_table(results: Results) -> str:
    return "\n".join(["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in results.machine.items())]) + "\n"


def _text(page: str, results: Results, link: str, suite: str) -> str:
    if not suite:
        return table(results, link)
    if suite == "machine":
        return machine_table(results)
    if suite == "opening":
        return opening_table(results, link)
    # the name under which --charts writes it beside the figures
    chart = os.path.join(os.path.dirname(link), f"{suite}.svg")
    there = os.path.exists(os.path.join(os.path.dirname(os.path.abspath(page)), chart))
    return f"![{suite}: the peers' times over pyjitc's]({chart})\n\n" * there + suite_table(results, suite)


def update(path: str, results: Results, source: str) -> None:
    """Write the tables between the marks of a page: marks that name this file of figures, that name no file, or that
    name a suite of this file. A page may show suites of several files."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not MARKS.search(text):
        raise WrongFile(f"{path} has no marks <!-- bench: FILE.json --> and <!-- /bench -->")
    link = os.path.relpath(source, os.path.dirname(os.path.abspath(path)))

    def anew(match):
        if match["path"] not in ("", link) and match["suite"] not in results.suites():
            return match[0]
        return (f"<!-- bench: {link}{' ' * bool(match['suite'])}{match['suite']} "
                f"-->\n{_text(path, results, link, match['suite'])}<!-- /bench -->")

    with open(path, "w", encoding="utf-8") as file:
        file.write(MARKS.sub(anew, text))


def written(path: str) -> list[tuple[str, str]]:
    """For each pair of marks of a page: (the text between them, the text that the figures which they name give)."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = []
    for match in MARKS.finditer(text):
        expected = ""
        if match["path"]:
            results = load(os.path.join(os.path.dirname(os.path.abspath(path)), match["path"]))
            expected = _text(path, results, match["path"], match["suite"])
        found.append((match["between"], expected))
    return found
