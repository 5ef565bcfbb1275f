"""Loads a relocatable ELF object, or several that refer to each other: bytes in, addresses of symbols out.

Object code comes from LLVM or from the disk cache; this turns it into executable memory without LLVM, in a fraction of
a millisecond. Memory is written first and made executable afterwards (never both at once), and it is unmapped when its
Image is freed: code that may be running keeps a reference to its Image.

Layout of an image: [code, read-only data, offset table, jump stubs | data, bss], with a page boundary at `|`. The first
part becomes read+execute, the second stays read+write. Externals are names, see `resolve`.
"""
from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys

import numpy as np

from ..base.lazy import lazy
from ..base.options import environment
from .platform import FRAME_LINE, check, numpy_api_table
from . import thunks

perf = lazy(f"{__package__}.perf")  # only with PYJITC_PERF
# functions that can find the addresses of externals
blas, gates, pool, random = (lazy(f"{__package__}.{name}") for name in ("blas", "gates", "pool", "random"))
_GATED = ("PyGILState_Ensure", "PyGILState_Check", "PyEval_RestoreThread", "PyThreadState_New", "pyjitc_park")

__all__ = ["Image", "LoadError", "load", "provide", "resolve"]


class LoadError(RuntimeError):
    """Raised where an object cannot be loaded; the message says why."""


class Image:
    """Loaded code. address(symbol): of every global symbol that it defines; `objects`: the Python objects to which it
    refers."""

    __slots__ = ("symbols", "objects", "size", "_memory", "__weakref__")

    def __init__(self, memory: mmap.mmap, symbols: dict[str, int], objects: dict[str, object]):
        self.symbols = symbols
        self.objects = objects
        self.size = len(memory)
        self._memory = memory  # unmapped when the last reference is released

    def address(self, symbol: str) -> int:
        try:
            return self.symbols[symbol]
        except KeyError:
            raise LoadError(f"the object defines no symbol {symbol!r}") from None


_SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS = 2, 4, 8
_SHF_WRITE, _SHF_ALLOC, _SHF_TLS = 1, 2, 0x400
_STT_FUNC = 2
_SHN_UNDEF, _SHN_SPECIAL, _SHN_ABS, _SHN_COMMON = 0, 0xFF00, 0xFFF1, 0xFFF2
_MAP_32BIT = 0x40
_GOT = "_GLOBAL_OFFSET_TABLE_"
_BODY = "pyjitc_body"  # the function that a stub calls (codegen/partition.py)

# Relocation types of the x86-64 ABI. S: symbol, A: addend, P: place, G: offset of the symbol's slot in the table at
# GOT.
_ABS64, _PC32, _PLT32, _GOTPCREL, _ABS32, _ABS32S, _PC64, _GOTOFF64, _GOTPC32 = 1, 2, 4, 9, 10, 11, 24, 25, 26
_GOT64, _GOTPCREL64, _GOTPC64, _PLTOFF64, _GOTPCRELX, _REX_GOTPCRELX = 27, 28, 29, 31, 41, 42
_USES_GOT = {_GOTPCREL, _GOT64, _GOTPCREL64, _GOTPCRELX, _REX_GOTPCRELX}
_STUB = b"\xff\x25\x02\x00\x00\x00\x0f\x0b"  # jmp [rip+2]; ud2; then the address: 16 bytes


def load(data: bytes | tuple[bytes, ...], objects: dict[str, object] | None = None,
         addresses: dict[str, int] | None = None, title: str = "") -> Image:
    """Load a relocatable object, or several as one image. objects: symbol -> the Python object at whose address the
    symbol is (the image keeps it alive); addresses: further symbols by address; title: the name of the function in
    profilers. Raises LoadError where it cannot be loaded, ABIError on an unsupported platform."""
    check()
    if not _known:
        _keep_freed_memory()
    objects = dict(objects or {})
    try:
        return _Loading(data if isinstance(data, tuple) else (data,), objects, addresses or {}, title).run()
    except (struct.error, IndexError, ValueError, StopIteration, UnicodeDecodeError) as error:
        raise LoadError(f"malformed object file: {error!r}") from error


_provided: dict[bytes, Image] = {}  # they live as long as the process: any later image may call them


def provide(runtime: tuple[bytes, ...]) -> None:
    """Load objects whose symbols are externals of objects that are loaded later; each is loaded once."""
    for data in runtime:
        if data not in _provided:
            image = _provided.setdefault(data, load(data))  # another thread may have loaded it first
            # a daemon thread may still run the code when the interpreter ends and frees its modules
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(image))
            for name, address in image.symbols.items():
                _known.setdefault(name, address)


class _Loading:
    """Object files while they are loaded: `run` returns the image. Sections and symbols are numbered through all of
    them; `data` has one file after the other."""

    def __init__(self, files: tuple[bytes, ...], objects: dict[str, object], addresses: dict[str, int], title: str):
        self.data, self.objects, self.addresses, self.title = b"".join(files), objects, addresses, title
        # of a section: name, type, flags, address, offset, size, link, info, align, entry size
        self.sections: list[tuple] = []
        # of a symbol: offset of the name, information, other, section, value, size
        self.symbols: list[tuple] = []
        self.tables: list[tuple] = []  # of relocations: (number of the section, offset, size, number of symbol 0)
        self.fixed: list[int] = []  # the numbers of the sections of the two parts
        self.written: list[int] = []
        start = 0
        for file in files:
            self.read(start, len(file))
            start += len(file)

    def run(self) -> Image:
        self.collect()
        self.lay_out()
        self.copy()
        exported = self.find_symbols()
        self.fill_tables()
        for section, entries in self.relocations:
            self.relocate(section, entries)
        _protect(self.base, self.protected)
        if environment("PYJITC_PERF") not in ("", "0"):
            named = ((value, s[5], _shown(self.name_of(s), s[1] >> 4 == 1, self.title))
                     for s, value in zip(self.symbols, self.values) if s[1] & 15 == _STT_FUNC and s[3] in self.place)
            perf.tell(self.base, self.protected, named)
        return Image(self.memory, exported, self.objects)

    def read(self, start: int, size: int) -> None:
        """Add the sections and symbols of the file at `start`."""
        data = self.data
        if data[start:start + 6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", data, start + 16) != (1, 62):
            raise LoadError("not a relocatable ELF object for x86-64")
        table, = struct.unpack_from("<Q", data, start + 40)
        entry, count, names = struct.unpack_from("<HHH", data, start + 58)
        if entry != 64 or table + entry * count > size:
            raise LoadError("malformed object file: section table")
        table += start
        first, first_symbol = len(self.sections), len(self.symbols)
        sections = list(struct.iter_unpack("<IIQQQQIIQQ", data[table:table + entry * count]))
        names = start + sections[names][4]
        for n, (name, kind, flags, address, offset, length, link, about, *rest) in enumerate(sections, first):
            offset += start
            self.sections.append((name, kind, flags, address, offset, length, link, about, *rest))
            if kind == _SHT_SYMTAB:
                strings = start + sections[link][4]
                self.symbols += [
                    (strings + s[0], s[1], s[2], first + s[3] if 0 < s[3] < _SHN_SPECIAL else s[3], s[4], s[5])
                    for s in struct.iter_unpack("<IBBHQQ", data[offset:offset + length])]
            elif kind == _SHT_RELA:
                self.tables.append((first + about, offset, length, first_symbol))
            elif flags & _SHF_ALLOC and length:
                if flags & _SHF_TLS:
                    raise LoadError("thread-local data is not supported")
                if kind != _SHT_NOBITS and offset + length > start + size:
                    raise LoadError("malformed object file: a section lies outside the file")
                if data[names + name:data.index(b"\0", names + name)] != b".eh_frame":
                    (self.written if flags & _SHF_WRITE else self.fixed).append(n)

    def name_of(self, symbol) -> str:
        return self.data[symbol[0]:self.data.index(b"\0", symbol[0])].decode()

    def collect(self) -> None:
        """The relocations of the loaded sections, and the symbols that need a slot or a stub. `low`: whether addresses
        must fit in 32 bits."""
        self.relocations = []  # (section, its relocations)
        slots: dict[int, int] = {}  # symbol number -> offset in the table
        stubs: dict[int, int] = {}
        self.slots, self.stubs, self.low = slots, stubs, False
        symbols = self.symbols
        for section, start, size, first in self.tables:
            if section not in self.fixed and section not in self.written:
                continue
            entries = [(offset, info & 0xFFFFFFFF, first + (info >> 32), addend)
                       for offset, info, addend in struct.iter_unpack("<QQq", self.data[start:start + size])]
            self.relocations.append((section, entries))
            for _, kind, symbol, _ in entries:
                if kind in _USES_GOT:
                    slots.setdefault(symbol, 8 * len(slots))
                elif (kind == _PLT32 or kind == _PLTOFF64 or kind == _PC32) and symbols[symbol][3] == _SHN_UNDEF:
                    stubs.setdefault(symbol, 16 * len(stubs))
                elif kind == _ABS32 or kind == _ABS32S:
                    self.low = True

    def lay_out(self) -> None:
        """The addresses of all sections, relative to the start of the image."""
        self.place: dict[int, int] = {}
        self.common: dict[int, int] = {}
        end = self.put(self.fixed, 0)
        self.got = end = -(-end // 16) * 16
        end += 8 * len(self.slots)
        self.plt = end = -(-end // 16) * 16
        end += 16 * len(self.stubs)
        page = mmap.PAGESIZE
        self.protected = max(-(-end // page) * page, page)
        end = self.put(self.written, self.protected)
        for number, s in enumerate(self.symbols):
            if s[3] == _SHN_COMMON:
                align = max(s[4], 1)
                end = self.common[number] = -(-end // align) * align
                end += s[5]
        self.end = end

    def put(self, numbers: list[int], end: int) -> int:
        """Place sections one after the other; returns the end of the last one."""
        for n in numbers:
            align = max(self.sections[n][8], 1)
            end = self.place[n] = -(-end // align) * align
            end += self.sections[n][5]
        return end

    def copy(self) -> None:
        """Allocate the image, and copy the sections to their places."""
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (_MAP_32BIT if self.low else 0)
        memory = self.memory = mmap.mmap(-1, -(-self.end // mmap.PAGESIZE) * mmap.PAGESIZE, flags=flags)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for n, start in self.place.items():
            s = self.sections[n]
            if s[1] != _SHT_NOBITS:
                memory[start:start + s[5]] = self.data[s[4]:s[4] + s[5]]

    def find_symbols(self) -> dict[str, int]:
        """The value of each symbol. Returns those of the symbols that other images may use."""
        self.values = values = []
        exported: dict[str, int] = {}
        undefined = []
        for number, s in enumerate(self.symbols):
            where, value = s[3], s[4]
            if where == _SHN_UNDEF:
                undefined.append(number)
            elif where == _SHN_COMMON:
                value = self.base + self.common[number]
            elif where in self.place:
                value += self.base + self.place[where]
            elif where != _SHN_ABS:
                value = 0  # a section that is not loaded
            if where != _SHN_UNDEF and s[1] >> 4:
                exported[self.name_of(s)] = value
            values.append(value)
        for number in undefined:
            values[number] = self.external(self.symbols[number], exported)
        return exported

    def external(self, symbol, exported: dict[str, int]) -> int:
        """The address of a symbol that the file does not define in which it is used."""
        name = self.name_of(symbol)
        if not name:
            return 0
        if name == _BODY:
            return next((value for symbol, value in exported.items() if symbol.startswith(_BODY)), 0) or resolve(name)
        if name in self.objects:
            return id(self.objects[name])
        if name in self.addresses:
            return self.addresses[name]
        if name == _GOT:
            return self.base + self.got
        try:
            return resolve(name)
        except LoadError:
            if symbol[1] >> 4 != 2:  # a weak symbol may stay undefined
                raise
            return 0

    def fill_tables(self) -> None:
        for symbol, offset in self.slots.items():
            struct.pack_into("<Q", self.memory, self.got + offset, self.values[symbol])
        for symbol, offset in self.stubs.items():
            start = self.plt + offset
            self.memory[start:start + 16] = _STUB + struct.pack("<Q", self.values[symbol])

    def relocate(self, section: int, entries) -> None:
        memory, base, values, got = self.memory, self.base, self.values, self.got
        start, limit = self.place[section], self.sections[section][5]
        for offset, kind, symbol, addend in entries:
            if offset + 4 > limit:
                raise LoadError("malformed object file: a relocation lies outside its section")
            at = start + offset
            value = values[symbol] + addend
            if kind == _ABS64:
                struct.pack_into("<Q", memory, at, value & 0xFFFFFFFFFFFFFFFF)
                continue
            if kind == _PC64:
                struct.pack_into("<q", memory, at, value - base - at)
                continue
            if kind == _PC32 or kind == _PLT32:
                value -= base + at
                if not -0x80000000 <= value < 0x80000000 and symbol in self.stubs and _is_branch(memory, at, kind):
                    value = self.plt + self.stubs[symbol] + addend - at
            elif kind == _GOTPCREL or kind == _GOTPCRELX or kind == _REX_GOTPCRELX:
                value = got + self.slots[symbol] + addend - at
            elif kind == _GOTPC32:
                value = got + addend - at
            elif kind == _ABS32:
                if not 0 <= value < 0x100000000:
                    raise LoadError(f"{self.name_of(self.symbols[symbol]) or 'data'} is too far away for a 32-bit "
                                    "address")
                struct.pack_into("<I", memory, at, value)
                continue
            elif kind != _ABS32S:
                struct.pack_into("<q", memory, at, self.wide(kind, at, addend, value, symbol))
                continue
            if not -0x80000000 <= value < 0x80000000:
                raise LoadError(f"{self.name_of(self.symbols[symbol]) or 'data'} is too far away for a 32-bit "
                                "distance: compile with the large code model or position-independent code")
            struct.pack_into("<i", memory, at, value)

    def wide(self, kind: int, at: int, addend: int, value: int, symbol: int) -> int:
        """The 64-bit relocations of position-independent code in the large code model."""
        if kind == _GOTPC64:
            return self.got + addend - at
        if kind == _GOTOFF64:
            return value - self.base - self.got
        if kind == _GOT64:
            return self.slots[symbol] + addend
        if kind == _GOTPCREL64:
            return self.got + self.slots[symbol] + addend - at
        if kind == _PLTOFF64:
            stub = self.stubs.get(symbol)
            return self.plt + stub + addend - self.got if stub is not None else value - self.base - self.got
        raise LoadError(f"relocation type {kind} is not supported")


def _shown(symbol: str, exported: bool, title: str) -> str:
    """The name of a function of an object in profilers: `f0.total` is the function itself, `f1.helper` one that it
    calls; Python calls an exported one."""
    kind, _, rest = symbol.partition(".")
    if kind.startswith("pyjitc_library_"):
        return rest
    if kind == _BODY:
        return title or rest
    if rest and kind[0] == "f" and kind[1:].isdigit():
        return title or rest if kind == "f0" else rest
    return f"{title} (entry)" if title and exported else symbol


def _is_branch(memory, at: int, kind: int) -> bool:
    """Whether the relocated field is the target of a call or jump: only these may be redirected to a stub."""
    if kind == _PLT32:
        return True
    opcode = memory[at - 1]
    return opcode == 0xE8 or opcode == 0xE9 or (memory[at - 2] == 0x0F and opcode & 0xF0 == 0x80)


_libraries = [ctypes.CDLL(None)]
_known: dict[str, int] = {}


def _protect(address: int, size: int) -> None:
    if _libraries[0].mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_EXEC):
        raise LoadError("the system does not allow executable memory (mprotect failed)")


def resolve(name: str) -> int:
    """The address of an external: NumPy's array type and C-API entries, Python's C-API functions and data, libm,
    libc."""
    value = _known.get(name)
    if value is not None:
        return value
    if name == "pyjitc_ndarray_type":
        value = id(np.ndarray)
    elif name.startswith("pyjitc_class_numpy."):
        value = id(getattr(getattr(np, name.split(".")[1]), name.split(".")[2]))
    elif name == "pyjitc_characters":
        value = ctypes.addressof(_all_characters())
    elif name == "pyjitc_str_grows":
        value = ctypes.addressof(_str_grows())
    elif name == "pyjitc_bind":
        value = thunks.bind()
    elif name == "pyjitc_traceback":
        value = thunks.traceback(FRAME_LINE)
    elif name == "pyj_signals":
        value = thunks.signals()
    elif name == "pyjitc_memory_handler":
        value = id(thunks.memory_handler())
    elif name.startswith("pyjitc_numpy_api_"):
        value = ctypes.c_void_p.from_address(numpy_api_table() + 8 * int(name[17:])).value
    elif name.startswith("pyjitc_random_"):
        value = random.address(name[14:])
    elif name in _GATED:
        value = gates.address(name)
    elif name == "pyjitc_pool":
        value = pool.address()
    elif name.startswith("pyjitc_blas_"):
        value = blas.address(name[12:])
    else:
        value = _lookup(name)
        if value is None and name == "PyObject_Vectorcall":
            value = thunks.vectorcall()  # an inline function of the headers before Python 3.11
    if not value:
        raise LoadError(f"unresolved symbol {name!r}")
    _known[name] = value
    return value


_grows: list = []


def _str_grows() -> ctypes.c_int64:
    """A word that is 1 where small objects are in blocks of multiples of 16 bytes, and the C library knows the size of
    larger ones: with the interpreter's own allocator, unless it is in debug mode."""
    if not _grows:
        python, libc = ctypes.pythonapi, _libraries[0]
        try:
            name = python._PyMem_GetCurrentAllocatorName
            name.restype = ctypes.c_char_p
            plain = name() == b"pymalloc"
        except AttributeError:
            plain = not (os.environ.get("PYTHONMALLOC") or sys.flags.dev_mode)
        python.PyObject_Malloc.restype = ctypes.c_void_p
        block = python.PyObject_Malloc(ctypes.c_size_t(1000)) if plain else None
        if block is not None:
            libc.malloc_usable_size.restype = ctypes.c_size_t
            plain = 1000 <= libc.malloc_usable_size(ctypes.c_void_p(block)) < 1100
            python.PyObject_Free(ctypes.c_void_p(block))
        _grows.append(ctypes.c_int64(plain and block is not None and not hasattr(sys, "gettotalrefcount")))
    return _grows[0]


_characters: list = []


def _all_characters() -> ctypes.Array:
    """The str objects of the characters below 256: the interpreter has one for each, and never frees them."""
    if not _characters:
        _characters.append((ctypes.py_object * 256)(*map(chr, range(256))))
    return _characters[0]


def _keep_freed_memory() -> None:
    """Make the C library keep the freed memory of arrays, those of compiled code and those that its callers make
    around it. It returns freed memory to the system, which clears each page again when it is used next: up to ten
    times the cost of a loop over an array of some megabytes. Freeing one block of this size raises the dynamic
    threshold of mallopt(3), as a program's own first block of the size would. None of its pages is touched."""
    libc = _libraries[0]
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    libc.free(libc.malloc(ctypes.c_size_t((32 << 20) - mmap.PAGESIZE * 4)))


def _lookup(name: str) -> int | None:
    for library in _libraries:
        try:
            return ctypes.addressof(ctypes.c_char.in_dll(library, name))
        except ValueError:
            pass
    if len(_libraries) == 1:  # rarely needed: loaded for the first missing name
        for file in ("libm.so.6", "libgcc_s.so.1"):
            try:
                _libraries.append(ctypes.CDLL(file))
            except OSError:
                pass
        return _lookup(name) if len(_libraries) > 1 else None
    return None
