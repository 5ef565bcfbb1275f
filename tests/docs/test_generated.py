"""The parts of documents that scripts write are what the scripts write now."""
import importlib.util
import json
import pathlib
import re
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


@pytest.mark.skipif(not (DOCS / "conformance.json").exists(),
                    reason="python docs/conformance.py has not run since it writes its data")
def test_numpy_table_is_of_its_data():
    found = json.loads((DOCS / "conformance.json").read_text())
    assert (DOCS / "conformance.md").read_text() == script("conformance").page(found)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", found["machine"]["date"])
    assert re.search(r"commit \w+$", found["machine"]["pyjitc"]), "of one commit, with no file changed"
    for counts in found["groups"].values():
        assert counts["calls"] == sum(counts[key] for key in ("same", "refused", "text", "bugs"))


def test_numpy_table_is_written_of_what_was_found():
    module = script("conformance")
    same, refused = module.run.Case("numpy", "sin", "np.sin(a)", "float64",
                                    "C"), module.run.Case("numpy", "cos", "np.cos(a)", "int8", "C")
    machine = {"date": "today", "numpy": "2", "Python": "3", "processor": "one", "pyjitc": "commit 1"}
    found = module.summary(machine, [("numpy", "sin"), ("numpy", "cos"), ("numpy", "info")],
                           [(same, "same", ""), (refused, "error", "an | in (/a/path/file.py:3) it")])
    page = module.page(json.loads(json.dumps(found)))
    assert "| numpy | 3 | 1 | 0 | 2 | 2 | 1 | 1 | 0 | 0 |" in page
    assert ("| sin | supported |  |" in page and "| cos | not | an \\| in it |" in page
            and "| info | not | prints |" in page)


def test_stages(tmp_path):
    stages = script("stages")
    stages.write(tmp_path)
    for name in "bytecode ir typed opt llvm asm".split():
        assert 3 < len((tmp_path / f"{name}.txt").read_text().splitlines()) < 90, name
    assert "total_above" in (tmp_path / "llvm.txt").read_text() and "addsd" in (tmp_path / "asm.txt").read_text()
    for picture in ("cfg.svg", "pipeline.svg"):
        ElementTree.parse(tmp_path / picture)
    display = (tmp_path / "display.html").read_text()
    assert "<table" in display and not re.search(r"\d ms", display)


def test_the_page_of_gradients_is_what_its_data_say():
    found = json.loads((DOCS / "gradients.json").read_text())
    module = script("gradients")
    assert (DOCS / "gradients.md").read_text() == module.page(found)
    assert not [row for row in found if row[3] in ("WRONG", "CRASH", "HANG")]
    groups = {group for group, *_ in found}
    for group in groups:
        assert {row[1] for row in found if row[0] == group} == set(module.run.names(group))
