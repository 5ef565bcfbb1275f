"""The stub: arguments and results of every type, refused arguments, keywords and defaults, guards, the count of running
calls."""
import collections
import gc
import sys
import types

import numpy as np
import pytest

from tests.codegen.build import ABSENT, Builder, NotTaken, compiled, expect, identity, inside, set_defaults, through

from pyjitc import njit
from pyjitc.codegen import compile
from pyjitc.ops import arith, exceptions, memory, structure
from pyjitc.types import kinds as k

Point = collections.namedtuple("Point", "x y")
A1, A2, F2, S1, S2 = (k.Array(k.float64, 1), k.Array(k.float64, 2), k.Array(k.float64, 2, "F"),
                      k.Array(k.float64, 1, "A"), k.Array(k.float64, 2, "A"))
READONLY = np.arange(3.0)
READONLY.flags.writeable = False
UNALIGNED = np.frombuffer(bytearray(33), np.uint8)[1:].view(np.float64)

INTS = [0, 1, -1, 7, -12345, 2**30 - 1, 2**30, -2**30, 2**31, 2**60 - 1, 2**60, -2**60, 2**62, 2**63 - 1, -2**63]
SCALARS = [
    (k.Int, INTS), (k.Float, [0.0, -0.0, 1.5, -2.5e300, float("inf"), float("nan")]), (k.Bool, [True, False]),
    (k.Complex, [1.5 - 2j, complex("inf+nanj")]), (k.NoneType, [None]), (k.Ellipsis_, [...]),
    (k.Str, ["", "text", "\u00e9"]), (k.Bytes, [b"", b"ab\0c"]), (k.NpBool, [np.True_, np.False_]),
    *((t, [t_np(v) for v in (0, 1, np.iinfo(t_np).min, np.iinfo(t_np).max)]) for t, t_np in (
        (k.int8, np.int8), (k.int16, np.int16), (k.int32, np.int32), (k.int64, np.int64), (k.uint8, np.uint8),
        (k.uint16, np.uint16), (k.uint32, np.uint32), (k.uint64, np.uint64))),
    (k.float16, [np.float16(1.5), np.float16("nan")]), (k.float32, [np.float32(0.1), np.float32("-inf")]),
    (k.float64, [np.float64(0.1), np.float64("nan")]), (k.complex64, [np.complex64(1 + 2j)]),
    (k.complex128, [np.complex128(0.1 - 2j)]), (k.Range, [range(3), range(5, -7, -2)]),
    (k.Slice(k.Int, k.NoneType, k.Int), [slice(1, None, -3)]),
    (k.Tuple((k.Int, k.Tuple((k.Float, k.NoneType)))), [(3, (0.5, None))]), (k.Tuple(()), [()]),
    (k.Tuple((k.Int, k.Float), Point), [Point(1, 2.5)]), (k.DType(k.float32), [np.dtype(np.float32)]),
    (k.Singleton(np.sin), [np.sin]), (k.Singleton(sys), [sys]),
]


def same(a, b):
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize("t, values", SCALARS, ids=lambda x: str(x) if isinstance(x, k.Type) else "")
def test_every_type_comes_back_as_it_went_in(t, values):
    f = identity(t)
    for value in values:
        assert same(f(value), value)


OTHERS = [0, 0.0, True, None, 1j, "a", b"a", np.float64(1), np.int64(1), np.int32(1), np.bool_(True), (1,), (),
          range(1), slice(1), np.zeros(1), np.zeros((1, 1)), np.dtype("f8"), sys, type("I", (int,), {})(1),
          type("F", (float,), {})(1)]


@pytest.mark.parametrize("t, values", SCALARS, ids=lambda x: str(x) if isinstance(x, k.Type) else "")
def test_values_of_another_type_are_sent_on(t, values):
    f = identity(t)
    kinds = {type(v) for v in values}
    for other in OTHERS:
        if type(other) not in kinds:
            with pytest.raises(NotTaken):
                f(other)


def test_ints_beyond_64_bits_are_sent_on():
    f = identity(k.Int)
    for value in (2**63, -2**63 - 1, 2**100):
        with pytest.raises(NotTaken):
            f(value)
    assert f(3) == 3  # and leave no error behind
    with pytest.raises(NotTaken):
        identity(k.Range)(range(2**70))


def test_wrong_counts_are_sent_on():
    f = through(arith.FADD, [k.Float, k.Float])
    for args in ((), (1.0,), (1.0, 2.0, 3.0)):
        with pytest.raises(NotTaken):
            f(*args)
    assert f(1.0, 2.0) == 3.0


ARRAYS = [(A1, np.arange(4.0)), (A2, np.ones((2, 3))), (F2, np.ones((2, 3), order="F")), (S1, np.arange(9.0)[::2]),
          (S2, np.ones((4, 6))[::2, ::3]), (k.Array(k.float64, 1, "C", False), READONLY),
          (k.Array(k.float64, 1, "C", True, False), UNALIGNED), (k.Array(k.int64, 1), np.arange(3, dtype=np.longlong)),
          (k.Array(k.int64, 1), np.arange(3, dtype=np.int_)), (k.Array(k.bool_, 1), np.array([True, False])),
          (k.Array(k.complex64, 1), np.ones(2, np.complex64)), (k.Array(k.float16, 0), np.array(1.5, np.float16)),
          (k.Array(k.uint8, 3), np.zeros((2, 0, 3), np.uint8))]


@pytest.mark.parametrize("t, a", ARRAYS, ids=lambda x: str(x) if isinstance(x, k.Type) else "")
def test_an_array_comes_back_as_the_same_object(t, a):
    f = identity(t)
    before = sys.getrefcount(a)
    assert f(a) is a
    assert sys.getrefcount(a) == before
    for other, b in ARRAYS:
        if other is not t:
            with pytest.raises(NotTaken):
                f(b)
    with pytest.raises(NotTaken):
        f(a.astype(a.dtype.newbyteorder()) if a.dtype.itemsize > 1 else a.astype("f8"))
    with pytest.raises(NotTaken):
        f(a.view(np.recarray) if a.dtype.names else a.view(type("Sub", (np.ndarray,), {})))


def test_an_unpickled_array_is_taken():
    import pickle

    a = pickle.loads(pickle.dumps(np.arange(3.0)))
    assert identity(A1)(a) is a


def test_parameters_of_a_single_value_are_not_passed():
    b = Builder([k.NoneType, k.Int, k.Singleton(np.sin)], k.Int)
    assert len(b.params) == 1
    b.ret(b.params[0])
    f = compiled(b)
    assert f(None, 5, np.sin) == 5
    with pytest.raises(NotTaken):
        f(None, 5, np.cos)


def three():
    """a, b, c -> (a, b, c)"""
    b = Builder([k.Int, k.Int, k.Int], k.Tuple((k.Int,) * 3))
    b.ret(b.op(structure.TUPLE_MAKE, *b.params, cls=None))
    return b


def test_keywords_and_defaults():
    f = compiled(three(), names=("a", "b", "c"), defaults=(20, 30))
    assert f(1, 2, 3) == (1, 2, 3)
    assert f(1, 2) == (1, 2, 30) and f(1) == (1, 20, 30)
    assert (f(1, c=3) == (1, 20, 3) and f(c=3, a=1, b=2) == (1, 2, 3) and f(1, 2, c=3) == (1, 2, 3)
            and f(b=5, a=4) == (4, 5, 30))
    for call in (lambda: f(), lambda: f(b=1), lambda: f(1, a=1), lambda: f(1, d=3), lambda: f(1, 2, 3, 4),
                 lambda: f(1, b=2.0), lambda: f(1, 2, 3, c=4), lambda: f(1, **{"".join(["z", "z"]): 2})):
        with pytest.raises(NotTaken):
            call()
    set_defaults(f, 7)
    assert f(1, 2) == (1, 2, 7)
    with pytest.raises(NotTaken):
        f(1)
    set_defaults(f, 2, 3, 4)
    assert f() == (2, 3, 4)


def test_a_default_of_another_type_is_sent_on():
    f = compiled(three(), names=("a", "b", "c"), defaults=(2.5,))
    with pytest.raises(NotTaken):
        f(1, 2)


def test_positional_only_parameters_have_no_keyword():
    f = compiled(three(), names=("a", "b", "c"), positional_only=1, defaults=(3,))
    assert f(1, b=2) == (1, 2, 3)
    with pytest.raises(NotTaken):
        f(a=1, b=2)


def test_functions_with_variadic_parameters_take_exact_calls_only():
    f = compiled(three(), names=("a", "b", "c"), defaults=(3,), simple=False)
    assert f(1, 2, 3) == (1, 2, 3)
    for call in (lambda: f(1, 2), lambda: f(1, 2, c=3)):
        with pytest.raises(NotTaken):
            call()


def test_it_binds_as_a_method():
    cls = type("C", (), {"m": identity(k.Int)})
    with pytest.raises(NotTaken) as caught:
        cls().m(3)
    assert isinstance(caught.value.args[0][0], cls)


def test_guarded_globals():
    space = {"g": 5, "other": 1}
    guards = [(space, "g", space["g"]), (space, "missing", ABSENT)]
    f = compiled(_constant(5), guards=guards)
    assert f() == 5 and f() == 5
    space["other"] = 2
    assert f() == 5
    space["g"] = 6
    for _ in range(2):
        with pytest.raises(NotTaken):
            f()
    space["g"] = 5
    assert f() == 5
    space["missing"] = 0
    with pytest.raises(NotTaken):
        f()
    expect(f, "pyjitc_guard_1", space["missing"])
    assert f() == 5
    del space["missing"]
    expect(f, "pyjitc_guard_1", ABSENT)
    assert f() == 5
    space.clear()
    with pytest.raises(NotTaken):
        f()


def _constant(value):
    b = Builder([], k.Int)
    b.ret(b.int(value))
    return b


def test_guarded_cells():
    cell = types.CellType(5)
    other = types.CellType()
    f = compiled(_constant(5), guards=[(cell, None, cell.cell_contents), (other, None, ABSENT)])
    assert f() == 5
    cell.cell_contents = 6
    with pytest.raises(NotTaken):
        f()
    cell.cell_contents = 5
    assert f() == 5
    other.cell_contents = 1
    with pytest.raises(NotTaken):
        f()


def test_other_containers_have_no_word():
    f = compiled(_constant(5), guards=[(types.MappingProxyType({"a": 1}), "a", 1), ({3: 4}, 3, 4)])
    assert f() == 5 and f.artifact.guards == (None, None)


def test_calls_inside_are_counted():
    b = Builder([k.Int], k.NoneType)
    b.end(exceptions.THROW, cls=ValueError, message="no")
    f = compiled(b)
    for _ in range(3):
        with pytest.raises(ValueError, match="^no$"):
            f(1)
    with pytest.raises(NotTaken):
        f(1.0)
    assert inside(f) == 0
    g = through(arith.IADD, [k.Int, k.Int])
    g(1, 2)
    assert inside(g) == 0


def test_a_function_that_never_returns():
    b = Builder([], None)
    b.end(exceptions.THROW, cls=KeyError, message="x")
    with pytest.raises(KeyError):
        compiled(b)()


def test_references_do_not_leak():
    t = k.Tuple((A1, k.Str, k.Range, k.Slice(k.Int, k.NoneType, k.NoneType), k.Tuple((k.float64, k.DType(k.float64)))))
    f = identity(t)
    a, s, name = np.arange(3.0), "".join(["some", "text"]), np.float64(2.5)
    value = (a, s, range(10**6, 10**7), slice(10**6, None, None), (name, np.dtype("f8")))
    held = [a, s, name, np.dtype("f8"), value]
    gc.collect()  # objects of earlier tests hold the dtype too
    before = [sys.getrefcount(x) for x in held]
    for _ in range(1000):
        assert f(value)[0] is a
    gc.collect()
    after = [sys.getrefcount(x) for x in held]
    assert after == before
    thing = object()
    assert identity(k.Object)(thing) is thing
    with pytest.raises(NotTaken):
        identity(k.Object)(s)  # a str has code for its own type


def test_unions():
    t = k.union_of([k.Int, k.NoneType, k.Str, A1])
    b = Builder([k.Int], t)
    n = b.params[0]
    yes, no = b.new("yes"), b.new("no")
    b.branch(b.op(arith.ILT, n, b.int(0)), yes, no)
    b.at(yes)
    b.ret(b.op(structure.UNION_MAKE, b.const(k.NoneType, None), type=t))
    b.at(no)
    more, text = b.new("more"), b.new("text")
    b.branch(b.op(arith.IEQ, n, b.int(0)), text, more)
    b.at(text)
    s = b.const(k.Str, "zero")
    b.op(memory.RETAIN, s)
    b.ret(b.op(structure.UNION_MAKE, s, type=t))
    b.at(more)
    big, small = b.new("big"), b.new("small")
    b.branch(b.op(arith.IGT, n, b.int(100)), big, small)
    b.at(small)
    b.ret(b.op(structure.UNION_MAKE, n, type=t))
    b.at(big)
    b.ret(b.op(structure.UNION_MAKE, b.op(memory.ARRAY_NEW, n, type=A1, zero=True), type=t))
    f = compiled(b)
    assert f(-1) is None and f(0) == "zero" and f(3) == 3
    before = sys.getrefcount("zero")
    for _ in range(100):
        f(0), f(-1), f(7)
    after = sys.getrefcount("zero")
    assert after == before
    result = f(101)
    assert result.shape == (101,) and result.flags.owndata and not result.any()


def test_functions_of_equal_signatures_share_the_code_of_their_stubs():
    def one(x, y):
        return x * y + 1.5

    def two(a, b):
        return a - b

    def three(a, b):
        return a > b

    compile._stub.cache_clear()
    first, second, third = njit(one), njit(two), njit(three)
    assert (first(2.0, 3.0), second(2.0, 3.0), third(2.0, 3.0)) == (7.5, -1.0, False)
    assert (first(y=2.0, x=3.0), second(b=2.0, a=3.0)) == (7.5, 1.0)
    assert (compile._stub.cache_info().misses, compile._stub.cache_info().hits) == (2, 1)
    with pytest.raises(TypeError, match="argument: 'a'|argument 'a'"):
        first(a=2.0, y=3.0)
