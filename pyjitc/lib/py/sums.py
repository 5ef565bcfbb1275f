"""sum() and math.prod() of any iterable. The start value keeps its type: the sum of no floats is the int 0."""
import sys

from ..intrinsics import is_python_float

__all__ = ["prod", "sum_"]

KEEPS_CONSTANTS = True


def sum_plain(iterable, start):
    for x in iterable:
        start = start + x
    return start


def sum_compensated(iterable, start):
    """sum() of CPython 3.12 and later: floats are added with Neumaier's compensation (Objects/bltinmodule.c)."""
    total = start
    lost = 0.0
    for x in iterable:
        new = total + x
        if is_python_float(new) and is_python_float(x):
            if abs(total) >= abs(x):
                lost += (total - new) + x
            else:
                lost += (x - new) + total
        total = new
    if is_python_float(total):
        if lost != 0.0 and lost - lost == 0.0:
            return total + lost
    return total


sum_ = sum_compensated if sys.version_info >= (3, 12) else sum_plain


def prod(iterable, start):
    for x in iterable:
        start = start * x
    return start
