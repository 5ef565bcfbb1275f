"""numba.extending: meanings for functions, methods and attributes in compiled code, written in Python.

`overload(function)` decorates a function of types, which returns the Python function that is compiled for them, or
None; a function decorated by `intrinsic` returns LLVM code. Functions that register models and boxing are
accepted: objects of a program's classes are compiled as they are.
"""
from __future__ import annotations

import copy
import ctypes
import importlib
import inspect
import operator
from functools import partial, wraps
from types import FunctionType, ModuleType, SimpleNamespace

import numpy as np

from ..base.lazy import lazy
from ..infer.constants import constant
from ..infer.meaning import Apply, CallValue, Mismatch, NeedsDisplays, NotConstant, NotNative
from ..lib import extended
from ..ops.structure import METHOD_MAKE
from ..pipeline import portable
from ..types import kinds
from ..types.classes import FIXED_MODULES
from ..types.lattice import dtype_of, numpy_counterpart
from . import errors, types
from .absent import NotThere, module_attribute
from .frozen import copied
from .special import typeof_impl

__all__ = ["NativeValue", "SentryLiteralArgs", "box", "get_cython_function_address", "infer", "infer_getattr",
           "infer_global", "intrinsic", "is_jitted", "lower_builtin", "lower_cast", "lower_constant", "lower_getattr",
           "lower_getattr_generic", "lower_setattr", "lower_setattr_generic", "make_attribute_wrapper", "models",
           "overload", "overload_attribute", "overload_classmethod", "overload_method", "reflect", "register_jitable",
           "register_model", "type_callable", "typeof_impl", "unbox"]


_decorators, _experimental = lazy("pyjitc.numba.decorators"), lazy("pyjitc.numba.experimental")
_intrinsics = lazy("pyjitc.numba.intrinsics")
_meanings = lazy("pyjitc.numba.meanings")
_special, _stages = lazy("pyjitc.numba.special"), lazy("pyjitc.pipeline.stages")


class Refused(Mismatch):
    """Raised where an overload raises one of Numba's errors for the types of the arguments."""


class NotLiteral(Refused, NotConstant):
    """Raised where an overload asks for the values of arguments."""


def overload(function, jit_options={}, strict=True, inline="never", prefer_literal=False, **options):
    """Decorator that defines the meaning of calls of `function` in compiled code::

        @overload(len)
        def _(x):
            if isinstance(x, types.Integer):
                return lambda x: 64
    """
    def decorate(typed):
        known = extended.FUNCTIONS.get(id(function))
        meanings = known.keywords["meanings"] if isinstance(known, partial) else []
        # the first that accepts the types is used
        meanings.append(partial(_implementation, typed, prefer_literal, of=function))
        extended.FUNCTIONS[id(function)] = partial(_called, function=function, meanings=meanings)
        if type(function) is not FunctionType or str(function.__module__).partition(".")[0] in FIXED_MODULES:
            extended.OF_LIBRARY.append(id(function))
        if function in _OPERATORS:
            extended.OPERATORS.setdefault(_OPERATORS[function], []).append(meanings[-1])
        return typed

    return decorate


# Functions with the meaning of an operator -> the name of the operation.
_OPERATORS = {getattr(operator, name): name for name in (
    "add sub mul truediv floordiv mod pow matmul lshift rshift and_ or_ xor iadd isub imul itruediv ifloordiv imod "
    "ipow imatmul ilshift irshift iand ior ixor neg pos invert eq ne lt le gt ge contains getitem setitem delitem "
    "truth").split()} | {len: "len", bool: "truth"}


def overload_method(typ, attr, prefer_literal=False, **options):
    """Decorator that defines the meaning of x.attr(...) for x of a type of the class `typ`."""
    def decorate(typed):
        extended.METHODS.setdefault(attr, []).append(
            partial(_method, typ=typ, typed=typed, prefer_literal=prefer_literal))
        extended.ATTRIBUTES.setdefault(attr, []).append(partial(_is_method, typ=typ, name=attr))
        return typed

    return decorate


def overload_attribute(typ, attr, **options):
    """Decorator that defines the meaning of x.attr for x of a type of the class `typ`."""
    def decorate(typed):
        extended.ATTRIBUTES.setdefault(attr, []).append(partial(_method, typ=typ, typed=typed))
        return typed

    return decorate


def register_jitable(*args, **options):
    """The function itself: compiled functions can call any Python function."""
    if args:
        return _decorators.outlined(args[0])
    return _decorators.outlined


def intrinsic(*args, prefer_literal=False, **options):
    """Decorator of a function that generates LLVM code: it is called with a context and the types of the arguments, and
    returns the signature and the function that generates the code, or None."""
    if not args:
        return lambda function: intrinsic(function, prefer_literal=prefer_literal)
    function = args[0]

    @wraps(function)
    def called(*args, **kwargs):
        raise NotImplementedError(f"{function.__name__}() is an intrinsic: it generates code for compiled functions; "
                                  "call it inside a function that njit compiles")

    called.__kwdefaults__ = {"code": function.__code__}  # code that calls the intrinsic depends on its code
    called._defn = function
    extended.FUNCTIONS[id(called)] = partial(_intrinsic, function=function, prefer_literal=prefer_literal,
                                             called=called)
    return called


def _intrinsic(args, kwargs, function, prefer_literal, called):
    given = [_type(x) for x in args]
    try:
        bound = inspect.signature(function).bind(None, *given, **kwargs)
    except TypeError as error:
        raise Mismatch(f"{function.__name__}(): {error}") from None
    operands = [x for name, x in zip(list(bound.arguments)[1:], [*args, *kwargs.values()])]
    asked = [_type(x) for x in operands]
    plain = [types.unliteral(t) for t in asked]
    try:
        return _intrinsics.meaning(operands, asked if prefer_literal else plain, function)
    except (errors.TypingError, errors.NumbaError) as error:
        raise Mismatch(getattr(error, "msg", None) or str(error).splitlines()[0]) from None


def is_jitted(function) -> bool:
    return portable.plain_function(function) is not None and type(function) is not FunctionType


class SentryLiteralArgs:
    """Says which arguments of an overload have to be literals:
    `SentryLiteralArgs(["axis"]).for_function(f).bind(a, axis)` raises ForceLiteralArg where axis is none."""

    def __init__(self, literal_args):
        self.literal_args, self.pysig = tuple(literal_args), None

    def for_function(self, func):
        return self.for_pysig(inspect.signature(func))

    def for_pysig(self, pysig):
        found = SentryLiteralArgs(self.literal_args)
        found.pysig = pysig
        return found

    def bind(self, *args, **kwargs):
        bound = self.pysig.bind(*args, **kwargs)
        names = list(self.pysig.parameters)
        wanted = [name for name in self.literal_args if not isinstance(bound.arguments.get(name), types.Literal)]
        if wanted:
            raise errors.ForceLiteralArg({names.index(name) for name in wanted})
        return bound


# ---------------------------------------------------------------- rules


def _called(args, kwargs, function, meanings):
    """The call of the first overload that applies. One that raises an error of Numba does not; the error counts where
    nothing else applies."""
    refused = None
    for meaning in meanings:
        try:
            found = meaning(args, kwargs)
        except Refused as error:
            refused = refused or error
        else:
            if found is not None:
                return found
    if _stages.LIBRARY.rule_for(function, own=True) is not None:
        return None
    if refused is not None:
        raise refused
    operands = [*args, *kwargs.values()]
    compared = None if kwargs else _compared(args, function, meanings)
    if compared is not None:
        return compared
    raise _refusal(f"no overload of {getattr(function, '__name__', function)}() accepts "
                   f"({', '.join(str(_type(x)) for x in operands)})",
                   "convert the arguments, or write an overload for these types", operands,
                   _meanings.NoOverload)


def _compared(args, function, meanings):
    """A call that compares the first argument that is no constant with those that a loop unrolls, and calls the
    function with the constant; None where no overload accepts one of these."""
    at = next((n for n, x in enumerate(args) if not x.known), None)
    if at is None:
        return None
    names = [f"x{n}" for n in range(len(args))]
    lines = []
    for value in _meanings.unrolled_constants():
        given = [*args[:at], constant(value), *args[at + 1:]]
        if given[at].type is args[at].type and any([meaning(given, {}) is not None for meaning in meanings]):
            passed = ", ".join([*names[:at], repr(value), *names[at + 1:]])
            lines += [f"    if {names[at]} == {value!r}:", f"        return function({passed})"]
    if not lines:
        return None
    refused = f"no overload of {getattr(function, '__name__', function)}() accepts this item of literal_unroll()"
    text = "\n".join([f"def compared({', '.join(names)}):", *lines, f"    raise TypeError({refused!r})"])
    space = {"function": function, "__name__": __name__}
    exec(text, space)
    return CallValue(constant(space["compared"]), *args)


def _is_of(x, typ) -> bool:
    receiver = types.of(x.type)
    return isinstance(receiver, typ) if isinstance(typ, type) else receiver == typ


def _method(args, kwargs, typ, typed, prefer_literal=False):
    return _implementation(typed, prefer_literal, args, kwargs) if _is_of(args[0], typ) else None


def _is_method(args, kwargs, typ, name):
    return Apply(METHOD_MAKE, args[0], name=name) if _is_of(args[0], typ) else None


def _type(x) -> types.Type:
    """The Numba type of an operand, for overloads; for constants, the type of the value."""
    if isinstance(x.type, kinds.Singleton):
        try:
            return _special.typeof(x.type.value)
        except ValueError:
            return types.Dummy(str(x.type))
    if x.known and type(x.value) in (str, bool, int):
        return types.literal(x.value)
    return _type_of(x.type)


def _type_of(t: kinds.Type) -> types.Type:
    """The Numba type for values of type t: of a list display, that of the list or tuple that it stands for."""
    if isinstance(t, kinds.ListDisplay):
        items = [_type_of(part) for part in t.parts]
        common = _common(t.parts)
        if common is None and items and types.is_homogeneous(*items):
            common = items[0]
        if common is not None or not items:
            return types.List(common or types.undefined, True)
        found = types.LiteralList(items)
        found.types, found.count = tuple(items), len(items)
        return found
    if isinstance(t, kinds.DictDisplay):
        values = [_type_of(part) for part in t.parts]
        if values and all([_converts(part, t.parts[0]) for part in t.parts]):
            return types.DictType(types.unicode_type, values[0])
        return types.LiteralStrKeyDict(dict(zip(map(types.literal, t.names), values)))
    if isinstance(t, kinds.Union):
        return _common(t.members) or types.of(t)
    if isinstance(t, (kinds.List, kinds.Set)):
        return (types.List if isinstance(t, kinds.List) else types.Set)(_type_of(t.item), True)
    if isinstance(t, kinds.Dict):
        return types.DictType(_type_of(t.keys), _type_of(t.values))
    return types.of(t)


def _common(given) -> types.Type | None:
    """The type to which Numba converts the items of a list of numbers of these types; None for other items."""
    if not given or not all(map(kinds.is_number, given)):
        return None
    return types.from_dtype(np.result_type(*[dtype_of(numpy_counterpart(t)) for t in given]))


def _converts(t: kinds.Type, first: kinds.Type) -> bool:
    """Whether Numba converts a value of type t in a dict whose first value has the type `first`."""
    return t == first or kinds.is_number(t) and kinds.is_number(first) and np.can_cast(
        dtype_of(numpy_counterpart(t)), dtype_of(numpy_counterpart(first)))


def _refusal(text: str, hint: str, operands, kind: type[Mismatch] = Mismatch) -> Mismatch:
    """The error of overloads that refuse these operands. They may be asked again with the type of a dict display."""
    if any([isinstance(x.type, kinds.Dict) and isinstance(x.type.values, kinds.Union) for x in operands]):
        return NeedsDisplays(text, hint)
    return kind(text, hint)


def _implementation(typed, prefer_literal, args, kwargs, known=None, of=None):
    """The call of the function that the overload returns for these operands, or None. The overload is called with
    constants as literal types and with their ordinary types, in the order that it prefers. known: the type of each
    structure among the arguments; of: the function that has the overload."""
    operands = [*args, *kwargs.values()]
    given, named = [_type(x) for x in args], {name: _type(x) for name, x in kwargs.items()}
    if known:
        given = [known.get(k, t) for k, t in enumerate(given)]
    try:
        inspect.signature(typed).bind(*given, **named)
    except TypeError:
        return None
    asked = [(given, named)]
    if any(isinstance(t, types.Literal) for t in [*given, *named.values()]):
        plain = [types.unliteral(t) for t in given], {name: types.unliteral(t) for name, t in named.items()}
        asked.insert(prefer_literal, plain)
    try:
        made = _first_made(typed, asked)
    except (errors.TypingError, errors.NumbaError) as error:
        raise _refusal(getattr(error, "msg", None) or str(error).splitlines()[0], "", operands,
                       NotLiteral if isinstance(error, errors.ForceLiteralArg) else Refused) from None
    except types.FieldsWanted:
        return CallValue(constant(_with_fields(typed, prefer_literal, tuple(given), tuple(kwargs))), *args,
                         keywords=kwargs)
    except NotThere as error:
        raise Mismatch(f"the overload {typed.__qualname__}() uses a part of Numba that pyjitc does not have: "
                       f"{error}", "write the function in Python, with NumPy's functions") from None
    except Exception as error:
        raise _refusal(f"the overload {typed.__qualname__}() raises {type(error).__name__}: {error}", "", operands,
                       NotNative) from error
    if made is None:
        return None
    function = portable.plain_function(_decorators.outlined(made))
    if function is None:
        raise Mismatch(f"the overload {typed.__qualname__}() returned {made!r} instead of a Python function",
                       "return the function to compile, or None where the overload does not apply")
    if function is of:  # its overloads do not apply to its own code
        function = copied(function, function.__globals__, function.__closure__)
    return CallValue(constant(function), *args, keywords=kwargs)


def _first_made(typed, asked):
    """The first result of the overload that is not None, and does not ask by literally() for a constant that other
    types have. An error counts where no other types are accepted."""
    refused = None
    for given, named in asked:
        try:
            made = typed(*given, **named)
        except (errors.TypingError, errors.NumbaError) as error:
            refused = refused or error
        else:
            if made is not None and not _asks_for_literals(made, given, named, asked[-1]):
                return made
    if refused is not None:
        raise refused
    return None


def _asks_for_literals(made, given, named, literal) -> bool:
    """Whether the function that an overload has made passes one of its parameters to literally(), whose type is no
    literal but could be one. literal: the types of the arguments, with literals."""
    if (given, named) == literal or not isinstance(made, FunctionType) or "literally" not in made.__code__.co_names:
        return False
    wanted = _meanings.passed_to_literally(made)
    parameters = inspect.signature(made)
    found, best = (parameters.bind(*one, **other).arguments for one, other in ((given, named), literal))
    return any([isinstance(best.get(name), types.Literal) and not isinstance(found[name], types.Literal)
                for name in wanted])


_staged: dict = {}


def _with_fields(typed, prefer_literal, given, named) -> FunctionType:
    """A function that reads the fields of the structures among its arguments, so that inference knows their types, and
    passes them on to where the overload is asked again. given: the types of the arguments; named: the names of the
    others."""
    structures = {k: t for k, t in enumerate(given) if isinstance(t, types.StructRef) and not t.fields_known}
    key = typed, prefer_literal, tuple((k, type(t)) for k, t in structures.items()), len(given), named
    if key not in _staged:
        fields = [f"x{k}.{name}" for k, t in structures.items() for name in t.declared]
        names = [f"x{k}" for k in range(len(given))]
        text = (f"def asked({', '.join([*names, *named])}):\n"
                f"    return chosen({', '.join([*fields, *names, *(f'{name}={name}' for name in named)])})")
        chosen = SimpleNamespace()
        extended.FUNCTIONS[id(chosen)] = partial(_of_fields, typed, prefer_literal, structures)
        namespace = {"__name__": __name__, "chosen": chosen}
        exec(text, namespace)
        _staged[key] = namespace["asked"]
    return _staged[key]


def _of_fields(typed, prefer_literal, structures, args, kwargs):
    known, at = {}, 0
    for k, t in structures.items():
        known[k] = copy.copy(t)
        types.StructRef.__init__(known[k], [(name, types.unliteral(_type(args[at + n])))
                                            for n, name in enumerate(t.declared)])
        known[k].fields_known = True
        at += len(t.declared)
    return _implementation(typed, prefer_literal, args[at:], kwargs, known)


# ---------------------------------------------------------------- what registers the parts of a type


def _accepted(*args, **kwargs):
    """A decorator without effect, in place of those that register how Numba represents, boxes or lowers a type. Objects
    of a program's classes need no registration here; other values of the type are refused when they are passed."""
    return lambda function: function


box = unbox = reflect = register_model = lower_builtin = lower_cast = lower_getattr = lower_setattr = _accepted
lower_getattr_generic = lower_setattr_generic = lower_constant = infer_global = overload_classmethod = _accepted


def type_callable(function):
    """Has no effect, like `_accepted`: the class is called as it is."""
    return lambda typed: typed


def infer(template):
    return template


infer_getattr = infer


def make_attribute_wrapper(typeclass, struct_attr, python_attr):
    """Has no effect: attributes of objects are read directly."""


class NativeValue:
    """The result of functions that `unbox` registers in Numba."""

    def __init__(self, value, is_error=None, cleanup=None):
        self.value, self.is_error, self.cleanup = value, is_error, cleanup


class _Model:
    def __init__(self, *args, **kwargs):
        self.given = args


models = ModuleType("pyjitc.numba.extending.models")
vars(models).update((name, type(name, (_Model,), {})) for name in (
    "DataModel", "OpaqueModel", "PointerModel", "PrimitiveModel", "StructModel", "TupleModel", "UniTupleModel"))


def get_cython_function_address(module_name: str, function_name: str) -> int:
    """The address of a function that a module of Cython exports."""
    exported = importlib.import_module(module_name).__pyx_capi__
    if function_name not in exported:
        raise ValueError(f"No function '{function_name}' found in __pyx_capi__ of '{module_name}'")
    capsule = exported[function_name]
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name(capsule))


def __getattr__(name: str):
    if name == "as_numba_type":
        return _experimental.as_numba_type
    return importlib.import_module(f"{__package__}.config") if name == "config" else _others(name)


_others = module_attribute("extending", frozenset((
    "BoundLiteralArgs", "include_path", "sentry_literal_args", "ReduceMixin")))
