"""Objects in containers that globals and classes hold: read and changed by compiled code, and changed between calls."""
import warnings

import numpy as np
import pytest

from pyjitc import TypingError, jit, njit
from tests.oracle import agree


class Item:
    def __init__(self, value, label=None):
        self.value = value
        self.label = label

    def grow(self, by):
        self.value += by


class Counted:
    made = []

    def __init__(self, n):
        self.n = n
        Counted.made.append(self)


class Other:
    def __init__(self):
        self.value = 100


ITEMS = []
TABLE = {}


@pytest.fixture(autouse=True)
def no_other_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ITEMS[:] = [Item(1), Item(2)]
        TABLE.clear()
        TABLE.update(a=[Item(5)], b=[])
        Counted.made.clear()
        yield


def shown(items):
    return [(type(x).__name__, vars(x)) for x in items]


def both(function, compiled, *args):
    """The results of the function and its compiled form, each with the containers as they are now."""
    items, table = list(ITEMS), {key: list(held) for key, held in TABLE.items()}
    values = [(x, dict(vars(x))) for x in (*items, *table["a"])]
    results = []
    for one in (function, compiled):
        results.append((one(*args), shown(ITEMS), {key: shown(held) for key, held in TABLE.items()}))
        ITEMS[:] = items
        TABLE.clear()
        TABLE.update({key: list(held) for key, held in table.items()})
        for x, held in values:
            vars(x).clear()
            vars(x).update(held)
    return results


@pytest.mark.parametrize("compiler", [njit, jit])
def test_are_read_and_changed(compiler):
    def f(n):
        ITEMS.append(Item(n, "new"))
        for x in ITEMS:
            x.grow(2)
        TABLE["a"].append(ITEMS[0])
        TABLE["c"] = [Item(0)]
        return sum(x.value for x in ITEMS), [x.label for x in ITEMS], len(TABLE["a"]), ITEMS.pop().value

    expected, found = both(f, compiler(f), 7)
    assert expected == found


@pytest.mark.parametrize("compiler", [njit, jit])
def test_change_between_calls(compiler):
    def f():
        return [x.value for x in ITEMS], [x.value for x in TABLE["a"]]

    compiled = compiler(f)
    assert compiled() == f() == ([1, 2], [5])
    ITEMS[0].value = 2.5
    assert compiled() == f()
    ITEMS.append(Item("text"))
    assert compiled() == f()
    TABLE["a"].append(Item(None))
    assert compiled() == f()
    ITEMS.append(Other())
    assert compiled() == f()
    assert compiled.stats["compiled"] <= 5


def test_a_single_object_that_changes_is_compiled_again():
    def f():
        return THING.value * 2

    compiled = njit(f)
    assert compiled() == 2
    THING.value = 2.5
    assert compiled() == 5.0 and compiled() == 5.0
    assert compiled.stats["compiled"] == 2
    THING.value = 1


THING = Item(1)


def test_a_list_that_a_class_holds():
    def f(n):
        Counted.made.clear()
        for i in range(n):
            Counted(i)
        return len(Counted.made), [x.n for x in Counted.made]

    compiled = agree(f, 3)
    agree(f, 2, compiled=compiled)


def test_the_same_object_in_an_argument():
    def f(x):
        x.value += 1
        ITEMS[0].value += 10
        return x.value, ITEMS[0].value, x is ITEMS[0]

    compiled = njit(f)
    assert compiled(ITEMS[0]) == (12, 12, True)
    assert ITEMS[0].value == 12


def test_an_object_of_another_class():
    def f():
        return [type(x).__name__ for x in ITEMS]

    compiled = njit(f)
    assert compiled() == f()
    ITEMS[1] = Other()
    assert compiled() == f()


MASKED = np.ma.masked


@pytest.mark.parametrize("f", [
    lambda x: (x is MASKED, MASKED is None, MASKED is np.ma.masked),
    lambda x: bool(MASKED),
])
def test_the_masked_constant_is_an_object_that_is_compared_by_identity(f):
    agree(f, 1.0)


def test_the_masked_constant_is_returned_as_it_is():
    assert all(one is MASKED for one in njit(lambda: (MASKED, np.ma.masked))()) and njit(lambda: MASKED)() is np.ma.masked


def test_operations_on_the_masked_constant_are_refused_where_they_stand():
    with pytest.raises(TypingError, match="MaskedConstant(.|\n)*test_global_objects.py"):
        njit(lambda x: x + MASKED)(1.0)
