"""What the documents say is there: links, tests named in the table of deviations, programs, environment variables."""
import ast
import inspect
import pathlib
import re

import pytest

import pyjitc
from pyjitc.api.cli import STAGES
from pyjitc.base.options import ENVIRONMENT

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)  # programs have brackets before parentheses too
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), target


def test_every_deviation_has_a_test():
    rows = [line for line in (ROOT / "docs" / "semantics.md").read_text().splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 5
    for row in rows:
        file, name = re.search(r"`(tests/[\w/]+\.py)::(\w+)`", row).groups()
        names = {node.name for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.FunctionDef)}
        assert name in names, row


def test_public_names_are_in_the_reference_with_their_types():
    text = (ROOT / "docs" / "reference.md").read_text()
    for name in pyjitc.__all__:
        assert re.search(rf"\b{name}\b", text), name
        value = getattr(pyjitc, name)
        for function in [value] if inspect.isfunction(value) else []:
            found = inspect.signature(function)
            assert all(p.annotation is not p.empty for p in found.parameters.values()) and found.return_annotation is not found.empty, name


def test_environment_variables_are_documented():
    text = (ROOT / "docs" / "debugging.md").read_text()
    assert set(ENVIRONMENT) <= set(re.findall(r"PYJITC_\w+", text))
    for page in PAGES:
        assert set(re.findall(r"PYJITC_\w+", page.read_text())) <= set(ENVIRONMENT), page.name


def test_stages_are_documented():
    text = (ROOT / "docs" / "debugging.md").read_text()
    assert all(f"| `{stage}` |" in text for stage in STAGES)


def test_the_contrast_page_has_every_row():
    assigned = [node for node in ast.parse((ROOT / "tests" / "contrast" / "rows.py").read_text()).body if isinstance(node, ast.Assign)]
    rows = {row for node in assigned if node.targets[0].id in ("ROWS", "TRANSFORMATIONS") for row in ast.literal_eval(node.value)}
    assert len(rows) > 30
    named = set(re.findall(r"\*\*([\w-]+)\*\*", (ROOT / "docs" / "tracing.md").read_text()))
    assert not rows - named
