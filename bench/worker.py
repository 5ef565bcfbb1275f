"""A contender in a process of its own, which is asked for one turn at a time, so that contenders take turns without
sharing a process.

    with Workers(["pyjitc", "jax"]) as workers:
        workers["jax"].ask(function, *arguments)     # runs there: function is named by its module
"""
from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import traceback
from typing import Callable

__all__ = ["Worker", "Workers", "Failed", "ONE_THREAD"]

# All contenders run on one thread, so that figures compare code and not the number of cores that a library uses.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA", "BLIS")} | {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1", "JAX_PLATFORMS": "cpu",
    "PYJITC_CACHE": "0"}


class Failed(Exception):
    """Raised when a call in a worker failed; the message is one line with the reason."""


class Worker:
    def __init__(self, name: str):
        self.name = name
        self._process = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True, name=f"bench {self.name}")
        before = dict(os.environ)
        os.environ.update(ONE_THREAD)  # NumPy and similar libraries read these variables when they are imported
        try:
            self._process.start()
        finally:
            os.environ.clear()
            os.environ.update(before)
        theirs.close()

    def ask(self, function: Callable, *args, timeout: float = 300):
        """The result of `function(*args)` in the worker. After a crash or a timeout the next call starts a new
        worker."""
        if self._process is None:
            self._start()
        self._pipe.send((function, args))
        try:
            if not self._pipe.poll(timeout):
                raise Failed(f"no answer after {timeout:.0f} s")
            fine, answer = self._pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join(10)
            code = self._process.exitcode
            self.stop()
            raise Failed(f"the process ended with exit code {code}") from None
        except Failed:
            self.stop()
            raise
        if not fine:
            raise Failed(answer)
        return answer

    def stop(self) -> None:
        if self._process is not None:
            self._pipe.close()
            self._process.kill()
            self._process.join()
            self._process = None


@contextlib.contextmanager
def Workers(names):
    workers = {name: Worker(name) for name in names}
    try:
        yield workers
    finally:
        for worker in workers.values():
            worker.stop()


def _serve(pipe) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the command handles Ctrl-C, and it ends its workers
    while True:
        try:
            function, args = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((True, function(*args)))
        except Exception as error:
            line = (str(error).strip().splitlines() or [""])[0]
            where = traceback.extract_tb(error.__traceback__)[-1]
            pipe.send((False, f"{type(error).__name__}: {line} ({os.path.basename(where.filename)}:{where.lineno})"))
