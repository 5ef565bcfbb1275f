"""Values made of parts: tuples, structs, unions, slices, ranges, function values. All operations rearrange
components."""
from __future__ import annotations

from functools import partial
from typing import Callable

from ..ir.core import CHEAP, EXPENSIVE, FREE, PACKS, PURE, SAME_VALUE, SELECTS, UNPACKS, VIEW, Op
from ..types.kinds import (
    Bool, Composite, Dual, Function, Int, Method, NoneType, Range, RangeType, Slice, Struct, Tuple, Type, Union,
    member_for, numbered, union_of,
)
from .effects import NONDIFF, STRUCTURAL

__all__ = ["STRUCTURE_OPS", "maker", "takers"]


def _tuple(types, attrs):
    return Tuple(types, attrs.get("cls"))


def _tuple_get(types, attrs):
    if not isinstance(types[0], Tuple):
        raise TypeError(f"tuple_get of {types[0]}")
    return types[0].elements[attrs["index"]]


def _tuple_at(types, attrs):
    """The result type: the common type of all elements, or the union of their types."""
    return union_of(types[0].elements)


_TABLE = 8  # the fewest constant elements for which there is a table in memory


def _tuple_at_lower(e, inst, x, i):
    """A switch over the index; the components of each element (as a member of the union) are joined after it. Constants
    of one type are loaded from a table, since LLVM takes time quadratic in the cases of a switch."""
    elements, result = inst.args[0].type.elements, inst.result.type
    if (len(elements) >= _TABLE and all(t is result for t in elements) and not any(v.startswith("%") for v in x)
            and (table := _from_table(e, result, len(elements), x, i[0])) is not None):
        return table
    done = e.label("picked")
    labels = [e.label("element") for _ in elements]
    cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels[1:], 1))
    e.line(f"switch i64 {i[0]}, label %{labels[0]} [{cases}]")
    arms, at = [], 0
    for t, label in zip(elements, labels):
        n = len(e.components(t))
        part = x[at:at + n]
        at += n
        e.start(label)
        arms.append((_as_member(e, result, t, part), label))
        e.jump(done)
    e.start(done)
    return [e.phi(c, [(values[k], label) for values, label in arms]) for k, c in enumerate(e.components(result))]


def _from_table(e, t, n, x, index):
    """The components of one of n constants of type `t`, or None where the target has no tables. The first is loaded for
    an index outside: operations without effects may be moved to where their result is not needed."""
    kinds = e.components(t)
    symbols = [e.constants(c, x[k::len(kinds)]) for k, c in enumerate(kinds)]
    if None in symbols:
        return None
    inside = e.assign(f"icmp ult i64 {index}, {n}")
    at = e.assign(f"select i1 {inside}, i64 {index}, i64 0")
    return [e.assign(f"load {c}, ptr {e.assign(f'getelementptr inbounds {c}, ptr {symbol}, i64 {at}')}")
            for c, symbol in zip(kinds, symbols)]


def _as_member(e, union, t, part):
    """`part`, of type `t`, as the union: t is one of its members, or a union of some of them."""
    if t is union:
        return part
    if isinstance(t, Union):
        return _cast_union(e, t, union, part)
    member = member_for(union, t)
    values = [str(union.members.index(member))]
    for m in union.members:
        values += _widened(e, t, m, part) if m is member else e.zeros(m)
    return values


def _widened(e, given, wanted, x):
    """A value converted to the type of a join, in which parts of the value may be unions."""
    if given is wanted:
        return x
    if isinstance(wanted, Union):
        return _as_member(e, wanted, given, x)
    if wanted.parts is not None:
        return [c for i, (s, t) in enumerate(zip(given.parts, wanted.parts, strict=True))
                for c in _widened(e, s, t, _part(given.parts, i, e, x))]
    return x


def _field(types, attrs):
    return types[0].parts[types[0].place(attrs["field"])]


def _dual_wide(types, attrs):
    if not isinstance(types[0], Dual):
        raise TypeError(f"dual_wide of {types[0]}")
    return types[0].wide


def _given(types, attrs):
    return attrs["type"]


def _pack(types, attrs):
    return Struct(attrs["name"], numbered(types))


def _concatenate(e, inst, *operands):
    return [c for x in operands for c in x]


def _part(types, index, e, x):
    at = sum(len(e.components(t)) for t in types[:index])
    return x[at:at + len(e.components(types[index]))]


def _tuple_get_lower(e, inst, x):
    return _part(inst.args[0].type.elements, inst.attrs["index"], e, x)


def _field_lower(e, inst, x):
    t = inst.args[0].type
    return _part(t.parts, t.place(inst.attrs["field"]), e, x)


def _union_make_lower(e, inst, x):
    return _as_member(e, inst.attrs["type"], inst.args[0].type, x)


def _member(e, union, member, x):
    at = 1
    for t in union.members:
        n = len(e.components(t))
        if t is member:
            return x[at:at + n]
        at += n
    raise AssertionError(f"{member} is not in {union}")


def _union_is_lower(e, inst, x):
    return [e.assign(f"icmp eq i16 {x[0]}, {inst.args[0].type.members.index(inst.attrs['type'])}")]


def _union_get_lower(e, inst, x):
    return _member(e, inst.args[0].type, inst.attrs["type"], x)


def _union_cast_lower(e, inst, x):
    return _cast_union(e, inst.args[0].type, inst.attrs["type"], x)


def _cast_union(e, given, wanted, x):
    """Convert a union to another one. The tag distinguishes members that a join has merged; members that `wanted` does
    not have cannot occur."""
    tag = "0"
    parts: dict = {}
    for i, source in enumerate(given.members):
        member = member_for(wanted, source)
        if member is None:
            continue
        is_it = e.assign(f"icmp eq i16 {x[0]}, {i}")
        tag = e.assign(f"select i1 {is_it}, i16 {wanted.members.index(member)}, i16 {tag}")
        part, before = _widened(e, source, member, _member(e, given, source, x)), parts.get(member)
        parts[member] = part if before is None else [
            e.assign(f"select i1 {is_it}, {t} {a}, {t} {b}") for t, a, b in zip(e.components(member), part, before)]
    return [tag, *(c for m in wanted.members for c in parts.get(m) or e.zeros(m))]


def _select_lower(e, inst, condition, x, y):
    types = e.components(inst.result.type)
    return [a if a == b else e.assign(f"select i1 {condition[0]}, {t} {a}, {t} {b}") for t, a, b in zip(types, x, y)]


def _choose_lower(e, inst, condition, x, y):
    types = e.components(inst.result.type)
    return [e.assign(f"select i1 {condition[0]}, {t} {a}, {t} {b}, !unpredictable !5") for t, a, b in zip(types, x, y)]


def _select_rule(types, attrs):
    if types[0] is not Bool or types[1] is not types[2]:
        raise TypeError(f"select of {', '.join(map(str, types))}")
    return types[1]


def _range_rule(types, attrs):
    if any(t is not Int for t in types) or len(types) != 3:
        raise TypeError("a range is made of three ints")
    return Range


def _retype(x, *, type):
    return x


_op = partial(Op, cost=FREE)

TUPLE_MAKE = _op("tuple_make", _tuple, PURE, eval=lambda *xs, cls=None: xs if cls is None else cls(*xs),
                 lower=_concatenate, doc="tuple of the operands; {cls}: the namedtuple class or None", eval_attrs=True,
                 partials=STRUCTURAL, traits=PACKS)
TUPLE_GET = _op("tuple_get", _tuple_get, PURE, eval=lambda t, *, index: t[index], lower=_tuple_get_lower,
                doc="element {index} of a tuple", eval_attrs=True, partials=STRUCTURAL, traits=UNPACKS)
TUPLE_AT = _op("tuple_at", _tuple_at, PURE, eval=lambda t, i: t[i], lower=_tuple_at_lower, partials=STRUCTURAL,
               doc="element i of a tuple, for an index known to be in range; a union where the elements differ",
               cost=EXPENSIVE)
STRUCT_MAKE = _op("struct_make", _given, PURE, lower=_concatenate, partials=STRUCTURAL,
                  doc="value of the composite {type} from its parts", traits=PACKS)
STRUCT_GET = _op("struct_get", _field, PURE, lower=_field_lower, partials=STRUCTURAL,
                 doc="part {field} of a composite value", traits=UNPACKS)
PACK = _op("pack", _pack, PURE, lower=_concatenate, partials=STRUCTURAL,
           doc="struct called {name} with the operands as members '0', '1', ...", traits=PACKS)
UNION_MAKE = _op("union_make", _given, PURE, lower=_union_make_lower, partials=STRUCTURAL,
                 doc="a value of a member type as a value of union {type}; the components of other members are zero")
UNION_IS = _op("union_is", lambda types, attrs: Bool, PURE, lower=_union_is_lower, partials=NONDIFF,
               doc="whether the union holds its member {type}", cost=CHEAP)
UNION_GET = _op("union_get", _given, PURE, lower=_union_get_lower, partials=STRUCTURAL,
                doc="the member {type} of a union; zeros where the union holds another member")
UNION_CAST = _op("union_cast", _given, PURE, lower=_union_cast_lower, partials=STRUCTURAL,
                 doc="the same value in union {type}, which has a member for every type that occurs", cost=EXPENSIVE)
DUAL_MAKE = _op("dual_make", _given, PURE, lower=_concatenate, partials=STRUCTURAL,
                doc="a number of dual {type}, made of its wide value and whether it has the narrow type",
                traits=SAME_VALUE)
DUAL_WIDE = _op("dual_wide", _dual_wide, PURE, lower=lambda e, inst, x: x[:-1], partials=STRUCTURAL,
                doc="the number in the wider type, whichever type it has", traits=SAME_VALUE)
DUAL_IS_NARROW = _op("dual_is_narrow", lambda types, attrs: Bool, PURE, lower=lambda e, inst, x: x[-1:],
                     partials=NONDIFF, doc="whether the number has the narrow type")
SLICE_MAKE = _op("slice_make", lambda types, attrs: Slice(*types), PURE, eval=slice, lower=_concatenate,
                 partials=NONDIFF, doc="slice(start, stop, step)")
SLICE_GET = _op("slice_get", _field, PURE, eval=lambda s, *, field: getattr(s, field), lower=_field_lower,
                partials=NONDIFF, eval_attrs=True, doc="start, stop or step of a slice: {field}")
RANGE_MAKE = _op("range_make", _range_rule, PURE, eval=range, lower=_concatenate, partials=NONDIFF,
                 doc="range(start, stop, step); the step is not 0")
RANGE_GET = _op("range_get", lambda types, attrs: Int, PURE, eval=lambda r, *, field: getattr(r, field),
                lower=_field_lower, partials=NONDIFF, eval_attrs=True, doc="start, stop or step of a range: {field}")
FUNCTION_MAKE = _op("function_make", _given, PURE, lower=_concatenate, partials=STRUCTURAL,
                    doc="function value of {type} from what it captures", traits=PACKS)
CAPTURE_GET = _op("capture_get", lambda types, attrs: types[0].captures[attrs["index"]], PURE,
                  lower=lambda e, inst, x: _part(inst.args[0].type.captures, inst.attrs["index"], e, x),
                  partials=STRUCTURAL, doc="capture {index} of a function value", traits=UNPACKS)
METHOD_MAKE = _op("method_make", lambda types, attrs: Method(types[0], attrs["name"]), PURE, lower=_concatenate,
                  partials=STRUCTURAL, doc="bound method {name} of the receiver", traits=PACKS)
METHOD_SELF = _op("method_self", lambda types, attrs: types[0].receiver, PURE, lower=_concatenate, partials=STRUCTURAL,
                  doc="receiver of a bound method", traits=UNPACKS)
SELECT = _op("select", _select_rule, PURE, eval=lambda c, x, y: x if c else y, lower=_select_lower,
             partials=STRUCTURAL, doc="x if condition else y; both are evaluated. {guard}: True where the condition "
                                      "is that a factor of the product y is 0, and x is 0: the derivative is that of "
                                      "the product", cost=CHEAP, traits=SELECTS)
CHOOSE = _op("choose", _select_rule, PURE, eval=lambda c, x, y: x if c else y, lower=_choose_lower,
             partials=STRUCTURAL, doc="a select whose condition follows no pattern, so that it is never compiled to a "
                                      "branch", cost=CHEAP,
             traits=SELECTS)
RETYPE = _op("retype", _given, PURE, lower=_concatenate, partials=STRUCTURAL,
             doc="the same components as {type}: int as int64, a C array as an array of any layout, ...",
             traits=SAME_VALUE | VIEW)
UNDEF = _op("undef", _given, PURE, lower=lambda e, inst: e.zeros(inst.attrs["type"]), partials=NONDIFF,
            doc="a value of {type} that is never read (zeros)")
DISCARD = _op("discard", lambda types, attrs: NoneType, PURE, eval=lambda x: None, lower=lambda e, inst, x: [],
              partials=NONDIFF, doc="None, after the operand was evaluated")


# (operation that makes a value of a kind, its attributes, for each part the operation that extracts it and its
# attributes); other kinds have struct_make and struct_get.
_OWN_OPS: dict[type, tuple[Op, Callable, Callable]] = {
    Tuple: (TUPLE_MAKE, lambda t: {"cls": t.cls}, lambda t, n: (TUPLE_GET, {"index": n})),
    RangeType: (RANGE_MAKE, lambda t: {}, lambda t, n: (RANGE_GET, {"field": t.names[n]})),
    Slice: (SLICE_MAKE, lambda t: {}, lambda t, n: (SLICE_GET, {"field": t.names[n]})),
    Function: (FUNCTION_MAKE, lambda t: {"type": t}, lambda t, n: (CAPTURE_GET, {"index": n})),
    Method: (METHOD_MAKE, lambda t: {"name": t.name}, lambda t, n: (METHOD_SELF, {})),
    Dual: (DUAL_MAKE, lambda t: {"type": t}, lambda t, n: (DUAL_IS_NARROW if n else DUAL_WIDE, {})),
}
_OPS = STRUCT_MAKE, lambda t: {"type": t}, lambda t, n: (STRUCT_GET, {"field": t.names[n]})


def maker(t: Composite) -> tuple[Op, dict]:
    """(the operation that makes a value of a composite type of its parts, its attributes)."""
    op, attrs, _ = _OWN_OPS.get(type(t), _OPS)
    return op, attrs(t)


def takers(t: Composite) -> list[tuple[Op, dict, Type]]:
    """For each part of a composite type (the operation that extracts it from a value, its attributes, its type)."""
    taker = _OWN_OPS.get(type(t), _OPS)[2]
    return [(*taker(t, n), part) for n, part in enumerate(t.parts)]


OF_UNIONS = frozenset((UNION_MAKE, UNION_IS, UNION_GET, UNION_CAST))
STRUCTURE_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
