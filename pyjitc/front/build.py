"""Bytecode to generic IR: blocks from jump targets and handler ranges, then abstract interpretation of the value stack.

Locals and stack slots that are live into a block are its parameters (those that turn out to be copies are pruned). An
instruction inside a protected range that may raise gets an edge to the handler; the handler begins with `catch`.
Needs: a function's code.  Gives: SSA, blocks in reverse post-order, a position for every instruction.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ops import control, generic
from ..ops.control import UNBOUND
from . import quirks
from .bytecode import VERSION, decode, exception_ranges
from .opcodes import NULL, handler_of
from .prune import prune
from .functions import Prototype

__all__ = ["build"]

_TERMINAL = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_ABSOLUTE",
                       "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})


def build(proto: Prototype, as_objects=frozenset()) -> ir.Function:
    """Generic IR of a function, made once for each Prototype and choice of `as_objects`: the code of local functions
    that call each other and whose variables are cells nevertheless."""
    inner = as_objects and as_objects.intersection(proto.code.co_consts)
    if not inner:
        if proto.built is None:
            proto.built = _Builder(proto).run()
        return proto.built
    if inner not in proto.built_with:
        proto.built_with[inner] = _Builder(proto, inner).run()
    return proto.built_with[inner]


class _Region:
    """A basic block of bytecode. touched: accesses to locals, in order; live: names that are live on entry; bound:
    names that are certainly bound on entry."""

    __slots__ = ("first", "last", "targets", "handler", "blocks", "touched", "live", "bound", "shape", "ir", "index")

    def __init__(self, first):
        self.first = first
        self.last = first
        self.targets: list[_Region] = []
        self.handler = None
        self.blocks = ()
        self.touched: list[tuple[str, str]] = []
        self.live: set[str] = set()
        self.bound: set[str] | None = None
        self.shape = None
        self.ir: ir.Block | None = None


class _Handler:
    """The handler of some instructions. target: Region or None (leave the function); depth: number of values that stay
    on the stack; lasti: whether an instruction offset is pushed; leave: stack depths of handled exceptions to pop first
    (3.10)."""

    __slots__ = ("target", "depth", "lasti", "leave", "block")

    def __init__(self, target, depth, lasti, leave=()):
        self.target = target
        self.depth = depth
        self.lasti = lasti
        self.leave = leave
        self.block = None


class _Builder:
    def __init__(self, proto: Prototype, as_objects=frozenset()):
        self.proto = proto
        self.code = proto.code
        self.instrs = decode(self.code)
        self.at = {x.offset: i for i, x in enumerate(self.instrs)}
        self.booleans: set[ir.Value] = set()
        self.constants: dict[ir.Value, object] = {}
        self.extensible: set[ir.Value] = set()  # the dict displays whose keys are constants
        self.made: dict[ir.Value, tuple] = {}
        self.kwnames: tuple[str, ...] = ()
        # earlier cells are made by run()
        self.start = next((x.offset for x in self.instrs if x.name == "RESUME"), 0)
        quirks.name_closures(self.code, self.instrs, self.start)
        self.moved = quirks.moved_cells(self.code, self.instrs, self.start)
        self.plain, self.recursive = quirks.plain_cells(self.code, self.instrs, self.moved, as_objects)
        self.fresh: list[ir.Block] = []
        # Names that an inlined comprehension (3.12) saves, bound or not, and restores: every read of them is checked.
        self.cleared = {quirks.local_name(self.code, x.arg) for x in self.instrs if x.name == "LOAD_FAST_AND_CLEAR"}

    # ---------------------------------------------------------------- regions

    def run(self) -> ir.Function:
        code = self.code
        fn = ir.Function(self.proto.qualname, code.co_name, code.co_filename, code.co_firstlineno, self.proto.library)
        if code.co_flags & 0x280:  # coroutine, async generator
            fn.blocks = [self.only_unsupported("an async function")]
            return fn
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
        rebound = quirks.rebound_names(code) if code.co_freevars else ()
        for name in code.co_freevars:
            self.cells[name] = self.emit(generic.FREEVAR, (), name=name, rebound=name in rebound)
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
            for following in [*region.targets,
                              *([region.handler.target] if region.handler and region.handler.target else [])]:
                if following.shape is not None and following not in done:
                    done.add(following)
                    work.append(following)
        fn.blocks = blocks + self.fresh
        prune(fn)
        return fn

    def only_unsupported(self, construct):
        block = ir.Block("entry", [ir.Value(None, n) for n in self.code.co_varnames[:self.code.co_argcount]])
        loc = ir.Loc(self.code.co_firstlineno, 0, -1, -1)
        block.insts = [ir.Inst(generic.UNSUPPORTED, (),
                               {"construct": construct, "hint": "compile the computation and await outside"}, None,
                               loc),
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
        """For each instruction None, or (target offset or None, depth, lasti, depths of handled exceptions to
        leave)."""
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
        """((name, 'load' | 'take' | 'store' | 'delete'), ...) for the accesses to local variables, and to cells that
        are plain values: closures take these, bound or not."""
        return quirks.accesses(self.code, x, self.plain, self.moved)

    def liveness(self):
        uses, defs = {}, {}
        for region in self.order:
            used, defined = set(), set()
            for x in self.instrs[region.first:region.last + 1]:
                region.touched += self.accesses(x)
            for name, how in region.touched:
                if how != "store" and name not in defined:  # del reads the variable, to check it
                    used.add(name)
                if how == "store" or how == "delete":
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
            for name, how in region.touched:
                if how == "store":
                    bound.add(name)
                    if name in self.cleared:
                        bound.discard(name)
                elif how == "delete":
                    bound.discard(name)
                    lowest.discard(name)
                elif how == "load" and name not in self.cleared:
                    bound.add(name)  # the access checks that it is bound, so that it is bound afterwards
            for following, state in [*((t, bound) for t in region.targets),
                                     *([(region.handler.target, lowest)] if region.handler and region.handler.target
                                       else [])]:
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
                                 [ir.Value(None, n) for n in sorted(region.live)]
                                 + [ir.Value() for v in stack if v is not NULL])
        return ir.Edge(region.ir,
                       [*(self.locals[n] for n in sorted(region.live)), *(v for v in stack if v is not NULL)])

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
            handle = handler_of(x.name)
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
        """The value that a closure captures: the cell, or the value itself where the variable never changes again."""
        if name in self.plain:
            return self.locals.get(name) or self.constant(UNBOUND)
        return self.locals[name] if name in self.moved else self.cells[name]

    def closure(self, layout):
        """Make the closure of a function that refers to itself or to functions that are made later."""
        return self.emit(generic.TUPLE,
                         [self.cell(name) if marker is None else self.constant(marker) for name, marker in layout])

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
        """Emit a branch to the regions `yes` and `no`."""
        self.terminate(control.BRANCH, (condition,), [self.edge(yes, yes_stack), self.edge(no, no_stack)])
