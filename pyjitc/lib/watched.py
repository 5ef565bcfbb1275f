"""The library for programs that use np.errstate: NumPy's operations with reports of floating-point errors.

Only the program's own operations are checked, not those inside library functions, just as NumPy does not check inside
the loop of a ufunc.
The checked operations are ufuncs (except their methods outer, at and reduceat), operators, sums and products, products
of matrices, and conversions.
"""
from __future__ import annotations

import numpy as np

from ..infer.meaning import UNKNOWN, Apply, Const
from ..ops import pyobject, structure
from ..types.kinds import Array, NoneType, Object, Singleton, is_numpy_scalar, is_scalar
from .np.arrays import creation
from .np.elementwise import elementwise, errors, ufuncs
from .table import Library

__all__ = ["Watched"]

_FOLD_METHODS = {"sum": "reduce", "prod": "reduce", "mean": "reduce", "cumsum": "accumulate", "cumprod": "accumulate"}
# By identity: not all callables can be hashed.
_FOLDS = {id(getattr(np, method)): name for method, name in _FOLD_METHODS.items()}


def _dot_tells() -> bool:
    """Whether np.dot reports floating-point errors, as it does from NumPy 2.4 on."""
    try:
        with np.errstate(over="raise"):
            np.dot(np.array([1e200]), np.array([1e200]))
    except FloatingPointError:
        return True
    return False


_DOT_TELLS = _dot_tells()
_PRODUCTS = {id(np.matmul): "matmul", **(dict.fromkeys(map(id, (np.dot, np.inner)), "dot") if _DOT_TELLS else {})}
_FOLDED_UFUNCS = (np.add, np.subtract, np.multiply, np.divide)
_WITH = ("__enter__", "__exit__")


class Watched(Library):
    def __init__(self, plain: Library):
        super().__init__()
        self.memo = plain.memo
        self.replace({np.errstate: errors.watched_state})

    def rule_for(self, target):
        rule = super().rule_for(target)
        if rule is None or target is np.errstate:
            return rule
        if type(target) is np.ufunc and target.signature is None:
            return lambda args, kwargs: errors.watched_ufunc(target, args, kwargs, rule(args, kwargs))
        if isinstance(target, type) and issubclass(target, np.number):
            return (lambda args,
                    kwargs: _converted(args, creation.scalar_of(elementwise.constant_of(target)), rule(args, kwargs)))
        if id(target) in _FOLDS:
            return (lambda args,
                    kwargs: _folded(_FOLDS[id(target)], args or [kwargs.get("a")], kwargs, rule(args, kwargs)))
        if id(target) in _PRODUCTS:
            return lambda args, kwargs: errors.watched_product(_PRODUCTS[id(target)], *args[:2],
                                                               rule(args, kwargs)) if len(args) > 1 \
                else rule(args, kwargs)
        return rule

    def binary(self, op, x, y, inplace=False):
        result = super().binary(op, x, y, inplace)
        if op == "@":
            return errors.watched_product("matmul", x, y, result)
        function = ufuncs.OPERATORS.get(op)
        if function is None or not all(isinstance(z.type, Array) or is_scalar(z.type) for z in (x, y)):
            return result
        if not isinstance(x.type, Array) and not isinstance(y.type, Array):
            return (errors.watched_scalars(function, [x, y], result) if is_numpy_scalar(x.type)
                    or is_numpy_scalar(y.type) else result)
        operands = [x, y]
        if function is np.power and y.known and not isinstance(y.type, Array):
            function, exponent = elementwise.power(x, y)
            operands = [x] if exponent is None else operands
        return errors.watched_ufunc(function, operands, {"out": x} if inplace and isinstance(x.type, Array) else {},
                                    result)

    def unary(self, op, x):
        result = super().unary(op, x)
        return errors.watched_scalars(np.negative, [x], result) if op == "-" and is_numpy_scalar(x.type) else result

    def getattr(self, x, name):
        if x.type is Object and name in _WITH:
            return Apply(structure.METHOD_MAKE, x, name=name)
        return super().getattr(x, name)

    def method(self, receiver, name, args, kwargs):
        t = receiver.type
        if t is Object and name in _WITH:
            nothing = [Apply(pyobject.PY_BOX, Const(NoneType, None)) for _ in args]
            return Apply(structure.DISCARD,
                         Apply(pyobject.PY_CALL, Apply(pyobject.PY_GETATTR, receiver, name=name), *nothing, kwnames=()))
        result = super().method(receiver, name, args, kwargs)
        if isinstance(t, Array):
            if name in _FOLD_METHODS:
                return _folded(_FOLD_METHODS[name], [receiver], kwargs, result)
            if name == "dot" and args and _DOT_TELLS:
                return errors.watched_product("dot", receiver, args[0], result)
            if name == "astype":
                return _converted([receiver], creation.scalar_of(args[0] if args else kwargs["dtype"]), result)
        elif isinstance(t, Singleton) and t.value in _FOLDED_UFUNCS and name in ("reduce", "accumulate"):
            return _folded(name, args, kwargs, result)
        return result

    def setitem(self, x, i, v, asks):
        result = super().setitem(x, i, v, asks)
        if isinstance(x.type, Array) and (isinstance(v.type, Array) or is_numpy_scalar(v.type)):
            return _converted([v], x.type.dtype, result)
        return result


def _folded(name, args, kwargs, result):
    masked = kwargs.get("where")
    plain = masked is None or masked.value is not UNKNOWN and masked.value is True
    return errors.watched_fold(name, args[0], result) if args and args[0] is not None and plain else result


def _converted(args, t, result):
    if len(args) != 1 or not (isinstance(args[0].type, Array) or is_numpy_scalar(args[0].type)):
        return result
    return errors.watched_cast(args[0], t, result)
