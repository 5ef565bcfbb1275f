"""numba.core"""
from .. import config, errors, types
from ..absent import PRIVATE, module_attribute

__all__ = ["config", "errors", "types"]
__getattr__ = module_attribute("core", frozenset(path.split(".")[1] for path in PRIVATE if path.startswith("core.")))
