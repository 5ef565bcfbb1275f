"""Vector types of CUDA, such as `float4`: named tuples of numbers of one type.

They are made of numbers and shorter vectors, as in `float4(xy, 0, 1)`, on the host and in kernels. They are passed to
kernels like tuples.
"""
from __future__ import annotations

from collections import namedtuple

import numpy as np

__all__ = ["DTYPES", "VECTORS"]

_C = {"int8": ("char",), "int16": ("short",), "int32": ("int",), "int64": ("long", "longlong"), "uint8": ("uchar",),
      "uint16": ("ushort",), "uint32": ("uint",), "uint64": ("ulong", "ulonglong"), "float32": ("float",),
      "float64": ("double",)}


# creating a namedtuple class takes longer than all the rest
_BASES = [namedtuple(f"vector{n}", list("xyzw"[:n])) for n in range(1, 5)]


def _vector(dtype: str, n: int) -> type:
    convert = np.dtype(dtype).type

    def __new__(cls, *parts):
        values = [v for part in parts for v in (part if type(part) in DTYPES else (part,))]
        if len(values) != n:
            raise TypeError(f"{cls.__name__} has {n} number{'s' * (n > 1)}, got {len(values)}")
        return tuple.__new__(cls, map(convert, values))

    return type(f"{dtype}x{n}", (_BASES[n - 1],),
                {"__slots__": (), "__new__": __new__, "__module__": __name__, "__doc__": f"{n} numbers of {dtype}."})


VECTORS: dict[str, type] = {}  # under all their names: float32x4 is float4
DTYPES: dict[type, str] = {}  # vector type -> dtype of its numbers
for _dtype, _names in _C.items():
    for _n in range(1, 5):
        _cls = _vector(_dtype, _n)
        DTYPES[_cls] = _dtype
        VECTORS |= dict.fromkeys((_cls.__name__, *(f"{_name}{_n}" for _name in _names)), _cls)
globals().update(VECTORS)
