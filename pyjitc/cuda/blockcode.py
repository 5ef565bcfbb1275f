"""From a kernel and argument types to native code of a block of threads: the part of hostgrid.py that needs the
compiler."""
from __future__ import annotations

from ..base.errors import Diagnostic, TypingError
from ..base.options import Options
from ..codegen import link
from ..codegen.grid import compile_grid
from ..codegen.gridkernel import GridKernel
from ..ir.core import Function
from ..ir.show import show_module
from ..lib.cuda.device import KernelLibrary
from ..ops.control import RETURN
from ..pipeline import stages
from ..pipeline.portable import Guard
from ..types.kinds import NoneType

__all__ = ["LIBRARY", "compile_block", "inspect", "optimised", "returns_nothing"]

LIBRARY = KernelLibrary()


def optimised(function, types, options: Options):
    """(typed IR of a block after the passes, its plan, the guards)."""
    typed = stages.infer(function, types, options, LIBRARY)
    returns_nothing(function, typed.functions[0])
    return (*stages.optimise_block(typed.functions, options), typed.guards)


@stages.refusing_depth
def compile_block(function, types, options: Options) -> tuple[GridKernel, tuple[Guard, ...]]:
    """(code, guards). Raises CompileError, with a location."""
    module, plan, guards = optimised(function, types, options)
    return compile_grid(module, plan, options), guards


@stages.refusing_depth
def inspect(function, types, options: Options, stage: str = "llvm") -> str:
    """The text of a stage: IR of the block function ('opt'), LLVM before and after optimisation ('text', 'llvm'),
    'asm'."""
    module, plan, _ = optimised(function, types, options)
    if stage == "opt":
        return show_module(module)
    text = compile_grid(module, plan, options).text
    return (text if stage == "text"
            else (link.to_text if stage == "llvm" else link.to_assembly)(text, link.host_target()))


def returns_nothing(function, typed: Function) -> None:
    """Check that a kernel returns no value; raises TypingError if it does."""
    if typed.result is None or typed.result is NoneType:
        return
    last = next((b.insts[-1] for b in typed.blocks if b.insts[-1].op is RETURN), None)
    loc = last.loc if last is not None else None
    raise TypingError(Diagnostic(f"a kernel returns nothing, {function.__qualname__}() returns {typed.result}",
                                 typed.filename, loc.line if loc and loc.line else typed.firstlineno, 0, loc.col if loc
                                 else -1, loc.end_col if loc else -1,
                                 typed.qualname, hint="write the result to an array"))
