"""numba.np"""
from ..absent import PRIVATE, module_attribute
from .. import types
from . import numpy_support, ufunc

__all__ = ["numpy_support", "types", "ufunc"]
__getattr__ = module_attribute("np", frozenset(
    path.split(".")[1] for path in PRIVATE if path.startswith("np.") and path != "np.types"))
