"""`in` of constants: few, many and very many, of numbers of all types, of texts and of tuples."""
import math
import resource

import numpy as np
import pytest

from pyjitc import CompileError, njit
from tests.oracle import agree

INTS = tuple(range(-30, 60, 7)) + (5, 5, 2**62, -2**63, 2**63 - 1)
FLOATS = (0.0, 0.5, -1.5, 2.0, 1e300, -math.inf, math.inf, math.nan, 3.25, 7.0, 100.0, 0.1)
MIXED = (1, 2.5, "a", None, True, 0, -4, b"x", ..., 9.0, 1e40, 2**60 + 1)
TEXTS = ("a", "b", "ab", "", "x y", "z", "q", "w", "e", "r")
PAIRS = tuple((k, k * k) for k in range(12))
SET, TEXT_SET, MIXED_SET = frozenset(INTS), frozenset(TEXTS), frozenset(MIXED)
THOUSANDS = tuple(7 * k for k in range(5000))
FAR = tuple(k * k * k * 1_000_003 for k in range(-50, 50))
EDGES = tuple(range(2**63 - 40, 2**63)) + (2**63 - 100,)
LOW = tuple(range(-2**63, -2**63 + 70, 2))
TENTHS = tuple(k / 10 for k in range(-50, 60))


def in_ints(x):
    return x in INTS, x not in INTS


def in_floats(x):
    return x in FLOATS


def in_mixed(x):
    return x in MIXED


def in_texts(x):
    return x in TEXTS


def in_pairs(x):
    return x in PAIRS


def in_sets(x):
    return x in SET, x in MIXED_SET, x not in TEXT_SET


def in_display(x):
    return x in {1, 4, 9, 16, 25, 36, 49, 64, 81, 100}


def in_few(x):
    return x in (1, 2.5, "a"), x in {3, 4}, x in ()


def in_a_list(x):
    y = 2
    return x in [1, y, 3, 4, 5, 6, 7, 8, 9, y]


NUMBERS = [0, 1, 5, -30, 2**62, 2**63 - 1, -2**63, 2**60 + 1, True, False, 0.0, -0.0, 0.5, 0.1, 2.0, 5.0, float("nan"),
           math.inf, 1e40, 2.0**62, 2.5, np.int8(5), np.int8(-2), np.uint8(254), np.uint64(5), np.uint64(2**64 - 30),
           np.int64(2**60), np.bool_(True), np.float32(0.1), np.float32(2.5), np.float32(math.inf), np.float16(0.1),
           np.float64(2.0**62), np.float64(0.1), np.float32(1e30), 1j, 5 + 0j, np.complex64(5)]


@pytest.mark.parametrize("function", [in_ints, in_floats, in_mixed, in_sets, in_display, in_few, in_a_list])
@pytest.mark.parametrize("x", NUMBERS, ids=repr)
def test_numbers(function, x):
    agree(function, x)


@pytest.mark.parametrize("function", [in_ints, in_mixed, in_texts, in_sets, in_few])
@pytest.mark.parametrize("x", ["a", "", "zz", None])
def test_texts(function, x):
    agree(function, x)


@pytest.mark.parametrize("x", [(1, 1), (3, 9), (3, 8), (1, 2), (), (1.0, 1), 4])
def test_tuples(x):
    agree(in_pairs, x)
    agree(lambda x: x in (*MIXED, (1, 2)), x)


@pytest.mark.parametrize("x", [0, 7, 8, 34993, 34994, -7, 7.0, 7.5, np.int16(14), np.float32(21)])
def test_thousands(x):
    agree(lambda x: x in THOUSANDS, x)


@pytest.mark.parametrize("values", [FAR, EDGES, LOW, TENTHS])
def test_tables_and_searches(values):
    f = njit(lambda x: x in values)
    for v in values:
        for x in (v, v - 1, v + 1, -v, v * 1.5, float(v)):
            if not isinstance(x, int) or -2**63 <= x < 2**63:
                assert f(x) == (x in values), x
    for x in (0, 2**63 - 1, -2**63, math.inf, -math.inf, math.nan, 0.0):
        assert f(x) == (x in values), x


def test_many_of_run_time():
    t = tuple(range(0, 60, 3))
    for x in (9, 10, 9.0, True):
        agree(lambda t, x: x in t, t, x)


def test_thousands_are_compiled_as_one_table():
    """Neither memory nor code grows with each constant."""
    space = {}
    exec(f"def f(x):\n    return x in ({', '.join(map(str, range(0, 50_000, 5)))})\n", space)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    f = njit(space["f"])
    assert f(49_995) and not f(49_996)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB
    assert str(f.inspect_ir(f.signatures[0])).count("\n") < 200


def test_the_table_is_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("PYJITC_CACHE_DIR", str(tmp_path))

    def texts(s, x):
        return s in {"a", "b", "c", "d", "e", "f", "g", "h", "i"}, x in THOUSANDS

    njit(cache=True)(texts)("a", 7)
    assert [path for path in tmp_path.rglob("*") if path.is_file()]


def test_what_is_not_compiled_is_refused_in_few_words():
    many = (1, "a", None, 2.5) * 60
    with pytest.raises(CompileError, match="tuple of 240 items of several types is compiled for at most 200") as caught:
        njit(lambda x: x in many)(1j)
    assert "np.isin" in caught.value.diagnostic.hint and max(map(len, str(caught.value).splitlines())) < 350


def in_ranges(x):
    return [x in r for r in (range(3), range(0, 10, 2), range(10, 0, -3), range(0))]


@pytest.mark.parametrize("x", (1, 2.0, 2.5, 1j, 2 + 0j, complex("nan"), "a", None, (1,), b"x", True, np.int8(2),
                               np.complex64(4)))
def test_values_of_other_types_in_ranges(x):
    agree(in_ranges, x)
