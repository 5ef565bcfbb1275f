"""Compares the layouts of the interpreter's and NumPy's objects, by the offsets of platform.py, with real objects."""
from __future__ import annotations

import ctypes
import sys
from types import FrameType

import numpy as np

__all__ = ["Unexpected", "compare", "dict_is_known", "set_is_known", "str_is_known"]


def _read(kind, owner, offset):
    return kind.from_address(id(owner) + offset).value


class Unexpected(Exception):
    """Raised where a layout differs from the expected one, with the name of the kind of objects."""


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise Unexpected(what)


def compare(p) -> None:
    """Raise Unexpected where the layout of an object is not as `p` has it, the module platform.py."""
    _compare_python(p)
    _compare_objects(p)
    _compare_numpy(p)


def _compare_python(p) -> None:
    word, pointer, double = ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_double
    _need(object.__basicsize__ == 16, "objects")
    for value in (1.25e300, -0.5):
        _need(_read(pointer, value, p.OB_TYPE) == id(float), "objects")
        _need(_read(double, value, p.FLOAT_VALUE) == value, "float")
    z = complex(1.5, -2.5)
    _need((_read(double, z, p.COMPLEX_VALUE), _read(double, z, p.COMPLEX_VALUE + 8)) == (1.5, -2.5), "complex")
    _need(sys.int_info.bits_per_digit == 30 and sys.int_info.sizeof_digit == 4, "int")
    for value in (0, 1, -1, 5, -12345, 2**30 - 1, 1 - 2**30, 2**30, -2**30, 2**60 - 1, 2**60, -2**62, 2**63, 2**90):
        tag = _read(word, value, p.LONG_TAG)
        count = tag >> 3 if p.LONG_TAGGED else abs(tag)
        negative = tag & 3 == 2 if p.LONG_TAGGED else tag < 0
        digits = (ctypes.c_uint32 * count).from_address(id(value) + p.LONG_DIGITS)
        total = sum(d << 30 * i for i, d in enumerate(digits))
        _need((-total if negative else total) == value and (not p.LONG_TAGGED or (tag & 3 == 1) == (value == 0)), "int")
    for value in (True, False):
        _need(_read(pointer, value, p.OB_TYPE) == id(bool), "bool")
    t = (z, 1.5, "x")
    _need(_read(word, t, p.OB_SIZE) == 3, "tuple")
    _need([_read(pointer, t, p.TUPLE_ITEMS + 8 * i) for i in range(3)] == [id(x) for x in t], "tuple")
    items = [z, 1.5, "x"]
    items.append(2)
    table = _read(pointer, items, p.LIST_ITEMS)
    _need(_read(word, items, p.OB_SIZE) == 4 <= _read(word, items, p.LIST_ROOM) < 100, "list")
    _need([pointer.from_address(table + 8 * i).value for i in range(4)] == [id(x) for x in items], "list")
    _need(ctypes.string_at(_read(pointer, float, p.TYPE_NAME)) == b"float", "type")
    _need(not _read(word, float, p.TYPE_ITERNEXT) and _read(word, type(iter(t)), p.TYPE_ITERNEXT), "type")
    b = b"abc\0d"
    _need(_read(word, b, p.OB_SIZE) == 5 and ctypes.string_at(id(b) + p.BYTES_DATA, 6) == b + b"\0", "bytes")
    b = bytearray(b"abc\0d")
    del b[:1]
    _need(_read(word, b, p.OB_SIZE) == 4 and ctypes.string_at(_read(pointer, b, p.BYTEARRAY_DATA), 4) == b, "bytearray")
    m = memoryview(np.zeros((2, 3), "i4"))
    _need(_read(ctypes.c_int, m, p.MEMORYVIEW["ndim"]) == 2
          and ctypes.string_at(_read(pointer, m, p.MEMORYVIEW["format"])) == b"i", "memoryview")
    _need(str_is_known(p), "str")
    cell = (lambda: t).__closure__[0]
    _need(_read(pointer, cell, p.CELL_CONTENT) == id(t), "cell")
    f = _compare_numpy
    _need(_read(pointer, f, p.FUNCTION["globals"]) == id(f.__globals__)
          and _read(pointer, f, p.FUNCTION["code"]) == id(f.__code__)
          and _read(pointer, f, p.FUNCTION["defaults"]) is _read(pointer, f, p.FUNCTION["closure"]) is None, "function")
    _need(_read(pointer, int, p.TYPE_FLAGS) == int.__flags__, "type")
    _need(16 <= _read(word, type(p.check), p.TYPE_VECTORCALL_OFFSET) < type(p.check).__basicsize__, "type")
    _need(p.member_offset(FrameType.f_trace_lines) == p.FRAME_LINE + (-16 if p.PYTHON < (3, 11) else 4), "frame")
    if p.DICT_VERSION is not None:
        d = {"a": 1}
        before = _read(word, d, p.DICT_VERSION)
        same = _read(word, d, p.DICT_VERSION)
        d["a"] = 2
        after = _read(word, d, p.DICT_VERSION)
        d["b"] = 2
        _need(before == same and before != after and after != _read(word, d, p.DICT_VERSION), "dict")


def dict_is_known(p) -> bool:
    word, pointer, byte = ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_uint8
    presized = ctypes.pythonapi._PyDict_NewPresized
    presized.restype, presized.argtypes = ctypes.py_object, [word]
    for room, count in ((0, 2), (0, 5), (100, 7), (300, 7), (70000, 7)):
        for names in (False, True)[:1 if room > 1000 else 2]:
            d = presized(room) if room else {}
            for n in range(count):
                d[str(n) if names else n] = float(n)
            if _read(word, d, p.DICT["used"]) != count or _read(pointer, d, p.DICT["values"]):
                return False
            keys = _read(pointer, d, p.DICT["keys"])
            if p.PYTHON < (3, 11):
                size = word.from_address(keys + p.KEYS["size"]).value
                width, short = 1 if size <= 0xFF else 2 if size <= 0xFFFF else 4, False
            else:
                size = 1 << byte.from_address(keys + p.KEYS["size"]).value
                width = (1 << byte.from_address(keys + p.KEYS["bytes"]).value) // size
                short = names and not room  # a table that is made with room accepts any keys
                if byte.from_address(keys + p.KEYS["kind"]).value != short:
                    return False
            if size * 2 // 3 < count or size & size - 1 or width != (1 if size <= 0xFF else 2 if size <= 0xFFFF else 4):
                return False
            entries = keys + p.KEYS["indices"] + size * width
            integer = {1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32}[width]
            for n, (key, value) in enumerate(d.items()):
                at = entries + n * (16 if short else 24)
                found = [word.from_address(at + 8 * k).value for k in range(2 if short else 3)]
                if found != [*(() if short else (hash(key),)), id(key), id(value)]:
                    return False
                place, perturb = hash(key) & size - 1, hash(key) & 2 ** 64 - 1
                for _ in range(size):
                    at_place = integer.from_address(keys + p.KEYS["indices"] + place * width).value
                    if at_place == n or at_place == -1:
                        break
                    perturb >>= 5
                    place = (place * 5 + perturb + 1) & size - 1
                if at_place != n:
                    return False
    d = {1: 2, 3: 4}
    del d[1]
    keys = _read(pointer, d, p.DICT["keys"])
    return ctypes.c_int8.from_address(keys + p.KEYS["indices"] + 1).value == -2  # deleted


def set_is_known(p) -> bool:
    word, pointer = ctypes.c_ssize_t, ctypes.c_void_p
    for cls in (set, frozenset):
        s = cls(range(5, 8))
        mask, table = _read(word, s, p.SET["mask"]), _read(pointer, s, p.SET["table"])
        entries = [(word * 2).from_address(table + 16 * n)[:] for n in range(mask + 1)]
        if (_read(word, s, p.SET["fill"]), _read(word, s, p.SET["used"]), mask) != (3, 3, 7) or entries != [
                [id(n), n] if n in s else [0, 0] for n in range(8)]:
            return False
    s = {3, 4}
    s.remove(3)
    entry = (word * 2).from_address(_read(pointer, s, p.SET["table"]) + 48)
    return entry[0] != 0 and entry[1] == -1 and _read(word, s, p.SET["fill"]) == 2  # deleted


def str_is_known(p) -> bool:
    for text, data, kind in (("abc", p.STR["ascii"], 0x64), ("h\xe9", p.STR["wide"], 0x24),
                             ("h\u0416", p.STR["wide"], 0x28), ("h\U0001F600", p.STR["wide"], 0x30)):
        width = kind >> 2 & 7
        state = _read(ctypes.c_uint32, text, p.STR["state"])
        if (_read(ctypes.c_ssize_t, text, p.STR["length"]) != len(text) or state & 0x7C != kind
                or hash(text) != _read(ctypes.c_ssize_t, text, p.STR["hash"])
                or ctypes.string_at(id(text) + data, width * len(text)) != b"".join(
                    [ord(c).to_bytes(width, "little") for c in text])):
            return False
    return True


class _Sample:
    def __init__(self):
        self.x, self.y = 1.25, 2.5


class _Slotted:
    __slots__ = ("x",)


def _compare_objects(p) -> None:
    """Check the layout of objects of classes."""
    pointer, word, byte = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_ubyte
    x, other, slotted = _Sample(), _Sample(), _Slotted()
    slotted.x = x
    _need(_read(pointer, slotted, p.member_offset(_Slotted.x)) == id(x), "slots")
    _need(_read(pointer, _Sample, p.TYPE_NEW) == _read(pointer, object, p.TYPE_NEW)
          and _read(pointer, _Sample, p.TYPE_DEALLOC) == _read(pointer, _Slotted, p.TYPE_DEALLOC)
          and _read(pointer, _Sample, p.TYPE_DEALLOC) != _read(pointer, object, p.TYPE_DEALLOC), "type")
    if p.INLINE_VALUES is None:
        return
    _need(bool(_Sample.__flags__ & p.INLINE_FLAG), "objects")
    keys = _read(pointer, _Sample, p.TYPE_CACHED_KEYS)
    _need(keys is not None and _read(pointer, other.__dict__, p.DICT["keys"]) == keys, "type")
    _need(byte.from_address(keys + p.KEYS["kind"]).value == 2 and word.from_address(keys + p.KEYS["count"]).value == 2,
          "dict")
    first = keys + p.KEYS["indices"] + (1 << byte.from_address(keys + p.KEYS["bytes"]).value)
    _need([pointer.from_address(first + 16 * n).value for n in range(2)] == list(map(id, _Sample().__dict__)), "dict")
    if p.PYTHON < (3, 12):
        values = _read(pointer, x, p.INLINE_VALUES)
    elif p.PYTHON < (3, 13):
        values = _read(pointer, x, p.INLINE_VALUES)
        _need(values & 1 == 1, "objects")
        values += 1
    else:
        values = id(x) + _Sample.__basicsize__ + p.INLINE_VALUES
        _need(_read(byte, x, _Sample.__basicsize__ + p.INLINE_VALID) == 1, "objects")
    _need([pointer.from_address(values + 8 * n).value for n in range(2)] == [id(x.x), id(x.y)], "objects")
    if p.PYTHON != (3, 12):
        _need(not _read(pointer, x, p.MANAGED_DICT), "objects")
        x.__dict__
        _need(bool(_read(pointer, x, p.MANAGED_DICT)), "objects")


def _compare_numpy(p) -> None:
    pointer, word, int32, byte = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int32, ctypes.c_ubyte
    a = np.arange(30, dtype=np.int32).reshape(2, 3, 5)[:, ::2, 1:4]
    readonly = a.view()
    readonly.flags.writeable = False
    odd = np.frombuffer(b"\0" * 9, np.uint8)[1:].view(np.float64)
    fortran = np.ones((4, 7), np.float32, order="F")
    for x in (a, a.T, readonly, odd, fortran, np.zeros(3), np.zeros(())):
        _need(_read(pointer, x, p.OB_TYPE) == id(np.ndarray), "ndarray")
        _need(_read(pointer, x, p.ARRAY["data"]) == x.__array_interface__["data"][0], "ndarray")
        n = x.ndim
        _need(_read(int32, x, p.ARRAY["ndim"]) == n, "ndarray")
        if n:
            _need(tuple((word * n).from_address(_read(pointer, x, p.ARRAY["shape"]))) == x.shape, "ndarray")
            _need(tuple((word * n).from_address(_read(pointer, x, p.ARRAY["strides"]))) == x.strides, "ndarray")
        base = _read(pointer, x, p.ARRAY["base"])
        _need(base == (id(x.base) if x.base is not None else None), "ndarray")
        _need(_read(pointer, x, p.ARRAY["descr"]) == id(x.dtype), "ndarray")
        flags, f = _read(int32, x, p.ARRAY["flags"]), x.flags
        # the object that frees the data: a capsule if the array owns the data
        handler = _read(pointer, x, p.ARRAY["handler"])
        _need(f.owndata == (handler is not None)
              and (handler is None or pointer.from_address(handler + p.OB_TYPE).value == p._CAPSULE), "ndarray")
        for bit, expected in (("C", f.c_contiguous), ("F", f.f_contiguous), ("ALIGNED", f.aligned),
                              ("WRITEABLE", f.writeable), ("OWNDATA", f.owndata)):
            _need(bool(flags & p.ARRAY_FLAGS[bit]) == expected, "ndarray")
    for code in "bBhHiIlLqQefdFD?":
        for d in (np.dtype(code), np.dtype(code).newbyteorder()):
            _need(_read(int32, d, p.DESCR["type_num"]) == d.num, "dtype")
            _need(chr(_read(byte, d, p.DESCR["kind"])) == d.kind, "dtype")
            _need(chr(_read(byte, d, p.DESCR["byteorder"])) == d.byteorder, "dtype")
    for value in (np.datetime64(7, "h"), np.timedelta64(-7, "25s")):
        dtype = value.dtype  # a new object at each access
        where = _read(pointer, dtype, p.DESCR["time"]) + p.TIME_UNIT - p.SCALAR_VALUE - 8
        _need(_read(ctypes.c_int64, value, p.SCALAR_VALUE) == int(value.astype(np.int64)), "NumPy dates")
        for at in (id(value), where):
            unit, count = (int32.from_address(at + p.SCALAR_VALUE + 8 + 4 * i).value for i in range(2))
            _need((unit, count) == ((5, 1) if dtype.kind == "M" else (7, 25)), "NumPy dates")
    for value, kind in ((np.float64(3.5), ctypes.c_double), (np.float32(2.5), ctypes.c_float),
                        (np.int64(-7), ctypes.c_int64), (np.int32(-7), int32), (np.uint8(200), byte),
                        (np.int16(-300), ctypes.c_int16), (np.complex128(4.5), ctypes.c_double),
                        (np.bool_(True), byte)):
        _need(_read(kind, value, p.SCALAR_VALUE) == value, "NumPy scalars")
    records = np.zeros(2, "i4,i4")
    _need(_read(pointer, records[1], p.RECORD_DATA) == _read(pointer, records, p.ARRAY["data"]) + 8, "NumPy records")
    table = p.numpy_api_table()
    _need(_read_at(table, p.NUMPY_API["PyArray_Type"]) == id(np.ndarray), "NumPy's C-API table")
    _need(_read_at(table, p.NUMPY_API["PyArrayDescr_Type"]) == id(np.dtype), "NumPy's C-API table")
    for name, code in zip("Bool Byte Short Int Long LongLong UByte UShort UInt ULong ULongLong Float Double".split(),
                          "?bhilqBHILQfd", strict=True):
        _need(_read_at(table, p.NUMPY_API[name]) == id(np.dtype(code).type), "NumPy's C-API table")


def _read_at(table: int, index: int) -> int:
    return ctypes.c_void_p.from_address(table + 8 * index).value
