"""The functions that `pyjitc.custom_jvp`, `custom_vjp` and `checkpoint` call: calls of functions whose derivatives the
program gives, or which the backward part of a derivative calls again.

The rules are functions in the compiled subset. `args` is the tuple of all arguments; tangents and cotangents of
arguments that cannot vary are None.
"""
from __future__ import annotations

import numpy as np

from ..infer.constants import constant
from ..infer.meaning import Apply, CallValue, Mismatch, NeedsDisplays, NotNative, Ruled
from ..ops import structure as s
from ..types import kinds as k
from ..types.tangents import holds_display
from .derivatives import pulled, pushed, with_numbers
from .rule import intrinsic
from .trees import (
    aligned, called as with_trees, constant_marks, is_tuple, items, marked, marks_of, structured, tuples,
    with_structures, without_displays,
)

__all__ = ["custom"]


def custom(f, kind, rule, second, fixed, *args):
    """f(*args), with derivatives from `rule` and `second`."""
    return f(*args)


def _custom(given, keywords):
    f, kind, rule, second, fixed, *args = given
    kind, fixed = kind.value, fixed.value
    if type(f.type) is k.Function:
        f, captured = _apart(f)
        args = [captured, *args]
    items = [Apply(s.DUAL_WIDE, x) if type(x.type) is k.Dual else x for x in args]
    at = constant(tuple([() if n in fixed else None for n in range(len(items))]))
    if kind != "checkpoint" and rule.value is None:
        raise Mismatch("no rule was given for the derivative of a function that custom_jvp or custom_vjp made",
                       "call its .defjvp(rule), or .defvjp(forward, backward), before the function is called")
    args = Apply(s.TUPLE_MAKE, *items, cls=None)
    marks = constant(None)
    if holds_display(args.type):
        marks = constant_marks(tuple([marks_of(x.type) for x in items]))

    def with_result(of_result):
        """The call, where the result has the structure `of_result`."""
        if kind == "checkpoint":
            tangent, forward, backward = (again_tangent, f), None, (again_backward, f)
        elif kind == "jvp":
            tangent, forward, backward = (jvp_tangent, rule, at), None, (jvp_backward, rule, at)
        elif kind == "jvps":
            tangent, forward, backward = (jvps_tangent, f, rule), None, (jvps_backward, f, rule)
        else:
            tangent, forward, backward = None, (vjp_forward, rule), (vjp_backward, second, at)
        tangent, forward, backward = (one and (*one, marks, of_result) for one in (tangent, forward, backward))
        return Ruled(constant(applied), (constant(kind), rule, second, at, marks, of_result, f, tuples(args)), tangent,
                     forward, backward, fixed, kind == "checkpoint", of_displays)

    def of_displays(result):
        of_result = marked(result)
        return CallValue(constant(structured), of_result, with_result(of_result))

    return with_result(constant(None))


def _apart(x):
    """Split x into (the part that its type determines, the part that varies), from which `_together` makes x again. The
    second part of a function that compiled code makes, or of a tuple that holds one, is a tuple of the captured values.
    Other values are their own second part, and None is their first."""
    if not k.any_part(x.type, lambda part: type(part) is k.Function):
        return constant(None), x
    if type(x.type) not in (k.Function, k.Tuple) or k.any_part(x.type, lambda part: type(part) is k.Cell):
        raise NotNative("checkpoint of a function that compiled code makes, and that captures a variable which is "
                        "assigned again, is not compiled yet", "pass the variable as an argument")
    parts = [_apart(Apply(op, x, **attrs)) for op, attrs, _ in s.takers(x.type)]
    return _made(x.type, [known for known, _ in parts]), Apply(s.TUPLE_MAKE, *[held for _, held in parts], cls=None)


def _together(known, x):
    """Undo `_apart`. known: the type of its first result."""
    return x if known is k.NoneType else _made(known, list(map(_together, known.parts, _items(x))))


def _made(t, parts):
    """A value of the same kind as t, made of other parts."""
    op, attrs = s.maker(t.with_parts([x.type for x in parts]))
    return Apply(op, *parts, **attrs)


custom.rule = _custom
custom.takes_duals = True  # a number that is Python's on some paths and NumPy's on others becomes NumPy's


def applied(kind, rule, second, fixed, marks, of_result, f, args):
    return in_order(with_numbers((without_displays(of_result, with_captures(f, marks, args)),))[0])


@intrinsic
def with_captures(f, marks, args):
    """The call f(*args) with arguments converted to their structures. Where f is the first result of `_apart`, the
    first of `args` is the second."""
    if type(f.type) is not k.Function:
        return CallValue(constant(with_trees), f, marks, args)
    captured, *given = _items(as_trees(marks, args))
    return CallValue(_together(f.type, captured), *given)


def in_order(x):
    """x with its arrays in C order, which their tangents and adjoints have as well."""
    if is_tuple(x):
        return of_class(x, all_in_order(items(x)))
    if isinstance(x, np.ndarray):
        return np.ascontiguousarray(x)
    return x


def all_in_order(x):
    if len(x) == 0:
        return ()
    return (in_order(x[0]),) + all_in_order(x[1:])


# The rules below get the structures of the arguments (trees.py) as `marks`, None where no argument is a tree, and that
# of the result as `of_result`, None where it has no list and no dict. `args`, tangents, cotangents, and the result that
# a rule gets, consist of tuples.


# -- repeating the function (checkpoint)


def again(f, marks, of_result, args):
    return without_displays(of_result, with_captures(f, marks, args))


def again_tangent(f, marks, of_result, args, tangents):
    return pushed(again, (3,), False, (tangents,), (f, marks, of_result, args))[1]


def again_backward(f, marks, of_result, args, result, g):
    return pulled(again, (3,), False, g, (f, marks, of_result, args))[1]


# -- from a rule for tangents (custom_jvp)


def jvp_tangent(rule, fixed, marks, of_result, args, tangents):
    given, along = as_trees(marks, args), as_trees(marks, tangents)
    return without_displays(of_result, rule(*(chosen(given, fixed) + (others(given, fixed), others(along, fixed))))[1])


def jvp_backward(rule, fixed, marks, of_result, args, result, g):
    """The rule is linear in the tangents: its transpose is its own pullback at zero tangents."""
    return pulled(jvp_tangent, (5,), False, g, (rule, fixed, marks, of_result, args, zeros(args)))[1]


def jvps_tangent(f, rules, marks, of_result, args, tangents):
    return total(rules, marks, of_result, again(f, marks, of_result, args), args, tangents)


def jvps_backward(f, rules, marks, of_result, args, result, g):
    return pulled(total, (5,), False, g, (rules, marks, of_result, result, args, zeros(args)))[1]


def total(rules, marks, of_result, result, args, tangents):
    return summed(rules, of_result, result, as_trees(marks, args), as_trees(marks, tangents))


def summed(rules, of_result, result, args, tangents):
    """The sum of the tangents that the rules compute for each argument."""
    if len(rules) == 0:
        return zero_of(result)
    if rules[0] is None or tangents[0] is None:
        return summed(rules[1:], of_result, result, args, tangents[1:])
    found = without_displays(of_result, rules[0](tangents[0], structured(of_result, result), *args))
    return added(summed(rules[1:], of_result, result, args, tangents[1:]), found)


def added(x, y):
    """The sum of two tangents; None stands for zero, or belongs to what cannot vary."""
    if x is None:
        return y
    if y is None:
        return x
    if not is_tuple(x):
        return x + y
    return of_class(x, all_added(items(x), items(y)))


def all_added(x, y):
    if len(x) == 0:
        return ()
    return (added(x[0], y[0]),) + all_added(x[1:], y[1:])


# -- from a rule for cotangents (custom_vjp)


def vjp_forward(rule, marks, of_result, args):
    result, kept = rule(*as_trees(marks, args))
    return in_order(with_numbers((without_displays(of_result, result),))[0]), with_numbers(kept)


def vjp_backward(rule, fixed, marks, of_result, args, kept, g):
    given = as_trees(marks, args)
    found = rule(*(chosen(given, fixed) + (kept, structured(of_result, g))))
    return (as_tuples(marks, given, spread(found, fixed)),)


@intrinsic
def as_trees(marks, args):
    """A tuple with an item for each argument, in the structures of the arguments."""
    return args if marks.type is k.NoneType else with_structures(marks, args)


@intrinsic
def as_tuples(marks, args, found):
    """The cotangents of arguments that are trees, as tuples, with the items of dicts in the order of the argument's."""
    if marks.type is k.NoneType:
        return found
    if k.any_part(found.type, lambda part: isinstance(part, k.Dict)):
        raise NeedsDisplays("the backward rule of a custom_vjp function returns a dict that is an object of Python",
                            "write it out where it is returned: return ({'a': x},)")
    return tuples(Apply(s.TUPLE_MAKE, *[aligned(x.type, y) for x, y in zip(_items(args), _items(found))], cls=None))


# -- tuples: `fixed` has an item for each argument: () for those that do not vary, None for the others


def _items(x):
    return [Apply(s.TUPLE_GET, x, index=n) for n in range(len(x.type.elements))]


@intrinsic
def chosen(args, fixed):
    """The arguments that do not vary."""
    return Apply(s.TUPLE_MAKE, *(x for x, t in zip(_items(args), fixed.type.elements) if t is not k.NoneType), cls=None)


@intrinsic
def others(args, fixed):
    return Apply(s.TUPLE_MAKE, *(x for x, t in zip(_items(args), fixed.type.elements) if t is k.NoneType), cls=None)


@intrinsic
def spread(found, fixed):
    """The cotangents that a rule returned, with None for the arguments that do not vary."""
    marks = fixed.type.elements
    count = sum(t is k.NoneType for t in marks)
    if type(found.type) is not k.Tuple or len(found.type.elements) != count:
        raise Mismatch(f"the backward rule of a custom_vjp function must return a tuple of {count}: a cotangent, or "
                       "None, for each argument that is not in nondiff_argnums", "write return (g,) for one")
    rest = iter(_items(found))
    return Apply(s.TUPLE_MAKE, *(next(rest) if t is k.NoneType else constant(None) for t in marks), cls=None)


def zeros(args):
    if len(args) == 0:
        return ()
    return (zero_of(args[0]),) + zeros(args[1:])


@intrinsic
def of_class(x, items):
    """A tuple of the class of x, such as a named tuple, with the items of another one."""
    return Apply(s.TUPLE_MAKE, *_items(items), cls=x.type.cls)


def zero_of(x):
    if is_tuple(x):
        return of_class(x, zeros(items(x)))
    if isinstance(x, np.ndarray):
        if x.dtype.kind == "f" or x.dtype.kind == "c":
            return np.zeros(x.shape, x.dtype)
        return None
    if isinstance(x, (np.floating, np.complexfloating)):
        return x.dtype.type(0)
    if isinstance(x, complex):
        return 0j
    if isinstance(x, float):
        return 0.0
    return None
