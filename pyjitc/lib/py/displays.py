"""Lists and dicts that a program writes out: how many items they have is part of their type."""
from __future__ import annotations

from ...base.lazy import lazy
from ...infer.made import key_error, list_of
from ...infer.meaning import Apply, Const
from ...ops.structure import STRUCT_GET, TUPLE_MAKE
from ...types.kinds import Bool, Int, Slice, is_integer
from ..protocol import Protocol, protocol_of
from . import tuples

__all__ = ["PROTOCOLS"]

membership, refusals = lazy("pyjitc.lib.py.membership"), lazy("pyjitc.lib.refusals")


class _Display(Protocol):
    def binary(self, op, x, y, inplace):
        if op == "*" and is_integer(y.type) or isinstance(protocol_of(y.type), _Display):
            raise refusals.not_yet(x.type, f"`{op}` of")
        return None

    def reflected(self, op, x, y, inplace):
        if op == "*" and is_integer(x.type):
            raise refusals.not_yet(y.type, "`*` of")
        return None

    def truth(self, x):
        return Const(Bool, bool(x.type.members))

    def length(self, x):
        return Const(Int, len(x.type.members))

    def setitem(self, x, i, value, asks):
        raise refusals.not_yet(x.type, "assigning to an item of")

    def delitem(self, x):
        raise refusals.not_yet(x.type, "deletion of an item of")


class _List(_Display):
    def elements(self, x):
        return [Apply(STRUCT_GET, x, field=name) for name, _ in x.type.members]

    def as_tuple(self, x):
        return Apply(TUPLE_MAKE, *self.elements(x), cls=None)

    def contains(self, x, item):
        return membership.contains(self.as_tuple(x), item)

    def getitem(self, x, i):
        found = tuples.item_of(self.as_tuple(x), i, "list")
        return list_of(found.operands) if isinstance(i.type, Slice) else found

    def iterate(self, x):
        items = self.as_tuple(x)
        return protocol_of(items.type).iterate(items)


class _Dict(_Display):
    def contains(self, x, item):
        if not item.known:
            raise refusals.not_yet(x.type, "`in` of")
        return Const(Bool, item.value in dict(x.type.members))

    def getitem(self, x, i):
        if not i.known:
            raise refusals.not_yet(x.type, "indexing of")
        return Apply(STRUCT_GET, x, field=i.value) if i.value in dict(x.type.members) else key_error(i)

    def iterate(self, x):
        raise refusals.not_yet(x.type, "iteration over")


PROTOCOLS = {"list": _List(), "dict": _Dict()}
