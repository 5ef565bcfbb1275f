"""The checks of the option `debug` for the threads of a block: races in shared memory, reads of uninitialised memory,
warp operations with lanes that have not reached them.

Every byte of shared memory has a record of the thread that wrote it last, and of the first and the last thread that
read it since the last wait; each with the numbers of the last waits of the block and of the thread's warp. Two accesses
of different threads are a race if there was no wait between them, at least one writes, and they are neither both atomic
nor both write the same value, as threads do that set a flag. (Detection as in Zheng et al.: GMRace, 2013: by barriers
alone, without happens-before through atomics.)
"""
from __future__ import annotations

from ..ops import memory
from .gridkernel import RECORD, WORDS
from .threads import each, position

__all__ = ["count_wait", "lanes_are_here", "no_thread_ended", "start_block", "touch"]


def count_wait(e, some: str, warps: int) -> None:
    """Number the wait that has ended. some: whether it was a wait of warps."""
    waits, block_wait, warp_waits = (e.assign(f"getelementptr i64, ptr %context, i64 {WORDS[name]}") for name in (
        "waits", "block_wait", "warp_waits"))
    number = e.assign(f"add i64 {e.assign(f'load i64, ptr {waits}')}, 1")
    e.line(f"store i64 {number}, ptr {waits}")
    last = e.assign(f"load i64, ptr {block_wait}")
    e.line(f"store i64 {e.assign(f'select i1 {some}, i64 {last}, i64 {number}')}, ptr {block_wait}")
    if not warps:
        return

    def stamp(k):
        here = e.read(e.table("arrived", "i8"), "i1", k)
        where = e.at(warp_waits, "i64", e.assign(f"lshr i64 {k}, 5"))
        old = e.assign(f"load i64, ptr {where}")
        e.line(f"store i64 {e.assign(f'select i1 {here}, i64 {number}, i64 {old}')}, ptr {where}")
        return []

    each(e, e.threads(), [], stamp)


def no_thread_ended(e, inst, some: str, block: str, thread: str, ended: str, lines: str) -> None:
    """Raise where the block waits and a thread has run to the end of the kernel. some: whether warps wait; block: the
    region for which `thread` waits, at the line in the table `lines`; ended: the number of a thread that has ended, or
    -1."""
    nobody = e.assign(f"icmp slt i64 {ended}, 0")
    ends = e.assign(f"icmp slt i32 {block}, 0")
    good, bad = e.label("all_wait"), e.label("ended")
    e.branch(e.assign(f"or i1 {nobody}, {e.assign(f'or i1 {some}, {ends}')}"), good, bad, likely=True)
    e.start(bad)
    where = e.assign(f"load i64, ptr {e.at(lines, 'i64', e.assign(f'zext i32 {block} to i64'))}")
    state = e.assign(f"load i32, ptr {e.at(e.table('state', 'i32'), 'i32', ended)}")
    line = e.assign(f"sext i32 {e.assign(f'sub i32 -1, {state}')} to i64")
    text = ("divergent barrier: thread (%lld, %lld, %lld) waits at line %lld, thread (%lld, %lld, %lld) went from line "
            "%lld to the end of the kernel; all threads of a block must come to the same one, or return before it")
    e.raise_with(e.place(inst, "RuntimeError", text, ["i64"] * 8),
                 [*position(e, thread), where, *position(e, ended), line])
    e.jump(e.fail(inst))
    e.start(good)


def start_block(e) -> None:
    """Reset the records: no byte has been accessed."""
    where = [e.assign(f"getelementptr i64, ptr %context, i64 {WORDS[name]}") for name in ("record", "watched")]
    record, size = e.assign(f"load ptr, ptr {where[0]}"), e.assign(f"load i64, ptr {where[1]}")
    e.line(f"call void @llvm.memset.p0.i64(ptr {record}, i8 0, i64 {e.assign(f'mul i64 {size}, {RECORD}')}, i1 false)")


_CONFLICTS = {2: "reads what thread (%lld, %lld, %lld) wrote", 3: "writes what thread (%lld, %lld, %lld) read",
              4: "writes what thread (%lld, %lld, %lld) wrote"}


def touch(e, inst, thread, array, *rest):
    """Check an access against the record, and record it."""
    e.module.extra[_TEXT] = None
    t = inst.args[1].type
    pointer = memory.element_address(e, t, array, [x[0] for x in rest[:t.ndim]])
    what = inst.attrs["what"]
    for value in rest[t.ndim:]:
        what = e.assign(f"select i1 {_is_there(e, t, pointer, value)}, i64 3, i64 {what}")
    out = e.alloca("i64", 2)
    line = inst.loc.line or e.fn.firstlineno
    size, unit = memory.item_bytes(t.dtype), inst.attrs["unit"]
    code = e.assign(f"call i64 @pyjitc_touch(ptr %context, ptr {pointer}, i64 {size}, i64 {unit}, i64 {thread[0]}, "
                    f"i64 {line}, i64 {what}, ptr {out})")
    good, bad, unwritten, *labels = map(e.label, ("ordered", "race", "unwritten", *(["race"] * len(_CONFLICTS))))
    e.branch(e.assign(f"icmp eq i64 {code}, 0"), good, bad, likely=True)
    e.start(bad)
    e.line(f"switch i64 {code}, label %{unwritten} "
           f"[{' '.join(f'i64 {n}, label %{label}' for n, label in zip(_CONFLICTS, labels))}]")
    for text, label in zip(_CONFLICTS.values(), labels):
        e.start(label)
        other = e.assign(f"load i64, ptr {out}")
        where = e.assign(f"load i64, ptr {e.at(out, 'i64', '1')}")
        text = f"race in shared memory: thread (%lld, %lld, %lld) {text} at line %lld, and no barrier stands between"
        e.raise_with(e.place(inst, "RuntimeError", text, ["i64"] * 7),
                     [*position(e, thread[0]), *position(e, other), where])
        e.jump(e.fail(inst))
    e.start(unwritten)
    e.raise_with(e.place(inst, "RuntimeError", "shared memory is read that no thread of the block has written so far",
                         []), [])
    e.jump(e.fail(inst))
    e.start(good)
    return []


def _is_there(e, t, pointer: str, value) -> str:
    """Whether the element at `pointer` of an array of type `t` has the bits of `value`."""
    found = "true"
    for part, (ty, v) in enumerate(zip(e.components(t.dtype), value)):
        where, align = memory.component_address(e, t, pointer, part)
        bits = {"i1": "i8", "half": "i16", "float": "i32", "double": "i64"}.get(ty, ty)
        if bits != ty:
            v = e.assign(f"{'zext' if ty == 'i1' else 'bitcast'} {ty} {v} to {bits}")
        there = e.assign(f"load {bits}, ptr {where}, align {align}")
        found = e.assign(f"and i1 {found}, {e.assign(f'icmp eq {bits} {there}, {v}')}")
    return found


def lanes_are_here(e, inst, thread, mask):
    lane = e.assign(f"and i64 {thread[0]}, 31")
    base = e.assign(f"sub i64 {thread[0]}, {lane}")

    def look(k, missing):
        other = e.assign(f"add i64 {base}, {k}")
        safe = e.assign(f"select i1 {e.assign(f'icmp slt i64 {other}, {e.threads()}')}, i64 {other}, i64 {thread[0]}")
        arrived = e.read(e.table("arrived", "i8"), "i1", safe)
        state = e.assign(f"load i32, ptr {e.at(e.table('state', 'i32'), 'i32', safe)}")
        running = e.assign(f"icmp sge i32 {state}, 0")
        asked = e.assign(f"trunc i64 {e.assign(f'lshr i64 {mask[0]}, {k}')} to i1")
        elsewhere = e.assign(f"and i1 {running}, {e.assign(f'xor i1 {arrived}, true')}")
        return [e.assign(f"select i1 {e.assign(f'and i1 {asked}, {elsewhere}')}, i64 {k}, i64 {missing}")]

    named = e.assign(f"trunc i64 {e.assign(f'lshr i64 {mask[0]}, {lane}')} to i1")
    e.raise_unless(named, inst, "RuntimeError", "lane %lld calls a warp operation whose mask leaves it out",
                   f"i64 {lane}")
    (missing,) = each(e, "32", [("i64", "-1")], look)
    e.raise_unless(e.assign(f"icmp slt i64 {missing}, 0"), inst, "RuntimeError",
                   "lane %lld is in the mask of a warp operation, but waits elsewhere", f"i64 {missing}")
    return []


# i64 pyjitc_touch(context, address, size, unit, thread, line, what, out): 0 no error, 1 uninitialised memory, else a
# key of _CONFLICTS, with the other thread and its line in `out`; what: 0 read, 1 write, 2 atomic, 3 write of the same
# value. An element has a record for each `unit` bytes: the last writer, the first and the last reader (thread + 1, wait
# of the block, wait of the warp, line: i32 each), then the kind of the write.
_TEXT = f"""define internal i64 @pyjitc_touch(ptr %context, ptr %address, i64 %bytes, i64 %unit, i64 %thread,
        i64 %line, i64 %what, ptr %out) noinline nounwind {{
  %base.p = getelementptr i64, ptr %context, i64 {WORDS['shared']}
  %size.p = getelementptr i64, ptr %context, i64 {WORDS['watched']}
  %offset = sub i64 (ptrtoint ptr %address to i64), (load i64, ptr %base.p)
  br i1 (icmp ult i64 %offset, (load i64, ptr %size.p)), label %look, label %fine
look:
  %k = phi i64 [ 0, %0 ], [ %next, %ordered ]
  %part = add i64 %offset, %k
  %code = call i64 @pyjitc_touch_part(ptr %context, i64 %part, i64 %thread, i64 %line, i64 %what, ptr %out)
  %next = add i64 %k, %unit
  br i1 (icmp eq i64 %code, 0), label %ordered, label %found
ordered:
  br i1 (icmp ult i64 %next, %bytes), label %look, label %fine
found:
  ret i64 %code
fine:
  ret i64 0
}}
define internal i64 @pyjitc_touch_part(ptr %context, i64 %offset, i64 %thread, i64 %line, i64 %what,
        ptr %out) nounwind {{
  %records.p = getelementptr i64, ptr %context, i64 {WORDS['record']}
  %write = getelementptr i8, ptr (load ptr, ptr %records.p), i64 (mul i64 %offset, {RECORD})
  %first = getelementptr i8, ptr %write, i64 16
  %last = getelementptr i8, ptr %write, i64 32
  %kind.p = getelementptr i8, ptr %write, i64 48
  %bw32 = trunc i64 (load i64, ptr (getelementptr i64, ptr %context, i64 {WORDS['block_wait']})) to i32
  %warp = lshr i64 %thread, 5
  %ww.q = getelementptr i64, ptr %context, i64 {WORDS['warp_waits']}
  %ww32 = trunc i64 (load i64, ptr (getelementptr i64, ptr %ww.q, i64 %warp)) to i32
  %me = add i32 (trunc i64 %thread to i32), 1
  %line32 = trunc i64 %line to i32
  %written.now = and i64 %what, 1
  %atomic = icmp eq i64 %what, 2
  %writer = load i32, ptr %write
  br i1 (and i1 (icmp eq i32 %writer, 0), (icmp eq i64 %written.now, 0)), label %empty, label %written
empty:
  ret i64 1
written:
  %was = icmp eq i32 (load i32, ptr %kind.p), 2
  %plain = xor i1 %was, true
  %fits = or i1 (and i1 %atomic, %was), (and i1 (icmp eq i64 %what, 3), %plain)
  %w = call i1 @pyjitc_conflict(ptr %write, i32 %me, i32 %bw32, i32 %ww32)
  br i1 (and i1 %w, (xor i1 %fits, true)), label %against.writer, label %readers
against.writer:
  %code.w = select i1 (icmp eq i64 %what, 0), i64 2, i64 4
  br label %report
readers:
  br i1 (icmp eq i64 %what, 0), label %read, label %change
read:
  %f.bw = load i32, ptr (getelementptr i32, ptr %first, i64 1)
  %f.ww = load i32, ptr (getelementptr i32, ptr %first, i64 2)
  %f.t = load i32, ptr %first
  %f.sameb = icmp eq i32 %f.bw, %bw32
  %f.samew = icmp eq i32 %f.ww, %ww32
  br i1 (and i1 (and i1 %f.sameb, %f.samew), (icmp ne i32 %f.t, 0)), label %note.last, label %note.first
note.first:
  call void @pyjitc_stamp(ptr %first, i32 %me, i32 %bw32, i32 %ww32, i32 %line32)
note.last:
  call void @pyjitc_stamp(ptr %last, i32 %me, i32 %bw32, i32 %ww32, i32 %line32)
  ret i64 0
change:
  %r1 = call i1 @pyjitc_conflict(ptr %first, i32 %me, i32 %bw32, i32 %ww32)
  br i1 %r1, label %report, label %second
second:
  br i1 (call i1 @pyjitc_conflict(ptr %last, i32 %me, i32 %bw32, i32 %ww32)), label %report, label %note
note:
  %w.bw.p = getelementptr i32, ptr %write, i64 1
  %w.here = and i1 (icmp eq i32 (load i32, ptr %w.bw.p), %bw32), (icmp eq i32 %writer, %me)
  br i1 (and i1 (and i1 %w.here, %plain), %atomic), label %fine, label %enter
enter:
  call void @pyjitc_stamp(ptr %write, i32 %me, i32 %bw32, i32 %ww32, i32 %line32)
  store i32 (trunc i64 %what to i32), ptr %kind.p
  ret i64 0
report:
  %who = phi ptr [ %write, %against.writer ], [ %first, %change ], [ %last, %second ]
  %code = phi i64 [ %code.w, %against.writer ], [ 3, %change ], [ 3, %second ]
  %other1 = load i32, ptr %who
  store i64 (zext i32 (sub i32 %other1, 1) to i64), ptr %out
  %ol.p = getelementptr i32, ptr %who, i64 3
  store i64 (zext i32 (load i32, ptr %ol.p) to i64), ptr (getelementptr i64, ptr %out, i64 1)
  ret i64 %code
fine:
  ret i64 0
}}
define internal void @pyjitc_stamp(ptr %who, i32 %me, i32 %bw, i32 %ww, i32 %line) alwaysinline nounwind {{
  store i32 %me, ptr %who
  store i32 %bw, ptr (getelementptr i32, ptr %who, i64 1)
  store i32 %ww, ptr (getelementptr i32, ptr %who, i64 2)
  store i32 %line, ptr (getelementptr i32, ptr %who, i64 3)
  ret void
}}
define internal i1 @pyjitc_conflict(ptr %who, i32 %me, i32 %bw, i32 %ww) alwaysinline nounwind {{
  %other = load i32, ptr %who
  %some = icmp ne i32 %other, 0
  %differs = icmp ne i32 %other, %me
  %same = icmp eq i32 (load i32, ptr (getelementptr i32, ptr %who, i64 1)), %bw
  %samew = icmp eq i32 (load i32, ptr (getelementptr i32, ptr %who, i64 2)), %ww
  %o0 = sub i32 %other, 1
  %m0 = sub i32 %me, 1
  %unordered = or i1 (icmp ne i32 (lshr i32 %o0, 5), (lshr i32 %m0, 5)), %samew
  ret i1 (and i1 (and i1 %some, %differs), (and i1 %same, %unordered))
}}"""
