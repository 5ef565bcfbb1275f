"""Structured arrays against NumPy: fields as views, records, assignment, new arrays; errors for operations that are not
compiled."""
import os
import subprocess
import sys
from pathlib import Path

import gc

import numpy as np
import pytest
from tests.oracle import agree, agree_on, difference, outcome

from pyjitc import TypingError, jit, njit

PLAIN = np.dtype([("x", float), ("y", np.int32, (2,))])
PACKED = np.dtype([("b", np.int8), ("x", float), ("h", np.float16), ("c", complex)])
NESTED = np.dtype([("p", PLAIN), ("k", np.bool_)])
NAMED = np.dtype((np.record, [("x", float), ("n", np.int64)]))


def made(dtype, n=4):
    a = np.zeros(n, dtype)
    for i, name in enumerate(dtype.names):
        if dtype[name].names is None:
            a[name] = np.arange(a[name].size).reshape(a[name].shape) + i
    return a


P, Q = made(PLAIN), made(PACKED)
TABLE = made(PLAIN, 6).reshape(2, 3)
GLOBAL = made(PLAIN)


def fields(a):
    return a["x"], a["y"], a["y"][:, 1], a["x"].sum(), a["x"].strides, a["x"] * 2 + a["y"][:, 0]


def packed(a):
    return a["b"], a["x"] * 2, a["h"] + a["h"], a["c"].real, a["c"].sum(), a[::-1]["x"]


def written(a):
    a["x"][1] = 5
    a[2]["x"] = 7.5
    a[0] = (1.5, (2, 3))
    a[1:3]["y"][:, 0] = 9
    r = a[3]
    r["y"][1] = 4
    r["x"] += 1
    r[0] -= 0.25
    a["y"] = a["y"] * 2
    a["x"][::2] = [10.0, 20.0]
    return a


def looped(a):
    total = 0.0
    for r in a:
        total = total / 2 + r["x"] + r["y"].sum()
    for i in range(len(a)):
        total = total / 2 + a[i]["x"] * a["y"][i, 1]
    return total


def new(n):
    a = np.zeros(n, PLAIN)
    a["x"] = np.arange(n)
    b = np.zeros((2, n), dtype=NESTED)
    b[1]["p"]["y"][:, 0] = 3
    return a, b, np.empty((2, n), PLAIN).shape, a.itemsize, a.dtype.itemsize, np.zeros_like(a)


def unpacked(a):
    x, y = a[1]
    return x, y, len(a[1]), a[1][0], a[-1][-1]


def nested(a):
    a["p"]["x"][0] = 3
    a[1]["p"]["y"][1] = 4
    a[2]["p"] = (1.0, (5, 6))
    a[3] = a[2]
    a["k"][1] = True
    return a, a["p"]["y"], a[1]["p"]["x"]


def named(a):
    a[1].x = 4.5
    a[0].n = 3
    return a[1].x + a[2].n, a


def copied(a, b):
    a[...] = b
    c = a.copy()
    c[0] = c[1]
    c[2] = 0
    return a, c, a[::-1], a[1:], np.concatenate((a, c)), np.roll(a, 1), a.reshape(2, 2)


def shifted(a):
    a[1:] = a[:-1]
    return a


def strided(a):
    a["x"] += np.arange(len(a))
    a[::2] = a[1::2]
    a[::-2] = a[0]
    a[1:][::2] = (2.5, (3, 4))
    return a


def from_values(a, values):
    a["x"] = values
    a[1:]["x"][:2] = values[0]
    return a


def planes(a):
    return a[:, 1]["x"], a.T["x"], a[1, 2]["x"], a["y"].shape, a[0]["y"]


def captured():
    GLOBAL["x"][0] += 1
    return GLOBAL["x"].sum(), GLOBAL[1]["y"]


def kept_records(a):
    first, second = a[0].copy(), a[1]
    a[0] = second
    a[1] = first
    first["x"] = -1.0
    return first, first.copy()["x"], a[2].item(), [r.tolist() for r in a], a


def shuffled(a):
    np.random.seed(3)
    np.random.shuffle(a)
    b = np.random.permutation(a)
    generator = np.random.default_rng(5)
    generator.shuffle(b)
    table = a[:4].reshape(2, 2)
    np.random.shuffle(table)
    return a, b, generator.permutation(b), generator.permuted(a), np.random.permutation(table), table


TWO = np.dtype("i4,f8")
WITH_PARTS = np.dtype([("p", TWO), ("q", "i2", 2), ("r", "i1")])


def of_tuples(n, rows, numbers):
    a = np.array([(1, 2.5), (n, 3)], TWO)
    a[:1] = [(7, n)]
    return (a, np.array((1, n), TWO), np.array([[(1, n)], [(2, 3)]], TWO), np.array([1, n], "i4,f8"),
            np.array(n, TWO), np.array(rows, TWO), np.asarray(rows[:1], TWO), np.array(numbers, TWO),
            np.array([(i, i / 2) for i in range(n)], dtype=TWO), np.array([a[0], (5, 6)], TWO),
            np.array([((1, n), (3, 4), True)], WITH_PARTS), np.insert(a, 1, (8, n)),
            np.append(a, np.array([(0, n)], TWO)), np.array([[(1, 2), (3, n)]], TWO, order="F").shape,
            np.array([(1, n)], TWO, ndmin=3).shape,
            np.array([(1, 2)], TWO).tolist(), np.array([], TWO), np.array([(1.7, False)], TWO))


CASES = {
    of_tuples: [(3, [(1, 2.5), (3, 4.0)], [1, 2])],
    kept_records: [(P,), (P[::-1],), (Q,), (made(NESTED),), (made(NAMED),)],
    shuffled: [(made(PLAIN, 9),), (made(PLAIN, 9)[::-1],), (made(NESTED, 5),)],
    fields: [(P,), (P[::-1],), (P[::2],), (P[:0],)], packed: [(Q,), (Q[::-2],)], written: [(P,), (P[::-1],)],
    looped: [(P,), (P[1::2],)], new: [(3,), (0,)], unpacked: [(P,)], nested: [(made(NESTED),)], named: [(made(NAMED),)],
    copied: [(P, P[::-1]), (P, P[0:1])], shifted: [(P,)], strided: [(P,), (P[::-1],), (P[:0],)],
    from_values: [(P, np.ones((1, 4))), (P, [4.0, 5.0, 6.0, 7.0]), (P, (1, 2.5, True, 4)), (P, np.ones((2, 4)))],
    planes: [(TABLE,), (np.asfortranarray(TABLE),)],
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_same_as_numpy(function):
    agree_on(function, *CASES[function])


def read_only(a):
    a["x"] = 1
    return a


@pytest.mark.parametrize("function", [
    lambda a: a["z"], lambda a: a[9]["x"], lambda a: a[0]["q"], lambda a: np.array([(1, 2, 3)], TWO),
    lambda a: np.array([(1,)], TWO), lambda a: np.array([(len(a) + 2**40, 1)], TWO),
    lambda a: np.array([[(1, 2)], [(1, 2), (3, 4)]], TWO)],
                         ids=lambda x: getattr(x, "__name__", None))
def test_errors(function):
    assert difference(outcome(function, (P,)), outcome(njit(function), (P,))) == ""


def test_read_only():
    a = P.copy()
    a.flags.writeable = False
    assert difference(outcome(read_only, (a,)), outcome(njit(read_only), (a,))) == ""


def test_identity_and_specialisations():
    f = njit(lambda a: a)
    assert f(P) is P
    g = njit(lambda a: a["x"][0])
    other = np.zeros(2, [("x", np.int16), ("z", float)])
    assert type(g(other)) is np.int16 and type(g(P)) is np.float64
    same = np.zeros(2, np.dtype([("x", float), ("y", np.int32, (2,))]))
    assert g(same) == 0.0 and len(g.signatures) == 2
    assert njit(captured)()[0] == GLOBAL["x"].sum()


def test_kept_on_disk(tmp_path):
    (tmp_path / "program.py").write_text("""
import gc

import numpy as np
from pyjitc import njit
T = np.dtype([("x", float), ("n", np.int8)])
@njit(cache=True)
def f(a):
    b = np.zeros(len(a), T)
    b["x"] = a["x"] + 1
    return b
print(f(np.ones(2, T)).tolist())
""")
    env = {**os.environ, "PYJITC_CACHE_DIR": str(tmp_path / "cache"),
           "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    for _ in range(2):
        done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, env=env)
        assert done.stdout == "[(2.0, 0), (2.0, 0)]\n", done.stderr


@pytest.mark.parametrize("function", [
    lambda a: a + 1, lambda a: np.sum(a), lambda a: np.sort(a), lambda a: a == a, lambda a: -a, lambda a: a[["x", "y"]],
    lambda a: np.sqrt(a), lambda a: a @ a,
    lambda a: np.searchsorted(a, a), lambda a: a[0].x, lambda a: a.astype(float), lambda a: np.dot(a, a),
    lambda a: np.where(a, 1, 2), lambda a: a.max(), lambda a: np.cov(a),
], ids=lambda x: getattr(x, "__name__", None))
def test_what_is_refused(function):
    with pytest.raises(TypingError):
        njit(function)(P)


@pytest.mark.parametrize("name", ["x", "z", "w"])
def test_names_that_are_known_at_run_time(name):
    def named(a, name):
        a[1][name] += 1.5
        a[name][0] = 7
        return sum([a[k].sum() + a[2][k] for k in ("x", name)]), a

    a = np.array([(1, 2), (3, 4), (5, 6)], [("x", float), ("z", float)])
    expected, actual = outcome(named, (a.copy(), name)), outcome(njit(named), (a.copy(), name))
    assert not difference(expected, actual), (expected, actual)


def test_a_record_that_is_returned_looks_into_the_array():
    @njit
    def one(a, i):
        return a[i], (a.copy()[i], i)

    for a in (P, np.zeros(2, NAMED)):
        a = a.copy()
        expected, actual = one.py_func(a, 1), one(a, 1)
        assert (type(actual[0]) is type(expected[0]) and actual[0].dtype == expected[0].dtype
                and actual[0] == expected[0] == actual[1][0])
        name = a.dtype.names[0]
        actual[0][name] = 7
        assert a[1][name] == 7 and expected[1][0][name] == actual[1][0][name] != 7
        one(a, 0), gc.collect()
        assert a[1][name] == actual[0][name] == 7
        a.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            one(a, 1)[0][name] = 1


@pytest.mark.parametrize("of", [lambda a: a[1], lambda a: a.view(np.recarray), lambda a: a.view(np.recarray)[1]],
                         ids=["record", "recarray", "record of recarray"])
def test_a_record_and_a_recarray_of_the_program_are_read_at_run_time(of):
    memory = made(PLAIN)
    captured = of(memory)

    def read(i):
        captured["x"] = captured["x"] + i
        return captured["x"], captured["y"][..., 0].sum(), captured

    for i in (1, 2):
        found = njit(read)(i)
        assert np.all(found[0] == memory["x"][1] if found[0].ndim == 0 else found[0] == memory["x"])
        assert type(found[2]) is type(captured) and found[1] == captured["y"][..., 0].sum()
        memory["y"] += 1
    before = njit(read)(0)[0]
    captured = of(made(np.dtype([("y", np.int32, (2,)), ("x", float)])))  # of the same size, but in another order
    assert not np.all(before == njit(read)(0)[0]) and np.all(njit(read)(0)[0] == captured["x"])


MIXED = np.array([(1, 2.5, "ab"), (3, 4.5, "c"), (5, 6.5, "def")], [("k", "i4"), ("x", "f8"), ("s", "U3")])
MASK, PLACES = np.array([True, False, True]), np.array([2, 0, 2, -1])


def of_parts(a, i):
    return a[i, 1:], a[:, i], a[0, i], a[..., i], a[None, i]


def with_loops(a, mask):
    places = [k for k in range(len(a)) if k != 1]
    return a[places], a[[0, 2]], sum([r["x"] * r["k"] for r in a[mask]]), a[np.argsort(a["x"])[::-1]]["k"], len(a[mask])


def stored(a, i, value):
    a[i] = value
    return a.copy()


@pytest.mark.parametrize("function, args", [
    *((lambda a, i: a[i], (a, i)) for a in (MIXED, np.array(["a", "bcd", "ef"]), np.array([b"x", b"yy", b"z"]))
      for i in (MASK, PLACES, MASK & False, PLACES[:2].reshape(1, 2), np.array([7]), MASK[:2], [0, 1])),
    (of_parts, (np.resize(MIXED, (2, 3)), PLACES % 2)), (lambda a: a[a["k"] > 1], (np.resize(MIXED, (2, 3)),)),
    (with_loops, (MIXED, MASK)), (with_loops, (MIXED, MASK & False)),
    (stored, (MIXED, MASK, (9, 1.5, "q"))), (stored, (MIXED, PLACES, MIXED[0].copy())),
    (stored, (MIXED, MASK, MIXED[:2])), (stored, (MIXED, MASK, MIXED)), (stored, (MIXED, MASK, 4.0)),
    (stored, (np.array(["a", "bcd"]), np.array([1]), "hello"))])
def test_index_arrays_and_masks(function, args):
    agree(function, *args)


@pytest.mark.parametrize("function, args", [
    (lambda r: (r["k"], r[1], len(r)), (MIXED[1],)), (lambda r, n: r["x"] * n, (MIXED[0].copy(), 3)),
    (lambda r, q, *rest: r["k"] + q["k"] + len(rest), (MIXED[0], MIXED[1], 1, 2)),
    (lambda r: r.k + 1, (MIXED.view(np.recarray)[1],)), (lambda r: r, (MIXED[2],)),
    (stored, (MIXED, slice(1, 3), MIXED[0].copy()))])
def test_records_as_arguments(function, args):
    agree(function, *args)


def test_a_record_that_is_changed_is_that_of_its_array():
    def change(r, *, by):
        r["x"] += by
        return r["x"]
    a = MIXED.copy()
    assert njit(change)(a[1], by=2.0) == 6.5 == a["x"][1]
    with pytest.raises(TypeError, match="item 0 .* record of a structured array"):
        njit(lambda *rows: rows[0]["k"])(a[0])


@pytest.mark.parametrize("dtype", [PLAIN, PACKED, NESTED, np.dtype([("n", "i4"), ("s", "U3"), ("t", "S2")]),
                                   np.dtype([("when", "M8[s]"), ("x", "f4")])])
def test_arrays_filled_with_a_number(dtype):
    agree(lambda n: (np.ones(n, dtype), np.ones((n, 2), dtype=dtype), np.ones_like(np.zeros(n, dtype)),
                     np.full(n, 3, dtype), np.full_like(np.zeros((n, 1), dtype), 1)), 2)


@pytest.mark.parametrize("index", [[1, 0], [True, False, True], [[0, 1], [2, 0]], [0.5], [], [9]])
def test_lists_as_indices(index):
    a = np.array([(1, 2.5), (3, 4.5), (5, 6.5)], [("n", "i1"), ("x", float)])
    agree(lambda a, index: a[index], a, index)
    agree(lambda a, index: a[index], np.array(["a", "bc", "d"]), index)


def test_several_fields_at_once():
    def chosen(a, names):
        return np.sort(a["n"]), a[names], a[["x", "n"]]

    a = np.array([(3, 2.5), (1, 4.5)], [("n", "i1"), ("x", float)])
    agree(chosen, a, ["n"], compiled=jit(chosen))
    with pytest.raises(TypingError, match="several fields at once are not compiled"):
        njit(chosen)(a, ["n"])


@pytest.mark.parametrize("name", ["empty_like", "zeros_like", "ones_like"])
def test_arrays_like_a_record(name):
    make = getattr(np, name)
    a = np.array([(1, 2.5), (3, 4.5)], [("a", np.int32), ("b", float)])

    def like(a, i):
        return make(a[i]), make(a[i], shape=(2, 2)), make(a[i], dtype=np.float32)

    wanted, found = like(a, 1), njit(like)(a, 1)
    assert [(x.shape, x.dtype, x.strides) for x in wanted] == [(x.shape, x.dtype, x.strides) for x in found]
    if name != "empty_like":
        assert [x.tobytes() for x in wanted] == [x.tobytes() for x in found]
