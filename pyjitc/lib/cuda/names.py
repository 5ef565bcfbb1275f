"""The names that kernels use, as `pyjitc.cuda` exports them: only their names, parameters and documentation.

Their meaning in compiled code is in rules.py, which is loaded when a kernel uses one. Calling them in the interpreter
raises. Names and parameters are those of Numba's CUDA target.
"""
from __future__ import annotations

__all__ = [
    "threadIdx", "blockIdx", "blockDim", "gridDim", "grid", "gridsize", "shared", "local", "const", "atomic",
    "syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "syncwarp", "threadfence",
    "threadfence_block", "threadfence_system", "nanosleep", "shfl_sync", "shfl_up_sync", "shfl_down_sync",
    "shfl_xor_sync", "all_sync", "any_sync", "eq_sync", "ballot_sync", "match_any_sync", "match_all_sync",
    "reduce_add_sync", "reduce_min_sync", "reduce_max_sync", "reduce_and_sync", "reduce_or_sync", "reduce_xor_sync",
    "activemask", "lanemask_lt", "popc", "brev", "clz", "ffs", "fma", "cbrt", "rsqrt", "selp", "laneid", "warpsize",
    "fp16", "cg", "grid_group", "Coordinates", "Lane", "OUTSIDE",
]

OUTSIDE = "{} is only for kernels: call it in a function under cuda.jit, and launch that as kernel[grid, block](...)"


def _outside(name: str):
    raise RuntimeError(OUTSIDE.format(f"cuda.{name}"))


class Coordinates:
    """threadIdx, blockIdx, blockDim or gridDim: x, y and z, in kernels."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __getattr__(self, axis):
        if axis in ("x", "y", "z"):
            _outside(f"{self.name}.{axis}")
        raise AttributeError(f"cuda.{self.name} has no attribute {axis!r}")

    def __repr__(self):
        return f"<cuda.{self.name}>"


class Lane:
    """cuda.laneid: an int, in kernels."""

    __slots__ = ()

    def __index__(self):
        _outside("laneid")

    __int__ = __index__

    def __repr__(self):
        return "<cuda.laneid>"


threadIdx, blockIdx, blockDim, gridDim = map(Coordinates, ("threadIdx", "blockIdx", "blockDim", "gridDim"))
laneid = Lane()
warpsize = 32


def _stub(text: str, doc: str, prefix: str = ""):
    """A function with this name and these parameters that raises."""
    name = text.partition("(")[0]
    space = {"_outside": _outside}
    exec(f"def {text}:\n    _outside({prefix + name + '()'!r})\n", space)
    made = space[name]
    made.__qualname__, made.__module__, made.__doc__ = prefix + name, __name__, doc
    made.__annotations__ = ({x: _TYPES[x] for x in made.__code__.co_varnames if x in _TYPES}
                            | {"return": _RESULTS.get(prefix + name, "number")})
    return made


_TYPES = {**dict.fromkeys(("ndim", "mask", "src_lane", "delta", "lane_mask", "width", "ns"), "int"),
          "predicate": "bool", "ary": "array", "idx": "int | tuple[int, ...]", "shape": "int | tuple[int, ...]",
          "dtype": "dtype", **dict.fromkeys(("x", "a", "b", "c", "val", "old", "value"), "number")}
_RESULTS = {
    **dict.fromkeys(("syncthreads", "syncwarp", "threadfence", "threadfence_block", "threadfence_system", "nanosleep"),
                    "None"),
    **dict.fromkeys(("syncthreads_count", "syncthreads_and", "syncthreads_or", "ballot_sync", "match_any_sync",
                     "activemask", "lanemask_lt", "popc", "clz", "ffs"), "int"),
    **dict.fromkeys(("grid", "gridsize"), "int | tuple[int, ...]"),
    **dict.fromkeys(("all_sync", "any_sync", "eq_sync"), "bool"),
    **dict.fromkeys([f"fp16.{name}" for name in ("heq", "hne", "hgt", "hge", "hlt", "hle")], "bool"),
    **dict.fromkeys(("shared.array", "local.array", "const.array_like"), "array"), "match_all_sync": "tuple[int, bool]"}


grid = _stub("grid(ndim)", "The thread's place in the whole grid: an int, or a tuple of 2 or 3, x first.")
gridsize = _stub("gridsize(ndim)", "The threads of the whole grid along 1, 2 or 3 axes.")
syncthreads = _stub("syncthreads()", "Wait for all threads of the block.")
syncthreads_count = _stub("syncthreads_count(predicate)",
                          "A barrier that gives the number of threads with a true predicate.")
syncthreads_and = _stub("syncthreads_and(predicate)", "A barrier that gives 1 where all predicates are true, else 0.")
syncthreads_or = _stub("syncthreads_or(predicate)", "A barrier that gives 1 where any predicate is true, else 0.")
syncwarp = _stub("syncwarp(mask=0xFFFFFFFF)", "Wait for the lanes in the mask.")
threadfence = _stub("threadfence()", "Order the thread's writes for the device.")
threadfence_block = _stub("threadfence_block()", "Order the thread's writes for its block.")
threadfence_system = _stub("threadfence_system()", "Order the thread's writes for all devices and the host.")
nanosleep = _stub("nanosleep(ns)", "Wait about as many nanoseconds.")
shfl_sync = _stub("shfl_sync(mask, value, src_lane, width=32)", "The value of lane `src_lane`.")
shfl_up_sync = _stub("shfl_up_sync(mask, value, delta, width=32)",
                     "The value of the lane `delta` below, or the own one.")
shfl_down_sync = _stub("shfl_down_sync(mask, value, delta, width=32)",
                       "The value of the lane `delta` above, or the own one.")
shfl_xor_sync = _stub("shfl_xor_sync(mask, value, lane_mask, width=32)", "The value of lane `laneid ^ lane_mask`.")
all_sync = _stub("all_sync(mask, predicate)", "Whether the predicate is true on all lanes in the mask.")
any_sync = _stub("any_sync(mask, predicate)", "Whether it is true on any of them.")
eq_sync = _stub("eq_sync(mask, predicate)", "Whether it is the same on all of them.")
ballot_sync = _stub("ballot_sync(mask, predicate)", "Mask of the lanes where it is true.")
match_any_sync = _stub("match_any_sync(mask, value)", "Mask of the lanes with the same value.")
match_all_sync = _stub("match_all_sync(mask, value)",
                       "(mask, True) where all lanes have the same value, else (0, False).")
reduce_add_sync = _stub("reduce_add_sync(mask, value)", "Sum of the values of the lanes in the mask.")
reduce_min_sync = _stub("reduce_min_sync(mask, value)", "The smallest of them.")
reduce_max_sync = _stub("reduce_max_sync(mask, value)", "The largest of them.")
reduce_and_sync = _stub("reduce_and_sync(mask, value)", "The bits that are set in all of them.")
reduce_or_sync = _stub("reduce_or_sync(mask, value)", "The bits that are set in any of them.")
reduce_xor_sync = _stub("reduce_xor_sync(mask, value)", "Exclusive or of them.")
activemask = _stub("activemask()", "Mask of the lanes that run together now.")
lanemask_lt = _stub("lanemask_lt()", "Mask of the lanes below this one.")
popc = _stub("popc(x)", "Number of bits of an integer that are set.")
brev = _stub("brev(x)", "The bits of an integer in reverse order.")
clz = _stub("clz(x)", "Number of zero bits above the highest one that is set.")
ffs = _stub("ffs(x)", "Position of the lowest bit that is set, from 1; 0 if there is none.")
fma = _stub("fma(a, b, c)", "a * b + c, rounded once.")
cbrt = _stub("cbrt(x)", "Cube root.")
rsqrt = _stub("rsqrt(x)", "1 / sqrt(x).")
selp = _stub("selp(a, b, c)", "b if a else c, both computed.")


def _space(name: str, doc: str, *texts: str):
    """A namespace of stubs."""
    members = {text.partition("(")[0]: staticmethod(_stub(text, "", f"{name}.")) for text in texts}
    return type(name, (), {**members, "__slots__": (), "__doc__": doc, "__module__": __name__})


shared = _space("shared", "Memory that a block has in common: array(shape, dtype); shape 0: what the launch gives.",
                "array(shape, dtype)")
local = _space("local", "Memory of one thread: array(shape, dtype).", "array(shape, dtype)")
const = _space("const", "Constant memory: array_like(a global array).", "array_like(ary)")
atomic = _space(
    "atomic", "Operations on an element of an array in one step; each gives what the element was.",
    *(f"{name}(ary, idx, val)"
      for name in ("add", "sub", "min", "max", "nanmin", "nanmax", "and_", "or_", "xor", "exch", "inc", "dec")),
    "cas(ary, idx, old, val)", "compare_and_swap(ary, old, val)")
fp16 = _space(
    "fp16", "Arithmetic of float16; the operators do the same.",
    *(f"{name}(a, b)" for name in ("hadd", "hsub", "hmul", "hdiv", "hmax", "hmin", "heq", "hne", "hgt", "hge", "hlt",
                                   "hle")), "hfma(a, b, c)",
    *(f"{name}(a)" for name in ("hneg", "habs", "hsin", "hcos", "hlog", "hlog10", "hlog2", "hexp", "hexp10", "hexp2",
                                "hsqrt", "hrsqrt", "hrcp", "hfloor", "hceil", "hrint", "htrunc")))
cg = _space("cg", "Cooperative groups: this_grid(), all threads of the grid, whose sync() they wait in.", "this_grid()")
grid_group = _space("grid_group", "What cuda.cg.this_grid() gives; launches of kernels that use it are cooperative: "
                                  "all blocks run at once.", "sync()")
