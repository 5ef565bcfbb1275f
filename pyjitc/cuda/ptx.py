"""From a Python function and argument types to PTX; on disk as for the CPU.

Loaded at the first compile for a GPU. The library is the CPU's but for elementary functions, which are those of
`lib/cuda/elementary.py`, in the operands' own precision.
"""
from __future__ import annotations

from typing import Any, NamedTuple

from ..api import cache, compiler, portable
from ..api.compiled import ABSENT, Guard
from ..base.launch_bounds import Bounds
from ..base.options import Options
from ..base.trace import timed
from ..codegen import launcher, link, nvptx, ptxas
from ..codegen.compile import recursive
from ..codegen.nvptx import ARCHITECTURES, Kernel, Site
from ..front import functions
from ..infer.meaning import UNKNOWN
from ..infer.specialise import specialise
from ..ir.verify import verify_module
from ..lib.cuda import elementary
from ..lib.cuda.device import DeviceLibrary
from ..passes import pipeline

__all__ = ["ARCHITECTURES", "Compiled", "compile_ptx", "inspect_llvm", "inspect_types", "report", "sass"]

_library = DeviceLibrary()
_replaced: dict = {}  # (operation, operand types) -> typed library function


class Compiled(NamedTuple):
    """kernel: its code; launcher: object code of the launcher; guards: what the code depends on."""

    kernel: Kernel
    launcher: bytes
    guards: tuple[Guard, ...]


_launchers: list[bytes] = []


def compile_ptx(function, types, options: Options, bounds: Bounds, arch: str) -> Compiled:
    """The kernel `function` for arguments of `types`, from disk where it is there. Raises CompileError, located."""
    roots = (function,)
    name = None
    if options.cache:
        with timed("cache"):
            name = cache.key_of(function, types, options, ("ptx", arch, *bounds))
            for variant in cache.read(name) if name is not None else ():
                found = _revived(variant, roots)
                if found is not None:
                    return found
    module, guards = _module(function, types, options, bounds)
    library = ptxas.libdevice() if bounds.libdevice else None
    kernel = nvptx.compile_kernel(module, nvptx.device_target(arch), options, bounds, library)
    if not _launchers:
        _launchers.append(launcher.make_launcher())
    made = Compiled(kernel, _launchers[0], guards)
    if name is not None:
        with timed("cache"):
            _keep(name, made, roots)
    return made


def _keep(name: str, made: Compiled, roots) -> None:
    paths = portable.Paths(roots, made.guards)
    try:
        guards = tuple((g.symbol, paths.of(g.container), g.key, portable.fingerprint(g.value),
                        portable.contents(g.value)) for g in made.guards)
    except (LookupError, TypeError, ValueError):
        return
    kernel = made.kernel._replace(sites=tuple(map(tuple, made.kernel.sites)), bounds=tuple(made.kernel.bounds))
    if portable.portable(guards):
        cache.write(name, (tuple(kernel), made.launcher, "", "", (), guards))


def _revived(variant, roots) -> Compiled | None:
    """What was kept, where it holds for this function."""
    try:
        kernel, object_code, _, _, _, kept = variant
        guards = []
        for symbol, path, key, *expected in kept:
            container = portable.follow(path, roots)
            value = portable.lookup(container, key)
            if [portable.fingerprint(value), portable.contents(value)] != expected:
                return None
            guards.append(Guard(container, key, value, symbol))
        kernel = Kernel(*kernel)
        return Compiled(kernel._replace(sites=tuple(Site(*s) for s in kernel.sites), bounds=Bounds(*kernel.bounds)),
                        object_code, tuple(guards))
    except (LookupError, AttributeError, TypeError, ValueError):
        return None


def _module(function, types, options: Options, bounds: Bounds):
    """Typed IR of the kernel and what it calls, after the passes; the guards."""
    typed, _, dependencies = _typed(function, types, options)
    check = verify_module if compiler._verified() else None

    def replacement(inst):
        return _replacement(inst, options, bounds.libdevice)

    with timed("passes"):
        module = pipeline.run_device(typed, options, replacement, recursive, check)
    return module, tuple(Guard(d.container, d.key, ABSENT if d.value is UNKNOWN else d.value) for d in dependencies)


def _typed(function, types, options: Options):
    with timed("infer"):
        return specialise(function, types, library=_library, build=compiler._build, prototype=functions.prototype_of,
                          nested=functions.nested, options=options)


def _replacement(inst, options: Options, use_libdevice: bool):
    """The library function that computes what an instruction asks for."""
    by_type = elementary.FUNCTIONS.get(inst.op)
    if (by_type is None or use_libdevice and nvptx.in_libdevice(inst.op)
        or nvptx.is_approximated(inst.op, inst.args[0].type, options)):
        return None
    types = tuple(a.type for a in inst.args)
    chosen = by_type.get(types[0])
    if chosen is None:
        return None
    key = inst.op, types
    found = _replaced.get(key)
    if found is None:
        found = _replaced[key] = _typed(chosen, types, Options())[1].typed  # it may be there from another compile
        found.library = True
    return found


def inspect_llvm(function, types, options: Options, bounds: Bounds, arch: str) -> str:
    module, _ = _module(function, types, options, bounds)
    target = nvptx.device_target(arch)
    text = nvptx.kernel_text(module, target, options, bounds)[0]
    return link.to_text(text, target, 3, ptxas.libdevice() if bounds.libdevice else None)


def inspect_types(function, types, options: Options) -> str:
    """The typed IR, before the passes."""
    return compiler.show.show_module(_typed(function, types, options)[0])


def report(kernel: Kernel) -> Any:
    """Registers, stack and spills, by ptxas."""
    return ptxas.assemble(kernel.ptx, kernel.arch, kernel.name)[1]


def sass(kernel: Kernel) -> str:
    """Machine code as text; AssemblyError where the tools are not installed."""
    return ptxas.disassemble(ptxas.assemble(kernel.ptx, kernel.arch, kernel.name)[0])
