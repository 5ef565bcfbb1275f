"""Functions with some arguments fixed: partial objects, and functions with static arguments, which are compiled for
each value.

Both become closures over the function and the fixed values, `def f(x): return function(x, n)`: what a closure captures
is a constant in the code, and equal captures share a compile. In tracebacks they
are the line of the `def`.
"""
from __future__ import annotations

import functools
import inspect
from types import CodeType, FunctionType

import numpy as np

from ..base.errors import with_article
from ..front.functions import placed
from ..pipeline import portable
from .dispatch import Binder
from .pickled import Pickled

__all__ = ["plain_partial", "StaticFunction", "static_names"]

_KIND = inspect.Parameter
_CONSTANT = (int, float, complex, str, bytes, tuple, type(None), np.generic)
# One compiled function for all: functions with equal code share their specialisations.
_SPACE = {"__name__": __name__, "__builtins__": {}, "HANDS_CONSTANTS": True}


def plain_partial(partial: functools.partial) -> FunctionType:
    """A function that does the same as the partial object."""
    function = portable.plain_function(partial.func)
    if function is None:
        raise TypeError(f"njit compiles Python functions, not {partial!r}")
    names = [p.name for p in inspect.signature(function).parameters.values()
             if p.kind in (_KIND.POSITIONAL_ONLY, _KIND.POSITIONAL_OR_KEYWORD)]
    if len(partial.args) > len(names):
        raise TypeError(f"{partial!r} fixes {len(partial.args)} positional arguments; {function.__qualname__}() names "
                        f"{len(names)}")
    return fix(partial.func, function, dict(zip(names, partial.args)), partial.keywords)


def fix(callee, function: FunctionType, values: dict, keywords: dict = {}) -> FunctionType:
    """`function` without the parameters in `values`. Those in `keywords` remain, as keyword-only parameters with that
    default. callee: the object that is called, `function` or its compiled form."""
    parameters, arguments, defaults, kwdefaults = [], [], [], {}
    only = False  # whether the parameters from here on are keyword-only
    for p in inspect.signature(function).parameters.values():
        if p.kind is _KIND.VAR_POSITIONAL:
            if not only:  # a positional argument cannot reach later parameters
                parameters.append(f"*{p.name}")
                arguments.append(f"*{p.name}")
                only = True
            continue
        arguments.append(f"**{p.name}" if p.kind is _KIND.VAR_KEYWORD else
                         f"{p.name}={p.name}" if p.kind is _KIND.KEYWORD_ONLY else p.name)
        if p.name in values:
            continue
        if p.kind is _KIND.VAR_KEYWORD:
            parameters.append(f"**{p.name}")
            continue
        if not only and (p.name in keywords or p.kind is _KIND.KEYWORD_ONLY):
            parameters.append("*")
            only = True
        default = keywords.get(p.name, p.default)
        parameters.append(p.name + "=0" * (default is not _KIND.empty))
        if default is not _KIND.empty and only:
            kwdefaults[p.name] = default
        elif default is not _KIND.empty:
            defaults.append(default)
    code = function.__code__
    make = _maker(tuple(values), ", ".join(parameters), ", ".join(arguments), code.co_name, code.co_filename,
                  code.co_firstlineno)
    made = make(callee, *values.values())
    made.__defaults__, made.__kwdefaults__ = tuple(defaults) or None, kwdefaults or None
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(made, name, getattr(function, name))
    return made


@functools.lru_cache(maxsize=1000)
def _maker(fixed: tuple[str, ...], parameters: str, arguments: str, name: str, filename: str, line: int):
    """The function that makes the closures. All of them have one code object, by which compiled code is found."""
    callee = "function"
    while callee in fixed or callee in parameters:
        callee += "_"
    space: dict = {}
    exec(f"def make({', '.join((callee, *fixed))}):\n    def fixed({parameters}): return {callee}({arguments})\n"
         "    return fixed\n", space)
    code = space["make"].__code__
    inside = [placed(c, name, filename, line) if isinstance(c, CodeType) else c for c in code.co_consts]
    return FunctionType(code.replace(co_consts=tuple(inside)), _SPACE)


def static_names(function: FunctionType, names, numbers) -> tuple[str, ...]:
    """The parameters that `static_argnames` and `static_argnums` select; TypeError for invalid ones."""
    all_names = list(inspect.signature(function).parameters)
    wanted = [names] if isinstance(names, str) else list(names)
    for number in [numbers] if isinstance(numbers, int) else numbers:
        if not isinstance(number, int) or not -len(all_names) <= number < len(all_names):
            raise TypeError(f"static_argnums: {function.__qualname__}() has no argument {number!r}")
        wanted.append(all_names[number])
    for name in wanted:
        if name not in all_names:
            raise TypeError(f"static_argnames: {function.__qualname__}() has no argument {name!r}")
    return tuple(name for name in all_names if name in wanted)


class StaticFunction(Pickled):
    """A function with static arguments: for each combination of their values a compiled function of the other
    arguments."""

    def __init__(self, function: FunctionType, names: tuple[str, ...], compiled):
        """compiled: a function that makes the compiled form of a Python function."""
        functools.update_wrapper(self, function)
        self.py_func = function
        self.static = names
        self._compiled = compiled
        self._bind = Binder(function)
        self._code = None
        self._made: dict = {}
        self.constants: list[dict] = []  # the static values of each compiled function, by their names

    def __call__(self, *args, **kwargs):
        if self._code is not self.py_func.__code__:
            self._code, self._parameters = (self.py_func.__code__,
                                            list(inspect.signature(self.py_func).parameters.values()))
            self._made, self.constants = {}, []
        static, rest, named = {}, [], {}
        for parameter, value in zip(self._parameters, self._bind(*args, **kwargs)):
            if parameter.name in self.static:
                static[parameter.name] = value
            elif parameter.kind is _KIND.VAR_POSITIONAL:
                rest.extend(value)
            elif parameter.kind is _KIND.VAR_KEYWORD:
                named.update(value)
            elif parameter.kind is _KIND.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                rest.append(value)
        key = tuple(map(portable.fingerprint, static.values()))
        found = self._made.get(key)
        if found is None:
            for name, value in static.items():
                if not isinstance(value, _CONSTANT) and portable.plain_function(value) is None and not getattr(
                        type(value), "__pyjitc_constant__", False):
                    raise TypeError(f"{self.__qualname__}() static argument {name!r} is "
                                    f"{with_article(type(value).__name__)}; numbers, strings, None, "
                                    "tuples of them and functions can be static")
            found = self._made[key] = self._compiled(fix(self.py_func, self.py_func, static))
            self.constants.append(static)
        return found(*rest, **named)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self):
        return f"<pyjitc function {self.__qualname__} with static {', '.join(self.static)} at {id(self):#x}>"

    def _parts(self) -> tuple:
        return self.static, self._compiled

    @property
    def specialised(self) -> list:
        """The compiled functions, one for each combination of static values, the oldest first."""
        return list(self._made.values())

    @property
    def signatures(self) -> list[tuple]:
        """Argument types compiled so far, without those of static arguments."""
        return [types for one in self.specialised for types in one.signatures]
