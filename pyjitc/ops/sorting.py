"""The keys by which a list is sorted, where they are numbers: they are contiguous and unboxed.

The operations take a key as the only item of a tuple. The keys are stored in a bytes object without other references.
The results are those of list.sort, which is stable and does not depend on the identity of keys.
"""
from __future__ import annotations

from ..ir.core import ALLOCATES, HOST, OBJECTS, RAISES, TABLES, Op, reads, writes
from ..runtime import platform
from ..runtime.sorting import sort_by
from ..types.kinds import Bool, Bytes, Float, Int, Tuple, Type
from .effects import NONDIFF

__all__ = ["SORTING_OPS", "are_numbers", "key_parts", "put_key", "sorted_by_keys", "start_of_keys"]

_MOST = 4  # the maximum number of numbers in a key


def are_numbers(t: Type) -> bool:
    """Whether keys of this type are an int, a float or a bool, or a tuple of several of these."""
    parts = t.elements if type(t) is Tuple and t.cls is None else (t,)
    return 0 < len(parts) <= _MOST and all(part is Int or part is Float or part is Bool for part in parts)


def key_parts(key: Type):
    """The types of the numbers in a key, which is the only item of a tuple, since operations are called for each member
    of a union."""
    (t,) = key.elements  # type: ignore[attr-defined]
    return t.elements if isinstance(t, Tuple) else (t,)


def start_of_keys(e, keys) -> str:
    return e.assign(f"getelementptr i8, ptr {keys[0]}, i64 {platform.BYTES_DATA}")


def _new_lower(e, inst, n):
    made = e.assign(f"call ptr @PyBytes_FromStringAndSize(ptr null, i64 {e.assign(f'mul i64 {n[0]}, {8 * _MOST}')})")
    e.check_null(made, inst)
    return [made]


def put_key(e, parts, start: str, i: str, key) -> None:
    """Store the numbers of key i in the table of keys that begins at the address `start`."""
    row = e.assign(f"mul i64 {i}, {8 * len(parts)}")
    where = e.assign(f"getelementptr i8, ptr {start}, i64 {row}")
    for n, (part, value) in enumerate(zip(parts, key)):
        if part is Bool:
            value = e.assign(f"zext i1 {value} to i64")
        at = e.assign(f"getelementptr i8, ptr {where}, i64 {8 * n}")
        e.line(f"store {'double' if part is Float else 'i64'} {value}, ptr {at}, align 8")


def sorted_by_keys(e, parts, x: str, start: str, n: str, reverse: str) -> str:
    """Sort a list by the n keys at the address `start`. Returns an i32: 0 if the list was sorted."""
    floats = sum(1 << k for k, part in enumerate(parts) if part is Float)
    flip = e.assign(f"sext i1 {reverse} to i64")
    return e.assign(f"call i32 {e.helper('pyj_sort_words')}(ptr {x}, i64 {n}, ptr {start}, i64 {len(parts)}, i64 0, "
                    f"i64 {floats}, i64 {flip})")


def _put_lower(e, inst, keys, i, key):
    put_key(e, key_parts(inst.args[2].type), start_of_keys(e, keys), i[0], key)
    return []


def _sort_lower(e, inst, x, keys, n, like, reverse):
    parts = key_parts(inst.args[3].type)
    status = sorted_by_keys(e, parts, x[0], start_of_keys(e, keys), n[0], reverse[0])
    with e.unless(e.assign(f"icmp eq i32 {status}, 0"), "other", likely=False):
        kinds = e.object("".join("d" if part is Float else "q" for part in parts))
        for one in (x[0], keys[0], kinds):
            e.line(f"call void {e.helper('pyj_retain_object')}(ptr {one})")
        given = [x[0], keys[0], kinds, e.box(Int, n, inst), e.box(Bool, reverse, inst)]
        none = e.python_call(inst, e.object(sort_by), given, ())
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {none})")
    return []


def _python_sort(x, keys, n, like, reverse):
    """The Python meaning of sort_by, where the keys are in a list."""
    following = iter(keys)
    x.sort(key=lambda item: next(following)[0], reverse=reverse)


SORT_KEYS = Op("sort_keys", lambda types, attrs: Bytes, RAISES | ALLOCATES | HOST, lower=_new_lower, partials=NONDIFF,
               eval=lambda n: [None] * n, doc="memory for n keys")
SORT_PUT = Op("sort_put", lambda types, attrs: None, writes(TABLES), lower=_put_lower, partials=NONDIFF,
              eval=lambda keys, i, key: keys.__setitem__(i, key), doc="store key i")
SORT_BY = Op("sort_by", lambda types, attrs: None, RAISES | reads(OBJECTS, TABLES) | writes(OBJECTS) | HOST,
             lower=_sort_lower, partials=NONDIFF, eval=_python_sort,
             doc="sort a list by n keys; these are of the type of the fourth operand, and the order is reversed where "
                 "the fifth is true")

SORTING_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
