"""Joining with dtype=, casting= and out=, of arrays, numbers and lists, and of one array; reshape in column order."""
import numpy as np
import pytest
from tests.oracle import agree_on

from pyjitc import TypingError, njit

V, A, A3 = np.arange(3.0), np.arange(6.0).reshape(2, 3), np.arange(24.0).reshape(2, 3, 4)
COUNTS = np.arange(6, dtype=np.int32).reshape(2, 3)

CASES = {
    "dtype": (lambda a,
              b: (np.concatenate((a, b), dtype=np.float32), np.concatenate((a, b), 1, dtype=np.int16, casting="unsafe"),
                            np.stack((a, b), 1, dtype=np.complex64), np.vstack((a, b), dtype=np.float32),
                  np.hstack((a, b), dtype=np.int8, casting="unsafe"),
                            np.concat((a, b), axis=None, dtype=np.float32)), (A, A * 2), (COUNTS, A)),
    "out": (lambda a, b, o: (np.concatenate((a, b), out=o), np.concatenate((b, a), 0, o)), (A, -A, np.zeros((4, 3))),
            (A, COUNTS, np.zeros((4, 3), np.float32)), (A, A, np.zeros((4, 4)))),
    "out of another rank": (lambda a, o: np.concatenate((a, a), out=o), (A, V)),
    "out in a row": (lambda a, o: np.concatenate((a, [1]), None, o), (A, np.zeros(7)), (A, np.zeros(6))),
    "stack out": (lambda a, o: np.stack((a, a), -1, o), (A, np.zeros((2, 3, 2)))),
    "numbers and lists": (lambda v, x: (np.concatenate((v, [x], (1, 2))), np.vstack((v, [1, 2, x])),
                                        np.hstack((v, x, 1)), np.stack((x, 2)), np.dstack((1, x)),
                                        np.column_stack((v, [1, 2, 3])), np.append(x, [1, 2]), np.append([1, 2], x),
                                        np.vstack((x, 1))), (V, 2), (V, 2.5)),
    "rows": (lambda a: (np.concatenate(a, axis=None), np.vstack(a), np.hstack(a), np.dstack(a), np.column_stack(a),
                        np.stack(a), np.stack(a, 1), np.stack(a, -1)),
             (A,), (A3,)),
    "planes": (lambda a: (np.concatenate(a), np.concatenate(a, -1), np.concatenate(a, axis=1, dtype=np.float32)), (A3,),
               (A3[:, ::-1],), (A3[:0],)),
    "items of a row": (lambda v: (np.vstack(v), np.hstack(v), np.dstack(v), np.column_stack(v)), (V,)),
    "items without axes": (lambda v: np.concatenate(v), (V,)),
    "unlike": (lambda a, v: np.stack((a, v)), (A, V)),
    "nothing": (lambda: np.concatenate(()), ()),
    "columns first": (lambda a: (np.reshape(a, (3, 2), order="F"), a.reshape(-1, order="F"), a.reshape(3, 2, order="F"),
                                 np.reshape(a, (3, 2), "A"), a.reshape((3, 2), copy=True)),
                      (A,), (A.T,), (A3[0, :2, ::2].copy(),), (A3[0, :2, :3],), (A3.T[:3, :2, 0],), (A[::-1],)),
    "wrong order": (lambda a: a.reshape((3, 2), order="K"), (A,)),
    "no copy": (lambda a: (a.reshape(3, 2, copy=False), np.reshape(a, -1, copy=False)), (A,)),
    "lists": (lambda x: (np.repeat([1, x], [2, 3]), np.repeat(x, 3), np.tile([1, x], [2, 1]), np.tile(x, 3),
                         np.broadcast_to(x, (2, 3)), np.broadcast_to([x, 1], (3, 2)), np.atleast_1d([1, x]),
                         np.atleast_2d((x, 1)), np.diag([x, 1]), np.reshape([x, 1], (2, 1))), (2,), (0.5,)),
    "several": (lambda a, v: (np.atleast_1d(a, v, 3), np.atleast_2d(v, 1), np.atleast_3d(a, v, 2.5)), (A, V)),
    "keywords": (lambda n: (np.eye(n, order="F"), np.eye(n, 4, 1, np.int8, "F", device="cpu", like=None),
                            np.identity(n, like=None), np.tri(n, 3, 1, np.int8, like=None)), (3,)),
}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])


def test_a_reshape_that_copies_is_a_copy():
    @njit
    def f(a):
        a.reshape((3, 2), copy=True)[...] = 5.0
        a.reshape((3, 2), order="F")[...] = 6.0
        return a

    assert f(A.copy()).tolist() == A.tolist()
    assert (f(np.asfortranarray(A)) == 6.0).all()


@pytest.mark.parametrize("function, text", [
    (lambda a: np.concatenate((a, a), dtype=np.int32),
     "Cannot cast array data from dtype('float64') to dtype('int32') according to the rule 'same_kind'"),
    (lambda a: np.stack((a, a), dtype=np.float32, casting="no"),
     "Cannot cast array data from dtype('float64') to dtype('float32') according to the rule 'no'"),
    (lambda a: np.concatenate((a, a), out=a, dtype=a.dtype),
     "concatenate() only takes `out` or `dtype` as an argument, but both were provided."),
    (lambda a: np.vstack((a, a), casting="nosuch"),
     "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got 'nosuch')"),
    (lambda a: np.hstack(3), "np.hstack of an int is not compiled"),
])
def test_what_the_types_rule_out(function, text):
    with pytest.raises(TypingError) as caught:
        njit(function)(A)
    assert text in str(caught.value)


def test_the_order_of_fortran_is_kept():
    a = np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))
    joined = njit(lambda a, b: (np.concatenate((a, b)), np.concatenate((a, b), axis=2), np.vstack((a, b)),
                                np.hstack((a, b)), np.concatenate((a, b.copy()))))(a, a)
    wanted = (np.concatenate((a, a)), np.concatenate((a, a), axis=2), np.vstack((a, a)), np.hstack((a, a)),
              np.concatenate((a, a.copy())))
    for x, y in zip(joined, wanted):
        assert x.strides == y.strides and np.array_equal(x, y)
