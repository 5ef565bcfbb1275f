"""How the modules with helpers in LLVM text (strings, decimals, tables, localtables, sorting) write them."""
from __future__ import annotations

from typing import Callable

__all__ = ["definer", "load", "store"]


def definer(texts: dict[str, str], inlined: str = "") -> Callable[..., None]:
    """The function that adds a definition to `texts`. inlined: the attribute of helpers that are not shared."""
    def define(head: str, body: str, shared: bool = False) -> None:
        """head: result and name with parameters. shared: whether other modules call the helper; else it is in the
        image of its callers."""
        name = head.partition("@")[2].partition("(")[0]
        attribute = "noinline" if shared else inlined
        texts[name] = f"\ndefine internal {head} nounwind {attribute} {{\n{body.strip(chr(10))}\n}}"

    return define


def load(name: str, kind: str, pointer: str, offset) -> str:
    """Instructions that load `name` from an offset in bytes."""
    return f"  %{name}.p = getelementptr i8, ptr {pointer}, i64 {offset}\n  %{name} = load {kind}, ptr %{name}.p\n"


def store(name: str, kind: str, value: str, pointer: str, offset) -> str:
    """Instructions that store a value at an offset in bytes, of which `name` is the address."""
    return f"  %{name} = getelementptr i8, ptr {pointer}, i64 {offset}\n  store {kind} {value}, ptr %{name}\n"
