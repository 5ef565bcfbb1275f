"""np.random: the numbers, their types and the state afterwards are NumPy's own, for objects and for the global
RandomState."""
import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.base.errors import TypingError
from tests.oracle import difference, same

SEED = 12345


def run(function, gen, args):
    args = copy.deepcopy(args)
    try:
        how, what = "returns", function(gen, *args)
    except Exception as error:
        how, what = "raises", error
    return how, what, args, ""


def state(gen):
    if isinstance(gen, np.random.RandomState):
        kept = gen.get_state(legacy=False)
    else:
        kept = gen.bit_generator.state
    return repr(kept)


def check(function, *cases, make=lambda: np.random.default_rng(SEED), compiled=None):
    """Assert that both draw the same numbers from equal generators, and leave these in equal states."""
    compiled = compiled or njit(function)
    for args in cases:
        first, second = make(), make()
        wrong = difference(run(function, first, args), run(compiled, second, args))
        assert not wrong, f"{args}: {wrong}"
        assert state(first) == state(second), args
    return compiled


GENERATORS = {
    "PCG64": lambda: np.random.Generator(np.random.PCG64(SEED)),
    "PCG64DXSM": lambda: np.random.Generator(np.random.PCG64DXSM(SEED)),
    "Philox": lambda: np.random.Generator(np.random.Philox(SEED)),
    "MT19937": lambda: np.random.Generator(np.random.MT19937(SEED)),
    "SFC64": lambda: np.random.Generator(np.random.SFC64(SEED)),
}


def mixture(g, n):
    total = 0.0
    for i in range(n):
        total += g.random() * g.standard_normal() + g.integers(i + 1)
    return total, g.random(3), g.random(3, np.float32), g.standard_exponential()


mixed = njit(mixture)


@pytest.mark.parametrize("name", GENERATORS)
def test_every_bit_generator(name):
    check(mixture, (5,), (300,), make=GENERATORS[name], compiled=mixed)


def words_and_doubles(state, n):
    total = 0.0
    for i in range(n):
        total += state.randint(0, 100) * state.random_sample() - state.randint(1 << 40)
    return total, state.randint(7), state.standard_normal()


@pytest.mark.parametrize("generator", ["MT19937", "PCG64", "SFC64"])
def test_words_that_are_taken_without_a_call(generator):
    """The words of a Mersenne Twister are read from its state, which NumPy renews; other generators are called."""
    made = getattr(np.random, generator)
    check(words_and_doubles, (0,), (1,), (200,), (2000,), make=lambda: np.random.RandomState(made(SEED)))


def test_two_objects_with_one_bit_generator():
    def both(state, generator, n):
        total = 0.0
        for i in range(n):
            total += state.randint(0, 100) * generator.random()
        return total, state.randint(1000), generator.integers(1000)

    compiled = njit(both)
    results = []
    for function in both, compiled:
        bits = np.random.MT19937(SEED)
        results.append((function(np.random.RandomState(bits), np.random.Generator(bits), 1000),
                        bits.state["state"]["pos"]))
    assert results[0] == results[1]


def test_streams_mix_with_those_of_the_interpreter():
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(3):
        assert first.normal() == second.normal()
        assert same(mixture(first, 3), mixed(second, 3))


def test_a_generator_as_global_value_and_in_a_tuple():
    gen = np.random.default_rng(3)

    @njit
    def captured():
        return gen.random()

    @njit
    def pair(t):
        return t[0].random() + t[1]

    expected = np.random.default_rng(3).random(3)
    assert [captured(), captured()] == list(expected[:2])
    assert pair((gen, 1.0)) == expected[2] + 1.0


@njit
def same_object(g):
    return g


def test_the_object_itself_returns():
    gen, old = np.random.default_rng(), np.random.RandomState(1)
    assert same_object(gen) is gen and same_object(old) is old


def test_generators_made_inside():
    def made(seed):
        g = np.random.default_rng(seed)
        h = np.random.RandomState(seed)
        p = np.random.Generator(np.random.Philox(seed))
        return g.random(), g.normal(), h.rand(), h.randn(), p.random(), np.random.default_rng(seed)

    mine, numpys = njit(made)(7), made(7)
    assert mine[:5] == numpys[:5]
    assert mine[5].bit_generator.state == numpys[5].bit_generator.state


def test_what_a_generator_is():
    def asked(g, h):
        return (isinstance(g, np.random.Generator), isinstance(g, np.random.RandomState), g is h, g is None, g is not h,
                bool(g), g.bit_generator)

    def optional(n, g=None):
        if g is None:
            g = np.random.default_rng(1)
        return g.random(n)

    gen = np.random.default_rng(1)
    compiled = njit(asked)
    for other in (gen, np.random.default_rng(1), np.random.RandomState(1)):
        assert compiled(gen, other) == asked(gen, other)
    compiled = njit(optional)
    assert same(compiled(3), optional(3)) and same(compiled(3, gen), optional(3, np.random.default_rng(1)))


def test_pickled_and_copied_generators():
    gen = pickle.loads(pickle.dumps(np.random.default_rng(5)))
    assert same(mixed(gen, 4), mixture(np.random.default_rng(5), 4))


# -- distributions

PARAMETERS = {
    "beta": [(0.5, 0.5), (2.0, 3)], "exponential": [(), (2.5,)], "gamma": [(0.5,), (3.0, 2.0)],
    "standard_gamma": [(0.0,), (0.3,), (1.0,), (4,)], "f": [(2.0, 5.0)], "noncentral_f": [(2.0, 5.0, 1.5)],
    "chisquare": [(3,)], "noncentral_chisquare": [(0.5, 2.0), (3.0, 2.0), (3.0, 0.0)], "standard_cauchy": [()],
    "standard_t": [(4.0,)], "vonmises": [(0.5, 0.0), (0.5, 1e-6), (1.0, 2.0), (-1.0, 50.0)], "pareto": [(3.0,)],
    "weibull": [(0.0,), (1.5,)], "power": [(2.0,)], "laplace": [(), (1.0, 2.0)], "gumbel": [(), (1.0, 2.0)],
    "logistic": [(), (1.0, 2.0)], "lognormal": [(), (1.0, 0.5)], "rayleigh": [(), (2.0,)], "wald": [(1.0, 2.0)],
    "triangular": [(-1.0, 0.0, 2.0)], "poisson": [(), (0.0,), (3.5,), (40.0,)], "zipf": [(2.0,)],
    "geometric": [(0.2,), (0.7,)], "logseries": [(0.6,), (0.99,)], "negative_binomial": [(3.0, 0.4)],
    "binomial": [(0, 0.5), (10, 0.3), (10, 0.8), (1000, 0.3), (1000, 0.9)], "normal": [(), (1.0, 2.0), (3, 0)],
    "uniform": [(), (2.0,), (1, 5)],
}
WRONG = {
    "beta": [(0.0, 1.0), (1.0, -1.0)], "exponential": [(-1.0,), (-0.0,)], "gamma": [(-1.0, 1.0), (1.0, -1.0)],
    "normal": [(0.0, -1.0)], "chisquare": [(0.0,)], "vonmises": [(0.0, -1.0)], "zipf": [(1.0,), (float("nan"),)],
    "geometric": [(0.0,), (1.5,)], "logseries": [(1.0,), (float("nan"),)], "poisson": [(-1.0,), (1e20,)],
    "binomial": [(5, 1.5), (-1, 0.5), (-1, 2.0)], "negative_binomial": [(0.0, 0.5), (1.0, 0.0)],
    "triangular": [(1.0, 0.0, 2.0), (0.0, 3.0, 2.0), (1.0, 1.0, 1.0)], "uniform": [(2.0, 1.0), (-1e308, 1e308)],
    "wald": [(0.0, 1.0)], "weibull": [(-1.0,)],
}


def calls(name):
    """For each number of parameters, a function of a generator that draws one number and arrays."""
    found = {}
    for args in PARAMETERS[name] + WRONG.get(name, []):
        if len(args) not in found:
            names = ", ".join(f"p{i}" for i in range(len(args)))
            space = {}
            exec(f"def draw(g{', ' if names else ''}{names}):\n"
                 f"    return g.{name}({names}), g.{name}({names}{', ' if names else ''}size=(4, 5)), "
                 f"g.{name}({names})", space)
            found[len(args)] = (space["draw"], njit(space["draw"]))
    return found


@pytest.mark.parametrize("name", PARAMETERS)
def test_distributions_of_a_generator_and_of_a_random_state(name):
    functions = calls(name)
    for args in PARAMETERS[name] + WRONG.get(name, []):
        function, compiled = functions[len(args)]
        check(function, args, compiled=compiled)
        check(function, args, compiled=compiled, make=lambda: np.random.RandomState(SEED))


def test_hypergeometric():
    def draw(g, a, b, c):
        return g.hypergeometric(a, b, c), g.hypergeometric(a, b, c, size=6)

    cases = [(5, 7, 4), (100, 200, 50), (1, 2, 5), (10**9, 1, 1), (-1, 5, 2), (20, 5, 24), (5, 30, 12), (3, 4, 0),
             (200, 100, 280)]
    check(draw, *cases)
    check(draw, *cases, make=lambda: np.random.RandomState(SEED))


def test_sizes():
    def draw(g, size):
        return g.random(size), g.normal(size=size), g.integers(5, size=size), g.poisson(2.0, size=size)

    compiled = njit(draw)
    for size in (None, 0, 3, (), (2,), (2, 3), (0, 4), (2, 3, 4), np.int32(3), -1, (2, -1)):
        check(draw, (size,), compiled=compiled)


DROPPED = '''
import numpy as np
from pyjitc import njit
@njit
def shapes(n):
    pairs = np.random.standard_normal((n, 2))
    return np.random.rand(n).shape, np.random.randint(0, 9, n).size, pairs.ndim, len(np.random.permutation(n))
for k in range(200):
    [bytearray(i) for i in range(700, 1000, 16) for _ in range(5)]  # memory that is free when an array is made
    assert shapes(100) == ((100,), 100, 2, 100)
'''


def test_arrays_of_which_nobody_reads_the_numbers():
    done = subprocess.run([sys.executable, "-c", DROPPED], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_parameters_that_broadcast():
    def draw(g, a, b):
        return g.normal(a, b)

    def sized(g, a, b, n):
        return g.gamma(a, b, size=(n, 3)), g.poisson(a, size=(n, 3))

    row, column = np.array([1.0, 2.0, 3.0]), np.array([[0.5], [2.0]])
    for make in (GENERATORS["PCG64"], lambda: np.random.RandomState(3)):
        check(draw, (row, 1.0), (2, row), (row, column), (column, row), (np.array(2.0), 1.0), (np.arange(4), 2.5),
              (row[::-1], row), (row, -row), (np.ones(2), row), (np.ones((0, 3)), row), make=make)
        check(sized, (row, column, 2), (row, 2.0, 4), (row, column, 3), (-row, 1.0, 2), make=make)


def test_whole_parameters_that_broadcast():
    def draw(g, n, p):
        return g.binomial(n, p)

    for make in (GENERATORS["PCG64"], lambda: np.random.RandomState(3)):
        check(draw, (np.array([5, 100, 7]), 0.3), (10, np.array([0.1, 0.9])),
              (np.array([[5], [6]]), np.array([0.2, 0.4, 0.9])), (np.array([5, -1]), 0.5), (5, np.array([0.5, np.nan])),
              make=make)


def test_checks_of_parameters_that_broadcast():
    """Each check is made for all elements before the next check."""
    row = np.array([1.0, 2.0, 3.0])
    for make in (GENERATORS["PCG64"], lambda: np.random.RandomState(3)):
        check(lambda g, a, b, c: g.triangular(a, b, c), (row - 2, row, row + 1.0), (row, row, 9.0), (row, row - 1, row),
              (row, row, row), (row, row[::-1], 3.0), make=make)
        check(lambda g, n, p: g.negative_binomial(n, p), (row, 0.3), (2.0, row / 4), (row - 1, 0.5), (row, 0.0),
              (row, 1e-25), make=make)
        check(lambda g, a, b, c: g.hypergeometric(a, b, c), (np.array([5, 6]), 7, 3), (np.array([5, 1]), 1, 3),
              (5, np.array([2 * 10**9, 1]), 1), make=make)


def test_normal_numbers_beside_the_layers_of_the_ziggurat():
    """A million numbers reach the tail and the wedges."""
    def draw(g, n):
        total = 0.0
        for i in range(n):
            total += abs(g.standard_normal())
        return total, g.normal(1.0, 2.0, n)

    gen = np.random.default_rng(3)
    total, numbers = njit(draw)(gen, 500_000)
    again = np.random.default_rng(3)
    expected = again.standard_normal(500_000)
    assert abs(expected).max() > 3.66 and total == np.add.accumulate(abs(expected))[-1]
    assert same(numbers, again.normal(1.0, 2.0, 500_000))


def test_parameters_that_are_sequences():
    check(lambda g: (g.normal([1.0, 2.0], scale=(3, 4)), g.random([2, 3]), g.uniform([1, 2], 5, size=[3, 2])), ())
    check(lambda g: (g.choice([1, 2, 3]), g.choice((1.5, 2, 3), np.int32(2)), g.choice(3, 2, p=[0.2, 0.3, 0.5]),
                     g.integers([1, 2], 9), g.permutation((1, 2)), g.multinomial(5, [0.2, 0.8]),
                     g.dirichlet((1.0, 2.0)), g.permuted([1, 2, 4])), ())
    check(lambda g: (g.choice([1, 2, 3]), g.randint(5, [6, 7])), (), make=lambda: np.random.RandomState(3))


def test_methods_that_run_in_python():
    mean, cov = np.array([1.0, 2.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
    check(lambda g, m, c: (g.multivariate_normal(m, c), g.multivariate_normal(m, c, 3),
                           g.multivariate_normal(m, c, (2, 2))), (mean, cov))
    check(lambda g, m, c: g.multivariate_normal(m, c, method="cholesky"), (mean, cov), (mean[:1], cov))
    check(lambda g, m, c: g.multivariate_normal(m, c, size=2), (mean, cov), make=lambda: np.random.RandomState(SEED))
    check(lambda g, c: (g.multivariate_hypergeometric(c, 4), g.multivariate_hypergeometric(c, 4, size=2)),
          (np.array([3, 5, 2]),))


def test_state_is_kept_and_put_back():
    def again(g):
        kept = g.get_state()
        first = g.randn(), g.rand()
        g.set_state(kept)
        return first == (g.randn(), g.rand())

    assert njit(again)(np.random.RandomState(4)) is True


def test_the_lock_is_not_taken():
    gen = np.random.default_rng(2)
    with gen.bit_generator.lock:
        assert mixed(gen, 2)[0] == mixture(np.random.default_rng(2), 2)[0]


def test_bytes():
    check(lambda g: (g.bytes(5), g.random()), ())
    check(lambda g, n: (g.bytes(n), g.randint(5)), (3,), (0,), make=lambda: np.random.RandomState(SEED))


@pytest.mark.filterwarnings("ignore:This function is deprecated")
def test_random_integers():
    check(lambda g, n: (g.random_integers(n), g.random_integers(-3, n), g.random_integers(1, n, (2, 3))), (5,),
          (np.int8(9),), (0,), make=lambda: np.random.RandomState(SEED))


def test_permuted_into_an_array():
    def draw(g, x, out):
        return g.permuted(x, out=out) is out, g.permuted(x, axis=0, out=out) is out, g.permuted(x, axis=1, out=x) is x

    a = np.arange(12).reshape(3, 4)
    check(draw, (a, np.zeros((3, 4), int)), (a, np.zeros((4, 4), int)), (a, np.zeros((3, 4, 1), int)))


# -- precision and output arrays

def test_precisions():
    def draw(g):
        return (g.random(dtype=np.float32), g.random(5, dtype="float32"), g.standard_normal(dtype=np.float32),
                g.standard_normal(4, np.float32), g.standard_exponential(dtype=np.float32),
                g.standard_exponential(4, np.float32), g.standard_exponential(3, method="inv"),
                g.standard_exponential(method="inv"), g.standard_exponential(3, np.float32, method="inv"))

    check(draw, ())


def test_precisions_of_gamma():
    def draw(g, shape):
        return (g.standard_gamma(shape, dtype=np.float32), g.standard_gamma(shape, 4, np.float32),
                g.standard_gamma(shape, (2, 3), dtype="f8"), g.standard_gamma(shape, dtype=np.float32, size=()))

    def into(g, shape, out):
        return g.standard_gamma(shape, out=out) is out, g.standard_gamma(shape, 4, out=out) is out

    check(draw, (0.3,), (1.0,), (4.5,), (0.0,), (-1.0,), (-0.0,), (np.nan,))
    check(into, (0.3, np.zeros(4)), (2.0, np.zeros(4)), (2.0, np.zeros(3)), (2.0, np.zeros((2, 2))))
    check(lambda g, out: g.standard_gamma(2.0, None, np.float32, out), (np.zeros(5, np.float32),), (np.zeros(5),))


def test_unsupported_precision():
    check(lambda g: g.random(dtype=np.int32), ())


def test_output_arrays():
    def draw(g, out):
        g.random(out=out)
        g.standard_normal(None, np.float64, out)
        return g.standard_exponential(out=out, size=out.shape) is out

    check(draw, (np.zeros(4),), (np.zeros((2, 3)),), (np.zeros((3, 2), order="F"),), (np.zeros(6)[::2],),
          (np.zeros(3, np.float32),))


def test_uniform_with_bounds_that_are_arrays():
    row, column = np.array([1.0, 2.0, 3.0]), np.array([[0.5], [2.0]])
    for make in (GENERATORS["PCG64"], lambda: np.random.RandomState(3)):
        check(lambda g, a, b: g.uniform(a, b), (0, row), (row, 5), (column, row), (row, np.array([1e308, np.inf, 2.0])),
              make=make)


def test_tomaxint():
    check(lambda g: (g.tomaxint(), g.tomaxint(3)), (), make=lambda: np.random.RandomState(SEED))


# -- the global RandomState

def globally(seed):
    np.random.seed(seed)
    x = np.zeros(6)
    for i in range(6):
        x[i] = i
    np.random.shuffle(x)
    return (x, np.random.rand(), np.random.rand(2, 3), np.random.randn(), np.random.randn(3), np.random.random(),
            np.random.random(4), np.random.random_sample(2), np.random.ranf(), np.random.sample(3),
            np.random.uniform(1, 2), np.random.normal(1.0, 2.0), np.random.standard_normal(3), np.random.randint(10),
            np.random.randint(3, 9, 4), np.random.permutation(5), np.random.exponential(), np.random.poisson(3.0, 2),
            np.random.binomial(10, 0.5))


def test_functions_of_the_module():
    kept = np.random.get_state()
    try:
        compiled = njit(globally)
        for seed in (0, 1, 2**32 - 1):
            expected = globally(seed)
            after = np.random.get_state(legacy=False)
            assert same(compiled(seed), expected)
            assert repr(np.random.get_state(legacy=False)) == repr(after)
    finally:
        np.random.set_state(kept)


def test_the_kept_normal_number_is_shared():
    draw = njit(lambda g: g.randn())
    first, second = np.random.RandomState(9), np.random.RandomState(9)
    expected = [first.randn() for _ in range(6)]
    assert [draw(second), second.randn(), second.randn(), draw(second), draw(second), second.randn()] == expected


# -- errors

@pytest.mark.parametrize("function, text", [
    (lambda g: g.spawn(2), "Generator.spawn is not compiled yet"),
    (lambda g: g.nothing(), "has no attribute 'nothing'"),
    (lambda g: g.normal(1.0, 2.0, 3, 4), "at most 3"),
    (lambda g: g.normal(lok=1.0), "unexpected keyword argument 'lok'"),
    (lambda g: g.binomial(2.5, 0.5),
     "Cannot cast array data from dtype('float64') to dtype('int64') according to the rule 'safe'"),
    (lambda g: g.normal(1j), "not compiled"),
    (lambda g: g.standard_gamma(np.ones(2), dtype=np.float32), "standard_gamma() of float32"),
    (lambda g: g.random("x"), "size of type str"),
    (lambda g: g.beta(1.0), "missing required argument 'b'"),
])
def test_errors_are_located(function, text):
    with pytest.raises(TypingError) as caught:
        njit(function)(np.random.default_rng())
    assert text in str(caught.value) and "test_random.py" in str(caught.value)
