"""Copying and pickling of compiled functions and kernels: a copy is the object itself, and they are pickled as plain
functions are."""
from __future__ import annotations

from ..base.lazy import lazy

__all__ = ["Pickled"]

_pickling = lazy("pyjitc.api.pickling")


class Pickled:
    """Base class of objects that wrap a function, `py_func`; see pickling.py. `_blank()`: (callable, its arguments)
    that make an empty object; `_parts()`: the arguments of `_fill` besides the function."""

    __slots__ = ()

    def _blank(self) -> tuple:
        return object.__new__, type(self)

    def _parts(self) -> tuple:
        return ()

    def _fill(self, function, *parts) -> None:
        self.__init__(function, *parts)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        return _pickling.reduce(self, protocol)

    def __reduce__(self):
        return self.__reduce_ex__(4)

    def __setstate__(self, state) -> None:
        _pickling.fill(self, state)

    @property
    def _pickled_name(self):
        return _pickling.stand_ins(self)[0]

    @property
    def _pickled_function(self):
        return _pickling.stand_ins(self)[1]
