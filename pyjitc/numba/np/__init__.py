"""numba.np"""
from ..install import package_attribute
from .. import types
from . import numpy_support, ufunc

__all__ = ["numpy_support", "types", "ufunc"]
__getattr__ = package_attribute("np")
