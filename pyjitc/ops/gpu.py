"""Operations that only a kernel's threads have: positions, barriers, memory of a block, atomics, warps, bits.

Thread numbers, masks of lanes and counts are Python ints, so that `a[i] * threadIdx.x` stays float32 (NEP 50). Each
target has its own table op -> lowering (codegen/nvptx.py, codegen/grid.py); the lowerings here are for functions that
are not kernels. Indices of atomics must be in range, like those of loads and stores.
"""
from __future__ import annotations

import math
from functools import partial

import numpy as np

from ..base.errors import Diagnostic, UnsupportedError
from ..ir.core import ALLOCATES, NEW_MEMORY, PURE, READS, WRITES, Op
from ..types.kinds import (
    Array, Int, NoneType, NpComplex, bool_, is_float, is_integer, is_number,
)
from .effects import NO_RULE, NONDIFF, STRUCTURAL, UNVARIED
from .memory import item_bytes
from .signature import signature

__all__ = ["GPU_OPS", "CONVERGENT", "MEMORIES", "ATOMICS", "REDUCTIONS", "SHUFFLES", "VOTES", "FULL_MASK", "WARP_SIZE",
           "shape_bytes", "ALIGNMENT"]

WARP_SIZE = 32
FULL_MASK = 0xFFFFFFFF
SHUFFLES = ("idx", "up", "down", "xor")
VOTES = ("all", "any", "eq")
REDUCTIONS = ("add", "min", "max", "and", "or", "xor")
_EFFECT = READS | WRITES
_MOST_BLOCKS = (1 << 31) - 1

# how -> the element types that it accepts
ATOMICS = {
    "add": is_number, "sub": is_number, "min": lambda t: is_integer(t) or is_float(t), "max": lambda t: is_integer(t)
    or is_float(t),
    "nanmin": lambda t: is_integer(t) or is_float(t), "nanmax": lambda t: is_integer(t) or is_float(t),
    "and": lambda t: is_integer(t) or t is bool_, "or": lambda t: is_integer(t) or t is bool_,
    "xor": lambda t: is_integer(t) or t is bool_, "exch": lambda t: not isinstance(t, NpComplex), "inc": is_integer,
    "dec": is_integer,
}


def _only_in_kernels(e, inst, *operands):
    fn, loc = e.fn, inst.loc
    raise UnsupportedError(Diagnostic(
        f"{_NAMES.get(inst.op, inst.op.name)} has a meaning in kernels only", fn.filename, loc.line or fn.firstlineno,
        loc.end_line, loc.col, loc.end_col, fn.qualname, hint="compile the function with cuda.jit"))


def _op(name, rule, effects, doc, *, partials=NO_RULE, eval=None, attrs=False, bounds=None, traits=0):
    return Op(name, signature(rule) if isinstance(rule, str) else rule, effects, lower=_only_in_kernels,
              partials=partials, doc=doc, eval=eval, eval_attrs=attrs, bounds=bounds, traits=traits)


_counting = partial(_op, partials=NONDIFF)  # no number of the program is a result or is stored


def _int(types, attrs):
    return Int


def _given(types, attrs):
    return attrs["type"]


def _atomic(types, attrs):
    array, *indices, value = types
    how = attrs["how"]
    if (not isinstance(array, Array) or len(indices) != array.ndim or any(i is not Int for i in indices)
        or value is not array.dtype):
        raise TypeError(f"atomic {how} of {', '.join(map(str, types))}")
    if not ATOMICS[how](array.dtype):
        raise TypeError(f"atomic {how} of {array.dtype}")
    return array.dtype


def _cas(types, attrs):
    array, *indices, expected, value = types
    if (not isinstance(array, Array) or len(indices) != array.ndim or not expected is value is array.dtype
        or isinstance(value, NpComplex)):
        raise TypeError(f"atomic cas of {', '.join(map(str, types))}")
    return array.dtype


def _second(types, attrs):
    """The type rule of (mask, value...): the type of the value, a number."""
    if types[0] is not Int or not is_number(types[1]):
        raise TypeError(f"({', '.join(map(str, types))}): expected a mask of lanes and a number")
    return types[1]


def shape_bytes(t: Array, shape) -> int:
    """The size in bytes of an array of this shape."""
    return item_bytes(t.dtype) * math.prod(shape)


ALIGNMENT = 16  # of the memory of arrays, for vector accesses


# ---------------------------------------------------------------- position of a thread

THREAD_ID = _counting("thread_id", _int, PURE, "index of the thread in its block on {axis}: 0 is x", bounds=(0, 1023))
BLOCK_ID = _counting("block_id", _int, PURE, "index of the block in the grid on {axis}", bounds=(0, _MOST_BLOCKS - 1))
BLOCK_DIM = _counting("block_dim", _int, PURE, "number of threads of a block on {axis}", bounds=(1, 1024))
GRID_DIM = _counting("grid_dim", _int, PURE, "number of blocks of the grid on {axis}", bounds=(1, _MOST_BLOCKS))
LANE_ID = _counting("lane_id", _int, PURE, "index of the thread in its warp, 0 to 31", bounds=(0, WARP_SIZE - 1))

# ---------------------------------------------------------------- synchronisation

BARRIER = _counting("barrier", "", _EFFECT, "wait until all threads of the block arrive; all see what each wrote "
                                            "before")
BARRIER_REDUCE = _counting("barrier_reduce", "p: bool -> int", _EFFECT,
                           "a barrier that returns {how}: the 'count' of the threads with a true p, or the 'and' or "
                           "'or' of all p, as 0 or 1")
GRID_BARRIER = _counting("grid_barrier", "", _EFFECT,
                         "wait until all threads of the grid arrive, whose blocks all run at the same time; all see "
                         "what each wrote before")
WARP_BARRIER = _counting("warp_barrier", "mask: int", _EFFECT,
                         "wait until the lanes in the mask arrive; they see what each wrote before")
FENCE = _counting("fence", "", _EFFECT,
                  "let others see what the thread wrote before it no later than what it writes after it; {scope}: "
                  "'block', 'device', 'system'")
NANOSLEEP = _counting("nanosleep", "ns: int", _EFFECT, "wait for about this number of nanoseconds")

# ---------------------------------------------------------------- memory

SHARED_ARRAY = _op("shared_array", _given, ALLOCATES,
                   "array of {type} and {shape} that the threads of a block share; the same memory each time",
                   partials=STRUCTURAL, traits=NEW_MEMORY)
DYNAMIC_SHARED = _op("dynamic_shared", _given, ALLOCATES,
                     "array of {type}, with one axis, over all the dynamic shared memory of the launch",
                     partials=STRUCTURAL)
LOCAL_ARRAY = _op("local_array", _given, ALLOCATES,
                  "array of {type} and {shape} of the thread's own; the same memory each time", partials=STRUCTURAL,
                  traits=NEW_MEMORY)
CONSTANT_ARRAY = _op("constant_array", _given, ALLOCATES,
                     "read-only array of {type} and {shape} with the bytes {data}, in hexadecimal", partials=UNVARIED)
MEMORIES = frozenset((SHARED_ARRAY, DYNAMIC_SHARED, LOCAL_ARRAY, CONSTANT_ARRAY))
ATOMIC = _op("atomic", _atomic, _EFFECT, "(array, index..., value): replace the element by {how} of itself and the "
                                         "value in one step, and return the previous one. inc: x + 1, or 0 where x >= "
                                         "value; dec: x - 1, or value where x is 0 or above it; min, max: nan wins, "
                                         "nanmin, nanmax: the number wins",
             partials=NO_RULE)
ATOMIC_CAS = _op("atomic_cas", _cas, _EFFECT, "(array, index..., expected, value): replace the element by the value "
                                              "where it equals the expected one bit for bit; returns the previous "
                                              "element")

# ---------------------------------------------------------------- printing


def _print(*values, texts, forms=()):
    forms = forms or ("",) * len(values)
    print("".join(text + format(value, form) for text, value, form in zip(texts, values, forms)) + texts[-1], end="")


PRINT = _op("print", lambda types, attrs: NoneType, _EFFECT,
            "write a line that consists of {texts} and, between them, the operands, which are numbers and bools; "
            "{forms}: the format of each, '' or as '.3f'",
            partials=NONDIFF, eval=_print, attrs=True)

# ---------------------------------------------------------------- warps: all lanes in the mask arrive together

SHUFFLE = _op("shuffle", _second, _EFFECT,
              "(mask, value, lane): the value of another lane, {how}: 'idx' lane, 'up' own - lane, 'down' own + lane, "
              "'xor' own ^ lane; the own value where that lane is outside of the group of {width} lanes")
VOTE = _counting("vote", "mask: int, p: bool -> bool", _EFFECT,
                 "whether p is true of 'all' or 'any' lanes, or the same in all ('eq'): {how}")
BALLOT = _counting("ballot", "mask: int, p: bool -> int", _EFFECT, "mask of the lanes with a true p",
                   bounds=(0, FULL_MASK))
MATCH_ANY = _counting("match_any", lambda types, attrs: _second(types, attrs) and Int, _EFFECT,
                      "(mask, value): mask of the lanes with the same bits")
MATCH_ALL = _counting("match_all", lambda types, attrs: _second(types, attrs) and Int, _EFFECT,
                      "(mask, value): the mask if all have the same bits, else 0")
WARP_REDUCE = _op("warp_reduce", _second, _EFFECT, "(mask, value): {how} of the values of all lanes in the mask")
ACTIVE_MASK = _counting("active_mask", _int, _EFFECT, "mask of the lanes that run together now")
WARP_OPS = frozenset((WARP_BARRIER, SHUFFLE, VOTE, BALLOT, MATCH_ANY, MATCH_ALL, WARP_REDUCE, ACTIVE_MASK))
CONVERGENT = WARP_OPS | {BARRIER, BARRIER_REDUCE, GRID_BARRIER}  # operations in which threads wait for each other

# ---------------------------------------------------------------- bits and numbers


def _bits(x) -> tuple[int, int]:
    """(the bits as a natural number, the number of bits)."""
    width = 64 if isinstance(x, int) else x.dtype.itemsize * 8
    return int(x) & (1 << width) - 1, width


def _ffs(x):
    value, _ = _bits(x)
    return (value & -value).bit_length()


def _brev(x):
    value, width = _bits(x)
    back = int(f"{value:0{width}b}"[::-1], 2)
    signed = back - (1 << width) if back >> width - 1 else back
    return signed if isinstance(x, int) else x.dtype.type(signed if x.dtype.kind == "i" else back)


def _rsqrt(x):
    with np.errstate(all="ignore"):
        root = np.sqrt(np.float64(x) if isinstance(x, float) else x)
        result = root.dtype.type(1) / root
    return float(result) if type(x) is float else result


FFS = _counting("ffs", "x: I -> int", PURE, "position of the lowest bit that is set, from 1; 0 if there is none",
                eval=_ffs, bounds=(0, 64))
BREV = _counting("brev", "x: I -> I", PURE, "the bits in reverse order", eval=_brev)


def _reciprocal(x):
    with np.errstate(all="ignore"):
        return type(x)(np.divide(1, x, dtype=type(x)))


RSQRT = _op("rsqrt", "x: F -> F", PURE, "1 / sqrt(x)", eval=_rsqrt, partials=lambda b, x,
            out: (b.fdiv(b.fmul(b.const(-0.5), out), x),))
RECIPROCAL = _op("reciprocal", "x: F -> F", PURE, "1 / x within 1 ulp, where neither is inf, nan, zero or subnormal",
                 partials=lambda b, x, out: (b.fneg(b.fmul(out, out)),), eval=_reciprocal)

GPU_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
_NAMES = {THREAD_ID: "threadIdx", BLOCK_ID: "blockIdx", BLOCK_DIM: "blockDim", GRID_DIM: "gridDim", LANE_ID: "laneid",
          BARRIER: "syncthreads()", GRID_BARRIER: "cuda.cg.this_grid().sync()", SHARED_ARRAY: "cuda.shared.array()",
          DYNAMIC_SHARED: "cuda.shared.array()", LOCAL_ARRAY: "cuda.local.array()",
          CONSTANT_ARRAY: "cuda.const.array_like()", ATOMIC: "cuda.atomic", ATOMIC_CAS: "cuda.atomic"}
