"""heapq and bisect. Heaps are Python lists; helpers (codegen/sorting.py) move their objects where these are numbers,
texts or tuples of them, the interpreter's functions otherwise. Bisection is compiled, for anything that has items."""
from __future__ import annotations

import bisect
import heapq

from ...base.lazy import lazy
from ...infer.meaning import Apply, CallValue, Expr, Mismatch, NotNative, thrown
from ...ops.containers import HEAP_POP, HEAP_PUSH, HOLDS
from ...ops.pyobject import PY_UNBOX
from ...ops.structure import DISCARD
from ...types.kinds import List, is_float
from .. import operations
from ..build import type_name
from ..protocol import by_python
from ..rule import expression, intrinsic, rule

__all__ = ["CALLS"]

lists = lazy("pyjitc.lib.py.lists")


def _heap(x: Expr) -> Expr:
    if not isinstance(lists.real(x).type, List):
        raise Mismatch(f"heap argument must be a list, not {x.type.class_name}")
    return x


def _with(heap: Expr, item: Expr) -> Expr:
    return Apply(HOLDS, _heap(heap), item=lists.real(item).type)


@rule("heapq.heappush")
def _push(heap, item, /):
    return Apply(HEAP_PUSH, _heap(heap), lists.real(item))


@rule("heapq.heappop")
def _pop(heap, /):
    return Apply(PY_UNBOX, Apply(HEAP_POP, _heap(heap)), type=heap.type.item)


@rule("heapq.heapify")
def _heapify(heap, /):
    return Apply(DISCARD, by_python(heapq.heapify, _heap(heap)))


@rule("heapq.heapreplace")
def _replace(heap, item, /):
    return by_python(heapq.heapreplace, _with(heap, item), item, type=heap.type.item)


@rule("heapq.heappushpop")
def _push_pop(heap, item, /):
    return by_python(heapq.heappushpop, _with(heap, item), item, type=heap.type.item)


def _best(path, backwards):
    @rule(path)
    def found(n, iterable, key=None):
        given = lists.listed(iterable), n, key or expression(None), expression(backwards)
        if is_float(n.type):
            return CallValue(expression(best_of_float), *given, expression(type_name(n.type)))
        return CallValue(expression(best), *given)

    return found


def _place(path, function, left):
    @rule(path)
    def found(a, x, lo=0, hi=None, *, key=None):
        return CallValue(expression(function), a, x, lo, hi or expression(None), key or expression(None),
                         expression(left))

    return found


def best(x, n, key, backwards):
    x.sort(key=key, reverse=backwards)
    del x[max(n, 0):]
    return x


def best_of_float(x, n, key, backwards, name):
    """heapq compares n with 1 and with the number of items before it uses it."""
    if n == 1:
        return best(x, 1, key, backwards)
    if n >= len(x):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    raise TypeError(f"'{name}' object cannot be interpreted as an integer")


def place(a, x, lo, hi, key, left):
    """The index at which x is to be inserted: before the items that are equal to it if `left`, else behind them."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        if key is None:
            item = a[middle]
        else:
            item = key(a[middle])
        if less(item, x) if left else not less(x, item):
            lo = middle + 1
        else:
            hi = middle
    return lo


@intrinsic
def less(x, y):
    """x < y. What cannot be compared raises where control arrives: a list may have no items to compare with."""
    try:
        return operations.compare("<", x, y)
    except NotNative:
        raise
    except Mismatch as error:
        return thrown(error)


def put(a, x, lo, hi, key, left):
    if key is None:
        a.insert(place(a, x, lo, hi, None, left), x)
    else:
        a.insert(place(a, key(x), lo, hi, key, left), x)


CALLS = {
    heapq.heappush: _push, heapq.heappop: _pop, heapq.heapify: _heapify, heapq.heapreplace: _replace,
    heapq.heappushpop: _push_pop, heapq.nsmallest: _best("heapq.nsmallest", False),
    heapq.nlargest: _best("heapq.nlargest", True), bisect.bisect_left: _place("bisect.bisect_left", place, True),
    bisect.bisect_right: _place("bisect.bisect_right", place, False),
    bisect.insort_left: _place("bisect.insort_left", put, True),
    bisect.insort_right: _place("bisect.insort_right", put, False),
}
