"""Distributions of RandomState that NumPy does not export as C functions: its streams are frozen, so these
implementations must not change either.

Source: NumPy's numpy/random/src/legacy/legacy-distributions.c; the algorithms are named at each function.
"""
from __future__ import annotations

from ....ops.arith import CAST, FDIV, FREM, IADD, ISUB
from ....ops.math import ACOS, CEIL, COS, EXP, FABS, FLOOR, LOG, LOG1P, POW, SQRT
from ....ops.random import GAUSS_GET, GAUSS_KEPT, GAUSS_PUT, RANDOM_CALL, REJECTING
from ....types.kinds import Float, Int
from ...build import outlined
from .random_distributions import DRAWS, double

__all__ = ["LEGACY", "gauss", "binomial", "hypergeometric"]


@outlined
def gauss(gen):
    """Marsaglia's polar method; the second number of each pair is kept in the object."""
    if GAUSS_GET(gen):
        kept = GAUSS_KEPT(gen)
        GAUSS_PUT(gen, False, 0.0)
        return kept
    while True:
        x1 = 2.0 * double(gen) - 1.0
        x2 = 2.0 * double(gen) - 1.0
        r2 = x1 * x1 + x2 * x2
        if r2 < 1.0 and r2 != 0.0:
            break
    f = SQRT(FDIV(-2.0 * LOG(r2), r2))
    GAUSS_PUT(gen, True, f * x1)
    return f * x2


def standard_exponential(gen):
    return -LOG(1.0 - double(gen))


@outlined
def standard_gamma(gen, shape):
    """Marsaglia and Tsang's method; Ahrens and Dieter's below 1."""
    shape = REJECTING(shape)
    if shape == 1.0:
        return standard_exponential(gen)
    if shape == 0.0:
        return 0.0
    if shape < 1.0:
        while True:
            u = double(gen)
            v = standard_exponential(gen)
            if u <= 1.0 - shape:
                x = POW(u, FDIV(1.0, shape))
                if x <= v:
                    return x
            else:
                y = -LOG(FDIV(1.0 - u, shape))
                x = POW(1.0 - shape + shape * y, FDIV(1.0, shape))
                if x <= v + y:
                    return x
    b = shape - 1.0 / 3.0
    c = FDIV(1.0, SQRT(9.0 * b))
    while True:
        while True:
            x = gauss(gen)
            v = 1.0 + c * x
            if not v <= 0.0:
                break
        v = v * v * v
        u = double(gen)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if LOG(u) < 0.5 * x * x + b * (1.0 - v + LOG(v)):
            return b * v


def exponential(gen, scale):
    return scale * standard_exponential(gen)


def gamma(gen, shape, scale):
    return scale * standard_gamma(gen, shape)


def normal(gen, loc, scale):
    return loc + scale * gauss(gen)


def lognormal(gen, mean, sigma):
    return EXP(normal(gen, mean, sigma))


def pareto(gen, a):
    return EXP(FDIV(standard_exponential(gen), a)) - 1.0


def weibull(gen, a):
    if a == 0.0:
        return 0.0
    return POW(standard_exponential(gen), FDIV(1.0, a))


def power(gen, a):
    return POW(1.0 - EXP(-standard_exponential(gen)), FDIV(1.0, a))


def chisquare(gen, df):
    return 2.0 * standard_gamma(gen, FDIV(df, 2.0))


def rayleigh(gen, scale):
    return scale * SQRT(-2.0 * LOG1P(-double(gen)))


def noncentral_chisquare(gen, df, nonc):
    if nonc == 0.0:
        return chisquare(gen, df)
    if 1.0 < df:
        central = chisquare(gen, df - 1.0)
        n = gauss(gen) + SQRT(nonc)
        return central + n * n
    i = RANDOM_CALL(gen, FDIV(REJECTING(nonc), 2.0), symbol="random_poisson", result=Int)
    out = chisquare(gen, df + CAST(IADD(i, i), type=Float))
    return nonc if nonc != nonc else out


def noncentral_f(gen, dfnum, dfden, nonc):
    t = noncentral_chisquare(gen, dfnum, nonc) * dfden
    return FDIV(t, chisquare(gen, dfden) * dfnum)


def f(gen, dfnum, dfden):
    t = chisquare(gen, dfnum) * dfden
    return FDIV(t, chisquare(gen, dfden) * dfnum)


def wald(gen, mean, scale):
    """Michael, Schucany and Haas's transformation."""
    mean, scale = REJECTING(mean), REJECTING(scale)
    mu_2l = FDIV(mean, 2.0 * scale)
    y = gauss(gen)
    y = mean * y * y
    x = mean + mu_2l * (y - SQRT(4.0 * scale * y + y * y))
    u = double(gen)
    if u <= FDIV(mean, mean + x):
        return x
    return FDIV(mean * mean, x)


def standard_t(gen, df):
    num = gauss(gen)
    denom = standard_gamma(gen, FDIV(df, 2.0))
    return FDIV(SQRT(FDIV(df, 2.0)) * num, SQRT(denom))


def standard_cauchy(gen):
    num = gauss(gen)
    return FDIV(num, gauss(gen))


@outlined
def beta(gen, a, b):
    """Johnk's method where both are at most 1, else by two gammas."""
    a, b = REJECTING(a), REJECTING(b)
    if a <= 1.0 and b <= 1.0:
        while True:
            u = double(gen)
            v = double(gen)
            x = POW(u, FDIV(1.0, a))
            y = POW(v, FDIV(1.0, b))
            if x + y <= 1.0:
                if x + y > 0.0:
                    return FDIV(x, x + y)
                log_x = FDIV(LOG(u), a)
                log_y = FDIV(LOG(v), b)
                log_m = log_x if log_x > log_y else log_y
                log_x -= log_m
                log_y -= log_m
                return EXP(log_x - LOG(EXP(log_x) + EXP(log_y)))
    x = standard_gamma(gen, a)
    y = standard_gamma(gen, b)
    return FDIV(x, x + y)


@outlined
def vonmises(gen, mu, kappa):
    """Best and Fisher's method."""
    pi, kappa = 3.141592653589793, REJECTING(kappa)
    if kappa != kappa:
        return kappa
    if kappa < 1e-8:
        return pi * (2.0 * double(gen) - 1.0)
    if kappa < 1e-5:
        s = FDIV(1.0, kappa) + kappa
    else:
        r = 1.0 + SQRT(1.0 + 4.0 * kappa * kappa)
        rho = FDIV(r - SQRT(2.0 * r), 2.0 * kappa)
        s = FDIV(1.0 + rho * rho, 2.0 * rho)
    while True:
        z = COS(pi * double(gen))
        w = FDIV(1.0 + s * z, s + z)
        y = kappa * (s - w)
        v = double(gen)
        if y * (2.0 - y) - v >= 0.0 or LOG(FDIV(y, v)) + 1.0 - y >= 0.0:
            break
    result = ACOS(w)
    if double(gen) < 0.5:
        result = -result
    result += mu
    mod = FREM(FABS(result) + pi, 2.0 * pi) - pi
    return -mod if result < 0.0 else mod


def negative_binomial(gen, n, p):
    y = gamma(gen, n, FDIV(1.0 - p, p))
    return RANDOM_CALL(gen, y, symbol="random_poisson", result=Int)


def to_int(x):
    """A double converted to C's long; beyond its range the smallest long, as x86 instructions give it."""
    if x >= 9223372036854775808.0 or not x >= -9223372036854775808.0:
        return ISUB(-9223372036854775807, 1)
    return CAST(x, type=Int)


@outlined
def zipf(gen, a):
    am1 = a - 1.0
    b = POW(2.0, am1)
    while True:
        u = 1.0 - double(gen)
        v = double(gen)
        x = FLOOR(POW(u, FDIV(-1.0, am1)))
        if x > 9223372036854775807.0 or x < 1.0:
            continue
        t = POW(1.0 + FDIV(1.0, x), am1)
        if FDIV(v * x * (t - 1.0), b - 1.0) <= FDIV(t, b):
            return to_int(x)


def geometric(gen, p):
    if p >= 0.3333333333333333:
        return RANDOM_CALL(gen, p, symbol="random_geometric_search", result=Int)
    return to_int(CEIL(FDIV(LOG1P(-double(gen)), LOG(1.0 - p))))


@outlined
def logseries(gen, p):
    r = LOG(1.0 - p)
    while True:
        v = double(gen)
        if v >= p:
            return 1
        u = double(gen)
        q = 1.0 - EXP(r * u)
        if v <= q * q:
            result = to_int(FLOOR(1.0 + FDIV(LOG(v), LOG(q))))
            if result < 1 or v == 0.0:
                continue
            return result
        if v >= q:
            return 1
        return 2


def binomial_inversion(gen, n, p):
    q = 1.0 - p
    m = CAST(n, type=Float)
    qn = EXP(m * LOG(q))
    np_ = m * p
    reach = np_ + 10.0 * SQRT(np_ * q + 1.0)
    bound = n if m < reach else CAST(reach, type=Int)
    x = 0
    px = qn
    u = double(gen)
    while u > px:
        x = IADD(x, 1)
        if x > bound:
            x = 0
            px = qn
            u = double(gen)
        else:
            u -= px
            px = FDIV(CAST(IADD(ISUB(n, x), 1), type=Float) * p * px, CAST(x, type=Float) * q)
    return x


def stirling(x):
    """A term of the error of Stirling's formula."""
    x2 = x * x
    inner = 462.0 - FDIV(132.0 - FDIV(99.0 - FDIV(140.0, x2), x2), x2)
    return FDIV(FDIV(13680.0 - FDIV(inner, x2), x), 166320.0)


def binomial_btpe(gen, count, p):
    """Kachitvichyanukul and Schmeiser's algorithm BTPE; all four error terms are added, since the frozen stream depends
    on that."""
    n = CAST(count, type=Float)
    r = p if p < 1.0 - p else 1.0 - p
    q = 1.0 - r
    fm = n * r + r
    middle = CAST(FLOOR(fm), type=Int)
    m = CAST(middle, type=Float)
    p1 = FLOOR(2.195 * SQRT(n * r * q) - 4.6 * q) + 0.5
    xm = m + 0.5
    xl = xm - p1
    xr = xm + p1
    c = 0.134 + FDIV(20.5, 15.3 + m)
    a = FDIV(fm - xl, fm - xl * r)
    laml = a * (1.0 + FDIV(a, 2.0))
    a = FDIV(xr - fm, xr * q)
    lamr = a * (1.0 + FDIV(a, 2.0))
    p2 = p1 * (1.0 + 2.0 * c)
    p3 = p2 + FDIV(c, laml)
    p4 = p3 + FDIV(c, lamr)
    nrq = n * r * q
    while True:
        u = double(gen) * p4
        v = double(gen)
        if u <= p1:
            y = to_int(FLOOR(xm - p1 * v + u))
            break
        if u <= p2:
            x = xl + FDIV(u - p1, c)
            v = v * c + 1.0 - FDIV(FABS(m - x + 0.5), p1)
            if v > 1.0:
                continue
            y = to_int(FLOOR(x))
        elif u <= p3:
            y = to_int(FLOOR(xl + FDIV(LOG(v), laml)))
            if y < 0 or v == 0.0:
                continue
            v = v * (u - p2) * laml
        else:
            y = to_int(FLOOR(xr - FDIV(LOG(v), lamr)))
            if y > count or v == 0.0:
                continue
            v = v * (u - p3) * lamr
        k = ISUB(y, middle) if y > middle else ISUB(middle, y)
        z = CAST(k, type=Float)
        if not (k > 20 and z < FDIV(nrq, 2.0) - 1.0):
            s = FDIV(r, q)
            a = s * (n + 1.0)
            f_ = 1.0
            for i in range(IADD(middle, 1), IADD(y, 1)):
                f_ *= FDIV(a, CAST(i, type=Float)) - s
            for i in range(IADD(y, 1), IADD(middle, 1)):
                f_ = FDIV(f_, FDIV(a, CAST(i, type=Float)) - s)
            if v > f_:
                continue
            break
        rho = FDIV(z, nrq) * (FDIV(z * (FDIV(z, 3.0) + 0.625) + 0.16666666666666666, nrq) + 0.5)
        t = FDIV(-z * z, 2.0 * nrq)
        bound = LOG(v)
        if bound < t - rho:
            break
        if bound > t + rho:
            continue
        yf = CAST(y, type=Float)
        x1 = yf + 1.0
        f1 = m + 1.0
        z1 = n + 1.0 - m
        w = n - yf + 1.0
        if bound > xm * LOG(FDIV(f1, x1)) + (n - m + 0.5) * LOG(FDIV(z1, w)) + (yf - m) * LOG(FDIV(w * r, x1 * q)) + \
                stirling(f1) + stirling(z1) + stirling(x1) + stirling(w):
            continue
        break
    return ISUB(count, y) if p > 0.5 else y


@outlined
def binomial(gen, p, n):
    if p <= 0.5:
        if p * CAST(n, type=Float) <= 30.0:
            return binomial_inversion(gen, n, p)
        return binomial_btpe(gen, n, p)
    q = 1.0 - p
    if q * CAST(n, type=Float) <= 30.0:
        return ISUB(n, binomial_inversion(gen, n, q))
    return ISUB(n, binomial_btpe(gen, n, q))


def log_factorial(gen, n):
    return RANDOM_CALL(gen, CAST(IADD(n, 1), type=Float), symbol="random_loggam", result=Float, bare=True)


@outlined
def hypergeometric(gen, good, bad, count):
    """Small samples are drawn one object at a time; large ones by Stadlober's algorithm HRUA*."""
    if count <= 0:
        return 0
    less = min(good, bad)
    more = max(good, bad)
    total = IADD(good, bad)
    if count <= 10:
        rest = CAST(ISUB(total, count), type=Float)
        y = CAST(less, type=Float)
        k = count
        while y > 0.0:
            y -= FLOOR(double(gen) + FDIV(y, rest + CAST(k, type=Float)))
            k = ISUB(k, 1)
            if k == 0:
                break
        z = CAST(CAST(less, type=Float) - y, type=Int)
        return ISUB(count, z) if good > bad else z
    m = min(count, ISUB(total, count))
    mf = CAST(m, type=Float)
    d4 = FDIV(CAST(less, type=Float), CAST(total, type=Float))
    d5 = 1.0 - d4
    d6 = mf * d4 + 0.5
    d7 = SQRT(FDIV(CAST(ISUB(total, m), type=Float) * CAST(count, type=Float) * d4 * d5,
                   CAST(ISUB(total, 1), type=Float)) + 0.5)
    d8 = 1.7155277699214135 * d7 + 0.8989161620588988
    mode = CAST(FLOOR(FDIV((mf + 1.0) * CAST(IADD(less, 1), type=Float), CAST(IADD(total, 2), type=Float))), type=Int)
    d10 = log_ways(gen, mode, less, m, more)
    d11 = FLOOR(d6 + 16.0 * d7)
    bound = CAST(min(m, less), type=Float) + 1.0
    if bound < d11:
        d11 = bound
    while True:
        x = double(gen)
        y = double(gen)
        w = d6 + FDIV(d8 * (y - 0.5), x)
        if w < 0.0 or w >= d11:
            continue
        z = CAST(FLOOR(w), type=Int)
        t = d10 - log_ways(gen, z, less, m, more)
        if x * (4.0 - x) - 3.0 <= t:
            break
        if x * (x - t) >= 1.0:
            continue
        if 2.0 * LOG(x) <= t:
            break
    if good > bad:
        z = ISUB(m, z)
    if m < count:
        z = ISUB(good, z)
    return z


def log_ways(gen, z, less, m, more):
    return log_factorial(gen, z) + log_factorial(gen, ISUB(less, z)) + log_factorial(gen, ISUB(m, z)) + \
        log_factorial(gen, IADD(ISUB(more, m), z))


_OWN = (gauss, standard_exponential, standard_gamma, exponential, gamma, normal, lognormal, pareto, weibull, power,
        chisquare, rayleigh, noncentral_chisquare, noncentral_f, f, wald, standard_t, standard_cauchy, beta, vonmises,
        negative_binomial, zipf, geometric, logseries, binomial, hypergeometric)
LEGACY = dict(DRAWS)
LEGACY |= {("standard_normal" if g is gauss
            else g.__name__): (g, LEGACY["standard_normal" if g is gauss else g.__name__][1]) for g in _OWN}
LEGACY["negative_binomial"] = (negative_binomial, "n:positive p:bounded_0_1")
LEGACY["hypergeometric"] = (hypergeometric, "ngood:non_negative! nbad:non_negative! nsample:gte_1!")
