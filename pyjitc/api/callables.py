"""Callables that derivatives and batches take, as Python functions with positional parameters.

A ufunc, a function of C or NumPy, or a function with keyword-only parameters gets a small Python function around it. A
`functools.partial`, a bound method and an object with `__call__` become a function and its first arguments, which each
call of the result passes: so these are no constants of the compiled code. A function with
`*args` gets such a function for each number of arguments with which it is called.
"""
from __future__ import annotations

import functools
import inspect
from types import FunctionType, MethodType
from typing import Any, Callable

import numpy as np

from ..front.functions import placed
from ..runtime.dispatcher import ByCount
from . import trees
from .dispatch import CompiledFunction

__all__ = ["OfAnyCount", "is_of_any_count", "of_count", "opened", "python_of"]

_STARRED, _NAMED = inspect.CO_VARARGS, inspect.CO_VARKEYWORDS
_WRAPPERS = 256  # the maximum number of wrappers that are cached


def python_of(fun) -> FunctionType:
    """The Python function behind a function or its compiled form."""
    return fun.py_func if isinstance(fun, CompiledFunction) else fun


def opened(name: str, fun) -> tuple[Any, tuple]:
    """(a Python function or its compiled form, the first arguments that it gets). Raises TypeError for an object that
    is not callable or has no known parameters; name: the public function for the message."""
    if isinstance(fun, CompiledFunction) or type(fun) is FunctionType:
        code = python_of(fun).__code__
        if code.co_kwonlyargcount or code.co_flags & (_STARRED | _NAMED) == _NAMED:
            return _positional(fun), ()
        return fun, ()
    if isinstance(fun, functools.partial):
        inner, first = opened(name, fun.func)
        inner, named = _with_keywords(name, inner, fun.keywords) if fun.keywords else (inner, ())
        return inner, (*named, *first, *fun.args)
    if isinstance(fun, MethodType):
        inner, first = opened(name, fun.__func__)
        return inner, (*first, fun.__self__)
    if isinstance(fun, OfAnyCount):
        return fun.around(), ()
    if not callable(fun):
        raise TypeError(f"{name} takes a function, not {fun!r}")
    call = getattr(type(fun), "__call__", None)
    if type(call) is FunctionType and not isinstance(fun, type):
        inner, first = opened(name, call)
        return inner, (*first, fun)
    return _around(name, fun), ()


def _positional(fun) -> FunctionType:
    """A copy of a function in which the keyword-only parameters are positional."""
    inner = python_of(fun)
    code, given = inner.__code__, inner.__kwdefaults__ or {}
    count = code.co_argcount
    names = code.co_varnames[:count + code.co_kwonlyargcount]
    defaults = inner.__defaults__ or ()
    starred = ["*rest"] if code.co_flags & _STARRED else []
    needed = tuple([name for name in names[count:] if name not in given])
    if needed and (starred or defaults):
        raise TypeError(f"{inner.__qualname__}() has the keyword-only parameter {needed[0]!r} without a default, and "
                        "others that a call may leave out; write a function with positional parameters around it")
    if starred:  # those by keyword keep their defaults
        return _wrapper(fun, (*names[:count], *starred), (*names[:count], *starred), defaults)
    parameters = (*names[:count], *needed, *[name for name in names[count:] if name in given])
    passed = [*names[:count], *(f"{name}={name}" for name in parameters[count:])]
    return _wrapper(fun, parameters, tuple(passed),
                    (*defaults, *[given[name] for name in parameters[count + len(needed):]]))


def _with_keywords(name, fun, keywords) -> tuple[FunctionType, tuple]:
    """(a function of the parameters that `keywords` does not give, the first arguments that it gets besides). Numbers
    and arrays that `keywords` gives are such arguments; others, such as an axis, are captured, since compiled code may
    need to know them."""
    inner = python_of(fun)
    code = inner.__code__
    names = [one for one in code.co_varnames[:code.co_argcount] if one not in keywords]
    if code.co_flags & _STARRED or len(names) + len(keywords) != code.co_argcount:
        raise TypeError(f"{name} of a partial of {inner.__qualname__}() with keywords needs a function with these "
                        "parameters: write a function around it")
    after = code.co_argcount - len(inner.__defaults__ or ())
    defaults = dict(zip(code.co_varnames[after:code.co_argcount], inner.__defaults__ or ()))
    held = {one: value for one, value in keywords.items() if not _is_data(value)}
    named = [one for one in keywords if one not in held]
    passed = tuple([f"GIVEN_{one}" if one in held else one for one in code.co_varnames[:code.co_argcount]])
    given = (*named, *names), passed, tuple([defaults[one] for one in names if one in defaults])
    made = _made(fun, *given, {f"GIVEN_{one}": value for one, value in held.items()}) if held else _wrapper(fun, *given)
    return made, tuple([keywords[one] for one in named])


def _is_data(x) -> bool:
    """Whether a value is a number that is no int, or an array, or a tree with one."""
    return any([isinstance(leaf, (float, complex, np.ndarray, np.generic)) for leaf in trees.leaves(x)])


@functools.lru_cache(_WRAPPERS)
def _around(name, fun) -> FunctionType:
    """A Python function that calls a ufunc, a function of C or of NumPy, or a class, with its required arguments."""
    if isinstance(fun, np.ufunc):
        names = ("x",) if fun.nin == 1 else tuple([f"x{n}" for n in range(1, fun.nin + 1)])
        return _wrapper(fun, names, names, ())
    try:
        found = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        raise TypeError(f"{name} takes a Python function, not {fun!r}: write one around it, "
                        f"as in {name}(lambda x: ...)") from None
    names = tuple([one.name for one in found if one.default is one.empty
                   and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)])
    return _wrapper(fun, names, names, ())


@functools.lru_cache(_WRAPPERS)
def _wrapper(fun, parameters, passed, defaults) -> FunctionType:
    return _made(fun, parameters, passed, defaults, {})


def _made(fun, parameters, passed, defaults, given) -> FunctionType:
    inner = python_of(fun)
    code = getattr(inner, "__code__", None)
    space = code and inner.__globals__ or {"__name__": "wrapped"}
    called = getattr(inner, "__name__", "function")
    found: dict = {}
    exec(f"def make({', '.join(['FUN', *given])}):\n"
         f"    def wrapper({', '.join(parameters)}): return FUN({', '.join(passed)})\n    return wrapper", space, found)
    made = found["make"](fun, *given.values())
    filename, line = (code.co_filename, code.co_firstlineno) if code else (f"<{called}>", 1)
    made.__code__ = placed(made.__code__, called, filename, line)
    made.__defaults__ = defaults or None
    made.__module__, made.__name__ = space.get("__name__"), called
    made.__qualname__, made.__doc__ = getattr(inner, "__qualname__", called), getattr(inner, "__doc__", None)
    return made


def is_of_any_count(fun) -> bool:
    """Whether a function has `*args`."""
    return bool(python_of(fun).__code__.co_flags & _STARRED)


def of_count(fun, count: int) -> FunctionType:
    """A function of `count` positional parameters that calls a function with `*args` or defaults."""
    names = tuple([f"x{n}" for n in range(count)])
    return _wrapper(fun, names, names, ())


class OfAnyCount(ByCount):
    """A derivative or batch of a function with `*args`, or with parameters that a call may leave out: for each number
    of arguments the function that `make` returns. make: (function of so many positional parameters) -> the function
    that is called."""

    def __init__(self, fun, make: Callable[[FunctionType], Callable]):
        self.fun, self.make = fun, make
        self.__wrapped__ = inner = python_of(fun)
        self.__name__, self.__qualname__, self.__doc__ = inner.__name__, inner.__qualname__, inner.__doc__
        self.made: dict[int, Callable] = {}

    def __call__(self, *args, **kwargs):
        if kwargs:
            raise TypeError(f"what is made of {self.__qualname__}() takes no keyword arguments, since it has *args or "
                            "parameters that are left out")
        return self.for_count(len(args))(*args)

    def for_count(self, count: int) -> Callable:
        function = self.made.get(count)
        if function is None:
            function = self.made[count] = self.make(of_count(self.fun, count))
        return function

    def around(self) -> FunctionType:
        return _wrapper(self, ("*rest",), ("*rest",), ())
