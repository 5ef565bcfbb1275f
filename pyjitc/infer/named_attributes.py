"""The meaning of getattr(x, "name") and hasattr(x, "name"), for the evaluator `on`: where the name is a constant, and
where it is known only when the program runs.
"""
from __future__ import annotations

import enum
import sys
import types as pytypes

from ..base.lazy import lazy
from ..ops import generic
from ..runtime.dispatcher import Callable_
from ..types.classes import UNWRITTEN, is_fixed, own
from ..types.kinds import Bool, Exception_, Function, NoneType, ObjectOf, Singleton, Str, Tuple
from .meaning import UNKNOWN, Const, Expr, Mismatch, NotConstant, NotNative
from .names import describe

boxed = lazy(f"{__package__}.boxed")  # only programs that need the interpreter load it

__all__ = ["attribute_by_name"]

# Values of classes that an attribute of an object does not hide, or hides by another value.
_METHODS = (pytypes.FunctionType, Callable_, staticmethod, classmethod, pytypes.MethodDescriptorType,
            pytypes.WrapperDescriptorType)


def attribute_by_name(on, target, args, kwargs):
    """The result of getattr(x, "name"), getattr(x, "name", default) or hasattr(x, "name")."""
    called, count = target.__name__, len(args)
    if kwargs:
        raise Mismatch(f"{called}() takes no keyword arguments")
    if target is hasattr and count != 2:
        raise Mismatch(f"hasattr expected 2 arguments, got {count}")
    if not 2 <= count <= 3:
        raise Mismatch(f"getattr expected at {'least 2' if count < 2 else 'most 3'} arguments, got {count}")
    x, name, *default = args
    if name.type is not Str:
        raise Mismatch(f"attribute name must be string, not {describe(name.type)}" if sys.version_info >= (3, 11)
                       else f"{called}(): attribute name must be string")
    if isinstance(x.type, Exception_):
        return (boxed.by_python(hasattr, x, name, type=Bool) if target is hasattr
                else boxed.by_python(getattr, *args))
    if not name.known and (isinstance(x.type, ObjectOf) or x.type is NoneType) and not (
            target is getattr and on.session.options.objects):
        if target is hasattr:
            return boxed.by_python(hasattr, x, name, type=Bool)
        return on.library.attribute_named(x, name, default, _start_of_name(on) if _is_called(on) else None)
    if not name.known:
        raise NotConstant(f"the name that {called}() asks for must be a constant",
                          "compare the name with each that it may be")
    if target is getattr and not default:
        return on.attribute(x, name.value)
    if isinstance(x.type, ObjectOf):
        if target is hasattr:
            return _object_has(on, x, name)
        return on.library.attribute_or(x, name, default[0])
    there = _has_attribute(on, x, name.value)
    return Const(Bool, there) if target is hasattr else on.attribute(x, name.value) if there else default[0]


def _is_called(on) -> bool:
    """Whether the program calls the result of this instruction."""
    shape, result = on.analysis.shape, on.inst.result
    return any([reader.op in (generic.CALL, generic.CALL_STAR) and reader.args[0] is result
                for block in shape.users.get(result, ()) for reader in block.insts])


def _start_of_name(on) -> str:
    """The constant start of the name that getattr() looks up: "visit_" for `getattr(self, "visit_" + kind)`."""
    made = on.analysis.shape.definitions.get(on.inst.args[2])
    if made is None or made.op not in (generic.BINARY, generic.STRING) or made.attrs.get("op", "+") != "+":
        return ""
    first = on.written(made.args[0])
    return first if type(first) is str else ""


def _object_has(on, x: Expr, name: Const) -> Expr:
    """hasattr(x, "name") of an object of a class of the program. Where the class decides, it is a constant, so that a
    branch for objects of other classes is not compiled."""
    cls, asked = x.type.cls, boxed.by_python(hasattr, x, name, type=Bool)
    if any([own(cls, hook) is not UNWRITTEN for hook in ("__getattribute__", "__getattr__")]) or on.class_variable(
            cls, name.value) is not None:
        return asked
    value = on.class_attribute(cls, name.value)
    if isinstance(value, _METHODS):
        return Const(Bool, True)
    if value is UNKNOWN and not cls.__dictoffset__:
        return Const(Bool, False)
    if value is UNKNOWN and name.value[:2] == name.value[-2:] == "__":  # compiled code stores none under such a name
        return on.library.absent(asked, name)
    return asked


def _has_attribute(on, x: Expr, name: str) -> bool:
    """Whether a value has an attribute, where that is known when the function is compiled."""
    t = x.type
    holder = t.value if isinstance(t, Singleton) else None
    if isinstance(holder, pytypes.ModuleType):
        if on.may_change(holder):
            on.session.depend(vars(holder), name, vars(holder).get(name, UNKNOWN))
        return hasattr(holder, name)
    if isinstance(holder, type):
        return on.class_attribute(holder, name) is not UNKNOWN or hasattr(type(holder), name)
    if isinstance(t, Tuple) and t.cls is not None:
        return on.class_attribute(t.cls, name) is not UNKNOWN
    cls = type(holder) if isinstance(t, Singleton) else on.library.class_of(t)
    if cls is None or isinstance(t, Function) or not (is_fixed(cls) or isinstance(holder, enum.Enum)):
        raise NotNative(f"what attributes {describe(t)} has is not known when the function is compiled",
                        "decide outside the compiled function")
    on.class_attribute(cls, name)
    return hasattr(cls if holder is None else holder, name)
