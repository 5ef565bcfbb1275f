"""insert, delete, resize, trim_zeros and block against NumPy."""
import numpy as np
import pytest
from tests.oracle import agree_on

from pyjitc import TypingError, njit

V, A, A3 = np.arange(5.0), np.arange(12).reshape(3, 4), np.arange(24, dtype=np.float32).reshape(2, 3, 4)
Z = np.array([0, 0, 3, 0, 5, 0])

CASES = {
    "insert": (lambda a, i, x: (np.insert(a, i, x), np.insert(a, i, 7.9), np.insert(a, [i], x)), (V, 1, 2), (V, -2, V),
               (V, 5, V[:2]), (V, 6, 1), (A, 3, 1), (V[::-1], 0, 1 > 0), (V[:0], 0, 1)),
    "insert along": (lambda a, i, x: (np.insert(a, i, x, axis=0), np.insert(a, i, 5, axis=1), np.insert(a, i, x, -1)),
                     (A, 1, 9), (A.T, -1, 2.5), (A3, 0, 1), (A, 4, 1)),
    "insert rows": (lambda a, x: (np.insert(a, 1, x, axis=0), np.insert(a, [1], x, axis=0),
                                  np.insert(a, [0, 2], x, axis=0)), (A, A[0]), (A, 3)),
    "insert columns": (lambda a, x, y: (np.insert(a, 1, x, axis=1), np.insert(a, [1], y, axis=1),
                                        np.insert(a, [0, 2], y, axis=1)), (A, A[:, 0], A[:, :1])),
    "insert at": (lambda a, i, x: np.insert(a, i, x), (V, np.array([2, 0, 2]), V[:3]), (V, np.array([1, -1]), 8),
                  (V, np.array([3]), V), (V, np.array([], np.int64), V[:0]), (V, V > 2, 5), (V, np.array([1, 9]), 5),
                  (V, np.array(2), 5), (V, np.array([[1]]), 5), (V, np.array([2, 0], np.int8), V[:2]),
                  (V, np.array([1, 2]), V), (V[:0], np.array([2, 0, 1]), 1)),
    "insert slices": (lambda a, x: (np.insert(a, slice(1, 3), x), np.insert(a, slice(None, None, -2), x, axis=0),
                                    np.insert(a, [], x)), (V, 7), (V, 1.5)),
    "insert wrong": (lambda a, x: np.insert(a, 1, x, axis=0), (A, V),),
    "delete": (lambda a, i: (np.delete(a, i), np.delete(a, [i]), np.delete(a, [0, i])), (V, 1), (V, -1), (V, 5),
               (V, -6), (A, 3), (V[::-1], 0)),
    "delete along": (lambda a, i: (np.delete(a, i, axis=0), np.delete(a, i, axis=1), np.delete(a, [i, 0], -1)), (A, 1),
                     (A.T, -1), (A3, 0), (A, 3)),
    "delete at": (lambda a, i: np.delete(a, i), (V, np.array([2, 0, 2])), (V, np.array([9, 1])), (V, np.array([3])),
                  (V, V > 2), (V, V[:3] > 2), (V, np.array(2)), (V, np.array([-1, 1], np.int8)),
                  (V, np.array([], np.int64)), (V, np.array([[1, 2]]))),
    "delete slices": (lambda a: (np.delete(a, slice(1, 3)), np.delete(a, slice(None, None, -2)), np.delete(a, []),
                                 np.delete(a, slice(9, 2), 0), np.delete(a, slice(0, 99, 3))), (V,), (A,)),
    "edit a list": (lambda x: (np.insert([1, 2], 1, x), np.delete((1, x, 3), 1)), (5,)),
    "resize": (lambda a, n: (np.resize(a, n), np.resize(a, (2, n)), np.resize(a, (n, 0)), np.resize([1, 2], n)), (V, 3),
               (A, 7), (A.T, 20), (V[:0], 2), (V, -1)),
    "trim": (lambda a: (np.trim_zeros(a), np.trim_zeros(a, "f"), np.trim_zeros(a, trim="B")), (Z,), (Z * 0,),
             (Z[::-1],), (Z[:0],), (Z[2:3],), (Z > 1,)),
    "trim axes": (lambda a: (np.trim_zeros(a), np.trim_zeros(a, "f", axis=1), np.trim_zeros(a, "b", axis=-1),
                             np.trim_zeros(a, axis=(0, 1)), np.trim_zeros(a, axis=())), (np.outer(Z, Z[1:5]),),
                  (np.zeros((2, 3)),), (np.zeros((0, 3)),)),
    "trim wrong": (lambda a: np.trim_zeros(a, "x"), (Z,)),
    "trim no axis": (lambda a: np.trim_zeros(a, axis=2), (Z,)),
    "block": (lambda a, b: (np.block([a, b]), np.block([[a, b], [b, a]]), np.block([[a], [b]]), np.block(a),
                            np.block([1, 2]), np.block([[1, 2.5], [3, 4]]), np.block(7), np.block([[[a]], [[b]]])),
              (V, V * 2), (A, A + 0.5), (A3, A3)),
    "block mixed": (lambda a, x: (np.block([[a, a[:, :1]], [a[:1], x]]), np.block([a[0], x])), (A, 5)),
    "block wrong": (lambda a: np.block([[a, a], [a]]), (A,)),
    "block tuple": (lambda a: np.block([[a, a], (a, a)]), (A,)),
    "block empty": (lambda: np.block([[], []]), ()),
}
if np.lib.NumpyVersion(np.__version__) < "2.3.0":
    del CASES["trim axes"], CASES["trim no axis"]


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])


def test_what_is_refused():
    for call, text in ((lambda a: np.block([a, [a]]), "depths are mismatched"),
                       (lambda a: np.trim_zeros([0, 1]), "pass an array"), (lambda a: np.delete(a, 0.5), "")):
        with pytest.raises(TypingError, match=text):
            njit(call)(V)
