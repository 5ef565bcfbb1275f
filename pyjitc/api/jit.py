"""The decorators."""
from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any, Callable, Iterable

from ..base.errors import shortened
from ..base.lazy import lazy
from ..base.options import NAMES, Options, environment, make_options, with_environment
from ..runtime import hooks
from ..runtime.dispatcher import ByCount
from ..runtime.objects import is_object_class
from ..types.kinds import Generator, any_part
from .dispatch import ASYNCHRONOUS, CompiledFunction, Dispatcher, interpreted, undecorated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .signature import Signature, TypeName

__all__ = ["njit", "jit", "trace", "compile_options", "decorated"]


_bound, _races = lazy("pyjitc.api.bound"), lazy("pyjitc.api.races")
methods, _tracing = lazy("pyjitc.api.methods"), lazy("pyjitc.api.tracing")
_native_iterators = lazy("pyjitc.lib.py.native_iterators")
_generators, _stages = lazy("pyjitc.front.generators"), lazy("pyjitc.pipeline.stages")
_signature = lazy("pyjitc.api.signature")


def njit(signature: Callable | str | tuple | list | Signature | TypeName | None = None, /, *,
         static_argnames: str | Iterable[str] = (), static_argnums: int | Iterable[int] = (),
         **options: Any) -> CompiledFunction | Callable[[Callable], CompiledFunction]:
    """Compile a function to native code at its first call, for the types of its arguments::

        @njit
        def f(x, n): ...

        @njit(cache=True, fastmath=True)
        def g(a): ...

        @njit("float64(float64[:], int64)")  # now, and for these types only
        def h(a, n): ...

    The last may be a list of signatures, and type objects instead of text: `njit(float64(float64[:], int64))`.

    In a signature, int64, float64, complex128 and boolean mean Python's int, float, complex and bool, and take NumPy
    scalars of these types as well; other scalar types mean NumPy's. `float64[:]` takes arrays of any strides,
    `float64[::1]` contiguous ones. Arguments of other types are converted where that loses nothing, and refused
    otherwise; the result type, if given, must be the type that the function returns.

    As a decorator of a class it compiles the methods, properties, static and class methods; the class itself is not
    changed::

        @njit
        class Body: ...

    Values of the arguments in `static_argnames` or `static_argnums` are constants in the code, which is compiled for
    each value. This is for programs that are written in that way; loops and shapes do not need it.

    Options: see `compile_options`. The result can be called, bound as a method, inspected and pickled like the function
    itself, which is its `py_func`.

    Raises TypeError for anything but a Python function or class, and for an unknown option; ValueError for a wrong
    value of an option. A call raises `CompileError`, a TypeError, where the function cannot be compiled for the types
    of its arguments; TypeError for an argument without a native form; and all exceptions of the program itself.
    """
    return _njit(signature, static_argnames, static_argnums, options)


def jit(signature: Callable | str | tuple | list | Signature | TypeName | None = None, /, *, nopython: bool = False,
        static_argnames: str | Iterable[str] = (), static_argnums: int | Iterable[int] = (),
        **options: Any) -> CompiledFunction | Callable[[Callable], CompiledFunction]:
    """Compile as `njit` does, and leave operations without a native form to the interpreter::

        @jit
        def f(x, n): ...

    An operation on an object of a class that the compiler does not know, a call of a function without a compiled
    meaning, or a construct that is not compiled, is done by the interpreter on Python objects while the function runs;
    all other operations remain native. A function for which that is not possible is run by the interpreter as a whole.
    `f.report()` shows the lines that the interpreter does, each with the reason; `njit` reports the first of them as an
    error.

    Options are those of `njit`; with `nopython=True` it is `njit`.
    """
    if not isinstance(nopython, bool):
        raise TypeError(f"option nopython={nopython!r}: must be True or False")
    return _njit(signature, static_argnames, static_argnums, options if nopython else {**options, "objects": True})


def _njit(signature, static_argnames, static_argnums, options):
    if static_argnames != () or static_argnums != ():
        _options(options)
        if isinstance(signature, (FunctionType, CompiledFunction)):
            return _static(signature, static_argnames, static_argnums, options)
        if signature is not None:
            raise TypeError("a signature and static arguments do not go together")
        return lambda function: _static(function, static_argnames, static_argnums, options)
    if isinstance(signature, ByCount):
        signature = signature.around()
    if isinstance(signature, (FunctionType, CompiledFunction, staticmethod, classmethod, partial)):
        return _decorate(signature, (), options)
    if isinstance(signature, type) and is_object_class(signature):
        return _decorate_class(signature, make_options(options), options)
    if isinstance(signature, type) or (
            callable(signature) and not isinstance(signature, (_signature.TypeName, _signature.Signature))):
        raise _no_function("njit", signature)
    chosen = _options(options)  # wrong options are reported at the decorator
    if signature is None:
        declared = ()
    elif isinstance(signature, list):
        declared = tuple(map(_signature.signature_of, signature))
    else:
        declared = (_signature.signature_of(signature),)
    def decorate(function):
        if isinstance(function, type) and is_object_class(function) and not declared:
            return _decorate_class(function, chosen, options)
        return _decorate(function, declared, options, chosen)

    return decorate


def _options(given: dict) -> Options:
    """The options of a decorator; `objects` is set by jit and is no public option."""
    objects = given.get("objects") is True
    return make_options({name: value for name, value in given.items() if name != "objects" or not objects})._replace(
        objects=objects)


def decorated(function, declared, given: dict, cls: type[CompiledFunction]) -> CompiledFunction:
    """The object that njit(*declared, **given)(function) makes, of class `cls`."""
    return _decorate(function, declared, given, cls=cls)


def _decorate(function, declared, given: dict, chosen: Options | None = None, cls=Dispatcher):
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_decorate(function.__func__, declared, given, chosen, cls))
    options = _options(given) if chosen is None else chosen
    given_partial = trees = None
    if type(function) is partial:
        given_partial, function = function, _bound.plain_partial(function)
    if isinstance(function, CompiledFunction):
        if type(function) is cls and not declared and given in ({}, {"objects": True}) and (
                function.options.objects is bool(given)):
            return function
        trees, function = function.__dict__.get("__trees__"), function.py_func
    if type(function) is not FunctionType:
        raise _no_function("njit", function)
    if function.__code__.co_flags & ASYNCHRONOUS:
        raise TypeError(f"{function.__qualname__}() is asynchronous; njit compiles ordinary functions")
    if _disabled():
        return undecorated(given_partial or function, interpreted(function, options, declared))
    options = with_environment(options)
    made = _races.watched(function, options) if options.races else cls(function, options, declared)
    if trees is not None:
        made.__trees__ = trees.of(made, partial(_decorate_again, given, chosen, made._blank()[0]))
    return made


def _decorate_again(given, chosen, blank, one) -> CompiledFunction:
    """Decorate `one` with the same options. blank: makes an empty object of the class, which picklers cannot name."""
    return _decorate(one, (), given, chosen, type(blank()))


def _of_function(options: tuple, function: FunctionType) -> CompiledFunction:
    """The object that compiled code returns for a function that it made."""
    return Dispatcher(function, Options(*options), ())


def _of_iterator(token, options: tuple):
    """(the compiled functions of an iterator that compiled code passes to the interpreter: one that makes a step, one
    that closes it; whether a generator in it handles exceptions that are thrown into it, which steps do not)."""
    handles = any_part(token.state, lambda t: isinstance(t, Generator) and _generators.is_talked_to(
        _stages.build(t.step.base)))
    step, drop = (Dispatcher(function, Options(*options), ())
                  for function in (_native_iterators.step, _native_iterators.drop))
    return step, drop, handles


hooks.of_function.append(_of_function)
hooks.of_iterator.append(_of_iterator)


def _decorate_class(cls: type, options: Options, given: dict) -> type:
    if _disabled():
        return cls
    return methods.with_methods(cls, lambda function: _decorate(function, (), given, options))


def trace(function: Callable | None = None, /, **options: Any) -> Callable:
    """Compile a function by running it once on tracers, as tracing JITs do, for the types and shapes of its arguments.

    The recording, `trace(f).record(*args)`, prints as a straight line: branches and loops on values raise TracingError,
    with a hint on what njit does with them; globals are read, lists appended to and texts printed only once, during the
    recording.
    """
    if function is None:
        return lambda function: trace(function, **options)
    function = getattr(function, "py_func", function)
    if type(function) is not FunctionType:
        raise _no_function("trace", function)
    traced = _tracing.Traced(function, make_options(options))
    return undecorated(function, traced) if _disabled() else traced


def _no_function(name: str, given) -> TypeError:
    wraps = type(getattr(given, "__wrapped__", None)) is FunctionType  # a function of another compiler, a cache
    return TypeError(f"{name} compiles Python functions, not {shortened(repr(given))}" + (
        f"; put {name} alone above the function, or compile the one that this wraps, its __wrapped__" if wraps else ""))


def _disabled() -> bool:
    return environment("PYJITC_DISABLE") not in ("", "0")


def _static(function, names, numbers, given: dict):
    function = getattr(function, "py_func", function)
    if type(function) is not FunctionType:
        raise _no_function("njit", function)
    wanted = _bound.static_names(function, names, numbers)
    static = _bound.StaticFunction(function, wanted, partial(_compiled, given))
    return undecorated(function, static) if _disabled() else static


def _compiled(given: dict, function: FunctionType) -> CompiledFunction:
    return _decorate(function, (), given)


def compile_options() -> dict[str, object]:
    """The options of `njit` with their defaults."""
    return {name: getattr(Options(), name) for name in NAMES}


if Options.__doc__:  # python -OO removes docstrings
    compile_options.__doc__ += "\n\n" + Options.__doc__.replace("\n    ", "\n").strip()
