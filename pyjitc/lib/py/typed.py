"""The methods of the containers of `pyjitc.typed`, in the compiled subset: functions of a native list or table, which
their objects own (owned.py). Messages and orders are CPython's."""
from __future__ import annotations

import sys

from ...infer.meaning import Apply, Call
from ...ops.localtables import LOCAL_CLAIM, LOCAL_GET, LOCAL_LEN, LOCAL_REMOVE, LOCAL_STORE
from ...ops.natives import NATIVE_LEN
from ...ops.owned import OWNED_GET, OWNED_KEY, OWNED_LAST, OWNED_NEXT, OWNED_SLOT
from ...ops.structure import PACK, STRUCT_GET
from ..build import unpolled
from ..intrinsics import NOTHING
from ..protocol import Protocol, State
from ..rule import intrinsic
from . import natives
from .owned import (
    as_item, as_value, begin, can_ask, delete, empty, extend, found, has_references, is_dict, is_like, is_list, is_set,
    item_at, like, native, put_at, slot_of, sought, whole,
)

__all__ = ["PROTOCOLS", "Dict", "List", "Set", "items_of_list", "items_of_set", "keys_of_dict", "view_of_items",
           "view_of_keys", "view_of_values"]


class List:
    def _begin(self):
        begin(self)

    def __init__(self, items=()):
        begin(self)
        natives.clear(native(self))
        extend(self, items)

    def __len__(self):
        return NATIVE_LEN(native(self))

    def __bool__(self):
        return NATIVE_LEN(native(self)) > 0

    def __getitem__(self, i):
        return item_at(self, i)

    def __setitem__(self, i, value):
        put_at(self, i, value)

    def __delitem__(self, i):
        delete(self, i)

    # The interpreter runs this generator as it is.
    def __reversed__(self):
        i = len(self) - 1
        while 0 <= i < len(self):
            yield self[i]
            i -= 1

    def __contains__(self, value):
        return natives.contains(native(self), sought(self, value))

    def __eq__(self, other):
        if is_like(self, other):
            return natives.equal(native(self), native(other))
        if is_list(other):
            return equal_to(self, other)
        return NotImplemented

    def __lt__(self, other):
        return natives.less(native(self), native(other)) if is_like(self, other) else NotImplemented

    def __le__(self, other):
        return natives.not_greater(native(self), native(other)) if is_like(self, other) else NotImplemented

    def __gt__(self, other):
        return natives.greater(native(self), native(other)) if is_like(self, other) else NotImplemented

    def __ge__(self, other):
        return natives.not_less(native(self), native(other)) if is_like(self, other) else NotImplemented

    def __add__(self, other):
        if is_like(self, other) or is_list(other):
            made = self.copy()
            extend(made, other)
            return made
        return NotImplemented

    def __iadd__(self, other):
        extend(self, other)
        return self

    def __mul__(self, n):
        made = self.copy()
        natives.repeat(native(made), whole(n))
        return made

    def __rmul__(self, n):
        made = self.copy()
        natives.repeat(native(made), whole(n))
        return made

    def __imul__(self, n):
        natives.repeat(native(self), whole(n))
        return self

    def append(self, item, /):
        natives.push(native(self), as_item(self, item))

    def extend(self, items, /):
        extend(self, items)

    def insert(self, i, item, /):
        natives.insert(native(self), whole(i), as_item(self, item))

    def pop(self, i=-1, /):
        return natives.pop(native(self), whole(i))

    def remove(self, value, /):
        natives.remove(native(self), sought(self, value))

    def clear(self):
        natives.clear(native(self))

    def copy(self):
        made = like(self)
        natives.extend_by(native(made), native(self))
        return made

    def index(self, value, start=0, stop=sys.maxsize, /):
        return natives.index(native(self), sought(self, value), whole(start), whole(stop))

    def count(self, value, /):
        return natives.count(native(self), sought(self, value))

    def reverse(self):
        natives.reverse(native(self))

    def sort(self, *, key=None, reverse=False):
        if key is not None:
            items = self.tolist()
            items.sort(key=key, reverse=reverse)
            made = like(self)
            extend(made, items)
            replace(self, native(made))
        elif has_references(self):
            made = natives.copied(native(self))
            natives.sort(made, bool(reverse))
            replace(self, made)
        else:
            natives.sort(native(self), bool(reverse))

    def tolist(self):
        """A list of Python's with the items."""
        return [item for item in self]


def items_of_list(x):
    return PACK(x, 0, name="typed_list_iterator")


def step_of_list(s):
    i = STRUCT_GET(s, field="1")
    if i < NATIVE_LEN(iterated(s)):
        return True, natives.get(iterated(s), i), moved_to(s, i + 1)
    return False, NOTHING, s


@intrinsic
def iterated(s):
    """The native list or table over which an iterator runs."""
    return Apply(OWNED_GET, Apply(STRUCT_GET, s, field="0"))


@intrinsic
def moved_to(s, position):
    """The state `s` of an iterator, of which the last field is the position, at another position."""
    *kept, _ = [Apply(STRUCT_GET, s, field=name) for name, _ in s.type.members]
    return Apply(PACK, *kept, position, name=s.type.name)


@unpolled
def replace(x, items):
    """Replace the items by `items`, a native list that has them in order."""
    n = NATIVE_LEN(items)
    if NATIVE_LEN(native(x)) != n:
        raise ValueError("list modified during sort")
    for i in range(n):
        natives.put(native(x), i, natives.get(items, i))


def equal_to(x, y):
    if len(x) != len(y):
        return False
    for i in range(len(y)):
        if x[i] != y[i]:
            return False
    return True


class _Table:
    """The methods that dicts and sets share."""

    def _begin(self):
        begin(self)

    def __init__(self, items=()):
        begin(self)
        empty(native(self))
        self.update(items)

    def __len__(self):
        return LOCAL_LEN(native(self))

    def __bool__(self):
        return LOCAL_LEN(native(self)) > 0

    def __contains__(self, key):
        return slot_of(self, key) >= 0

    def __ior__(self, other):
        self.update(other)
        return self

    def clear(self):
        empty(native(self))

    def copy(self):
        made = like(self)
        made.update(self)
        return made


class Dict(_Table):
    def __getitem__(self, key):
        key = found(self, key)
        return LOCAL_GET(native(self), OWNED_SLOT(native(self), key), key)

    def __setitem__(self, key, value):
        put(self, as_item(self, key), as_value(self, value))

    def __delitem__(self, key):
        key = found(self, key)
        LOCAL_REMOVE(native(self), OWNED_SLOT(native(self), key), key, must=True)

    def __eq__(self, other):
        if is_dict(other):
            if len(self) != len(other):
                return False
            if not can_ask(self, other):
                return len(self) == 0
            for key in self:
                if key not in other or other[key] != self[key]:
                    return False
            return True
        return NotImplemented

    def __or__(self, other):
        if is_dict(other):
            made = self.copy()
            made.update(other)
            return made
        return NotImplemented

    def get(self, key, default=None, /):
        at = slot_of(self, key)
        if at < 0:
            return default
        return LOCAL_GET(native(self), at, OWNED_KEY(native(self), at))

    def setdefault(self, key, default, /):
        key, value = as_item(self, key), as_value(self, default)
        at = OWNED_SLOT(native(self), key)
        if at < 0:
            put(self, key, value)
            return value
        return LOCAL_GET(native(self), at, key)

    def pop(self, key, /, *default):
        at = slot_of(self, key)
        if len(default) > 1:
            raise TypeError(f"pop expected at most 2 arguments, got {1 + len(default)}")
        if len(default) == 1:
            if at < 0:
                return default[0]
        key = found(self, key)
        value = LOCAL_GET(native(self), at, key)
        LOCAL_REMOVE(native(self), at, key, must=False)
        return value

    def popitem(self):
        at = OWNED_LAST(native(self))
        if at < 0:
            raise KeyError("popitem(): dictionary is empty")
        key = OWNED_KEY(native(self), at)
        value = LOCAL_GET(native(self), at, key)
        LOCAL_REMOVE(native(self), at, key, must=False)
        return key, value

    def update(self, items=(), /):
        if is_dict(items):
            for key, value in items.items():
                put(self, as_item(self, key), as_value(self, value))
        else:
            for key, value in items:
                put(self, as_item(self, key), as_value(self, value))

    def todict(self):
        """A dict of Python's with the same items."""
        return dict(self.items())

    def _following(self, at, size):
        """(the slot after the next key, that key), for the interpreter's iterator."""
        at = following(self, at, size, DICT_CHANGED)
        return at + 1, OWNED_KEY(native(self), at)


DICT_CHANGED, SET_CHANGED = "dictionary changed size during iteration", "Set changed size during iteration"


def put(x, key, value):
    at = LOCAL_CLAIM(native(x), OWNED_SLOT(native(x), key), key)
    LOCAL_STORE(native(x), at, value)


def slot_from(x, at, size, message):
    """The slot of the next key from `at` on, -1 where there is none. size: the number of keys that there must be."""
    if LOCAL_LEN(native(x)) != size:
        raise RuntimeError(message)
    return OWNED_NEXT(native(x), at)


def next_slot(s, message):
    """The slot of the key at which an iterator is, or of the next one; -1 where there is none."""
    return slot_from(STRUCT_GET(s, field="0"), STRUCT_GET(s, field="2"), STRUCT_GET(s, field="1"), message)


def following(x, at, size, message):
    """The slot of the next key from `at` on, for the interpreter's iterator: StopIteration where there is none."""
    at = slot_from(x, max(at, 0), size, message)
    if at < 0:
        raise StopIteration
    return at


def view_of_keys(x):
    return PACK(x, name="typed_dict_keys")


def view_of_values(x):
    return PACK(x, name="typed_dict_values")


def view_of_items(x):
    return PACK(x, name="typed_dict_items")


class View(Protocol):
    """A view of a dict: of its keys, values or items. `function`: the library function that starts an iteration."""

    def __init__(self, function):
        self.function = function

    def length(self, x):
        return Call(Dict.__len__, self.of(x))

    def truth(self, x):
        return Call(Dict.__bool__, self.of(x))

    def iterate(self, x):
        return Call(self.function, self.of(x))

    def contains(self, x, item):
        if self.function is keys_of_dict:
            return Call(Dict.__contains__, self.of(x), item)
        return super().contains(x, item)

    def of(self, x):
        return Apply(STRUCT_GET, x, field="0")


def keys_of_dict(x):
    return PACK(x, LOCAL_LEN(native(x)), 0, name="typed_dict_keyiterator")


def step_of_keys(s):
    at = next_slot(s, DICT_CHANGED)
    if at >= 0:
        return True, OWNED_KEY(iterated(s), at), moved_to(s, at + 1)
    return False, NOTHING, s


def values_of_dict(x):
    return PACK(x, LOCAL_LEN(native(x)), 0, name="typed_dict_valueiterator")


def step_of_values(s):
    at = next_slot(s, DICT_CHANGED)
    if at >= 0:
        return True, LOCAL_GET(iterated(s), at, OWNED_KEY(iterated(s), at)), moved_to(s, at + 1)
    return False, NOTHING, s


def items_of_dict(x):
    return PACK(x, LOCAL_LEN(native(x)), 0, name="typed_dict_itemiterator")


def step_of_items(s):
    at = next_slot(s, DICT_CHANGED)
    if at >= 0:
        key = OWNED_KEY(iterated(s), at)
        return True, (key, LOCAL_GET(iterated(s), at, key)), moved_to(s, at + 1)
    return False, NOTHING, s


class Set(_Table):
    def __eq__(self, other):
        if is_set(other):
            if not can_ask(self, other):
                return len(self) == len(other) == 0
            return len(self) == len(other) and has_all(other, self)
        return NotImplemented

    def __le__(self, other):
        if is_set(other):
            return len(self) <= len(other) and has_all(other, self)
        return NotImplemented

    def __lt__(self, other):
        if is_set(other):
            return len(self) < len(other) and has_all(other, self)
        return NotImplemented

    def __ge__(self, other):
        if is_set(other):
            return len(self) >= len(other) and has_all(self, other)
        return NotImplemented

    def __gt__(self, other):
        if is_set(other):
            return len(self) > len(other) and has_all(self, other)
        return NotImplemented

    def __or__(self, other):
        return self.union(other) if is_set(other) else NotImplemented

    def __and__(self, other):
        return self.intersection(other) if is_set(other) else NotImplemented

    def __sub__(self, other):
        return self.difference(other) if is_set(other) else NotImplemented

    def __xor__(self, other):
        return self.symmetric_difference(other) if is_set(other) else NotImplemented

    def __isub__(self, other):
        self.difference_update(other)
        return self

    def __iand__(self, other):
        self.intersection_update(other)
        return self

    def __ixor__(self, other):
        self.symmetric_difference_update(other)
        return self

    def add(self, item, /):
        add(self, as_item(self, item))

    def discard(self, item, /):
        at = slot_of(self, item)
        if at >= 0:
            LOCAL_REMOVE(native(self), at, OWNED_KEY(native(self), at), must=False)

    def remove(self, item, /):
        item = found(self, item)
        LOCAL_REMOVE(native(self), OWNED_SLOT(native(self), item), item, must=True)

    def pop(self):
        at = OWNED_LAST(native(self))
        if at < 0:
            raise KeyError("pop from an empty set")
        item = OWNED_KEY(native(self), at)
        LOCAL_REMOVE(native(self), at, item, must=False)
        return item

    def update(self, items=(), /):
        for item in items:
            add(self, as_item(self, item))

    def union(self, other, /):
        made = self.copy()
        made.update(other)
        return made

    def intersection(self, other, /):
        made = like(self)
        for item in other:
            if item in self:
                made.add(item)
        return made

    def difference(self, other, /):
        made = self.copy()
        made.difference_update(other)
        return made

    def symmetric_difference(self, other, /):
        made = self.copy()
        made.symmetric_difference_update(other)
        return made

    def difference_update(self, other, /):
        if is_like(self, other):
            if self is other:
                self.clear()
                return
        for item in other:
            self.discard(item)

    def intersection_update(self, other, /):
        kept = self.intersection(other)
        self.clear()
        self.update(kept)

    def symmetric_difference_update(self, other, /):
        own = like(self)
        own.update(other)
        for item in own:
            if item in self:
                self.discard(item)
            else:
                self.add(item)

    def isdisjoint(self, other, /):
        for item in other:
            if item in self:
                return False
        return True

    def issubset(self, other, /):
        own = like(self)
        own.update(other)
        return has_all(own, self)

    def issuperset(self, other, /):
        return has_all(self, other)

    def toset(self):
        """A set of Python's with the same items."""
        return set(self)

    def _following(self, at, size):
        """(the slot after the next item, that item), for the interpreter's iterator."""
        at = following(self, at, size, SET_CHANGED)
        return at + 1, OWNED_KEY(native(self), at)


def add(x, item):
    LOCAL_CLAIM(native(x), OWNED_SLOT(native(x), item), item)


def has_all(x, items):
    for item in items:
        if item not in x:
            return False
    return True


def items_of_set(x):
    return PACK(x, LOCAL_LEN(native(x)), 0, name="typed_set_iterator")


def step_of_set(s):
    at = next_slot(s, SET_CHANGED)
    if at >= 0:
        return True, OWNED_KEY(iterated(s), at), moved_to(s, at + 1)
    return False, NOTHING, s


PROTOCOLS = {"typed_list_iterator": State(step_of_list), "typed_dict_keyiterator": State(step_of_keys),
             "typed_dict_valueiterator": State(step_of_values), "typed_dict_itemiterator": State(step_of_items),
             "typed_set_iterator": State(step_of_set), "typed_dict_keys": View(keys_of_dict),
             "typed_dict_values": View(values_of_dict), "typed_dict_items": View(items_of_dict)}
