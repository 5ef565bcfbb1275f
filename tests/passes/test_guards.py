"""The guards before loops, with operands at the limits of 64 bits, against the interpreter: values, exceptions."""
import numpy as np
import pytest

from pyjitc import njit

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
