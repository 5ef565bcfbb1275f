"""`a[mask] = f(b[mask])`: one loop without gathered copies; and statements that must not be changed."""
import numpy as np
import pytest
from tests.ir.stages import optimised
from tests.oracle import agree

from pyjitc import njit
from pyjitc.ops.control import INVOKE



def square(z, c, m):
    z[m] = z[m] ** 2 + c[m]


def scaled(z, c, m):
    z[m] = 2 * z[m]


def copied(z, c, m):
    z[m] = c[m]


def of_others(z, c, m):
    z[m] = np.where(c[m] > 0, c[m], 3) - 1


def own(z, c, m):
    z[z > 0] = z[z > 0] * 3 + c[z > 0]


def twice(z, c, m):
    z[m] += c[m]
    z[m] *= 2


def in_a_loop(z, c, m):
    for _ in range(3):
        inside = np.less(abs(z), 2)
        z[inside] = z[inside] * z[inside] + c[inside]


@pytest.mark.parametrize("function", [square, scaled, copied, of_others, own, twice, in_a_loop])
def test_masked_updates(function):
    random = np.random.default_rng(1)
    for dtype in ("float64", "complex128", "int32"):
        if dtype == "complex128" and function in (own, of_others) or dtype == "int32" and function in (square, copied):
            continue
        compiled = {1: njit(function), 2: njit(function)}
        for shape in ((0,), (1,), (63,), (64,), (65,), (200,), (0, 3), (3, 0), (5, 5), (13, 70), (2, 128)):
            for share in (0, 0.3, 1):
                z, c = (random.integers(-3, 4, shape).astype(dtype) for _ in range(2))
                if dtype == "complex128":
                    z, c = z / 4 + c * 0.25j, c / 4 - z * 0.125j
                agree(function, z, c, random.random(shape) < share, compiled=compiled[len(shape)])
        if shape == (2, 128):
            z, c, m = (np.asfortranarray(x) for x in (z, c, random.random(shape) < 0.5))
            agree(function, z, c, m, compiled=compiled[2])
            agree(function, z[:, ::-3], c[:, 1::3], m[:, ::3][:, :43], compiled=compiled[2])


def test_calls_are_gone():
    """Structure: no elements are gathered, and no mask is computed twice."""
    z, m = np.ones((5, 5)), np.ones((5, 5), bool)
    for function in (square, scaled, copied, own, in_a_loop):
        fn = optimised(function, (z, z.copy(), m)).functions[0]
        names = [inst.attrs["callee"].qualname for block in fn.blocks for inst in block.insts if inst.op is INVOKE]
        assert "masked" not in names, function


def written_between(z, c, m):
    t = c[m]
    c[0] = 100
    z[m] = t + 1


def mask_written_between(z, c, m):
    t = c[m] + z[m]
    m[0] = not m[0]
    m[1] = not m[1]
    z[m] = t


def gathered_written(z, c, m):
    t = c[m]
    t[0] = 7
    z[m] = t * 2


def gathered_written_as_view(z, c, m):
    t = c[m]
    u = t[::2]
    z[m] = t * 2
    u[0] = 1
    z[m] = t


def other_mask(z, c, m):
    z[m] = c[~m] + 1


def used_again(z, c, m):
    t = c[m]
    z[m] = t * 2
    return t, len(c[m])


def number_of_them(z, c, m):
    t = z[m]
    z[m] = t * len(t)


def read_only_once(z, c, m):
    a = z > 1
    t = z[a]
    a[0] = True
    b = z > 1
    z[b] = t + 1
    return a, b


@pytest.mark.parametrize("function", [written_between, mask_written_between, gathered_written, gathered_written_as_view,
                                      other_mask, used_again, number_of_them, read_only_once])
def test_what_is_written_between(function):
    m = np.array([True, False, False, True, True, False])
    compiled = agree(function, np.arange(6.0), np.arange(6.0) * 10, m)
    agree(function, np.arange(6.0), np.arange(6.0) * 10, ~m, compiled=compiled)


def test_memory_that_is_shared():
    a = np.arange(40.0)
    m = np.arange(20) % 3 > 0
    for function in (square, copied, of_others):
        compiled = njit(function)
        for z, c in ((slice(0, 20), slice(1, 21)), (slice(5, 25), slice(0, 20)), (slice(0, 20), slice(0, 20)),
                     (slice(19, None, -1), slice(0, 20))):
            x, y = a.copy(), a.copy()
            function(x[z], x[c], m)
            compiled(y[z], y[c], m)
            np.testing.assert_array_equal(x, y)
    def bits(m, n):
        m[m] = n[m]
    b = np.arange(300) % 7 > 2
    compiled = njit(bits)
    for start in (0, 1, 3, 64):
        for other in (0, 2, 100):
            x, y = b.copy(), b.copy()
            bits(x[start:start + 150], x[other:other + 150])
            compiled(y[start:start + 150], y[other:other + 150])
            np.testing.assert_array_equal(x, y)


def test_what_raises():
    def wrong(z, c, m):
        z[m] = z[m] + c[m[:3]]

    z = np.arange(6.0)
    agree(square, z, z[:4], z > 2)
    agree(square, z[:4], z, z > 2)
    agree(wrong, z, z[:3], z > 2)
    fixed = np.arange(6.0)
    fixed.flags.writeable = False
    agree(square, fixed, z, z > 2)


def test_other_types():
    def to(z, c, m):
        z[m] = c[m] * 2

    for t, u in (("float32", "float64"), ("int8", "int64"), ("float64", "int32"), ("complex64", "float64"),
                 ("float64", "bool"), ("bool", "float64")):
        agree(to, np.ones(70, t), (np.arange(70) % 2).astype(u), np.arange(70) % 3 > 0)
