"""Complex numbers: gradients are the conjugates of  d/dRe + i d/dIm,  as in JAX."""
import cmath

import numpy as np
import pytest

from pyjitc import UnsupportedError, check_grads, checkpoint, custom_jvp, custom_vjp, grad, jacfwd, jacrev, jvp
from pyjitc import stop_gradient, value_and_grad, vjp, vmap

RANDOM = np.random.default_rng(3)


def normal(*shape):
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


def central(function, args, place, h=1e-6):
    """The gradient with respect to one argument, by central differences in the interpreter."""
    x = np.array(args[place])
    found = np.zeros(x.shape, x.dtype)
    for at in np.ndindex(x.shape):
        for step, unit in ((h, 1.0), (1j * h, -1j))[:2 if x.dtype.kind == "c" else 1]:
            ends = []
            for sign in (1, -1):
                moved = x.copy()
                moved[at] += sign * step
                ends.append(function(*args[:place], moved if x.ndim else moved[()].item(), *args[place + 1:]))
            found[at] += unit * (ends[0] - ends[1]) / (2 * h)
    return found


def agree(function, *args):
    value, found = value_and_grad(function, tuple(range(len(args))))(*args)
    assert value == pytest.approx(function(*args), rel=1e-12)
    tangents = [normal(*np.shape(x)) if np.iscomplexobj(x) else RANDOM.normal(size=np.shape(x)) for x in args]
    tangents = [t if isinstance(x, np.ndarray) else type(x)(t) for x, t in zip(args, tangents)]
    for n, gradient in enumerate(found):
        np.testing.assert_allclose(gradient, central(function, args, n), rtol=1e-5, atol=1e-5)
        assert np.asarray(gradient).dtype == np.asarray(args[n]).dtype
    _, change = jvp(function, args, tangents)
    assert change == pytest.approx(sum(np.sum(np.asarray(g) * t).real for g, t in zip(found, tangents)), rel=1e-9)


def horner(x, z):
    s = 0j
    for i in range(len(x)):
        s = s * z + x[i]
    return s.real ** 2 + s.imag


def recurrence(x):
    y = np.zeros(len(x), np.complex128)
    for _ in range(3):
        for i in range(1, len(x)):
            y[i] = y[i - 1] * x[i] + x[i - 1]
    return abs(y[-1])


def parts(x):
    u, v = x.real.copy(), x.imag
    u[1:] += v[:-1] ** 2
    return np.sum(u * v) + np.mean(np.sin(x) * 1j).imag


def chosen(x):
    w = np.where(x.real > 0, x * x, 1 / x)
    return np.sum(w.imag * w.real) + (np.sum(x[:-1] * x[1:]) * np.prod(x)).real


def of_cmath(x):
    return (cmath.sqrt(x) * cmath.log(x) + cmath.atan(x) * cmath.tanh(x) + cmath.acosh(x) * cmath.asin(x)
            + cmath.phase(x) + cmath.polar(x)[0]).imag


def of_numpy(x):
    return abs(
        np.arcsin(x) + np.arccos(x) ** 2 + np.arctan(x) * np.arcsinh(x) + np.arccosh(x) * np.arctanh(x) + np.tan(x)
        + np.cosh(x) * np.sinh(x) - np.tanh(x) * np.cos(x) + np.log(x) + np.log10(x) + np.power(x, 1 + .2j))


def products(a, b):
    return abs(np.sum(np.linalg.solve(a, b))) + abs(np.linalg.inv(a)[0, 1]) + (a @ b)[1].real + abs((a @ a)[1, 2])


def spectra(x):
    return np.sum(np.fft.irfft(np.fft.ifft(np.fft.rfft(x), 5) * (1 + 2j), 5) ** 3)


@pytest.mark.parametrize("function, args", [
    (lambda z: abs(z * z + 2j * z) / (z.real + 3.0), (1.2 - 0.4j,)),
    (horner, (np.linspace(0.3, 1.0, 5), 0.4 + 0.8j)), (recurrence, (normal(6),)),
    (parts, (normal(5),)), (chosen, (normal(5),)), (of_cmath, (0.3 + 0.6j,)), (of_numpy, (0.3 + 0.6j,)),
    (products, (normal(3, 3), normal(3))), (spectra, (np.sin(np.arange(6.0)),))],
    ids=lambda x: getattr(x, "__name__", ""))
def test_gradients(function, args):
    agree(function, *args)


def test_conventions_are_those_of_jax():
    value, pullback = vjp(lambda z: z * z * (1 + 2j), 1 + 2j)
    assert value == (1 + 2j) ** 2 * (1 + 2j) and pullback(1 + 3j) == ((1 + 3j) * 2 * (1 + 2j) * (1 + 2j),)
    assert grad(lambda z: abs(z * stop_gradient(z)))(1 + 2j) == pytest.approx(1 - 2j)
    assert jvp(lambda z: z * z, (1 + 2j,), (1.0,)) == (-3 + 4j, 2 + 4j)
    check_grads(lambda z: abs(z) ** 2, (1 + 2j,))
    assert grad(lambda x: np.fft.irfft(x)[1])(np.ones(3)).dtype == np.float64
    z = normal(3)
    np.testing.assert_allclose(vmap(grad(lambda z: abs(z) ** 2))(z), 2 * z.conj())
    short = z.astype(np.complex64)
    found = grad(lambda z: np.sum(np.abs(z) ** 2))(short)
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, 2 * short.conj(), rtol=1e-6)


def test_rules_of_the_program_take_what_vjp_takes():
    thrice = custom_vjp(lambda z: z * z)
    thrice.defvjp(lambda z: (z * z, z), lambda z, g: (g * 3 * z,))
    assert vjp(thrice, 1 + 2j)[1](1 + 3j) == ((1 + 3j) * 3 * (1 + 2j),)
    square = custom_jvp(lambda z: z * z)
    square.defjvp(lambda primals, tangents: (primals[0] * primals[0], 2 * primals[0] * tangents[0]))
    expected = grad(lambda z: abs(z * z + z))(1 + 2j)
    assert grad(lambda z: abs(square(z) + z))(1 + 2j) == pytest.approx(expected)
    again = checkpoint(lambda z: z * z)
    assert grad(lambda z: abs(again(z) + z))(1 + 2j) == pytest.approx(expected)


def test_what_has_no_meaning_is_refused():
    z = normal(3)
    with pytest.raises(TypeError, match="a Jacobian by complex numbers"):
        jacfwd(lambda z: np.abs(z) ** 2)(z)
    with pytest.raises(TypeError, match="one row of a Jacobian for each real number"):
        jacrev(lambda x: x * 1j)(np.ones(2))
    with pytest.raises(TypeError, match="holomorphic=True is for functions of complex numbers"):
        grad(lambda x: x * x, holomorphic=True)(2.0)
    assert grad(lambda z: z * z, holomorphic=True)(2 + 1j) == 4 + 2j
    for made in (jacfwd, jacrev):
        np.testing.assert_allclose(made(lambda z: z * z, holomorphic=True)(z), np.diag(2 * z))
    np.testing.assert_allclose(jacfwd(lambda x: x * 1j * x)(np.array([1.0, 2.0])), np.diag([2j, 4j]))
    with pytest.raises(UnsupportedError, match="no derivative of the operation blas of complex numbers"):
        grad(lambda a: np.linalg.svd(a, compute_uv=False)[0])(np.outer(z, z))
