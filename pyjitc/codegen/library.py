"""Library functions that stay calls, as images of their own: LLVM compiles each once for all programs.

A matrix product or a Fourier transform is the same code in every program that calls it with the same types. Its text is
put into an LLVM module of its own, with the small functions that it calls; the object is stored where the helpers are
(shared.py), under a name with the hash of the text, and a process loads it once. What refers to objects of the
interpreter or to functions of the program stays in the program's module, as do functions that call each other.
"""
from __future__ import annotations

from ..base.kept import digest
from ..ir import core as ir
from . import inlining, link, shared
from .function import FunctionEmitter
from .link import Target
from .module import Module
from .partition import LIBRARY

__all__ = ["Images"]

_made: dict[str, bytes] = {}  # symbol, which contains the hash of text and target -> object


class Images:
    """The images of a module. symbols: function -> (its symbol, its declaration); helpers: the helpers of other images
    that they call; kept: the functions that remain in the module, the entry first."""

    def __init__(self, functions: list[ir.Function], options, target: Target):
        self.options, self.target = options, target
        self.symbols: dict[ir.Function, tuple[str, str]] = {}
        self.helpers: dict[str, None] = {}
        self.texts: list[tuple[str, str]] = []  # (symbol, text), each behind the images that it calls
        calls = {fn: inlining.callees(fn) for fn in functions}
        own: dict[ir.Function, list[ir.Function] | None] = {}  # see _parts
        for fn in inlining.callees_first(functions, calls):
            own[fn] = self._parts(fn, calls[fn], own)
            if own[fn] is not None and inlining.is_outlined(fn) and not self._add(fn, own[fn]):
                own[fn] = None
        self.kept = functions[:1]
        for fn in self.kept:  # appended to during the iteration
            self.kept += [callee for callee in calls[fn] if callee not in self.symbols and callee not in self.kept]

    def _parts(self, fn: ir.Function, callees, own) -> list[ir.Function] | None:
        """A library function with the functions that are compiled with it, or None where it belongs to the program."""
        if not fn.library or fn.flags.parallel:
            return None
        parts = [fn]
        for callee in callees:
            if callee in self.symbols or callee is fn:
                continue
            below = own.get(callee)
            if below is None:
                return None
            parts += [one for one in below if one not in parts]
        return parts

    def _add(self, root: ir.Function, parts: list[ir.Function]) -> bool:
        """Make the text of an image; False where it cannot be one."""
        inlining.decide(parts)
        module = Module(self.options, shares=True)
        module.added, module.register = True, self.target.register
        shown = module.symbol(root).partition(".")[2]
        module.symbols[root] = symbol = f"@{LIBRARY}.{shown}"  # until the text is known
        for fn in parts:
            for callee in inlining.callees(fn):
                if callee in self.symbols:
                    module.symbols[callee], declaration = self.symbols[callee]
                    module.declarations[declaration] = None
        for fn in parts:
            one = FunctionEmitter(module, fn)
            module.add(fn, one.run(), one.wide)
        head = f'target triple = "{self.target.triple}"\ntarget datalayout = "{self.target.layout}"\n'
        text = head + module.text(self.target)
        if module.objects or "@pyjitc_traceback" in text:  # code of the program was inlined in it
            return False
        line = next(line for line in text.split("\n") if line.startswith("define ") and f" {symbol}(" in line)
        exported = line.replace("define internal ", "define ").replace("define hidden ", "define ")
        name = f"@{LIBRARY}{digest(repr((text, self.target)).encode()).hex()}.{shown}"
        declaration = f"declare {exported[len('define '):exported.rindex(') ') + 1]} nounwind"
        self.symbols[root] = name, declaration.replace(symbol, name)
        self.helpers.update(module.elsewhere or {})
        self.texts.append((name, text.replace(line, exported).replace(symbol, name)))
        return True

    def objects(self) -> tuple[bytes, ...]:
        """The objects, in the order in which they are to be loaded."""
        for name, text in self.texts:
            if name not in _made:
                _made[name] = shared.image(text, self.target, link.LEVEL)
        return tuple(_made[name] for name, _ in self.texts)
