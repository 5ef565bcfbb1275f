"""The benchmarks for a GPU run to their end on the replacement for a GPU (stand_in.py)."""
import importlib

from pyjitc.cuda import devices

from .fake_driver import install
from .stand_in import StandIn


def leave():
    devices._chosen.clear()
    devices._local.__dict__.clear()
    devices._launched.clear()


def test_every_row_is_measured(monkeypatch):
    suite = importlib.import_module("bench.gpu")
    monkeypatch.setattr(suite.gpu_device, "SIZE", 1 << 12)
    install(StandIn(monkeypatch))
    try:
        rows = suite.gpu_device.measure(("numba", "jax"), True, "", suite.KERNELS)
    finally:
        leave()
    assert [row.name for row in rows] == [
        "saxpy, share of a copy's bandwidth", "block sums, share of a copy's bandwidth",
        "transpose, share of a copy's bandwidth", "mandelbrot on the device", "stencil, share of a copy's bandwidth",
        "grid-stride loop, share of a copy's bandwidth", "sum of all, share of a copy's bandwidth", "launch"]
    for row in rows:
        assert row.figure is not None and row.figure.median > 0, (row.name, row.note)
        assert row.budget is None or row.name == "launch" or row.at_least


def test_a_row_that_fails_does_not_end_the_suite(monkeypatch):
    suite = importlib.import_module("bench.gpu")
    monkeypatch.setattr(suite.gpu_device, "SIZE", 1 << 12)
    monkeypatch.setattr(suite.gpu_device, "_ours", lambda name, cases: 1 / 0)
    install(StandIn(monkeypatch))
    try:
        (row,) = suite.gpu_device.measure((), True, "saxpy", suite.KERNELS)
    finally:
        leave()
    assert row.figure is None and row.passed is False and "ZeroDivisionError" in row.note
