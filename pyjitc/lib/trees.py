"""Trees: arguments that are list and dict displays, which derivatives process as tuples.

`marks` says which structure a tuple stands for: see `marks_of`. Gradients get the structure of the
arguments.
"""
from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from ..infer.constants import constant
from ..infer.expressions import list_of
from ..infer.meaning import Apply, CallValue, Expr, Mismatch
from ..ops import structure as s
from ..types import kinds as k
from ..types.tangents import holds_display
from .rule import intrinsic

__all__ = ["applied", "called", "flat", "holder", "like", "marked", "marks_of", "of_trees", "structured", "tuples"]


def marks_of(t) -> Any:
    """The structure of a value of type t: None for a leaf; (kind, keys or None, structures of the items) for others."""
    if not holds_display(t):
        return None
    if type(t) is k.Tuple:
        return "tuple", None, tuple(map(marks_of, t.elements))
    if type(t) is k.ListDisplay:
        return "list", None, tuple(map(marks_of, t.parts))
    return "dict", t.names, tuple(map(marks_of, t.parts))


def _items(x: Expr) -> list[Expr]:
    if type(x.type) is k.Tuple:
        return [Apply(s.TUPLE_GET, x, index=n) for n in range(len(x.type.elements))]
    return [Apply(s.STRUCT_GET, x, field=name) for name in x.type.names]


def tuples(x: Expr) -> Expr:
    """A value with its list and dict displays converted to tuples."""
    if not holds_display(x.type):
        return x
    return Apply(s.TUPLE_MAKE, *map(tuples, _items(x)), cls=x.type.cls if type(x.type) is k.Tuple else None)


def _structured(marks, x: Expr) -> Expr:
    if marks is None or type(x.type) is not k.Tuple:
        return x
    kind, keys, parts = marks
    items = [_structured(part, item) for part, item in zip(parts, _items(x))]
    if kind == "tuple":
        return Apply(s.TUPLE_MAKE, *items, cls=x.type.cls)
    if kind == "list":
        return list_of(items)
    return Apply(s.STRUCT_MAKE, *items, type=k.DictDisplay.of(zip(keys, [item.type for item in items])))


@lru_cache
def holder(text):
    """A function that represents a value: its type is its own, so that the value is known wherever it is passed."""
    return lambda: text


def _constant(value) -> Expr:
    return constant(holder(repr(value)))


def marked(t) -> Expr:
    """The marks of a type, for `structured`."""
    return _constant(marks_of(t))


def _known(x: Expr) -> Any:
    return ast.literal_eval(x.type.value.__closure__[0].cell_contents)


@intrinsic
def structured(marks, x):
    """The tuple x converted to the structure that `marks` describes."""
    return _structured(_known(marks), x)


@intrinsic
def arranged(f, marks, order, varied, others):
    """The call of f with arguments converted to their structures. order: for each argument, (whether it is in `varied`,
    its position there or in `others`)."""
    given = [_items(varied)[n] if varies else _items(others)[n] for varies, n in _known(order)]
    return CallValue(f, *map(_structured, _known(marks), given))


@intrinsic
def called(f, marks, args):
    """The call f(*args) with arguments converted to their structures."""
    given = _items(args)
    if marks.type is not k.NoneType:
        given = list(map(_structured, _known(marks), given))
    return CallValue(f, *given)


@intrinsic
def flat(x):
    """A value with its list and dict displays converted to tuples; raises Mismatch for Python lists and dicts."""
    if k.any_part(x.type, lambda part: isinstance(part, k.Container)):
        raise Mismatch("a function in a batch, or one whose derivative is asked for, returns a list or a dict that is "
                       "an object of Python",
                       "return a tuple, or write the list out where it is returned: return [x, y]")
    return tuples(x)


@intrinsic
def like(x, y):
    """The tuple y converted to the structure of x."""
    return _structured(marks_of(x.type), y)


def applied(f, marks, order, varied, others):
    return arranged(f, marks, order, varied, others)


def of_trees(items: list[Expr], argnums, marks) -> list[Expr]:
    """The arguments of `applied` after f, and the marks of the arguments that vary. marks: those of all arguments,
    where they have been converted to tuples already."""
    wanted = list(argnums)
    others = [n for n in range(len(items)) if n not in wanted]
    order = tuple([(True, wanted.index(n)) if n in wanted else (False, others.index(n)) for n in range(len(items))])
    found = tuple([marks_of(x.type) for x in items]) if marks is None else _known(marks)
    varied, rest = (Apply(s.TUPLE_MAKE, *(tuples(items[n]) for n in one), cls=None) for one in (wanted, others))
    of_varied = ("tuple", None, tuple([found[n] for n in wanted]))
    return [_constant(found), _constant(order), varied, rest, _constant(of_varied)]
