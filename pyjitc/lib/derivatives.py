"""The functions that `pyjitc.grad` and its like call inside the functions that they make, each with its rule."""
from __future__ import annotations

import inspect

import numpy as np

from ..infer.constants import constant
from ..infer.derivatives import check_held, check_pair
from ..infer.meaning import Apply, CallValue, Derived
from ..ops import arith as a
from ..ops import structure as s
from ..ops.math import STOPPED
from ..types import kinds as k
from ..types.tangents import holds_display, is_one_of_numbers, varies
from .axes import of_class
from .np.elementwise.elementwise import over
from .rule import NONE, Constant, Rule, intrinsic
from .stand_ins import as_objects, as_tuples, holds_dataclass
from .trees import (
    aligned, applied, arranged, flat, have_one_order, is_tuple, items, literal_of, marked, of_trees, structured, tuples,
)

__all__ = ["OF_VALUES", "gradients", "name_of", "own", "pair", "pulled", "pushed", "pushed_apart",
           "spread", "stop_gradient", "with_numbers"]


_OF_ANY_COUNT = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def _items(x):
    return [Apply(s.TUPLE_GET, x, index=n) for n in range(len(x.type.elements))]


@intrinsic
def gradients(f, argnums: Constant, has_aux: Constant, args, marks=None, memory: Constant = 0):
    """(f(*args), its gradients with respect to the arguments at `argnums`). has_aux: f returns (value, aux), and the
    gradients are those of the value. memory: the bytes that may be kept for each loop; 0 for no limit."""
    if holds_dataclass(args.type):
        return of_objects(gradients, f, constant(argnums), constant(has_aux), args, constant(marks), constant(memory))
    ordered = have_one_order(args)
    if ordered is not args:
        return CallValue(constant(gradients), f, constant(argnums), constant(has_aux), ordered, constant(marks),
                         constant(memory))
    if marks is not None or holds_display(args.type) or not _has_parameters(f, args):
        return _of_trees(gradients_of_trees, f, argnums, args, marks, constant(has_aux), constant(memory))
    return Derived(f, _items(args), "gradient", argnums, (), has_aux, _of_lists, memory)


@intrinsic
def pulled(f, argnums: Constant, has_aux: Constant, cotangent, args, marks=None):
    """(f(*args), the pullback of the cotangent to the arguments at `argnums`). has_aux: f returns (value, aux), and the
    cotangent is that of the value."""
    if holds_dataclass(args.type) or holds_dataclass(cotangent.type):
        return of_objects(pulled, f, constant(argnums), constant(has_aux), cotangent, args, constant(marks))
    ordered = have_one_order(args)
    if ordered is not args:
        return CallValue(constant(pulled), f, constant(argnums), constant(has_aux), cotangent, ordered, constant(marks))
    if marks is not None or holds_display(args.type) or not _has_parameters(f, args):
        return _of_trees(pulled_of_trees, f, argnums, args, marks, constant(has_aux), cotangent)
    return Derived(f, _items(args), "pull", argnums, (cotangent,), has_aux, _of_lists)


@intrinsic
def pushed(f, argnums: Constant, has_aux: Constant, tangents, args, marks=None):
    """(f(*args), the derivative in the direction of `tangents`, a tuple of a tangent for each argument at `argnums`).
    has_aux: f returns (value, aux), and the derivative is that of the value."""
    if holds_dataclass(args.type) or holds_dataclass(tangents.type):
        return of_objects(pushed, f, constant(argnums), constant(has_aux), tangents, args, constant(marks))
    ordered = have_one_order(args)
    if ordered is not args:
        return CallValue(constant(pushed), f, constant(argnums), constant(has_aux), tangents, ordered, constant(marks))
    if marks is not None or not _has_parameters(f, args) or holds_display(args.type) or holds_display(tangents.type):
        given = k.Tuple([args.type.elements[n] for n in argnums])
        return _of_trees(pushed_of_trees, f, argnums, args, marks, constant(has_aux), tuples(aligned(given, tangents)))
    return Derived(f, _items(args), "push", argnums, _items(tangents), has_aux, _of_lists)


def _has_parameters(f, args) -> bool:
    """Whether a function has one positional parameter for each argument, and no others."""
    code = f.type.proto.code if type(f.type) is k.Function else getattr(f.value, "__code__", None)
    return code is None or code.co_argcount == len(args.type.elements) and not code.co_kwonlyargcount and (
        not code.co_flags & _OF_ANY_COUNT)


def of_objects(function, f, *given):
    """function(f, *given) for arguments that hold objects of dataclasses: it gets their fields, and what it returns has
    objects again."""
    given = tuple([CallValue(constant(as_tuples), x) if holds_dataclass(x.type) else x for x in given])
    found = CallValue(constant(function), f, *given)
    return CallValue(constant(as_objects), found, Apply(s.TUPLE_MAKE, *given, cls=None))


def _of_lists(e, result):
    """Replace the derivative of a function that returns displays, or numbers of another type on other paths, by that of
    a function that returns tuples and numbers of one type in their place. result: the type of the function's result."""
    given = of_trees(e.operands, e.wrt, None)[:-1]
    result, others = result.elements if e.has_aux else (result, k.NoneType)
    beside = constant(e.has_aux), marked(others)
    if e.mode == "gradient":
        return CallValue(constant(gradients_of_lists), e.callee, *given, *beside, constant(e.memory))
    if e.mode == "push":
        seeds = [tuples(aligned(e.operands[n].type, x)) for n, x in zip(e.wrt, e.seeds)]
        along = Apply(s.TUPLE_MAKE, *seeds, cls=None)
        return CallValue(constant(pushed_of_lists), e.callee, marked(result), *given, *beside, along)
    seeds = [tuples(aligned(result, x)) for x in e.seeds]
    return CallValue(constant(pulled_of_lists), e.callee, marked(result), *given, *beside, *seeds)


def gradients_of_lists(f, marks, order, varied, others, has_aux, of_others, memory):
    given = (f, marks, order, varied, others)
    if has_aux:
        (value, aux), (found,) = gradients(without_lists_beside, (3,), True, given, None, memory)
        return (value, structured(of_others, aux)), found
    value, (found,) = gradients(without_lists, (3,), False, given, None, memory)
    return value, found


def pushed_of_lists(f, of_result, marks, order, varied, others, has_aux, of_others, tangents):
    given = (f, marks, order, varied, others)
    if has_aux:
        (value, aux), change = pushed(without_lists_beside, (3,), True, (tangents,), given)
        return (structured(of_result, value), structured(of_others, aux)), structured(of_result, change)
    value, change = pushed(without_lists, (3,), False, (tangents,), given)
    return structured(of_result, value), structured(of_result, change)


def pulled_of_lists(f, of_result, marks, order, varied, others, has_aux, of_others, cotangent):
    given = (f, marks, order, varied, others)
    if has_aux:
        (value, aux), (found,) = pulled(without_lists_beside, (3,), True, cotangent, given)
        return (structured(of_result, value), structured(of_others, aux)), found
    value, (found,) = pulled(without_lists, (3,), False, cotangent, given)
    return structured(of_result, value), found


def without_lists(f, marks, order, varied, others):
    return with_numbers((flat(arranged(f, marks, order, varied, others)),))[0]


def without_lists_beside(f, marks, order, varied, others):
    value, aux = arranged(f, marks, order, varied, others)
    return with_numbers((flat(value),))[0], without_displays_beside(aux)


@intrinsic
def with_numbers(x):
    """The tuple x with numbers of one type: a float64 where it is one on some paths and a float, an int or a float32 on
    others."""
    return _with_numbers(x)


def _with_numbers(x):
    t = x.type
    if type(t) is k.Tuple:
        return Apply(s.TUPLE_MAKE, *map(_with_numbers, _items(x)), cls=t.cls)
    return CallValue(constant(to_float), x) if is_one_of_numbers(t) else x


@intrinsic
def without_displays_beside(x):
    """Results that are not differentiated, without displays."""
    return tuples(x)


def to_float(x):
    return np.float64(x)


def _of_trees(function, f, argnums, args, marks, *rest):
    return CallValue(constant(function), f, *of_trees(_items(args), argnums, marks), *rest)


def gradients_of_trees(f, marks, order, varied, others, of_varied, has_aux, memory):
    value, (found,) = gradients(applied, (3,), has_aux, (f, marks, order, varied, others), None, memory)
    return value, structured(of_varied, found)


def pulled_of_trees(f, marks, order, varied, others, of_varied, has_aux, cotangent):
    value, (found,) = pulled(applied, (3,), has_aux, cotangent, (f, marks, order, varied, others))
    return value, structured(of_varied, found)


def pushed_of_trees(f, marks, order, varied, others, of_varied, has_aux, tangents):
    return pushed(applied, (3,), has_aux, (tangents,), (f, marks, order, varied, others))


# -- functions with *args that are made in compiled code, such as partials


def of_any_count(transform, rest, fun):
    """The function that a transform returns for `fun`. rest: what the transform takes beside `fun`."""
    def called(*given):
        return for_count(transform, rest, fun, given)

    return called


@intrinsic
def for_count(transform, rest, fun, given):
    """The call of the function that a transform returns for `fun` with as many parameters as there are arguments."""
    items = _items(given)
    return CallValue(transform.type.value.for_count(fun, literal_of(rest), len(items)), *items)


# -- vjp and linearize in compiled code


def pullback_of(f, args):
    """(f(*args), its pullback)"""
    check_cotangents(f, args)
    kept = own(args)

    def pullback(cotangent):
        return pulled(spread, (1,), False, cotangent, (f, kept))[1][0]

    return f(*own(args)), pullback


def pullback_with_others(f, args):
    """(the value that f(*args) returns, its pullback, what f returns beside the value)"""
    check_cotangents(f, args)
    kept = own(args)

    def pullback(cotangent):
        return pulled(spread, (1,), True, cotangent, (f, kept))[1][0]

    value, others = pair(f, f(*own(args)))
    return value, pullback, others


@intrinsic
def check_cotangents(f, args):
    """Refuse an argument that may hold numbers that vary, but for which the pullback would give None."""
    for n, x in enumerate(_items(args)):
        check_held(name_of(f), n, x.type)
    return NONE


def name_of(f):
    return f.type.proto.qualname if isinstance(f.type, k.Function) else getattr(f.type.value, "__qualname__", "f")


def linearized(f, args):
    """(f(*args), the function from tangents to the change of the result)"""
    kept = own(args)

    def pushforward(*tangents):
        return pushed(spread, (1,), False, (tangents,), (f, kept))[1]

    return f(*own(args)), pushforward


@intrinsic
def pair(f, y):
    """y, the result of f, which must be (value, other results)."""
    check_pair(name_of(f), y.type)
    return y


def linearized_with_others(f, args):
    """(the value that f(*args) returns, the function from tangents to its change, what f returns beside the value)"""
    kept = own(args)

    def pushforward(*tangents):
        return pushed(spread, (1,), True, (tangents,), (f, kept))[1]

    value, others = pair(f, f(*own(args)))
    return value, pushforward, others


def pushed_apart(f, argnums, has_aux, tangents, args, marks=None):
    """(f(*args), its change in the direction of the tangents). With has_aux (the value that f(*args) returns, its
    change, what f returns beside the value)."""
    result, change = pushed(f, argnums, has_aux, tangents, args, marks)
    if has_aux:
        return result[0], change, result[1]
    return result, change


def pullback_of_objects(f, args):
    """`pullback_of` where objects of dataclasses are among the arguments."""
    given = as_tuples(args)
    value, pullback = pullback_of(f, given)

    def of_objects(cotangent):
        return as_objects(pullback(as_tuples(cotangent)), given)

    return as_objects(value, given), of_objects


def pullback_of_objects_with_others(f, args):
    given = as_tuples(args)
    value, pullback, others = pullback_with_others(f, given)

    def of_objects(cotangent):
        return as_objects(pullback(as_tuples(cotangent)), given)

    return as_objects(value, given), of_objects, as_objects(others, given)


def linearized_by_objects(f, args):
    """`linearized` where objects of dataclasses are among the arguments."""
    given = as_tuples(args)
    value, pushforward = linearized(f, given)

    def of_objects(*tangents):
        return as_objects(pushforward(*as_tuples(tangents)), given)

    return as_objects(value, given), of_objects


def linearized_by_objects_with_others(f, args):
    given = as_tuples(args)
    value, pushforward, others = linearized_with_others(f, given)

    def of_objects(*tangents):
        return as_objects(pushforward(*as_tuples(tangents)), given)

    return as_objects(value, given), of_objects, as_objects(others, given)


# transform -> (without and with has_aux), each (without and with objects among the arguments)
OF_VALUES = {"vjp": ((pullback_of, pullback_of_objects), (pullback_with_others, pullback_of_objects_with_others)),
             "linearize": ((linearized, linearized_by_objects),
                           (linearized_with_others, linearized_by_objects_with_others))}


def spread(f, args):
    return f(*args)


@intrinsic
def own(x):
    """x, an array or a tree, with copies of its arrays, which the program may write into later."""
    if holds_display(x.type):
        return CallValue(constant(own_displays), marked(x.type), tuples(x))
    return CallValue(constant(own_items), x)


def own_displays(marks, x):
    return structured(marks, own_items(x))


def own_items(x):
    if is_tuple(x):
        return of_class(x, own_rest(items(x), 0))
    if isinstance(x, np.ndarray):
        return x.copy()
    return x


def own_rest(x, n):
    if n == len(x):
        return ()
    return (own_items(x[n]),) + own_rest(x, n + 1)


def stopped(x):
    return STOPPED(x)


def stopped_complex(x):
    return a.COMPLEX_MAKE(STOPPED(a.REAL(x)), STOPPED(a.IMAG(x)))


def stop_gradient(x):
    """The value of x, a number, an array or a tuple of these, as a constant for differentiation: derivatives with
    respect to it are zero. In compiled code arrays are copied; the interpreter returns x itself."""
    return x


def _stop_gradient(x):
    t = x.type
    if not varies(t):
        return x
    if type(t) is k.Tuple:
        return Apply(s.TUPLE_MAKE, *map(_stop_gradient, _items(x)), cls=t.cls)
    if type(t) is k.Array:
        return over(stopped_complex if k.is_complex(t.dtype) else stopped, [], [x])
    if k.is_complex(t):
        return Apply(a.COMPLEX_MAKE, Apply(STOPPED, Apply(a.REAL, x)), Apply(STOPPED, Apply(a.IMAG, x)))
    return Apply(STOPPED, x)


stop_gradient.rule = Rule(_stop_gradient, "pyjitc.stop_gradient")
