"""Whole programs of lists, dicts, sets, text, classes and generators, compared with the interpreter."""
import copy
import re

import numpy as np
import pytest

from pyjitc import njit
from tests.language import classics, everyday
from tests.oracle import outcome

CASES = [*everyday.CASES, *classics.CASES]


@pytest.mark.parametrize("function, calls", CASES, ids=[function.__name__ for function, _ in CASES])
def test_is_as_in_the_interpreter(function, calls):
    compiled = njit(function)
    defaults = copy.deepcopy(function.__defaults__)
    for arguments in calls:
        expected = outcome(function, arguments)
        function.__defaults__ = copy.deepcopy(defaults)
        actual = outcome(compiled, arguments)
        assert shown(expected) == shown(actual)
    assert compiled.signatures, "the interpreter was not left to do it"


def shown(x):
    """A form of a value whose comparison includes types, the order of dicts and sets, and the attributes of objects."""
    if isinstance(x, (list, tuple)):
        return type(x).__name__, [shown(e) for e in x]
    if isinstance(x, dict):
        return type(x).__name__, [(shown(k), shown(v)) for k, v in x.items()]
    if isinstance(x, (set, frozenset)):
        return type(x).__name__, [shown(e) for e in x]
    if isinstance(x, np.ndarray):
        return "array", str(x.dtype), x.shape, repr(x.tolist())
    if isinstance(x, BaseException):
        return type(x).__name__, repr(x.args)
    if type(x).__module__ in (everyday.__name__, classics.__name__):
        names = [*getattr(type(x), "__slots__", ()), *getattr(x, "__dict__", ())]
        return type(x).__name__, [(name, shown(getattr(x, name, "unset"))) for name in names]
    return type(x).__name__, re.sub(" at 0x[0-9a-f]+", "", repr(x))
