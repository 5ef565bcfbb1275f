"""Kernels on the CPU: compiled for a whole block, blocks spread over this process's CPU threads.

Loaded at the first launch without a GPU. A launch returns when it is done; the first failing block, in their order, decides
what is raised.
"""
from __future__ import annotations

import ctypes
import os
import struct
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..api import compiler
from ..api.compiled import ABSENT, Guard
from ..base.options import Options
from ..base.trace import timed
from ..codegen.compile import recursive
from ..codegen.grid import CONTEXT_WORDS, ENTRY, RECORD, WORDS, GridKernel, compile_grid
from ..codegen.nvptx import parameters
from ..front import functions
from ..infer.meaning import UNKNOWN
from ..infer.specialise import specialise
from ..ir.verify import verify_module
from ..passes import grid
from ..runtime.loader import load
from .failure import failure, returns_nothing

__all__ = ["GridCode", "compile_kernel", "inspect"]

_INLINE = 1 << 12  # threads of a grid that are not worth waking others for
_Native = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_pool: list[ThreadPoolExecutor] = []


def _workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _submit(function, *args):
    if not _pool:
        _pool.append(ThreadPoolExecutor(max(_workers() - 1, 1), "pyjitc-grid"))
    return _pool[0].submit(function, *args)


os.register_at_fork(after_in_child=_pool.clear)


class GridCode:
    """A kernel for some argument types. guards: what the code depends on; shared: bytes of its static shared memory."""

    def __init__(self, kernel: GridKernel, guards: tuple[Guard, ...], debug: bool):
        self.kernel, self.guards, self.shared, self.debug = kernel, guards, kernel.shared, debug
        self.image = load(kernel.object, {})
        self.native = _Native(self.image.address(ENTRY))
        self.layout = "".join(_FORMATS[c] for c in kernel.parameters)

    def launch(self, values, types, grid, block, stream, shared: int) -> None:
        """Run the grid; raises what its first failing block raised."""
        words: list = []
        for value, t in zip(values, types):
            _pack(value, t, words)
        arguments = struct.pack(f"<{self.layout}", *words)
        blocks, threads = grid[0] * grid[1] * grid[2], block[0] * block[1] * block[2]
        counter = ctypes.c_int64(0)
        count = 1 if blocks * threads <= _INLINE else min(blocks, _workers())
        runs = [_Run(self, grid, block, shared) for _ in range(count)]
        pointer = ctypes.c_char_p(arguments)
        argument_address = ctypes.cast(pointer, ctypes.c_void_p)
        others = [_submit(self.native, run.context, argument_address, ctypes.byref(counter), blocks) for run in runs[1:]]
        self.native(runs[0].context, argument_address, ctypes.byref(counter), blocks)
        for one in others:
            one.result()
        failed = [run for run in runs if run.context[WORDS["site"]]]
        if failed:
            raise min(failed, key=lambda run: run.block_number(grid)).error(block)


class _Run:
    """What one CPU thread needs during a launch: the context of the native code, and memory of a block."""

    def __init__(self, code: GridCode, grid, block, shared: int):
        self.code = code
        self.context = (ctypes.c_int64 * CONTEXT_WORDS)()
        self.context[WORDS["threads"]:WORDS["threads"] + 3] = block
        self.context[WORDS["blocks"]:WORDS["blocks"] + 3] = grid
        watched = -(-shared // 64) * 64 + code.shared if code.debug else 0
        self.memory = [_memory(max(shared, watched)), _memory(code.kernel.local * block[0] * block[1] * block[2]), _memory(watched * RECORD)]
        self.context[WORDS["shared"]], self.context[WORDS["local"]], self.context[WORDS["record"]] = map(_aligned, self.memory)
        self.context[WORDS["watched"]] = watched
        self.context[WORDS["shared_bytes"]] = shared

    def block_number(self, grid) -> int:
        x, y, z = self.context[0:3]
        return x + grid[0] * (y + grid[1] * z)

    def error(self, block) -> Exception:
        context = self.context
        site = self.code.kernel.sites[context[WORDS["site"]] - 1]
        number = context[WORDS["thread"]]
        thread = None if number < 0 else (number % block[0], number // block[0] % block[1], number // block[0] // block[1])
        return failure(site, context[WORDS["values"]:WORDS["values"] + 8], context[0:3], thread)


def _memory(size: int):
    return np.empty(size + 64, np.uint8)


def _aligned(memory) -> int:
    return (memory.__array_interface__["data"][0] + 63) // 64 * 64


# ---------------------------------------------------------------- arguments

_FORMATS = {"ptr": "Q", "i64": "q", "i32": "i4x", "i16": "h6x", "i8": "b7x", "double": "d", "float": "f4x", "half": "e6x"}


def _pack(value, t, words: list) -> None:
    """Append the words of an argument: what `codegen.nvptx.parameters` says is passed."""
    kind = type(t).__name__
    if kind == "Array":
        where = getattr(value, "address", None)
        words.append(value.__array_interface__["data"][0] if where is None else where)
        words += value.shape
        if t.layout == "A":
            words += value.strides
    elif kind == "Tuple":
        for part, p in zip(value, t.elements):
            _pack(part, p, words)
    else:
        passed = parameters(t)
        if len(passed) == 2:
            words += (float(value.real), float(value.imag))
        elif passed:
            c = passed[0][1]
            if c[0] != "i":
                words.append(float(value))
            else:
                bits = int(c[1:])
                word = int(value) & (1 << bits) - 1
                words.append(word - (1 << bits) if word >> bits - 1 else word)


# ---------------------------------------------------------------- compiling


def _module(function, types, options: Options):
    with timed("infer"):
        typed, _, dependencies = specialise(function, types, library=compiler._library, build=compiler._build,
                                            prototype=functions.prototype_of, nested=functions.nested, options=options)
    returns_nothing(function, typed[0])
    check = verify_module if compiler._verified() else None
    with timed("passes"):
        module, plan = grid.run_module(typed, options, lambda inst: None, recursive, check)
    return module, plan, tuple(Guard(d.container, d.key, ABSENT if d.value is UNKNOWN else d.value) for d in dependencies)


def compile_kernel(function, types, options: Options, bounds, device) -> GridCode:
    """Code of the kernel `function` for arguments of `types`. Raises CompileError, located."""
    module, plan, guards = _module(function, types, options)
    return GridCode(compile_grid(module, plan, options), guards, options.debug)


def inspect(function, types, options: Options, stage: str = "llvm") -> str:
    """LLVM text of the block function before optimisation ('llvm'), or IR ('opt')."""
    module, plan, _ = _module(function, types, options)
    if stage == "opt":
        return "\n".join(compiler.show.show(fn) for fn in module)
    return compile_grid(module, plan, options).text
