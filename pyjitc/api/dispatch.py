"""The dispatcher: the object that `njit` returns. Calls run native code; a call that no native code accepts reaches
`_prepare`.

    call -> stub for (float, int) -> stub for (array) -> ... -> slow path: _prepare
                                                                 types, compile or find, link; then again natively

`_prepare` returns RETRY when it has changed the chain, so that the call is repeated without a Python frame in between.
A function with keyword-only or variadic parameters has its chain in a *direct* object only, which is called with all
parameters in the order of `co_varnames` (`*args` as one tuple); calls whose arguments must be converted use it as well,
and so do all calls of a function that depends on a value which stubs cannot compare.
"""
from __future__ import annotations

import ctypes
import itertools
import operator
import sys
import warnings
import weakref
from time import perf_counter
from types import CodeType, FunctionType, MethodType
from typing import Callable, TextIO

import numpy as np

from ..base.errors import CompileError, ParallelWarning, shortened
from ..base.forks import COMPILE
from ..base.lazy import lazy
from ..base.options import Options
from ..base.trace import COUNTED
from ..runtime.dispatcher import RETRY, Callable_, describe, leaf, set_entry, slow_path, update
from ..runtime.platform import ABIError, require_native
from .pickled import Pickled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..pipeline.specialisation import Native
    from ..types.kinds import Type
    from .reporting import Report, Reports
    from .signature import Declared, Signature

__all__ = ["ASYNCHRONOUS", "Dispatcher", "CompiledFunction", "Binder", "dispatcher_class", "interpreted", "undecorated"]

# Modules for calls that no native code accepts. A package that was built ahead of time imports this module first, and
# most of its calls need none of them.
portable, specialisation = lazy("pyjitc.pipeline.portable"), lazy("pyjitc.pipeline.specialisation")
_kinds, _typeof, _classes = (lazy(f"pyjitc.types.{name}") for name in ("kinds", "typeof", "classes"))
_objects, _signature = lazy("pyjitc.runtime.objects"), lazy("pyjitc.api.signature")
_stages, _front = lazy("pyjitc.pipeline.stages"), lazy("pyjitc.front.functions")
_notebook, _reporting = lazy("pyjitc.api.notebook"), lazy("pyjitc.api.reporting")
_trees, _captured = lazy("pyjitc.api.trees"), lazy("pyjitc.api.captured")
_native_iterators, _records = lazy("pyjitc.runtime.native_iterators"), lazy("pyjitc.api.records")
_VARARGS, _VARKEYWORDS = 0x4, 0x8
_NO_TREES = frozenset((float, int, np.ndarray, np.float64))  # classes of arguments that are certainly no trees


class _NoMatch(Exception):
    """Raised where no stub has accepted a call of the direct object."""


class _DirectBase(Callable_):
    """Calls a dispatcher's chain with normalised arguments; its slow path raises _NoMatch."""

    __slots__ = ()


# the maximum number of specialisations for certain objects, such as closures: older ones are dropped
_MOST_PASSING = 128
_MOST_REFUSALS = 4  # see _refusals
ASYNCHRONOUS = 0x80 | 0x200  # CO_COROUTINE, CO_ASYNC_GENERATOR


def _of_function(name: str, can_be_set: bool) -> property:
    """The property of a compiled function that is an attribute of its Python function."""
    def change(self, value):
        setattr(self.py_func, name, value)

    return property(lambda self: getattr(self.py_func, name), change if can_be_set else None)


class CompiledFunction(Pickled, Callable_):
    """A compiled function. It behaves as the Python function it was made from, `py_func`; see `njit`."""

    __slots__ = ("py_func", "options", "_natives", "_order", "_retired", "_failures", "_declared", "_asked", "_direct",
                 "_refusals", "_code", "_simple", "_binder", "_given_up", "_counts", "_stand_ins", "_plans", "_only",
                 "__dict__", "__weakref__")
    __pyjitc_constant__ = True

    def __init__(self, function: FunctionType, options: Options, declared=()):
        self.py_func = function
        self.options = options
        self._natives: dict[tuple[Type, ...], Native] = {}
        self._order: list[tuple[Type, ...]] = []  # the chain of specialisations, newest first
        self._retired: list[Native] = []
        self._failures: dict = {}
        self._declared: list[Signature] = []
        self._asked: set[tuple[Type, ...]] = set()  # types of the specialisations that calls have compiled
        # types of the only declared signature: its code converts numbers, and is the last of the chain
        self._only: tuple[Type, ...] | None = None
        self._binder = Binder(function)
        self._given_up = False
        self._refusals = 0  # how often code was compiled again because objects to which it refers have changed
        self._counts = dict.fromkeys(COUNTED, 0)
        # classes of arguments -> how those are converted to the types of a declared signature
        self._plans: dict[tuple[type, ...], tuple] = {}
        self._take_code()
        self.__wrapped__ = function
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(self, name, getattr(function, name))
        if function.__dict__:
            self.__dict__.update(function.__dict__)
            self.__wrapped__ = function
        self._direct = None
        if type(self) is not _Interpreted:
            describe(self, function)
            self._direct = _Direct()
            describe(self._direct, function)
        self._only = self._as_compiled(declared[0]).args if len(declared) == 1 else None
        for signature in declared:
            self.compile(signature)
        self._declared = [self._as_compiled(s) for s in declared]

    # -- calls

    def __call__(self, *args, **kwargs):
        # Called through `d.__call__(...)` only: a call of the object itself goes to the vectorcall word.
        return self(*args, **kwargs)

    def _bind(self, args, kwargs) -> tuple:
        """The values of all parameters in order; wrong arguments raise the interpreter's own TypeError."""
        return self._binder(*args, **kwargs)

    def _answer(self, args: tuple, kwargs: dict):
        if self._given_up:
            return self.py_func(*args, **kwargs)
        function = self.py_func
        if function.__code__ is not self._code:
            self._renew()
        if update(self, function):
            update(self._direct, function)
        given = (args if self._simple and not kwargs and len(args) == self._code.co_argcount
                 else self._bind(args, kwargs))
        trees = self.__dict__.get("__trees__")
        if trees is not None and any([type(x) not in _NO_TREES for x in given]) and trees.takes(given):
            return trees(given)
        try:
            full, types = self._types(given)
        except TypeError:
            # see tracing.py: the operations of this run are recorded
            if any(hasattr(type(value), "__pyjitc_tracer__") for value in given):
                return function(*args, **kwargs)
            if any([isinstance(value, np.void) for value in given]) and _records.among((*args, *kwargs.values())):
                return _records.call(self, args, kwargs)
            raise
        if self._declared and types not in self._natives:
            full, types = self._converted(full, types)
            if self._simple:
                self._keep_plan(given, full)
        native = self._natives.get(types)
        if native is None or native.changed() or native.stale():
            changed = None  # the interpreter runs the whole function; see `report`
            try:
                changed = specialisation.alone(self._ready, types, full)
            except ABIError as error:
                self._give_up(str(error))
            except CompileError:
                if not self.options.objects or function.__code__ in _front.TRANSFORMED:
                    # derivatives are only compiled
                    raise
            if changed is None:  # outside of the handler: else it would be the context of the function's exceptions
                return function(*args, **kwargs)
            if changed and self._simple and all(map(operator.is_, given, full)):
                return RETRY
        try:
            result = self._direct(*full)
            for value, plain in zip(given, full):
                if result is plain and isinstance(plain, (np.ndarray, FunctionType)):
                    return value
            return result
        except _NoMatch:
            pass
        return self._without_match(args, kwargs, full, types)

    def _without_match(self, args, kwargs, full: tuple, types):
        """The result of a call that native code for its own argument types has refused."""
        if self._refusals < _MOST_REFUSALS and self._refers_to_objects(types):
            self._refusals += 1
            specialisation.alone(self._recompile, types)
            try:
                return self._direct(*full)
            except _NoMatch:
                pass
        if not self.options.objects:  # else an int has exceeded 64 bits (passes/restarts.py)
            warnings.warn(f"native code of {self.__qualname__} refused its own argument types "
                          f"({', '.join(map(str, types))}); the interpreter runs this call", RuntimeWarning,
                          stacklevel=4)
        return self.py_func(*args, **kwargs)

    def _refers_to_objects(self, types) -> bool:
        """Whether native code refers to objects, or containers of objects, whose attributes and items may be of other
        types now."""
        values = [guard[4] for guard in self._natives[types].guards]
        return any([type(value) in _kinds.CONTAINERS or _objects.is_object_class(type(value)) for value in values])

    def _types(self, given: tuple, apart: bool = False) -> tuple[tuple, tuple[Type, ...]]:
        """(the arguments, with each function replaced by the equal function that represents it; their types). apart:
        whether functions in containers that have captured values have a type each."""
        full = given
        types = []
        functions = _Functions(apart)
        for n, value in enumerate(given):
            try:
                if type(value) is FunctionType or isinstance(value, CompiledFunction):
                    known = _known_function(value)
                    if known is not value:
                        full = (*full[:n], known, *full[n + 1:])
                    types.append(_kinds.Singleton(known))
                else:
                    if isinstance(value, np.ndarray) and (plain := _typeof.plain_array(value)) is not value:
                        full = (*full[:n], plain, *full[n + 1:])
                        value = plain
                    types.append(_objects.type_of(value, _typeof.typeof, functions))
            except (TypeError, OverflowError) as error:
                other = None if self.options.objects else self._replaced(value)
                if other is None:
                    # the interpreter makes the steps of an iterator, and the types of its items are not known
                    if self.options.objects or isinstance(error, TypeError) and (
                            hasattr(type(value), "__next__") or _classes.is_of_library(type(value).__module__)):
                        types.append(_kinds.Object)
                        continue
                    raise self._refused(n, n == len(given) - 1, error) from None
                full = (*full[:n], other, *full[n + 1:])
                types.append(_typeof.typeof(other))
        if functions.captured is not None and functions.captured.changes:
            return self._types(given, True)
        return full, tuple(types)

    def _refused(self, n: int, last: bool, error: Exception) -> Exception:
        """The error for argument n, perhaps the last one, which has no native form for the reason that `error` says."""
        code = self.py_func.__code__
        name = code.co_varnames[n]
        if code.co_flags & _VARKEYWORDS and last:
            how = "name its keywords as parameters" if code.co_name == self.__name__ else (
                "it is the wrapper that another decorator made: put njit below that one")
            return TypeError(f"{self.__qualname__}() has **{name}, which only compiled functions can call it with; "
                             f"{how}")
        return type(error)(f"{self.__qualname__}() argument {name!r} {_typeof.behind_name(str(error))}")

    def _replaced(self, value):
        """The object that is passed instead of a value without a native form; None where the value is refused."""
        return None

    def _source(self, types) -> FunctionType:
        """The function that is compiled for these types."""
        return self.py_func

    def _converted(self, full: tuple, types) -> tuple[tuple, tuple[Type, ...]]:
        """(arguments converted to the first declared signature that accepts them, its types); a signature that keeps
        all digits of Python's numbers is preferred to others."""
        for digits, signature in itertools.product((True, False) if len(self._declared) > 1 else (False,),
                                                   self._declared):
            if len(signature.args) == len(full):
                try:
                    converted = tuple([_signature.convert(*one, digits)
                                       for one in zip(full, types, signature.args, strict=True)])
                except TypeError:
                    continue
                if signature.args in self._asked or self._types(converted)[1] == signature.args:
                    return converted, signature.args
        declared = "; ".join(map(repr, self._declared))
        given = shortened(", ".join(map(str, types)))
        raise TypeError(f"{self.__qualname__}() has no signature for ({given}); declared: {declared}")

    def _keep_plan(self, given: tuple, converted: tuple) -> None:
        """Keep how the arguments of this call were converted, for calls with arguments of the same classes."""
        plan = _signature.plan(given, converted, self._declared)
        if plan is not None and len(self._plans) < _MOST_PASSING:
            self._plans[tuple(map(type, given))] = plan

    def _as_before(self, args: tuple, kwargs: dict):
        """The result of a call that native code takes once records are passed as arrays, the arguments are bound as to
        `*args` and keywords alone, or are converted as those of an earlier call were. Raises _NoMatch where it does
        not."""
        if self.py_func.__code__ is not self._code or self.options.objects:
            raise _NoMatch
        if "__taking__" in self.__dict__ and _records.among((*args, *kwargs.values())):
            return _records.call(self, args, kwargs)
        if not self._simple:
            if "__trees__" in self.__dict__:
                raise _NoMatch
            return self._direct(*self._bind(args, kwargs))
        plan = None if kwargs else self._plans.get(tuple(map(type, args)))
        if plan is None:
            args = self._bind(args, kwargs)
            plan = self._plans.get(tuple(map(type, args)))
        if plan is None:
            raise _NoMatch
        try:
            converted = [x if convert is None else convert(x) for convert, x in zip(plan, args)]
        except (OverflowError, ValueError):
            raise _NoMatch
        return self._direct(*converted)

    # -- specialisations

    def _ready(self, types, full) -> bool:
        """Make sure that native code for `types` is valid now. Returns whether anything changed."""
        native = self._natives.get(types)
        if native is not None:
            changes = native.changed()
            if not changes and not native.stale():
                return False
            if changes and native.refresh(changes):
                return True
        self._raise_known_failure(types)
        start = perf_counter()
        options = self._options_of(types)
        function = self._source(types)
        found = specialisation.find(function, types, options, full, self._counts)
        if found is None:
            try:
                found = specialisation.make(function, types, options, full, self._counts)
            except Exception as error:
                if native is not None:  # it was valid for other values than the present ones
                    self._unlink(types)
                if hasattr(error, "guards"):
                    if len(self._failures) >= _MOST_PASSING:
                        del self._failures[next(iter(self._failures))]
                    self._failures[types] = _without_traceback(error)
                raise
        found.seconds = perf_counter() - start
        self._link(types, found)
        return True

    def _options_of(self, types) -> Options:
        if types not in self._asked:
            return self.options
        return self.options._replace(declared="only" if types == self._only else True)

    def _raise_known_failure(self, types) -> None:
        error = self._failures.get(types)
        if error is not None:
            if all(portable.lookup(guard.container, guard.key) is guard.value for guard in error.guards):
                raise _without_traceback(error)
            del self._failures[types]

    def _link(self, types, native: Native) -> None:
        old = self._natives.get(types)
        self._natives[types] = native
        if old is not None:
            self._order.remove(types)
        self._order.insert(len(self._order) if types == self._only else 0, types)
        self._rechain()
        if old is not None:
            self._retire(old)
        for earlier in [one for one in self._order if any(t.passing for t in one)][_MOST_PASSING:]:
            self._unlink(earlier)

    def _unlink(self, types) -> None:
        old = self._natives.pop(types)
        self._order.remove(types)
        self._rechain()
        self._retire(old)

    def _rechain(self) -> None:
        """Link every stub to the next, from the end on, so that a call meanwhile always finds a complete chain."""
        following = slow_path(type(self))
        for types in reversed(self._order):
            native = self._natives[types]
            ctypes.c_void_p.from_address(native.next).value = following
            following = native.address
        set_entry(self._direct, following)
        native = self._simple and all(n.guarded for n in self._natives.values())
        set_entry(self, following if native else slow_path(type(self)))

    def _retire(self, native: Native) -> None:
        """Keep replaced code, which may still be running, until no call can be inside."""
        self._retired.append(native)
        self._retired = [n for n in self._retired if n.busy()]

    def _take_code(self) -> None:
        code = self._code = self.py_func.__code__
        self._simple = not code.co_kwonlyargcount and not code.co_flags & (_VARARGS | _VARKEYWORDS)

    def _renew(self) -> None:
        """Drop all specialisations of the previous code of a function that was given other code."""
        with COMPILE:
            self._take_code()
            for types in self.signatures:
                self._unlink(types)
            self._failures.clear()
            self._plans.clear()

    def _give_up(self, why: str) -> None:
        self._given_up = True
        _warn_interpreter(why)

    # -- public methods

    def compile(self, signature: Declared) -> None:
        """Compile for a signature now, as `njit(signature)` does. Raises CompileError where the function cannot be
        compiled for these types."""
        signature = self._as_compiled(signature)
        self._check_count(signature)
        if type(self) is _Interpreted or self._given_up:
            return
        try:
            result = specialisation.alone(self._made_on_demand, signature.args)
        except ABIError as error:
            self._give_up(str(error))
            return
        if not _signature.gives(signature, result):
            raise TypeError(f"signature {signature} declares the result {signature.result}, but {self.__qualname__}() "
                            f"returns {result}; leave the result out to take what comes")

    def _as_compiled(self, signature: Declared) -> Signature:
        """The signature that is compiled where a program declares this one."""
        return _signature.signature_of(signature)

    def _made_on_demand(self, types):
        """The result type of the specialisation for these types, which is compiled if necessary."""
        if types not in self._natives:
            self._asked.add(types)
        self._ready(types, ())
        return self._natives[types].entry.result

    def _check_count(self, signature: Signature) -> None:
        code, given = self.py_func.__code__, len(signature.args)
        count = (code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & _VARARGS)
                 + bool(code.co_flags & _VARKEYWORDS))
        if given != count:
            raise self._wrong_count(signature, given, count)

    def _wrong_count(self, signature, given: int, count: int) -> TypeError:
        return TypeError(f"signature {signature} has {given} argument{'s' * (given != 1)}, {self.__qualname__}() "
                         f"takes {count}")

    def recompile(self) -> None:
        """Compile every signature again, ignoring what is in memory and on disk."""
        specialisation.alone(self._recompile)

    def _recompile(self, *which: tuple) -> None:
        for types in which or list(self._order):
            self._link(types, specialisation.make(self._source(types), types, self._options_of(types), (),
                                                  self._counts))

    def disable_compile(self, value: bool = True) -> None:
        """If `value` is true, compile no further signatures: arguments of other types are converted where that loses
        nothing, and refused by a TypeError otherwise."""
        self._declared = [_signature.Signature(types) for types in reversed(self._order)] if value else []
        self.__dict__["__disabled__"] = value
        for taking in self.__dict__.get("__taking__", {}).values():
            taking.disable_compile(value)

    @property
    def signatures(self) -> list[tuple[Type, ...]]:
        """The argument types compiled so far, as tuples of types, the oldest first."""
        return self._order[::-1]

    @property
    def nopython_signatures(self) -> list[str]:
        """The signatures with their result types, as text."""
        return [f"({', '.join(map(str, types))}) -> {self._natives[types].entry.result}" for types in self.signatures]

    @property
    def overloads(self) -> dict[tuple[Type, ...], str]:
        """A dict from the argument types of each signature to the result type."""
        return {types: self._natives[types].entry.result for types in self.signatures}

    @property
    def stats(self) -> dict:
        """Counts for this function: compiles, specialisations found in memory and on disk, missed on disk and written
        there."""
        return dict(self._counts)

    def _inspect(self, stage: str, signature):
        if signature is not None:
            exact = isinstance(signature, tuple) and all(isinstance(t, _kinds.Type) for t in signature)
            asked = _signature.Signature(signature) if exact else _signature.signature_of(signature)
            self._check_count(asked)
            return _stages.inspect(self.py_func, asked.args, self.options, stage)
        return {types: _stages.inspect(self.py_func, types, self.options, stage) for types in self.signatures}

    def inspect_ir(self, signature: Declared | None = None) -> str | dict[tuple[Type, ...], str]:
        """The typed IR as text, for a signature, or a dict of all compiled so far."""
        return self._inspect("typed", signature)

    def inspect_tape(self, signature: Declared | None = None) -> str | dict[tuple[Type, ...], str]:
        """A report, as text, of the values that derivatives by reverse mode in the function store for each loop, and
        why."""
        return self._inspect("tape", signature)

    def inspect_llvm(self, signature: Declared | None = None) -> str | dict[tuple[Type, ...], str]:
        """The optimised LLVM IR as text, for a signature, or a dict of all compiled so far."""
        return self._inspect("llvm", signature)

    def inspect_asm(self, signature: Declared | None = None) -> str | dict[tuple[Type, ...], str]:
        """The assembly as text, for a signature, or a dict of all compiled so far."""
        return self._inspect("asm", signature)

    def inspect_cfg(self, signature: Declared | None = None) -> str | dict[tuple[Type, ...], str]:
        """The control-flow graph in DOT, for a signature, or a dict of all compiled so far; in a notebook it is shown
        as a picture."""
        return self._inspect("cfg", signature)

    def report(self, signature: Declared | None = None) -> Report | Reports:
        """A report for a signature, or a dict of reports for all argument types of calls so far: the lines that the
        interpreter does under `jit`, with the reasons. In a notebook it shows the costs of each line: Python objects,
        memory, checks, loops that are not vectorised."""
        if signature is None:
            return _reporting.Reports((types, _reporting.report(self.py_func, types, self.options))
                                      for types in [*self._order[::-1], *self._failures])
        asked = signature if isinstance(signature, tuple) and all(isinstance(t, _kinds.Type) for t in signature) else (
            _signature.signature_of(signature).args)
        return _reporting.report(self.py_func, asked, self.options)

    def parallel_diagnostics(self, signature: Declared | None = None, level: int = 1) -> None:
        """Print how each loop over `prange` and, under `parallel=True`, each whole-array statement was compiled, for a
        signature, or for all compiled so far."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ParallelWarning)  # the report contains this warning
            shown = self._inspect("parallel", signature)
        for types, text in shown.items() if signature is None else [(signature, shown)]:
            print(f"{self.__qualname__}({', '.join(map(str, types)) if isinstance(types, tuple) else types})\n{text}")

    def inspect_types(self, file: TextIO | None = None, signature: Declared | None = None) -> None:
        """Print the typed IR of a signature, or of all."""
        shown = self._inspect("typed", signature)
        for types, text in shown.items() if signature is None else [(signature, shown)]:
            print(f"{self.__qualname__}({', '.join(map(str, types)) if isinstance(types, tuple) else types})\n{text}\n",
                  file=file or sys.stdout)

    # -- as a function

    def __getattr__(self, name):
        if name in ("__name__", "__qualname__", "__wrapped__"):  # IPython's autoreload has replaced `__dict__`
            return self.py_func if name == "__wrapped__" else getattr(self.py_func, name)
        return self.__getattribute__(name)

    __code__, __defaults__, __kwdefaults__ = (_of_function(f"__{name}__", True) for name in (
        "code", "defaults", "kwdefaults"))
    __globals__, __closure__, __annotations__ = (_of_function(f"__{name}__", False) for name in (
        "globals", "closure", "annotations"))

    def _repr_html_(self) -> str:
        return _notebook.html(self)

    def __repr__(self):
        return f"<pyjitc function {self.__qualname__} at {id(self):#x}>"

    def _blank(self) -> tuple:
        return (_blank,)

    def _parts(self) -> tuple:
        trees = self.__dict__.get("__trees__")
        return (tuple(self.options), tuple((s.args, s.result) for s in self._declared),
                *(() if trees is None else (trees.again,)))

    def _fill(self, function, options, declared, again=None) -> None:
        CompiledFunction.__init__(self, function, Options(*options))
        # calls compile it, once the values that it captures exist
        self._declared = [_signature.Signature(*s) for s in declared]
        self._asked.update(s.args for s in self._declared)
        self._only = self._declared[0].args if len(self._declared) == 1 else None
        if again is not None:
            self.__trees__ = _trees.Trees(self, again)


def _blank() -> CompiledFunction:
    """An empty compiled function, which `_fill` completes."""
    return Dispatcher.__new__(Dispatcher)


own_files = {__file__}  # files whose frames are left out of tracebacks


def _prepare(self, /, *args, **kwargs):
    """The slow path of dispatchers and of their direct objects."""
    if type(self) is _Direct:
        raise _NoMatch
    try:
        if self._plans or self._natives and not self._simple or "__taking__" in self.__dict__:
            try:
                return self._as_before(args, kwargs)
            except _NoMatch:
                pass
        return self._answer(args, kwargs)
    except Exception as error:  # the message has the location of a located error
        entry = None if _is_located(error) else error.__traceback__
        while entry is not None and entry.tb_frame.f_code.co_filename in own_files:
            entry = entry.tb_next
        raise error.with_traceback(entry)


def _without_traceback(error: Exception) -> Exception:
    """An equal error without a traceback, whose frames would keep the arguments of the call alive."""
    made = type(error).__new__(type(error), *error.args)
    made.__dict__.update(error.__dict__)
    made.__suppress_context__ = error.__suppress_context__
    return made


def _is_located(error: Exception) -> bool:
    """Whether an error was found in the user's program by the compiler: these have a `diagnostic`."""
    return getattr(error, "diagnostic", None) is not None


_functions: weakref.WeakValueDictionary = weakref.WeakValueDictionary()  # (code, captured values) -> function


class _Functions:
    """A function that returns the type of a function inside the arguments of one call, or of an iterator of compiled
    code. captured: those functions that have captured values or defaults, if there are any."""

    __slots__ = ("captured", "apart")

    def __init__(self, apart: bool):
        self.captured, self.apart = None, apart

    def __call__(self, value) -> Type | None:
        if type(value).__name__ == "NativeIterator":
            return _native_iterators.token_of(value)
        if type(value) is FunctionType and "<" in value.__qualname__:
            # the program may make another function from this code for each call
            if not (value.__closure__ or value.__defaults__ or value.__kwdefaults__):
                return _kinds.FunctionObject(_kinds.Function(_front.prototype_of(value), (), ()))
            if not self.apart:
                self.captured = self.captured or _captured.Captured()
                found = self.captured.type_of(value, self)
                if found is not None:
                    return found
        return _kinds.Singleton(value) if portable.plain_function(value) is not None else None


def _known_function(value):
    """The function that represents all functions with the same code and equal captured values, so that a lambda in a
    call is compiled once. It lives as long as some specialisation for it."""
    key = _meaning(value)
    known = _functions.setdefault(key, value)
    if known is not value and _meaning(known) != key:  # a captured variable was assigned since
        known = _functions[key] = value
    return known


def _meaning(value) -> tuple:
    function = portable.plain_function(value)
    return (portable.fingerprint(value), id(function.__globals__),
            *(portable.fingerprint(portable.lookup(cell, None)) for cell in function.__closure__ or ()))


class Binder:
    """Called like `function`, returns the values of all its parameters in order; wrong arguments raise the
    interpreter's own TypeError. The function may be given other code and other defaults."""

    __slots__ = ("function", "_made", "_code")

    def __init__(self, function: FunctionType):
        self.function, self._made, self._code = function, None, None

    def __call__(self, *args, **kwargs) -> tuple:
        function, made = self.function, self._made
        if made is None or self._code is not function.__code__ or made.__defaults__ is not function.__defaults__ or (
                made.__kwdefaults__ is not function.__kwdefaults__):
            self._code, made = function.__code__, _binding(function)
            self._made = made
        return made(*args, **kwargs)


def _binding(function: FunctionType):
    """A Python function with the same parameters that returns their values as a tuple."""
    code: CodeType = function.__code__
    count, only = code.co_argcount, code.co_kwonlyargcount
    names = list(code.co_varnames[:count + only + bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)])
    rest = names[count + only:]
    defaults, kwdefaults = function.__defaults__ or (), function.__kwdefaults__ or {}
    parts = [name + ("=0" if i >= count - len(defaults) else "") for i, name in enumerate(names[:count])]
    if code.co_posonlyargcount:
        parts.insert(code.co_posonlyargcount, "/")
    if code.co_flags & _VARARGS:
        parts.append("*" + rest.pop(0))
    elif only:
        parts.append("*")
    parts += [name + ("=0" if name in kwdefaults else "") for name in names[count:count + only]]
    if rest:
        parts.append("**" + rest.pop())
    space: dict = {}
    exec(f"def bind({', '.join(parts)}): return ({''.join(name + ', ' for name in names)})", {}, space)
    bind = space["bind"]
    bind.__name__, bind.__qualname__ = function.__name__, function.__qualname__
    bind.__defaults__, bind.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return bind


_warned: list = []


def _warn_interpreter(why: str) -> None:
    if not _warned:
        _warned.append(why)
        warnings.warn(f"pyjitc runs everything in the interpreter: {why}", RuntimeWarning, stacklevel=4)


class _Interpreted(CompiledFunction):
    """Replaces a dispatcher where native code cannot run, or is switched off."""

    __slots__ = ()

    def __call__(self, *args, **kwargs):
        return self.py_func(*args, **kwargs)

    def __get__(self, instance, owner=None):
        return self if instance is None else MethodType(self, instance)


def undecorated(function: Callable, stand) -> Callable:
    """The function itself, for the interpreter, with the public attributes and methods of its compiled form."""
    names = {*dir(type(stand)), *vars(stand)}
    vars(function).update((name, getattr(stand, name)) for name in names if not name.startswith("_"))
    function.py_func = function
    return function


def interpreted(function: FunctionType, options: Options, declared) -> CompiledFunction:
    """The object that njit returns for a function that is not to be compiled."""
    return _Interpreted(function, options, declared)


def dispatcher_class(base: type[CompiledFunction], name: str) -> type[CompiledFunction]:
    """The class of callable objects, made of a subclass of CompiledFunction without slots of its own."""
    return base if Dispatcher is _Interpreted else leaf(base, _prepare, name)


try:
    require_native()
    Dispatcher = leaf(CompiledFunction, _prepare, "pyjitc.Dispatcher")
    _Direct = leaf(_DirectBase, _prepare, "pyjitc.Direct")
except (ABIError, OSError, RuntimeError) as _error:
    Dispatcher, _Direct = _Interpreted, None
    _warn_interpreter(str(_error))
