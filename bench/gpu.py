"""Suite `gpu`: kernels on the CPU grid, and on a GPU where there is one.

On the CPU grid they are compared with a plain compiled loop that does the same work, and with Numba's simulator of
CUDA, which runs a small grid in a process of its own and is compared by its time per element. The cost of a launch is
measured with native functions in place of the driver's. The measurements on a GPU are in gpu_device.py.
"""
from __future__ import annotations

import importlib
import os

import numpy as np

from pyjitc import cuda
from pyjitc.cuda import devices
from pyjitc.runtime.hostdevice import HostDevice

from . import gpu_device
from .measure import calls, child, progress, ratio, runs, sample
from .peers import load
from .table import Row

__all__ = ["PEERS", "measure"]

PEERS = ("numba", "jax")
KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu_kernels.py")
SIZE, SIMULATED = 1 << 20, 1 << 10
BINDING = 1.0  # budget in microseconds

SIMULATOR = """\
import time
from numba import cuda, njit
names = {{"cuda": cuda, "njit": njit, "__name__": "kernels"}}
exec(compile(open({path!r}).read(), {path!r}, "exec"), names)
kernel, _, launch, prepare = names["CASES"][{name!r}]
arguments = prepare({n})
grid, block = launch({n})
times = []
for _ in range(2):
    start = time.perf_counter()
    kernel[grid, block](*arguments)
    times.append(time.perf_counter() - start)
answer(min(times))
"""


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    reason = cuda.why_not()
    found = list(cuda.list_devices())
    rows = [] if reason else gpu_device.measure(peers, quick, only, KERNELS)
    devices.use([HostDevice()], "the suite measures the CPU grid")
    try:
        rows += _on_grid(peers, quick, only)
        if "binding" in only or not only:
            rows.append(_binding(quick))
    finally:
        devices.use(found, reason)
    progress("")
    if reason:
        print(f"gpu          nothing is measured on a GPU: {reason}")
    return rows


# ---------------------------------------------------------------- the CPU grid


def _on_grid(peers, quick: bool, only: str) -> list[Row]:
    rows = []
    for name, (kernel, loop, launch, prepare) in load(KERNELS, "pyjitc", {"cuda": cuda})["CASES"].items():
        if only and only not in name:
            continue
        progress(f"gpu: {name}")
        grid, block = launch(SIZE)
        expected, actual = prepare(SIZE), prepare(SIZE)
        loop(*expected)
        kernel[grid, block](*actual)
        if not all(np.allclose(x, y) for x, y in zip(expected, actual)):
            rows.append(Row("gpu", f"{name}, CPU grid", "x", None, budget=0.0, note="wrong result"))
            continue
        times = runs({"grid": kernel[grid, block], "loop": loop}, lambda: prepare(SIZE), 5 if quick else 25)
        figure = ratio(times["loop"], times["grid"])
        cells = {"time": _ms(times["grid"]), "plain loop": _ms(times["loop"])}
        ratios = {}
        if "numba" in peers:
            slow = _simulated(name)
            if slow is not None:
                own = sample(times["grid"]).median / SIZE
                ratios["numba"] = sample([slow / SIMULATED / own])
                cells["Numba's simulator"] = f"{slow / SIMULATED * SIZE:,.0f} s"
                cells["over it"] = f"{ratios['numba'].median:,.0f}x"
        rows.append(Row("gpu", f"{name}, CPU grid over plain loop", "x", figure, cells, ratios=ratios))
    return rows


def _simulated(name: str) -> float | None:
    """Seconds of a small grid in Numba's simulator; None where it does not run."""
    try:
        return child(SIMULATOR.format(path=KERNELS, name=name, n=SIMULATED), environment={"NUMBA_ENABLE_CUDASIM": "1"},
                     timeout=120)
    except Exception:
        return None


def _binding(quick: bool) -> Row:
    name = "launch, binding cost of three arguments"
    try:
        fake = importlib.import_module("tests.cuda.fake_driver")
    except ImportError:
        return Row("gpu", name, "us", None, note="the tests, whose stand-in for the driver is used, are not here")
    library = fake.FakeLibrary()
    fake.make_native(library)
    fake.install(library)
    kernel = load(KERNELS, "pyjitc", {"cuda": cuda})["CASES"]["saxpy"][0]
    x, y = cuda.to_device(np.ones(10, np.float32)), cuda.to_device(np.ones(10, np.float32))
    launch = kernel[1, 32]
    launch(np.float32(2), x, y)
    names = {"launch": launch, "kernel": kernel, "a": np.float32(2), "x": x, "y": y}
    times = calls({"bound": ("launch(a, x, y)", names), "indexed": ("kernel[1, 32](a, x, y)", names)}, 10 if quick
                  else 60)
    return Row("gpu", name, "us", sample(t / 1e3 for t in times["bound"]),
               {"with kernel[grid, block]": sample(t / 1e3 for t in times["indexed"])}, budget=BINDING)


def _ms(times) -> str:
    return f"{sample(times).median * 1e3:.3f} ms"
