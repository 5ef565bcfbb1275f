"""NumPy's ufuncs as expressions of one element: the loop that NumPy selects for given types, and its meaning.

NumPy itself is asked for the loop (`ufunc.resolve_dtypes`), once per ufunc and types; a rule per ufunc and kind says
what the loop does with operands of its types (arithmetic.py, functions.py). Scalars and array expressions both use
`loop`.
"""
from __future__ import annotations

from typing import Callable

import numpy as np

from ....base.errors import CompileError
from ....base.lazy import lazy
from ....base.named import Named
from ....infer.meaning import Call, Const, Expr, Mismatch, NotNative
from ....types import kinds as k
from ....types.lattice import dtype_of, element_types, kind_of, numpy_counterpart, type_of_dtype
from ....types.typeof import is_of_numpy
from ...build import cast, convert
from ...intrinsics import as_type
from ...rule import intrinsic
from . import arithmetic

dates = lazy("pyjitc.lib.np.dates.rules")
functions = lazy("pyjitc.lib.np.elementwise.functions")  # only expressions with functions, such as np.exp, load it
made = lazy("pyjitc.runtime.ufuncs")  # only programs that make ufuncs load it

__all__ = ["OPERATORS", "UNARY", "Loop", "loop", "fold_loop", "typed", "RELATIONS"]

OPERATORS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide, "%": np.remainder,
    "**": np.power, "<<": np.left_shift, ">>": np.right_shift, "&": np.bitwise_and, "|": np.bitwise_or,
    "^": np.bitwise_xor, "<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal, ">": np.greater,
    ">=": np.greater_equal,
}
UNARY = {"-": np.negative, "+": np.positive, "~": np.invert}

RELATIONS = {np.equal: "==", np.not_equal: "!=", np.less: "<", np.less_equal: "<=", np.greater: ">",
             np.greater_equal: ">="}


class Loop(Named, fields="inputs outputs rule"):
    """inputs, outputs: tuples of NumPy scalar types; rule: expressions of the input types -> expression (a tuple where
    there are two outputs)."""

    __slots__ = ()


_loops: dict[tuple, Loop] = {}
_WEAK = {k.Int: int, k.Float: float, k.Complex: complex}


def loop(ufunc: np.ufunc, types: tuple[k.Type, ...], dtype: k.Type | None = None, casting: str = "same_kind",
         outs=()) -> Loop:
    """The loop for operands of these scalar types, which are Python's (weak next to NumPy's) or NumPy's. Raises
    Mismatch where NumPy has none. dtype: the output dtype of the loop; outs: the types of the arrays for the results,
    None where one is not given."""
    key = (ufunc, types, dtype, casting, outs)
    found = _loops.get(key)
    if found is None:
        found = _loops[key] = _find(*key)
    return found


def _find(ufunc, types, dtype, casting, outs):
    record = None if is_of_numpy(ufunc) else made.record_of(ufunc)
    if len(types) != ufunc.nin:
        raise Mismatch(f"{ufunc.__name__}() takes from {ufunc.nin} to {ufunc.nargs} positional arguments "
                       f"but {len(types)} were given")
    named = types
    if all(map(k.is_python_number, types)):
        types = tuple(map(numpy_counterpart, types))
    if record is not None and record.dynamic and dtype is None:
        inputs = element_types(types)
        try:
            results = record.result_types(inputs, ufunc.nout)
        except CompileError:
            raise
        except TypeError as error:
            raise Mismatch(str(error)) from None
        return _made_loop(record, inputs, results)
    asked = [_WEAK.get(t) or dtype_of(t) for t in types] + [t and dtype_of(t) for t in outs or [None] * ufunc.nout]
    by_no = casting == "equiv" and any(t in _WEAK for t in types)  # for "equiv", NumPy 2.4 dereferences a null pointer
    asks = {"casting": "no" if by_no else casting}
    if dtype is not None:
        asks["signature"] = (*[None] * ufunc.nin, *[dtype_of(dtype)] * ufunc.nout)
    try:
        resolved = ufunc.resolve_dtypes(tuple(asked), **asks)
    except (TypeError, ValueError) as error:
        hint = "a duration is np.timedelta64(n, 'D'), with its unit" if any(map(k.is_time, types)) else (
            "write x = x + y for x += y, or use an array of the type of the result" if any(outs)
            and "output" in str(error) else "")
        message = str(error).replace("rule 'no'", "rule 'equiv'") if by_no else str(error)
        given = None
        if type(error) not in (TypeError, ValueError):  # a UFuncTypeError, whose arguments are the ufunc and dtypes
            given = tuple("equiv" if by_no and x == "no" else x for x in error.args)
            if named is not types:
                given = _given_of_python(ufunc, named, asked, given)
        raise Mismatch(message, hint, exception=type(error), given=given) from None
    return _loop_of(ufunc, resolved, types)


def _given_of_python(ufunc, types, asked, given):
    """The arguments of the error that a ufunc raises where it has no loop for Python numbers: its message shows special
    dtype classes for them."""
    try:
        ufunc.resolve_dtypes((*(_WEAK.get(t) or dtype_of(t) for t in types), *asked[len(types):]))
    except TypeError as error:
        if len(error.args) == len(given) == 2:
            return error.args
    return given


def fold_loop(ufunc: np.ufunc, t: k.Type, dtype: k.Type | None = None, out: k.Type | None = None) -> Loop:
    """The loop that reduces elements of type t. Raises Mismatch where NumPy has none."""
    asks = {"reduction": True, "casting": "unsafe"}
    if dtype is not None:
        asks["signature"] = (dtype_of(dtype), None, None)
    try:
        resolved = ufunc.resolve_dtypes((out and dtype_of(out), dtype_of(t), None), **asks)
    except (TypeError, ValueError) as error:
        raise Mismatch(str(error)) from None
    return _loop_of(ufunc, resolved, (t,))


def _loop_of(ufunc, resolved, types):
    resolved = [type_of_dtype(d) for d in resolved]
    if None in resolved:
        raise NotNative(f"np.{ufunc.__name__} of {', '.join(map(str, types))} is not compiled")
    inputs, outputs = tuple(resolved[:ufunc.nin]), tuple(resolved[ufunc.nin:])
    record = None if is_of_numpy(ufunc) else made.record_of(ufunc)
    if record is not None:
        return _made_loop(record, inputs, outputs)
    kinds = "".join(map(kind_of, inputs))
    kind = kinds[0]
    rules = (dates.RULES.get(ufunc) if "m" in kinds or "M" in kinds
             else arithmetic.RULES.get(ufunc) or functions.RULES.get(ufunc))
    rule = rules and (rules.get(kinds) or rules.get(kind) or kind == "u" and rules.get("i"))
    if not rule:
        raise NotNative(f"np.{ufunc.__name__} of {', '.join(map(str, types))} is not compiled yet")
    return Loop(inputs, outputs, rule)


def _made_loop(record, inputs, outputs) -> Loop:
    """The loop of a ufunc that a program made: it calls the program's function."""
    function = record.function
    callee = Const(k.Singleton(function), function)
    t = outputs[0]  # the rule is for elements: for generalised ufuncs made_calls.py adds the calls
    return Loop(inputs, outputs, lambda *xs: Call(as_result, callee, Const(k.DType(t), dtype_of(t)), *xs))


def as_result(f, t, *xs):
    return as_type(f(*xs), t)


_typed: dict[tuple, Callable] = {}


def typed(ufunc: np.ufunc, found: Loop) -> Callable:
    """A function that computes this loop of the ufunc for numbers of any type, which it converts to the loop's
    types."""
    key = (ufunc, found.inputs, found.outputs)
    if key not in _typed:
        @intrinsic
        def function(*numbers):
            return found.rule(*map(_converted, numbers, found.inputs))

        _typed[key] = function
    return _typed[key]


def _converted(x: Expr, t: k.Type) -> Expr:
    return convert(x, t) if k.is_python_number(x.type) else cast(x, t)
