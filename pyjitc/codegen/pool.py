"""The native code of the pool of threads, which parallel regions call.

    i32 pyjitc_region(ptr function, ptr frame, i64 chunks, ptr stop, i1 short, ptr took)

calls function(frame, chunk) for every chunk, on the calling thread and on workers, and returns when all are done. Each
thread has a share of the chunks, the same one in every region, so that data is still in its cache; when it has run
these, it gives the owner of another share a moment to finish it, and then steals chunks of it. The result is 1 where a
chunk failed, with Python's error indicator as set by the failed chunk with the lowest number. Chunks below it have run
to their end, later ones may have. Where one thread is allowed, or a region lies inside another while no worker is free,
the caller runs the chunks in order.

A worker without work waits in a loop before it sleeps: for some tens of microseconds, or for up to twice the time from
the end of the last region but one to the start of the last one, if that was short. To wake it when it sleeps takes
longer than a short region takes on one thread. So a region of `short` chunks (some microseconds at most) wakes workers
only in two cases: if after some chunk the remaining ones are estimated to take long enough, from the time that the
chunks before took; or if the previous region has just ended, so that a program that runs short regions one after the
other keeps its workers awake. A region whose work is not known before has a word `took`: how long its chunks, all of
them together, took last, in ticks; 0 at first. Where that is not long enough, they count as short.

The caller keeps the interpreter lock, if it has it, until it waits for others; workers take it only for errors, and to
sort floats with nan among them as the interpreter does, so that a region itself needs no lock. The caller polls for
signals: in the loops of its own chunks, and while it waits. Loops in regions poll by `pyjitc_signals`, which also stops
a chunk whose number is higher than that of a failed one.
The layout of the state, and the reasons for it, are in runtime/pool.py.
"""
from __future__ import annotations

from ..ops.parallel import COMBINED, FEW, LANES, SHORT, TRIES, WORK
from ..runtime.pool import CHUNKS, RECORD, RECORD_BYTES, SLOT, SLOT_BYTES, SLOTS, SLOTS_AT, STACK, STATE
from . import helpers, shared
from .definitions import load as _load, store as _store
from .link import Target

__all__ = ["object_for"]

_SPIN = 1000  # tests for work before a worker sleeps, some tens of microseconds
# In ticks: after a shorter gap between two regions, workers wait up to twice that gap before they sleep. A worker that
# has lost its core for so long while it waited, because more threads run than there are cores, sleeps early for the
# next _CROWDED times.
_NEAR, _LOST, _CROWDED = 500_000, 250_000, 30
_WAIT = 2000  # tests of the workers before the caller sleeps
# In ticks of the processor's counter, some billions a second: how long the rest of a region of short chunks must take
# for it to wake workers, how long after a region the next one wakes them at once, and how long a thread waits before it
# steals. A system call that wakes a thread on a core that sleeps takes some tens of microseconds on virtual machines.
_WORTH, _RECENT, _MOMENT = 150_000, 200_000, 4_000
_LOOK = 20_000_000  # nanoseconds between two polls for signals while the caller sleeps
_ALL = (1 << 63) - 1
_FUTEX = "call i64 (i64, ...) @syscall(i64 202, ptr"  # on x86-64, the only processor that loader.py supports


def _state(name: str) -> str:
    return f"getelementptr (i8, ptr @pyjitc_pool, i64 {STATE[name]})"


_TEXT = f"""
@pyjitc_pool = external global i8
@_timeout = private unnamed_addr constant [2 x i64] [i64 0, i64 {_LOOK}]

define internal ptr @record() nounwind {{
  %key = load i32, ptr {_state("key")}
  %known = call ptr @pthread_getspecific(i32 %key)
  br i1 (icmp eq ptr %known, null), label %make, label %have
have:
  ret ptr %known
make:
  %made = call ptr @calloc(i64 1, i64 {RECORD_BYTES})
  br i1 (icmp eq ptr %made, null), label %spare, label %fill
spare:
  ret ptr {_state("spare")}
fill:
  %wide = zext i32 (load i32, ptr {_state("most")}) to i64
{_store("limit", "i64", "%wide", "%made", RECORD["limit"])}
  %set = call i32 @pthread_setspecific(i32 %key, ptr %made)
  ret ptr %made
}}

; The exception of a chunk: that of the lowest one is kept. A chunk below 0: everything is to stop.
define internal void @failed(ptr %slot, i64 %chunk) nounwind noinline {{
  %f = atomicrmw min ptr (getelementptr i8, ptr %slot, i64 {SLOT["failed"]}), i64 %chunk seq_cst
  %lock = call i32 @PyGILState_Ensure()
  %exc = call ptr @pyj_fetch()
  %errorp = getelementptr i8, ptr %slot, i64 {SLOT["error"]}
  %whosep = getelementptr i8, ptr %slot, i64 {SLOT["error_chunk"]}
  %old = load ptr, ptr %errorp
  %whose = load i64, ptr %whosep
  br i1 (or i1 (icmp eq ptr %old, null), (icmp slt i64 %chunk, %whose)), label %keep, label %drop
keep:
  store ptr %exc, ptr %errorp
  store i64 %chunk, ptr %whosep
drop:
  %rest = phi ptr [ %old, %keep ], [ %exc, %0 ]
  br i1 (icmp eq ptr %rest, null), label %done, label %release
release:
  call void @Py_DecRef(ptr %rest)
done:
  call void @PyGILState_Release(i32 %lock)
  ret void
}}

define internal void @wake() nounwind noinline {{
  %w = {_FUTEX} {_state("epoch")}, i64 129, i32 2147483647, ptr null, ptr null, i64 0)
  ret void
}}

; How many chunks this thread has run. begin: when it began, in ticks, if it may wake the workers; 0 if they are awake.
define internal i32 @work(ptr %record, ptr %slot, i64 %begin) nounwind {{
{_load("function", "ptr", "%slot", SLOT["function"])}
{_load("frame", "ptr", "%slot", SLOT["frame"])}
{_load("chunks", "i64", "%slot", SLOT["chunks"])}
{_load("shares", "i64", "%slot", SLOT["shares"])}
{_load("taken", "ptr", "%slot", SLOT["taken"])}
  %failedp = getelementptr i8, ptr %slot, i64 {SLOT["failed"]}
  %herep = getelementptr i8, ptr %record, i64 {RECORD["chunk"]}
  %number = load i64, ptr %record
share:
  %k = phi i64 [ 0, %0 ], [ %k1, %over ]
  %before = phi i32 [ 0, %0 ], [ %done, %over ]
  %due0 = phi i64 [ %begin, %0 ], [ %due, %over ]
  %waited = phi i1 [ false, %0 ], [ %waits, %over ]
  %which = urem i64 (add i64 %number, %k), %shares
  %low = mul i64 %which, %chunks
  %from = udiv i64 %low, %shares
  %to = udiv i64 (add i64 %low, %chunks), %shares
  %count = getelementptr i8, ptr %taken, i64 (shl i64 %which, 7)
  %all = sub i64 %to, %from
  br i1 (or i1 (icmp eq i64 %k, 0), %waited), label %more, label %hesitate
hesitate:
  %since = call i64 @llvm.readcyclecounter()
look:
  %gone = load atomic i64, ptr %count monotonic, align 8
  br i1 (or i1 (icmp sge i64 %gone, %all), (icmp eq i64 %gone, 0)), label %more, label %delay
delay:
  call void @llvm.x86.sse2.pause()
  %time = call i64 @llvm.readcyclecounter()
  br i1 (icmp ult i64 (sub i64 %time, %since), {_MOMENT}), label %look, label %more
more:
  %done = phi i32 [ %before, %share ], [ %before, %look ], [ %before, %delay ], [ %done, %skip ], [ %done1, %next_one ]
  %due = phi i64 [ %due0, %share ], [ %due0, %look ], [ %due0, %delay ], [ %due, %skip ], [ %due1, %next_one ]
  %waits = phi i1 [ %waited, %share ], [ %waited, %look ], [ true, %delay ], [ %waits, %skip ], [ %waits, %next_one ]
  %next = atomicrmw add ptr %count, i64 1 seq_cst
  %chunk = add i64 %from, %next
  br i1 (icmp slt i64 %chunk, %to), label %skip, label %over
skip:
  br i1 (icmp sgt i64 %chunk, (load atomic i64, ptr %failedp seq_cst, align 8)), label %more, label %run
run:
  %done1 = add i32 %done, 1
  store i64 %chunk, ptr %herep
  br i1 (icmp eq i32 (call i32 %function(ptr %frame, i64 %chunk)), 0), label %check, label %bad
bad:
  call void @failed(ptr %slot, i64 (load i64, ptr %herep))
check:
  br i1 (icmp eq i64 %due, 0), label %next_one, label %test
test:
  %lasted = sub i64 (call i64 @llvm.readcyclecounter()), %due
  %ran = zext i32 %done1 to i64
  %left = sub i64 %chunks, %ran
  br i1 (icmp ult i64 (mul i64 %lasted, %left), (mul i64 %ran, {_WORTH})), label %next_one, label %rouse
rouse:
  call void @wake()
next_one:
  %due1 = phi i64 [ 0, %check ], [ %due, %test ], [ 0, %rouse ]
  br label %more
over:
  %k1 = add i64 %k, 1
  br i1 (icmp slt i64 %k1, %shares), label %share, label %end
end:
  ret i32 %done
}}

define internal ptr @worker(ptr %number) nounwind noinline {{
  %record = call ptr @record()
  %wide = ptrtoint ptr %number to i64
  store i64 %wide, ptr %record
  %thread = call ptr @PyThreadState_New(ptr (load ptr, ptr {_state("interpreter")}))
  %regionp = getelementptr i8, ptr %record, i64 {RECORD["region"]}
  %limitp = getelementptr i8, ptr %record, i64 {RECORD["limit"]}
  %rest0 = atomicrmw add ptr {_state("resting")}, i32 1 seq_cst
  %crowdp = alloca i64
  store i64 0, ptr %crowdp
top:
  %epoch = load atomic i32, ptr {_state("epoch")} seq_cst, align 4
scan:
  %k = phi i64 [ 0, %top ], [ %k1, %next ]
  %got = phi i32 [ 0, %top ], [ %got1, %next ]
  %slot = getelementptr i8, ptr @pyjitc_pool, i64 (add i64 (mul i64 %k, {SLOT_BYTES}), {SLOTS_AT})
  br i1 (icmp eq i32 (load atomic i32, ptr %slot acquire, align 4), 2), label %enter, label %next
enter:
  %refsp = getelementptr i8, ptr %slot, i64 {SLOT["refs"]}
  %r0 = atomicrmw add ptr %refsp, i32 1 seq_cst
  br i1 (icmp eq i32 (load atomic i32, ptr %slot seq_cst, align 4), 2), label %allowed, label %leave
allowed:
{_load("most", "i32", "%slot", SLOT["limit"])}
  %mostw = zext i32 %most to i64
  br i1 (icmp slt i64 %wide, %mostw), label %run, label %leave
run:
  %rest1 = atomicrmw sub ptr {_state("resting")}, i32 1 seq_cst
  store i64 %mostw, ptr %limitp
  store ptr %slot, ptr %regionp
  %ran = call i32 @work(ptr %record, ptr %slot, i64 0)
  store ptr null, ptr %regionp
  %rest2 = atomicrmw add ptr {_state("resting")}, i32 1 seq_cst
leave:
  %had = phi i32 [ 0, %enter ], [ 0, %allowed ], [ %ran, %run ]
  %r1 = atomicrmw sub ptr %refsp, i32 1 seq_cst
  %waits = load atomic i32, ptr (getelementptr i8, ptr %slot, i64 {SLOT["waits"]}) seq_cst, align 4
  br i1 (and i1 (icmp eq i32 %r1, 1), (icmp ne i32 %waits, 0)), label %rouse, label %left_it
rouse:
  %w = {_FUTEX} %refsp, i64 129, i32 2147483647, ptr null, ptr null, i64 0)
left_it:
  %total = or i32 %got, %had
next:
  %got1 = phi i32 [ %got, %scan ], [ %total, %left_it ]
  %k1 = add i64 %k, 1
  br i1 (icmp slt i64 %k1, {SLOTS}), label %scan, label %scanned
scanned:
  br i1 (icmp ne i32 %got1, 0), label %top, label %idle
idle:
  %begun = call i64 @llvm.readcyclecounter()
  %less = call i64 @llvm.usub.sat.i64(i64 (load i64, ptr %crowdp), i64 1)
  store i64 %less, ptr %crowdp
spin:
  %turn = phi i32 [ 0, %idle ], [ %turn1, %pause ], [ %turn1, %patient ]
  %looked = phi i64 [ %begun, %idle ], [ %looked, %pause ], [ %present, %patient ]
  %now = load atomic i32, ptr {_state("epoch")} acquire, align 4
  br i1 (icmp ne i32 %now, %epoch), label %top, label %pause
pause:
  call void @llvm.x86.sse2.pause()
  %turn1 = add i32 %turn, 1
  br i1 (icmp slt i32 %turn1, {_SPIN}), label %spin, label %longer
longer:
  %present = call i64 @llvm.readcyclecounter()
  br i1 (icmp ugt i64 (sub i64 %present, %looked), {_LOST}), label %crowded, label %choose
crowded:
  store i64 {_CROWDED}, ptr %crowdp
  br label %sleep
choose:
  %gap = load atomic i64, ptr {_state("gap")} monotonic, align 8
  br i1 (and i1 (icmp ult i64 %gap, {_NEAR}), (icmp eq i64 %less, 0)), label %patient, label %sleep
patient:
  br i1 (icmp ult i64 (sub i64 %present, %begun), (shl i64 %gap, 1)), label %spin, label %sleep
sleep:
  %s0 = atomicrmw add ptr {_state("sleepers")}, i32 1 seq_cst
  %slept = {_FUTEX} {_state("epoch")}, i64 128, i32 %epoch, ptr null, ptr null, i64 0)
  %s1 = atomicrmw sub ptr {_state("sleepers")}, i32 1 seq_cst
  br label %top
}}

; Start the workers, unless another thread does. They handle no signals.
define internal void @start(i32 %wanted) nounwind noinline {{
  %attributes = alloca [16 x i64]
  %thread = alloca i64
  %all = alloca [16 x i64]
  %before = alloca [16 x i64]
  %taken = cmpxchg ptr {_state("starting")}, i32 0, i32 1 seq_cst seq_cst
  %mine = extractvalue {{i32, i1}} %taken, 1
  br i1 %mine, label %begin, label %end
begin:
  %a0 = call i32 @pthread_attr_init(ptr %attributes)
  %a1 = call i32 @pthread_attr_setstacksize(ptr %attributes, i64 {STACK})
  %a2 = call i32 @pthread_attr_setdetachstate(ptr %attributes, i32 1)
  %m0 = call i32 @sigfillset(ptr %all)
  %m1 = call i32 @pthread_sigmask(i32 0, ptr %all, ptr %before)
  %old = load i32, ptr {_state("workers")}
  br label %test
test:
  %k = phi i32 [ %old, %begin ], [ %number, %one ]
  br i1 (icmp slt i32 %k, %wanted), label %one, label %done
one:
  %number = add i32 %k, 1
  %argument = inttoptr i64 (zext i32 %number to i64) to ptr
  %c = call i32 @pthread_create(ptr %thread, ptr %attributes, ptr @worker, ptr %argument)
  br label %test
done:
  %m2 = call i32 @pthread_sigmask(i32 2, ptr %before, ptr null)
  %a3 = call i32 @pthread_attr_destroy(ptr %attributes)
  store atomic i32 %k, ptr {_state("workers")} seq_cst, align 4
  store atomic i32 0, ptr {_state("starting")} seq_cst, align 4
end:
  ret void
}}

; Sleep until the workers have left a region; let Python handle signals meanwhile.
define internal void @sleep(ptr %record, ptr %slot) nounwind noinline {{
  %has = icmp ne i32 (call i32 @PyGILState_Check()), 0
  br i1 %has, label %give, label %begin
give:
  %given = call ptr @PyEval_SaveThread()
begin:
  %thread = phi ptr [ null, %0 ], [ %given, %give ]
  %refsp = getelementptr i8, ptr %slot, i64 {SLOT["refs"]}
  %waitsp = getelementptr i8, ptr %slot, i64 {SLOT["waits"]}
  store atomic i32 1, ptr %waitsp seq_cst, align 4
test:
  %refs = load atomic i32, ptr %refsp seq_cst, align 4
  br i1 (icmp eq i32 %refs, 0), label %done, label %wait
wait:
  %w = {_FUTEX} %refsp, i64 128, i32 %refs, ptr @_timeout, ptr null, i64 0)
  br i1 (icmp eq i64 (load i64, ptr %record), 0), label %look, label %test
look:
  %lock = call i32 @PyGILState_Ensure()
  br i1 (icmp eq i32 (call i32 @PyErr_CheckSignals()), 0), label %go_on, label %stop
stop:
  call void @failed(ptr %slot, i64 -1)
{_load("word", "ptr", "%slot", SLOT["stop"])}
  br i1 (icmp eq ptr %word, null), label %go_on, label %tell
tell:
  store atomic i64 {1 << 62}, ptr %word seq_cst, align 8
go_on:
  call void @PyGILState_Release(i32 %lock)
  br label %test
done:
  store atomic i32 0, ptr %waitsp seq_cst, align 4
  br i1 %has, label %take, label %end
take:
  call void @PyEval_RestoreThread(ptr %thread)
end:
  ret void
}}

define i32 @pyjitc_region(ptr %function, ptr %frame, i64 %chunks, ptr %stop, i1 %short, ptr %took) nounwind {{
  br i1 (icmp sle i64 %chunks, 1), label %serial, label %ask
ask:
  %record = call ptr @record()
{_load("limit", "i64", "%record", RECORD["limit"])}
  br i1 (icmp sle i64 %limit, 1), label %serial, label %inside
inside:
  %regionp = getelementptr i8, ptr %record, i64 {RECORD["region"]}
  %outer = load ptr, ptr %regionp
  %nested = icmp ne ptr %outer, null
  %busy = icmp sle i32 (load atomic i32, ptr {_state("resting")} seq_cst, align 4), 0
  %closed = load atomic i32, ptr {_state("closed")} seq_cst, align 4
  br i1 (or i1 (and i1 %nested, %busy), (icmp ne i32 %closed, 0)), label %serial, label %started
started:
  %workers = load atomic i32, ptr {_state("workers")} seq_cst, align 4
  %wanted = sub i32 (load i32, ptr {_state("most")}), 1
  br i1 (icmp slt i32 %workers, %wanted), label %begin, label %scan
begin:
  call void @start(i32 %wanted)
scan:
  %k = phi i64 [ 0, %started ], [ 0, %begin ], [ %k1, %taken ]
  %slot = getelementptr i8, ptr @pyjitc_pool, i64 (add i64 (mul i64 %k, {SLOT_BYTES}), {SLOTS_AT})
  %pair = cmpxchg ptr %slot, i32 0, i32 1 seq_cst seq_cst
  %mine = extractvalue {{i32, i1}} %pair, 1
  br i1 %mine, label %open, label %taken
taken:
  %k1 = add i64 %k, 1
  br i1 (icmp slt i64 %k1, {SLOTS}), label %scan, label %serial
serial:
  br label %each
each:
  %c = phi i64 [ 0, %serial ], [ %c1, %one ]
  br i1 (icmp slt i64 %c, %chunks), label %one, label %well
one:
  %c1 = add i64 %c, 1
  br i1 (icmp eq i32 (call i32 %function(ptr %frame, i64 %c)), 0), label %each, label %bad
well:
  ret i32 0
bad:
  ret i32 1
open:
{_store("functionp", "ptr", "%function", "%slot", SLOT["function"])}
{_store("framep", "ptr", "%frame", "%slot", SLOT["frame"])}
{_store("chunksp", "i64", "%chunks", "%slot", SLOT["chunks"])}
  store i32 (trunc i64 %limit to i32), ptr (getelementptr i8, ptr %slot, i64 {SLOT["limit"]})
  %errorp = getelementptr i8, ptr %slot, i64 {SLOT["error"]}
  store ptr null, ptr %errorp
  %herep = getelementptr i8, ptr %record, i64 {RECORD["chunk"]}
  %before = load i64, ptr %herep
{_store("parentp", "ptr", "%outer", "%slot", SLOT["parent"])}
{_store("parent_chunkp", "i64", "%before", "%slot", SLOT["parent_chunk"])}
{_store("stopp", "ptr", "%stop", "%slot", SLOT["stop"])}
  %failedp = getelementptr i8, ptr %slot, i64 {SLOT["failed"]}
  store i64 {_ALL}, ptr %failedp
  %shares = select i1 (icmp slt i64 %chunks, %limit), i64 %chunks, i64 %limit
{_store("sharesp", "i64", "%shares", "%slot", SLOT["shares"])}
  %bytes = shl i64 %shares, 7
  %taken_by = alloca i8, i64 %bytes, align 128
{_store("takenp", "ptr", "%taken_by", "%slot", SLOT["taken"])}
  call void @llvm.memset.p0.i64(ptr %taken_by, i8 0, i64 %bytes, i1 false)
  %ended = alloca [4 x i64]
  %now = call i64 @llvm.readcyclecounter()
  %since = sub i64 %now, (load atomic i64, ptr {_state("last")} monotonic, align 8)
  store atomic i64 %since, ptr {_state("gap")} monotonic, align 8
  store atomic i32 2, ptr %slot seq_cst, align 4
  %e = atomicrmw add ptr {_state("epoch")}, i32 1 seq_cst
  %sleepers = load atomic i32, ptr {_state("sleepers")} seq_cst, align 4
  br i1 (icmp ne i32 %sleepers, 0), label %consider, label %own
consider:
  %guessed = icmp ne ptr %took, null
  br i1 %short, label %lately, label %certain
certain:
  br i1 %guessed, label %remember, label %wake
remember:
  %took_before = load atomic i64, ptr %took monotonic, align 8
  br i1 (icmp ult i64 (sub i64 %took_before, 1), {_WORTH}), label %lately, label %wake
lately:
  br i1 (icmp ult i64 %since, {_RECENT}), label %wake, label %own
wake:
  call void @wake()
own:
  %started_at = phi i64 [ 0, %open ], [ 0, %wake ], [ %now, %lately ]
  call void @_pthread_cleanup_push(ptr %ended, ptr @pyjitc_park, ptr null)
  store ptr %slot, ptr %regionp
  %begun = call i64 @llvm.readcyclecounter()
  %ran = call i32 @work(ptr %record, ptr %slot, i64 %started_at)
  store atomic i32 1, ptr %slot seq_cst, align 4
  %refsp = getelementptr i8, ptr %slot, i64 {SLOT["refs"]}
  br i1 (or i1 (icmp eq i32 %ran, 0), (icmp eq ptr %took, null)), label %wait, label %note
note:
  %own_time = sub i64 (call i64 @llvm.readcyclecounter()), %begun
  %own_chunks = zext i32 %ran to i64
  store atomic i64 (mul i64 (udiv i64 %own_time, %own_chunks), %chunks), ptr %took monotonic, align 8
wait:
  %turn = phi i32 [ 0, %own ], [ 0, %note ], [ %turn1, %pause ]
  br i1 (icmp eq i32 (load atomic i32, ptr %refsp seq_cst, align 4), 0), label %close, label %patience
patience:
  br i1 (icmp sgt i32 %turn, {_WAIT}), label %rest, label %pause
pause:
  call void @llvm.x86.sse2.pause()
  %turn1 = add i32 %turn, 1
  br label %wait
rest:
  call void @sleep(ptr %record, ptr %slot)
close:
  call void @_pthread_cleanup_pop(ptr %ended, i32 0)
  store ptr %outer, ptr %regionp
  store i64 %before, ptr %herep
  %exc = load ptr, ptr %errorp
  %failed = load atomic i64, ptr %failedp seq_cst, align 8
  store atomic i64 (call i64 @llvm.readcyclecounter()), ptr {_state("last")} monotonic, align 8
  store atomic i32 0, ptr %slot seq_cst, align 4
  br i1 (icmp eq ptr %exc, null), label %over, label %raise
over:
  ret i32 0
raise:
  br i1 (and i1 (icmp slt i64 %failed, 0), %nested), label %outwards, label %throw
outwards:
  store i64 -1, ptr %herep
  %of = atomicrmw min ptr (getelementptr i8, ptr %outer, i64 {SLOT["failed"]}), i64 -1 seq_cst
throw:
  %lock = call i32 @PyGILState_Ensure()
  call void @pyj_rethrow(ptr %exc)
  call void @Py_DecRef(ptr %exc)
  call void @PyGILState_Release(i32 %lock)
  ret i32 1
}}

define i32 @pyjitc_signals() nounwind noinline {{
  %record = call ptr @pthread_getspecific(i32 (load i32, ptr {_state("key")}))
  br i1 (icmp eq ptr %record, null), label %plain, label %known
known:
{_load("region", "ptr", "%record", RECORD["region"])}
{_load("here", "i64", "%record", RECORD["chunk"])}
  br label %walk
walk:
  %slot = phi ptr [ %region, %known ], [ %parent, %up ]
  %chunk = phi i64 [ %here, %known ], [ %parent_chunk, %up ]
  br i1 (icmp eq ptr %slot, null), label %whose, label %compare
compare:
  %failedp = getelementptr i8, ptr %slot, i64 {SLOT["failed"]}
  br i1 (icmp slt i64 (load atomic i64, ptr %failedp seq_cst, align 8), %chunk), label %stop, label %up
up:
{_load("parent", "ptr", "%slot", SLOT["parent"])}
{_load("parent_chunk", "i64", "%slot", SLOT["parent_chunk"])}
  br label %walk
stop:
  %lock = call i32 @PyGILState_Ensure()
  call void @PyErr_SetNone(ptr (load ptr, ptr @PyExc_KeyboardInterrupt))
  call void @PyGILState_Release(i32 %lock)
  ret i32 1
whose:
  br i1 (icmp ne i64 (load i64, ptr %record), 0), label %fine, label %plain
plain:
  %place = phi ptr [ null, %0 ], [ %region, %whose ]
  %lock2 = call i32 @PyGILState_Ensure()
  %status = call i32 @PyErr_CheckSignals()
  call void @PyGILState_Release(i32 %lock2)
  br i1 (icmp eq i32 %status, 0), label %fine, label %interrupted
interrupted:
  br i1 (icmp eq ptr %place, null), label %end, label %all
all:
{_store("mine", "i64", "-1", "%record", RECORD["chunk"])}
  %m = atomicrmw min ptr (getelementptr i8, ptr %place, i64 {SLOT["failed"]}), i64 -1 seq_cst
end:
  ret i32 1
fine:
  ret i32 0
}}

; How a loop is divided: see DIVIDE in ops/parallel.py, which says the same in Python. The bits of %flags are its
; attributes.
define {{i64, i64, i1}} @pyjitc_pool_divide(i64 %trips, i64 %work, i64 %copied, i64 %asked, i64 %flags) nounwind {{
  %known = icmp ne i64 (and i64 %flags, 1), 0
  %even = icmp eq i64 (and i64 %flags, 3), 3
  %stored = icmp ne i64 (and i64 %flags, 4), 0
  %free = icmp sle i64 %asked, 0
  %light = and i1 (icmp ult i64 %trips, {WORK}), (icmp ule i64 (mul i64 %trips, %work), {WORK})
  br i1 (and i1 %free, (and i1 %known, %light)), label %alone, label %begin
begin:
  %assumed = udiv i64 (add i64 %work, {WORK - 1}), %work
  %up = add i64 %trips, {TRIES - 1}
  %some = call i64 @llvm.umax.i64(i64 (lshr i64 %up, {TRIES.bit_length() - 1}), i64 1)
  %least = select i1 %known, i64 %assumed, i64 (call i64 @llvm.umin.i64(i64 %some, i64 %assumed))
  br i1 (and i1 %free, (icmp ule i64 %trips, %least)), label %alone, label %several
alone:
  %one = select i1 %stored, i64 (call i64 @llvm.umin.i64(i64 %trips, i64 1)), i64 1
  %a0 = insertvalue {{i64, i64, i1}} {{i64 0, i64 0, i1 true}}, i64 %one, 0
  %a1 = insertvalue {{i64, i64, i1}} %a0, i64 (call i64 @llvm.umax.i64(i64 %trips, i64 1)), 1
  ret {{i64, i64, i1}} %a1
several:
  %most0 = add i64 %trips, {CHUNKS - 1}
  %uneven = call i64 @llvm.umax.i64(i64 (lshr i64 %most0, {CHUNKS.bit_length() - 1}), i64 %least)
  %many = mul i64 %least, {4 * FEW}
  %shares = mul i64 (add i64 (udiv i64 %trips, %many), 1), {FEW}
  %over = add i64 %trips, %shares
  %plain = call i64 @llvm.umax.i64(i64 %uneven, i64 (udiv i64 (sub i64 %over, 1), %shares))
  %aligned = and i64 (add i64 %plain, {LANES - 1}), {-LANES}
  %long = icmp uge i64 %least, {8 * LANES}
  %own = select i1 %even, i64 (select i1 %long, i64 %aligned, i64 %plain), i64 %uneven
  %floor = select i1 %stored, i64 (add i64 (lshr i64 %trips, 16), 1), i64 1
  %wanted = select i1 %free, i64 %own, i64 (call i64 @llvm.umax.i64(i64 %asked, i64 %floor))
  %combined1 = add i64 (mul i64 %copied, {COMBINED}), %work
  %size = call i64 @llvm.umax.i64(i64 %wanted, i64 (udiv i64 (sub i64 %combined1, 1), %work))
  %all_up = add i64 %trips, %size
  %brief = icmp ule i64 %size, (udiv i64 {SHORT}, %work)
  %likely = and i1 (icmp uge i64 %trips, {TRIES}), (icmp ult i64 %size, %assumed)
  %s0 = insertvalue {{i64, i64, i1}} poison, i64 (udiv i64 (sub i64 %all_up, 1), %size), 0
  %s1 = insertvalue {{i64, i64, i1}} %s0, i64 %size, 1
  %s2 = insertvalue {{i64, i64, i1}} %s1, i1 (select i1 %known, i1 %brief, i1 %likely), 2
  ret {{i64, i64, i1}} %s2
}}

define i64 @pyjitc_pool_thread_id() nounwind {{
  %record = call ptr @record()
  ret i64 (load i64, ptr %record)
}}

define i64 @pyjitc_pool_num_threads() nounwind {{
  %record = call ptr @record()
{_load("limit", "i64", "%record", RECORD["limit"])}
  ret i64 %limit
}}

define i64 @pyjitc_pool_chunk_size() nounwind {{
  %record = call ptr @record()
{_load("size", "i64", "%record", RECORD["size"])}
  ret i64 %size
}}

; The number before, or -1 where the new one is negative.
define i64 @pyjitc_pool_set_chunk_size(i64 %n) nounwind {{
  br i1 (icmp sge i64 %n, 0), label %set, label %refuse
set:
  %sizep = getelementptr i8, ptr (call ptr @record()), i64 {RECORD["size"]}
  %before = load i64, ptr %sizep
  store i64 %n, ptr %sizep
  ret i64 %before
refuse:
  ret i64 -1
}}

; 0, or the most threads that there may be where the number is not one of them.
define i64 @pyjitc_pool_set_num_threads(i64 %n) nounwind {{
  %most = zext i32 (load i32, ptr {_state("most")}) to i64
  br i1 (icmp ult i64 (sub i64 %n, 1), %most), label %set, label %refuse
set:
  %record = call ptr @record()
{_store("limitp", "i64", "%n", "%record", RECORD["limit"])}
  ret i64 0
refuse:
  ret i64 %most
}}

; Random numbers of a chunk: xoshiro256++, its state filled by splitmix64 (Blackman and Vigna, 2019). `memory` is laid
; out as an object of NumPy's: a count of references, bitgen_t and where there is one the normal number that is kept.
define internal i64 @mix(ptr %where) nounwind {{
  %x = add i64 (load i64, ptr %where), -7046029254386353131
  store i64 %x, ptr %where
  %x2 = mul i64 (xor i64 %x, (lshr i64 %x, 30)), -4658895280553007687
  %x4 = mul i64 (xor i64 %x2, (lshr i64 %x2, 27)), -7723592293110705685
  ret i64 (xor i64 %x4, (lshr i64 %x4, 31))
}}
define internal i64 @next64(ptr %state) nounwind {{
  %p1 = getelementptr i64, ptr %state, i64 1
  %p2 = getelementptr i64, ptr %state, i64 2
  %p3 = getelementptr i64, ptr %state, i64 3
  %a = load i64, ptr %state
  %b = load i64, ptr %p1
  %c = load i64, ptr %p2
  %d = load i64, ptr %p3
  %sum = add i64 %a, %d
  %result = add i64 (call i64 @llvm.fshl.i64(i64 %sum, i64 %sum, i64 23)), %a
  %c1 = xor i64 %c, %a
  %d1 = xor i64 %d, %b
  %b1 = xor i64 %b, %c1
  %c2 = xor i64 %c1, (shl i64 %b, 17)
  %d2 = call i64 @llvm.fshl.i64(i64 %d1, i64 %d1, i64 45)
  store i64 (xor i64 %a, %d1), ptr %state
  store i64 %b1, ptr %p1
  store i64 %c2, ptr %p2
  store i64 %d2, ptr %p3
  ret i64 %result
}}
define internal i32 @next32(ptr %state) nounwind {{
  %all = call i64 @next64(ptr %state)
  ret i32 (trunc i64 (lshr i64 %all, 32) to i32)
}}
define internal double @next_double(ptr %state) nounwind {{
  %high = lshr i64 (call i64 @next64(ptr %state)), 11
  ret double (fmul double (uitofp i64 %high to double), 0x3CA0000000000000)
}}
define void @pyjitc_stream(ptr %memory, i64 %bitgen, i64 %kept, i64 %states, i64 %seed, i64 %chunk) nounwind {{
  %mixed = alloca i64
  store i64 %chunk, ptr %mixed
  store i64 (xor i64 (call i64 @mix(ptr %mixed)), %seed), ptr %mixed
  store i64 {1 << 20}, ptr %memory
  %state = getelementptr i8, ptr %memory, i64 %states
fill:
  %k = phi i64 [ 0, %0 ], [ %k1, %fill ]
  store i64 (call i64 @mix(ptr %mixed)), ptr (getelementptr i64, ptr %state, i64 %k)
  %k1 = add i64 %k, 1
  br i1 (icmp slt i64 %k1, 4), label %fill, label %table
table:
  %b = getelementptr i8, ptr %memory, i64 %bitgen
  store ptr %state, ptr %b
  store ptr @next64, ptr (getelementptr ptr, ptr %b, i64 1)
  store ptr @next32, ptr (getelementptr ptr, ptr %b, i64 2)
  store ptr @next_double, ptr (getelementptr ptr, ptr %b, i64 3)
  store ptr @next64, ptr (getelementptr ptr, ptr %b, i64 4)
  br i1 (icmp sge i64 %kept, 0), label %gauss, label %done
gauss:
  %g = getelementptr i8, ptr %memory, i64 %kept
  store ptr %b, ptr %g
  store i64 0, ptr (getelementptr ptr, ptr %g, i64 1)
done:
  ret void
}}

; The blocks of a kernel: frame is (function, arguments, counter, blocks, contexts...). The status takes the context's
; place.
define internal i32 @blocks(ptr %frame, i64 %chunk) nounwind {{
  %function = load ptr, ptr %frame
  %arguments = load ptr, ptr (getelementptr i64, ptr %frame, i64 1)
  %counter = load ptr, ptr (getelementptr i64, ptr %frame, i64 2)
  %count = load i64, ptr (getelementptr i64, ptr %frame, i64 3)
  %contextp = getelementptr i64, ptr %frame, i64 (add i64 %chunk, 4)
  %status = call i32 %function(ptr (load ptr, ptr %contextp), ptr %arguments, ptr %counter, i64 %count)
  store i64 (zext i32 %status to i64), ptr %contextp
  ret i32 0
}}

; The same without the interpreter lock, for a caller that has it.
define i32 @pyjitc_blocks(ptr %frame, i64 %chunks) nounwind {{
  %stop = load ptr, ptr (getelementptr i64, ptr %frame, i64 2)
  %thread = call ptr @PyEval_SaveThread()
  %status = call i32 @pyjitc_region(ptr @blocks, ptr %frame, i64 %chunks, ptr %stop, i1 false, ptr null)
  call void @PyEval_RestoreThread(ptr %thread)
  ret i32 %status
}}
"""
_made: dict[Target, bytes] = {}


def object_for(target: Target) -> bytes:
    """The relocatable object with the code of the pool."""
    if target not in _made:
        head = f'target triple = "{target.triple}"\ntarget datalayout = "{target.layout}"\n'
        text = "\n".join((head, helpers.text(("pyj_fetch", "pyj_rethrow")), _TEXT))
        _made[target] = shared.image(text, target)
    return _made[target]
