"""What every stage makes of one function, for the page `internals.md`; and its pictures.

python docs/stages.py [FOLDER]: writes the files that the page includes. Sphinx does at every build, so they are never
old.
"""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from html import escape

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = ("from pyjitc import njit\n\n@njit\ndef total_above(a, limit):\n    total = 0.0\n    for i in range(len(a)):\n"
          "        if a[i] > limit:\n            total += a[i]\n    return total\n")
TYPES = "float64[::1], float"
ROOMS = [("function", "bytecode of CPython", "dis"), ("front", "generic IR: Python's operations in SSA form", "ir"),
         ("infer", "typed IR: leaf operations, a type for each value", "typed"),
         ("passes", "typed IR: inlined, fused, checks moved out", "opt"),
         ("codegen", "LLVM IR, optimised by LLVM", "llvm"), ("codegen", "object code, kept on disk where asked for",
                                                             "asm"), ("runtime", "native code, called directly", "")]


def write(folder: pathlib.Path) -> None:
    folder.mkdir(exist_ok=True)
    program = folder / "total_above.py"
    program.write_text(SOURCE)
    for stage in ("bytecode", "ir", "typed", "opt", "llvm", "asm"):
        command = [sys.executable, "-m", "pyjitc", "inspect", f"{program}::total_above", "--types", TYPES, "--stage",
                   stage]
        text = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=True).stdout
        text = text.replace(str(folder) + "/", "")
        if stage == "llvm":
            text = function_of(text)
        if stage == "asm":
            text = hot_loop(text)
        (folder / f"{stage}.txt").write_text(text)
    scope: dict = {}
    exec(compile(SOURCE, str(program), "exec"), scope)
    function = scope["total_above"]
    (folder / "cfg.svg").write_text(function.inspect_cfg(f"({TYPES})")._repr_svg_())
    function(np.zeros(3), 0.5)
    # a page has measured figures from bench only
    (folder / "display.html").write_text(re.sub(r"[\d.,]+ ms", "... ms", function._repr_html_()))
    (folder / "pipeline.svg").write_text(pipeline())


def function_of(llvm: str) -> str:
    """The definition of the function itself: without the stub, declarations and attributes."""
    found = max(re.findall(r"^define [^\n]*total_above[^\n]*\{\n.*?^\}\n", llvm, re.S | re.M), key=len)
    return re.sub(r",? !\w+ !\d+|,? ![a-z.]+ !\d+", "", found)


def hot_loop(assembly: str) -> str:
    """The innermost loop: from a label to the first jump back to it, the one with the addition."""
    lines = [line for line in assembly.splitlines() if not re.match(r"\s*(\.cfi|\.p2align|#)", line)]
    best: list[str] = []
    at = {}
    for n, line in enumerate(lines):
        label = re.match(r"(\.?\w+):", line)
        if label:
            at[label[1]] = n
        jump = re.match(r"\s+j\w+\s+(\.?\w+)", line)
        if jump and jump[1] in at:
            loop = lines[at[jump[1]]:n + 1]
            if any("addsd" in x for x in loop) and (not best or len(loop) < len(best)):
                best = loop
    return "\n".join(best or lines[:40]) + "\n"


def pipeline() -> str:
    """The way of a function through the rooms, as SVG."""
    wide, high, gap, left = 430, 40, 22, 20
    height = 20 + len(ROOMS) * (high + gap)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" width="720" height="{height}" '
           f'role="img">',
           "<title>From a Python function to native code</title>",
           '<style>text { font: 13px sans-serif; fill: #1f2328; } .room { font-weight: bold; } .note { font-size: '
           '12px; fill: #57606a; } '
           'rect.box { fill: #f6f8fa; stroke: #57606a; } path { stroke: #57606a; fill: none; }</style>',
           f'<rect width="720" height="{height}" fill="#ffffff"/>',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0 L8 4 L0 8 z" style="fill:#57606a"/></marker></defs>']
    for k, (room, what, stage) in enumerate(ROOMS):
        y = 10 + k * (high + gap)
        out.append(f'<rect class="box" x="{left}" y="{y}" width="{wide}" height="{high}" rx="5"/>')
        out.append(f'<text class="room" x="{left + 12}" y="{y + 25}">{room}</text><text x="{left + 90}" '
                   f'y="{y + 25}">{escape(what)}</text>')
        if stage:
            name = {"dis": "bytecode"}.get(stage, stage)
            out.append(f'<text class="note" x="{left + wide + 150}" y="{y + 25}">--stage {name}</text>')
        if k:
            out.append(f'<path marker-end="url(#tip)" d="M{left + wide / 2} {y - gap} V{y - 2}"/>')
    low, top = 10 + 2 * (high + gap), 10 + 4 * (high + gap) + high
    x = left + wide + 16
    out.append(f'<path d="M{x} {low + 4} H{x + 8} V{top - 4} H{x}"/><text class="note" x="{x + 14}" '
               f'y="{(low + top) / 2 - 4}">lib and ops say</text>'
               f'<text class="note" x="{x + 14}" y="{(low + top) / 2 + 12}">what things mean</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "generated")
