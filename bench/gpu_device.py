"""Suite `gpu` on a device: times by the device's clock, shares of the bandwidth of a device copy, launches, and other
libraries.

A row that cannot be measured (no such library, too little memory, a kernel that does not compile there) says so in its
note, and the suite goes on.
"""
from __future__ import annotations

import importlib

import numpy as np

from pyjitc import cuda

from .measure import calls, progress, ratio, sample
from .peers import load
from .table import Row

__all__ = ["measure"]

SIZE = 1 << 26  # elements of an array: far more than a cache holds
BANDWIDTH, LAUNCH = 0.9, 4.0  # budgets: share of the bandwidth, microseconds
# bytes read and written per element
TOUCHED = {"saxpy": 12, "block sums": 4, "transpose": 8, "stencil": 8, "grid-stride loop": 8}
BOUND = ("saxpy", "block sums", "sum of all")  # the rows that have the budget


def measure(peers, quick: bool, only: str, kernels: str) -> list[Row]:
    rounds = 5 if quick else 25
    cases = load(kernels, "pyjitc", {"cuda": cuda})["CASES"]
    rows = []
    limit = _copy(rounds)
    for name in [*cases, "sum of all", "launch"]:
        if only and only not in name:
            continue
        progress(f"gpu: {name} on the device")
        try:
            if name == "launch":
                rows.append(_launch(cases, kernels, rounds))
            else:
                rows.append(_row(name, cases, kernels, peers, limit, rounds))
        except Exception as error:  # the other rows can still be measured
            rows.append(Row("gpu", f"{name} on the device", "x", None, budget=0.0,
                            note=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"))
    return rows


def _copy(rounds: int) -> float:
    """The bytes per second that a copy on the device reads and writes."""
    x, y = (cuda.to_device(np.ones(SIZE, np.float32)) for _ in range(2))
    return 8 * SIZE / sample(_seconds(lambda: y.copy_to_device(x), rounds)).median


def _row(name: str, cases, kernels: str, peers, limit: float, rounds: int) -> Row:
    call, same = _ours(name, cases)
    call()
    if not same():
        return Row("gpu", f"{name} on the device", "x", None, budget=0.0, note="wrong result")
    times = _seconds(call, rounds)
    cells, ratios = {"time": f"{sample(times).median * 1e3:.3f} ms"}, {}
    for peer, make in _theirs(name, kernels, peers).items():
        try:
            theirs = _seconds(make(), rounds)
        except Exception as error:  # it is not installed, or it does not find the device
            progress(f"gpu: {peer} is left out of {name}: {error}")
            continue
        ratios[peer] = ratio(theirs, times)
        cells[f"over {peer}"] = f"{ratios[peer].median:.2f}x"
    touched = TOUCHED.get(name, 4 if name == "sum of all" else 0)
    if not touched:
        return Row("gpu", f"{name} on the device", "ms", sample(t * 1e3 for t in times), cells, ratios=ratios)
    cells |= {"GB/s": f"{touched * SIZE / sample(times).median / 1e9:,.0f}", "copy, GB/s": f"{limit / 1e9:,.0f}"}
    share = sample(touched * SIZE / t / limit for t in times)
    return Row("gpu", f"{name}, share of a copy's bandwidth", "x", share, cells, BANDWIDTH if name in BOUND else None,
               at_least=True, ratios=ratios)


def _ours(name: str, cases):
    """(a call, whether its result is right)."""
    if name == "sum of all":
        x, total = cuda.to_device(np.ones(SIZE, np.float32)), cuda.reduce(lambda a, b: a + b)
        found = []
        return lambda: found.append(total(x)), lambda: float(found[-1]) == SIZE
    kernel, loop, launch, prepare = cases[name]
    small = 1 << 12
    grid, block = launch(small)
    expected, actual = prepare(small), prepare(small)
    loop(*expected)
    kernel[grid, block](*actual)
    right = all(np.allclose(x, y) for x, y in zip(expected, actual))
    grid, block = launch(SIZE)
    arguments = [cuda.to_device(x) if isinstance(x, np.ndarray) else x for x in prepare(SIZE)]
    bound = kernel[grid, block]
    return lambda: bound(*arguments), lambda: right


def _theirs(name: str, kernels: str, peers) -> dict:
    """{library: a function that prepares the same work in that library and returns the call to time}."""

    def numba_cuda():
        theirs = importlib.import_module("numba.cuda")
        kernel, _, launch, prepare = load(kernels, "cpython", {"cuda": theirs})["CASES"][name]
        grid, block = launch(SIZE)
        arguments = [theirs.to_device(x) if isinstance(x, np.ndarray) else x for x in prepare(SIZE)]
        bound = kernel[grid, block]
        return lambda: bound(*arguments)

    def cupy():
        theirs = importlib.import_module("cupy")
        x, y = (theirs.asarray(np.ones(SIZE, np.float32)) for _ in range(2))
        if name == "sum of all":
            return lambda: x.sum()
        if name == "transpose":
            a = x.reshape(int(SIZE ** 0.5), -1)
            return lambda: theirs.ascontiguousarray(a.T)
        saxpy = theirs.ElementwiseKernel("float32 a, float32 x", "float32 y", "y = a * x + y", "saxpy")
        return lambda: saxpy(np.float32(2), x, y)

    def jax():
        theirs = importlib.import_module("jax")
        x, y = (theirs.device_put(np.ones(SIZE, np.float32), theirs.devices("gpu")[0]) for _ in range(2))
        if name == "sum of all":
            total = theirs.jit(lambda x: x.sum())
            return lambda: total(x).block_until_ready()
        saxpy = theirs.jit(lambda a, x, y: a * x + y)
        return lambda: saxpy(np.float32(2), x, y).block_until_ready()

    found = {"numba-cuda": numba_cuda} if name != "sum of all" else {}
    if name in ("saxpy", "sum of all", "transpose"):
        found["cupy"] = cupy
    if name in ("saxpy", "sum of all") and "jax" in peers:
        found["jax"] = jax
    return found


def _launch(cases, kernels: str, rounds: int) -> Row:
    """The row for the launch of a small kernel, without waiting for its end."""
    names = {"a": np.float32(2), "x": cuda.to_device(np.ones(32, np.float32)), "launch": cases["saxpy"][0][1, 32]}
    names["launch"](names["a"], names["x"], names["x"])
    times = calls({"launch": ("launch(a, x, x)", names)}, rounds, window=400)["launch"]
    cuda.synchronize()
    cells, ratios = {}, {}
    try:
        theirs = importlib.import_module("numba.cuda")
        other = {"a": np.float32(2), "x": theirs.to_device(np.ones(32, np.float32)),
                 "launch": load(kernels, "cpython", {"cuda": theirs})["CASES"]["saxpy"][0][1, 32]}
        other["launch"](other["a"], other["x"], other["x"])
        slow = calls({"launch": ("launch(a, x, x)", other)}, rounds, window=400)["launch"]
        theirs.synchronize()
        ratios["numba-cuda"] = ratio(slow, times)
        cells["over numba-cuda"] = f"{ratios['numba-cuda'].median:.2f}x"
    except Exception as error:
        progress(f"gpu: numba-cuda is left out of launches: {error}")
    return Row("gpu", "launch", "us", sample(t / 1e3 for t in times), cells, LAUNCH, ratios=ratios)


def _seconds(call, rounds: int) -> list[float]:
    """The seconds of one call in each round, by the device's clock."""
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
