"""Operations on vectors: the numbers of several iterations of a loop, side by side (passes/vectorise.py).

A vector has one number, a lane, for each of these iterations. `vector_each` applies an operation on numbers to each
lane; only operations whose lowering is one instruction or intrinsic of LLVM, whatever the width, have that form.
"""
from __future__ import annotations

from ..ir.core import CHEAP, FREE, MODERATE, PURE, Inst, Op, Value
from ..types.kinds import Bool, Float, Int, Type, Vector, float16, float32, float64, int64, is_complex, is_number
from .arith import ARITH_OPS, CAST, ISHL, ISHR
from .control import CONST
from .effects import NONDIFF
from .lowering import is_lanewise
from .math import MATH_OPS
from .structure import SELECT

__all__ = ["VECTOR_ANY", "VECTOR_EACH", "VECTOR_GET", "VECTOR_MAKE", "VECTOR_OPS", "VECTOR_SPLAT", "has_vector_form",
           "may_be_lane"]

_OPS = {**ARITH_OPS, **MATH_OPS, SELECT.name: SELECT}
_SHIFTS = {ISHL: "shl", ISHR: "ashr"}  # of signed ints, by a number of bits that is in range
_INTS, _FLOATS = {Int, int64}, {Float, float64}  # of the same representation


def may_be_lane(t: Type) -> bool:
    return t is Bool or is_number(t) and not is_complex(t) and t is not float16


def has_vector_form(inst: Inst) -> bool:
    """Whether `vector_each` can do what an instruction does with numbers."""
    if not all([may_be_lane(v.type) for v in (*inst.args, inst.result)]):
        return False
    if inst.op is CAST:
        source, target = inst.args[0].type, inst.attrs["type"]
        return source in _INTS and target in {*_INTS, *_FLOATS, float32} or source in _FLOATS and target in _FLOATS
    if inst.op in _SHIFTS:
        made = inst.args[1].inst
        return (inst.result.type in _INTS and made is not None and made.op is CONST
                and 0 <= made.attrs["value"] < 64)
    return inst.op is SELECT or is_lanewise(inst.op.lower) and not {"rare", "flags"} & inst.attrs.keys()


class _Lanewise:
    """The emitter for the lowering of an operation on numbers, with vectors in place of the numbers."""

    def __init__(self, e, count: int):
        self.e, self.count, self.flags = e, count, e.flags
        self.assign, self.declare, self.computed = e.assign, e.declare, e.computed

    def scalar(self, t: Type) -> str:
        return f"<{self.count} x {self.e.scalar(t)}>"

    def constant(self, t: Type, value) -> list[str]:
        return [f"splat ({self.e.scalar(t)} {x})" for x in self.e.constant(t, value)]


def _each_rule(types, attrs):
    count = types[0].count
    if any([type(t) is not Vector or t.count != count for t in types]):
        raise TypeError(f"vector_each of {', '.join(map(str, types))}")
    own = {name: value for name, value in attrs.items() if name != "op"}
    rule = _OPS[attrs["op"]].rule
    assert rule is not None
    return Vector(rule(tuple([t.lane for t in types]), own), count)


def _each(*vectors, op, **attrs):
    one = _OPS[op]
    assert one.eval is not None
    return tuple([one.eval(*lanes, **(attrs if one.eval_attrs else {})) for lanes in zip(*vectors)])


def _each_lower(e, inst, *operands):
    op, count = _OPS[inst.attrs["op"]], inst.result.type.count
    if op is SELECT:
        test, x, y = (f"{e.scalar(v.type)} {text}" for v, (text,) in zip(inst.args, operands))
        return [e.assign(f"select {test}, {x}, {y}")]
    if op in _SHIFTS:
        return [e.assign(f"{_SHIFTS[op]} {e.scalar(inst.result.type)} {operands[0][0]}, {operands[1][0]}")]
    one = Inst(op, [Value(v.type.lane) for v in inst.args],
               {name: value for name, value in inst.attrs.items() if name != "op"}, Value(inst.result.type.lane))
    return op.lower(_Lanewise(e, count), one, *operands)


def _splat_lower(e, inst, x):
    t, scalar = inst.result.type, e.scalar(inst.args[0].type)
    if not x[0].startswith("%"):
        return [f"splat ({scalar} {x[0]})"]
    first = e.assign(f"insertelement {e.scalar(t)} poison, {scalar} {x[0]}, i32 0")
    return [e.assign(f"shufflevector {e.scalar(t)} {first}, {e.scalar(t)} poison, <{t.count} x i32> zeroinitializer")]


def _make_lower(e, inst, *lanes):
    found, t = "poison", inst.result.type
    for n, x in enumerate(lanes):
        found = e.assign(f"insertelement {e.scalar(t)} {found}, {e.scalar(t.lane)} {x[0]}, i32 {n}")
    return [found]


def _get_lower(e, inst, x):
    return [e.assign(f"extractelement {e.scalar(inst.args[0].type)} {x[0]}, i32 {inst.attrs['lane']}")]


def _any_lower(e, inst, x):
    n = inst.args[0].type.count
    return [e.assign(f"call i1 @llvm.vector.reduce.or.v{n}i1(<{n} x i1> {x[0]})")]


def _op(name, rule, eval, lower, doc, cost, attrs=False):
    return Op(name, rule, PURE, eval=eval, lower=lower, partials=NONDIFF, doc=doc, eval_attrs=attrs, cost=cost)


VECTOR_EACH = _op("vector_each", _each_rule, _each, _each_lower,
                  "the operation {op} on numbers, with its attributes {exact, loose, normal, type, coefficients}, in "
                  "each lane",
                  MODERATE, True)
VECTOR_SPLAT = _op("vector_splat", lambda types, attrs: Vector(types[0], attrs["count"]),
                   lambda x, *, count: (x,) * count, _splat_lower,
                   "a vector of {count} lanes that all have the number x", CHEAP, True)
VECTOR_MAKE = _op("vector_make", lambda types, attrs: Vector(types[0], len(types)), lambda *lanes: lanes, _make_lower,
                  "the vector of these numbers", CHEAP)
VECTOR_GET = _op("vector_get", lambda types, attrs: types[0].lane, lambda x, *, lane: x[lane], _get_lower,
                 "the number in lane {lane} of a vector", FREE, True)
VECTOR_ANY = _op("vector_any", lambda types, attrs: Bool, lambda x: any(x), _any_lower,
                 "whether a lane of a vector of bools is true", CHEAP)

VECTOR_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op) and op is not CAST
              and op is not SELECT}
