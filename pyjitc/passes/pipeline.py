"""The passes over typed IR, in order."""
from __future__ import annotations

from . import inline

__all__ = ["run"]


def run(functions, options):
    return inline.run(functions, options)
