"""numba.core.utils"""
import inspect
import sys

from ..absent import module_attribute

__all__ = ["MACHINE_BITS", "PYVERSION", "pysignature"]

PYVERSION = sys.version_info[:2]
MACHINE_BITS = 64
pysignature = inspect.signature
__getattr__ = module_attribute("core.utils")
