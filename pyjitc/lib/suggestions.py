"""Hints in errors about unknown calls and attributes: similar names, and what to write instead."""
from __future__ import annotations

import builtins
import difflib
import inspect
import sys
import types as pytypes

import numpy as np

from ..base.errors import did_you_mean, suggest
from ..infer.meaning import Mismatch, NotNative
from ..infer.names import describe
from ..types.classes import is_fixed
from ..types.kinds import Array, Attributes, DType, Generator, Iterator, Method, Singleton, Tuple
from .np import index
from .np.shapes import views
from .py import index as py_index
from .refusals import AS_LOOP, AS_TUPLE, OUTSIDE, READ, advice, is_kernel, of_a_kernel

__all__ = ["advice_of_call", "attribute", "call", "of_python", "other_attribute"]

_PACKAGE = __name__.partition(".")[0]
_PUBLIC = {f"{_PACKAGE}.api.jit": _PACKAGE, f"{_PACKAGE}.api.derivatives": _PACKAGE,
           "posix": "os", "nt": "os", "posixpath": "os.path", "ntpath": "os.path",
           "pydatetime": "datetime", "pydecimal": "decimal", "numpy.ma.core": "numpy.ma", "numpy.ma.extras": "numpy.ma"}


def _home(target) -> str:
    """The module from which a callable is usually imported; '' where it is not known."""
    module = getattr(target, "__module__", None) or ""
    if isinstance(target, np.ufunc):
        module = "numpy" if getattr(np, target.__name__, None) is target else _holding(target)
    owner = getattr(target, "__self__", None) or getattr(target, "__objclass__", None)
    if not module and owner is not None:  # random.random is a method of a hidden object, datetime.now one of a class
        module = (owner if isinstance(owner, type) else type(owner)).__module__
    if getattr(builtins, getattr(target, "__name__", ""), None) is target:
        module = "builtins"
    if module.startswith("_") and not module.startswith("__"):  # _functools.reduce
        module = module[1:]
    return _PUBLIC.get(module, module)


def _holding(target) -> str:
    """The public module that has this object under its name; of several the one with the shortest name, '' if none."""
    found = [name for name, module in list(sys.modules.items())
             if vars(module).get(target.__name__) is target and not any(part[:1] == "_" for part in name.split("."))]
    return min(found, key=len, default="")


def _full_name(module: str, target) -> str:
    """The name of a callable of that module as programs write it."""
    name = getattr(target, "__name__", None) or ""
    if module != "builtins" and name and getattr(sys.modules.get(module), name, None) == target:
        return f"{module}.{name}"
    name = getattr(target, "__qualname__", None) or name or f"an object of the class {type(target).__qualname__}"
    return f"{module}.{name}" if module and module != "builtins" and "<locals>" not in name else name


def of_python(function: str, module: str, error: Mismatch) -> Mismatch:
    """The error for a function of Python's library whose body contains something that cannot be compiled; a caller does
    not know that body."""
    module = _PUBLIC.get(module, module)
    short = function.rpartition(".")[2]
    public = getattr(sys.modules.get(module), short, None)
    full = f"{module}.{short if callable(public) else function}"
    hint = advice(full, module, module.partition(".")[0]) or AS_LOOP
    if full == "functools.update_wrapper":
        return NotNative("functools.wraps is not compiled for a function made in compiled code, whose name and other "
                         "attributes cannot be changed", hint)
    return NotNative(f"{full} is not compiled{f': {error.message}' if module != _PACKAGE else ''}", hint)


def call(target) -> Mismatch:
    """The error for a call of something that is neither a Python function nor has a rule."""
    if not callable(target):
        return Mismatch(f"'{type(target).__name__}' object is not callable")
    module = _home(target)
    full = _full_name(module, target)
    name = full.rpartition(".")[2]
    # the module from which it is usually imported
    family = "numpy" if isinstance(target, np.ufunc) else (module or "builtins").split(".")[0]
    near = difflib.get_close_matches(name, index.names(module) if family == "numpy" else py_index.names(family), 1, 0.7)
    near = (near[0] if family == "builtins" else f"{module if family == 'numpy' else family}.{near[0]}") if near else ""
    hint = advice(f"{full}()", full, module, name if family == "builtins" else family)
    # a function of another compiler, a cache
    if hint is None and family != "numpy" and type(getattr(target, "__wrapped__", None)) is pytypes.FunctionType:
        hint = f"call the function that it wraps, compiled: {name} = njit({name}.__wrapped__)"
    if hint is None and near:
        hint = f"the nearest function that is: {near}"
    if hint is None and isinstance(target, type) and family != "builtins":
        hint = ("make the object outside, and pass its numbers and arrays, or a named tuple" if is_fixed(target) else
                "use a named tuple, whose methods are compiled; what changes goes into an array")
    return NotNative(f"{full} is not compiled yet", hint or (AS_LOOP if family in ("numpy", "math") else OUTSIDE))


def attribute(x, name: str) -> Mismatch:
    """The error for x.name where no rule defines it."""
    t = x.type
    cls = t.python_class
    if cls in (list, dict, str, bytes) and hasattr(cls, name):
        full = f"{cls.__name__}.{name}"
        return NotNative(f"{full} is not compiled yet", advice(full, cls.__name__), AttributeError)
    if isinstance(t, (Generator, Iterator)) and hasattr(pytypes.GeneratorType, name):
        return NotNative(f"{name} of a generator is not compiled yet",
                         "generators run by `for` and next(): pass what they need as arguments", AttributeError)
    if isinstance(t, Tuple) and t.cls is not None and hasattr(t.cls, name):
        return NotNative(f"the attribute '{name}' of {describe(t)} is not compiled yet", READ, AttributeError)
    if isinstance(t, Singleton) and hasattr(t.value, name):
        if is_kernel(t):
            return of_a_kernel()
        return NotNative(f"attributes of {describe(t)} objects are not compiled yet",
                         READ if is_fixed(type(t.value)) else AS_TUPLE, AttributeError)
    if cls is tuple and hasattr(list, name):
        return Mismatch(f"'tuple' object has no attribute '{name}'", "a tuple does not change; use an array",
                        AttributeError)
    if isinstance(t, Array) and hasattr(np.ndarray, name):
        return NotNative(f"the array attribute '{name}' is not compiled yet", "", AttributeError)
    if isinstance(t, DType) and hasattr(cls, name):
        return NotNative(f"the attribute '{name}' of a dtype is not compiled yet", "make the dtype outside the "
                         "compiled function, where it is a global constant", AttributeError)
    return Mismatch(f"{describe(t)} object has no attribute '{name}'", other_attribute(x, name), AttributeError)


# What other classes or languages call a method -> what to write for it.
_INSTEAD = {
    list: {**dict.fromkeys(("push", "push_back", "add"), "l.append(x)"), "contains": "x in l", "size": "len(l)",
           "shape": "len(l)"},
    dict: {**dict.fromkeys(("has_key", "contains", "has"), "key in d"),
           **dict.fromkeys(("add", "append", "insert", "put", "set"), "d[key] = x"), "size": "len(d)"},
    set: {**dict.fromkeys(("append", "insert", "push"), "s.add(x)"), "contains": "x in s", "size": "len(s)"},
    str: {**dict.fromkeys(("append", "add", "push"), "s + x"), **dict.fromkeys(("contains", "includes"), "x in s"),
          "size": "len(s)"},
    np.ndarray: {**dict.fromkeys(("append", "push", "add"), "np.append(a, x), which makes a new array, or use a list"),
                 "contains": "x in a", "length": "len(a)", "len": "len(a)"},
}


def other_attribute(x, name: str) -> str:
    """The hint for an attribute that values of that type do not have: what to write instead, a similar name, or ''."""
    t = x.type
    instead = _INSTEAD.get(t.python_class, {})
    if name in instead:
        return f"write {instead[name]}"
    if isinstance(t, Method):  # a.copy.sum()
        return f"write {t.name}() with parentheses"
    if isinstance(t, Array):
        known = [*views.ATTRIBUTES, *views.METHODS, *" ".join(index.METHODS.values()).split()]
    elif isinstance(t, Singleton):
        known = dir(t.value)
    elif isinstance(t, Tuple) and t.cls is not None:
        known = [*getattr(t.cls, "_fields", ()), *dir(t.cls)]
    else:
        cls = t.python_class
        known = () if cls is None else [*dir(cls), *(t.names if isinstance(t, Attributes) else ())]
    similar = did_you_mean(name, [one for one in known if name.startswith("_") or not one.startswith("_")])
    near = suggest(name, instead)  # `lenght`
    return similar or (f"write {instead[near]}" if near else "")


def advice_of_call(callee, args, kwargs, message: str) -> str:
    """The hint for an error about the arguments of a call, or ''."""
    t = callee.type
    target = t.value if isinstance(t, Singleton) else getattr(np, t.name, None) if isinstance(t, Method) else None
    wrong = next((name for name in kwargs if message.endswith(f"unexpected keyword argument '{name}'")), None)
    if wrong is not None:
        try:
            return did_you_mean(wrong, list(inspect.signature(target).parameters))
        except (TypeError, ValueError):  # NumPy's functions have no signature
            return ""
    if any(isinstance(x.type, Array) and x.type.ndim for x in args):
        name = getattr(target, "__name__", "")
        if getattr(target, "__module__", None) in ("math", "cmath"):
            return f"np.{name} works on arrays" if hasattr(np, name) else "call it for one element after the other"
        if target in (int, float, complex, bool):
            return f"write {name}(a[i]) for one element, a.astype({name}) for all"
    return ""
