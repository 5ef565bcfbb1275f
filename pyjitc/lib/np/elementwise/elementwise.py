"""Whole-array expressions: ufuncs and operators on arrays as nests of loops that fuse (ops/nest.py).

Broadcasting, dtypes and errors are NumPy's; a result of arrays that are all in Fortran order is in Fortran order.
"""
from __future__ import annotations

import functools

import numpy as np

from ....base.lazy import lazy
from ....base.named import Named
from ....infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, NotNative, Nest, Operand, Throw
from ....ops.arith import CAST
from ....ops.memory import ARRAY_DIM, ARRAY_LOAD, ARRAY_NEW
from ....ops.nest import BROADCAST
from ....ops.structure import SELECT, TUPLE_GET, TUPLE_MAKE
from ....types import kinds as k
from ....types.classes import MIRRORED
from ....types.kinds import Array, DType, is_scalar
from ....types.lattice import dtype_of, kind_of, numpy_counterpart
from ...build import NUMPY, a_type, apply, convert, is_sequence, promoted, type_name
from ...rule import Constant, Rule, rule
from . import loops
from .ufuncs import OPERATORS, RELATIONS, UNARY, loop, typed

conversions, creation = lazy("pyjitc.lib.py.conversions"), lazy("pyjitc.lib.np.arrays.creation")
dates, times = lazy("pyjitc.lib.np.dates.operators"), lazy("pyjitc.lib.np.dates.times")
operators = lazy("pyjitc.lib.py.operators")
numbers, views = lazy("pyjitc.lib.np.elementwise.numbers"), lazy("pyjitc.lib.np.shapes.views")

__all__ = ["CALLS", "METHODS", "ufunc", "bound", "binary", "unary", "compare", "assign", "element_type",
           "item", "power", "shape_into", "shape_of", "is_array", "whole"]

_KERNELS = {"cast": (loops.cast1, loops.cast2, loops.cast3), "apply": (loops.apply1, loops.apply2, loops.apply3),
            "masked": (loops.masked1, loops.masked2), "kept": (loops.kept1, loops.kept2)}
NONE = Const(k.NoneType, None)


def _kernel(kind: str, count: int):
    known = _KERNELS[kind]
    return known[count - 1] if count <= len(known) else loops.wide(kind, count)


def is_array(x: Expr) -> bool:
    return isinstance(x.type, Array)


def constant_of(value) -> Const:
    return Const(k.Singleton(value), value)


def _checked(name, args):
    for x in args:
        if not is_array(x) and not is_scalar(x.type):
            raise NotNative(f"np.{name} of an array and {a_type(x.type)} is not compiled",
                            "use arrays and numbers")


def element_type(x: Expr):
    return x.type.dtype if is_array(x) else x.type


def item(x: Expr) -> Expr:
    """A 0-d array as its element."""
    return Apply(ARRAY_LOAD, x) if is_array(x) and x.type.ndim == 0 else x


def shape_of(args, turned=False) -> list[Expr]:
    """The broadcast shape of the operands. In error messages a number has the shape (). turned: whether the program has
    these operands transposed."""
    arrays = [x for x in args if is_array(x)]
    ndims = tuple(x.type.ndim if is_array(x) else 0 for x in args)
    lengths = [Apply(ARRAY_DIM, x, axis=j) for x in arrays for j in range(x.type.ndim)]
    if len(arrays) == 1:
        return lengths
    attrs = {"turned": True} if turned else {}
    return [Apply(BROADCAST, *lengths, axis=axis, ndims=ndims, **attrs) for axis in range(max(ndims) - 1, -1, -1)]


def _tuple(parts):
    return Apply(TUPLE_MAKE, *parts, cls=None)


def over(kernel, fixed, args, template=loops.mapped, turned=False) -> Expr:
    """The array of kernel(*fixed, element of each operand); at least one operand must be an array. turned: as of
    `shape_of`."""
    arrays = [x for x in args if is_array(x)]
    ndim = max(x.type.ndim for x in arrays)
    if ndim > 1 and all(x.type.ndim == ndim and x.type.layout == "F" for x in arrays):
        result = over(kernel, fixed, [views.transpose(x) if is_array(x) else x for x in args], template, True)
        return Call(views.transposed, result)
    args = [item(x) for x in args]
    shape = shape_of(args, turned)
    return Nest(template, [_tuple(shape)], kernel, list(fixed), args, shape=0, ndim=len(shape))


class Arguments(Named, fields="args outs where dtype casting order"):
    """The arguments of a call of a ufunc: args: expressions; outs: one for each output, or (); where: an expression, or
    None for everywhere; dtype: a type or None; casting, order: texts."""

    __slots__ = ()


_OPTIONS = ("where=True, casting: Constant = 'same_kind', order: Constant = 'K', dtype=None, subok=True, "
            "signature=None")


@functools.cache
def _signature(function) -> str:
    """The parameters of a ufunc. `out` is one array, or a tuple where the ufunc has several outputs."""
    operands = ", ".join(f"x{i}" for i in range(1, function.nin + 1))
    if function.nout == 1:
        return f"{operands}, /, out=None, *, {_OPTIONS}"
    places = ", ".join(f"out{i}=None" for i in range(1, function.nout + 1))
    return f"{operands}, {places}, /, *, out=None, {_OPTIONS}"


@functools.cache
def rule_of(function) -> Rule:
    """The rule of a ufunc."""
    return Rule(lambda *given: _called(function, _arguments(function, *given)), f"np.{function.__name__}",
                _signature(function))


@functools.cache
def _binding(function) -> Rule:
    return Rule(lambda *given: _arguments(function, *given), f"np.{function.__name__}", _signature(function))


def bound(function, args, kwargs) -> Arguments:
    """The arguments of a call of a ufunc, bound as NumPy binds them."""
    return _binding(function)(args, kwargs)


def _arguments(function, *given) -> Arguments:
    *given, where, casting, order, dtype, subok, signature = given
    name, args, outs = function.__name__, given[:function.nin], given[function.nin:]
    out = outs.pop()
    outs = [x or NONE for x in outs] if any(outs) else []
    if outs and out is not None:
        raise Mismatch("cannot specify 'out' as both a positional and keyword argument")
    if out is not None:
        if isinstance(out.type, k.Tuple):
            outs = [Apply(TUPLE_GET, out, index=i) for i in range(len(out.type.elements))]
            if len(outs) != function.nout:
                raise Mismatch("The 'out' tuple must have exactly one entry per ufunc output", exception=ValueError)
        elif function.nout > 1:
            raise Mismatch("'out' must be a tuple of arrays")
        else:
            outs = [out]
    outs = tuple(None if x.type is k.NoneType else x for x in outs)
    outs += (None,) * (function.nout - len(outs)) if outs else ()
    for x in outs:
        if x is not None and not is_array(x):
            raise Mismatch("return arrays must be of ArrayType")
    if where.known and where.value is True:
        where = None
    if where is not None:
        if not is_array(where) and not is_scalar(where.type):
            raise NotNative(f"where= of {a_type(where.type)} is not compiled", "use an array of booleans")
        if kind_of(element_type(where)) != "b":
            raise Mismatch(f"Cannot cast array data from {dtype_of(numpy_counterpart(element_type(where)))!r} to "
                           f"dtype('bool') according to the rule 'safe'")
    _check_order(order)
    if signature:
        raise NotNative(f"np.{name} with signature= is not compiled",
                        "write dtype=, or convert the operands with astype")
    return Arguments(args, outs if any(x is not None for x in outs) else (), where,
                 None if dtype is None else creation.scalar_of(dtype), casting, order)


def _check_order(order):
    if order not in ("C", "F", "A", "K"):
        raise Mismatch(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')", exception=ValueError)


def ufunc(function: np.ufunc, args: list[Expr], out: Expr | None = None) -> Expr:
    """A ufunc of these operands, with its result in `out`, if any."""
    return _called(function, Arguments(args, (out,) if out else (), None, None, "same_kind", "K"))


def _called(function, given: Arguments) -> Expr:
    if any(is_sequence(x.type) for x in given.args):
        return _of_sequences(function, given)
    args, outs, where, dtype, casting, order = given
    _checked(function.__name__, args)
    exact = dtype is None and function in RELATIONS and all(kind_of(element_type(x)) in "biu" for x in args)
    # Python ints outside the bounds of the other operand's type are compared exactly, too
    if exact and casting == "same_kind":
        outputs = (k.bool_,)
        _check_out(function, outs, outputs, casting)
    else:
        found = loop(function, tuple(element_type(x) for x in args), dtype, casting,
                     tuple(x and x.type.dtype for x in outs))
        outputs = found.outputs
        if not exact:
            for x, t in zip(args, found.inputs):
                if (x.type is k.Int and x.known and isinstance(t, k.NpInt)
                    and not np.iinfo(dtype_of(t)).min <= x.value <= np.iinfo(dtype_of(t)).max):
                    # the check is made for empty arrays, too
                    return Throw(OverflowError, f"Python integer {x.value} out of bounds for {dtype_of(t).name}")
            args = [x if is_array(x) or x.known else convert(x, t) if k.is_python_number(x.type) else x
                    for x, t in zip(args, found.inputs)]
    callee = constant_of(function if dtype is None else typed(function, found))
    if function.nout > 1:
        return _pair(function, callee, args, outs, where, order)
    if outs:
        return into(outs[0], callee, args, where)
    if where is not None:  # elements where the mask is false keep what is in memory, as in NumPy
        return _ordered(whole(_kernel("masked", function.nin), [callee, _dtype(outputs[0])], [where, *args]), order)
    return _ordered(whole(_kernel("apply", function.nin), [callee], args), order)


def _check_out(function, outs, outputs, casting):
    for x, t in zip(outs, outputs):
        if not np.can_cast(dtype_of(t), dtype_of(x.type.dtype), casting):
            raise Mismatch(f"Cannot cast ufunc '{function.__name__}' output from {dtype_of(t)!r} to "
                           f"{dtype_of(x.type.dtype)!r} "
                           f"with casting rule '{casting}'", f"use an array of {dtype_of(t)} for the result")


def _of_sequences(function, given: Arguments):
    """The operands with tuples and lists replaced by arrays. A value of several types is resolved to each in a library
    function."""
    args, outs, where, dtype, casting, order = given
    out = NONE if not outs else outs[0] if function.nout == 1 else _tuple([x or NONE for x in outs])
    if where is None and dtype is None and (casting, order) == ("same_kind", "K") and function.nin < 3:
        return Call(loops.sequence1 if len(args) == 1 else loops.sequence2, constant_of(function), *args, out)
    array = constant_of(np.asarray)
    args = [CallValue(array, x) if is_sequence(x.type) else x for x in args]
    return CallValue(constant_of(function), *args, keywords={
        "out": out, "where": where or Const(k.Bool, True), "casting": Const(k.Str, casting),
        "order": Const(k.Str, order), "dtype": _dtype(dtype) if dtype else NONE})


def _pair(function, callee, args, outs, where, order):
    """The outputs of a ufunc that has two."""
    kernel = loops.apply1_item if function.nin == 1 else loops.apply2_item
    both = _tuple([_ordered(whole(kernel, [callee, Const(k.Int, i)], args), order) for i in range(2)])
    if not outs and where is None:
        return both
    for x in outs:
        if x is not None and not x.type.writable:
            return Throw(ValueError, "output array is read-only")
    return Call(loops.put_pair, both, _tuple([x or NONE for x in outs or (NONE, NONE)]), where or NONE)


def _ordered(result: Expr, order: str) -> Expr:
    return result if order in "KA" else Call(loops.in_order, result, Const(k.Str, order))


def whole(kernel, fixed, args):
    """kernel(*fixed, element of each operand): an array, or a number where none of them is one."""
    if all(not is_array(x) or x.type.ndim == 0 for x in args):
        return Call(kernel, *fixed, *(item(x) for x in args))
    return over(kernel, fixed, args)


def into(out: Expr, callee, args, where=None) -> Expr:
    """out[...] = callee(...), with `out` as the result: the meaning of a ufunc with out=, and of an in-place operator.
    """
    if not out.type.writable:
        return Throw(ValueError, "output array is read-only")
    fixed = [callee, _dtype(out.type.dtype)]
    if where is not None:
        return Call(loops.after, out, _stored(out, [where, out, *args], _kernel("kept", len(args)), fixed,
                                              [*args, out, where]))
    return Call(loops.after, out, _stored(out, args, _kernel("cast", len(args)), fixed, [*args, out]))


def _dtype(t: k.Type) -> Const:
    return Const(DType(t), dtype_of(t))


def _stored(target, args, kernel, fixed, listed=None) -> Nest:
    """The nest that writes the elements into `target`, after a check of the shapes."""
    return Nest(loops.stored, [_tuple(shape_into(target, args, listed)), target], kernel, fixed,
                [item(x) for x in args], into=True, ndim=target.type.ndim, dtype=target.type.dtype)


def shape_into(target, args, listed=None) -> list[Expr]:
    """The shape of `target`; raises where the operands cannot be broadcast to it. listed: the operands of a ufunc in
    the order of its error messages; None for an assignment."""
    others = [x for x in args if is_array(x) and x.type.ndim and not _same(x, target)]
    shape = [Apply(ARRAY_DIM, target, axis=j) for j in range(target.type.ndim)]
    if any(x.type.ndim > target.type.ndim for x in others):
        raise Mismatch("an operand has more dimensions than the place for the result", exception=ValueError)
    if not others:
        return shape
    ndims = (target.type.ndim, *(x.type.ndim for x in others))
    lengths = [*shape, *(Apply(ARRAY_DIM, x, axis=j) for x in others for j in range(x.type.ndim))]
    attrs = ({"into": "place"} if listed is None
             else {"into": "output", "listed": tuple(_place_among(x, target, others) for x in listed)})
    return [Apply(BROADCAST, *lengths, axis=axis, ndims=ndims, **attrs) for axis in range(target.type.ndim - 1, -1, -1)]


def _place_among(x, target, others):
    """The position of x in the list of shapes (the target's shape, then those of `others`); -1 for an x without a
    shape."""
    if not is_array(x) or not x.type.ndim:
        return -1
    return 0 if _same(x, target) else 1 + next(n for n, y in enumerate(others) if x is y)


def _same(x, y):
    return x is y or type(x) is Operand and type(y) is Operand and x.index == y.index


def assign(target: Expr, value: Expr) -> Expr:
    """target[...] = value"""
    if k.is_time(value.type):
        value = conversions.assign(value, target.type.dtype)
    return _stored(target, [value], loops.cast0, [_dtype(target.type.dtype)])


def binary(op: str, x: Expr, y: Expr, inplace: bool = False) -> Expr:
    if is_sequence(x.type) or is_sequence(y.type):
        return ufunc(OPERATORS[op], [x, y], x if inplace and is_array(x) else None)
    for z in (x, y):
        if not is_array(z) and not is_scalar(z.type):
            raise Mismatch(f"unsupported operand type(s) for {op}{'=' * inplace}: '{type_name(x.type)}' and "
                           f"'{type_name(y.type)}'")
    function = OPERATORS[op]
    if function is np.power and not is_array(y):
        if y.known:
            function, y = power(x, y)
            if y is None:
                return ufunc(function, [x], x if inplace else None)
        elif k.is_python_number(y.type) and y.type is not k.Complex and kind_of(element_type(x)) == "c":
            callee = numbers.complex_power_of_int if y.type is not k.Float else numbers.complex_power_of_float
            return into(x, constant_of(callee), [x, y]) if inplace else lift(callee, [x, y])
    if inplace and is_array(x):
        return ufunc(function, [x, y], x)
    return ufunc(function, [x, y])


def power(x, y):
    """x ** y by NumPy's fast paths for constant exponents."""
    kind = kind_of(element_type(x))
    # for bool, too: the result is int8
    if y.value == 2 and type(y.value) in (int, float) and (kind in "fc" or type(y.value) is int):
        return np.square, None
    if y.value == 0.5 and kind in "fc":
        return np.sqrt, None
    if y.value == -1 and kind in "fc" and (type(y.value) is int or kind == "f" or numbers.FLOATS_ARE_WHOLE_POWERS):
        return np.reciprocal, None
    return np.power, y


def scalar_array(x: Expr) -> Expr:
    """A number as a 0-d array."""
    t = x.type if k.is_numpy_scalar(x.type) else numpy_counterpart(x.type)
    return Call(views.boxed, Apply(ARRAY_NEW, type=Array(t, 0), zero=False), convert(x, t))


def chosen(condition: Expr, x: Expr, y: Expr) -> Expr:
    common = numpy_counterpart(promoted(x.type, y.type))
    return apply(SELECT, operators.truth(condition), convert(x, common), convert(y, common))


WHERE_LOOKS = NUMPY >= (2, 5)  # before, np.where wrapped Python ints


def where(condition, x, y):
    """The expression of np.where(condition, x, y); x and y are `...` where they are left out."""
    if y.type is k.Ellipsis_:
        if x.type is not k.Ellipsis_:
            return Throw(ValueError, "either both or neither of x and y should be given")
        if is_array(condition):
            return CallValue(constant_of(np.nonzero), condition)
        raise NotNative("np.where is compiled with one array, or with a condition and two values")
    _checked("where", [condition, x, y])
    args = [condition, *_as_integers([x, y])]
    if not any(is_array(x) and x.type.ndim for x in args):
        return scalar_array(chosen(*map(item, args)))
    return over(loops.select, [], args)


def _as_integers(pair):
    """The values of np.where; a Python int gets the integer type of the other value."""
    for x, y in (pair, pair[::-1]):
        t = element_type(y)
        if x.type is k.Int and isinstance(t, k.NpInt):
            if WHERE_LOOKS:
                return [convert(x, t) if z is x else z for z in pair]
            wrapped = Const(t, np.array(x.value).astype(dtype_of(t))[()]) if x.known else apply(CAST, x, type=t)
            return [wrapped if z is x else z for z in pair]
    return pair


def lift(function, args) -> Expr:
    """A function of numbers applied to arrays, element by element; its other arguments are constants."""
    return whole(_kernel("apply", len(args)), [constant_of(function)], args)


def unary(op: str, x: Expr) -> Expr:
    return ufunc(UNARY[op], [x])


def compare(op: str, x: Expr, y: Expr) -> Expr:
    if is_sequence(x.type):  # a sequence's own comparison does not accept arrays, so the array's is used
        return ufunc(OPERATORS[MIRRORED[op]], [y, x])
    if is_sequence(y.type):
        return ufunc(OPERATORS[op], [x, y])
    for z in (x, y):
        if not is_array(z) and not is_scalar(z.type):
            raise NotNative(f"{op} between an array and {a_type(z.type)} is not compiled")
    if (any(k.is_time(element_type(z)) for z in (x, y))
        and (answer := dates.unlike(op, *map(element_type, (x, y)))) is not None):
        return lift(loops.different if answer else loops.never_equal, [x, y])
    return ufunc(OPERATORS[op], [x, y])


@rule("np.ndarray.astype")
def _astype(a, dtype, order: Constant = "K", casting: Constant = "unsafe", subok=True, copy=True):
    return _converted(a, dtype, order, casting, copy)


@rule("np.astype")
def _astype_function(x, dtype, /, *, copy=True, device=None):
    if not is_array(x):
        raise Mismatch("Input should be a NumPy array. It is of type " + type_name(x.type))
    return _converted(x, dtype, "K", "unsafe", copy)


def _converted(a, dtype, order, casting, keep):
    """The array with elements of `dtype`, in the order of `a` unless the call says otherwise."""
    _check_order(order)
    t = creation.scalar_of(dtype)
    if k.is_time(t) and k.is_time(a.type.dtype):
        t = times.target(a.type.dtype, t)
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise Mismatch(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got '{casting}')",
                       exception=ValueError)
    if not np.can_cast(dtype_of(a.type.dtype), dtype_of(t), casting):
        raise Mismatch(f"Cannot cast array data from {dtype_of(a.type.dtype)!r} to {dtype_of(t)!r} according to the "
                       f"rule '{casting}'")
    if (keep.known and not keep.value and t is a.type.dtype
        and (order in "KA" or a.type.layout == order)):
        return a
    if a.type.ndim == 0:
        made = Call(views.boxed, Apply(ARRAY_NEW, type=Array(t, 0), zero=False), Call(loops.cast0, _dtype(t), item(a)))
    else:
        made = _ordered(over(loops.cast0, [_dtype(t)], [a]), order)
    return Call(loops.discarding, made) if conversions.discards(a.type.dtype, t) else made


CALLS = {np.astype: _astype_function} if hasattr(np, "astype") else {}  # NumPy 2.1
METHODS = {"astype": _astype}
