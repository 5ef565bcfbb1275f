"""Data that the code of a grid on the CPU shares with its launches: stored with the code, loaded without the
compiler."""
from __future__ import annotations

from typing import NamedTuple

from .sites import Site

__all__ = ["CONTEXT_WORDS", "CONTROL", "ENTRY", "GridKernel", "MAX_VALUES", "RECORD", "STOP", "WORDS"]

ENTRY = "pyjitc_grid"
# Words of the context: block x y z, threads of a block, blocks of the grid, dynamic shared memory and its bytes, local
# memory; of a failure: its site (0: none), thread, values; together: how many neighbouring blocks along x run as one,
# of which `block` is the first; run: the number of their threads along x.
# With the option `debug`: the access record of each byte of shared memory, the number of recorded bytes, the number of
# the last wait, the number of the last wait of the block; then those of each warp.
WORDS = {"block": 0, "threads": 3, "blocks": 6, "shared": 9, "shared_bytes": 10, "local": 11, "site": 12, "thread": 13,
         "values": 14, "counter": 22, "record": 23, "watched": 24, "waits": 25, "block_wait": 26, "warp_waits": 27,
         "run": 59, "together": 60}
MAX_VALUES = 8
CONTEXT_WORDS = 61
# Words that all CPU threads share, to which the context's `counter` points: the number of the next block; for barriers
# of the grid the number of blocks that have arrived, how many barriers are complete, whether a block has failed, and
# the number of blocks that have ended.
CONTROL = {"next": 0, "arrived": 1, "round": 2, "failed": 3, "ended": 4}
STOP = 1 << 62  # the counter of blocks is set to this to stop all CPU threads
RECORD = 64  # bytes of the access record of one byte


class GridKernel(NamedTuple):
    """object: relocatable object code; parameters: LLVM types of the argument words; sites: places that may fail, site
    n is [n - 1];
    shared: bytes of static shared memory; local: bytes of each thread's arrays; stack: bytes of the CPU thread's stack
    that a block uses; cooperative: whether blocks wait for each other;
    wide: whether neighbouring blocks may run as one; text: LLVM text."""

    object: bytes
    parameters: tuple[str, ...]
    sites: tuple[Site, ...]
    shared: int
    local: int
    stack: int
    cooperative: bool
    wide: bool
    text: str
