"""Every kernel of kernels.py as PTX that NVIDIA's assembler takes, for all architectures that are supported."""
import numpy as np
import pytest

from pyjitc.codegen import ptxas
from pyjitc.cuda import ptx
from pyjitc.types.typeof import typeof

from .kernels import CASES

ARCHS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
needs_ptxas = pytest.mark.skipif(ptxas.find("ptxas") is None, reason="ptxas is not installed")


def types_of(args):
    return tuple(map(typeof, args))


def compiled(case, arch, debug=False):
    kernel = case.kernel
    args, _ = case.make(np.random.default_rng(7))
    return ptx.compile_ptx(kernel.py_func, types_of(args), kernel.options._replace(debug=debug), kernel.bounds, arch).kernel


@needs_ptxas
@pytest.mark.parametrize("name", CASES)
def test_assembler_takes_it(name):
    for arch in ARCHS:
        kernel = compiled(CASES[name], arch)
        assert f".target {arch}" in kernel.ptx and f".entry {name}(" in kernel.ptx
        report = ptxas.assemble(kernel.ptx, arch, kernel.name)[1]
        assert 0 < report.registers <= 255 and report.spill_stores == report.spill_loads == 0
        assert report.shared >= kernel.shared
