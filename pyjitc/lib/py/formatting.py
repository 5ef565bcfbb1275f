"""Builtin functions that make text and bytes, or parse them: str, repr, format, ord, chr, bytes and their like."""
from __future__ import annotations

from ...base.lazy import lazy
from ...infer.meaning import Apply, Call, Const, Expr, Mismatch, NotNative
from ...infer.names import describe
from ...ops.pyobject import PY_FORMAT
from ...ops.text import STR_HASH
from ...types.kinds import ByteArray, Bytes, Ellipsis_, Int, MemoryView, NoneType, Str, Tuple, is_integer
from ..build import provoked, type_name
from ..protocol import boxed, protocol_of
from ..rule import NONE, rule
from . import ranges, textfn
from .interpreted import call_python, folded, is_object, is_plain

__all__ = ["CALLS", "hashed", "number_method"]

templates = lazy("pyjitc.lib.py.templates")


def _text(function, x: Expr) -> Expr:
    """str(x), repr(x) or ascii(x)"""
    if x.type is Str and function is str:
        return x
    found = folded(function, [x], {})
    if found is not None:
        return found
    if is_plain(x.type):
        made = templates.of_tuple(function, x) if isinstance(x.type, Tuple) and x.type.cls is None else None
        return made or call_python(function, x, type=Str)
    return protocol_of(x.type).text(function, x)


def _str(args, kwargs):
    return _text(str, args[0]) if len(args) == 1 and not kwargs else _decoded(args, kwargs)


@rule("str")
def _decoded(object=..., encoding=..., errors=...):
    given = {name: x for name, x in (("encoding", encoding), ("errors", errors)) if x.type is not Ellipsis_}
    if not given:
        return Const(Str, "") if object.type is Ellipsis_ else _text(str, object)  # str(object=x)
    if object.type is Ellipsis_:
        return call_python(str, type=Str, kwargs=given)
    if object.type in (Bytes, ByteArray) and encoding.type is Str and errors.type in (Str, Ellipsis_):
        decode = bytes.decode if object.type is Bytes else bytearray.decode
        return folded(decode, [object, *given.values()], {}) or call_python(decode, object, *given.values(), type=Str)
    return call_python(str, object, type=Str, kwargs=given)


@rule("format")
def _format(value, format_spec="", /):
    if format_spec.type is Str and format_spec.known and not format_spec.value and value.type is Str:
        return value
    if format_spec.type is not Str:
        return call_python(format, value, format_spec, type=Str)
    return folded(format, [value, format_spec], {}) or Apply(PY_FORMAT, boxed(value), boxed(format_spec), conversion="")


# The error for an int beyond 32 bits, which is an OverflowError before Python 3.13.
_TOO_LOW, _TOO_HIGH = provoked(chr, -1 << 40), provoked(chr, 1 << 40)


@rule("chr")
def _chr(i, /):
    i = ranges.index(i)
    return folded(chr, [i], {}) or Call(textfn.chr_, i, *(
        Const(Str, text) if text != provoked(chr, -1) else NONE for text in (_TOO_LOW, _TOO_HIGH)))


@rule("ord")
def _ord(c, /):
    if c.type is Str or c.type is Bytes:
        return folded(ord, [c], {}) or Call(textfn.ord_ if c.type is Str else textfn.ord_of_byte, c)
    if c.type is ByteArray:
        return call_python(ord, c, type=Int)
    raise Mismatch(f"ord() expected string of length 1, but {type_name(c.type)} found")


def _digits(function):
    @rule(function.__name__, "number, /")
    def found(x):
        x = x if is_integer(x.type) else ranges.index(x)
        return folded(function, [x], {}) or call_python(function, x, type=Str)

    return found


def _bytes_like(cls, t):
    @rule(cls.__name__)
    def found(source=..., encoding=..., errors=...):
        given = {name: x for name, x in (("encoding", encoding), ("errors", errors)) if x.type is not Ellipsis_}
        args = [] if source.type is Ellipsis_ else [source]
        if args and not is_object(source.type):
            return Call(textfn.bytes_of if cls is bytes else textfn.bytearray_of,
                        protocol_of(source.type).iterate(source))
        return (folded(cls, args, given) if cls is bytes else None) or call_python(cls, *args, type=t, kwargs=given)

    return found


@rule("memoryview")
def _memoryview(object):
    if object.type not in (Bytes, ByteArray, MemoryView):
        hint = "index the value itself, or pass bytes"
        if object.type is Str or object.type is NoneType or is_integer(object.type):
            raise Mismatch(f"memoryview: a bytes-like object is required, not {describe(object.type)}", hint)
        raise NotNative(f"memoryview() of {describe(object.type)} is not compiled", hint)
    return call_python(memoryview, object, type=MemoryView)


# ---------------------------------------------------------------- other builtins on text


def hashed(x: Expr) -> Expr:
    """hash(x) of str or bytes"""
    return Apply(STR_HASH, x)


def number_method(function, x: Expr, *args: Expr, **kwargs: Expr) -> Expr:
    """A method of a number that returns text or bytes."""
    t = Bytes if function is int.to_bytes else Str
    return folded(function, [x, *args], kwargs) or call_python(function, x, *args, type=t, kwargs=kwargs)


CALLS = {
    str: _str, repr: rule("repr", "obj, /")(lambda x: _text(repr, x)),
    ascii: rule("ascii", "obj, /")(lambda x: _text(ascii, x)), format: _format, chr: _chr, ord: _ord,
    bin: _digits(bin), oct: _digits(oct), hex: _digits(hex), bytes: _bytes_like(bytes, Bytes),
    bytearray: _bytes_like(bytearray, ByteArray), memoryview: _memoryview,
}
