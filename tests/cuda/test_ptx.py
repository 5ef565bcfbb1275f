"""Every kernel of kernels.py as PTX that NVIDIA's assembler accepts, for all supported architectures."""
import math
import pathlib
import re
import subprocess

import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.base.errors import CompileError, UnsupportedError
from pyjitc.codegen import ptxas
from pyjitc.cuda import devices, ptx, random
from pyjitc.types.kinds import (
    NUMPY_SCALARS, Array, Bool, Float, Int, Tuple, complex64, complex128, float16, float32, float64, int16, uint32,
)
from pyjitc.types.typeof import typeof

from .fake_driver import FakeLibrary, install
from .kernels import CASES

ARCHS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
needs_ptxas = pytest.mark.skipif(ptxas.find("ptxas") is None, reason="ptxas is not installed")


def types_of(args):
    return tuple(map(typeof, args))


def compiled(case, arch, debug=False):
    kernel = case.kernel
    args, _ = case.make(np.random.default_rng(7))
    return ptx.compile_ptx(kernel.py_func, types_of(args), kernel.options._replace(debug=debug), kernel.bounds,
                           arch).kernel


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
needs_nvcc = pytest.mark.skipif(ptxas.find("nvcc") is None or ptxas.find("ptxas") is None,
                                reason="nvcc is not installed")


@needs_nvcc
@pytest.mark.parametrize("arch", ARCHS)
def test_as_few_registers_as_the_same_kernels_in_c(arch, tmp_path):
    """Neither compiler contracts to fma, as NumPy does not."""
    sources = sorted(C.glob("*.cu"))
    whole = tmp_path / "all.cu"
    whole.write_text("\n".join(path.read_text() for path in sources))
    done = subprocess.run([ptxas.find("nvcc"), "-cubin", f"-arch={arch}", "-fmad=false", "-Xptxas", "-v", "-o",
                           tmp_path / "k.cubin", whole],
                          capture_output=True, text=True, timeout=120)
    assert len(sources) >= 5
    for name in [path.stem for path in sources]:
        theirs = ptxas.report(done.stdout + done.stderr, name)
        ours = ptxas.assemble(compiled(CASES[name], arch).ptx, arch)[1]
        assert ours.registers <= 1.1 * theirs.registers, name
        assert ours.spill_stores + ours.spill_loads <= 1.1 * (theirs.spill_stores + theirs.spill_loads), name
        assert ours.shared == theirs.shared, name


# ---------------------------------------------------------------- the text of the code


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


@pytest.mark.parametrize("function", [np.exp2, np.log1p, np.arcsinh], ids=lambda f: f.__name__)
def test_fastmath_does_not_change_the_code_of_elementary_functions(function):
    """Their terms recover rounding errors, which a compiler that reassociates sums would drop."""
    def f(x, y):
        y[0] = function(x[0])

    assert ptx_of(f, V64, V64, fastmath=True).ptx.split(".entry")[1] == ptx_of(f, V64, V64).ptx.split(".entry")[1]


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
    assert kernel.parameters == ("ptr", "i64", "ptr", "i64", "i64", "ptr", "i64", "i64", "i64", "i64", "i64", "ptr",
                                 "i64", "i8")
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


# ---------------------------------------------------------------- operations that a GPU cannot do


def allocates(x, n):
    a = np.zeros(n)
    x[0] = a[0]


def prints(x, n):
    x[0] = len(str(n))


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


def finishes(x, n):
    n += 1
    try:
        x[n] = 1
    finally:
        x[0] = 2


def draws(x, n):
    x[0] = np.random.rand()


def multiplies(x, n):
    x[0] = np.linalg.det(x.reshape(2, 2))


@pytest.mark.parametrize("function, hint", [
    (allocates, "cuda.shared.array or cuda.local.array"), (prints, "numbers, arrays and tuples"), (makes_lists, ""),
    (catches, "instead of try"), (raises_text, "fixed text"), (recurses, "local array as the stack"), (multiplies, ""),
    (finishes, "instead of try"), (draws, "cuda.random")])
def test_what_a_gpu_cannot_do_is_told_with_the_line(function, hint):
    with pytest.raises(CompileError) as info:
        ptx_of(function, V64, Int)
    diagnostic = info.value.diagnostic
    assert "a GPU" in diagnostic.message or "list" in diagnostic.message
    assert hint in diagnostic.hint
    first = function.__code__.co_firstlineno
    assert first <= diagnostic.line <= first + 6 or function is recurses
    within = {allocates: 1, prints: 1, raises_text: 1, multiplies: 1, draws: 1, catches: 2, finishes: 3}.get(function)
    assert within is None or diagnostic.line == first + within
    assert diagnostic.filename == __file__ and len(str(info.value).splitlines()) <= 8


def test_there_are_targets_with_names():
    with pytest.raises(ValueError, match="there is no target 'sm_70'"):
        ptx_of(twice_sine, V32, V32, arch="sm_70")


def test_a_kernel_is_shown_in_all_forms():
    kernel = cuda.jit(twice_sine)
    signature = "void(float32[::1], float32[::1])"
    assert (".entry twice_sine" in kernel.inspect_ptx(signature, "sm_90")
            and "ptx_kernel" in kernel.inspect_llvm(signature))
    assert kernel.inspect_ptx() == {}
    if ptxas.find("ptxas"):
        assert kernel.report(signature, "sm_90").registers > 0
        if ptxas.find("nvdisasm") or ptxas.find("cuobjdump"):
            assert "EXIT" in kernel.inspect_sass(signature, "sm_90")
        else:
            with pytest.raises(ptxas.AssemblyError, match="come with the CUDA toolkit"):
                kernel.inspect_sass(signature, "sm_90")


# ---------------------------------------------------------------- every operation, the language

CALLS = ("int(f) | np.uint8(d) | np.int64(f) | round(f) | math.floor(d) | d % 3.0 | d // 2.0 | f % f | i % n | i // n "
         "| i ** 2 | i ** n | d ** 2 | d ** d | "
         "f ** f | divmod(d, 2.0)[1] | min(i, n) | max(d, 1.0) | abs(z) | i << 2 | i >> n | ~i | u // u | s * s | z * "
         "z | z / z | c / c | abs(c) | "
         "h + h | h / h | math.sin(d) | math.exp(d) | math.log(d) | math.sqrt(d) | math.pow(d, d) | math.atan2(d, d) "
         "| math.fmod(d, d) | "
         "math.isnan(d) | math.erf(d) | math.gamma(d) | math.gcd(i, n) | math.ldexp(d, i) | math.frexp(d)[0] | "
         "math.asinh(d) | math.remainder(d, d) | "
         "math.nextafter(d, d) | math.isqrt(i) | np.sin(h) | np.tanh(f) | np.log1p(f) | np.arctan2(f, f) | "
         "np.power(f, f) | np.maximum(f, f) | "
         "np.logaddexp(d, d) | np.heaviside(f, f) | np.spacing(f) | np.clip(f, 0, 1) | np.exp(z) | np.log(c) | "
         "np.sqrt(z) | i / n | float(i) / n | "
         "a[-1] | a[1:][0] | a[::2][i] | b[i, n] | b.T[0, 1] | b[:, 0][i] | sum((i, n)) | i in (1, 2, 3) | 0 < i < n "
         "| sum(x for x in range(i)) | "
         "cuda.popc(i) | cuda.clz(u) | cuda.ffs(u) | cuda.brev(u) | cuda.fma(f, f, f) | cuda.rsqrt(f) | cuda.rsqrt(d) "
         "| cuda.cbrt(f) | cuda.selp(i > 0, f, f) | "
         "cuda.laneid | cuda.lanemask_lt() | cuda.activemask() | cuda.warpsize | cuda.gridsize(1) | cuda.blockDim.y | "
         "cuda.fp16.hfma(h, h, h) | "
         "cuda.fp16.hsqrt(h) | cuda.shfl_sync(m, d, 3) | cuda.shfl_up_sync(m, z, 1) | cuda.shfl_down_sync(m, h, 1) | "
         "cuda.shfl_xor_sync(m, s, 1, 16) | "
         "cuda.all_sync(m, f > 0) | cuda.any_sync(m, f > 0) | cuda.eq_sync(m, f > 0) | cuda.ballot_sync(m, f > 0) | "
         "cuda.match_any_sync(m, d) | "
         "cuda.match_all_sync(m, f)[0] | cuda.match_any_sync(m, z) | cuda.reduce_add_sync(m, f) | "
         "cuda.reduce_max_sync(m, u) | cuda.reduce_min_sync(i, d) | "
         "cuda.reduce_xor_sync(m, u) | cuda.reduce_add_sync(i, n) | cuda.syncthreads_count(f > 0) | "
         "cuda.syncthreads_and(f > 0) | "
         "cuda.syncthreads_or(f > 0)").split(" | ")
GIVEN = {"i": Int, "n": Int, "d": Float, "f": float32, "u": uint32, "s": int16, "z": complex128, "c": complex64,
         "h": float16, "a": V32, "b": Array(float64, 2), "out": Array(complex128, 1)}


def together(source, types):
    names = {"np": np, "math": math, "cuda": cuda, "m": 0xFFFFFFFF}
    exec(source, names)
    return ptx_of(names["k"], *types), ptx_of(names["k"], *types, arch="sm_75", debug=True)


@needs_ptxas
@pytest.mark.parametrize("first", range(0, len(CALLS), 10))
def test_operations(first):
    lines = "".join(f"    out[{k}] = {call}\n" for k, call in enumerate(CALLS[first:first + 10]))
    for kernel in together(f"def k({', '.join(GIVEN)}):\n{lines}", GIVEN.values()):
        ptxas.assemble(kernel.ptx, kernel.arch)


ATOMICS = [("add", np.floating, np.integer, np.complexfloating, np.bool_), ("sub", np.floating, np.integer),
           ("min", np.floating, np.integer), ("max", np.floating, np.integer), ("nanmin", np.floating),
           ("nanmax", np.floating), ("and_", np.integer), ("or_", np.integer, np.bool_), ("xor", np.integer),
           ("inc", np.integer), ("dec", np.integer), ("exch", np.floating, np.integer, np.bool_)]


@needs_ptxas
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                                   "float32", "float64", "bool_", "complex64", "complex128"])
def test_atomics_of_all_types(dtype):
    cls = np.dtype(dtype.rstrip("_")).type
    names = [name for name, *kinds in ATOMICS if issubclass(cls, tuple(kinds))]
    lines = "".join(f"    x[{k}] = cuda.atomic.{name}(x, i, v)\n    cuda.atomic.{name}(s, i, v)\n"
                    for k, name in enumerate(names))
    if not issubclass(cls, np.complexfloating):
        lines += "    x[1] = cuda.atomic.cas(x, i, v, v)\n"
    source = f"def k(x, v):\n    i = cuda.grid(1)\n    s = cuda.shared.array(8, np.{dtype})\n    s[0] = v\n{lines}"
    t = NUMPY_SCALARS[dtype]
    for kernel in together(source, (Array(t, 1), t)):
        ptxas.assemble(kernel.ptx, kernel.arch)
        assert "atom." in kernel.ptx


@needs_ptxas
def test_memories_and_fences():
    source = """def k(x, n):
    d = cuda.shared.array(0, np.float64)
    s = cuda.shared.array((4, 4), np.int8)
    l = cuda.local.array((3, 5), np.complex64)
    t = cuda.threadIdx.x
    for j in range(3):
        l[j, t % 5] = x[j] * 1j
    s[t % 4, t // 4] = t
    d[t] = d.size
    cuda.syncwarp()
    cuda.threadfence()
    cuda.threadfence_block()
    cuda.threadfence_system()
    cuda.nanosleep(5)
    cuda.syncthreads()
    x[t] = d[d.size - 1] + s[n, 0] + l[n, t].real
"""
    for kernel in together(source, (V64, Int)):
        report = ptxas.assemble(kernel.ptx, kernel.arch)[1]
        assert (report.stack >= 120 and report.shared >= 16 and "membar.sys" in kernel.ptx
                and "%dynamic_smem_size" in kernel.ptx)


def test_tools_are_looked_for_in_all_places(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ptxas, "_toolkits", lambda: [str(tmp_path / "toolkit")])
    monkeypatch.setattr(ptxas, "_from_packages", lambda function, name: f"{function} {name}")
    assert ptxas.find("ptxas") == "find_nvidia_binary_utility ptxas"
    (tmp_path / "toolkit" / "bin").mkdir(parents=True)
    tool = tmp_path / "toolkit" / "bin" / "ptxas"
    tool.write_text("#!/bin/sh\necho ptxas says no >&2\nexit 1\n")
    tool.chmod(0o755)
    assert ptxas.find("ptxas") == str(tool)
    with pytest.raises(ptxas.AssemblyError, match="refuses the code for sm_80:\nptxas says no"):
        ptxas.assemble("", "sm_80")
    monkeypatch.setattr(ptxas, "_from_packages", lambda function, name: None)
    with pytest.raises(ptxas.AssemblyError, match="libdevice is not installed"):
        ptxas.libdevice()
    with pytest.raises(ptxas.AssemblyError, match="nvdisasm and cuobjdump are not installed"):
        ptxas.disassemble(b"")
    tool.unlink()
    with pytest.raises(ptxas.AssemblyError, match="ptxas is not installed"):
        ptxas.assemble("", "sm_80")


@needs_ptxas
def test_random_numbers_and_kernels_of_scalar_functions():
    def draws(states, x, out):
        i = cuda.grid(1)
        out[i] = random.xoroshiro128p_uniform_float32(states, i) + random.xoroshiro128p_normal_float64(states, i)
        x[i] = random.philox_uniform_float32(1, i, 0) + random.philox_normal_float32(1, i, 0)

    kernel = ptx_of(draws, Array(NUMPY_SCALARS["uint64"], 2), V32, V64)
    ptxas.assemble(kernel.ptx, kernel.arch)
    library = FakeLibrary()
    install(library)
    try:
        x = cuda.to_device(np.ones(1000, np.float32))
        each, total = cuda.elementwise(lambda a, b: a * a + b), cuda.reduce(lambda a, b: a + b)
        each(x, np.float32(2))
        total(x)
        texts = [text for text, _ in library.modules.values()]
        assert len(texts) >= 2
        for text in texts:
            ptxas.assemble(text, "sm_90")
            assert "f64" not in text
    finally:
        devices._chosen.clear()
        devices._local.__dict__.clear()
        devices._launched.clear()


def test_tables_are_in_constant_memory_once():
    squares = tuple(float(n * n) for n in range(64))

    @cuda.jit
    def count(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = (x[i] in squares) + (y[i] in squares)

    a = np.ones(3)
    count[1, 32](a, a, a)
    text = count.inspect_ptx(count.signatures[0])
    tables = re.findall(r"\.const .* (pyjitc_constant_\d+)\[512\]", text)
    assert len(tables) == 1 and not re.findall(r"\.global .* pyjitc_constant", text)
