"""What the host raises when a thread of a kernel failed."""
from __future__ import annotations

import builtins

from ..base.errors import Diagnostic, PyjitcError, TypingError
from ..codegen.nvptx import Site
from ..ir.core import Function
from ..ops.control import RETURN
from ..types.kinds import NoneType

__all__ = ["KernelError", "failure", "returns_nothing"]


class KernelError(PyjitcError):
    """A kernel failed with an exception that has no class here."""


def failure(site: Site, values, block, thread) -> Exception:
    """The exception of a failure at a site. block, thread: x, y, z; thread None: of the whole block."""
    cls = getattr(builtins, site.cls, None)
    if not (isinstance(cls, type) and issubclass(cls, Exception)):
        cls = KernelError
    message = site.text(values)
    who = f"block {tuple(block)}" + ("" if thread is None else f", thread {tuple(thread)}")
    where = f"{site.function}() at {site.filename}:{site.line}"
    error = cls(f"{message}\n  in {where}, {who}" if message else f"in {where}, {who}")
    error.block, error.thread, error.line, error.filename = tuple(block), None if thread is None else tuple(thread), site.line, site.filename
    return error


def returns_nothing(function, typed: Function) -> None:
    """TypingError where a kernel returns a value."""
    if typed.result is None or typed.result is NoneType:
        return
    last = next((b.insts[-1] for b in typed.blocks if b.insts[-1].op is RETURN), None)
    loc = last.loc if last is not None else None
    raise TypingError(Diagnostic(f"a kernel returns nothing, {function.__qualname__}() returns {typed.result}", typed.filename,
                                 loc.line if loc and loc.line else typed.firstlineno, 0, loc.col if loc else -1, loc.end_col if loc else -1,
                                 typed.qualname, hint="write the result to an array"))
