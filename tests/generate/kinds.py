"""Kinds of values in generated programs, and the results of operators on them, which are found by running Python and
NumPy.

A scalar kind is the name of its class; ("array", dtype, ndim) and ("tuple", kinds...) are the others."""
import operator
import warnings

import numpy as np

PYTHON = ("int", "float", "bool")
NUMPY = ("int8", "uint8", "int32", "int64", "uint64", "float32", "float64", "bool_")
SCALARS = PYTHON + NUMPY
DTYPES = ("float64", "int64", "float64", "int64", "int8", "uint8", "int32", "float32", "bool_", "uint64")
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
             "/": operator.truediv, "&": operator.and_, "|": operator.or_, "^": operator.xor}
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
CLASSES = {"int": int, "float": float, "bool": bool} | {name: getattr(np, name) for name in NUMPY}
_NAMES = {cls: name for name, cls in CLASSES.items()}


def kind_of(value):
    """The scalar kind of a value, or None."""
    return _NAMES.get(type(value))


def _table():
    """kind -> [(operator, left kind, right kind)] that give it."""
    made = {kind: [] for kind in SCALARS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for symbol, function in OPERATORS.items():
            for left in SCALARS:
                for right in SCALARS:
                    try:
                        result = kind_of(function(CLASSES[left](1), CLASSES[right](1)))
                    except TypeError:
                        continue
                    if result is not None:
                        made[result].append((symbol, left, right))
    return made


MAKES = _table()
IN_PLACE = {kind: [(symbol, right) for symbol, left, right in found if left == kind] for kind, found in MAKES.items()}


def is_python(*kinds):
    return all(kind in PYTHON for kind in kinds)


def result_of_comparison(left, right):
    return "bool" if is_python(left, right) else "bool_"
