"""Helpers that sort a list of floats or of ints, or by keys that are numbers, as list.sort does, and that keep a heap,
as heapq does.

They move the list's objects and run no code of the program: where they cannot compare, they leave the call to the
interpreter, before anything was moved. Programs share them: they are compiled once, see shared.py.
"""
from __future__ import annotations

from ..runtime.platform import FLOAT_VALUE, LIST_ITEMS, LIST_ROOM, OB_SIZE, OB_TYPE, TUPLE_ITEMS
from .definitions import load as _load
from .tables import small_int

__all__ = ["TEXT"]

_FEW = 32  # the most items that are sorted by insertion
_MOST = 1 << 32  # lists of this length or more are sorted by the interpreter


# Sorts n pairs of an unsigned number and a word by the numbers, stably; `differ` has the bits in which the numbers
# differ. The result is in `a` or in `b`, which has the same size. It is a radix sort with the lowest digit first, of 11
# bits, or of 8 where there are few items; one reading counts up to three digits. For large ranges it sorts the upper
# three digits and then by insertion; where that has too much to do, all digits are sorted. Where the highest bit
# differs, as in ints of both signs, the least number is subtracted from all before.
_DIGIT, _SMALL_DIGIT, _MANY = 11, 8, 1200


def _count(digits: int) -> str:
    """A loop that counts how often each value of the lowest `digits` digits from `bit` on occurs."""
    name = f"c{digits}"
    text = f"""
{name}:
  %{name}.i = phi i64 [ 0, %group ], [ %{name}.next, %{name} ]
  %{name}.key = load i64, ptr (getelementptr [2 x i64], ptr %from, i64 %{name}.i)
  %{name}.s0 = lshr i64 %{name}.key, %bit"""
    for d in range(digits):
        text += f"""
  %{name}.b{d} = and i64 %{name}.s{d}, %mask
  %{name}.n{d}.p = getelementptr [{1 << _DIGIT} x i32], ptr %counts, i64 {d}, i64 %{name}.b{d}
  store i32 (add i32 (load i32, ptr %{name}.n{d}.p), 1), ptr %{name}.n{d}.p
  %{name}.s{d + 1} = lshr i64 %{name}.s{d}, %width"""
    return text + f"""
  %{name}.next = add i64 %{name}.i, 1
  %{name}.more = icmp slt i64 %{name}.next, %n
  br i1 %{name}.more, label %{name}, label %counted"""


# A loop over n keys %k, each of which ends in the block `keyed`: whether they are ordered, and the bits that differ. It
# starts from the block {0}.
_READ = """read:
  %i = phi i64 [ 0, %{0} ], [ %i1, %keyed ]
  %before = phi i64 [ 0, %{0} ], [ %k, %keyed ]
  %ordered = phi i1 [ true, %{0} ], [ %ordered1, %keyed ]
  %any = phi i64 [ 0, %{0} ], [ %any1, %keyed ]
  %all = phi i64 [ -1, %{0} ], [ %all1, %keyed ]
"""
_READ_ALL = """  %follows = icmp ule i64 %before, %k
  %ordered1 = and i1 %ordered, %follows
  %any1 = or i64 %any, %k
  %all1 = and i64 %all, %k
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %n
  br i1 %more, label %read, label %readall
readall:
"""
_KEY_OF_FLOAT = f"""  %plus = fadd double %x, 0.0
  %fbits = bitcast double %plus to i64
  %fkey = xor i64 %fbits, (or i64 (ashr i64 %fbits, 63), {-1 << 63})
  br label %keyed
"""

# Memory for two arrays of n pairs, at %a and %b.
_ROOM = """room:
  %a = call ptr @malloc(i64 {})
  br i1 (icmp eq ptr %a, null), label %ask, label %made
made:
  %b = getelementptr [2 x i64], ptr %a, i64 %n
"""
# The end of a loop that writes the items of the list in order, and of the helper.
_WRITTEN = """  br i1 (icmp slt i64 %w1, %n), label %write, label %done
done:
  call void @free(ptr %a)
  ret i32 0
"""
_CLEAR = "".join(f"""
  %row{d} = getelementptr [{1 << _DIGIT} x i32], ptr %counts, i64 {d}
  call void @llvm.memset.p0.i64(ptr %row{d}, i8 0, i64 %row.bytes, i1 false)""" for d in range(3))
TEXT: dict[str, str] = {"pyj_sort_entries": f"""
define internal ptr @pyj_sort_entries(ptr %a, ptr %b, i64 %n, i64 %differ) nounwind noinline {{
start:
  %counts = alloca [3 x [{1 << _DIGIT} x i32]], align 64
  %few = icmp sle i64 %n, {_FEW}
  %high = call i64 @llvm.ctlz.i64(i64 %differ, i1 false)
  %top.all = sub i64 64, %high
  br i1 (and i1 (icmp eq i64 %high, 0), (xor i1 %few, true)), label %range, label %choose
range:
  %r = phi i64 [ 0, %start ], [ %r1, %range ]
  %min = phi i64 [ -1, %start ], [ %min1, %range ]
  %max = phi i64 [ 0, %start ], [ %max1, %range ]
  %rkey = load i64, ptr (getelementptr [2 x i64], ptr %a, i64 %r)
  %min1 = call i64 @llvm.umin.i64(i64 %min, i64 %rkey)
  %max1 = call i64 @llvm.umax.i64(i64 %max, i64 %rkey)
  %r1 = add i64 %r, 1
  br i1 (icmp slt i64 %r1, %n), label %range, label %lower
lower:
  %l = phi i64 [ 0, %range ], [ %l1, %lower ]
  %lp = getelementptr [2 x i64], ptr %a, i64 %l
  store i64 (sub i64 (load i64, ptr %lp), %min1), ptr %lp
  %l1 = add i64 %l, 1
  br i1 (icmp slt i64 %l1, %n), label %lower, label %lowered
lowered:
  %top.low = sub i64 64, (call i64 @llvm.ctlz.i64(i64 (sub i64 %max1, %min1), i1 false))
choose:
  %top = phi i64 [ %top.all, %start ], [ %top.low, %lowered ]
  %many = icmp sge i64 %n, {_MANY}
  %width = select i1 %many, i64 {_DIGIT}, i64 {_SMALL_DIGIT}
  %mask = select i1 %many, i64 {(1 << _DIGIT) - 1}, i64 {(1 << _SMALL_DIGIT) - 1}
  %row.bytes = select i1 %many, i64 {4 << _DIGIT}, i64 {4 << _SMALL_DIGIT}
  %over = sub i64 %top, (select i1 %many, i64 {3 * _DIGIT}, i64 {3 * _SMALL_DIGIT})
  %lowest = select i1 (icmp sgt i64 %over, 0), i64 %over, i64 0
  %unlimited = select i1 %few, i64 {1 << 62}, i64 (shl i64 %n, 3)
  br i1 %few, label %insert, label %radix
insert:
  %sorting = phi ptr [ %a, %choose ], [ %from1, %turned ]
  %spare = phi ptr [ %b, %choose ], [ %to1, %turned ]
  br label %item
item:
  %t = phi i64 [ 1, %insert ], [ %t1, %following ]
  %moves = phi i64 [ %unlimited, %insert ], [ %left, %following ]
  %tp = getelementptr [2 x i64], ptr %sorting, i64 %t
  %tkey = load i64, ptr %tp
  %tword = load i64, ptr (getelementptr i64, ptr %tp, i64 1)
seek:
  %j = phi i64 [ %t, %item ], [ %j1, %shift ]
  %left = phi i64 [ %moves, %item ], [ %left1, %shift ]
  %j1 = sub i64 %j, 1
  br i1 (icmp eq i64 %j, 0), label %put, label %compare
compare:
  %jp = getelementptr [2 x i64], ptr %sorting, i64 %j1
  br i1 (icmp ugt i64 (load i64, ptr %jp), %tkey), label %shift, label %put
shift:
  %pair.j = load <2 x i64>, ptr %jp, align 8
  store <2 x i64> %pair.j, ptr (getelementptr [2 x i64], ptr %sorting, i64 %j), align 8
  %left1 = sub i64 %left, 1
  br label %seek
put:
  %pp = getelementptr [2 x i64], ptr %sorting, i64 %j
  store i64 %tkey, ptr %pp
  store i64 %tword, ptr (getelementptr i64, ptr %pp, i64 1)
  %t1 = add i64 %t, 1
  %tmore = icmp slt i64 %t1, %n
  br i1 (icmp sgt i64 %left, 0), label %following, label %radix
following:
  br i1 %tmore, label %item, label %sorted
sorted:
  ret ptr %sorting
radix:
  %first = phi ptr [ %a, %choose ], [ %sorting, %put ]
  %second = phi ptr [ %b, %choose ], [ %spare, %put ]
  %least = phi i64 [ %lowest, %choose ], [ 0, %put ]
  br label %group
group:
  %from = phi ptr [ %first, %radix ], [ %to.d, %whether ]
  %to = phi ptr [ %second, %radix ], [ %from.d, %whether ]
  %bit = phi i64 [ %least, %radix ], [ %bit1, %whether ]
  %bits.left = sub i64 %top, %bit
{_CLEAR}  %twice = shl i64 %width, 1
  %two = icmp sgt i64 %bits.left, %width
  %digits = select i1 (icmp sgt i64 %bits.left, %twice), i64 3, i64 (select i1 %two, i64 2, i64 1)
  switch i64 %digits, label %c1 [ i64 3, label %c3  i64 2, label %c2 ]
{_count(1)}{_count(2)}{_count(3)}
counted:
  br label %digit
digit:
  %d = phi i64 [ 0, %counted ], [ %d1, %scattered ]
  %from.d = phi ptr [ %from, %counted ], [ %to.d, %scattered ]
  %to.d = phi ptr [ %to, %counted ], [ %from.d, %scattered ]
  %bit.d = phi i64 [ %bit, %counted ], [ %bit1, %scattered ]
  br label %sums
sums:
  %s = phi i64 [ 0, %digit ], [ %s1, %sums ]
  %sum = phi i32 [ 0, %digit ], [ %sum1, %sums ]
  %snp = getelementptr [{1 << _DIGIT} x i32], ptr %counts, i64 %d, i64 %s
  %sn = load i32, ptr %snp
  store i32 %sum, ptr %snp
  %sum1 = add i32 %sum, %sn
  %s1 = add i64 %s, 1
  br i1 (icmp ule i64 %s1, %mask), label %sums, label %scatter.loop
scatter.loop:
  %m = phi i64 [ 0, %sums ], [ %m1, %scatter.loop ]
  %pair = load <2 x i64>, ptr (getelementptr [2 x i64], ptr %from.d, i64 %m), align 8
  %mk = extractelement <2 x i64> %pair, i32 0
  %ms = lshr i64 %mk, %bit.d
  %mnp = getelementptr [{1 << _DIGIT} x i32], ptr %counts, i64 %d, i64 (and i64 %ms, %mask)
  %mn = load i32, ptr %mnp
  store i32 (add i32 %mn, 1), ptr %mnp
  store <2 x i64> %pair, ptr (getelementptr [2 x i64], ptr %to.d, i64 (zext i32 %mn to i64)), align 8
  %m1 = add i64 %m, 1
  br i1 (icmp slt i64 %m1, %n), label %scatter.loop, label %scattered
scattered:
  %bit1 = add i64 %bit.d, %width
  %d1 = add i64 %d, 1
  %again = icmp slt i64 %bit1, %top
  br i1 (and i1 %again, (icmp slt i64 %d1, %digits)), label %digit, label %whether
whether:
  br i1 %again, label %group, label %turned
turned:
  %from1 = phi ptr [ %to.d, %whether ]
  %to1 = phi ptr [ %from.d, %whether ]
  br i1 (icmp eq i64 %least, 0), label %done, label %insert
done:
  ret ptr %from1
}}"""}
# flip: -1 for reverse order, else 0. The result is 0, or 1 where nothing was done and the interpreter must be called.
# Each item has a key, an unsigned number with the same order; -0.0 has the key of 0.0.
TEXT["pyj_sort_list"] = f"""
define internal i32 @pyj_sort_list(ptr %list, i64 %flip) nounwind noinline {{
start:
{_load("n", "i64", "%list", OB_SIZE)}
  br i1 (icmp slt i64 %n, 2), label %nothing, label %begin
nothing:
  ret i32 0
begin:
{_load("items", "ptr", "%list", LIST_ITEMS)}
  %first = load ptr, ptr %items
{_load("class", "ptr", "%first", OB_TYPE)}
  %floats = icmp eq ptr %class, @PyFloat_Type
  %ints = icmp eq ptr %class, @PyLong_Type
  br i1 (and i1 (or i1 %floats, %ints), (icmp ult i64 %n, {_MOST})), label %room, label %ask
ask:
  ret i32 1
{_ROOM.format("(shl i64 %n, 5)")}  br label %read
{_READ.format("made")}  %op = getelementptr ptr, ptr %items, i64 %i
  %o = load ptr, ptr %op
{_load("of", "ptr", "%o", OB_TYPE)}
  br i1 (icmp eq ptr %of, %class), label %open, label %leave
leave:
  call void @free(ptr %a)
  ret i32 1
open:
  br i1 %floats, label %float, label %int
float:
{_load("x", "double", "%o", FLOAT_VALUE)}
  br i1 (fcmp uno double %x, 0.0), label %leave, label %number
number:
{_KEY_OF_FLOAT}int:
{small_int("%o", "int", "leave")}  %ikey = xor i64 %value, {-1 << 63}
  br label %keyed
keyed:
  %key = phi i64 [ %fkey, %number ], [ %ikey, %small ]
  %k = xor i64 %key, %flip
  %ap = getelementptr [2 x i64], ptr %a, i64 %i
  store i64 %k, ptr %ap
  store ptr %o, ptr (getelementptr i64, ptr %ap, i64 1)
{_READ_ALL}  %differ = xor i64 %any1, %all1
  br i1 %ordered1, label %done, label %choose
choose:
  %result = call ptr @pyj_sort_entries(ptr %a, ptr %b, i64 %n, i64 %differ)
write:
  %w = phi i64 [ 0, %choose ], [ %w1, %write ]
  %wop = getelementptr i64, ptr (getelementptr [2 x i64], ptr %result, i64 %w), i64 1
  store ptr (load ptr, ptr %wop), ptr (getelementptr ptr, ptr %items, i64 %w)
  %w1 = add i64 %w, 1
{_WRITTEN}}}"""

# Sorts a list by keys of `width` numbers each, which are contiguous; `floats` has a bit for each number that is a
# float. Pairs of a number and the place of the key are sorted by the first numbers, then where these are equal by the
# second, and so on.
_KEYS = "ptr %words, i64 %width, i64 %column, i64 %floats, i64 %flip"
TEXT["pyj_sort_columns"] = f"""
define internal void @pyj_sort_columns(ptr %a, ptr %b, i64 %n, {_KEYS}) nounwind noinline {{
start:
  %real = icmp ne i64 (and i64 %floats, (shl i64 1, %column)), 0
  br label %read
{_READ.format("start")}  %ap = getelementptr [2 x i64], ptr %a, i64 %i
  %row = mul i64 (load i64, ptr (getelementptr i64, ptr %ap, i64 1)), %width
  %w = load i64, ptr (getelementptr i64, ptr %words, i64 (add i64 %row, %column))
  br i1 %real, label %float, label %int
float:
  %x = bitcast i64 %w to double
{_KEY_OF_FLOAT}int:
  %ikey = xor i64 %w, {-1 << 63}
  br label %keyed
keyed:
  %key = phi i64 [ %fkey, %float ], [ %ikey, %int ]
  %k = xor i64 %key, %flip
  store i64 %k, ptr %ap
{_READ_ALL}  br i1 %ordered1, label %columns, label %sort
sort:
  %result = call ptr @pyj_sort_entries(ptr %a, ptr %b, i64 %n, i64 (xor i64 %any1, %all1))
  br i1 (icmp ne ptr %result, %a), label %copy, label %columns
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %result, i64 (shl i64 %n, 4), i1 false)
columns:
  %next = add i64 %column, 1
  br i1 (icmp eq i64 %next, %width), label %done, label %run
run:
  %from = phi i64 [ 0, %columns ], [ %to, %ran ]
  %fp = getelementptr [2 x i64], ptr %a, i64 %from
  %fk = load i64, ptr %fp
same:
  %e = phi i64 [ %from, %run ], [ %to, %alike ]
  %to = add i64 %e, 1
  %end = icmp eq i64 %to, %n
  br i1 %end, label %ended, label %alike
alike:
  %ep = getelementptr [2 x i64], ptr %a, i64 %to
  br i1 (icmp eq i64 (load i64, ptr %ep), %fk), label %same, label %ended
ended:
  %length = sub i64 %to, %from
  br i1 (icmp sgt i64 %length, 1), label %deeper, label %ran
deeper:
  %bp = getelementptr [2 x i64], ptr %b, i64 %from
  call void @pyj_sort_columns(ptr %fp, ptr %bp, i64 %length, ptr %words, i64 %width, i64 %next, i64 %floats, i64 %flip)
ran:
  br i1 %end, label %done, label %run
done:
  ret void
}}"""

# A loop that stores as the second word of each of the %n pairs at %a the index of the pair.
_NUMBER = """number:
  %i = phi i64 [ 0, %made ], [ %i1, %number ]
  store i64 %i, ptr (getelementptr i64, ptr (getelementptr [2 x i64], ptr %a, i64 %i), i64 1)
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %n
  br i1 %more, label %number, label %sort
"""

# Whether there is a nan among n keys, of which there is at least one.
TEXT["pyj_sort_unordered"] = """
define internal i1 @pyj_sort_unordered(ptr %words, i64 %n, i64 %width, i64 %floats) nounwind noinline {
start:
  %total = mul i64 %n, %width
test:
  %q = phi i64 [ 0, %start ], [ %q1, %tested ]
  %c = phi i64 [ 0, %start ], [ %c2, %tested ]
  %bits = and i64 %floats, (shl i64 1, %c)
  %xp = getelementptr double, ptr %words, i64 %q
  %bad = and i1 (icmp ne i64 %bits, 0), (fcmp uno double (load double, ptr %xp), 0.0)
  br i1 %bad, label %done, label %tested
tested:
  %q1 = add i64 %q, 1
  %c1 = add i64 %c, 1
  %c2 = select i1 (icmp eq i64 %c1, %width), i64 0, i64 %c1
  %more = icmp slt i64 %q1, %total
  br i1 %more, label %test, label %done
done:
  ret i1 %bad
}"""
# The result is 0, or 1 where nothing was done, because there is a nan or the length of the list has changed.
TEXT["pyj_sort_words"] = f"""
define internal i32 @pyj_sort_words(ptr %list, i64 %n, {_KEYS}) nounwind noinline {{
start:
{_load("size", "i64", "%list", OB_SIZE)}
  br i1 (and i1 (icmp eq i64 %size, %n), (icmp ult i64 %n, {_MOST})), label %begin, label %ask
ask:
  ret i32 1
begin:
  br i1 (icmp slt i64 %n, 2), label %nothing, label %check
nothing:
  ret i32 0
check:
  %unordered = call i1 @pyj_sort_unordered(ptr %words, i64 %n, i64 %width, i64 %floats)
  br i1 %unordered, label %ask, label %room
{_ROOM.format("(shl i64 %n, 5)")}  br label %number
{_NUMBER}sort:
  call void @pyj_sort_columns(ptr %a, ptr %b, i64 %n, ptr %words, i64 %width, i64 %column, i64 %floats, i64 %flip)
{_load("items", "ptr", "%list", LIST_ITEMS)}
  call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %items, i64 (shl i64 %n, 3), i1 false)
write:
  %w = phi i64 [ 0, %sort ], [ %w1, %write ]
  %wp = getelementptr [2 x i64], ptr %a, i64 %w
  %op = getelementptr ptr, ptr %b, i64 (load i64, ptr (getelementptr i64, ptr %wp, i64 1))
  store ptr (load ptr, ptr %op), ptr (getelementptr ptr, ptr %items, i64 %w)
  %w1 = add i64 %w, 1
{_WRITTEN}}}"""

# Sorts the n items of a native list, `size` words each, by `keys` of `width` numbers each; by themselves where `keys`
# is null, and none of them is a nan. The result is 0, or 1 where nothing was done, because a key is a nan or there is
# no memory.
_OF_KEYS = _KEYS.replace("%words", "%keys")
TEXT["pyj_sort_native"] = f"""
define internal i32 @pyj_sort_native(ptr %items, i64 %n, i64 %size, {_OF_KEYS}) nounwind noinline {{
start:
  %row = shl i64 %size, 3
  %bytes = mul i64 %n, (add i64 %row, 32)
  br i1 (icmp ult i64 %n, {_MOST}), label %by, label %ask
by:
  %plain = icmp eq ptr %keys, null
  br i1 %plain, label %room, label %check
check:
  %unordered = call i1 @pyj_sort_unordered(ptr %keys, i64 %n, i64 %width, i64 %floats)
  br i1 %unordered, label %ask, label %room
ask:
  ret i32 1
{_ROOM.format("%bytes")}  %copy = getelementptr [2 x i64], ptr %b, i64 %n
  call void @llvm.memcpy.p0.p0.i64(ptr %copy, ptr %items, i64 (mul i64 %n, %row), i1 false)
  %words = select i1 %plain, ptr %copy, ptr %keys
  br label %number
{_NUMBER}sort:
  call void @pyj_sort_columns(ptr %a, ptr %b, i64 %n, ptr %words, i64 %width, i64 %column, i64 %floats, i64 %flip)
write:
  %w = phi i64 [ 0, %sort ], [ %w1, %written ]
  %to = phi ptr [ %items, %sort ], [ %to1, %written ]
  %wop = getelementptr i64, ptr (getelementptr [2 x i64], ptr %a, i64 %w), i64 1
  %from = getelementptr i8, ptr %copy, i64 (mul i64 (load i64, ptr %wop), %row)
word:
  %k = phi i64 [ 0, %write ], [ %k1, %word ]
  %fp = getelementptr i64, ptr %from, i64 %k
  store i64 (load i64, ptr %fp), ptr (getelementptr i64, ptr %to, i64 %k)
  %k1 = add i64 %k, 1
  br i1 (icmp slt i64 %k1, %size), label %word, label %written
written:
  %to1 = getelementptr i64, ptr %to, i64 %size
  %w1 = add i64 %w, 1
{_WRITTEN}}}"""

# Sorts n floats, some of which are nan, by the comparisons of the interpreter's own sort, which determine their order.
# Threads of a parallel region call it, too: it takes the interpreter lock. The result is 1 where an exception is set.
TEXT["pyj_sort_as_python"] = f"""
define internal i32 @pyj_sort_as_python(ptr %items, i64 %n, i1 %backwards) nounwind noinline cold {{
start:
  %lock = call i32 @PyGILState_Ensure()
  %list = call ptr @PyList_New(i64 %n)
  br i1 (icmp eq ptr %list, null), label %leave, label %made
made:
{_load("objects", "ptr", "%list", LIST_ITEMS)}
box:
  %i = phi i64 [ 0, %made ], [ %i1, %boxed ]
  br i1 (icmp slt i64 %i, %n), label %next, label %full
next:
  %o = call ptr @PyFloat_FromDouble(double (load double, ptr (getelementptr double, ptr %items, i64 %i)))
  br i1 (icmp eq ptr %o, null), label %drop, label %boxed
boxed:
  store ptr %o, ptr (getelementptr ptr, ptr %objects, i64 %i)
  %i1 = add i64 %i, 1
  br label %box
full:
  br i1 %backwards, label %turn, label %sort
turn:
  %t = call i32 @PyList_Reverse(ptr %list)
sort:
  %s = call i32 @PyList_Sort(ptr %list)
  br i1 (icmp eq i32 %s, 0), label %sorted, label %drop
sorted:
  br i1 %backwards, label %back, label %read
back:
  %u = call i32 @PyList_Reverse(ptr %list)
read:
{_load("ordered", "ptr", "%list", LIST_ITEMS)}
item:
  %k = phi i64 [ 0, %read ], [ %k1, %open ]
  br i1 (icmp slt i64 %k, %n), label %open, label %drop
open:
  %p = load ptr, ptr (getelementptr ptr, ptr %ordered, i64 %k)
{_load("x", "double", "%p", FLOAT_VALUE)}
  store double %x, ptr (getelementptr double, ptr %items, i64 %k)
  %k1 = add i64 %k, 1
  br label %item
drop:
  %wrong = phi i32 [ 1, %next ], [ 1, %sort ], [ 0, %item ]
  call void @Py_DecRef(ptr %list)
  br label %leave
leave:
  %status = phi i32 [ 1, %start ], [ %wrong, %drop ]
  call void @PyGILState_Release(i32 %lock)
  ret i32 %status
}}"""

# ---------------------------------------------------------------- heaps

# The value of an int object; for one with more than two digits the least int of 64 bits.
TEXT["pyj_sort_int"] = f"""
define internal i64 @pyj_sort_int(ptr %o) nounwind alwaysinline {{
start:
{small_int("%o", "start", "ask")}
  ret i64 %value
ask:
  ret i64 {-1 << 63}
}}"""
# Whether two objects have the same class: jumps to `which` or to `ask`.
_SAME_CLASS = f"""{_load("class", "ptr", "%x", OB_TYPE)}{_load("other", "ptr", "%y", OB_TYPE)}
  br i1 (icmp eq ptr %class, %other), label %which, label %ask
which:
"""
# The order of two objects: -1, 0, 1, or 2 where one is no int, float or text. A nan compares as 1 with everything.
TEXT["pyj_sort_order"] = f"""
define internal i32 @pyj_sort_order(ptr %x, ptr %y) nounwind alwaysinline {{
start:
{_SAME_CLASS}  br i1 (icmp eq ptr %class, @PyLong_Type), label %int, label %real
int:
  %i = call i64 @pyj_sort_int(ptr %x)
  %j = call i64 @pyj_sort_int(ptr %y)
  br i1 (or i1 (icmp eq i64 %i, {-1 << 63}), (icmp eq i64 %j, {-1 << 63})), label %ask, label %ints
ints:
  %imore = icmp sgt i64 %i, %j
  ret i32 (select i1 (icmp slt i64 %i, %j), i32 -1, i32 (zext i1 %imore to i32))
real:
  br i1 (icmp eq ptr %class, @PyFloat_Type), label %float, label %text
float:
{_load("a", "double", "%x", FLOAT_VALUE)}{_load("b", "double", "%y", FLOAT_VALUE)}
  %differ = fcmp une double %a, %b
  ret i32 (select i1 (fcmp olt double %a, %b), i32 -1, i32 (zext i1 %differ to i32))
text:
  br i1 (icmp eq ptr %class, @PyUnicode_Type), label %texts, label %ask
texts:
  ret i32 (call i32 @PyUnicode_Compare(ptr %x, ptr %y))
ask:
  ret i32 2
}}"""
# Whether x < y: 0, 1, or 2 where the interpreter must be called. For tuples the first items that differ decide; an
# object equals itself.
TEXT["pyj_sort_before"] = f"""
define internal i32 @pyj_sort_before(ptr %x, ptr %y) nounwind noinline {{
start:
{_load("class", "ptr", "%x", OB_TYPE)}
  br i1 (icmp eq ptr %class, @PyTuple_Type), label %both, label %single
single:
  %order = call i32 @pyj_sort_order(ptr %x, ptr %y)
  %less = icmp eq i32 %order, -1
  ret i32 (select i1 (icmp eq i32 %order, 2), i32 2, i32 (zext i1 %less to i32))
both:
{_load("other", "ptr", "%y", OB_TYPE)}
  br i1 (icmp eq ptr %other, @PyTuple_Type), label %sizes, label %ask
sizes:
{_load("n", "i64", "%x", OB_SIZE)}{_load("m", "i64", "%y", OB_SIZE)}
  br label %look
look:
  %i = phi i64 [ 0, %sizes ], [ %i1, %next ]
  br i1 (or i1 (icmp sge i64 %i, %n), (icmp sge i64 %i, %m)), label %shorter, label %item
shorter:
  ret i32 (zext i1 (icmp slt i64 %n, %m) to i32)
item:
  %offset = add i64 (shl i64 %i, 3), {TUPLE_ITEMS}
  %xo = load ptr, ptr (getelementptr i8, ptr %x, i64 %offset)
  %yo = load ptr, ptr (getelementptr i8, ptr %y, i64 %offset)
  br i1 (icmp eq ptr %xo, %yo), label %next, label %compare
compare:
  %r = call i32 @pyj_sort_order(ptr %xo, ptr %yo)
  switch i32 %r, label %no [ i32 -1, label %yes  i32 0, label %next  i32 2, label %ask ]
next:
  %i1 = add i64 %i, 1
  br label %look
yes:
  ret i32 1
no:
  ret i32 0
ask:
  ret i32 2
}}"""
# Whether x < y, as above. Floats, and tuples whose first items, floats or ints, decide, are compared without a call.
TEXT["pyj_heap_before"] = f"""
define internal i32 @pyj_heap_before(ptr %x, ptr %y) nounwind alwaysinline {{
start:
{_SAME_CLASS}  br i1 (icmp eq ptr %class, @PyFloat_Type), label %floats, label %pairs
floats:
{_load("a", "double", "%x", FLOAT_VALUE)}{_load("b", "double", "%y", FLOAT_VALUE)}
  ret i32 (zext i1 (fcmp olt double %a, %b) to i32)
pairs:
  br i1 (icmp eq ptr %class, @PyTuple_Type), label %sizes, label %ask
sizes:
{_load("n", "i64", "%x", OB_SIZE)}{_load("m", "i64", "%y", OB_SIZE)}
  br i1 (and i1 (icmp ne i64 %n, 0), (icmp eq i64 %n, %m)), label %items, label %ask
items:
{_load("p", "ptr", "%x", TUPLE_ITEMS)}{_load("q", "ptr", "%y", TUPLE_ITEMS)}
{_load("of", "ptr", "%p", OB_TYPE)}{_load("ofother", "ptr", "%q", OB_TYPE)}
  br i1 (icmp eq ptr %of, %ofother), label %kinds, label %ask
kinds:
  br i1 (icmp eq ptr %of, @PyFloat_Type), label %reals, label %wholes
reals:
{_load("f", "double", "%p", FLOAT_VALUE)}{_load("g", "double", "%q", FLOAT_VALUE)}
  %first = zext i1 (fcmp olt double %f, %g) to i32
  br i1 (fcmp one double %f, %g), label %said, label %ask
said:
  ret i32 %first
wholes:
  br i1 (icmp eq ptr %of, @PyLong_Type), label %ints, label %ask
ints:
  %i = call i64 @pyj_sort_int(ptr %p)
  %j = call i64 @pyj_sort_int(ptr %q)
  %ilong = icmp eq i64 %i, {-1 << 63}
  %jlong = icmp eq i64 %j, {-1 << 63}
  %second = zext i1 (icmp slt i64 %i, %j) to i32
  br i1 (or i1 (or i1 %ilong, %jlong), (icmp eq i64 %i, %j)), label %ask, label %told
told:
  ret i32 %second
ask:
  ret i32 (call i32 @pyj_sort_before(ptr %x, ptr %y))
}}"""
# 0: `item`, whose reference is consumed, is in the heap; 1: nothing was done; -1: an exception was raised.
TEXT["pyj_heap_push"] = f"""
define internal i32 @pyj_heap_push(ptr %heap, ptr %item) nounwind noinline {{
start:
{_load("n", "i64", "%heap", OB_SIZE)}{_load("items", "ptr", "%heap", LIST_ITEMS)}
  br label %climb
climb:
  %place = phi i64 [ %n, %start ], [ %above, %higher ]
  br i1 (icmp eq i64 %place, 0), label %found, label %look
look:
  %above = lshr i64 (sub i64 %place, 1), 1
  %parentp = getelementptr ptr, ptr %items, i64 %above
  %before = call i32 @pyj_heap_before(ptr %item, ptr (load ptr, ptr %parentp))
  switch i32 %before, label %ask [ i32 0, label %found  i32 1, label %higher ]
higher:
  br label %climb
ask:
  ret i32 1
found:
  %status = call i32 @PyList_Append(ptr %heap, ptr %item)
  call void @Py_DecRef(ptr %item)
  br i1 (icmp slt i32 %status, 0), label %raised, label %move
raised:
  ret i32 -1
move:
{_load("now", "ptr", "%heap", LIST_ITEMS)}
  br label %test
test:
  %hole = phi i64 [ %n, %move ], [ %up, %lower ]
  %holep = getelementptr ptr, ptr %now, i64 %hole
  br i1 (icmp eq i64 %hole, %place), label %put, label %lower
lower:
  %up = lshr i64 (sub i64 %hole, 1), 1
  store ptr (load ptr, ptr (getelementptr ptr, ptr %now, i64 %up)), ptr %holep
  br label %test
put:
  store ptr %item, ptr %holep
  ret i32 0
}}"""
# Removes and returns the first object of a heap; 1: nothing was done; null: an exception was raised. As in heapq, the
# last object moves down to a leaf, always past the smaller child, and up again. The path is found before anything
# moves.
TEXT["pyj_heap_pop"] = f"""
define internal ptr @pyj_heap_pop(ptr %heap) nounwind noinline {{
start:
  %way = alloca [64 x i64]
{_load("n", "i64", "%heap", OB_SIZE)}{_load("items", "ptr", "%heap", LIST_ITEMS)}
  br i1 (icmp eq i64 %n, 0), label %ask, label %begin
ask:
  ret ptr inttoptr (i64 1 to ptr)
begin:
  store i64 0, ptr %way
  %end = sub i64 %n, 1
  %last = load ptr, ptr (getelementptr ptr, ptr %items, i64 %end)
  %limit = lshr i64 %end, 1
down:
  %place = phi i64 [ 0, %begin ], [ %child, %chosen ]
  %depth = phi i64 [ 0, %begin ], [ %depth1, %chosen ]
  br i1 (icmp slt i64 %place, %limit), label %children, label %up
children:
  %twice = shl i64 %place, 1
  %left = add i64 %twice, 1
  %right = add i64 %twice, 2
  br i1 (icmp slt i64 %right, %end), label %choose, label %chosen
choose:
  %leftp = getelementptr ptr, ptr %items, i64 %left
  %rightp = getelementptr ptr, ptr %items, i64 %right
  %lesser = call i32 @pyj_heap_before(ptr (load ptr, ptr %leftp), ptr (load ptr, ptr %rightp))
  switch i32 %lesser, label %ask [ i32 0, label %other  i32 1, label %chosen ]
other:
  br label %chosen
chosen:
  %child = phi i64 [ %left, %children ], [ %left, %choose ], [ %right, %other ]
  %depth1 = add i64 %depth, 1
  store i64 %child, ptr (getelementptr i64, ptr %way, i64 %depth1)
  br label %down
up:
  %d = phi i64 [ %depth, %down ], [ %d1, %higher ]
  br i1 (icmp eq i64 %d, 0), label %cut, label %compare
compare:
  %op = getelementptr ptr, ptr %items, i64 (load i64, ptr (getelementptr i64, ptr %way, i64 %d))
  %before = call i32 @pyj_heap_before(ptr %last, ptr (load ptr, ptr %op))
  switch i32 %before, label %ask [ i32 0, label %cut  i32 1, label %higher ]
higher:
  %d1 = sub i64 %d, 1
  br label %up
cut:
{_load("room", "i64", "%heap", LIST_ROOM)}
  br i1 (icmp sge i64 %end, (ashr i64 %room, 1)), label %shorter, label %shrink
shorter:
  store i64 %end, ptr %n.p
  br label %move
shrink:
  call void @Py_IncRef(ptr %last)
  %status = call i32 @PyList_SetSlice(ptr %heap, i64 %end, i64 {(1 << 63) - 1}, ptr null)
  br i1 (icmp slt i32 %status, 0), label %raised, label %move
raised:
  call void @Py_DecRef(ptr %last)
  ret ptr null
move:
  br i1 (icmp eq i64 %end, 0), label %only, label %shift
only:
  ret ptr %last
shift:
{_load("now", "ptr", "%heap", LIST_ITEMS)}
  %first = load ptr, ptr %now
step:
  %s = phi i64 [ 0, %shift ], [ %s1, %raise ]
  %holep = getelementptr ptr, ptr %now, i64 (load i64, ptr (getelementptr i64, ptr %way, i64 %s))
  br i1 (icmp eq i64 %s, %d), label %put, label %raise
raise:
  %s1 = add i64 %s, 1
  %ni = load i64, ptr (getelementptr i64, ptr %way, i64 %s1)
  store ptr (load ptr, ptr (getelementptr ptr, ptr %now, i64 %ni)), ptr %holep
  br label %step
put:
  store ptr %last, ptr %holep
  ret ptr %first
}}"""
