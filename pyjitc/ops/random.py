"""Random numbers: draws from the bit generator inside a NumPy Generator or RandomState, and NumPy's C functions on it.

Compiled code does not take the generator's lock: a thread that draws from the same generator while NumPy fills an array
without the interpreter lock, or the other way round, gets a mixed stream, as with NumPy's own extension interface.
"""
from __future__ import annotations

import ctypes
from typing import Any, Callable

import numpy as np

from ..ir.core import ALLOCATES, ELEMENTS, FREE, ONE_FOR_ALL, PURE, RANDOM, SINGULAR, Op, reads, writes
from ..runtime import random
from ..types.kinds import Bool, Float, Instance, Int, NpBool, PythonRandom, uint32, uint64
from .effects import NO_RULE, NONDIFF, UNVARIED
from .lowering import extended

__all__ = ["RANDOM_OPS", "REPARAMETRISED"]

_EFFECTS = reads(RANDOM) | writes(RANDOM)
# Compiled code also reads words of a Mersenne Twister from its state without a call, so these calls are not the only
# accesses to that memory.
_QUICK = "nounwind willreturn"
_SLOT = {"uint64": 1, "uint32": 2, "double": 3}
_RESULT = {"uint64": uint64, "uint32": uint32, "double": Float}
_STREAM_WORDS = 4  # words of the state of a chunk's generator (codegen/pool.py)
_BINOMIAL_WORDS = 18  # words of binomial_t: values that a draw caches for the next one with the same n and p


def _at(e, pointer, offset):
    return e.assign(f"getelementptr i8, ptr {pointer}, i64 {offset}")


def _bitgen(e, inst, generator):
    return _at(e, generator[0], random.bitgen_offset(inst.args[0].type.cls))


def _next_lower(e, inst, generator):
    kind = inst.attrs["kind"]
    bitgen = _bitgen(e, inst, generator)
    if kind == "uint32" and inst.args[0].type.cls is np.random.RandomState:  # nearly always of a Mersenne Twister
        return [e.assign(f"call i32 {e.helper('pyj_random_word')}(ptr {bitgen})")]
    state = e.assign(f"load ptr, ptr {bitgen}, align 8")
    function = e.assign(f"load ptr, ptr {_at(e, bitgen, 8 * _SLOT[kind])}, align 8")
    return [e.assign(f"call {e.scalar(_RESULT[kind])} {function}(ptr {state}) {_QUICK}")]


def _call_lower(e, inst, generator, *operands):
    result = inst.attrs["result"]
    types, values = ([], []) if inst.attrs.get("bare") else (["ptr"], [_bitgen(e, inst, generator)])
    for a, x in zip(inst.args[1:], operands):
        types.append(extended(a.type, e.scalar(a.type)))
        values.append(x[0])
    if inst.attrs.get("binomial"):
        kept = e.alloca("i64", _BINOMIAL_WORDS)
        e.at_entry(f"store i64 0, ptr {kept}")
        types.append("ptr")
        values.append(kept)
    # the address of an array is an int here, a pointer elsewhere
    function = e.external(f"pyjitc_random_{inst.attrs['symbol']}")
    answer = "void" if result is None else e.scalar(result)
    call = f"call {answer} {function}({', '.join(f'{t} {v}' for t, v in zip(types, values))}) {_QUICK}"
    if result is None:
        e.line(call)
        return []
    return [e.assign(call)]


def _bounded_lower(e, inst, generator, offset, span, masked):
    """One integer in [offset, offset + span], by NumPy's function that fills an array with such integers."""
    t = inst.args[1].type
    llvm = e.scalar(t)
    width = "i8" if llvm == "i1" else llvm
    slot = e.alloca(width)
    c = extended(t, llvm)
    function = e.external(f"pyjitc_random_random_bounded_{'bool' if t is NpBool else t.text}_fill")
    e.line(f"call void {function}(ptr {_bitgen(e, inst, generator)}, {c} {offset[0]}, {c} {span[0]}, i64 1, i1 "
           f"zeroext {masked[0]}, ptr {slot}) {_QUICK}")
    value = e.assign(f"load {width}, ptr {slot}")
    return [e.assign(f"icmp ne i8 {value}, 0") if llvm == "i1" else value]


def _gauss(e, generator, offset: int) -> str:
    """The address of a field of a RandomState; lib/np/random uses it only where its offset is known."""
    start = random.gauss_offset()
    assert start is not None
    return _at(e, generator[0], start + offset)


def _gauss_get_lower(e, inst, generator):
    where = _gauss(e, generator, 8)
    has = e.assign(f"icmp ne i32 {e.assign(f'load i32, ptr {where}, align 8')}, 0")
    return [has]


def _gauss_kept_lower(e, inst, generator):
    return [e.assign(f"load double, ptr {_gauss(e, generator, 16)}, align 8")]


def _gauss_put_lower(e, inst, generator, has, value):
    where = _gauss(e, generator, 8)
    e.line(f"store i32 {e.assign(f'zext i1 {has[0]} to i32')}, ptr {where}, align 8")
    e.line(f"store double {value[0]}, ptr {_at(e, where, 8)}, align 8")
    return []


def _table_lower(e, inst, index):
    row = "fwk".index(inst.attrs["row"])
    kind = "i64" if row == 2 else "double"
    table = _at(e, e.external("pyjitc_random_normal_tables"), 2048 * row)
    where = e.assign(f"getelementptr {kind}, ptr {table}, i64 {index[0]}")
    return [e.assign(f"load {kind}, ptr {where}, align 8")]


def _global_lower(e, inst):
    pointer = e.external("pyjitc_random_global")
    e.line(f"call void {e.helper('pyj_retain_object')}(ptr {pointer})")
    return [pointer]


def _word_lower(e, inst, generator):
    offset = random.python_state_offset()
    assert offset is not None  # lib/py/random_numbers.py uses this only where the offset is known
    return [e.assign(f"call i32 {e.helper('pyj_mersenne')}(ptr {_at(e, generator[0], offset)})")]


def _python_global_lower(e, inst):
    pointer = e.external("pyjitc_random_python_global")
    e.line(f"call void {e.helper('pyj_retain_object')}(ptr {pointer})")
    return [pointer]


def _chunk_lower(e, inst, seed, chunk):
    """Memory with the parts of a generator object that draws access: its bitgen_t, and the cached normal number."""
    cls = inst.attrs["cls"]
    size = (cls.__basicsize__ + 7) // 8
    memory = e.alloca("i64", size + _STREAM_WORDS)
    kept = random.gauss_offset() if cls is np.random.RandomState else None
    gauss = -1 if kept is None else kept
    e.line(f"call void @pyjitc_stream(ptr {memory}, i64 {random.bitgen_offset(cls)}, i64 {gauss}, i64 {8 * size}, "
           f"i64 {seed[0]}, i64 {chunk[0]})")
    return [memory]


# ---------------------------------------------------------------- Python meanings: calls of the same functions


def _bits(generator):
    return (generator.bit_generator if hasattr(generator, "bit_generator") else generator._bit_generator).ctypes


def _next(generator, *, kind):
    interface = _bits(generator)
    drawn = getattr(interface, f"next_{kind}")(interface.state)
    return drawn if kind == "double" else getattr(np, kind)(drawn)


def _word(value):
    """(C type, value for it) of an argument."""
    dtype = np.dtype({int: np.int64, float: np.float64, bool: np.bool_}.get(type(value), type(value)))
    return np.ctypeslib.as_ctypes_type(dtype), value.item() if isinstance(value, np.generic) else value


def _called(generator, *operands, symbol, result, bare=False, binomial=False, fills=False):
    given = [] if bare else [(ctypes.c_void_p, _bits(generator).bit_generator.value)]
    given += map(_word, operands)
    if binomial:
        room = (ctypes.c_int64 * _BINOMIAL_WORDS)()
        given.append((ctypes.c_void_p, ctypes.addressof(room)))
    dtype: Any = None if result is None else np.dtype(_PYTHON.get(result) or result.text.rstrip("_"))
    answer = None if result is None else np.ctypeslib.as_ctypes_type(dtype)
    address = random.address(symbol)
    assert address is not None
    drawn = ctypes.CFUNCTYPE(answer, *(t for t, _ in given))(address)(*(x for _, x in given))
    return None if result is None else drawn if result in _PYTHON else dtype.type(drawn)


_PYTHON = {Int: np.int64, Float: np.float64, Bool: np.bool_}


def _bounded(generator, offset, span, masked):
    found = np.empty(1, type(offset))
    _called(generator, offset, span, 1, bool(masked), found.ctypes.data,
            symbol=f"random_bounded_{found.dtype.name}_fill", result=None)
    return found[0]


def _put_gauss(generator, has, value):
    generator.set_state({**generator.get_state(legacy=False), "has_gauss": int(has), "gauss": value})


def _table(index, *, row):
    tables = random.normal_tables()
    assert tables is not None
    found = tables["fwk".index(row), index]
    return int(found.view(np.int64)) if row == "k" else float(found)


def _by_location_and_scale(b, loc, scale, x):
    return b.const(1.0), b.fdiv(b.fsub(x, loc), scale)


def _by_power(b, a, x):
    """The partial derivative of x = u ** (1 / a), where u does not depend on a."""
    return (b.fneg(b.fdiv(b.fmul(x, b.log(x)), a)),)


def _by_pareto(b, a, x):
    return (b.fneg(b.fdiv(b.fmul(b.fadd(x, b.const(1.0)), b.log1p(x)), a)),)


def _by_lognormal(b, mean, sigma, x):
    return x, b.fdiv(b.fmul(x, b.fsub(b.log(x), mean)), sigma)


def _by_corners(b, left, mode, right, x):
    """The partial derivatives of a triangular number: below the mode, (x - left) ** 2 is u * (mode - left) * (right -
    left) for a u of [0, 1); above it, (right - x) ** 2 is u * (right - mode) * (right - left)."""
    one, zero, half = b.const(1.0), b.const(0.0), b.const(0.5)
    below = b.fle(x, mode)
    near = b.select(below, b.fsub(x, left), b.fsub(x, right))
    by_base = b.fmul(half, b.fdiv(near, b.fsub(right, left)))
    by_side = b.fmul(half, b.fdiv(near, b.select(below, b.fsub(mode, left), b.fsub(right, mode))))
    by_left = b.fsub(b.select(below, b.fsub(one, by_side), zero), by_base)
    by_right = b.fadd(b.select(below, zero, b.fadd(one, by_side)), by_base)
    return by_left, b.select(below, by_side, b.fneg(by_side)), by_right


# NumPy's function -> (b, parameters, number drawn) -> the partial derivatives of that number with respect to the
# parameters, for functions that draw the same bits whatever the parameters are. The others reject numbers in a loop.
REPARAMETRISED: dict[str, Callable] = {
    "random_uniform": _by_location_and_scale, "random_laplace": _by_location_and_scale,
    "random_gumbel": _by_location_and_scale, "random_logistic": _by_location_and_scale,
    "random_normal": _by_location_and_scale, "random_lognormal": _by_lognormal,
    "random_rayleigh": lambda b, scale, x: (b.fdiv(x, scale),), "random_weibull": _by_power,
    "random_power": _by_power, "random_pareto": _by_pareto, "random_triangular": _by_corners,
}


def _draw_partials(b, generator, *rest):
    return None, *REPARAMETRISED[rest[-1].inst.attrs["symbol"]](b, *rest)


RANDOM_NEXT = Op("random_next", lambda types, attrs: _RESULT[attrs["kind"]], _EFFECTS, lower=_next_lower,
                 partials=UNVARIED, eval=_next, eval_attrs=True,
                 doc="the next uint64, uint32 or double ({kind}) of the bit generator of a generator object")
RANDOM_CALL = Op("random_call", lambda types, attrs: attrs["result"], _EFFECTS | reads(ELEMENTS) | writes(ELEMENTS),
                 lower=_call_lower, partials=NO_RULE,
                 eval=_called, eval_attrs=True,
                 doc="call NumPy's C function {symbol} with the bit generator ({bare}: without it) and the other "
                     "operands, where addresses are ints; {result}: its result type; {binomial}: with memory for the "
                     "values that a draw caches; {fills}: it writes all elements of the one array whose address it "
                     "gets")
RANDOM_DRAW = Op("random_draw", lambda types, attrs: attrs["result"], _EFFECTS, lower=_call_lower,
                 partials=_draw_partials, eval=_called, eval_attrs=True, traits=SINGULAR,
                 doc="call NumPy's C function {symbol}, with the result type {result}, as random_call does; it draws "
                     "from a distribution whose numbers change smoothly with its parameters")
REJECTING = Op("rejecting", lambda types, attrs: types[0], PURE, lower=lambda e, inst, x: x, partials=NO_RULE,
               eval=lambda x: x, cost=FREE,
               doc="the operand, a parameter by which a loop of the library rejects some of the numbers that it "
                   "draws, or chooses among them")
RANDOM_BOUNDED = Op("random_bounded", lambda types, attrs: types[1], _EFFECTS, lower=_bounded_lower, partials=NONDIFF,
                    eval=_bounded,
                    doc="a random unsigned integer of [offset, offset + span], by masks or by Lemire's method")
GAUSS_GET = Op("gauss_get", lambda types, attrs: Bool, reads(RANDOM), lower=_gauss_get_lower, partials=NONDIFF,
               eval=lambda generator: bool(generator.get_state(legacy=False)["has_gauss"]),
               doc="whether a RandomState keeps a normal number")
GAUSS_KEPT = Op("gauss_kept", lambda types, attrs: Float, reads(RANDOM), lower=_gauss_kept_lower, partials=UNVARIED,
                eval=lambda generator: generator.get_state(legacy=False)["gauss"],
                doc="the normal number that a RandomState keeps")
GAUSS_PUT = Op("gauss_put", lambda types, attrs: None, writes(RANDOM), lower=_gauss_put_lower, partials=UNVARIED,
               eval=_put_gauss,
               doc="keep a normal number in a RandomState")
NORMAL_TABLE = Op("normal_table", lambda types, attrs: Int if attrs["row"] == "k" else Float, reads(RANDOM),
                  lower=_table_lower,
                  partials=UNVARIED, eval=_table, eval_attrs=True,
                  doc="an element of table {row} of the ziggurat for normal numbers")
RANDOM_GLOBAL = Op("random_global", lambda types, attrs: Instance(attrs["cls"]), ALLOCATES, lower=_global_lower,
                   partials=NONDIFF, eval=lambda *, cls: np.random.mtrand._rand, eval_attrs=True,
                   doc="the RandomState, of class {cls}, whose methods are the functions of np.random",
                   traits=ONE_FOR_ALL)

PYTHON_RANDOM_WORD = Op("python_random_word", lambda types, attrs: uint32, _EFFECTS, lower=_word_lower,
                        partials=NONDIFF, eval=lambda generator: np.uint32(generator.getrandbits(32)),
                        doc="the next 32 random bits of a random.Random")
PYTHON_RANDOM_GLOBAL = Op("python_random_global", lambda types, attrs: PythonRandom, ALLOCATES,
                          lower=_python_global_lower, partials=NONDIFF,
                          eval=lambda: random.python_global(),
                          doc="the random.Random whose methods are the functions of the module random")
CHUNK_RANDOM = Op("chunk_random", lambda types, attrs: Instance(attrs["cls"]), writes(RANDOM), lower=_chunk_lower,
                  partials=NONDIFF,
                  eval=lambda seed, chunk, *, cls: cls(np.random.PCG64([int(seed), chunk])), eval_attrs=True,
                  doc="the generator that replaces one of class {cls} in a chunk of a parallel loop: it has a stream "
                      "of its own, seeded by a number that the generator has drawn and by the number of the chunk")

RANDOM_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
