"""The protocols of dicts, those of `collections` included, and of their views. A dict is the Python object; operations
of ops/tables.py search it directly, and its own methods do rare operations."""
from __future__ import annotations

import operator
from collections import Counter, OrderedDict, defaultdict
from types import FunctionType

from ...infer.constants import constant
from ...infer.meaning import Apply, Call, CallValue, Const, Expr, Fresh, Mismatch, NotNative
from ...infer.names import describe
from ...ops.arith import BNOT, IGT
from ...ops.localtables import can_be_key
from ...ops.structure import METHOD_MAKE, PACK, STRUCT_GET, TUPLE_MAKE
from ...ops.tables import (
    DICT_ASK, DICT_DELETE, DICT_FIND, DICT_GET, DICT_HAS, DICT_HOLD, DICT_LEN, DICT_NEVER, DICT_NEW, DICT_NEXT,
    DICT_PUT, DICT_SET,
)
from ...types import kinds as k
from ...types.kinds import (
    Bool, CounterDict, DefaultDict, Dict, DictDisplay, DictItems, DictKeys, DictValues, DictView, Float, Function,
    FunctionObject, Int, List, NoneType, OrderedDict_, Set, Singleton, Str, Tuple, Undefined, wider,
)
from .. import refusals
from ..build import SYMBOLS, number
from ..intrinsics import NOTHING
from ..protocol import Protocol, State, by_python, protocol_of, text_by_python
from ..rule import Rule, expression
from .tables import Held, as_object, by_method, holding, is_handed, item_of, kept, pair_of, stepped

__all__ = ["CALLS", "PROTOCOLS", "from_keys"]

_ZERO = number(0)
_NUMBERS, _SEQUENCES = (int, float, complex), (tuple, list, str, bytes)  # what an item of dict(items) may be


def _keeps(t) -> bool:
    """Whether dicts of this type have data besides the hash table, as OrderedDict does."""
    return isinstance(t, OrderedDict_)


def _view(kind):
    return lambda x: Apply(PACK, x, name=kind.role)


class _Dict(Held):
    path = "dict"

    def binary(self, op, x, y, inplace):
        if op != "|" or not isinstance(y.type, Dict):
            if op == "|" and inplace and not isinstance(y.type, Dict):
                return CallValue(constant(updated), x, y)
            return None
        if inplace:
            return by_python(operator.ior, holding(x, y.type.keys, y.type.values), y, type=x.type)
        kind = type(y.type) if issubclass(type(y.type), type(x.type)) else type(x.type)
        return Fresh(kind, (wider(x.type.keys, y.type.keys), wider(x.type.values, y.type.values)),
                     lambda t: by_python(operator.or_, x, y, type=t))

    def compare(self, op, x, y):
        if op in ("==", "!=") and isinstance(y.type, Dict):
            return by_python(SYMBOLS[op], x, y, type=Bool)
        return None

    def truth(self, x):
        return Apply(IGT, self.length(x), _ZERO)

    def contains(self, x, item):
        return Apply(DICT_HAS, x, item)

    def length(self, x):
        return Apply(DICT_LEN, x)

    def getitem(self, x, i):
        return Apply(DICT_GET, x, i)

    def setitem(self, x, i, value, asks):
        return Apply(DICT_SET, x, kept(i), kept(value))

    def delitem(self, x, i):
        return Apply(DICT_DELETE, x, i)

    def iterate(self, x):
        return Call(iterate, x, Const(Str, "dict_keyiterator"))


class _Default(_Dict):
    path = "collections.defaultdict"

    def getitem(self, x, i):
        return Apply(DICT_ASK, x, i)

    def attribute(self, x, name):
        if name == "default_factory":
            raise NotNative("defaultdict.default_factory is not compiled", "read it outside the compiled function")
        return super().attribute(x, name)


class _Ordered(_Dict):
    path = "collections.OrderedDict"

    def setitem(self, x, i, value, asks):
        return Apply(DICT_PUT, x, kept(i), kept(value))

    def iterate(self, x):
        return stepped(x)


class _Counter(_Default):
    path = "collections.Counter"
    _COMBINED = {"+": (operator.add, operator.iadd), "-": (operator.sub, operator.isub),
                 "&": (operator.and_, operator.iand), "|": (operator.or_, operator.ior)}

    def getitem(self, x, i):
        return Apply(DICT_ASK, holding(x, None, Int), i)  # 0 for a missing key of a Counter

    def binary(self, op, x, y, inplace):
        if op not in self._COMBINED or not isinstance(y.type, CounterDict):
            return None
        held = wider(x.type.keys, y.type.keys), wider(wider(x.type.values, y.type.values), Int)
        if inplace:
            return by_python(self._COMBINED[op][1], holding(x, *held), y, type=x.type)
        return Fresh(CounterDict, held, lambda t: by_python(self._COMBINED[op][0], x, y, type=t))

    def unary(self, op, x):
        if op not in "+-":
            return super().unary(op, x)
        return Fresh(CounterDict, (x.type.keys, wider(x.type.values, Int)), lambda t: by_python(
            operator.pos if op == "+" else operator.neg, x, type=t))

    def compare(self, op, x, y):
        if not isinstance(y.type, CounterDict):
            return super().compare(op, x, y)
        if op in ("==", "!=") and x.type is y.type and can_be_key(x.type.keys) and x.type.values is Int:
            same = Call(have_same_counts, x, y)
            return same if op == "==" else Apply(BNOT, same)
        return by_python(SYMBOLS[op], x, y, type=Bool)


def have_same_counts(x, y):
    for key in x:
        if x[key] != y[key]:
            return False
    for key in y:
        if x[key] != y[key]:
            return False
    return True


# ---------------------------------------------------------------- methods


def _get(x, key, default=None):
    return Call(find_or, x, key, expression(default))


def find_or(d, key, default):
    found = DICT_FIND(d, key)
    if found[0]:
        return found[1]
    return default


def _set_default(x, key, default=None):
    default = expression(default)
    if _keeps(x.type):
        return by_python(OrderedDict.setdefault, holding(x, key.type, default.type), kept(key), kept(default),
                         type=wider(x.type.values, default.type))
    return Call(set_default, x, kept(key), kept(default))


def set_default(d, key, default):
    found = DICT_FIND(d, key)
    if found[0]:
        return found[1]
    DICT_SET(d, key, default)
    return default


def _pop(x, key, default=...):
    if default.type is k.Ellipsis_:
        return Call(taken, x, key) if x.type.values is not Undefined else Apply(DICT_GET, x, key)
    return Call(taken_or, x, key, default)


def taken(d, key):
    value = DICT_GET(d, key)
    DICT_DELETE(d, key)
    return value


def taken_or(d, key, default):
    found = DICT_FIND(d, key)
    if found[0]:
        DICT_DELETE(d, key)
        return found[1]
    return default


def _pop_item(x):
    return by_method(x.type.python_class.popitem, x, type=_entry(x.type))


def _pop_last(x, last):
    return by_method(OrderedDict.popitem, x, last, type=_entry(x.type))


def _entry(t):
    return Undefined if t.keys is Undefined or t.values is Undefined else Tuple((t.keys, t.values))


def _clear(x):
    return by_method(x.type.python_class.clear, x)


def _copy(x):
    return Fresh(type(x.type), (x.type.keys, x.type.values),
                 lambda t: by_python(t.python_class.copy, x, type=t))


def _update(x, /, *given, **kwargs):
    cls = x.type.python_class
    if not given:
        return _named(by_method, cls, x, (), kwargs) if kwargs else constant(None)
    if len(given) > 1:
        raise Mismatch(f"update expected at most 1 argument, got {len(given)}")
    (more,) = given
    held = _held(more.type)
    if held is None:
        return Call(put_all, x, more) if not kwargs else Call(last, Call(put_all, x, more), _update(x, **kwargs))
    return _named(by_method, cls, holding(x, *held), (more,), kwargs)


def last(first, second):
    return second


def _named(call, cls, x, given, kwargs):
    for value in kwargs.values():
        x = holding(x, Str, kept(value).type)
    return call(cls.update, x, *given, kwargs=kwargs)


def _held(t):
    """The types of the keys and values of a mapping or an iterable of pairs that can be passed to the interpreter; else
    None."""
    if isinstance(t, Dict):
        return t.keys, t.values
    if isinstance(t, DictDisplay):
        values = Undefined
        for part in t.parts:
            values = wider(values, part)
        return Str, values
    item = item_of(t)
    return None if item is None else pair_of(item)


def merged(d: Expr, more: Expr) -> Expr:
    """`{**d, **more}`, where the dict d was made for the result."""
    held = _held(more.type)
    if held is None or not isinstance(more.type, (Dict, DictDisplay)):
        raise Mismatch(f"{describe(more.type)} object is not a mapping")
    if isinstance(more.type, DictDisplay):
        return _filled(d, (), {name: Apply(STRUCT_GET, more, field=name) for name, _ in more.type.members})
    return Call(given_back, by_method(dict.update, holding(d, *held), more), d)


def given_back(none, d):
    return d


def put_all(d, pairs):
    filled(d, pairs)


def updated(d, pairs):
    d.update(pairs)
    return d


def _filled(made, given, kwargs):
    """A new dict filled from an iterable of pairs and keyword arguments."""
    if given:
        made = Call(filled, made, given[0])
    for name, value in kwargs.items():
        made = Call(with_item, made, constant(name), value)
    return made


def filled(d, pairs):
    for n, pair in enumerate(pairs):
        if isinstance(d, OrderedDict):
            if isinstance(pair, _SEQUENCES) and len(pair) < 2:
                raise ValueError(f"need more than {len(pair)} value{'' if len(pair) == 1 else 's'} to unpack")
        elif isinstance(pair, _NUMBERS):
            raise TypeError(f"cannot convert dictionary update sequence element #{n} to a sequence")
        elif isinstance(pair, _SEQUENCES) and len(pair) != 2:
            raise ValueError(f"dictionary update sequence element #{n} has length {len(pair)}; 2 is required")
        key, value = pair
        d[key] = value
    return d


def with_item(d, key, value):
    d[key] = value
    return d


def from_keys(cls, args, kwargs):
    """dict.fromkeys(iterable, value) of a class."""
    def made(iterable, value=None):
        value = kept(expression(value))
        if not is_handed(iterable):
            return CallValue(Apply(METHOD_MAKE, constant(cls), name="fromkeys"), as_object(iterable), value)
        return Fresh(_KINDS[cls], (item_of(iterable.type), value.type),
                     lambda t: by_python(cls.fromkeys, iterable, value, type=t))

    return Rule(made, f"{'dict' if cls is dict else f'collections.{cls.__name__}'}.fromkeys",
                "iterable, value=None, /")(args, kwargs)


def _move_to_end(x, key, last):
    return by_method(OrderedDict.move_to_end, x, key, last)


def _most_common(x, n=None):
    return Fresh(List, (Tuple((x.type.keys, x.type.values)),), lambda t: by_python(
        Counter.most_common, x, expression(n), type=t))


def _elements(x):
    return stepped(x, by_python(Counter.elements, x))


def _total(x):
    return by_python(Counter.total, x, type=wider(x.type.values, Int))


def _count(name):
    def rule(x, iterable=None, /, **kwargs):
        if iterable is not None and _is_counted_here(iterable) and not kwargs:
            return Call(_COUNTING[name], x, iterable)
        if iterable is not None and not isinstance(iterable.type, Dict) and not is_handed(iterable):
            return CallValue(Apply(METHOD_MAKE, x, name=name), as_object(iterable), keywords=kwargs)
        given = () if iterable is None else (iterable,)
        return by_method(getattr(Counter, name), _counting(x, given, kwargs), *given, kwargs=kwargs)

    return rule


def _is_counted_here(iterable) -> bool:
    """Whether compiled code counts the items of an iterable in a loop, and not the interpreter: then the Counter may be
    a table without objects. Other items are objects already where they come from one."""
    item = item_of(iterable.type)
    return not isinstance(iterable.type, Dict) and (item is None or can_be_key(item))


def count(counts, items):
    for x in items:
        counts[x] += 1


def discount(counts, items):
    for x in items:
        counts[x] -= 1


_COUNTING = {"update": count, "subtract": discount}


def counted(counts, items):
    for x in items:
        counts[x] += 1
    return counts


def _counting(x, given, kwargs):
    for one in given:
        held = (one.type.keys, one.type.values) if isinstance(one.type, Dict) else (item_of(one.type), Int)
        x = holding(x, *held)
    for value in kwargs.values():
        x = holding(x, Str, value.type)
    return holding(x, None, Int)


_SELF = "self, /"
_RULES = {
    "get": ("self, key, default=None, /", _get), "setdefault": ("self, key, default=None, /", _set_default),
    "pop": ("self, key, default=..., /", _pop), "popitem": (_SELF, _pop_item), "clear": (_SELF, _clear),
    "copy": (_SELF, _copy),
    "keys": (_SELF, _view(DictKeys)), "values": (_SELF, _view(DictValues)), "items": (_SELF, _view(DictItems)),
}


def _method(self, x, name, args, kwargs):
    cls = x.type.python_class
    if name == "fromkeys":
        return from_keys(cls, args, kwargs)
    if name == "update" and not isinstance(x.type, CounterDict):
        return _update(x, *args, **kwargs)
    if name in ("update", "subtract") and isinstance(x.type, CounterDict):
        if len(args) > 1:
            raise Mismatch(f"Counter.{name}() takes from 1 to 2 positional arguments but {len(args) + 1} were given")
        return _count(name)(x, *args, **kwargs)
    return Held.method(self, x, name, args, kwargs)


_Dict.method = _method
_Dict.rules = _RULES
_Ordered.rules = {**_RULES, "popitem": ("self, last=True", _pop_last),
                  "move_to_end": ("self, key, last=True", _move_to_end)}
_Counter.rules = {**_RULES, "most_common": ("self, n=None", _most_common), "elements": ("self", _elements),
                  "total": ("self", _total)}

def match_keys(d: Expr, keys: Expr) -> Expr:
    """The values that the pattern `{k1: ..., k2: ...}` captures from a dict; None where a key is missing."""
    return Call(values_of, d, keys, number(0), constant(()))


def match_rest(d: Expr, keys: Expr) -> Expr:
    """The dict that `**rest` captures in such a pattern."""
    return Call(without, CallValue(constant(dict), d), keys, number(0))


def without(d, keys, k):
    if k == len(keys):
        return d
    DICT_DELETE(d, keys[k])
    return without(d, keys, k + 1)


def values_of(d, keys, k, done):
    if k == len(keys):
        return done
    found = DICT_FIND(d, keys[k])
    if found[0]:
        return values_of(d, keys, k + 1, done + (found[1],))
    return None


# ---------------------------------------------------------------- loops


def iterate(d, name):
    """name: of the iterator's class."""
    n = DICT_LEN(d)
    return PACK(d, 0, n, n, name=name)


def step(s, what, name):
    """A step of an iterator over `what` of a dict."""
    d = STRUCT_GET(s, field="0")
    size = STRUCT_GET(s, field="2")
    left = STRUCT_GET(s, field="3")
    one = DICT_NEXT(d, STRUCT_GET(s, field="1"), size, left, what=what)
    if one[0]:
        return True, one[1], PACK(d, one[2], size, left - 1, name=name)
    return False, NOTHING, s


def step_of_none(s):
    """A step over a dict in which nothing has been stored as far as is known at compile time: it raises if there is an
    item."""
    if DICT_LEN(STRUCT_GET(s, field="0")) > 0:
        raise TypeError("a dict has an item, but was empty when this code was compiled")
    return False, NOTHING, NOTHING


class _Steps(State):
    def __init__(self, what, name):
        self.arguments = Const(Str, what), Const(Str, name)

    def step(self, state):
        d = state.type.parts[0]
        if d.keys is Undefined or d.values is Undefined:
            return Call(step_of_none, state)
        return Call(step, state, *self.arguments)


# ---------------------------------------------------------------- views

_ITERATORS = {DictKeys: "dict_keyiterator", DictValues: "dict_valueiterator", DictItems: "dict_itemiterator"}
_SET_OPS = {"|": operator.or_, "&": operator.and_, "-": operator.sub, "^": operator.xor}


class _View(Protocol):
    has_identity = True
    text = text_by_python

    def identical(self, x, y):
        return None

    def of(self, x):
        return Apply(STRUCT_GET, x, field="0")

    def elements(self, x):
        d = self.of(x)
        if not isinstance(x.type.viewed, DictDisplay):
            return None
        keys = list(map(constant, x.type.viewed.names))
        if isinstance(x.type, DictKeys):
            return keys
        values = [Apply(STRUCT_GET, d, field=name) for name in x.type.viewed.names]
        return values if isinstance(x.type, DictValues) else [
            Apply(TUPLE_MAKE, *pair, cls=None) for pair in zip(keys, values)]

    def _as_tuple(self, x):
        """The view of a dict display as a tuple of its items; None of a dict."""
        items = self.elements(x)
        return None if items is None else Apply(TUPLE_MAKE, *items, cls=None)

    def length(self, x):
        if isinstance(x.type.viewed, DictDisplay):
            return number(len(x.type.viewed.names))
        return Apply(DICT_LEN, self.of(x))

    def truth(self, x):
        return Apply(IGT, self.length(x), _ZERO)

    def iterate(self, x):
        items = self._as_tuple(x)
        if items is not None:
            return protocol_of(items.type).iterate(items)
        if _keeps(x.type.parts[0]):
            return stepped(x)
        return Call(iterate, self.of(x), Const(Str, _ITERATORS[type(x.type)]))

    def reversed(self, x):
        items = self._as_tuple(x)
        if items is not None:
            return protocol_of(items.type).reversed(items)
        return stepped(x, by_python(reversed, x))

    def contains(self, x, item):
        items = self._as_tuple(x)
        if items is not None:
            return protocol_of(items.type).contains(items, item)
        if isinstance(x.type, DictKeys):
            return Apply(DICT_HAS, self.of(x), item)
        if isinstance(x.type, DictItems):
            return by_python(operator.contains, x, item, type=Bool)
        return super().contains(x, item)

    def _is_set(self, x):
        return not isinstance(x.type, DictValues)

    def binary(self, op, x, y, inplace):
        if op not in _SET_OPS or not self._is_set(x):
            return None
        self._check_of_dict(x, op)
        if not is_handed(y):
            if not protocol_of(y.type).is_iterable(y):
                return None
            return CallValue(constant(_SET_OPS[op]), x, as_object(y))
        item = x.type.item if op == "-" else wider(x.type.item, item_of(y.type))
        return Fresh(Set, (item,), lambda t: by_python(_SET_OPS[op], x, y, type=t))

    def reflected(self, op, x, y, inplace):
        if op not in _SET_OPS or not self._is_set(y) or not is_handed(x):
            return None
        self._check_of_dict(y, op)
        item = item_of(x.type) if op == "-" else wider(y.type.item, item_of(x.type))
        return Fresh(Set, (item,), lambda t: by_python(_SET_OPS[op], x, y, type=t))

    def compare(self, op, x, y):
        if self._is_set(x) and (isinstance(y.type, (Set, k.FrozenSet)) or isinstance(y.type, DictView) and self._is_set(
                y)):
            self._check_of_dict(x, op)
            return by_python(SYMBOLS[op], x, y, type=Bool)
        return None

    def _check_of_dict(self, x, op):
        if isinstance(x.type.viewed, DictDisplay):
            raise refusals.not_yet(x.type.viewed, f"`{op}` with the keys or items of")

    def attribute(self, x, name):
        return Apply(METHOD_MAKE, x, name=name) if name == "isdisjoint" and self._is_set(x) else None

    def method(self, x, name, args, kwargs):
        def disjoint(x, other):
            if not is_handed(other):
                return CallValue(Apply(METHOD_MAKE, x, name=name), as_object(other))
            return by_python(x.type.python_class.isdisjoint, x, other, type=Bool)

        return Rule(disjoint, f"{x.type.name}.{name}", "self, other, /")([x, *args], kwargs)


# ---------------------------------------------------------------- making dicts

_KINDS = {dict: Dict, defaultdict: DefaultDict, Counter: CounterDict, OrderedDict: OrderedDict_}


def _dict(args, kwargs):
    if len(args) > 1:
        raise Mismatch(f"dict expected at most 1 argument, got {len(args)}")
    if not args:
        items = [x for name, value in kwargs.items() for x in (constant(name), kept(value))]
        return made_of(items)
    held = _held(args[0].type)
    if held is None:
        return _filled(made_of(()), args, kwargs)
    found = Fresh(Dict, held, lambda t: by_python(dict, args[0], type=t))
    return _filled(found, (), kwargs)


def made_of(items) -> Fresh:
    """A new dict. items: keys and values in turn."""
    items = tuple(items)
    keys = values = Undefined
    for n, x in enumerate(items):
        if n % 2:
            values = wider(values, x.type)
        else:
            keys = wider(keys, x.type)
    return Fresh(Dict, (keys, values), lambda t: Apply(DICT_NEW, *items, type=t))


def _ordered(args, kwargs):
    if len(args) > 1:
        raise Mismatch(f"expected at most 1 arguments, got {len(args)}")
    held = _held(args[0].type) if args else (Undefined, Undefined)
    if held is None:
        return _filled(_ordered([], {}), args, kwargs)
    return _filled(Fresh(OrderedDict_, held, lambda t: by_python(OrderedDict, *args, type=t)), (), kwargs)


def _counter(args, kwargs):
    if len(args) > 1:
        raise Mismatch(f"Counter.__init__() takes from 1 to 2 positional arguments but {len(args) + 1} were given")
    if args and args[0].type is NoneType:
        args = []
    if args and _is_counted_here(args[0]) and not kwargs:
        return Call(counted, _counter([], {}), args[0])
    if args and not isinstance(args[0].type, Dict) and not is_handed(args[0]):
        return CallValue(constant(Counter), as_object(args[0]), keywords=kwargs)
    keys, values = Undefined, Int
    for one in args:
        held = (one.type.keys, one.type.values) if isinstance(one.type, Dict) else (item_of(one.type), Int)
        keys, values = wider(keys, held[0]), wider(values, held[1])
    for value in kwargs.values():
        keys, values = wider(keys, Str), wider(values, value.type)
    return Fresh(CounterDict, (keys, values), lambda t: by_method(Counter, *args, type=t, kwargs=kwargs))


# Classes that are factories of defaultdicts -> the types of the values that they make.
_FACTORIES = {
    int: Int, float: Float, bool: Bool, str: Str, complex: k.Complex, bytes: k.Bytes, tuple: Tuple(()),
    **{cls: kind(*[Undefined] * len(kind.fields)) for cls, kind in k.CONTAINERS.items()}}


def _default(args, kwargs):
    if not args:
        args = [constant(None)]
    factory, *rest = args
    if len(rest) > 1:
        raise Mismatch(f"dict expected at most 1 argument, got {len(rest)}")
    held = _held(rest[0].type) if rest else (Undefined, Undefined)
    if held is None:
        return _filled(_default([factory], {}), rest, kwargs)
    if factory.type is NoneType:
        made, given = Undefined, factory
    elif isinstance(factory.type, Singleton) and factory.type.value in _FACTORIES:
        made, given = _FACTORIES[factory.type.value], Const(k.Object, factory.type.value)
    elif isinstance(factory.type, (Singleton, Function, FunctionObject)):
        return _of_function(factory, rest, kwargs)
    else:
        raise Mismatch("first argument must be callable or None")
    return _filled(Fresh(DefaultDict, (held[0], wider(held[1], made)), lambda t: by_python(
        defaultdict, given, *rest, type=t)), (), kwargs)


def _of_function(factory, rest, kwargs):
    """A defaultdict whose factory is a function of the program: the interpreter calls it, and its compiled call gives
    the type of the values."""
    given = _function_object(factory)
    held = _held(rest[0].type) if rest else (Undefined, Undefined)
    made = Fresh(DefaultDict, held, lambda t: by_python(defaultdict, given, *rest, type=t))
    return _filled(Call(may_hold_made, made, factory), (), kwargs)


def _function_object(factory):
    if isinstance(factory.type, Singleton):
        if not callable(factory.type.value):
            raise Mismatch("first argument must be callable or None")
        return Const(k.Object, factory.type.value)
    if factory.type.captures:
        raise NotNative("a function that captures variables cannot be the factory of a defaultdict yet",
                        "define it outside the compiled function, or use setdefault")
    proto = factory.type.proto
    return Const(k.Object, FunctionType(proto.code, proto.globals, proto.code.co_name))


def may_hold_made(d, factory):
    if DICT_NEVER(d):
        DICT_HOLD(d, factory())
    return d


CALLS = {dict: _dict, OrderedDict: _ordered, Counter: _counter, defaultdict: _default}
PROTOCOLS = {
    Dict: _Dict(), DefaultDict: _Default(), OrderedDict_: _Ordered(), CounterDict: _Counter(),
    **dict.fromkeys((DictKeys, DictValues, DictItems), _View()),
    **{name: _Steps(view.role.removeprefix("dict_"), name) for view, name in _ITERATORS.items()},
}
