"""`intrinsic` of numba.extending: functions whose LLVM code is written with llvmlite's builder.

Arguments are numbers, pointers or arrays; results are numbers, pointers or None. Of the objects that Numba passes to
such code besides the builder, the parts that concern these types are here: `context.get_constant`, `cast`,
`get_value_type`, `make_array` and the like.
"""
from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from llvmlite import ir

from ..infer.constants import constant
from ..infer.meaning import Apply, Mismatch
from ..lib.build import cast
from ..lib.py.declared import python_number
from ..lib.py.foreign import PointerType, address_of, memory_of, pointer_at
from ..ops.foreign import LLVM_CALL
from ..ops.memory import ARRAY_DATA, ARRAY_DIM, ARRAY_STRIDE
from ..types import kinds
from . import errors, types

__all__ = ["Context", "meaning"]

_FLOATS = {16: ir.HalfType(), 32: ir.FloatType(), 64: ir.DoubleType()}
_POINTER = ir.IntType(8).as_pointer()


class Context:
    """The compiler's interface for code that generates LLVM IR."""

    address_size = 64

    def get_value_type(self, t) -> ir.Type:
        """The LLVM type of values of a type."""
        t = types.unliteral(t)
        if isinstance(t, types.Boolean):
            return ir.IntType(1)
        if isinstance(t, types.Integer):
            return ir.IntType(t.bitwidth)
        if isinstance(t, types.Float):
            return _FLOATS[t.bitwidth]
        if isinstance(t, (types.CPointer, types.RawPointer)):
            return _POINTER
        if isinstance(t, types.NoneType):
            return ir.VoidType()
        raise errors.TypingError(f"an intrinsic cannot take or return a value of type {t}: only numbers and pointers")

    get_argument_type = get_return_type = get_value_type

    def get_data_type(self, t) -> ir.Type:
        """The LLVM type of values in memory."""
        found = self.get_value_type(t)
        return ir.IntType(8) if found == ir.IntType(1) else found

    @staticmethod
    def make_array(t):
        """A function that returns the structure of an array, of which the operand already is the structure."""
        return lambda context, builder, value=None: value

    def get_constant(self, t, value) -> ir.Constant:
        return ir.Constant(self.get_value_type(t), value)

    get_constant_generic = staticmethod(lambda builder, t, value: Context().get_constant(t, value))

    def get_constant_null(self, t) -> ir.Constant:
        return ir.Constant(self.get_value_type(t), None)

    def get_dummy_value(self):
        return ir.Constant(_POINTER, None)

    def get_dummy_type(self):
        return _POINTER

    def get_abi_sizeof(self, t: ir.Type) -> int:
        return getattr(t, "width", 64) // 8 if not isinstance(t, (ir.FloatType, ir.DoubleType)) else (
            4 if isinstance(t, ir.FloatType) else 8)

    def cast(self, builder, value, given, wanted):
        """A number of the type `given` converted to the type `wanted`."""
        given, wanted = types.unliteral(given), types.unliteral(wanted)
        if given == wanted:
            return value
        to = self.get_value_type(wanted)
        whole, whole_wanted = (isinstance(t, (types.Integer, types.Boolean)) for t in (given, wanted))
        signed = isinstance(given, types.Integer) and given.signed
        if isinstance(wanted, types.Boolean):
            zero = ir.Constant(value.type, 0)
            return builder.icmp_unsigned("!=", value, zero) if whole else builder.fcmp_unordered("!=", value, zero)
        if whole and whole_wanted:
            if value.type.width >= to.width:
                return builder.trunc(value, to) if value.type.width > to.width else value
            return builder.sext(value, to) if signed else builder.zext(value, to)
        if whole:
            return builder.sitofp(value, to) if signed else builder.uitofp(value, to)
        if whole_wanted:
            return builder.fptosi(value, to) if wanted.signed else builder.fptoui(value, to)
        if given.bitwidth == wanted.bitwidth:
            return value
        return builder.fptrunc(value, to) if given.bitwidth > wanted.bitwidth else builder.fpext(value, to)


def meaning(args, given, function):
    """The call of the code that `function` generates for these operands. given: their Numba types."""
    found = function(Context(), *given)
    if found is None:
        raise Mismatch(f"{function.__name__}() does not accept ({', '.join(map(str, given))})")
    signature, codegen = found
    if isinstance(signature, types.Type) or not hasattr(signature, "return_type"):
        signature = types.Signature(signature, *given)
    parameters = [types.unliteral(t) for t in signature.args]
    if len(parameters) != len(args):
        raise Mismatch(f"the intrinsic {function.__name__}() has a signature with {len(parameters)} arguments, but is "
                       f"called with {len(args)}")
    result = types.unliteral(signature.return_type)
    made = _written(function.__name__, parameters, result, codegen, types.Signature(result, *parameters))
    if isinstance(made, _Memory):
        length = args[made.count] if made.operand else constant(made.count)
        return memory_of(length, result.type)
    text, declarations = made
    operands = []
    for x, t in zip(args, parameters):
        if isinstance(t, _OF_THE_COMPILER):
            continue
        if isinstance(t, types.Array):
            operands += _parts(x, t)
            continue
        wanted = t.type
        if isinstance(wanted, PointerType):
            x, wanted = address_of(x), kinds.uint64
        if not kinds.is_number(x.type):
            raise Mismatch(f"an intrinsic takes numbers and pointers, not a value of type {x.type}")
        operands.append(cast(x, wanted if wanted is not kinds.Int else kinds.int64))
    t = result.type
    made = Apply(LLVM_CALL, *operands, text=text, declarations=declarations,
                 result=kinds.uint64 if isinstance(t, PointerType) else t)
    if isinstance(t, PointerType):
        return pointer_at(made, t)
    # Short integers would wrap in computations with the result; in Numba these are int64.
    if kinds.is_number(t) and (not kinds.is_float(t) or t is kinds.float64):
        return cast(made, python_number(t))
    return made


class ArrayStruct:
    """The structure of an array: LLVM values for its address, lengths and strides."""

    def __init__(self, t, data, lengths, context):
        self.data, self.shape, self.strides = data, tuple(lengths[:t.ndim]), tuple(lengths[t.ndim:])
        self.itemsize = ir.Constant(ir.IntType(64), context.get_abi_sizeof(context.get_data_type(t.dtype)))

    def _getvalue(self):
        return self


def _parts(x, t) -> list:
    """The operands for an array: its address, lengths and strides."""
    if not isinstance(x.type, kinds.Array) or (x.type.dtype, x.type.ndim) != (t.dtype.type, t.ndim):
        raise Mismatch(f"an argument of an intrinsic is {t}, not a value of type {x.type}")
    return [Apply(ARRAY_DATA, x), *(Apply(ARRAY_DIM, x, axis=n) for n in range(t.ndim)),
            *(Apply(ARRAY_STRIDE, x, axis=n) for n in range(t.ndim))]


# Types of arguments that choose the code, and are no values of it.
_OF_THE_COMPILER = (types.NumberClass, types.TypeRef, types.DType, types.NoneType, types.Function)


class _Memory(NamedTuple):
    """The memory that an intrinsic allocates in the frame, if it does nothing else. count: the number of items, or the
    position of the operand with this number."""

    count: int
    operand: bool


def _allocated(function, value, passed) -> _Memory | None:
    """The memory whose address the code returns. It would be gone when the function of the intrinsic has returned.
    passed: the positions of the function's parameters among the operands."""
    made = [x for block in function.blocks for x in block.instructions if isinstance(x, ir.instructions.AllocaInstr)]
    if not made or not isinstance(value.type, ir.PointerType):
        return None
    if value is not made[0] or sum(len(block.instructions) for block in function.blocks) != 1:
        raise Mismatch("an intrinsic that returns a pointer to memory of its frame does nothing else",
                       "fill the memory outside, through carray()")
    count = made[0].operands[0] if made[0].operands else ir.Constant(ir.IntType(64), 1)
    if isinstance(count, ir.Constant):
        return _Memory(count.constant, False)
    return _Memory(passed[list(function.args).index(count)], True)


def _written(name: str, parameters, result, codegen, signature) -> tuple[str, tuple[str, ...]] | _Memory:
    """(definition, declarations of its callees) of a function whose body `codegen` generates. Pointers are passed and
    returned as integers."""
    context, module = Context(), ir.Module("intrinsic")
    # the position of the argument, the LLVM type of each operand for it
    passed, wanted = [], []
    for k, t in enumerate(parameters):
        if isinstance(t, types.Array):
            found = [context.get_data_type(t.dtype).as_pointer()] + [ir.IntType(64)] * (2 * t.ndim)
        else:
            found = [] if isinstance(t, _OF_THE_COMPILER) else [context.get_value_type(t)]
        passed += [k] * len(found)
        wanted += found
    returned = context.get_value_type(result)
    function = ir.Function(module, ir.FunctionType(_passed(returned), map(_passed, wanted)), "written")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    given = [[] for _ in parameters]
    for k, x, t in zip(passed, function.args, wanted):
        given[k].append(builder.inttoptr(x, t) if x.type != t else x)
    operands = [ArrayStruct(t, found[0], found[1:], context) if isinstance(t, types.Array) else
                found[0] if found else context.get_dummy_value() for t, found in zip(parameters, given)]
    value = codegen(context, builder, signature, operands)
    memory = None if value is None else _allocated(function, value, passed)
    if memory is not None:
        return memory
    if not builder.block.is_terminated:
        if isinstance(result, types.NoneType):
            builder.ret_void()
        elif value is None:
            raise Mismatch(f"non-void function returns None: the code of {name}() has no value of type {result}")
        else:
            builder.ret(builder.ptrtoint(value, _passed(returned)) if returned.is_pointer else value)
    if any(isinstance(found, ir.GlobalVariable) for found in module.global_values):
        raise Mismatch(f"the intrinsic {name}() defines a global variable, which is not supported: pass the data as an "
                       f"argument")
    text = str(function)
    symbol = f"pyj_written_{hashlib.sha1(text.encode()).hexdigest()[:16]}"
    text = re.sub(r'@"written"', f"@{symbol}", text).replace("define ", "define internal ", 1)
    text = re.sub(r"(\)[^\n{]*)\n?\{", r"\1 alwaysinline {", text, count=1)
    declarations = tuple(_declaration(found) for found in module.functions if found is not function)
    return text, declarations


def _passed(t: ir.Type) -> ir.Type:
    """The type as which a value of this type is passed."""
    return ir.IntType(64) if t.is_pointer else t


def _declaration(function) -> str:
    parameters = ", ".join(str(t) for t in function.function_type.args)
    return f"declare {function.function_type.return_type} @{function.name}({parameters})"
