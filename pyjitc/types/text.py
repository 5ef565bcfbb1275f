"""Types from text: `parse(str(t))` is `t` for every type with a text form, and Numba's names are accepted, too.

    float64[:, ::1]   C-ordered array      float64[::1, :]  Fortran-ordered    float64[:]  any strides
    datetime64[D]     timedelta64[25s]  timedelta64 (without a unit)  datetime64[D][:]
    (int, float64)    tuple                UniTuple(int64, 3), Tuple((int64, float64))   as in Numba
    int | None        union                optional(int64)  the same with None
    list[int]         list of ints         dict[str, list[float]], set[int], frozenset[int], deque[int]
Types that depend on a class (functions, structs, named tuples, modules) have a text that cannot be parsed.
"""
from __future__ import annotations

import re
from typing import NoReturn

from . import kinds
from .kinds import Array, DType, NpBool, Slice, Tuple, Type, is_numpy_scalar, union_of

__all__ = ["parse", "parse_list", "NAMES", "python_scalars"]

_WITHOUT_PARAMETERS = (
    kinds.Int, kinds.Float, kinds.Bool, kinds.Complex, kinds.NoneType, kinds.Unbound, kinds.Str, kinds.Bytes,
    kinds.ByteArray, kinds.MemoryView, kinds.Object, kinds.Ellipsis_, kinds.Range, kinds.Undefined, kinds.PythonRandom)
NAMES: dict[str, Type] = {t.text: t for t in _WITHOUT_PARAMETERS} | kinds.NUMPY_SCALARS
_ALIASES = {
    "boolean": "bool_", "b1": "bool_", "bool8": "bool_", "void": "None", "none": "None", "unicode_type": "str",
    "pyobject": "object", "byte": "uint8", "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16",
    "intc": "int32", "uintc": "uint32", "int_": "int64", "uint": "uint64", "intp": "int64", "uintp": "uint64",
    "long_": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64", "ssize_t": "int64",
    "size_t": "uint64", "half": "float16", "float_": "float64", "double": "float64", "complex_": "complex128",
    "ellipsis_": "ellipsis", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16",
    "u4": "uint32", "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64",
    "c16": "complex128",
}
NAMES |= {alias: NAMES[name] for alias, name in _ALIASES.items()}

_CONTAINERS: dict[str, type[kinds.Container]] = {
    cls.__name__: kind for cls, kind in kinds.CONTAINERS.items()}
_TIME = r"\s*\[\s*(\d*)([A-Za-z]+)\s*\]"
_TIMES = {"datetime64": "M", "timedelta64": "m"}
_TOKEN = r"\s*(?:([A-Za-z_][A-Za-z_0-9.]*)|(::1|::|\.\.\.|\d+|[][():,|]))"


def parse(text: str) -> Type:
    """The type with this text; raises ValueError with a position for an invalid text."""
    reader = _Reader(text)
    result = reader.union()
    reader.end()
    return result


def parse_list(text: str) -> tuple[Type | None, list[Type]]:
    """A signature `result(arg, ...)` or `(arg, ...)`: (result or None, arguments)."""
    reader = _Reader(text)
    result = None if reader.peek() == "(" else reader.union(signature=True)
    reader.expect("(")
    args = reader.items(")")
    reader.end()
    return result, args


def python_scalars(t: Type) -> Type:
    """`t` with int64, float64, complex128 and bool_ replaced by Python's own scalar types, also in its parts."""
    if isinstance(t, kinds.Composite) and t.joins:
        return t.with_parts(map(python_scalars, t.parts))
    if isinstance(t, kinds.Union):
        return union_of(map(python_scalars, t.members))
    scalars: dict[Type, Type] = {kinds.int64: kinds.Int, kinds.float64: kinds.Float, kinds.complex128: kinds.Complex,
                                 NpBool: kinds.Bool}
    return scalars.get(t, t)


class _Reader:
    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.token = re.compile(_TOKEN)

    def fail(self, why: str) -> NoReturn:
        raise ValueError(f"{why} at column {self.at} of the type {self.text!r}")

    def peek(self) -> str:
        found = self.token.match(self.text, self.at)
        if found is None:
            if self.text[self.at:].strip():
                self.fail("unexpected character")
            return ""
        return found[1] or found[2]

    def next(self) -> str:
        token = self.peek()
        found = self.token.match(self.text, self.at) if token else None
        if found:
            self.at = found.end()
        return token

    def expect(self, token: str) -> None:
        if self.peek() != token:
            self.fail(f"expected {token!r}")
        self.next()

    def end(self) -> None:
        if self.peek():
            self.fail(f"unexpected {self.peek()!r}")

    def items(self, close: str) -> list[Type]:
        result = []
        while self.peek() != close:
            if not self.peek():
                self.fail(f"{close!r} is missing")
            result.append(self.union())
            if self.peek() not in (close, ""):
                self.expect(",")
        self.next()
        return result

    def union(self, signature: bool = False) -> Type:
        members = [self.single(signature)]
        while self.peek() == "|":
            self.next()
            members.append(self.single(signature))
        return members[0] if len(members) == 1 else union_of(members)

    def single(self, signature: bool = False) -> Type:
        """One type with its array suffixes. signature: a `(` after a name starts the arguments."""
        token = self.next()
        if token == "(":
            result: Type = Tuple(self.items(")"))
        elif token in NAMES:
            result = NAMES[token]
        elif token == "tuple" and self.peek() == "[":
            self.next()
            result = kinds.TupleOf(self.union())
            for mark in (",", "...", "]"):
                self.expect(mark)
        elif token in _CONTAINERS and self.peek() == "[":
            self.next()
            kind = _CONTAINERS[token]
            held = self.items("]")
            if len(held) != len(kind.fields):
                self.fail(f"{token} takes {len(kind.fields)} type{'s' * (len(kind.fields) > 1)} in brackets")
            return kind(*held)
        elif token in _TIMES:
            result = self.time(token)
        elif token == "native":
            self.expect("[")
            result = kinds.NativeList(self.union())
            self.expect("]")
        elif token == "table":
            self.expect("[")
            result = kinds.NativeTable(self.union())
            self.expect("]")
        elif token == "dtype":
            self.expect("[")
            result = DType(self.union())
            self.expect("]")
        elif token in ("slice", "dual", "Tuple", "UniTuple", "optional", "Optional", "Array", "array", "vector"):
            result = self.applied(token)
        else:
            self.at -= len(token)
            self.fail(f"unknown type {token!r}" if token else "a type is missing")
        while self.peek() == "[":
            result = self.array(result)
        return result

    def time(self, name: str) -> Type:
        found = re.compile(_TIME).match(self.text, self.at)
        if found is None:
            return kinds.NpTime(_TIMES[name])
        if found[2] not in kinds.TIME_UNITS or found[1] and int(found[1]) == 0:
            self.fail(f"{found[1]}{found[2]} is no unit of NumPy's dates ({', '.join(filter(None, kinds.TIME_UNITS))})")
        self.at = found.end()
        return kinds.NpTime(_TIMES[name], found[2], int(found[1] or 1))

    def applied(self, name: str) -> Type:
        self.expect("(")
        if name == "slice":
            parts = self.items(")")
            if len(parts) != 3:
                self.fail("slice takes three types")
            return Slice(*parts)
        if name == "dual":
            narrow = self.union()
            self.expect(",")
            wide = self.union()
            bounds = re.compile(r"\s*,\s*(-?\d+)\.\.(-?\d+)").match(self.text, self.at)
            if bounds is not None:
                self.at = bounds.end()
            self.expect(")")
            return kinds.Dual(narrow, wide, *(map(int, bounds.groups()) if bounds is not None else ()))
        if name == "Tuple":
            found = self.items(")")
            if len(found) != 1 or not isinstance(found[0], Tuple):
                self.fail("Tuple takes one parenthesised list of types")
            return found[0]
        element = self.union()
        if name in ("optional", "Optional"):
            self.expect(")")
            return union_of((element, kinds.NoneType))
        self.expect(",")
        count = self.next()
        if not count.isdigit():
            self.fail("expected a number")
        if name == "UniTuple" or name == "vector":
            self.expect(")")
            return Tuple([element] * int(count)) if name == "UniTuple" else kinds.Vector(element, int(count))
        self.expect(",")
        layout = self.next()
        self.expect(")")
        return self.checked(element, int(count), layout)

    def array(self, element: Type) -> Array:
        self.expect("[")
        axes: list[str] = []
        flags: list[str] = []
        while self.peek() != "]":
            token = self.next()
            if token in ("readonly", "unaligned"):
                flags.append(token)
            elif token in (":", "::1", "::") and not flags:
                axes.append(token)
            else:
                self.fail("expected ':' or '::1'")
            if self.peek() != "]":
                self.expect(",")
        self.next()
        ones = [n for n, axis in enumerate(axes) if axis == "::1"]
        if not ones:
            # A zero-dimensional array is contiguous unless the text says otherwise.
            layout = "A" if axes else "C"
        elif ones == [len(axes) - 1]:
            layout = "C"
        elif ones == [0]:
            layout = "F"
        else:
            self.fail("'::1' stands on the last axis (C order) or the first (Fortran order)")
        return self.checked(element, len(axes), layout, "readonly" not in flags, "unaligned" not in flags)

    def checked(self, element: Type, ndim: int, layout: str, writable: bool = True, aligned: bool = True) -> Array:
        if not is_numpy_scalar(element):
            known = {kinds.Int: kinds.int64, kinds.Float: kinds.float64, kinds.Bool: NpBool,
                     kinds.Complex: kinds.complex128}.get(element)
            if known is None:
                self.fail(f"arrays hold NumPy scalars, not {element}")
            element = known
        if layout not in ("C", "F", "A"):
            self.fail("the layout is C, F or A")
        return Array(element, ndim, layout, writable, aligned)
