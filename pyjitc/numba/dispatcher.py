"""The object that `jit` of pyjitc.numba returns: a compiled function with the argument and result types of Numba's
signatures.

A parameter that is declared as an integer of up to 32 bits becomes a Python int, without loss: the interpreter would
compute with that, too. A result is converted to the declared type. Where all parameters are declared as numbers, a
result that is a number becomes a Python number, since programs pass Python numbers.
"""
from __future__ import annotations

import inspect
import itertools
import sys
import warnings
from collections import Counter
from functools import partial
from types import FunctionType
from typing import Iterator, NamedTuple

import numpy as np

from ..api.bound import StaticFunction
from ..api.dispatch import CompiledFunction, dispatcher_class
from ..api.signature import Signature, convert, gives, signature_of
from ..base.errors import CompileError
from ..base.lazy import lazy
from ..base.options import Options
from ..pipeline import cache
from ..pipeline.specialisation import alone
from ..types import kinds
from ..types import text as texts
from ..types.lattice import dtype_of
from ..types.typeof import typeof
from . import types
from .errors import NumbaPerformanceWarning, refused
from .frozen import refresh

__all__ = ["Overload", "NumbaFunction", "SMALL", "Dispatcher"]

meanings, entrypoints = lazy("pyjitc.numba.meanings"), lazy("pyjitc.numba.entrypoints")
meaning = lazy("pyjitc.infer.meaning")
declared = lazy("pyjitc.lib.py.declared")  # only programs with signatures load it

_MOST = 128  # combinations of types for which the option `numba` is changed
SMALL = frozenset(kinds.NpInt(bits, signed) for bits in (8, 16, 32) for signed in (True, False))


def _of_python(t: kinds.Type) -> kinds.Type:
    """The type of an argument that is declared as t: Python's int in place of NumPy's integers of up to 32 bits."""
    if isinstance(t, kinds.Tuple):
        return t.with_parts(map(_of_python, t.parts))
    return kinds.Int if t in SMALL else t


def _is_of_numbers(t: kinds.Type) -> bool:
    return kinds.is_number(t) or isinstance(t, kinds.Tuple) and all(map(_is_of_numbers, t.parts))


def _takes_floats(signature: Signature) -> bool:
    return any(kinds.is_float(t) or kinds.is_complex(t) for t in signature.args)


def _named(t: kinds.Type):
    """Numba's type for t, or t where there is none."""
    try:
        return types.of(t)
    except ValueError:
        return t


def _no_match(given) -> str:
    return f"No matching definition for argument type(s) {', '.join(str(_named(t)) for t in given)}"


def _callable(value):
    """The value in which C functions from cfunc are replaced by their Python functions, also inside tuples and
    lists."""
    if type(value) in (tuple, list) and any(getattr(type(x), "__pyjitc_callback__", False) for x in value):
        return type(value)(map(_callable, value))
    return value.py_func if getattr(type(value), "__pyjitc_callback__", False) else value


def _forced(full, given, wanted):
    """The arguments converted to the declared types; None where one cannot be converted. Fractions are cut off and
    digits are lost as in Numba's conversions of arguments."""
    if len(full) != len(wanted):
        return None
    values = []
    for value, t, declared in zip(full, given, wanted):
        try:
            value = convert(value, t, declared)
        except TypeError:
            if not (kinds.is_number(t) and kinds.is_number(declared)) or (
                    kinds.is_complex(t) and not kinds.is_complex(declared)):
                return None
            value = _cut(value, declared)
        values.append(value)
    return tuple(values)


def _cut(value, declared: kinds.Type):
    """A number converted to a declared type that cannot represent it exactly. A whole number has to be in range."""
    if declared in (kinds.Bool, kinds.NpBool):
        value = bool(value)
    elif kinds.is_integer(declared):
        value = int(value)
        if declared is kinds.uint64 and value < 0:
            raise OverflowError("can't convert negative int to unsigned")
        if declared is not kinds.uint64 and not -1 << 63 <= value < 1 << 63:
            raise OverflowError("int too big to convert")
    return value if kinds.is_python_number(declared) else dtype_of(declared).type(value)


# The cost of converting an argument to a wider type of the same kind, to another type that represents every value, and
# to a type that does not. The last costs twice as much where a fraction or a sign may be lost.
_WIDER, _SAFE, _LOSSY = 1, 100, 10_000


def _cost(given: kinds.Type, declared: kinds.Type) -> int | None:
    """The cost of passing a value of one type where another is declared; None where it cannot be converted."""
    if isinstance(given, kinds.Dual):
        given = given.wide
    if given is declared:
        return 0
    if kinds.is_number(given) and kinds.is_number(declared):
        if kinds.is_complex(given) and not kinds.is_complex(declared):
            return None
        found, wanted = dtype_of(given), dtype_of(declared)
        if not np.can_cast(found, wanted, "safe"):
            return _LOSSY if wanted.kind in (found.kind, "f", "c") else 2 * _LOSSY
        return 0 if found == wanted else _WIDER if found.kind == wanted.kind else _SAFE
    if isinstance(given, kinds.Array) and isinstance(declared, kinds.Array):
        if (given.dtype, given.ndim) != (declared.dtype, declared.ndim):
            return None
        return 0 if given.layout == declared.layout else _WIDER if declared.layout == "A" else _SAFE
    if isinstance(given, kinds.Tuple) and isinstance(declared, kinds.Tuple) and declared.is_like(given):
        costs = [_cost(*parts) for parts in zip(given.parts, declared.parts)]
        return None if None in costs else sum(costs)
    if isinstance(given, kinds.Union) and kinds.is_number(declared) and all(map(kinds.is_number, given.members)):
        costs = [_cost(member, declared) for member in given.members]
        return None if None in costs else max(costs)
    # It is not known here for what an object of the program, a function or a member of an enum may stand.
    return None if _is_plain(given) and _is_plain(declared) else 0


def _is_plain(t: kinds.Type) -> bool:
    return kinds.is_number(t) or isinstance(t, (kinds.Array, kinds.Tuple)) or t in (
        kinds.Str, kinds.Bytes, kinds.NoneType)


def _common(one: kinds.Type | None, other: kinds.Type | None) -> kinds.Type | None:
    """The type of results of two signatures whose parameters are the same: the wider one of integers."""
    if one is None or other is None or not (kinds.is_integer(one) and kinds.is_integer(other)):
        return one
    both = np.promote_types(dtype_of(one), dtype_of(other))
    return next((t for t in (one, other) if dtype_of(t) == both), kinds.int64 if both == np.int64 else one)


def _size(args) -> int:
    return sum(dtype_of(t).itemsize for t in args if kinds.is_number(t))


class _NoForm(TypeError):
    """An argument is of a class that an extension of Numba has registered, and that has no native form."""


def _of_extension(given) -> TypeError:
    """The error for arguments without a native form; it is raised while another one is handled."""
    error = sys.exc_info()[1]
    return _NoForm(str(error)) if any(types.is_of_extension(type(x)) for x in given) else error


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

    def __init__(self, function: FunctionType, options, declared=()):
        super().__init__(function, options if options.numba else options._replace(numba=True), declared)
        results = self.__dict__.get("__results__", {})
        self._declared = [Signature(args, results.get(args, result)) for args, result in
                          {s.args: s.result for s in self._declared}.items()]

    def _replaced(self, value):
        """Arrays of subclasses become arrays: methods and operators of the subclass are ignored. An int that only
        uint64 can represent becomes a uint64, and a greater one a float where a float is declared. A memoryview of
        other items than bytes is the array in its memory, as is an array.array."""
        if isinstance(value, np.ndarray):
            return value.view(np.ndarray)
        if type(value) is memoryview or type(value) is getattr(sys.modules.get("array"), "array", None):
            return np.asarray(value)
        if type(value) is int:
            return np.uint64(value) if 0 <= value < 1 << 64 else float(value) if any(
                map(_takes_floats, self._declared)) else None
        return None

    def _types(self, given):
        given = tuple(map(_callable, given))
        try:
            return super()._types(given)
        except TypeError:
            if not entrypoints.initialised():
                raise _of_extension(given)
        return self._types(given)

    def _of_plain_arrays(self, args, kwargs):
        """The call with arrays of class ndarray in place of those of subclasses: native code takes them as they are,
        without this class."""
        plain = [x.view(np.ndarray) if isinstance(x, np.ndarray) and type(x) is not np.ndarray else x for x in args]
        result = self(*plain, **kwargs)
        return next((given for given, x in zip(args, plain) if result is x), result)

    def _converted(self, full: tuple, types):
        if not self._declared:
            return super()._converted(full, types)
        for signature in (len(self._declared) > 1 and self._fitting(types)) or self._declared:
            values = _forced(full, types, signature.args)
            if values is not None:
                return values, signature.args
        raise TypeError(_no_match(types))

    def _fitting(self, given) -> list[Signature]:
        """The declared signatures that accept arguments of these types, the one with the cheapest conversions first."""
        fitting = []
        for n, signature in enumerate(self._declared):
            if len(given) == len(signature.args):
                costs = [_cost(x, t) for x, t in zip(given, signature.args)]
                if None not in costs:
                    fitting.append((sum(costs), n))
        return [self._declared[n] for _, n in sorted(fitting)]

    def converting(self) -> list:
        return self._declared

    def conversions(self, operands) -> tuple:
        """(the operands converted to the parameter types of a declared signature, the function that converts the result
        or None). The signature is the one that a call from the interpreter would use, but arrays may have any layout.
        With inline="always", no signature counts, as in Numba: the code becomes part of the function that calls."""
        if not self._declared or self.options.inline == "always":
            return operands, None
        given = [x.type for x in operands]
        fitting = self._fitting(given)
        if not fitting:
            raise meaning.Mismatch(_no_match(given))
        chosen = fitting[0]
        made = [declared.passed(x, t) for x, t in zip(operands, chosen.args)]
        if chosen.args not in self.__dict__.get("__shown__", self._wrapped):
            return made, None  # disable_compile() was called, and declares nothing about the result
        numbers = bool(chosen.args) and all(map(_is_of_numbers, chosen.args))
        return made, lambda x: declared.changed(x, chosen.result, numbers, inside=True)

    def _wrong_count(self, signature, given, count):
        return TypeError(f"Signature mismatch: {given} argument types given, but function takes {count} arguments")

    @property
    def _wrapped(self) -> dict:
        """Argument types -> a function that calls this one and converts its result."""
        return self.__dict__.setdefault("__converting__", {})

    def _answer(self, args, kwargs):
        try:
            return self._result(args, kwargs)
        except _NoForm:
            return self._interpreted(args, kwargs)
        except CompileError as error:
            if not entrypoints.initialised():
                if any([types.is_of_extension(type(x)) for x in args]):
                    return self._interpreted(args, kwargs)
                raise refused(error)
        self._failures.clear()
        return self._answer(args, kwargs)

    def _interpreted(self, args, kwargs):
        warnings.warn(f"the interpreter runs {self.__qualname__}(): an argument is of a class that an extension of "
                      f"Numba has registered, and is not compiled here", NumbaPerformanceWarning, stacklevel=3)
        return self.py_func(*args, **kwargs)

    def _result(self, args, kwargs):
        if any([isinstance(x, np.ndarray) and type(x) is not np.ndarray for x in args]):
            return self._of_plain_arrays(args, kwargs)
        if any([isinstance(x, types.Type) for x in (*args, *kwargs.values())]):
            return self._of_types(args, kwargs)
        literal, names = self.__dict__.get("__literal__", (None, ()))
        if literal is not None:
            given = dict(zip(names, self._bind(args, kwargs)))
            if all([meanings.can_be_literal(given[name]) for name in literal.static]):
                return literal(*args, **kwargs)
        try:
            return super()._answer(args, kwargs)
        except CompileError as error:
            if error.reason is meanings.NoOverload:
                try:
                    return self._answer_again(args, kwargs, "constants")
                except CompileError:
                    raise error
            if not meanings.wants_literals(error):
                raise
            first = error
        names = tuple(inspect.signature(self.py_func).parameters)
        for options, chosen in itertools.product(
                (self.options, self.options._replace(numba="constants")),  # a function that is called may ask for them
                meanings.literal_names(self.py_func, dict(zip(names, self._bind(args, kwargs))))):
            literal = StaticFunction(self.py_func, chosen, partial(Dispatcher, options=options))
            try:
                result = literal(*args, **kwargs)
            except CompileError as error:
                if not meanings.wants_literals(error):
                    raise
            else:
                self.__dict__["__literal__"] = literal, names
                return result
        if not meanings.wants_name(first):
            raise first
        return self._answer_again(args, kwargs, "names")  # as in a loop over literal_unroll(names)

    def _answer_again(self, args, kwargs, option: str):
        """Compile for these types with another value of the option `numba`."""
        full, types = self._types(self._bind(args, kwargs))
        if self._declared:
            _, types = self._converted(full, types)
        self._failures.clear()
        changed = self.__dict__.setdefault("__changed_options__", {})
        if len(changed) >= _MOST:
            del changed[next(iter(changed))]
        changed[types] = option
        try:
            return super()._answer(args, kwargs)
        except CompileError:
            del changed[types]
            raise

    def _options_of(self, types) -> Options:
        changed = self.__dict__.get("__changed_options__", {}).get(types)
        options = super()._options_of(types)
        return options if changed is None else options._replace(numba=changed)

    def _of_types(self, args, kwargs):
        """The call of a function that gets types of Numba, which are constants in its code."""
        given = zip(inspect.signature(self.py_func).parameters, self._bind(args, kwargs))
        chosen = tuple(name for name, value in given if isinstance(value, types.Type))
        known = self.__dict__.setdefault("__of_types__", {})
        if chosen not in known:
            known[chosen] = StaticFunction(self.py_func, chosen, lambda made: Dispatcher(made, self.options, ()))
        return known[chosen](*args, **kwargs)

    def _ready(self, types, full) -> bool:
        meanings.wants_literals  # importing it registers Numba's meanings of functions
        return super()._ready(types, full)

    def _source(self, types) -> FunctionType:
        return self._wrapped.get(types, self.py_func)

    def _as_compiled(self, signature) -> Signature:
        given = signature_of(types.signature(signature))
        return Signature(map(_of_python, given.args), given.result)

    def compile(self, signature) -> NumbaFunction:
        """Compile for a signature now, as `jit(signature)` does. The result is the function."""
        given = signature_of(types.signature(signature))
        asked = self._as_compiled(signature)
        if (self._declared or self.__dict__.get("__disabled__")) and asked.args not in self._natives:
            raise RuntimeError("compilation disabled")
        try:
            super().compile(Signature(asked.args))
        except CompileError as error:
            raise refused(error)
        shown, results = self.__dict__.setdefault("__shown__", {}), self.__dict__.setdefault("__results__", {})
        if shown.get(asked.args, given.args) != given.args:  # integers of other sizes are the same here
            asked.result = _common(results[asked.args], asked.result)
            shown[asked.args] = max(shown[asked.args], given.args, key=_size)
            if self._wrapped.pop(asked.args, None) is not None:
                alone(self._recompiled, asked.args)
        else:
            shown[asked.args] = given.args
        results[asked.args] = asked.result
        if asked.args not in self._natives:
            return self  # the interpreter runs the function
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
        return self

    def recompile(self) -> None:
        """Compile every signature again, with the present values of globals and variables of the functions around."""
        refresh(self.py_func)
        super().recompile()

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
    def func_code(self):
        return self.py_func.__code__

    @property
    def targetoptions(self) -> dict:
        return {"nopython": not self.options.objects, "parallel": self.options.parallel}

    @property
    def signatures(self) -> list[tuple]:
        """The argument types compiled so far, the oldest first; those with constants as types are last."""
        return [*(tuple(map(types.of, self._shown(args))) for args in self._order[::-1]),
                *(one.args for one in self._of_constants())]

    def _of_constants(self) -> Iterator:
        """The signatures that were compiled for constants, as functions with `literally` are."""
        literal, names = self.__dict__.get("__literal__", (None, ()))
        if literal is None:
            return
        for static, compiled in zip(literal.constants, literal.specialised):
            held = {name: types.maybe_literal(x) or types.of(typeof(x)) for name, x in static.items()}
            for one in compiled.nopython_signatures:
                rest = iter(one.args)
                args = [held[name] if name in held else next(rest, None) for name in names]
                yield types.Signature(one.return_type, *(t for t in args if t is not None), *rest)

    def _shown(self, args) -> tuple:
        """The argument types as the program declared them, if it did."""
        return self.__dict__.get("__shown__", {}).get(args, args)

    @property
    def nopython_signatures(self) -> list:
        """The signatures compiled so far, with their results; empty in object mode, where nothing is known before a
        call."""
        return [] if self.options.objects else [
            *(self._signature(args) for args in self._order[::-1]), *self._of_constants()]

    def _signature(self, args):
        result = self._natives[args].entry.result
        declared = next((one.result for one in self._declared if one.args == args and one.result is not None), None)
        try:
            if declared is not None:
                result = types.of(declared)
            elif result is None:
                result = types.none
            else:
                result = types.of(texts.parse(result) if isinstance(result, str) else result)
        except ValueError:
            result = types.Dummy(result)
        return types.Signature(result, *map(types.of, self._shown(args)))

    @property
    def overloads(self) -> dict:
        """Argument types -> the specialisation for them."""
        made = [*(self._signature(args) for args in self._order[::-1]), *self._of_constants()]
        return {one.args: Overload(one, self) for one in made}

    @property
    def stats(self) -> CompileStats:
        """The path of the code on disk, and which code was found there and which was not."""
        kept = self._order[::-1] if self.options.cache else ()
        found = {args: self._natives[args].origin != "compiled" for args in kept}
        return CompileStats(cache.folder() if self.options.cache else None, *(
            Counter(tuple(map(types.of, self._shown(args))) for args, there in found.items() if there is wanted)
            for wanted in (True, False)))

    def _inspect(self, stage, signature):
        """The text of a stage: also for a tuple of types of Numba, and with those as the keys of the dict."""
        if signature is None:
            return {args: self._inspect(stage, args) for args in self.signatures}
        return super()._inspect(stage, self._as_compiled(signature).args)

    def inspect_cfg(self, signature=None, show_wrapper=None, **kwargs):
        return self._inspect("cfg", signature)

    def get_annotation_info(self, signature=None) -> dict:
        """(file and line, signature) -> what is known of the code: the name of the function and its typed IR."""
        code = self.py_func.__code__
        place = f"{code.co_filename}:{code.co_firstlineno + 1}"
        found = {}
        for args in self.signatures if signature is None else [signature]:
            asked = self._as_compiled(args).args
            found[place, str(self._signature(asked))] = {
                "filename": code.co_filename, "funcname": self.py_func.__name__, "num_lifted_loops": 0,
                "ir_lines": super()._inspect("typed", asked).splitlines()}
        return found

    def get_overload(self, sig):
        """The compiled function; one object accepts all types."""
        return self

    def get_compile_result(self, sig):
        asked = self._as_compiled(sig).args
        return Overload(self._signature(asked), self)

    def get_metadata(self, signature=None):
        return {args: {} for args in self.signatures} if signature is None else {}


def _blank() -> CompiledFunction:
    return Dispatcher.__new__(Dispatcher)


Dispatcher = dispatcher_class(NumbaFunction, "pyjitc.numba.Dispatcher")
