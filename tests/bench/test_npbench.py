"""The kernels of the suite `npbench`, at tiny sizes, against NumPy: the results, their types, the arrays written."""
import numpy as np
import pytest

from bench.npbench.cases import NAMES, compiled, difference, kernel, outcome


@pytest.mark.parametrize("name", NAMES)
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
