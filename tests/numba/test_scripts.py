"""Programs in the style of Numba's manual, which check themselves, run with `pyjitc run --as-numba`."""
import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "numba"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "run")


@pytest.fixture(scope="module")
def ran():
    environment = {**os.environ, "PYTHONWARNINGS": "error::DeprecationWarning:pyjitc"}
    done = subprocess.run([sys.executable, "-m", "pyjitc", "run", "--as-numba", str(FOLDER / "run.py")],
                          env=environment, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_it_runs(name, ran):
    _, told, errors = ran
    assert f"{name}: fine" in told, errors[-3000:]


def test_nothing_else(ran):
    code, told, errors = ran
    assert code == 0 and len(told.splitlines()) == len(NAMES) and not errors


def test_there_are_a_thousand_lines():
    assert sum(len((FOLDER / f"{name}.py").read_text().splitlines()) for name in NAMES) > 1000
