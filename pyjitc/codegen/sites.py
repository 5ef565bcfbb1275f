"""The places in a kernel that may fail, as data for the host: stored with the code, loaded without the compiler."""
from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Site"]


class Site(NamedTuple):
    """A place that may fail. cls: name of the exception class; message: a format for the values, of these LLVM
    types."""

    cls: str
    message: str
    values: tuple[str, ...]
    filename: str
    line: int
    function: str

    def text(self, values) -> str:
        """The message, with the 64-bit words that the record holds."""
        words = iter(zip(values, self.values))

        def show(found) -> str:
            word, kind = next(words)
            bits = int(kind[1:])
            word &= (1 << bits) - 1
            return str(word - (1 << bits) if found.group(1) == "d" and word >> bits - 1 else word)

        return re.sub(r"%l*([du])", show, self.message.replace("%%", "\0")).replace("\0", "%")
