"""The implementations of elementary functions: one table for CPUs and GPUs.

The functions are plain Python in the compiled subset, in modules that are loaded by the first compile that needs them.
`passes/elementary.py` replaces the operations (ops/elementary.py) by them. Run by CPython, they are the Python meaning
of the operations on NumPy numbers, so that folded constants have the bits that compiled code computes.
"""
from __future__ import annotations

from typing import Callable

import numpy as np

from ...base.lazy import lazy
from ...base.named import Named
from ...types.kinds import Complex, Float, Type, complex64, complex128, float16, float32, float64
from ...types.lattice import type_of_dtype

__all__ = ["TABLE", "Implementation", "Bodies", "find", "meaning"]

_MODULES = {name: lazy(f"{__package__}.{name}")
            for name in ("circular", "exponential", "gpu", "gpu_single", "logarithm", "power", "single")}
_IN_SINGLE = ("single", "gpu_single")  # modules whose functions compute in float32; others do so in double

# Operation -> the functions for float64 and float32 on a CPU, and for both on a GPU; "-": the operation is not
# replaced, and becomes a call of the C library or an error; "sin rare": of operations with this mark. A GPU has
# functions of its own where a CPU calls the C library or uses tables, or computes float32 in double. Half-precision
# numbers are computed in float32, as in NumPy.
# Not in this table are functions of the C library for which GPUs have no code, and functions with loops or with
# branches that depend on their data: np.logaddexp, divmod and powers of complex numbers or ints (numbers.py), i0, sinc
# and the functions of `math` and `cmath` that CPython writes in C (mathfn.py, cmathfn.py). A derivative follows from
# their bodies.
TABLE = {name: tuple(row.split()) for name, row in {
    "sin":           "circular.sin      single.sin               circular.sin         gpu_single.sin",
    "cos":           "circular.cos      single.cos               circular.cos         gpu_single.cos",
    "tan":           "circular.tan      circular.tan_single      circular.tan         gpu_single.tan",
    "asin":          "circular.asin     circular.asin_single     circular.asin        gpu_single.asin",
    "acos":          "circular.acos     circular.acos_single     circular.acos        gpu_single.acos",
    "atan":          "circular.atan     circular.atan_single     circular.atan        gpu_single.atan",
    "atan2":         "circular.atan2    circular.atan2_single    circular.atan2       gpu_single.atan2",
    "sinh":          "exponential.sinh  exponential.sinh_single  exponential.sinh     gpu_single.sinh",
    "cosh":          "exponential.cosh  exponential.cosh_single  exponential.cosh     gpu_single.cosh",
    "tanh":          "exponential.tanh  single.tanh              exponential.tanh     single.tanh",
    "asinh":         "logarithm.asinh   logarithm.asinh_single   logarithm.asinh      logarithm.asinh_single",
    "acosh":         "logarithm.acosh   logarithm.acosh_single   logarithm.acosh      logarithm.acosh_single",
    "atanh":         "logarithm.atanh   logarithm.atanh_single   logarithm.atanh      logarithm.atanh_single",
    "exp":           "exponential.exp   single.exp               exponential.exp      single.exp",
    "exp2":          "exponential.exp2  single.exp2              exponential.exp2     single.exp2",
    "expm1":         "exponential.expm1 exponential.expm1_single exponential.expm1    gpu_single.expm1",
    "log":           "logarithm.log     single.log               logarithm.log        single.log",
    "log2":          "logarithm.log2    logarithm.log2_single    logarithm.log2       gpu_single.log2",
    "log10":         "logarithm.log10   logarithm.log10_single   logarithm.log10      gpu_single.log10",
    "log1p":         "logarithm.log1p   logarithm.log1p_single   logarithm.log1p      gpu_single.log1p",
    "cbrt":          "power.cbrt        power.cbrt_single        power.cbrt           gpu_single.cbrt",
    "hypot":         "power.hypot       power.hypot_single       power.hypot          gpu_single.hypot",
    "pow":           "power.pow         single.pow               gpu.pow              gpu.pow_single",
    "pow_in_double": "-                 power.pow_single         -                    gpu.pow_single",
    "sin rare":      "-                 -                        gpu.sin_of_large     gpu.sin_of_large",
    "cos rare":      "-                 -                        gpu.cos_of_large     gpu.cos_of_large",
    "tan rare":      "-                 -                        gpu.tan_of_large     gpu.tan_of_large",
    "erf":           "-                 -                        gpu.erf              gpu_single.erf",
    "erfc":          "-                 -                        gpu.erfc             gpu_single.erfc",
    "frem":          "-                 -                        gpu.fmod             gpu.fmod",
    "remainder":     "-                 -                        gpu.remainder        gpu.remainder",
    "nextafter":     "-                 -                        gpu.nextafter        gpu_single.nextafter",
    "ldexp":         "-                 -                        gpu.ldexp            gpu.ldexp",
    # of complex numbers: complex128, complex64
    "cexp":          "circular.complex_exp  circular.complex_exp  circular.complex_exp  circular.complex_exp",
    "clog":          "-                 -                        gpu.clog             gpu.clog",
    "csqrt":         "-                 -                        gpu.csqrt            gpu.csqrt",
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
        name = f"{inst.op.name} rare" if "rare" in inst.attrs else inst.op.name
        key = name, types
        if key not in self.made:
            found = find(name, types[0], self.gpu) if types else None
            if found is not None:
                inside = found.types[-1] if found.types else types[0]
                made = self.specialise(found.function, tuple([inside if t is types[0] else t for t in types]))
                found = found.types, made
            self.made[key] = found
        return self.made[key]
