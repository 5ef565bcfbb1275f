"""functools.partial: one that is made in compiled code is a closure."""
from __future__ import annotations

import functools

from ...infer.constants import constant
from ...infer.meaning import Apply, CallValue, Expr, Mismatch
from ...ops.structure import CAPTURE_GET, TUPLE_GET
from ...types.kinds import Function

__all__ = ["CALLS", "captured", "of_partial"]


def partial_of(function, *args, **kwargs):
    def bound(*more, **named):
        return function(*args, *more, **{**kwargs, **named})

    return bound


def partial_of_partial(function, args, kwargs, /, *more, **named):
    return partial_of(function, *args, *more, **{**kwargs, **named})


def of_partial(x: Expr, name: str) -> Expr | None:
    """An attribute of a partial that compiled code made: what its closure has captured. None for other functions."""
    if x.type.proto.code is not _BOUND or name not in _CAPTURED:
        return None
    found = captured(x, _CAPTURED[name])
    return CallValue(constant(dict), found) if name == "keywords" else found


def captured(x: Expr, name: str) -> Expr:
    """The variable `name` that a closure has captured."""
    held = Apply(CAPTURE_GET, x, index=x.type.roles.index("closure"))
    return Apply(TUPLE_GET, held, index=x.type.proto.code.co_freevars.index(name))


_BOUND = next(x for x in partial_of.__code__.co_consts if hasattr(x, "co_code"))
_CAPTURED = {"func": "function", "args": "args", "keywords": "kwargs"}


def _partial(args, kwargs):
    if not args:
        raise Mismatch("type 'partial' takes at least one argument")
    first, *more = args
    if isinstance(first.type, Function) and first.type.proto.code is _BOUND:
        parts = [captured(first, name) for name in _CAPTURED.values()]
        return CallValue(constant(partial_of_partial), *parts, *more, keywords=kwargs)
    return CallValue(constant(partial_of), *args, keywords=kwargs)


CALLS = {functools.partial: _partial}
