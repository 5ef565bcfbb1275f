"""The page with charts: for each suite a chart of the ratios of the peers' times to pyjitc's, and the table of all
figures."""
from __future__ import annotations

import html
import importlib
import importlib.util
import io
import math
import os
import re
import tempfile

from .results import Results
from .table import Row, cells_of

__all__ = ["available", "write", "chart", "charts"]

COLOURS = {"numba": "#1f77b4", "jax": "#d62728", "trace": "#ff9896", "numpy": "#2ca02c", "cpython": "#9467bd",
           "others": "#7f7f7f"}
NAMES = {"numba": "Numba", "jax": "JAX", "trace": "own tracing", "numpy": "NumPy", "cpython": "CPython",
         "others": "peer"}

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 92em; margin: 2em auto; padding: 0 1em; color: #222; }
h1 { font-size: 1.6em; } h2 { font-size: 1.25em; margin-top: 2.5em; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .15em .8em; text-align: right; border-bottom: 1px solid #e4e4e4; white-space: nowrap; }
th:first-child, td:first-child, td:last-child { text-align: left; white-space: normal; }
td:first-child { min-width: 18em; } .machine td:first-child { min-width: 0; }
tr.missed td { background: #fdecea; } .machine td { text-align: left; }
.scroll { overflow-x: auto; } svg { max-width: 100%; height: auto; }
"""


def available() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def write(results: Results, path: str) -> None:
    judged = [row for row in results.rows if row.passed is not None]
    parts = ["<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
             f"<title>pyjitc: benchmarks</title><style>{STYLE}</style><h1>pyjitc beside its peers</h1>",
             f"<p>{sum(row.passed for row in judged)} of {len(judged)} budgets hold."
             + (" A quick run: not to be quoted." if results.quick else "") + "</p>",
             "<table class=machine>", *(f"<tr><td>{_text(k)}<td>{_text(v)}" for k, v in results.machine.items()),
             "</table>"]
    for suite, rows in results.suites().items():
        parts.append(f"<h2 id={_text(suite)}>{_text(suite)}</h2>")
        drawn = chart(suite, rows)
        if drawn:
            parts.append(drawn)
        parts.append(_table(suite, rows))
    text = "\n".join(parts) + "\n"
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def charts(results: Results, folder: str) -> None:
    """Write the charts as SVG files, one for each suite that compares with peers."""
    for suite, rows in results.suites().items():
        drawn = chart(suite, rows)
        if drawn:
            with open(os.path.join(folder, f"{suite}.svg"), "w", encoding="utf-8") as file:
                file.write(re.sub(r"[ \t]+$", "", drawn, flags=re.M))


def _points(rows: list[Row]) -> list[tuple[str, dict]]:
    """(name, {peer: its time over pyjitc's}) of the rows that compare with peers."""
    return [(row.name, row.ratios) for row in rows if row.ratios and row.figure is not None]


def chart(suite: str, rows: list[Row], format: str = "svg"):
    """SVG text (or bytes of another format) of a chart with a dot for each peer and row on a logarithmic axis; None if
    no row compares with a peer."""
    points = _points(rows)
    if not points:
        return None
    matplotlib = importlib.import_module("matplotlib")
    figures = importlib.import_module("matplotlib.figure")
    ticker = importlib.import_module("matplotlib.ticker")
    with matplotlib.rc_context({"svg.fonttype": "none", "font.family": "sans-serif", "svg.hashsalt": "pyjitc"}):
        figure = figures.Figure(figsize=(10, 1.1 + 0.27 * len(points)), layout="constrained")
        axes = figure.add_subplot()
        axes.axvspan(1e-9, 1, color="#f4f4f4", zorder=0)
        axes.axvline(1, color="#444444", linewidth=1.2, zorder=1)
        values = [v for _, ratios in points for s in ratios.values() for v in (s.low, s.high)]
        peers = [peer for peer in COLOURS if any(peer in ratios for _, ratios in points)]
        for peer in peers:
            found = [(k, ratios[peer]) for k, (_, ratios) in enumerate(points) if peer in ratios]
            at = [k for k, _ in found]
            middle = [s.median for _, s in found]
            spread = [[s.median - s.low for _, s in found], [s.high - s.median for _, s in found]]
            axes.errorbar(middle, at, xerr=[[max(0.0, x) for x in side] for side in spread], fmt="o", markersize=5,
                          linewidth=1, color=COLOURS[peer], label=NAMES[peer], zorder=3)
        axes.set_xscale("log")
        axes.set_xlim(min(0.5, *values) / 1.3, max(2.0, *values) * 1.3)
        axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:,.0f}x" if x >= 1 else f"{x:g}x"))
        if math.log10(max(2.0, *values) / min(0.5, *values)) < 1.5:
            axes.xaxis.set_minor_formatter(ticker.FuncFormatter(lambda x, _: f"{x:g}x"))
        axes.set_yticks(range(len(points)), [name for name, _ in points], fontsize=8.5)
        axes.set_ylim(len(points) - 0.4, -0.6)
        axes.grid(axis="x", which="both", color="#e4e4e4", linewidth=0.6)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("time of the peer over that of pyjitc: right of the line pyjitc is faster")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(peers), frameon=False)
        out = io.BytesIO()
        figure.savefig(out, format=format, metadata={"Date": None} if format == "svg" else None, dpi=110)
    if format != "svg":
        return out.getvalue()
    return re.sub(r"^.*?(?=<svg)|<metadata>.*?</metadata>", "", out.getvalue().decode(), flags=re.S)


def _table(suite: str, rows: list[Row]) -> str:
    head, *lines = cells_of(suite, rows)
    out = ["<div class=scroll><table>", "<tr>" + "".join(f"<th>{_text(cell)}" for cell in head)]
    for row, line in zip(rows, lines):
        missed = " class=missed" if row.passed is False else ""
        out.append(f"<tr{missed}>" + "".join(f"<td>{_text(cell)}" for cell in line))
    return "\n".join([*out, "</table></div>"])


def _text(value) -> str:
    return html.escape(str(value))
