"""LLVM text whose instructions say from which lines of the program they come, and what LLVM tells of its loops.

For reports and profiles alone: code is made of text without places, which is a third shorter.
"""
from __future__ import annotations

import os
import re
import sys
import tempfile

from ..base.forks import LLVM
from ..base.named import Named
from ..ir import core as ir
from . import link, llvm
from .function import FunctionEmitter
from .partition import FEW_PASSES, parted

__all__ = ["LocatedEmitter", "Remark", "remarks"]

_FIRST = 100_000  # numbers of metadata, above those of module.py
_OPTIONS = ("pass-remarks", "pass-remarks-missed", "pass-remarks-analysis")
_TOLD = re.compile(r"(?m)^remark: (.*?):(\d+):(\d+): (.*)$")


class LocatedEmitter(FunctionEmitter):
    """Emits a function with the line and the column of each instruction, as debuggers read them."""

    def __init__(self, module, fn: ir.Function):
        super().__init__(module, fn)
        self.last = fn.firstlineno, 0, None

    def run(self) -> str:
        text = super().run()
        head, brace, rest = text.partition(" {\n")
        return f"{head} !dbg !{self.scope(self.fn.qualname, self.fn.filename, self.fn.firstlineno)}{brace}{rest}"

    def instruction(self, inst: ir.Inst) -> None:
        lines, before = self.lines, len(self.lines)
        if inst.loc.line:
            self.last = inst.loc.line, max(inst.loc.col, 0), inst.attrs.get("origin")
        super().instruction(inst)
        place = f", !dbg !{self.place(*self.last)}"
        for n in range(before, len(lines)):
            if lines[n].startswith("  ") and "\n" not in lines[n]:
                lines[n] += place

    def place(self, line: int, column: int, origin) -> int:
        own = self.fn.qualname, self.fn.filename
        scope = self.scope(*own, self.fn.firstlineno)
        within = ""
        if origin is not None and origin != own:
            within = f", inlinedAt: !{self.node(f'!DILocation(line: {self.fn.firstlineno}, scope: !{scope})', True)}"
            scope = self.scope(*origin, line)
        return self.node(f"!DILocation(line: {line}, column: {column + 1}, scope: !{scope}{within})")

    def scope(self, qualname: str, filename: str, line: int) -> int:
        """Number of the subprogram of a function; all of a module are in one unit."""
        known = vars(self.module).setdefault("scopes", {})
        found = known.get((qualname, filename))
        if found is None:
            file = self.node(f'!DIFile(filename: "{_quoted(filename)}", directory: "")')
            unit = vars(self.module).get("unit")
            if unit is None:
                unit = vars(self.module)["unit"] = self.node(
                    f"distinct !DICompileUnit(language: DW_LANG_Python, file: !{file}, isOptimized: true, "
                    "emissionKind: LineTablesOnly)")
                for text in (f"!llvm.dbg.cu = !{{!{unit}}}", "!llvm.module.flags = !{!99998, !99999}",
                             '!99998 = !{i32 2, !"Debug Info Version", i32 3}',
                             '!99999 = !{i32 7, !"Dwarf Version", i32 4}'):
                    self.declare(text)
            kind = self.node("!DISubroutineType(types: !{})")
            found = known[qualname, filename] = self.node(
                f'distinct !DISubprogram(name: "{_quoted(qualname)}", scope: !{file}, file: !{file}, line: {line}, '
                f"type: !{kind}, unit: !{unit}, spFlags: DISPFlagDefinition | DISPFlagOptimized)")
        return found

    def node(self, text: str, distinct: bool = False) -> int:
        """Number of a node of metadata; the same for the same text."""
        nodes = vars(self.module).setdefault("nodes", {})
        if text not in nodes:
            nodes[text] = _FIRST + len(nodes)
            self.declare(f"!{nodes[text]} = {'distinct ' if distinct else ''}{text}")
        return nodes[text]


def _quoted(text: str) -> str:
    return "".join(c if 32 <= ord(c) < 127 and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode())
                   for c in text)


class Remark(Named, fields="filename line column message"):
    """What LLVM says of a loop."""

    __slots__ = ()


def remarks(text: str, target) -> list[Remark]:
    """What LLVM's vectoriser tells while it optimises a module of located functions. LLVM writes it to the standard
    error output of the process, which is a file meanwhile."""
    main, _, _ = parted(text)
    if main.endswith(FEW_PASSES):  # nothing in it is a loop that could be vectorised
        return []
    sys.stderr.flush()
    with LLVM, tempfile.TemporaryFile() as told:
        machine = llvm.Machine(target.triple, target.cpu, target.features, 2)
        kept = os.dup(2)
        os.dup2(told.fileno(), 2)
        try:
            for option in _OPTIONS:
                llvm.set_option(f"-{option}=loop-vectorize")
            module = llvm.Module(main)
            try:
                llvm.optimise(module, machine, link.LEVEL)
            finally:
                module.dispose()
        finally:
            for option in _OPTIONS:
                llvm.set_option(f"-{option}=^$")
            os.dup2(kept, 2)
            os.close(kept)
        told.seek(0)
        written = told.read().decode("utf-8", "replace")
    return [Remark(file, int(line), int(column), message) for file, line, column, message in _TOLD.findall(written)]
