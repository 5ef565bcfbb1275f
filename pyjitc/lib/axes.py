"""The batch axes of arguments and results, for lib/transforms.py: trees of constants beside trees of values.

An axis may stand for a whole tree. `expanded` writes it out: a tuple for each tuple, list or dict, and for each leaf
its axis, or None.
"""
from __future__ import annotations

from typing import Any

from ..infer.constants import constant
from ..infer.meaning import Apply, Const, Expr, Throw
from ..ops import structure as s
from ..types import kinds as k
from .rule import Constant, intrinsic

__all__ = ["expanded", "mapped_axes", "mapped_leaves", "mapped_names", "of_class"]


class Mismatched(Exception):
    """The structures of a tree of axes and of the values differ. The argument is the path to the place."""


def _parts(t) -> tuple | None:
    """The types of the items of a tree; None for a leaf."""
    if type(t) is k.Tuple:
        return t.elements
    return t.parts if type(t) in (k.ListDisplay, k.DictDisplay) else None


def _expanded(t, axes, path: str) -> Any:
    parts = _parts(t)
    if axes is None or t is k.NoneType:
        return None
    if parts is None:
        if type(axes) is tuple:
            raise Mismatched(path)
        return axes
    if type(axes) is not tuple:
        return tuple([_expanded(part, axes, path) for part in parts])
    if axes[:1] == ("dict",):
        given = dict(axes[1])
        if type(t) is not k.DictDisplay or given.keys() != set(t.names):
            raise Mismatched(path)
        axes = tuple([given[name] for name in t.names])
    if len(axes) != len(parts):
        raise Mismatched(path)
    return tuple([_expanded(part, axis, f"{path}[{n}]") for n, (part, axis) in enumerate(zip(parts, axes))])


def _constant(value) -> Expr:
    """A tree of axes as a constant that stays known wherever it is passed."""
    if type(value) is tuple:
        found = [_constant(part) for part in value]
        return Const(k.Tuple([x.type for x in found]), tuple([x.value for x in found]))
    return constant(value)


@intrinsic
def expanded(x, axes: Constant, what: Constant):
    """The axes for each leaf of x. what: 'in_axes' or 'out_axes', for the error."""
    try:
        return _constant(_expanded(x.type, axes, what))
    except Mismatched as error:
        return Throw(ValueError, f"vmap: {error} does not have the structure of "
                                 f"{'the arguments' if what == 'in_axes' else 'what the function returns'}")


def _mapped(x: Expr, axes, names, name=""):
    """(leaf, its axis, its name) for the leaves of a tree of tuples that have a batch axis."""
    if axes is None:
        return
    if type(axes) is not tuple:
        yield x, axes, name
        return
    for n, axis in enumerate(axes):
        item = Apply(s.TUPLE_GET, x, index=n)
        yield from _mapped(item, axis, None, names[n] if names else f"{name}[{n}]")


@intrinsic
def mapped_leaves(args, axes: Constant):
    """The leaves that have a batch axis."""
    return Apply(s.TUPLE_MAKE, *[x for x, _, _ in _mapped(args, axes, None)], cls=None)


@intrinsic
def mapped_axes(args, axes: Constant):
    return _constant(tuple([axis for _, axis, _ in _mapped(args, axes, None)]))


@intrinsic
def mapped_names(args, axes: Constant, names: Constant):
    return _constant(tuple([name for _, _, name in _mapped(args, axes, names)]))


@intrinsic
def of_class(x, y):
    """The tuple y as a tuple of the class of x."""
    if x.type.cls is None:
        return y
    items = [Apply(s.TUPLE_GET, y, index=n) for n in range(len(y.type.elements))]
    return Apply(s.TUPLE_MAKE, *items, cls=x.type.cls)
