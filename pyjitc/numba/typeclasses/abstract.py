"""The base of Numba's types, and the classes that have no more than a name."""
from __future__ import annotations

import itertools
import typing
import weakref

from ...api.signature import Signature as _OwnSignature
from ...api.signature import TypeName, signature_of
from ...types import kinds
from ..signatures import Signature


class _Interned(type):
    """The metaclass: types of one class with equal keys are one object."""

    def __call__(cls, *args, **kwargs):
        return _interned(super().__call__(*args, **kwargs))


_KNOWN: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_CODES: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_NEXT_CODE = itertools.count()


def _interned(made):
    try:
        return _KNOWN.setdefault((type(made), made.key), made) if made.interned else made
    except (TypeError, AttributeError):  # the key cannot be hashed, or is not complete yet
        return made


class Type(TypeName, metaclass=_Interned):
    """A Numba type. Types with equal `key` are equal.

    `array_type`, the class of the types of arrays, and `of_part`, which gives the type for a part of a signature, are
    set by the modules that define them."""

    __slots__ = ("__dict__", "__weakref__")
    interned = True
    __pyjitc_constant__ = True  # compiled code knows the type as a constant
    mutable = reflected = False
    array_type: type
    of_part: typing.Callable

    def __init__(self, name: str):
        self.name = name

    @property
    def key(self):
        return self.name

    @property
    def _code(self) -> int:
        """The number of the type in this process, which no other type ever had: extensions use it as a key of
        tables."""
        if self not in _CODES:
            _CODES[self] = next(_NEXT_CODE)
        return _CODES[self]

    @property
    def type(self) -> kinds.Type:
        raise TypeError(f"numba.types.{self.name} has no values in compiled code")

    def __call__(self, *args):
        if args and all(isinstance(t, Type) for t in args):  # also of types without values, as those of functions
            return Signature(self, *map(self.of_part, args))
        found = super().__call__(*args)
        if isinstance(found, _OwnSignature):
            return Signature(self, *map(self.of_part, args))
        return found

    def __getitem__(self, axes) -> Type:
        given = axes if isinstance(axes, tuple) else (axes,)
        if not given or not all(isinstance(x, slice) and x.start is x.stop is None and x.step in (None, 1)
                                for x in given):
            raise KeyError(f"Can only index numba types with slices with no start or stop, got {axes}")
        return self.array_type(self, len(given), "C" if given[-1].step else "F" if given[0].step else "A")

    def __eq__(self, other):
        return type(self) is type(other) and self.key == other.key

    def __hash__(self):
        return hash((type(self).__name__, self.key))

    def __repr__(self):
        return self.name

    __str__ = __repr__

    def __reduce__(self):
        return _restored, (type(self), dict(self.__dict__), getattr(self, "name", None))

    def _signature(self, args) -> _OwnSignature:
        return signature_of(TypeName.__call__(self, *args))

    @property
    def is_precise(self):
        return lambda: True

    def cast_python_value(self, value):
        return self(value)

    def unify(self, context, other):
        return self if self == other else None


def _restored(cls, state, name):
    made = object.__new__(cls)
    made.__dict__.update(state)
    if name is not None:
        made.name = name
    return _interned(made)


class Dummy(Type):
    """A type without values."""


class Hashable(Type):
    pass


class Opaque(Dummy):
    pass


class Callable(Type):
    pass


class Sequence(Type):
    pass


class MutableSequence(Sequence):
    mutable = True


class TypeRef(Dummy):
    """The type of a type that is a value in compiled code."""

    def __init__(self, instance_type):
        self.instance_type = instance_type
        super().__init__(f"typeref[{instance_type}]")

    @property
    def key(self):
        return self.instance_type


class VarArg(Type):
    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"*{dtype}")


class Undefined(Type):
    pass


class Module(Dummy):
    def __init__(self, pymod):
        self.pymod = pymod
        super().__init__(f"Module({pymod})")


ffi = Opaque("ffi")
undefined = Undefined("undefined")
unknown, Any = Dummy("unknown"), Dummy("any")
