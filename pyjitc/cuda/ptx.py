"""From a Python function and argument types to PTX; on disk as for the CPU.

Loaded at the first compile for a GPU.
"""
from __future__ import annotations

from typing import Any, NamedTuple

from ..base.launch_bounds import Bounds
from ..base.options import Options
from ..codegen import launcher, link, nvptx, ptxas
from ..codegen.nvptx import ARCHITECTURES, Kernel, Site
from ..ir.show import show_module
from ..lib.cuda.device import KernelLibrary
from ..lib.elementary.table import Bodies
from ..pipeline import cache, stages
from ..pipeline.portable import Guard

__all__ = ["ARCHITECTURES", "Compiled", "compile_ptx", "inspect_llvm", "inspect_types", "report", "sass"]

LIBRARY = KernelLibrary()
_bodies = Bodies(lambda function, types: stages.infer(function, types, Options(), LIBRARY).spec.typed,
                            gpu=True)


class Compiled(NamedTuple):
    """kernel: its code; launcher: object code of the launcher; guards: values on which the code depends."""

    kernel: Kernel
    launcher: bytes
    guards: tuple[Guard, ...]


_launchers: list[bytes] = []


@stages.refusing_depth
def compile_ptx(function, types, options: Options, bounds: Bounds, arch: str) -> Compiled:
    """The PTX of the kernel `function` for arguments of `types`, from disk if it is there. Raises CompileError, with a
    location."""
    def make() -> Compiled:
        module, guards = _module(function, types, options, bounds)
        library = ptxas.libdevice() if bounds.libdevice else None
        kernel = nvptx.compile_kernel(module, nvptx.device_target(arch), options, bounds, library)
        if not _launchers:
            _launchers.append(launcher.make_launcher())
        return Compiled(kernel, _launchers[0], guards)

    return cache.kept(function, types, options, ("ptx", arch, *bounds), make, _flattened, _restored)


def _flattened(made: Compiled) -> tuple:
    kernel = made.kernel._replace(sites=tuple(map(tuple, made.kernel.sites)), bounds=tuple(made.kernel.bounds))
    return tuple(kernel), made.launcher


def _restored(parts, guards) -> Compiled:
    kernel = Kernel(*parts[0])
    kernel = kernel._replace(sites=tuple(Site(*s) for s in kernel.sites), bounds=Bounds(*kernel.bounds))
    return Compiled(kernel, parts[1], guards)


def _module(function, types, options: Options, bounds: Bounds):
    """(typed IR of the kernel and the functions that it calls, after the passes; the guards)."""
    def body(inst):
        """None for functions for which NVIDIA's library or a hardware approximation is used."""
        if (bounds.libdevice and nvptx.in_libdevice(inst.op)
            or inst.args and nvptx.is_approximated(inst.op, inst.args[0].type, options)):
            return None
        return _bodies(inst)

    typed = stages.infer(function, types, options, LIBRARY)
    return stages.optimise_device(typed.functions, options, body), typed.guards


@stages.refusing_depth
def inspect_llvm(function, types, options: Options, bounds: Bounds, arch: str) -> str:
    module, _ = _module(function, types, options, bounds)
    target = nvptx.device_target(arch)
    text = nvptx.kernel_text(module, target, options, bounds)[0]
    return link.to_text(text, target, 3, ptxas.libdevice() if bounds.libdevice else None)


@stages.refusing_depth
def inspect_types(function, types, options: Options) -> str:
    """The typed IR, before the passes."""
    return show_module(stages.infer(function, types, options, LIBRARY).functions)


def report(kernel: Kernel) -> Any:
    """Registers, stack and spills, by ptxas."""
    return ptxas.assemble(kernel.ptx, kernel.arch, kernel.name)[1]


def sass(kernel: Kernel) -> str:
    """Machine code as text; raises AssemblyError where the tools are not installed."""
    return ptxas.disassemble(ptxas.assemble(kernel.ptx, kernel.arch, kernel.name)[0])
