"""`stencil`: a function of the neighbours of an element becomes a function of whole arrays."""
from __future__ import annotations

import functools
import inspect
import itertools
from types import FunctionType
from typing import Any, Callable

import numpy as np

from ..base.lazy import lazy
from ..front.functions import placed
from ..infer.constants import constant
from ..infer.meaning import Call, CallValue, Mismatch, NotConstant
from ..lib import extended
from ..ops import control, generic
from ..types import kinds
from .dispatch import CompiledFunction
from .jit import njit

__all__ = ["stencil"]

_stages = lazy("pyjitc.pipeline.stages")
_lib = lazy("pyjitc.lib.np.iteration.stencils")
_OPTIONS = ("cval", "standard_indexing", "neighborhood")


def stencil(func_or_mode: Callable | str = "constant", **options: Any) -> Callable:
    """A function of whole arrays, made of a function of an element and its neighbours::

        @stencil
        def smoothed(a):
            return 0.25 * (a[-1, 0] + a[1, 0] + a[0, -1] + a[0, 1])

        smoothed(image)                  # from Python, and in compiled functions
        smoothed(image, out=result)

    Indices into its arrays are relative to the element. Elements without all neighbours become `cval` (0); in an array
    that is given as `out` without a cval they are not changed. The offsets are read from the function where they are
    constants; otherwise `neighborhood` gives them, as in ((-1, 1), (0, 2)), the first and last offset of each axis.
    Arrays named in `standard_indexing` are indexed as usual; other arguments are numbers. Compiled functions can make
    stencils, too.
    """
    for name in options:
        if name not in _OPTIONS:
            raise ValueError(f"Unknown stencil option {name}; options are {', '.join(_OPTIONS)}")
    if isinstance(func_or_mode, str):
        if func_or_mode != "constant":
            raise ValueError(f"Unsupported mode style {func_or_mode}: elements without all neighbours become cval")
        return lambda function: _stencil(function, **options)
    return _stencil(func_or_mode, **options)


def _stencil(function, cval=None, standard_indexing=(), neighborhood=None) -> CompiledFunction:
    if isinstance(function, CompiledFunction):
        function = function.py_func
    if type(function) is not FunctionType:
        raise TypeError(f"stencil takes a Python function, not {function!r}")
    names = tuple(inspect.signature(function).parameters)
    relative, found = _windows(_stages.generic(function), names, standard_indexing, neighborhood is not None)
    if neighborhood is None:
        neighborhood = found
    else:
        neighborhood = tuple((int(low), int(high)) for low, high in neighborhood)
    whole = _whole(names, relative)(function, _lib.run, _lib.run_into, _lib.widths(neighborhood, 0),
                                    _lib.widths(neighborhood, 1), cval, 0 if cval is None else cval)
    code = function.__code__
    whole.__code__ = placed(whole.__code__, code.co_name, code.co_filename, code.co_firstlineno)
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(whole, name, getattr(function, name))
    made = njit(whole)
    made.neighborhood = neighborhood
    return made


def _made_in_compiled_code(args, kwargs):
    """The meaning of `stencil` in compiled functions: the function may be a closure of the calling function, and cval
    and the neighborhood may be computed."""
    if len(args) != 1:
        return None
    function, = args
    if function.known and isinstance(function.value, str):
        return CallValue(constant(functools.partial), constant(stencil), keywords=kwargs)  # a decorator
    if isinstance(function.type, kinds.Singleton):
        plain = getattr(function.type.value, "py_func", function.type.value)
        if type(plain) is not FunctionType:
            raise Mismatch(f"stencil takes a Python function, not {function.type}")
        function, code, fn = constant(plain), plain.__code__, _stages.generic(plain)
    elif isinstance(function.type, kinds.Function):
        code, fn = function.type.proto.code, _stages.build(function.type.proto)
    else:
        raise Mismatch(f"stencil takes a Python function, not {function.type}")
    for name in kwargs:
        if name not in _OPTIONS:
            raise Mismatch(f"Unknown stencil option {name}; options are {', '.join(_OPTIONS)}")
    usual = kwargs.get("standard_indexing", constant(()))
    if not usual.known:
        raise NotConstant("standard_indexing must be a constant", "write the names as a tuple of texts")
    neighborhood, names = kwargs.get("neighborhood"), code.co_varnames[:code.co_argcount]
    try:
        relative, found = _windows(fn, names, usual.value, neighborhood is not None)
    except ValueError as error:
        raise Mismatch(str(error)) from None
    around = neighborhood or constant(found)
    cval = kwargs.get("cval", constant(None))
    return CallValue(constant(_whole(names, relative)), function, constant(_lib.run), constant(_lib.run_into),
                     Call(_lib.widths, around, constant(0)), Call(_lib.widths, around, constant(1)),
                     cval, kwargs.get("cval", constant(0)))


extended.FUNCTIONS[id(stencil)] = _made_in_compiled_code


def _windows(fn, names, standard_indexing, given):
    """(for each parameter, whether indices into it are relative; the neighborhood that the constant indices make, or
    None where one is given). fn: the generic IR of the function; names: its parameters."""
    if not names:
        raise ValueError("Stencil kernel must accept at least one array.")
    usual = (standard_indexing,) if isinstance(standard_indexing, str) else tuple(standard_indexing)
    for name in usual:
        if name not in names:
            raise ValueError(f"Standard indexing requested for an array name not present in the stencil kernel "
                             f"definition: {name}")
    if names[0] in usual:
        raise ValueError("The first argument to a stencil kernel must use relative indexing, not standard indexing.")
    offsets, indexed = _offsets(fn, names, usual)
    relative = tuple(name not in usual and (name in indexed or name == names[0]) for name in names)
    if given:
        return relative, None
    if not offsets:
        raise ValueError("Stencil kernel with no accesses to relatively indexed arrays.")
    if None in offsets:
        raise ValueError("Variable stencil index only possible with known neighborhood: "
                         "stencil(neighborhood=((first, last), ...))")
    if len({len(one) for one in offsets}) > 1:
        raise ValueError("Stencil kernel accesses its arrays with different numbers of indices")
    return relative, tuple((min(axis), max(axis)) for axis in zip(*offsets))


@functools.cache
def _whole(names, relative):
    """A function that makes the function of whole arrays, def whole(a, b, out=None)."""
    space: dict = {}
    given = ", ".join(names)
    taken = itertools.chain(("out",), (f"out_{n}" for n in itertools.count()))
    out = next(name for name in taken if name not in names)
    exec(f"def make(function, run, run_into, low, high, cval, border):\n"
         f"    def whole({given}, {out}=None):\n"
         f"        if {out} is None:\n"
         f"            return run(function, ({given},), {relative}, low, high, border)\n"
         f"        return run_into(function, ({given},), {relative}, low, high, cval, {out})\n"
         f"    return whole\n", {"__name__": __name__, "__builtins__": {}}, space)
    return space["make"]


def _offsets(fn, names, usual):
    """({relatively indexed parameter: constant indices, or None where one is not constant}, the indexed names)."""
    origin = {p: p.name for p in fn.params if p.name in names}
    constants: dict = {}
    changed = True
    while changed:  # parameters are passed to other blocks
        changed = False
        for block in fn.blocks:
            for inst in block.insts:
                if inst.op is control.CONST and inst.result is not None:
                    constants[inst.result] = inst.attrs["value"]
            for edge in block.edges():
                for p, a in zip(edge.block.params, edge.args):
                    if a in origin and p not in origin:
                        origin[p] = origin[a]
                        changed = True
    found, indexed = [], []
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op in (generic.SETITEM, generic.DELITEM) and inst.args[0] in origin and (
                    origin[inst.args[0]] not in usual):
                raise ValueError("Assignments to arrays passed to stencil kernels is not allowed.")
            if inst.op is not generic.GETITEM or inst.args[0] not in origin or origin[inst.args[0]] in usual:
                continue
            indexed.append(origin[inst.args[0]])
            index = constants.get(inst.args[1])
            index = index if isinstance(index, tuple) else (index,)
            known = all(isinstance(i, (int, np.integer)) for i in index)
            found.append(tuple(map(int, index)) if known else None)
    return found, indexed
