"""Records, and arrays of them, in functions that are written for Numba."""
import numpy as np
import pytest

from pyjitc import njit as own
from pyjitc import numba as nb

PART = np.dtype([("x", np.float64), ("k", np.int32), ("v", np.float32, (3,))], align=True)


def parts():
    made = np.zeros(4, PART)
    made["x"], made["k"] = [1, 2, 3, 4], [4, 3, 2, 1]
    return made


def moved(p, q, by=2.0, *, scale=1.0):
    p["x"] += q["x"] * by * scale
    p["v"][1] = 7
    return p["x"], p["k"], p["v"].sum()


@pytest.mark.parametrize("how", [lambda f, a: f(a[0], a[1]), lambda f, a: f(a[2], q=a[0], scale=0.5),
                                 lambda f, a: f(q=a[::2][1], p=a[0], by=3), lambda f, a: f(a[3], a[3])])
def test_records_as_arguments(how):
    """They are the memory of their array."""
    expected, found = parts(), parts()
    for _ in range(2):
        assert how(moved, expected) == how(nb.njit(moved), found)
        assert found.tobytes() == expected.tobytes()


def test_declared_records():
    a = parts()
    f = nb.njit((nb.from_dtype(PART), nb.int64))(lambda p, n: p.x + n + p.v.size)
    assert f(a[1], 2) == 7.0 and nb.njit("float64(float64)")(lambda x: x)(a[1]["x"]) == 2.0


def test_records_beside_others():
    a = parts()
    f = nb.njit(lambda p, rows, *rest: p["k"] + rows["k"].sum() + len(rest) + rows[1].x)
    assert f(a[0], a, 1, 2) == 4 + 10 + 2 + 2.0 and f(a[0], a) == 16.0
    assert nb.njit(lambda r: r.x + r.k)(a.view(np.recarray)[2]) == 5.0
    assert nb.njit(lambda r: r["x"])(np.zeros((), PART)[()]) == 0.0
    with pytest.raises(TypeError, match="missing"):
        nb.njit(moved)(a[0])


def test_a_record_is_returned_as_the_memory_of_its_array():
    a = parts()
    given = nb.njit(lambda r: r)(a[1])
    assert type(given) is np.void and given == a[1] and np.shares_memory(np.frombuffer(given, PART), a)
    kept = nb.njit(lambda r: r)(parts()[1])  # of which nobody else has the memory
    assert kept["x"] == 2.0 and kept["k"] == 3


def test_a_record_that_is_read_only():
    a = parts()
    a.flags.writeable = False
    assert nb.njit(lambda r: r.x)(a[0]) == 1.0
    with pytest.raises(ValueError, match="read-only"):
        nb.njit(moved)(a[0], a[1])


def test_fields_of_arrays_as_attributes():
    def total(a):
        a.k[1:] = 9
        return a.x.sum() + a.k.max(), a.size, a.v.shape
    a = parts()
    assert nb.njit(total)(a) == (19.0, 4, (4, 3)) and a["k"].tolist() == [4, 9, 9, 9]
    with pytest.raises(TypeError, match="has no attribute 'x'"):
        own(lambda a: a.x[:1])(a)
