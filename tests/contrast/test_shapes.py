"""Shapes and values known only at run time."""
import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree

from .rows import row, traced


def full(length, value):
    return np.full((length,), value)


@row("full-n")
def test_length_from_an_argument():
    compiled = njit(full)
    for length in (3, 0, 1000, -1):
        agree(full, length, 2.5, compiled=compiled)
    assert len(compiled.signatures) == 1


@row("full-n")
def test_tracing_wants_concrete_shapes(jax):
    with pytest.raises(TypeError, match="Shapes must be 1D sequences of concrete values"):
        traced(jax, full)(3, 2.5)
    assert traced(jax, full, static_argnums=0)(3, 2.5).tolist() == [2.5] * 3


def positives(a):
    return a[a > 0]


def places(a):
    return np.nonzero(a)


def distinct(a):
    return np.unique(a)


@row("filter")
@pytest.mark.parametrize("function", [positives, places, distinct])
def test_length_from_the_data(function):
    compiled = njit(function)
    for values in ([1.5, -2.0, 0.0, 1.5, 3.0], [], [-1.0], [2.0, 2.0], [float("nan"), 1.0]):
        agree(function, np.array(values), compiled=compiled)
    assert len(compiled.signatures) == 1


@row("filter")
def test_tracing_has_no_lengths_from_the_data(jax):
    a = np.array([1.5, -2.0])
    with pytest.raises(jax.errors.NonConcreteBooleanIndexError):
        traced(jax, positives)(a)
    for function in (places, distinct):
        with pytest.raises(jax.errors.ConcretizationTypeError):
            traced(jax, function)(a)


def set_where(x, mask):
    x[mask] = -100.0
    return x


@row("mask-set")
def test_set_where_a_mask_says():
    compiled = njit(set_where)
    mask = np.array([True, False, True])
    agree(set_where, np.arange(3.0), mask, compiled=compiled)
    agree(set_where, np.arange(3.0), ~mask, compiled=compiled)
    agree(set_where, np.arange(2.0), mask, compiled=compiled)
    x = np.arange(3.0)
    assert compiled(x, mask) is x and x.tolist() == [-100.0, 1.0, -100.0]


@row("mask-set")
def test_tracing_sets_nothing_in_place(jax):
    with pytest.raises(TypeError, match="immutable and do not support in-place"):
        traced(jax, set_where)(np.arange(3.0), np.array([True, False, True]))


def cube(x):
    return x * x * x


LENGTHS = (1, 7, 1000, 12, 0, 999)


@row("random-length")
def test_arrays_of_any_length():
    compiled = njit(cube)
    for n in LENGTHS:
        agree(cube, np.linspace(-1.0, 1.0, n), compiled=compiled)
    assert len(compiled.signatures) == 1


@row("random-length")
def test_tracing_compiles_for_each_length(jax):
    compiled = traced(jax, cube)
    for n in (*LENGTHS, *LENGTHS):
        compiled(np.ones(n, np.float32))
    assert compiled._cache_size() == len(LENGTHS)


def by_dimensions(x):
    if x.ndim < 2:
        return x[0]
    return x[0, 0] + x[1, 1]


@row("ndim-static")
def test_ndim_is_decided_at_compile_time():
    compiled = njit(by_dimensions)
    agree(by_dimensions, np.array([1.5, 2.5]), compiled=compiled)  # x[0, 0] would not compile here
    agree(by_dimensions, np.arange(4.0).reshape(2, 2), compiled=compiled)
    assert len(compiled.signatures) == 2


@row("ndim-static")
def test_tracing_decides_ndim_too(jax):
    compiled = traced(jax, by_dimensions)
    assert compiled(np.array([1.5, 2.5])) == 1.5
    assert compiled(np.arange(4.0).reshape(2, 2)) == 3.0
