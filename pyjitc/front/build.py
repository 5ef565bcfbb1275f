"""Bytecode to generic IR: blocks from jump targets and handler ranges, then abstract interpretation of the value stack.

Locals and stack slots that are live into a block are its parameters (those that turn out to be copies are pruned). An
instruction that may raise inside a protected range gets an edge to the handler; the handler begins with `catch`.
Needs: a function's code.  Gives: SSA, blocks in reverse post-order, a position for every instruction.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ops import control, generic
from ..ops.control import UNBOUND
from . import quirks
from .bytecode import VERSION, decode, exception_ranges
from .prune import prune
from .functions import Prototype

__all__ = ["build"]

NULL = None  # an empty stack slot, as calls use
_TERMINAL = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD",
                       "JUMP_BACKWARD_NO_INTERRUPT"})


def build(proto: Prototype) -> ir.Function:
    """Generic IR of a function; made once for a Prototype."""
    if proto.built is None:
        proto.built = _Builder(proto).run()
    return proto.built


class _Region:
    """A basic block of bytecode. live: names of locals live on entry; bound: names certain to be bound on entry."""

    __slots__ = ("first", "last", "targets", "handler", "blocks", "live", "bound", "shape", "ir", "index")

    def __init__(self, first):
        self.first = first
        self.last = first
        self.targets: list[_Region] = []
        self.handler = None
        self.blocks = ()
        self.live: set[str] = set()
        self.bound: set[str] | None = None
        self.shape = None
        self.ir: ir.Block | None = None


class _Handler:
    """Where exceptions of some instructions go. target: Region or None (leave the function); depth: values kept on the
    stack; lasti: whether an instruction offset is pushed; leave: stack depths of handled exceptions to pop first (3.10)."""

    __slots__ = ("target", "depth", "lasti", "leave", "block")

    def __init__(self, target, depth, lasti, leave=()):
        self.target = target
        self.depth = depth
        self.lasti = lasti
        self.leave = leave
        self.block = None


class _Builder:
    def __init__(self, proto: Prototype):
        self.proto = proto
        self.code = proto.code
        self.instrs = decode(self.code)
        self.at = {x.offset: i for i, x in enumerate(self.instrs)}
        self.booleans: set[ir.Value] = set()
        self.constants: dict[ir.Value, object] = {}
        self.made: dict[ir.Value, tuple] = {}
        self.kwnames: tuple[str, ...] = ()
        self.start = next((x.offset for x in self.instrs if x.name == "RESUME"), 0)  # the cells made before are made by run()
        self.moved = quirks.moved_cells(self.code, self.instrs, self.start)
        self.plain, self.recursive = quirks.plain_cells(self.code, self.instrs, self.moved)
        self.fresh: list[ir.Block] = []
        # Names that an inlined comprehension (3.12) saves, unbound or not, and puts back: every read of them is checked.
        self.cleared = {quirks.local_name(self.code, x.arg) for x in self.instrs if x.name == "LOAD_FAST_AND_CLEAR"}

    # ---------------------------------------------------------------- regions

    def run(self) -> ir.Function:
        code = self.code
        fn = ir.Function(self.proto.qualname, code.co_name, code.co_filename, code.co_firstlineno, self.proto.library)
        if code.co_flags & 0x280:  # coroutine, async generator
            fn.blocks = [self.only_unsupported("an async function")]
            return fn
        if code.co_flags & 0x20:
            fn.attrs["generator"] = True
        self.regions()
        self.liveness()
        self.boundness()
        nparams = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        entry = ir.Block("entry", [ir.Value(None, n) for n in code.co_varnames[:nparams]])
        self.block = entry
        self.loc = self.instrs[0].loc
        self.handler = None
        self.locals = dict(zip(code.co_varnames, entry.params))
        self.cells = {}
        unbound = None
        first = self.order[0]
        for name in first.live:
            if name not in self.locals:
                if unbound is None:
                    unbound = self.emit(control.CONST, (), value=UNBOUND)
                self.locals[name] = unbound
        for name in code.co_cellvars:
            if name not in self.plain and name not in code.co_freevars:
                initial = self.locals.get(name)
                if initial is None:
                    initial = self.emit(control.CONST, (), value=UNBOUND)
                self.cells[name] = self.emit(generic.MAKE_CELL, (initial,), name=name)
        for name in code.co_freevars:
            self.cells[name] = self.emit(generic.FREEVAR, (), name=name)
        for name in self.moved:
            self.locals[name] = self.cells.pop(name)
        self.stack = []
        self.terminate(control.JUMP, (), [self.edge(first)])
        blocks = [entry]
        work = [first]
        done = {first}
        while work:
            region = work.pop()
            self.region(region)
            blocks.append(region.ir)
            for following in [*region.targets, *([region.handler.target] if region.handler and region.handler.target else [])]:
                if following.shape is not None and following not in done:
                    done.add(following)
                    work.append(following)
        fn.blocks = blocks + self.fresh
        prune(fn)
        return fn

    def only_unsupported(self, construct):
        block = ir.Block("entry", [ir.Value(None, n) for n in self.code.co_varnames[:self.code.co_argcount]])
        loc = ir.Loc(self.code.co_firstlineno, 0, -1, -1)
        block.insts = [ir.Inst(generic.UNSUPPORTED, (), {"construct": construct, "hint": "compile the computation and await outside"},
                               None, loc),
                       ir.Inst(control.UNREACHABLE)]
        return block

    def regions(self):
        instrs, at = self.instrs, self.at
        n = len(instrs)
        where = self.handlers()  # one _Handler key per instruction
        leaders = {0}
        for i, x in enumerate(instrs):
            if x.target >= 0 and x.name not in quirks.NOT_JUMPS:
                leaders.add(at[x.target])
                leaders.add(i + 1)
            elif x.name in _TERMINAL:
                leaders.add(i + 1)
            if i and where[i] != where[i - 1]:
                leaders.add(i)
        for key in where:
            if key is not None and key[0] is not None:
                leaders.add(at[key[0]])
        leaders.discard(n)
        starts = sorted(leaders)
        by_first = {i: _Region(i) for i in starts}
        made: dict = {}
        for k, i in enumerate(starts):
            region = by_first[i]
            region.last = last = (starts[k + 1] if k + 1 < len(starts) else n) - 1
            x = instrs[last]
            if x.target >= 0 and x.name not in quirks.NOT_JUMPS:
                region.targets.append(by_first[at[x.target]])
            if x.name not in _TERMINAL and last + 1 < n:
                region.targets.insert(0, by_first[last + 1])
            key = where[i]
            if key is not None:
                handler = made.get(key)
                if handler is None:
                    target = None if key[0] is None else by_first[at[key[0]]]
                    handler = made[key] = _Handler(target, key[1], key[2], key[3])
                region.handler = handler
        seen = {by_first[0]}
        order = []
        stack = [(by_first[0], iter(self.follow(by_first[0])))]
        while stack:
            region, rest = stack[-1]
            for following in rest:
                if following not in seen:
                    seen.add(following)
                    stack.append((following, iter(self.follow(following))))
                    break
            else:
                stack.pop()
                order.append(region)
        self.order = order[::-1]

    @staticmethod
    def follow(region):
        out = list(region.targets)
        if region.handler is not None and region.handler.target is not None:
            out.append(region.handler.target)
        return out

    def handlers(self):
        """Per instruction: None, or (target offset or None, depth, lasti, depths of handled exceptions to leave)."""
        result = [None] * len(self.instrs)
        if VERSION >= (3, 11):
            ranges = exception_ranges(self.code)
            for i, x in enumerate(self.instrs):
                for start, end, target, depth, lasti in ranges:
                    if start <= x.offset < end:
                        result[i] = (target, depth, lasti, ())
                        break
            return result
        return quirks.block_stacks(self.instrs, self.at)

    # ---------------------------------------------------------------- data flow over names

    def accesses(self, x):
        """((name, 'load' | 'store' | 'delete'), ...) of a local variable, cells that are plain values included."""
        return quirks.accesses(self.code, x, self.plain, self.moved)

    def liveness(self):
        uses, defs = {}, {}
        for region in self.order:
            used, defined = set(), set()
            for x in self.instrs[region.first:region.last + 1]:
                for name, how in self.accesses(x):
                    if how == "load":
                        if name not in defined:
                            used.add(name)
                    elif how == "store":
                        defined.add(name)
                    else:  # del reads, to check
                        if name not in defined:
                            used.add(name)
                        defined.add(name)
            uses[region], defs[region] = used, defined
        changed = True
        while changed:
            changed = False
            for region in reversed(self.order):
                out = set()
                for t in region.targets:
                    out |= t.live
                new = uses[region] | (out - defs[region])
                if region.handler is not None and region.handler.target is not None:
                    new |= region.handler.target.live
                if new != region.live:
                    region.live = new
                    changed = True

    def boundness(self):
        code = self.code
        nparams = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        self.order[0].bound = set(code.co_varnames[:nparams])
        work = list(self.order)
        inqueue = set(work)
        while work:
            region = work.pop(0)
            inqueue.discard(region)
            if region.bound is None:
                continue
            bound = set(region.bound)
            lowest = set(bound)
            for x in self.instrs[region.first:region.last + 1]:
                for name, how in self.accesses(x):
                    if how == "store":
                        bound.add(name)
                        if name in self.cleared:
                            bound.discard(name)
                    elif how == "delete":
                        bound.discard(name)
                        lowest.discard(name)
                    elif name not in self.cleared:
                        bound.add(name)  # checked here, so bound after
            for following, state in [*((t, bound) for t in region.targets),
                                     *([(region.handler.target, lowest)] if region.handler and region.handler.target else [])]:
                new = set(state) if following.bound is None else following.bound & state
                if new != following.bound:
                    following.bound = new
                    if following not in inqueue:
                        inqueue.add(following)
                        work.append(following)

    # ---------------------------------------------------------------- emission

    def emit(self, op, args, /, **attrs):
        result = ir.Value()
        self.place(op, args, attrs, result)
        return result

    def do(self, op, args, /, **attrs):
        self.place(op, args, attrs, None)

    def place(self, op, args, attrs, result, targets=()):
        inst = ir.Inst(op, args, attrs, result, self.loc, targets)
        if op.effects & ir.RAISES and self.handler is not None:
            inst.unwind = self.unwind()
        self.block.insts.append(inst)

    def terminate(self, op, args, targets, /, **attrs):
        self.place(op, args, attrs, None, targets)
        self.block = None

    def unwind(self):
        handler = self.handler
        landing = handler.block
        names = sorted(handler.target.live) if handler.target is not None else []
        kept = self.stack[:max([handler.depth, *(d + 1 for d in handler.leave)])]
        if landing is None:
            landing = handler.block = ir.Block("handler")
            self.fresh.append(landing)
            here = self.block, self.handler, self.locals, self.stack
            params = {n: ir.Value(None, n) for n in names}
            slots = [NULL if v is NULL else ir.Value() for v in kept]
            landing.params = [*params.values(), *(v for v in slots if v is not NULL)]
            self.block, self.handler, self.locals = landing, None, params
            exc = self.emit(generic.CATCH, ())
            for depth in handler.leave:
                self.do(generic.EXC_LEAVE, (slots[depth],))
            self.stack = slots[:handler.depth]
            if handler.target is None:
                self.terminate(control.RERAISE, (exc,), ())
            else:
                quirks.enter_handler(self, exc, handler.lasti, self.stack)
                self.terminate(control.JUMP, (), [self.edge(handler.target)])
            self.block, self.handler, self.locals, self.stack = here
        return ir.Edge(landing, [*(self.locals[n] for n in names), *(v for v in kept if v is not NULL)])

    def edge(self, region: _Region, stack=None):
        stack = self.stack if stack is None else stack
        if region.shape is None:
            region.shape = [v is NULL for v in stack]
            region.ir = ir.Block(f"b{self.instrs[region.first].offset}",
                                 [ir.Value(None, n) for n in sorted(region.live)] + [ir.Value() for v in stack if v is not NULL])
        return ir.Edge(region.ir, [*(self.locals[n] for n in sorted(region.live)), *(v for v in stack if v is not NULL)])

    def region(self, region: _Region):
        self.block = region.ir
        self.handler = region.handler
        names = sorted(region.live)
        params = region.ir.params
        self.locals = dict(zip(names, params))
        slots = iter(params[len(names):])
        self.stack = [NULL if empty else next(slots) for empty in region.shape]
        self.bound = set(region.bound)
        self.region_ = region
        instrs = self.instrs
        for i in range(region.first, region.last + 1):
            x = instrs[i]
            self.loc = x.loc
            handle = _HANDLERS.get(x.name)
            if handle is None:
                construct = quirks.CONSTRUCTS.get(x.name, f"the bytecode {x.name}")
                self.unsupported(construct, quirks.HINTS.get(construct, ""))
            else:
                handle(self, x)
            if self.block is None:
                return
        self.terminate(control.JUMP, (), [self.edge(region.targets[0])])

    def unsupported(self, construct, hint=""):
        self.do(generic.UNSUPPORTED, (), construct=construct, hint=hint)
        self.terminate(control.UNREACHABLE, (), ())

    # ---------------------------------------------------------------- names

    def load_local(self, name):
        value = self.locals[name]
        if name not in self.bound:
            value = self.emit(generic.CHECK_BOUND, (value,), name=name)
            value.name = name
            self.locals[name] = value
            if name not in self.cleared:
                self.bound.add(name)
        return value

    def store_local(self, name, value):
        if not value.name:
            value.name = name
        self.locals[name] = value
        self.bound.add(name)

    def load_cell(self, name):
        if name in self.plain:
            return self.load_local(name)
        return self.emit(generic.CELL_GET, (self.cell(name),), name=name, free=name in self.code.co_freevars)

    def cell(self, name):
        """What a closure captures: the cell, or the value of a variable that never changes again."""
        if name in self.plain:
            return self.locals.get(name) or self.constant(UNBOUND)
        return self.locals[name] if name in self.moved else self.cells[name]

    def closure(self, layout):
        """The closure of a function that refers to itself or to functions made later."""
        return self.emit(generic.TUPLE, [self.cell(name) if marker is None else self.constant(marker) for name, marker in layout])

    def constant(self, value):
        result = self.emit(control.CONST, (), value=value)
        self.constants[result] = value
        return result

    # ---------------------------------------------------------------- instructions

    def push(self, value):
        self.stack.append(value)

    def pops(self, n):
        if not n:
            return []
        out = self.stack[-n:]
        del self.stack[-n:]
        return out

    def condition(self, value):
        if value in self.booleans:
            return value
        result = self.emit(generic.TRUTH, (value,))
        self.booleans.add(result)
        return result

    def truth_of(self, op, args, /, **attrs):
        result = self.emit(op, args, **attrs)
        self.booleans.add(result)
        return result

    def branch(self, condition, yes, no, yes_stack=None, no_stack=None):
        """To regions `yes` and `no`."""
        self.terminate(control.BRANCH, (condition,), [self.edge(yes, yes_stack), self.edge(no, no_stack)])

    def nop(self, x):
        pass

    def load_const(self, x):
        self.push(self.constant(self.code.co_consts[x.arg]))

    def load_fast(self, x):
        name = quirks.local_name(self.code, x.arg)
        if name in self.cells or name in self.moved or name in self.plain and name not in self.code.co_varnames:
            self.push(self.cell(name))  # LOAD_CLOSURE under another name
        else:
            self.push(self.load_local(name))

    def load_fast_and_clear(self, x):
        name = quirks.local_name(self.code, x.arg)
        value = self.locals.get(name)
        self.push(value if value is not None else self.constant(UNBOUND))
        self.locals[name] = self.constant(UNBOUND)
        self.bound.discard(name)

    def load_fast_load_fast(self, x):
        for arg in (x.arg >> 4, x.arg & 15):
            self.push(self.load_local(quirks.local_name(self.code, arg)))

    def store_fast_load_fast(self, x):
        self.store_local(quirks.local_name(self.code, x.arg >> 4), self.stack.pop())
        self.push(self.load_local(quirks.local_name(self.code, x.arg & 15)))

    def store_fast_store_fast(self, x):
        for arg in (x.arg >> 4, x.arg & 15):
            self.store_local(quirks.local_name(self.code, arg), self.stack.pop())

    def store_fast(self, x):
        name, value = quirks.local_name(self.code, x.arg), self.stack.pop()
        if value in self.constants and self.constants[value] is UNBOUND:
            self.locals[name] = value
            self.bound.discard(name)
        else:
            self.store_local(name, value)
            if name in self.cleared:
                self.bound.discard(name)

    def delete_fast(self, x):
        name = quirks.local_name(self.code, x.arg)
        self.load_local(name)
        self.locals[name] = self.constant(UNBOUND)
        self.bound.discard(name)

    def load_global(self, x):
        index = x.arg >> 1 if VERSION >= (3, 11) else x.arg
        value = self.emit(generic.GLOBAL, (), name=self.code.co_names[index])
        quirks.push_callable(self, value, VERSION >= (3, 11) and x.arg & 1)

    def store_global(self, x):
        self.unsupported("assigning to a global variable", "return the value, or write into a global array")

    def load_deref(self, x):
        self.push(self.load_cell(quirks.cell_name(self.code, x.arg)))

    def store_deref(self, x):
        name = quirks.cell_name(self.code, x.arg)
        value = self.stack.pop()
        if name in self.plain:
            self.store_local(name, value)
        else:
            self.do(generic.CELL_SET, (self.cell(name), value), name=name)

    def delete_deref(self, x):
        name = quirks.cell_name(self.code, x.arg)
        self.load_cell(name)
        self.do(generic.CELL_SET, (self.cell(name), self.constant(UNBOUND)), name=name)

    def make_cell(self, x):
        name = quirks.cell_name(self.code, x.arg)
        if name in self.moved and x.offset > self.start:
            self.locals[name] = self.emit(generic.MAKE_CELL, (self.locals[name],), name=name)

    def load_closure(self, x):
        self.push(self.cell(quirks.cell_name(self.code, x.arg)))

    def binary_op(self, x):
        a, b = self.pops(2)
        inplace, symbol = quirks.binary(x)
        self.push(self.emit(generic.INPLACE if inplace else generic.BINARY, (a, b), op=symbol))

    def unary(self, x):
        symbol = {"UNARY_NEGATIVE": "-", "UNARY_POSITIVE": "+", "UNARY_INVERT": "~", "UNARY_NOT": "not"}[x.name]
        value = self.stack.pop()
        if symbol == "not":
            self.push(self.truth_of(generic.UNARY, (value,), op="not"))
        else:
            self.push(self.emit(generic.UNARY, (value,), op=symbol))

    def to_bool(self, x):
        self.push(self.condition(self.stack.pop()))

    def compare_op(self, x):
        a, b = self.pops(2)
        symbol, test = quirks.comparison(x.arg)
        result = self.emit(generic.COMPARE, (a, b), op=symbol)
        self.push(self.condition(result) if test else result)

    def is_op(self, x):
        self.push(self.truth_of(generic.COMPARE, self.pops(2), op="is not" if x.arg else "is"))

    def contains_op(self, x):
        self.push(self.truth_of(generic.COMPARE, self.pops(2), op="not in" if x.arg else "in"))

    def subscript(self, x):
        self.push(self.emit(generic.GETITEM, self.pops(2)))

    def store_subscript(self, x):
        value, container, index = self.pops(3)
        self.do(generic.SETITEM, (container, index, value))

    def delete_subscript(self, x):
        self.do(generic.DELITEM, self.pops(2))

    def binary_slice(self, x):
        container, start, stop = self.pops(3)
        index = self.emit(generic.SLICE, (start, stop, self.constant(None)))
        self.push(self.emit(generic.GETITEM, (container, index)))

    def store_slice(self, x):
        value, container, start, stop = self.pops(4)
        index = self.emit(generic.SLICE, (start, stop, self.constant(None)))
        self.do(generic.SETITEM, (container, index, value))

    def build_slice(self, x):
        parts = self.pops(x.arg)
        if x.arg == 2:
            parts.append(self.constant(None))
        self.push(self.emit(generic.SLICE, parts))

    # jumps

    def poll(self, x):
        """CPython looks at signals on jumps back: inside `try`, the handlers see the interrupt."""
        if self.handler is not None and x.target <= x.offset:
            self.do(generic.POLL, ())

    def jump(self, x):
        self.poll(x)
        self.terminate(control.JUMP, (), [self.edge(self.region_.targets[-1])])

    def pop_jump(self, x):
        following, target = self.region_.targets
        value = self.stack.pop()
        self.poll(x)
        if "NONE" in x.name:
            value = self.truth_of(generic.COMPARE, (value, self.constant(None)), op="is")
            jump_on = "NOT_NONE" not in x.name
        else:
            value = self.condition(value)
            jump_on = "IF_TRUE" in x.name
        self.branch(value, *((target, following) if jump_on else (following, target)))

    def jump_or_pop(self, x):
        following, target = self.region_.targets
        condition = self.condition(self.stack[-1])
        kept, popped = list(self.stack), self.stack[:-1]
        if "IF_TRUE" in x.name:
            self.branch(condition, target, following, kept, popped)
        else:
            self.branch(condition, following, target, popped, kept)

    def for_iter(self, x):
        following, target = self.region_.targets
        step = self.emit(generic.NEXT, (self.stack[-1],))
        has = self.truth_of(generic.ELEMENT, (step,), index=0)
        rest = self.stack[:-1]
        ended = list(rest)
        if VERSION >= (3, 12):
            ended += [self.stack[-1], self.constant(None)]
        # item and state have a meaning only where there is an item
        body = ir.Block("item", ())
        self.fresh.append(body)
        out = self.edge(target, ended)
        self.terminate(control.BRANCH, (has,), [ir.Edge(body), out])
        self.block = body
        item = self.emit(generic.ELEMENT, (step,), index=1)
        state = self.emit(generic.ELEMENT, (step,), index=2)
        self.stack = [*rest, state, item]
        self.terminate(control.JUMP, (), [self.edge(following)])

    def end_for(self, x):
        self.pops(2 if VERSION < (3, 13) else 1)

    def get_iter(self, x):
        self.push(self.emit(generic.ITER, (self.stack.pop(),)))

    # stack

    def pop_top(self, x):
        self.stack.pop()

    def rotate(self, x):
        n = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4}.get(x.name) or x.arg
        self.stack.insert(len(self.stack) - n, self.stack.pop())

    def dup_top(self, x):
        self.push(self.stack[-1])

    def dup_top_two(self, x):
        self.stack += self.stack[-2:]

    def copy(self, x):
        self.push(self.stack[-x.arg])

    def swap(self, x):
        s = self.stack
        s[-1], s[-x.arg] = s[-x.arg], s[-1]

    def push_null(self, x):
        self.push(NULL)

    # building

    def build(self, x):
        op = {"BUILD_TUPLE": generic.TUPLE, "BUILD_LIST": generic.LIST, "BUILD_SET": generic.SET, "BUILD_STRING": generic.STRING}[x.name]
        self.push(self.emit(op, self.pops(x.arg)))

    def build_map(self, x):
        self.push(self.emit(generic.DICT, self.pops(2 * x.arg)))

    def build_const_key_map(self, x):
        keys = self.constants[self.stack.pop()]
        values = self.pops(x.arg)
        self.push(self.emit(generic.DICT, [v for k, value in zip(keys, values) for v in (self.constant(k), value)]))

    def list_extend(self, x):
        value = self.stack.pop()
        self.stack[-x.arg] = self.emit(generic.LIST_EXTEND, (self.stack[-x.arg], value))

    def list_append(self, x):
        value = self.stack.pop()
        if x.arg == 1:  # `[*a, b]`; in a comprehension the iterator lies above the list
            value = self.emit(generic.TUPLE, (value,))
            self.stack[-1] = self.emit(generic.LIST_EXTEND, (self.stack[-1], value))
            return
        self.do(generic.LIST_APPEND, (self.stack[-x.arg], value))

    def set_add(self, x):
        value = self.stack.pop()
        self.do(generic.SET_ADD, (self.stack[-x.arg], value))

    def map_add(self, x):
        key, value = self.pops(2)
        self.do(generic.DICT_SET, (self.stack[-x.arg], key, value))

    def dict_merge(self, x):
        value = self.stack.pop()
        self.stack[-x.arg] = self.emit(generic.DICT_MERGE, (self.stack[-x.arg], value), unique=x.name == "DICT_MERGE")

    def list_to_tuple(self, x):
        self.push(self.emit(generic.LIST_TO_TUPLE, (self.stack.pop(),)))

    def intrinsic_1(self, x):
        if x.arg == 6:
            self.list_to_tuple(x)
        elif x.arg == 5:
            self.push(self.emit(generic.UNARY, (self.stack.pop(),), op="+"))
        elif x.arg != 3:  # 3: StopIteration leaving a generator
            self.unsupported("this construct")

    def format_value(self, x):
        spec = self.stack.pop() if x.arg & 4 else self.constant(None)
        value = self.stack.pop()
        self.push(self.emit(generic.FORMAT, (value, spec), conversion=("", "s", "r", "a")[x.arg & 3]))

    def convert_value(self, x):
        self.push(self.emit(generic.FORMAT, (self.stack.pop(), self.constant(None)), conversion=("", "s", "r", "a")[x.arg]))

    def format_simple(self, x):
        self.push(self.emit(generic.FORMAT, (self.stack.pop(), self.constant(None)), conversion=""))

    def format_with_spec(self, x):
        value, spec = self.pops(2)
        self.push(self.emit(generic.FORMAT, (value, spec), conversion=""))

    def unpack_sequence(self, x):
        parts = self.emit(generic.UNPACK, (self.stack.pop(),), count=x.arg)
        for k in range(x.arg - 1, -1, -1):
            self.push(self.emit(generic.ELEMENT, (parts,), index=k))

    def unpack_ex(self, x):
        before, after = x.arg & 255, x.arg >> 8
        parts = self.emit(generic.UNPACK_EX, (self.stack.pop(),), before=before, after=after)
        for k in range(before + after, -1, -1):
            self.push(self.emit(generic.ELEMENT, (parts,), index=k))

    # attributes and calls

    def load_attr(self, x):
        index, method = (x.arg >> 1, x.arg & 1) if VERSION >= (3, 12) else (x.arg, 0)
        value = self.emit(generic.GETATTR, (self.stack.pop(),), name=self.code.co_names[index])
        quirks.push_callable(self, value, method)

    def load_method(self, x):
        value = self.emit(generic.GETATTR, (self.stack.pop(),), name=self.code.co_names[x.arg])
        self.stack += [NULL, value]

    def store_attr(self, x):
        value, holder = self.pops(2)
        self.do(generic.SETATTR, (holder, value), name=self.code.co_names[x.arg])

    def delete_attr(self, x):
        self.do(generic.DELATTR, (self.stack.pop(),), name=self.code.co_names[x.arg])

    def kw_names(self, x):
        self.kwnames = self.code.co_consts[x.arg]

    def call(self, x):
        args = self.pops(x.arg)
        a, b = self.pops(2)
        callee, first = (a, b) if VERSION >= (3, 13) else (b, a) if a is NULL else (a, b)
        if first is not NULL:
            args.insert(0, first)
        self.push(self.emit(generic.CALL, (callee, *args), kwnames=self.kwnames))
        self.kwnames = ()

    def call_kw(self, x):
        self.kwnames = self.constants[self.stack.pop()]
        self.call(x)

    def call_function(self, x):
        names = self.constants[self.stack.pop()] if x.name == "CALL_FUNCTION_KW" else ()
        args = self.pops(x.arg)
        callee = self.stack.pop()
        if x.name == "CALL_METHOD":
            self.stack.pop()
        self.push(self.emit(generic.CALL, (callee, *args), kwnames=names))

    def call_function_ex(self, x):
        kwargs = [self.stack.pop()] if x.arg & 1 else []
        args = self.stack.pop()
        if VERSION >= (3, 13):
            self.stack.pop()
        callee = self.stack.pop()
        if (3, 11) <= VERSION < (3, 13):
            self.stack.pop()
        self.push(self.emit(generic.CALL_STAR, (callee, args, *kwargs), kwargs=bool(kwargs)))

    def make_function(self, x):
        if VERSION < (3, 11):
            qualname = self.constants[self.stack.pop()]
        code = self.constants[self.stack.pop()]
        if VERSION >= (3, 11):
            qualname = code.co_qualname
        roles = {}
        if VERSION < (3, 13):
            for bit, role in ((8, "closure"), (4, "annotations"), (2, "kwdefaults"), (1, "defaults")):
                if x.arg & bit:
                    roles[role] = self.stack.pop()
        self.push(self.function(code, qualname, roles))

    def function(self, code, qualname, roles):
        layout = self.recursive.get(id(code))
        if layout is not None and "closure" in roles:
            roles["closure"] = self.closure(layout)
        order = tuple(r for r in ("defaults", "kwdefaults", "annotations", "closure") if r in roles)
        value = self.emit(generic.MAKE_FUNCTION, [roles[r] for r in order], code=code, qualname=qualname, has=order)
        self.made[value] = (code, qualname, roles)
        return value

    def set_function_attribute(self, x):
        part, function = self.pops(2)
        code, qualname, roles = self.made[function]
        role = {1: "defaults", 2: "kwdefaults", 4: "annotations", 8: "closure"}[x.arg]
        self.push(self.function(code, qualname, {**roles, role: part}))

    def return_value(self, x):
        self.terminate(control.RETURN, (self.stack.pop(),), ())

    def return_const(self, x):
        self.terminate(control.RETURN, (self.constant(self.code.co_consts[x.arg]),), ())

    def yield_value(self, x):
        self.push(self.emit(generic.YIELD, (self.stack.pop(),)))

    def return_generator(self, x):
        if VERSION >= (3, 11):
            self.push(self.constant(None))

    # exceptions

    def raise_varargs(self, x):
        if x.arg == 0:
            self.terminate(control.RERAISE, (), ())
        else:
            self.terminate(control.RAISE, self.pops(x.arg), ())

    def reraise(self, x):
        if VERSION < (3, 11):
            exc = self.pops(3)[1]
        else:
            exc = self.stack.pop()
        self.terminate(control.RERAISE, (exc,), ())

    def push_exc_info(self, x):
        exc = self.stack.pop()
        self.stack += [self.emit(generic.EXC_ENTER, (exc,)), exc]

    def before_with(self, x):
        manager = self.stack.pop()
        leave = self.emit(generic.GETATTR, (manager,), name="__exit__")
        enter = self.emit(generic.GETATTR, (manager,), name="__enter__")
        self.stack.append(leave)
        self.push(self.emit(generic.CALL, (enter,), kwnames=()))

    def with_except_start(self, x):
        """__exit__(None, exception, None): no context manager that is compiled looks at the class or the traceback."""
        leave, exc = (self.stack[-7], self.stack[-2]) if VERSION < (3, 11) else (self.stack[-4], self.stack[-1])
        nothing = self.constant(None)
        self.push(self.emit(generic.CALL, (leave, nothing, exc, nothing), kwnames=()))

    def pop_except(self, x):
        previous = self.pops(3)[0] if VERSION < (3, 11) else self.stack.pop()
        self.do(generic.EXC_LEAVE, (previous,))

    def check_exc_match(self, x):
        cls = self.stack.pop()
        self.push(self.truth_of(generic.EXC_MATCH, (self.stack[-1], cls)))

    def jump_if_not_exc_match(self, x):
        following, target = self.region_.targets
        exc, cls = self.pops(2)
        self.branch(self.truth_of(generic.EXC_MATCH, (exc, cls)), following, target)

    def load_assertion_error(self, x):
        self.push(self.emit(generic.BUILTIN, (), name="AssertionError"))

    def import_name(self, x):
        level, names = self.pops(2)
        self.push(self.emit(generic.IMPORT, (), name=self.code.co_names[x.arg], level=self.constants.get(level, 0),
                            fromlist=self.constants.get(names)))

    def import_from(self, x):
        self.push(self.emit(generic.IMPORT_FROM, (self.stack[-1],), name=self.code.co_names[x.arg]))

    # match

    def get_len(self, x):
        self.push(self.emit(generic.LENGTH, (self.stack[-1],)))

    def match_sequence(self, x):
        self.push(self.truth_of(generic.MATCH_SEQUENCE, (self.stack[-1],)))

    def match_mapping(self, x):
        self.push(self.truth_of(generic.MATCH_MAPPING, (self.stack[-1],)))

    def match_keys(self, x):
        found = self.emit(generic.MATCH_KEYS, self.stack[-2:])
        self.push(found)
        if VERSION < (3, 11):
            self.push(self.truth_of(generic.COMPARE, (found, self.constant(None)), op="is not"))

    def match_class(self, x):
        subject, cls, names = self.pops(3)
        found = self.emit(generic.MATCH_CLASS, (subject, cls), count=x.arg, kwnames=self.constants[names])
        self.push(found)
        if VERSION < (3, 11):
            self.push(self.truth_of(generic.COMPARE, (found, self.constant(None)), op="is not"))


_B = _Builder
_HANDLERS = {
    **dict.fromkeys(("NOP", "RESUME", "PRECALL", "CACHE", "GEN_START", "COPY_FREE_VARS", "SETUP_FINALLY", "POP_BLOCK",
                     "NOT_TAKEN"), _B.nop),
    "LOAD_CONST": _B.load_const, "LOAD_FAST": _B.load_fast, "LOAD_FAST_CHECK": _B.load_fast, "LOAD_FAST_BORROW": _B.load_fast,
    "LOAD_FAST_AND_CLEAR": _B.load_fast_and_clear, "LOAD_FAST_LOAD_FAST": _B.load_fast_load_fast,
    "STORE_FAST_LOAD_FAST": _B.store_fast_load_fast, "STORE_FAST_STORE_FAST": _B.store_fast_store_fast,
    "STORE_FAST": _B.store_fast, "DELETE_FAST": _B.delete_fast, "LOAD_GLOBAL": _B.load_global, "STORE_GLOBAL": _B.store_global,
    "DELETE_GLOBAL": _B.store_global, "LOAD_DEREF": _B.load_deref, "STORE_DEREF": _B.store_deref, "DELETE_DEREF": _B.delete_deref,
    "MAKE_CELL": _B.make_cell, "LOAD_CLOSURE": _B.load_closure, "BINARY_OP": _B.binary_op, "TO_BOOL": _B.to_bool, "COMPARE_OP": _B.compare_op,
    "IS_OP": _B.is_op, "CONTAINS_OP": _B.contains_op, "BINARY_SUBSCR": _B.subscript, "STORE_SUBSCR": _B.store_subscript,
    "DELETE_SUBSCR": _B.delete_subscript, "BINARY_SLICE": _B.binary_slice, "STORE_SLICE": _B.store_slice,
    "BUILD_SLICE": _B.build_slice, "JUMP_FORWARD": _B.jump, "JUMP_ABSOLUTE": _B.jump, "JUMP_BACKWARD": _B.jump,
    "JUMP_BACKWARD_NO_INTERRUPT": _B.jump, "JUMP_IF_TRUE_OR_POP": _B.jump_or_pop, "JUMP_IF_FALSE_OR_POP": _B.jump_or_pop,
    "FOR_ITER": _B.for_iter, "END_FOR": _B.end_for, "GET_ITER": _B.get_iter, "POP_TOP": _B.pop_top, "POP_ITER": _B.pop_top,
    **dict.fromkeys(("ROT_TWO", "ROT_THREE", "ROT_FOUR", "ROT_N"), _B.rotate), "DUP_TOP": _B.dup_top, "DUP_TOP_TWO": _B.dup_top_two,
    "COPY": _B.copy, "SWAP": _B.swap, "PUSH_NULL": _B.push_null,
    **dict.fromkeys(("BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_STRING"), _B.build), "BUILD_MAP": _B.build_map,
    "BUILD_CONST_KEY_MAP": _B.build_const_key_map, "LIST_EXTEND": _B.list_extend, "LIST_APPEND": _B.list_append,
    "SET_ADD": _B.set_add, "MAP_ADD": _B.map_add, "DICT_MERGE": _B.dict_merge, "DICT_UPDATE": _B.dict_merge,
    "LIST_TO_TUPLE": _B.list_to_tuple, "CALL_INTRINSIC_1": _B.intrinsic_1, "FORMAT_VALUE": _B.format_value,
    "CONVERT_VALUE": _B.convert_value, "FORMAT_SIMPLE": _B.format_simple, "FORMAT_WITH_SPEC": _B.format_with_spec,
    "UNPACK_SEQUENCE": _B.unpack_sequence, "UNPACK_EX": _B.unpack_ex, "LOAD_ATTR": _B.load_attr, "LOAD_METHOD": _B.load_method,
    "STORE_ATTR": _B.store_attr, "DELETE_ATTR": _B.delete_attr, "KW_NAMES": _B.kw_names, "CALL": _B.call, "CALL_KW": _B.call_kw,
    **dict.fromkeys(("CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL_METHOD"), _B.call_function), "CALL_FUNCTION_EX": _B.call_function_ex,
    "MAKE_FUNCTION": _B.make_function, "SET_FUNCTION_ATTRIBUTE": _B.set_function_attribute, "RETURN_VALUE": _B.return_value,
    "RETURN_CONST": _B.return_const, "YIELD_VALUE": _B.yield_value, "RETURN_GENERATOR": _B.return_generator,
    "RAISE_VARARGS": _B.raise_varargs, "RERAISE": _B.reraise, "PUSH_EXC_INFO": _B.push_exc_info, "POP_EXCEPT": _B.pop_except,
    "BEFORE_WITH": _B.before_with, "SETUP_WITH": _B.before_with, "WITH_EXCEPT_START": _B.with_except_start,
    "CHECK_EXC_MATCH": _B.check_exc_match, "JUMP_IF_NOT_EXC_MATCH": _B.jump_if_not_exc_match,
    "LOAD_ASSERTION_ERROR": _B.load_assertion_error, "IMPORT_NAME": _B.import_name, "IMPORT_FROM": _B.import_from,
    "GET_LEN": _B.get_len, "MATCH_SEQUENCE": _B.match_sequence, "MATCH_MAPPING": _B.match_mapping, "MATCH_KEYS": _B.match_keys,
    "MATCH_CLASS": _B.match_class, **dict.fromkeys(("UNARY_NEGATIVE", "UNARY_POSITIVE", "UNARY_INVERT", "UNARY_NOT"), _B.unary),
    **{name: _B.pop_jump for name in quirks.POP_JUMPS}, **{name: _B.binary_op for name in quirks.OLD_BINARY},
}
