"""Kinds that are declared only in this file work in all parts of the compiler: the declaration of a kind is
sufficient."""
import array
import collections
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.pipeline import portable
from pyjitc.ir import interp
from pyjitc.ops.structure import STRUCT_GET, STRUCT_MAKE
from pyjitc.types import kinds
from pyjitc.types.kinds import Array, Float, Int, Tuple, float64
from pyjitc.types.typeof import typeof
from tests.oracle import agree


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def __eq__(self, other):
        return type(other) is Interval and (self.low, self.high) == (other.low, other.high)

    def __repr__(self):
        return f"Interval({self.low!r}, {self.high!r})"


class IntervalType(kinds.Attributes):
    """Two numbers."""

    __slots__ = fields = ("low", "high")
    python_class = Interval


class Sample:
    """Its attributes are in slots, and one holds a reference."""

    __slots__ = ("values", "name")

    def __init__(self, values, name):
        self.values, self.name = values, name

    def __eq__(self, other):
        return type(other) is Sample and self.name == other.name and np.array_equal(self.values, other.values)


class SampleType(kinds.Attributes):
    __slots__ = fields = ("values", "name")
    python_class = Sample


Point = collections.namedtuple("Point", "x y")
FLOATS = IntervalType(Float, Float)
HERE = Interval(1.0, 2.0)


def identity(x):
    return x


@pytest.mark.parametrize("value, t", [
    (Interval(1.0, 2.0), FLOATS), (Interval(1, 2.5), IntervalType(Int, Float)),
    (Interval(Interval(1, 2), None), IntervalType(IntervalType(Int, Int), kinds.NoneType)),
    (Interval(np.float32(1), (1, "x")), IntervalType(kinds.float32, Tuple((Int, kinds.Str)))),
    (Sample(np.arange(3.0), "x"), SampleType(Array(float64, 1), kinds.Str)),
    ((HERE, 3), Tuple((FLOATS, Int))), (Point(HERE, (HERE,)), Tuple((FLOATS, Tuple((FLOATS,))), Point)),
], ids=lambda x: str(x) if isinstance(x, kinds.Type) else type(x).__name__)
def test_argument_and_result(value, t):
    assert typeof(value) is t and pickle.loads(pickle.dumps(t)) is t
    assert agree(identity, value).signatures == [(t,)]


def test_the_facts():
    assert FLOATS.parts == (Float, Float) and FLOATS.names == ("low", "high") and not FLOATS.refcounted
    assert str(FLOATS) == "Interval(float, float)" and FLOATS.class_name == "Interval"
    assert SampleType(Array(float64, 1), kinds.Str).refcounted
    assert kinds.kind_of_class(Interval) is IntervalType and kinds.kind_of_class(slice) is kinds.Slice


def test_references_are_kept_and_given_back():
    values = np.arange(3.0)
    before = sys.getrefcount(values)
    same = njit(identity)
    for _ in range(10):
        made = same(Sample(values, "name"))
        assert made.values is values
    del made
    assert sys.getrefcount(values) == before


def test_an_attribute_may_be_replaced_while_the_code_runs():
    class Breaks:
        def __init__(self):
            self.sample = Sample(np.arange(1000.0), "x")

        def __call__(self):
            self.sample.values = None

    breaks = Breaks()

    def f(sample, text):
        try:
            print(text)
        except ValueError:
            pass
        return sample

    class Out:
        def write(self, text):
            breaks()

        def flush(self):
            pass

    expected = breaks.sample.values.copy()
    out, sys.stdout = sys.stdout, Out()
    try:
        found = njit(f)(breaks.sample, "x")
    finally:
        sys.stdout = out
    assert breaks.sample.values is None and np.array_equal(found.values, expected)


def test_what_cannot_be_an_argument_is_said():
    with pytest.raises(TypeError, match="argument 'x' is an Interval whose low is an array"):
        njit(identity)(Interval(array.array("d"), 2.0))
    broken = Interval(1, 2)
    del broken.low
    with pytest.raises(TypeError, match="argument 'x' is an Interval without the attribute low"):
        njit(identity)(broken)


def test_unions_and_joins():
    def pick(c, x, y):
        return x if c else y

    for x, y in [(HERE, None), (HERE, 5), (HERE, (1, 2)), (Interval(1, 2.0), HERE), (HERE, Sample(np.ones(2), "x")),
                 ((HERE, 1), (Interval(2, 3), 1.5))]:
        compiled = agree(pick, True, x, y)
        agree(pick, False, x, y, compiled=compiled)
    assert str(kinds.union_of([FLOATS, Int])) == "Interval(float, float) | int"
    met = njit(pick)
    met(True, Interval(1, 2.0), HERE)
    assert next(iter(met.overloads.values())) == "Interval(float | int, float)"


def test_loops_exceptions_and_generators():
    def loop(x, n):
        last = None
        for i in range(n):
            last = x if i % 2 else (x, i)
        return last

    def caught(x, n):
        kept = x
        try:
            if n > 1:
                raise ValueError("too many")
            kept = None
        except ValueError as error:
            return kept, x, str(error)
        return kept

    def pairs(x, n):
        for i in range(n):
            yield i, x

    def generated(x, n):
        last = None
        for pair in pairs(x, n):
            last = pair
        return last

    def closed(x, n):
        def inner():
            return x, n
        x = x if n else None
        return inner()

    for f in (loop, caught, generated, closed):
        compiled = None
        for n in range(4):
            compiled = agree(f, HERE, n, compiled=compiled)
            agree(f, Sample(np.arange(2.0), "s"), n, compiled=compiled)


def test_an_argument_can_be_left_out():
    def f(x=HERE, y=2):
        return y, x

    agree(f)
    agree(f, Interval(5.0, 6.0))


def test_a_global_is_read_at_each_call():
    @njit
    def f():
        return HERE, 1

    assert f() == (Interval(1.0, 2.0), 1)
    HERE.low = 7.0
    try:
        assert f() == (Interval(7.0, 2.0), 1)
    finally:
        HERE.low = 1.0


def test_the_ir_makes_and_opens_values():
    from tests.codegen.build import Builder, compiled

    b = Builder([Float, FLOATS], Tuple((FLOATS, Float)))
    low, x = b.params
    high = b.op(STRUCT_GET, x, field="high")
    made = b.op(STRUCT_MAKE, low, high, type=FLOATS)
    from pyjitc.ops.structure import TUPLE_MAKE

    b.ret(b.op(TUPLE_MAKE, made, high))
    expected = Interval(0.5, 2.0), 2.0
    assert compiled(b)(0.5, HERE) == expected
    assert interp.run([b.fn], (0.5, HERE)) == expected


def test_texts(capsys):
    same = njit(identity)
    same(HERE)
    same.inspect_types()
    assert "Interval(float, float)" in capsys.readouterr().out


def test_keys_say_the_class_the_kind_and_the_parts():
    keys = {portable.type_key(t) for t in (FLOATS, IntervalType(Int, Float), SampleType(Float, Float))}
    assert len(keys) == 3 and all(portable.portable(key) for key in keys)
    assert portable.fingerprint(HERE) == portable.fingerprint(Interval(5.0, 6.0))
    assert portable.fingerprint(HERE) != portable.fingerprint(Interval(5, 6))


PROGRAM = """
    from pyjitc import njit
    from pyjitc.types import kinds

    class Interval:
        def __init__(self, low, high):
            self.low, self.high = low, high

    class IntervalType(kinds.Attributes):
        __slots__ = fields = ("low", "high")
        python_class = Interval

    @njit(cache=True)
    def same(x, y):
        return (x, y), HERE

    HERE = Interval(1.0, 2.0)
    (x, y), z = same(Interval(3.0, 4.5), None)
    print(x.low, x.high, y, z.low, z.high, same.stats["disk"], same.stats["written"])
"""


def test_the_disk_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYJITC_CACHE_DIR", str(tmp_path / "cache"))
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))

    def run():
        return subprocess.run([sys.executable, program], capture_output=True, text=True, check=True).stdout.split()

    assert run() == "3.0 4.5 None 1.0 2.0 0 1".split()
    assert run() == "3.0 4.5 None 1.0 2.0 1 0".split()


@pytest.mark.parametrize("make", ["property", "__getattr__", "__getattribute__", "cached_property"])
def test_attributes_that_code_finds_are_no_parts(make):
    import functools

    class Odd:
        pass

    if make.startswith("__"):
        setattr(Odd, make, lambda self, name: 1.0)
    else:
        Odd.x = (property if make == "property" else functools.cached_property)(lambda self: 1.0)
    with pytest.raises(TypeError, match="attributes that objects store"):
        type("OddType", (kinds.Attributes,), {"__slots__": ("x",), "fields": ("x",), "python_class": Odd})
    assert kinds.kind_of_class(Odd) is None


def test_a_class_that_changes_later_does_no_harm():
    """If reading an attribute makes a new object, native code does not accept the argument."""
    class Late:
        def __init__(self, x):
            self.x = x

    class LateType(kinds.Attributes):
        __slots__ = fields = ("x",)
        python_class = Late

    same = njit(identity)
    value = Late(1.5)
    assert same(value).x == 1.5
    Late.x = property(lambda self: float(len(str(self.__dict__))), lambda self, x: None)
    with pytest.warns(RuntimeWarning, match="refused its own argument types"):
        assert same(value) is value


def test_structures_with_a_role_are_kinds_of_their_own():
    made = kinds.Struct("list", kinds.numbered([Int, Float]))
    assert made is kinds.ListDisplay.of(kinds.numbered([Int, Float])) and type(made) is kinds.ListDisplay
    assert pickle.loads(pickle.dumps(made)) is made and str(made) == "list{0: int, 1: float}"
    assert made.python_class is list and made.parts == (Int, Float) and made.names == ("0", "1")
    assert type(kinds.Struct("enumerate", ())) is kinds.Struct
    assert type(kinds.Struct("zip", ())) is kinds.Zip and kinds.Zip.joins and not kinds.Struct.joins


def test_no_structure_is_told_by_a_text():
    """A comparison of a structure's name with a text would be a second definition of its role."""
    import ast
    import pathlib

    import pyjitc

    roles = set(kinds.Struct._of_role)
    for path in pathlib.Path(pyjitc.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "name":
                texts = {part.value for other in node.comparators for part in ast.walk(other)
                         if isinstance(part, ast.Constant)}
                assert not texts & roles or ".op.name" in ast.unparse(node), f"{path.name}:{node.lineno}"
