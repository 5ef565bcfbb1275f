"""Names of Numba's CUDA target: programs that use them run."""
import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.cuda import devices

from .fake_driver import install
from .stand_in import StandIn


@pytest.fixture(params=["grid", "stand-in"])
def place(request, monkeypatch):
    if request.param == "stand-in":
        install(StandIn(monkeypatch))
    yield request.param
    devices._chosen.clear()
    devices._local.__dict__.clear()
    devices._launched.clear()


def move(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]
        x[i] = -1


def test_arguments_with_a_direction(place):
    kernel = cuda.jit(move)
    x, y = np.arange(8.0), np.zeros(8)
    kernel[1, 32](cuda.In(x), cuda.Out(y))
    assert x.tolist() == y.tolist() == list(range(8))
    kernel[1, 32](cuda.InOut(x), y)
    assert x.tolist() == [-1] * 8


def test_figures_of_the_code(place):
    kernel = cuda.jit(move)
    kernel[1, 32](np.zeros(8), np.zeros(8))
    asked = [kernel.get_regs_per_thread, kernel.get_shared_mem_per_block, kernel.get_local_mem_per_thread, kernel.get_const_mem_size,
             kernel.get_max_threads_per_block]
    if place == "grid":
        for ask in asked:
            with pytest.raises(RuntimeError, match=r"move\.report\(signature\) asks ptxas"):
                ask()
        return
    (types,) = kernel.signatures
    assert [ask() for ask in asked] == [{types: n} for n in (32, 0, 0, 0, 1024)]
    assert kernel.get_regs_per_thread("void(float64[::1], float64[::1])") == 32


def test_ptx_and_the_profiler(place):
    text, result = cuda.compile_ptx(move, "void(float32[::1], float32[::1])", cc=(9, 0))
    assert ".target sm_90" in text and ".entry move" in text and result is None
    assert cuda.compile_ptx(cuda.jit(move), ("float32[::1]", "float32[::1]"))[0].count(".entry") == 1
    with cuda.profiling(), cuda.defer_cleanup():
        cuda.jit(move)[1, 32](np.zeros(8), np.zeros(8))
