"""Evaluates, in plain Python, the expressions that rules return: Apply through `eval`, Call by calling."""
import math

import numpy as np

from pyjitc.infer.meaning import UNKNOWN, Apply, Call, Const, Mismatch, Operand, Throw
from pyjitc.lib import table  # noqa: F401 (rules ask the protocols that it declares)
from pyjitc.types import kinds as k

TYPES = {bool: k.Bool, int: k.Int, float: k.Float, complex: k.Complex, type(None): k.NoneType}


def type_of(value):
    if type(value) in TYPES:
        return TYPES[type(value)]
    if isinstance(value, tuple):
        return k.Tuple(tuple(map(type_of, value)))
    return k.NUMPY_SCALARS["bool_" if value.dtype.kind == "b" else value.dtype.name]


def operands(values, known=False):
    return [Operand(i, type_of(v), v if known else UNKNOWN) for i, v in enumerate(values)]


def evaluate(expr, values):
    return _evaluate(expr, values)


def _evaluate(expr, values):
    if isinstance(expr, Operand):
        return values[expr.index]
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Throw):
        raise expr.exception(*(expr.given or (expr.message,)))
    args = [_evaluate(x, values) for x in expr.operands]
    if isinstance(expr, Call):
        return expr.function(*args)
    assert isinstance(expr, Apply)
    result = expr.op(*args, **expr.attrs)
    if expr.type is not None:  # unknown below a Call
        assert expr.type is type_of(result), (expr.op, expr.type, result)
    return result


def outcome(function, *args):
    """(type, value) or (exception class, its args), in a form in which nans are equal and zeros of different signs
    differ."""
    try:
        with np.errstate(all="ignore"):
            result = function(*args)
    except Mismatch as error:
        return error.exception, error.given or (error.message,)
    except Exception as error:
        return type(error), error.args
    return shape(result)


def shape(value):
    if isinstance(value, tuple):
        return tuple, tuple(map(shape, value))
    if isinstance(value, (complex, np.complexfloating)):
        return type(value), shape(float(value.real))[1], shape(float(value.imag))[1]
    if isinstance(value, (float, np.floating)):
        return type(value), "nan" if value != value else (float(value), math.copysign(1, value))
    return type(value), value


def both(rule, reference, values, deviation=None):
    """Compare a rule's result with the reference, for unknown and for known operands."""
    expected = outcome(reference, *values)
    for known in (False, True):
        got = outcome(lambda: evaluate(rule(*operands(values, known)), values))
        if got != expected and not (deviation and deviation(expected, got)):
            return f"{values} known={known}: expected {expected}, got {got}"
    return None
