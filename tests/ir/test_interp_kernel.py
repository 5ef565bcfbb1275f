"""Kernels by the IR interpreter: each thread of a grid, and the block function that passes/grid.py makes of them."""
import pytest
from tests.cuda.kernels import CASES

from pyjitc.cuda import blockcode
from pyjitc.ir import interp_kernel
from pyjitc.pipeline import stages
from pyjitc.types.kinds import Singleton
from pyjitc.types.typeof import typeof

LARGE = {"tiled_matmul", "mandelbrot"}  # a minute in the interpreter


def three(size):
    return (*(size if isinstance(size, tuple) else (size,)), 1, 1)[:3]


def threads(kernel, args):
    types = tuple(map(typeof, args))
    return (stages.infer(kernel.py_func, types, kernel.options, blockcode.LIBRARY).functions,
            interp_kernel.run_kernel)


def blocks(kernel, args):
    return blockcode.optimised(kernel.py_func, tuple(map(typeof, args)), kernel.options)[0], interp_kernel.run_blocks


@pytest.mark.parametrize("form", [threads, blocks])
@pytest.mark.parametrize("name", [name for name in CASES if name not in LARGE])
def test_kernel(name, form):
    def launch(kernel, grid, block, shared, args):
        module, run = form(kernel, args)
        run(module, [x for x in args if not isinstance(typeof(x), Singleton)], three(grid), three(block), shared)

    CASES[name].check(launch)
