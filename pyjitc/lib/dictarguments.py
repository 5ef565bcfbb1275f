"""Dicts that compiled code passes to derivatives and batches, whose structure must be part of their types.

Such a dict is an object of Python where the program changes it, as in `for k in p: p[k] -= rate * g[k]`. Its keys are
those of the displays from which it comes: it is passed as a display of its items, and a call raises TypeError where it
has got other keys in the meantime. Loaded by programs that pass such dicts.
"""
from __future__ import annotations

from ..infer.constants import constant
from ..infer.expressions import list_of
from ..infer.meaning import Apply, CallValue, Operand
from ..ir import core as ir
from ..ops import control, generic
from ..ops.structure import TUPLE_MAKE
from ..types.kinds import (
    Dict, DictDisplay, ListDisplay, Singleton, Str, Tuple, Union, all_parts, closed, is_plain_tuple,
)
from . import trees

__all__ = ["written_out"]


def written_out(evaluator, operands) -> list:
    """The operands of a call of a derivative, with dicts as displays of their items where their keys are known."""
    return [_written_out(evaluator, x, evaluator.inst.args[x.index]) if type(x) is Operand and x.index >= 0 else x
            for x in operands]


def _written_out(evaluator, x, value):
    """The operand x, which is `value` of the program, and may be a dict or a tuple or list of dicts."""
    display = _display_among(x.type)
    if display is None and not isinstance(x.type, Dict):
        made = evaluator.analysis.shape.definitions.get(value)
        if made is None or made.op not in (generic.TUPLE, generic.LIST) or not (
                is_plain_tuple(x.type) or type(x.type) is ListDisplay) or not any(
                    [isinstance(part, Dict) for part in all_parts(x.type)]):
            return x
        items = [_written_out(evaluator, *one) for one in zip(trees.parts_of(x), made.args)]
        return Apply(TUPLE_MAKE, *items, cls=None) if type(x.type) is Tuple else list_of(items)
    found = (trees.marks_of(display), trees.kinds_of(display)) if display is not None else _structure(
        evaluator.analysis, value, x.type, set())
    if found is None:
        return x
    made, av = evaluator.settle(CallValue(constant(trees.display_of), x, *map(trees.constant_marks, found)))
    return x if av is None else made


def _display_among(t) -> DictDisplay | None:
    """The display in a union of one display and dicts; None for any other type."""
    others = [one for one in t.members if not isinstance(one, Dict)] if type(t) is Union else []
    return others[0] if len(others) == 1 and type(others[0]) is DictDisplay else None


def _structure(analysis, value, t, seen) -> tuple | None:
    """(the marks of lib/trees.py, the kinds of the leaves) of a dict; None where the displays from which it comes have
    different keys, or none is known."""
    if t.parameters[0] is not Str or value in seen:
        return None
    origins = [_items(analysis, inst) for inst in _origins(analysis, value)]
    displays = [items for items in origins if items is not None]
    if not displays or any([list(items) != list(displays[0]) for items in displays]):
        return None
    parts = [_part(analysis, [items[key] for items in displays], {*seen, value}) for key in displays[0]]
    if None in parts:
        return None
    return ("dict", tuple(displays[0]), tuple([marks for marks, _ in parts])), tuple([kind for _, kind in parts])


def _part(analysis, items, seen) -> tuple | None:
    """The structure of the items that displays have for one key. An item that was read from such a dict has the union
    of all types in the dict, which does not tell its structure."""
    for x in items:
        t = analysis.av[x][0] if x in analysis.av else None
        if isinstance(t, Dict):
            return _structure(analysis, x, t, seen)
        if t is not None and not isinstance(t, Union):
            return None, trees.kind_of(closed(t))
    return None


def _items(analysis, inst) -> dict[str, ir.Value] | None:
    """The items of a dict that an instruction makes with constant texts as keys."""
    if inst.op is generic.CALL:  # dict(a=x)
        names = inst.attrs.get("kwnames") or ()
        by_name = names and len(inst.args) == len(names) + 1 and analysis.av[inst.args[0]][0] is Singleton(dict)
        return dict(zip(names, inst.args[1:])) if by_name else None
    if inst.op is not generic.DICT:
        return None
    keys = [analysis.shape.definitions.get(x) for x in inst.args[::2]]
    if not keys or not all([key is not None and key.op is control.CONST for key in keys]):
        return None
    return {key.attrs["value"]: x for key, x in zip(keys, inst.args[1::2])}


def _origins(analysis, value) -> list[ir.Inst]:
    """The instructions that make the values which a variable may have."""
    found: list[ir.Inst] = []
    seen, work = {value}, [value]
    while work:
        one = work.pop()
        inst = analysis.shape.definitions.get(one)
        if inst is not None and inst.op is not generic.CELL_GET:
            found.append(inst)
            continue
        ways = _of_cell(analysis, inst.args[0]) if inst is not None else [
            edge.args[block.params.index(one)] for block in analysis.fn.blocks if one in block.params
            for edge in analysis.incoming.get(block, ())]
        work += [x for x in ways if x not in seen]
        seen.update(ways)
    return found


def _of_cell(analysis, cell) -> list[ir.Value]:
    """The values that a function stores in a variable which other functions use, too."""
    made = analysis.shape.definitions.get(cell)
    first = made.args if made is not None and made.op is generic.MAKE_CELL else []
    return [*first, *[inst.args[1] for block in analysis.fn.blocks for inst in block.insts
                      if inst.op is generic.CELL_SET and inst.args[0] is cell]]
