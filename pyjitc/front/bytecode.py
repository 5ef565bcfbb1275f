"""Bytecode as a stable list of instructions: offsets, names, arguments, jump targets, positions, handlers.

It gives the same instructions as the `bytecode` package, which inspection uses; a test compares the two. Importing that
package takes too much time of a first call (docs/performance.md), so `co_code` is decoded here. Differences between
Python versions are handled here and in `quirks.py`.
"""
from __future__ import annotations

import dis
import sys
from types import CodeType

from ..ir.core import Loc

__all__ = ["Instr", "decode", "exception_ranges"]

VERSION = sys.version_info[:2]
_OPNAME = dis.opname
_EXTENDED = dis.opmap["EXTENDED_ARG"]
_CACHE = dis.opmap.get("CACHE", -1)
_JUMPS = frozenset(dis.hasjrel)
_ABSOLUTE = frozenset(dis.hasjabs)
_BACKWARD = frozenset(op for op, name in enumerate(_OPNAME) if "BACKWARD" in name)


class Instr:
    """name: opcode name; arg: argument; offset: of its first unit in bytes; target: offset jumped to, or -1; loc:
    position."""

    __slots__ = ("name", "arg", "offset", "target", "loc")

    def __init__(self, name, arg, offset, target, loc):
        self.name = name
        self.arg = arg
        self.offset = offset
        self.target = target
        self.loc = loc

    def __repr__(self):
        return f"{self.offset} {self.name} {self.arg}"


def decode(code: CodeType) -> list[Instr]:
    data = code.co_code
    result = []
    extended, start = 0, None
    n = len(data)
    i = 0
    locs = _positions(code)
    while i < n:
        op, arg = data[i], data[i + 1]
        if start is None:
            start = i
        if op == _EXTENDED:
            extended = (extended | arg) << 8
            i += 2
            continue
        arg |= extended
        following = i + 2
        while following < n and data[following] == _CACHE:
            following += 2
        target = -1
        if op in _JUMPS:
            target = following + 2 * (-arg if op in _BACKWARD else arg)
        elif op in _ABSOLUTE:
            target = 2 * arg
        loc = locs[i // 2]
        if _OPNAME[op] == "GET_ITER" and result and result[-1].loc.line == loc.line:
            loc = result[-1].loc  # the position of the iterable: before 3.13 it is that of the whole loop
        result.append(Instr(_OPNAME[op], arg, start, target, loc))
        extended, start = 0, None
        i = following
    return result


def _positions(code: CodeType) -> list[Loc]:
    locs = [Loc(code.co_firstlineno, 0, -1, -1)] * (len(code.co_code) // 2)
    if VERSION >= (3, 11):
        for k, (a, b, c, d) in enumerate(code.co_positions()):  # fewer where line_profiler has added NOPs to the end
            locs[k] = Loc(a or 0, b or 0, -1 if c is None else c, -1 if d is None else d)
        return locs
    for start, end, line in code.co_lines():
        if line is not None:
            loc = Loc(line, line, -1, -1)
            for k in range(start // 2, min(end // 2, len(locs))):
                locs[k] = loc
    return locs


def exception_ranges(code: CodeType) -> list[tuple[int, int, int, int, bool]]:
    """(start, end, target, stack depth, push lasti) of the exception table, offsets in bytes. Source: CPython,
    Objects/exception_handling_notes.txt (InternalDocs/exception_handling.md). Empty before 3.11."""
    table = getattr(code, "co_exceptiontable", b"")
    result = []
    i = 0
    n = len(table)

    def varint():
        nonlocal i
        b = table[i]
        i += 1
        value = b & 63
        while b & 64:
            b = table[i]
            i += 1
            value = value << 6 | b & 63
        return value

    while i < n:
        start = 2 * varint()
        length = 2 * varint()
        target = 2 * varint()
        flags = varint()
        result.append((start, start + length, target, flags >> 1, bool(flags & 1)))
    return result
