"""The `cmath` module against the interpreter, to the bit."""
import cmath
import itertools
import math
import random

import numpy as np
import pytest

from pyjitc.lib.py import cmathmod
from tests.lib.expressions import both

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = random.Random(8)
PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 1e-310, 1e-160, 709.5, -750.0, 1e160, 1.7e308, math.inf, -math.inf, math.nan]
VALUES = [complex(x, y) for x, y in itertools.product(PARTS, repeat=2)]
VALUES += [complex(RNG.uniform(-3, 3), RNG.uniform(-3, 3)) for _ in range(200)]
OTHERS = [1, True, 2.5, -3, np.float32(0.5), np.complex64(1 + 2j), np.int8(-2)]
NAMES = [n for n, f in vars(cmath).items() if callable(f) and n[0] != "_" and n not in ("rect", "isclose")]


def check(name, cases):
    function = getattr(cmath, name)
    wrong = [found for case in cases if (found := both(
        lambda *xs: cmathmod.CALLS[function](list(xs), {}), function, case,
        # an underflow in atan2 sets errno, which cmath.phase reports as an overflow
        lambda e, g: name == "phase" and e[0] is OverflowError and g[0] is float))]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:15])


@pytest.mark.parametrize("name", NAMES)
def test_one_argument(name):
    check(name, [(z,) for z in VALUES + OTHERS])


def test_rest():
    check("log", itertools.product(VALUES[::9], VALUES[::7] + [1, 0, 2]))
    check("rect", itertools.product(PARTS, repeat=2))
    check("isclose", itertools.product(VALUES[::8] + [1 + 1e-12j], repeat=2))
