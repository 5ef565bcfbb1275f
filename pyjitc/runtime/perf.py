"""Names of loaded code for Linux's `perf` (PYJITC_PERF=1): a line of /tmp/perf-PID.map for each function.

`perf report` uses that file for addresses outside of all mapped files. The interpreter writes to the same file with
`python -X perf`, so lines are appended.
"""
from __future__ import annotations

import os
import warnings

__all__ = ["tell", "path"]

_lines: list[str] = []  # all lines so far: the child of a fork has the code too, and needs another file


def path() -> str:
    return f"/tmp/perf-{os.getpid()}.map"


def tell(functions) -> None:
    """Write the (address, size, name) of each function to the file."""
    if not _lines:
        os.register_at_fork(after_in_child=lambda: _write(_lines))
    lines = [f"{address:x} {size:x} pyjitc::{name}\n" for address, size, name in functions]
    _lines.extend(lines)
    _write(lines)


def _write(lines) -> None:
    try:
        file = os.open(path(), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, "".join(lines).encode("utf-8", "surrogatepass"))
        finally:
            os.close(file)
    except OSError as error:
        warnings.warn(f"PYJITC_PERF: {path()} cannot be written ({error.strerror}); perf will not know the names of "
                      "compiled functions", RuntimeWarning, stacklevel=2)
