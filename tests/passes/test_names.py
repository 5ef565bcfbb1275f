"""Operations that passes know by name, because few programs load the modules of their records: the names exist."""
import ast
import pathlib

import pytest

from pyjitc import passes
from pyjitc.ops.table import OPS

FILES = sorted(pathlib.Path(passes.__file__).parent.glob("*.py"))


def is_name_of_op(node) -> bool:
    """Whether an expression is `op.name` or `inst.op.name`."""
    return isinstance(node, ast.Attribute) and node.attr == "name" and (
        isinstance(node.value, ast.Attribute) and node.value.attr == "op"
        or isinstance(node.value, ast.Name) and node.value.id == "op")


def compared(tree):
    """The texts with which names of operations are compared; a set has a name of its own in the module."""
    sets = {node.targets[0].id: node.value for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and is_name_of_op(node.left):
            for other in node.comparators:
                for part in ast.walk(sets.get(other.id, other) if isinstance(other, ast.Name) else other):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.value


NAMES = {(path.name, name) for path in FILES for name in compared(ast.parse(path.read_text()))}


def test_they_are_found():
    assert {name for _, name in NAMES} >= {"field_get", "list_new", "instance_at", "local_claim", "object_new"}


@pytest.mark.parametrize("file, name", sorted(NAMES))
def test_there_is_such_an_operation(file, name):
    assert name in OPS
