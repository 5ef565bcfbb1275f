"""Derivatives of factorisations, and of sorting."""
import math

import numpy as np
import pytest

from pyjitc import UnsupportedError, grad, jvp

from .differences import agree

R = np.random.default_rng(3)
TALL, W, V = R.normal(size=(4, 3)), R.normal(size=(4, 3)), R.normal(size=(3, 3))
H = V @ V.T + 3.0 * np.eye(3)


def test_of_symmetric_matrices():
    """LAPACK reads only one triangle, so finite differences depend on that triangle alone."""
    def f(h):
        w, v = np.linalg.eigh(h)
        return (np.sum(np.linalg.cholesky(h) * V + w * w + np.abs(v * V))
                + np.linalg.slogdet(h)[1] + np.linalg.eigvalsh(h, UPLO="U")[0])

    agree(f, H)


def test_of_tall_matrices():
    def f(a):
        q, r = np.linalg.qr(a)
        u, s, vt = np.linalg.svd(a, full_matrices=False)
        return np.sum(q * W + (u * s) @ vt * W + np.abs(u * W)) + np.sum(r * V + s * s + np.abs(vt * V))

    agree(f, TALL)


def test_of_wide_matrices():
    def f(a):
        q, r = np.linalg.qr(a)
        return np.sum(q * V) + np.sum(r ** 3)

    agree(f, TALL.T.copy())


@pytest.mark.parametrize("a", [TALL, TALL.T.copy(), V, TALL[:, :1].copy()], ids=["tall", "wide", "square", "column"])
def test_of_all_singular_vectors(a):
    """Those beyond the singular values are any basis of a space: the projection to it is unique."""
    def f(a):
        u, s, vt = np.linalg.svd(a)
        n = len(s)
        rest = np.sin(u[:, n:] @ u[:, n:].T) @ W @ np.arange(3.0) if len(u) == 4 else np.zeros(4)
        if len(vt) == 4:
            rest = rest + np.sin(vt[n:].T @ vt[n:]) @ W @ np.arange(3.0)
        return np.sum(s ** 3) + np.sum(np.abs(u[:, :n] * (1.0 + s))) + np.sum(np.abs(vt[:n]) ** 3) + rest @ W[:, 0]

    agree(f, a)


def general(a):
    w, v = np.linalg.eig(a)
    k = np.arange(float(len(w)))
    return (np.sum(np.abs(w) ** 2) + np.sum(w ** 3).real + np.sum(np.abs(v) ** 3) + np.sum(v.real * k)
            + np.sum(v.imag ** 2 * k) + np.sum(np.abs(np.linalg.eigvals(a) - 1.0)))


@pytest.mark.parametrize("a", [R.normal(size=(4, 4)), R.normal(size=(3, 3)) + np.diag([9.0, 5.0, 1.0]),
                               np.array([[0.0, 1.0], [-2.0, 0.3]])], ids=["mixed", "real", "complex"])
def test_of_general_matrices(a):
    """Both of a matrix whose eigenvalues are real and of one where they are not."""
    agree(general, a)
    t = R.normal(size=a.shape)
    gradient = grad(general)
    step = 1e-6
    wanted = (gradient(a + step * t) - gradient(a - step * t)) / (2 * step)
    np.testing.assert_allclose(jvp(gradient, (a,), (t,))[1], wanted, rtol=1e-5, atol=1e-5 * np.max(np.abs(wanted)))


def test_of_general_complex_matrices():
    a, t = (R.normal(size=(3, 3)) + 1j * R.normal(size=(3, 3)) for _ in range(2))
    step = 1e-6
    wanted = (general(a + step * t) - general(a - step * t)) / (2 * step)
    assert np.sum(grad(general)(a) * t).real == pytest.approx(wanted, rel=1e-6)
    assert jvp(general, (a,), (t,))[1] == pytest.approx(wanted, rel=1e-6)


def test_of_roots():
    def f(p):
        return np.sum(np.abs(np.roots(p)) ** 3)

    agree(f, np.array([1.0, 0.3, -2.0, 0.5]))
    agree(f, np.array([2.0, 0.3, 1.0, 0.5, 3.0]))
    np.testing.assert_allclose(grad(lambda a: np.sum(np.linalg.eigvals(a).real))(H), np.eye(3), atol=1e-12)


def test_what_has_none():
    # equal eigenvalues have no unique vectors; functions that do not use the vectors still have a derivative
    np.testing.assert_allclose(grad(lambda a: np.sum(np.linalg.eigh(a)[0]))(np.eye(2)), np.eye(2))


def test_bits_of_numbers_that_vary():
    with pytest.raises(UnsupportedError, match="there is no derivative of the operation bits yet"):
        grad(lambda x: (np.float64(x).view(np.int64) ^ 3).view(np.float64))(3.0)


def test_parts_of_numbers():
    def f(x):
        return math.frexp(x)[0] * x + np.frexp(x)[0] ** 2

    for x in (5.0, -0.3, 1e300, 3e-308):
        _, exponent = math.frexp(x)
        scale = 2.0 ** -exponent if x > 1e-300 or x < 0 else 2.0 ** 1000 * 2.0 ** (-exponent - 1000)
        assert grad(f)(x) == pytest.approx(2.0 * x * scale + 2.0 * x * scale * scale, rel=1e-12)
    x = np.array([5.0, -3.0, 0.1], np.float32)
    found = grad(lambda x: np.sum(np.frexp(x)[0] ** 2))(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 2.0 * x / np.array([64.0, 16.0, 1 / 64]), rtol=1e-6)


def test_positions_of_a_partition():
    def f(a):
        places = np.argpartition(a, 1, axis=-1)
        return np.sum(np.take_along_axis(a, places, -1)[:, :2] ** 2) + a[0, np.argpartition(a[0], 2)[2]]

    agree(f, TALL)
    agree(f, np.asfortranarray(TALL))
    agree(lambda a: np.sum(np.take_along_axis(a, np.argpartition(a, 1, axis=0), 0)[1] ** 3), TALL)


def test_determinants_of_singular_matrices():
    derivative = grad(np_det)
    np.testing.assert_allclose(derivative(V), np.linalg.det(V) * np.linalg.inv(V).T, rtol=1e-12)
    np.testing.assert_array_equal(derivative(np.array([[1.0, 2.0], [2.0, 4.0]])), [[4.0, -2.0], [-2.0, 1.0]])
    assert jvp(np_det, (np.array([[1.0, 2.0], [2.0, 4.0]]),), (np.array([[1.0, 0.0], [3.0, 0.0]]),))[1] == -2.0


def np_det(a):
    return np.linalg.det(a)


def test_sorting():
    def f(a):
        return np.sum(np.sort(a) * W + np.sort(a, axis=0)[1] ** 2) + np.median(a)

    agree(f, TALL)
    agree(f, np.asfortranarray(TALL))
    agree(lambda a: np.sum(np.sort(np.asfortranarray(a)) ** 3 * a), TALL)


def test_least_squares():
    def f(a, b):
        x, rest, _, s = np.linalg.lstsq(a, b)
        return np.sum(x ** 3) + np.sum(rest ** 2) + np.sum(s * np.arange(len(s)))

    agree(f, TALL, TALL[:, 0] ** 2)


def test_sets():
    def f(v, w):
        return np.sum(np.unique(v, return_index=True)[0] ** 2) + np.setxor1d(v, w)[3]

    agree(f, np.array([3.0, 1.0, 2.0, 1.5]), np.array([2.1, 5.0, 3.3]))


def test_products_of_stacks():
    def f(a, b, v):
        found = a @ b  # axes of length 1 and missing axes are broadcast
        return np.sum(np.einsum("sijk,sikl->sijl", found, b)) + np.sum((a @ v) ** 2) + np.sum((v @ b) ** 3)

    agree(f, R.normal(size=(2, 1, 3, 3)), R.normal(size=(2, 2, 3, 3)), V[0])
    agree(lambda a: np.sum(np.linalg.inv(a) @ V), np.stack((H, 2.0 * V)))
