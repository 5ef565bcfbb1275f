"""Values of compiled code that become Python objects when they are returned: functions that it made, iterators,
generators."""
from __future__ import annotations

from ..ops import pyobject, structure
from ..runtime import interpreted
from ..types.kinds import Function, FunctionObject, Iterator, Object, Tuple, Union, any_part
from . import boxed
from .meaning import Apply, Const, Expr, Operand
from .names import needs_objects

__all__ = ["handed_out", "leaving"]


def leaving(evaluator, x: Expr) -> Expr:
    """The expression of the Python object for a value that the entry returns; the value itself if code generation can
    box it, or if no object can be made of it."""
    t = x.type
    if isinstance(t, FunctionObject) and t.function.proto.code not in evaluator.session.findings.functions:
        return x  # compiled code has not made it: it is from a container that the caller knows
    if isinstance(t, Function) and not t.proto.library or isinstance(t, FunctionObject):
        options = Const(Object, tuple(evaluator.session.options))
        return boxed.by_python(interpreted.compiled, options, x)
    if isinstance(t, Iterator):
        return handed_out(evaluator, x)
    if isinstance(t, Tuple) and any_part(t, lambda part: isinstance(part, (Function, FunctionObject, Iterator))):
        parts = [leaving(evaluator, Apply(structure.TUPLE_GET, x, index=n)) for n in range(len(t.elements))]
        return Apply(structure.TUPLE_MAKE, *parts, cls=t.cls)
    if type(t) is Union and type(x) is Operand and any_part(t, lambda part: isinstance(part, Iterator)):
        return evaluator.cases(x, lambda one: leaving(evaluator, one))
    needs_objects(t)
    return x


def handed_out(evaluator, x: Expr) -> Expr:
    """The Python object of an iterator."""
    return Apply(pyobject.HAND_OUT, x, options=tuple(evaluator.session.options))
