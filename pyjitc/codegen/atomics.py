"""Atomic operations for which LLVM has no instruction, on both targets of kernels."""
from __future__ import annotations

__all__ = ["count_atomic"]


def count_atomic(e, pointer: str, kind: str, limit: str, how: str, order: str) -> str:
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
