"""Protocols of what is an object for compiled code too: any Python object, exceptions, functions, dtypes, iterators,
and objects that are known when a function is compiled."""
from __future__ import annotations

import enum
import operator

import numpy as np

from ...base.lazy import lazy
from ...infer.constants import constant
from ...infer.meaning import UNKNOWN, Apply, Call, CallValue, Const, Mismatch, Step
from ...ops.pyobject import PY_GETATTR
from ...ops.structure import METHOD_MAKE, SLICE_GET
from ...types import kinds as k
from ...types.kinds import Bool, DType, Int, NoneType, Object, Singleton, Tuple, Undefined, Union
from ...types.lattice import dtype_of
from ..build import SYMBOLS, number
from ..operations import fixed
from ..protocol import Protocol, State, boxed, by_python, protocol_of, protocol_of_kind, text_by_python

__all__ = ["PROTOCOLS"]

applying, ufunc_methods = lazy("pyjitc.lib.np.iteration.applying"), lazy("pyjitc.lib.np.elementwise.ufunc_methods")
made, foreign = lazy("pyjitc.lib.np.elementwise.made_calls"), lazy("pyjitc.lib.py.foreign")
creation, np_scalars = lazy("pyjitc.lib.np.arrays.creation"), lazy("pyjitc.lib.np.elementwise.scalars")
classes, iteration, membership = (lazy("pyjitc.lib.py.classes"), lazy("pyjitc.lib.py.iteration"),
                                  lazy("pyjitc.lib.py.membership"))
grids = lazy("pyjitc.lib.np.arrays.grids")
cuda_rules, refusals = lazy("pyjitc.lib.cuda.rules"), lazy("pyjitc.lib.refusals")


class _ByReference(Protocol):
    """A reference to an object, which `is` compares."""

    has_identity = True

    def identical(self, x, y):
        return by_python(operator.is_, x, y, type=Bool) if type(x.type) is type(y.type) else None


class _Object(_ByReference):
    """Any object of Python: the interpreter is asked."""

    def binary(self, op, x, y, inplace):
        return by_python(SYMBOLS[op], x, y)

    reflected = binary

    def unary(self, op, x):
        return by_python({"-": operator.neg, "+": operator.pos, "~": operator.invert}[op], x)

    def compare(self, op, x, y):
        return by_python(SYMBOLS[op], x, y)

    def compared(self, op, x, y):
        return by_python(SYMBOLS[op], x, y)

    def identical(self, x, y):
        return by_python(operator.is_, x, y, type=Bool)

    def truth(self, x):
        return by_python(bool, x, type=Bool)

    def length(self, x):
        return by_python(len, x, type=Int)

    def getitem(self, x, i):
        return by_python(operator.getitem, x, i)

    def attribute(self, x, name):
        return Apply(PY_GETATTR, x, name=name)

    text = text_by_python


class _Exception(_ByReference):
    def attribute(self, x, name):
        return Apply(PY_GETATTR, boxed(x), name=name)

    text = text_by_python



class _One(Protocol):
    """None and `...`, each the only value of its type."""

    has_identity = True
    text = text_by_python

    def truth(self, x):
        return number(x.type is not NoneType)


class _Slice(Protocol):
    def attribute(self, x, name):
        return Apply(SLICE_GET, x, field=name) if name in ("start", "stop", "step") else None


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


class _Function(Protocol):
    has_identity = True

    def method(self, x, name, args, kwargs):
        return applying.call_vectorized(x, args, kwargs)


# ---------------------------------------------------------------- iterators


class _Iterator(State):
    """An iterator object."""

    has_identity = True

    def step(self, it):
        return Call(iteration.generator_step if type(it.type.state) is Union else iteration.iterator_step, it)


class _Generator(State):
    def step(self, state):
        return Step(state)


class _Empty(State):
    def step(self, state):
        return Const(Tuple((Bool, Undefined, Undefined)), (False, Undefined, Undefined))


# ---------------------------------------------------------------- objects that are known when a function is compiled

_KERNEL_NAMES = f"{__package__.rpartition('.')[0]}.cuda.names"


class Known(Protocol):
    """An object that is known when a function is compiled: attributes are read from it, items are not."""

    has_identity = True

    def truth(self, x):
        return number(bool(x.type.value))

    def contains(self, x, item):
        if hasattr(type(x.type.value), "__contains__"):
            raise refusals.of_an_object(x.type, "the items")
        return super().contains(x, item)

    def getitem(self, x, i):
        value = x.type.value
        if isinstance(value, type) and hasattr(value, "__class_getitem__"):
            raise Mismatch(f"'{value.__name__}[...]' has no meaning in compiled code")
        if hasattr(type(value), "__getitem__"):
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
        return classes.method(x, name, args, kwargs)

    def call(self, x, args, kwargs):
        target = x.type.value
        if isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields"):
            return classes.named_tuple(target, args, kwargs)
        kind = k.kind_of_class(target) if isinstance(target, type) else None
        if kind is not None:
            return protocol_of_kind(kind).make(kind, args, kwargs)
        converts_to = getattr(target, "type", None)
        if isinstance(converts_to, k.Type) and k.is_numpy_scalar(converts_to):  # this package's own float32(x)
            return CallValue(constant(dtype_of(converts_to).type), *args, keywords=kwargs)
        return foreign.call(target, args, kwargs)


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
    """A list, dict, set or bytearray of the interpreter, which may change: compiled code takes no items of it."""

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


class _EnumClass(Known):
    """The class itself."""

    def contains(self, x, item):
        if isinstance(item.type, Singleton) and isinstance(item.type.value, enum.Enum):
            return Const(Bool, item.type.value in classes.enum_members(x.type.value))
        raise Mismatch("`in` of an enum class is compiled for members of a plain enum",
                       "compare with the members, or with their values")

    def length(self, x):
        return Const(Int, len(classes.enum_members(x.type.value)))

    def getitem(self, x, i):
        return classes.enum_item(x.type.value, i)

    def is_iterable(self, x):
        return True

    def iterate(self, x):
        members = constant(classes.enum_members(x.type.value))
        return protocol_of(members.type).iterate(members)

    def call(self, x, args, kwargs):
        return classes.enum_member(x.type.value, args, kwargs)


class _EnumMember(Known):
    def known_attribute(self, x, name):
        if name in ("value", "name", "_value_", "_name_"):
            value = getattr(x.type.value, name)
            return constant(value) if type(value) in (bool, int, float, str) else Const(Singleton(value), value)
        return super().known_attribute(x, name)


class _Grid(Known):
    """np.mgrid or np.ogrid"""

    def getitem(self, x, i):
        return grids.getitem(x, i)


class _Joined(Known):
    """np.r_ or np.c_"""

    def getitem(self, x, i):
        raise refusals.joined_by_index(x.type)


class _FrozenSet(Known):
    def contains(self, x, item):
        if item.known:
            return Const(Bool, item.value in x.type.value)
        return membership.contains(x, item)


class _Vectorized(Known):
    """np.vectorize(f), made outside"""

    def call(self, x, args, kwargs):
        return applying.call_vectorized(x, args, kwargs)


PROTOCOLS = {
    type(Object): _Object(), type(NoneType): _One(), type(k.Ellipsis_): _One(), k.Slice: _Slice(), DType: _DType(),
    k.Function: _Function(), k.Method: _Function(), k.Exception_: _Exception(), k.Iterator: _Iterator(),
    k.Generator: _Generator(), k.Ended: _Empty(),
    object: Known(), np.ufunc: _Ufunc(), np.finfo: _Limits(), np.iinfo: _Limits(), np.vectorize: _Vectorized(),
    **dict.fromkeys((list, dict, set, bytearray), _Container()), frozenset: _FrozenSet(),
    enum.EnumMeta: _EnumClass(), enum.Enum: _EnumMember(), type(np.mgrid): _Grid(), type(np.ogrid): _Grid(),
    type(np.r_): _Joined(), type(np.c_): _Joined(),
}
