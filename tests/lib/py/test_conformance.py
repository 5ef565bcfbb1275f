"""Every method and operator of Python's own types, with generated arguments, compared with the interpreter and with the
page about them."""
from pathlib import Path

import pytest

from tests.lib.py.conformance import run
from tests.lib.py.conformance.cases import CONTAINERS
from tests.lib.py.conformance.modules import MODULES

PAGE_TEXT = (Path(__file__).resolve().parents[3] / "docs" / "python.md").read_text()


@pytest.mark.parametrize("name", run.TYPES)
def test_a_type(name):
    """The page agrees with the outcomes. For text all expressions are compared. For containers each expression and each
    type needs a compile, so only the first expression of each method is; `python docs/python_types.py` compares all."""
    short = name in CONTAINERS
    (found,) = run.results({name: run.TYPES[name]}, short).values()
    wrong = [one for outcomes in found.values() for one in outcomes if one.status in ("DIFFERS", "message")]
    assert wrong == []
    few = {method: len(outcomes) for method, outcomes in found.items() if len(outcomes) < run.LEAST}
    assert few == {}
    said = [line for line in PAGE_TEXT.partition(f"## {name}\n")[2].partition("\n## ")[0].splitlines() if line]
    expected = [line for line in run.section(name, found)[2:] if line]
    assert [row.split("` | ")[0] for row in said[3:]] == [row.split("` | ")[0] for row in expected[3:]]
    if not short:
        assert said == expected, "python docs/python_types.py writes it"
    for row, method in zip(said[3:], found):  # the page does not call refused methods compiled
        assert run.state(found[method]) == "yes" or "` | yes |" not in row


@pytest.mark.parametrize("name", MODULES)
def test_a_module(name):
    """The page has every function. For every fifth function the first expression is compared."""
    cases = MODULES[name]
    said = [line for line in PAGE_TEXT.partition(f"## {name}\n")[2].partition("\n## ")[0].splitlines() if line]
    rows = {row.split("` | ")[0].removeprefix("| `"): row for row in said[3:]}
    assert list(rows) == list(cases.calls)
    for function in list(cases.calls)[::5]:
        outcomes = run.run(cases, function, short=True)
        assert [one for one in outcomes if one.status == "DIFFERS"] == []
        assert run.state(outcomes) == "yes" or "` | yes |" not in rows[function]
