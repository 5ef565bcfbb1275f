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

The caller keeps the interpreter lock, if it has it, until it waits for others; workers take it only for errors, so that
a region itself needs no lock. The caller polls for signals: in the loops of its own chunks, and while it waits. Loops
in regions poll by `pyjitc_signals`, which also stops a chunk whose number is higher than that of a failed one.
The layout of the state, and the reasons for it, are in runtime/pool.py.
"""
from __future__ import annotations

from ..ops.parallel import COMBINED, FEW, LANES, SHORT, TRIES, WORK
from ..runtime.pool import CHUNKS, RECORD, RECORD_BYTES, SLOT, SLOT_BYTES, SLOTS, SLOTS_AT, STACK, STATE
from . import helpers, shared
from .declarations import declared
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
  %new = icmp eq ptr %known, null
  br i1 %new, label %make, label %have
have:
  ret ptr %known
make:
  %made = call ptr @calloc(i64 1, i64 {RECORD_BYTES})
  %none = icmp eq ptr %made, null
  br i1 %none, label %spare, label %fill
spare:
  ret ptr {_state("spare")}
fill:
  %most = load i32, ptr {_state("most")}
  %wide = zext i32 %most to i64
{_store("limit", "i64", "%wide", "%made", RECORD["limit"])}
  %set = call i32 @pthread_setspecific(i32 %key, ptr %made)
  ret ptr %made
}}

; The exception of a chunk: that of the lowest one is kept. A chunk below 0: everything is to stop.
define internal void @failed(ptr %slot, i64 %chunk) nounwind noinline {{
  %failedp = getelementptr i8, ptr %slot, i64 {SLOT["failed"]}
  %f = atomicrmw min ptr %failedp, i64 %chunk seq_cst
  %lock = call i32 @PyGILState_Ensure()
  %exc = call ptr @pyj_fetch()
  %errorp = getelementptr i8, ptr %slot, i64 {SLOT["error"]}
  %whosep = getelementptr i8, ptr %slot, i64 {SLOT["error_chunk"]}
  %old = load ptr, ptr %errorp
  %whose = load i64, ptr %whosep
  %first = icmp eq ptr %old, null
  %before = icmp slt i64 %chunk, %whose
  %take = or i1 %first, %before
  br i1 %take, label %keep, label %drop
keep:
  store ptr %exc, ptr %errorp
  store i64 %chunk, ptr %whosep
  br label %drop
drop:
  %rest = phi ptr [ %old, %keep ], [ %exc, %0 ]
  %nothing = icmp eq ptr %rest, null
  br i1 %nothing, label %done, label %release
release:
  call void @Py_DecRef(ptr %rest)
  br label %done
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
  br label %share
share:
  %k = phi i64 [ 0, %0 ], [ %k1, %over ]
  %before = phi i32 [ 0, %0 ], [ %done, %over ]
  %due0 = phi i64 [ %begin, %0 ], [ %due, %over ]
  %waited = phi i1 [ false, %0 ], [ %waits, %over ]
  %whose = add i64 %number, %k
  %which = urem i64 %whose, %shares
  %low = mul i64 %which, %chunks
  %from = udiv i64 %low, %shares
  %high = add i64 %low, %chunks
  %to = udiv i64 %high, %shares
  %line = shl i64 %which, 7
  %count = getelementptr i8, ptr %taken, i64 %line
  %all = sub i64 %to, %from
  %own = icmp eq i64 %k, 0
  %patient = or i1 %own, %waited
  br i1 %patient, label %more, label %hesitate
hesitate:
  %since = call i64 @llvm.readcyclecounter()
  br label %look
look:
  %gone = load atomic i64, ptr %count monotonic, align 8
  %ended = icmp sge i64 %gone, %all
  %idle = icmp eq i64 %gone, 0
  %ready = or i1 %ended, %idle
  br i1 %ready, label %more, label %delay
delay:
  call void @llvm.x86.sse2.pause()
  %time = call i64 @llvm.readcyclecounter()
  %spent = sub i64 %time, %since
  %short = icmp ult i64 %spent, {_MOMENT}
  br i1 %short, label %look, label %more
more:
  %done = phi i32 [ %before, %share ], [ %before, %look ], [ %before, %delay ], [ %done, %skip ], [ %done1, %next_one ]
  %due = phi i64 [ %due0, %share ], [ %due0, %look ], [ %due0, %delay ], [ %due, %skip ], [ %due1, %next_one ]
  %waits = phi i1 [ %waited, %share ], [ %waited, %look ], [ true, %delay ], [ %waits, %skip ], [ %waits, %next_one ]
  %next = atomicrmw add ptr %count, i64 1 seq_cst
  %chunk = add i64 %from, %next
  %some = icmp slt i64 %chunk, %to
  br i1 %some, label %skip, label %over
skip:
  %failed = load atomic i64, ptr %failedp seq_cst, align 8
  %useless = icmp sgt i64 %chunk, %failed
  br i1 %useless, label %more, label %run
run:
  %done1 = add i32 %done, 1
  store i64 %chunk, ptr %herep
  %status = call i32 %function(ptr %frame, i64 %chunk)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %check, label %bad
bad:
  %here = load i64, ptr %herep
  call void @failed(ptr %slot, i64 %here)
  br label %check
check:
  %awake = icmp eq i64 %due, 0
  br i1 %awake, label %next_one, label %test
test:
  %now = call i64 @llvm.readcyclecounter()
  %lasted = sub i64 %now, %due
  %ran = zext i32 %done1 to i64
  %left = sub i64 %chunks, %ran
  %expected = mul i64 %lasted, %left
  %worth = mul i64 %ran, {_WORTH}
  %early = icmp ult i64 %expected, %worth
  br i1 %early, label %next_one, label %rouse
rouse:
  call void @wake()
  br label %next_one
next_one:
  %due1 = phi i64 [ 0, %check ], [ %due, %test ], [ 0, %rouse ]
  br label %more
over:
  %k1 = add i64 %k, 1
  %others = icmp slt i64 %k1, %shares
  br i1 %others, label %share, label %end
end:
  ret i32 %done
}}

define internal ptr @worker(ptr %number) nounwind noinline {{
  %record = call ptr @record()
  %wide = ptrtoint ptr %number to i64
  store i64 %wide, ptr %record
  %interpreter = load ptr, ptr {_state("interpreter")}
  %thread = call ptr @PyThreadState_New(ptr %interpreter)
  %regionp = getelementptr i8, ptr %record, i64 {RECORD["region"]}
  %limitp = getelementptr i8, ptr %record, i64 {RECORD["limit"]}
  %rest0 = atomicrmw add ptr {_state("resting")}, i32 1 seq_cst
  %crowdp = alloca i64
  store i64 0, ptr %crowdp
  br label %top
top:
  %epoch = load atomic i32, ptr {_state("epoch")} seq_cst, align 4
  br label %scan
scan:
  %k = phi i64 [ 0, %top ], [ %k1, %next ]
  %got = phi i32 [ 0, %top ], [ %got1, %next ]
  %offset = mul i64 %k, {SLOT_BYTES}
  %at = add i64 %offset, {SLOTS_AT}
  %slot = getelementptr i8, ptr @pyjitc_pool, i64 %at
  %state = load atomic i32, ptr %slot acquire, align 4
  %open = icmp eq i32 %state, 2
  br i1 %open, label %enter, label %next
enter:
  %refsp = getelementptr i8, ptr %slot, i64 {SLOT["refs"]}
  %r0 = atomicrmw add ptr %refsp, i32 1 seq_cst
  %again = load atomic i32, ptr %slot seq_cst, align 4
  %still = icmp eq i32 %again, 2
  br i1 %still, label %allowed, label %leave
allowed:
{_load("most", "i32", "%slot", SLOT["limit"])}
  %mostw = zext i32 %most to i64
  %mine = icmp slt i64 %wide, %mostw
  br i1 %mine, label %run, label %leave
run:
  %rest1 = atomicrmw sub ptr {_state("resting")}, i32 1 seq_cst
  store i64 %mostw, ptr %limitp
  store ptr %slot, ptr %regionp
  %ran = call i32 @work(ptr %record, ptr %slot, i64 0)
  store ptr null, ptr %regionp
  %rest2 = atomicrmw add ptr {_state("resting")}, i32 1 seq_cst
  br label %leave
leave:
  %had = phi i32 [ 0, %enter ], [ 0, %allowed ], [ %ran, %run ]
  %waitsp = getelementptr i8, ptr %slot, i64 {SLOT["waits"]}
  %r1 = atomicrmw sub ptr %refsp, i32 1 seq_cst
  %waits = load atomic i32, ptr %waitsp seq_cst, align 4
  %last = icmp eq i32 %r1, 1
  %asleep = icmp ne i32 %waits, 0
  %wake = and i1 %last, %asleep
  br i1 %wake, label %rouse, label %left_it
rouse:
  %w = {_FUTEX} %refsp, i64 129, i32 2147483647, ptr null, ptr null, i64 0)
  br label %left_it
left_it:
  %total = or i32 %got, %had
  br label %next
next:
  %got1 = phi i32 [ %got, %scan ], [ %total, %left_it ]
  %k1 = add i64 %k, 1
  %others = icmp slt i64 %k1, {SLOTS}
  br i1 %others, label %scan, label %scanned
scanned:
  %any = icmp ne i32 %got1, 0
  br i1 %any, label %top, label %idle
idle:
  %begun = call i64 @llvm.readcyclecounter()
  %crowd = load i64, ptr %crowdp
  %less = call i64 @llvm.usub.sat.i64(i64 %crowd, i64 1)
  store i64 %less, ptr %crowdp
  br label %spin
spin:
  %turn = phi i32 [ 0, %idle ], [ %turn1, %pause ], [ %turn1, %patient ]
  %looked = phi i64 [ %begun, %idle ], [ %looked, %pause ], [ %present, %patient ]
  %now = load atomic i32, ptr {_state("epoch")} acquire, align 4
  %changed = icmp ne i32 %now, %epoch
  br i1 %changed, label %top, label %pause
pause:
  call void @llvm.x86.sse2.pause()
  %turn1 = add i32 %turn, 1
  %look = icmp slt i32 %turn1, {_SPIN}
  br i1 %look, label %spin, label %longer
longer:
  %present = call i64 @llvm.readcyclecounter()
  %step = sub i64 %present, %looked
  %lost = icmp ugt i64 %step, {_LOST}
  br i1 %lost, label %crowded, label %choose
crowded:
  store i64 {_CROWDED}, ptr %crowdp
  br label %sleep
choose:
  %gap = load atomic i64, ptr {_state("gap")} monotonic, align 8
  %near = icmp ult i64 %gap, {_NEAR}
  %room = icmp eq i64 %less, 0
  %worth = and i1 %near, %room
  br i1 %worth, label %patient, label %sleep
patient:
  %waited = sub i64 %present, %begun
  %twice = shl i64 %gap, 1
  %soon = icmp ult i64 %waited, %twice
  br i1 %soon, label %spin, label %sleep
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
  %more = icmp slt i32 %k, %wanted
  br i1 %more, label %one, label %done
one:
  %number = add i32 %k, 1
  %wide = zext i32 %number to i64
  %argument = inttoptr i64 %wide to ptr
  %c = call i32 @pthread_create(ptr %thread, ptr %attributes, ptr @worker, ptr %argument)
  br label %test
done:
  %m2 = call i32 @pthread_sigmask(i32 2, ptr %before, ptr null)
  %a3 = call i32 @pthread_attr_destroy(ptr %attributes)
  store atomic i32 %k, ptr {_state("workers")} seq_cst, align 4
  store atomic i32 0, ptr {_state("starting")} seq_cst, align 4
  br label %end
end:
  ret void
}}

; Sleep until the workers have left a region; let Python handle signals meanwhile.
define internal void @sleep(ptr %record, ptr %slot) nounwind noinline {{
  %held = call i32 @PyGILState_Check()
  %has = icmp ne i32 %held, 0
  br i1 %has, label %give, label %begin
give:
  %given = call ptr @PyEval_SaveThread()
  br label %begin
begin:
  %thread = phi ptr [ null, %0 ], [ %given, %give ]
  %refsp = getelementptr i8, ptr %slot, i64 {SLOT["refs"]}
  %waitsp = getelementptr i8, ptr %slot, i64 {SLOT["waits"]}
  store atomic i32 1, ptr %waitsp seq_cst, align 4
  br label %test
test:
  %refs = load atomic i32, ptr %refsp seq_cst, align 4
  %none = icmp eq i32 %refs, 0
  br i1 %none, label %done, label %wait
wait:
  %w = {_FUTEX} %refsp, i64 128, i32 %refs, ptr @_timeout, ptr null, i64 0)
  %number = load i64, ptr %record
  %own = icmp eq i64 %number, 0
  br i1 %own, label %look, label %test
look:
  %lock = call i32 @PyGILState_Ensure()
  %status = call i32 @PyErr_CheckSignals()
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %go_on, label %stop
stop:
  call void @failed(ptr %slot, i64 -1)
{_load("word", "ptr", "%slot", SLOT["stop"])}
  %nobody = icmp eq ptr %word, null
  br i1 %nobody, label %go_on, label %tell
tell:
  store atomic i64 {1 << 62}, ptr %word seq_cst, align 8
  br label %go_on
go_on:
  call void @PyGILState_Release(i32 %lock)
  br label %test
done:
  store atomic i32 0, ptr %waitsp seq_cst, align 4
  br i1 %has, label %take, label %end
take:
  call void @PyEval_RestoreThread(ptr %thread)
  br label %end
end:
  ret void
}}

define i32 @pyjitc_region(ptr %function, ptr %frame, i64 %chunks, ptr %stop, i1 %short, ptr %took) nounwind {{
  %few = icmp sle i64 %chunks, 1
  br i1 %few, label %serial, label %ask
ask:
  %record = call ptr @record()
{_load("limit", "i64", "%record", RECORD["limit"])}
  %alone = icmp sle i64 %limit, 1
  br i1 %alone, label %serial, label %inside
inside:
  %regionp = getelementptr i8, ptr %record, i64 {RECORD["region"]}
  %outer = load ptr, ptr %regionp
  %nested = icmp ne ptr %outer, null
  %resting = load atomic i32, ptr {_state("resting")} seq_cst, align 4
  %busy = icmp sle i32 %resting, 0
  %useless = and i1 %nested, %busy
  %closed = load atomic i32, ptr {_state("closed")} seq_cst, align 4
  %ends = icmp ne i32 %closed, 0
  %lonely = or i1 %useless, %ends
  br i1 %lonely, label %serial, label %started
started:
  %workers = load atomic i32, ptr {_state("workers")} seq_cst, align 4
  %most = load i32, ptr {_state("most")}
  %wanted = sub i32 %most, 1
  %missing = icmp slt i32 %workers, %wanted
  br i1 %missing, label %begin, label %scan
begin:
  call void @start(i32 %wanted)
  br label %scan
scan:
  %k = phi i64 [ 0, %started ], [ 0, %begin ], [ %k1, %taken ]
  %offset = mul i64 %k, {SLOT_BYTES}
  %at = add i64 %offset, {SLOTS_AT}
  %slot = getelementptr i8, ptr @pyjitc_pool, i64 %at
  %pair = cmpxchg ptr %slot, i32 0, i32 1 seq_cst seq_cst
  %mine = extractvalue {{i32, i1}} %pair, 1
  br i1 %mine, label %open, label %taken
taken:
  %k1 = add i64 %k, 1
  %others = icmp slt i64 %k1, {SLOTS}
  br i1 %others, label %scan, label %serial
serial:
  br label %each
each:
  %c = phi i64 [ 0, %serial ], [ %c1, %one ]
  %left = icmp slt i64 %c, %chunks
  br i1 %left, label %one, label %well
one:
  %c1 = add i64 %c, 1
  %s = call i32 %function(ptr %frame, i64 %c)
  %good = icmp eq i32 %s, 0
  br i1 %good, label %each, label %bad
well:
  ret i32 0
bad:
  ret i32 1
open:
{_store("functionp", "ptr", "%function", "%slot", SLOT["function"])}
{_store("framep", "ptr", "%frame", "%slot", SLOT["frame"])}
{_store("chunksp", "i64", "%chunks", "%slot", SLOT["chunks"])}
  %mostp = getelementptr i8, ptr %slot, i64 {SLOT["limit"]}
  %narrow = trunc i64 %limit to i32
  store i32 %narrow, ptr %mostp
  %errorp = getelementptr i8, ptr %slot, i64 {SLOT["error"]}
  store ptr null, ptr %errorp
  %herep = getelementptr i8, ptr %record, i64 {RECORD["chunk"]}
  %before = load i64, ptr %herep
{_store("parentp", "ptr", "%outer", "%slot", SLOT["parent"])}
{_store("parent_chunkp", "i64", "%before", "%slot", SLOT["parent_chunk"])}
{_store("stopp", "ptr", "%stop", "%slot", SLOT["stop"])}
  %failedp = getelementptr i8, ptr %slot, i64 {SLOT["failed"]}
  store i64 {_ALL}, ptr %failedp
  %fewer = icmp slt i64 %chunks, %limit
  %shares = select i1 %fewer, i64 %chunks, i64 %limit
{_store("sharesp", "i64", "%shares", "%slot", SLOT["shares"])}
  %bytes = shl i64 %shares, 7
  %taken_by = alloca i8, i64 %bytes, align 128
{_store("takenp", "ptr", "%taken_by", "%slot", SLOT["taken"])}
  call void @llvm.memset.p0.i64(ptr %taken_by, i8 0, i64 %bytes, i1 false)
  %ended = alloca [4 x i64]
  %now = call i64 @llvm.readcyclecounter()
  %last = load atomic i64, ptr {_state("last")} monotonic, align 8
  %since = sub i64 %now, %last
  store atomic i64 %since, ptr {_state("gap")} monotonic, align 8
  store atomic i32 2, ptr %slot seq_cst, align 4
  %e = atomicrmw add ptr {_state("epoch")}, i32 1 seq_cst
  %sleepers = load atomic i32, ptr {_state("sleepers")} seq_cst, align 4
  %asleep = icmp ne i32 %sleepers, 0
  br i1 %asleep, label %consider, label %own
consider:
  %guessed = icmp ne ptr %took, null
  br i1 %short, label %lately, label %certain
certain:
  br i1 %guessed, label %remember, label %wake
remember:
  %took_before = load atomic i64, ptr %took monotonic, align 8
  %one_less = sub i64 %took_before, 1
  %quick = icmp ult i64 %one_less, {_WORTH}
  br i1 %quick, label %lately, label %wake
lately:
  %recent = icmp ult i64 %since, {_RECENT}
  br i1 %recent, label %wake, label %own
wake:
  call void @wake()
  br label %own
own:
  %started_at = phi i64 [ 0, %open ], [ 0, %wake ], [ %now, %lately ]
  call void @_pthread_cleanup_push(ptr %ended, ptr @pyjitc_park, ptr null)
  store ptr %slot, ptr %regionp
  %begun = call i64 @llvm.readcyclecounter()
  %ran = call i32 @work(ptr %record, ptr %slot, i64 %started_at)
  store atomic i32 1, ptr %slot seq_cst, align 4
  %refsp = getelementptr i8, ptr %slot, i64 {SLOT["refs"]}
  %none_ran = icmp eq i32 %ran, 0
  %no_word = icmp eq ptr %took, null
  %forget = or i1 %none_ran, %no_word
  br i1 %forget, label %wait, label %note
note:
  %stopped = call i64 @llvm.readcyclecounter()
  %own_time = sub i64 %stopped, %begun
  %own_chunks = zext i32 %ran to i64
  %each_time = udiv i64 %own_time, %own_chunks
  %total_time = mul i64 %each_time, %chunks
  store atomic i64 %total_time, ptr %took monotonic, align 8
  br label %wait
wait:
  %turn = phi i32 [ 0, %own ], [ 0, %note ], [ %turn1, %pause ]
  %refs = load atomic i32, ptr %refsp seq_cst, align 4
  %none = icmp eq i32 %refs, 0
  br i1 %none, label %close, label %patience
patience:
  %long = icmp sgt i32 %turn, {_WAIT}
  br i1 %long, label %rest, label %pause
pause:
  call void @llvm.x86.sse2.pause()
  %turn1 = add i32 %turn, 1
  br label %wait
rest:
  call void @sleep(ptr %record, ptr %slot)
  br label %close
close:
  call void @_pthread_cleanup_pop(ptr %ended, i32 0)
  store ptr %outer, ptr %regionp
  store i64 %before, ptr %herep
  %exc = load ptr, ptr %errorp
  %failed = load atomic i64, ptr %failedp seq_cst, align 8
  %end = call i64 @llvm.readcyclecounter()
  store atomic i64 %end, ptr {_state("last")} monotonic, align 8
  store atomic i32 0, ptr %slot seq_cst, align 4
  %success = icmp eq ptr %exc, null
  br i1 %success, label %over, label %raise
over:
  ret i32 0
raise:
  %interrupted = icmp slt i64 %failed, 0
  %pass = and i1 %interrupted, %nested
  br i1 %pass, label %outwards, label %throw
outwards:
  store i64 -1, ptr %herep
  %outer_failedp = getelementptr i8, ptr %outer, i64 {SLOT["failed"]}
  %of = atomicrmw min ptr %outer_failedp, i64 -1 seq_cst
  br label %throw
throw:
  %lock = call i32 @PyGILState_Ensure()
  call void @pyj_rethrow(ptr %exc)
  call void @Py_DecRef(ptr %exc)
  call void @PyGILState_Release(i32 %lock)
  ret i32 1
}}

define i32 @pyjitc_signals() nounwind noinline {{
  %key = load i32, ptr {_state("key")}
  %record = call ptr @pthread_getspecific(i32 %key)
  %unknown = icmp eq ptr %record, null
  br i1 %unknown, label %plain, label %known
known:
{_load("region", "ptr", "%record", RECORD["region"])}
{_load("here", "i64", "%record", RECORD["chunk"])}
  br label %walk
walk:
  %slot = phi ptr [ %region, %known ], [ %parent, %up ]
  %chunk = phi i64 [ %here, %known ], [ %parent_chunk, %up ]
  %outside = icmp eq ptr %slot, null
  br i1 %outside, label %whose, label %compare
compare:
  %failedp = getelementptr i8, ptr %slot, i64 {SLOT["failed"]}
  %failed = load atomic i64, ptr %failedp seq_cst, align 8
  %over = icmp slt i64 %failed, %chunk
  br i1 %over, label %stop, label %up
up:
{_load("parent", "ptr", "%slot", SLOT["parent"])}
{_load("parent_chunk", "i64", "%slot", SLOT["parent_chunk"])}
  br label %walk
stop:
  %lock = call i32 @PyGILState_Ensure()
  %class = load ptr, ptr @PyExc_KeyboardInterrupt
  call void @PyErr_SetNone(ptr %class)
  call void @PyGILState_Release(i32 %lock)
  ret i32 1
whose:
  %number = load i64, ptr %record
  %worker = icmp ne i64 %number, 0
  br i1 %worker, label %fine, label %plain
plain:
  %place = phi ptr [ null, %0 ], [ %region, %whose ]
  %lock2 = call i32 @PyGILState_Ensure()
  %status = call i32 @PyErr_CheckSignals()
  call void @PyGILState_Release(i32 %lock2)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %fine, label %interrupted
interrupted:
  %nowhere = icmp eq ptr %place, null
  br i1 %nowhere, label %end, label %all
all:
{_store("mine", "i64", "-1", "%record", RECORD["chunk"])}
  %first = getelementptr i8, ptr %place, i64 {SLOT["failed"]}
  %m = atomicrmw min ptr %first, i64 -1 seq_cst
  br label %end
end:
  ret i32 1
fine:
  ret i32 0
}}

; How a loop is divided: see DIVIDE in ops/parallel.py, which says the same in Python. The bits of %flags are its
; attributes.
define {{i64, i64, i1}} @pyjitc_divide(i64 %trips, i64 %work, i64 %copied, i64 %asked, i64 %flags) nounwind {{
  %known_bit = and i64 %flags, 1
  %known = icmp ne i64 %known_bit, 0
  %even_bits = and i64 %flags, 3
  %even = icmp eq i64 %even_bits, 3
  %stored_bit = and i64 %flags, 4
  %stored = icmp ne i64 %stored_bit, 0
  %free = icmp sle i64 %asked, 0
  %little = icmp ult i64 %trips, {WORK}
  %all = mul i64 %trips, %work
  %cheap = icmp ule i64 %all, {WORK}
  %light = and i1 %little, %cheap
  %settled = and i1 %known, %light
  %at_once = and i1 %free, %settled
  br i1 %at_once, label %alone, label %begin
begin:
  %above = add i64 %work, {WORK - 1}
  %assumed = udiv i64 %above, %work
  %up = add i64 %trips, {TRIES - 1}
  %part = lshr i64 %up, {TRIES.bit_length() - 1}
  %some = call i64 @llvm.umax.i64(i64 %part, i64 1)
  %tried = call i64 @llvm.umin.i64(i64 %some, i64 %assumed)
  %least = select i1 %known, i64 %assumed, i64 %tried
  %fewer = icmp ule i64 %trips, %least
  %single = and i1 %free, %fewer
  br i1 %single, label %alone, label %several
alone:
  %some_or_none = call i64 @llvm.umin.i64(i64 %trips, i64 1)
  %one = select i1 %stored, i64 %some_or_none, i64 1
  %whole = call i64 @llvm.umax.i64(i64 %trips, i64 1)
  %a0 = insertvalue {{i64, i64, i1}} {{i64 0, i64 0, i1 true}}, i64 %one, 0
  %a1 = insertvalue {{i64, i64, i1}} %a0, i64 %whole, 1
  ret {{i64, i64, i1}} %a1
several:
  %most0 = add i64 %trips, {CHUNKS - 1}
  %most = lshr i64 %most0, {CHUNKS.bit_length() - 1}
  %uneven = call i64 @llvm.umax.i64(i64 %most, i64 %least)
  %many = mul i64 %least, {4 * FEW}
  %rounds0 = udiv i64 %trips, %many
  %rounds = add i64 %rounds0, 1
  %shares = mul i64 %rounds, {FEW}
  %over = add i64 %trips, %shares
  %share0 = sub i64 %over, 1
  %share = udiv i64 %share0, %shares
  %plain = call i64 @llvm.umax.i64(i64 %uneven, i64 %share)
  %vectors = add i64 %plain, {LANES - 1}
  %aligned = and i64 %vectors, {-LANES}
  %long = icmp uge i64 %least, {8 * LANES}
  %evenly = select i1 %long, i64 %aligned, i64 %plain
  %own = select i1 %even, i64 %evenly, i64 %uneven
  %floor0 = lshr i64 %trips, 16
  %floor1 = add i64 %floor0, 1
  %floor = select i1 %stored, i64 %floor1, i64 1
  %given = call i64 @llvm.umax.i64(i64 %asked, i64 %floor)
  %wanted = select i1 %free, i64 %own, i64 %given
  %combined0 = mul i64 %copied, {COMBINED}
  %combined1 = add i64 %combined0, %work
  %combined2 = sub i64 %combined1, 1
  %combined = udiv i64 %combined2, %work
  %size = call i64 @llvm.umax.i64(i64 %wanted, i64 %combined)
  %all_up = add i64 %trips, %size
  %last = sub i64 %all_up, 1
  %chunks = udiv i64 %last, %size
  %limit = udiv i64 {SHORT}, %work
  %brief = icmp ule i64 %size, %limit
  %enough = icmp uge i64 %trips, {TRIES}
  %below = icmp ult i64 %size, %assumed
  %likely = and i1 %enough, %below
  %short = select i1 %known, i1 %brief, i1 %likely
  %s0 = insertvalue {{i64, i64, i1}} poison, i64 %chunks, 0
  %s1 = insertvalue {{i64, i64, i1}} %s0, i64 %size, 1
  %s2 = insertvalue {{i64, i64, i1}} %s1, i1 %short, 2
  ret {{i64, i64, i1}} %s2
}}

define i64 @pyjitc_thread_id() nounwind {{
  %record = call ptr @record()
  %number = load i64, ptr %record
  ret i64 %number
}}

define i64 @pyjitc_num_threads() nounwind {{
  %record = call ptr @record()
{_load("limit", "i64", "%record", RECORD["limit"])}
  ret i64 %limit
}}

define i64 @pyjitc_chunk_size() nounwind {{
  %record = call ptr @record()
{_load("size", "i64", "%record", RECORD["size"])}
  ret i64 %size
}}

; The number before, or -1 where the new one is negative.
define i64 @pyjitc_set_chunk_size(i64 %n) nounwind {{
  %good = icmp sge i64 %n, 0
  br i1 %good, label %set, label %refuse
set:
  %record = call ptr @record()
  %sizep = getelementptr i8, ptr %record, i64 {RECORD["size"]}
  %before = load i64, ptr %sizep
  store i64 %n, ptr %sizep
  ret i64 %before
refuse:
  ret i64 -1
}}

; 0, or the most threads that there may be where the number is not one of them.
define i64 @pyjitc_set_num_threads(i64 %n) nounwind {{
  %narrow = load i32, ptr {_state("most")}
  %most = zext i32 %narrow to i64
  %above = sub i64 %n, 1
  %good = icmp ult i64 %above, %most
  br i1 %good, label %set, label %refuse
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
  %x0 = load i64, ptr %where
  %x = add i64 %x0, -7046029254386353131
  store i64 %x, ptr %where
  %s1 = lshr i64 %x, 30
  %x1 = xor i64 %x, %s1
  %x2 = mul i64 %x1, -4658895280553007687
  %s2 = lshr i64 %x2, 27
  %x3 = xor i64 %x2, %s2
  %x4 = mul i64 %x3, -7723592293110705685
  %s3 = lshr i64 %x4, 31
  %x5 = xor i64 %x4, %s3
  ret i64 %x5
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
  %turned = call i64 @llvm.fshl.i64(i64 %sum, i64 %sum, i64 23)
  %result = add i64 %turned, %a
  %t = shl i64 %b, 17
  %c1 = xor i64 %c, %a
  %d1 = xor i64 %d, %b
  %b1 = xor i64 %b, %c1
  %a1 = xor i64 %a, %d1
  %c2 = xor i64 %c1, %t
  %d2 = call i64 @llvm.fshl.i64(i64 %d1, i64 %d1, i64 45)
  store i64 %a1, ptr %state
  store i64 %b1, ptr %p1
  store i64 %c2, ptr %p2
  store i64 %d2, ptr %p3
  ret i64 %result
}}
define internal i32 @next32(ptr %state) nounwind {{
  %all = call i64 @next64(ptr %state)
  %high = lshr i64 %all, 32
  %result = trunc i64 %high to i32
  ret i32 %result
}}
define internal double @next_double(ptr %state) nounwind {{
  %all = call i64 @next64(ptr %state)
  %high = lshr i64 %all, 11
  %whole = uitofp i64 %high to double
  %result = fmul double %whole, 0x3CA0000000000000
  ret double %result
}}
define void @pyjitc_stream(ptr %memory, i64 %bitgen, i64 %kept, i64 %states, i64 %seed, i64 %chunk) nounwind {{
  %mixed = alloca i64
  store i64 %chunk, ptr %mixed
  %own = call i64 @mix(ptr %mixed)
  %both = xor i64 %own, %seed
  store i64 %both, ptr %mixed
  store i64 {1 << 20}, ptr %memory
  %state = getelementptr i8, ptr %memory, i64 %states
  br label %fill
fill:
  %k = phi i64 [ 0, %0 ], [ %k1, %fill ]
  %word = call i64 @mix(ptr %mixed)
  %where = getelementptr i64, ptr %state, i64 %k
  store i64 %word, ptr %where
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, 4
  br i1 %more, label %fill, label %table
table:
  %b = getelementptr i8, ptr %memory, i64 %bitgen
  store ptr %state, ptr %b
  %b1 = getelementptr ptr, ptr %b, i64 1
  store ptr @next64, ptr %b1
  %b2 = getelementptr ptr, ptr %b, i64 2
  store ptr @next32, ptr %b2
  %b3 = getelementptr ptr, ptr %b, i64 3
  store ptr @next_double, ptr %b3
  %b4 = getelementptr ptr, ptr %b, i64 4
  store ptr @next64, ptr %b4
  %has = icmp sge i64 %kept, 0
  br i1 %has, label %gauss, label %done
gauss:
  %g = getelementptr i8, ptr %memory, i64 %kept
  store ptr %b, ptr %g
  %g1 = getelementptr ptr, ptr %g, i64 1
  store i64 0, ptr %g1
  br label %done
done:
  ret void
}}

; The blocks of a kernel: frame is (function, arguments, counter, blocks, contexts...). The status takes the context's
; place.
define internal i32 @blocks(ptr %frame, i64 %chunk) nounwind {{
  %function = load ptr, ptr %frame
  %argumentsp = getelementptr i64, ptr %frame, i64 1
  %arguments = load ptr, ptr %argumentsp
  %counterp = getelementptr i64, ptr %frame, i64 2
  %counter = load ptr, ptr %counterp
  %countp = getelementptr i64, ptr %frame, i64 3
  %count = load i64, ptr %countp
  %place = add i64 %chunk, 4
  %contextp = getelementptr i64, ptr %frame, i64 %place
  %context = load ptr, ptr %contextp
  %status = call i32 %function(ptr %context, ptr %arguments, ptr %counter, i64 %count)
  %wide = zext i32 %status to i64
  store i64 %wide, ptr %contextp
  ret i32 0
}}

; The same without the interpreter lock, for a caller that has it.
define i32 @pyjitc_blocks(ptr %frame, i64 %chunks) nounwind {{
  %stopp = getelementptr i64, ptr %frame, i64 2
  %stop = load ptr, ptr %stopp
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
        _made[target] = shared.image(declared(text), target)
    return _made[target]
