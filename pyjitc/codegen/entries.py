"""What native code can be called as beside from Python, as plain values: parts of cache keys. native.py writes them."""
from __future__ import annotations

from ..base.named import Named

__all__ = ["Callback", "ENTRY", "HOLDS", "INITIAL", "Loop"]

ENTRY, HOLDS, INITIAL = "pyjitc_entry", "pyjitc_holds", "pyjitc_initial"


class Loop(Named, fields="cores initial", defaults=(None,)):
    """cores: for each operand the numbers of its core dimensions among those of the signature; () for elements.
    initial: what a reduction starts with, or None: then `pyjitc_initial` writes it, in the type of the last operand."""

    __slots__ = ()


class Callback(Named, fields="args result"):
    """args, result: LLVM's types of the parameters of the C function, and of what it returns ('void': nothing)."""

    __slots__ = ()
