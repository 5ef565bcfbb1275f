"""Return the memory of a shared library's read-only pages to the system (Linux).

Opening llvmlite's library reads its tables of symbols and relocations once, and its constructors touch most of its
program; without these pages the first compile of a process adds less memory (docs/performance.md). The kernel maps a
page of the file again when the program accesses it.
"""
from __future__ import annotations

import ctypes
import os
import struct
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p, string_at

__all__ = ["release"]

_PT_LOAD, _PF_W = 1, 2  # <elf.h>: the type of a mapped segment; the flag of a writable segment
_MADV_DONTNEED = 4  # <sys/mman.h>


class _DlInfo(ctypes.Structure):
    """Dl_info of <dlfcn.h>: the result of dladdr for an address."""

    _fields_ = [("dli_fname", c_char_p), ("dli_fbase", c_void_p), ("dli_sname", c_char_p), ("dli_saddr", c_void_p)]


def release(library, symbol: str) -> None:
    """Release the read-only pages of a 64-bit ELF library, a `ctypes.CDLL` that exports `symbol`.

    Writable segments keep their pages, because these may differ from the file.
    """
    info = _DlInfo()
    # the C library is among the libraries that this one needs, and its header is at the start of its memory
    if not library.dladdr(ctypes.cast(getattr(library, symbol), c_void_p), byref(info)):
        return
    header = string_at(info.dli_fbase, 64)
    if header[:5] != b"\x7fELF\x02":
        return
    start, size, count = struct.unpack_from("<Q", header, 32)[0], *struct.unpack_from("<HH", header, 54)
    segments = string_at(info.dli_fbase + start, size * count)
    page = os.sysconf("SC_PAGE_SIZE")
    madvise = library.madvise
    madvise.argtypes = c_void_p, c_size_t, c_int
    for n in range(count):
        kind, flags, _, address, _, length = struct.unpack_from("<IIQQQQ", segments, n * size)
        if kind == _PT_LOAD and not flags & _PF_W:
            first = -(-(info.dli_fbase + address) // page) * page
            end = (info.dli_fbase + address + length) // page * page
            if first < end:
                madvise(first, end - first, _MADV_DONTNEED)
