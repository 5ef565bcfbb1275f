"""Functions of dtypes, evaluated when the function is compiled: np.can_cast, np.result_type, np.issubdtype,
np.dtype(...)."""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import Const, Expr, Mismatch, NotConstant, NotNative
from ....types import kinds as k
from ....types.lattice import dtype_of
from ...build import a_type
from ...rule import rule
from ...intrinsics import as_type

__all__ = ["CALLS", "METHODS", "python_value", "array_of"]

_WEAK = {k.Bool: False, k.Int: 0, k.Float: 0.0, k.Complex: 0j}


def python_value(x: Expr, name: str, of_values: bool = True):
    """The Python value of an argument with which NumPy itself is called at compile time: a dtype, class or text; the
    dtype of an array or NumPy scalar; a Python number, or some number of its type."""
    t = x.type
    if isinstance(t, k.DType):
        return dtype_of(t.scalar)
    if isinstance(t, k.Singleton):
        return t.value
    if isinstance(t, k.Array) and of_values:
        return dtype_of(t.dtype)
    if k.is_numpy_scalar(t) and of_values:
        return dtype_of(t)
    if isinstance(t, k.Tuple):
        return tuple(python_value(item, name, of_values) for item in _items(x))
    if x.known and (isinstance(x.value, str) or x.value is None or of_values):
        return x.value
    if t in _WEAK and of_values:
        return _WEAK[t]
    raise NotNative(f"np.{name} of {a_type(t)} is not compiled",
                    "make the dtype outside the function" if isinstance(t, (k.ListDisplay, k.DictDisplay)) else
                    "give it a dtype, a class such as np.float32, or a constant text")


def _items(x):
    from_value = x.value if x.known else (None,) * len(x.type.elements)
    for t, value in zip(x.type.elements, from_value):
        if isinstance(t, k.DType):
            yield Const(t, dtype_of(t.scalar))
        elif isinstance(t, k.Singleton):
            yield Const(t, t.value)
        elif x.known:
            yield Const(t, value)
        else:
            raise NotConstant("a tuple of dtypes must be known at compile time")


def _asked(function, of_values=True):
    """The rule of a function that NumPy itself evaluates at compile time."""

    @rule(f"np.{function.__name__}")
    def found(*args, **kwargs):
        name = function.__name__
        given = [python_value(x, name, of_values) for x in args]
        options = {key: python_value(x, name, of_values) for key, x in kwargs.items()}
        try:
            return constant(function(*given, **options))
        except (TypeError, ValueError) as error:
            raise Mismatch(str(error), exception=type(error) if type(error) in (TypeError, ValueError)
                           else TypeError) from None

    return found


@rule("np.common_type")
def _common_type(*arrays):
    for x in arrays:
        if not isinstance(x.type, k.Array):
            raise NotNative(f"np.common_type of {a_type(x.type)} is not compiled", "give it arrays")
    try:
        return constant(np.common_type(*(np.empty(0, dtype_of(x.type.dtype)) for x in arrays)))
    except TypeError as error:
        raise Mismatch(str(error)) from None


@rule("np.min_scalar_type")
def _min_scalar_type(a, /):
    x = a
    if isinstance(x.type, k.Array) and x.type.ndim:
        return constant(dtype_of(x.type.dtype))
    if not x.known:
        raise NotNative("np.min_scalar_type of a number is compiled for constants",
                        "it depends on the value: decide outside")
    return constant(np.min_scalar_type(x.value))


def _of_type(answer):
    """A predicate of the type of a value."""

    @rule(f"np.{answer.__name__}")
    def found(x):
        t = x.type.dtype if isinstance(x.type, k.Array) else x.type
        if not k.is_number(t):
            raise NotNative(f"np.{answer.__name__} of {a_type(x.type)} is not compiled")
        return Const(k.Bool, bool(answer(np.empty(0, dtype_of(t) if k.is_numpy_scalar(t) else type(_WEAK[t])))))

    return found


def array_of(x, dtype):
    """np.float32(x) of a sequence: an array, or the number that an array without axes holds."""
    if isinstance(x, np.ndarray):
        return x.astype(dtype) if x.ndim else as_type(x[()], dtype)
    return np.asarray(x, dtype)


CALLS = {
    np.can_cast: _asked(np.can_cast), np.result_type: _asked(np.result_type),
    np.promote_types: _asked(np.promote_types, False), np.issubdtype: _asked(np.issubdtype, False),
    np.dtype: _asked(np.dtype, False), np.mintypecode: _asked(np.mintypecode, False),
    np.typename: _asked(np.typename, False), np.common_type: _common_type, np.min_scalar_type: _min_scalar_type,
    np.iscomplexobj: _of_type(np.iscomplexobj), np.isrealobj: _of_type(np.isrealobj),
}
if hasattr(np, "isdtype"):  # NumPy 2.0
    CALLS[np.isdtype] = _asked(np.isdtype, False)
METHODS: dict = {}
