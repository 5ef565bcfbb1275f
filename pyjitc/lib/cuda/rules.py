"""The rules of the names that kernels use: from stubs (names.py) to operations (ops/gpu.py)."""
from __future__ import annotations

import math

import numpy as np

from ...base.errors import with_article
from ...infer.constants import constant, scalar_type
from ...infer.meaning import Apply, Call, Const, Expr, Mismatch, NotConstant
from ...ops import arith, gpu
from ...ops import math as m
from ...ops.memory import ARRAY_DIM, CHECK_INDEX
from ...ops.structure import SELECT, TUPLE_GET, TUPLE_MAKE
from ...types import kinds
from ...types.kinds import (Array, Bool, DType, Float, Int, NpFloat, NpInt, Singleton, Tuple, Union, is_float,
                            is_integer, is_number, is_numpy_scalar)
from ...types.lattice import dtype_of
from ..rule import rule
from ..intrinsics import as_type
from ..np.arrays.creation import scalar_of
from ..py import conversions, operators
from . import names, vectors

__all__ = ["CALLS", "WAITING", "attribute"]

_COORDINATES = {"threadIdx": gpu.THREAD_ID, "blockIdx": gpu.BLOCK_ID, "blockDim": gpu.BLOCK_DIM,
                "gridDim": gpu.GRID_DIM}
_MAX_SHARED = 227 << 10
_MAX_LOCAL = 512 << 10


def attribute(target, name: str) -> Expr | None:
    """The expression of threadIdx.x and the like, and of cuda.laneid; None for an ordinary attribute."""
    if type(target) is names.Coordinates:
        if name not in ("x", "y", "z"):
            raise Mismatch(f"cuda.{target.name} has no attribute '{name}'", "it has x, y and z", AttributeError)
        return Apply(_COORDINATES[target.name], axis="xyz".index(name))
    return Apply(gpu.LANE_ID) if getattr(target, name, None) is names.laneid else None


# ---------------------------------------------------------------- arguments


def _of(stub):
    """Decorator that makes the rule of a stub, which has its parameters."""
    return rule(f"cuda.{stub.__qualname__}", stub)


def _known_int(x: Expr, what: str, choices) -> int:
    if not x.known or type(x.value) is not int or x.value not in choices:
        shown = choices if isinstance(choices, tuple) else (choices.start, "...", choices.stop - 1)
        raise NotConstant(f"{what} must be a constant: {', '.join(map(str, shown))}")
    return x.value


def whole(x):
    return int(x)


def true(x):
    return bool(x)


def as_one(x, dtype):
    return as_type(x, dtype)


_SAMPLES = {Int: 0, Float: 0.0, Bool: True, kinds.Complex: 0j}


def _is_numbers(t) -> bool:
    return isinstance(t, Union) and all(map(is_number, t.members))


def _predicate(x: Expr) -> Expr:
    """The truth of a number. If the number has a union type, a function tests it, so that the operation itself is not
    split by types: threads that wait for each other must all do so at one place in the code."""
    return Call(true, x) if _is_numbers(x.type) else operators.truth(_number(x, "the predicate"))


def _integer(x: Expr, what: str) -> Expr:
    if x.type is Int:
        return x
    if _is_numbers(x.type):
        return Call(whole, x)
    if x.type is Bool or isinstance(x.type, NpInt):
        return conversions.to_int(x)
    raise Mismatch(f"{what} is {with_article(str(x.type))}", "it must be an integer")


def _number(x: Expr, what: str) -> Expr:
    if _is_numbers(x.type):  # such as 0.0 before the loop that adds to it
        dtype = np.result_type(*(_SAMPLES[t] if t in _SAMPLES else dtype_of(t) for t in x.type.members))
        return Call(as_one, x, Const(DType(scalar_type(dtype)), dtype))
    if not is_number(x.type):
        raise Mismatch(f"{what} is {with_article(str(x.type))}", "it must be a number")
    return x


def _dtype(x: Expr):
    """A dtype argument: NumPy's or this package's types, or a text."""
    value = x.type.value if isinstance(x.type, Singleton) else None
    given = getattr(value, "type", None)
    if isinstance(given, kinds.Type) and not isinstance(value, kinds.Type):
        if is_numpy_scalar(given):
            return given
        found = {Int: kinds.int64, Float: kinds.float64, Bool: kinds.bool_, kinds.Complex: kinds.complex128}.get(given)
        if found is not None:
            return found
    return scalar_of(x)


def _shape(x: Expr, what: str) -> tuple[int, ...]:
    parts = [x.value] if x.known and not isinstance(x.type, Tuple) else list(x.value) if x.known else [None]
    if any(type(n) is not int and not isinstance(n, np.integer) for n in parts):
        raise NotConstant(f"the shape of {what} must be known at compile time",
                          "use a constant, or a global or captured variable")
    shape = tuple(map(int, parts))
    if any(n < 0 for n in shape):
        raise Mismatch(f"the shape of {what} is negative: {shape}", exception=ValueError)
    return shape


# ---------------------------------------------------------------- positions in the grid


def _axes(op):
    return [Apply(op, axis=k) for k in range(3)]


@_of(names.grid)
def _grid(ndim):
    n = _known_int(ndim, "the number of axes in cuda.grid()", (1, 2, 3))
    return _one_or_tuple([Apply(arith.IADD, Apply(arith.IMUL, b, d), t) for b, d, t in zip(
        _axes(gpu.BLOCK_ID), _axes(gpu.BLOCK_DIM), _axes(gpu.THREAD_ID))][:n])


@_of(names.gridsize)
def _gridsize(ndim):
    n = _known_int(ndim, "the number of axes in cuda.gridsize()", (1, 2, 3))
    return _one_or_tuple([Apply(arith.IMUL, d, g) for d, g in zip(_axes(gpu.BLOCK_DIM), _axes(gpu.GRID_DIM))][:n])


def _one_or_tuple(parts):
    return parts[0] if len(parts) == 1 else Apply(TUPLE_MAKE, *parts, cls=None)


# ---------------------------------------------------------------- barriers


def _plain(stub, op, **attrs):
    return _of(stub)(lambda: Apply(op, **attrs))


@_of(names.cg.this_grid)
def _this_grid():
    return constant(names.grid_group)


def _barrier_reduce(stub, how):
    return _of(stub)(lambda p: Apply(gpu.BARRIER_REDUCE, _predicate(p), how=how))


@_of(names.syncwarp)
def _syncwarp(mask):
    return Apply(gpu.WARP_BARRIER, _integer(mask, "the mask"))


@_of(names.nanosleep)
def _nanosleep(ns):
    return Apply(gpu.NANOSLEEP, _integer(ns, "the time"))


# ---------------------------------------------------------------- memory


def _memory_array(stub, op, space, limit):
    @_of(stub)
    def found(shape, dtype):
        what = f"cuda.{space}.array"
        shape, dtype = _shape(shape, what), _dtype(dtype)
        if op is gpu.SHARED_ARRAY and shape == (0,):
            return Apply(gpu.DYNAMIC_SHARED, type=Array(dtype, 1))
        t = Array(dtype, len(shape))
        if math.prod(shape) == 0:
            raise Mismatch(f"{what} of shape {shape} has no elements", exception=ValueError)
        if gpu.shape_bytes(t, shape) > limit:
            raise Mismatch(f"{what} of {gpu.shape_bytes(t, shape)} bytes is larger than the {limit} that there are",
                           exception=ValueError)
        return Apply(op, type=t, shape=shape)

    return found


@_of(names.const.array_like)
def _array_like(x):
    """The array itself: global and captured arrays are constants of a kernel anyway."""
    if not isinstance(x.type, Array):
        raise Mismatch(f"cuda.const.array_like() takes an array, not {with_article(str(x.type))}")
    return x


# ---------------------------------------------------------------- atomics


def _indices(a: Expr, i: Expr) -> list[Expr]:
    t = a.type
    if not isinstance(t, Array):
        raise Mismatch(f"atomic operations work on an element of an array, not on {with_article(str(t))}",
                       "pass the array and the index: cuda.atomic.add(a, i, x)")
    if not t.writable:
        raise Mismatch("assignment destination is read-only", exception=ValueError)
    items = [i] if not isinstance(i.type, Tuple) else [
        Const(e, i.value[k]) if i.known else Apply(TUPLE_GET, i, index=k) for k, e in enumerate(i.type.elements)]
    if len(items) != t.ndim:
        raise Mismatch(f"the index of an atomic operation has {len(items)} item{'s' * (len(items) != 1)}, the array "
                       f"has {t.ndim} axes",
                       "index one element")
    return [Apply(CHECK_INDEX, _integer(x, "the index"), Apply(ARRAY_DIM, a, axis=k), axis=k)
            for k, x in enumerate(items)]


def _element(a: Expr, value: Expr, how: str) -> Expr:
    dtype = a.type.dtype
    if not gpu.ATOMICS["exch" if how == "cas" else how](dtype):
        raise Mismatch(f"there is no atomic {how} of {dtype}", "use two arrays, of the real and imaginary parts"
                       if isinstance(dtype, kinds.NpComplex) else "")
    return conversions.assign(_number(value, "the value"), dtype)


def _atomic(stub, how):
    return _of(stub)(lambda a, i, value: Apply(gpu.ATOMIC, a, *_indices(a, i), _element(a, value, how), how=how))


@_of(names.atomic.cas)
def _cas(a, i, old, value):
    return _exchanged(a, i, old, value)


@_of(names.atomic.compare_and_swap)
def _compare_and_swap(a, old, value):
    return _exchanged(a, Const(Int, 0), old, value)


def _exchanged(a, i, old, value):
    return Apply(gpu.ATOMIC_CAS, a, *_indices(a, i), _element(a, old, "cas"), _element(a, value, "cas"))


# ---------------------------------------------------------------- warps


def _mask(x: Expr) -> Expr:
    return _integer(x, "the mask")


def _shuffle(stub, how):
    @_of(stub)
    def found(mask, value, lane, width):
        width = _known_int(width, "the width", (32, 16, 8, 4, 2, 1))
        return Apply(gpu.SHUFFLE, _mask(mask), _number(value, "the value"), _integer(lane, "the lane"), how=how,
                     width=width)

    return found


def _vote(stub, op, **attrs):
    return _of(stub)(lambda mask, predicate: Apply(op, _mask(mask), _predicate(predicate), **attrs))


@_of(names.match_any_sync)
def _match_any(mask, value):
    return Apply(gpu.MATCH_ANY, _mask(mask), _number(value, "the value"))


def match_all(mask, value):
    found = gpu.MATCH_ALL(mask, value)
    return found, found != 0


@_of(names.match_all_sync)
def _match_all(mask, value):
    return Call(match_all, _mask(mask), _number(value, "the value"))


def _reduce(stub, how):
    @_of(stub)
    def found(mask, value):
        t = _number(value, "the value").type
        if not (is_integer(t) or is_float(t) and how in ("add", "min", "max")):
            raise Mismatch(f"there is no {how} of {t} over a warp")
        return Apply(gpu.WARP_REDUCE, _mask(mask), value, how=how)

    return found


def below(lane):
    return (1 << lane) - 1


# ---------------------------------------------------------------- numbers


def _bits(stub, op):
    @_of(stub)
    def found(x):
        if not is_integer(x.type):
            raise Mismatch(f"cuda.{stub.__name__}() takes an integer, not {with_article(str(x.type))}")
        return Apply(op, x)

    return found


def _float(x: Expr) -> Expr:
    if is_float(x.type):
        return x
    if is_integer(x.type) or x.type is Bool:
        return conversions.to_scalar(x, kinds.float64) if x.type is not Int else Apply(arith.CAST, x, type=Float)
    raise Mismatch(f"expected a real number, not {with_article(str(x.type))}")


def _unary(stub, op):
    return _of(stub)(lambda x: Apply(op, _float(x)))


@_of(names.fma)
def _fma(*parts):
    types = {x.type for x in parts if isinstance(x.type, NpFloat)}
    t = max(types, key=lambda t: t.bits) if types else Float
    return Apply(m.FMA, *(x if x.type is t else Apply(arith.CAST, _number(x, "the operand"), type=t) for x in parts))


@_of(names.selp)
def _selp(a, b, c):
    if kinds.is_python_number(c.type) and _is_weak(c.type, b.type):
        c = conversions.to_scalar(c, b.type)
    elif kinds.is_python_number(b.type) and _is_weak(b.type, c.type):
        b = conversions.to_scalar(b, c.type)
    if b.type is not c.type:
        raise Mismatch(f"cuda.selp() chooses between values of one type, not {b.type} and {c.type}")
    return Apply(SELECT, operators.truth(_number(a, "the condition")), b, c)


def _is_weak(number, t) -> bool:
    """Whether a Python number adapts to a NumPy type, since that has its kind or a wider one."""
    if not (is_number(t) and is_numpy_scalar(t)):
        return False
    return (kinds.is_complex(t) or is_float(t) and not kinds.is_complex(number) or is_integer(t)
            and number in (Int, Bool) or number is Bool)


def _half(stub, build):
    """float16 operands, converted where they are numbers."""
    return _of(stub)(lambda *operands: build(*(conversions.to_scalar(_number(x, "the operand"), kinds.float16)
                                               for x in operands)))


def _operator(symbol):
    return lambda x, y: operators.binary(symbol, x, y)


def _comparison(symbol):
    return lambda x, y: operators.compare(symbol, x, y)


def _through_single(build):
    """The operation computed in float32 and rounded once more."""
    return lambda *operands: conversions.to_scalar(build(*(conversions.to_scalar(x, kinds.float32) for x in operands)),
                                                   kinds.float16)


_SINGLE_ONE = Const(kinds.float32, np.float32(1))
_SINGLE_LN10 = Const(kinds.float32, np.float32(math.log(10)))
_HALVES = {
    "hadd": _operator("+"), "hsub": _operator("-"), "hmul": _operator("*"), "hdiv": _operator("/"),
    "hmax": lambda x, y: Apply(SELECT, Apply(arith.FGT, x, y), x, y), "hmin": lambda x,
    y: Apply(SELECT, Apply(arith.FLT, x, y), x, y), "heq": _comparison("=="), "hne": _comparison("!="),
    "hgt": _comparison(">"), "hge": _comparison(">="), "hlt": _comparison("<"), "hle": _comparison("<="),
    "hfma": lambda x, y, z: Apply(m.FMA, x, y, z), "hneg": lambda x: Apply(arith.FNEG, x),
    "habs": lambda x: Apply(m.FABS, x), "hfloor": lambda x: Apply(m.FLOOR, x), "hceil": lambda x: Apply(m.CEIL, x),
    "hrint": lambda x: Apply(m.RINT, x), "htrunc": lambda x: Apply(m.TRUNC, x),
    **{f"h{op.name}": _through_single(lambda x, op=op: Apply(op, x))
       for op in (m.SIN, m.COS, m.LOG, m.LOG10, m.LOG2, m.EXP, m.EXP2, m.SQRT)},
    "hrsqrt": _through_single(lambda x: Apply(gpu.RSQRT, x)),
    "hrcp": _through_single(lambda x: Apply(arith.FDIV, _SINGLE_ONE, x)),
    "hexp10": _through_single(lambda x: Apply(m.EXP, Apply(arith.FMUL, x, _SINGLE_LN10))),
}

def _vector(cls, dtype: str):
    element = scalar_type(np.dtype(dtype))
    usage = f"{cls.__name__}({', '.join(cls._fields)})"

    @rule(f"cuda.{cls.__name__}")
    def found(*given):
        parts = []
        for x in given:
            if not (isinstance(x.type, Tuple) and x.type.cls in vectors.DTYPES):
                parts.append(_number(x, "a part"))
            elif x.known:
                parts += map(Const, x.type.elements, x.value)
            else:
                parts += (Apply(TUPLE_GET, x, index=k) for k in range(len(x.type.elements)))
        if len(parts) != len(cls._fields):
            raise Mismatch(f"{cls.__name__} has {len(cls._fields)} numbers, got {len(parts)}", usage)
        return Apply(TUPLE_MAKE, *(conversions.to_scalar(x, element) for x in parts), cls=cls)

    return found


_n = names
CALLS = {
    **{cls: _vector(cls, dtype) for cls, dtype in vectors.DTYPES.items()},
    _n.cg.this_grid: _this_grid, _n.grid_group.sync: _plain(_n.grid_group.sync, gpu.GRID_BARRIER),
    _n.grid: _grid, _n.gridsize: _gridsize,
    _n.syncthreads: _plain(_n.syncthreads, gpu.BARRIER), _n.syncwarp: _syncwarp, _n.nanosleep: _nanosleep,
    _n.syncthreads_count: _barrier_reduce(_n.syncthreads_count, "count"),
    _n.syncthreads_and: _barrier_reduce(_n.syncthreads_and, "and"),
    _n.syncthreads_or: _barrier_reduce(_n.syncthreads_or, "or"),
    _n.threadfence: _plain(_n.threadfence, gpu.FENCE, scope="device"),
    _n.threadfence_block: _plain(_n.threadfence_block, gpu.FENCE, scope="block"),
    _n.threadfence_system: _plain(_n.threadfence_system, gpu.FENCE, scope="system"),
    _n.shared.array: _memory_array(_n.shared.array, gpu.SHARED_ARRAY, "shared", _MAX_SHARED),
    _n.local.array: _memory_array(_n.local.array, gpu.LOCAL_ARRAY, "local", _MAX_LOCAL),
    _n.const.array_like: _array_like,
    **{(stub := getattr(_n.atomic, name)): _atomic(stub, name.rstrip("_")) for name in (
        "add", "sub", "min", "max", "nanmin", "nanmax", "and_", "or_", "xor", "exch", "inc", "dec")},
    _n.atomic.cas: _cas, _n.atomic.compare_and_swap: _compare_and_swap,
    **{(stub := getattr(_n, f"shfl_{how}_sync" if how != "idx" else "shfl_sync")): _shuffle(stub, how)
       for how in gpu.SHUFFLES},
    **{(stub := getattr(_n, f"{how}_sync")): _vote(stub, gpu.VOTE, how=how) for how in gpu.VOTES},
    _n.ballot_sync: _vote(_n.ballot_sync, gpu.BALLOT), _n.match_any_sync: _match_any, _n.match_all_sync: _match_all,
    **{(stub := getattr(_n, f"reduce_{how}_sync")): _reduce(stub, how) for how in gpu.REDUCTIONS},
    _n.activemask: _plain(_n.activemask, gpu.ACTIVE_MASK),
    _n.lanemask_lt: _of(_n.lanemask_lt)(lambda: Call(below, Apply(gpu.LANE_ID))),
    **{(stub := getattr(_n, op.name)): _bits(stub, op) for op in (arith.POPC, gpu.BREV, arith.CLZ, gpu.FFS)},
    _n.fma: _fma, _n.cbrt: _unary(_n.cbrt, m.CBRT), _n.rsqrt: _unary(_n.rsqrt, gpu.RSQRT), _n.selp: _selp,
    **{(stub := getattr(_n.fp16, name)): _half(stub, build) for name, build in _HALVES.items()},
}
# Functions in which threads wait for each other: they are called at one place in the code, whatever the types of their
# arguments.
WAITING = frozenset((_n.grid_group.sync, *(getattr(_n, name) for name in names.__all__ if name.endswith("_sync")
                                           or name.startswith("sync"))))
