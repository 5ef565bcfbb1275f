"""A fixed sample of the calls that `python docs/conformance.py` makes: one call of every second name of
np, of fewer where other files here call all of them (ufuncs, their methods, np.fft, np.random), and of each name of
other modules; none may differ. Where the table docs/conformance.md says that a name is supported, the call has to do
the same as in the interpreter."""
from pathlib import Path

import numpy as np
import pytest
from tests.lib.np.conformance import run

TABLE = Path(__file__).resolve().parents[3] / "docs" / "conformance.md"
SAME_NUMPY = np.__version__.startswith("2.4.")  # the table is NumPy 2.4's


def supported():
    """The pairs {(group, name)} that the table calls supported."""
    found, group = set(), None
    for line in TABLE.read_text().splitlines() if TABLE.exists() else ():
        if line.startswith("## "):
            group = line[3:]
        elif group and "| supported |" in line:
            found.add((group, line.split("|")[1].strip()))
    return found


SUPPORTED = supported()
TITLES = {"numpy": "numpy", "linalg": "numpy.linalg", "fft": "numpy.fft", "random": "numpy.random",
          "Generator": "numpy.random.Generator", "ndarray": "numpy.ndarray", "ufunc methods": "methods of ufuncs"}


STEPS = {"numpy": 2, "ufunc methods": 8, "fft": 6, "random": 3, "Generator": 3}


def sample(group):
    """One case of each name: the main call for most, another one for every fourth."""
    for number, name in enumerate(run.names(group)):
        if number % (4 if group == "numpy" and isinstance(getattr(np, name), np.ufunc) else STEPS.get(group, 1)):
            continue
        cases = list(run.cases(group, name))
        if cases:
            yield cases[number % len(cases)] if number % 4 == 0 else cases[0]


@pytest.mark.parametrize("group", TITLES)
def test_sample(group):
    wrong = []
    for case in sample(group):
        status, detail = run.run(case)
        claimed = SAME_NUMPY and (TITLES[group], case.name) in SUPPORTED
        if status not in ("same", "raises", "message") and (claimed or status != "error"):
            wrong.append(f"{status} {case.call} {case.dtype} {case.layout}: {detail}")
    assert not wrong, "\n".join(wrong)
