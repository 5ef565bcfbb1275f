"""LLVM text to object code.

The optimiser and the code generator are not thread-safe, and each compile takes milliseconds: one at a time.
"""
from __future__ import annotations


from ..base.forks import LLVM
from ..base.named import Named
from ..base.options import environment
from ..base.stack import COMPILING, with_stack
from . import llvm
from .partition import FEW_PASSES, FEWEST, parted

__all__ = ["Target", "choose", "host_target", "to_object", "to_text", "to_assembly"]

# The passes that level 2 adds to the pipeline (GVN, jump threading, value ranges) repeat what the passes over typed IR
# have done: the loops are the same, and compiling takes a third more time (docs/performance.md).
LEVEL = 1


class Target(Named, fields="triple cpu features layout"):
    """The machine for which code is made, in LLVM's own names: a plain value, part of cache keys."""

    __slots__ = ()

    @property
    def register(self) -> int:
        """The bytes of the longest vector registers."""
        features = self.features.split(",")
        wide = "+avx" in features or self.cpu in ("x86-64-v3", "x86-64-v4")
        return 64 if "+avx512f" in features else 32 if wide else 16

    @property
    def permutes(self) -> bool:
        """Whether one instruction looks up a vector of numbers in a table that fills a register of 64 bytes."""
        return "+avx512f" in self.features.split(",")


_machines: dict[tuple[Target, int], llvm.Machine] = {}  # (target, level of its code generator) -> machine
_host: list[Target] = []


def host_target() -> Target:
    """The machine this process runs on."""
    if not _host:
        with LLVM:
            triple, cpu, features = llvm.host()
            machine = llvm.Machine(triple, cpu, features)
            target = Target(triple, cpu, features, machine.layout)
            _machines[target, 2] = machine
            _host.append(target)
    return _host[0]


def choose(cpu: str) -> None:
    """From now on make code for this level of x86-64 processors, whatever processor this machine has."""
    level = ["+avx512bw", "+avx512cd", "+avx512dq", "+avx512f", "+avx512vl"] if cpu == "x86-64-v4" else []
    features = ",".join(level + llvm.scalar_stores(level))
    with LLVM:
        triple, *_ = llvm.host()
        machine = llvm.Machine(triple, cpu, features)
        target = Target(triple, cpu, features, machine.layout)
        _machines[target, 2] = machine
        _host[:] = [target]


def _machine(target: Target, level: int) -> llvm.Machine:
    found = _machines.get((target, level))
    if found is None:
        found = _machines[target, level] = llvm.Machine(target.triple, target.cpu, target.features, level)
    return found


def _optimised(finish, text: str, target: Target, level: int, library: bytes | None = None):
    """The result of `finish`, which is called with the optimised module and its machine."""
    with LLVM:
        machine = _machine(target, 2 if level else 0)
        text, novectorize, forms = parted(text)
        module = llvm.Module(text)
        try:
            if library is not None:
                module.link(library, target.triple, target.layout)
            verify = environment("PYJITC_VERIFY") not in ("", "0")
            if verify:
                module.verify()
            if level and FEW_PASSES in text:
                module.run_few_passes(machine, combines=FEWEST not in text)
            elif level:
                llvm.optimise(module, machine, level)
            if novectorize:
                module.join(novectorize, machine)
            if forms:
                module.add_forms(forms, machine)
            if verify:
                module.verify()
            return finish(module, machine)
        finally:
            module.dispose()


def to_object(text: str, target: Target, level: int = LEVEL) -> bytes:
    """Optimise and emit a relocatable object. Raises LLVMError (a RuntimeError) with LLVM's message for an invalid
    text."""
    return with_stack(COMPILING, _optimised, lambda module, machine: machine.emit(module, True), text, target, level)


def to_text(text: str, target: Target, level: int = LEVEL, library: bytes | None = None) -> str:
    """The optimised module as LLVM text."""
    return with_stack(COMPILING, _optimised, lambda module, machine: str(module), text, target, level, library)


def to_assembly(text: str, target: Target, level: int = LEVEL, library: bytes | None = None) -> str:
    """library: bitcode whose functions the text uses."""
    return with_stack(COMPILING, _optimised, lambda module, machine: machine.emit(module, False).decode(), text, target,
                     level, library)
