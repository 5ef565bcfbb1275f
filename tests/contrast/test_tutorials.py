"""Programs like those of JAX's tutorials, with pyjitc in the place of JAX and NumPy in that of jax.numpy."""
import json
import math

import numpy as np
import pytest

import pyjitc

from .tutorials import FILE, PROGRAMS, as_number, leaves

EXPECTED = json.loads(FILE.read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name):
    """Results are those that JAX returned."""
    assert math.isclose(as_number(PROGRAMS[name](pyjitc, np)), EXPECTED[name], rel_tol=1e-8, abs_tol=1e-9)


@pytest.mark.parametrize("name", PROGRAMS)
def test_beside_jax(name, jax):
    """Results have the structure, shapes and numbers of those of JAX that is installed."""
    with jax.enable_x64(True):
        found, want = PROGRAMS[name](pyjitc, np), PROGRAMS[name](jax, jax.numpy)
    assert jax.tree.structure(found) == jax.tree.structure(want)
    for x, y in zip(leaves(found), leaves(want), strict=True):
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, 1e-9, 1e-11)


def test_the_recorded_results_are_those_of_all_programs():
    assert EXPECTED.keys() == PROGRAMS.keys()
