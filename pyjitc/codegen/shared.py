"""Helpers that are the same in every module: their code is made once in a process, and is an image of its own.

They are called rarely or wait for malloc: LLVM makes their code without optimising it. What is made stands beside the objects that
use it, also on disk, where the next process finds it.
"""
from __future__ import annotations

from . import link
from .helpers import NEEDS, TEXT, declare, is_often_called, text
from .target import Target

__all__ = ["declaration", "is_shared", "objects_for"]

_made: list[tuple[frozenset[str], bytes]] = []  # (names, object) in the order made: each calls what stands before it, or itself


def is_shared(name: str) -> bool:
    """Whether it needs nothing of the module it is called from, and is called seldom enough. An image costs more than a few lines do."""
    body = TEXT[name]
    return " noinline" in body and body.count("\n") > 8 and not is_often_called(name) and name not in ("pyj_stack", "pyj_int_truediv")


def objects_for(names, target: Target) -> tuple[bytes, ...]:
    """Relocatable objects that define the helpers `names` and those that they call, in the order in which they are to be loaded."""
    wanted = frozenset(filter(is_shared, _closure(names)))
    with link.LOCK:
        missing = wanted.difference(*(held for held, _ in _made))
        if missing:
            _made.append((missing, link.to_object(_module(sorted(missing), target), target, 0)))
        return tuple(made for held, made in _made if held & wanted)


def declaration(name: str) -> str:
    """The declaration of a helper that is defined elsewhere."""
    head, _, rest = TEXT[name].partition("define internal ")[2].partition("(")
    parameters = rest[:rest.index(")")].split(", ")
    return f"declare {head}({', '.join(p.split(' ')[0] for p in parameters)}) nounwind"


def _closure(names) -> dict[str, None]:
    """`names` and the helpers that they call."""
    found = dict.fromkeys(names)
    work = list(found)
    while work:
        for needed in NEEDS.get(work.pop(), ()):
            if needed not in found:
                found[needed] = None
                work.append(needed)
    return found


def _module(names, target: Target) -> str:
    """The text that defines the shared helpers `names`; it declares the other shared ones that they call."""
    declarations: dict[str, None] = {}
    used = _closure(names)
    own = text([name for name in used if not is_shared(name)], declarations)
    parts = []
    for name in names:
        parts.append(TEXT[name].replace("define internal ", "define "))
        declare(TEXT[name], declarations)
    declarations.update((declaration(name), None) for name in used if is_shared(name) and name not in names)
    return "\n".join([f'target triple = "{target.triple}"', f'target datalayout = "{target.layout}"', own, *declarations, *parts])
