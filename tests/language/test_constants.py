"""A variable may be a Python constant on some paths and another type of number on others: the constant keeps its own
type."""
import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64",
          "bool_")


def sum_of(a):
    total = 0
    for x in a:
        total += x
    return total


def sum_from_a_float(a):
    total = 0.0
    for i in range(len(a)):
        total = total + a[i]
    return total, total * 2


def product(a):
    found = 1
    for x in a:
        found *= x
    return found


def parsed(a):
    number = 0
    for x in a:
        number = number * 10 + (x - 1)
    return number


def last_but_one(a):
    last = before = 0
    for x in a:
        before = last
        last = x
    return before, last, before + 1, last - 1


def branch(a):
    k = 100
    if len(a) > 1:
        k = a[0]
    return k * 2


def branch_of_a_float(a):
    k = 0.5
    if len(a) > 1:
        k = a[1]
    return k, k + k, -k, k / 2


def three_ways(a):
    if len(a) == 0:
        k = 0
    elif len(a) == 1:
        k = 1.0
    else:
        k = a[1]
    return k, k + 1


def conditional_expression(a):
    return (a[0] if len(a) > 1 else 3) - 4


def either(a):
    return a[0] or 3, a[-1] or 2.5


def both(a):
    return a[0] and 3, a[-1] and 2.5


def early(a):
    for x in a:
        if x:
            return x
    return 0


def nested(a):
    total = 0
    for x in a:
        row = 0
        for y in a:
            if y == x:
                row += y
        total += row
    return total


def left_by_break(a):
    found = -1
    for x in a:
        if x == 3:
            found = x
            break
    else:
        found = found - 1
    return found


def while_it_is_small(a):
    k = i = 0
    while k < 3 and i < len(a):
        k = k + a[i]
        i += 1
    return k, i


def from_try(a):
    k = 7
    try:
        k = a[2]
    except IndexError:
        k = k + 1
    return k


def from_finally(a):
    k = 1
    try:
        if len(a) > 1:
            k = a[1]
    finally:
        k = k + 1
    return k


def from_match(a):
    match len(a):
        case 0:
            k = 1
        case 1:
            k = 2.5
        case _:
            k = a[0]
    return k + k


def in_a_cell(a):
    k = 1

    def move(x):
        nonlocal k
        k = x

    if len(a) > 1:
        move(a[1])
    return k * 3


def captured(a):
    k = 5
    if len(a) > 1:
        k = a[0]

    def get():
        return k + 1

    return get()


def with_default(x, k=1):
    if x > 1:
        k = x
    return k * 2


def default(a):
    return with_default(a[0]) if len(a) else with_default(0)


def helper(a):
    best = 0
    for x in a:
        if x > best:
            best = x
    return best


def through_a_function(a):
    return helper(a) * 3, helper(a[:0]) + 1


def given_to_a_function(a):
    k = 2
    if len(a) > 1:
        k = a[0]
    return with_default(k)


def in_a_tuple(a):
    k = 1
    if len(a) > 1:
        k = a[0]
    pair = k, 2
    return pair[0] - 2, pair


def as_an_index(a):
    k = 0
    for x in (a > 1):
        k += x
    return a[k - 1] if k else k


def stored(a):
    k = 1
    for x in a:
        k = x
    a[:1] = k
    if len(a) > 1:
        a[1] = k
    return k


def shown(a):
    k = 1
    if len(a) > 1:
        k = a[0]
    print(k, f"{k}")
    return str(k)


def asked(a):
    k = 1
    if len(a) > 1:
        k = a[0]
    if isinstance(k, int):
        return k + 1000
    return k + 1


def truth(a):
    k = False
    for x in a:
        k = x > 1
        if k:
            break
    return k, not k, int(k) + 1


def mean(a):
    total = 0
    count = 0
    for x in a:
        total += x
        count += 1
    return total / max(count, 1)


PROGRAMS = [sum_of, sum_from_a_float, product, parsed, last_but_one, branch, branch_of_a_float, three_ways,
            conditional_expression, early, nested, left_by_break, while_it_is_small, from_try, from_finally, from_match,
            in_a_cell, captured, default, through_a_function, given_to_a_function, in_a_tuple, as_an_index, stored,
            shown, asked, truth, mean]
# complex has no order
ORDERED = {parsed, last_but_one, while_it_is_small, default, through_a_function, given_to_a_function, as_an_index,
           truth, helper}
SIGNED = {parsed, last_but_one, branch_of_a_float, as_an_index}  # np.bool_ has no difference


@pytest.mark.parametrize("program, dtype", [
    (program, dtype) for program in PROGRAMS for dtype in DTYPES
    if not (dtype == "complex64" and program in ORDERED or dtype == "bool_" and program in SIGNED)])
def test_agrees(program, dtype):
    compiled = njit(program)
    for values in [], [1], [0], [1, 2, 3], [3, 100, 0, 1], [100, 100, 100]:
        agree(program, np.array(values, dtype), compiled=compiled)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("program", [either, both], ids=lambda f: f.__name__)
def test_connectives(program, dtype):
    compiled = njit(program)
    for values in [1], [0], [0, 1], [1, 0]:
        agree(program, np.array(values, dtype), compiled=compiled)


def extremes(x):
    return max(x, 0), min(x, 0.5), max(1, x), min(2.5, x, 1)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "complex64"])
def test_extremes_give_the_constant_itself(dtype):
    compiled = njit(extremes)
    for value in 0, 1, 3:
        agree(extremes, np.dtype(dtype).type(value), compiled=compiled)


def cut(prices, n):
    if n == 0:
        return 0
    best = float("-inf")
    for i in range(1, min(n, len(prices)) + 1):
        best = max(best, prices[i - 1] + cut(prices, n - i))
    return best


def test_recursion_that_starts_from_a_constant():
    agree(cut, np.array([1, 5, 8, 9]), 6)
    agree(cut, np.array([1.5, 5.0]), 3)
    agree(cut, np.array([1, 5, 8, 9]), 0)


def half(n):
    total = 0
    for _ in range(n):
        total += 0.5
    return total


def of_two_constants(n):
    x = 1
    if n > 1:
        x = 2.5
    if n > 2:
        x = 1j
    return x * 2


def test_constants_of_python_alone():
    for n in range(4):
        agree(half, n)
        agree(of_two_constants, n)


def unlike(a, x):
    k = 0.1
    if len(a) > 1:
        k = a[0]
    return k == 0.1, k + a[1:], k * x, a[1:] > k


def test_a_constant_that_does_not_fit_exactly():
    for dtype in "float32", "float64", "int8":
        compiled = njit(unlike)
        for x in 3, 0.5, np.float32(1.5), np.int8(2):
            agree(unlike, np.ones(1, dtype), x, compiled=compiled)
            agree(unlike, np.full(3, 0.1).astype(dtype), x, compiled=compiled)


def test_a_signed_zero_is_kept():
    def negative(a):
        k = -0.0
        for x in a:
            k = x
        return k, -k, k * 1.5

    agree(negative, np.zeros(0))
    agree(negative, np.array([0.0]))


def rows(a, x, y):
    for i in range(len(a)):
        total = 0
        for j in range(len(x)):
            total += a[i, j] * x[j]
        y[i] = total


def test_a_sum_of_a_row_is_one_number_in_the_loop():
    """The flag that distinguishes the constant from the sum is never used, so it is removed."""
    compiled = agree(rows, np.arange(6.0).reshape(2, 3), np.ones(3), np.zeros(2))
    text = next(iter(compiled.inspect_ir().values()))
    assert "dual" in text  # before the passes
    body = next(iter(compiled.inspect_llvm().values()))
    assert ("sitofp" not in body and "phi i16" not in body
            and not [line for line in body.splitlines() if "phi i1 " in line])


def in_arrays(a):
    total = 0
    for x in a:
        total += x
    return np.array([total, a[0]]), np.array([total, 1]), np.array([[total, total], [1, total]]), np.array((total, 2.5))


def in_places(a):
    k = 0
    for x in a:
        k = x
    m = np.arange(12).reshape(3, 4)
    m[k, 1] = 7
    m[0] = (k, k, 1, 2)
    m[k, k] += 5
    return m[k, k], m[k, 2], m


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_in_tuples_and_lists(dtype):
    compiled = njit(in_arrays)
    for values in [1, 2], [0]:
        agree(in_arrays, np.array(values, dtype), compiled=compiled)
    if np.dtype(dtype).kind in "iu":
        compiled = njit(in_places)
        for values in [1, 2], []:
            agree(in_places, np.array(values, dtype), compiled=compiled)


def lengths(a):
    n = np.int64(3)
    if a[0] > 100:
        n = 2
    elif a[0] > 50:
        n = a[1]
    return np.ones((n, 2)), np.zeros((2, n)), np.full((n, n), n), a[:n], np.eye(n)


def chosen(x):
    return x * 3 if x > 0 else 0.0


def of_each(a):
    y = chosen(a[0])
    z = max(0.0, y)
    return (np.fromiter((chosen(x) for x in a), np.float64), sum(chosen(x) for x in a), max(map(chosen, a)),
            divmod(z, 2), abs(z), round(z), z ** 2, int(z), complex(z), str(z), f"{z:.2f}", hash(z),
            isinstance(z, np.floating), np.full(2, z), np.zeros(2) + z)


def test_numbers_of_two_types_as_arguments():
    for dtype in "int64", "uint8":
        compiled = njit(lengths)
        for values in [0, 1, 2, 3], [60, 2, 2, 3], [101, 1, 2, 3]:
            agree(lengths, np.array(values, dtype), compiled=compiled)
    compiled = njit(of_each)
    for values in [-1.0, 2.0], [2.0, -1.0], [-1.0, -1.0]:
        agree(of_each, np.array(values), compiled=compiled)


def extremes_of_several(a):
    low, high, top = 5, 0, 0.0
    for x in a:
        low = min(x, low)
        high = max(high, x)
        top = max(x, top)
    clipped = min(max(a[0] * 2.5, 0), 255)
    numbers = np.zeros(3, np.uint8)
    numbers[0] = clipped
    numbers[1] = np.uint8(clipped)
    return (low, high, top, clipped, numbers, max(low, high), min(high, top), max(0, high), min(high, 0),
            np.float32(top), high < top)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "complex64"])
def test_extremes_of_numbers_of_two_types(dtype):
    compiled = njit(extremes_of_several)
    for values in [1, 2, 3], [0, 0], [100, 3]:
        agree(extremes_of_several, np.array(values, dtype), compiled=compiled)
    if np.dtype(dtype).kind == "f":
        for values in [np.nan, 1.0], [1.0, np.nan], [-0.0, 0.0], [-3.0, 5.0]:
            agree(extremes_of_several, np.array(values, dtype), compiled=compiled)


def stored_beyond(a, flag):
    k = 300
    if flag:
        k = a[0]
    numbers = np.zeros(2, np.int8)
    numbers[1] = k
    return numbers


def test_a_constant_that_does_not_fit_an_element():
    for dtype in "float64", "int64", "int8":
        compiled = njit(stored_beyond)
        for flag in True, False:
            agree(stored_beyond, np.array([7], dtype), flag, compiled=compiled)


def conditional(masks, weights):
    best = 0
    for mask in masks:
        total = 0
        for bit in range(len(weights)):
            if mask >> bit & 1:
                total += weights[bit]
        best = max(best, total)
    return best


def test_a_sum_under_a_condition_is_vectorised():
    compiled = agree(conditional, np.arange(9), np.arange(5))
    agree(conditional, np.zeros(2, np.int64), np.arange(5), compiled=compiled)
    assert "paddq" in next(iter(compiled.inspect_asm().values()))


def largest(a):
    best = 0
    for x in a:
        best = max(best, x)
    return best


def smallest(a):
    least = 5.0
    where = -1
    for i in range(len(a)):
        if a[i] < least:
            least = a[i]
            where = i
    return least, where


def last_of_the_largest(a):
    best = 0
    for x in a:
        if x >= best:
            best = x
    return best


def largest_of_sums(a):
    best = 0
    for n in range(len(a)):
        total = 0
        for i in range(n):
            if a[i] > 1:
                total += a[i]
        best = max(best, total)
    return best


def largest_or_another(a):
    best = -3
    for x in a:
        other = 7
        if x > 5:
            other = x
        if other > best:
            best = other
    return best


def largest_of_two_starts(a):
    best = 0 if len(a) > 2 else -1
    for x in a:
        if x > best:
            best = x
    return best


EXTREMES = [largest, smallest, last_of_the_largest, largest_of_sums, largest_or_another, largest_of_two_starts]


@pytest.mark.parametrize("program", EXTREMES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "float64"])
def test_a_running_extreme_gives_the_constant_where_nothing_passes_it(program, dtype):
    compiled = njit(program)
    for values in [], [0], [1], [5], [0, 0, 0], [1, 2, 9], [9, 2, 1], [3, 100, 0, 1], [6, 5, 7, 7]:
        agree(program, np.array(values, dtype), compiled=compiled)
    if np.dtype(dtype).kind == "f":
        for values in [np.nan], [-0.0], [np.nan, 3], [3, np.nan, 1], [-np.inf, 7, 7], [np.inf, -0.0]:
            agree(program, np.array(values, dtype), compiled=compiled)


def test_the_flag_of_a_running_extreme_is_no_part_of_the_loop():
    for program in largest, largest_of_sums:
        compiled = agree(program, np.arange(40))
        loops = next(iter(compiled.inspect_llvm().values()))
        assert "phi i1" not in loops and "phi <4 x i1>" not in loops
