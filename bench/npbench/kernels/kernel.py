"""What a kernel of the suite is."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

__all__ = ["Kernel"]


@dataclass(frozen=True)
class Kernel:
    """function: the kernel, plain Python and NumPy; arguments: makes what it is called with from the sizes.

    writes: names of the arguments it changes. small: the published preset S; tiny: sizes for tests. rtol: how far a
    result may be from NumPy's, relative to the largest magnitude in it: the order of sums may be another."""

    function: Callable
    arguments: Callable
    small: dict
    tiny: dict
    writes: tuple[str, ...] = ()
    rtol: float = 1e-9

    @property
    def name(self) -> str:
        return self.function.__name__
