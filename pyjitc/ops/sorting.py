"""The keys by which a list is sorted, where they are numbers: kept one after the other, without objects.

The operations take a key in a tuple of its own. The keys lie in a bytes object that nobody else sees. The results are
those of list.sort, which is stable and knows nothing of the keys' objects.
"""
from __future__ import annotations

from ..ir.core import ALLOCATES, HOST, OBJECTS, RAISES, TABLES, Op, reads, writes
from ..runtime import platform
from ..types.kinds import Bool, Bytes, Float, Int, Tuple, Type
from .effects import NONDIFF

__all__ = ["SORTING_OPS", "are_numbers"]

_MOST = 4  # numbers in a key


def are_numbers(t: Type) -> bool:
    """Whether keys of this type are an int, a float or a bool, or a tuple of several of these."""
    parts = t.elements if type(t) is Tuple and t.cls is None else (t,)
    return 0 < len(parts) <= _MOST and all(part is Int or part is Float or part is Bool for part in parts)


def _parts(key: Type):
    """The types of the numbers in a key, which is the one item of a tuple: a tuple is no union, which operations take
    apart."""
    (t,) = key.elements  # type: ignore[attr-defined]
    return t.elements if isinstance(t, Tuple) else (t,)


def _write(e, t: Type, keys, i: str, values) -> None:
    parts = _parts(t)
    row = e.assign(f"mul i64 {i}, {8 * len(parts)}")
    start = e.assign(f"getelementptr i8, ptr {keys}, i64 {platform.BYTES_DATA}")
    where = e.assign(f"getelementptr i8, ptr {start}, i64 {row}")
    for n, (part, value) in enumerate(zip(parts, values)):
        if part is Bool:
            value = e.assign(f"zext i1 {value} to i64")
        at = e.assign(f"getelementptr i8, ptr {where}, i64 {8 * n}")
        e.line(f"store {'double' if part is Float else 'i64'} {value}, ptr {at}, align 8")


def _put_rule(types, attrs):
    if types[2] is not types[3]:
        raise TypeError(f"a key of type {types[2]} behind one of {types[3]}")


def _new_lower(e, inst, n, first):
    t = inst.args[1].type
    e.declare("declare ptr @PyBytes_FromStringAndSize(ptr, i64)")
    size = e.assign(f"mul i64 {n[0]}, {8 * len(_parts(t))}")
    made = e.assign(f"call ptr @PyBytes_FromStringAndSize(ptr null, i64 {size})")
    e.check_null(made, inst)
    _write(e, t, made, "0", first)
    return [made]


def _put_lower(e, inst, keys, i, key, like):
    _write(e, inst.args[2].type, keys[0], i[0], key)
    return []


def _key_lower(e, inst, keys, i, like):
    t = inst.args[2].type
    parts = _parts(t)
    row = e.assign(f"mul i64 {i[0]}, {8 * len(parts)}")
    start = e.assign(f"getelementptr i8, ptr {keys[0]}, i64 {platform.BYTES_DATA}")
    where = e.assign(f"getelementptr i8, ptr {start}, i64 {row}")
    found = e.load_components(Tuple([Float if part is Float else Int for part in parts]), where, 0)
    return [e.assign(f"trunc i64 {x} to i1") if part is Bool else x for part, x in zip(parts, found)]


def _sort_lower(e, inst, x, keys, n, like, reverse):
    parts = _parts(inst.args[3].type)
    floats = sum(1 << k for k, part in enumerate(parts) if part is Float)
    flip = e.assign(f"sext i1 {reverse[0]} to i64")
    start = e.assign(f"getelementptr i8, ptr {keys[0]}, i64 {platform.BYTES_DATA}")
    status = e.assign(f"call i32 {e.helper('pyj_sort_words')}(ptr {x[0]}, i64 {n[0]}, ptr {start}, i64 {len(parts)}, "
                      f"i64 0, i64 {floats}, i64 {flip})")
    return [e.assign(f"icmp eq i32 {status}, 0")]


def _python_sort(x, keys, n, like, reverse):
    """The meaning, where keys are in a list."""
    following = iter(keys)
    x.sort(key=lambda item: next(following)[0], reverse=reverse)
    return True


SORT_KEYS = Op("sort_keys", lambda types, attrs: Bytes, RAISES | ALLOCATES | HOST, lower=_new_lower, partials=NONDIFF,
               eval=lambda n, first: [first] * n, doc="room for n keys; the first one is there")
SORT_PUT = Op("sort_put", _put_rule, writes(TABLES), lower=_put_lower, partials=NONDIFF,
              eval=lambda keys, i, key, like: keys.__setitem__(i, key), doc="key i, of the type of the last operand")
SORT_KEY = Op("sort_key", lambda types, attrs: types[2].elements[0], reads(TABLES), lower=_key_lower, partials=NONDIFF,
              eval=lambda keys, i, like: keys[i][0], doc="key i, which is of the type of the last operand")
SORT_BY = Op("sort_by", lambda types, attrs: Bool, reads(OBJECTS, TABLES) | writes(OBJECTS) | HOST, lower=_sort_lower,
             partials=NONDIFF, eval=_python_sort,
             doc="a list is sorted by n keys, which are of the type of the fourth operand, in the opposite order where "
                 "the fifth is true; False where nothing was done, because the interpreter must do it")

SORTING_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
