"""The object that `jit` of pyjitc.numba returns: a compiled function with the argument and result types of Numba's
signatures.

A parameter that is declared as an integer of up to 32 bits becomes a Python int, without loss: the interpreter would
compute with that, too. A result is converted to the declared type. Where all parameters are declared as numbers, a
result that is a number becomes a Python number, since programs pass Python numbers.
"""
from __future__ import annotations

import inspect
from collections import Counter
from types import FunctionType
from typing import NamedTuple

import numpy as np

from ..api.bound import StaticFunction
from ..api.dispatch import CompiledFunction, dispatcher_class
from ..api.signature import Signature, gives, signature_of
from ..base.errors import CompileError
from ..base.lazy import lazy
from ..pipeline import cache
from ..pipeline.specialisation import alone
from ..types import kinds
from ..types import text as texts
from . import types

__all__ = ["Overload", "NumbaFunction", "SMALL", "Dispatcher"]

extended = lazy("pyjitc.lib.extended")
meanings = lazy("pyjitc.numba.meanings")
declared = lazy("pyjitc.lib.py.declared")  # only programs with signatures load it

SMALL = frozenset(kinds.NpInt(bits, signed) for bits in (8, 16, 32) for signed in (True, False))


def _of_python(t: kinds.Type) -> kinds.Type:
    """The type of an argument that is declared as t: Python's int in place of NumPy's shorter integers."""
    if isinstance(t, kinds.Tuple):
        return t.with_parts(map(_of_python, t.parts))
    return kinds.Int if t in SMALL else t


def _is_of_numbers(t: kinds.Type) -> bool:
    return kinds.is_number(t) or isinstance(t, kinds.Tuple) and all(map(_is_of_numbers, t.parts))


def _callable(value):
    """C functions from cfunc replaced by their Python functions, also inside tuples and lists."""
    if type(value) in (tuple, list) and any(getattr(type(x), "__pyjitc_callback__", False) for x in value):
        return type(value)(map(_callable, value))
    return value.py_func if getattr(type(value), "__pyjitc_callback__", False) else value


class CompileStats(NamedTuple):
    """The path of the code on disk, the argument types for which code was found there or in memory, and those for which
    it was not."""

    cache_path: str | None
    cache_hits: Counter
    cache_misses: Counter


class Overload:
    """One specialisation, in the form that programs inspect."""

    def __init__(self, signature, function):
        self.signature, self.entry_point, self.library, self.metadata = signature, function, None, {}
        self.target_context = self.fndesc = self.type_annotation = None
        self.objectmode = self.interpmode = False
        self.lifted = ()


class NumbaFunction(CompiledFunction):
    """A compiled function with the attributes of Numba's dispatchers."""

    __slots__ = ()

    def _replaced(self, value):
        """Arrays of subclasses become arrays: methods and operators of the subclass are ignored. Where there is a
        signature, an int that only uint64 can represent becomes a uint64."""
        if isinstance(value, np.ndarray):
            return value.view(np.ndarray)
        if type(value) is int and (self._declared or self._wrapped) and 0 <= value < 1 << 64:
            return np.uint64(value)
        return None

    def _types(self, given):
        return super()._types(tuple(map(_callable, given)))

    @property
    def _wrapped(self) -> dict:
        """Argument types -> a function that calls this one and converts its result."""
        return self.__dict__.setdefault("__converting__", {})

    def _answer(self, args, kwargs):
        literal = self.__dict__.get("__literal__")
        if literal is None:
            try:
                return super()._answer(args, kwargs)
            except CompileError as error:
                if not meanings.wants_literals(error):
                    raise
                given = dict(zip(inspect.signature(self.py_func).parameters, self._bind(args, kwargs)))
                names = meanings.literal_names(self.py_func, given)
                if not names:
                    raise
            options = self.options
            literal = self.__dict__["__literal__"] = StaticFunction(
                self.py_func, names, lambda function: Dispatcher(function, options, ()))
        return literal(*args, **kwargs)

    def _ready(self, types, full) -> bool:
        meanings.wants_literals  # importing it registers Numba's meanings of functions
        with extended.as_in_numba():
            return super()._ready(types, full)

    def _source(self, types) -> FunctionType:
        return self._wrapped.get(types, self.py_func)

    def _as_compiled(self, signature) -> Signature:
        given = signature_of(types.signature(signature))
        return Signature(map(_of_python, given.args), given.result)

    def compile(self, signature) -> None:
        """Compile for a signature now, as `jit(signature)` does."""
        asked = self._as_compiled(signature)
        super().compile(Signature(asked.args))
        if asked.args not in self._natives:
            return  # the interpreter runs the function
        numbers = bool(asked.args) and all(map(_is_of_numbers, asked.args))
        found = self._natives[asked.args].entry.result
        wanted = asked.result
        if declared.converts(found, wanted, numbers):
            self._wrapped[asked.args] = declared.converting(self.py_func, wanted, numbers)
            alone(self._recompiled, asked.args)
            found = self._natives[asked.args].entry.result
        if wanted is kinds.NoneType and not gives(asked, found):
            self._unlink(asked.args)
            raise types.errors.TypingError(
                f"signature {asked} declares no result, but {self.__qualname__}() returns {found}; leave the result "
                f"out to take what comes")

    def _recompiled(self, args) -> None:
        self._unlink(args)
        self._ready(args, ())

    def _fill(self, function, options, given) -> None:
        super()._fill(function, options, [(args, None) for args, _ in given])
        for args, result in given:
            numbers = bool(args) and all(map(_is_of_numbers, args))
            if result is not None or numbers:
                self._wrapped[args] = declared.converting(function, result, numbers)

    def _blank(self) -> tuple:
        return (_blank,)

    # -- attributes that programs inspect

    @property
    def targetoptions(self) -> dict:
        return {"nopython": not self.options.objects, "parallel": self.options.parallel}

    @property
    def signatures(self) -> list[tuple]:
        """The argument types compiled so far, the oldest first."""
        return [tuple(map(types.of, args)) for args in self._order[::-1]]

    @property
    def nopython_signatures(self) -> list:
        """The signatures compiled so far, with their results."""
        return [self._signature(args) for args in self._order[::-1]]

    def _signature(self, args):
        result = self._natives[args].entry.result
        try:
            result = types.of(texts.parse(result)) if isinstance(result, str) else types.none if result is None else (
                types.of(result))
        except ValueError:
            result = types.Dummy(result)
        return types.Signature(result, *map(types.of, args))

    @property
    def overloads(self) -> dict:
        """Argument types -> the specialisation for them."""
        return {tuple(map(types.of, args)): Overload(self._signature(args), self) for args in self._order[::-1]}

    @property
    def stats(self) -> CompileStats:
        """The path of the code on disk, and which code was found there and which was not."""
        kept = self._order[::-1] if self.options.cache else ()
        found = {args: self._natives[args].origin != "compiled" for args in kept}
        return CompileStats(cache.folder() if self.options.cache else None, *(
            Counter(tuple(map(types.of, args)) for args, there in found.items() if there is wanted)
            for wanted in (True, False)))

    def get_overload(self, sig):
        """The compiled function; one object accepts all types."""
        return self

    def get_compile_result(self, sig):
        asked = signature_of(types.signature(sig)).args
        return Overload(self._signature(asked), self)

    def get_metadata(self, signature=None):
        return {args: {} for args in self.signatures} if signature is None else {}


def _blank() -> CompiledFunction:
    return Dispatcher.__new__(Dispatcher)


Dispatcher = dispatcher_class(NumbaFunction, "pyjitc.numba.Dispatcher")
