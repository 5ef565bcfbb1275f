"""`grad` and its kin: functions that give compiled functions, with the signatures of JAX's.

Each makes a small Python function that calls a name of lib/derivatives.py, for which inference makes the derivative;
the small function is compiled as any other. Loaded when one of the names is first asked for.
"""
from __future__ import annotations

from functools import lru_cache
from types import FunctionType
from typing import Any, Callable, Sequence

from ..lib import derivatives as names
from .dispatch import CompiledFunction, Dispatcher
from .jit import njit

__all__ = ["grad", "jvp", "value_and_grad"]

_DERIVATIVES = 256  # compiled functions that are kept for calls that make them anew, as grad(f)(x) does in a loop
_VARIADIC = 0x4 | 0x8


def value_and_grad(fun: Callable, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> CompiledFunction:
    """A compiled function of the same arguments that returns (fun(...), gradient): see `grad`."""
    return _gradient(*_compilable("value_and_grad", fun), _checked(argnums), bool(has_aux), True)


def grad(fun: Callable, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> CompiledFunction:
    """A compiled function of the same arguments that returns the gradient of `fun`, which returns a float.

    argnums: the position of the argument to differentiate by, or a tuple of positions: the result is a tuple then.
    Arguments that vary are floats, arrays of floats, or tuples of these; the gradient has their types and shapes, and
    arrays that `fun` writes into are left as they are. has_aux: `fun` returns (value, other results), and the new
    function (gradient, other results).

    The derivative is made by reverse mode from the compiled form of `fun`: with its loops, branches, writes into
    arrays and exceptions. What has no derivative is an error at its line when the function is compiled.
    """
    return _gradient(*_compilable("grad", fun), _checked(argnums), bool(has_aux), False)


def jvp(fun: Callable, primals: Sequence, tangents: Sequence) -> tuple:
    """(fun(*primals), its change to first order when the arguments change by `tangents`): forward mode."""
    primals, tangents = tuple(primals), tuple(tangents)
    if len(primals) != len(tangents):
        raise TypeError(f"jvp takes as many tangents as primals, not {len(tangents)} for {len(primals)}")
    return _pushed(*_compilable("jvp", fun), len(primals))(*primals, tangents)


# -- making them


def _compilable(name: str, fun) -> tuple:
    """(the function, the options to compile with)."""
    if isinstance(fun, CompiledFunction):
        return fun.py_func, fun.options
    if type(fun) is FunctionType:
        return fun, None
    if callable(fun):
        raise TypeError(f"{name} takes a Python function, not {fun!r}: write one around it, "
                        f"as in {name}(lambda x: ...)")
    raise TypeError(f"{name} takes a function, not {fun!r}")


def _checked(argnums) -> int | tuple[int, ...]:
    if type(argnums) is int:
        return argnums
    if isinstance(argnums, (tuple, list)) and argnums and all(type(n) is int for n in argnums):
        return tuple(argnums)
    raise TypeError(f"argnums must be an int or a tuple of ints, not {argnums!r}")


def _parameters(fun: FunctionType, argnums=()) -> tuple[str, ...]:
    """The names of the parameters."""
    code = fun.__code__
    if code.co_flags & _VARIADIC or code.co_kwonlyargcount:
        raise TypeError(f"{fun.__qualname__}() has *args, **kwargs or keyword-only parameters: derivatives are of "
                        "functions with positional parameters; write one around it")
    given = code.co_varnames[:code.co_argcount]
    for n in argnums:
        if not -len(given) <= n < len(given):
            raise ValueError(f"argnums has {n}, and {fun.__qualname__}() takes {len(given)} arguments")
    return given


def _carrier(fun: FunctionType, what: str, parameters, body: str, options=None, **space) -> CompiledFunction:
    """The compiled function `what(fun)` of this body."""
    space = {"__name__": fun.__module__, "FUN": fun, **space}
    exec(f"def carrier({', '.join(parameters)}):\n    {body}", space)
    made, code = space.pop("carrier"), fun.__code__
    made.__code__ = made.__code__.replace(co_name=what, co_filename=code.co_filename,
                                          co_firstlineno=code.co_firstlineno)
    made.__name__, made.__qualname__, made.__doc__ = what, f"{what}({fun.__qualname__})", fun.__doc__
    return njit(made) if options is None else Dispatcher(made, options)


@lru_cache(_DERIVATIVES)
def _gradient(fun, options, argnums, has_aux, with_value):
    several = argnums if type(argnums) is tuple else (argnums,)
    parameters = _parameters(fun, several)
    several = tuple([n % len(parameters) for n in several])
    given = ", ".join(parameters)
    gradient = "found[1]" if type(argnums) is tuple else "found[1][0]"
    result = f"found[0], {gradient}" if with_value else f"{gradient}, found[0][1]" if has_aux else gradient
    made = _carrier(fun, "value_and_grad" if with_value else "grad", parameters,
                    f"found = GRADIENTS(FUN, {several!r}, {has_aux!r}, {given})\n    return {result}", options,
                    GRADIENTS=names.gradients)
    made.py_func.__defaults__ = fun.__defaults__
    return made


@lru_cache(_DERIVATIVES)
def _pushed(fun, options, count):
    given = [f"x{n}" for n in range(count)]
    return _carrier(fun, "jvp", (*given, "tangents"),
                    f"return PUSHED(FUN, {tuple(range(count))!r}, tangents, {', '.join(given)})", options,
                    PUSHED=names.pushed)
