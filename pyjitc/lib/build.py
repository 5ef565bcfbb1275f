"""Helpers for writing rules: applications that fold constants, constants, conversions between number types, error
texts."""
from __future__ import annotations

import enum
import operator
from types import CodeType
from typing import Callable

import numpy as np

from ..base.errors import with_article
from ..base.lazy import lazy
from ..base.named import Named
from ..infer.constants import apply, is_wide, too_wide
from ..infer.meaning import CallValue, Const, Expr, Mismatch, NotNative
from ..ir.flags import FunctionFlags
from ..ops import arith
from ..ops.derivative import Ruled
from ..types import kinds as k
from ..types.classes import COMPARISONS
from ..types.lattice import dtype_of, part_of, promote

extended = lazy("pyjitc.lib.extended")
units = lazy("pyjitc.lib.np.dates.units")

__all__ = ["a_type", "apply", "const", "cast", "convert", "promoted", "number", "mismatch", "type_name", "provoked",
           "SYMBOLS", "sample", "wide_as", "fitted", "is_list", "is_sequence", "list_item", "no_records", "no_shape",
           "applied", "by_parts", "compiled", "outlined", "unvectorised", "gathering", "unoptimised", "unpolled",
           "check_hashable", "flagged", "FLAGS", "NUMPY", "Rules", "DERIVATIVES", "by_value", "derivatives",
           "BATCHED", "batched"]

# (major, minor) of NumPy; np.lib.NumpyVersion compiles two regular expressions for it
NUMPY = tuple(map(int, np.__version__.split(".")[:2]))
_owned = lazy("pyjitc.ops.owned")  # only programs with typed lists load it
const = Const

SYMBOLS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}


def applied(op):
    """The rule that applies an operation to the operands."""
    return lambda *operands: apply(op, *operands)


def by_parts(op):
    """The rule that applies an operation to the real parts of two complex numbers, and to their imaginary parts."""
    def rule(x, y):
        return apply(arith.COMPLEX_MAKE, *[apply(op, apply(part, x), apply(part, y))
                                           for part in (arith.REAL, arith.IMAG)])

    return rule


def compiled(function):
    """The rule of a library function whose meaning is its body, in the compiled subset. Operands of type int, bool, str
    or None that are known at compile time stay constants in the body."""
    callee = Const(k.Singleton(function), function)
    return lambda args, kwargs: CallValue(callee, *args, keywords=kwargs)


FLAGS: dict[CodeType, FunctionFlags] = {}  # of the library functions that the decorators below mark


def _marked(function, **flags):
    FLAGS[function.__code__] = FunctionFlags(noinline=True, **flags)
    return function


def outlined(function):
    """Decorator of a library function that is not inlined: a big body, or one that is called from several places."""
    return _marked(function)


def unvectorised(function):
    """Decorator of a library function that is not inlined and whose loops LLVM cannot or should not vectorise: each
    stays one loop, which halves the work of LLVM."""
    return _marked(function, novectorize=True)


def gathering(function):
    """Decorator of `masked(a, mask)`, which is not inlined, since passes/fusion.py looks for calls of it."""
    return _marked(function, selects_by_mask=True)


def unoptimised(function):
    """Decorator of a library function that is not inlined and that LLVM does not optimise: one that runs rarely, or
    whose time is spent in functions that it calls."""
    return _marked(function, optnone=True)


def flagged(**flags):
    """Decorator that sets flags of a library function, which may be inlined: see ir/flags.py."""
    def mark(function):
        FLAGS[function.__code__] = FLAGS.get(function.__code__, FunctionFlags())._replace(**flags)
        return function

    return mark


unpolled = flagged(unpolled=True)  # decorator of a library function that handles no signals in its loops


def _check_called(function) -> None:
    if function.__code__ not in FLAGS or not FLAGS[function.__code__].noinline:
        raise TypeError(f"{function.__qualname__} is inlined, so its derivatives would not be asked for")


class Rules(Named):
    """The derivatives of a library function that is not inlined, as functions in the compiled subset.

    tangent: called after the function with its arguments and then the tangent of each, or None where that is constant;
    it updates the tangents of arrays that the function writes, and returns the tangent of the result. adjoint: called
    with the arguments; then, for each array, its array of adjoints, or None where the array is not active, and None for
    all other arguments; then with the adjoint of the result, or None. It adds to the adjoints of arrays that the
    function reads, and clears those of arrays that it writes. rereads: positions of the arrays whose elements `adjoint`
    reads; writes: positions of the arrays all of whose elements the function overwrites; of_complex: whether both are
    right for complex numbers, whose adjoint is dL/dRe + i dL/dIm."""

    tangent: Callable
    adjoint: Callable
    rereads: tuple[int, ...]
    writes: tuple[int, ...]
    of_complex: bool


DERIVATIVES: dict[CodeType, Rules | Ruled] = {}  # code of a library function -> its derivatives


def derivatives(function, tangent, adjoint, rereads: str = "", writes: str = "", of_complex: bool = False) -> None:
    """Declare the derivatives of a library function that is not inlined, since it calls BLAS or LAPACK, sorts, or has
    better derivatives than those that follow from its body. Parameters whose arguments are always constants are left
    out of both. rereads, writes: names of parameters, see Rules."""
    code = function.__code__
    given = code.co_varnames[:code.co_argcount]
    taken = adjoint.__code__.co_varnames[:adjoint.__code__.co_argcount]
    own = [name for name in taken if name in given]
    for rule, count in ((tangent, 2 * len(own)), (adjoint, 2 * len(own) + 1)):
        names = list(rule.__code__.co_varnames[:rule.__code__.co_argcount])
        if len(names) != count or names[:len(own)] != own or [name for name in given if name in own] != own:
            raise TypeError(f"{rule.__qualname__} takes {', '.join(names)}: expected parameters of "
                            f"{', '.join(given)} and then what belongs to each")
    _check_called(function)
    DERIVATIVES[code] = Rules(tangent, adjoint, *(tuple(map(own.index, names.split())) for names in (rereads, writes)),
                              of_complex)


BATCHED: dict[CodeType, Callable] = {}  # code of a library function -> its form for batches


def batched(function, rule) -> None:
    """Declare the form of a library function for batches, for which passes/batches.py calls it instead of a loop of
    calls. rule: takes the same arguments; arrays that differ between examples have the batch as an axis in front, as
    the result has. Where the rule is not compiled for the types of a call, a loop of calls remains."""
    BATCHED[function.__code__] = rule


def by_value(module: str, *functions, of_complex: bool = False) -> None:
    """The derivatives of library functions that are not inlined and write into no argument: `F_tangent` and
    `F_backward` of a module that is loaded when a derivative is requested; see Ruled in ops/derivative.py."""
    for function in functions:
        _check_called(function)
        name = f"{module}:{function.__name__}"
        DERIVATIVES[function.__code__] = Ruled(f"{name}_tangent", None, f"{name}_backward", of_complex=of_complex)


def cast(x: Expr, t: k.Type) -> Expr:
    if x.type is t:
        return x
    if k.is_time(t) and k.is_time(x.type):
        return units.converted(x, t)
    return apply(arith.CAST, x, type=t)


def convert(x: Expr, t: k.Type) -> Expr:
    """The number x converted to type t as Python and NumPy convert operands: a Python int next to a NumPy integer is
    checked against the bounds of that type, and converted to a short float by way of a double."""
    source = x.type
    if source is t:
        return x
    if source is k.Int:
        if isinstance(t, k.NpInt):
            return cast(x, t) if t is k.int64 else apply(arith.NARROW, x, type=t)
        if isinstance(t, (k.NpFloat, k.NpComplex)) and part_of(t) is not k.float64:
            return cast(cast(x, k.float64), t)
    return cast(x, t)


def promoted(x: k.Type, y: k.Type) -> k.Type:
    """The common type of two number types, dates or durations; Mismatch where there is none."""
    try:
        return promote(x, y)
    except TypeError as error:
        raise Mismatch(str(error).partition(" This means")[0]) from None


def number(value) -> Const:
    """A Python number as a constant."""
    return Const(_PYTHON[type(value)], value)


_PYTHON = {bool: k.Bool, int: k.Int, float: k.Float, complex: k.Complex}


def provoked(function, *args) -> str:
    """The text of the exception that `function` raises in this version of Python or NumPy."""
    try:
        function(*args)
    except Exception as error:
        return str(error.args[-1]) if type(error) in (OverflowError, ValueError, ZeroDivisionError) else str(error)
    raise AssertionError(f"{function} accepts {args}")


def sample(t: k.Type):
    """Some value of number type t."""
    return _SAMPLES[t] if t in _SAMPLES else dtype_of(t).type(1)


_SAMPLES = {k.Bool: True, k.Int: 1, k.Float: 1.0, k.Complex: 1j}


def mismatch(op: str, *operands: Expr, inplace: bool = False) -> Mismatch:
    """The TypeError of an operator that has no meaning for these operands; in NumPy's words for NumPy scalars."""
    types = [x.type for x in operands]
    if all(map(k.is_number, types)) and any(map(k.is_numpy_scalar, types)):
        function = _UNARY[op] if len(types) == 1 else SYMBOLS[op]
        try:
            function(*map(sample, types))
        except TypeError as error:
            return Mismatch(str(error))
    names = [type_name(t) for t in types]
    hint = "write .value for the number of an enum member" if any(
        isinstance(t, k.Singleton) and isinstance(t.value, enum.Enum) and isinstance(t.value.value, (int, float))
        for t in types) else ""
    if any(map(k.is_numpy_scalar, types)) and any(isinstance(t, k.Tuple) for t in types):
        hint = "make an array of the tuple: np.array(x)"
    if op == "+" and len(types) == 2 and types[0] is k.Str and not (
            k.is_numpy_scalar(types[1]) or isinstance(types[1], k.Array)):
        return Mismatch(f'can only concatenate str (not "{names[1]}") to str', "write an f-string, as in f'{x}'")
    if len(names) == 1:
        return Mismatch(f"bad operand type for unary {op}: '{names[0]}'", hint)
    if op in COMPARISONS:
        return Mismatch(f"'{op}' not supported between instances of '{names[0]}' and '{names[1]}'", hint)
    shown = f"{op}=" if inplace else "** or pow()" if op == "**" else op
    return Mismatch(f"unsupported operand type(s) for {shown}: '{names[0]}' and '{names[1]}'", hint)


_UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "abs": abs}


def type_name(t: k.Type) -> str:
    """The name of the Python class of values of type t, as CPython's messages give it."""
    return t.class_name


def check_hashable(t: k.Type) -> None:
    """Raise what hash() raises for a value of type t, if no object of its class has a hash."""
    if isinstance(t, k.Tuple) and (t.cls is None or t.cls.__hash__ is tuple.__hash__):
        for part in t.elements:
            check_hashable(part)
    elif isinstance(t, k.Array) or t.python_class is not None and t.python_class.__hash__ is None:
        raise Mismatch(f"unhashable type: '{type_name(t)}'")


def a_type(t: k.Type) -> str:
    """`type_name` with an article: "a list", "an int"."""
    return with_article(type_name(t))


def wide_as(x: Expr, t: k.Type) -> Expr:
    """A Python constant as a constant of type t."""
    value = x.type.value
    if t is k.uint64:
        return Const(t, np.uint64(value))
    if t is k.Float:
        return Const(t, float(value))
    if isinstance(t, (k.NpFloat, k.NpComplex)):
        return Const(t, dtype_of(t).type(value))
    raise too_wide(value)


def beside(x: Expr, other: k.Type) -> Expr:
    """A Python constant as an operand next to a value of type `other`."""
    t = other.dtype if isinstance(other, k.Array) else other
    whole = t is k.uint64 or extended.is_as_in_numba() and not k.is_float(t)
    return wide_as(x, k.uint64 if whole else k.Float if k.is_float(t) else k.Int)


def fitted(x: Expr, y: Expr) -> tuple[Expr, Expr]:
    """(x, y), where an int constant beyond 2**63 has a type that suits the other operand."""
    return beside(x, y.type) if is_wide(x) else x, beside(y, x.type) if is_wide(y) else y


def is_list(t: k.Type) -> bool:
    """Whether t is the type of a list display."""
    return isinstance(t, k.ListDisplay)


def is_sequence(t: k.Type) -> bool:
    """Whether t is the type of a tuple or a list display."""
    return isinstance(t, (k.Tuple, k.ListDisplay))


def no_records(what: str, *types: k.Type) -> None:
    """Refuse an operation on arrays of records or texts."""
    dtypes = [t.dtype for t in types if isinstance(t, k.Array) and isinstance(t.dtype, k.Record)]
    if any([dtype.is_text for dtype in dtypes]):
        raise NotNative(f"{what} of arrays of strings is not compiled", "pass lists of strings: x.tolist()")
    if dtypes:
        raise NotNative(f"{what} of structured arrays is not compiled", "use their fields: a['x']")


def list_item(t: k.Type) -> k.Type | None:
    """The type of the items of a list, of Python's or of `pyjitc.typed`; None for other types."""
    if isinstance(t, k.ObjectOf):
        t = getattr(t.cls, _owned.NATIVE, None)
    return t.item if isinstance(t, (k.List, k.NativeList)) else None


def no_shape(t: k.Type) -> Mismatch:
    """The error for a value of type t that is given as the length of an axis."""
    if isinstance(t, (k.List, k.Array)):
        return Mismatch("the type of a shape says how many axes there are: lists and arrays of lengths do not",
                        "pass a tuple, such as (2, 3)")
    return Mismatch(f"expected a sequence of integers or a single integer, got a value of type {t}", whole_number(t))


def whole_number(t: k.Type) -> str:
    """The hint on what to write where a value of type t is used as an index or a count; '' if it is no number."""
    return "write // for /, or int(...) around it" if k.is_float(t) else ""
