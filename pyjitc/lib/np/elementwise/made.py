"""The loops of ufuncs that programs make (`vectorize`, `guvectorize`): what NumPy calls, as functions in the compiled
subset. `f` is the program's function; arrays have the axis of the loop first."""
from __future__ import annotations

from types import FunctionType

from ....front.functions import placed
from ....infer.meaning import Mismatch
from ....ops.memory import ARRAY_DIM, ARRAY_LOAD, ARRAY_STORE
from ....types.kinds import NoneType
from ....types.lattice import dtype_of
from ...build import a_type
from ...intrinsics import as_type
from ...rule import intrinsic

__all__ = ["callback", "element_loop", "core_loop"]


def element_loop(f, alike: FunctionType):
    """The loop of an element function, called with (arrays of operands, arrays of results). It has the name and source
    location of `alike`."""
    def loop(ins, outs):
        for i in range(ARRAY_DIM(outs[0], axis=0)):
            put_items(outs, i, as_items(f(*items(ins, i, 0))), 0)

    return _placed(loop, alike)


def core_loop(f, alike: FunctionType):
    """The loop of a generalised ufunc's function, which gets the core of each operand and writes its results."""
    def loop(ins, outs):
        for i in range(ARRAY_DIM(ins[0], axis=0)):
            is_nothing(f(*cores(ins, i, 0), *cores(outs, i, 0)))

    return _placed(loop, alike)


@intrinsic
def is_nothing(x):
    """Refuses a result of the function of a generalised ufunc, which nobody would receive."""
    if x.type is not NoneType:
        raise Mismatch(f"the function of guvectorize returns {a_type(x.type)}, and its results are its last arguments",
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


def items(arrays, i, j):
    return () if j == len(arrays) else (ARRAY_LOAD(arrays[j], i),) + items(arrays, i, j + 1)


def as_items(x):
    return x if isinstance(x, tuple) else (x,)


def put_items(arrays, i, values, j):
    if j < len(arrays):
        ARRAY_STORE(arrays[j], i, as_type(values[j], arrays[j].dtype))
        put_items(arrays, i, values, j + 1)


def cores(arrays, i, j):
    return () if j == len(arrays) else (core(arrays[j], i),) + cores(arrays, i, j + 1)


def core(a, i):
    """The core of operand a at index i; for an operand without core dimensions, its element."""
    if a.ndim == 1:
        return ARRAY_LOAD(a, i)
    return a[i]
