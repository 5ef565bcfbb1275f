"""The compiled steps of an iterator that compiled code has passed to the interpreter (runtime/handed.py), for its
type."""
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
