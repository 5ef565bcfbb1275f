"""The description of a kernel of the suite."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

__all__ = ["Kernel"]


@dataclass(frozen=True)
class Kernel:
    """function: the kernel, plain Python and NumPy; arguments: a function from the sizes to the arguments of a call.

    writes: names of the arguments it changes. small: the published preset S; tiny: sizes for tests. rtol: the allowed
    difference from NumPy's result, relative to its largest magnitude, since sums may be in another order."""

    function: Callable
    arguments: Callable
    small: dict
    tiny: dict
    writes: tuple[str, ...] = ()
    rtol: float = 1e-9

    @property
    def name(self) -> str:
        return self.function.__name__
