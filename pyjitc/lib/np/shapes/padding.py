"""np.pad in all its modes.

One axis after the other is padded, as in NumPy: earlier axes already have the length of the result, later ones still
that of the operand. Along an axis the operand is a sequence of rows; padding copies or combines rows.
"""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, CallValue, Const, Mismatch, NotConstant, NotNative, Throw
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Array, Int, NoneType, NpInt
from ...build import is_sequence, outlined, a_type
from ...intrinsics import as_element
from ...rule import chosen, rule
from .arrange import is_fortran, window
from .views import elements

__all__ = ["CALLS", "METHODS"]

_KEYWORDS = {"empty": (), "edge": (), "wrap": (), "constant": ("constant_values",), "linear_ramp": ("end_values",),
             "maximum": ("stat_length",), "mean": ("stat_length",), "median": ("stat_length",),
             "minimum": ("stat_length",), "reflect": ("reflect_type",), "symmetric": ("reflect_type",)}


def _tuple(parts):
    return Apply(TUPLE_MAKE, *parts, cls=None)


def _pairs(x, ndim, what):
    """(before, after) for each axis, as NumPy broadcasts the argument to shape (ndim, 2)."""
    if isinstance(x.type, Array):
        raise NotNative(f"{what} of np.pad in an array is not compiled", "write a tuple of tuples")
    rows = [elements(row) if is_sequence(row.type) else row for row in elements(x)] if is_sequence(x.type) else x
    if not isinstance(rows, list):
        return [(x, x)] * ndim
    if not rows:
        raise Mismatch(f"{what} of np.pad is empty")
    if not isinstance(rows[0], list):
        if any(isinstance(row, list) for row in rows) or any(isinstance(row.type, Array) for row in rows):
            raise Mismatch(f"{what} of np.pad must be a number, a pair or a pair for each axis")
        return [(rows[0], rows[-1])] * ndim if len(rows) < 3 else None
    if any(not isinstance(row, list) or len(row) != len(rows[0]) for row in rows) or len(rows[0]) > 2:
        raise Mismatch(f"{what} of np.pad must be a number, a pair or a pair for each axis")
    pairs = [(row[0], row[-1]) for row in rows]
    return pairs * ndim if len(pairs) == 1 else pairs if len(pairs) == ndim else None


@rule("np.pad")
def _pad(array, pad_width, mode="constant", **slots):
    a, widths = array, pad_width
    if not isinstance(a.type, Array):
        again = Const(k.Singleton(pad_sequence), pad_sequence)
        return CallValue(again, a, widths, mode, keywords={}) if not slots else _no_sequence(a)
    if isinstance(widths.type, k.DictDisplay):
        raise NotNative("pad_width of np.pad in a dict is not compiled", "write a pair for each axis")
    ndim = a.type.ndim
    pairs = _pairs(widths, ndim, "pad_width")
    if pairs is None:
        return Throw(ValueError, _no_broadcast(widths, ndim))
    if not all(x.type is Int or isinstance(x.type, NpInt) and x.type.signed for pair in pairs for x in pair):
        return Throw(TypeError, "`pad_width` must be of integral type.")
    widths = Call(checked, _tuple([_tuple(pair) for pair in pairs]), Const(Int, 0))
    if isinstance(mode.type, (k.Function, k.Singleton)):
        if slots:
            raise NotNative("np.pad with a function as mode and other keywords is not compiled",
                            "let the function capture them")
        return Call(by_function, a, widths, mode)
    if not mode.known:
        raise NotConstant("mode= of np.pad must be a constant or a function", chosen("mode", mode))
    if mode.value not in _KEYWORDS:
        return Throw(ValueError, f"mode '{mode.value}' is not supported")
    wrong = set(slots) - set(_KEYWORDS[mode.value])
    if wrong:
        return Throw(ValueError, f"unsupported keyword arguments for mode '{mode.value}': {wrong}")
    return _with_mode(a, widths, mode.value, slots, ndim)


def _with_mode(a, widths, mode, slots, ndim):
    if mode in ("constant", "linear_ramp"):
        given = slots.get("constant_values" if mode == "constant" else "end_values", Const(Int, 0))
        values = _pairs(given, ndim, "the values")
        if values is None:
            return Throw(ValueError, _no_broadcast(given, ndim))
        if not all(k.is_number(x.type) for pair in values for x in pair):
            raise Mismatch("the values of np.pad must be numbers")
        if not is_sequence(given.type) or len(elements(given)) < 3 and not is_sequence(elements(given)[0].type):
            values = [tuple(Call(as_numpy, x) for x in pair) for pair in values]
        return Call(padded, a, widths, Const(k.Str, mode), _tuple([_tuple(pair) for pair in values]))
    if mode in ("maximum", "minimum", "mean", "median"):
        none = Const(NoneType, None)
        lengths = _pairs(slots["stat_length"], ndim,
                         "stat_length") if "stat_length" in slots and slots["stat_length"].type is not NoneType else [
            (none, none)] * ndim
        if lengths is None:
            return Throw(ValueError, _no_broadcast(slots["stat_length"], ndim))
        return Call(padded, a, widths, Const(k.Str, mode),
                    Call(checked, _tuple([_tuple(pair) for pair in lengths]), Const(Int, 0)))
    if mode in ("reflect", "symmetric"):
        how = slots.get("reflect_type", Const(k.Str, "even"))
        if not how.known:
            raise NotConstant("reflect_type= of np.pad must be a constant", chosen("reflect_type", how))
        return Call(padded, a, widths, Const(k.Str, mode), Const(k.Bool, how.value == "odd"))
    return Call(padded, a, widths, Const(k.Str, mode), Const(NoneType, None))


def _no_sequence(a):
    raise NotNative(f"np.pad of {a_type(a.type)} with keywords is not compiled", "make an array of it")


def _no_broadcast(x, ndim):
    rows = elements(x)
    shape = f"({len(rows)},{len(elements(rows[0]))})" if is_sequence(rows[0].type) else f"({len(rows)},)"
    return (f"operands could not be broadcast together with remapped shapes [original->remapped]: {shape}  and "
            f"requested shape ({ndim},2)")


def pad_sequence(array, pad_width, mode):
    return np.pad(np.asarray(array), pad_width, mode)


def as_numpy(x):
    return np.asarray(x)[()]


def checked(pairs, j):
    if j == len(pairs):
        return ()
    return ((natural(pairs[j][0]), natural(pairs[j][1])),) + checked(pairs, j + 1)


def natural(n):
    if n is None:
        return None
    if n < 0:
        raise ValueError("index can't contain negative values")
    return int(n)


# ---------------------------------------------------------------- one axis after the other


def wide_shape(shape, widths, j):
    if j == len(shape):
        return ()
    return (shape[j] + widths[j][0] + widths[j][1],) + wide_shape(shape, widths, j + 1)


def middle(out, shape, widths, j):
    """The part of the result whose axes from j on have the lengths of the operand."""
    if j == len(shape):
        return out
    return middle(window(out, j, widths[j][0], widths[j][0] + shape[j]), shape, widths, j + 1)


@outlined
def padded(a, widths, mode, values):
    out = np.empty(wide_shape(a.shape, widths, 0), a.dtype, order="F" if is_fortran(a) else "C")
    middle(out, a.shape, widths, 0)[...] = a
    if mode == "empty":
        return out
    if mode != "constant" and a.size == 0:
        check_extended(a.shape, widths, 0)
        return out
    pad_axes(out, a.shape, widths, mode, values, 0)
    return out


def check_extended(shape, widths, j):
    if j < len(shape):
        if shape[j] == 0 and (widths[j][0] > 0 or widths[j][1] > 0):
            raise ValueError(f"can't extend empty axis {j} using modes other than 'constant' or 'empty'")
        check_extended(shape, widths, j + 1)


def pad_axes(out, shape, widths, mode, values, j):
    if j < len(shape):
        part = middle(out, shape, widths, j + 1)
        left, right = widths[j]
        rows = np.moveaxis(part, j, 0)
        if mode == "constant":
            set_rows(rows, 0, left, as_element(values[j][0], out.dtype))
            set_rows(rows, len(rows) - right, len(rows), as_element(values[j][1], out.dtype))
        elif mode == "edge":
            extend(rows, left, right)
        elif mode == "wrap":
            wrap(rows, left, right, shape[j])
        elif mode == "linear_ramp":
            ramp(rows, left, right, values[j])
        elif mode == "reflect" or mode == "symmetric":
            reflect(rows, left, right, shape[j], mode == "symmetric", values)
        else:
            statistics(part, rows, j, left, right, mode, values[j])
        pad_axes(out, shape, widths, mode, values, j + 1)


def set_rows(rows, start, stop, value):
    for i in range(start, stop):
        rows[i] = value


def extend(rows, left, right):
    set_rows(rows, 0, left, rows[left])
    last = len(rows) - right
    set_rows(rows, last, len(rows), rows[last - 1])


def wrap(rows, left, right, n):
    for i in range(left):
        rows[i] = rows[left + (i - left) % n]
    for i in range(left + n, len(rows)):
        rows[i] = rows[left + (i - left) % n]


def ramp(rows, left, right, ends):
    if left > 0:
        rows[:left] = np.linspace(ends[0], rows[left], left, endpoint=False, dtype=rows.dtype)
    if right > 0:
        last = len(rows) - right
        rows[last:] = np.linspace(ends[1], rows[last - 1], right, endpoint=False, dtype=rows.dtype)[::-1]


def reflect(rows, left, right, period, edge, odd):
    """Fill both sides with mirror images of the rows that are there, again and again until they are full.
    edge: whether the last row is part of its mirror image."""
    if period == 1:
        extend(rows, left, right)
    else:
        while left > 0 or right > 0:
            length = len(rows) - left - right
            length = length // period * period if edge else (length - 1) // (period - 1) * (period - 1)
            skip = 0 if edge else 1
            first, last = left, len(rows) - right - 1
            count = min(length, left)
            for i in range(count):
                rows[first - 1 - i] = mirrored(rows[first], rows[first + skip + i], odd)
            left -= count
            count = min(length, right)
            for i in range(count):
                rows[last + 1 + i] = mirrored(rows[last], rows[last - skip - i], odd)
            right -= count


def mirrored(edge, x, odd):
    return 2 * edge - x if odd else x


def statistics(part, rows, axis, left, right, mode, lengths):
    n = len(rows) - left - right
    before = n if lengths[0] is None else min(n, lengths[0])
    after = n if lengths[1] is None else min(n, lengths[1])
    if (before == 0 or after == 0) and (mode == "maximum" or mode == "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    first = statistic(window(part, axis, left, left + before), axis, mode)
    set_rows(rows, 0, left, whole(first, rows.dtype))
    if before != n or after != n:
        first = statistic(window(part, axis, left + n - after, left + n), axis, mode)
    set_rows(rows, left + n, len(rows), whole(first, rows.dtype))


def statistic(a, axis, mode):
    if mode == "maximum":
        return np.max(a, axis)
    if mode == "minimum":
        return np.min(a, axis)
    if mode == "mean":
        return np.mean(a, axis)
    return np.median(a, axis)


def whole(x, dtype):
    """The value rounded where the elements are integers."""
    if np.empty(0, dtype).dtype.kind == "i" or np.empty(0, dtype).dtype.kind == "u":
        return x if x.dtype.kind == "i" or x.dtype.kind == "u" else np.round(x)
    return x


def by_function(a, widths, function):
    out = np.zeros(wide_shape(a.shape, widths, 0), a.dtype)
    middle(out, a.shape, widths, 0)[...] = a
    call_along(out, widths, function, 0)
    return out


def call_along(out, widths, function, j):
    if j < out.ndim:
        call_each(np.moveaxis(out, j, -1), widths[j], j, function)
        call_along(out, widths, function, j + 1)


def call_each(rows, widths, axis, function):
    if rows.ndim == 1:
        function(rows, widths, axis, {})
    else:
        for i in range(len(rows)):
            call_each(rows[i], widths, axis, function)


CALLS = {np.pad: _pad}
METHODS = {}
