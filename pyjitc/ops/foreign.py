"""Memory and functions of C whose addresses the program has."""
from __future__ import annotations

import ctypes
import functools

import numpy as np

from ..base.lazy import lazy
from ..ir.core import ELEMENTS, Op, PURE, reads, writes
from ..types.kinds import NoneType
from ..types.lattice import dtype_of
from .effects import NO_RULE, STRUCTURAL
from .lowering import extended
from .memory import item_bytes

binding = lazy("llvmlite.binding")  # for the interpreter of the IR, to call code written in LLVM

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


def _call_lower(e, inst, *operands):
    result = inst.attrs["result"]
    given = [f"{extended(a.type, e.scalar(a.type))} {x[0]}" for a, x in zip(inst.args, operands)]
    function = e.assign(f"inttoptr i64 {inst.attrs['address']} to ptr")
    thread = e.release_lock() if inst.attrs["frees"] else None
    values = []
    if result is NoneType:
        e.line(f"call void {function}({', '.join(given)})")
    else:
        c = extended(result, e.scalar(result))
        returned = " ".join(reversed(c.split()))  # attributes of a result precede its type
        values = [e.assign(f"call {returned} {function}({', '.join(given)})")]
    e.take_lock(thread)
    return values


def _written_lower(e, inst, *operands):
    result, text = inst.attrs["result"], inst.attrs["text"]
    for declaration in (*inst.attrs["declarations"], text):
        e.declare(declaration)
    given = ", ".join(f"{e.scalar(a.type)} {x[0]}" for a, x in zip(inst.args, operands))
    if result is NoneType:
        e.line(f"call void {_symbol(text)}({given})")
        return []
    return [e.assign(f"call {e.scalar(result)} {_symbol(text)}({given})")]


def _symbol(text: str) -> str:
    start = text.index("@pyj_written_")
    return text[start:text.index("(", start)]


_SLOT = 16  # the bytes of an operand or the result in the memory that `_callable` accesses
_DTYPES = {"i1": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "half": np.float16,
           "float": np.float32, "double": np.float64}


@functools.lru_cache(maxsize=64)
def _callable(text: str, declarations: tuple[str, ...]):
    """(the engine that owns the code, C function, types of the operands): the function of `text`, wrapped in one that
    takes the address of a row of slots: first the operands, then the result."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    parsed = binding.parse_assembly("\n".join((*declarations, text)))
    function = parsed.get_function(_symbol(text)[1:])
    types = [str(argument.type) for argument in function.arguments]
    result = str(function.global_value_type).partition(" ")[0]
    lines, given = [], []
    for k, t in enumerate(types):
        lines.append(f"%p{k} = getelementptr i8, ptr %slots, i64 {_SLOT * k}")
        lines.append(f"%x{k} = load {t}, ptr %p{k}")
        given.append(f"{t} %x{k}")
    call = f"call {result} {_symbol(text)}({', '.join(given)})"
    if result == "void":
        lines.append(call)
    else:
        lines += [f"%found = {call}", f"%out = getelementptr i8, ptr %slots, i64 {_SLOT * len(types)}",
                  f"store {result} %found, ptr %out"]
    entry = "define void @entry(ptr %slots) {\n" + "\n".join((*lines, "ret void")) + "\n}"
    module = binding.parse_assembly("\n".join((*declarations, text, entry)))
    engine = binding.create_mcjit_compiler(module, binding.Target.from_default_triple().create_target_machine())
    engine.finalize_object()
    return engine, ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address("entry")), types


def _written(*operands, text, declarations, result):
    _, function, types = _callable(text, declarations)
    slots: np.ndarray = np.zeros((len(types) + 1, _SLOT), np.uint8)
    for slot, t, x in zip(slots, types, operands):
        dtype = np.dtype(_DTYPES[t])
        slot[:dtype.itemsize].view(dtype)[0] = np.asarray(x).astype(dtype)
    function(slots.ctypes.data)
    if result is NoneType:
        return None
    dtype = dtype_of(result)
    return slots[-1, :dtype.itemsize].view(dtype)[0]


def _call(*operands, address, result, frees):
    types = [np.ctypeslib.as_ctypes_type(np.asarray(x).dtype) for x in operands]
    answer = None if result is NoneType else np.ctypeslib.as_ctypes_type(dtype_of(result))
    found = ctypes.CFUNCTYPE(answer, *types)(address)(*operands)
    return None if result is NoneType else dtype_of(result).type(found)


ARRAY_AT = Op("array_at", lambda types, attrs: attrs["type"], PURE, lower=_at_lower, partials=STRUCTURAL, eval=_at,
              eval_attrs=True, doc="an array of {type} on foreign memory, which it does not own: (address, shape...)")
C_CALL = Op("c_call", lambda types, attrs: attrs["result"], reads(ELEMENTS) | writes(ELEMENTS), lower=_call_lower,
            partials=NO_RULE, eval=_call, eval_attrs=True,
            doc="call the C function at {address}; {result}: its result type; {frees}: without the interpreter lock")
LLVM_CALL = Op("llvm_call", lambda types, attrs: attrs["result"], reads(ELEMENTS) | writes(ELEMENTS),
               lower=_written_lower, partials=NO_RULE, eval=_written, eval_attrs=True,
               doc="call the function that {text} defines in LLVM IR; {declarations}: the functions that it calls; "
                   "{result}: its result type")
FOREIGN_OPS = {op.name: op for op in (ARRAY_AT, C_CALL, LLVM_CALL)}
