"""NumPy functions applied to scalars, and the attributes and methods of NumPy scalars."""
from __future__ import annotations

import numpy as np

from ....base.lazy import lazy
from ....infer.constants import constant as constant_of
from ....infer.meaning import Call, Const, Expr, Mismatch
from ....ops.arith import IMAG, REAL
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Bool, Complex, Float, Int, NpInt, is_complex, is_float, is_number, is_python_number
from ....types.lattice import dtype_of, kind_of, numpy_counterpart, promote, type_of_dtype
from ...build import apply, cast, convert, number, type_name
from ...py import builtins, conversions, numbers as py_numbers, operators
from . import numbers
from .ufuncs import RELATIONS, RULES, constant, loop

elementwise = lazy("pyjitc.lib.np.elementwise.elementwise")
times = lazy("pyjitc.lib.np.dates.times")

__all__ = ["CALLS", "attribute", "method", "ufunc_call", "angle", "clip", "lifted", "round_"]


def ufunc_call(ufunc: np.ufunc, args: list[Expr]) -> Expr:
    """A ufunc of scalars."""
    for x in args:
        if not k.is_scalar(x.type):
            raise Mismatch(f"np.{ufunc.__name__} of a {type_name(x.type)} is not compiled")
    if ufunc in RELATIONS and len(args) == 2 and all(kind_of(x.type) in "biu" for x in args):
        x, y = args  # exact, for Python ints beyond the other's type too
        if is_python_number(x.type):
            x = cast(x, numpy_counterpart(x.type)) if is_python_number(y.type) else x
        result = operators.compare(RELATIONS[ufunc], x, y)
        return result if result.type is k.bool_ else cast(result, k.bool_)
    found = loop(ufunc, tuple([x.type for x in args]))
    return found.rule(*map(convert, args, found.inputs))


def _ufunc(ufunc):
    def rule(args, kwargs):
        if kwargs or len(args) != ufunc.nin or any([isinstance(x.type, (k.Array, k.Tuple, k.Struct)) for x in args]):
            return elementwise.ufunc(ufunc, args, kwargs)
        return ufunc_call(ufunc, args)

    return rule


def _arguments(name, names, args, kwargs, required):
    """Argument name -> expression, checked as Python binds them."""
    slots = dict(zip(names, args))
    if len(args) > len(names) or set(slots) & set(kwargs) or not set(kwargs) <= set(names):
        raise Mismatch(f"np.{name} is compiled with the arguments {', '.join(names)} only")
    slots.update({key: x for key, x in kwargs.items() if x.type is not k.NoneType})
    for key in names[:required]:
        if key not in slots:
            raise Mismatch(f"{name}() missing 1 required positional argument: '{key}'")
    for x in slots.values():
        if isinstance(x.type, k.Array):
            raise Mismatch(f"np.{name} of whole arrays is not compiled yet", "write the loop over the elements")
        if not is_number(x.type):
            raise Mismatch(f"np.{name} of a {type_name(x.type)} is not compiled")
    return slots


def _as_numpy(x: Expr) -> Expr:
    return cast(x, numpy_counterpart(x.type))


def round_(args, kwargs):
    slots = _arguments("round", ("a", "decimals"), args, kwargs, 1)
    return builtins.np_round(_as_numpy(slots["a"]), conversions.to_index(slots.get("decimals", number(0))))


def clip(args, kwargs):
    names = ("a", "a_min", "a_max")
    renamed = {{"min": "a_min", "max": "a_max"}.get(n, n): x for n, x in kwargs.items()}
    slots = _arguments("clip", names, args, renamed, 1)
    x, low, high = (slots.get(n) for n in names)
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


def angle(args, kwargs):
    slots = _arguments("angle", ("z", "deg"), args, kwargs, 1)
    x = _as_numpy(slots["z"])
    if is_complex(x.type):
        result = ufunc_call(np.arctan2, [apply(IMAG, x), apply(REAL, x)])
    else:
        short = isinstance(x.type, k.NpInt) and {8: k.float16, 16: k.float32}.get(x.type.bits)
        x = convert(x, x.type if is_float(x.type) else short or k.float64)
        result = ufunc_call(np.arctan2, [constant(x.type, 0), x])
    deg = slots.get("deg")
    if deg is None or deg.known and not deg.value:
        return result
    return Call(in_degrees, result, deg)


def in_degrees(a, deg):
    return a * (180 / np.pi) if deg else a


_made: dict = {}


def _limits(cls):
    """np.finfo and np.iinfo: objects known at compile time."""

    def rule(args, kwargs):
        (x,) = conversions.take(cls.__name__, args, kwargs, 1, 1)
        t = x.type
        what = dtype_of(t) if k.is_scalar(t) else dtype_of(t.scalar) if isinstance(t, k.DType) else \
            t.value if isinstance(t, k.Singleton) else object if isinstance(t, k.Array) else None
        try:
            # one object, so that the type does not change in loops
            found = _made.setdefault((cls, np.dtype(what)), cls(what))
        except (ValueError, TypeError) as error:
            raise Mismatch(str(error), f"np.{cls.__name__}(a.dtype) is of its elements" if what is object else "",
                           type(error)) from None
        return Const(k.Singleton(found), found)

    return rule


def _isscalar(args, kwargs):
    (x,) = conversions.take("isscalar", args, kwargs, 1, 1)
    return number(k.is_scalar(x.type) or x.type is k.Str or x.type is k.Bytes)


def _where(args, kwargs):
    return elementwise.where(args, kwargs)


def lifted(names, functions):
    """Rules of numbers, for arrays too: the arguments in `names` may be arrays, the others stay as they are."""

    def of(function, rule):
        def rule_(args, kwargs):
            given = dict(zip(names, args)) | kwargs
            if not any(isinstance(x.type, k.Array) for x in given.values()):
                return rule(args, kwargs)
            if set(kwargs) - set(names) or len(args) > len(names) or list(given) != list(names[:len(given)]):
                raise Mismatch(f"np.{function.__name__} of arrays is compiled with the arguments {', '.join(names)} "
                               f"only")
            return elementwise.lift(function, list(given.values()))

        return rule_

    return {function: of(function, rule) for function, rule in functions.items()}


CALLS = {
    **{ufunc: _ufunc(ufunc) for ufunc in RULES},
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
    raise Mismatch(f"'numpy.{cls.__name__}.{name}' is not compiled yet" if hasattr(cls, name) else
                   f"'numpy.{cls.__name__}' object has no attribute '{name}'", "", AttributeError)


def item(x: Expr) -> Expr:
    """The Python number of a NumPy scalar."""
    if x.type is k.uint64:
        return conversions.to_int(x)
    return cast(x, {"b": Bool, "i": Int, "u": Int, "f": Float, "c": Complex}[kind_of(x.type)])


def method(receiver: Expr, name: str, args, kwargs) -> Expr | None:
    """receiver.name(*args, **kwargs) of a NumPy scalar; None where there is no such method."""
    if k.is_time(receiver.type):
        return times.method(receiver, name, args, kwargs)
    find = SCALAR_METHODS.get(name)
    rule = find and find(receiver.type)
    return rule and rule(receiver, args, kwargs)


def _plain(function, applies=lambda t: True):
    """A method without arguments, for the types where `applies`."""

    def rule(x, args, kwargs):
        conversions.take(type_name(x.type), args, kwargs, 0, 0)
        return function(x)

    return lambda t: rule if applies(t) else None


def _astype(x, args, kwargs):
    (target,) = args[:1] or (kwargs.get("dtype"),)
    t = _scalar_of(target)
    if t is None:
        raise Mismatch("astype() needs a dtype that is known at compile time")
    return cast(x, t)


def _scalar_of(x: Expr | None) -> k.Type | None:
    if x is None:
        return None
    if isinstance(x.type, k.DType):
        return x.type.scalar
    value = x.type.value if isinstance(x.type, k.Singleton) else x.value if x.known else None
    try:
        return None if value is None else type_of_dtype(np.dtype(value))
    except TypeError:
        return None


def _summed(x):
    """np.sum's type: small integers are summed in 64 bits."""
    t = x.type
    if t is k.bool_ or isinstance(t, NpInt):
        return cast(x, k.int64 if t is k.bool_ or t.signed else k.uint64)
    return x


def _is_whole(x):
    return Call(py_numbers.float_is_whole, cast(x, Float)) if is_float(x.type) else number(True)


def _ratio(x):
    return Call(numbers.float_ratio, x)


def _round_method(x, args, kwargs):
    digits = args[0] if args else kwargs.get("decimals", number(0))
    return builtins.np_round(x, conversions.to_index(digits))


def _integral(t):
    return isinstance(t, NpInt)


def _mean(x):
    return x if is_float(x.type) or is_complex(x.type) else cast(x, k.float64)


SCALAR_METHODS = {
    "item": _plain(item), "tolist": _plain(item), "conj": _plain(builtins.conjugate),
    "conjugate": _plain(builtins.conjugate),
    "copy": _plain(lambda x: x), "squeeze": _plain(lambda x: x), "min": _plain(lambda x: x), "max": _plain(lambda x: x),
    "sum": _plain(_summed), "prod": _plain(_summed), "mean": _plain(_mean),
    "is_integer": _plain(_is_whole, lambda t: is_float(t) or _integral(t)),
    "as_integer_ratio": _plain(_ratio, is_float),
    "bit_count": _plain(lambda x: cast(Call(numbers.bit_count, x), Int), _integral),
    "astype": lambda t: _astype, "round": lambda t: _round_method,
}
