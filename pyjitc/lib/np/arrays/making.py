"""Arrays from values: np.array, asarray and similar functions, with dtype, copy, order and ndmin; arrays from memory
and iteration.

Where NumPy decides by the strides whether a copy is needed, compiled code does the same if the type does not decide it.
"""
from __future__ import annotations

import itertools
import math

import numpy as np

from ....base.lazy import lazy
from ....infer.constants import constant
from ....infer.expressions import list_of
from ....infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, NotConstant, NotNative, Throw
from ....ops.memory import ARRAY_DIM
from ....ops.structure import RANGE_GET, RETYPE, TUPLE_MAKE
from ....runtime.repeatable import joined_in_order, works_on_operands
from ....types import kinds as k
from ....types.kinds import Array, Bool, DType, Int, NoneType
from ....types.lattice import dtype_of, numpy_counterpart, promote
from ...build import a_type, compiled, is_sequence, list_item, provoked, type_name
from ...protocol import by_python
from ...intrinsics import as_element, as_type
from ...rule import Constant, intrinsic, rule
from ...py import conversions
from ..shapes.arrange import common_dtype
from ..shapes.views import elements
from .creation import only_cpu, scalar_of

__all__ = ["CALLS", "METHODS", "joined", "of_lists"]

dates = lazy("pyjitc.lib.np.dates.operators")
_NO_COPY = Const(k.Str, provoked(lambda: np.array([1], copy=False)))


def _tuple(parts):
    return Apply(TUPLE_MAKE, *parts, cls=None)


def _dtype(t):
    return Const(DType(t), dtype_of(t))


def _made(name, x, dtype=None, order=None, copy=None, ndmin=0, device=None, like=None):
    """The array that np.`name` makes of x; order, copy, ndmin and device are values."""
    only_cpu(name, device, like)
    order = order or "K"
    if order not in ("C", "F", "A", "K"):
        return Throw(ValueError, f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    return as_array(name, x, dtype and scalar_of(dtype), "K" if order == "A" else order,
                None if copy is None else bool(copy), ndmin)


@rule("np.array")
def _array(object, dtype=None, *, copy: Constant = True, order: Constant = "K", subok=False, ndmin: Constant = 0,
           ndmax: Constant = 0, like=None):
    if ndmax:
        raise NotNative("np.array with ndmax= is not compiled")
    return _made("array", object, dtype, order, copy, ndmin, None, like)


def _as_array(name):
    @rule(f"np.{name}")
    def found(a, dtype=None, order: Constant = None, *, device: Constant = None, copy: Constant = None, like=None):
        return _made(name, a, dtype, order, copy, 0, device, like)

    return found


def _contiguous(name, order):
    @rule(f"np.{name}")
    def found(a, dtype=None, *, like=None):
        return _made(name, a, dtype, order, None, 1, None, like)

    return found


def as_array(name: str, x: Expr, dtype=None, order="K", copy=None, ndmin=0) -> Expr:
    """`x` as an array. copy: True; False for an error where a copy is needed; None for a copy where one is needed."""
    if isinstance(x.type, Array):
        return _of_array(x, dtype or x.type.dtype, order, copy, ndmin)
    if copy is False:
        return Throw(ValueError, _NO_COPY.value)
    if isinstance(dtype, k.Record) and not dtype.is_text:
        return _of_records(name, x, dtype, order, ndmin)
    if k.is_scalar(x.type):
        t = _dtype(dtype) if dtype else common_dtype(_tuple([x]))
        number = conversions.discarding(x, t.type.scalar, conversions.assign(x, t.type.scalar))
        return Call(of_number, number, t, Const(Int, ndmin))
    if x.type is k.Range:
        return Call(of_range, *(Apply(RANGE_GET, x, field=f) for f in ("start", "stop", "step")),
                    _dtype(dtype or k.int64), Const(Int, ndmin))
    axes = _axes_of_texts(x.type) if dtype else None
    if axes:
        return _of_array(_parsed(x, dtype, axes), dtype, order, None, ndmin)
    item = x.type.item if isinstance(x.type, k.TupleOf) else list_item(x.type)
    if item is not None:
        if isinstance(x.type, k.ObjectOf) and k.is_scalar(item):
            t = _dtype(dtype or numpy_counterpart(item))
            return Call(of_typed_list, x, t, Const(k.Str, order), Const(Int, ndmin))
        found = _of_list(name, x, dtype)
        if isinstance(found.type, k.Union):
            return Call(of_one_type, found, Const(k.Str, order), Const(Int, ndmin))
        return _of_array(found, found.type.dtype, order, None, ndmin)
    x = of_lists(x)
    if not is_sequence(x.type):
        advice = ("NumPy makes an array of one object of it; np.fromiter(generator, dtype) makes an array of its items"
                  if isinstance(x.type, k.Generator) else "use numbers, arrays, tuples and lists of them")
        raise NotNative(f"np.{name} of {a_type(x.type)} is not compiled", advice)
    found = _shape_and_leaves(x, is_sequence)
    if isinstance(found, Throw):
        return found
    shape, leaves = found
    if dtype and shape and any([leaf.type is k.Str for leaf in leaves]):
        return _of_array(_parsed(x, dtype, len(shape)), dtype, order, None, ndmin)
    if dtype is k.uint64:
        leaves = [conversions.wide_as(leaf, dtype) if conversions.is_wide(leaf) else leaf for leaf in leaves]
    if any([is_sequence(leaf.type) for leaf in leaves]) and any([_has_axes(leaf.type) for leaf in leaves]):
        given = Const(NoneType, None) if dtype is None else _dtype(dtype)
        return Call(of_mixture, _lengths(shape), _tuple(leaves), given, Const(k.Str, order), Const(Int, ndmin))
    for leaf in leaves:
        if not all(k.is_scalar(t) or isinstance(t, Array)
                   for t in (leaf.type.members if isinstance(leaf.type, k.Union) else (leaf.type,))):
            raise NotNative(f"np.{name} of a sequence with {a_type(leaf.type)} in it is not compiled",
                            "use a list of texts" if leaf.type is k.Str else "use numbers and arrays")
    combinations = math.prod(len(leaf.type.members) for leaf in leaves if isinstance(leaf.type, k.Union))
    if dtype is None and combinations > _MOST:
        raise NotNative(f"np.{name} of items of which many may have one of several types is not compiled",
                        "give dtype=, or convert them, as in float(x)")
    return _of_leaves(_lengths(shape), leaves, dtype, order, ndmin)


def _axes_of_texts(t) -> int | None:
    """The number of axes of an array of a text or of a list (of lists) of texts; None for another type."""
    items = {list_item(t)} if list_item(t) is not None else ()
    if isinstance(t, k.ListDisplay):
        items = {item for _, item in t.members}
    inner = {_axes_of_texts(item) for item in items}
    axes = inner.pop() if len(inner) == 1 else None
    return 0 if t is k.Str else None if axes is None else axes + 1


def _parsed(x, dtype, axes) -> Expr:
    """The array of numbers or dates that the interpreter reads from texts."""
    if isinstance(dtype, k.NpTime):
        dates.unit_of_texts(dtype)
    return by_python(np.asarray, x, _dtype(dtype), type=Array(dtype, axes))


def _lengths(shape):
    return Const(k.Tuple((Int,) * len(shape)), tuple(shape))


def _shape_and_leaves(x, has_items):
    """(the shape of the array that nested sequences are, the expressions of its elements). has_items: whether the
    values of a type are axes, not elements. Sequences that stand beside arrays with axes are left as elements."""
    shape, leaves = [], [x]
    while any([has_items(leaf.type) for leaf in leaves]):
        split = [elements(leaf) if has_items(leaf.type) else None for leaf in leaves]
        others = [leaf.type for leaf, s in zip(leaves, split) if s is None]
        if not all([k.is_scalar(member) or isinstance(member, Array) and not member.ndim
                    for t in others for member in k.members_of(t)]):
            break
        if others or any([len(s) != len(split[0]) for s in split]):
            return Throw(ValueError, "setting an array element with a sequence. The requested array has an "
                                     "inhomogeneous shape after "
                         f"{len(shape)} dimensions. The detected shape was {tuple(shape)} + inhomogeneous part.")
        shape.append(len(split[0]))
        leaves = [e for s in split for e in s]
    return shape, leaves


def _of_records(name, x, dtype, order, ndmin):
    """The structured array that NumPy makes of x, where a tuple is one element."""
    axes, t = 0, x.type
    while isinstance(t, k.List):
        axes, t = axes + 1, t.item
    if axes:
        return _of_array(by_python(np.asarray, x, _dtype(dtype), type=Array(dtype, axes)), dtype, order, None, ndmin)
    found = _shape_and_leaves(x, lambda t: isinstance(t, k.ListDisplay))
    if isinstance(found, Throw):
        return found
    shape, leaves = found
    for leaf in leaves:
        if not (isinstance(leaf.type, (k.Tuple, k.RecordView)) or k.is_scalar(leaf.type)):
            raise NotNative(f"np.{name} of records with {a_type(leaf.type)} in them is not compiled",
                            "use a list of tuples")
    return Call(of_records, _lengths(shape), _tuple(leaves), _dtype(dtype), Const(k.Str, order), Const(Int, ndmin))


def of_typed_list(x, dtype, order, ndmin):
    out = np.empty(len(x), dtype)
    for i in range(len(x)):
        out[i] = x[i]
    return arranged_as_asked(out, order, ndmin)


def _items(name, t) -> tuple[list, int]:
    """(the possible dtypes, number of axes) of the array that NumPy makes of a list of type t. The dtype depends on
    which of the possible item types occur."""
    axes = 0
    while isinstance(t, k.TupleOf) or list_item(t) is not None:
        axes, t = axes + 1, t.item if isinstance(t, k.TupleOf) else list_item(t)
    if t is k.Undefined:
        return [k.float64], axes
    members = k.members_of(t)
    if len(members) == 1 and isinstance(t, Array):
        return [t.dtype], axes + t.ndim
    if len(members) == 1 and isinstance(t, k.Tuple) and t.elements:
        parts = [_items(name, part) for part in t.elements]
        if all([len(dtypes) == 1 and inner == parts[0][1] for dtypes, inner in parts]):
            found = parts[0][0][0]
            for (dtype,), _ in parts[1:]:
                found = promote(found, dtype)
            return [found], axes + 1 + parts[0][1]
    for member in members:
        if not k.is_scalar(member):
            raise NotNative(f"np.{name} of a list with {a_type(member)} in it is not compiled",
                            "use lists of numbers, or of arrays of one type")
    possible: list = []  # for every set of item types that may occur
    for count in range(1, len(members) + 1):
        for some in itertools.combinations(members, count):
            found = some[0]
            for member in some[1:]:
                found = promote(found, member)
            found = numpy_counterpart(found)
            if found in possible:
                possible.remove(found)
            possible.append(found)  # the dtype for all item types is moved to the end
    return possible, axes


def _of_list(name, x, dtype=None):
    """The array that NumPy makes of a list. An empty list gets the dtype of lists with items."""
    possible, axes = _items(name, x.type)
    if dtype is not None:
        possible = [dtype]
    if len(possible) > 1:
        return by_python(np.asarray, x, type=k.union_of([Array(one, axes) for one in possible]))
    if isinstance(list_item(x.type), (k.Tuple, k.TupleOf)):  # derivatives of other lists look for np.asarray itself
        return by_python(asarray_with, x, _dtype(possible[0]), Const(Int, axes), type=Array(possible[0], axes))
    return by_python(np.asarray, x, _dtype(possible[0]), type=Array(possible[0], axes))


@works_on_operands
def asarray_with(x, dtype, axes):
    """np.asarray of a list of tuples. Raises TypeError for an empty list: NumPy makes an array of one axis of it."""
    made = np.asarray(x, dtype)
    if made.ndim != axes and made.size == 0:
        raise TypeError(f"an empty list becomes an array with {'one axis' if made.ndim == 1 else f'{made.ndim} axes'}, "
                        f"where this code was compiled for {axes}: write np.zeros((0, n)) for it")
    return made


# Functions that join the arrays of a list of any length -> number of axes of the result, given that of the items.
_JOINED = {np.concatenate: lambda n: n, np.stack: lambda n: n + 1, np.vstack: lambda n: max(n, 2),
           np.hstack: lambda n: max(n, 1), np.dstack: lambda n: max(n, 3), np.column_stack: lambda n: max(n, 2)}
for _function in (np.asarray, *_JOINED):
    works_on_operands(_function)


def joined(function, args, kwargs) -> Expr | None:
    """The expression of a function that joins the arrays of a list; None for other functions and arguments."""
    t = args[0].type if args else None
    if function not in _JOINED or not isinstance(t, (k.List, k.TupleOf)):
        return None
    if not isinstance(t.item, Array) or set(kwargs) - {"axis"} or len(args) > 2:
        return None
    axis = kwargs.get("axis") or (args[1] if len(args) == 2 else Const(Int, 0))
    named = function in (np.concatenate, np.stack)
    if axis.type is NoneType:
        return by_python(function, args[0], axis, type=Array(t.item.dtype, 1))
    return by_python(joined_in_order, Const(k.Object, function), args[0], *[axis] * named,
                     type=Array(t.item.dtype, _JOINED[function](t.item.ndim)))


def of_lists(x: Expr) -> Expr:
    """`x` with lists replaced by arrays, as NumPy does with operands of its functions and of array operators."""
    if isinstance(x.type, k.List):
        possible, axes = _items("asarray", x.type)
        if len(possible) > 1:  # the dtype for all possible item types; another one raises at run time
            return by_python(np.asarray, x, type=Array(possible[-1], axes))
        return _of_list("asarray", x)
    if is_sequence(x.type) and any([isinstance(t, k.List) or is_sequence(t) for t in x.type.parts]):
        parts = list(map(of_lists, elements(x)))
        return _tuple(parts) if isinstance(x.type, k.Tuple) else list_of(parts)
    return x


_MOST = 64  # the most combinations of types; each is a call


def _of_leaves(where, leaves, dtype, order, ndmin):
    """An array of shape `where`, or with more axes where the leaves are arrays."""
    order, ndmin = Const(k.Str, order), Const(Int, ndmin)
    several = next((i for i, leaf in enumerate(leaves) if isinstance(leaf.type, k.Union) and (
        dtype is None or any(isinstance(t, Array) for t in leaf.type.members))), None)
    if several is not None:
        return Call(with_each_type, where, _tuple(leaves[:several]), leaves[several], _tuple(leaves[several + 1:]),
                    _dtype(dtype) if dtype else Const(NoneType, None), order, ndmin)
    dtype = _dtype(dtype) if dtype else common_dtype(_tuple(leaves)) if leaves else _dtype(k.float64)
    arrays = any(isinstance(leaf.type, Array) and leaf.type.ndim for leaf in leaves)
    return Call(of_arrays if arrays else of_items, where, _tuple(leaves), dtype, order, ndmin)


def _has_axes(t) -> bool:
    """Whether a value of type t may be an array with axes."""
    return any([isinstance(member, Array) and member.ndim for member in k.members_of(t)])


def of_mixture(shape, leaves, dtype, order, ndmin):
    n = even_axes(leaves, 0, most_axes(leaves))
    if n != most_axes(leaves):
        uneven(shape, leaves, n)
    return of_arrays_and_numbers(shape, as_arrays(leaves, dtype), dtype, order, ndmin)


@intrinsic
def as_arrays(leaves, dtype):
    """The leaves with arrays in place of sequences. A sequence without elements gets the dtype of an array."""
    parts, converted = elements(leaves), []
    own = _dtype(next(member.dtype for x in parts for member in k.members_of(x.type) if isinstance(member, Array)))
    for x in parts:
        is_empty = dtype.type is NoneType and not k.any_part(
            x.type, lambda part: not is_sequence(part))
        given = [own] if is_empty else [] if dtype.type is NoneType else [dtype]
        converted.append(CallValue(constant(np.asarray), x, *given) if is_sequence(x.type) else x)
    return _tuple(converted)


@intrinsic
def of_arrays_and_numbers(shape, leaves, dtype, order, ndmin):
    return _of_leaves(shape, elements(leaves), None if dtype.type is NoneType else dtype.type.scalar, order.value,
                      ndmin.value)


def with_each_type(shape, before, leaf, after, dtype, order, ndmin):
    return with_one_type(shape, before, leaf, after, dtype, order, ndmin)


@intrinsic
def with_one_type(shape, before, leaf, after, dtype, order, ndmin):
    """An array of these items. Inference specialises this for one type of `leaf`, which may have several in the
    caller."""
    return _of_leaves(shape, [*elements(before), leaf, *elements(after)], None if dtype.type is NoneType
                      else dtype.type.scalar,
                      order.value, ndmin.value)


def of_one_type(a, order, ndmin):
    return arranged_as_asked(a, order, ndmin)


@intrinsic
def arranged_as_asked(a, order, ndmin):
    """A new array with the requested order and ndmin. Inference specialises this for one type of `a`."""
    return _of_array(a, a.type.dtype, order.value, None, ndmin.value)


def _of_array(a, dtype, order, copy, ndmin):
    t = a.type
    laid = "F" if order == "F" or order == "K" and t.layout == "F" else "C"
    if t.ndim < 2:
        laid, order = "C", "C" if order == "F" else order
    fits = dtype is t.dtype and (order == "K" or t.layout == order)
    # the layout may differ from the type's for an empty array, and others
    unsure = dtype is t.dtype and not fits and t.writable
    fresh = Call(copied, a, _dtype(dtype), Const(k.Str, laid))
    if copy:
        found = fresh
    elif fits:
        found = a
    elif unsure:
        found = Call(arranged, a, Const(k.Str, order), Const(Bool, copy is not False), _NO_COPY)
    elif copy is False:
        return Throw(ValueError, _NO_COPY.value)
    else:
        found = fresh
    return Call(raised, found, Const(Int, ndmin)) if ndmin > t.ndim else found


def copied(a, dtype, order):
    out = np.empty(a.shape, dtype, order)
    out[...] = a
    return out


def arranged(a, order, copy, text):
    """`a` if its elements are in this order, else a copy."""
    if a.size == 0 or (in_order(a, a.ndim - 1, -1, a.itemsize) if order == "C" else in_order(a, 0, 1, a.itemsize)):
        return laid_out(a, order)
    if not copy:
        raise ValueError(text)
    return copied(a, a.dtype, order)


def in_order(a, axis, way, step):
    if axis < 0 or axis == a.ndim:
        return True
    if a.shape[axis] != 1 and a.strides[axis] != step:
        return False
    return in_order(a, axis + way, way, step * a.shape[axis])


@intrinsic
def laid_out(a, order):
    """The array `a` with a type that says that its elements are in this order."""
    t = a.type
    return Apply(RETYPE, a, type=Array(t.dtype, t.ndim, order.value, t.writable, t.aligned))


def raised(a, n):
    return a if a.ndim >= n else raised(a[None], n)


def of_number(x, dtype, ndmin):
    out = np.empty((), dtype)
    out[()] = x
    return raised(out, ndmin)


def of_range(start, stop, step, dtype, ndmin):
    if dtype == np.bool_:
        return raised(np.arange(start, stop, step) != 0, ndmin)
    return raised(np.arange(start, stop, step, dtype), ndmin)


def of_items(shape, items, dtype, order, ndmin):
    out = np.empty(shape, dtype)
    put_items(np.ravel(out), items, 0)
    if order == "F" and len(shape) > 1:
        return raised(copied(out, dtype, "F"), ndmin)
    return raised(out, ndmin)


def put_items(flat, items, i):
    if i < len(items):
        flat[i] = items[i] if isinstance(items[i], np.ndarray) else as_element(items[i], flat.dtype)
        put_items(flat, items, i + 1)


def of_records(shape, items, dtype, order, ndmin):
    out = np.empty(shape, dtype)
    put_records(out.reshape(-1), items, 0)
    return raised(copied(out, dtype, "F") if order == "F" and len(shape) > 1 else out, ndmin)


def put_records(flat, items, i):
    if i < len(items):
        flat[i] = items[i]
        put_records(flat, items, i + 1)


def of_arrays(shape, leaves, dtype, order, ndmin):
    check_even(shape, leaves, 1)
    inner = shape_of(leaves[0])
    out = np.empty(shape + inner, dtype)
    put_arrays(out.reshape((len(leaves),) + inner), leaves, 0)
    if order == "F":
        return raised(copied(out, dtype, "F"), ndmin)
    return raised(out, ndmin)


def shape_of(x):
    return x.shape if isinstance(x, np.ndarray) else ()


def put_arrays(out, leaves, i):
    if i < len(leaves):
        out[i] = leaves[i]
        put_arrays(out, leaves, i + 1)


def check_even(shape, leaves, i):
    if i < len(leaves):
        if shape_of(leaves[i]) != shape_of(leaves[0]):
            uneven(shape, leaves, even_axes(leaves, 0, most_axes(leaves)))
        check_even(shape, leaves, i + 1)


def uneven(shape, leaves, n):
    """Raise the error for leaves of which only the first n axes have the same lengths."""
    raise ValueError(f"setting an array element with a sequence. The requested array has an inhomogeneous shape after "
                     f"{len(shape) + n} dimensions. The detected shape was ({lengths_text(shape, 0)}"
                     f"{lengths_of(leaves, 0, n, most_axes(leaves))}{',' if len(shape) + n == 1 else ''}) + "
                     f"inhomogeneous part.")


@intrinsic
def most_axes(leaves):
    """The most axes that an item of a tuple has: of an array, or of sequences in each other."""
    return Const(Int, max(map(_axes_in, leaves.type.parts)))


def _axes_in(t) -> int:
    if is_sequence(t):
        return 1 + max(map(_axes_in, t.parts), default=0)
    return max([member.ndim if isinstance(member, Array) else 0 for member in k.members_of(t)])


def even_axes(leaves, j, most):
    """The number of leading axes whose lengths are the same in all leaves."""
    if j == most:
        return 0
    return 1 + even_axes(leaves, j + 1, most) if length_along(leaves, j + 1) >= 0 else 0


@intrinsic
def length_along(x, axis):
    """The length of an axis of an array, or of sequences in each other; -1 where that is not one number, or there is
    no such axis."""
    t, axis = x.type, axis.value
    if isinstance(t, Array):
        return Apply(ARRAY_DIM, x, axis=axis) if axis < t.ndim else Const(Int, -1)
    parts = elements(x) if is_sequence(t) else []
    if axis == 0 or not parts:
        return Const(Int, len(parts) if axis == 0 and is_sequence(t) else -1)
    return Call(one_length, _tuple(parts[1:]), Const(Int, axis - 1), Call(length_along, parts[0], Const(Int, axis - 1)))


def one_length(parts, axis, n):
    if len(parts) == 0:
        return n
    return one_length(parts[1:], axis, n) if length_along(parts[0], axis) == n else -1


def lengths_text(shape, j):
    if j == len(shape):
        return ""
    return f"{', ' if j else ''}{shape[j]}{lengths_text(shape, j + 1)}"


def lengths_of(leaves, j, n, most):
    if j == most:
        return ""
    return f", {length_along(leaves[0], j)}{lengths_of(leaves, j + 1, n, most)}" if j < n else ""


# ---------------------------------------------------------------- with conditions


def asarray_chkfinite(a, dtype=None, order=None):
    found = np.asarray(a, dtype, order)
    if found.dtype.kind == "f" or found.dtype.kind == "c":
        if not np.all(np.isfinite(np.atleast_1d(found))):
            raise ValueError("array must not contain infs or NaNs")
    return found


_FLAGS = {"C": "C", "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F": "F", "F_CONTIGUOUS": "F", "FORTRAN": "F", "A": "A",
          "ALIGNED": "A", "W": "W", "WRITEABLE": "W", "O": "O", "OWNDATA": "O", "E": "E", "ENSUREARRAY": "E"}


@rule("np.require")
def _require(a, dtype=None, requirements=None, *, like=None):
    wanted = requirements
    flags = set()
    if wanted is not None:
        texts = [x.value for x in (elements(wanted) if is_sequence(wanted.type) else [wanted])]
        if not all(isinstance(text, str) for text in texts):
            raise NotConstant("requirements= of np.require must be a constant", "write a text, or a tuple of texts")
        for text in texts if is_sequence(wanted.type) else texts[0]:
            if text.upper() not in _FLAGS:
                return Throw(KeyError, text.upper())
            flags.add(_FLAGS[text.upper()])
    if {"C", "F"} <= flags:
        return Throw(ValueError, 'Cannot specify both "C" and "F" order')
    if "O" in flags:
        raise NotNative("np.require with OWNDATA is not compiled", "write np.array(a)")
    t = a.type
    order = "C" if "C" in flags else "F" if "F" in flags else "K"
    copy = (True if isinstance(t, Array) and ("W" in flags and not t.writable or "A" in flags and not t.aligned)
            else None)
    return _made("require", a, dtype, order, copy, 0, None, like)


@rule("np.copy")
def _copy(a, order: Constant = "K", subok=False):
    return _made("copy", a, None, order, True)


@rule("np.ndarray.copy")
def _copy_method(a, order: Constant = "C"):
    return _made("copy", a, None, order, True)


_CASTING = ("no", "equiv", "safe", "same_kind", "unsafe", "same_value")


_PYTHON = {Int: 1, k.Float: 1.0, k.Complex: 1j}  # a bool is converted as NumPy's is


@rule("np.copyto")
def _copyto(dst, src, casting: Constant = "same_kind", where=None):
    target, x = dst, src
    if not isinstance(target.type, Array):
        raise Mismatch(f"copyto() argument 1 must be numpy.ndarray, not {type_name(target.type)}")
    if casting not in _CASTING:
        raise NotConstant("casting= of np.copyto must be a constant")
    if is_sequence(x.type) or isinstance(x.type, k.List):
        given = {"casting": Const(k.Str, casting), **({} if where is None else {"where": where})}
        return CallValue(constant(np.copyto), dst, CallValue(constant(np.asarray), x), keywords=given)
    if where is not None and isinstance(where.type, Array) and where.type.dtype is not k.NpBool:
        raise Mismatch(f"Cannot cast array data from {dtype_of(where.type.dtype)!r} to {dtype_of(k.NpBool)!r} "
                       f"according to the rule 'safe'",
                       "compare it, as in where != 0")
    t = x.type.dtype if isinstance(x.type, Array) else x.type
    if k.is_scalar(t):
        _check_copied(t, target.type.dtype, casting, "array data" if isinstance(x.type, Array) and x.type.ndim else
                      "scalar")
    if not target.type.writable:
        return Throw(ValueError, "assignment destination is read-only")
    if t is k.Float:  # an int is checked to fit
        x = conversions.of_numpy(x)
    return Call(put_all, target, x) if where is None else Call(put_where, target, x, where)


def _check_copied(t, wanted, casting, what):
    """Refuse values of type t in an array of dtype `wanted` where np.copyto does."""
    wanted = dtype_of(wanted)
    number = _PYTHON.get(t)
    if number is None:
        source = dtype_of(t if k.is_numpy_scalar(t) else numpy_counterpart(t))
        refused = not np.can_cast(source, wanted, casting)
    else:  # has the dtype of the array where its kind allows it
        own = np.asarray(number).dtype
        source = np.result_type(wanted, number) if wanted.kind in "biufc" else wanted if own.kind == "i" else own
        if casting == "equiv" and source == wanted and wanted != own:
            raise Mismatch(f"cannot cast Python {type(number).__name__} to {wanted} under the casting rule 'equiv'")
        refused = source != wanted and casting != "unsafe"
    if refused:
        raise Mismatch(f"Cannot cast {what} from {source!r} to {wanted!r} according to the rule '{casting}'")


def put_all(dst, src):
    dst[...] = src


def put_where(dst, src, where):
    dst[...] = np.where(where, as_elements(src, dst.dtype), dst)


def as_elements(x, dtype):
    return x.astype(dtype) if isinstance(x, np.ndarray) else as_type(x, dtype)


CALLS = {
    np.array: _array, np.asarray: _as_array("asarray"), np.asanyarray: _as_array("asanyarray"),
    np.ascontiguousarray: _contiguous("ascontiguousarray", "C"),
    np.asfortranarray: _contiguous("asfortranarray", "F"),
    np.asarray_chkfinite: compiled(asarray_chkfinite), np.require: _require, np.copy: _copy, np.copyto: _copyto,
}
METHODS = {"copy": _copy_method}
