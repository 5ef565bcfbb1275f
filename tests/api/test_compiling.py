"""What a compile leaves as it was."""
import gc

import pytest

from pyjitc import PyjitcError, njit


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_collection_is_put_back(collects):
    (gc.enable if collects else gc.disable)()
    try:
        assert njit(lambda x: x + 1.5)(2.0) == 3.5
        assert gc.isenabled() == collects
        with pytest.raises(PyjitcError):
            njit(lambda x: x.nothing)(2.0)
        assert gc.isenabled() == collects
    finally:
        gc.enable()
