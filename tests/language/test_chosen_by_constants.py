"""Constants that one function of the program passes to another are constants there, where code depends on them."""
import numpy as np
import pytest

from pyjitc import TypingError, grad, njit
from tests.oracle import agree, same

A = np.array([[0.3, -0.7, 1.9], [2.0, 0.1, -1.2]])


def largest(a, axis=None, keepdims=False):
    return np.max(a, axis=axis, keepdims=keepdims)


def scaled(a, axis=-1):
    return np.abs(a - largest(a, axis, True)) / 4


def through_two_functions(a):
    return scaled(a) * scaled(a, axis=0), largest(a), largest(a, 1), largest(a, keepdims=True)


def in_a_lambda_and_a_comprehension(a):
    of = lambda axis: scaled(a, axis)  # noqa: E731
    return of(0) + of(1), [scaled(row, 0) for row in a]


def halved(a, times, axis):
    return largest(a, axis, True) if times == 0 else halved(a / 2, times - 1, axis)


def in_a_recursion(a):
    return halved(a, 3, 1), halved(a, 2, 0)


def typed(a, dtype, mode):
    return np.pad(a.astype(dtype), 1, mode=mode)


def names(a):
    return typed(a, "float32", "edge"), typed(a, "int8", "constant")


def turned(a, axes):
    return np.transpose(a, axes)


def tuples(a):
    return turned(a, (1, 0)), turned(a[None], (2, 0, 1))


@pytest.mark.parametrize("function", [through_two_functions, in_a_lambda_and_a_comprehension, in_a_recursion, names,
                                      tuples])
def test_constants_are_passed_on(function):
    agree(function, A)


def test_several_types():
    """The second call is compiled for arrays of both numbers of axes."""
    def function(parts):
        return scaled(parts["w"], axis=0).sum() + scaled(parts["b"], axis=0)[0]

    parts = {"w": A, "b": A[0]}
    agree(function, parts)


def test_in_a_derivative():
    def softmax(a, axis=-1):
        e = np.exp(a - largest(a, axis, True))
        return e / e.sum(axis, keepdims=True)

    def function(a):
        return np.sum(softmax(a, 0) * a)

    p = softmax(A, 0)
    assert np.allclose(grad(function)(A), p * (1 + A - np.sum(p * A, axis=0)))


def endless(a, n, axis):
    return largest(a, axis, True) if n > 1e6 else endless(a, n + 1, axis)


@pytest.mark.parametrize("function, text", [
    (lambda a, n: scaled(a, n), "the axis must be known at compile time"),
    (lambda a, n: endless(a, 0, 1), "more than 200 combinations of argument types and constants")])
def test_what_is_not_known_is_refused(function, text):
    with pytest.raises(TypingError, match=text):
        njit(function)(A, 1)


def test_a_function_that_needs_no_constants_is_compiled_once():
    def power(x, n):
        return x ** n

    @njit
    def several(x):
        return power(x, 2) + power(x, 3) + power(x, 4)

    assert same(several(2.0), 28.0)
    (text,) = several.inspect_ir().values()
    assert text.count("power(x: float") == 1
