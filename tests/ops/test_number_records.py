"""Records of arithmetic and math: native code has the results of `eval`, and `eval` those of Python or NumPy."""
import itertools
import math
import operator

import numpy as np
import pytest

from pyjitc.ir.core import PURE, RAISES
from pyjitc.ops import arith, table
from pyjitc.ops import math as m
from pyjitc.ops.random import RANDOM_DRAW
from pyjitc.types import kinds as k
from tests.lib.expressions import outcome
from tests.lib.test_number_operators import VALUES
from tests.ops.native import compile_all, function

pytestmark = pytest.mark.filterwarnings("ignore")

INTEGERS = [k.Int, k.int8, k.int16, k.int32, k.int64, k.uint8, k.uint16, k.uint32, k.uint64]
FLOATS = [k.Float, k.float16, k.float32, k.float64]
BOOLS = [k.Bool, k.bool_]
COMPLEXES = [k.Complex, k.complex64, k.complex128]
NUMBERS = INTEGERS + FLOATS + BOOLS + COMPLEXES
CLASS = {k.Int: int, k.Float: float, k.Bool: bool, k.Complex: complex}


def values(t, few=False):
    found = VALUES[CLASS.get(t) or arith.numpy_class(t)]
    return found[:: 2] if few and len(found) > 6 else found


def cases():
    """(op, types, attrs) of every record worth compiling."""
    for op in (*arith.ARITH_OPS.values(), *m.MATH_OPS.values()):
        if op in (arith.CAST, arith.NARROW):
            for s in NUMBERS if op is arith.CAST else [k.Int]:
                for t in NUMBERS if op is arith.CAST else [x for x in INTEGERS if x is not k.Int]:
                    yield op, (s,), {"type": t}
            continue
        if op in (arith.FIT, arith.FITS, arith.FITTED):
            for s in [x for x in NUMBERS if isinstance(x, (k.NpInt, k.NpFloat))]:
                for t in [x for x in INTEGERS if x is not k.Int and x.signed]:
                    if not isinstance(s, k.NpInt) or s.bits + (not s.signed) > t.bits:
                        yield op, (s,), {"type": t, "message": "some text: 100%"} if op is arith.FIT else {"type": t}
            continue
        attrs = {"message": "some text: 100%"} if op in (arith.CHECK_NONZERO, arith.CHECK_NONNEG, m.CHECK_DOMAIN,
                                                         m.CHECK_RANGE) else {}
        if op is m.CHECK_RANGE:
            attrs["cls"] = OverflowError
        if op is m.POLYNOMIAL:
            attrs["coefficients"] = (0.5, 2.0, -1.5)
        if op in (m.LOOKUP, m.LOOKUP_SINGLE):
            attrs["table"] = (0.5, 2.0, -1.5, 3.25)
        if op is m.LOOKUP_INT:
            attrs["table"] = (5, -1, 2**62, -2**63)
        for t in NUMBERS:
            for types in ((t,), (t, t), (t, k.Int), (t, t, t),
                          *[(t, t, t, t)] * (op is m.POW_REST and t in (k.Float, k.float32))):
                try:
                    op.rule(types, attrs)
                except TypeError:
                    continue
                if len(types) == 2 and types[1] is k.Int is not t and op is not m.LDEXP:
                    continue
                yield op, types, attrs


CASES = list(cases())
LIBM = {op for op in m.MATH_OPS.values() if op not in (m.SQRT, m.FABS, m.FLOOR, m.CEIL, m.TRUNC, m.RINT, m.COPYSIGN)}


@pytest.fixture(scope="module")
def compiled():
    functions = [function(f"{op.name}.{i}", op, types, attrs) for i, (op, types, attrs) in enumerate(CASES)]
    return compile_all(functions)


def near(expected, got, digits):
    """Whether results are equal up to the last bits, since NumPy and the C library are two implementations."""
    if expected == got:
        return True
    if expected[0] is not got[0] or not issubclass(got[0], (np.inexact, float, complex)):
        return False
    for a, b in zip(expected[1:], got[1:]):
        if "nan" in (a, b) or not all(map(math.isfinite, (a[0], b[0]))):
            if a != b and not issubclass(got[0], (complex, np.complexfloating)):
                return False
        elif not math.isclose(a[0], b[0], rel_tol=digits, abs_tol=digits
                              if issubclass(got[0], (complex, np.complexfloating)) else 1e-300):
            return False
    return True


TOLERANCE = {np.float16: 2e-3, np.float32: 4e-7, np.complex64: 1e-5, np.float64: 1e-15, np.complex128: 1e-13,
             complex: 1e-13, float: 0.0}


@pytest.mark.parametrize("name", [op.name for op in (*arith.ARITH_OPS.values(), *m.MATH_OPS.values())])
def test_native_code_equals_eval(name, compiled):
    wrong = []
    for (op, types, attrs), native in zip(CASES, compiled):
        if op.name != name:
            continue
        for xs in itertools.product(*(values(t, len(types) > 1) for t in types)):
            if op is arith.FREM and types[0] is k.float16 and not math.isfinite(xs[0]):
                continue
            if not allowed(op, xs, attrs):
                continue
            expected, got = outcome(op, *xs) if not attrs else outcome(lambda: op(*xs, **attrs)), outcome(native, *xs)
            if expected != got and not (op in LIBM and near(expected, got, TOLERANCE.get(got[0], 0.0))):
                wrong.append(f"{op.name} {types} {attrs} {xs}: eval {expected}, native {got}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:15])


def allowed(op, xs, attrs):
    """Whether operands satisfy the preconditions of a record."""
    if op is arith.FITTED:
        return arith.FITS(*xs, **attrs)
    if op is arith.WHOLE:  # the operand has to fit
        return -2.0**63 <= xs[0] < 2.0**63
    if op is arith.IFLOORDIV_CK:
        return xs[1] != 0
    if op is arith.ISHL_CK:
        return xs[1] >= 0
    if op is m.CPOW:  # lib/ handles powers of 0 and the exponent 0 separately
        return xs[0] != 0 and xs[1] != 0
    if op is m.ROUND_DIGITS:
        return abs(xs[1]) < 1000
    if op in (m.FMAX_NUMBER, m.FMIN_NUMBER):
        return not any(x != x for x in xs) and (xs[0] != xs[1] or xs[0] != 0)
    return True


def test_true_division_beyond_double_precision(compiled):
    native = next(f for (op, _, _), f in zip(CASES, compiled) if op is arith.ITRUEDIV)
    import random
    rng = random.Random(9)
    for _ in range(20000):
        x = rng.getrandbits(rng.randint(50, 63)) * rng.choice((1, -1))
        y = (rng.getrandbits(rng.randint(1, 63)) or 3) * rng.choice((1, -1))
        assert native(x, y) == x / y, (x, y)
    for x, y in itertools.product([2**63 - 1, -(2**63), 2**62 + 1, 2**53 + 1, 1, 3, -1], repeat=2):
        assert native(x, y) == x / y


@pytest.mark.parametrize("record, reference", [
    (arith.IADD, operator.add), (arith.ISUB, operator.sub), (arith.IMUL, operator.mul),
    (arith.IFLOORDIV, operator.floordiv),
    (arith.IMOD, operator.mod), (arith.IAND, operator.and_), (arith.IOR, operator.or_), (arith.IXOR, operator.xor)],
    ids=lambda x: getattr(x, "name", ""))
def test_eval_wraps_as_numpy(record, reference):
    for t in INTEGERS[1:]:
        for x, y in itertools.product(values(t), repeat=2):
            with np.errstate(all="ignore"):
                assert outcome(record, x, y) == outcome(reference, x, y)
    for x, y in itertools.product(values(k.Int), repeat=2):  # Python ints wrap as int64
        with np.errstate(all="ignore"):
            assert record(x, y) == int(reference(np.int64(x), np.int64(y)))


def test_casts_are_numpys():
    for s in NUMBERS:
        for t in NUMBERS:
            for x in values(s):
                got = arith.CAST(x, type=t)
                with np.errstate(all="ignore"):
                    import warnings
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        want = np.asarray(x).astype(arith.numpy_class(t))[()]
                if t in CLASS:
                    assert type(got) is CLASS[t]
                    want = want.item()
                assert outcome(lambda: got) == outcome(lambda: want), (s, t, x)


def test_every_record_is_complete():
    for op in (*arith.ARITH_OPS.values(), *m.MATH_OPS.values()):
        assert op.eval is not None and op.lower is not None and op.doc
        assert op.effects == PURE or op.effects & RAISES
    assert table.OPS["iadd"] is arith.IADD and "binary" in table.GENERIC
    with pytest.raises(ValueError, match="two operations are called 'iadd'"):
        table._merged({"iadd": arith.IADD}, {"iadd": arith.ISUB})


# The builder of this test does not have their partial derivatives; tests/derivatives/test_complex.py tests them.
OF_COMPLEX = frozenset(f"c{name}" for name in (
    "acos acosh asin asinh atan atanh cos cosh exp log pow sin sinh sqrt tan tanh").split())


def test_partials_agree_with_differences():
    class Numbers:
        """The builder of derivatives, on plain floats."""

        @staticmethod
        def const(x):
            return x

        @staticmethod
        def guarded_product(x, y):
            return x * y

        def __getattr__(self, name):
            return table.OPS[name]

    rng = np.random.default_rng(5)
    ranges = {"acosh": (1.5, 3), "log": (0.5, 3), "log2": (0.5, 3), "log10": (0.5, 3), "pow": (0.5, 2)}
    fixed = {"check_domain": {"message": ""}, "check_range": {"cls": ValueError, "message": ""}}
    for op in table.OPS.values():
        if not callable(op.partials) or op.eval is None or op.name in OF_COMPLEX or op in (
                arith.FREM, m.COPYSIGN, RANDOM_DRAW):
            continue
        attrs = fixed.get(op.name, {})
        count = op.partials.__code__.co_argcount - 2
        for _ in range(5):
            low, high = ranges.get(op.name, (0.1, 0.9))
            xs = [float(v) for v in rng.uniform(low, high, count)]
            if op is m.LDEXP:
                xs[1] = 3
            out = op(*xs, **attrs)
            exact = op.partials(Numbers(), *xs, out)
            for i in range(count - (op is m.LDEXP)):
                up, down = list(xs), list(xs)
                up[i] += 1e-6
                down[i] -= 1e-6
                slope = (op(*up, **attrs) - op(*down, **attrs)) / 2e-6
                assert math.isclose(exact[i], slope, rel_tol=1e-6, abs_tol=1e-6), (op, xs, i, exact[i], slope)
