"""Loops over contiguous elements that are written in vectors (codegen/wide.py): their results are those of the loops
themselves, for all lengths, types, strides and overlaps."""
import numpy as np
import pytest

import pyjitc
from pyjitc.codegen import link, wide

RNG = np.random.default_rng(7)
LENGTHS = (0, 1, 7, 8, 15, 16, 17, 33, 100)
DTYPES = "bhilHILfd"


def filled(n, dtype, low=1, high=50):
    return RNG.integers(low, high, n).astype(dtype)


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


EXPRESSIONS = [
    lambda a, b: a * b + a, lambda a, b: a > b, lambda a, b: np.where(a > b, a, 2 * b), lambda a, b: np.maximum(a, b),
    lambda a, b: np.abs(a) - b, lambda a, b: a / b, lambda a, b: np.sqrt(a) * b, lambda a, b: a.astype(np.float64) - b,
    lambda a, b: (a > b) & (a != 3), lambda a, b: np.floor(a) + 3, lambda a, b: -a, lambda a, b: np.clip(a, b, 9),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", range(len(EXPRESSIONS)))
def test_expressions(number, dtype):
    f = EXPRESSIONS[number]
    g = pyjitc.njit(f)
    for n in LENGTHS:
        a, b = filled(n, dtype), filled(n, dtype)
        if dtype in "fd" and n > 20:
            a[3], a[9], b[4], a[5] = np.nan, np.inf, -np.inf, -0.0
        same(g(a, b), f(a, b))
    same(g(a, b[:1]), f(a, b[:1]))
    same(g(a[::2], b[::-2]), f(a[::2], b[::-2]))
    rows, others = np.resize(a, (5, 20)), np.resize(b, (5, 20))
    for x, y in ((rows, others), (rows, others[0]), (rows, others[:, :1]), (rows[:, 1:19], others[:, :18]),
                 (rows[:, ::2], others[:, ::2]), (rows.T, others.T)):
        same(np.ascontiguousarray(g(x, y)), np.ascontiguousarray(f(x, y)))


def shifted(a, k, n):
    a[k:k + n] = a[:n] * 2 + 1


def shifted_back(a, k, n):
    a[:n] = a[k:k + n] * 2 + 1


def added(a, k, n):
    a[k:k + n] += a[:n]
    a[:n] -= 3


@pytest.mark.parametrize("f", [shifted, shifted_back, added])
@pytest.mark.parametrize("dtype", "ild")
def test_assignments_that_overlap(f, dtype):
    g = pyjitc.njit(f)
    for n in (0, 5, 16, 100):
        for k in (0, 1, 7, 8, 15, 16, 17):
            a = filled(200, dtype)
            b = a.copy()
            f(a, k, n)
            g(b, k, n)
            same(b, a)


def scaled(a, b, n):
    for i in range(n):
        a[i] = b[i] * 2 + 1


def pairs(a, b, n):
    for i in range(n):
        a[i] = b[i] + b[i + 1]


def numbered(a, b, n):
    for i in range(n):
        a[i] = i * 3 + b[i]


def running(a, b, n):
    for i in range(3, n):
        a[i] = a[i - 1] + b[i]


@pytest.mark.parametrize("f", [scaled, pairs, numbered, running])
@pytest.mark.parametrize("dtype", "ifd")
def test_loops_over_arrays_that_overlap(f, dtype):
    g = pyjitc.njit(f)
    for n in (0, 16, 100):
        for k in (0, 1, 7, 8, 15, 16, 17, 33):
            for first in (50 - k, 50 + k):
                a = filled(200, dtype, high=4)
                b = a.copy()
                f(a[50:], a[first:], n)
                g(b[50:], b[first:], n)
                same(b, a)


def test_ufuncs():
    f = pyjitc.vectorize(lambda x, y: x * 0.5 + y)
    g = np.frompyfunc(lambda x, y: x * 0.5 + y, 2, 1)
    for n in LENGTHS[1:]:
        a, b = RNG.random(n), RNG.random(n)
        for x, y in ((a, b), (a[::-1], b), (a, b[0])):
            same(f(x, y), g(x, y).astype(float))
        out = np.zeros(2 * n)
        f(a, b, out=out[::2])
        same(out[::2].copy(), g(a, b).astype(float))
        c = a.copy()
        f(c, b, out=c)
        same(c, g(a, b).astype(float))
    f = pyjitc.vectorize(["f8(f8,f8)"])(lambda x, y: x * 0.5 + y)
    same(f.accumulate(a), g.accumulate(a.astype(object)).astype(float))  # the result is the first operand of the next


@pytest.mark.parametrize("f", [
    lambda a, b: a * b + 2.0, lambda a, b: np.where(a > b, a, b), scaled])
def test_a_few_passes_are_enough(f):
    """LLVM's vectoriser has not run."""
    g = pyjitc.njit(f)
    a = np.ones(100)
    g(a, a.copy(), *([100] * (f is scaled)))
    (text,) = g.inspect_llvm().values()
    assert ".wide:" in text and "vector.body" not in text


def lines(*body):
    return [*[f"  {line}" for line in body], "  %i.n = add nsw i64 %i, 1", "  %n.n = sub nuw nsw i64 %n, 1",
            "  br label %head"]


def copy_of(*body, independent=True):
    return "\n".join(wide.copied(
        "head", [("i64", "%i"), ("i64", "%n")], [("before", ["0", "%count"]), ("body", ["%i.n", "%n.n"])],
        ["  %more = icmp ne i64 %n, 0", "  br i1 %more, label %body, label %end"], "body", lines(*body), 32, 2,
        independent))


LOAD = ("%p = getelementptr inbounds double, ptr %a, i64 %i", "%x = load double, ptr %p, align 8")
STORE = ("%q = getelementptr inbounds double, ptr %b, i64 %i", "store double %x, ptr %q, align 8")


def test_copies():
    assert "store <4 x double>" in copy_of(*LOAD, *STORE)
    assert "icmp uge i64 %head.t0, 63" in copy_of(*LOAD, *STORE, independent=False)  # two vectors of four
    strided = copy_of("%j = mul i64 %i, %step", LOAD[0].replace("%i", "%j"), LOAD[1], *STORE)
    assert "icmp eq i64 %step, 1" in strided


@pytest.mark.parametrize("body", [
    LOAD + STORE[:1],  # nothing is stored
    LOAD + ("call void @other()",) + STORE,
    LOAD + ("%p2 = getelementptr inbounds double, ptr %a, i64 %n", "%y = load double, ptr %p2, align 8") + STORE,
    ("%j = mul i64 %i, 2", LOAD[0].replace("%i", "%j"), LOAD[1]) + STORE,  # these are not neighbours
    LOAD + ("%k = fptosi double %x to i64", "%q = getelementptr inbounds double, ptr %b, i64 %k",
            "store double %x, ptr %q, align 8"),
    LOAD + ("%z = sdiv i64 %i, %d",) + STORE,
    ("%p = getelementptr inbounds i8, ptr %a, i64 %i", "%x = load i8, ptr %p, align 1",
     "%q = getelementptr inbounds i8, ptr %b, i64 %i", "store i8 %x, ptr %q, align 1"),
], ids=["no store", "call", "counter", "every second", "scatter", "division", "bytes"])
def test_what_is_left_to_llvm(body):
    assert copy_of(*body) == ""


def test_registers():
    base = link.Target("x86_64-unknown-linux-gnu", "generic", "", "")
    assert base.register == 16
    assert base._replace(features="+avx,+avx2").register == 32
    assert base._replace(features="+avx,+avx512f").register == 64
    assert base._replace(cpu="x86-64-v3").register == 32


@pytest.mark.parametrize("n", LENGTHS)
def test_generalised_ufuncs(n):
    @pyjitc.guvectorize("(n),()->(n)")
    def f(a, y, out):
        for i in range(a.shape[0]):
            out[i] = a[i] * 2.0 + y

    a, y = RNG.random((5, n)), RNG.random(5)
    for x in (a, a.T.copy().T, a[:, ::-1], a[::-1]):
        same(f(x, y), x * 2.0 + y[:, None])
    out = np.zeros((5, 2 * n))
    f(a, y, out[:, ::2])
    same(out[:, ::2].copy(), a * 2.0 + y[:, None])
