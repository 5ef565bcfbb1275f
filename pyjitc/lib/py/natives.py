"""Operations on native lists, in the compiled subset: `passes/natives.py` replaces calls of the interpreter on lists
that do not escape by calls of these functions. Messages and orders are CPython's. The methods of `pyjitc.typed.List`
call them, too. A handler of signals may change such a list: a function that uses a length in a loop is `unpolled`.
"""
from __future__ import annotations

from ...infer.meaning import Apply, Call, Const, Expr
from ...ops.arith import BAND, BOR, FEQ, FLT, IEQ, ILT
from ...ops.containers import LIST_APPEND, LIST_GET, LIST_NEW, LIST_SORT
from ...ops.natives import (
    LIST_BEGIN, LIST_BLANK, NATIVE_AT, NATIVE_COPY, NATIVE_CUT, NATIVE_INIT, NATIVE_IS, NATIVE_LEAVE, NATIVE_LEFT,
    NATIVE_LEN, NATIVE_LIFT, NATIVE_LOAD, NATIVE_OUTSIDE, NATIVE_PUSH, NATIVE_PUT, NATIVE_ROOM, NATIVE_SHIFT,
    NATIVE_SORT, NATIVE_SORT_AS_PYTHON, NATIVE_SORT_BY, NATIVE_SPREAD, NATIVE_STORE, NATIVE_TAKE, NATIVE_UNSHIFT, QUIET,
    outside,
)
from ...ops.sorting import SORT_BY
from ...ops.structure import TUPLE_GET, UNION_MAKE
from ...types.kinds import (
    Bool, Float, Int, List, NativeList, NpFloat, NpInt, Str, Tuple, Union, any_part, is_refcounted,
)
from ..build import outlined, unpolled
from ..intrinsics import same
from ..np.shapes.views import slice_bounds
from ..protocol import Protocol

__all__ = ["PROTOCOLS"]


def _rule(function):
    """Decorator of a function of expressions, which makes the rule of a function in this module."""
    def stand_in(*args):
        raise NotImplementedError

    stand_in.rule = lambda args, kwargs: function(*args)  # type: ignore[attr-defined]  # where table.py looks
    stand_in.__name__ = stand_in.__qualname__ = function.__name__
    return stand_in


@_rule
def get(x: Expr, i: Expr) -> Expr:
    """The item at index i, which exists."""
    return Apply(NATIVE_AT if is_refcounted(x.type.item) else NATIVE_LOAD, x, i)


@_rule
def put(x: Expr, i: Expr, value: Expr) -> Expr:
    """Replace the item at index i, which exists."""
    return Apply(NATIVE_PUT if is_refcounted(x.type.item) else NATIVE_STORE, x, i, _as_item(x, value))


@_rule
def push(x: Expr, value: Expr) -> Expr:
    """Append an item."""
    return Apply(NATIVE_PUSH, x, _as_item(x, value))


@_rule
def push_first(x: Expr, value: Expr) -> Expr:
    """Insert an item before the first."""
    return Apply(NATIVE_UNSHIFT, x, _as_item(x, value))


@_rule
def begin(x: Expr, i: Expr, value: Expr) -> Expr:
    """Store `value` at index i, which has no item yet."""
    return Apply(NATIVE_INIT, x, i, _as_item(x, value))


def _as_item(x: Expr, value: Expr) -> Expr:
    """A value in the type of the list's items: inference calls a rule with each member of a union separately."""
    t = x.type.item
    return Apply(UNION_MAKE, value, type=t) if isinstance(t, Union) and value.type is not t else value


@_rule
def leaving(x: Expr) -> Expr:
    """A value in the form that it has outside compiled code."""
    if not isinstance(x.type, NativeList):
        return x
    return Call(leave if x.type.item in QUIET else leave_each, x)


@_rule
def made_outside(x: Expr) -> Expr:
    return Apply(LIST_NEW, type=outside(x.type))


def leave(x):
    """The Python list with the same items, for items whose objects the garbage collector does not track."""
    if NATIVE_LEFT(x):
        return NATIVE_OUTSIDE(x)
    made = LIST_BLANK(x)
    for i in range(NATIVE_LEN(x)):
        LIST_BEGIN(made, i, get(x, i))
    NATIVE_LEAVE(x, made)
    return made


def leave_each(x):
    """As `leave`, for items whose objects the garbage collector tracks. The collector may run while the list is made,
    so the list never has an empty place."""
    if NATIVE_LEFT(x):
        return NATIVE_OUTSIDE(x)
    made = made_outside(x)
    for i in range(NATIVE_LEN(x)):
        LIST_APPEND(made, leaving(get(x, i)))
    NATIVE_LEAVE(x, made)
    return made


# ---------------------------------------------------------------- methods and operators


@_rule
def counted(x: Expr) -> Expr:
    """Whether the items have references: a list of such items must have one at every place whenever signals may be
    handled."""
    return Const(Bool, is_refcounted(x.type.item))


@_rule
def room_like(x: Expr, n: Expr) -> Expr:
    """A list of the same type without items, with room for n."""
    return Apply(NATIVE_ROOM, n, type=x.type)


@_rule
def room_for(x: Expr, n: Expr) -> Expr:
    """An empty list with room for the items of `x`."""
    if isinstance(x.type, List):
        item = x.type.item
    else:
        item = x.type.parts[0] if isinstance(x.type, Tuple) else Str if x.type is Str else Int
    return Apply(NATIVE_ROOM, n, type=NativeList(item))


@unpolled
def append_part(x, y, start, n):
    """Append n items of `y`, from index `start` on."""
    if counted(x):
        for i in range(start, start + n):
            push(x, get(y, i))
    else:
        at = NATIVE_LEN(x)
        NATIVE_SPREAD(x, at, n)
        for i in range(n):
            begin(x, at + i, get(y, start + i))


@unpolled
@outlined
def repeated(x, n):
    size = NATIVE_LEN(x)
    if n <= 0 or size == 0:
        return room_like(x, 0)
    if size > 9223372036854775807 // n:
        raise MemoryError
    made = room_like(x, size * n)
    for _ in range(n):
        append_part(made, x, 0, size)
    return made


@unpolled
@outlined
def repeat(x, n):
    size = NATIVE_LEN(x)
    if n <= 0:
        cut(x, 0)
    elif size > 0:
        if size > 9223372036854775807 // n:
            raise MemoryError
        NATIVE_SPREAD(x, size, size * (n - 1))  # allocates all memory at once, or raises
        NATIVE_CUT(x, size)
        for _ in range(n - 1):
            append_part(x, x, 0, size)


@unpolled
@outlined
def joined(x, y):
    made = room_like(x, NATIVE_LEN(x) + NATIVE_LEN(y))
    append_part(made, x, 0, NATIVE_LEN(x))
    append_part(made, y, 0, NATIVE_LEN(y))
    return made


@unpolled
@outlined
def extend_by(x, y):
    append_part(x, y, 0, NATIVE_LEN(y))


def extend(x, items):
    for item in items:
        push(x, item)


def listed(items):
    made = room_for(items, len(items))
    for item in items:
        push(made, item)
    return made


def copied(x):
    return taken(x, 0, NATIVE_LEN(x))


def taken(x, start, n):
    if not counted(x):
        return NATIVE_COPY(x, start, n)
    made = room_like(x, n)
    append_part(made, x, start, n)
    return made


@unpolled
@outlined
def part(x, s):
    start, step, n = slice_bounds(s.start, s.stop, s.step, NATIVE_LEN(x))
    if step == 1:
        return taken(x, start, n)
    made = room_like(x, n)
    for i in range(n):
        push(made, get(x, start + i * step))
    return made


@unpolled
def cut(x, n):
    """Remove all items but the first n."""
    if counted(x):
        while NATIVE_LEN(x) > n:
            NATIVE_TAKE(x)
    else:
        NATIVE_CUT(x, n)


@unpolled
def drop(x, start, stop):
    """Remove the items of a range of indices."""
    if start < stop:
        if counted(x):
            for i in range(stop, NATIVE_LEN(x)):
                put(x, start + (i - stop), get(x, i))
            cut(x, NATIVE_LEN(x) - (stop - start))
        else:
            NATIVE_SPREAD(x, stop, start - stop)


@unpolled
@outlined
def set_part(x, s, items):
    y = copied(items)  # `items` may be the list itself
    start, step, n = slice_bounds(s.start, s.stop, s.step, NATIVE_LEN(x))
    size = NATIVE_LEN(y)
    if step != 1:
        if size != n:
            raise ValueError(f"attempt to assign sequence of size {size} to extended slice of size {n}")
        for i in range(n):
            put(x, start + i * step, get(y, i))
    else:
        for i in range(min(size, n)):
            put(x, start + i, get(y, i))
        drop(x, start + size, start + n)
        for i in range(n, size):
            NATIVE_SPREAD(x, start + i, 1)
            begin(x, start + i, get(y, i))


@outlined
def delete(x, i):
    n = NATIVE_LEN(x)
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError("list assignment index out of range")
    lift(x, i)


@unpolled
@outlined
def delete_part(x, s):
    n = NATIVE_LEN(x)
    start, step, count = slice_bounds(s.start, s.stop, s.step, n)
    if step == 1:
        drop(x, start, start + count)
    elif count > 0:
        if step < 0:
            start, step = start + (count - 1) * step, -step
        at = start
        for i in range(start, n):
            if (i - start) % step != 0 or (i - start) // step >= count:
                put(x, at, get(x, i))
                at += 1
        cut(x, at)


def lift(x, i):
    """Remove the item at index i, which exists, and return it."""
    item = NATIVE_LIFT(x, i)
    NATIVE_SPREAD(x, i + 1, -1)
    return item


@outlined
def pop(x, i):
    n = NATIVE_LEN(x)
    if n == 0:
        raise IndexError("pop from empty list")
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError("pop index out of range")
    return lift(x, i)


@outlined
def insert(x, i, item):
    n = NATIVE_LEN(x)
    if i < 0:
        i += n
        i = max(i, 0)
    i = min(i, n)
    NATIVE_SPREAD(x, i, 1)
    begin(x, i, item)


def clear(x):
    cut(x, 0)


@unpolled
def reverse(x):
    n = NATIVE_LEN(x)
    for i in range(n // 2):
        one, two = get(x, i), get(x, n - 1 - i)
        put(x, i, two)
        put(x, n - 1 - i, one)


@unpolled
def contains(x, item):
    for i in range(NATIVE_LEN(x)):
        if same(get(x, i), item):
            return True
    return False


@unpolled
def count(x, item):
    n = 0
    for i in range(NATIVE_LEN(x)):
        if same(get(x, i), item):
            n += 1
    return n


@unpolled
@outlined
def index(x, item, start, stop):
    n = NATIVE_LEN(x)
    if start < 0:
        start = max(start + n, 0)
    if stop < 0:
        stop += n
    for i in range(start, min(stop, n)):
        if same(get(x, i), item):
            return i
    raise ValueError(f"{item!r} is not in list")


@unpolled
@outlined
def remove(x, item):
    for i in range(NATIVE_LEN(x)):
        if same(get(x, i), item):
            lift(x, i)
            return
    raise ValueError("list.remove(x): x not in list")


@unpolled
@outlined
def equal(x, y):
    n = NATIVE_LEN(x)
    if n != NATIVE_LEN(y):
        return False
    for i in range(n):
        if not same(get(x, i), get(y, i)):
            return False
    return True


def unequal(x, y):
    return not equal(x, y)


@unpolled
@outlined
def less(x, y):
    n = min(NATIVE_LEN(x), NATIVE_LEN(y))
    for i in range(n):
        one, two = get(x, i), get(y, i)
        if not same(one, two):
            return one < two
    return NATIVE_LEN(x) < NATIVE_LEN(y)


@unpolled
@outlined
def not_greater(x, y):
    n = min(NATIVE_LEN(x), NATIVE_LEN(y))
    for i in range(n):
        one, two = get(x, i), get(y, i)
        if not same(one, two):
            return one <= two
    return NATIVE_LEN(x) <= NATIVE_LEN(y)


def greater(x, y):
    return less(y, x)


def not_less(x, y):
    return not_greater(y, x)


def identical(x, y):
    return NATIVE_IS(x, y)


# ---------------------------------------------------------------- deques


def append(x, item):
    push(x, item)


def append_first(x, item):
    push_first(x, item)


def pop_first(x):
    if NATIVE_LEN(x) == 0:
        raise IndexError("pop from an empty deque")
    return NATIVE_SHIFT(x)


def pop_last(x):
    if NATIVE_LEN(x) == 0:
        raise IndexError("pop from an empty deque")
    return NATIVE_TAKE(x)


def place(x, i):
    n = NATIVE_LEN(x)
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError("deque index out of range")
    return i


def deque_item(x, i):
    return get(x, place(x, i))


def put_in_deque(x, i, item):
    put(x, place(x, i), item)


@outlined
def delete_in_deque(x, i):
    lift(x, place(x, i))


def extend_first(x, items):
    for item in items:
        push_first(x, item)


def extend_first_by(x, y):
    for i in range(NATIVE_LEN(y)):
        push_first(x, get(y, i))


@outlined
def rotate(x, n):
    size = NATIVE_LEN(x)
    if size > 1:
        n %= size
        if n <= size // 2:
            for _ in range(n):
                push_first(x, NATIVE_TAKE(x))
        else:
            for _ in range(size - n):
                push(x, NATIVE_SHIFT(x))


# ---------------------------------------------------------------- order


@_rule
def has_floats(x: Expr) -> Expr:
    """Whether items may be unordered: floats, which may be NaN, and tuples of floats."""
    return Const(Bool, any_part(x.type.item, _is_float))


@_rule
def without_order(item: Expr) -> Expr:
    """Whether an item is NaN or contains NaN."""
    if _is_float(item.type):
        return Call(differs, item)
    if isinstance(item.type, Tuple):
        return Call(any_without, item)
    return Const(Bool, False)


def differs(x):
    return x != x


def any_without(items):
    for item in items:
        if without_order(item):
            return True
    return False


@unpolled
@outlined
def sort(x, backwards):
    """list.sort. Where items are unordered the result is that of the interpreter's own sequence of comparisons."""
    if has_floats(x):
        for i in range(NATIVE_LEN(x)):
            if without_order(get(x, i)):
                sort_unordered(x, backwards)
                return
    if NATIVE_LEN(x) > 12 and sorted_by_digits(x, backwards):
        return
    if backwards:  # equal items keep their order
        reverse(x)
        merge_sort(x)
        reverse(x)
    else:
        merge_sort(x)


@_rule
def sorted_by_digits(x: Expr, backwards: Expr) -> Expr:
    """Sort a list by radix sort if its items are Python numbers or tuples of a few of these. Returns whether it did.
    NumPy numbers are excluded, since they have other sizes, and some are unsigned."""
    item = x.type.item
    plain = _is_sortable(item) and not any_part(item, lambda t: type(t) in (NpInt, NpFloat))
    return Apply(NATIVE_SORT, x, backwards) if plain else Const(Bool, False)


@_rule
def sort_unordered(x: Expr, backwards: Expr) -> Expr:
    """list.sort of a list with items that are unordered. Threads of a parallel loop sort floats of 64 bits only."""
    t = x.type.item
    plain = t is Float or type(t) is NpFloat and t.bits == 64
    return Apply(NATIVE_SORT_AS_PYTHON, x, backwards) if plain else Call(sort_outside, x, backwards)


def sort_outside(x, backwards):
    made = items_outside(x)
    LIST_SORT(made, backwards)
    put_all(x, made)


def sort_by(x, keys, n, like, backwards):
    """list.sort by n keys of the type of the item of the tuple `like` (ops/sorting.py)."""
    if NATIVE_LEN(x) != n or not NATIVE_SORT_BY(x, keys, like, backwards):
        made = items_outside(x)
        SORT_BY(made, keys, n, like, backwards)
        put_all(x, made)


def items_outside(x):
    made = made_outside(x)
    for i in range(NATIVE_LEN(x)):
        LIST_APPEND(made, get(x, i))
    return made


@unpolled
def put_all(x, made):
    for i in range(NATIVE_LEN(x)):
        put(x, i, LIST_GET(made, i))


@unpolled
def merge_sort(x):
    """Merge sort: runs of a few items are sorted by insertion, then merged, from one list to another and back."""
    n = NATIVE_LEN(x)
    width = 12
    for start in range(0, n, width):
        for i in range(start + 1, min(start + width, n)):
            item = get(x, i)
            at = i
            while at > start and item < get(x, at - 1):
                put(x, at, get(x, at - 1))
                at -= 1
            put(x, at, item)
    if n <= width:
        return
    source, target = x, copied(x)
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            i, j = start, middle
            if not counted(x):
                at = start
                while i < middle and j < stop:  # without branches on the data, which are unpredictable
                    one, two = get(source, i), get(source, j)
                    second = before(two, one)
                    put(target, at, two if second else one)
                    i += not second
                    j += second
                    at += 1
                for k in range(i, middle):
                    put(target, at + (k - i), get(source, k))
                for k in range(j, stop):
                    put(target, at + (k - j), get(source, k))
                continue
            for k in range(start, stop):
                if i < middle and (j >= stop or not get(source, j) < get(source, i)):
                    put(target, k, get(source, i))
                    i += 1
                else:
                    put(target, k, get(source, j))
                    j += 1
        source, target = target, source
        width *= 2
    if not NATIVE_IS(source, x):
        for i in range(n):
            put(x, i, get(source, i))


@_rule
def before(one: Expr, two: Expr) -> Expr:
    """one < two; for numbers and tuples of numbers without branches, which are unpredictable in a heap."""
    return _before(one, two) if _is_sortable(one.type) else Call(less_than, one, two)


def _is_int(t) -> bool:
    return t is Int or type(t) is NpInt


def _is_float(t) -> bool:
    return t is Float or type(t) is NpFloat


def _is_sortable(t) -> bool:
    return _is_int(t) or _is_float(t) or (
        isinstance(t, Tuple) and 0 < len(t.parts) <= _FEW and all(map(_is_sortable, t.parts)))


def _before(one: Expr, two: Expr) -> Expr:
    if not isinstance(one.type, Tuple):
        return Apply(ILT if _is_int(one.type) else FLT, one, two)
    found = None
    for n in reversed(range(len(one.type.parts))):
        x, y = Apply(TUPLE_GET, one, index=n), Apply(TUPLE_GET, two, index=n)
        less = _before(x, y)
        found = less if found is None else Apply(BOR, less, Apply(BAND, _alike(x, y), found))
    assert found is not None
    return found


def _alike(one: Expr, two: Expr) -> Expr:
    if not isinstance(one.type, Tuple):
        return Apply(IEQ if _is_int(one.type) else FEQ, one, two)
    found: Expr = Const(Bool, True)
    for n in range(len(one.type.parts)):
        found = Apply(BAND, found, _alike(Apply(TUPLE_GET, one, index=n), Apply(TUPLE_GET, two, index=n)))
    return found


_FEW = 3  # the most items of a tuple that are compared without branches


def less_than(one, two):
    return True if one < two else False  # which may be a bool of NumPy


def sift_down(x, start, at):
    """As heapq._siftdown."""
    item = get(x, at)
    while at > start:
        above = (at - 1) >> 1
        parent = get(x, above)
        if not before(item, parent):
            break
        put(x, at, parent)
        at = above
    put(x, at, item)


def sift_up(x, at):
    """As heapq._siftup."""
    end, start = NATIVE_LEN(x), at
    item = get(x, at)
    below = 2 * at + 1
    while below < end:
        right = below + 1
        if right < end:
            below += not before(get(x, below), get(x, right))
        put(x, at, get(x, below))
        at = below
        below = 2 * at + 1
    put(x, at, item)
    sift_down(x, start, at)


def heap_push(x, item):
    push(x, item)
    sift_down(x, 0, NATIVE_LEN(x) - 1)


@outlined
def heap_pop(x):
    n = NATIVE_LEN(x)
    if n == 0:
        raise IndexError("index out of range")
    last = NATIVE_TAKE(x)
    if n == 1:
        return last
    first = get(x, 0)
    put(x, 0, last)
    sift_up(x, 0)
    return first


@outlined
def heapify(x):
    for i in range(NATIVE_LEN(x) // 2 - 1, -1, -1):
        sift_up(x, i)


@outlined
def heap_pushpop(x, item):
    if NATIVE_LEN(x) > 0:
        first = get(x, 0)
        if before(first, item):
            put(x, 0, item)
            sift_up(x, 0)
            return first
    return item


@outlined
def heap_replace(x, item):
    if NATIVE_LEN(x) == 0:
        raise IndexError("index out of range")
    first = get(x, 0)
    put(x, 0, item)
    sift_up(x, 0)
    return first


class _NativeList(Protocol):
    def length(self, x):
        return Apply(NATIVE_LEN, x)


PROTOCOLS = {NativeList: _NativeList()}
