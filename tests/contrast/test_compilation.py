"""Compilation: trip counts, functions made in a loop, decisions at compile time, what a user can inspect."""
import functools
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from pyjitc import cuda, njit
from pyjitc.pipeline.specialisation import statistics
from tests.oracle import agree

from .rows import row, traced

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def squares(trips):
    """A loop whose number of trips is a constant in the source."""
    scope = {}
    exec(f"def looping(x):\n    for _ in range({trips}):\n        x = x * 1.0000001\n    return x\n", scope)
    return scope["looping"]


@row("loop-size")
def test_loop_size_does_not_change_the_program():
    programs = set()
    for trips in 10, 1_000, 100_000:
        compiled = agree(squares(trips), 1.5)
        program, = compiled.inspect_ir().values()
        programs.add(re.sub(r"\b10+\b|\blooping[\w.]*", "", program))
    assert len(programs) == 1


@row("loop-size", "long-loop")
def test_tracing_unrolls_loops(jax):
    for trips in 10, 1_000:
        assert len(jax.make_jaxpr(squares(trips))(1.5).eqns) == trips
        assert len(jax.make_jaxpr(long_loop(trips))(np.ones(3)).eqns) >= trips


def long_loop(trips):
    """Its loop is dead code: the result is copied before it."""
    def looping(x):
        kept = x.copy()
        for _ in range(trips):
            x = x * x
        return kept

    return looping


@row("long-loop")
def test_a_dead_loop_of_arrays_is_gone():
    function = long_loop(1000)
    compiled = agree(function, np.linspace(0.0, 1.0, 5))
    llvm, = compiled.inspect_llvm().values()
    assert "fmul" not in llvm


@row("jit-in-loop")
def test_jit_in_loop_compiles_once():
    made = []
    for k in range(20):
        f = njit(lambda x: x * 3.5 + 1.25)
        made.append(statistics["compiled"])
        assert f(k) == k * 3.5 + 1.25
    assert statistics["compiled"] - made[0] == 1


@row("jit-in-loop")
def test_equal_closures_compile_once_for_equal_captures():
    def make(factor):
        @njit
        def scaled(x):
            return x * factor + 0.125
        return scaled

    start = statistics["compiled"]
    kept = []
    for factor in (2, 3, 2, 3, 2):
        f = make(factor)
        kept.append(f)
        assert f(10) == 10 * factor + 0.125
    assert statistics["compiled"] - start == 2


def scaled(factor, x, shift=0.5):
    return factor * x + shift


@row("jit-in-loop")
def test_partial_in_loop_compiles_once():
    compiles = []
    for k in range(5):
        f = njit(functools.partial(scaled, 3.0))
        assert f(float(k)) == 3.0 * k + 0.5
        compiles.append(statistics["compiled"])
    assert compiles[-1] == compiles[0]


@row("jit-in-loop")
def test_tracing_starts_again_for_a_new_function(jax):
    traces = []

    def anew(k):
        def double(x):
            traces.append(k)
            return x * 2.0

        return double

    for k in range(4):
        assert jax.jit(anew(k))(1.0) == 2.0
    assert traces == [0, 1, 2, 3]
    for _ in range(4):
        assert jax.jit(functools.partial(anew(4)))(1.0) == 2.0
    assert traces[4:] == [4, 4, 4, 4]


def power(x, n):
    for _ in range(n):
        x = x * 1.5
    return x


@row("static-args")
@pytest.mark.parametrize("options", [dict(static_argnames=("n",)), dict(static_argnames="n"), dict(static_argnums=1),
                                     dict(static_argnums=(-1,))])
def test_static_arguments_are_offered(options):
    compiled = njit(**options)(power)
    for n in (3, 5, 3):
        agree(power, 2.0, n, compiled=compiled)
    assert compiled(2.0, n=3) == power(2.0, 3)
    assert len(compiled.signatures) == 2  # one for each value
    never_needed = njit(power)
    for n in (3, 5):
        agree(power, 2.0, n, compiled=never_needed)
    assert len(never_needed.signatures) == 1


@row("static-args")
def test_tracing_compiles_for_each_static_value(jax):
    compiled = traced(jax, power, static_argnames=("n",))
    for n in (3, 5, 3):
        assert compiled(2.0, n=n) == power(2.0, n)
    assert compiled._cache_size() == 2


# whole arrays

def dense(x, weights, bias):
    return x @ weights + bias


def selu(x, alpha=1.6732632423543772, scale=1.0507009873554805):
    return scale * np.where(x > 0, x, alpha * np.exp(x) - alpha)


def dense_relu(weights, x):
    return np.maximum(0, weights @ x)


def assert_close(function, *args):
    """The last bits may differ from NumPy's, because sums are in another order and exp is another implementation. Types
    and shapes may not."""
    expected, actual = function(*args), njit(function)(*args)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    # about 2 roundings of each of the few products in a sum here
    np.testing.assert_allclose(actual, expected, rtol=32 * np.finfo(expected.dtype).eps, atol=1e-6)


def random(*shape, dtype=np.float32):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


@row("small-dense")
def test_small_dense():
    assert_close(dense, random(4), random(4, 2), random(2))


@row("small-dense", "selu", "dense-relu")
def test_tracing_agrees_on_whole_arrays(jax):
    for function, args in [(dense, (random(4), random(4, 2), random(2))), (selu, (random(100),)),
                           (dense_relu, (random(4, 30), random(30, 5)))]:
        expected, actual = function(*args), traced(jax, function)(*args)
        assert actual.dtype == expected.dtype
        # of single precision, added in its own order
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
    assert traced(jax, selu)(random(100, dtype=np.float64)).dtype == np.float32  # double precision is an option there


@row("selu")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_selu(dtype):
    assert_close(selu, random(1000, dtype=dtype))


@row("selu")
def test_selu_passes_over_memory_once():
    llvm = njit(selu).inspect_llvm("(float64[::1], float64, float64)")
    assert len(re.findall(r"call .*@malloc\(", llvm)) <= 2  # the result and its header, and no temporaries


@row("selu-ints")
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.bool_])
def test_selu_of_ints(dtype):
    assert_close(selu, np.arange(-3, 4).astype(dtype))


@row("selu-ints")
def test_tracing_makes_single_precision_of_ints(jax):
    ints = np.arange(-3, 4)
    assert selu(ints).dtype == np.float64
    assert traced(jax, selu)(ints).dtype == np.float32


@row("dense-relu")
def test_dense_relu():
    assert_close(dense_relu, random(4, 30), random(30, 5))


def test_first_call_of_equal_functions_from_different_places():
    source = "def f(x):\n    return x + 0.0625\n"
    functions = []
    for _ in range(3):
        scope = {}
        exec(compile(source, "made.py", "exec"), scope)
        functions.append(njit(scope["f"]))
    assert [f(1.0) for f in functions] == [1.0625] * 3


def by_type(x):
    if isinstance(x, float):
        return x + 0.5
    if x is None:
        return -1
    return len(x)


@pytest.mark.parametrize("x", [2.5, None, np.zeros(7), (1, 2, 3)])
def test_isinstance_and_none_are_decided_at_compile_time(x):
    agree(by_type, x)


def both_ways(a, limit):
    total = 0.0
    for i in range(len(a)):
        if a[i] > limit:
            total += a[i]
    return total


@row("ir-text")
def test_program_can_be_seen():
    compiled = njit(both_ways)
    compiled(np.arange(5.0), 2.0)
    (types, ir), = compiled.inspect_ir().items()
    assert len(types) == 2 and "branch" in ir and "float64" in ir  # it has control flow
    llvm, = compiled.inspect_llvm().values()
    assert "define" in llvm and "br i1" in llvm
    assembly, = compiled.inspect_asm().values()
    assert "ret" in assembly
    graph, = compiled.inspect_cfg().values()
    assert "digraph" in graph or "<svg" in graph


@row("ir-text")
def test_inspect_without_calling():
    compiled = njit(both_ways)
    assert "branch" in compiled.inspect_ir("(float64[::1], float64)")


def add_above(a, limit):
    i = cuda.grid(1)
    if i < a.size and a[i] > limit:
        a[i] += 1


@row("ir-text")
def test_program_of_a_kernel_can_be_seen():
    ptx = cuda.jit(add_above).inspect_ptx("(float32[::1], float32)", "sm_80")
    assert ".entry add_above" in ptx and "bra" in ptx


@row("ir-text")
def test_tracing_shows_a_straight_line(jax):
    assert "exp" in str(jax.make_jaxpr(lambda x: jax.numpy.exp(x) + 1.0)(1.0))
    assert "HloModule" in traced(jax, selu).lower(np.ones(3)).compile().as_text()
    with pytest.raises(jax.errors.TracerBoolConversionError):  # a loop over values has no program
        jax.make_jaxpr(both_ways)(np.arange(5.0), 2.0)


@pytest.mark.parametrize("kind", ["scalar", "array"])
def test_dispatch_of_many_signatures(kind):
    def double(x):
        return x + x

    compiled = njit(double)
    dtypes = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64,
              np.complex64, np.complex128]
    for dtype in dtypes:
        agree(double, dtype(3), compiled=compiled)
    for dtype in dtypes:
        agree(double, dtype(5), compiled=compiled)
    assert len(compiled.signatures) == len(dtypes)


def test_disabled_runs_in_the_interpreter():
    program = ("import sys\nfrom pyjitc import njit\n@njit\ndef f(x):\n    return {x: [x]}\n"
               "assert f(3) == {3: [3]}\nassert 'llvmlite' not in sys.modules\n")
    done = subprocess.run([sys.executable, "-c", program], env={"PYJITC_DISABLE": "1", "PYTHONPATH": ROOT},
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
