"""Lower a module for a GPU, or raise where it cannot run on one.

Runs after inlining, when the code of library functions is in the functions of the program. A `raise` with a constant
message becomes one instruction; global and captured arrays become constant data of the kernel, with their content at
compile time.
Before:  e = exc_new {cls} (text) ; exc_throw e        After:  throw {cls, message}
         a = py_unbox (const array)                            a = constant_array {type, shape, data}
Python objects, allocation, caught exceptions and recursion that remain are an error at the line that needs them.
Needs: SSA.  Keeps: control flow.
"""
from __future__ import annotations

import itertools
import math
import re

import numpy as np

from ..base.errors import Diagnostic, UnsupportedError
from ..ir import core as ir
from ..ir.cfg import reverse_postorder
from ..ops import control, exceptions, gpu, memory
from ..ops.blas import BLAS_OPS
from ..ops.control import INVOKE
from ..ops.pyobject import PY_BOX, PY_FORMAT, PY_JOIN, PY_UNBOX
from ..ops.random import RANDOM_OPS
from ..types.kinds import Array, Bool, Cell, Int, Iterator, NoneType, Str, any_part, bool_, is_float, is_integer
from ..types.lattice import dtype_of

__all__ = ["lower", "keep_small", "check", "calls_in", "in_program"]

_NEW, _THROW_NEW, _THROW = exceptions.EXC_NEW, exceptions.EXC_THROW, exceptions.THROW
_CAUGHT = (exceptions.EXC_FETCH, exceptions.EXC_MATCH, exceptions.EXC_PUSH, exceptions.EXC_POP, control.RERAISE)
_BLAS = frozenset(BLAS_OPS.values())
_RANDOM = frozenset(RANDOM_OPS.values())
# the part of format specifications that C and Python share
_INT_FORM, _FLOAT_FORM = r"([1-9]\d?)?d?", r"([1-9]\d?)?(\.\d\d?)?[efg]"
SMALL = 1024  # the most bytes of a new array that each thread keeps in its local memory
_HEAP = (memory.CELL_NEW, memory.ITERATOR_NEW, memory.CELL_LOAD, memory.CELL_STORE)


def lower(module: list[ir.Function]) -> None:
    """Replace operations that have another form on a GPU."""
    for fn in module:
        _drop_polls(fn)
        _throw_texts(fn)
        _print_parts(fn)
        _bake_arrays(fn)


def _drop_polls(fn: ir.Function) -> None:
    """Remove polls for signals, which a GPU does not get."""
    for block in fn.blocks:
        if any(inst.op is memory.POLL for inst in block.insts):
            block.insts = [inst for inst in block.insts if inst.op is not memory.POLL]


def _throw_texts(fn: ir.Function) -> None:
    for block in fn.blocks:
        last = block.insts[-1]
        new = last.args[0].inst if last.op is _THROW_NEW else None
        if new is None or new.op is not _NEW or last.unwind is not None:
            continue
        given = new.args[:len(new.args) - len(new.attrs.get("names", ()))]
        values = [p.attrs["value"] for a in given if (p := a.inst) is not None and p.op is control.CONST]
        if len(values) != len(given):
            continue
        message = str(values[0]) if len(values) == 1 else repr(tuple(values)) if values else ""
        last.op, last.args, last.attrs = _THROW, [], {**last.attrs, "cls": new.attrs["cls"], "message": message}
        block.insts.remove(new)


def _print_parts(fn: ir.Function) -> None:
    """Replace the f-strings in calls of print by their parts."""
    prints = [i for b in fn.blocks for i in b.insts if i.op is gpu.PRINT and any(a.type is Str for a in i.args)]
    if not prints:
        return
    used: set[ir.Inst] = set()
    for inst in prints:
        texts = [inst.attrs["texts"][0]]
        values: list = []
        forms: list = []
        for arg, text in zip(inst.args, inst.attrs["texts"][1:]):
            if not _add_parts(arg, texts, values, forms, used):
                raise _error(fn, inst, "print this str, which is made as the kernel runs",
                             "print numbers, as in print('x is', x), print(f'x is {x}') or print(f'{i:4d} {x:8.3f}')")
            texts[-1] += text
        inst.args, inst.attrs = values, {"texts": tuple(texts), "forms": tuple(forms)}
    left = ({a for b in fn.blocks for i in b.insts if i not in used for a in i.args}
            | {a for b in fn.blocks for e in b.edges() for a in e.args})
    for block in fn.blocks:
        block.insts = [i for i in block.insts if i not in used or i.result in left]


def _add_parts(value: ir.Value, texts: list[str], values: list[ir.Value], forms: list[str],
               used: set[ir.Inst]) -> bool:
    inst = value.inst
    if value.type is not Str:
        values.append(value)
        forms.append("")
        texts.append("")
        return True
    if inst is not None and inst.op is control.CONST:
        texts[-1] += inst.attrs["value"]
        return True
    if inst is not None and inst.op is PY_JOIN:
        used.add(inst)
        return all(_add_parts(a, texts, values, forms, used) for a in inst.args)
    if inst is None or inst.op is not PY_FORMAT or inst.attrs["conversion"] not in ("", "s"):
        return False
    box, wrapped = inst.args[0].inst, inst.args[1].inst
    spec = wrapped.args[0].inst if wrapped is not None and wrapped.op is PY_BOX else wrapped
    if box is None or box.op is not PY_BOX:
        return False
    t = box.args[0].type
    if inst.args[1].type is NoneType:
        form = ""
    elif (spec is not None and spec.op is control.CONST
          and re.fullmatch(_FLOAT_FORM if is_float(t) else _INT_FORM, spec.attrs["value"])):
        form = spec.attrs["value"]
    else:
        return False
    if not (is_integer(t) or is_float(t) or t in (Bool, bool_) and not form):
        return False
    used.update((inst, box))
    if wrapped is not None and wrapped.op is PY_BOX:
        used.add(wrapped)
    values.append(box.args[0])
    forms.append(form)
    texts.append("")
    return True


def _bake_arrays(fn: ir.Function) -> None:
    made = {i.result: i for b in fn.blocks for i in b.insts if i.op is control.CONST
            and isinstance(i.attrs["value"], np.ndarray)}
    baked = set()
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op is PY_UNBOX and inst.args[0] in made and isinstance(inst.result.type, Array):
                array = made[inst.args[0]].attrs["value"]
                order = "F" if inst.result.type.layout == "F" else "C"
                inst.op, inst.args, inst.unwind = gpu.CONSTANT_ARRAY, [], None
                inst.attrs = {"type": inst.result.type, "shape": array.shape, "data": array.tobytes(order).hex()}
                baked.add(inst.result)
            elif inst.op in (memory.ARRAY_STORE, gpu.ATOMIC, gpu.ATOMIC_CAS) and inst.args[0] in baked:
                raise _error(fn, inst, "change a global or captured array, which is a constant of the kernel",
                             "pass the array as an argument")


def keep_small(fn: ir.Function) -> None:
    """Replace allocations of arrays of a known small size by arrays in the thread's local memory, which is the same on
    each execution: only arrays that no later trip of a loop can still refer to."""
    consts = {i.result: i.attrs["value"] for b in fn.blocks for i in b.insts if i.op is control.CONST}
    passed = {a for b in fn.blocks for e in b.edges() for a in e.args}
    for block in reversed(list(reverse_postorder(fn))):
        for inst in reversed(block.insts):
            t = inst.result.type if inst.result is not None else None
            if (inst.op is control.RETURN or t is not None
                and (inst.result in passed if inst.op.traits & ir.SAME_MEMORY else not _is_scalar(t))):
                passed.update(inst.args)
    for block in fn.blocks:
        made: list[ir.Inst] = []
        for inst in block.insts:
            made.append(inst)
            if inst.op is not memory.ARRAY_NEW or inst.result in passed or inst.result.type.layout != "C":
                continue
            shape = tuple([consts.get(n, -1) for n in inst.args])
            count = math.prod(shape)
            if (min(shape, default=1) < 0 or count * memory.item_bytes(inst.result.type.dtype) > SMALL
                or inst.attrs["zero"] and count > 64):
                continue
            if inst.attrs["zero"]:
                made += _zeroed(inst, shape)
            inst.op, inst.args, inst.unwind = gpu.LOCAL_ARRAY, [], None
            inst.attrs = {"type": inst.result.type, "shape": shape}
        block.insts = made


def _is_scalar(t) -> bool:
    """Whether a value of the type holds no array, cell or iterator."""
    return not any_part(t, lambda part: isinstance(part, (Array, Cell, Iterator)))


def _zeroed(array: ir.Inst, shape) -> list[ir.Inst]:
    t = array.result.type.dtype
    numbers = [ir.Inst(control.CONST, (), {"value": n}, ir.Value(Int), loc=array.loc)
               for n in range(max(shape, default=0))]
    zero = ir.Inst(control.CONST, (), {"value": dtype_of(t).type(0)}, ir.Value(t), loc=array.loc)
    return [*numbers, zero, *(ir.Inst(memory.ARRAY_STORE, [array.result, *(numbers[k].result for k in index),
                                                           zero.result], {}, loc=array.loc)
                              for index in itertools.product(*map(range, shape)))]


def check(module: list[ir.Function], recursive) -> None:
    """Raise UnsupportedError for the first operation, in source order, that a GPU cannot do. recursive: functions that
    call themselves."""
    found = []
    for fn in module:
        for block in fn.blocks:
            for inst in block.insts:
                reason = _reason(inst, recursive)
                if reason is not None:
                    found.append((fn, inst if inst.loc.line else _protected(fn, inst), *reason))
    if not found:
        return
    calls = calls_in(module)
    found = [(*in_program(fn, inst, calls), *why) for fn, inst, *why in found]
    fn, inst, what, hint = min(found, key=lambda one: (one[0] is not module[0], one[1].loc.line, one[1].op is not _NEW,
                                                       one[1].loc.col))
    raise _error(fn, inst, what, hint)


def _protected(fn: ir.Function, inst: ir.Inst) -> ir.Inst:
    """The instruction that is reported in place of one in a handler, which has no source line: the first instruction in
    source order that unwinds to a handler."""
    return min((i for b in fn.blocks for i in b.insts if i.unwind is not None and i.loc.line),
               key=lambda i: (i.loc.line, i.loc.col), default=inst)


def calls_in(module: list[ir.Function]) -> dict:
    """callee -> (caller, a call of it)."""
    return {i.attrs["callee"]: (fn, i) for fn in reversed(module) for b in fn.blocks for i in b.insts if i.op is INVOKE}


def in_program(fn: ir.Function, inst: ir.Inst, calls) -> tuple[ir.Function, ir.Inst]:
    """(function, instruction): the instruction itself, or the call in the user's own function that leads to it."""
    seen = set()
    while fn.library and fn in calls and fn not in seen:
        seen.add(fn)
        fn, inst = calls[fn]
    return fn, inst


def _error(fn: ir.Function, inst: ir.Inst, what: str, hint: str) -> UnsupportedError:
    loc = inst.loc
    return UnsupportedError(Diagnostic(f"a GPU cannot {what}", fn.filename, loc.line or fn.firstlineno, loc.end_line,
                                       loc.col, loc.end_col, fn.qualname, hint=hint))


def _reason(inst: ir.Inst, recursive):
    """(what a GPU cannot do here, what to write instead), or None."""
    op = inst.op
    if op in _CAUGHT or inst.unwind is not None and op.effects & ir.RAISES and op is not _NEW:
        return "catch exceptions", "test before instead of try; what is raised in a kernel reaches the host"
    if op is _NEW or op is _THROW_NEW:
        return ("make exceptions with arguments",
                "raise with a fixed text, or one with ints in it: raise ValueError(f\"negative at {i}\")")
    if op is memory.ARRAY_NEW:
        return ("allocate arrays",
                "pass the array to the kernel, or take cuda.shared.array or cuda.local.array of a fixed size")
    if op in _HEAP:
        return ("keep variables that closures change, or iterators, in memory of their own",
                "pass values as arguments and results")
    if op is INVOKE and inst.attrs["callee"] in recursive:
        return f"call {inst.attrs['callee'].qualname}() recursively", "write a loop, with a local array as the stack"
    if op in _RANDOM:
        return "take random numbers from NumPy", "use cuda.random, whose states or counters are each thread's own"
    if op in _BLAS:
        return "call BLAS", "write the loops, or call the library outside of the kernel"
    if op.effects & ir.HOST:
        return "use Python objects" + _used(inst), "pass numbers, arrays and tuples"
    return None


def _used(inst: ir.Inst) -> str:
    kind = next((str(x.type) for x in (*inst.args, inst.result) if x is not None and x.type is Str), "")
    return f": this needs a {kind}" if kind else f" ({inst.op.name})"
