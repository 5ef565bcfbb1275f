"""Operations of threads in the IR interpreter: warps, barriers, atomics; also random draws, BLAS and checks."""
import numpy as np
import pytest

from pyjitc.ir import interp, interp_kernel
from pyjitc.ir.parse import parse
from pyjitc.ops import blas, memory, random
from pyjitc.ops.table import OPS
from pyjitc.runtime import blas as runtime
from pyjitc.types import kinds as k

ONE = (1, 1, 1)


def of_lanes(lines, n=40, result="int64", kind=np.int64):
    """The array `out` after the threads t of one block have run `lines`, which compute r, and `out[t] = r`."""
    text = f"""
fn k(out: {result}[::1]) -> None:
  entry(out: {result}[::1]):
    t = thread_id {{axis: 0}} : int
    all = const 4294967295 : int
    one = const 1 : int
    two = const 2 : int
{lines}
    array_store out, t, r
    none = const None : None
    return none
"""
    out = np.zeros(n, kind)
    interp_kernel.run_kernel([parse(text, OPS)], [out], ONE, (n, 1, 1))
    return out


@pytest.mark.parametrize("how, expected", [
    ("idx", lambda t: t // 32 * 32 + 1), ("up", lambda t: t - 1 if t % 32 else t),
    ("down", lambda t: t + 1 if t % 32 < 31 and t < 39 else t), ("xor", lambda t: t ^ 1)])
def test_shuffle(how, expected):
    out = of_lanes(f"    s = shuffle all, t, one {{how: '{how}', width: 32}} : int\n    r = cast s {{type: int64}} : "
                   f"int64")
    assert out.tolist() == [expected(t) for t in range(40)]


@pytest.mark.parametrize("line, expected", [
    ("b = ballot all, p : int", lambda t: 0xAAAAAAAA if t < 32 else 0xAA),
    ("a = match_any all, m : int\n    b = iand a, all : int",
     lambda t: 0xFFFFFFFF & (0xAAAAAAAA if t % 2 else 0x55555555) if t < 32 else 0xAA if t % 2 else 0x55),
    ("b = match_all all, m : int", lambda t: 0),
    ("b = warp_reduce all, t {how: 'add'} : int", lambda t: 496 if t < 32 else sum(range(32, 40))),
    ("b = warp_reduce all, t {how: 'max'} : int", lambda t: 31 if t < 32 else 39),
    ("b = active_mask : int", lambda t: 0xFFFFFFFF if t < 32 else 0xFF),
    ("warp_barrier all\n    b = lane_id : int", lambda t: t % 32)])
def test_warps(line, expected):
    out = of_lanes(f"    m = imod t, two : int\n    p = ieq m, one : bool\n    {line}\n    r = cast b {{type: int64}} "
                   f": int64")
    assert out.tolist() == [expected(t) for t in range(40)]


@pytest.mark.parametrize("how, expected", [("all", False), ("any", True), ("eq", False)])
def test_votes(how, expected):
    out = of_lanes(f"    p = ieq t, one : bool\n    v = vote all, p {{how: '{how}'}} : bool\n    r = cast v {{type: "
                   f"bool_}} : bool_", 32, "bool_", np.bool_)
    assert out.tolist() == [expected] * 32


@pytest.mark.parametrize("how, expected", [("count", 13), ("and", 0), ("or", 1)])
def test_barriers_that_count(how, expected):
    out = of_lanes(f"""    three = const 3 : int
    m = imod t, three : int
    p = ieq m, one : bool
    c = barrier_reduce p {{how: '{how}'}} : int
    nanosleep one
    fence {{scope: 'block'}}
    r = cast c {{type: int64}} : int64""")
    assert out.tolist() == [expected] * 40


@pytest.mark.parametrize("how, expected",
                         [("add", 780), ("max", 39), ("min", 0), ("xor", 0), ("inc", 39), ("exch", 39), ("sub", -780)])
def test_atomics(how, expected):
    out = of_lanes(f"    zero = const 0 : int\n    w = cast t {{type: int64}} : int64\n    old = atomic out, zero, w "
                   f"{{how: '{how}'}} : int64\n"
                   "    barrier\n    r = array_load out, zero : int64\n    barrier")
    assert out[1] == expected


def test_threads_that_wait_in_different_places_are_told():
    text = """
fn k() -> None:
  entry():
    t = thread_id {axis: 0} : int
    one = const 1 : int
    none = const None : None
    first = ilt t, one : bool
    branch first -> here(), there()
  here():
    barrier
    return none
  there():
    grid_barrier
    return none
"""
    with pytest.raises(RuntimeError, match="wait for each other in vain"):
        interp_kernel.run_kernel([parse(text, OPS)], [], ONE, (2, 1, 1))


def test_barriers_have_no_meaning_in_functions():
    text = "fn f() -> None:\n  entry():\n    barrier\n    none = const None : None\n    return none\n"
    with pytest.raises(AssertionError, match="has no meaning here"):
        interp.run([parse(text, OPS)], [])


def test_draws_are_those_of_numpy():
    mine, theirs = (np.random.Generator(np.random.PCG64(3)) for _ in range(2))
    assert random.RANDOM_NEXT(mine, kind="double") == theirs.random()
    assert random.RANDOM_NEXT(mine, kind="uint64") == theirs.bit_generator.random_raw()
    assert random.RANDOM_CALL(mine, 2.0, symbol="random_standard_gamma", result=k.Float) == theirs.standard_gamma(2.0)
    assert (random.RANDOM_BOUNDED(mine, np.uint64(3), np.uint64(9), False)
            == theirs.integers(3, 12, endpoint=True, dtype=np.uint64))
    assert random.RANDOM_GLOBAL(cls=np.random.RandomState) is np.random.mtrand._rand
    state = np.random.RandomState(3)
    state.normal()
    assert random.GAUSS_GET(state) and random.GAUSS_KEPT(state) == np.random.RandomState(3).normal(size=2)[1]
    random.GAUSS_PUT(state, False, 0.0)
    assert not random.GAUSS_GET(state)
    assert random.NORMAL_TABLE(0, row="f") == 1.0 and random.NORMAL_TABLE(1, row="k") == 0


def test_blas_calls():
    a, b = np.arange(4.0), np.arange(4.0) + 1
    assert blas.BLAS(4, a, 1, b, 1, name="dot", result="number") == a @ b
    m, y = np.arange(6.0).reshape(3, 2), np.zeros(3)
    blas.BLAS(True, 2, 3, 1.0, m, 2, np.array([1.0, 2.0]), 1, 0.0, y, 1, name="gemv")
    assert y.tolist() == (m @ [1.0, 2.0]).tolist()
    singular, pivots = np.zeros((2, 2)), np.zeros(2, np.int64)
    assert blas.BLAS(2, 2, singular, 2, pivots, name="getrf", result="info") == 1
    assert blas.BLAS_THREADS() >= 1


def test_threads_of_another_blas(monkeypatch):
    monkeypatch.setitem(runtime._known, runtime.THREADS, None)
    assert not runtime.found(runtime.THREADS) and blas.BLAS_THREADS() == 2**31 - 1


@pytest.mark.parametrize("count", [1, 2])
def test_rows_added_to_products(count):
    a, b, sums = np.arange(36.0).reshape(3, 12), np.arange(48.0).reshape(12, 4), np.ones((3, 3))
    memory.ADD_ROWS(sums, a, b, 1, 4, 1, 2, count=count)
    expected = np.ones((3, 3))
    expected[1:1 + count, 1:3] += a[1:1 + count, 4:12] @ b[4:12, 1:3]
    assert sums.tolist() == expected.tolist()


def test_products_of_small_matrices():
    a, b = np.arange(24.0).reshape(4, 2, 3), np.arange(12.0).reshape(1, 3, 4)
    found = np.zeros((4, 2, 4))
    memory.SMALL_PRODUCT(found, a, b, 1, 2)
    assert found[1:3].tolist() == (a @ b)[1:3].tolist() and not found[[0, 3]].any()
    memory.SMALL_PRODUCT(found[0], a[0], b[0], 0, 1)
    assert found[0].tolist() == (a[0] @ b[0]).tolist()
