"""np.pad in all its modes against NumPy."""
import numpy as np
import pytest
from tests.oracle import agree_on

from pyjitc import TypingError, njit

V, A, I8 = np.array([1.5, -2.0, 4.0, 0.25]), np.arange(12).reshape(3, 4) ** 2, np.array([100, -100, 7], dtype=np.int8)
FEW = [(V,), (V[:1],), (I8,), (A,)]


def by_mean(vector, widths, axis, kwargs):
    vector[:widths[0]] = -1 - axis
    if widths[1] > 0:
        vector[-widths[1]:] = vector[widths[0]] * 2


CASES = {
    "constant": (lambda a: (np.pad(a, 2), np.pad(a, (1, 0), "constant"), np.pad(a, 1, constant_values=7),
                            np.pad(a, (2, 1), constant_values=(3, 4)),
                            np.pad(a, ((0, 3),), "constant", constant_values=1.9)),
                 (V,), (V[:0],), (A,), (A[:, :0],)),
    "constant of types": (lambda a: np.pad(a, (2, 1), constant_values=(3, 4)), (I8,), (V[::-2],), (A[:, ::-1],),
                          (np.array(2.0),), (V > 1,), (V * 1j,)),
    "constant axes": (lambda a: (np.pad(a, ((1, 2), (0, 3))), np.pad(a, ((1,), (2,)), constant_values=((1, 2), (3, 4))),
                                 np.pad(a, [[1, 2], [2, 1]], "edge")), (A.T.astype(np.float32),)),
    "edge": (lambda a: (np.pad(a, 2, "edge"), np.pad(a, (0, 3), mode="edge")), (I8,), (V[::-2],), (A[:1],)),
    "wrap": (lambda a: np.pad(a, (9, 7), mode="wrap"), *FEW),
    "reflect": (lambda a: np.pad(a, (2, 8), "reflect"), *FEW),
    "reflect odd": (lambda a: np.pad(a, (9, 4), "reflect", reflect_type="odd"), (V,), (A,)),
    "symmetric": (lambda a: (np.pad(a, (9, 4), "symmetric"), np.pad(a, (3, 11), "symmetric", reflect_type="odd")),
                  (I8,), (A * 0.5,)),
    "linear_ramp": (lambda a: (np.pad(a, 3, "linear_ramp"), np.pad(a, (1, 4), "linear_ramp", end_values=(5, -4))), (V,),
                    (A,)),
    "maximum": (lambda a: (np.pad(a, 2, "maximum"), np.pad(a, 1, "minimum", stat_length=2),
                           np.pad(a, (1, 2), "minimum", stat_length=(1, 9))), (I8,), (A * 0.5,)),
    "mean": (lambda a: (np.pad(a, 2, "mean"), np.pad(a, (1, 2), "mean", stat_length=2),
                        np.pad(a, 1, "median", stat_length=(3, 2))), (V,), (A,)),
    "nothing to reduce": (lambda a: np.pad(a, 1, "maximum", stat_length=0), (V,)),
    "function": (lambda a: np.pad(a, ((2, 1), (1, 2)), by_mean), (A,), (A * 0.5,)),
    "widths": (lambda a, n, m: np.pad(a, (n, m), "edge"), (V, 1, 2), (V, 0, 0), (V, -1, 2),
               (V, np.int64(1), np.int32(2))),
    "shape": (lambda a: np.pad(a, (2, 3), "empty").shape, (V,), (A,)),
    "mode wrong": (lambda a: np.pad(a, 1, "nosuch"), (V,)),
    "keyword wrong": (lambda a: np.pad(a, 1, "edge", end_values=2), (V,)),
    "float widths": (lambda a: np.pad(a, 1.5), (V,)),
    "too many widths": (lambda a: np.pad(a, ((1, 2), (3, 4), (5, 6))), (A,)),
    "three numbers": (lambda a: np.pad(a, (1, 2, 3)), (A,)),
    "a list": (lambda x: np.pad([1, x, 3], 1), (2,)),
}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])


def test_what_is_refused():
    for call, text in ((lambda a: np.pad(a, np.array([1, 2])), "in an array"),):
        with pytest.raises(TypingError, match=text):
            njit(call)(V)
