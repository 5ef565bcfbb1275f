"""The entries of native code other than the one for Python, as plain values, which are parts of cache keys. native.py
emits them."""
from __future__ import annotations

from ..base.named import Named

__all__ = ["Callback", "ENTRY", "HOLDS", "INITIAL", "Loop"]

ENTRY, HOLDS, INITIAL = "pyjitc_entry", "pyjitc_holds", "pyjitc_initial"


class Loop(Named, fields="cores initial", defaults=(None,)):
    """cores: for each operand the numbers of its core dimensions among those of the signature; () for elements.
    initial: the start value of a reduction, which `pyjitc_initial` stores in the type of the last operand, or None."""

    __slots__ = ()


class Callback(Named, fields="args result"):
    """args, result: the LLVM types of the parameters and of the result of the C function ('void': it returns
    nothing)."""

    __slots__ = ()
