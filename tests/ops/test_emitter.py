"""The protocol between lowerings and emitters: lowerings use nothing else, and emitters implement all of it."""
import ast
import inspect
import pathlib

import pytest

from pyjitc.codegen.function import FunctionEmitter
from pyjitc.codegen.grid import _GridEmitter
from pyjitc.codegen.nvptx import _DeviceEmitter
from pyjitc.ir.core import Function
from pyjitc.codegen.module import Module
from pyjitc.base.options import Options
from pyjitc.ops.emitter import Emitter

METHODS = {name: found for name, found in vars(Emitter).items() if inspect.isfunction(found) and name[0] != "_"}
MEMBERS = {*METHODS, *Emitter.__annotations__}
OPS = sorted(pathlib.Path(inspect.getfile(Emitter)).parent.glob("*.py"))


def asked(tree):
    """(line, name) of each attribute of `e` that functions with a first parameter `e` use."""
    for fn in ast.walk(tree):
        if isinstance(fn, (ast.FunctionDef, ast.Lambda)) and [a.arg for a in fn.args.args][:1] == ["e"]:
            for node in ast.walk(fn):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "e":
                    yield node.lineno, node.attr


@pytest.mark.parametrize("path", OPS, ids=lambda path: path.name)
def test_lowerings_ask_for_the_protocol_alone(path):
    assert [(line, name) for line, name in asked(ast.parse(path.read_text())) if name not in MEMBERS] == []


def test_everything_in_the_protocol_is_asked_for():
    assert MEMBERS == {name for path in OPS for _, name in asked(ast.parse(path.read_text()))}


@pytest.mark.parametrize("cls", (FunctionEmitter, _GridEmitter, _DeviceEmitter))
@pytest.mark.parametrize("name", METHODS)
def test_emitters_have_the_methods_of_the_protocol(cls, name):
    def shape(function):
        parameters = inspect.signature(function).parameters.values()
        return [(p.name, p.kind, p.default) for p in parameters if p.name != "self"]

    assert shape(getattr(cls, name)) == shape(METHODS[name])


def test_emitters_have_the_attributes_of_the_protocol():
    e = FunctionEmitter(Module(Options()), Function("f"))
    assert [name for name in Emitter.__annotations__ if not hasattr(e, name)] == []


def test_the_protocol_is_documented_in_one_place():
    assert [name for name in METHODS if not METHODS[name].__doc__] == []
    assert [name for name in METHODS if name != "fail" and name != "components"
            and name in vars(FunctionEmitter) and vars(FunctionEmitter)[name].__doc__] == []
