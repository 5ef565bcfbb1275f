"""Builder of the instructions of derivatives, and of the errors where there is no derivative."""
from __future__ import annotations

from typing import Any

from ...base.errors import Diagnostic, UnsupportedError
from ...ir.core import NOWHERE, RAISES, READS, WRITES, Edge, Function, Inst, Op, Value
from ...ops import arith as a
from ...ops import math as m
from ...ops import structure as s
from ...ops.control import CONST, INVOKE, SWITCH
from ...ops.table import OPS
from ...types import kinds as k
from ...types.lattice import dtype_of
from ..rewrite import Appender

__all__ = ["Builder", "refused"]


class Builder(Appender):
    """Appends instructions, whose types follow from the rules of their operations. The rules of derivatives
    (`partials`) call it: an operation by its name, and `const`. It simplifies sums and products with 0, 1 and -1, so
    that the rules need not treat these cases."""

    def __init__(self, insts: list[Inst], like: Inst | None = None, t=k.Float):
        super().__init__(insts, NOWHERE)
        self.t = t  # type of constants
        self.known: dict[Value, float] = {}
        self.at(like)

    def at(self, like: Inst | None) -> None:
        """Give the instructions that are added from here on the source location of `like`."""
        self.loc = like.loc if like is not None else NOWHERE
        self.notes = {name: like.attrs[name] for name in ("origin", "outer") if like is not None and name in like.attrs}

    def op(self, op: Op, *args: Value, type=None, **attrs) -> Any:
        if type is not None and "type" in op.attrs:
            attrs["type"] = type
        elif type is None:
            assert op.rule is not None
            type = op.rule(tuple([x.type for x in args]), attrs)
        return self.add(Inst(op, args, {**attrs, **self.notes}, Value(type) if type is not None else None, self.loc))

    def again(self, inst: Inst, args, type=None, **attrs) -> Any:
        """Add the same operation on other operands, which have the types of its own operands. type: that of the result,
        where it is another one."""
        if type is not None and "type" in inst.attrs:
            attrs["type"] = type
        return self.add(Inst(inst.op, args, {**inst.attrs, **attrs},
                             Value(type or inst.result.type) if inst.result is not None else None, inst.loc))

    def const(self, value, t=None) -> Value:
        t = t or self.t
        if isinstance(t, k.NpFloat):
            value = dtype_of(t).type(value)
        elif k.is_complex(t):
            value = complex(value) if t is k.Complex else dtype_of(t).type(value)
        made = self.op(CONST, type=t, value=value)
        if not k.is_complex(t):
            self.known[made] = float(value)
        return made

    def zero(self, t) -> Value:
        return self.const(0.0, t)

    def call(self, callee: Function, *args: Value) -> Any:
        """Add a call. If there are more arguments than parameters, leave out those whose types have only one value:
        these are constants in the callee."""
        given = list(args)
        if len(given) > len(callee.params):
            given = [x for x in args if x.type is not k.NoneType and not isinstance(x.type, k.Singleton)]
        return self.op(INVOKE, *given, type=callee.result, callee=callee)

    def jump_by_number(self, number: Value, ways: list[Edge]) -> None:
        """End the block with a switch on `number` to one of two or more edges."""
        if len(ways) == 2:
            self.branch(self.op(a.IEQ, number, self.const(0, k.Int)), *ways)
        else:
            self.add(Inst(SWITCH, [number], {"cases": tuple(range(1, len(ways)))}, None, self.loc, ways))

    def fmul(self, x: Value, y: Value) -> Value:
        for p, q in ((x, y), (y, x)):
            factor = self.known.get(p)
            if factor == 1.0:
                return q
            if factor == -1.0:
                return self.op(a.FNEG, q)
        if k.is_complex(x.type):
            (p, q), (r, t) = self.parts(x), self.parts(y)
            return self.op(a.COMPLEX_MAKE, self.op(a.FSUB, self.op(a.FMUL, p, r), self.op(a.FMUL, q, t)),
                           self.op(a.FADD, self.op(a.FMUL, p, t), self.op(a.FMUL, q, r)))
        return self.op(a.FMUL, x, y)

    def guarded_product(self, x: Value, y: Value) -> Value:
        """x * y, and 0 where y is 0, although x may be infinite or NaN there. Its derivative is that of a product, also
        where y is 0 and its change is not: see `guarded_factors`."""
        return self.op(s.SELECT, self.is_zero(y), self.zero(y.type), self.fmul(x, y), guard=True)

    def fneg(self, x: Value) -> Value:
        if k.is_complex(x.type):
            return self.op(a.COMPLEX_MAKE, *(self.op(a.FNEG, part) for part in self.parts(x)))
        return self.const(-self.known[x]) if x in self.known else self.op(a.FNEG, x)

    def fadd(self, x: Value, y: Value) -> Value:
        return self.by_parts(a.FADD, x, y)

    def fsub(self, x: Value, y: Value) -> Value:
        return self.by_parts(a.FSUB, x, y)

    def fdiv(self, x: Value, y: Value) -> Value:
        """x / y; of complex numbers the divisor is scaled by its larger part, so that its square does not overflow."""
        if not k.is_complex(x.type):
            return self.op(a.FDIV, x, y)
        p, q = self.parts(y)
        larger = self.op(m.FABS, p), self.op(m.FABS, q)
        scale = self.op(s.SELECT, self.op(a.FGT, *larger), *larger)
        p, q = self.op(a.FDIV, p, scale), self.op(a.FDIV, q, scale)
        size = self.op(a.FADD, self.op(a.FMUL, p, p), self.op(a.FMUL, q, q))
        size = self.op(a.FMUL, size, scale)
        inverse = self.op(a.COMPLEX_MAKE, self.op(a.FDIV, p, size), self.op(a.FNEG, self.op(a.FDIV, q, size)))
        return self.fmul(x, inverse)

    # -- complex numbers

    def by_parts(self, op: Op, x: Value, y: Value) -> Value:
        """An operation that treats the real and the imaginary part alike."""
        if not k.is_complex(x.type):
            return self.op(op, x, y)
        return self.op(a.COMPLEX_MAKE, *(self.op(op, *pair) for pair in zip(self.parts(x), self.parts(y))))

    def parts(self, x: Value) -> tuple[Value, Value]:
        return self.op(a.REAL, x), self.op(a.IMAG, x)

    def conjugate(self, x: Value) -> Value:
        """The complex conjugate of a number; a float itself."""
        if not k.is_complex(x.type):
            return x
        real, imaginary = self.parts(x)
        return self.op(a.COMPLEX_MAKE, real, self.op(a.FNEG, imaginary))

    def is_zero(self, x: Value) -> Value:
        if not k.is_complex(x.type):
            return self.op(a.FEQ, x, self.zero(x.type))
        real, imaginary = self.parts(x)
        zero = self.zero(real.type)
        return self.op(a.BAND, self.op(a.FEQ, real, zero), self.op(a.FEQ, imaginary, zero))

    def cast(self, x: Value, t) -> Value:
        return x if x.type is t else self.op(a.CAST, x, type=t)

    def __getattr__(self, name):
        op = OPS[name]
        return lambda *args: self.op(op, *args)


def _origin(fn: Function, inst: Inst) -> tuple:
    """(name, file) of the function from which an instruction was inlined; (None, None) for an instruction of the
    function itself. Only instructions that may fail record it: any other one gets the origin of the nearest of these
    that has the same line."""
    known = inst.attrs.get("origin")
    if known is None:
        at, found = 0, []
        for n, one in enumerate(one for block in fn.blocks for one in block.insts):
            if one is inst:
                at = n
            origin = one.attrs.get("origin")
            if one.loc.line == inst.loc.line and (
                    origin or not fn.library and one.op.effects & (RAISES | READS | WRITES)):
                found.append((n, origin))
        known = min(found, key=lambda pair: abs(pair[0] - at))[1] if found else None
    return known or (None, None)


def refused(fn: Function, inst: Inst | None, message: str, hint: str = "") -> UnsupportedError:
    """The exception to raise where there is no derivative."""
    qualname, filename = _origin(fn, inst) if inst is not None else (None, None)
    loc = inst.loc if inst is not None and inst.loc.line else None
    place = tuple(loc) if loc is not None else (fn.firstlineno, 0, -1, -1)
    return UnsupportedError(Diagnostic(message, filename or fn.filename, *place, function=qualname or fn.qualname,
                                       hint=hint))
