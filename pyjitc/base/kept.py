"""Files that the package makes for itself, and keeps where the interpreter keeps bytecode: each with a checksum.

A failure is no error: what cannot be read is made again, and what cannot be written is made in every process.
"""
from __future__ import annotations

import os
from _imp import source_hash

__all__ = ["digest", "keep", "read"]

_SUM = 16


def digest(data: bytes) -> bytes:
    """128 bits that differ for different data: the interpreter's keyed hash, which it uses for files of compiled code,
    with two keys. Other functions are in extension modules, and loading one takes longer than all the hashing of a
    first call."""
    return source_hash(1, data) + source_hash(2, data)


def read(path: str) -> bytes | None:
    """The content of a file that `keep` wrote; None where there is none, or it is damaged."""
    try:
        with open(path, "rb", 0) as file:
            data = file.read()
    except OSError:
        return None
    return data[_SUM:] if digest(data[_SUM:]) == data[:_SUM] else None


def keep(files: dict[str, bytes], most: int) -> None:
    """Write files of one folder, path -> content, each atomically. Where there are more than `most` files with the same
    ending, remove the oldest ones until a quarter of the places is free: to find them takes a look at every file, which
    then happens rarely."""
    temporary = ""
    try:
        for path, data in files.items():
            folder, ending = os.path.dirname(path), os.path.splitext(path)[1]
            temporary = f"{path}.{os.getpid()}"
            os.makedirs(folder, exist_ok=True)
            with open(temporary, "xb") as file:
                file.write(digest(data) + data)
            os.replace(temporary, path)
        if files:
            names = [name for name in os.listdir(folder) if name.endswith(ending)]
            if len(names) > most:
                found = sorted([os.path.join(folder, name) for name in names], key=os.path.getmtime)
                for old in found[:len(found) - most * 3 // 4]:
                    os.unlink(old)
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass
