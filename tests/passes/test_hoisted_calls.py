"""Calls of the C library whose operands never change in a loop, which are made before the checks of a trip, beside the
interpreter: results, which trip raises what, and what has been stored before."""
import math

import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import njit


def distances(lat, lon, out):
    for i in range(len(lat)):
        for j in range(len(lat)):
            a = (math.sin((lat[j] - lat[i]) / 2)**2
                 + math.cos(lat[i]) * math.cos(lat[j]) * math.sin((lon[j] - lon[i]) / 2)**2)
            out[i, j] = 12742.0 * math.asin(math.sqrt(a))


def before(lat, lon, out):
    x = float(lon[0])
    for i in range(len(lat)):
        for j in range(i):
            out[i, j] = math.log(lat[j]) + math.exp(-x) + math.pow(lat[i], x)


def while_it_lasts(lat, lon, out):
    k = 0
    while math.sqrt(lat[k]) + math.tan(lon[0]) < 2.0:
        out[0, k] = math.acos(lat[k] / 4) + math.tanh(lon[0])
        k += 1
    return k


def products(lat, lon, out):
    """The factor of a loaded number is moved before the load, which stays where it is."""
    c = 0.5
    for i in range(3):
        for _ in range(len(out)):
            c = c * 0.8 + math.tanh(lat[i % 3] * (i * 0.25))
    return c


def turned(lat, lon, out):
    """The sine and the cosine of one number, with checks between them."""
    for i in range(len(lat)):
        t = 6.25 * lat[i]
        r = math.sqrt(lon[i])
        out[i, 0] = r * math.cos(t)
        out[i, 1] = r * math.sin(t)
        out[i, len(lon) - i] = math.sin(lon[i]) / math.cos(lon[i])


@pytest.mark.parametrize("function", [turned, distances, before, while_it_lasts, products])
@pytest.mark.parametrize("lat", [[0.5, 1.0, 0.25], [0.5, -1.0, 0.25], [0.5, np.inf, 0.0], [np.nan, 1e300, 1.0], [1.0]])
@pytest.mark.parametrize("lon", [[0.1, 0.2, 0.3], [np.inf, 1.0, 2.0], [1000.0, 0.0, 0.0], [-800.0, np.nan, 0.0]])
def test_calls(function, lat, lon):
    compiled = _COMPILED.setdefault(function, njit(function))
    for room in (3, 2):
        agree(function, np.array(lat), np.array(lon), np.zeros((3, room)), compiled=compiled)


def test_sine_and_cosine_are_one_call():
    compiled = njit(turned)
    compiled(*np.ones((2, 2)), np.ones((2, 3)))
    assert "sincos" in compiled.inspect_asm(compiled.signatures[0])


_COMPILED: dict = {}
