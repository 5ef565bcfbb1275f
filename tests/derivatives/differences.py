"""The references for tests of derivatives: central differences, and forward mode."""
import copy

import numpy as np
import pytest

from pyjitc import jvp, njit, value_and_grad

__all__ = ["agree", "central"]


def central(function, args, argnum, step=1e-6):
    """The gradient with respect to one argument, by central differences in the interpreter."""
    def at(x):
        given = copy.deepcopy(list(args))
        given[argnum] = x
        with np.errstate(all="ignore"):
            return function(*given)

    x = args[argnum]
    if not isinstance(x, np.ndarray):
        return (at(x + step) - at(x - step)) / (2 * step)
    found = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        found[place] = (at(up) - at(down)) / (2 * step)
    return found


def agree(function, *args, argnums=None, tolerance=1e-6):
    """Assert that the value is that of the compiled function, that arguments are not changed, that the gradient agrees
    with differences, and that forward mode in a direction gives the product of gradient and direction."""
    if argnums is None:
        argnums = tuple(n for n, x in enumerate(args) if isinstance(x, float)
                        or isinstance(x, np.ndarray) and x.dtype.kind == "f")
    before = copy.deepcopy(args)
    value, gradients = value_and_grad(function, argnums)(*args)
    for x, y in zip(args, before):
        np.testing.assert_array_equal(x, y)
    expected = njit(function)(*copy.deepcopy(args))
    contiguous = all(x.flags.c_contiguous for x in args if isinstance(x, np.ndarray))
    if contiguous:
        assert value == expected and type(value) is type(expected), (value, expected)
    else:  # sums of a copy in C order are added in that order
        assert value == pytest.approx(expected, rel=1e-14)
    random = np.random.default_rng(1)
    tangents = [random.normal(size=x.shape) if isinstance(x, np.ndarray) and x.dtype.kind == "f"
                else random.normal() if isinstance(x, float) else None for x in args]
    tangents = [t if n in argnums else None if t is None else t * 0 for n, t in enumerate(tangents)]
    product = 0.0
    for n, gradient in zip(argnums, gradients):
        wanted = central(function, args, n)
        assert np.shape(gradient) == np.shape(args[n])
        if isinstance(args[n], np.ndarray):
            assert gradient.dtype == args[n].dtype
        np.testing.assert_allclose(gradient, wanted, rtol=tolerance, atol=tolerance * (1 + np.max(np.abs(wanted))))
        product += np.sum(gradient * tangents[n])
    primal, change = jvp(function, copy.deepcopy(args), tangents)
    assert primal == value or not contiguous
    np.testing.assert_allclose(change, product, rtol=1e-9, atol=1e-9)
    return gradients
