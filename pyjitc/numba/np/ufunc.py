"""numba.np.ufunc"""
from ..decorators import guvectorize, vectorize
from ..special import (
    get_num_threads, get_parallel_chunksize, get_thread_id, set_num_threads, set_parallel_chunksize, threading_layer,
)
from ..absent import module_attribute

__all__ = ["PyUFunc_None", "PyUFunc_One", "PyUFunc_ReorderableNone", "PyUFunc_Zero", "get_num_threads",
           "get_parallel_chunksize", "get_thread_id", "guvectorize", "set_num_threads", "set_parallel_chunksize",
           "threading_layer", "vectorize"]

PyUFunc_Zero, PyUFunc_One, PyUFunc_None, PyUFunc_ReorderableNone = 0, 1, -1, -2
__getattr__ = module_attribute("np.ufunc", frozenset(("Vectorize", "GUVectorize", "dufunc", "gufunc", "parallel")))
