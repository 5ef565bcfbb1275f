"""Merge equal functions of the library.

Inference has one function for each combination of argument types. The helpers that derivatives call are inferred one by
one, so that a module may get several copies of a function that is not inlined, such as the product of two matrices.
Runs after inlining and nests, where few functions are left, and before the passes, which take time for each copy.
Before:  invoke @matmat(c, x, y) ... invoke @matmat.2(c_, y, x)        (the two have the same body)
After:   invoke @matmat(c, x, y) ... invoke @matmat(c_, y, x)
Needs: nothing.  Keeps: everything else.
"""
from __future__ import annotations

import numpy as np

from ...ir.cfg import postorder, reverse_postorder
from ...ir.core import Function, Value
from ...ops.control import CONST, INVOKE
from .. import inline

__all__ = ["run"]


def run(functions: list[Function]) -> list[Function]:
    """Let calls of equal functions call the first of them; returns the functions that can still be reached."""
    same: dict[Function, Function] = {}
    known: dict[tuple, Function] = {}
    for fn in postorder(functions[0], inline.callees):
        for block in fn.blocks:
            for inst in block.insts:
                if inst.op is INVOKE and inst.attrs["callee"] in same:
                    inst.attrs = {**inst.attrs, "callee": same[inst.attrs["callee"]]}
        if fn.library and fn is not functions[0]:
            same[fn] = known.setdefault(_text(fn), fn)
    reached = functions[:1]
    for fn in reached:  # appended to during the iteration
        reached += dict.fromkeys(callee for callee in inline.callees(fn) if callee not in reached)
    return reached


def _text(fn: Function) -> tuple:
    """A key that is equal for functions that do the same: it does not depend on the names of values and blocks, nor on
    the order in which the blocks are listed, nor on constants that are not read."""
    values: dict[Value, int] = {}
    constants: dict[Value, tuple] = {}
    blocks = {block: n for n, block in enumerate(reverse_postorder(fn))}

    def numbers(xs):
        return tuple([constants[x] if x in constants else values.setdefault(x, len(values)) for x in xs])

    def edge(e):
        return blocks[e.block], numbers(e.args)

    found: list = [fn.qualname, fn.filename, fn.firstlineno, fn.flags, fn.result]
    for block in blocks:
        found.append((numbers(block.params), tuple([p.type for p in block.params])))
        for inst in block.insts:
            result = inst.result
            if inst.op is CONST:
                constants[result] = result.type, _key(inst.attrs["value"])
                continue
            found.append((inst.op, numbers(inst.args), result and (numbers([result]), result.type),
                          tuple([(key, _key(x)) for key, x in inst.attrs.items()]),
                          tuple([edge(e) for e in inst.targets]), inst.unwind and edge(inst.unwind)))
    return tuple(found)


def _key(x):
    """A key that is equal for equal attributes; 0.0 and -0.0, and 1 and True, have different keys."""
    if isinstance(x, (int, float, complex)):
        return type(x), repr(x)
    if isinstance(x, np.generic):
        return type(x), x.dtype, x.tobytes()
    if type(x) is tuple:
        return tuple, tuple(map(_key, x))
    try:
        hash(x)
    except TypeError:
        return id(x)
    return x
