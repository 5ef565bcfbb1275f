"""Functions of other packages under `jit`: those that can be compiled are compiled, the others are left to the
interpreter."""
import logging
import types

import pytest

from pyjitc import CompileError, jit, njit
from tests.oracle import agree

OTHER = types.ModuleType("other")
exec(compile("""
def twice(x):
    return 2 * x

def opaque(x):
    return [inner(x), twice(x)]

def inner(x):
    return eval("x + 1", {"x": x})

def fills(items, value):
    items.append(value)
    return eval("None")

def fills_dict(items, value):
    items["other"] = value
    return eval("None")

class Model:
    def __init__(self, v):
        self.v = v

    def fit(self, x):
        self.found_ = x * 2.5
        self.v = "fitted"
        return eval("self", {"self": self})
""", "/somewhere/site-packages/other/__init__.py", "exec"), vars(OTHER))


def left(x):
    s = 0
    for i in range(x):
        s += i
    return OTHER.opaque(s)


def compiled_too(x):
    return OTHER.twice(x)


def list_of_other_types(x):
    xs = [x, 2]
    OTHER.fills(xs, "a")
    found = [y for y in xs]
    return xs, found, xs[2]


def given_list(xs):
    OTHER.fills(xs, 2.5)
    found = []
    for x in xs:
        found.append(x)
    return found


def dict_of_other_types(x):
    d = {"a": x}
    OTHER.fills_dict(d, 2.5)
    return d["other"], list(d.values()), d


def attributes_of_other_types(x):
    model = OTHER.Model(x)
    before = model.v
    model.fit(x)
    return before, model.found_, model.v


@pytest.mark.parametrize("function, given", [
    (left, 5), (compiled_too, 3), (list_of_other_types, 1), (given_list, [1, 2]), (dict_of_other_types, 1),
    (attributes_of_other_types, 3)])
def test_agrees(function, given):
    compiled, copy = jit(function), list(given) if isinstance(given, list) else given
    expected = function(copy)
    assert repr(compiled(given)) == repr(expected) and repr(given) == repr(copy)
    assert compiled.signatures


def test_only_what_is_refused_is_left():
    assert "py_call" in jit(left).inspect_ir("(int64,)") and "inner" not in jit(left).inspect_ir("(int64,)")
    assert "py_call" not in jit(compiled_too).inspect_ir("(int64,)")
    with pytest.raises(CompileError, match="eval"):
        njit(left)(3)


def test_a_function_of_the_library_is_left(caplog):
    def f(n):
        logging.getLogger("pyjitc.test").warning("%d", n)
        return n + 1

    assert jit(f)(3) == 4 and caplog.messages == ["3"]


def identities_of_tuples(t, rows):
    x, made = t, (rows[0], 1)
    kept = [made]
    return x is t, kept[0] is made, rows[0] is rows[1], (made is None), rows[0] is rows[0]


def test_identity_of_what_is_passed_by_value():
    """Tuples in compiled code have no identity to compare, so the interpreter runs the whole function."""
    given = (1, 2), [(1, 2), (1, 2)]
    agree(identities_of_tuples, *given, compiled=jit(identities_of_tuples))
    with pytest.raises(CompileError, match="`is` between two 'tuple' values"):
        njit(identities_of_tuples)(*given)
    agree(lambda t, x: (t is t, x is not x), (1, 2), float("nan"))
