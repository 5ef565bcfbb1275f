"""Values that compiled code made may outlive this package's modules at the end of the interpreter."""
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from pyjitc import njit
@njit
def f(n):
    a = np.empty(n)
    b = np.ones(n)
    return a, b[1:3], (b, b[::2]), np.random.default_rng(n)
kept = f(10**6)
"""
LATE = PROGRAM + """
import builtins
builtins.kept = kept
builtins.f = f
"""


@pytest.mark.parametrize("program", [PROGRAM, LATE])
def test_results_live_until_the_end(program):
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", program], capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
