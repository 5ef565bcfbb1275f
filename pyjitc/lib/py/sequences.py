"""Builtins that make or use up sequences: ranges, slices, tuples, iterators."""
from __future__ import annotations

from ...base.lazy import lazy
from ...infer.meaning import Apply, Call, Const, Mismatch
from ...ops import structure
from ...types.kinds import NoneType, Tuple
from ..build import number
from ..protocol import protocol_of

builtins = lazy("pyjitc.lib.py.builtins")
conversions = lazy("pyjitc.lib.py.conversions")
iteration = lazy("pyjitc.lib.py.iteration")

__all__ = ["tuple_of", "CALLS"]


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
    return protocol_of(x.type).reversed(x)


def _extreme(name):
    def rule(args, kwargs):
        key = kwargs.get("key")
        if key is not None and key.type is NoneType:
            key = None
        for keyword in kwargs.keys() - {"key", "default"}:
            raise Mismatch(f"'{keyword}' is an invalid keyword argument for {name}()")
        if len(args) > 1 and "default" in kwargs:
            raise Mismatch(f"Cannot specify a default for {name}() with multiple positional arguments")
        if not args or len(args) > 1 and key is None:
            return builtins.EXTREMES[name](args, {})
        items = args[0] if len(args) == 1 else Apply(structure.TUPLE_MAKE, *args, cls=None)
        default = Apply(structure.TUPLE_MAKE, *([kwargs["default"]] if "default" in kwargs else []), cls=None)
        if key is None:
            return Call(getattr(iteration, f"{name}_of"), items, default)
        return Call(getattr(iteration, f"{name}_by"), items, key, default)

    return rule


def _sum(args, kwargs):
    start = kwargs.get("start") or (args[1] if len(args) > 1 else number(0))
    return Call(iteration.sum_, args[0], start)


def tuple_of(args, kwargs):
    """The rule of `tuple`."""
    if not args:
        return Apply(structure.TUPLE_MAKE, cls=None)
    (x,) = args
    if isinstance(x.type, Tuple) and x.type.cls is None:
        return x
    items = protocol_of(x.type).elements(x)
    if items is not None:
        return Apply(structure.TUPLE_MAKE, *items, cls=None)
    raise Mismatch("tuple() of a value whose length is only known at run time", "use an array (np.empty) for it")


def _slice(args, kwargs):
    none = Const(NoneType, None)
    parts = [none, args[0], none] if len(args) == 1 else [*args, none][:3]
    return Apply(structure.SLICE_MAKE, *parts)


def _called(name):
    return lambda args, kwargs: Call(getattr(iteration, name), *args)


CALLS = {
    enumerate: _enumerate, zip: _zip, reversed: _reversed, sum: _sum, tuple: tuple_of, slice: _slice,
    max: _extreme("max"), min: _extreme("min"), any: _called("any_"), all: _called("all_"), map: _called("map_iterate"),
    filter: _called("filter_iterate"),
}
