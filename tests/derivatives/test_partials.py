"""Derivatives and batches of functools.partial, and of other functions whose parameters are not those of the call."""
from functools import partial

import numpy as np
import pytest

from pyjitc import (
    TypingError, checkpoint, grad, hessian, jacfwd, jacrev, jvp, linearize, njit, pmap, value_and_grad, vjp, vmap,
)

X = np.array([0.3, 0.5, 1.2])


def f(x, a, b=2.0):
    return np.sum(x ** 3) * a * b ** 2


def named(x, *, a, b=1.0):
    return np.sum(x ** 3) * a * b


def mapped(x, /, axis, p):
    return np.sum(np.cumsum(x, axis=axis) * p["w"]) * p["b"]


FROM_PYTHON = {
    "by keyword": (lambda: partial(f, a=3.0), X),
    "by position": (lambda: partial(f, X), 3.0),
    "by both": (lambda: partial(f, X, b=5.0), 3.0),
    "the last by keyword": (lambda: partial(f, b=5.0), X, 3.0),
    "keyword-only": (lambda: partial(named, a=5.0), X),
    "of a partial": (lambda: partial(partial(named, a=5.0), b=2.0), X),
    "a partial that changes its mind": (lambda: partial(partial(f, a=5.0), a=2.0), X),
    "a constant and a tree": (lambda: partial(mapped, axis=0, p={"w": X, "b": 2.0}), X),
    "a function": (lambda: partial(lambda x, g: g(x) * 2.0, g=lambda x: np.sum(x ** 2)), X),
}


@pytest.mark.parametrize("name", FROM_PYTHON)
def test_from_python(name):
    made, *args = FROM_PYTHON[name]
    function, step = made(), 1e-6
    found = grad(function)(*args)
    x, *rest = args
    for n in range(np.size(x)):
        along = np.reshape(np.arange(np.size(x)) == n, np.shape(x)) * step
        difference = (function(x + along, *rest) - function(x - along, *rest)) / (2 * step)
        assert np.ravel(found)[n] == pytest.approx(difference, rel=1e-6)


def test_what_a_partial_holds_is_an_argument():
    """A new value is no new function, unless it is a constant such as an axis."""
    first, second = grad(partial(named, a=2.0)), grad(partial(named, a=3.0))
    assert first.func is second.func and first.args == (2.0,)
    np.testing.assert_allclose(second(X), 1.5 * first(X))
    assert grad(partial(mapped, axis=0, p={"w": X, "b": 2.0})).args == ({"w": X, "b": 2.0},)


IN_COMPILED_CODE = {
    "by keyword": lambda x, a: grad(partial(f, a=a))(x),
    "by position": lambda x, a: grad(partial(f, x))(a),
    "by both": lambda x, a: grad(partial(f, x, b=5.0))(a),
    "by a position": lambda x, a: grad(partial(f, b=a), argnums=(0, 1))(x, a),
    "keyword-only": lambda x, a: value_and_grad(partial(named, a=a))(x)[1],
    "of a partial": lambda x, a: grad(partial(partial(named, a=a), b=2.0))(x),
    "hessian": lambda x, a: hessian(partial(f, a=a))(x),
    "jacfwd of grad": lambda x, a: jacfwd(grad(partial(f, a=a)))(x),
    "jacrev of grad": lambda x, a: jacrev(grad(partial(f, a=a)))(x),
    "jvp": lambda x, a: jvp(partial(f, a=a), (x,), (x,))[1],
    "vjp": lambda x, a: vjp(partial(f, a=a), x)[1](2.0),
    "linearize": lambda x, a: linearize(partial(f, a=a), x)[1](x),
    "vmap": lambda x, a: vmap(partial(f, a=a))(np.stack((x, x * 2.0))),
    "pmap": lambda x, a: pmap(partial(f, a=a))(np.stack((x, x * 2.0))),
    "vmap of grad": lambda x, a: vmap(grad(partial(f, a=a)))(np.stack((x, x * 2.0))),
    "axes": lambda x, a: vmap(partial(f, a=a), in_axes=1)(np.stack((x, x * 2.0)).T),
    "a tuple": lambda x, a: grad(partial(lambda x, p: np.sum(x * p[0]) * p[1], p=(x, a)))(x),
    "any number": lambda x, a: jacfwd(lambda *args: args[0] * args[1] * a, argnums=1)(x, x),
    "hessian of any number": lambda x, a: hessian(lambda *args: np.sum(args[0] ** 3) * a)(x),
    "a default": lambda x, a: jvp(lambda x, k=2.0: x * k * a, (x,), (x,))[1],
}


@pytest.mark.parametrize("name", IN_COMPILED_CODE)
def test_in_compiled_code(name):
    function = IN_COMPILED_CODE[name]
    found, expected = njit(function)(X, 3.0), function(X, 3.0)
    assert type(found) is type(expected)
    for x, y in zip(*(z if isinstance(z, tuple) else (z,) for z in (found, expected)), strict=True):
        np.testing.assert_allclose(x, y, 1e-12)


def test_what_is_refused():
    with pytest.raises(TypingError, match="got multiple values for argument 'a'"):
        njit(lambda x, a: grad(partial(f, a=a))(x, a))(X, 3.0)
    with pytest.raises(TypingError, match="argnums has 4"):
        njit(lambda x, a: grad(partial(f, a=a), argnums=4)(x))(X, 3.0)
    with pytest.raises(TypingError, match="write a function with positional parameters around it"):
        njit(lambda x, a: grad(checkpoint(partial(f, a=a)))(x))(X, 3.0)
