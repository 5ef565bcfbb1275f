"""Files that the package makes for itself, and keeps where the interpreter keeps bytecode: each with a checksum.

A failure is no error: what cannot be read is made again, and what cannot be written is made in every process.
"""
from __future__ import annotations

import os
from _blake2 import blake2b

__all__ = ["keep", "read"]

_SUM = 16


def read(path: str) -> bytes | None:
    """The content of a file that `keep` wrote; None where there is none, or it is damaged."""
    try:
        with open(path, "rb", 0) as file:
            data = file.read()
    except OSError:
        return None
    return data[_SUM:] if blake2b(data[_SUM:], digest_size=_SUM).digest() == data[:_SUM] else None


def keep(files: dict[str, bytes], most: int) -> None:
    """Write files of one folder, path -> content, each atomically, and remove the oldest files with the same ending
    where there are more than `most`."""
    temporary = ""
    try:
        for path, data in files.items():
            folder, ending = os.path.dirname(path), os.path.splitext(path)[1]
            temporary = f"{path}.{os.getpid()}"
            os.makedirs(folder, exist_ok=True)
            with open(temporary, "xb") as file:
                file.write(blake2b(data, digest_size=_SUM).digest() + data)
            os.replace(temporary, path)
        if files:
            found = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(ending)]
            if len(found) > most:
                for old in sorted(found, key=os.path.getmtime)[:-most]:
                    os.unlink(old)
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass
