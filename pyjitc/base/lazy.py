"""Modules that load on first use: `import pyjitc` must not pay for the compiler or for llvmlite.

All imports in the package that are not at the top of a module are made by `lazy`.
"""
import importlib

from .forks import Importing
from .uncollected import Uncollected

__all__ = ["lazy", "load"]


class _Lazy:
    """A placeholder for the module `name`; the first attribute access imports it."""

    def __init__(self, name: str):
        self.__dict__["_name"] = name

    def __getattr__(self, attribute: str):
        value = getattr(load(self._name), attribute)
        self.__dict__[attribute] = value
        return value


def load(name: str):
    """The module `name`, imported if it is not; a fork waits until that is done."""
    with Importing(), Uncollected():
        return importlib.import_module(name)


def lazy(name: str) -> _Lazy:
    return _Lazy(name)
