"""Operations that need not distinguish the two types of a dual (types/kinds.py).

A dual is a number that has a Python type on some paths and a wider type on others; its representation is a number of
the wider type and a flag. The most frequent case is `s = 0` before `s += a[i]`: every operation in the loop has equal
results for `0` and `0.0`, so it reads the wide value, and only the type of the final result depends on the flag. An
operation has one of three results:

    wide      the result has one type, and the wide values give it: `s + x` of a NumPy `x`, `s > x`, `bool(s)`,
              `a[i] = s`
    a dual    the result has Python's type where the operands have it, and the same value: `s * 0.5`, `s < 0.5` of
              Python's floats
    None      anything else: the operand is taken as a union, and each type has its own code
"""
from __future__ import annotations

import math

import numpy as np

from ..ops import arith, generic, structure
from ..types.kinds import (
    Array, Bool, Complex, Dual, Float, Function, FunctionObject, Int, NpBool, NpInt, Object, Singleton, Type,
    float64, is_complex, is_float, is_integer, is_number, is_python_number, union_of,
)
from ..types.lattice import fits, numpy_counterpart, promote, type_of_dtype
from .join import constant_as, join
from .meaning import Apply, Const, Expr, Mismatch, Operand

__all__ = ["as_one", "as_union", "displayed", "extreme", "keeps"]

_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>"))
_ORDER = frozenset(("<", "<=", "==", "!=", ">", ">="))
_MOVES = (generic.MAKE_CELL, generic.CELL_SET)  # cells hold duals
_OF_FLOATS = frozenset(f for name in (
    "sqrt cbrt exp exp2 expm1 log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
    "degrees radians isnan isinf "
    "isfinite fabs atan2 hypot copysign pow fmod").split() if (f := getattr(math, name, None)) is not None)
_CONVERSIONS = (float, bool, complex)


def as_union(x: Operand) -> Operand:
    """The operand; a dual as the union of its two types."""
    t = x.type
    if not isinstance(t, Dual):
        return x
    members = {t.narrow: t.low} if t.low is not None and t.low == t.high else None
    return Operand(x.index, union_of((t,)), x.value, members)


def keeps(inst, operands, is_program_function) -> bool:
    """Whether the instruction accepts duals without conversion: it moves values, or calls a function of the program."""
    if inst.op is generic.CALL:
        t = operands[0].type
        return t is Object or isinstance(t, (Function, FunctionObject)) or isinstance(t, Singleton) and (
            is_program_function(t.value) or getattr(t.value, "takes_duals", False) is True)
    return inst.op in _MOVES


def as_one(inst, operands, meaning) -> Expr | None:
    """One expression of the result for both types of each dual operand, or None where there is none.

    meaning: operands -> the expression of the instruction."""
    rule = _RULES.get(inst.op)
    answer = rule(inst, operands) if rule is not None else None
    if answer is None:
        return None
    try:
        found = meaning([_wide(x) for x in operands])
    except Mismatch:
        return None
    if isinstance(answer, Dual):
        flags = [Apply(structure.DUAL_IS_NARROW, x) for x in operands if isinstance(x.type, Dual)]
        flag = flags[0] if len(flags) == 1 else Apply(arith.BAND, *flags)
        return Apply(structure.DUAL_MAKE, found, flag, type=answer)
    return found


_MAKERS = (np.array, np.asarray, np.ascontiguousarray, np.asfortranarray)


def displayed(operands, reader):
    """The items of a tuple or list display, with duals replaced by their wide values where the instruction that reads
    the display treats both types alike: as an index in `a[i, k]`, as an element of the array in `np.array([x, s])`.

    reader: (operation of that instruction, position of the operand that is the display, the types of all operands)."""
    op, position, types = reader
    if position == 1 and op in (generic.GETITEM, generic.SETITEM):
        return [_wide(x) if isinstance(x.type, Dual) and _place(x.type) else x for x in operands]
    if position == 2 and op is generic.SETITEM and isinstance(types[0], Array):
        return [_wide(x) if isinstance(x.type, Dual) and _same_element(x.type, types[0].dtype) else x for x in operands]
    if op is generic.CALL and isinstance(types[0], Singleton) and any(types[0].value is f for f in _MAKERS):
        numbers = [x.type for x in operands if is_number(x.type)]
        return [_wide(x) if isinstance(x.type, Dual) and _one_dtype(x.type, numbers) else x for x in operands]
    return operands


def _one_dtype(t: Dual, others) -> bool:
    """Whether an array of the narrow number and others has the same dtype as one with the wide number."""
    narrow, wide = numpy_counterpart(t.narrow), numpy_counterpart(t.wide)
    for other in others:
        narrow, wide = promote(narrow, numpy_counterpart(other)), promote(wide, numpy_counterpart(other))
    return narrow is wide


def _same_element(value: Dual, t: Type) -> bool:
    """Whether both numbers become the same element of an array of `t`, or fail in the same way."""
    if is_complex(value.wide) and not is_complex(t):
        return False
    if isinstance(t, NpInt):
        return value.narrow is Int and (t is value.wide or value.low is not None and fits(value.low, t)
                                        and fits(value.high, t))
    return is_float(t) or is_complex(t) and not is_complex(value.narrow)


def extreme(inst, operands, library) -> Expr | None:
    """max(x, y) and min(x, y) of duals, without a branch; None for any other call."""
    callee, *args = operands
    target = callee.type.value if isinstance(callee.type, Singleton) else None
    if not (target is max or target is min) or len(args) != 2 or inst.attrs.get("kwnames"):
        return None
    t = join((args[0].type, args[0].value), (args[1].type, args[1].value))[0]
    if not isinstance(t, Dual) or not _is_ordered(t):
        return None
    first, second = _parts(args[0], t), _parts(args[1], t)
    if first is None or second is None:
        return None
    (x, x_is_narrow), (y, y_is_narrow) = first, second
    better = library.truth(library.compare("<" if target is min else ">", y, x))
    return Apply(structure.DUAL_MAKE, Apply(structure.SELECT, better, y, x),
                 Apply(structure.SELECT, better, y_is_narrow, x_is_narrow), type=t)


def _is_ordered(t: Dual) -> bool:
    """Whether a comparison of wide values has the same result as a comparison of the numbers in their own types."""
    return not is_complex(t.wide) and (is_python_number(t.wide) or t.wide is float64 or _place(t))


def _parts(x: Operand, t: Dual):
    """(the wide value, whether the number has the narrow type) of an operand of type `t` or one of its two types; None
    for other operands."""
    if isinstance(x.type, Dual):
        return Apply(structure.DUAL_WIDE, x), Apply(structure.DUAL_IS_NARROW, x)
    if x.type is t.wide:
        return x, Const(Bool, False)
    if x.type is not t.narrow:
        return None
    wide = Const(t.wide, constant_as(x.value, t.wide)) if x.known else Apply(arith.CAST, x, type=t.wide)
    return wide, Const(Bool, True)


def _wide(x: Operand) -> Operand:
    return Operand(x.index, x.type.wide) if isinstance(x.type, Dual) else x


def _number(t: Type) -> Type | None:
    """The number type of arithmetic with a `t`: its own, or an array's element type; None for anything else."""
    t = t.dtype if isinstance(t, Array) else t
    return t if is_number(t) else None


def _binary(inst, operands):
    op = inst.attrs["op"]
    x, y = operands
    if op not in _ARITHMETIC:
        return None
    if isinstance(x.type, Dual) and isinstance(y.type, Dual):
        return x.type if _alike(x.type, y.type) and _floats(x.type) and op in "+-*" else None
    d, other = (x, y) if isinstance(x.type, Dual) else (y, x)
    t, narrow, wide = _number(other.type), d.type.narrow, d.type.wide
    if t is None:
        return None
    if not is_python_number(t):
        return "wide" if promote(narrow, t) is promote(wide, t) else None
    if wide is Float or wide is Complex:  # Python's own promotion converts the narrow number first
        return "wide" if t is Float and wide is Float or t is Complex and op in "+-*/" else None
    if wide is not float64 or not (t is Float or narrow is Float and is_integer(t)):
        return None
    safe = op in "+-*" or op == "/" and d is x and other.known and other.value != 0
    return Dual(Float, float64) if safe else None


def _alike(s: Dual, t: Dual) -> bool:
    return s.narrow is t.narrow and s.wide is t.wide


def _floats(t: Dual) -> bool:
    return t.narrow is Float and t.wide is float64


def _compare(inst, operands):
    if inst.attrs["op"] not in _ORDER:
        return None
    x, y = operands
    if isinstance(x.type, Dual) and isinstance(y.type, Dual):
        if not _alike(x.type, y.type) or is_complex(x.type.wide):
            return None
        return "wide" if is_python_number(x.type.wide) else Dual(Bool,
            NpBool) if _floats(x.type) or isinstance(x.type.wide, NpInt) else None
    d, other = (x, y) if isinstance(x.type, Dual) else (y, x)
    t, narrow, wide = _number(other.type), d.type.narrow, d.type.wide
    if t is None:
        return None
    if not is_python_number(t):
        exact = narrow is Int and isinstance(wide, NpInt) and isinstance(t, NpInt)
        return "wide" if exact or promote(narrow, t) is promote(wide, t) else None
    if is_complex(wide) or is_complex(t):
        return None
    if wide is Float:
        return "wide"
    if wide is float64 and (t is Float or t is Int and other.known and abs(other.value) <= 1 << 53):
        return Dual(Bool, NpBool)
    return Dual(Bool, NpBool) if isinstance(wide, NpInt) and t is Int else None


def _unary(inst, operands):
    op, t = inst.attrs["op"], operands[0].type
    if op == "not":
        return "wide"
    return t if op in ("-", "+") and _floats(t) else None


def _stored(inst, operands):
    """The store `a[i] = x`: the element has the array's type, and an index is the same in both types."""
    container, index, value = (x.type for x in operands)
    if not isinstance(container, Array) or isinstance(index, Dual) and not _place(index):
        return None
    return "wide" if not isinstance(value, Dual) or _same_element(value, container.dtype) else None


def _loaded(inst, operands):
    index = operands[1].type
    return "wide" if isinstance(index, Dual) and _place(index) else None


def _place(t: Dual) -> bool:
    return t.narrow is Int and isinstance(t.wide, NpInt)


def _called(inst, operands):
    """Functions that first convert their arguments to floats or ints: ufuncs, `float(s)`, `range(n)`."""
    callee, *args = operands
    target = callee.type.value if isinstance(callee.type, Singleton) else None
    if target is None or inst.attrs.get("kwnames"):
        return None
    duals = [x.type for x in args if isinstance(x.type, Dual)]
    try:
        if target in _OF_FLOATS or target in _CONVERSIONS and len(args) == 1:
            return "wide" if not any(is_complex(t.wide) for t in duals) or target in (bool, complex) else None
        if target is int and len(args) == 1:
            return "wide" if is_float(duals[0].wide) or isinstance(duals[0].wide, NpInt) else None
        if isinstance(target, type) and issubclass(target, np.number) and len(args) == 1:
            t = type_of_dtype(np.dtype(target))
            return "wide" if t is not None and _same_element(duals[0], t) else None
        if target is range:
            return "wide" if all(map(_place, duals)) else None
    except TypeError:  # the callee cannot be hashed
        return None
    if isinstance(target, np.ufunc) and target.nin == len(args) == 2 and len(duals) == 1:
        d, other = (args[0], args[1]) if isinstance(args[0].type, Dual) else (args[1], args[0])
        t = _number(other.type)
        if t is not None and not is_python_number(t) and target not in (np.power, np.float_power, np.ldexp):
            return "wide" if promote(d.type.narrow, t) is promote(d.type.wide, t) else None
    if isinstance(target, np.ufunc) and target.nin == len(args) == 1:
        return "wide" if _floats(duals[0]) else None
    return None


_RULES = {
    generic.BINARY: _binary, generic.INPLACE: _binary, generic.COMPARE: _compare, generic.UNARY: _unary,
    generic.TRUTH: lambda inst, operands: "wide", generic.SETITEM: _stored, generic.GETITEM: _loaded,
    generic.CALL: _called,
}
