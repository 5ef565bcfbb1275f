"""The rows of the contrast with tracing, and how the tests name them.

A test of a row is marked `@row("id")`. One that takes the fixture `jax` says what the tracing JIT does today with the
same program, and is skipped where JAX is not installed; the others say what pyjitc does, compared with CPython.
"""
import types

import pytest

__all__ = ["ROWS", "TRANSFORMATIONS", "row", "traced"]

row = pytest.mark.row

ROWS = (
    # control flow on values
    "branch", "abs", "parity", "while-n", "for-n", "sum-up-to", "repeat-mul", "switch", "higher-order", "both-branches",
    # shapes and values known only at run time
    "full-n", "filter", "mask-set", "random-length", "ndim-static",
    # effects
    "print", "global-read", "global-array", "global-append", "in-place", "out-of-bounds", "stateful-rng", "nan-hunt",
    # compilation behaviour
    "long-loop", "loop-size", "jit-in-loop", "static-args", "small-dense", "selu", "selu-ints", "dense-relu", "ir-text",
)
TRANSFORMATIONS = ("grad", "grad-loop", "vmap", "pytree", "devices")


def traced(jax, function, **options):
    """`function` under `jax.jit`, with `jax.numpy` as its global `np`."""
    space = {**function.__globals__, "np": jax.numpy}
    copy = types.FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
    return jax.jit(copy, **options)
