"""How compiling behaves: trip counts, functions made in a loop, what is decided at compile time, what can be seen."""
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def looping(x, n):
    for _ in range(n):
        x = x * 1.0000001
    return x


def test_loop_size_does_not_change_compile_time():
    spent = []
    for trips in 10, 1_000, 100_000:
        scope = {}
        exec(f"def looping(x):\n    for _ in range({trips}):\n        x = x * 1.0000001\n    return x\n", scope)
        compiled = njit(scope["looping"])
        start = time.process_time()
        compiled(1.5)
        spent.append(time.process_time() - start)
        assert compiled(1.5) == scope["looping"](1.5)
    assert max(spent[1:]) < 3 * spent[0] + 0.05


def test_jit_in_loop_compiles_once():
    made = []
    for k in range(20):
        f = njit(lambda x: x * 3.5 + 1.25)
        made.append(f.stats["compiled"])
        assert f(k) == k * 3.5 + 1.25
    assert f.stats["compiled"] - made[0] == 1


def test_equal_closures_compile_once_for_equal_captures():
    def make(factor):
        @njit
        def scaled(x):
            return x * factor + 0.125
        return scaled

    start = make(2).stats["compiled"]
    kept = []
    for factor in (2, 3, 2, 3, 2):
        f = make(factor)
        kept.append(f)
        assert f(10) == 10 * factor + 0.125
    assert kept[0].stats["compiled"] - start == 2


def test_first_call_of_equal_functions_from_different_places():
    source = "def f(x):\n    return x + 0.0625\n"
    functions = []
    for _ in range(3):
        scope = {}
        exec(compile(source, "made.py", "exec"), scope)
        functions.append(njit(scope["f"]))
    assert [f(1.0) for f in functions] == [1.0625] * 3


def by_dimensions(x):
    if x.ndim < 2:
        return x[0]
    return x[0, 0] + x[1, 1]


def test_ndim_is_decided_at_compile_time():
    compiled = njit(by_dimensions)
    agree(by_dimensions, np.array([1.5, 2.5]), compiled=compiled)  # x[0, 0] would not compile here
    agree(by_dimensions, np.arange(4.0).reshape(2, 2), compiled=compiled)
    assert len(compiled.signatures) == 2


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


def test_program_can_be_seen():
    compiled = njit(both_ways)
    compiled(np.arange(5.0), 2.0)
    (types, ir), = compiled.inspect_ir().items()
    assert len(types) == 2 and "branch" in ir and "float64" in ir  # control flow is there
    llvm, = compiled.inspect_llvm().values()
    assert "define" in llvm and "br i1" in llvm
    assembly, = compiled.inspect_asm().values()
    assert "ret" in assembly
    graph, = compiled.inspect_cfg().values()
    assert "digraph" in graph or "<svg" in graph


def test_inspect_without_calling():
    compiled = njit(both_ways)
    assert "branch" in compiled.inspect_ir("(float64[::1], float64)")


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
