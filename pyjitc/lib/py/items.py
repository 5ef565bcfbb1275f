"""The builtins `iter`, `next` and `len`, which the protocols of kinds give their meaning."""
from __future__ import annotations

from ...base.lazy import lazy
from ...infer.meaning import Call, Mismatch, Share
from ...infer.names import describe
from ...types.kinds import Ellipsis_, Iterator, Singleton
from ..protocol import State, protocol_of
from ..rule import rule

__all__ = ["CALLS"]

builtins, iteration = lazy("pyjitc.lib.py.builtins"), lazy("pyjitc.lib.py.iteration")
iterators, refusals = lazy("pyjitc.lib.py.iterators"), lazy("pyjitc.lib.refusals")


@rule("iter", "object, sentinel=..., /")
def _iter(x, sentinel):
    if sentinel.type is not Ellipsis_:
        answer = builtins.CALLS[callable]([x], {})
        if answer.known and not answer.value:
            try:
                iter((), 0)
            except TypeError as error:  # its text depends on the version
                raise Mismatch(str(error)) from None
        return Share(Call(iterators.called_until, x, sentinel))
    return x if isinstance(x.type, Iterator) else Share(protocol_of(x.type).iterate(x))


@rule("next", "iterator, default=..., /")
def _next(it, default):
    if not isinstance(it.type, Iterator):
        if not isinstance(protocol_of(it.type), State):
            if isinstance(it.type, Singleton) and hasattr(type(it.type.value), "__next__"):
                raise refusals.of_an_object(it.type, "the items")
            raise Mismatch(f"{describe(it.type)} object is not an iterator", "call iter() on it first")
        it = Share(it)
    return Call(iteration.next_item, it) if default.type is Ellipsis_ else Call(iteration.next_default, it, default)


@rule("len")
def _len(obj, /):
    return protocol_of(obj.type).length(obj)


CALLS = {iter: _iter, next: _next, len: _len}
