"""Every kernel of kernels.py as PTX that NVIDIA's assembler takes, for all architectures that are supported."""
import pathlib
import re
import subprocess

import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.base.errors import CompileError, UnsupportedError
from pyjitc.codegen import ptxas
from pyjitc.cuda import ptx
from pyjitc.types.kinds import Array, Bool, Int, Tuple, float32, float64
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


# ---------------------------------------------------------------- beside nvcc

C = pathlib.Path(__file__).parent / "c"
needs_nvcc = pytest.mark.skipif(ptxas.find("nvcc") is None or ptxas.find("ptxas") is None, reason="nvcc is not installed")


@needs_nvcc
@pytest.mark.parametrize("name", ["saxpy", "transpose", "block_sums", "tiled_matmul", "n_body"])
def test_as_few_registers_as_the_same_kernel_in_c(name, tmp_path):
    """Without contraction to fma on both sides: that is what NumPy computes."""
    arch = "sm_80"
    done = subprocess.run([ptxas.find("nvcc"), "-cubin", f"-arch={arch}", "-fmad=false", "-Xptxas", "-v", "-o", tmp_path / "k.cubin", C / f"{name}.cu"],
                          capture_output=True, text=True, timeout=120)
    theirs = ptxas.report(done.stdout + done.stderr, name)
    ours = ptxas.assemble(compiled(CASES[name], arch).ptx, arch)[1]
    assert ours.registers <= 1.1 * theirs.registers
    assert ours.spill_stores + ours.spill_loads <= 1.1 * (theirs.spill_stores + theirs.spill_loads)
    assert ours.shared == theirs.shared


# ---------------------------------------------------------------- what the text says


def ptx_of(function, *types, arch="sm_80", **options):
    kernel = cuda.jit(**options)(function)
    return ptx.compile_ptx(function, types, kernel.options, kernel.bounds, arch).kernel


V32, V64 = Array(float32, 1), Array(float64, 1)


def twice_sine(x, y):
    i = cuda.grid(1)
    y[i] = np.sin(x[i]) * 2


def test_single_precision_stays_single():
    text = ptx_of(twice_sine, V32, V32).ptx
    assert "mul.rn.f32" in text and "fma.rn.f32" in text
    fast = ptx_of(twice_sine, V32, V32, fastmath=True).ptx
    assert "sin.approx" in fast and "f64" not in fast


def test_arithmetic_is_not_contracted_unless_asked():
    def f(x, y):
        y[0] = x[0] * x[1] + x[2]

    assert "fma" not in ptx_of(f, V32, V32).ptx
    assert "fma" in ptx_of(f, V32, V32, fastmath=True).ptx


@needs_nvcc
def test_libdevice_is_linked_where_it_is_asked_for():
    own, theirs = ptx_of(twice_sine, V64, V64), ptx_of(twice_sine, V64, V64, libdevice=True)
    assert own.ptx != theirs.ptx and "__nv_sin" not in theirs.ptx.replace("__internal", "")
    ptxas.assemble(theirs.ptx, "sm_80")


def test_bounds_of_launches():
    text = ptx_of(twice_sine, V32, V32, launch_bounds=(256, 2), max_registers=40).ptx
    assert ".maxntid 256" in text and ".minnctapersm 2" in text and ".maxnreg 40" in text


def test_parameters_are_flat():
    def f(a, b, c, t, flag):
        a[0] = b[0, 0] + c[0, 0] + t[0] + t[1][0] + flag

    a, b, c = Array(float32, 1), Array(float64, 2, "F"), Array(float64, 2, "A")
    kernel = ptx_of(f, a, b, c, Tuple((Int, a)), Bool)
    assert kernel.parameters == ("ptr", "i64", "ptr", "i64", "i64", "ptr", "i64", "i64", "i64", "i64", "i64", "ptr", "i64", "i8")
    assert kernel.ptx.count(".param .") >= len(kernel.parameters)


TABLE = np.arange(4, dtype=np.int32)


def test_global_arrays_are_constants():
    def f(x):
        x[cuda.grid(1)] = TABLE[cuda.grid(1) % 4]

    assert re.search(r"\.const \.align \d+ \.b8 \w+\[16\]", ptx_of(f, V32).ptx)

    def writes(x):
        TABLE[0] = 1

    with pytest.raises(UnsupportedError, match="pass the array as an argument"):
        ptx_of(writes, V32)


def test_a_function_may_have_any_name():
    source = "def größe_1(x):\n    x[0] = 1.0\n"
    names = {}
    exec(source, names)
    kernel = ptx_of(names["größe_1"], V32)
    assert f".entry {kernel.name}(" in kernel.ptx


# ---------------------------------------------------------------- what a GPU cannot do


def allocates(x, n):
    a = np.zeros(n)
    x[0] = a[0]


def prints(x, n):
    print(n)


def makes_lists(x, n):
    a = [n, n + 1]
    a.append(n)
    x[0] = a[0]


def catches(x, n):
    try:
        x[n] = 1
    except IndexError:
        x[0] = 1


def raises_text(x, n):
    raise ValueError(str(n) + "!")


def descend(n):
    return 1 if n < 2 else n * descend(n - 1)


def recurses(x, n):
    x[0] = descend(n)


def multiplies(x, n):
    x[0] = np.linalg.det(x.reshape(2, 2))


@pytest.mark.parametrize("function, hint", [
    (allocates, "cuda.shared.array or cuda.local.array"), (prints, "numbers, arrays and tuples"), (makes_lists, ""), (catches, "instead of try"),
    (raises_text, "fixed text"), (recurses, "local array as the stack"), (multiplies, "")])
def test_what_a_gpu_cannot_do_is_told_with_the_line(function, hint):
    with pytest.raises(CompileError) as info:
        ptx_of(function, V64, Int)
    diagnostic = info.value.diagnostic
    assert "a GPU" in diagnostic.message or "list" in diagnostic.message
    assert hint in diagnostic.hint
    first = function.__code__.co_firstlineno
    assert first <= diagnostic.line <= first + 6 or function is recurses
    assert diagnostic.filename == __file__ and len(str(info.value).splitlines()) <= 8


def test_there_are_targets_with_names():
    with pytest.raises(ValueError, match="there is no target 'sm_70'"):
        ptx_of(twice_sine, V32, V32, arch="sm_70")


def test_a_kernel_is_shown_in_all_forms():
    kernel = cuda.jit(twice_sine)
    signature = "void(float32[::1], float32[::1])"
    assert ".entry twice_sine" in kernel.inspect_ptx(signature, "sm_90") and "ptx_kernel" in kernel.inspect_llvm(signature)
    assert kernel.inspect_ptx() == {}
    if ptxas.find("ptxas"):
        assert kernel.report(signature, "sm_90").registers > 0
        if ptxas.find("nvdisasm") or ptxas.find("cuobjdump"):
            assert "EXIT" in kernel.inspect_sass(signature, "sm_90")
        else:
            with pytest.raises(ptxas.AssemblyError, match="come with the CUDA toolkit"):
                kernel.inspect_sass(signature, "sm_90")
