"""Unbox characters: represent them by code points where no object is needed: `s[i] == "a"`, `ord(c)`, `c in "aeiou"`,
`s += c`.

Runs after simplify and gvn, which leave `str_char (str_code s, i)` for s[i] next to its use. Numbers are formatted, and
texts parsed, without boxing the number. A character that a loop carries, or that comes from several definitions, is
passed as its code point; the object of a character that is still needed is made where it is used.
Before:  c = str_char n ; t = const 'a' ; x = str_eq c, t     After:  k = const 97 ; x = ieq n, k
Needs: SSA, references not yet counted.  Keeps: control flow, effects and their order but for MemoryError.
"""
from __future__ import annotations

from typing import Any, Callable

from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ir.core import Block, Edge, Function, Inst, Op, Value
from ..ops import arith as a
from ..ops import localtables as tables
from ..ops import text as t
from ..ops.natives import NATIVE_BOUNDS, NATIVE_PIECE, NATIVE_PLACES
from ..ops.pyobject import PY_BOX, PY_FORMAT, PY_JOIN
from ..ops.structure import TUPLE_GET
from ..types.kinds import Bool, Float, Int, NoneType, Str, Tuple
from . import dce
from .rewrite import remove_unreachable, resolve, substitute
from .rules import Facts

__all__ = ["run"]

_MOST_RANGES = 24  # the most ranges of code points with which a membership test compares


def run(fn: Function, options: Any = None) -> None:
    facts = Facts(fn)
    _through_parameters(fn, facts)
    mapping: dict[Value, Value] = {}
    for block in reverse_postorder(fn):
        kept: list[Inst] = []
        for inst in block.insts:
            inst.args = [resolve(mapping, v) for v in inst.args]
            rule = _RULES.get(inst.op)
            better = None if rule is None else rule(facts, inst)
            kept += facts.fresh
            facts.fresh.clear()
            if better is None:
                kept.append(inst)
            else:
                mapping[inst.result] = better
        block.insts = kept
    substitute(fn.blocks, mapping)
    fn.entry.insts[:0] = facts.constants
    remove_unreachable(fn)
    dce.run(fn)
    _make_where_read(fn)


# ---------------------------------------------------------------- operations on characters


def _code(facts: Facts, value: Value) -> Value | None:
    """The code point of a text that is known to be one character."""
    made = facts.defined_by(value, t.STR_CHAR)
    if made is not None:
        return made.args[0]
    text = _text(facts, value)
    return facts.constant(Int, ord(text)) if text is not None and len(text) == 1 else None


def _text(facts: Facts, value: Value) -> str | None:
    known = facts.known(value)
    return known.attrs["value"] if known is not None and value.type is Str else None


def _part(facts: Facts, value: Value) -> tuple[Value, Value, Value] | None:
    """(text, start, end) if a value is known to be the part of another text between these bounds; else None."""
    made = facts.defined_by(value, t.STR_SLICE)
    if made is not None:
        return made.args[0], made.args[1], made.args[2]
    made = facts.defined_by(value, NATIVE_PIECE)
    places = None if made is None else facts.defined_by(made.args[0], NATIVE_PLACES)
    if made is None or places is None:
        return None
    text = places.args[0]
    bounds = facts.make(NATIVE_BOUNDS, *made.args, *places.args[:2], type=Tuple((Int, Int)), mark=places.attrs["mark"])
    i, j = (facts.make(TUPLE_GET, bounds, type=Int, index=k) for k in range(2))
    return text, i, j


def _equal(facts: Facts, inst: Inst) -> Value | None:
    x, y = inst.args
    for part, whole in ((x, y), (y, x)):
        bounds = _part(facts, part)
        if bounds is not None:
            return facts.make(t.STR_PART_EQ, *bounds, whole, type=Bool, loc=inst.loc)
        made = facts.defined_by(part, t.STR_REVERSED)
        if made is not None:
            return facts.make(t.STR_MIRRORED, made.args[0], whole, type=Bool, loc=inst.loc)
    if facts.defined_by(x, t.STR_CHAR) is None:
        x, y = y, x
    if facts.defined_by(x, t.STR_CHAR) is None and _code(facts, x) is None:
        x, y = y, x
    code, other, text = _code(facts, x), _code(facts, y), _text(facts, y)
    if code is None:
        return None
    if other is not None:
        return facts.make(a.IEQ, code, other, type=Bool, loc=inst.loc)
    if text is not None:
        return facts.constant(Bool, False)
    one = facts.make(a.IEQ, facts.make(t.STR_LEN, y, type=Int, loc=inst.loc), facts.constant(Int, 1), type=Bool)
    form = facts.make(t.STR_FORM, y, type=Int)
    first = facts.make(t.STR_CODE, y, facts.constant(Int, 0), form, type=Int, loc=inst.loc)  # for '' the 0 behind it
    return facts.make(a.BAND, one, facts.make(a.IEQ, first, code, type=Bool), type=Bool, loc=inst.loc)


def _compare(facts: Facts, inst: Inst) -> Value | None:
    x, y = (_code(facts, v) for v in inst.args)
    if x is None or y is None:
        return None
    return facts.make(a.ISUB, x, y, type=Int, loc=inst.loc)


def _contains(facts: Facts, inst: Inst) -> Value | None:
    code, text = _code(facts, inst.args[1]), _text(facts, inst.args[0])
    if code is None or facts.defined_by(inst.args[1], t.STR_CHAR) is None and text is None:
        return None
    if text is None:
        return facts.make(t.STR_HAS, inst.args[0], code, type=Bool, loc=inst.loc)
    ranges: list[list[int]] = []
    for n in sorted(set(map(ord, text))):
        if ranges and ranges[-1][1] == n - 1:
            ranges[-1][1] = n
        else:
            ranges.append([n, n])
    if len(ranges) > _MOST_RANGES:
        return facts.make(t.STR_HAS, inst.args[0], code, type=Bool, loc=inst.loc)
    found = facts.constant(Bool, False)
    for low, high in ranges:
        least, most = facts.constant(Int, low), facts.constant(Int, high)
        one = (facts.make(a.IEQ, code, least, type=Bool) if low == high else
               facts.make(a.BAND, facts.make(a.ILE, least, code, type=Bool), facts.make(a.ILE, code, most, type=Bool),
                          type=Bool))
        found = facts.make(a.BOR, found, one, type=Bool, loc=inst.loc)
    return found


def _length(facts: Facts, inst: Inst) -> Value | None:
    if facts.defined_by(inst.args[0], t.STR_CHAR) is not None:
        return facts.constant(Int, 1)
    if facts.defined_by(inst.args[0], NATIVE_PIECE) is None:
        return None
    part = _part(facts, inst.args[0])
    return None if part is None else facts.make(a.ISUB, part[2], part[1], type=Int, loc=inst.loc)


def _code_of(facts: Facts, inst: Inst) -> Value | None:
    made = facts.defined_by(inst.args[0], t.STR_CHAR)
    return None if made is None else made.args[0]


def _append(facts: Facts, inst: Inst) -> Value | None:
    code = _code(facts, inst.args[1])
    if code is not None:
        inst.op, inst.args[1] = t.STR_APPEND_CODE, code
    return None


def _call(facts: Facts, inst: Inst) -> Value | None:
    """Unbox a call of a method such as isdigit, a conversion of a number to text, or of a text to a number."""
    callee = facts.known(inst.args[0])
    if callee is None or len(inst.args) != 2 or inst.attrs.get("kwnames"):
        return None
    function = callee.attrs["value"]
    if function is str or function is repr:
        boxed = facts.defined_by(inst.args[1], PY_BOX)
        if boxed is not None and boxed.args[0].type in _MADE:
            _become(inst, _MADE[boxed.args[0].type], boxed.args[0])
        return None
    if function is int or function is float:
        type, whole, of_part = _PARSED[function]
        if inst.args[1].type is Str and inst.attrs["type"] is type:
            part = _part(facts, inst.args[1])
            _become(inst, whole if part is None else of_part, *(part or (inst.args[1],)))
        return None
    made = facts.defined_by(inst.args[1], t.STR_CHAR)
    if made is None:
        return None
    name = getattr(function, "__name__", "")
    if function is str.lower or function is str.upper:
        _become(inst, t.CHAR_CASE, made.args[0], method=name)
        return None
    if name not in t.TESTS or getattr(str, name) is not function:
        return None
    return facts.make(t.CODE_IS, made.args[0], type=Bool, loc=inst.loc, test=name)


_MADE = {Int: t.STR_OF_INT, Float: t.STR_OF_FLOAT}
_PARSED: dict[Any, tuple[Any, Op, Op]] = {
    int: (Int, t.STR_TO_INT, t.STR_PART_TO_INT), float: (Float, t.STR_TO_FLOAT, t.STR_PART_TO_FLOAT),
}


def _become(inst: Inst, op: Op, *values: Value, **attrs: Any) -> None:
    inst.op, inst.args, inst.attrs = op, list(values), attrs


def _format(facts: Facts, inst: Inst) -> Value | None:
    """Unbox a part of an f-string that is a text or a number, in the format of str() or in one that compiled code
    writes."""
    boxed = facts.defined_by(inst.args[0], PY_BOX)
    value = boxed.args[0] if boxed is not None else None
    if value is None or value.type is not Str and value.type not in _MADE:
        return None
    if inst.args[1].type is NoneType:
        if value.type is not Str:
            _become(inst, _MADE[value.type], value)
        return None
    given = facts.defined_by(inst.args[1], PY_BOX)
    known = facts.known(given.args[0] if given is not None else inst.args[1])
    spec = known.attrs["value"] if known is not None else None
    conversion = inst.attrs.get("conversion")
    if conversion and (conversion != "s" or value.type is not Str) or type(spec) is not str:
        return None
    style = t.style_of(spec, value.type)
    if style is None:
        return None
    if value.type is Float and not (style.width or style.zeros or style.commas or style.plus or style.percent):
        if style.digits < 0:
            _become(inst, _MADE[Float], value)
        else:
            _become(inst, t.STR_FIXED, value, digits=style.digits)
    else:
        _become(inst, t.STR_BUILD, value, specs=(spec,))
    return None


def _join(facts: Facts, inst: Inst) -> Value | None:
    """Format numbers among the parts of an f-string where the f-string is made."""
    made = [facts.defined_by(v, t.STR_OF_INT, t.STR_FIXED, t.STR_BUILD) for v in inst.args]
    made = [None if one is None or len(one.args) > 1 else one for one in made]
    if any(made):
        inst.args = [v if one is None else one.args[0] for v, one in zip(inst.args, made)]
        inst.op = t.STR_BUILD
        inst.attrs = {"specs": tuple([_spec_of(one) for one in made])}
    return None


def _spec_of(made: Inst | None) -> str:
    """The format in which an instruction makes a text of a value."""
    if made is None or made.op is t.STR_OF_INT:
        return ""
    return f".{made.attrs['digits']}f" if made.op is t.STR_FIXED else made.attrs["specs"][0]


def _places(facts: Facts, inst: Inst) -> Value | None:
    """Split a part of a text by its bounds, without making an object for the part."""
    part = _part(facts, inst.args[0]) if len(inst.args) == 1 else None
    if part is not None:
        inst.args = list(part)
    return None


def _key(facts: Facts, inst: Inst) -> Value | None:
    """Look up a part of a text in a table by its bounds, without making an object for the part. The key is the last
    operand."""
    part = _part(facts, inst.args[-1]) if inst.args[-1].type is Str else None
    if part is not None:
        inst.args = [*inst.args[:-1], *part]
    return None


_RULES: dict[Op, Callable] = {
    **dict.fromkeys((tables.LOCAL_SLOT, tables.LOCAL_CLAIM, tables.LOCAL_GET, tables.LOCAL_ASK,
                     tables.LOCAL_ASK_LIST, tables.LOCAL_REMOVE), _key),
    NATIVE_PLACES: _places, PY_JOIN: _join, PY_FORMAT: _format,
    t.STR_EQ: _equal, t.STR_COMPARE: _compare, t.STR_IN: _contains, t.STR_LEN: _length, t.STR_CODE: _code_of,
    t.STR_APPEND: _append, t.TEXT_CALL: _call,
}

# ---------------------------------------------------------------- joins of characters


def _through_parameters(fn: Function, facts: Facts) -> None:
    """Make parameters that only receive characters code points."""
    edges = in_edges(fn.blocks)
    chars = {p for block in fn.blocks[1:] for p in block.params if p.type is Str}
    changed = True
    while changed:
        changed = False
        for block in fn.blocks[1:]:
            for n, p in enumerate(block.params):
                if p in chars and not all(_is_char(facts, edge.args[n], chars) for _, _, edge in edges[block]):
                    chars.discard(p)
                    changed = True
    if not chars:
        return
    # Parameters that only receive constants and each other stay texts: there are no objects to avoid.
    made: set[Value] = set()
    changed = True
    while changed:
        changed = False
        for block in fn.blocks[1:]:
            for n, p in enumerate(block.params):
                if p in chars and p not in made and any(
                        facts.defined_by(edge.args[n], t.STR_CHAR) or edge.args[n] in made
                        for _, _, edge in edges[block]):
                    made.add(p)
                    changed = True
    codes = {p: Value(Int, p.name) for p in made}
    mapping: dict[Value, Value] = {}
    for block in fn.blocks[1:]:
        heads = []
        for n, p in enumerate(block.params):
            if p in codes:
                block.params[n] = codes[p]
                for _, _, edge in edges[block]:
                    value = edge.args[n]
                    code = codes[value] if value in codes else _code(facts, value)
                    assert code is not None
                    edge.args[n] = code
                char = mapping[p] = Value(Str, p.name)
                heads.append(Inst(t.STR_CHAR, (codes[p],), None, char, block.insts[0].loc))
        block.insts[:0] = heads
    substitute(fn.blocks, mapping)


def _is_char(facts: Facts, value: Value, chars: set[Value]) -> bool:
    return value in chars or _code(facts, value) is not None


def _make_where_read(fn: Function) -> None:
    """Make the text of a code point where it is used, if that is in other blocks than its definition."""
    made = {inst.result: (block, inst) for block in fn.blocks for inst in block.insts if inst.op is t.STR_CHAR}
    if not made:
        return
    readers: dict[Value, dict[Block, None]] = {v: {} for v in made}
    leaving: set[Value] = set()  # texts that are passed on when an exception is raised
    for block in fn.blocks:
        for inst in block.insts:
            for v in inst.args:
                if v in made:
                    readers[v][block] = None
            for edge in inst.targets:
                for v in edge.args:
                    if v in made:
                        readers[v][block] = None
            if inst.unwind is not None:
                leaving.update(v for v in inst.unwind.args if v in made)
    nest = None
    for value, (home, inst) in made.items():
        if home in readers[value] or value in leaving or not readers[value]:
            continue
        nest = nest or LoopNest(fn)
        if any(nest.of.get(block) is not nest.of.get(home) for block in readers[value]):
            continue
        home.insts.remove(inst)
        for block in readers[value]:
            copy = Value(Str, value.name)
            unwind = None if inst.unwind is None else Edge(inst.unwind.block, inst.unwind.args)
            substitute([block], {value: copy})
            place = next(n for n, one in enumerate(block.insts)
                         if copy in one.args or any(copy in edge.args for edge in one.targets))
            block.insts.insert(place, Inst(t.STR_CHAR, inst.args, None, copy, inst.loc, (), unwind))
