"""numba.np.numpy_support"""
import numpy as np

from ..types import as_dtype, from_dtype, from_struct_dtype
from ..absent import module_attribute

__all__ = ["as_dtype", "as_struct_dtype", "from_dtype", "from_struct_dtype", "is_array", "map_arrayscalar_type",
           "map_layout", "numpy_version"]

numpy_version = tuple(map(int, np.__version__.split(".")[:2]))
as_struct_dtype = as_dtype


def map_arrayscalar_type(value):
    return from_dtype(value.dtype)


def map_layout(value):
    flags = value.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"


def is_array(value):
    return isinstance(value, np.ndarray)


__getattr__ = module_attribute("np.numpy_support", frozenset((
    "ufunc_find_matching_loop", "ufunc_can_cast", "select_array_wrapper", "resolve_output_type", "UFuncLoopSpec",
    "type_can_asarray", "type_is_scalar", "check_is_integer", "is_nonelike", "carray", "farray")))
