"""Records of NumPy, `a[i]` of a structured array, as arrays in the same memory."""
from __future__ import annotations

import ctypes

import numpy as np

from . import platform

__all__ = ["array_of"]


def array_of(record: np.void) -> np.ndarray:
    """An array without axes of one record, in the same memory."""
    where = ctypes.c_void_p.from_address(id(record) + platform.RECORD_DATA).value
    memory = (ctypes.c_char * record.itemsize).from_address(where)
    memory.record = record  # the record owns the memory
    array = np.frombuffer(memory, record.dtype).reshape(())
    if not record.flags.writeable:
        array.flags.writeable = False
    return array
