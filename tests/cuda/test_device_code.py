"""The LLVM text that becomes PTX computes what NumPy does: it is run on this processor, one thread after the other.

Only the special registers are replaced, by variables that the test sets. Kernels whose threads wait for each other, or
that use instructions of GPUs, cannot be run in this way.
"""
import ctypes
import math
import re

import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.base.launch_bounds import Bounds
from pyjitc.codegen import link, nvptx
from pyjitc.cuda import ptx
from pyjitc.runtime.loader import load
from pyjitc.types.typeof import typeof

from .kernels import CASES

REGISTERS = {name: k for k, name in enumerate(("tid", "ntid", "ctaid", "nctaid"))}
SOLITARY = ["saxpy", "grid_stride", "stencil", "laplace3", "black_scholes", "mandelbrot", "csr_matvec", "life",
            "convolution"]
_C = {"ptr": ctypes.c_void_p, "i64": ctypes.c_int64, "i32": ctypes.c_int32, "i16": ctypes.c_int16, "i8": ctypes.c_int8,
      "double": ctypes.c_double, "float": ctypes.c_float}


def flat(x, t):
    """The parameters that are passed for an argument."""
    if isinstance(x, tuple):
        return [v for part, p in zip(x, t.elements) for v in flat(part, p)]
    if isinstance(x, np.ndarray):
        return [x.ctypes.data, *x.shape, *(x.strides if t.layout == "A" else ())]
    if isinstance(x, (complex, np.complexfloating)):
        return [float(x.real), float(x.imag)]
    return [float(x) if isinstance(x, (float, np.floating)) else int(x)]


def run(kernel, grid, block, args):
    """Run a kernel's device code over a grid."""
    types = tuple(map(typeof, args))
    module, _ = ptx._module(kernel.py_func, types, kernel.options, kernel.bounds)
    text, name, parameters, _ = nvptx.kernel_text(module, nvptx.device_target("sm_80"), kernel.options, Bounds())
    host = link.host_target()
    text = re.sub(r'target triple = .*\ntarget datalayout = .*\n',
                  f'target triple = "{host.triple}"\ntarget datalayout = "{host.layout}"\n', text)
    text = text.replace("ptx_kernel ", "").replace(" convergent", "")
    for register, axis in set(re.findall(r"@llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.(\w)", text)):
        place = 4 * (3 * REGISTERS[register] + "xyz".index(axis))
        text = re.sub(rf"declare .* @llvm\.nvvm\.read\.ptx\.sreg\.{register}\.{axis}\(\)",
                      f"define internal i32 @sreg.{register}.{axis}() {{\n  %p = getelementptr i8, ptr @registers, "
                      f"i64 {place}\n"
                      f"  %v = load volatile i32, ptr %p\n  ret i32 %v\n}}", text)
    text = text.replace("declare void @llvm.nvvm.exit() noreturn",
                        "declare void @abort()").replace("@llvm.nvvm.exit()", "@abort()")
    # a double keeps 20 bits of the fraction, a float all but the last bit
    for kind, letter, bits, keep in (("double", "d", "i64", -(1 << 32)), ("float", "f", "i32", -2)):
        text = re.sub(rf"declare {kind} @llvm\.nvvm\.rcp\.approx\.ftz\.{letter}.*",
                      f"define internal {kind} @rcp_{letter}({kind} %x) alwaysinline {{\n  %y = fdiv {kind} 1.0, %x\n "
                      f" %b = bitcast {kind} %y to {bits}\n"
                      f"  %c = and {bits} %b, {keep}\n  %z = bitcast {bits} %c to {kind}\n  ret {kind} %z\n}}", text)
        text = text.replace(f"@llvm.nvvm.rcp.approx.ftz.{letter}", f"@rcp_{letter}")
    text = text.replace("llvm.nvvm.read.ptx.sreg", "sreg") + "\n@registers = global [12 x i32] zeroinitializer\n"
    assert "llvm.nvvm" not in text, re.search(r"llvm\.nvvm[.\w]*", text).group()
    image = load(link.to_object(text, host))
    function = ctypes.CFUNCTYPE(None, *(_C[p] for p in parameters))(image.address(name))
    registers = (ctypes.c_int32 * 12).from_address(image.address("registers"))

    given = [v for x, t in zip(args, types) for v in flat(x, t)]
    full = [tuple(d) + (1,) * (3 - len(d)) for d in ((s if isinstance(s, tuple) else (s,)) for s in (grid, block))]
    registers[3:6], registers[9:12] = full[1], full[0]
    for bz, by, bx in np.ndindex(full[0][::-1]):
        for tz, ty, tx in np.ndindex(full[1][::-1]):
            registers[0:3], registers[6:9] = (tx, ty, tz), (bx, by, bz)
            function(*given)


@pytest.mark.parametrize("name", SOLITARY)
def test_kernels(name):
    CASES[name].check(lambda kernel, grid, block, shared, args: run(kernel, grid, block, args))


def results(function, *args):
    """The values that a kernel of one thread stores, and those that the function stores in the interpreter."""
    ours, theirs = np.zeros(14, np.complex128), np.zeros(14, np.complex128)
    run(cuda.jit(function), 1, 1, (*args, ours))
    with np.errstate(all="ignore"):
        function(*args, theirs)
    return ours, theirs


ROWS = np.arange(60.0).reshape(5, 12)


@pytest.mark.parametrize("a", [ROWS, np.asfortranarray(ROWS), ROWS[::2, ::-3], ROWS.T, ROWS[1:2], ROWS[:, 3:5].T],
                         ids=str)
def test_arrays_of_all_layouts(a):
    def kernel(a, out):
        out[0] = a[0, 1]
        out[1] = a[-1, -2]
        out[2] = a.shape[0] * 100 + a.shape[1]
        v = a[:, 1]
        out[3] = v[-1]
        w = a.T
        out[4] = w[1, 0]
        out[5] = a[0][1]

    ours, theirs = results(kernel, a)
    np.testing.assert_array_equal(ours, theirs)


def test_scalars_of_all_types():
    def kernel(i, f, b, z, s, t, u, out):
        out[0] = i // 7 + i % 7 + (i >> 1)
        out[1] = f ** 2 + f % 3.0
        out[2] = 1 if b else 2
        out[3] = z * z
        out[4] = s * s + t[0] - t[1][1]
        out[5] = u // np.uint8(3) + u
        out[6] = int(f) + round(f)

    ours, theirs = results(kernel, -45, 7.25, True, 1.5 - 2j, np.int16(-100), (3, (1.5, np.float32(0.1))),
                           np.uint8(250))
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("x", [0.7, -0.3, 1e-9, 3.0, 50.0, 1e15, 1e300])
def test_elementary_functions(x):
    def double(x, out):
        out[0] = np.sin(x)
        out[1] = np.cos(x)
        out[2] = np.exp(-abs(x))
        out[3] = np.log(abs(x))
        out[4] = np.arctan(x)
        out[5] = np.tanh(x)
        out[6] = np.log1p(abs(x))
        out[7] = np.arctan2(x, x * x)
        out[8] = np.power(abs(x), type(x)(0.3))
        out[9] = np.cbrt(x)
        out[10] = np.tan(x)
        out[11] = np.hypot(x, x)
        out[12] = np.nextafter(x, x * x)
        out[13] = abs(x) ** type(x)(0.3)

    def fits(cls, tolerance):
        ours, theirs = results(double, cls(x))
        np.testing.assert_allclose(ours.real, theirs.real, tolerance)

    fits(np.float64, 2e-15)
    if x < 1e30:
        fits(np.float32, 1e-6)


def test_python_functions_of_math():
    def kernel(x, out):
        out[0] = math.sin(x) + math.exp(x)
        out[1] = math.erf(x) + math.erfc(x)
        out[2] = math.fmod(x, 0.7)
        out[3] = x ** 2.5
        out[4] = math.floor(x) + math.ceil(x)

    ours, theirs = results(kernel, 2.6)
    np.testing.assert_allclose(ours.real, theirs.real, 1e-15)
