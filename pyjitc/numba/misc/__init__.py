"""numba.misc"""
from .. import special

__all__ = ["special"]
