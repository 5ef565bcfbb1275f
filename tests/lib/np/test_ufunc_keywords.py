"""dtype=, casting=, where=, out=, order= of ufuncs, against the interpreter."""
import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import njit
from pyjitc.base.errors import TypingError


def test_dtype_chooses_the_loop():
    def f(x, y, s):
        return (np.add(x, y, dtype=np.float64), np.sqrt(x, dtype=np.float32), np.divide(x, 2, dtype="f8"),
                np.add(s, 1, dtype=np.float32), np.multiply(x, s, dtype=np.int64), np.less(x, y, dtype=np.bool_),
                np.add(1, 2, dtype=np.int8))

    agree(f, np.arange(6, dtype=np.int16).reshape(2, 3), np.array([1, 2, 3], dtype=np.int8), np.int32(7))


def test_casting():
    def f(x):
        return np.add(x, x, dtype=np.int16, casting="unsafe"), np.floor_divide(x, 2.0, casting="safe")

    agree(f, np.array([1.5, -2.5, 300.0]))
    for casting, text in (("no", "with casting rule 'no'"), ("nosuch", "casting must be one of")):
        with pytest.raises(TypingError, match=text):
            njit(lambda x: np.add(x, x, dtype=np.float64, casting=casting))(np.ones(2, np.int8))
    with pytest.raises(TypingError, match="Cannot cast ufunc 'add' input 0 from dtype..float64.. to dtype..int8.. "
                                          "with casting rule 'same_kind'"):
        njit(lambda x: np.add(x, x, dtype=np.int8))(np.ones(2))


def test_where_keeps_the_rest():
    def f(x, y, mask, out):
        np.divide(x, y, where=mask, out=out)
        return (np.add(x, y, out=out[:, ::-1], where=mask[0]), np.sqrt(x, where=mask & (x > 1), out=np.zeros((2, 3))),
                out)

    mask = np.array([[True, False, True], [False, False, True]])
    compiled = agree(f, np.arange(6.0).reshape(2, 3), np.full((2, 3), 2.0), mask, np.full((2, 3), -1.0))
    agree(f, np.arange(3.0), np.full((2, 1), 2.0), mask[:, ::-1], np.full((2, 3), -1.0), compiled=compiled)


def test_where_does_not_compute_the_rest():
    def f(x, n, mask):
        return np.power(x, n, where=mask, out=np.zeros_like(x))

    agree(f, np.array([2, 3]), np.array([2, -1]), np.array([True, False]))
    agree(f, np.array([2, 3]), np.array([2, -1]), np.array([True, True]))  # ValueError


def test_where_without_out_gives_the_rest_any_value():
    def f(x, mask):
        r = np.negative(x, where=mask, out=None)
        return r.shape, r.dtype, r[1, 0]

    agree(f, np.arange(3.0), np.array([[True], [True]]))


def test_out_of_several_results():
    def f(x, y, q, r):
        result = np.divmod(x, y, out=(q, r))
        np.modf(x / 2, out=(None, q))
        whole = np.divmod(x, y, out=(x, None))
        return result[0] is q, whole[1], np.frexp(x, r, None), np.divmod(x, y, where=y > 1, out=(q, r))

    agree(f, np.arange(4.0), np.array([2.0, 1.0, 2.0, 3.0]), np.zeros(4), np.zeros(4))


def test_out_as_tuple_and_order():
    def f(x, out):
        np.add(x, 1, out=(out,))
        a, b = np.add(x, x.T, order="F"), np.add(x, x.T, order="C")
        return (np.add(x, 1, out=(None,)), a.strides, b.strides, np.exp(x.T, order="C").strides,
                np.add(x, 1, subok=False))

    agree(f, np.arange(9.0).reshape(3, 3), np.zeros((3, 3)))


def test_sequences_are_operands():
    def f(x):
        return np.add([1, 2, 3], x), np.sqrt((1.0, 4.0)), np.maximum(x, (1, 2, 3)), np.add(x, [[1], [2]])

    agree(f, np.arange(3.0))


@pytest.mark.parametrize("function, text", [
    (lambda x: np.add(x, x, where=x), r"Cannot cast array data from dtype\('float64'\) to dtype\('bool'\)"),
    (lambda x: np.add(x, x, x, out=x), "cannot specify 'out' as both a positional and keyword argument"),
    (lambda x: np.add(x, x, out=(x, x)), "The 'out' tuple must have exactly one entry per ufunc output"),
    (lambda x: np.divmod(x, x, out=x), "'out' must be a tuple of arrays"),
    (lambda x: np.add(x, x, order="X"), "order must be one of"),
    (lambda x: np.add(x, x, bogus=1), "got an unexpected keyword argument 'bogus'"),
    (lambda x: np.add(x, x, out=2), "return arrays must be of ArrayType"),
    (lambda x: np.add(x), "takes from 2 to 3 positional arguments but 1 (was|were) given"),
    (lambda x: np.add(x, x, signature="dd->d"), "with signature= is not compiled"),
])
def test_errors(function, text):
    with pytest.raises(TypingError, match=text):
        njit(function)(np.ones(2))
