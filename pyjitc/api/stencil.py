"""`stencil`: a function of the neighbours of an element becomes a function of whole arrays."""
from __future__ import annotations

import inspect
import itertools
from types import FunctionType
from typing import Any, Callable

import numpy as np

from ..base.lazy import lazy
from ..front.functions import placed
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
    Arrays named in `standard_indexing` are indexed as usual; other arguments are numbers.
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
    if not names:
        raise ValueError("Stencil kernel must accept at least one array.")
    usual = (standard_indexing,) if isinstance(standard_indexing, str) else tuple(standard_indexing)
    for name in usual:
        if name not in names:
            raise ValueError(f"Standard indexing requested for an array name not present in the stencil kernel "
                             f"definition: {name}")
    if names[0] in usual:
        raise ValueError("The first argument to a stencil kernel must use relative indexing, not standard indexing.")
    offsets, indexed = _offsets(function, names, usual)
    if neighborhood is not None:
        neighborhood = tuple((int(low), int(high)) for low, high in neighborhood)
    else:
        if not offsets:
            raise ValueError("Stencil kernel with no accesses to relatively indexed arrays.")
        if None in offsets:
            raise ValueError("Variable stencil index only possible with known neighborhood: "
                             "stencil(neighborhood=((first, last), ...))")
        if len({len(one) for one in offsets}) > 1:
            raise ValueError("Stencil kernel accesses its arrays with different numbers of indices")
        neighborhood = tuple((min(axis), max(axis)) for axis in zip(*offsets))
    relative = tuple(name not in usual and (name in indexed or name == names[0]) for name in names)
    low = tuple(max(0, -first) for first, _ in neighborhood)
    high = tuple(max(0, last) for _, last in neighborhood)
    made = njit(_whole(function, names, relative, low, high, cval))
    made.neighborhood = neighborhood
    return made


def _whole(function, names, relative, low, high, cval):
    """def name(a, b, out=None) over whole arrays, with the name and source location of the function."""
    space: dict = {}
    given = ", ".join(names)
    taken = itertools.chain(("out",), (f"out_{n}" for n in itertools.count()))
    out = next(name for name in taken if name not in names)
    exec(f"def make(function, run, run_into, relative, low, high, cval, border):\n"
         f"    def whole({given}, {out}=None):\n"
         f"        if {out} is None:\n"
         f"            return run(function, ({given},), relative, low, high, border)\n"
         f"        return run_into(function, ({given},), relative, low, high, cval, {out})\n"
         f"    return whole\n", {"__name__": function.__module__, "__builtins__": {}}, space)
    whole = space["make"](function, _lib.run, _lib.run_into, relative, low, high, cval, 0 if cval is None else cval)
    code = function.__code__
    whole.__code__ = placed(whole.__code__, code.co_name, code.co_filename, code.co_firstlineno)
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(whole, name, getattr(function, name))
    return whole


def _offsets(function, names, usual):
    """({relatively indexed parameter: constant indices, or None where one is not constant}, the indexed names)."""
    fn = _stages.generic(function)
    origin = {p: p.name for p in fn.params if p.name in names}
    constants: dict = {}
    changed = True
    while changed:  # parameters are passed to other blocks
        changed = False
        for block in fn.blocks:
            for inst in block.insts:
                if inst.op.name == "const" and inst.result is not None:
                    constants[inst.result] = inst.attrs["value"]
            for edge in block.edges():
                for p, a in zip(edge.block.params, edge.args):
                    if a in origin and p not in origin:
                        origin[p] = origin[a]
                        changed = True
    found, indexed = [], []
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op.name in ("setitem", "delitem") and inst.args[0] in origin and origin[inst.args[0]] not in usual:
                raise ValueError("Assignments to arrays passed to stencil kernels is not allowed.")
            if inst.op.name != "getitem" or inst.args[0] not in origin or origin[inst.args[0]] in usual:
                continue
            indexed.append(origin[inst.args[0]])
            index = constants.get(inst.args[1])
            index = index if isinstance(index, tuple) else (index,)
            known = all(isinstance(i, (int, np.integer)) for i in index)
            found.append(tuple(map(int, index)) if known else None)
    return found, indexed
