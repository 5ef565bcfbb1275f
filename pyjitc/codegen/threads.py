"""Lowerings of kernel operations for the code of a block on the CPU: positions, memory, states, warps, atomics, bits.

The emitter is that of grid.py: it has `word`, `threads`, `table`, `slot`, `at`, `read` and `raise_with` besides the
methods of ops/emitter.py.
"""
from __future__ import annotations

from ..ops import gpu, grid, memory
from ..types.kinds import Float, NpComplex, NpFloat, Type
from .emitter import memory_type
from .leaves import components
from .gridkernel import CONTROL, STOP, WORDS
from .kernel_ops import as_bits, atomic, call, compare_and_swap, find_first_set, is_signed, reverse_bits

__all__ = ["GROUP", "LOWERINGS", "MAX_THREADS", "POLL_TEXT", "each", "position"]

MAX_THREADS = 1024
GROUP = memory.PARALLEL
FUEL = memory.FUEL << 6  # about ten milliseconds: a poll takes the interpreter lock


def _word(name):
    return lambda e, inst: [e.word(WORDS[name] + inst.attrs["axis"])]


def _run(e, inst):
    return [e.word(WORDS["run"])]


def _shared(e, inst):
    t, shape = inst.attrs["type"], inst.attrs["shape"]
    size = gpu.shape_bytes(t, shape)
    name = e.tables.get(id(inst))
    if name is None:
        if e.module.options.debug:
            return [_watched(e, inst, size), "null", *_shape(t, shape)]
        e.count += 1
        name = e.tables[id(inst)] = f"%shared{e.count}"
        e.entry += [f"  {name} = alloca [{size} x i8], align 64",
                    f"  call void @llvm.memset.p0.i64(ptr {name}, i8 -1, i64 {size}, i1 false)"]
        e.module.take_shared(size)
        e.module.stack += size
    return [name, "null", *_shape(t, shape)]


def _watched(e, inst, size: int) -> str:
    """A pointer to shared memory behind the launch's shared memory; every byte of it has an access record."""
    given = e.word(WORDS["shared_bytes"])
    behind = e.assign(f"and i64 {e.assign(f'add i64 {given}, 63')}, -64")
    start = e.assign(f"add i64 {e.word(WORDS['shared'])}, {behind}")
    return e.assign(f"inttoptr i64 {e.assign(f'add i64 {start}, {e.module.take_shared(size)}')} to ptr")


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
        e.line(f"store {memory_type(c)} {v}, ptr {e.at(table, memory_type(c), '0' if common else thread[0])}{GROUP}")
    return []


def _state_is(e, inst, thread):
    state = e.assign(f"load i32, ptr {e.at(e.table('state', 'i32'), 'i32', thread[0])}{GROUP}")
    return [e.assign(f"icmp eq i32 {state}, {inst.attrs['region']}")]


def _state_store(e, inst, thread):
    e.line(f"store i32 {inst.attrs['region']}, ptr {e.at(e.table('state', 'i32'), 'i32', thread[0])}{GROUP}")
    return []


def each(e, count: str, carried, body):
    """for (k = 0; k < count; k++) carried = body(k, *carried); the values after it. carried: (type, first value)
    pairs."""
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
    """Set the region that runs next, and record which threads run it, for their warp operations."""
    state, warps = e.table("state", "i32"), inst.attrs["warps"]
    never = 1 << 30
    debug = e.module.options.debug

    def look(k, warp, block, thread, other, conflict, *ended):
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
        if ended:
            ended = [e.assign(f"select i1 {e.assign(f'icmp slt i32 {s}, -1')}, i64 {k}, i64 {ended[0]}")]
        return [new_warp, new_block, new_thread, e.assign(f"select i1 {wrong}, i64 {k}, i64 {other}"),
                e.assign(f"or i1 {conflict}, {wrong}"), *ended]

    warp, block, thread, other, conflict, *ended = each(e, e.threads(), [
        ("i32", str(never)), ("i32", "-1"), ("i64", "0"), ("i64", "0"), ("i1", "false"),
        *([("i64", "-1")] if debug else [])], look)
    some = e.assign(f"icmp ne i32 {warp}, {never}")
    chosen = e.assign(f"select i1 {some}, i32 {warp}, i32 {block}")
    no_conflict = e.assign(f"xor i1 {conflict}, true")
    fine = e.assign(f"or i1 {some}, {no_conflict}")
    good, bad = e.label("agree"), e.label("diverge")
    e.branch(fine, good, bad, likely=True)
    e.start(bad)
    lines = inst.attrs["lines"]
    name = f"@wait_lines{len(lines)}"
    e.module.declarations[f"{name} = internal constant [{len(lines)} x i64] "
                          f"[{', '.join(f'i64 {n}' for n in lines)}]"] = None
    values = []
    for t in (thread, other):
        values += position(e, t)
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

        each(e, e.threads(), [], note)
    if debug:
        e.no_thread_ended(inst, some, block, thread, *ended, lines=name)
        e.count_wait(some, warps)
    return [e.assign(f"sext i32 {chosen} to i64")]


def position(e, thread: str) -> list[str]:
    """The x, y and z of a thread."""
    width, height = e.word(WORDS["threads"]), e.word(WORDS["threads"] + 1)
    row = e.assign(f"udiv i64 {thread}, {width}")
    return [e.assign(f"urem i64 {thread}, {width}"), e.assign(f"urem i64 {row}, {height}"),
            e.assign(f"udiv i64 {row}, {height}")]


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

    yes, all_of = each(e, e.threads(), [("i64", "0"), ("i64", "0")], look)
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
    """The values collected in a loop over the lanes."""
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

    there, counted, *reduced = each(e, "32", carried, look)
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


def _same_bits(e, c, x, y) -> str:
    (c, x), (_, y) = as_bits(e, c, x), as_bits(e, c, y)
    return e.assign(f"icmp eq {c} {x}, {y}")


def _combine(e, t: Type, how: str, x, y):
    """One step of a reduction over lanes."""
    c = components(t)[0]
    if t is Float or isinstance(t, (NpFloat, NpComplex)) or components(t) == ("double", "double"):
        if how == "add":
            return [e.assign(f"fadd {c} {a}, {b}") for a, b in zip(x, y)]
        name = f"llvm.{how}num.{ {'half': 'f16', 'float': 'f32', 'double': 'f64'}[c]}"
        return [call(e, c, name, f"{c} {x[0]}", f"{c} {y[0]}")]
    if how in ("min", "max"):
        name = f"llvm.{'s' if is_signed(t) else 'u'}{how}.{c}"
        return [call(e, c, name, f"{c} {x[0]}", f"{c} {y[0]}")]
    return [e.assign(f"{how} {c} {x[0]}, {y[0]}")]


# -- fences and waits


def _fence(e, inst):
    e.line("fence seq_cst")
    return []


POLL_TEXT = f"""define internal i32 @pyjitc_poll(ptr %context) noinline cold nounwind {{
  %counter = load ptr, ptr (getelementptr i64, ptr %context, i64 {WORDS['counter']})
  %now = load atomic volatile i64, ptr %counter monotonic, align 8
  br i1 (icmp uge i64 %now, {STOP}), label %leave, label %ask
leave:
  ret i32 1
ask:
  %lock = call i32 @PyGILState_Ensure()
  br i1 (icmp eq i32 (call i32 @PyErr_CheckSignals()), 0), label %go, label %interrupted
interrupted:
  call void @PyErr_Clear()
  store atomic i64 {STOP}, ptr %counter monotonic, align 8
  call void @PyGILState_Release(i32 %lock)
  ret i32 1
go:
  call void @PyGILState_Release(i32 %lock)
  ret i32 0
}}"""


_GRID_WAIT = """define internal i32 @pyjitc_grid_wait(ptr %context) noinline cold nounwind {
start:
""" + "".join(f"  %{name}.w = getelementptr i64, ptr %context, i64 {WORDS['blocks'] + k}\n  %{name} = load i64, ptr "
              f"%{name}.w\n" for k, name in enumerate("xyz")) + f"""
  %blocks = mul i64 (mul i64 %x, %y), %z
  %next = load ptr, ptr (getelementptr i64, ptr %context, i64 {WORDS['counter']})
""" + "".join(f"  %{name} = getelementptr i64, ptr %next, i64 {CONTROL[name]}\n"
              for name in ("arrived", "round", "failed", "ended")) + f"""
  %before = load atomic i64, ptr %round seq_cst, align 8
  %old = atomicrmw add ptr %arrived, i64 1 seq_cst
  br i1 (icmp eq i64 (add i64 %old, 1), %blocks), label %release, label %look
release:
  store atomic i64 0, ptr %arrived seq_cst, align 8
  atomicrmw add ptr %round, i64 1 seq_cst
  ret i32 0
look:
  %times = phi i64 [0, %start], [%more, %again]
  %more = add i64 %times, 1
  %there = load atomic i64, ptr %arrived seq_cst, align 8
  %gone = load atomic i64, ptr %ended seq_cst, align 8
  %wrong = load atomic i64, ptr %failed seq_cst, align 8
  %number = load atomic i64, ptr %next seq_cst, align 8
  %now = load atomic i64, ptr %round seq_cst, align 8
  br i1 (icmp eq i64 %now, %before), label %wait, label %through
through:
  ret i32 0
wait:
  br i1 (or i1 (icmp uge i64 %number, {STOP}), (icmp ne i64 %wrong, 0)), label %leave, label %count
leave:
  ret i32 1
count:
  %sum = add i64 %gone, %there
  br i1 (and i1 (icmp ne i64 %gone, 0), (icmp uge i64 %sum, %blocks)), label %alone, label %rest
alone:
  ret i32 2
rest:
  call i32 @sched_yield()
  br i1 (icmp eq i64 (and i64 %times, 16383), 16383), label %ask, label %again
ask:
  call i32 @pyjitc_poll(ptr %context)
again:
  br label %look
}}"""


def _grid_wait(e, inst):
    e.module.extra[_GRID_WAIT] = None
    status = e.assign("call i32 @pyjitc_grid_wait(ptr %context)")
    e.raise_unless(e.assign(f"icmp ne i32 {status}, 2"), inst, "RuntimeError",
                   "barrier of the grid: some blocks have ended, others wait; all blocks must come to "
                   "cuda.cg.this_grid().sync()")
    go = e.label("go")
    e.branch(e.assign(f"icmp eq i32 {status}, 0"), go, e.fail(inst), likely=True)
    e.start(go)
    # On a busy machine the threads of other blocks may have run for whole time slices: a loop of barriers polls soon.
    fuel = e.fuel()
    left = e.assign(f"sub i64 {e.assign(f'load i64, ptr {fuel}')}, {FUEL // 64}")
    e.line(f"store i64 {left}, ptr {fuel}")
    return ["0"]


def _poll(e, inst):
    """As `memory.POLL`; takes the interpreter lock when the counter has run out."""
    fuel = e.fuel()
    now = e.assign(f"sub i64 {e.assign(f'load i64, ptr {fuel}')}, {inst.attrs['cost']}")
    e.line(f"store i64 {now}, ptr {fuel}")
    with e.when(e.assign(f"icmp slt i64 {now}, 0"), "poll", likely=False):
        e.line(f"store i64 {FUEL}, ptr {fuel}")
        status = e.assign("call i32 @pyjitc_poll(ptr %context)")
        e.raise_unless(e.assign(f"icmp eq i32 {status}, 0"), inst, "KeyboardInterrupt", "")
    return []


def _nothing(e, inst, *operands):
    return []


# -- numbers


def _rsqrt(e, inst, x):
    c = e.scalar(inst.args[0].type)
    name = f"llvm.sqrt.{ {'half': 'f16', 'float': 'f32', 'double': 'f64'}[c]}"
    root = e.assign(f"call {e.flags}{c} @{name}({c} {x[0]})")
    return [e.assign(f"fdiv {e.flags}{c} {e.constant(inst.result.type, 1.0)[0]}, {root}")]


def _fail(e, inst, thread):
    where = e.assign(f"getelementptr i64, ptr %context, i64 {WORDS['thread']}")
    e.line(f"store i64 {thread[0]}, ptr {where}")
    e.line(e.failed())
    return []


def _short_text(kind: str, least: int, most: int) -> str:
    """A function that returns the shortest text which parses to the number, for types with fewer bits than a double."""
    return f"""define internal ptr @pyjitc_text_of_{kind}({kind} %x) noinline cold nounwind {{
  %wide = fpext {kind} %x to double
try:
  %digits = phi i32 [{least}, %0], [%next, %again]
  %text = call ptr @PyOS_double_to_string(double %wide, i8 signext 103, i32 %digits, i32 2, ptr null)
  %narrow = fptrunc double (call double @PyOS_string_to_double(ptr %text, ptr null, ptr null)) to {kind}
  br i1 (or i1 (fcmp oeq {kind} %narrow, %x), (icmp eq i32 %digits, {most})), label %found, label %again
again:
  call void @PyMem_Free(ptr %text)
  %next = add i32 %digits, 1
  br label %try
found:
  ret ptr %text
}}"""


_SHORT_TEXT = {"float": _short_text("float", 6, 9), "half": _short_text("half", 3, 5)}


def _print(e, inst, *operands):
    """print to sys.stdout, in one write."""
    form, given, texts = "", [], []
    lock = e.assign("call i32 @PyGILState_Ensure()")
    forms = inst.attrs.get("forms") or ("",) * len(operands)
    for text, value, x, said in zip(inst.attrs["texts"], operands, inst.args, forms):
        kind = e.components(x.type)[0]
        if kind == "i1":
            spec = "%s"
            given.append(f"ptr "
                         f"{e.assign(f'select i1 {value[0]}, ptr {e.string(str(True))}, ptr {e.string(str(False))}')}")
        elif said and kind in ("double", "float", "half"):
            width, _, digits = said[:-1].partition(".")
            spec = f"%{width}s"
            wide = value[0] if kind == "double" else e.assign(f"fpext {kind} {value[0]} to double")
            texts.append(e.assign(f"call ptr @PyOS_double_to_string(double {wide}, i8 signext {ord(said[-1])}, i32 "
                                  f"{digits or 6}, i32 0, ptr null)"))
            given.append(f"ptr {texts[-1]}")
        elif kind == "double":
            spec = "%s"
            texts.append(e.assign(f"call ptr @PyOS_double_to_string(double {value[0]}, i8 signext 114, i32 0, i32 2, "
                                  f"ptr null)"))
            given.append(f"ptr {texts[-1]}")
        elif kind in ("float", "half"):
            spec = "%s"
            e.module.extra[_SHORT_TEXT[kind]] = None
            texts.append(e.assign(f"call ptr @pyjitc_text_of_{kind}({kind} {value[0]})"))
            given.append(f"ptr {texts[-1]}")
        else:
            signed = getattr(x.type, "signed", True)
            spec, extension = f"%{said.rstrip('d')}ll{'d' if signed else 'u'}", "s" if signed else "z"
            given.append(f"i64 {value[0] if kind == 'i64' else e.assign(f'{extension}ext {kind} {value[0]} to i64')}")
        form += text.replace("%", "%%") + spec
    form += inst.attrs["texts"][-1].replace("%", "%%")
    e.line(f"call void (ptr, ...) @PySys_FormatStdout({', '.join([f'ptr {e.string(form)}', *given])})")
    for text in texts:
        e.line(f"call void @PyMem_Free(ptr {text})")
    e.line(f"call void @PyGILState_Release(i32 {lock})")
    return []


LOWERINGS = {
    grid.RUN: _run,
    gpu.BLOCK_ID: _word("block"), gpu.BLOCK_DIM: _word("threads"), gpu.GRID_DIM: _word("blocks"),
    gpu.SHARED_ARRAY: _shared, gpu.DYNAMIC_SHARED: _dynamic, gpu.CONSTANT_ARRAY: _constant, grid.LOCAL: _local,
    gpu.ATOMIC: atomic("monotonic"), gpu.ATOMIC_CAS: compare_and_swap("monotonic"), gpu.FENCE: _fence,
    gpu.NANOSLEEP: _nothing, memory.POLL: _poll, gpu.RSQRT: _rsqrt,
    gpu.PRINT: _print, gpu.FFS: find_first_set, gpu.BREV: reverse_bits,
    grid.SLOT_LOAD: _slot_load, grid.SLOT_STORE: _slot_store, grid.STATE_IS: _state_is, grid.STATE_STORE: _state_store,
    grid.NEXT: _next, grid.COUNT: _count, grid.GRID_WAIT: _grid_wait, grid.LANES: _lanes, grid.FAIL: _fail,
}
