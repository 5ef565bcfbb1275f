"""Trees: tuples, named tuples, lists, dicts and dataclasses of arrays and numbers; `pyjitc.tree`, with JAX's names.

Derivatives accept trees as arguments, and return trees of the same structure. Compiled code processes tuples; lists and
dicts are rebuilt where the program's function is called, and a dataclass is a named tuple there, with the same fields
and methods.
"""
from __future__ import annotations

import ast
import dataclasses
from functools import partial
from typing import Any, Callable

from ..infer.meaning import Mismatch
from ..lib.rule import Rule
from ..lib.stand_ins import stand_in
from ..lib.trees import holder, leaves_of, mapped_tree

__all__ = ["Structure", "Trees", "flatten", "in_order", "is_tree", "leaves", "map", "rebuilt", "structure", "unflatten"]

# -- the utilities


class Structure:
    """The structure of a tree, as `flatten` returns it. It has `num_leaves` leaves."""

    __slots__ = ("kind", "keys", "parts", "num_leaves")

    def __init__(self, kind: Any, keys: tuple = (), parts: tuple = ()):
        self.kind, self.keys, self.parts = kind, keys, parts
        self.num_leaves: int = 1 if kind is None else sum([part.num_leaves for part in parts])

    def __eq__(self, other):
        return type(other) is Structure and (self.kind, self.keys, self.parts) == (other.kind, other.keys, other.parts)

    def __hash__(self):
        return hash((self.kind, self.keys, self.parts))

    def __repr__(self):
        return f"Structure({self._text()})"

    def _text(self) -> str:
        inner = [part._text() for part in self.parts]
        if self.kind is None:
            return "*"
        if self.kind is type(None):
            return "None"
        if self.kind is dict:
            return "{" + ", ".join(f"{key!r}: {text}" for key, text in zip(self.keys, inner)) + "}"
        if self.kind is list:
            return f"[{', '.join(inner)}]"
        if self.kind is tuple:
            return f"({', '.join(inner)}{',' * (len(inner) == 1)})"
        return f"{self.kind.__name__}({', '.join(f'{key}={text}' for key, text in zip(self.keys, inner))})"

    def _build(self, parts):
        if self.kind is type(None):
            return None
        if self.kind is dict:
            return dict(zip(self.keys, parts))
        if self.kind in (list, tuple):
            return self.kind(parts)
        return self.kind(**dict(zip(self.keys, parts)))


_LEAF, _NONE = Structure(None), Structure(type(None))


def _opened(tree):
    """(class, keys, items) of a tree; None for a leaf."""
    cls = type(tree)
    if cls is list or cls is tuple:
        return cls, (), list(tree)
    if cls is dict:
        try:
            keys = tuple(sorted(tree))
        except TypeError:
            keys = tuple(tree)
        return cls, keys, [tree[key] for key in keys]
    if tree is None:
        return cls, (), []
    if isinstance(tree, tuple) and hasattr(cls, "_fields"):
        return cls, cls._fields, list(tree)
    if dataclasses.is_dataclass(cls):
        keys = tuple([field.name for field in dataclasses.fields(cls)])
        return cls, keys, [getattr(tree, key) for key in keys]
    return None


def flatten(tree) -> tuple[list, Structure]:
    """(the leaves of a tree, its structure). Dicts are in the order of their sorted keys; None has no leaf."""
    found = _opened(tree)
    if found is None:
        return [tree], _LEAF
    kind, keys, items = found
    if tree is None:
        return [], _NONE
    parts = [flatten(item) for item in items]
    return [leaf for part, _ in parts for leaf in part], Structure(kind, keys, tuple([one for _, one in parts]))


def unflatten(structure: Structure, leaves) -> Any:
    """The tree of this structure with these leaves."""
    given = list(leaves)
    if len(given) != structure.num_leaves:
        raise ValueError(f"a tree of {structure.num_leaves} leaves cannot be made of {len(given)}")
    return _built(structure, iter(given))


def _built(one: Structure, given):
    if one.kind is None:
        return next(given)
    return one._build([_built(part, given) for part in one.parts])


def leaves(tree) -> list:
    """The leaves of a tree."""
    return flatten(tree)[0]


def structure(tree) -> Structure:
    """The structure of a tree."""
    return flatten(tree)[1]


def map(f: Callable, tree, *rest) -> Any:
    """The tree of f(leaf, leaf of each of `rest` at the same place). Raises ValueError where the structures differ."""
    found = _opened(tree)
    if found is None:
        return f(tree, *rest)
    kind, keys, items = found
    if tree is None:
        return None
    others = []
    for other in rest:
        given = _opened(other)
        if given is None or given[0] is not kind or given[1] != keys or len(given[2]) != len(items):
            raise ValueError(f"tree.map of trees of different structures: {structure(tree)} and {structure(other)}")
        others.append(given[2])
    return Structure(kind, keys, tuple([_LEAF] * len(items)))._build(
        [map(f, *parts) for parts in zip(items, *others)])


def in_order(like, x):
    """The tree x with its dicts in the order of the keys of those at the same places in `like`, whose tangent or
    cotangent it is. Raises ValueError where dicts have other keys."""
    cls = type(x)
    if cls is not type(like) or not is_tree(x):
        return x
    if cls is dict:
        if x.keys() != like.keys():
            raise ValueError(f"a tangent or cotangent is a dict of {', '.join(x)}, and belongs to a dict of "
                             f"{', '.join(like)}")
        return {key: in_order(like[key], x[key]) for key in like}
    (_, keys, items), (_, _, given) = _opened(x), _opened(like)
    if len(items) != len(given):
        return x
    return Structure(cls, keys, tuple([_LEAF] * len(items)))._build([in_order(*pair) for pair in zip(given, items)])


def _map_rule(given, keywords):
    if keywords or len(given) < 2:
        raise Mismatch("tree.map takes a function and trees")
    return mapped_tree(given[0], given[1], given[2:])


leaves.rule = Rule(leaves_of, "pyjitc.tree.leaves", "tree")  # type: ignore[attr-defined]  # read by inference
map.rule = _map_rule  # type: ignore[attr-defined]


# -- arguments of derivatives


def rebuilt(f: Callable, x, *rest):
    """The tree of f(leaf, leaf of each of `rest` at the same place) for the leaves of x, None too, with dicts in the
    order that they have."""
    if type(x) is dict:
        return {key: rebuilt(f, item, *(other[key] for other in rest)) for key, item in x.items()}
    found = None if x is None else _opened(x)
    if found is None:
        return f(x, *rest)
    kind, keys, items = found
    given = zip(items, *(_opened(other)[2] for other in rest))
    return Structure(kind, keys, tuple([_LEAF] * len(items)))._build([rebuilt(f, *parts) for parts in given])


def given(marks) -> tuple:
    """The structures for which compiled code is made."""
    return ast.literal_eval(marks())


class Trees:
    """Calls with arguments that are trees. made: the compiled function; again: marks -> the function for tuples that
    represent trees of that structure. It is pickled with the compiled function, so it is a partial of a function of a
    module."""

    def __init__(self, made, again):
        self.made, self.again = made, again
        self.known: dict[str, Any] = {}

    def of(self, made, decorate) -> Trees:
        """The same for `made`, which is the function `self.made` under a decorator."""
        return Trees(made, partial(_decorated, decorate, self.again))

    def takes(self, given) -> bool:
        return any([is_tree(x) for x in given])

    def __call__(self, given):
        marks, values = [], []
        for x in given:
            mark, value = _as_tuples(x)
            marks.append(mark)
            values.append(value)
        function = self.made
        if any([mark is not None for mark in marks]):
            text = repr(tuple(marks))
            function = self.known.get(text)
            if function is None:
                function = self.known[text] = self.again(holder(text))
        return function(*values)


def _decorated(decorate, again, marks):
    return decorate(again(marks))


def is_tree(x) -> bool:
    """Whether a value contains a list, a dict or a dataclass."""
    cls = type(x)
    if cls is list or cls is dict or dataclasses.is_dataclass(cls):
        return True
    return isinstance(x, tuple) and any([is_tree(item) for item in x])


def _as_tuples(x) -> tuple[Any, Any]:
    """(marks of lib/trees.py, the value with lists and dicts converted to tuples, and dataclasses to named tuples)."""
    if not is_tree(x):
        return None, x
    cls = type(x)
    if cls is dict:
        if not all([type(key) is str for key in x]):
            raise TypeError("a dict that a derivative takes must have texts as keys")
        keys, items = tuple(x), list(x.values())
    elif dataclasses.is_dataclass(cls):
        keys, items = None, [getattr(x, field.name) for field in dataclasses.fields(cls)]
    else:
        keys, items = None, list(x)
    found = [_as_tuples(item) for item in items]
    parts, values = tuple([mark for mark, _ in found]), [value for _, value in found]
    if cls is list or cls is dict:
        return (cls.__name__, keys, parts), tuple(values)
    marks = ("tuple", None, parts) if any([part is not None for part in parts]) else None
    if cls is tuple:
        return marks, tuple(values)
    return marks, (stand_in(cls) if dataclasses.is_dataclass(cls) else cls)(*values)
