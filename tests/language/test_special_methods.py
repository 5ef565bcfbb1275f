"""What special methods return, right and wrong: the checks of the interpreter."""
import dataclasses
import math
import operator

import numpy as np
import pytest

from pyjitc import TypingError, jit, njit
from tests.oracle import agree


def stored(x, i):
    x[i] = 7
    del x[i]
    x.insert(i, 9)
    return x


NAMES = {"math": math, "numpy": np, "operator": operator, "stored": stored}

# (name of the method, what it returns, expression in which it is called)
CALLS = [
    ("__len__", 3, "len(c)"), ("__len__", True, "len(c)"), ("__len__", -1, "len(c)"), ("__len__", -1, "bool(c)"),
    ("__len__", -1, "1 if c else 2"), ("__len__", 0, "not c"),
    ("__bool__", True, "not c"), ("__bool__", 1, "bool(c)"), ("__bool__", 0, "1 if c else 2"),
    ("__bool__", 2.5, "c and 1"), ("__bool__", "no", "[x for x in [c] if x]"),
    ("__int__", 3, "int(c)"), ("__int__", "x", "int(c)"), ("__int__", 2.5, "int(c)"), ("__int__", None, "int(c)"),
    ("__float__", 1.5, "float(c)"), ("__float__", 1, "float(c)"), ("__float__", True, "float(c)"),
    ("__float__", 2.5, "math.floor(c)"), ("__index__", 3, "float(c)"), ("__index__", 3, "int(c)"),
    *[("__index__", value, expression) for value in (2, -1, True, "x", 1.5) for expression in (
        "[1, 2, 3][c]", "(1, 2, 3)[c]", "'abc'[c]", "b'abc'[c]", "range(5)[c]",
        "[1, 2, 3][c:]", "'abc'[:c]", "(1, 2, 3)[0:c:c]",
        "[1] * c", "c * 'ab'", "(1, 2) * c", "list(range(c))", "operator.index(c)", "hex(c), bin(c), oct(c)", "chr(c)",
        "math.factorial(c)", "math.gcd(c, 4)", "math.comb(5, c)", "math.sqrt(c)", "int(c)", "float(c)", "complex(c)",
        "math.floor(c)", "stored([1, 2, 3], c)", "[1, 2, 3].pop(c)", "[1, 2].index(2, c)",
        "{c: 1}[c]")],
    *[("__index__", value, "numpy.arange(3.)[c], numpy.arange(3.)[:c].sum()")
      for value in (1, -1, True, 7)],
    *[("__index__", value, f"numpy.arange(6).reshape(2, 3){index}.sum()") for value in (1, -1, True, 7)
      for index in ("[c, 0]", "[..., c]", "[c, 1:]", "[[0, 1], c]", "[c, None]")],
    *[("__index__", value, f"numpy.{made}.shape") for value in (1, 0, -1, True)
      for made in ("zeros(c)", "ones((c, 2))", "full((2, c), 1.5)", "empty((c,))")],
    *[("__float__", value, expression) for value in (2.5, -0.5, 1, "x") for expression in (
        "math.sqrt(c)", "math.sin(c), math.exp(c)", "math.hypot(c, 3)", "math.atan2(1, c)", "math.pow(c, c)",
        "math.isnan(c), math.isfinite(c)", "math.copysign(1, c)", "math.fmod(c, 2)", "math.log(c)", "math.floor(c)",
        "math.isclose(c, 2)", "math.degrees(c)")],
    ("__complex__", 1 + 2j, "complex(c)"), ("__complex__", 1.0, "complex(c)"),
    ("__hash__", 5, "hash(c)"), ("__hash__", -1, "hash(c)"), ("__hash__", True, "hash(c)"), ("__hash__", "x", "hash(c)"),
    ("__hash__", 2 ** 61 - 1, "hash(c)"), ("__hash__", 2 ** 62, "hash(c)"), ("__hash__", 7, "{c: 1}[c], hash((c, 1))"),
    ("__eq__", True, "hash(c)"), ("__eq__", True, "{c}"), ("__eq__", 5, "c == 1, c != 1"), ("__eq__", 0, "1 == c, c != 1"),
    ("__lt__", "s", "c < 1, 1 > c"), ("__contains__", 5, "1 in c, 1 not in c"), ("__contains__", "", "1 in c"),
    ("__round__", "r", "round(c), round(c, 2)"), ("__abs__", "r", "abs(c)"), ("__floor__", 4, "math.floor(c)"),
    ("__ceil__", "c", "math.ceil(c)"), ("__trunc__", 4.5, "math.trunc(c)"), ("__reversed__", [3], "list(reversed(c))"),
    ("__str__", 1, "str(c)"), ("__repr__", 1, "repr(c)"), ("__format__", 1, "f'{c}'"),
    ("__neg__", None, "-c"), ("__invert__", "x", "~c"), ("__rmod__", 3, "5 % c"), ("__radd__", 3, "[1] + c"),
]


@pytest.mark.parametrize("compiler", [njit, jit])
@pytest.mark.parametrize("name, value, expression", CALLS, ids=[f"{n} {v!r} {e}" for n, v, e in CALLS])
def test_result(compiler, name, value, expression):
    names = dict(NAMES)
    exec(f"class C:\n    def {name}(self, *args): return {value!r}\ndef f(c): return {expression}\n", names)
    f, c = names["f"], names["C"]()
    compiled = compiler(f)
    assert ended(compiled, c) == ended(f, c)
    assert compiled.signatures


def ended(function, c):
    try:
        found = function(c)
        return type(found), found
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("name, expression", [
    *[("__index__", text) for text in ("c + 1", "[1] + c", "abs(c)", "divmod(c, 2)", "-c")],
    *[("__float__", text) for text in ("[1, 2][c]", "range(c)", "math.gcd(c, 2)", "math.factorial(c)", "[1] * c")]])
def test_numbers_that_are_not_asked_for(name, expression):
    names = dict(NAMES)
    exec(f"class C:\n    def {name}(self): return 2\ndef f(c): return {expression}\n", names)
    with pytest.raises(TypeError):
        names["f"](names["C"]())
    with pytest.raises(TypingError):
        njit(names["f"])(names["C"]())


class Once:
    """Counts how often it is converted."""

    def __init__(self, n):
        self.n = n
        self.count = 0

    def __index__(self):
        self.count += 1
        return self.n

    def __float__(self):
        self.count += 1
        return self.n / 2


# (name of the method, its constant result, expressions in which it is called)
CONSTANT = [
    ("__bool__", "True", ["not c", "bool(c)", "1 if c else 2", "c and 3", "not not c", "all((c, c))"]),
    ("__len__", "3", ["len(c) + 1", "not c", "1 if c else 2"]),
    ("__contains__", "True", ["1 in c", "1 not in c", "not (1 in c)"]),
    ("__eq__", "True", ["c == 1", "c != 1", "1 == c", "not (c == 1)", "(1, 2).count(c)", "c in (1, 2)"]),
    ("__lt__", "True", ["c < 1", "1 > c", "not c < 1"]), ("__hash__", "5", ["hash(c) + 1", "hash((c,))"]),
    ("__getitem__", "7", ["c[0]", "-c[1]"]), ("__neg__", "1", ["-c", "-c + 1"]), ("__call__", "4", ["-c()", "c(1)"]),
    ("__add__", "2", ["c + 1", "(c + 1) * 2"]), ("__radd__", "3", ["1 + c", "sum((c,), 1)"]),
    ("__int__", "5", ["-int(c)"]), ("__float__", "1.5", ["float(c) * 2", "math.sqrt(c)", "math.floor(c)"]),
    ("__abs__", "2", ["-abs(c)"]), ("__round__", "3", ["round(c) + 1"]), ("__pow__", "3", ["-(c ** 2)", "pow(c, 2)"]),
    ("__str__", "'s'", ["str(c) + 'a'", "f'{c}!'", "len(str(c))"]), ("__format__", "'f'", ["f'{c:>3}'", "format(c)"]),
    ("__index__", "1", [
        "[1, 2, 3][c]", "[1, 2, 3][c:]", "(1, 2, 3)[c]", "'abc'[c:]", "[1] * c", "range(c)[0]", "numpy.arange(3.)[c]",
        "numpy.arange(6).reshape(2, 3)[0, c]", "numpy.zeros(c).size", "numpy.zeros((2, c)).size",
        "stored([1, 2, 3], c)", "[1, 2, 3].pop(c)", "math.gcd(c, 4)", "math.pow(c, c)", "math.sqrt(c)", "float(c)"])]


@pytest.mark.parametrize("read", [True, False])
@pytest.mark.parametrize("name, value, expression", [(n, v, e) for n, v, found in CONSTANT for e in found])
def test_a_method_with_a_constant_result_is_called(name, value, expression, read):
    names = dict(NAMES)
    exec(f"class C:\n    calls = 0\n    def {name}(self, *args):\n        self.calls += 1\n        return {value}\n"
         f"def f(c):\n    found = {expression}\n    return found if {read} else None\n", names)
    mine, its = names["C"](), names["C"]()
    assert njit(names["f"])(mine) == names["f"](its)
    assert mine.calls == its.calls


class Power:
    def __init__(self, n):
        self.n = n

    def __pow__(self, other, mod=None):
        return NotImplemented if other == 9 else self.n ** other if mod is None else (self.n ** other) % mod

    def __rpow__(self, other, mod=None):
        return "r", other, mod


class Refusing:
    def __pow__(self, other, mod):
        return NotImplemented


def test_powers_with_a_modulus():
    def f(a, b, c):
        p = Power(a)
        return pow(p, b, c), p ** b, pow(p, b), pow(2, p), pow(p, exp=b, mod=c), pow(p, b, None)

    agree(f, 3, 5, 7)
    agree(f, 3, 5, 0)
    agree(lambda a, b: pow(Refusing(), a, b), 3, 5)
    with pytest.raises(TypingError, match="unsupported operand type.* 'int', 'Power', 'int'"):
        njit(lambda a: pow(a, Power(2), a))(3)


def test_an_object_is_converted_once():
    def f(a, x, n):
        c = Once(n)
        found = math.sqrt(c), math.acos(c), math.exp(c), a[c], x[c], x[c:], a[:c], x * c, c * x, range(5)[c], chr(c)
        counts = [c.count]
        x[c] = a[c]
        x[c] += 2
        del x[c]
        x.insert(c, 7)
        counts.append(c.count)
        return found, x, counts, [math.factorial(c), math.comb(5, c)], c.count

    for n in (0, 1, 2, 7):
        agree(f, np.arange(4.0), [1, 2, 3], n)


def test_an_iterator_that_is_none():
    class C:
        def __iter__(self):
            return [1]

    def f(c):
        return list(c)

    with pytest.raises(TypeError, match="iter.. returned non-iterator of type 'list'"):
        njit(f)(C())


@dataclasses.dataclass
class Ring:
    value: int
    behind: "Ring | None" = None


class Loud:
    def __init__(self, seen):
        self.seen = seen

    def __eq__(self, other):
        self.seen.append(1)
        return True


def test_an_object_in_a_tuple_is_not_compared_with_itself():
    def made(n):
        a = Ring(n)
        b = a.behind = Ring(n + 1, a)
        return a == a, a == b

    ring = Ring(1)
    ring.behind = ring
    assert njit(made)(1) == made(1) == (True, False)
    assert njit(lambda a: a == a)(ring) is True
    compiled = njit(lambda a, b: ((a,) == (a,), (a,) == (b,)))
    for function in (compiled, compiled.py_func):
        seen = []
        assert function(Loud(seen), Loud(seen)) == (True, True) and seen == [1]


def test_hash_by_identity():
    class C:
        pass

    def f():
        a, b = C(), C()
        found = {a: 1, b: 2}
        return found[a], found[b], hash(a) == hash(a), hash(a) == hash(b)

    assert njit(f)() == f()


class Scaled:
    def __init__(self, x):
        self.x = x

    def __mul__(self, other):
        return Scaled(self.x * other) if isinstance(other, int) else NotImplemented

    def __add__(self, other):
        return Scaled(self.x + other) if isinstance(other, int) else NotImplemented


class Plain:
    pass


@pytest.mark.parametrize("text", [
    "c * 'q'", "c * [1]", "c * (1, 2)", "c * b'a'", "c * 2.5", "c * [n, n]", "[n] * c", "'q' * c", "c + 'q'", "'q' + c",
    "c + [n]", "[n] + c", "p * 'q'", "p * [n, 1]", "p + (1,)", "(n, 1) * p", "2.5 * 'q'", "[n] * 'q'", "{n} * [n]",
    "operator.imul(c, 'q')", "operator.imul(p, [n])", "operator.imul(2.5, 'q')", "tuple([n] * n) * c"])
def test_the_error_where_neither_operand_defines_an_operator(text):
    space = {"Scaled": Scaled, "Plain": Plain, "operator": operator}
    exec("def f(n):\n    c, p = Scaled(n), Plain()\n    try:\n        " + text
         + "\n    except TypeError as error:\n        return str(error)\n", space)
    assert njit(space["f"])(3) == space["f"](3)
