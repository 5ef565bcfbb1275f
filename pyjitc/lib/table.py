"""The library as inference sees it: which rule or library function gives an operation its meaning.

Rules are looked up by the kind of the operands; the tables of the other modules of this room are put together here
and nowhere else.
"""
from __future__ import annotations

import builtins
import enum
import operator
import types as pytypes

import numpy as np

from ..base.lazy import lazy
from ..infer.constants import constant, is_wide
from ..infer.made import key_error, list_of
from ..infer.meaning import UNKNOWN, Apply, Call, Const, Expr, Mismatch, Share, Step, Throw
from ..infer.names import describe, with_object
from ..infer.session import only_value
from ..ops import exceptions, memory, pyobject, structure
from ..ops.arith import BNOT, IGT
from ..types.kinds import (
    Array, Bool, Bytes, DType, Exception_, Float, Function, Generator, Instance, Int, Iterator, Method, NoneType,
    NpBool, Object, Range, Record, Singleton, Slice, Str, Struct, Tuple, Type, Undefined, Union, is_integer, is_number,
    is_numpy_scalar, is_scalar,
)
from ..types.lattice import dtype_of
from . import intrinsics
from .build import FLAGS, number, whole_number
from .np import index
from .py import index as py_index
from .py import operators

__all__ = ["Library"]

# Read when a function needs them: most need few (docs/performance.md).
elementwise, reductions = lazy("pyjitc.lib.np.elementwise.elementwise"), lazy("pyjitc.lib.np.reductions.reductions")
creation, indexing = lazy("pyjitc.lib.np.arrays.creation"), lazy("pyjitc.lib.np.indexing.indexing")
subscripts, views = lazy("pyjitc.lib.np.indexing.subscripts"), lazy("pyjitc.lib.np.shapes.views")
np_scalars, py_builtins = lazy("pyjitc.lib.np.elementwise.scalars"), lazy("pyjitc.lib.py.builtins")
classes, conversions, iteration, membership, ranges, sequences, tuples = (
    lazy(f"pyjitc.lib.py.{name}") for name in ("classes", "conversions", "iteration", "membership", "ranges",
                                                  "sequences", "tuples"))
cuda_rules = lazy("pyjitc.lib.cuda.rules")
refusals, watched = lazy("pyjitc.lib.refusals"), lazy("pyjitc.lib.watched")
_KERNEL_NAMES = f"{__package__}.cuda.names"
_VECTORS = f"{__package__}.cuda.vectors"


def _print(args, kwargs):
    return Apply(structure.DISCARD, Apply(
        pyobject.PY_CALL, Const(Object, builtins.print), *(_boxed(x) for x in [*args, *kwargs.values()]),
        kwnames=tuple(kwargs)))


def _boxed(x: Expr) -> Expr:
    return x if x.type is Object else Apply(pyobject.PY_BOX, with_object(x))


def _python(function, *operands):
    """The operation as the interpreter does it, on Python objects."""
    return Apply(pyobject.PY_CALL, Const(Object, function), *map(_boxed, operands))


def _text(of):
    def rule(args, kwargs):
        if len(args) == 1 and not kwargs and (args[0].type in (Object, Str, NoneType, Range) or is_scalar(args[0].type)
                                              or isinstance(args[0].type, (Exception_, Array, Tuple))):
            return Apply(pyobject.PY_UNBOX, _python(of, args[0]), type=Str)
        raise Mismatch(f"{of.__name__}() of this value is not compiled yet",
                       "use an f-string in print or in an exception")

    return rule


def _fail(args, kwargs):
    return Throw(args[0].type.value, args[1].value)


def _warn(args, kwargs):
    return Apply(exceptions.WARN, message=args[0].value, cls=args[1].type.value if len(args) > 1 else RuntimeWarning)


# Callable -> rule (args, kwargs) -> Expr: what the interpreter does itself, and functions of this package that have no
# body.
# The other rules are where py/index.py and np/index.py say. Library functions stand for themselves.
RULES = {
    str: _text(str), repr: _text(repr), print: _print, intrinsics.fail: _fail, intrinsics.warn: _warn,
    intrinsics.put_state: lambda args, kwargs: Apply(memory.CELL_STORE, args[0], Apply(
        structure.UNION_MAKE, args[1], type=args[0].type.state)),
    **{name: (lambda args, kwargs, name=name: reductions.RULES[name](args, kwargs)) for name in (
        intrinsics.fold, intrinsics.combine_with, intrinsics.mean_type, intrinsics.insert_axes, intrinsics.nan_identity,
        intrinsics.identity)},
    intrinsics.chosen: lambda args, kwargs: elementwise.chosen(*args),
    intrinsics.store_all: lambda args, kwargs: elementwise.assign(*args),
    intrinsics.as_element: lambda args, kwargs: conversions.element(args[0], args[1].type.scalar),
    intrinsics.as_type: lambda args, kwargs: conversions.to_scalar(args[0], args[1].type.scalar),
    intrinsics.strided: lambda args, kwargs: views.strided(args[0]),
    intrinsics.is_python_float: lambda args, kwargs: Const(Bool, args[0].type is Float),
}


_CONTAINERS = (list, dict, set, bytearray)
_FUNCTION = type(np.transpose)
_OF_AXES = {"transpose", "tensordot", "moveaxis", "flip", "roll", "rot90", "expand_dims"}


def _is_of_the_program(t) -> bool:
    return isinstance(t, Singleton) and isinstance(t.value, _CONTAINERS)


class Library:
    """Answers inference's questions. `memo` keeps the specialisations of library functions for the process;
    `flags`: code of the library functions that are not inlined -> flags of their typed forms."""

    flags = FLAGS

    def __init__(self):
        self.memo: dict = {}
        self._watched: Library | None = None
        self.calls = {id(f): rule for f, rule in RULES.items()}
        self.calls[id(intrinsics.iterate)] = lambda args, kwargs: self.iter(args[0])
        self.calls[id(intrinsics.advance)] = lambda args, kwargs: self.next(args[0])
        self.calls[id(iter)] = self._explicit_iter
        self.calls[id(next)] = self._explicit_next
        self.calls[id(intrinsics.same)] = self._same_item
        self.calls[id(bool)] = lambda args, kwargs: self.truth(*conversions.take("bool", args, kwargs, 1,
                                                                                 1)) if args else Const(Bool, False)
        self.calls[id(len)] = lambda args, kwargs: self.length(args[0])

    def watched(self) -> "Library":
        """This library for programs that look at floating-point errors."""
        if self._watched is None:
            self._watched = watched.Watched(self)
        return self._watched

    def replace(self, rules) -> None:
        """What functions mean instead on the target that this library is for: function -> rule."""
        self.calls.update({id(function): rule for function, rule in rules.items()})

    def rule_for(self, target):
        """The rule that gives a call of `target` its meaning, or None."""
        rule = self.calls.get(id(target))
        if rule is None and (module := py_index.module_of(target)) is not None:
            rule = module.CALLS.get(target)
            if rule is not None:
                self.calls[id(target)] = rule
        if rule is None and type(target) is not pytypes.ModuleType and (rule := index.rule_of(target)) is not None:
            self.calls[id(target)] = rule
        if rule is None and type(target) is pytypes.FunctionType and (target.__module__ or "").startswith(__package__):
            rule = cuda_rules.CALLS.get(target) if target.__module__ == _KERNEL_NAMES else getattr(target, "rule", None)
        elif rule is None and type(target) is type and target.__module__ == _VECTORS:
            rule = cuda_rules.CALLS.get(target)
        return rule

    def takes_axes(self, t) -> bool:
        """Whether a callable of type t is a function or method that takes lists of axes."""
        return (isinstance(t, Singleton) and type(t.value) is _FUNCTION and t.value.__name__ in _OF_AXES
                or isinstance(t, Method) and t.name == "transpose")

    def takes_unions(self, target) -> bool:
        if type(target) is pytypes.FunctionType and target.__module__ == _KERNEL_NAMES:
            return target in cuda_rules.WAITING
        return target is print or isinstance(target, type) and issubclass(target, BaseException)

    def makes_iterator(self, target) -> bool:
        """Whether a call of it gives a state of a loop, which becomes an object where it is read more than once."""
        return isinstance(target, type) and target in _ITERATORS

    # -- operators

    def binary(self, op, x, y, inplace=False):
        _no_records(op, x, y)
        if is_wide(x) or is_wide(y):
            x, y = conversions.fitted(x, y)
        if x.type is Object or y.type is Object:
            return _python(operators.SYMBOLS[op], x, y)
        if op == "%" and x.type is Str:
            return Apply(pyobject.PY_UNBOX, _python(operator.mod, x, y), type=Str)
        if _has_class(x.type) or _has_class(y.type) and not isinstance(x.type, Array):
            found = classes.binary(op, x, y, inplace)
            if found is not None:
                return found
        if isinstance(x.type, Array) or isinstance(y.type, Array):
            if op == "@":
                product = index.module_of(np.matmul).operator
                return index.taken("matmul", lambda args, kwargs: product(args, inplace))([x, y], {})
            return elementwise.binary(op, x, y, inplace)
        if isinstance(x.type, Tuple) or isinstance(y.type, Tuple):
            found = _tuple_binary(op, x, y)
            if found is not None:
                return found
        if x.type is Str and y.type is Str and op == "+":
            return Apply(pyobject.PY_JOIN, x, y)
        for t, other in ((x.type, y.type), (y.type, x.type)):
            if (_is_text(t)
                and (op == "*" and is_integer(other) or op == "%" and t is x.type or op == "+" and t is other)):
                raise refusals.not_yet(t, f"`{op}` of")
            if _is_container(t) and (op == "*" and is_integer(other) or _is_container(other)):
                raise refusals.not_yet(t, f"`{op}` of")
        return operators.binary(op, x, y, inplace)

    def unary(self, op, x):
        if op == "not":
            truth = self.truth(x)
            if truth.type is not None and truth.known:
                return Const(Bool, not truth.value)
            return Apply(BNOT, truth)
        if x.type is Object:
            return _python({"-": operator.neg, "+": operator.pos, "~": operator.invert}[op], x)
        _no_records(op, x)
        if isinstance(x.type, Array):
            return elementwise.unary(op, x)
        if _has_class(x.type):
            found = classes.unary(op, x)
            if found is not None:
                return found
        return operators.unary(op, x)

    def compare(self, op, x, y):
        if op in ("is", "is not"):
            return self._identity(op, x, y)
        _no_records(op, x, y)
        if is_wide(x) or is_wide(y):
            x, y = conversions.fitted(x, y)
        if op in ("in", "not in"):
            found = self._contains(x, y)
            return found if op == "in" else Apply(BNOT, found)
        if x.type is Object or y.type is Object:
            return _python(operators.SYMBOLS[op], x, y)
        if isinstance(x.type, Array) or isinstance(y.type, Array):
            if op in ("==", "!=") and NoneType in (x.type, y.type):
                raise Mismatch(f"an array {op} None is not compiled", "write `is None`")
            return elementwise.compare(op, x, y)
        if isinstance(x.type, Tuple) and isinstance(y.type, Tuple):
            if op == "==":
                return Call(tuples.equal, x, y)
            if op == "!=":
                return Apply(BNOT, Call(tuples.equal, x, y))
            return Call(tuples.ordered, x, y, Const(Bool, op in ("<", "<=")), Const(Bool, op in ("<", ">")))
        if x.type is Range and y.type is Range and op in ("==", "!="):
            same = Call(iteration.range_equal, x, y)
            return same if op == "==" else Apply(BNOT, same)
        if _is_text(x.type) and x.type is y.type:
            if x.known and y.known:
                return Const(Bool, bool(operators.SYMBOLS[op](x.value, y.value)))
            return Apply(pyobject.PY_UNBOX, _python(operators.SYMBOLS[op], x, y), type=Bool)
        if op in ("==", "!=") and not (is_scalar(x.type) and is_scalar(y.type)):
            return self._plain_equality(op, x, y)
        return operators.compare(op, x, y)

    def _same_item(self, args, kwargs):
        x, y = args
        if is_scalar(x.type) and is_scalar(y.type) or _is_text(x.type) and x.type is y.type:
            return self.compare("==", x, y)
        if isinstance(x.type, Tuple) and isinstance(y.type, Tuple):
            return self.compare("==", x, y)  # which asks the same of their items
        same = self._identity("is", x, y) if not (is_number(x.type) or is_number(y.type)) else Const(Bool, False)
        if same.known and same.value:
            return same
        equal = self.compare("==", x, y)
        return equal if same.known else Call(either, same, equal)

    def _plain_equality(self, op, x, y):
        if is_numpy_scalar(x.type) or is_numpy_scalar(y.type):
            other = y if is_numpy_scalar(x.type) else x
            if _is_text(other.type):
                return constant(operators.SYMBOLS[op](np.int8(0), ""))  # its type is of the version of NumPy
            if isinstance(other.type, Tuple) or other.type is Range:
                raise Mismatch(f"{op} between a NumPy scalar and a {'range' if other.type is Range else 'tuple'} is "
                               f"not compiled", "make an array of it: np.array(x)")
        a, b = _fixed(x), _fixed(y)
        if a is not UNKNOWN and b is not UNKNOWN:
            try:
                same = bool(a == b)
            except Exception:
                raise Mismatch(f"{describe(x.type)} and {describe(y.type)} cannot be compared at compile "
                               f"time") from None
            return Const(Bool, same if op == "==" else not same)
        if isinstance(y.type, DType) and isinstance(x.type, Singleton):
            x, y = y, x
        if isinstance(x.type, DType) and isinstance(y.type, (DType, Singleton)):
            other = y.type.scalar if isinstance(y.type, DType) else creation.scalar_of(y)
            return Const(Bool, (x.type.scalar is other) == (op == "=="))
        if x.type is NoneType or y.type is NoneType or type(x.type) is not type(y.type) and not (
                isinstance(x.type, (Singleton, Exception_)) or isinstance(y.type, (Singleton, Exception_))):
            return Const(Bool, op == "!=")  # values of unlike types are never equal
        raise Mismatch(f"{op} between {describe(x.type)} and {describe(y.type)} is not compiled",
                       "compare outside, and pass a number or a bool"
                       if _is_text(x.type) or _is_text(y.type) else "")

    def _identity(self, op, x, y):
        yes, no = Const(Bool, op == "is"), Const(Bool, op == "is not")
        if (x.type is Object or y.type is Object or isinstance(x.type, (Exception_, Instance))
            and type(x.type) is type(y.type)):
            return Apply(pyobject.PY_UNBOX, _python(operator.is_ if op == "is" else operator.is_not, x, y), type=Bool)
        a, b = _fixed(x), _fixed(y)
        if a is not UNKNOWN and b is not UNKNOWN:
            return yes if a is b else no
        if a is not UNKNOWN or b is not UNKNOWN:
            fixed, other = (a, y) if a is not UNKNOWN else (b, x)
            if isinstance(fixed, bool) and other.type is Bool:
                same = operators.compare("==", x, y)
                return same if op == "is" else Apply(BNOT, same)
            # the interpreter has one object for each of these
            if type(fixed) is int and -5 <= fixed <= 256 and other.type is Int:
                same = operators.compare("==", x, y)
                return same if op == "is" else Apply(BNOT, same)
            if type(fixed) is tuple and not fixed and isinstance(other.type, Tuple):
                return no if other.type.elements or other.type.cls else yes
            if type(fixed) is {Int: int, Float: float}.get(other.type, tuple if isinstance(other.type, Tuple)
                                                           else None):
                raise refusals.no_identity(op, x)
            if fixed is None or fixed is ... or isinstance(fixed, bool) or other.type in (Int, Float,
                                                                                          Bool) or isinstance(
                    other.type, (Array, Tuple)):
                return no
        if x.type is Bool and y.type is Bool:
            same = operators.compare("==", x, y)
            return same if op == "is" else Apply(BNOT, same)
        if isinstance(x.type, Array) and isinstance(y.type, Array):
            same = Apply(memory.ARRAY_SAME, x, y)
            return same if op == "is" else Apply(BNOT, same)
        if type(x.type) is not type(y.type):
            return no
        raise refusals.no_identity(op, x)

    def _contains(self, x, y):
        if x.type is Str and y.type is Str:
            return Const(Bool, x.value in y.value) if x.known and y.known else Apply(
                pyobject.PY_UNBOX, _python(operator.contains, y, x), type=Bool)
        if isinstance(y.type, Tuple):
            return membership.contains(y, x)
        if y.type is Range:
            return Call(iteration.range_contains, y, x)
        if isinstance(y.type, Struct) and y.type.name == "list":
            return membership.contains(sequences.tuple_of([y], {}), x)
        if isinstance(y.type, Struct) and y.type.name == "dict" and x.known:
            return Const(Bool, x.value in dict(y.type.members))
        if isinstance(y.type, Singleton) and isinstance(y.type.value, (dict, frozenset, set)) and x.known:
            return Const(Bool, x.value in y.type.value)
        if isinstance(y.type, Singleton) and isinstance(y.type.value, frozenset):
            return membership.contains(y, x)
        if isinstance(y.type, Array):
            return Call(indexing.contains, y, x)
        if _is_enum(y.type):
            if isinstance(x.type, Singleton) and isinstance(x.type.value, enum.Enum):
                return Const(Bool, x.type.value in classes.enum_members(y.type.value))
            raise Mismatch("`in` of an enum class is compiled for members of a plain enum",
                           "compare with the members, or with their values")
        if _is_of_the_program(y.type):
            raise refusals.of_the_program(y.type, "`in`")
        if _is_container(y.type):
            raise refusals.not_yet(y.type, "`in` of")
        if isinstance(y.type, Singleton) and hasattr(type(y.type.value), "__contains__"):
            raise refusals.of_an_object(y.type, "the items")
        raise Mismatch(f"argument of type {describe(y.type)} is not iterable")

    def truth(self, x):
        t = x.type
        if x.known and t is not Object:
            try:
                return Const(Bool, bool(x.value))
            except Exception:
                pass
        if t is Object or _is_text(t):
            return Apply(pyobject.PY_UNBOX, _python(bool, x), type=Bool)
        if isinstance(t, Tuple):
            return Const(Bool, bool(t.elements))
        if t is Range:
            return Apply(IGT, ranges.length(x), number(0))
        if isinstance(t, Struct) and t.name in ("list", "dict"):
            return Const(Bool, bool(t.members))
        if isinstance(t, (Singleton,)):
            return Const(Bool, bool(t.value))
        if isinstance(t, (Function, Method, Exception_, Instance, DType, Iterator, Slice, Struct)):
            return Const(Bool, True)
        if t is NoneType:
            return Const(Bool, False)
        if isinstance(t, Array):
            return Call(indexing.truth, x)
        return operators.truth(x)

    # -- attributes and items

    def static_attribute(self, x, name):
        """An attribute of a compile-time object that has a rule, else None (it is then read from the object)."""
        target = x.type.value
        if (type(target).__module__ == _KERNEL_NAMES or name == "laneid"
            and getattr(target, "__name__", "").endswith(".cuda")):
            found = cuda_rules.attribute(target, name)
            if found is not None:
                return found
        if isinstance(target, np.ufunc) and name in ("nin", "nout", "nargs", "identity", "signature", "__name__"):
            return constant(getattr(target, name))
        if isinstance(target, (np.finfo, np.iinfo)):
            try:
                return constant(getattr(target, name))
            except AttributeError as error:
                raise Mismatch(str(error), "", AttributeError) from None
        if name in ("__enter__", "__exit__"):
            if type(target).__module__ != "pyjitc.lib.np.elementwise.errors":
                raise refusals.no_with(x)
            return constant(getattr(target, name))
        enum = getattr(type(target), "_value2member_map_", None)
        if enum is not None and name in ("value", "name", "_value_", "_name_"):
            value = getattr(target, name)
            return Const(*_pair(value))
        return None

    def getattr(self, x, name):
        t = x.type
        if name in ("__enter__", "__exit__"):
            raise refusals.no_with(x)
        if t is Object or isinstance(t, Exception_):
            return Apply(pyobject.PY_GETATTR, _boxed(x), name=name)
        if _has_class(t) or isinstance(t, Singleton):
            found = classes.attribute(x, name)
            if found is not None:
                return found
        if isinstance(t, Instance):
            return index.generators.attribute(x, name)
        if isinstance(t, Array):
            found = views.getattr_(x, name)
            if found is not None:
                return found
            found = (index.attributes.of_array(x, name) if name not in views.METHODS
                     and index.method_module(name) is None else None)
            if found is not None:
                return found
            if name in views.METHODS or index.method_module(name) is not None:
                return Apply(structure.METHOD_MAKE, x, name=name)
        if isinstance(t, Singleton) and isinstance(t.value, np.ufunc) and name in index.UFUNC_METHODS:
            return Apply(structure.METHOD_MAKE, x, name=name)
        if isinstance(t, DType):
            found = np_scalars.dtype_attribute(t, name)
            if found is not None:
                return found
        if _is_part(t):
            return index.attributes.getattr_(x, name)
        if isinstance(t, Struct) and t.name == "broadcast":
            return index.iterators.getattr_(x, name)
        if _is_record(t):
            return index.records.getattr_(x, name)
        if t is Range and name in ("start", "stop", "step"):
            return Apply(structure.RANGE_GET, x, field=name)
        if isinstance(t, Slice) and name in ("start", "stop", "step"):
            return Apply(structure.SLICE_GET, x, field=name)
        if is_scalar(t):
            found = np_scalars.attribute(x, name) if is_numpy_scalar(t) else py_builtins.attribute(x, name)
            if found is not None:
                return found
            return Apply(structure.METHOD_MAKE, x, name=name)
        if isinstance(t, Tuple) and name in ("index", "count"):
            return Apply(structure.METHOD_MAKE, x, name=name)
        if t is Str and name == "format":
            return Apply(structure.METHOD_MAKE, x, name=name)
        if _is_of_the_program(t) and hasattr(t.value, name):
            raise refusals.of_the_program(t, f".{name}()", True)
        raise refusals.attribute(x, name)

    def setattr(self, x, name, value):
        if isinstance(x.type, Array):
            return index.attributes.set_of_array(x, name, value)
        if _is_part(x.type):
            raise Mismatch("flags of an array are part of its type in compiled code and cannot be changed")
        if _is_record(x.type):
            return index.records.put_attribute(x, name, value)
        raise Mismatch(f"attributes of {describe(x.type)} objects cannot be assigned in compiled code",
                       "return the value and assign it outside, or write it into an array")

    def class_of(self, t):
        """The class of the values of a type in Python, or None."""
        return py_builtins.class_of(t)

    def is_power(self, t):
        return isinstance(t, Union) and subscripts.is_power(t)

    def slice_bound(self, x):
        """A power of integers as a bound of a slice: an int, or the error that indexing with the slice would be."""
        return Call(subscripts.integral, x, Const(Bool, True))

    def getitem(self, x, i):
        t = x.type
        if t is Object:
            return _python(operator.getitem, x, i)
        if isinstance(t, Array):
            if isinstance(t.dtype, Record):
                return index.records.getitem(x, i)
            return (indexing if _advanced(i) else subscripts).getitem(x, i)
        if _is_record(t):
            return index.records.get(x, i)
        if isinstance(t, Tuple):
            return self._tuple_item(x, i)
        if _is_enum(t):
            return classes.enum_item(t.value, i)
        if isinstance(t, Struct) and t.name == "list":
            found = self._tuple_item(sequences.tuple_of([x], {}), i, "list")
            return list_of(found.operands) if isinstance(i.type, Slice) else found
        if isinstance(t, Struct) and t.name == "dict" and i.known:
            if i.value in dict(t.members):
                return Apply(structure.STRUCT_GET, x, field=i.value)
            return key_error(i)
        if _is_part(t):
            return index.attributes.getitem(x, i)
        if t is Range:
            if isinstance(i.type, Slice):
                raise Mismatch("slices of a range are not compiled yet", "write range() with the bounds that you need")
            return Call(iteration.range_item, x, ranges.index(i))
        if _is_text(t) or _is_container(t):
            raise refusals.not_yet(t, "indexing of")
        if isinstance(t, Singleton) and (t.value is np.mgrid or t.value is np.ogrid):
            return index.grids.getitem(x, i)
        if isinstance(t, Singleton) and (t.value is np.r_ or t.value is np.c_):
            raise refusals.joined_by_index(t)
        if isinstance(t, Singleton) and isinstance(t.value, type) and hasattr(t.value, "__class_getitem__"):
            raise Mismatch(f"'{t.value.__name__}[...]' has no meaning in compiled code")
        if _is_of_the_program(t):
            raise refusals.of_the_program(t, "an item")
        if isinstance(t, Singleton) and hasattr(type(t.value), "__getitem__"):
            raise refusals.of_an_object(t, "items")
        raise Mismatch(f"{describe(t)} object is not subscriptable")

    def _tuple_item(self, x, i, name="tuple"):
        elements = x.type.elements
        if isinstance(i.type, Slice):
            if not i.known:
                raise Mismatch(f"the slice of a {name} must be constant", "index with integers, or use an array")
            picked = range(len(elements))[i.value]
            return Apply(structure.TUPLE_MAKE, *(Apply(structure.TUPLE_GET, x, index=k) for k in picked), cls=None)
        if not is_integer(i.type) and i.type is not Bool:
            raise Mismatch(f"{name} indices must be integers or slices, not {describe(i.type)[1:-1]}",
                           whole_number(i.type))
        i = ranges.index(i)
        if i.known:
            k = i.value + len(elements) if i.value < 0 else i.value
            if not 0 <= k < len(elements):
                return Throw(IndexError, f"{name} index out of range")
            return Apply(structure.TUPLE_GET, x, index=k)
        if not elements:
            return Throw(IndexError, f"{name} index out of range")
        return Call(tuples.item if name == "tuple" else tuples.list_item, x, i)

    def setitem(self, x, i, v, asks):
        """x[i] = v. asks: whether a number of NumPy's must fit in an element, as in the program; functions of the
        library,
        which store the elements of arrays one by one, cast them."""
        if _is_record(x.type):
            return index.records.put(x, i, v)
        if isinstance(x.type, Array):
            if isinstance(x.type.dtype, Record):
                return index.records.setitem(x, i, v, asks)
            written_out = isinstance(v.type, Tuple) or isinstance(v.type, Struct) and v.type.name == "list"
            dtype, asks = x.type.dtype, asks and not written_out and not isinstance(v.type, Array) and not _advanced(i)
            discards = conversions.discards(v.type.dtype if isinstance(v.type, Array) else v.type, dtype)
            if discards and not asks:
                return Call(elementwise.loops.store_real, x, i, v)
            if asks:
                given, v = v, conversions.element(v, dtype)
            if discards:
                v = conversions.discarding(given, dtype, conversions.assign(v, dtype))
                return subscripts.setitem(x, i, v, lambda value, dtype: value)
            return (indexing.setitem(x, i, v) if written_out or _advanced(i)
                    else subscripts.setitem(x, i, v, conversions.assign))
        if _is_container(x.type):
            raise refusals.not_yet(x.type, "assigning to an item of")
        if _is_part(x.type):
            return index.attributes.setitem(x, i, v)
        if _is_of_the_program(x.type):
            raise refusals.of_the_program(x.type, "item assignment", True)
        raise Mismatch(f"{describe(x.type)} object does not support item assignment")

    def length(self, x):
        t = x.type
        if isinstance(t, Array):
            return subscripts.length(x)
        if isinstance(t, Tuple):
            return Const(Int, len(t.elements))
        if isinstance(t, Struct) and t.name in ("list", "dict"):
            return Const(Int, len(t.members))
        if t is Range:
            return ranges.length(x)
        if _is_enum(t):
            return Const(Int, len(classes.enum_members(t.value)))
        if _is_part(t):
            return index.attributes.length(x)
        if _is_record(t):
            return Const(Int, len(index.records.values(x)))
        if _is_text(t) and x.known:
            return Const(Int, len(x.value))
        if t is Object or _is_text(t):
            return Apply(pyobject.PY_UNBOX, _python(len, x), type=Int)
        if _is_of_the_program(t):
            raise refusals.of_the_program(t, "len()")
        raise Mismatch(f"object of type {describe(t)} has no len()")

    def unpack(self, x, count):
        t = x.type
        if _is_record(t):
            x = Apply(structure.TUPLE_MAKE, *index.records.values(x), cls=None)
            t = x.type
        if isinstance(t, Struct) and t.name == "list":
            x = sequences.tuple_of([x], {})
            t = x.type
        if isinstance(t, Tuple):
            n = len(t.elements)
            if n == count:
                return x
            if n < count:
                return Throw(ValueError, f"not enough values to unpack (expected {count}, got {n})")
            return Throw(ValueError, f"too many values to unpack (expected {count})")
        if t is Range or isinstance(t, (Array, Struct, Iterator)):
            return Call(unpack_state, self.iter(x), Const(Int, count), Const(Int, 0), Const(Tuple(()), ()))
        raise Mismatch(f"cannot unpack non-iterable {describe(t).strip(chr(39))} object")

    # -- iteration

    def iter(self, x):
        t = x.type
        if t is Range:
            return ranges.iterate(x)
        if isinstance(t, Tuple):
            if not t.elements:
                return Apply(structure.PACK, x, name="empty_iterator")
            return Call(iteration.tuple_iterate, x)
        if isinstance(t, Array):
            if t.ndim == 0:
                return Throw(TypeError, "iteration over a 0-d array")
            return Call(iteration.array_iterate, x)
        if isinstance(t, Struct) and t.name == "list":
            return self.iter(sequences.tuple_of([x], {}))
        if _is_part(t):
            return index.attributes.iterate(x)
        if _is_record(t):
            return self.iter(Apply(structure.TUPLE_MAKE, *index.records.values(x), cls=None))
        if isinstance(t, Struct) and t.name == "broadcast":
            return index.iterators.iterate(x)
        if (isinstance(t, (Iterator, Generator)) or isinstance(t, Struct)
            and (_is_state(t) or t.name == "empty_iterator")):
            return x
        if _is_text(t) or _is_container(t):
            raise refusals.not_yet(t, "iteration over")
        if _is_of_the_program(t):
            raise refusals.of_the_program(t, "iteration")
        if _is_enum(t):
            return self.iter(constant(classes.enum_members(t.value)))
        if isinstance(t, Singleton) and hasattr(type(t.value), "__iter__"):
            raise refusals.of_an_object(t, "the items")
        raise Mismatch(f"{describe(t)} object is not iterable")

    def next(self, state):
        t = state.type
        if isinstance(t, Iterator):
            return Call(iteration.generator_step if type(t.state) is Union else iteration.iterator_step, state)
        if isinstance(t, Generator):
            return Step(state)
        if isinstance(t, Struct):
            if t.name == "empty_iterator":
                return Const(Tuple((Bool, Undefined, Undefined)), (False, Undefined, Undefined))
            if t.name == ranges.STATE:
                return ranges.step(state)
            return Call((index.iterators if t.name in index.STATES else iteration).STEPS[t.name], state)
        raise Mismatch(f"{describe(t)} object is not an iterator")

    def _explicit_iter(self, args, kwargs):
        (x,) = args
        if isinstance(x.type, Iterator):
            return x
        return Share(self.iter(x))

    def _explicit_next(self, args, kwargs):
        it = args[0]
        if not isinstance(it.type, Iterator):
            if isinstance(it.type, Generator) or isinstance(it.type, Struct) and _is_state(it.type):
                it = Share(it)
                return Call(iteration.next_item, it) if len(args) == 1 else Call(iteration.next_default, it, args[1])
            raise Mismatch(f"{describe(it.type)} object is not an iterator", "call iter() on it first")
        return Call(iteration.next_item, it) if len(args) == 1 else Call(iteration.next_default, it, args[1])

    # -- calls

    def call(self, target, args, kwargs):
        """A call of something that is neither a Python function nor has a rule."""
        if isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields"):
            return classes.named_tuple(target, args, kwargs)
        if isinstance(target, enum.EnumMeta):
            return classes.enum_member(target, args, kwargs)
        if isinstance(target, np.vectorize):
            return index.applying.call_vectorized(Const(Singleton(target), target), args, kwargs)
        converts_to = getattr(target, "type", None)
        if isinstance(converts_to, Type) and is_numpy_scalar(converts_to):  # this package's own float32(x)
            return self.rule_for(dtype_of(converts_to).type)(args, kwargs)
        raise refusals.call(target)

    # -- what there is no meaning for: refusals.py

    def of_python(self, function, module, error):
        return refusals.of_python(function, module, error)

    def no_display(self, kind):
        return refusals.no_display(kind)

    def no_comprehension(self, kind, item):
        return refusals.no_comprehension(kind, item)

    def no_deletion(self, t):
        return refusals.no_deletion(t)

    def other_attribute(self, x, name):
        return refusals.other_attribute(x, name)

    def advice_of_call(self, callee, args, kwargs, message):
        return refusals.advice_of_call(callee, args, kwargs, message)

    def method(self, receiver, name, args, kwargs):
        t = receiver.type
        if isinstance(t, Instance):
            return index.generators.method(receiver, name, args, kwargs)
        if _has_class(t) or isinstance(t, Singleton):
            found = classes.method(receiver, name, args, kwargs)
            if found is not None:
                return found
        if isinstance(t, Array):
            rule = views.METHODS.get(name) or index.taken(name, index.method_module(name).METHODS[name])
            return rule([receiver, *args], kwargs)
        if name == "vectorize" and isinstance(t, (Function, Singleton)):
            return index.applying.call_vectorized(receiver, args, kwargs)
        if isinstance(t, Singleton):
            return index.ufunc_methods.method(receiver, name, args, kwargs)
        if t is Str:
            return Apply(pyobject.PY_UNBOX, Apply(pyobject.PY_CALL, Const(Object, str.format),
                                                  *(_boxed(x) for x in [receiver, *args, *kwargs.values()]),
                                                  kwnames=tuple(kwargs)), type=Str)
        if isinstance(t, Tuple):
            return Call(tuples.count if name == "count" else tuples.index, receiver, *args)
        found = (np_scalars.method if is_numpy_scalar(t) else py_builtins.method)(receiver, name, args, kwargs)
        if found is None:
            raise Mismatch(f"{describe(t)} object has no attribute '{name}'", "", AttributeError)
        return found


def _advanced(i) -> bool:
    """Whether an index has arrays, masks or lists in it."""
    return any(isinstance(t, Array) or t is Bool or t is NpBool or isinstance(t, Struct) and t.name == "list"
               for t in (i.type.elements if isinstance(i.type, Tuple) else (i.type,)))


def _has_class(t):
    """A named tuple, whose class may say what it does."""
    return isinstance(t, Tuple) and t.cls is not None


def _is_text(t):
    return t is Str or t is Bytes


def _is_container(t):
    return isinstance(t, Struct) and t.name in ("list", "dict")


def _is_enum(t):
    """The class itself."""
    return isinstance(t, Singleton) and isinstance(t.value, enum.EnumMeta)


def _is_part(t):
    """a.flags or a.flat"""
    return isinstance(t, Struct) and t.name in ("flags", "flat")


_ITERATORS = frozenset((enumerate, zip, map, filter, reversed, np.ndindex, np.ndenumerate))


def _is_state(t):
    """Of a loop that has a step."""
    return t.name == ranges.STATE or t.name in index.STATES or t.name in iteration.STEPS


def _is_record(t):
    return isinstance(t, Struct) and t.name == "record"


def _no_records(op, *operands):
    if any(isinstance(x.type, Array) and isinstance(x.type.dtype, Record) or _is_record(x.type) for x in operands):
        raise Mismatch(f"{op} of structured arrays is not compiled", "use their fields: a['x']")


def either(x, y):
    return x or y


def unpack_state(state, count, k, done):
    """Exactly `count` items of an iteration state, as a tuple."""
    one = intrinsics.advance(state)
    if k == count:
        if one[0]:
            raise ValueError(f"too many values to unpack (expected {count})")
        return done
    if not one[0]:
        raise ValueError(f"not enough values to unpack (expected {count}, got {k})")
    return unpack_state(one[2], count, k + 1, done + (one[1],))


def _pair(value):
    for cls, t in ((bool, Bool), (int, Int), (float, Float), (str, Str)):
        if type(value) is cls:
            return t, value
    return Singleton(value), value


def _fixed(x):
    """The value of an operand known for certain (constant, or of a type with one value), else UNKNOWN."""
    return x.value if x.known else only_value(x.type)


def _tuple_binary(op, x, y):
    if op == "+" and isinstance(x.type, Tuple) and isinstance(y.type, Tuple):
        parts = [Apply(structure.TUPLE_GET, t, index=i) for t in (x, y) for i in range(len(t.type.elements))]
        return Apply(structure.TUPLE_MAKE, *parts, cls=None)
    if op == "*":
        t, n = (x, y) if isinstance(x.type, Tuple) else (y, x)
        if n.type is Int:
            if not n.known:
                raise Mismatch("a tuple can only be repeated a constant number of times", "use an array")
            return Apply(structure.TUPLE_MAKE, *(Apply(structure.TUPLE_GET, t, index=i) for _ in range(n.value)
                                                 for i in range(len(t.type.elements))), cls=None)
    if op == "+" and isinstance(x.type, Tuple):
        raise Mismatch(f"can only concatenate tuple (not \"{describe(y.type).strip(chr(39))}\") to tuple")
    return None
