"""Lowerings of operations of kernels that are the same for a GPU and for the threads of a grid on the CPU: atomics, and
operations on bits."""
from __future__ import annotations

from ..ops.memory import element_address
from ..types.kinds import Int, NpInt

__all__ = ["WIDTHS", "as_bits", "atomic", "call", "compare_and_swap", "find_first_set", "from_bits",
           "is_signed", "reverse_bits"]

WIDTHS = {"half": "i16", "float": "i32", "double": "i64"}
_INTEGER = {"add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor", "exch": "xchg", "inc": "uinc_wrap",
            "dec": "udec_wrap"}
_FLOATING = {"add": "fadd", "sub": "fsub", "exch": "xchg", "min": "fminimum", "max": "fmaximum", "nanmin": "fmin",
             "nanmax": "fmax"}


def call(e, result: str, name: str, *operands: str) -> str:
    """A call of an intrinsic on operands such as "i32 %x"."""
    kinds = ", ".join(o.partition(" ")[0] for o in operands)
    e.declare(f"declare {result} @{name}({kinds}){' convergent nounwind' if name.startswith('llvm.nvvm') else ''}")
    if result == "void":
        e.line(f"call void @{name}({', '.join(operands)})")
        return ""
    return e.assign(f"call {result} @{name}({', '.join(operands)})")


def find_first_set(e, inst, x):
    """0 for 0, else one more than the number of zeros below the lowest bit that is set."""
    kind = e.scalar(inst.args[0].type)
    below = call(e, kind, f"llvm.cttz.{kind}", f"{kind} {x[0]}", "i1 false")
    none = e.assign(f"icmp eq {kind} {x[0]}, 0")
    found = e.assign(f"select i1 {none}, {kind} 0, {kind} {e.assign(f'add {kind} {below}, 1')}")
    return [found if kind == "i64" else e.assign(f"zext {kind} {found} to i64")]


def reverse_bits(e, inst, x):
    kind = e.scalar(inst.args[0].type)
    return [call(e, kind, f"llvm.bitreverse.{kind}", f"{kind} {x[0]}")]


def is_signed(t) -> bool:
    return t is Int or isinstance(t, NpInt) and t.signed


def as_bits(e, t: str, x: str) -> tuple[str, str]:
    """(integer type, value) of the bits of a scalar."""
    if t == "i1":
        return "i8", e.assign(f"zext i1 {x} to i8")
    if t in WIDTHS:
        return WIDTHS[t], e.assign(f"bitcast {t} {x} to {WIDTHS[t]}")
    return t, x


def from_bits(e, t: str, x: str) -> str:
    if t == "i1":
        return e.assign(f"icmp ne i8 {x}, 0")
    return e.assign(f"bitcast {WIDTHS[t]} {x} to {t}") if t in WIDTHS else x


def atomic(order: str):
    """The lowering of `atomic`; the parts of a complex number are separate."""
    def lower(e, inst, array, *rest):
        *indices, value = rest
        t, how = inst.args[0].type, inst.attrs["how"]
        pointer = element_address(e, t, array, [x[0] for x in indices])
        kinds = e.components(t.dtype)
        places = [pointer] + [e.assign(f"getelementptr inbounds {kind}, ptr {pointer}, i64 1") for kind in kinds[1:]]
        return [_changed(e, t.dtype, how, *one, order) for one in zip(places, kinds, value)]

    return lower


def _changed(e, dtype, how: str, place: str, kind: str, x: str, order: str) -> str:
    if how in ("inc", "dec") and is_signed(dtype):
        return _counted(e, place, kind, x, how, order)
    if kind == "i1":
        name = "or" if how == "add" else _INTEGER[how]
    elif kind in WIDTHS:
        name = _FLOATING[how]
    else:
        name = _INTEGER.get(how) or ("" if is_signed(dtype) else "u") + how.removeprefix("nan")
    width, x = as_bits(e, kind, x) if kind == "i1" else (kind, x)
    found = e.assign(f"atomicrmw {name} ptr {place}, {width} {x} {order}")
    return from_bits(e, kind, found) if kind == "i1" else found


def compare_and_swap(order: str):
    """The lowering of `atomic_cas`."""
    def lower(e, inst, array, *rest):
        *indices, expected, value = rest
        t = inst.args[0].type
        pointer = element_address(e, t, array, [x[0] for x in indices])
        kind, = e.components(t.dtype)
        width, old = as_bits(e, kind, expected[0])
        _, new = as_bits(e, kind, value[0])
        pair = e.assign(f"cmpxchg ptr {pointer}, {width} {old}, {width} {new} {order} monotonic")
        return [from_bits(e, kind, e.assign(f"extractvalue {{ {width}, i1 }} {pair}, 0"))]

    return lower


def _counted(e, pointer: str, kind: str, limit: str, how: str, order: str) -> str:
    """inc and dec of signed integers: compare and swap, repeated until no other thread came between."""
    first = e.assign(f"load atomic {kind}, ptr {pointer} {order}, align {int(kind[1:]) // 8}")
    here, again, done = e.current, e.label("again"), e.label("swapped")
    e.jump(again)
    e.start(again)
    at = len(e.lines)
    e.count += 1
    old = f"%v{e.count}"
    if how == "inc":
        end = e.assign(f"icmp sge {kind} {old}, {limit}")
        step, other = e.assign(f"add {kind} {old}, 1"), "0"
    else:
        none, above = e.assign(f"icmp eq {kind} {old}, 0"), e.assign(f"icmp sgt {kind} {old}, {limit}")
        end = e.assign(f"or i1 {none}, {above}")
        step, other = e.assign(f"sub {kind} {old}, 1"), limit
    new = e.assign(f"select i1 {end}, {kind} {other}, {kind} {step}")
    pair = e.assign(f"cmpxchg ptr {pointer}, {kind} {old}, {kind} {new} {order} monotonic")
    seen = e.assign(f"extractvalue {{ {kind}, i1 }} {pair}, 0")
    won = e.assign(f"extractvalue {{ {kind}, i1 }} {pair}, 1")
    e.branch(won, done, again)
    e.lines.insert(at, f"  {old} = phi {kind} [ {first}, %{here} ], [ {seen}, %{again} ]")
    e.start(done)
    return old
