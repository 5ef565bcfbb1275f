"""Protocols of objects: any Python object, exceptions, functions, dtypes, iterators, and objects that are known when a
function is compiled."""
from __future__ import annotations

import bisect
import heapq
import operator
import types as pytypes

import numpy as np

from ...base.lazy import lazy
from ...infer import boxed as by
from ...infer.boxed import boxed, by_python
from ...infer.constants import constant
from ...infer.expressions import opened
from ...infer.meaning import UNKNOWN, Apply, Call, CallValue, Const, Mismatch, NotConstant, Step
from ...infer.names import needs_objects
from ...infer.session import Session
from ...ops.arith import BNOT
from ...ops.pyobject import PY_GETATTR, PY_NEXT, PY_SEND
from ...ops.structure import METHOD_MAKE, METHOD_SELF, SLICE_GET, STRUCT_GET
from ...runtime.objects import is_object_class
from ...types import kinds as k
from ...types.kinds import Bool, DType, Int, NoneType, Object, Singleton, Struct, Tuple, Undefined, Union
from ...types.lattice import dtype_of
from .. import operations
from ..build import number
from ..intrinsics import NOTHING
from ..operations import fixed
from ..protocol import ByReference, Protocol, State, protocol_of, protocol_of_kind, text_by_python
from .ranges import index

__all__ = ["PROTOCOLS"]

applying, ufunc_methods = lazy("pyjitc.lib.np.iteration.applying"), lazy("pyjitc.lib.np.elementwise.ufunc_methods")
made, foreign = lazy("pyjitc.lib.np.elementwise.made_calls"), lazy("pyjitc.lib.py.foreign")
creation, np_scalars = lazy("pyjitc.lib.np.arrays.creation"), lazy("pyjitc.lib.np.elementwise.scalars")
classes, iteration, membership = (lazy("pyjitc.lib.py.classes"), lazy("pyjitc.lib.py.iteration"),
                                  lazy("pyjitc.lib.py.membership"))
dicts, hints, sets = lazy("pyjitc.lib.py.dicts"), lazy("pyjitc.lib.py.hints"), lazy("pyjitc.lib.py.sets")
brackets = lazy("pyjitc.lib.np.shapes.brackets")
grids = lazy("pyjitc.lib.np.arrays.grids")
caches, partials, texts = lazy("pyjitc.lib.py.caches"), lazy("pyjitc.lib.py.partials"), lazy("pyjitc.lib.py.texts")
of_objects = lazy("pyjitc.ops.objects")
ofclasses = lazy("pyjitc.lib.py.ofclasses")
cuda_rules, refusals = lazy("pyjitc.lib.cuda.rules"), lazy("pyjitc.lib.refusals")


class _Functions(dict):
    """The meanings of functions with an argument that is any Python object: they are called in the interpreter.
    Exceptions are functions that accept all iterables, and functions of the program and of this package, which are
    compiled."""

    def get(self, target, default=None):
        if target in _NATIVE:
            return default
        found = super().get(target)
        if found is not None:
            return found
        if isinstance(target, type) and issubclass(target, BaseException):
            return default
        if Session.function_of(target) is not None or str(getattr(target, "__module__", "")).startswith("pyjitc"):
            return default
        return lambda args, kwargs: by.call(Const(Object, target), args, kwargs)


# functions that are compiled; those from heappush on store one argument in another, so that its item type must grow
_NATIVE = (print, str, repr, enumerate, zip, map, filter, getattr, hasattr, heapq.heappush, heapq.heappushpop,
           heapq.heapreplace, bisect.insort_left, bisect.insort_right, operator.setitem, operator.iadd,
           operator.iconcat)


def _rule(function, make, count=1):
    """The rule of a function of `count` arguments; for other numbers the interpreter raises its error."""
    return lambda args, kwargs: (make(*args) if len(args) == count and not kwargs else
                                 by.call(Const(Object, function), args, kwargs))


def _typed(function, type):
    return _rule(function, lambda x: by_python(function, x, type=type))


class _Object(ByReference):
    """The protocol of any Python object: operations are done by the interpreter."""

    functions = _Functions({
        isinstance: _rule(isinstance, by.is_instance, 2), len: _rule(len, by.length), bool: _rule(bool, by.truth),
        int: lambda args, kwargs: by.call(Const(Object, int), args, kwargs) if kwargs else by.to_int(int, *args),
        float: _rule(float, by.to_float), complex: _typed(complex, k.Complex), callable: _typed(callable, Bool),
        any: _typed(any, Bool), all: _typed(all, Bool), hash: _rule(hash, lambda x: by.test("PyObject_Hash", x)),
        operator.index: _rule(operator.index, lambda x: by.to_int(operator.index, x)),
        operator.truth: _rule(operator.truth, by.truth),
        operator.not_: _rule(operator.not_, lambda x: Apply(BNOT, by.truth(x))),
    })

    def binary(self, op, x, y, inplace):
        return by.binary(op, x, y, inplace)

    reflected = binary

    def unary(self, op, x):
        return by.unary(op, x)

    def compare(self, op, x, y):
        return by.compare(op, x, y)

    compared = compare

    def identical(self, x, y):
        for one in (x, y):
            if isinstance(one.type, Tuple) and not one.known:
                raise operations.no_identity("is", one)
        return by.compare("is", x, y)

    def truth(self, x):
        return by.truth(x)

    def length(self, x):
        return by.length(x)

    def contains(self, x, item):
        return by.compare("in", item, x)

    def getitem(self, x, i):
        return by.get_item(x, i)

    def setitem(self, x, i, value, asks):
        return by.set_item(x, i, value)

    def delitem(self, x, i):
        return by.delete_item(x, i)

    def is_iterable(self, x):
        return True

    def iterate(self, x):
        return by.iterate(x)

    def reversed(self, x):
        return by.iterate(by_python(reversed, x))

    def attribute(self, x, name):
        return by.get_attribute(x, name)

    def set_attribute(self, x, name, value):
        return by.set_attribute(x, name, value)

    def delete_attribute(self, x, name):
        return by.delete_attribute(x, name)

    def call(self, x, args, kwargs):
        return by.call(x, args, kwargs)

    def text(self, function, x):
        return by.text(function, x)


def object_step(s):
    it = STRUCT_GET(s, field="0")
    one = PY_NEXT(it)
    if one[0]:
        return True, one[1], s
    return False, NOTHING, s


def object_last_step(s):
    one = PY_SEND(STRUCT_GET(s, field="0"))
    if one[0]:
        return True, one[1], s, NOTHING
    return False, NOTHING, s, one[1]


class _ObjectState(State):
    def last_step(self, state):
        return Call(object_last_step, state)


class _Exception(ByReference):
    text = text_by_python

    def attribute(self, x, name):
        return Apply(PY_GETATTR, boxed(x), name=name)

    def set_attribute(self, x, name, value):
        return by.set_attribute(x, name, value)

    def delete_attribute(self, x, name):
        return by.delete_attribute(x, name)



class _One(Protocol):
    """None and `...`, each the only value of its type."""

    has_identity = True
    text = text_by_python

    def truth(self, x):
        return number(x.type is not NoneType)


class _Slice(Protocol):
    def attribute(self, x, name):
        if name == "indices":
            return Apply(METHOD_MAKE, x, name=name)
        return Apply(SLICE_GET, x, field=name) if name in ("start", "stop", "step") else None

    def method(self, x, name, args, kwargs):
        if kwargs or len(args) != 1:
            raise Mismatch(f"slice.indices() takes exactly one argument ({len(args)} given)")
        return Call(ends_of_slice, x, index(args[0]))


def ends_of_slice(s, length):
    """s.indices(length)"""
    if length < 0:
        raise ValueError("length should not be negative")
    step = 1 if s.step is None else operator.index(s.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    first, last = (0, length) if step > 0 else (-1, length - 1)
    return (limited(s.start, first if step > 0 else last, first, last, length),
            limited(s.stop, last if step > 0 else first, first, last, length), step)


def limited(place, otherwise, first, last, length):
    if place is None:
        return otherwise
    place = operator.index(place)
    return max(place + length, first) if place < 0 else min(place, last)


class _DType(Protocol):
    has_identity = True

    def compare(self, op, x, y):
        if op not in ("==", "!=") or not isinstance(y.type, (DType, Singleton)) or (
                fixed(x) is not UNKNOWN and fixed(y) is not UNKNOWN):
            return None
        other = y.type.scalar if isinstance(y.type, DType) else creation.scalar_of(y)
        return number((x.type.scalar is other) == (op == "=="))

    def attribute(self, x, name):
        return np_scalars.dtype_attribute(x.type, name)

    def length(self, x):
        return np_scalars.dtype_answer(x.type, len)

    def getitem(self, x, i):
        if not i.known:
            raise NotConstant("the name or place of a field in a dtype must be known at compile time",
                              "write a constant")
        return np_scalars.dtype_answer(x.type, operator.getitem, i.value)


_MADE = k.Function, k.FunctionObject


def _has_object(t) -> bool:
    """Whether t is the type of a bound method of an object of the program."""
    return isinstance(t, k.Method) and not t.inner


class _Function(Protocol):
    has_identity = True

    def attribute(self, x, name):
        x = opened(x) if isinstance(x.type, k.FunctionObject) else x
        t = x.type
        if isinstance(t, k.Function):
            found = caches.of_cached(x, name) or partials.of_partial(x, name)
            if found is None and name in ("__name__", "__qualname__"):
                return constant(t.proto.code.co_name if name == "__name__" else t.proto.qualname)
            return found
        if _has_object(t) and name in ("__name__", "__qualname__", "__func__"):
            return constant(t.function if name == "__func__" else getattr(t.function, name))
        if _has_object(t) and name == "__self__":
            return Apply(METHOD_SELF, x)
        return None

    def identical(self, x, y):
        if not isinstance(x.type, _MADE) or not isinstance(y.type, _MADE):
            return None
        needs_objects(Tuple((x.type, y.type)))
        return by.compare("is", x, y)

    def compare(self, op, x, y):
        if op in ("==", "!=") and _has_object(x.type) and _has_object(y.type):
            a, b = Apply(METHOD_SELF, x), Apply(METHOD_SELF, y)
            same = x.type.function is y.type.function and a.type is b.type
            found = Apply(of_objects.OBJECT_SAME, a, b) if same else number(False)
            return found if op == "==" else operations.inverted(found)
        if op not in ("==", "!=") or not isinstance(x.type, _MADE) or not isinstance(y.type, _MADE):
            return None
        return operations.identity("is" if op == "==" else "is not", x, y)

    def method(self, x, name, args, kwargs):
        return caches.of_cached_method(x, name, args, kwargs) or applying.call_vectorized(x, args, kwargs)


# ---------------------------------------------------------------- iterators


_GROWING = ("list_iterator", "bytearray_iterator", "set_iterator", "dict_keyiterator", "dict_valueiterator",
            "dict_itemiterator")  # the states over containers that may have grown when an iterator is asked again


class _Iterator(State):
    """The protocol of iterator objects."""

    has_identity = True

    def step(self, it):
        state = it.type.state
        if type(state) is Union:
            return Call(iteration.generator_step, it)
        grows = isinstance(state, Struct) and state.name in _GROWING and (
            getattr(state.parts[0], "item", None) is not Undefined)
        return Call(iteration.growing_iterator_step if grows else iteration.iterator_step, it)


class _Generator(State):
    def step(self, state):
        return Step(state)


class _Empty(State):
    def step(self, state):
        return Const(Tuple((Bool, Undefined, Undefined)), (False, Undefined, Undefined))


# ---------------------------------------------------------------- objects that are known when a function is compiled

_KERNEL_NAMES = f"{__package__.rpartition('.')[0]}.cuda.names"


class Known(Protocol):
    """The protocol of an object that is known when a function is compiled: attributes are read from it at compile time,
    items are not."""

    has_identity = True

    def truth(self, x):
        return number(bool(x.type.value))

    def binary(self, op, x, y, inplace):
        return hints.joined(x, y) if op == "|" else None

    def reflected(self, op, x, y, inplace):
        return hints.joined(x, y) if op == "|" and x.type is NoneType else None

    def contains(self, x, item):
        if hasattr(type(x.type.value), "__contains__"):
            raise refusals.of_an_object(x.type, "the items")
        return super().contains(x, item)

    def getitem(self, x, i):
        found = hints.parametrised(x, i) or hints.array_type(x, i)
        if found is not None:
            return found
        if hasattr(type(x.type.value), "__getitem__"):
            raise refusals.of_an_object(x.type, "items")
        return super().getitem(x, i)

    def is_iterable(self, x):
        return False

    def iterate(self, x):
        if hasattr(type(x.type.value), "__iter__"):
            raise refusals.of_an_object(x.type, "the items")
        return super().iterate(x)

    def known_attribute(self, x, name):
        target = x.type.value
        if (type(target).__module__ == _KERNEL_NAMES or name == "laneid"
            and getattr(target, "__name__", "").endswith(".cuda")):
            return cuda_rules.attribute(target, name)
        if name == "fromkeys" and isinstance(target, type) and issubclass(target, dict):
            return Apply(METHOD_MAKE, x, name=name)
        if name in ("__name__", "__qualname__") and (
                callable(target) and not isinstance(target, type) and type(getattr(target, name, None)) is str):
            return constant(getattr(target, name))
        if name in ("__enter__", "__exit__"):
            if type(target).__module__ != "pyjitc.lib.np.elementwise.errors":
                raise refusals.no_with(x)
            return constant(getattr(target, name))
        return None

    def attribute(self, x, name):
        return classes.attribute(x, name)

    def method(self, x, name, args, kwargs):
        if name == "vectorize":
            return applying.call_vectorized(x, args, kwargs)
        if name == "fromkeys" and x.type.value in k.CONTAINERS:
            return dicts.from_keys(x.type.value, args, kwargs)
        return classes.method(x, name, args, kwargs)

    def call(self, x, args, kwargs):
        target = x.type.value
        if isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields"):
            return classes.named_tuple(target, args, kwargs)
        kind = k.kind_of_class(target) if isinstance(target, type) else None
        if kind is not None:
            return protocol_of_kind(kind).make(kind, args, kwargs)
        if isinstance(target, type) and is_object_class(target):
            return ofclasses.make(target, args, kwargs)
        converts_to = getattr(target, "type", None)
        # a scalar class of this package, float32(x)
        if isinstance(converts_to, k.Type) and k.is_numpy_scalar(converts_to):
            return CallValue(constant(dtype_of(converts_to).type), *args, keywords=kwargs)
        found = self.of_class(target, args, kwargs)
        if found is None:
            found = hints.called(target, args, kwargs)
        return foreign.call(target, args, kwargs) if found is None else found

    def of_class(self, target, args, kwargs):
        """A method that is called on its class, as in str.upper(s), or None."""
        cls = getattr(target, "__objclass__", None)
        if type(target) in _METHODS_OF_CLASSES and args and args[0].type.python_class is cls:
            called = Apply(METHOD_MAKE, args[0], name=target.__name__)
            return CallValue(called, *args[1:], keywords=kwargs)
        return texts.class_method(target, args, kwargs)


_METHODS_OF_CLASSES = pytypes.MethodDescriptorType, pytypes.WrapperDescriptorType
_UFUNC_METHODS = ("outer", "reduce", "accumulate", "reduceat", "at")


class _Ufunc(Known):
    def known_attribute(self, x, name):
        if name in ("nin", "nout", "nargs", "identity", "signature", "__name__"):
            return constant(getattr(x.type.value, name))
        return super().known_attribute(x, name)

    def attribute(self, x, name):
        return Apply(METHOD_MAKE, x, name=name) if name in _UFUNC_METHODS else None

    def method(self, x, name, args, kwargs):
        return ufunc_methods.method(x, name, args, kwargs)

    def call(self, x, args, kwargs):
        return made.call(x.type.value, args, kwargs)


class _Limits(Known):
    """np.finfo(...) and np.iinfo(...)"""

    def known_attribute(self, x, name):
        try:
            return constant(getattr(x.type.value, name))
        except AttributeError as error:
            raise Mismatch(str(error), "", AttributeError) from None


class _Container(Known):
    """The protocol of a captured list, dict, set or bytearray, which may change: compiled code reads no items of it."""

    def contains(self, x, item):
        value = x.type.value
        if isinstance(value, (dict, set)) and item.known:
            return Const(Bool, item.value in value)
        raise refusals.of_the_program(x.type, "`in`")

    def length(self, x):
        raise refusals.of_the_program(x.type, "len()")

    def getitem(self, x, i):
        raise refusals.of_the_program(x.type, "an item")

    def setitem(self, x, i, value, asks):
        raise refusals.of_the_program(x.type, "item assignment", True)

    def iterate(self, x):
        raise refusals.of_the_program(x.type, "iteration")

    def attribute(self, x, name):
        found = super().attribute(x, name)
        if found is None and hasattr(x.type.value, name):
            raise refusals.of_the_program(x.type, f".{name}()", True)
        return found


class _Grid(Known):
    """np.mgrid or np.ogrid"""

    def getitem(self, x, i):
        return grids.getitem(x, i)


class _Joined(Known):
    """np.r_ or np.c_"""

    def getitem(self, x, i):
        return brackets.getitem(x, i)


class _FrozenSet(Known):
    """The protocol of a frozenset of constants in the program's source."""

    def contains(self, x, item):
        if item.known:
            return Const(Bool, item.value in x.type.value)
        return membership.contains(x, item)

    def is_iterable(self, x):
        return True

    def iterate(self, x):
        s = sets.object_of(x)
        return protocol_of(s.type).iterate(s)

    def length(self, x):
        return Const(Int, len(x.type.value))


class _Vectorized(Known):
    """The result of np.vectorize(f) that is made outside of compiled code."""

    def call(self, x, args, kwargs):
        return applying.call_vectorized(x, args, kwargs)


PROTOCOLS = {
    type(Object): _Object(), "object_iterator": _ObjectState(object_step), type(NoneType): _One(),
    type(k.Ellipsis_): _One(), k.Slice: _Slice(), DType: _DType(),
    **dict.fromkeys((k.Function, k.FunctionObject, k.Method), _Function()),
    k.Exception_: _Exception(), k.Iterator: _Iterator(),
    k.Generator: _Generator(), k.Ended: _Empty(),
    object: Known(), np.ufunc: _Ufunc(), np.finfo: _Limits(), np.iinfo: _Limits(), np.vectorize: _Vectorized(),
    **dict.fromkeys((list, dict, set, bytearray), _Container()), frozenset: _FrozenSet(),
    type(np.mgrid): _Grid(), type(np.ogrid): _Grid(), type(np.r_): _Joined(), type(np.c_): _Joined(),
}
