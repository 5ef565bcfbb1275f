"""Trees: arguments that are list and dict displays, which derivatives process as tuples.

`marks` says which structure a tuple stands for: see `marks_of`. Gradients get the structure of the
arguments.
"""
from __future__ import annotations

import ast
from functools import lru_cache
from itertools import repeat
from typing import Any

import numpy as np

from ..infer.constants import constant
from ..infer.expressions import list_of
from ..infer.meaning import Apply, CallValue, Expr, Mismatch, NeedsDisplays, Throw
from ..infer.names import describe
from ..ops import arith
from ..ops import structure as s
from ..types import kinds as k
from ..types.tangents import holds_display, varies
from .rule import Constant, intrinsic
from .stand_ins import as_objects, as_tuples, holds_dataclass

__all__ = ["aligned", "applied", "at_places", "called", "constant_marks", "count_leaves", "display_of",
           "first_that_varies", "flat", "have_one_order", "holder", "is_tuple", "items", "kind_of", "kinds_of",
           "leaf_at", "leaves_of", "like", "literal_of", "mapped_tree", "marked", "marks_of", "may_vary", "nested",
           "none_like", "of_trees", "parts_of", "restored", "structured", "tangents_along", "tuples", "with_leaves",
           "with_structures", "without_displays"]


def marks_of(t) -> Any:
    """The structure of a value of type t: None for a leaf; (kind, keys or None, structures of the items) for others."""
    if not holds_display(t):
        return None
    if type(t) is k.Union:
        raise Mismatch("a list or dict that a function in a batch, or one whose derivative is asked for, gets or "
                       "returns is written out, and has another structure or items of other types on other paths",
                       "write out the same structure on every path, with items of the same types")
    if type(t) is k.Tuple:
        return "tuple", None, tuple(map(marks_of, t.elements))
    if type(t) is k.ListDisplay:
        return "list", None, tuple(map(marks_of, t.parts))
    return "dict", t.names, tuple(map(marks_of, t.parts))


def parts_of(x: Expr) -> list[Expr]:
    """The items of a tuple or of a display."""
    if type(x.type) is k.Tuple:
        return [Apply(s.TUPLE_GET, x, index=n) for n in range(len(x.type.elements))]
    return [Apply(s.STRUCT_GET, x, field=name) for name in x.type.names]


def tuples(x: Expr) -> Expr:
    """A value with its list and dict displays converted to tuples."""
    if not holds_display(x.type):
        return x
    return Apply(s.TUPLE_MAKE, *map(tuples, parts_of(x)), cls=x.type.cls if type(x.type) is k.Tuple else None)


def aligned(like, x: Expr) -> Expr:
    """The tree x with its dict displays in the order of the keys of those at the same places in the type `like`."""
    t = x.type
    if type(t) is k.DictDisplay and type(like) is k.DictDisplay:
        if set(t.names) != set(like.names):
            raise Mismatch(f"a tangent or cotangent is a dict of {', '.join(t.names)}, and belongs to a dict of "
                           f"{', '.join(like.names)}")
        items = [(name, aligned(part, Apply(s.STRUCT_GET, x, field=name)))
                 for name, part in zip(like.names, like.parts)]
        return Apply(s.STRUCT_MAKE, *[item for _, item in items],
                     type=k.DictDisplay.of([(name, item.type) for name, item in items]))
    if type(t) is not type(like) or not holds_display(t) or len(parts_of(x)) != len(_parts(like)):
        return x
    items = list(map(aligned, _parts(like), parts_of(x)))
    return list_of(items) if type(t) is k.ListDisplay else Apply(s.TUPLE_MAKE, *items, cls=t.cls)


def _parts(t) -> tuple:
    """The types of the items of a tree of type t."""
    return t.elements if type(t) is k.Tuple else t.parts


def _structured(marks, x: Expr) -> Expr:
    if marks is None or type(x.type) is not k.Tuple:
        return x
    kind, keys, parts = marks
    items = [_structured(part, item) for part, item in zip(parts, parts_of(x))]
    if kind == "tuple":
        return Apply(s.TUPLE_MAKE, *items, cls=x.type.cls)
    if kind == "list":
        return list_of(items)
    return Apply(s.STRUCT_MAKE, *items, type=k.DictDisplay.of(zip(keys, [item.type for item in items])))


@lru_cache
def holder(text):
    """A function that returns the text of a value. Each function has its own type in inference, so the value is known
    wherever the function is passed. It is a constant of the function's code, which says what compiled code is for: code
    for one structure is not taken for another."""
    return eval(f"lambda: {text!r}", {"__name__": __name__})


def constant_marks(value) -> Expr:
    """A value of Python's literals as a constant that stays known wherever it is passed."""
    return constant(holder(repr(value)))


def marked(t) -> Expr:
    """The marks of a type, for `structured`."""
    return constant_marks(marks_of(t))


def literal_of(x: Expr) -> Any:
    """The value of a constant that `constant_marks` made."""
    return None if x.type is k.NoneType else ast.literal_eval(x.type.value())


@intrinsic
def structured(marks, x):
    """The tuple x converted to the structure that `marks` describes."""
    return _structured(literal_of(marks), x)


def with_structures(marks: Expr, args: Expr) -> Expr:
    """The tuple of arguments, each converted to its structure."""
    return Apply(s.TUPLE_MAKE, *map(_structured, literal_of(marks), parts_of(args)), cls=None)


@intrinsic
def arranged(f, marks, order, varied, others):
    """The call of f with arguments converted to their structures. order: for each argument, (whether it is in `varied`,
    its position there or in `others`)."""
    given = [parts_of(varied)[n] if varies else parts_of(others)[n] for varies, n in literal_of(order)]
    return CallValue(f, *map(_structured, literal_of(marks), given))


@intrinsic
def called(f, marks, args):
    """The call f(*args) with arguments converted to their structures."""
    given = parts_of(args)
    if marks.type is not k.NoneType:
        given = list(map(_structured, literal_of(marks), given))
    return CallValue(f, *given)


@intrinsic
def without_displays(marks, x):
    """x with its list and dict displays converted to tuples, in the order of the structure that `marks` describes; x
    itself where that is None."""
    if marks.type is k.NoneType:
        return x
    if k.any_part(x.type, lambda part: isinstance(part, k.Dict)):
        raise NeedsDisplays("a function with a derivative of its own, or a rule of it, returns a dict that is an "
                            "object of Python", "write it out where it is returned: return {'a': x}")
    return tuples(aligned(_type_of(literal_of(marks)), x))


def _type_of(marks):
    """A type with the structure that `marks` describes, whose leaves are None."""
    if marks is None:
        return k.NoneType
    kind, keys, parts = marks
    types = list(map(_type_of, parts))
    if kind == "tuple":
        return k.Tuple(types)
    return k.ListDisplay.of(k.numbered(types)) if kind == "list" else k.DictDisplay.of(zip(keys, types))


@intrinsic
def flat(x):
    """A value with its list and dict displays converted to tuples; raises Mismatch for Python lists and dicts."""
    if k.any_part(x.type, lambda part: isinstance(part, k.Container)):
        raise NeedsDisplays("a function in a batch, or one whose derivative is asked for, returns a list or a dict "
                            "that is an object of Python",
                            "write it out where it is returned: return [x, y], return {'a': x}")
    for part in k.all_parts(x.type):
        if isinstance(part, k.ObjectOf) and hasattr(part.cls, "__dataclass_fields__"):
            raise Mismatch("a function in a batch, or one whose derivative is asked for, returns a dataclass that it "
                           f"made, {describe(part)}, which is no tree in compiled code",
                           "return its attributes in a tuple, a named tuple or a dict")
    return tuples(x)


@intrinsic
def like(x, y):
    """The tuple y converted to the structure of x."""
    return _structured(marks_of(x.type), y)


# -- Jacobians by trees


def _is_tree(x: Expr) -> bool:
    return type(x.type) in (k.Tuple, k.ListDisplay, k.DictDisplay)


def _leaves(x: Expr) -> list[Expr]:
    return [leaf for item in parts_of(x) for leaf in _leaves(item)] if _is_tree(x) else [x]


def _rebuilt(x: Expr, leaves) -> Expr:
    """A tree of tuples with the structure of x and the next leaves of an iterator."""
    if not _is_tree(x):
        return next(leaves)
    items = [_rebuilt(item, leaves) for item in parts_of(x)]
    return Apply(s.TUPLE_MAKE, *items, cls=x.type.cls if type(x.type) is k.Tuple else None)


@intrinsic
def is_tuple(x):
    """Whether x is a tuple of any class, also of one that stands for a dataclass."""
    return constant(type(x.type) is k.Tuple)


@intrinsic
def items(x):
    """The items of x, a tuple of any class, as a tuple without one."""
    return x if x.type.cls is None else Apply(s.TUPLE_MAKE, *parts_of(x), cls=None)


@intrinsic
def may_vary(x):
    return constant(varies(x.type))


@intrinsic
def count_leaves(x):
    return constant(len(_leaves(x)))


@intrinsic
def leaf_at(x, n: Constant):
    return _leaves(x)[n]


@intrinsic
def first_that_varies(x):
    """The number of the first leaf of x, a leaf or a tree, that may vary."""
    return constant([varies(leaf.type) for leaf in _leaves(x)].index(True))


# -- pyjitc.tree in compiled code


def _sorted(x: Expr) -> Expr:
    """A tree with its dict displays in the order of their sorted keys, which pyjitc.tree gives them."""
    if not holds_display(x.type):
        return x
    return aligned(_sorted_type(x.type), x)


@intrinsic
def in_order(x):
    """The tree x as pyjitc.tree gives it (`_sorted`), with numpy.float64 for each float."""
    return _with_numpy_floats(_sorted(x))


def _with_numpy_floats(x: Expr) -> Expr:
    t = x.type
    if t is k.Float:
        return Apply(arith.CAST, x, type=k.float64)
    if type(t) is k.DictDisplay:
        items = list(map(_with_numpy_floats, parts_of(x)))
        return Apply(s.STRUCT_MAKE, *items, type=k.DictDisplay.of(list(zip(t.names, [item.type for item in items]))))
    if type(t) is k.Tuple or type(t) is k.ListDisplay:
        items = list(map(_with_numpy_floats, parts_of(x)))
        return list_of(items) if type(t) is k.ListDisplay else Apply(s.TUPLE_MAKE, *items, cls=t.cls)
    return x


def each_in_order(x):
    return in_order(x)  # where x has one of several types, a call for each of them


def have_one_order(args: Expr) -> Expr:
    """The tuple of arguments, in which those whose dict displays have their keys in another order on other paths, or a
    numpy.float64 in the place of a float, have their keys sorted and no float. A loop may start with a display, and go
    on with what tree.map returns."""
    kept = [not _is_in_some_order(t) for t in args.type.elements]
    if all(kept):
        return args
    items = [Apply(s.TUPLE_GET, args, index=n) for n in range(len(kept))]
    return Apply(s.TUPLE_MAKE, *[x if keep else CallValue(constant(each_in_order), x) for x, keep in zip(items, kept)],
                 cls=None)


def _is_in_some_order(t) -> bool:
    """Whether values of type t are trees that `in_order` gives one type."""
    return type(t) is k.Union and all(map(holds_display, t.members)) and len(
        {_sorted_type(m, k.float64) for m in t.members}) == 1


def _sorted_type(t, of_float=k.Float):
    """The type of a tree with sorted keys. of_float: the type in the place of float."""
    if type(t) is k.DictDisplay:
        return k.DictDisplay.of(sorted([(name, _sorted_type(part, of_float)) for name, part in t.members]))
    if type(t) is k.ListDisplay:
        return k.ListDisplay.of([(name, _sorted_type(part, of_float)) for name, part in t.members])
    if type(t) is k.Tuple:
        return k.Tuple([_sorted_type(part, of_float) for part in t.elements], t.cls)
    return of_float if t is k.Float else t


def _as_tree(what: str, x: Expr) -> Expr:
    if k.any_part(x.type, lambda part: part is k.Object or isinstance(part, k.Container)):
        raise NeedsDisplays(f"{what} in compiled code takes trees that are written out, or arguments of derivatives, "
                            "and gets an object of Python here", "call it outside of the compiled function")
    return _sorted(x)


def leaves_of(tree: Expr) -> Expr:
    """tree.leaves(tree)"""
    if holds_dataclass(tree.type):
        return CallValue(constant(leaves_in), CallValue(constant(as_tuples), tree))
    return list_of([leaf for leaf in _leaves(_as_tree("tree.leaves", tree)) if leaf.type is not k.NoneType])


def mapped_tree(f: Expr, tree: Expr, rest: list[Expr]) -> Expr:
    """tree.map(f, tree, *rest)"""
    if any([holds_dataclass(x.type) for x in (tree, *rest)]):
        given = Apply(s.TUPLE_MAKE, *[CallValue(constant(as_tuples), x) for x in (tree, *rest)], cls=None)
        return CallValue(constant(mapped_objects), f, given)
    tree, *others = [_as_tree("tree.map", x) for x in (tree, *rest)]
    for other in others:
        if _shape(other.type) != _shape(tree.type):
            raise Mismatch("tree.map of trees of different structures", "", ValueError)
    given = [Apply(s.TUPLE_MAKE, *leaves, cls=None) for leaves in zip(*map(_leaves, (tree, *others)))]
    return CallValue(constant(mapped), f, tree, Apply(s.TUPLE_MAKE, *given, cls=None))


@intrinsic
def leaves_in(tree):
    return leaves_of(tree)


@intrinsic
def map_trees(f, trees):
    tree, *rest = parts_of(trees)
    return mapped_tree(f, tree, rest)


def mapped_objects(f, trees):
    return as_objects(map_trees(f, trees), trees)


def _shape(t):
    """The structure of a tree of type t, to compare with another's."""
    if type(t) not in (k.Tuple, k.ListDisplay, k.DictDisplay):
        return t is k.NoneType
    return (type(t), t.names if type(t) is k.DictDisplay else t.cls if type(t) is k.Tuple else None,
            tuple(map(_shape, _parts(t))))


def mapped(f, tree, given):
    return like(tree, with_leaves(tree, results(f, given)))


def results(f, given):
    if len(given) == 0:
        return ()
    if given[0][0] is None:
        return (None,) + results(f, given[1:])
    return (f(*given[0]),) + results(f, given[1:])


@intrinsic
def with_leaves(x, leaves):
    """A tree of tuples with the structure of x, whose leaves are the items of the tuple `leaves`."""
    return _rebuilt(x, iter(parts_of(leaves)))


@intrinsic
def at_places(args, at: Constant):
    """The tuple of the arguments `at`."""
    given = parts_of(args)
    return Apply(s.TUPLE_MAKE, *[given[n] for n in at], cls=None)


@intrinsic
def tangents_along(x, n: Constant, change):
    """The tangents of the arguments x, a tuple, as tuples: `change` for leaf n, zero for all others."""
    given = tuples(x)
    leaves: list[Expr] = [CallValue(constant(no_change), leaf) for leaf in _leaves(given)]
    leaves[n] = change
    return _rebuilt(given, iter(leaves))


def no_change(x):
    """The tangent of x, a leaf of a tree, where it does not change."""
    if not may_vary(x):
        return None
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, x.dtype)
    return 0.0


def _of_arguments(marks: Expr, at, several, x: Expr, leaves) -> Expr:
    """A tree like x, the tuple of the arguments `at`, in the structures that these have, with the next leaves of an
    iterator; its only item where not `several`."""
    found = _rebuilt(x, leaves)
    known = marks_of(x.type) if marks.type is k.NoneType else (
        "tuple", None, tuple([literal_of(marks)[n] for n in at]))
    found = _structured(known, found)
    return found if several else parts_of(found)[0]


@intrinsic
def restored(marks, at: Constant, several: Constant, x, y):
    """The tree of tuples y, which is like x, the arguments `at`, in the structures of these (`_of_arguments`)."""
    return _of_arguments(marks, at, several, x, iter(_leaves(y)))


@intrinsic
def none_like(marks, at: Constant, several: Constant, x):
    """A tree of None like x, the arguments `at` (`_of_arguments`)."""
    return _of_arguments(marks, at, several, x, repeat(constant(None)))


@intrinsic
def nested(y, marks, at: Constant, several: Constant, x, found):
    """The tree y with a tree like x, the arguments `at`, in place of each leaf (`_of_arguments`). found: for each leaf
    of x a tree like y."""
    def of(y, parts):
        if not _is_tree(y):
            return _of_arguments(marks, at, several, x, iter(parts))
        given = [[x] * len(parts_of(y)) if x.type is k.NoneType else parts_of(x) for x in parts]
        items = [of(item, list(one)) for item, one in zip(parts_of(y), zip(*given))]
        return Apply(s.TUPLE_MAKE, *items, cls=y.type.cls if type(y.type) is k.Tuple else None)

    return _structured(marks_of(y.type), of(y, parts_of(found)))


def applied(f, marks, order, varied, others):
    return arranged(f, marks, order, varied, others)


# -- dicts that are objects of Python (dictarguments.py)


def kind_of(t) -> str:
    """A text that is equal for types which derivatives treat in the same way."""
    if type(t) is k.Array:
        return f"an array of {t.dtype} with {t.ndim} axes"
    return "a float" if k.is_float(t) and t is not k.float32 else str(t)


def kinds_of(t) -> Any:
    """The kinds of the leaves of a tree of type t."""
    return tuple(map(kinds_of, _parts(t))) if holds_display(t) else kind_of(t)


def display_of(d, marks, kinds):
    """The dict d as a display with the keys of `marks`, and items of these kinds; d itself where it is one."""
    return opened_dict(d, marks, kinds)


@intrinsic
def opened_dict(d, marks, kinds):
    if not isinstance(d.type, k.Dict):
        return d
    return CallValue(constant(structured), marks, CallValue(constant(items_of), d, marks, kinds))


def items_of(d, marks, kinds):
    keys = keys_of(marks)
    if len(d) != len(keys):
        raise TypeError(_OTHER_KEYS)
    n = 0
    for key in d:
        if key != keys[n]:
            raise TypeError(_OTHER_KEYS)
        n += 1
    return read(d, marks, kinds)


_OTHER_KEYS = ("a dict that a derivative or a batch takes has other keys, or another order of keys, than where the "
               "function that passes it writes it out")


@intrinsic
def keys_of(marks):
    return constant(literal_of(marks)[1])


@intrinsic
def read(d, marks, kinds):
    """The tuple of the items of d."""
    _, keys, parts = literal_of(marks)
    return Apply(s.TUPLE_MAKE, *[CallValue(constant(read_item), d, constant(key), constant_marks(part),
                                           constant_marks(kind))
                                 for key, part, kind in zip(keys, parts, literal_of(kinds))], cls=None)


def read_item(d, key, marks, kinds):
    return narrowed(d[key], marks, kinds)


@intrinsic
def narrowed(x, marks, kinds):
    """An item of a dict, which may be of any type that the dict holds."""
    if literal_of(marks) is not None and isinstance(x.type, k.Dict):
        return CallValue(constant(items_of), x, marks, kinds)
    if literal_of(marks) is None and kind_of(x.type) == literal_of(kinds):
        return Apply(arith.CAST, x, type=k.Float) if k.is_float(x.type) and x.type is not k.float32 else x
    return Throw(TypeError, "an item of a dict that a derivative or a batch takes has another type than where the "
                            "function that passes it writes it out")


# -- arguments of derivatives


def _check_one_structure(t) -> None:
    """Refuse an argument of a derivative whose structure depends on the path."""
    if type(t) is k.Union and any(map(holds_display, t.members)):
        if any(isinstance(m, k.Container) for m in t.members):
            raise NeedsDisplays("a derivative is asked for here with an argument that is a list or dict which is "
                                "written out on some paths, and an object of Python on others",
                                "write it out wherever it is assigned, and do not change it: p = {'a': x, 'b': y}")
        raise Mismatch("a derivative is asked for here with an argument that has another structure, or another order "
                       "of keys, on other paths", "write the keys of a dict in sorted order, in which tree.map returns "
                       "them: {'a': x, 'b': y}")
    for part in t.elements if type(t) is k.Tuple else t.parts if type(t) in (k.ListDisplay, k.DictDisplay) else ():
        _check_one_structure(part)


def of_trees(items: list[Expr], argnums, marks) -> list[Expr]:
    """The arguments that `applied` takes after f, and then the marks of the arguments that vary. marks: those of all
    arguments if these are tuples already, else None."""
    for x in items:
        _check_one_structure(x.type)
    wanted = list(argnums)
    others = [n for n in range(len(items)) if n not in wanted]
    order = tuple([(True, wanted.index(n)) if n in wanted else (False, others.index(n)) for n in range(len(items))])
    found = tuple([marks_of(x.type) for x in items]) if marks is None else literal_of(marks)
    varied, rest = (Apply(s.TUPLE_MAKE, *(tuples(items[n]) for n in one), cls=None) for one in (wanted, others))
    of_varied = ("tuple", None, tuple([found[n] for n in wanted]))
    return [constant_marks(found), constant_marks(order), varied, rest, constant_marks(of_varied)]
