"""The decorators of a package that was built ahead of time (see ahead.py): its functions run the code that is shipped
with it. This is the top module of the part of pyjitc in such a package, which has no compiler.

A decorator does not search for code: the first call of a function does, and imports the modules that this needs.
"""
from __future__ import annotations

import warnings
from functools import partial
from types import FunctionType

from ..base.absent import absent
from ..base.lazy import lazy
from ..base.options import Options, environment, make_options
from ..runtime import hooks
from ..types import NAMES_OF_TYPES
from . import dispatch
from .dispatch import ASYNCHRONOUS, CompiledFunction, interpreted, undecorated
from .methods import with_methods

__all__ = ["LATER", "ShippedFunction", "jit", "njit", "own_names"]

_shipped = lazy("pyjitc.pipeline.shipped")
_text, _signature = lazy("pyjitc.types.text"), lazy("pyjitc.api.signature")

_OF_SIGNATURES = "TypeName", "signature_of", *NAMES_OF_TYPES
_ERRORS = "PyjitcError CompileError TypingError UnsupportedError ParallelWarning RaceError".split()
_THREADS = ("prange set_num_threads get_num_threads get_thread_id set_parallel_chunksize get_parallel_chunksize "
            "parallel_chunksize").split()


LATER = {**dict.fromkeys(_OF_SIGNATURES, _signature),
         **dict.fromkeys(_ERRORS, lazy("pyjitc.base.errors")), **dict.fromkeys(_THREADS, lazy("pyjitc.runtime.pool"))}


class ShippedFunction(CompiledFunction):
    """A function whose code is shipped with its package. `_declared` is None until the first call searches for it."""

    __slots__ = ()

    def __init__(self, function: FunctionType, options: Options, declared=()):
        super().__init__(function, options)
        self._declared = None

    def _answer(self, args, kwargs):
        if self._declared is None:
            self._look()
        return super()._answer(args, kwargs)

    def _look(self) -> None:
        found = _shipped.signatures_of(self.py_func)
        if found is None:
            self._give_up(f"{self.__module__} was compiled ahead of time for other processors or for another Python")
        elif not found and _shipped.is_other(self.py_func):
            warnings.warn(f"the interpreter runs {self.__qualname__}(): its source is not that which was compiled when "
                          "its package was built, or Python runs with -O", RuntimeWarning, stacklevel=5)
        self._given_up = self._given_up or not found
        self._declared = []
        for text, asked, named in found or ():
            if not named:  # other objects, such as classes: arguments of just that type
                self._declared.append(text)
                continue
            types = tuple(_text.parse_list(text)[1])
            self._declared.append(_signature.Signature(types))
            if asked:
                self._asked.add(types)
            if asked == "only":
                self._only = types

    def _options_of(self, types):
        return super()._options_of(types)._replace(cache=True)  # where the code is

    def _converted(self, full, types):
        if _shipped.whole(_shipped.key_of(self.py_func, types, self._options_of(types))):
            return full, types
        every, self._declared = self._declared, [s for s in self._declared if not isinstance(s, str)]
        try:
            return super()._converted(full, types)
        except TypeError:
            raise TypeError(f"{self.__qualname__}() has no code for ({', '.join(map(str, types))}); the package was "
                            f"built with code for {'; '.join(map(str, every))}") from None
        finally:
            self._declared = every

    def compile(self, signature) -> None:
        """Do nothing: code is only shipped, never compiled."""

    recompile = disable_compile = compile

    def report(self, signature=None):
        """Raise an error, as do all methods that show how a function is compiled."""
        return self._inspect("report", signature)

    def _blank(self) -> tuple:
        return (_blank,)

    def _parts(self) -> tuple:
        return tuple(self.options), ()

    def _fill(self, function, options, declared) -> None:
        self.__init__(function, Options(*options))

    @property
    def nopython_signatures(self) -> list[str]:
        """The signatures for which there is code, as text."""
        if self._declared is None:
            self._look()
        return list(map(str, self._declared))


if dispatch.Dispatcher is dispatch._Interpreted:  # no native code can run here
    _Function = dispatch.Dispatcher
else:
    _Function = dispatch.leaf(ShippedFunction, dispatch._prepare, "pyjitc.ShippedFunction")


def _blank() -> CompiledFunction:
    """An empty function, which `_fill` completes."""
    return _Function.__new__(_Function)


def njit(signature=None, /, **options):
    """The shipped code of a function, or of the methods of a class. Signatures were read when the package was built."""
    return _njit(signature, options)


def jit(signature=None, /, *, nopython: bool = False, **options):
    """As `njit`; operations without a native form are done by the interpreter."""
    return _njit(signature, options if nopython else {**options, "objects": True})


def _njit(given, options: dict):
    chosen = make_options({name: value for name, value in options.items() if name != "objects"})._replace(
        objects="objects" in options)
    decorate = partial(_decorate, chosen)
    if isinstance(given, (FunctionType, CompiledFunction, staticmethod, classmethod)) or (
            isinstance(given, type) and given.__module__ != "builtins"):
        return decorate(given)
    return decorate


def _decorate(options: Options, function):
    if isinstance(function, type):
        return function if _disabled() else with_methods(function, partial(_decorate, options))
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_decorate(options, function.__func__))
    if isinstance(function, CompiledFunction):
        if options == function.options:
            return function
        function = function.py_func
    if type(function) is not FunctionType or function.__code__.co_flags & ASYNCHRONOUS:
        raise TypeError(f"njit compiles Python functions, not {function!r}")
    if _disabled() or options.races:
        return undecorated(function, interpreted(function, options, ()))
    return _Function(function, options)


def _disabled() -> bool:
    return environment("PYJITC_DISABLE") not in ("", "0")


def _of_function(options: tuple, function: FunctionType):
    """The object that compiled code returns for a function that it made."""
    return _Function(function, Options(*options))


hooks.of_function.append(_of_function)
dispatch.own_files.add(__file__)


def own_names(module: str):
    """The `__getattr__` of the package's top module: names that are imported at their first use, and errors for names
    that need a compiler."""
    return absent(module, {name: "it needs the compiler, which a package that was built ahead of time is without"
                           for name in ("vectorize guvectorize stencil cfunc trace grad vmap pmap jvp vjp jacobian "
                                        "value_and_grad").split()}, LATER)
