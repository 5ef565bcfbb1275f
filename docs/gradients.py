"""Differentiates a call of every NumPy callable (tests/derivatives/survey.py) and writes docs/gradients.json and the
page docs/gradients.md of it.

python docs/gradients.py [--group numpy] [--names sum,mean] [--most 1] [--dtype float64]
Where only some names are asked for, the states are printed, not written.
"""
import argparse
import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from conformance import Worker  # noqa: E402
from tests.derivatives import survey  # noqa: E402
from tests.lib.np.conformance import calls, run  # noqa: E402

GROUPS = {"numpy": "numpy", "linalg": "numpy.linalg", "fft": "numpy.fft"}
DATA, PAGE = ROOT / "docs" / "gradients.json", ROOT / "docs" / "gradients.md"
STATES = ("right", "zero", "constant", "refused", "WRONG", "CRASH", "HANG")


def measure(names, most, dtype):
    """[(group, name, call, state, detail)]"""
    worker, found = Worker(120, "tests.derivatives.survey"), []
    for group, name in names:
        if name in calls.NOT_CALLED:
            found.append((group, name, "", "constant", "is not called: " + calls.NOT_CALLED[name]))
            continue
        for case in survey.cases(group, name, most):
            found.append((group, name, case.call, *worker.run([list(case), dtype])))
            print(*found[-1], sep="\t", flush=True)
        if found[-1][:2] != (group, name):
            found.append((group, name, "", "constant", "is not called with floats"))
    worker.stop()
    return found


def page(found):
    """The text of the page."""
    lines = ["# Derivatives of NumPy, name by name", "",
             "Written by `python docs/gradients.py`, which differentiates a call of every name with floats by reverse",
             "and by forward mode, and compares both with each other and with central differences in a random",
             "direction (`tests/derivatives/survey.py`). *right*: all agree; *zero*: the result does not depend on the",
             "numbers to first order; *constant*: no float goes in, or none comes out; *refused*: an error at the line",
             "says that there is no derivative.", "",
             "| | " + " | ".join(STATES[:4]) + " | wrong or crash |", "|---" * 6 + "|"]
    for group, title in GROUPS.items():
        count = Counter(row[3] for row in found if row[0] == group)
        lines.append(f"| {title} | " + " | ".join(str(count[state]) for state in STATES[:4])
                     + f" | {sum(count[state] for state in STATES[4:])} |")
    for group, title in GROUPS.items():
        lines += ["", f"## {title}", "", "| call | | |", "|---|---|---|"]
        for _, name, call, state, detail in (row for row in found if row[0] == group):
            text = detail.replace("|", "\\|").splitlines()[0] if detail else ""
            lines.append(f"| {f'`{call}`' if call else name} | {state} | {text} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--group")
    parser.add_argument("--names")
    parser.add_argument("--most", type=int, default=1)
    parser.add_argument("--dtype", default="float64")
    given = parser.parse_args()
    wanted = [(group, name) for group in GROUPS if given.group in (None, group) for name in run.names(group)
              if not given.names or name in given.names.split(",")]
    found = measure(wanted, given.most, given.dtype)
    print(Counter(row[3] for row in found))
    if not (given.group or given.names) and (given.most, given.dtype) == (1, "float64"):
        DATA.write_text(json.dumps([list(row) for row in found], indent=0) + "\n")
        PAGE.write_text(page(found))
    return any(row[3] in STATES[4:] for row in found)


if __name__ == "__main__":
    sys.exit(main())
