"""Arrays, cells and references: the code of the operations on memory."""
import gc
import itertools
import os
import re
import signal
import sys
import threading
import time
import types

import numpy as np
import pytest

from tests.codegen.build import Builder, compiled, through

from pyjitc import njit
from pyjitc.base.options import Options
from pyjitc.codegen import link
from pyjitc.codegen.compile import module_text
from pyjitc.ops import arith, memory, pyobject, structure
from pyjitc.types import kinds as k

A1 = k.Array(k.float64, 1)
DTYPES = [k.bool_, k.int8, k.int16, k.int32, k.int64, k.uint8, k.uint16, k.uint32, k.uint64, k.float16, k.float32,
          k.float64, k.complex64, k.complex128]


def np_dtype(t):
    return np.dtype(t.text.rstrip("_"))


def load_and_store(t):
    """a, i..., v -> the element before, which becomes v."""
    index = [k.Int] * t.ndim
    b = Builder([t, *index, t.dtype], t.dtype)
    a, *rest = b.params
    old = b.op(memory.ARRAY_LOAD, a, *rest[:-1])
    b.op(memory.ARRAY_STORE, a, *rest)
    b.ret(old)
    return compiled(b)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", ["C", "F", "A"])
def test_elements_of_every_dtype_and_layout(dtype, layout):
    t = k.Array(dtype, 2, layout)
    f = load_and_store(t)
    a = (np.arange(24).reshape(4, 6) % 5).astype(np_dtype(dtype))
    a = {"C": a, "F": np.asfortranarray(a),
         "A": np.ascontiguousarray(np.repeat(np.repeat(a, 2, 0), 3, 1))[::-2, ::3]}[layout]
    expected = a.copy()
    new = np_dtype(dtype).type(1)
    for i, j in itertools.product(range(4), range(6)):
        assert f(a, i, j, new) == expected[i, j] and type(f(a, i, j, new)) is np_dtype(dtype).type
        expected[i, j] = new
        assert (a == expected).all()


def test_unaligned_elements():
    t = k.Array(k.float64, 1, "C", True, False)
    a = np.zeros(33, np.uint8)[1:].view(np.float64)
    a[:] = [1, 2, 3, 4]
    f = load_and_store(t)
    assert f(a, 2, np.float64(9)) == 3 and a.tolist() == [1, 2, 9, 4]


def test_zero_dimensions():
    a = np.array(1.5)
    assert load_and_store(k.Array(k.float64, 0))(a, np.float64(2.5)) == 1.5 and a == 2.5


def test_any_nonzero_byte_is_true():
    a = np.array([0, 2, 255], np.uint8).view(np.bool_)
    b = Builder([k.Array(k.bool_, 1), k.Int], k.NpBool)
    b.ret(b.op(memory.ARRAY_LOAD, *b.params))
    f = compiled(b)
    assert [f(a, i) for i in range(3)] == [False, True, True]


def test_check_index():
    f = through(memory.CHECK_INDEX, [k.Int, k.Int], axis=1)
    for i in range(-4, 4):
        assert f(i, 4) == range(4)[i]
    for i, n in ((4, 4), (-5, 4), (0, 0), (-1, 0), (2**63 - 1, 10), (-2**63, 10)):
        with pytest.raises(IndexError) as caught:
            f(i, n)
        assert str(caught.value) == f"index {i} is out of bounds for axis 1 with size {n}"
    g = through(memory.CHECK_INDEX, [k.Int, k.Int], axis=0, nonnegative=True)
    assert g(3, 4) == 3
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        g(4, 4)


def test_extents():
    a = np.zeros((2, 3, 4), np.int16)[:, ::-1, ::2]
    t = k.Array(k.int16, 3, "A")
    assert [through(memory.ARRAY_DIM, [t], axis=i)(a) for i in range(3)] == [2, 3, 2]
    assert [through(memory.ARRAY_STRIDE, [t], axis=i)(a) for i in range(3)] == list(a.strides)
    assert through(memory.ARRAY_DATA, [t])(a) == a.ctypes.data


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (5,), (0,), (2, 3), (0, 3), (3, 1, 2)], ids=str)
def test_new_arrays(layout, shape):
    for dtype, zero in itertools.product(DTYPES, (True, False)):
        f = through(memory.ARRAY_NEW, [k.Int] * len(shape), type=k.Array(dtype, len(shape), layout), zero=zero)
        a = f(*shape)
        like = np.empty(shape, np_dtype(dtype), order=layout)
        assert not a.size or a.strides == like.strides
        assert (a.shape, a.dtype, a.flags.owndata, a.flags.writeable, a.flags.aligned) == (
            like.shape, like.dtype, True, True, True)
        assert (a.base is None and a.flags.c_contiguous == like.flags.c_contiguous
                and a.flags.f_contiguous == like.flags.f_contiguous)
        assert not zero or not a.any()
        if a.size:
            a[...] = 1
            a.resize(10, refcheck=False)  # NumPy may free and reallocate the memory that it took over


@pytest.mark.parametrize("shape", [(-1,), (3, -2), (2**62,), (2**40, 2**40), (0, 2**62), (2**63 - 1,), (0, -1),
                                   (2**40, 0, 2**40)], ids=str)
def test_impossible_shapes(shape):
    f = through(memory.ARRAY_NEW, [k.Int] * len(shape), type=k.Array(k.float64, len(shape)), zero=False)
    with pytest.raises(ValueError) as expected:
        np.empty(shape)
    with pytest.raises(ValueError) as caught:
        f(*shape)
    if "Maximum allowed" not in str(expected.value):
        assert str(caught.value) == str(expected.value)


def test_no_memory():
    f = through(memory.ARRAY_NEW, [k.Int], type=A1, zero=False)
    with pytest.raises(MemoryError):
        f(2**56)


def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_memory_is_freed():
    b = Builder([k.Int], k.Int)
    a = b.op(memory.ARRAY_NEW, b.params[0], type=A1, zero=True)
    b.op(memory.RETAIN, a)
    view = b.op(memory.ARRAY_VIEW, a, b.int(8), b.int(1), b.int(8), type=A1)
    b.op(memory.RETAIN, view)
    for _ in range(3):
        b.op(memory.RELEASE, a)
    b.ret(b.op(memory.ARRAY_DIM, view, axis=0))
    f = compiled(b)
    new = through(memory.ARRAY_NEW, [k.Int], type=A1, zero=True)
    for _ in range(20):
        f(100_000), new(100_000)
    before = rss()
    for _ in range(500):
        f(100_000), new(100_000)
    assert rss() - before < 20_000_000


def view_of(n):
    """A function that makes an array of n zeros and returns a view without the first element."""
    b = Builder([], A1)
    a = b.op(memory.ARRAY_NEW, b.int(n), type=A1, zero=True)
    b.ret(b.op(memory.ARRAY_VIEW, a, b.int(8), b.int(n - 1), b.int(8), type=A1))
    return compiled(b)


def test_a_view_of_native_memory_keeps_it():
    v = view_of(1000)()
    assert v.shape == (999,) and v.base.nbytes == 8000 and v.base.flags.owndata
    v[:] = 3
    gc.collect()
    assert (v == 3).all()


def test_a_view_of_an_argument_has_it_as_base():
    b = Builder([A1], A1)
    b.ret(b.op(memory.ARRAY_VIEW, b.params[0], b.int(16), b.int(2), b.int(8), type=A1))
    f = compiled(b)
    a = np.arange(5.0)
    before = sys.getrefcount(a)
    v = f(a)
    held = sys.getrefcount(a)
    assert v.base is a and v.tolist() == [2, 3] and held == before + 1
    del v
    after = sys.getrefcount(a)
    assert after == before
    readonly = k.Array(k.float64, 1, "C", False)
    b = Builder([A1], readonly)
    b.ret(b.op(structure.RETYPE, b.op(memory.ARRAY_VIEW, b.params[0], b.int(0), b.int(2), b.int(8), type=readonly),
               type=readonly))
    v = compiled(b)(a)
    assert not v.flags.writeable


def test_an_array_that_leaves_twice_is_one_object():
    b = Builder([], k.Tuple((A1, A1, A1)))
    a = b.op(memory.ARRAY_NEW, b.int(10), type=A1, zero=True)
    half = b.op(memory.ARRAY_VIEW, a, b.int(0), b.int(5), b.int(8), type=A1)
    b.op(memory.RETAIN, a)
    b.op(memory.RETAIN, a)
    b.ret(b.op(structure.TUPLE_MAKE, a, half, a, cls=None))
    x, y, z = compiled(b)()
    assert x is z and x.flags.owndata and y.base is x and not y.flags.owndata
    b = Builder([], k.Tuple((A1, A1)))
    a = b.op(memory.ARRAY_NEW, b.int(10), type=A1, zero=True)
    half = b.op(memory.ARRAY_VIEW, a, b.int(0), b.int(5), b.int(8), type=A1)
    b.op(memory.RETAIN, a)
    b.ret(b.op(structure.TUPLE_MAKE, half, a, cls=None))
    y, x = compiled(b)()
    y[:] = 7
    assert x.tolist() == [7] * 5 + [0] * 5
    del x
    gc.collect()
    assert y.tolist() == [7] * 5


def test_an_array_boxed_on_the_way_is_the_one_returned():
    seen = []
    b = Builder([], A1)
    a = b.op(memory.ARRAY_NEW, b.int(3), type=A1, zero=True)
    boxed = b.op(pyobject.PY_BOX, a)
    none = b.op(pyobject.PY_CALL, b.const(k.Object, seen.append), boxed)
    b.op(memory.RELEASE, none)
    b.op(memory.RELEASE, boxed)
    b.ret(a)
    f = compiled(b)
    result = f()
    count = sys.getrefcount(result)
    assert result is seen[0] and count == 3
    for _ in range(1000):
        f(), seen.clear()


def test_same_array():
    t = k.Array(k.float64, 1, "A")
    f = through(memory.ARRAY_SAME, [t, t])
    a = np.arange(10.0)[::2]
    assert f(a, a) is True and f(a, a[::1]) is False


def test_cells():
    site = k.Content("x", k.Tuple((k.Str, k.Bool, k.complex64)))
    t = k.Cell(site)
    b = Builder([site.content, site.content], k.Tuple((site.content, site.content)))
    x, y = b.params
    cell = b.op(memory.CELL_NEW, x, type=t)
    first = b.op(memory.CELL_LOAD, cell)
    b.op(memory.RETAIN, cell)
    b.op(memory.CELL_STORE, cell, y)
    b.op(memory.RELEASE, cell)
    second = b.op(memory.CELL_LOAD, cell)
    b.op(memory.RELEASE, cell)
    b.ret(b.op(structure.TUPLE_MAKE, first, second, cls=None))
    f = compiled(b)
    one, two = ("".join(["o", "ne"]), True, np.complex64(1 + 2j)), ("".join(["t", "wo"]), False, np.complex64(3))
    before = sys.getrefcount(one[0]), sys.getrefcount(two[0])
    for _ in range(100):
        result = f(one, two)
        assert result == (one, two) and result[0][0] is one[0] and type(result[1][2]) is np.complex64
    del result
    assert (sys.getrefcount(one[0]), sys.getrefcount(two[0])) == before


def test_cells_hold_arrays():
    site = k.Content("a", A1)
    b = Builder([k.Int], A1)
    a = b.op(memory.ARRAY_NEW, b.params[0], type=A1, zero=True)
    cell = b.op(memory.CELL_NEW, a, type=k.Cell(site))
    b.op(memory.RELEASE, a)
    out = b.op(memory.CELL_LOAD, cell)
    b.op(memory.RELEASE, cell)
    b.ret(out)
    f = compiled(b)
    assert f(4).tolist() == [0] * 4
    before = rss()
    for _ in range(500):
        f(100_000)
    assert rss() - before < 20_000_000


def test_null_safe_unions():
    """Releasing a union touches only null where it holds nothing counted."""
    t = k.union_of([k.Str, A1, k.Int])
    b = Builder([k.Int], k.Int)
    u = b.op(structure.UNION_MAKE, b.params[0], type=t)
    b.op(memory.RETAIN, u)
    b.op(memory.RELEASE, u)
    b.op(memory.RELEASE, u)
    b.ret(b.op(structure.UNION_GET, u, type=k.Int))
    assert compiled(b)(3) == 3


def endless(poll_cost=1):
    b = Builder([], None)
    loop = b.new("loop")
    b.jump(loop)
    b.at(loop)
    b.op(memory.POLL, cost=poll_cost)
    b.jump(loop)
    return compiled(b)


def test_ctrl_c_leaves_a_loop_soon():
    f = endless()
    sent = []

    def interrupt():
        time.sleep(0.2)
        sent.append(time.perf_counter())
        if threading.current_thread() is threading.main_thread():
            signal.raise_signal(signal.SIGINT)
        else:
            os.kill(os.getpid(), signal.SIGINT)

    pid = os.fork()
    if pid == 0:  # the GIL is held by the loop: the signal has to come from outside
        time.sleep(0.2)
        os.kill(os.getppid(), signal.SIGINT)
        os._exit(0)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        f()
    assert 0.1 < time.perf_counter() - start < 1.0
    os.waitpid(pid, 0)


def test_polling_costs_little():
    def loop(poll):
        b = Builder([k.Int], k.Int)
        (n,) = b.params
        head, body, end = b.new("head", [k.Int, k.Int]), b.new("body"), b.new("end")
        b.jump(head, b.int(0), b.int(1))
        i, x = b.at(head)
        b.branch(b.op(arith.ILT, i, n), body, end)
        b.at(body)
        y = b.op(arith.IMUL, b.op(arith.IXOR, x, i), b.int(6364136223846793005))
        if poll:
            b.op(memory.POLL)
        b.jump(head, b.op(arith.IADD, i, b.int(1)), y)
        b.at(end)
        b.ret(x)
        target = link.host_target()
        text = link.to_text(module_text([b.fn], None, target, Options(), exported="entry")[0], target)
        return [line.strip() for line in text.splitlines()]

    without, polled = loop(False), loop(True)
    # The counter is in a register, and an iteration has one branch, which is not taken; the rest is in a cold block.
    assert not any("alloca" in line.split() for line in polled)
    # at the entry, from the word that is kept from call to call
    assert sum("load" in line.split() for line in polled) == 1
    assert sum(line.startswith("store") for line in polled) == 2  # at the exit, and the result
    assert sum(line.startswith("br i1") for line in polled) <= sum(line.startswith("br i1") for line in without) + 2
    signals = [line for line in polled if "@pyj_signals" in line and "call" in line]
    assert len(signals) == 1 and "preserve_mostcc" in signals[0]
    branch = next(line for line in polled if line.startswith("br i1") and "%poll" in line)
    assert "!prof" in branch


def added(a):
    total = 0.0
    for x in a:
        total += x
    return total


def test_the_counter_of_a_loop_that_stops_to_poll_stays_in_memory():
    f = njit(added)
    assert f(np.ones(3)) == 3.0
    text, = f.inspect_llvm().values()
    entry = text[text.index("@f0.added("):].partition("  br ")[0]
    assert "@fuel" not in entry and len(re.findall(r" load i64, ptr @fuel", text)) == 1


class Holder:
    def __init__(self, held):
        self.held = held


def in_a_list(a):
    return [a[1:], a]


def in_a_dict(a):
    return {"a": (a, 1)}


def in_an_object(a):
    return Holder(a)


def in_a_function(a):
    n = 0

    def inner(i):
        nonlocal n
        n += 1
        return a[i] + n
    return inner


def in_a_generator(a):
    for x in a:
        yield x


def in_an_iterator(a):
    return zip(a, a[1:])


@pytest.mark.parametrize("function", [in_a_list, in_a_dict, in_an_object, in_a_function, in_a_generator,
                                      in_an_iterator])
def test_an_argument_that_is_kept_beyond_the_call_lives_as_long(function):
    """As long as an object keeps the argument, reads through that object find its elements; afterwards the array has
    its old reference count."""
    read = {in_a_list: lambda x: (x[0][1], x[1][2]), in_a_dict: lambda x: x["a"][0][2], in_an_object:
            lambda x: x.held[2], in_a_function: lambda x: x(2), in_a_generator: next, in_an_iterator: next}[function]
    compiled = njit(function)
    a = np.arange(6.0)
    wanted, before = read(function(a)), sys.getrefcount(a)
    kept = [compiled(a) for _ in range(3)]
    assert sys.getrefcount(a) > before
    assert [read(x) for x in kept] == [wanted] * 3
    del kept
    gc.collect()
    assert sys.getrefcount(a) == before
    alone = compiled(np.arange(6.0))
    gc.collect()
    over = [np.full(6, -7.0) for _ in range(20)]
    assert read(alone) == wanted and len(over) == 20


def pairs_of(a, k):
    return a + k, (a * k, (a - k, a / 2.0))


def many_results(a, i):
    p, q, r, s = pairs_of(a, 1.0), pairs_of(a, 2.0), pairs_of(a, 3.0), pairs_of(a, 4.0)
    total = a[i] + a[i + 1] + a[i + 2]
    return total + p[0][0] + q[1][0][1] + r[1][1][0][2] + s[1][1][1][3]


def test_one_function_drops_the_values_of_a_layout():
    namespace = {"pairs_of": njit(inline="never")(pairs_of)}
    a = np.arange(1.0, 9.0)
    compiled = njit(types.FunctionType(many_results.__code__, namespace))
    assert compiled(a, 0) == many_results(a, 0)
    with pytest.raises(IndexError):
        compiled(a, 7)
    (text,) = compiled.inspect_llvm().values()
    uses = [line for line in text.splitlines() if "@pyj_drop_all_aaaa(" in line]
    # four on each path out of the function
    assert sum(["define" in line for line in uses]) == 1 and 8 <= len(uses) <= 16


def test_the_ways_out_share_what_they_give_up():
    """If one of 16 allocations in a row fails, shared code releases the arrays before it: there is one release per
    array, not one for each later failure."""
    lines = ["def f(a):", *[f"    t{k} = a + {k}.5" for k in range(16)],
             f"    return {', '.join([f't{k}[::-1]' for k in range(16)])}"]
    space: dict = {}
    exec("\n".join(lines), space)
    compiled = njit(space["f"])
    a = np.arange(4.0)
    assert all(map(np.array_equal, compiled(a), space["f"](a)))
    (text,) = compiled.inspect_llvm().values()
    assert 15 <= text.count("@pyj_let_go(") <= 24


def test_the_message_has_an_index_of_any_size():
    """The index that the message shows is computed again from the one that counts from the end."""
    def at(a, i):
        return a[i]

    f = njit(at)
    for i in (-2**63, -2**63 + 2, 2**63 - 1, -4, 3):
        with pytest.raises(IndexError, match=f"^index {i} is out of bounds for axis 0 with size 3$"):
            f(np.arange(3.0), i)
    assert [f(np.arange(3.0), i) for i in (-3, -1, 2)] == [0.0, 2.0, 2.0]
