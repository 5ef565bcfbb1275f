"""Lists whose items are stored in arrays: functions in the compiled subset to which passes/derivatives/owned.py adds
calls by name; and list operations for lists whose items that pass stores in arrays later.

`n` is the length of the list; `items` may be longer. Items that are arrays are in `items` one after the other; row i of
`places`, which has `width` numbers, is the position of the first element of item i, and its shape.
"""
from __future__ import annotations

import numpy as np

__all__ = ["added", "as_dtype", "concatenated", "extended", "index", "item", "last", "list_of", "part", "place", "put",
           "repeated", "room", "set_index", "stacked", "stacked_at_1", "stacked_at_end", "with_array", "with_place"]


def room(items, used, more):
    """The items, with room for more."""
    if used + more <= len(items):
        return items
    new = np.empty(2 * (used + more), items.dtype)
    new[:used] = items[:used]
    return new


def put(items, i, x):
    items[i] = x


def index(i, n):
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError("list index out of range")
    return i


def set_index(i, n):
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError("list assignment index out of range")
    return i


def last(n):
    if n == 0:
        raise IndexError("pop from empty list")
    return n - 1


def repeated(items, n, times):
    """The items of `list * times`."""
    found = np.empty(n * max(times, 0), items.dtype)
    for i in range(len(found)):
        found[i] = items[i % n]
    return found


def as_dtype(items, n, dtype):
    """np.array of the list."""
    return items[:n].astype(dtype)


# -- items that are arrays


def with_array(items, used, x):
    """The items with the elements of another array behind them."""
    items = room(items, used, x.size)
    items[used:used + x.size] = x.reshape(-1)
    return items


def with_place(places, i, used, shape):
    """The places with that of item i, which begins at `used`."""
    width = 1 + len(shape)
    places = room(places, i * width, width)
    places[i * width] = used
    for axis in range(len(shape)):
        places[i * width + 1 + axis] = shape[axis]
    return places


def place(places, i, width, k):
    return int(places[i * width + k])


def item(items, first, shape):
    """A copy of an item."""
    return items[first:first + size_of(shape)].reshape(shape).copy()


def size_of(shape):
    size = 1
    for n in shape:
        size *= n
    return size


def stacked(items, places, n, shape):
    """The items, which must have this shape, along a new first axis."""
    width, size = 1 + len(shape), size_of(shape)
    found = np.empty(n * size, items.dtype)
    for i in range(n):
        for axis in range(len(shape)):
            if places[i * width + 1 + axis] != shape[axis]:
                raise ValueError("all input arrays must have the same shape")
        first = int(places[i * width])
        found[i * size:(i + 1) * size] = items[first:first + size]
    return found.reshape((n,) + shape)


def stacked_at_1(items, places, n, shape):
    return np.ascontiguousarray(np.moveaxis(stacked(items, places, n, shape), 0, 1))


def stacked_at_end(items, places, n, shape):
    return np.ascontiguousarray(np.moveaxis(stacked(items, places, n, shape), 0, -1))


def concatenated(items, places, n, shape):
    """The items joined along the first axis. Their lengths along all other axes must be those of `shape`."""
    width, rest, rows = 1 + len(shape), size_of(shape[1:]), 0
    for i in range(n):
        for axis in range(1, len(shape)):
            if places[i * width + 1 + axis] != shape[axis]:
                raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        rows += int(places[i * width + 1])
    found, at = np.empty(rows * rest, items.dtype), 0
    for i in range(n):
        first, size = int(places[i * width]), int(places[i * width + 1]) * rest
        found[at:at + size] = items[first:first + size]
        at += size
    return found.reshape((rows,) + shape[1:])


def some(n):
    if n == 0:
        raise ValueError("need at least one array to stack")
    return n


def some_to_join(n):
    if n == 0:
        raise ValueError("need at least one array to concatenate")
    return n


# -- operations of lists, for lists whose items are put into arrays afterwards


def added(x, y):
    """x + y"""
    found = []
    for item in x:
        found.append(item)
    for item in y:
        found.append(item)
    return found


def extended(x, y):
    """x += y; the items of y are counted first, since y may be x."""
    for i in range(len(y)):
        x.append(y[i])
    return x


def list_of(x):
    """list(x)"""
    found = []
    for item in x:
        found.append(item)
    return found


def part(x, at):
    """x[at] of a slice."""
    found = []
    for i in range(*at.indices(len(x))):
        found.append(x[i])
    return found
