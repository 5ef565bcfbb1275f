"""Functions with vector variants, by which the vectoriser replaces calls.

LLVM does not vectorise a loop with a call that has no vector variant. Two kinds of calls get one for each usual vector
length, which is inlined after the vectoriser has run:

Calls of the C library that few elements of a loop need. The variant tests whether any element needs the call, and makes
it in a cold block; otherwise only a test and a jump that is not taken remain.

    y = fast(x)                                   # branch-free
    if abs(x) > limit:                            # hardly ever
        y = SIN(x, rare=True)

Small tables. Where one fits a register (link.py), all elements of a vector are looked up by one instruction.

Their definitions are a separate part of a module's text (partition.py), which LLVM gets when the module is optimised.
"""
from __future__ import annotations

import struct

from .definitions import expanded
from .partition import FORM

__all__ = ["rare", "lookup", "declarations", "definitions"]

RARE, LOOKUP = FORM + "rare_", FORM + "lookup_"
_WIDTHS = (2, 4, 8, 16)
_PURE = "nounwind willreturn memory(none)"
_REGISTER = 64  # bytes of the widest vector register


def _hex(x: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def _variants(name: str, count: int) -> str:
    forms = ",".join(f"_ZGV_LLVM_M{n}{'v' * count}_{name}({name}.{n})" for n in _WIDTHS)
    return f'"vector-function-abi-variant"="{forms}"'


def rare(symbol: str, values, t: str) -> str:
    """The LLVM text that follows `call` for a call of the function that stands for a rare call of `symbol`, with its
    arguments. It is a function of this module, because LLVM would use its own knowledge of `symbol`."""
    args = ", ".join(f"{t} {v}" for v in values)
    return f"{t} @{RARE}{symbol}({args}) cold {_variants(RARE + symbol, len(values))}"


def lookup(number: int, t: str, index_type: str, index: str) -> str:
    """The LLVM text that follows `call` for a call that loads from table `number` the element at the lowest bits of the
    index."""
    return f"{t} @{LOOKUP}{number}({index_type} {index}) {_variants(f'{LOOKUP}{number}', 1)}"


def declarations(functions: dict[str, tuple[int, str]], tables: dict[tuple, int]) -> str:
    """The declarations that the vectoriser needs. functions: symbol -> (number, LLVM type) of operands; tables: (LLVM
    types of elements and indices, elements) -> number of the table."""
    parts, names = [], []
    for name, count, t, given, attributes in (*((RARE + symbol, count, t, t, "noinline cold ")
                                                for symbol, (count, t) in functions.items()),
                                              *((f"{LOOKUP}{number}", 1, t, given, "")
                                                for (t, given, _), number in tables.items())):
        parts.append(f"declare {t} @{name}({', '.join([given] * count)}) {attributes}{_PURE}")
        for n in _WIDTHS:
            parts.append(f"declare <{n} x {t}> @{name}.{n}({f'<{n} x {given}>, ' * count}<{n} x i1>) {_PURE}")
            names.append(f"ptr @{name}.{n}")
    parts.append(f"@llvm.compiler.used = appending global [{len(names)} x ptr] [{', '.join(names)}], section "
                 f"\"llvm.metadata\"")
    return "\n".join(parts)


def definitions(functions: dict[str, tuple[int, str]], tables: dict[tuple, int], permutes: bool) -> str:
    """The definitions of the variants, a text of its own. permutes: see `link.Target`."""
    parts: dict[str, None] = {'!1 = !{!"branch_weights", i32 1, i32 2000}': None}
    for symbol, (count, t) in functions.items():
        parts.update(dict.fromkeys(_rare(symbol, count, t)))
    for (t, index, values), number in tables.items():
        parts.update(dict.fromkeys(_table(f"{LOOKUP}{number}", t, index, values, permutes)))
    return expanded("\n".join(parts))


# ---------------------------------------------------------------- rare calls


def _rare(symbol, count, t):
    given = ", ".join(f"{t} %{k}" for k in range(count))
    arity = count
    if symbol in _CIRCULAR:
        yield _REDUCE
        yield from (f"declare double @{name}(double) {_PURE}" for name in ("sin", "cos", "tan"))
        body = _CIRCULAR[symbol]
    else:
        arity = _ARITY.get(symbol, count)
        yield f"declare {t} @{symbol}({', '.join([t] * arity)}) {_PURE}"
        body = f"  %y = tail call {t} @{symbol}({', '.join(f'{t} %{k}' for k in range(arity))})\n  ret {t} %y"
    yield f"define {t} @{RARE}{symbol}({given}) noinline cold {_PURE} {{\n{body}\n}}"
    for n in _WIDTHS:
        if arity != count:
            yield from _intrinsics(t, n)
        yield _masked(symbol, count, t, n, _settled(t, n) if arity != count else ("%mask", "poison", ""))


def _masked(symbol, count, scalar, n, settled):
    """The definition of a vector variant. settled: (mask of the elements for which the function must be called, results
    for the other elements, text that computes both)."""
    left, found, text = settled
    t = f"<{n} x {scalar}>"
    lines = [f"define {t} @{RARE}{symbol}.{n}({''.join(f'{t} %x{k}, ' for k in range(count))}<{n} x i1> %mask) "
             f"alwaysinline {_PURE} {{", "start:",
             f"  %bits = bitcast <{n} x i1> %mask to i{n}", f"  %any = icmp ne i{n} %bits, 0",
             "  br i1 %any, label %some, label %none, !prof !1", "some:"]
    before = "some"
    if text:
        lines += [text, f"  %bits.left = bitcast <{n} x i1> {left} to i{n}",
                  f"  %any.left = icmp ne i{n} %bits.left, 0", "  br i1 %any.left, label %rest, label %none, !prof !1",
                  "rest:"]
        before = "rest"
    last = "poison"
    for i in range(n):
        lines += [f"  %e{i}.{k} = extractelement {t} %x{k}, i64 {i}" for k in range(count)]
        args = ", ".join(f"{scalar} %e{i}.{k}" for k in range(count))
        lines += [f"  %y{i} = call {scalar} @{RARE}{symbol}({args}) cold",
                  f"  %r{i} = insertelement {t} {last}, {scalar} %y{i}, i64 {i}"]
        last = f"%r{i}"
    if text:
        lines.append(f"  %all = select <{n} x i1> {left}, {t} {last}, {t} {found}")
        last = "%all"
    arms = ["[ poison, %start ]", *([f"[ {found}, %some ]"] if text else []), f"[ {last}, %{before} ]"]
    return "\n".join([*lines, "  br label %none", "none:", f"  %r = phi {t} {', '.join(arms)}", f"  ret {t} %r", "}"])


# These functions have more operands than those of the C library: x, y, p = y * log(|x|) and found = exp(p), which is x
# to the power of y for positive x and moderate p.
_ARITY = {"pow": 2, "powf": 2}
_LEAST, _MOST = {"double": 2.0**-1022, "float": 2.0**-126}, {"double": (708.3, 709.9, -745.2),
                                                             "float": (87.3, 88.8, -104.0)}


def _intrinsics(t, n):
    suffix = f"v{n}{'f64' if t == 'double' else 'f32'}"
    for name in ("fabs", "roundeven"):
        yield f"declare <{n} x {t}> @llvm.{name}.{suffix}(<{n} x {t}>)"


def _settled(scalar, n):
    """Text that handles signs, zeros, and results that are infinite or 0. The C library computes subnormal results, and
    those for operands that are subnormal or not finite, or for negative x with fractional y."""
    t, b, suffix = f"<{n} x {scalar}>", f"<{n} x i1>", f"v{n}{'f64' if scalar == 'double' else 'f32'}"
    whole = f"<{n} x {'i64' if scalar == 'double' else 'i32'}>"
    moderate, most, least = (f"splat ({scalar} {_hex(_single(v, scalar))})" for v in _MOST[scalar])
    normal, inf, zero = (f"splat ({scalar} {_hex(v)})" for v in (_LEAST[scalar], float("inf"), 0.0))
    text = f"""
  %a = call {t} @llvm.fabs.{suffix}({t} %x0)
  %b = call {t} @llvm.fabs.{suffix}({t} %x1)
  %size = call {t} @llvm.fabs.{suffix}({t} %x2)
  %natural = fcmp oeq {t} (call {t} @llvm.roundeven.{suffix}({t} %x1)), %x1
  %half = fmul {t} %x1, splat ({scalar} {_hex(0.5)})
  %odd = and {b} %natural, (fcmp one {t} (call {t} @llvm.roundeven.{suffix}({t} %half)), %half)
  %signed = icmp slt {whole} (bitcast {t} %x0 to {whole}), zeroinitializer
  %real = or {b} (xor {b} %signed, splat (i1 true)), %natural
  %normal = fcmp oge {t} %a, {normal}
  %bounded = fcmp olt {t} %a, {inf}
  %finite = fcmp olt {t} %b, {inf}
  %fits = fcmp olt {t} %size, {moderate}
  %over = fcmp ogt {t} %x2, {most}
  %under = fcmp olt {t} %x2, {least}
  %zero = fcmp oeq {t} %x0, zeroinitializer
  %up = fcmp ogt {t} %x1, zeroinitializer
  %down = fcmp olt {t} %x1, zeroinitializer
  %f1 = select {b} %over, {t} {inf}, {t} %x3
  %f3 = select {b} %zero, {t} zeroinitializer, {t} (select {b} %under, {t} zeroinitializer, {t} %f1)
  %f4 = select {b} (and {b} %zero, %down), {t} {inf}, {t} %f3
  %f5 = select {b} (and {b} %odd, %signed), {t} (fneg {t} %f4), {t} %f4
  %c2 = and {b} (or {b} %fits, (or {b} %over, %under)), %normal
  %c5 = or {b} (and {b} %c2, %bounded), (and {b} %zero, (or {b} %up, %down))
  %other = xor {b} (and {b} (and {b} %c5, %finite), %real), splat (i1 true)
  %left = and {b} %mask, %other"""
    return "%left", "%f5", text[1:]


def _single(x, scalar):
    return struct.unpack("<f", struct.pack("<f", x))[0] if scalar == "float" else x


# ---------------------------------------------------------------- tables

_PERMUTE = {"double": ("llvm.x86.avx512.permvar.df.512", "i64"), "float": ("llvm.x86.avx512.permvar.sf.512", "i32")}


def _table(name, t, index, values, permutes):
    count = len(values)
    data = ", ".join(f"{t} {v if type(v) is int else _hex(v)}" for v in values)
    yield f"@{name}.data = private unnamed_addr constant [{count} x {t}] [{data}], align {_REGISTER}"
    yield f"""define {t} @{name}({index} %n) alwaysinline {_PURE} {{
  %low = and {index} %n, {count - 1}
  %where = getelementptr inbounds [{count} x {t}], ptr @{name}.data, i64 0, {index} %low
  ret {t} (load {t}, ptr %where)
}}"""
    fits = t in _PERMUTE and count * {"double": 8, "float": 4}[t] == _REGISTER and _PERMUTE[t][1] == index
    permute = fits and permutes
    if permute:
        yield f"declare <{count} x {t}> @{_PERMUTE[t][0]}(<{count} x {t}>, <{count} x {index}>)"
    for n in _WIDTHS:
        body = _permuted(t, index, data, n, count) if permute else _each(name, t, index, n)
        yield (f"define <{n} x {t}> @{name}.{n}(<{n} x {index}> %n, <{n} x i1> %mask) alwaysinline {_PURE} "
               f"{{\n{body}\n}}")


def _each(name, t, index, n):
    lines, last = [], "poison"
    for i in range(n):
        lines += [f"  %n{i} = extractelement <{n} x {index}> %n, i64 {i}", f"  %y{i} = call {t} @{name}({index} %n{i})",
                  f"  %r{i} = insertelement <{n} x {t}> {last}, {t} %y{i}, i64 {i}"]
        last = f"%r{i}"
    return "\n".join([*lines, f"  ret <{n} x {t}> {last}"])


def _permuted(t, index, data, n, count):
    """One permute instruction for as many elements as the table has."""
    lines, parts = [], []
    for start in range(0, n, count):
        taken = [start + i if start + i < n else "poison" for i in range(count)]
        mask = ", ".join(f"i32 {i}" for i in taken)
        lines += [f"  %i{start} = shufflevector <{n} x {index}> %n, <{n} x {index}> poison, <{count} x i32> <{mask}>",
                  f"  %y{start} = call <{count} x {t}> @{_PERMUTE[t][0]}(<{count} x {t}> <{data}>, <{count} x "
                  f"{index}> %i{start})"]
        parts.append(f"<{count} x {t}> %y{start}")
    mask = ", ".join(f"i32 {i}" for i in range(n))
    other = parts[1] if len(parts) > 1 else f"<{count} x {t}> poison"
    return "\n".join([*lines, f"  %r = shufflevector {parts[0]}, {other}, <{n} x i32> <{mask}>",
                      f"  ret <{n} x {t}> %r"])


# ---------------------------------------------------------------- large angles

# 2 / pi in 1280 bits, after 16 zero bits.
_TWO_OVER_PI = (
    0x0000A2F9836E4E44, 0x1529FC2757D1F534, 0xDDC0DB6295993C43, 0x9041FE5163ABDEBB, 0xC561B7246E3A424D,
    0xD2E006492EEA09D1, 0x921CFE1DEB1CB129, 0xA73EE88235F52EBB, 0x4484E99C7026B45F, 0x7E413991D6398353,
    0x39F49C845F8BBDF9, 0x283B1FF897FFDE05, 0x980FEF2F118B5A0A, 0x6D1F6D367ECF27CB, 0x09B74F463F669E5F,
    0xEA2D7527BAC7EBE5, 0xF17B3D0739F78A52, 0x92EA6BFB5FB11F8D, 0x5D0856033046FC7B, 0x6BABF0CFBC209AF4)

# {r, k} for |x| >= 2**38: x = r + k * pi / 2 modulo 2 * pi, |r| <= pi / 4; the result is arbitrary for smaller x, which
# may be in one vector with large ones. Payne and Hanek's reduction: x = m * 2**q, and m times the 192 bits of 2 / pi
# that start where the product is below 4 has the quarter in two bits, then 126 bits of the fraction, of which 62 may be
# zeros.
_REDUCE = f"""
@pyjitc_two_over_pi = private unnamed_addr constant [20 x i64] [{', '.join(f'i64 {w}' for w in _TWO_OVER_PI)}]
define internal {{double, i64}} @pyjitc_reduce(double %x) noinline cold nounwind willreturn memory(none) {{
  %bits = bitcast double %x to i64
  %skipped = sub i64 (and i64 (lshr i64 %bits, 52), 2047), 1061
  %skip = select i1 (icmp slt i64 %skipped, 0), i64 0, i64 %skipped
  %m = or i64 (and i64 %bits, {2**52 - 1}), {2**52}
  %p0 = getelementptr i64, ptr @pyjitc_two_over_pi, i64 (lshr i64 %skip, 6)
  %w0 = load i64, ptr %p0
  %w1 = load i64, ptr (getelementptr i64, ptr %p0, i64 1)
  %w2 = load i64, ptr (getelementptr i64, ptr %p0, i64 2)
  %w3 = load i64, ptr (getelementptr i64, ptr %p0, i64 3)
  %in = and i64 %skip, 63
  %a0 = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %in)
  %m2 = zext i64 %m to i128
  %c1 = mul i128 (zext i64 (call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %in)) to i128), %m2
  %c2 = mul i128 (zext i64 (call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %in)) to i128), %m2
  %carry = lshr i128 %c2, 64
  %c0 = mul i64 %a0, %m
  %product = add i128 (shl i128 (zext i64 %c0 to i128), 64), (add i128 %c1, %carry)
  %k = trunc i128 (lshr i128 (add i128 %product, {2**125}), 126) to i64
  %rest = trunc i128 %c2 to i64
  %part = or i128 (shl i128 %product, 2), (zext i64 (lshr i64 %rest, 62) to i128)
  %below = icmp slt i128 %part, 0
  %size = select i1 %below, i128 (sub i128 0, %part), i128 %part
  %zeros = call i128 @llvm.ctlz.i128(i128 %size, i1 false)
  %full = shl i128 %size, %zeros
  %b = trunc i128 (lshr i128 %full, 22) to i64
  %e = sub i64 970, (trunc i128 %zeros to i64)
  %fa = uitofp i64 (trunc i128 (lshr i128 %full, 75) to i64) to double
  %low = fmul double (uitofp i64 (and i64 %b, {2**53 - 1}) to double), {_hex(2.0**-53)}
  %r0 = fmul double %fa, {_hex(6.123233995736766e-17)}
  %r1 = call double @llvm.fma.f64(double %low, double {_hex(1.5707963267948966)}, double %r0)
  %r2 = call double @llvm.fma.f64(double %fa, double {_hex(1.5707963267948966)}, double %r1)
  %r3 = fmul double %r2, (bitcast i64 (shl i64 %e, 52) to double)
  %negative = icmp slt i64 %bits, 0
  %r5 = select i1 (xor i1 %below, %negative), double (fneg double %r3), double %r3
  %pair = insertvalue {{double, i64}} undef, double (fadd double %r5, (fsub double %x, %x)), 0
  %both = insertvalue {{double, i64}} %pair, i64 (select i1 %negative, i64 (sub i64 0, %k), i64 %k), 1
  ret {{double, i64}} %both
}}
declare double @llvm.fma.f64(double, double, double)
declare i128 @llvm.ctlz.i128(i128, i1)
declare i64 @llvm.fshl.i64(i64, i64, i64)"""

_PARTS = """  %both = call {double, i64} @pyjitc_reduce(double %0)
  %r = extractvalue {double, i64} %both, 0
  %turns = extractvalue {double, i64} %both, 1
"""
_WAVE = _PARTS + """  %s = call double @sin(double %r)
  %k = add i64 %turns, QUARTERS
  %y = select i1 (trunc i64 %k to i1), double (call double @cos(double %r)), double %s
  %z = select i1 (icmp ne i64 (and i64 %k, 2), 0), double (fneg double %y), double %y
  ret double %z"""
# The arguments are large here; the C library's own reduction may be off by several units in the last place.
_CIRCULAR = {"sin": _WAVE.replace("QUARTERS", "0"), "cos": _WAVE.replace("QUARTERS", "1"),
             "tan": _PARTS + """  %t = call double @tan(double %r)
  %z = select i1 (trunc i64 %turns to i1), double (fdiv double -1.0, %t), double %t
  ret double %z"""}
