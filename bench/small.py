"""Suite `small`: the time of short arrays and of a few scalar operations in a loop, against Numba with its checks off
and against CPython. Measured and judged as the suite `loops`.
"""
from __future__ import annotations

import os

from .loops import beside_numba
from .table import Row

__all__ = ["measure"]

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small_programs.py")


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    return beside_numba("small", PROGRAMS, 1.2, peers, quick=quick, only=only)
