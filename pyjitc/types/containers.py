"""The kinds of containers: of lists, dicts, sets and deques that are objects of the interpreter, and of those that only
compiled code uses."""
from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from .kind import Content, Reference, Type, Undefined, wider

__all__ = ["CONTAINERS", "Container", "CounterDict", "DefaultDict", "Deque", "Dict", "FrozenSet", "LISTS", "List",
           "NativeList", "NativeObject", "NativeTable", "OrderedDict_", "Set", "TupleOf", "Within"]


class Container(Type):
    """A reference to a Python container, whose items have the types of its parameters. Each load checks the class of
    the item: the container may have got other items.

    During inference a parameter is a type variable, a `Content`; in types from `typeof` and in typed IR it is a type
    (`opened`, `closed`). A type about which nothing is known yet is Undefined."""

    __slots__ = ()
    counted = "object"
    holder = True

    @property
    def inside(self):
        return self.key[1:]

    def _text(self):
        held = ", ".join([f"?{x}" if type(x) is Content else str(x) for x in self.key[1:]])
        return f"{self.python_class.__name__}[{held}]"

    @property
    def parameters(self) -> tuple[Type, ...]:
        """The types of its contents, as far as they are known."""
        return tuple([_held(x) for x in self.key[1:]])

    def store(self, n: int, t: Type) -> None:
        """Record that a value of type t is stored in such a container, as parameter n."""
        x = self.key[1 + n]
        if type(x) is Content:
            x.grow(t)

    def joined(self, other, join):
        if self.varying and other.varying:
            for mine, its in zip(self.key[1:], other.key[1:]):
                mine.link(its)
            return self
        if self.varying or other.varying:
            one, two = (self, other) if self.varying else (other, self)
            for n, t in enumerate(two.parameters):
                one.store(n, t)
            return one
        return type(self)(*map(wider, self.parameters, other.parameters))

    def covers(self, other):
        return type(self) is type(other)


def _held(x) -> Type:
    return x if isinstance(x, Type) else x.content or Undefined


class _OfItems(Container):
    """A container with one parameter."""

    __slots__ = ()

    @property
    def item(self) -> Type:
        """The type of its items."""
        return _held(self.key[1])


class List(_OfItems):
    """Python list."""

    __slots__ = fields = ("_item",)
    natively = True
    python_class = list


class NativeList(Reference):
    """A list that does not escape from compiled code, with unboxed items: see ops/natives.py."""

    __slots__ = fields = ("item",)
    item: Type
    counted = "list"
    inner = True
    class_name = "list"

    def _text(self):
        return f"native[{self.item}]"


class NativeTable(Type):
    """A dict or set that does not escape from compiled code, with unboxed keys and values: see ops/localtables.py. of:
    the type that it has as a Python object."""

    __slots__ = fields = ("of",)
    of: Any
    counted = "table"
    inner = True

    @property
    def held(self):
        return self.of.parameters

    def _text(self):
        return f"table[{self.of}]"

    @property
    def class_name(self):
        return self.of.class_name


class NativeObject(Type):
    """An object of class `cls`, a class of the program, that is used by compiled code only: a pointer to its
    attributes, which are stored without boxing (ops/instances.py). attributes: ((name, Type), ...)."""

    __slots__ = fields = ("cls", "attributes")
    cls: Any
    attributes: tuple[tuple[str, Type], ...]
    counted = "instance"
    inner = names_own = True

    @property
    def held(self):
        return tuple([t for _, t in self.attributes])

    def _text(self):
        return f"native[{self.cls.__qualname__}]"

    @property
    def class_name(self):
        return self.cls.__name__


class Within(Type):
    """Stands, in the attributes of a native object, for the type of the object that has these attributes (level 0), or
    of an object in whose attributes that object is (level 1 and so on)."""

    __slots__ = fields = ("level",)
    level: int
    counted = "enclosing"
    inner = True
    held = ()  # its values are counted as those of the object around it

    def _text(self):
        return f"within({self.level})"


class TupleOf(_OfItems):
    """A Python tuple of any length, whose items have one type; a `Tuple` has a type for each item."""

    __slots__ = fields = ("_item",)
    python_class = tuple

    def _text(self):
        return super()._text()[:-1] + ", ...]"


class Set(_OfItems):
    """Python set."""

    __slots__ = fields = ("_item",)
    python_class = set


class FrozenSet(_OfItems):
    """Python frozenset."""

    __slots__ = fields = ("_item",)
    python_class = frozenset


class Deque(_OfItems):
    """collections.deque."""

    __slots__ = fields = ("_item",)
    natively = True
    python_class = deque


class Dict(Container):
    """Python dict."""

    __slots__ = fields = ("_keys", "_values")
    python_class: Any = dict

    @property
    def keys(self) -> Type:
        """The type of its keys."""
        return _held(self.key[1])

    @property
    def values(self) -> Type:
        """The type of its values."""
        return _held(self.key[2])

    item = keys


class DefaultDict(Dict):
    """collections.defaultdict."""

    __slots__ = ()
    natively = True
    python_class = defaultdict


class OrderedDict_(Dict):
    """collections.OrderedDict, which stores its order in data of its own besides the dict's."""

    __slots__ = ()
    python_class = OrderedDict


class CounterDict(Dict):
    """collections.Counter."""

    __slots__ = ()
    python_class = Counter


LISTS = frozenset((List, Deque))
# The container classes of the interpreter -> kinds.
CONTAINERS: dict[type, type[Container]] = {
    kind.python_class: kind
    for kind in (List, Dict, DefaultDict, OrderedDict_, CounterDict, Set, FrozenSet, Deque)}
