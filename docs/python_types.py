"""Compares the methods of Python's own types, and the functions of its modules, with their compiled form and writes the
table docs/python.md of it.

python docs/python_types.py
What is called: tests/lib/py/conformance/cases.py and modules.py.
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.lib.py.conformance import run  # noqa: E402
from tests.lib.py.conformance.modules import MODULES  # noqa: E402

PAGE = ROOT / "docs" / "python.md"

if __name__ == "__main__":
    found = run.results({**run.TYPES, **MODULES})
    PAGE.write_text(run.page(found))
    for name, methods in found.items():
        for outcomes in methods.values():
            for one in outcomes:
                if one.status not in ("same", "raises"):
                    print(f"{one.status:8} {name}: {one.call}: {one.detail}")
