"""Names of loaded code for profilers on Linux (PYJITC_PERF=1).

The code of each image is written to an ELF file with a table of its functions, and mapped from there over the image:
tools that look up addresses in mapped files find them, such as `perf report`, `perf annotate`, `py-spy --native`. Files
stay after the process, for `perf report`, in a temporary folder that only its owner may read; a later process removes
them when they are a day old. Where they cannot be mapped, as in a folder that allows no executable code, `perf` finds
the names in /tmp/perf-PID.map, in which there is a line for each function. The interpreter writes to the same file with
`python -X perf`, so lines are appended.
"""
from __future__ import annotations

import ctypes
import mmap
import os
import shutil
import stat
import struct
import tempfile
import time
import warnings

__all__ = ["folder", "path", "tell"]

_lines: list[str] = []  # all lines so far
_folders: list[str] = []  # the folder of the ELF files, once there is one

# <elf.h>: types of a file, of a segment and of sections; flags; a global symbol that is a function
_ET_DYN, _EM_X86_64, _PT_LOAD, _PROGBITS, _SYMTAB, _STRTAB = 3, 62, 1, 1, 2, 3
_READ_EXECUTE, _ALLOC_EXECUTE, _GLOBAL_FUNCTION = 5, 6, 0x12
_MAP_FIXED = 0x10
_DAY = 24 * 3600.0
_PREFIX = "pyjitc-"  # of the name of a folder; the number of its process follows


def path() -> str:
    return f"/tmp/perf-{os.getpid()}.map"


def folder() -> str:
    if not _folders:
        _remove_old()
        _folders.append(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    return _folders[0]


def _remove_old() -> None:
    """Remove the folders of this user's processes that have ended, if nothing was put there for a day: until then
    `perf report` may need them."""
    with os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            number = entry.name.removeprefix(_PREFIX).partition("-")[0]
            if not entry.name.startswith(_PREFIX) or not number.isdecimal():
                continue
            try:
                found = entry.stat(follow_symlinks=False)
                if (stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
                        and time.time() - found.st_mtime > _DAY and not os.path.exists(f"/proc/{number}")):
                    shutil.rmtree(entry.path, ignore_errors=True)
            except OSError:  # another process has removed it
                pass


def _in_child() -> None:
    """Let the child of a fork, which has the code too, write a list of its own, and further files to its own folder."""
    _folders.clear()
    _write(_lines)


def tell(base: int, size: int, functions) -> None:
    """Tell profilers the functions of an image, (address, size, name) each. base, size: where its code is."""
    named = [(address, length, f"pyjitc::{name}") for address, length, name in functions]
    if not _lines:
        os.register_at_fork(after_in_child=_in_child)
    lines = [f"{address:x} {length:x} {name}\n" for address, length, name in named]
    _lines.extend(lines)
    _write(lines)
    try:
        _map(base, elf(ctypes.string_at(base, size), base, named), size)
    except OSError as error:
        warnings.warn(f"PYJITC_PERF: code cannot be mapped from a temporary file ({error.strerror}); py-spy will not "
                      "know the names of compiled functions", RuntimeWarning, stacklevel=2)


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


def _map(base: int, content: bytes, size: int) -> None:
    """Map the code in an ELF file, which begins at its second page, over the same code in memory."""
    handle, _ = tempfile.mkstemp(suffix=".so", dir=folder())
    try:
        with open(handle, "wb", closefd=False) as file:
            file.write(content)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
        found = libc.mmap(base, size, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE | _MAP_FIXED, handle,
                          mmap.PAGESIZE)
        if found != base:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        os.close(handle)


def elf(code: bytes, base: int, functions) -> bytes:
    """A shared object with a section of code, at its second page, and a table of the functions in it."""
    page = mmap.PAGESIZE
    names, symbols = b"\0", b"\0" * 24
    for address, length, name in functions:
        symbols += struct.pack("<IBBHQQ", len(names), _GLOBAL_FUNCTION, 0, 1, page + address - base, length)
        names += name.encode("utf-8", "replace") + b"\0"
    titles = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    body, places = b"\0" * page + code, []
    for part in (symbols, names, titles):
        body += b"\0" * (-len(body) % 8)
        places.append(len(body))
        body += part
    body += b"\0" * (-len(body) % 8)
    # name, type, flags, address, offset, size, link, info, alignment, size of an entry
    sections = [(0,) * 10, (1, _PROGBITS, _ALLOC_EXECUTE, page, page, len(code), 0, 0, 16, 0),
                (7, _SYMTAB, 0, 0, places[0], len(symbols), 3, 1, 8, 24),
                (15, _STRTAB, 0, 0, places[1], len(names), 0, 0, 1, 0),
                (23, _STRTAB, 0, 0, places[2], len(titles), 0, 0, 1, 0)]
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", _ET_DYN, _EM_X86_64, 1, 0, 64, len(body), 0, 64, 56, 1,
                         64, len(sections), 4)
    header += struct.pack("<IIQQQQQQ", _PT_LOAD, _READ_EXECUTE, page, page, page, len(code), len(code), page)
    return header + body[len(header):] + b"".join(struct.pack("<IIQQQQIIQQ", *section) for section in sections)
