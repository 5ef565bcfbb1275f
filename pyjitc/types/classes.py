"""The attributes that a class of the program defines itself, besides those of tuple, namedtuple(), int and enum.

Compiled code treats named tuples and enum members as their standard base classes do. If a class overrides such a
behaviour by a method, the method is called, or instances of the class are refused.
"""
from __future__ import annotations

import builtins
import enum
import gc
import sys
from types import FunctionType
from typing import Any

__all__ = ["COMPARISONS", "DECLARED_FIELDS", "DECLARED_TYPES", "FIXED_MODULES", "HIDDEN_FIELDS", "MIRRORED",
           "OPERATORS", "OWN_MODULES", "STANDS_FOR", "UNARY", "UNWRITTEN", "are_plain", "defines", "fields", "is_asked",
           "is_built_in_record", "is_compiled", "is_descriptor", "is_fixed", "is_of_library", "is_part_of_library",
           "is_written", "namespace", "own", "refused_method", "stands_for", "stored_fields"]

# Packages whose attributes are assumed not to change: they have no guards.
OWN_MODULES = frozenset((__name__.partition(".")[0], "llvmlite"))
# Packages whose classes and functions are assumed not to change, and are found by their names in every process.
FIXED_MODULES = frozenset(sys.stdlib_module_names) | {"numpy", "builtins"} | OWN_MODULES

# Modules of Python's library whose functions compiled code never runs through the interpreter under njit: those that
# have a form of their own in compiled code or are refused on purpose (builtins such as `open`), those that call machine
# code, and those that inspect the interpreter's frames, which compiled code does not have.
_NOT_ASKED = {"builtins", "ctypes", "_ctypes", "pdb", "bdb", "inspect"}

# Packages whose Python functions are not compiled: they have rules, or are not supported yet. The methods of NumPy's
# classes of polynomials, and the tests of these packages, are compiled from their source.
_WITH_RULES = {"numpy", "jax", "numba"}
_COMPILED = {"numpy.polynomial._polybase"}

_OF_THEIR_OWN = (tuple, enum.Enum, int, float, BaseException)  # classes whose behaviour compiled code knows

# The attribute under which a class lists the fields that it declares, as ((name, text of the type), ...); under
# DECLARED_TYPES it has an object with `get(name)`, the type of a stored value, and `through(name)`, the NumPy type to
# which it is converted.
DECLARED_FIELDS, DECLARED_TYPES = "__pyjitc_fields__", "__pyjitc_types__"
# The attribute with an object whose `get(name)` returns the name under which objects of the class store an attribute,
# or None. (The class attribute with the attribute's own name is for the interpreter.)
HIDDEN_FIELDS = "__pyjitc_hidden__"

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement, or while the interpreter runs

UNWRITTEN = object()  # the result of `own` where none of the program's classes defines the attribute

# Operators for which compiled code calls methods of the class of a named tuple.
OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
             "@": "matmul", "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor"}
_ASKED = (frozenset(f"__{kind}{name}__" for name in OPERATORS.values() for kind in ("", "r", "i"))
          | {"__neg__", "__pos__", "__invert__", "__call__"})
# The attribute of a class of named tuples that stand for objects of a dataclass, among the arguments of derivatives and
# batches: that dataclass.
STANDS_FOR = "_stands_for"
# Methods that compiled code never needs: texts are made by the interpreter.
_HARMLESS = frozenset(f"__{name}__" for name in (
    "repr str format doc module qualname slots annotations annotate annotate_func annotations_cache match_args "
    "orig_bases dict weakref getnewargs getnewargs_ex getstate setstate reduce reduce_ex copy deepcopy replace "
    "init_subclass class_getitem sizeof dir parameters type_params firstlineno static_attributes abstractmethods "
    "slotnames").split())
# The methods that comparisons call, those that they call of the right operand, and the methods of unary operators.
COMPARISONS = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}  # x < y is the same as y > x
UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_AS_NUMBERS = ("lt", "le", "eq", "ne", "gt", "ge", "bool", "neg", "pos", "abs", "invert", "index", "int", "float",
               "round", "divmod", "len", "iter", "getitem", "contains")


# Modules of this package whose classes are compiled as those of programs.
_LIKE_PROGRAMS = frozenset((f"{__name__.partition('.')[0]}.typed",))


def is_fixed(cls: type) -> bool:
    """Whether a class is of Python's library or a package whose attributes do not change."""
    if cls.__module__ == "builtins":  # also the name of the module of code that runs in a namespace without a name
        return not cls.__flags__ & _HEAP_TYPE or getattr(builtins, cls.__name__, None) is cls
    module = str(cls.__module__)
    return module.partition(".")[0] in FIXED_MODULES and module not in _LIKE_PROGRAMS


def is_of_library(module) -> bool:
    """Whether the module of this name is of Python's own library, which the interpreter runs under njit too where it
    has no native form (infer/interpreted_library.py)."""
    root = str(module).partition(".")[0]
    return root in sys.stdlib_module_names and root not in _NOT_ASKED


def is_part_of_library(package, name: str, value) -> bool:
    """Whether `value` is the module `name` of a package of FIXED_MODULES: np.random, which is an attribute of np only
    once somebody has used it."""
    path = f"{package.__name__}.{name}"
    return path.partition(".")[0] in FIXED_MODULES and value is sys.modules.get(path)


def is_compiled(module) -> bool:
    """Whether Python functions of the module of this name are compiled from their source."""
    root, _, rest = str(module).partition(".")
    return root not in _WITH_RULES or module in _COMPILED or rest.partition(".")[0] == "tests"


def namespace(cls: type) -> dict:
    """The dict behind `cls.__dict__`, in which changes of the class are visible."""
    return gc.get_referents(vars(cls))[0]


def is_built_in_record(cls: type) -> bool:
    """Whether a class is a struct sequence of the interpreter, such as that of sys.float_info."""
    return hasattr(cls, "n_sequence_fields")


def fields(cls: type) -> tuple[str, ...]:
    """The names of the items of a tuple class, in order; none where it does not name them."""
    if is_built_in_record(cls):
        record: Any = cls
        return () if record.n_unnamed_fields else record.__match_args__
    return getattr(cls, "_fields", ())


def stored_fields(cls: type) -> set[str]:
    """The names of the fields of a dataclass that its objects store: not those of the class alone (ClassVar), nor those
    that only `__init__` takes (InitVar)."""
    if not hasattr(cls, "__dataclass_fields__"):
        return set()
    return {field.name for field in sys.modules["dataclasses"].fields(cls)}


def own(cls: type, name: str):
    """The attribute `name` that the program defined in the class or a base class; else UNWRITTEN."""
    every = not issubclass(cls, _OF_THEIR_OWN)
    for base in cls.__mro__:
        if name in vars(base) and (base is not object if every else not is_fixed(base)):
            value = vars(base)[name]
            return UNWRITTEN if _generated(value) else value
    return UNWRITTEN


def is_property(value) -> bool:
    """Whether a value in the dict of a class is a property, or of a subclass of `property` that finds, stores and
    deletes the attribute as `property` does."""
    cls = type(value)
    return cls is property or isinstance(value, property) and all(
        getattr(cls, name) is getattr(property, name) for name in ("__get__", "__set__", "__delete__"))


def is_descriptor(value, method="__get__") -> bool:
    """Whether a value in the dict of a class is an object of a class of the program that finds, stores or deletes the
    attribute by this method."""
    return not is_fixed(type(value)) and isinstance(own(type(value), method), FunctionType)


def _generated(value) -> bool:
    """Whether collections.namedtuple or the module enum, which copies operators of flags, made this attribute of the
    class."""
    function = getattr(value, "__func__", value)
    if type(function) is not FunctionType:
        return type(value).__name__ == "_tuplegetter"
    module = str(function.__globals__.get("__name__"))
    return module.startswith("namedtuple_") or module in ("collections", "enum")


def refused_method(cls: type) -> str:
    """The name of a special method that compiled code would have to call for a class of named tuples, and does not
    support; or ''."""
    for base in cls.__mro__:
        if not is_fixed(base):
            for name in vars(base):
                if (name[:2] == name[-2:] == "__" and name not in _ASKED and name not in _HARMLESS
                    and own(cls, name) is not UNWRITTEN):
                    return name
    return ""


def is_asked(name: str) -> bool:
    """Whether compiled code calls this special method of a class of named tuples."""
    return name in _ASKED


def stands_for(cls: type | None) -> type | None:
    """The dataclass whose objects the named tuples of a class stand for; the class itself for others."""
    return getattr(cls, STANDS_FOR, cls)


def is_written(cls: type, name: str) -> bool:
    """Whether the program has written a special method of a dataclass, which dataclass() has not made."""
    value = own(cls, name)
    return value is not UNWRITTEN and not (
        type(value) is FunctionType and name in COMPARISONS.values() and value.__code__.co_filename == "<string>")


def are_plain(cls: type) -> bool:
    """Whether all operators treat a member of this IntEnum, or of an enum class of texts, as its int or text."""
    return not defines(cls, *(f"__{kind}{name}__" for name in OPERATORS.values() for kind in ("", "r")),
                       *(f"__{name}__" for name in _AS_NUMBERS))


def defines(cls: type, *names: str) -> bool:
    """Whether the program defines one of these attributes in the class or a base class."""
    return any([own(cls, name) is not UNWRITTEN for name in names])
