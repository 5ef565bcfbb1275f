"""Classes whose fields have declared types: methods, properties, containers, operators, and lists of nodes."""
import numpy as np
from numba import deferred_type, float32, int32, int64, intp, njit, optional, typed, types
from numba.experimental import jitclass


@jitclass([("value", int32), ("array", float32[:])])
class Bag:
    def __init__(self, value):
        self.value = value
        self.array = np.zeros(value, dtype=np.float32)

    @property
    def size(self):
        return self.array.size

    @property
    def first(self):
        return self.array[0]

    @first.setter
    def first(self, x):
        self.array[0] = x

    def increment(self, by):
        for i in range(self.size):
            self.array[i] += by
        return self.array

    @staticmethod
    def added(x, y):
        return x + y


@jitclass([("totals", types.DictType(types.unicode_type, types.float64)),
           ("names", types.ListType(types.unicode_type))])
class Ledger:
    def __init__(self):
        self.totals = typed.Dict.empty(types.unicode_type, types.float64)
        self.names = typed.List.empty_list(types.unicode_type)

    def book(self, name, amount):
        if name not in self.totals:
            self.totals[name] = 0.0
            self.names.append(name)
        self.totals[name] += amount

    def __len__(self):
        return len(self.names)

    def __getitem__(self, name):
        return self.totals[name]

    def __contains__(self, name):
        return name in self.totals


@jitclass
class Counter:
    value: int
    step: int64

    def __init__(self, step):
        self.value = 0
        self.step = step

    def next(self) -> int:
        self.value += self.step
        return self.value

    def __add__(self, n):
        return self.value + n

    def __eq__(self, other):
        return self.value == other.value


node_type = deferred_type()


@jitclass([("data", intp), ("next", optional(node_type))])
class Node:
    def __init__(self, data, next):
        self.data = data
        self.next = next

    def prepended(self, data):
        return Node(data, self)


node_type.define(Node.class_type.instance_type)


@njit
def length(node):
    n = 1
    while node.next is not None:
        node = node.next
        n += 1
    return n


@njit
def run(counter, n):
    for _ in range(n):
        counter.next()
    return counter + 100


@njit
def filled(n):
    bag = Bag(n)
    bag.first = 2.5
    return bag.increment(1)


def main():
    bag = Bag(3)
    assert bag.size == 3 and bag.first == 0 and Bag.added(1, 2) == 3
    bag.first = 1.5
    np.testing.assert_array_equal(bag.increment(2), np.float32([3.5, 2, 2]))
    np.testing.assert_array_equal(filled(2), np.float32([3.5, 1]))
    ledger = Ledger()
    for name, amount in (("rent", 500.0), ("food", 20.5), ("food", 4.5)):
        ledger.book(name, amount)
    assert len(ledger) == 2 and ledger["food"] == 25.0 and "rent" in ledger and "car" not in ledger
    counter = Counter(3)
    assert counter.next() == 3 and run(counter, 4) == 115 and counter.value == 15
    assert counter == counter and isinstance(counter, Counter)
    node = Node(1, None).prepended(2).prepended(3)
    assert length(node) == 3 and node.next.data == 2 and node.next.next.next is None


if __name__ == "__main__":
    main()
