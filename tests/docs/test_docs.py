"""The things that the documents refer to exist: links, tests named in the table of deviations, programs, environment
variables."""
import ast
import inspect
import pathlib
import re

import pytest

import pyjitc
from pyjitc import cuda
from pyjitc.api.cli import STAGES
from pyjitc.base.options import ENVIRONMENT

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = "|".join(("tests", "docs", *(p.name for p in (ROOT / "pyjitc").iterdir() if p.is_dir())))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)  # programs have brackets before parentheses too
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_that_are_named_are_there(page):
    for code in re.findall(r"`([^`\n]+)`", page.read_text()):
        for path in re.findall(rf"(?:^|\s)((?:{FOLDERS})/[\w/.*-]+)", code):
            assert any(list(folder.glob(path.rstrip("/"))) for folder in (ROOT, ROOT / "pyjitc")), path


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
        assert not untyped(getattr(pyjitc, name)), name


def untyped(value):
    """Functions, or public methods of a class, without annotations of their parameters or result."""
    if inspect.isfunction(value):
        found = inspect.signature(value)
        given = [p for p in found.parameters.values() if p.name not in ("self", "cls")]
        return [value] if any(p.annotation is p.empty for p in given) or found.return_annotation is found.empty else []
    if inspect.isclass(value):
        members = [getattr(member, "__func__", getattr(member, "fget", member)) for name, member in vars(value).items()
                   if name[0] != "_"]
        return [found for member in members if inspect.isfunction(member) for found in untyped(member)]
    return []


def test_names_for_kernels_have_their_types():
    for value in [*(getattr(cuda, name) for name in cuda.__all__), type(cuda.jit(lambda: None))]:
        assert not untyped(value)


def test_environment_variables_are_documented():
    text = (ROOT / "docs" / "debugging.md").read_text()
    assert set(ENVIRONMENT) <= set(re.findall(r"PYJITC_\w+", text))
    for page in PAGES:
        assert set(re.findall(r"PYJITC_\w+", page.read_text())) <= set(ENVIRONMENT), page.name


def test_stages_are_documented():
    text = (ROOT / "docs" / "debugging.md").read_text()
    assert all(f"| `{stage}` |" in text for stage in STAGES)


def test_the_contrast_page_has_every_row():
    assigned = [node for node in ast.parse((ROOT / "tests" / "contrast" / "rows.py").read_text()).body
                if isinstance(node, ast.Assign)]
    rows = {row for node in assigned if node.targets[0].id in ("ROWS", "TRANSFORMATIONS")
            for row in ast.literal_eval(node.value)}
    assert len(rows) > 30
    named = set(re.findall(r"\*\*([\w-]+)\*\*", (ROOT / "docs" / "tracing.md").read_text()))
    assert not rows - named
