"""Meanings for functions, methods and attributes that compiled code has none for; helpers of LLVM code."""
import numpy as np
from numba import njit, prange, types
from numba.extending import (
    intrinsic, is_jitted, overload, overload_attribute, overload_method, register_jitable,
)


def clamp(x, low, high):
    """What the interpreter runs."""
    return min(max(x, low), high)


@overload(clamp)
def overloaded_clamp(x, low, high):
    if isinstance(x, types.Array):
        def of_arrays(x, low, high):
            return np.minimum(np.maximum(x, low), high)
        return of_arrays
    if isinstance(x, (types.Integer, types.Float)):
        return lambda x, low, high: low if x < low else (high if x > high else x)


def first_or(a, default=None):
    raise NotImplementedError


@overload(first_or)
def overloaded_first_or(a, default=None):
    if default is None or isinstance(default, (types.NoneType, types.Omitted)):
        return lambda a, default=None: a[0] if len(a) else -1.0
    return lambda a, default=None: a[0] if len(a) else default


@overload_method(types.Array, "normalised")
def array_normalised(a, order=2):
    def normalised(a, order=2):
        return a / (np.abs(a) ** order).sum() ** (1 / order)
    return normalised


@overload_attribute(types.Array, "middle")
def array_middle(a):
    return lambda a: a[a.size // 2]


@register_jitable
def squared_norm(v):
    total = 0.0
    for x in v:
        total += x * x
    return total


@intrinsic
def bits_of(typingctx, x):
    if isinstance(x, types.Float):
        def codegen(context, builder, signature, args):
            return builder.bitcast(args[0], context.get_value_type(types.int64))
        return types.int64(types.float64), codegen


@njit
def use(a, x):
    return clamp(a, 0.0, 1.0).sum(), clamp(x, 2, 5), a.normalised(), a.normalised(order=1).sum(), a.middle


@njit
def firsts(a):
    return first_or(a), first_or(a[:0]), first_or(a[:0], 7.0)


@njit(parallel=True)
def norms(rows):
    out = np.empty(len(rows))
    for i in prange(len(rows)):
        out[i] = squared_norm(rows[i])
    return out


@njit
def bits(x):
    return bits_of(x) >> 52


def main():
    a = np.array([-1.0, 0.25, 3.0])
    total, clamped, normalised, one, middle = use(a, 9)
    assert total == 1.25 and clamped == 5 and middle == 0.25 and abs(abs(one) - abs(a.sum()) / 4.25) < 1e-15
    np.testing.assert_allclose(normalised, a / np.linalg.norm(a))
    assert firsts(a) == (-1.0, -1.0, 7.0) and clamp(9, 2, 5) == 5
    np.testing.assert_allclose(norms(np.arange(6.0).reshape(2, 3)), [5.0, 50.0])
    assert squared_norm([1.0, 2.0]) == 5.0 and bits(1.0) == 1023 and bits(4.0) == 1025
    assert is_jitted(use) and not is_jitted(clamp)


if __name__ == "__main__":
    main()
