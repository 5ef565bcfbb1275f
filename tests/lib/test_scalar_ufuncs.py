"""NumPy functions, attributes and methods of scalars against NumPy."""
import itertools
import math

import numpy as np
import pytest

from pyjitc.infer.meaning import Const, Mismatch
from pyjitc.lib.np.elementwise import scalars
from pyjitc.lib.np.elementwise.functions import RULES
from pyjitc.types import kinds as k
from tests.lib.expressions import both, evaluate, operands
from tests.lib.test_number_operators import VALUES
from tests.oracle import agree

pytestmark = pytest.mark.filterwarnings("ignore")

FEW = {t: [v for i, v in enumerate(values) if i < 4 or i == len(values) - 1] for t, values in VALUES.items()}
EXTRA = {float: [0.3, -2.5], np.float64: [np.float64(0.3), np.float64(2.5)], np.float32: [np.float32(0.3)],
         int: [5, 300],
         np.complex128: [np.complex128(0.5 - 0.25j)], np.complex64: [np.complex64(2 + 1j)], complex: [0.25 + 1j],
         np.int16: [np.int16(-6)]}
for t, more in EXTRA.items():
    FEW[t] = FEW[t] + more
APPROXIMATE = {np.exp, np.log, np.sqrt, np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh,
               np.tanh, np.arcsinh,
               np.arccosh, np.arctanh, np.exp2, np.expm1, np.log2, np.log10, np.log1p, np.cbrt, np.power,
               np.float_power, np.rint, np.square, np.arctan2,
               np.logaddexp, np.logaddexp2, np.hypot, np.sign, np.reciprocal, np.absolute, np.divide, np.nextafter}


ZEROS = {np.maximum, np.minimum, np.fmax, np.fmin}


def number_of(parts):
    return complex(*(math.nan if p == "nan" else p[0] for p in parts))


def close(ufunc):
    def deviation(expected, got):
        if issubclass(expected[0], TypeError) and got[0] is TypeError:
            return True  # the text names the signature
        zeros = ((0.0, 1.0), (0.0, -1.0))
        if ufunc in ZEROS and expected[0] is got[0] and expected[1] in zeros and got[1] in zeros:
            return True  # which zero depends on the instruction set
        if ufunc is np.spacing and got[0] is np.float16:
            return True
        if ufunc not in APPROXIMATE or expected[0] is not got[0] or not issubclass(got[0], np.inexact):
            return False
        a, b = number_of(expected[1:]), number_of(got[1:])
        short = got[0] in (np.float32, np.complex64, np.float16)
        tolerance = 2e-3 if got[0] is np.float16 else 1e-5 if short else 1e-13
        return bool(np.isclose(a, b, rtol=tolerance, atol=tolerance if issubclass(got[0], np.complexfloating) else 0,
                               equal_nan=True)) or (
            issubclass(got[0], np.complexfloating) and not np.isfinite(a))

    return deviation


def rule(ufunc):
    return lambda *xs: scalars.CALLS[ufunc](list(xs), {})


@pytest.mark.parametrize("ufunc", RULES, ids=lambda u: u.__name__)
def test_ufunc(ufunc):
    wrong = []
    if ufunc.nin == 1:
        cases = [(x,) for values in VALUES.values() for x in values]
    else:
        cases = [(x, y) for s, t in itertools.product(FEW, repeat=2) if s is t
                 or (s in (int, float, bool, complex)) != (t in (
            int, float, bool, complex)) or s is np.float64 or t is np.int8 for x,
            y in itertools.product(FEW[s], FEW[t])]
    for case in cases:
        found = both(rule(ufunc), ufunc, case, close(ufunc))
        if found:
            wrong.append(found)
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:15])


def test_every_ufunc_has_a_rule():
    left = {"isnat", "matmul", "vecdot", "matvec", "vecmat"}
    missing = {n for n in dir(np) if isinstance(getattr(np, n), np.ufunc) and getattr(np, n) not in RULES} - left
    assert not missing


def test_functions():
    def f(x, n, h, i, z, c, nan, inf):
        return (np.round(x, 1), np.round(h, 2), np.round(n), np.round(i, -1), np.clip(n, 1, 3), np.clip(h, 0, 1),
                np.clip(i, 1.5, 3), np.clip(nan, 0, 1), np.real(z), np.imag(z), np.real(n), np.imag(x), np.real(c),
                np.imag(i), np.angle(z), np.angle(-n), np.angle(h), np.isclose(n, 5.0), np.isclose(x, x + 1e-6),
                np.isclose(inf, -inf), np.isclose(nan, nan), np.isclose(nan, nan, equal_nan=True), np.sinc(x),
                np.sinc(n - 5), np.fix(x), np.fix(-x), np.nan_to_num(nan), np.nan_to_num(-inf), np.nan_to_num(h),
                np.isscalar(n))

    agree(f, 2.567, 5, np.float32(2.567), np.int8(37), 1j, np.complex64(1j), math.nan, math.inf)


def test_limits():
    assert scalars.CALLS[np.finfo]([Const(k.DType(k.float32), np.dtype("f4"))], {}).value.eps == np.finfo("f4").eps


def test_attributes_and_methods():
    for value in [np.float64(1.5), np.float32(-2), np.int8(-5), np.uint64(7), np.bool_(True), np.complex64(1 - 2j),
                  np.float64(np.inf)]:
        for name in ("real", "imag", "dtype", "ndim", "size", "itemsize", "shape", "numerator", "denominator"):
            if hasattr(value, name):
                assert both(lambda x: scalars.attribute(x, name), lambda x: getattr(x, name),
                            (value,)) is None, (value, name)
        for name in ("item", "conjugate", "conj", "is_integer", "as_integer_ratio", "bit_count", "sum", "mean", "max",
                     "round"):
            if hasattr(value, name):
                found = both(lambda x: scalars.method(x, name, [], {}), lambda x: getattr(x, name)(), (value,),
                             lambda e, g: (
                    g[0] in (AttributeError, TypeError, OverflowError)
                    and name in ("as_integer_ratio", "round", "is_integer")))
                assert found is None, (name, found)
    (x,) = operands((np.float64(2.7),))
    assert evaluate(scalars.method(x, "astype", [Const(k.Singleton(np.int8), np.int8)], {}),
                    (np.float64(2.7),)) == np.int8(2)
    with pytest.raises(Mismatch, match="'numpy.float64' object has no attribute 'foo'"):
        scalars.attribute(x, "foo")
