"""The functions that `pyjitc.custom_jvp`, `custom_vjp` and `checkpoint` call: calls of functions whose derivatives the
program gives, or which the backward part of a derivative calls again.

The rules are functions in the compiled subset. `args` is the tuple of all arguments; tangents and cotangents of
arguments that cannot vary are None.
"""
from __future__ import annotations

import numpy as np

from ..infer.constants import constant
from ..infer.meaning import Apply, Mismatch, NotNative, Ruled
from ..ops import structure as s
from ..types import kinds as k
from ..types.tangents import holds_display
from .derivatives import pulled, pushed
from .rule import intrinsic
from .trees import called as with_trees, constant_marks, marks_of, tuples

__all__ = ["custom"]


def custom(f, kind, rule, second, fixed, *args):
    """f(*args), with derivatives from `rule` and `second`."""
    return f(*args)


def _custom(given, keywords):
    f, kind, rule, second, fixed, *args = given
    kind, fixed = kind.value, fixed.value
    if type(f.type) is k.Function:
        raise NotNative("checkpoint of a function that compiled code makes is not compiled yet",
                       "define the function outside, and pass what it captures as arguments")
    items = [Apply(s.DUAL_WIDE, x) if type(x.type) is k.Dual else x for x in args]
    args = Apply(s.TUPLE_MAKE, *items, cls=None)
    if kind == "checkpoint" and holds_display(args.type):
        marks = constant_marks(tuple([marks_of(x.type) for x in items]))
        return Ruled(constant(arranged_again), (marks, f, tuples(args)), (tree_tangent, f, marks), None,
                     (tree_backward, f, marks), fixed, True)
    at = constant(tuple([() if n in fixed else None for n in range(len(items))]))
    if kind == "checkpoint":
        tangent, forward, backward = (again_tangent, f), None, (again_backward, f)
    elif rule.value is None:
        raise Mismatch("no rule was given for the derivative of a function that custom_jvp or custom_vjp made",
                       "call its .defjvp(rule), or .defvjp(forward, backward), before the function is called")
    elif kind == "jvp":
        tangent, forward, backward = (jvp_tangent, rule, at), None, (jvp_backward, rule, at)
    elif kind == "jvps":
        tangent, forward, backward = (jvps_tangent, f, rule), None, (jvps_backward, f, rule)
    else:
        tangent, forward, backward = None, (vjp_forward, rule, at), (vjp_backward, second, at)
    return Ruled(constant(applied), (constant(kind), rule, second, at, f, args), tangent, forward, backward, fixed,
                 kind == "checkpoint")


custom.rule = _custom
custom.takes_duals = True  # a number that is Python's on some paths and NumPy's on others becomes NumPy's


def applied(kind, rule, second, fixed, f, args):
    return in_order(f(*args))


def in_order(x):
    """x with its arrays in C order, which their tangents and adjoints have as well."""
    if isinstance(x, tuple):
        if len(x) == 0:
            return ()
        return (in_order(x[0]),) + in_order(x[1:])
    if isinstance(x, np.ndarray):
        return np.ascontiguousarray(x)
    return x


# -- repeating the function (checkpoint)


def called(f, args):
    return f(*args)


def again_tangent(f, args, tangents):
    return pushed(called, (1,), (tangents,), (f, args))[1]


def again_backward(f, args, result, g):
    return pulled(called, (1,), False, g, (f, args))[1]


def arranged_again(marks, f, args):
    return in_order(arranged_call(f, marks, args))


def arranged_call(f, marks, args):
    """f(*args), with trees as the program passes them."""
    return with_trees(f, marks, args)


def tree_tangent(f, marks, args, tangents):
    return pushed(arranged_call, (2,), (tangents,), (f, marks, args))[1]


def tree_backward(f, marks, args, result, g):
    return pulled(arranged_call, (2,), False, g, (f, marks, args))[1]


# -- from a rule for tangents (custom_jvp)


def jvp_tangent(rule, fixed, args, tangents):
    return rule(*(chosen(args, fixed) + (others(args, fixed), others(tangents, fixed))))[1]


def jvp_backward(rule, fixed, args, result, g):
    """The rule is linear in the tangents: its transpose is its own pullback at zero tangents."""
    return pulled(jvp_tangent, (3,), False, g, (rule, fixed, args, zeros(args)))[1]


def jvps_tangent(f, rules, args, tangents):
    return total(rules, f(*args), args, tangents)


def jvps_backward(f, rules, args, result, g):
    return pulled(total, (3,), False, g, (rules, result, args, zeros(args)))[1]


def total(rules, result, args, tangents):
    return summed(rules, result, args, tangents)


def summed(rules, result, args, tangents):
    """The sum of the tangents that the rules compute for each argument."""
    if len(rules) == 0:
        return zero_of(result)
    if rules[0] is None or tangents[0] is None:
        return summed(rules[1:], result, args, tangents[1:])
    return summed(rules[1:], result, args, tangents[1:]) + rules[0](tangents[0], result, *args)


# -- from a rule for cotangents (custom_vjp)


def vjp_forward(rule, fixed, args):
    result, kept = rule(*args)
    return in_order(result), kept


def vjp_backward(rule, fixed, args, kept, g):
    return (spread(rule(*(chosen(args, fixed) + (kept, g))), fixed),)


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


def zero_of(x):
    if isinstance(x, tuple):
        return zeros(x)
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
