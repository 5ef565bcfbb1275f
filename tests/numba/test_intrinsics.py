"""Functions that write LLVM code with llvmlite's builder, and the functions that register the parts of types."""
import math

import numpy as np
import pytest
from llvmlite import ir
from tests.ir.stages import optimised, typed

from pyjitc import TypingError, njit, numba
from pyjitc.ir import interp
from pyjitc.numba import types
from pyjitc.numba.core import cgutils
from pyjitc.numba.extending import (
    box, get_cython_function_address, intrinsic, make_attribute_wrapper, models, overload, overload_attribute,
    overload_method, register_model, typeof_impl, unbox,
)


@intrinsic
def ones(typingctx, x):
    """How many bits are set."""
    if not isinstance(x, types.Integer):
        return None

    def codegen(context, builder, signature, args):
        t = args[0].type
        count = cgutils.get_or_insert_function(builder.module, ir.FunctionType(t, [t]), f"llvm.ctpop.{t}")
        return builder.call(count, args)

    return x(x), codegen


@intrinsic
def bits_of(typingctx, x):
    return types.int32(types.float32), lambda context, builder, signature, args: builder.bitcast(
        args[0], context.get_value_type(types.int32))


@intrinsic(prefer_literal=True)
def scaled(typingctx, x, factor):
    if not isinstance(factor, types.IntegerLiteral):
        return None

    def codegen(context, builder, signature, args):
        kept = cgutils.alloca_once_value(builder, args[0])
        by = context.get_constant(types.float64, float(factor.literal_value))
        with builder.if_then(builder.fcmp_ordered("<", args[0], by)):
            builder.store(builder.fmul(args[0], by), kept)
        return builder.load(kept)

    return types.float64(types.float64, types.int64), codegen


@intrinsic
def nothing(typingctx):
    return types.void(), lambda context, builder, signature, args: context.get_dummy_value()


def test_calls():
    @njit
    def f(a, x):
        total = 0
        for v in a:
            total += ones(v)
        return total, ones(a[0]), ones(255), bits_of(np.float32(x)), scaled(x, 3), scaled(10 * x, 3), nothing()

    assert f(np.arange(256, dtype=np.uint8), 1.5) == (1024, 0, 8, int(np.float32(1.5).view(np.int32)), 4.5, 15.0, None)
    assert ones.__doc__ == "How many bits are set."
    with pytest.raises(NotImplementedError, match="call it inside a function that njit compiles"):
        ones(3)


@intrinsic
def is_small(typingctx, x, address):
    """Whether x is less than the double at an address."""

    def codegen(context, builder, signature, args):
        pointer = builder.bitcast(args[1], ir.DoubleType().as_pointer())
        return builder.fcmp_ordered("<", args[0], builder.load(pointer))

    return types.boolean(types.float64, types.CPointer(types.float64)), codegen


@intrinsic
def after(typingctx, pointer):
    """The address of the next element."""
    return pointer(pointer), lambda context, builder, signature, args: builder.gep(
        builder.bitcast(args[0], ir.DoubleType().as_pointer()), [ir.IntType(64)(1)])


@intrinsic
def first_at(typingctx, address):
    return types.CPointer(types.float64)(types.voidptr), lambda context, builder, signature, args: args[0]


def in_llvm(x, n, address):
    limits = first_at(address)
    return (scaled(x, 3), ones(n), ones(np.uint8(n & 255)), bits_of(np.float32(x)), nothing(), is_small(x, limits),
            after(limits)[0])


@pytest.mark.parametrize("stage", [typed, optimised])
def test_the_interpreter_of_the_ir_calls_it(stage):
    limit = np.array([2.0, 7.0])
    for x, n in ((1.5, 255), (-0.0, -1), (2.5, 256)):
        args = (x, n, limit.ctypes.data)
        expected = (x * 3 if x < 3 else x, (n % 2 ** 64).bit_count(), (n & 255).bit_count(),
                    int(np.float32(x).view(np.int32)), None, x < 2, 7.0)
        found = njit(in_llvm)(*args)
        assert found == expected == interp.run(stage(in_llvm, args).functions, list(args))


def test_what_is_no_intrinsic():
    with pytest.raises(TypingError, match=r"ones\(\) does not accept \(float64\)"):
        njit(lambda x: ones(x))(2.5)
    with pytest.raises(TypingError, match="missing a required argument"):
        njit(lambda: ones())()
    with pytest.raises(TypingError, match="takes numbers and pointers"):
        njit(lambda x: bits_of(x))("a")


def test_a_class_that_is_registered():
    class Interval:
        def __init__(self, low, high):
            self.low, self.high = low, high

    class IntervalType(types.Type):
        def __init__(self):
            super().__init__("Interval")

    interval = IntervalType()

    @typeof_impl.register(Interval)
    def _(value, c):
        return interval

    @register_model(IntervalType)
    class IntervalModel(models.StructModel):
        pass

    for name in ("low", "high"):
        make_attribute_wrapper(IntervalType, name, name)

    @overload_attribute(IntervalType, "width")
    def _(x):
        return lambda x: x.high - x.low

    @box(IntervalType)
    @unbox(IntervalType)
    def _(typ, value, c):
        raise AssertionError

    @overload_method(IntervalType, "holds")
    def _(x, v):
        return lambda x, v: x.low <= v <= x.high

    def inside(x, v):
        raise NotImplementedError

    @overload(inside)
    def _(x, v):
        if isinstance(x, IntervalType):
            return lambda x, v: x.low <= v < x.high

    @njit
    def f(x):
        return x.width, inside(x, 2), x.holds(4), Interval(x.low, 5.0)

    *found, made = f(Interval(1.0, 3.0))
    assert (found, made.high, type(made)) == ([2.0, True, False], 5.0, Interval)


def test_functions_by_their_address():
    special = pytest.importorskip("scipy.special")
    address = get_cython_function_address("scipy.special.cython_special", "__pyx_fuse_1erfcx")

    class Function(types.WrapperAddressProtocol):
        def __wrapper_address__(self):
            return address

        def signature(self):
            return types.float64(types.float64)

    erfcx = Function()
    assert njit(lambda x: erfcx(x))(0.5) == erfcx(0.5) and math.isclose(erfcx(0.5), special.erfcx(0.5))
    with pytest.raises(ValueError, match="No function 'nothing' found in __pyx_capi__ of 'scipy.special"):
        get_cython_function_address("scipy.special.cython_special", "nothing")


@intrinsic
def memory(typingctx, count, dtype):
    """Memory in the frame."""
    def codegen(context, builder, signature, args):
        return cgutils.alloca_once(builder, context.get_value_type(dtype.dtype), size=args[0])

    return types.CPointer(dtype.dtype)(types.int64, dtype), codegen


@numba.njit
def table(n):
    return numba.carray(memory(6, np.float64), (n, 2), dtype=np.float64)


def test_memory_outlives_the_function_that_allocates_it():
    @numba.njit
    def filled(n):
        first, second = table(n), table(n)
        first[:] = 1.0
        second[:] = 2.0
        line = numba.carray(memory(n, numba.int32), n)
        line[:] = 3
        pointer = memory(n, types.float32)
        pointer[n - 1] = 5
        return first.sum(), second.sum(), line.sum(), line.dtype, pointer[n - 1]

    assert filled(3) == (6.0, 12.0, 9, np.dtype(np.int32), 5.0)
    with pytest.raises(ValueError):
        filled(4)  # a table of four rows is larger than its memory


def test_a_pointer_to_memory_is_for_carray_alone():
    @intrinsic
    def address(typingctx, pointer):
        return types.uint64(pointer), lambda context, builder, signature, args: builder.ptrtoint(
            args[0], context.get_value_type(types.uint64))

    with pytest.raises(TypingError, match="carray"):
        numba.njit(lambda: address(memory(3, np.float64)))()


@intrinsic
def added_at(typingctx, a, i, j, x):
    """Adds x to an element; the number of rows."""
    def codegen(context, builder, signature, args):
        t = signature.args[0]
        array = context.make_array(t)(context, builder, args[0])
        place = cgutils.get_item_pointer(context, builder, t, array, args[1:3], wraparound=True)
        builder.store(builder.fadd(builder.load(place), args[3]), place)
        return cgutils.unpack_tuple(builder, array.shape, t.ndim)[0]

    return types.intp(a, types.intp, types.intp, a.dtype), codegen


@intrinsic
def eight_bytes(typingctx, a, at):
    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        place = builder.gep(array.data, [args[1]])
        return builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))

    return types.uint64(types.Array(types.uint8, 1, "C"), types.intp), codegen


def test_code_without_a_value():
    @intrinsic
    def nothing(typingctx, x):
        return types.void(types.int32), lambda context, builder, signature, args: None

    @intrinsic
    def missing(typingctx, x):
        return types.int32(types.int32), lambda context, builder, signature, args: None

    assert numba.njit(lambda: nothing(1))() is None
    with pytest.raises(numba.core.errors.LoweringError, match="non-void function returns None"):
        numba.njit(lambda: missing(1))()


def test_arrays_are_arguments():
    @numba.njit
    def changed(n):
        a = np.zeros((n, 4))[:, ::2]
        rows = added_at(a, 1, -1, 2.5) + added_at(a, 1, 1, 0.5)
        return a, rows, eight_bytes(np.arange(n * 3).astype(np.uint8), 1)

    a, rows, bits = changed(4)
    assert a.tolist() == [[0, 0], [0, 3], [0, 0], [0, 0]] and rows == 8
    assert bits == np.arange(12, dtype=np.uint8)[1:9].view(np.uint64)[0]
    with pytest.raises(TypingError, match="an argument of an intrinsic is"):
        numba.njit(lambda a: eight_bytes(a, 0))(np.zeros(8))
