"""Iteration in the compiled subset: the iteration states of ranges, tuples, arrays, zip, enumerate, map, filter,
reversed.

An iteration state is a plain value (a Struct); a step returns (has, item, next state). Loops over ranges keep three
ints: the value, the step and how many are left, so that later passes see a counted loop.
"""
import functools
import sys

import numpy as np

from ...infer.constants import constant
from ...infer.meaning import Apply
from ...ops.arith import IADD, IMUL, ISUB
from ...ops.memory import ARRAY_DIM, ARRAY_LOAD, CELL_LOAD, CELL_STORE
from ...ops.structure import PACK, RANGE_GET, RANGE_MAKE, STRUCT_GET, STRUCT_MAKE, TUPLE_AT
from ...types.kinds import Ended, StrictZip, Zip
from ..build import provoked
from ..intrinsics import NOTHING, advance, following, iterate, put_state, same
from ..protocol import State
from ..rule import intrinsic

__all__ = ["PROTOCOLS"]


def range_item(r, i):
    start = RANGE_GET(r, field="start")
    step = RANGE_GET(r, field="step")
    n = len(r)
    if i < 0:
        i = IADD(i, n)
    if i < 0 or i >= n:
        raise IndexError("range object index out of range")
    return IADD(start, IMUL(i, step))


def range_contains(r, x):
    start = RANGE_GET(r, field="start")
    step = RANGE_GET(r, field="step")
    n = len(r)
    if n == 0:
        return False
    last = IADD(start, IMUL(n - 1, step))
    if step > 0:
        return bool(start <= x and x <= last and (x - start) % step == 0)
    return bool(last <= x and x <= start and (start - x) % ISUB(0, step) == 0)


def range_contains_complex(r, x):
    return bool(x.imag == 0) and range_contains(r, x.real)


def range_equal(a, b):
    n = len(a)
    if n != len(b):
        return False
    if n == 0:
        return True
    if RANGE_GET(a, field="start") != RANGE_GET(b, field="start"):
        return False
    return n == 1 or RANGE_GET(a, field="step") == RANGE_GET(b, field="step")


def make_range(start, stop, step):
    """A range whose step is known at compile time."""
    low, high = (start, stop) if step > 0 else (stop, start)
    if low < 0 and low < high and ISUB(high, low) < 0:
        raise OverflowError("a range whose ends are more than 2**63 - 1 apart is not compiled")
    return RANGE_MAKE(start, stop, step)


def make_kernel_range(start, stop, step):
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    return RANGE_MAKE(start, stop, step)


def range_of_numbers(start, stop, step):
    return range(int(start), int(stop), int(step))


def make_any_range(start, stop, step):
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    if step == -9223372036854775808:
        raise OverflowError("a range with a step of -2**63 is not compiled")
    return make_range(start, stop, step)


def range_reversed(r):
    start = RANGE_GET(r, field="start")
    step = RANGE_GET(r, field="step")
    n = len(r)
    return PACK(IADD(start, IMUL(ISUB(n, 1), step)), ISUB(0, step), n, name="range_iterator")


def tuple_iterate(t):
    return PACK(t, 0, len(t), name="tuple_iterator")


def tuple_step(s):
    if STRUCT_GET(s, field="2") > 0:
        return True, TUPLE_AT(STRUCT_GET(s, field="0"), STRUCT_GET(s, field="1")), following(s)
    return False, NOTHING, s


def tuple_reversed(t):
    return tuple_iterate(tuple_flip(t, len(t) - 1, ()))


def tuple_flip(t, k, done):
    if k < 0:
        return done
    return tuple_flip(t, k - 1, done + (t[k],))


def elements_iterate(a):
    return PACK(a, 0, ARRAY_DIM(a, axis=0), name="element_iterator")


def element_step(s):
    if STRUCT_GET(s, field="2") > 0:
        return True, ARRAY_LOAD(STRUCT_GET(s, field="0"), STRUCT_GET(s, field="1")), following(s)
    return False, NOTHING, s


def array_iterate(a):
    return PACK(a, 0, 1, ARRAY_DIM(a, axis=0), name="array_iterator")


def array_reversed(a):
    n = ARRAY_DIM(a, axis=0)
    return PACK(a, ISUB(n, 1), -1, n, name="array_iterator")


def array_step(s):
    if STRUCT_GET(s, field="3") > 0:
        return True, STRUCT_GET(s, field="0")[STRUCT_GET(s, field="1")], following(s)
    return False, NOTHING, s


def enumerate_iterate(x, start=0):
    return PACK(iterate(x), start, name="enumerate")


def enumerate_step(s):
    inner = advance(STRUCT_GET(s, field="0"))
    if not inner[0]:
        return False, NOTHING, NOTHING
    i = STRUCT_GET(s, field="1")
    return True, (i, inner[1]), PACK(inner[2], i + 1, name="enumerate")


def zip_iterate(*iterables):
    return PACK(iterate_all(iterables, 0, ()), name="zip")


def iterate_all(iterables, k, done):
    if k == len(iterables):
        return done
    return iterate_all(iterables, k + 1, done + (iterate(iterables[k]),))


def zip_step(s):
    states = STRUCT_GET(s, field="0")
    if len(states) == 0:
        return False, NOTHING, s
    return zip_steps(states, 0, (), ())


def zip_steps(states, k, items, done):
    if k == len(states):
        return True, items, PACK(done, name="zip")
    one = advance(states[k])
    if not one[0]:
        return False, NOTHING, NOTHING
    return zip_steps(states, k + 1, items + (one[1],), done + (one[2],))


def zip_strict_iterate(*iterables):
    return PACK(iterate_all(iterables, 0, ()), name="zip_strict")


def zip_strict_step(s):
    states = STRUCT_GET(s, field="0")
    if len(states) == 0:
        return False, NOTHING, s
    return zip_strict_steps(states, 0, (), ())


def zip_strict_steps(states, k, items, done):
    if k == len(states):
        return True, items, PACK(done, name="zip_strict")
    one = advance(states[k])
    if not one[0]:
        if k > 0:
            if k == 1:
                raise ValueError("zip() argument 2 is shorter than argument 1")
            raise ValueError(zip_message(k, "shorter"))
        zip_check_longer(states, 1)
        return False, NOTHING, NOTHING
    return zip_strict_steps(states, k + 1, items + (one[1],), done + (one[2],))


def zip_message(k, word):
    return f"zip() argument {k + 1} is {word} than arguments 1-{k}"


def zip_check_longer(states, k):
    if k == len(states):
        return 0
    if advance(states[k])[0]:
        if k == 1:
            raise ValueError("zip() argument 2 is longer than argument 1")
        raise ValueError(zip_message(k, "longer"))
    return zip_check_longer(states, k + 1)


def map_iterate(f, *iterables):
    return PACK(f, iterate_all(iterables, 0, ()), name="map")


def map_step(s):
    f = STRUCT_GET(s, field="0")
    return map_steps(f, STRUCT_GET(s, field="1"), 0, (), ())


def map_steps(f, states, k, items, done):
    if k == len(states):
        return True, f(*items), PACK(f, done, name="map")
    one = advance(states[k])
    if not one[0]:
        return False, NOTHING, NOTHING
    return map_steps(f, states, k + 1, items + (one[1],), done + (one[2],))


def filter_iterate(f, x):
    return PACK(f, iterate(x), name="filter")


def filter_step(s):
    f = STRUCT_GET(s, field="0")
    state = STRUCT_GET(s, field="1")
    while True:
        one = advance(state)
        if not one[0]:
            return False, NOTHING, NOTHING
        state = one[2]
        if f is None:
            keep = one[1]
        else:
            keep = f(one[1])
        if keep:
            return True, one[1], PACK(f, state, name="filter")


def iterator_step(it):
    """A step of an `iter(x)` object, which may have several references."""
    one = advance(CELL_LOAD(it))
    if not one[0]:
        return False, NOTHING, it
    CELL_STORE(it, one[2])
    return True, one[1], it


def growing_iterator_step(it):
    """As `iterator_step`, for a container that may grow: an iterator that has reached the end stays exhausted. Field 1
    of its state is its position."""
    state = CELL_LOAD(it)
    if STRUCT_GET(state, field="1") == sys.maxsize:
        return False, NOTHING, it
    one = advance(state)
    if not one[0]:
        CELL_STORE(it, at_the_end(state))
        return False, NOTHING, it
    CELL_STORE(it, one[2])
    return True, one[1], it


@intrinsic
def at_the_end(state):
    fields = [constant(sys.maxsize) if name == "1" else Apply(STRUCT_GET, state, field=name)
              for name, _ in state.type.members]
    return Apply(STRUCT_MAKE, *fields, type=state.type)


def generator_step(it):
    """A step of a generator object. It counts as exhausted until the step has reached the next yield."""
    state = CELL_LOAD(it)
    put_state(it, PACK((), name=Ended.role))
    one = advance(state)
    if not one[0]:
        return False, NOTHING, it
    put_state(it, one[2])
    return True, one[1], it


def next_item(it):
    one = advance(it)
    if not one[0]:
        raise StopIteration
    return one[1]


def next_default(it, default):
    one = advance(it)
    if not one[0]:
        return default
    return one[1]


def any_(iterable):
    for x in iterable:
        if x:
            return True
    return False


def all_(iterable):
    for x in iterable:
        if not x:
            return False
    return True


def count_of(iterable, item):
    n = 0
    for x in iterable:
        if same(x, item):
            n += 1
    return n


def index_of(iterable, item):
    n = 0
    for x in iterable:
        if same(x, item):
            return n
        n += 1
    raise ValueError("sequence.index(x): x not in sequence")


def reduced(function, iterable):
    one = advance(iterate(iterable))
    if not one[0]:
        raise TypeError(NOTHING_TO_REDUCE)
    total = one[1]
    rest = one[2]
    while True:
        one = advance(rest)
        if not one[0]:
            return total
        rest = one[2]
        total = function(total, one[1])


def reduced_from(function, iterable, total):
    for x in iterable:
        total = function(total, x)
    return total


def prod(iterable, start):
    for x in iterable:
        start = start * x
    return start


PARTS = 64  # more partial sums than the exponents of doubles have room for, at 53 bits each


def fsum(iterable):
    """The correctly rounded sum, from partial sums that do not overlap, the smallest first (Shewchuk, Discrete &
    Computational Geometry 18, 1997)."""
    parts = np.empty(PARTS)
    n = 0
    special = infinite = 0.0
    for item in iterable:
        given = x = float(item)
        kept = 0
        for j in range(n):
            y = parts[j]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                parts[kept] = low
                kept += 1
            x = high
        n = kept
        if x - x != 0.0:
            if given - given == 0.0:
                raise OverflowError("intermediate overflow in fsum")
            if given == given:
                infinite += given
            special += given
            n = 0
        elif x != 0.0:
            parts[n] = x
            n += 1
    if infinite != infinite:
        raise ValueError("-inf + inf in fsum")
    if special != 0.0:
        return special
    return rounded_sum(parts, n)


def rounded_sum(parts, n):
    """The partial sums rounded to one float. Where their sum is half-way between two floats, the lower parts decide."""
    if n == 0:
        return 0.0
    n -= 1
    high, low = float(parts[n]), 0.0
    while n > 0 and low == 0.0:
        n -= 1
        x, y = high, float(parts[n])
        high = x + y
        low = y - (high - x)
    if n > 0 and (low < 0.0 and parts[n - 1] < 0.0 or low > 0.0 and parts[n - 1] > 0.0):
        twice = low * 2.0
        x = high + twice
        if x - high == twice:
            return x
    return high


def of_nothing(name, default):
    if len(default):
        return default[0]
    raise ValueError(f"{name}() arg is an empty sequence" if OLD_MESSAGES else f"{name}() iterable argument is empty")


def extreme_of(iterable, name, default):
    """max() or min() of the items. default: a tuple with the result for an empty iterable, or () to raise."""
    state = advance(iterate(iterable))
    if not state[0]:
        return of_nothing(name, default)
    best = state[1]
    rest = state[2]
    while True:
        state = advance(rest)
        if not state[0]:
            return best
        if state[1] > best if name == "max" else state[1] < best:
            best = state[1]
        rest = state[2]


def extreme_by(iterable, name, key, default):
    """max() or min() of the items by a key function; see `extreme_of`."""
    state = advance(iterate(iterable))
    if not state[0]:
        return of_nothing(name, default)
    best = state[1]
    most = key(best)
    rest = state[2]
    while True:
        state = advance(rest)
        if not state[0]:
            return best
        value = key(state[1])
        if value > most if name == "max" else value < most:
            best, most = state[1], value
        rest = state[2]


OLD_MESSAGES = "arg is" in provoked(max, ())
NOTHING_TO_REDUCE = provoked(functools.reduce, max, ())

PROTOCOLS = {
    "tuple_iterator": State(tuple_step), "array_iterator": State(array_step), "element_iterator": State(element_step),
    "enumerate": State(enumerate_step), Zip: State(zip_step), StrictZip: State(zip_strict_step),
    "map": State(map_step), "filter": State(filter_step),
}
