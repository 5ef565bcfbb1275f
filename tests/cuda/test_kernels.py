"""The kernels of kernels.py on the CPU grid give what NumPy gives."""
import pytest

from .kernels import CASES


@pytest.mark.parametrize("name", CASES)
def test_kernel(name):
    CASES[name].check()
