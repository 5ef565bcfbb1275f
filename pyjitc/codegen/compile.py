"""A module of typed functions to object code: emission, the stub, LLVM. The door of this room."""
from __future__ import annotations

from typing import Any, NamedTuple

from ..base.options import Options
from ..base.trace import dump, timed
from ..ir import core as ir
from . import link
from .emit import Module
from .target import Target
from .wrapper import ENTRY, NEXT, Spec, add_native, add_stub

__all__ = ["Artifact", "Spec", "compile_module", "module_text"]


class Artifact(NamedTuple):
    """object: relocatable ELF object; entry, next: symbols of the stub and of the word with the next stub's address;
    objects: symbol -> Python object that must lie at it; guards: symbol of the word for each guard of the Spec, or
    None; text: the LLVM text before optimisation."""

    object: bytes
    entry: str
    next: str
    objects: dict[str, Any]
    guards: tuple[str | None, ...]
    text: str


def module_text(functions: list[ir.Function], spec: Spec | None, target: Target, options: Options, native: str | None = None):
    """(LLVM text, objects, guard symbols) of `functions`, the entry first. native: also export the entry under this name."""
    module = Module(options)
    guards = add_stub(module, functions[0], spec) if spec is not None else ()
    if native is not None:
        add_native(module, functions[0], native)
    for fn in functions:
        module.add(fn)
    head = f'target triple = "{target.triple}"\ntarget datalayout = "{target.layout}"\n'
    return head + module.text(), dict(module.objects), guards


def compile_module(functions: list[ir.Function], spec: Spec | None, target: Target | None = None,
                   options: Options = Options(), native: str | None = None) -> Artifact:
    """Compile `functions`, the entry first, with the stub that `spec` asks for."""
    target = target or link.host_target()
    name = functions[0].qualname
    with timed("emit"):
        text, objects, guards = module_text(functions, spec, target, options, native)
    dump("llvm", name, lambda: text)
    with timed("llvm"):
        code = link.to_object(text, target)
    dump("asm", name, lambda: link.to_assembly(text, target))
    return Artifact(code, ENTRY, NEXT, objects, guards, text)
