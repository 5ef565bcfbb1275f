"""Compiles single operations to native code and calls them: one function per operation and operand types."""
import ctypes

import numpy as np

from pyjitc.base.options import Options
from pyjitc.codegen import link, wrapper
from pyjitc.codegen.leaves import components
from pyjitc.codegen.function import FunctionEmitter
from pyjitc.codegen.module import Module
from pyjitc.ir.core import Block, Function, Inst, Value
from pyjitc.ops import arith, control
from pyjitc.runtime import loader
from pyjitc.types import kinds as k

_C = {"i64": ctypes.c_int64, "i32": ctypes.c_int32, "i16": ctypes.c_int16, "i8": ctypes.c_int8, "i1": ctypes.c_uint8,
      "double": ctypes.c_double, "float": ctypes.c_float}


def shell(t):
    """The type of a parameter or result: a half float is passed as a single one."""
    return k.float32 if t is k.float16 else t


_NATURAL: dict[Function, object] = {}  # the type of the operation's result, where the function returns another


def function(name, op, types, attrs):
    """(x...) -> op(x...), as a typed function."""
    block = Block("entry", [Value(shell(t)) for t in types])
    operands = []
    for param, t in zip(block.params, types):
        operands.append(_cast(block, param, t))
    result = Value(op.rule(tuple(types), attrs))
    block.insts.append(Inst(op, operands, dict(attrs), result))
    outer = _cast(block, result, shell(result.type))
    block.insts.append(Inst(control.RETURN, [outer]))
    fn = Function(name, library=True)
    fn.blocks, fn.result = [block], outer.type
    _NATURAL[fn] = result.type
    return fn


def _cast(block, value, t):
    if value.type is t:
        return value
    wide = Value(t)
    block.insts.append(Inst(arith.CAST, [value], {"type": t}, wide))
    return wide


def compile_all(functions):
    """Callables in the order of `functions`: arguments and results are Python numbers and NumPy scalars."""
    module = Module(Options())
    for number, fn in enumerate(functions):
        module.add(fn, FunctionEmitter(module, fn).run())
        wrapper.add_native(module, fn, f"native{number}")
    target = link.host_target()
    text = module.text(target)
    image = loader.load(link.to_object(text, target, 1), dict(module.objects))
    return [_callable(image, f"native{number}", fn) for number, fn in enumerate(functions)]


def _callable(image, symbol, fn):
    inputs = [(p.type, components(p.type)) for p in fn.params]
    outputs = components(fn.result)
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *[_C[c] for _, cs in inputs for c in cs])
    native = prototype(image.symbols[symbol] if hasattr(image, "symbols") else image[symbol])
    slots = (ctypes.c_int64 * len(outputs))()

    def call(*values):
        flat = [part for (t, _), v in zip(inputs, values) for part in parts(t, v)]
        status = native(ctypes.addressof(slots), *flat)  # raises where the error indicator is set
        assert status == 0
        got = [_C[c].from_buffer(slots, 8 * i).value for i, c in enumerate(outputs)]
        return whole(_NATURAL[fn], got)

    call.image = image
    return call


def parts(t, v):
    if k.is_complex(t):
        return [float(v.real), float(v.imag)]
    if k.is_float(t):
        return [float(v)]
    if t is k.Bool or t is k.bool_:
        return [int(v)]
    value = int(v)
    return [value]


def whole(t, got):
    if t in arith.PYTHON_CLASS:
        return arith.PYTHON_CLASS[t](*got)
    cls = arith.numpy_class(t)
    with np.errstate(all="ignore"):
        if k.is_complex(t):
            return cls(complex(*got))
        if isinstance(t, k.NpInt):
            return np.array(got[0]).astype(cls)[()] if t.bits < 64 else np.array(got[0], np.int64).astype(cls)[()]
        return cls(got[0])
