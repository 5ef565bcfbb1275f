"""The rules of simplify: the value that can replace an instruction, given the instructions that define its operands.

A rule gets the `Facts` and the instruction, and returns a value that replaces the result, or None. Every rule is exact
in Python's semantics: floats keep signed zeros, NaNs and rounding.
"""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..base.lazy import lazy
from ..ir.core import NOWHERE, PURE, RAISES, Function, Inst, Op, Value
from ..ops import arith as a
from ..ops import memory as m
from ..ops import structure as s
from ..ops.control import CONST, UNBOUND
from ..ops.nest import BROADCAST, NEST, aligned
from ..types import kinds as k

gpu = lazy("pyjitc.ops.gpu")  # kernels load it

__all__ = ["Facts", "RULES", "simplify_inst", "const_key"]

_SCALARS = (k.Int, k.Float, k.Bool, k.Complex, k.NpBool)
_NEXT = 16  # the most lengths that are examined for one broadcast


def const_key(type: k.Type | None, value: Any):
    """A key that is equal for constants of the same type and representation: 1, True and 1.0 differ, as do 0.0 and
    -0.0."""
    if isinstance(value, (float, complex)):
        return type, value.__class__, repr(value)
    if value is None or isinstance(value, (int, str, bytes)):
        return type, value.__class__, value
    if isinstance(value, tuple):
        return (type, tuple, *(const_key(None, v) for v in value))
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return type, value.__class__, value.tobytes()
    return type, object, id(value)


class Facts:
    """What simplification adds to a function: constants, which are all in the entry block, one instruction for each,
    so that equal constants are the same value, and new instructions."""

    def __init__(self, fn: Function):
        self.fn = fn
        self.pool: dict[tuple, Value] = {}
        self.constants: list[Inst] = []  # constants of the pool, which the caller puts at the start of the entry
        self.lengths: dict[tuple, Inst] = {}
        self.fresh: list[Inst] = []  # instructions that a rule has made, which go before the one that is rewritten

    def constant(self, type: k.Type, value: Any) -> Value:
        key = const_key(type, value)
        found = self.pool.get(key)
        if found is None:
            found = self.pool[key] = Value(type)
            self.constants.append(Inst(CONST, (), {"value": value}, found))
        return found

    def length(self, inst: Inst) -> Value:
        """The length of an axis of an argument of the function, which `inst` reads: one value for all that read it, so
        that shapes can be compared."""
        return self.lengths.setdefault((inst.args[0], inst.attrs["axis"]), inst).result

    def unit(self, type: k.Type) -> Value | None:
        """The only value that `type` has, if it has no representation."""
        if type is k.NoneType:
            return self.constant(type, None)
        if type is k.Unbound:
            return self.constant(type, UNBOUND)
        return self.constant(type, type.value) if isinstance(type, k.Singleton) else None

    def known(self, value: Value) -> Inst | None:
        """The constant instruction that defines `value`, or None."""
        inst = value.inst
        return inst if inst is not None and inst.op is CONST else None

    def is_const(self, value: Value, what) -> bool:
        inst = value.inst
        return inst is not None and inst.op is CONST and inst.attrs["value"] == what

    def defined_by(self, value: Value, *ops: Op) -> Inst | None:
        """The instruction that defines `value` if it is one of `ops`."""
        inst = value.inst
        return inst if inst is not None and inst.op in ops else None

    def make(self, op: Op, *args: Value, type: k.Type, loc=NOWHERE, **attrs) -> Value:
        """Make a new instruction, and simplify it. Only for operations that cannot raise."""
        if "type" in op.attrs:
            attrs["type"] = type
        inst = Inst(op, args, attrs, Value(type), loc)
        better = simplify_inst(self, inst)
        if better is not None:
            return better
        self.fresh.append(inst)
        return inst.result


def simplify_inst(facts: Facts, inst: Inst) -> Value | None:
    """A value equal to the result of `inst`, or None."""
    if inst.result is None:
        return None
    rule = RULES.get(inst.op)
    if rule is not None:
        better = rule(facts, inst)
        if better is not None and better is not inst.result:
            return better
    return _fold(facts, inst)


def _fold(facts: Facts, inst: Inst) -> Value | None:
    """Evaluate an operation on constants in Python; an operation that would raise is left to run time."""
    op = inst.op
    if op.eval is None or op.effects & ~RAISES != PURE or not inst.args:
        return None
    type = inst.result.type
    if not (type in _SCALARS or isinstance(type, (k.NpInt, k.NpFloat, k.NpComplex))):
        return None
    values = []
    for arg in inst.args:
        known = arg.inst
        if known is None or known.op is not CONST:
            return None
        values.append(known.attrs["value"])
    try:
        value = op(*values, **inst.attrs) if op.eval_attrs else op(*values)
    except Exception:
        return None
    return facts.constant(type, value)


# ---------------------------------------------------------------- arithmetic

def _neutral(*, right=(), left=(), zero=(), same=None) -> Callable:
    """x op c = x for c in right; c op x = x for c in left; x op c = c for c in zero; x op x = same ('x' or a value)."""

    def rule(facts, inst):
        x, y = inst.args
        cx, cy = facts.known(x), facts.known(y)
        if cy is not None:
            value = cy.attrs["value"]
            if value in right and x.type is inst.result.type:
                return x
            if value in zero:
                return y
        if cx is not None:
            value = cx.attrs["value"]
            if value in left and y.type is inst.result.type:
                return y
            if value in zero:
                return x
        if x is y and same is not None:
            return x if same == "x" else facts.constant(inst.result.type, _like(inst.result.type, same))
        return None

    return rule


def _like(type: k.Type, value: int):
    return value if type is k.Int else bool(value) if type is k.Bool else a.numpy_class(type)(value)


def _float_neutral(value: float, both: bool) -> Callable:
    """x op value = x, for a value that must have the right sign of zero."""
    text = repr(value)

    def rule(facts, inst):
        x, y = inst.args
        known = facts.known(y)
        if known is not None and repr(float(known.attrs["value"])) == text:
            return x
        known = facts.known(x) if both else None
        if known is not None and repr(float(known.attrs["value"])) == text:
            return y
        return None

    return rule


def _same(value: bool) -> Callable:
    """The rule for comparisons of an integer with itself."""

    def rule(facts, inst):
        return facts.constant(k.Bool, value) if inst.args[0] is inst.args[1] else None

    return rule


def _equal(yes: bool) -> Callable:
    """x == x; and b == True is b."""

    def rule(facts, inst):
        x, y = inst.args
        if x is y:
            return facts.constant(k.Bool, yes)
        for value, other in ((x, y), (y, x)):
            known = facts.known(other)
            if known is not None and value.type is k.Bool:
                if bool(known.attrs["value"]) is yes:
                    return value
                return facts.make(a.BNOT, value, type=k.Bool, loc=inst.loc)
        return None

    return rule


def _twice(op: Op) -> Callable:
    """op(op(x)) = x"""

    def rule(facts, inst):
        inner = facts.defined_by(inst.args[0], op)
        return inner.args[0] if inner is not None else None

    return rule


def _bnot(facts, inst):
    x = inst.args[0]
    inner = facts.defined_by(x, a.BNOT)
    if inner is not None:
        return inner.args[0]
    inner = x.inst
    if inner is not None and inner.op.negated is not None:
        return facts.make(inner.op.negated, *inner.args, type=inst.result.type, loc=inst.loc)
    return None


def _bxor(facts, inst):
    x, y = inst.args
    if x is y:
        return facts.constant(inst.result.type, _like(inst.result.type, 0))
    for value, other in ((x, y), (y, x)):
        known = facts.known(other)
        if known is not None:
            return facts.make(a.BNOT, value, type=inst.result.type, loc=inst.loc) if known.attrs["value"] else value
    return None


def _unchanged_type(facts, inst):
    """cast or retype to the type it has already; retype of a retype; a Python bool that was cast to NumPy's and back"""
    x = inst.args[0]
    if x.type is inst.result.type:
        return x
    if inst.op is a.CAST and x.type is k.bool_:
        inner = facts.defined_by(x, a.CAST)
        if inner is not None and inner.args[0].type is inst.result.type is k.Bool:
            return inner.args[0]
    if inst.op is s.RETYPE:
        inner = facts.defined_by(x, s.RETYPE)
        if inner is not None:
            source = inner.args[0]
            if source.type is inst.result.type:
                return source
            return facts.make(s.RETYPE, source, type=inst.result.type, loc=inst.loc)
    return None


def _retype(facts, inst):
    better = _unchanged_type(facts, inst)
    if better is not None:
        return better
    known, type = facts.known(inst.args[0]), inst.result.type
    if known is not None and k.is_number(type):
        value = known.attrs["value"]
        if type is k.Int or type is k.Float or type is k.Bool or type is k.Complex:
            return facts.constant(type, a.PYTHON_CLASS[type](value))
        return facts.constant(type, a.numpy_class(type)(value))
    return None


def _select(facts, inst):
    c, x, y = inst.args
    if x is y:
        return x
    known = facts.known(c)
    if known is not None:
        return x if known.attrs["value"] else y
    if inst.result.type is k.Bool:
        if facts.is_const(x, True) and facts.is_const(y, False):
            return c
        if facts.is_const(x, False) and facts.is_const(y, True):
            return facts.make(a.BNOT, c, type=k.Bool, loc=inst.loc)
    if facts.defined_by(y, s.UNDEF):
        return x
    if facts.defined_by(x, s.UNDEF):
        return y
    negated = facts.defined_by(c, a.BNOT)
    if negated is not None:
        return facts.make(s.SELECT, negated.args[0], y, x, type=inst.result.type, loc=inst.loc)
    return None


def _check_nonzero(facts, inst):
    known = facts.known(inst.args[0])
    return inst.args[0] if known is not None and known.attrs["value"] != 0 else None


# ---------------------------------------------------------------- projections of aggregates

def _project(makes, position: Callable[[Inst, Inst], int]) -> Callable:
    """get(make(...)) is the operand at `position(get, make)`; get of a select of two such is a select of their
    operands."""

    def part(facts, inst, value):
        made = value.inst
        if made is None:
            return None
        if made.op in makes:
            found = made.args[position(inst, made)]
            return found if found.type is inst.result.type else None
        if made.op is s.UNDEF:
            return facts.make(s.UNDEF, type=inst.result.type, loc=inst.loc)
        return None

    def rule(facts, inst):
        found = part(facts, inst, inst.args[0])
        if found is not None:
            return found
        chosen = facts.defined_by(inst.args[0], s.SELECT)
        if chosen is None:
            return None
        yes = part(facts, inst, chosen.args[1])
        no = part(facts, inst, chosen.args[2]) if yes is not None else None
        if no is None:
            return None
        return facts.make(s.SELECT, chosen.args[0], yes, no, type=inst.result.type, loc=inst.loc)

    return rule


def _member(inst, made):
    return made.result.type.place(inst.attrs["field"])


def _tuple_get(facts, inst):
    known = facts.known(inst.args[0])
    if known is not None and isinstance(known.attrs["value"], tuple):
        return facts.constant(inst.result.type, known.attrs["value"][inst.attrs["index"]])
    return _from_tuple_make(facts, inst)


def _tuple_at(facts, inst):
    """A known item of a tuple: itself, or as a member of the union that is the type of the result."""
    given, i = inst.args
    known, types, t = facts.known(i), given.type.elements, inst.result.type
    if known is None or not 0 <= known.attrs["value"] < len(types):
        return None
    at = known.attrs["value"]
    if types[at] is not t and (type(t) is not k.Union or types[at] not in t.members):
        return None
    item = facts.make(s.TUPLE_GET, given, type=types[at], loc=inst.loc, index=at)
    return item if types[at] is t else facts.make(s.UNION_MAKE, item, type=t, loc=inst.loc)


_from_tuple_make = _project({s.TUPLE_MAKE}, lambda inst, made: inst.attrs["index"])


def _slice_get(facts, inst):
    if inst.result.type is k.NoneType:
        return facts.constant(k.NoneType, None)
    return _from_slice_make(facts, inst)


_from_slice_make = _project({s.SLICE_MAKE}, _member)


def _rebuilt(get: Op, attr: str) -> Callable:
    """make(get 0 (t), get 1 (t), ...) is t."""

    def rule(facts, inst):
        source, t = None, inst.result.type
        for position, arg in enumerate(inst.args):
            got = facts.defined_by(arg, get)
            if (got is None or got.attrs[attr] != (t.names[position] if attr == "field" else position)
                or source not in (None, got.args[0])):
                return None
            source = got.args[0]
        return source if source is not None and source.type is inst.result.type else None

    return rule


def _union_is(facts, inst):
    made = facts.defined_by(inst.args[0], s.UNION_MAKE)
    if made is not None:
        return facts.constant(k.Bool, made.args[0].type is inst.attrs["type"])
    return None


def _union_get(facts, inst):
    made = facts.defined_by(inst.args[0], s.UNION_MAKE)
    if made is None:
        return None
    x = made.args[0]
    if x.type is inst.result.type:
        return x
    return facts.make(s.UNDEF, type=inst.result.type, loc=inst.loc)  # this code is never reached


def _union_cast(facts, inst):
    if inst.args[0].type is inst.result.type:
        return inst.args[0]
    made = facts.defined_by(inst.args[0], s.UNION_MAKE)
    if made is None or made.args[0].type not in inst.result.type.members:
        return None
    return facts.make(s.UNION_MAKE, made.args[0], type=inst.result.type, loc=inst.loc)


# ---------------------------------------------------------------- arrays

def _broadcast(facts, inst):
    """Simplify a broadcast whose lengths are equal or 1, or one of whose lengths is known to be compatible with the
    others: where `m = broadcast n, k`, a broadcast of m and k is m."""
    lengths = aligned(inst.args, inst.attrs["ndims"], inst.attrs["axis"])
    varying = list(dict.fromkeys(v for v in lengths if not facts.is_const(v, 1)))
    if inst.attrs.get("into") is not None:
        return lengths[0] if all(v is lengths[0] or facts.is_const(v, 1) for v in lengths) else None
    if len(varying) < 2:
        return varying[0] if varying else lengths[0]
    return next((v for v in varying if _fitted(facts, v).issuperset(varying)), None)


def _fitted(facts, length: Value) -> set[Value]:
    """A length and the lengths that were broadcast to it: each of them equals it or is 1. Only the nearest broadcasts
    are examined, so that the time does not grow with the number of statements."""
    found = [length]
    for v in found:  # appended to during the iteration
        made = facts.defined_by(v, BROADCAST)
        if made is not None and made.attrs.get("into") is None and len(found) < _NEXT:
            found += aligned(made.args, made.attrs["ndims"], made.attrs["axis"])
    return set(found)


def _array_dim(facts, inst):
    """The length of an axis of an array that was made here, or of one whose type was changed."""
    made = inst.args[0].inst
    if made is None:
        return None
    axis = inst.attrs["axis"]
    if made.op is m.ARRAY_NEW:
        return made.args[axis]
    if made.op is m.ARRAY_VIEW:
        return made.args[2 + axis]
    if made.op is NEST and made.attrs["shape"] is not None:
        return facts.make(s.TUPLE_GET, made.args[made.attrs["shape"]], type=k.Int, loc=inst.loc, index=axis)
    if made.op is NEST and "kept" in made.attrs:
        return facts.make(s.TUPLE_GET, made.args[0], type=k.Int, loc=inst.loc, index=made.attrs["kept"])
    if made.op is s.RETYPE:
        return facts.make(inst.op, made.args[0], type=k.Int, loc=inst.loc, axis=axis)
    if made.op is not NEST and "shape" in made.attrs and made.op in gpu.MEMORIES:
        return facts.constant(k.Int, made.attrs["shape"][axis])
    return None


def _array_stride(facts, inst):
    made = inst.args[0].inst
    if made is None:
        return None
    axis = inst.attrs["axis"]
    if made.op is m.ARRAY_VIEW:
        return made.args[2 + made.result.type.ndim + axis]
    if made.op is s.RETYPE:
        return facts.make(inst.op, made.args[0], type=k.Int, loc=inst.loc, axis=axis)
    return None


def _array_step(facts, inst):
    """The step along an axis that has the length of the space, where its stride is known."""
    length, space, stride = inst.args
    known = facts.known(stride)
    if length is not space or known is None or known.attrs["value"] % inst.attrs["size"]:
        return None
    return facts.constant(k.Int, known.attrs["value"] // inst.attrs["size"])


def _check_index(facts, inst):
    i, n = inst.args
    inner = facts.defined_by(i, m.CHECK_INDEX)
    if inner is not None and inner.args[1] is n:
        return i
    low, high = facts.known(i), facts.known(n)
    if low is not None and high is not None:
        index, size = low.attrs["value"], high.attrs["value"]
        if -size <= index < size:
            return facts.constant(k.Int, index % size)
    return None


_plus_zero = _neutral(right=(0,), left=(0,))
_minus_zero = _neutral(right=(0,), same=0)


def _plus(facts, inst):
    """x + 0; constants gather on the right: (x + c) + d = x + (c + d), c + x = x + c. Exact because both wrap."""
    better = _plus_zero(facts, inst)
    if better is not None or inst.result.type is not k.Int:
        return better
    x, y = inst.args
    if facts.known(x) and not facts.known(y):
        x, y = inst.args = [y, x]
    constant = facts.known(y)
    if constant is None:
        minus = facts.defined_by(x, a.ISUB)  # (z - y) + y
        return minus.args[0] if minus is not None and minus.args[1] is y else None
    inner = facts.defined_by(x, a.IADD)
    more = facts.known(inner.args[1]) if inner is not None else None
    if more is None:
        return None
    total = facts.constant(k.Int, a.wrap(constant.attrs["value"] + more.attrs["value"]))
    return facts.make(a.IADD, inner.args[0], total, type=k.Int, loc=inst.loc)


def _minus(facts, inst):
    """x - c = x + -c, so that only sums have constants; (x + y) - y = x."""
    better = _minus_zero(facts, inst)
    if better is not None or inst.result.type is not k.Int:
        return better
    x, y = inst.args
    constant = facts.known(y)
    if constant is not None and facts.known(x) is None:
        return facts.make(a.IADD, x, facts.constant(k.Int, a.wrap(-constant.attrs["value"])), type=k.Int, loc=inst.loc)
    inner = facts.defined_by(x, a.IADD)
    if inner is not None and y in inner.args:
        return inner.args[1] if inner.args[0] is y else inner.args[0]
    return None


def _by_power(op: Op, operand: Callable[[int], int]) -> Callable:
    """x // 2**k is x >> k, and x % 2**k is x & (2**k - 1), since both round down."""

    def rule(facts, inst):
        x, y = inst.args
        known = facts.known(y) if inst.result.type is k.Int else None
        divisor = known.attrs["value"] if known is not None else 0
        if divisor <= 0 or divisor & (divisor - 1):
            return None
        if divisor == 1 and op is a.ISHR:
            return x
        return facts.make(op, x, facts.constant(k.Int, operand(divisor)), type=k.Int, loc=inst.loc)

    return rule


def _ordered(rule: Callable) -> Callable:
    """A comparison with a constant has it on the right."""

    def both(facts, inst):
        better = rule(facts, inst)
        if better is None and facts.known(inst.args[0]) and not facts.known(inst.args[1]):
            inst.op, inst.args = inst.op.swapped, inst.args[::-1]
        return better

    return both


_halve = _by_power(a.ISHR, lambda n: n.bit_length() - 1)
_times = _neutral(right=(1,), left=(1,), zero=(0,))
_and = _neutral(zero=(0,), same="x", right=(-1,), left=(-1,))
_or = _neutral(right=(0,), left=(0,), same="x")

RULES: dict[Op, Callable] = {
    a.IADD: _plus, a.IADD_CK: _plus_zero, a.ISUB: _minus, a.ISUB_CK: _minus_zero, a.IMUL: _times, a.IMUL_CK: _times,
    a.IAND: _and, a.IOR: _or, a.IXOR: _neutral(right=(0,), left=(0,), same=0),
    a.ISHL: _neutral(right=(0,)), a.ISHR: _neutral(right=(0,)), a.ISHL_CK: _neutral(right=(0,)),
    a.IFLOORDIV: _halve, a.IFLOORDIV_CK: _halve, a.IMOD: _by_power(a.IAND, lambda n: n - 1),
    a.INEG: _twice(a.INEG), a.INOT: _twice(a.INOT), a.FNEG: _twice(a.FNEG),
    a.IEQ: _ordered(_equal(True)), a.INE: _ordered(_equal(False)),
    a.ILT: _ordered(_same(False)), a.IGT: _ordered(_same(False)), a.ILE: _ordered(_same(True)),
    a.IGE: _ordered(_same(True)), a.FADD: _float_neutral(-0.0, both=True), a.FSUB: _float_neutral(0.0, both=False),
    a.FMUL: _float_neutral(1.0, both=True), a.FDIV: _float_neutral(1.0, both=False),
    a.BAND: _neutral(right=(True,), left=(True,), zero=(False,), same="x"),
    a.BOR: _neutral(right=(False,), left=(False,), zero=(True,), same="x"),
    a.BXOR: _bxor, a.BNOT: _bnot,
    s.DISCARD: lambda facts, inst: facts.constant(k.NoneType, None),
    a.CAST: _unchanged_type, a.CHECK_NONZERO: _check_nonzero,
    a.REAL: _project({a.COMPLEX_MAKE}, lambda inst, made: 0), a.IMAG: _project({a.COMPLEX_MAKE}, lambda inst, made: 1),
    s.RETYPE: _retype, s.SELECT: _select,
    s.TUPLE_GET: _tuple_get, s.TUPLE_AT: _tuple_at, s.STRUCT_GET: _project({s.STRUCT_MAKE, s.PACK}, _member),
    s.SLICE_GET: _slice_get, s.RANGE_GET: _project({s.RANGE_MAKE}, _member),
    s.CAPTURE_GET: _project({s.FUNCTION_MAKE}, lambda inst, made: inst.attrs["index"]),
    s.METHOD_SELF: _project({s.METHOD_MAKE}, lambda inst, made: 0),
    s.UNION_IS: _union_is, s.UNION_GET: _union_get, s.UNION_CAST: _union_cast,
    s.DUAL_WIDE: _project({s.DUAL_MAKE}, lambda inst, made: 0),
    s.DUAL_IS_NARROW: _project({s.DUAL_MAKE}, lambda inst, made: 1),
    s.TUPLE_MAKE: _rebuilt(s.TUPLE_GET, "index"), s.STRUCT_MAKE: _rebuilt(s.STRUCT_GET, "field"),
    s.PACK: _rebuilt(s.STRUCT_GET, "field"),
    BROADCAST: _broadcast, m.ARRAY_DIM: _array_dim, m.ARRAY_STRIDE: _array_stride,
    m.ARRAY_STEP: _array_step, m.CHECK_INDEX: _check_index,
}
