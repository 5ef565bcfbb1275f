"""Attributes of classes and modules that a program assigns while compiled code runs."""
import sys

import pytest

from pyjitc import TypingError, jit, njit
from pyjitc.pipeline import stages

this = sys.modules[__name__]
SETTING = 1


def fresh():
    """New classes for each run: the runs change them."""
    class Counted:
        made = 0
        best = None
        name = "a"

        def __init__(self, value):
            Counted.made += 1
            self.value, self.number = value, Counted.made

        @classmethod
        def reset(cls):
            cls.made = 0

        def add(self):
            self.__class__.made += 10
            type(self).made += 100
            return self.made

    class Derived(Counted):
        pass

    return Counted, Derived


def counts(Counted, Derived, n):
    items = [Counted(i) for i in range(n)]
    found = [Counted.made, [x.number for x in items], items[0].add(), Derived.made, Derived(1).made]
    Counted.reset()
    return found, Counted.made, items[0].made


def inherits(Counted, Derived, n):
    found = [Counted.made, Derived.made]
    Derived.made = n + 0.5
    found += [Counted.made, Derived.made, Derived(1).made]
    Counted.made = 7
    return found, Counted.made, Derived.made


def new_one(Counted, Derived, n):
    Counted.extra = n
    return Counted.extra, Derived.extra, Counted(2).extra


def of_two_types(Counted, Derived, n):
    for k in (n, n + 2, n - 1):
        if Counted.best is None or k > Counted.best:
            Counted.best = k
    return Counted.best


def own_attribute_first(Counted, Derived, n):
    x = Counted(1)
    Counted.name = "b"
    before = x.name
    x.name = "own"
    Counted.name += "c"
    return before, x.name, Counted.name, Derived.name


def of_a_module(Counted, Derived, n):
    this.SETTING = n
    this.SETTING += 1
    return this.SETTING, SETTING


FUNCTIONS = [counts, inherits, new_one, of_two_types, own_attribute_first, of_a_module]


@pytest.mark.parametrize("function, decorate", [*((one, njit) for one in FUNCTIONS), (inherits, jit)])
def test_assigned(function, decorate):
    compiled = decorate(function)
    classes, others = fresh(), fresh()
    for n in (3, 5):  # each call finds the attributes that the previous one set
        assert repr(compiled(*classes, n)) == repr(function(*others, n))


class Shared:
    count = 0
    label = "x"


def changed_by_the_interpreter(n):
    before = Shared.count, this.SETTING, Shared.label
    eval("change")(n)
    return before, Shared.count, Shared().count, this.SETTING, SETTING, Shared.label


def change(n):
    Shared.count += n
    this.SETTING += n
    Shared.label += "y"


def test_the_interpreter_assigns_under_jit():
    def once(function):
        Shared.count, this.SETTING, Shared.label = 0, 1, "x"
        return function(4), function(5)

    assert once(jit(changed_by_the_interpreter)) == once(changed_by_the_interpreter)


def replaces_a_method(Counted, Derived, n):
    Counted.add = lambda self: n
    return Counted(1).add()


def test_methods_are_replaced_by_the_interpreter_alone():
    with pytest.raises(TypingError, match=r"this assignment to '.*Counted.add' is not compiled"):
        njit(replaces_a_method)(*fresh(), 3)
    assert jit(replaces_a_method)(*fresh(), 3) == 3


class Numbered:
    made = 0

    def __init__(self):
        Numbered.made += 1
        self.number = Numbered.made


def test_an_attribute_that_the_program_assigns_is_no_constant_of_the_code(monkeypatch):
    compiled = njit(lambda: Numbered().number)
    first = compiled()

    def compile_again(*_, **__):
        raise AssertionError("the function is compiled again")

    monkeypatch.setattr(stages, "compile_signature", compile_again)
    monkeypatch.setattr(stages, "infer", compile_again)
    assert [compiled() for _ in range(3)] == [first + 1, first + 2, first + 3]
