"""The protocols of text and bytes: str, bytes, bytearray, and memoryview of bytes.

Their values are Python objects. A method is a call in the interpreter, with the result type that `METHODS` says;
operations that are frequent in loops (items, lengths, comparison, iteration) are operations of the IR or library
functions of textfn.py.
"""
from __future__ import annotations

import functools
import operator

import numpy as np

from ...base.lazy import lazy
from ...infer.constants import constant
from ...infer.meaning import UNKNOWN, Apply, Call, Const, Expr, Mismatch, NotNative, Throw
from ...infer.names import describe
from ...ops.arith import BNOT, BOR, IGE, IGT, ILE, ILT, INE
from ...ops.pyobject import PY_GETATTR, PY_UNBOX
from ...ops.structure import METHOD_MAKE, SLICE_GET, TUPLE_GET
from ...ops.text import (
    BYTEARRAY_LEN, BYTES_LEN, STR_APPEND, STR_COMPARE, STR_EQ, STR_IN, STR_LEN, STR_REVERSED, STR_SEARCH,
)
from ...types.kinds import (
    Bool, ByteArray, Bytes, Exception_, Float, Int, List, MemoryView, NoneType, Object, Singleton, Slice, Str, Tuple,
    Type, is_integer, is_numpy_scalar, is_plain_tuple,
)
from ..build import SYMBOLS, number, provoked, type_name
from ..operations import fixed
from ..protocol import Protocol, by_python, protocol_of
from . import ranges
from .interpreted import call_python, folded, is_object

__all__ = ["METHODS", "PROTOCOLS", "class_method"]

textfn = lazy("pyjitc.lib.py.textfn")
templates = lazy("pyjitc.lib.py.templates")

# ---------------------------------------------------------------- methods


def _listed(**names: str) -> dict[str, str]:
    return {name: kind for kind, listed in names.items() for name in listed.split()}


# Methods that str, bytes and bytearray share, by their result. own: a value of the same kind; three: a tuple of three;
# list: a list of values of the same kind.
_COMMON = _listed(
    own="capitalize center expandtabs ljust lower lstrip removeprefix removesuffix replace rjust rstrip strip swapcase "
        "title translate upper zfill join",
    int="count find index rfind rindex",
    bool="endswith isalnum isalpha isascii isdigit islower isspace istitle isupper startswith",
    three="partition rpartition",
    list="split rsplit splitlines")
# class -> method -> result
METHODS: dict[type, dict[str, str]] = {
    str: {**_COMMON, **_listed(own="casefold format format_map", bytes="encode", object="maketrans",
                               bool="isdecimal isidentifier isnumeric isprintable")},
    bytes: {**_COMMON, **_listed(str="decode hex", own="fromhex", bytes="maketrans")},
    bytearray: {**_COMMON, **_listed(str="decode hex", own="fromhex copy", bytes="maketrans", int="pop",
                                     none="append clear extend insert remove reverse")},
    memoryview: _listed(own="toreadonly __enter__", bytes="tobytes", str="hex", none="release __exit__", object="cast",
                        ints="tolist"),
}
_KINDS: dict[type, Type] = {str: Str, bytes: Bytes, bytearray: ByteArray, memoryview: MemoryView}
_RESULTS: dict[str, Type] = {"int": Int, "bool": Bool, "bytes": Bytes, "str": Str, "none": NoneType, "object": Object,
                             "ints": List(Int)}
_STATIC = ("maketrans", "fromhex")  # methods that are called on the class and need no value


def _result(cls: type, name: str) -> Type | None:
    """The result type of a method, or None where compiled code has no kind for it."""
    given = METHODS[cls].get(name)
    own = _KINDS[cls]
    return (own if given == "own" else Tuple((own,) * 3) if given == "three" else List(own) if given == "list" else
            _RESULTS.get(given or ""))


# Methods that are called on the class, both as `vars(cls)` and as the class itself have them -> (function, result)
_CLASS_METHODS = {found: (getattr(cls, name), t) for cls, name, t in (
    (str, "maketrans", Object), (bytes, "maketrans", Bytes), (bytearray, "maketrans", Bytes), (bytes, "fromhex", Bytes),
    (bytearray, "fromhex", ByteArray), (int, "from_bytes", Int), (float, "fromhex", Float))
    for found in (getattr(cls, name), vars(cls)[name]) if type(found) is not staticmethod}


def class_method(function, args, kwargs) -> Expr | None:
    """`str.maketrans(...)`, `bytes.fromhex(...)`: methods that need no value; None for any other function."""
    try:
        function, t = _CLASS_METHODS[function]
    except (KeyError, TypeError):
        return None
    found = folded(function, args, kwargs) if t is not Object else None
    return found or call_python(function, *args, type=t, kwargs=kwargs)


# ---------------------------------------------------------------- protocols


def _indexed(cls: type, t: Type) -> str:
    """CPython's error for an index of type t, which is no integer."""
    return provoked(operator.getitem, cls(b"a") if cls is not str else "a", 1.5).replace("float", type_name(t))


class _Text(Protocol):
    """The common part of the protocols of str, bytes and bytearray."""

    cls: type
    type: Type
    length_of: object

    def __init__(self, cls: type):
        self.cls, self.type = cls, _KINDS[cls]

    # -- operators

    def binary(self, op, x, y, inplace):
        if op == "%" and self.cls is not memoryview:
            return (folded(operator.mod, [x, y], {}) or self.cls is str and x.known and templates.percent(x.value, y)
                    or call_python(operator.mod, x, y, type=self.type, plain=self.cls is not bytearray,
                                   api="PyUnicode_Format" if self.cls is str else None))
        if op == "*" and (is_integer(y.type) or y.type is Bool):
            return self.repeated(x, y, inplace)
        return None

    def reflected(self, op, x, y, inplace):
        if op == "*" and (is_integer(x.type) or x.type is Bool):
            return self.repeated(y, x, False)
        return None

    def repeated(self, x, n, inplace):
        return folded(operator.mul, [x, n], {}) or call_python(
            operator.imul if inplace else operator.mul, x, n, type=self.type,
            api="PyNumber_InPlaceMultiply" if inplace else "PyNumber_Multiply")

    def compare(self, op, x, y):
        if y.type is self.type and x.known and y.known:
            return Const(Bool, bool(SYMBOLS[op](x.value, y.value)))
        if y.type in _KINDS.values():
            found = self.compare_text(op, x, y)
            if found is not None:
                return found
        if op in ("==", "!="):
            if is_numpy_scalar(y.type):
                return constant(SYMBOLS[op](np.int8(0), ""))  # the type of the result differs between NumPy versions
            if isinstance(y.type, (Singleton, Exception_)) and (fixed(x) is UNKNOWN or fixed(y) is UNKNOWN):
                raise NotNative(f"{op} between {describe(x.type)} and {describe(y.type)} is not compiled",
                                "compare outside, and pass a number or a bool")
        return None

    def identical(self, x, y):
        return by_python(operator.is_, x, y, type=Bool) if x.type is y.type else None

    def compare_text(self, op, x, y):
        """`x op y` of two values that are text or bytes, or None where they are not ordered."""
        if Str in (x.type, y.type):
            return None
        if MemoryView in (x.type, y.type) and op not in ("==", "!="):
            return None
        return call_python(SYMBOLS[op], x, y, type=Bool)

    def truth(self, x):
        return Apply(INE, self.length(x), number(0))

    # -- items

    def length(self, x):
        return Const(Int, len(x.value)) if x.known else Apply(self.length_of, x)

    def contains(self, x, item):
        return (folded(operator.contains, [x, item], {})
                or call_python(operator.contains, x, item, type=Bool, plain=self.cls is bytes))

    def getitem(self, x, i):
        if not (is_integer(i.type) or i.type is Bool or isinstance(i.type, Slice)):
            raise Mismatch(_indexed(self.cls, i.type))
        return folded(operator.getitem, [x, i], {}) or (
            self.part(x, i) if isinstance(i.type, Slice) else self.item(x, ranges.index(i)))

    def part(self, x, i):
        """x[start:stop:step]"""
        return call_python(operator.getitem, x, i, type=self.type, api="PyObject_GetItem")

    def item(self, x, i):
        raise NotImplementedError

    # -- attributes and methods

    def attribute(self, x, name):
        return Apply(METHOD_MAKE, x, name=name) if _result(self.cls, name) is not None else None

    def method(self, x, name, args, kwargs):
        if name in _STATIC:
            return class_method(getattr(self.cls, name), args, kwargs)
        function, t = getattr(self.cls, name), _result(self.cls, name)
        found = folded(function, [x, *args], kwargs)
        if found is not None:
            return found
        if name == "join" and len(args) == 1 and not kwargs and not is_object(args[0].type):
            joined = textfn.joined if self.cls is str else textfn.joined_bytes
            return Call(joined, x, protocol_of(args[0].type).iterate(args[0]))
        if name == "extend" and len(args) == 1 and not kwargs and not is_object(args[0].type):
            return Call(textfn.extend, x, protocol_of(args[0].type).iterate(args[0]))
        if self.cls is str and name in _SEARCHES and not kwargs:
            searched = _searched(x, name, args)
            if searched is not None:
                return searched
        if self.cls is str and name == "format" and x.known:
            made = templates.braces(x.value, args, kwargs)
            if made is not None:
                return made
        wrong = _refusal(function, self.cls, args, kwargs)
        if wrong is not None:
            return Throw(TypeError, wrong)
        api = "PyUnicode_Join" if self.cls is str and name == "join" and len(args) == 1 and not kwargs else None
        return call_python(function, x, *args, type=t, kwargs=kwargs, api=api)


_SAMPLES = {Str: "a", Bytes: b"a", Int: 1, Float: 1.0, Bool: True, NoneType: None}


def _refusal(function, cls: type, args, kwargs) -> str | None:
    """The text of the TypeError with which a method refuses arguments of these types, whatever their values."""
    given = []
    for x in [*args, *kwargs.values()]:
        if x.type not in _SAMPLES:
            return None
        given.append(_SAMPLES[x.type])
    try:
        function(cls() if cls is str else cls(b""), *given[:len(args)], **dict(zip(kwargs, given[len(args):])))
    except TypeError as error:
        return str(error)
    except Exception:
        pass
    return None


_SEARCHES = ("find", "rfind", "index", "rindex", "count", "startswith", "endswith")
_LAST = (1 << 63) - 1
_FEW = 8  # texts that compiled code looks for one after the other


def _searched(x: Expr, name: str, args: list[Expr]) -> Expr | None:
    """A search of a text for another, between int bounds, or for one of several at its beginning or end; None for other
    operands."""
    if len(args) == 1 and name in ("startswith", "endswith") and is_plain_tuple(args[0].type):
        several = [Apply(TUPLE_GET, args[0], index=n) for n in range(len(args[0].type.elements))]
        found = [_searched(x, name, [one]) for one in several] if len(several) <= _FEW else [None]
        return None if None in found else functools.reduce(lambda a, b: Apply(BOR, a, b), found, Const(Bool, False))
    if not 1 <= len(args) <= 3 or args[0].type is not Str or not all(
            y.type in (NoneType, Bool) or is_integer(y.type) for y in args[1:]):
        return None
    places = [number(default) if n >= len(args) or args[n].type is NoneType else ranges.index(args[n])
              for n, default in ((1, 0), (2, _LAST))]
    if name == "index" or name == "rindex":
        return Call(textfn.index if name == "index" else textfn.rindex, x, args[0], *places)
    found = Apply(STR_SEARCH, x, args[0], *places, function=name)
    return found if name in ("find", "rfind", "count") else Apply(IGT, found, number(0))


class _Str(_Text):
    length_of = STR_LEN

    def binary(self, op, x, y, inplace):
        if op == "+" and y.type is Str:
            return folded(operator.add, [x, y], {}) or Apply(STR_APPEND, x, y)
        return super().binary(op, x, y, inplace)

    def compare_text(self, op, x, y):
        if y.type is not Str:
            return None
        if op in ("==", "!="):
            same = Apply(STR_EQ, x, y)
            return same if op == "==" else Apply(BNOT, same)
        return Apply(_ORDERS[op], Apply(STR_COMPARE, x, y), number(0))

    def contains(self, x, item):
        if item.type is not Str:
            raise Mismatch(f"'in <string>' requires string as left operand, not {type_name(item.type)}")
        return folded(operator.contains, [x, item], {}) or Apply(STR_IN, x, item)

    def item(self, x, i):
        return Call(textfn.str_item, x, i)

    def part(self, x, i):
        if i.known and i.value == slice(None, None, -1):
            return Apply(STR_REVERSED, x)
        parts = _bounds(i)
        return super().part(x, i) if parts is None else Call(textfn.str_part, x, *parts)

    def is_iterable(self, x):
        return True

    def iterate(self, x):
        return Call(textfn.str_iterate, x)

    def reversed(self, x):
        return Call(textfn.str_reversed, x)


_ORDERS = {"<": ILT, "<=": ILE, ">": IGT, ">=": IGE}


def _bounds(i: Expr) -> list[Expr] | None:
    """(start, stop) of a slice with step 1, each an int or None; None for other slices."""
    parts = [constant(getattr(i.value, name)) if i.known else Apply(SLICE_GET, i, field=name)
             for name in ("start", "stop", "step")]
    step = parts.pop()
    if step.type is not NoneType and not (step.known and step.value == 1):
        return None
    if not all(x.type is NoneType or x.type is Bool or is_integer(x.type) for x in parts):
        return None
    return [x if x.type is NoneType else ranges.index(x) for x in parts]


class _BytesLike(_Text):
    def part(self, x, i):
        parts = _bounds(i)
        return super().part(x, i) if parts is None else Call(textfn.bytes_part, x, *parts)

    def binary(self, op, x, y, inplace):
        if op == "+" and y.type in (Bytes, ByteArray, MemoryView):
            return folded(operator.add, [x, y], {}) or call_python(
                operator.iadd if inplace else operator.add, x, y, type=self.type, plain=self.type is Bytes)
        return super().binary(op, x, y, inplace)

    def unsupported(self, op, x, y, inplace):
        if op == "+":
            return Mismatch(f"can't concat {type_name(y.type)} to {self.cls.__name__}")
        return super().unsupported(op, x, y, inplace)

    def is_iterable(self, x):
        return True


class _Bytes(_BytesLike):
    length_of = BYTES_LEN

    def item(self, x, i):
        return Call(textfn.bytes_item, x, i)

    def iterate(self, x):
        return Call(textfn.bytes_iterate, x)

    def reversed(self, x):
        return Call(textfn.bytes_reversed, x)


class _Reference(_Text):
    """The protocol of mutable objects."""

    has_identity = True


class _ByteArray(_BytesLike, _Reference):
    length_of = BYTEARRAY_LEN

    def item(self, x, i):
        return Call(textfn.bytearray_item, x, i)

    def iterate(self, x):
        return Call(textfn.bytearray_iterate, x)

    def reversed(self, x):
        return Call(textfn.bytearray_reversed, x)

    def delitem(self, x, i):
        return call_python(operator.delitem, x, i, type=NoneType)

    def setitem(self, x, i, value, asks):
        if value.type is Int and (is_integer(i.type) or i.type is Bool):
            return Call(textfn.set_byte, x, ranges.index(i), value)
        return call_python(operator.setitem, x, i, value, type=NoneType)


class _MemoryView(_Reference):
    def length(self, x):
        return call_python(len, x, type=Int)

    def item(self, x, i):
        return call_python(operator.getitem, x, i, type=Int)

    def setitem(self, x, i, value, asks):
        return call_python(operator.setitem, x, i, value, type=NoneType)

    def is_iterable(self, x):
        return True

    def iterate(self, x):
        return Call(textfn.memory_iterate, x)

    def reversed(self, x):
        return Call(textfn.memory_reversed, x)

    def attribute(self, x, name):
        t = _MEMORY.get(name)
        if t is None:
            return super().attribute(x, name)
        found = Apply(PY_GETATTR, x, name=name)
        return found if t is Object else Apply(PY_UNBOX, found, type=t)


_MEMORY = {"nbytes": Int, "readonly": Bool, "format": Str, "itemsize": Int, "ndim": Int, "c_contiguous": Bool,
           "f_contiguous": Bool, "contiguous": Bool, "shape": Tuple((Int,)), "strides": Tuple((Int,)), "obj": Object}

PROTOCOLS = {
    type(Str): _Str(str), type(Bytes): _Bytes(bytes), type(ByteArray): _ByteArray(bytearray),
    type(MemoryView): _MemoryView(memoryview),
}
