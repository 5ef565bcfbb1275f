"""LLVM text to object code. The only module that imports llvmlite, and of it only `llvmlite.binding`.

The optimiser and the code generator are not thread-safe, and each compile takes milliseconds: one at a time.
"""
from __future__ import annotations

import threading

import llvmlite.binding as llvm

from ..base.options import environment
from .target import Target

__all__ = ["host_target", "to_object", "to_text", "to_assembly"]

_LOCK = threading.Lock()
_machines: dict[Target, llvm.TargetMachine] = {}
_host: list[Target] = []


def host_target() -> Target:
    """The machine this process runs on."""
    if not _host:
        with _LOCK:
            llvm.initialize_native_target()
            llvm.initialize_native_asmprinter()
            triple = llvm.get_process_triple()
            cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
            machine = _create(triple, cpu, features)
            target = Target(triple, cpu, features, str(machine.target_data))
            _machines[target] = machine
            _host.append(target)
    return _host[0]


def _create(triple: str, cpu: str, features: str) -> llvm.TargetMachine:
    # Position-independent code reaches every external through a table or a stub, wherever the image lies.
    return llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=2, reloc="pic", codemodel="small")


def _machine(target: Target) -> llvm.TargetMachine:
    found = _machines.get(target)
    if found is None:
        found = _machines[target] = _create(target.triple, target.cpu, target.features)
    return found


def _optimise(text: str, target: Target, level: int):
    module = llvm.parse_assembly(text)
    if environment("PYJITC_VERIFY") not in ("", "0"):
        module.verify()
    machine = _machine(target)
    if level:
        # Unrolling costs compile time and buys nothing measurable beside interleaving; SLP is off by default as well.
        tuning = llvm.create_pipeline_tuning_options(speed_level=level)
        tuning.loop_vectorization = True
        tuning.loop_interleaving = True
        tuning.loop_unrolling = False
        tuning.slp_vectorization = False
        builder = llvm.create_pass_builder(machine, tuning)
        # A pass manager may run once only: LLVM aborts the process otherwise.
        builder.getModulePassManager().run(module, builder)
    return module, machine


def to_object(text: str, target: Target, level: int = 2) -> bytes:
    """Optimise and emit a relocatable object. RuntimeError with LLVM's message where the text is wrong."""
    with _LOCK:
        module, machine = _optimise(text, target, level)
        return machine.emit_object(module)


def to_text(text: str, target: Target, level: int = 2) -> str:
    """The optimised module as LLVM text."""
    with _LOCK:
        return str(_optimise(text, target, level)[0])


def to_assembly(text: str, target: Target, level: int = 2) -> str:
    with _LOCK:
        module, machine = _optimise(text, target, level)
        return machine.emit_assembly(module)
