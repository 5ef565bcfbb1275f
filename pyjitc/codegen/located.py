"""LLVM text with source locations, and LLVM's remarks on loops.

For reports and profiles only: code is compiled from text without locations, which is a third shorter.
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

_FIRST = 100_000  # the first number of these metadata nodes, above those of module.py
_OPTIONS = ("pass-remarks", "pass-remarks-missed", "pass-remarks-analysis")
_TOLD = re.compile(r"remark: (.*?):(\d+):(\d+): (.*)")
_MORE = " dependence. Memory location is the same as accessed at "  # a continuation in the second line of a remark


class LocatedEmitter(FunctionEmitter):
    """Emits a function with the line and the column of each instruction, as debuggers read them."""

    widens = False  # LLVM's remarks are about what its vectoriser does

    def __init__(self, module, fn: ir.Function):
        super().__init__(module, fn)
        self.debug_last = fn.firstlineno, 0, None

    def run(self) -> str:
        text = super().run()
        head, brace, rest = text.partition(" {\n")
        return f"{head} !dbg !{self.subprogram(self.fn)}{brace}{rest}"

    def instruction(self, inst: ir.Inst) -> None:
        lines, before = self.lines, len(self.lines)
        if inst.loc.line:
            self.debug_last = inst.loc.line, max(inst.loc.col, 0), inst.attrs.get("origin")
        super().instruction(inst)
        place = f", !dbg !{self.debug_place(*self.debug_last)}"
        for n in range(before, len(lines)):
            if lines[n].startswith("  ") and "\n" not in lines[n]:
                lines[n] += place

    def placed(self, fn: ir.Function, lines: list[str]) -> str:
        """LLVM would drop the locations of `fn` where it inlines it in a function without any."""
        scope = self.subprogram(ir.Function(fn.name, fn.qualname, fn.filename, fn.firstlineno))
        place = self.debug_node(f"!DILocation(line: {fn.firstlineno}, column: 1, scope: !{scope})", True)
        return "\n".join([f"{lines[0].removesuffix('{')}!dbg !{scope} {{",
                          *[f"{line}, !dbg !{place}" if line.startswith("  ") else line for line in lines[1:]]])

    def debug_place(self, line: int, column: int, origin) -> int:
        scope, within = self.subprogram(self.fn), ""
        if origin is not None and origin != (self.fn.qualname, self.fn.filename):
            call = self.debug_node(f"!DILocation(line: {self.fn.firstlineno}, scope: !{scope})", True)
            within = f", inlinedAt: !{call}"
            scope = self.subprogram(origin, line)
        return self.debug_node(f"!DILocation(line: {line}, column: {column + 1}, scope: !{scope}{within})")

    def subprogram(self, of, line: int = 0) -> int:
        """The number of the metadata of a function, or of an inlined function (name, file); all functions of a module
        are in one compilation unit."""
        known = vars(self.module).setdefault("subprograms", {})
        found = known.get(of)
        qualname, filename = of if isinstance(of, tuple) else (of.qualname, of.filename)
        line = line or self.fn.firstlineno
        if found is None:
            file = self.debug_node(f'!DIFile(filename: "{_quoted(filename)}", directory: "")')
            unit = vars(self.module).get("unit")
            if unit is None:
                unit = vars(self.module)["unit"] = self.debug_node(
                    f"distinct !DICompileUnit(language: DW_LANG_Python, file: !{file}, isOptimized: true, "
                    "emissionKind: LineTablesOnly)")
                for text in (f"!llvm.dbg.cu = !{{!{unit}}}", "!llvm.module.flags = !{!99998, !99999}",
                             '!99998 = !{i32 2, !"Debug Info Version", i32 3}',
                             '!99999 = !{i32 7, !"Dwarf Version", i32 4}'):
                    self.declare(text)
            kind = self.debug_node("!DISubroutineType(types: !{})")
            found = known[of] = self.debug_node(
                f'distinct !DISubprogram(name: "{_quoted(qualname)}", linkageName: "{len(known)}", scope: !{file}, '
                f"file: !{file}, line: {line}, type: !{kind}, unit: !{unit}, "
                "spFlags: DISPFlagDefinition | DISPFlagOptimized)")
        return found

    def debug_node(self, text: str, distinct: bool = False) -> int:
        """The number of a metadata node; equal texts have the same number."""
        nodes = vars(self.module).setdefault("nodes", {})
        if text not in nodes:
            nodes[text] = _FIRST + len(nodes)
            self.declare(f"!{nodes[text]} = {'distinct ' if distinct else ''}{text}")
        return nodes[text]


def _quoted(text: str) -> str:
    return "".join(c if 32 <= ord(c) < 127 and c not in '"@\\' else "".join(f"\\{b:02X}" for b in c.encode())
                   for c in text)


class Remark(Named, fields="filename line column message"):
    """A remark of LLVM on a loop."""

    __slots__ = ()


def remarks(text: str, target) -> list[Remark]:
    """The remarks of LLVM's vectoriser on a module of located functions. LLVM writes them to the standard error output
    of the process, which is redirected to a file meanwhile."""
    main, _, _ = parted(text.removesuffix(FEW_PASSES))  # the vectoriser also says why it does not vectorise a loop
    if sys.stderr is not None:
        sys.stderr.flush()
    with LLVM, tempfile.TemporaryFile() as told:
        machine = llvm.Machine(target.triple, target.cpu, target.features, 2)
        try:
            kept = os.dup(2)
        except OSError:  # the process has no standard error output
            return []
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
    found: list[Remark] = []
    other = []
    for line in written.splitlines():
        told_ = _TOLD.match(line)
        if told_:
            found.append(Remark(told_[1], int(told_[2]), int(told_[3]), told_[4]))
        elif found and _MORE in line:
            found[-1] = found[-1]._replace(message=f"{found[-1].message} {line.strip()}")
        elif not line.startswith("warning: "):
            other.append(line)
    if other and sys.stderr is not None:  # output of other threads
        print("\n".join(other), file=sys.stderr)
    return found
