"""`pyjitc contrast`: the programs of both front ends side by side."""
import subprocess
import sys

import numpy as np
import pytest

from pyjitc.api.contrast import contrast, same, sides

PROGRAM = """\
import numpy as np


def collatz(n):
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


def powers(x):
    for _ in range(4):
        x = x * x
    return x


def fails(a, i):
    return a[i]


def lists(n):
    return open(n)
"""


@pytest.fixture(scope="module")
def space():
    found = {}
    exec(PROGRAM, found)
    return found


def test_counts_of_control_flow(space):
    traced, compiled = sides(space["powers"], (1.5,))
    assert traced.counts == {"blocks": 1, "branches": 0, "loops": 0, "instructions": 5}
    assert compiled.counts["loops"] == 1 and compiled.counts["branches"] == 1
    assert traced.result == compiled.result == 1.5 ** 16
    traced, compiled = sides(space["collatz"], (27,))
    assert type(traced.error).__name__ == "TracingError" and compiled.result == 111
    assert compiled.counts["loops"] == 1 and compiled.counts["branches"] >= 2


def test_text(space):
    text = contrast(space["powers"], (1.5,), width=100)
    assert "binary v.2, v.2" in text and "next" in text
    table = {line.split("  ")[0]: line.split() for line in text.splitlines()}
    assert (table["blocks"][-2] == "1" and table["loops"][-2:] == ["0", "1"]
            and table["as the interpreter"][-2:] == ["yes", "yes"])
    assert max(map(len, text.splitlines())) <= 100


def test_exceptions_of_the_function_count_as_results(space):
    text = contrast(space["fails"], (np.ones(3), 5))
    assert text.splitlines()[-1].split()[-2:] == ["yes", "yes"]
    text = contrast(space["lists"], (1,))
    assert "not compiled" in text.splitlines()[-1]


def test_program_that_raises_is_shown():
    text = contrast(lambda a, i: a[i] + 1, (np.zeros(3), 5), width=100)
    left, right = zip(*(line.split(" | ") for line in text.splitlines() if " | " in line))
    for side in left, right:
        assert any("getitem a, i" in line for line in side), text
        assert any("IndexError: index 5 is out of bounds" in line for line in side), text


def test_same():
    assert same((1.0, np.arange(3)), (1.0, np.arange(3))) and not same(1, 1.0) and not same(np.ones(2), np.ones(3))
    assert not same(0.1, 0.1 + 1e-9) and same(float("nan"), float("nan"))


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "pyjitc", "contrast", *arguments], capture_output=True, text=True,
                          timeout=120)


def test_command(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = command(f"{path}::collatz", "27")
    assert done.returncode == 0, done.stderr
    assert "TracingError" in done.stdout and "branch" in done.stdout and "first call" in done.stdout
    for arguments, message in [((f"{path}::collatz",), "missing a required argument: 'n'"),
                               ((f"{path}::colatz", "1"), "did you mean collatz"),
                               ((f"{path}::collatz", "1 +"), "not a Python expression"),
                               ((str(path), "1"), "write FILE::FUNCTION"),
                               ((f"{path}::collatz", "nosuch"), "NameError"),
                               ((f"{path}::fails", "np.ones(3), 5"), "write each argument apart")]:
        done = command(*arguments)
        assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr, done.stderr
