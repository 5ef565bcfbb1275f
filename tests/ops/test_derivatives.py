"""The derivatives of operation records: a rule, zero with the reason why, or no rule yet."""
import re

import pytest

from pyjitc.lib.build import DERIVATIVES, FLAGS, derivatives, outlined
from pyjitc.ops import table
from pyjitc.ops.effects import NO_RULE, NONDIFF, STRUCTURAL, NoDerivative, Zero, derivative_of

OPS = sorted(table.OPS.values(), key=lambda op: op.name)
# Operations on floats without a rule yet: a zero derivative would be a wrong gradient.
UNKNOWN = """
    add_rows atomic atomic_cas bits bits32 blas c_call dict_ask dict_find dict_get dict_hold dict_new dict_next
    dict_put dict_set dot field_get field_peek field_set from_bits from_bits32 hand_out heap_pop heap_push holds
    instance_at instance_init instance_load instance_new instance_put instance_store iter_new iter_next iterator_new
    lanes list_append list_begin list_blank list_copied list_get list_new list_object list_pop list_set list_sort
    llvm_call local_ask local_ask_list local_find local_get local_leave local_next local_of local_store local_table
    native_at native_copy native_cut native_filled native_init native_leave native_lift native_load native_new
    native_outside native_push native_put native_room native_shift native_sort native_sort_as_python native_sort_by
    native_spread native_store native_take native_unshift object_call object_new owned_begin owned_get owned_key
    polynomial pow_rest py_api py_box py_call py_getattr py_next py_send py_test py_unbox py_variable random_call
    rejecting set_new set_next set_put shuffle slot_load slot_store small_product sum_eights tuple_from tuple_like
    tuple_put warp_reduce"""


def test_every_operation_is_in_one_of_three_states():
    for op in OPS:
        said = op.partials
        assert callable(said) + (said is STRUCTURAL) + isinstance(said, Zero) + (said is NO_RULE) == 1, op
        assert not isinstance(said, Zero) or said.reason
    assert [op.name for op in OPS if op.partials is NO_RULE] == UNKNOWN.split()


def test_no_rule_is_an_error_when_asked():
    with pytest.raises(NoDerivative, match="no rule for the derivative of the operation 'blas' yet"):
        derivative_of(table.OPS["blas"])
    assert derivative_of(table.OPS["ieq"]) is NONDIFF and derivative_of(table.OPS["select"]) is STRUCTURAL
    assert callable(derivative_of(table.OPS["sin"]))


def test_what_gives_a_float_is_not_called_discrete():
    """The test reads the texts of type rules, in which a letter is the type of an operand."""
    for op in OPS:
        text = getattr(op.rule, "text", None)
        if text is None:
            continue
        operands, _, result = (part.strip() for part in text.partition("->"))
        floats = re.search(r"\bF\d?\b|\bC\b|\bN\b|\bS\b|\bT\b|float|complex|I\|F", operands)
        if re.fullmatch(r"[FCNST]\d?|float\d*|complex\d*|I\|F", result):
            assert op.partials is not NONDIFF, op
            # the derivative of a float by floats is zero only where the result is rounded, or where the program says so
            assert not floats or not isinstance(op.partials, Zero) or op.name in (
                "floor", "ceil", "trunc", "rint", "round_away", "round_digits", "stopped"), op


def test_a_library_function_has_its_derivatives_beside_it():
    @outlined
    def scaled(a, x, how):
        return a * x

    def tangent(a, x, a_t, x_t):
        return a_t * x

    def adjoint(a, x, a_, x_, g):
        a_ += g * x

    try:
        derivatives(scaled, tangent, adjoint, "x")
        found = DERIVATIVES[scaled.__code__]
        assert (found.tangent, found.adjoint, found.rereads, found.writes) == (tangent, adjoint, (1,), ())
        with pytest.raises(TypeError, match="tangent takes a, x, a_t, x_t: expected parameters of a, x, how and then"):
            derivatives(scaled, tangent, tangent)
    finally:
        DERIVATIVES.pop(scaled.__code__, None)
        FLAGS.pop(scaled.__code__, None)
