"""Source file names in packages that are built ahead of time, which are not known yet when their code is compiled.

While the package is built, the name of each of its files is a *placeholder*: the path within the package, padded to a
fixed number of bytes. Compiled code contains it as a text, for tracebacks. Where the package is installed, the actual
file name replaces it in the code.
"""
import os
import re

__all__ = ["ROOTS", "filled", "placeholder", "relative", "shown"]

_MARK, _BEGIN, _ROOM = "\1", "\1pyjitc:", 1024
ROOTS: list[str] = []  # folders that contain such packages, with a separator at the end


def placeholder(path: str) -> str:
    """The name of a file while its package is built."""
    return _BEGIN + path + _MARK * max(_ROOM - len(_BEGIN + path), 1)


def relative(filename: str) -> str:
    """The part of a file name that does not depend on where the package is installed."""
    if filename[:1] == _MARK:
        return filename[len(_BEGIN):].rstrip(_MARK)
    for root in ROOTS:
        if filename.startswith(root):
            return filename[len(root):]
    return filename


def filled(code: bytes) -> bytes:
    """Object code in which the actual file names replace the placeholders; where one is too long for its placeholder,
    the path within the package is used."""
    root = ROOTS[0].encode("utf-8", "surrogateescape") if ROOTS else b""

    def name(found) -> bytes:
        room, path = len(found[0]), found[1]
        full = root + path.replace(b"/", os.sep.encode())
        return (full if len(full) <= room else path).ljust(room, b"\0")

    return re.sub(rb"\x01pyjitc:([^\x01\x00]+)\x01+", name, code)


def shown(message: str) -> str:
    """A message with paths in place of placeholders."""
    return re.sub("\x01pyjitc:([^\x01]+)\x01+", r"\1", message)
