"""Every example of the documents runs and shows what the page says (`python docs/pages.py --update` brings pages up to
date)."""
import importlib.util
import pathlib
import sys

import pytest


ROOT = pathlib.Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "pages.py")
pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)
WITH_EXAMPLES = [path for path in pages.PAGES if pages.blocks(path.read_text())]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="messages of Python 3.10 have no columns")
@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.name)
def test_examples_show_what_the_page_says(path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert not pages.check(path)


def test_the_start_pages_have_examples():
    assert {"README.md", "index.md", "tutorial.md", "errors.md"} <= {path.name for path in WITH_EXAMPLES}


def test_wrong_output_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2\nx + 1\n```\n```text\n4\n```\n\n```python\nprint(x)\n```\n\n```python\n1 / "
                    "0\n```\n")
    first, second = pages.check(page, update=True)
    assert first.startswith("page.md:2 shows\n3\n") and "ZeroDivisionError" in second
    assert "```text\n3\n```" in page.read_text()


def test_ellipsis():
    assert pages.matches("a ... b\n...\nc\n", "a 1 b\nany\nlines\nc\n")
    assert not pages.matches("a ... b\nc\n", "a 1 b\nd\n")


def test_messages_point_into_the_example():
    text = (ROOT / "docs" / "errors.md").read_text()
    shown = [block.expected for block in pages.blocks(text) if block.expected and "TypingError" in block.expected]
    assert len(shown) > 5
    for output in shown:
        lines = output.splitlines()
        first = next(k for k, line in enumerate(lines) if "TypingError" in line)
        assert len(lines) - first <= 8 and "^" in output and "at <cell" in output
