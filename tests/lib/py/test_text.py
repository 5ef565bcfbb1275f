"""Text and bytes: operators, items, slices, iteration, methods and the builtins that make or read them."""
import os
import random
import resource
import subprocess
import sys

import pytest

from pyjitc import njit
from pyjitc.base.errors import CompileError
from pyjitc.types.kinds import Int, Str
from tests.oracle import agree

TEXTS = ("abcab", "", "h\xe9llo", "\u0119xb", "\U0001f600ab", "ab\ud800c", "A1 \t\u2028z")
ONE = ("", "a", "abd", "\xe9", "\u0119", "\U0001f600", "ab", "b")


def each(function, values, **options):
    compiled = njit(**options)(function)
    for value in values:
        agree(function, *(value if type(value) is tuple else (value,)), compiled=compiled)


def test_methods_of_str():
    def f(s):
        return (s.upper(), s.find("b"), s.isalpha(), s.partition("b"), s.encode("utf-8", "surrogatepass"),
                s.replace("a", "x", 1), s.startswith(("a", "h")), s.center(9, "*"), s.zfill(5), s.join(("x", "y")),
                s.join(["q", "r"]), s.title(), s.count("a", 1), s.strip("ab"), s.expandtabs(tabsize=4))

    each(f, TEXTS)


def test_items_and_slices():
    def f(s):
        return s[1:], s[:2], s[::-1], s[5:2], s[-2:], s[-9:9], s[1:-1:2], s[True:]

    def item(s, i):
        return s[i]

    each(f, TEXTS)
    each(item, [(s, i) for s in TEXTS for i in (0, -1, 2, 100, -100, True)])


def test_iteration():
    def count(s):
        n = 0
        for c in s:
            if c == "a" or c == "\u0119":
                n += 1
        return n, any(c in "xyz" for c in s), [c for c in reversed("ab")][0] if False else ""

    def built(s):
        out = ""
        for i, c in enumerate(s):
            out += c + str(i)
        return out, ",".join(c for c in s), "-".join(c for c in reversed(s))

    def unpacked(s):
        a, b, c = s
        return c + b + a

    each(built, TEXTS)
    each(unpacked, ("abc", "ab", "abcd", "\u0119\U0001f600c"))
    each(count, TEXTS)


def test_operators():
    def f(a, b):
        return a == b, a != b, a < b, a <= b, a > b, a >= b, a in b, a + b, a not in b

    def more(a, n):
        return a * n, n * a, "%s-%d" % (a, n), "{}:{:>5}".format(a, n), f"{a!r:>10}|{n:04d}|{a}"

    each(f, [(a, b) for a in ONE for b in ONE])
    each(more, [(a, n) for a in TEXTS for n in (0, 2, -1)])


def test_bytes():
    def f(b):
        total = 0
        for x in b:
            total += x
        return b[1:], b[::-1], b.upper(), b == b"abc", len(b), b + b"x", b * 2, total, b < b"b", 97 in b, b"c" in b

    def item(b, i):
        return b[i]

    for make in (bytes, bytearray):
        each(f, [make(x) for x in (b"abc", b"", b"\xff\0")])
        each(item, [(make(b"abc"), i) for i in (0, -1, 3, -4)])


def test_bytearray_changes():
    def f(b):
        b.append(7)
        b[0] = 65
        b.extend(b"xyz")
        b += b"q"
        b[1:2] = b"--"
        other = b
        other.insert(0, 9)
        return b.pop(), len(b), b[1], b[1:3], other is b

    def wrong(b, i, x):
        b[i] = x
        return b

    each(f, (bytearray(b"abc"), bytearray(b"q")))
    each(wrong, [(bytearray(b"abc"), i, x) for i in (0, -3, 3, -4) for x in (0, 255, 256, -1)])


def test_the_length_of_a_bytearray_is_asked_at_each_step():
    def f(b):
        n = 0
        for x in b:
            n += x
            if len(b) < 6:
                b.append(x + 1)
        return n

    each(f, (bytearray(b"abc"), bytearray()))


def test_memoryview_in_a_with_statement():
    def f(b, k):
        try:
            with memoryview(b) as m, m[1:] as rest:
                m[0] = 7
                found = sum(rest) + m[k]
        except IndexError as error:
            found = str(error)
        b.append(3)
        return found, b

    agree(f, bytearray(b"abc"), 1)
    agree(f, bytearray(b"abc"), 9)

    def grown(b):
        with memoryview(b) as m:
            b.append(3)
        return len(m)

    agree(grown, bytearray(b"abc"))


def test_memoryview_of_bytes():
    def f(b):
        m = memoryview(b)
        m[0] = 5
        part = m[1:]
        part[0] = 6
        ints = part.tolist()
        ints.append(m[1:].tolist()[0])
        return m[-1], len(m), m.tobytes(), part.tobytes(), m.nbytes, m.readonly, m.shape, sum(m), b, ints

    def read(m):
        return m[0], m.hex(), m == b"abc", [x for x in m][0] if False else 0

    each(f, (bytearray(b"abc"),))
    assert njit(read)(memoryview(b"abc")) == read(memoryview(b"abc"))
    with pytest.raises(TypeError, match="pass x.cast"):
        njit(read)(memoryview(b"abcd").cast("i"))


def test_memoryview_of_other_items_is_refused_behind_one_of_bytes():
    f = njit(lambda m, i: m[i])
    assert f(memoryview(b"abcd"), 1) == 98
    m = memoryview(b"abcdefgh")
    for other in m.cast("d"), m.cast("b"), m.cast("B", (2, 4)):
        with pytest.raises(TypeError, match="pass x.cast"):
            f(other, 0)


def test_builtins():
    def text(x):
        return str(x), repr(x), ascii(x), format(x), f"{x}", f"{x!r:>20}"

    for x in (1, -5, 1.5, True, None, "h\xe9", b"ab", 1 + 2j, (1, "a", 2.5), 10**18, range(3)):
        agree(text, x)
    each(lambda s: int(s), ("12", " -7 ", "x", "1_000", "", "9223372036854775807", "\u0663"))
    each(lambda s, b: (int(s, b), int(s, base=b)), [("ff", 16), ("z", 36), ("9", 8), ("0x1f", 0), ("1", 99)])
    each(lambda s: float(s), ("1.5", "inf", "x", " 1e5 ", "-nan", ""))
    each(lambda s: ord(s), ("a", "", "ab", "\U0001f600"))
    each(lambda s: ord(s), (b"a", b"", b"ab"))
    each(lambda i: chr(i), (0, 97, 255, 256, 0x10ffff, 0x110000, -1, 1 << 40, -(1 << 40)))
    each(lambda i: (bin(i), oct(i), hex(i)), (0, 5, -9, 1 << 40))
    each(lambda n: (bytes(n), bytearray(n), bytes((1, 2, n)), bytes(b"ab"), bytes("h\xe9", "utf-8"), bytes(),
                    bytes([n, 2]), bytes(i for i in range(n))), (3, 0, -1))
    each(lambda b: (str(b, "utf-8"), b.decode(), b.hex(), hash(b), hash("abc")), (b"abc", b"\xff"))
    each(lambda n, x: (n.to_bytes(2, "big"), int.from_bytes(b"\1\2", "little"), x.hex(), float.fromhex("0x1.8p1")),
         ((258, 0.1), (1 << 20, 0.5)))


def test_an_int_of_more_than_64_bits_is_an_error():
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        njit(lambda s: int(s))("9223372036854775808")


def test_methods_called_on_the_class():
    each(lambda s: (str.upper(s), s.translate(str.maketrans("a", "b")), bytes.fromhex("00ff"), max(s), min(s)),
         ("banana",))


def test_values_go_everywhere():
    shared = "global"
    raw = b"raw"

    def f(s, t="default", *, u=b"u"):
        pair = (s, t, u)
        inner = lambda x: x + shared + t  # noqa: E731
        x = s if len(s) > 2 else None
        return pair, inner(s), raw + u, x, x is None

    each(f, TEXTS)


def test_constants_fold():
    def f():
        return "abc".upper() + "x" * 3 + str(12) + chr(97) + "a,b".replace(",", "") + ("y" if "b" in "abc" else "")

    compiled = agree(f)
    text = compiled.inspect_ir()[()]
    assert "ABCxxx12aaby" in text and "text_call" not in text


def test_exceptions_are_pythons():
    def f(s):
        try:
            return s.index("q")
        except ValueError as error:
            return str(error)

    each(f, ("abc", "aq"))
    each(lambda s: s.find(1), ("abc",))
    each(lambda s: s.center("a"), ("abc",))
    each(lambda s: s.encode("ascii"), TEXTS)
    each(lambda b: b % (1,), (b"abc", b"%d"))
    each(lambda b: "a" in b, (b"abc",))


@pytest.mark.parametrize("function, value", [
    (lambda s: s + 1, "a"), (lambda s: s.foo(), "a"), (lambda s: s[1.5], "a"), (lambda s: 1 in s, "a"),
    (lambda s: s * 1.5, "a"), (lambda s: 1.5 * s, "a"), (lambda s: b"a" + s, "a"), (lambda b: b + "a", b"a"),
    (lambda b: b["a"], b"a"), (lambda b: b + "a", bytearray(b"a")), (lambda x: ord(x), 1), (lambda x: hex(x), 1.5),
    (lambda x: chr(x), 1.5), (lambda b: hash(b), bytearray()),
])
def test_what_is_wrong_for_all_values_is_found_when_compiled(function, value):
    with pytest.raises(Exception) as expected:
        function(value)
    with pytest.raises(CompileError) as found:
        njit(function)(value)
    assert str(found.value).splitlines()[0] == str(expected.value)
    assert isinstance(found.value, type(expected.value)) or type(expected.value) is AttributeError


def test_appending_changes_no_text_that_others_have():
    def f(a, b, n, keep, again):
        s = old = ""
        for i in range(n):
            s += a if i % 2 else b
            if i == keep:
                old = s
            if i % again == 0:
                hash(s)
                s += s
            if len(s) > 3000:
                s = s[:10]
        return s, old, "".join(x for x in (s, old, s))

    compiled = njit(f)
    for a in ("", "a", "xyz" * 50, "\xe9", "\u0119" * 9, "\U0001f600"):
        for b in ("b", "\xe9" * 100, "\u0119"):
            for n, keep in ((0, 0), (9, 3), (60, 30), (61, 60)):
                agree(f, a, b, n, keep, 7, compiled=compiled)


def test_characters_and_narrower_texts_are_appended_to_texts_of_all_widths():
    def f(first, chars, part, keep):
        s = kept = first
        for i, c in enumerate(chars):
            s += c
            if i % 7 == 0:
                s += part
            if i == keep:
                kept = s
        return s, kept, "".join(reversed(s)), "-".join(c for c in s if c != "a")

    compiled = njit(f)
    texts = "", "a", "\xe9", "a\u0119", "\ud800", "\U0001f600"
    for first in texts:
        for part in texts:
            for n in (0, 3, 40, 700):
                chars = "ab\0\xe9\u0119\U0001f600"[:1 + n % 5] * (n // 2)
                agree(f, first, chars, part, n // 3, compiled=compiled)
                # the text that CPython makes from the parts has the same hash and UTF-8
                for s in compiled(first, chars, part, n // 3):
                    again = "".join(list(s))
                    assert hash(s) == hash(again) and s.isascii() == again.isascii()
                    assert s.encode("utf-8", "surrogatepass") == again.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("allocator", ("debug", "malloc", "pymalloc"))
def test_appending_with_other_allocators(allocator):
    program = """
import pyjitc
@pyjitc.njit
def f(t, n):
    s = ""
    for i in range(n):
        s += t
    return s
@pyjitc.njit
def g(t, n):
    s = t
    for i in range(n):
        s += chr(97 + i % 9)
    return s
for t in ("a", "\\xe9b", "\\u0119", "\\U0001f600"):
    for n in (1, 5, 40, 700):
        assert f(t, n) == t * n
        assert g(t, n) == g.py_func(t, n)
"""
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "PYTHONMALLOC": allocator})


def test_a_loop_that_appends_takes_memory_for_what_it_makes():
    @njit
    def f(n):
        total = 0
        for i in range(n):
            s = ""
            for k in range(50):
                s += "ab"
            try:
                total += int(s)
            except ValueError:
                total += len(s)
        return total

    assert f(2) == 200
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    f(20000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8000  # KiB


def test_a_loop_over_characters_makes_no_objects():
    def f(s, t):
        n = 0
        best = ""
        for c in s:
            if c == "a" or c in "ei\u0119" or c.isdigit() and ord(c) < 60 or c in t or c == t:
                n += 1
            if c > "m" and c.isalpha():
                best = c
        return n, best

    compiled = njit(f)
    for s in TEXTS:
        for t in ("", "l", "\u0119", "ll"):
            agree(f, s, t, compiled=compiled)
    text = compiled.inspect_llvm()[(Str, Str)]
    loop = text[text.index("_PyUnicode_IsDigit"):]
    assert "PyUnicode_RichCompare" not in loop and "PyUnicode_Contains" not in loop


def test_a_tokeniser():
    def f(s):
        i, tokens = 0, []
        while i < len(s):
            c = s[i]
            if c.isspace():
                i += 1
            elif c.isdigit():
                j = i
                while j < len(s) and s[j].isdigit():
                    j += 1
                tokens.append(s[i:j])
                i = j
            elif c in "+-*/()":
                tokens.append(c)
                i += 1
            else:
                raise ValueError(f"bad character {c!r} at {i}")
        return tokens

    each(f, ("12+(3 -4)*\u0663", "", "1 x", "\U0001f600"))


def test_numbers_and_text():
    def shown(x):
        return str(x), f"{x}", repr(x), f"<{x!s:>5}>", f"{x}{x}"

    def fixed(x):
        return f"{x:.2f}", f"{x:.0f}", f"{x:.12f}", f"{x:8.3f}"

    each(shown, (0, 7, -7, 99, 100, -2**63, 2**63 - 1, 10**18, 10**17 - 1))
    floats = (0.0, -0.0, 1.0, 1.1, 0.3, 2.675, 1e15, 1e16, 999999999999999.0, 1e-4, 9.999e-5, 123456789012345.6, 1 / 3,
              float("inf"), float("nan"), 5e-324, 1e300, -12.25, 100.0, 0.001, 1234567.875, 0.1 + 0.2)
    each(shown, floats)
    each(fixed, floats)
    each(lambda s: int(s), ("0", "-0", "007", "+5", "-", "9" * 18, "-" + "9" * 18, "1" * 19, " 3", "3 ", "1_0", "3.0"))
    each(lambda s: float(s), ("0", "-0", "1.", ".5", "-.5", ".", "1..2", "0.1", "123456789.012345", "1" * 15, "1" * 16,
                              "0." + "1" * 20, "1e5", "-inf", "1_0.5", "+1.5", "1.5x"))


def test_beginnings_and_ends_of_several_texts():
    def f(s, t):
        return (s.startswith((";", "#")), s.endswith(("a", t, "")), s.startswith((t,)), s.startswith(()),
                s.startswith(("a", "b"), 1), not s.endswith(("x", "\xe9")))

    compiled = njit(f)
    for s in ("", "#a", ";", "a\xe9", "ab", "\u0119a"):
        for t in ("", "\xe9", "a#"):
            agree(f, s, t, compiled=compiled)
    each(lambda s: s.startswith(("a", 1)), ("b",))
    compiled = njit(lambda s: s.startswith(("ab", "b")))
    assert compiled("bc")
    (text,) = compiled.inspect_llvm().values()
    assert "PyObject_Vectorcall" not in text


def test_characters_are_sorted_as_code_points():
    def f(s):
        return sorted(s), sorted(s, reverse=True), "".join(sorted(s)), sorted(s, key=None), sorted(s, reverse=len(s))

    each(f, (*TEXTS, "banana", "zyx" * 50))
    compiled = njit(lambda a, b: sorted(a) == sorted(b))
    assert compiled("listen", "silent") and not compiled("ab", "abb")
    (text,) = compiled.inspect_llvm().values()
    assert "pyj_sort_native" in text


def test_formatting_by_percent():
    def f(i, x, s):
        return ("%d-%s" % (i, s), "%s" % s, "%s%%" % i, "%r|%s" % (s, x), "%5.2f|%x" % (x, i), "%d" % x,
                "%s %s" % ((i,), x))

    each(f, ((3, 1.5, "a"), (-3, -0.0, "\u0119"), (2**62, 1e300, "")))
    each(lambda s: "%d" % s, ("a",))
    each(lambda s: "%s %s" % s, ("a", (("a", 1),), ((1, 2, 3),)))


def test_parts_and_cases_of_characters():
    def f(s, i, j, t):
        n = 0
        for c in s:
            if c.lower() == "a" or c.upper() in "BC":
                n += ord(c.upper()[0])
        return s[i:j] == t, t != s[i:], s[:j] == t, s[i:j] == s[j:], "ab" == s[i:j], n

    each(f, [(s, i, j, t) for s in TEXTS[:6] for i, j in ((0, 2), (-3, 9), (2, 1), (1, -1))
             for t in ("ab", "\u0119x", "")])


def test_many_digits_are_rounded_as_the_interpreter_rounds_them():
    @njit
    def f(s):
        return float(s)

    choice = random.Random(7)
    for n in range(20000):
        if n % 3 == 0:
            digits = "".join(choice.choices("0123456789", k=choice.randint(16, 20)))
        elif n % 3 == 1:  # half way between two floats
            digits = str(((1 << 53) + 2 * choice.randint(0, 1 << 52) + 1) << choice.randint(0, 6))
        else:
            digits = str((2 * choice.getrandbits(53) + 1) * 5 ** choice.randint(0, 4))
        place = choice.randint(0, len(digits))
        text = choice.choice(("", "-")) + digits[:place] + "." + digits[place:]
        assert f(text) == float(text), text


def test_numbers_of_parts_of_texts():
    def f(text, i, j):
        total = 0.0
        for line in text.split("\n"):
            for field in line.split(","):
                total += float(field)
        return total, int(text[i:j])

    choice = random.Random(3)
    compiled = njit(f)
    for n in range(400):
        lines = [[choice.choice((repr(choice.random()), str(choice.randint(-10**choice.randint(0, 20), 10**9)), "1e5",
                                 f"{choice.random():.{choice.randint(0, 9)}f}", "5.", ".5", "-0", " 7 ", "1_0"))
                  for _ in range(choice.randint(1, 5))] for _ in range(3)]
        if n % 4 == 0:
            lines[1][0] = choice.choice(("", ".", "-", "x", "1.2.3", "\u0663", "12345678x", "1234567:", "12/45678"))
        text = "\n".join(map(",".join, lines))
        i = choice.choice((0, choice.randint(0, len(text))))
        agree(f, text, i, choice.choice((text.find(".", i), i + choice.randint(0, 10))), compiled=compiled)
    assert "pyj_native_piece" not in compiled.inspect_llvm()[(Str, Int, Int)]


@pytest.mark.parametrize("s", [
    "", "a", "ab", "abc", "\xe9\xff", "a\xe9b", "\u20ac1", "\u20ac12", "a\U0001f600b", "xyz" * 40])
def test_backwards(s):
    compiled = agree(lambda s: (s[::-1], s == s[::-1], len(s[::-1]), {s[::-1]: 1}), s)
    assert "str_reversed" in str(compiled.inspect_ir()) and "call" not in str(compiled.inspect_ir())


GONE = "<gone>"
COPY = "".join(["<go", "ne>"])


class Box:
    NONE = "<none>"

    def __init__(self):
        self.x = self.NONE


def test_identity_of_what_is_passed_and_stored():
    """`is` compares references, as programs do that mark an entry by one text (the queue in the documents of heapq)."""
    def marked(texts):
        d = {}
        for s in texts:
            d[s] = d.get(s, 0) + 1
        entries = [[k, "a"] for k in range(3)]
        entries[1][-1] = GONE
        return ([s is GONE for s in texts], [s is not GONE for s in d], [e[1] is GONE for e in entries],
                GONE is COPY, COPY is COPY)

    def boxed(n):
        b = Box()
        first = b.x is Box.NONE
        if n:
            b.x = "q" * n
        return first, b.x is Box.NONE, b.x is not b.NONE

    def of_several_types(k):
        x = None if k == 0 else GONE if k == 1 else 5 if k == 2 else "a" * k
        return x is GONE, x is not GONE, x is None

    def parts(s):
        found, again, same = s.split(","), s[1:4], 0
        one = again
        for x in found:
            y = x
            same += x is y
        return (found[0] is found[0], one is again, found[0] is found[1], same, s[0:] is s, s.strip() is s,
                str(s) is s, f"{s}" is s, s[0:1] is s[0:1], s[1:1] is s[3:3])

    def grown(a, b):
        c = a + b
        d = c
        c += "!"
        return d is c, d, c

    def of_bytes(a, b):
        return a is b, a is a, a is not b

    each(marked, [(["a", GONE, COPY, "b"],)])
    each(boxed, (0, 3))
    each(of_several_types, range(4))
    each(parts, ("ab,cd,ef", "abc", "", "\u0119,b"))
    each(grown, (("a", "b"), ("", "")))
    each(of_bytes, ((b"a", b"b"),))


def test_identity_of_equal_texts_that_the_function_makes():
    @njit
    def f(n):
        five = "5"
        return str(n) is str(n), f"{n}" is five, "a" * n is "a" * n

    assert all(type(answer) is bool for answer in f(5))
