"""Make the object of a key once where several operations on dicts and sets of the interpreter take the key.

Runs before references are counted. Only keys that the operations would box are concerned: tuples, but for pairs of
ints, and floats. An operation whose key has an object takes the object.
Before:  t = tuple_make a, b ; x = dict_find d, t ; ... ; dict_set d, t, y
After:   t = tuple_make a, b ; o = py_box t ; x = dict_find d, o ; ... ; dict_set d, o, y
Needs: SSA, references not yet counted.  Keeps: SSA, control flow, effects and their order.
"""
from __future__ import annotations

from typing import Any

from ..ir import core as ir
from ..ir.cfg import Dominators
from ..ops import tables
from ..ops.pyobject import PY_BOX
from ..types.kinds import Float, Object, Tuple

__all__ = ["run"]

_KEYED = {tables.DICT_GET, tables.DICT_ASK, tables.DICT_FIND, tables.DICT_HAS, tables.DICT_SET, tables.DICT_PUT,
          tables.SET_HAS, tables.SET_ADD}


def _is_boxed(inst: ir.Inst) -> bool:
    """Whether an instruction makes an object of a key."""
    if inst.op not in _KEYED:
        return False
    t = inst.args[1].type
    return t is Float or isinstance(t, Tuple) and t is not tables.PAIR


def run(fn: ir.Function, options: Any = None) -> None:
    dom = Dominators(fn, split=True)
    uses: dict[ir.Value, list[tuple[ir.Block, ir.Inst]]] = {}
    for node in dom.order:
        if isinstance(node, ir.Block):
            for inst in node.insts:
                if _is_boxed(inst):
                    uses.setdefault(inst.args[1], []).append((node, inst))
    for key, found in uses.items():
        block, first = found[0]
        others = [inst for other, inst in found[1:]
                  if other is block or dom.dominates(dom.tails.get(block, block), other)]
        if not others:
            continue
        unwind = None if first.unwind is None else ir.Edge(first.unwind.block, first.unwind.args)
        boxed = ir.Value(Object, key.name)
        block.insts.insert(block.insts.index(first), ir.Inst(PY_BOX, (key,), {}, boxed, first.loc, (), unwind))
        for inst in (first, *others):
            inst.args = [inst.args[0], boxed, *inst.args[2:]]
