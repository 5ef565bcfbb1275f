"""The contenders and their decorators. A peer that is not installed is left out."""
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
    "numpy": ("numpy", "", ""),  # the same function in the interpreter, whose time is that of NumPy's functions
    "numba": ("numba", "numba.njit", "numba.njit(cache=True)"),
    "jax": ("jax", "jax.jit", ""),  # takes part if a program can be traced
    "trace": ("pyjitc", "pyjitc.trace", ""),  # the tracing front end on pyjitc's own back end
}


def available(peer: str) -> bool:
    package = PEERS[peer][0]
    return package is None or importlib.util.find_spec(package) is not None


def decorator(peer: str, **options) -> Callable:
    """The decorator of functions for a peer. For the interpreter it returns the function itself; for tracing contenders
    it is `jit` or `trace`."""
    package = PEERS[peer][0]
    if peer in ("cpython", "numpy"):
        return lambda function: function
    module = importlib.import_module(package)
    return module.jit if peer == "jax" else module.trace if peer == "trace" else module.njit(**options)


def load(path: str, peer: str, names: dict = {}, known_as: str | None = None, **options) -> dict:
    """The definitions of a file of programs whose decorator is the free name `njit`, made for one peer.

    names: further free names. known_as: another name for the file, so that its code is new to a cache."""
    with open(path) as file:
        code = compile(file.read(), known_as or path, "exec")
    # A new module each time, which is registered in sys.modules: Numba needs that when a function calls itself.
    module = types.ModuleType(f"bench_{peer}_{len(_loaded)}")
    _loaded.append(module)
    sys.modules[module.__name__] = module
    module.njit = decorator(peer, **options)
    vars(module).update(names)
    exec(code, vars(module))
    return vars(module)


_loaded: list[types.ModuleType] = []
