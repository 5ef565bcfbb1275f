"""Builtins that make or use up sequences: ranges, slices, tuples, iterators."""
from __future__ import annotations

from ...base.lazy import lazy
from ...infer.meaning import Apply, Call, Const, Expr, Mismatch
from ...infer.names import describe
from ...ops import structure
from ...types.kinds import Array, Int, NoneType, Range, Struct, Tuple
from ..build import number

builtins = lazy(f"{__package__}.builtins")
conversions = lazy(f"{__package__}.conversions")
iteration = lazy(f"{__package__}.iteration")

__all__ = ["index", "tuple_of", "CALLS"]


def index(x: Expr) -> Expr:
    """`x` as an int, as `operator.index` gives it; most are one, and need no other module."""
    return x if x.type is Int else conversions.to_index(x)


def _range(args, kwargs):
    if kwargs:
        raise Mismatch("range() takes no keyword arguments")
    if not 1 <= len(args) <= 3:
        raise Mismatch("range expected at least 1 argument, got 0" if not args else
                       f"range expected at most 3 arguments, got {len(args)}")
    parts = [index(x) for x in args]
    if len(parts) == 1:
        parts = [number(0), parts[0]]
    if len(parts) == 2:
        parts.append(number(1))
    if parts[2].known and parts[2].value != 0:
        return Apply(structure.RANGE_MAKE, *parts)
    return Call(iteration.make_range, *parts)


def _enumerate(args, kwargs):
    start = kwargs.get("start") or (args[1] if len(args) > 1 else number(0))
    return Call(iteration.enumerate_iterate, args[0] if args else kwargs["iterable"], start)


def _zip(args, kwargs):
    strict = kwargs.get("strict")
    if strict is not None and not strict.known:
        raise Mismatch("zip(strict=) must be a constant")
    return Call(iteration.zip_strict_iterate if strict is not None and strict.value else iteration.zip_iterate, *args)


def _reversed(args, kwargs):
    (x,) = args
    if x.type is Range:
        return Call(iteration.range_reversed, x)
    if isinstance(x.type, Tuple):
        return Call(iteration.tuple_reversed, x)
    if isinstance(x.type, Array):
        return Call(iteration.array_reversed, x)
    raise Mismatch(f"{describe(x.type)} object is not reversible")


def _extreme(name):
    def rule(args, kwargs):
        if len(args) == 1 and not kwargs:
            return Call(getattr(iteration, f"{name}_of"), args[0])
        return builtins.EXTREMES[name](args, kwargs)

    return rule


def _sum(args, kwargs):
    start = kwargs.get("start") or (args[1] if len(args) > 1 else number(0))
    return Call(iteration.sum_, args[0], start)


def tuple_of(args, kwargs):
    """The rule of `tuple`."""
    if not args:
        return Apply(structure.TUPLE_MAKE, cls=None)
    (x,) = args
    if isinstance(x.type, Tuple):
        return x if x.type.cls is None else Apply(
            structure.TUPLE_MAKE, *(Apply(structure.TUPLE_GET, x, index=i) for i in range(len(x.type.elements))), cls=None)
    if isinstance(x.type, Struct) and x.type.name == "list":
        return Apply(structure.TUPLE_MAKE, *(Apply(structure.STRUCT_GET, x, field=n) for n, _ in x.type.members), cls=None)
    raise Mismatch("tuple() of a value whose length is only known at run time", "use an array (np.empty) for it")


def _slice(args, kwargs):
    none = Const(NoneType, None)
    parts = [none, args[0], none] if len(args) == 1 else [*args, none][:3]
    return Apply(structure.SLICE_MAKE, *parts)


def _called(name):
    return lambda args, kwargs: Call(getattr(iteration, name), *args)


CALLS = {
    range: _range, enumerate: _enumerate, zip: _zip, reversed: _reversed, sum: _sum, tuple: tuple_of, slice: _slice,
    max: _extreme("max"), min: _extreme("min"), any: _called("any_"), all: _called("all_"), map: _called("map_iterate"),
    filter: _called("filter_iterate"),
}
