"""Elementary functions are one operation until a late pass, which replaces them as the list in lib/elementary
says."""
import math

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.base.options import Options
from pyjitc.ir.core import ELEMENTARY
from pyjitc.lib.elementary import table as elementary
from pyjitc.ops import table
from pyjitc.pipeline import stages
from pyjitc.types import kinds as k
from pyjitc.types.typeof import typeof

NAMES = {name for name, op in table.OPS.items() if op.traits & ELEMENTARY}
UFUNCS = {np.sin: "sin", np.cos: "cos", np.tan: "tan", np.arcsin: "asin", np.arccos: "acos", np.arctan: "atan",
          np.arctan2: "atan2", np.sinh: "sinh", np.cosh: "cosh", np.tanh: "tanh", np.arcsinh: "asinh",
          np.arccosh: "acosh", np.arctanh: "atanh", np.exp: "exp", np.exp2: "exp2", np.expm1: "expm1", np.log: "log",
          np.log2: "log2", np.log10: "log10", np.log1p: "log1p", np.cbrt: "cbrt", np.hypot: "hypot", np.power: "pow"}
POINTS = [0.3, 1.0, 2.5, 1e3, 2e5, 1e15, 1e30, -0.7, -1e20, 0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40]


def test_the_list_is_complete():
    assert NAMES <= {name.removesuffix(" rare") for name in elementary.TABLE} <= set(table.OPS)
    floats, complexes = (k.Float, k.float64, k.float32, k.float16), (k.Complex, k.complex128, k.complex64)
    for name, row in elementary.TABLE.items():
        assert len(row) == 4 and (row[:2] != ("-", "-")) == (name in NAMES)
        types = complexes if name[0] == "c" and name[1:] in elementary.TABLE or name == "csqrt" else floats
        for t in types:
            for gpu in (False, True):
                found = elementary.find(name, t, gpu)
                assert found is None or found.function.__name__ in row[2 * gpu] + row[2 * gpu + 1]
        assert elementary.find(name, types[0]) is None  # the functions of `math` are the C library's
        assert name == "pow_in_double" or elementary.find(name, types[0], gpu=True) is not None
    assert elementary.find("sin", k.int64) is elementary.find("iadd", k.float64) is None


def optimised(function, types):
    return stages.optimise(stages.infer(function, types, Options()).functions, Options())


def operations(module):
    return [inst.op.name for fn in module for block in fn.blocks for inst in block.insts]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda f: f.__name__)
def test_one_operation_and_then_its_code(ufunc, dtype):
    def one(x):
        return ufunc(x)

    def two(x, y):
        return ufunc(x, y)

    function = one if ufunc.nin == 1 else two
    name = "pow_in_double" if ufunc is np.power and dtype is np.float16 else UFUNCS[ufunc]
    types = (typeof(dtype(1)),) * ufunc.nin
    typed = stages.infer(function, types, Options()).functions
    assert [op for op in operations(typed) if op in NAMES] == [name]
    module = optimised(function, types)
    left = [inst for fn in module for block in fn.blocks for inst in block.insts if inst.op.name in NAMES]
    inside = k.float32 if ufunc in (np.sin, np.cos) and dtype is not np.float64 else k.Float
    assert all("rare" in inst.attrs and inst.result.type is inside for inst in left)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("ufunc", [f for f in UFUNCS if f.nin == 1], ids=lambda f: f.__name__)
def test_constants_have_the_bits_of_compiled_code(ufunc, dtype):
    compiled, name = njit(lambda x: ufunc(x)), UFUNCS[ufunc]
    op = table.OPS[name]
    with np.errstate(all="ignore"):
        for x in np.array(POINTS).astype(dtype):
            if name in ("sin", "cos", "tan") and abs(x) > 2.0**43:
                continue  # there the C library's function replaces one of codegen/forms.py
            folded, computed = op(x), compiled(x)
            assert type(folded) is type(computed) is dtype
            np.testing.assert_equal((folded, np.signbit(folded)), (computed, np.signbit(folded)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_constant_powers(dtype):
    power, ufunc = njit(lambda x, y: x ** y), njit(lambda x, y: np.power(x, y))
    with np.errstate(all="ignore"):
        for x in np.array(POINTS).astype(dtype):
            for y in np.array([0.5, 3.3, -2.0, 100.0, math.nan]).astype(dtype):
                alone = table.OPS["pow" if dtype is np.float64 else "pow_in_double"](x, y)
                np.testing.assert_equal(alone, power(x, y))
                np.testing.assert_equal(alone if dtype is np.float16 else table.OPS["pow"](x, y), ufunc(x, y))


def test_equal_functions_are_computed_once():
    def f(x):
        return np.exp(x) * 2.0 + np.exp(x)

    module = optimised(f, (k.float64,))
    assert operations(module).count("polynomial") == 1


def test_functions_of_python_floats_are_those_of_the_c_library():
    def f(x):
        return math.sin(x) + x ** 0.3

    module = optimised(f, (k.Float,))
    assert {"sin", "pow"} <= set(operations(module)) and "polynomial" not in operations(module)


@pytest.mark.parametrize("ufunc", [np.sin, np.cos], ids=lambda f: f.__name__)
def test_ends_of_sines_of_float32(ufunc):
    function = njit(lambda x: ufunc(x))
    quarters = np.arange(-100_000, 100_000) * (math.pi / 2)
    x = np.concatenate([quarters, quarters + 1e-3, 10.0 ** np.arange(-45, 39), [0.0, -0.0, 99_999.99, 100_000.0]])
    for x in (x.astype(np.float32), -x.astype(np.float32)):
        exact = ufunc(x.astype(np.float64))
        y = function(x)
        assert y.dtype == np.float32 and np.all(np.abs(y) <= 1)
        assert np.array_equal(np.signbit(y[x == 0]), np.signbit(exact[x == 0]))
        assert np.max(np.abs(y - exact) / np.spacing(np.abs(exact).astype(np.float32))) <= 1.6
        assert np.array_equal(y[-999:], [function(one) for one in x[-999:]])  # a scalar has the same bits
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(function(ends), ufunc(ends), equal_nan=True)
