"""Printing IR and reading it back; drawing it."""
import numpy as np
import pytest
from tests.ir.functions import FUNCTIONS, applied, caught, outer
from tests.ir.stages import generic, optimised, typed

from pyjitc.ir.flags import FunctionFlags
from pyjitc.ir.graph import dot
from pyjitc.ir.parse import parse, parse_module
from pyjitc.ir.show import attribute, references, show, show_module
from pyjitc.ir.verify import verify
from pyjitc.ops.table import OPS
from pyjitc.types import kinds as k

IDS = [function.__name__ for function, _ in FUNCTIONS]


@pytest.mark.parametrize("stage", [typed, optimised])
@pytest.mark.parametrize("function, calls", FUNCTIONS, ids=IDS)
def test_text_is_read_back(function, calls, stage):
    for args in calls:
        functions = stage(function, args).functions
        for locs in (False, True):
            text = show_module(functions, locs)
            again = parse_module(text, OPS, references(functions))
            assert show_module(again, locs) == text
        if function is not applied:  # the types of its two lambdas have the same text
            for fn in again:
                verify(fn)


@pytest.mark.parametrize("function, calls", FUNCTIONS, ids=IDS)
def test_generic_text_names_every_instruction(function, calls):
    fn = generic(function)
    lines = show(fn).splitlines()
    assert len(lines) == 1 + len(fn.blocks) + sum(len(block.insts) for block in fn.blocks)
    names = [line.split(" = ")[0].strip() for line in lines if " = " in line]
    assert len(set(names)) == len(names)


def test_text_shows_types_edges_and_lines():
    text = show(typed(caught, (FUNCTIONS[7][1][0])).functions[0], locs=True)
    assert text.startswith("fn caught(a: float64[::1], n: int) -> float:\n  entry(a: float64[::1], n: int):\n")
    line = caught.__code__.co_firstlineno + 2
    assert f" {{axis: 0}} : int ! handler()  @{line}:" in text
    assert " {classes: (<IndexError>,)} : bool" in text


def test_flags_of_functions_are_read_back():
    text = "library fn f(x: int) {noinline, alias_groups: 2, llvm_inline: 'never'} -> int:\n" \
           "  entry(x: int):\n    return x\n"
    fn = parse(text, OPS)
    assert fn.flags == FunctionFlags(noinline=True, alias_groups=2, llvm_inline="never") and show(fn) == text
    with pytest.raises(SyntaxError, match="functions have no flag 'inlined'"):
        parse(text.replace("noinline", "inlined"), OPS)


def test_callees_are_named():
    text = "\n".join(line for line in show(typed(outer, (1.0,)).functions[0]).splitlines()
                     if "const <inner>" not in line)
    assert "= invoke @inner(" in text
    with pytest.raises(SyntaxError, match="no function @inner"):
        parse(text, OPS)


@pytest.mark.parametrize("value", [
    None, True, 0, -5, 1.5, float("inf"), -0.0, 1e300, 2j, 1 - 2.5j, complex(float("inf"), -0.0), "a, {b} ! 'c' # \n",
    b"\x00'", (), (1,), ("x", (2.0, None)), np.datetime64("2020-01-01T05"), np.timedelta64("NaT", "25s"),
    np.timedelta64(7), ..., len, ValueError, k.Undefined, k.Array(k.int8, 2, "A")])
def test_attributes_are_read_back(value):
    values = ([value, np.float32(value)] if type(value) is float else [value, np.int8(value)] if type(value) is int
              else [value])
    for each in values:
        text = f"fn f() -> None:\n  entry():\n    v = const {attribute(each)} : object\n    return v\n"
        fn = parse(text, OPS, {"<builtin len>": len})
        read = fn.entry.insts[0].attrs["value"]
        assert type(read) is type(each) and repr(read) == repr(each)
        assert show(fn) == text


@pytest.mark.parametrize("t", [
    k.Int, k.Array(k.float32, 2, "F", False), k.Tuple((k.Int, k.Tuple(()), k.Tuple((k.Str,)))),
    k.union_of((k.Int, k.NoneType)), k.Exception_(KeyError), k.Iterator(k.Range),
    k.Struct("pair", (("a", k.Int), ("b", k.union_of((k.Int, k.Float))))), k.Method(k.Array(k.int8, 1), "sum"),
    k.Slice(k.Int, k.NoneType, k.NoneType), k.Singleton(len), k.DType(k.float64), k.Unbound, k.NpTime("M", "D"),
    k.Array(k.NpTime("m", "s", 25), 2), k.NpTime("m")])
def test_types_are_read_back(t):
    text = f"fn f(x: {t}) -> {t}:\n  entry(x: {t}):\n    return x\n"
    fn = parse(text, OPS)
    assert fn.result is t and fn.entry.params[0].type is t
    assert show(fn) == text


@pytest.mark.parametrize("line, why", [
    ("x = nothing y : int", "unknown operation 'nothing'"), ("return y", "y is not defined"),
    ("jump b()", "no block b"), ("x = iadd p, p : in", "unknown type 'in'"),
    ("x = iadd p, p : int junk", "unexpected 'junk'"), ("return p p", "unexpected text")])
def test_mistakes_are_located(line, why):
    with pytest.raises(SyntaxError, match=f"line 3: {why}"):
        parse(f"fn f(p: int) -> int:\n  entry(p: int):\n    {line}\n    return p\n", OPS)


def test_trees_of_element_functions_are_read_back():
    text = """fn f(n: int, a: float64[::1]) -> None:
  entry(n: int, a: float64[::1]):
    v = nest n, a {template: @each, tree: @add(@square($0), @square($0)), count: 1} : None
    return v

library fn each(n: int) -> None:
  entry(n: int):
    v = const None : None
    return v

library fn square(x: float64) -> float64:
  entry(x: float64):
    y = fmul x, x : float64
    return y

library fn add(x: float64, y: float64) -> float64:
  entry(x: float64, y: float64):
    z = fadd x, y : float64
    return z
"""
    functions = parse_module(text, OPS)
    tree = functions[0].entry.insts[0].attrs["tree"]
    assert tree.parts[0] is tree.parts[1] and tree.parts[0].kernel is functions[2]
    assert show_module(functions) == text


def test_comments_are_skipped():
    fn = parse("# a case\nfn f() -> str:\n  entry():  # here\n    v = const '# no comment' : str\n\n    return v\n",
               OPS)
    assert fn.entry.insts[0].attrs["value"] == "# no comment"


def test_graph_has_every_block_and_edge():
    fn = typed(caught, FUNCTIONS[7][1][0]).functions[0]
    text = dot(fn)
    assert text.count("[label=\"") == len(fn.blocks)
    assert text.count("style=dashed") == len({(b, i.unwind.block) for b in fn.blocks for i in b.insts if i.unwind})
    assert text.startswith("digraph \"caught\" {") and text.endswith("}\n")
    assert "= check_index n, " in text and "\\l" in text
