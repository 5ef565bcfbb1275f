"""Makes `numpy.ufunc` objects whose loops are native code, by NumPy's C API.

A ufunc is made without loops; `add_loop` gives it one for certain dtypes (an ArrayMethod of NEP 43, which may fail with
an exception, and says whether it needs the interpreter lock). Where none fits, NumPy asks a *promoter*: a C function
that calls `record.promote`, which may compile and add a loop. `record` is an object of the ufunc's maker, which lives
as long as the ufunc; `record_of(ufunc)` finds it.

The tables of type characters, which `ufunc.types` shows and by which the older part of NumPy chooses a loop for
operands that must be cast, are updated too.
"""
from __future__ import annotations

import ctypes
import sys
import weakref
from ctypes import POINTER, Structure, c_char_p, c_int, c_ssize_t, c_void_p, py_object
from functools import partial
from typing import Any

import numpy as np

from . import thunks
from .dispatcher import RETRY

__all__ = ["NO_FLOAT_ERRORS", "HOLDS_LOCK", "REORDERABLE", "Handle", "Record", "add_loop", "looking",
           "record_of", "make", "promoting", "write_back"]

HOLDS_LOCK, NO_FLOAT_ERRORS, REORDERABLE = 1 << 0, 1 << 1, 1 << 3  # flags of an ArrayMethod
_STRIDED_LOOP = 5
_INITIAL = 4
_ZERO, _ONE, _NONE, _REORDERABLE_NONE, _VALUE = 0, 1, -1, -2, -3  # NumPy's constants for kinds of identities


class _Ufunc(Structure):
    """The public part of PyUFuncObject."""

    _fields_ = [("count", c_ssize_t), ("type", c_void_p), ("nin", c_int), ("nout", c_int), ("nargs", c_int),
                ("identity", c_int), ("functions", c_void_p), ("data", c_void_p), ("ntypes", c_int),
                ("reserved", c_int), ("name", c_void_p), ("types", c_void_p), ("doc", c_void_p), ("ptr", c_void_p),
                ("obj", c_void_p), ("userloops", c_void_p), ("core_enabled", c_int), ("core_num_dim_ix", c_int),
                ("core_num_dims", c_void_p), ("core_dim_ixs", c_void_p), ("core_offsets", c_void_p),
                ("core_signature", c_void_p), ("type_resolver", c_void_p), ("dict", c_void_p),
                ("vectorcall", c_void_p), ("reserved3", c_void_p), ("op_flags", c_void_p)]


class _Slot(Structure):
    _fields_ = [("slot", c_int), ("value", c_void_p)]


class _Spec(Structure):
    _fields_ = [("name", c_char_p), ("nin", c_int), ("nout", c_int), ("casting", c_int), ("flags", c_int),
                ("dtypes", POINTER(c_void_p)), ("slots", POINTER(_Slot))]


class Record:
    """The data of a ufunc for its maker. `kept`: objects that must live as long as the ufunc."""

    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def promote(self, ufunc: np.ufunc, given: list, asked: list) -> list[type]:
        """The dtype classes for which the ufunc has a loop now. given: the class of each operand, an abstract one for a
        Python number, or None; asked: the classes that the call requires. Its exceptions are those of the call."""
        raise NotImplementedError


class _Life:
    """An object that a ufunc owns, whose finaliser tells when the ufunc is freed: ufuncs have no weak references."""

    __slots__ = ("__weakref__",)


class Handle:
    """A weak reference to a ufunc that was made here."""

    __slots__ = ("address", "life")

    def __init__(self, ufunc: np.ufunc):
        self.address, self.life = id(ufunc), _lives[id(ufunc)]

    def ufunc(self) -> np.ufunc:
        alive = self.life()
        if alive is None:
            raise ReferenceError("the ufunc is gone")
        return ctypes.cast(self.address, py_object).value


_records: dict[int, Record] = {}  # by the address of the ufunc, while it lives
_lives: dict[int, weakref.ref] = {}
_functions: dict[int, Any] = {}
_INDEX = {"make": 42, "add_loop": 43, "add_promoter": 44}  # in NumPy's table


def _api(name: str):
    if not _functions:
        core = sys.modules["numpy._core._multiarray_umath"]
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = c_void_p, [py_object, c_char_p]
        table = get(core._UFUNC_API, None)
        if c_void_p.from_address(table).value != id(np.ufunc):
            raise RuntimeError("unexpected layout of NumPy's table of ufunc functions")
        arguments = {
            "make": (py_object, [c_void_p, c_void_p, c_char_p, c_int, c_int, c_int, c_int, c_char_p, c_char_p, c_int,
                                 c_char_p, py_object]),
            "add_loop": (c_int, [py_object, POINTER(_Spec)]), "add_promoter": (c_int, [py_object] * 3)}
        for key, (result, types) in arguments.items():
            address = c_void_p.from_address(table + 8 * _INDEX[key]).value
            _functions[key] = ctypes.PYFUNCTYPE(result, *types)(address)
    return _functions[name]


def make(record: Record, name: str, nin: int, nout: int, doc: str, identity=None, signature: str | None = None,
         ) -> np.ufunc:
    """A ufunc without loops. identity: a number, None, or 'reorderable'; signature: of a generalised ufunc."""
    kind, value = _NONE, None
    if isinstance(identity, str):
        kind = _REORDERABLE_NONE
    elif identity is not None and type(identity) is int and identity in (0, 1):
        kind = _ONE if identity else _ZERO
    elif identity is not None:
        kind, value = _VALUE, identity
    texts = [ctypes.create_string_buffer(text.encode()) for text in (name, doc)]
    record.kept += texts
    where = [ctypes.cast(text, c_char_p) for text in texts]
    ufunc = _api("make")(None, None, None, 0, nin, nout, kind, where[0], where[1], 0,
                         signature.encode() if signature else None, value)
    life, address = _Life(), id(ufunc)
    _records[address], _lives[address] = record, weakref.ref(life, partial(_gone, address, _records, _lives))
    ctypes.pythonapi.Py_IncRef(py_object(life))
    _Ufunc.from_address(address).obj = id(life)  # the ufunc releases it when it is freed
    return ufunc


def _gone(address: int, records: dict, lives: dict, _) -> None:  # the interpreter clears globals when it ends
    del records[address], lives[address]


def record_of(ufunc) -> Record | None:
    """The record of a ufunc that was made here, else None."""
    return _records.get(id(ufunc)) if type(ufunc) is np.ufunc else None


def add_loop(ufunc: np.ufunc, dtypes, address: int, flags: int, initial: int | None = None) -> None:
    """Add the loop at `address` for operands of these dtypes (NumPy's own). initial: address of a function that writes
    the start value of a reduction. The caller must keep the code alive by a reference in the record."""
    record = _records[id(ufunc)]
    count = len(dtypes)
    classes = (c_void_p * count)(*(id(type(dtype)) for dtype in dtypes))
    slots = (_Slot * 3)(_Slot(_STRIDED_LOOP, address))
    if initial is not None:
        slots[1] = _Slot(_INITIAL, initial)
    spec = _Spec(ufunc.__name__.encode(), ufunc.nin, ufunc.nout, 0, flags, classes, slots)
    _api("add_loop")(ufunc, ctypes.byref(spec))
    fields = _Ufunc.from_address(id(ufunc))
    number = fields.ntypes + 1
    old = ctypes.string_at(fields.types, fields.ntypes * count) if fields.ntypes else b""
    types = ctypes.create_string_buffer(old + bytes(dtype.num for dtype in dtypes), number * count)
    functions, data = (c_void_p * number)(), (c_void_p * number)()
    record.kept += [classes, slots, spec, types, functions, data]
    fields.functions, fields.data, fields.types = (ctypes.addressof(table) for table in (functions, data, types))
    fields.ntypes = number


_READWRITE = 0x00810000  # of NumPy's iterator: READWRITE, UPDATEIFCOPY


def write_back(ufunc: np.ufunc, operands) -> None:
    """Copy values that the loop writes to these inputs back to the caller's arrays if those had to be converted."""
    flags = (ctypes.c_uint32 * ufunc.nargs).from_address(_Ufunc.from_address(id(ufunc)).op_flags)
    for k in operands:
        flags[k] |= _READWRITE


def looking(ufunc: np.ufunc, prepare) -> None:
    """Redirect calls to prepare(ufunc, *args, **kwargs), which returns the result, or RETRY: then NumPy makes the
    original call."""
    fields = _Ufunc.from_address(id(ufunc))
    if prepare not in _looking:
        _looking[prepare] = thunks.slow_path(prepare, RETRY, _Ufunc.reserved3.offset)
    fields.reserved3, fields.vectorcall = fields.vectorcall, _looking[prepare]


_looking: dict = {}
_promoter: list = []


def promoting(ufunc: np.ufunc) -> None:
    """Let NumPy call the record's `promote` where no loop fits the operands."""
    if not _promoter:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
        name = ctypes.c_char_p(b"numpy._ufunc_promoter")
        _promoter.extend([new(thunks.caller(_promote), name, None), name])
    _api("add_promoter")(ufunc, (np.dtype,) * ufunc.nargs, _promoter[0])


def _promote(ufunc: int, given: int, asked: int, new: int) -> None:
    record = _records[ufunc]
    one = ctypes.cast(ufunc, py_object).value
    tables = []
    for table in (given, asked):
        words = (c_void_p * one.nargs).from_address(table)
        tables.append([None if not word else ctypes.cast(word, py_object).value for word in words])
    found = record.promote(one, *tables)
    words = (c_void_p * one.nargs).from_address(new)
    for k, cls in enumerate(found):
        ctypes.pythonapi.Py_IncRef(py_object(cls))
        words[k] = id(cls)


