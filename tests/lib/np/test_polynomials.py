"""Polynomials as arrays of coefficients, against NumPy."""
import numpy as np
import pytest
from tests.lib.np.closely import check

from numpy.polynomial import Chebyshev, Polynomial, polynomial, polyutils

from pyjitc import njit

R = np.random.default_rng(1)
P, N, Z = np.array([1.0, -6, 11, -6]), np.array([1, 2, 3]), np.array([0, 0, 2.0, 0, -3, 1, 0, 0])
F, B, NONE = P.astype(np.float32), np.array([1, -2, 3], np.int8), np.zeros(0)
W, V = R.normal(size=4) + 1j * R.normal(size=4), R.normal(size=(3, 4))
M = R.normal(size=(4, 4))
X = np.linspace(0, 1, 9)
Y = np.sin(X * 3)
Y2 = np.stack([Y, Y * 2], 1)

CASES = {
    "polyval": (lambda p, x: np.polyval(p, x), (P, 0.5), (P, X), (N, 2), (N, N), (N, 0.5), (N, X), (P, N), (F, N),
                (N, 1j), (P, np.float32(2)), (B, B), (P, V), (F, F), (W, X)),
    "polyval list": (lambda x: np.polyval([1, 2, 3], x), (2,), (X,), (N,)),
    "add": (lambda a, b: (np.polyadd(a, b), np.polysub(a, b), np.polymul(a, b)), (P, N), (N, P), (N, N), (W, P), (Z, P),
            (np.zeros(3), P), (F, B)),
    "add list": (lambda a: (np.polyadd(a, [1, 2]), np.polysub([1.5, 2], a), np.polymul((1, 2), a), np.polyadd(a, 3)),
                 (P,), (N,)),
    "div": (lambda a, b: np.polydiv(a, b), (P, N), (N, P), (P, np.array([1.0, -1])), (W, P[:2]), (F, F[:2]),
            (N, np.array([2])), (NONE, P)),
    "der": (lambda a: (np.polyder(a), np.polyder(a, 2), np.polyder(a, 0), np.polyder(a, m=5)), (P,), (N,), (F,), (W,),
            (B,), (P[:1],)),
    "der neg": (lambda a: np.polyder(a, -1), (P,)),
    "int": (lambda a: (np.polyint(a), np.polyint(a, 2), np.polyint(a, 0), np.polyint(a, 2, k=3),
                       np.polyint(a, 2, [1.5, 2]), np.polyint(a, k=7)), (P,), (N,), (F,), (W,), (NONE,)),
    "int neg": (lambda a: np.polyint(a, -1), (P,)),
    "int k": (lambda a: np.polyint(a, 3, [1, 2]), (P,)),
    "poly": (lambda a: np.poly(a), (P,), (N,), (np.array([1+1j, 1-1j, 2]),), (W,), (NONE,), (F,),
             (P.astype(np.float16),), (M,), ((M+M.T),), (V,), (np.stack([M, M]),), (F[None, :1],)),
    "roots": (lambda a: np.roots(a), (P,), (Z,), (N,), (np.zeros(3),), (NONE,), (F,), (W,), (P[:1],),
              (np.array([0, 3.0, 0, 0]),), (np.array([1.0, 0, -1]),), (V,)),
    "vander": (lambda a: (np.vander(a), np.vander(a, 2), np.vander(a, N=5, increasing=True)), (P,), (N,), (F,), (W,),
               (B,), (np.array([True, False]),)),
    "vander2": (lambda a: np.vander(a), (V,)),
    "fit": (lambda x, y: (np.polyfit(x, y, 3), np.polyfit(x, y, 2, w=x+1)), (X, Y), (X, Y2), (X, Y+1j*X),
            (np.arange(9), np.arange(9)**2), (X.astype(np.float32), Y.astype(np.float32)), (X, Y[:4]), (X[:0], Y[:0])),
    "fit full": (lambda x, y: np.polyfit(x, y, 3, full=True), (X, Y), (X, Y2)),
    "fit cov": (lambda x, y: (np.polyfit(x, y, 2, cov=True), np.polyfit(x, y, 2, cov="unscaled")), (X, Y), (X, Y2),
                (X[:3], Y[:3])),
    "fit neg": (lambda x, y, n: np.polyfit(x, y, n), (X, Y, -1), (X, Y, 1)),
}


_LOW = {
    "sums": (lambda a, b: (polynomial.polyadd(a, b), polynomial.polysub(a, b), polynomial.polymul(a, b)),
             (P, Z), (Z, P), (Z, -Z), (P, NONE), (N, F)),
    "quotients": (lambda a, b: (polynomial.polydiv(a, b), polyutils.trimseq(a)), (P, Z), (Z, P), (P, P * 0)),
    "derivative": (lambda a, m: polynomial.polyder(a, m, scl=2), (P, 2), (P, 5), (P, 0), (P, -1)),
    "integral": (lambda a, m: polynomial.polyint(a, m, [1, 2.5], 1, 3), (N, 2), (N, 1), (N, 3)),
    "values": (lambda x, c: polynomial.polyval(x, c), (X, P)),
    "roots": (lambda a: polynomial.polyroots(a), (P,), (P[:2],), (P[:1],)),
    "power": (lambda a, n: polynomial.polypow(a, n), (P, 3), (N, 1), (Z, 0), (P, -1)),
    "limited power": (lambda a, n: polynomial.polypow(a, n, maxpower=2), (P, 2), (P, 3)),
    "as series": (lambda a, b: (polyutils.as_series([a, b]), polyutils.as_series([a], trim=False)),
                  (P, Z), (N, F), (NONE, P)),
    "series of all": (lambda a: polyutils.as_series(a), (P,), (N,), (np.arange(6.0).reshape(2, 3),), (NONE,),
                      (np.zeros((2, 0)),), (np.zeros((2, 3, 4)),),
                      ((F, P, N),), ((F, 1j, F),), ((2, [1.5, 0.0]),), ([1, 2, 3],)),
    "series of three": (lambda a, b, c: polyutils.as_series([a, b, c], trim=False), (F, P, N), (F, F, F), (F, F, 1j)),
    "domains": (lambda x, a, b: (polyutils.mapparms(a, b), polyutils.mapdomain(x, a, b)),
                (X, np.array([0.0, 1.0]), (2.0, 5)), ([1, 2], (0.0, 2), (3, 7))),
}
if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # before, a number of Python became one of NumPy
    _LOW["domains of a number"] = (lambda x, a, b: polyutils.mapdomain(x, a, b), (1.5, (0.0, 2), (3, 7)))
CASES.update({f"low {name}": case for name, case in _LOW.items()})

# Products are added in another order, and the errors of roots and fits are multiplied by the condition of their
# matrices, about 100.
TOLERANCES = {"f": 1e-4, "F": 1e-4, "d": 1e-11, "D": 1e-11, "number": 1e-12}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    function, *calls = CASES[name]
    for args in calls:
        check(function, *args, tolerances=TOLERANCES)


def test_value_of_no_coefficients_has_the_dtype_of_the_others():
    """NumPy returns zeros of the dtype of x, and an array for a number."""
    compiled = njit(lambda p, x: np.polyval(p, x))
    assert compiled(X[:0], 3) == np.polyval(X[:0], 3) == 0
    assert type(compiled(X[:0], 3)) is np.float64
    assert compiled(X[:0], np.arange(3)).tolist() == [0, 0, 0]


def test_poly1d_is_named():
    with pytest.raises(TypeError, match="np.poly1d is not compiled"):
        njit(lambda x: np.poly1d(x))(X)


SERIES = Polynomial([1.0, -2, 3]), Polynomial([2.0, 1], domain=[0.0, 4.0]), Chebyshev([1.0, 2, 0.5])


def test_objects_of_series():
    """Objects of numpy.polynomial's classes are passed as they are, and their methods are compiled."""
    def f(p, x):
        p.coef[0] += 1
        return p(x), p(x[1]), p.deriv(), p.integ(), p.coef.sum(), p.domain[1], p.degree(), len(p), p

    check = njit(f)
    for p in SERIES[:2]:
        one, other = p.copy(), p.copy()
        assert repr(check(one, X)) == repr(f(other, X)) and repr(one) == repr(other)
    p = SERIES[0]
    g = njit(lambda p, q: (p + q, p * q - 1.0, 2 * p, -p, p ** 2, divmod(p, q), p == q, Polynomial(p.coef, q.domain)))
    assert repr(g(p, p)) == repr(g.py_func(p, p))
    assert njit(lambda p: p.coef[2])(SERIES[2]) == 0.5
    with pytest.raises(TypeError) as raised:
        g(p, SERIES[1])
    with pytest.raises(TypeError) as expected:
        g.py_func(p, SERIES[1])
    assert str(raised.value).splitlines()[0] == str(expected.value) == "Domains differ"
