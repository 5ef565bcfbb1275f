"""The variables that stand for the contents of a list, a dict or an object: see owned.py."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.core import Inst, Value
from ...ops import arith as a
from ...ops import containers as lists
from ...ops import control as c
from ...ops import memory as mem
from ...ops import structure as s
from ...ops import tables
from ...ops.pyobject import PY_BOX, PY_UNBOX
from ...types import kinds as k
from ...types.lattice import dtype_of, type_of_dtype
from ...types.tangents import is_number_that_varies
from ...ir.variables import Variable, read, write

__all__ = ["DictVariables", "ListVariables", "PoolVariables", "RecordVariables", "constant_of",
           "fits", "holds_arrays", "joined", "leaves_of", "may_vary"]


def constant_of(x: Value):
    """The value of a constant, also of one that is boxed; other values are returned unchanged."""
    made = x.inst
    if made is not None and made.op is PY_BOX:
        made = made.args[0].inst
    return made.attrs["value"] if made is not None and made.op is c.CONST else x


def joined(types):
    """The union among these types whose members include all other types."""
    return next((t for t in types if type(t) is k.Union and all(x is t or x in t.members for x in types)), None)


def fits(t, wanted) -> bool:
    """Whether a value of type t can be stored where items have the type `wanted`."""
    if type(wanted) is k.Array and type(t) is k.Array and wanted.layout == "A":
        return t.dtype is wanted.dtype and t.ndim == wanted.ndim
    return t is wanted or type(wanted) is k.Union and t in wanted.members


def leaves_of(t) -> Any:
    """The types of the numbers and arrays of which an item consists; None where it has other parts. For a union the
    first is the type of the number of the member."""
    if type(t) is k.Tuple:
        parts = [leaves_of(part) for part in t.elements]
        return None if any(part is None for part in parts) else [x for part in parts for x in part or ()]
    if type(t) is k.Union:
        return [k.Int, k.float64] if all(k.is_float(m) and dtype_of(m) == np.float64 for m in t.members) else None
    if type(t) is k.Array:
        ok = t.ndim and is_number_that_varies(t.dtype)
        return [t] if ok else None
    return [t] if k.is_float(t) or k.is_complex(t) or t is k.Int or t is k.Bool else None


def may_vary(t) -> bool:
    return is_number_that_varies(t.dtype if type(t) is k.Array else t)


def holds_arrays(t) -> bool:
    return any(type(x) is k.Array for x in leaves_of(t) or ())


def _element(t):
    """The element type of the array that stores one part of the items."""
    if type(t) is k.Array:
        return t.dtype
    return k.int64 if t is k.Int or t is k.Bool else type_of_dtype(dtype_of(t)) if t in (k.Float, k.Complex) else t


class ListVariables:
    """The variables of a list."""

    def __init__(self, item, name, helpers):
        self.item, self.helpers = item, helpers
        self.leaves = leaves_of(item)
        self.n = Variable(f"{name}.n", k.Int)
        self.items = [Variable(f"{name}.items", k.Array(_element(t), 1)) for t in self.leaves]
        self.used: list[Any] = [Variable(f"{name}.used", k.Int) if type(t) is k.Array else None for t in self.leaves]
        self.places: list[Any] = [Variable(f"{name}.places", k.Array(k.int64, 1)) if type(t) is k.Array else None
                       for t in self.leaves]

    def call(self, b, name, *args):
        return b.call(self.helpers(f"listed:{name}", tuple([x.type for x in args])), *args)

    def run(self, b, inst, repeated):
        op = inst.op
        if op is lists.HOLDS:
            return None
        if op is PY_UNBOX:
            display, times, _ = repeated
            self.made(b, display.args)
            times = times.args[0] if times.op is PY_BOX else b.const(times.attrs["value"], k.Int)
            n = read(b, self.n)
            for items in self.items:
                write(b, items, self.call(b, "repeated", read(b, items), n, times))
            write(b, self.n, b.op(mem.ARRAY_DIM, read(b, self.items[0]), axis=0))
            return None
        if op is lists.LIST_NEW:
            self.made(b, inst.args)
        elif op is lists.LIST_LEN:
            return read(b, self.n)
        elif op is lists.LIST_APPEND:
            self.append(b, inst.args[1])
        elif op is lists.LIST_GET:
            return self.get(b, self.call(b, "index", inst.args[1], read(b, self.n)))
        elif op is lists.LIST_SET:
            self.put(b, self.call(b, "set_index", inst.args[1], read(b, self.n)), inst.args[2])
        else:
            i = self.call(b, "last", read(b, self.n))
            found = self.get(b, i)
            write(b, self.n, i)
            return found
        return None

    def made(self, b, given):
        zero = b.const(0, k.Int)
        room = b.const(len(given) + 4, k.Int)
        write(b, self.n, zero)
        for t, items, used, places in zip(self.leaves, self.items, self.used, self.places):
            write(b, items, b.op(mem.ARRAY_NEW, room, type=items.type, zero=True))
            if used is not None:
                write(b, used, zero)
                write(b, places, b.op(mem.ARRAY_NEW, zero, type=places.type, zero=True))
        for x in given:
            self.append(b, x)

    def reserve(self, b, n, more):
        """Make room for more items behind n of them."""
        for items, used in zip(self.items, self.used):
            if used is None:
                write(b, items, self.call(b, "room", read(b, items), n, more))

    def append(self, b, x):
        n = read(b, self.n)
        one = b.const(1, k.Int)
        self.reserve(b, n, one)
        self.put(b, n, x)
        write(b, self.n, b.op(a.IADD, n, one))

    def put(self, b, i, x):
        for t, x, items, used, places in zip(self.leaves, self.flat(b, x, self.item), self.items, self.used,
                                             self.places):
            if used is None:
                self.call(b, "put", read(b, items), i, x)
                continue
            at = read(b, used)
            write(b, items, self.call(b, "with_array", read(b, items), at, x))
            shape = [b.op(mem.ARRAY_DIM, x, axis=n) for n in range(t.ndim)]
            write(b, places, self.call(b, "with_place", read(b, places), i, at, b.op(s.TUPLE_MAKE, *shape, cls=None)))
            for size in shape[1:]:
                shape[0] = b.op(a.IMUL, shape[0], size)
            write(b, used, b.op(a.IADD, at, shape[0]))

    def get(self, b, i):
        found = []
        for t, items, places in zip(self.leaves, self.items, self.places):
            if places is None:
                x = b.op(mem.ARRAY_LOAD, read(b, items), i)
                found.append(b.op(a.INE, b.op(a.CAST, x, type=k.Int), b.const(0, k.Int)) if t is k.Bool
                             else b.cast(x, t))
            else:
                first, *shape = self.place(b, t, read(b, places), i)
                name = "item_by_columns" if t.layout == "F" else "item"
                x = self.call(b, name, read(b, items), first, b.op(s.TUPLE_MAKE, *shape, cls=None))
                found.append(x if x.type is t else b.op(s.RETYPE, x, type=t))
        return self.built(b, iter(found), self.item)

    def place(self, b, t, places, i):
        width = b.const(1 + t.ndim, k.Int)
        return [self.call(b, "place", places, i, width, b.const(n, k.Int)) for n in range(1 + t.ndim)]

    def joined(self, b, what, dtype, t):
        """An array of all items."""
        n, items = read(b, self.n), read(b, self.items[-1])
        if what == "as_dtype":
            wanted = b.op(c.CONST, type=k.DType(dtype), value=dtype_of(dtype))
            found = self.call(b, what, items, n, wanted)
        else:
            self.call(b, "some_to_join" if what.startswith("concatenated") else "some", n)
            places = read(b, self.places[0])
            shape = self.place(b, self.item, places, b.const(0, k.Int))[1:]
            found = self.call(b, what, items, places, n, b.op(s.TUPLE_MAKE, *shape, cls=None))
        return found if found.type is t else b.op(s.RETYPE, found, type=t)

    # -- items and their parts

    def flat(self, b, x, t) -> list[Value]:
        if type(t) is k.Tuple:
            return [y for n, part in enumerate(t.elements)
                    for y in self.flat(b, b.op(s.TUPLE_GET, x, index=n), part)]
        if type(t) is k.Union:
            if x.type is not t:
                return [b.const(t.members.index(x.type), k.Int), b.cast(x, k.float64)]
            number, value = b.const(0, k.Int), b.cast(b.op(s.UNION_GET, x, type=t.members[0]), k.float64)
            for n, m in list(enumerate(t.members))[1:]:
                test = _is_member(b, x, m)
                number = b.op(s.SELECT, test, b.const(n, k.Int), number)
                value = b.op(s.SELECT, test, b.cast(b.op(s.UNION_GET, x, type=m), k.float64), value)
            return [number, value]
        if type(t) is k.Array:
            return [x if x.type is t else b.op(s.RETYPE, x, type=t)]
        return [b.op(s.SELECT, x, b.const(1, k.Int), b.const(0, k.Int)) if t is k.Bool else x]

    def built(self, b, parts, t) -> Value:
        if type(t) is k.Tuple:
            return b.op(s.TUPLE_MAKE, *[self.built(b, parts, part) for part in t.elements], cls=t.cls)
        if type(t) is not k.Union:
            return next(parts)
        number, value = next(parts), next(parts)
        found = b.op(s.UNION_MAKE, b.cast(value, t.members[0]), type=t)
        for n, m in list(enumerate(t.members))[1:]:
            found = b.op(s.SELECT, b.op(a.IEQ, number, b.const(n, k.Int)),
                         b.op(s.UNION_MAKE, b.cast(value, m), type=t), found)
        return found


def _is_member(b, x, t) -> Value:
    found = Value(k.Bool)
    b.insts.append(Inst(s.UNION_IS, [x], {"type": t, **b.notes}, found, b.loc))
    return found


class PoolVariables(ListVariables):
    """The variables of several lists: the items of each are in `items`, from a start on and with some room; `heads` has
    (start, length, room) of each list."""

    def __init__(self, item, name, helpers):
        super().__init__(item, name, helpers)  # n: how many items have room
        self.heads = Variable(f"{name}.heads", k.Array(k.int64, 1))
        self.count = Variable(f"{name}.count", k.Int)

    def start(self, b):
        zero = b.const(0, k.Int)
        write(b, self.n, zero)
        write(b, self.count, zero)
        for variable in (self.heads, *self.items):
            write(b, variable, b.op(mem.ARRAY_NEW, zero, type=variable.type, zero=True))

    def made_by(self, b, inst, repeated):
        """The number of the list that an instruction makes."""
        if inst.op is s.UNDEF:
            return b.const(0, k.Int)
        if inst.op is lists.HOLDS:
            return inst.args[0]
        if repeated is None:
            return self.new(b, inst.args, b.const(1, k.Int))
        display, times, _ = repeated
        return self.new(b, display.args, times.args[0] if times.op is PY_BOX else b.const(times.attrs["value"], k.Int))

    def new(self, b, given, times):
        size = self.call(b, "size_of_list", b.const(len(given), k.Int), times)
        first, number = read(b, self.n), read(b, self.count)
        write(b, self.heads, self.call(b, "with_list", read(b, self.heads), number, first, size))
        for items in self.items:
            write(b, items, self.call(b, "room", read(b, items), first, b.op(a.IADD, size, b.const(4, k.Int))))
        write(b, self.n, b.op(a.IADD, first, b.op(a.IADD, size, b.const(4, k.Int))))
        write(b, self.count, b.op(a.IADD, number, b.const(1, k.Int)))
        step = b.const(len(given), k.Int)
        for n, x in enumerate(given):
            for part, items in zip(self.flat(b, x, self.item), self.items):
                self.call(b, "put_every", read(b, items), b.op(a.IADD, first, b.const(n, k.Int)), step, times, part)
        return number

    def run(self, b, inst, repeated):
        op, number, heads = inst.op, inst.args[0], read(b, self.heads)
        if op is lists.LIST_LEN:
            return self.call(b, "length_of", heads, number)
        if op is lists.LIST_GET:
            return self.get(b, self.call(b, "place_of", heads, number, inst.args[1]))
        if op is lists.LIST_SET:
            self.put(b, self.call(b, "place_to_set", heads, number, inst.args[1]), inst.args[2])
        elif op is lists.LIST_APPEND:
            used = read(b, self.n)
            for items in self.items:
                write(b, items, self.call(b, "moved", read(b, items), heads, number, used))
            write(b, self.n, self.call(b, "with_room", heads, number, used))
            self.put(b, self.call(b, "place_behind", heads, number), inst.args[1])
        else:
            return self.get(b, self.call(b, "place_of_last", heads, number))
        return None


class DictVariables(ListVariables):
    """The variables of a dict: those of the list of its values, the keys in the same order, and a table of positions
    in which keys are searched. Texts, which are constants, are keys by their numbers."""

    def __init__(self, t, name, helpers):
        super().__init__(t.values, name, helpers)
        self.keys = Variable(f"{name}.keys", k.Array(k.int64, 1))
        self.slots = Variable(f"{name}.slots", k.Array(k.int64, 1))
        self.texts: dict[str, int] | None = {} if t.keys is k.Str else None

    def run(self, b, inst, repeated):
        op = inst.op
        if op is tables.DICT_NEW:
            self.made(b, ())
            for variable, size in ((self.keys, 4), (self.slots, 8)):
                write(b, variable, b.op(mem.ARRAY_NEW, b.const(size, k.Int), type=variable.type, zero=True))
            for key, x in zip(inst.args[::2], inst.args[1::2]):
                self.set(b, key, x)
        elif op is tables.DICT_SET:
            self.set(b, *inst.args[1:])
        elif op is tables.DICT_LEN:
            return read(b, self.n)
        elif op is tables.DICT_NEXT:
            return self.step(b, inst)
        elif op is not tables.DICT_HOLD:
            i = self.find(b, inst.args[1])
            if op is tables.DICT_GET:
                return self.get(b, self.call(b, "key_index", i, inst.args[1]))
            there = b.op(a.IGE, i, b.const(0, k.Int))
            if op is tables.DICT_HAS:
                return there
            x = self.get(b, b.op(s.SELECT, there, i, b.const(0, k.Int)))
            return b.op(s.TUPLE_MAKE, there, x, cls=None)
        return None

    def find(self, b, key):
        return self.call(b, "find_key", read(b, self.keys), read(b, self.slots), self.number(b, key))

    def number(self, b, key):
        if self.texts is None:
            return key
        text = constant_of(key)
        assert isinstance(text, str)
        return b.const(self.texts.setdefault(text, len(self.texts)), k.Int)

    def set(self, b, key, x):
        i, n, number = self.find(b, key), read(b, self.n), self.number(b, key)
        new = b.op(a.ILT, i, b.const(0, k.Int))
        write(b, self.keys, self.call(b, "with_key", read(b, self.keys), n, new, number))
        write(b, self.slots, self.call(b, "with_slot", read(b, self.slots), read(b, self.keys), n, new, number))
        one = b.const(1, k.Int)
        for items in self.items:
            write(b, items, self.call(b, "room", read(b, items), n, one))
        self.put(b, b.op(s.SELECT, new, n, i), x)
        write(b, self.n, b.op(a.IADD, n, b.op(s.SELECT, new, one, b.const(0, k.Int))))

    def step(self, b, inst):
        at, used = inst.args[1:3]
        n = read(b, self.n)
        self.call(b, "same_size", n, used)
        more = b.op(a.ILT, at, n)
        zero = b.const(0, k.Int)
        i = b.op(s.SELECT, more, at, zero)
        what = inst.attrs["what"]
        item = self.call(b, "key_at", read(b, self.keys), i) if what != "values" else None
        if what != "keys":
            x = self.get(b, i)
            item = x if item is None else b.op(s.TUPLE_MAKE, item, x, cls=None)
        behind = b.op(a.IADD, at, b.op(s.SELECT, more, b.const(1, k.Int), zero))
        return b.op(s.TUPLE_MAKE, more, item, behind, cls=None)


class RecordVariables:
    """The variables of a dict that always has the same keys, which are constant texts: one for each value."""

    def __init__(self, made, name):
        self.type = made.result.type.values
        self.items = {constant_of(key): Variable(f"{name}.{constant_of(key)}", self.type) for key in made.args[::2]}

    def run(self, b, inst, repeated):
        op = inst.op
        if op is tables.DICT_LEN:
            return b.const(len(self.items), k.Int)
        given = inst.args if op is tables.DICT_NEW else inst.args[1:] if op is tables.DICT_SET else ()
        for key, x in zip(given[::2], given[1::2]):
            change = s.UNION_MAKE if type(self.type) is k.Union else s.RETYPE
            write(b, self.items[constant_of(key)], x if x.type is self.type else b.op(change, x, type=self.type))
        if op is tables.DICT_GET:
            return read(b, self.items[constant_of(inst.args[1])])
        return None
