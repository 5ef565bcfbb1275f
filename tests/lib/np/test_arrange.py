"""Shape, joining, repeating and ranges against NumPy: values, dtypes, shapes, errors, and whether a result is a
view."""
import itertools

import numpy as np
import pytest
from tests.oracle import agree, agree_on, difference, outcome

from pyjitc import TypingError, njit

A1, A2, A3 = np.arange(6.0), np.arange(12).reshape(3, 4), np.arange(24, dtype=np.float32).reshape(2, 3, 4)

CASES = {
    "reshape": (lambda a: (a.reshape(2, 3), a.reshape((3, -1)), np.reshape(a, (6, 1)), np.reshape(a, -1)), (A1,),
                (A1[::-1],)),
    "reshape 2": (lambda a: (a.reshape(4, 3), a.reshape(-1), a.reshape((2, 1, -1))), (A2,), (A2[:, ::-1],), (A2.T,)),
    "reshape wrong": (lambda a: a.reshape(4, 2), (A1,)),
    "reshape wrong -1": (lambda a: a.reshape(4, -1), (A1,)),
    "reshape two -1": (lambda a: a.reshape(-1, -1), (A1,)),
    "ravel": (lambda a: (np.ravel(a), a.ravel(), a.flatten()), (A2,), (A3,), (A2.T,), (A1,)),
    "transpose": (lambda a: (a.T, np.transpose(a), a.transpose(), a.transpose(1, 0), np.transpose(a, (1, 0))), (A2,)),
    "transpose "
    "3": (lambda a: (a.transpose(2, 0, 1), np.transpose(a, (1, 0, 2)), np.swapaxes(a, 0, 2), a.swapaxes(1, -1),
                               np.moveaxis(a, 0, -1), np.moveaxis(a, (0, 1), (-1, -2))), (A3,)),
    "axes": (lambda a: (np.expand_dims(a, 0), np.expand_dims(a, -1), np.expand_dims(a, (0, 2)), np.atleast_2d(a)),
             (A1,), (A2,)),
    "squeeze": (lambda a: (np.squeeze(a, 0), a.squeeze(axis=0), np.squeeze(a[:, :, None], axis=(0, 2))), (A1[None],)),
    "squeeze wrong": (lambda a: np.squeeze(a, 0), (A2,)),
    "flip": (lambda a: (np.flip(a), np.flip(a, 0), np.flip(a, axis=-1)), (A1,), (A2,)),
    "flip 2": (lambda a: (np.fliplr(a), np.flipud(a), np.rot90(a), np.rot90(a, 2), np.rot90(a, -1)), (A2,)),
    "broadcast_to": (lambda a: (np.broadcast_to(a, (2, 6)), np.broadcast_to(a[:1], (6,))), (A1,)),
    "broadcast_to wrong": (lambda a: np.broadcast_to(a, (2, 5)), (A1,)),
    "broadcast_to a negative shape": (lambda a, n: np.broadcast_to(a, (n, 6)), (A1, -2), (A1, 2)),
    "broadcast_to no axes": (lambda a: np.broadcast_to(a, ()), (A1,)),
    "concatenate": (lambda a, b: (np.concatenate((a, b)), np.concatenate([a, b, a]), np.hstack((a, b)), np.append(a, b),
                                  np.append(a, 3.0)),
                    (A1, A1[::2]), (A1, np.arange(3)), (np.arange(3, dtype=np.int8), A3[0, 0])),
    "concatenate 2": (lambda a, b: (np.concatenate((a, b), axis=0), np.vstack((a, b)),
                                    np.concatenate((a, b), axis=None)), (A2, A2[:1])),
    "concatenate axis": (lambda a, b: (np.concatenate((a, b), axis=1), np.concatenate((a, b), axis=-1),
                                       np.hstack((a, b))), (A2, A2[:, :2])),
    "concatenate wrong": (lambda a, b: np.concatenate((a, b), axis=0), (A2, A2[:, :2])),
    "stack": (lambda a, b: (np.stack((a, b)), np.stack((a, b), axis=-1), np.column_stack((a, b)), np.vstack((a, b)),
                            np.dstack((a, b))),
              (A1, A1 * 2)),
    "stack wrong": (lambda a, b: np.stack((a, b)), (A1, A1[:2])),
    "roll": (lambda a: (np.roll(a, 2), np.roll(a, -1), np.roll(a, 100)), (A1,), (A2,), (A1[:0],)),
    "roll axis": (lambda a: (np.roll(a, 1, axis=0), np.roll(a, -1, 1)), (A2,)),
    "repeat": (lambda a: (np.repeat(a, 2), a.repeat(3), np.repeat(a, 0)), (A1,), (A2,)),
    "repeat axis": (lambda a: (np.repeat(a, 2, axis=0), np.repeat(a, 2, axis=1)), (A2,)),
    "repeat counts": (lambda a, n: np.repeat(a, n), (A1[:3], np.array([1, 0, 2])), (A1[:3], np.array([2])),
                      (A1, np.array([1, 2])), *((A1[:3], np.array([1, 0, 2], t)) for t in "?BQfdD"),
                      (A1[:3], np.array(2)), (A1[:3], np.array(2.0))),
    "repeat list": (lambda a: (np.repeat(a, [1.5, 0, 2]), np.repeat(a, (True, False, True))), (A1[:3],)),
    "tile": (lambda a: (np.tile(a, 2), np.tile(a, (2, 3)), np.tile(a, (2, 1, 2))), (A1,), (A2,)),
    "triangles": (lambda a: (np.tril(a), np.triu(a), np.tril(a, -1), np.triu(a, k=2)), (A2,), (A3,)),
    "eye": (lambda n: (np.eye(n), np.eye(n, 5, 1), np.eye(n, k=-1, dtype=np.int32), np.identity(n), np.tri(n, 4, 1)),
            (3,), (0,)),
    "diag": (lambda a: (np.diag(a), np.diag(a, 1), np.diag(a, -2)), (A1,), (A2,)),
    "diagonal": (lambda a: (np.diagonal(a), a.diagonal(1), np.diagonal(a, -1)), (A2,)),
    "linspace": (lambda a, b, n: (np.linspace(a, b, n), np.linspace(a, b, n, endpoint=False), np.linspace(a, b)),
                 (0.0, 1.0, 7), (1, 5, 3), (2.0, 2.0, 4), (0.0, 1.0, 1), (0.0, 1.0, 0), (3.0, -1.5, 11)),
    "linspace dtype": (lambda a, b: (np.linspace(a, b, 5, dtype=np.float32), np.linspace(a, b, 5, retstep=True)),
                       (0.0, 1.0)),
    "arange": (lambda n: (np.arange(n), np.arange(1, n), np.arange(0, n, 3), np.arange(n, 0, -2)), (7,), (0,), (-3,)),
    "arange float": (lambda a, b: (np.arange(a, b, 0.5), np.arange(b), np.arange(a, b)), (0.0, 3.0), (1.0, 1.0),
                     (2.5, 7.25)),
    "arange dtype": (lambda n: (np.arange(n, dtype=np.float64), np.arange(n, dtype=np.int8)), (5,)),
    "array": (lambda x, y: (np.array([x, y]), np.array([[1, 2], [3, 4]]), np.array((1.5, x)), np.array([True, False]),
                            np.array([1, 2], dtype=np.float32), np.array([])), (1.0, 2.0), (3, 4)),
    "array of an "
    "array": (lambda a: (np.array(a), np.asarray(a, dtype=np.float32), np.copy(a), np.ascontiguousarray(a.T)), (A2,)),
    "sizes": (lambda a: (np.shape(a), np.ndim(a), np.size(a), np.size(a, 0)), (A2,)),
    "astype": (lambda a: (a.astype(np.float32), a.astype(np.int64), a.astype("int8"), a.astype(bool)), (A1,), (A2,)),
}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])


def test_views_are_views():
    @njit
    def f(a):
        a.reshape(3, 2)[1, 1] = 50.0
        a.ravel()[0] = 7.0
        np.reshape(a[None], -1)[2] = 8.0
        np.flip(a)[0] = 9.0
        np.expand_dims(a, 1)[1, 0] = 10.0
        a.flatten()[1] = -1.0
        return a

    np.testing.assert_array_equal(f(np.arange(6.0)), f.py_func(np.arange(6.0)))


def test_fill_diagonal():
    @njit
    def f(a, x):
        np.fill_diagonal(a, x)
        np.copyto(a[0], a[1])
        return a

    np.testing.assert_array_equal(f(np.zeros((3, 4)), 2.0), f.py_func(np.zeros((3, 4)), 2.0))


def test_reshape_of_a_view_is_a_view():
    @njit
    def f(a):
        a[:, :2].reshape(4, 2, 1)[0, 0, 0] = 5.0
        return a

    assert f(np.zeros((4, 3)))[0, 0] == 5.0


def test_reshape_of_a_read_only_view_copies():
    a = np.zeros((4, 3))
    a.flags.writeable = False
    f = njit(lambda a: a[:, :2].reshape(4, 2, 1))
    assert not np.shares_memory(f(a), a) and np.shares_memory(f.py_func(a), a)


@pytest.mark.parametrize("axes", range(5))
def test_messages_of_shapes_that_do_not_fit(axes):
    f = njit([lambda a: a.reshape(()), lambda a, *n: a.reshape((n[0],)), lambda a, *n: a.reshape((n[0], n[1])),
              lambda a, *n: a.reshape((n[0], n[1], n[2])),
              lambda a, *n: a.reshape((n[0], n[1], n[2], n[3]))][axes])
    for size in 0, 7, 12:
        for lengths in itertools.product((-1, -3, 0, 1, 5, 12) if axes < 4 else (-1, 0, 5), repeat=axes):
            expected, actual = (outcome(g, (np.arange(size), *lengths)) for g in (f.py_func, f))
            assert not difference(expected, actual), (size, lengths)


def test_reshape_of_all_layouts():
    x = np.arange(48).reshape(4, 12)
    arrays = [x, x.T, x[:, ::2], x[:, 1:], x[::-1], x[::-1, ::-1], x[:1], np.asfortranarray(x)[::2], x.reshape(4, 3, 4),
              x.reshape(4, 3, 4)[:, 1:], x.reshape(4, 3, 4).transpose(1, 0, 2), x.reshape(2, 2, 12)[..., ::-3],
              x[:, :0]]
    f = njit(lambda a: (a.reshape(-1), a.reshape(4, -1), a.reshape((-1, 2)), a.reshape(-1, order="F"),
                        a.reshape((2, -1), order="F"), a.reshape((-1, 2), order="A")))
    for a in arrays:
        expected, actual = outcome(f.py_func, (a,)), outcome(f, (a,))
        assert not difference(expected, actual), (a.shape, a.strides)
        assert [np.shares_memory(y, a) for y in f(a)] == [np.shares_memory(y, a)
                                                          for y in f.py_func(a)], (a.shape, a.strides)


def test_orders_and_edges():
    def f(a, v):
        b, c = a.copy(), np.zeros((5, 2))
        np.fill_diagonal(b, v)
        np.fill_diagonal(c, [1.0, 2.0, 3.0], wrap=True)
        return (np.ravel(a, "F"), np.ravel(a, order="A"), np.ravel(a, "K"), a.flatten("F"), a.flatten(order="K"),
                a.ravel("F"), np.roll(a, (1, 2), axis=(0, 1)), np.roll(a, 1, axis=(0, 1)), np.tril(v), np.triu(v, 1), b,
                c)

    a = np.arange(6.0).reshape(2, 3)
    agree(f, a, np.array([7.0, 8.0]))
    agree(f, np.asfortranarray(a), np.array([7.0]))
    for function in (lambda a: np.rot90(a[0]), lambda a: np.fill_diagonal(a[0], 1), lambda a: np.ravel(a, "X"),
                     lambda a: np.put(a[:0], [0], 1)):
        agree(function, a)


@pytest.mark.parametrize("f", [
    lambda a: np.transpose(a, [1, 0, 2]), lambda a: a.transpose([2, 0, 1]),
    lambda a: np.tensordot(a[0], a[0], axes=([1], [1])), lambda a: np.tensordot(a, a, axes=[[0, 1], [0, 1]]),
    lambda a: np.flip(a, [0, 1]), lambda a: np.moveaxis(a, [0, 1, 2], [2, 1, 0]),
    lambda a: np.roll(a, [1, 2], axis=[0, 1]), lambda a: np.expand_dims(a, [0, 2]), lambda a: np.rot90(a, axes=[0, 2]),
])
def test_axes_in_lists(f):
    agree(f, np.arange(24.0).reshape(2, 3, 4))


def test_axes_that_are_not_constants():
    def f(a, k):
        axes = [k, 1 - k]
        return np.transpose(a, axes)

    with pytest.raises(TypingError, match="axes must be known at compile time(.|\n)*write a tuple of constants"):
        njit(f)(np.ones((2, 3)), 1)


@pytest.mark.parametrize("function", [
    lambda a, i, j: np.swapaxes(a, i, j), lambda a, i, j: a.swapaxes(i, j) + 1, lambda a, i, j: np.swapaxes(a, 1, j),
    lambda a, i, j: np.sort(np.swapaxes(a, i, -1)),
])
def test_axes_that_change_places_are_known_at_run_time(function):
    a, compiled = np.arange(24.0).reshape(2, 3, 4), njit(function)
    for i, j in ((0, 1), (-1, 0), (2, 2), (np.int8(1), -3), (3, 0), (0, -4), (True, 0), (False, True)):
        agree(function, a, i, j, compiled=compiled)


@pytest.mark.parametrize("function", [
    lambda a: np.swapaxes(a, True, 0), lambda a: a.swapaxes(-1, False), lambda a: np.moveaxis(a, True, 0),
    lambda a: np.moveaxis(a, 2, False), lambda a: np.flip(a, True), lambda a: np.expand_dims(a, True),
])
def test_a_bool_may_be_the_number_of_an_axis(function):
    agree(function, np.arange(24.0).reshape(2, 3, 4))


def test_a_bool_is_no_axis_of_fewer_axes():
    agree(lambda a: np.swapaxes(a, True, 0), np.arange(3.0))


def test_swapped_axes_are_a_view():
    a = np.arange(6.0).reshape(2, 3)
    found = njit(lambda a, i: np.swapaxes(a, i, 1))(a, 0)
    assert np.shares_memory(found, a) and found.strides == a.T.strides
