"""Transformations of programs, the strength of the tracing JIT; expected failures show what is missing here."""
import numpy as np
import pytest

import pyjitc
from pyjitc import njit

from .rows import row


def cubed(x):
    return x * x * x


def smoothed(x, limit):
    total = 0.0
    while x > limit:
        total += x * x
        x = x * 0.5
    return total


def forward(parameters, x):
    for layer in parameters:
        x = np.tanh(x @ layer["weights"] + layer["bias"])
    return x


PARAMETERS = [{"weights": np.eye(2), "bias": np.ones(2)} for _ in range(3)]


@row("grad", "grad-loop")
def test_gradients():
    assert pyjitc.grad(cubed)(2.0) == 12.0
    assert pyjitc.grad(pyjitc.grad(cubed))(2.0) == 12.0
    assert pyjitc.grad(smoothed)(4.0, 1.0) == 2 * 4.0 + 4.0 / 2


@row("grad", "grad-loop")
def test_tracing_differentiates_straight_lines(jax):
    assert jax.grad(cubed)(2.0) == 12.0 and jax.grad(jax.grad(cubed))(2.0) == 12.0
    loop = jax.jit(lambda x: jax.lax.while_loop(lambda v: v > 1.0, lambda v: v * 0.5, x))
    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work for lax.while_loop"):
        jax.grad(loop)(4.0)


@row("vmap")
def test_vmap():
    assert njit(pyjitc.vmap(smoothed, in_axes=(0, None)))(np.array([4.0, 0.5]), 1.0).tolist() == [20.0, 0.0]


@row("vmap")
def test_tracing_maps_straight_lines(jax):
    assert jax.vmap(cubed)(np.array([1.0, 2.0])).tolist() == [1.0, 8.0]
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.vmap(smoothed, in_axes=(0, None))(np.array([4.0, 0.5]), 1.0)


@row("pytree")
def test_nested_parameters():
    np.testing.assert_allclose(njit(forward)(PARAMETERS, np.ones(2)), forward(PARAMETERS, np.ones(2)), rtol=1e-14)


@row("pytree")
def test_tracing_takes_nested_parameters(jax):
    actual = jax.jit(lambda parameters, x: forward_in(jax.numpy, parameters, x))(PARAMETERS, np.ones(2))
    np.testing.assert_allclose(actual, forward(PARAMETERS, np.ones(2)), rtol=1e-6)  # single precision


def forward_in(xp, parameters, x):
    for layer in parameters:
        x = xp.tanh(x @ layer["weights"] + layer["bias"])
    return x


@row("devices")
def test_loops_over_cores():
    @njit(parallel=True)
    def total(a):
        s = 0.0
        for i in pyjitc.prange(len(a)):
            s += a[i]
        return s

    assert total(np.ones(10)) == 10.0


@row("devices")
def test_tracing_maps_over_devices(jax):
    many = jax.local_device_count()
    assert jax.pmap(cubed)(np.full(many, 2.0)).tolist() == [8.0] * many
