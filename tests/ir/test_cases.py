"""Files of IR before and after passes: cases/*.ir. `python -m tests.ir.test_cases --update` rewrites what is expected.

A case: `# run: dce, simplify` (passes by name), functions, `# expect:`, functions. The passes run on every function."""
import re
import sys
from pathlib import Path

import pytest

from pyjitc.base.options import Options
from pyjitc.ir.parse import parse_module
from pyjitc.ir.show import show
from pyjitc.ir.verify import verify
from pyjitc.ops.table import OPS
from pyjitc.passes import pipeline

CASES = sorted((Path(__file__).parent / "cases").glob("*.ir"))
PASSES = {one.__name__.rpartition(".")[2]: one for one in pipeline.PASSES}


def parts(path):
    """(names of passes, comment and input text, expected text)"""
    before, _, after = path.read_text().partition("# expect:\n")
    return re.search(r"^# run: (.*)$", before, re.M)[1].split(", "), before, after


def result(path):
    names, before, _ = parts(path)
    functions = parse_module(before, OPS)
    for fn in functions:
        verify(fn)
        for name in names:
            PASSES[name].run(fn, Options())
            verify(fn, stage=name)
    return "\n".join(map(show, functions))


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_case(path):
    assert result(path) == parts(path)[2]


def test_there_are_cases():
    assert len(CASES) >= 5


if __name__ == "__main__" and "--update" in sys.argv:
    for path in CASES:
        text = f"{parts(path)[1]}# expect:\n{result(path)}"
        if text != path.read_text():
            path.write_text(text)
            print("rewritten:", path.name)
