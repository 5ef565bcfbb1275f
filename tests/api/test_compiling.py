"""What a compile leaves as it was."""
import gc
import subprocess
import sys

import pytest

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
    """The collector need not go through it; what the program has frozen itself stays so, and nothing else does."""
    program = f"""
import gc
from pyjitc import njit
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
