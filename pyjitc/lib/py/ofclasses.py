"""The protocol of objects of the program's classes: plain classes, dataclasses and classes with slots. An object is the
Python object itself; its attributes are read and written in its own memory, and its methods are compiled."""
from __future__ import annotations

import functools
import operator
from types import FunctionType, MemberDescriptorType

from ...base.errors import with_article
from ...base.lazy import lazy
from ...infer.constants import constant
from ...infer.meaning import (
    Apply, Call, CallValue, ClassAttribute, Const, Expr, FieldGet, FieldSet, Mismatch, NotNative, Throw,
)
from ...infer.names import describe
from ...ops import structure
from ...ops.objects import OBJECT_NEW, OBJECT_SAME
from ...runtime.dispatcher import Callable_
from ...types.classes import (
    DECLARED_FIELDS, DECLARED_TYPES, HIDDEN_FIELDS, UNWRITTEN, is_descriptor, is_property, own, stored_fields,
)
from ...types import kinds
from ...types.kinds import Int, NoneType, ObjectOf, Singleton, Str, Super
from .. import operations
from ..build import cast, provoked
from ..intrinsics import NOTHING, iterate
from ..protocol import Protocol, boxed, by_python
from ..rule import intrinsic, rule
from . import classes
from .instances import OfClass, hashed, iterator
from .interpreted import call_python

__all__ = ["PROTOCOLS", "make", "make_as_type"]

caches, dataclasses, dis = lazy("pyjitc.lib.py.caches"), lazy("dataclasses"), lazy("dis")

_ABSTRACT = 1 << 20  # Py_TPFLAGS_IS_ABSTRACT
_MAX_NAMES = 24  # the most attributes among which getattr() and setattr() with a computed name choose
_METHODS = (FunctionType, Callable_, classmethod, functools._lru_cache_wrapper)


def make(cls: type, args, kwargs) -> Expr:
    """cls(*args, **kwargs)"""
    if not _is_made_by_type(cls):
        what = "its own __new__" if cls.__new__ is not object.__new__ else f"the metaclass {type(cls).__qualname__}"
        raise NotNative(f"'{cls.__qualname__}' has {what}, which makes its objects in a way that is not compiled",
                        "make the object outside the compiled function, and pass it")
    return make_as_type(cls, args, kwargs)


def make_as_type(cls: type, args, kwargs) -> Expr:
    """type.__call__(cls, *args, **kwargs), of a class without a __new__."""
    if cls.__flags__ & _ABSTRACT:
        return Throw(TypeError, provoked(cls))
    if own(cls, "__init__") is UNWRITTEN:
        if args or kwargs:
            return Throw(TypeError, f"{cls.__name__}() takes no arguments")
        return Apply(OBJECT_NEW, cls=cls)
    return CallValue(constant(initialised), ClassAttribute(cls, "__init__"), Apply(OBJECT_NEW, cls=cls), *args,
                     keywords=kwargs)


def _is_made_by_type(cls: type) -> bool:
    return type(cls).__call__ is type.__call__ and cls.__new__ is object.__new__


def initialised(init, made, /, *args, **kwargs):
    return checked(init(made, *args, **kwargs), made)


def checked(found, made):
    if found is not None:
        raise TypeError(f"__init__() should return None, not '{type(found).__name__}'")
    return made


def new_object(cls: type) -> Expr | None:
    """An object of a class of the program before its `__init__`; None where the class makes its objects itself."""
    return Call(allocated, constant(cls)) if _is_made_by_type(cls) else None


@intrinsic
def allocated(cls):
    return Apply(OBJECT_NEW, cls=cls.type.value)


def _is_method(value) -> bool:
    return isinstance(value, _METHODS)


def _bound(x: Expr, cls: type, name: str, value) -> Expr | None:
    """The attribute of object x for `value`, which its class stores under a name: a method is bound, a property is
    called. None for a value that is no method, property or other descriptor."""
    if is_property(value):
        if value.fget is None:
            return by_python(getattr, x, constant(name))
        return CallValue(constant(value.fget), x)
    if _is_method(value):
        return Apply(structure.METHOD_MAKE, x, name=name)
    if type(value) is staticmethod:
        return constant(value.__func__)
    if type(value) is functools.cached_property and cls.__dictoffset__:
        return Call(caches.cached_property, x, constant(name), constant(value.func))
    if is_descriptor(value):
        asked = ClassAttribute(type(value), "__get__"), constant(value), x, constant(x.type.cls)
        stores = not cls.__dictoffset__ or _stores(value)
        return CallValue(*asked) if stores else Call(caches.stored_or_asked, constant(name), *asked)
    if hasattr(type(value), "__get__"):
        raise NotNative(f"{cls.__name__}.{name} is {with_article(type(value).__name__)}, whose own code "
                        "finds the attribute",
                        "write a property or a method instead")
    return None


def _stores(value) -> bool:
    """Whether an attribute of a class is found before the object's own, since its class says how it is stored."""
    return hasattr(type(value), "__set__") or hasattr(type(value), "__delete__")


class OfObject(OfClass):
    """The protocol of objects of a class of the program. Where the class defines no method, that of `object` is used:
    `==` is `is` then."""

    has_identity = True

    def identical(self, x, y):
        if x.type is y.type:
            return Apply(OBJECT_SAME, x, y)
        apart = isinstance(x.type, ObjectOf) and isinstance(y.type, ObjectOf) and x.type.cls is not y.type.cls
        return constant(False) if apart else None

    def compare(self, op, x, y):
        found = classes.compared(op, x, y)
        if found is None and op in ("==", "!="):
            same = Apply(OBJECT_SAME, x, y) if x.type is y.type else constant(False)
            return same if op == "==" else CallValue(constant(operator.not_), same)
        return found

    def attribute(self, x, name):
        cls = x.type.cls
        for special in ("__getattribute__", "__getattr__"):
            if own(cls, special) is not UNWRITTEN and (special == "__getattribute__" or own(cls, name) is UNWRITTEN):
                raise NotNative(f"'{cls.__qualname__}' has its own {special}, which compiled code does not call",
                                "call it outside the compiled function, or write a method")
        if name == "__class__":
            return Const(Singleton(cls), cls)
        hidden = _hidden(cls, name)
        if hidden is not None:
            return FieldGet(x, hidden)
        value = own(cls, name)
        if value is UNWRITTEN:
            if name[:2] == name[-2:] == "__" and name != "__orig_class__":  # which objects of generic classes have
                return None
            return FieldGet(x, name)
        if type(value) is MemberDescriptorType:
            return FieldGet(x, name)
        found = _bound(x, cls, name, value)
        if found is not None:
            return found
        if not cls.__dictoffset__:
            return constant(value)
        return FieldGet(x, name) if name in stored_fields(cls) else FieldGet(x, name, value)

    def set_attribute(self, x, name, value):
        cls = x.type.cls
        hidden = _hidden(cls, name)
        if hidden is not None:
            return FieldSet(x, hidden, value)
        if DECLARED_FIELDS in vars(cls):
            return CallValue(constant(stored), ClassAttribute(cls, DECLARED_FIELDS), x, constant(name), value)
        if own(cls, "__setattr__") is not UNWRITTEN:
            params = getattr(cls, "__dataclass_params__", None)
            if params is not None and params.frozen and name in cls.__dataclass_fields__:
                return Throw(dataclasses.FrozenInstanceError, f"cannot assign to field '{name}'")
            return CallValue(ClassAttribute(cls, "__setattr__"), x, constant(name), value)
        return store(x, name, value)

    def delete_attribute(self, x, name):
        if own(x.type.cls, "__delattr__") is not UNWRITTEN:
            raise NotNative(f"'{x.type.cls.__qualname__}' has its own __delattr__, which compiled code does not call",
                            "delete the attribute outside the compiled function")
        found = own(x.type.cls, name)
        if is_property(found) and found.fdel is not None:
            return CallValue(constant(found.fdel), x)
        if is_descriptor(found, "__delete__"):
            return CallValue(ClassAttribute(type(found), "__delete__"), constant(found), x)
        return by_python(delattr, x, constant(name))

    def setitem(self, x, i, value, asks):
        function = classes.own_method(x, "__setitem__")
        if function is None:
            return super().setitem(x, i, value, asks)
        return CallValue(function, x, i, value)

    def delitem(self, x, i):
        function = classes.own_method(x, "__delitem__")
        return super().delitem(x, i) if function is None or i is None else CallValue(function, x, i)

    def iterate(self, x):
        function = classes.own_method(x, "__iter__")
        return super().iterate(x) if function is None else Call(begun, function, x)

    def step(self, state):
        return Call(stepped, ClassAttribute(state.type.cls, "__next__"), state)

    def last_step(self, state):
        return Call(stepped_last, ClassAttribute(state.type.cls, "__next__"), state)

    def method(self, x, name, args, kwargs):
        value = own(x.type.cls, name)
        if type(value) is classmethod:
            return CallValue(constant(value.__func__), Const(Singleton(x.type.cls), x.type.cls), *args,
                             keywords=kwargs)
        return CallValue(constant(value), x, *args, keywords=kwargs)


def _hidden(cls: type, name: str) -> str | None:
    """The name under which objects of a class store an attribute, if it differs from the attribute's; else None."""
    names = vars(cls).get(HIDDEN_FIELDS)
    return None if names is None else names.get(name)


def store(x: Expr, name: str, value: Expr) -> Expr:
    """The effect of object.__setattr__(x, name, value)."""
    cls = x.type.cls
    found = own(cls, name)
    if is_property(found) and found.fset is not None:
        return CallValue(constant(found.fset), x, value)
    if name == "__class__" or name == "__dict__":
        raise NotNative(f"assigning to the {name} of an object is not compiled", "assign outside the compiled function")
    if type(found) is MemberDescriptorType:
        return FieldSet(x, name, value)
    if found is not UNWRITTEN and _stores(found):
        if is_descriptor(found, "__set__"):
            return CallValue(ClassAttribute(type(found), "__set__"), constant(found), x, value)
        if is_property(found) or own(type(found), "__set__") is UNWRITTEN:
            # the interpreter raises the error for the missing method
            return by_python(setattr, x, constant(name), value)
        raise NotNative(f"{cls.__name__}.{name} is {with_article(type(found).__name__)}, whose own code "
                        "stores the attribute",
                        "write a property or a method instead")
    if not cls.__dictoffset__:
        return by_python(setattr, x, constant(name), value)
    if _is_method(found) or type(found) is staticmethod:
        raise NotNative(f"assigning to '{name}', which is a method of '{cls.__qualname__}', is not compiled",
                        "give the attribute another name")
    return FieldSet(x, name, value)


@intrinsic
def stored(fields, x, name, value):
    """x.name = value, where the class of x declares `fields`."""
    declared = getattr(x.type.cls, DECLARED_TYPES)
    t = declared.get(name.value)
    if t is None:
        return store(x, name.value, value)
    through = declared.through(name.value)
    base = next((m for m in kinds.members_of(t) if m is not kinds.NoneType), t)
    if through is not None and (t is base or value.type is not kinds.NoneType):
        if isinstance(value.type, kinds.Union) and all(map(kinds.is_number, value.type.members)):
            cls = {kinds.Bool: bool, kinds.Int: int, kinds.Float: float}.get(base, complex)
            value = Call(of_number, value, constant(cls))
            return CallValue(constant(stored), fields, x, name, value)
        if kinds.is_number(value.type) or isinstance(value.type, kinds.Dual):
            value = cast(cast(value, through), base)
        elif t is base or not isinstance(value.type, kinds.Union):
            raise NotNative(f"the field '{name.value}' of '{x.type.cls.__name__}' is declared as {through}, and cannot "
                            f"hold a value of type {value.type}", "store a number")
    elif isinstance(base, kinds.Array) and (value.type is not kinds.NoneType or t is base):
        held = value.type
        if isinstance(held, kinds.Array) and (held.dtype, held.ndim) != (base.dtype, base.ndim):
            raise NotNative(f"the field '{name.value}' of '{x.type.cls.__name__}' is declared as {base}, and cannot "
                            f"hold {held}", "convert it with astype(), or declare another type")
    return store(x, name.value, value)


def of_number(x, cls):
    return cls(x)


@intrinsic
def iteration(x):
    """The state of a loop over the result of __iter__."""
    if not isinstance(x.type, ObjectOf):
        return Call(iterate, Call(iterator, x))
    if classes.own_method(x, "__next__") is None:
        raise Mismatch(f"iter() returned non-iterator of type '{x.type.cls.__name__}'")
    return x


def begun(function, x):
    return iteration(function(x))


def stepped(function, state):
    try:
        item = function(state)
    except StopIteration:
        return False, NOTHING, state
    return True, item, state


def stepped_last(function, state):
    try:
        item = function(state)
    except StopIteration as end:
        return False, NOTHING, state, end.value
    return True, item, state, NOTHING


def next_or(function, x, default):
    try:
        return function(x)
    except StopIteration:
        return default


def attribute_or(x, name, default):
    try:
        return getattr(x, name)
    except AttributeError:
        return default


def absent(found, name):
    """False, a constant, for an attribute that the class does not have and compiled code cannot store."""
    if found:
        raise TypeError("an object stores an attribute of its own under a special name, which hasattr() of compiled "
                        "code does not find: " + name)
    return False


def attribute_named(x: Expr, name: Expr, default, start: str | None) -> Expr:
    """getattr(x, name, *default) with a name that is computed: it is compared with those that the class knows. start:
    the beginning of the name where the result is called, so that it may be a method; else None."""
    what = "attributes that getattr() may ask for"
    names = constant(() if x.type is NoneType else _stored_names(x.type.cls, what) if start is None else
                     _names_of_methods(x.type.cls, what, start))
    return Call(one_or, x, name, names, *default) if default else Call(one_of, x, name, names)


def one_of(x, name, names):
    if len(names) == 0:
        by_interpreter(x, name)  # raises AttributeError
        raise TypeError("getattr() of compiled code finds the attributes that methods of the class assign, and the "
                        "methods where the result is called, and no others: " + name)
    if name == names[0]:
        return getattr(x, names[0])
    return one_of(x, name, names[1:])


def one_or(x, name, names, default):
    try:
        return one_of(x, name, names)
    except AttributeError:
        return default


@intrinsic
def by_interpreter(x, name):
    return Apply(structure.DISCARD, by_python(getattr, x, name))


def store_directly(x, name, value, names):
    if len(names) == 0:
        store_by_interpreter(object.__setattr__, x, name, value)
    elif name == names[0]:
        object.__setattr__(x, names[0], value)
    else:
        store_directly(x, name, value, names[1:])


def store_one_of(x, name, value, names):
    if len(names) == 0:
        store_by_interpreter(setattr, x, name, value)
    elif name == names[0]:
        setattr(x, names[0], value)
    else:
        store_one_of(x, name, value, names[1:])


@intrinsic
def store_by_interpreter(function, x, name, value):
    return Apply(structure.DISCARD, CallValue(function, boxed(x), name, value))


def _stored_names(cls: type, what: str) -> tuple[str, ...]:
    """The names of the attributes that objects of a class have, as far as the class says: slots, fields, properties,
    what its methods assign, and the names that its descriptors hold."""
    found = stored_fields(cls)
    for base in cls.__mro__[:-1]:
        for name, value in vars(base).items():
            functions = [value.fget, value.fset] if is_property(value) else [getattr(value, "__func__", value)]
            found.update(inst.argval for function in functions if type(function) is FunctionType
                         for inst in dis.get_instructions(function) if inst.opname == "STORE_ATTR")
            if is_property(value) or type(value) in (MemberDescriptorType, int, float, str, bool):
                found.add(name)
            elif is_descriptor(value):
                found.update(held for held in getattr(value, "__dict__", {}).values() if type(held) is str)
    return _few(cls, [name for name in found if not name.startswith("__")], what)


def _names_of_methods(cls: type, what: str, start: str) -> tuple[str, ...]:
    """The names of the methods of a class that begin with `start`."""
    return _few(cls, {name for base in cls.__mro__[:-1] for name, value in vars(base).items()
                      if name.startswith(start) and not name.startswith("__") and _is_method(value)}, what)


def _few(cls: type, found, what: str) -> tuple[str, ...]:
    names = tuple(sorted(found))
    if len(names) > _MAX_NAMES:
        raise NotNative(f"'{cls.__name__}' has {len(names)} {what}; at most {_MAX_NAMES} are compiled",
                       "compare the name with each that it may be")
    return names


def _next(args, kwargs):
    function = classes.own_method(args[0], "__next__")
    if function is None:
        raise Mismatch(f"'{args[0].type.cls.__name__}' object is not an iterator", "call iter() on it first")
    return CallValue(function, args[0]) if len(args) == 1 else Call(next_or, function, *args[:2])


def _checked_name(args):
    if len(args) > 1 and args[1].type is not Str and kinds.is_scalar(args[1].type):
        raise Mismatch(f"attribute name must be string, not {describe(args[1].type)}")


def _setattr(args, kwargs):
    _checked_name(args)
    if kwargs or len(args) != 3 or args[1].type is not Str or not isinstance(args[0].type, ObjectOf):
        raise NotNative("setattr() is compiled for objects of the program's classes, with a name and a value")
    if not args[1].known:
        names = constant(_stored_names(args[0].type.cls, "attributes that setattr() may assign"))
        return Call(store_one_of, *args, names)
    return _OBJECT.set_attribute(args[0], args[1].value, args[2])


def _delattr(args, kwargs):
    _checked_name(args)
    if kwargs or len(args) != 2 or args[1].type is not Str or not isinstance(args[0].type, ObjectOf):
        raise NotNative("delattr() is compiled for objects of the program's classes, with a name")
    x, name = args
    if name.known:
        return Apply(structure.DISCARD, _OBJECT.delete_attribute(x, name.value))
    for cls in x.type.cls.__mro__[:-1]:
        found = next((one for one, value in vars(cls).items()
                      if one == "__delattr__" or is_property(value) and value.fdel is not None
                      or is_descriptor(value, "__delete__")), None)
        if found is not None:
            raise NotNative(f"delattr() of a name that is computed may call '{found}' of '{cls.__qualname__}', which "
                            "is not compiled", "compare the name with each that it may be")
    return Apply(structure.DISCARD, by_python(delattr, x, name))


def _hash(args, kwargs):
    is_object = len(args) == 1 and isinstance(args[0].type, ObjectOf)
    function = classes.own_method(args[0], "__hash__") if is_object else None
    return call_python(hash, *args, type=Int, kwargs=kwargs) if function is None else Call(hashed, function, *args)


def _divmod(args, kwargs):
    function = classes.own_method(args[0], "__divmod__") if isinstance(args[0].type, ObjectOf) else None
    if function is None:
        raise Mismatch(f"unsupported operand type(s) for divmod(): {describe(args[0].type)} and "
                       f"{describe(args[1].type)}")
    return CallValue(function, *args)


@rule("pow")
def _pow(base, exp, mod=None):
    if mod is None or mod.type is NoneType:
        return operations.binary("**", base, exp)
    names = ", ".join([describe(x.type) for x in (base, exp, mod)])
    function, wrong = classes.own_method(base, "__pow__"), f"unsupported operand type(s) for ** or pow(): {names}"
    if function is None:  # with three operands, `__rpow__` is not asked
        raise Mismatch(wrong)
    return Call(power_modulo, function, base, exp, mod, constant(wrong))


def power_modulo(function, base, exp, mod, otherwise):
    found = function(base, exp, mod)
    if found is NotImplemented:
        raise TypeError(otherwise)
    return found


class OfSuper(Protocol):
    """The protocol of super(): attributes of an object that classes after the given one define."""

    def _found(self, x, name):
        """(class, its attribute of that name): the first class after x.type.cls in the method resolution order that has
        it."""
        order = x.type.receiver.cls.__mro__
        for cls in order[order.index(x.type.cls) + 1:]:
            if name in vars(cls):
                return cls, vars(cls)[name]
        return None, UNWRITTEN

    def attribute(self, x, name):
        cls, value = self._found(x, name)
        if value is UNWRITTEN:
            raise Mismatch(f"'super' object has no attribute '{name}'", "", AttributeError)
        receiver = Apply(structure.STRUCT_GET, x, field="receiver")
        if cls is object:
            if name not in ("__init__", "__setattr__"):
                raise NotNative(f"object.{name} is not compiled", "write what it does")
            return Apply(structure.METHOD_MAKE, x, name=name)
        if _is_method(value):
            return Apply(structure.METHOD_MAKE, x, name=name)
        found = _bound(receiver, cls, name, value)
        return constant(value) if found is None else found

    def method(self, x, name, args, kwargs):
        cls, value = self._found(x, name)
        receiver = Apply(structure.STRUCT_GET, x, field="receiver")
        if cls is object:
            return _of_object(name, receiver, args, kwargs)
        if type(value) is classmethod:
            owner = x.type.receiver.cls
            return CallValue(constant(value.__func__), Const(Singleton(owner), owner), *args, keywords=kwargs)
        return CallValue(constant(value), receiver, *args, keywords=kwargs)


def _of_object(name: str, x: Expr, args, kwargs) -> Expr:
    """object.__init__(x) or object.__setattr__(x, "name", value)"""
    if name == "__setattr__":
        if kwargs or len(args) != 2 or args[0].type is not Str:
            raise NotNative("object.__setattr__ is compiled with a name and a value",
                            "write x.name = value where the name is known")
        if not args[0].known:
            names = constant(_stored_names(x.type.cls, "attributes that object.__setattr__() may assign"))
            return Call(store_directly, x, *args, names)
        return store(x, args[0].value, args[1])
    if args or kwargs:
        return Throw(TypeError, "object.__init__() takes exactly one argument (the instance to initialize)")
    return Const(NoneType, None)


def _own(name: str):
    def rule(args, kwargs):
        if not args or not isinstance(args[0].type, ObjectOf):
            raise NotNative(f"object.{name} is compiled for objects of the program's classes")
        return _of_object(name, args[0], args[1:], kwargs)

    return rule


_OBJECT = OfObject()
OfObject.functions = {**OfClass.functions, object.__init__: _own("__init__"), object.__setattr__: _own("__setattr__"),
                      next: _next, setattr: _setattr, delattr: _delattr, hash: _hash, divmod: _divmod, pow: _pow}
PROTOCOLS = {ObjectOf: _OBJECT, Super: OfSuper()}
