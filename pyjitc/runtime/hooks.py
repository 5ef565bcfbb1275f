"""What the runtime asks the dispatcher for, which stands above it: api/jit.py puts one function into each list."""
from __future__ import annotations

from typing import Callable

__all__ = ["of_function", "of_iterator"]

of_function: list[Callable] = []  # (options, function of the interpreter) -> compiled function
# (type of an iterator, options) -> compiled functions of a step and of its end; whether something in it handles what is
# thrown into it
of_iterator: list[Callable] = []
