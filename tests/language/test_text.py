"""Text: print, formatting by f-strings, % and format(), comparison."""
import contextlib
import io
import sys

import numpy as np

from pyjitc import njit
from tests.language.corpus import check, corpus, each

case, CASES = corpus()


@case((3, 2.5), (True, 1j))
def prints(a, b):
    print()
    print(a, b)
    print("text", a, None, (a, b), sep="-", end="!\n")
    print(a, end="")
    print(b, sep="")
    print(f"{a} and {b}")


@case((np.float32(1.5), np.int8(3)), (np.arange(3), np.zeros((2, 2))))
def prints_numpy(a, b):
    print(a, b)
    print((a, 1))


@case((3,))
def prints_in_loop(n):
    for i in range(n):
        print(i, i * 0.5, i % 2 == 0)
    else:
        print("done")


@case((3,), (-3,))
def prints_union(n):
    x = n if n > 0 else None
    print(x, "is", x)


@case((3, 2.5))
def formats(a, b):
    return f"{a}", f"{b:.3f}", f"{a:>5}|{a:<5}|{a:^5}|{a:05d}", f"{b!r} {b!s} {b!a}", f"{a:x}{a:b}{a:o}"


@case((3, 8))
def formats_nested(a, w):
    return f"{a:{w}}", f"{a:>{w}.{2}f}", f"{'in' + 'ner'}", f"{a}{{}}{a + w}", f"{a!r:>{w}}"


@case((3,))
def formats_values(a):
    return f"{None} {True} {(a, 2.5)} {1j} {a > 2} {'text'}", f"{a=}", f"{a * 2 = }", f"{a=:>4}", f""  # noqa: F541


@case((np.float32(1.5),), (np.int64(3),), (np.bool_(True),))
def formats_numpy(a):
    return f"{a}", f"{a!r}", f"{a:>8}"


@case((2.5,))
def format_error(a):
    return f"{a:d}"


@case(("x",))
def text_passes(n):
    return "constant"


@case((3,))
def text_chosen(n):
    s = "odd" if n % 2 else "even"
    return s, f"{s}!"


@case((3,))
def text_builtins(n):
    return str(n), repr(n * 0.5), str(True)


@case((3,), (None,), ((1, np.float32(2)),), (np.arange(3.0),), (range(4),))
def text_of_values(x):
    return str(x), repr(x), f"{x!s} {x!r}", type(x).__name__


@case((3,), (np.float32(3),), (np.int8(1),), (np.True_,), (np.datetime64("2024-03-01"),))
def never_equal_to_text(x):
    return x == "a", "a" != x, x == b"a"


@case((3,))
def text_equality(n):
    s = "odd"
    return s == "odd", s != "even", "a" < "b", len("abc")


@case((3, 2.5), (-1, np.float32(0.5)))
def percent(a, b):
    return ("%d %5.2f %s %r %%" % (a, b, (a, b), "q"), "%s" % a, "%x" % abs(a), "{0:>5}|{x!r}|{0}".format(a, x=b),
            "%s" % np.arange(a))


@case((3,))
def percent_too_few(a):
    return "%d %d" % a


@case((3,))
def percent_of_another(a):
    raise ValueError("bad %s" % "x", "%d" % "text")


@case((3,))
def format_too_few(a):
    return "{} {}".format(a)


@case(("lin", "x"), ("x", "lin"), ("", ""), ("\xe9\ud800", "\xe9\ud800"), ("linear", "lin"), (b"lin", b"linear"),
      (b"", b""))
def comparison(a, b):
    return (a == b, a != b, a < b, a <= b, a > b, a >= b, 1 if a else 0, not a, a is None, a == 1, bool(a), len(a),
            (a, 1) == (b, 1), a in (b, 2))


@case(("lin", "x"), ("linear", "lin"))
def contained(a, b):
    return b in a, a not in b, a or "z", a and b, max(a, b), (1, a).index(a), (a, b).count(b)


@case(("linear", 1.5), ("nearest", 1.5), ("zero", 2.5), ("cubic", 1.0), (None, 3.0))
def chosen_by_name(mode, x):
    if mode is None:
        return -1.0
    if mode == "linear":
        return x
    match mode:
        case "nearest" | "zero":
            return x + 1
    raise ValueError(f"unknown mode {mode!r}")


@case((0,), (3,))
def built(n):
    s = ""
    for i in range(n):
        s += f"{i},"
    return (s, len(s)) if s else "nothing"


@each(CASES)
def test_agrees(function, calls):
    check(function, calls)


def test_print_to_a_file():
    def to_error(n):
        print("error", n, file=sys.stderr, flush=True)
        print("out", n, file=sys.stdout)
        print("none", n, file=None)

    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        njit(to_error)(3)
        assert (out.getvalue(), error.getvalue()) == ("out 3\nnone 3\n", "error 3\n")
