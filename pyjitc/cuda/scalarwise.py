"""Kernels made from one scalar function: element by element (`cuda.elementwise`, `cuda.vectorize`), or as a reduction
(`cuda.reduce`).

The result is an array on the device if an operand is one, and otherwise a NumPy array. Operands are broadcast; Python
numbers are weak (NEP 50), so that float32 remains float32.
"""
from __future__ import annotations

import functools
import math
from typing import Any, Callable

import numpy as np

from ..api.dispatch import Binder
from ..api.pickled import Pickled
from ..api.signature import signature_of
from ..base.errors import CompileError, with_article
from ..base.lazy import lazy
from ..base.options import Options
from ..lib.cuda.names import blockDim, blockIdx, grid, gridsize, shared, syncthreads, threadIdx
from ..pipeline import portable
from ..types import kinds
from ..types.lattice import dtype_of
from ..types.typeof import element_type, typeof
from .arrays import DeviceArray, adopt, device_array, device_array_like, is_cuda_array, wrap
from .kernel import jit

__all__ = ["Elementwise", "Reduce", "elementwise", "reduce", "vectorize"]

_stages = lazy("pyjitc.pipeline.stages")
_THREADS = 256
_ARRAYS = (np.ndarray, DeviceArray)
_NUMPY = {kinds.Int: kinds.int64, kinds.Float: kinds.float64, kinds.Bool: kinds.bool_, kinds.Complex: kinds.complex128}


def _python_function(function, name: str):
    found = portable.plain_function(function)
    if found is None:
        raise TypeError(f"cuda.{name} takes a Python function, not {function!r}")
    return found


def elementwise(function: Callable | None = None, /, **options: Any) -> Elementwise | Callable:
    """Make a function of scalars a function of arrays, which a kernel computes. Options are those of `cuda.jit`.

        @cuda.elementwise
        def relu(x, slope): return x if x > 0 else slope * x

        relu(a, 0.1)            relu(a, 0.1, out=b, stream=s)
    """
    if function is None:
        return lambda function: Elementwise(function, (), options)
    return Elementwise(function, (), options)


def vectorize(signatures: list | str, /, *, target: str = "cuda", **options: Any) -> Callable:
    """Make a function of scalars a function of arrays of declared types: `@cuda.vectorize(["float32(float32, float32)",
    ...])`. The first signature to which the operands convert without loss is used, as by a NumPy ufunc."""
    if target != "cuda":
        raise ValueError(f"cuda.vectorize makes kernels; target={target!r} is for vectorize")
    if callable(signatures) and not hasattr(signatures, "type"):
        return Elementwise(signatures, (), options)
    given = signatures if isinstance(signatures, list) else [signatures]
    return lambda function: Elementwise(function, tuple(map(signature_of, given)), options)


class Elementwise(Pickled):
    """The object that `elementwise` makes. py_func: the scalar function."""

    def __init__(self, function, signatures, options):
        self.py_func = _python_function(function, "elementwise")
        code = self.py_func.__code__
        if code.co_flags & 0xC or code.co_kwonlyargcount:
            raise TypeError(f"{self.py_func.__qualname__}() is made element by element: it takes no *args, **kwargs "
                            f"or keyword-only arguments")
        for signature in signatures:
            if len(signature.args) != code.co_argcount:
                raise TypeError(f"signature {signature} has {len(signature.args)} arguments, "
                                f"{self.py_func.__qualname__}() takes {code.co_argcount}")
        self.signatures = signatures
        self.options = options
        functools.update_wrapper(self, self.py_func)
        self._binder = Binder(self.py_func)
        self._results: dict = {}
        self._kernels: dict = {}

    def __repr__(self):
        return f"<elementwise kernel {self.__qualname__}>"

    def _parts(self):
        return self.signatures, self.options

    def __call__(self, *operands, out=None, stream=0):
        operands = [np.asarray(x) if isinstance(x, (list, np.ndarray)) else adopt(x) for x in self._binder(*operands)]
        types = tuple([self._type(name, x) for name, x in zip(self.py_func.__code__.co_varnames, operands)])
        given, out = out, adopt(out)
        if out is not None and not isinstance(out, _ARRAYS):
            raise TypeError(f"out of {self.__qualname__}() is an array, not {with_article(type(out).__name__)}")
        on_device = any(isinstance(x, DeviceArray) for x in (*operands, out))
        operands, types = self._converted(operands, types)
        arrays = [x for x in operands if isinstance(x, _ARRAYS)]
        try:
            shape = np.broadcast_shapes(*(x.shape for x in arrays))
        except ValueError:
            raise ValueError(f"operands of {self.__qualname__}() could not be broadcast together with shapes "
                             f"{' '.join(str(x.shape) for x in arrays)}") from None
        result = dtype_of(self._result(types))
        if out is None:
            given = out = device_array(shape, result, stream=stream) if on_device else np.empty(shape, result)
        elif tuple(out.shape) != shape:
            raise ValueError(f"out has shape {tuple(out.shape)}, the result {shape}")
        elif not (out.writable if isinstance(out, DeviceArray) else out.flags.writeable):
            raise ValueError(f"out of {self.__qualname__}() is read-only")
        elif any(_overlap(x, out) for x in arrays):
            made = device_array_like(out, stream) if isinstance(out, DeviceArray) else np.empty_like(out)
            self(*operands, out=made, stream=stream)
            if isinstance(out, DeviceArray):
                out.copy_to_device(made, stream)
            else:
                np.copyto(out, made)
            return given
        if math.prod(shape):
            flat = all(x.shape == shape and _is_contiguous(x) for x in (*arrays, out))
            flat = flat or not shape
            are_arrays = tuple([isinstance(x, _ARRAYS) for x in operands])
            values = [x if not is_array else x.reshape(-1) if flat else _broadcast(x, shape)
                      for x, is_array in zip(operands, are_arrays)]
            values.append(out.reshape(-1) if flat else out)
            kernel = self._kernel(are_arrays, 1 if flat else len(shape))
            kernel.forall(math.prod(shape), _THREADS, stream)(*values)
        return given if on_device or out.shape else out[()]

    def _type(self, name: str, x):
        """The type of an operand, or of its elements."""
        try:
            found = typeof(x) if not isinstance(x, DeviceArray) else x.type
        except (TypeError, OverflowError) as error:
            raise type(error)(f"{self.__qualname__}() argument {name!r} {error}") from None
        if isinstance(found, kinds.Array) and isinstance(found.dtype, kinds.Record):
            raise TypeError(f"{self.__qualname__}() argument {name!r} is an array of records; pass its fields, as in "
                            f"x['field']")
        return found.dtype if isinstance(found, kinds.Array) else found

    def _converted(self, operands, types):
        """(operands, types) converted to the first signature that accepts them."""
        if not self.signatures:
            return operands, types
        for signature in self.signatures:
            wanted = [_NUMPY.get(t, t) for t in signature.args]
            if len(wanted) == len(types) and all(_fits(x, t, w) for x, t, w in zip(operands, types, wanted)):
                dtypes = [dtype_of(w) for w in wanted]
                return [_cast(x, d) for x, d in zip(operands, dtypes)], tuple(wanted)
        raise TypeError(f"{self.__qualname__}() has no signature for ({', '.join(map(str, types))}); declared: "
                        f"{'; '.join(map(repr, self.signatures))}")

    def _result(self, types):
        """The NumPy type of the result."""
        found = self._results.get(types)
        if found is None:
            t = _stages.infer(self.py_func, types, Options()).result
            wide = t.wide if isinstance(t, kinds.Dual) else t
            found = _NUMPY.get(wide, wide)
            if not kinds.is_numpy_scalar(found):
                raise CompileError(f"{self.__qualname__}() is made element by element, but gives a value of type {t}")
            declared = [s.result for s in self.signatures if s.result is not None
                        and tuple(_NUMPY.get(a, a) for a in s.args) == types]
            found = self._results[types] = _NUMPY.get(declared[0], declared[0]) if declared else found
        return found

    def _kernel(self, arrays: tuple[bool, ...], ndim: int):
        """The kernel for operands that are arrays or numbers, over as many axes."""
        found = self._kernels.get((arrays, ndim))
        if found is None:
            names = [f"x{k}" for k in range(len(arrays))]
            index, lines = "i", []
            if ndim != 1:
                index = f"({', '.join(f'i{k}' for k in range(ndim))})"
                for k in range(ndim - 1, 0, -1):
                    lines += [f"i{k} = rest % out.shape[{k}]", f"rest //= out.shape[{k}]"]
                lines = ["rest = i", *lines, "i0 = rest"]
            values = ", ".join(f"{name}[{index}]" if is_array else name for name, is_array in zip(names, arrays))
            body = "\n        ".join([*lines, f"out[{index}] = function({values})"])
            source = (f"def kernel({', '.join([*names, 'out'])}):\n    i = grid(1)\n    if i < out.size:\n        "
                      f"{body}\n")
            found = self._kernels[arrays, ndim] = jit(**self.options)(_made(source, self.py_func))
        return found


def _made(source: str, function):
    """The function `kernel` of a source text, with `function` and `grid` captured."""
    space: dict = {}
    lines = source.replace("\n", "\n    ")
    exec(f"def make(function, grid):\n    {lines}\n    return kernel\n", space)
    kernel = space["make"](function, grid)
    kernel.__name__, kernel.__qualname__ = function.__name__, function.__qualname__
    return kernel


def _is_contiguous(x) -> bool:
    return x.is_c_contiguous() if isinstance(x, DeviceArray) else x.flags.c_contiguous


def _broadcast(x, shape):
    if isinstance(x, np.ndarray):
        return np.broadcast_to(x, shape) if x.shape != shape else x
    return x.broadcast_to(shape) if tuple(x.shape) != shape else x


def _overlap(x, out) -> bool:
    """Whether writing `out` may change elements of `x` that are still to be read."""
    here, there = [a._window() if isinstance(a, DeviceArray) else a for a in (x, out)]
    if not np.may_share_memory(here, there):
        return False
    return (here.ctypes.data, here.shape, here.strides, here.itemsize) != (there.ctypes.data, there.shape,
                                                                           there.strides, there.itemsize)


def _fits(x, t, wanted) -> bool:
    if kinds.is_python_number(t):
        return kinds.is_complex(wanted) or not kinds.is_complex(t) and (kinds.is_float(wanted) or not kinds.is_float(t))
    return np.can_cast(dtype_of(t), dtype_of(wanted), "safe")


def _cast(x, dtype):
    if not isinstance(x, _ARRAYS):
        return dtype.type(x)
    if x.dtype == dtype:
        return x
    if isinstance(x, DeviceArray):
        raise TypeError(f"a device array of {x.dtype} where the signature has {dtype}; convert it first")
    return x.astype(dtype)


# ---------------------------------------------------------------- reductions


def reduce(function: Callable | None = None, /, **options: Any) -> Reduce | Callable:
    """Make a function of two scalars a reduction of one-dimensional arrays. It must be associative and commutative.

        @cuda.reduce
        def total(a, b): return a + b

        total(x, init=0)        total(x, size=10, res=device_array_of_one, stream=s)
    """
    if function is None:
        return lambda function: Reduce(function, options)
    return Reduce(function, options)


class Reduce(Pickled):
    """The object that `reduce` makes. py_func: the scalar function."""

    def __init__(self, function, options=None):
        self.py_func = _python_function(function, "reduce")
        self.options = options or {}
        functools.update_wrapper(self, self.py_func)
        self._kernels: dict = {}

    def __repr__(self):
        return f"<reduction {self.__qualname__}>"

    def _parts(self):
        return (self.options,)

    def __call__(self, arr, size: int | None = None, res=None, init=None, stream=0):
        """The elements of `arr` (the first `size`), and `init` if it is given, reduced to one: returned, or written to
        the first element of the device array `res`. Raises TypeError where there are no elements and no `init`, as
        functools.reduce does."""
        if not is_cuda_array(arr):
            arr = np.asarray(arr)
        arr = wrap(arr) if is_cuda_array(arr) else arr
        if arr.ndim != 1:
            raise TypeError(f"{self.__qualname__}() reduces arrays of one axis, not of {arr.ndim}")
        n = arr.shape[0] if size is None else size
        if not 0 <= n <= arr.shape[0]:
            raise ValueError(f"size={size} of an array of {arr.shape[0]} elements")
        if res is not None and (not isinstance(res, DeviceArray) or res.shape != (1,) or res.dtype != arr.dtype):
            raise TypeError(f"res is a device array of one {arr.dtype}")
        if n == 0 and init is None:
            raise TypeError(f"{self.__qualname__}() of an empty array needs init, which is the result then")
        begins, first = init is not None, arr.dtype.type(0 if init is None else init)
        out = res if res is not None else device_array(1, arr.dtype, stream=stream)
        kernel = self._kernel(arr.dtype)
        blocks = max(1, min(-(-n // _THREADS), _THREADS))
        if blocks > 1:
            parts = device_array(blocks, arr.dtype, stream=stream)
            kernel[blocks, _THREADS, stream](arr, n, parts, False, first)
            arr, n = parts, blocks
        kernel[1, _THREADS, stream](arr, n, out, begins, first)
        return None if res is not None else out.copy_to_host(stream=stream)[0]

    def _kernel(self, dtype):
        found = self._kernels.get(dtype)
        if found is None:
            found = self._kernels[dtype] = jit(**self.options)(_reducer(self.py_func, element_type(dtype)))
        return found


def _reducer(function, dtype):
    element = dtype_of(dtype).type

    def kernel(x, n, out, begins, init):
        s = shared.array(_THREADS, element)
        t, i, step = threadIdx.x, grid(1), gridsize(1)
        if i < n:
            v = x[i]
            for k in range(i + step, n, step):
                v = element(function(v, x[k]))
            s[t] = v
        filled = min(blockDim.x, n - blockIdx.x * blockDim.x)
        half = _THREADS // 2
        while half > 0:
            syncthreads()
            if t < half and t + half < filled:
                s[t] = function(s[t], s[t + half])
            half //= 2
        if t == 0:
            if not begins:
                out[blockIdx.x] = s[0]
            else:
                out[0] = function(init, s[0]) if n > 0 else init

    kernel.__name__, kernel.__qualname__ = function.__name__, function.__qualname__
    return kernel
