"""Helpers that are the same in every module: their code is made once in a process, and is an image of its own.

They are called rarely or wait for malloc: LLVM makes their code without optimising, in a third of the time that they take as a
part of a module. What is made stands beside the objects that use it, also on disk, where the next process finds it.
"""
from __future__ import annotations

from . import helpers, link
from .target import Target

__all__ = ["objects_for"]

_made: list[tuple[frozenset[str], bytes]] = []  # (names, object) in the order made: each calls what stands before it, or itself


def objects_for(names, target: Target) -> tuple[bytes, ...]:
    """Relocatable objects that define the helpers `names` and those that they call, in the order in which they are to be loaded."""
    wanted = frozenset(helpers.shared_by(names))
    with link.LOCK:
        missing = wanted.difference(*(held for held, _ in _made))
        if missing:
            head = f'target triple = "{target.triple}"\ntarget datalayout = "{target.layout}"\n'
            _made.append((missing, link.to_object(head + helpers.shared_text(sorted(missing)), target, 0)))
        return tuple(made for held, made in _made if held & wanted)
