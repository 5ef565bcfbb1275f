"""`cfunc`: functions that C can call, by their address."""
from __future__ import annotations

import ctypes
import functools
import importlib
import inspect
from types import FunctionType
from typing import Any, Callable

import numpy as np

from ..base.lazy import lazy
from ..base.options import Options, make_options, with_environment
from ..base.trace import COUNTED
from ..codegen import entries
from ..pipeline import specialisation
from ..types import kinds
from ..types.lattice import dtype_of, numpy_counterpart
from .dispatch import CompiledFunction
from .signature import signature_of

__all__ = ["CFunc", "cfunc"]

_foreign = lazy("pyjitc.lib.py.foreign")
_lib = lazy("pyjitc.lib.np.elementwise.made")
_stages = lazy("pyjitc.pipeline.stages")
OPTIONS = Options(nogil=True)


def cfunc(signature: Any, /, **options: Any) -> Callable[[Callable], CFunc]:
    """A function of C from a Python function, for libraries that call back::

        @cfunc("float64(float64)")
        def square(x):
            return x * x

        scipy.integrate.quad(square.ctypes, 0, 1)

    `address` is its address, `ctypes` a function of ctypes, `cffi` a pointer of cffi. Parameters are numbers and
    pointers (`pyjitc.numba.types.CPointer`, from which `carray` makes arrays). An exception is printed, and the result
    is then zero: C functions cannot raise. The function is compiled immediately, and globals keep the values that they
    have now. Raises ValueError or TypeError for an invalid signature, CompileError where the function cannot be
    compiled.
    """
    return cfunc_with(OPTIONS, signature, **options)


def cfunc_with(base: Options, signature: Any, /, **options: Any) -> Callable[[Callable], CFunc]:
    """`cfunc` with other options than `OPTIONS` as the default."""
    given = signature_of(signature)
    chosen = with_environment(make_options(options, base))
    return lambda function: CFunc(function, given, chosen)


_ADDRESSED: set = set()  # the code of functions whose address a program has


class CFunc:
    """A C function. `py_func` is the Python function, which calls from Python run. addresses: the numbers, from 1, of
    the parameters that are addresses of values of an unknown type, and 0 if the result is such an address. ctypes takes
    any pointer there."""

    __pyjitc_callback__ = True
    addresses: frozenset[int] = frozenset()

    def __init__(self, function, signature, options: Options):
        if isinstance(function, CompiledFunction):
            function = function.py_func
        if type(function) is not FunctionType:
            raise TypeError(f"cfunc compiles Python functions, not {function!r}")
        count = len(inspect.signature(function).parameters)
        if count != len(signature.args):
            raise TypeError(f"signature {signature} has {len(signature.args)} arguments, {function.__qualname__}() "
                            f"takes {count}")
        functools.update_wrapper(self, function)
        self.py_func, self._signature, self.options = function, signature, options
        self._result = signature.result
        if self._result is None:
            self._result = _stages.infer(function, signature.args, options).result or kinds.NoneType
        self._result = numpy_counterpart(self._result)
        form = entries.Callback(tuple(_llvm(t) for t in signature.args), _llvm(self._result))
        self._native = specialisation.alone(self._compiled, form)
        self._address = self._native.image.address(entries.ENTRY)

    def _compiled(self, form):
        entry = _lib.callback(self.py_func, self._signature.args, self._result)
        counts = dict.fromkeys(COUNTED, 0)
        arguments = entry, self._signature.args, self.options, (), counts, form
        return specialisation.find(*arguments) or specialisation.make(*arguments)

    def __call__(self, *args, **kwargs):
        return self.py_func(*args, **kwargs)

    @property
    def address(self) -> int:
        """The address. Nothing says how long it is used: the code stays in memory from now on."""
        _ADDRESSED.add(self._native)
        return self._address

    _wrapper_address = address  # Numba's name

    @functools.cached_property
    def ctypes(self):
        """The function as a ctypes function."""
        kind = ctypes.CFUNCTYPE(*[ctypes.c_void_p if n in self.addresses else _of_ctypes(t)
                                  for n, t in enumerate((self._result, *self._signature.args))])
        made = kind(self._address)
        made._pyjitc_kept = self  # the code lives as long as the ctypes function that may call it
        return made

    @property
    def cffi(self):
        """The function as a `void *` of cffi."""
        return importlib.import_module("cffi").FFI().cast("void *", self.address)

    @property
    def native_name(self) -> str:
        return f"cfunc.{self.__qualname__}"

    def inspect_llvm(self) -> str:
        """Optimised LLVM IR of the function."""
        return _stages.inspect(self.py_func, self._signature.args, self.options, "llvm")

    def __repr__(self):
        return f"<pyjitc C function {self.__qualname__} at {self._address:#x}>"


_LLVM = {"b": "i1", "f2": "half", "f4": "float", "f8": "double"}


def _llvm(t) -> str:
    if t is kinds.NoneType:
        return "void"
    if isinstance(t, _foreign.PointerType):
        return "i64"
    if not kinds.is_number(t) or kinds.is_complex(t):
        raise TypeError(f"cfunc: a parameter or a result of type {t}: use numbers and pointers")
    dtype = dtype_of(numpy_counterpart(t))
    return f"i{8 * dtype.itemsize}" if dtype.kind in "iu" else _LLVM.get(dtype.kind) or _LLVM[
        f"{dtype.kind}{dtype.itemsize}"]


def _of_ctypes(t):
    if t is kinds.NoneType:
        return None
    if isinstance(t, _foreign.PointerType):
        scalar = t.key[2].scalar
        return ctypes.c_void_p if isinstance(scalar, kinds.Record) else ctypes.POINTER(_of_ctypes(scalar))
    return np.ctypeslib.as_ctypes_type(dtype_of(numpy_counterpart(t)))
