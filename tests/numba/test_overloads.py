"""Overloads of functions that already have a meaning, which stays where no overload returns a function."""
import collections
import enum
import operator
import os
import subprocess
import sys

import numpy as np
import pytest

from pyjitc import TypingError, numba
from pyjitc.lib import extended
from pyjitc.numba import njit, types
from pyjitc.numba.extending import overload, overload_method, typeof_impl


@pytest.fixture(autouse=True)
def only_here(monkeypatch):
    for name in ("FUNCTIONS", "METHODS", "ATTRIBUTES", "OPERATORS"):
        table = getattr(extended, name)
        kept = {key: list(value) if isinstance(value, list) else value for key, value in table.items()}
        monkeypatch.setattr(extended, name, kept)


def test_operators_and_builtins():
    @overload(len)
    def _(x):
        if isinstance(x, types.Integer):
            return lambda x: 64

    @overload(operator.add)
    def _(x, y):
        if isinstance(x, types.UnicodeType) and isinstance(y, types.Integer):
            return lambda x, y: x + str(y)

    @overload(operator.getitem)
    def _(x, i):
        if isinstance(x, types.Integer):
            return lambda x, i: (x >> i) & 1

    @overload(operator.lt)
    def _(x, y):
        if isinstance(x, types.Integer) and isinstance(y, types.UnicodeType):
            return lambda x, y: x < len(y)

    @overload(operator.contains)
    def _(x, item):
        if isinstance(x, types.Integer):
            return lambda x, item: (x >> item) & 1 == 1

    @overload(operator.neg)
    def _(x):
        if isinstance(x, types.UnicodeType):
            return lambda x: x[::-1]

    @overload(np.clip)
    def _(a, low, high):
        if isinstance(a, types.Integer):
            return lambda a, low, high: 42

    @njit
    def f(a, n):
        return (len(a), len(n), "x" + n, n[2], 3 + n, a[1], n < "abcdef", n < 3, 1 in n, 2 in n, 3 in a, -"ab", -n,
                np.clip(a, 0, 1).sum(), np.clip(n, 0, 1), operator.add("x", n))

    assert f(np.arange(3), 5) == (3, 64, "x5", 1, 8, 1, True, False, False, True, False, "ba", -5, 2, 42, "x5")


def test_constants_are_types_of_their_own():
    def which(x):
        raise NotImplementedError

    def asked(x):
        raise NotImplementedError

    for function, prefer in ((which, False), (asked, True)):
        @overload(function, prefer_literal=prefer)
        def _(x):
            text = "constant" if isinstance(x, types.IntegerLiteral) else "int"
            return (lambda x: "constant") if text == "constant" else (lambda x: "int")

    @njit
    def f(n):
        return which(3), asked(3), which(n), asked(n)

    assert f(4) == ("int", "constant", "int", "int")


def test_a_method_that_types_have():
    @overload_method(types.UnicodeType, "shout")
    def _(x, times=1):
        return lambda x, times=1: x.upper() + "!" * times

    assert njit(lambda x: (x.shout(), x.shout(2), x.upper()))("a") == ("A!", "A!!", "A")


def test_no_overload_answers():
    def only(x):
        raise NotImplementedError

    @overload(only)
    def _(x):
        return None

    with pytest.raises(TypingError, match=r"no overload of only\(\) accepts \(int64\)"):
        njit(lambda x: only(x))(3)
    with pytest.raises(numba.errors.TypingError, match="said no"):
        @overload(only)
        def _(x):
            raise numba.errors.TypingError("said no")
        njit(lambda x: only(x))(3)


def test_an_overload_that_uses_what_numba_has_inside():
    from pyjitc.numba.absent import Absent

    def solve(x):
        raise NotImplementedError

    @overload(solve)
    def _(x):
        Absent("np.linalg._LAPACK")()

    with pytest.raises(TypingError, match=r"part of Numba that pyjitc does not have: .* no numba\.np\.linalg\._LAPACK"):
        njit(lambda x: solve(x))(3)


class Pair(tuple):
    def total(self):
        return sum(self)


def test_overloads_let_other_classes_be():
    """An overload of a method for arrays only is tried for receivers of all types."""
    @overload_method(types.Array, "total")
    def total(a):
        return lambda a: a.sum()

    pair = Pair((1, 2))
    assert njit(lambda x: (pair.total(), x.total(), pair[0]))(np.ones(3)) == (3, 3.0, 1)


def measured(items):
    raise NotImplementedError


@overload(measured)
def _(items):
    if isinstance(items, types.ListType):
        found = str(items.item_type)
    elif isinstance(items, types.DictType):
        found = f"{items.key_type} {items.value_type}"
    else:
        found = f"{type(items).__name__} of {items.count}"
    return lambda items: (found, len(items))


def test_lists_and_dicts_that_a_program_writes_have_types():
    """The overload is asked with the types of lists and dicts, whichever form displays have in compiled code."""
    def grown(n):
        x = [1.5]
        for i in range(n):
            x.append(i)
        return measured(x)

    assert njit(lambda: measured([1, 2, 3]))() == ("int64", 3)
    assert njit(lambda x: measured([x, 2, 1j]))(1.5) == ("complex128", 3)
    assert njit(lambda x: measured([[1, 2], [3, x]]))(4) == ("reflected list(int64)<iv=None>", 2)
    assert njit(lambda x: measured([x, "b"]))(4) == ("LiteralList of 2", 2)
    assert njit(lambda x: measured(x))([1.5]) == ("float64", 1) and njit(grown)(2) == ("float64", 3)
    assert njit(lambda x: measured({"a": x, "b": 2.5}))(4) == ("unicode_type float64", 2)


def test_dicts_with_values_of_several_types_have_a_type_of_their_own():
    """Of a display whose keys are texts; where the overload accepts no other type of dict."""
    def shown(x):
        raise NotImplementedError

    @overload(shown)
    def _(x):
        assert isinstance(x, types.LiteralStrKeyDict) and not isinstance(x, types.BaseTuple), f"given {x}"
        found = " ".join([f"{key.literal_value}:{value}" for key, value in x.literal_value.items()])
        return lambda x: (found, x["a"], len(x), "b" in x, [key for key in x.keys()])

    @njit
    def f(n):
        d = {"a": n, "b": "c", "c": n / 2}
        return shown(d)

    assert f(3) == ("a:int64 b:unicode_type c:float64", 3, 3, True, ["a", "b", "c"])
    assert njit(lambda a: shown({"a": a, "c": 1}))(np.ones(2))[0] == "a:array(float64, 1d, C) c:int64"
    with pytest.raises(TypingError, match=r"_\(\) raises AssertionError: given DictType\[unicode_type,int64\]"):
        njit(lambda d: shown(d))({"a": 1, "b": 2})
    with pytest.raises(TypingError, match="raises AssertionError"):  # it changes, and is a dict
        @njit
        def changed(n):
            d = {"a": n, "b": "c"}
            d["a"] = 2
            return shown(d)
        changed(1)


def test_an_error_in_an_overload_is_named():
    def only(x):
        raise NotImplementedError

    @overload(only)
    def asked(x):
        x.some_attribute

    with pytest.raises(TypingError, match=r"asked\(\) raises AttributeError: 'Integer' object has no attribute"):
        njit(lambda x: only(x))(3)


def test_the_first_overload_that_accepts_the_types_is_used():
    def chosen(x):
        raise NotImplementedError

    @overload(chosen)
    def _(x):
        if isinstance(x, types.Integer):
            return lambda x: "int"

    @overload(chosen)
    def _(x):
        return lambda x: "other"

    @overload_method(types.Array, "called")
    def _(a):
        return lambda a: 1

    @overload_method(types.Array, "called")
    def _(a):
        return lambda a: 2

    assert njit(lambda x, a: (chosen(x), chosen(a), a.called()))(1, np.ones(2)) == ("int", "other", 1)


class Couple:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __array__(self, dtype=None, copy=None):
        return np.array([self.x, self.y])


class PairType(types.Type):
    pass


def test_objects_of_a_registered_class_are_objects_also_where_numpy_makes_arrays_of_them():
    with pytest.raises(TypeError, match="no native form"):
        njit(lambda p: p.x)(Couple(1, 2))

    @typeof_impl.register(Couple)
    def _(value, context):
        return PairType("pair")

    @overload_method(PairType, "sum")
    def _(self):
        return lambda self: self.x + self.y

    assert njit(lambda p: p.sum() * p.x)(Couple(2, 3)) == 10


class Bag(collections.OrderedDict):
    pass


def test_the_interpreter_runs_functions_of_registered_classes_without_a_native_form():
    @njit
    def first(bag):
        return next(iter(bag)), type(bag)

    with pytest.raises(TypeError, match="a subclass of dict"):
        first(Bag(a=1))

    @typeof_impl.register(Bag)
    def _(value, context):
        return PairType("bag")

    with pytest.warns(numba.NumbaPerformanceWarning, match="the interpreter runs"):
        assert first(Bag(a=1)) == ("a", Bag)

    @njit
    def named(couple):
        return eval("couple.x")

    @typeof_impl.register(Couple)
    def _(value, context):
        return PairType("pair")

    with pytest.warns(numba.NumbaPerformanceWarning, match="the interpreter runs"):
        assert named(Couple(3, 4)) == 3
    with pytest.raises(TypingError):
        named(3)


def test_extensions_of_packages_are_looked_for_before_a_refusal(tmp_path):
    (tmp_path / "extended_numbers.py").write_text("""
import numpy

tripled = numpy.busday_count

def init():
    from numba.extending import overload

    @overload(tripled)
    def _(x):
        return lambda x: 3 * x
""")
    info = tmp_path / "extended_numbers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: extended-numbers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[numba_extensions]\ninit = extended_numbers:init\n")
    code = """
import pyjitc.numba; pyjitc.numba.install()
import numba, extended_numbers

@numba.njit
def f(x):
    return extended_numbers.tripled(x)

print(f(2))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])})
    assert done.stdout == "6\n", done.stderr


def test_ordinary_types_are_tried_after_an_error_for_literal_ones():
    def code(x):
        raise NotImplementedError

    @overload(code, prefer_literal=True)
    def _(x):
        if isinstance(x, types.IntegerLiteral):
            if x.literal_value != 1:
                raise numba.errors.TypingError("another number")
            return lambda x: "one"
        return lambda x: x * 100

    assert njit(lambda x: (code(1), code(2), code(x)))(3) == ("one", 200, 300)


def test_an_overload_that_raises_an_error_leaves_the_types_to_the_next():
    def described(x):
        raise NotImplementedError

    @overload(described)
    def _(x):
        if not isinstance(x, types.Float):
            raise numba.errors.TypingError("floats only")
        return lambda x: "a float"

    @overload(described)
    def _(x):
        if isinstance(x, types.Integer):
            return lambda x: "an int"

    @overload(np.trace)
    def _(a):
        raise numba.errors.TypingError("never")

    function = njit(lambda x: described(x))
    assert (function(1), function(1.5)) == ("an int", "a float")
    with pytest.raises(TypeError, match="floats only"):
        function("text")
    assert njit(lambda a: np.trace(a))(np.eye(3)) == 3.0


def test_a_function_that_is_its_own_overload():
    def described(x):
        return "plain"

    @overload(described)
    def _(x):
        return described

    assert njit(lambda x: described(x))(3) == "plain"


def test_enums_and_generators_of_random_numbers_have_types_of_their_own():
    def described(x):
        raise NotImplementedError

    @overload(described)
    def _(x):
        text = f"{type(x).__name__} {x}"
        return lambda x: text

    colour, size = enum.Enum("Colour", "RED"), enum.IntEnum("Size", {"BIG": 3})
    function = njit(lambda x: described(x))
    for value, text in ((colour.RED, "EnumMember Enum<int64>(Colour)"), (colour, "EnumClass Enum class<int64>(Colour)"),
                        (size.BIG, "IntEnumMember IntEnum<int64>(Size)"),
                        (np.random.default_rng(1), "NumPyRandomGeneratorType NumPyRandomGeneratorType")):
        assert function(value) == text
    assert types.IntEnumClass(size, types.int64).member_type == numba.typeof(size.BIG)
    drawn = njit((types.npy_rng,))(lambda rng: rng.random())
    assert drawn(np.random.default_rng(1)) == np.random.default_rng(1).random()
