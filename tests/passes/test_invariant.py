"""Loops with a limit, a shape or a factor in memory: it is read once, before the loop, which is vectorised. If the
written and the read memory may overlap, the loop does what the interpreter does."""
import re

import numpy as np
import pytest
from tests.ir.stages import optimised
from tests.oracle import agree

from pyjitc import njit
from pyjitc.ir.cfg import LoopNest
from pyjitc.ops.memory import ARRAY_LOAD, ARRAY_STORE, CELL_LOAD, CHECK_INDEX


def rows(out, x, n):
    for i in range(out.shape[0]):
        for j in range(n[0]):
            out[i, j] = x[i, j] * 2.0


def shapes(out, x, shape):
    for i in range(shape[0]):
        for j in range(shape[1]):
            out[i, j] = x[i, j] * 2.0


def from_the_end(out, x, shape):
    for i in range(shape[-2]):
        for j in range(1, shape[-1] - 1):
            out[i, j] = x[i, j] * 2.0


def parameters(out, x, p):
    for i in range(1, int(p[0]) - 1):
        for j in range(1, int(p[1]) - 1):
            out[i, j] = p[2] * x[i, j] + p[3] * (x[i - 1, j] + x[i + 1, j])


def fresh(x, n):
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(n[0]):
            out[i, j] = x[i, j] * n[0]
    return out


def cell(out, x, k):
    m = 0

    def inner():
        nonlocal m
        m += k
        for i in range(out.shape[0]):
            for j in range(m):
                out[i, j] = x[i, j] * 2.0
    inner()
    inner()
    return m


def blocks(out, x, n, m):
    for b in range(len(n)):
        for i in range(n[b]):
            for j in range(m[b]):
                out[b, i, j] = x[b, i, j] * 2.0


def record(out, x, config):
    for i in range(config[0]["rows"]):
        for j in range(config[0]["columns"]):
            out[i, j] = x[i, j] * 2.0


def call_in_the_loop(out, x, n):
    for i in range(out.shape[0]):
        for j in range(n[0]):
            out[i, j] = halved(x, i, j)


def halved(x, i, j):
    return x[i, j] / 2.0


X = np.arange(48.0).reshape(6, 8)
CONFIG = np.array([(6, 8)], np.dtype([("rows", np.int64), ("columns", np.int64)]))
PROGRAMS = [
    (rows, (X * 0, X, np.array([8]))), (shapes, (X * 0, X, np.array([6, 8]))),
    (from_the_end, (X * 0, X, np.array([6, 8], np.int32))), (parameters, (X * 0, X, np.array([6.0, 8.0, 0.5, 0.25]))),
    (fresh, (X, np.array([8]))), (cell, (X * 0, X, 4)),
    (blocks, (np.zeros((2, 6, 8)), np.stack([X, -X]), np.array([6, 5]), np.array([8, 7]))),
    (record, (X * 0, X, CONFIG)), (call_in_the_loop, (X * 0, X, np.array([8])))]
ids = [f.__name__ for f, _ in PROGRAMS]


def stores(function, args):
    """(innermost loop, function) of each store, where the loop has no check of an index."""
    for fn in optimised(function, args).functions:
        nest = LoopNest(fn)
        for loop in nest.loops:
            insts = [i for b in loop.blocks for i in b.insts]
            if (not loop.inner and any(i.op is ARRAY_STORE for i in insts)
                and not any(i.op is CHECK_INDEX for i in insts)):
                yield loop, fn


@pytest.mark.parametrize("function, args", PROGRAMS, ids=ids)
def test_what_stays_the_same_is_read_before_the_nest(function, args):
    """Structure: in the loop nest around a store, the only loads are those of matrix elements, in the innermost
    loop."""
    found = list(stores(function, args))
    assert found
    for loop, _ in found:
        outer = loop.parent
        for block in outer.blocks:
            for inst in block.insts:
                assert inst.op is not CELL_LOAD
                if inst.op is ARRAY_LOAD:
                    assert inst.args[0].type.ndim >= 2 and block in loop.blocks, inst.args[0].name


@pytest.mark.parametrize("function, args", PROGRAMS[:-1], ids=ids[:-1])  # not the one with a call
def test_the_loop_is_vectorised(function, args):
    f = njit(function)
    f(*args)
    assert re.search(r"store <\d+ x double>", f.inspect_llvm(f.signatures[0]))


def test_arrays_that_are_made_here_are_not_compared():
    """Structure: if the written array is new, no addresses are compared."""
    names = [i.op.name for fn in optimised(fresh, (X, np.array([8]))).functions for b in fn.blocks for i in b.insts]
    assert "array_data" not in names and "affine_in_range" in names


@pytest.mark.parametrize("function, args", PROGRAMS, ids=ids)
def test_results(function, args):
    agree(function, *args)


def shrinking(out, x, n):
    for i in range(out.shape[0]):
        for j in range(n[0]):
            out[i, j] = x[i, j]


def test_a_limit_that_the_loop_changes():
    def case(first, value):
        whole = np.zeros(60, np.int64)
        whole[first] = 8
        return whole[:48].reshape(6, 8), np.full((6, 8), value), whole[first:first + 1]

    for first in (0, 3, 20, 47, 48):
        for value in (2, 0, 5):
            out, x, n = case(first, value)
            out2, _, n2 = case(first, value)
            njit(shrinking)(out, x, n)
            shrinking(out2, x, n2)
            assert (out == out2).all() and n[0] == n2[0]


def lagged(out, lags):
    for c in range(len(lags)):
        for i in range(lags[c], len(out)):
            out[i] += out[i - lags[c]]


def window(out, x, start, width):
    for c in range(len(start)):
        for i in range(width):
            out[c] += x[start[c] + i]


def test_a_distance_in_memory_leaves_no_checks():
    """The distance is read before the inner loop, and the guard tests the indices at both ends."""
    args = np.arange(40), np.array([1, 5, 10])
    found = list(stores(lagged, args))
    assert found and not any(i.op is ARRAY_LOAD and i.args[0].name == "lags"
                             for loop, _ in found for b in loop.blocks for i in b.insts)
    agree(lagged, *args)


def test_a_distance_that_the_loop_changes():
    for first in (0, 2, 6, 9):
        both = [np.array([3, 1, 2, 4, 2, 1, 3, 2, 1, 2, 5, 1]) for _ in range(2)]
        errors = []
        for f, whole in zip((njit(lagged), lagged), both):
            try:
                f(whole[:10], whole[first:first + 2])
            except IndexError as error:
                errors.append(str(error))
        assert len(set(errors)) == len(errors) / 2 and (both[0] == both[1]).all()


def test_a_distance_that_leaves_the_array():
    for lags in ([4, -2], [-11], [0], [50], []):
        agree(lagged, np.arange(10), np.array(lags, np.int64))
    agree(lagged, np.arange(10.0), np.array([3, 7], np.int32))
    for start in ([2, 0], [5, 7], [-4], [-5], [-12], [6]):
        agree(window, np.zeros(2), np.arange(10.0), np.array(start), 4)


def test_a_limit_that_is_seen_as_another_type():
    def case():
        whole = np.zeros(48)
        whole.view(np.int64)[20] = 8
        return whole.reshape(6, 8), whole.view(np.int64)[20:21]

    (out, n), (out2, n2) = case(), case()
    njit(rows)(out, X * 0 - 0.0, n)
    rows(out2, X * 0 - 0.0, n2)
    assert (out == out2).all() and n[0] == n2[0]


@pytest.mark.parametrize("function, args", [
    (rows, (X * 0, X, np.array([9]))), (rows, (X * 0, X, np.array([], np.int64))), (rows, (X * 0, X, np.array([-3]))),
    (shapes, (X * 0, X, np.array([6]))), (shapes, (X * 0, X, np.array([0]))), (shapes, (X * 0, X, np.array([7, 8]))),
    (from_the_end, (X * 0, X, np.array([8], np.int32))), (from_the_end, (X * 0, X, np.array([6, -2**31], np.int32))),
    (from_the_end, (X * 0, X, np.array([6, -2**63]))), (from_the_end, (X * 0, X, np.array([6, 2**63 - 1]))),
    (parameters, (X * 0, X, np.array([6.0]))), (parameters, (X * 0, X, np.array([6.0, np.nan, 1.0, 1.0]))),
    (parameters, (X * 0, X, np.array([1.0, np.inf, 1.0, 1.0]))), (parameters, (X * 0, X, np.array([6.0, 1e18, 1, 1]))),
    (parameters, (X * 0, X, np.array([6.0, 8, 1, 1], np.float32))), (parameters, (X * 0, X, np.array([6.0, 8.0, 1.0]))),
    (fresh, (X, np.array([9]))), (fresh, (X[:0], np.array([], np.int64))), (cell, (X * 0, X, 5)),
    (cell, (X * 0, X, -5)), (blocks, (np.zeros((2, 6, 8)), np.stack([X, -X]), np.array([6, 5]), np.array([8]))),
    (blocks, (np.zeros((2, 6, 8)), np.stack([X, -X]), np.array([0, 5]), np.array([8]))),
    (record, (X * 0, X, CONFIG[:0]))])
def test_what_fails_fails_where_it_did(function, args):
    agree(function, *args)


def waits(out, flag):
    n = 0
    while flag[0] == 0:
        for i in range(len(out)):
            out[i] = 1
        n += 1
    return n


def test_a_loop_that_waits_reads_again():
    whole = np.zeros(4, np.int64)
    assert njit(waits)(whole, whole[2:3]) == 1
