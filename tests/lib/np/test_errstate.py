"""`with np.errstate(...)` in compiled functions."""
import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import njit
from pyjitc.base.errors import TypingError


def test_errstate_changes_nothing_but_compiles():
    def f(x, n):
        t = 0
        for i in range(3):
            with np.errstate(divide="ignore", invalid="ignore"):
                if n == i:
                    return x / 0, t
                t += 1
                with np.errstate(all="warn") as state:
                    if n == 7 and state is None:
                        raise ValueError("seven")
        try:
            with np.errstate():
                x[n]
        except IndexError:
            return x, -1
        return x * 2, t

    compiled = agree(f, np.arange(3.0), 0)
    for n in (1, 2, 5, 7, -1):
        agree(f, np.arange(3.0), n, compiled=compiled)


@pytest.mark.parametrize("state, text", [
    (lambda: np.errstate(all="raise"), r"np.errstate\(all='raise'\) is not compiled: compiled code does not look at floating-point errors"),
    (lambda: np.errstate(divide="call"), r"np.errstate\(divide='call'\) is not compiled"),
    (lambda: np.errstate(over="nosuch"), "invalid error mode 'nosuch'"),
    (lambda: np.errstate(nosuch="ignore"), "unexpected keyword argument 'nosuch'"),
])
def test_what_errstate_cannot_do_is_said(state, text):
    def f(x):
        with state():
            return 1 / x

    with pytest.raises(TypingError, match=text):
        njit(f)(np.ones(2))


def test_other_context_managers_are_named():
    def f(x):
        with x:
            return x

    with pytest.raises(TypingError, match="a `with` statement of 'int' is not supported in compiled functions: only np.errstate is"):
        njit(f)(1)
