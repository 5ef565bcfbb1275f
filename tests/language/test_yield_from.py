"""`yield from`: of any iterable, of generators with results, nested, in loops and handlers."""
import numpy as np
import pytest

from pyjitc import CompileError, jit, njit
from tests.oracle import agree


def ranges(n):
    yield from range(n)
    yield from (1.5, "x")
    yield from []


def returning(n):
    for i in range(n):
        yield i
    return n * 2.5


def results(n, a):
    x = yield from returning(n)
    yield x
    y = yield from a
    yield y
    return x + 1


def deeper(n, a):
    total = 0.0
    for k in range(2):
        total += yield from results(k, a)
        yield total
    z = yield from ranges(n)
    yield z


def caught(n):
    try:
        yield from (10 // (2 - i) for i in range(n))
    except ZeroDivisionError:
        yield from ("caught", n)


def early(n):
    for k in range(n):
        if k == 2:
            return k
        yield from range(k)


def of_arrays(a):
    for row in a:
        yield from row


A = np.arange(3.0)
CASES = [(lambda n: list(ranges(n)), (3,)), (lambda n: list(results(n, A)), (2,)), (lambda n, a: list(deeper(n, a)),
                                                                                    (2, A)),
         (lambda n: list(caught(n)), (4,)), (lambda n: [x for x in early(n)], (5,)),
         (lambda a: sum(of_arrays(a)), (np.arange(6.0).reshape(2, 3),)), (lambda n: sum(x for x in returning(n)), (4,)),
         (lambda n: list(zip(returning(n), ranges(n))), (3,))]


@pytest.mark.parametrize("function, args", CASES)
def test_agrees(function, args):
    agree(function, *args)


@pytest.mark.parametrize("function, args", [(ranges, (3,)), (caught, (4,)), (of_arrays, (np.ones((2, 2)),)),
                                            (deeper, (1, A))])
def test_handed_out(function, args):
    assert list(njit(function)(*args)) == list(function(*args))


def test_an_object_of_the_program_that_is_no_iterable():
    def f(n):
        def gen():
            yield from n
        return sum(gen())

    with pytest.raises(CompileError, match="'int' object is not iterable"):
        njit(f)(3)


class Steps:
    """An iterator that ends with a value."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration(f"end {self.n}")
        self.n -= 1
        return self.n


def told(it):
    found = yield from it
    yield "returned", found


def of_objects(n):
    return list(told(Steps(n))), list(told([1, 2])), list(told(iter((3,)))), list(told(returning(n)))


class Tree:
    """A binary tree whose iterators hold iterators of its branches."""

    def __init__(self, value):
        self.value, self.left, self.right = value, None, None

    def insert(self, value):
        side = "left" if value < self.value else "right"
        below = self.left if side == "left" else self.right
        if below is not None:
            below.insert(value)
        elif side == "left":
            self.left = Tree(value)
        else:
            self.right = Tree(value)

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right is not None:
            for x in self.right:
                yield x


def of_a_tree(values):
    root = Tree(values[0])
    for x in values[1:]:
        root.insert(x)
    return list(root), sum(root), values[-1] in root, max(root), [x for x in root]


def test_iterators_that_hold_iterators_of_their_class():
    """The interpreter runs them: the type of their state would have no end."""
    agree(of_a_tree, [3, 1, 2, 5, 4])


def with_finally(n):
    """The interpreter runs a generator that does something when it is closed."""
    log = []

    def inner(k):
        try:
            for i in range(k):
                x = yield i
                if x:
                    log.append(x)
        finally:
            log.append("closed")
        return "done", k

    def outer(k):
        found = yield from inner(k)
        log.append(found)
        yield found
        found = yield from inner(0)
        yield found

    return list(outer(n)), list(outer(0)), log


def passed(it):
    return list(told(it))


def counting(n):
    yield from range(n)
    return f"counted {n}"


def failing():
    yield 1
    raise ValueError("in the middle")


@pytest.mark.parametrize("decorator", (njit, jit))
def test_what_the_iterator_returned(decorator):
    for function in (of_objects, with_finally):
        compiled = decorator(function)
        for n in (0, 3):
            agree(function, n, compiled=compiled)
    compiled = decorator(passed)
    for make in (lambda: counting(2), lambda: counting(0), lambda: iter([1]), lambda: Steps(2), lambda: map(str, "ab")):
        assert compiled(make()) == passed(make())
    assert list(decorator(told)(counting(2))) == [0, 1, ("returned", "counted 2")]
    with pytest.raises(ValueError, match="in the middle"):
        compiled(failing())
