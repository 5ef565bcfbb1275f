"""Facts about this machine, this Python and this NumPy on which native code relies, in one place.

Compiled code reads Python floats, ints, tuples and arrays by offset. The offsets differ between Python versions and are
not part of any interface, so `check()` compares them with real objects before the first native code is
loaded; where one is wrong, nothing is loaded and everything runs in the interpreter.
"""
from __future__ import annotations

import ctypes
import os
import sys
from types import FrameType, ModuleType

import numpy as np

from ..base import kept

__all__ = [
    "ABIError", "require_native", "check", "PLATFORM", "PYTHON", "OB_TYPE", "OB_SIZE", "FLOAT_VALUE", "COMPLEX_VALUE",
    "LONG_TAG", "LONG_DIGITS", "LONG_TAGGED", "TUPLE_ITEMS", "LIST_ITEMS", "LIST_ROOM", "TYPE_NAME", "BYTES_DATA",
    "BYTEARRAY_DATA", "CELL_CONTENT", "DICT_VERSION", "DICT", "KEYS", "DICT_WATCHERS", "SET", "STR", "STR_STATE",
    "STR_IN_PIECES", "FRAME_LINE", "tables_are_known",
    "FUNCTION", "SCALAR_VALUE", "RECORD_DATA", "ARRAY", "DESCR", "TIME_UNIT", "ARRAY_FLAGS", "NUMPY_API", "TYPE_FLAGS",
    "TYPE_VECTORCALL_OFFSET", "TYPE_DEALLOC", "TYPE_NEW", "TYPE_ITERNEXT", "TYPE_CACHED_KEYS",
    "INLINE_VALUES", "INLINE_FLAG",
    "MANAGED_DICT", "member_offset", "numpy_api_table", "numpy_core", "cpu_identity", "take_as_checked",
]

PYTHON = sys.version_info[:2]
PLATFORM = (sys.platform, os.uname().machine if hasattr(os, "uname") else "unknown")

# Byte offsets into objects.
OB_TYPE = 8
OB_SIZE = 16  # of PyVarObject
TYPE_VECTORCALL_OFFSET = 56  # tp_vectorcall_offset
TYPE_FLAGS = 168  # tp_flags
TYPE_DEALLOC = 48  # tp_dealloc
TYPE_NEW = 312  # tp_new
TYPE_ITERNEXT = 224  # tp_iternext
# The inline values of the attributes of objects without a dict: before 3.13 there is a pointer to them before the
# object (in 3.12 with bit 0 set; a pointer to a dict has it clear), from 3.13 on they follow the object, with a byte
# that says whether they are valid. 3.10 has no inline values. Their names are in a table of the class.
INLINE_VALUES = {(3, 11): -32, (3, 12): -24, (3, 13): 8}.get(PYTHON)
INLINE_VALID = 3  # offset from the end of the object, from 3.13 on
INLINE_FLAG = 1 << 4 if PYTHON < (3, 13) else 1 << 2  # of tp_flags: Py_TPFLAGS_MANAGED_DICT, _INLINE_VALUES
MANAGED_DICT = -24  # the dict of an object, if it was created
TYPE_CACHED_KEYS = {(3, 11): 872, (3, 12): 880, (3, 13): 880}.get(PYTHON, 0)  # ht_cached_keys
FLOAT_VALUE = 16
COMPLEX_VALUE = 16  # real; imag follows
# lv_tag: digit count << 3 | (0 positive, 1 zero, 2 negative); before: signed digit count
LONG_TAGGED = PYTHON >= (3, 12)
LONG_TAG = 16
LONG_DIGITS = 24  # of 30 bits, each in a uint32
TUPLE_ITEMS = 24
LIST_ITEMS = 24  # pointer to the items of a list
LIST_ROOM = 32  # the capacity of a list; -1 while it is sorted
TYPE_NAME = 24  # tp_name
BYTES_DATA = 32
BYTEARRAY_DATA = 40  # the address of the first byte of a bytearray
CELL_CONTENT = 16
DICT_VERSION = 24 if PYTHON < (3, 14) else None  # ma_version_tag: it changes whenever the dict does
# PyDictObject: number of items, version and watchers, table of keys, values where they are separate from the keys
DICT = {"used": 16, "version": 24, "keys": 32, "values": 40}
# PyDictKeysObject. size: of the table, in 3.10 itself and from 3.11 on its logarithm; bytes: logarithm of the bytes of
# the indices; kind: 0 any keys, 1 str only, 2 shared by a class; count: number of entries
KEYS = ({"size": 8, "count": 32, "indices": 40} if PYTHON < (3, 11) else
        {"size": 8, "bytes": 9, "kind": 10, "count": 24, "indices": 32})
DICT_WATCHERS = 255 if PYTHON >= (3, 12) else 0  # bits of the version that select watchers
SET = {"fill": 16, "used": 24, "mask": 32, "table": 40}  # PySetObject; entries are (key, hash)
# PyUnicodeObject. ascii, wide: the offset of the characters of an ASCII text, and of other texts
STR = {"length": 16, "hash": 24, "state": 32, "ascii": 48 if PYTHON < (3, 12) else 40,
       "wide": 72 if PYTHON < (3, 12) else 56}
# Bits of its state. sizes: the bits of the character size and of a compact object; one, two, four: their values for
# compact objects
STR_STATE = {"sizes": 0x3C, "one": 0x24, "two": 0x28, "four": 0x30, "ascii": 0x40}
STR_IN_PIECES = PYTHON < (3, 12)  # whether extensions can make a str whose characters are outside of the object
SCALAR_VALUE = 16  # the offset of the value of a NumPy scalar
RECORD_DATA = 24  # the offset of the address of the fields of a record, a scalar of np.void
ARRAY = {"data": 16, "ndim": 24, "shape": 32, "strides": 40, "base": 48, "descr": 56, "flags": 64, "handler": 88}
# time: the offset of the data with the unit of dates, which is at TIME_UNIT there
DESCR = {"kind": 24, "type": 25, "byteorder": 26, "type_num": 28, "time": 112}
TIME_UNIT = 32  # two int32: the unit, and how many of it
ARRAY_FLAGS = {"C": 0x1, "F": 0x2, "OWNDATA": 0x4, "ALIGNED": 0x100, "WRITEABLE": 0x400}
FRAME_LINE = 100 if PYTHON < (3, 11) else 40  # f_lineno of PyFrameObject
FUNCTION = {"globals": 16, "code": 48, "defaults": 56, "kwdefaults": 64, "closure": 72}  # of PyFunctionObject
METHOD = {"function": 16, "self": 24}  # of PyMethodObject
# Entries of NumPy's C-API table that compiled code uses (numpy/__multiarray_api.h; their numbers are part of its ABI).
NUMPY_API = {
    "PyArray_Type": 2, "PyArrayDescr_Type": 3, "PyArray_DescrFromType": 45, "PyArray_Scalar": 60, "PyArray_Return": 76,
    "PyArray_New": 93, "PyArray_NewFromDescr": 94, "PyArray_EquivTypes": 182, "PyArray_SetBaseObject": 282,
}

_CAPSULE = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "PyCapsule_Type"))
_MEMBER_DEF = 40  # PyMemberDescrObject.d_member
_MEMBER_OFFSET = 16  # PyMemberDef.offset


class ABIError(RuntimeError):
    """Raised where this Python, NumPy or machine has not the layout that compiled code expects."""


def require_native() -> None:
    """Raise ABIError where no native code can be loaded at all."""
    if PLATFORM != ("linux", "x86_64") or sys.implementation.name != "cpython" or sys.maxsize != 2**63 - 1:
        raise ABIError(f"native code needs CPython on 64-bit x86 Linux; this is {sys.implementation.name} on "
                       f"{PLATFORM[0]} {PLATFORM[1]}")
    if PYTHON < (3, 10):
        raise ABIError("native code needs Python 3.10 or newer")
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise ABIError("native code needs a Python with the global interpreter lock")


_MOST_MARKS = 64  # the most files that say so
_checked: list = []  # []: not checked yet; [None]: no mismatch; [ABIError]: a mismatch


def check() -> None:
    """Compare every offset above with real objects (about 0.7 ms), unless a process with the same Python and NumPy has
    done so; raises ABIError on a mismatch."""
    if not _checked:
        error = None
        try:
            require_native()
            mark = _mark()
            if mark is None or kept.read(mark) is None:
                _check_python()
                _check_objects()
                _check_numpy()
                if mark is not None and not sys.dont_write_bytecode:
                    kept.keep({mark: b""}, _MOST_MARKS)
        except ABIError as found:
            error = found
        _checked.append(error)
    if _checked[0] is not None:
        raise ABIError(str(_checked[0]))


def _mark() -> str | None:
    """The file, beside the bytecode of this module, by which a process says that what this module compares is right for
    this Python and NumPy; None where bytecode is not kept, or NumPy's files are gone since it was imported."""
    cached = __spec__.cached
    try:
        core, checks = os.stat(numpy_core().__file__), os.stat(__file__)
    except OSError:
        return None
    if cached is None:
        return None
    offsets = [(name, value) for name, value in globals().items() if name.isupper() and name[0] != "_"]
    key = repr((sys.version, sys.abiflags, np.__version__, core.st_size, core.st_mtime_ns,
                checks.st_size, checks.st_mtime_ns, offsets))
    return f"{cached.rpartition('.')[0]}.{kept.digest(key.encode()).hex()}.layouts"


def take_as_checked() -> None:
    """Let `check` take the layouts as known, which another process with the same Python and NumPy has compared."""
    if not _checked:
        require_native()
        _checked.append(None)


def _read(kind, owner, offset):
    return kind.from_address(id(owner) + offset).value


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise ABIError(f"unexpected layout of {what} in Python {sys.version.split()[0]} with NumPy {np.__version__}; "
                       "functions run in the interpreter")


def _check_python() -> None:
    word, pointer, double = ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_double
    _need(object.__basicsize__ == 16, "objects")
    for value in (1.25e300, -0.5):
        _need(_read(pointer, value, OB_TYPE) == id(float), "objects")
        _need(_read(double, value, FLOAT_VALUE) == value, "float")
    z = complex(1.5, -2.5)
    _need((_read(double, z, COMPLEX_VALUE), _read(double, z, COMPLEX_VALUE + 8)) == (1.5, -2.5), "complex")
    _need(sys.int_info.bits_per_digit == 30 and sys.int_info.sizeof_digit == 4, "int")
    for value in (0, 1, -1, 5, -12345, 2**30 - 1, 1 - 2**30, 2**30, -2**30, 2**60 - 1, 2**60, -2**62, 2**63, 2**90):
        tag = _read(word, value, LONG_TAG)
        count = tag >> 3 if LONG_TAGGED else abs(tag)
        negative = tag & 3 == 2 if LONG_TAGGED else tag < 0
        digits = (ctypes.c_uint32 * count).from_address(id(value) + LONG_DIGITS)
        total = sum(d << 30 * i for i, d in enumerate(digits))
        _need((-total if negative else total) == value and (not LONG_TAGGED or (tag & 3 == 1) == (value == 0)), "int")
    for value in (True, False):
        _need(_read(pointer, value, OB_TYPE) == id(bool), "bool")
    t = (z, 1.5, "x")
    _need(_read(word, t, OB_SIZE) == 3, "tuple")
    _need([_read(pointer, t, TUPLE_ITEMS + 8 * i) for i in range(3)] == [id(x) for x in t], "tuple")
    items = [z, 1.5, "x"]
    items.append(2)
    table = _read(pointer, items, LIST_ITEMS)
    _need(_read(word, items, OB_SIZE) == 4 <= _read(word, items, LIST_ROOM) < 100, "list")
    _need([pointer.from_address(table + 8 * i).value for i in range(4)] == [id(x) for x in items], "list")
    _need(ctypes.string_at(_read(pointer, float, TYPE_NAME)) == b"float", "type")
    _need(not _read(word, float, TYPE_ITERNEXT) and _read(word, type(iter(t)), TYPE_ITERNEXT), "type")
    b = b"abc\0d"
    _need(_read(word, b, OB_SIZE) == 5 and ctypes.string_at(id(b) + BYTES_DATA, 6) == b + b"\0", "bytes")
    b = bytearray(b"abc\0d")
    del b[:1]
    _need(_read(word, b, OB_SIZE) == 4 and ctypes.string_at(_read(pointer, b, BYTEARRAY_DATA), 4) == b, "bytearray")
    _need(_str_is_known(), "str")
    cell = (lambda: t).__closure__[0]
    _need(_read(pointer, cell, CELL_CONTENT) == id(t), "cell")
    f = _check_numpy
    _need(_read(pointer, f, FUNCTION["globals"]) == id(f.__globals__)
          and _read(pointer, f, FUNCTION["code"]) == id(f.__code__)
          and _read(pointer, f, FUNCTION["defaults"]) is _read(pointer, f, FUNCTION["closure"]) is None, "function")
    _need(_read(pointer, int, TYPE_FLAGS) == int.__flags__, "type")
    _need(16 <= _read(word, type(check), TYPE_VECTORCALL_OFFSET) < type(check).__basicsize__, "type")
    _need(member_offset(FrameType.f_trace_lines) == FRAME_LINE + (-16 if PYTHON < (3, 11) else 4), "frame")
    if DICT_VERSION is not None:
        d = {"a": 1}
        before = _read(word, d, DICT_VERSION)
        same = _read(word, d, DICT_VERSION)
        d["a"] = 2
        after = _read(word, d, DICT_VERSION)
        d["b"] = 2
        _need(before == same and before != after and after != _read(word, d, DICT_VERSION), "dict")


_tables_known: list[bool] = []


def tables_are_known() -> bool:
    """Whether dicts, sets and texts have the layout of the offsets above: then compiled code searches their tables
    itself; otherwise it calls the interpreter. The layout is compared with real objects once for each process, when a
    program first uses such objects."""
    if not _tables_known:
        try:
            _tables_known.append(_dict_is_known() and _set_is_known() and _str_is_known())
        except (TypeError, ValueError):
            _tables_known.append(False)
    return _tables_known[0]


def _dict_is_known() -> bool:
    word, pointer, byte = ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_uint8
    presized = ctypes.pythonapi._PyDict_NewPresized
    presized.restype, presized.argtypes = ctypes.py_object, [word]
    for room, count in ((0, 2), (0, 5), (100, 7), (300, 7), (70000, 7)):
        for names in (False, True)[:1 if room > 1000 else 2]:
            d = presized(room) if room else {}
            for n in range(count):
                d[str(n) if names else n] = float(n)
            if _read(word, d, DICT["used"]) != count or _read(pointer, d, DICT["values"]):
                return False
            keys = _read(pointer, d, DICT["keys"])
            if PYTHON < (3, 11):
                size = word.from_address(keys + KEYS["size"]).value
                width, short = 1 if size <= 0xFF else 2 if size <= 0xFFFF else 4, False
            else:
                size = 1 << byte.from_address(keys + KEYS["size"]).value
                width = (1 << byte.from_address(keys + KEYS["bytes"]).value) // size
                short = names and not room  # a table that is made with room is for any keys
                if byte.from_address(keys + KEYS["kind"]).value != short:
                    return False
            if size * 2 // 3 < count or size & size - 1 or width != (1 if size <= 0xFF else 2 if size <= 0xFFFF else 4):
                return False
            entries = keys + KEYS["indices"] + size * width
            integer = {1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32}[width]
            for n, (key, value) in enumerate(d.items()):
                at = entries + n * (16 if short else 24)
                found = [word.from_address(at + 8 * k).value for k in range(2 if short else 3)]
                if found != [*(() if short else (hash(key),)), id(key), id(value)]:
                    return False
                place, perturb = hash(key) & size - 1, hash(key) & 2 ** 64 - 1
                for _ in range(size):
                    at_place = integer.from_address(keys + KEYS["indices"] + place * width).value
                    if at_place == n or at_place == -1:
                        break
                    perturb >>= 5
                    place = (place * 5 + perturb + 1) & size - 1
                if at_place != n:
                    return False
    d = {1: 2, 3: 4}
    del d[1]
    keys = _read(pointer, d, DICT["keys"])
    return ctypes.c_int8.from_address(keys + KEYS["indices"] + 1).value == -2  # deleted


def _set_is_known() -> bool:
    word, pointer = ctypes.c_ssize_t, ctypes.c_void_p
    for cls in (set, frozenset):
        s = cls(range(5, 8))
        mask, table = _read(word, s, SET["mask"]), _read(pointer, s, SET["table"])
        entries = [(word * 2).from_address(table + 16 * n)[:] for n in range(mask + 1)]
        if (_read(word, s, SET["fill"]), _read(word, s, SET["used"]), mask) != (3, 3, 7) or entries != [
                [id(n), n] if n in s else [0, 0] for n in range(8)]:
            return False
    s = {3, 4}
    s.remove(3)
    entry = (word * 2).from_address(_read(pointer, s, SET["table"]) + 48)
    return entry[0] != 0 and entry[1] == -1 and _read(word, s, SET["fill"]) == 2  # deleted


def _str_is_known() -> bool:
    for text, data, kind in (("abc", STR["ascii"], 0x64), ("h\xe9", STR["wide"], 0x24),
                             ("h\u0416", STR["wide"], 0x28), ("h\U0001F600", STR["wide"], 0x30)):
        width = kind >> 2 & 7
        state = _read(ctypes.c_uint32, text, STR["state"])
        if (_read(ctypes.c_ssize_t, text, STR["length"]) != len(text) or state & 0x7C != kind
                or hash(text) != _read(ctypes.c_ssize_t, text, STR["hash"])
                or ctypes.string_at(id(text) + data, width * len(text)) != b"".join(
                    [ord(c).to_bytes(width, "little") for c in text])):
            return False
    return True


class _Sample:
    def __init__(self):
        self.x, self.y = 1.25, 2.5


class _Slotted:
    __slots__ = ("x",)


def _check_objects() -> None:
    """Check the layout of objects of classes."""
    pointer, word, byte = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_ubyte
    x, other, slotted = _Sample(), _Sample(), _Slotted()
    slotted.x = x
    _need(_read(pointer, slotted, member_offset(_Slotted.x)) == id(x), "slots")
    _need(_read(pointer, _Sample, TYPE_NEW) == _read(pointer, object, TYPE_NEW)
          and _read(pointer, _Sample, TYPE_DEALLOC) == _read(pointer, _Slotted, TYPE_DEALLOC)
          and _read(pointer, _Sample, TYPE_DEALLOC) != _read(pointer, object, TYPE_DEALLOC), "type")
    if INLINE_VALUES is None:
        return
    _need(bool(_Sample.__flags__ & INLINE_FLAG), "objects")
    keys = _read(pointer, _Sample, TYPE_CACHED_KEYS)
    _need(keys is not None and _read(pointer, other.__dict__, DICT["keys"]) == keys, "type")
    _need(byte.from_address(keys + KEYS["kind"]).value == 2 and word.from_address(keys + KEYS["count"]).value == 2,
          "dict")
    first = keys + KEYS["indices"] + (1 << byte.from_address(keys + KEYS["bytes"]).value)
    _need([pointer.from_address(first + 16 * n).value for n in range(2)] == list(map(id, _Sample().__dict__)), "dict")
    if PYTHON < (3, 12):
        values = _read(pointer, x, INLINE_VALUES)
    elif PYTHON < (3, 13):
        values = _read(pointer, x, INLINE_VALUES)
        _need(values & 1 == 1, "objects")
        values += 1
    else:
        values = id(x) + _Sample.__basicsize__ + INLINE_VALUES
        _need(_read(byte, x, _Sample.__basicsize__ + INLINE_VALID) == 1, "objects")
    _need([pointer.from_address(values + 8 * n).value for n in range(2)] == [id(x.x), id(x.y)], "objects")
    if PYTHON != (3, 12):
        _need(not _read(pointer, x, MANAGED_DICT), "objects")
        x.__dict__
        _need(bool(_read(pointer, x, MANAGED_DICT)), "objects")


def _check_numpy() -> None:
    pointer, word, int32, byte = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int32, ctypes.c_ubyte
    a = np.arange(30, dtype=np.int32).reshape(2, 3, 5)[:, ::2, 1:4]
    readonly = a.view()
    readonly.flags.writeable = False
    odd = np.frombuffer(b"\0" * 9, np.uint8)[1:].view(np.float64)
    fortran = np.ones((4, 7), np.float32, order="F")
    for x in (a, a.T, readonly, odd, fortran, np.zeros(3), np.zeros(())):
        _need(_read(pointer, x, OB_TYPE) == id(np.ndarray), "ndarray")
        _need(_read(pointer, x, ARRAY["data"]) == x.__array_interface__["data"][0], "ndarray")
        n = x.ndim
        _need(_read(int32, x, ARRAY["ndim"]) == n, "ndarray")
        if n:
            _need(tuple((word * n).from_address(_read(pointer, x, ARRAY["shape"]))) == x.shape, "ndarray")
            _need(tuple((word * n).from_address(_read(pointer, x, ARRAY["strides"]))) == x.strides, "ndarray")
        base = _read(pointer, x, ARRAY["base"])
        _need(base == (id(x.base) if x.base is not None else None), "ndarray")
        _need(_read(pointer, x, ARRAY["descr"]) == id(x.dtype), "ndarray")
        flags, f = _read(int32, x, ARRAY["flags"]), x.flags
        # the object that frees the data: a capsule if the array owns the data
        handler = _read(pointer, x, ARRAY["handler"])
        _need(f.owndata == (handler is not None)
              and (handler is None or pointer.from_address(handler + OB_TYPE).value == _CAPSULE), "ndarray")
        for bit, expected in (("C", f.c_contiguous), ("F", f.f_contiguous), ("ALIGNED", f.aligned),
                              ("WRITEABLE", f.writeable), ("OWNDATA", f.owndata)):
            _need(bool(flags & ARRAY_FLAGS[bit]) == expected, "ndarray")
    for code in "bBhHiIlLqQefdFD?":
        for d in (np.dtype(code), np.dtype(code).newbyteorder()):
            _need(_read(int32, d, DESCR["type_num"]) == d.num, "dtype")
            _need(chr(_read(byte, d, DESCR["kind"])) == d.kind, "dtype")
            _need(chr(_read(byte, d, DESCR["byteorder"])) == d.byteorder, "dtype")
    for value in (np.datetime64(7, "h"), np.timedelta64(-7, "25s")):
        dtype = value.dtype  # a new object at each access
        where = _read(pointer, dtype, DESCR["time"]) + TIME_UNIT - SCALAR_VALUE - 8
        _need(_read(ctypes.c_int64, value, SCALAR_VALUE) == int(value.astype(np.int64)), "NumPy dates")
        for at in (id(value), where):
            unit, count = (int32.from_address(at + SCALAR_VALUE + 8 + 4 * i).value for i in range(2))
            _need((unit, count) == ((5, 1) if dtype.kind == "M" else (7, 25)), "NumPy dates")
    for value, kind in ((np.float64(3.5), ctypes.c_double), (np.float32(2.5), ctypes.c_float),
                        (np.int64(-7), ctypes.c_int64), (np.int32(-7), int32), (np.uint8(200), byte),
                        (np.int16(-300), ctypes.c_int16), (np.complex128(4.5), ctypes.c_double),
                        (np.bool_(True), byte)):
        _need(_read(kind, value, SCALAR_VALUE) == value, "NumPy scalars")
    records = np.zeros(2, "i4,i4")
    _need(_read(pointer, records[1], RECORD_DATA) == _read(pointer, records, ARRAY["data"]) + 8, "NumPy records")
    table = numpy_api_table()
    _need(_read_at(table, NUMPY_API["PyArray_Type"]) == id(np.ndarray), "NumPy's C-API table")
    _need(_read_at(table, NUMPY_API["PyArrayDescr_Type"]) == id(np.dtype), "NumPy's C-API table")


def _read_at(table: int, index: int) -> int:
    return ctypes.c_void_p.from_address(table + 8 * index).value


def member_offset(descriptor) -> int:
    """Offset in instances of the slot to which `descriptor` (made for an entry of `__slots__`) gives access."""
    return ctypes.c_ssize_t.from_address(_read(ctypes.c_void_p, descriptor, _MEMBER_DEF) + _MEMBER_OFFSET).value


def numpy_core() -> ModuleType:
    """NumPy's extension module."""
    return sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]


def numpy_api_table() -> int:
    """Address of NumPy's C-API table, an array of pointers."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(numpy_core()._ARRAY_API, None)


def cpu_identity() -> str:
    """The processor, for keys of object code: its model and features as the kernel reports them, without LLVM."""
    try:
        file = os.open("/proc/cpuinfo", os.O_RDONLY | os.O_CLOEXEC)
        try:
            first = os.read(file, 1 << 16).partition(b"\n\n")[0]  # the first processor represents all
        finally:
            os.close(file)
    except OSError:
        first = b""
    names = b"vendor_id", b"cpu family", b"model", b"model name", b"stepping", b"flags"
    return repr((PLATFORM, *(first.partition(b"\n%s\t" % name)[2].partition(b"\n")[0] for name in names)))
