"""A sampling profiler of the lines of compiled code: a timer interrupts the program, a handler in native code records
the instruction pointer, and the line table of the code maps it to a line.

The code is compiled again with that table (codegen/located.py); its instructions are the same as without. Where the
program is in a function that a line calls, such as one of the interpreter, that line gets the sample: the handler
looks on the stack for addresses to which calls in the compiled code return. A word that an earlier call has left there
may look like one, so that a few samples may fall on another line with a call.
"""
from __future__ import annotations

import ctypes
import os
import signal
import struct
from collections import Counter
from time import perf_counter, sleep

from ..base.stack import bounds_of_this_thread
from ..codegen import link, located
from ..pipeline import specialisation, stages
from ..runtime.loader import load
from .dispatch import Dispatcher

__all__ = ["Profile", "lines_of", "profile", "speedscope"]

_INTERVAL = 0.001  # seconds of processor time
_KEPT = 1 << 16  # the maximum number of samples
_kept: list = []  # the handlers, which are never freed
_PLACES = 8  # of a sample: the instruction pointer, or 0 where it is not in the code, and return addresses on the stack
_SCANNED = 1 << 16  # the bytes of the stack that are searched
# The offsets in a ucontext_t of the instruction pointer and the stack pointer, among the general registers.
_RIP, _RSP = 40 + 16 * 8, 40 + 15 * 8
_LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib", "")
_SIGINFO, _RESTART, _ONSTACK = 4, 0x10000000, 0x08000000
# code, size: where the compiled code is; bottom, top, thread: the bounds of the stack of the profiled thread, and its
# thread pointer, the first word of the segment FS (address space 257). No other stack is searched, such as that of a
# signal handler, since nothing tells where it ends. A return address follows an instruction `call`: E8 and four bytes,
# or FF with 2 as the middle part of the next byte, of two, three or six bytes.
_HANDLER = f"""
@samples = global [{_KEPT * _PLACES} x i64] zeroinitializer
@count = global i64 0
@code = global i64 0
@size = global i64 0
@bottom = global i64 0
@top = global i64 0
@thread = global i64 0

define void @start() nounwind {{
  %own = load i64, ptr addrspace(257) null
  store i64 %own, ptr @thread
  ret void
}}

define internal i1 @is_call(i64 %back, i64 %at) nounwind {{
  %where = sub i64 %at, %back
  %first = inttoptr i64 %where to ptr
  %opcode = load i8, ptr %first
  %second = getelementptr i8, ptr %first, i64 1
  %form = load i8, ptr %second
  %middle = and i8 %form, 56
  %indirect = icmp eq i8 %opcode, -1
  %near = icmp eq i8 %middle, 16
  %found = and i1 %indirect, %near
  ret i1 %found
}}

define void @handler(i32 %signal, ptr %info, ptr %context) nounwind {{
start:
  %at.rip = getelementptr i8, ptr %context, i64 {_RIP}
  %at.rsp = getelementptr i8, ptr %context, i64 {_RSP}
  %rip = load i64, ptr %at.rip
  %rsp = load i64, ptr %at.rsp
  %code = load i64, ptr @code
  %size = load i64, ptr @size
  %n = atomicrmw add ptr @count, i64 1 monotonic
  %k = and i64 %n, {_KEPT - 1}
  %slots = getelementptr [{_PLACES} x i64], ptr @samples, i64 %k
  store [{_PLACES} x i64] zeroinitializer, ptr %slots
  %offset = sub i64 %rip, %code
  %inside = icmp ult i64 %offset, %size
  %own = select i1 %inside, i64 %rip, i64 0
  store i64 %own, ptr %slots
  %top = load i64, ptr @top
  %far = add i64 %rsp, {_SCANNED}
  %less = icmp ult i64 %far, %top
  %end = select i1 %less, i64 %far, i64 %top
  %thread = load i64, ptr @thread
  %here = load i64, ptr addrspace(257) null
  %same = icmp eq i64 %thread, %here
  %bottom = load i64, ptr @bottom
  %above = icmp uge i64 %rsp, %bottom
  %known = and i1 %same, %above
  br i1 %known, label %next, label %done

next:
  %p = phi i64 [ %rsp, %start ], [ %after, %step ]
  %m = phi i64 [ 1, %start ], [ %more, %step ]
  %left = icmp ult i64 %p, %end
  %room = icmp ult i64 %m, {_PLACES}
  %going = and i1 %left, %room
  br i1 %going, label %look, label %done

look:
  %word = inttoptr i64 %p to ptr
  %v = load i64, ptr %word
  %within = sub i64 %v, %code
  %begun = icmp uge i64 %within, 8
  %ended = icmp ult i64 %within, %size
  %may = and i1 %begun, %ended
  br i1 %may, label %test, label %step

test:
  %five = sub i64 %v, 5
  %direct = inttoptr i64 %five to ptr
  %opcode = load i8, ptr %direct
  %is.direct = icmp eq i8 %opcode, -24
  %is.2 = call i1 @is_call(i64 2, i64 %v)
  %is.3 = call i1 @is_call(i64 3, i64 %v)
  %is.6 = call i1 @is_call(i64 6, i64 %v)
  %either = or i1 %is.2, %is.3
  %any = or i1 %either, %is.6
  %is = or i1 %any, %is.direct
  br i1 %is, label %keep, label %step

keep:
  %slot = getelementptr i64, ptr %slots, i64 %m
  %inner = sub i64 %v, 1
  store i64 %inner, ptr %slot
  %kept = add i64 %m, 1
  br label %step

step:
  %more = phi i64 [ %m, %look ], [ %m, %test ], [ %kept, %keep ]
  %after = add i64 %p, 8
  br label %next

done:
  ret void
}}
"""


class Profile:
    """lines: (file, line) -> samples, those in functions that the line calls among them; called: the samples of these;
    elsewhere: samples that belong to no line; calls, seconds: number of calls of the function, and their time."""

    def __init__(self, lines: Counter, called: int, elsewhere: int, calls: int, seconds: float):
        self.lines = lines
        self.called = called
        self.elsewhere = elsewhere
        self.calls = calls
        self.seconds = seconds

    @property
    def total(self) -> int:
        return sum(self.lines.values()) + self.elsewhere


class _Action(ctypes.Structure):
    """The C library's struct sigaction."""

    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_uint8 * 128), ("flags", ctypes.c_int),
                ("restorer", ctypes.c_void_p)]


def profile(function, types, options, args, seconds: float) -> Profile:
    """Call the function repeatedly for about `seconds`, and take samples of its code."""
    compiled = stages.compile_signature(function, types, options, None, located.LocatedEmitter)
    roots = function, *args
    native = specialisation.link(specialisation.entry_of(compiled, types, roots), roots)
    if native is None:
        raise RuntimeError(f"{function.__qualname__} changed while it was compiled")
    called = Dispatcher(function, options)
    called._link(types, native)
    called(*args)
    target = link.host_target()
    head = f'target triple = "{target.triple}"\ntarget datalayout = "{target.layout}"\n'
    handler = load(link.to_object(head + _HANDLER, target))
    _kept.append(handler)  # a signal that arrives late still finds it
    base, size, rows = lines_of(compiled.object[0], native.image.address(compiled.entry), compiled.entry)
    lowest, extent = bounds_of_this_thread()
    for name, value in (("code", base), ("size", size), ("bottom", lowest), ("top", lowest + extent if lowest else 0)):
        ctypes.c_uint64.from_address(handler.address(name)).value = value
    ctypes.CFUNCTYPE(None)(handler.address("start"))()
    libc = ctypes.CDLL(None, use_errno=True)
    action, before = _Action(handler.address("handler"), flags=_SIGINFO | _RESTART | _ONSTACK), _Action()
    if libc.sigaction(signal.SIGPROF, ctypes.byref(action), ctypes.byref(before)):
        raise OSError(ctypes.get_errno(), "the system does not let signals be handled")
    calls, start = 0, perf_counter()
    try:
        signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)
        while not calls or perf_counter() - start < seconds:  # a busy machine may reach this late
            called(*args)
            calls += 1
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        sleep(10 * _INTERVAL)  # without a handler a late signal would end the process
        libc.sigaction(signal.SIGPROF, ctypes.byref(before), None)
    spent = perf_counter() - start
    count = min(ctypes.c_int64.from_address(handler.address("count")).value, _KEPT)
    places = (ctypes.c_uint64 * _PLACES * count).from_address(handler.address("samples")) if count else ()
    return _by_line(base, rows, places, calls, spent)


def _by_line(base: int, rows: dict[int, tuple[str, int] | None], places, calls: int, spent: float) -> Profile:
    """places: for each sample the instruction pointer, or 0 where it is not in the code, and return addresses. A sample
    in the compiler's library belongs to the line of the program that calls it."""
    starts = sorted(rows)

    def line_at(place: int) -> tuple[str, int] | None:
        row = _last(starts, place - base) if place else None
        line = None if row is None else rows[row]
        return line if line is not None and line[1] else None  # LLVM gives line 0 to instructions without a line

    found: Counter = Counter()
    called = elsewhere = 0
    for sample, count in Counter(map(tuple, places)).items():
        lines = [*filter(None, map(line_at, sample))]
        line = next((one for one in lines if not one[0].startswith(_LIBRARY)), lines[0] if lines else None)
        if line is None:
            elsewhere += count
        else:
            found[line] += count
            called += count * (line_at(sample[0]) != line)
    return Profile(found, called, elsewhere, calls, spent)


def _last(starts: list[int], at: int) -> int | None:
    """The last of the sorted numbers that is not above `at`."""
    low, high = 0, len(starts)
    while low < high:
        middle = (low + high) // 2
        if starts[middle] <= at:
            low = middle + 1
        else:
            high = middle
    return starts[low - 1] if low else None


# ---------------------------------------------------------------- the line table


def lines_of(code: bytes, address: int, symbol: str) -> tuple[int, int, dict[int, tuple[str, int] | None]]:
    """(address of the section with the code, its size, offset in it -> (file, line), None where a function ends) of an
    ELF object with `symbol` at an address."""
    table, = struct.unpack_from("<Q", code, 40)
    count, names = struct.unpack_from("<HH", code, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + 64 * n) for n in range(count)]

    def name(section) -> bytes:
        start = sections[names][4] + section[0]
        return code[start:code.index(b"\0", start)]

    by_name = {name(section): n for n, section in enumerate(sections)}
    symtab = next(section for section in sections if section[1] == 2)
    symbols = list(struct.iter_unpack("<IBBHQQ", code[symtab[4]:symtab[4] + symtab[5]]))
    strings = sections[symtab[6]][4]
    wanted = symbol.encode() + b"\0"
    own = next(s for s in symbols if code.startswith(wanted, strings + s[0]))
    text = own[3]
    base = address - own[4]
    line = bytearray(_content(code, sections[by_name[b".debug_line"]]))
    other = set()  # positions in the table with addresses of other sections
    at = by_name.get(b".rela.debug_line")
    for offset, info, addend in struct.iter_unpack("<QQq", _content(code, sections[at])) if at is not None else ():
        of = symbols[info >> 32]
        if of[3] == text:
            struct.pack_into("<Q", line, offset, of[4] + addend)
        else:
            other.add(offset)
    return base, sections[text][5], _rows(bytes(line), other)


def _content(code: bytes, section) -> bytes:
    return code[section[4]:section[4] + section[5]]


def _rows(data: bytes, other: set[int]) -> dict[int, tuple[str, int] | None]:
    """The rows of the line number programs (DWARF 4, section 6.2)."""
    rows: dict[int, tuple[str, int] | None] = {}
    at = 0
    while at + 15 <= len(data):
        length, version, header = struct.unpack_from("<IHI", data, at)
        end, program = at + 4 + length, at + 10 + header
        if version != 4:
            at = end
            continue
        step, _, _, line_base, line_range, opcodes = struct.unpack_from("<BBBbBB", data, at + 10)
        sizes = data[at + 16:at + 15 + opcodes]
        at += 15 + opcodes
        folders, files = [""], [""]
        while data[at]:
            stop = data.index(b"\0", at)
            folders.append(data[at:stop].decode("utf-8", "replace"))
            at = stop + 1
        at += 1
        while data[at]:
            stop = data.index(b"\0", at)
            folder, at_time = _uleb(data, stop + 1)
            files.append(os.path.join(folders[folder], data[at:stop].decode("utf-8", "replace")))
            at = at_time
            for _ in range(2):  # modification time and length
                _, at = _uleb(data, at)
        at = program
        address, file, line, here = 0, 1, 1, True
        while at < end:
            opcode = data[at]
            at += 1
            if opcode >= opcodes:
                address += (opcode - opcodes) // line_range * step
                line += line_base + (opcode - opcodes) % line_range
                if here:
                    rows[address] = files[file], line
            elif opcode == 0:
                size, at = _uleb(data, at)
                if data[at] == 1:  # the end of a sequence
                    if here:
                        rows.setdefault(address, None)
                    address, file, line, here = 0, 1, 1, True
                elif data[at] == 2:
                    address, = struct.unpack_from("<Q", data, at + 1)
                    here = at + 1 not in other
                at += size
            elif opcode == 1:
                if here:
                    rows[address] = files[file], line
            elif opcode == 2:
                found, at = _uleb(data, at)
                address += found * step
            elif opcode == 3:
                found, at = _sleb(data, at)
                line += found
            elif opcode == 4:
                file, at = _uleb(data, at)
            elif opcode == 8:
                address += (255 - opcodes) // line_range * step
            elif opcode == 9:
                address += struct.unpack_from("<H", data, at)[0]
                at += 2
            else:
                for _ in range(sizes[opcode - 1]):
                    _, at = _uleb(data, at)
        at = end
    return rows


def _uleb(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _sleb(data: bytes, at: int) -> tuple[int, int]:
    start = at
    value, at = _uleb(data, at)
    bits = 7 * (at - start)
    return value - (1 << bits) if value >> bits - 1 else value, at


def speedscope(name: str, made: Profile) -> dict:
    """The profile in speedscope's format: a frame for each line."""
    frames: list[dict] = [{"name": name}]
    samples: list[list[int]] = []
    weights: list[float] = []
    each = made.seconds / made.total if made.total else 0.0
    for (file, line), count in sorted(made.lines.items()):
        frames.append({"name": f"line {line}", "file": file, "line": line})
        samples.append([0, len(frames) - 1])
        weights.append(count * each)
    if made.elsewhere:
        frames.append({"name": "no line"})
        samples.append([0, len(frames) - 1])
        weights.append(made.elsewhere * each)
    return {"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": frames},
            "profiles": [{"type": "sampled", "name": name, "unit": "seconds", "startValue": 0,
                          "endValue": sum(weights), "samples": samples, "weights": weights}]}
