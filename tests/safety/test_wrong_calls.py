"""Fuzzed wrong calls end in an exception or in the interpreter's result, never in a crash. See wrong_calls.py."""
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.mark.parametrize("seed", range(4))
def test_wrong_calls(seed, tmp_path):
    progress = tmp_path / "call"
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-m", "tests.safety.wrong_calls", str(seed), "250",
                           str(progress)], cwd=ROOT, capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 1):
        pytest.fail(f"the process ended with {done.returncode} in {progress.read_text()}\n{done.stderr[-3000:]}")
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
