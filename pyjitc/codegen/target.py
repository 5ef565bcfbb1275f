"""What code is made for: a plain value, part of cache keys."""
from __future__ import annotations

from typing import NamedTuple

__all__ = ["Target"]


class Target(NamedTuple):
    """triple, cpu, features, layout: LLVM's own texts. The host's is made by `link.host_target()`."""

    triple: str
    cpu: str
    features: str
    layout: str
