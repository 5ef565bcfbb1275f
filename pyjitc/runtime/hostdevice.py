"""The CPU in place of a GPU: the operations of `driver.Device` on host memory.

Arrays, streams and events then work the same on machines without a GPU. All operations are complete when they return.
"""
from __future__ import annotations

import ctypes
import itertools
import os
import threading
import time
from typing import NamedTuple

import numpy as np

__all__ = ["CURRENT", "DeviceNames", "HostDevice", "MemoryInfo", "OfProcess"]


class MemoryInfo(NamedTuple):
    """Bytes of a device's memory."""

    free: int
    total: int


_ALIGN = 256  # alignment of device memory


CURRENT = threading.local()  # device: the current device of this thread; left: the devices outside the `with` blocks


class OfProcess:
    """Base class of objects with a handle or an address of one owner, which is invalid in other processes."""

    def __reduce__(self):
        raise TypeError(f"{self!r} belongs to this process: it cannot be copied or pickled")


class DeviceNames(OfProcess):
    """Attributes of devices under Numba's names: `id`, attributes such as MULTIPROCESSOR_COUNT, `with device`."""

    def __enter__(self):
        CURRENT.left = [*getattr(CURRENT, "left", ()), getattr(CURRENT, "device", None)]
        CURRENT.device = self
        return self

    def __exit__(self, *error) -> None:
        CURRENT.device = CURRENT.left.pop()

    @property
    def id(self) -> int:
        return self.index

    def reset(self) -> None:
        """Wait until all work is done, and free memory without references. Arrays and code in use remain; `close` frees
        them."""
        self.synchronize()
        self.trim()

    def __getattr__(self, name: str):
        if name.isupper():
            return self.attribute(name)
        raise AttributeError(f"a device has no attribute {name!r}")


class HostDevice(DeviceNames):
    """The host as a device. Its limits are those that all supported GPUs have."""

    gpu = False
    index = 0
    name = "CPU grid"
    compute_capability = (7, 5)
    context = 0
    attributes = {
        "MAX_THREADS_PER_BLOCK": 1024, "MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64,
        "MAX_GRID_DIM_X": 2**31 - 1, "MAX_GRID_DIM_Y": 65535, "MAX_GRID_DIM_Z": 65535,
        "MAX_SHARED_MEMORY_PER_BLOCK": 48 << 10, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 64 << 10,
        "TOTAL_CONSTANT_MEMORY": 64 << 10, "WARP_SIZE": 32, "MAX_REGISTERS_PER_BLOCK": 65536,
        "MAX_THREADS_PER_MULTIPROCESSOR": 1024, "COMPUTE_CAPABILITY_MAJOR": 7, "COMPUTE_CAPABILITY_MINOR": 5,
    }

    def __init__(self):
        self.buffers: dict[int, np.ndarray] = {}
        self.events: dict[int, float | None] = {}
        self.numbers = itertools.count(1)

    def __repr__(self):
        return "<the CPU as a CUDA device>"

    def attribute(self, name: str) -> int:
        if name == "MULTIPROCESSOR_COUNT":
            return os.cpu_count() or 1
        if name not in self.attributes:
            raise AttributeError(f"a device has no attribute {name}")
        return self.attributes[name]

    def synchronize(self) -> None:
        pass

    def close(self) -> None:
        pass

    # -- memory

    def allocate(self, size: int, stream: int = 0) -> int:
        if size == 0:
            return 0
        buffer = np.empty(size + _ALIGN, np.uint8)
        address = (buffer.ctypes.data + _ALIGN - 1) // _ALIGN * _ALIGN
        self.buffers[address] = buffer
        return address

    def free(self, address: int, stream: int = 0) -> None:
        self.buffers.pop(address, None)

    def trim(self) -> None:
        pass

    def get_memory_info(self) -> MemoryInfo:
        page = os.sysconf("SC_PAGE_SIZE")
        return MemoryInfo(page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES"))

    def copy_in(self, target: int, source: int, size: int, stream: int = 0) -> None:
        ctypes.memmove(target, source, size)

    copy_out = copy_in

    def copy(self, target: int, source: int, size: int, stream: int = 0, other=None) -> None:
        ctypes.memmove(target, source, size)

    def fill(self, address: int, byte: int, size: int, stream: int = 0) -> None:
        ctypes.memset(address, byte, size)

    def allocate_host(self, size: int, mapped: bool = False) -> int:
        return self.allocate(max(size, 1))

    def free_host(self, address: int) -> None:
        self.free(address)

    allocate_managed, free_managed = allocate_host, free_host

    def pin(self, address: int, size: int, mapped: bool = False) -> None:
        pass

    def unpin(self, address: int) -> None:
        pass

    def mapped_address(self, address: int) -> int:
        return address

    def device_of(self, address: int) -> int | None:
        return 0

    # -- streams and events

    def new_stream(self) -> int:
        return next(self.numbers)

    def free_stream(self, stream: int) -> None:
        pass

    def wait(self, stream: int) -> None:
        pass

    def is_done(self, stream: int) -> bool:
        return True

    def call_back(self, stream: int, function) -> None:
        function()

    def wait_for_event(self, stream: int, event: int) -> None:
        pass

    def new_event(self, timing: bool = True) -> int:
        number = next(self.numbers)
        self.events[number] = None
        return number

    def free_event(self, event: int) -> None:
        self.events.pop(event, None)

    def record(self, event: int, stream: int) -> None:
        self.events[event] = time.perf_counter()

    def wait_event(self, event: int) -> None:
        pass

    def event_is_done(self, event: int) -> bool:
        return True

    def elapsed(self, start: int, end: int) -> float:
        return (self.events[end] - self.events[start]) * 1e3
