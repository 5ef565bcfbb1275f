"""Declarations of the symbols that LLVM text uses and does not define: the first call of a function says what its
result and its parameters are, and every other symbol is the address of a variable."""
from __future__ import annotations

__all__ = ["declared", "symbols"]

_FIRST = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"  # the characters with which a symbol begins
_OF_SYMBOLS = _FIRST + "0123456789."
_OPENING, _CLOSING = "([{<", ")]}>"
# Functions whose declarations have attributes that calls do not show.
_WITH_ATTRIBUTES = {"malloc": "declare noalias ptr @malloc(i64)", "calloc": "declare noalias ptr @calloc(i64, i64)"}


def declared(text: str, *more: str) -> str:
    """A text with declarations of what it and the texts `more`, which will be in the same module, do not define."""
    whole = "\n".join(("", text, *more))
    known = {*symbols(whole, "\n@"), *_heads(whole, "\ndefine "), *_heads(whole, "\ndeclare ")}
    return "\n".join([text, *(_WITH_ATTRIBUTES.get(name) or _declaration(name, whole)
                              for name in dict.fromkeys(symbols(whole)) if name and name[0] in _FIRST
                              and name not in known)])


def symbols(text: str, before: str = "@") -> list[str]:
    """The longest symbols that follow each `before` in a text; empty texts where none follows. (Compiling a regular
    expression takes longer than this for the text of a first call.)"""
    return [rest[:len(rest) - len(rest.lstrip(_OF_SYMBOLS))] for rest in text.split(before)[1:]]


def _heads(text: str, start: str) -> list[str]:
    """The first symbols of the lines that begin with `start`."""
    return [name for rest in text.split(start)[1:] for name in symbols(rest.partition("\n")[0])[:1]]


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
    """The index of the bracket that the last character of a text closes."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] in _CLOSING) - (text[at] in _OPENING)
        if not depth:
            return at
    raise ValueError(text)


def _arguments(text: str, at: int) -> list[str]:
    """The arguments of a call, of which the first one begins at index `at` of a text."""
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
