"""Text and bytes: the interpreter is asked for what compiled code does not know."""
from __future__ import annotations

import operator

import numpy as np

from ...base.lazy import lazy
from ...infer.constants import constant
from ...infer.meaning import UNKNOWN, Apply, Const, Mismatch
from ...infer.names import describe
from ...ops.pyobject import PY_CALL, PY_JOIN, PY_UNBOX
from ...ops.structure import METHOD_MAKE
from ...types.kinds import Bool, Bytes, Exception_, Int, Object, Singleton, Str, is_integer, is_numpy_scalar
from ..build import SYMBOLS
from ..operations import fixed
from ..protocol import Protocol, boxed, by_python, text_by_python

__all__ = ["PROTOCOLS"]

refusals = lazy("pyjitc.lib.refusals")


class _Text(Protocol):
    text = text_by_python

    def binary(self, op, x, y, inplace):
        if op == "%" and x.type is Str:
            return by_python(operator.mod, x, y, type=Str)
        if op == "+" and x.type is Str and y.type is Str:
            return Apply(PY_JOIN, x, y)
        if op == "*" and is_integer(y.type) or op == "%" or op == "+" and x.type is y.type:
            raise refusals.not_yet(x.type, f"`{op}` of")
        return None

    def reflected(self, op, x, y, inplace):
        if op == "*" and is_integer(x.type):
            raise refusals.not_yet(y.type, "`*` of")
        return None

    def compare(self, op, x, y):
        if x.type is y.type:
            if x.known and y.known:
                return Const(Bool, bool(SYMBOLS[op](x.value, y.value)))
            return by_python(SYMBOLS[op], x, y, type=Bool)
        if op in ("==", "!="):
            if is_numpy_scalar(y.type):
                return constant(SYMBOLS[op](np.int8(0), ""))  # its type is of the version of NumPy
            if isinstance(y.type, (Singleton, Exception_)) and (fixed(x) is UNKNOWN or fixed(y) is UNKNOWN):
                raise Mismatch(f"{op} between {describe(x.type)} and {describe(y.type)} is not compiled",
                               "compare outside, and pass a number or a bool")
        return None

    def truth(self, x):
        return by_python(bool, x, type=Bool)

    def contains(self, x, item):
        if x.type is not Str or item.type is not Str:
            return super().contains(x, item)
        if x.known and item.known:
            return Const(Bool, item.value in x.value)
        return by_python(operator.contains, x, item, type=Bool)

    def length(self, x):
        return Const(Int, len(x.value)) if x.known else by_python(len, x, type=Int)

    def getitem(self, x, i):
        raise refusals.not_yet(x.type, "indexing of")

    def is_iterable(self, x):
        return False

    def iterate(self, x):
        raise refusals.not_yet(x.type, "iteration over")

    def attribute(self, x, name):
        return Apply(METHOD_MAKE, x, name=name) if x.type is Str and name == "format" else None

    def method(self, x, name, args, kwargs):
        return Apply(PY_UNBOX, Apply(PY_CALL, Const(Object, str.format), *map(boxed, (x, *args, *kwargs.values())),
                                     kwnames=tuple(kwargs)), type=Str)


PROTOCOLS = dict.fromkeys((type(Str), type(Bytes)), _Text())
