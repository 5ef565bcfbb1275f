"""Methods of ufuncs: outer, reduce."""
from __future__ import annotations

import numpy as np

from ...infer.meaning import Call, Const, Expr, Mismatch
from ...types import kinds as k
from . import elementwise, reductions

__all__ = ["method"]

_REDUCTIONS = {np.add: "sum", np.multiply: "prod", np.minimum: "min", np.maximum: "max", np.logical_or: "any", np.logical_and: "all"}


def method(receiver: Expr, name: str, args, kwargs) -> Expr:
    function = receiver.type.value
    if name == "outer":
        return _outer(function, receiver, args, kwargs)
    if name == "reduce" and function in _REDUCTIONS:
        return _reduce(function, args, kwargs)
    raise Mismatch(f"np.{function.__name__}.{name} is not compiled yet", "write it as a loop")


def _outer(function, receiver, args, kwargs):
    if kwargs:
        raise Mismatch(f"np.{function.__name__}.outer with {', '.join(kwargs)}= is not compiled")
    if function.nin != 2:
        raise Mismatch("outer product only supported for binary functions", exception=ValueError)
    if len(args) != 2:
        raise Mismatch(f"outer() takes 2 positional arguments but {len(args)} were given")
    x, y = args
    if not elementwise.is_array(x) or not elementwise.is_array(y):
        return Call(plain, receiver, x, y)
    return Call(outer, receiver, x, y)


def plain(f, x, y):
    return f(x, y)


def outer(f, x, y):
    return f(extended(x, y.ndim), y)


def extended(x, n):
    """n more axes of length 1 behind."""
    return x if n == 0 else extended(x[..., None], n - 1)


def _reduce(function, args, kwargs):
    """The reduction of the same name, along axis 0 where no axis is given."""
    names = ("array", "axis", "dtype", "out", "keepdims", "initial", "where")
    if len(args) > len(names):
        raise Mismatch(f"reduce() takes at most {len(names)} positional arguments ({len(args)} given)")
    slots = dict(zip(names, args)) | dict(kwargs)
    if "array" not in slots or not elementwise.is_array(slots["array"]):
        raise Mismatch(f"np.{function.__name__}.reduce() is compiled for arrays")
    slots.setdefault("axis", Const(k.Int, 0))
    a = slots.pop("array")
    how = _REDUCTIONS[function]
    if how in ("any", "all", "min", "max") and slots.pop("dtype", None) is not None:
        raise Mismatch(f"np.{function.__name__}.reduce with dtype= is not compiled")
    return reductions.CALLS[getattr(np, how)]([a], slots)
