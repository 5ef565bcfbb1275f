"""Modules that load on first use: `import pyjitc` must not pay for the compiler or for llvmlite.

The only way in the package to import later than the top of a module.
"""
import gc
import importlib

__all__ = ["lazy"]


class _Lazy:
    """Stands for the module `name`; the first attribute access imports it."""

    def __init__(self, name: str):
        self.__dict__["_name"] = name

    def __getattr__(self, attribute: str):
        value = getattr(_load(self._name), attribute)
        self.__dict__[attribute] = value
        return value


def _load(name: str):
    """Import without garbage collection: what modules make stays, and looking at it in between took 3 ms of a first call."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        if collects:
            gc.enable()


def lazy(name: str) -> _Lazy:
    return _Lazy(name)
