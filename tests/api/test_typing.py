"""What type checkers are told: a decorated function keeps its parameters and its result."""
import ast
import inspect
import pathlib
import subprocess
import sys

import pytest

import pyjitc
from pyjitc.api.dispatch import CompiledFunction

ROOT = pathlib.Path(pyjitc.__file__).parents[1]
STUB = ast.parse((ROOT / "pyjitc" / "__init__.pyi").read_text())

PROGRAM = '''
from pyjitc import float64, grad, njit, prange
from pyjitc.numba import njit as other

@njit
def twice(x: int, n: int = 2) -> int:
    return x * n

@njit("float64(float64)", cache=False)
def half(x: float) -> float:
    for _ in prange(3):
        pass
    return x / 2

class Body:
    @njit
    def moved(self, by: float) -> "Body":
        return self

@njit
class Point:
    def norm(self) -> float:
        return 1.0

reveal_type(twice)
reveal_type(half(2.0))
reveal_type(Body().moved(1.0))
reveal_type(Point().norm())
reveal_type(grad(half))
reveal_type(float64)
reveal_type(other(half.py_func))
reveal_type(twice.py_func)
twice("x")
twice()
njit(overflow="wrop")
'''
REVEALED = ["pyjitc._Compiled[[x: int, n: int =], int]", "float", "Body", "float", "Any", "Any",
            "pyjitc._Compiled[[x: float], float]", "def (x: int, n: int =) -> int"]


def parameters(node):
    given = node.args
    return [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def test_the_declared_functions_and_methods_are_those_that_there_are():
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            assert node.name in pyjitc.__all__ and hasattr(pyjitc, node.name)
    (compiled,) = [node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == "_Compiled"]
    declared = {node.name: node for node in compiled.body if isinstance(node, ast.FunctionDef)}
    public = {name for name in vars(CompiledFunction) if not name.startswith("_")}
    assert public - {"options", "py_func"} <= declared.keys()
    for name in public & declared.keys():
        there = vars(CompiledFunction)[name]
        if inspect.isfunction(there):
            assert list(inspect.signature(there).parameters) == parameters(declared[name]), name
    options = {name for node in STUB.body if isinstance(node, ast.FunctionDef) and node.name == "njit"
               for name in parameters(node)}
    assert options >= set(pyjitc.base.options.NAMES)


def test_mypy_knows_the_types_of_decorated_functions(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "--follow-imports",
                           "silent", "--config-file", "/dev/null", "program.py"], cwd=tmp_path, capture_output=True,
                          text=True, env={"MYPYPATH": str(ROOT), "PATH": "/usr/bin:/bin"})
    lines = done.stdout.splitlines()
    revealed = [line.partition('Revealed type is "')[2][:-1].replace("program.", "") for line in lines
                if "Revealed type" in line]
    assert revealed == REVEALED, done.stdout + done.stderr
    wrong = [line.rpartition("[")[2] for line in lines if line.startswith("program.py") and ": error: " in line]
    assert wrong == ["arg-type]", "call-arg]", "call-overload]"]
