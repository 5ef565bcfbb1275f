"""np.random: whole numbers, shuffles and choices are NumPy's own, number for number."""
import numpy as np
import pytest

from pyjitc import njit
from tests.lib.np.test_random import SEED, check

# -- whole numbers

DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.bool_]


@pytest.mark.parametrize("dtype", DTYPES)
def test_integers(dtype):
    def draw(g, low, high):
        return (g.integers(low, high, dtype=dtype), g.integers(low, high, size=(3, 5), dtype=dtype),
                g.integers(low, high, 11, dtype, True), g.integers(low, high, dtype=dtype, endpoint=True))

    def old(g, low, high):
        return (g.randint(low, high, dtype=dtype), g.randint(low, high, size=(3, 5), dtype=dtype),
                g.randint(low, high, dtype=dtype))

    if dtype is np.bool_:
        cases = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 1)]
    else:
        info = np.iinfo(dtype)
        low, high = int(info.min), min(int(info.max), 2**63 - 1)
        cases = [(0, 10), (3, 4), (low, high), (0, high), (5, 5), (6, 5), (0, 0), (0, -1)]
        if dtype is not np.int64:
            cases += [(-(2**40), 5), (0, 2**62)]
    check(draw, *cases)
    check(old, *cases, make=lambda: np.random.RandomState(SEED))


def test_integers_with_numpys_bounds():
    def draw(g, low, high):
        return g.integers(low, high), g.integers(high, size=4), g.integers(low, high, dtype=np.uint64)

    check(draw, (np.int8(1), np.uint8(200)), (True, 7), (np.uint64(1), np.uint64(2**63 - 5)), (2.7, 9.2),
          (np.array(2), np.int16(5)))


def test_the_whole_range():
    def draw(g, high):
        return g.integers(0, high, dtype=np.uint64, endpoint=True), g.integers(0, high, 5, np.uint64, True)

    check(draw, (np.uint64(2**64 - 1),), (np.uint64(2**63),))
    wide = np.uint64(2**63), np.uint64(2**63 + 1), np.uint64(5)
    for dtype in (np.int64, np.int32, np.uint8):
        check(lambda g, low, high: (g.integers(low, high, dtype=dtype), g.integers(low, high, 3, dtype)),
              *[(0, x) for x in wide], *[(x, x) for x in wide], (wide[0], 1), (wide[1], wide[0]))
        check(lambda g, high: g.integers(high, dtype=dtype, endpoint=True), *[(x,) for x in wide])


def test_pythons_classes_as_dtype():
    def draw(g):
        return (g.integers(5, dtype=int), g.integers(2, dtype=bool), g.integers(5, size=3, dtype=int),
                g.integers(2, size=3, dtype=bool))

    check(draw, ())


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.bool_])
def test_integers_with_bounds_that_are_arrays(dtype):
    def draw(g, low, high):
        return g.integers(low, high, dtype=dtype), g.integers(low, high, dtype=dtype, endpoint=True)

    def sized(g, low, high):
        return g.integers(low, high, (2, 3), dtype)

    if dtype is np.bool_:
        check(draw, (0, np.array([1, 1, 1])), (np.array([0, 1]), 1))
        return
    check(draw, (0, np.array([3, 10, 100])), (np.array([[0], [3]]), np.array([5, 6, 7])), (np.array([5, 1]), 4),
          (0, np.array([[0]])), (0, np.array([2**40])))
    check(sized, (0, np.array([3, 10, 100])), (np.array([1, 2]), 5), (np.array([1, 2, 9]), 5))
    check(lambda g, low, high: g.randint(low, high, dtype=dtype), (0, np.array([3, 10, 100])),
          make=lambda: np.random.RandomState(1))


# -- shuffles

def test_shuffle():
    def whole(g, x):
        return g.shuffle(x)

    def rows(g, x):
        g.shuffle(x, axis=1)
        g.shuffle(x, axis=-1)

    def legacy(g, x):
        g.shuffle(x)
        return x

    readonly = np.arange(3.0)
    readonly.flags.writeable = False
    square = np.arange(24.0).reshape(4, 6)
    cases = [(np.arange(7),), (np.arange(7.0)[::-2],), (square,), (square.T,), (np.zeros(0),), (np.zeros((0, 3)),),
             (np.arange(24).reshape(2, 3, 4),), (readonly,), (np.array([True, False, True, True]),),
             (np.arange(5, dtype=np.complex64),), (np.array(3.0),)]
    check(whole, *cases)
    check(rows, (square,), (np.arange(24).reshape(2, 3, 4),), (np.arange(3),))
    check(legacy, *cases, make=lambda: np.random.RandomState(SEED))


def test_permutation():
    def draw(g, x):
        return g.permutation(x)

    def columns(g, x):
        return g.permutation(x, axis=1)

    cases = [(0,), (1,), (9,), (np.int32(5),), (-3,), (np.arange(5.0),), (np.arange(12).reshape(4, 3),),
             (np.arange(9)[::2],), (np.zeros((0, 2)),)]
    check(draw, *cases)
    check(columns, (np.arange(12).reshape(4, 3),), (np.arange(3),))
    check(draw, *cases, make=lambda: np.random.RandomState(SEED))


# -- choices

def test_choice():
    def draw(g, a, size, replace):
        return g.choice(a), g.choice(a, size), g.choice(a, size, replace), g.choice(a, size=size, replace=False)

    def unshuffled(g, a, size):
        return g.choice(a, size, False, shuffle=False)

    compiled = njit(draw)
    cases = [(10, 3, True), (10, 10, False), (np.int32(7), (2, 3), False), (np.arange(5) * 0.5, 4, True),
             (np.arange(20.0)[::3], (2, 2), False), (5, 6, False), (5, 0, True), (0, 0, True), (0, 1, True),
             (20000, 50, False), (20000, 5000, False), (5, (), True), (np.zeros(0), 1, False), (5, -1, False),
             (3, -1, True)]
    check(draw, *cases, compiled=compiled)
    check(draw, *cases, compiled=compiled, make=lambda: np.random.RandomState(SEED))
    check(unshuffled, (10, 4), (30000, 1000), (30000, 3))
    check(lambda g, a: (g.choice(a, 3, axis=1), g.choice(a), g.choice(a, (2, 2), axis=-1)),
          (np.arange(12).reshape(3, 4),))
    check(lambda g, a: g.choice(a, 2), (2.5,), (np.zeros((2, 2)),), make=lambda: np.random.RandomState(SEED))
    check(lambda g, a: g.choice(a, 2), (2.5,), (np.array(3),))


def test_choice_with_probabilities():
    def draw(g, a, size, replace, p):
        return g.choice(a, size, replace, p), g.choice(a, p=p)

    compiled = njit(draw)
    p = np.array([0.1, 0.4, 0.0, 0.3, 0.2])
    cases = [(5, 20, True, p), (np.arange(5.0), (2, 3), True, p), (5, 4, False, p), (5, 2, False, p), (5, 5, False, p),
             (4, 2, True, p), (5, 2, True, -p), (5, 2, True, p * 2), (5, 2, True, p * np.nan),
             (5, 3, True, p.astype(np.float32)), (5, 6, False, p)]
    check(draw, *cases, compiled=compiled)
    check(draw, *cases, compiled=compiled, make=lambda: np.random.RandomState(SEED))


def test_permuted():
    square = np.arange(24).reshape(4, 6)
    check(lambda g, x: g.permuted(x), (np.arange(9),), (square,), (np.asfortranarray(square),), (np.arange(9)[::2],))
    check(lambda g, x: (g.permuted(x, axis=0), g.permuted(x, axis=1), g.permuted(x, axis=-1)), (square,), (square.T,),
          (np.arange(24).reshape(2, 3, 4),))


def test_multinomial_and_dirichlet():
    p, small = np.array([0.2, 0.5, 0.3]), np.array([0.01, 0.02, 0.03])
    check(lambda g, n, p: (g.multinomial(n, p), g.multinomial(n, p, 2), g.multinomial(n, p, size=(2, 2))), (20, p),
          (1000, p), (0, p), (-1, p), (5, p * 2), (5, -p))
    check(lambda g, n, p: (g.multinomial(n, p), g.multinomial(n, p, 2)), (20, p), (1000, p), (-1, p), (5, p * 2),
          make=lambda: np.random.RandomState(SEED))
    for make in (lambda: np.random.default_rng(SEED), lambda: np.random.RandomState(SEED)):
        check(lambda g, p: g.multinomial(5, p, 2), (np.array([1, 0, 0]),), (np.array([False, True]),), ([0, 1],),
              (np.array([1, 1, 0]),), (np.array([2, 0]),), (np.array([-1, 0]),), make=make)
    check(lambda g, a: (g.dirichlet(a), g.dirichlet(a, 2), g.dirichlet(a, (2, 2))), (p * 10,), (small,), (p - 0.3,),
          (np.zeros(2),))
    check(lambda g, a: (g.dirichlet(a), g.dirichlet(a, 2)), (p * 10,), (small,), (p - 0.5,),
          make=lambda: np.random.RandomState(SEED))
