"""The derivatives of factorisations of matrices, which are the first argument of functions that are not inlined: of
real matrices, and of complex ones for the eigenvalues of general matrices.

F_tangent(a, a_t) and F_backward(a, result, g) of each function F that `by_value` names, see ops/derivative.py. Cholesky
factors and eigenvalues of symmetric matrices depend on one triangle of the matrix only, since LAPACK does not read the
other one: so do their derivatives. Eigenvectors of a multiple eigenvalue have no derivative: the result is infinite or
nan.
"""
from __future__ import annotations

import numpy as np

from .eigen import eigen_lower, eigen_upper, general_parts
from .linalg import determinant, full_parts, log_determinant, lower_factor, reduced_qr, singular_parts
from .matrices import fitted_columns

__all__: list[str] = []


def symmetric_lower(x):
    """The symmetric matrix with the lower triangle of x."""
    return np.tril(x) + np.tril(x, -1).T


def folded_lower(x):
    """The adjoint of `symmetric_lower`."""
    return np.tril(x + x.T) - np.diag(np.diag(x))


def half_lower(x):
    return np.tril(x, -1) + np.diag(0.5 * np.diag(x))


def gaps(w):
    """1 / (w[j] - w[i]), and 0 on the diagonal."""
    found = np.zeros((len(w), len(w)))
    for i in range(len(w)):
        for j in range(len(w)):
            if i != j:
                d = w[j] - w[i]
                found[i, j] = np.inf if d == 0.0 else 1.0 / d
    return found


def times(factors, x):
    """factors * x elementwise, with 0 where x is 0."""
    found = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] != 0.0:
                found[i, j] = factors[i, j] * x[i, j]
    return found


# -- determinants


def log_determinant_tangent(a, a_t):
    return None, np.sum(np.linalg.inv(a).T * a_t)


def log_determinant_backward(a, result, g):
    return (g[1] * np.linalg.inv(a).T,)


def determinant_tangent(a, a_t):
    return np.sum(cofactors(a) * a_t)


def determinant_backward(a, result, g):
    return (g * cofactors(a),)


def cofactors(a):
    sign, total = log_determinant(a)
    if total > -np.inf:
        return np.linalg.inv(a).T * (sign * np.exp(total))
    n = a.shape[0]  # a singular matrix has no inverse
    found, rest = np.empty((n, n), a.dtype), np.empty((n - 1, n - 1), a.dtype)
    for i in range(n):
        for j in range(n):
            for p in range(n - 1):
                for q in range(n - 1):
                    rest[p, q] = a[p + (p >= i), q + (q >= j)]
            found[i, j] = determinant(rest) * (1 if (i + j) % 2 == 0 else -1)
    return found


# -- cholesky


def lower_factor_tangent(a, a_t):
    low = lower_factor(a)
    x = np.linalg.solve(low, symmetric_lower(a_t))
    return low @ half_lower(np.linalg.solve(low, x.T).T)


def lower_factor_backward(a, low, g):
    x = np.linalg.solve(low.T, half_lower(low.T @ g))
    return (folded_lower(np.linalg.solve(low.T, x.T).T * 0.5 + np.linalg.solve(low.T, x.T) * 0.5),)


def upper_factor_tangent(a, a_t):
    return np.ascontiguousarray(lower_factor_tangent(a.T, a_t.T).T)


def upper_factor_backward(a, up, g):
    return (lower_factor_backward(a.T, up.T, g.T)[0].T,)


# -- qr


def reduced_qr_tangent(a, a_t):
    q, r = reduced_qr(a)
    few = len(r)
    c = np.linalg.solve(r[:, :few].T, a_t[:, :few].T).T
    m = q.T @ c
    turn = np.tril(m, -1) - np.tril(m, -1).T
    q_t = c - q @ m + q @ turn
    return q_t, q_t.T @ a + q.T @ a_t


def reduced_qr_backward(a, result, g):
    """The columns of r beyond the square part are q.T @ a, where q is that of the first columns of a."""
    q, r = result
    q_, r_ = g
    few = len(r)
    q_ = q_ + a[:, few:] @ r_[:, few:].T
    m = r[:, :few] @ r_[:, :few].T - q_.T @ q
    x = q_ + q @ (np.tril(m) + np.tril(m, -1).T)
    found = np.empty(a.shape)
    found[:, :few] = np.linalg.solve(r[:, :few], x.T).T
    found[:, few:] = q @ r_[:, few:]
    return (found,)


# -- singular values


def singular_parts_tangent(a, a_t):
    u, s, vt = singular_parts(a)
    p = u.T @ a_t @ vt.T
    f = gaps(s * s)
    u_t = u @ times(f, p * s + s.reshape(-1, 1) * p.T)
    v_t = vt.T @ times(f, s.reshape(-1, 1) * p + p.T * s)
    if a.shape[0] > a.shape[1]:
        x = a_t @ vt.T / s
        u_t = u_t + x - u @ (u.T @ x)
    elif a.shape[0] < a.shape[1]:
        x = a_t.T @ u / s
        v_t = v_t + x - vt.T @ (vt @ x)
    return u_t, np.diag(p).copy(), np.ascontiguousarray(v_t.T)


def singular_parts_backward(a, result, g):
    u, s, vt = result
    u_, s_, vt_ = g
    f, v_ = gaps(s * s), vt_.T
    x, y = u.T @ u_, vt @ v_
    inner = times(f, x - x.T) * s + s.reshape(-1, 1) * times(f, y - y.T) + np.diag(s_)
    found = u @ inner @ vt
    if a.shape[0] > a.shape[1]:
        found = found + (u_ - u @ x) / s @ vt
    elif a.shape[0] < a.shape[1]:
        found = found + u / s @ (v_ - vt.T @ y).T
    return (found,)


def full_parts_tangent(a, a_t):
    """The vectors without a singular value are an arbitrary basis of their space. Of the tangents that they may have,
    this is the one that turns the space, but not the vectors within it."""
    u, s, vt = full_parts(a)
    few = len(s)
    p = u.T @ a_t @ vt.T
    f, inner = gaps(s * s), p[:few, :few]
    turn_u, turn_v = np.zeros(u.shape), np.zeros(vt.shape)
    turn_u[:few, :few] = times(f, inner * s + s.reshape(-1, 1) * inner.T)
    turn_v[:few, :few] = times(f, s.reshape(-1, 1) * inner + inner.T * s)
    turn_u[few:, :few] = p[few:, :few] / s
    turn_u[:few, few:] = -turn_u[few:, :few].T
    turn_v[few:, :few] = p[:few, few:].T / s
    turn_v[:few, few:] = -turn_v[few:, :few].T
    return u @ turn_u, np.diag(inner).copy(), np.ascontiguousarray((vt.T @ turn_v).T)


def full_parts_backward(a, result, g):
    u, s, vt = result
    u_, s_, vt_ = g
    few = len(s)
    f, x, y = gaps(s * s), u.T @ u_, vt @ vt_.T
    x, y = x - x.T, y - y.T
    p_ = np.zeros(a.shape)
    p_[:few, :few] = times(f, x[:few, :few]) * s + s.reshape(-1, 1) * times(f, y[:few, :few]) + np.diag(s_)
    p_[few:, :few] = x[few:, :few] / s
    p_[:few, few:] = (y[few:, :few] / s).T
    return (u @ p_ @ vt,)


def singular_values_of_tangent(a, a_t):
    u, s, vt = singular_parts(a)
    return np.diag(u.T @ a_t @ vt.T).copy()


def singular_values_of_backward(a, s, g):
    u, _, vt = singular_parts(a)
    return ((u * g) @ vt,)


# -- eigenvalues


def eigen_lower_tangent(a, a_t):
    w, v = eigen_lower(a)
    m = v.T @ symmetric_lower(a_t) @ v
    return np.diag(m).copy(), v @ times(gaps(w), m)


def eigen_lower_backward(a, result, g):
    w, v = result
    w_, v_ = g
    return (folded_lower(v @ (np.diag(w_) + times(gaps(w), v.T @ v_)) @ v.T),)


def eigen_upper_tangent(a, a_t):
    w, v = eigen_upper(a)
    m = v.T @ symmetric_lower(a_t.T) @ v
    return np.diag(m).copy(), v @ times(gaps(w), m)


def eigen_upper_backward(a, result, g):
    return (eigen_lower_backward(a, result, g)[0].T,)


def eigenvalues_lower_tangent(a, a_t):
    v = eigen_lower(a)[1]
    return np.diag(v.T @ symmetric_lower(a_t) @ v).copy()


def eigenvalues_lower_backward(a, w, g):
    v = eigen_lower(a)[1]
    return (folded_lower((v * g) @ v.T),)


def eigenvalues_upper_tangent(a, a_t):
    v = eigen_upper(a)[1]
    return np.diag(v.T @ symmetric_lower(a_t.T) @ v).copy()


def eigenvalues_upper_backward(a, w, g):
    v = eigen_upper(a)[1]
    return (folded_lower((v * g) @ v.T).T,)


# -- least squares


def fitted_columns_tangent(a, b, limit, a_t, b_t, limit_t):
    """The tangent by Golub and Pereyra's formula, which holds where the rank does not change."""
    x, left, _, s = fitted_columns(a, b, limit)
    inverse = np.linalg.pinv(a, limit)
    rest, moved = b - a @ x, b_t - a_t @ x
    x_t = inverse @ moved + inverse @ (inverse.T @ (a_t.T @ rest))
    other = a_t.T @ (inverse.T @ x)
    x_t += other - inverse @ (a @ other)
    left_t = np.zeros(len(left))
    for j in range(len(left)):
        left_t[j] = 2.0 * np.sum(rest[:, j] * moved[:, j])
    u, _, v = np.linalg.svd(a, full_matrices=False)
    s_t = np.zeros(len(s))
    for i in range(len(s)):
        s_t[i] = u[:, i] @ a_t @ v[i]
    return x_t, left_t, None, s_t


def fitted_columns_backward(a, b, limit, result, g):
    x, left, _, s = result
    x_, left_, _, s_ = g
    inverse = np.linalg.pinv(a, limit)
    rest, y = b - a @ x, inverse.T @ x_
    b_ = y.copy()
    a_ = rest @ (y.T @ inverse.T) - y @ x.T
    other = inverse.T @ x
    a_ += other @ x_.T - other @ (x_.T @ inverse) @ a
    for j in range(len(left)):
        b_[:, j] += 2.0 * left_[j] * rest[:, j]
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                a_[i, k] -= 2.0 * left_[j] * rest[i, j] * x[k, j]
    if np.any(s_ != 0.0):
        u, _, v = np.linalg.svd(a, full_matrices=False)
        a_ += (u * s_) @ v
    return a_, b_, None


# -- eigenvalues of general matrices


def inverse_gaps(w):
    """As `gaps`, for complex numbers."""
    found = np.zeros((len(w), len(w)), np.complex128)
    for i in range(len(w)):
        for j in range(len(w)):
            if i != j:
                found[i, j] = np.inf if w[j] == w[i] else 1.0 / (w[j] - w[i])
    return found


def general_parts_tangent(a, a_t):
    """Eigenvectors have length 1, and the largest element of each is real: of the tangents of a vector, which differ by
    multiples of it, this is the one that keeps both properties."""
    w, v = general_parts(a)
    m = np.linalg.solve(v, a_t @ v)
    v_t = v @ (inverse_gaps(w) * m)
    for j in range(len(w)):
        at = np.argmax(np.abs(v[:, j]))
        along = np.sum(np.conj(v[:, j]) * v_t[:, j]).real
        v_t[:, j] -= v[:, j] * complex(along, v_t[at, j].imag / v[at, j].real)
    return np.diag(m).copy(), v_t


def general_parts_backward(a, result, g):
    w, v = result
    w_, v_ = g
    v_ = v_.copy()
    for j in range(len(w)):
        at = np.argmax(np.abs(v[:, j]))
        along = np.sum(v_[:, j] * v[:, j])
        v_[:, j] -= along.real * np.conj(v[:, j])
        v_[at, j] -= complex(0.0, along.imag / v[at, j].real)
    return (of_general(a, v, inverse_gaps(w) * (v.T @ v_) + np.diag(w_)),)


def of_general(a, v, m_):
    """The cotangent of a from that of m = inv(v) @ a_t @ v."""
    found = np.linalg.solve(v.T, m_ @ v.T)
    if a.dtype.kind == "c":
        return found
    return found.real.copy()


def general_values_tangent(a, a_t):
    _, v = general_parts(a)
    return np.diag(np.linalg.solve(v, a_t @ v)).copy()


def general_values_backward(a, w, g):
    _, v = general_parts(a)
    return (of_general(a, v, np.diag(g)),)
