"""What the library says of programs that it has no meaning for, and what to write instead. Loaded when it is needed."""
from __future__ import annotations

import builtins
import difflib
import types as pytypes

import numpy as np

from ..infer.meaning import Mismatch
from ..infer.names import describe
from ..types.kinds import Array, Bytes, Generator, Iterator, Singleton, Str, Struct, Tuple
from .np import index, views
from .py import index as py_index

__all__ = ["attribute", "call", "instead", "joined_by_index", "no_container", "no_identity", "no_with", "not_yet", "of_the_program"]

_OUTSIDE = "call it outside the compiled function, and pass what it gives"
_AS_LOOP = "call it outside the compiled function, or write it as a loop"
_READ = "read them outside the compiled function, and pass the values"
_AS_ARRAY = "use an array (np.empty, np.zeros) or a tuple"
_AS_CODES = "prepare text outside, or pass its code points as an array"

# Of a builtin, or of the functions of a package.
_INSTEAD = {
    **dict.fromkeys(("list", "dict", "set", "frozenset", "bytearray"), _AS_ARRAY),
    "setattr": "write into an array instead",
    **dict.fromkeys(("eval", "exec"), "write the expression itself, or pass a function"),
    **dict.fromkeys(("ord", "chr"), _AS_CODES),
    "functools": "use a lambda, or make it outside the function",
    **dict.fromkeys(("itertools", "functools.reduce"), "write it as a loop"),
    "jax": "write NumPy's function for it; loops and branches of Python for those of jax.lax",
    "numba": "write what there is for it here: range for prange, an array or a tuple for a typed list",
    "sorted": "np.sort(a) is a sorted copy of an array, np.argsort(a) its order",
    "open": "read and write files outside the compiled function, and pass arrays",
    "input": "ask outside the compiled function, and pass the answer",
    "random": "use np.random, or pass a generator: np.random.default_rng(seed)",
    "time": "measure the time outside the compiled function",
    "pyjitc.api.jit": "decorate it outside; functions inside a compiled function are compiled with it",
    "pandas": "pass columns as arrays, as in frame['x'].to_numpy()",
    "super": "call the method of the other class by its name",
    "format": "write an f-string, as in f'{x:.3g}'",
    "numpy.seterr": "write `with np.errstate(...)` around the operations, or call it outside and compile with njit(errstate=True)",
    "numpy.geterr": "call it outside the compiled function",
}


def instead(module: str) -> str:
    """Of a function of that module, which is written in Python that is not compiled."""
    return _INSTEAD.get(module) or _INSTEAD.get(module.partition(".")[0]) or _AS_LOOP


def call(target) -> Mismatch:
    """A call of something that is neither a Python function nor has a rule."""
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", repr(target))
    module = getattr(target, "__module__", None) or ""
    if isinstance(target, np.ufunc):
        module = "numpy" if getattr(np, name, None) is target else ""
    if not module and hasattr(target, "__self__"):  # random.random is a method of a hidden object
        module = type(target.__self__).__module__
    if getattr(builtins, name, None) is target:
        module = "builtins"
    if module.startswith("_") and not module.startswith("__"):  # _functools.reduce
        module = module[1:]
    if not callable(target):
        return Mismatch(f"'{type(target).__name__}' object is not callable")
    full = f"{module}.{name}" if module and module != "builtins" else name
    family = "numpy" if isinstance(target, np.ufunc) else (module or "builtins").split(".")[0]  # as people import it
    near = difflib.get_close_matches(name, index.names(module) if family == "numpy" else py_index.names(family), 1, 0.7)
    near = (near[0] if family == "builtins" else f"{module if family == 'numpy' else family}.{near[0]}") if near else ""
    hint = _INSTEAD.get(full) or _INSTEAD.get(name if family == "builtins" else family)
    if hint is None and family != "numpy" and type(getattr(target, "__wrapped__", None)) is pytypes.FunctionType:  # another compiler's, a cache
        hint = f"call the function that it wraps, compiled: {name} = njit({name}.__wrapped__)"
    if hint is None and near:
        hint = f"the nearest function that is: {near}"
    if hint is None and isinstance(target, type) and family != "builtins":
        hint = "make the object outside, and pass what is in it as numbers, arrays or a named tuple"
    return Mismatch(f"{full} is not compiled yet", hint or (_AS_LOOP if family in ("numpy", "math") else _OUTSIDE))


def attribute(x, name: str) -> Mismatch:
    """x.name, which no rule knows."""
    t = x.type
    if isinstance(t, Struct) and t.name in ("list", "dict"):
        return Mismatch(f"methods of a {t.name} are not compiled yet", _AS_ARRAY, AttributeError)
    if t is Str and name == "join":
        return Mismatch("join of a str is not compiled yet", "write an f-string", AttributeError)
    if t is Str or t is Bytes:
        return Mismatch(f"operations on {t} are not compiled yet", _AS_CODES, AttributeError)
    if isinstance(t, (Generator, Iterator)) and hasattr(pytypes.GeneratorType, name):
        return Mismatch(f"{name} of a generator is not compiled yet", "generators run by `for` and next(): pass what they need as arguments",
                        AttributeError)
    if isinstance(t, Tuple) and t.cls is not None and hasattr(t.cls, name):
        return Mismatch(f"the attribute '{name}' of {describe(t)} is not compiled yet", _READ, AttributeError)
    if isinstance(t, Singleton) and hasattr(t.value, name):
        return Mismatch(f"attributes of {describe(t)} objects are not compiled yet", _READ, AttributeError)
    known = [*views.ATTRIBUTES, *views.METHODS, *" ".join(index.METHODS.values()).split()] if isinstance(t, Array) else []
    near = difflib.get_close_matches(name, known, 1)
    return Mismatch(f"the array attribute '{name}' is not compiled yet" if isinstance(t, Array) and hasattr(np.ndarray, name) else
                    f"{describe(t)} object has no attribute '{name}'", f"did you mean '{near[0]}'?" if near else "", AttributeError)


def of_the_program(t, what: str, changed: bool = False) -> Mismatch:
    """What is done with a container of the interpreter; `changed`: it would be another one after it."""
    kind = type(t.value).__name__
    return Mismatch(f"{what} of a {kind} of the interpreter is not compiled",
                    "return the values and change it outside, or write them into an array" if changed else
                    "only d['key'] with a constant key is; pass the values" if kind == "dict" else
                    "make it an array or a tuple outside the function", AttributeError)


def not_yet(t) -> Mismatch:
    """What this type can do in Python, but not here yet."""
    if t is Str or t is Bytes:
        return Mismatch(f"operations on {t} are not compiled yet", _AS_CODES)
    return Mismatch(f"operations on a {t.name} are not compiled yet", _AS_ARRAY)


def joined_by_index(t) -> Mismatch:
    """np.r_[...] or np.c_[...]"""
    return Mismatch("np.r_[...] is not compiled", "write np.concatenate((a, b)), and np.arange for a slice") if t.value is np.r_ else Mismatch(
        "np.c_[...] is not compiled", "write np.column_stack((a, b))")


def no_container(x) -> Mismatch:
    return Mismatch(f"`in` on {describe(x.type)} is not compiled yet")


def no_identity(op: str, x) -> Mismatch:
    return Mismatch(f"`{op}` between two {describe(x.type)} values has no meaning in compiled code", "compare with == instead")


def no_with(x) -> Mismatch:
    if isinstance(x.type, Singleton) and isinstance(x.type.value, np.errstate):
        return Mismatch("an np.errstate that was made outside is not compiled", "write np.errstate(...) in the `with` statement")
    return Mismatch(f"a `with` statement of {describe(x.type)} is not supported in compiled functions: only np.errstate is",
                    "open and close it outside the compiled function")
