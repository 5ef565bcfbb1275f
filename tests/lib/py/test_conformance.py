"""Every method and operator of Python's own types, with generated arguments, beside the interpreter; and the page that
says so."""
from pathlib import Path

import pytest

from tests.lib.py.conformance import run

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python.md"


@pytest.fixture(scope="module")
def found():
    return {}


@pytest.mark.parametrize("name", run.TYPES)
def test_a_type(found, name):
    (found[name],) = run.results({name: run.TYPES[name]}).values()
    wrong = [one for outcomes in found[name].values() for one in outcomes if one.status in ("DIFFERS", "message")]
    assert wrong == []
    few = {method: len(outcomes) for method, outcomes in found[name].items() if len(outcomes) < run.LEAST}
    assert few == {}


def test_the_page_says_what_was_found(found):
    if list(found) != list(run.TYPES):
        pytest.skip("not all types were compared")
    assert PAGE.read_text() == run.page(found), "python docs/python_types.py writes it"
