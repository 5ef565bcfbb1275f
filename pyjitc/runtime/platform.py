"""Facts about this machine, this Python and this NumPy on which native code relies, in one place.

Compiled code reads Python floats, ints, tuples and arrays by offset. The offsets differ between Python versions and are
not part of any interface, so `check()` compares them with real objects before the first native code is
loaded; where one is wrong, nothing is loaded and everything runs in the interpreter.
"""
from __future__ import annotations

import ctypes
import os
import sys
from types import ModuleType

import numpy as np

from ..base import kept
from ..base.lazy import lazy

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

layouts = lazy(f"{__package__}.layouts")  # only the first process after an installation, and programs with tables

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
MEMORYVIEW = {"ndim": 92, "format": 96}
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
    # the classes of NumPy's numbers
    "Bool": 8, "Byte": 20, "Short": 21, "Int": 22, "Long": 23, "LongLong": 24, "UByte": 25, "UShort": 26, "UInt": 27,
    "ULong": 28, "ULongLong": 29, "Float": 30, "Double": 31,
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


_MOST_MARKS = 64  # the maximum number of files of `_mark`
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
                _compare()
                if mark is not None and not sys.dont_write_bytecode:
                    kept.keep({mark: b""}, _MOST_MARKS)
        except ABIError as found:
            error = found
        _checked.append(error)
    if _checked[0] is not None:
        raise ABIError(str(_checked[0]))


def _own():
    return sys.modules[__name__]


def _compare() -> None:
    try:
        layouts.compare(_own())
    except layouts.Unexpected as what:
        raise ABIError(f"unexpected layout of {what} in Python {sys.version.split()[0]} with NumPy {np.__version__}; "
                       "functions run in the interpreter") from None


def _mark() -> str | None:
    """The file, beside the bytecode of this module, by which a process records that the layouts are as expected for
    this Python and NumPy; None where bytecode is not kept, or NumPy's files were removed since it was imported."""
    cached = __spec__.cached
    try:
        core = os.stat(numpy_core().__file__)
        checks = os.stat(os.path.join(os.path.dirname(__file__), "layouts.py"))
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


_tables_known: list[bool] = []


def tables_are_known() -> bool:
    """Whether dicts, sets and texts have the layout of the offsets above: then compiled code searches their tables
    itself; otherwise it calls the interpreter. The layout is compared with real objects once for each process, when a
    program first uses such objects."""
    if not _tables_known:
        try:
            _tables_known.append(all([known(_own()) for known in (
                layouts.dict_is_known, layouts.set_is_known, layouts.str_is_known)]))
        except (TypeError, ValueError):
            _tables_known.append(False)
    return _tables_known[0]


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
