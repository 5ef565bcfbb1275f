"""Lists whose items are stored in arrays: functions in the compiled subset to which passes/derivatives/owned.py adds
calls by name; and list operations for lists whose items that pass stores in arrays later.

`n` is the length of the list; `items` may be longer. Items that are arrays are in `items` one after the other; row i of
`places`, which has `width` numbers, is the position of the first element of item i, and its shape.
"""
from __future__ import annotations

import numpy as np

from .build import flagged

__all__ = ["added", "as_dtype", "clear_list", "concatenated", "concatenated_at_1", "concatenated_at_2",
           "concatenated_at_3", "delete", "extended", "find_key", "index", "insert", "item", "item_by_columns",
           "key_at", "key_index", "last", "length_of", "list_of", "moved", "part", "place", "place_behind",
           "place_of", "place_of_last", "place_to_set", "pop_at", "put", "put_every", "repeated", "reverse", "room",
           "same_size", "set_index", "size_of_list", "sort", "stacked", "stacked_at_1", "stacked_at_end",
           "with_array", "with_key", "with_list", "with_place", "with_room", "with_slot"]


def room(items, used, more):
    """The items, with room for more."""
    if used + more <= len(items):
        return items
    new = np.empty(2 * (used + more), items.dtype)
    new[:used] = items[:used]
    return new


def put(items, i, x):
    items[i] = x


@flagged(raises=True)
def index(i, n):
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError("list index out of range")
    return i


@flagged(raises=True)
def set_index(i, n):
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError("list assignment index out of range")
    return i


@flagged(raises=True)
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


def item_by_columns(items, first, shape):
    return item(items, first, shape).T.copy().T


def size_of(shape):
    size = 1
    for n in shape:
        size *= n
    return size


@flagged(raises=True)
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


@flagged(raises=True)
def stacked_at_1(items, places, n, shape):
    return np.ascontiguousarray(np.moveaxis(stacked(items, places, n, shape), 0, 1))


@flagged(raises=True)
def stacked_at_end(items, places, n, shape):
    return np.ascontiguousarray(np.moveaxis(stacked(items, places, n, shape), 0, -1))


@flagged(raises=True)
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


@flagged(raises=True)
def concatenated_at_1(items, places, n, shape):
    return concatenated_at(items, places, n, shape, 1)


@flagged(raises=True)
def concatenated_at_2(items, places, n, shape):
    return concatenated_at(items, places, n, shape, 2)


@flagged(raises=True)
def concatenated_at_3(items, places, n, shape):
    return concatenated_at(items, places, n, shape, 3)


def concatenated_at(items, places, n, shape, along):
    """The items joined along an axis. Their lengths along all other axes must be those of `shape`."""
    width, rows, rest, count = 1 + len(shape), size_of(shape[:along]), size_of(shape[along + 1:]), 0
    for i in range(n):
        for axis in range(len(shape)):
            if axis != along and places[i * width + 1 + axis] != shape[axis]:
                raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        count += int(places[i * width + 1 + along])
    found, at = np.empty((rows, count * rest), items.dtype), 0
    for i in range(n):
        first, columns = int(places[i * width]), int(places[i * width + 1 + along]) * rest
        found[:, at:at + columns] = items[first:first + rows * columns].reshape(rows, columns)
        at += columns
    return found.reshape(shape[:along] + (count,) + shape[along + 1:])


@flagged(raises=True)
def some(n):
    if n == 0:
        raise ValueError("need at least one array to stack")
    return n


@flagged(raises=True)
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


def insert(x, i, item):
    """x.insert(i, item)"""
    n = len(x)
    i = max(i + n, 0) if i < 0 else min(i, n)
    x.append(item)
    for j in range(n, i, -1):
        x[j] = x[j - 1]
    x[i] = item


def pop_at(x, i):
    """x.pop(i)"""
    n = len(x)
    if n == 0:
        raise IndexError("pop from empty list")
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError("pop index out of range")
    item = x[i]
    close_gap(x, i)
    return item


def delete(x, i):
    """del x[i]"""
    close_gap(x, set_index(i, len(x)))


def close_gap(x, i):
    for j in range(i, len(x) - 1):
        x[j] = x[j + 1]
    x.pop()


def reverse(x):
    """x.reverse()"""
    n = len(x)
    for i in range(n // 2):
        x[i], x[n - 1 - i] = x[n - 1 - i], x[i]


def clear_list(x):
    """x.clear()"""
    while len(x) > 0:
        x.pop()


def sort(x, reverse):
    """x.sort(reverse=reverse) of numbers. The derivative is that of the order that the items have."""
    n = len(x)
    items = np.empty(n)
    for i in range(n):
        items[i] = -x[i] if reverse else x[i]
    order = np.argsort(items, kind="stable")
    found = []
    for i in range(n):
        found.append(x[order[i]])
    for i in range(n):
        x[i] = found[i]


# -- dicts: `keys` has the keys in their order, and `slots` the positions in `keys`, from 1, where they are searched


def find_key(keys, slots, key):
    """The position of a key, or -1."""
    at = slot_of(slots, key)
    while slots[at] != 0:
        if keys[slots[at] - 1] == key:
            return int(slots[at]) - 1
        at = (at + 1) & (len(slots) - 1)
    return -1


def slot_of(slots, key):
    return (key ^ (key >> 7) ^ (key >> 16)) & (len(slots) - 1)


@flagged(raises=True)
def key_index(i, key):
    if i < 0:
        raise KeyError(key)
    return i


def key_at(keys, i):
    return int(keys[i])


@flagged(raises=True)
def same_size(n, used):
    if n != used:
        raise RuntimeError("dictionary changed size during iteration")


def with_key(keys, n, new, key):
    """The n keys, and one more if it is new."""
    if new:
        keys = room(keys, n, 1)
        keys[n] = key
    return keys


def with_slot(slots, keys, n, new, key):
    """The table with the position of key n, if it is new."""
    if not new:
        return slots
    if 2 * (n + 1) > len(slots):
        slots = np.zeros(2 * len(slots), np.int64)
        for i in range(n):
            fill_slot(slots, int(keys[i]), i)
    fill_slot(slots, key, n)
    return slots


def fill_slot(slots, key, i):
    at = slot_of(slots, key)
    while slots[at] != 0:
        at = (at + 1) & (len(slots) - 1)
    slots[at] = i + 1


# -- many lists in one array: `heads` has the start, the length and the room of each list


def size_of_list(n, times):
    return n * max(times, 0)


def with_list(heads, number, start, size):
    """The heads with that of a new list, which has room for four more items."""
    heads = room(heads, 3 * number, 3)
    heads[3 * number] = start
    heads[3 * number + 1] = size
    heads[3 * number + 2] = size + 4
    return heads


def put_every(items, first, step, times, x):
    for i in range(times):
        items[first + i * step] = x


def length_of(heads, number):
    return int(heads[3 * number + 1])


@flagged(raises=True)
def place_of(heads, number, i):
    return int(heads[3 * number]) + index(i, int(heads[3 * number + 1]))


@flagged(raises=True)
def place_to_set(heads, number, i):
    return int(heads[3 * number]) + set_index(i, int(heads[3 * number + 1]))


@flagged(raises=True)
def place_of_last(heads, number):
    """Remove the last item of a list, and return its place."""
    n = last(int(heads[3 * number + 1]))
    heads[3 * number + 1] = n
    return int(heads[3 * number]) + n


def moved(items, heads, number, used):
    """The items, in which those of a list that has no more room are copied to the end."""
    n = int(heads[3 * number + 1])
    if n < heads[3 * number + 2]:
        return items
    start = int(heads[3 * number])
    items = room(items, used, 2 * n)
    items[used:used + n] = items[start:start + n]
    return items


def with_room(heads, number, used):
    """Record that a list has been moved if it had no more room; returns the number of places in use by all lists."""
    n = int(heads[3 * number + 1])
    if n < heads[3 * number + 2]:
        return used
    heads[3 * number] = used
    heads[3 * number + 2] = 2 * n
    return used + 2 * n


def place_behind(heads, number):
    """Make the list longer by one item, and return the place of that item."""
    n = int(heads[3 * number + 1])
    heads[3 * number + 1] = n + 1
    return int(heads[3 * number]) + n
