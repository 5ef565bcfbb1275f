"""float4 and the other vector types: in kernels, in device functions, and on the host."""
import pickle

import numpy as np
import pytest

from pyjitc import cuda, njit
from pyjitc.base.errors import CompileError
from pyjitc.codegen import ptxas
from pyjitc.cuda import ptx
from pyjitc.types.typeof import typeof


@cuda.jit
def turn(out, given, offset):
    i = cuda.grid(1)
    v = cuda.float4(given, i, 2.75)
    for _ in range(3):
        v = cuda.float4(v.y, v.z, v.w, v.x)
    x, y, z, w = v
    whole = cuda.int3(cuda.int2(v.x, -1.9), offset)
    out[i] = x + 10 * y + 100 * z + 1000 * w + whole.x + whole[1] + whole.z + len(v)


@njit
def host_turn(i, a, b, offset):
    v = cuda.float4(a, b, i, 2.75)
    for _ in range(3):
        v = cuda.float4(v.y, v.z, v.w, v.x)
    return v, cuda.int3(cuda.int2(v.x, -1.9), offset)


def test_in_a_kernel():
    out = np.zeros(4, np.float32)
    turn[1, 4](out, cuda.float2(7, 8), 3)
    for i in range(4):
        v, whole = host_turn.py_func(i, 7, 8, 3)
        assert v == (2.75, 7, 8, i) and whole == (2, -1, 3)
        assert out[i] == v.x + 10 * v.y + 100 * v.z + 1000 * v.w + sum(whole) + 4


@pytest.mark.skipif(ptxas.find("ptxas") is None, reason="ptxas is not installed")
def test_on_a_gpu():
    types = tuple(map(typeof, (np.zeros(4, np.float32), cuda.float2(7, 8), 3)))
    ptxas.assemble(ptx.compile_ptx(turn.py_func, types, turn.options, turn.bounds, "sm_90").kernel.ptx, "sm_90")


def test_in_other_compiled_functions():
    found, expected = host_turn(1, 7.0, 8.0, 3), host_turn.py_func(1, 7.0, 8.0, 3)
    assert found == expected and [type(v) for v in found] == [cuda.float4, cuda.int3]
    assert [type(x) for x in found[0]] == [np.float32] * 4 and [type(x) for x in found[1]] == [np.int32] * 3


def test_names():
    assert (cuda.float4 is cuda.float32x4 and cuda.uchar2 is cuda.uint8x2
            and cuda.long3 is cuda.longlong3 is cuda.int64x3)
    v = cuda.double2(1, 2)
    assert repr(v) == f"float64x2(x={np.float64(1)!r}, y={np.float64(2)!r})" and pickle.loads(pickle.dumps(v)) == v


def test_wrong_numbers():
    with pytest.raises(TypeError, match="float32x4 has 4 numbers, got 3"):
        cuda.float4(1, cuda.float2(2, 3))

    def short(out):
        out[0] = cuda.float4(1, 2).x

    with pytest.raises(CompileError, match=r"float32x4 has 4 numbers, got 2[\s\S]*float4\(1, 2\)"):
        cuda.jit(short)[1, 1](np.zeros(1))

    def of_array(out):
        out[0] = cuda.int1(out).x

    with pytest.raises(CompileError, match=r"a part is a float64\[::1\]"):
        cuda.jit(of_array)[1, 1](np.zeros(1))
