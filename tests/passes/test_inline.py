from tests.passes.ir_build import Build, check, insts, run

from pyjitc.ir.core import PURE, RAISES, TERMINATOR, Op
from pyjitc.ops.control import INVOKE
from pyjitc.passes import inline
from pyjitc.types.kinds import Bool, Int

ADD = Op("t_add", lambda ts, a: Int, PURE, eval=lambda x, y: x + y)
LESS = Op("t_less", lambda ts, a: Bool, PURE, eval=lambda x, y: x < y)
DIV = Op("t_div", lambda ts, a: Int, RAISES, eval=lambda x, y: x // y)


def _boom():
    raise ValueError("boom")


BOOM = Op("t_boom", None, RAISES | TERMINATOR, eval=_boom)
FETCH = Op("exc_fetch", None, 2)


def twice():
    b = Build("twice", Int, library=True)
    b.ret(b.op(ADD, b.params[0], b.params[0]))
    return b.fn


def smaller():
    b = Build("smaller", Int, Int, library=True)
    x, y = b.params
    yes, no = b.block(), b.block()
    b.branch(b.op(LESS, x, y), yes, no)
    b.at(yes)
    b.ret(x)
    b.at(no)
    b.ret(y)
    return b.fn


def count_up():
    """A loop whose header is the entry block: the sum of 0..n-1, with the parameters as loop variables."""
    b = Build("count_up", Int, Int, Int, library=True)
    i, total, n = b.params
    body, done = b.block(), b.block()
    b.branch(b.op(LESS, i, n), body, done)
    b.at(body)
    one = b.const(1)
    b.jump(b.fn.entry, b.op(ADD, i, one), b.op(ADD, total, i), n)
    b.at(done)
    b.ret(total)
    return b.fn


def test_single_block_callee_splices_without_new_blocks():
    b = Build("f", Int)
    y = b.invoke(twice(), b.params[0])
    z = b.invoke(twice(), y)
    b.ret(z)
    out = inline.run([b.fn], None)
    assert out == [b.fn] and len(b.fn.blocks) == 1 and not insts(b.fn, INVOKE)
    check(b.fn)
    assert run(b.fn, [5]) == 20
    assert {i.loc.line for i in insts(b.fn, ADD)} == {1, 2}  # positions of the calls


def test_callee_with_several_returns_and_nested_calls():
    inner = smaller()
    b = Build("outer", Int, Int, library=True)
    b.ret(b.invoke(twice(), b.invoke(inner, *b.params)))
    c = Build("f", Int, Int)
    x = c.invoke(b.fn, *c.params)
    y = c.invoke(b.fn, c.params[1], x)
    c.ret(y)
    inline.run([c.fn], None)
    check(c.fn)
    assert run(c.fn, [3, 4]) == 8 and run(c.fn, [9, 2]) == 4
    assert not insts(c.fn, INVOKE)


def test_loop_on_the_entry_block():
    b = Build("f", Int)
    zero = b.const(0)
    b.ret(b.invoke(twice(), b.invoke(count_up(), zero, zero, b.params[0])))
    inline.run([b.fn], None)
    check(b.fn)
    assert run(b.fn, [5]) == 20


def test_unwind_edge_of_the_call_is_taken_over_with_its_arguments():
    lib = Build("quotient", Int, Int, library=True)
    lib.ret(lib.op(DIV, *lib.params))
    b = Build("f", Int, Int)
    handler = b.block(Int, name="handler")
    y = b.invoke(lib.fn, *b.params, unwind=(handler, b.params[0]))
    b.ret(y)
    kept, = b.at(handler)
    b.op(FETCH, type=Int)
    b.ret(kept)
    inline.run([b.fn], None)
    check(b.fn)
    assert run(b.fn, [7, 2]) == 3 and run(b.fn, [7, 0]) == 7


def test_own_handler_of_the_callee_stays():
    lib = Build("safe", Int, Int, library=True)
    inner = lib.block(name="inner")
    lib.ret(lib.op(DIV, *lib.params, unwind=(inner,)))
    lib.at(inner)
    lib.op(FETCH, type=Int)
    lib.ret(lib.const(-1))
    b = Build("f", Int, Int)
    handler = b.block(name="handler")
    b.ret(b.invoke(lib.fn, *b.params, unwind=(handler,)))
    b.at(handler)
    b.op(FETCH, type=Int)
    b.ret(b.const(-2))
    inline.run([b.fn], None)
    check(b.fn)
    assert run(b.fn, [7, 0]) == -1


def test_callee_that_never_returns_cuts_the_block():
    lib = Build("fail", library=True)
    lib.fn.result = Int
    lib.end(BOOM)
    b = Build("f", Bool)
    yes, no, join = b.block(), b.block(), b.block(Int)
    b.branch(b.params[0], yes, no)
    b.at(yes)
    b.jump(join, b.invoke(lib.fn))
    b.at(no)
    b.jump(join, b.const(4))
    b.ret(b.at(join)[0])
    inline.run([b.fn], None)
    check(b.fn)
    assert run(b.fn, [False]) == 4
    try:
        run(b.fn, [True])
    except ValueError:
        pass
    else:
        raise AssertionError("no exception")


def test_recursion_stays_a_call_and_is_copied_for_the_module():
    lib = Build("down", Int, library=True)
    fn = lib.fn
    fn.result = Int
    stop, more = lib.block(), lib.block()
    zero, minus = lib.const(0), lib.const(-1)
    lib.branch(lib.op(LESS, zero, lib.params[0]), more, stop)
    lib.at(stop)
    lib.ret(zero)
    lib.at(more)
    rest = lib.invoke(fn, lib.op(ADD, lib.params[0], minus))
    lib.ret(lib.op(ADD, lib.invoke(twice(), lib.params[0]), rest))
    b = Build("f", Int)
    b.ret(b.invoke(fn, b.params[0]))
    out = inline.run([b.fn, fn], None)
    assert len(out) == 2 and out[1] is not fn and out[1].name == "down"
    for f in out:
        check(f)
    assert all(i.attrs["callee"] is out[1] for f in out for i in insts(f, INVOKE))
    assert run(b.fn, [4]) == 20


def test_user_functions_whose_frame_may_be_seen_stay_calls():
    user = Build("user", Int)
    user.ret(user.op(DIV, user.invoke(twice(), user.params[0]), user.params[0]))
    b = Build("f", Int)
    b.ret(b.invoke(user.fn, b.params[0]))
    out = inline.run([b.fn, user.fn], None)
    assert out == [b.fn, user.fn] and len(insts(b.fn, INVOKE)) == 1 and not insts(user.fn, INVOKE)
    assert run(b.fn, [3]) == 2


def test_small_user_functions_that_cannot_fail_are_inlined():
    user = Build("user", Int)
    user.ret(user.invoke(twice(), user.params[0]))
    b = Build("f", Int)
    b.ret(b.invoke(user.fn, b.params[0]))
    assert inline.run([b.fn, user.fn], None) == [b.fn] and not insts(b.fn, INVOKE)
    assert run(b.fn, [3]) == 6


def test_user_functions_that_are_long_or_go_round_stay_calls():
    long = Build("long", Int)
    value = long.params[0]
    for _ in range(60):
        value = long.op(ADD, value, long.params[0])
    long.ret(value)
    loop = Build("loop", Int)
    head = loop.block(Int)
    loop.jump(head, loop.params[0])
    loop.at(head)
    loop.jump(head, loop.op(ADD, head.params[0], head.params[0]))
    loop.fn.result = Int
    for user in long, loop:
        b = Build("f", Int)
        b.ret(b.invoke(user.fn, b.params[0]))
        assert inline.run([b.fn, user.fn], None) == [b.fn, user.fn]


def test_callee_body_is_not_changed_by_inlining_it_twice():
    lib = smaller()
    for _ in range(2):
        b = Build("f", Int, Int)
        b.ret(b.invoke(lib, *b.params))
        inline.run([b.fn], None)
        assert run(b.fn, [2, 1]) == 1
    check(lib)
    assert run(lib, [1, 2]) == 1 and len(lib.blocks) == 3
