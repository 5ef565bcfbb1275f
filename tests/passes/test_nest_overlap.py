"""Assignments whose operands share memory with the target: small operands are copied, not the result."""
import numpy as np
import pytest
from tests.oracle import agree
from tests.passes.test_nests import count

from pyjitc import njit
from pyjitc.ops.memory import ARRAY_COPY, ARRAY_NEW


def row(x):
    x -= x[0]


def column(x):
    x[:] = x - x[:, 1]


def column_beside(x):
    x[:, 1:] += x[:, 0][:, None] * 2


def outer(x):
    x[1:] -= np.outer(x[1:, 0], x[0])


def backwards(x):
    x[::-1] += x[2]
    x += x[1][::-1]


def chained(x):
    x[...] = np.minimum(x, np.add.outer(x[:, 1], x[1, :]))


def kept_axis(x):
    x /= x[:, 0].reshape(-1, 1) + x[0]


def number(x):
    x += x[1, 1:2].reshape(1, 1)


def masked(x):
    np.add(x, x[0], out=x, where=x > 3)


FUNCTIONS = (row, column, column_beside, outer, backwards, chained, number, masked)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_small_operands_on_the_target_are_copied(function):
    for dtype in ("int32", "float64") + (("complex128", "int8", "float16") if function in (row, column) else ()):
        compiled = None
        for n in (3, 4, 17):
            a = (np.arange(n * n).reshape(n, n) * 7 % 11).astype(dtype)
            compiled = agree(function, a, compiled=compiled)
        agree(function, np.asfortranarray(a), compiled=compiled)
        agree(function, np.zeros((8, 9), dtype)[1::2, ::2][:4, :4], compiled=compiled)


def test_division_by_what_is_divided():
    agree(kept_axis, np.arange(1.0, 26).reshape(5, 5))


def test_three_axes():
    def f(x):
        x *= x[1]
        x -= x[:, :1, :2].sum(axis=2)[:, :, None]
        x[:, 1:, :] += x[:, 0, :].reshape(len(x), 1, -1)

    compiled = agree(f, np.arange(60.0).reshape(3, 4, 5))
    agree(f, np.arange(120.0).reshape(6, 4, 5)[::-2], compiled=compiled)


def test_two_names_of_one_memory():
    """It is known only at run time whether operand and target overlap."""
    def f(x, y):
        x += y

    a = np.arange(40.0)
    compiled = agree(f, a[:20].reshape(4, 5), a[35:])
    for y in (a[:5], a[3:8], a[8:13], a[4:9][::-1], a[0:20:4], a[19:24], a[20:25]):
        x, copy = a[:20].reshape(4, 5).copy(), a.copy()
        whole = copy.__array_interface__["data"][0]
        start = (y.__array_interface__["data"][0] - a.__array_interface__["data"][0]) // 8
        same = np.lib.stride_tricks.as_strided(copy[start:], y.shape, y.strides)
        assert copy.__array_interface__["data"][0] == whole
        expected = x + y
        compiled(copy[:20].reshape(4, 5), same)
        np.testing.assert_array_equal(copy[:20].reshape(4, 5), expected)


def along_rows(x, y):
    x[1:-1] = y[:-2] - 2 * y[1:-1] + y[2:]


def along_both(x, y):
    x[1:-1, 1:-1] = y[:-2, 1:-1] - 2 * y[1:-1, 2:] + x[1:-1, 1:-1] + y[1:-1, :-2] * x[2:, 2:]


def test_several_operands_anywhere_in_one_buffer():
    """Operands with the same lengths and strides have one test; any of them may be the one that overlaps."""
    rng = np.random.default_rng(7)
    for function, shape in ((along_rows, (7,)), (along_rows, (5, 4)), (along_both, (5, 6))):
        compiled = njit(function)
        for _ in range(120):
            view = tuple(slice(None, None, int(rng.choice((1, 1, 2, -1)))) for _ in shape)
            first, second = (rng.integers(0, 9, len(shape)) for _ in range(2))
            if rng.integers(0, 3) == 0:
                second = first
            outcomes = []
            for f in (function, compiled):
                buffer = np.arange(30.0 ** len(shape)).reshape((30,) * len(shape)) ** 2
                f(*(buffer[tuple(slice(o, o + 2 * n) for o, n in zip(place, shape))][view]
                    for place in (first, second)))
                outcomes.append(buffer)
            np.testing.assert_array_equal(*outcomes)


def test_nothing_to_do():
    def f(x):
        x -= x[:, 0].reshape(-1, 1)
        x += x[:1].sum(axis=0)

    compiled = agree(f, np.ones((0, 3)))
    agree(f, np.ones((1, 1)), compiled=compiled)
    agree(f, np.ones((4, 1)), compiled=compiled)


def test_shapes_that_do_not_fit():
    def f(x):
        x[:] = x + x[:, 0]

    compiled = agree(f, np.ones((3, 3)))
    agree(f, np.ones((3, 4)), compiled=compiled)


def test_only_the_row_is_copied():
    """Structure: there is no array for the whole result."""
    a = np.ones((5, 5))
    assert count(row, (a,), ARRAY_COPY) == 1 and count(row, (a,), ARRAY_NEW) == 0
    assert count(outer, (a,), ARRAY_COPY) == 2
    assert count(lambda x, y: np.add(x, 1, out=x), (a, a), ARRAY_COPY) == 0
