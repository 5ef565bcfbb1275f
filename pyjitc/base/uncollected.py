"""Suspend garbage collection during phases that make many objects and hardly any garbage: an import, a compile.

Garbage collections took a fifth of an import and a seventh of a first call, and more in larger programs.
"""
import gc
import sys

__all__ = ["Uncollected"]

_MANY = 3  # modules: where more were loaded, most new objects will be kept
# objects: where fewer are frozen, the program has not frozen any itself; 3.12 starts with some hundred frozen ones, and
# a program that freezes its objects has thousands
_FROZEN = 1000 if sys.version_info[:2] == (3, 12) else 0


class Uncollected:
    """`with Uncollected():` there is no automatic garbage collection inside the block. The setting is that of the
    process, and is restored at the end.

    Where modules were loaded inside, the new objects belong to the oldest generation at the end, as after a full
    collection, so that the collector need not visit them soon. Objects that the program has frozen remain frozen.
    """

    __slots__ = ("collects", "modules")

    def __enter__(self):
        self.collects = gc.isenabled()
        self.modules = len(sys.modules)
        gc.disable()

    def __exit__(self, *exception):
        if self.collects:
            if len(sys.modules) > self.modules + _MANY and gc.get_freeze_count() <= _FROZEN:
                gc.freeze()
                gc.unfreeze()
            gc.enable()
