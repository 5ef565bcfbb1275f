"""Scalar functions compiled by njit against the interpreter, at edge values: value, type, exception and text."""
import cmath
import itertools
import math
import operator
import random

import numpy as np
import pytest

from pyjitc import TypingError, njit
from tests.lib.expressions import outcome
from tests.lib.test_number_operators import VALUES, is_documented
from tests.oracle import agree

pytestmark = pytest.mark.filterwarnings("ignore")
NAMES = {"math": math, "cmath": cmath, "np": np, "operator": operator}


def make(source, count):
    space = dict(NAMES)
    exec(f"def f({', '.join('xyz'[:count])}): return {source}", space)
    return space["f"]


def compare(source, cases, deviation=lambda e, g: False):
    cases = list(cases)
    plain = make(source, len(cases[0]))
    native = njit(plain)
    wrong = []
    for case in cases:
        expected, got = outcome(plain, *case), outcome(native, *case)
        if expected != got and not deviation(expected, got):
            wrong.append(f"{source} {case}: expected {expected}, got {got}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:12])


def wide(expected, got):
    return is_documented("", expected, got) or expected[0] is tuple and got[0] is OverflowError or (
        expected[0] is complex and got[0] is ValueError)


def product(*types):
    return itertools.product(*(VALUES[t] for t in types))


PYTHON = list(itertools.product([bool, int, float, complex], repeat=2))
MIXED = [(np.float64, np.float64), (np.float64, float), (float, np.float64), (np.float64, int), (np.int64, int),
         (np.int64, np.int64),
         (np.int32, np.int32), (np.int32, float), (np.float32, float), (np.float32, np.float64), (np.uint8, int),
         (np.uint64, np.int64),
         (np.complex128, np.complex128), (np.complex64, float), (np.bool_, np.bool_), (np.float16, np.float16),
         (np.int8, np.uint8)]


@pytest.mark.parametrize("types", PYTHON + MIXED, ids=lambda ts: "-".join(t.__name__ for t in ts))
def test_operators(types):
    from pyjitc.infer.meaning import Mismatch
    from pyjitc.lib import operations
    from pyjitc.types.classes import MIRRORED
    from tests.lib.expressions import operands

    for symbol in ("+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^", "<", "==", ">="):
        values = next(product(*types))
        try:
            (operations.compare if symbol in MIRRORED else operations.binary)(symbol, *operands(values))
        except Mismatch:
            continue  # a compile error, tested elsewhere
        cases = [c for c in product(*types) if symbol != "<<" or not isinstance(c[1], int) or c[1] < 200]
        compare(f"x {symbol} y", cases, wide)


def test_powers():
    small = [-3, -1, 0, 1, 2, 5, 62, 63, 64]
    compare("x ** y", itertools.product(small, small), wide)
    compare("x ** y", product(float, float), wide)
    compare("x ** y", [(x, y) for x in VALUES[complex] for y in (0j, 1 + 0j, 2 + 0j, -3 + 0j, 0.5 + 0j, 1j)])
    for exponent in ("0", "1", "2", "3", "7", "-2", "0.5", "2.0", "-1.0"):
        compare(f"x ** {exponent}", [(x,) for x in VALUES[int]], wide)
        compare(f"x ** {exponent}", [(x,) for x in VALUES[float]], wide)
    compare("x ** y", itertools.product([np.int8(3), np.int8(-2), np.int8(0)],
                                        [np.int8(0), np.int8(5), np.int8(100), np.int8(-1)]))


MATH = ("sqrt exp expm1 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh log1p erf erfc fabs "
        "gamma lgamma degrees isnan isinf isfinite floor ceil trunc log log2 log10 modf frexp ulp cbrt exp2").split()


@pytest.mark.parametrize("name", [n for n in MATH if hasattr(math, n)])
def test_math(name):
    compare(f"math.{name}(x)", [(x,) for x in VALUES[float] + [0.3, 2.7, -1.5, 23.0, 171.5, -170.5, 710.0]], wide)


@pytest.mark.parametrize("source", ["math.pow(x, y)", "math.fmod(x, y)", "math.remainder(x, y)", "math.atan2(x, y)",
                                    "math.hypot(x, y)",
                                    "math.copysign(x, y)", "math.nextafter(x, y)", "math.log(x, y)",
                                    "math.isclose(x, y)", "divmod(x, y)",
                                    "min(x, y)", "max(x, y)", "complex(x, y)", "math.dist((x, 1.0), (y, 2.0))"])
def test_two_floats(source):
    compare(source, product(float, float), wide)


def test_integers():
    values = [0, 1, -1, 2, 6, -6, 20, 62, 2**31, 2**62, 2**63 - 1, -(2**63)]
    for source in ("math.gcd(x, y)", "math.lcm(x, y)", "divmod(x, y)", "min(x, y)"):
        compare(source, itertools.product(values, repeat=2), lambda e, g: g[0] is OverflowError)
    small = [(x, y) for x in (0, 1, 5, 20, 61, 62, -1) for y in (0, 1, 2, 3, 30, -2)]
    compare("math.comb(x, y)", small, wide)
    compare("math.perm(x, y)", small, wide)
    for source in ("math.isqrt(x)", "abs(x)", "hash(x)", "x.bit_length()", "x.bit_count()", "-x", "~x", "not x",
                   "float(x)", "bool(x)",
                   "round(x, -2)", "x.real", "np.float32(x)", "np.uint8(x)", "np.sqrt(x)"):
        compare(source, [(x,) for x in values], lambda e, g: g[0] is OverflowError)
    compare("math.factorial(x)", [(x,) for x in (0, 1, 5, 20, 21, -1)], wide)
    compare("pow(x, y, z)", itertools.product([0, 2, -7, 2**62 + 1], [0, 5, -1, 2**40],
                                              [1, -7, 10**9 + 7, -(2**63), 0]))


def test_remainders_are_exact():
    rng = random.Random(11)
    cases = [(math.ldexp(rng.uniform(-1, 1), rng.randint(-60, 60)),
              math.ldexp(rng.uniform(-1, 1), rng.randint(-60, 10))) for _ in range(3000)]
    cases += [(float(rng.randint(1, 10**6)) * u, u) for _ in range(1000) for u in (0.1, 1 / 3, 1e-300)]
    cases += [(math.nextafter(n * 0.1, 0.0), 0.1) for n in range(1, 1000)]
    for source in ("math.fmod(x, y)", "x % y", "x // y", "divmod(x, y)"):
        compare(source, cases)
    for source in ("x % y", "x // y"):
        compare(source, [(np.float64(x), np.float64(y)) for x, y in cases])
        compare(source, [(np.float32(x), np.float32(y)) for x, y in cases if abs(y) > 1e-30])


def test_floats():
    values = VALUES[float] + [0.1, 2.675, 1e22, -7.25]
    for source in ("int(x)", "round(x)", "round(x, 2)", "hash(x)", "x.is_integer()", "x.as_integer_ratio()",
                   "np.float32(x)", "np.float16(x)",
                   "np.int32(x)", "np.uint64(x)", "complex(x)", "abs(x)", "np.sign(x)", "np.frexp(x)", "np.modf(x)",
                   "np.spacing(x)",
                   "np.signbit(x)", "np.rint(x)", "np.isfinite(x)", "np.square(x)", "np.reciprocal(x)",
                   "np.round(x, 2)"):
        compare(source, [(x,) for x in values if "hash" not in source or x == x], lambda e, g: wide(e, g)
                or g[0] is OverflowError)


@pytest.mark.parametrize("name", ["sqrt", "exp", "log", "log10", "acos", "acosh", "asin", "asinh", "atan", "atanh",
                                  "cos", "cosh", "sin", "sinh",
                                  "tan", "tanh", "phase", "polar", "isnan", "isinf", "isfinite"])
def test_cmath(name):
    parts = [0.0, -0.0, 1.0, -2.5, 1e-310, 750.0, math.inf, math.nan]
    compare(f"cmath.{name}(x)", [(complex(a, b),) for a, b in itertools.product(parts, repeat=2)],
            lambda e, g: name == "phase" and g[0] is float)


def test_numpy_functions_of_two():
    for source in ("np.maximum(x, y)", "np.fmin(x, y)", "np.logaddexp(x, y)", "np.heaviside(x, y)",
                   "np.floor_divide(x, y)", "np.fmod(x, y)",
                   "np.arctan2(x, y)", "np.less(x, y)", "np.logical_xor(x, y)"):
        compare(source, product(np.float64, np.float64), lambda e, g: "max" in source or "min" in source
                and e[1][0] == g[1][0] or (
            source.startswith(("np.log", "np.arctan")) and e[1] != "nan" != g[1]
            and math.isclose(e[1][0], g[1][0], rel_tol=1e-15)))
    for source in ("np.gcd(x, y)", "np.lcm(x, y)", "np.power(x, y)", "np.fmod(x, y)", "np.bitwise_xor(x, y)",
                   "np.maximum(x, y)"):
        compare(source, product(np.int32, np.int32))


# ---------------------------------------------------------------- the rows of docs/semantics.md about numbers


def test_fractional_power_of_a_negative_float_raises():
    f = njit(make("x ** y", 2))
    with pytest.raises(ValueError, match=r"complex: write complex\(x\) \*\* y"):
        f(-8.0, 1 / 3)
    assert njit(make("complex(x) ** y", 2))(-8.0, 1 / 3) == complex(-8.0) ** (1 / 3)


def test_hash_of_nan_is_fixed():
    assert njit(make("hash(x)", 1))(math.nan) == 0


def test_phase_of_a_tiny_angle_is_zero():
    assert njit(make("cmath.phase(x)", 1))(complex(1.7e308, 1e-310)) == 0.0


def test_greater_zero_of_two_may_have_either_sign():
    result = njit(make("np.maximum(x, y)", 2))(np.float64(0.0), np.float64(-0.0))
    assert type(result) is np.float64 and result == 0.0


def test_numpy_functions_are_the_c_librarys():
    for name in ("sin", "cos", "exp", "log", "tanh", "cbrt"):
        f = njit(make(f"np.{name}(x)", 1))
        for x in np.linspace(0.1, 3.0, 50):
            assert abs(f(x) - getattr(np, name)(x)) <= 4 * np.spacing(abs(f(x)))


def test_options_of_arithmetic():
    wrapping = njit(overflow="wrap")(make("(x + y, x * y, abs(x), -x, x << 3, x // y)", 2))
    assert wrapping(-(2**63), -1) == (2**63 - 1, -(2**63), -(2**63), -(2**63), 0, -(2**63))
    dividing = njit(error_model="numpy")(make("x / y", 2))
    assert dividing(1.0, 0.0) == dividing(2**60, 0) == math.inf
    assert dividing(-1, 0) == -math.inf and math.isnan(dividing(0, 0))
    whole = njit(error_model="numpy")(make("(x // y, x % y, divmod(x, y))", 2))
    for x in (1.0, -1.0, 0.0, math.inf, math.nan):
        with np.errstate(all="ignore"):
            quotient, rest = divmod(np.float64(x), np.float64(0.0))
        assert np.array_equal(np.hstack(whole(x, 0.0)), [quotient, rest] * 2, equal_nan=True)


GOLDEN = 0x9E3779B97F4A7C15


def test_int_constants_beside_uint64():
    """Constants have no type of their own: the other operand determines it."""
    def scalars(x):
        x ^= x >> np.uint64(30)
        x *= np.uint64(0xBF58476D1CE4E5B9)
        big = 0x94D049BB133111EB
        for _ in range(2):
            x = x * np.uint64(big) + np.uint64(GOLDEN)
        return (x & 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF - x, x < 0xFFFFFFFFFFFFFFFF, x == GOLDEN, float(GOLDEN),
                1.5 + 0xFFFFFFFFFFFFFFFF, np.float32(GOLDEN))

    def arrays(a):
        b = (a * GOLDEN) ^ 0xFFFFFFFFFFFFFFFE
        a[0] = GOLDEN
        return a, b, np.array([GOLDEN, 1], dtype=np.uint64), np.full(2, 0xFFFFFFFFFFFFFFFF), a < GOLDEN

    agree(scalars, np.uint64(7))
    agree(arrays, np.arange(3, dtype=np.uint64))


@pytest.mark.parametrize("function, x",
                         [(lambda x: x + 0xFFFFFFFFFFFFFFFF, 1), (lambda x: x & 0xFFFFFFFFFFFFFFFF, np.uint32(1)),
                          (lambda x: 0xFFFFFFFFFFFFFFFF, 1),
                                         (lambda x: np.int64(0xFFFFFFFFFFFFFFFF), 1),
                          (lambda x: x + 0x1FFFFFFFFFFFFFFFF, np.uint64(1))])
def test_other_int_constants_beyond_64_bits_are_refused(function, x):
    with pytest.raises(TypingError, match="does not fit in 64 bits"):
        njit(function)(x)
