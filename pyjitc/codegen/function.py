"""Typed IR to LLVM text: one function, its blocks, its parameters, and the exits when an instruction fails.

A native function returns an i32 status, 0 for success, with up to two components of its result beside it; larger
results go through a first pointer parameter. Where an instruction may raise, its failure leaves through a cold block: a
traceback entry, the releases in `cleanup`, then the handler or the return of 1.
"""
from __future__ import annotations

from contextlib import contextmanager

from ..base.lazy import lazy
from ..ir import core as ir
from ..ir.cfg import is_straight, reverse_postorder
from ..ops import control
from ..ops.exceptions import EXC_MATCH
from ..ops.memory import (
    CELL_LOAD, CELL_STORE, POLL, RELEASE, RETAIN, count_references, effects_of, holds_object,
)
from ..runtime.thunks import PLACE, PLACES, position_table
from ..types.kinds import Array
from .emitter import Emitter, native_result
from .leaves import components
from .module import Module

exits = lazy(f"{__package__}.exits")  # only functions that hold references where they may fail load it
regions = lazy(f"{__package__}.regions")  # only programs with parallel loops load it
wide = lazy(f"{__package__}.wide")  # only functions with loops over arrays load it

__all__ = ["CheckingEmitter", "FunctionEmitter"]

_RELEASES = 40  # the most instructions that release something in a function in which each release is inlined


class FunctionEmitter(Emitter):
    """Emits one typed function."""

    widens = True  # whether simple loops may be written in vectors (wide.py)
    traced = True  # whether failures have an entry in tracebacks for the frame that they leave

    def __init__(self, module: Module, fn: ir.Function):
        super().__init__(module)
        self.entry_point = not module.added
        module.added = True
        self.fn = fn
        self.crowded = _RELEASES < sum(inst.op is RELEASE for block in fn.blocks for inst in block.insts)
        self.values: dict[ir.Value, list[str]] = {}
        self.names: dict[ir.Block, str] = {}
        self.fails: dict[tuple, str] = {}
        self.exits = None  # made where an instruction that may fail holds references
        self.leaves: dict[int, str] = {}  # node of `exits` -> the block that starts there
        # (name, file) of the function of a traceback entry -> numbers of its source locations
        self.places: dict[tuple[str, str], dict[ir.Loc, int]] = {}
        self.arrivals: dict[ir.Block, list] = {}
        self.polled = False
        self.wide: str | None = None  # the text of the function with loops in vectors, where it has one
        # the state that releases the interpreter lock, which the current instruction has taken
        self.held: str | None = None

    def run(self) -> str:
        fn, module = self.fn, self.module
        self.returned, in_memory = native_result(fn)
        params = ["ptr noalias %ret"] if in_memory else []
        for i, p in enumerate(fn.params):
            names = []
            for j, c in enumerate(components(p.type)):
                name = f"%p{i}.{j}"
                names.append(name)
                extent = isinstance(p.type, Array) and 2 <= j < 2 + p.type.ndim
                params.append(f"{c} range(i64 0, {1 << 60}) {name}" if extent else f"{c} {name}")
            self.values[p] = names
        params += module.context
        blocks = reverse_postorder(fn)
        first = blocks[0]
        looped = any(edge.block is first for block in blocks for edge in block.edges())
        for n, block in enumerate(blocks):
            self.names[block] = f"b{n}"
            self.arrivals[block] = []
            if n == 0 and looped:
                self.arrive(ir.Edge(first, first.params), "enter")
            if n or looped:
                for p in block.params:
                    self.count += 1
                    self.values[p] = [f"%q{self.count}.{j}" for j in range(len(components(p.type)))]
        bodies = []
        for n, block in enumerate(blocks):
            self.lines, self.polled, self.computed = [], False, {}
            self.current = self.names[block]
            for inst in block.insts:
                self.instruction(inst)
            bodies.append(self.lines)
        self._keep_fuel(bodies)
        linkage = "hidden" if fn is module.exported else "internal"
        out = [f"define {linkage} {self.returned} {module.symbol(fn)}({', '.join(params)}) {self.attributes()} {{",
               "start:"]
        out += self.entry
        body = "enter" if looped else self.names[first]
        out.append(f"  br label %{body}")
        if looped:
            out += ["enter:", f"  br label %{self.names[first]}"]
        for origin in self.places:
            self.declare(self._places(origin))
        unwritten = None if looped else first  # a block that gets no values from others
        if fn.flags.elementwise and self.widens and module.register:
            copies = self._copies(blocks, bodies)
            if copies:
                self.wide = "\n".join([*out, *self._written(blocks, bodies, unwritten, copies)])
        return "\n".join([*out, *self._written(blocks, bodies, unwritten, {})])

    def _written(self, blocks, bodies, unwritten, copies: dict[str, tuple[str, list[str]]]) -> list[str]:
        """The lines of all blocks. copies: of `_copies`."""
        out = []
        back = {body: header for header, (body, _) in copies.items()}
        for block, body in zip(blocks, bodies):
            name = self.names[block]
            if name in copies:
                out += copies[name][1]
                continue
            out.append(f"{name}:")
            if block is not unwritten:
                for k, p in enumerate(block.params):
                    for j, c in enumerate(components(p.type)):
                        arms = ", ".join(f"[ {values[k][j]}, %{origin}{'.rest' if origin in copies else ''} ]"
                                         for origin, values in self.arrivals[block])
                        out.append(f"  {self.values[p][j]} = phi {c} {arms}")
            out += [*body[:-1], f"  br label %{back[name]}.rest"] if name in back else body
        return [*out, *self.cold, "}"]

    def _copies(self, blocks, bodies) -> dict[str, tuple[str, list[str]]]:
        """For the header of each loop with the hint `vectors`, by its name, the name of the block that jumps back and
        the lines that replace the header; empty where one of the loops has something that is not written in vectors."""
        copies = {}
        lines = dict(zip(blocks, bodies))
        for block, body in lines.items():
            last = block.insts[-1]
            if "vectors" in last.attrs:
                header, name = last.targets[0].block, self.names[block]
                params = [(c, v) for p in header.params for c, v in zip(components(p.type), self.values[p])]
                entries = [(origin, [v for value in values for v in value]) for origin, values in self.arrivals[header]]
                found = wide.copied(self.names[header], params, entries, lines[header], name, body,
                                    self.module.register, last.attrs["vectors"], "parallel" in last.attrs)
                if not found:
                    return {}
                copies[self.names[header]] = name, found
        return copies

    def fuel(self) -> str:
        # LLVM keeps the counter in a register while the function runs, unless the function may be recursive: then one
        # of four counters is used, chosen by the address of the frame. A processor waits when it loads a word that it
        # has just stored; with four words, caller and callee use different ones.
        if self._fuel is None:
            word = self._fuel_word()
            if self.fn.flags.recursive:
                self.entry += ["  %frame = alloca i64", "  %place = ptrtoint ptr %frame to i64",
                               "  %slot = and i64 %place, 96", f"  %counter = getelementptr i8, ptr {word}, i64 %slot"]
                self._fuel = "%counter"
            elif self._polls_seldom():
                self._fuel = word
            else:
                self._fuel = self.alloca("i64")
                self.entry += [f"  %fuel = load i64, ptr {word}", f"  store i64 %fuel, ptr {self._fuel}"]
        return self._fuel

    def _polls_seldom(self) -> bool:
        """Whether the function polls where it enters an outermost loop, and then only where that stops to poll
        (passes/polling.py), so that the counter may stay in memory: LLVM gets fewer instructions."""
        flags = self.fn.flags
        return flags.skips_loop_passes and (not (flags.novectorize or flags.optnone) or sum(
            [inst.op is POLL for block in self.fn.blocks for inst in block.insts]) == 1)

    def _fuel_word(self) -> str:
        word = f"@fuel.{self.module.symbol(self.fn)[1:]}"
        content = "[16 x i64] zeroinitializer, align 128" if self.counters > 1 else "i64 0"
        self.declare(f"{word} = internal global {content}")
        return word

    @property
    def counters(self) -> int:
        return 4 if self.fn.flags.recursive else 1

    def _keep_fuel(self, bodies: list[list[str]]) -> None:
        if self._fuel is None or not self._fuel.startswith("%") or self.fn.flags.recursive:
            return
        for n, body in enumerate(bodies):
            if body[-1].startswith("  ret "):
                body[-1:] = [f"  %fuel.{n} = load i64, ptr {self._fuel}",
                             f"  store i64 %fuel.{n}, ptr {self._fuel_word()}", body[-1]]

    def attributes(self) -> str:
        if self.fn.flags.recursive:
            return "nounwind"
        if self.fn.flags.optnone or _only_raises(self.names):
            return "nounwind noinline optnone cold"
        if self.entry_point and self.module.enters_inline:
            return "nounwind alwaysinline"
        vectors = ' "prefer-vector-width"="256"' * self.fn.flags.narrow
        if self.entry_point or self.fn.flags.noinline:
            # A small loop that lies in two lines of the cache for instructions takes twice the time on some processors.
            return f"nounwind noinline{vectors}" + " align 64" * (not is_straight(self.fn))
        inlined = {"always": " alwaysinline", "never": " noinline", "": ""}[self.fn.flags.llvm_inline]
        return f"nounwind{inlined}{vectors}"

    def arrive(self, edge: ir.Edge, origin: str) -> None:
        self.arrivals[edge.block].append((origin, [self.values[a] for a in edge.args]))

    def instruction(self, inst: ir.Inst) -> None:
        op = inst.op
        if op.lower is not None:
            # a region runs without the interpreter lock
            locks = self.module.pooled and (
                effects_of(inst) & ir.HOST or op in _COUNTED and holds_object(inst.args[0].type))
            if locks:
                self.held = self.lock()
            values = op.lower(self, inst, *[self.values[a] for a in inst.args])
            if locks:
                if not op.effects & ir.TERMINATOR:
                    self.unlock(self.held)
                self.held = None
            if inst.result is not None:
                self.values[inst.result] = values or []
        else:
            _CONTROL[op](self, inst)

    # -- control

    def const(self, inst):
        self.values[inst.result] = self.constant(inst.result.type, inst.attrs["value"])

    def jump_to(self, inst):
        edge = inst.targets[0]
        self.arrive(edge, self.current)
        self.jump(self.names[edge.block])
        self.note_loop(inst)

    def note_loop(self, inst):
        """Add the loop metadata; the slow copy of a versioned loop is not worth vectorising."""
        self.module.metadata.ordered |= "ordered" in inst.attrs
        if inst.attrs.get("novectorize"):
            number = self.module.metadata.novectorize_loop("line" in inst.attrs)
            self.lines[-1] += f", !llvm.loop !{number}"
        elif "parallel" in inst.attrs or "interleave" in inst.attrs:
            number = self.module.metadata.vector_loop(inst.attrs.get("interleave", 0), "parallel" in inst.attrs)
            self.lines[-1] += f", !llvm.loop !{number}"
        elif inst.attrs.get("unroll"):
            self.lines[-1] += f", !llvm.loop !{self.module.metadata.unrolled_loop(inst.attrs['unroll'])}"
        elif inst.attrs.get("line"):
            self.lines[-1] += f", !llvm.loop !{self.module.metadata.aligned_loop()}"

    def branch_to(self, inst):
        yes, no = inst.targets
        labels = []
        for edge in (yes, no):
            if yes.block is no.block and edge.block.params:  # two edges to one block: each needs its own origin for phi
                step = self.label("edge")
                self.cold.append(f"{step}:")
                self.cold.append(f"  br label %{self.names[edge.block]}")
                self.arrive(edge, step)
                labels.append(step)
            else:
                self.arrive(edge, self.current)
                labels.append(self.names[edge.block])
        likely = inst.attrs.get("likely")
        if labels[0] == labels[1]:
            self.jump(labels[0])
            self.arrivals[yes.block].pop()
        else:
            condition = self.values[inst.args[0]][0]
            if ("not", condition) in self.computed:
                condition, = self.computed["not", condition]
                labels.reverse()
                likely = None if likely is None else not likely
            self.branch(condition, *labels, likely)
        self.note_loop(inst)

    def switch_to(self, inst):
        t = self.scalar(inst.args[0].type)
        cases = []
        labels = []
        for edge in inst.targets:
            step = self.label("case")
            self.cold.append(f"{step}:")
            self.cold.append(f"  br label %{self.names[edge.block]}")
            self.arrive(edge, step)
            labels.append(step)
        for value, label in zip(inst.attrs["cases"], labels[1:]):
            cases.append(f"{t} {value}, label %{label}")
        self.line(f"switch {t} {self.values[inst.args[0]][0]}, label %{labels[0]} [{' '.join(cases)}]")

    def return_(self, inst):
        types = components(self.fn.result)
        whole = "0"
        if self.returned != "i32":
            whole = f"{{ i32 0, {', '.join(f'{c} poison' for c in types)} }}"
            for i, (c, v) in enumerate(zip(types, self.values[inst.args[0]]), 1):
                whole = self.assign(f"insertvalue {self.returned} {whole}, {c} {v}, {i}")
        elif types:
            for i, (c, v) in enumerate(zip(types, self.values[inst.args[0]])):
                where = "%ret" if i == 0 else self.assign(f"getelementptr i8, ptr %ret, i64 {8 * i}")
                self.line(f"store {c} {v}, ptr {where}, align 8")
        self.line(f"ret {self.returned} {whole}")

    def failed(self) -> str:
        """The return with the status that says that the error indicator is set."""
        if self.returned == "i32":
            return "ret i32 1"
        return f"ret {self.returned} {{ i32 1, {', '.join(f'{c} poison' for c in components(self.fn.result))} }}"

    def unreachable(self, inst):
        self.line("unreachable")

    def reraise(self, inst):
        state = self.lock() if self.module.pooled else None
        if inst.args:
            self.line(f"call void {self.helper('pyj_rethrow')}(ptr {self.values[inst.args[0]][0]})")
        else:
            self.line(f"call void {self.helper('pyj_reraise')}()")
        self.unlock(state)
        self.jump(self.fail(inst))

    def invoke(self, inst):
        callee = inst.attrs["callee"]
        if "chunks" in inst.attrs:
            self.check_status(regions.call(self, inst, callee), inst)
            self.values[inst.result] = []
            return
        args = []
        for p, a in zip(callee.params, inst.args, strict=True):
            args += [f"{c} {v}" for c, v in zip(components(p.type), self.values[a], strict=True)]
        if callee.flags.recursive and self.fn.flags.recursive and not self.polled:
            self.polled = True  # one poll for all calls in a block; a recursion takes as long as a loop
            self.stack_check(inst)
            POLL.lower(self, inst)
        status, result = self.native_call(callee, args)
        self.check_status(status, inst)
        values = result()
        if inst.result is not None:
            self.values[inst.result] = values

    # -- failure

    def fail(self, inst: ir.Inst) -> str:
        """The label of the cold exit of an instruction: it adds a traceback entry if the frame has none yet, then
        continues with code that instructions with the same cleanup and handler share. Frames of the library are hidden;
        exceptions that are raised again, or come from a chunk of a loop, have their entry already."""
        if self.held is not None:
            state, self.held = self.held, None
            away, label = self.fail(inst), self.label("unlock")
            self.held = state
            saved, self.lines = self.lines, [f"{label}:"]
            self.unlock(state)
            self.jump(away)
            self.cold += self.lines
            self.lines = saved
            return label
        away = self._exit(inst.cleanup, inst.unwind)
        frames = inst.attrs.get("outer", ())
        hidden = self.fn.library and "origin" not in inst.attrs
        if not (hidden or inst.op is control.RERAISE):
            frames = ((inst.loc, inst.attrs.get("origin") or (self.fn.qualname, self.fn.filename)), *frames)
        if not frames or not self.traced or _is_part(inst):
            return away
        label = self.fails.get((frames, away))
        if label is None:
            label = self.fails[frames, away] = self.label("fail")
            saved, self.lines = self.lines, []
            self.lines.append(f"{label}:")
            for place, origin in frames:
                self.traceback(ir.Loc(*place) if place[0] else ir.Loc(self.fn.firstlineno, 0, -1, -1), origin)
            self.jump(away)
            self.cold += self.lines
            self.lines = saved
        return label

    def placed(self, fn: ir.Function, lines: list[str]) -> str:
        """The text of a helper function that calls `fn`, with source locations where the code has them."""
        return "\n".join(lines)

    def fail_by(self, inst: ir.Inst, raises) -> None:
        outer = self.held
        if outer is None:
            self.held = self.lock()
        raises()
        self.jump(self.fail(inst))
        self.held = outer

    def _exit(self, cleanup, unwind: ir.Edge | None) -> str:
        """The block that releases owned references and goes to the handler or the caller. Instructions share the way to
        the caller (exits.py), and one block for all values that they hold on the way to a handler."""
        if unwind is None:
            if cleanup and self.exits is None:
                self.exits = exits.Exits(self.fn)
            return self._leave(self.exits.node[cleanup] if cleanup else 0)
        key = (cleanup, unwind.block, tuple(unwind.args))
        label = self.fails.get(key)
        if label is None:
            label = self.fails[key] = self.label("leave")
            with self._leaving(label, cleanup):
                self.arrive(unwind, self.current)
                self.jump(self.names[unwind.block])
        return label

    def _leave(self, node: int) -> str:
        """The block that starts at a node of the tree of exits, with those to which it leads."""
        first = self.leaves.get(node)
        if first is not None:
            return first
        first = label = self.label("leave")
        while node not in self.leaves:
            self.leaves[node] = label
            if node == 0:
                with self._leaving(label, ()):
                    self.line(self.failed())
                break
            values, node = self.exits.step(node)
            with self._leaving(label, values):
                label = self.leaves.get(node) or self.label("leave")
                self.jump(label)
        return first

    @contextmanager
    def _leaving(self, label: str, values):
        """Context manager: write a cold block, which starts with the release of values."""
        saved, self.lines, current = self.lines, [], self.current
        self.start(label)
        self.leaving = True
        state = self.lock() if self.module.pooled and any(holds_object(v.type) for v in values) else None
        for value in values:
            count_references(self, value.type, self.values[value], "release")
        self.unlock(state)
        self.leaving = False
        yield
        self.cold += self.lines
        self.lines, self.current = saved, current

    def traceback(self, loc: ir.Loc, origin: tuple[str, str]) -> None:
        """Add a traceback entry for the frame of the function, or of one that was inlined."""
        state = self.lock()
        places = self.places.setdefault(origin, {})
        number = places.setdefault(loc, len(places))
        where = PLACES + PLACE * number
        adds = self.helper("pyj_trace_deep") if self.fn.flags.recursive else "@pyjitc_traceback"
        self.line(f"call void {adds}(ptr {self._places_symbol(origin)}, i32 {where}) nomerge cold")
        self.unlock(state)

    def _places_symbol(self, origin) -> str:
        own = origin == (self.fn.qualname, self.fn.filename)
        return f"@places.{self.module.symbol(self.fn)[1:]}{'' if own else f'.of.{list(self.places).index(origin)}'}"

    def _places(self, origin) -> str:
        """The data of traceback entries of a function and of its source locations; see runtime/thunks.py."""
        qualname, filename = map(self.string, origin)
        name = len(origin[0][:origin[0].rfind(".") + 1].encode())
        kind, places = "{ ptr, i32, i32, i64, i64 }", []
        first = min(self.fn.firstlineno, *(loc.line for loc in self.places[origin]))  # lines may be of another file
        for loc in self.places[origin]:
            table = position_table(first, *loc)
            low, high = (int.from_bytes(part, "little") for part in (table[:8], table[8:]))
            places.append(f"{kind} {{ ptr null, i32 {loc.line}, i32 {len(table)}, i64 {low}, i64 {high} }}")
        n = len(places)
        return (f"{self._places_symbol(origin)} = internal global {{ ptr, ptr, ptr, i32, [{n} x {kind}] }} {{ "
                f"ptr getelementptr (i8, ptr {qualname}, i64 {name}), ptr {qualname}, ptr {filename}, "
                f"i32 {first}, [{n} x {kind}] [{', '.join(places)}] }}")

    def stack_check(self, inst) -> None:
        """RecursionError where the stack of this thread is nearly used up."""
        for word in ("low", "span"):  # the stack that was checked last; another thread's is out of its bounds
            self.declare(f"@pyjitc_stack_{word} = internal global i64 0")
        at = self.assign(f"ptrtoint ptr {self.alloca('i8')} to i64")
        low, span = (self.assign(f"load i64, ptr @pyjitc_stack_{word}") for word in ("low", "span"))
        room = self.assign(f"icmp ult i64 {self.assign(f'sub i64 {at}, {low}')}, {span}")
        with self.unless(room, "deep", likely=False):
            self.check_status(self.assign(f"call i32 {self.helper('pyj_stack')}(i64 {at})"), inst)


def _is_part(inst: ir.Inst) -> bool:
    """Whether an instruction calls a part of the function, which has added an entry to the traceback if it failed."""
    return "chunks" in inst.attrs or inst.op is control.INVOKE and inst.attrs["callee"].flags.part


def _only_raises(blocks) -> bool:
    """Whether a function of these blocks, in reverse postorder, has no return and no loop: it only raises."""
    at = {block: n for n, block in enumerate(blocks)}
    return not any(b.terminator.op is control.RETURN or any(at[edge.block] <= at[b] for edge in b.edges())
                   for b in blocks)


# Operations on Python objects besides those that have the effect HOST.
_COUNTED = frozenset((RETAIN, RELEASE, CELL_LOAD, CELL_STORE, EXC_MATCH))
_F = FunctionEmitter
_CONTROL = {
    control.CONST: _F.const, control.JUMP: _F.jump_to, control.BRANCH: _F.branch_to, control.SWITCH: _F.switch_to,
    control.RETURN: _F.return_, control.UNREACHABLE: _F.unreachable, control.RERAISE: _F.reraise,
    control.INVOKE: _F.invoke,
}


class CheckingEmitter(FunctionEmitter):
    """Emits a function for a target that has no code for some instructions: `check` raises for their text."""

    widens = False

    def assign(self, rhs: str) -> str:
        self.check(rhs)
        return super().assign(rhs)

    def line(self, text: str) -> None:
        self.check(text)
        super().line(text)

    def check(self, text: str) -> None:
        raise NotImplementedError
