"""Arrays that NumPy makes from lists, and functions that join the arrays of a list."""
import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree, agree_on

A = np.arange(3.0)
ONES = np.ones((2, 2))


@pytest.mark.parametrize("function, calls", [
    (lambda x: np.array(x), [([1, 2],), ([1.5],), ([True, False],), ([1, 2.5],), ([[1, 2], [3, 4]],), ([[1.5]],),
                             ([[1], [2, 3]],), ([A, A],), ([A, A[:1]],), ([(1, 2.5), (3, 4.5)],), ([np.float32(1)],)]),
    (lambda x: np.asarray(x, np.float32), [([1, 2],), ([],), ([2.5],), ([[1]],)]),
    (lambda x: np.array([x, x]), [([1, 2],), ([1.5],)]),
    (lambda x: np.array([a * 2 for a in x]), [([A, A],)]),
    (lambda x: np.array([(i, i * 2.0) for i in x]), [([1, 2],)]),
    (lambda x: np.concatenate(x), [([A, A[:2]],), ([A[:0]],), ([ONES, ONES[:1]],), ([np.arange(3), np.arange(2)],)]),
    (lambda x: np.concatenate(x, axis=1), [([ONES, ONES[:, :1]],), ([ONES, ONES[:1]],)]),
    (lambda x: np.concatenate(x, None), [([ONES, ONES[:, :1]],)]),
    (lambda x: np.stack(x), [([A, A],), ([A, A[:1]],)]), (lambda x: np.stack(x, axis=1), [([A, A],)]),
    (np.vstack, [([A, A],), ([ONES, ONES],)]), (np.hstack, [([A, A[:1]],)]), (np.dstack, [([A, A],)]),
    (np.column_stack, [([A, A],)]), (lambda x: np.mean(x), [([1.0, 2.0],), ([1, 2],)]),
    (lambda x: np.median(sorted(x)), [([3, 1, 2],)]), (lambda x: np.dot(x, x), [([1.0, 2.0],)]),
])
def test_is_as_in_numpy(function, calls):
    named = function if function.__name__ == "<lambda>" else lambda x: function(x)
    agree_on(named, *calls)


@pytest.mark.parametrize("function, calls", [
    (lambda line: np.array(line.split(","), dtype=float), [("1,2.5,-3e4",), ("",), ("1,x",), ("nan, inf",)]),
    (lambda text: np.array([line.split() for line in text.splitlines()], dtype=np.int64), [("1 2\n3 4",), ("1 2\n3",)]),
    (lambda x: np.asarray(x, np.float32), [(["1", "2"],), (["1e99"],), ([["1", "2"]],)]),
    (lambda x: np.array(x, np.uint8, ndmin=3), [(["1", "2"],), (["1.5"],), (["300"],)]),
    (lambda x: np.array((x, 2.5, "3"), dtype=complex), [("1",), ("2+3j",), ("no",)]),
    (lambda x: np.asfortranarray([[x, "1"], ["2", "3"]], float), [("1",), ("no",)]),
])
def test_numbers_as_texts(function, calls):
    agree_on(function, *calls)


def test_numbers_of_several_types_may_be_of_one():
    """The array has the dtype of the items that the list contains at run time."""
    compiled = njit(lambda x: np.array(x))
    assert compiled([1, 2.5]).dtype == np.float64
    assert compiled([1, 2]).dtype == np.int64


def test_empty_lists_have_the_dtype_of_their_items():
    compiled = njit(lambda x: np.array([e for e in x if e > 5]))
    assert compiled([1, 20]).dtype == np.int64
    empty = compiled([1])
    assert empty.dtype == np.int64 and empty.shape == (0,)
    assert njit(lambda: np.array([]))().dtype == np.float64


@pytest.mark.parametrize("cls", [np.int8, np.uint64, np.float32, np.bool_, np.complex64, np.intp],
                         ids=lambda cls: cls.__name__)
def test_classes_of_numbers_make_arrays_of_lists(cls):
    compiled = njit(lambda x: cls(x))
    for x in ([1, 2, 3], [[1, 2], [3, 0]], [1.5, 0.0], [True, False], (1, 2.5), range(3)):
        agree(lambda x: cls(x), x, compiled=compiled)


W, F = np.array([1, 2, 3]), np.array([[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]], np.float32)


@pytest.mark.parametrize("function, calls", [
    (lambda x: np.array([x, [1, 2, 3]]), [(W,), (W * 0.5,), (W > 1,), (W[:2],), (W.astype(np.uint8),), (F,), (W[:0],)]),
    (lambda x: np.array([[1.0, x[0]], x]), [(W[:2],), (W,), (F[0, :2],), (F,)]),
    (lambda x: np.array([[x, [1, 2, 3]], [(4, 5, 6.5), x]], order="F"), [(W,), (W[:2],)]),
    (lambda x: np.array([x, [[1, 2, 3], [4, 5, 6]]]), [(F,), (W,), (F[:, :2],), (F[:1],)]),
    (lambda x: np.array([[[1, 2], [3]], x]), [(W,), (W[:2],), (F,), (F[:, :2],)]),
    (lambda x: np.array(([1, 2, 3], x, 5)), [(W,)]), (lambda x: np.array([5, [1, 2, 3]]), [(W,)]),
    (lambda x: np.array([[], x]), [(W[:0],), (F[0, :0],), (W,)]),
    (lambda x: np.array([[x[0], 2, 3], x], dtype=np.complex64, ndmin=3), [(W,), (W[::-1],)]),
    (lambda x: np.asarray([x.tolist(), x, [1, 2.5, 3]]), [(W,), (W * 1j,), (F[0],), (W > 2,), (W.astype(np.uint16),)]),
    (lambda x: np.array([[0] * len(x), x]), [(W,), (W * 0.5,)]),
])
def test_arrays_stand_beside_lists(function, calls):
    agree_on(function, *calls)


def changed(x):
    items = x.tolist()
    items.append(items[0])
    items[0] = items[0] + items[1]
    return items, [v for v in items], type(items[0]).__name__


def mixed(x):
    items = x.tolist()
    items[0] = "first"
    items.insert(1, None)
    return items


@pytest.mark.parametrize("function", [changed, mixed])
def test_lists_of_the_elements_of_an_array(function):
    for x in (W, W * 0.5, W > 1, W * 1j, F, W.astype(np.uint64), np.array([2**63], np.uint64), F.astype(np.float16),
              W[:0], np.array(["2020-01-02"], "M8[D]")):
        agree(function, x)
