"""Stencils, against loops over the elements that have all neighbours."""
import numpy as np
import pytest

from pyjitc import njit, stencil
from tests.oracle import same


def expected(kernel, arrays, neighborhood, cval=0, relative=None, out=None):
    """The interpreter's result, with array objects that add the index of the element to each index."""
    class Window:
        def __init__(self, a, at):
            self.a, self.at, self.ndim, self.shape = a, at, a.ndim, a.shape

        def __getitem__(self, offset):
            offset = offset if isinstance(offset, tuple) else (offset,)
            return self.a[tuple(i + o for i, o in zip(self.at, offset))]

    a = arrays[0]
    inner = [range(max(0, -low), n - max(0, high)) for n, (low, high) in zip(a.shape, neighborhood)]
    found = {}
    for at in np.ndindex(*(len(r) for r in inner)):
        index = tuple(r[i] for r, i in zip(inner, at))
        found[index] = kernel(*(Window(x, index) if isinstance(x, np.ndarray) and (relative is None or relative[j])
                                else x for j, x in enumerate(arrays)))
    if out is None:
        out = np.full(a.shape, cval, np.asarray(next(iter(found.values()))).dtype)
    for index, value in found.items():
        out[index] = value
    return out


def cross(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


def line(a):
    return a[-2] + a[0] * a[1]


def two(a, b, factor):
    return (a[-1] - b[1]) * factor


def cube(a):
    return a[-1, 0, 1] + a[0, 0, 0] + a[1, -2, 0]


def chosen(a):
    if a[0] > a[-1]:
        return a[1]
    return a[0] * 0


CASES = {"cross": (cross, (np.arange(24.0).reshape(4, 6),), ((-1, 1), (-1, 1))),
         "line": (line, (np.arange(8),), ((-2, 1),)),
         "two": (two, (np.arange(8.0), np.arange(8.0)[::-1].copy(), 3), ((-1, 1),)),
         "cube": (cube, (np.arange(60.0).reshape(3, 4, 5),), ((-1, 1), (-2, 0), (0, 1))),
         "chosen": (chosen, (np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0]),), ((-1, 1),))}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("inside", [False, True])
def test_results(name, inside):
    kernel, arrays, neighborhood = CASES[name]
    made = stencil(kernel)
    assert made.neighborhood == neighborhood
    call = njit(lambda *xs: made(*xs)) if inside else made
    assert same(call(*arrays), expected(kernel, arrays, neighborhood))


@pytest.mark.parametrize("code", "bBilfdFD")
def test_dtypes(code):
    a = np.arange(12).astype(code)
    assert same(stencil(line)(a), expected(line, (a,), ((-2, 1),)))


@pytest.mark.parametrize("a", [np.arange(48.0).reshape(6, 8)[::2, ::-1], np.asfortranarray(np.ones((4, 5))),
                               np.arange(20.0).reshape(4, 5).T])
def test_layouts(a):
    assert same(stencil(cross)(a), expected(cross, (a,), ((-1, 1), (-1, 1))))


def test_cval_and_out():
    a = np.arange(8)
    assert same(stencil(cval=7)(line)(a), expected(line, (a,), ((-2, 1),), 7))
    assert same(stencil("constant", cval=np.nan)(cross)(np.ones((3, 3)))[0], np.full(3, np.nan))
    out = np.full(8, -1)
    assert stencil(line)(a, out=out) is not None
    assert same(out, expected(line, (a,), ((-2, 1),), out=np.full(8, -1)))
    out = np.full(8, -1.0)
    stencil(cval=5)(line)(a, out=out)
    assert same(out, expected(line, (a,), ((-2, 1),), 5).astype(float))


def test_neighborhood():
    def mean(a):
        total = 0.0
        for i in range(-3, 1):
            total += a[i]
        return total / 4

    a = np.arange(9.0) ** 2
    assert same(stencil(neighborhood=((-3, 0),))(mean)(a), expected(mean, (a,), ((-3, 0),)))
    with pytest.raises(IndexError, match="neighborhood of the stencil does not have the offset"):
        stencil(neighborhood=((-1, 0),))(mean)(a)


def test_standard_indexing():
    def weighted(a, w):
        return w[0] * a[-1] + w[1] * a[0] + w[-1] * a[1]

    a, w = np.arange(7.0), np.array([1.0, 2.0, 3.0])
    assert same(stencil(standard_indexing=("w",))(weighted)(a, w), expected(weighted, (a, w), ((-1, 1),),
                                                                           relative=(True, False)))


@pytest.mark.parametrize("shape", [(0, 0), (1, 5), (2, 2), (3, 3)])
def test_small_arrays(shape):
    a = np.ones(shape)
    got = stencil(cross)(a)
    assert got.shape == shape and got.dtype == np.float64 and got.sum() == (1.0 if shape == (3, 3) else 0.0)


@pytest.mark.parametrize("made, error, text", [
    (lambda: stencil("wrap"), ValueError, "Unsupported mode style wrap"),
    (lambda: stencil(nothing=1), ValueError, "Unknown stencil option nothing"),
    (lambda: stencil(standard_indexing="b")(cross), ValueError, "not present in the stencil kernel"),
    (lambda: stencil(standard_indexing="a")(cross), ValueError, "must use relative indexing"),
    (lambda: stencil(lambda: 1), ValueError, "at least one array"),
    (lambda: stencil(lambda a: 1), ValueError, "no accesses to relatively indexed arrays"),
    (lambda: stencil(lambda a, i: a[i]), ValueError, "only possible with known neighborhood"),
    (lambda: stencil(3), TypeError, "takes a Python function"),
    (lambda: stencil(two)(np.ones(5), np.ones(4), 1.0), ValueError, "smaller the same dimension"),
    (lambda: stencil(two)(np.ones(5), np.ones((5, 5)), 1.0), ValueError, "same number of dimensions")])
def test_mistakes(made, error, text):
    with pytest.raises(error) as raised:
        made()
    assert text in str(raised.value)


def test_assignments_are_refused():
    def assigns(a):
        a[0] = 1
        return a[0]

    with pytest.raises(ValueError, match="Assignments to arrays"):
        stencil(assigns)


def test_the_dtype_is_that_of_all_that_the_kernel_returns():
    """The branch that it takes for the first element does not determine the dtype."""
    @stencil
    def halves(a):
        return 0 if a[0] > 2 else a[-1] * 0.5

    @stencil
    def shorter(a):
        if a[0] > 2:
            return 0
        return a[-1]

    x = np.array([1.0, 5.0, 2.0, 7.0, 3.0])
    for x in (x, x.astype(np.float32), x.astype(np.int8)):
        for found in (halves(x), njit(lambda x: halves(x))(x)):
            assert found.tolist() == [0, 0, 2.5, 0, 0] and found.dtype == np.float64
        assert shorter(x).tolist() == [0, 0, 5, 0, 0]
        assert shorter(x).dtype == np.result_type(x.dtype, np.int64)


def test_the_mode_may_be_named():
    f = stencil(func_or_mode="constant", cval=1.0)(lambda a: 0.5 * (a[-1] + a[1]))
    same(f(np.arange(4.0)), np.array([1.0, 1.0, 2.0, 1.0]))


WINDOW = np.arange(12.0).reshape(3, 4) ** 2


def a_closure(a):
    def kernel(a):
        return a[-1, 0] + a[0, 1]
    return stencil(kernel)(a)


def with_arguments(a, w):
    made = stencil(lambda a, w: a[0, -1] * w)
    return made(a, w)


def captured(a, w):
    return stencil(lambda a: a[1, 0] * w, cval=w)(a)


def computed_neighborhood(a, w):
    def kernel(a):
        found = 0.0
        for i in range(-w, w + 1):
            found += a[0, i]
        return found
    return stencil(kernel, neighborhood=((0, 0), (-w, w)))(a)


def a_decorator(a):
    @stencil
    def kernel(a):
        return a[0, -2]
    return kernel(a)


def of_a_mode(a):
    return stencil("constant", cval=3)(lambda a: a[0, -2])(a)


def usual_indexing(a, w):
    return stencil(lambda a, w: a[0, 1] * w[0], standard_indexing=("w",))(a, w)


def of_a_global(a):
    return stencil(cross)(a)


def into_an_array(a):
    out = np.ones_like(a)
    stencil(lambda a: a[-1, 0])(a, out=out)
    return out


@pytest.mark.parametrize("function, args", [
    (a_closure, ()), (with_arguments, (3.0,)), (captured, (2,)), (captured, (2.5,)), (computed_neighborhood, (1,)),
    (a_decorator, ()), (of_a_mode, ()), (usual_indexing, (np.array([7.0]),)), (of_a_global, ()), (into_an_array, ())])
def test_stencils_that_compiled_code_makes(function, args):
    same(njit(function)(WINDOW, *args), function(WINDOW, *args))


@pytest.mark.parametrize("function, text", [
    (lambda a: stencil(lambda a: 3)(a), "no accesses to relatively indexed arrays"),
    (lambda a: stencil(lambda a, i: a[i])(a, 1), "Variable stencil index"),
    (lambda a: stencil(lambda a: a[0, 1], bogus=1)(a), "Unknown stencil option bogus"),
    (lambda a: stencil(2)(a), "stencil takes a Python function, not int")])
def test_mistakes_in_compiled_code(function, text):
    with pytest.raises(TypeError, match=text):
        njit(function)(WINDOW)
