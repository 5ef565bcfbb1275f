"""Types of derivatives: of the results of their calls, and the checks of their arguments. Loaded by programs that use
them."""
from __future__ import annotations

import numpy as np

from ..ops import arith, derivative, structure
from ..types import kinds as k
from ..types.lattice import dtype_of
from ..types.tangents import (
    gradient_type, holds_display, holds_one_of_numbers, is_number_that_varies, is_one_of_numbers,
    tangent_type, varies, without_duals,
)
from . import changed_dicts, displays
from .constants import constant
from .expressions import UserCall
from .meaning import UNKNOWN, Apply, CallValue, Derived, Expr, Mismatch, NeedsDisplays, Ruled
from .names import describe

__all__ = ["check_argument", "check_held", "check_jacobian", "check_pair", "settle", "settle_ruled"]

_WRITTEN_OUT = ("pass a tuple, or write the list or dict out where it is passed and do not change it: [x, y], {'a': x}")


def settle(evaluator, e: Derived):
    """(the expression, its abstract value or None): the type of the function's result is found first."""
    missing = evaluator.settle_all(e.operands, e.seeds)
    if missing is not None:
        return missing, None
    for i in e.wrt if e.mode == "gradient" else ():  # the call may have errors only because its argument is an object
        check_held(_given_name(e), i, e.operands[i].type)
    called, av = evaluator.settle(evaluator.call(e.callee, e.operands, {}))
    if av is None:
        return called, None
    if type(called) is not UserCall:
        raise Mismatch("derivatives are only for functions that are written in Python",
                       "write a function around it: def f(x): return ...")
    name = _name(called, e)
    others = e.has_aux and k.any_part(av[0], _is_object)
    if not evaluator.session.findings.returned and not others and _hands_on_dicts(called.spec):
        raise NeedsDisplays(f"{name}() passes on dicts that are objects of Python, of which there is no derivative")
    found = _differentiated(av[0], e)
    if e.mode == "gradient" and type(found) is k.Array and found.ndim == 0 and k.is_float(found.dtype):
        for i in e.wrt:
            check_argument(name, i, e.operands[i].type)
        one = CallValue(constant(np.ones), constant(()), constant(dtype_of(found.dtype)))
        return evaluator.settle(Derived(e.callee, e.operands, "pull", e.wrt, (one,), e.has_aux,
                                        memory=e.memory))
    if e.of_displays is not None:
        if e.mode != "gradient" and k.any_part(found, lambda part: isinstance(part, k.Dict)):
            raise NeedsDisplays(f"{name}() returns a dict that is an object of Python, of which there is no derivative",
                                "write it out where it is returned: return {'a': x, 'b': y}")
        if _is_converted(av[0], found, e):
            return evaluator.settle(e.of_displays(e, av[0]))
    for i in e.wrt if e.mode == "gradient" else ():
        check_argument(name, i, e.operands[i].type)
    given, result = [e.operands[i].type for i in e.wrt], av[0]
    _check_result(name, result, e, called.spec)
    e.called = called
    if e.mode == "push":
        e.seeds = [_tangent(x, t, f"argument {i} of {name}()") for i, x, t in zip(e.wrt, e.seeds, given)]
    known = [i for i in e.wrt if called.spec.args[i][1] is not UNKNOWN]
    if known:
        return evaluator.settle(_without(known, e))
    change = tangent_type(_differentiated(result, e))
    if e.mode == "push":
        e.type = k.Tuple((without_duals(result), change))
    else:
        if e.mode == "pull":
            e.seeds = [_seed(x, change, f"the cotangent of the result of {name}()") for x in e.seeds]
        e.type = k.Tuple((without_duals(result), k.Tuple(map(gradient_type, given))))
    return e, (e.type, UNKNOWN)


def _is_object(t) -> bool:
    """Whether t is a dict that stays an object of Python where it is not differentiated: its values have one type."""
    return isinstance(t, k.Dict) and type(k.closed(t.parameters[1])) is not k.Union


def _hands_on_dicts(spec) -> bool:
    """Whether a function, or one that it calls, makes dicts with constant keys that it only passes on, for example to
    the next trip of a loop, and no function does more with a dict that it is given."""
    known = _reached(spec)
    return any(map(changed_dicts.would_help, known)) or any(
        [displays.replaced(one.fn, one is not spec.analysis) for one in known]) and all(
            [displays.only_hands_on(one, changed_dicts.found_in(one.fn)) for one in known])


def _reached(spec) -> list:
    """The analyses of the program's functions that a function consists of: itself and those that it calls."""
    reached = [spec]
    for one in reached:  # appended to during the iteration
        if one.analysis is not None:
            reached += [m.spec for m in one.analysis.meaning.values() if type(m) is UserCall and m.spec not in reached
                        and (not m.spec.proto.library or _gets_function(m.spec))]
    return [one.analysis for one in reached if one.analysis is not None and not one.proto.library]


def _gets_function(spec) -> bool:
    """Whether a function gets functions, which it may call, or has captured some, as what stands for a partial has."""
    return any([av is not None and k.any_part(av[0], lambda part: type(part) is k.Function)
                for av in (*spec.args, spec.closure)])


def _name(called, e) -> str:
    """The name of the function that is differentiated. A function of the library that calls it gets it first."""
    t = e.operands[0].type if called.spec.proto.library and e.operands else None
    return _qualname(t) or called.spec.proto.qualname


def _given_name(e) -> str:
    """The same before the function is called."""
    return (_qualname(e.operands[0].type) if e.operands else None) or _qualname(e.callee.type) or "f"


def _qualname(t) -> str | None:
    """The name of the function that a value of type t is, None for other values."""
    if type(t) is k.Function:
        return t.proto.qualname
    return getattr(t.value, "__qualname__", None) if type(t) is k.Singleton else None


def _without(known, e) -> Expr:
    """The derivative `e` without the arguments `known`, such as None and functions, whose values are part of the
    compiled function: the derivatives by them are None."""
    wrt = tuple([i for i in e.wrt if i not in known])
    seeds = [x for i, x in zip(e.wrt, e.seeds) if i not in known] if e.mode == "push" else e.seeds
    one = Derived(e.callee, e.operands, e.mode, wrt, seeds, e.has_aux, e.of_displays, e.memory)
    if e.mode == "push":
        return one
    value, found = (Apply(structure.TUPLE_GET, one, index=n) for n in (0, 1))
    parts = [constant(None) if i in known else Apply(structure.TUPLE_GET, found, index=wrt.index(i)) for i in e.wrt]
    return Apply(structure.TUPLE_MAKE, value, Apply(structure.TUPLE_MAKE, *parts, cls=None), cls=None)


def settle_ruled(evaluator, e: Ruled):
    """(the call of the function itself, its abstract value or None); the callee records its derivatives."""
    missing = evaluator.settle_all(e.operands)
    if missing is not None:
        return missing, None
    called, av = evaluator.settle(evaluator.call(constant(e.callee.value), e.operands, {}))
    given = e.operands[-1].type
    if av is None or type(called) is not UserCall or called.operands[-1].value is not UNKNOWN:
        return called, av
    if not evaluator.session.findings.returned:
        for t, verb in (given, "gets"), (av[0], "returns"):
            if k.any_part(t, lambda part: isinstance(part, k.Dict)):
                raise NeedsDisplays(f"a function with a derivative of its own {verb} a dict that is an object of "
                                    "Python", _WRITTEN_OUT)
    if holds_display(av[0]):
        return evaluator.settle(e.of_displays(av[0]))
    several = k.any_part(av[0], lambda part: type(part) is k.Union and not is_one_of_numbers(part))
    if not varies(given) or several or k.any_part(av[0], lambda part: isinstance(part, k.Dict)):
        if several or any(k.any_part(t, lambda part: isinstance(part, (k.Container, k.ObjectOf)))
                          for t in (given, av[0])):
            # The rules are not for such arguments and results: it stays a call, so that what varies in them is refused.
            called.spec.rules = derivative.Ruled(None, None, None, tuple(e.fixed), None, e.repeats)
        return called, av

    def spec(rule, *types):
        if rule is None:
            return None
        function, *first = rule
        found, _ = evaluator.settle(evaluator.call(constant(function), [*first, *map(_unknown, types)], {}))
        assert type(found) is UserCall
        if found.spec.error is not None:
            raise found.spec.error
        return found.spec

    name = f"{_qualname(e.operands[-2].type)}()"
    result, kept = av[0], av[0]
    tangent = spec(e.tangent, given, tangent_type(given))
    forward = spec(e.forward, given)
    if forward is not None:
        if forward.result is None:
            return called, av
        out, kept = forward.result[0].elements
        if out is not result:
            raise Mismatch(f"the forward rule of {name} returns {out} as the result, and the function itself "
                           f"{result}", "return (result, what the backward rule needs)")
    backward = spec(e.backward, given, kept, gradient_type(without_duals(result)))
    for one, wanted, what in ((tangent, tangent_type(result), "a tangent of the result"),
                              (backward, k.Tuple((gradient_type(given),)), "cotangents of the arguments")):
        if one is None or one.result is None:  # a rule may call the function, and waits for its result type
            continue
        if not _fits(one.result[0], wanted):
            raise Mismatch(f"a rule of {name} gives {one.result[0]} as {what}: {wanted} is expected",
                           "give one for each argument, None where it cannot vary, of the argument's dtype")
    called.spec.rules = derivative.Ruled(tangent, forward, backward, tuple(e.fixed), None, e.repeats)
    return called, av


def _unknown(t):
    """An operand of this type with unknown value."""
    return constant(None) if t is k.NoneType else Apply(structure.UNDEF, type=t)


def _fits(t, wanted) -> bool:
    if t is wanted or wanted is k.NoneType or t is k.NoneType and not varies(wanted):
        return True
    if type(wanted) is k.Tuple:
        return type(t) is k.Tuple and len(t.elements) == len(wanted.elements) and all(
            map(_fits, t.elements, wanted.elements))
    if type(wanted) is k.Array:
        return t is k.NoneType or is_number_that_varies(t) or (
            type(t) is k.Array and t.dtype is wanted.dtype and t.ndim == wanted.ndim)
    return t is k.NoneType or is_number_that_varies(t) or (  # np.zeros_like(x) of a number
        type(t) is k.Array and t.ndim == 0 and is_number_that_varies(t.dtype))


def check_held(name, i, t, any_container=False):
    """Refuse the derivative by argument i of type t, where what varies is in a list, a dict or a dataclass that is an
    object of Python: its cotangent would be None. any_container: also where nothing in the list or dict can vary."""
    for part in k.all_parts(t):
        verb = "is" if part is t else "holds"
        if isinstance(part, k.Container) and (
                any_container or any([k.any_part(k.closed(inner), _may_hold) for inner in part.parameters])):
            raise NeedsDisplays(f"the derivative of {name}() by argument {i} is asked for, which {verb} an object of "
                                f"Python, {describe(part)}", _WRITTEN_OUT)
        if isinstance(part, k.ObjectOf) and hasattr(part.cls, "__dataclass_fields__"):
            raise Mismatch(f"the derivative of {name}() by argument {i} is asked for, which {verb} a dataclass that "
                           f"compiled code made or was given, {describe(part)}: derivatives by its attributes are only "
                           "for calls from Python", "pass its attributes in a tuple, or let the function capture it")


def _may_hold(t) -> bool:
    """Whether a value of type t varies, or is an object of a dataclass, whose attributes may."""
    return varies(t) or isinstance(t, k.ObjectOf) and hasattr(t.cls, "__dataclass_fields__")


def check_argument(name, i, t):
    """Refuse the derivative by argument i of type t, where nothing in it can vary, or what varies is in an object of
    Python."""
    check_held(name, i, t, not varies(t))
    if not varies(t):
        raise Mismatch(f"the derivative of {name}() by argument {i} is asked for, which is {describe(t)}: only floats, "
                       "complex numbers and arrays of these vary",
                       "pass 1.0 for 1, or x.astype(float), or leave it out of argnums")


def _is_converted(result, found, e) -> bool:
    """Whether the transforms need a result in another form: with tuples in place of displays, and with numbers of one
    type in place of numbers whose type depends on the path. found: the type of the part that is differentiated."""
    if holds_one_of_numbers(found) or e.mode != "gradient" and holds_display(found):
        return not e.has_aux or _is_pair(result)
    return e.has_aux and _is_pair(result) and holds_display(result)


def _is_pair(result) -> bool:
    """Whether a result is (value, other results)."""
    return type(result) is k.Tuple and len(result.elements) == 2


def _differentiated(result, e):
    """The type of the part of a result that is differentiated."""
    return result.elements[0] if e.has_aux and type(result) is k.Tuple and result.elements else result


def check_pair(name, result):
    """Refuse the result of a function that returns no other results beside the value that is differentiated."""
    if not _is_pair(result):
        raise Mismatch(f"with has_aux=True {name}() must return (value, other results), not {describe(result)}")


def _check_types(name, result, spec=None):
    if k.any_part(result, lambda t: type(t) is k.Union):
        for analysis in () if spec is None else _reached(spec):
            for inst in changed_dicts.of_several_types(analysis):
                t = k.closed(analysis.av[inst.result][0].parameters[1])
                error = Mismatch(f"this dict holds values of several types, {describe(t)}, and is an object of Python, "
                                 "of which there is no derivative", "use the dict by constant keys only, as in d['a'] "
                                 "and {**d, 'a': x}, and pyjitc.tree.map for all of its values")
                error.place = analysis.spec, inst
                raise error
        raise Mismatch(f"{name}() returns values of several types, {describe(result)}, which have no derivative",
                       "return the same type on every path")


def check_jacobian(name, what, result):
    """Refuse a Jacobian of a result of this type, where nothing in it can vary."""
    if not varies(result):
        _check_types(name, result)
        raise Mismatch(f"{what} is only for functions that return floats, complex numbers or arrays of these, and "
                       f"{name}() returns {_in_words(result)}, which cannot vary",
                       "return the float that is to be differentiated; use grad(f, has_aux=True) or jvp for a "
                       "function that returns other results as well")


def _in_words(t) -> str:
    return f"an array of {t.dtype}" if type(t) is k.Array else describe(t)


def _check_result(name, result, e, spec):
    if e.has_aux:
        check_pair(name, result)
        result = result.elements[0]
    _check_types(name, result, spec)
    if e.mode == "gradient" and not k.is_float(without_duals(result)):
        raise Mismatch(f"a gradient is only for functions that return a float, and {name}() returns {describe(result)}",
                       "return a sum of it, or use jacrev or jacfwd" if type(result) is k.Array and varies(result) else
                       "return the float that is to be differentiated")


def _tangent(x, t, where):
    """The tangent x of an argument of type t. A tangent of a value that cannot vary would be ignored, so that its
    derivative would be a zero that nobody wrote: it must be None."""
    if type(t) is k.Tuple and type(x.type) is k.Tuple and len(t.elements) == len(x.type.elements):
        parts = [_tangent(Apply(structure.TUPLE_GET, x, index=n), part, where) for n, part in enumerate(t.elements)]
        return Apply(structure.TUPLE_MAKE, *parts, cls=t.cls)
    if not varies(t) and x.type is not k.NoneType:
        if isinstance(t, k.Container):
            raise NeedsDisplays(f"a tangent is given for {where}, which is an object of Python, {describe(t)}",
                                _WRITTEN_OUT)
        raise Mismatch(f"the tangent of {where} must be None where it is {_in_words(t)}, which cannot vary, not "
                       f"{_in_words(x.type)}", "pass None, or make it a float: 1.0 for 1, or x.astype(float)")
    return _seed(x, tangent_type(t), f"the tangent of {where}")


def _seed(x, wanted, what):
    """A tangent or cotangent in the type that it must have: numbers are converted, arrays only change to a type without
    an order."""
    t = x.type
    if t is wanted:
        return x
    if type(wanted) is k.Tuple and type(t) is k.Tuple and len(t.elements) == len(wanted.elements):
        parts = [_seed(Apply(structure.TUPLE_GET, x, index=n), part, what) for n, part in enumerate(wanted.elements)]
        return Apply(structure.TUPLE_MAKE, *parts, cls=wanted.cls)
    if k.is_float(wanted) and (k.is_float(t) or k.is_integer(t)) or k.is_complex(wanted) and k.is_number(t):
        return Apply(arith.CAST, x, type=wanted)
    if wanted is k.NoneType:
        return Apply(structure.DISCARD, x)
    if type(t) is k.Array and type(wanted) is k.Array and t.dtype is wanted.dtype and t.ndim == wanted.ndim:
        return x
    raise Mismatch(f"{what} must be {_kind_of(wanted)}, not {_kind_of(t)}")


def _kind_of(t) -> str:
    return f"an array of {t.dtype} with {t.ndim} axes" if type(t) is k.Array else describe(t)
