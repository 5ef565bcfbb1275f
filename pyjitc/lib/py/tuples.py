"""Tuples in the compiled subset: run-time indexing, comparison, searching, repetition."""
import sys

from ...ops.arith import IADD, IAND, IMUL, IOR, ISHL, ISHR, IXOR
from ...ops.structure import TUPLE_AT
from ..intrinsics import same

__all__ = ["HASH_OF_NO_ITEMS", "contains", "count", "enum_member", "equal", "hash_of_all", "hash_with", "index",
           "index_between", "item", "ordered", "repeat"]

HASH_OF_NO_ITEMS = 2870177450012600261


def item(t, i, message):
    """Item i of a tuple, or of a list display, which is given as one."""
    n = len(t)
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError(message)
    return TUPLE_AT(t, i)


def equal(a, b, k=0):
    if len(a) != len(b):
        return False
    if k == len(a):
        return True
    if same(a[k], b[k]):
        return equal(a, b, k + 1)
    return False


def ordered(a, b, less, strict, k=0):
    """Lexicographic a < b (less, strict), a <= b (less), a > b (strict) or a >= b (neither)."""
    if k == len(a) or k == len(b):
        if less:
            return len(a) < len(b) if strict else len(a) <= len(b)
        return len(a) > len(b) if strict else len(a) >= len(b)
    if same(a[k], b[k]):
        return ordered(a, b, less, strict, k + 1)
    if less:
        return a[k] < b[k] if strict else a[k] <= b[k]
    return a[k] > b[k] if strict else a[k] >= b[k]


def contains(t, x, k=0):
    if k == len(t):
        return False
    if same(t[k], x):
        return True
    return contains(t, x, k + 1)


def count(t, x, k=0):
    if k == len(t):
        return 0
    rest = count(t, x, k + 1)
    return rest + 1 if same(t[k], x) else rest


def index(t, x, k=0):
    if k == len(t):
        raise ValueError("tuple.index(x): x not in tuple")
    if same(t[k], x):
        return k
    return index(t, x, k + 1)


def hash_with(result, item):
    """The hash of the items of a tuple up to one whose own hash is `item` (Objects/tupleobject.c: a step of XXH64)."""
    result = IADD(result, IMUL(item, -4417276706812531889))
    return IMUL(IOR(ISHL(result, 31), IAND(ISHR(result, 33), 2147483647)), -7046029288634856825)


def hash_of_all(result, length):
    result = IADD(result, IXOR(length, 2870177450012600261 ^ 3527539))
    return 1546275796 if result == -1 else result


def of_key(keys, values, key):
    """The item of a dict display."""
    return TUPLE_AT(values, place_of_key(keys, key))


def place_of_key(keys, key, k=0):
    if k == len(keys):
        raise KeyError(key)
    if keys[k] == key:
        return k
    return place_of_key(keys, key, k + 1)


def index_between(t, x, start, stop=sys.maxsize):
    if start < 0:
        start += len(t)
    if stop < 0:
        stop += len(t)
    return index_from(t, x, start, stop, 0)


def index_from(t, x, start, stop, k):
    if k == len(t):
        raise ValueError("tuple.index(x): x not in tuple")
    if start <= k < stop and same(t[k], x):
        return k
    return index_from(t, x, start, stop, k + 1)


def repeat(t, n, done=()):
    if n <= 0:
        return done
    return repeat(t, n - 1, done + t)


def enum_member(members, value, name):
    """The member with this value."""
    for member in members:
        if member.value == value:
            return member
    raise ValueError(f"{value!r} is not a valid {name}")
