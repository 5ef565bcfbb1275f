"""Operations of the interpreter as expressions: each boxes operands of any type and calls the C API."""
from __future__ import annotations

import operator
from typing import Any, Hashable

from ..front.functions import is_marker
from ..ops import pyobject, structure
from ..types.kinds import (
    Bool, Exception_, Float, Int, ListDisplay, Method, NoneType, Object, Singleton, Str, Tuple, Type, Unbound, any_part,
)
from .constants import is_plain
from .meaning import UNKNOWN, Apply, Const, Expr, NeedsList
from .names import with_object

__all__ = ["binary", "boxed", "by_python", "call", "compare", "delete_attribute", "delete_item", "direct",
           "exception", "get_attribute", "get_item", "is_boxable", "is_instance", "iterate", "length", "parts_of",
           "set_attribute", "set_item", "test", "text", "to_float", "to_int", "truth", "unary"]

_NAMES = {"+": "Add", "-": "Subtract", "*": "Multiply", "/": "TrueDivide", "//": "FloorDivide", "%": "Remainder",
          "**": "Power", "@": "MatrixMultiply", "<<": "Lshift", ">>": "Rshift", "&": "And", "|": "Or", "^": "Xor"}
_UNARY = {"-": "Negative", "+": "Positive", "~": "Invert"}
# (function, number of operands) -> the function of the C API that does the same
_DIRECT: dict[tuple[Any, int], str] = {
    **{(function, count): name for name, function in pyobject.MEANINGS.items() for count in (1, 2, 3)
       if function.__module__ == "_operator" and name != "PyDict_SetItem"},
    (list, 1): "PySequence_List", (list.copy, 1): "PySequence_List"}


def boxed(x: Expr) -> Expr:
    """The Python object of a value."""
    t = x.type
    if t is Object:
        return x
    if x.value is not UNKNOWN and is_plain(t) and type(x.value) is t.python_class:
        return Const(Object, x.value)
    if isinstance(t, Method) and is_boxable(t.receiver):
        return get_attribute(Apply(structure.METHOD_SELF, x), t.name)
    return Apply(pyobject.PY_BOX, x if t is None else with_object(x))


def is_boxable(t: Type) -> bool:
    """Whether every value of a type has a Python object that code generation can make."""
    return not any_part(t, lambda part: part.inner or part is Unbound or is_marker(part))



def api(function: str, *operands: Expr) -> Expr:
    return Apply(pyobject.PY_API, *map(boxed, operands), function=function)


def test(function: str, *operands: Expr) -> Expr:
    return Apply(pyobject.PY_TEST, *map(boxed, operands), function=function)


def kept(*operands: Expr) -> None:
    """Raise NeedsList if one of the operands contains a list display, which an object of the interpreter may keep or
    change: the object that is made of a display would be a copy."""
    if any([any_part(x.type, _is_display) for x in operands]):
        raise NeedsList


def _is_display(t: Type) -> bool:
    return isinstance(t, ListDisplay)


def call(callee: Expr, args, kwargs=None) -> Expr:
    kwargs = kwargs or {}
    kept(*args, *kwargs.values())
    return Apply(pyobject.PY_CALL, _callee(callee), *map(boxed, [*args, *kwargs.values()]), kwnames=tuple(kwargs))


def _callee(x: Expr) -> Expr:
    return Const(Object, x.type.value) if isinstance(x.type, Singleton) else boxed(x)


def by_python(function, *operands: Expr, type: Type = Object) -> Expr:
    """The operation done by the interpreter on Python objects; the result as a value of `type`."""
    name = direct(function, len(operands))
    if name in pyobject.TESTS and pyobject.TESTS[name][2] in (type, NoneType):
        return test(name, *operands)
    if function is operator.is_ and type is Bool:
        return compare("is", *operands)
    found = api(name, *operands) if name in pyobject.API else Apply(
        pyobject.PY_CALL, Const(Object, function), *map(boxed, operands))
    return found if type is Object else Apply(pyobject.PY_UNBOX, found, type=type)


def direct(function, count: int) -> str | None:
    """The function of the C API that does the same as a function of `count` operands, if there is one."""
    return _DIRECT.get((function, count)) if isinstance(function, Hashable) else None


def binary(op: str, x: Expr, y: Expr, inplace: bool = False) -> Expr:
    return api(f"PyNumber_{'InPlace' if inplace else ''}{_NAMES[op]}", x, y)


def unary(op: str, x: Expr) -> Expr:
    return api(f"PyNumber_{_UNARY[op]}", x)


def compare(op: str, x: Expr, y: Expr) -> Expr:
    """A comparison by the interpreter: any except `not in` and `is not`."""
    if op == "in":
        return test("PySequence_Contains", y, x)
    return Apply(pyobject.PY_IS, boxed(x), boxed(y)) if op == "is" else api(f"PyObject_RichCompare {op}", x, y)


def truth(x: Expr) -> Expr:
    return test("PyObject_IsTrue", x)


def length(x: Expr) -> Expr:
    return test("PyObject_Size", x)


def get_item(x: Expr, i: Expr) -> Expr:
    return api("PyObject_GetItem", x, i)


def set_item(x: Expr, i: Expr, value: Expr) -> Expr:
    kept(value)
    return test("PyObject_SetItem", x, i, value)


def delete_item(x: Expr, i: Expr) -> Expr:
    return test("PyObject_DelItem", x, i)


def get_attribute(x: Expr, name: str) -> Expr:
    return Apply(pyobject.PY_GETATTR, boxed(x), name=name)


def set_attribute(x: Expr, name: str, value: Expr) -> Expr:
    kept(value)
    return test("PyObject_SetAttr", x, Const(Object, name), value)


def delete_attribute(x: Expr, name: str) -> Expr:
    return Apply(pyobject.PY_DELATTR, boxed(x), name=name)


def iterate(x: Expr) -> Expr:
    return Apply(structure.PACK, api("PyObject_GetIter", x), name="object_iterator")


def is_instance(x: Expr, classes: Expr) -> Expr:
    return test("PyObject_IsInstance", x, classes)


def text(function, x: Expr) -> Expr:
    """The result of `str(x)` or `repr(x)`."""
    found = api("PyObject_Str" if function is str else "PyObject_Repr", x)
    return Apply(structure.RETYPE, found, type=Str)


_WIDE = "OverflowError", "the int does not fit in 64 bits; use a float"


def to_int(function, *operands: Expr) -> Expr:
    """The result of a function that returns an int, if that fits in 64 bits."""
    return Apply(pyobject.PY_UNBOX, by_python(function, *operands), type=Int, otherwise=_WIDE)


def to_float(x: Expr) -> Expr:
    return by_python(float, x, type=Float)


def exception(x: Expr) -> Expr:
    """The exception that `raise` makes of a Python object."""
    return Apply(structure.RETYPE, x, type=Exception_(BaseException))


def parts_of(found: Expr, count: int) -> Expr:
    """A tuple of the `count` objects that a helper function of runtime/interpreted.py returns."""
    return Apply(pyobject.PY_UNBOX, found, type=Tuple((Object,) * count))
