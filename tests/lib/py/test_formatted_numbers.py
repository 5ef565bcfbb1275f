"""Floats formatted with a number of digits after the decimal point, and joined texts, compared with the interpreter."""
import math
import random
import struct

import pytest

from pyjitc import njit

from ...oracle import agree


@njit
def fixed(x):
    return (f"{x:.0f}", f"{x:.1f}", f"{x:.2f}", f"{x:.3f}", f"{x:.4f}", f"{x:.5f}", f"{x:.6f}", f"{x:.7f}", f"{x:.8f}",
            f"{x:.9f}", f"{x:.10f}")


def numbers(R):
    yield from (0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 0.125, 0.375, 1e15, 2.0**53, 2.0**53 - 1, 1e16, 1e17, 1e18, 1e300,
                -1e300, 5e-324, 1e-300, math.inf, -math.inf, math.nan, 0.005, 0.015, 1.005, 2.675, 999999.995,
                0.9999999999,
                -0.001, 9.5, 99.5, 0.05, 1e9, 1e8 - 0.5, 2.0**-30, 2.0**-67, 2.0**-68)
    for _ in range(3000):
        yield struct.unpack("d", struct.pack("Q", R.getrandbits(64)))[0]
        yield R.uniform(-1e6, 1e6)
        yield R.randrange(-10**6, 10**6) / R.choice([2, 4, 8, 16, 32, 64, 100, 1000])  # ties, and near them
        yield R.random() * 10.0 ** R.randrange(-20, 25)


def test_digits_behind_the_point():
    for x in numbers(random.Random(3)):
        assert fixed(x) == fixed.py_func(x), x


def joined(a, b, i, x):
    return f"{a}-{b}{i}={x:.3f}", f"{a}{b}", f"{b}{a}{a}"


@pytest.mark.parametrize("a", ["", "a", "abc", "é", "Ж", "😀"])
def test_texts_of_all_widths_are_joined(a):
    compiled = None
    for b in ("", "b", "z" * 50, "ñ", "Ж"):
        compiled = agree(joined, a, b, -5, 2.5, compiled=compiled)
    (text,) = compiled.inspect_llvm().values()
    assert "pyj_str_join" in text and "pyj_decimal_fixed" in text


def mirrored(a, b):
    return a == a[::-1], a[::-1] == b, b != b[::-1]


@pytest.mark.parametrize("a", ["", "a", "aba", "abc", "ab" * 40, "é", "aéa", "Жab", "ЖbЖ", "😀", "😀a😀", "abcé"])
def test_reversed_texts_are_compared(a):
    compiled = None
    for b in (a[::-1], a, a + "b", "cba", "aéa"):
        compiled = agree(mirrored, a, b, compiled=compiled)
    (text,) = compiled.inspect_llvm().values()
    assert "pyj_str_mirrored" in text and "pyj_str_reversed" not in text


def shortest(values):
    return [f"{x}" for x in values]


def test_the_fewest_digits_that_say_a_float():
    R = random.Random(5)
    given = [*numbers(R), 5e-324, 1e-323, 1.5e-323, 2.2250738585072014e-308, 1.7976931348623157e308, 1e22, 1e23,
             9999999999999998.0, 123456789012345680.0, 1e-4, 1.1e-5, 1e16]
    given += [math.ldexp(1.0, n) for n in range(-1074, 1024)]  # below a power of two the next float is nearer
    given += [struct.unpack("d", struct.pack("Q", R.getrandbits(n)))[0] for n in range(1, 54) for _ in range(20)]
    given += [float(f"{R.randrange(10 ** R.randrange(1, 18))}e{R.randrange(-324, 308)}") for _ in range(5000)]
    assert njit(shortest)(given) == list(map(repr, given))


def put_together(values, names):
    found = []
    for n, x in enumerate(values):
        s = names[n % len(names)]
        found.append(f"{s}: {x:.2f} ({n - 3})")
        found.append(f"{x:.0f}{s}{x:.9f}{-n}")
        found.append(f"{s}{n:d}{s}")
    return found


def test_numbers_are_written_into_the_text_of_which_they_are_parts():
    values = list(numbers(random.Random(4)))[:1000] + [1e300, -1e22, math.nan]
    compiled = None
    for names in (["a", "", "k" * 200], ["é", "Ж"], ["😀", "a"]):
        compiled = agree(put_together, values, names, compiled=compiled)
    (text,) = compiled.inspect_llvm().values()
    assert "pyj_decimal_fixed_part" in text and "pyj_decimal_int_part" in text and "@pyj_decimal_fixed(" not in text

    @njit
    def kept(x, n):
        a = f"{n}"
        b = f"{a}|{x:.1f}"
        return a, b, f"{a}{b}{n}"

    for n in (0, -2**63, 2**63 - 1):
        assert kept(2.5, n) == (f"{n}", f"{n}|2.5", f"{n}{n}|2.5{n}")


_KINDS = {int: ("", "d", "x"), float: ("", "f", ".2f", ".0f", ".9f", ".12f", ".3e", "%", ".1%"), str: ("", "s", ".2")}
_VALUES = {int: (0, 7, -12, 999, -1000, 1234567, 2**63 - 1, -2**63),
           float: (0.0, -0.0, 999.995, -1234.5678, 123456789.125, 2.0**53, -1e300, math.nan, -math.inf),
           str: ("", "ab", "h\xe9llo", "\u0119", "x" * 41)}


def formats(cls):
    """Some of the formats that are valid for a class."""
    R = random.Random(str(cls))
    found = []
    while len(found) < 48:
        spec = "".join(map(R.choice, (("", "", "<", ">", "^", "*<", "->", "0>", "=^", "\xe9<"), ("", "", "+"),
                                      ("", "5", "05", "12", "020", "40", "41"), ("", "", ","), _KINDS[cls])))
        try:
            format(_VALUES[cls][0], spec)
        except ValueError:
            continue
        found.append(spec)
    return found


@pytest.mark.parametrize("cls", _KINDS)
def test_formats_with_widths_signs_and_commas(cls):
    parts = ", ".join(f'f"{{x:{spec}}}", f"[{{s}}{{x:{spec}}}|{{n:3}}"' for spec in formats(cls))
    space: dict = {}
    exec(f"def made(x, s, n):\n    return {parts}", space)
    compiled = njit(space["made"])
    for x in _VALUES[cls]:
        for s in ("t", "\u0119"):
            assert compiled(x, s, 5) == space["made"](x, s, 5), x


def test_formats_make_no_object_of_a_number():
    compiled = njit(lambda s, n, x: f"{s:<8}|{n:>5d}|{n:04}|{x:>10,.2f}|{x:+.1f}|{x:9}|{x:.0%}")
    assert compiled("ab", 7, 1234.5) == "ab      |    7|0007|  1,234.50|+1234.5|   1234.5|123450%"
    (text,) = compiled.inspect_llvm().values()
    assert "PyObject_Format" not in text and "PyLong_FromLongLong" not in text


def by_percent(n, x, s):
    return ("%d|%5d|%-5d|%05d|%+d|%s" % (n, n, n, n, n, n), "%f|%8.3f|%-10.1f|%010.2f|%+.1f|%.0f" % (x, x, x, x, x, x),
            "%s|%10s|%-10s|%.2s|%r|%8r|%%" % (s, s, s, s, s, s), "%.3f" % x, "%5.1f%%" % x, "%3s|%-6s" % (n, x),
            "100%% %s" % s, "%x %e %.1f" % (n, x, n), "%-05d|%-008.2f|%-05s|%-0d" % (n, x, s, n),
            "%-08d" % n, "%-08.2f" % x, "%-08s" % s, "%+08d|%+010.1f" % (n, x), "%+5s" % s, "%+-6d|%0-6d" % (n, n))


def by_method(n, x, s):
    return ("{}-{}:{}".format(n, x, s), "{:>8}|{:<8}|{:^8}|{:08.2f}|{:,}".format(s, n, s, x, n),
            "{0}{1}{0}".format(n, s), "{a} {b:.3f}".format(a=s, b=x), "{{}} {!r:>10} {!s}".format(s, n),
            "{:>{w}}".format(s, w=5), "{:x} {:e} {:.1%}".format(n, x, x), "{} {}".format((1, n), None),
            "".format(n),  # noqa: F523
            format(n, ">6"), format(x, "08.3f"), format(s, "^9"))


@pytest.mark.parametrize("function", [by_percent, by_method])
def test_templates(function):
    compiled = njit(function)
    for n in (0, -5, 12345):
        for x in (-0.0, 2.5, -1234.567, 1e20, math.nan, -math.inf):
            for s in ("", "h\xe9llo w\xf6rld", "%s", "{}"):
                agree(function, n, x, s, compiled=compiled)


def wrong_values(s, x):
    found = []
    for k in range(5):
        try:
            if k == 0:
                r = "{:d}".format(s)
            elif k == 1:
                r = "{} {}".format(s)  # noqa: F524
            elif k == 2:
                r = "%d" % s
            elif k == 3:
                r = "%s %s" % (s,)  # noqa: F507
            else:
                r = "{0} {}".format(s, x)  # noqa: F523, F525
        except (TypeError, ValueError, IndexError) as error:
            r = str(error)
        found.append(r)
    return found


def test_errors_of_templates():
    agree(wrong_values, "a", 1.5)
