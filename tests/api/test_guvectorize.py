"""Generalised ufuncs made from functions of rows and matrices, against NumPy and against loops over the functions."""
import pickle

import numpy as np
import pytest

from pyjitc import float64, guvectorize, int64, njit, vectorize, void
from pyjitc.codegen import entries
from pyjitc.pipeline.specialisation import Native
from pyjitc.runtime import ufuncs
from tests.oracle import same


@guvectorize(["void(float64[:], float64[:])", "void(int64[:], int64[:])"], "(n)->()")
def total(a, out):
    out[0] = 0
    for x in a:
        out[0] += x


@guvectorize("(n),()->(n)")
def shifted(a, x, out):
    for i in range(len(a)):
        out[i] = a[i] + x


@guvectorize("(m,n),(n,p)->(m,p)")
def product(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0 * a[i, 0]
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            out[i, j] = s


@guvectorize([void(float64[:], float64[:], float64[:])], "(n)->(),()")
def span(a, low, high):
    low[0], high[0] = a.min(), a.max()


@guvectorize(["void(float64[:], int64[:], float64[:])"], "(n),()->(n)")
def rolled(a, count, out):
    out[:] = np.roll(a, count[0])


A = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("a", [A, A[0], A[0, 0], A[:, ::2], A[..., ::-1], A.T, A.astype(np.int64), A.astype(np.int8),
                               A.astype(np.float32), A[:0], A[..., :0], A.astype(">f8")])
def test_rows(a):
    wide = a.astype(np.float64 if a.dtype.kind == "f" else a.dtype)
    expected = wide.sum(-1) if a.dtype.kind == "i" and a.dtype.itemsize == 8 else wide.astype(float).sum(-1)
    assert same(total(a), expected)


@pytest.mark.parametrize("code", "bBhilfdFD")
def test_a_loop_for_each_dtype(code):
    a = A.astype(code)
    assert same(shifted(a, a[..., 0]), a + a[..., :1])
    expected = a @ a.swapaxes(1, 2)
    assert np.allclose(product(a, a.swapaxes(1, 2)), expected) and product(a, a.swapaxes(1, 2)).dtype == expected.dtype


def test_broadcasting():
    assert same(shifted(A, [1, 2, 3]), A + np.array([1, 2, 3])[:, None])
    assert same(product(A, np.ones((5, 1, 4, 2))), A @ np.ones((5, 1, 4, 2)))
    assert same(rolled(A, 1), np.roll(A, 1, -1))
    assert all(same(x, y) for x, y in zip(span(A), (A.min(-1), A.max(-1))))


def test_out_axis_and_axes():
    out = np.zeros((2, 3))
    assert total(A, out) is out and same(out, A.sum(-1))
    assert same(total(A, axis=1), A.sum(1))
    assert same(total(A, axis=0, keepdims=True), A.sum(0, keepdims=True))
    assert same(product(A, A, axes=[(1, 2), (2, 1), (0, 1)]), np.moveaxis(A @ A.swapaxes(1, 2), 0, 2))


def test_attributes():
    assert isinstance(total, np.ufunc) and total.signature == "(n)->()" and total.types == ["d->d", "l->l"]
    assert (span.nin, span.nout) == (1, 2)
    assert pickle.loads(pickle.dumps(total)) is total


def test_the_layout_is_shown_as_it_is_written():
    made = guvectorize("(n), (n) -> ()")(lambda x, y, out: None)
    assert made.signature == "(n), (n) -> ()"
    match = r"core dimension 0, with gufunc signature \(n\), \(n\) -> \(\) \(size 2 is different from 3\)"
    for function in (made, njit(lambda x, y: made(x, y))):
        with pytest.raises(ValueError, match=match):
            function(np.ones(3), np.ones(2))


def test_exceptions():
    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def bad(a, out):
        out[len(a)] = 1.0

    with pytest.raises(IndexError, match="out of bounds"):
        bad(A)
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        product(A, A)


def test_writable_arguments():
    @guvectorize(["void(float64[:], float64[:])"], "(n)->()", writable_args=("a",))
    def taken(a, out):
        out[0] = a[0]
        a[0] = -1.0

    a = np.arange(6.0).reshape(2, 3)
    assert same(taken(a), np.array([0.0, 3.0])) and same(a[:, 0], np.array([-1.0, -1.0]))


def test_writable_arguments_that_are_converted():
    @guvectorize(["void(float64[:], float64[:])"], "(n)->()", writable_args=("a",))
    def taken(a, out):
        out[0] = a[0]
        a[0] = -1.0

    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    taken(a, casting="same_kind")
    assert same(a[:, 0], np.float32([-1, -1]))


def test_results_that_are_given():
    @guvectorize("(n),()->(n)")
    def added(a, x, out):
        for i in range(len(a)):
            out[i] += a[i] * x

    out = np.ones((2, 3), np.float32)
    assert added(np.arange(6.0).reshape(2, 3), 2, out) is out
    assert same(out, np.arange(1, 13, 2, np.float32).reshape(2, 3))
    assert same(added(np.arange(3), 1, out=np.ones(3, np.int8)), np.arange(1, 4, dtype=np.int8))


def test_a_layout_without_results():
    @guvectorize(["void(float64[:], float64[:])"], "(n),(k)")
    def gaps(r, out):
        r.sort()
        out[0] = r[0]
        for i in range(1, len(r)):
            out[i] = r[i] - r[i - 1]

    r, out = np.array([[3.0, 1.0], [5.0, 7.0]]), np.zeros((2, 2))
    gaps(r, out)
    assert same(out, np.array([[1.0, 2.0], [5.0, 2.0]])) and same(r, np.array([[1.0, 3.0], [5.0, 7.0]]))


def test_operands_of_a_layout_without_results_are_broadcast():
    @guvectorize(["void(float64[:], int64[:], float64[:])"], "(n),(n),(k)")
    def grouped(values, labels, out):
        for i in range(len(values)):
            out[labels[i]] += values[i]

    out = np.zeros((2, 2))
    grouped(np.arange(6.0).reshape(2, 3), np.array([0, 1, 1]), out)
    assert same(out, np.array([[0.0, 3.0], [3.0, 9.0]]))


def test_other_arguments_are_read_only():
    def taken(a, out):
        a[0] = -1.0

    with pytest.raises(ValueError, match="assignment destination is read-only"):
        guvectorize(["void(float64[:], float64[:])"], "(n)->()")(taken)(A)


def test_many_rows():
    a = np.arange(200_000.0).reshape(-1, 2)
    assert same(total(a), a.sum(-1))


@pytest.mark.parametrize("made, error, text", [
    (lambda f: guvectorize(f), TypeError, "layout of the operands"),
    (lambda f: guvectorize(["void(float64[:], float64[:])"], "n->()")(f), ValueError, "is not a layout"),
    (lambda f: guvectorize(["void(float64[:], float64[:])"], "(n),(n)->()")(f), TypeError, "has 2 inputs and 1 resul"),
    (lambda f: guvectorize(["void(float64[:,:], float64[:])"], "(n)->()")(f), TypeError, "argument 0 is float64[:, :"),
    (lambda f: guvectorize(["void(float64[:], float64)"], "(n)->()")(f), TypeError, "argument 1 is float"),
    (lambda f: guvectorize(["float64(float64[:], float64[:])"], "(n)->()")(f), TypeError, "returns nothing"),
    (lambda f: guvectorize([(int64[:],)], "(n)->()")(f), TypeError, "has 1 arguments")])
def test_mistakes(made, error, text):
    with pytest.raises(error) as raised:
        made(lambda a, out: None)
    assert text in str(raised.value)


# -- in compiled code


def calls(a, m):
    return (total(a), total(a[0]), shifted(a, 2), shifted(a[0, 0], a[0]), product(a, a[0].T), product(m, a[0].T),
            span(a), span(a[0, 0]), rolled(a, 1))


def placed(a, out):
    total(a, out)
    shifted(a[0, 0], 1, out=a[0, 1])
    return out, a


@pytest.mark.parametrize("code", "ild")
def test_calls_in_compiled_code(code):
    a = A.astype(code)
    m = np.ones((5, 1, 1, 4), code)
    assert same(njit(calls)(a, m), calls(a, m))
    assert same(njit(placed)(a.copy(), np.zeros((2, 3))), placed(a.copy(), np.zeros((2, 3))))


def test_mistakes_in_compiled_code():
    with pytest.raises(ValueError, match="mismatch in its core dimension 0, with gufunc signature"):
        njit(lambda a: product(a, a))(A)
    with pytest.raises(ValueError, match="does not have enough dimensions"):
        njit(lambda a: product(a, 1.0))(A)


def test_layouts_without_dimensions():
    @guvectorize("(),()->(),()")
    def f(x, y, low, high):
        low[0], high[0] = min(x, y), max(x, y)

    x, y = np.arange(6).reshape(2, 3), np.array([1, 4, 2])
    low, high = np.zeros_like(x), np.zeros_like(x)
    njit(lambda x, y, low, high: f(x, y, low, high))(x, y, low, high)
    same((low, high), (np.minimum(x, y), np.maximum(x, y)))
    same(njit(lambda x, y: f(x, y))(x, y), f(x, y))


@guvectorize("(n),(n)->(n),()")
def summed(a, b, each, last):
    for i in range(len(a)):
        each[i] = a[i] + b[i]
    last[0] = each[len(b) - 1]


@vectorize
def plus_one(x):
    return x + 1.0


@guvectorize("(n)->(n)")
def beyond(a, out):
    for i in range(len(a) + 1):
        out[i] = a[i]


@guvectorize("(m,n),(n,p)->(m,p)")
def product_beyond(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1] + 1):
            out[i, j] = a[i, 0] * b[0, j]


def test_operands_of_one_core_dimension_have_one_length():
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(4.0)
    for rows in (a, a[..., ::-1], a[:, :, ::2], a.transpose(0, 2, 1), a[:0], np.zeros((5, 1))):
        other = b[:rows.shape[-1]]
        each, last = summed(rows, other)
        assert same(each, rows + other) and same(last, (rows + other)[..., -1])
    assert same(rolled(a[..., :0], 1), np.zeros((2, 3, 0))) and same(shifted(a[..., :0], 1.0), np.zeros((2, 3, 0)))
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        summed(a, b[:3])


@pytest.mark.parametrize("ufunc, args", [(beyond, (np.ones((2, 3)),)),
                                         (product_beyond, (np.ones((2, 3, 4)), np.ones((4, 5))))])
def test_an_index_that_is_out_of_range_raises_where_the_function_has_it(ufunc, args):
    with pytest.raises(IndexError) as expected:
        ufunc.py_func(*(x[0] if x.ndim > 2 - (ufunc is beyond) else x for x in args),
                      np.ones(3) if ufunc is beyond else np.ones((3, 5)))
    with pytest.raises(IndexError) as raised:
        ufunc(*args)
    assert str(raised.value) == str(expected.value)
    assert [(one.name, one.lineno) for one in raised.traceback][1:] == [
        (one.name, one.lineno) for one in expected.traceback][1:]


@pytest.mark.parametrize("ufunc, args", [(summed, (np.ones(4), np.ones(4))), (plus_one, (np.ones(3),))])
def test_a_loop_over_numbers_runs_without_the_interpreter_lock(ufunc, args):
    ufunc(*args)
    natives = [one for one in ufuncs.record_of(ufunc).kept if isinstance(one, Native)]
    assert natives and all(entries.HOLDS not in native.image.symbols for native in natives)


def each_shifted(a, x, out):
    for i in range(len(a)):
        out[i] = a[i] + x


def each_pair(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = a[i] - b[j]


@pytest.mark.parametrize("function, signature, layout, inlined", [
    (each_shifted, "void(float64[:], float64, float64[:])", "(n),()->(n)", True),
    (each_pair, "void(float64[:], float64[:], float64[:,:])", "(n),(m)->(n,m)", False)])
def test_functions_without_a_loop_in_a_loop_are_part_of_the_outer_loop(function, signature, layout, inlined, capsys,
                                                                       monkeypatch):
    monkeypatch.setenv("PYJITC_DUMP", "llvm")
    guvectorize([signature], layout, cache=False)(function)
    text = capsys.readouterr().err
    assert ("@f1." not in text) is inlined
    # there the lengths of the operands are those that NumPy has compared
    assert ("PyExc_IndexError" not in text) is inlined
