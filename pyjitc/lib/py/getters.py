"""operator.itemgetter, attrgetter and methodcaller, functools.cmp_to_key, contextlib.suppress.

An itemgetter, attrgetter or methodcaller is constructed when a function is compiled: its arguments decide the type of
its results.
"""
from __future__ import annotations

import contextlib
import functools
import operator

from ...infer.constants import constant
from ...infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, NotConstant, NotNative
from ...infer.names import describe
from ...ops.exceptions import EXC_MATCH
from ...ops.structure import METHOD_MAKE, TUPLE_MAKE
from ...types.kinds import Bool, NoneType, Singleton, Str, is_scalar
from .. import operations
from ..protocol import by_python, protocol_of
from ..rule import rule
from . import iteration
from .objects import Known

__all__ = ["CALLS", "PROTOCOLS"]


@functools.lru_cache(maxsize=4096)
def _made(cls, args: tuple, keywords: tuple, classes: tuple):
    """The object that cls(*args, **keywords) returns; the same object each time, so that inference finds the same type.
    classes: those of the arguments, in which equal arguments may differ."""
    return cls(*args, **dict(keywords))


def _maker(cls, many: bool):
    def make(args, kwargs):
        if not args:
            raise Mismatch(f"{cls.__name__} expected 1 argument, got 0" if many else
                           f"{cls.__name__} needs at least one argument, the method name")
        if not all(x.known for x in [*args, *kwargs.values()]):
            raise NotConstant(f"what an operator.{cls.__name__} looks for must be a constant", "use a lambda")
        try:
            found = _made(cls, tuple([x.value for x in args]), tuple([(name, x.value) for name, x in kwargs.items()]),
                          tuple([type(x.value) for x in [*args, *kwargs.values()]]))
        except TypeError as error:
            raise Mismatch(str(error)) from None
        return Const(Singleton(found), found)

    return make


class _ItemGetter(Known):
    def call(self, x, args, kwargs):
        keys, given = x.type.value.__reduce__()[1], _one(x, args, kwargs)
        parts = [protocol_of(given.type).getitem(given, constant(key)) for key in keys]
        return parts[0] if len(parts) == 1 else Apply(TUPLE_MAKE, *parts, cls=None)


class _AttrGetter(Known):
    def call(self, x, args, kwargs):
        given, parts = _one(x, args, kwargs), []
        for path in x.type.value.__reduce__()[1]:
            found = given
            for name in path.split("."):
                found = CallValue(constant(getattr), found, Const(Str, name))
            parts.append(found)
        return parts[0] if len(parts) == 1 else Apply(TUPLE_MAKE, *parts, cls=None)


class _MethodCaller(Known):
    def call(self, x, args, kwargs):
        cls, given = x.type.value.__reduce__()
        if type(cls) is functools.partial:  # for one with keywords
            name, keywords = cls.args[0], cls.keywords
        else:
            (name, *given), keywords = given, {}
        method = CallValue(constant(getattr), _one(x, args, kwargs), Const(Str, name))
        return CallValue(method, *map(constant, given), keywords={key: constant(v) for key, v in keywords.items()})


def _one(x: Expr, args, kwargs) -> Expr:
    if len(args) != 1 or kwargs:
        name = type(x.type.value).__name__
        raise Mismatch(f"{name} expected 1 argument, got {len(args)}" if not kwargs else
                       f"{name}() takes no keyword arguments")
    return args[0]


def _suppress(args, kwargs):
    classes = [x.type.value if isinstance(x.type, Singleton) else None for x in args]
    if kwargs or not all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in classes):
        raise NotNative("the exceptions that contextlib.suppress() takes must be known when the function is compiled",
                        "write try and except")
    found = _made(contextlib.suppress, tuple(classes), (), ())
    return Const(Singleton(found), found)


class _Suppress(Known):
    def known_attribute(self, x, name):
        if name in ("__enter__", "__exit__"):
            return Apply(METHOD_MAKE, x, name=name)
        return super().known_attribute(x, name)

    def method(self, x, name, args, kwargs):
        if name == "__enter__":
            return Const(NoneType, None)
        classes = x.type.value._exceptions
        if args[1].type is NoneType or not classes:
            return Const(Bool, False)
        return Apply(EXC_MATCH, args[1], classes=classes)


def _in_place(symbol, name):
    return rule(f"operator.{name}", "a, b, /")(lambda a, b: operations.binary(symbol, a, b, True))


def _two(name, meaning):
    return rule(f"operator.{name}", "a, b, /")(meaning)


_SYMBOLS = {"iadd": "+", "isub": "-", "imul": "*", "itruediv": "/", "ifloordiv": "//", "imod": "%", "ipow": "**",
            "imatmul": "@", "ilshift": "<<", "irshift": ">>", "iand": "&", "ior": "|", "ixor": "^"}


@rule("operator.setitem", "a, b, c, /")
def _setitem(a, b, c):
    return protocol_of(a.type).setitem(a, b, c, True)


@rule("functools.cmp_to_key")
def _cmp_to_key(mycmp):
    return by_python(functools.cmp_to_key, mycmp)  # sorting compares by the objects that this makes


def _joined(a, b, inplace):
    if is_scalar(a.type):
        raise Mismatch(f"{describe(a.type)} object can't be concatenated")
    return operations.binary("+", a, b, inplace)


CALLS = {
    functools.cmp_to_key: _cmp_to_key,
    operator.itemgetter: _maker(operator.itemgetter, True), operator.attrgetter: _maker(operator.attrgetter, True),
    operator.methodcaller: _maker(operator.methodcaller, False),
    contextlib.suppress: _suppress,
    **{getattr(operator, name): _in_place(symbol, name) for name, symbol in _SYMBOLS.items()},
    operator.concat: _two("concat", lambda a, b: _joined(a, b, False)),
    operator.iconcat: _two("iconcat", lambda a, b: _joined(a, b, True)),
    operator.contains: _two("contains", lambda a, b: operations.compare("in", b, a)),
    operator.getitem: _two("getitem", lambda a, b: protocol_of(a.type).getitem(a, b)),
    operator.setitem: _setitem, operator.delitem: _two("delitem", lambda a, b: protocol_of(a.type).delitem(a, b)),
    operator.is_: _two("is_", lambda a, b: operations.compare("is", a, b)),
    operator.is_not: _two("is_not", lambda a, b: operations.compare("is not", a, b)),
    operator.countOf: _two("countOf", lambda a, b: Call(iteration.count_of, a, b)),
    operator.indexOf: _two("indexOf", lambda a, b: Call(iteration.index_of, a, b)),
}
PROTOCOLS = {operator.itemgetter: _ItemGetter(), operator.attrgetter: _AttrGetter(),
             operator.methodcaller: _MethodCaller(), contextlib.suppress: _Suppress()}
