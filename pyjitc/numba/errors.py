"""The classes of Numba's errors and warnings. This compiler raises CompileError, TypingError and UnsupportedError,
which are called NumbaError, TypingError and UnsupportedError here; the others exist for programs that refer to them or
raise them.
"""
from __future__ import annotations

import builtins
import contextlib
import functools
import warnings

from ..base.errors import CompileError, TypingError, UnsupportedError
from .absent import module_attribute

__all__ = ["NumbaError", "TypingError", "UnsupportedError", "NumbaWarning", "ForceLiteralArg", "RefusedError",
           "WarningsFixer", "deprecated", "refused"]  # and the classes below

NumbaError = CompileError


class NumbaWarning(Warning):
    """The base class of Numba's warnings."""


def deprecated(instead: str):
    """A decorator for functions whose calls warn that `instead` is to be called."""
    def decorate(function):
        @functools.wraps(function)
        def called(*args, **kwargs):
            warnings.warn(f'Call to deprecated function "{function.__name__}"\n. Use "{instead}" instead.',
                          category=builtins.DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return called

    return decorate


class WarningsFixer:
    """Collects the warnings of a category in blocks of code, to give them later with the line that each block names."""

    def __init__(self, category: type[Warning]):
        self._category = category
        self._found: set[tuple] = set()  # file, line, class and text

    @contextlib.contextmanager
    def catch_warnings(self, filename=None, lineno=None):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            yield
        for one in given:
            if issubclass(one.category, self._category):
                self._found.add((filename, lineno, one.category, str(one.message)))
            else:
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)

    def flush(self) -> None:
        for filename, lineno, category, text in sorted(self._found, key=str):
            warnings.warn_explicit(text, category, filename, lineno or 0)
        self._found.clear()


def _add(name: str, *bases: type) -> None:
    globals()[name] = type(name, bases, {"__module__": __name__, "__init__": _init} if bases[0] is not NumbaWarning
                           else {"__module__": __name__})
    __all__.append(name)


def _init(self, message="", loc=None, *args, **kwargs):
    CompileError.__init__(self, str(message))
    self.msg, self.loc = message, loc


for _name in ("DeprecationWarning", "PendingDeprecationWarning"):
    _add(f"Numba{_name}", NumbaWarning, getattr(builtins, _name))
for _name in ("PerformanceWarning", "ParallelSafetyWarning", "TypeSafetyWarning", "ExperimentalFeatureWarning",
              "InvalidConfigWarning", "PedanticWarning", "IRAssumptionWarning", "DebugInfoWarning", "SystemWarning"):
    _add(f"Numba{_name}", NumbaWarning)
for _name in ("ByteCodeSupportError", "CompilerError", "ConstantInferenceError", "DeprecationError",
              "ForbiddenConstruct", "IRError", "InternalError", "LoweringError", "NotDefinedError", "RedefinedError",
              "UnsupportedBytecodeError", "UnsupportedParforsError", "UnsupportedRewriteError", "VerificationError",
              "NumbaRuntimeError", "InternalTargetMismatchError", "NonexistentTargetError"):
    _add(_name, NumbaError)
for _name in ("UntypedAttributeError", "LiteralTypingError", "RequireLiteralValue", "NumbaAssertionError",
              "NumbaAttributeError", "NumbaIndexError", "NumbaKeyError", "NumbaTypeError", "NumbaValueError"):
    _add(_name, TypingError)
_add("NumbaNotImplementedError", TypingError, NotImplementedError)
del _name


_COMPILING = ("UnsupportedBytecodeError", "CompilerError", "NotDefinedError", "ConstantInferenceError",
              "ForbiddenConstruct", "LoweringError", "UnsupportedRewriteError", "RequireLiteralValue", "NumbaTypeError",
              "NumbaValueError", "NumbaAttributeError", "NumbaNotImplementedError")


class RefusedError(UnsupportedError, *[globals()[name] for name in _COMPILING]):
    """An error of the compiler in a function of pyjitc.numba. Which of Numba's stages would refuse the program is not
    known, so the error is of each class by which programs catch the errors of Numba's compiler."""

    __init__ = CompileError.__init__

    @property
    def msg(self):
        """The text, as Numba's errors have it."""
        return str(self)


def refused(error: CompileError) -> CompileError:
    """The error, as a RefusedError unless the program raised it in an overload."""
    if type(error) in (CompileError, TypingError, UnsupportedError):
        error.__class__ = RefusedError
    return error


class ForceLiteralArg(NumbaError):
    """Raised by an overload that needs the value of an argument."""

    def __init__(self, arg_indices, fold_arguments=None, loc=None):
        self.requested_args = frozenset(arg_indices)
        super().__init__(f"each of the arguments {sorted(self.requested_args)} must be a constant")


__getattr__ = module_attribute("core.errors", frozenset())
