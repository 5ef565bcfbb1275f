"""Text and bytes in the compiled subset: items, slices, iteration, joining."""
from ...ops.arith import IADD, ISUB
from ...ops.structure import PACK, STRUCT_GET
from ...ops.text import (
    BYTEARRAY_AT, BYTEARRAY_LEN, BYTEARRAY_SET, BYTEARRAY_SLICE, BYTES_AT, BYTES_LEN, BYTES_SLICE, STR_CHAR, STR_CODE,
    STR_FORM, STR_LEN, STR_SEARCH, STR_SLICE,
)
from ..intrinsics import NOTHING, advance, following
from ..protocol import State

__all__ = ["PROTOCOLS", "bytearray_item", "bytearray_iterate", "bytearray_of", "bytearray_reversed", "bytes_item",
           "bytes_iterate", "bytes_of", "bytes_part", "bytes_reversed", "chr_", "extend", "index", "joined",
           "joined_bytes", "memory_iterate", "memory_reversed", "ord_", "ord_of_byte", "rindex", "set_byte",
           "sorted_characters", "str_item", "str_iterate", "str_part", "str_reversed"]


def place(i, n, message):
    """The position of item i of n, counted from the front."""
    if i < 0:
        i = IADD(i, n)
    if i < 0 or i >= n:
        raise IndexError(message)
    return i


def str_item(s, i):
    return STR_CHAR(STR_CODE(s, place(i, STR_LEN(s), "string index out of range"), STR_FORM(s)))


def clipped(i, n):
    """A bound of a slice of n items as an index from 0 to n."""
    if i < 0:
        i = IADD(i, n)
        return i if i > 0 else 0
    return i if i < n else n


def str_part(s, start, stop):
    """s[start:stop]; either bound may be None."""
    n = STR_LEN(s)
    first = 0 if start is None else clipped(start, n)
    last = n if stop is None else clipped(stop, n)
    return STR_SLICE(s, first, last)


def index(s, part, i, j):
    found = STR_SEARCH(s, part, i, j, function="find")
    if found < 0:
        raise ValueError("substring not found")
    return found


def rindex(s, part, i, j):
    found = STR_SEARCH(s, part, i, j, function="rfind")
    if found < 0:
        raise ValueError("substring not found")
    return found


def str_iterate(s):
    return PACK(s, 0, 1, STR_LEN(s), name="str_iterator")


def str_reversed(s):
    n = STR_LEN(s)
    return PACK(s, ISUB(n, 1), -1, n, name="str_iterator")


def str_step(state):
    s = STRUCT_GET(state, field="0")
    if STRUCT_GET(state, field="3") > 0:
        return True, STR_CHAR(STR_CODE(s, STRUCT_GET(state, field="1"), STR_FORM(s))), following(state)
    return False, NOTHING, state


def ord_(s):
    if STR_LEN(s) != 1:
        raise TypeError(f"ord() expected a character, but string of length {STR_LEN(s)} found")
    return STR_CODE(s, 0, STR_FORM(s))


def ord_of_byte(b):
    if BYTES_LEN(b) != 1:
        raise TypeError(f"ord() expected a character, but string of length {BYTES_LEN(b)} found")
    return BYTES_AT(b, 0)


def chr_(i, too_low, too_high):
    if i < 0 or i > 0x10FFFF:
        if too_low is not None and i < -0x80000000:
            raise OverflowError(too_low)
        if too_high is not None and i > 0x7FFFFFFF:
            raise OverflowError(too_high)
        raise ValueError("chr() arg not in range(0x110000)")
    return STR_CHAR(i)


# The first step of a generator is before the loop: its state has another type than those of later steps.


def joined(separator, state):
    """separator.join(...) of the items of a loop."""
    found, n = "", 0
    between = STR_LEN(separator) > 0
    one = advance(state)
    while one[0]:
        if not isinstance(one[1], str):
            raise TypeError(f"sequence item {n}: expected str instance, {type(one[1]).__name__} found")
        if n > 0 and between:
            found += separator
        found += one[1]
        n = IADD(n, 1)
        one = advance(one[2])
    return found


def joined_bytes(separator, state):
    found, n = bytearray(), 0
    one = advance(state)
    while one[0]:
        if not isinstance(one[1], (bytes, bytearray, memoryview)):
            raise TypeError(f"sequence item {n}: expected a bytes-like object, {type(one[1]).__name__} found")
        if n > 0:
            found += separator
        found += one[1]
        n = IADD(n, 1)
        one = advance(one[2])
    return found if isinstance(separator, bytearray) else bytes(found)


def extend(b, state):
    """b.extend(...): all items are read before b is changed."""
    b += bytearray_of(state)


def bytes_of(state):
    return bytes(bytearray_of(state))


def bytearray_of(state):
    """bytearray(...) of the numbers of a loop."""
    found = bytearray()
    one = advance(state)
    while one[0]:
        found.append(one[1])
        one = advance(one[2])
    return found


def bytes_item(b, i):
    return BYTES_AT(b, place(i, BYTES_LEN(b), "index out of range"))


def bytes_part(b, start, stop):
    """b[start:stop] of bytes or of a bytearray."""
    n = len(b)
    first = 0 if start is None else clipped(start, n)
    last = n if stop is None else clipped(stop, n)
    if last < first:
        last = first
    return BYTES_SLICE(b, first, last) if isinstance(b, bytes) else BYTEARRAY_SLICE(b, first, last)


def bytes_iterate(b):
    return PACK(b, 0, 1, BYTES_LEN(b), name="bytes_iterator")


def bytes_reversed(b):
    n = BYTES_LEN(b)
    return PACK(b, ISUB(n, 1), -1, n, name="bytes_iterator")


def bytes_step(state):
    if STRUCT_GET(state, field="3") > 0:
        return True, BYTES_AT(STRUCT_GET(state, field="0"), STRUCT_GET(state, field="1")), following(state)
    return False, NOTHING, state


def bytearray_item(b, i):
    return BYTEARRAY_AT(b, place(i, BYTEARRAY_LEN(b), "bytearray index out of range"))


def set_byte(b, i, value):
    if value < 0 or value > 255:
        raise ValueError("byte must be in range(0, 256)")
    BYTEARRAY_SET(b, place(i, BYTEARRAY_LEN(b), "bytearray index out of range"), value)


def bytearray_iterate(b):
    return PACK(b, 0, 1, name="bytearray_iterator")


def bytearray_reversed(b):
    return PACK(b, ISUB(BYTEARRAY_LEN(b), 1), -1, name="bytearray_iterator")


def bytearray_step(state):
    """A step over a bytearray. The length is read each time, as the program may change it."""
    b = STRUCT_GET(state, field="0")
    i = STRUCT_GET(state, field="1")
    step = STRUCT_GET(state, field="2")
    if i >= 0 and i < BYTEARRAY_LEN(b):
        return True, BYTEARRAY_AT(b, i), PACK(b, IADD(i, step, flags="nsw"), step, name="bytearray_iterator")
    return False, NOTHING, state


def memory_iterate(m):
    return PACK(m, 0, 1, len(m), name="memory_iterator")


def memory_reversed(m):
    n = len(m)
    return PACK(m, ISUB(n, 1), -1, n, name="memory_iterator")


def memory_step(state):
    if STRUCT_GET(state, field="3") > 0:
        return True, STRUCT_GET(state, field="0")[STRUCT_GET(state, field="1")], following(state)
    return False, NOTHING, state


PROTOCOLS = {"str_iterator": State(str_step), "bytes_iterator": State(bytes_step),
             "bytearray_iterator": State(bytearray_step), "memory_iterator": State(memory_step)}


def sorted_characters(text, reverse):
    codes = [STR_CODE(text, i, STR_FORM(text)) for i in range(len(text))]
    codes.sort(reverse=reverse)
    return [STR_CHAR(code) for code in codes]
