"""Errors that a person can act on: what, where with a caret, the types involved, what to write instead.

A diagnostic is at most eight lines. Its parts stay available as attributes of the exception.
"""
from __future__ import annotations

import os
import sys
from collections import namedtuple

from .lazy import lazy

__all__ = ["Diagnostic", "PyjitcError", "CompileError", "TypingError", "UnsupportedError", "TracingError", "VerifyError", "suggest"]

_linecache = lazy("linecache")
_unicodedata = lazy("unicodedata")
_difflib = lazy("difflib")


class Diagnostic(namedtuple("Diagnostic", "message filename line end_line col end_col function types hint notes",
                            defaults=("", 0, 0, -1, -1, "", (), "", ()))):
    """message: str; filename, line (1-based; 0: unknown), end_line, col, end_col (0-based UTF-8 bytes, -1: unknown);
    function: qualified name; types: ((name, type text), ...); hint: what to write instead, or ''; notes: further lines
    (at most two are shown), such as the chain of calls."""

    __slots__ = ()

    def render(self, colour: bool = False) -> str:
        """The text, at most eight lines."""
        bold, red, cyan, plain = ("\033[1m", "\033[31m", "\033[36m", "\033[0m") if colour else ("",) * 4
        lines = [f"{bold}{self.message.partition(chr(10))[0]}{plain}"]  # NumPy's own may be several lines
        if self.line:
            where = f"{self.filename}:{self.line}"
            lines.append(f"  at {where} in {self.function}" if self.function else f"  at {where}")
            source = _linecache.getline(self.filename, self.line).rstrip("\n")
            if source.strip():
                shown = source.expandtabs(4).strip()
                lines.append(f"    {shown}")
                caret = self._caret(source)
                if caret:
                    lines.append(f"    {red}{caret}{plain}")
        if self.types:
            lines.append("  types: " + ", ".join(f"{name}: {cyan}{t}{plain}" for name, t in self.types[:6]))
        lines += [f"  {note}" for note in self.notes[:2]]
        if self.hint:
            lines.append(f"  help: {self.hint}")
        return "\n".join(lines[:8])

    def _caret(self, source: str) -> str:
        if self.col < 0 or self.end_col < 0:
            return ""
        data = source.encode()
        before = data[:self.col].decode(errors="replace")
        last = self.end_col if self.end_line in (0, self.line) else len(data.rstrip())
        marked = data[self.col:last].decode(errors="replace")
        indent = len(source.expandtabs(4)) - len(source.expandtabs(4).lstrip())
        start = _width(before.expandtabs(4)) - indent
        return " " * max(start, 0) + "^" * max(_width(marked.expandtabs(4)), 1)


def _width(text: str) -> int:
    return sum(2 if _unicodedata.east_asian_width(c) in "WF" else 0 if _unicodedata.combining(c) else 1 for c in text)


def _terminal() -> bool:
    return "NO_COLOR" not in os.environ and hasattr(sys.stderr, "isatty") and sys.stderr.isatty()


class PyjitcError(Exception):
    """Base of the errors of this package."""


class CompileError(PyjitcError, TypeError):
    """A function cannot be compiled for the arguments that it is called with.

    Its text is at most eight lines. `diagnostic` has the parts: `message`, `filename`, `line`, `end_line`, `col`, `end_col`,
    `function`, `types` (of the operands that have a name), `notes` (the calls that led there) and `hint` (what to write instead).
    """

    def __init__(self, diagnostic: Diagnostic | str):
        if isinstance(diagnostic, str):
            diagnostic = Diagnostic(diagnostic)
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return self.diagnostic.render(_terminal())

    def __reduce__(self):
        return type(self), (self.diagnostic,)


class TypingError(CompileError):
    """An operation has no meaning for the types of its operands, or is not compiled."""


class UnsupportedError(CompileError):
    """The program has a meaning, but the target, such as a GPU, cannot do it."""


class TracingError(CompileError):
    """A traced function asks for what is known only when its program runs."""


for _public in (PyjitcError, CompileError, TypingError, UnsupportedError, TracingError):
    _public.__module__ = "pyjitc"  # tracebacks name an error as users import it


class VerifyError(PyjitcError):
    """The IR breaks an invariant: a defect of the compiler."""


def suggest(name: str, candidates) -> str | None:
    """The nearest of `candidates`, or None."""
    found = _difflib.get_close_matches(name, list(candidates), 1)
    return found[0] if found else None
