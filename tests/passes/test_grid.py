"""Regions, slots and states of block functions; values that vary between threads."""
import pytest

from pyjitc.ir.cfg import LoopNest
from pyjitc.ir.parse import parse
from pyjitc.ir.show import show
from pyjitc.ir.verify import verify_module
from pyjitc.ops import gpu, grid, memory
from pyjitc.ops.arith import ISUB, ISUB_CK
from pyjitc.ops.control import BRANCH
from pyjitc.ops.structure import SELECT
from pyjitc.ops.table import OPS
from pyjitc.passes import grid as grid_pass
from pyjitc.passes import gvn, idle_threads, latches, simplify, unswitch
from pyjitc.passes.uniform import Uniformity


def kernel(body):
    fn = parse("fn k(x: float64[::1], n: int) -> None:\n" + body, OPS)
    plan = grid_pass.run(fn)
    verify_module([fn], "grid")
    assert show(parse(show(fn), OPS)) == show(fn)
    return fn, plan


def count(fn, op):
    return sum(i.op is op for b in fn.blocks for i in b.insts)


STRAIGHT = """
  entry(x: float64[::1], n: int):
    t = thread_id {axis: 0} : int
    v = array_load x, t : float64
    barrier
    array_store x, t, v
    none = const None : None
    return none
"""


def test_a_barrier_makes_two_loops_and_a_slot():
    fn, plan = kernel(STRAIGHT)
    assert [str(t) for t in plan.slots] == ["float64"] and not plan.masked and len(plan.lines) == 2
    assert count(fn, grid.SLOT_STORE) == 1 and count(fn, grid.SLOT_LOAD) == 1 and count(fn, gpu.BARRIER) == 0
    assert count(fn, gpu.THREAD_ID) == 0  # the loops' own counters
    assert all(i.attrs["parallel"] for b in fn.blocks for i in b.insts
               if i.op in (memory.ARRAY_LOAD, memory.ARRAY_STORE))


LOOP = """
  entry(x: float64[::1], n: int):
    t = thread_id {axis: 0} : int
    one = const 1 : int
    zero = const 0 : int
    jump head(n)
  head(s: int):
    more = igt s, zero : bool
    branch more -> body(), out()
  body():
    low = ilt t, s : bool
    branch low -> add(), go()
  add():
    v = array_load x, s : float64
    array_store x, t, v
    jump go()
  go():
    barrier
    next = isub_ck s, one : int
    jump head(next)
  out():
    none = const None : None
    return none
"""


def test_what_is_the_same_for_all_has_one_slot_and_decides_for_all():
    fn, plan = kernel(LOOP)
    assert not plan.masked and count(fn, grid.STATE_STORE) == 0
    stores = [i for b in fn.blocks for i in b.insts if i.op is grid.SLOT_STORE]
    assert stores and all(i.attrs["common"] for i in stores)
    failing = [i for b in fn.blocks for i in b.insts if i.unwind is not None]
    assert failing and all(i.unwind.block.terminator.op is grid.FAIL for i in failing)


def test_threads_that_part_have_states():
    early = STRAIGHT.replace("    barrier\n", "    low = ilt t, n : bool\n    branch low -> on(), out()\n  out():\n   "
                                              " nothing = const None : None\n"
                             "    return nothing\n  on():\n    barrier\n")
    fn, plan = kernel(early)
    assert plan.masked and count(fn, grid.NEXT) == 2 and count(fn, grid.STATE_STORE) == 3
    uniform = early.replace("low = ilt t, n", "low = ilt n, n")
    assert not kernel(uniform)[1].masked


def test_a_warp_operation_is_an_exchange_between_two_waits():
    fn, plan = kernel(STRAIGHT.replace("    barrier\n", "    all = const 4294967295 : int\n    w = shuffle all, v, t "
                                                        "{how: 'xor', width: 32} : float64\n")
                      .replace("array_store x, t, v", "array_store x, t, w"))
    assert count(fn, grid.LANES) == 1 and len(plan.lines) == 3 and count(fn, gpu.SHUFFLE) == 0


@pytest.mark.parametrize("text, varying", [
    ("a = iadd n, n : int", False), ("a = iadd t, n : int", True), ("a = array_load x, n : float64", True),
    ("a = atomic x, n, f {how: 'add'} : float64", True)])
def test_values_that_vary(text, varying):
    fn = parse(f"fn k(x: float64[::1], n: int, f: float64, t: int) -> None:\n  entry(x: float64[::1], n: int, f: "
               f"float64, t: int):\n    {text}\n"
               "    none = const None : None\n    return none\n", OPS)
    found = Uniformity(fn, {fn.params[3]}, grid_pass._is_uniform)
    assert (fn.entry.insts[0].result in found.varying) == varying


def test_joins_behind_a_branch_that_varies():
    fn = parse("""fn k(n: int, t: int) -> int:
  entry(n: int, t: int):
    one = const 1 : int
    two = const 2 : int
    low = ilt t, n : bool
    branch low -> left(), right()
  left():
    jump join(one, n)
  right():
    jump join(two, n)
  join(a: int, b: int):
    return a
""", OPS)
    join = next(b for b in fn.blocks if b.name == "join")
    found = Uniformity(fn, {fn.params[1]}, grid_pass._is_uniform)
    assert join.params[0] in found.varying and join.params[1] not in found.varying and not found.parts


# ---------------------------------------------------------------- unswitch


def simpler(body):
    fn, _ = kernel(body)
    for one in (simplify, latches, gvn, unswitch, simplify, idle_threads, simplify):
        one.run(fn, None)
        verify_module([fn], one.__name__)
    return fn


def test_what_all_threads_decide_stands_in_front_of_their_loops():
    fn = simpler(LOOP)
    nest = LoopNest(fn)
    inside = [b for loop in nest.loops if loop.parent is not None and unswitch.is_of_threads(loop) for b in loop.blocks
              if b is not loop.header]
    # `s > 0` is tested before the loop, `t < s` determines the number of trips
    assert inside and not any(i.op is BRANCH for b in inside for i in b.insts)
    assert not any(i.op is grid.SLOT_STORE for b in inside for i in b.insts)
    moved = [i for b in fn.blocks for i in b.insts if i.op is ISUB_CK]
    assert moved and all(i.unwind.block.terminator.op is grid.FAIL for i in moved)


def test_threads_without_work_are_left_out():
    fn = simpler("""
  entry(x: float64[::1], n: int):
    t = thread_id {axis: 0} : int
    b = block_id {axis: 0} : int
    w = block_dim {axis: 0} : int
    first = imul b, w : int
    i = iadd first, t : int
    size = array_dim x {axis: 0} : int
    in = ilt i, size : bool
    branch in -> work(), out()
  work():
    v = array_load x, i : float64
    array_store x, i, v
    jump out()
  out():
    none = const None : None
    return none
""")
    nest = LoopNest(fn)
    (columns,) = [loop for loop in nest.loops if unswitch.is_of_threads(loop)]
    assert not any(i.op is BRANCH for b in columns.blocks if b is not columns.header for i in b.insts)
    assert count(fn, SELECT) == 2 and count(fn, ISUB) == 1  # the trips: min(max(size, 0) - first, width)
