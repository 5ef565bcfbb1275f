"""Objects that compiled code makes and that do not escape: their values, identity and errors, the classes that remain
Python objects, and the memory."""
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from tests.language.test_native_lists import allocated
from tests.oracle import agree

from pyjitc import ParallelWarning, RaceError, njit, prange


def ir_of(compiled):
    return "\n".join(compiled._inspect("opt", None).values())


def assert_native(function, *args):
    """Assert that the program does the same as in the interpreter, and makes no Python objects of its classes."""
    text = ir_of(agree(function, *args))
    assert "instance_new" in text
    for name in ("object_new", "field_get", "field_set"):
        assert f" {name} " not in text, text


def assert_python(function, *args):
    """Assert that the program does the same as in the interpreter, and makes Python objects."""
    text = ir_of(agree(function, *args))
    assert "instance_new" not in text, text


class Node:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None

    def insert(self, key):
        node = self
        while True:
            if key < node.key:
                if node.left is None:
                    node.left = Node(key)
                    return True
                node = node.left
            elif key > node.key:
                if node.right is None:
                    node.right = Node(key)
                    return True
                node = node.right
            else:
                return False

    def depth(self):
        left = 0 if self.left is None else self.left.depth()
        right = 0 if self.right is None else self.right.depth()
        return max(left, right) + 1


@dataclass
class Vector:
    x: float
    y: float = 2.0

    def plus(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    @property
    def size(self):
        return abs(self.x) + abs(self.y)


class Stack:
    __slots__ = ("items", "count", "names")

    def __init__(self):
        self.items = []
        self.names = {}
        self.count = 0

    def push(self, x):
        self.items.append(x)
        self.count += 1

    def pop(self):
        self.count -= 1
        return self.items.pop()


class Link:
    def __init__(self, value, rest):
        self.value = value
        self.rest = rest


class Queue:
    def __init__(self):
        self.first = None
        self.last = None

    def append(self, value):
        link = Node(value)
        if self.last is None:
            self.first = link
        else:
            self.last.right = link
        self.last = link


class Shape:
    sides = 0

    def __init__(self, name):
        self.name = name

    def text(self):
        return self.name + str(self.area())

    def area(self):
        return 0.5


class Square(Shape):
    def __init__(self, name, side):
        super().__init__(name)
        self.side = side

    def area(self):
        return self.side * self.side


class Key:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Key) and self.value % 10 == other.value % 10

    def __lt__(self, other):
        return self.value < other.value

    def __repr__(self):
        return f"Key({self.value})"

    def __bool__(self):
        return self.value != 0

    def __add__(self, other):
        return Key(self.value + other.value)


class Line:
    def __init__(self, start, end):
        self.start = start
        self.end = end


class Pair:
    def __init__(self, first, second):
        self.first = first
        self.second = second


def tree(keys):
    root = Node(keys[0])
    new = 0
    for key in keys:
        new += root.insert(key)
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node.key)
        if node.left is not None:
            waiting.append(node.left)
        if node.right is not None:
            waiting.append(node.right)
    return found, new, root.depth()


def vectors(n):
    total = Vector(0.0)
    for i in range(n):
        total = total.plus(Vector(1.0, i * 0.5))
    return total.x, total.y, total.size


def stack(n):
    s = Stack()
    for i in range(n):
        s.push(i * 3)
        s.names[i] = str(i)
    total = 0
    while s.count > 2:
        total += s.pop()
    return total, s.names[2], s.count, s.items[0]


def popped_too_often(n):
    s = Stack()
    for i in range(n):
        s.push(float(i))
    total = 0.0
    while True:
        total += s.pop()


def links(n):
    chain = None
    for i in range(n):
        chain = Link(str(i), chain)
    length = 0
    while chain is not None:
        length += len(chain.value)
        chain = chain.rest
    return length


def divided(n, m):
    chain = None
    for i in range(n):
        chain = Link(100 // (m - i), chain)
    return chain.value


def queue(n):
    q = Queue()
    for i in range(n):
        q.append(i)
    link, total = q.first, 0
    while link is not None:
        total = total * 3 % 1000 + link.key
        link = link.right
    return total, q.last.key


def shapes(n):
    text = ""
    for i in range(n):
        s = Square("sq", i) if i % 2 else Shape("shape")
        text += s.text() + str(isinstance(s, Square)) + str(s.sides)
    return text


def keys(n):
    a, b, c = Key(n), Key(n + 10), Key(0)
    d = a + b
    return a == b, a == c, a != b, a < b, bool(c), d.value, a is a, a is b, d is not None


def identity(n):
    a = Pair(n, 1.5)
    b = a
    b.first += 7
    c = Line(a, b)
    c.start.second = 9.5
    d = Line(a, a)
    c.start, d.end = d.end, c.start
    return a is b, c.start is c.end, d.start is c.start, a.first, a.second, d.end.first


def swapped(n):
    a, b = Pair("a" + str(n), True), Pair("b", n > 2)
    a.first, b.first = b.first, a.first
    if n > 1:
        a, b = b, a
    many = [a, b] * 2
    many[0].second = not many[0].second
    pairs = [(x.first, k) for k, x in enumerate(many)]
    return pairs, many[2].second, many[0] is many[2], many[0] is many[1]


def missing(n):
    root = Node(n)
    root.insert(n + 1)
    node = root
    total = 0
    for _ in range(n):
        total += node.key
        node = node.right
    return total


def numbers(n):
    p = Pair(None, n)
    if n > 2:
        p.first = n
    q = Pair(1 if n > 3 else 2.5, (n, "x"))
    q.first = q.first * 2
    return p.first is None, p.first, q.first, q.second[0], q.second[1]


def nested(n):
    def make(k):
        return Vector(float(k), 1.0)

    def total(values):
        result = 0.0
        for v in values:
            result += v.x * v.y
        return result

    vectors = [make(k) for k in range(n)]
    vectors[n // 2].x = 100.0
    best = vectors[0]
    for v in vectors:
        if v.x > best.x:
            best = v
    best.y = -1.0
    del vectors[0]
    return total(vectors), best.x, len(vectors)


def insert(node, key):
    if node is None:
        return Node(key)
    if key < node.key:
        node.left = insert(node.left, key)
    elif key > node.key:
        node.right = insert(node.right, key)
    return node


def total(node):
    return 0 if node is None else node.key * 3 + total(node.left) - total(node.right)


def inserted(keys):
    root = None
    for key in keys:
        root = insert(root, key)
    other = Node(4)
    other.left = insert(other.left, keys[0])
    other.left = insert(other.left, keys[1])
    return total(root), total(other)


def attempted(n):
    p = Vector(1.0)
    q = p.plus(Vector(2.0))
    chosen = [p, q]
    try:
        q = q.plus(Vector(float(1 // n)))
        p = q
    except ZeroDivisionError:
        p.x += chosen[n].x
    return p.x, q.x, p is q


class Single:
    def __init__(self, x):
        self.x = x


def let_go(one, held):
    """`held` is the only list that holds `one`."""
    before = one.x
    held.clear()
    held.append(Single(1))
    return before + one.x


def given_and_let_go(n):
    held, total = [Single(k) for k in range(4)], 0
    for i in range(n):
        total += let_go(held[i % len(held)], held)
    return total


@pytest.mark.parametrize("f, args", [
    (given_and_let_go, (4,)), (inserted, ([5, 2, 8, 1, 9, 3, 5],)), (attempted, (0,)), (attempted, (1,)),
    (tree, ([5, 2, 8, 1, 9, 3, 5],)),
    (vectors, (10,)), (stack, (10,)), (popped_too_often, (5,)), (links, (12,)),
    (divided, (10, 20)), (divided, (10, 5)), (queue, (20,)), (shapes, (5,)), (keys, (3,)), (identity, (4,)),
    (swapped, (1,)), (swapped, (3,)), (missing, (2,)), (missing, (5,)), (numbers, (1,)), (numbers, (4,)),
    (nested, (6,))], ids=lambda x: getattr(x, "__name__", None))
def test_programs(f, args):
    assert_native(f, *args)


def test_objects_in_tuples_that_a_loop_indexes_belong_to_the_tuple():
    def chained(rows):
        total = 0
        for row in rows:
            for node in list(itertools.chain([Node(-1), Node(len(row))], [Node(2)])):
                total = 3 * total + node.key
        return total

    agree(chained, [{"a": 1}, {}])


def test_a_long_chain_is_given_up_without_recursion():
    assert njit(links)(300_000) == links(300_000)


class Begun:
    def __init__(self, n, known):
        if n > 0:
            self.x = n
        known.append(n)
        self.y = 100 // n
        self.z = self.x + self.y


class Watched:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print("gone", self.n)


class Two:
    def __init__(self, value):
        self.value = value
        self.before = None
        self.after = None


def test_what_python_may_see_stays_an_object():
    def returned(n):
        v = Vector(float(n))
        v.x += 1.0
        return v

    def in_a_tuple(n):
        return n, [Vector(1.0), Vector(float(n))]

    def printed(n):
        print(Vector(float(n)))
        return n

    def deleted(n):
        v = Vector(float(n))
        v.x = 2.0
        del v.x
        return v.x

    def in_a_dict(n):
        found = {n: Vector(float(n))}
        found[n].x += 1.0
        return found[n].x

    def finalized(n):
        w = Watched(n)
        return w.n

    def in_a_cycle(n):
        a, b = Two(n), Two(n + 1)
        a.after, b.before = b, a
        a.before = b
        return a.after.before.value, b.before.after.value, a.before is b

    def exchanged(n):
        a, b = Node(n), Node(n + 1)
        a.left, a.right = insert(a.left, 3), insert(b.left, 4)
        b.left = a.right
        a.right.left = insert(b, 9)
        return total(b.left.right), a.right.left is b

    def stored(values, n):
        values.append(Vector(float(n)))
        return values[-1].y

    for f, args in ((returned, (1,)), (in_a_tuple, (2,)), (printed, (3,)), (deleted, (4,)), (in_a_dict, (6,)),
                    (finalized, (7,)), (in_a_cycle, (8,)), (exchanged, (2,)), (stored, ([Vector(3.0)], 9))):
        assert_python(f, *args)


def test_an_object_that_is_not_set_up_yet():
    """A class with an attribute that may be missing remains a Python object. An exception in a constructor leaves no
    memory behind."""
    def begun(n):
        known = [0]
        try:
            b = Begun(n, known)
            return b.z, known[-1]
        except ZeroDivisionError:
            return -1, known[-1]

    for n in (7, 0, -3):
        assert_python(begun, n)


def sums_of_vectors(out):
    for i in prange(len(out)):
        v = Vector(i * 0.5)
        for k in range(10):
            v = v.plus(Vector(k * 1.0))
        out[i] = v.x + v.y


def trees_of_iterations(out):
    for i in prange(len(out)):
        root, x = None, i + 1
        for _ in range(20):
            x = x * 48271 % 2147483647
            root = insert(root, x % 1000)
        out[i] = total(root)


class Pile:
    def __init__(self):
        self.items = [0]

    def push(self, x):
        self.items = [*self.items, x]

    def pop(self):
        return self.items.pop()


def piles_of_iterations(out):
    for i in prange(len(out)):
        s = Pile()
        for k in range(5):
            s.push(i * k)
        out[i] = s.pop() + s.pop() + (s.pop() if i > 7 else 0)


def rows_of_iterations(out):
    for i in prange(len(out)):
        rows = [[0], [1]]
        for k in range(6):
            rows[k % 2] = [*rows[(k + 1) % 2], i]
        out[i] = len(rows[0]) + rows[1][-1]


@pytest.mark.parametrize("f", [sums_of_vectors, trees_of_iterations, piles_of_iterations, rows_of_iterations])
def test_iterations_of_parallel_loops_make_objects(f):
    """Threads make and free native objects at once, also where several threads of the program call the function."""
    compiled, want = njit(parallel=True)(f), np.zeros(5000)
    f(want)

    def run(_):
        out = np.zeros(5000)
        compiled(out)
        return (out == want).all()

    assert run(0)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(20)))
    assert "object_new" not in ir_of(compiled)


def test_errors_of_parallel_iterations_with_objects():
    """The first exception in the order of the iterations is raised, and no object is lost."""
    def f(out):
        for i in prange(len(out)):
            s = Pile()
            s.push(i)
            for _ in range(1 if i < 1234 else 3):
                out[i] = s.pop()
            out[i] += out[i - len(out) * 2 if i > 3000 else i]

    compiled = njit(parallel=True)(f)
    for _ in range(20):
        with pytest.raises(IndexError, match="pop from empty list"):
            compiled(np.zeros(5000))


def reads_objects_of_all(out):
    vectors = [Vector(k * 0.5, k) for k in range(7)]
    first, rows = vectors[0], [[k, k + 1] for k in range(5)]
    for i in prange(len(out)):
        own, best = [first, vectors[i % 7], Vector(i)], first
        for v in vectors:
            if v.size % (i % 3 + 1) > best.size % 2:
                best = v
            own.append(best)
        total = 0.0
        for v in own:
            total += v.x
        out[i] = total + best.y + first.plus(best).x
        for k in rows[i % 5]:
            out[i] += k


def follows_chains_of_all(out):
    root = None
    for key in (5, 2, 8, 1, 9, 3):
        root = insert(root, key)
    for i in prange(len(out)):
        node, last = root, root
        while node is not None:
            last, node = node, node.left if i % 10 < node.key else node.right
        pair = (last, root)
        out[i] = pair[0].key + pair[1].key


@pytest.mark.parametrize("f", [reads_objects_of_all, follows_chains_of_all])
def test_objects_that_iterations_only_read_are_native(f):
    """Threads count the references to them atomically; all memory is given back."""
    compiled, want = njit(parallel=True)(f), np.zeros(3000)
    f(want)

    def run():
        for _ in range(10):
            out = np.zeros(3000)
            compiled(out)
            assert (out == want).all()

    run()
    assert "object_new" not in ir_of(compiled)
    before = allocated()
    run()
    assert allocated() - before < 100


def counts_in_an_object(out):
    v = Vector(0.0)
    for i in prange(len(out)):
        v.x += 1.0
        out[i] = i


def fills_a_row_of_all(out):
    rows = [[k] for k in range(3)]
    for i in prange(len(out)):
        row = rows[i % 3]
        if len(row) < 100:
            row.append(i)
        out[i] = len(row)


def changes_an_object_of_all(out):
    vectors = [Vector(0.0), Vector(1.0)]
    for i in prange(len(out)):
        other = Vector(2.0)
        if i % 2:
            other = vectors[i % 3 - 1]
        other.x = 2.0
        out[i] = i


@pytest.mark.parametrize("f", [counts_in_an_object, fills_a_row_of_all, changes_an_object_of_all])
def test_objects_that_iterations_share_and_change_are_the_interpreters(f):
    compiled, out, want = njit(parallel=True)(f), np.zeros(1000), np.zeros(1000)
    f(want)
    with pytest.warns(ParallelWarning, match="runs on one thread"):
        compiled(out)
    assert (out == want).all()


@pytest.mark.parametrize("f", [reads_objects_of_all, sums_of_vectors])
def test_races_are_found_in_loops_with_objects(f):
    def g(out, places):
        vectors = [Vector(k * 0.5) for k in range(3)]
        for i in prange(len(out)):
            out[places[i]] = vectors[i % 3].plus(Vector(1.0)).x

    out, want = np.zeros(20), np.zeros(20)
    njit(parallel=True, debug="races")(f)(out)
    f(want)
    assert (out == want).all()
    with pytest.raises(RaceError, match=r"^iteration 2 writes out\[4\] at line \d+, and iteration 4 writes out\[4\]"):
        njit(parallel=True, debug="races")(g)(np.zeros(6), np.array([0, 1, 4, 3, 4, 5]))


def test_what_is_shared_on_the_way_to_an_error_is_the_interpreters():
    def f(out):
        log = [0]
        for i in prange(len(out)):
            if out[i] < 0:
                log.append(i)
                raise ValueError(len(log))
            out[i] = i

    compiled = njit(parallel=True)(f)
    for _ in range(10):
        with pytest.raises(ValueError, match="^2$"):
            compiled(np.full(1000, -1.0))


def test_a_class_that_changes_is_compiled_anew():
    class Point:
        def __init__(self, x):
            self.x = x

        def value(self):
            return self.x * 2

    def f(n):
        return Point(n).value()

    compiled = agree(f, 4)
    Point.value = lambda self: self.x + 100
    agree(f, 4, compiled=compiled)
    Point.__init__ = lambda self, x: setattr(self, "x", x * 5)
    assert compiled(4) == f(4) == 120


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("f, args", [(tree, ([5, 2, 8, 1, 9, 3],)), (inserted, ([3, 1, 4],)),
                                     (popped_too_often, (9,)), (divided, (10, 5)),
                                     (queue, (20,)), (swapped, (3,)), (missing, (5,)), (identity, (4,))],
                         ids=lambda x: getattr(x, "__name__", None))
def test_memory_is_given_back(f, args):
    compiled = njit(f)

    def call(times):
        for _ in range(times):
            try:
                compiled(*args)
            except (IndexError, ZeroDivisionError, AttributeError):
                pass

    call(2_000)
    before = allocated()
    call(20_000)
    assert allocated() - before < 60


@dataclass(frozen=True)
class Nothing:
    pass


@dataclass(frozen=True)
class Symbol:
    name: str


@dataclass(frozen=True)
class Both:
    first: object
    second: object


def joined(a, b):
    if a == Nothing():
        return b
    return a if b == Nothing() else Both(a, b)


def without_fields(text):
    found = Nothing()
    for c in text:
        found = joined(found, Symbol(c))
    return repr(found), Nothing() == Nothing(), Nothing() == Symbol("a"), Nothing() != Symbol("a"), found is Nothing


def test_objects_of_two_classes_are_compared():
    for text in ("", "a", "abc"):
        agree(without_fields, text)


class Holder:
    __slots__ = "value",

    def __init__(self, value):
        self.value = value


def beside_a_list_of_the_interpreter(d):
    held = Holder(len(d))
    keys = list(d)[-2:]
    return len(keys) + held.value


def test_lists_stay_the_interpreters_where_only_objects_are_native():
    agree(beside_a_list_of_the_interpreter, {1: 2, 3: 4, 5: 6})


class Branch:
    def __init__(self, weight, left=None, right=None):
        self.weight, self.left, self.right = weight, left, right

    def paths(self, prefix=""):
        if self.left is not None:
            yield from self.left.paths(prefix + "0")
            yield from self.right.paths(prefix + "1")
        yield prefix, self.weight


def joined_in_a_list(n):
    branches = [Branch(1), Branch(n)]
    a, b = branches.pop(), branches.pop()
    branches.append(Branch(a.weight + b.weight, a, b))
    return list(branches[0].paths())


def test_objects_in_a_list_of_the_interpreters_objects_are_its_objects():
    agree(joined_in_a_list, 2)
