"""print() in kernels: on the CPU grid as the interpreter prints, thread by thread; as PTX by the device's vprintf."""
import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.base.errors import CompileError
from pyjitc.codegen import ptxas
from pyjitc.cuda import ptx
from pyjitc.types.typeof import typeof

from .simulate import simulate


def numbers(x, u, f, h, b):
    i = cuda.grid(1)
    print("thread", i, "has", x[i], u, f * np.float32(i), h, b, x[i] > 1)
    print(np.int8(-3), i - 5, 10 ** 15 * i, None, True)


def shapes(x):
    i = cuda.grid(1)
    print()
    print("100 %d %s %%", i, sep="|", end=".\n")
    print((i, x[i], x[i] > 0.5), (1,), ("text", 2, None), sep="")
    print("", i, end="")
    print("\n", end="")


def texts(x, f):
    i = cuda.grid(1)
    print(f"thread {i} has {x[i]} of {x.size}%", i, f"{x[i] > 1} {i + 1!s}")
    print(f"{x[i]:.3f} {f:.0f}|{f * np.float32(i):.5g}|{x[i] * 1e9:.2e}|{np.float16(f):.4f}", f"{i}")
    print(f"{i - 5:4d}|{np.uint8(250):6}|{10 ** 15:d}|{i:1}|{x[i]:9.3f}|{x[i]:12e}|{f:f}|{-f:10g}|")


ARGUMENTS = {numbers: (np.array([1.5, 2, np.inf, 0.1, -0.0, np.nan, 1e100, 1e-7]), np.uint64(2 ** 64 - 1),
                       np.float32(0.1), np.float16(0.1), True),
             texts: (np.array([1.5, 2, 0.1, np.inf, np.nan, -0.0, 12345.678, 1e-7]), np.float32(1 / 3)),
             shapes: (np.arange(8) / 8,)}


@pytest.mark.parametrize("kernel", ARGUMENTS)
def test_as_the_interpreter(kernel, capsys):
    for thread in range(8):  # in their order
        simulate(kernel, 1, 1, (np.roll(ARGUMENTS[kernel][0], -thread), *ARGUMENTS[kernel][1:]))
        expected = capsys.readouterr().out
        cuda.jit(kernel)[1, 1](np.roll(ARGUMENTS[kernel][0], -thread), *ARGUMENTS[kernel][1:])
        assert capsys.readouterr().out == expected


def test_all_threads_print(capsys):
    def kernel(limit):
        i = cuda.grid(1)
        if i < limit:
            print("thread", i)
        cuda.syncthreads()
        if i == 0:
            print("end")

    cuda.jit(kernel)[1, 64](40)
    assert capsys.readouterr().out.split("\n") == [*(f"thread {k}" for k in range(40)), "end", ""]

    cuda.jit(kernel)[100, 128](10_000)
    assert sorted(capsys.readouterr().out.split("\n")) == sorted([*(f"thread {k}" for k in range(10_000)), "end", ""])


@pytest.mark.skipif(ptxas.find("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("kernel", ARGUMENTS)
def test_as_ptx(kernel):
    made = cuda.jit(kernel)
    for debug in (False, True):
        code = ptx.compile_ptx(kernel, tuple(map(typeof, ARGUMENTS[kernel])), made.options._replace(debug=debug),
                               made.bounds, "sm_80").kernel
        ptxas.assemble(code.ptx, code.arch)
        assert "vprintf" in code.ptx


def test_what_cannot_be_printed():
    def text(x):
        print(f"it is {x[0]:>10}")

    def array(x):
        print(x)

    def file(x):
        print("now", flush=True)

    def separator(x):
        print(1, 2, sep=f"{x[0]}")

    for kernel, message in ((text, "print this str, which is made as the kernel runs"),
                            (array, "does not print a float64"), (file, "has no flush="),
                            (separator, "no sep= that is not a constant")):
        with pytest.raises(CompileError, match=message) as info:
            cuda.jit(kernel)[1, 1](np.ones(1))
        assert info.value.diagnostic.hint and info.value.diagnostic.line == kernel.__code__.co_firstlineno + 1
