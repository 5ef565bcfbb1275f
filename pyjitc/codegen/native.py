"""Entries with C's calling convention, in place of the stub that Python calls.

A `Loop` is the function that NumPy calls for the elements of a ufunc (an ArrayMethod of NEP 43), or for the cores of a
generalised one:

    i32 pyjitc_entry(ptr context, ptr data, ptr dimensions, ptr strides, ptr auxiliary)

The compiled function takes arrays with one axis more than the operands have, which the entry makes from these words,
and returns nothing. Where the elements of each operand are contiguous it is called with constant strides, for which
LLVM optimises a second copy. Where all arrays are operands, LLVM vectorises nothing in the other copy, which is
compiled with a few passes (partition.py). The status is 0 on success and -1 where an exception is set.

A `Callback` has the C types of a signature, and cannot raise: an exception is printed, as the interpreter does with
unraisable exceptions, and the result is zero.

An object whose code works on Python objects defines `pyjitc_holds`: a Loop must then be called with the interpreter
lock, and a Callback takes it.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ops.memory import ARRAY_LOAD, ARRAY_STORE, item_bytes
from ..types.kinds import Array, Type
from ..types.lattice import dtype_of
from .emitter import Emitter, memory_type
from .entries import ENTRY, HOLDS, INITIAL, Loop
from .leaves import components
from .module import Module

__all__ = ["add"]

_TWICE = 150  # the most instructions of a function that is optimised twice
_SMALL = 20  # the most instructions of a function that is inlined into a callback


class _Entry(Emitter):
    def fail(self, inst) -> str:
        raise AssertionError("an entry has nothing that fails")


def add(module: Module, fn: ir.Function, form, nogil: bool) -> None:
    """Add the entry of `fn`."""
    e = _Entry(module)
    if not nogil:
        e.declare(f"@{HOLDS} = constant i8 1")
    text = _loop(e, fn, form) if isinstance(form, Loop) else _callback(e, fn, form, nogil)
    module.bodies.append(text)
    if isinstance(form, Loop) and form.initial is not None:
        module.bodies.append(_initial(module, _arrays(fn.params[-1].type)[-1].dtype, form.initial))


# ---------------------------------------------------------------- loops of ufuncs


def _arrays(t: Type) -> list[Array]:
    return [t] if isinstance(t, Array) else [array for part in t.parts for array in _arrays(part)]


def _loop(e: _Entry, fn: ir.Function, form: Loop) -> str:
    arrays = [array for p in fn.params for array in _arrays(p.type)]
    dimensions: dict[int, str] = {}

    def word(table: str, k: int, t: str = "i64") -> str:
        where = table if k == 0 else e.assign(f"getelementptr i64, ptr {table}, i64 {k}")
        return e.assign(f"load {t}, ptr {where}, align 8")

    def dimension(k: int) -> str:
        if k not in dimensions:
            dimensions[k] = word("%dimensions", k)
        return dimensions[k]

    core = len(form.cores)  # the index of the strides of core dimensions, after those of the operands
    opened, followed = [], []
    for k, (t, dims) in enumerate(zip(arrays, form.cores, strict=True)):
        shape = [dimension(0), *(dimension(1 + d) for d in dims)]
        strides = [word("%strides", k), *(word("%strides", core + j) for j in range(len(dims)))]
        # the stride of an axis of length 1, for an output without core dimensions
        strides += ["8"] * (t.ndim - len(strides))
        shape += ["1"] * (t.ndim - len(shape))
        core += len(dims)
        size = str(item_bytes(t.dtype))
        last = len(dims) if dims else 0
        if strides[last] != size:
            followed.append(e.assign(f"icmp eq i64 {strides[last]}, {size}"))
        known = [*strides[:last], size, *strides[last + 1:]]
        opened.append((word("%data", k, "ptr"), shape, strides, known))

    def call(which: int) -> None:
        args = []
        for t, (data, shape, *strides) in zip(arrays, opened):
            args += [data, "null", *shape, *strides[which]]
        kinds = [c for p in fn.params for c in components(p.type)]
        status, _ = e.native_call(fn, [f"{c} {v}" for c, v in zip(kinds, args, strict=True)])
        if not which and e.module.strided is fn:
            e.lines[-1] = e.lines[-1].replace(f"{e.module.symbol(fn)}(", f"{e.module.strided_symbol()}(")
        e.line(f"ret i32 {e.assign(f'sub i32 0, {status}')}")

    if _has_at_most(_TWICE, fn):
        e.module.enters_inline = True
        if _has_only_operands(fn):
            e.module.strided, e.module.has_cores = fn, any(form.cores)
        every = followed[0]
        for one in followed[1:]:
            every = e.assign(f"and i1 {every}, {one}")
        e.branch(every, "units", "any")
        e.start("units")
        call(1)
        e.start("any")
    call(0)
    return "\n".join([f"define i32 @{ENTRY}(ptr %context, ptr %data, ptr %dimensions, ptr %strides, ptr %auxiliary) "
                      "nounwind {", *e.entry, *e.lines, *e.cold, "}"])


def _has_at_most(limit: int, fn: ir.Function) -> bool:
    """Whether a function has few enough instructions to be inlined into its entry."""
    return not fn.flags.recursive and sum(len(block.insts) for block in fn.blocks) <= limit


def _has_only_operands(fn: ir.Function) -> bool:
    """Whether no array that a function reads or writes has contiguous elements for certain."""
    return all([inst.args[0].type.layout == "A" for block in fn.blocks for inst in block.insts
                if inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE])


def _initial(module: Module, t: Type, value) -> str:
    e = _Entry(module)
    for k, (c, v) in enumerate(zip(components(t), e.constant(t, dtype_of(t).type(value)))):
        where = e.assign(f"getelementptr {memory_type(c)}, ptr %initial, i64 {k}")
        v = {"true": "1", "false": "0"}.get(v, v)
        e.line(f"store {memory_type(c)} {v}, ptr {where}, align 1")
    return "\n".join([f"define i32 @{INITIAL}(ptr %context, i8 %empty, ptr %initial) nounwind {{", *e.lines,
                      "  ret i32 1", "}"])


# ---------------------------------------------------------------- callbacks


def _callback(e: _Entry, fn: ir.Function, form, nogil: bool) -> str:
    given = [f"%a{k}" for k in range(len(form.args))]
    opened = []
    for name, t in zip(given, form.args):
        opened.append(e.assign(f"icmp ne i8 {name}, 0") if t == "i1" else name)
    parameters = ", ".join(f"{'i8' if t == 'i1' else t} {name}" for t, name in zip(form.args, given))
    result = {"i1": "i8"}.get(form.result, form.result)
    e.module.enters_inline = _has_at_most(_SMALL, fn)
    state = None if nogil else e.assign("call i32 @PyGILState_Ensure()")
    kinds = [c for p in fn.params for c in components(p.type)]
    status, values = e.native_call(fn, [f"{c} {v}" for c, v in zip(kinds, opened, strict=True)])
    good = e.assign(f"icmp eq i32 {status}, 0")
    e.branch(good, "fine", "failed", likely=True)
    e.start("fine")
    if form.result == "void":
        value = ""
    elif fn.result is None:  # the function never returns
        value = " zeroinitializer"
    elif form.result.startswith("{"):
        value = "poison"
        for k, part in enumerate(values()):
            value = e.assign(f"insertvalue {form.result} {value}, {_part(form.result, k)} {part}, {k}")
        value = f" {value}"
    else:
        value, = values()
        value = f" {e.assign(f'zext i1 {value} to i8')}" if form.result == "i1" else f" {value}"
    if state is not None:
        e.line(f"call void @PyGILState_Release(i32 {state})")
    e.line(f"ret {result}{value}")
    e.start("failed")
    held = state or e.assign("call i32 @PyGILState_Ensure()")
    name = e.assign(f"call ptr @PyUnicode_FromString(ptr {e.string(fn.qualname)})")  # Exception ignored in: 'name'
    e.line(f"call void @PyErr_WriteUnraisable(ptr {name})")
    e.line(f"call void @Py_DecRef(ptr {name})")
    e.line(f"call void @PyGILState_Release(i32 {held})")
    e.line("ret void" if form.result == "void" else f"ret {result} zeroinitializer")
    return "\n".join([f"define {result} @{ENTRY}({parameters}) nounwind {{", "start:", *e.entry, "  br label %enter",
                      "enter:", *e.lines, *e.cold, "}"])


def _part(structure: str, k: int) -> str:
    return structure.strip("{} ").split(", ")[k]
