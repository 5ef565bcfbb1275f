"""Constant texts with places for values, as f-strings: `text % values`, `text.format(...)` and the text of a tuple. All
functions return None where the interpreter has to do it, which then raises the error if there is one."""
from __future__ import annotations

import re
from string import Formatter

from ...infer.meaning import Apply, Const, Expr
from ...ops.pyobject import PY_FORMAT, PY_JOIN
from ...ops.structure import TUPLE_GET
from ...types.kinds import Float, Int, Str, Tuple
from ..protocol import boxed, protocol_of
from ..rule import NONE
from .interpreted import is_plain

__all__ = ["braces", "of_tuple", "percent"]

_PLACES = re.compile(r"%(-|\+?0?)([1-9]\d*|)(\.\d+)?([sdraf%])")


def percent(text: str, given: Expr) -> Expr | None:
    """`text % given`"""
    is_tuple = isinstance(given.type, Tuple)
    if is_tuple and given.type.cls is not None:
        return None
    values = [Apply(TUPLE_GET, given, index=n) for n in range(len(given.type.elements))] if is_tuple else [given]
    if not all([is_plain(x.type) for x in values]):
        return None
    parts, end, following = [], 0, iter(values)
    for found in _PLACES.finditer(text):
        parts.append(Const(Str, text[end:found.start()]))
        end = found.end()
        if found[0] == "%%":
            parts.append(Const(Str, "%"))
            continue
        x = next(following, None)
        part = None if x is None else _of_place(x, *found.groups())
        if part is None:
            return None
        parts.append(part)
    parts.append(Const(Str, text[end:]))
    if next(following, None) is not None or any(["%" in x.value for x in parts[::2] if x.known and x.type is Str]):
        return None
    return _joined(parts)


def _of_place(x: Expr, flag: str, width: str, digits: str | None, code: str) -> Expr | None:
    """A value in the place `%{flag}{width}{digits}{code}`."""
    if code == "d":
        if x.type is not Int or digits:
            return None
        return _part(x, "<" + width if flag == "-" else flag + width, "")
    if code == "f":
        return _part(x, ("<" if flag == "-" else flag) + width + (digits or "") + "f", "") if x.type is Float else None
    if code == "%" or flag not in ("", "-"):
        return None
    aligned = f"{'<' if flag else '>'}{width}" if width else ""
    return _part(x, aligned + (digits or ""), "" if x.type is Str and code == "s" else code)


def braces(text: str, args: list[Expr], kwargs: dict[str, Expr]) -> Expr | None:
    """`text.format(*args, **kwargs)`"""
    try:
        places = list(Formatter().parse(text))
    except ValueError:
        return None
    parts, following = [], iter(args)
    numbered = {str(n): x for n, x in enumerate(args)}
    names = [name for _, name, _, _ in places if name is not None]
    if "" in names and any([name.isdigit() for name in names]):
        return None
    for literal, name, spec, conversion in places:
        parts.append(Const(Str, literal))
        if name is None:
            continue
        x = next(following, None) if not name else numbered.get(name) or kwargs.get(name)
        if x is None or not is_plain(x.type) or "{" in (spec or ""):
            return None
        parts.append(_part(x, spec or "", conversion or ""))
    return _joined(parts)


def of_tuple(function, x: Expr) -> Expr | None:
    """`str(x)`, `repr(x)` or `ascii(x)` of a tuple of numbers and texts"""
    count, place = len(x.type.elements), "{!a}" if function is ascii else "{!r}"
    template = "(" + ", ".join([place] * count) + (",)" if count == 1 else ")")
    return braces(template, protocol_of(x.type).elements(x), {}) if count else None


def _part(x: Expr, spec: str, conversion: str) -> Expr:
    if x.type is Str and not spec and conversion in ("", "s"):
        return x
    return Apply(PY_FORMAT, boxed(x), boxed(Const(Str, spec)) if spec else NONE, conversion=conversion)


def _joined(parts: list[Expr]) -> Expr:
    return Apply(PY_JOIN, *[part for part in parts if not (part.known and part.type is Str and not part.value)])
