"""Calls of parallel regions: the values that the chunks read are stored in a frame of the caller; a function with the
signature that the pool calls (pool.py) loads them from there.
"""
from __future__ import annotations

from ..ir import core as ir
from .emitter import Emitter, memory_type
from .leaves import components

__all__ = ["call"]

_SMALL = 53  # the most instructions of a chunk that LLVM is expected to inline


def call(e, inst: ir.Inst, callee: ir.Function) -> str:
    """Emit the call of a function for all chunks; returns the status. A single chunk needs no pool. The function has
    one caller, which loads the values from a frame: LLVM made slower code of a function with two callers. A single
    chunk that is small has a frame of its own, which disappears where LLVM inlines the call."""
    chunks, short, *rest = [e.values[x] for x in inst.args]
    parts = [(c, v) for p, values in zip(callee.params[2:], rest, strict=True)
             for c, v in zip(components(p.type), values, strict=True)]
    entry = _entry(e, callee, [c for c, _ in parts])

    def frame() -> str:
        made = e.alloca("i64", max(len(parts), 1))
        for k, (c, v) in enumerate(parts):
            where = made if k == 0 else e.assign(f"getelementptr i64, ptr {made}, i64 {k}")
            if c == "i1":
                v = e.assign(f"zext i1 {v} to i8")
            e.line(f"store {memory_type(c)} {v}, ptr {where}, align 8")
        return made

    shared = None if sum(len(block.insts) for block in callee.blocks) <= _SMALL else frame()
    single, several, done = e.label("single"), e.label("several"), e.label("done")
    e.branch(e.assign(f"icmp eq i64 {chunks[0]}, 1"), single, several)
    e.start(single)
    alone = e.assign(f"call i32 {entry}(ptr {shared or frame()}, i64 0)")
    at_single = e.current
    e.jump(done)
    e.start(several)
    took = "null"
    if "unknown" in inst.attrs:
        took = f"@took.{entry[1:]}"
        e.declare(f"{took} = internal global i64 0")
    given = f"ptr {entry}, ptr {shared or frame()}, i64 {chunks[0]}, ptr null, i1 {short[0]}, ptr {took}"
    together = e.assign(f"call i32 @pyjitc_region({given})")
    at_several = e.current
    e.jump(done)
    e.start(done)
    return e.phi("i32", [(alone, at_single), (together, at_several)])


def _entry(outer, callee: ir.Function, types: list[str]) -> str:
    """The function that the pool calls: one for each callee, even if copies of a loop contain several calls."""
    module = outer.module
    name = module.entries.get(callee)
    if name is not None:
        return name
    name = module.entries[callee] = f"@region{module.symbol(callee)[1:]}"
    e = Emitter(module)
    e.start("enter")
    given = ["i64 %chunk", "i1 false"]
    for k, c in enumerate(types):
        where = e.assign(f"getelementptr i64, ptr %frame, i64 {k}")
        value = e.assign(f"load {memory_type(c)}, ptr {where}, align 8")
        given.append(f"{c} {e.assign(f'icmp ne i8 {value}, 0') if c == 'i1' else value}")
    status, _ = e.native_call(callee, given)
    module.bodies.append(outer.placed(callee, [f"define internal i32 {name}(ptr %frame, i64 %chunk) nounwind {{",
                                               *e.entry, "  br label %enter", *e.lines, f"  ret i32 {status}", "}"]))
    return name
