"""Calls of ufuncs that programs make, in compiled code: element functions become calls of the program's function, which
fuse with other operations; the function of a generalised ufunc is called for each core."""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, NotNative, Throw
from ....ops.structure import TUPLE_GET, TUPLE_MAKE
from ....runtime import ufuncs
from ....types import kinds as k
from ....types.lattice import dtype_of
from ...build import is_sequence, a_type
from ...rule import NONE
from ..shapes.splitting import spread
from ..shapes.views import place
from . import elementwise, scalars
from .ufuncs import loop

__all__ = ["call"]


def call(function: np.ufunc, args, kwargs) -> Expr | None:
    """The expression of function(*args, **kwargs), or None for a ufunc that was not made by this package."""
    record = ufuncs.record_of(function)
    if record is None:
        return None
    if hasattr(record, "cores"):  # NumPy gives a layout without dimensions no signature
        return _generalised(function, record, args, kwargs)
    if kwargs or len(args) != function.nin or any(
            isinstance(x.type, (k.Array, k.Tuple, k.Struct, k.ListDisplay)) for x in args):
        return elementwise.rule_of(function)(args, kwargs)
    return scalars.ufunc_call(function, args)


def _tuple(parts) -> Expr:
    return Apply(TUPLE_MAKE, *parts, cls=None)


def _generalised(function: np.ufunc, record, args, kwargs) -> Expr:
    args, name = list(args), function.__name__
    out = kwargs.pop("out", None) if kwargs else None
    if kwargs:
        raise NotNative(f"{name}() with {', '.join(kwargs)}= is not compiled", "give the operands and out= alone")
    if not function.nin <= len(args) <= function.nargs:
        raise Mismatch(f"{name}() takes from {function.nin} to {function.nargs} positional arguments but {len(args)} "
                       f"were given")
    outs = args[function.nin:]
    if out is not None:
        outs = ([Apply(TUPLE_GET, out, index=i) for i in range(len(out.type.elements))]
                if isinstance(out.type, k.Tuple) else [out])
    outs += [NONE] * (function.nout - len(outs))
    ins = []
    for x in args[:function.nin]:
        if is_sequence(x.type):
            return CallValue(constant(function), *(CallValue(constant(np.asarray), y) if is_sequence(y.type) else y
                                                   for y in args[:function.nin]), keywords={"out": _tuple(outs)})
        if not isinstance(x.type, k.Array) and not k.is_scalar(x.type):
            raise NotNative(f"{name}() of {a_type(x.type)} is not compiled", "use arrays and numbers")
        ins.append(elementwise.scalar_array(x) if not isinstance(x.type, k.Array) else x)
    for j, x in enumerate(args[:function.nin]):
        ndim = x.type.ndim if isinstance(x.type, k.Array) else 0
        if ndim < len(record.cores[j]):
            return Throw(ValueError, f"{name}: Input operand {j} does not have enough dimensions (has {ndim}, gufunc "
                         f"core with signature {function.signature} requires {len(record.cores[j])})")
    found = loop(function, tuple(elementwise.element_type(x) for x in args[:function.nin]))
    cores = record.cores
    sizes = 1 + max((d for one in cores for d in one), default=-1)
    return Call(run, constant(record.function), _tuple(ins), _tuple(outs),
                _constants([*cores[:function.nin]]), _constants([*cores[function.nin:]]),
                _constants([bool(one) for one in record.shapes[:function.nin]]),
                _tuple([_dtype(t) for t in found.inputs]), _tuple([_dtype(t) for t in found.outputs]),
                constant(sizes), constant(name), constant(function.signature or ""))


def _dtype(t) -> Const:
    return Const(k.DType(t), dtype_of(t))


def _constants(value) -> Expr:
    return _tuple([_constants(one) if isinstance(one, (tuple, list)) else constant(one) for one in value])


# ---------------------------------------------------------------- in the compiled subset


def run(f, ins, outs, cores, results, as_arrays, in_types, out_types, sizes, name, signature):
    ins = as_types(ins, in_types, 0)
    lengths = core_lengths(ins, cores, sizes, 0)
    check_cores(ins, cores, lengths, name, signature, 0)
    outer = outer_shape(ins, cores, 0)
    ins = all_spread(ins, cores, outer, 0)
    found = places(outer, results, lengths, out_types, 0)
    for i in range(total(outer, 0)):
        at = place(outer, i, len(outer))
        f(*cores_at(ins, at, cores, as_arrays, 0), *results_at(found, at, 0))
    return given(finished(found, results, 0), outs)


def as_types(arrays, types, j):
    if j == len(arrays):
        return ()
    a = arrays[j]
    return (a if a.dtype == types[j] else a.astype(types[j]),) + as_types(arrays, types, j + 1)


def core_lengths(ins, cores, sizes, d):
    """The length of each core dimension."""
    return () if d == sizes else (core_length(ins, cores, d, 0, 0),) + core_lengths(ins, cores, sizes, d + 1)


def core_length(ins, cores, d, j, n):
    if j == len(ins):
        raise ValueError("a core dimension of the result is none of the operands'")
    if n == len(cores[j]):
        return core_length(ins, cores, d, j + 1, 0)
    if cores[j][n] == d:
        return ins[j].shape[ins[j].ndim - len(cores[j]) + n]
    return core_length(ins, cores, d, j, n + 1)


def check_cores(ins, cores, lengths, name, signature, j):
    if j < len(ins):
        check_core(ins[j], cores[j], lengths, name, signature, j, 0)
        check_cores(ins, cores, lengths, name, signature, j + 1)


def check_core(a, core, lengths, name, signature, j, n):
    if n < len(core):
        size = a.shape[a.ndim - len(core) + n]
        if size != lengths[core[n]]:
            raise ValueError(f"{name}: Input operand {j} has a mismatch in its core dimension {n}, with gufunc "
                             f"signature {signature} (size {size} is different from {lengths[core[n]]})")
        check_core(a, core, lengths, name, signature, j, n + 1)


def outer_shape(ins, cores, j):
    shape = ins[j].shape[:ins[j].ndim - len(cores[j])]
    if j == len(ins) - 1:
        return shape
    return np.broadcast_shapes(shape, outer_shape(ins, cores, j + 1))


def all_spread(ins, cores, outer, j):
    if j == len(ins):
        return ()
    a = ins[j]
    return (spread(a, outer + a.shape[a.ndim - len(cores[j]):]),) + all_spread(ins, cores, outer, j + 1)


def places(outer, results, lengths, types, j):
    """The arrays into which results are written; a result without core dimensions gets an axis of length 1."""
    if j == len(results):
        return ()
    core = core_shape(results[j], lengths, 0)
    return (np.empty(outer + (core if len(core) else (1,)), types[j]),) + places(outer, results, lengths, types, j + 1)


def core_shape(core, lengths, n):
    return () if n == len(core) else (lengths[core[n]],) + core_shape(core, lengths, n + 1)


def total(shape, j):
    return 1 if j == len(shape) else shape[j] * total(shape, j + 1)


def cores_at(ins, at, cores, as_arrays, j):
    if j == len(ins):
        return ()
    a = ins[j]
    if len(cores[j]):
        return (a[at],) + cores_at(ins, at, cores, as_arrays, j + 1)
    if as_arrays[j]:
        return (a[at + (None,)],) + cores_at(ins, at, cores, as_arrays, j + 1)
    return (a[at],) + cores_at(ins, at, cores, as_arrays, j + 1)


def results_at(arrays, at, j):
    return () if j == len(arrays) else (arrays[j][at],) + results_at(arrays, at, j + 1)


def finished(arrays, results, j):
    if j == len(arrays):
        return ()
    return (arrays[j] if len(results[j]) else arrays[j][..., 0],) + finished(arrays, results, j + 1)


def given(arrays, outs):
    placed = put(arrays, outs, 0)
    return placed[0] if len(placed) == 1 else placed


def put(arrays, outs, j):
    if j == len(arrays):
        return ()
    return (put_one(arrays[j], outs[j]),) + put(arrays, outs, j + 1)


def put_one(a, out):
    if out is None:
        if isinstance(a, np.ndarray) and a.ndim == 0:
            return a[()]
        return a
    out[...] = a
    return out
