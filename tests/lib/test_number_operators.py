"""Operators of all pairs of scalar types at edge values: value, type, exception and text are the interpreter's."""
import copy
import itertools
import operator
import random

import numpy as np
import pytest

from tests.lib.expressions import both, outcome, shape
from tests.oracle import agree
from pyjitc import njit
from pyjitc.lib.build import SYMBOLS
from pyjitc.lib import operations
from pyjitc.types import kinds as k

pytestmark = pytest.mark.filterwarnings("ignore")

INF, NAN = float("inf"), float("nan")
BIG = 2**63 - 1
VALUES = {
    bool: [False, True],
    int: [0, 1, -1, 2, 3, -3, 7, 64, 100, 127, 128, 300, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, BIG, -BIG - 1,
          1 - 2**62],
    float: [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.5, 3.0, 1e-308, 5e-324, 1e308, 2.0**53, 2.0**63, -(2.0**63), INF, -INF,
            NAN],
    complex: [0j, 1j, 1 + 2j, complex(-0.0, 3.0), complex(INF, 1.0), complex(1.0, NAN), 1e200 + 1e200j, -2 + 0j],
}
for t in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
    info = np.iinfo(t)
    VALUES[t] = [t(v) for v in sorted({0, 1, 3, int(info.max), int(info.min), max(int(info.min), -5)})]
for t in (np.float16, np.float32, np.float64):
    info = np.finfo(t)
    VALUES[t] = [t(v) for v in (0.0, -0.0, 3.25, -7.0, info.max, info.smallest_subnormal, INF, NAN)]
for t in (np.complex64, np.complex128):
    VALUES[t] = [t(v) for v in (0j, 1j, -1.5 + 2j, complex(3, -0.0), complex(INF, -2), complex(0, NAN))]
VALUES[np.bool_] = [np.False_, np.True_]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@"]
RELATIONS = ["<", "<=", "==", "!=", ">", ">="]
PYTHON = (bool, int, float, complex)
COMPLEX = (complex, np.complexfloating)


def pairs(s, t):
    """Pairs of values; fewer where two NumPy types differ."""
    step = 1 if s is t or s in PYTHON and t in PYTHON else 2 if s in PYTHON or t in PYTHON else 3
    return itertools.product(VALUES[s][::step], VALUES[t][::step])


def is_documented(op, expected, got):
    """The deviations of docs/semantics: ints beyond 64 bits, and a complex power of a float."""
    if expected[0] is int and isinstance(expected[1], int) and not -BIG - 1 <= expected[1] <= BIG:
        return got[0] is OverflowError
    if expected[0] in (OverflowError, MemoryError):
        return got[0] is OverflowError and op in ("**", "<<")
    if op == "**" and expected[0] is complex:
        return got[0] is ValueError and "complex" in got[1][0]
    return False


def reference(op, x, y):
    if op == "<<" and isinstance(x, int) and isinstance(y, int) and y > 200 and x:
        return 1 << 200
    if op == "**" and isinstance(x, int) and isinstance(y, int) and y > 200 and abs(x) > 1:
        return 1 << 200
    return SYMBOLS[op](x, y)


def close(op, expected, got):
    """Powers of complex and half numbers are within about an ulp of NumPy's."""
    if expected[0] is not got[0] or op != "**":
        return False
    if expected[0] in (np.float16, np.float32, np.float64):
        return np.isclose(expected[1][0], got[1][0], rtol=1e-15, atol=0)
    return False


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("s", VALUES, ids=lambda t: t.__name__)
def test_binary(op, s):
    wrong = []
    for t in VALUES:
        if op == "**" and (issubclass(s, COMPLEX) or issubclass(t, COMPLEX)) and not (s in PYTHON and t in PYTHON):
            continue  # near, not equal: a test of its own
        for x, y in pairs(s, t):
            found = both(lambda a, b: operations.binary(op, a, b), lambda a, b: reference(op, a, b), (x, y),
                         lambda e, g: is_documented(op, e, g) or close(op, e, g))
            if found:
                wrong.append(f"{op} {s.__name__} {t.__name__} {found}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("op", RELATIONS)
@pytest.mark.parametrize("s", VALUES, ids=lambda t: t.__name__)
def test_compare(op, s):
    wrong = []
    for t in VALUES:
        for x, y in pairs(s, t):
            found = both(lambda a, b: operations.compare(op, a, b), SYMBOLS[op], (x, y))
            if found:
                wrong.append(f"{op} {s.__name__} {t.__name__} {found}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("op, function", [("-", operator.neg), ("+", operator.pos), ("~", operator.invert),
                                          ("not", operator.not_)])
def test_unary(op, function):
    wrong = []
    for values in VALUES.values():
        for x in values:
            found = both(lambda a: operations.unary(op, a), function, (x,),
                         lambda e, g: is_documented(op, e, g) or issubclass(e[0], TypeError) and g[0] is TypeError)
            if found:
                wrong.append(found)
    assert not wrong, "\n".join(wrong[:20])


def test_inplace_and_foreign_operands():
    from tests.lib.expressions import operands
    from pyjitc.infer.meaning import Mismatch

    with pytest.raises(Mismatch, match=r"unsupported operand type\(s\) for \+=: 'int' and 'tuple'"):
        operations.binary("+", *operands((1, (1, 2))), inplace=True)
    with pytest.raises(Mismatch, match=r"unsupported operand type\(s\) for \*\* or pow\(\): 'float' and 'NoneType'"):
        operations.binary("**", *operands((1.0, None)))
    with pytest.raises(Mismatch, match="'<' not supported between instances of 'int' and 'NoneType'"):
        operations.compare("<", *operands((1, None)))


def test_true_division_is_correctly_rounded():
    rng = random.Random(3)
    for _ in range(3000):
        x = rng.getrandbits(rng.randint(1, 63)) * rng.choice((1, -1))
        y = (rng.getrandbits(rng.randint(1, 63)) or 1) * rng.choice((1, -1))
        assert both(lambda a, b: operations.binary("/", a, b), operator.truediv, (x, y)) is None


def test_complex_power():
    rng = random.Random(5)
    values = VALUES[complex] + [complex(rng.uniform(-3, 3), rng.uniform(-3, 3)) for _ in range(20)]
    powers = [0, 1, 2, -3, 0.5, 100, 101, -7.25, 1j, 2 + 1j]
    wrong = [found for x, y in itertools.product(values, powers)
             if (found := both(lambda a, b: operations.binary("**", a, b), operator.pow, (x, y)))]
    assert not wrong, f"{len(wrong)}\n" + "\n".join(wrong[:10])


def test_numpy_complex_power_is_near():
    rng = random.Random(6)
    for x in VALUES[np.complex128] + [np.complex128(complex(rng.uniform(-3, 3), rng.uniform(-3, 3)))
                                      for _ in range(10)]:
        for y in (0, 1, 2, 3, -2, 0.5, 7, 1j, np.complex128(2 + 1j), np.complex64(3)):
            from tests.lib.expressions import evaluate, operands
            got = outcome(lambda: evaluate(operations.binary("**", *operands((x, y))), (x, y)))
            want = outcome(operator.pow, x, y)
            assert got[0] is want[0]
            if np.isfinite(x):
                a = complex(got[1][0] if got[1] != "nan" else NAN, got[2][0] if got[2] != "nan" else NAN)
                b = complex(want[1][0] if want[1] != "nan" else NAN, want[2][0] if want[2] != "nan" else NAN)
                assert np.isclose(a, b, rtol=1e-13, equal_nan=True), (x, y, a, b)


def test_types_of_common_cases_need_no_library_function():
    from tests.lib.expressions import operands
    from pyjitc.infer.meaning import Call

    for x, y in [(1, 2), (1.0, 2.0), (1, 2.0), (np.float64(1), np.float64(2)), (np.float64(1), 2.0), (np.int64(1), 2),
                 (np.float32(1), 2.0), (np.float32(1), np.float32(2))]:
        for op in ("+", "-", "*", "/", *RELATIONS):
            rule = operations.compare if op in RELATIONS else operations.binary
            assert not isinstance(rule(op, *operands((x, y))), Call)
    assert shape(1) == (int, 1) and k.Int is not k.int64


def by_constants(a):
    return (a // 1, a % 1, a // 7, a % 7, a // 8, a % 8, a // 127, a % 127, a // -7, a % -7)


def int_by_constants(x):
    return x // 1, x // 7, x % 7, x // 1000003, x % 1000003


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_division_by_constants(dtype):
    info = np.iinfo(dtype)
    a = np.array([*range(info.min, info.min + 40), *range(-20, 20), *range(info.max - 40, info.max + 1)], dtype)
    for x, y in zip(by_constants(a), njit(by_constants)(a)):
        assert x.dtype == y.dtype and (x == y).all()
    compiled = njit(int_by_constants)
    assert [compiled(int(x)) for x in a] == [int_by_constants(int(x)) for x in a]


@pytest.mark.parametrize("name", "iadd isub imul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor".split())
@pytest.mark.parametrize("a, b", [(13, 2), (13.5, 2.0), (np.arange(1, 4), 2), (np.arange(1.0, 4.0), 2.0)])
def test_functions_for_operators_in_place(name, a, b):
    function = getattr(operator, name)
    try:
        function(copy.copy(a), b)
    except TypeError:
        pytest.skip("not for floats")
    agree(lambda x, y: (function(x, y), x), a, b)


def digits(n, base):
    total = 0
    while n > 0:
        total += n % base
        n //= base
    return total


def greatest_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


def test_ints_of_the_usual_signs_are_divided_without_a_choice():
    """The next division does not wait for a test of signs, and a quotient and its remainder need only one division."""
    compiled = agree(digits, 98765432109876, 7)
    text = next(iter(compiled.inspect_asm().values()))
    loop = text[text.index("f0.digits:"):]
    assert loop.count("\tdivq") == loop.count("\tidivq") == 4  # the loop is written four times
    compiled = agree(greatest_divisor, 2**40 * 3, 2**20 * 21)
    agree(greatest_divisor, -2**40 * 3, 2**20 * 21, compiled=compiled)
    text = next(iter(compiled.inspect_llvm().values()))
    assert " urem i64 " in text


def test_divisions_at_the_edges():
    compiled = njit(lambda x, y: (x // y, x % y, y % x))
    edges = (1, -1, 2, -3, 7, 2**31, -2**31, 2**32 + 1, -2**32, 2**62, 2**63 - 1, 1 - 2**63)
    for x in edges:
        for y in edges:
            assert compiled(x, y) == (x // y, x % y, y % x)
