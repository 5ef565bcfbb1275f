"""Waves on a string."""
from .strings import energy, pluck, step

__all__ = ["energy", "pluck", "step"]
