"""The contenders: what each one's decorator is. A peer that is not installed is left out."""
from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from typing import Callable

__all__ = ["PEERS", "available", "decorator", "load"]

# peer: (package, expression of its decorator, and of the one with a disk cache)
PEERS = {
    "pyjitc": ("pyjitc", "pyjitc.njit", "pyjitc.njit(cache=True)"),
    "cpython": (None, "", ""),
    "numba": ("numba", "numba.njit", "numba.njit(cache=True)"),
    "jax": ("jax", "", ""),  # whole-array functions only: see vector_math
}


def available(peer: str) -> bool:
    package = PEERS[peer][0]
    return package is None or importlib.util.find_spec(package) is not None


def decorator(peer: str, **options) -> Callable:
    """Of functions; for CPython it returns the function itself."""
    package = PEERS[peer][0]
    if package is None:
        return lambda function: function
    return importlib.import_module(package).njit(**options)


def load(path: str, peer: str, **options) -> dict:
    """The definitions of a file of programs that decorate with the free name `njit`, for one peer."""
    with open(path) as file:
        code = compile(file.read(), path, "exec")
    # A module of its own each time, and known as one: Numba asks for that when a function calls itself.
    module = types.ModuleType(f"bench_{peer}_{len(_loaded)}")
    _loaded.append(module)
    sys.modules[module.__name__] = module
    module.njit = decorator(peer, **options)
    exec(code, vars(module))
    return vars(module)


_loaded: list[types.ModuleType] = []
