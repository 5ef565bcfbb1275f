"""The size of compiled functions. LLVM takes a time that is quadratic in the branches of a function, so a function with
many calls of the library and many array statements leaves most of them as calls."""
import traceback

import numpy as np
import pytest
from tests.ir.stages import optimised
from tests.oracle import agree

from pyjitc import TypingError, njit
from pyjitc.infer.analysis import Analysis
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


def test_the_types_of_many_returns_are_joined_once_for_each(monkeypatch):
    joins, joined = [], Analysis.joined
    monkeypatch.setattr(Analysis, "joined", lambda *args: joins.append(args) or joined(*args))
    tests = "".join(f"    if x == {n}:\n        return {n}.5\n" for n in range(100))
    f = program_of(f"def f(x):\n{tests}    return -1.0\n")
    for x in (3, 99, 100):
        agree(f, x)
    assert 100 <= len(joins) < 1000


def test_each_item_of_a_tuple_is_boxed_where_it_is_stored():
    """LLVM takes quadratic time where thousands of objects are at hand at once."""
    f = program_of(f"def f(x):\n    return ({', '.join(f'x + {n}' for n in range(20))})\n")
    made = agree(f, 5)
    (text,) = made.inspect_llvm().values()
    calls = [line for line in text.splitlines() if "@PyTuple_New(i64 20)" in line or "@PyLong_FromLongLong(" in line
             and "call" in line]
    assert "@PyTuple_New" in calls[0] and len(calls) == 21


@pytest.mark.parametrize("display", ["({},)", "[{}]"])
def test_a_display_of_too_many_items_says_so(display):
    f = program_of(f"def f(x):\n    t = {display.format(', '.join(map(str, range(16385))))}\n    return t[x]\n")
    with pytest.raises(TypingError, match="this has 16385 items.*at most 16384"):
        njit(f)(5)
    agree(program_of(f"def f(x):\n    t = {display.format(', '.join(map(str, range(3000))))}\n    return t[x]\n"), 5)


def program_of(text):
    namespace = {}
    exec(text, namespace)
    return namespace["f"]
