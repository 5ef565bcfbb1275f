"""Block functions (passes/grid.py) to native code that runs a grid on the CPU.

    i32 pyjitc_grid(ptr context, ptr arguments, ptr counter, i64 blocks)

takes numbers of blocks, or of runs of neighbouring blocks, from `counter`, which several CPU threads share, and runs
them. It returns 1 where a thread of the grid failed: then no further blocks are run, and the context, one for each CPU
thread, says which thread and why. It does not need the interpreter. The arguments are those of a launch on a GPU
(codegen/nvptx.py), each in a word of eight bytes.
Slots, states and static shared memory are on the stack, so that LLVM knows that they do not alias.
"""
from __future__ import annotations

from ..base.errors import Diagnostic, UnsupportedError
from ..base.options import Options
from ..base.trace import dump, timed
from ..ir import core as ir
from ..ops import gpu, grid
from . import inlining, link, threads, watch
from .definitions import expanded
from .emitter import Emitter, memory_type
from .leaves import components
from .function import CheckingEmitter
from .gridkernel import CONTROL, ENTRY, MAX_VALUES, WORDS, GridKernel
from .link import Target
from .module import Module
from .nvptx import HELPERS, _rebuild, parameters
from .sites import Site
from .threads import GROUP, MAX_THREADS

__all__ = ["GridModule", "compile_grid"]

# cycles of the processor that a CPU thread should spend on the neighbouring blocks that it takes at once
_TAKEN_CYCLES = 1 << 15
_POLL_CYCLES = 1 << 25  # cycles of the processor between two polls for signals: these take the interpreter lock


class GridModule(Module):
    """The functions of one kernel, the block function first."""

    def __init__(self, options: Options, plan):
        super().__init__(options)
        self.plan = plan
        self.context = ("ptr %context",)
        self.sites: dict[Site, int] = {}
        self.extra: dict[str, None] = {}  # functions that some lowerings call
        self.shared = 0
        self.stack = 0
        self.constants = 0

    def take_shared(self, size: int) -> int:
        """The offset of the next array in static shared memory."""
        start = -(-self.shared // 16) * 16
        self.shared = start + size
        return start

    def site(self, site: Site) -> int:
        return self.sites.setdefault(site, len(self.sites) + 1)

    def text(self, target) -> str:
        self.bodies += [_NOTE, *map(expanded, (threads.POLL_TEXT, *self.extra))]
        return super().text(target)


_VALUES = ", ".join(f"i64 %v{k}" for k in range(MAX_VALUES))
_NOTE = f"""define internal void @pyjitc_note(ptr %context, i64 %site, {_VALUES}) noinline cold nounwind {{
  %where = getelementptr i64, ptr %context, i64 {WORDS['site']}
  store i64 %site, ptr %where
""" + "\n".join(f"  %p{k} = getelementptr i64, ptr %context, i64 {WORDS['values'] + k}\n  store i64 %v{k}, ptr %p{k}"
                for k in range(MAX_VALUES)) + """
  ret void
}"""


# types with shorter elements in tables; others have 8 bytes
_BYTES = {"i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4}


class _GridEmitter(CheckingEmitter):
    """Emits one function. The block function keeps the words of the context that do not change during a block in
    registers."""

    traced = False  # the host makes the traceback from the site

    def __init__(self, module: GridModule, fn: ir.Function):
        super().__init__(module, fn)
        self.words: dict[int, str] = {}
        self.slots: dict[int, list[str]] = {}
        self.tables: dict[str, str] = {}

    def instruction(self, inst: ir.Inst) -> None:
        self.inst = inst
        lower = _LOWERINGS.get(inst.op)
        if lower is None:
            super().instruction(inst)
            return
        values = lower(self, inst, *[self.values[x] for x in inst.args])
        if inst.result is not None:
            self.values[inst.result] = values or []

    # -- the block's data

    def word(self, k: int) -> str:
        """A word of the context, read once."""
        found = self.words.get(k)
        if found is None:
            found = self.words[k] = f"%w{k}"
            self.entry.append(f"  %w{k}.p = getelementptr i64, ptr %context, i64 {k}")
            low = 0 if k < 3 else 1
            span = f", !range !{40_001 if low else 40_002}" if k < 9 or k == WORDS["run"] else ""
            self.entry.append(f"  {found} = load i64, ptr %w{k}.p, align 8{span}")
        return found

    def threads(self) -> str:
        """The number of threads of the block."""
        if "n" not in self.tables:
            x, y, z = (self.word(WORDS["threads"] + k) for k in range(3))
            self.entry += [f"  %threads.xy = mul nuw nsw i64 {x}, {y}",
                           f"  %threads.n = mul nuw nsw i64 %threads.xy, {z}"]
            self.tables["n"] = "%threads.n"
        return self.tables["n"]

    def table(self, name: str, t: str) -> str:
        """An array in the frame with an element for each thread."""
        found = self.tables.get(name)
        if found is None:
            found = self.tables[name] = f"%{name}"
            self.entry.append(f"  {found} = alloca [{MAX_THREADS} x {t}], align 64")
            self.module.stack += MAX_THREADS * _BYTES.get(t, 8)
        return found

    def slot(self, number: int, common: bool = False) -> list[tuple[str, str]]:
        """(component type, array) for each component of the value in a slot. common: one value for all threads."""
        if common:
            parts = [(c, f"%common{number}.{k}") for k, c in enumerate(components(self.module.plan.slots[number]))]
            for c, name in parts:
                if name not in self.tables:
                    self.tables[name] = name
                    self.entry.append(f"  {name} = alloca {memory_type(c)}")
            return parts
        return [(c, self.table(f"slot{number}.{k}", memory_type(c)))
                for k, c in enumerate(components(self.module.plan.slots[number]))]

    def at(self, table: str, t: str, thread: str) -> str:
        return self.assign(f"getelementptr inbounds {t}, ptr {table}, i64 {thread}")

    def read(self, table: str, c: str, thread: str) -> str:
        value = self.assign(f"load {memory_type(c)}, ptr {self.at(table, memory_type(c), thread)}{GROUP}")
        return self.assign(f"icmp ne i8 {value}, 0") if c == "i1" else value

    def count_wait(self, some: str, warps: int) -> None:
        watch.count_wait(self, some, warps)

    def no_thread_ended(self, *args, lines: str) -> None:
        watch.no_thread_ended(self, *args, lines)

    def fuel(self) -> str:
        if self._fuel is None:
            self._fuel = self.alloca("i64")
            self.entry.append(f"  store i64 {threads.FUEL}, ptr {self._fuel}")
        return self._fuel

    # -- failure

    def raise_with(self, site: Site, values: list[str]) -> None:
        number = self.module.site(site)
        words = [f"i64 {v}" for v in values[:MAX_VALUES]] + ["i64 0"] * (MAX_VALUES - len(values))
        self.line(f"call void @pyjitc_note(ptr %context, i64 {number}, {', '.join(words)}) cold")

    def _format_error(self, inst, cls, message, args):
        name = cls if isinstance(cls, str) else cls.__name__
        kinds = tuple(a.partition(" ")[0] for a in args[:MAX_VALUES])
        values = []
        for kind, arg in zip(kinds, args):
            value = arg.partition(" ")[2]
            values.append(value if kind == "i64" else self.assign(f"sext {kind} {value} to i64"))
        self.raise_with(self.place(inst, name, message, kinds), values)
        self.jump(self.fail(inst))

    def place(self, inst, cls: str, message: str, kinds) -> Site:
        qualname, filename = inst.attrs.get("origin") or (self.fn.qualname, self.fn.filename)
        return Site(cls, message, tuple(kinds), filename, inst.loc.line or self.fn.firstlineno, qualname)

    def attributes(self) -> str:
        return "nounwind noinline" if self.entry_point else super().attributes()

    # -- operations that grids do not have

    def unsupported(self, what: str, hint: str = "pass numbers, arrays and tuples") -> UnsupportedError:
        fn, loc = self.fn, self.inst.loc
        return UnsupportedError(Diagnostic(f"a kernel has no code for {what}", fn.filename, loc.line or fn.firstlineno,
                                           loc.end_line, loc.col, loc.end_col, fn.qualname, hint=hint))

    def check(self, text: str) -> None:
        if ("@Py" in text or "@_Py" in text) and self.inst.op is not gpu.PRINT:  # which takes the interpreter lock
            raise self.unsupported("Python objects")

    def helper(self, name: str) -> str:
        if name not in HELPERS:
            raise self.unsupported(name.removeprefix("pyj_").replace("_", " "))
        return super().helper(name)

    def object(self, value) -> str:
        raise self.unsupported("Python objects")

    def external(self, name: str) -> str:
        raise self.unsupported(f"{name} of the Python runtime")

    def box(self, t, values, inst):
        raise self.unsupported("Python objects")

    def python_call(self, inst, callee, args, kwnames):
        raise self.unsupported("calls of Python objects")


_LOWERINGS = {**threads.LOWERINGS, grid.TOUCH: watch.touch, grid.LANES_ARE_HERE: watch.lanes_are_here}


def _run_blocks(e: Emitter, entry: ir.Function, types: tuple[str, ...], plan, options: Options) -> None:
    """Emit the body of the function that threads run: it takes blocks of the grid and calls the block function for
    each, until none is left."""
    args = _block_arguments(e, entry, types)
    words = [e.assign(f"getelementptr i64, ptr %context, i64 {k}") for k in range(9)]
    width, height = (e.assign(f"load i64, ptr {words[6 + k]}") for k in range(2))
    place = e.assign(f"getelementptr i64, ptr %context, i64 {WORDS['counter']}")
    e.line(f"store ptr %counter, ptr {place}")
    shared, size = (e.assign(f"load i64, ptr {e.assign(f'getelementptr i64, ptr %context, i64 {WORDS[name]}')}")
                    for name in ("shared", "shared_bytes"))
    across = e.assign(f"load i64, ptr {words[3]}")
    run = e.assign(f"getelementptr i64, ptr %context, i64 {WORDS['run']}")
    e.line(f"store i64 {across}, ptr {run}")
    together, runs = _blocks_of_a_run(e, plan, width)
    polled, count, block = e.alloca("i64"), e.alloca("i64"), e.alloca("i64")
    e.line(f"store i64 {e.assign('call i64 @llvm.readcyclecounter()')}, ptr {polled}")
    e.line(f"store i64 1, ptr {count}")
    e.jump("more")
    begun, taken, last = _take_blocks(e, words, height, (together, runs), count, block)
    e.start("run")
    if options.debug:
        watch.start_block(e)
    if plan.wide:
        left = e.assign(f"sub i64 {width}, {e.assign(f'load i64, ptr {words[0]}')}")
        count_of_run = e.assign(f"call i64 @llvm.umin.i64(i64 {left}, i64 {together})")
        e.line(f"store i64 {e.assign(f'mul i64 {count_of_run}, {across}')}, ptr {run}")
    _clear_shared(e, shared, size)
    e.start("call")
    status, _ = e.native_call(entry, args)
    e.branch(e.assign(f"icmp eq i32 {status}, 0"), "fine", "failed", likely=True)
    e.start("fine")
    if plan.cooperative:
        e.line(f"atomicrmw add ptr {_control(e, 'ended')}, i64 1 seq_cst")
    done = e.assign(f"add i64 {e.assign(f'load i64, ptr {block}')}, 1")
    e.line(f"store i64 {done}, ptr {block}")
    e.branch(e.assign(f"icmp ult i64 {done}, {last}"), "next", "taken", likely=True)
    e.start("next")
    _next_block(e, words, (width, height), together)
    e.start("taken")
    _go_on(e, begun, taken, count, polled)
    _end_thread(e, plan)


def _control(e: Emitter, name: str) -> str:
    """The address of a word that the threads of a grid share, which is behind the counter of its blocks."""
    return e.assign(f"getelementptr i64, ptr %counter, i64 {CONTROL[name]}")


def _block_arguments(e: Emitter, entry: ir.Function, types: tuple[str, ...]) -> list[str]:
    """Load the arguments of the block function from the words in memory that the threads were started with."""
    given = []
    for k, c in enumerate(types):
        where = e.assign(f"getelementptr i64, ptr %arguments, i64 {k}")
        given.append(e.assign(f"load {c}, ptr {where}, align 8"))
    return [f"{c} {v}" for p in entry.params
            for c, v in zip(components(p.type), _rebuild(e, p.type, given), strict=True)]


def _blocks_of_a_run(e: Emitter, plan, width: str) -> tuple[str, str]:
    """How many neighbouring blocks one call of the block function runs, and how many such runs a row of the grid is."""
    if not plan.wide:
        return "1", width
    place = e.assign(f"getelementptr i64, ptr %context, i64 {WORDS['together']}")
    together = e.assign(f"load i64, ptr {place}")
    above = e.assign(f"add i64 {width}, {together}")
    return together, e.assign(f"udiv i64 {e.assign(f'sub i64 {above}, 1')}, {together}")


def _take_blocks(e: Emitter, words, height: str, row_of: tuple[str, str], count: str, block: str):
    """Emit the blocks of code `more` and `take`: the thread takes the next blocks of the grid, or goes to `end`.

    A thread takes as many blocks at a time as it runs in a short while: then small blocks cost little more than their
    loops. Returns the time at which it took them, how many it asked for, and the end of those that it got."""
    together, runs = row_of
    e.start("more")
    taken = e.assign(f"load i64, ptr {count}")
    first = e.assign(f"atomicrmw add ptr %counter, i64 {taken} monotonic")
    e.branch(e.assign(f"icmp ult i64 {first}, %blocks"), "take", "end")
    e.start("take")
    begun = e.assign("call i64 @llvm.readcyclecounter()")
    last = e.assign(f"call i64 @llvm.umin.i64(i64 {e.assign(f'add i64 {first}, {taken}')}, i64 %blocks)")
    row = e.assign(f"udiv i64 {first}, {runs}")
    number = e.assign(f"urem i64 {first}, {runs}")
    for where, value in zip(words, (f"mul i64 {number}, {together}", f"urem i64 {row}, {height}",
                                    f"udiv i64 {row}, {height}")):
        e.line(f"store i64 {e.assign(value)}, ptr {where}")
    e.line(f"store i64 {first}, ptr {block}")
    e.jump("run")
    return begun, taken, last


def _clear_shared(e: Emitter, shared: str, size: str) -> None:
    """Set all bits of the shared memory of a block, where it has any, before the block starts."""
    e.branch(e.assign(f"icmp eq i64 {size}, 0"), "call", "clear")
    e.start("clear")
    e.line(f"call void @llvm.memset.p0.i64(ptr {e.assign(f'inttoptr i64 {shared} to ptr')}, i8 -1, i64 {size}, i1 "
           f"false)")
    e.jump("call")


def _end_thread(e: Emitter, plan) -> None:
    """Emit the ways in which a thread ends: stopped by a signal, by an error of a block, or as no block is left."""
    e.start("stopped")
    e.line("ret i32 2")
    e.start("failed")
    if plan.cooperative:
        e.line(f"store atomic i64 1, ptr {_control(e, 'failed')} seq_cst, align 8")
    e.line("atomicrmw umax ptr %counter, i64 %blocks monotonic")
    e.line("ret i32 1")
    e.start("end")
    e.line("ret i32 0")


def _next_block(e: Emitter, words: list[str], sizes: tuple[str, str], step: str) -> None:
    """Advance the index of the block to the next one, by `step` along axis 0, and jump to the code that runs it."""
    for k, carry in ((0, "second"), (1, "third")):
        n = e.assign(f"add i64 {e.assign(f'load i64, ptr {words[k]}')}, {1 if k else step}")
        over = e.assign(f"icmp uge i64 {n}, {sizes[k]}")
        e.line(f"store i64 {e.assign(f'select i1 {over}, i64 0, i64 {n}')}, ptr {words[k]}")
        e.branch(over, carry, "run", likely=False)
        e.start(carry)
    layer = e.assign(f"load i64, ptr {words[2]}")
    e.line(f"store i64 {e.assign(f'add i64 {layer}, 1')}, ptr {words[2]}")
    e.jump("run")


def _go_on(e: Emitter, begun: str, taken: str, count: str, polled: str) -> None:
    """After some blocks: decide how many to take next by the time that these took, and look for signals."""
    now = e.assign("call i64 @llvm.readcyclecounter()")
    spent = e.assign(f"sub i64 {now}, {begun}")
    few = e.assign(f"icmp ult i64 {spent}, {_TAKEN_CYCLES}")
    more = e.assign(f"shl i64 {taken}, {e.assign(f'zext i1 {few} to i64')}")
    many = e.assign(f"icmp ugt i64 {spent}, {8 * _TAKEN_CYCLES}")
    e.line(f"store i64 {e.assign(f'select i1 {many}, i64 1, i64 {more}')}, ptr {count}")
    since = e.assign(f"sub i64 {now}, {e.assign(f'load i64, ptr {polled}')}")
    e.branch(e.assign(f"icmp ugt i64 {since}, {_POLL_CYCLES}"), "poll", "more", likely=False)
    e.start("poll")
    e.line(f"store i64 {now}, ptr {polled}")
    e.branch(e.assign(f"icmp eq i32 {e.assign('call i32 @pyjitc_poll(ptr %context)')}, 0"), "more", "stopped")


# ---------------------------------------------------------------- the interface


def grid_text(functions: list[ir.Function], plan, target: Target, options: Options):
    """(LLVM text, argument types, module)."""
    entry = functions[0]
    module = GridModule(options, plan)
    inlining.decide(functions)
    for fn in functions:
        module.bodies.append(_GridEmitter(module, fn).run())
    types = tuple(c for p in entry.params for _, c in parameters(p.type))
    e = Emitter(module)
    _run_blocks(e, entry, types, plan, options)
    module.bodies.append("\n".join([f"define i32 @{ENTRY}(ptr %context, ptr %arguments, ptr %counter, i64 %blocks) "
                                    f"nounwind {{", "start:",
                                    *e.entry, *e.lines, "}"]))
    head = f'target triple = "{target.triple}"\ntarget datalayout = "{target.layout}"\n'
    module.bodies.append(f"!40001 = !{{i64 1, i64 {1 << 31}}}\n!40002 = !{{i64 0, i64 {1 << 31}}}")
    return head + module.text(target), types, module


def compile_grid(functions: list[ir.Function], plan, options: Options = Options()) -> GridKernel:
    """Compile a block function, the first of `functions`, and the code that runs it over a whole grid."""
    target = link.host_target()
    name = functions[0].qualname
    with timed("emit"):
        text, types, module = grid_text(functions, plan, target, options)
    dump("llvm", name, lambda: text)
    with timed("llvm"):
        code = link.to_object(text, target)
    dump("asm", name, lambda: link.to_assembly(text, target))
    return GridKernel(code, types, tuple(module.sites), module.shared, plan.local_bytes, module.stack, plan.cooperative,
                      plan.wide, text)
