"""Kernels on the CPU: compiled for a whole block, blocks spread over this process's CPU threads.

Loaded at the first launch without a GPU. Kernels whose threads only use their positions in the grid run several
neighbouring blocks as one. A launch returns when all blocks are done; the first failed block, or the first failed run
of several blocks, determines the exception.
"""
from __future__ import annotations

import ctypes
import struct
import threading
from time import perf_counter
from types import FunctionType

import numpy as np

from ..base.lazy import lazy
from ..base.options import Options
from ..base.stack import with_stack
from ..codegen import pool
from ..codegen.gridkernel import CONTEXT_WORDS, CONTROL, ENTRY, RECORD, STOP, WORDS, GridKernel
from ..codegen.link import host_target
from ..codegen.sites import Site
from ..pipeline import cache
from ..pipeline.portable import Guard
from ..pipeline.specialisation import profiled
from ..runtime.loader import load, provide, resolve
from ..runtime.pool import STACK, get_num_threads
from ..types.kinds import Array, Composite, Singleton, is_complex
from .failure import failure

__all__ = ["GridCode", "compile_kernel"]

blockcode = lazy("pyjitc.cuda.blockcode")

_FIRST = 1 << 12  # threads of a grid that run first, to measure the time
_WIDEST = 1 << 16  # the most threads in a run of blocks
_SHOWN = 20e-6  # seconds after which the time of the rest can be estimated
_WAKING = 50e-6  # seconds for waking another CPU thread
_Native = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64)
_Context = ctypes.c_int64 * CONTEXT_WORDS
_AT_ONCE = 256  # the most blocks of a cooperative launch
_pool: list = []  # the function that runs a grid on the threads of the pool, once it is loaded


def _on_the_pool(native: int, arguments, control, blocks: int, runs) -> int:
    """The greatest status that the native code returns: it is called once for each run, with its context, on as many
    threads."""
    if not _pool:
        provide((pool.object_for(host_target()),))
        # called with the interpreter lock, which it releases itself; raises KeyboardInterrupt
        _pool.append(ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)(resolve("pyjitc_blocks")))
    given = ctypes.c_char_p(arguments)
    frame = (ctypes.c_int64 * (4 + len(runs)))(
        native, ctypes.cast(given, ctypes.c_void_p).value, ctypes.addressof(control), blocks,
        *(ctypes.addressof(run.context) for run in runs))
    _pool[0](frame, len(runs))
    return max(frame[4:])


class GridCode:
    """A kernel for some argument types. guards: values on which the code depends; shared: bytes of its static shared
    memory."""

    def __init__(self, kernel: GridKernel, guards: tuple[Guard, ...], debug: bool, function: FunctionType):
        self.kernel, self.guards, self.shared, self.debug = kernel._replace(text=""), guards, kernel.shared, debug
        self.image = load(kernel.object, {}, title=profiled(function))
        self.address = self.image.address(ENTRY)
        self.native = _Native(self.address)
        self.layout = "".join(_FORMATS[c] for c in kernel.parameters)

    def launch(self, values, types, grid, block, stream, shared: int) -> None:
        """Run the grid; raises the exception of its first failed block."""
        with_stack(self.kernel.stack, self._launch, values, types, grid, block, shared)

    def _launch(self, values, types, grid, block, shared: int) -> None:
        words: list = []
        for value, t in zip(values, types):
            _pack(value, t, words)
        arguments = struct.pack(f"<{self.layout}", *words)
        blocks, threads = grid[0] * grid[1] * grid[2], block[0] * block[1] * block[2]
        if self.kernel.wide:  # from here on, runs of blocks are counted
            together = max(1, min(grid[0], _WIDEST // threads, blocks // (16 * get_num_threads())))
            blocks = -(-grid[0] // together) * grid[1] * grid[2]
            threads *= together
        else:
            together = 1
        control = (ctypes.c_int64 * len(CONTROL))()
        runs = [_Run(self, grid, block, shared, together)]
        where = ctypes.byref(control)
        workers = get_num_threads()
        try:
            if self.kernel.cooperative:
                status = self._all_at_once(runs, arguments, where, grid, block, shared)
            else:
                done, part = 0, max(1, _FIRST // threads)
                spent, status = 0.0, 0
                while status == 0 and done < blocks and spent < _SHOWN:  # until the time of the rest can be estimated
                    part = min(part, blocks - done)
                    control[0] = done
                    start = perf_counter()
                    status = self.native(runs[0].context, arguments, where, done + part)
                    spent = perf_counter() - start
                    done, shown, part = done + part, part, 16 * part
                if status == 0 and done < blocks:
                    control[0] = done
                    rest = spent / shown * (blocks - done)
                    if rest > 4 * _WAKING and self.kernel.stack < STACK // 2:
                        count = min(blocks - done, workers, int(rest / _WAKING))
                        runs += [_Run(self, grid, block, shared, together) for _ in range(count - 1)]
                    if len(runs) > 1:
                        status = _on_the_pool(self.address, arguments, control, blocks, runs)
                    else:
                        status = self.native(runs[0].context, arguments, where, blocks)
            stopped = status == 2
        except BaseException:  # an interrupt while this thread waited
            control[0] = STOP
            raise
        if stopped or control[0] >= STOP:
            raise KeyboardInterrupt
        failed = [run for run in runs if run.context[WORDS["site"]]]
        if failed:
            raise min(failed, key=lambda run: run.block_number(grid)).error(block)

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize: int = 0) -> int:
        """The most blocks of a grid whose blocks wait for each other."""
        return _AT_ONCE

    def _all_at_once(self, runs, arguments, where, grid, block, shared: int) -> int:
        """Run a cooperative grid, with a system thread for each block."""
        blocks = grid[0] * grid[1] * grid[2]
        if blocks > _AT_ONCE:
            raise ValueError(f"{blocks} blocks wait for each other in cuda.cg.this_grid().sync(): at most {_AT_ONCE} "
                             f"run at once")
        runs += [_Run(self, grid, block, shared) for _ in range(blocks - 1)]
        others = [threading.Thread(target=with_stack, args=(self.kernel.stack, self.native, run.context, arguments,
                                                           where, blocks)) for run in runs[1:]]
        try:
            for one in others:
                one.start()
            return self.native(runs[0].context, arguments, where, blocks)
        except BaseException:
            where._obj[CONTROL["next"]] = STOP
            raise
        finally:
            for one in others:
                if one.ident is not None:
                    one.join()


class _Run:
    """The data of one CPU thread during a launch: the context of the native code, and memory of a block."""

    def __init__(self, code: GridCode, grid, block, shared: int, together: int = 1):
        self.code = code
        watched = -(-shared // 64) * 64 + code.shared if code.debug else 0
        self.memory = [_memory(size) if size else None for size in (
            max(shared, watched), code.kernel.local * block[0] * block[1] * block[2], watched * RECORD)]
        common, local, record = [0 if m is None else (m.__array_interface__["data"][0] + 63) // 64 * 64
                                 for m in self.memory]
        self.context = _Context(0, 0, 0, *block, *grid, common, shared, local)  # in the order of gridkernel.WORDS
        self.context[WORDS["together"]] = together
        if watched:
            self.context[WORDS["record"]], self.context[WORDS["watched"]] = record, watched

    def block_number(self, grid) -> int:
        x, y, z = self.context[0:3]
        return x + grid[0] * (y + grid[1] * z)

    def error(self, block) -> Exception:
        context = self.context
        site = self.code.kernel.sites[context[WORDS["site"]] - 1]
        x, y, z = context[0:3]
        number = context[WORDS["thread"]]
        thread = None
        if number >= 0:
            row, along = divmod(number, context[WORDS["run"]])
            x, thread = x + along // block[0], (along % block[0], row % block[1], row // block[1])
        return failure(site, context[WORDS["values"]:WORDS["values"] + 8], (x, y, z), thread)


def _memory(size: int):
    return np.empty(size + 64, np.uint8)


# ---------------------------------------------------------------- arguments

_FORMATS = {"ptr": "Q", "i64": "q", "i32": "i4x", "i16": "h6x", "i8": "b7x", "double": "d", "float": "f4x",
            "half": "e6x"}


def _pack(value, t, words: list) -> None:
    """Append the words of an argument: the parameters of `codegen.nvptx.parameters`."""
    if isinstance(t, Array):
        words.append(value.__array_interface__["data"][0] if isinstance(value, np.ndarray) else value.address)
        words += value.shape
        if t.layout == "A":
            words += value.strides
    elif isinstance(t, Composite):
        for part, p in zip(t.open(value), t.parts):
            _pack(part, p, words)
    elif not isinstance(t, Singleton):  # whose type determines the value
        words += (float(value.real), float(value.imag)) if is_complex(t) else _word(value)


def _word(value) -> tuple:
    """The word of a number; no word for None, Ellipsis and dtypes."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return (int(value.view(np.int64)),)
    if isinstance(value, (float, np.floating)):
        return (float(value),)
    if isinstance(value, (int, np.integer, np.bool_)):
        word = int(value)
        width = 64 if isinstance(value, int) else 8 * value.dtype.itemsize
        return (word - (1 << width) if word >> width - 1 == 1 else word,)
    return ()


# ---------------------------------------------------------------- code


def compile_kernel(function, types, options: Options, bounds, device) -> GridCode:
    """The code of the kernel `function` for arguments of `types`, from disk if it is there. Raises CompileError, with a
    location."""
    def make() -> GridCode:
        kernel, guards = blockcode.compile_block(function, types, options)
        return GridCode(kernel, guards, options.debug, function)

    def restore(parts, guards) -> GridCode:
        kernel = GridKernel(*parts)
        kernel = kernel._replace(sites=tuple(Site(*s) for s in kernel.sites))
        return GridCode(kernel, guards, options.debug, function)

    return cache.kept(function, types, options, ("grid",), make, _flattened, restore)


def _flattened(code: GridCode) -> tuple:
    return tuple(code.kernel._replace(sites=tuple(map(tuple, code.kernel.sites))))
