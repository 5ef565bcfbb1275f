"""The functions that the interpreter calls for an iterator of compiled code that was passed to it: one step, and the
release of the iterator (see runtime/native_iterators.py). They are compiled for each type of iterator."""
from ...ops.memory import ITERATOR_DROP, ITERATOR_HOLD, ITERATOR_KEEP
from ..intrinsics import advance

__all__ = ["drop", "step"]


def step(it):
    it = ITERATOR_KEEP(it)
    one = advance(it)
    if not one[0]:
        raise StopIteration
    ITERATOR_HOLD(it)
    return one[1]


def drop(it):
    ITERATOR_DROP(it)
