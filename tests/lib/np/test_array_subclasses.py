"""Arrays of NumPy's own subclasses as arguments: memory-mapped files and record arrays."""
import numpy as np
import pytest

from pyjitc import njit


@pytest.fixture
def mapped(tmp_path):
    path = tmp_path / "numbers"
    np.arange(10.0).tofile(path)
    return lambda mode: np.memmap(path, dtype=np.float64, mode=mode)


def add(a):
    a[0] += 1.0
    return a.sum(), a.mean(), (a * 2)[3]


def test_a_mapped_file_is_read_and_written(mapped):
    m = mapped("r+")
    expected = add(np.arange(10.0))
    assert njit(add)(m) == expected
    m.flush()
    assert mapped("r")[0] == 1.0


def test_a_mapped_file_may_be_read_only(mapped):
    m = mapped("r")
    assert njit(lambda a: a.sum())(m) == 45.0
    with pytest.raises(ValueError, match="read-only"):
        njit(add)(m)


def test_views_are_arrays(mapped):
    m = mapped("r+")
    assert njit(lambda a: a)(m) is m
    view = njit(lambda a: a[2:4])(m)
    assert type(view) is np.ndarray and np.shares_memory(view, m)


def test_an_array_may_follow_a_mapped_file(mapped):
    compiled = njit(lambda a, b: (a + b).sum())
    m, a = mapped("r+"), np.ones(10)
    for x, y in ((m, a), (a, m), (m, m), (a, a)):
        assert compiled(x, y) == (np.asarray(x) + np.asarray(y)).sum()
    assert len(compiled.signatures) == 1


def fields(r):
    r.x[0] = 9
    r.y = 7.0
    r[1].x += 5
    return r.x.sum(), r.y, r[1].x, r["x"], r.shape, r.size, r[0].y


def test_record_arrays_have_fields_as_attributes():
    made = [np.rec.array([(1, 2.5), (3, 4.5)], dtype=[("x", "i8"), ("y", "f8")]) for _ in range(2)]
    expected, actual = fields(made[0]), njit(fields)(made[1])
    assert repr(expected) == repr(actual)
    assert (made[0] == made[1]).all()


def test_other_subclasses_are_refused():
    class Mine(np.ndarray):
        pass

    with pytest.raises(TypeError, match="a subclass of ndarray; pass np.asarray"):
        njit(add)(np.ones(3).view(Mine))
