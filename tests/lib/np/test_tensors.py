"""Contractions against NumPy. Sums are in another order than NumPy's, so floats agree up to the last places."""
import functools

import numpy as np
import pytest
from tests.oracle import difference, outcome
from tests.lib.np import closely

from pyjitc import njit

TOLERANCE = {"e": 1e-2, "f": 1e-4, "F": 1e-4, "d": 1e-12, "D": 1e-12}
check = functools.partial(closely.check, tolerances=TOLERANCE, absolute=10)
_compiled: dict = {}


def array(dtype, *shape):
    random = np.random.default_rng(len(shape) + (shape or (1,))[-1])
    x = random.uniform(-4, 4, shape)
    if dtype == "bool":
        return x > 0
    return (x + 1j * random.uniform(-4, 4, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def einsum(subscripts):
    if subscripts not in _compiled:
        scope = {"np": np}
        count = subscripts.count(",") + 1
        names = ", ".join("abc"[:count])
        exec(f"def function({names}):\n    return np.einsum({subscripts!r}, {names})", scope)
        _compiled[subscripts] = scope["function"]
    return _compiled[subscripts]


SIZES = {"i": 3, "j": 4, "k": 5, "l": 2, "b": 2}


@pytest.mark.parametrize("subscripts", [
    "ij,jk->ik", "ij,jk", "ij,kj->ik", "ij,ij->ij", "ij,ij->i", "ij,ij->", "i,j->ij", "i,i->", "i,i", "bij,bjk->bik",
    "bij,bjk->bki", "ijk,k->ij", "ij,jk,kl->il", "i,ij,j->", "ij->", "ij->i", "ij->j", "ijk->ki", "ij,k->ijk",
    "ij,kl->ljki", "ij , jk -> ki"])
def test_einsum(subscripts):
    inputs = subscripts.replace(" ", "").partition("->")[0].split(",")
    for dtype in ("float64", "int32") if len(inputs) < 3 else ("float64",):
        check(einsum(subscripts), *(array(dtype, *(SIZES[c] for c in labels)) for labels in inputs))


def test_einsum_diagonals():
    a = array("float64", 4, 4)
    for subscripts in ("ii->", "ii", "ii->i"):
        check(einsum(subscripts), a)
        check(einsum(subscripts), a[:, ::-1])
    check(einsum("ii,i->i"), a, a[0])
    check(einsum("iij->j"), array("float64", 3, 3, 4))
    check(einsum("ii->"), array("float64", 3, 4))


def write_view(a):
    np.einsum("ij->ji", a)[0, 1] = 7.0
    np.einsum("ii->i", a)[:] = 1.0


def test_views_of_einsum_are_views():
    check(write_view, array("float64", 3, 3))


def test_einsum_dtypes():
    for s, t in (("float32", "float64"), ("int8", "int8"), ("bool", "bool"), ("complex64", "float32"),
                 ("int64", "float32")):
        check(einsum("ij,jk->ik"), array(s, 3, 4), array(t, 4, 5))
    check(einsum("ij->i"), array("int8", 3, 4))
    check(einsum("ij->i"), array("bool", 3, 4))
    check(einsum("ij,jk->ik"), np.ones((0, 3)), np.ones((3, 2)))
    check(einsum("ij,jk->ik"), np.ones((2, 0)), np.ones((0, 2)))


def test_einsum_errors():
    for subscripts, args in (("ij", (np.ones(3),)), ("i", (np.ones((2, 3)),)), ("i,i", (np.ones(3),)),
                             ("i->j", (np.ones(3),)), ("i->ii", (np.ones(3),))):
        scope = {"np": np}
        names = ", ".join("abc"[:len(args)])
        exec(f"def function({names}):\n    return np.einsum({subscripts!r}, {names})", scope)
        with pytest.raises(ValueError) as expected:
            scope["function"](*args)
        with pytest.raises(Exception) as actual:
            njit(scope["function"])(*args)
        assert str(expected.value) in str(actual.value).replace("\n", " ")
    for subscripts, shapes in (("ij,jk", ((2, 3), (4, 2))), ("...i,...i", ((2, 3, 4), (2, 2, 4)))):
        found = difference(*(outcome(f, [np.ones(shape) for shape in shapes])
                             for f in (einsum(subscripts), njit(einsum(subscripts)))))
        assert not found


def ellipses(a, b, v):
    return (np.einsum("...i,...i", a, b), np.einsum("i...,i->...", a, v), np.einsum("...i->i...", a),
            np.einsum("...ij,...kj", a, b), np.einsum("...", a), np.einsum("i...->...", v),
            np.einsum("ijk,ijk->jk", a, b), np.einsum("i,->i", v, 3), np.einsum("i,j", v, [1, 2.5]))


def einsum_out(a, v, o, p):
    return np.einsum("ij,j->i", a, v, out=o), np.einsum("ij->", a, out=p)


def test_einsum_with_dots_and_places():
    a, v = array("float64", 2, 3, 4), array("float64", 2)
    for b in (a, a[:, :1], a[:1], a[::-1, :, ::-1]):
        check(ellipses, a, b, v)
    check(einsum_out, a[0], a[0, 0], np.zeros(3), np.zeros(()))
    with pytest.raises(ValueError, match="shape"):  # NumPy's text shows the axes of all operands
        njit(einsum_out)(a[0], a[0, 0], np.zeros(2), np.zeros(()))
    check(einsum_out, a[0], a[0, 0], np.zeros((1, 3)), np.zeros(()))
    with pytest.raises(TypeError, match="Iterator requested dtype could not be cast from dtype.'float64'. to "
                                        "dtype.'int64'., the operand 2 dtype"):
        njit(einsum_out)(a[0], a[0, 0], np.zeros(3, int), np.zeros(()))


def tensordot(a, b):
    return np.tensordot(a, b)


def tensordot1(a, b):
    return np.tensordot(a, b, 1)


def tensordot0(a, b):
    return np.tensordot(a, b, axes=0)


def tensordot_pairs(a, b):
    return np.tensordot(a, b, axes=((1, 0), (0, 1)))


def tensordot_one(a, b):
    return np.tensordot(a, b, axes=(-1, 1))


def test_tensordot():
    a, b = array("float64", 2, 3, 4), array("float64", 3, 4, 5)
    check(tensordot, a, b)
    check(tensordot, a, b.astype(np.float32))
    check(tensordot1, a, b)
    check(tensordot1, array("float64", 3, 4), array("float64", 4, 2))
    check(tensordot0, a, array("float64", 2))
    check(tensordot_pairs, array("float64", 3, 4, 2), array("int64", 4, 3))
    check(tensordot_one, a, b)
    check(tensordot_one, array("int32", 3, 4), array("int32", 2, 4))
    check(tensordot, a, a)
    check(tensordot, a[0], a[0])


def inner(a, b):
    return np.inner(a, b)


def vdot(a, b):
    return np.vdot(a, b)


def outer(a, b):
    return np.outer(a, b)


def kron(a, b):
    return np.kron(a, b)


def cross(a, b):
    return np.cross(a, b)


def test_inner_vdot_outer():
    for dtype in ("float64", "complex64", "int16"):
        for function in (inner, vdot, outer):
            check(function, array(dtype, 4), array(dtype, 4)[::-1])
            check(function, array(dtype, 3, 4), array(dtype, 3, 4).T.copy().T)
    check(inner, array("float64", 3, 4), array("float64", 4))
    check(inner, array("float64", 3), array("float64", 4))
    check(inner, array("float64", 3), 2.0)
    check(outer, array("float32", 3), array("int64", 2))
    check(vdot, array("float64", 3), array("float64", 3))
    a = array("float64", 2, 3, 4)
    check(inner, a, array("float64", 5, 6, 4))
    check(inner, a, array("float64", 5, 6, 3))
    check(inner, a, array("int8", 5, 4))
    check(inner, a[0], array("float64", 5, 3))
    check(of_numbers, array("float64", 3), 2)
    check(of_numbers, array("int8", 3), 2.5)


def of_numbers(v, x):
    return (np.outer(v, x), np.outer(x, v), np.outer([1, 2], v), np.vdot(x, 1j), np.kron(x, v), np.kron(x, 3),
            np.inner(x, v), np.inner([1, x], [3, 4]))


def test_kron():
    check(kron, array("float64", 2, 3), array("float64", 4, 5))
    check(kron, array("float64", 2, 3).T, array("int8", 4, 5))
    check(kron, array("int8", 3), array("int8", 2))
    check(kron, array("float64", 3), array("float64", 2, 2))
    check(kron, array("float64", 2, 1, 2), array("float64", 2, 2))


def test_cross():
    check(cross, array("float64", 3), array("float64", 3)[::-1])
    check(cross, array("float64", 4, 3), array("int32", 3))
    check(cross, array("int32", 4, 3), array("int32", 4, 3)[::-1])
    check(cross, array("float64", 4), array("float64", 4))
    if np.lib.NumpyVersion(np.__version__) < "2.5.0":
        check(cross, array("float64", 2), array("float64", 3))
        check(cross, array("int32", 4, 3), array("int32", 2))
        with pytest.raises(NotImplementedError, match=r"write a\[\.\.\., 0\] \* b"):
            njit(cross)(array("float64", 2), array("float64", 2))


def trace(a):
    return np.trace(a), a.trace(1), a.trace(offset=-2), np.trace(a, -9)


def trace_axes(a):
    return np.trace(a), np.trace(a, 1, 0, 2), np.trace(a, axis1=-1, axis2=0)


def trace_out(a, o):
    return np.trace(a, out=o), a.trace(1, out=o)


def trace_dtype(a):
    return np.trace(a, dtype=np.float32)


def test_trace():
    for dtype in ("float64", "int8", "complex64"):
        check(trace, array(dtype, 4, 4))
        check(trace, array(dtype, 3, 5))
    check(trace_axes, array("float64", 3, 4, 5))
    check(trace_dtype, array("int8", 3, 4))
    check(trace_dtype, np.ones(3, np.int8))
    check(trace_out, array("float64", 3, 4), np.zeros(()))
    check(trace_out, array("float64", 3, 4, 2), np.zeros(2))
    check(trace_out, array("float64", 3, 4), np.zeros(1))
    for offset in (True, np.int8(1), np.uint64(2)):
        check(lambda a, k: (np.trace(a, k), a.trace(k)), array("float64", 3, 4), offset)
    for offset in (1.0, np.float64(1), np.float32(1), "a"):
        with pytest.raises(TypeError) as expected:
            np.trace(array("float64", 3, 4), offset)
        with pytest.raises(TypeError) as found:
            njit(lambda a, k: np.trace(a, k))(array("float64", 3, 4), offset)
        assert str(found.value).splitlines()[0] == str(expected.value)
