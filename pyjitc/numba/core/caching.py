"""numba.core.caching: this compiler keeps code on disk by itself, whatever cache a program sets for a function."""
from __future__ import annotations

from ..absent import module_attribute

__all__ = ["CacheImpl", "NullCache"]


class CacheImpl:
    """Where Numba keeps code: programs insert classes in the list, which are not asked here."""

    _locator_classes: list = []


class NullCache:
    """A cache that keeps nothing."""

    cache_path = None

    def load_overload(self, sig, target_context):
        return None

    def save_overload(self, sig, data):
        return None

    def enable(self):
        return None

    disable = flush = enable


__getattr__ = module_attribute("core.caching")
