"""The calls by which Python's own types are compared with their compiled form: for each type, method or operator ->
expressions or statements, and for each variable in them the values that it takes.

`s` is the object, and is compared afterwards. Some values of each variable have the right type; `WRONG` has values of
other types.
"""
from __future__ import annotations

import random

import numpy as np

__all__ = ["CONTAINERS", "TYPES", "Cases"]


class Cases:
    """calls: method or operator -> expressions, separated by |; values: variable -> the values it takes; wrong: values
    of other types, one of which replaces a value in some calls; space: the global variables of the expressions."""

    def __init__(self, cls: type, calls: dict[str, str], values: dict[str, tuple], wrong: tuple, space=None):
        self.cls, self.values, self.wrong, self.space = cls, values, wrong, space or {}
        self.calls = {name: [text.strip() for text in found.split(" | ")] for name, found in calls.items()}


def _generated(alphabet: str) -> list[str]:
    choice = random.Random(alphabet)
    return ["".join(choice.choices(alphabet, k=length)) for length in (1, 2, 3, 5, 9, 17)]


# Of str, bytes and bytearray alike. t, u: text of the same kind; c: one character; i, j: places; n: a number; p: text
# or a tuple of texts; l: texts to join.
_METHODS = {
    "capitalize": "s.capitalize()", "center": "s.center(n) | s.center(n, c)", "count": "s.count(t) | s.count(t, i) | "
    "s.count(t, i, j)", "endswith": "s.endswith(p) | s.endswith(p, i) | s.endswith(p, i, j)",
    "expandtabs": "s.expandtabs() | s.expandtabs(n) | s.expandtabs(tabsize=n)",
    "find": "s.find(t) | s.find(t, i) | s.find(t, i, j)", "index": "s.index(t) | s.index(t, i) | s.index(t, i, j)",
    "isalnum": "s.isalnum()", "isalpha": "s.isalpha()", "isascii": "s.isascii()", "isdigit": "s.isdigit()",
    "islower": "s.islower()", "isspace": "s.isspace()", "istitle": "s.istitle()", "isupper": "s.isupper()",
    "join": "s.join(l) | s.join([t, u]) | s.join((t, u)) | s.join(x for x in (t, u, t)) | s.join(s)",
    "ljust": "s.ljust(n) | s.ljust(n, c)", "lower": "s.lower()", "lstrip": "s.lstrip() | s.lstrip(t) | s.lstrip(None)",
    "partition": "s.partition(t)", "removeprefix": "s.removeprefix(t)", "removesuffix": "s.removesuffix(t)",
    "replace": "s.replace(t, u) | s.replace(t, u, n)", "rfind": "s.rfind(t) | s.rfind(t, i) | s.rfind(t, i, j)",
    "rindex": "s.rindex(t) | s.rindex(t, i) | s.rindex(t, i, j)", "rjust": "s.rjust(n) | s.rjust(n, c)",
    "rpartition": "s.rpartition(t)",
    "rsplit": "s.rsplit() | s.rsplit(t) | s.rsplit(t, n) | s.rsplit(None, n) | s.rsplit(maxsplit=n)",
    "rstrip": "s.rstrip() | s.rstrip(t) | s.rstrip(None)",
    "split": "s.split() | s.split(t) | s.split(t, n) | s.split(None, n) | s.split(sep=t, maxsplit=n)",
    "splitlines": "s.splitlines() | s.splitlines(True) | s.splitlines(keepends=n)",
    "startswith": "s.startswith(p) | s.startswith(p, i) | s.startswith(p, i, j)",
    "strip": "s.strip() | s.strip(t) | s.strip(None)", "swapcase": "s.swapcase()", "title": "s.title()",
    "upper": "s.upper()", "zfill": "s.zfill(n)",
    "s + t": "s + t", "s * n": "s * n | n * s", "t in s": "t in s | t not in s", "s == t": "s == t | s != t",
    "s < t": "s < t | s <= t | s > t | s >= t", "s[i]": "s[n]",
    "s[i:j]": "s[i:j] | s[i:] | s[:j] | s[i:j:2] | s[::-1] | s[i:j:n]", "len(s)": "len(s)", "bool(s)": "bool(s)",
    "str(s)": "str(s) | repr(s) | ascii(s)", "max(s)": "max(s) | min(s)",
    "for x in s": "sum(1 for x in s if x == x) | [*map(str, s)] | any(x in s for x in reversed(s))",
}
_PLACES = (0, 1, 2, -1, -2, 100, -100, None, True)
_COUNTS = (0, 1, 3, -1, 7, 12, True)

_STR = {**_METHODS, **{name: f"s.{name}()" for name in (
    "casefold", "isdecimal", "isidentifier", "isnumeric", "isprintable")},
    "encode": "s.encode() | s.encode(e) | s.encode(e, r) | s.encode(encoding=e, errors=r) | s.encode(errors=r)",
    "format": "s.format(n) | f.format(n, s) | f.format(s, x=n) | f.format(s, n, y=i)", "format_map": "f.format_map(n)",
    "maketrans": "s.maketrans(t, u) | s.maketrans(t, t, s) | str.maketrans(t, t)",
    "translate": "s.translate(s.maketrans(t, t[::-1])) | s.translate(str.maketrans('', '', t)) | s.translate(t)",
    "s % t": "f2 % s | f2 % (s, n) | f2 % n", "f'{s}'": "f'{s}' | f'{s!r}|{n}' | f'{s:>10}{n:+d}' | f'{s:{n}}' | "
    "format(s, f3) | f'{s!a:^{n}}'", "hash(s)": "hash(s)", "int(s)": "int(s) | int(s, n) | int(s, base=n)",
    "float(s)": "float(s)", "ord(s)": "ord(s) | ord(c)", "s += t": "s += t; s += u | s += t; v = s; s += c; s += v",
}
_TEXTS = ("", "a", "abcab", "Hello, World\n", "h\xe9llo \xdf", "\u0119\u0105 \u01c5", "\U0001f600x\U0001f600",
          "ab\ud800", " \t x \r\n\x0b\x1c\x85\u2028y", "123", "-7", "\u0663\xb2", "a\0b", "AbC dEf GhI", "xyz" * 20,
          "1e5", "ident_1", "\ufb01 \u0130I\u0131", "a,b,,c", "0x1f", *_generated("ab cA1,"),
          *_generated("a\xe9\xdf B"), *_generated("a\u0119\u01c5 \U0001f600"))
TEXT = Cases(str, _STR, {
    "s": _TEXTS, "t": ("a", "b", "", "ab", "\xe9", "\u0119", "\U0001f600", ",", " ", "zz", "\ud800", "l"),
    "u": ("x", "", "\xe9\xe8", "\u0119", "\U0001f600", "ab"), "c": ("*", " ", "\xe9", "\u0119", "\U0001f600", "ab", ""),
    "i": _PLACES, "j": _PLACES, "n": _COUNTS, "p": ("a", "", "\u0119", ("a", "h"), (), ("\U0001f600", "x"), "abcab"),
    "l": (("a", "\u0119"), (), ("\U0001f600",), ("", "")),
    "e": ("utf-8", "ascii", "latin-1", "utf-16", "utf-32-le", "cp1252", "no-such"),
    "r": ("strict", "ignore", "replace", "xmlcharrefreplace", "backslashreplace", "surrogatepass", "no-such"),
    "f": ("{}", "{0!r:>8}|{1}", "{x}", "{0:d}", "{0[0]}", "{", "{y}{0}", "{}{}{}", "\u0119{0}\U0001f600", "{0.real}"),
    "f2": ("%s", "%r|%d", "%d", "%5.2f", "%c", "%%", "%(x)s", "%", "%x|%s", "\u0119%s"),
    "f3": ("", ">10", "^9.2", "*<4", "05", "d", "\u0119>5", "s"),
}, (1, None, b"a", 1.5, (1, 2)))

_BYTES_ONLY = {
    "decode": "s.decode() | s.decode(e) | s.decode(e, r) | s.decode(encoding=e, errors=r)",
    "hex": "s.hex() | s.hex(c2) | s.hex(c2, n) | s.hex('-', bytes_per_sep=n)",
    "fromhex": "s.fromhex(h) | bytes.fromhex(h) | bytearray.fromhex(h)",
    "maketrans": "s.maketrans(t, u) | bytes.maketrans(t, t)",
    "translate": "s.translate(bytes.maketrans(t, t[::-1])) | s.translate(None, t) | s.translate(t) | "
                 "s.translate(None, delete=t)",
    "s % t": "s % t | s % n | s % (t, n)", "int(s)": "int(s) | int(s, n)", "float(s)": "float(s)",
    "ord(s)": "ord(s)", "sum(s)": "sum(s)", "n in s": "n in s",
    "bytes(s)": "bytes(s) | bytearray(s) | memoryview(s).tobytes() | bytes(n) | bytearray(x % 256 for x in s)",
}
_RAW = (b"", b"a", b"abcab", b"Hello, World\n", b"h\xc3\xa9llo", b" \t x \r\n\x0b\x1cy", b"123", b"-7", b"a\0b",
        b"AbC dEf", b"xyz" * 20, b"\xff\xfe", b"a,b,,c", b"%s|%d", b"%c",
        *[x.encode("latin-1") for x in (*_generated("ab cA1,"), *_generated("a\xe9\xdf B\0"), *_generated("\n\t 12."))])


def _raw(cls: type, more: dict[str, str]) -> Cases:
    def made(*values):
        return tuple([cls(x) if type(x) is bytes else x for x in values])

    hashed = {"hash(s)": "hash(s)"}
    return Cases(cls, {**_METHODS, **_BYTES_ONLY, **hashed, **more}, {
        "s": made(*_RAW), "t": made(b"a", b"b", b"", b"ab", b"\xc3", b",", b" ", b"zz", b"l"),
        "u": made(b"x", b"", b"\xe9\xe8", b"ab"), "c": (b"*", b" ", b"ab", b""), "c2": ("*", ":", "ab", b"-"),
        "i": _PLACES, "j": _PLACES, "n": _COUNTS,
        "p": (b"a", b"", (b"a", b"h"), (), b"abcab"), "l": ((b"a", b"b"), (), (b"",), (b"a", b"", b"cc")),
        "e": ("utf-8", "ascii", "latin-1", "utf-16", "cp1252", "no-such"),
        "r": ("strict", "ignore", "replace", "backslashreplace", "surrogateescape", "no-such"),
        "h": ("00ff", "", "0", "a b", "7f 80", "zz", "\u0119"), "x": (0, 65, 255, 256, -1, True),
    }, ("a", None, 1.5, 300, (1, 2)))


BYTES = _raw(bytes, {})
BYTEARRAY = _raw(bytearray, {
    "append": "s.append(x)", "clear": "s.clear()", "copy": "s.copy() | s.copy() is s",
    "extend": "s.extend(t) | s.extend((x, x)) | s.extend(c) | s.extend(y for y in (x, 1))",
    "insert": "s.insert(n, x)", "pop": "s.pop() | s.pop(n)", "remove": "s.remove(x)", "reverse": "s.reverse()",
    "s[i] = x": "s[n] = x", "s[i:j] = t": "s[i:j] = t | s[i:j:2] = t", "del s[i]": "del s[n] | del s[i:j]",
    "s += t": "s += t", "s *= n": "s *= n",
})

MEMORY = Cases(memoryview, {
    "s[i]": "s[n]", "s[i:j]": "s[i:j].tobytes() | s[::-1].tobytes() | s[i:j:2].tobytes()", "len(s)": "len(s)",
    "bool(s)": "bool(s)", "s == t": "s == t | s != t | t == s", "n in s": "n in s", "hex": "s.hex() | s.hex(':', n)",
    "tobytes": "s.tobytes() | bytes(s)", "tolist": "s.tolist() | s[i:j].tolist()",
    "toreadonly": "s.toreadonly().readonly",
    "for x in s": "sum(x for x in s) | [x for x in reversed(s)] | max(s)",
    "attributes": "(s.nbytes, s.readonly, s.format, s.itemsize, s.ndim, s.shape, s.strides, s.c_contiguous)",
    "s[i] = x": "s[n] = x | s[i:j] = t",
}, {"s": tuple(map(memoryview, (*_RAW, *map(bytearray, _RAW)))), "t": (b"a", b"", b"abcab"), "i": _PLACES, "j": _PLACES,
    "n": _COUNTS, "x": (0, 65, 255, 256, -1)}, ("a", None, 1.5))

_FORMS = ("", "10", ">12", "<8", "^9", "+", "05d", "x", "#b", ",", "_d", ".3f", "e", "g", "10.4g", "%", "c", "n", "s",
          "*^20", ".2", "08.3f", "#o", "E", "=+8", "q")
NUMBERS = Cases(object, {
    "str(s)": "str(s)", "repr(s)": "repr(s)", "ascii(s)": "ascii(s)", "format(s, f)": "format(s, f) | format(s)",
    "f'{s}'": "f'{s}' | f'{s!r:>20}' | f'{s:>{n}}' | f'{s=}' | f'a{s}b{n}'", "s % t": "'%s' % (s,) | '%r|%s' % (s, n)",
    "'%d' % s": "'%d' % s | '%5.2f' % s | '%x' % s | '%e|%g' % (s, s) | '%+05d' % s", "format": "'{:>9}'.format(s) | "
    "'{0}{0!r}'.format(s)", "join": "','.join((str(s), repr(s)))", "int(str(s))": "int(str(s)) | float(str(s))",
    "hash(s)": "hash(str(s)) == hash(repr(s))", "bytes": "str(s).encode() | b'%a' % (s,)",
}, {"s": (0, -5, 7, 1000000, 10**18, -2**63, True, False, 0.0, -0.0, 1.5, 0.1, 1e16, 1e-5, 123456789.123, 1e300, 5e-324,
          float("nan"), float("-inf"), 1 / 3, 2.5e15, 2j, 1.5 - 0.0j, None, np.float64(0.1), np.int32(-5),
          np.float32(0.1), np.uint64(2**63), np.bool_(True), (1, "a\u0119"), (), (1.5,), range(3),
          b"x\xff", "a'b\u0119", ...),
    "f": _FORMS, "n": _COUNTS}, (1.5, None))

# Containers of ints: each type of an argument is compiled once more. s, t: containers; x, y: items; i, j: places.
_SEQUENCE = {
    "count": "s.count(x)", "index": "s.index(x) | s.index(x, i) | s.index(x, i, j)", "s + t": "s + t",
    "s * n": "s * n | n * s", "x in s": "x in s | x not in s", "s == t": "s == t | s != t",
    "s < t": "s < t | s <= t | s > t | s >= t", "s[i]": "s[n]", "s[i:j]": "s[i:j] | s[::-1] | s[i:j:2]",
    "len(s)": "len(s)", "bool(s)": "bool(s)", "str(s)": "str(s) | f'{s}'", "max(s)": "max(s) | min(s, default=x)",
    "sum(s)": "sum(s) | sum(s, x)", "sorted(s)": "sorted(s) | sorted(s, key=lambda y: y % 5) | sorted(s, reverse=True)",
    "for x in s": "[x + 1 for x in s] | list(reversed(s)) | [*enumerate(s)]", "a, *b = s": "a, *b = s; s = [a, b]",
}
_SOME = random.Random(19)
_ITEMS = ((), (1,), (3, 1, 2), (1, 1, 2, 1), (5, -1, 0, 7), tuple(range(9)), (2**62, -2**63), (0, 1, 0),
          *[tuple(_SOME.choices(range(-3, 6), k=n)) for n in (2, 3, 4, 5, 6, 8, 12, 20) * 4])
_WHERE = (0, 1, 2, -1, -2, 100, -100)
LIST = Cases(list, {**_SEQUENCE, **{
    "append": "s.append(x)", "clear": "s.clear()", "copy": "s.copy() | s.copy() is s", "extend": "s.extend(t) | "
    "s.extend((x, x)) | s.extend(y * 2 for y in t)", "insert": "s.insert(n, x)", "pop": "s.pop() | s.pop(n)",
    "remove": "s.remove(x)", "reverse": "s.reverse()", "sort": "s.sort() | s.sort(reverse=True) | "
    "s.sort(key=lambda y: y % 3)", "s[i] = x": "s[n] = x", "s[i:j] = t": "s[i:j] = t",
    "del s[i]": "del s[n] | del s[i:j]", "s += t": "s += t | s += (x,)", "s *= n": "s *= n",
    "list(s)": "list(s) | tuple(s)",
}}, {"s": tuple(map(list, _ITEMS)), "t": ([], [1], [4, 5, 6]), "x": (1, 0, -3, 2, 99), "i": _WHERE, "j": _WHERE,
     "n": (0, 1, -1, 3, 7)}, ("a", None, 1.5))
_DICTS = tuple([{x: x * x % 7 for x in items} for items in _ITEMS])
DICT = Cases(dict, {
    "clear": "s.clear()", "copy": "s.copy()", "get": "s.get(x) | s.get(x, y)", "items": "list(s.items()) | "
    "(x, y) in s.items() | [k + v for k, v in s.items()]", "keys": "list(s.keys()) | s.keys() & t.keys() | "
    "x in s.keys()", "pop": "s.pop(x) | s.pop(x, y)", "popitem": "s.popitem()", "setdefault": "s.setdefault(x, y)",
    "update": "s.update(t) | s.update([(x, y)])", "values": "list(s.values()) | sum(s.values())",
    "fromkeys": "dict.fromkeys(t, y)", "s[x]": "s[x]", "s[x] = y": "s[x] = y | s[x] += 1", "del s[x]": "del s[x]",
    "x in s": "x in s | x not in s", "s | t": "s | t", "s |= t": "s |= t", "s == t": "s == t | s != t",
    "{**s, **t}": "{**s, **t}", "len(s)": "len(s)", "bool(s)": "bool(s)", "str(s)": "str(s)",
    "for x in s": "[x for x in s] | list(reversed(s)) | sorted(s)",
    "dict(s)": "dict(s) | dict(zip(t, t)) | {v: k for k, v in s.items()}",
    "max(s)": "max(s) | max(s, key=lambda k: s[k])",
}, {"s": _DICTS, "t": ({}, {1: 5}, {0: 2, 9: 9}), "x": (1, 0, -3, 2, 99), "y": (0, 7, -1)}, ("a", None, 1.5))
_SETS = tuple(map(set, _ITEMS))
_OF_SETS = {
    "copy": "s.copy()", **{name: f"s.{name}(t) | s.{name}(l)" for name in (
        "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint")},
    **{f"s {op} t": f"s {op} t" for op in "|&-^<"}, "s == t": "s == t | s != t | s <= t | s >= t | s > t",
    "x in s": "x in s | x not in s", "len(s)": "len(s)", "bool(s)": "bool(s)",
    "for x in s": "[x for x in s] | sorted(s) | list(s)", "max(s)": "max(s) | sum(s)", "str(s)": "str(s)",
}
_WITH_SETS = {"s": _SETS, "t": ({1}, {1, 2, 99}, {0, 1, 2, 3, 4, 5, 6, 7, 8}), "l": ([], [1, 5], [2, 2, 0]),
              "x": (1, 0, -3, 2, 99)}
SET = Cases(set, {**_OF_SETS, "add": "s.add(x)", "clear": "s.clear()", "discard": "s.discard(x)", "pop": "s.pop()",
                  "remove": "s.remove(x)", **{name: f"s.{name}(t) | s.{name}(l)" for name in (
                      "update", "intersection_update", "difference_update", "symmetric_difference_update")},
                  **{f"s {op}= t": f"s {op}= t" for op in "|&-^"}, "set(s)": "set(s) | frozenset(s) | {*s, *t}"},
           _WITH_SETS, ("a", None, 1.5))
FROZENSET = Cases(frozenset, {**_OF_SETS, "hash(s)": "hash(s)", "frozenset(s)": "frozenset(s) | set(s)"}, {
    **_WITH_SETS, "s": tuple(map(frozenset, _ITEMS)), "t": tuple(map(frozenset, _WITH_SETS["t"]))}, ("a", None, 1.5))
TUPLE = Cases(tuple, {**_SEQUENCE, "hash(s)": "hash(s)", "tuple(s)": "tuple(s) | list(s)"}, {
    "s": tuple([tuple(_SOME.choices(range(-3, 6), k=3)) for _ in range(40)]), "t": ((1, 2, 3), (4, 5, 6), (0, 0, 0)),
    "x": (1, 0, -3, 2, 99), "i": _WHERE, "j": _WHERE, "n": (0, 1, -1, 3, 7)}, ("a", None, 1.5))

CONTAINERS = {"list": LIST, "dict": DICT, "set": SET, "frozenset": FROZENSET, "tuple": TUPLE}
TYPES = {"str": TEXT, "bytes": BYTES, "bytearray": BYTEARRAY, "memoryview of bytes": MEMORY, "text of values": NUMBERS,
         **CONTAINERS}
