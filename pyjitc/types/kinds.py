"""The types of the IR: small frozen interned values, compared by identity.

A type says how a value is represented and which Python type it has when boxed. Python scalars and NumPy
scalars are distinct kinds, because NEP 50, division by zero, wrapping and the type of what is returned
depend on it. Every type has a text form (`str(t)`) that `types.text` reads back.
"""
from __future__ import annotations

import weakref

__all__ = [
    "Type", "TooLarge", "MAX_SIZE", "Int", "Float", "Bool", "Complex", "NoneType", "Unbound", "Undefined", "Str",
    "Bytes", "Object", "Ellipsis_",
    "NpInt", "NpFloat", "NpComplex", "NpBool", "NpTime", "TIME_UNITS", "Record", "Array", "Tuple", "Slice", "Range",
    "Union", "Dual", "members_of",
    "Singleton", "Function", "Method", "Cell", "Site", "Struct", "Generator", "Iterator", "DType", "Exception_",
    "Instance", "union_of", "member_for",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "bool_", "NUMPY_SCALARS",
    "is_numpy_scalar", "is_python_number", "is_number", "is_time", "is_scalar", "is_integer", "is_float", "is_complex",
    "is_refcounted",
]

MAX_SIZE = 1 << 14

_interned: dict = {}
_passing: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class TooLarge(TypeError):
    """A type would have more than MAX_SIZE parts: it grows with every call or round of something that has no end. (All
    that reads a type,
    as its text does, takes time for every part, also where one type stands at many places.)"""


class Type:
    """Base of all types. Construct through the subclasses; equal arguments give the same object.

    passing: the type names an object of the program (a function, a class, an allocation), itself or in its parts; it
    lives no longer than its users. size: the number of types in it, itself included. refcounted: whether a
    value holds a reference that must be released."""

    __slots__ = ("key", "text", "passing", "size", "refcounted", "__weakref__")
    fields: tuple[str, ...] = ()

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
            object.__setattr__(found, "passing", cls.__name__ in _PASSING or any(map(_passes, args)))
            for name, value in zip(cls.fields, args, strict=True):
                object.__setattr__(found, name, value)
            object.__setattr__(found, "text", found._text())
            object.__setattr__(found, "refcounted", found._is_refcounted())
            table = _passing if found.passing else _interned
            found = table.setdefault(key, found)  # atomic for a dict; under the compile lock for the other
        return found

    def _text(self) -> str:
        return type(self).__name__.lower()

    def _is_refcounted(self) -> bool:
        return False

    def __setattr__(self, name, value):
        raise AttributeError("types are frozen")

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self):
        return self.key[0], self.key[1:]


_PASSING = ("Singleton", "Function", "Cell", "Generator")


def _size(parts: tuple) -> int:
    """The types in the arguments of a type, and in tuples among them."""
    total = 0
    for part in parts:
        if isinstance(part, Type):
            total += part.size
        elif type(part) is tuple:
            total += _size(part)
    return total


def _passes(part) -> bool:
    if isinstance(part, Type):
        return part.passing
    return type(part) is tuple and any(map(_passes, part))


def _singleton(name: str, text: str, doc: str, refcounted: bool = False) -> Type:
    cls = globals()[name] = type(name, (Type,), {  # pickles look it up
        "__slots__": (), "__doc__": doc, "_text": lambda self: text, "_is_refcounted": lambda self: refcounted})
    return cls()


Int = _singleton("IntType", "int", "Python int: 64-bit signed, arithmetic checked for overflow.")
Float = _singleton("FloatType", "float", "Python float: IEEE double.")
Bool = _singleton("BoolType", "bool", "Python bool; also the condition of a branch.")
Complex = _singleton("ComplexType", "complex", "Python complex: two doubles.")
NoneType = _singleton("NoneTypeType", "None", "The type of None; no representation.")
Unbound = _singleton("UnboundType", "unbound", "A local that no assignment has reached; no representation.")
Undefined = _singleton("UndefinedType", "undefined",
                       "A value nobody reads; joins with anything (the item of an iterator's end).")
Ellipsis_ = _singleton("EllipsisType", "ellipsis", "The type of `...`; no representation.")
Str = _singleton("StrType", "str", "A reference to a Python str object.", refcounted=True)
Bytes = _singleton("BytesType", "bytes", "A reference to a Python bytes object.", refcounted=True)
Object = _singleton("ObjectType", "object", "A reference to any Python object.", refcounted=True)


class NpInt(Type):
    """NumPy integer scalar; arithmetic wraps."""

    __slots__ = fields = ("bits", "signed")

    def _text(self):
        return f"{'' if self.signed else 'u'}int{self.bits}"


class NpFloat(Type):
    """NumPy floating scalar of 16, 32 or 64 bits."""

    __slots__ = fields = ("bits",)

    def _text(self):
        return f"float{self.bits}"


class NpComplex(Type):
    """NumPy complex scalar of 64 or 128 bits (both parts together)."""

    __slots__ = fields = ("bits",)

    def _text(self):
        return f"complex{self.bits}"


NpBool = _singleton("NpBoolType", "bool_", "NumPy bool scalar.")
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


class NpTime(Type):
    """NumPy datetime64 (kind 'M') or timedelta64 ('m'): a 64-bit number of `count` units, of which the least is NaT.

    It is no number: of what numbers can do it has what lib/np/dates/times.py says."""

    __slots__ = fields = ("kind", "unit", "count")
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

    def _is_refcounted(self):
        return True


class Tuple(Type):
    """Tuple of fixed length. `elements`: tuple of Type; `cls`: the namedtuple class, or None for `tuple`."""

    __slots__ = fields = ("elements", "cls")

    def __new__(cls, elements, tuple_cls=None):
        return super().__new__(cls, tuple(elements), tuple_cls)

    def _text(self):
        inner = ", ".join(map(str, self.elements)) + ("," if len(self.elements) == 1 else "")
        return f"({inner})" if self.cls is None else f"{self.cls.__qualname__}({inner})"

    def _is_refcounted(self):
        return any(t.refcounted for t in self.elements)


class Slice(Type):
    """Python slice; start, stop and step are each Int or NoneType (or any index type)."""

    __slots__ = fields = ("start", "stop", "step")

    def _text(self):
        return f"slice({self.start}, {self.stop}, {self.step})"


Range = _singleton("RangeType", "range", "Python range: three int64 (start, stop, step).")


class Struct(Type):
    """Library-level record: iterators and the like. `name`: str; `members`: ((field, Type), ...)."""

    __slots__ = fields = ("name", "members")

    def _text(self):
        return f"{self.name}{{{', '.join(f'{n}: {t}' for n, t in self.members)}}}"

    def _is_refcounted(self):
        return any(t.refcounted for _, t in self.members)


class Generator(Struct):
    """State of a generator: the function value and what is live. `step`: front.generators.StepPrototype to go on
    with."""

    fields = ("name", "members", "step")
    __slots__ = ("step",)

    def _text(self):
        return f"generator {self.step}{{{', '.join(str(t) for _, t in self.members)}}}"


class Iterator(Type):
    """Mutable iterator object made by an explicit `iter(x)`: a reference to a cell holding a state value."""

    __slots__ = fields = ("state",)

    def _text(self):
        return f"iterator[{self.state}]"

    def _is_refcounted(self):
        return True


class Site:
    """One allocation place whose content type inference refines by every use. `content`: Type or None so far."""

    __slots__ = ("name", "content")

    def __init__(self, name: str):
        self.name = name
        self.content = None

    def __repr__(self):
        return self.name


class Cell(Type):
    """A variable shared by closures: a reference to a mutable box. `site` names the allocation."""

    __slots__ = fields = ("site",)

    @property
    def content(self) -> Type:
        return self.site.content

    def _text(self):
        return f"cell[{self.site}]"

    def _is_refcounted(self):
        return True


class Union(Type):
    """One of several member types, told apart by a tag. Members are never unions. Use `union_of`."""

    __slots__ = fields = ("members",)

    def _text(self):
        return " | ".join(map(str, self.members))

    def _is_refcounted(self):
        return any(t.refcounted for t in self.members)


class Dual(Type):
    """A number of one of two types, kept as the wider one: where paths meet, `0` of Python and a float64 make
    `dual(int, float64)`.

    Every value of type `narrow` that such a place can hold is exactly a value of type `wide`, so that operations that
    do not tell the two apart read the wide value and no more. Representation: the wide value, and a bool that is True
    where the number has type `narrow`. low, high: the least and the greatest int that it can be then, or None where
    that is not known. Inference alone makes duals (infer/duals.py); tuples and lists hold unions."""

    __slots__ = fields = ("narrow", "wide", "low", "high")

    def __new__(cls, narrow, wide, low=None, high=None):
        return super().__new__(cls, narrow, wide, low, high)

    def _text(self):
        bounds = "" if self.low is None else f", {self.low}..{self.high}"
        return f"dual({self.narrow}, {self.wide}{bounds})"


class Singleton(Type):
    """A Python object known at compile time: a module, class, builtin, NumPy function, enum member, dtype class.

    Compared by identity of the object; `value` is the object. No representation.
    """

    __slots__ = ("ref", "value")
    fields = ("ref",)

    def __new__(cls, value):
        self = super().__new__(cls, _Ref(value))
        object.__setattr__(self, "value", value)
        return self

    def _text(self):
        value = self.key[1].value
        return f"<{getattr(value, '__qualname__', None) or getattr(value, '__name__', None) or repr(value)}>"

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


class Function(Type):
    """A Python function value: its code and the types of what it captured. The captured values are the
    representation. `proto`: an interned `front.functions.Prototype` (code, globals, names); `captures`:
    tuple of Type; roles: what each capture is, in order ('defaults', 'kwdefaults', 'closure'; each at most once)."""

    __slots__ = fields = ("proto", "captures", "roles")

    def _text(self):
        inner = f"[{', '.join(map(str, self.captures))}]" if self.captures else ""
        return f"function {self.proto.qualname}{inner}"

    def _is_refcounted(self):
        return any(t.refcounted for t in self.captures)


class Method(Type):
    """A bound method of a built-in kind (`a.sum`): the receiver's representation. `name`: str."""

    __slots__ = fields = ("receiver", "name")

    def _text(self):
        return f"method {self.receiver}.{self.name}"

    def _is_refcounted(self):
        return self.receiver.refcounted


class DType(Type):
    """A NumPy dtype object known at compile time. `scalar`: the NumPy scalar type."""

    __slots__ = fields = ("scalar",)

    def _text(self):
        return f"dtype[{self.scalar}]"


class Exception_(Type):
    """A reference to an exception instance. `cls`: the Python class (or the common base) known statically."""

    __slots__ = fields = ("cls",)

    def _text(self):
        return f"exception {self.cls.__name__}"

    def _is_refcounted(self):
        return True


class Instance(Type):
    """A reference to an instance of exactly class `cls` (np.random.Generator, RandomState), whose methods have
    rules."""

    __slots__ = fields = ("cls",)

    def _text(self):
        return f"{self.cls.__module__.split('.')[0]}.{self.cls.__name__}"

    def _is_refcounted(self):
        return True


def union_of(types) -> Type:
    """The smallest type that holds all of `types`: a Union without repeats, or the only member."""
    flat: list[Type] = []
    for t in types:
        for m in members_of(t):
            if m not in flat:
                flat.append(m)
    if len(flat) == 1:
        return flat[0]
    return Union(tuple(sorted(flat, key=lambda t: t.text)))


def members_of(t: Type) -> tuple[Type, ...]:
    """The types that a value of type `t` may have: several for a union and a dual."""
    return t.members if isinstance(t, Union) else (t.narrow, t.wide) if isinstance(t, Dual) else (t,)


def member_for(union: Union, t: Type) -> Type | None:
    """The member of `union` that holds a `t`: itself, or what a join made of it and others (see infer/join.py)."""
    return t if t in union.members else next((m for m in union.members if _covers(m, t)), None)


def _covers(t: Type, part: Type) -> bool:
    if t is part:
        return True
    if isinstance(t, Union):
        return all(member_for(t, m) is not None for m in (part.members if isinstance(part, Union) else (part,)))
    if type(t) is not type(part):
        return False
    if isinstance(t, Array):
        return ((t.dtype, t.ndim, t.writable) == (part.dtype, part.ndim, part.writable)
                and t.layout in (part.layout, "A") and t.aligned <= part.aligned)
    if isinstance(t, Tuple):
        return (t.cls is part.cls and len(t.elements) == len(part.elements)
                and all(map(_covers, t.elements, part.elements)))
    return isinstance(t, Exception_) and issubclass(part.cls, t.cls)


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
