"""Lowerings of operations to LLVM IR: short descriptions that cover most records.

The protocol for the lowerings of all other records is in emitter.py.
"""
from __future__ import annotations

from ..types.kinds import Bool, Float, Int, NpBool, NpFloat, NpInt

__all__ = ["bitcast", "compare", "escaped", "extended", "intrinsic", "is_lanewise", "is_signed", "lanewise", "libcall",
           "llvm", "negated", "nothing", "suffix"]

_lanewise: set = set()  # lowerings that are right for vectors, too, where `e.scalar` is the type of a vector


def is_lanewise(lower) -> bool:
    """Whether a lowering does the same for each lane of a vector as for a number (ops/vectors.py)."""
    return lower in _lanewise


def lanewise(lower):
    """Declare that a lowering is right for vectors, too."""
    _lanewise.add(lower)
    return lower


def _is_float(t):
    return t is Float or isinstance(t, NpFloat)


def is_unsigned(t) -> bool:
    return not (t is Int or isinstance(t, NpInt) and t.signed)


def is_signed(t) -> bool:
    """Whether numbers of an integer type, or dates, have a sign."""
    return t is Int or t.signed


def escaped(message: str) -> str:
    """A text as a format of an error message without operands."""
    return message.replace("%", "%%")


def extended(t, c: str) -> str:
    """The LLVM type of a parameter or result of a C function, where short integers are extended. c: that without it."""
    if t is Bool or t is NpBool:
        return "i1 zeroext"
    if isinstance(t, NpInt) and t.bits < 32:
        return f"{c} {'signext' if t.signed else 'zeroext'}"
    return c


def llvm(opcode: str):
    """One LLVM instruction on operands of one scalar type. Float opcodes get the fast-math flags, unless marked
    `exact`, or `loose`, for terms of a sum that may be reassociated; integer sums get their own `flags`."""

    def lower(e, inst, *operands):
        t = e.scalar(inst.args[0].type)
        if opcode[0] == "f":
            flags = "" if "exact" in inst.attrs else e.flags
            if "loose" in inst.attrs and "reassoc" not in flags and "fast" not in flags:
                flags += "reassoc "
        else:
            flags = f"{inst.attrs['flags']} " if "flags" in inst.attrs else ""
        return [e.assign(f"{opcode} {flags}{t} {', '.join(x[0] for x in operands)}")]

    return lanewise(lower)


# The comparison of floats that holds where another one does not, also for NaN.
_NEGATED = {"oeq": "une", "une": "oeq", "olt": "uge", "ole": "ugt", "ogt": "ule", "oge": "ult"}


def negated(e, inst, x):
    """The negation of a condition; of a comparison of floats in the same block it is a comparison, too, on which a
    branch is then as well, so that one comparison suffices."""
    known = e.computed.get(("fcmp", x[0]))
    if known is None:
        return [e.assign(f"xor i1 {x[0]}, true")]
    found = e.computed["not", x[0]] = [e.assign(f"fcmp {known[0]}")]
    return found


def compare(signed: str, unsigned: str, floating: str):
    """icmp or fcmp, by the operand type."""

    def lower(e, inst, x, y):
        t = inst.args[0].type
        if _is_float(t):
            operands = f"{e.scalar(t)} {x[0]}, {y[0]}"
            found = e.assign(f"fcmp {floating} {operands}")
            e.computed["fcmp", found] = [f"{_NEGATED[floating]} {operands}"]
            return [found]
        return [e.assign(f"icmp {unsigned if is_unsigned(t) else signed} {e.scalar(t)} {x[0]}, {y[0]}")]

    return lanewise(lower)


_SUFFIX = {"half": "f16", "float": "f32", "double": "f64"}


def suffix(t: str) -> str:
    """The part of the name of an intrinsic that says its type: <8 x double> is v8f64."""
    if not t.startswith("<"):
        return _SUFFIX.get(t, t)
    count, lane = t[1:-1].split(" x ")
    return f"v{count}{_SUFFIX.get(lane, lane)}"


def intrinsic(name: str, flags: str = ""):
    """A call of an LLVM intrinsic that is overloaded on its operand type, `llvm.sqrt` -> llvm.sqrt.f64. flags:
    fast-math flags that always hold for it."""
    always = flags

    def lower(e, inst, *operands):
        t = e.scalar(inst.args[0].type)
        full = f"{name}.{suffix(t)}"
        flags = always or (e.flags if _is_float(inst.args[0].type) and "exact" not in inst.attrs else "")
        return [e.assign(f"call {flags}{t} @{full}({', '.join(f'{t} {x[0]}' for x in operands)})")]

    return lanewise(lower)


@lanewise
def bitcast(e, inst, x):
    """The same bits as another type."""
    return [e.assign(f"bitcast {e.scalar(inst.args[0].type)} {x[0]} to {e.scalar(inst.result.type)}")]


def libcall(name: str):
    """A call of a libm function in double; float32 uses the function with suffix f, float16 goes through float32.

    A call marked `rare` is in a branch that few elements take, and does not prevent vectorisation of its loop."""

    def lower(e, inst, *operands):
        t = e.scalar(inst.args[0].type)
        values = [x[0] for x in operands]
        wide = "float" if t == "half" else t
        if wide != t:
            values = [e.assign(f"fpext {t} {v} to {wide}") for v in values]
        symbol = name if wide == "double" else name + "f"
        e.declare(f"declare {wide} @{symbol}({', '.join([wide] * len(values))}) nounwind willreturn memory(none)")
        call = f"{wide} @{symbol}({', '.join(f'{wide} {v}' for v in values)})"
        result = e.assign("call " + (e.rare(symbol, values, wide) if "rare" in inst.attrs else call))
        return [result if wide == t else e.assign(f"fptrunc {wide} {result} to {t}")]

    return lower


def nothing(e, inst, *operands):
    """No code: the operation only carries information for the compiler."""
    return []
