"""The common base of all kinds of types: their representation, type variables, and how two types join.

`Type` is the base of all kinds and `Composite` of those whose values consist of parts; `Content` is a type variable.
The kinds without parameters are here, and those that joins make, unions and duals; the other kinds are in `kinds`.
"""
from __future__ import annotations

import weakref
from typing import Any, Callable

__all__ = ["Bool", "ByteArray", "Bytes", "Complex", "Composite", "Content", "Dual", "Ellipsis_", "Float", "Int",
           "MAX_SIZE", "MAX_UNION", "MemoryView", "NoneType", "Object", "Reference", "Str", "Tag", "TooLarge", "Type",
           "Unbound", "Undefined", "Union", "all_parts", "any_part", "closed", "linked", "member_for", "members_of",
           "opened", "rewritten", "together", "union_of", "wider"]

MAX_SIZE = 1 << 14
MAX_UNION = 8

_interned: dict = {}
_passing: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class TooLarge(TypeError):
    """Raised where a type would have more than MAX_SIZE parts: it would grow without end, with every call or iteration.
    (Functions on types, such as the one for their text, take time for every part, even where one type occurs at many
    places.)"""


class Content:
    """A type variable for the contents of all places in the program that share them, such as the items of the lists
    that one instruction makes or that are arguments of one type, or a variable that closures share.

    Its content is the type that inference has found so far. It grows with every store, and then inference visits again
    all blocks that have read it. At a join of two kinds of containers, their variables are unified (`link`)."""

    __slots__ = ("name", "_into", "_content", "_users")

    def __init__(self, name: str, content: Any = None):
        self.name = name
        self._into: Content | None = None
        self._content = content
        self._users: dict = {}  # (analysis, block): None

    @property
    def root(self) -> Content:
        """The variable with which this one was unified."""
        found = self
        while found._into is not None:
            found = found._into
        if self is not found:
            self._into = found
        return found

    @property
    def content(self) -> Any:
        """The type so far; None where nothing was stored yet."""
        return self.root._content

    def used(self, analysis, block) -> None:
        """Register `block`, which inference visits again when the content grows."""
        self.root._users[analysis, block] = None

    def close(self) -> None:
        """Forget the blocks that `used` registered."""
        self._users = {}

    def become(self, content) -> None:
        """Replace the content by another type."""
        root = self.root
        if content is not root._content:
            root._content = content
            for analysis, block in list(root._users):
                analysis.touch(block)

    def grow(self, content: Type) -> None:
        """Record a store of a value of type `content`."""
        root = self.root
        if content is Undefined or content is root._content:
            return
        merged = content if root._content is None else wider(root._content, content)
        root = self.root  # computing the type may have linked variables
        if merged is not root._content:
            root.become(Object if _mentions(merged, root, set()) else merged)

    def link(self, other: Content) -> None:
        """Unify two variables: values that are stored in one may be read from the other."""
        one, two = self.root, other.root
        if one is two:
            return
        two._into = one
        users, content = two._users, two._content
        if content is not None:
            one.grow(content)
        one = one.root
        if one._content is not None and _mentions(one._content, one, set()):
            one.become(Object)
        if one._content is not content:
            for analysis, block in list(users):
                analysis.touch(block)
        one._users.update(users)

    def __repr__(self):
        return self.name


def _mentions(t: Type, variable: Content, seen: set) -> bool:
    """Whether a value of type t contains, at any depth, contents of `variable`."""
    if not t.varying or t in seen:
        return False
    seen.add(t)
    for x in t.inside:
        if type(x) is Content:
            if x.root is variable or x.content is not None and _mentions(x.content, variable, seen):
                return True
        elif _mentions(x, variable, seen):
            return True
    return False


class Type:
    """Base of all types. Construct through the subclasses; equal arguments give the same object.

    passing: the type, or a part of it, refers to an object of the program (a function, a class, an allocation); it
    lives only as long as it is used. size: the number of types in it, itself included. parts: the types of the parts of
    a value, or None for a leaf. refcounted: whether a value holds a reference that must be released. varying: a
    container in it has type variables, which inference is solving (see `Content`). sealed: a container in it has types
    as contents. Neither considers the contents of containers.

    Class attributes with which a kind declares facts:
    counted    what counts a reference of its own that a value holds, beside those of its parts: "object" (Python's),
               "array" (the owner of the memory), "cell", "list", "instance", "table", or "enclosing" (the object
               around it); "" where a value holds none
    names_own  the type refers to an object of the program (see `passing`)
    inner      no value of the kind ever becomes a Python object
    natively   objects of the kind that do not escape may have a form of compiled code's own (passes/natives.py)
    holder     its arguments are what its values hold: see Container
    unlimited  a union may have any number of members of the kind: they cost nothing, or have code of their own"""

    __slots__ = ("key", "text", "passing", "size", "parts", "refcounted", "varying", "sealed", "__weakref__")
    fields: tuple[str, ...] = ()
    key: tuple
    text: str
    passing: bool
    size: int
    parts: tuple[Type, ...] | None
    refcounted: bool
    varying: bool
    sealed: bool
    counted = ""
    names_own = inner = natively = unlimited = holder = False

    @property
    def held(self) -> tuple[Type, ...] | None:
        """For a reference to memory of compiled code, the types of the values that are there; else None."""
        return None

    @property
    def python_class(self) -> Any:
        """The class of its values as Python objects, or None."""
        return None

    def __new__(cls, *args):
        key = (cls, *args)
        found = _interned.get(key)
        if found is None:
            found = _passing.get(key)
        if found is None:
            size = 1 + _size(args)
            if size > MAX_SIZE:
                raise TooLarge(f"has a type of more than {MAX_SIZE} parts; pass arrays, or tuples that do not nest "
                               f"so deeply")
            found = object.__new__(cls)
            object.__setattr__(found, "key", key)
            object.__setattr__(found, "size", size)
            is_open, sealed = _variables(cls, args)
            object.__setattr__(found, "varying", is_open)
            object.__setattr__(found, "sealed", sealed)
            object.__setattr__(found, "passing", cls.names_own or is_open or any(map(_passes, args)))
            for name, value in zip(cls.fields, args, strict=True):
                object.__setattr__(found, name, value)
            object.__setattr__(found, "text", found._text())
            parts = found._parts()
            object.__setattr__(found, "parts", parts)
            object.__setattr__(found, "refcounted", bool(cls.counted) or parts is not None and any(
                [part.refcounted for part in parts]))
            table = _passing if found.passing else _interned
            found = table.setdefault(key, found)  # atomic for a dict; the other table is used under the compile lock
        return found

    def _text(self) -> str:
        return type(self).__name__.lower()

    def _parts(self) -> tuple[Type, ...] | None:
        return None

    @property
    def inside(self) -> tuple:
        """The types and type variables of the parts of a value and of the places to which it refers."""
        return self.parts or ()

    @property
    def class_name(self) -> str:
        """The name of the type of a value in CPython's messages."""
        return self.text if self.python_class is None else self.python_class.__name__

    def joined(self, other: Type, join: Callable) -> Type | None:
        """The type, other than a union, of a join of a value of this type and one of `other`, which has the same kind;
        None where there is none. join: the function that joins the types of parts."""
        return None

    def covers(self, other: Type) -> bool:
        """Whether this type may be the join (see `joined`) of `other` and further types."""
        return self is other

    def __setattr__(self, name, value):
        raise AttributeError("types are frozen")

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self):
        return self.key[0], self.key[1:]


def _size(parts: tuple) -> int:
    """The number of types in the arguments of a type, those in tuples among the arguments included."""
    total = 0
    for part in parts:
        if isinstance(part, Type):
            total += part.size
        elif type(part) is tuple:
            total += _size(part)
    return total


def _variables(cls: type[Type], args: tuple) -> tuple[bool, bool]:
    """(whether some are type variables, whether some are sealed) of a type with these arguments."""
    if cls.holder:
        return any([type(x) is Content or x.varying for x in args]), any([type(x) is not Content for x in args])
    is_open = sealed = False
    for x in args:
        if isinstance(x, Type):
            is_open |= x.varying
            sealed |= x.sealed
        elif type(x) is tuple:
            one, two = _variables(Type, x)
            is_open |= one
            sealed |= two
        elif type(x) is Content:
            is_open = True
    return is_open, sealed


def _passes(part) -> bool:
    if isinstance(part, Type):
        return part.passing
    return type(part) is tuple and any(map(_passes, part))


def _singleton(name: str, text: str, doc: str, python_class: type | None = None, **facts) -> Type:
    cls = globals()[name] = type(name, (Type,), {  # a global of this module, so that pickle finds it
        "__slots__": (), "__doc__": doc, "_text": lambda self: text, "python_class": python_class, **facts})
    return cls()


Int = _singleton("IntType", "int", "Python int: 64-bit signed, arithmetic checked for overflow.", int)
Float = _singleton("FloatType", "float", "Python float: IEEE double.", float)
Bool = _singleton("BoolType", "bool", "Python bool; also the condition of a branch.", bool)
Complex = _singleton("ComplexType", "complex", "Python complex: two doubles.", complex)
NoneType = _singleton("NoneTypeType", "None", "The type of None; no representation.", type(None), unlimited=True)
Unbound = _singleton("UnboundType", "unbound", "A local that no assignment has reached; no representation.",
                     unlimited=True)
Tag = _singleton("TagType", "tag", "Which member a value of a union has: its first part.")
Undefined = _singleton("UndefinedType", "undefined",
                       "A value nobody reads; joins with anything (the item of an iterator's end).")
Ellipsis_ = _singleton("EllipsisType", "ellipsis", "The type of `...`; no representation.", type(...))
Str = _singleton("StrType", "str", "A reference to a Python str object.", str, counted="object")
Bytes = _singleton("BytesType", "bytes", "A reference to a Python bytes object.", bytes, counted="object")
ByteArray = _singleton("ByteArrayType", "bytearray", "A reference to a Python bytearray object.", bytearray,
                       counted="object")
MemoryView = _singleton("MemoryViewType", "memoryview", "A reference to a Python memoryview of bytes that follow each "
                        "other, without axes but one.", memoryview, counted="object")
Object = _singleton("ObjectType", "object", "A reference to any Python object.", counted="object")


class Composite(Type):
    """A kind whose values consist of parts, and are represented by these.

    joins: two types that differ only in their parts are joined by joining these (otherwise they become members of a
    union)."""

    __slots__ = ()
    parts: tuple[Type, ...]
    joins = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts: attributes of the objects, if they have such."""
        raise NotImplementedError

    def place(self, name: str) -> int:
        """The number of the part of this name."""
        return self.names.index(name)

    def _parts(self):
        return self.key[1:]

    def with_parts(self, parts) -> Type:
        """The type that differs from this one only in its parts."""
        return type(self)(*parts)

    def open(self, value) -> tuple:
        """The parts of an object: of one of `python_class`, or of the tuple of parts that represents it."""
        return value

    def build(self, parts):
        """The object with these parts, the inverse of `open`."""
        return tuple(parts)

    def access(self, n: int) -> str:
        """The text by which a program reads part n, to be appended to the name of a value."""
        return f".{self.names[n]}"

    def is_like(self, other: Type) -> bool:
        """Whether `other` differs from this type only in the types of its parts."""
        return (type(self) is type(other) and len(self.parts) == len(other.parts)
                and self.with_parts(other.parts) is other)

    def joined(self, other, join):
        if not (self.joins or self.varying and other.varying) or not self.is_like(other):
            return None
        if self.joins:
            return self.with_parts(map(join, self.parts, other.parts))
        return self if linked(self, other) else None

    def covers(self, other):
        return self is other or (self.joins or self.varying and other.varying) and self.is_like(other) and all(
            [mine is Object or mine.covers(part) for mine, part in zip(self.parts, other.parts)])


class Reference(Type):
    """A reference to memory of its own that holds a value of one type: the only argument."""

    __slots__ = ()
    counted = "object"

    @property
    def inside(self):
        return self.key[1:]

    held = inside


class Union(Type):
    """One of several member types, distinguished by a tag. Members are never unions. Use `union_of`."""

    __slots__ = fields = ("members",)
    members: tuple[Type, ...]

    def _text(self):
        return " | ".join(map(str, self.members))

    @property
    def class_name(self):
        return " | ".join([t.class_name for t in self.members])

    def _parts(self):
        return Tag, *self.members

    def covers(self, other):
        return all([member_for(self, m) is not None
                    for m in (other.members if isinstance(other, Union) else (other,))])


class Dual(Composite):
    """A number of one of two types, represented as the wider one: the join of Python's `0` and a float64 is `dual(int,
    float64)`.

    Every value of type `narrow` that occurs there is exactly representable in type `wide`, so that operations which
    need not distinguish the two only read the wide value. Representation: the wide value, and a bool that is True where
    the number has type `narrow`. low, high: the smallest and the largest int that it can be then, or None where that is
    not known. Only inference makes duals (infer/duals.py); items of tuples and lists are unions."""

    __slots__ = fields = ("narrow", "wide", "low", "high")
    narrow: Type
    wide: Type
    low: Any
    high: Any
    names = ("wide", "is_narrow")

    def __new__(cls, narrow, wide, low=None, high=None):
        return super().__new__(cls, narrow, wide, low, high)

    def _parts(self):
        return self.wide, Bool

    def _text(self):
        bounds = "" if self.low is None else f", {self.low}..{self.high}"
        return f"dual({self.narrow}, {self.wide}{bounds})"


def union_of(types) -> Type:
    """The smallest type that includes all of `types`: a Union without duplicates, or the only member. It has at most
    one member for each kind of container."""
    flat: list[Type] = []
    for t in types:
        for m in members_of(t):
            if m in flat:
                continue
            for i, known in enumerate(flat):
                if type(known) is type(m) and (m.holder or m.varying and known.varying):
                    merged = known.joined(m, union_of_two)
                    if merged is not None:
                        flat[i] = merged
                        break
            else:
                flat.append(m)
    if len(flat) == 1:
        return flat[0]
    return Union(tuple(sorted(flat, key=lambda t: t.text)))


def union_of_two(x: Type, y: Type) -> Type:
    return union_of((x, y))


def together(x: Type, y: Type, join: Callable) -> Type:
    """The smallest type that includes both. join: joins the types of parts of types of one kind."""
    if x is y or y is Undefined:
        return x
    if x is Undefined:
        return y
    merged = x.joined(y, join) if type(x) is type(y) else None
    if merged is not None:
        return merged
    members = list(members_of(x))
    for new in members_of(y):
        for i, old in enumerate(members):
            if old is new:
                break
            merged = old.joined(new, join) if type(old) is type(new) else None
            if merged is not None:
                members[i] = merged
                break
        else:
            members.append(new)
    return union_of(members)


def wider(x: Type, y: Type) -> Type:
    """The type of an item that may have either type: `together`, or any object where that has too many members."""
    if x is Object or y is Object:
        return Object
    found = together(x, y, wider)
    return Object if sum([not m.unlimited for m in members_of(found)]) > MAX_UNION else found


def linked(x: Any, y: Any) -> bool:
    """Whether two types differ only in the type variables of their containers; if so, these are unified."""
    if x is y:
        return True
    if type(x) is not type(y) or not (x.varying and y.varying):
        return False
    if x.holder:
        for mine, its in zip(x.key[1:], y.key[1:]):
            mine.link(its)
        return True
    if isinstance(x, Reference):
        return linked(x.key[1], y.key[1])
    if not isinstance(x, Composite) or not isinstance(y, Composite) or not x.is_like(y):
        return False
    pairs = list(zip(x.parts, y.parts))
    return all([a is b or type(a) is type(b) and a.varying and b.varying for a, b in pairs]) and all(
        [linked(a, b) for a, b in pairs])


def rewritten(t: Type, change: Callable) -> Type:
    """The type t with the types of containers in it changed by `change`."""
    if not (t.varying or t.sealed):
        return t
    if t.holder:
        return change(t)
    if isinstance(t, Reference):
        return type(t)(rewritten(t.key[1], change))
    if isinstance(t, Union):
        return union_of([rewritten(m, change) for m in t.members])
    if not isinstance(t, Composite):
        return t
    return t.with_parts([rewritten(part, change) for part in t.parts])


def closed(t: Type) -> Type:
    """The type t with type variables replaced by their types."""
    return rewritten(t, _closed) if t.varying else t


def _closed(t: Any) -> Type:  # a container
    return type(t)(*map(closed, t.parameters))


def opened(t: Type, variables: dict, make: Callable) -> Type:
    """The type t with the contents of containers replaced by type variables. variables: container
    type -> the type that replaced it in an earlier call, which is updated; make: content -> new variable."""
    def change(one):
        if not one.sealed:
            return one
        found = variables.get(one)
        if found is None:
            found = variables[one] = type(one)(*[
                x if type(x) is Content else make(None if x is Undefined else opened(x, variables, make))
                for x in one.key[1:]])
        return found

    return rewritten(t, change) if t.sealed else t


def members_of(t: Type) -> tuple[Type, ...]:
    """The types that a value of type `t` may have: several for a union and a dual."""
    return t.members if isinstance(t, Union) else (t.narrow, t.wide) if isinstance(t, Dual) else (t,)


def member_for(union: Union, t: Type) -> Type | None:
    """The member of `union` that includes type `t`: itself, or a join of it and others (see infer/join.py)."""
    return t if t in union.members else next((m for m in union.members if m.covers(t)), None)


def any_part(t: Type, test: Callable) -> bool:
    """Whether `test` is true for a type or one of its parts."""
    return test(t) or t.parts is not None and any([any_part(part, test) for part in t.parts])


def all_parts(t: Type) -> list[Type]:
    """A type and all its parts."""
    return [t, *[one for part in t.parts or () for one in all_parts(part)]]
