"""The types of the IR: small frozen interned values, compared by identity.

A type says how a value is represented and which Python type it has when boxed. Python scalars and NumPy
scalars are distinct kinds, because NEP 50, division by zero, wrapping and the type of what is returned
depend on it. Every type has a text form (`str(t)`) that `types.text` reads back.

A kind of value is a class here. It says once what its values are made of, which Python class they belong to and how
two of its types join, and all rooms go by that: no other file lists the kinds. A *composite* kind is represented by
its parts, one after the other; what has no parts is a *leaf*, whose LLVM types are in codegen/leaves.py. A class of
the program whose objects are nothing but their attributes becomes a kind by a subclass of `Attributes`.
"""
from __future__ import annotations

import sys
import types as pytypes
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any, Callable

import numpy as np

__all__ = ["Type", "Composite", "Attributes", "TooLarge", "MAX_SIZE", "Int", "Float", "Bool", "Complex", "NoneType",
           "Unbound", "Undefined", "Tag", "Str", "Bytes", "ByteArray", "MemoryView", "Object", "Ellipsis_", "NpInt",
           "NpFloat", "NpComplex", "NpBool", "NpTime", "TIME_UNITS", "Record", "Array", "Tuple", "Slice", "Range",
           "Union", "Dual", "members_of", "ListDisplay", "DictDisplay", "RecordView", "ArrayFlags", "FlatArray",
           "Broadcast", "Ended", "numbered", "Singleton", "Function", "FunctionObject", "Method", "Super", "Cell",
           "ObjectCell", "Content", "Struct", "Generator", "Iterator", "DType", "Exception_", "Instance", "ObjectOf",
           "PythonRandom", "Container", "List", "NativeList", "NativeObject", "Within", "TupleOf", "Dict",
           "Set", "FrozenSet", "Deque",
           "DefaultDict", "OrderedDict_", "CounterDict", "CONTAINERS", "DictView", "DictKeys", "DictValues",
           "DictItems", "union_of", "member_for", "any_part", "all_parts", "is_plain_tuple", "together", "wider",
           "rewritten", "closed", "opened", "linked", "MAX_UNION", "kind_of_class", "int8", "int16", "int32", "int64",
           "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128", "bool_",
           "NUMPY_SCALARS", "is_numpy_scalar", "is_python_number", "is_number", "is_time", "is_scalar", "is_integer",
           "is_float", "is_complex", "is_refcounted"]

MAX_SIZE = 1 << 14
MAX_UNION = 8

_interned: dict = {}
_passing: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class TooLarge(TypeError):
    """A type would have more than MAX_SIZE parts: it grows with every call or round of something that has no end. (All
    that reads a type,
    as its text does, takes time for every part, also where one type stands at many places.)"""


class Content:
    """What a place of the program holds that other places share, as far as inference has found it: the items of the
    lists that are made at one place, or that come in as arguments of one type; a variable that closures share.

    It grows with every store, and whatever has looked at it is looked at again. Where two kinds of values meet, their
    variables become one (`link`)."""

    __slots__ = ("name", "_into", "_content", "_users")

    def __init__(self, name: str, content: Any = None):
        self.name = name
        self._into: Content | None = None
        self._content = content
        self._users: dict = {}  # (analysis, block): None

    @property
    def root(self) -> Content:
        """The variable that this one has become."""
        found = self
        while found._into is not None:
            found = found._into
        if self is not found:
            self._into = found
        return found

    @property
    def content(self) -> Any:
        """The type so far; None: nothing was stored yet."""
        return self.root._content

    def used(self, analysis, block) -> None:
        """Inference looks at `block` again when the content grows."""
        self.root._users[analysis, block] = None

    def become(self, content) -> None:
        """The content is another type now."""
        root = self.root
        if content is not root._content:
            root._content = content
            for analysis, block in list(root._users):
                analysis.touch(block)

    def grow(self, content: Type) -> None:
        """Something of type `content` is stored."""
        root = self.root
        if content is Undefined or content is root._content:
            return
        merged = content if root._content is None else wider(root._content, content)
        root = self.root  # the types may have been linked
        if merged is not root._content:
            root.become(Object if _mentions(merged, root, set()) else merged)

    def link(self, other: Content) -> None:
        """What is stored in one may be read from the other from now on."""
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
    """Whether values of type t hold, at any depth, what `variable` is the content of."""
    if not t.varying or t in seen:
        return False
    seen.add(t)
    if isinstance(t, Container):
        for x in t.key[1:]:
            if type(x) is Content:
                if x.root is variable or x.content is not None and _mentions(x.content, variable, seen):
                    return True
            elif _mentions(x, variable, seen):
                return True
        return False
    if isinstance(t, _SharedVariable):
        return t.content is not None and _mentions(t.content, variable, seen)
    if isinstance(t, (Iterator, FunctionObject)):
        return _mentions(t.key[1], variable, seen)
    return any([_mentions(part, variable, seen) for part in t.parts or ()])


class Type:
    """Base of all types. Construct through the subclasses; equal arguments give the same object.

    passing: the type names an object of the program (a function, a class, an allocation), itself or in its parts; it
    lives no longer than its users. size: the number of types in it, itself included. parts: the types of what a value
    is made of, or None for a leaf. refcounted: whether a value holds a reference that must be released. varying: what a
    container in it holds is a variable, which inference is finding out (see `Content`). sealed: what one holds is a
    type. Neither looks at what containers hold.

    The facts that a kind states as attributes of its class:
    counted    a value holds a reference of its own, beside those of its parts
    names_own  the type names an object of the program (see `passing`)
    inner      no value of the kind ever becomes a Python object
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
    counted = names_own = inner = unlimited = holder = False

    @property
    def python_class(self) -> Any:
        """The class of the objects that are its values outside, or None."""
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
            object.__setattr__(found, "refcounted", cls.counted or parts is not None and any(
                [part.refcounted for part in parts]))
            table = _passing if found.passing else _interned
            found = table.setdefault(key, found)  # atomic for a dict; under the compile lock for the other
        return found

    def _text(self) -> str:
        return type(self).__name__.lower()

    def _parts(self) -> tuple[Type, ...] | None:
        return None

    @property
    def class_name(self) -> str:
        """How CPython names the type of a value in messages."""
        return self.text if self.python_class is None else self.python_class.__name__

    def joined(self, other: Type, join: Callable) -> Type | None:
        """The type that is no union for where a value of this type and one of `other`, of the same kind, meet; or
        None. join: gives the type where two types meet."""
        return None

    def covers(self, other: Type) -> bool:
        """Whether a join (see `joined`) may have made this type of `other` and others."""
        return self is other

    def __setattr__(self, name, value):
        raise AttributeError("types are frozen")

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self):
        return self.key[0], self.key[1:]


def _size(parts: tuple) -> int:
    """The types in the arguments of a type, and in tuples among them."""
    total = 0
    for part in parts:
        if isinstance(part, Type):
            total += part.size
        elif type(part) is tuple:
            total += _size(part)
    return total


def _variables(cls: type[Type], args: tuple) -> tuple[bool, bool]:
    """(open, sealed) of a type with these arguments."""
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
    cls = globals()[name] = type(name, (Type,), {  # pickles look it up
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
Str = _singleton("StrType", "str", "A reference to a Python str object.", str, counted=True)
Bytes = _singleton("BytesType", "bytes", "A reference to a Python bytes object.", bytes, counted=True)
ByteArray = _singleton("ByteArrayType", "bytearray", "A reference to a Python bytearray object.", bytearray,
                       counted=True)
MemoryView = _singleton("MemoryViewType", "memoryview", "A reference to a Python memoryview of bytes that follow each "
                        "other, without axes but one.", memoryview, counted=True)
Object = _singleton("ObjectType", "object", "A reference to any Python object.", counted=True)


class _NumPyScalar(Type):
    """What NumPy's scalars have in common."""

    __slots__ = ()

    @property
    def python_class(self):
        return getattr(np, self.text.partition("[")[0])

    @property
    def class_name(self):
        return f"numpy.{self.python_class.__name__}"


class NpInt(_NumPyScalar):
    """NumPy integer scalar; arithmetic wraps."""

    __slots__ = fields = ("bits", "signed")
    bits: int
    signed: bool

    def _text(self):
        return f"{'' if self.signed else 'u'}int{self.bits}"


class NpFloat(_NumPyScalar):
    """NumPy floating scalar of 16, 32 or 64 bits."""

    __slots__ = fields = ("bits",)
    bits: int

    def _text(self):
        return f"float{self.bits}"


class NpComplex(_NumPyScalar):
    """NumPy complex scalar of 64 or 128 bits (both parts together)."""

    __slots__ = fields = ("bits",)
    bits: int

    def _text(self):
        return f"complex{self.bits}"


class NpBoolType(_NumPyScalar):
    """NumPy bool scalar."""

    __slots__ = ()

    def _text(self):
        return "bool_"


NpBool = NpBoolType()
bool_ = NpBool
int8, int16, int32, int64 = (NpInt(b, True) for b in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (NpInt(b, False) for b in (8, 16, 32, 64))
float16, float32, float64 = (NpFloat(b) for b in (16, 32, 64))
complex64, complex128 = (NpComplex(b) for b in (64, 128))
NUMPY_SCALARS = {
    t.text: t
    for t in (NpBool, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
              float16, float32, float64, complex64, complex128)
}


# In NumPy's own order, which numbers them (NPY_DATETIMEUNIT; 3 is not in use).
TIME_UNITS = ("Y", "M", "W", "", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic")


class NpTime(_NumPyScalar):
    """NumPy datetime64 (kind 'M') or timedelta64 ('m'): a 64-bit number of `count` units, of which the least is NaT.

    It is no number: of what numbers can do it has what lib/np/dates says."""

    __slots__ = fields = ("kind", "unit", "count")
    kind: str
    unit: str
    count: int
    bits, signed = 64, True

    def __new__(cls, kind, unit="generic", count=1):
        return super().__new__(cls, kind, unit, count)

    def _text(self):
        unit = "" if self.unit == "generic" else f"[{'' if self.count == 1 else self.count}{self.unit}]"
        return f"{'datetime64' if self.kind == 'M' else 'timedelta64'}{unit}"


class Record(Type):
    """Element of a structured array. dtype: the structured dtype; cls: np.void, or np.record, whose fields are
    attributes too.
    Elements are never loaded whole: a record is a 0-d view (lib/np/arrays/records.py)."""

    __slots__ = fields = ("dtype", "cls")
    dtype: Any
    cls: Any

    def __new__(cls, dtype, scalar=None):
        return super().__new__(cls, dtype, scalar or dtype.type)

    @property
    def bits(self) -> int:
        return 8 * self.dtype.itemsize

    def _text(self):
        return f"record{{{', '.join(f'{name}: {self.dtype[name]}' for name in self.dtype.names)}}}"


class Array(Type):
    """n-dimensional array of NumPy scalars.

    dtype: element type; ndim: int >= 0; layout: 'C', 'F' or 'A' (any strides; elements may be unaligned only
    where `aligned` is False); writable: False when NumPy's WRITEABLE flag is off.
    """

    __slots__ = fields = ("dtype", "ndim", "layout", "writable", "aligned")
    dtype: Type
    ndim: int
    layout: str
    writable: bool
    aligned: bool
    counted = True
    python_class = np.ndarray
    class_name = "numpy.ndarray"

    def __new__(cls, dtype, ndim, layout="C", writable=True, aligned=True):
        return super().__new__(cls, dtype, ndim, layout, writable, aligned)

    def _text(self):
        axes = [":"] * self.ndim
        if axes and self.layout == "C":
            axes[-1] = "::1"
        elif axes and self.layout == "F":
            axes[0] = "::1"
        flags = ("" if self.writable else ", readonly") + ("" if self.aligned else ", unaligned")
        return f"{self.dtype}[{', '.join(axes)}{flags}]"

    def joined(self, other, join):
        if self.dtype is not other.dtype or self.ndim != other.ndim or self.writable != other.writable:
            return None
        return Array(self.dtype, self.ndim, self.layout if self.layout == other.layout else "A", self.writable,
                     self.aligned and other.aligned)

    def covers(self, other):
        return type(other) is Array and self.joined(other, None) is self


class Composite(Type):
    """A kind whose values are made of parts, and are represented by theirs.

    joins: where two types meet that differ in their parts only, the parts meet (else the two are a union's members)."""

    __slots__ = ()
    parts: tuple[Type, ...]
    joins = False

    @property
    def names(self) -> tuple[str, ...]:
        """What the parts are called: attributes of the objects, where there are such."""
        raise NotImplementedError

    def _parts(self):
        return self.key[1:]

    def with_parts(self, parts) -> Type:
        """The type that differs from this in its parts only."""
        return type(self)(*parts)

    def open(self, value) -> tuple:
        """The parts of an object: of one of `python_class`, or of the tuple of parts that stands for it."""
        return value

    def build(self, parts):
        """What `open` takes apart."""
        return tuple(parts)

    def access(self, n: int) -> str:
        """How a program reads part n, to go behind the name of a value."""
        return f".{self.names[n]}"

    def is_like(self, other: Type) -> bool:
        """Whether `other` differs from this type in the types of its parts only."""
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
            [mine.covers(part) for mine, part in zip(self.parts, other.parts)])


class Tuple(Composite):
    """Tuple of fixed length. `elements`: tuple of Type; `cls`: the namedtuple class, or None for `tuple`."""

    __slots__ = fields = ("elements", "cls")
    elements: tuple[Type, ...]
    cls: Any
    joins = True

    def __new__(cls, elements, tuple_cls=None):
        return super().__new__(cls, tuple(elements), tuple_cls)

    def _text(self):
        inner = ", ".join(map(str, self.elements)) + ("," if len(self.elements) == 1 else "")
        return f"({inner})" if self.cls is None else f"{self.cls.__qualname__}({inner})"

    @property
    def python_class(self):
        return self.cls or tuple

    @property
    def names(self):
        return tuple(map(str, range(len(self.elements))))

    def _parts(self):
        return self.elements

    def with_parts(self, parts):
        return Tuple(parts, self.cls)

    def build(self, parts):
        return tuple(parts) if self.cls is None else self.cls(*parts)

    def access(self, n):
        return f"[{n}]"


class Attributes(Composite):
    """A kind of the objects of one Python class, which are nothing but their attributes: such an object is taken apart
    by reading them, and made by calling the class with them. `python_class` and `fields` (the names of the
    attributes, in the order of the class's parameters) are all that a subclass must say:

        class IntervalType(Attributes):
            __slots__ = fields = ("low", "high")
            python_class = Interval

    The types of the attributes are the type's arguments, and its parts. A value of compiled code has no identity: an
    object that leaves it is a new one. The attributes are stored in the object (its `__dict__` or slots), and
    none of them is a property: they are read without running code of the program."""

    __slots__ = ()
    joins = True
    python_class: Any = None
    names: Any = ()

    def __init_subclass__(cls):
        cls.names, python_class = vars(cls).get("names", cls.fields), cls.python_class
        if python_class is None:  # what several kinds have in common
            return
        if isinstance(python_class.__getattribute__, pytypes.FunctionType) or hasattr(python_class, "__getattr__"):
            raise TypeError(f"{python_class.__qualname__} has attributes that its own code finds; the parts of a kind "
                            f"are attributes that objects store")
        for name in cls.names:
            found = getattr(python_class, name, None)
            if hasattr(type(found), "__get__") and type(found) is not pytypes.MemberDescriptorType:
                raise TypeError(f"{python_class.__qualname__}.{name} is a {type(found).__name__}; the parts of a kind "
                                f"are attributes that objects store")
        _kinds_of_classes[python_class] = cls

    @classmethod
    def of(cls, typeof: Callable) -> Type:
        """The type of an object of the class. typeof: gives the type of the attribute of a name."""
        return cls(*map(typeof, cls.names))

    def _text(self):
        return f"{self.python_class.__qualname__}({', '.join(map(str, self.key[1:]))})"

    def open(self, value):
        return tuple([getattr(value, name) for name in self.names])

    def build(self, parts):
        return self.python_class(*parts)


_kinds_of_classes: dict[type, type[Attributes]] = {}


def kind_of_class(cls: type) -> type[Attributes] | None:
    """The kind of the objects of a Python class that consist of their attributes, where there is one."""
    return _kinds_of_classes.get(cls)


class Slice(Attributes):
    """Python slice; start, stop and step are each Int or NoneType (or any index type)."""

    __slots__ = fields = ("start", "stop", "step")
    start: Type
    stop: Type
    step: Type
    python_class = slice
    joins = False


class RangeType(Attributes):
    """Python range: three int64 (start, stop, step)."""

    __slots__ = ()
    names = ("start", "stop", "step")
    python_class = range
    joins = False

    @classmethod
    def of(cls, typeof):
        for name in cls.names:
            typeof(name)  # refuses ints beyond 64 bits
        return Range

    def _text(self):
        return "range"

    def _parts(self):
        return (Int,) * 3


Range = RangeType()


class Struct(Composite):
    """Library-level record: iterators and the like. `name`: str; `members`: ((field, Type), ...).

    A structure that stands for something in the program is a kind of its own: a subclass whose `role` is the name of
    its types, so that Struct(role, members) is one of them."""

    __slots__ = ("name", "members")
    fields: tuple[str, ...] = __slots__
    name: str
    members: tuple[tuple[str, Type], ...]
    role: str
    _of_role: dict[str, type[Struct]] = {}

    def __init_subclass__(cls, role: str = ""):
        if role:
            cls.role = role
            Struct._of_role[role] = cls

    def __new__(cls, name, *rest):
        return super().__new__(Struct._of_role.get(name, cls) if cls is Struct else cls, name, *rest)

    @classmethod
    def of(cls, members) -> Struct:
        """The type of a role with these members."""
        return cls(cls.role, tuple(members))

    def _text(self):
        return f"{self.name}{{{', '.join(f'{n}: {t}' for n, t in self.members)}}}"

    @property
    def class_name(self):
        return self.name

    @property
    def names(self):
        return tuple([name for name, _ in self.members])

    def _parts(self):
        return tuple([t for _, t in self.members])

    def with_parts(self, parts):
        return type(self)(self.name, tuple(zip(self.names, parts)), *self.key[3:])


def numbered(types) -> tuple[tuple[str, Type], ...]:
    """Members of a structure that have numbers as names."""
    return tuple([(str(n), t) for n, t in enumerate(types)])


class ListDisplay(Struct, role="list"):
    """A list that the program writes out: its type has the types of the items."""

    __slots__ = ()
    python_class = list


class DictDisplay(Struct, role="dict"):
    """A dict that the program writes out, whose keys are texts: its type has the keys and the types of the values."""

    __slots__ = ()
    python_class = dict


class DictView(Struct):
    """What `keys`, `values` or `items` of a dict give: the dict."""

    __slots__ = ()

    @property
    def viewed(self) -> Any:  # Dict, which is defined below
        """The type of the dict."""
        return self.parts[0]

    @property
    def item(self) -> Type:
        """The type of what it yields."""
        raise NotImplementedError


class DictKeys(DictView, role="dict_keys"):
    __slots__ = ()
    python_class: Any = type({}.keys())

    @property
    def item(self):
        return self.viewed.keys


class DictValues(DictView, role="dict_values"):
    __slots__ = ()
    python_class: Any = type({}.values())

    @property
    def item(self):
        return self.viewed.values


class DictItems(DictView, role="dict_items"):
    __slots__ = ()
    python_class: Any = type({}.items())

    @property
    def item(self):
        return Tuple((self.viewed.keys, self.viewed.values))


class RecordView(Struct, role="record"):
    """One record of a structured array: a view of it without axes."""

    __slots__ = ()


class ArrayFlags(Struct, role="flags"):
    """`a.flags`: the array."""

    __slots__ = ()
    python_class = type(np.empty(0).flags)


class FlatArray(Struct, role="flat"):
    """`a.flat`: the array."""

    __slots__ = ()


class Broadcast(Struct, role="broadcast"):
    """np.broadcast of arrays: their parts."""

    __slots__ = ()


class Ended(Struct, role="empty_iterator"):
    """The state of an iteration that has no item any more."""

    __slots__ = ()


class Generator(Struct):
    """State of a generator: the function value and what is live. `step`: front.generators.StepPrototype to go on
    with."""

    fields = ("name", "members", "step")
    __slots__ = ("step",)
    step: Any
    names_own = unlimited = inner = True
    class_name = "generator"

    def _text(self):
        return f"generator {self.step}{{{', '.join(str(t) for _, t in self.members)}}}"


class Iterator(Type):
    """Mutable iterator object made by an explicit `iter(x)`: a reference to a cell holding a state value."""

    __slots__ = fields = ("state",)
    state: Type
    counted = inner = True

    def _text(self):
        return f"iterator[{self.state}]"

    @property
    def class_name(self):
        return "generator" if any_part(self.state, lambda t: isinstance(t, Generator)) else "iterator"


class Container(Type):
    """A reference to an object of Python that holds others, of the types that its parameters say. Each load checks
    the class of what it finds: an object may have come to hold something else.

    During inference a parameter is a variable, a `Content`; the types that `typeof` gives and those of typed IR
    have types there (`opened`, `closed`). A type that nothing is known of yet is Undefined."""

    __slots__ = ()
    counted = holder = True

    def _text(self):
        held = ", ".join([f"?{x}" if type(x) is Content else str(x) for x in self.key[1:]])
        return f"{self.python_class.__name__}[{held}]"

    @property
    def parameters(self) -> tuple[Type, ...]:
        """What its values hold, as far as that is known."""
        return tuple([_held(x) for x in self.key[1:]])

    def store(self, n: int, t: Type) -> None:
        """Something of type t is stored in its values, as parameter n."""
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
        """The type of what it holds."""
        return _held(self.key[1])


class List(_OfItems):
    """Python list."""

    __slots__ = fields = ("_item",)
    python_class = list


class NativeList(Type):
    """A list that nobody outside of compiled code sees, whose items have no objects: see ops/natives.py."""

    __slots__ = fields = ("item",)
    item: Type
    counted = inner = True
    class_name = "list"

    def _text(self):
        return f"native[{self.item}]"


class NativeObject(Type):
    """An object of class `cls`, a class that the program writes, that nobody outside of compiled code sees: a pointer
    to its attributes, which have no objects (ops/instances.py). attributes: ((name, Type), ...)."""

    __slots__ = fields = ("cls", "attributes")
    cls: Any
    attributes: tuple[tuple[str, Type], ...]
    counted = inner = names_own = True

    def _text(self):
        return f"native[{self.cls.__qualname__}]"

    @property
    def class_name(self):
        return self.cls.__name__


class Within(Type):
    """In the attributes of a native object: the type of the object that these are the attributes of (level 0), or of
    one in whose attributes that is."""

    __slots__ = fields = ("level",)
    level: int
    counted = inner = True

    def _text(self):
        return f"within({self.level})"


class TupleOf(_OfItems):
    """Python tuple of any length, whose items have one type; a `Tuple` has a type for each item."""

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
    python_class = defaultdict


class OrderedDict_(Dict):
    """collections.OrderedDict, which has an order of its own beside the dict's."""

    __slots__ = ()
    python_class = OrderedDict


class CounterDict(Dict):
    """collections.Counter."""

    __slots__ = ()
    python_class = Counter


# Of the classes of the interpreter whose objects are containers.
CONTAINERS: dict[type, type[Container]] = {
    kind.python_class: kind
    for kind in (List, Dict, DefaultDict, OrderedDict_, CounterDict, Set, FrozenSet, Deque)}


class _SharedVariable(Type):
    """A variable shared by closures: a reference to what it is in. `site` names the allocation."""

    __slots__ = fields = ("site",)
    site: Content
    counted = names_own = True

    @property
    def content(self) -> Any:
        return self.site.content


class Cell(_SharedVariable):
    """One that only compiled code shares: a reference to a mutable box."""

    __slots__ = ()
    inner = True

    def _text(self):
        return f"cell[{self.site}]"


class ObjectCell(_SharedVariable):
    """One that functions share which are Python objects, since a container holds them or they leave the call: a cell of
    the interpreter's."""

    __slots__ = ()
    python_class = pytypes.CellType

    def _text(self):
        return f"object_cell[{self.site}]"


class Union(Type):
    """One of several member types, told apart by a tag. Members are never unions. Use `union_of`."""

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
    """A number of one of two types, kept as the wider one: where paths meet, `0` of Python and a float64 make
    `dual(int, float64)`.

    Every value of type `narrow` that such a place can hold is exactly a value of type `wide`, so that operations that
    do not tell the two apart read the wide value and no more. Representation: the wide value, and a bool that is True
    where the number has type `narrow`. low, high: the least and the greatest int that it can be then, or None where
    that is not known. Inference alone makes duals (infer/duals.py); tuples and lists hold unions."""

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


class Singleton(Type):
    """A Python object known at compile time: a module, class, builtin, NumPy function, enum member, dtype class.

    Compared by identity of the object; `value` is the object. No representation.
    """

    __slots__ = ("ref", "value")
    fields = ("ref",)
    ref: Any
    value: Any
    names_own = unlimited = True

    def __new__(cls, value):
        self = super().__new__(cls, _Ref(value))
        object.__setattr__(self, "value", value)
        return self

    def _text(self):
        value = self.key[1].value
        return f"<{getattr(value, '__qualname__', None) or getattr(value, '__name__', None) or repr(value)}>"

    @property
    def python_class(self):
        return type(self.value)

    def __reduce__(self):
        return Singleton, (self.value,)


class _Ref:
    """Hash and equality by identity, keeping the object alive."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return id(self.value)

    def __eq__(self, other):
        return isinstance(other, _Ref) and self.value is other.value


class Function(Composite):
    """A Python function value: its code and the types of what it captured. The captured values are the
    representation. `proto`: an interned `front.functions.Prototype` (code, globals, names); `captures`:
    tuple of Type; roles: what each capture is, in order ('defaults', 'kwdefaults', 'closure'; each at most once)."""

    __slots__ = fields = ("proto", "captures", "roles")
    proto: Any
    captures: tuple[Type, ...]
    roles: tuple
    names_own = unlimited = True
    python_class = pytypes.FunctionType

    def _text(self):
        inner = f"[{', '.join(map(str, self.captures))}]" if self.captures else ""
        return f"function {self.proto.qualname}{inner}"

    @property
    def names(self):
        return self.roles

    def _parts(self):
        return self.captures

    def with_parts(self, parts):
        return Function(self.proto, tuple(parts), self.roles)


class FunctionObject(Type):
    """A function that a container holds, or that the interpreter is given: a reference to one of the interpreter's
    functions, which has its code and what it has captured. function: the Function that it is opened to."""

    __slots__ = fields = ("function",)
    function: Function
    counted = names_own = unlimited = True
    python_class = pytypes.FunctionType

    def _text(self):
        return f"object of {self.function}"

    def joined(self, other, join):
        found = self.function.joined(other.function, join)
        return None if found is None else FunctionObject(found)

    def covers(self, other):
        return type(other) is FunctionObject and self.function.covers(other.function)


class Method(Composite):
    """A bound method of a built-in kind (`a.sum`): the receiver's representation. `name`: str."""

    __slots__ = fields = ("receiver", "name")
    receiver: Type
    name: str
    names = ("receiver",)
    inner = True
    python_class = pytypes.BuiltinFunctionType

    def _text(self):
        return f"method {self.receiver}.{self.name}"

    def _parts(self):
        return (self.receiver,)

    def with_parts(self, parts):
        return Method(*parts, self.name)


class Super(Composite):
    """`super()`: the receiver's representation. `cls`: the class whose attributes are passed over, and those of the
    classes before it."""

    __slots__ = fields = ("cls", "receiver")
    cls: Any
    receiver: Type
    names = ("receiver",)
    names_own = inner = True
    python_class = super

    def _text(self):
        return f"super({self.cls.__qualname__}, {self.receiver})"

    def _parts(self):
        return (self.receiver,)


class DType(Type):
    """A NumPy dtype object known at compile time. `scalar`: the NumPy scalar type."""

    __slots__ = fields = ("scalar",)
    scalar: Type

    def _text(self):
        return f"dtype[{self.scalar}]"

    @property
    def python_class(self):
        scalar = self.scalar
        return type(scalar.dtype if isinstance(scalar, Record) else np.dtype(scalar.text.rstrip("_")))

    @property
    def class_name(self):
        return f"numpy.dtypes.{self.python_class.__name__}"


class Exception_(Type):
    """A reference to an exception instance. `cls`: the Python class (or the common base) known statically."""

    __slots__ = fields = ("cls",)
    cls: Any
    counted = True

    def _text(self):
        return f"exception {self.cls.__name__}"

    @property
    def class_name(self):
        return self.cls.__name__

    def joined(self, other, join):
        return Exception_(next(c for c in self.cls.__mro__ if issubclass(other.cls, c)))

    def covers(self, other):
        return type(other) is Exception_ and issubclass(other.cls, self.cls)


class Instance(Type):
    """A reference to an instance of exactly class `cls` (np.random.Generator, RandomState), whose methods have
    rules."""

    __slots__ = fields = ("cls",)
    cls: Any
    counted = True

    def _text(self):
        return f"{self.cls.__module__.split('.')[0]}.{self.cls.__name__}"

    @property
    def python_class(self):
        return self.cls


class PythonRandomType(Type):
    """A reference to an instance of exactly random.Random."""

    __slots__ = ()
    counted = True
    class_name = "Random"

    def _text(self):
        return "random.Random"

    @property
    def python_class(self):
        return sys.modules["random"].Random  # a value of the type means that it is loaded


PythonRandom = PythonRandomType()


class ObjectOf(Type):
    """A reference to an object of exactly class `cls`, a class that the program writes: the Python object itself.

    attributes: ((name, Type), ...) by which a call's arguments tell specialisations apart: what the objects of a call
    store, their names in alphabetical order. In code the type has none: within a compile each attribute of a class has
    one type for all its objects, which inference keeps (`Session.attribute`)."""

    __slots__ = fields = ("cls", "attributes")
    cls: Any
    attributes: tuple[tuple[str, Type], ...]
    counted = names_own = True

    def __new__(cls, wanted, attributes=()):
        return super().__new__(cls, wanted, tuple(attributes))

    def _text(self):
        inner = ", ".join([f"{name}: {t}" for name, t in self.attributes])
        return f"{self.cls.__qualname__}{{{inner}}}" if inner else self.cls.__qualname__

    @property
    def python_class(self):
        return self.cls


def union_of(types) -> Type:
    """The smallest type that holds all of `types`: a Union without repeats, or the only member. It has at most one
    member of each kind of containers."""
    flat: list[Type] = []
    for t in types:
        for m in members_of(t):
            if m in flat:
                continue
            for i, known in enumerate(flat):
                if type(known) is type(m) and (isinstance(m, Container) or m.varying and known.varying):
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
    """The smallest type that holds the values of both. join: says it of the parts of types of one kind."""
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
    """The type of what holds both: `together`, or any object where that has too many members."""
    if x is Object or y is Object:
        return Object
    found = together(x, y, wider)
    return Object if sum([not m.unlimited for m in members_of(found)]) > MAX_UNION else found


def linked(x: Any, y: Any) -> bool:
    """Whether two types differ in the variables of their containers only; these are one from now on."""
    if x is y:
        return True
    if type(x) is not type(y) or not (x.varying and y.varying):
        return False
    if isinstance(x, Container):
        for mine, its in zip(x.key[1:], y.key[1:]):
            mine.link(its)
        return True
    if isinstance(x, (FunctionObject, NativeList)):
        return linked(x.key[1], y.key[1])
    if not isinstance(x, Composite) or not isinstance(y, Composite) or not x.is_like(y):
        return False
    pairs = list(zip(x.parts, y.parts))
    return all([a is b or type(a) is type(b) and a.varying and b.varying for a, b in pairs]) and all(
        [linked(a, b) for a, b in pairs])


def rewritten(t: Type, change: Callable) -> Type:
    """t with other types for the containers in it. change: gives them."""
    if not (t.varying or t.sealed):
        return t
    if isinstance(t, Container):
        return change(t)
    if isinstance(t, (Iterator, FunctionObject, NativeList)):
        return type(t)(rewritten(t.key[1], change))
    if isinstance(t, Union):
        return union_of([rewritten(m, change) for m in t.members])
    if not isinstance(t, Composite):
        return t
    return t.with_parts([rewritten(part, change) for part in t.parts])


def closed(t: Type) -> Type:
    """t with types for its variables."""
    return rewritten(t, _closed) if t.varying else t


def _closed(t: Container) -> Type:
    return type(t)(*map(closed, t.parameters))


def opened(t: Type, variables: dict, make: Callable) -> Type:
    """t with variables for its types. variables: those of the types that were opened before; make: gives a new one of
    a content."""
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
    """The member of `union` that holds a `t`: itself, or what a join made of it and others (see infer/join.py)."""
    return t if t in union.members else next((m for m in union.members if m.covers(t)), None)


def any_part(t: Type, test: Callable) -> bool:
    """Whether `test` holds for a type, or for one that is a part of it."""
    return test(t) or t.parts is not None and any([any_part(part, test) for part in t.parts])


def all_parts(t: Type) -> list[Type]:
    """A type and all that are parts of it."""
    return [t, *[one for part in t.parts or () for one in all_parts(part)]]


def is_plain_tuple(t: Type) -> bool:
    """Whether values of the type are tuples of a known length, of no class of their own."""
    return isinstance(t, Tuple) and t.cls is None


def is_numpy_scalar(t: Type) -> bool:
    """What arrays hold, but for records: NumPy numbers, dates and durations."""
    return t is NpBool or isinstance(t, (NpInt, NpFloat, NpComplex, NpTime))


def is_python_number(t: Type) -> bool:
    return t is Int or t is Float or t is Bool or t is Complex


def is_number(t: Type) -> bool:
    return is_python_number(t) or t is NpBool or isinstance(t, (NpInt, NpFloat, NpComplex))


def is_time(t: Type) -> bool:
    """NumPy date or duration."""
    return isinstance(t, NpTime)


def is_scalar(t: Type) -> bool:
    """Number, date or duration: what whole-array expressions combine with arrays."""
    return is_python_number(t) or is_numpy_scalar(t)


def is_integer(t: Type) -> bool:
    """Python int or NumPy integer (bools excluded)."""
    return t is Int or isinstance(t, NpInt)


def is_float(t: Type) -> bool:
    return t is Float or isinstance(t, NpFloat)


def is_complex(t: Type) -> bool:
    return t is Complex or isinstance(t, NpComplex)


def is_refcounted(t: Type) -> bool:
    """Whether a value of this type holds a reference that must be released."""
    return t.refcounted
