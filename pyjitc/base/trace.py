"""Observing compilations: printing the result of a stage (PYJITC_DUMP) and timing it (PYJITC_TIME)."""
from __future__ import annotations

import atexit
import sys
import time
from contextlib import contextmanager
from typing import Callable

from .options import environment

__all__ = ["COUNTED", "dumping", "dump", "timed", "times", "report"]

# Counts for a function and for the process: specialisations that were compiled, found in memory and on disk, not found
# there, and written there.
COUNTED = ("compiled", "memory", "disk", "missed", "written")

times: dict[str, list] = {}  # stage -> [seconds, count] since the start of the process
_nested: list[float] = []  # seconds spent in inner stages, one entry for each open stage
_announced: list = []


def dumping(stage: str, name: str = "") -> bool:
    """Whether PYJITC_DUMP selects `stage` of the function `name`."""
    wanted = environment("PYJITC_DUMP")
    if not wanted or wanted == "0":
        return False
    for item in wanted.split(","):
        which, _, function = item.strip().partition(":")
        if which in (stage, "all", "1") and (not function or function in (name, name.rpartition(".")[2])):
            return True
    return False


def dump(stage: str, name: str, text: Callable[[], str]) -> None:
    """Print the result of `text` if PYJITC_DUMP selects it."""
    if dumping(stage, name):
        print(f"# {stage}: {name}\n{text().rstrip()}\n", file=sys.stderr)


@contextmanager
def timed(stage: str):
    """Context manager: add the time of the block to `stage`, without the time of stages inside it."""
    if not _announced and environment("PYJITC_TIME") not in ("", "0"):
        _announced.append(atexit.register(report))
    _nested.append(0.0)
    start = time.perf_counter()
    try:
        yield
    finally:
        spent = time.perf_counter() - start
        own = spent - _nested.pop()
        if _nested:
            _nested[-1] += spent
        entry = times.setdefault(stage, [0.0, 0])
        entry[0] += own
        entry[1] += 1


def report() -> None:
    print("# pyjitc: time of every stage", file=sys.stderr)
    for stage, (seconds, count) in sorted(times.items(), key=lambda item: -item[1][0]):
        print(f"{seconds * 1e3:10.2f} ms  {count:6d} x  {stage}", file=sys.stderr)
