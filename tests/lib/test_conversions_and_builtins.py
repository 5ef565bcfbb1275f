"""Conversions and built-in functions of scalars against the interpreter."""
import cmath
import itertools
import math
import operator
import random

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.lib.py import builtins as rules
from pyjitc.lib.py import conversions, sequences
from tests.lib.expressions import both, evaluate, operands, outcome, type_of
from tests.lib.test_number_operators import VALUES
from tests.oracle import agree

pytestmark = pytest.mark.filterwarnings("ignore")

CALLS = {**rules.CALLS, **conversions.CALLS, **sequences.CALLS}
SCALARS = [v for values in VALUES.values() for v in values]


def wide(expected, got):
    """Ints beyond 64 bits are a documented deviation."""
    if expected[0] is int and not -(2**63) <= expected[1] < 2**63:
        return got[0] is OverflowError
    if expected[0] is tuple and any(v[0] is int and not -(2**63) <= v[1] < 2**63 for v in expected[1]):
        return got[0] is OverflowError
    if expected[0] is OverflowError:
        return got[0] is OverflowError
    return issubclass(expected[0], TypeError) and got[0] is TypeError and "ufunc" in str(expected[1])


def check(function, cases, deviation=wide):
    wrong = [found for case in cases
             if (found := both(lambda *xs: CALLS[function](list(xs), {}), function, case, deviation))]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:15])


@pytest.mark.parametrize("function", [int, float, bool, complex, abs, operator.index], ids=lambda f: f.__name__)
def test_one_argument(function):
    check(function, [()] if function in (int, float, bool, complex) else [])
    check(function, [(x,) for x in SCALARS])


@pytest.mark.parametrize("cls", [t for t in VALUES if issubclass(t, np.generic)], ids=lambda t: t.__name__)
def test_numpy_classes(cls):
    check(cls, [()])
    skipped = (1e300, math.inf)  # float('inf') to an integer class: the same class and text, by another path
    check(cls, [(x,) for x in SCALARS if x not in skipped or not issubclass(cls, np.integer)]
          + [(2.5,), (-1.5,), (300.7,), (1e19,)],
          lambda e, g: wide(e, g) or cls is np.uint64 and e[0] is g[0] is OverflowError)


def test_complex_of_two():
    check(complex, itertools.product([1, 2.5, True, 1j, 2 - 3j, np.float32(0.5), np.complex64(1 + 1j)], repeat=2))


def test_parsed_constants():
    for function, text in [(float, "inf"), (float, " -nan "), (int, "42"), (complex, "1+2j"), (float, "x"),
                           (int, "1.5")]:
        expr = lambda *xs: CALLS[function](list(xs), {})  # noqa: E731
        from pyjitc.infer.meaning import Operand
        from pyjitc.types import kinds as k
        got = outcome(lambda: evaluate(expr(Operand(0, k.Str, text)), (text,)))
        assert got == outcome(function, text)


def test_divmod():
    reals = [v for t, values in VALUES.items() for v in values[::2] if t is not complex
             and not issubclass(t, np.complexfloating)]
    check(divmod, itertools.product(reals, reals))
    check(divmod, [(1j, 2), (1, 2j)])


def test_pow_with_modulus():
    rng = random.Random(1)
    numbers = [0, 1, -1, 2, 7, -12, 2**31, 2**62 + 1, -(2**63), 2**63 - 1] + [rng.getrandbits(62) for _ in range(4)]
    check(pow, itertools.product(numbers[:10], [0, 1, 5, 63, -1, -3, 2**40 + 1],
                                 [0, 1, -1, 2, 7, -7, 10**9 + 7, 2**61 - 1, -(2**62), -(2**63), 2**63 - 1]))
    check(pow, [(2, 3), (2.0, 3), (2, -1), (2.0, 1, 1), (1j, 2, 3), (True, True, 2)])


def test_round():
    check(round, [(x,) for x in SCALARS], lambda e, g: wide(e, g) or g[0] is TypeError and (
        e[0] is TypeError or issubclass(e[0], np.complexfloating)))  # NumPy 2.2 rounds complex numbers
    rng = random.Random(2)
    floats = [v for v in VALUES[float]] + [2.675, 0.5, 1.5, -2.5, 1.005, 1e22, 123456.789, 5e-5, 2.5e-22]
    floats += [rng.uniform(-100, 100) for _ in range(200)] + [round(rng.uniform(-10, 10), 3) + 0.0005
                                                              for _ in range(200)]
    check(round, itertools.product(floats, [0, 1, 2, 3, 5, 15, 22, 23, 400, -1, -2, -400]))
    ints = [0, 5, 15, 25, -5, -15, 149, 150, 151, 2**63 - 1, -(2**63), 10**18 * 5, -5 * 10**18]
    check(round, itertools.product(ints, [0, 3, -1, -2, -3, -18, -19, -20, -400]))
    check(round, itertools.product([np.float64(2.675), np.float32(2.675), np.float64(1234.5), np.float64(np.inf)],
                                   [0, 1, 2, -2]))
    for x, n in itertools.product([np.int8(37), np.int64(2**62), np.uint8(251), np.int32(-15)], [0, 1, -1, -2]):
        got = outcome(lambda: evaluate(CALLS[round](operands((x, n), True), {}), (x, n)))
        assert got == outcome(round, x, n), (x, n)
    check(round, [(1.5, None), (2, None)])


def test_min_and_max():
    values = [1, 1.0, True, -0.0, 0.0, math.nan, np.float64(1), np.float32(2), np.int8(-3), 5, np.float64("nan")]
    for function in (min, max):
        check(function, itertools.product(values, repeat=2))
        check(function, itertools.product(values[:8], repeat=3))


def test_hash():
    check(hash, [(x,) for x in SCALARS if x == x])


def test_tuples_of_numbers_and_texts_are_hashed_and_written_without_their_object():
    compiled = njit(lambda t: hash(t) ^ len(str(t)))
    for t in ((1, 2.5, "a"), (-(2**63), -0.0, "\xe9"), (2**61 - 1, math.inf, "")):
        assert compiled(t) == hash(t) ^ len(str(t))
    (text,) = compiled.inspect_llvm().values()
    assert "PyTuple_New" not in text and "PyObject_Vectorcall" not in text


def test_classes():
    for value in [1, True, 1.5, 1j, None, (1, 2), np.float64(1), np.int8(1), np.bool_(1), np.complex128(1)]:
        for cls in [int, bool, float, complex, tuple, object, np.floating, np.integer, np.generic, np.float64,
                    type(None), (int, float),
                    (str, (complex,)), int | None]:
            assert isinstance_rule(value, cls) is isinstance(value, cls)
    check(callable, [(1,), (1.5,)])


def isinstance_rule(value, cls):
    from pyjitc.infer.meaning import Const
    from pyjitc.types import kinds as k

    return rules.CALLS[isinstance]([*operands((value,)), Const(k.Singleton(cls), cls)], {}).value


def test_methods_and_attributes():
    from pyjitc.lib.py.builtins import attribute, method

    for value in [True, 0, 5, -7, 2**62, -(2**63), 1.5, -3.0, 0.1, math.inf, math.nan, 1e300, 2 - 3j]:
        for name in ("real", "imag", "numerator", "denominator"):
            if hasattr(value, name):
                assert both(lambda x: attribute(x, name), lambda x: getattr(x, name), (value,), wide) is None
        for name in ("conjugate", "bit_length", "bit_count", "is_integer", "as_integer_ratio"):
            if hasattr(value, name):
                assert both(lambda x: method(x, name, [], {}), lambda x: getattr(x, name)(), (value,),
                            lambda e, g: wide(e, g) or name == "as_integer_ratio" and g[0] is OverflowError) is None
    assert type_of(1) is not None


@pytest.mark.parametrize("function", [
    lambda a: sum(a), lambda a: sum(x * 2.0 for x in a), lambda a: math.prod(a), lambda a: sum([float(x) for x in a]),
    lambda a: sum((float(x) for x in a), 2), lambda a: sum(a) + 1,
])
def test_sums_of_nothing_are_their_start(function):
    compiled = agree(function, np.zeros(0))
    agree(function, np.array([0.5, 1.5]), compiled=compiled)


WITHOUT_AXES = ("float(x)", "int(x)", "complex(x)", "math.sqrt(x)", "math.floor(x)", "math.trunc(x)", "math.isnan(x)",
                "math.pow(x, 2)", "math.fsum([x, x])", "cmath.exp(x)", "cmath.phase(x)", "operator.index(x)",
                "math.gcd(x, 4)", "math.isclose(x, 2)", "range(x)")


@pytest.mark.parametrize("dtype", (np.int64, np.uint8, np.float16, np.float64, np.complex64, np.complex128, np.bool_))
def test_an_array_without_axes_converts_as_the_python_number_in_it(dtype):
    for source in WITHOUT_AXES:
        function = eval(f"lambda x: {source}", {"math": math, "cmath": cmath, "operator": operator})
        found = []
        for one in (function, njit(function)):
            try:
                found.append(repr(one(np.array(2, dtype))))
            except TypeError as error:
                found.append(str(error).splitlines()[0])
        assert found[0] == found[1], source
