"""Signatures of functions as Numba has them."""
from __future__ import annotations

from ..api.signature import Signature as _OwnSignature

__all__ = ["Signature"]


class Signature:
    """Types of arguments and of the result: float64(int64, float64[:]). function_type: the class of the types of
    functions, which the module of types sets."""

    function_type: type

    def __init__(self, return_type, *args):
        self.return_type, self.args = return_type, tuple(args)
        self.recvr = self.pysig = None

    def as_type(self):
        """The type of functions with this signature."""
        return self.function_type(self)

    def as_signature(self) -> _OwnSignature:
        return self.return_type._signature(self.args)

    def __eq__(self, other):
        return isinstance(other, Signature) and (self.args, self.return_type) == (other.args, other.return_type)

    def __hash__(self):
        return hash((self.args, self.return_type))

    def __repr__(self):
        return f"({', '.join(map(str, self.args))}{',' * (len(self.args) == 1)}) -> {self.return_type}"

    def __iter__(self):
        return iter((self.return_type, self.args))

    def __getitem__(self, i):
        return (self.return_type, self.args)[i]

    def __len__(self):
        return 2
