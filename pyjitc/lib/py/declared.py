"""Declared result types: functions that call another one and convert its result."""
from __future__ import annotations

from functools import cache
from types import FunctionType

from ...infer.meaning import Apply, Call, Const, Expr
from ...ops import structure
from ...ops.pyobject import PY_BOX, PY_CALL
from ...types import kinds as k
from ...types import text
from ..build import cast
from ..rule import intrinsic

__all__ = ["changed", "converting", "converts", "passed"]

_VARARGS, _VARKEYWORDS = 0x4, 0x8


def converts(found, wanted: k.Type | None, numbers: bool) -> bool:
    """Whether a result of the type `found` has to be converted to `wanted`. numbers: NumPy scalars become Python
    numbers."""
    if isinstance(found, str):
        try:
            found = text.parse(found)
        except ValueError:
            return False
    if _is_truth(found):
        return numbers
    if _is_of_numbers(found):
        return any(converts(x, wanted, numbers) for x in found.members)
    if isinstance(found, k.Tuple) and isinstance(wanted, k.Tuple) and wanted.is_like(found):
        return any(converts(x, y, numbers) for x, y in zip(found.parts, wanted.parts))
    return found is not None and (exact(found, wanted) is not found
                                  or numbers and k.is_number(found) and not k.is_python_number(found))


def _is_truth(t) -> bool:
    """Whether t is the union of Python's and NumPy's bool, which comparisons of tuples give."""
    return isinstance(t, k.Union) and set(t.members) == {k.Bool, k.NpBool}


def _is_of_numbers(t) -> bool:
    return isinstance(t, k.Union) and all(map(k.is_number, t.members))


def truth(x):
    return bool(x)


def exact(found: k.Type, wanted: k.Type | None) -> k.Type:
    """The type to which a result of type `found` is converted first if the result type `wanted` is declared."""
    if isinstance(found, k.Dual):
        found = found.wide
    if wanted is None or not k.is_number(found) or not k.is_number(wanted):
        return found
    return found if text.python_scalars(found) is text.python_scalars(wanted) else wanted


def python_number(t: k.Type) -> k.Type:
    """Python's type of a number of type t. uint64 is unchanged: not all its values fit in the ints of compiled code."""
    return (t if t is k.uint64 else k.Bool if t in (k.Bool, k.NpBool) else k.Complex if k.is_complex(t)
            else k.Float if k.is_float(t) else k.Int)


def passed(x: Expr, wanted: k.Type) -> Expr:
    """The argument x converted to `wanted`, if both are numbers, or tuples of them."""
    x = _wide(x)
    if _is_of_numbers(x.type) and k.is_number(wanted):
        return Call(_argument(wanted), x)
    if isinstance(x.type, k.Tuple) and isinstance(wanted, k.Tuple) and wanted.is_like(x.type):
        parts = [Apply(structure.STRUCT_GET, x, field=name) for name in x.type.names]
        return _tuple_like(x.type, list(map(passed, parts, wanted.parts)))
    return cast(x, wanted) if k.is_number(x.type) and k.is_number(wanted) else x


def _tuple_like(t: k.Tuple, parts: list[Expr]) -> Expr:
    """A tuple of the class of t with other items. An item that is a call has no type yet."""
    if any([part.type is None for part in parts]):
        return Call(_making(t), *parts)
    return Apply(structure.STRUCT_MAKE, *parts, type=t.with_parts([part.type for part in parts]))


def _wide(x: Expr) -> Expr:
    return Apply(structure.DUAL_WIDE, x) if isinstance(x.type, k.Dual) else x


def changed(x: Expr, wanted: k.Type | None, numbers: bool, inside: bool = False) -> Expr:
    """The result x converted to `wanted`. inside: whether compiled code called the function, in which a uint64 stays
    one."""
    if numbers or wanted is not None:
        x = _wide(x)
    if _is_truth(x.type):
        return Call(truth, x) if numbers else x
    if _is_of_numbers(x.type):
        return Call(_each(_result(wanted, numbers, inside)), x)
    if isinstance(x.type, k.Tuple):
        if not isinstance(wanted, k.Tuple) or not wanted.is_like(x.type):
            return x
        parts = [Apply(structure.STRUCT_GET, x, field=name) for name in x.type.names]
        return _tuple_like(x.type, [changed(*given, numbers, inside) for given in zip(parts, wanted.parts)])
    kept = exact(x.type, wanted)
    if not k.is_number(kept):
        return x
    of_python = k.is_python_number(x.type)
    x = cast(x, kept)
    if (numbers or of_python) and x.type is not k.uint64:
        return cast(x, python_number(x.type))
    if numbers and x.type is k.uint64 and not inside:  # a Python int, whose value may exceed int64
        return Apply(PY_CALL, Const(k.Object, int), Apply(PY_BOX, x), kwnames=())
    return x


def converting(function: FunctionType, wanted: k.Type | None, numbers: bool) -> FunctionType:
    """A function with the parameters of `function` that calls it and converts its result."""
    code = function.__code__
    count, names = code.co_argcount, list(code.co_varnames)
    only = names[count:count + code.co_kwonlyargcount]
    rest = names[count + len(only):]
    given, passed = names[:count], [*names[:count]]
    if code.co_posonlyargcount:
        given.insert(code.co_posonlyargcount, "/")
    if code.co_flags & _VARARGS:
        given.append("*" + rest[0])
        passed.append("*" + rest.pop(0))
    elif only:
        given.append("*")
    given += only
    passed += [f"{name}={name}" for name in only]
    if code.co_flags & _VARKEYWORDS:
        given.append("**" + rest[0])
        passed.append("**" + rest[0])
    space = {"__name__": __name__}
    # The function is reached through a cell, so that the code can be kept on disk; what __result__ does is in the text,
    # so that code for other results has another key.
    exec(f"def make(__called__, __result__):\n    def made({', '.join(given)}):\n        {f'{wanted} {numbers}'!r}\n"
         f"        return __result__(__called__({', '.join(passed)}))\n    return made", space)
    made = space["make"](function, _result(wanted, numbers))
    made.__name__, made.__qualname__ = function.__name__, function.__qualname__
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made


@cache
def _result(wanted, numbers, inside=False):
    """The intrinsic by which library functions convert a result."""
    @intrinsic
    def result(x):
        return changed(x, wanted, numbers, inside)

    return result


@cache
def _making(t: k.Tuple):
    """The intrinsic that makes a tuple of the class of t."""
    @intrinsic
    def made(*parts):
        return _tuple_like(t, list(parts))

    return made


@cache
def _argument(wanted: k.Type) -> FunctionType:
    """The library function that converts an argument of several types."""
    @intrinsic
    def argument(x):
        return passed(x, wanted)

    return _each(argument)


@cache
def _each(convert) -> FunctionType:
    """A library function that converts a number of several types: each of the types by itself."""
    def converted(x):
        return convert(x)

    return converted
