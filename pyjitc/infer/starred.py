"""Calls `f(*items, **keywords)` where the number of items, or the names of the keywords, are known only at run time.

A Python function of the program, the `__init__` of one of its classes or a method is called directly: the interpreter
binds the items to the parameters (it calls a function with the same parameters, which returns the tuple of its
arguments, and raises the right TypeError), and the call gets the items of that tuple. If the function takes no
`**keywords`, and no keywords are given beside items for its `*args`, compiled code binds the items, and calls the
interpreter for the error alone.
"""
from __future__ import annotations

import functools
import sys
from collections import namedtuple
from types import FunctionType, MethodType

from ..base.lazy import lazy
from ..ops import structure
from ..types.classes import own
from ..types.kinds import Dict, Function, FunctionObject, List, Method, ObjectOf, Singleton, Str, Super, TupleOf
from .boxed import by_python
from .constants import constant
from .expressions import captured_defaults, defaults_of, members_of, opened
from .meaning import Apply

interpreted = lazy("pyjitc.runtime.interpreted")

__all__ = ["call_starred"]

_VARARGS, _KEYWORDS, _GENERATOR = 0x04, 0x08, 0x20  # inspect.CO_VARARGS, CO_VARKEYWORDS, CO_GENERATOR

# A Python function that a program calls. closure: its value if compiled code has made it; defaults: (those of
# positional parameters, those of keyword-only parameters by name); receiver: the first arguments of a bound method;
# made: the object that it initialises, or None; held: the two parts of `defaults` as a tuple and a dict that compiled
# code has made, or None
_Found = namedtuple("_Found", "proto function closure defaults receiver made held", defaults=(None,))


def call_starred(on, callee, first, items, keywords, named):
    """The call `callee(*first, *items, **keywords)` for the evaluator `on`. first: expressions; items: a container, or
    None; keywords: a dict, or the display of one, of which `named` are the items."""
    unknown = isinstance(keywords.type, Dict)
    found = _found(on, callee)
    if found is None:
        if unknown and items is None and not first and isinstance(callee.type, Singleton) and callee.type.value is dict:
            return on.call(callee, [keywords], {})
        if unknown:
            made = _of_keywords(on, callee, first, items, keywords)
            return members_of(keywords) if made is None else made  # this raises the error that names what is refused
        function = first[:1] if isinstance(callee.type, Singleton) and callee.type.value is map else []
        if len(first) > len(function):
            items = _joined(on, first[len(function):], items)
        return on.library.call_with(callee, function, items, named)
    code = found.proto.code
    first = [*found.receiver, *first]
    count, only = code.co_argcount, code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
    names = code.co_varnames[:count]
    has_rest = bool(code.co_flags & _VARARGS)
    # The binder of a function that compiled code has made gets the defaults at run time.
    given, only_given = (([None] * len(found.defaults[0]), dict.fromkeys(found.defaults[1]))
                         if found.function is None else
                         (found.function.__defaults__ or (), found.function.__kwdefaults__ or {}))
    before = names[:len(first)]
    known = [name for name in named if name in names or name in only]
    asked = [name for name in names[len(before):] if name not in known]
    asked_only = [name for name in only if name not in known] if unknown else []
    binder = functools.partial(
        interpreted.binder(found.proto.qualname, names, given, has_rest, only, only_given, (*asked, *asked_only),
                           bool(code.co_flags & _KEYWORDS), code.co_posonlyargcount),
        *[None] * len(before if has_rest else first), **dict.fromkeys(named))
    in_order = items is None or isinstance(items.type, (List, TupleOf)) and tuple(asked) == names[
        len(before):len(before) + len(asked)]
    by_position = not unknown or code.co_posonlyargcount <= len(before)
    # Items that `*args` takes come after those of all other parameters.
    simple = not has_rest or items is not None and not unknown and not named and len(first) <= count
    if in_order and by_position and simple and not code.co_flags & _KEYWORDS:
        left_out = {**dict(zip(names[count - len(found.defaults[0]):], found.defaults[0])), **found.defaults[1]}
        bound = on.library.bound_by_name(binder, items, keywords if unknown else None, (*asked, *asked_only),
                                         sys.maxsize if has_rest else len(asked), left_out)
    else:
        held = [x.type for x in (*found.defaults[0], *(found.defaults[1].values() if unknown else ()))]
        bound = on.library.bound(binder, items, keywords if unknown else None, held, found.held)
    bound, av = on.settle(bound)
    if av is None:  # an empty list has no items for parameters without defaults
        return bound
    parts = {name: on.settle(on.library.getitem(bound, constant(n)))[0] for n, name in enumerate([*asked, *asked_only])}
    places = len(before)  # the number of positional arguments: those before the first known keyword
    while places < count and names[places] in parts:
        places += 1
    args = [*first[:count], *[parts[name] for name in names[len(before):places]]]
    by_name = {name: x for name, x in parts.items() if name not in names[:places]}
    operands = on.bound(found.proto, args, {**by_name, **named}, *found.defaults)
    at = count + len(only)
    if has_rest:
        if items is None:
            operands[at] = on.settle(Apply(structure.TUPLE_MAKE, *first[count:], cls=None))[0]
        else:
            rest = on.settle(on.library.items_from(items if simple else bound, constant(len(parts))))[0]
            operands[at] = _joined(on, first[count:], rest) if first[count:] else rest
    if unknown and code.co_flags & _KEYWORDS:
        operands[-1] = on.settle(on.library.other_keywords(keywords, names[code.co_posonlyargcount:] + only))[0]
    if code.co_flags & _GENERATOR:
        callee = found.closure if found.closure is not None else constant(found.function)
        return on.generator(found.proto, callee, operands)
    result = on.user_call(found.proto, operands, found.closure, found.function)
    if not parts and (items is None or not has_rest):  # the binder is called for its errors
        result = on.library.after(bound, result)
    return result if found.made is None else on.library.initialised(result, found.made)


def _of_keywords(on, callee, first, items, keywords):
    """The call `text.format(*first, *items, **keywords)` or `d.update(**keywords)` of a dict; None for any other."""
    t = callee.type
    if isinstance(t, Method) and t.receiver is Str and t.name == "format":
        given = Apply(structure.TUPLE_MAKE, *first, cls=None)
        given = given if items is None else _joined(on, first, items) if first else items
        return by_python(interpreted.call_star, callee, given, keywords, type=Str)
    if isinstance(t, Method) and isinstance(t.receiver, Dict) and t.name == "update" and (
            items is None and not first and keywords.type.keys is Str):
        return on.call(callee, [keywords], {})
    return None


def _joined(on, first, items):
    """The tuple of the values `first` and the items of another tuple."""
    before = Apply(structure.TUPLE_MAKE, *map(on.kept, first), cls=None)
    return on.settle(on.library.joined_tuple(before, items))[0]


def _found(on, callee):
    """The Python function of the program that a call of `callee` calls; None for anything else."""
    t = callee.type
    if isinstance(t, FunctionObject):
        callee, t = on.settle(opened(callee))[0], t.function
    if isinstance(t, Function):
        parts, defaults = captured_defaults(on, callee)
        held = (parts.get("defaults"), parts.get("kwdefaults")) if defaults != ([], {}) else None
        return _Found(t.proto, None, callee, defaults, (), None, held)
    if isinstance(t, Method) and isinstance(t.receiver, (ObjectOf, Super)):
        receiver = on.receiver(callee)
        return _method(on, receiver, t.receiver, t.name)
    if isinstance(t, Method) and isinstance(t.receiver, Singleton) and isinstance(t.receiver.value, type):
        value = own(t.receiver.value, t.name)
        return _of_function(on, value.__func__, [constant(t.receiver.value)]) if type(value) is classmethod else None
    if not isinstance(t, Singleton):
        return None
    target = t.value
    if type(target) is MethodType:
        return _of_function(on, target.__func__, [on.held_constant(target.__self__)])
    if isinstance(target, type):
        made = on.library.new_object(target)
        init = own(target, "__init__")
        if made is None or type(init) is not FunctionType:
            return None
        made = on.settle(made)[0]
        return _of_function(on, on.class_attribute(target, "__init__"), [made], made)
    return _of_function(on, target)


def _method(on, receiver, t, name):
    cls = t if isinstance(t, ObjectOf) else None
    if cls is None:  # super()
        order = t.receiver.cls.__mro__
        owner = next((one for one in order[order.index(t.cls) + 1:] if name in vars(one)), None)
        value = None if owner is None else vars(owner)[name]
        receiver = Apply(structure.STRUCT_GET, receiver, field="receiver")
    else:
        value = on.class_attribute(cls.cls, name)
    if type(value) is classmethod:
        owner = (cls or t.receiver).cls
        return _of_function(on, value.__func__, [constant(owner)])
    return _of_function(on, value, [receiver])


def _of_function(on, target, receiver=(), made=None):
    function = on.session.function_of(target)
    if function is None or on.library.rule_for(target) is not None:
        return None
    on.session.depend_on_function(function)
    return _Found(on.session.prototype(function), function, None, defaults_of(function, on.held_constant), receiver,
                  made)
