"""Kernels by the IR interpreter: each thread of a grid, and the block function that passes/grid.py makes of them."""
import pytest
from tests.cuda.kernels import CASES

from pyjitc.api import compiler
from pyjitc.cuda import blockcode
from pyjitc.front import functions
from pyjitc.infer.specialise import specialise
from pyjitc.ir import interp_kernel
from pyjitc.types.kinds import Singleton
from pyjitc.types.typeof import typeof

LARGE = {"tiled_matmul", "mandelbrot"}  # a minute in the interpreter


def three(size):
    return (*(size if isinstance(size, tuple) else (size,)), 1, 1)[:3]


def threads(kernel, args):
    types = tuple(map(typeof, args))
    return specialise(kernel.py_func, types, library=blockcode._library, build=compiler._build,
                      prototype=functions.prototype_of, nested=functions.nested,
                      options=kernel.options)[0], interp_kernel.run_kernel


def blocks(kernel, args):
    return blockcode._module(kernel.py_func, tuple(map(typeof, args)), kernel.options)[0], interp_kernel.run_blocks


@pytest.mark.parametrize("form", [threads, blocks])
@pytest.mark.parametrize("name", [name for name in CASES if name not in LARGE])
def test_kernel(name, form):
    def launch(kernel, grid, block, shared, args):
        module, run = form(kernel, args)
        run(module, [x for x in args if not isinstance(typeof(x), Singleton)], three(grid), three(block), shared)

    CASES[name].check(launch)
