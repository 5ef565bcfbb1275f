"""The kernels of kernels.py have NumPy's results on the CPU grid."""
import pytest

from .kernels import CASES


@pytest.mark.parametrize("name", CASES)
def test_kernel(name):
    CASES[name].check()
