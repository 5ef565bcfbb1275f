"""The effect of each opcode on a frame: its value stack, its names, and the instructions that it emits.

`frame` is the builder of a function (build.py) at the place of the instruction `x`; the table at the end names the
opcodes of all versions, but for those of rare_opcodes.py. What differs by version beyond a name is in quirks.py.
"""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir import core as ir
from ..ops import control, generic
from ..ops.control import UNBOUND
from . import quirks
from .bytecode import VERSION

__all__ = ["NULL", "handler_of"]

rare_opcodes = lazy(f"{__package__}.rare_opcodes")

NULL = None  # an empty stack slot, as calls use


def nop(frame, x):
    pass


def load_const(frame, x):
    frame.push(frame.constant(frame.code.co_consts[x.arg]))


def load_fast(frame, x):
    frame.push(frame.load_local(quirks.local_name(frame.code, x.arg)))


def load_fast_load_fast(frame, x):
    for arg in (x.arg >> 4, x.arg & 15):
        frame.push(frame.load_local(quirks.local_name(frame.code, arg)))


def store_fast_load_fast(frame, x):
    frame.store_local(quirks.local_name(frame.code, x.arg >> 4), frame.stack.pop())
    frame.push(frame.load_local(quirks.local_name(frame.code, x.arg & 15)))


def store_fast_store_fast(frame, x):
    for arg in (x.arg >> 4, x.arg & 15):
        frame.store_local(quirks.local_name(frame.code, arg), frame.stack.pop())


def store_fast(frame, x):
    name, value = quirks.local_name(frame.code, x.arg), frame.stack.pop()
    if value in frame.constants and frame.constants[value] is UNBOUND:
        frame.locals[name] = value
        frame.bound.discard(name)
    else:
        frame.store_local(name, value)
        if name in frame.cleared:
            frame.bound.discard(name)


def load_global(frame, x):
    index = x.arg >> 1 if VERSION >= (3, 11) else x.arg
    value = frame.emit(generic.GLOBAL, (), name=frame.code.co_names[index])
    quirks.push_callable(frame, value, VERSION >= (3, 11) and x.arg & 1)


def load_deref(frame, x):
    frame.push(frame.load_cell(quirks.cell_name(frame.code, x.arg)))


def binary_op(frame, x):
    a, b = frame.pops(2)
    inplace, symbol = quirks.binary(x)
    frame.push(frame.emit(generic.INPLACE if inplace else generic.BINARY, (a, b), op=symbol))


def unary(frame, x):
    symbol = {"UNARY_NEGATIVE": "-", "UNARY_POSITIVE": "+", "UNARY_INVERT": "~", "UNARY_NOT": "not"}[x.name]
    value = frame.stack.pop()
    if symbol == "not":
        frame.push(frame.truth_of(generic.UNARY, (value,), op="not"))
    else:
        frame.push(frame.emit(generic.UNARY, (value,), op=symbol))


def to_bool(frame, x):
    frame.push(frame.condition(frame.stack.pop()))


def compare_op(frame, x):
    a, b = frame.pops(2)
    symbol, test = quirks.comparison(x.arg)
    result = frame.emit(generic.COMPARE, (a, b), op=symbol)
    frame.push(frame.condition(result) if test else result)


def is_op(frame, x):
    frame.push(frame.truth_of(generic.COMPARE, frame.pops(2), op="is not" if x.arg else "is"))


def contains_op(frame, x):
    frame.push(frame.truth_of(generic.COMPARE, frame.pops(2), op="not in" if x.arg else "in"))


def subscript(frame, x):
    frame.push(frame.emit(generic.GETITEM, frame.pops(2)))


def store_subscript(frame, x):
    value, container, index = frame.pops(3)
    frame.do(generic.SETITEM, (container, index, value))


def binary_slice(frame, x):
    container, start, stop = frame.pops(3)
    index = frame.emit(generic.SLICE, (start, stop, frame.constant(None)))
    frame.push(frame.emit(generic.GETITEM, (container, index)))


def store_slice(frame, x):
    value, container, start, stop = frame.pops(4)
    index = frame.emit(generic.SLICE, (start, stop, frame.constant(None)))
    frame.do(generic.SETITEM, (container, index, value))


def build_slice(frame, x):
    parts = frame.pops(x.arg)
    if x.arg == 2:
        parts.append(frame.constant(None))
    frame.push(frame.emit(generic.SLICE, parts))


# jumps


def poll(frame, x):
    """Poll for signals on a backward jump inside `try`, as CPython does: the handlers get the interrupt."""
    if frame.handler is not None and x.target <= x.offset:
        frame.do(generic.POLL, ())


def jump(frame, x):
    poll(frame, x)
    frame.terminate(control.JUMP, (), [frame.edge(frame.region_.targets[-1])])


def pop_jump(frame, x):
    following, target = frame.region_.targets
    value = frame.stack.pop()
    poll(frame, x)
    if "NONE" in x.name:
        value = frame.truth_of(generic.COMPARE, (value, frame.constant(None)), op="is")
        jump_on = "NOT_NONE" not in x.name
    else:
        value = frame.condition(value)
        jump_on = "IF_TRUE" in x.name
    frame.branch(value, *((target, following) if jump_on else (following, target)))


def jump_or_pop(frame, x):
    following, target = frame.region_.targets
    condition = frame.condition(frame.stack[-1])
    kept, popped = list(frame.stack), frame.stack[:-1]
    if "IF_TRUE" in x.name:
        frame.branch(condition, target, following, kept, popped)
    else:
        frame.branch(condition, following, target, popped, kept)


def for_iter(frame, x):
    following, target = frame.region_.targets
    step = frame.emit(generic.NEXT, (frame.stack[-1],))
    has = frame.truth_of(generic.ELEMENT, (step,), index=0)
    rest = frame.stack[:-1]
    ended = list(rest)
    if VERSION >= (3, 12):
        ended += [frame.stack[-1], frame.constant(None)]
    # item and state are defined only where there is an item
    body = ir.Block("item", ())
    frame.fresh.append(body)
    out = frame.edge(target, ended)
    frame.terminate(control.BRANCH, (has,), [ir.Edge(body), out])
    frame.block = body
    item = frame.emit(generic.ELEMENT, (step,), index=1)
    state = frame.emit(generic.ELEMENT, (step,), index=2)
    frame.stack = [*rest, state, item]
    frame.terminate(control.JUMP, (), [frame.edge(following)])


def end_for(frame, x):
    frame.pops(2 if VERSION < (3, 13) else 1)


def get_iter(frame, x):
    frame.push(frame.emit(generic.ITER, (frame.stack.pop(),)))


# stack


def pop_top(frame, x):
    frame.stack.pop()


def rotate(frame, x):
    n = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4}.get(x.name) or x.arg
    frame.stack.insert(len(frame.stack) - n, frame.stack.pop())


def dup_top(frame, x):
    frame.push(frame.stack[-1])


def dup_top_two(frame, x):
    frame.stack += frame.stack[-2:]


def copy(frame, x):
    frame.push(frame.stack[-x.arg])


def swap(frame, x):
    s = frame.stack
    s[-1], s[-x.arg] = s[-x.arg], s[-1]


def push_null(frame, x):
    frame.push(NULL)


# building


def build(frame, x):
    op = {"BUILD_TUPLE": generic.TUPLE, "BUILD_LIST": generic.LIST, "BUILD_SET": generic.SET,
          "BUILD_STRING": generic.STRING}[x.name]
    frame.push(frame.emit(op, frame.pops(x.arg)))


def unpack_sequence(frame, x):
    parts = frame.emit(generic.UNPACK, (frame.stack.pop(),), count=x.arg)
    for k in range(x.arg - 1, -1, -1):
        frame.push(frame.emit(generic.ELEMENT, (parts,), index=k))


# attributes and calls


def load_attr(frame, x):
    index, method = (x.arg >> 1, x.arg & 1) if VERSION >= (3, 12) else (x.arg, 0)
    value = frame.emit(generic.GETATTR, (frame.stack.pop(),), name=frame.code.co_names[index])
    quirks.push_callable(frame, value, method)


def load_method(frame, x):
    value = frame.emit(generic.GETATTR, (frame.stack.pop(),), name=frame.code.co_names[x.arg])
    frame.stack += [NULL, value]


def kw_names(frame, x):
    frame.kwnames = frame.code.co_consts[x.arg]


def call(frame, x):
    args = frame.pops(x.arg)
    a, b = frame.pops(2)
    callee, first = (a, b) if VERSION >= (3, 13) else (b, a) if a is NULL else (a, b)
    if first is not NULL:
        args.insert(0, first)
    frame.push(frame.emit(generic.CALL, (callee, *args), kwnames=frame.kwnames))
    frame.kwnames = ()


def call_kw(frame, x):
    frame.kwnames = frame.constants[frame.stack.pop()]
    call(frame, x)


def call_function(frame, x):
    names = frame.constants[frame.stack.pop()] if x.name == "CALL_FUNCTION_KW" else ()
    args = frame.pops(x.arg)
    callee = frame.stack.pop()
    if x.name == "CALL_METHOD":
        frame.stack.pop()
    frame.push(frame.emit(generic.CALL, (callee, *args), kwnames=names))


def return_value(frame, x):
    frame.terminate(control.RETURN, (frame.stack.pop(),), ())


def return_const(frame, x):
    frame.terminate(control.RETURN, (frame.constant(frame.code.co_consts[x.arg]),), ())


HANDLERS = {
    **dict.fromkeys(("NOP", "RESUME", "PRECALL", "CACHE", "GEN_START", "COPY_FREE_VARS", "SETUP_FINALLY",
                    "POP_BLOCK", "NOT_TAKEN"), nop), "LOAD_CONST": load_const, "LOAD_FAST": load_fast,
    "LOAD_FAST_CHECK": load_fast, "LOAD_FAST_BORROW": load_fast, "LOAD_FAST_LOAD_FAST": load_fast_load_fast,
    "STORE_FAST_LOAD_FAST": store_fast_load_fast, "STORE_FAST_STORE_FAST": store_fast_store_fast,
    "STORE_FAST": store_fast, "LOAD_GLOBAL": load_global, "LOAD_DEREF": load_deref, "BINARY_OP": binary_op,
    "TO_BOOL": to_bool, "COMPARE_OP": compare_op, "IS_OP": is_op, "CONTAINS_OP": contains_op,
    "BINARY_SUBSCR": subscript, "STORE_SUBSCR": store_subscript, "BINARY_SLICE": binary_slice,
    "STORE_SLICE": store_slice, "BUILD_SLICE": build_slice, "JUMP_FORWARD": jump, "JUMP_ABSOLUTE": jump,
    "JUMP_BACKWARD": jump, "JUMP_BACKWARD_NO_INTERRUPT": jump, "JUMP_IF_TRUE_OR_POP": jump_or_pop,
    "JUMP_IF_FALSE_OR_POP": jump_or_pop, "FOR_ITER": for_iter, "END_FOR": end_for, "GET_ITER": get_iter,
    "GET_YIELD_FROM_ITER": get_iter, "POP_TOP": pop_top, "POP_ITER": pop_top,
    **dict.fromkeys(("ROT_TWO", "ROT_THREE", "ROT_FOUR", "ROT_N"), rotate), "DUP_TOP": dup_top,
    "DUP_TOP_TWO": dup_top_two, "COPY": copy, "SWAP": swap, "PUSH_NULL": push_null,
    **dict.fromkeys(("BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_STRING"), build),
    "UNPACK_SEQUENCE": unpack_sequence, "LOAD_ATTR": load_attr, "LOAD_METHOD": load_method, "KW_NAMES": kw_names,
    "CALL": call, "CALL_KW": call_kw,
    **dict.fromkeys(("CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL_METHOD"), call_function), "RETURN_VALUE": return_value,
    "RETURN_CONST": return_const,
    **dict.fromkeys(("UNARY_NEGATIVE", "UNARY_POSITIVE", "UNARY_INVERT", "UNARY_NOT"), unary),
    **{name: pop_jump for name in quirks.POP_JUMPS}, **{name: binary_op for name in quirks.OLD_BINARY},
}


def handler_of(name: str):
    """The function for an opcode; None where there is none."""
    return HANDLERS.get(name) or rare_opcodes.HANDLERS.get(name)
