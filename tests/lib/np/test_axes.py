"""The values that functions take as an axis: bools, integers of NumPy and floats are taken where NumPy takes them."""
import inspect

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.lib.np.axes import AXES

A = np.arange(6.0).reshape(2, 3)
VALUES = ("True", "np.True_", "np.int8(1)", "1.0")
CALLS = """
np.sum(A, axis=X)
np.max(A, X)
np.mean(A, axis=X)
np.std(A, axis=X)
np.any(A, axis=X)
np.ptp(A, axis=X)
np.nansum(A, axis=X)
np.nanmin(A, axis=X)
np.nanmean(A, axis=X)
np.nanstd(A, axis=X)
np.nanmedian(A, axis=X)
np.nanquantile(A, 0.5, axis=X)
np.nancumsum(A, axis=X)
np.nanargmax(A, axis=X)
np.median(A, axis=X)
np.percentile(A, 50, axis=X)
np.average(A, axis=X)
np.cumsum(A, axis=X)
np.argmax(A, axis=X)
np.count_nonzero(A, axis=X)
np.diff(A, axis=X)
np.gradient(A, axis=X)
np.trapezoid(A, axis=X)
np.unwrap(A, axis=X)
np.sort(A, axis=X)
np.argsort(A, axis=X)
np.partition(A, 1, axis=X)
np.argpartition(A, 1, axis=X)
np.repeat(A, 2, axis=X)
np.take(A, 0, axis=X)
np.compress([True], A, axis=X)
np.delete(A, 0, axis=X)
np.insert(A, 0, 1.0, axis=X)
np.append(A, A, axis=X)
np.concatenate((A, A), axis=X)
np.stack((A, A), axis=X)
np.split(A, 1, axis=X)
np.array_split(A, 1, axis=X)
np.roll(A, 1, axis=X)
np.rollaxis(A, X)
np.moveaxis(A, X, 0)
np.moveaxis(A, (0, X), (1, 0))
np.swapaxes(A, 0, X)
np.transpose(A, (0, X))
np.expand_dims(A, X)
np.squeeze(A[:, :1], X)
np.flip(A, X)
np.take_along_axis(A, np.zeros((2, 3), int), X)
np.size(A, X)
np.unique(A, axis=X)
np.packbits(np.zeros((8, 8), np.uint8), axis=X)
np.diagonal(A, 0, X, 0)
np.trace(A, 0, 0, X)
np.cross(A, A, axis=X)
np.cross(A, A, axisa=X)
np.vecdot(A, A, axis=X)
np.tensordot(A, A, axes=(X, 1))
np.linalg.norm(A, axis=X)
np.linalg.norm(A, axis=(0, X))
np.linalg.vector_norm(A, axis=X)
np.linalg.cross(A, A, axis=X)
np.fft.fft(A, axis=X)
np.apply_along_axis(np.sum, X, A)
np.apply_over_axes(np.sum, A, X)
np.lib.stride_tricks.sliding_window_view(A, 2, axis=X)
np.linspace([0.0, 1.0], [1.0, 2.0], 3, axis=X)
np.logspace([0.0, 1.0], [1.0, 2.0], 3, axis=X)
np.geomspace([1.0, 1.0], [1.0, 2.0], 3, axis=X)
np.polynomial.polynomial.polyder(A, axis=X)
np.random.default_rng(1).permuted(A, axis=X)
np.random.default_rng(1).choice(A, 1, axis=X)
np.sum(A, axis=(0, X))
np.median(A, axis=(0, X))
np.flip(A, (0, X))
A.cumsum(X)
A.repeat(2, X)
A.argsort(X)
A.copy().sort(X)
A.swapaxes(0, X)
A.trace(0, X, 0)
""".split("\n")[1:-1]
# Functions that take an axis that is known only at run time
RUN_TIME = ("np.sum(A, axis=X)", "np.swapaxes(A, 0, X)", "np.argmax(A, axis=X)")


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return TypeError if isinstance(error, TypeError) else error


def compare(function, *args):
    want, got = outcome(function, *args), outcome(njit(function), *args)
    assert type(got) is type(want), (want, got)
    assert str(got) == str(want)


@pytest.mark.parametrize("call", CALLS)
def test_a_constant_axis_is_taken_where_numpy_takes_it(call):
    for value in VALUES:
        compare(eval(f"lambda A: {call.replace('X', value)}", {"np": np}), A.copy())


@pytest.mark.parametrize("call", RUN_TIME)
def test_an_axis_of_another_type_that_is_known_at_run_time(call):
    for value in (True, np.True_, np.int8(1), 1.0, 1j):
        compare(eval(f"lambda A, X: {call}", {"np": np}), A.copy(), value)


def test_the_table_has_the_positions_of_numpys_signatures():
    for parameter, position, functions in AXES:
        for path in functions.split():
            target = np
            for name in path.split("."):
                target = getattr(target, name, None)
            try:
                names = list(inspect.signature(target).parameters.values())
            except (TypeError, ValueError):  # a function without a signature, or that this NumPy does not have
                continue
            found = next(n for n, p in enumerate(names) if p.name == parameter)
            assert position is None and names[found].kind is names[found].KEYWORD_ONLY or found == position, path
