"""getattr, setattr and hasattr, with constant names and with names that are computed."""
import enum
import math
import types
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from pyjitc import TypingError, jit, njit
from tests.oracle import agree

Point = namedtuple("Point", "x y")


class Vector(Point):
    def norm(self):
        return math.hypot(self.x, self.y)


class Colour(enum.Enum):
    RED = 1


class Shape:
    sides = 4


module = types.ModuleType("module_of_the_test")


def of_anything(x):
    return (hasattr(x, "real"), hasattr(x, "shape"), hasattr(x, "bit_length"), hasattr(x, "nothing"),
            getattr(x, "real", -1), getattr(x, "nothing", x))


def of_array(x):
    return (getattr(x, "size"), getattr(x, "T").shape, getattr(x, "sum")(), getattr(np, "sqrt")(x),
            getattr(x, "nothing", None))


def of_tuple(p):
    return (hasattr(p, "x"), hasattr(p, "norm"), hasattr(p, "index"), getattr(p, "norm")() if hasattr(p, "norm") else 0,
            getattr(p, "z", 3))


def of_constants():
    return (hasattr(Colour, "RED"), hasattr(Colour, "BLUE"), hasattr(Colour.RED, "value"),
            hasattr(Colour.RED, "nothing"), hasattr(math, "pi"), hasattr(math, "nothing"), getattr(math, "tau", 0),
            hasattr(Shape, "sides"), hasattr(Shape, "__name__"), getattr(Shape, "corners", 4))


def by_kind(x):
    if hasattr(x, "shape"):
        return x.shape[0]
    return x + 1


@pytest.mark.parametrize("function, calls", [
    (of_anything, [(1,), (1.5,), (True,), (2j,), (np.float32(2),), (np.int64(3),), (np.ones(2),), ((1, 2),)]),
    (of_array, [(np.ones((2, 3)),)]), (of_tuple, [(Point(3, 4),), (Vector(3, 4),)]), (of_constants, [()]),
    (by_kind, [(4,), (np.zeros(3),)]),
], ids=lambda x: x.__name__ if callable(x) else "")
def test_agrees(function, calls):
    for args in calls:
        agree(function, *args)


def test_what_the_program_changes_is_seen():
    @njit
    def f():
        return hasattr(module, "here"), getattr(module, "here", 1.5), hasattr(Shape, "angles")

    assert f() == f.py_func() == (False, 1.5, False)
    module.here = 7
    Shape.angles = 4
    try:
        assert f() == f.py_func() == (True, 7, True)
    finally:
        del module.here, Shape.angles
    assert f() == (False, 1.5, False)


def test_missing_attribute():
    @njit
    def f(x):
        return getattr(x, "nothing")

    with pytest.raises(TypingError, match="'numpy.ndarray' object has no attribute 'nothing'"):
        f(np.ones(2))


@pytest.mark.parametrize("call, message", [
    ("getattr(x)", "getattr expected at least 2 arguments, got 1"),
    ("getattr(x, 'a', 1, 2)", "getattr expected at most 3 arguments, got 4"),
    ("hasattr(x)", "hasattr expected 2 arguments, got 1"), ("hasattr(x, name='a')", "takes no keyword arguments"),
    ("getattr(x, 5)", "attribute name must be string"), ("getattr(x, name)", "must be a constant")])
def test_wrong_calls(call, message):
    scope = {}
    exec(f"def f(x, name): return {call}", scope)
    with pytest.raises(TypingError, match=message):
        njit(scope["f"])(np.ones(2), "size")


@dataclass
class Box:
    w: int
    h: float = 1.5
    tag = "t"

    @property
    def area(self):
        return self.w * self.h

    def set(self, **named):
        for name, value in named.items():
            setattr(self, name, value)
        return self


class Branch:
    __slots__ = "key", "left", "right"

    def __init__(self, key):
        self.key = key
        self.left = self.right = None


def read(box, names):
    return [hasattr(box, name) for name in names], [getattr(box, name, -1) for name in names], getattr(box, names[-1])


def write(box, pairs):
    for name, value in pairs:
        setattr(box, name, value)
    return box.w, box.set(h=2.5), box.h


def grown(keys):
    root = Branch(keys[0])
    for key in keys[1:]:
        at = root
        while True:
            side = "left" if key < at.key else "right"
            below = getattr(at, side)
            if below is None:
                setattr(at, side, Branch(key))
                break
            at = below
    return root.left.key, root.right.left.key, root.right.right is None


@pytest.mark.parametrize("compiler", [njit, jit])
def test_computed_names(compiler):
    agree(grown, [5, 2, 8, 6], compiled=compiler(grown))
    compiled = compiler(read)
    for names in (["w", "h", "area", "tag"], ["w", "zz"], ["zz", "h"]):
        agree(read, Box(2), names, compiled=compiled)
    compiled = compiler(write)
    for pairs in ([("w", 3), ("h", 4)], [("w", 3), ("zz", 4)], [("area", 4)]):
        agree(write, Box(2), pairs, compiled=compiled)


class Leaf:
    def __init__(self, value):
        self.value = value


class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right


class Visitor:
    def visit(self, node):
        return getattr(self, f"visit_{type(node).__name__}")(node)

    def visit_Leaf(self, node):
        return node.value

    def visit_Pair(self, node):
        return self.visit(node.left) + self.visit(node.right)


class Depth(Visitor):
    def visit_Leaf(self, node):
        return 1

    def visit(self, node):
        method = getattr(self, "visit_" + type(node).__name__, self.other)
        return method(node)

    def other(self, node):
        return -1


def visited(n):
    tree = Leaf(n)
    for k in range(n):
        tree = Pair(tree, Leaf(k)) if k % 2 else Pair(Leaf(k), tree)
    return Visitor().visit(tree), Depth().visit(tree), Depth().visit(Visitor())


class Machine:
    def __init__(self):
        self.done = 0

    def scaled(self, n):
        self.done += 1
        return n * 2.5

    def plus(self, n, more=1):
        return n + more + self.done


def by_method(names, n):
    machine, found = Machine(), []
    for name in names:
        found.append(getattr(machine, name)(n))
    return found, machine.done


def test_methods_whose_names_are_computed():
    agree(visited, 5)
    compiled = njit(by_method)
    for names in (["scaled", "plus"], ["scaled", "nothing"]):
        agree(by_method, names, 3, compiled=compiled)



class Guarded:
    def __init__(self, x):
        self.x = x
        self.log = []

    def __setattr__(self, name, value):
        if name.startswith("_"):
            raise AttributeError(f"private {name}")
        super().__setattr__(name, value)

    def hide(self):
        self._z = 1


class Doubling(Guarded):
    def __setattr__(self, name, value):
        if name == "x":
            value *= 2
        super().__setattr__(name, value)


class Incremented:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value + 1)


class Locked:
    locked = False

    def __init__(self, v):
        self.v = v
        self.locked = True

    def __setattr__(self, name, value):
        if self.locked:
            raise TypeError(f"{name} is locked")
        self.__dict__[name] = value


class CountedSlots:
    __slots__ = ("x", "stores")

    def __init__(self):
        object.__setattr__(self, "stores", 0)

    def __setattr__(self, name, value):
        object.__setattr__(self, "stores", self.stores + 1)
        object.__setattr__(self, name, value)


class FromKeywords:
    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


class FromDict:
    def __init__(self, values):
        for name in values:
            setattr(self, name, values[name])


class Beside:
    def __init__(self):
        self.p = 1.5


@pytest.mark.parametrize("compiler", [njit, jit])
class TestStoresOfTheClass:
    def test_before_the_store(self, compiler):
        def f(n):
            a, b, c = Guarded(n), Doubling(n), Incremented()
            a.x += 1
            a.log.append(a.x)
            b.x = b.x + 1
            c.p = n
            c.p += 1
            try:
                a.hide()
            except AttributeError as error:
                return a.x, a.log, b.x, c.p, str(error), vars(c)

        agree(f, 3, compiled=compiler(f))

    def test_that_raise(self, compiler):
        def f(n):
            x = Locked(n)
            try:
                x.v = 5
            except TypeError as error:
                return x.v, str(error)

        agree(f, 3, compiled=compiler(f))

    def test_into_slots(self, compiler):
        def f(n):
            x = CountedSlots()
            x.x = n
            x.x = n + 1
            return x.x, x.stores

        agree(f, 3, compiled=compiler(f))

    def test_of_objects_that_are_passed(self, compiler):
        def f(x, n):
            x.x = n
            return x.x, x.log

        compiled = compiler(f)
        assert compiled(Doubling(1), 4) == f(Doubling(1), 4) == (8, [])

    def test_names_that_only_the_call_knows(self, compiler):
        def f(n):
            a, b, c = FromKeywords(p=n, q=2), FromDict({"p": n, "r": n}), Beside()
            b.p += 1
            c.p *= 2
            try:
                return a.p, a.q, b.p, b.r, c.p, a.r
            except AttributeError as error:
                return a.p, a.q, b.p, b.r, c.p, str(error)

        agree(f, 3, compiled=compiler(f))
        agree(f, 3, compiled=compiler(f))


def test_under_jit_the_interpreter_finds_any_name():
    def f(names, n):
        x = FromDict({name: n for name in names})
        return [getattr(x, name) for name in names], sum(getattr(x, name) for name in names)

    agree(f, ["k", "l"], 3, compiled=jit(f))


def test_attributes_are_deleted_by_name():
    class Deletes:
        @property
        def first(self):
            return 1

        @first.deleter
        def first(self):
            self.second = 2

    def f(name):
        x = Box(1)
        delattr(x, "h")
        try:
            delattr(x, name)
            delattr(x, name)
        except AttributeError as error:
            return str(error), hasattr(x, "w"), x.h
        return x

    def g():
        x = Deletes()
        return delattr(x, "first"), x.second

    agree(f, "w")
    agree(f, "nothing")
    agree(g)
    with pytest.raises(TypingError, match="may call 'first'"):
        njit(lambda x, name: delattr(x, name))(Deletes(), "first")


class Sized:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)


class Slotted:
    __slots__ = ("w",)

    def __init__(self, w):
        self.w = w


def size(x):
    if hasattr(x, "__len__"):
        return len(x)
    if hasattr(x, "__iter__"):
        return sum(1 for _ in x)
    if not hasattr(x, "twice"):
        return -x
    return x.twice() if hasattr(x, "__mod__") and x % 2 else 7


class Twice(Slotted):
    __slots__ = ()

    def twice(self):
        return self.w * 2


def test_a_branch_for_other_classes_is_not_compiled():
    compiled = njit(size)
    for x in (Sized([1, 2]), [1], "ab", Twice(3), Slotted(1), 4, 2.5):
        if type(x) is Slotted:
            with pytest.raises(TypeError, match="bad operand type for unary -: 'Slotted'"):
                compiled(x)
        else:
            assert compiled(x) == size(x)


class HasLength(Box):
    pass


def test_a_method_that_the_class_has_later_is_found():
    def f(x):
        return len(x) if hasattr(x, "__len__") else -1

    compiled = njit(f)
    assert compiled(HasLength(1)) == -1
    HasLength.__len__ = lambda self: 5
    try:
        assert compiled(HasLength(1)) == 5
    finally:
        del HasLength.__len__
    assert compiled(HasLength(1)) == -1


def test_a_special_name_that_an_object_stores_is_an_error():
    x = Box(1)
    vars(x)["__odd__"] = 1
    compiled = njit(lambda x: hasattr(x, "__odd__"))
    assert compiled(Box(2)) is False
    with pytest.raises(TypeError, match="under a special name.*__odd__"):
        compiled(x)
