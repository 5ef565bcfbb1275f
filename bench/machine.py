"""The machine and the versions with which figures were measured, without the machine's name or address."""
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
    found = {"date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
             "processor": _processor(),
             "cores": str(len(os.sched_getaffinity(0))),
             "load": f"{os.getloadavg()[0]:.1f}",
             "system": f"{platform.system()} {platform.machine()}",
             "Python": platform.python_version()}
    for package in dict.fromkeys(("pyjitc", "numpy", "llvmlite", *(p for p in peers if p not in ("cpython", "trace")))):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "from the source tree"
    kernels = os.environ.get("OPENBLAS_CORETYPE")
    if kernels:  # products of matrices may then be slower than this processor can make them, also NumPy's
        found["OpenBLAS kernels"] = f"{kernels}, set by the environment"
    commit = _commit()
    if commit:
        found["pyjitc"] += f", commit {commit}"
    return found


def _processor() -> str:
    """The processor's name with its family and model. Clouds give processors of several generations one name, and the
    times of one generation do not compare with those of another."""
    try:
        with open("/proc/cpuinfo") as file:
            core = file.read().partition("\n\n")[0]
    except OSError:
        return platform.machine()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in core.splitlines())}
    name = facts.get("model name", platform.machine())
    if {"cpu family", "model"} <= facts.keys():
        name += f" (family {facts['cpu family']}, model {facts['model']})"
    return name


def _commit() -> str:
    """The commit that is checked out, followed by a + if files differ from it; '' outside a repository."""
    try:
        said = subprocess.run(["git", "describe", "--always", "--dirty=+"],
                              cwd=os.path.dirname(os.path.abspath(__file__)), capture_output=True, text=True,
                              timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""


def slowness(quick) -> float:
    """The factor by which this machine is slower than the reference at the moment; 1 if it is faster. On a faster
    machine budgets that are times are not scaled, because loading a library and compiling do not speed up as much as a
    call of a Python function."""
    def plain(x, y):
        return x * y + 1.0

    times = calls({"plain": ("f(x, y)", dict(f=plain, x=1.5, y=2.5))}, 20 if quick else 200)["plain"]
    return max(1.0, sample(times).median / REFERENCE_NS)
