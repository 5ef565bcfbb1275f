"""NumPy functions applied to scalars, and the attributes and methods of NumPy scalars."""
from __future__ import annotations

import numpy as np

from ....base.lazy import lazy
from ....infer.constants import constant as constant_of
from ....infer.meaning import Call, Const, Expr, Mismatch, NotNative, Throw
from ....ops.arith import IMAG, REAL
from ....ops.math import BITS, BITS32, FROM_BITS, FROM_BITS32
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Bool, Complex, Float, Int, NpInt, is_complex, is_float, is_number, is_python_number
from ....types.lattice import dtype_of, kind_of, named_dtype, numpy_counterpart, promote, type_of_dtype
from ...build import apply, cast, convert, number, a_type
from ...rule import Rule, rule
from .arithmetic import constant
from .functions import RULES
from .ufuncs import RELATIONS, loop

builtins, py_numbers = lazy("pyjitc.lib.py.builtins"), lazy("pyjitc.lib.py.numbers")
elementwise, numbers = lazy("pyjitc.lib.np.elementwise.elementwise"), lazy("pyjitc.lib.np.elementwise.numbers")
conversions, operators = lazy("pyjitc.lib.py.conversions"), lazy("pyjitc.lib.py.operators")
times = lazy("pyjitc.lib.np.dates.times")

__all__ = ["CALLS", "attribute", "indexed", "method", "ufunc_call", "angle", "clip", "round_"]


def ufunc_call(ufunc: np.ufunc, args: list[Expr]) -> Expr:
    """A ufunc of scalars."""
    for x in args:
        if not k.is_scalar(x.type):
            if len(args) == 1 and (x.type is k.Str or x.type is k.NoneType):
                try:
                    ufunc("" if x.type is k.Str else None)
                except TypeError as error:
                    raise Mismatch(str(error)) from None
            raise NotNative(f"np.{ufunc.__name__} of {a_type(x.type)} is not compiled")
    if ufunc in RELATIONS and len(args) == 2 and all(kind_of(x.type) in "biu" for x in args):
        x, y = args  # exact, also for Python ints outside the bounds of the other operand's type
        if is_python_number(x.type):
            x = cast(x, numpy_counterpart(x.type)) if is_python_number(y.type) else x
        result = operators.compare(RELATIONS[ufunc], x, y)
        return result if result.type is k.bool_ else cast(result, k.bool_)
    found = loop(ufunc, tuple([x.type for x in args]))
    return found.rule(*map(convert, args, found.inputs))


def _check_numbers(name, *values):
    for x in values:
        if not is_number(x.type):
            raise NotNative(f"np.{name} of {a_type(x.type)} is not compiled")


def _as_numpy(x: Expr) -> Expr:
    return cast(x, numpy_counterpart(x.type))


def round_(a, decimals):
    """np.round(a, decimals) of a number."""
    _check_numbers("round", a, decimals)
    return builtins.np_round(_as_numpy(a), conversions.to_index(decimals))


def _drops_bounds() -> bool:
    """Whether this NumPy accepts bounds beyond the integers of the array, which it does from 2.1 on."""
    try:
        np.clip(np.zeros(1, np.uint8), -1, 300)
    except OverflowError:
        return False
    return True


DROPS_BOUNDS = _drops_bounds()


def least(low, dtype):
    """The lower bound of a clip; if it is an int below all integers of the dtype, the least of these."""
    return max(low, int(np.iinfo(dtype).min)) if type(low) is int else low


def most(high, dtype):
    return min(high, int(np.iinfo(dtype).max)) if type(high) is int and dtype.itemsize < 8 else high


def clip(x, low, high):
    """np.clip(x, low, high) of numbers; a bound may be None."""
    if DROPS_BOUNDS and isinstance(x.type, k.NpInt):
        dtype = Const(k.DType(x.type), dtype_of(x.type))
        low, high = (bound if bound is None or bound.type is not k.Int else
                     Const(k.Int, function(bound.value, dtype.value)) if bound.known else Call(function, bound, dtype)
                     for function, bound in ((least, low), (most, high)))
    types = [t.type for t in (x, low, high) if t is not None]
    common = types[0]
    for t in types[1:]:
        common = promote(common, t)
    common = numpy_counterpart(common)
    x = convert(x, common)
    if low is not None:
        x = _bounded(np.maximum, x, convert(low, common))
    if high is not None:
        x = _bounded(np.minimum, x, convert(high, common))
    return x


def _bounded(ufunc, x, bound):
    return loop(ufunc, (x.type, x.type)).rule(x, bound)


def angle(z, deg):
    """np.angle(z, deg) of a number."""
    x = _as_numpy(z)
    if is_complex(x.type):
        result = ufunc_call(np.arctan2, [apply(IMAG, x), apply(REAL, x)])
    else:
        short = isinstance(x.type, k.NpInt) and {8: k.float16, 16: k.float32}.get(x.type.bits)
        x = convert(x, x.type if is_float(x.type) else short or k.float64)
        result = ufunc_call(np.arctan2, [constant(x.type, 0), x])
    if deg.known and not deg.value:
        return result
    return Call(in_degrees, result, deg)


def in_degrees(a, deg):
    return a * (180 / np.pi) if deg else a


_made: dict = {}


def _limits(cls):
    """np.finfo and np.iinfo: objects known at compile time."""

    @rule(f"np.{cls.__name__}", "int_type" if cls is np.iinfo else "dtype")
    def limits(dtype):
        t = dtype.type
        what = dtype_of(t) if k.is_scalar(t) else dtype_of(t.scalar) if isinstance(t, k.DType) else \
            t.value if isinstance(t, k.Singleton) else object if isinstance(t, k.Array) else None
        try:
            # one object each, so that the type does not change in loops
            found = _made.setdefault((cls, np.dtype(what)), cls(what))
        except (ValueError, TypeError) as error:
            raise Mismatch(str(error), f"np.{cls.__name__}(a.dtype) is of its elements" if what is object else "",
                           type(error)) from None
        return Const(k.Singleton(found), found)

    return limits


@rule("np.isscalar")
def _isscalar(element):
    return number(k.is_scalar(element.type) or element.type is k.Str or element.type is k.Bytes)


class _Ufunc(Rule):
    """The rule of a ufunc. Calls with numbers only, which are most, are handled before arguments are bound."""

    __slots__ = ("ufunc",)

    def __init__(self, ufunc):
        super().__init__(None, f"np.{ufunc.__name__}", lambda: None)
        self.ufunc = ufunc

    def __call__(self, args, kwargs):
        ufunc = self.ufunc
        if kwargs or len(args) != ufunc.nin or any([isinstance(x.type, (k.Array, k.Tuple, k.Struct)) for x in args]):
            return elementwise.rule_of(ufunc)(args, kwargs)
        return ufunc_call(ufunc, args)

    def parameters(self):
        return elementwise.rule_of(self.ufunc).parameters()


@rule("np.where")
def _where(condition, x=..., y=..., /):
    return elementwise.where(condition, x, y)


CALLS = {
    **{ufunc: _Ufunc(ufunc) for ufunc in RULES},
    np.where: _where, np.finfo: _limits(np.finfo), np.iinfo: _limits(np.iinfo), np.isscalar: _isscalar,
}

# ---------------------------------------------------------------- attributes and methods


def dtype_attribute(t: k.DType, name: str) -> Expr | None:
    """An attribute of a dtype object; None where it is not compiled."""
    dtype = dtype_of(t.scalar)
    if name == "type":
        return Const(k.Singleton(dtype.type), dtype.type)
    if name in ("itemsize", "alignment", "num", "ndim"):
        return number(getattr(dtype, name))
    if name in ("kind", "char", "name", "str", "byteorder"):
        return Const(k.Str, getattr(dtype, name))
    if name in ("isbuiltin", "isnative", "hasobject", "flags", "names", "fields", "subdtype", "shape", "base",
                "isalignedstruct", "metadata"):
        return constant_of(getattr(dtype, name))
    return None


def dtype_answer(t: k.DType, function, *args) -> Expr:
    """The result of function(dtype, *args) for a dtype object, or the exception that the call raises."""
    try:
        return constant_of(function(dtype_of(t.scalar), *args))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        return Throw(type(error), *error.args)


def attribute(x: Expr, name: str) -> Expr | None:
    """x.name of a NumPy scalar; None where it is a method."""
    t = x.type
    if name in ("real", "T"):
        return apply(REAL, x) if name == "real" and is_complex(t) else x
    if k.is_time(t) and name not in ("real", "T", "dtype", "shape", "ndim", "size", "itemsize", "nbytes"):
        return times.attribute(x, name)
    if name == "imag":
        return apply(IMAG, x) if is_complex(t) else constant(t, 0)
    if name == "dtype":
        return Const(k.DType(t), dtype_of(t))
    if isinstance(t, NpInt) and name in ("numerator", "denominator"):
        return x if name == "numerator" else number(1)
    if name == "shape":
        return apply(TUPLE_MAKE, cls=None)
    if name in ("ndim", "size", "itemsize", "nbytes"):
        return number({"ndim": 0, "size": 1}.get(name, dtype_of(t).itemsize))
    if name in SCALAR_METHODS and SCALAR_METHODS[name](t) is not None:
        return None
    cls = dtype_of(t).type
    if hasattr(cls, name):
        raise NotNative(f"'numpy.{cls.__name__}.{name}' is not compiled yet", "", AttributeError)
    raise Mismatch(f"'numpy.{cls.__name__}' object has no attribute '{name}'", "", AttributeError)


def item(x: Expr) -> Expr:
    """The Python number of a NumPy scalar."""
    if x.type is k.uint64:
        return conversions.to_int(x)
    return cast(x, {"b": Bool, "i": Int, "u": Int, "f": Float, "c": Complex}[kind_of(x.type)])


def indexed(x, i):
    return np.asarray(x)[i]


def method(receiver: Expr, name: str, args, kwargs) -> Expr | None:
    """receiver.name(*args, **kwargs) of a NumPy scalar; None where there is no such method."""
    if k.is_time(receiver.type):
        return times.method(receiver, name, args, kwargs)
    find = SCALAR_METHODS.get(name)
    found = find and find(receiver.type)
    return found and found([receiver, *args], kwargs)


def _method(name, function, applies=lambda t: True):
    """The rule of a method without arguments; `applies`: whether a type has it."""
    found = Rule(function, f"np.float64.{name}", "x")
    return lambda t: found if applies(t) else None


@rule("np.generic.astype")
def _astype(x, dtype, order="K", casting="unsafe", subok=True, copy=True):
    t = _scalar_of(dtype)
    if t is None:
        raise NotNative("astype() needs a dtype that is known at compile time")
    return cast(x, t)


@rule("np.generic.view")
def _view(x, dtype=None, type=None):
    """The same bits as a number of another type."""
    source, target = x.type, x.type if dtype is None else _scalar_of(dtype)
    if target is None or type is not None:
        raise NotNative("view() of a number needs a dtype that is known at compile time")
    if target is source:
        return x
    if source.bits != target.bits:
        return Throw(ValueError, "Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
    if not all(isinstance(t, NpInt) or t in _BITS for t in (source, target)):
        raise NotNative(f"view() of {a_type(source)} as {target} is not compiled", "use integers, float32 and float64")
    if source in _BITS:
        bits, _, form, plain = _BITS[source]
        x = apply(bits, cast(x, plain))
    if target not in _BITS:
        return cast(x, target)
    _, of_bits, form, _ = _BITS[target]
    return cast(apply(of_bits, cast(cast(x, k.NpInt(target.bits, True)), form)), target)


# float type -> (the operation that gives its bits, the operation that makes a float of them, the types of bits and
# float)
_BITS = {k.float64: (BITS, FROM_BITS, Int, Float), k.float32: (BITS32, FROM_BITS32, k.int32, k.float32)}


def _scalar_of(x: Expr) -> k.Type | None:
    if isinstance(x.type, k.DType):
        return x.type.scalar
    value = x.type.value if isinstance(x.type, k.Singleton) else x.value if x.known else None
    try:
        return None if value is None else type_of_dtype(named_dtype(value))
    except TypeError:
        return None


def _summed(x):
    """The number x in the type in which np.sum adds: integers are summed in 64 bits."""
    t = x.type
    if t is k.bool_ or isinstance(t, NpInt):
        return cast(x, k.int64 if t is k.bool_ or t.signed else k.uint64)
    return x


def _is_whole(x):
    return Call(py_numbers.float_is_whole, cast(x, Float)) if is_float(x.type) else number(True)


def _ratio(x):
    return Call(numbers.float_ratio, x)


@rule("np.generic.round")
def _round_method(x, decimals=0, out=None):
    return builtins.np_round(x, conversions.to_index(decimals))


def _integral(t):
    return isinstance(t, NpInt)


def _mean(x):
    return x if is_float(x.type) or is_complex(x.type) else cast(x, k.float64)


def _itself(x):
    return x


def _conjugate(x):
    return builtins.conjugate(x)


SCALAR_METHODS = {name: _method(name, *given) for name, given in {
    "item": (item,), "tolist": (item,), "conj": (_conjugate,), "conjugate": (_conjugate,),
    "copy": (_itself,), "squeeze": (_itself,), "min": (_itself,), "max": (_itself,), "sum": (_summed,),
    "prod": (_summed,), "mean": (_mean,),
    "is_integer": (_is_whole, lambda t: is_float(t) or _integral(t)), "as_integer_ratio": (_ratio, is_float),
    "bit_count": (lambda x: cast(Call(numbers.bit_count, x), Int), _integral),
}.items()}
SCALAR_METHODS |= {"astype": lambda t: _astype, "view": lambda t: _view, "round": lambda t: _round_method}
