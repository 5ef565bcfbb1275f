"""NVIDIA's assembler and disassembler, where they are installed: what PTX costs in registers, and its machine code.

The driver assembles PTX itself; these tools are for looking, and for checks on machines without a GPU.
"""
from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import tempfile
from typing import NamedTuple

from ..base.lazy import lazy

__all__ = ["AssemblyError", "Report", "assemble", "disassemble", "find", "libdevice"]

_SECONDS = 120
_pathfinder = lazy("cuda.pathfinder")  # it finds NVIDIA's Python packages; from the extra `cuda`


class AssemblyError(RuntimeError):
    """Raised where ptxas refuses the text, or a tool that is needed is not installed."""


class Report(NamedTuple):
    """Resources of one thread of a kernel: registers, bytes of stack, bytes stored to and loaded from memory by spills;
    and the bytes of shared and constant memory of the kernel."""

    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    shared: int
    constant: int


def find(tool: str) -> str | None:
    """Path of ptxas, nvdisasm or cuobjdump: from PATH, else from a toolkit, else from NVIDIA's Python packages."""
    found = shutil.which(tool)
    for folder in _toolkits() if found is None else ():
        path = os.path.join(folder, "bin", tool)
        if os.access(path, os.X_OK):
            return path
    return found or _from_packages("find_nvidia_binary_utility", tool)


def _toolkits() -> list[str]:
    named = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    return [*filter(None, named), "/usr/local/cuda", *sorted(glob.glob("/usr/local/cuda-*"), reverse=True)]


def _from_packages(function: str, name: str) -> str | None:
    try:
        return getattr(_pathfinder, function)(name)
    except (ImportError, RuntimeError):  # not installed, or it does not find the tool
        return None


def assemble(ptx: str, arch: str, name: str | None = None) -> tuple[bytes, Report]:
    """(cubin, report of the kernel `name`, or of the first one). Raises AssemblyError with the message of ptxas."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
        with open(source, "w") as file:
            file.write(ptx)
        done = _run("ptxas", "-v", f"-arch={arch}", "-o", output, source)
        if done.returncode:
            raise AssemblyError(f"ptxas refuses the code for {arch}:\n{done.stderr or done.stdout}")
        with open(output, "rb") as file:
            return file.read(), report(done.stdout + done.stderr, name)


def report(text: str, name: str | None = None) -> Report:
    """The resources of a kernel, read from the output of `ptxas -v`."""
    kernels = re.split(r"Compiling entry function '", text)[1:]
    for part in kernels:
        if name is None or part.startswith(f"{name}'"):
            return Report(*(int(m.group(1)) if (m := re.search(pattern, part)) else 0 for pattern in (
                r"Used (\d+) registers", r"(\d+) bytes stack frame", r"(\d+) bytes spill stores",
                r"(\d+) bytes spill loads", r"(\d+) bytes smem", r"(\d+) bytes cmem\[0\]")))
    raise AssemblyError(f"ptxas says nothing about {name or 'a kernel'}:\n{text}")


def disassemble(cubin: bytes) -> str:
    """SASS, by nvdisasm or cuobjdump."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.cubin")
        with open(path, "wb") as file:
            file.write(cubin)
        for tool, flags in (("nvdisasm", ["-c"]), ("cuobjdump", ["-sass"])):
            if find(tool):
                done = _run(tool, *flags, path)
                if done.returncode:
                    raise AssemblyError(f"{tool}: {done.stderr}")
                return done.stdout
    raise AssemblyError("nvdisasm and cuobjdump are not installed; they come with the CUDA toolkit")


def libdevice() -> bytes:
    """The bitcode of libdevice, from a toolkit or from NVIDIA's Python packages."""
    paths = [os.path.join(folder, "nvvm", "libdevice", "libdevice.10.bc") for folder in _toolkits()]
    for path in (*paths, _from_packages("find_bitcode_lib", "device")):
        if path is not None and os.path.exists(path):
            with open(path, "rb") as file:
                return file.read()
    raise AssemblyError("libdevice is not installed; it comes with the CUDA toolkit, or with pip install nvidia-nvvm "
                        "cuda-pathfinder")


def _run(tool: str, *arguments: str):
    path = find(tool)
    if path is None:
        raise AssemblyError(f"{tool} is not installed; it comes with the CUDA toolkit")
    return subprocess.run([path, *arguments], capture_output=True, text=True, timeout=_SECONDS)
