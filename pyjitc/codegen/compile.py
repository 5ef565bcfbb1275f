"""Compile a module of typed functions to object code: emission, the stub, LLVM. The interface of this package."""
from __future__ import annotations

from functools import lru_cache

from ..base.lazy import lazy
from ..base.named import Named
from ..base.options import Options
from ..base.trace import dump, timed
from ..ir import core as ir
from ..ir.cfg import cycles
from ..ops.control import INVOKE
from ..types.kinds import Array, Type, is_refcounted
from . import link, shared
from .function import FunctionEmitter
from .link import Target
from .module import Module
from .partition import BODY, FEW_PASSES
from .wrapper import ENTRY, NEXT, Spec, add_native, add_stub

__all__ = ["Artifact", "Spec", "compile_module", "module_text"]

native = lazy(f"{__package__}.native")  # only for callers that use C's calling convention
library = lazy(f"{__package__}.library")  # only programs that call large library functions load it
inlining = lazy(f"{__package__}.inlining")  # a module of one function needs none
pool = lazy(f"{__package__}.pool")  # only programs with parallel loops load it


_OF_POOL = "@pyjitc_pool_"  # the prefix of those functions of the pool that code without parallel loops may call, too


class Artifact(Named, fields="object runtime entry next objects guards text"):
    """object: relocatable ELF files, which are loaded as one; runtime: those with the helpers that they call, which are
    loaded before; entry, next: symbols of the stub and of the word with the next stub's address;
    objects: symbol -> the Python object to which the loader sets it; guards: symbol of the word for each guard of the
    Spec, or None; text: the LLVM text before optimisation."""

    __slots__ = ()


def module_text(functions: list[ir.Function], spec, target: Target, options: Options, exported: str | None = None,
                emitter=FunctionEmitter, images: list | None = None, stubs: list | None = None):
    """(LLVM text, objects, guard symbols, helpers in other images, whether the pool of threads is called) of
    `functions`, the entry first. spec: a Spec, a form of native.py, or None; exported: also export the entry under this
    name; emitter: the class that emits functions; images, stubs: lists that get the library functions and the text of
    the stub that are compiled apart, or None where all are to be in the text."""
    for fn in recursive(functions):
        fn.flags = fn.flags._replace(recursive=True)
    nogil = options.nogil and not any(map(_needs_python, functions))
    pooled = any("chunks" in inst.attrs for fn in functions for block in fn.blocks for inst in block.insts
                 if inst.op is INVOKE)
    outside = None
    if images is not None and len(functions) > 1 and not (nogil or pooled) and any(
            map(inlining.is_outlined, functions[1:])):
        outside = library.Images(functions, options, target)
        images.append(outside)
        functions = outside.kept
    if len(functions) > 1:
        inlining.decide(functions)
    module = Module(options, nogil or pooled, shares=not (nogil or pooled), pooled=pooled)
    if outside is not None:
        module.symbol(functions[0])  # the entry is the first
        for fn, (symbol, declaration) in outside.symbols.items():
            module.symbols[fn] = symbol
            module.declarations[declaration] = None
    head = f'target triple = "{target.triple}"\ntarget datalayout = "{target.layout}"\n'
    guards: tuple[str | None, ...] = ()
    if isinstance(spec, Spec) and stubs is not None and not (nogil or pooled):
        apart = Module(options, shares=True)
        module.export(functions[0])
        apart.symbols[functions[0]] = f"@{BODY}"
        guards = add_stub(apart, functions[0], spec)
        stubs.append(head + apart.definitions() + FEW_PASSES)
        module.go_on_from(apart)
    elif isinstance(spec, Spec):
        guards = add_stub(module, functions[0], spec, nogil)
    elif spec is not None:
        native.add(module, functions[0], spec, nogil)
    if exported is not None:
        add_native(module, functions[0], exported)
    module.register = target.register
    for fn in functions:
        one = emitter(module, fn)
        module.add(fn, one.run(), one.wide)
    elsewhere = {**module.elsewhere, **(outside.helpers if outside else {})}
    return head + module.text(target), dict(module.objects), guards, elsewhere, pooled


def compile_module(functions: list[ir.Function], spec, target: Target | None = None,
                   options: Options = Options(), exported: str | None = None, emitter=FunctionEmitter) -> Artifact:
    """Compile `functions`, the entry first, with the stub or the entry that `spec` asks for."""
    target = target or link.host_target()
    name = functions[0].qualname
    with timed("emit"):
        images: list | None = [] if emitter is FunctionEmitter else None
        stubs: list | None = [] if emitter is FunctionEmitter else None
        text, objects, guards, called, pooled = module_text(functions, spec, target, options, exported, emitter,
                                                            images, stubs)
    dump("llvm", name, lambda: text + "".join(stubs or ()))
    with timed("llvm"):
        runtime = shared.objects_for(called, target)
        if pooled or _OF_POOL in text:
            runtime = (*runtime, pool.object_for(target))
        for one in images or ():
            runtime += one.objects()
        beside = [_stub(stub, target) for stub in stubs or ()]
        code = link.to_object(text, target)
    dump("asm", name, lambda: link.to_assembly(text, target))
    return Artifact((code, *beside), runtime, ENTRY, NEXT, objects, guards, text)


@lru_cache(256)
def _stub(text: str, target: Target) -> bytes:
    """The object of a stub. Functions whose arguments, result and globals are of the same types have the same."""
    return shared.image(text, target, link.LEVEL, shared.STUB)


def _needs_python(fn: ir.Function) -> bool:
    """Whether a function works on Python objects, and so must hold the interpreter lock. Reading and creating arrays
    does not count."""
    return any(inst.op.effects & ir.HOST
               or any(_holds_object(x.type) for x in (*inst.args, inst.result) if x is not None)
               for block in fn.blocks for inst in block.insts)


def _holds_object(t: Type) -> bool:
    return is_refcounted(t) and not isinstance(t, Array)


def recursive(functions: list[ir.Function]) -> list[ir.Function]:
    """The functions that may be on the stack more than once: those on a cycle of calls."""
    callees = {fn: list(dict.fromkeys(i.attrs["callee"] for b in fn.blocks for i in b.insts if i.op is INVOKE))
               for fn in functions}
    return [fn for group in cycles(functions, callees.__getitem__) for fn in group]
