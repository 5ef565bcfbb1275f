"""The size of compiled functions. LLVM takes a time that is quadratic in the branches of a function, so a function with
many calls of the library and many array statements leaves most of them as calls."""
import traceback

import numpy as np
import pytest
from tests.ir.stages import optimised
from tests.oracle import agree

from pyjitc import njit
from pyjitc.ir.core import Function
from pyjitc.ir.tree import Leaf, Node
from pyjitc.ops.control import INVOKE
from pyjitc.passes import inline, nests
from pyjitc.passes.fusion import alike

A, B = np.linspace(-1.0, 1.0, 4), np.ones(4)


def program(statement, count, result="a"):
    lines = "".join(f"    {statement.format(i=i)}\n" for i in range(count))
    namespace = {"np": np}
    exec(f"def f(a, b):\n    s = 0.0\n{lines}    return {result}\n", namespace)
    return namespace["f"]


def size(fn):
    return sum(len(block.insts) for block in fn.blocks)


@pytest.fixture(autouse=True)
def small_limits(monkeypatch):
    monkeypatch.setattr(nests, "MANY", 300)
    monkeypatch.setattr(inline, "GROWTH", 300)


@pytest.mark.parametrize("statement, result", [
    ("a = np.concatenate((a, b))", "a"), ("s += (a * {i}.5 + b).sum()", "s"),
])
def test_the_function_stops_growing(statement, result):
    """Beyond some number of statements, each adds the instructions of a call."""
    small, large = (optimised(program(statement, count, result), (A, B)).functions for count in (6, 9))
    assert size(large[0]) - size(small[0]) < 15 * 3
    agree(program(statement, 9, result), A, B)


def test_statements_that_do_the_same_share_a_function():
    f = program("a[:] = np.sqrt(np.abs(a)) * 0.5 + b; b[0] = a[1]", 12)
    functions = optimised(f, (A, B)).functions
    assert sum("nest" in fn.name for fn in functions) == 1
    assert sum(inst.op is INVOKE and "nest" in inst.attrs["callee"].name
               for block in functions[0].blocks for inst in block.insts) > 3
    agree(f, A, B)


def test_an_array_expression_of_many_lines_asks_for_its_length_once():
    fn = optimised(program("a = a * {i}.5 + b", 12), (A, B)).functions[0]
    assert [inst.op.name for block in fn.blocks for inst in block.insts].count("broadcast") == 1


def test_a_call_that_stays_raises_where_it_stands():
    f = program("a = np.concatenate((a, b if {i} < 7 else b[:, None]))", 8)
    lines = []
    for function in f, njit(f):
        with pytest.raises(ValueError) as caught:
            function(A, B)
        lines.append([(one.name, one.lineno) for one in traceback.extract_tb(caught.value.__traceback__)
                      if one.name == "f"])
    assert lines[0] == lines[1] == [("f", 10)]


def test_trees_with_shared_parts_are_compared_part_by_part():
    """A comparison of all paths would take a time that doubles with each level."""
    kernel, x, y = Function("k"), Leaf(0), Leaf(0)
    for _ in range(200):
        x, y = Node(kernel, (x, x)), Node(kernel, (y, y))
    assert alike(x, y) and not alike(x, Node(kernel, (y, Leaf(1))))
