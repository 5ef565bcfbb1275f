"""`vectorize` and `guvectorize`: functions of elements, or of rows and other small arrays, as ufuncs of NumPy.

They return a `numpy.ufunc`: with signatures it has a loop for each; without, a loop is compiled when NumPy meets new
dtypes. Elements are NumPy scalars, as in arrays: integers wrap, and division by zero gives inf or nan.
"""
from __future__ import annotations

import copyreg
import enum
import inspect
from functools import partial
from types import FunctionType, SimpleNamespace
from typing import Any, Callable, Iterable

import numpy as np

from ..base.lazy import lazy
from ..base.named import Named
from ..base.options import Options, environment, make_options, with_environment
from ..base.trace import COUNTED
from ..codegen import entries
from ..pipeline import cache, specialisation
from ..runtime import ufuncs
from ..types import kinds
from ..types.kinds import Array, Type
from ..types.lattice import dtype_of, element_types, numpy_counterpart, type_of_dtype
from . import pickling
from .dispatch import CompiledFunction

__all__ = ["vectorize", "guvectorize"]

_stages, _signature = lazy("pyjitc.pipeline.stages"), lazy("pyjitc.api.signature")
_loops = lazy("pyjitc.lib.np.elementwise.made")
OPTIONS = Options(error_model="numpy", nogil=True)
_TARGETS = ("cpu", "parallel")


def vectorize(signatures: Any = None, /, *, target: str = "cpu", identity: Any = None, **options: Any) -> Any:
    """Make a NumPy ufunc of a function of numbers::

        @vectorize
        def clipped(x, low, high):
            return low if x < low else high if x > high else x

        @vectorize(["float32(float32)", "float64(float64)"], identity=0)
        def ...

    With signatures there is a loop for each, which NumPy chooses by its rules of casting; without, a loop is compiled
    for the dtypes of each call that are new. It has all arguments and methods of ufuncs (`out=`, `where=`, `axis=`,
    `reduce`, `at` and so on), and compiled functions call it like any ufunc. `py_func` is the function itself.

    identity: the start value of a reduction: 0, 1, another number, None, or 'reorderable'. target: 'cpu' or 'parallel'.
    Other options are those of `njit`. Raises ValueError for an invalid signature or target.
    """
    return vectorize_with(OPTIONS, signatures, target=target, identity=identity, **options)


def vectorize_with(base: Options, signatures: Any = None, /, *, target: str = "cpu", identity: Any = None,
                   **options: Any) -> Any:
    """`vectorize` with other options than `OPTIONS` as the default."""
    function, declared = _function_or_signatures("vectorize", signatures)
    if declared and isinstance(declared[0], _signature.Signature) is False:
        raise TypeError("signatures are text or types, as in 'float64(float64)'")
    chosen = _chosen(base, target, options)
    if function is not None:
        return _vectorized(function, (), chosen, identity)
    return lambda function: _vectorized(_python_function("vectorize", function), declared, chosen, identity)


def guvectorize(signatures: Any = None, layout: str | None = None, /, *, target: str = "cpu", identity: Any = None,
                writable_args: Iterable[str | int] = (), **options: Any) -> Callable:
    """Make a generalised NumPy ufunc of a function that reads arrays and writes its results::

        @guvectorize(["void(float64[:], float64[:])"], "(n)->()")
        def mean(a, out):
            out[0] = a.mean()

        @guvectorize("(n),()->(n)")       # compiled for the dtypes of each call
        def shifted(a, x, out):
            out[:] = a + x

    The layout names the core dimensions of each operand. NumPy loops over the other dimensions, and allocates the
    results. An operand without core dimensions is a number, or an array of one item where a signature declares an
    array; a result without core dimensions is an array of one item, `out[0]`. writable_args: names or positions of the
    inputs that the function writes to. Raises ValueError for an invalid layout or signature.
    """
    return guvectorize_with(OPTIONS, signatures, layout, target=target, identity=identity, writable_args=writable_args,
                            **options)


def guvectorize_with(base: Options, signatures: Any = None, layout: str | None = None, /, *, target: str = "cpu",
                     identity: Any = None, writable_args: Iterable[str | int] = (), **options: Any) -> Callable:
    """`guvectorize` with other options than `OPTIONS` as the default."""
    given = signatures
    if layout is None and isinstance(signatures, str) and "->" in signatures:
        layout, given = signatures, None
    if not isinstance(layout, str):
        raise TypeError("guvectorize takes the layout of the operands, as in guvectorize('(n)->()')")
    function, declared = _function_or_signatures("guvectorize", given)
    if function is not None:
        raise TypeError("guvectorize takes the layout of the operands, as in guvectorize('(n)->()')")
    chosen = _chosen(base, target, options)
    parsed = parsed_layout(layout)
    return lambda function: _generalised(_python_function("guvectorize", function), declared, layout, parsed, chosen,
                                         identity, writable_args)


def _function_or_signatures(name: str, given):
    """(function or None, signatures)"""
    if given is None:
        return None, ()
    if isinstance(given, (FunctionType, CompiledFunction)):
        return _python_function(name, given), ()
    if isinstance(given, (list, tuple)) and all(
            isinstance(x, (str, _signature.Signature, tuple, list)) or hasattr(x, "as_signature") for x in given):
        return None, tuple(map(_signature.signature_of, given))
    if isinstance(given, (str, _signature.Signature, _signature.TypeName, tuple)) or hasattr(given, "as_signature"):
        return None, (_signature.signature_of(given),)
    if callable(given):
        return _python_function(name, given), ()
    raise TypeError(f"{given!r} is not a signature; write for instance 'float64(float64, float64)', or a list of them")


def _python_function(name: str, function) -> FunctionType:
    if isinstance(function, CompiledFunction):
        function = function.py_func
    if type(function) is not FunctionType:
        raise TypeError(f"{name} compiles Python functions, not {function!r}")
    for p in inspect.signature(function).parameters.values():
        if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            raise TypeError(f"{name}: {function.__qualname__}() has {p}; the operands of a ufunc are positional")
    return function


def _chosen(base: Options, target: str, options: dict) -> Options:
    if target not in _TARGETS:
        raise ValueError(f"target={target!r}: choose 'cpu' or 'parallel'; for GPUs pyjitc.cuda has vectorize, and "
                         "kernels")
    return with_environment(make_options({name: value for name, value in options.items() if name != "parallel"},
                                         base))


def _disabled() -> bool:
    return environment("PYJITC_DISABLE") not in ("", "0")


class _Made(ufuncs.Record):
    """The common base class of both. loops: dtypes of the inputs -> those of the results; promised: operand dtypes of
    the loops of the pickled ufunc from which this one was made; remade: the function by which it is unpickled."""

    __slots__ = ("function", "options", "declared", "dynamic", "loops", "counts", "arguments", "results",
                 "identity", "exact", "promised", "remade")

    def __init__(self, function: FunctionType, options: Options, declared, arguments: tuple, identity):
        super().__init__()
        self.function, self.options, self.declared, self.arguments = function, options, declared, arguments
        self.identity = identity
        self.exact: set[tuple[np.dtype, ...]] = set()  # dtypes of all operands of the loops
        self.promised: frozenset[tuple[np.dtype, ...]] = frozenset()
        self.remade: Callable = remade
        self.dynamic = not declared
        self.loops: dict[tuple[np.dtype, ...], tuple[np.dtype, ...]] = {}
        self.counts = dict.fromkeys(COUNTED, 0)
        self.results: dict[tuple[Type, ...], tuple[Type, ...]] = {}

    def compiled(self, loop: FunctionType, types, form):
        """The native code of the loop."""
        found = specialisation.find(loop, types, self.options, (), self.counts, form)
        return found if found is not None else specialisation.make(loop, types, self.options, (), self.counts, form)

    def link(self, ufunc, ins, outs, native) -> None:
        dtypes = [*map(dtype_of, ins), *map(dtype_of, outs)]
        self.kept.append(native)
        flags = ufuncs.NO_FLOAT_ERRORS
        if entries.HOLDS in native.image.symbols:
            flags |= ufuncs.HOLDS_LOCK
        if self.identity is not None:
            flags |= ufuncs.REORDERABLE
        ufuncs.add_loop(ufunc, dtypes, native.image.address(entries.ENTRY), flags,
                        native.image.symbols.get(entries.INITIAL))
        self.loops.setdefault(tuple(dtypes[:len(ins)]), tuple(dtypes[len(ins):]))
        self.exact.add(tuple(dtypes))

    @property
    def initial(self):
        """The start value of a reduction, or None."""
        return None if isinstance(self.identity, str) else self.identity

    def promote(self, ufunc, given, asked):
        """The loop for operands of these dtypes; where another result is requested (`dtype=`), that for operands of its
        type. For a reduction NumPy also requests the type of the first operand."""
        nin = ufunc.nin
        if nin == 2 and asked[1] is None and asked[0] is asked[2] is not None:
            return self.loop(ufunc, [asked[0]] * 2)
        found = self.loop(ufunc, [asked[k] or given[k] for k in range(nin)])
        if ufunc.nout and asked[nin] not in (None, found[nin]) and asked[:nin] == [None] * nin:
            found = self.loop(ufunc, [asked[nin]] * nin)
        return found

    def loop(self, ufunc, classes) -> list[type]:
        """The dtype classes of the loop for operands of these classes, which is compiled if there is none."""
        types = self.operand_types(ufunc, classes)
        key = tuple(map(dtype_of, types))
        if key not in self.loops:
            if not self.dynamic and not any([one[:len(key)] == key for one in self.promised]):
                raise TypeError(f"{ufunc.__name__}() compiles no further loops: disable_compile() was called; it has "
                                f"{', '.join(ufunc.types)}")
            specialisation.alone(self.add, ufunc, types)
        return [type(dtype) for dtype in (*key, *self.loops[key])]

    def operand_types(self, ufunc, classes) -> tuple[Type, ...]:
        """The types of elements for dtype classes; for a reduction, the first operand has none."""
        found: list[Type | None] = []
        for cls in classes:
            t = None if cls is None else _WEAK.get(cls.type)
            if t is None and cls is not None:
                t = None if cls.type is None or issubclass(cls.type, _WITHOUT_LOOPS) else type_of_dtype(cls())
                if t is None:
                    held = _NO_NUMBERS.get(cls.type, cls.__name__)
                    raise TypeError(f"{ufunc.__name__}() is not compiled for arrays of {held}; convert them to "
                                    "numbers, as in x.astype(np.float64)")
            found.append(t)
        known = [t for t in found if t is not None]
        return element_types([t if t is not None else known[0] for t in found])


_WITHOUT_LOOPS = (np.flexible, np.object_, np.datetime64, np.timedelta64)
_NO_NUMBERS = {np.str_: "texts", np.bytes_: "bytes", np.object_: "Python objects", np.datetime64: "dates",
               np.timedelta64: "durations", np.void: "records"}
# Python classes that abstract dtype classes represent
_WEAK = {int: kinds.Int, float: kinds.Float, complex: kinds.Complex}


# ---------------------------------------------------------------- functions of elements


class _Result(Named, fields="type guards"):
    """The type of the elements that a function returns, and the guards on which it depends."""

    __slots__ = ()


class _Elements(_Made):
    __slots__ = ()

    def add(self, ufunc, ins, declared: Type | None = None):
        """Compile the loop for elements of these types."""
        ins = tuple(ins)
        outs = (declared,) if declared is not None else self.result_types(ins)
        if kinds.is_time(outs[0]):  # only compiled code takes them, which has no loop of NumPy's
            raise _no_number(self.function, outs[0])
        loop = _loops.element_loop(self.function, self.function, outs[0], len(ins))
        types = (*(Array(t, 1, "A", False) for t in ins), Array(outs[0], 1, "A"))
        native = self.compiled(loop, types, entries.Loop(((),) * (len(ins) + len(outs)), self.initial))
        self.link(ufunc, ins, outs, native)

    def result_types(self, ins: tuple[Type, ...], count: int = 1) -> tuple[Type, ...]:
        """The types that the function returns for elements of these types."""
        found = self.results.get(ins)
        if found is None:
            kept = cache.kept(self.function, ins, self.options, ("result",), lambda: self.inferred(ins),
                              lambda result: (str(result.type),),
                              lambda parts, guards: _Result(type_of_dtype(np.dtype(parts[0].rstrip("_"))), guards))
            found = self.results[ins] = (kept.type,)
        return found

    def inferred(self, ins) -> _Result:
        typed = _stages.infer(self.function, ins, self.options)
        return _Result(_element(self.function, typed.result), typed.guards)


def _scalar(t) -> Type | None:
    """The type of elements that are numbers of type t, members of an IntEnum, dates or durations."""
    if isinstance(t, kinds.NpTime):
        return t
    if type(t) is kinds.Singleton and isinstance(t.value, enum.IntEnum):
        t = kinds.Int
    return numpy_counterpart(t) if t is not None and kinds.is_number(t) else None


def _element(function, t) -> Type:
    """The type of elements that are results of the type t."""
    if isinstance(t, kinds.Dual):
        t = t.wide
    found = [_scalar(m) for m in (t.members if isinstance(t, kinds.Union) else (t,))]
    if None not in found:
        return found[0] if len(found) == 1 else type_of_dtype(np.result_type(*map(dtype_of, found)))
    raise _no_number(function, t)


def _no_number(function, t) -> TypeError:
    what = "nothing" if t is None or t is kinds.NoneType else f"a value of type {t}"
    return TypeError(f"vectorize: {function.__qualname__}() gives {what}; the function of a ufunc returns a number")


def _vectorized(function, declared, options: Options, identity):
    names = tuple(inspect.signature(function).parameters)
    if not names:
        raise TypeError(f"vectorize: {function.__qualname__}() takes no operand")
    if not isinstance(identity, (int, float, complex, np.number)) and identity not in (None, "reorderable"):
        raise ValueError(f"identity={identity!r}: a number, None or 'reorderable'")
    if _disabled():
        return np.vectorize(function)
    record = _Elements(function, options, declared, ("vectorize", identity), identity)
    ufunc = ufuncs.make(record, function.__name__, len(names), 1, _doc(function), identity)
    for signature in declared:
        _add_declared(record, ufunc, signature)
    if record.dynamic:
        ufuncs.promoting(ufunc)
    return _finished(ufunc, record)


def _add_declared(record, ufunc, signature) -> None:
    if len(signature.args) != ufunc.nin:
        raise TypeError(f"signature {signature} has {len(signature.args)} arguments, {ufunc.__name__}() takes "
                        f"{ufunc.nin}")
    ins = tuple(map(numpy_counterpart, signature.args))
    result = None if signature.result is None else numpy_counterpart(signature.result)
    for t in (*ins, *([] if result is None else [result])):
        if not kinds.is_numpy_scalar(t) or kinds.is_time(t):
            raise TypeError(f"signature {signature} has the type {t}; the operands of a ufunc are numbers")
    specialisation.alone(record.add, ufunc, ins, result)


# ---------------------------------------------------------------- functions of cores


class _Cores(_Made):
    __slots__ = ("cores", "shapes", "writable")

    def add(self, ufunc, ins):
        """Compile the loop for operands with elements of these types. `shapes` says for which operands without core
        dimensions the function takes an array of one item: results, and inputs that signatures declare as arrays."""
        nin, nargs = ufunc.nin, ufunc.nargs
        if len(ins) < nargs:
            ins = (*ins, *self.result_types(tuple(ins), nargs - nin))
        arrays = []
        for k, t in enumerate(ins):
            ndim = len(self.cores[k]) or self.shapes[k]
            arrays.append(Array(t, 1 + ndim, "A", k >= nin or k in self.writable))
        loop = _loops.core_loop(self.function, self.function, arrays, self.cores)
        native = self.compiled(loop, tuple(arrays), entries.Loop(self.cores, self.initial))
        self.link(ufunc, ins[:nin], ins[nin:], native)

    def result_types(self, ins, count) -> tuple[Type, ...]:
        """The types of results that no signature declares: the common type of the operands, as in NumPy's operators."""
        return (type_of_dtype(np.result_type(*map(dtype_of, ins))),) * count


def parsed_layout(layout: str):
    """(core dimensions of the inputs, of the results), each a tuple of names. Without an arrow there are no results,
    and the function writes to its operands."""
    ins, arrow, outs = "".join(layout.split()).partition("->")
    inputs, results = _operands(ins), _operands(outs)
    if not inputs or results is None or arrow and not results:
        raise ValueError(f"{layout!r} is not a layout; write for instance '(m,n),(n,p)->(m,p)'")
    return inputs, results


def _operands(side: str) -> list[tuple[str, ...]] | None:
    """The core dimensions of each operand of one side of a layout; None where the text is not one. (To compile a
    regular expression takes longer than all of this.)"""
    if not side:
        return []
    if len(side) < 2 or side[0] != "(" or side[-1] != ")":
        return None
    found = [tuple(one.split(",")) if one else () for one in side[1:-1].split("),(")]
    are_names = all([name.isascii() and name.replace("_", "0").isalnum() for one in found for name in one])
    return found if are_names else None


def _generalised(function, declared, layout: str, parsed, options: Options, identity, writable):
    names = tuple(inspect.signature(function).parameters)
    ins, outs = parsed
    if len(names) != len(ins) + len(outs):
        raise TypeError(f"guvectorize: the layout {layout!r} has {len(ins)} inputs and {len(outs)} results, "
                        f"{function.__qualname__}() takes {len(names)}")
    numbers: dict[str, int] = {}
    cores = tuple(tuple(numbers.setdefault(name, len(numbers)) for name in one) for one in (*ins, *outs))
    record = _Cores(function, options, declared, ("guvectorize", layout, identity, tuple(writable)), identity)
    record.cores = cores
    record.shapes = tuple(k >= len(ins) for k in range(len(cores)))
    given = names[:len(ins)]
    wrong = [one for one in writable if one not in given and one not in range(len(ins))]
    if wrong:
        raise (RuntimeError if isinstance(wrong[0], str) else ValueError)(
            f"guvectorize: writable_args has {wrong[0]!r}, and the inputs of {function.__qualname__}() are "
            f"{', '.join(f'{k}: {name}' for k, name in enumerate(given))}")
    back = record.writable = frozenset(names.index(one) if isinstance(one, str) else one for one in writable)
    if not outs:  # every operand may be written to, but some are broadcast, which NumPy would take for a reduction
        record.writable = frozenset(range(len(ins)))
    ufunc = ufuncs.make(record, function.__name__, len(ins), len(outs), _doc(function), identity,
                        layout)
    ufuncs.write_back(ufunc, back)
    for signature in declared:
        _add_declared_cores(record, ufunc, signature)
    if record.dynamic:
        ufuncs.promoting(ufunc)
        ufuncs.looking(ufunc, _with_results)
    return _finished(ufunc, record)


def _with_results(ufunc, *args, **kwargs):
    """A call that allocates arrays for the results with the dtypes of the loop: the function may read them."""
    nin = ufunc.nin
    outs = args[nin:] if "out" not in kwargs else kwargs["out"]
    outs = outs if isinstance(outs, tuple) else (outs,)
    if not outs or len(outs) != ufunc.nout or "signature" in kwargs or "dtype" in kwargs or not all(
            type(x) is np.ndarray for x in outs):
        return ufuncs.RETRY
    record, found = ufuncs.record_of(ufunc), []
    for x in args[:nin]:
        t = _NUMBERS.get(type(x))
        dtype = None if t is not None or not hasattr(x, "__array_interface__") else np.asarray(x).dtype
        t = t or (type_of_dtype(dtype.newbyteorder("=")) if dtype is not None else None)
        found.append(t)
    results = tuple(type_of_dtype(x.dtype) for x in outs)
    if None in found or None in results or any(map(kinds.is_time, (*found, *results))):
        return ufuncs.RETRY
    types = (*element_types(found), *results)
    key = tuple(map(dtype_of, types))
    if key not in record.exact:
        if not record.dynamic and key not in record.promised:
            return ufuncs.RETRY
        specialisation.alone(record.add, ufunc, types)
    return ufunc(*args, signature=key, **kwargs)


_NUMBERS = {bool: kinds.Bool, int: kinds.Int, float: kinds.Float, complex: kinds.Complex}


def _add_declared_cores(record, ufunc, signature) -> None:
    if len(signature.args) != ufunc.nargs:
        raise TypeError(f"signature {signature} has {len(signature.args)} arguments, the layout has {ufunc.nargs}")
    if signature.result not in (None, kinds.NoneType):
        raise TypeError(f"signature {signature}: the function of guvectorize returns nothing, it writes its results")
    types, shapes = [], list(record.shapes)
    for k, (t, dims) in enumerate(zip(signature.args, record.cores)):
        array = isinstance(t, Array)
        if array and t.ndim != max(1, len(dims)) or not array and (dims or k >= ufunc.nin):
            raise TypeError(f"signature {signature}: argument {k} is {t}, the layout has {len(dims)} core dimensions")
        types.append(t.dtype if array else numpy_counterpart(t))
        shapes[k] = array and not dims
    record.shapes = tuple(shapes)
    specialisation.alone(record.add, ufunc, tuple(types))


# ---------------------------------------------------------------- the ufunc object


def _doc(function) -> str:
    """The docstring. Before NumPy 2.2 it follows the signature of the ufunc."""
    return inspect.cleandoc(function.__doc__) if function.__doc__ else ""


def _finished(ufunc: np.ufunc, record: _Made) -> np.ufunc:
    if hasattr(ufunc, "__dict__"):  # NumPy 2.2
        function = record.function
        copies = [FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__,
                               function.__closure__) for _ in range(2)]
        named, contents = map(partial(pickling.stand_in, function), ("_pickled_name", "_pickled_function"), copies)
        if function.__doc__:
            ufunc.__doc__ = _doc(function)
        vars(ufunc).update(
            py_func=function, is_dynamic=record.dynamic, _pickled_name=named, _pickled_function=contents,
            __wrapped__=function, __module__=function.__module__, __qualname__=function.__qualname__,
            add=partial(_add, ufuncs.Handle(ufunc)), disable_compile=partial(_disable, ufuncs.Handle(ufunc)))
    _registered()
    return ufunc


def _add(handle, signature) -> None:
    """Compile a loop for a signature."""
    ufunc = handle.ufunc()
    record = ufuncs.record_of(ufunc)
    add = _add_declared if isinstance(record, _Elements) else _add_declared_cores
    add(record, ufunc, _signature.signature_of(signature))


def _disable(handle, value: bool = True) -> None:
    """With True, compile no further loops."""
    ufuncs.record_of(handle.ufunc()).dynamic = not value


# ---------------------------------------------------------------- pickles

_default: list = []


def _registered() -> None:
    if not _default:
        _default.append(copyreg.dispatch_table.get(np.ufunc))
        copyreg.pickle(np.ufunc, _reduced)


def _reduced(ufunc):
    """The pickled form: two plain functions, which picklers treat as usual (see pickling.py). Where the name of the
    first one leads to a ufunc, that ufunc is meant; otherwise a ufunc is made of the second one."""
    record = ufuncs.record_of(ufunc)
    if record is None:
        return _default[0](ufunc)
    found = pickling.found_under(record.function.__module__, record.function.__qualname__)
    if found is ufunc and not hasattr(ufunc, "__dict__"):
        return record.function.__qualname__
    if found is ufunc:
        named, contents = ufunc._pickled_name, ufunc._pickled_function
    elif found is record.function:
        named, contents = None, record.function
    else:
        named, contents = None, pickling.written(
            SimpleNamespace(py_func=record.function, __module__=record.function.__module__))
    loops = tuple(sorted(record.exact | record.promised, key=str)) if not record.declared else ()
    return record.remade, (named, contents, record.function.__qualname__, record.arguments, record.declared,
                           record.options, loops)


def remade(named, contents, qualname, arguments, declared, options, loops=()):
    """The ufunc of a pickle. Loops that the pickled one had are compiled when they are called, also where no others
    are."""
    if named is not None:
        known = pickling.found_under(named.__module__, qualname)
        if getattr(known, "_pickled_name", None) is named:
            return known
        contents.__qualname__ = qualname
    function = contents if isinstance(contents, FunctionType) else pickling.remade(*contents)
    kind, *rest = arguments
    if kind == "vectorize":
        made = _vectorized(function, declared, options, *rest)
    else:
        layout, identity, writable = rest
        made = _generalised(function, declared, layout, parsed_layout(layout), options, identity, writable)
    record = ufuncs.record_of(made)
    if record is not None:  # None: the compiler is disabled
        record.promised = frozenset(loops)
    return made
