"""The loops of ufuncs that programs make (`vectorize`, `guvectorize`): what NumPy calls, as functions in the compiled
subset. `f` is the program's function; arrays have the axis of the loop first.

Each is written for its number of operands: inference has one function without tuples to read.
"""
from __future__ import annotations

from types import FunctionType

from ....front.functions import placed
from ....infer.meaning import NotNative
from ....ops.arith import IMUL
from ....ops.memory import ARRAY_DIM, ARRAY_LOAD, ARRAY_STORE, ARRAY_STRIDE, ARRAY_VIEW
from ....types.kinds import Array, NoneType, Type
from ....types.lattice import dtype_of
from ...build import a_type
from ...intrinsics import as_type
from ...rule import intrinsic

__all__ = ["callback", "element_loop", "core_loop"]


def element_loop(f, alike: FunctionType, result: Type, inputs: int):
    """The loop of an element function with so many inputs, called with the arrays of the operands and that of the
    results. It has the name and source location of `alike`."""
    given = ", ".join(f"ARRAY_LOAD(x{k}, i)" for k in range(inputs))
    return _loop(f, alike, inputs + 1, f"ARRAY_STORE(x{inputs}, i, as_type(f({given}), t))", t=dtype_of(result))


def core_loop(f, alike: FunctionType, arrays: list[Array], cores: tuple[tuple[int, ...], ...]):
    """The loop of a generalised ufunc's function, which gets the core of each operand and writes its results.

    Core dimensions of one number are one length, that of the first operand that has it. An operand without core
    dimensions is an element, or an array of one item."""
    space, lengths, given = {}, {}, []
    for k, (t, dims) in enumerate(zip(arrays, cores, strict=True)):
        if t.ndim == 1:
            given.append(f"ARRAY_LOAD(x{k}, i)")
            continue
        shape = [lengths.setdefault(d, f"ARRAY_DIM(x{k}, axis={n})") for n, d in enumerate(dims, 1)] or ["1"]
        strides = [f"ARRAY_STRIDE(x{k}, axis={n})" for n in range(1, t.ndim)]
        given.append(f"ARRAY_VIEW(x{k}, IMUL(i, ARRAY_STRIDE(x{k}, axis=0)), {', '.join(shape + strides)}, type=t{k})")
        space[f"t{k}"] = Array(t.dtype, t.ndim - 1, "A", t.writable)
    return _loop(f, alike, len(arrays), f"is_nothing(f({', '.join(given)}))", **space)


def _loop(f, alike: FunctionType, operands: int, body: str, **space) -> FunctionType:
    space.update(ARRAY_DIM=ARRAY_DIM, ARRAY_LOAD=ARRAY_LOAD, ARRAY_STORE=ARRAY_STORE, ARRAY_STRIDE=ARRAY_STRIDE,
                 ARRAY_VIEW=ARRAY_VIEW, IMUL=IMUL, as_type=as_type, is_nothing=is_nothing, range=range,
                 __name__=__name__, __builtins__={})
    names = ", ".join(f"x{k}" for k in range(operands))
    exec(f"def make(f):\n    def loop({names}):\n        for i in range(ARRAY_DIM(x{operands - 1}, axis=0)):\n"
         f"            {body}\n    return loop", space)
    return _placed(space["make"](f), alike)


@intrinsic
def is_nothing(x):
    """Refuse a result of the function of a generalised ufunc: the ufunc would drop it."""
    if x.type is not NoneType:
        raise NotNative(f"the function of guvectorize returns {a_type(x.type)}, and its results are its last arguments",
                        "write into them, as in out[0] = x or out[:] = x")
    return x


def callback(f, types, result):
    """A function of these parameters that returns the result of `f` as a number of the type `result`."""
    names = ", ".join(f"x{n}" for n in range(len(types)))
    space = {"as_type": as_type, "__name__": __name__, "__builtins__": {}}
    body = f"f({names})" if result is NoneType else f"return as_type(f({names}), t)"
    exec(f"def make(f, t):\n    def entry({names}):\n        {body}\n    return entry", space)
    return _placed(space["make"](f, None if result is NoneType else dtype_of(result)), f)


def _placed(loop: FunctionType, alike: FunctionType) -> FunctionType:
    code = alike.__code__
    made = FunctionType(placed(loop.__code__, code.co_name, code.co_filename, code.co_firstlineno), loop.__globals__,
                        alike.__name__, None, loop.__closure__)
    made.__qualname__ = alike.__qualname__
    return made
