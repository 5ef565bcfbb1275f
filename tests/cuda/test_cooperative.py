"""Barriers of the whole grid: cuda.cg.this_grid().sync()."""
import os
import signal
import threading

import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.base.errors import CompileError
from pyjitc.codegen import ptxas
from pyjitc.cuda import devices, ptx
from pyjitc.types.kinds import Array, Int, float64

from .fake_driver import install
from .stand_in import StandIn


@cuda.jit
def steps(x, y, n):
    """Jacobi steps: each step reads values that threads of other blocks have written."""
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for k in range(n):
        if 0 < i < x.size - 1:
            y[i] = (x[i - 1] + x[i + 1]) / 2
        grid.sync()
        if 0 < i < x.size - 1:
            x[i] = y[i]
        grid.sync()


def expected_steps(x, n):
    x = x.copy()
    for _ in range(n):
        x[1:-1] = (x[:-2] + x[2:]) / 2
    return x


@pytest.mark.parametrize("blocks", [1, 2, 7, 32])
def test_blocks_wait_for_each_other(blocks):
    x = np.random.default_rng(0).random(blocks * 16)
    given = x.copy()
    steps[blocks, 16](given, np.zeros_like(x), 20)
    np.testing.assert_array_equal(given, expected_steps(x, 20))


@cuda.jit
def total(x, parts, out):
    s = cuda.shared.array(64, np.float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i]
    cuda.syncthreads()
    if t == 0:
        for k in range(1, 64):
            s[0] += s[k]
        parts[cuda.blockIdx.x] = s[0]
    cuda.cg.this_grid().sync()
    if i < parts.size:
        before = 0.0
        for k in range(i):
            before += parts[k]
        out[i] = before


def test_with_barriers_of_the_block_and_shared_memory():
    x = np.arange(256.0)
    parts, out = np.zeros(4), np.zeros(4)
    total[4, 64](x, parts, out)
    np.testing.assert_array_equal(parts, x.reshape(4, 64).sum(axis=1))
    np.testing.assert_array_equal(out, [0, *np.cumsum(parts)[:-1]])
    checked = cuda.jit(debug=True)(total.py_func)
    out[:] = 0
    checked[4, 64](x, parts, out)
    np.testing.assert_array_equal(out, [0, *np.cumsum(parts)[:-1]])


@cuda.jit
def some_wait(x, n):
    if cuda.blockIdx.x < n:
        cuda.cg.this_grid().sync()
    x[cuda.grid(1)] = 1


def test_blocks_that_never_come():
    some_wait[4, 8](np.zeros(32), 4)
    some_wait[4, 8](np.zeros(32), 0)
    with pytest.raises(RuntimeError,
                       match=r"barrier of the grid: some blocks have ended[\s\S]*some_wait\(\) at .*:81, block"):
        some_wait[4, 8](np.zeros(32), 3)


@cuda.jit
def fails(x, n):
    if cuda.grid(1) == n:
        raise ValueError("no")
    cuda.cg.this_grid().sync()
    x[cuda.grid(1)] = 1


def test_a_block_that_fails():
    x = np.zeros(32)
    with pytest.raises(ValueError, match="no") as info:
        fails[4, 8](x, 17)
    assert info.value.block == (2, 0, 0) and info.value.thread == (1, 0, 0) and not x.any()


@pytest.mark.skipif(not hasattr(signal, "raise_signal") or os.name == "nt", reason="signals")
def test_interrupt_while_blocks_wait():
    @cuda.jit
    def forever(x):
        grid = cuda.cg.this_grid()
        while x[0] == 0:
            grid.sync()

    forever.compile("void(float64[::1])")
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        forever[4, 8](np.zeros(1))


def test_limits():
    steps[1, 1](np.zeros(1), np.zeros(1), 1)
    code = steps.overloads[(Array(float64, 1, "C"), Array(float64, 1, "C"), Int)]
    most = code.max_cooperative_grid_blocks(16)
    with pytest.raises(ValueError, match=f"{most + 1} blocks wait for each other .* at most {most} run at once"):
        steps[most + 1, 1](np.zeros(most + 1), np.zeros(most + 1), 1)


def test_only_in_kernels():
    with pytest.raises(RuntimeError, match=r"cuda.cg.this_grid\(\) is only for kernels"):
        cuda.cg.this_grid()

    def wrong():
        cuda.cg.this_grid().sync(1)

    with pytest.raises(CompileError, match=r"cuda.grid_group.sync\(\) takes 0 positional arguments but 1 was given"):
        cuda.jit(wrong)[1, 1]()


@pytest.mark.skipif(ptxas.find("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
def test_code_for_a_gpu(arch):
    types = Array(float64, 1, "C"), Array(float64, 1, "C"), Int
    kernel = ptx.compile_ptx(steps.py_func, types, steps.options, steps.bounds, arch).kernel
    assert kernel.cooperative and "pyjitc_arrived" in kernel.ptx
    # in the one launch function that all calls share
    assert kernel.ptx.count("bar.sync") + kernel.ptx.count("barrier.sync") == 2
    ptxas.assemble(kernel.ptx, arch)


def test_launches_on_a_gpu(monkeypatch):
    """The fake driver has four multiprocessors, each of which runs two blocks at once."""
    library = StandIn(monkeypatch)
    install(library)
    try:
        kernel = cuda.jit(steps.py_func)
        x = np.random.default_rng(0).random(64)
        there, other = cuda.to_device(x), cuda.to_device(x)
        stream = cuda.stream()
        for s in (stream, cuda.stream(), stream):
            kernel[4, 16, s](there, other, 5)
        assert library.cooperative == 3
        np.testing.assert_array_equal(there.copy_to_host(), expected_steps(x, 15))
        assert kernel.overloads[kernel.signatures[0]].max_cooperative_grid_blocks(16) == 8
        with pytest.raises(ValueError, match="9 blocks wait for each other .* at most 8 run at once"):
            kernel[9, 16](there, other, 5)
    finally:
        devices._chosen.clear()
        devices._local.__dict__.clear()
        devices._launched.clear()
