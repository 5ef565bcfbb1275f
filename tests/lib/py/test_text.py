"""Text and bytes: operators, items, slices, iteration, methods and the builtins that make or read them."""
import pytest

from pyjitc import njit
from pyjitc.base.errors import CompileError
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


def test_memoryview_of_bytes():
    def f(b):
        m = memoryview(b)
        m[0] = 5
        part = m[1:]
        part[0] = 6
        return m[-1], len(m), m.tobytes(), part.tobytes(), m.nbytes, m.readonly, m.shape, sum(m), b

    def read(m):
        return m[0], m.hex(), m == b"abc", [x for x in m][0] if False else 0

    each(f, (bytearray(b"abc"),))
    assert njit(read)(memoryview(b"abc")) == read(memoryview(b"abc"))
    with pytest.raises(TypeError, match="pass x.cast"):
        njit(read)(memoryview(b"abcd").cast("i"))


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
