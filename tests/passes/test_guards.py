"""The guards before loops, with operands at the limits of 64 bits, against the interpreter: values, exceptions."""
import numpy as np
import pytest
from tests.ir.stages import typed
from tests.oracle import agree

from pyjitc import njit
from pyjitc.base.options import Options
from pyjitc.ops.guards import AFFINE_IN_RANGE
from pyjitc.pipeline import stages

MOST = 2**63 - 1
NEAR = [2**62, 2**61, 2**60, 2**59, 2**58, 2**57, 2**56, 2**48, 2**31]
EDGES = sorted({0, 1, -1, 3, 62, 63, 64, MOST, MOST - 1, -MOST, -MOST - 1,
                *(s * (n + d) for n in NEAR for d in (-1, 0, 1) for s in (1, -1))})


def elements(a, n, offset, other):
    total = 0.0
    for i in range(n):
        total += a[i + offset - other]
    return total


def from_the_end(a, n, offset, other):
    total = 0.0
    for i in range(n):
        total += a[offset - i + other]
    return total


def shifts(a, n, offset, other):
    bits = 0
    for i in range(n):
        bits ^= 1 << (offset + i) >> (other - i + n)
    return bits


def sums(a, n, offset, other):
    last = 0
    for i in range(n):
        last = offset + other + 3 * i
        a[i] = last % 7
    return last


def differences(a, n, offset, other):
    found = 0
    for i in range(n):
        if (offset - 2 * i) - (other + i) > i:
            found += 1
    return found


def sums_of_rows(a, start, rows, out):
    """Three sums of small numbers: through the nest, anew in each row, and of both loops."""
    total = both = start
    for i in range(rows):
        row = 0
        for j in range(a.shape[1]):
            row += int(a[i, j])
            total += int(a[i, j]) & 7
            out[i, j] = row
        both += i & 3
        for j in range(a.shape[1]):
            both += int(a[i, j])
    return total, both


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.int64])
def test_sums_in_nests_at_the_limits(dtype):
    a = np.random.default_rng(3).integers(1, 100, (5, 40)).astype(dtype)
    compiled = njit(sums_of_rows)
    bound = int(a.sum())
    for start in (0, -5, 2**62, 2**62 + 1, MOST - 10 * bound, MOST - bound - 10, MOST - bound - 1, MOST - bound // 2,
                  MOST - 3, MOST, -MOST - 1):
        for rows in 0, 1, 5:
            ours, theirs = np.zeros((5, 40), np.int64), np.zeros((5, 40), np.int64)
            expected = sums_of_rows(a, start, rows, theirs)
            if max(expected) > MOST:
                with pytest.raises(OverflowError):
                    compiled(a, start, rows, ours)
            else:
                assert compiled(a, start, rows, ours) == expected
                assert (ours == theirs).all()


def hexadecimal(data, digits, out):
    for i in range(len(data)):
        out[2 * i] = digits[data[i] >> 4]
        out[2 * i + 1] = digits[data[i] & 15]
    return out


@pytest.mark.parametrize("length", [0, 1, 9, 15, 16, 17, 300])
@pytest.mark.parametrize("most", [1, 128, 256])
def test_tables_that_masked_indices_may_exceed(length, most):
    rng = np.random.default_rng(length)
    for n in 0, 1, 3, 70:
        data, digits = rng.integers(0, most, n).astype(np.uint8), rng.integers(0, 200, length).astype(np.uint8)
        results = []
        for f in hexadecimal, njit(hexadecimal):
            out = np.zeros(2 * n, np.uint8)
            try:
                results.append(f(data, digits, out).tolist())
            except IndexError as error:
                results.append((str(error), out.tolist()))
        assert results[0] == results[1]


def outcome(f, *args):
    a = np.arange(8.0)
    try:
        result = f(a, *args)
    except (IndexError, OverflowError, ValueError) as error:
        return type(error), str(error) if isinstance(error, ValueError) else None, a.tolist()
    return type(result), result, a.tolist()


@pytest.mark.parametrize("program", [elements, from_the_end, shifts, sums, differences], ids=lambda f: f.__name__)
def test_operands_at_the_limits(program):
    compiled = njit(program)
    for offset in EDGES:
        for other in EDGES:
            if program is shifts and offset > 64:
                continue  # the interpreter would make ints of so many bits
            for n in (0, 1, 5):
                wanted, found = outcome(program, n, offset, other), outcome(compiled, n, offset, other)
                if found[0] is OverflowError and wanted[0] is not OverflowError:
                    assert largest(program, n, offset, other) > MOST, (n, offset, other)  # on the way to the result
                else:
                    assert found == wanted, (n, offset, other)


def largest(program, n, offset, other):
    """The greatest size that a number has on the way, a negative one counted so that all 64-bit ints are in range."""
    steps = {
        elements: lambda i: (i + offset, i + offset - other),
        from_the_end: lambda i: (offset - i, offset - i + other),
        sums: lambda i: (offset + other, 3 * i, offset + other + 3 * i),
        differences: lambda i: (offset - 2 * i, other + i, (offset - 2 * i) - (other + i)),
        shifts: lambda i: (offset + i, other - i, other - i + n,
                           1 << offset + i if 0 <= offset + i < 200 else 0),
    }[program]
    return max([v if v >= 0 else -v - 1 for i in range(n) for v in steps(i)], default=0)


def without_signs(a, n, offset, other):
    last = 0.0
    for i in range(n):
        place = np.int64(i) + np.int64(offset)
        last = a[np.uint64(place)] + a[np.uint64(place + np.int64(other)) - np.uint64(other & MOST)]
        a[np.uint64(i)] = last + 10.0
    return last


def of_32_bits(a, n, offset, other):
    last = 0.0
    for i in range(n):
        place = np.int64(i) + np.int64(offset)
        last = a[np.uint32(place)] + a[np.uint64(place - np.int64(other))]
        a[np.uint64(i)] = last + 10.0
    return last


def ints_without_signs(a, n, offset, other):
    last = 0.0
    for i in range(n):
        last = a[np.uint64(5 - 2 * i)] + a[np.uint64((offset & 15) + i)]
        a[np.uint64((other & 7) + i)] = last + 10.0
    return last


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("program", [without_signs, of_32_bits, ints_without_signs], ids=lambda f: f.__name__)
def test_indices_without_signs_at_the_limits(program):
    compiled = njit(program)
    numbers = [v for v in EDGES if v % 2**31 in (0, 1, 3, 2**31 - 1)] + [2, 4, 5, 2**32 + 2]
    for offset in numbers:
        for other in numbers:
            for n in (0, 1, 5):
                assert outcome(compiled, n, offset, other) == outcome(program, n, offset, other), (offset, other, n)


def diagonals(a, b, starts, best, where):
    """Three loops; the indices of the second one depend on a number that the first one loads."""
    for q in range(len(starts)):
        start = starts[q]
        last = 1.0
        for i in range(max(0, -start), min(len(a), len(b) - start)):
            x, y = np.uint64(i), np.uint64(i + start)
            last = last * 0.5 + a[x] * b[y] + b[x]
            if last > best[x, 0]:
                for at in range(best.shape[1] - 1):
                    best[x, at] = best[x, at + 1]
                    where[y, at] = where[y, at + 1]
                best[x, best.shape[1] - 1] = last
                where[y, best.shape[1] - 1] = i


def test_guards_of_inner_loops():
    """The arrays that are written are at times shorter than the loops, so that one ends with an error on the way."""
    compiled, rng, errors = njit(diagonals), np.random.default_rng(0), 0
    for trial in range(300):
        width = 3 - (trial % 5 == 0)
        m, n, rows, columns = rng.integers(1, 12, 4)
        a, b = rng.random(m), rng.random(n)
        starts = rng.integers(-m - 1, n + 2, 4)
        wanted, found = [], []
        for f, got in ((diagonals, wanted), (compiled, found)):
            best, where = np.zeros((rows + 4, 3)), np.full((columns + 4, width), -1)
            try:
                f(a, b, starts, best, where)
            except IndexError as error:
                got.append(str(error))
            got += [best.tolist(), where.tolist()]
        errors += len(wanted) > 2
        assert found == wanted
    assert 50 < errors < 250


def masked(x, y, n):
    total = 0
    for i in range(n):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        total ^= x
    return x, total


def crossed(x, y, n):
    for i in range(n):
        if x & 1:
            x, y = y * 7 & 4095, (x * 9 + 1) % 1000
        else:
            y = y * 5 % 1021
    return x, y


def in_rows(x, y, n):
    total = 0
    for i in range(n):
        for j in range(3):
            x = (x * 77 + i) & 1023
            total += x - j
        y = y * 3 & 255
    return total, x, y


@pytest.mark.parametrize("program", [masked, crossed, in_rows], ids=lambda f: f.__name__)
def test_numbers_that_are_small_from_the_second_trip_on(program):
    compiled = njit(program)
    for x in (*EDGES, 2**32, 2**32 + 1, -2**32, -2**32 - 1, 2**53):
        for y in (0, -1, 2**32, 2**32 + 1, -2**32 - 1, 2**60, MOST):
            for n in (0, 1, 2, 7):
                try:
                    found = compiled(x, y, n)
                except OverflowError:
                    assert max(abs(x), abs(y)) * 1664525 + 1013904223 > MOST
                else:
                    assert found == program(x, y, n)


def of_products(a, b, n):
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


def of_quotients(a, b, n):
    total = 0.0
    for i in range(n):
        total += a[i] / b[i]
    return total


def of_three(a, b, n):
    total = 0.0
    for i in range(n):
        total += a[i] * b[i] - a[i + 1]
    return total


def of_the_same(a, b, n):
    total = 0.0
    for i in range(n):
        total += a[i] * b[0]
    return total


def of_two_loops(a, b, n):
    total = 0.0
    for i in range(n):
        total += a[i]
    for i in range(n):
        b[i] = total
    return total


@pytest.mark.parametrize("f, options, guarded", [
    (of_products, {}, False), (of_products, {"fastmath": True}, True), (of_quotients, {}, True), (of_three, {}, True),
    (of_the_same, {}, True), (of_two_loops, {}, True)])
def test_no_guard_stands_before_a_loop_whose_trips_wait_for_a_sum(f, options, guarded):
    """Its checks take no time. Where LLVM may add in another order, or divides in vectors, they do."""
    compiled = njit(f, **options)
    for n in (0, 1, 5, 6, 7, -1):  # beyond the end of the arrays, too
        agree(f, np.arange(1.0, 7.0), np.arange(2.0, 8.0), n, compiled=compiled)
    module = stages.optimise(typed(f, (np.ones(3), np.ones(3), 3)).functions, Options(**options))
    assert any(inst.op is AFFINE_IN_RANGE for block in module[0].blocks for inst in block.insts) == guarded
