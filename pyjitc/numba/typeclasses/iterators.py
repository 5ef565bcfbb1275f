"""The type of np.nditer over several arrays, for `isinstance` tests and extensions: compiled code has its own."""
from __future__ import annotations

import functools

from .abstract import Type
from .arrays import Array
from .containers import BaseTuple

__all__ = ["NumpyNdIterType"]


class NumpyNdIterType(Type):
    """arrays: the types of the operands, arrays or scalars. ndim: the number of axes of the iteration; layout: 'C' or
    'F', the order in which it visits the elements."""

    def __init__(self, arrays):
        self.arrays = tuple(arrays)
        given = [t for t in self.arrays if isinstance(t, Array)]
        self.ndim = max([t.ndim for t in given], default=0)
        layouts = [t.layout for t in given if t.ndim == self.ndim]
        self.layout = "F" if layouts.count("F") > layouts.count("C") else "C"
        self.dtypes = tuple(getattr(t, "dtype", t) for t in self.arrays)
        super().__init__(f"nditer(ndim={self.ndim}, layout={self.layout}, inputs=({', '.join(map(str, self.arrays))}))")

    @property
    def key(self):
        return self.arrays

    @property
    def views(self):
        return [Array(dtype, 0, "C") for dtype in self.dtypes]

    @property
    def yield_type(self):
        """The type of the item of a step: a view of an element of each operand."""
        return BaseTuple.from_types(self.views) if len(self.arrays) > 1 else self.views[0]

    @functools.cached_property
    def indexers(self) -> list:
        """How elements are found: (way, first axis of the iteration, end of the axes, positions of the operands). The
        ways are 'scalar', '0d', 'flat' for arrays in the order of the iteration, and 'indexed' for others."""
        found: dict[tuple, list[int]] = {}
        for n, t in enumerate(self.arrays):
            found.setdefault(self._way(t), []).append(n)
        return [(*way, places) for way, places in found.items()]

    def _way(self, t) -> tuple:
        if not isinstance(t, Array):
            return "scalar", 0, 0
        if t.ndim == 0:
            return "0d", 0, 0
        first = self.ndim - t.ndim if self.layout == "C" else 0
        flat = t.layout == self.layout or t.ndim == 1 and t.layout in "CF"
        return "flat" if flat else "indexed", first, first + t.ndim

    @property
    def need_shaped_indexing(self) -> bool:
        """Whether an operand needs the indices of a step, and not its number alone."""
        return any(way == "indexed" or way == "flat" and (first, end) != (0, self.ndim)
                   for way, first, end, _ in self.indexers)
