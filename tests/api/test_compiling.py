"""State of the process that a compile does not change."""
import gc
import os
import subprocess
import sys

import pytest

import pyjitc
from pyjitc import PyjitcError, njit


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_collection_is_put_back(collects):
    (gc.enable if collects else gc.disable)()
    try:
        assert njit(lambda x: x + 1.5)(2.0) == 3.5
        assert gc.isenabled() == collects
        with pytest.raises(PyjitcError):
            njit(lambda x: x.nothing)(2.0)
        assert gc.isenabled() == collects
    finally:
        gc.enable()


@pytest.mark.parametrize("frozen", [False, True])
def test_what_a_first_call_loads_is_old_at_once(frozen):
    """The garbage collector need not visit the modules of the compiler. Objects that the program has frozen stay
    frozen, and no others do."""
    program = f"""
import gc
from pyjitc import njit
gc.collect()  # the counts begin at 0, whatever the imports above have left
if {frozen}:
    gc.freeze()
before = gc.get_freeze_count()
passes = []
gc.callbacks.append(lambda phase, info: passes.append(info["generation"]))
assert njit(lambda x: x + 1.5)(2.0) == 3.5
assert gc.isenabled() and gc.get_freeze_count() == (before if {frozen} else 0), (before, gc.get_freeze_count())
assert {frozen} or not passes, passes
assert {frozen} or gc.get_count()[0] < 700, gc.get_count()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


PROGRAM = """
import numpy as np
from pyjitc import cuda, njit

@njit
def total(a):
    s = 0.0
    for x in a:
        s += x
    return s, np.sort(a)[::-1], np.datetime64("2020-01-01") + np.timedelta64(len(a), "D")

@cuda.jit
def add(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1

a = np.arange(4.0)
assert str(total(a)) == str(total.py_func(a)), total(a)
add[1, 32](a)
assert a.tolist() == [1, 2, 3, 4] and total.signatures
"""


@pytest.mark.parametrize("options", [["-OO"], ["-X", "dev", "-W", "error"], ["-I"]], ids="".join)
def test_options_of_the_interpreter(options, tmp_path):
    """Without docstrings and asserts; with memory that is overwritten when it is freed; without the user's
    environment."""
    root = os.path.dirname(os.path.dirname(pyjitc.__file__))
    program = f"import sys; sys.path.insert(0, {root!r})\n{PROGRAM}"
    subprocess.run([sys.executable, *options, "-c", program], check=True, timeout=120)
