"""What scripts write into the documents is what they write today."""
import importlib.util
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def language():
    module = script("language")
    return module, module.table()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a row is of Python 3.11")
def test_language_table(language):
    module, rows = language
    assert (DOCS / "language.md").read_text() == module.page(rows), "bring it up to date with: python docs/language.py"


def test_errors_of_the_language_table_are_located(language):
    for section, what, body, found in language[1]:
        if found is not None and found != "later":
            text = str(found)
            assert found.diagnostic.line and len(text.splitlines()) <= 8, text
            assert "Error" not in found.diagnostic.message, text


def test_stages(tmp_path):
    stages = script("stages")
    stages.write(tmp_path)
    for name in "bytecode ir typed opt llvm asm".split():
        assert 3 < len((tmp_path / f"{name}.txt").read_text().splitlines()) < 90, name
    assert "total_above" in (tmp_path / "llvm.txt").read_text() and "addsd" in (tmp_path / "asm.txt").read_text()
    for picture in ("cfg.svg", "pipeline.svg"):
        ElementTree.parse(tmp_path / picture)
    assert "<table" in (tmp_path / "display.html").read_text()
