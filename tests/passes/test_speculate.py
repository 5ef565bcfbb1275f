"""Branches with overflow checks that are computed before the condition is known."""
import inspect

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.ops.arith import INT_MAX, INT_MIN


@njit
def steps(n, odd, count):
    for _ in range(count):
        while odd > 0:
            odd -= 1
            if odd % 2 == 1:
                n = 3 * n + 1
            else:
                n //= 2
    return n


@njit
def both(n, which, count):
    for k in range(count):
        if (which >> k) & 1:
            n = n * -5 - 7
        else:
            n = n + n % 1 + 9_000_000_000_000_000_000
    return n


@njit
def only(n, which, count):
    for k in range(count):
        if (which >> k) & 1:
            n = 2 * n - 3
    return n


def bounds(factor, constant):
    """Values around the smallest and the largest one whose result fits in 64 bits."""
    low, high = sorted(((INT_MIN - constant) // factor, (INT_MAX - constant) // factor))
    return [n for at in (low, high, 0) for n in range(at - 2, at + 3) if INT_MIN <= n <= INT_MAX] + [INT_MIN, INT_MAX]



@njit
def hailstone(n, count):
    for _ in range(count):
        if n < 1:
            break
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
    return n


CASES = [(steps, n, odd, 1) for n in bounds(3, 1) for odd in (1, 2, 3)]
CASES += [(both, n, which, 1) for which in (0, 1)
          for n in bounds((1, -5)[which], (9_000_000_000_000_000_000, -7)[which])]
CASES += [(only, n, which, 1) for n in bounds(2, -3) for which in (0, 1)]


@pytest.mark.parametrize("function, n, which, count", CASES)
def test_as_python_up_to_the_bounds(function, n, which, count):
    """Python's result, or OverflowError where a step leaves 64 bits: at the same step, in the same line."""
    partly = []
    if function is steps:
        x = n
        for k in range(which - 1, -1, -1):
            for value in ((3 * x, 3 * x + 1) if k % 2 else (x // 2,)):
                partly.append(value)
            x = partly[-1]
    elif function is both:
        partly = [n * -5, n * -5 - 7] if which else [n + 9_000_000_000_000_000_000]
    else:
        partly = [2 * n, 2 * n - 3] if which else []
    if all(INT_MIN <= x <= INT_MAX for x in partly):
        assert function(n, which, count) == function.py_func(n, which, count)
    else:
        with pytest.raises(OverflowError, match="does not fit in 64 bits") as caught:
            function(n, which, count)
        text = {steps: "n = 3 *", both: "* -5" if which else "n % 1", only: "n = 2 *"}[function]
        lines, first = inspect.getsourcelines(function.py_func)
        assert text in lines[caught.traceback[-1].lineno + 1 - first]


@pytest.mark.parametrize("n", [*bounds(3, 1), 3**38 - 2, 2**61 - 1, 2**62 + 1])
def test_what_is_never_negative_is_tested_at_its_upper_bound_alone(n):
    """The same number as in Python, or the error of the same line after the same number of steps."""
    for count in range(4):
        x, fits = n, True
        for _ in range(count):
            fits &= x < 1 or x % 2 == 0 or 3 * x + 1 <= INT_MAX
            x = x if x < 1 else 3 * x + 1 if x % 2 else x // 2
        if fits:
            assert hailstone(n, count) == hailstone.py_func(n, count) == x
        else:
            with pytest.raises(OverflowError, match="does not fit in 64 bits") as caught:
                hailstone(n, count)
            lines, first = inspect.getsourcelines(hailstone.py_func)
            assert "n = 3 *" in lines[caught.traceback[-1].lineno + 1 - first]
    text = str(hailstone._inspect("opt", hailstone.signatures[0]))
    assert "{likely: True}" in text and f"const {(INT_MAX - 1) // 3} : int" in text
    assert f"const {-(INT_MAX // 3)}" not in text and f"const {-(-INT_MIN // 3)}" not in text


def test_the_choice_is_a_select():
    steps(1, 2, 1)
    text = str(steps._inspect("opt", steps.signatures[0]))
    chosen, checked = text.index("= select"), text.index("imul_ck")
    assert "arms()" in text and chosen < checked and "{likely: True}" in text


def shifted(data, poly):
    crc = 0xFFFF
    for byte in data:
        for _ in range(8):
            if (crc ^ int(byte)) & 1:
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            byte >>= 1
    return crc


def counted(data, mask):
    hits = 0
    for x in data:
        if (x & 4) != 0:
            hits = hits | (int(x) & mask)
    return hits


def mixed(data, mask):
    low, high = 1, 2
    for x in data:
        if (x ^ 3) & 8 == 0:
            low, high = high ^ mask, low
        else:
            high = low | 1
    return low, high


def narrow(data, mask):
    one = data.dtype.type(1)
    low, high = one, data.dtype.type(2)
    for x in data:
        if (low ^ x) & one:
            low, high = (low + high) ^ x, low
        else:
            high = low | one
    return low, high


def with_a_check(data, n):
    for x in data:
        if x & 1:
            n = n * 3 + 1
        else:
            n = n >> 1
    return n


def dividing(data, n):
    """Operations that may fail, or take long, stay in their branch."""
    for x in data:
        if x & 1:
            n = n // (int(x) & 6)
        else:
            n = n + 1
    return n


def outcome(function, *args):
    try:
        found = function(*args)
    except (OverflowError, ZeroDivisionError) as error:
        return type(error), str(error)
    return [(type(x), x) for x in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("function", [shifted, counted, mixed, narrow, with_a_check, dividing])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64])
def test_bits_are_chosen_by(function, dtype):
    compiled = njit(function)
    rng = np.random.default_rng(7)
    for n in (0, 1, 2, 50):
        for mask in (0x8408, 1, 0):
            data = rng.integers(0, 100, n).astype(dtype)
            with np.errstate(over="ignore"):
                assert outcome(compiled, data, mask) == outcome(function, data, mask)
    text = compiled.inspect_llvm(compiled.signatures[0])
    if function is not counted:  # this loop is vectorised
        assert ("!unpredictable" in text) == (function is not dividing)


def test_what_fails_in_an_arm_that_a_bit_chooses():
    compiled = njit(dividing)
    data = np.array([2, 3, 1])
    with pytest.raises(ZeroDivisionError):
        compiled(data, 5)
    with pytest.raises(OverflowError):
        njit(with_a_check)(np.array([1, 1]), INT_MAX // 3)


def test_elements_under_a_bit():
    """The sum of the weights of set bits: in an array with fewer elements than the number has bits, no element after
    the end is read."""
    def weigh(masks, weights):
        best = 0
        for mask in masks:
            s = 0
            for bit in range(len(weights)):
                if mask >> bit & 1:
                    s += weights[bit]
            best = max(best, s)
        return best

    masks = np.random.default_rng(5).integers(-1 << 62, 1 << 62, 200)
    compiled = njit(weigh)
    for n in (0, 1, 3, 12, 64, 70):
        weights = np.arange(n) * 3 - 7
        for given in (weights, np.repeat(weights, 2)[::2], weights.astype(np.int32)):
            expected = weigh(masks, given)
            assert compiled(masks, given) == expected and type(compiled(masks, given)) is type(expected)


def test_one_comparison_for_a_product_and_its_sums():
    """A number and its following digits, computed in a loop, compared with the same steps without a loop."""
    def read(n, digits):
        for c in digits:
            if c != 7:
                n = n * 10 + int(c) - 48
        return n

    def twice(n, digits):
        for c in digits:
            if c != 7:
                n = (n * 3 - (int(c) & 15) + 5) * 7 + int(c)
        return n

    for function, once, factor in ((njit(read), njit(lambda n, c: n * 10 + c - 48), 10),
                                   (njit(twice), njit(lambda n, c: (n * 3 - (c & 15) + 5) * 7 + c), 21)):
        seen = set()
        for n in [x for constant in (-48, 0, 207, 300) for x in bounds(factor, constant)]:
            for c in (0, 48, 57, 255):
                expected = outcome(once, n, c)
                assert outcome(function, n, np.array([c], np.uint8)) == expected, (n, c)
                seen.add(type(expected))
        assert seen == {list, tuple}
        text = str(function._inspect("opt", function.signatures[0]))
        assert "checked()" in text and "{likely: True}" in text
    assert njit(read)(0, np.frombuffer(b"9223372036854775750", np.uint8)) == 9223372036854775750
    with pytest.raises(OverflowError, match="9223372036854775800 \\+ 48 does"):
        njit(read)(0, np.frombuffer(b"9223372036854775800", np.uint8))


@njit
def taken(a):
    """k is an int of Python's, which raises where it leaves 64 bits, until an element is taken, which wraps."""
    k = 9223372036854775805
    for i in range(len(a)):
        if a[i] != 0:
            k = a[i]
        k += 1
    return k


@pytest.mark.parametrize("items", [(), (0,), (0, 0), (0, 0, 0), (5, 0), (0, 5, 0), (INT_MAX,), (0, INT_MAX, 0),
                                   (INT_MAX - 1, 0), (INT_MAX - 1, 0, 0), (INT_MIN, 0)])
def test_ints_of_python_and_of_numpy_in_one_variable(items):
    a = np.array(items, np.int64)
    with np.errstate(over="ignore"):
        wanted = taken.py_func(a)
    if wanted > INT_MAX and type(wanted) is int:
        with pytest.raises(OverflowError):
            taken(a)
    else:
        found = taken(a)
        assert found == wanted and type(found) is type(wanted)


@njit
def products_of_the_last(a, b):
    """x and y are 0, ints of Python's, in the first iteration alone, so that one arm is a constant of NumPy's type and
    the other a product."""
    found = 0
    x = 0
    y = 0
    for i in range(len(a)):
        found ^= (x * y) % 7
        x = a[i]
        y = b[i] ** i
    return found


def test_an_arm_that_is_a_constant_beside_a_product():
    a = np.arange(10)
    found, wanted = products_of_the_last(a, a + 1), products_of_the_last.py_func(a, a + 1)
    assert found == wanted and type(found) is type(wanted)


@njit
def first_not_below(table, x):
    low, high = 0, len(table)
    while low < high:
        middle = (low + high) // 2
        if table[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def last_not_above(table, x):
    low, high = 0, len(table)
    while high - low > 1:
        middle = (low + high) >> 1
        if table[middle] <= x:
            low = middle
        else:
            high = middle
    return low


@njit
def equal_or_none(table, x):
    low, high = 0, len(table) - 1
    while low <= high:
        middle = (low + high) // 2
        if table[middle] == x:
            return middle
        if table[middle] < x:
            low = middle + 1
        else:
            high = middle - 1
    return -1


@njit
def beyond(table, x, low, high):
    """The numbers given may be negative, or lie beyond the table."""
    while low < high:
        middle = (low + high) // 2
        if table[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int16, np.uint8])
@pytest.mark.parametrize("f", [first_not_below, last_not_above, equal_or_none], ids=lambda f: f.__name__)
def test_binary_searches(f, dtype):
    rng = np.random.default_rng(4)
    for n in (0, 1, 2, 3, 7, 64, 100):
        table = np.sort(rng.integers(0, 120, n)).astype(dtype)
        for x in range(-1, 122, 3):
            x = dtype(x) if x >= 0 else x
            found, wanted = f(table, x), f.py_func(table, x)
            assert found == wanted and type(found) is type(wanted)
    if np.dtype(dtype).kind == "f":
        assert f(table, np.nan) == f.py_func(table, np.nan)


def test_searches_beyond_the_table():
    table = np.arange(8.0)
    for low, high in ((-8, 0), (-6, 8), (0, 20), (-30, 3), (2**62, 2**63 - 1)):
        for x in (-1.0, 2.5, 9.0):
            outcomes = []
            for f in (beyond, beyond.py_func):
                try:
                    outcomes.append(f(table, x, low, high))
                except (IndexError, OverflowError) as error:
                    outcomes.append(type(error))
            assert outcomes[0] == outcomes[1] or outcomes == [OverflowError, IndexError]


@pytest.mark.parametrize("f", [first_not_below, last_not_above, equal_or_none], ids=lambda f: f.__name__)
def test_a_binary_search_has_no_branch_on_its_elements(f):
    table = np.arange(9.0)
    f(table, 2.0)
    assert "choose" in str(f._inspect("opt", None))


@njit
def last_of_two(a, x):
    """The element is not in the middle of what the loop carries: the processor may well predict the comparison."""
    low, high = 0, len(a)
    while high - low > 1:
        if a[high - 1] <= x:
            low = high - 1
        else:
            high = high - 1
    return low


def test_other_comparisons_with_elements_are_left_to_llvm():
    a = np.arange(9.0)
    assert last_of_two(a, 3.0) == last_of_two.py_func(a, 3.0)
    assert "choose" not in str(last_of_two._inspect("opt", None))
