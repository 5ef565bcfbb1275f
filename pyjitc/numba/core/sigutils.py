"""numba.core.sigutils: tests for signatures, and their parts."""
from __future__ import annotations

from .. import types
from ..signatures import Signature

__all__ = ["is_signature", "normalize_signature"]


def is_signature(given) -> bool:
    """Whether an argument of a decorator is a signature: text, a tuple of types, or a call of a type."""
    return isinstance(given, (str, tuple, Signature))


def normalize_signature(given):
    """(types of the arguments, type of the result or None)"""
    found = types.signature(given)
    return (found, None) if isinstance(found, tuple) else (found.args, found.return_type)
