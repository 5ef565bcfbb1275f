"""What the library says of programs that it has no meaning for, and what to write instead. Loaded when it is needed."""
from __future__ import annotations

import builtins
import difflib
import inspect
import sys
import types as pytypes

import numpy as np

from ..base.errors import did_you_mean
from ..infer.meaning import Mismatch
from ..infer.names import describe
from ..types.classes import is_fixed
from ..types.kinds import (
    Array, Attributes, Bool, Bytes, Complex, Float, Generator, Int, Iterator, Method, Singleton, Str, Tuple,
    is_numpy_scalar,
)
from ..types.lattice import dtype_of
from .np import index
from .np.shapes import views
from .py import builtins as builtins_
from .py import index as py_index

__all__ = ["advice_of_call", "attribute", "call", "joined_by_index", "no_comprehension", "no_display", "no_identity",
           "no_with", "not_yet", "of_an_object", "of_python", "of_the_program", "other_attribute"]

_OUTSIDE = "call it outside the compiled function, and pass what it gives"
_AS_LOOP = "call it outside the compiled function, or write it as a loop"
_READ = "read them outside the compiled function, and pass the values"
_AS_CODES = "prepare text outside, or pass its code points as an array: np.frombuffer(s.encode('utf-32-le'), np.uint32)"
_AS_LIST = "fill an array: out = np.empty(n), then out[k] = x in a loop, and out[:k] at the end"
_AS_DICT = ("for keys 0, 1, 2, ... use an array with the key as the index; "
            "for others, sorted keys in an array and np.searchsorted")
_AS_SET = ("np.unique(a) has each item once, np.isin(x, a) tests; "
           "for small whole numbers, mark them in an array: seen[k] = True")
_AS_COUNTS = "np.unique(a, return_counts=True) counts items, np.bincount(a) small whole numbers"
_AS_RING = "use an array as a ring: a[(first + k) % len(a)], with one int for its beginning and one for its length"
_AS_HEAP = "keep the queue in an array; docs/migration.md has heappush and heappop on an array, to copy"
_AS_TUPLE = "pass its values, or a named tuple of them, whose methods are compiled; what changes goes into an array"

# Of a builtin, of a function of a package or of all of them, of a method of a builtin type.
_INSTEAD = {
    "list()": "np.fromiter(x, np.float64) makes an array of the numbers that x yields",
    **dict.fromkeys(("list", "list.append", "list.insert", "list.copy", "bytearray"), _AS_LIST),
    "list.extend": "np.concatenate((a, b)) joins arrays",
    **dict.fromkeys(("list.pop", "list.clear", "list.remove"),
                    "use an array and an int for how many of its items count: n -= 1 and a[n] for a.pop()"),
    "list.sort": "np.sort(a) is a sorted copy of an array, a.sort() sorts it in place",
    "list.reverse": "a[::-1] is an array from its end to its beginning",
    "list.index": "np.flatnonzero(a == x) has where x is in an array",
    "list.count": "np.count_nonzero(a == x) counts x in an array",
    **dict.fromkeys(("dict", "collections.defaultdict", "collections.OrderedDict", "collections.ChainMap"), _AS_DICT),
    "collections.Counter": _AS_COUNTS,
    "collections.deque": _AS_RING,
    "collections.namedtuple": "define the class outside the compiled function",
    **dict.fromkeys(("set", "frozenset"), _AS_SET),
    "heapq": _AS_HEAP,
    "heapq.nsmallest": "np.sort(a)[:k] are the k smallest items of an array",
    "heapq.nlargest": "np.sort(a)[::-1][:k] are the k largest items of an array",
    "heapq.merge": "np.sort(np.concatenate((a, b))) merges arrays",
    **dict.fromkeys(("bisect.bisect_right", "bisect.bisect"),
                    "np.searchsorted(a, x, side='right') is the same place in an array"),
    "bisect.bisect_left": "np.searchsorted(a, x) is the same place in an array",
    **dict.fromkeys(("bisect.insort_right", "bisect.insort_left", "bisect.insort"),
                    "np.insert(a, np.searchsorted(a, x), x) is an array with x in its place"),
    "setattr": "write into an array instead",
    **dict.fromkeys(("eval", "exec"), "write the expression itself, or pass a function"),
    **dict.fromkeys(("ord", "chr", "str", "bytes"), _AS_CODES),
    **dict.fromkeys(("str.join", "str.format_map", "str.rjust", "str.ljust", "str.center", "str.zfill"),
                    "write an f-string, as in f'{x:>10}'"),
    **dict.fromkeys(("str.split", "str.splitlines", "str.rsplit", "str.partition"),
                    "split text and convert its parts outside, and pass an array of numbers"),
    "functools": "use a lambda, or make it outside the function",
    **dict.fromkeys(("itertools", "functools.reduce"), "write it as a loop"),
    "jax": "write NumPy's function for it; loops and branches of Python for those of jax.lax",
    "numba": "write what there is for it here: range for prange, an array or a tuple for a typed list",
    "sorted": "np.sort(a) is a sorted copy of an array, np.argsort(a) its order",
    "open": "read and write files outside the compiled function, and pass arrays",
    "input": "ask outside the compiled function, and pass the answer",
    "random": "use np.random, or pass a generator: np.random.default_rng(seed)",
    "time.sleep": "wait outside the compiled function",
    **dict.fromkeys(("time", "datetime"), "measure the time outside the compiled function"),
    "os": _OUTSIDE,
    "copy": "a.copy() copies an array; numbers and tuples need no copy",
    "re": "match text outside the compiled function, and pass numbers",
    "statistics": "np.mean, np.median and np.std do it on arrays",
    **dict.fromkeys(("decimal", "fractions"), "compute with floats, or with ints in a smaller unit"),
    "pyjitc.api.jit": "decorate it outside; functions inside a compiled function are compiled with it",
    "pandas": "pass columns as arrays, as in frame['x'].to_numpy()",
    **dict.fromkeys(("breakpoint", "pdb"), "run the program with PYJITC_DISABLE=1, and the interpreter stops here"),
    "super": "call the method of the other class by its name",
    "format": "write an f-string, as in f'{x:.3g}'",
    "numpy.seterr": "write `with np.errstate(...)` around the operations, or call it outside and compile with "
                    "njit(errstate=True)",
    "numpy.geterr": "call it outside the compiled function",
}
_PUBLIC = {"posix": "os", "nt": "os", "posixpath": "os.path", "ntpath": "os.path",
           "pydatetime": "datetime", "pydecimal": "decimal"}


def _home(target) -> str:
    """The module of a callable as people import it; '' where it is not known."""
    module = getattr(target, "__module__", None) or ""
    if isinstance(target, np.ufunc):
        module = "numpy" if getattr(np, target.__name__, None) is target else ""
    owner = getattr(target, "__self__", None) or getattr(target, "__objclass__", None)
    if not module and owner is not None:  # random.random is a method of a hidden object, datetime.now one of a class
        module = (owner if isinstance(owner, type) else type(owner)).__module__
    if getattr(builtins, getattr(target, "__name__", ""), None) is target:
        module = "builtins"
    if module.startswith("_") and not module.startswith("__"):  # _functools.reduce
        module = module[1:]
    return _PUBLIC.get(module, module)


def _full_name(module: str, target) -> str:
    """How people write the name of a callable of that module."""
    name = getattr(target, "__name__", None) or ""
    if module != "builtins" and name and getattr(sys.modules.get(module), name, None) == target:
        return f"{module}.{name}"
    name = getattr(target, "__qualname__", None) or name or f"an object of the class {type(target).__qualname__}"
    return f"{module}.{name}" if module and module != "builtins" and "<locals>" not in name else name


def _advice(*names: str) -> str | None:
    return next((_INSTEAD[name] for name in names if name in _INSTEAD), None)


def of_python(function: str, module: str, error: Mismatch) -> Mismatch:
    """Of a function of Python's library, in whose body something is not compiled; a caller does not know that body."""
    module = _PUBLIC.get(module, module)
    short = function.rpartition(".")[2]
    public = getattr(sys.modules.get(module), short, None)
    full = f"{module}.{short if callable(public) else function}"
    hint = _advice(full, module, module.partition(".")[0]) or _AS_LOOP
    return Mismatch(f"{full} is not compiled: {error.message}", hint)


def call(target) -> Mismatch:
    """A call of something that is neither a Python function nor has a rule."""
    if not callable(target):
        return Mismatch(f"'{type(target).__name__}' object is not callable")
    module = _home(target)
    full = _full_name(module, target)
    name = full.rpartition(".")[2]
    family = "numpy" if isinstance(target, np.ufunc) else (module or "builtins").split(".")[0]  # as people import it
    near = difflib.get_close_matches(name, index.names(module) if family == "numpy" else py_index.names(family), 1, 0.7)
    near = (near[0] if family == "builtins" else f"{module if family == 'numpy' else family}.{near[0]}") if near else ""
    hint = _advice(f"{full}()", full, name if family == "builtins" else family)
    # another compiler's, a cache
    if hint is None and family != "numpy" and type(getattr(target, "__wrapped__", None)) is pytypes.FunctionType:
        hint = f"call the function that it wraps, compiled: {name} = njit({name}.__wrapped__)"
    if hint is None and near:
        hint = f"the nearest function that is: {near}"
    if hint is None and isinstance(target, type) and family != "builtins":
        hint = ("make the object outside, and pass its numbers and arrays, or a named tuple" if is_fixed(target) else
                "use a named tuple, whose methods are compiled; what changes goes into an array")
    return Mismatch(f"{full} is not compiled yet", hint or (_AS_LOOP if family in ("numpy", "math") else _OUTSIDE))


def attribute(x, name: str) -> Mismatch:
    """x.name, which no rule knows."""
    t = x.type
    cls = builtins_.class_of(t)
    if cls in (list, dict, str, bytes) and hasattr(cls, name):
        full = f"{cls.__name__}.{name}"
        return Mismatch(f"{full} is not compiled yet", _advice(full, cls.__name__), AttributeError)
    if isinstance(t, (Generator, Iterator)) and hasattr(pytypes.GeneratorType, name):
        return Mismatch(f"{name} of a generator is not compiled yet",
                        "generators run by `for` and next(): pass what they need as arguments", AttributeError)
    if isinstance(t, Tuple) and t.cls is not None and hasattr(t.cls, name):
        return Mismatch(f"the attribute '{name}' of {describe(t)} is not compiled yet", _READ, AttributeError)
    if isinstance(t, Singleton) and hasattr(t.value, name):
        return Mismatch(f"attributes of {describe(t)} objects are not compiled yet",
                        _READ if is_fixed(type(t.value)) else _AS_TUPLE, AttributeError)
    if cls is tuple and t.cls is None and hasattr(list, name):
        return Mismatch(f"'tuple' object has no attribute '{name}'", "a tuple does not change; use an array",
                        AttributeError)
    if isinstance(t, Array) and hasattr(np.ndarray, name):
        return Mismatch(f"the array attribute '{name}' is not compiled yet", "", AttributeError)
    return Mismatch(f"{describe(t)} object has no attribute '{name}'", other_attribute(x, name), AttributeError)


def other_attribute(x, name: str) -> str:
    """The hint of an error about an attribute that a value of that type has not: one whose name is near, or ''."""
    t = x.type
    if isinstance(t, Array):
        known = [*views.ATTRIBUTES, *views.METHODS, *" ".join(index.METHODS.values()).split()]
    elif isinstance(t, Singleton):
        known = dir(t.value)
    elif isinstance(t, Tuple) and t.cls is not None:
        known = [*t.cls._fields, *dir(t.cls)]
    else:
        cls = builtins_.class_of(t)
        known = () if cls is None else [*dir(cls), *(t.names if isinstance(t, Attributes) else ())]
    return did_you_mean(name, [one for one in known if name.startswith("_") or not one.startswith("_")])


def advice_of_call(callee, args, kwargs, message: str) -> str:
    """The hint of an error about what a function is called with, or ''."""
    t = callee.type
    target = t.value if isinstance(t, Singleton) else getattr(np, t.name, None) if isinstance(t, Method) else None
    wrong = next((name for name in kwargs if message.endswith(f"unexpected keyword argument '{name}'")), None)
    if wrong is not None:
        try:
            return did_you_mean(wrong, list(inspect.signature(target).parameters))
        except (TypeError, ValueError):  # NumPy says nothing of its parameters
            return ""
    if any(isinstance(x.type, Array) and x.type.ndim for x in args):
        name = getattr(target, "__name__", "")
        if getattr(target, "__module__", None) in ("math", "cmath"):
            return f"np.{name} works on arrays" if hasattr(np, name) else "call it for one element after the other"
        if target in (int, float, complex, bool):
            return f"write {name}(a[i]) for one element, a.astype({name}) for all"
    return ""


def of_the_program(t, what: str, changed: bool = False) -> Mismatch:
    """What is done with a container of the interpreter; `changed`: it would be another one after it."""
    kind = type(t.value).__name__
    return Mismatch(f"{what} of a {kind} of the interpreter is not compiled",
                    "return the values and change it outside, or write them into an array" if changed else
                    "only d['key'] with a constant key is; pass the values" if kind == "dict" else
                    "make it an array or a tuple outside the function", AttributeError)


def not_yet(t, what: str) -> Mismatch:
    """What this type can do in Python, but not here yet. what: with its preposition."""
    name = str(t) if t is Str or t is Bytes else t.name
    if what == "`*` of" and name == "list":
        hint = "np.full(n, x) is an array of n equal items"
    elif what == "assigning to an item of" and name == "list":
        hint = "use an array: np.array([1, 2, 3]), np.zeros(n)"
    else:
        hint = _INSTEAD[name]
    return Mismatch(f"{what} a {name} is not compiled yet", hint)


def of_an_object(t, what: str) -> Mismatch:
    """What is asked of an object of the program's, or of a module's."""
    return Mismatch(f"{what} of {describe(t)} objects are not compiled", _READ)


def no_display(kind: type) -> Mismatch:
    """A dict or set, written out or as a comprehension."""
    return Mismatch(f"{kind.__name__}s are not compiled yet", _INSTEAD[kind.__name__])


def no_comprehension(kind: type, item) -> Mismatch:
    """[item for ...]"""
    t = item.type
    dtype = {Int: np.int64, Float: np.float64, Bool: np.bool_, Complex: np.complex128}.get(t)
    if dtype is None and is_numpy_scalar(t):
        dtype = dtype_of(t).type
    hint = _AS_LIST if dtype is None else (
        f"np.fromiter((... for ... in ...), np.{dtype.__name__}) makes an array of the items; "
        "sum() and its like take (... for ... in ...) itself")
    return Mismatch(f"{kind.__name__} comprehensions are not compiled yet", hint)


def joined_by_index(t) -> Mismatch:
    """np.r_[...] or np.c_[...]"""
    return Mismatch("np.r_[...] is not compiled",
                    "write np.concatenate((a, b)), and np.arange for a slice") if t.value is np.r_ else Mismatch(
        "np.c_[...] is not compiled", "write np.column_stack((a, b))")


def no_identity(op: str, x) -> Mismatch:
    return Mismatch(f"`{op}` between two {describe(x.type)} values has no meaning in compiled code",
                    "compare with == instead")


def no_with(x) -> Mismatch:
    if isinstance(x.type, Singleton) and isinstance(x.type.value, np.errstate):
        return Mismatch("an np.errstate that was made outside is not compiled",
                        "write np.errstate(...) in the `with` statement")
    return Mismatch(f"a `with` statement of {describe(x.type)} is not supported in compiled functions: only "
                    f"np.errstate is",
                    "open and close it outside the compiled function")
