"""The module `random` and objects of random.Random: the same stream of numbers as in the interpreter, from the same
state.

The functions that draw bits are here. The distributions are compiled from the interpreter's own methods, so that they
are those of its version. Methods that use more than the state of the generator (`seed`, `gauss`, `getstate`) are called
on the object in the interpreter. As in CPython, the interpreter lock guards the state.
"""
from __future__ import annotations

import operator
import random

from ...infer.constants import constant
from ...infer.meaning import Apply, Call, CallValue, Const, Mismatch
from ...infer.names import describe
from ...ops.pyobject import PY_CALL, PY_UNBOX
from ...ops.random import PYTHON_RANDOM_GLOBAL, PYTHON_RANDOM_WORD, REJECTING
from ...ops.structure import METHOD_MAKE
from ...runtime.random import python_state_offset
from ...types.kinds import Bool, Bytes, Float, Int, NoneType, Object, PythonRandom, is_float, is_integer
from ..build import outlined
from ..protocol import Protocol, boxed, by_python, text_by_python
from ..rule import Rule, intrinsic
from .conversions import to_index

__all__ = ["CALLS", "PROTOCOLS"]


def word(gen):
    """The next 32 random bits, an int."""
    return int(PYTHON_RANDOM_WORD(gen))


def double(gen):
    """A float in [0, 1) of 53 random bits."""
    high = word(gen) >> 5
    return (high * 67108864.0 + (word(gen) >> 6)) * (1.0 / 9007199254740992.0)


def bits(gen, k):
    """An int of k random bits; 64 bits must hold it."""
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    result = 0
    shift = 0
    while k > 32:
        result += word(gen) << shift
        shift += 32
        k -= 32
    if k > 0:
        result += word(gen) >> 32 - k << shift
    return result


def below(gen, n):
    """An int in [0, n), by rejection; 0 for n == 0, as in CPython 3.10 (later versions loop for ever)."""
    if n <= 0:
        return 0
    k = 0
    rest = n
    while rest > 0:
        rest >>= 1
        k += 1
    found = bits(gen, k)
    while found >= n:
        found = bits(gen, k)
    return found


@intrinsic
def asked(gen, *bounds):
    """A call of the interpreter's own randrange, for its errors."""
    return by_python(random.Random.randrange, gen, *bounds, type=Int)


@outlined
def range_to(gen, stop):
    return asked(gen, stop) if stop <= 0 else below(gen, stop)


@outlined
def range_of(gen, start, stop, step):
    width = stop - start
    if step > 0:
        n = (width + step - 1) // step
    elif step < 0:
        n = (width + step + 1) // step
    else:
        n = 0
    if n <= 0:
        return asked(gen, start, stop, step)
    return start + step * below(gen, n)


# ---------------------------------------------------------------- methods

_SIGNATURES = {"random": "gen, /", "getrandbits": "gen, k, /", "_randbelow": "gen, n",
               "randrange": "gen, start, stop=None, step=1"}


def _rule(name):
    return lambda function: Rule(function, f"random.{name}", _SIGNATURES[name])


@_rule("random")
def _random(gen):
    return Call(double, gen)


@_rule("getrandbits")
def _getrandbits(gen, k):
    if not is_integer(k.type) and k.type is not Bool:
        raise Mismatch(f"{describe(k.type)} object cannot be interpreted as an integer")
    return Call(bits, gen, to_index(k))


@_rule("_randbelow")
def _randbelow(gen, n):
    return Call(below, gen, n)


@_rule("randrange")
def _randrange(gen, start, stop, step):
    bounds = [start] if stop is None else [start, stop, step]
    if not all(is_integer(x.type) or x.type is Bool for x in bounds):
        return by_python(random.Random.randrange, gen, *bounds, type=Int)
    return Call(range_to if stop is None else range_of, gen, *map(to_index, bounds))


_OWN = {"random": _random, "getrandbits": _getrandbits, "_randbelow": _randbelow, "randrange": _randrange}
# Methods that are called in the interpreter: name -> type of the result.
_ASKED = {"gauss": Float, "seed": NoneType, "getstate": Object, "setstate": NoneType, "randbytes": Bytes}
# Methods whose loop rejects some of the numbers that it draws: name -> (position, name) of the parameter that decides.
_REJECTING = {"gammavariate": (0, "alpha"), "vonmisesvariate": (1, "kappa")}


def _rejecting(name, args, kwargs):
    """The arguments of a method; those with respect to which it has no derivative are marked."""
    at, keyword = _REJECTING[name]
    args = [Apply(REJECTING, x) if n == at and is_float(x.type) else x for n, x in enumerate(args)]
    return args, {key: Apply(REJECTING, x) if key == keyword and is_float(x.type) else x for key, x in kwargs.items()}


class _Generator(Protocol):
    """The protocol of objects of random.Random."""

    has_identity = True
    text = text_by_python

    def identical(self, x, y):
        return by_python(operator.is_, x, y, type=Bool) if x.type is y.type else None

    def attribute(self, x, name):
        function = getattr(random.Random, name, None)
        return Apply(METHOD_MAKE, x, name=name) if callable(function) and (
            not name.startswith("_") or name == "_randbelow") else None

    def method(self, x, name, args, kwargs):
        if name in _OWN and python_state_offset() is not None:
            return _OWN[name]([x, *args], kwargs)
        function = getattr(random.Random, name)
        if name in _ASKED:
            found = Apply(PY_CALL, Const(Object, function), *map(boxed, [x, *args, *kwargs.values()]),
                          kwnames=tuple(kwargs))
            t = _ASKED[name]
            return found if t is Object else Apply(PY_UNBOX, found, type=t)
        if name in _REJECTING:
            args, kwargs = _rejecting(name, args, kwargs)
        return CallValue(constant(function), x, *args, keywords=kwargs)


PROTOCOLS = {type(PythonRandom): _Generator()}


def _of_module(name):
    def rule(args, kwargs):
        return PROTOCOLS[type(PythonRandom)].method(Apply(PYTHON_RANDOM_GLOBAL), name, args, kwargs)

    return rule


# The functions of the module: methods of one object.
CALLS = {getattr(random, name): _of_module(name) for name in random.__all__ if not isinstance(
    getattr(random, name), type)}
