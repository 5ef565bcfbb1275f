"""Calls of BLAS and LAPACK functions by Fortran's conventions: all arguments by address, letters with hidden lengths at
the end."""
from __future__ import annotations

import ctypes

import numpy as np

from ..ir.core import ELEMENTS, HOST, KEEPS_NONE, WRITES_OPERANDS, Op, reads, writes
from ..runtime import blas
from ..types.kinds import Array, Bool, Int
from ..types.lattice import part_of
from .effects import NO_RULE, NONDIFF

__all__ = ["BLAS_OPS"]

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def _element(types):
    return next(t.dtype for t in types if isinstance(t, Array))


def _rule(types, attrs):
    result = attrs.get("result")
    return Int if result == "info" else _element(types) if result == "number" else None


def _stored(e, llvm, value):
    slot = e.alloca(llvm)
    e.line(f"store {llvm} {value}, ptr {slot}")
    return slot


def _lower(e, inst, *operands):
    """Call the function with these operands. Int: a 64-bit word; Bool: 'T' or 'N'; a number: in the element type of the
    arrays; an array: its first element."""
    t = _element([x.type for x in inst.args])
    part = e.scalar(part_of(t))
    name = f"pyjitc_blas_{_LETTERS[t.text]}{inst.attrs['name']}"
    values, letters = [], 0
    for letter in inst.attrs.get("letters", ""):
        values.append(_stored(e, "i8", str(ord(letter))))
        letters += 1
    for a, x in zip(inst.args, operands):
        if isinstance(a.type, Array):
            values.append(x[0])
        elif a.type is Int:
            values.append(_stored(e, "i64", x[0]))
        elif a.type is Bool:
            values.append(_stored(e, "i8", e.assign(f"select i1 {x[0]}, i8 {ord('T')}, i8 {ord('N')}")))
            letters += 1
        else:
            slot = e.alloca(part, 2)
            for k, c in enumerate([*x, "0.0"][:2]):
                e.line(f"store {part} {c}, ptr {e.assign(f'getelementptr {part}, ptr {slot}, i64 {k}')}")
            values.append(slot)
    result = inst.attrs.get("result")
    if result == "info":
        info = _stored(e, "i64", "0")
        values.append(info)
    answer = part if result == "number" else "void"
    given = [f"ptr {v}" for v in values] + ["i64 1"] * letters
    call = f"call {answer} @{name}({', '.join(given)}) nounwind"
    if result == "number":
        return [e.assign(call)]
    e.line(call)
    if result == "info":
        return [e.assign(f"sext i32 {e.assign(f'load i32, ptr {info}')} to i64")]
    return []


def _call(*operands, name, letters="", result=None, writes="all"):
    """The Python function that makes the same call as the lowering."""
    dtype = next(x.dtype for x in operands if isinstance(x, np.ndarray))
    kept = [np.array(ord(c), np.int8) for c in letters]
    lengths = len(letters)
    for x in operands:
        lengths += type(x) is bool
        kept.append(x if isinstance(x, np.ndarray) else np.array(ord("NT"[x]), np.int8) if type(x) is bool
                    else np.array(x, np.int64) if type(x) is int else np.array(x, dtype))
    if result == "info":
        kept.append(np.array(0, np.int64))
    part = dtype.type(0).real.dtype
    kinds = [ctypes.c_void_p] * len(kept) + [ctypes.c_int64] * lengths
    answer = np.ctypeslib.as_ctypes_type(part) if result == "number" else None
    address = blas.address(_LETTERS[dtype.name] + name)
    assert address is not None
    function = ctypes.CFUNCTYPE(answer, *kinds)(address)
    found = function(*(x.ctypes.data for x in kept), *[1] * lengths)
    return (part.type(found) if result == "number" else int(kept[-1].reshape(1).view(np.int32)[0]) if result == "info"
            else None)


BLAS = Op("blas", _rule, reads(ELEMENTS) | writes(ELEMENTS), lower=_lower, partials=NO_RULE, eval=_call,
          eval_attrs=True,
          doc="the BLAS or LAPACK function {name} for the type of the first array; {letters}: constant options that "
              "come first; {result}: 'number', or 'info' for the status of LAPACK, whose argument is added; {writes}: "
              "which of the arrays it writes, 'none', 'last' or 'all', which is meant where nothing is said",
          traits=KEEPS_NONE | WRITES_OPERANDS)


def _threads_lower(e, inst):
    name = f"pyjitc_blas_{blas.THREADS}"
    return [e.assign(f"sext i32 {e.assign(f'call i32 @{name}() nounwind')} to i64")]


def _threads():
    address = blas.address(blas.THREADS)
    assert address is not None
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)()


BLAS_THREADS = Op("blas_threads", lambda types, attrs: Int, reads(HOST), lower=_threads_lower, partials=NONDIFF,
                  eval=_threads, doc="the number of threads that BLAS uses; a large number where BLAS does not report "
                                     "it")

BLAS_OPS = {op.name: op for op in (BLAS, BLAS_THREADS)}
