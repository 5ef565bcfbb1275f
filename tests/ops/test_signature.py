import pytest

from pyjitc.ops.signature import signature
from pyjitc.types import kinds as k


def test_letters_bind_one_type_each():
    rule = signature("x: F, y: F -> F")
    assert rule((k.float32, k.float32), {}) is k.float32
    assert rule((k.Float, k.Float), {}) is k.Float
    with pytest.raises(TypeError, match=r"operand y is float: expected x: F, y: F -> F"):
        rule((k.float64, k.Float), {})
    with pytest.raises(TypeError, match="operand x is int"):
        rule((k.Int, k.Int), {})
    with pytest.raises(TypeError, match="expected 2 operands"):
        rule((k.Float,), {})


def test_named_types_alternatives_numbered_letters_and_attributes():
    assert signature("x: float, n: int -> bool")((k.Float, k.Int), {}) is k.Bool
    assert signature("x: I|B, y: I|B -> bool")((k.bool_, k.bool_), {}) is k.Bool
    assert signature("x: F1, y: F2 -> F2")((k.Float, k.float32), {}) is k.float32
    assert signature("x: N -> {type}")((k.int8,), {"type": k.Float}) is k.Float
    assert signature("x: T")((k.Str,), {}) is None


def test_texts_are_parsed_at_the_first_use():
    rule = signature("x: Q -> Q")
    with pytest.raises(SyntaxError, match="unknown type 'Q'"):
        rule((k.Int,), {})
    with pytest.raises(SyntaxError, match="without a type"):
        signature("x -> int")((k.Int,), {})
