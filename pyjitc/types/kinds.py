"""The kinds of types of the IR: small frozen interned values, compared by identity.

A type determines the representation of a value and its Python class when boxed. Python scalars and NumPy
scalars are distinct kinds, because NEP 50, division by zero, wrapping and the type of results
depend on it. Every type has a text form (`str(t)`) that `types.text` reads back.

A kind of values is a class here, in scalars.py, containers.py or kind.py, whose names this module offers too. The
class alone defines the parts of its values, their Python class and the join of two of its types, and the whole compiler
uses that: no other file lists the kinds. A *composite* kind is represented by its parts, one after the other; a kind
without parts is a *leaf*, whose LLVM types are in codegen/leaves.py. A class of the program whose objects consist of
their attributes becomes a kind by a subclass of `Attributes`.
"""
from __future__ import annotations

import sys
import types as pytypes
from typing import Any, Callable

import numpy as np

from .containers import (
    CONTAINERS, Container, CounterDict, DefaultDict, Deque, Dict, FrozenSet, List, NativeList, NativeObject,
    NativeTable, OrderedDict_, Set, TupleOf, Within,
)
from .kind import (
    MAX_SIZE, MAX_UNION, Bool, ByteArray, Bytes, Complex, Composite, Content, Dual, Ellipsis_, Float, Int, MemoryView,
    NoneType, Object, Reference, Str, Tag, TooLarge, Type, Unbound, Undefined, Union, all_parts, any_part, closed,
    linked, member_for, members_of, opened, rewritten, together, union_of, wider)
from .scalars import (
    NUMPY_SCALARS, NpBool, NpComplex, NpFloat, NpInt, NpTime, TIME_UNITS, bool_, complex64, complex128, float16,
    float32, float64, int8, int16, int32, int64, is_complex, is_float, is_integer, is_number, is_numpy_scalar,
    is_python_number, is_scalar, is_time, uint8, uint16, uint32, uint64)

__all__ = ["Type", "Composite", "Attributes", "TooLarge", "MAX_SIZE", "Int", "Float", "Bool", "Complex", "NoneType",
           "Unbound", "Undefined", "Tag", "Str", "Bytes", "ByteArray", "MemoryView", "Object", "Ellipsis_", "NpInt",
           "NpFloat", "NpComplex", "NpBool", "NpTime", "TIME_UNITS", "Record", "Array", "Tuple", "Slice", "Range",
           "Union", "Dual", "members_of", "ListDisplay", "DictDisplay", "RecordView", "ArrayFlags", "FlatArray",
           "Broadcast", "Ended", "Zip", "StrictZip", "numbered", "is_display", "holds_cell", "Singleton", "Function",
           "FunctionObject", "Method", "Super", "Cell", "ObjectCell", "Content", "Struct", "Generator", "Iterator",
           "DType", "Exception_", "Instance", "ObjectOf", "PythonRandom", "Container", "List", "NativeList",
           "NativeObject", "NativeTable", "Vector", "Within", "TupleOf", "Dict", "Set", "FrozenSet", "Deque",
           "DefaultDict", "OrderedDict_", "CounterDict", "CONTAINERS", "DictView", "DictKeys", "DictValues",
           "DictItems", "union_of", "member_for", "any_part", "all_parts", "is_plain_tuple", "together", "wider",
           "rewritten", "closed", "opened", "linked", "MAX_UNION", "kind_of_class", "int8", "int16", "int32", "int64",
           "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128", "bool_",
           "NUMPY_SCALARS", "is_numpy_scalar", "is_python_number", "is_number", "is_time", "is_scalar", "is_integer",
           "is_float", "is_complex", "is_refcounted"]


class Record(Type):
    """Element of a structured array. dtype: the structured dtype; cls: np.void, or np.record, whose fields are
    attributes too.
    Elements are never loaded as a whole: a record is a 0-d view (lib/np/arrays/records.py). The elements of arrays of
    text have this type, too, with a dtype that has no fields (lib/np/indexing/text_elements.py)."""

    __slots__ = fields = ("dtype", "cls")
    dtype: Any
    cls: Any

    def __new__(cls, dtype, scalar=None):
        return super().__new__(cls, dtype, scalar or dtype.type)

    @property
    def bits(self) -> int:
        return 8 * self.dtype.itemsize

    @property
    def is_text(self) -> bool:
        return self.dtype.names is None

    def _text(self):
        if self.is_text:
            return str(self.dtype)
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
    counted = "array"
    held = ()  # numbers only
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


class Tuple(Composite):
    """A tuple of fixed length. `elements`: tuple of Type; `cls`: the namedtuple class, or None for `tuple`."""

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
    """A kind for objects of one Python class that consist of their attributes: such an object is unboxed by reading
    these, and boxed by calling the class with them. A subclass must only define `python_class` and `fields` (the names
    of the attributes, in the order of the class's parameters):

        class IntervalType(Attributes):
            __slots__ = fields = ("low", "high")
            python_class = Interval

    The types of the attributes are the type's arguments, and its parts. Values in compiled code have no identity:
    boxing makes a new object. The attributes must be stored in the object (its `__dict__` or slots), and
    none of them may be a property: they are read without running code of the program."""

    __slots__ = ()
    joins = True
    python_class: Any = None
    names: Any = ()

    def __init_subclass__(cls):
        cls.names, python_class = vars(cls).get("names", cls.fields), cls.python_class
        if python_class is None:  # a common base class of several kinds
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
        """The type of an object of the class. typeof: attribute name -> type of the attribute."""
        return cls(*map(typeof, cls.names))

    def _text(self):
        return f"{self.python_class.__qualname__}({', '.join(map(str, self.key[1:]))})"

    def open(self, value):
        return tuple([getattr(value, name) for name in self.names])

    def build(self, parts):
        return self.python_class(*parts)


_kinds_of_classes: dict[type, type[Attributes]] = {}


def kind_of_class(cls: type) -> type[Attributes] | None:
    """The kind of the objects of a Python class that consist of their attributes, if there is one."""
    return _kinds_of_classes.get(cls)


class Slice(Attributes):
    """A Python slice; start, stop and step are each Int or NoneType (or any index type)."""

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
            typeof(name)  # raises for ints beyond 64 bits
        return Range

    def _text(self):
        return "range"

    def _parts(self):
        return (Int,) * 3


Range = RangeType()


class Struct(Composite):
    """A record of the library, such as an iteration state. `name`: str; `members`: ((field, Type), ...).

    A structure that represents a value of the program, or that joins in a way of its own, is a kind of its own: a
    subclass whose `role` is the name of its types, so that Struct(role, members) is one of them.

    is_state: whether it is the state of an iteration (the states of generators are a kind of their own)."""

    __slots__ = ("name", "members", "_places")
    fields: tuple[str, ...] = __slots__[:2]
    name: str
    members: tuple[tuple[str, Type], ...]
    _places: dict[str, int]
    role: str
    is_state = True
    _of_role: dict[str, type[Struct]] = {}

    def __init_subclass__(cls, role: str = "", is_state: bool = False):
        cls.is_state = is_state
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

    def place(self, name: str) -> int:  # a long display has thousands
        if not hasattr(self, "_places"):
            object.__setattr__(self, "_places", {one: n for n, one in enumerate(self.names)})
        return self._places[name]

    def _parts(self):
        return tuple([t for _, t in self.members])

    def with_parts(self, parts):
        return type(self)(self.name, tuple(zip(self.names, parts)), *self.key[3:])


def numbered(types) -> tuple[tuple[str, Type], ...]:
    """Members of a structure with numbers as names."""
    return tuple([(str(n), t) for n, t in enumerate(types)])


class ListDisplay(Struct, role="list"):
    """A list display: its type has the types of all items."""

    __slots__ = ()
    python_class = list


class DictDisplay(Struct, role="dict"):
    """A dict display whose keys are constant texts: its type has the keys and the types of the values."""

    __slots__ = ()
    python_class = dict


class DictView(Struct):
    """The view that `keys`, `values` or `items` of a dict return, represented by the dict."""

    __slots__ = ()

    @property
    def viewed(self) -> Any:
        """The type of the dict."""
        return self.parts[0]

    @property
    def item(self) -> Type:
        """The type of the items of a loop over it."""
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
    """The value of `a.flags`, represented by the array."""

    __slots__ = ()
    python_class = type(np.empty(0).flags)


class FlatArray(Struct, role="flat"):
    """The value of `a.flat`, represented by the array."""

    __slots__ = ()


class Broadcast(Struct, role="broadcast"):
    """The value of np.broadcast(...), represented by the arrays."""

    __slots__ = ()


class Ended(Struct, role="empty_iterator"):
    """The state of an iteration that is exhausted."""

    __slots__ = ()


class Zip(Struct, role="zip", is_state=True):
    """The state of `zip`. Two of them join, or there would be a type for each combination of those of the iterables."""

    __slots__ = ()
    joins = True


class StrictZip(Zip, role="zip_strict", is_state=True):
    """The state of `zip(..., strict=True)`."""

    __slots__ = ()


class Generator(Struct):
    """The state of a generator: the function value and the live values. `step`: the front.generators.StepPrototype that
    continues from it."""

    fields = ("name", "members", "step")
    __slots__ = ("step",)
    step: Any
    names_own = unlimited = inner = joins = True
    class_name = "generator"

    def _text(self):
        return f"generator {self.step}{{{', '.join(str(t) for _, t in self.members)}}}"

    def joined(self, other, join):
        """States in which one variable has different types stay apart, as code for each of them is faster; if several
        variables do, there would be a state for each combination."""
        if not self.is_like(other):
            return None
        apart = [(a, b) for a, b in zip(self.parts, other.parts)
                 if a is not b and not (type(a) is type(b) and a.varying and b.varying)]
        if len(apart) == 1 and not any([a.covers(b) or b.covers(a) for a, b in apart]):
            return None
        return super().joined(other, join)


class Iterator(Reference):
    """A mutable iterator object from an explicit `iter(x)`: a reference to a cell with a state value."""

    __slots__ = fields = ("state",)
    state: Type
    counted = "cell"
    inner = True

    def _text(self):
        return f"iterator[{self.state}]"

    @property
    def class_name(self):
        return "generator" if any_part(self.state, lambda t: isinstance(t, Generator)) else "iterator"


class Vector(Type):
    """Numbers of `count` iterations of a loop side by side, in one register of the processor or several (see
    ops/vectors.py)."""

    __slots__ = fields = ("lane", "count")
    lane: Type
    count: int
    inner = True

    def _text(self):
        return f"vector({self.lane}, {self.count})"


class _SharedVariable(Type):
    """A variable shared by closures: a reference to a box or cell. `site` identifies the instruction that makes it."""

    __slots__ = fields = ("site",)
    site: Content
    counted = "object"
    names_own = True

    @property
    def content(self) -> Any:
        return self.site.content

    @property
    def inside(self):
        return () if self.content is None else (self.content,)


class Cell(_SharedVariable):
    """A shared variable of compiled code only: a reference to a mutable box."""

    __slots__ = ()
    counted = "cell"
    inner = True

    @property
    def held(self):
        return (self.content,)

    def _text(self):
        return f"cell[{self.site}]"


class ObjectCell(_SharedVariable):
    """A shared variable of functions that are Python objects, since a container holds them or they are returned: a
    Python cell."""

    __slots__ = ()
    python_class = pytypes.CellType

    def _text(self):
        return f"object_cell[{self.site}]"


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
    """A Python function value: its code and the types of its captured values. The captured values are the
    representation. `proto`: an interned `front.functions.Prototype` (code, globals, names); `captures`:
    tuple of Type; roles: the role of each capture, in order ('defaults', 'kwdefaults', 'closure'; each at most
    once)."""

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


class FunctionObject(Reference):
    """A function that is an item of a container or is passed to the interpreter: a reference to a Python function with
    its code and captured values. function: the Function as which it is unboxed."""

    __slots__ = fields = ("function",)
    function: Function
    names_own = unlimited = True
    python_class = pytypes.FunctionType

    def _text(self):
        return f"object of {self.function}"

    def joined(self, other, join):
        found = self.function.joined(other.function, join)
        return None if found is None else FunctionObject(found)

    def covers(self, other):
        return type(other) is FunctionObject and self.function.covers(other.function)


class Method(Composite):
    """A bound method (`a.sum`), represented like the receiver. `name`: str. One of an object of the program's classes
    has a Python object, too: containers hold it, and a load tells methods apart by their functions."""

    __slots__ = fields = ("receiver", "name")
    receiver: Type
    name: str
    names = ("receiver",)

    @property
    def function(self) -> pytypes.FunctionType | None:
        """The function that the method calls, where the program has written it in the class of the receiver."""
        found = getattr(self.receiver.cls, self.name, None) if type(self.receiver) is ObjectOf else None
        return found if type(found) is pytypes.FunctionType else None

    @property
    def inner(self) -> bool:  # type: ignore[override]
        return self.function is None

    @property
    def python_class(self) -> type:
        return pytypes.BuiltinFunctionType if self.inner else pytypes.MethodType

    def _text(self):
        return f"method {self.receiver}.{self.name}"

    def _parts(self):
        return (self.receiver,)

    def with_parts(self, parts):
        return Method(*parts, self.name)


class Super(Composite):
    """The value of `super()`: it is represented like the receiver. `cls`: the class whose attributes are skipped, as
    are those of the classes before it in the receiver's method resolution order."""

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
    """A reference to an exception. `cls`: its Python class, or the common base class that is known."""

    __slots__ = fields = ("cls",)
    cls: Any
    counted = "object"

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
    """A reference to an object of exactly class `cls` (np.random.Generator, RandomState), whose methods have rules."""

    __slots__ = fields = ("cls",)
    cls: Any
    counted = "object"

    def _text(self):
        return f"{self.cls.__module__.split('.')[0]}.{self.cls.__name__}"

    @property
    def python_class(self):
        return self.cls


class PythonRandomType(Type):
    """A reference to an object of exactly random.Random."""

    __slots__ = ()
    counted = "object"
    class_name = "Random"

    def _text(self):
        return "random.Random"

    @property
    def python_class(self):
        return sys.modules["random"].Random  # the module is loaded, since there is a value of the type


PythonRandom = PythonRandomType()


class ObjectOf(Type):
    """A reference to an object of exactly class `cls`, a class that the program writes: the Python object itself.

    attributes: ((name, Type), ...) of the attributes that the objects of a call store, in alphabetical order, by which
    specialisations differ. In typed IR the type has none: within a compile each attribute of a class has one type for
    all its objects, which inference finds (`Session.attribute`)."""

    __slots__ = fields = ("cls", "attributes")
    cls: Any
    attributes: tuple[tuple[str, Type], ...]
    counted = "object"
    names_own = natively = True

    def __new__(cls, wanted, attributes=()):
        return super().__new__(cls, wanted, tuple(attributes))

    def _text(self):
        inner = ", ".join([f"{name}: {t}" for name, t in self.attributes])
        return f"{self.cls.__qualname__}{{{inner}}}" if inner else self.cls.__qualname__

    @property
    def python_class(self):
        return self.cls


def holds_cell(t: Type) -> bool:
    """Whether a value of type t holds a reference to a cell, as a function with captured variables does."""
    return any_part(t, lambda part: isinstance(part, (Cell, Iterator)))


def is_display(t: Type) -> bool:
    """Whether a value of type t is a list display, or contains one."""
    return any_part(t, lambda part: isinstance(part, ListDisplay))


def is_plain_tuple(t: Type) -> bool:
    """Whether values of the type are tuples of a known length and of class `tuple` itself."""
    return isinstance(t, Tuple) and t.cls is None


def is_refcounted(t: Type) -> bool:
    """Whether a value of this type holds a reference that must be released."""
    return t.refcounted
