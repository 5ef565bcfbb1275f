"""Programs with text, as people write them, compared with the interpreter."""
import contextlib
import io
import string
import sys

import pytest

from pyjitc import njit
from tests.oracle import agree

GLOBAL_BYTES = bytearray(b"glob")
GLOBAL_RAW = b"abc"
GLOBAL_TEXT = "global"
TABLE = str.maketrans("abc", "xyz")


def count_words(t):
    d = {}
    for w in t.lower().split():
        w = w.strip(".,;!")
        d[w] = d.get(w, 0) + 1
    return sorted(d.items(), key=lambda kv: (-kv[1], kv[0]))[:3]


def table(t):
    rows = []
    for line in t.splitlines():
        a, b, c = line.split(",")
        rows.append((a, int(b), float(c)))
    return rows


def anagrams(ws):
    groups = {}
    for w in ws:
        k = "".join(sorted(w))
        if k not in groups:
            groups[k] = []
        groups[k].append(w)
    return groups


def run_lengths(s):
    out = []
    i = 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        out.append(f"{j - i}{s[i]}")
        i = j
    return "".join(out)


def roman(n):
    vals = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ]
    r = ""
    for v, s in vals:
        while n >= v:
            r += s
            n -= v
    return r


def hex_dump(b):
    out = ""
    for i in range(0, len(b), 4):
        chunk = b[i : i + 4]
        out += (
            f"{i:04x}  "
            + " ".join(f"{x:02x}" for x in chunk)
            + "  "
            + "".join(chr(x) if 32 <= x < 127 else "." for x in chunk)
            + "\n"
        )
    return out


def reads_globals(s):
    return (
        s == s[::-1],
        s.translate(TABLE),
        GLOBAL_TEXT + s,
        GLOBAL_BYTES[0],
        len(GLOBAL_BYTES),
        GLOBAL_RAW[1],
        s.translate({97: "Q", 98: None}),
    )


def prints(x, s):
    print(x, s, sep="-", end="!\n")
    print()
    print(s, file=sys.stdout, flush=True)
    print("a", 1.5, None, [1, "x"], {"k": 2}, (1,))
    return x


def brackets(s):
    st = []
    for c in s:
        if c in "([{":
            st.append(c)
        elif c in ")]}":
            if not st or "([{".index(st.pop()) != ")]}".index(c):
                return False
    return not st


def edit_distance(a, b):
    m, n = len(a), len(b)
    prev = list(range(n + 1))
    for i in range(1, m + 1):
        cur = [i] + [0] * n
        for j in range(1, n + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            cur[j] = min(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + cost)
        prev = cur
    return prev[n]


def letters(s):
    counts = [0] * 26
    for c in s:
        if c.isalpha() and c.isascii():
            counts[ord(c.lower()) - ord("a")] += 1
    return counts


def containers_of_characters(s):
    return {c: s.count(c) for c in set(s)} == {}, sorted(set(s)), list(s), max(s.split(), key=len)


def formats(x):
    return f"{x!r:>20}|{x:{10}.{3}}|{'nested ' + str(1)}", "{0} {name}".format(x, name="n"), "%(a)s" % {"a": 1}


def unpacks(s):
    a, *b = s
    x, y = s[:1], s[1:]
    return (
        a,
        b,
        x,
        y,
        [*s, "q"],
        ",".join([*s]),
        " ".join(map(str, [1, 2, 3])),
        " ".join(str(i) for i in range(4)),
        ",".join(["a", "b"]),
    )


def hashes(s):
    h = 0
    for b in s.encode():
        h = (h * 31 + b) & 0xFFFFFFFF
    return h, s.encode().hex(), bytes([1, 2]) + bytes(2), bytearray(3) + b"x"


def matches(s):
    match s:
        case "abc":
            return 1
        case "x" | "y":
            return 2
        case str(t) if t.startswith("q"):
            return t
        case _:
            return None


def keywords(s, sep=" ", *, strict=False):
    words = [w.capitalize() for w in s.split(sep) if w]
    return (
        sep.join(words),
        any(w.istitle() for w in words),
        all(len(w) > 1 for w in words),
        [len(w) for w in words],
        strict,
    )


def keys(n):
    memo = {}
    for i in range(n):
        memo[f"k{i}"] = i
        memo[str(i)] = -i
    return memo["k3"], memo["3"], len(memo), "k5" in memo


def parses(s):
    try:
        return int(s)
    except ValueError as e:
        return str(e)


def constants(s):
    return (
        string.ascii_lowercase + string.digits,
        s in string.ascii_lowercase,
        s.isidentifier(),
        ascii(s),
        s.casefold(),
        s < "b",
        not s,
        bool(s),
        s or "d",
        s and "e",
    )


def settings(lines):
    total = 0
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip() == "x":
            total += int(value)
    return total


def lists_of_text(ws):
    ws.sort(key=len)
    return ws, sorted(ws, reverse=True), "-".join(ws), min(ws), ws.index("b"), "b" in ws, ws.count("b")


def parts(s, t):
    n = 0
    for i in range(len(s) - len(t) + 1):
        if s[i : i + len(t)] == t:
            n += 1
        if s[i:].startswith(t):
            n += 10
    return n


def chunks(b):
    i, out = 0, bytearray()
    while i < len(b):
        n = b[i]
        out += b[i + 1 : i + 1 + n]
        i += 1 + n
    return out, bytes(out), out.decode("latin-1"), int.from_bytes(b[:2], "big"), b.find(b"a"), b.split(b"a")


def one_character(s):
    c = s[0]
    return (
        c.upper(),
        c.lower(),
        c * 3,
        c + c,
        c == s[-1],
        hash(c) == hash(s[0]),
        {c: 1}[c],
        [c, c],
        (c,),
        c.encode(),
        len(c),
    )


CASES = [
    (count_words, ("The cat. the dog, The end",)),
    (table, ("a,1,2.5\nb,2,3",)),
    (anagrams, (["eat", "tea", "tan"],)),
    (run_lengths, ("aaabbc",)),
    (roman, (1994,)),
    (hex_dump, (b"hello\x00\xffworld",)),
    (reads_globals, ("abcba",)),
    (prints, (3, "z")),
    (brackets, ("([{}])",)),
    (brackets, ("([)]",)),
    (edit_distance, ("kitten", "sitting")),
    (letters, ("Hello Wor\u0119ld",)),
    (containers_of_characters, ("a bcd b",)),
    (formats, (1.5,)),
    (unpacks, ("xyz",)),
    (hashes, ("h\xe9",)),
    (matches, ("abc",)),
    (matches, ("qq",)),
    (matches, ("z",)),
    (keywords, ("ab cd e",)),
    (keys, (9,)),
    (parses, ("x",)),
    (parses, ("12",)),
    (constants, ("b",)),
    (settings, (["x=1", " x =2", "y=5"],)),
    (lists_of_text, (["bb", "b", "a"],)),
    (parts, ("abcabcab", "abc")),
    (chunks, (b"\x02ab\x03abc",)),
    (one_character, ("A\u0119",)),
]


@pytest.mark.parametrize("function, args", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_program(function, args):
    agree(function, *args)


def test_printing_goes_where_the_streams_of_the_time_are():
    @njit
    def f(x):
        print(x, "a", sep="-", file=sys.stderr, flush=True)
        print(x)
        sys.stdout.write("w\n")
        return x

    for _ in range(2):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            f(5)
        assert (out.getvalue(), err.getvalue()) == ("5\nw\n", "5-a\n")


def test_a_global_bytearray_is_the_programs_own():
    @njit
    def f(x):
        GLOBAL_BYTES[0] = x
        GLOBAL_BYTES.append(1)
        del GLOBAL_BYTES[-1:]
        return len(GLOBAL_BYTES)

    before = bytes(GLOBAL_BYTES)
    assert f(200) == 4 and GLOBAL_BYTES == b"\xc8lob"
    GLOBAL_BYTES[:] = before


def alike(a, b, n):
    """Characters of texts of any form in a loop that may have no text."""
    found = 0
    for i in range(n):
        for j in range(n):
            if a is not None and b is not None and i < len(a) and j < len(b) and a[i] == b[j]:
                found += 1
    return found


def chosen(flag, n):
    """A text that is unbound on a path on which the loop does not read it."""
    if flag:
        text = "h\xe9\u20ac"
    out = ""
    for i in range(n):
        if flag:
            out += text[i % 3]
    return out


TEXTS = (None, "", "abca", "\xe9a", "\u20acab", "\U0001f600ba")


@pytest.mark.parametrize("a", TEXTS)
def test_the_form_of_a_text_is_read_before_a_loop(a):
    for b in TEXTS:
        agree(alike, a, b, 4)
    agree(chosen, a is None, 7)
    agree(lambda a: alike(a if len(GLOBAL_TEXT) > 3 else None, "abc", 5), a)
