"""numba.core"""
from .. import config, errors, types
from ..install import package_attribute

__all__ = ["config", "errors", "types"]
__getattr__ = package_attribute("core")
