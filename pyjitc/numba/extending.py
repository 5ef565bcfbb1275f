"""numba.extending: meanings for functions, methods and attributes in compiled code, written in Python.

`overload(function)` decorates a function of types, which answers with the Python function that is compiled for them, or
None. What works on LLVM's builder (`intrinsic`, models, boxing) has no counterpart.
"""
from __future__ import annotations

import inspect
import operator
from functools import partial
from types import FunctionType

from ..base.lazy import lazy
from ..infer.constants import constant
from ..infer.meaning import CallValue, Mismatch
from ..lib import extended
from ..pipeline import portable
from ..types import kinds
from . import errors, types
from .absent import Absent, module_attribute

__all__ = ["intrinsic", "is_jitted", "overload", "overload_attribute", "overload_classmethod", "overload_method",
           "register_jitable"]

_special, _stages = lazy("pyjitc.numba.special"), lazy("pyjitc.pipeline.stages")


def overload(function, jit_options={}, strict=True, inline="never", prefer_literal=False, **options):
    """What a call of `function` means in compiled code::

        @overload(len)
        def _(x):
            if isinstance(x, types.Integer):
                return lambda x: 64
    """
    def decorate(typed):
        known = extended.FUNCTIONS.get(id(function))
        meanings = known.keywords["meanings"] if isinstance(known, partial) else []
        meanings.insert(0, partial(_implementation, typed, prefer_literal))
        extended.FUNCTIONS[id(function)] = partial(_called, function=function, meanings=meanings)
        if function in _OPERATORS:
            extended.OPERATORS.setdefault(_OPERATORS[function], []).insert(0, meanings[0])
        return typed

    return decorate


# Functions that mean the same as an operator -> the name of the operation.
_OPERATORS = {getattr(operator, name): name for name in (
    "add sub mul truediv floordiv mod pow matmul lshift rshift and_ or_ xor iadd isub imul itruediv ifloordiv imod "
    "ipow imatmul ilshift irshift iand ior ixor neg pos invert eq ne lt le gt ge contains getitem setitem delitem "
    "truth").split()} | {len: "len", bool: "truth"}


def overload_method(typ, attr, prefer_literal=False, **options):
    """What x.attr(...) means, where x is of a type of the class `typ`."""
    def decorate(typed):
        extended.METHODS.setdefault(attr, []).insert(
            0, partial(_method, typ=typ, typed=typed, prefer_literal=prefer_literal))
        extended.ATTRIBUTES.setdefault(attr, []).append(None)
        return typed

    return decorate


def overload_attribute(typ, attr, **options):
    """What x.attr means, where x is of a type of the class `typ`."""
    def decorate(typed):
        extended.ATTRIBUTES.setdefault(attr, []).insert(0, partial(_method, typ=typ, typed=typed))
        return typed

    return decorate


def overload_classmethod(typ, attr, **options):
    """Methods of classes have no meaning of their own here."""
    return lambda typed: typed


def register_jitable(*args, **options):
    """The function itself: compiled functions call any Python function."""
    if args:
        return args[0]
    return lambda function: function


def intrinsic(*args, **options):
    """A function that writes LLVM code: it has no counterpart, and says so when compiled code calls it."""
    if not args:
        return lambda function: intrinsic(function)
    function = args[0]

    def missing(*args, **kwargs):
        Absent(f"extending.intrinsic, which makes {function.__name__}(),")._raise()

    missing.__name__, missing.__qualname__, missing.__doc__ = function.__name__, function.__qualname__, function.__doc__
    extended.FUNCTIONS[id(missing)] = partial(_no_intrinsic, name=function.__name__, function=missing)
    return missing


def _no_intrinsic(args, kwargs, name, function):
    raise Mismatch(f"{name}() is an intrinsic of Numba's, which makes LLVM code by Numba's own objects",
                   "write it in Python, as an overload or a plain function")


def is_jitted(function) -> bool:
    return portable.plain_function(function) is not None and type(function) is not FunctionType


# ---------------------------------------------------------------- rules


def _called(args, kwargs, function, meanings):
    for meaning in meanings:
        found = meaning(args, kwargs)
        if found is not None:
            return found
    own = _stages.LIBRARY.rule_of_kinds(function, args) or _stages.LIBRARY.rule_for(function, own=True)
    if own is not None:
        return own(args, kwargs)
    shown = ", ".join(str(_type(x)) for x in [*args, *kwargs.values()])
    raise Mismatch(f"no overload of {getattr(function, '__name__', function)}() is for ({shown})")


def _method(args, kwargs, typ, typed, prefer_literal=False):
    receiver = types.of(args[0].type)
    if not (isinstance(receiver, typ) if isinstance(typ, type) else receiver == typ):
        return None
    return _implementation(typed, prefer_literal, args, kwargs)


def _type(x) -> types.Type:
    """The type of an operand as overloads see it: of constants, the type of the value."""
    if isinstance(x.type, kinds.Singleton) and isinstance(x.type.value, types.Type):
        return types.TypeRef(x.type.value)
    if isinstance(x.type, kinds.Singleton):
        try:
            return _special.typeof(x.type.value)
        except ValueError:
            return types.Dummy(str(x.type))
    if x.known and type(x.value) in (str, bool, int):
        return types.literal(x.value)
    return types.of(x.type)


def _implementation(typed, prefer_literal, args, kwargs):
    """The call of what the overload answers for these operands, or None. It is asked with constants as types of their
    own, and without: first the one that it prefers."""
    given, named = [_type(x) for x in args], {name: _type(x) for name, x in kwargs.items()}
    try:
        inspect.signature(typed).bind(*given, **named)
    except TypeError:
        return None
    asked = [(given, named)]
    if any(isinstance(t, types.Literal) for t in [*given, *named.values()]):
        plain = [types.unliteral(t) for t in given], {name: types.unliteral(t) for name, t in named.items()}
        asked.insert(prefer_literal, plain)
    try:
        made = next((made for x, y in asked if (made := typed(*x, **y)) is not None), None)
    except (errors.TypingError, errors.NumbaError) as error:
        raise Mismatch(getattr(error, "msg", None) or str(error).splitlines()[0]) from None
    if made is None:
        return None
    function = portable.plain_function(made)
    if function is None:
        raise Mismatch(f"the overload {typed.__qualname__}() gives {made!r}, which is no Python function")
    return CallValue(constant(function), *args, keywords=kwargs)


__getattr__ = module_attribute("extending", frozenset((
    "BoundLiteralArgs", "NativeValue", "SentryLiteralArgs", "as_numba_type", "box", "get_cython_function_address",
    "include_path", "infer", "infer_getattr", "lower_builtin", "lower_cast", "lower_getattr", "lower_getattr_generic",
    "lower_setattr", "lower_setattr_generic", "make_attribute_wrapper", "models", "reflect", "register_model",
    "sentry_literal_args", "type_callable", "typeof_impl", "unbox", "ReduceMixin")))
