"""Calls of the C library that few elements of a loop need, in loops that are vectorised.

    y = fast(x)                                   # branch-free
    if abs(x) > limit:                            # hardly ever
        y = SIN(x, rare=True)

LLVM gives up on a loop with a call that has no vector form. This one has: a masked form of each usual width, which tests
once whether any of its elements is asked for, and in a cold block calls the function for all of them. The vectoriser puts
in calls of these forms; they are inlined after it, so that one test and a jump that is not taken is all that is left.
"""
from __future__ import annotations

import struct

__all__ = ["call", "definitions", "declarations", "PREFIX"]

PREFIX = "pyjitc_rare_"
_WIDTHS = (2, 4, 8, 16)


def _hex(x: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def call(symbol: str, values, t: str) -> str:
    """What follows `call`: of a function of our own, since what LLVM knows of `symbol` would take precedence."""
    forms = ",".join(f"_ZGV_LLVM_M{n}{'v' * len(values)}_{PREFIX}{symbol}({PREFIX}{symbol}.{n})" for n in _WIDTHS)
    args = ", ".join(f"{t} {v}" for v in values)
    return f'{t} @{PREFIX}{symbol}({args}) cold "vector-function-abi-variant"="{forms}"'


def definitions(functions: dict[str, tuple[int, str]]) -> str:
    """The functions and their masked forms. functions: symbol -> (number, LLVM type) of operands."""
    parts, names = [], []
    for symbol, (count, t) in functions.items():
        given = ", ".join(f"{t} %{k}" for k in range(count))
        if symbol in _CIRCULAR:
            body = _CIRCULAR[symbol]
            if _REDUCE not in parts:
                parts.append(_REDUCE)
        else:
            body = f"  %y = tail call {t} @{symbol}({given})\n  ret {t} %y"
        parts.append(f"define internal {t} @{PREFIX}{symbol}({given}) noinline cold nounwind willreturn memory(none) {{\n{body}\n}}")
        for n in _WIDTHS:
            names.append(f"ptr @{PREFIX}{symbol}.{n}")
            parts.append(_masked(symbol, count, t, n))
    parts.append(f"@llvm.compiler.used = appending global [{len(names)} x ptr] [{', '.join(names)}], section \"llvm.metadata\"")
    return "\n".join(parts)


def declarations(functions) -> list[str]:
    """What the definitions refer to, in the words of ops/lowering.py."""
    if not _CIRCULAR.keys() & functions:
        return []
    return [f"declare double @{name}(double) nounwind willreturn memory(none)" for name in ("sin", "cos", "tan")] + \
        ["declare double @llvm.fma.f64(double, double, double)", "declare i128 @llvm.ctlz.i128(i128, i1)",
         "declare i64 @llvm.fshl.i64(i64, i64, i64)"]


def _masked(symbol, count, scalar, n):
    t = f"<{n} x {scalar}>"
    lines = [f"define internal {t} @{PREFIX}{symbol}.{n}({''.join(f'{t} %x{k}, ' for k in range(count))}<{n} x i1> %mask) "
             "alwaysinline nounwind willreturn memory(none) {",
             f"  %bits = bitcast <{n} x i1> %mask to i{n}", f"  %any = icmp ne i{n} %bits, 0",
             "  br i1 %any, label %some, label %none, !prof !1", "some:"]
    last = "poison"
    for i in range(n):
        lines += [f"  %e{i}.{k} = extractelement {t} %x{k}, i64 {i}" for k in range(count)]
        args = ", ".join(f"{scalar} %e{i}.{k}" for k in range(count))
        lines += [f"  %y{i} = call {scalar} @{PREFIX}{symbol}({args}) cold",
                  f"  %r{i} = insertelement {t} {last}, {scalar} %y{i}, i64 {i}"]
        last = f"%r{i}"
    return "\n".join([*lines, "  br label %none", "none:", f"  %r = phi {t} [ poison, %0 ], [ {last}, %some ]", f"  ret {t} %r", "}"])


# 2 / pi in 1280 bits, after 16 zeros.
_TWO_OVER_PI = (
    0x0000A2F9836E4E44, 0x1529FC2757D1F534, 0xDDC0DB6295993C43, 0x9041FE5163ABDEBB, 0xC561B7246E3A424D, 0xD2E006492EEA09D1,
    0x921CFE1DEB1CB129, 0xA73EE88235F52EBB, 0x4484E99C7026B45F, 0x7E413991D6398353, 0x39F49C845F8BBDF9, 0x283B1FF897FFDE05,
    0x980FEF2F118B5A0A, 0x6D1F6D367ECF27CB, 0x09B74F463F669E5F, 0xEA2D7527BAC7EBE5, 0xF17B3D0739F78A52, 0x92EA6BFB5FB11F8D,
    0x5D0856033046FC7B, 0x6BABF0CFBC209AF4)

# {r, k} of |x| >= 2**38: x = r + k * pi / 2 modulo 2 * pi, |r| <= pi / 4; anything of smaller x, which stand beside large ones
# in a vector. Payne and Hanek's reduction: x = m * 2**q, and m times the 192 bits of 2 / pi that start where the product is
# below 4 has the quarter in two bits, then 126 bits of the fraction, of which 62 may be zeros.
_REDUCE = f"""
@pyjitc_two_over_pi = private unnamed_addr constant [20 x i64] [{', '.join(f'i64 {w}' for w in _TWO_OVER_PI)}]
define internal {{double, i64}} @pyjitc_reduce(double %x) noinline cold nounwind willreturn memory(none) {{
  %bits = bitcast double %x to i64
  %exponent = lshr i64 %bits, 52
  %biased = and i64 %exponent, 2047
  %skipped = sub i64 %biased, 1061
  %small = icmp slt i64 %skipped, 0
  %skip = select i1 %small, i64 0, i64 %skipped
  %fraction = and i64 %bits, {2**52 - 1}
  %m = or i64 %fraction, {2**52}
  %word = lshr i64 %skip, 6
  %p0 = getelementptr i64, ptr @pyjitc_two_over_pi, i64 %word
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %w0 = load i64, ptr %p0
  %w1 = load i64, ptr %p1
  %w2 = load i64, ptr %p2
  %w3 = load i64, ptr %p3
  %in = and i64 %skip, 63
  %a0 = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %in)
  %a1 = call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %in)
  %a2 = call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %in)
  %m2 = zext i64 %m to i128
  %b1 = zext i64 %a1 to i128
  %b2 = zext i64 %a2 to i128
  %c1 = mul i128 %b1, %m2
  %c2 = mul i128 %b2, %m2
  %carry = lshr i128 %c2, 64
  %mid = add i128 %c1, %carry
  %c0 = mul i64 %a0, %m
  %c0w = zext i64 %c0 to i128
  %c0s = shl i128 %c0w, 64
  %product = add i128 %c0s, %mid
  %up = add i128 %product, {2**125}
  %quarter = lshr i128 %up, 126
  %k = trunc i128 %quarter to i64
  %rest = trunc i128 %c2 to i64
  %two = lshr i64 %rest, 62
  %tail = zext i64 %two to i128
  %four = shl i128 %product, 2
  %part = or i128 %four, %tail
  %below = icmp slt i128 %part, 0
  %minus = sub i128 0, %part
  %size = select i1 %below, i128 %minus, i128 %part
  %zeros = call i128 @llvm.ctlz.i128(i128 %size, i1 false)
  %full = shl i128 %size, %zeros
  %first = lshr i128 %full, 75
  %second = lshr i128 %full, 22
  %a = trunc i128 %first to i64
  %b = trunc i128 %second to i64
  %c = and i64 %b, {2**53 - 1}
  %z = trunc i128 %zeros to i64
  %e = sub i64 970, %z
  %shifted = shl i64 %e, 52
  %scale = bitcast i64 %shifted to double
  %fa = uitofp i64 %a to double
  %fc = uitofp i64 %c to double
  %low = fmul double %fc, {_hex(2.0**-53)}
  %r0 = fmul double %fa, {_hex(6.123233995736766e-17)}
  %r1 = call double @llvm.fma.f64(double %low, double {_hex(1.5707963267948966)}, double %r0)
  %r2 = call double @llvm.fma.f64(double %fa, double {_hex(1.5707963267948966)}, double %r1)
  %r3 = fmul double %r2, %scale
  %negative = icmp slt i64 %bits, 0
  %opposite = xor i1 %below, %negative
  %r4 = fneg double %r3
  %r5 = select i1 %opposite, double %r4, double %r3
  %back = sub i64 0, %k
  %turns = select i1 %negative, i64 %back, i64 %k
  %nothing = fsub double %x, %x
  %r = fadd double %r5, %nothing
  %pair = insertvalue {{double, i64}} undef, double %r, 0
  %both = insertvalue {{double, i64}} %pair, i64 %turns, 1
  ret {{double, i64}} %both
}}"""

_PARTS = """  %both = call {double, i64} @pyjitc_reduce(double %0)
  %r = extractvalue {double, i64} %both, 0
  %turns = extractvalue {double, i64} %both, 1
"""
_WAVE = _PARTS + """  %s = call double @sin(double %r)
  %c = call double @cos(double %r)
  %k = add i64 %turns, QUARTERS
  %odd = trunc i64 %k to i1
  %y = select i1 %odd, double %c, double %s
  %half = and i64 %k, 2
  %turned = icmp ne i64 %half, 0
  %minus = fneg double %y
  %z = select i1 %turned, double %minus, double %y
  ret double %z"""
# The arguments are large here; the C library's own reduction may be off by several units in the last place.
_CIRCULAR = {"sin": _WAVE.replace("QUARTERS", "0"), "cos": _WAVE.replace("QUARTERS", "1"), "tan": _PARTS + """  %t = call double @tan(double %r)
  %odd = trunc i64 %turns to i1
  %u = fdiv double -1.0, %t
  %z = select i1 %odd, double %u, double %t
  ret double %z"""}
