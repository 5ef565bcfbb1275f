"""Functions of the dispatcher that the runtime calls, although it is in a lower package: api/jit.py puts one into each
list."""
from __future__ import annotations

from typing import Callable

__all__ = ["of_function", "of_iterator"]

of_function: list[Callable] = []  # (options, function of the interpreter) -> compiled function
# (type of an iterator, options) -> (compiled functions of a step and of closing, whether a generator in it handles
# exceptions that are thrown into it)
of_iterator: list[Callable] = []
