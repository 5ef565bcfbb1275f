"""The types of tuples, lists, sets and dicts, and of values that may be None."""
from __future__ import annotations

from ...types import kinds
from ..errors import TypingError
from .abstract import Hashable, MutableSequence, Sequence, Type


def is_homogeneous(*types):
    return not types or all(t == types[0] for t in types)


def _checked(types) -> tuple:
    if isinstance(types, Type) and not isinstance(types, BaseTuple):
        raise TypingError("Argument 'types' is not iterable")
    return tuple(types)


class BaseTuple(Sequence, Hashable):
    @classmethod
    def from_types(cls, types, pyclass=None):
        return NamedTuple(types, pyclass) if pyclass is not None and pyclass is not tuple else Tuple(types)

    @property
    def type(self):
        return kinds.Tuple([value_type(t) for t in self.types], getattr(self, "instance_class", None))

    def __len__(self):
        return len(self.types)

    def __iter__(self):
        return iter(self.types)

    def __getitem__(self, i):
        if isinstance(i, slice) and i.start is i.stop is None:
            return super().__getitem__(i)
        return self.types[i]

    @property
    def key(self):
        return self.types

    @property
    def count(self):
        return len(self.types)


def value_type(t) -> kinds.Type:
    """The type of a part of a value, in which numbers are Python numbers."""
    found = t.type
    return {kinds.int64: kinds.Int, kinds.float64: kinds.Float, kinds.complex128: kinds.Complex,
            kinds.NpBool: kinds.Bool}.get(found, found)


class Tuple(BaseTuple):
    """Tuple((int64, float64)); where all members are equal it is a UniTuple."""

    def __new__(cls, types=()):
        types = _checked(types)
        if cls is Tuple and types and all(t == types[0] for t in types):
            return UniTuple(types[0], len(types))
        return object.__new__(cls)

    def __init__(self, types=()):
        self.types = tuple(types)
        super().__init__(f"Tuple({', '.join(map(str, self.types))})")

    def __repr__(self):
        return f"Tuple({self.types!r})"


class UniTuple(BaseTuple):
    def __init__(self, dtype, count):
        self.dtype, self.types = dtype, (dtype,) * count
        BaseTuple.__init__(self, f"UniTuple({dtype} x {count})")

    def __repr__(self):
        return f"UniTuple({self.dtype!r}, {len(self.types)})"


class BaseNamedTuple(BaseTuple):
    @property
    def key(self):
        return self.instance_class, self.types


class NamedTuple(BaseNamedTuple):
    def __init__(self, types, cls):
        self.types, self.instance_class, self.fields = _checked(types), cls, tuple(cls._fields)
        BaseTuple.__init__(self, f"{cls.__name__}({', '.join(map(str, self.types))})")


class NamedUniTuple(BaseNamedTuple):
    def __init__(self, dtype, count, cls):
        self.dtype, self.types, self.instance_class = dtype, (dtype,) * count, cls
        self.fields = tuple(cls._fields)
        BaseTuple.__init__(self, f"{cls.__name__}({dtype} x {count})")


class StarArgTuple(BaseTuple):
    def __init__(self, types):
        self.types = tuple(types)
        BaseTuple.__init__(self, f"*Tuple({', '.join(map(str, self.types))})")

    @classmethod
    def from_types(cls, types):
        return cls(types)


StarArgUniTuple = StarArgTuple


class Optional(Type):
    def __init__(self, typ):
        while isinstance(typ, Optional):
            typ = typ.base
        self.base = typ
        super().__init__(f"OptionalType({typ})")

    @property
    def key(self):
        return self.base

    @property
    def type(self):
        return kinds.union_of((value_type(self.base), kinds.NoneType))


class ListType(MutableSequence):
    """typed.List"""

    def __init__(self, itemty, name=None):
        self.dtype = self.item_type = itemty
        super().__init__(name or f"ListType[{itemty}]")

    @property
    def key(self):
        return self.name, self.dtype

    def __getitem__(self, i):
        return super().__getitem__(i) if isinstance(i, (slice, tuple)) else self.dtype

    def __repr__(self):
        return f"{type(self).__name__}({self.dtype!r})"

    @property
    def type(self):
        return _container(kinds.List, self.dtype)


class List(ListType):
    """The type of a Python list with items of one type; typed lists are such lists. reflected: whether a list of the
    caller has this type, which Numba copies and copies back."""

    def __init__(self, dtype, reflected=False, initial_value=None):
        self.reflected, self.initial_value = reflected, initial_value
        super().__init__(dtype, f"{'reflected ' * reflected}list({dtype})<iv={initial_value}>")

    def __repr__(self):
        return f"List({self.dtype!r}, {self.reflected})"


class Set(Type):
    mutable = True

    def __init__(self, dtype, reflected=False):
        self.dtype, self.reflected = dtype, reflected
        super().__init__(f"{'reflected ' * reflected}set({dtype})")

    def __repr__(self):
        return f"Set({self.dtype!r}, {self.reflected})"

    @property
    def type(self):
        return _container(kinds.Set, self.dtype)


class DictType(Type):
    """typed.Dict"""

    mutable = True

    def __init__(self, keyty, valty, initial_value=None):
        self.key_type, self.value_type, self.initial_value = keyty, valty, initial_value
        self.keyvalue_type = Tuple((keyty, valty))
        super().__init__(f"DictType[{keyty},{valty}]<iv={initial_value}>")

    @property
    def key(self):
        return self.name, self.key_type, self.value_type

    def __repr__(self):
        return f"DictType({self.key_type!r}, {self.value_type!r})"

    @property
    def type(self):
        return _container(kinds.Dict, self.key_type, self.value_type)


class LiteralStrKeyDict(Hashable):
    """The type of a dict display with texts as keys and values of unlike types. literal_value: the literal types of the
    keys, and the type of the value of each."""

    mutable = False

    def __init__(self, literal_value):
        self.literal_value = literal_value
        self.types, self.count = tuple(literal_value.values()), len(literal_value)
        self.fields = tuple([key.literal_value for key in literal_value])
        super().__init__(f"LiteralStrKey[Dict]({literal_value})")

    @property
    def key(self):
        return self.fields, self.types


def _container(kind: type[kinds.Type], *parts) -> kinds.Type:
    return kind(*map(value_type, parts))
