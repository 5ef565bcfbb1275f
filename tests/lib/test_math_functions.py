"""The `math` module against the interpreter: values to the bit, exceptions and their texts."""
import itertools
import math
import random

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.lib.py import mathmod
from tests.lib.expressions import both
from tests.oracle import agree

pytestmark = pytest.mark.filterwarnings("ignore")

INF, NAN = math.inf, math.nan
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 1.5, -2.5, 3.0, 23.0, 171.0, 172.0, -170.5, 250.5, -250.5, 1e-21,
         5e-324, 2.2e-308, 1e-310,
         710.0, -746.0, 1e22, 1e300, 1.7e308, -1.7e308, INF, -INF, NAN, 4503599627370497.5, -3.0, -20.0, 1e-9]
RNG = random.Random(4)
FLOATS = EDGES + [RNG.uniform(-5, 5) for _ in range(60)] + [RNG.uniform(-1e3, 1e3) for _ in range(20)]
OTHERS = [0, 1, -1, 2, 7, -12, 100, 2**53 + 1, 2**63 - 1, -(2**63), True, np.float64(0.25), np.float32(0.3),
          np.int8(3), np.bool_(True), 1j]
UNARY = ["sqrt", "exp", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
         "atanh", "log1p",
         "erf", "erfc", "fabs", "gamma", "lgamma", "degrees", "radians", "isnan", "isinf", "isfinite", "floor", "ceil",
         "trunc",
         "log", "log2", "log10", "modf", "frexp", "ulp", "cbrt", "exp2"]


def wide(expected, got):
    """Ints beyond 64 bits."""
    if expected[0] is int and not -(2**63) <= expected[1] < 2**63:
        return got[0] is OverflowError
    return False


def check(name, cases, deviation=wide):
    function = getattr(math, name, None)
    if function is None:
        pytest.skip(f"math.{name} is not in this version")
    wrong = [found for case in cases
             if (found := both(lambda *xs: mathmod.CALLS[function](list(xs), {}), function, case, deviation))]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:15])


@pytest.mark.parametrize("name", UNARY)
def test_one_float(name):
    check(name, [(x,) for x in FLOATS + OTHERS])


@pytest.mark.parametrize("name", ["pow", "fmod", "remainder", "atan2", "copysign", "nextafter", "log", "hypot"])
def test_two_floats(name):
    check(name, itertools.product(FLOATS[:45] + OTHERS[:5], repeat=2))


def test_ldexp():
    check("ldexp", itertools.product(EDGES, [0, 1, -1, 52, -1074, 1023, 1024, -2000, 10**6, 2**62, -(2**62), True]))


@pytest.mark.parametrize("name", ["gcd", "lcm", "comb", "perm"])
def test_two_integers(name):
    values = [0, 1, -1, 2, 6, -6, 20, 61, 62, 2**31, 2**62, 2**63 - 1, -(2**63), True, np.int8(12)]
    if name in ("comb", "perm"):
        values = [0, 1, 2, 6, -6, 20, 61, 62, 67, True]
    check(name, itertools.product(values, repeat=2))
    if name in ("gcd", "lcm"):
        check(name, [(), (-4,), (12, 18, 27)])
    else:
        check(name, [(1.5, 1), (2**40, 2), (2**63 - 1, 1)])


def test_one_integer():
    check("isqrt", [(n,) for n in [0, 1, 2, 3, 4, 15, 16, 17, 2**52, 2**62 - 1, 2**62, 2**63 - 1, 3037000499**2,
                                   3037000499**2 - 1, -1, True]])
    check("isqrt", [(RNG.getrandbits(63),) for _ in range(200)])
    check("isqrt", [(RNG.getrandbits(31) ** 2 + d,) for _ in range(100) for d in (-1, 0, 1)])
    check("factorial", [(n,) for n in [0, 1, 5, 20, 21, 30, -1, True, 1.5]])
    check("perm", [(5,), (20,), (21,)])


def test_lengths():
    values = [3.0, -4.0, 0.0, 1e308, 1e-308, 5e-324, 2, INF, NAN]
    check("hypot", [(), (-3.0,), (3, 4, 12), (1e308, 1e308), *itertools.product(values, repeat=3)])
    check("hypot", [tuple(RNG.uniform(-1e3, 1e3) for _ in range(RNG.randint(2, 5))) for _ in range(400)])
    check("dist", [((1.0, 2.0), (4.0, 6.0)), ((1,), (2,)), ((), ()), ((1, 2, 3), (0.5, 1.5, -2)), ((1, 2), (1,))])


def test_isclose():
    check("isclose", itertools.product([0.0, 1.0, 1.0 + 1e-10, 1.1, INF, -INF, NAN, 1], repeat=2))


def test_fma():
    check("fma", itertools.product([0.0, 1.5, -2.0, 1e308, INF, NAN, 3], repeat=3))


def test_every_function_of_the_module_has_a_rule():
    left = {"sumprod"}  # they take iterables
    missing = [n for n, f in vars(math).items() if callable(f) and n not in left and f not in mathmod.CALLS
               and not n.startswith("_")]
    assert not missing


def numbers(n, seed):
    rnd = random.Random(seed)
    return np.array([rnd.choice([rnd.uniform(-1, 1) * 10.0 ** rnd.randrange(-300, 300),
                                 rnd.choice([1e308, -1e308, 1e-320, 0.0, -0.0, 2.0 ** 53, 2.0 ** -53, 1e16, 1.0])])
                     if rnd.random() > 0.005 else rnd.choice([INF, -INF, NAN]) for _ in range(n)])


def test_fsum():
    compiled = njit(lambda a: math.fsum(a))
    for k in range(400):
        agree(compiled.py_func, numbers(k % 60, k), compiled=compiled)
    for a in (np.array([1, 2, 3]), (1, 2.5, True), np.array([1.0, INF, -INF]), np.array([1e308, 1e308, -1e308]),
              np.array([1e16, 1.0, 1e-16]), ()):
        agree(compiled.py_func, a, compiled=compiled)
    agree(lambda n: math.fsum(0.1 for _ in range(n)), 10)


def test_prod():
    compiled = njit(lambda a: math.prod(a))
    for a in (np.array([1.5, 2.0]), np.array([3, 4]), (2, 3, 4), (1.5, 2), range(1, 6), ()):
        agree(compiled.py_func, a, compiled=compiled)
    agree(lambda a: math.prod(a, start=2.5), np.arange(1, 4))
    with pytest.raises(OverflowError):
        compiled(range(1, 30))


@pytest.mark.parametrize("x", [2, True, 2.0, np.int8(2), np.uint64(2), np.bool_(1), np.float64(2)],
                         ids=lambda x: type(x).__name__)
def test_ldexp_takes_ints_of_python_only(x):
    def function(x):
        return math.ldexp(1.5, x)

    if type(x) in (int, bool):
        agree(function, x)
    else:
        with pytest.raises(TypeError, match="Expected an int as second argument to ldexp"):
            njit(function)(x)


def test_dist_takes_what_float_takes():
    for x in (1, 1.0, True, np.float32(1.5), np.int8(3)):
        agree(lambda x: math.dist((x, 2), (0.5, x)), x)
    with pytest.raises(TypeError, match="must be real number, not complex"):
        njit(lambda x: math.dist((x,), (1.0,)))(1j)
