"""Structures: types.StructRef and numba.experimental.structref."""
import numpy as np
import pytest

from pyjitc import TypingError
from pyjitc.numba import njit, typeof, types
from pyjitc.numba.experimental import structref
from pyjitc.numba.extending import overload, overload_attribute, overload_method


@structref.register
class CartType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(t)) for name, t in fields)


class Cart(structref.StructRefProxy):
    def __new__(cls, prices, count=1):
        return structref.StructRefProxy.__new__(cls, prices, count)

    @property
    def prices(self):
        return prices_of(self)

    @property
    def count(self):
        return count_of(self)

    @count.setter
    def count(self, value):
        set_count(self, value)

    def doubled(self):
        return 2 * self.count


structref.define_proxy(Cart, CartType, ["prices", "count"])


@njit
def prices_of(self):
    return self.prices


@njit
def count_of(self):
    return self.count


@njit
def set_count(self, value):
    self.count = value


@overload_method(CartType, "total")
def _(self, factor):
    return lambda self, factor: self.prices.sum() * self.count * factor


@overload_attribute(CartType, "first")
def _(self):
    return lambda self: self.prices[0]


def test_made_by_the_interpreter_and_by_compiled_code():
    @njit
    def make(prices, count):
        made = Cart(prices, count=count)
        made.count += 1
        return made

    @njit
    def use(cart):
        cart.count *= 2
        cart.prices[0] = 7.0
        return cart.total(10.0), cart.first, cart.doubled(), cart is cart, cart is Cart(cart.prices, 3)

    prices = np.array([1.0, 2.0])
    for cart in (make(prices, 2), Cart(prices, 3)):
        assert type(cart) is Cart and cart.prices is prices and cart.count == 3
        assert use(cart) == (540.0, 7.0, 12, True, False) and cart.count == 6
        cart.count = 9
        assert cart.count == 9 and cart.doubled() == 18 and count_of(cart) == 9
    assert Cart(prices).count == 1
    assert typeof(cart).field_dict == {"prices": types.float64[::1], "count": types.int64}
    assert isinstance(typeof(cart), CartType)


def test_fields_of_any_type():
    @njit
    def swapped(cart):
        return Cart(cart.count, cart.prices)

    found = swapped(swapped(Cart("abc", (1, 2.5))))
    assert (found.prices, found.count) == ("abc", (1, 2.5))


@structref.register
class NodeType(types.StructRef):
    pass


node_type = NodeType([("value", types.int64), ("next", types.Any)])
structref.define_boxing(NodeType, structref.StructRefProxy)


@njit
def node(value):
    made = structref.new(node_type)
    made.value = value
    return made


def test_new():
    @njit
    def f(n):
        made = node(n)
        made.value += 1
        return made

    @njit
    def value(x):
        return x.value

    found = f(3)
    assert isinstance(found, structref.StructRefProxy) and not hasattr(found, "value") and value(found) == 4
    with pytest.raises(AttributeError):
        njit(lambda: structref.new(node_type).value)()
    with pytest.raises(TypingError, match="must be a numba.types.StructRef type that is known"):
        njit(lambda: structref.new(3))()
    with pytest.raises(NotImplementedError, match="only inside a function that njit compiles"):
        structref.new(node_type)


@structref.register
class PairType(types.StructRef):
    pass


class Pair(structref.StructRefProxy):
    pass


structref.define_boxing(PairType, Pair)


@overload(Pair)
def _(a, b):
    def made(a, b):
        found = structref.new(pair_type)
        found.a, found.b = a, b
        return found

    return made


pair_type = PairType([("a", types.float64), ("b", types.float64)])


def test_a_constructor_of_the_programs():
    pair = Pair(1.5, 2.5)
    assert type(pair) is Pair and njit(lambda p: p.a + p.b)(pair) == 4.0
    assert [njit(lambda p: p.b)(p) for p in njit(lambda: [Pair(1.0, 2.0), Pair(3.0, 4.0)])()] == [2.0, 4.0]


def test_wrong_uses():
    for call in (structref.register, lambda t: structref.define_boxing(t, Cart)):
        with pytest.raises(ValueError, match="cannot register"):
            call(types.StructRef)
    with pytest.raises(ValueError, match="expecting a str for field name"):
        types.StructRef([(1, types.int64)])
    with pytest.raises(ValueError, match="expecting a Numba Type for field type"):
        types.StructRef([("a", 1)])
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        njit(lambda: structref_call())()


def structref_call():
    return Cart(count=1)


@structref.register
class TableType(types.StructRef):
    @property
    def has_weights(self):
        return not isinstance(self.field_dict["weights"], types.NoneType)


class Table(structref.StructRefProxy):
    def __new__(cls, values, weights):
        return structref.StructRefProxy.__new__(cls, values, weights)


structref.define_proxy(Table, TableType, ["values", "weights"])


@overload_method(TableType, "total")
def _total(self, start):
    if self.has_weights:
        return lambda self, start: start + (self.values * self.weights).sum()
    return lambda self, start: start + self.values.sum()


def test_overloads_ask_for_the_types_of_fields():
    @njit
    def total(table):
        return table.total(start=1) + table.total(1)

    values = np.array([1.0, 2.0, 3.0])
    assert total(Table(values, None)) == 14.0
    assert total(Table(values, np.array([2.0, 0.0, 1.0]))) == 12.0

    @njit
    def made(values):
        return Table(values, None).total(0), Table(values, values).total(0)

    assert made(values) == (6.0, 14.0)
