"""Helpers that write numbers as decimal text, and read them from text.

They are loaded by programs that use them, and compiled once, see shared.py.
"""
from __future__ import annotations

import struct

from ..runtime.platform import FLOAT_VALUE, OB_TYPE, STR, STR_STATE
from .definitions import definer, load as _load, store as _store

__all__ = ["TEXT", "shortest"]

TEXT: dict[str, str] = {}
_define = definer(TEXT)

TEXT["pyj_decimal_tables"] = "\n".join((
    "@pyj_decimal_tables.pairs = private unnamed_addr constant [200 x i8] "
    f"c\"{''.join(f'{n:02}' for n in range(100))}\"",
    f"@pyj_decimal_tables.powers = private unnamed_addr constant [20 x i64] "
    f"[{', '.join(f'i64 {10 ** n}' for n in range(20))}]",
    "@pyj_decimal_tables.tens = private unnamed_addr constant [23 x double] ["
    + ", ".join(f"double 0x{struct.unpack('<Q', struct.pack('<d', 10.0 ** n))[0]:016X}" for n in range(23)) + "]"))

_INVERSES = [(1 << 127) if n == 0 else (1 << ((5 ** n - 1).bit_length() + 127)) // 5 ** n + 1 for n in range(20)]
TEXT["pyj_decimal_tables"] += "".join(
    f"\n@{name} = private unnamed_addr constant [20 x i64] ["
    f"{', '.join(f'i64 {x >> at & (1 << 64) - 1}' for x in _INVERSES)}]"
    for name, at in (("pyj_decimal_tables.inverses", 64), ("pyj_decimal_tables.inverses_low", 0)))

# Writes the digits of a number without a sign so that they end before `end`; returns their start.
_define("ptr @pyj_decimal_digits(ptr %end, i64 %number)", """
  br label %test
test:
  %m = phi i64 [ %number, %0 ], [ %rest, %pair ]
  %at = phi ptr [ %end, %0 ], [ %two, %pair ]
  %more = icmp ugt i64 %m, 99
  br i1 %more, label %pair, label %last
pair:
  %rest = udiv i64 %m, 100
  %whole = mul i64 %rest, 100
  %low = sub i64 %m, %whole
  %place = mul i64 %low, 2
  %from = getelementptr i8, ptr @pyj_decimal_tables.pairs, i64 %place
  %digits = load i16, ptr %from, align 1
  %two = getelementptr i8, ptr %at, i64 -2
  store i16 %digits, ptr %two, align 1
  br label %test
last:
  %single = icmp ult i64 %m, 10
  br i1 %single, label %one, label %both
one:
  %begin1 = getelementptr i8, ptr %at, i64 -1
  %small = trunc i64 %m to i8
  %digit = add i8 %small, 48
  store i8 %digit, ptr %begin1
  ret ptr %begin1
both:
  %place2 = mul i64 %m, 2
  %from2 = getelementptr i8, ptr @pyj_decimal_tables.pairs, i64 %place2
  %digits2 = load i16, ptr %from2, align 1
  %begin2 = getelementptr i8, ptr %at, i64 -2
  store i16 %digits2, ptr %begin2, align 1
  ret ptr %begin2""")

# The ASCII text from `begin` to `end`.
_define("ptr @pyj_decimal_of_bytes(ptr %begin, ptr %end)", f"""
  %first = ptrtoint ptr %begin to i64
  %last = ptrtoint ptr %end to i64
  %size = sub i64 %last, %first
  %made = call ptr @PyUnicode_New(i64 %size, i32 127)
  %none = icmp eq ptr %made, null
  br i1 %none, label %out, label %copy
copy:
  %data = getelementptr i8, ptr %made, i64 {STR["ascii"]}
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %begin, i64 %size, i1 false)
  br label %out
out:
  ret ptr %made""")

# The same characters as a part of a text that is put together. They become the content of an object whose head is
# written in front of them, in memory of the caller. It has so many references that releases never free it; nobody may
# keep it.
PART_SIZE = 96  # bytes of that memory
_define("ptr @pyj_decimal_part_of_bytes(ptr %begin, ptr %end)", f"""
  %first = ptrtoint ptr %begin to i64
  %last = ptrtoint ptr %end to i64
  %size = sub i64 %last, %first
  %o = getelementptr i8, ptr %begin, i64 -{STR["ascii"]}
  %zero.p = getelementptr ptr, ptr @pyjitc_characters, i64 48
  %zero = load ptr, ptr %zero.p
{_load("like", "i64", "%zero", STR["state"])}
  %state = and i64 %like, {STR_STATE["sizes"] | STR_STATE["ascii"] | 0x80}
  store i64 {1 << 30}, ptr %o, align 1
  %class.p = getelementptr i8, ptr %o, i64 {OB_TYPE}
  store ptr @PyUnicode_Type, ptr %class.p, align 1
  %size.p = getelementptr i8, ptr %o, i64 {STR["length"]}
  store i64 %size, ptr %size.p, align 1
  %hash.p = getelementptr i8, ptr %o, i64 {STR["hash"]}
  store i64 -1, ptr %hash.p, align 1
  %state.p = getelementptr i8, ptr %o, i64 {STR["state"]}
  store i64 %state, ptr %state.p, align 1
  ret ptr %o""")

# The address of the first digit of an int whose digits end at %end.
_define("ptr @pyj_decimal_int_at(i64 %x, ptr %end)", """
  %negative = icmp slt i64 %x, 0
  %minus = sub i64 0, %x
  %size = select i1 %negative, i64 %minus, i64 %x
  %digits = call ptr @pyj_decimal_digits(ptr %end, i64 %size)
  %before = getelementptr i8, ptr %digits, i64 -1
  br i1 %negative, label %sign, label %make
sign:
  store i8 45, ptr %before
  br label %make
make:
  %begin = phi ptr [ %digits, %0 ], [ %before, %sign ]
  ret ptr %begin""")
_define("ptr @pyj_decimal_of_int(i64 %x)", """
  %room = alloca [24 x i8]
  %end = getelementptr i8, ptr %room, i64 24
  %begin = call ptr @pyj_decimal_int_at(i64 %x, ptr %end)
  %made = call ptr @pyj_decimal_of_bytes(ptr %begin, ptr %end)
  ret ptr %made""", shared=True)
_define("ptr @pyj_decimal_int_part(i64 %x, ptr %room)", f"""
  %end = getelementptr i8, ptr %room, i64 {PART_SIZE}
  %begin = call ptr @pyj_decimal_int_at(i64 %x, ptr %end)
  %made = call ptr @pyj_decimal_part_of_bytes(ptr %begin, ptr %end)
  ret ptr %made""", shared=True)

# repr of a float. Where 15 digits are enough, it is m / 10**k with the smallest k, since that division rounds as
# parsing the digits does; for other floats, and for exponents, see below.
_define("ptr @pyj_decimal_of_float(double %x)", """
  %room = alloca [40 x i8]
  %size = call double @llvm.fabs.f64(double %x)
  %big = fcmp olt double %size, 1.0e15
  %fine = fcmp oge double %size, 1.0e-4
  %zero = fcmp oeq double %size, 0.0
  %finezero = or i1 %fine, %zero
  %plain = and i1 %big, %finezero
  br i1 %plain, label %scale, label %slow
scale:
  br label %find
find:
  %k = phi i64 [ 0, %scale ], [ %k1, %again ]
  %tenp = getelementptr double, ptr @pyj_decimal_tables.tens, i64 %k
  %ten = load double, ptr %tenp
  %scaled = fmul double %size, %ten
  %m = call double @llvm.rint.f64(double %scaled)
  %short = fcmp olt double %m, 1.0e15
  br i1 %short, label %try, label %slow
try:
  %back = fdiv double %m, %ten
  %same = fcmp oeq double %back, %size
  br i1 %same, label %write, label %again
again:
  %k1 = add i64 %k, 1
  %far = icmp eq i64 %k1, 19
  br i1 %far, label %slow, label %find
write:
  %end = getelementptr i8, ptr %room, i64 40
  %number = fptoui double %m to i64
  %whole = icmp eq i64 %k, 0
  br i1 %whole, label %point, label %fraction
point:
  %dotzero = getelementptr i8, ptr %end, i64 -2
  store i16 12334, ptr %dotzero, align 1
  br label %left
fraction:
  %powerp = getelementptr i64, ptr @pyj_decimal_tables.powers, i64 %k
  %power = load i64, ptr %powerp
  %units = udiv i64 %number, %power
  %unitsize = mul i64 %units, %power
  %rest = sub i64 %number, %unitsize
  %digits = call ptr @pyj_decimal_digits(ptr %end, i64 %rest)
  %back_k = sub i64 0, %k
  %start = getelementptr i8, ptr %end, i64 %back_k
  br label %pad
pad:
  %at = phi ptr [ %digits, %fraction ], [ %at1, %put ]
  %padded = icmp eq ptr %at, %start
  br i1 %padded, label %dot, label %put
put:
  %at1 = getelementptr i8, ptr %at, i64 -1
  store i8 48, ptr %at1
  br label %pad
dot:
  %dotp = getelementptr i8, ptr %start, i64 -1
  store i8 46, ptr %dotp
  br label %left
left:
  %upto = phi ptr [ %dotzero, %point ], [ %dotp, %dot ]
  %integer = phi i64 [ %number, %point ], [ %units, %dot ]
  %front = call ptr @pyj_decimal_digits(ptr %upto, i64 %integer)
  %bits = bitcast double %x to i64
  %negative = icmp slt i64 %bits, 0
  %before = getelementptr i8, ptr %front, i64 -1
  br i1 %negative, label %sign, label %make
sign:
  store i8 45, ptr %before
  br label %make
make:
  %begin = phi ptr [ %front, %left ], [ %before, %sign ]
  %made = call ptr @pyj_decimal_of_bytes(ptr %begin, ptr %end)
  ret ptr %made
slow:
  %result = call ptr @pyj_decimal_shortest(double %x)
  ret ptr %result""",
        shared=True)

# The powers of ten from 10**-292 to 10**324 as 128 bits, of which the first is set, rounded up.
_LEAST_POWER, _MOST_POWER = -292, 324


def _power_of_ten(n: int) -> int:
    if n >= 0:
        bits = (10 ** n).bit_length()
        return 10 ** n << 128 - bits if bits <= 128 else -(-10 ** n >> bits - 128)
    shift = (10 ** -n).bit_length() + 127
    found = -((-1 << shift) // 10 ** -n)
    return found if found < 1 << 128 else -((-1 << shift - 1) // 10 ** -n)


def shortest() -> str:
    """Add the table of these powers, which few programs need."""
    powers = list(map(_power_of_ten, range(_LEAST_POWER, _MOST_POWER + 1)))
    words = ", ".join(f"i64 {p >> 64}, i64 {p & (1 << 64) - 1}" for p in powers)
    return f"@pyj_decimal_exponents = private unnamed_addr constant [{2 * len(powers)} x i64] [{words}]"


# The product of a number and a power of ten of 128 bits, without its lowest 128 bits; its last bit says whether these
# are larger than the error of the power.
_define("i64 @pyj_decimal_scaled(i64 %high, i64 %low, i64 %number)", """
  %n = zext i64 %number to i128
  %h = zext i64 %high to i128
  %l = zext i64 %low to i128
  %x = mul nuw i128 %l, %n
  %y = mul nuw i128 %h, %n
  %carried = lshr i128 %x, 64
  %sum = add nuw i128 %y, %carried
  %rest = trunc i128 %sum to i64
  %upper = lshr i128 %sum, 64
  %whole = trunc i128 %upper to i64
  %inexact = icmp ugt i64 %rest, 1
  %last = zext i1 %inexact to i64
  %result = or i64 %whole, %last
  ret i64 %result""")
# repr of a float by the fewest digits that identify it, and the nearest of these. Source: Raffaello Giulietti, "The
# Schubfach way to render doubles" (2020), in the form of Alexander Bolz's Drachennest.
_define("ptr @pyj_decimal_shortest(double %x)", f"""
start:
  %room = alloca [64 x i8]
  %digitroom = alloca [24 x i8]
  %bits = bitcast double %x to i64
  %negative = icmp slt i64 %bits, 0
  %up = lshr i64 %bits, 52
  %exponent = and i64 %up, 2047
  %fraction = and i64 %bits, {(1 << 52) - 1}
  %special = icmp eq i64 %exponent, 2047
  %small = icmp eq i64 %exponent, 0
  %hidden = select i1 %small, i64 0, i64 {1 << 52}
  %c = or i64 %fraction, %hidden
  %nothing = icmp eq i64 %c, 0
  %rare = or i1 %special, %nothing
  br i1 %rare, label %slow, label %scale
slow:
  %asked = call ptr @pyj_decimal_formatted(double %x, i8 114, i32 0, i32 2)
  ret ptr %asked
scale:
  %biased = select i1 %small, i64 1, i64 %exponent
  %q = sub i64 %biased, 1075
  %power2 = icmp eq i64 %fraction, 0
  %normal = icmp ugt i64 %exponent, 1
  %closer = and i1 %power2, %normal
  %odd = and i64 %c, 1
  %cb = shl i64 %c, 2
  %above = add i64 %cb, 2
  %step = select i1 %closer, i64 1, i64 2
  %below = sub i64 %cb, %step
  %q10 = mul i64 %q, 1262611
  %less = select i1 %closer, i64 524031, i64 0
  %k22 = sub i64 %q10, %less
  %k = ashr i64 %k22, 22
  %minus = sub i64 0, %k
  %log = mul i64 %minus, 1741647
  %log2 = ashr i64 %log, 19
  %h0 = add i64 %q, %log2
  %h = add i64 %h0, 1
  %place = sub i64 {-_LEAST_POWER}, %k
  %entry = mul i64 %place, 2
  %highp = getelementptr i64, ptr @pyj_decimal_exponents, i64 %entry
  %high = load i64, ptr %highp
  %lowp = getelementptr i64, ptr %highp, i64 1
  %low = load i64, ptr %lowp
  %cb.h = shl i64 %cb, %h
  %below.h = shl i64 %below, %h
  %above.h = shl i64 %above, %h
  %vb = call i64 @pyj_decimal_scaled(i64 %high, i64 %low, i64 %cb.h)
  %vbl = call i64 @pyj_decimal_scaled(i64 %high, i64 %low, i64 %below.h)
  %vbr = call i64 @pyj_decimal_scaled(i64 %high, i64 %low, i64 %above.h)
  %lower = add i64 %vbl, %odd
  %upper = sub i64 %vbr, %odd
  %s = lshr i64 %vb, 2
  %several = icmp uge i64 %s, 10
  br i1 %several, label %shorter, label %exact
shorter:
  %sp = udiv i64 %s, 10
  %forty = mul i64 %sp, 40
  %fortymore = add i64 %forty, 40
  %upin = icmp ule i64 %lower, %forty
  %wpin = icmp ule i64 %fortymore, %upper
  %oneof = xor i1 %upin, %wpin
  %spmore = zext i1 %wpin to i64
  %tens = add i64 %sp, %spmore
  %k1 = add i64 %k, 1
  br i1 %oneof, label %strip, label %exact
exact:
  %four = shl i64 %s, 2
  %fourmore = add i64 %four, 4
  %uin = icmp ule i64 %lower, %four
  %win = icmp ule i64 %fourmore, %upper
  %only = xor i1 %uin, %win
  %mid = add i64 %four, 2
  %over = icmp ugt i64 %vb, %mid
  %tie = icmp eq i64 %vb, %mid
  %sodd = trunc i64 %s to i1
  %tieup = and i1 %tie, %sodd
  %nearer = or i1 %over, %tieup
  %roundup = select i1 %only, i1 %win, i1 %nearer
  %more = zext i1 %roundup to i64
  %ones = add i64 %s, %more
  br label %strip
strip:
  %d = phi i64 [ %tens, %shorter ], [ %ones, %exact ], [ %d10, %zero ]
  %e = phi i64 [ %k1, %shorter ], [ %k, %exact ], [ %e1, %zero ]
  %d10 = udiv i64 %d, 10
  %back = mul i64 %d10, 10
  %ends = icmp eq i64 %back, %d
  br i1 %ends, label %zero, label %write
zero:
  %e1 = add i64 %e, 1
  br label %strip
write:
  %dend = getelementptr i8, ptr %digitroom, i64 24
  %digits = call ptr @pyj_decimal_digits(ptr %dend, i64 %d)
  %dfrom = ptrtoint ptr %digits to i64
  %dto = ptrtoint ptr %dend to i64
  %count = sub i64 %dto, %dfrom
  %point = add i64 %count, %e
  store i8 45, ptr %room
  %sign = zext i1 %negative to i64
  %first = getelementptr i8, ptr %room, i64 %sign
  %low4 = icmp sle i64 %point, -4
  %high16 = icmp sgt i64 %point, 16
  %far = or i1 %low4, %high16
  br i1 %far, label %scientific, label %plain
plain:
  %leading = icmp sle i64 %point, 0
  br i1 %leading, label %zeros, label %behind
zeros:
  call void @llvm.memset.p0.i64(ptr %first, i8 48, i64 8, i1 false)
{_store("dotp", "i8", "46", "%first", 1)}
  %skip = sub i64 2, %point
  %zto = getelementptr i8, ptr %first, i64 %skip
  call void @llvm.memcpy.p0.p0.i64(ptr %zto, ptr %digits, i64 %count, i1 false)
  %zend = getelementptr i8, ptr %zto, i64 %count
  br label %make
behind:
  %whole = icmp sge i64 %point, %count
  br i1 %whole, label %integer, label %within
integer:
  call void @llvm.memset.p0.i64(ptr %first, i8 48, i64 24, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %first, ptr %digits, i64 %count, i1 false)
  %ipoint = getelementptr i8, ptr %first, i64 %point
  store i8 46, ptr %ipoint
  %iend = getelementptr i8, ptr %ipoint, i64 2
  br label %make
within:
  call void @llvm.memcpy.p0.p0.i64(ptr %first, ptr %digits, i64 %point, i1 false)
  %wpoint = getelementptr i8, ptr %first, i64 %point
  store i8 46, ptr %wpoint
  %wto = getelementptr i8, ptr %wpoint, i64 1
  %wfrom = getelementptr i8, ptr %digits, i64 %point
  %wcount = sub i64 %count, %point
  call void @llvm.memcpy.p0.p0.i64(ptr %wto, ptr %wfrom, i64 %wcount, i1 false)
  %wend = getelementptr i8, ptr %wto, i64 %wcount
  br label %make
scientific:
  %lead = load i8, ptr %digits
  store i8 %lead, ptr %first
  %second = getelementptr i8, ptr %first, i64 1
  %single = icmp eq i64 %count, 1
  br i1 %single, label %mark, label %decimals
decimals:
  store i8 46, ptr %second
  %sto = getelementptr i8, ptr %first, i64 2
  %sfrom = getelementptr i8, ptr %digits, i64 1
  %scount = sub i64 %count, 1
  call void @llvm.memcpy.p0.p0.i64(ptr %sto, ptr %sfrom, i64 %scount, i1 false)
  %send = getelementptr i8, ptr %sto, i64 %scount
  br label %mark
mark:
  %ep = phi ptr [ %second, %scientific ], [ %send, %decimals ]
  store i8 101, ptr %ep
  %value = sub i64 %point, 1
  %down = icmp slt i64 %value, 0
  %opposite = sub i64 0, %value
  %size = select i1 %down, i64 %opposite, i64 %value
  %char = select i1 %down, i8 45, i8 43
{_store("esign", "i8", "%char", "%ep", 1)}
  %etwo = icmp ult i64 %size, 100
  %ewidth = select i1 %etwo, i64 4, i64 5
  %eend = getelementptr i8, ptr %ep, i64 %ewidth
{_store("ezero", "i8", "48", "%ep", 2)}
  %edigits = call ptr @pyj_decimal_digits(ptr %eend, i64 %size)
  br label %make
make:
  %end = phi ptr [ %zend, %zeros ], [ %iend, %integer ], [ %wend, %within ], [ %eend, %mark ]
  %made = call ptr @pyj_decimal_of_bytes(ptr %room, ptr %end)
  ret ptr %made""",
        shared=True)

# A float as formatted by the interpreter's C function: its format code, precision and flags.
_define("ptr @pyj_decimal_formatted(double %x, i8 %code, i32 %precision, i32 %flags)", """
  %chars = call ptr @PyOS_double_to_string(double %x, i8 %code, i32 %precision, i32 %flags, ptr null)
  %none = icmp eq ptr %chars, null
  br i1 %none, label %out, label %make
make:
  %size = call i64 @strlen(ptr %chars)
  %end = getelementptr i8, ptr %chars, i64 %size
  %made = call ptr @pyj_decimal_of_bytes(ptr %chars, ptr %end)
  call void @PyMem_Free(ptr %chars)
  ret ptr %made
out:
  ret ptr null""", shared=True)

# A float with up to 9 digits after the point: its 53 bits times a power of ten, divided by a power of two in 128 bits
# and rounded half to even, as dtoa rounds. Numbers from 2**53 on, and those with 19 digits, are left to the
# interpreter.
_POWERS = ", ".join(f"i64 {10 ** n}" for n in range(10))
TEXT["pyj_decimal_scales"] = f"@pyj_decimal_scales = private unnamed_addr constant [10 x i64] [{_POWERS}]"
_define("ptr @pyj_decimal_fixed_at(double %x, i32 %digits, ptr %end)", f"""
start:
  %bits = bitcast double %x to i64
  %negative = icmp slt i64 %bits, 0
  %up = lshr i64 %bits, 52
  %exponent = and i64 %up, 2047
  %fraction = and i64 %bits, {(1 << 52) - 1}
  %small = icmp eq i64 %exponent, 0
  %hidden = select i1 %small, i64 0, i64 {1 << 52}
  %mantissa = or i64 %fraction, %hidden
  %least = select i1 %small, i64 1, i64 %exponent
  %shift = sub i64 1075, %least
  %below = icmp sgt i64 %shift, 0
  %few = icmp ult i32 %digits, 10
  %both = and i1 %below, %few
  br i1 %both, label %scale, label %slow
scale:
  %count = zext i32 %digits to i64
  %powerp = getelementptr i64, ptr @pyj_decimal_scales, i64 %count
  %power = load i64, ptr %powerp
  %m128 = zext i64 %mantissa to i128
  %p128 = zext i64 %power to i128
  %product = mul nuw i128 %m128, %p128
  %far = icmp ugt i64 %shift, 120
  %places = select i1 %far, i64 120, i64 %shift
  %s128 = zext i64 %places to i128
  %whole = lshr i128 %product, %s128
  %back = shl i128 %whole, %s128
  %rest = sub i128 %product, %back
  %s1 = sub i128 %s128, 1
  %half = shl i128 1, %s1
  %above = icmp ugt i128 %rest, %half
  %tie = icmp eq i128 %rest, %half
  %large = icmp ugt i128 %whole, {10 ** 18}
  br i1 %large, label %slow, label %round
round:
  %q = trunc i128 %whole to i64
  %odd = trunc i64 %q to i1
  %even = and i1 %tie, %odd
  %more = or i1 %above, %even
  %one = zext i1 %more to i64
  %number = add i64 %q, %one
  %int = udiv i64 %number, %power
  %ints = mul i64 %int, %power
  %decimals = sub i64 %number, %ints
  %none = icmp eq i32 %digits, 0
  br i1 %none, label %before, label %decimal
decimal:
  %n = phi i32 [ %digits, %round ], [ %n1, %decimal ]
  %d = phi i64 [ %decimals, %round ], [ %d1, %decimal ]
  %at = phi ptr [ %end, %round ], [ %at1, %decimal ]
  %d1 = udiv i64 %d, 10
  %tens = mul i64 %d1, 10
  %last = sub i64 %d, %tens
  %last8 = trunc i64 %last to i8
  %char = add i8 %last8, 48
  %at1 = getelementptr i8, ptr %at, i64 -1
  store i8 %char, ptr %at1
  %n1 = sub i32 %n, 1
  %again = icmp ne i32 %n1, 0
  br i1 %again, label %decimal, label %point
point:
  %pointp = getelementptr i8, ptr %at1, i64 -1
  store i8 46, ptr %pointp
  br label %before
before:
  %behind = phi ptr [ %end, %round ], [ %pointp, %point ]
  %unsigned = call ptr @pyj_decimal_digits(ptr %behind, i64 %int)
  br i1 %negative, label %sign, label %make
sign:
  %signp = getelementptr i8, ptr %unsigned, i64 -1
  store i8 45, ptr %signp
  br label %make
make:
  %begin = phi ptr [ %unsigned, %before ], [ %signp, %sign ]
  ret ptr %begin
slow:
  ret ptr null""", shared=True)
def _fixed_at(size) -> str:
    """The characters of a float with `digits` digits, from %begin to %end, at the end of `size` bytes %room."""
    return f"""
  %end = getelementptr i8, ptr %room, i64 {size}
  %begin = call ptr @pyj_decimal_fixed_at(double %x, i32 %digits, ptr %end)
  %other = icmp eq ptr %begin, null
  br i1 %other, label %slow, label %make
make:"""


for _head, _room, _size, _made in (("fixed(double %x, i32 %digits)", "\n  %room = alloca [48 x i8]", 48, "of_bytes"),
                                   ("fixed_part(double %x, i32 %digits, ptr %room)", "", PART_SIZE, "part_of_bytes")):
    _define(f"ptr @pyj_decimal_{_head}", f"""{_room}{_fixed_at(_size)}
  %made = call ptr @pyj_decimal_{_made}(ptr %begin, ptr %end)
  ret ptr %made
slow:
  %result = call ptr @pyj_decimal_formatted(double %x, i8 102, i32 %digits, i32 0)
  ret ptr %result""", shared=True)

# What the flags of a format change in a number whose text is from %begin to %end: a plus (flag 1), commas between
# groups of three digits before %point (flag 2), and zeros up to the width %zeros.
_define("ptr @pyj_decimal_styled(ptr %begin, ptr %end, ptr %point, i64 %zeros, i32 %flags)", """
start:
  %char = load i8, ptr %begin
  %negative = icmp eq i8 %char, 45
  %plus = trunc i32 %flags to i1
  %signed = or i1 %negative, %plus
  %sign = select i1 %negative, i8 45, i8 43
  %skip = zext i1 %negative to i64
  %first = getelementptr i8, ptr %begin, i64 %skip
  %commas = icmp uge i32 %flags, 2
  br i1 %commas, label %group, label %fill
group:
  %first.i = ptrtoint ptr %first to i64
  %point.i = ptrtoint ptr %point to i64
  %count = sub i64 %point.i, %first.i
  %less = sub i64 %count, 1
  %places = udiv i64 %less, 3
  %back = sub i64 0, %places
  %moved = getelementptr i8, ptr %first, i64 %back
  br label %digit
digit:
  %from = phi ptr [ %first, %group ], [ %from1, %next ]
  %to = phi ptr [ %moved, %group ], [ %to2, %next ]
  %left = phi i64 [ %less, %group ], [ %left1, %next ]
  %one = load i8, ptr %from
  store i8 %one, ptr %to
  %from1 = getelementptr i8, ptr %from, i64 1
  %to1 = getelementptr i8, ptr %to, i64 1
  %last = icmp eq i64 %left, 0
  br i1 %last, label %fill, label %separate
separate:
  %third = urem i64 %left, 3
  %ends = icmp eq i64 %third, 0
  br i1 %ends, label %comma, label %next
comma:
  store i8 44, ptr %to1
  br label %next
next:
  %step = zext i1 %ends to i64
  %to2 = getelementptr i8, ptr %to1, i64 %step
  %left1 = sub i64 %left, 1
  br label %digit
fill:
  %unsigned = phi ptr [ %first, %start ], [ %moved, %digit ]
  %sign.n = zext i1 %signed to i64
  %width = sub i64 %zeros, %sign.n
  %width.back = sub i64 0, %width
  %wanted = getelementptr i8, ptr %end, i64 %width.back
  %short = icmp ult ptr %wanted, %unsigned
  br i1 %short, label %zero, label %lead
zero:
  %wanted.i = ptrtoint ptr %wanted to i64
  %unsigned.i = ptrtoint ptr %unsigned to i64
  %missing = sub i64 %unsigned.i, %wanted.i
  call void @llvm.memset.p0.i64(ptr %wanted, i8 48, i64 %missing, i1 false)
  br label %lead
lead:
  %whole = phi ptr [ %unsigned, %fill ], [ %wanted, %zero ]
  br i1 %signed, label %mark, label %out
mark:
  %marked = getelementptr i8, ptr %whole, i64 -1
  store i8 %sign, ptr %marked
  br label %out
out:
  %result = phi ptr [ %whole, %lead ], [ %marked, %mark ]
  ret ptr %result""", shared=True)
_define("ptr @pyj_decimal_int_styled(i64 %x, i64 %zeros, i32 %flags, ptr %room)", f"""
  %end = getelementptr i8, ptr %room, i64 {PART_SIZE}
  %begin = call ptr @pyj_decimal_int_at(i64 %x, ptr %end)
  %styled = call ptr @pyj_decimal_styled(ptr %begin, ptr %end, ptr %end, i64 %zeros, i32 %flags)
  %made = call ptr @pyj_decimal_part_of_bytes(ptr %styled, ptr %end)
  ret ptr %made""", shared=True)
_STYLE = "i64 %zeros, i32 %flags, ptr %spec, ptr %room"
_define(f"ptr @pyj_decimal_fixed_styled(double %x, i32 %digits, {_STYLE})", f"""{_fixed_at(PART_SIZE)}
  %whole = icmp eq i32 %digits, 0
  %digits.n = zext i32 %digits to i64
  %behind = xor i64 %digits.n, -1
  %back = select i1 %whole, i64 0, i64 %behind
  %point = getelementptr i8, ptr %end, i64 %back
  %styled = call ptr @pyj_decimal_styled(ptr %begin, ptr %end, ptr %point, i64 %zeros, i32 %flags)
  %made = call ptr @pyj_decimal_part_of_bytes(ptr %styled, ptr %end)
  ret ptr %made
slow:
  %box = call ptr @PyFloat_FromDouble(double %x)
  %none = icmp eq ptr %box, null
  br i1 %none, label %out, label %ask
ask:
  %text = call ptr @PyObject_Format(ptr %box, ptr %spec)
  call void @Py_DecRef(ptr %box)
  ret ptr %text
out:
  ret ptr null""", shared=True)

# A part of %n characters %fill.
_define("ptr @pyj_decimal_padding(i64 %n, i8 %fill, ptr %room)", f"""
  %begin = getelementptr i8, ptr %room, i64 {STR["ascii"]}
  call void @llvm.memset.p0.i64(ptr %begin, i8 %fill, i64 %n, i1 false)
  %end = getelementptr i8, ptr %begin, i64 %n
  %made = call ptr @pyj_decimal_part_of_bytes(ptr %begin, ptr %end)
  ret ptr %made""", shared=True)

_ASCII_BYTES = f"""
{_load("state", "i32", "%s", STR["state"])}{_load("n", "i64", "%s", STR["length"])}
  %bits = and i32 %state, {STR_STATE["sizes"] | STR_STATE["ascii"]}
  %ascii = icmp eq i32 %bits, {STR_STATE["one"] | STR_STATE["ascii"]}
  %data = getelementptr i8, ptr %s, i64 {STR["ascii"]}"""
_MINUS = """
  %first = load i8, ptr %data
  %minus = icmp eq i8 %first, 45
  %skip = zext i1 %minus to i64
  %count = sub i64 %n, %skip
  %some = icmp ugt i64 %count, 0"""


def _eight_digits(at: str) -> str:
    return f"""
  %tops{at} = and i64 %chars{at}, {0xF0F0F0F0F0F0F0F0}
  %raised{at} = add i64 %chars{at}, {0x0606060606060606}
  %raised.tops{at} = and i64 %raised{at}, {0xF0F0F0F0F0F0F0F0}
  %lowered{at} = lshr i64 %raised.tops{at}, 4
  %marks{at} = or i64 %tops{at}, %lowered{at}
  %are.digits{at} = icmp eq i64 %marks{at}, {0x3333333333333333}
  %units{at} = and i64 %chars{at}, {0x0F0F0F0F0F0F0F0F}
  %units10{at} = mul i64 %units{at}, 10
  %units.next{at} = lshr i64 %units{at}, 8
  %pairs{at} = add i64 %units10{at}, %units.next{at}
  %pairs.a{at} = and i64 %pairs{at}, {0x000000FF000000FF}
  %fours.a{at} = mul i64 %pairs.a{at}, {100 + (1000000 << 32)}
  %pairs.down{at} = lshr i64 %pairs{at}, 16
  %pairs.b{at} = and i64 %pairs.down{at}, {0x000000FF000000FF}
  %fours.b{at} = mul i64 %pairs.b{at}, {1 + (10000 << 32)}
  %fours{at} = add i64 %fours.a{at}, %fours.b{at}
  %number8{at} = lshr i64 %fours{at}, 32"""


def _rest_of_digits(value: str, start: str, before: str, good: str) -> str:
    """Text that reads the characters from number `start` on, which must all be digits: eight at a time, then the rest.
    The rest is read as the last eight characters, in which those before the rest are replaced by zeros; for a short
    text these may be bytes of the object in front of its characters. Continues at `good` with the number in %value3, or
    at `slow` where a character is no digit."""
    return f"""
blocks:
  %b = phi i64 [ {start}, %{before} ], [ %b8, %eight ]
  %value.b = phi i64 [ {value}, %{before} ], [ %value.b8, %eight ]
  %left = sub i64 %n, %b
  %far = icmp uge i64 %left, 8
  br i1 %far, label %look, label %tail
look:
  %at8 = getelementptr i8, ptr %data, i64 %b
  %chars = load i64, ptr %at8, align 1
{_eight_digits("")}
  br i1 %are.digits, label %eight, label %slow
eight:
  %value.up = mul i64 %value.b, 100000000
  %value.b8 = add i64 %value.up, %number8
  %b8 = add i64 %b, 8
  br label %blocks
tail:
  %end = getelementptr i8, ptr %data, i64 %n
  %last8.p = getelementptr i8, ptr %end, i64 -8
  %last8 = load i64, ptr %last8.p, align 1
  %left.bits = shl i64 %left, 3
  %cut = sub i64 64, %left.bits
  %cut63 = and i64 %cut, 63
  %none.left = icmp eq i64 %left, 0
  %kept0 = shl i64 -1, %cut63
  %kept = select i1 %none.left, i64 0, i64 %kept0
  %those = and i64 %last8, %kept
  %zero.bits = xor i64 %kept, -1
  %zero.chars = and i64 %zero.bits, {0x3030303030303030}
  %chars.t = or i64 %those, %zero.chars
{_eight_digits(".t")}
  %up.p = getelementptr i64, ptr @pyj_decimal_tables.powers, i64 %left
  %up.by = load i64, ptr %up.p
  %value.t = mul i64 %value.b, %up.by
  %value3 = add i64 %value.t, %number8.t
  br i1 %are.digits.t, label %{good}, label %slow"""


def _of_parts(what: str) -> None:
    """Define the helper that converts a part of a text to a number. Where the interpreter must be called, it gets the
    part as an object."""
    _define(f"i32 @pyj_decimal_part_to_{what}(ptr %s, i64 %i, i64 %j, ptr %to)", f"""
{_load("state", "i32", "%s", STR["state"])}
  %bits = and i32 %state, {STR_STATE["sizes"] | STR_STATE["ascii"]}
  %ascii = icmp eq i32 %bits, {STR_STATE["one"] | STR_STATE["ascii"]}
  %some = icmp sgt i64 %j, %i
  %direct = and i1 %ascii, %some
  br i1 %direct, label %read, label %slow
read:
  %skip = add i64 %i, {STR["ascii"]}
  %data = getelementptr i8, ptr %s, i64 %skip
  %n = sub i64 %j, %i
  %other = call i32 @pyj_decimal_read_{what}(ptr %data, i64 %n, ptr %to)
  %done = icmp eq i32 %other, 0
  br i1 %done, label %out, label %slow
out:
  ret i32 0
slow:
  %part = call ptr @PyUnicode_Substring(ptr %s, i64 %i, i64 %j)
  %bad = icmp eq ptr %part, null
  br i1 %bad, label %fail, label %ask
ask:
  %status = call i32 @pyj_decimal_to_{what}(ptr %part, ptr %to)
  call void @Py_DecRef(ptr %part)
  ret i32 %status
fail:
  ret i32 1""", shared=True)


# int(s) for up to 18 digits. The result is 0, or 1 where the interpreter must be called: it reads all other texts.
_define("i32 @pyj_decimal_read_int(ptr %data, i64 %n, ptr %to)", f"""
{_MINUS}
  %few = icmp ult i64 %count, 19
  %t1 = and i1 %some, %few
  br i1 %t1, label %read, label %slow
read:
  br label %blocks
{_rest_of_digits("0", "%skip", "read", "done")}
done:
  %opposite = sub i64 0, %value3
  %found = select i1 %minus, i64 %opposite, i64 %value3
  store i64 %found, ptr %to
  ret i32 0
slow:
  ret i32 1""", shared=True)
# The status, 1 where it raised.
_define("i32 @pyj_decimal_to_int(ptr %s, ptr %to)", f"""
  %over = alloca i32
{_ASCII_BYTES}
  br i1 %ascii, label %read, label %slow
read:
  %other = call i32 @pyj_decimal_read_int(ptr %data, i64 %n, ptr %to)
  %done = icmp eq i32 %other, 0
  br i1 %done, label %out, label %slow
slow:
  %long = call ptr @PyLong_FromUnicodeObject(ptr %s, i32 10)
  %bad = icmp eq ptr %long, null
  br i1 %bad, label %fail, label %open
open:
  %opened = call i64 @PyLong_AsLongLongAndOverflow(ptr %long, ptr %over)
  store i64 %opened, ptr %to
  call void @Py_DecRef(ptr %long)
  %flag = load i32, ptr %over
  %fits = icmp eq i32 %flag, 0
  br i1 %fits, label %out, label %large
out:
  ret i32 0
large:
  %class = load ptr, ptr @PyExc_OverflowError
  call void @PyErr_SetString(ptr %class, ptr @pyj_decimal_messages.wide)
  ret i32 1
fail:
  ret i32 1""", shared=True)
_WIDE = "the int does not fit in 64 bits"
TEXT["pyj_decimal_messages"] = (
    f'@pyj_decimal_messages.wide = private unnamed_addr constant [{len(_WIDE) + 1} x i8] c"{_WIDE}\\00"')

# float(s): up to 19 digits with a point and no exponent are read here. Up to 15 are their number divided by a power of
# ten, which is rounded once. Of more the number is multiplied by 128 bits of that power's inverse (Eisel and Lemire,
# "Number parsing at a gigabyte per second"), which is enough for these exponents. 1 where the
# interpreter is to be asked.
_define("i32 @pyj_decimal_read_float(ptr %data, i64 %n, ptr %to)", f"""
{_MINUS}
  %few = icmp ult i64 %count, 21
  %t1 = and i1 %some, %few
  br i1 %t1, label %read, label %slow
read:
  %i = phi i64 [ %skip, %0 ], [ %i1, %take ]
  %value = phi i64 [ 0, %0 ], [ %value1, %take ]
  %at = getelementptr i8, ptr %data, i64 %i
  %char = load i8, ptr %at
  %digit = sub i8 %char, 48
  %good = icmp ult i8 %digit, 10
  br i1 %good, label %take, label %dot
take:
  %tens = mul i64 %value, 10
  %wide = zext i8 %digit to i64
  %value1 = add i64 %tens, %wide
  %i1 = add i64 %i, 1
  %whole.end = icmp eq i64 %i1, %n
  br i1 %whole.end, label %all, label %read
dot:
  %isdot = icmp eq i8 %char, 46
  %from = add i64 %i, 1
  br i1 %isdot, label %blocks, label %slow
{_rest_of_digits("%value", "%from", "dot", "tail.end")}
tail.end:
  %behind = sub i64 %n, %from
  br label %all
all:
  %value2 = phi i64 [ %value1, %take ], [ %value3, %tail.end ]
  %behind2 = phi i64 [ 0, %take ], [ %behind, %tail.end ]
  %point = phi i64 [ 0, %take ], [ 1, %tail.end ]
  %digits2 = sub i64 %count, %point
  %least = icmp ugt i64 %digits2, 0
  %most = icmp ult i64 %digits2, 16
  %t3 = and i1 %least, %most
  br i1 %t3, label %done, label %many
many:
  %most19 = icmp ult i64 %digits2, 20
  %nonzero = icmp ne i64 %value2, 0
  %t4 = and i1 %least, %most19
  %t5 = and i1 %t4, %nonzero
  br i1 %t5, label %multiply, label %slow
multiply:
  %zeros = call i64 @llvm.ctlz.i64(i64 %value2, i1 true)
  %w = shl i64 %value2, %zeros
  %w128 = zext i64 %w to i128
  %powerp = getelementptr i64, ptr @pyj_decimal_tables.inverses, i64 %behind2
  %power = load i64, ptr %powerp
  %power128 = zext i64 %power to i128
  %product1 = mul i128 %w128, %power128
  %lowp = getelementptr i64, ptr @pyj_decimal_tables.inverses_low, i64 %behind2
  %low = load i64, ptr %lowp
  %low128 = zext i64 %low to i128
  %second = mul i128 %w128, %low128
  %second.high = lshr i128 %second, 64
  %product2 = add i128 %product1, %second.high
  %high1.wide = lshr i128 %product1, 64
  %high1 = trunc i128 %high1.wide to i64
  %unsure = and i64 %high1, 511
  %needs = icmp eq i64 %unsure, 511
  %product = select i1 %needs, i128 %product2, i128 %product1
  %high.wide = lshr i128 %product, 64
  %high = trunc i128 %high.wide to i64
  %rest = trunc i128 %product to i64
  %upper = lshr i64 %high, 63
  %shift = add i64 %upper, 9
  %mantissa = lshr i64 %high, %shift
  %scaled = mul i64 %behind2, -217706
  %scaled16 = ashr i64 %scaled, 16
  %exponent0 = add i64 %scaled16, 1086
  %exponent1 = add i64 %exponent0, %upper
  %exponent = sub i64 %exponent1, %zeros
  %exact = icmp ule i64 %rest, 1
  %near = icmp ule i64 %behind2, 4
  %last = and i64 %mantissa, 3
  %odd = icmp eq i64 %last, 1
  %whole = shl i64 %mantissa, %shift
  %all.bits = icmp eq i64 %whole, %high
  %h1 = and i1 %exact, %near
  %h2 = and i1 %odd, %all.bits
  %half = and i1 %h1, %h2
  %even = and i64 %mantissa, -2
  %fair = select i1 %half, i64 %even, i64 %mantissa
  %bit = and i64 %fair, 1
  %up = add i64 %fair, %bit
  %rounded = lshr i64 %up, 1
  %carried = icmp uge i64 %rounded, 9007199254740992
  %carry = zext i1 %carried to i64
  %number.bits = select i1 %carried, i64 4503599627370496, i64 %rounded
  %power2 = add i64 %exponent, %carry
  %fraction = and i64 %number.bits, 4503599627370495
  %placed = shl i64 %power2, 52
  %bits.of = or i64 %placed, %fraction
  %parsed = bitcast i64 %bits.of to double
  %negated = fneg double %parsed
  %signed = select i1 %minus, double %negated, double %parsed
  store double %signed, ptr %to
  ret i32 0
done:
  %number = uitofp i64 %value2 to double
  %tenp = getelementptr double, ptr @pyj_decimal_tables.tens, i64 %behind2
  %ten = load double, ptr %tenp
  %quotient = fdiv double %number, %ten
  %opposite = fneg double %quotient
  %found = select i1 %minus, double %opposite, double %quotient
  store double %found, ptr %to
  ret i32 0
slow:
  ret i32 1""", shared=True)
_define("i32 @pyj_decimal_to_float(ptr %s, ptr %to)", f"""
{_ASCII_BYTES}
  br i1 %ascii, label %try, label %slow
try:
  %other = call i32 @pyj_decimal_read_float(ptr %data, i64 %n, ptr %to)
  %done = icmp eq i32 %other, 0
  br i1 %done, label %out, label %slow
out:
  ret i32 0
slow:
  %float = call ptr @PyFloat_FromString(ptr %s)
  %bad = icmp eq ptr %float, null
  br i1 %bad, label %fail, label %open
open:
{_load("opened", "double", "%float", FLOAT_VALUE)}
  store double %opened, ptr %to
  call void @Py_DecRef(ptr %float)
  ret i32 0
fail:
  ret i32 1""", shared=True)
for _what in ("int", "float"):
    _of_parts(_what)
