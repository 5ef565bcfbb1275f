"""Errors with a diagnostic: what is wrong, where (with a caret), the types involved, and what to write instead.

A diagnostic is at most eight lines. Its parts are attributes of the exception.
"""
from __future__ import annotations

import os
import sys

from .lazy import lazy
from .named import Named

__all__ = ["Diagnostic", "ParallelWarning", "PyjitcError", "RaceError", "CompileError", "TypingError",
           "UnsupportedError", "TracingError", "VerifyError", "defect", "did_you_mean", "shortened", "suggest",
           "with_article"]

_linecache = lazy("linecache")
_re = lazy("re")
_unicodedata = lazy("unicodedata")


class Diagnostic(Named, fields="message filename line end_line col end_col function types hint notes",
                 defaults=("", 0, 0, -1, -1, "", (), "", ())):
    """message: str; filename, line (1-based; 0: unknown), end_line, col, end_col (0-based UTF-8 bytes, -1: unknown);
    function: qualified name; types: ((name, type text), ...); hint: what to write instead, or ''; notes: further lines
    (at most two are shown), such as the chain of calls."""

    __slots__ = ()

    def render(self, colour: bool = False) -> str:
        """The text, at most eight lines."""
        bold, red, cyan, plain = ("\033[1m", "\033[31m", "\033[36m", "\033[0m") if colour else ("",) * 4
        lines = [f"{bold}{self.message.partition(chr(10))[0]}{plain}"]  # messages of NumPy may have several lines
        if self.line:
            where = f"{self.filename}:{self.line}"
            lines.append(f"  at {where} in {self.function}" if self.function else f"  at {where}")
            source = _linecache.getline(self.filename, self.line).rstrip("\n")
            if source.strip():
                shown, caret = self._excerpt(source)
                lines.append(f"    {shown}")
                if caret:
                    lines.append(f"    {red}{caret}{plain}")
        if self.types:
            lines.append("  types: " + ", ".join(f"{name}: {cyan}{t}{plain}" for name, t in self.types[:6]))
        lines += [f"  {note}" for note in self.notes[:2]]
        if self.hint:
            lines.append(f"  help: {self.hint}")
        return "\n".join(lines[:8])

    def _excerpt(self, source: str) -> tuple[str, str]:
        """The source line and a line of carets below it. A very long line is cut to the part around the carets."""
        shown = source.expandtabs(4).strip()
        known = self.col >= 0 and self.end_col >= 0
        start = marked = 0
        if known:
            data = source.encode()
            before = data[:self.col].decode(errors="replace").expandtabs(4)
            last = self.end_col if self.end_line in (0, self.line) else len(data.rstrip())
            start = max(len(before) - len(source.expandtabs(4)) + len(source.expandtabs(4).lstrip()), 0)
            marked = max(len(data[self.col:last].decode(errors="replace").expandtabs(4)), 1)
        if len(shown) > _WIDEST:
            first = max(min(start - max(_WIDEST - marked, 20) // 2, len(shown) - _WIDEST), 0)
            begun, ended = "..." * (first > 0), "..." * (first + _WIDEST < len(shown))
            shown = f"{begun}{shown[first:first + _WIDEST]}{ended}"
            start += len(begun) - first
            marked = min(marked, len(shown) - len(ended) - start)
        if not known:
            return shown, ""
        return shown, " " * _width(shown[:start]) + "^" * max(_width(shown[start:start + marked]), 1)


_WIDEST = 120  # the maximum number of characters of a source line that are shown


def _width(text: str) -> int:
    return sum(2 if _unicodedata.east_asian_width(c) in "WF" else 0 if _unicodedata.combining(c) else 1 for c in text)


def _terminal() -> bool:
    return "NO_COLOR" not in os.environ and hasattr(sys.stderr, "isatty") and sys.stderr.isatty()


def defect(error: Exception) -> tuple[str, str]:
    """(message, hint) for an exception that nothing in the compiler raised on purpose."""
    at = error.__traceback__
    assert at is not None
    while at.tb_next is not None:
        at = at.tb_next
    where = f"{os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}"
    return (f"{type(error).__name__} in the compiler: {error}",
            f"this is a defect of pyjitc ({where}): please report it; the same may be compiled when it is written "
            "another way")


class PyjitcError(Exception):
    """Base class of the errors of this package."""


class CompileError(PyjitcError, TypeError):
    """A function cannot be compiled for the arguments with which it is called.

    Its text is at most eight lines. `diagnostic` has the parts: `message`, `filename`, `line`, `end_line`, `col`,
    `end_col`, `function`, `types` (of the operands that have a name), `notes` (the calls that led there) and `hint`
    (what to write instead).
    """

    dependencies: list  # for errors of inference: the values on which they depend, session.Dependency of infer/
    reason: type | None = None  # for errors of inference: the class of the refusal, see Mismatch of infer/meaning.py

    def __init__(self, diagnostic: Diagnostic | str):
        if isinstance(diagnostic, str):
            diagnostic = Diagnostic(diagnostic)
        diagnostic = diagnostic._replace(message=shortened(diagnostic.message),
                                         types=tuple((name, shortened(t)) for name, t in diagnostic.types))
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return self.diagnostic.render(_terminal())

    def __reduce__(self):
        return type(self), (self.diagnostic,)


class TypingError(CompileError):
    """An operation has no meaning for the types of its operands, or is not compiled."""


class UnsupportedError(CompileError):
    """The program has a meaning, but the target, such as a GPU, does not support it."""


class TracingError(CompileError):
    """A traced function needs a value that is known only when its program runs."""


for _public in (PyjitcError, CompileError, TypingError, UnsupportedError, TracingError):
    _public.__module__ = "pyjitc"  # so that tracebacks show the name that users import


class RaceError(PyjitcError, RuntimeError):
    """Two iterations of a parallel loop access the same element of an array, and one of them writes it."""


class ParallelWarning(UserWarning):
    """A loop over `prange` runs on one thread; the message says why."""


RaceError.__module__ = ParallelWarning.__module__ = "pyjitc"


class VerifyError(PyjitcError):
    """The IR violates an invariant: a defect of the compiler."""


# the costs of inserting, deleting or replacing a letter, of exchanging it with the next one, and of changing its case
_MOVE, _SWAP, _CASE = 4, 3, 2
_LONGEST = 40


def suggest(name: str, candidates) -> str | None:
    """The candidate that the user may have meant by `name`, or None: CPython's own rule for "Did you mean", but that
    two neighbouring letters in the wrong order are one mistake, which is more probable than a wrong letter."""
    best, most = None, (len(name) - 1) * _CASE
    for candidate in candidates if len(name) <= _LONGEST else ():
        if type(candidate) is str and candidate != name and len(candidate) <= _LONGEST:
            limit = min((len(name) + len(candidate) + 3) // 3 * _CASE, most)
            found = _edits(name, candidate, limit)
            if found <= limit:
                best, most = candidate, found - 1
    return best


def with_article(name: str) -> str:
    """The name of a class after "a" or "an": "an int", "a uint8"."""
    return f"an {name}" if name.lower().startswith(("a", "e", "i", "o")) else f"a {name}"


def did_you_mean(name: str, candidates) -> str:
    """The hint for an error about a name that does not exist; '' where no name is similar."""
    near = suggest(name, candidates)
    return f"did you mean '{near}'?" if near else ""


def _edits(a: str, b: str, limit: int) -> int:
    """The cost of the edits that make one name of the other, or any number above `limit` where it is greater."""
    if abs(len(a) - len(b)) * _MOVE > limit:
        return limit + 1
    row, above = [k * _MOVE for k in range(len(b) + 1)], []
    for i, x in enumerate(a, 1):
        above, earlier, row = row, above, [i * _MOVE]
        for k, y in enumerate(b, 1):
            replaced = above[k - 1] + (0 if x == y else _CASE if x.casefold() == y.casefold() else _MOVE)
            row.append(min(replaced, above[k] + _MOVE, row[k - 1] + _MOVE))
            if earlier and k > 1 and x == b[k - 2] and y == a[i - 2]:
                row[k] = min(row[k], earlier[k - 2] + _SWAP)
        if min(row) > limit and min(above) > limit:
            return limit + 1
    return row[-1]


_ENOUGH = 160  # characters of a message that is never shortened


def shortened(text: str) -> str:
    """`text` without addresses of objects, and without most of the content of brackets that are long.

    Otherwise the types of nested or long tuples would fill pages."""
    if " at 0x" in text:
        text = _re.sub(" at 0x[0-9a-f]+", "", text)
    if len(text) <= _ENOUGH:
        return text
    for depth, items in ((3, 6), (2, 4), (1, 2)):
        found = _pruned(text, depth, items)
        if len(found) <= _ENOUGH:
            break
    return found if len(found) <= 2 * _ENOUGH else f"{found[:2 * _ENOUGH]}..."


def _pruned(text: str, depth: int, items: int) -> str:
    """`text` with '...' in place of brackets nested deeper than `depth`, and of all but the first items of a group."""
    # counts: number of items so far in each open bracket; over: number of open brackets with too many
    parts, counts, over = [], [], 0
    for letter in text:
        if letter in "([{":
            if not over and len(counts) <= depth:
                parts.append(letter if len(counts) < depth else f"{letter}...")
            counts.append(1)
        elif letter in ")]}" and counts:
            over -= counts.pop() > items
            if not over and len(counts) <= depth:
                parts.append(letter)
        else:
            if letter == "," and counts:
                counts[-1] += 1
                if counts[-1] == items + 1:
                    if not over and len(counts) <= depth:
                        parts.append(", ...")
                    over += 1
            if not over and len(counts) <= depth:
                parts.append(letter)
    return "".join(parts)
