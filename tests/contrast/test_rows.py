"""Every row of the contrast has its tests: what pyjitc does, and what the tracing JIT does with the same program."""
import ast
import pathlib

import pytest

from .rows import ROWS, TRANSFORMATIONS


def marked():
    """(row, name of the test, whether the tracing JIT takes part) of every marked test of this folder."""
    for path in sorted(pathlib.Path(__file__).parent.glob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "row":
                        for argument in mark.args:
                            yield argument.value, node.name, "jax" in {a.arg for a in node.args.args}


FOUND = list(marked())


@pytest.mark.parametrize("name", ROWS + TRANSFORMATIONS)
def test_row_has_its_tests(name):
    assert {tracing for found, _, tracing in FOUND if found == name} == {False, True}


def test_marks_name_rows():
    assert {name for name, _, _ in FOUND} == {*ROWS, *TRANSFORMATIONS}
