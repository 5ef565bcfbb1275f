"""Operations on compound values only rearrange their components: construction, access to parts, unions, selection."""
import collections
import sys

import numpy as np
import pytest

from build import Builder, compiled, through

from pyjitc.codegen.leaves import components
from pyjitc.ops import memory, structure
from pyjitc.types import kinds as k

Point = collections.namedtuple("Point", "x y")
A1, S1 = k.Array(k.float64, 1), k.Array(k.float64, 1, "A")


def test_components():
    assert components(k.Tuple((k.Int, k.Tuple((k.Bool, k.complex64)), k.NoneType))) == ("i64", "i1", "float", "float")
    assert components(k.Array(k.int8, 2, "A")) == ("ptr", "ptr", "i64", "i64", "i64", "i64")
    assert components(k.union_of([k.Int, k.NoneType, k.Str])) == ("i16", "i64", "ptr")
    assert (components(k.Struct("s", (("a", k.float16), ("b", k.Slice(k.Int, k.NoneType, k.Int)))))
            == ("half", "i64", "i64"))
    assert components(k.Method(A1, "sum")) == components(A1) and components(k.Singleton(sys)) == ()


def test_tuples():
    t = k.Tuple((k.Int, k.Tuple((k.Float, k.NoneType)), k.Str))
    assert through(structure.TUPLE_GET, [t], index=0)((1, (2.5, None), "x")) == 1
    assert through(structure.TUPLE_GET, [t], index=1)((1, (2.5, None), "x")) == (2.5, None)
    made = through(structure.TUPLE_MAKE, [k.Int, k.Float], cls=Point)(1, 2.5)
    assert made == Point(1, 2.5) and type(made) is Point


def test_structs():
    t = k.Struct("s", (("a", k.Int), ("b", k.Tuple((k.Float, k.Bool))), ("c", k.NoneType)))
    for field, expected in (("a", 7), ("b", (0.5, True)), ("c", None)):
        b = Builder([k.Int, k.Tuple((k.Float, k.Bool))], dict(t.members)[field])
        s = b.op(structure.STRUCT_MAKE, *b.params, b.const(k.NoneType, None), type=t)
        b.ret(b.op(structure.STRUCT_GET, s, field=field))
        assert compiled(b)(7, (0.5, True)) == expected
    b = Builder([k.Int, k.Float], k.Float)
    b.ret(b.op(structure.STRUCT_GET, b.op(structure.PACK, *b.params, name="pair"), field="1"))
    assert compiled(b)(7, 0.5) == 0.5


def test_slices_and_ranges():
    t = k.Slice(k.Int, k.NoneType, k.Int)
    assert ([through(structure.SLICE_GET, [t], field=f)(slice(3, None, -2)) for f in ("start", "stop", "step")]
            == [3, None, -2])
    assert through(structure.SLICE_MAKE, [k.Int, k.Int, k.Int])(1, 2, 3) == slice(1, 2, 3)
    assert ([through(structure.RANGE_GET, [k.Range], field=f)(range(3, 9, 2)) for f in ("start", "stop", "step")]
            == [3, 9, 2])
    assert through(structure.RANGE_MAKE, [k.Int] * 3)(9, 1, -4) == range(9, 1, -4)


def test_functions_and_methods():
    proto = type("Prototype", (), {"qualname": "f"})()
    t = k.Function(proto, (k.Tuple((k.Int, k.Float)), k.Str), ("defaults", "closure"))
    b = Builder([k.Int, k.Float], k.Float)
    pair = b.op(structure.TUPLE_MAKE, *b.params, cls=None)
    f = b.op(structure.FUNCTION_MAKE, pair, b.const(k.Str, "x"), type=t)
    b.ret(b.op(structure.TUPLE_GET, b.op(structure.CAPTURE_GET, f, index=0), index=1))
    assert compiled(b)(3, 4.5) == 4.5
    b = Builder([A1], A1)
    m = b.op(structure.METHOD_MAKE, b.params[0], name="sum")
    b.ret(b.op(structure.METHOD_SELF, m))
    a = np.arange(3.0)
    assert compiled(b)(a) is a


@pytest.mark.parametrize("t, x, y", [(k.Int, 1, 2), (k.Float, 1.5, float("nan")),
                                     (k.Tuple((k.Bool, k.complex64)), (True, np.complex64(1)),
                                      (False, np.complex64(2))), (k.NoneType, None, None), (k.Str, "x", "y")],
                         ids=lambda x: str(x))
def test_select(t, x, y):
    b = Builder([k.Bool, t, t], t)
    chosen = b.op(structure.SELECT, *(b.params if len(b.params) == 3 else [b.params[0], *[b.const(t, None)] * 2]))
    if k.is_refcounted(t):
        b.op(memory.RETAIN, chosen)
    b.ret(chosen)
    f = compiled(b)
    assert repr(f(True, x, y)) == repr(x) and repr(f(False, x, y)) == repr(y)


def test_retype():
    for source, target, value, expected in ((k.Int, k.int64, -5, np.int64(-5)), (k.Bool, k.bool_, True, np.True_),
                                            (k.Float, k.float64, 0.1, np.float64(0.1)),
                                            (k.complex128, k.Complex, np.complex128(1j), 1j)):
        found = through(structure.RETYPE, [source], type=target)(value)
        assert found == expected and type(found) is type(expected)
    a = np.arange(3.0)
    assert through(structure.RETYPE, [A1], type=S1)(a) is a


def test_undef_and_discard():
    for t in (k.Int, k.Float, k.Bool, k.complex64, k.float16, k.Tuple((k.Int, k.Bool)), k.NoneType):
        b = Builder([], t)
        b.ret(b.op(structure.UNDEF, type=t))
        assert not np.any(compiled(b)())
    assert through(structure.DISCARD, [k.Int])(3) is None


U = k.union_of([k.Int, k.NoneType, k.Float, k.Tuple((k.Bool, k.Str)), k.Str])
MEMBERS = [(k.Int, 5), (k.NoneType, None), (k.Float, -0.0), (k.Tuple((k.Bool, k.Str)), (True, "t")), (k.Str, "s")]


@pytest.mark.parametrize("t, value", MEMBERS, ids=lambda x: str(x))
def test_unions_hold_every_member(t, value):
    b = Builder([], k.Tuple((U, *[k.Bool] * len(U.members))))
    x = b.const(t, value)
    u = b.op(structure.UNION_MAKE, x, type=U)
    b.op(memory.RETAIN, u)
    b.ret(b.op(structure.TUPLE_MAKE, u, *(b.op(structure.UNION_IS, u, type=m) for m in U.members), cls=None))
    found = compiled(b)()
    assert repr(found[0]) == repr(value) and found[1:] == tuple(m is t for m in U.members)
    b = Builder([], t)
    u = b.op(structure.UNION_MAKE, b.const(t, value), type=U)
    x = b.op(structure.UNION_GET, u, type=t)
    if k.is_refcounted(t):
        b.op(memory.RETAIN, x)
    b.ret(x)
    assert repr(compiled(b)()) == repr(value)


@pytest.mark.parametrize("t, value", MEMBERS, ids=lambda x: str(x))
def test_casts_between_unions(t, value):
    wide = k.union_of([*U.members, k.Bytes, k.Complex, A1])
    b = Builder([], wide)
    u = b.op(structure.UNION_CAST, b.op(structure.UNION_MAKE, b.const(t, value), type=U), type=wide)
    narrow = k.union_of([m for m in U.members if m is not (k.Int if t is not k.Int else k.Float)])
    u = b.op(structure.UNION_CAST, b.op(structure.UNION_CAST, u, type=narrow), type=wide)
    b.op(memory.RETAIN, u)
    b.ret(u)
    assert repr(compiled(b)()) == repr(value)


def test_a_cast_changes_the_layout_of_a_member():
    one, two = k.union_of([A1, k.NoneType]), k.union_of([S1, k.NoneType, k.Int])
    b = Builder([A1], two)
    b.ret(b.op(structure.UNION_CAST, b.op(structure.UNION_MAKE, b.params[0], type=one), type=two))
    a = np.arange(3.0)
    assert compiled(b)(a) is a
