"""Generators, iterators and functions that compiled code returns to the interpreter."""
import copy
import gc
import itertools
import subprocess
import sys
import threading
import traceback
import types
import weakref

import numpy as np
import pytest

from pyjitc import CompileError, jit, njit
from pyjitc.runtime import native_iterators
from pyjitc.runtime.native_iterators import NativeIterator
from tests.oracle import agree


def counted(n, step=2):
    k = 0
    while k < n:
        yield k
        k += step


def pairs(a, *, scale=1.5):
    for i, x in enumerate(a):
        if x < 0:
            return
        yield i, x * scale


def mixed(n):
    yield n
    for i in range(n):
        yield i / 2
    yield None
    yield (n, "text")


def failing(n):
    for i in range(n):
        try:
            yield 10 // (2 - i)
        except ZeroDivisionError:
            yield -1
    raise KeyError(n)


def permuted(values):
    if len(values) <= 1:
        yield values
    else:
        for rest in permuted(values[1:]):
            for i in range(len(values)):
                yield rest[:i] + values[:1] + rest[i:]


def flat(values):
    for x in values:
        if isinstance(x, list):
            yield from flat(x)
        else:
            yield x


def nested(n):
    def inner(k):
        for j in range(k):
            yield j * n

    for i in range(n):
        for x in inner(i):
            yield x
    yield sum(inner(n))


def everything(iterator):
    found = []
    while True:
        try:
            found.append(next(iterator))
        except Exception as error:
            return found, type(error), str(error)


class Node:
    def __init__(self, data, left=None):
        self.data, self.left = data, left

    def __repr__(self):
        return f"Node({self.data!r}, {self.left!r})"


def down(node):
    while node:
        yield node.data
        node = node.left


def stacked(root):
    stack = [root]
    while stack:
        node = stack.pop()
        yield node.data, node
        if node.left:
            stack.append(node.left)


def counted_in_place(root):
    for k in range(3):
        root.data += k
        yield root


def made_inside(n):
    items = [Node(n)]
    yield items[0].data
    items.append(Node(2.5, items[0]))
    yield len(items)
    items[0].data = "text"
    yield [x.data for x in items]


@pytest.mark.parametrize("function, args", [
    (down, (Node(1, Node(2.5, Node("a"))),)), (stacked, (Node(1, Node(2)),)), (counted_in_place, (Node(1),)),
    (made_inside, (3,)),
    (counted, (7,)), (counted, (7, 3)), (counted, (0,)), (pairs, (np.array([1.0, 2.0, -1.0, 3.0]),)), (mixed, (3,)),
    (failing, (4,)), (nested, (4,)), (lambda n: (x * x for x in range(n)), (5,)),
    (lambda a: zip(a, range(3)), (np.arange(5.0),)), (lambda a: map(lambda x: x + 1, a), (np.arange(3),)),
    (lambda n: filter(lambda x: x % 2, range(n)), (7,)), (lambda n: iter(range(n)), (3,)),
    (lambda a: reversed(a), (np.arange(3.0),)), (lambda t: enumerate(t, 5), ((1, 2.5, "x"),))])
def test_items(function, args):
    compiled = njit(function)
    for _ in range(2):
        made = compiled(*copy.deepcopy(args))
        assert type(made) is NativeIterator and iter(made) is made
        assert repr(everything(made)) == repr(everything(function(*copy.deepcopy(args))))
        assert everything(made) == ([], StopIteration, "")


def test_an_object_that_comes_to_hold_something_else_while_it_is_iterated():
    root = Node(1, Node(2, Node(3)))
    iterator = njit(down)(root)
    assert next(iterator) == 1
    root.left.data = "text"
    with pytest.raises(TypeError, match="attribute 'data' of 'Node' object is a str here"):
        next(iterator)
    assert list(iterator) == []


def test_two_of_one_function_are_apart():
    compiled = njit(counted)
    a, b = compiled(10), compiled(10, 5)
    assert [next(a), next(a), next(b), next(a), next(b)] == [0, 2, 0, 4, 5]


@pytest.mark.parametrize("value", [[1, 2, 3], "abc", [5], ""])
def test_one_that_iterates_over_others_of_itself(value):
    assert list(njit(permuted)(value)) == list(permuted(value))


def test_one_that_walks_nested_lists():
    nested = [2, 1, [3, [4, 5], 6], 7, [8]]
    assert list(njit(flat)(nested)) == list(flat(nested)) == [2, 1, 3, 4, 5, 6, 7, 8]


def test_closing_sending_throwing():
    compiled = njit(counted)
    made = compiled(10)
    assert next(made) == 0 and made.send(None) == 2
    with pytest.raises(TypeError, match="takes no values"):
        made.send(3)
    with pytest.raises(KeyError, match="away"):
        made.throw(KeyError("away"))
    assert list(made) == []
    made = compiled(10)
    made.close()
    made.close()
    assert list(made) == [] and next(made, "none") == "none"
    with pytest.raises(ValueError):
        compiled(3).throw(ValueError)


def talking(n):
    x = 1
    while x < n:
        try:
            x = yield x * 2
        except ValueError:
            x = 3


def conversation(n):
    g = talking(n)
    said = next(g), g.send(4), g.throw(ValueError), g.send(5)
    g.close()
    return said


def test_generators_that_take_values_and_exceptions():
    made = njit(failing)(4)
    assert next(made) == 5
    with pytest.raises(TypeError, match="which handles exceptions"):
        made.throw(ValueError)
    assert next(made) == 10
    compiled = jit(conversation)
    assert compiled(9) == conversation(9) == (2, 8, 6, 10) and compiled.signatures
    made = jit(talking)(9)
    assert [next(made), made.send(4), made.throw(ValueError)] == [2, 8, 6]


def test_an_iterator_is_an_argument():
    @njit
    def total(xs, most):
        s = 0.0
        for x in xs:
            s += x
            if s > most:
                break
        return s

    made = njit(counted)(100)
    assert total(made, 10.0) == 12.0 and next(made) == 8
    assert total(made, 1e9) == sum(range(10, 100, 2))
    ended = njit(counted)(3)
    ended.close()
    assert total(ended, 3.0) == 0.0


def test_iterators_of_the_interpreter_are_arguments():
    @njit
    def summed(xs, most):
        n, total = 0, 0.0
        for x in xs:
            total += float(x)
            n += 1
            if n == most:
                break
        return total, n

    for make in (lambda: iter([1, 2.5, 3]), lambda: (x * x for x in range(9)), lambda: map(int, "123"),
                 lambda: zip(), lambda: iter({}.items())):
        for most in (2, 99):
            assert summed(make(), most) == summed.py_func(make(), most)
    with pytest.raises(ValueError, match="could not convert string to float"):
        summed(iter(["x"]), 9)

    def broken():
        yield 1
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        summed(broken(), 9)
    given = iter(range(10))
    assert summed(given, 3) == (3.0, 3) and next(given) == 3


def test_the_arguments_live_as_long():
    a = np.arange(5.0)
    compiled = njit(pairs)
    before = sys.getrefcount(a)
    made = compiled(a)
    next(made)
    assert sys.getrefcount(a) > before
    del made
    assert sys.getrefcount(a) == before
    temporary = compiled(np.full(3, 2.0))
    gc.collect()
    assert list(temporary) == [(0, 3.0), (1, 3.0), (2, 3.0)]
    for _ in range(100):
        made = compiled(a)
        list(made)
        made = compiled(a)
        next(made)
    del made
    assert sys.getrefcount(a) == before


def test_the_code_lives_as_long():
    compiled = njit(counted)
    made = compiled(7)
    next(made)
    del compiled
    gc.collect()
    assert list(made) == [2, 4, 6]
    seen = weakref.ref(made)
    del made
    assert seen() is None


def test_types_of_iterators_do_not_pile_up(monkeypatch):
    """Only the latest are known without a compile; an object whose type is forgotten goes on."""
    monkeypatch.setattr(native_iterators, "_functions", {})
    monkeypatch.setattr(native_iterators, "_MOST", 2)
    made = []
    for k in range(5):
        space = {}
        exec(f"def numbers(n):\n    for i in range(n):\n        yield {k} * i\ndef start(n):\n    return numbers(n)\n",
             space)
        made.append(njit(space["start"])(3))
        assert type(made[-1]) is NativeIterator
    assert len(native_iterators._functions) == 2
    gc.collect()
    assert [list(one) for one in made] == [[0, k, 2 * k] for k in range(5)]


def test_one_that_is_left_open_ends_with_the_process():
    """When modules have been cleared, the code that closes it cannot be compiled any more; nothing is printed."""
    source = ("from pyjitc import njit\nfrom tests.language.test_native_iterators import counted\n"
              "made = [njit(counted)(7)]\nmade.append(made)")
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_frame_of_the_generator_is_in_the_traceback():
    def broken(n):
        yield 1
        raise ValueError("no")

    made = njit(broken)(1)
    next(made)
    with pytest.raises(ValueError) as caught:
        next(made)
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][-1] == "broken"


def test_a_step_inside_a_step():
    holder = types.SimpleNamespace()

    @jit
    def again(h, n):
        for i in range(n):
            yield next(h.made, "busy")

    holder.made = again(holder, 3)
    assert type(holder.made) is NativeIterator
    assert next(holder.made) == "busy"

    class Closing(types.SimpleNamespace):
        def close(self):
            holder.made.close()

    @jit
    def closing(c, n):
        for i in range(n):
            c.close()
            yield i

    holder.made = closing(Closing(), 3)
    assert next(holder.made) == 0 and list(holder.made) == []


def test_a_generator_in_a_circle_stays():
    """It is not freed, because the collector does not visit the state of a generator. This must do no harm."""
    class Holder(types.SimpleNamespace):
        pass

    @jit
    def holding(h):
        for i in range(3):
            yield h.made is not None, i

    holder = Holder()
    holder.made = holding(holder)
    assert next(holder.made) == (True, 0)
    seen = weakref.ref(holder.made)
    del holder
    gc.collect()
    assert list(seen()) == [(True, 1), (True, 2)]


def test_threads_take_turns():
    made = njit(counted)(20_000, 1)
    found = [[], []]
    workers = [threading.Thread(target=lambda out=out: out.extend(made)) for out in found]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(found[0]) | set(found[1]) <= set(range(20_000)) and not set(found[0]) & set(found[1])


def test_globals_are_read_as_they_are():
    space = {"njit": njit, "G": 1}
    exec("@njit\ndef gen(n):\n    for i in range(n):\n        yield i * G", space)
    made = space["gen"](4)
    assert next(made) == 0 and next(made) == 1
    space["G"] = 10
    assert list(made) == [20, 30]


def test_what_compiled_generators_are_not():
    def guarded(n):
        try:
            yield n
        finally:
            print("closed")

    assert next(njit(guarded)(3)) == next(jit(guarded)(3)) == 3  # it is an object of the interpreter

    def variadic(*xs):
        yield xs

    with pytest.raises(CompileError, match="with \\* or \\*\\* parameters"):
        njit(variadic)(3)
    assert list(jit(variadic)(3)) == [(3,)]


def adder(k):
    def inner(x, y=3, *, z=0.5):
        """Adds."""
        return x + k * y + z

    return inner


def functions(n):
    a = np.arange(n)

    def item(i):
        return a[i]

    return item, lambda: n, (n, adder(2.5))


def test_functions_are_compiled_functions():
    made = njit(adder)(5)
    assert made.py_func(2) == adder(5)(2) == made(2) and made(2.5, y=1, z=1) == 8.5
    assert made.__name__ == "inner" and made.__doc__ == "Adds." and len(made.signatures) == 2
    item, count, (n, add) = njit(functions)(4)
    assert item(2) == 2 and count() == 4 == n and add(1.0) == 1.0 + 2.5 * 3 + 0.5
    with pytest.raises(IndexError):
        item(7)
    assert njit(lambda f, x: f(f(x)))(made, 1) == adder(5)(adder(5)(1))


def test_a_function_that_changes_a_variable_keeps_it():
    def counter():
        k = 0

        def add():
            nonlocal k
            k += 1
            return k

        add()
        return add

    for decorator in (njit, jit):
        add = decorator(counter)()
        assert [add(), add(), add.__closure__[0].cell_contents] == [2, 3, 3]


def test_iterators_go_to_functions_of_the_interpreter():
    def f(n):
        squares = [x * x for x in range(n)]
        odd = list(filter(lambda x: x % 2, squares))
        return sorted(map(lambda x: -x, odd)), list(zip(squares, odd)), sorted(odd, key=lambda x: x % 5)

    compiled = jit(f)
    assert compiled(9) == f(9) and compiled.signatures


def test_tuples_that_can_be_in_no_cycle_are_not_collected():
    """The garbage collector does not look at new tuples of numbers and text; at those with other items it does."""
    def pairs(n, x):
        kept = []
        for i in range(n):
            kept.append((i, i * 0.5, "ab", None))
        return kept, (n, x)

    kept, holding = njit(pairs)(3, [1])
    assert kept == pairs(3, [1])[0] and not any(map(gc.is_tracked, kept)) and gc.is_tracked(holding)
    assert njit(lambda: ())() == ()


def kept_pairs(k):
    def pairs(n):
        yield [3, 4, -1], 4
        for _ in range(n):
            yield None, k

    kept = list(itertools.islice(pairs(2), 5))
    kept.pop()
    kept = [(None, k), kept[k]]
    return len(kept)


def test_a_list_that_only_code_generation_finds_to_need_an_object():
    agree(kept_pairs, 0)
