"""The results of a run as a JSON file, and the comparison with an earlier run."""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields

from .measure import Sample
from .table import Row

__all__ = ["Results", "WrongFile", "load", "check_place", "regressions", "REPEATS", "TOLERANCE"]

REPEATS = 2
TOLERANCE = 0.1  # a figure is worse when it is worse by this share and the interquartile ranges do not overlap


class WrongFile(Exception):
    """Raised for an invalid file; the message says which file and what is wrong."""


@dataclass
class Results:
    """machine: the machine, the time and the versions of the measurement; quick: whether it was a quick run, whose
    figures are not to be quoted."""

    machine: dict
    quick: bool
    rows: list[Row]

    def save(self, path: str) -> None:
        """Write the file atomically: readers never see a part of it."""
        folder = os.path.dirname(os.path.abspath(path))
        with tempfile.NamedTemporaryFile("w", dir=folder, prefix=".bench", delete=False) as file:
            try:
                json.dump({"machine": self.machine, "quick": self.quick, "rows": [row.plain() for row in self.rows]},
                          file, indent=1)
                file.write("\n")
            except BaseException:
                os.unlink(file.name)
                raise
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)

    def suites(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.suite, []).append(row)
        return found

    def row(self, suite: str, name: str) -> Row:
        for row in self.rows:
            if (row.suite, row.name) == (suite, name):
                return row
        raise KeyError(f"{suite}: {name}")


def load(path: str) -> Results:
    try:
        with open(path) as file:
            data = json.load(file)
        names = {field.name for field in fields(Row)}
        rows = []
        for plain in data["rows"]:
            known = {key: value for key, value in plain.items() if key in names}
            known["figure"] = _sample(known["figure"])
            for part in "cells", "ratios":
                known[part] = {key: _sample(value) for key, value in known.get(part, {}).items()}
            rows.append(Row(**known))
        return Results(dict(data["machine"]), bool(data["quick"]), rows)
    except OSError as error:
        raise WrongFile(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WrongFile(f"{path} is not a file that --json wrote: {type(error).__name__}: {error}") from None


def _is_worse(row: Row, was: Sample, now: Sample) -> bool:
    if row.unit == "" and was.n == now.n == 1:  # counts
        return now.median < was.median if row.at_least else now.median > was.median
    if row.at_least:
        return now.median < was.median * (1 - TOLERANCE) and now.high < was.low
    return now.median > was.median * (1 + TOLERANCE) and now.low > was.high


def _change(row: Row, was: Sample, measured: list[Sample]) -> str:
    now = ", ".join([f"{figure.median:,.3g}" for figure in measured])
    return f"{row.suite}: {row.name}: {was.median:,.3g} -> {now} {row.unit}".rstrip()


def _sample(value):
    return Sample(*value) if isinstance(value, list) else value


def check_place(path: str) -> None:
    """Raise WrongFile if the file cannot be written. This is checked before hours of measuring."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise WrongFile(f"{path} is a folder")
    if not os.path.isdir(folder):
        raise WrongFile(f"{path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK) or os.path.exists(path) and not os.access(path, os.W_OK):
        raise WrongFile(f"{path} cannot be written")


def regressions(old: Results, new: Results, again: Callable[[Row], Row | None] = lambda row: None
                ) -> tuple[list[str], list[str]]:
    """(lines about what got worse, lines with remarks). Times are compared only for the same processor and Python,
    ratios always.

    again(row) measures a row again; its result is None where it cannot. The code of some programs takes one of two
    times, depending on where in memory a process has its code and data. So a figure that is worse is measured up to
    REPEATS times more, and got worse only if it is worse each time."""
    worse, remarks = [], []
    differ = [key for key in ("processor", "cores", "Python") if old.machine.get(key) != new.machine.get(key)]
    if differ:
        remarks.append(f"other {' and '.join(differ)}: times are not compared, only ratios")
    if old.quick or new.quick:
        remarks.append("figures of --quick: few rounds")
    before = {(row.suite, row.name): row for row in old.rows}
    for row in new.rows:
        past = before.pop((row.suite, row.name), None)
        if past is None or past.figure is None:
            continue
        if row.figure is None:
            worse.append(f"{row.suite}: {row.name}: fails now: {row.note}")
            continue
        if row.unit != past.unit or differ and row.unit not in ("x", ""):
            continue
        measured = [row.figure]
        while _is_worse(row, past.figure, measured[-1]) and len(measured) <= REPEATS:
            other = again(row)
            if other is None or other.figure is None:
                break
            measured.append(other.figure)
        if _is_worse(row, past.figure, measured[-1]):
            worse.append(_change(row, past.figure, measured))
        elif len(measured) > 1:
            remarks.append(f"not worse when it is measured again: {_change(row, past.figure, measured)}")
    missing = [f"{suite}: {name}" for suite, name in before if suite in new.suites()]
    if missing:
        remarks.append(f"not measured this time: {', '.join(missing[:5])}"
                       + (f" and {len(missing) - 5} more" if len(missing) > 5 else ""))
    return worse, remarks
