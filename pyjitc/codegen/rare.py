"""Calls of the C library that few elements of a loop need, in loops that are vectorised.

    y = fast(x)                                   # branch-free
    if abs(x) > limit:                            # hardly ever
        y = SIN(x, rare=True)

LLVM gives up on a loop with a call that has no vector form. This one has: a masked form of each usual width, which tests
once whether any of its elements is asked for, and in a cold block calls the function for all of them. The vectoriser puts
in calls of these forms; they are inlined after it, so that one test and a jump that is not taken is all that is left.
"""
from __future__ import annotations

__all__ = ["call", "definitions", "PREFIX"]

PREFIX = "pyjitc_rare_"
_WIDTHS = (2, 4, 8, 16)


def call(symbol: str, values) -> str:
    """What follows `call`: of a function of our own, since what LLVM knows of `symbol` would take precedence."""
    forms = ",".join(f"_ZGV_LLVM_M{n}{'v' * len(values)}_{PREFIX}{symbol}({PREFIX}{symbol}.{n})" for n in _WIDTHS)
    args = ", ".join(f"double {v}" for v in values)
    return f'double @{PREFIX}{symbol}({args}) cold "vector-function-abi-variant"="{forms}"'


def definitions(functions: dict[str, int]) -> str:
    """The functions and their masked forms. functions: symbol -> number of operands."""
    parts, names = [], []
    for symbol, count in functions.items():
        given = ", ".join(f"double %{k}" for k in range(count))
        parts.append(f"define internal double @{PREFIX}{symbol}({given}) noinline cold nounwind willreturn memory(none) {{\n"
                     f"  %y = tail call double @{symbol}({given})\n  ret double %y\n}}")
        for n in _WIDTHS:
            names.append(f"ptr @{PREFIX}{symbol}.{n}")
            parts.append(_masked(symbol, count, n))
    parts.append(f"@llvm.compiler.used = appending global [{len(names)} x ptr] [{', '.join(names)}], section \"llvm.metadata\"")
    return "\n".join(parts)


def _masked(symbol, count, n):
    t = f"<{n} x double>"
    lines = [f"define internal {t} @{PREFIX}{symbol}.{n}({''.join(f'{t} %x{k}, ' for k in range(count))}<{n} x i1> %mask) "
             "alwaysinline nounwind willreturn memory(none) {",
             f"  %bits = bitcast <{n} x i1> %mask to i{n}", f"  %any = icmp ne i{n} %bits, 0",
             "  br i1 %any, label %some, label %none, !prof !1", "some:"]
    last = "poison"
    for i in range(n):
        lines += [f"  %e{i}.{k} = extractelement {t} %x{k}, i64 {i}" for k in range(count)]
        args = ", ".join(f"double %e{i}.{k}" for k in range(count))
        lines += [f"  %y{i} = call double @{PREFIX}{symbol}({args}) cold",
                  f"  %r{i} = insertelement {t} {last}, double %y{i}, i64 {i}"]
        last = f"%r{i}"
    return "\n".join([*lines, "  br label %none", "none:", f"  %r = phi {t} [ poison, %0 ], [ {last}, %some ]", f"  ret {t} %r", "}"])
