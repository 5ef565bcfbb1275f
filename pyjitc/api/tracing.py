"""Compiling by tracing: another front end for the same IR and back end.

`trace(f)` runs f once on *tracers*, which represent the arguments and record the operations on them. The recording is a
straight line: Python has taken the branches and run the loops meanwhile. So a program that needs the value of a tracer
cannot be traced, and the error says what njit does with that line.

    f ---runs on tracers---> generic IR, one block          f ---its bytecode is read---> generic IR, all blocks
                                        \\------ inference, passes, LLVM ------/

A tracer has a type and a shape, as in tracing JITs: every new type or shape of an argument is traced again. Both are
found by running NumPy on stand-ins; a shape that differs between stand-ins of equal type depends on the data.
"""
from __future__ import annotations

import functools
import inspect
import itertools
import sys
import warnings
from types import FunctionType

import numpy as np

from ..base.errors import Diagnostic, TracingError, with_article
from ..base.options import Options
from ..front.functions import carrier
from ..ir import core as ir
from ..ir.show import show
from ..ops import control, generic
from ..pipeline import portable
from .dispatch import Binder, Dispatcher
from .pickled import Pickled

__all__ = ["Traced", "Tracer", "Program"]

_NUMBERS = (bool, int, float, complex, np.generic)
_OWN = __file__


class Kind:
    """The abstract value of a tracer: the class of a number, or of an array's elements; the shape of an array, None for
    a number."""

    __slots__ = ("cls", "shape")

    def __init__(self, cls: type, shape: tuple[int, ...] | None):
        self.cls = cls
        self.shape = shape

    def __str__(self):
        return self.cls.__name__ + ("" if self.shape is None else f"[{', '.join(map(str, self.shape))}]")

    def stand_in(self, variant: int):
        """A value of this kind: ones (a matrix that can be inverted), zeros, or different ones."""
        if self.shape is None:
            return self.cls((1, 0, 2)[variant])
        if variant == 2:
            return np.arange(int(np.prod(self.shape))).reshape(self.shape).astype(self.cls)
        made = np.full(self.shape, 1 - variant, self.cls)
        if not variant and made.ndim > 1 and made.dtype.kind in "fc":
            made = made + (made.shape[-1] * np.eye(*made.shape[-2:], dtype=self.cls))
        return made


def kind_of(value) -> Kind | None:
    if isinstance(value, np.ndarray) and type(value) is np.ndarray and value.dtype.kind in "biufc":
        return Kind(value.dtype.type, value.shape)
    return Kind(type(value), None) if isinstance(value, _NUMBERS) else None


class Recorder:
    """One run of a function on tracers. constants: arrays that the program refers to, which become parameters."""

    def __init__(self, function: FunctionType):
        self.function = function
        self.insts: list[ir.Inst] = []
        self.params: list[ir.Value] = []
        self.constants: list[np.ndarray] = []
        self.originals: list[np.ndarray] = []
        self.of_array: dict[int, ir.Value] = {}
        self.open = True
        self.refused: TracingError | None = None  # the last error for a use of a tracer's value

    def parameter(self, name: str, kind: Kind) -> Tracer:
        value = ir.Value(None, name)
        self.params.append(value)
        return made_tracer(self, value, kind)

    def emit(self, op, /, *args, **attrs) -> ir.Value:
        result = ir.Value()
        self.insts.append(ir.Inst(op, args, attrs, result, here()[1]))
        return result

    def operand(self, x) -> ir.Value:
        """The IR value of an operand: a tracer, a constant, or a tuple or list of them."""
        if isinstance(x, Tracer):
            if x._recorder is not self or not self.open:
                raise mistake("a tracer left the function that it was made in",
                              "nothing of the kind: njit's functions give the values themselves to lists and globals")
            return x._value
        if isinstance(x, np.ndarray):
            found = self.of_array.get(id(x))
            if found is None:
                self.constants.append(x.copy())  # with its present content: later changes do not affect the program
                found = self.of_array[id(x)] = ir.Value(None, f"constant{len(self.constants)}")
                self.originals.append(x)  # a reference, so that its id stays unique
                self.params.append(found)
            return found
        if isinstance(x, (tuple, list)):
            op = generic.TUPLE if isinstance(x, tuple) else generic.LIST
            return self.emit(op, *map(self.operand, x))
        return self.emit(control.CONST, value=x)

    def apply(self, meaning, emit, operands, elementwise=False):
        """Record one operation. meaning: its Python function, to find the kind of the result; emit: adds its
        instruction."""
        kind = result_kind(meaning, operands, elementwise)
        return wrap(self, emit(), kind)

    def call(self, function, args, kwargs, callee=None):
        def emit():
            target = callee() if callee is not None else self.emit(control.CONST, value=function)
            values = [self.operand(x) for x in (*args, *kwargs.values())]
            return self.emit(generic.CALL, target, *values, kwnames=tuple(kwargs))

        return self.apply(lambda *a: function(*a[:len(args)], **dict(zip(kwargs, a[len(args):]))), emit,
                          (*args, *kwargs.values()))


def result_kind(meaning, operands, elementwise):
    """The kind of the result (a tuple of kinds for a tuple); TracingError where its shape depends on the data."""
    if elementwise:  # one element determines the type; the shape follows from the shapes
        shapes = [k.shape for k in map(_kind, operands) if k is not None and k.shape is not None]
        if shapes:
            one = _evaluated(meaning, [_shrunk(x) for x in operands], 0)
            try:
                return Kind(one.dtype.type, np.broadcast_shapes(*shapes))
            except ValueError:
                _evaluated(meaning, operands, 0)  # for the error message of the operation itself
                raise
    found, failed = [], None
    for variant in range(3):
        try:
            found.append(_described(_evaluated(meaning, operands, variant)))
        except Exception as error:
            failed = failed or error
    if not found:
        raise failed
    if any(map(_differs, found, found[1:])):
        raise mistake("the shape of this result depends on the data", "njit makes the array at run time, as NumPy does")
    return found[0]


def _kind(x):
    return x._kind if isinstance(x, Tracer) else kind_of(x)


def _shrunk(x):
    kind = _kind(x)
    return x if kind is None or kind.shape is None else np.ones((1,) * len(kind.shape), kind.cls)


def _evaluated(meaning, operands, variant):
    def stand_in(x):
        if isinstance(x, Tracer):
            return x._kind.stand_in(variant)
        if type(x) in (tuple, list):
            return type(x)(map(stand_in, x))
        return slice(*map(stand_in, (x.start, x.stop, x.step))) if type(x) is slice else x

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return meaning(*map(stand_in, operands))


def _described(result):
    if isinstance(result, (tuple, list)):
        return tuple(map(_described, result))
    kind = kind_of(result)
    if kind is None and result is None:
        raise mistake("this writes into an array in place",
                      "njit writes where the program says, and the caller sees it")
    if kind is None:
        raise mistake(f"the result is {with_article(type(result).__name__)}, which is not traced",
                      "njit has all values that it can compile")
    return kind


def _differs(x, y) -> bool:
    if isinstance(x, tuple):
        return len(x) != len(y) or any(map(_differs, x, y))
    return x.shape != y.shape


def made_tracer(recorder, value, kind) -> Tracer:
    return (Tracer if kind.shape is None else ArrayTracer)(recorder, value, kind)


def wrap(recorder, value, kind):
    if isinstance(kind, tuple):
        return tuple(wrap(recorder, recorder.emit(generic.GETITEM, value, recorder.operand(k)), one)
                     for k, one in enumerate(kind))
    return made_tracer(recorder, value, kind)


# ---------------------------------------------------------------- source location


def here() -> tuple:
    """(frame, position) of the program's current line: the innermost frame that is neither in this module nor in
    NumPy."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if frame.f_code.co_filename != _OWN and name.partition(".")[0] != "numpy":
            break
        frame = frame.f_back
    if hasattr(frame.f_code, "co_positions"):
        line, last, column, end = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
        if None not in (line, last, column, end):
            return frame, ir.Loc(line, last, column, end)
    return frame, ir.Loc(frame.f_lineno, frame.f_lineno, -1, -1)


def mistake(what: str, instead: str) -> TracingError:
    frame, loc = here()
    return TracingError(Diagnostic(f"tracing: {what}", frame.f_code.co_filename, loc.line, loc.end_line, loc.col,
                                   loc.end_col, function=frame.f_code.co_name, hint=instead))


# ---------------------------------------------------------------- tracers


class Tracer:
    """Represents a number while a function is traced. Its value cannot be used."""

    __slots__ = ("_recorder", "_value", "_kind")
    __hash__ = None
    __pyjitc_tracer__ = True

    def __init__(self, recorder: Recorder, value: ir.Value, kind: Kind):
        self._recorder = recorder
        self._value = value
        self._kind = kind

    def __repr__(self):
        return f"Tracer<{self._kind}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self.__copy__()

    shape = property(lambda self: self._kind.shape or ())
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape)))
    dtype = property(lambda self: np.dtype(self._kind.cls))

    # operations that need the value

    def _refused(self, what, instead):
        """Store the error, since NumPy replaces a TypeError that it catches, such as that of len(), by its own."""
        self._recorder.refused = mistake(what, instead)
        return self._recorder.refused

    def __bool__(self):
        raise self._refused(f"a branch on the value of {self!r}: it is known only when the program runs",
                            "njit compiles both ways and branches at run time")

    def __index__(self):
        raise self._refused(f"{self!r} is asked for its value, as a count or an index of Python's",
                            "njit loops, indexes and makes arrays by values of run time, with one compile for all of "
                            "them")

    def _number(self, *_):
        raise self._refused(f"{self!r} is asked for its value, as a number of Python's", "njit converts and goes on")

    __int__ = __float__ = __complex__ = __trunc__ = __floor__ = __ceil__ = _number

    def __array__(self, dtype=None, copy=None):
        raise self._refused(f"{self!r} is asked for its values, as an array", "njit has the array itself")

    def __format__(self, spec):
        if not spec:
            return repr(self)
        raise self._refused(f"{self!r} is asked for its value, as text", "njit writes the value, at every call")

    def __contains__(self, item):
        raise mistake(f"whether something is in {self!r} depends on its values", "njit looks when the program runs")

    def __iter__(self):
        raise TypeError(f"{self!r} is not iterable")

    def __getattr__(self, name):
        if name.startswith("_") or not hasattr(self._kind.stand_in(0), name):
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        if callable(getattr(self._kind.stand_in(0), name)):
            return functools.partial(self._method, name)
        return self._recorder.apply(lambda x: getattr(x, name),
                                    lambda: self._recorder.emit(generic.GETATTR, self._value, name=name), (self,))

    def _method(self, name, *args, **kwargs):
        if name in _WRITES:
            raise mistake(f"{name} writes into an array in place",
                          "njit writes where the program says, and the caller sees it")
        recorder = self._recorder

        def function(*a, **k):
            return getattr(a[0], name)(*a[1:], **k)

        def emit():
            method = recorder.emit(generic.GETATTR, recorder.operand(self), name=name)
            return recorder.emit(generic.CALL, method, *(recorder.operand(x) for x in (*args, *kwargs.values())),
                                 kwnames=tuple(kwargs))

        return recorder.apply(lambda x, *a: function(x, *a[:len(args)], **dict(zip(kwargs, a[len(args):]))), emit,
                              (self, *args, *kwargs.values()))

    # NumPy calls this for its functions

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if kwargs.get("out") is not None or method == "at":
            raise mistake("the result is written into an array in place",
                          "njit writes where the program says, and the caller sees it")
        if method == "__call__" and not kwargs:
            recorder = self._recorder
            plain = ufunc.signature is None
            return recorder.apply(ufunc, lambda: recorder.emit(generic.CALL, recorder.emit(control.CONST, value=ufunc),
                                                               *map(recorder.operand, inputs), kwnames=()), inputs,
                                  elementwise=plain and ufunc.nout == 1)
        recorder = self._recorder
        if method == "__call__":
            return recorder.call(ufunc, inputs, kwargs)
        return recorder.call(getattr(ufunc, method), inputs, kwargs, lambda: recorder.emit(
            generic.GETATTR, recorder.emit(control.CONST, value=ufunc), name=method))

    def __array_function__(self, function, types, args, kwargs):
        if kwargs.get("out") is not None:
            raise mistake("the result is written into an array in place",
                          "njit writes where the program says, and the caller sees it")
        return self._recorder.call(function, args, kwargs)


class ArrayTracer(Tracer):
    """Represents an array while a function is traced."""

    __slots__ = ()

    def __copy__(self):
        return self.copy()

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index):
        recorder = self._recorder
        return recorder.apply(lambda x, i: x[_indices(i)],
                              lambda: recorder.emit(generic.GETITEM, self._value, _slices(recorder, index)),
                              (self, index))

    def __setitem__(self, index, value):
        raise mistake("an element is written in place: a recorded program has values, no memory",
                      "njit writes where the program says, and the caller sees it")


_WRITES = frozenset({"sort", "fill", "put", "itemset", "resize", "partition", "setfield", "setflags", "byteswap"})


def _indices(index):
    """The index with zeros in place of its integers: zeros are in range wherever any index is."""
    if isinstance(index, tuple):
        return tuple(map(_indices, index))
    if isinstance(index, np.ndarray) and index.dtype.kind in "iu":
        return np.zeros_like(index)
    return index


def _slices(recorder, index):
    if isinstance(index, tuple):
        return recorder.emit(generic.TUPLE, *(_slices(recorder, one) for one in index))
    if isinstance(index, slice):
        return recorder.emit(generic.SLICE, *(recorder.operand(p) for p in (index.start, index.stop, index.step)))
    return recorder.operand(index)


def _operator(symbol: str, reflected: bool):
    meaning = eval(f"lambda x, y: x {symbol} y")
    op, attrs = (generic.COMPARE if symbol in _COMPARISONS else generic.BINARY), {"op": symbol}

    def method(self, other, *modulus):
        if modulus:
            return self._recorder.call(pow, (self, other, *modulus), {})
        if not isinstance(other, (Tracer, np.ndarray, *_NUMBERS)):
            return NotImplemented
        x, y = (other, self) if reflected else (self, other)
        recorder = self._recorder
        return recorder.apply(meaning, lambda: recorder.emit(op, recorder.operand(x), recorder.operand(y), **attrs),
                              (x, y), elementwise=symbol != "@")

    return method


def _inplace(self, other):
    raise mistake("an array is changed in place: a recorded program has values, no memory",
                  "njit writes where the program says, and the caller sees it")


def _unary(symbol: str):
    meaning = eval(f"lambda x: {symbol}x")

    def method(self):
        recorder = self._recorder
        return recorder.apply(meaning, lambda: recorder.emit(generic.UNARY, recorder.operand(self), op=symbol), (self,),
                              elementwise=True)

    return method


def _builtin(function):
    def method(self, *args):
        return self._recorder.call(function, (self, *args), {})

    return method


_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
               "@": "matmul", "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor"}
for _symbol, _name in (*_COMPARISONS.items(), *_ARITHMETIC.items()):
    setattr(Tracer, f"__{_name}__", _operator(_symbol, False))
for _symbol, _name in _ARITHMETIC.items():
    setattr(Tracer, f"__r{_name}__", _operator(_symbol, True))
    setattr(ArrayTracer, f"__i{_name}__", _inplace)
for _symbol, _name in {"-": "neg", "+": "pos", "~": "invert"}.items():
    setattr(Tracer, f"__{_name}__", _unary(_symbol))
for _function in (abs, divmod, round):
    setattr(Tracer, f"__{_function.__name__}__", _builtin(_function))
Tracer.__rdivmod__ = lambda self, other: self._recorder.call(divmod, (other, self), {})


# ---------------------------------------------------------------- programs


class Program:
    """The recording for arguments of certain types and shapes. ir: the generic function; compiled: its compiled form;
    str() is its text."""

    def __init__(self, recorder: Recorder, result: ir.Value, options: Options):
        function = recorder.function
        code = function.__code__
        fn = ir.Function(function.__qualname__, code.co_name, code.co_filename, code.co_firstlineno)
        entry = ir.Block("entry", recorder.params)
        entry.insts = [*recorder.insts,
                       ir.Inst(control.RETURN, (result,), loc=recorder.insts[-1].loc if recorder.insts else ir.NOWHERE)]
        fn.blocks = [entry]
        self.ir = fn
        self.constants = recorder.constants
        names: list[str] = []
        for k, p in enumerate(recorder.params):  # items of a tuple are parameters, too: the `x0` of x may exist already
            names.append(f"{p.name}_{k}" if p.name in names else p.name)
        self.compiled = Dispatcher(carrier(fn, names, function), options)

    def __str__(self):
        return show(self.ir).rstrip("\n")

    def __call__(self, *args):
        return self.compiled(*args, *self.constants)


class Traced(Pickled):
    """A function compiled by tracing; see `trace`."""

    def __init__(self, function: FunctionType, options: Options):
        functools.update_wrapper(self, function)
        self.py_func = function
        self.options = options
        code = function.__code__
        if code.co_kwonlyargcount or code.co_flags & inspect.CO_VARKEYWORDS:
            raise TypeError(f"{function.__qualname__}(): keyword-only and ** parameters are not traced")
        self._bound = Binder(function)  # the values of all parameters in order, *rest as one tuple
        self._rest = bool(code.co_flags & inspect.CO_VARARGS)
        self._programs: dict[tuple, Program] = {}

    def _parts(self) -> tuple:
        return (self.options,)

    @property
    def programs(self) -> list[Program]:
        """The programs that were recorded, one for each combination of types and shapes, the oldest first."""
        return list(self._programs.values())

    def record(self, *args, **kwargs) -> Program:
        """The program for these arguments, recorded now if it is new."""
        return self._program(self._bound(*args, **kwargs))

    def __call__(self, *args, **kwargs):
        values = self._bound(*args, **kwargs)
        return self._program(values)(*_traceable(values))

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def _program(self, values) -> Program:
        key = tuple(map(_key, values))
        found = self._programs.get(key)
        if found is None:
            found = self._programs[key] = self._recorded(values)
        return found

    def _recorded(self, values) -> Program:
        recorder = Recorder(self.py_func)
        given = [_traced(recorder, name, value) for name, value in zip(self.py_func.__code__.co_varnames, values)]
        rest = given.pop() if self._rest else ()
        try:
            result = self.py_func(*given, *rest)
            program = Program(recorder, recorder.operand(_checked(result)), self.options)
        except Exception as error:
            if recorder.refused is None or error is recorder.refused:
                raise
            raise recorder.refused from error
        finally:
            recorder.open = False
        return program


def _checked(result):
    """Check the result of a program: numbers, arrays, None, text, and tuples of them are allowed."""
    if isinstance(result, tuple):
        return tuple(map(_checked, result))
    if isinstance(result, (Tracer, np.ndarray, str, type(None), *_NUMBERS)):
        return result
    raise TypeError(f"a traced function returned {with_article(type(result).__name__)}; numbers, arrays and "
                    f"tuples of them can be returned")


def _traced(recorder, name, value):
    if type(value) is tuple:
        return tuple(_traced(recorder, f"{name}{k}", one) for k, one in enumerate(value))
    kind = kind_of(value)
    return value if kind is None else recorder.parameter(name, kind)


def _traceable(values):
    """The arguments that became parameters, in order; the values of others are in the program."""
    for value in values:
        if type(value) is tuple:
            yield from _traceable(value)
        elif kind_of(value) is not None:
            yield value


def _key(value):
    cls = type(value)
    if cls is float or cls is int:
        return cls
    if cls is tuple:
        return (tuple, *map(_key, value))
    kind = kind_of(value)
    return portable.fingerprint(value) if kind is None else (kind.cls, kind.shape)
