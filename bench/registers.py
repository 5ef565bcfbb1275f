"""Suite `registers`: the number of registers of kernels, compared with the same kernels in C compiled by nvcc, for one
architecture of each generation.

The kernels are those of the tests (tests/cuda/kernels.py and c/), so the suite exists only in a source tree; it needs
nvcc and ptxas. Neither compiler contracts products and sums. The figure is the largest ratio of a row; its cells show
pyjitc's number / nvcc's.
"""
from __future__ import annotations

import importlib
import os
import pathlib
import subprocess
import tempfile

import numpy as np

from pyjitc.codegen import ptxas
from pyjitc.types.typeof import typeof

from .measure import progress, sample
from .table import Row

__all__ = ["PEERS", "measure"]

PEERS = ()
ARCHS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
KERNELS = ("saxpy", "transpose", "block_sums", "tiled_matmul", "n_body", "black_scholes")
C = pathlib.Path(__file__).resolve().parents[1] / "tests" / "cuda" / "c"


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    missing = next((tool for tool in ("nvcc", "ptxas") if ptxas.find(tool) is None), None)
    if missing or not C.is_dir():
        print(f"registers    is left out: "
              f"{f'{missing} is not installed' if missing else 'it needs the tests of the source tree'}")
        return []
    rows = []
    for name in KERNELS:
        if only not in name:
            continue
        progress(f"registers: {name}")
        counts = {arch: (_ours(name, arch), _theirs(name, arch)) for arch in (ARCHS[:1] if quick else ARCHS)}
        cells = {arch: f"{ours.registers} / {theirs.registers}" for arch, (ours, theirs) in counts.items()}
        spilled = [arch for arch, (ours, _) in counts.items() if ours.spill_stores or ours.spill_loads]
        rows.append(Row("registers", name, "x",
                        sample([max(ours.registers / theirs.registers for ours, theirs in counts.values())]), cells,
                        note=f"spills for {', '.join(spilled)}" if spilled else "no spills"))
    progress("")
    return rows


def _ours(name: str, arch: str):
    case = importlib.import_module("tests.cuda.kernels").CASES[name]
    arguments, _ = case.make(np.random.default_rng(7))
    return case.kernel.report(tuple(map(typeof, arguments)), arch)


def _theirs(name: str, arch: str):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([ptxas.find("nvcc"), "-cubin", f"-arch={arch}", "-fmad=false", "-Xptxas", "-v", "-o",
                               os.path.join(folder, "k.cubin"), str(C / f"{name}.cu")], capture_output=True, text=True,
                              timeout=300)
    return ptxas.report(done.stdout + done.stderr, name)
