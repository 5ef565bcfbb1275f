"""What a compiled function shows of itself, errors of the compiler, options, types as values, passed functions."""
import pickle

import numpy as np
from numba import NumbaError, TypingError, config, float64, int64, jit, jit_module, njit, types, typeof, void
from numba.core import errors
from numba.core.dispatcher import Dispatcher
from numba.extending import is_jitted

SCALE = 2.0


@njit
def scaled(x):
    return x * SCALE


@njit(error_model="numpy")
def inverse(x):
    return 1.0 / x


@njit(boundscheck=True)
def item(a, i):
    return a[i]


@njit(fastmath={"contract", "reassoc"}, inline="always")
def dot(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


@njit(int64(types.FunctionType(int64(int64)), int64))
def called(f, x):
    return f(x) + 1


@njit(int64(int64))
def tripled(x):
    return 3 * x


@njit(void(float64[::1], float64))
def fill(a, x):
    a[:] = x


@njit
def reflect(items):
    items.append(4)


@njit
def first_of(functions, x):
    total = 0
    for f in functions:
        total += f(x)
    return total


@jit(nopython=True)
def not_typed(x):
    return x + "text"


def main():
    assert scaled(3.0) == 6.0 and scaled.signatures == [(types.float64,)] and scaled.py_func(2) == 4.0
    assert list(scaled.overloads) == [(types.float64,)] and "define" in scaled.inspect_llvm(scaled.signatures[0])
    assert isinstance(scaled, Dispatcher) and is_jitted(scaled) and scaled.__name__ == "scaled"
    assert scaled.nopython_signatures[0].return_type == types.float64
    scaled.recompile()
    assert scaled(1.0) == 2.0 and pickle.loads(pickle.dumps(scaled))(2.0) == 4.0
    assert inverse(0.0) == np.inf and dot(np.ones(3), np.arange(3.0)) == 3.0
    try:
        item(np.zeros(2), 5)
    except IndexError:
        pass
    else:
        raise AssertionError("an index out of range was taken")
    assert called(tripled, 5) == 16 and first_of((tripled, tripled), 2) == 12
    a = np.zeros(3)
    assert fill(a, 2.5) is None and a.tolist() == [2.5] * 3
    items = [1, 2, 3]
    reflect(items)
    assert items == [1, 2, 3, 4]
    try:
        not_typed(1)
    except TypingError as error:
        assert isinstance(error, NumbaError) and isinstance(error, errors.TypingError) and str(error)
    else:
        raise AssertionError("a number and a text were added")
    assert float64[:, ::1] == types.Array(types.float64, 2, "C") and str(int64(float64)) == "(float64,) -> int64"
    assert typeof(a) == float64[::1] and types.Tuple([int64, float64]) == types.Tuple((int64, float64))
    assert types.UniTuple(int64, 2).count == 2 and types.UniTuple(int64, 2).dtype == int64
    assert int64.bitwidth == 64 and int64.signed and isinstance(int64, types.Integer) and not config.DISABLE_JIT
    assert types.unliteral(types.literal(3)) == int64 and types.ListType(int64).dtype == int64
    assert callable(jit_module)


if __name__ == "__main__":
    main()
