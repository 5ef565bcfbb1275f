"""What compiled functions and kernels have in common as values: a copy is the object itself, and they are pickled as
plain functions are."""
from __future__ import annotations

from ..base.lazy import lazy

__all__ = ["Pickled"]

_pickling = lazy("pyjitc.api.pickling")


class Pickled:
    """What stands for a function, `py_func`; see pickling.py. `_blank()`: a callable and its arguments that make an
    object without contents; `_parts()`: what `_fill` takes beside the function."""

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
