"""Relations between operation records: forms that wrap, exchanged and negated comparisons, cost classes, traits."""
import itertools
import pathlib
import re

import pytest

import pyjitc
from pyjitc.ir import core as ir
from pyjitc.ir.core import CALL, EXPENSIVE, FREE
from pyjitc.ops.arith import FLOAT_COMPARISONS, INT_MAX, INT_MIN, INTEGER_COMPARISONS
from pyjitc.ops.random import RANDOM_DRAW
from pyjitc.ops.table import OPS

INTS = (0, 1, -1, 2, 3, 62, 63, -7, 1 << 40, INT_MAX, INT_MIN)
FLOATS = (0.0, -0.0, 1.5, -2.0, float("inf"), float("-inf"), float("nan"))
CHECKED = [op for op in OPS.values() if op.wrapping is not None]
COMPARISONS = [(op, INTS) for op in INTEGER_COMPARISONS] + [(op, FLOATS) for op in FLOAT_COMPARISONS]


@pytest.mark.parametrize("op", CHECKED, ids=lambda op: op.name)
def test_the_form_that_wraps_computes_the_same_where_the_check_holds(op):
    count = 1 if op.name in ("ineg_ck", "iabs_ck") else 2
    fine = 0
    for args in itertools.product(INTS, repeat=count):
        if op.name == "ifloordiv_ck" and args[1] == 0 or op.name == "ishl_ck" and not 0 <= args[1] < 64:
            continue
        wrapped = op.wrapping(*args)
        try:
            expected = op(*args)
        except OverflowError:
            assert INT_MIN <= wrapped <= INT_MAX
            continue
        fine += 1
        assert wrapped == expected and type(wrapped) is type(expected)
    assert fine >= len(INTS) - 1


def test_all_checked_integer_operations_have_a_form_that_wraps():
    assert {op.name for op in CHECKED} == {op.name for op in OPS.values() if op.name.endswith("_ck")}
    assert all(op.wrapping.effects == 0 and op.wrapping.wrapping is None for op in CHECKED)


@pytest.mark.parametrize("op, values", COMPARISONS, ids=lambda x: getattr(x, "name", ""))
def test_comparisons_know_those_that_belong_to_them(op, values):
    for x, y in itertools.product(values, repeat=2):
        assert op.swapped(y, x) is op(x, y)
        if op.negated is not None:
            assert op.negated(x, y) is not op(x, y)
    assert op.swapped.swapped is op
    assert (op.negated is None) == (op.name in ("flt", "fle", "fgt", "fge"))
    assert op.negated is None or op.negated.negated is op


def test_only_comparisons_are_exchanged_and_negated():
    others = set(OPS.values()) - {op for op, _ in COMPARISONS}
    assert not [op for op in others if op.swapped is not None or op.negated is not None]


def test_relations_are_said_once():
    with pytest.raises(AttributeError, match="related once"):
        INTEGER_COMPARISONS[0].relate(INTEGER_COMPARISONS[1], None)


def test_cost_classes():
    assert all(FREE <= op.cost <= CALL for op in OPS.values())
    for name in ("invoke", "exp", "pow", "frem", "array_new", "nest"):
        assert OPS[name].cost == CALL
    assert OPS["fdiv"].cost == OPS["sqrt"].cost == OPS["imod"].cost == EXPENSIVE
    assert OPS["tuple_get"].cost == OPS["array_dim"].cost == FREE
    assert OPS["iadd"].cost < OPS["fadd"].cost < OPS["fdiv"].cost < OPS["exp"].cost


def of_trait(trait):
    return [op for op in OPS.values() if op.traits & trait]


def test_traits_agree_with_effects():
    for op in of_trait(ir.LOAD | ir.LOAD_OF_NUMBERS):
        assert ir.regions_read(op.effects) and not ir.regions_written(op.effects) & ~ir.COUNTS, op
    for op in of_trait(ir.NEW_MEMORY):
        assert op.effects & ir.ALLOCATES and not op.effects & ir.WRITES, op
    for op in of_trait(ir.ONLY_MEMORY_ERROR):
        assert op.effects & ir.RAISES and op.effects & ir.ALLOCATES and not op.effects & ir.WRITES, op
    for op in of_trait(ir.WRITES_FIRST | ir.WRITES_OPERANDS):
        assert op.effects & ir.WRITES, op
    for op in of_trait(ir.CHECKS_FIRST):
        assert op.effects == ir.RAISES, op
    for op in of_trait(ir.ELEMENTARY | ir.ROUNDS | ir.SINGULAR):
        pure = op.effects == ir.PURE or op is RANDOM_DRAW  # which differentiates the number of the same bits
        assert pure and callable(op.partials) or op.traits & ir.ROUNDS, op


def test_sums_whose_order_is_free_are_inexact():
    """An instruction is marked `loose` where the order of a chain of operations that round does not count."""
    loose = [op for op in OPS.values() if "loose" in op.attrs and op.lower is not None and not op.name.startswith("v")]
    assert {op.name for op in loose} == {"fadd", "fsub", "fmul"}
    assert all(op.traits & ir.INEXACT and op.effects == ir.PURE for op in loose)
    assert {op.name for op in of_trait(ir.INEXACT)} == {"fadd", "fsub", "fmul", "fdiv"}


def test_traits_of_objects_agree_with_effects():
    for op in of_trait(ir.NEW_OBJECT):
        assert op.effects & ir.RAISES and op.effects & ir.ALLOCATES and op.effects & ir.HOST, op
    for op in of_trait(ir.STORES_ITEM):
        assert op.stores is not None and ir.regions_written(op.effects) == ir.OBJECTS, op
    for op in of_trait(ir.MAKES_TEXT):
        assert op.effects & ir.RAISES and op.effects & ir.HOST, op


@pytest.mark.parametrize("room", ("infer", "passes", "codegen", "pipeline"))
def test_no_names_of_operations_are_compared(room):
    """Records are compared, or traits and effects are asked for."""
    compares = re.compile(r"\bop\.name (==|!=|in|not in) ")
    found = (pathlib.Path(pyjitc.__file__).parent / room).rglob("*.py")
    assert not [path.name for path in found if compares.search(path.read_text())]
