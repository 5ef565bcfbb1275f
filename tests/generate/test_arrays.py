"""A few of the random programs of whole-array statements; `python -m tests.generate.arrays` runs as many as asked."""
import warnings

import pytest
from tests.generate.arrays import check


@pytest.mark.parametrize("seed", range(24))
def test_arrays(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        status, text = check(seed)
    assert status in ("ok", "skipped"), text
