"""The helper that sorts a list of floats or of ints, as list.sort does: stable, with the objects that it has.

It runs no code of the program. Programs share it: it is compiled once, see shared.py.
"""
from __future__ import annotations

from ..runtime.platform import FLOAT_VALUE, LIST_ITEMS, LONG_DIGITS, LONG_TAG, OB_SIZE, OB_TYPE
from .tables import SIZE_AND_SIGN

__all__ = ["DECLARATIONS", "NEEDS", "TEXT"]

_FEW = 48  # up to so many items are sorted by insertion


def _load(name: str, kind: str, pointer: str, offset) -> str:
    return f"  %{name}.p = getelementptr i8, ptr {pointer}, i64 {offset}\n  %{name} = load {kind}, ptr %{name}.p\n"


# flip: -1 for a reversed order, else 0. The result: 0, or 1 where nothing was done and the interpreter is to be asked.
# Each item has a key, an unsigned number of the same order; -0.0 has that of 0.0. Pairs of a key and the object are
# sorted byte after byte of the key, the lowest first. Bytes that are the same in all keys are passed over.
NEEDS: dict[str, tuple[str, ...]] = {}
TEXT: dict[str, str] = {"pyj_sort_list": f"""
define internal i32 @pyj_sort_list(ptr %list, i64 %flip) nounwind noinline {{
start:
  %counts = alloca [256 x i64]
{_load("n", "i64", "%list", OB_SIZE)}
  %single = icmp slt i64 %n, 2
  br i1 %single, label %nothing, label %begin
nothing:
  ret i32 0
begin:
{_load("items", "ptr", "%list", LIST_ITEMS)}
  %first = load ptr, ptr %items
{_load("class", "ptr", "%first", OB_TYPE)}
  %floats = icmp eq ptr %class, @PyFloat_Type
  %ints = icmp eq ptr %class, @PyLong_Type
  %known = or i1 %floats, %ints
  br i1 %known, label %room, label %ask
ask:
  ret i32 1
room:
  %bytes = shl i64 %n, 5
  %a = call ptr @malloc(i64 %bytes)
  %failed = icmp eq ptr %a, null
  br i1 %failed, label %ask, label %made
made:
  %b = getelementptr [2 x i64], ptr %a, i64 %n
  br label %read
read:
  %i = phi i64 [ 0, %made ], [ %i1, %keyed ]
  %before = phi i64 [ 0, %made ], [ %k, %keyed ]
  %ordered = phi i1 [ true, %made ], [ %ordered1, %keyed ]
  %any = phi i64 [ 0, %made ], [ %any1, %keyed ]
  %all = phi i64 [ -1, %made ], [ %all1, %keyed ]
  %op = getelementptr ptr, ptr %items, i64 %i
  %o = load ptr, ptr %op
{_load("of", "ptr", "%o", OB_TYPE)}
  %alike = icmp eq ptr %of, %class
  br i1 %alike, label %open, label %leave
leave:
  call void @free(ptr %a)
  ret i32 1
open:
  br i1 %floats, label %float, label %int
float:
{_load("x", "double", "%o", FLOAT_VALUE)}
  %nan = fcmp uno double %x, 0.0
  br i1 %nan, label %leave, label %number
number:
  %plus = fadd double %x, 0.0
  %bits = bitcast double %plus to i64
  %signs = ashr i64 %bits, 63
  %turn = or i64 %signs, {-1 << 63}
  %fkey = xor i64 %bits, %turn
  br label %keyed
int:
{_load("tag", "i64", "%o", LONG_TAG)}{_load("low", "i32", "%o", LONG_DIGITS)}{SIZE_AND_SIGN}
  %one = zext i32 %low to i64
  switch i64 %digits, label %leave [ i64 0, label %small  i64 1, label %small  i64 2, label %two ]
two:
{_load("second", "i32", "%o", LONG_DIGITS + 4)}
  %wide = zext i32 %second to i64
  %up = shl i64 %wide, 30
  %both = or i64 %up, %one
  br label %small
small:
  %size = phi i64 [ %one, %int ], [ %one, %int ], [ %both, %two ]
  %value = mul i64 %sign, %size
  %ikey = xor i64 %value, {-1 << 63}
  br label %keyed
keyed:
  %key = phi i64 [ %fkey, %number ], [ %ikey, %small ]
  %k = xor i64 %key, %flip
  %ap = getelementptr [2 x i64], ptr %a, i64 %i
  store i64 %k, ptr %ap
  %aop = getelementptr i64, ptr %ap, i64 1
  store ptr %o, ptr %aop
  %follows = icmp ule i64 %before, %k
  %ordered1 = and i1 %ordered, %follows
  %any1 = or i64 %any, %k
  %all1 = and i64 %all, %k
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %n
  br i1 %more, label %read, label %readall
readall:
  %differ = xor i64 %any1, %all1
  br i1 %ordered1, label %done, label %choose
choose:
  %few = icmp sle i64 %n, {_FEW}
  br i1 %few, label %insert, label %radix
insert:
  %t = phi i64 [ 1, %choose ], [ %t1, %put ]
  %tp = getelementptr [2 x i64], ptr %a, i64 %t
  %tkey = load i64, ptr %tp
  %top = getelementptr i64, ptr %tp, i64 1
  %tobj = load ptr, ptr %top
  br label %seek
seek:
  %j = phi i64 [ %t, %insert ], [ %j1, %shift ]
  %j1 = sub i64 %j, 1
  %front = icmp eq i64 %j, 0
  br i1 %front, label %put, label %compare
compare:
  %jp = getelementptr [2 x i64], ptr %a, i64 %j1
  %jkey = load i64, ptr %jp
  %above = icmp ugt i64 %jkey, %tkey
  br i1 %above, label %shift, label %put
shift:
  %jop = getelementptr i64, ptr %jp, i64 1
  %jobj = load ptr, ptr %jop
  %sp = getelementptr [2 x i64], ptr %a, i64 %j
  store i64 %jkey, ptr %sp
  %sop = getelementptr i64, ptr %sp, i64 1
  store ptr %jobj, ptr %sop
  br label %seek
put:
  %pp = getelementptr [2 x i64], ptr %a, i64 %j
  store i64 %tkey, ptr %pp
  %pop = getelementptr i64, ptr %pp, i64 1
  store ptr %tobj, ptr %pop
  %t1 = add i64 %t, 1
  %tmore = icmp slt i64 %t1, %n
  br i1 %tmore, label %insert, label %back
radix:
  %from = phi ptr [ %a, %choose ], [ %from1, %turned ]
  %to = phi ptr [ %b, %choose ], [ %to1, %turned ]
  %bit = phi i64 [ 0, %choose ], [ %bit1, %turned ]
  %part = lshr i64 %differ, %bit
  %byte = and i64 %part, 255
  %same = icmp eq i64 %byte, 0
  br i1 %same, label %turned, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %counts, i8 0, i64 2048, i1 false)
  br label %count
count:
  %c = phi i64 [ 0, %clear ], [ %c1, %count ]
  %cp = getelementptr [2 x i64], ptr %from, i64 %c
  %ck = load i64, ptr %cp
  %cs = lshr i64 %ck, %bit
  %cb = and i64 %cs, 255
  %cnp = getelementptr i64, ptr %counts, i64 %cb
  %cn = load i64, ptr %cnp
  %cn1 = add i64 %cn, 1
  store i64 %cn1, ptr %cnp
  %c1 = add i64 %c, 1
  %cmore = icmp slt i64 %c1, %n
  br i1 %cmore, label %count, label %sums
sums:
  %s = phi i64 [ 0, %count ], [ %s1, %sums ]
  %sum = phi i64 [ 0, %count ], [ %sum1, %sums ]
  %snp = getelementptr i64, ptr %counts, i64 %s
  %sn = load i64, ptr %snp
  store i64 %sum, ptr %snp
  %sum1 = add i64 %sum, %sn
  %s1 = add i64 %s, 1
  %smore = icmp slt i64 %s1, 256
  br i1 %smore, label %sums, label %scatter
scatter:
  %m = phi i64 [ 0, %sums ], [ %m1, %scatter ]
  %mp = getelementptr [2 x i64], ptr %from, i64 %m
  %pair = load <2 x i64>, ptr %mp, align 8
  %mk = extractelement <2 x i64> %pair, i32 0
  %ms = lshr i64 %mk, %bit
  %mb = and i64 %ms, 255
  %mnp = getelementptr i64, ptr %counts, i64 %mb
  %mn = load i64, ptr %mnp
  %mn1 = add i64 %mn, 1
  store i64 %mn1, ptr %mnp
  %dp = getelementptr [2 x i64], ptr %to, i64 %mn
  store <2 x i64> %pair, ptr %dp, align 8
  %m1 = add i64 %m, 1
  %mmore = icmp slt i64 %m1, %n
  br i1 %mmore, label %scatter, label %turned
turned:
  %from1 = phi ptr [ %from, %radix ], [ %to, %scatter ]
  %to1 = phi ptr [ %to, %radix ], [ %from, %scatter ]
  %bit1 = add i64 %bit, 8
  %again = icmp ult i64 %bit1, 64
  br i1 %again, label %radix, label %back
back:
  %result = phi ptr [ %a, %put ], [ %from1, %turned ]
  br label %write
write:
  %w = phi i64 [ 0, %back ], [ %w1, %write ]
  %wp = getelementptr [2 x i64], ptr %result, i64 %w
  %wop = getelementptr i64, ptr %wp, i64 1
  %wo = load ptr, ptr %wop
  %ip = getelementptr ptr, ptr %items, i64 %w
  store ptr %wo, ptr %ip
  %w1 = add i64 %w, 1
  %wmore = icmp slt i64 %w1, %n
  br i1 %wmore, label %write, label %done
done:
  call void @free(ptr %a)
  ret i32 0
}}"""}
DECLARATIONS = {
    "PyLong_Type": "@PyLong_Type = external global i8", "PyFloat_Type": "@PyFloat_Type = external global i8",
    "llvm.abs.i64": "declare i64 @llvm.abs.i64(i64, i1)",
    "llvm.memset.p0.i64": "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
}
