"""Functions without branches: at most 2.5 units in the last place, special values exact, loops over them vectorise."""
import re

import numpy as np
import pytest

from pyjitc import njit

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 2.2e-308, 1e-310, 1.0, -1.0, 709.78, 709.79,
                    -745.1, -745.2, -708.4, 88.72, 88.73, -103.9, -104.0, 1e300, -1e300, 1e-40])
R = np.random.default_rng(1)
def spread(low, high, n):
    """Numbers of both signs, from 10 ** low to 10 ** high."""
    return 10.0 ** R.uniform(low, high, n) * R.choice([-1.0, 1.0], n)


# Multiples of pi / 2, of which range reduction leaves little, up to the size from which the C library is called.
NEAR = np.round(np.concatenate([R.uniform(-1e6, 1e6, 10000), 10.0 ** R.uniform(0, 14, 10000)])) * (np.pi / 2)
CIRCULAR = [R.uniform(-8, 8, 20000), R.normal(0, 1, 20000), 10.0 ** R.uniform(-300, 5, 5000),
            10.0 ** R.uniform(12, 100, 1000), NEAR]
EXPONENTIAL = [R.uniform(-750, 715, 20000), R.normal(0, 1, 20000), spread(-320, 2, 5000)]
LOGARITHMIC = [10.0 ** R.uniform(-323, 308, 20000), R.uniform(0.5, 2, 20000), 1 + R.normal(0, 1e-6, 5000),
               -R.uniform(0, 5, 10)]
AROUND_ONE = [R.uniform(-1, 1, 20000), spread(-320, 0, 5000), 1 - 10.0 ** R.uniform(-16, 0, 5000),
              10.0 ** R.uniform(-16, 0, 5000) - 1]
EVERYWHERE = [R.normal(0, 2, 20000), spread(-320, 308, 20000), spread(-9, 9, 10000)]
SAMPLES = {
    np.exp: EXPONENTIAL, np.expm1: EXPONENTIAL, np.sinh: EXPONENTIAL, np.cosh: EXPONENTIAL, np.tanh: EXPONENTIAL,
    np.exp2: [R.uniform(-1080, 1030, 20000), R.normal(0, 1, 20000), np.arange(-1074.0, 1024.0)],
    np.log: LOGARITHMIC, np.log2: [*LOGARITHMIC, 2.0 ** np.arange(-1074, 1024)], np.log10: LOGARITHMIC,
    np.log1p: [*AROUND_ONE, *LOGARITHMIC], np.arctanh: AROUND_ONE, np.arcsinh: EVERYWHERE,
    np.arccosh: [*EVERYWHERE, 1 + 10.0 ** R.uniform(-16, 1, 20000)],
    np.sin: CIRCULAR, np.cos: CIRCULAR, np.tan: CIRCULAR, np.arcsin: AROUND_ONE, np.arccos: AROUND_ONE,
    np.arctan: EVERYWHERE, np.cbrt: [*EVERYWHERE, np.arange(-50.0, 50) ** 3],
}
CORNERS = np.concatenate([SPECIAL, [2.0, 0.5, -0.5, 3.0, -3.0, -2.0, 2.0**53 + 1, 1e20, 1 + 2.0**-52]])
GRID = [x.ravel() for x in np.meshgrid(CORNERS, CORNERS)]


CIRCULAR_OF_LARGE = {
    np.sin: [1.0, -0.8522008497671888, -0.15920170308624243, -0.004961954789184062, 0.39016922335187676],
    np.cos: [-4.687165924254628e-19, 0.523214785395139, 0.9872460775989135, -0.9999876894265599, 0.9207431656813931],
    np.tan: [-2.133485385753704e+18, -1.6287782256068988, -0.16125837995065806, 0.004962015874444895,
             0.423754677628406],
}


def pairs(*parts):
    return [np.concatenate(x) for x in zip(GRID, *parts)]


PAIRS = {
    np.arctan2: pairs(R.normal(0, 1, (2, 20000)), (spread(-300, 300, 20000), spread(-300, 300, 20000))),
    np.hypot: pairs(R.normal(0, 1, (2, 20000)), (spread(-323, 308, 20000), spread(-323, 308, 20000))),
    np.power: pairs((R.uniform(0, 10, 20000), R.uniform(-8, 8, 20000)),
                    (10.0 ** R.uniform(-300, 300, 20000), R.uniform(-1.1, 1.1, 20000)),
                    (1 + R.normal(0, 1e-4, 10000), spread(0, 6, 10000)),
                    (R.uniform(0.7, 1.6, 20000), R.uniform(-1900, 1900, 20000)),
                    (R.uniform(0.7, 1.6, 20000), R.uniform(-230, 230, 20000)),
                    (-np.arange(1.0, 30), np.arange(1.0, 30)),
                    (10.0 ** R.uniform(-320, -300, 1000), R.uniform(0, 2, 1000))),
}


def compile_ufunc(ufunc):
    return njit(lambda a: ufunc(a)) if ufunc.nin == 1 else njit(lambda a, b: ufunc(a, b))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ufunc", [*SAMPLES, *PAIRS], ids=lambda f: f.__name__)
def test_error(ufunc, dtype):
    compiled = compile_ufunc(ufunc)
    with np.errstate(all="ignore"):
        args = [x.astype(dtype) for x in PAIRS.get(ufunc) or [np.concatenate([*SAMPLES[ufunc], SPECIAL])]]
        exact = ufunc(*[x.astype(np.longdouble) for x in args])
        rounded = exact.astype(dtype)
        actual = compiled(*args)
        assert actual.dtype == dtype
        usual = np.isfinite(rounded) & (rounded != 0)
        unit = np.abs(np.spacing(rounded[usual])).astype(np.longdouble)
        error = np.abs(actual[usual].astype(np.longdouble) - exact[usual]) / unit
    assert error.max() <= 2.5
    np.testing.assert_array_equal(actual[~usual], rounded[~usual])
    zero = rounded == 0
    np.testing.assert_array_equal(np.signbit(actual[zero]), np.signbit(rounded[zero]))


def loops(text):
    """The blocks of LLVM text that are bodies of loops in vectors, by LLVM's vectoriser or by codegen/wide.py."""
    blocks = re.split(r"\n(?=\S+:)", text)
    return [b for b in blocks if re.match(r"(vector\.body\S*|\S+\.wide):", b)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ufunc", [*SAMPLES, *PAIRS], ids=lambda f: f.__name__)
def test_vectorises(ufunc, dtype):
    compiled = compile_ufunc(ufunc)
    compiled(*[np.ones(4, dtype)] * ufunc.nin)
    text = compiled.inspect_llvm(compiled.signatures[0])
    bodies = loops(text)
    assert "is.fpclass.v" not in text  # LLVM makes scalars of these
    assert bodies and all(re.search(r"<\d+ x (double|float)>", b) for b in bodies)
    assert not any(re.search(r"call (?!<\d+ x \w+> @llvm)", b) for b in bodies)  # the C library is in cold blocks only


def test_inside_expressions_and_loops():
    def squares(a):
        return np.sin(a) ** 2 + np.cos(a) ** 2

    def loop(a, out):
        for i in range(len(a)):
            out[i] = np.sin(a[i]) * 2.0

    x = np.concatenate([R.uniform(-50, 50, 1000), [1e30, np.inf, np.nan, -0.0]])
    compiled = njit(squares)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(compiled(x), squares(x), rtol=1e-15)
        out = np.zeros_like(x)
        compiled_loop = njit(loop)
        compiled_loop(x, out)
        np.testing.assert_allclose(out, np.sin(x) * 2.0, rtol=1e-15, atol=1e-17)
    for f in (compiled, compiled_loop):
        assert loops(f.inspect_llvm(f.signatures[0]))


def test_fastmath_leaves_the_algorithms_alone():
    for ufunc in SAMPLES:
        x = R.uniform(0.1, 0.9, 100) + (ufunc is np.arccosh)
        np.testing.assert_allclose(njit(fastmath=True)(lambda a: ufunc(a))(x), ufunc(x), rtol=1e-14)


def test_circular_functions_of_large_numbers():
    """The expected values were computed with 1400 bits; long double is not precise enough for some of them."""
    x = np.array([6381956970095103 * 2.0**797, 1e22, 2.0**1000, -1.7976931348623157e308, 2.0**44])
    for ufunc, exact in CIRCULAR_OF_LARGE.items():
        np.testing.assert_array_max_ulp(compile_ufunc(ufunc)(x), np.array(exact), 2)


def test_exact_results():
    def same(ufunc, x, expected):
        np.testing.assert_array_equal(njit(lambda a: ufunc(a))(x), expected)

    k = np.arange(-1074, 1024)
    same(np.log2, 2.0 ** k, k)
    same(np.exp2, k.astype(float), 2.0 ** k)
    vanished = np.array([-746.0, -746.1, -1e3, -1500.0, -1e300, -np.inf])
    same(np.exp, vanished, np.zeros(6))
    same(np.exp2, vanished - 330.0, np.zeros(6))
    same(np.log10, np.array([float(f"1e{i}") for i in range(23)]), np.arange(23.0))
    same(np.log10, 10.0 ** np.arange(11, dtype=np.float32), np.arange(11, dtype=np.float32))
    same(np.cbrt, np.arange(-200.0, 200) ** 3, np.arange(-200.0, 200))


def test_exact_powers():
    whole = [(a, b) for a in range(1, 1000, 3) for b in range(15) if a**b < 2**53]
    x, y = np.array(whole, float).T
    power = njit(lambda x, y: x**y)
    np.testing.assert_array_equal(power(x, y), [float(a**b) for a, b in whole])
    squares = np.arange(1.0, 3000) ** 4
    np.testing.assert_array_equal(power(squares, np.full_like(squares, 0.5)), np.sqrt(squares))
    np.testing.assert_array_equal(power(squares, np.full_like(squares, 0.25)), np.arange(1.0, 3000))
    whole = [(a, b) for a in range(1, 1000, 3) for b in range(15) if a**b < 2**24]
    x, y = np.array(whole, np.float32).T
    np.testing.assert_array_equal(power(x, y), [np.float32(a**b) for a, b in whole])
    squares = np.arange(1, 3000, dtype=np.float32) ** 2
    np.testing.assert_array_equal(power(squares, np.full_like(squares, 0.5)), np.arange(1, 3000, dtype=np.float32))
    third, fourth = njit(lambda x: x**3), njit(lambda x: x**4)
    v = np.concatenate([R.normal(0, 10, 1000), SPECIAL])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(third(v), v**3, rtol=4e-16, atol=5e-324)
        np.testing.assert_allclose(fourth(v), v**4, rtol=4.5e-16, atol=5e-324)


def test_the_exponential_of_complex_numbers():
    parts = [0.0, -0.0, 1.0, -1.0, 5e-324, 700.5, 709.9, -745.0, -750.0, 1000.0, 1400.0, np.pi / 2, 1e10, 1e20, np.inf,
             -np.inf, np.nan]
    compiled = njit(lambda z: np.exp(z))
    rng = np.random.default_rng(5)
    special = np.array([complex(x, y) for x in parts for y in parts])
    usual = rng.uniform(-50, 50, 5000) + 1j * rng.uniform(-50, 50, 5000)
    for z in (special, usual):
        with np.errstate(all="ignore"):
            expected = np.exp(z)
        for got, wanted in ((compiled(z).real, expected.real), (compiled(z).imag, expected.imag)):
            np.testing.assert_allclose(got, wanted, rtol=1e-15, atol=1e-323)
            assert (np.signbit(got) == np.signbit(wanted))[~np.isnan(wanted)].all()
    single = usual.astype(np.complex64)
    assert compiled(single).dtype == np.complex64
    np.testing.assert_allclose(compiled(single), np.exp(single), rtol=5e-7)
