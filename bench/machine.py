"""What a figure was measured on: machine and versions, without a name or an address."""
from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess

from .measure import calls, sample

__all__ = ["describe", "slowness"]

REFERENCE_NS = 60.0


def describe(peers) -> dict[str, str]:
    try:
        with open("/proc/cpuinfo") as file:
            processor = next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = platform.machine()
    found = {"date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
             "processor": processor,
             "cores": str(len(os.sched_getaffinity(0))),
             "load": f"{os.getloadavg()[0]:.1f}",
             "system": f"{platform.system()} {platform.machine()}",
             "Python": platform.python_version()}
    for package in dict.fromkeys(("pyjitc", "numpy", "llvmlite", *(p for p in peers if p not in ("cpython", "trace")))):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "from the source tree"
    commit = _commit()
    if commit:
        found["pyjitc"] += f", commit {commit}"
    return found


def _commit() -> str:
    """The commit that is checked out, with a + where files differ from it; '' outside of a repository."""
    try:
        said = subprocess.run(["git", "describe", "--always", "--dirty=+"],
                              cwd=os.path.dirname(os.path.abspath(__file__)), capture_output=True, text=True,
                              timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""


def slowness(quick) -> float:
    """How much slower than the reference this machine is, now; 1 where it is faster. Budgets that are times hold there
    as they are: what a call of a Python function gains on a faster machine is not what loading a library and making
    code gain."""
    def plain(x, y):
        return x * y + 1.0

    times = calls({"plain": ("f(x, y)", dict(f=plain, x=1.5, y=2.5))}, 20 if quick else 200)["plain"]
    return max(1.0, sample(times).median / REFERENCE_NS)
