"""Builtins that make or consume sequences: ranges, slices, tuples, iterators."""
from __future__ import annotations

from ...base.lazy import lazy
from ...infer.meaning import Apply, Call, Const, Mismatch
from ...ops import structure
from ...types.kinds import Bytes, Ellipsis_, Str, Tuple
from ..protocol import protocol_of
from ..rule import Constant, NONE, rule

any_length, builtins, conversions, iteration, sums = (
    lazy(f"{__package__}.{name}") for name in ("any_length", "builtins", "conversions", "iteration", "sums"))

__all__ = ["tuple_of", "CALLS"]


@rule("enumerate")
def _enumerate(iterable, start=0):
    return Call(iteration.enumerate_iterate, iterable, conversions.to_index(start))


@rule("zip")
def _zip(*iterables, strict: Constant = False):
    return Call(iteration.zip_strict_iterate if strict else iteration.zip_iterate, *iterables)


@rule("reversed", "sequence, /")
def _reversed(x):
    return protocol_of(x.type).reversed(x)


def _extreme(name):
    @rule(name)
    def found(first, *others, key=None, default=...):
        has_default = default.type is not Ellipsis_
        if others and has_default:
            raise Mismatch(f"Cannot specify a default for {name}() with multiple positional arguments")
        args = [first, *others]
        if others and key is None:
            return builtins.EXTREMES[name](args)
        items = Apply(structure.TUPLE_MAKE, *args, cls=None) if others else first
        default = Apply(structure.TUPLE_MAKE, *([default] if has_default else []), cls=None)
        if key is None:
            return Call(iteration.extreme_of, items, Const(Str, name), default)
        return Call(iteration.extreme_by, items, Const(Str, name), key, default)

    return found


_JOINED = {Str: "strings", Bytes: "bytes"}


@rule("sum")
def _sum(iterable, /, start=0):
    joined = _JOINED.get(getattr(start, "type", None))
    if joined is not None:
        raise Mismatch(f"sum() can't sum {joined} [use {'b' if start.type is not Str else ''}''.join(seq) instead]")
    return Call(sums.sum_, iterable, start)


@rule("tuple", "iterable=..., /")
def tuple_of(x):
    if x.type is Ellipsis_:
        return Apply(structure.TUPLE_MAKE, cls=None)
    if isinstance(x.type, Tuple) and x.type.cls is None:
        return x
    items = protocol_of(x.type).elements(x)
    if items is not None:
        return Apply(structure.TUPLE_MAKE, *items, cls=None)
    return any_length.tuple_of(x)


@rule("slice")
def _slice(start, stop=..., step=None, /):
    if stop.type is Ellipsis_:
        start, stop = NONE, start
    return Apply(structure.SLICE_MAKE, start, stop, step or NONE)


def _called(path, name, signature):
    return rule(path, signature)(lambda *operands: Call(getattr(iteration, name), *operands))


CALLS = {
    enumerate: _enumerate, zip: _zip, reversed: _reversed, sum: _sum, tuple: tuple_of, slice: _slice,
    max: _extreme("max"), min: _extreme("min"), any: _called("any", "any_", "iterable, /"),
    all: _called("all", "all_", "iterable, /"), map: _called("map", "map_iterate", "function, iterable, /, *iterables"),
    filter: _called("filter", "filter_iterate", "function, iterable, /"),
}
