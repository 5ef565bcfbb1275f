"""numba.misc"""
from .. import special
from ..install import package_attribute

__all__ = ["special"]
__getattr__ = package_attribute("misc")
