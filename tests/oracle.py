"""The oracle: the same function in the interpreter and compiled must do the same.

Compared are the result with its type (to the last bit; all NaNs are equal), the exception with its class and arguments,
the mutable arguments afterwards, and the printed text. Text that names a function is compared too.
"""
from __future__ import annotations

import collections
import contextlib
import copy
import io
import struct
import types
import warnings

import numpy as np

from pyjitc import njit

__all__ = ["agree", "agree_on", "outcome", "same", "plain"]


def agree(function, *args, compiled=None, **options):
    """Calls `function` and its compiled form on copies of `args` and asserts that both do the same.

    compiled: use this one instead of `njit(**options)(function)`. Returns it, for more calls."""
    if compiled is None:
        compiled = njit(**options)(function) if options else njit(function)
    expected = outcome(plain(function), args)
    actual = outcome(compiled, args)
    wrong = difference(expected, actual)
    assert not wrong, f"{function.__name__}{args}: {wrong}"
    return compiled


def agree_on(function, *calls, **options):
    """`agree` for several tuples of arguments, with one compiled form."""
    compiled = njit(**options)(function)
    for args in calls:
        agree(function, *args, compiled=compiled)


def plain(function):
    """The Python function behind a decorated one."""
    return getattr(function, "py_func", function)


def outcome(function, args):
    """(how the call ended, result or exception, arguments afterwards, printed text). The copies of one array that is
    passed twice are one array, but views of it become separate arrays."""
    args = copy.deepcopy(args)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's scalars warn of overflow: see docs/semantics.md
        try:
            how, what = "returns", function(*args)
        except Exception as error:
            how, what = "raises", error
    return how, what, args, printed.getvalue()


def difference(expected, actual) -> str:
    """'' if two outcomes are the same, otherwise a text about the difference."""
    if expected[0] != actual[0]:
        return f"the interpreter {expected[0]} {expected[1]!r}, compiled code {actual[0]} {actual[1]!r}"
    if expected[0] == "raises":
        first, second = expected[1], actual[1]
        if type(first) is not type(second) or repr(first.args) != repr(second.args):
            return f"the interpreter raises {first!r}, compiled code {second!r}"
    elif not same(expected[1], actual[1]):
        return f"the interpreter returns {shown(expected[1])}, compiled code {shown(actual[1])}"
    if not same(expected[2], actual[2]):
        return f"arguments are {expected[2]!r} after the interpreter, {actual[2]!r} after compiled code"
    if expected[3] != actual[3]:
        return f"the interpreter prints {expected[3]!r}, compiled code {actual[3]!r}"
    return ""


def shown(value) -> str:
    return f"{value!r} ({type(value).__name__})"


def same(x, y) -> bool:
    """Whether two values have the same type and bits."""
    if type(x) is not type(y):
        return False
    if isinstance(x, (tuple, list)):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, dict):  # its order counts
        return (same(list(x), list(y)) and same(list(x.values()), list(y.values()))
                and getattr(x, "default_factory", None) is getattr(y, "default_factory", None))
    if isinstance(x, (set, frozenset)):  # the order of the interpreter is the same for the same history
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, collections.deque):
        return x.maxlen == y.maxlen and same(list(x), list(y))
    if isinstance(x, np.ndarray):
        return (x.dtype, x.shape, x.flags.writeable) == (y.dtype, y.shape, y.flags.writeable) and _bits(x, y)
    if isinstance(x, np.generic):
        return x.dtype == y.dtype and _bits(np.array(x), np.array(y))
    if isinstance(x, float):
        return x != x and y != y or struct.pack("d", x) == struct.pack("d", y)
    if isinstance(x, complex):
        return same(x.real, y.real) and same(x.imag, y.imag)
    if isinstance(x, (types.FunctionType, type)):
        return x is y
    return x == y


def _bits(x, y) -> bool:
    if x.dtype.kind in "fc":
        nan = np.isnan(x) & np.isnan(y)
        x, y = np.where(nan, 0, x), np.where(nan, 0, y)
    return x.tobytes() == y.tobytes()
