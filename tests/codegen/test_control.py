"""Blocks, loops, switches, calls, recursion, the release of the interpreter lock; speed of emission."""
import threading
import time

import numpy as np
import pytest

from tests.codegen.build import Builder, compiled, spec_of

from pyjitc.base.options import Options
from pyjitc.codegen.compile import module_text, recursive
from pyjitc.codegen.link import host_target
from pyjitc.ops import arith, control, exceptions, memory, structure
from pyjitc.types import kinds as k

A1 = k.Array(k.float64, 1)


def test_loops_swap_their_values():
    b = Builder([k.Int], k.Int)
    (n,) = b.params
    head, body, end = b.new("head", [k.Int] * 3), b.new("body"), b.new("end")
    b.jump(head, b.int(0), b.int(0), b.int(1))
    i, x, y = b.at(head)
    b.branch(b.op(arith.ILT, i, n), body, end)
    b.at(body)
    b.jump(head, b.op(arith.IADD, i, b.int(1)), y, b.op(arith.IADD_CK, x, y))
    b.at(end)
    b.ret(x)
    f = compiled(b)
    assert [f(n) for n in (0, 1, 2, 10, 50)] == [0, 1, 1, 55, 12586269025]
    with pytest.raises(OverflowError):
        f(200)


def test_two_edges_to_one_block():
    b = Builder([k.Bool], k.Int)
    join = b.new("join", [k.Int])
    b.branch(b.params[0], (join, (b.int(1),)), (join, (b.int(2),)))
    (x,) = b.at(join)
    b.ret(x)
    f = compiled(b)
    assert f(True) == 1 and f(False) == 2
    b = Builder([k.Bool], k.Int)
    join = b.new("join")
    b.branch(b.params[0], join, join)
    b.at(join)
    b.ret(b.int(3))
    assert compiled(b)(True) == 3


def test_switch():
    b = Builder([k.Int], k.Int)
    join = b.new("join", [k.Int])
    b.end(control.SWITCH, b.params[0], cases=(3, -1, 5), targets=[(join, (b.int(n),)) for n in (0, 30, 10, 50)])
    (x,) = b.at(join)
    b.ret(x)
    f = compiled(b)
    assert [f(n) for n in (3, -1, 5, 4)] == [30, 10, 50, 0]


def test_a_loop_to_the_entry():
    b = Builder([k.Int, k.Int], k.Int)
    entry = b.block
    x, n = b.params
    more, end = b.new("more"), b.new("end")
    b.branch(b.op(arith.ILT, x, n), more, end)
    b.at(more)
    b.jump(entry, b.op(arith.IADD, x, b.int(3)), n)
    b.at(end)
    b.ret(x)
    assert compiled(b)(0, 10) == 12


def test_unreachable_blocks_are_left_out():
    b = Builder([], k.Int)
    b.ret(b.int(1))
    dead = b.new("dead", [k.Int])
    b.at(dead)
    b.jump(dead, *dead.params)
    assert compiled(b)() == 1


def test_calls_pass_and_return_compounds():
    t = k.Tuple((A1, k.Float, k.Tuple((k.Bool, k.complex64))))
    swap = Builder([t, k.Int], k.Tuple((k.Tuple((k.Bool, k.complex64)), A1, k.Int)), "swap")
    x, n = swap.params
    a = swap.op(structure.TUPLE_GET, x, index=0)
    swap.op(memory.RETAIN, a)
    swap.ret(swap.op(structure.TUPLE_MAKE, swap.op(structure.TUPLE_GET, x, index=2), a, n, cls=None))
    b = Builder([t], swap.fn.result)
    b.ret(b.invoke(swap, b.params[0], b.int(7)))
    a = np.arange(3.0)
    result = compiled(b, swap)((a, 1.5, (True, np.complex64(2j))))
    assert result[0] == (True, np.complex64(2j)) and result[1] is a and result[2] == 7


def fibonacci():
    b = Builder([k.Int], k.Int, "fib")
    (n,) = b.params
    small, large = b.new("small"), b.new("large")
    b.branch(b.op(arith.ILT, n, b.int(2)), small, large)
    b.at(small)
    b.ret(n)
    b.at(large)
    x = b.invoke(b, b.op(arith.ISUB_CK, n, b.int(1)))
    y = b.invoke(b, b.op(arith.ISUB_CK, n, b.int(2)))
    b.ret(b.op(arith.IADD_CK, x, y))
    return b


def test_recursion():
    b = fibonacci()
    f = compiled(b)
    assert [f(n) for n in range(10)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34] and f(25) == 75025
    assert recursive([b.fn]) == [b.fn]


def depth():
    """n -> n, in n calls of two functions that call each other and cannot become a loop."""
    even, odd = Builder([k.Int], k.Int, "even"), Builder([k.Int], k.Int, "odd")
    for one, other in ((even, odd), (odd, even)):
        (n,) = one.params
        end, more = one.new("end"), one.new("more")
        one.branch(one.op(arith.IEQ, n, one.int(0)), end, more)
        one.at(end)
        one.ret(n)
        one.at(more)
        one.ret(one.op(arith.IADD_CK, one.invoke(other, one.op(arith.ISUB_CK, n, one.int(1))), one.int(1)))
    return even, odd


def test_endless_recursion_is_an_error_in_every_thread():
    even, odd = depth()
    plain = Builder([k.Int], k.Int, "plain")
    plain.ret(plain.invoke(even, plain.params[0]))
    assert set(recursive([plain.fn, even.fn, odd.fn])) == {even.fn, odd.fn}
    f = compiled(even, odd)
    assert f(1000) == 1000

    def check(found):
        for _ in range(2):
            assert f(1000) == 1000
            try:
                f(-1)
            except RecursionError as error:
                found.append(str(error))

    found = []
    check(found)
    threads = [threading.Thread(target=check, args=(found,)) for _ in range(2)]
    size = threading.stack_size(1 << 20)
    try:
        for t in threads:
            t.start()
            t.join()
    finally:
        threading.stack_size(size)
    check(found)
    assert found == ["maximum recursion depth exceeded"] * 8


def spinning(options):
    """a, n -> n times a[0] += 1; IndexError where a is empty."""
    b = Builder([A1, k.Int], k.Int)
    a, n = b.params
    head, body, end = b.new("head", [k.Int]), b.new("body"), b.new("end")
    one = b.const(k.float64, np.float64(1))
    b.jump(head, b.int(0))
    (i,) = b.at(head)
    b.branch(b.op(arith.ILT, i, n), body, end)
    b.at(body)
    b.op(memory.POLL)
    at = b.op(memory.CHECK_INDEX, b.int(0), b.op(memory.ARRAY_DIM, a, axis=0), axis=0)
    b.op(memory.ARRAY_STORE, a, at, b.op(arith.FADD, b.op(memory.ARRAY_LOAD, a, at), one))
    b.jump(head, b.op(arith.IADD, i, b.int(1)))
    b.at(end)
    temporary = b.op(memory.ARRAY_NEW, b.int(-1 if options == "negative" else 10), type=A1, zero=True)
    b.op(memory.RELEASE, temporary)
    b.ret(n)
    return b


def test_nogil_lets_other_threads_run():
    f = compiled(spinning(None), options=Options(nogil=True))
    a = np.zeros(1)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(f(a, 300_000_000)))
    thread.start()
    ticks = 0
    start = time.perf_counter()
    while thread.is_alive() and time.perf_counter() - start < 20:
        time.sleep(0.001)
        ticks += 1
    thread.join()
    assert ticks > 20 and a[0] == 300_000_000 and seen == [300_000_000]


def test_nogil_functions_raise():
    f = compiled(spinning(None), options=Options(nogil=True))
    for _ in range(10):
        with pytest.raises(IndexError, match="index 0 is out of bounds for axis 0 with size 0"):
            f(np.zeros(0), 3)
    with pytest.raises(ValueError, match="negative dimensions"):
        compiled(spinning("negative"), options=Options(nogil=True))(np.zeros(1), 3)
    g = compiled(*depth(), options=Options(nogil=True))
    with pytest.raises(RecursionError):
        g(-1)
    b = Builder([], None)
    b.end(exceptions.THROW, cls=ValueError, message="\u00fc")
    with pytest.raises(ValueError, match="\u00fc"):
        compiled(b, options=Options(nogil=True))()


def test_functions_on_objects_keep_the_lock():
    b = Builder([k.Str], k.Str)
    b.op(memory.RETAIN, b.params[0])
    b.ret(b.params[0])
    f = compiled(b, options=Options(nogil=True))
    assert f("x") == "x" and "SaveThread" not in f.artifact.text


def test_fast_math_flags():
    b = Builder([k.Float, k.Float], k.Float)
    b.ret(b.op(arith.FADD, *b.params))
    assert "fadd fast double" in compiled(b, options=Options(fastmath=True)).artifact.text
    assert "fadd contract nnan double" in compiled(b, options=Options(fastmath=("contract", "nnan"))).artifact.text
    assert "fadd double" in compiled(b).artifact.text


def test_emission_is_quick():
    b = Builder([A1, k.Int], k.Int)
    a, n = b.params
    for _ in range(60):
        i = b.op(memory.CHECK_INDEX, n, b.op(memory.ARRAY_DIM, a, axis=0), axis=0)
        x = b.op(memory.ARRAY_LOAD, a, i)
        b.op(memory.ARRAY_STORE, a, i, b.op(arith.FMUL, x, x))
        n = b.op(arith.IADD_CK, n, i)
    b.ret(n)
    times = []
    for _ in range(5):
        start = time.process_time()
        module_text([b.fn], spec_of(b.types), host_target(), Options())
        times.append(time.process_time() - start)
    # many times the time on an idle machine: the test is to find work that grows with the square
    assert min(times) < 0.1
