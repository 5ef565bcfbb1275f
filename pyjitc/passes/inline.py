"""Inline calls of library functions.

Runs first: the later passes see loops and loads instead of calls, and tracebacks have no frames of the library.
Before:  y = invoke {callee: f} (x)       After:  y = iadd x, x        (body of f, parameters replaced)
Every inlined instruction of a library function takes the position of the call, and the call's unwind edge where
it has none. Of the program's functions, leaves that cannot fail are inlined, the function of a ufunc in its loop, and
small functions with `inline="always"`: LLVM would inline these as well, but arrays that they return would be made in
the heap, and assignments to their arrays would be tested for overlap. There the instructions keep their own positions,
and those that may leave the function know the frames that tracebacks show for the calls (`outer`). Callees are shared,
so their bodies are copied. A (mutually) recursive library function stays a call at the inner level.
Needs: callees in `attrs["callee"]` of invoke.  Keeps: SSA; unreachable blocks are gone.
"""
from __future__ import annotations

from typing import Any, Callable, Collection

from ..base.lazy import lazy
from ..ir.cfg import LoopNest, reverse_postorder
from ..ir.core import ALLOCATES, HOST, RAISES, READS, WRITES, Block, Edge, Function, Inst, Value
from ..ops.control import CONST, INVOKE, JUMP, RETURN
from ..ops.nest import NESTS, functions_of
from ..ops.pyobject import PY_UNBOX
from ..types.kinds import Array
from . import dce, gvn, simplify
from .rewrite import clone_blocks, clone_inst, copy_of, remove_unreachable, substitute

__all__ = ["absorb", "note_origin", "run", "callees", "put_in", "put_in_kernels", "reachable", "splice"]

messages = lazy(f"{__package__}.messages")  # library functions whose images are on disk do not need it

_UNTIDY, _LEAF = 120, 40  # the most instructions of a leaf before and after simplification
# Numbers of instructions: how many inlining may add to a function of the program before larger bodies stay calls, and
# how large a body is that is inlined nevertheless. LLVM takes time quadratic in the branches of one function.
GROWTH, SMALL = 4_000, 60
_SEEN = RAISES | ALLOCATES | HOST
# The most instructions of a function with inline="always" that is inlined here, and of all copies in one function.
_ASKED, _COPIES = 300, 1_200


def run(module: list[Function], options: Any = None) -> list[Function]:
    """Inline in every function of `module` (the entry first), and return those that can still be reached from the
    entry. Templates and kernels of nests, which nests.py inlines later, are in their final form afterwards."""
    _inline(module[0], {})
    if module[0].library:
        _unbox_first(module[0])
    return reachable(module[:1], {})


def _unbox_first(loop: Function) -> None:
    """Move the unboxing of the arrays that a function captures to the entry of the ufunc's loop in which the function
    was inlined: it is the same for all elements."""
    moved = dict.fromkeys(
        one for block in loop.blocks for inst in block.insts
        if inst.op is PY_UNBOX and isinstance(inst.result.type, Array) and inst.unwind is None
        and inst.args[0].inst is not None and inst.args[0].inst.op is CONST for one in (inst.args[0].inst, inst))
    for block in loop.blocks if moved else ():
        block.insts = [inst for inst in block.insts if inst not in moved]
    loop.entry.insts[:0] = moved


def absorb(around: Function, made: Collection[Function] | None = None, nests: bool = True) -> None:
    """Mark the function for which `around`, such as the loop of a ufunc, was made to be inlined in it, although it may
    fail: tracebacks show its frame, and none of `around`. made: the only functions that may be marked, or None. nests:
    whether functions with a loop in a loop are marked, which are slower as parts of a deeper nest."""
    for callee in callees(around):
        if not callee.library and (callee.filename, callee.firstlineno) == (
                around.filename, around.firstlineno) and (made is None or callee in made) and (
                nests or all(loop.parent is None for loop in LoopNest(callee).loops)):
            callee.flags = callee.flags._replace(inline=True)


def note_origin(fn: Function) -> None:
    """Let the instructions that may fail keep the name of their function where they are inlined."""
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op.effects & (RAISES | READS | WRITES) and "origin" not in inst.attrs:
                inst.attrs = {**inst.attrs, "origin": (fn.qualname, fn.filename)}


def _wanted(callee: Function) -> bool:
    return callee.library and not callee.flags.noinline or callee.flags.inline


def _is_asked(fn: Function) -> bool:
    """Whether the program asks with `inline="always"` that calls of the function are inlined, and it is small. Loops in
    loops are slower as parts of a deeper nest."""
    return (fn.flags.asks_inline and not (fn.library or fn.flags.optnone or fn.flags.noinline or fn.flags.vmap)
            and _size(fn) <= _ASKED and all(loop.parent is None for loop in LoopNest(fn).loops))


def _has_frame(callee: Function) -> bool:
    """Whether tracebacks show the frame of the function that calls this one, which is inlined."""
    return callee.flags.asks_inline and not (callee.library or callee.flags.frameless)


def _is_leaf(fn: Function) -> bool:
    """Whether a function of the program is a few operations on numbers that cannot fail, so that no traceback can ever
    show a frame of it. LLVM would inline it as well, but only after the loop passes, which do not optimise loops with
    calls."""
    insts = [i for b in fn.blocks for i in b.insts]
    if len(insts) > _UNTIDY or any(i.op.effects & _SEEN or i.op is INVOKE for i in insts):
        return False
    simplify.run(fn)
    order = {block: k for k, block in enumerate(reverse_postorder(fn))}
    straight = all(order[e.block] > order[b] for b in fn.blocks for e in b.edges())
    return straight and sum(len(b.insts) for b in fn.blocks) <= _LEAF


def callees(fn: Function) -> list[Function]:
    found = dict.fromkeys(i.attrs["callee"] for b in fn.blocks for i in b.insts if i.op is INVOKE)
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op in NESTS:
                found.update(dict.fromkeys(functions_of(inst)))
    return list(found)


def _inline(root: Function, state: dict[Function, bool]) -> None:
    """Inline in callees before callers, with a work list instead of recursion; state: fn -> finished."""
    stack = [(root, iter(callees(root)))]
    state[root] = False
    while stack:
        fn, rest = stack[-1]
        for callee in rest:
            if callee not in state:
                state[callee] = False
                stack.append((callee, iter(callees(callee))))
                break
        else:
            stack.pop()
            _inline_into(fn, state)
            if (fn.library and not fn.flags.simplified
                and not any(e.block is fn.entry for b in fn.blocks for e in b.edges())):
                messages.run(fn)
                simplify.run(fn)  # once for each process, so that small bodies are copied from here on
                fn.flags = fn.flags._replace(simplified=True)
            elif fn is not root and not fn.library and not fn.flags.inline and _is_leaf(fn):
                fn.flags = fn.flags._replace(inline=True, frameless=True)
            elif not fn.library and (fn.flags.inline or fn is not root and _is_asked(fn)):
                fn.flags = fn.flags._replace(inline=True)
                note_origin(fn)
            state[fn] = True


def _inline_into(fn: Function, state: dict[Function, bool] | None, kept=frozenset()) -> None:
    """Inline the calls in a function. state: see `_inline`; None where all callees are finished. kept: functions whose
    calls are not inlined."""

    def ready(inst: Inst) -> bool:
        if inst.op is not INVOKE:
            return False
        callee = inst.attrs["callee"]
        # unfinished: the call is recursive
        if callee is fn or callee in kept or state is not None and not state.get(callee) or not _wanted(callee):
            return False
        if _has_frame(callee) and callee.flags.parallel != fn.flags.parallel:
            return False
        if fn.library and _is_step(fn, callee):
            inst.attrs["later"] = True
            return False
        return True

    def is_left(inst: Inst) -> bool:
        """Whether this is a call of the next step that a step of a recursion over a tuple has left as a call (see
        `_is_step`)."""
        return "later" in inst.attrs and ready(inst)

    blocks: list[Block] = []
    replace: dict[Value, Value] = {}
    work = []
    gained = copies = 0
    for block in fn.blocks:
        blocks.append(block)
        if any(ready(inst) for inst in block.insts):
            work.append((block, ready))
    if not work:
        return
    for block, wanted in work:  # appended to during the iteration
        insts, block.insts = block.insts, []
        # A stack of (instructions that still have to be copied, the list to which they are appended); after a call that
        # is another list.
        stack = [(iter(insts), [block.insts], wanted)]
        while stack:
            rest, end, wanted = stack[-1]
            inst = next(rest, None)
            if inst is None:
                stack.pop()
                continue
            if not wanted(inst):
                end[0].append(inst)
                continue
            size = _size(inst.attrs["callee"])
            framed = _has_frame(inst.attrs["callee"])
            if state is not None and gained > GROWTH and size > SMALL and _may_stay(fn, inst) or (
                    framed and copies + size > _COPIES):
                end[0].append(inst)
                continue
            gained += size
            copies += size * framed
            own, start, first = end[0], len(end[0]), len(blocks)
            frame = (tuple(inst.loc), inst.attrs.get("origin") or (fn.qualname, fn.filename)) if framed and (
                not fn.library or "origin" in inst.attrs) else None
            after = splice(inst, own, blocks, replace, frame)
            if after is None:  # the callee never returns: the rest of the block is unreachable
                while stack and stack[-1][1] is end:
                    stack.pop()
            else:
                end[0] = after
            if any(x.op is INVOKE and "later" in x.attrs for b in inst.attrs["callee"].blocks for x in b.insts):
                body = own[start:]
                del own[start:]
                if after is not None and after is not own:
                    stack.append((iter(after[:]), end, is_left))
                    after.clear()
                stack.append((iter(body), end if after is own else [own], is_left))
                work += [(new, is_left) for new in blocks[first:] if new.insts is not after
                         and any(map(is_left, new.insts))]
    fn.blocks = blocks
    remove_unreachable(fn)
    substitute(fn.blocks, replace)


def _size(fn: Function) -> int:
    return sum(len(block.insts) for block in fn.blocks)


def _may_stay(fn: Function, call: Inst) -> bool:
    """Whether a call may remain in a function that is already large. A step of a recursion may not: it must be inlined
    into the function that starts the recursion (see `_is_step`)."""
    callee = call.attrs["callee"]
    return (not fn.library and callee.library and "later" not in call.attrs
            and not any("later" in inst.attrs for block in callee.blocks for inst in block.insts))


def _is_step(fn: Function, callee: Function) -> bool:
    """Whether a library function calls itself for the rest of a tuple. Each step is inlined into the function that
    starts the recursion, and not into the step before it: the last step would be copied into all steps before it."""
    return _same_code(fn, callee) and all("later" in inst.attrs for block in callee.blocks for inst in block.insts
                                          if inst.op is INVOKE and _same_code(fn, inst.attrs["callee"]))


def _same_code(fn: Function, other: Function) -> bool:
    return (other.library and other.firstlineno == fn.firstlineno > 0 and other.filename == fn.filename
            and other.qualname == fn.qualname)


def splice(call: Inst, here: list[Inst], blocks: list[Block], replace: dict[Value, Value],
           frame: tuple | None = None) -> list[Inst] | None:
    """Append the callee's body at the end of `here`; returns the instruction list that continues after the call.
    frame: the position of the call and the origin of the frame around it, which tracebacks show after that of the
    callee, or None."""
    callee: Function = call.attrs["callee"]
    loc = call.loc if callee.library or callee.flags.frameless else None
    unwind = call.unwind
    body = callee.blocks
    values = dict(zip(callee.params, call.args, strict=True))
    if len(body) == 1 and not any(edge.block is body[0] for edge in body[0].edges()):
        for inst in body[0].insts:
            here.append(clone_inst(inst, values, {}, loc, unwind))
            if frame is not None:
                _note_frame(inst, here[-1], frame, call)
        if here[-1].op is not RETURN:
            return None
        _bind(call, here.pop(), replace)
        return here
    order = reverse_postorder(callee)
    entry = order[0]
    if any(edge.block is entry for block in order for edge in block.edges()):
        # a loop may go back to the entry: its parameters remain parameters
        copies = clone_blocks(order, {}, loc, unwind)
        here.append(Inst(JUMP, loc=call.loc, targets=[Edge(copies[entry], call.args)]))
        blocks.extend(copies.values())
    else:
        copies = clone_blocks(order, values, loc, unwind, into=here)
        blocks.extend(copies[block] for block in order[1:])
    if frame is not None:
        for block, copy in copies.items():
            for inst, new in zip(block.insts, copy.insts[-len(block.insts):], strict=True):
                _note_frame(inst, new, frame, call)
    returns = [copy for copy in copies.values() if copy.insts[-1].op is RETURN]
    if not returns:
        return None
    if len(returns) == 1:
        insts = returns[0].insts
        _bind(call, insts.pop(), replace)
        return insts
    after = Block(f"{callee.name}.end" if not callee.library else "")
    if call.result is not None:
        after.params.append(call.result)
        call.result.inst = None
    for copy in returns:
        ret = copy.insts[-1]
        copy.insts[-1] = Inst(JUMP, loc=ret.loc, targets=[Edge(after, ret.args[:len(after.params)])])
    blocks.append(after)
    return after.insts


def _note_frame(inst: Inst, copy: Inst, frame: tuple, call: Inst) -> None:
    """Let the copy of an instruction of a callee, where it leaves the callee by an exception, add the frame of the call
    to tracebacks."""
    if inst.unwind is None and inst.op.effects & RAISES:
        copy.attrs = {**copy.attrs, "outer": (*inst.attrs.get("outer", ()), frame, *call.attrs.get("outer", ()))}


def _bind(call: Inst, ret: Inst, replace: dict[Value, Value]) -> None:
    if call.result is not None:
        replace[call.result] = ret.args[0]


def put_in(fn: Function, called: list[Function], own: dict[Function, Function]) -> None:
    """Inline the calls of these library functions. own: see `owned`."""
    state: dict[Function, bool] = {}
    for callee in called:
        if callee not in state:
            known = callee.flags.simplified
            _inline(callee, state)
            if not known:  # simplify once what later passes would otherwise simplify in every copy
                gvn.run(callee)
                dce.run(callee)
    _inline_into(fn, state)
    owned(fn, own)


def put_in_kernels(fn: Function, before: set[Function]) -> None:
    """Inline the calls in kernels after nests were written out; kernels are in their final form. before: the functions
    that were called before; a recursive one would bring in nests that nothing writes out."""
    _inline_into(fn, None, before)


def reachable(found: list[Function], own: dict[Function, Function], each: Callable | None = None) -> list[Function]:
    """The functions in `found`, and all that they call. own: see `owned`; each: called first with each of them."""
    own.update((fn, fn) for fn in found)
    for fn in found:  # appended to during the iteration
        if each is not None:
            each(fn)
        found += [callee for callee in owned(fn, own) if callee not in found]
    return found


def owned(fn: Function, own: dict[Function, Function]) -> list[Function]:
    """The callees of `fn`; library functions are replaced by copies that belong to this module, since passes change
    functions in place and library functions are shared. own: library function -> its copy in the module."""
    found: dict[Function, None] = {}
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op is INVOKE:
                callee = inst.attrs["callee"]
                if callee not in own:
                    own[callee] = copy_of(callee) if callee.library else callee
                    own[own[callee]] = own[callee]
                inst.attrs["callee"] = own[callee]
                found[own[callee]] = None
    return list(found)
