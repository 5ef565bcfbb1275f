"""Arrays, cells, reference counts and the poll for signals: the operations that access memory.

An array is data pointer, owner word, shape, byte strides (see docs/architecture.md). The indices of loads and stores
must be in range, which `check_index` ensures.
"""
from __future__ import annotations

from math import prod
from typing import Any, Callable

from ..base.lazy import lazy
from ..ir.core import (ALLOCATES, CELLS, CHEAP, COUNTS, ELEMENTS, ERRORS, FREE, HOST, ITEMS, KEEPS_NONE,
                       LOAD, MODERATE, NEW_MEMORY, OBJECTS, ONLY_MEMORY_ERROR, PURE, RAISES, WRITES_FIRST,
                       SAME_VALUE, VIEW, WRITES_OPERANDS, Inst, Op, reads, writes)
from ..runtime import platform
from ..runtime.dispatcher import Anew
from ..types.kinds import (
    Array, Bool, Cell, Int, Iterator, NpBool, NpComplex, Undefined, any_part, is_refcounted, members_of,
)
from .effects import NONDIFF, NO_RULE, STRUCTURAL

__all__ = ["MEMORY_OPS", "FUEL", "REPLACES", "count_references", "effects_of", "hold", "holds_object", "item_bytes",
           "opened", "owned"]

layouts = lazy(f"{__package__}.layouts")  # only programs with native lists load it

# Units of work between two polls for signals: about a millisecond where a unit is a few nanoseconds.
FUEL = 1 << 17

# The effects of a store in a native list or object that releases the reference which was there: if that was the last
# one to a Python object, code of the program may run.
REPLACES = writes(ITEMS, OBJECTS, COUNTS) | HOST

# Sizes of arrays are below 2**60: malloc gives no more, and index arithmetic cannot wrap.
MAX_BYTES = (1 << 60) - 1


# The mark of accesses of a loop nest over elements; loops that have only such accesses are marked with the same group
# (codegen/module.py).
ALONE = -1  # in place of the number of an array in its group: the array is the only one of its group, see `alone`
PARALLEL = ", !llvm.access.group !5"


def item_bytes(t: Any) -> int:  # t: the type of elements of an array
    return 1 if t is NpBool else t.bits // 8


def _check_index(i, n, *, axis=0, nonnegative=False, most=0, unchecked=False, message=""):
    if not (0 if nonnegative else -n) <= i < n and not unchecked:
        raise IndexError(message or f"index {i} is out of bounds for axis {axis} with size {n}")
    return i + n if i < 0 else i


def _check_index_lower(e, inst, i, n):
    """Make one unsigned comparison on the hot path; negative indices wrap in a cold block."""
    i, n = i[0], n[0]
    text = inst.attrs.get("message")
    rest = () if text else (f"i32 {inst.attrs['axis']}", f"i64 {n}")
    text = text or "index %lld is out of bounds for axis %d with size %lld"
    if inst.attrs.get("unchecked"):  # boundscheck=False keeps the meaning of negative indices
        negative = e.assign(f"icmp slt i64 {i}, 0")
        wrapped = e.assign(f"add i64 {i}, {n}")
        return [e.assign(f"select i1 {negative}, i64 {wrapped}, i64 {i}")]
    inside = e.assign(f"icmp ult i64 {i}, {n}")
    if inst.attrs.get("nonnegative"):
        e.raise_unless(inside, inst, "IndexError", text, *((f"i64 {i}", *rest) if rest else ()))
        return [i]
    here = e.current
    with e.unless(inside, "negative", likely=False):
        # What the message needs is computed again. Nothing then reads the index behind the comparison, so that the
        # wrapped one takes its register, and the hot path has no copy.
        wrapped = e.assign(f"add i64 {i}, {n}")
        if not i.lstrip("-").isdigit():
            wrapped = e.hidden(wrapped)

        def fail():
            told = (f"i64 {e.assign(f'sub i64 {wrapped}, {n}')}", *rest) if rest else ()
            e.error(inst, "IndexError", text, *told)

        e.fail_unless(e.assign(f"icmp ult i64 {wrapped}, {n}"), fail)
        there = e.current
    return [e.phi("i64", [(i, here), (wrapped, there)])]


def element_address(e, t: Array, a, indices, column=False, walked=False):
    """Pointer to an element: from the shape for C and F layouts (unit stride innermost), from the strides for others.

    column: the access is in a loop over rows. There the offset of the row is computed in bytes. From an offset in
    elements LLVM would make a version of the loop for rows that are one element apart, and vectorise only that one.
    walked: the pointer is only where a loop starts to walk down a column. No element need be there, as in `a[i - 1, j]`
    of a loop that starts with i = 0 and makes the access in later trips."""
    data, shape, strides = a[0], a[2:2 + t.ndim], a[2 + t.ndim:]
    element = e.memory(t.dtype)
    if not indices:
        return data
    inside, exact = ("", "nsw") if walked else (" inbounds", "nuw nsw")
    if t.layout == "A":
        # the last index as a number of elements, where that is known to be right: LLVM can version loops on it
        last = [] if strides[-1] != str(item_bytes(t.dtype)) else indices[-1:]
        offset = None
        for i, s in zip(indices[:t.ndim - len(last)], strides):
            term = e.assign(f"mul nsw i64 {i}, {s}")
            offset = term if offset is None else e.assign(f"add nsw i64 {offset}, {term}")
        row = e.assign(f"getelementptr{inside} i8, ptr {data}, i64 {offset}") if offset is not None else data
        return e.assign(f"getelementptr{inside} {element}, ptr {row}, i64 {last[0]}") if last else row
    *outer, last = range(t.ndim) if t.layout == "C" else range(t.ndim - 1, -1, -1)
    linear = None
    for k in outer:
        linear = indices[k] if linear is None else _place(e, linear, shape[k], indices[k], exact)
    if column and linear is not None:
        offset = e.assign(f"mul {exact} i64 {linear}, {shape[last]}")
        offset = e.assign(f"mul {exact} i64 {offset}, {item_bytes(t.dtype)}")
        data = e.assign(f"getelementptr{inside} i8, ptr {data}, i64 {offset}")
        linear = None
    linear = indices[last] if linear is None else _place(e, linear, shape[last], indices[last], exact)
    return e.assign(f"getelementptr{inside} {element}, ptr {data}, i64 {linear}")


def _place(e, rows, length, index, exact):
    return e.assign(f"add {exact} i64 {e.assign(f'mul {exact} i64 {rows}, {length}')}, {index}")


def _parts(t):
    """The number of scalars of an element in memory: two for complex numbers."""
    return 2 if isinstance(t, NpComplex) else 1


def component_address(e, t: Array, pointer, part):
    if _parts(t.dtype) == 2 and part:
        pointer = e.assign(f"getelementptr inbounds {e.components(t.dtype)[0]}, ptr {pointer}, i64 1")
    align = item_bytes(t.dtype) // _parts(t.dtype) if t.aligned else 1
    return pointer, align


def _notes(e, inst) -> str:
    """The metadata of a memory access."""
    notes, attrs = PARALLEL if inst.attrs.get("parallel") else "", inst.attrs
    own, others = [], [(group, ALONE) for group in attrs.get("beside", ())]
    if "noalias" in attrs:
        group, number, *rest = attrs["noalias"]
        own.append((group, number))
        others += ((group, n) for n in rest)
    if "alone" in attrs:
        own.append((attrs["alone"], ALONE))
    if own:
        notes += f", !alias.scope {e.scopes(*own)}"
    if others:
        notes += f", !noalias {e.scopes(*others)}"
    return notes


def _sum_eights_lower(e, inst, a, n):
    array = inst.args[0].type
    t = e.scalar(array.dtype)
    step = "" if array.layout == "C" else f", i64 {a[-1]}"
    helper = e.helper(f"pyj_{'strided' if step else 'eights'}_{t}")
    return [e.assign(f"call {t} {helper}(ptr {a[0]}, i64 {n[0]}{step})")]


def _alone_lower(e, inst):
    e.line(f"call void @llvm.experimental.noalias.scope.decl(metadata {e.scopes((inst.attrs['group'], ALONE))})")
    return []


def _element(e, inst, a, indices):
    """Pointer to the element that a load or store accesses."""
    t = inst.args[0].type
    walked = "walk" in inst.attrs
    pointer = element_address(e, t, a, [x[0] for x in indices[:t.ndim]], "column" in inst.attrs, walked)
    if walked:
        pointer = e.assign(f"getelementptr i8, ptr {pointer}, i64 {indices[-1][0]}")
    return pointer


def _load_lower(e, inst, a, *indices):
    t = inst.args[0].type
    pointer = _element(e, inst, a, indices)
    notes = _notes(e, inst)
    result = []
    for part, ty in enumerate(e.components(t.dtype)):
        where, align = component_address(e, t, pointer, part)
        if ty == "i1":
            byte = e.assign(f"load i8, ptr {where}, align 1{notes}")
            result.append(e.assign(f"icmp ne i8 {byte}, 0"))
        else:
            result.append(e.assign(f"load {ty}, ptr {where}, align {align}{notes}"))
    return result


def _store_lower(e, inst, a, *rest):
    t = inst.args[0].type
    *indices, value = rest
    pointer = _element(e, inst, a, indices)
    notes = _notes(e, inst)
    for part, (ty, v) in enumerate(zip(e.components(t.dtype), value)):
        where, align = component_address(e, t, pointer, part)
        if ty == "i1":
            v, ty = e.assign(f"zext i1 {v} to i8"), "i8"
        e.line(f"store {ty} {v}, ptr {where}, align {align}{notes}")
    return []


def _row_copy_lower(e, inst, a, b, *rest):
    *index, n = [x[0] for x in rest]
    to, source = (element_address(e, array.type, x, [*index, "0"]) for array, x in zip(inst.args, (a, b)))
    e.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 "
           f"{e.assign(f'mul i64 {n}, {item_bytes(inst.args[0].type.dtype)}')}, i1 false)")
    return []


def _copy_lower(e, inst, wanted, a):
    t, size = inst.args[1].type, item_bytes(inst.args[1].type.dtype)
    dims = a[2:2 + t.ndim]
    strides, own, step = a[2 + t.ndim:], [""] * t.ndim, str(size)
    for k in range(t.ndim - 1, -1, -1):
        own[k] = step
        step = e.assign(f"mul i64 {step}, {dims[k]}")
    if t.layout == "C":
        strides = own
    axes = ["i64 1, i64 0"] * (3 - t.ndim) + [f"i64 {n}, i64 {stride}" for n, stride in zip(dims, strides)]
    before = e.current
    with e.when(wanted[0], "copy", likely=False):
        owner = e.assign(f"call ptr {e.helper(f'pyj_copy_i{8 * size}')}(ptr {a[0]}, {', '.join(axes)})")
        e.check_null(owner, inst)
        data = e.assign(f"load ptr, ptr {e.assign(f'getelementptr i8, ptr {owner}, i64 8')}, align 8")
        after = e.current
    return [*(e.phi("ptr", [("null", before), (x, after)]) for x in (data, owner)), *dims, *own]


def _dot_lower(e, inst, a, b):
    t = e.scalar(inst.args[0].type.dtype)
    size = item_bytes(inst.args[0].type.dtype)
    parts = ", ".join(f"ptr {x[0]}, i64 {size if v.type.layout == 'C' else x[3]}"
                      for v, x in zip(inst.args, (a, b)))
    return [e.assign(f"call {t} {e.helper(f'pyj_dot_{t}')}({parts}, i64 {a[2]})")]


ROWS = 8  # the rows that `add_rows` reads at once


def _add_rows_lower(e, inst, sums, a, b, i, p, j, n):
    t = e.scalar(inst.args[0].type.dtype)
    size, count = item_bytes(inst.args[0].type.dtype), inst.attrs["count"]

    def place(data, *steps):
        for index, stride in steps:
            data = e.assign(f"getelementptr i8, ptr {data}, i64 {e.assign(f'mul i64 {index}, {stride}')}")
        return data

    line = e.assign(f"mul i64 {sums[3]}, {size}")
    results = [(place(sums[0], (i[0], line), (j[0], size)), place(a[0], (i[0], a[4]), (p[0], a[5])))]
    if count == 2:
        results.append(tuple(e.assign(f"getelementptr i8, ptr {x}, i64 {step}")
                             for x, step in zip(results[0], (line, a[4]))))
    ahead = e.assign(f"mul i64 {b[4]}, {e.assign(f'add i64 {i[0]}, {ROWS}')}")
    given = ", ".join(f"ptr {y}, ptr {x}, i64 {a[5]}" for y, x in results)
    e.line(f"call void {e.helper(f'pyj_rows_{t}_{count}')}(i64 {n[0]}, ptr {place(b[0], (p[0], b[4]), (j[0], size))}, "
           f"i64 {b[4]}, i64 {ahead}, {given})")
    return []


def _add_rows(sums, a, b, i, p, j, n, *, count):
    sums[i:i + count, j:j + n] += a[i:i + count, p:p + ROWS] @ b[p:p + ROWS, j:j + n]


def _small_product_lower(e, inst, c, a, b, first, count):
    t = e.scalar(inst.args[0].type.dtype)

    def place(v, parts):
        """(data, its step from one matrix to the next, the strides of a matrix)"""
        n, data = v.type.ndim, parts[0]
        if n == 2:
            return data, "0", *parts[4:]
        same = e.assign(f"icmp eq i64 {parts[2]}, 1")
        step = e.assign(f"select i1 {same}, i64 0, i64 {parts[2 + n]}")
        data = e.assign(f"getelementptr i8, ptr {data}, i64 {e.assign(f'mul i64 {first[0]}, {step}')}")
        return data, step, *parts[3 + n:]

    (data, step, line, _), (x, qa, da, ea), (y, qb, db, _) = [place(v, parts) for v, parts in zip(inst.args, (c, a, b))]
    m, n = c[inst.args[0].type.ndim:][:2]
    e.line(f"call void {e.helper(f'pyj_product_{t}')}(ptr {data}, i64 {step}, i64 {line}, ptr {x}, i64 {qa}, i64 {da}, "
           f"i64 {ea}, ptr {y}, i64 {qb}, i64 {db}, i64 {count[0]}, i64 {m}, i64 {n}, "
           f"i64 {a[1 + inst.args[1].type.ndim]})")
    return []


def _small_product(c, a, b, first, count):
    part = slice(first, first + count)
    if c.ndim == 2:
        c[...] = a @ b
    else:
        c[part] = (a if a.ndim == 2 or len(a) == 1 else a[part]) @ (b if b.ndim == 2 or len(b) == 1 else b[part])


def _hidden_lower(e, inst, x):
    t = e.scalar(inst.args[0].type)
    slot = e.alloca(t)
    e.line(f"store {t} {x[0]}, ptr {slot}")
    return [e.assign(f"load volatile {t}, ptr {slot}")]


def _view_lower(e, inst, a, offset, *rest):
    owner = e.assign(f"call ptr {e.helper('pyj_view_owner')}(ptr {a[1]})")
    data = a[0] if offset[0] == "0" else e.assign(f"getelementptr inbounds i8, ptr {a[0]}, i64 {offset[0]}")
    return [data, owner, *(x[0] for x in rest)]


MOST_SIZED = 4  # the maximum number of axes of an array that a helper of codegen/helpers.py checks and allocates


def _new_lower(e, inst, *shape):
    """Check the sizes, and allocate data and header. Error messages are NumPy's."""
    t = inst.attrs["type"]
    dims = [x[0] for x in shape]
    size = item_bytes(t.dtype)
    data, owner = (_new_or_here if "frame" in inst.attrs else _new_memory)(e, inst, dims, size)
    return _laid_out(e, t, data, owner, dims)


def _new_memory(e, inst, dims, size):
    """(pointer to the data, owner word) of a new array on the heap."""
    zero = "true" if inst.attrs.get("zero") else "false"
    owner = (e.assign(f"call ptr {e.helper('pyj_new')}(i64 {size}, i1 {zero})") if not dims
             else _sized_new(e, inst, dims, size, zero))
    e.check_null(owner, inst)
    where = e.assign(f"getelementptr i8, ptr {owner}, i64 8")
    return e.assign(f"load ptr, ptr {where}, align 8"), owner


def _new_or_here(e, inst, dims, size):
    """(pointer to the data, owner word) of a new array: in the buffer of the frame, without an owner, if the array
    fits; else on the heap. No length may be larger than the buffer. This test also ensures that no length is negative
    and that their product does not wrap."""
    buffer, most = inst.attrs["frame"], inst.attrs["frame"] // size
    data, total, fits = e.memory_of(buffer), None, None
    for n in dims:
        few = e.assign(f"icmp ule i64 {n}, {most}")
        fits = few if fits is None else e.assign(f"and i1 {fits}, {few}")
        total = n if total is None else e.assign(f"mul i64 {total}, {n}")
    if len(dims) > 1:
        fits = e.assign(f"and i1 {fits}, {e.assign(f'icmp ule i64 {total}, {most}')}")
    here, new, done = e.label("here"), e.label("new"), e.label("made")
    e.branch(fits, here, new)
    e.start(here)
    if inst.attrs.get("zero"):
        e.clear(data, buffer)
    e.jump(done)
    e.start(new)
    made = _new_memory(e, inst, dims, size)
    after = e.current
    e.jump(done)
    e.start(done)
    return [e.phi("ptr", [(x, here), (y, after)]) for x, y in zip((data, "null"), made)]


def _frame_lower(e, inst, *shape):
    t = inst.attrs["type"]
    dims = [x[0] for x in shape]
    size = item_bytes(t.dtype) * prod(map(int, dims))
    data = e.memory_of(size)
    if inst.attrs.get("zero"):
        e.clear(data, size)
    return _laid_out(e, t, data, "null", dims)


def _laid_out(e, t, data, owner, dims):
    """The components of a new array."""
    size = item_bytes(t.dtype)
    strides = [""] * t.ndim
    step = str(size)
    for k in range(t.ndim - 1, -1, -1) if t.layout == "C" else range(t.ndim):
        strides[k] = step
        step = e.assign(f"mul i64 {step}, {dims[k]}")
    return [data, owner, *dims, *strides]


def _sized_new(e, inst, dims, size, zero):
    if len(dims) <= MOST_SIZED:
        return e.assign(f"call ptr {e.helper(f'pyj_new_{len(dims)}')}(i64 {size}, i1 {zero}, "
                        f"{', '.join(f'i64 {n}' for n in dims)})")
    for n in dims:
        fine = e.assign(f"icmp sge i64 {n}, 0")
        e.raise_unless(fine, inst, "ValueError", "negative dimensions are not allowed")
    # NumPy multiplies the dimensions that are not zero, so that (0, huge) is refused, whose strides could overflow.
    total = str(size)
    for n in dims:
        none = e.assign(f"icmp eq i64 {n}, 0")
        factor = e.assign(f"select i1 {none}, i64 1, i64 {n}")
        pair = e.assign(f"call {{i64, i1}} @llvm.umul.with.overflow.i64(i64 {total}, i64 {factor})")
        total = e.assign(f"extractvalue {{i64, i1}} {pair}, 0")
        over = e.assign(f"extractvalue {{i64, i1}} {pair}, 1")
        small = e.assign(f"icmp ule i64 {total}, {(1 << 63) - 1}")
        none = e.assign(f"xor i1 {over}, true")
        fine = e.assign(f"and i1 {none}, {small}")
        e.raise_unless(fine, inst, "ValueError", "array is too big; `arr.size * arr.dtype.itemsize` is larger than the "
                       "maximum possible size.")
    for n in dims:
        none = e.assign(f"icmp eq i64 {n}, 0")
        total = e.assign(f"select i1 {none}, i64 0, i64 {total}")
    return e.assign(f"call ptr {e.helper('pyj_new')}(i64 {total}, i1 {zero})")


def _new_rule(types, attrs):
    t = attrs["type"]
    if len(types) != t.ndim or any(x is not Int for x in types):
        raise TypeError(f"array_new of {t} takes {t.ndim} ints")
    return t


def _same_lower(e, inst, x, y):
    """i1: whether two arrays are the same object. This holds if their owner words (see codegen/memory.py) are equal, or
    are headers that refer to the same Python array; if the word is not tagged as that of a view; and if their data and
    shape are equal."""
    result = e.assign(f"call i1 {e.helper('pyj_same_owner')}(ptr {x[1]}, ptr {y[1]})")
    tag = e.assign(f"ptrtoint ptr {x[1]} to i64")
    low = e.assign(f"and i64 {tag}, 3")
    whole = e.assign(f"icmp ne i64 {low}, 2")
    same = e.assign(f"icmp eq ptr {x[0]}, {y[0]}")
    result = e.assign(f"and i1 {result}, {same}")
    result = e.assign(f"and i1 {result}, {whole}")
    if len(x) == len(y):
        for a, b in zip(x[2:], y[2:]):
            eq = e.assign(f"icmp eq i64 {a}, {b}")
            result = e.assign(f"and i1 {result}, {eq}")
    return [result]


def _cell_new_lower(e, inst, x):
    """A box on the heap: reference count, then the components. The box has its own references to its content."""
    content = inst.args[0].type
    box = e.assign(f"call ptr {e.helper('pyj_box_new')}(i64 {16 + 8 * len(e.components(content))})")
    e.check_null(box, inst)
    count_references(e, content, x, "retain")
    e.store_components(content, box, x)
    return [box]


def _cell_load_lower(e, inst, x):
    (content,) = inst.args[0].type.held
    values = e.load_components(content, x[0])
    count_references(e, content, values, "retain")
    return values


def _cell_store_lower(e, inst, x, value):
    (content,) = inst.args[0].type.held
    old = e.load_components(content, x[0]) if is_refcounted(content) else []
    count_references(e, content, value, "retain")
    e.store_components(content, x[0], value)
    if old:
        count_references(e, content, old, "release")
    return []


def _retain_lower(e, inst, x):
    count_references(e, inst.args[0].type, x, "retain")
    return []


def _release_lower(e, inst, x):
    count_references(e, inst.args[0].type, x, "release")
    return []


def count_references(e, t, x, what):
    """Retain or release every reference in the components of `x`; null is allowed, so that inactive parts of unions
    need no test."""
    if not is_refcounted(t):
        return
    if t.parts is None:
        retain, release = _COUNTERS[t.counted]
        name = retain if what == "retain" else release(e, t)
        e.line(f"call void {e.helper(name)}(ptr {x[1 if t.counted == 'array' else 0]})")
        return
    if what == "release":
        given = [one for one in zip(layouts.components_of(layouts.layout(e, t)), x) if one[0] != "n"]
        if len(given) >= _MANY and not any_part(t, lambda part: part.counted == "table"):
            name = f"pyj_drop_all_{''.join([part for part, _ in given])}"
            e.line(f"call void {e.helper(name)}({', '.join([f'ptr {v}' for _, v in given])})")
            return
    at = 0
    for part in t.parts:
        n = len(e.components(part))
        count_references(e, part, x[at:at + n], what)
        at += n


_MANY = 3  # a value with this many references or more is released by a function (codegen/drops.py)
# What counts the references of a type (`counted` in types/kind.py) -> the helper that retains one, and a function that
# returns the helper that releases one.
_COUNTERS: dict[str, tuple[str, Callable]] = {
    "object": ("pyj_retain_object", lambda e, t: "pyj_let_go_object" if e.leaving else "pyj_release_object"),
    "array": ("pyj_retain",
              lambda e, t: "pyj_let_go" if e.leaving else "pyj_give_back" if e.crowded else "pyj_release"),
    "cell": ("pyj_box_retain", lambda e, t: f"pyj_drop_box_{layouts.layout(e, *t.held)}"),
    "list": ("pyj_native_retain", lambda e, t: f"pyj_native_release_{layouts.layout(e, t.item)}"),
    "instance": ("pyj_native_retain", lambda e, t: f"pyj_native_drop_{layouts.layout(e, t)}"),
    "table": ("pyj_table_retain", lambda e, t: "pyj_table_release"),
}


def holds_object(t) -> bool:
    """Whether the references in a value are to Python objects, which are counted under the interpreter lock."""
    inside = t.held if t.held is not None else t.parts
    return is_refcounted(t) and (inside is None or any(map(holds_object, inside)))


def effects_of(inst: Inst) -> int:
    """The effects of an instruction that is not a call: those of its operation, but a store that replaces references
    runs no code of the program where these lead to no Python object."""
    effects = inst.op.effects
    if effects == REPLACES and not any([holds_object(v.type) for v in inst.args]):
        return writes(ITEMS, COUNTS)
    return effects


def owned(e, t, x):
    """The components of an unboxed object with references of their own: an array gets a header that owns a reference to
    its object."""
    if not is_refcounted(t):
        return x
    if isinstance(t, Array):
        return [x[0], e.assign(f"call ptr {e.helper('pyj_hold_array')}(ptr {x[0]}, ptr {x[1]})"), *x[2:]]
    if t.parts is None:
        count_references(e, t, x, "retain")
        return x
    result, at = [], 0
    for part in t.parts:
        n = len(e.components(part))
        result += owned(e, part, x[at:at + n])
        at += n
    return result


def opened(e, inst, t, pointer, what: str, give_up: str = "") -> list[str]:
    """The components of an object in a container, with their own references. The code raises TypeError if the object's
    class differs from those that were known when the function was compiled. give_up: an object that is released before
    the error is raised."""
    wrong, done = e.label("wrong"), e.label("opened")
    if t is Undefined:  # no item was expected
        values = []
        e.branch("false", done, wrong)
    else:
        values = e.unbox(t, pointer, wrong)
        e.jump(done)
    e.start(wrong)
    if give_up:
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {give_up})")
    if inst.attrs.get("restart"):
        e.line(f"call void @PyErr_SetNone(ptr {e.object(Anew)}) cold")
        e.jump(e.fail(inst))
        e.start(done)
        return values if inst.attrs.get("borrowed") else owned(e, t, values)
    cls = e.assign(f"load ptr, ptr {e.assign(f'getelementptr i8, ptr {pointer}, i64 {platform.OB_TYPE}')}, align 8")
    if Int in members_of(t):
        wide, other = e.label("wide"), e.label("other")
        e.branch(e.assign(f"icmp eq ptr {cls}, {e.external('PyLong_Type')}"), wide, other)
        e.start(wide)
        e.error(inst, "OverflowError", f"{what} is the int %S, which does not fit in 64 bits", f"ptr {pointer}")
        e.start(other)
    name = e.assign(f"load ptr, ptr {e.assign(f'getelementptr i8, ptr {cls}, i64 {platform.TYPE_NAME}')}, align 8")
    e.error(inst, "TypeError", f"{what} is of class '%s', where the items were {t} when this code was compiled",
            f"ptr {name}")
    e.start(done)
    return values if inst.attrs.get("borrowed") else owned(e, t, values)


def hold(e, t, box):
    """Make the content of the cell at `box`, of a cell type t, outlive the call and the code: arrays that borrow from
    an array of the interpreter or from the code get references of their own."""
    (content,), at = t.held, 0
    work = [content]
    while work:
        part = work.pop(0)
        if part.parts is not None:
            work = [*part.parts, *work]
            continue
        if isinstance(part, (Array, Cell, Iterator)):
            where = e.assign(f"getelementptr i8, ptr {box}, i64 {16 + 8 * at}")
            first = e.assign(f"load ptr, ptr {where}, align 8")
        if isinstance(part, Array):
            there = e.assign(f"getelementptr i8, ptr {box}, i64 {24 + 8 * at}")
            owner = e.assign(f"load ptr, ptr {there}, align 8")
            held = e.assign(f"call ptr {e.helper('pyj_hold_array')}(ptr {first}, ptr {owner})")
            e.line(f"store ptr {held}, ptr {there}, align 8")
        elif isinstance(part, (Cell, Iterator)):
            with e.unless(e.assign(f"icmp eq ptr {first}, null"), "inside"):
                hold(e, part, first)
        at += len(e.components(part))


def _iterator_hold_lower(e, inst, x):
    hold(e, inst.args[0].type, x[0])
    return []


def _iterator_keep_lower(e, inst, x):
    count_references(e, inst.args[0].type, x, "retain")
    return x


def _poll_lower(e, inst, *operands):
    """Decrement a counter; the interpreter checks for signals only when it runs out."""
    cost = operands[0][0] if operands else str(inst.attrs.get("cost", 1))
    fuel = e.fuel()
    left = e.assign(f"load i64, ptr {fuel}")
    if operands:  # entering a strip without iterations costs time, too
        left = e.assign(f"add i64 {left}, -4")
    now = e.assign(f"sub i64 {left}, {cost}")
    e.line(f"store i64 {now}, ptr {fuel}")
    if inst.attrs.get("counts"):
        return []
    # A negative cost must not increase the counter. The sign costs less than a borrow: processors subtract in memory.
    out = e.assign(f"icmp ugt i64 {now}, {FUEL}" if operands else f"icmp slt i64 {now}, 0")
    with e.when(out, "poll", likely=False):
        e.line(f"store i64 {FUEL // e.counters}, ptr {fuel}")
        status = e.assign(f"call preserve_mostcc i32 {e.helper('pyj_signals')}()")
        e.check_status(status, inst)
    return []


CHECK_INDEX = Op("check_index", lambda types, attrs: Int, RAISES, eval=_check_index, lower=_check_index_lower,
                 partials=NONDIFF, eval_attrs=True,
                 doc="index i on {axis} of length n, counted from the front; IndexError outside -n..n-1; "
                     "{nonnegative}: i is known to be >= 0; {most}: i is known to be at most this; {unchecked}: no "
                     "test, only the wrap; {message}: that of the error where the index is not one of an array",
                 cost=CHEAP)
ARRAY_LOAD = Op("array_load", lambda types, attrs: types[0].dtype, reads(ELEMENTS), lower=_load_lower,
                partials=STRUCTURAL,
                doc="element at indices in range; {noalias}: (group, number, *others): among the arrays in this group "
                    "of the function the array has this number, and it shares no memory with the others; {parallel}: "
                    "no iteration of the loop touches what another writes; {strided}: the access is in the copy of a "
                    "loop for steps of any size; {column}: the loop goes from row to row; {walk}: the last operand "
                    "(of a store the one before the value) is the distance in bytes along this axis from the indices "
                    "to the element; {held}: LLVM keeps the element in a register during the loop; {alone}, {beside}: "
                    "see alone", cost=CHEAP,
                traits=LOAD | KEEPS_NONE)
ARRAY_STORE = Op("array_store", lambda types, attrs: None, writes(ELEMENTS), lower=_store_lower, partials=STRUCTURAL,
                 doc="write the last operand at indices that are in range; {noalias}, {parallel}, {strided}, "
                     "{column}, {walk}, {held}, {alone}, {beside}: as in array_load", cost=CHEAP, traits=KEEPS_NONE)
ACCESSES = frozenset((ARRAY_LOAD, ARRAY_STORE))
OF_ONE_RUN = frozenset(("held", "alone", "beside"))  # attributes whose facts hold for one run of an innermost loop
ALONE_HERE = Op("alone", lambda types, attrs: None, writes(COUNTS), partials=NONDIFF,
                eval=lambda: None, lower=_alone_lower,
                doc="until this runs again, accesses marked `alone` with the number {group} touch other elements than "
                    "those marked `beside` with it", cost=FREE)
ROW_COPY = Op("row_copy", lambda types, attrs: None, reads(ELEMENTS) | writes(ELEMENTS), lower=_row_copy_lower,
              partials=STRUCTURAL,
              doc="(to, from, *index, n): copy the first n elements of the row at `index`; the arrays share no "
                  "memory, and the elements of a row are contiguous in both", traits=KEEPS_NONE)
SUM_EIGHTS = Op("sum_eights", lambda types, attrs: types[0].dtype, reads(ELEMENTS), partials=NO_RULE,
                lower=_sum_eights_lower,
                doc="the sum of the first n elements, 8 at least and a multiple of 8, of an array of float32 or "
                    "float64 of one axis, computed in eight running sums, which are then added in pairs",
                traits=KEEPS_NONE)
ARRAY_COPY = Op("array_copy", lambda types, attrs: Array(types[1].dtype, types[1].ndim),
                RAISES | reads(ELEMENTS) | ALLOCATES,
                lower=_copy_lower, partials=STRUCTURAL, doc="where the condition holds, a copy of an array of at most "
                                                            "3 axes; otherwise an array whose elements have no memory",
                traits=KEEPS_NONE | NEW_MEMORY)
DOT = Op("dot", lambda types, attrs: types[0].dtype, reads(ELEMENTS), partials=NO_RULE, lower=_dot_lower,
         doc="the dot product of two vectors of one length, of float32 or float64, summed in any order",
         traits=KEEPS_NONE)
ADD_ROWS = Op("add_rows", lambda types, attrs: None, reads(ELEMENTS) | writes(ELEMENTS), partials=NO_RULE,
              eval=_add_rows, lower=_add_rows_lower, eval_attrs=True,
              doc="add_rows {count} (sums, a, b, i, p, j, n): the product of {count} rows of a, from row i on, and "
                  f"{ROWS} rows of b, from row p on, is added to n columns of sums, from column j on, for float32 or "
                  "float64; sums is a new array in C order, and the elements of a row of b lie side by side",
              traits=KEEPS_NONE | WRITES_OPERANDS | WRITES_FIRST)
SMALL_PRODUCT = Op("small_product", lambda types, attrs: None, reads(ELEMENTS) | writes(ELEMENTS), partials=NO_RULE,
                   eval=_small_product, lower=_small_product_lower,
                   doc="small_product (c, a, b, first, count): c[...] = a @ b for matrices of float32 or float64; "
                       "where c is a stack, for `count` of its matrices from index `first` on, and a and b are each a "
                       "stack or one matrix; each element adds up its terms in order. c shares no memory with a and "
                       "b, and the elements of a row of b and of c are contiguous; it handles no signals",
                   traits=KEEPS_NONE | WRITES_OPERANDS | WRITES_FIRST)
HIDDEN = Op("hidden", lambda types, attrs: types[0], PURE, lower=_hidden_lower,
            partials=lambda b, x, out: (b.const(1.0),),
            doc="the same number, hidden from the optimiser: neither the passes nor LLVM know anything about it",
            cost=MODERATE,
            traits=SAME_VALUE)
ARRAY_DIM = Op("array_dim", lambda types, attrs: Int, PURE, lower=lambda e, inst, a: [a[2 + inst.attrs["axis"]]],
               partials=NONDIFF, bounds=(0, MAX_BYTES), doc="length of {axis}", cost=FREE, traits=KEEPS_NONE)
ARRAY_STRIDE = Op("array_stride", lambda types, attrs: Int, PURE, partials=NONDIFF,
                  lower=lambda e, inst, a: [a[2 + inst.args[0].type.ndim + inst.attrs["axis"]]],
                  doc="byte stride of {axis}", cost=FREE, traits=KEEPS_NONE)
ARRAY_STEP = Op("array_step", lambda types, attrs: Int, PURE, eval=lambda n, space, stride, *, size: stride // size
                if n == space else 0,
                eval_attrs=True, partials=NONDIFF, lower=lambda e, inst, n, space, stride: [e.assign(
                    f"call i64 {e.helper('pyj_step')}(i64 {n[0]}, i64 {space[0]}, i64 {stride[0]}, i64 "
                    f"{inst.attrs['size'].bit_length() - 1})")],
                doc="the number of elements of {size} bytes, a power of two, from one to the next along an axis of "
                    "length n and byte stride `stride` in a space of length `space`; 0 where n is not `space` but 1. "
                    "LLVM knows nothing about the result, so it makes a vectorised loop for 1 and a scalar one",
                cost=CHEAP)
ARRAY_DATA = Op("array_data", lambda types, attrs: Int, PURE, partials=NONDIFF,
                lower=lambda e, inst, a: [e.assign(f"ptrtoint ptr {a[0]} to i64")], doc="address of the first element",
                cost=MODERATE)
ARRAY_VIEW = Op("array_view", lambda types, attrs: attrs["type"], PURE, lower=_view_lower, partials=STRUCTURAL,
                doc="array of {type} on the same memory: (array, byte offset, shape..., byte strides...)",
                cost=MODERATE, traits=VIEW)
ARRAY_NEW = Op("array_new", _new_rule, RAISES | ALLOCATES, lower=_new_lower, partials=STRUCTURAL,
               doc="a new array of {type}; {zero}: filled with zeros; {frame}: the bytes of a buffer in the frame, "
                   "which is used where the array fits; ValueError, MemoryError as NumPy", traits=NEW_MEMORY)
FRAME_ARRAY = Op("frame_array", _new_rule, writes(ELEMENTS), lower=_frame_lower, partials=STRUCTURAL,
                 doc="array of {type} and constant lengths in the frame of the function, in the same memory each "
                     "time; {zero}: filled with zeros")
ARRAY_SAME = Op("array_same", lambda types, attrs: Bool, PURE, lower=_same_lower, partials=NONDIFF,
                doc="`x is y` of arrays", cost=MODERATE, traits=KEEPS_NONE)
CELL_NEW = Op("cell_new", lambda types, attrs: attrs["type"], RAISES | ALLOCATES, lower=_cell_new_lower,
              partials=STRUCTURAL, doc="a new cell of {type} that holds the operand", traits=ONLY_MEMORY_ERROR)
ITERATOR_NEW = Op("iterator_new", lambda types, attrs: Iterator(types[0]), RAISES | ALLOCATES, lower=_cell_new_lower,
                  partials=NO_RULE, doc="a new iterator object that holds an iteration state", traits=ONLY_MEMORY_ERROR)
ITERATOR_KEEP = Op("iterator_keep", lambda types, attrs: types[0], ALLOCATES, lower=_iterator_keep_lower,
                   partials=STRUCTURAL, eval=lambda it: it,
                   doc="the iterator with another reference, which keeps it alive as long as the result is used")
ITERATOR_HOLD = Op("iterator_hold", lambda types, attrs: None, reads(CELLS) | writes(CELLS, COUNTS),
                   lower=_iterator_hold_lower, partials=NONDIFF, eval=lambda it: None,
                   doc="give the state of an iterator references of its own to all arrays in it, so that it may "
                       "outlive the call")
ITERATOR_DROP = Op("iterator_drop", lambda types, attrs: None, writes(COUNTS), lower=_release_lower, partials=NONDIFF,
                   eval=lambda it: None,
                   doc="give up the reference that an object of the interpreter has to an iterator")
CELL_LOAD = Op("cell_load", lambda types, attrs: types[0].held[0], reads(CELLS) | ALLOCATES, lower=_cell_load_lower,
               partials=STRUCTURAL, doc="the content of a cell or iterator, with a new reference", traits=LOAD)
CELL_STORE = Op("cell_store", lambda types, attrs: None, writes(CELLS, COUNTS), lower=_cell_store_lower,
                partials=STRUCTURAL,
                doc="replace the content of a cell, which takes a reference of its own and gives up the old one",
                traits=WRITES_FIRST)
RETAIN = Op("retain", lambda types, attrs: None, writes(COUNTS), lower=_retain_lower, partials=NONDIFF,
            doc="add a reference")
RELEASE = Op("release", lambda types, attrs: None, writes(COUNTS), lower=_release_lower, partials=NONDIFF,
             doc="give up a reference")
POLL = Op("poll", lambda types, attrs: None, RAISES | writes(ERRORS), lower=_poll_lower, partials=NONDIFF,
          doc="count {cost} (or the operand) more units of work, and let Python handle signals now and then. "
              "{counts}: only count them, for the poll that follows")

MEMORY_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
