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
  br i1 (icmp ugt i64 %m, 99), label %pair, label %last
pair:
  %rest = udiv i64 %m, 100
  %whole = mul i64 %rest, 100
  %from = getelementptr i8, ptr @pyj_decimal_tables.pairs, i64 (mul i64 (sub i64 %m, %whole), 2)
  %two = getelementptr i8, ptr %at, i64 -2
  store i16 (load i16, ptr %from, align 1), ptr %two, align 1
  br label %test
last:
  br i1 (icmp ult i64 %m, 10), label %one, label %both
one:
  %begin1 = getelementptr i8, ptr %at, i64 -1
  store i8 (add i8 (trunc i64 %m to i8), 48), ptr %begin1
  ret ptr %begin1
both:
  %from2 = getelementptr i8, ptr @pyj_decimal_tables.pairs, i64 (mul i64 %m, 2)
  %begin2 = getelementptr i8, ptr %at, i64 -2
  store i16 (load i16, ptr %from2, align 1), ptr %begin2, align 1
  ret ptr %begin2""")

# The ASCII text from `begin` to `end`.
_define("ptr @pyj_decimal_of_bytes(ptr %begin, ptr %end)", f"""
  %size = sub i64 (ptrtoint ptr %end to i64), (ptrtoint ptr %begin to i64)
  %made = call ptr @PyUnicode_New(i64 %size, i32 127)
  br i1 (icmp eq ptr %made, null), label %out, label %copy
copy:
  %data = getelementptr i8, ptr %made, i64 {STR["ascii"]}
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %begin, i64 %size, i1 false)
out:
  ret ptr %made""")

# The same characters as a part of a text that is put together. They become the content of an object whose head is
# written in front of them, in memory of the caller. It has so many references that releases never free it; no code may
# keep it.
PART_SIZE = 96  # bytes of that memory
_define("ptr @pyj_decimal_part_of_bytes(ptr %begin, ptr %end)", f"""
  %size = sub i64 (ptrtoint ptr %end to i64), (ptrtoint ptr %begin to i64)
  %o = getelementptr i8, ptr %begin, i64 -{STR["ascii"]}
  %zero = load ptr, ptr (getelementptr ptr, ptr @pyjitc_characters, i64 48)
{_load("like", "i64", "%zero", STR["state"])}
  %state = and i64 %like, {STR_STATE["sizes"] | STR_STATE["ascii"] | 0x80}
  store i64 {1 << 30}, ptr %o, align 1
  store ptr @PyUnicode_Type, ptr (getelementptr i8, ptr %o, i64 {OB_TYPE}), align 1
  store i64 %size, ptr (getelementptr i8, ptr %o, i64 {STR["length"]}), align 1
  store i64 -1, ptr (getelementptr i8, ptr %o, i64 {STR["hash"]}), align 1
  store i64 %state, ptr (getelementptr i8, ptr %o, i64 {STR["state"]}), align 1
  ret ptr %o""")

# The address of the first digit of an int whose digits end at %end.
_define("ptr @pyj_decimal_int_at(i64 %x, ptr %end)", """
  %negative = icmp slt i64 %x, 0
  %minus = sub i64 0, %x
  %digits = call ptr @pyj_decimal_digits(ptr %end, i64 (select i1 %negative, i64 %minus, i64 %x))
  %before = getelementptr i8, ptr %digits, i64 -1
  br i1 %negative, label %sign, label %make
sign:
  store i8 45, ptr %before
make:
  %begin = phi ptr [ %digits, %0 ], [ %before, %sign ]
  ret ptr %begin""")
_define("ptr @pyj_decimal_of_int(i64 %x)", """
  %room = alloca [24 x i8]
  %end = getelementptr i8, ptr %room, i64 24
  %made = call ptr @pyj_decimal_of_bytes(ptr (call ptr @pyj_decimal_int_at(i64 %x, ptr %end)), ptr %end)
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
  %fine = fcmp oge double %size, 1.0e-4
  %zero = fcmp oeq double %size, 0.0
  br i1 (and i1 (fcmp olt double %size, 1.0e15), (or i1 %fine, %zero)), label %scale, label %slow
scale:
  br label %find
find:
  %k = phi i64 [ 0, %scale ], [ %k1, %again ]
  %ten = load double, ptr (getelementptr double, ptr @pyj_decimal_tables.tens, i64 %k)
  %m = call double @llvm.rint.f64(double (fmul double %size, %ten))
  br i1 (fcmp olt double %m, 1.0e15), label %try, label %slow
try:
  br i1 (fcmp oeq double (fdiv double %m, %ten), %size), label %write, label %again
again:
  %k1 = add i64 %k, 1
  br i1 (icmp eq i64 %k1, 19), label %slow, label %find
write:
  %end = getelementptr i8, ptr %room, i64 40
  %number = fptoui double %m to i64
  br i1 (icmp eq i64 %k, 0), label %point, label %fraction
point:
  %dotzero = getelementptr i8, ptr %end, i64 -2
  store i16 12334, ptr %dotzero, align 1
  br label %left
fraction:
  %power = load i64, ptr (getelementptr i64, ptr @pyj_decimal_tables.powers, i64 %k)
  %units = udiv i64 %number, %power
  %digits = call ptr @pyj_decimal_digits(ptr %end, i64 (sub i64 %number, (mul i64 %units, %power)))
  %start = getelementptr i8, ptr %end, i64 (sub i64 0, %k)
pad:
  %at = phi ptr [ %digits, %fraction ], [ %at1, %put ]
  br i1 (icmp eq ptr %at, %start), label %dot, label %put
put:
  %at1 = getelementptr i8, ptr %at, i64 -1
  store i8 48, ptr %at1
  br label %pad
dot:
  %dotp = getelementptr i8, ptr %start, i64 -1
  store i8 46, ptr %dotp
left:
  %upto = phi ptr [ %dotzero, %point ], [ %dotp, %dot ]
  %integer = phi i64 [ %number, %point ], [ %units, %dot ]
  %front = call ptr @pyj_decimal_digits(ptr %upto, i64 %integer)
  %before = getelementptr i8, ptr %front, i64 -1
  br i1 (icmp slt i64 (bitcast double %x to i64), 0), label %sign, label %make
sign:
  store i8 45, ptr %before
make:
  %begin = phi ptr [ %front, %left ], [ %before, %sign ]
  ret ptr (call ptr @pyj_decimal_of_bytes(ptr %begin, ptr %end))
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
  %sum = add nuw i128 (mul nuw i128 %h, %n), (lshr i128 (mul nuw i128 %l, %n), 64)
  %rest = trunc i128 %sum to i64
  %upper = lshr i128 %sum, 64
  %result = or i64 (trunc i128 %upper to i64), (zext i1 (icmp ugt i64 %rest, 1) to i64)
  ret i64 %result""")
# repr of a float by the fewest digits that identify it, and the nearest of these. Source: Raffaello Giulietti, "The
# Schubfach way to render doubles" (2020), in the form of Alexander Bolz's Drachennest.
_define("ptr @pyj_decimal_shortest(double %x)", f"""
start:
  %room = alloca [64 x i8]
  %digitroom = alloca [24 x i8]
  %bits = bitcast double %x to i64
  %negative = icmp slt i64 %bits, 0
  %exponent = and i64 (lshr i64 %bits, 52), 2047
  %fraction = and i64 %bits, {(1 << 52) - 1}
  %small = icmp eq i64 %exponent, 0
  %c = or i64 %fraction, (select i1 %small, i64 0, i64 {1 << 52})
  br i1 (or i1 (icmp eq i64 %exponent, 2047), (icmp eq i64 %c, 0)), label %slow, label %scale
slow:
  ret ptr (call ptr @pyj_decimal_formatted(double %x, i8 114, i32 0, i32 2))
scale:
  %q = sub i64 (select i1 %small, i64 1, i64 %exponent), 1075
  %closer = and i1 (icmp eq i64 %fraction, 0), (icmp ugt i64 %exponent, 1)
  %odd = and i64 %c, 1
  %cb = shl i64 %c, 2
  %above = add i64 %cb, 2
  %below = sub i64 %cb, (select i1 %closer, i64 1, i64 2)
  %k = ashr i64 (sub i64 (mul i64 %q, 1262611), (select i1 %closer, i64 524031, i64 0)), 22
  %minus = sub i64 0, %k
  %log = mul i64 %minus, 1741647
  %h = add i64 (add i64 %q, (ashr i64 %log, 19)), 1
  %highp = getelementptr i64, ptr @pyj_decimal_exponents, i64 (mul i64 (sub i64 {-_LEAST_POWER}, %k), 2)
  %high = load i64, ptr %highp
  %low = load i64, ptr (getelementptr i64, ptr %highp, i64 1)
  %vb = call i64 @pyj_decimal_scaled(i64 %high, i64 %low, i64 (shl i64 %cb, %h))
  %lower = add i64 (call i64 @pyj_decimal_scaled(i64 %high, i64 %low, i64 (shl i64 %below, %h))), %odd
  %upper = sub i64 (call i64 @pyj_decimal_scaled(i64 %high, i64 %low, i64 (shl i64 %above, %h))), %odd
  %s = lshr i64 %vb, 2
  br i1 (icmp uge i64 %s, 10), label %shorter, label %exact
shorter:
  %sp = udiv i64 %s, 10
  %forty = mul i64 %sp, 40
  %wpin = icmp ule i64 (add i64 %forty, 40), %upper
  %tens = add i64 %sp, (zext i1 %wpin to i64)
  %k1 = add i64 %k, 1
  br i1 (xor i1 (icmp ule i64 %lower, %forty), %wpin), label %strip, label %exact
exact:
  %four = shl i64 %s, 2
  %win = icmp ule i64 (add i64 %four, 4), %upper
  %only = xor i1 (icmp ule i64 %lower, %four), %win
  %mid = add i64 %four, 2
  %over = icmp ugt i64 %vb, %mid
  %nearer = or i1 %over, (and i1 (icmp eq i64 %vb, %mid), (trunc i64 %s to i1))
  %ones = add i64 %s, (zext i1 (select i1 %only, i1 %win, i1 %nearer) to i64)
strip:
  %d = phi i64 [ %tens, %shorter ], [ %ones, %exact ], [ %d10, %zero ]
  %e = phi i64 [ %k1, %shorter ], [ %k, %exact ], [ %e1, %zero ]
  %d10 = udiv i64 %d, 10
  br i1 (icmp eq i64 (mul i64 %d10, 10), %d), label %zero, label %write
zero:
  %e1 = add i64 %e, 1
  br label %strip
write:
  %dend = getelementptr i8, ptr %digitroom, i64 24
  %digits = call ptr @pyj_decimal_digits(ptr %dend, i64 %d)
  %count = sub i64 (ptrtoint ptr %dend to i64), (ptrtoint ptr %digits to i64)
  %point = add i64 %count, %e
  store i8 45, ptr %room
  %first = getelementptr i8, ptr %room, i64 (zext i1 %negative to i64)
  br i1 (or i1 (icmp sle i64 %point, -4), (icmp sgt i64 %point, 16)), label %scientific, label %plain
plain:
  br i1 (icmp sle i64 %point, 0), label %zeros, label %behind
zeros:
  call void @llvm.memset.p0.i64(ptr %first, i8 48, i64 8, i1 false)
{_store("dotp", "i8", "46", "%first", 1)}
  %skip = sub i64 2, %point
  %zto = getelementptr i8, ptr %first, i64 %skip
  call void @llvm.memcpy.p0.p0.i64(ptr %zto, ptr %digits, i64 %count, i1 false)
  %zend = getelementptr i8, ptr %zto, i64 %count
  br label %make
behind:
  br i1 (icmp sge i64 %point, %count), label %integer, label %within
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
  store i8 (load i8, ptr %digits), ptr %first
  %second = getelementptr i8, ptr %first, i64 1
  br i1 (icmp eq i64 %count, 1), label %mark, label %decimals
decimals:
  store i8 46, ptr %second
  %sto = getelementptr i8, ptr %first, i64 2
  %sfrom = getelementptr i8, ptr %digits, i64 1
  %scount = sub i64 %count, 1
  call void @llvm.memcpy.p0.p0.i64(ptr %sto, ptr %sfrom, i64 %scount, i1 false)
  %send = getelementptr i8, ptr %sto, i64 %scount
mark:
  %ep = phi ptr [ %second, %scientific ], [ %send, %decimals ]
  store i8 101, ptr %ep
  %value = sub i64 %point, 1
  %down = icmp slt i64 %value, 0
  %size = select i1 %down, i64 (sub i64 0, %value), i64 %value
  %char = select i1 %down, i8 45, i8 43
{_store("esign", "i8", "%char", "%ep", 1)}
  %eend = getelementptr i8, ptr %ep, i64 (select i1 (icmp ult i64 %size, 100), i64 4, i64 5)
{_store("ezero", "i8", "48", "%ep", 2)}
  %edigits = call ptr @pyj_decimal_digits(ptr %eend, i64 %size)
make:
  %end = phi ptr [ %zend, %zeros ], [ %iend, %integer ], [ %wend, %within ], [ %eend, %mark ]
  %made = call ptr @pyj_decimal_of_bytes(ptr %room, ptr %end)
  ret ptr %made""",
        shared=True)

# A float as formatted by the interpreter's C function: its format code, precision and flags.
_define("ptr @pyj_decimal_formatted(double %x, i8 %code, i32 %precision, i32 %flags)", """
  %chars = call ptr @PyOS_double_to_string(double %x, i8 %code, i32 %precision, i32 %flags, ptr null)
  br i1 (icmp eq ptr %chars, null), label %out, label %make
make:
  %size = call i64 @strlen(ptr %chars)
  %made = call ptr @pyj_decimal_of_bytes(ptr %chars, ptr (getelementptr i8, ptr %chars, i64 %size))
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
  %exponent = and i64 (lshr i64 %bits, 52), 2047
  %small = icmp eq i64 %exponent, 0
  %mantissa = or i64 (and i64 %bits, {(1 << 52) - 1}), (select i1 %small, i64 0, i64 {1 << 52})
  %shift = sub i64 1075, (select i1 %small, i64 1, i64 %exponent)
  br i1 (and i1 (icmp sgt i64 %shift, 0), (icmp ult i32 %digits, 10)), label %scale, label %slow
scale:
  %power = load i64, ptr (getelementptr i64, ptr @pyj_decimal_scales, i64 (zext i32 %digits to i64))
  %product = mul nuw i128 (zext i64 %mantissa to i128), (zext i64 %power to i128)
  %s128 = zext i64 (select i1 (icmp ugt i64 %shift, 120), i64 120, i64 %shift) to i128
  %whole = lshr i128 %product, %s128
  %rest = sub i128 %product, (shl i128 %whole, %s128)
  %half = shl i128 1, (sub i128 %s128, 1)
  %above = icmp ugt i128 %rest, %half
  %tie = icmp eq i128 %rest, %half
  br i1 (icmp ugt i128 %whole, {10 ** 18}), label %slow, label %round
round:
  %q = trunc i128 %whole to i64
  %even = and i1 %tie, (trunc i64 %q to i1)
  %number = add i64 %q, (zext i1 (or i1 %above, %even) to i64)
  %int = udiv i64 %number, %power
  %decimals = sub i64 %number, (mul i64 %int, %power)
  br i1 (icmp eq i32 %digits, 0), label %before, label %decimal
decimal:
  %n = phi i32 [ %digits, %round ], [ %n1, %decimal ]
  %d = phi i64 [ %decimals, %round ], [ %d1, %decimal ]
  %at = phi ptr [ %end, %round ], [ %at1, %decimal ]
  %d1 = udiv i64 %d, 10
  %last = sub i64 %d, (mul i64 %d1, 10)
  %at1 = getelementptr i8, ptr %at, i64 -1
  store i8 (add i8 (trunc i64 %last to i8), 48), ptr %at1
  %n1 = sub i32 %n, 1
  br i1 (icmp ne i32 %n1, 0), label %decimal, label %point
point:
  %pointp = getelementptr i8, ptr %at1, i64 -1
  store i8 46, ptr %pointp
before:
  %behind = phi ptr [ %end, %round ], [ %pointp, %point ]
  %unsigned = call ptr @pyj_decimal_digits(ptr %behind, i64 %int)
  br i1 %negative, label %sign, label %make
sign:
  %signp = getelementptr i8, ptr %unsigned, i64 -1
  store i8 45, ptr %signp
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
  br i1 (icmp eq ptr %begin, null), label %slow, label %make
make:"""


for _head, _room, _size, _made in (("fixed(double %x, i32 %digits)", "\n  %room = alloca [48 x i8]", 48, "of_bytes"),
                                   ("fixed_part(double %x, i32 %digits, ptr %room)", "", PART_SIZE, "part_of_bytes")):
    _define(f"ptr @pyj_decimal_{_head}", f"""{_room}{_fixed_at(_size)}
  ret ptr (call ptr @pyj_decimal_{_made}(ptr %begin, ptr %end))
slow:
  %result = call ptr @pyj_decimal_formatted(double %x, i8 102, i32 %digits, i32 0)
  ret ptr %result""", shared=True)

# Changes the text of a number from %begin to %end as the flags of a format say: adds a plus (flag 1), commas between
# groups of three digits before %point (flag 2), and zeros up to the width %zeros.
_define("ptr @pyj_decimal_styled(ptr %begin, ptr %end, ptr %point, i64 %zeros, i32 %flags)", """
start:
  %negative = icmp eq i8 (load i8, ptr %begin), 45
  %signed = or i1 %negative, (trunc i32 %flags to i1)
  %sign = select i1 %negative, i8 45, i8 43
  %skip = zext i1 %negative to i64
  %first = getelementptr i8, ptr %begin, i64 %skip
  br i1 (icmp uge i32 %flags, 2), label %group, label %fill
group:
  %less = sub i64 (sub i64 (ptrtoint ptr %point to i64), (ptrtoint ptr %first to i64)), 1
  %moved = getelementptr i8, ptr %first, i64 (sub i64 0, (udiv i64 %less, 3))
digit:
  %from = phi ptr [ %first, %group ], [ %from1, %next ]
  %to = phi ptr [ %moved, %group ], [ %to2, %next ]
  %left = phi i64 [ %less, %group ], [ %left1, %next ]
  store i8 (load i8, ptr %from), ptr %to
  %from1 = getelementptr i8, ptr %from, i64 1
  %to1 = getelementptr i8, ptr %to, i64 1
  br i1 (icmp eq i64 %left, 0), label %fill, label %separate
separate:
  %ends = icmp eq i64 (urem i64 %left, 3), 0
  br i1 %ends, label %comma, label %next
comma:
  store i8 44, ptr %to1
next:
  %to2 = getelementptr i8, ptr %to1, i64 (zext i1 %ends to i64)
  %left1 = sub i64 %left, 1
  br label %digit
fill:
  %unsigned = phi ptr [ %first, %start ], [ %moved, %digit ]
  %sign.n = zext i1 %signed to i64
  %wanted = getelementptr i8, ptr %end, i64 (sub i64 0, (sub i64 %zeros, %sign.n))
  br i1 (icmp ult ptr %wanted, %unsigned), label %zero, label %lead
zero:
  %wanted.i = ptrtoint ptr %wanted to i64
  %unsigned.i = ptrtoint ptr %unsigned to i64
  call void @llvm.memset.p0.i64(ptr %wanted, i8 48, i64 (sub i64 %unsigned.i, %wanted.i), i1 false)
lead:
  %whole = phi ptr [ %unsigned, %fill ], [ %wanted, %zero ]
  br i1 %signed, label %mark, label %out
mark:
  %marked = getelementptr i8, ptr %whole, i64 -1
  store i8 %sign, ptr %marked
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
  %point = getelementptr i8, ptr %end, i64 (select i1 %whole, i64 0, i64 (xor i64 %digits.n, -1))
  %styled = call ptr @pyj_decimal_styled(ptr %begin, ptr %end, ptr %point, i64 %zeros, i32 %flags)
  ret ptr (call ptr @pyj_decimal_part_of_bytes(ptr %styled, ptr %end))
slow:
  %box = call ptr @PyFloat_FromDouble(double %x)
  br i1 (icmp eq ptr %box, null), label %out, label %ask
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
  %made = call ptr @pyj_decimal_part_of_bytes(ptr %begin, ptr (getelementptr i8, ptr %begin, i64 %n))
  ret ptr %made""", shared=True)

_ASCII_BYTES = f"""
{_load("state", "i32", "%s", STR["state"])}{_load("n", "i64", "%s", STR["length"])}
  %bits = and i32 %state, {STR_STATE["sizes"] | STR_STATE["ascii"]}
  %ascii = icmp eq i32 %bits, {STR_STATE["one"] | STR_STATE["ascii"]}
  %data = getelementptr i8, ptr %s, i64 {STR["ascii"]}"""
_MINUS = """
  %minus = icmp eq i8 (load i8, ptr %data), 45
  %skip = zext i1 %minus to i64
  %count = sub i64 %n, %skip
  %some = icmp ugt i64 %count, 0"""


def _eight_digits(at: str) -> str:
    return f"""
  %tops{at} = and i64 %chars{at}, {0xF0F0F0F0F0F0F0F0}
  %raised.tops{at} = and i64 (add i64 %chars{at}, {0x0606060606060606}), {0xF0F0F0F0F0F0F0F0}
  %are.digits{at} = icmp eq i64 (or i64 %tops{at}, (lshr i64 %raised.tops{at}, 4)), {0x3333333333333333}
  %units{at} = and i64 %chars{at}, {0x0F0F0F0F0F0F0F0F}
  %pairs{at} = add i64 (mul i64 %units{at}, 10), (lshr i64 %units{at}, 8)
  %fours.a{at} = mul i64 (and i64 %pairs{at}, {0x000000FF000000FF}), {100 + (1000000 << 32)}
  %pairs.b{at} = and i64 (lshr i64 %pairs{at}, 16), {0x000000FF000000FF}
  %fours{at} = add i64 %fours.a{at}, (mul i64 %pairs.b{at}, {1 + (10000 << 32)})
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
  br i1 (icmp uge i64 %left, 8), label %look, label %tail
look:
  %chars = load i64, ptr (getelementptr i8, ptr %data, i64 %b), align 1
{_eight_digits("")}
  br i1 %are.digits, label %eight, label %slow
eight:
  %value.b8 = add i64 (mul i64 %value.b, 100000000), %number8
  %b8 = add i64 %b, 8
  br label %blocks
tail:
  %last8 = load i64, ptr (getelementptr i8, ptr (getelementptr i8, ptr %data, i64 %n), i64 -8), align 1
  %cut = sub i64 64, (shl i64 %left, 3)
  %kept = select i1 (icmp eq i64 %left, 0), i64 0, i64 (shl i64 -1, (and i64 %cut, 63))
  %chars.t = or i64 (and i64 %last8, %kept), (and i64 (xor i64 %kept, -1), {0x3030303030303030})
{_eight_digits(".t")}
  %up.p = getelementptr i64, ptr @pyj_decimal_tables.powers, i64 %left
  %value3 = add i64 (mul i64 %value.b, (load i64, ptr %up.p)), %number8.t
  br i1 %are.digits.t, label %{good}, label %slow"""


def _of_parts(what: str) -> None:
    """Define the helper that converts a part of a text to a number. Where the interpreter must be called, it gets the
    part as an object."""
    _define(f"i32 @pyj_decimal_part_to_{what}(ptr %s, i64 %i, i64 %j, ptr %to)", f"""
{_load("state", "i32", "%s", STR["state"])}
  %bits = and i32 %state, {STR_STATE["sizes"] | STR_STATE["ascii"]}
  %ascii = icmp eq i32 %bits, {STR_STATE["one"] | STR_STATE["ascii"]}
  br i1 (and i1 %ascii, (icmp sgt i64 %j, %i)), label %read, label %slow
read:
  %skip = add i64 %i, {STR["ascii"]}
  %data = getelementptr i8, ptr %s, i64 %skip
  %other = call i32 @pyj_decimal_read_{what}(ptr %data, i64 (sub i64 %j, %i), ptr %to)
  br i1 (icmp eq i32 %other, 0), label %out, label %slow
out:
  ret i32 0
slow:
  %part = call ptr @PyUnicode_Substring(ptr %s, i64 %i, i64 %j)
  br i1 (icmp eq ptr %part, null), label %fail, label %ask
ask:
  %status = call i32 @pyj_decimal_to_{what}(ptr %part, ptr %to)
  call void @Py_DecRef(ptr %part)
  ret i32 %status
fail:
  ret i32 1""", shared=True)


# int(s) for up to 18 digits. The result is 0, or 1 where the interpreter must be called: it reads all other texts.
_define("i32 @pyj_decimal_read_int(ptr %data, i64 %n, ptr %to)", f"""
{_MINUS}
  br i1 (and i1 %some, (icmp ult i64 %count, 19)), label %read, label %slow
read:
  br label %blocks
{_rest_of_digits("0", "%skip", "read", "done")}
done:
  store i64 (select i1 %minus, i64 (sub i64 0, %value3), i64 %value3), ptr %to
  ret i32 0
slow:
  ret i32 1""", shared=True)
# The status: 0, or 1 where the conversion raised.
_define("i32 @pyj_decimal_to_int(ptr %s, ptr %to)", f"""
  %over = alloca i32
{_ASCII_BYTES}
  br i1 %ascii, label %read, label %slow
read:
  %other = call i32 @pyj_decimal_read_int(ptr %data, i64 %n, ptr %to)
  br i1 (icmp eq i32 %other, 0), label %out, label %slow
slow:
  %long = call ptr @PyLong_FromUnicodeObject(ptr %s, i32 10)
  br i1 (icmp eq ptr %long, null), label %fail, label %open
open:
  store i64 (call i64 @PyLong_AsLongLongAndOverflow(ptr %long, ptr %over)), ptr %to
  call void @Py_DecRef(ptr %long)
  br i1 (icmp eq i32 (load i32, ptr %over), 0), label %out, label %large
out:
  ret i32 0
large:
  call void @PyErr_SetString(ptr (load ptr, ptr @PyExc_OverflowError), ptr @pyj_decimal_messages.wide)
  ret i32 1
fail:
  ret i32 1""", shared=True)
_WIDE = "the int does not fit in 64 bits"
TEXT["pyj_decimal_messages"] = (
    f'@pyj_decimal_messages.wide = private unnamed_addr constant [{len(_WIDE) + 1} x i8] c"{_WIDE}\\00"')

# float(s): up to 19 digits with a point and no exponent are read here. Numbers of up to 15 digits are divided by a
# power of ten, which rounds once. Longer ones are multiplied by 128 bits of the inverse of that power (Eisel and
# Lemire, "Number parsing at a gigabyte per second"), which is enough for these exponents. The result is 1 where the
# interpreter must be called.
_define("i32 @pyj_decimal_read_float(ptr %data, i64 %n, ptr %to)", f"""
{_MINUS}
  br i1 (and i1 %some, (icmp ult i64 %count, 21)), label %read, label %slow
read:
  %i = phi i64 [ %skip, %0 ], [ %i1, %take ]
  %value = phi i64 [ 0, %0 ], [ %value1, %take ]
  %char = load i8, ptr (getelementptr i8, ptr %data, i64 %i)
  %digit = sub i8 %char, 48
  br i1 (icmp ult i8 %digit, 10), label %take, label %dot
take:
  %value1 = add i64 (mul i64 %value, 10), (zext i8 %digit to i64)
  %i1 = add i64 %i, 1
  br i1 (icmp eq i64 %i1, %n), label %all, label %read
dot:
  %from = add i64 %i, 1
  br i1 (icmp eq i8 %char, 46), label %blocks, label %slow
{_rest_of_digits("%value", "%from", "dot", "tail.end")}
tail.end:
  %behind = sub i64 %n, %from
all:
  %value2 = phi i64 [ %value1, %take ], [ %value3, %tail.end ]
  %behind2 = phi i64 [ 0, %take ], [ %behind, %tail.end ]
  %point = phi i64 [ 0, %take ], [ 1, %tail.end ]
  %digits2 = sub i64 %count, %point
  %least = icmp ugt i64 %digits2, 0
  br i1 (and i1 %least, (icmp ult i64 %digits2, 16)), label %done, label %many
many:
  %most19 = icmp ult i64 %digits2, 20
  br i1 (and i1 (and i1 %least, %most19), (icmp ne i64 %value2, 0)), label %multiply, label %slow
multiply:
  %zeros = call i64 @llvm.ctlz.i64(i64 %value2, i1 true)
  %w128 = zext i64 (shl i64 %value2, %zeros) to i128
  %powerp = getelementptr i64, ptr @pyj_decimal_tables.inverses, i64 %behind2
  %product1 = mul i128 %w128, (zext i64 (load i64, ptr %powerp) to i128)
  %lowp = getelementptr i64, ptr @pyj_decimal_tables.inverses_low, i64 %behind2
  %low128 = zext i64 (load i64, ptr %lowp) to i128
  %product2 = add i128 %product1, (lshr i128 (mul i128 %w128, %low128), 64)
  %high1 = trunc i128 (lshr i128 %product1, 64) to i64
  %product = select i1 (icmp eq i64 (and i64 %high1, 511), 511), i128 %product2, i128 %product1
  %high = trunc i128 (lshr i128 %product, 64) to i64
  %upper = lshr i64 %high, 63
  %shift = add i64 %upper, 9
  %mantissa = lshr i64 %high, %shift
  %exponent0 = add i64 (ashr i64 (mul i64 %behind2, -217706), 16), 1086
  %odd = icmp eq i64 (and i64 %mantissa, 3), 1
  %all.bits = icmp eq i64 (shl i64 %mantissa, %shift), %high
  %h1 = and i1 (icmp ule i64 (trunc i128 %product to i64), 1), (icmp ule i64 %behind2, 4)
  %fair = select i1 (and i1 %h1, (and i1 %odd, %all.bits)), i64 (and i64 %mantissa, -2), i64 %mantissa
  %rounded = lshr i64 (add i64 %fair, (and i64 %fair, 1)), 1
  %carried = icmp uge i64 %rounded, 9007199254740992
  %power2 = add i64 (sub i64 (add i64 %exponent0, %upper), %zeros), (zext i1 %carried to i64)
  %fraction = and i64 (select i1 %carried, i64 4503599627370496, i64 %rounded), 4503599627370495
  %parsed = bitcast i64 (or i64 (shl i64 %power2, 52), %fraction) to double
  store double (select i1 %minus, double (fneg double %parsed), double %parsed), ptr %to
  ret i32 0
done:
  %tenp = getelementptr double, ptr @pyj_decimal_tables.tens, i64 %behind2
  %quotient = fdiv double (uitofp i64 %value2 to double), (load double, ptr %tenp)
  store double (select i1 %minus, double (fneg double %quotient), double %quotient), ptr %to
  ret i32 0
slow:
  ret i32 1""", shared=True)
_define("i32 @pyj_decimal_to_float(ptr %s, ptr %to)", f"""
{_ASCII_BYTES}
  br i1 %ascii, label %try, label %slow
try:
  %other = call i32 @pyj_decimal_read_float(ptr %data, i64 %n, ptr %to)
  br i1 (icmp eq i32 %other, 0), label %out, label %slow
out:
  ret i32 0
slow:
  %float = call ptr @PyFloat_FromString(ptr %s)
  br i1 (icmp eq ptr %float, null), label %fail, label %open
open:
{_load("opened", "double", "%float", FLOAT_VALUE)}
  store double %opened, ptr %to
  call void @Py_DecRef(ptr %float)
  ret i32 0
fail:
  ret i32 1""", shared=True)
for _what in ("int", "float"):
    _of_parts(_what)
