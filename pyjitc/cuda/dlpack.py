"""DLPack's structures, by ctypes: import and export of tensors of other libraries, without copies.

Source: dlpack.h, version 0.8, the form that all libraries exchange unless they agree on a newer one.
"""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p

import numpy as np

from ..base.lazy import lazy
from ..runtime import loader

capsule = lazy("pyjitc.codegen.capsule")

__all__ = ["CPU", "CUDA", "CUDA_HOST", "CUDA_MANAGED", "Imported", "export"]

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class _Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, c_void_p)
_Managed._fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", c_void_p)]


def _api(name: str, result, *arguments):
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _api("PyCapsule_New", ctypes.py_object, c_void_p, c_char_p, c_void_p)
_get = _api("PyCapsule_GetPointer", c_void_p, ctypes.py_object, c_char_p)
_is = _api("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, c_char_p)
_rename = _api("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, c_char_p)
_NAME, _USED = b"dltensor", b"used_dltensor"  # the capsule keeps a pointer to its name

_exported: dict[int, tuple] = {}  # address of a managed tensor -> objects that it keeps alive


@_Deleter
def _delete(address, exported=_exported):
    exported.pop(address, None)


def _stays(kept) -> None:
    """Keep an object until the process ends: capsules and arrays of other libraries may outlive this module."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


_stays(_delete)


_destructor: list = []  # the image of the native destructor of capsules, once it was loaded


def _end() -> int:
    """The address of the destructor: for a capsule that was not consumed, it frees the tensor, too."""
    if not _destructor:
        _destructor.append(loader.load(capsule.make_destructor(_Managed.deleter.offset)))
        _stays(_destructor[0])
    return _destructor[0].address("pyjitc_end_capsule")


def export(address: int, shape, strides, dtype: np.dtype, device: tuple[int, int], owner):
    """A capsule with a tensor; it keeps `owner` alive until the consumer releases it."""
    if dtype.kind not in _KINDS:
        raise BufferError(f"DLPack has no arrays of dtype {dtype}; copy it to the host, as in x.copy_to_host()")
    n = len(shape)
    managed = _Managed()
    dims, steps = (c_int64 * n)(*shape), (c_int64 * n)(*(s // dtype.itemsize for s in strides))
    managed.tensor = _Tensor(address, *device, n, _KINDS[dtype.kind], dtype.itemsize * 8, 1,
                             ctypes.cast(dims, POINTER(c_int64)), ctypes.cast(steps, POINTER(c_int64)), 0)
    managed.deleter = ctypes.cast(_delete, c_void_p).value
    where = ctypes.addressof(managed)
    _exported[where] = managed, dims, steps, owner
    return _new(where, _NAME, _end())


class Imported:
    """The tensor of a capsule, which it consumes: address, size (bytes), shape, strides (bytes), dtype, writable."""

    writable = True

    def __init__(self, given):
        if not _is(given, _NAME):
            raise ValueError("the DLPack capsule holds no tensor, or it was taken before")
        self.address_of_managed = _get(given, _NAME)
        managed = _Managed.from_address(self.address_of_managed)
        _rename(given, _USED)
        self.deleter = managed.deleter
        t = managed.tensor
        kind = {code: kind for kind, code in _KINDS.items()}.get(t.code)
        if kind is None or t.lanes != 1:
            raise TypeError(f"a DLPack tensor of type code {t.code} with {t.bits} bits has no NumPy form")
        self.dtype = np.dtype(f"{kind}{t.bits // 8}")
        self.shape = tuple(t.shape[:t.ndim])
        step, steps = 1, []
        for n in reversed(self.shape):
            steps.append(step)
            step *= n
        steps = t.strides[:t.ndim] if t.strides else steps[::-1]
        self.strides = tuple(s * self.dtype.itemsize for s in steps)
        self.address = (t.data or 0) + t.byte_offset
        self.size = step * self.dtype.itemsize

    def __del__(self):
        deleter = getattr(self, "deleter", None)
        if deleter:
            _Deleter(deleter)(self.address_of_managed)
