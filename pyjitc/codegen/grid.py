"""Block functions (passes/grid.py) to native code that runs a grid on the CPU.

    i32 pyjitc_grid(ptr context, ptr arguments, ptr counter, i64 blocks)

takes numbers of blocks from `counter`, which several CPU threads share, and runs them; 1 where a thread of the grid failed:
then no further blocks are taken, and the context, one for each CPU thread, says which and why. No Python is needed on the
way. The arguments are those of a launch on a GPU (codegen/nvptx.py), each in a word of eight bytes.
Slots, states and static shared memory lie on the stack, so that LLVM knows that nobody else writes there.
"""
from __future__ import annotations

from typing import NamedTuple

from ..base.errors import Diagnostic, UnsupportedError
from ..base.options import Options
from ..base.trace import dump, timed
from ..ir import core as ir
from ..ops import gpu, grid, memory
from ..types.kinds import Float, Int, NpComplex, NpFloat, NpInt, Type
from . import link
from .emit import Emitter, FunctionEmitter, Module, components, memory_type
from .nvptx import Site, _rebuild, parameters
from .target import Target

__all__ = ["CONTEXT_WORDS", "ENTRY", "GridKernel", "WORDS", "compile_grid"]

ENTRY = "pyjitc_grid"
# Words of the context: block x y z, threads of a block, blocks of the grid, dynamic shared memory and its bytes, local memory;
# of a failure: its site (0: none), thread, values.
WORDS = {"block": 0, "threads": 3, "blocks": 6, "shared": 9, "shared_bytes": 10, "local": 11, "site": 12, "thread": 13, "values": 14}
MAX_VALUES = 8
CONTEXT_WORDS = 24
MAX_THREADS = 1024
_GROUP = memory.PARALLEL


class GridKernel(NamedTuple):
    """object: relocatable object code; parameters: LLVM types of the argument words; sites: places that may fail, n is [n - 1];
    shared: bytes of static shared memory; local: bytes of each thread's arrays; text: LLVM text."""

    object: bytes
    parameters: tuple[str, ...]
    sites: tuple[Site, ...]
    shared: int
    local: int
    text: str


class GridModule(Module):
    """The functions of one kernel, the block function first."""

    def __init__(self, options: Options, plan):
        super().__init__(options)
        self.plan = plan
        self.context = ("ptr %context",)
        self.sites: dict[Site, int] = {}
        self.shared = 0
        self.constants = 0

    def add(self, fn: ir.Function) -> None:
        self.bodies.append(_GridEmitter(self, fn).run())

    def site(self, site: Site) -> int:
        return self.sites.setdefault(site, len(self.sites) + 1)

    def text(self) -> str:
        self.bodies.append(_NOTE)
        return super().text()


_NOTE = f"""define internal void @pyjitc_note(ptr %context, i64 %site, {', '.join(f'i64 %v{k}' for k in range(MAX_VALUES))}) noinline cold nounwind {{
  %where = getelementptr i64, ptr %context, i64 {WORDS['site']}
  store i64 %site, ptr %where
""" + "\n".join(f"  %p{k} = getelementptr i64, ptr %context, i64 {WORDS['values'] + k}\n  store i64 %v{k}, ptr %p{k}" for k in range(MAX_VALUES)) + """
  ret void
}"""
_ALLOWED = ("pyj_view_owner", "pyj_step")


class _GridEmitter(FunctionEmitter):
    """One function. The block function keeps the words of the context that do not change during a block."""

    def __init__(self, module: GridModule, fn: ir.Function):
        super().__init__(module, fn)
        self.words: dict[int, str] = {}
        self.slots: dict[int, list[str]] = {}
        self.tables: dict[str, str] = {}

    def instruction(self, inst: ir.Inst) -> None:
        self.inst = inst
        lower = LOWERINGS.get(inst.op)
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
            span = f", !range !{8 if low else 9}" if k < 9 else ""
            self.entry.append(f"  {found} = load i64, ptr %w{k}.p, align 8{span}")
        return found

    def threads(self) -> str:
        """How many threads the block has."""
        if "n" not in self.tables:
            x, y, z = (self.word(WORDS["threads"] + k) for k in range(3))
            self.entry += [f"  %threads.xy = mul nuw nsw i64 {x}, {y}", f"  %threads.n = mul nuw nsw i64 %threads.xy, {z}"]
            self.tables["n"] = "%threads.n"
        return self.tables["n"]

    def table(self, name: str, t: str) -> str:
        """Memory with an element for each thread."""
        found = self.tables.get(name)
        if found is None:
            found = self.tables[name] = f"%{name}"
            self.entry.append(f"  {found} = alloca [{MAX_THREADS} x {t}], align 64")
        return found

    def slot(self, number: int, common: bool = False) -> list[tuple[str, str]]:
        """(component type, table) of each component that a slot keeps. common: one value for all threads."""
        if common:
            parts = [(c, f"%common{number}.{k}") for k, c in enumerate(components(self.module.plan.slots[number]))]
            for c, name in parts:
                if name not in self.tables:
                    self.tables[name] = name
                    self.entry.append(f"  {name} = alloca {memory_type(c)}")
            return parts
        return [(c, self.table(f"slot{number}.{k}", memory_type(c))) for k, c in enumerate(components(self.module.plan.slots[number]))]

    def at(self, table: str, t: str, thread: str) -> str:
        return self.assign(f"getelementptr inbounds {t}, ptr {table}, i64 {thread}")

    def read(self, table: str, c: str, thread: str) -> str:
        value = self.assign(f"load {memory_type(c)}, ptr {self.at(table, memory_type(c), thread)}{_GROUP}")
        return self.assign(f"icmp ne i8 {value}, 0") if c == "i1" else value

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

    def traceback(self, line: int) -> None:
        """The host makes it from the site."""

    def attributes(self) -> str:
        return "nounwind noinline" if self.entry_point else super().attributes()

    # -- what there is none of

    def unsupported(self, what: str, hint: str = "pass numbers, arrays and tuples") -> UnsupportedError:
        fn, loc = self.fn, self.inst.loc
        return UnsupportedError(Diagnostic(f"a kernel has no code for {what}", fn.filename, loc.line or fn.firstlineno, loc.end_line,
                                           loc.col, loc.end_col, fn.qualname, hint=hint))

    def declare(self, text: str) -> None:
        if "@Py" in text or "@_Py" in text:
            raise self.unsupported("Python objects")
        super().declare(text)

    def helper(self, name: str) -> str:
        if name not in _ALLOWED:
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


# ---------------------------------------------------------------- lowerings


def _word(name):
    return lambda e, inst: [e.word(WORDS[name] + inst.attrs["axis"])]


def _shared(e, inst):
    t, shape = inst.attrs["type"], inst.attrs["shape"]
    size = gpu.shape_bytes(t, shape)
    name = e.tables.get(id(inst))
    if name is None:
        e.count += 1
        name = e.tables[id(inst)] = f"%shared{e.count}"
        e.entry += [f"  {name} = alloca [{size} x i8], align 64", f"  call void @llvm.memset.p0.i64(ptr {name}, i8 -1, i64 {size}, i1 false)"]
        e.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        e.module.shared = -(-e.module.shared // 16) * 16 + size
    return [name, "null", *_shape(t, shape)]


def _shape(t, shape) -> list[str]:
    """Lengths and byte strides of a C array, as constants."""
    strides, step = [], memory.item_bytes(t.dtype)
    for n in reversed(shape):
        strides.append(str(step))
        step *= n
    return [*map(str, shape), *reversed(strides)]


def _dynamic(e, inst):
    t = inst.attrs["type"]
    size = memory.item_bytes(t.dtype)
    pointer = e.assign(f"inttoptr i64 {e.word(WORDS['shared'])} to ptr")
    return [pointer, "null", e.assign(f"udiv i64 {e.word(WORDS['shared_bytes'])}, {size}"), str(size)]


def _local(e, inst, thread):
    t, shape = inst.attrs["type"], inst.attrs["shape"]
    offset = e.assign(f"mul nuw nsw i64 {thread[0]}, {e.module.plan.local_bytes}")
    start = e.assign(f"add nuw nsw i64 {offset}, {inst.attrs['offset']}")
    pointer = e.assign(f"inttoptr i64 {e.word(WORDS['local'])} to ptr")
    return [e.assign(f"getelementptr inbounds i8, ptr {pointer}, i64 {start}"), "null", *_shape(t, shape)]


def _constant(e, inst):
    t, shape = inst.attrs["type"], inst.attrs["shape"]
    data = bytes.fromhex(inst.attrs["data"])
    name = f"@constant{e.module.constants}"
    e.module.constants += 1
    text = "".join(f"\\{b:02X}" for b in data)
    e.module.declarations[f'{name} = internal constant [{len(data)} x i8] c"{text}", align 64'] = None
    return [name, "null", *_shape(t, shape)]


def _slot_load(e, inst, thread):
    common = inst.attrs.get("common", False)
    return [e.read(table, c, "0" if common else thread[0]) for c, table in e.slot(inst.attrs["slot"], common)]


def _slot_store(e, inst, thread, value):
    common = inst.attrs.get("common", False)
    for (c, table), v in zip(e.slot(inst.attrs["slot"], common), value, strict=True):
        if c == "i1":
            v = e.assign(f"zext i1 {v} to i8")
        e.line(f"store {memory_type(c)} {v}, ptr {e.at(table, memory_type(c), '0' if common else thread[0])}{_GROUP}")
    return []


def _state_is(e, inst, thread):
    state = e.assign(f"load i32, ptr {e.at(e.table('state', 'i32'), 'i32', thread[0])}{_GROUP}")
    return [e.assign(f"icmp eq i32 {state}, {inst.attrs['region']}")]


def _state_store(e, inst, thread):
    e.line(f"store i32 {inst.attrs['region']}, ptr {e.at(e.table('state', 'i32'), 'i32', thread[0])}{_GROUP}")
    return []


def _loop(e, count: str, carried, body):
    """for (k = 0; k < count; k++) carried = body(k, *carried); the values after it. carried: (type, first value) pairs."""
    before, head, inside, after = e.current, e.label("each"), e.label("one"), e.label("each_done")
    e.jump(head)
    e.start(head)
    names = []
    for _ in range(len(carried) + 1):
        e.count += 1
        names.append(f"%k{e.count}")
    at = len(e.lines)
    more = e.assign(f"icmp slt i64 {names[0]}, {count}")
    e.branch(more, inside, after)
    e.start(inside)
    results = body(*names)
    following = e.assign(f"add nuw nsw i64 {names[0]}, 1")
    last = e.current
    e.jump(head)
    phis = [f"  {n} = phi {t} [ {first}, %{before} ], [ {new}, %{last} ]" for n, (t, first), new in zip(
        names, [("i64", "0"), *carried], [following, *results])]
    e.lines[at:at] = phis
    e.start(after)
    return names[1:]


def _next(e, inst):
    """The region that runs next; which threads run it is noted for their warp operations."""
    state, warps = e.table("state", "i32"), inst.attrs["warps"]
    never = 1 << 30

    def look(k, warp, block, thread, other, conflict):
        s = e.assign(f"load i32, ptr {e.at(state, 'i32', k)}")
        here = e.assign(f"icmp sge i32 {s}, 0")
        waits = e.assign(f"icmp slt i32 {s}, {warps}")
        in_warp = e.assign(f"and i1 {here}, {waits}")
        lower = e.assign(f"icmp slt i32 {s}, {warp}")
        take = e.assign(f"and i1 {in_warp}, {lower}")
        new_warp = e.assign(f"select i1 {take}, i32 {s}, i32 {warp}")
        in_block = e.assign(f"icmp sge i32 {s}, {warps}")
        none = e.assign(f"icmp slt i32 {block}, 0")
        first = e.assign(f"and i1 {in_block}, {none}")
        new_block = e.assign(f"select i1 {first}, i32 {s}, i32 {block}")
        new_thread = e.assign(f"select i1 {first}, i64 {k}, i64 {thread}")
        differs = e.assign(f"icmp ne i32 {s}, {new_block}")
        wrong = e.assign(f"and i1 {in_block}, {differs}")
        return [new_warp, new_block, new_thread, e.assign(f"select i1 {wrong}, i64 {k}, i64 {other}"), e.assign(f"or i1 {conflict}, {wrong}")]

    warp, block, thread, other, conflict = _loop(e, e.threads(), [
        ("i32", str(never)), ("i32", "-1"), ("i64", "0"), ("i64", "0"), ("i1", "false")], look)
    some = e.assign(f"icmp ne i32 {warp}, {never}")
    chosen = e.assign(f"select i1 {some}, i32 {warp}, i32 {block}")
    no_conflict = e.assign(f"xor i1 {conflict}, true")
    fine = e.assign(f"or i1 {some}, {no_conflict}")
    good, bad = e.label("agree"), e.label("diverge")
    e.branch(fine, good, bad, likely=True)
    e.start(bad)
    lines = inst.attrs["lines"]
    name = f"@wait_lines{len(lines)}"
    e.module.declarations[f"{name} = internal constant [{len(lines)} x i64] [{', '.join(f'i64 {n}' for n in lines)}]"] = None
    values = []
    for t in (thread, other):
        values += _position(e, t)
        s = e.assign(f"load i32, ptr {e.at(state, 'i32', t)}")
        wide = e.assign(f"zext i32 {s} to i64")
        values.append(e.assign(f"load i64, ptr {e.at(name, 'i64', wide)}"))
    text = ("divergent barrier: thread (%lld, %lld, %lld) waits at line %lld, thread (%lld, %lld, %lld) at line %lld; "
            "all threads of a block must come to the same one")
    e.raise_with(e.place(inst, "RuntimeError", text, ["i64"] * 8), values)
    e.jump(e.fail(inst))
    e.start(good)
    if warps:
        arrived = e.table("arrived", "i8")

        def note(k):
            s = e.assign(f"load i32, ptr {e.at(state, 'i32', k)}")
            same = e.assign(f"icmp eq i32 {s}, {chosen}")
            e.line(f"store i8 {e.assign(f'zext i1 {same} to i8')}, ptr {e.at(arrived, 'i8', k)}")
            return []

        _loop(e, e.threads(), [], note)
    return [e.assign(f"sext i32 {chosen} to i64")]


def _position(e, thread: str) -> list[str]:
    """x, y, z of a thread."""
    width, height = e.word(WORDS["threads"]), e.word(WORDS["threads"] + 1)
    row = e.assign(f"udiv i64 {thread}, {width}")
    return [e.assign(f"urem i64 {thread}, {width}"), e.assign(f"urem i64 {row}, {height}"), e.assign(f"udiv i64 {row}, {height}")]


def _count(e, inst):
    ((_, table),) = e.slot(inst.attrs["slot"])
    masked = inst.attrs["masked"]

    def look(k, yes, all_of):
        p = e.read(table, "i1", k)
        here = "true"
        if masked:
            state = e.assign(f"load i32, ptr {e.at(e.table('state', 'i32'), 'i32', k)}")
            here = e.assign(f"icmp sge i32 {state}, 0")
        counts = e.assign(f"and i1 {p}, {here}")
        return [e.assign(f"add i64 {yes}, {e.assign(f'zext i1 {counts} to i64')}"),
                e.assign(f"add i64 {all_of}, {e.assign(f'zext i1 {here} to i64')}")]

    yes, all_of = _loop(e, e.threads(), [("i64", "0"), ("i64", "0")], look)
    if inst.attrs["how"] == "count":
        return [yes]
    found = e.assign(f"icmp eq i64 {yes}, {all_of}" if inst.attrs["how"] == "and" else f"icmp ne i64 {yes}, 0")
    return [e.assign(f"zext i1 {found} to i64")]


# -- warps


def _lanes(e, inst, thread, *rest):
    attrs = inst.attrs
    lane = e.assign(f"and i64 {thread[0]}, 31")
    base = e.assign(f"sub i64 {thread[0]}, {lane}")
    if attrs["what"] == "shuffle":
        return _shuffle(e, inst, thread[0], lane, base, rest[1][0])
    return _collect(e, inst, thread[0], base, rest[0][0] if rest else None)


def _is_here(e, inst, thread: str) -> str:
    """Whether a thread takes part in the warp operation."""
    exists = e.assign(f"icmp slt i64 {thread}, {e.threads()}")
    if not inst.attrs["masked"]:
        return exists
    safe = e.assign(f"select i1 {exists}, i64 {thread}, i64 0")
    return e.assign(f"and i1 {exists}, {e.read(e.table('arrived', 'i8'), 'i1', safe)}")


def _shuffle(e, inst, thread, lane, base, operand):
    width, how = inst.attrs["width"], inst.attrs["how"]
    first = e.assign(f"and i64 {lane}, {32 - width}")
    if how == "idx":
        within = e.assign(f"and i64 {operand}, {width - 1}")
        source = e.assign(f"add i64 {first}, {within}")
    else:
        source = e.assign(f"{ {'up': 'sub', 'down': 'add', 'xor': 'xor'}[how]} i64 {lane}, {operand}")
    offset = e.assign(f"sub i64 {source}, {first}")
    inside = e.assign(f"icmp ult i64 {offset}, {width}")
    if how == "xor":  # a lower group may be read, a higher one not
        top = e.assign(f"add i64 {first}, {width}")
        inside = e.assign(f"icmp ult i64 {source}, {top}")
    other = e.assign(f"add i64 {base}, {source}")
    safe = e.assign(f"select i1 {inside}, i64 {other}, i64 {thread}")
    here = _is_here(e, inst, safe)
    index = e.assign(f"select i1 {here}, i64 {safe}, i64 {thread}")
    return [e.read(table, c, index) for c, table in e.slot(inst.attrs["slot"])]


def _collect(e, inst, thread, base, mask):
    """What is found by a walk over the lanes."""
    what, how = inst.attrs["what"], inst.attrs["how"]
    slot = e.slot(inst.attrs["slot"]) if inst.attrs["slot"] >= 0 else []
    own = [e.read(table, c, thread) for c, table in slot]
    t = inst.result.type
    carried = [("i64", "0"), ("i64", "0")]  # lanes that take part, lanes that are counted
    if what == "warp_reduce":
        carried += [(c, v) for (c, _), v in zip(slot, own)] + [("i1", "false")]

    def look(k, *so_far):
        here = _is_here(e, inst, e.assign(f"add i64 {base}, {k}"))
        if mask is not None:
            shifted = e.assign(f"lshr i64 {mask}, {k}")
            here = e.assign(f"and i1 {here}, {e.assign(f'trunc i64 {shifted} to i1')}")
        index = e.assign(f"select i1 {here}, i64 {e.assign(f'add i64 {base}, {k}')}, i64 {thread}")
        values = [e.read(table, c, index) for c, table in slot]
        bit = e.assign(f"shl i64 {e.assign(f'zext i1 {here} to i64')}, {k}")
        there = e.assign(f"or i64 {so_far[0]}, {bit}")
        if what == "warp_reduce":
            *old, started = so_far[2:]
            both = _combine(e, t, how, old, values)
            new = [e.assign(f"select i1 {started}, {c} {b}, {c} {v}") for (c, _), b, v in zip(slot, both, values)]
            kept = [e.assign(f"select i1 {here}, {c} {n}, {c} {o}") for (c, _), n, o in zip(slot, new, old)]
            return [there, "0", *kept, e.assign(f"or i1 {started}, {here}")]
        if what == "active_mask":
            return [there, "0"]
        if what in ("match_any", "match_all"):
            same = "true"
            for (c, _), v, o in zip(slot, values, own):
                same = e.assign(f"and i1 {same}, {_same_bits(e, c, v, o)}")
        else:
            same = values[0]
        counted = e.assign(f"and i1 {same}, {here}")
        one = e.assign(f"zext i1 {counted} to i64")
        return [there, e.assign(f"or i64 {so_far[1]}, {e.assign(f'shl i64 {one}, {k}')}")]

    there, counted, *reduced = _loop(e, "32", carried, look)
    if what == "warp_reduce":
        return reduced[:-1]
    if what == "active_mask":
        return [there]
    if what in ("ballot", "match_any"):
        return [counted]
    whole = e.assign(f"icmp eq i64 {counted}, {there}")
    if what == "match_all":
        return [e.assign(f"select i1 {whole}, i64 {there}, i64 0")]
    if how == "all":
        return [whole]
    some = e.assign(f"icmp ne i64 {counted}, 0")
    if how == "any":
        return [some]
    return [e.assign(f"or i1 {whole}, {e.assign(f'xor i1 {some}, true')}")]


_BITS = {"half": "i16", "float": "i32", "double": "i64"}


def _same_bits(e, c, x, y) -> str:
    if c in _BITS:
        x, y = (e.assign(f"bitcast {c} {v} to {_BITS[c]}") for v in (x, y))
        c = _BITS[c]
    return e.assign(f"icmp eq {c} {x}, {y}")


def _is_signed(t: Type) -> bool:
    return t is Int or isinstance(t, NpInt) and t.signed


def _combine(e, t: Type, how: str, x, y):
    """One step of a reduction over lanes."""
    c = components(t)[0]
    if t is Float or isinstance(t, (NpFloat, NpComplex)) or components(t) == ("double", "double"):
        if how == "add":
            return [e.assign(f"fadd {c} {a}, {b}") for a, b in zip(x, y)]
        name = f"llvm.{how}num.{ {'half': 'f16', 'float': 'f32', 'double': 'f64'}[c]}"
        e.declare(f"declare {c} @{name}({c}, {c})")
        return [e.assign(f"call {c} @{name}({c} {x[0]}, {c} {y[0]})")]
    if how in ("min", "max"):
        name = f"llvm.{'s' if _is_signed(t) else 'u'}{how}.{c}"
        e.declare(f"declare {c} @{name}({c}, {c})")
        return [e.assign(f"call {c} @{name}({c} {x[0]}, {c} {y[0]})")]
    return [e.assign(f"{how} {c} {x[0]}, {y[0]}")]


# -- atomics

_RMW = {"add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor", "exch": "xchg", "inc": "uinc_wrap", "dec": "udec_wrap"}
_RMW_FLOAT = {"add": "fadd", "sub": "fsub", "min": "fminimum", "max": "fmaximum", "nanmin": "fmin", "nanmax": "fmax", "exch": "xchg"}


def _atomic(e, inst, array, *rest):
    *indices, value = rest
    t = inst.args[0].type
    how = inst.attrs["how"]
    pointer = memory._address(e, t, array, [x[0] for x in indices])
    results = []
    for part, (c, v) in enumerate(zip(components(t.dtype), value)):
        where, _ = memory._access(e, t, pointer, part)
        if c == "i1":
            byte = e.assign(f"zext i1 {v} to i8")
            old = e.assign(f"atomicrmw {_RMW[how]} ptr {where}, i8 {byte} monotonic")
            results.append(e.assign(f"icmp ne i8 {old}, 0"))
            continue
        if c in _BITS:
            name = _RMW_FLOAT[how]
        elif how in _RMW:
            name = _RMW[how]
        else:
            name = ("" if _is_signed(t.dtype) else "u") + how.removeprefix("nan")
        results.append(e.assign(f"atomicrmw {name} ptr {where}, {c} {v} monotonic"))
    return results


def _cas(e, inst, array, *rest):
    *indices, expected, value = rest
    t = inst.args[0].type
    (c,) = components(t.dtype)
    pointer = memory._address(e, t, array, [x[0] for x in indices])
    wide = _BITS.get(c, "i8" if c == "i1" else c)
    cast = "zext" if c == "i1" else "bitcast"
    x, y = (v if wide == c else e.assign(f"{cast} {c} {v} to {wide}") for v in (expected[0], value[0]))
    pair = e.assign(f"cmpxchg ptr {pointer}, {wide} {x}, {wide} {y} monotonic monotonic")
    old = e.assign(f"extractvalue {{{wide}, i1}} {pair}, 0")
    return [old if wide == c else e.assign(f"icmp ne i8 {old}, 0") if c == "i1" else e.assign(f"bitcast {wide} {old} to {c}")]


def _fence(e, inst):
    e.line("fence seq_cst")
    return []


def _nothing(e, inst, *operands):
    return []


# -- numbers


def _bit_count(name, flag=False):
    def lower(e, inst, x):
        c = e.scalar(inst.args[0].type)
        full = f"llvm.{name}.{c}"
        e.declare(f"declare {c} @{full}({c}{', i1' if flag else ''})")
        result = e.assign(f"call {c} @{full}({c} {x[0]}{', i1 false' if flag else ''})")
        return [result if c == "i64" else e.assign(f"zext {c} {result} to i64")]

    return lower


def _ffs(e, inst, x):
    c = e.scalar(inst.args[0].type)
    (below,) = _bit_count("cttz", True)(e, inst, x)
    none = e.assign(f"icmp eq {c} {x[0]}, 0")
    return [e.assign(f"select i1 {none}, i64 0, i64 {e.assign(f'add i64 {below}, 1')}")]


def _brev(e, inst, x):
    c = e.scalar(inst.args[0].type)
    e.declare(f"declare {c} @llvm.bitreverse.{c}({c})")
    return [e.assign(f"call {c} @llvm.bitreverse.{c}({c} {x[0]})")]


def _rsqrt(e, inst, x):
    c = e.scalar(inst.args[0].type)
    name = f"llvm.sqrt.{ {'half': 'f16', 'float': 'f32', 'double': 'f64'}[c]}"
    e.declare(f"declare {c} @{name}({c})")
    root = e.assign(f"call {e.flags}{c} @{name}({c} {x[0]})")
    return [e.assign(f"fdiv {e.flags}{c} {e.constant(inst.result.type, 1.0)[0]}, {root}")]


def _fail(e, inst, thread):
    where = e.assign(f"getelementptr i64, ptr %context, i64 {WORDS['thread']}")
    e.line(f"store i64 {thread[0]}, ptr {where}")
    e.line(e.failed())
    return []


LOWERINGS = {
    gpu.BLOCK_ID: _word("block"), gpu.BLOCK_DIM: _word("threads"), gpu.GRID_DIM: _word("blocks"),
    gpu.SHARED_ARRAY: _shared, gpu.DYNAMIC_SHARED: _dynamic, gpu.CONSTANT_ARRAY: _constant, grid.LOCAL: _local,
    gpu.ATOMIC: _atomic, gpu.ATOMIC_CAS: _cas, gpu.FENCE: _fence, gpu.NANOSLEEP: _nothing,
    gpu.POPC: _bit_count("ctpop"), gpu.CLZ: _bit_count("ctlz", True), gpu.FFS: _ffs, gpu.BREV: _brev, gpu.RSQRT: _rsqrt,
    grid.SLOT_LOAD: _slot_load, grid.SLOT_STORE: _slot_store, grid.STATE_IS: _state_is, grid.STATE_STORE: _state_store, grid.NEXT: _next,
    grid.COUNT: _count, grid.LANES: _lanes, grid.FAIL: _fail,
}


# ---------------------------------------------------------------- the door


def grid_text(functions: list[ir.Function], plan, target: Target, options: Options):
    """(LLVM text, argument types, module)."""
    entry = functions[0]
    module = GridModule(options, plan)
    for fn in functions:
        module.add(fn)
    types = tuple(c for p in entry.params for _, c in parameters(p.type))
    e = Emitter(module)
    given = []
    for k, c in enumerate(types):
        where = e.assign(f"getelementptr i64, ptr %arguments, i64 {k}")
        given.append(e.assign(f"load {c}, ptr {where}, align 8"))
    args = [f"{c} {v}" for p in entry.params for c, v in zip(components(p.type), _rebuild(e, p.type, given), strict=True)]
    words = [e.assign(f"getelementptr i64, ptr %context, i64 {k}") for k in range(9)]
    width, height = (e.assign(f"load i64, ptr {words[6 + k]}") for k in range(2))
    e.jump("more")
    e.start("more")
    block = e.assign("atomicrmw add ptr %counter, i64 1 monotonic")
    e.branch(e.assign(f"icmp ult i64 {block}, %blocks"), "run", "end")
    e.start("run")
    row = e.assign(f"udiv i64 {block}, {width}")
    e.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    shared, size = (e.assign(f"load i64, ptr {e.assign(f'getelementptr i64, ptr %context, i64 {WORDS[name]}')}") for name in ("shared", "shared_bytes"))
    e.line(f"call void @llvm.memset.p0.i64(ptr {e.assign(f'inttoptr i64 {shared} to ptr')}, i8 -1, i64 {size}, i1 false)")
    for where, value in zip(words, (f"urem i64 {block}, {width}", f"urem i64 {row}, {height}", f"udiv i64 {row}, {height}")):
        e.line(f"store i64 {e.assign(value)}, ptr {where}")
    status, _ = e.native_call(entry, args)
    e.branch(e.assign(f"icmp eq i32 {status}, 0"), "more", "failed", likely=True)
    e.start("failed")
    e.line("atomicrmw umax ptr %counter, i64 %blocks monotonic")
    e.line("ret i32 1")
    e.start("end")
    e.line("ret i32 0")
    module.bodies.append("\n".join([f"define i32 @{ENTRY}(ptr %context, ptr %arguments, ptr %counter, i64 %blocks) nounwind {{", "start:",
                                    *e.entry, *e.lines, "}"]))
    head = f'target triple = "{target.triple}"\ntarget datalayout = "{target.layout}"\n'
    tail = f"\n!8 = !{{i64 1, i64 {1 << 31}}}\n!9 = !{{i64 0, i64 {1 << 31}}}"
    return head + module.text() + tail, types, module


def compile_grid(functions: list[ir.Function], plan, options: Options = Options(), target: Target | None = None) -> GridKernel:
    """Native code of a block function, first of `functions`, over a whole grid."""
    target = target or link.host_target()
    name = functions[0].qualname
    with timed("emit"):
        text, types, module = grid_text(functions, plan, target, options)
    dump("llvm", name, lambda: text)
    with timed("llvm"):
        code = link.to_object(text, target)
    dump("asm", name, lambda: link.to_assembly(text, target))
    return GridKernel(code, types, tuple(module.sites), module.shared, plan.local_bytes, text)
