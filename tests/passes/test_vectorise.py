"""Loops around loops, of which several iterations run at once (passes/vectorise.py), beside the interpreter.

Every program runs for several lengths, with numbers that make some iterations end at once, late, or with nan. Results
must be equal to the last bit: each lane does the operations of its iteration in their order.
"""
from __future__ import annotations


import numpy as np
import pytest

from pyjitc import njit, pmap, prange, vmap


def newton(x, out):
    for i in range(len(x)):
        y = x[i] * x[i] + 1.0
        z = y
        while abs(z * z - y) > 1e-3 * y:
            z = 0.5 * (z + y / z)
        out[i] = z


def counting(x, out):
    for i in range(len(x)):
        z, n = abs(x[i]) + 1.0, 0
        while z < 1e6:
            z = z * 1.25 + 0.5
            n += 1
        out[i] = n + 0.25 * z


def escape(x, out):
    for i in range(len(x)):
        a, b, c = 0.0, 0.0, 50
        for k in range(50):
            a, b = a * a - b * b + x[i], 2.0 * a * b + 0.3
            if a * a + b * b > 4.0:
                c = k
                break
        out[i] = c


def bisection(x, out):
    for i in range(len(x)):
        low, high = 0.0, 2.0 + abs(x[i])
        while high - low > 1e-3:
            middle = 0.5 * (low + high)
            if middle * middle * middle + middle < x[i]:
                low = middle
            else:
                high = middle
        out[i] = low + high


def logistic(x, out):
    for i in range(len(x)):
        y = x[i]
        for _ in range(20):
            y = 3.7 * y * (1.0 - y)
        out[i] = y


def two_loops(x, out):
    for i in range(len(x)):
        y = abs(x[i])
        while y > 1.0:
            y = y * 0.5 - 0.1
        z = y + 0.5
        while z < 3.0:
            z = z * 1.5 + 0.25
        out[i] = y - z


def inside_another(x, out):
    for i in range(len(x)):
        y, rounds = abs(x[i]), 0.0
        while y > 0.1:
            step = 1.0
            while step > y:
                step = step * 0.5 - 1e-3
            y = y - step * 0.75
            rounds += 1.0
        out[i] = rounds + y


def two_ways_out(x, out):
    for i in range(len(x)):
        y, found = x[i], 0.0
        for k in range(30):
            y = y * y - 1.1
            if y > 10.0:
                found = 1.0
                break
            if y < -1.05:
                found = -float(k)
                break
        else:
            found = 7.0
        out[i] = found * 100.0 + y


def passing_over(x, out):
    for i in range(len(x)):
        y, s = x[i], 0.0
        for k in range(12):
            y = y * 0.9 + 0.05
            if y < 0.2:
                continue
            s += y * k
            if s > 4.0:
                break
        out[i] = s


def after_a_test(x, out):
    for i in range(len(x)):
        y = x[i]
        if y > 0.5:
            while y > 0.5:
                y = y * 0.75 - 0.01
        else:
            y = y - 1.0
        out[i] = y * 2.0


def in_place(x, out):
    for i in range(len(x)):
        out[i] = x[i]
    for i in range(len(out)):
        y = out[i]
        while y > 1.0:
            y = np.sqrt(y) - 0.01 * y
        out[i] = y


def backwards(x, out):
    for i in range(len(x) - 1, -1, -1):
        y = x[i]
        while abs(y) > 0.3:
            y = y * 0.5 + 0.001 * i
            if y > 40.0:
                break
        out[i] = y


def strided(x, out):
    for i in range(0, len(x), 3):
        y = x[i]
        while y * y > 0.2:
            y = 0.7 * y
        out[i] = y


def of_numbers(x, out):
    for i in range(len(x)):
        y = 0.37 * i - 3.0
        while y * y > 0.5 and y < 1e3:
            y = 0.5 * y + 0.125
        out[i] = y


def maximum(x, out):
    for i in range(len(x)):
        y, most = x[i], -1.0
        for _ in range(18):
            y = 3.9 * y * (1.0 - y)
            most = max(most, y)
            y = min(y, 1.0)
        out[i] = most


def in_parallel(x, out):
    for i in prange(len(x)):
        y = x[i]
        while y > 1.0:
            y = y * 0.5 - 0.1
        out[i] = y


def stored_by_some(x, out):
    for i in range(len(x)):
        out[i] = 5.0
        a, b = 0.0, 0.0
        for k in range(30):
            a, b = a * a - b * b + x[i], 2.0 * a * b + 0.3
            if a * a + b * b > 4.0:
                out[i] = k
                break


def loaded_by_some(x, out):
    for i in range(len(x)):
        y = 0.37 * i
        while y > 1.0:
            y = y * 0.5 - 0.1
        z = 1.0
        if y < 0.3:
            z = x[i]
        else:
            out[i] = y
        out[i] += y * z


def summed(x, out):
    total, last, product = 0.0, -1.0, 1.0
    for i in range(len(x)):
        y = x[i]
        while y > 1.0:
            y = y * 0.5 - 0.1
        total += y
        product = product * y + total
        last = y - last
    if len(out) > 2:
        out[0], out[1], out[2] = total, last, product


def counted_inside(x, out):
    total, others = 0, 5
    for row in range(3):
        for i in range(len(x)):
            y = abs(x[i]) + 0.25 * row
            while y > 1.0:
                y = y * 0.5 - 0.1
                total += 1
                if y < 0.5:
                    others += 2
                    break
    if len(out) > 1:
        out[0], out[1] = total, others


def chosen(x, out):
    most = -1e9
    for i in range(len(x)):
        y = x[i]
        while y > 1.0:
            y = y * 0.5 - 0.1
        if y > most:
            most = y
    if len(out):
        out[0] = most


def counted(x, out):
    total, before = 0, 0
    for i in range(len(x)):
        y, n = abs(x[i]), 0
        while y > 1.0:
            y = y * 0.5 - 0.1
            n += 1
        total = 3 * total + n if i < 6 else total + before
        before = n
    if len(out):
        out[0] = total


def overflowing(x, out):
    total = 9223372036854775800
    for i in range(len(x)):
        y, n = abs(x[i]), 0
        while y > 1.0:
            y = y * 0.5 - 0.1
            n += 1
        total += n
    if len(out):
        out[0] = total


def together(x, out):
    """An iteration that reads what another one has written stays in its order."""
    for i in range(1, len(x)):
        y = x[i] + out[i - 1]
        while y > 1.0:
            y = y * 0.5 - 0.1
        out[i] = y


def shifted(x, out):
    for i in range(len(x) - 1):
        y = out[i]
        while y > 1.0:
            y = y * 0.5 - 0.1
        out[i + 1] = y + x[i]


def one_place(x, out):
    for i in range(len(x)):
        y = x[i]
        while y > 1.0:
            y = y * 0.5 - 0.1
        out[0] = y


def raising(x, out):
    for i in range(len(x)):
        y = x[i]
        while y > 1.0:
            y = y * 0.5 - 0.1
        if y < -3.0:
            raise ValueError("too small")
        out[i] = y


def left_early(x, out):
    for i in range(len(x)):
        y = x[i]
        while y > 1.0:
            y = y * 0.5 - 0.1
        if y < -3.0:
            return i
        out[i] = y
    return -1


def raising_inside(x, out):
    for i in range(len(x)):
        y, z = float(x[i]), 1.0
        for k in range(30):
            z = z - (z * z - y) / (2.0 * z)
            if z > 100.0:
                raise ValueError(f"too large in trip {k} of {i}")
        out[i] = z


def raising_after_a_store(x, out):
    for i in range(len(x)):
        out[i] = 1.0
        y = x[i]
        while y > 1.0:
            y = y * 0.5 - 0.1
        if y < -3.0:
            raise ValueError("too small")


def powers(x, out):
    for i in range(len(x)):
        y, z, n = float(x[i]) * 1e60, 0.5, 0
        while n < 20 and y ** 2 + z ** 2 < 1e300:
            y, z = y * y - z, 2.0 * y * z
            n += 1
        out[i] = n


def mandelbrot(x, out):
    for i in range(len(x)):
        c, z, n = complex(x[i], 0.3), 0j, 0
        while n < 50 and z.real ** 2 + z.imag ** 2 <= 4.0:
            z = z * z + c
            n += 1
        out[i] = n + z.real


def complex_numbers(x, out):
    given = x + 0.25j * x[::-1]
    left = np.zeros(len(x), given.dtype)
    for i in range(len(x)):
        z = 0j
        for n in range(40):
            z = z * z + given[i]
            if z.real * z.real + z.imag * z.imag > 4.0:
                out[i] = n
                break
        left[i] = z
    out += np.abs(left.real) + left.imag


def lengths(x, out):
    limit = abs(float(x[-1])) if len(x) else 1.0
    for i in range(len(x)):
        z, n = complex(x[i], 0.0), 0
        while abs(z) <= limit and n < 30:
            z = z * (1.5 + 0.5j)
            n += 1
        w = complex(3.0 * (i % 3), 4.0 * (i % 2))
        while abs(w) >= 5.0:
            w = w * 0.5
        out[i] = n + w.real


def great_lengths(x, out):
    for i in range(len(x)):
        z, n = complex(x[i] * 1e-180, 1e-170), 0
        for n in range(40):
            if abs(z) > 1e160:
                break
            z = z * (1e9 + 1e5j)
        out[i] = n


def too_long(x, out):
    for i in range(len(x)):
        z, n = complex(x[i], x[i]), 0
        while abs(z) < 1e308:
            z = z * 1e3
            if n > 100:
                break
            n += 1
        out[i] = n


def kernel_sums(x, out):
    for i in range(len(x)):
        s = 0.0
        for k in range(len(x)):
            d = x[i] - x[k]
            s += 1.0 / (1.0 + d * d)
        out[i] = s


def horner(x, out):
    coefficients = x[:7]
    for i in range(len(x)):
        y = 0.0
        for k in range(len(coefficients)):
            y = y * x[i] + coefficients[k]
        out[i] = y


def of_a_part(x, out):
    part, factors = x[:len(x) // 8], x[5:]
    for i in range(len(factors)):
        s, k = 0.0, 0
        for k in range(len(part)):
            s = s * factors[i] + part[k] * 0.5 - s * s
            if s > 4.0:
                break
        out[i] = s - k


def until_the_end(x, out):
    for i in range(len(x)):
        s, k = 0.0, 0
        while k < len(x) and s * s < abs(x[i]) * 4.0:
            if s < 1.0:
                s = s * 0.5 + x[k] * x[i]
            s = s + 0.125 * x[i]
            k += 1
        out[i] = s + k


def roots_of_one(x, out):
    for i in range(len(x)):
        z = complex(x[i], 1.0 - x[i])
        for _ in range(25):
            step = (z * z * z - 1.0) / (3.0 * z * z)
            z = z - step
        out[i] = z.imag


def same_for_all(x, out):
    """Divisors, and a number of trips, that do not depend on the iteration."""
    y = float(x[0]) if len(x) else 1.0
    for i in range(len(x)):
        z, n = y, 0
        while z > 1.0 and n < 33:
            n += 1
            z = 0.5 * (z + y / z)
        w = 4.0 - z * 0.25
        for k in range(10):
            w = w * 0.5 + x[i] / (w - 7.0) / y
            if w < -1.0:
                break
        out[i] = n + w


WIDE = (same_for_all, horner, kernel_sums, of_a_part, until_the_end, lengths, great_lengths, too_long, left_early,
        raising, raising_inside, powers, mandelbrot, complex_numbers, newton, counting, escape, bisection, logistic,
        two_loops, inside_another, two_ways_out, passing_over, after_a_test, in_place, backwards, strided, of_numbers,
        maximum, in_parallel, one_place, stored_by_some, loaded_by_some, summed, counted_inside)
NARROW = (together, shifted, raising_after_a_store, roots_of_one, chosen, counted)


def numbers(n, dtype, kind):
    random = np.random.default_rng(n)
    x = random.normal(size=n) * 3 if kind == "wide" else random.uniform(0, 1, n)
    if kind == "special" and n:
        x[::5] = random.choice([0.0, -0.0, np.nan, 1e3], len(x[::5]))
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("f", [*WIDE, *NARROW], ids=lambda f: f.__name__)
def test_as_in_the_interpreter(f, dtype):
    made = njit(f)
    for n in (0, 1, 7, 8, 9, 16, 45):
        for kind in ("wide", "unit", "special"):
            x = numbers(n, dtype, kind)
            found, expected = np.zeros(n, dtype), np.zeros(n, dtype)
            errors = []
            for call, out in ((made, found), (f, expected)):
                try:
                    with np.errstate(all="ignore"):
                        errors.append(call(x.copy(), out))
                except (ValueError, ArithmeticError) as error:
                    errors.append(repr(error))
            assert errors[0] == errors[1]
            np.testing.assert_array_equal(found, expected, f"{n} numbers, {kind}")


def test_an_overflow_is_raised_where_the_loop_raises_it():
    x = np.full(30, 5.0)
    with pytest.raises(OverflowError, match=r"9223372036854775806 \+ 3 does not fit"):
        njit(overflowing)(x, x)


def kepler(x, out):
    for i in range(len(x)):
        e, step = x[i], 1.0
        for _ in range(30):
            step = (e - 0.6 * np.sin(e) - x[i]) / (1.0 - 0.6 * np.cos(e))
            e = e - step
            if abs(step) < 1e-12:
                break
        out[i] = e


def growing(x, out):
    for i in range(len(x)):
        y = x[i]
        while y < 4.0:
            y = y + np.exp(-y)
        out[i] = y


@pytest.mark.parametrize("f", [kepler, growing], ids=lambda f: f.__name__)
def test_elementary_functions_have_the_same_values_side_by_side(f):
    made = njit(f)
    x = np.concatenate((np.random.default_rng(0).normal(size=50) * 3, [np.nan, 0.0, -0.0, 1e-300, 1e18, 7e22]))
    found, single = np.empty(len(x)), np.empty(1)
    made(x, found)
    for i in range(len(x)):
        made(x[i:i + 1], single)
        np.testing.assert_array_equal(found[i:i + 1], single)
    with np.errstate(all="ignore"):
        expected = np.empty(len(x))
        f(x, expected)
    np.testing.assert_allclose(found[:53], expected[:53], 1e-9)
    assert is_wide(f, x, found)


@pytest.mark.parametrize("transform", [vmap, pmap])
def test_examples_of_a_batch_run_side_by_side(transform):
    def root(a, b):
        low, high = 0.0, 2.0 + a
        while high - low > 1e-9:
            middle = 0.5 * (low + high)
            if middle * middle + b * middle < a:
                low = middle
            else:
                high = middle
        return low, high > 1.0

    made = transform(root, (0, None))
    for n in (1, 15, 16, 17, 24, 40):
        a = np.random.default_rng(n).uniform(0.0, 5.0, n)
        expected = [root(x, 0.5) for x in a]
        for k in range(2):
            np.testing.assert_array_equal(made(a, 0.5)[k], [one[k] for one in expected])
    assert any("vector_any" in text for text in made._inspect("opt", None).values())


def is_wide(f, *args):
    """Whether a compile makes vectors."""
    f = type(f)(f.__code__.replace(co_name=f"{f.__name__}_again"), f.__globals__)
    made = njit(f)
    made(*args)
    return any("vector_any" in text for text in made._inspect("opt", None).values())


@pytest.mark.parametrize("f", [*WIDE, *NARROW], ids=lambda f: f.__name__)
def test_which_become_vectors(f):
    assert is_wide(f, np.zeros(9), np.zeros(9)) == (f in WIDE)
