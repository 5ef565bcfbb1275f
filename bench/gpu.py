"""Suite `gpu`: kernels on the CPU grid, and where there is a device, on it.

On the CPU grid: against the same work as a plain compiled loop, and against Numba's simulator of CUDA, which runs a small
grid in a process of its own and is compared by the time for an element. The cost of binding a launch is measured on native
functions that stand for the driver. On a GPU: the share of the bandwidth of a device copy, a launch, and numba-cuda, CuPy
and JAX where they are installed.
"""
from __future__ import annotations

import importlib
import os

import numpy as np

from pyjitc import cuda
from pyjitc.cuda import devices
from pyjitc.runtime.hostdevice import HostDevice

from .measure import calls, child, progress, ratio, runs, sample
from .peers import load
from .table import Row

__all__ = ["PEERS", "measure"]

PEERS = ("numba", "jax")
KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu_kernels.py")
SIZE, SIMULATED = 1 << 20, 1 << 10
BANDWIDTH, LAUNCH, BINDING = 0.9, 4.0, 1.0  # budgets: share, microseconds, microseconds
_DEVICE_SIZE = 1 << 26

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
    rows = [] if reason else _on_device(peers, quick, only)
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
        return child(SIMULATOR.format(path=KERNELS, name=name, n=SIMULATED), environment={"NUMBA_ENABLE_CUDASIM": "1"}, timeout=120)
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
    times = calls({"bound": ("launch(a, x, y)", names), "indexed": ("kernel[1, 32](a, x, y)", names)}, 10 if quick else 60)
    return Row("gpu", name, "us", sample(t / 1e3 for t in times["bound"]), {"with kernel[grid, block]": sample(t / 1e3 for t in times["indexed"])},
               budget=BINDING)


# ---------------------------------------------------------------- a device


def _on_device(peers, quick: bool, only: str) -> list[Row]:
    rounds = 5 if quick else 25
    cases = load(KERNELS, "pyjitc", {"cuda": cuda})["CASES"]
    x, y = (cuda.to_device(np.ones(_DEVICE_SIZE, np.float32)) for _ in range(2))
    copied = _seconds(lambda: y.copy_to_device(x), rounds)
    limit = 8 * _DEVICE_SIZE / sample(copied).median
    rows = []
    for name, size in (("saxpy", 12), ("block sums", 4)):
        if only and only not in name:
            continue
        kernel, _, launch, _ = cases[name]
        grid, block = launch(_DEVICE_SIZE)
        out = cuda.device_array(grid, np.float32)
        args = (np.float32(2), x, y) if name == "saxpy" else (x, out)
        times = _seconds(lambda: kernel[grid, block](*args), rounds)
        cells = {"GB/s": f"{size * _DEVICE_SIZE / sample(times).median / 1e9:,.0f}", "copy, GB/s": f"{limit / 1e9:,.0f}"}
        ratios = {}
        if name == "saxpy":
            for peer, call in _peers(peers).items():
                theirs = _seconds(call, rounds)
                ratios[peer] = ratio(theirs, times)
                cells[f"over {peer}"] = f"{ratios[peer].median:.2f}x"
        share = sample(size * _DEVICE_SIZE / t / limit for t in times)
        rows.append(Row("gpu", f"{name}, share of a copy's bandwidth", "x", share, cells, BANDWIDTH, at_least=True, ratios=ratios))
    if not only or "launch" in only:
        small = cuda.to_device(np.ones(32, np.float32))
        launch = cases["saxpy"][0][1, 32]
        launch(np.float32(2), small, small)
        times = calls({"launch": ("launch(a, x, x)", {"launch": launch, "a": np.float32(2), "x": small})}, rounds, window=400)["launch"]
        cuda.synchronize()
        rows.append(Row("gpu", "launch", "us", sample(t / 1e3 for t in times), budget=LAUNCH))
    return rows


def _seconds(call, rounds: int) -> list[float]:
    """Of one call on the device, by its own clock."""
    call()
    cuda.synchronize()
    found = []
    for _ in range(rounds):
        start, end = cuda.event(), cuda.event()
        start.record()
        call()
        end.record()
        end.synchronize()
        found.append(start.elapsed_time(end) / 1e3)
    return found


def _peers(peers) -> dict:
    """saxpy of other libraries, where they are installed and see the device: {name: call}."""
    found = {}
    host = np.ones(_DEVICE_SIZE, np.float32)
    try:
        theirs = importlib.import_module("numba.cuda")
        kernel = load(KERNELS, "cpython", {"cuda": theirs})["CASES"]["saxpy"][0][-(-_DEVICE_SIZE // 256), 256]
        a, b = theirs.to_device(host), theirs.to_device(host)
        kernel(np.float32(2), a, b)
        found["numba-cuda"] = lambda: kernel(np.float32(2), a, b)
    except Exception as error:
        progress(f"gpu: numba-cuda is left out: {error}")
    try:
        cupy = importlib.import_module("cupy")
        saxpy = cupy.ElementwiseKernel("float32 a, float32 x", "float32 y", "y = a * x + y", "saxpy")
        c, d = cupy.asarray(host), cupy.asarray(host)
        saxpy(np.float32(2), c, d)
        found["cupy"] = lambda: saxpy(np.float32(2), c, d)
    except Exception as error:
        progress(f"gpu: CuPy is left out: {error}")
    if "jax" in peers:
        try:
            jax = importlib.import_module("jax")
            e, f = (jax.device_put(host, jax.devices("gpu")[0]) for _ in range(2))
            compiled = jax.jit(lambda a, x, y: a * x + y)
            compiled(np.float32(2), e, f).block_until_ready()
            found["jax"] = lambda: compiled(np.float32(2), e, f).block_until_ready()
        except Exception as error:
            progress(f"gpu: JAX is left out: {error}")
    return found


def _ms(times) -> str:
    return f"{sample(times).median * 1e3:.3f} ms"
