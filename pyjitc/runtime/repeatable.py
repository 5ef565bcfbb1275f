"""Functions that the interpreter runs for compiled code and that work on their operands alone: they draw no random
numbers and have no effect on anything else, so that a derivative may run them a second time.

A function says that where it is defined, or where compiled code is made to call it, by `works_on_operands`. Of all
other functions nothing is known.
"""
from __future__ import annotations

import numpy as np

__all__ = ["is_on_operands", "joined_in_order", "works_on_operands"]

_KNOWN: dict[int, object] = {}  # the id of each function -> the function


def works_on_operands(function):
    """Note, also as a decorator, that a function works on its operands alone."""
    _KNOWN[id(function)] = function
    return function


def is_on_operands(function) -> bool:
    return id(function) in _KNOWN


@works_on_operands
def joined_in_order(function, *args):
    """The array in C order that a function of NumPy makes of the arrays in a list."""
    return np.ascontiguousarray(function(*args))


for _method in vars(list).values():
    works_on_operands(_method)
