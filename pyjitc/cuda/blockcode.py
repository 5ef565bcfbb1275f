"""From a kernel and argument types to native code of a block of threads: the compiler's part of hostgrid.py."""
from __future__ import annotations

from ..api import compiler
from ..api.compiled import ABSENT, Guard
from ..base.errors import Diagnostic, TypingError
from ..base.options import Options
from ..base.trace import timed
from ..codegen import link
from ..codegen.compile import recursive
from ..codegen.grid import compile_grid
from ..codegen.gridkernel import GridKernel
from ..front import functions
from ..infer.meaning import UNKNOWN
from ..infer.specialise import specialise
from ..ir.core import Function
from ..ir.verify import verify_module
from ..lib.cuda.device import KernelLibrary
from ..ops.control import RETURN
from ..passes import grid
from ..types.kinds import NoneType

_library = KernelLibrary()

__all__ = ["compile_block", "inspect", "returns_nothing"]


def _module(function, types, options: Options):
    with timed("infer"):
        typed, _, dependencies = specialise(function, types, library=_library, build=compiler._build,
                                            prototype=functions.prototype_of, nested=functions.nested, options=options)
    returns_nothing(function, typed[0])
    check = verify_module if compiler._verified() else None
    with timed("passes"):
        module, plan = grid.run_module(typed, options, lambda inst: None, recursive, check)
    return (module, plan,
            tuple(Guard(d.container, d.key, ABSENT if d.value is UNKNOWN else d.value) for d in dependencies))


def compile_block(function, types, options: Options) -> tuple[GridKernel, tuple[Guard, ...]]:
    """(code, what it depends on). Raises CompileError, located."""
    module, plan, guards = _module(function, types, options)
    return compile_grid(module, plan, options), guards


def inspect(function, types, options: Options, stage: str = "llvm") -> str:
    """Text of a stage: IR of the block function ('opt'), LLVM before and after optimisation ('text', 'llvm'), 'asm'."""
    module, plan, _ = _module(function, types, options)
    if stage == "opt":
        return compiler.show.show_module(module)
    text = compile_grid(module, plan, options).text
    return (text if stage == "text"
            else (link.to_text if stage == "llvm" else link.to_assembly)(text, link.host_target()))


def returns_nothing(function, typed: Function) -> None:
    """TypingError where a kernel returns a value."""
    if typed.result is None or typed.result is NoneType:
        return
    last = next((b.insts[-1] for b in typed.blocks if b.insts[-1].op is RETURN), None)
    loc = last.loc if last is not None else None
    raise TypingError(Diagnostic(f"a kernel returns nothing, {function.__qualname__}() returns {typed.result}",
                                 typed.filename, loc.line if loc and loc.line else typed.firstlineno, 0, loc.col if loc
                                 else -1, loc.end_col if loc else -1,
                                 typed.qualname, hint="write the result to an array"))
