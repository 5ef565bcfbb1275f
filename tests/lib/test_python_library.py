"""Modules of Python's library: the stream of `random`, and functions that the interpreter runs for compiled code."""
import copy
import random
import statistics
import struct
import sys
import time

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree

DRAWS = {
    "random": lambda g: g.random(),
    "uniform": lambda g: g.uniform(1.0, 2),
    "randint": lambda g: g.randint(-3, 6),
    "randrange of one": lambda g: g.randrange(10),
    "randrange with a step": lambda g: (g.randrange(3, 100, 7), g.randrange(100, 3, -7), g.randrange(0, 2**62)),
    "getrandbits": lambda g: (g.getrandbits(0), g.getrandbits(1), g.getrandbits(32), g.getrandbits(33),
                              g.getrandbits(63)),
    "gauss": lambda g: g.gauss(0.0, 1.0),
    "normalvariate": lambda g: g.normalvariate(0.0, 1.0),
    "lognormvariate": lambda g: g.lognormvariate(0.0, 0.5),
    "expovariate": lambda g: g.expovariate(0.5),
    "triangular": lambda g: g.triangular(0.0, 1.0, 0.3),
    "betavariate": lambda g: g.betavariate(2.0, 3.0),
    "gammavariate": lambda g: (g.gammavariate(2.5, 1.0), g.gammavariate(1.0, 2.0)),
    "paretovariate": lambda g: g.paretovariate(2.5),
    "weibullvariate": lambda g: g.weibullvariate(2.0, 1.5),
    "vonmisesvariate": lambda g: g.vonmisesvariate(0.0, 4.0),
    "choice": lambda g: (g.choice((1, 2, 3)), g.choice(range(5))),
    "seed": lambda g: g.seed(g.getrandbits(5)),
    "randbytes": lambda g: g.randbytes(3),
}


@pytest.mark.parametrize("name", DRAWS)
def test_streams(name):
    """Values and states agree over more draws than the generator has words; compiled and plain draws may alternate."""
    draw = DRAWS[name]
    compiled = njit(draw)
    first, second = random.Random(5), random.Random(5)
    for k in range(700):
        expected, actual = draw(first), (draw if k % 50 == 7 else compiled)(second)
        assert expected == actual and type(expected) is type(actual)
    assert first.getstate() == second.getstate()


def shuffled(a):
    random.shuffle(a)
    return random.random(), random.randint(1, 6), random.uniform(0.0, 2.0)


def test_functions_of_the_module_use_its_generator():
    compiled = njit(shuffled)
    outcomes = []
    for function in (shuffled, compiled):
        random.seed(11)
        a = np.arange(50)
        outcomes.append((function(a), a.tolist(), random.random()))
    assert outcomes[0] == outcomes[1]


KEPT = random.Random(3)


def test_a_generator_that_the_program_keeps():
    def f():
        return KEPT.random(), KEPT is KEPT

    KEPT.seed(4)
    expected = f()
    KEPT.seed(4)
    assert njit(f)() == expected


@pytest.mark.parametrize("function", [
    lambda: KEPT.randrange(0), lambda: KEPT.randrange(5, 1), lambda: KEPT.randrange(1, 5, 0),
    lambda: KEPT.getrandbits(-1), lambda: KEPT.randint(5, 1), lambda: KEPT.randrange("a"),
    lambda: KEPT.gammavariate(-1.0, 1.0), lambda: KEPT.choice(()), lambda: KEPT.setstate((1, 2, 3)),
])
def test_errors_are_the_interpreters(function):
    agree(function)


class Halves(random.Random):
    def random(self):
        return 0.5


def test_a_subclass_says_what_its_numbers_are():
    assert njit(DRAWS["random"])(Halves()) == 0.5


def test_words_are_drawn_natively():
    compiled = njit(DRAWS["random"])
    compiled(random.Random(1))
    text = compiled.inspect_llvm()
    assert "pyj_mersenne" in (text if isinstance(text, str) else "".join(text.values()))


def clocks(x):
    before = time.perf_counter()
    time.sleep(x)
    return time.perf_counter() - before >= x, time.time_ns() > 10**18, time.monotonic() > 0.0, type(time.time())


def packed(x, n, b):
    data = struct.pack("<dI3s?", x, n, b, n > 3)
    return data, struct.unpack("<dI3s?", data), struct.unpack_from("<h", data, 1), struct.calcsize("<2dI4x")


def wrong_size(b):
    return struct.unpack("<d", b)


def averages(x):
    return statistics.fmean(x), statistics.stdev(x), statistics.pstdev(x)


def copies(a, t):
    b, c = copy.copy(a), copy.deepcopy(a)
    b[0] = 7
    return a, b, c, b.flags.c_contiguous, copy.copy(t), copy.deepcopy(t)


@pytest.mark.parametrize("function, arguments", [
    (clocks, (0.01,)), (packed, (1.5, 7, b"abc")), (packed, (1.5, -7, b"abc")), (wrong_size, (b"123",)),
    (wrong_size, (b"12345678",)), (averages, ((1.0, 2.0, 4.5),)), (averages, ((),)),
    (copies, (np.arange(3), (1, "a"))), (copies, (np.asfortranarray(np.ones((2, 3))), (None, 2.5))),
])
def test_functions_that_the_interpreter_runs(function, arguments):
    agree(function, *arguments)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the method is of Python 3.12")
def test_binomialvariate():
    def draw(g):
        return g.binomialvariate(10, 0.3), g.binomialvariate(1000, 0.6)

    test = njit(draw)
    first, second = random.Random(5), random.Random(5)
    assert [draw(first) for _ in range(200)] == [test(second) for _ in range(200)]


@pytest.mark.optimised  # LLVM replaces powers with such exponents
@pytest.mark.parametrize("exponent", [2, 2.0, -1, 0.5])
def test_constant_exponents_round_once(exponent):
    """The C library's pow rounds some of these results the other way."""
    function = eval(f"lambda x: x ** {exponent}")
    compiled = njit(function)
    for x in np.random.default_rng(0).random(2000).tolist():
        exact = {2: x * x, -1: 1 / x, 0.5: float(np.sqrt(x))}[exponent]
        assert compiled(x) == exact and abs(function(x) - exact) <= np.spacing(exact)
