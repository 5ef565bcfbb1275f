"""Programs that change objects while they read them do what the interpreter does. See hazards.py."""
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_hazards():
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-m", "tests.safety.hazards"], cwd=ROOT,
                          env={**os.environ, "PYJITC_CACHE": "0"}, capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 1):
        pytest.fail(f"the process ended with {done.returncode}\n{done.stderr[-3000:]}")
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
