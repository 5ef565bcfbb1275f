"""What a figure was measured on: machine and versions, without a name or an address."""
from __future__ import annotations

import importlib.metadata
import os
import platform

__all__ = ["describe"]


def describe(peers) -> dict[str, str]:
    try:
        with open("/proc/cpuinfo") as file:
            processor = next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = platform.machine()
    load = os.getloadavg()[0]
    found = {"processor": f"{processor}, {len(os.sched_getaffinity(0))} cores, load {load:.1f}",
             "Python": platform.python_version()}
    for package in ("pyjitc", "numpy", "llvmlite", *(p for p in peers if p != "cpython")):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "from the source tree"
    return found
