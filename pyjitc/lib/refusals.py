"""Errors for programs to which the library gives no meaning, with hints on what to write instead. Loaded when
needed."""
from __future__ import annotations


import numpy as np

from ..base.errors import with_article
from ..infer.meaning import Mismatch, NotNative
from ..infer.names import describe
from ..types.kinds import Singleton

__all__ = ["advice", "is_kernel", "no_with", "not_yet", "of_a_kernel",
           "of_an_object", "of_the_program", "AS_LOOP", "AS_TUPLE", "OUTSIDE", "READ"]

OUTSIDE = "call it outside the compiled function, and pass what it gives"
AS_LOOP = "call it outside the compiled function, or write it as a loop"
READ = "read them outside the compiled function, and pass the values"
AS_TUPLE = "pass its values, or a named tuple of them, whose methods are compiled; what changes goes into an array"

# Hints for a builtin, for a function of a package or all its functions, and for a method of a builtin type.
_INSTEAD = {
    "dict": "make it with dict(...), and the whole protocol of dicts is compiled",
    "collections.ChainMap": "join the dicts into one: {**b, **a}",
    "collections.namedtuple": "define the class outside the compiled function",
    "heapq.merge": "np.sort(np.concatenate((a, b))) merges arrays",
    "setattr": "write into an array instead",
    **dict.fromkeys(("eval", "exec"), "write the expression itself, or pass a function"),
    **dict.fromkeys(("str.split", "str.splitlines", "str.rsplit", "str.partition"),
                    "split text and convert its parts outside, and pass an array of numbers"),
    "functools.update_wrapper": "leave it out, or decorate the function outside the compiled function",
    "functools": "use a lambda, or make it outside the function",
    **dict.fromkeys(("itertools", "functools.reduce"), "write it as a loop"),
    "jax": "write NumPy's function for it; loops and branches of Python for those of jax.lax",
    "numba": "write what there is for it here: pyjitc.prange for prange, an array or a tuple for a typed list",
    **dict.fromkeys(("open", *(f"numpy.{name}" for name in ("load", "loadtxt", "genfromtxt", "save", "savetxt", "savez",
                                                            "savez_compressed", "fromfile", "memmap"))),
                    "read and write files outside the compiled function, and pass arrays"),
    "numpy.ma": "compute with an array and a mask of its own, as in a[mask]",
    "input": "ask outside the compiled function, and pass the answer",
    **dict.fromkeys(("time", "datetime"), "measure the time outside the compiled function"),
    "os": OUTSIDE,
    "copy": "a.copy() copies an array; numbers and tuples need no copy",
    "re": "match text outside the compiled function, and pass numbers",
    "statistics": "np.mean, np.median and np.std do it on arrays",
    **dict.fromkeys(("decimal", "fractions"), "compute with floats, or with ints in a smaller unit"),
    **dict.fromkeys(("pyjitc.jit", "pyjitc.njit"),
                    "decorate it outside; functions inside a compiled function are compiled with it"),
    **dict.fromkeys(("pyjitc.custom_jvp", "pyjitc.custom_vjp"),
                    "decorate the function outside the compiled one, which then may call it"),
    "pandas": "pass columns as arrays, as in frame['x'].to_numpy()",
    **dict.fromkeys(("breakpoint", "pdb"), "run the program with PYJITC_DISABLE=1, and the interpreter stops here"),
    "super": "call the method of the other class by its name",
    "numpy.seterr": "write `with np.errstate(...)` around the operations, or call it outside and compile with "
                    "njit(errstate=True)",
    "numpy.geterr": "call it outside the compiled function",
}


def advice(*names: str) -> str | None:
    return next((_INSTEAD[name] for name in names if name in _INSTEAD), None)


def of_the_program(t, what: str, changed: bool = False) -> Mismatch:
    """The error for an operation on a captured container; `changed`: the operation would modify it."""
    kind = type(t.value).__name__
    return NotNative(f"{what} of a {kind} of the interpreter is not compiled",
                     "return the values and change it outside, or write them into an array" if changed else
                     "only d['key'] with a constant key is; pass the values" if kind == "dict" else
                     "make it an array or a tuple outside the function", AttributeError)


def not_yet(t, what: str) -> Mismatch:
    """The error for an operation on type t that Python has, but compiled code has not yet. what: with its
    preposition."""
    return NotNative(f"{what} {with_article(t.class_name)} is not compiled yet", _INSTEAD[t.class_name])


def of_an_object(t, what: str) -> Mismatch:
    """The error for an operation on an object of a class of the program, or on a module."""
    if is_kernel(t):
        return of_a_kernel()
    return NotNative(f"{what} of {describe(t)} objects are not compiled", READ)


def is_kernel(t) -> bool:
    """Whether t is the type of a kernel of pyjitc.cuda, which need not be loaded."""
    return isinstance(t, Singleton) and (type(t.value).__module__, type(t.value).__name__) == (
        "pyjitc.cuda.kernel", "Kernel")


def of_a_kernel() -> Mismatch:
    return NotNative("kernels of pyjitc.cuda are launched from Python: a compiled function or a derivative does not "
                     "launch one", "launch it outside of the compiled function, before or after its call; compile a "
                     "function that launches kernels with pyjitc.jit, which leaves it to the interpreter")


def no_with(x) -> Mismatch:
    if isinstance(x.type, Singleton) and isinstance(x.type.value, np.errstate):
        return NotNative("an np.errstate that was made outside is not compiled",
                         "write np.errstate(...) in the `with` statement")
    return NotNative(f"a `with` statement of {describe(x.type)} is not supported in compiled functions: only "
                     f"np.errstate is",
                     "open and close it outside the compiled function")
