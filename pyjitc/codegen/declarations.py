"""Declarations of the symbols that LLVM text uses and does not define: the first call of a function says what its
result and its parameters are, and every other symbol is the address of a variable."""
from __future__ import annotations

import re

__all__ = ["declared"]

_SYMBOL = re.compile(r"@([A-Za-z_][\w.]*)")
_KNOWN = re.compile(r"\n(?:de(?:fine|clare) [^@\n]*)?@([\w.]+)")
_OPENING, _CLOSING = "([{<", ")]}>"
# Functions of which LLVM must know more than their calls say.
_WITH_ATTRIBUTES = {"malloc": "declare noalias ptr @malloc(i64)", "calloc": "declare noalias ptr @calloc(i64, i64)"}


def declared(text: str, *more: str) -> str:
    """A text with declarations of what it and the texts `more`, which will be in the same module, do not define."""
    whole = "\n".join(("", text, *more))
    known = set(_KNOWN.findall(whole))
    return "\n".join([text, *(_WITH_ATTRIBUTES.get(name) or _declaration(name, whole)
                              for name in dict.fromkeys(_SYMBOL.findall(whole)) if name not in known)])


def _declaration(name: str, text: str) -> str:
    at = text.find(f"@{name}(")
    _, call, before = text[text.rfind("\n", 0, max(at, 0)) + 1:max(at, 0)].rpartition("call ")
    if not call:
        return f"@{name} = external global i8"
    before = before.rstrip()
    if before.endswith(")"):  # the type of a function with any number of arguments
        start = _opened(before)
        result, parameters = before[:start].rstrip(), before[start + 1:-1]
    else:
        result = before
        parameters = ", ".join(map(_type, _arguments(text, at + len(name) + 2)))
    start = _opened(result) if result[-1] in _CLOSING else result.rfind(" ") + 1
    convention = "preserve_mostcc " if result.startswith("preserve_mostcc ") else ""
    return f"declare {convention}{result[start:]} @{name}({parameters})"


def _opened(text: str) -> int:
    """The place of the bracket that the last character of a text closes."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] in _CLOSING) - (text[at] in _OPENING)
        if not depth:
            return at
    raise ValueError(text)


def _arguments(text: str, at: int) -> list[str]:
    """The arguments of a call, from the first one at a place of a text on."""
    depth, begin, found = 1, at, []
    while depth:
        depth += (text[at] in _OPENING) - (text[at] in _CLOSING)
        if not depth or depth == 1 and text[at] == ",":
            found.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return [argument for argument in found if argument]


def _type(argument: str) -> str:
    """The type of an argument."""
    if argument[0] in _OPENING:
        depth = 0
        for at, c in enumerate(argument):
            depth += (c in _OPENING) - (c in _CLOSING)
            if not depth:
                return argument[:at + 1]
    kind, _, rest = argument.partition(" ")
    return f"{kind} {rest.partition(' ')[0]}" if rest.startswith("addrspace(") else kind
