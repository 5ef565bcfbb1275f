import itertools

import numpy as np
import pytest

from pyjitc.types import kinds as k
from pyjitc.types import lattice

SCALARS = list(k.NUMPY_SCALARS.values())
WEAK = {k.Int: 1, k.Float: 1.0, k.Complex: 1j}


def test_promotion_is_numpys():
    for s, t in itertools.product(SCALARS, repeat=2):
        assert lattice.dtype_of(lattice.promote(s, t)) == np.promote_types(lattice.dtype_of(s), lattice.dtype_of(t))
    for s, t in itertools.product(SCALARS, WEAK):
        want = np.result_type(lattice.dtype_of(s), WEAK[t])
        assert lattice.dtype_of(lattice.promote(s, t)) == lattice.dtype_of(lattice.promote(t, s)) == want
    assert lattice.promote(k.float32, k.Float) is k.float32 and lattice.promote(k.int8, k.Bool) is k.int8


def test_python_tower():
    order = [k.Bool, k.Int, k.Float, k.Complex]
    for i, j in itertools.product(range(4), repeat=2):
        assert lattice.promote(order[i], order[j]) is order[max(i, j)]
    with pytest.raises(AttributeError, match="str is no number"):
        lattice.promote(k.Str, k.Int)


def test_inexact_is_what_sqrt_computes_in():
    for t in SCALARS:
        assert lattice.dtype_of(lattice.inexact(t)) == np.sqrt(lattice.dtype_of(t).type(1)).dtype


@pytest.mark.parametrize("value, t, answer", [
    (127, k.int8, True), (128, k.int8, False), (-1, k.uint64, False), (2**64 - 1, k.uint64, True),
    (2**24 + 1, k.float32, False),
    (0.5, k.float16, True), (0.1, k.float32, False), (float("nan"), k.float32, True), (1.0, k.int8, False),
    (True, k.bool_, True),
    (True, k.int8, False), (1j, k.complex64, True), (1j, k.float64, False), (2**63, k.Int, False)])
def test_constants_fit_where_they_are_exact(value, t, answer):
    assert lattice.fits(value, t) is answer


def test_dtypes_and_kinds():
    for t in SCALARS:
        assert lattice.type_of_dtype(lattice.dtype_of(t)) is t
        assert lattice.kind_of(t) == lattice.dtype_of(t).kind
    assert lattice.type_of_dtype(np.dtype(">f8")) is None and lattice.type_of_dtype(np.dtype("O")) is None
    assert lattice.kind_of(k.Str) == ""
