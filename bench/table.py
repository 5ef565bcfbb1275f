"""Rows of figures, judged against budgets, as a table for the terminal and as plain data."""
from __future__ import annotations

from dataclasses import asdict, dataclass, field

from .measure import Sample

__all__ = ["Row", "render", "cells_of", "number"]


@dataclass
class Row:
    """figure: the sample that is judged, in `unit`; cells: further columns, {column: Sample or text}; budget: the upper
    bound of the figure (with `at_least` the lower bound); here: the budget at this machine's speed, if it is a time;
    ratios: the ratio of each peer's time to pyjitc's."""

    suite: str
    name: str
    unit: str
    figure: Sample | None
    cells: dict = field(default_factory=dict)
    budget: float | None = None
    here: float | None = None
    at_least: bool = False
    note: str = ""
    ratios: dict = field(default_factory=dict)
    clearly: bool = False  # the budget is missed only if three of four rounds miss it

    @property
    def passed(self) -> bool | None:
        if self.budget is None:
            return None
        if self.figure is None:
            return False
        limit = self.budget if self.here is None else self.here
        if self.clearly:
            return self.figure.high >= limit if self.at_least else self.figure.low <= limit
        return self.figure.median >= limit if self.at_least else self.figure.median <= limit

    def plain(self) -> dict:
        return {**asdict(self), "passed": self.passed}


def render(title: str, rows: list[Row]) -> str:
    lines = cells_of(title, rows)
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join(cell.ljust(width) if k in (0, len(widths) - 1) else cell.rjust(width)
                               for k, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines)


def cells_of(title: str, rows: list[Row]) -> list[list[str]]:
    """The table as text: a head, then a line for each row."""
    columns = list(dict.fromkeys(key for row in rows for key in row.cells))
    lines = [[title, "pyjitc", *columns, "budget", ""]]
    for row in rows:
        cells = [_shown(row.cells.get(column, ""), row.unit) for column in columns]
        limit = "" if row.budget is None else f"{'>=' if row.at_least else '<='} {number(row.budget, row.unit)}"
        if row.here is not None and row.here != row.budget:
            limit += f" ({number(row.here, row.unit)} here)"
        verdict = {None: "", True: "ok", False: "MISSED"}[row.passed]
        last = " ".join(filter(None, (verdict, row.note)))
        lines.append([row.name, _shown(row.figure, row.unit), *cells, limit, last])
    return lines


def _shown(value, unit: str) -> str:
    if value is None:
        return "failed"
    if isinstance(value, str):
        return value
    spread = (value.high - value.low) / 2
    if value.n < 3 or spread < 0.005 * abs(value.median):
        return number(value.median, unit)
    if unit == "x":
        return f"{value.median:.2f}±{spread:.2f}x"
    return f"{number(value.median, '')}±{number(spread, '')} {unit}".rstrip()


def number(value: float, unit: str) -> str:
    if unit == "x":
        return f"{value:.2f}x"
    if unit == "" and value == int(value):  # a count
        return f"{value:,.0f}"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return f"{text} {unit}".rstrip()
