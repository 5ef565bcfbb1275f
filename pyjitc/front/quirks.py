"""The differences between CPython 3.10 and 3.13 in the bytecode of functions.

Each function names the versions for which it differs; the abstract interpreter in `build.py` calls them.
"""
from __future__ import annotations

import dis

from ..base.lazy import lazy
from ..ops import generic
from .bytecode import VERSION

__all__ = ["CONSTRUCTS", "HINTS", "POP_JUMPS", "OLD_BINARY", "NOT_JUMPS", "local_name", "cell_name", "binary",
           "comparison", "push_callable", "enter_handler", "moved_cells", "name_closures", "plain_cells",
           "rebound_names", "accesses", "block_stacks"]

recursion = lazy(f"{__package__}.recursion")

# Opcodes that are not compiled -> their names in Python.
CONSTRUCTS = {
    "LOAD_SPECIAL": "a `with` statement",
    **dict.fromkeys(("SETUP_ASYNC_WITH", "BEFORE_ASYNC_WITH", "GET_AWAITABLE", "GET_AITER", "GET_ANEXT",
                     "END_ASYNC_FOR"), "async code"),
    "IMPORT_STAR": "`import *`",
    "LOAD_CLASSDEREF": "a class body", "LOAD_NAME": "a class body", "STORE_NAME": "a class body",
    "DICT_UPDATE": "a dict", "SETUP_ANNOTATIONS": "annotations",
    "LOAD_LOCALS": "locals()",
}
HINTS = {
    "a `with` statement": "open and close it outside the compiled function",
    "`import *`": "import the names that you need",
}
POP_JUMPS = [name for name in dis.opmap if name.startswith("POP_JUMP_")]
NOT_JUMPS = frozenset({"SETUP_FINALLY", "SETUP_WITH", "SETUP_ASYNC_WITH"})  # in 3.10 their targets are handlers

_OLD = {"ADD": "+", "SUBTRACT": "-", "MULTIPLY": "*", "TRUE_DIVIDE": "/", "FLOOR_DIVIDE": "//", "MODULO": "%",
        "POWER": "**", "MATRIX_MULTIPLY": "@", "LSHIFT": "<<", "RSHIFT": ">>", "AND": "&", "OR": "|", "XOR": "^"}
OLD_BINARY = {f"{kind}_{name}": (kind == "INPLACE", symbol) for kind in ("BINARY", "INPLACE")
              for name, symbol in _OLD.items()}
# BINARY_OP's argument, 3.11 and later (NB_ADD ... of Include/opcode.h); the in-place forms follow.
_BINARY = ("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^")


def binary(x) -> tuple[bool, str]:
    """(in place, symbol) of a binary operation."""
    if x.name == "BINARY_OP":
        return (False, _BINARY[x.arg]) if x.arg < 13 else (True, _BINARY[x.arg - 13])
    return OLD_BINARY[x.name]


def comparison(arg: int) -> tuple[str, bool]:
    """(symbol, whether the result is converted to bool) of COMPARE_OP."""
    if VERSION >= (3, 13):
        return dis.cmp_op[arg >> 5], bool(arg & 16)
    return dis.cmp_op[arg >> 4 if VERSION >= (3, 12) else arg], False


def local_name(code, arg: int) -> str:
    """The name of a fast local; from 3.11 on cells and free variables are numbered with them. From 3.12 on the variable
    of an inlined comprehension may have the name of a free variable: the local gets a mark in its name."""
    if VERSION >= (3, 11):
        name = code._varname_from_oparg(arg)
        return name + "'" if name in code.co_freevars and arg < code.co_nlocals else name
    return code.co_varnames[arg]


def cell_name(code, arg: int) -> str:
    if VERSION >= (3, 11):
        return code._varname_from_oparg(arg)
    n = len(code.co_cellvars)
    return code.co_cellvars[arg] if arg < n else code.co_freevars[arg - n]


def push_callable(b, value, flag) -> None:
    """Push the callable and the empty slot that LOAD_GLOBAL and LOAD_ATTR leave for a call: in 3.13 the slot is above
    the callable, in 3.11 and 3.12 below."""
    if not flag:
        b.stack.append(value)
    elif VERSION >= (3, 13):
        b.stack += [value, None]
    else:
        b.stack += [None, value]


def enter_handler(b, exc, lasti: bool, stack: list) -> None:
    """The value stack at the start of a handler. 3.10 pushes two exceptions of three values each."""
    if VERSION >= (3, 11):
        if lasti:
            stack.append(b.constant(None))
        stack.append(exc)
    else:
        previous = b.emit(generic.EXC_ENTER, (exc,))
        stack += [previous] * 3 + [exc] * 3


_STORES = {"STORE_FAST": "store", "DELETE_FAST": "delete", "LOAD_FAST_AND_CLEAR": "delete", "LOAD_FAST": "load",
           "LOAD_FAST_CHECK": "load", "LOAD_FAST_BORROW": "load"}
_CELLS = {"LOAD_DEREF": "load", "STORE_DEREF": "store", "DELETE_DEREF": "delete", "LOAD_CLOSURE": "take"}


def moved_cells(code, instrs, start) -> frozenset[str]:
    """Cell variables of inlined comprehensions (3.12): each execution of a comprehension has a new cell, in a slot that
    is saved before and restored after it. Such a slot is treated as a local variable that holds a cell."""
    if VERSION < (3, 12) or not code.co_cellvars:
        return frozenset()
    return frozenset(cell_name(code, x.arg) for x in instrs if x.name == "MAKE_CELL" and x.offset > start)


def name_closures(code, instrs, start) -> None:
    """3.13 has LOAD_FAST in place of LOAD_CLOSURE: give it the name of the latter where its slot holds a cell. The
    variable of an inlined comprehension may use the slot of a cell that is not its own, or have a cell of its own in
    the slot of a local variable."""
    if VERSION < (3, 13) or not (code.co_cellvars or code.co_freevars):
        return
    cells = {x.arg for x in instrs if x.name == "MAKE_CELL" and x.offset <= start}
    inner = []  # (slot, start, end, whether the slot holds a cell there), inner comprehensions last
    for k, x in enumerate(instrs):
        if x.name == "LOAD_FAST_AND_CLEAR":
            end = next((y.target for y in instrs[k:] if y.name == "FOR_ITER"), x.offset)
            made = any(y.name == "MAKE_CELL" and y.arg == x.arg and y.offset < end for y in instrs[k:])
            inner.append((x.arg, x.offset, end, made))
    for x in instrs:
        if x.name == "LOAD_FAST":
            holds = x.arg in cells or x.arg >= code.co_nlocals
            for slot, first, end, made in inner:
                if slot == x.arg and first < x.offset < end:
                    holds = made
            if holds:
                x.name = "LOAD_CLOSURE"


def accesses(code, x, plain, moved):
    """((name, how), ...) in order, how: 'load', 'take' (of a closure), 'store' or 'delete'."""
    how = _STORES.get(x.name)
    if how is not None:
        name = local_name(code, x.arg)
        if name in moved:
            return ((name, how),)
        if name in code.co_cellvars and name not in plain:
            return () if name not in code.co_varnames else ((name, how),)
        return ((name, how),) if name not in code.co_freevars else ()
    how = _CELLS.get(x.name)
    if how is not None:
        name = cell_name(code, x.arg)
        return ((name, how),) if name in plain else ((name, "load"),) if name in moved else ()
    if x.name == "MAKE_CELL" and cell_name(code, x.arg) in moved:
        name = cell_name(code, x.arg)
        return (name, "load"), (name, "store")
    if x.name == "MAKE_CELL" or "_FAST_" not in x.name:
        return ()
    high, low = local_name(code, x.arg >> 4), local_name(code, x.arg & 15)
    if x.name in ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"):
        return (high, "load"), (low, "load")
    if x.name == "STORE_FAST_LOAD_FAST":
        return (high, "store"), (low, "load")
    if x.name == "STORE_FAST_STORE_FAST":
        return (high, "store"), (low, "store")
    return ()


def rebound_names(code) -> set[str]:
    """Free variables that a function, or one inside it, assigns or deletes."""
    rebound, work = set(), [code]
    while work:
        c = work.pop()
        data = c.co_code
        names = set(c.co_freevars)
        if names:
            extended = 0
            for i in range(0, len(data), 2):
                op, arg = data[i], data[i + 1] | extended
                extended = arg << 8 if op == dis.EXTENDED_ARG else 0
                if dis.opname[op] in ("STORE_DEREF", "DELETE_DEREF"):
                    name = cell_name(c, arg)
                    if name in names:
                        rebound.add(name)
        work += [k for k in c.co_consts if hasattr(k, "co_code")]
    return rebound


def plain_cells(code, instrs, moved, as_objects) -> tuple[frozenset[str], dict]:
    """Cell variables whose changes no closure can observe: they are assigned once, before any closure captures them,
    outside loops, and never by an inner function. They become ordinary values. So do the variables of local functions
    that refer to themselves: see recursion.py. as_objects: code of functions whose variables are cells."""
    if not code.co_cellvars:
        return frozenset(), {}
    rebound = set(moved)
    for inner in code.co_consts:
        if hasattr(inner, "co_code"):
            rebound |= rebound_names(inner)
    loops = [(x.target, x.offset) for x in instrs if 0 <= x.target <= x.offset]
    stores: dict[str, list[int]] = {}
    takes: dict[str, list[int]] = {}
    for x in instrs:
        if x.name == "DELETE_DEREF":
            rebound.add(cell_name(code, x.arg))
        elif x.name == "STORE_DEREF":
            stores.setdefault(cell_name(code, x.arg), []).append(x.offset)
        elif x.name == "LOAD_CLOSURE":
            takes.setdefault(cell_name(code, x.arg), []).append(x.offset)
    plain, single = set(), set()
    nparams = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    for name in code.co_cellvars:
        if name in rebound:
            continue
        places = stores.get(name, [])
        if name in code.co_varnames[:nparams]:
            if not places:
                plain.add(name)
        elif places and not any(a <= place <= b for place in places for a, b in loops):
            if len(places) == 1 and places[0] < min(takes.get(name, (1 << 60,))):
                plain.add(name)
            else:
                single.add(name)
    layouts = {}
    if single:
        names, layouts = recursion.find(code, instrs, stores, takes, single | plain, cell_name, as_objects)
        plain |= names
    return frozenset(plain), layouts


def block_stacks(instrs, at):
    """3.10: the handler of each instruction, from SETUP_FINALLY and POP_BLOCK. A handler runs with an 'except' block on
    the block stack, which POP_EXCEPT pops; an exception in the handler pops it first."""
    result = [None] * len(instrs)
    depth_at = _stack_depths(instrs, at)
    seen: dict[int, tuple] = {0: ()}
    work = [0]
    while work:
        i = work.pop()
        stack = seen[i]
        while True:
            x = instrs[i]
            result[i] = _key(stack)
            name = x.name
            after = stack
            if name == "SETUP_FINALLY" or name == "SETUP_WITH":
                depth = depth_at.get(i, 0)
                handler = at[x.target]
                inside = (*stack, ("except", depth))
                if handler not in seen:
                    seen[handler] = inside
                    work.append(handler)
                after = (*stack, ("finally", x.target, depth))
            elif name == "POP_BLOCK" or name == "POP_EXCEPT":
                after = stack[:-1]
            elif name == "RERAISE":
                pass
            if x.target >= 0 and name not in NOT_JUMPS:
                t = at[x.target]
                if t not in seen:
                    seen[t] = after
                    work.append(t)
            if name in ("RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_ABSOLUTE"):
                break
            i += 1
            if i >= len(instrs) or i in seen:
                break
            seen[i] = stack = after
    return result


def _key(stack):
    leave = []
    for entry in reversed(stack):
        if entry[0] == "finally":
            return (entry[1], entry[2], False, tuple(leave))
        leave.append(entry[1])
    if leave:  # the exception leaves the function: handled exceptions are popped, down to the stack of the outermost
        return (None, max(leave) + 1, False, tuple(leave))
    return None


def _stack_depths(instrs, at):
    """Value-stack depth before each instruction of 3.10, by CPython's own stack effects."""
    depths = {0: 1 if instrs[0].name == "GEN_START" else 0}  # a generator starts with a sent value on the stack
    work = [0]
    while work:
        i = work.pop()
        d = depths[i]
        while i < len(instrs):
            x = instrs[i]
            arg = x.arg if dis.opmap[x.name] >= dis.HAVE_ARGUMENT else None
            op = dis.opmap[x.name]
            if x.target >= 0:
                t = at[x.target]
                jumped = (d + 6 if x.name in ("SETUP_FINALLY", "SETUP_WITH")
                          else d + dis.stack_effect(op, arg, jump=True))
                if t not in depths:
                    depths[t] = jumped
                    work.append(t)
            d += dis.stack_effect(op, arg, jump=False) if x.name != "SETUP_FINALLY" else 0
            if x.name in ("RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_ABSOLUTE"):
                break
            i += 1
            if i in depths:
                break
            depths[i] = d
    return depths
