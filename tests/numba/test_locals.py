"""jit(locals={...}): conversion of what is assigned to a local variable."""
import numpy as np
import pytest

import pyjitc.numba as nb
from pyjitc.numba import njit, types
from tests.oracle import same


def assigned(x):
    z = x + 0.1
    return z


def sums(n):
    total = 0
    for i in range(n):
        total += i * 0.1
    return total


def counted(n):
    k = 0
    for k in range(n):
        pass
    return k


def unpacked(x):
    a, b = x, x + 1
    return a, b


def walrus(x):
    if (y := x + 1) > 3:
        return y
    return -y


def either(x):
    y = 1
    if x > 2:
        y = 2.5
    return y


def inner(x):
    def named(y):
        return y
    y = x
    return named(1), y, [y for y in range(2)]


@pytest.mark.parametrize("function, declared, args, expected", [
    (assigned, {"z": nb.float32}, (1.0,), np.float32(1.1)),
    (assigned, {"z": nb.int64}, (2.9,), 3),
    (assigned, {"z": nb.float64}, (2,), 2.1),
    (sums, {"total": "float32"}, (4,), np.float32(0.6)),
    (counted, {"k": nb.uint8}, (259,), 2),
    (counted, {"n": nb.int8}, (259,), 2),
    (unpacked, {"a": nb.float64, "b": nb.int8}, (127,), (127.0, -128)),
    (walrus, {"y": nb.float64}, (3,), 4.0),
    (either, {"y": nb.float64}, (1,), 1.0),
    (either, {"y": nb.boolean}, (3,), True),
    (inner, {"y": nb.float64}, (3,), (1, 3.0, [0, 1])),
    (assigned, {"absent": nb.float64}, (1.0,), 1.1),
])
def test_conversions(function, declared, args, expected):
    same(njit(locals=declared)(function)(*args), expected)


def test_beside_signatures_closures_and_objmode():
    more = 3

    @njit("int64(int64)", locals={"y": types.int8})
    def shortened(x):
        y = x + more
        return y

    @njit(locals={"y": nb.float32})
    def with_region(x):
        y = 0.1
        with nb.objmode(z="float64"):
            z = len(str(x)) + 1.0
        return y, z

    assert shortened(254) == 1
    same(with_region(12), (np.float32(0.1), 3.0))


def test_what_is_no_number_is_refused():
    def named(x):
        y = str(x)
        return y

    with pytest.raises(TypeError, match="'y' is declared as float64, and cannot hold a value of type str"):
        njit(locals={"y": nb.float64})(named)(1)


@njit(locals={"found": nb.float64})
def factorial(n):
    found = n
    if n > 1:
        found *= factorial(n - 1)
    return found


def test_recursion():
    same(factorial(5), 120.0)

    @njit(locals={"found": nb.float64})
    def inner(n):
        found = n
        return found * inner(n - 1) if n > 1 else found

    same(inner(5), 120.0)
