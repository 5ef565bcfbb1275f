"""What special methods return, right and wrong: the checks of the interpreter."""
import math

import pytest

from pyjitc import jit, njit

NAMES = {"math": math}

# (name of the method, what it returns, expression in which it is called)
CALLS = [
    ("__len__", 3, "len(c)"), ("__len__", True, "len(c)"), ("__len__", -1, "len(c)"), ("__len__", -1, "bool(c)"),
    ("__len__", -1, "1 if c else 2"), ("__len__", 0, "not c"),
    ("__bool__", True, "not c"), ("__bool__", 1, "bool(c)"), ("__bool__", 0, "1 if c else 2"),
    ("__bool__", 2.5, "c and 1"), ("__bool__", "no", "[x for x in [c] if x]"),
    ("__int__", 3, "int(c)"), ("__int__", "x", "int(c)"), ("__int__", 2.5, "int(c)"), ("__int__", None, "int(c)"),
    ("__float__", 1.5, "float(c)"), ("__float__", 1, "float(c)"), ("__float__", True, "float(c)"),
    ("__float__", 2.5, "math.floor(c)"), ("__index__", 3, "float(c)"), ("__index__", 3, "int(c)"),
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


def test_an_iterator_that_is_none():
    class C:
        def __iter__(self):
            return [1]

    def f(c):
        return list(c)

    with pytest.raises(TypeError, match="iter.. returned non-iterator of type 'list'"):
        njit(f)(C())


def test_hash_by_identity():
    class C:
        pass

    def f():
        a, b = C(), C()
        found = {a: 1, b: 2}
        return found[a], found[b], hash(a) == hash(a), hash(a) == hash(b)

    assert njit(f)() == f()
