"""Exceptions that the host raises where a thread of a kernel failed."""
from __future__ import annotations

import builtins

from ..base.errors import PyjitcError
from ..codegen.sites import Site

__all__ = ["KernelError", "failure"]


class KernelError(PyjitcError):
    """A thread of a kernel raised an exception of a class of the program, with whose name the message begins."""


def failure(site: Site, values, block, thread) -> Exception:
    """The exception of a failure at a site. block, thread: x, y, z; thread None: the whole block failed."""
    cls = getattr(builtins, site.cls, None)
    if not (isinstance(cls, type) and issubclass(cls, Exception)):
        cls = KernelError
    message = site.text(values)
    if cls is KernelError:
        message = f"{site.cls}: {message}" if message else site.cls
    who = f"block {tuple(block)}" + ("" if thread is None else f", thread {tuple(thread)}")
    where = f"{site.function}() at {site.filename}:{site.line}"
    error = cls(f"{message}\n  in {where}, {who}" if message else f"in {where}, {who}")
    error.block, error.thread, error.line, error.filename = (tuple(block), None if thread is None else tuple(thread),
                                                             site.line, site.filename)
    return error
