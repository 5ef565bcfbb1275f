"""The protocols of numbers, dates and durations: their operators are in operators.py, which handles NumPy's too."""
from __future__ import annotations

from ...base.lazy import lazy
from ...infer.meaning import Apply, Call, Mismatch
from ...ops.structure import METHOD_MAKE
from ...types import kinds as k
from ...types.kinds import Bool, Ellipsis_, NoneType, Tuple, is_scalar
from ..build import is_sequence
from ..protocol import Protocol, text_by_python
from . import operators

__all__ = ["PROTOCOLS"]

builtins, np_scalars = lazy("pyjitc.lib.py.builtins"), lazy("pyjitc.lib.np.elementwise.scalars")
array_operations = lazy("pyjitc.lib.np.arrays.operations")


class _Python(Protocol):
    """The protocol of Python's numbers."""

    text = text_by_python

    def binary(self, op, x, y, inplace):
        return operators.found_binary(op, x, y)

    def unary(self, op, x):
        return operators.unary(op, x)

    def compare(self, op, x, y):
        return operators.found_compare(op, x, y) if is_scalar(y.type) else None

    def identical(self, x, y):
        return operators.compare("==", x, y) if x.type is Bool and y.type is Bool else None

    def truth(self, x):
        return operators.truth(x)

    def attribute(self, x, name):
        return builtins.attribute(x, name) or Apply(METHOD_MAKE, x, name=name)

    def method(self, x, name, args, kwargs):
        return builtins.method(x, name, args, kwargs)


class _NumPy(_Python):
    """The protocol of NumPy's numbers, dates and durations. Their operators make arrays of sequences, but for `*`,
    which repeats them."""

    def binary(self, op, x, y, inplace):
        if op != "*" and _is_sequence(y.type):
            return array_operations.PROTOCOLS[k.Array].binary(op, x, y, False)
        return super().binary(op, x, y, inplace)

    def reflected(self, op, x, y, inplace):
        if op != "*" and _is_sequence(x.type):
            return array_operations.PROTOCOLS[k.Array].binary(op, x, y, False)
        return super().reflected(op, x, y, inplace)

    def compare(self, op, x, y):
        if _is_sequence(y.type):
            return array_operations.PROTOCOLS[k.Array].compare(op, x, y)
        return super().compare(op, x, y)

    def compared(self, op, x, y):
        if _is_sequence(x.type):
            return array_operations.PROTOCOLS[k.Array].compare(op, x, y)
        return super().compared(op, x, y)

    def getitem(self, x, i):
        parts = i.type.elements if isinstance(i.type, Tuple) else (i.type,)
        if not all([t is NoneType or t is Ellipsis_ or t is Bool for t in parts]):
            raise Mismatch("invalid index to scalar variable.", exception=IndexError)
        return Call(np_scalars.indexed, x, i) if parts else x

    def attribute(self, x, name):
        return np_scalars.attribute(x, name) or Apply(METHOD_MAKE, x, name=name)

    def method(self, x, name, args, kwargs):
        return np_scalars.method(x, name, args, kwargs)


def _is_sequence(t) -> bool:
    return isinstance(t, k.List) or is_sequence(t)


PROTOCOLS = {**dict.fromkeys(map(type, (k.Int, k.Float, Bool, k.Complex)), _Python()),
             **dict.fromkeys((type(k.NpBool), k.NpInt, k.NpFloat, k.NpComplex, k.NpTime), _NumPy())}
