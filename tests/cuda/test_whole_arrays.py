"""Operations of one thread on whole arrays and on records: against the interpreter, thread by thread, and as PTX."""
import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.base.errors import CompileError
from pyjitc.codegen import ptxas
from pyjitc.cuda import ptx
from pyjitc.types.typeof import typeof

from .simulate import simulate

RECORD = np.dtype([("x", np.float32), ("n", np.int32), ("v", np.float64, (3,)), ("on", np.bool_)], align=True)


def arguments():
    return np.arange(1, 9, dtype=np.float64) / 4, np.zeros((8, 8))


# ---------------------------------------------------------------- kernels


def reductions(x, out):
    i = cuda.grid(1)
    a = cuda.local.array(7, np.float64)
    for k in range(7):
        a[k] = x[i] * (k - 2)
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a.sum(), a.min(), np.max(a), a.mean()
    out[i, 4], out[i, 5], out[i, 6], out[i, 7] = np.argmax(a), np.prod(a), a[::2].sum(), np.any(a > 1)


def long_sums(x, out):
    i = cuda.grid(1)
    a = cuda.local.array(120, np.float64)
    for k in range(120):
        a[k] = x[i] / (k + 1)
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a.sum(), a[:9].sum(), a[3:3 + i].sum(), a.reshape(4, 30)[1].sum()
    out[i, 4], out[i, 5] = a.min(), a.astype(np.float32).sum()


def expressions(x, out):
    i = cuda.grid(1)
    a = cuda.local.array(4, np.float64)
    b = cuda.local.array((2, 2), np.float64)
    a[:] = x[i]
    a *= a
    a[1:3] += 1
    b[...] = a.reshape(2, 2) * 2 - 1
    b[0] = b[1] + a[:2]
    out[i, :4] = np.sqrt(a) + b.ravel()
    out[i, 4:6] = np.where(b[0] > 2, b[0], -b[0])
    out[i, 6], out[i, 7] = np.sum(a * b.reshape(4)), a @ a


def temporaries(x, out):
    i = cuda.grid(1)
    z = np.zeros((2, 3))
    z[0, i % 3] += x[i]
    z[1] = z[0] * 2
    total = 0.0
    for k in range(3):
        fresh = np.zeros(3)
        fresh[k] += x[i]
        twice = fresh * 2 + k
        total += twice.sum() + fresh[0]
    out[i, :3] = z[1]
    out[i, 3], out[i, 4] = total, np.cumsum(z[1])[2]
    pair = np.array([x[i], total])
    out[i, 5:7] = pair[::-1]


def rows(x, out):
    i = cuda.grid(1)
    out[i] = x * x[i]
    out[i] += out[i] * 2
    out[i, 7] = np.dot(out[i], x)


def products(x, out):
    i = cuda.grid(1)
    m = cuda.local.array((3, 3), np.float64)
    for j in range(3):
        for k in range(3):
            m[j, k] = x[i] + j * k
    out[i, :3] = m @ x[:3]
    out[i, 3:6] = x[:3] @ m.T
    out[i, 6] = np.dot(m[0], m[:, 1])


KERNELS = [reductions, long_sums, expressions, temporaries, rows, products]


@pytest.mark.parametrize("kernel", KERNELS)
def test_as_the_interpreter(kernel):
    (x, expected), (_, found) = arguments(), arguments()
    simulate(kernel, 2, 4, (x, expected))
    cuda.jit(kernel)[2, 4](x, found)
    assert np.allclose(found, expected, rtol=1e-15 if kernel in (reductions, expressions, temporaries) else 1e-12,
                       atol=0, equal_nan=True)
    assert np.count_nonzero(found) > 16


@pytest.mark.skipif(ptxas.find("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("kernel", KERNELS)
def test_assembler_takes_it(kernel):
    made = cuda.jit(kernel)
    for debug in (False, True):
        code = ptx.compile_ptx(kernel, tuple(map(typeof, arguments())), made.options._replace(debug=debug), made.bounds,
                               "sm_80").kernel
        ptxas.assemble(code.ptx, code.arch)


def test_small_arrays_are_registers():
    def kernel(x, out):
        i = cuda.grid(1)
        a = cuda.local.array(4, np.float64)
        a[:] = x[i]
        out[i] = (a * 2 + 1).sum()

    made = cuda.jit(kernel)
    code = ptx.compile_ptx(kernel, (typeof(np.ones(3)),) * 2, made.options, made.bounds, "sm_80").kernel
    assert "local" not in code.ptx


def test_an_overlap_is_an_error():
    def shift(x):
        x[1:] = x[:-1] * 2

    def same(x):
        x[:] = x[:] * 2

    x = np.ones(8)
    with pytest.raises(RuntimeError,
                       match="overlaps what is read, and a kernel has no memory for a copy; write a loop"):
        cuda.jit(shift)[1, 1](x)
    cuda.jit(same)[1, 1](x)
    assert x.tolist() == [2] * 8


def carried(x, out):
    now = x[:4] * 2
    for _ in range(3):
        before = now
        now = before + 1
        before[0] = 0
    out[0, 0] = now[0]


def of_any_size(x, out):
    out[0, 0] = (x[:cuda.grid(1) + 2] * 2).cumsum()[1]


@pytest.mark.parametrize("kernel", [carried, of_any_size])
def test_other_arrays_are_refused(kernel):
    with pytest.raises(CompileError, match="cannot allocate arrays") as info:
        cuda.jit(kernel)[1, 1](*arguments())
    assert ("cuda.local.array" in info.value.diagnostic.hint
            and info.value.diagnostic.line == kernel.__code__.co_firstlineno + 1)


# ---------------------------------------------------------------- records


def fields(r, out):
    i = cuda.grid(1)
    own = r[i]
    out[i, 0] = own["x"] + r["n"][i] + r[i]["v"][1] + own["v"].sum()
    r[i]["x"] = i * 1.5
    r["n"][i] += 7
    r[i]["v"][2] = -1
    own["on"] = not own["on"]


def in_shared(r, out):
    t = cuda.threadIdx.x
    s = cuda.shared.array(8, RECORD)
    s[t]["x"], s[t]["n"] = r[t]["x"], t
    cuda.syncthreads()
    out[t, 0] = s[7 - t]["x"] + s[t]["n"]


@pytest.mark.parametrize("kernel", [fields, in_shared])
def test_records(kernel):
    def made():
        r = np.zeros(8, RECORD)
        r["x"], r["n"] = np.arange(8), np.arange(8) ** 2
        r["v"], r["on"] = np.arange(24).reshape(8, 3), np.arange(8) % 3 == 0
        return r, np.zeros((8, 8))

    expected, found = made(), made()
    simulate(kernel, 1, 8, expected)
    cuda.jit(kernel)[1, 8](*found)
    assert ([x[name].tolist() for x in expected[:1] for name in RECORD.names]
            == [x[name].tolist() for x in found[:1] for name in RECORD.names])
    assert expected[1].tolist() == found[1].tolist()
    packed = found[0].astype(np.dtype([(name, RECORD[name]) for name in RECORD.names]))  # unaligned
    cuda.jit(fields)[1, 8](packed, found[1])
    assert packed["n"].tolist() == (found[0]["n"] + 7).tolist()
    if ptxas.find("ptxas"):
        one = cuda.jit(kernel)
        for r in (found[0], packed):
            code = ptx.compile_ptx(kernel, (typeof(r), typeof(found[1])), one.options, one.bounds, "sm_80").kernel
            ptxas.assemble(code.ptx, code.arch)


def test_a_field_is_an_index():
    def kernel(r):
        r[0].x = 1

    with pytest.raises(CompileError) as info:
        cuda.jit(kernel)[1, 1](np.zeros(1, RECORD))
    assert "r['x']" in info.value.diagnostic.hint
