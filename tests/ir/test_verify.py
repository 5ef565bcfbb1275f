"""Broken IR is recognised; each case changes one thing of a function that is fine."""
import pytest
from tests.ir.functions import A, FUNCTIONS
from tests.ir.stages import generic, optimised, typed

from pyjitc.base.errors import VerifyError
from pyjitc.ir.core import Block, Edge, Inst, Value
from pyjitc.ir.parse import parse_module
from pyjitc.ir.verify import verify, verify_module
from pyjitc.ops import arith, control, generic as generic_ops
from pyjitc.ops.table import OPS
from pyjitc.types.kinds import Float, Int

TEXT = """
fn f(n: int, t: bool) -> int:
  entry(n: int, t: bool):
    one = const 1 : int
    branch t -> left(n), right()
  left(x: int):
    y = iadd_ck x, one : int ! handler(x)
    z = iadd_ck y, one : int ! handler(y)
    jump done(z)
  handler(seen: int):
    e = exc_fetch : exception BaseException
    jump done(seen)
  right():
    r = invoke @g(n) : int
    jump done(r)
  done(w: int):
    return w
fn g(k: int) -> int:
  entry(k: int):
    return k
"""


def fine():
    f, g = parse_module(TEXT, OPS)
    verify(f)
    verify(g)
    return f


def blocks(f):
    return {block.name: block for block in f.blocks}


def values(f):
    found = {v.name: v for block in f.blocks for v in block.params}
    return found | {i.result.name: i.result for b in f.blocks for i in b.insts if i.result is not None}


def no_blocks(f):
    f.blocks.clear()


def empty_block(f):
    blocks(f)["right"].insts.clear()


def no_terminator(f):
    blocks(f)["right"].insts.pop()


def terminator_in_the_middle(f):
    done = blocks(f)["done"]
    done.insts.append(done.insts[0])


def wrong_number_of_arguments(f):
    blocks(f)["right"].terminator.targets[0].args.clear()


def wrong_type_of_argument(f):
    blocks(f)["right"].terminator.targets[0].args[0] = values(f)["t"]


def unwind_argument_of_wrong_type(f):
    blocks(f)["left"].insts[0].unwind.args[0] = values(f)["t"]


def unknown_block(f):
    blocks(f)["right"].terminator.targets[0] = Edge(Block("elsewhere", [Value(Int)]), [values(f)["n"]])


def edge_to_entry(f):
    blocks(f)["right"].terminator.targets[0] = Edge(f.entry, [values(f)["n"], values(f)["t"]])


def block_twice(f):
    f.blocks.append(f.blocks[1])


def use_not_dominated(f):
    blocks(f)["done"].terminator.args[0] = values(f)["z"]


def use_before_definition(f):
    blocks(f)["left"].insts.reverse()
    blocks(f)["left"].insts.append(blocks(f)["left"].insts.pop(0))


def unwind_passes_what_raised(f):
    blocks(f)["left"].insts[0].unwind.args[0] = values(f)["y"]


def handler_reads_what_may_not_have_run(f):
    blocks(f)["handler"].terminator.targets[0].args[0] = values(f)["y"]


def cleanup_of_what_is_not_defined(f):
    blocks(f)["left"].insts[0].cleanup = (values(f)["z"],)


def never_defined(f):
    blocks(f)["done"].terminator.args[0] = Value(Int, "ghost")


def defined_twice(f):
    blocks(f)["left"].insts[1].result = values(f)["y"]


def defined_by_another(f):
    values(f)["y"].inst = blocks(f)["left"].insts[1]


def parameter_with_a_definition(f):
    values(f)["x"].inst = blocks(f)["left"].insts[1]


def no_type(f):
    values(f)["e"].type = None


def wrong_result_type(f):
    values(f)["y"].type = Float


def rule_refuses(f):
    blocks(f)["left"].insts[1].args[1] = values(f)["t"]


def generic_operation(f):
    blocks(f)["left"].insts.insert(0, Inst(generic_ops.TRUTH, [values(f)["n"]], result=Value(Int)))


def unwind_of_pure(f):
    blocks(f)["left"].insts[0].op = arith.IADD


def callee_takes_other_types(f):
    blocks(f)["right"].insts[0].args[0] = values(f)["t"]


def callee_takes_fewer(f):
    blocks(f)["right"].insts[0].args.append(values(f)["n"])


def callee_returns_another_type(f):
    blocks(f)["right"].insts[0].attrs["callee"].result = Float


def branch_on_int(f):
    f.entry.terminator.args[0] = values(f)["n"]


def branch_with_one_target(f):
    f.entry.terminator.targets.pop()


def unknown_attribute(f):
    blocks(f)["left"].insts[0].attrs = {"axis": 0}


def returns_another_type(f):
    blocks(f)["done"].terminator.args[0] = values(f)["t"]


CASES = [
    (no_blocks, "no blocks"), (empty_block, "empty block"), (no_terminator, "no terminator at the end"),
    (terminator_in_the_middle, "a terminator in the middle"),
    (wrong_number_of_arguments, "0 arguments for the 1 parameters of done"),
    (wrong_type_of_argument, "t: bool for parameter w: int of done"),
    (unwind_argument_of_wrong_type, "t: bool for parameter seen: int"),
    (unknown_block, "a block elsewhere that is not in the function"), (edge_to_entry, "an edge to the entry"),
    (block_twice, "a block stands in the list twice"),
    (use_not_dominated, "<z: int> is read where its definition need not have run"),
    (use_before_definition, "<y: int> is read where"), (unwind_passes_what_raised, "<y: int> is read where"),
    (handler_reads_what_may_not_have_run, "<y: int> is read where"),
    (cleanup_of_what_is_not_defined, "<z: int> is read where"),
    (never_defined, "<ghost: int> is read but defined nowhere"), (defined_twice, "<y: int> is defined twice"),
    (defined_by_another, "<y: int> names another instruction as its definition"),
    (parameter_with_a_definition, "<x: int> names another instruction as its definition"),
    (no_type, "value e has no type"),
    (wrong_result_type, r"the result of iadd_ck of \(int, int\) is float instead of int"),
    (rule_refuses, r"iadd_ck of \(int, bool\): TypeError: operand y is bool"),
    (generic_operation, "a generic operation in typed IR"),
    (unwind_of_pure, "an unwind edge at an operation that cannot raise"),
    (callee_takes_other_types, r"invoke of \(bool\) instead of \(int\)"),
    (callee_takes_fewer, r"invoke of \(int, int\) instead of \(int\)"),
    (callee_returns_another_type, r"the result of invoke of \(int\) is int instead of float"),
    (branch_on_int, r"branch of \(int\)"), (branch_with_one_target, "1 targets instead of 2"),
    (unknown_attribute, "iadd_ck takes no axis"), (returns_another_type, r"return of \(bool\) where int is returned"),
]


@pytest.mark.parametrize("breakage, message", CASES, ids=[breakage.__name__ for breakage, _ in CASES])
def test_broken_ir_is_refused(breakage, message):
    f = fine()
    breakage(f)
    with pytest.raises(VerifyError, match=message) as raised:
        verify(f, stage="breaking")
    assert str(raised.value).startswith("f after breaking: ")


COUNTED = """
fn f(a: float64[::1], n: int, t: bool) -> float64[::1]:
  entry(a: float64[::1], n: int, t: bool):
    b = array_new n {type: float64[::1]} : float64[::1]
    c = check_index n, n {axis: 0} : int ~ b
    d = check_index c, n {axis: 0} : int ! unwind()
    branch t -> left(), right()
  left():
    release b
    retain a
    return a
  right():
    jump done(b)
  done(r: float64[::1]):
    return r
  unwind():
    release b
    jump caught()
  caught():
    e = exc_fetch : exception BaseException
    release e
    retain a
    return a
"""


@pytest.mark.parametrize("old, new, message", [
    ("", "", None), ("  left():\n    release b\n", "  left():\n", "references of b stay behind"),
    ("  left():\n    release b\n", "  left():\n    release b\n    release b\n",
     "a reference of b that is not held is released"),
    (" ~ b", "", "references of b stay when an exception leaves"),
    ("int ~ b", "int ~ b, b", "a reference of b that is not held is released when"),
    ("    release e\n    retain a", "    release e", "a reference of a that is not held is returned"),
    ("  right():\n", "  right():\n    release b\n", "a reference of b that is not held is handed over"),
    ("    release b\n    retain a\n    return a\n  right", "    release b\n    jump right()\n  right",
     "on the ways to right references of b are counted differently")])
def test_references_are_balanced(old, new, message):
    (f,) = parse_module(COUNTED.replace(old, new) if old else COUNTED, OPS)
    verify(f, stage="simplify")  # references are counted only after the pass
    if message is None:
        verify(f, stage="refcount")
    else:
        with pytest.raises(VerifyError, match=message):
            verify(f, stage="refcount")


def test_only_functions_of_the_library_are_shared_by_compiles():
    f, g = parse_module(TEXT, OPS)
    verify_module([f, g], "inference")
    with pytest.raises(VerifyError, match="f after inference: g, which it calls, belongs to another compile"):
        verify_module([f], "inference")
    verify_module([f], "simplify")  # a pass is checked function by function
    g.library = True
    verify_module([f], "inference")
    nested = typed(fused, (A, A)).functions[0]
    nest = next(inst for block in nested.blocks for inst in block.insts if "tree" in inst.attrs)
    nest.attrs["tree"].kernel.library = False
    try:
        with pytest.raises(VerifyError, match="belongs to another compile"):
            verify_module([nested], "inference")
    finally:
        nest.attrs["tree"].kernel.library = True


def fused(a, b):
    return (a + b) * a


@pytest.mark.parametrize("breakage, message", [
    (lambda nest, node: nest.attrs.update(count=0), "a template of .* is given"),
    (lambda nest, node: setattr(node, "parts", node.parts[:1]), "kernel .* is given"),
    (lambda nest, node: setattr(node, "parts", (node, node)), "a tree that goes round"),
    (lambda nest, node: setattr(node.parts[0], "index", 7), "operand 7 of")])
def test_broken_nests_are_refused(breakage, message):
    f = typed(fused, (A, A)).functions[0]
    verify(f)
    nest = next(inst for block in f.blocks for inst in block.insts if "tree" in inst.attrs)
    breakage(nest, nest.attrs["tree"])
    with pytest.raises(VerifyError, match=message):
        verify(f)


def test_unreachable_blocks_may_read_anything_defined():
    f = fine()
    block = Block("lost")
    block.insts.append(Inst(control.RETURN, [values(f)["z"]]))
    f.blocks.append(block)
    verify(f)


def test_generic_ir_has_no_types():
    fn = generic(FUNCTIONS[0][0])
    verify(fn, generic=True)
    with pytest.raises(VerifyError, match="no result type"):
        verify(fn)
    fn.params[0].type = Int  # the front end caches the IR of this function
    try:
        with pytest.raises(VerifyError, match="of generic IR has a type"):
            verify(fn, generic=True)
    finally:
        fn.params[0].type = None


@pytest.mark.parametrize("function, calls", FUNCTIONS, ids=[function.__name__ for function, _ in FUNCTIONS])
def test_real_functions_pass(function, calls):
    verify(generic(function), generic=True)
    for stage in (typed, optimised):
        for fn in stage(function, calls[0]).functions:
            verify(fn)
