"""The implementations of elementary functions: one table for CPUs and GPUs.

The functions are plain Python in the compiled subset, in modules that are loaded by the first compile that needs them.
`passes/elementary.py` replaces the operations (ops/elementary.py) by them. Run by CPython, they are the Python meaning
of the operations on NumPy numbers, so that folded constants have the bits that compiled code computes.
"""
from __future__ import annotations

from typing import Callable

import numpy as np

from ..base.lazy import lazy
from ..base.named import Named
from ..types.kinds import Complex, Float, Type, complex64, complex128, float16, float32, float64
from ..types.lattice import type_of_dtype

__all__ = ["TABLE", "Implementation", "Bodies", "find", "meaning"]

_MODULES = {name: lazy(f"{__package__}.{folder}.{name}") for folder, names in (
    ("np.elementwise", "vector_exp vector_log vector_power vector_single vector_trig"),
    ("cuda", "elementary elementary32")) for name in names.split()}
_IN_SINGLE = ("vector_single", "elementary32")  # modules whose functions compute in float32; others do so in double

# Operation -> the functions for float64 and float32 on a CPU, and for both on a GPU; "": the operation is not replaced,
# and becomes a call of the C library or an error. Half-precision numbers are computed in float32, as in NumPy.
# Not in this table are functions of the C library for which GPUs have no code, and functions with loops or with
# branches that depend on their data: np.logaddexp, divmod and powers of complex numbers or ints (numbers.py), i0, sinc
# and the functions of `math` and `cmath` that CPython writes in C (mathfn.py, cmathfn.py). A derivative follows from
# their bodies.
TABLE = {name: tuple(row.split()) for name, row in {
    "sin":   "vector_trig.sin    vector_trig.sin_single    elementary.sin    elementary32.sin",
    "cos":   "vector_trig.cos    vector_trig.cos_single    elementary.cos    elementary32.cos",
    "tan":   "vector_trig.tan    vector_trig.tan_single    elementary.tan    elementary32.tan",
    "asin":  "vector_trig.asin   vector_trig.asin_single   elementary.asin   elementary32.asin",
    "acos":  "vector_trig.acos   vector_trig.acos_single   elementary.acos   elementary32.acos",
    "atan":  "vector_trig.atan   vector_trig.atan_single   elementary.atan   elementary32.atan",
    "atan2": "vector_trig.atan2  vector_trig.atan2_single  elementary.atan2  elementary32.atan2",
    "sinh":  "vector_exp.sinh    vector_exp.sinh_single    elementary.sinh   elementary32.sinh",
    "cosh":  "vector_exp.cosh    vector_exp.cosh_single    elementary.cosh   elementary32.cosh",
    "tanh":  "vector_exp.tanh    vector_single.tanh        elementary.tanh   elementary32.tanh",
    "asinh": "vector_log.asinh   vector_log.asinh_single   elementary.asinh  elementary.asinh",
    "acosh": "vector_log.acosh   vector_log.acosh_single   elementary.acosh  elementary.acosh",
    "atanh": "vector_log.atanh   vector_log.atanh_single   elementary.atanh  elementary.atanh",
    "exp":   "vector_exp.exp     vector_single.exp         elementary.exp    elementary32.exp",
    "exp2":  "vector_exp.exp2    vector_single.exp2        elementary.exp2   elementary32.exp2",
    "expm1": "vector_exp.expm1   vector_exp.expm1_single   elementary.expm1  elementary32.expm1",
    "log":   "vector_log.log     vector_single.log         elementary.log    elementary32.log",
    "log2":  "vector_log.log2    vector_log.log2_single    elementary.log2   elementary32.log2",
    "log10": "vector_log.log10   vector_log.log10_single   elementary.log10  elementary32.log10",
    "log1p": "vector_log.log1p   vector_log.log1p_single   elementary.log1p  elementary32.log1p",
    "cbrt":  "vector_power.cbrt  vector_power.cbrt_single  elementary.cbrt   elementary32.cbrt",
    "hypot": "vector_power.hypot vector_power.hypot_single elementary.hypot  elementary32.hypot",
    "pow":   "vector_power.pow   vector_single.pow         elementary.pow    elementary.pow_single",
    "pow_in_double": "-          vector_power.pow_single   -                 elementary.pow_single",
    "erf":       "- - elementary.erf       elementary32.erf",
    "erfc":      "- - elementary.erfc      elementary32.erfc",
    "frem":      "- - elementary.fmod      elementary.fmod",
    "remainder": "- - elementary.remainder elementary.remainder",
    "nextafter": "- - elementary.nextafter elementary32.nextafter",
    "ldexp":     "- - elementary.ldexp     elementary.ldexp",
    # of complex numbers: complex128, complex64
    "cexp":  "vector_trig.complex_exp vector_trig.complex_exp elementary.cexp  elementary.cexp",
    "clog":  "-                       -                       elementary.clog  elementary.clog",
    "csqrt": "-                       -                       elementary.csqrt elementary.csqrt",
}.items()}


class Implementation(Named):
    """function: in the compiled subset; types: the types to which operands are converted, one after the other, before
    the call. The result is converted back in the opposite order."""

    function: Callable
    types: tuple[Type, ...]


_COLUMNS = {Float: 0, float64: 0, Complex: 0, complex128: 0, float32: 1, float16: 1, complex64: 1}


def find(name: str, t: Type, gpu: bool = False) -> Implementation | None:
    """The implementation of the operation `name` on numbers of type t; None where the operation is not replaced."""
    row, column = TABLE.get(name), _COLUMNS.get(t)
    if row is None or column is None or t in (Float, Complex) and not gpu or t is float16 and name == "nextafter":
        return None
    place = row[column + 2 * gpu]
    if place == "-":
        return None
    module, function = place.split(".")
    inside = float32 if module in _IN_SINGLE else Complex if t in (Complex, complex64, complex128) else Float
    types = (float32, inside) if t is float16 else (inside,)
    return Implementation(getattr(_MODULES[module], function),
                          tuple(wide for wide, given in zip(types, (t, *types)) if wide is not given))


_CLASSES = {Float: float, Complex: complex, float32: np.float32}
_meanings: dict[tuple[str, type], Callable | None] = {}


def meaning(name: str, cls: type) -> Callable | None:
    """The implementation of the operation `name` as a function of numbers of a NumPy class that CPython runs; None
    where the operation is not replaced. For `provide` of ops/elementary.py."""
    key = name, cls
    if key not in _meanings:
        found = find(name, type_of_dtype(np.dtype(cls)))
        _meanings[key] = found and _through(found, cls)
    return _meanings[key]


def _through(implementation: Implementation, cls: type) -> Callable:
    ways = [_CLASSES[t] for t in implementation.types]

    def function(*operands):
        with np.errstate(all="ignore"):
            for way in ways:
                operands = [way(x) for x in operands]
            found = implementation.function(*operands)
            for way in [*reversed(ways[:-1]), cls]:
                found = way(found)
            return found

    return function


class Bodies:
    """The typed functions that replace operations on one target, made on demand. specialise: (Python function, operand
    types) -> typed function; kept: whether an operation on a type is not replaced."""

    def __init__(self, specialise: Callable, gpu: bool = False):
        self.specialise, self.gpu = specialise, gpu
        self.made: dict = {}

    def __call__(self, inst):
        """(the types to which operands are converted, typed function), or None where the operation is not replaced."""
        types = tuple([x.type for x in inst.args])
        key = inst.op.name, types
        if key not in self.made:
            found = find(inst.op.name, types[0], self.gpu) if types else None
            if found is not None:
                inside = found.types[-1] if found.types else types[0]
                made = self.specialise(found.function, tuple([inside if t is types[0] else t for t in types]))
                found = found.types, made
            self.made[key] = found
        return self.made[key]
