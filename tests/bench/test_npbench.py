"""The kernels of the suite `npbench`, at tiny sizes, against NumPy: the results, their types, the arrays written."""
import numpy as np
import pytest

from bench.npbench.cases import NAMES, compiled, difference, kernel, outcome

MISSING: dict[str, str] = {
    "atax": "matmul",
    "azimint_hist": "numpy.histogram",
    "azimint_naive": "indexing with arrays or masks",
    "bicg": "matmul",
    "cavity_flow": "a slice of a loop nest's operand is lost",
    "channel_flow": "numpy.sum",
    "cholesky": "numpy.dot",
    "cholesky2": "numpy.linalg.cholesky",
    "contour_integral": "numpy.linalg.inv",
    "conv2d_bias": "reductions with axis",
    "correlation": "reductions with axis",
    "covariance": "reductions with axis",
    "covariance2": "numpy.transpose",
    "doitgen": "numpy.reshape",
    "durbin": "numpy.flip",
    "floyd_warshall": "numpy.add.outer",
    "gemm": "matmul",
    "gemver": "numpy.outer",
    "gesummv": "matmul",
    "gramschmidt": "numpy.dot",
    "k2mm": "matmul",
    "k3mm": "matmul",
    "lenet": "reductions with axis",
    "lu": "matmul",
    "ludcmp": "matmul",
    "mandelbrot1": "numpy.linspace",
    "mandelbrot2": "numpy.mgrid",
    "mlp": "matmul",
    "mvt": "matmul",
    "nbody": "reductions with axis",
    "resnet": "reductions with axis",
    "scattering_self_energies": "matmul",
    "softmax": "reductions with axis",
    "spmv": "indexing with arrays or masks",
    "stockham_fft": "numpy.mgrid",
    "symm": "matmul",
    "trisolv": "matmul",
    "trmm": "numpy.dot",
    "vadv": "numpy.ndarray",
}


def marked(name):
    return pytest.param(name, marks=pytest.mark.xfail(reason=MISSING[name], strict=False)) if name in MISSING else name


@pytest.mark.parametrize("name", map(marked, NAMES))
def test_kernel_agrees_with_numpy(name):
    case = kernel(name)
    with np.errstate(all="ignore"):
        expected = outcome(case, case.function, case.arguments(**case.tiny))
    actual = outcome(case, compiled(name, "pyjitc"), case.arguments(**case.tiny))
    assert not difference(case, expected, actual)


def test_every_kernel_is_named_once_and_has_tiny_sizes_of_its_own():
    assert len(NAMES) == len(set(NAMES)) == 54
    for case in map(kernel, NAMES):
        assert case.tiny.keys() == case.small.keys() and case.tiny != case.small, case.name
