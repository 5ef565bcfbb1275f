"""Memory and functions of C that the program has the addresses of."""
from __future__ import annotations

import ctypes

import numpy as np

from ..ir.core import ELEMENTS, Op, PURE, reads, writes
from ..types.kinds import Bool, NpBool, NpInt, NoneType
from ..types.lattice import dtype_of
from .effects import NO_RULE, STRUCTURAL
from .memory import item_bytes

__all__ = ["FOREIGN_OPS"]


def _at_lower(e, inst, address, *shape):
    t, size = inst.attrs["type"], str(item_bytes(inst.attrs["type"].dtype))
    data, dims = e.assign(f"inttoptr i64 {address[0]} to ptr"), [x[0] for x in shape]
    strides, step = [""] * t.ndim, size
    for k in range(t.ndim) if t.layout == "F" else range(t.ndim - 1, -1, -1):
        strides[k] = step
        step = e.assign(f"mul i64 {step}, {dims[k]}")
    return [data, "null", *dims, *strides]


def _at(address, *shape, type):
    count = int(np.prod(shape, dtype=np.int64))
    memory = (ctypes.c_uint8 * (count * dtype_of(type.dtype).itemsize)).from_address(int(address))
    return np.frombuffer(memory, dtype_of(type.dtype)).reshape(shape, order="F" if type.layout == "F" else "C")


def _extended(t, c: str) -> str:
    """A parameter or a result in C, where short integers are extended."""
    if t is Bool or t is NpBool:
        return "i1 zeroext"
    if isinstance(t, NpInt) and t.bits < 32:
        return f"{c} {'signext' if t.signed else 'zeroext'}"
    return c


def _call_lower(e, inst, *operands):
    result = inst.attrs["result"]
    given = [f"{_extended(a.type, e.scalar(a.type))} {x[0]}" for a, x in zip(inst.args, operands)]
    function = e.assign(f"inttoptr i64 {inst.attrs['address']} to ptr")
    thread = e.release_lock() if inst.attrs["frees"] else None
    values = []
    if result is NoneType:
        e.line(f"call void {function}({', '.join(given)})")
    else:
        c = _extended(result, e.scalar(result))
        returned = " ".join(reversed(c.split()))  # attributes of a result stand before its type
        values = [e.assign(f"call {returned} {function}({', '.join(given)})")]
    e.take_lock(thread)
    return values


def _written_lower(e, inst, *operands):
    result, text = inst.attrs["result"], inst.attrs["text"]
    for declaration in (*inst.attrs["declarations"], text):
        e.declare(declaration)
    symbol = text[text.index("@pyj_written_"):text.index("(", text.index("@pyj_written_"))]
    given = ", ".join(f"{e.scalar(a.type)} {x[0]}" for a, x in zip(inst.args, operands))
    if result is NoneType:
        e.line(f"call void {symbol}({given})")
        return []
    return [e.assign(f"call {e.scalar(result)} {symbol}({given})")]


def _call(*operands, address, result, frees):
    types = [np.ctypeslib.as_ctypes_type(np.asarray(x).dtype) for x in operands]
    answer = None if result is NoneType else np.ctypeslib.as_ctypes_type(dtype_of(result))
    found = ctypes.CFUNCTYPE(answer, *types)(address)(*operands)
    return None if result is NoneType else dtype_of(result).type(found)


ARRAY_AT = Op("array_at", lambda types, attrs: attrs["type"], PURE, lower=_at_lower, partials=STRUCTURAL, eval=_at,
              eval_attrs=True, doc="array of {type} on memory that nobody here owns: (address, shape...)")
C_CALL = Op("c_call", lambda types, attrs: attrs["result"], reads(ELEMENTS) | writes(ELEMENTS), lower=_call_lower,
            partials=NO_RULE, eval=_call, eval_attrs=True,
            doc="the C function at {address}; {result}: its type; {frees}: without the interpreter lock")
LLVM_CALL = Op("llvm_call", lambda types, attrs: attrs["result"], reads(ELEMENTS) | writes(ELEMENTS),
               lower=_written_lower, partials=NO_RULE, eval=None, eval_attrs=True,
               doc="the function that {text} defines in LLVM; {declarations}: what it calls; {result}: its type")
FOREIGN_OPS = {op.name: op for op in (ARRAY_AT, C_CALL, LLVM_CALL)}
