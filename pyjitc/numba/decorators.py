"""`jit` and `njit` with Numba's options."""
from __future__ import annotations

import importlib
import inspect
import warnings
from functools import partial, update_wrapper
from types import FunctionType

import numpy as np

from ..api.jit import decorated
from ..api.signature import Signature, signature_of
from ..base.errors import suggest
from ..base.lazy import lazy
from ..base.options import NAMES, make_options
from ..front.functions import passing
from . import config, special, types
from .absent import module_attribute
from .dispatcher import SMALL, Dispatcher, NumbaFunction
from .frozen import frozen

_meanings, _regions = lazy("pyjitc.numba.meanings"), lazy("pyjitc.numba.regions")
_cfuncs, _ufuncs = lazy("pyjitc.api.cfunc"), lazy("pyjitc.api.vectorize")
_runtime = lazy("pyjitc.runtime.ufuncs")

__all__ = ["cfunc", "guvectorize", "jit", "njit", "jit_module", "vectorize", "IGNORED"]

# Options without an effect here; debug= has another meaning. device= is an option of cuda.jit: programs write it for
# functions that kernels call, which are compiled like others.
IGNORED = frozenset((
    "device", "nopython", "forceobj", "looplift", "target", "target_backend", "pipeline_class", "debug", "_nrt",
    "no_cpython_wrapper", "no_cfunc_wrapper", "no_rewrites", "forceinline", "_dbg_extend_lifetimes", "_dbg_optnone",
    "lineinfo", "parallel"))


_LATE = (types.FunctionType, types.Record, types.EnumMember)


def _is_late(t) -> bool:
    """Whether a type, or that of an item of it, is known only when a value is passed."""
    if isinstance(t, _LATE):
        return True
    parts = t.types if isinstance(t, types.BaseTuple) else (t.dtype,) if isinstance(t, types.MutableSequence) else ()
    return any(map(_is_late, parts))


def _options(given: dict) -> dict:
    chosen = {}
    wrong = [name for name in given if name not in NAMES and name not in IGNORED]
    if wrong:
        near = suggest(wrong[0], (*NAMES, *IGNORED))
        raise KeyError(f"Unrecognized options: {set(wrong)}" + (f"; did you mean {near!r}?" if near else ""))
    for name, value in given.items():
        if name == "parallel":
            if not isinstance(value, (bool, dict)):
                raise ValueError("Expect parallel option to be either a bool or a dict")
            chosen[name] = bool(value)
        elif name == "inline" and callable(value) or name == "boundscheck" and value is None:
            continue
        elif name == "fastmath" and not isinstance(value, (bool, dict, set, frozenset, list, tuple)):
            raise ValueError(f"Expected fastmath option(s) to be a bool, or a dict or set of flags, not {value!r}")
        elif name not in IGNORED:
            chosen[name] = value
    if config.BOUNDSCHECK is not None:  # it overrides the option
        chosen["boundscheck"] = bool(config.BOUNDSCHECK)
    return chosen


def jit(signature_or_function=None, locals={}, cache=False, pipeline_class=None, boundscheck=None, **options):
    """numba.jit: compiles at the first call, or immediately if signatures are given."""
    if options.get("forceobj") and options.get("nopython"):
        raise ValueError("Only one of 'nopython' or 'forceobj' can be True.")
    given = _options({**options, **({"cache": True} if cache else {}),
                      **({} if boundscheck is None else {"boundscheck": boundscheck})})
    make_options(given)  # wrong options are reported at the decorator
    forgiving = options.get("forceobj") or options.get("nopython") is False
    if forgiving:
        given["objects"] = True
    function = signature_or_function
    if inspect.isclass(function):
        raise TypeError(f"The decorated object is not a function (got type {type(function)}): jit compiles no classes; "
                        "see numba.experimental.jitclass")
    if isinstance(function, NumbaFunction):
        raise TypeError(f"A jit decorator was called on an already jitted function {function.__qualname__}. If trying "
                        f"to get access to the original python function, use the {function.__qualname__}.py_func "
                        "attribute instead.")
    if config.DISABLE_JIT:
        return function if callable(function) and not isinstance(function, types.Type) else lambda function: function
    if callable(function) and not isinstance(function, types.Type):
        return decorated(outlined(function, locals), (), given, Dispatcher)
    if function is None:
        return lambda function: decorated(outlined(function, locals), (), given, Dispatcher)
    if isinstance(function, (int, float)):
        raise TypeError(f"The decorated object is not a function (got type {type(function)}).")
    declared = [types.signature(one) for one in (function if isinstance(function, list) else [function])]
    if forgiving:
        return lambda function: _in_object_mode(function, declared, locals, given)
    # Functions and members of enums have types that are known only when they are passed, and records come as their
    # arrays: code is compiled for each then.
    declared = [one for one in declared if not any(
        map(_is_late, getattr(one, "args", one if isinstance(one, tuple) else ())))]
    return lambda function: decorated(outlined(frozen(function), locals), declared, given, Dispatcher)


def _in_object_mode(function, declared, locals, given):
    """The function, whose signatures are ignored, and whose globals are looked up."""
    made = decorated(outlined(frozen(function, getattr(function, "__globals__", None)), locals), (), given, Dispatcher)
    for one in declared:
        if isinstance(made, Dispatcher) and getattr(one, "args", one):
            made._check_count(Signature(getattr(one, "args", one)))
    return made


def outlined(function, locals={}):
    """The function with its `with objmode` blocks replaced by calls, and with conversions of the local variables whose
    types `locals` declares."""
    if type(function) is not FunctionType:
        return function
    code = function.__code__
    declared = {name: t for name, t in locals.items() if name in (*code.co_varnames, *code.co_cellvars)}
    if not declared and not any(name == "objmode" or function.__globals__.get(name) is special.objmode
                                for name in (*code.co_names, *code.co_freevars)):
        return function
    return _regions.without_regions(function, special.objmode, declared)


def njit(*args, **options):
    """numba.njit: jit(nopython=True)."""
    for name in ("nopython", "forceobj"):
        if name in options:
            warnings.warn(f"{name} is set for njit and is ignored", RuntimeWarning, stacklevel=2)
            del options[name]
    return jit(*args, **options)


def vectorize(*args, **options):
    """numba.vectorize. Loops are compiled, also with forceobj=True."""
    options.pop("forceobj", None)
    _check_identity(options.get("identity"))
    if options.get("target") == "cuda":
        return importlib.import_module(f"{__package__}.cuda").vectorize(*args, **options)
    if args and type(args[0]) is FunctionType:
        if (found := _without_operands(args[0])) is not None:
            return found
        args = (_positional(args[0]), *args[1:])
    try:
        made = _ufuncs.vectorize_with(_for_numba(_ufuncs), *args, **options)
    except TypeError as error:
        if not str(error).startswith("unknown option"):
            raise
        raise KeyError(str(error).replace("unknown option", "Unrecognized options:", 1)) from None  # as in Numba
    if isinstance(made, (np.ufunc, np.vectorize)):  # np.vectorize: the compiler is disabled
        return _with_names(made)
    return lambda function: _without_operands(function) or _with_names(
        made(frozen(_positional(function)) if args else _positional(function)))


def _check_identity(identity) -> None:
    if identity not in (0, 1, None, "reorderable"):
        raise ValueError(f"Invalid identity value {identity!r}; pyjitc.vectorize takes other numbers")


def _without_operands(function):
    """A ufunc without operands, which the interpreter runs; None for a function that has parameters."""
    code = getattr(function, "__code__", None)
    return np.frompyfunc(function, 0, 1) if code is not None and code.co_argcount == 0 else None


def _positional(function):
    """A function without **kwargs in place of one with them: a ufunc passes none."""
    code = getattr(function, "__code__", None)
    if code is None or not code.co_flags & inspect.CO_VARKEYWORDS:
        return function
    names = ", ".join(code.co_varnames[:code.co_argcount])
    namespace = {"__name__": function.__module__, "called": function}
    exec(f"def {code.co_name}({names}):\n    return called({names})", namespace)
    return namespace[code.co_name]


def _with_names(ufunc):
    """The ufunc with the other attributes of Numba's ufuncs that programs use: NumPy 2.2 has attributes of ufuncs."""
    if isinstance(ufunc, np.ufunc) and hasattr(ufunc, "__dict__") and "gufunc_builder" not in vars(ufunc):
        handle = ufunc.add.args[0]
        _runtime.record_of(ufunc).remade = remade
        vars(ufunc).update(_compile_for_argtys=partial(_compile_for, ufunc.add), build_ufunc=handle.ufunc,
                           _frozen=not ufunc.is_dynamic, gufunc_builder=_Loops(handle),
                           disable_compile=partial(_freeze, handle, ufunc.disable_compile))
    return ufunc


def remade(*parts):
    """The ufunc of a pickle."""
    return _with_names(_ufuncs.remade(*parts))


class _Loops:
    """The loops of a ufunc, as the builders of Numba's ufuncs show them."""

    def __init__(self, handle):
        self._handle = handle

    @property
    def _sigs(self) -> list[tuple]:
        """The types of the elements of each loop, also of those that will be compiled when they are called."""
        record = _runtime.record_of(self._handle.ufunc())
        return [tuple(map(types.from_dtype, loop)) for loop in sorted(record.exact | record.promised, key=str)]


def _freeze(handle, disable, value: bool = True) -> None:
    """With True, compile no further loops."""
    disable(value)
    vars(handle.ufunc())["_frozen"] = value


def _compile_for(add, args, return_type=None):
    """Compile a loop for the types of the arguments."""
    add(tuple(args) if return_type is None else return_type(*args))


def _for_numba(module):
    """The options with which a decorator of the api compiles, and Numba's semantics."""
    _meanings.wants_literals  # importing it registers Numba's meanings of functions
    return module.OPTIONS._replace(numba=True)


def guvectorize(signatures=None, layout=None, **options):
    """numba.guvectorize. Scalars that are declared as integers of up to 32 bits are Python ints in the function, as in
    functions that jit compiles."""
    options.pop("forceobj", None)
    _check_identity(options.get("identity"))
    if options.get("target") == "cuda":
        raise NotImplementedError("guvectorize has no target='cuda': write a kernel with cuda.jit in which a thread "
                                  "does what the function does, or use vectorize(target='cuda') for single elements")
    _check_layout(next((one for one in (layout, signatures) if isinstance(one, str) and "->" in one), layout))
    made = _ufuncs.guvectorize_with(_for_numba(_ufuncs), signatures, layout, **options)
    text = signatures if layout is None else layout
    given = [] if layout is None or callable(signatures) else (
        signatures if isinstance(signatures, (list, tuple)) else [signatures])
    try:
        asked = [types.signature(one) for one in given]
        declared = [signature_of(one).args for one in asked]
    except (TypeError, ValueError):
        return lambda function: _with_names(made(function))
    for one in asked:
        _check_cores(getattr(one, "args", one), layout)
    whole = [k for k, parameter in enumerate(zip(*declared)) if all(t in SMALL for t in parameter)]
    if not isinstance(text, str):
        return made
    return lambda function: _with_names(made(_with_ints(function, whole) if whole else function))


def _check_layout(layout) -> None:
    """Raise ValueError for text that is no layout, NameError for core dimensions of results that no input has."""
    if not isinstance(layout, str):
        return
    try:
        ins, outs = _ufuncs.parsed_layout(layout)
    except ValueError as error:
        raise ValueError(f"bad token in signature: {error}") from None
    unknown = {name for core in outs for name in core}.difference(*ins)
    if unknown:
        raise NameError(f"undefined output symbols: {','.join(sorted(unknown))}")


def _check_cores(args, layout: str) -> None:
    """Raise TypeError where the declared types do not have the core dimensions of the layout."""
    ins, outs = _ufuncs.parsed_layout(layout)
    for n, (t, core) in enumerate(zip(args, (*ins, *outs)), 1):
        if not isinstance(t, types.Array):
            if core:
                raise TypeError(f"scalar type {t} given for non scalar argument #{n}")
        elif t.ndim != max(1, len(core)):
            raise TypeError(f"type and shape signature mismatch for arg #{n}")


def _with_ints(function, whole):
    """The function with int(x) for some of its arguments x."""
    function = getattr(function, "py_func", function)
    if type(function) is not FunctionType:
        return function
    return passing(function, dict.fromkeys(whole, "int({})"), {"int": int})


class _InCompiledCode:
    """A function under `cfunc` whose parameters or result C cannot pass, such as arrays: compiled code calls it."""

    __pyjitc_callback__ = True

    def __init__(self, function):
        update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *args):
        return self.py_func(*args)

    @property
    def address(self):
        raise TypeError(f"{self.__qualname__}() has no address: C cannot pass its arguments {self._sig.args}")


def _passed_by_c(t) -> bool:
    return isinstance(t, (types.Number, types.Boolean, types.RawPointer, types.CPointer))


def cfunc(sig, locals={}, **options):
    """numba.cfunc. Text may use all names of numba.types, as in "void(CPointer(double), intp)"."""
    asked, made = types.signature(sig), _InCompiledCode
    if all(map(_passed_by_c, asked.args)):
        made = _cfuncs.cfunc_with(_for_numba(_cfuncs), asked, **_options(options))

    def decorate(function):
        found = made(outlined(function, locals))
        found._sig, found._pyfunc = asked, found.py_func
        found.addresses = frozenset(n for n, t in enumerate((asked.return_type, *asked.args))
                                    if isinstance(t, types.RawPointer))
        return found

    return decorate


def jit_module(**options):
    """Compile all functions of the calling module that are defined so far."""
    frame = inspect.currentframe().f_back
    name = frame.f_globals["__name__"]
    for key, value in list(frame.f_globals.items()):
        if type(value) is FunctionType and value.__module__ == name:
            frame.f_globals[key] = jit(value, **options)


__getattr__ = module_attribute("core.decorators", frozenset())
