"""Classes with declared fields: both the interpreter and compiled code convert the values that they store in the
fields."""
import copy
import pickle
from typing import Optional

import numpy as np
import pytest

from pyjitc import TypingError, njit
from pyjitc import numba as nb
from pyjitc.numba import (
    complex64, deferred_type, float32, float64, int8, int32, int64, optional, types, uint32, uint64,
)
from pyjitc.numba.experimental import JitClassType, as_numba_type, jitclass


@jitclass({"value": int32, "array": float32[:], "state": uint32, "wide": uint64})
class Bag:
    def __init__(self, value):
        self.value = value
        self.array = np.zeros(int(value), np.float32)
        self.state = 1
        self.wide = 5

    @property
    def size(self):
        return self.array.size

    @size.setter
    def size(self, n):
        self.array = np.zeros(n, np.float32)

    def increment(self, by):
        for i in range(self.size):
            self.array[i] += by
        return self.array

    def random(self):
        self.state = self.state * 1664525 + 1013904223
        return self.state

    def __getitem__(self, i):
        return self.array[i]

    def __setitem__(self, i, x):
        self.array[i] = x

    def __len__(self):
        return len(self.array)

    def __add__(self, other):
        return Bag(self.value + other.value)

    def __eq__(self, other):
        return self.value == other.value

    @staticmethod
    def sum(x, y):
        return x + y


def random(state, n):
    for _ in range(n):
        state = (state * 1664525 + 1013904223) % 2 ** 32
    return state


def test_from_the_interpreter():
    bag = Bag(3.7)
    assert (bag.value, type(bag.value), bag.size, bag.sum(1, 2), Bag.sum(1.5, 2)) == (3, int, 3, 3, 3.5)
    assert bag.increment(3).tolist() == [3.0] * 3 and bag.array.dtype == np.float32
    assert [bag.random() for _ in range(5)] == [random(1, n) for n in range(1, 6)]
    bag[1] = 7
    assert (bag[1], len(bag), (bag + bag).value, bag == Bag(3)) == (7.0, 3, 6, True)
    bag.size = 2
    assert bag.size == 2
    with pytest.raises(AttributeError):
        bag.other = 1
    assert isinstance(bag, Bag) and isinstance(Bag, JitClassType) and Bag.random.py_func.__name__ == "random"


def test_from_compiled_code():
    @njit
    def f(bag, n):
        made = Bag(n)
        made.value += bag.value
        bag.state = -1
        made[0] = bag[0] + 1
        made.size = len(bag) + 3
        return made, bag.random(), made.size, Bag.sum(1, bag.value), (made + bag).value, made == bag

    bag = Bag(2)
    made, *rest = f(bag, 4.9)
    assert type(made) is Bag and made.value == 6
    assert rest == [random(2 ** 32 - 1, 1), 5, 3, 8, False] and bag.state == random(2 ** 32 - 1, 1)


@pytest.mark.parametrize("t", [int8, int32, uint32, uint64, float32, nb.boolean, complex64])
def test_what_is_stored_is_converted(t):
    @jitclass([("x", t)])
    class One:
        def __init__(self):
            self.x = 1

    @njit
    def store(one, x):
        one.x = x
        return one.x

    for value in (True, -2, 300, 2 ** 40 + 7, 2.75, np.float32(1.5), np.int16(3)):
        one = One()
        one.x = value
        wanted = np.asarray(value).astype(nb.as_dtype(t))[()]
        wanted = wanted if t in (uint64, float32, complex64) else wanted.item()
        for found in (one.x, store(One(), value)):
            assert type(found) is type(wanted) and found == wanted, (found, wanted)


def test_what_a_field_cannot_hold():
    bag = Bag(1)
    with pytest.raises(TypeError, match="the field array is declared as array"):
        bag.array = np.zeros(3)
    with pytest.raises(TypeError, match="the field value is declared as int32, and cannot hold str"):
        bag.value = "a"
    with pytest.raises(TypingError, match="the field 'array' of 'Bag' is declared as float32"):
        @njit
        def f(bag):
            bag.array = np.zeros(3)
        f(bag)
    with pytest.raises(TypingError, match="the field 'value' of 'Bag' is declared as int32"):
        @njit
        def g(bag):
            bag.value = "a"
        g(bag)


later = deferred_type()


@jitclass([("data", int32), ("next", optional(later))])
class Node:
    def __init__(self, data, next):
        self.data = data
        self.next = next

    def prepend(self, data):
        return Node(data, self)


later.define(Node.class_type.instance_type)


def test_objects_that_refer_to_objects():
    @njit
    def chain(n):
        head = Node(0, None)
        for i in range(1, n):
            head = head.prepend(i)
        return head

    @njit
    def total(head):
        found = 0
        while head is not None:
            found += head.data
            head = head.next
        return found

    assert total(chain(10)) == 45 and total.py_func(chain(10)) == 45
    assert total(Node(3, Node(4, None))) == 7


def test_containers_of_objects():
    @njit
    def f(bags):
        for bag in bags:
            bag.value *= 2
        bags.append(Bag(5))
        return {bag.value: bag for bag in bags}, [bag.value for bag in bags]

    bags = [Bag(1), Bag(2)]
    found, values = f(bags)
    assert values == [2, 4, 5] and found[4] is bags[1] and len(bags) == 3


def test_declared_signatures():
    f = nb.njit(int64(Bag.class_type.instance_type))(lambda bag: bag.value + bag.size)
    assert f(Bag(3)) == 6 and f.signatures == [(Bag.class_type.instance_type,)]
    assert nb.typeof(Bag(3)) == Bag.class_type.instance_type and nb.typeof(Bag) == Bag.class_type
    t = Bag.class_type.instance_type
    assert pickle.loads(pickle.dumps(t)) is t and isinstance(t, types.ClassInstanceType)
    assert list(t.struct.items())[:2] == [("value", int32), ("array", float32[:])]
    assert "random" in t.methods and "size" in t.class_type.jit_props and "sum" in t.class_type.static_methods


class Base:
    kept: int

    def doubled(self):
        return 2 * self.kept


@jitclass({"__hidden": float64})
class Annotated(Base):
    """A class."""

    name: str
    ratio: "Optional[float]"
    items: list[int]
    pairs: dict[str, float]

    def __init__(self, n):
        self.kept = n
        self.name = "a" * n
        self.ratio = None
        self.items = [n]
        self.pairs = {"n": 1.5 * n}
        self.__hidden = n

    def hidden(self):
        return self.__hidden


def test_annotations():
    made = Annotated(3)
    assert Annotated.class_type.struct == {
        "_Annotated__hidden": float64, "kept": int64, "name": types.unicode_type, "ratio": types.Optional(float64),
        "items": types.ListType(int64), "pairs": types.DictType(types.unicode_type, float64)}
    assert (made.kept, made.name, made.ratio, made.items, made.pairs) == (3, "aaa", None, [3], {"n": 4.5})
    assert made.doubled() == 6 and Annotated.__doc__ == "A class." and type(made.hidden()) is float
    made.ratio = 2
    assert type(made.ratio) is float

    @njit
    def f(made):
        made.items.append(made.kept)
        made.ratio = 1
        return made.name, made.ratio, len(made.pairs)

    assert f(made) == ("aaa", 1.0, 1) and made.items == [3, 3]
    assert as_numba_type(tuple[int, float]) == types.Tuple((int64, float64))
    assert as_numba_type(np.int8) == int8 and as_numba_type(Bag) == Bag.class_type.instance_type


def test_copies():
    @jitclass([("x", int32)])
    class One:
        def __init__(self, x):
            self.x = x

    one = One(4)
    other = copy.copy(one)
    other.x = 5
    assert (one.x, other.x) == (4, 5)


@pytest.mark.parametrize("spec, error, text", [
    ([("x", int)], TypeError, "spec values should be Numba type instances, got <class 'int'>"),
    ([(1, int32)], TypeError, "spec keys should be strings, got 1"),
    ([("method", int32)], NameError, "name shadowing: method"),
    ([("asked", int32)], NameError, "name shadowing: asked"),
])
def test_mistakes_in_a_spec(spec, error, text):
    class One:
        def __init__(self):
            pass

        def method(self):
            pass

        @property
        def asked(self):
            return 1

    with pytest.raises(error, match=text):
        jitclass(spec)(One)
    with pytest.raises(error, match=text):
        jitclass(One, spec)


def test_no_subclasses():
    with pytest.raises(TypeError, match="cannot subclass from a jitclass"):
        class More(Bag):
            pass


def test_what_is_not_compiled_of_an_instance_is_refused():
    @jitclass([])
    class Real:
        def __init__(self):
            pass

        def __float__(self):
            return 3.5

    assert nb.njit(lambda x: float(x))(Real()) == 3.5
    with pytest.raises(TypingError, match="__int__"):
        nb.njit(lambda x: int(x))(Real())


def test_types_of_annotations_are_registered():
    class Meter:
        pass

    class Other:
        pass

    made = types.Dummy("Meter")
    as_numba_type.register(Meter, made)
    as_numba_type.register(lambda t: types.int8 if t is Other else None)
    assert as_numba_type(Meter) is made and as_numba_type(list[Other]) == types.ListType(types.int8)
    assert as_numba_type(int) is types.int64
