"""np.fft against NumPy: lengths of all kinds, types, layouts, axes, padding, norms, errors."""
import numpy as np
import pytest
from tests.oracle import agree, difference, outcome

from pyjitc import njit

R = np.random.default_rng(7)
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 16, 21, 25, 27, 30, 32, 49, 53, 60, 64, 97, 100, 106, 121, 127,
           128, 131, 210, 243, 256, 257, 487, 500, 625, 1009, 1024, 2018, 2187, 4096, 5003]
C1, C2, C3 = (R.normal(size=s) + 1j * R.normal(size=s) for s in (12, (5, 6), (2, 3, 4)))


def compare(expected, actual, scale=None):
    """Same type, dtype, shape; values to the accuracy of the transforms."""
    if isinstance(expected, tuple):
        assert type(actual) is tuple and len(actual) == len(expected)
        for x, y in zip(expected, actual):
            compare(x, y, scale)
        return
    assert type(expected) is type(actual) and expected.dtype == actual.dtype and expected.shape == actual.shape
    if expected.size == 0 or expected.dtype.kind in "biu":
        assert np.array_equal(expected, actual)
        return
    # Errors of both transforms grow with the logarithm of the length. They are relative to the largest point and not to
    # each one, because passes in another order round differently. For float16 the result itself is rounded.
    eps = np.finfo(expected.dtype).eps
    size = scale if scale is not None else max(1.0, np.abs(expected.astype(np.complex128)).max())
    assert (np.abs(expected.astype(np.complex128) - actual).max() <= 6 * eps * (1 + np.log2(max(2, expected.size)))
            * size)


def one_axis(a):
    return np.fft.fft(a), np.fft.ifft(a), np.fft.irfft(a), np.fft.hfft(a)


def of_reals(a):
    return np.fft.rfft(a), np.fft.ihfft(a), np.fft.fft(a), np.fft.ifft(a)


def back(a, n):
    return np.fft.irfft(a, n), np.fft.hfft(a, n), np.fft.fft(a, n), np.fft.ifft(a, n)


COMPLEX, REAL, BACK = njit(one_axis), njit(of_reals), njit(back)


@pytest.mark.parametrize("n", [4.0, np.float64(3), np.int8(3)], ids=repr)
def test_a_float_is_no_number_of_points(n):
    a = np.arange(4.0)
    for f in (lambda a, n: np.fft.fft(a, n), lambda a, n: np.fft.irfft(a, n), lambda a, n: np.fft.rfft(a, n),
              lambda a, n: np.fft.hfft(a, n), lambda a, n: np.fft.ifft2(a.reshape(2, 2), (2, n))):
        if isinstance(n, float):
            with pytest.raises(TypeError) as expected:
                f(a, n)
            with pytest.raises(TypeError) as found:
                njit(f)(a, n)
            assert str(found.value).splitlines()[0] == str(expected.value)
        else:
            compare(f(a, n), njit(f)(a, n))


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n):
    a = R.normal(size=n) + 1j * R.normal(size=n)
    compare(of_reals(a.real.copy()), REAL(a.real.copy()))
    half = a[:n // 2 + 1]
    compare(back(half, n), BACK(half.copy(), n))
    if n > 1:
        compare(one_axis(a), COMPLEX(a))
        single = a.astype(np.complex64)
        compare(one_axis(single), COMPLEX(single))


def test_exact_points():
    """Where NumPy's transform is exact, so is this one: for a pulse, and for a power of two of equal points."""
    for n in (4, 8, 64, 256):
        pulse = np.zeros(n)
        pulse[0] = 1.0
        assert np.array_equal(REAL(pulse)[2], np.ones(n) + 0j)
        assert np.array_equal(REAL(np.ones(n))[2], np.fft.fft(np.ones(n)))


def of_types(a, b, c):
    return (np.fft.fft(a), np.fft.rfft(b), np.fft.irfft(c), np.fft.rfft(c, norm="forward"), np.fft.fft([1.0, 2.0, 4.0]),
            np.fft.rfft((1, 2, 3, 7)))


def test_types():
    args = [(R.normal(size=(3, 10)) * 4).astype(t) for t in (np.bool_, np.uint64, np.float16)]
    compare(of_types(*args), njit(of_types)(*args))


def layouts(a, b, r):
    return (np.fft.fft(a.T), np.fft.ifft(a[::-1]), np.fft.fft(a[:, ::2]), np.fft.irfft(a[::2, ::-1]), np.fft.rfft(r.T),
            np.fft.fft(b[..., 1]), np.fft.fft(b), np.fft.irfft(b, axis=0))


LAYOUTS = njit(layouts)


def test_columns_by_blocks():
    a = R.normal(size=(12, 21)) + 1j
    compare(layouts(a[:, :19], C3, a.real), LAYOUTS(a[:, :19], C3, a.real.copy()))


def test_layouts():
    a, b, r = C2[:, ::-1].copy()[:, ::-1], C3.copy(), C2.real.copy()
    compare(layouts(C2, C3, r), LAYOUTS(a, b, r))
    assert np.array_equal(a, C2) and np.array_equal(b, C3) and np.array_equal(r, C2.real)


def complex_arguments(a):
    """The functions of complex numbers, called in one function, so that the transform itself is compiled once."""
    return (np.fft.fft(a, 4), np.fft.ifft(a, n=9), np.fft.fft(a, 20), np.fft.irfft(a, 7), np.fft.hfft(a, 20),
            np.fft.fft(a, axis=0), np.fft.ifft(a, axis=-2), np.fft.irfft(a, axis=0), np.fft.hfft(a, None, 0),
            np.fft.fft(a, norm="ortho"), np.fft.ifft(a, norm="ortho"), np.fft.irfft(a, norm="ortho"),
            np.fft.hfft(a, norm="ortho"), np.fft.fft(a, norm="forward"), np.fft.ifft(a, norm="forward"),
            np.fft.irfft(a, norm="forward"), np.fft.hfft(a, norm="forward"), np.fft.fft(a, norm="backward"),
            np.fft.ifft(a, norm="backward"), np.fft.irfft(a, norm="backward"))


def real_arguments(a):
    return (np.fft.rfft(a, 4), np.fft.rfft(a, 9), np.fft.rfft(a, 20), np.fft.rfft(a, 3), np.fft.ihfft(a, n=5),
            np.fft.fft(a, 5), np.fft.rfft(a, axis=0), np.fft.rfft(a, axis=-2), np.fft.ihfft(a, axis=0),
            np.fft.fft(a, 5, 0), np.fft.rfft(a, norm="ortho"), np.fft.rfft(a, norm="forward"),
            np.fft.ihfft(a, norm="ortho"), np.fft.ihfft(a, norm="forward"))


def complex_axes(a):
    return (np.fft.fft2(a), np.fft.ifft2(a), np.fft.irfft2(a), np.fft.fft2(a, (3, 8)), np.fft.fft2(a, axes=(0, 1)),
            np.fft.fftn(a), np.fft.ifftn(a), np.fft.irfftn(a), np.fft.fftn(a, axes=(0,)),
            np.fft.fftn(a, axes=(1, 0), norm="ortho"), np.fft.fftn(a, s=[4, -1], axes=(0, 1)),
            np.fft.ifftn(a, (2, 7), (1, 0)), np.fft.irfftn(a, (3, 9), axes=(0, 1)), np.fft.fftn(a, axes=()))


def real_axes(a):
    return (np.fft.rfft2(a), np.fft.rfft2(a, s=(4, 5)), np.fft.rfft2(a, axes=(1, 0)),
            np.fft.rfftn(a), np.fft.rfftn(a, axes=(0,)), np.fft.rfftn(a, s=(4, 7), axes=(1, 0), norm="forward"))


def all_complex(a):
    return complex_arguments(a), complex_axes(a)


def all_real(a):
    return real_arguments(a), real_axes(a)


@pytest.mark.parametrize("function, a", [(all_complex, C3), (all_real, C3.real)],
                         ids=lambda x: getattr(x, "__name__", "a"))
def test_arguments(function, a):
    compare(function(a), njit(function)(a))


def shifts(a):
    return np.fft.fftshift(a), np.fft.ifftshift(a), np.fft.fftshift(a, axes=0), np.fft.ifftshift(a, axes=(0,))


def shifts_over_axes(a):
    return np.fft.fftshift(a, (0, 1)), np.fft.ifftshift(a, (1,)), np.fft.ifftshift(a, (1, 0)), np.fft.fftshift(a, ())


def test_shifts():
    for function, *calls in ((shifts, C1, C1[:5], C3), (shifts_over_axes, C2)):
        compiled = njit(function)
        for a in calls:
            agree(function, a, compiled=compiled)


def into(a, b, x, y, z):
    return (np.fft.fft(a, out=x), np.fft.irfft(a, 6, out=y), np.fft.ifftn(a, out=x), np.fft.ifft(b, out=z),
            np.fft.fft(a, out=a))


def test_inverse_of_nothing_is_zero():
    for found in BACK(np.zeros(0, complex), 5)[:2]:
        assert found.tolist() == [0.0] * 5


def test_out():
    compiled = njit(into)
    args = C2.copy(), C2.astype(np.complex64), np.empty(C2.shape,
                                                        complex), np.empty(C2.shape), np.empty(C2.shape, np.complex64)
    expected = into(*map(np.copy, args))
    found = compiled(*args)
    for n, m in enumerate((2, 3, 2, 4, 0)):
        assert found[n] is args[m]
    compare(expected, found)


FREQUENCIES = {
    "fftfreq": (lambda n: (np.fft.fftfreq(n), np.fft.fftfreq(n, 0.1), np.fft.fftfreq(n, d=3)), 1, 2, 7, 8, 0, -3),
    "rfftfreq": (lambda n: (np.fft.rfftfreq(n), np.fft.rfftfreq(n, 0.1), np.fft.rfftfreq(n, d=3)), 1, 2, 7, 8, 0, -3),
    "not an integer": (lambda n: np.fft.fftfreq(n), 2.5),
}


@pytest.mark.parametrize("name", FREQUENCIES)
def test_frequencies(name):
    function, *calls = FREQUENCIES[name]
    compiled = njit(function)
    for n in calls:
        agree(function, n, compiled=compiled)


def test_errors_at_run_time():
    for a, n in ((C1, 0), (C1, -3)):
        agree(back, a, n, compiled=BACK)
    compare(back(C1[:0], 4)[2:], BACK(C1[:0], 4)[2:])  # NumPy reads one element of an empty half


def with_out(a, out):
    return np.fft.fft(a, out=out)


ERRORS = {
    "axis": (lambda a: np.fft.fft(a, axis=3), C2), "axis with n": (lambda a: np.fft.fft(a, 4, axis=3), C2),
    "axes": (lambda a: np.fft.fftn(a, axes=(3,)), C2), "axes with s": (lambda a: np.fft.fftn(a, (4,), axes=(3,)), C2),
    "lengths": (lambda a: np.fft.fftn(a, (4, 4, 4), axes=(0, 1)), C2),
    "empty": (lambda a: np.fft.fft(a), C2[:, :0]), "norm": (lambda a: np.fft.fft(a, norm="wrong"), C2),
    "norm back": (lambda a: np.fft.irfft(a, norm="wrong"), C2),
    "norm hermitian": (lambda a: np.fft.hfft(a, norm="wrong"), C2),
    "out": (with_out, C2, np.empty((5, 3), np.complex128)), "out ndim": (with_out, C2, np.empty(3, np.complex128)),
    "shift of a number": (lambda a: np.fft.fftshift(a), np.array(2.0)),
    "no axes": (lambda a: np.fft.rfftn(a, axes=()), C2.real),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    function, *args = ERRORS[name]
    agree(function, *args)


def test_axes_known_at_run_time():
    def f(a, i, j):
        return (np.fft.fft(a, axis=i), np.fft.fftn(a, axes=[i, j]), np.fft.fftshift(a, axes=[i, j]),
                np.fft.ifftshift(a, axes=j))

    compiled, a = njit(f), np.stack((C2, C2 * 2))
    for i, j in ((0, 2), (-1, 1), (2, -3)):
        for expected, actual in zip(f(a, i, j), compiled(a, i, j)):
            assert expected.dtype == actual.dtype
            np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)
    for i, j in ((3, 0), (0, 3), (-4, 1)):
        expected, actual = outcome(f, (a, i, j)), outcome(compiled, (a, i, j))
        assert not difference(expected, actual)


def test_wrong_types():
    for function, a in ((lambda a: np.fft.rfft(a), C1), (lambda a: np.fft.fft(a, out=np.empty(12)), C1)):
        with pytest.raises(TypeError):
            function(a)
        with pytest.raises(TypeError, match="rfft_n_even|Cannot cast ufunc 'fft'"):
            njit(function)(a)
